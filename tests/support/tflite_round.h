/* A .tflite file through the library: read, lower, some plan, write. */
#ifndef SUPPORT_TFLITE_ROUND_H
#define SUPPORT_TFLITE_ROUND_H

#include <arenaut/format.h>

typedef struct tflite_round {
    arenaut_document document;
    arenaut_lowering *lowering;
    arenaut_plan *plan; /* all buffers one behind the other, from `base` on */
    arenaut_result result;
} tflite_round;

/* Borrows `data`. On failure nothing is left to be closed. */
arenaut_status tflite_round_open(const void *data, size_t size, uint64_t base,
                                 const arenaut_allocator *allocator, tflite_round *round,
                                 arenaut_error *err);
void tflite_round_close(tflite_round *round);

/* Writes the file with the plan. The text is the caller's. */
arenaut_status tflite_round_write(const tflite_round *round, const arenaut_allocator *allocator,
                                  arenaut_text *out, arenaut_error *err);

/* Property of any bytes: they are refused with a message, or they make a valid program; a plan that
 * can be written is read back as ours with every offset as it was, what tensors hold stays as it
 * is, writing it again changes nothing, and stripping gives the file back. Aborts, with a line on
 * standard error, if it does not. True if the bytes were accepted as a model. */
bool tflite_property(const uint8_t *data, size_t size);

#endif
