/* Operands that an update writes: the checks' own reading of such an op. */
#ifndef ARN_CHECK_UPDATES_H
#define ARN_CHECK_UPDATES_H

#include <arenaut/program.h>

/* Whether the op updates the operand at a position: one of its pairs, else the first; without
 * results it may update any. */
static inline bool arn_updates_operand(const arenaut_op *op, uint32_t input) {
    if (op->kind != ARENAUT_OP_IN_PLACE) return false;
    if (op->n_outputs == 0 || (op->n_in_place == 0 && input == 0)) return true;
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        if (op->in_place[i].input == input) return true;
    }
    return false;
}

#endif
