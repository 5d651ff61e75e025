/* Ops that may be rematerialized: cheap ones, by the table of operators, that only compute. */
#include "rewrite/recompute/recompute_cheap.h"

#include "analysis/dependences.h"
#include "ops/ops.h"

bool arn_recompute_is_cheap(const char *name) { return arn_op_is_cheap(name); }

/* A second run would draw other numbers, if the op draws any. */
static bool may_draw(const char *name) {
    const arn_op_row *row = arn_op_row_any(name);
    return row && (row->purity == ARN_PURITY_RANDOM || row->purity == ARN_PURITY_MAY_DRAW);
}

static bool may_be_copied(const arenaut_tensor *tensor) {
    const bool made = tensor->cls == ARENAUT_INTERMEDIATE || tensor->cls == ARENAUT_OUTPUT;
    return made && !tensor->qualified_name && !tensor->caller_owned;
}

/* Where no dialect says so, an op may write state that it reads. Scratch that a file states is of
 * one op alone. */
bool arn_recompute_may_repeat(const arenaut_program *program, const arenaut_op *op) {
    if (op->kind != ARENAUT_OP_OUT && op->kind != ARENAUT_OP_FUNCTIONAL &&
        op->kind != ARENAUT_OP_VIEW) {
        return false;
    }
    if (op->n_after > 0 || op->n_calls > 0 || op->n_scratch > 0) return false;
    if (arn_has_side_effects(program, op) || may_draw(op->name)) return false;
    for (uint32_t i = 0; i < op->n_inputs && !program->dialect; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && program->tensors[t].cls == ARENAUT_STATE) return false;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i];
        if (t != ARENAUT_NONE && !may_be_copied(&program->tensors[t])) return false;
    }
    return true;
}
