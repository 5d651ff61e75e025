/* reinplace: an op whose result is the new value of a state writes it into the state at once, if
 * the operator has such a form and the old value is dead; so do chains of such ops (index_put of
 * index_put of the state), each of which updates the result of the one before. No copy has to be
 * written back then, and the new value needs no memory of its own. */
#include <arenaut/pass.h>

#include "analysis/aliases.h"
#include "analysis/def_use.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"
#include "ir/store.h"

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
