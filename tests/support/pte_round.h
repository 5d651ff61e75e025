/* A .pte file through the library, with no lowering in between: every tensor that the file places
 * is a buffer of its own, in one pool per memory and method. */
#ifndef SUPPORT_PTE_ROUND_H
#define SUPPORT_PTE_ROUND_H

#include <arenaut/format.h>

typedef struct pte_round {
    arenaut_document document;
    arenaut_lowering lowering;
    arenaut_problem *problem;
    arenaut_plan *plan; /* everything where the file has it, until a test changes that */
    arenaut_result result;
} pte_round;

/* Borrows `data`. On failure nothing is left to be closed. Fails for more memories than a
 * problem has pools. */
arenaut_status pte_round_open(const void *data, size_t size, const arenaut_allocator *allocator,
                              pte_round *round, arenaut_error *err);
void pte_round_close(pte_round *round);

/* Puts the buffers of each pool one behind the other, in an order made up from `seed`. */
void pte_round_shuffle(pte_round *round, uint64_t seed);

/* Writes the file with the plan. The text is the caller's. */
arenaut_status pte_round_write(const pte_round *round, const arenaut_allocator *allocator,
                               arenaut_text *out, arenaut_error *err);

/* Property of any bytes: they are refused with a message, or they make a valid program, which its
 * passes and the lowering refuse with a message or take; a plan that can be written is read back
 * with every place as it was, and writing it once more changes nothing. Aborts, with a line on
 * standard error, if it does not. True if the bytes were accepted as a program. */
bool pte_property(const uint8_t *data, size_t size);

#endif
