/* reinplace: an op whose result is the new value of a state writes it into the state at once,
 * where the operator has a form that does and nobody needs the old value any more. No copy
 * has to be written back then, and the new value needs no memory of its own. */
#include "core/fail.h"
#include "core/memory.h"
#include "ir/store.h"
#include "passes/updates.h"

static bool same_layout(const arenaut_tensor *a, const arenaut_tensor *b) {
    if (a->rank != b->rank || a->dtype != b->dtype || a->bytes != b->bytes) return false;
    if ((a->strides != NULL) != (b->strides != NULL)) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i] || a->dims[i] < 0) return false;
        if (a->strides && a->strides[i] != b->strides[i]) return false;
    }
    return true;
}

static arenaut_status reinplace_op(arenaut_program *p, const arn_use *uses, uint32_t at,
                                   arenaut_error *err) {
    arenaut_op *op = &p->ops[at];
    if (op->n_inputs == 0 || op->n_outputs != 1) return ARENAUT_OK;
    const uint32_t base = op->inputs[0], value = op->outputs[0];
    uint32_t binding;
    if (base == ARENAUT_NONE || value == ARENAUT_NONE) return ARENAUT_OK;
    if (!same_layout(&p->tensors[base], &p->tensors[value])) return ARENAUT_OK;
    if (!arn_may_update(p, uses, at, base, value, &binding) || binding == ARENAUT_NONE) {
        return ARENAUT_OK;
    }
    op->kind = ARENAUT_OP_IN_PLACE;
    return arn_settle_binding(p, op->method, binding, err);
}

static arenaut_status reinplace_run(arenaut_program *p, const arenaut_pass_options *options,
                                    arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(p->dialect);
    arn_use *uses = arn_find_uses(p);
    arenaut_status st = uses ? ARENAUT_OK : arn_no_memory(err);
    (void)options;
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) {
        const bool updates = arn_traits_of(dialect, &p->ops[i]) & ARENAUT_TRAIT_UPDATES;
        if (updates && p->ops[i].kind == ARENAUT_OP_FUNCTIONAL) st = reinplace_op(p, uses, i, err);
    }
    arn_release(arn_program_allocator(p), uses);
    return st;
}

extern const arenaut_pass arn_pass_reinplace;
const arenaut_pass arn_pass_reinplace = {
    .name = "reinplace",
    .summary = "writes the new value of a state into it at once, where nobody needs the old one",
    .run = reinplace_run,
};
