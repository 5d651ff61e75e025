/* opaque-calls: takes each call of a method as one op, and does not enter it. The memory inside the
 * called method is not planned, as in graphs with functions that are compiled by themselves.
 * Branches and loops are left as they are. */
#include <arenaut/pass.h>

static arenaut_status opaque_calls_run(arenaut_program *p, const arenaut_pass_options *options,
                                       arenaut_error *err) {
    (void)options;
    (void)err;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        arenaut_op *op = &p->ops[i];
        if (op->kind != ARENAUT_OP_CALL && op->kind != ARENAUT_OP_CALL_ONCE) continue;
        op->kind = ARENAUT_OP_OUT;
        op->n_calls = 0;
        op->calls = NULL;
    }
    return ARENAUT_OK;
}

extern const arenaut_pass arn_pass_opaque_calls;
const arenaut_pass arn_pass_opaque_calls = {
    .name = "opaque-calls",
    .summary = "takes each call of a method as one op, whose inside is not planned",
    .run = opaque_calls_run,
};
