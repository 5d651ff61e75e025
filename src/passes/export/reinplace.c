/* Updates in place of exported graphs: calls of operators that export has wrapped so that they
 * return changed copies, and writes of a state's new value into the state at once. */
#include <string.h>

#include <arenaut/pass.h>

#include "analysis/aliases.h"
#include "analysis/def_use.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"
#include "ir/store.h"
#include "passes/pass_table.h"

/* The condition under which an op that returns a changed copy of its operand may change the operand
 * instead. O(bindings of the method) each. */

static uint32_t find_binding(const arenaut_method *method, uint32_t base, uint32_t value) {
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const arenaut_binding *b = &method->bindings[i];
        if (b->kind == ARENAUT_BINDING_MUTATES && b->target == base && b->value == value) return i;
    }
    return ARENAUT_NONE;
}

/* Whether op `at` is the last to need the old value of tensor `base`, so that it may change it: the
 * program's own values, and state or inputs only where `value` is bound to be their new value, in
 * which case *binding gets its number in its method. */
static bool may_update(const arenaut_program *p, const arn_def_use *uses, uint32_t at,
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

/* Notes of a binding that it has been fulfilled. */
static arenaut_status settle_binding(arenaut_program *p, uint32_t m, uint32_t binding,
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

/* undo-functionalization: an operator that updates its operands, which export has wrapped so that
 * it returns updated copies, is called directly again, if the old operands are dead. Elsewhere the
 * copies are needed, and the call stays as it is. */

const char *arn_wrapped_operator(const arenaut_op *op, uint32_t *n_bases) {
    const arenaut_attribute *called = arenaut_op_attribute(op, "operator");
    const arenaut_attribute *bases = arenaut_op_attribute(op, "bases");
    if (op->kind != ARENAUT_OP_FUNCTIONAL || !op->name || !called || !called->text) return NULL;
    if (!strstr(op->name, "auto_functionalized") || !bases || bases->n_numbers != 1) return NULL;
    const uint32_t most = op->n_inputs < op->n_outputs ? op->n_inputs : op->n_outputs;
    if (bases->numbers[0] < 1 || bases->numbers[0] > most) return NULL;
    *n_bases = (uint32_t)bases->numbers[0];
    return called->text;
}

static bool may_update_all(const arenaut_program *p, const arn_def_use *uses, uint32_t at,
                           uint32_t n) {
    const arenaut_op *op = &p->ops[at];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t base = op->inputs[op->n_inputs - n + i];
        const uint32_t value = op->outputs[op->n_outputs - n + i];
        uint32_t binding;
        if (base == ARENAUT_NONE || value == ARENAUT_NONE) return false;
        if (!may_update(p, uses, at, base, value, &binding)) return false;
    }
    return true;
}

static arenaut_status unwrap(arenaut_program *p, const arn_def_use *uses, uint32_t at, uint32_t n,
                             const char *name, arenaut_error *err) {
    arenaut_op *op = &p->ops[at];
    arenaut_in_place *pairs = arenaut_program_alloc(p, n * sizeof *pairs);
    if (!pairs) return arn_no_memory(err);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        uint32_t binding;
        pairs[i] = (arenaut_in_place){op->n_outputs - n + i, op->n_inputs - n + i};
        (void)may_update(p, uses, at, op->inputs[pairs[i].input], op->outputs[pairs[i].output],
                         &binding);
        if (binding != ARENAUT_NONE) st = settle_binding(p, op->method, binding, err);
    }
    op->name = name;
    op->kind = ARENAUT_OP_IN_PLACE;
    op->in_place = pairs;
    op->n_in_place = n;
    return st;
}

static arenaut_status undo_run(arenaut_program *p, const arenaut_pass_options *options,
                               arenaut_error *err) {
    arn_region region;
    arn_region_init(&region, arn_program_allocator(p));
    const arn_def_use *uses = arn_def_use_find(p, NULL, ARN_ALIASES, &region);
    arenaut_status st = uses ? ARENAUT_OK : arn_no_memory(err);
    (void)options;
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) {
        uint32_t n = 0;
        const char *name = arn_wrapped_operator(&p->ops[i], &n);
        if (name && may_update_all(p, uses, i, n)) st = unwrap(p, uses, i, n, name, err);
    }
    arn_region_free(&region);
    return st;
}

extern const arenaut_pass arn_pass_undo_functionalization;
const arenaut_pass arn_pass_undo_functionalization = {
    .name = "undo-functionalization",
    .summary = "lets operators update their operands that export has made return copies",
    .run = undo_run,
};

/* reinplace: an op whose result is the new value of a state writes it into the state at once, if
 * the operator has such a form and the old value is dead; so do chains of such ops (index_put of
 * index_put of the state), each of which updates the result of the one before. No copy has to be
 * written back then, and the new value needs no memory of its own. */

