/* Results of updates: by the op's pairs, else the first, they are the updated operands, and so is a
 * result in an operand's memory. Any other result is a new tensor, which the op makes. */
#ifndef ARN_IR_OWN_RESULT_H
#define ARN_IR_OWN_RESULT_H

#include <arenaut/program.h>

/* Whether the op makes that output, rather than give another name to an operand's memory. */
static inline bool arn_makes_output(const arenaut_program *p, const arenaut_op *op,
                                    uint32_t output) {
    if (op->kind == ARENAUT_OP_VIEW) return false;
    if (op->kind != ARENAUT_OP_IN_PLACE) return true;
    if (op->n_in_place == 0 && output == 0) return false;
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        if (op->in_place[i].output == output) return false;
    }
    const uint32_t storage = arenaut_program_storage(p, op->outputs[output], NULL);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && arenaut_program_storage(p, t, NULL) == storage) return false;
    }
    return true;
}

#endif
