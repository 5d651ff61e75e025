/* An .onnx file through the library: read, sized, lowered, planned, replayed. */
#ifndef SUPPORT_ONNX_ROUND_H
#define SUPPORT_ONNX_ROUND_H

#include <arenaut/format.h>

/* Property of any bytes: they are refused with a message, or they make a valid program whose
 * buffers, laid apart, hold what each op needs when it is replayed. Aborts, with a line on standard
 * error, if it does not. True if the bytes were accepted as a model. */
bool onnx_property(const uint8_t *data, size_t size);

#endif
