/* The condition under which an op that returns a changed copy of its operand may change the operand
 * instead. Shared by reinplace and undo-functionalization. O(bindings of the method) each. */
#include "passes/export/may_update.h"

#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"
#include "ir/store.h"

static uint32_t find_binding(const arenaut_method *method, uint32_t base, uint32_t value) {
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const arenaut_binding *b = &method->bindings[i];
        if (b->kind == ARENAUT_BINDING_MUTATES && b->target == base && b->value == value) return i;
    }
    return ARENAUT_NONE;
}

bool arn_pass_may_update(const arenaut_program *p, const arn_def_use *uses, uint32_t at,
                         uint32_t base, uint32_t value, uint32_t *binding) {
    const arenaut_op *op = &p->ops[at];
    const arn_def_use *use = &uses[base];
    *binding = ARENAUT_NONE;
    if (!arn_dies_at(use, at)) return false;
    if (p->tensors[base].method != op->method) return false;
    if (p->tensors[base].cls == ARENAUT_CONSTANT) return false;
    if (use->kept || use->bound) *binding = find_binding(&p->methods[op->method], base, value);
    return *binding != ARENAUT_NONE || (!use->kept && !use->bound);
}

arenaut_status arn_pass_settle_binding(arenaut_program *p, uint32_t m, uint32_t binding,
                                       arenaut_error *err) {
    const arenaut_method *method = &p->methods[m];
    const uint32_t n = method->n_bindings;
    const arenaut_allocator *allocator = arn_program_allocator(p);
    arenaut_binding *settled = arn_allocate(allocator, n, sizeof *settled);
    if (!settled) return arn_no_memory(err);
    for (uint32_t i = 0; i < n; i++) settled[i] = method->bindings[i];
    settled[binding].kind = ARENAUT_BINDING_MUTATED;
    const arenaut_status st = arn_program_set_bindings(p, m, settled, n, err);
    arn_release(allocator, settled);
    return st;
}
