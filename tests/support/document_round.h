/* Text formats through the library: read, write, read. */
#ifndef SUPPORT_DOCUMENT_ROUND_H
#define SUPPORT_DOCUMENT_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Property of any bytes: a document that is accepted as a problem, plan or program, as CSV or JSON,
 * can be written, read back, and written again as the same bytes. Aborts, with a line on standard
 * error, if it does not. True if the bytes were accepted. */
bool document_property(const uint8_t *data, size_t size);

#endif