static bool same_layout(const arenaut_program *p, const arenaut_tensor *a,
                        const arenaut_tensor *b) {
    if (a->dtype != b->dtype || a->bytes != b->bytes || !arn_program_same_sizes(p, a, b))
        return false;
    if (a->device.type != b->device.type || a->device.index != b->device.index) return false;
    if ((a->strides != NULL) != (b->strides != NULL)) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->strides && a->strides[i] != b->strides[i]) return false;
    }
    return true;
}

typedef struct reinplace {
    arenaut_program *program;
    const arenaut_dialect *dialect;
    const arn_def_use *uses; /* per tensor */
    bool *tried;             /* per tensor: as a new value */
} reinplace;

/* An operand that is read elsewhere than where it is written must be another tensor. */
static bool reads_base_apart(const arenaut_op *op, uint32_t traits) {
    bool again = false;
    for (uint32_t i = 1; i < op->n_inputs; i++) again = again || op->inputs[i] == op->inputs[0];
    return again && !(traits & ARENAUT_TRAIT_ELEMENTWISE);
}

/* Whether op `at` computes `value` as an update of its first operand, which is dead afterwards. In
 * the middle of a chain no other op may read it; a chain begins with `target`. */
static bool is_link(const reinplace *r, uint32_t at, uint32_t value, uint32_t target) {
    const arenaut_program *p = r->program;
    const arenaut_op *op = &p->ops[at];
    if (op->kind != ARENAUT_OP_FUNCTIONAL || op->n_inputs == 0 || op->n_outputs != 1) return false;
    const uint32_t traits = arn_traits_of(r->dialect, op);
    if (!(traits & ARENAUT_TRAIT_UPDATES) || reads_base_apart(op, traits)) return false;
    const uint32_t base = op->inputs[0];
    if (base == ARENAUT_NONE || p->tensors[base].method != op->method) return false;
    const arn_def_use *use = &r->uses[base];
    if (!arn_dies_at(use, at)) return false;
    if (base != target && (use->kept || use->bound)) return false;
    return p->tensors[base].cls != ARENAUT_CONSTANT &&
           same_layout(p, &p->tensors[base], &p->tensors[value]);
}

/* From the new value back to the state: the updates in between, each of the result before it, are
 * done in the state's memory. Ops come later in the list than the makers of their operands. */
static bool follow(const reinplace *r, const arenaut_binding *b, uint32_t m, bool do_it) {
    uint32_t value = b->value, before = ARENAUT_NONE;
    while (value != b->target) {
        const uint32_t at = arn_only_def(&r->uses[value]);
        if (at == ARENAUT_NONE || at >= before || r->program->ops[at].method != m) return false;
        if (!do_it && !is_link(r, at, value, b->target)) return false;
        if (do_it) r->program->ops[at].kind = ARENAUT_OP_IN_PLACE;
        value = r->program->ops[at].inputs[0];
        before = at;
    }
    return before != ARENAUT_NONE;
}

static arenaut_status visit_method(const reinplace *r, uint32_t m, arenaut_error *err) {
    const arenaut_method *method = &r->program->methods[m];
    const arenaut_allocator *allocator = arn_program_allocator(r->program);
    const uint32_t n = method->n_bindings;
    bool any = false;
    if (n == 0) return ARENAUT_OK;
    arenaut_binding *bindings = arn_allocate(allocator, n, sizeof *bindings);
    if (!bindings) return arn_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        arenaut_binding *b = &bindings[i];
        *b = method->bindings[i];
        /* One value can be in one memory. */
        if (b->kind != ARENAUT_BINDING_MUTATES || r->tried[b->value]) continue;
        r->tried[b->value] = true;
        if (!follow(r, b, m, false)) continue;
        (void)follow(r, b, m, true);
        b->kind = ARENAUT_BINDING_MUTATED;
        any = true;
    }
    const arenaut_status st =
        any ? arn_program_set_bindings(r->program, m, bindings, n, err) : ARENAUT_OK;
    arn_release(allocator, bindings);
    return st;
}

static arenaut_status reinplace_run(arenaut_program *p, const arenaut_pass_options *options,
                                    arenaut_error *err) {
    arn_region region;
    arn_region_init(&region, arn_program_allocator(p));
    reinplace r = {.program = p, .dialect = arenaut_dialect_find(p->dialect)};
    (void)options;
    r.uses = arn_def_use_find(p, NULL, ARN_ALIASES, &region);
    const bool room = r.uses && ARN_REGION_ARRAYS(&region, ARN_ARRAY(r.tried, p->n_tensors));
    arenaut_status st = room ? ARENAUT_OK : arn_no_memory(err);
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) st = visit_method(&r, m, err);
    arn_region_free(&region);
    return st;
}

extern const arenaut_pass arn_pass_reinplace;
const arenaut_pass arn_pass_reinplace = {
    .name = "reinplace",
    .summary = "updates a state in place, if its old value is dead",
    .run = reinplace_run,
};
