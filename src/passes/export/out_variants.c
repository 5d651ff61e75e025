/* out-variants: an op that returns new tensors is called in its form that writes into given memory,
 * from an explicit allocation in front of it. An op without such a form, or with a result of
 * unknown size, still allocates its own. */
#include "analysis/aliases.h"
#include "core/fail.h"
#include "passes/program_edit.h"

static bool all_sized(const arenaut_program *p, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] != ARENAUT_NONE && p->tensors[op->outputs[i]].unsized) return false;
    }
    return true;
}

/* Of the outputs that the op makes: an update's other results are its operands. */
static arenaut_status put_allocation(arn_pass_edit *edit, const arenaut_op *op) {
    arenaut_program *p = edit->program;
    uint32_t *outputs = arenaut_program_alloc(p, (op->n_outputs + 1) * sizeof *outputs);
    if (!outputs) return arn_no_memory(edit->err);
    arenaut_op alloc = {.name = "alloc",
                        .source = op->source,
                        .kind = ARENAUT_OP_ALLOC,
                        .method = op->method,
                        .outputs = outputs,
                        .stream = op->stream};
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const bool named = op->kind == ARENAUT_OP_IN_PLACE && op->outputs[i] == ARENAUT_NONE;
        if (!named && arn_makes_output(p, op, i)) outputs[alloc.n_outputs++] = op->outputs[i];
    }
    return alloc.n_outputs > 0 ? arn_pass_edit_put(edit, &alloc) : ARENAUT_OK;
}

static arenaut_status visit(void *context, arn_pass_edit *edit, uint32_t at) {
    const arenaut_dialect *dialect = context;
    arenaut_op op = edit->program->ops[at];
    if (op.kind == ARENAUT_OP_IN_PLACE) {
        const arenaut_status st = put_allocation(edit, &op);
        return st == ARENAUT_OK ? arn_pass_edit_put(edit, &op) : st;
    }
    if (op.kind != ARENAUT_OP_FUNCTIONAL) return arn_pass_edit_put(edit, &op);
    const bool brings =
        (arn_traits_of(dialect, &op) & ARENAUT_TRAIT_NO_OUT) || !all_sized(edit->program, &op);
    op.kind = brings ? ARENAUT_OP_MAKES : ARENAUT_OP_OUT;
    const arenaut_status st = brings ? ARENAUT_OK : put_allocation(edit, &op);
    return st == ARENAUT_OK ? arn_pass_edit_put(edit, &op) : st;
}

static arenaut_status out_variants_run(arenaut_program *p, const arenaut_pass_options *options,
                                       arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(p->dialect);
    (void)options;
    return arn_pass_edit_ops(p, visit, NULL, (void *)dialect, err);
}

extern const arenaut_pass arn_pass_out_variants;
const arenaut_pass arn_pass_out_variants = {
    .name = "out-variants",
    .summary =
        "gives ops memory to write, by explicit allocations, instead of letting them bring it",
    .run = out_variants_run,
};
