/* fold-constants: constant folding without values: a result computed from constants alone is a
 * constant.
 *
 * Runtimes compute such values once, when they load the model, and keep them with the weights; some
 * files hold nothing but the recipe for all of their weights. The ops stay, so that ops keep their
 * numbers; they touch no planned memory. */
#include <arenaut/dialect.h>
#include <arenaut/pass.h>

#include "dialects/dialect.h"

/* An unknown operator may do anything, and some make other numbers each time. */
static bool may_fold(const arenaut_dialect *dialect, const arenaut_op *op) {
    const arenaut_operator *known = arn_dialect_operator(dialect, op->name);
    return known && !(known->traits & ARENAUT_TRAIT_VARIES);
}

static bool all_constant(const arenaut_program *p, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && p->tensors[t].cls != ARENAUT_CONSTANT) return false;
    }
    return true;
}

/* A result of the program is handed out, even a constant one: it stays a result. Tensors of a
 * method that an op calls are computed at each call. */
static void fold(arenaut_program *p, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        arenaut_tensor *tensor = &p->tensors[op->outputs[i]];
        if (tensor->cls == ARENAUT_INTERMEDIATE) tensor->cls = ARENAUT_CONSTANT;
    }
}

static arenaut_status fold_constants_run(arenaut_program *program,
                                         const arenaut_pass_options *options, arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(program->dialect);
    (void)options;
    (void)err;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        if (may_fold(dialect, op) && all_constant(program, op)) fold(program, op);
    }
    return ARENAUT_OK;
}

extern const arenaut_pass arn_pass_fold_constants;
const arenaut_pass arn_pass_fold_constants = {
    .name = "fold-constants",
    .summary = "treats values computed from constants alone as constants",
    .by_default = false,
    .run = fold_constants_run,
};
