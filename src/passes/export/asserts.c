/* asserts: drops ops whose results do not matter to memory: assertions, and queries of sizes, which
 * read no bytes of a tensor. */
#include "analysis/aliases.h"
#include "passes/program_edit.h"

static arenaut_status visit(void *context, arn_pass_edit *edit, uint32_t at) {
    const arenaut_dialect *dialect = context;
    const arenaut_op *op = &edit->program->ops[at];
    if (op->n_outputs == 0 && (arn_traits_of(dialect, op) & ARENAUT_TRAIT_ASSERT)) {
        return ARENAUT_OK;
    }
    return arn_pass_edit_put(edit, op);
}

static arenaut_status asserts_run(arenaut_program *p, const arenaut_pass_options *options,
                                  arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(p->dialect);
    (void)options;
    return arn_pass_edit_ops(p, visit, NULL, (void *)dialect, err);
}

extern const arenaut_pass arn_pass_asserts;
const arenaut_pass arn_pass_asserts = {
    .name = "asserts",
    .summary = "drops assertions and questions about sizes, which read no memory",
    .run = asserts_run,
};
