/* Def-use analysis: one walk over the ops for the first and last definition and use of each tensor,
 * or storage; and, if asked for, one walk back for the uses under other names. O(arguments). */
#include "analysis/def_use.h"

#include "analysis/aliases.h"
#include "ir/program.h"

typedef struct finder {
    const arenaut_program *program;
    const uint32_t *of; /* NULL: tensors themselves */
    unsigned which;
    arn_def_use *found;
} finder;

/* NULL: it does not count. */
static arn_def_use *found_of(const finder *f, uint32_t tensor) {
    const uint32_t id = f->of && tensor != ARENAUT_NONE ? f->of[tensor] : tensor;
    return id == ARENAUT_NONE ? NULL : &f->found[id];
}

static void define(const finder *f, uint32_t at, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        arn_def_use *d = found_of(f, tensors[i]);
        if (!d) continue;
        if (d->first_def == ARENAUT_NONE) d->first_def = at;
        d->last_def = at;
    }
}

static void define_updated(const finder *f, uint32_t at) {
    const arenaut_op *op = &f->program->ops[at];
    uint32_t n;
    const arenaut_in_place *pairs = arn_updates_of(op, &n);
    if (op->kind == ARENAUT_OP_DELEGATE) define(f, at, op->inputs, op->n_inputs);
    for (uint32_t i = 0; i < n && op->kind == ARENAUT_OP_IN_PLACE; i++) {
        define(f, at, &op->inputs[pairs[i].input], 1);
    }
}

static void visit_op(const finder *f, uint32_t at) {
    const arenaut_op *op = &f->program->ops[at];
    const bool touches = arn_op_kind_touches(op->kind);
    const bool names = op->kind == ARENAUT_OP_VIEW && (f->which & ARN_NO_NAMES);
    if (!touches && (f->which & ARN_TOUCHING)) return;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        arn_def_use *d = found_of(f, op->inputs[i]);
        if (!d) continue;
        d->n_uses++;
        d->last_use = at;
    }
    if (!names) define(f, at, op->outputs, op->n_outputs);
    define(f, at, op->scratch, op->n_scratch);
    if (f->which & ARN_UPDATES) define_updated(f, at);
}

static void visit_method(const finder *f, const arenaut_method *method) {
    for (uint32_t i = 0; i < method->n_outputs; i++) {
        arn_def_use *d = found_of(f, method->outputs[i]);
        if (d) d->kept = d->wanted = true;
    }
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        arn_def_use *value = found_of(f, method->bindings[i].value);
        arn_def_use *target = found_of(f, method->bindings[i].target);
        if (value) value->bound = value->wanted = true;
        if (target) target->bound = true;
    }
}

/* ---- other names ---- */

/* Whether an op's results may be other names for its operands' memory. */
static bool may_alias(const arenaut_dialect *dialect, const arenaut_op *op) {
    return op->kind == ARENAUT_OP_VIEW || op->kind == ARENAUT_OP_IN_PLACE ||
           op->kind == ARENAUT_OP_MOVE || op->kind == ARENAUT_OP_LET ||
           op->kind == ARENAUT_OP_TUPLE || op->kind == ARENAUT_OP_FIELD ||
           (arn_traits_of(dialect, op) & (ARENAUT_TRAIT_VIEW | ARENAUT_TRAIT_MAY_VIEW));
}

static uint32_t later(uint32_t a, uint32_t b) {
    if (a == ARENAUT_NONE || b == ARENAUT_NONE) return a == ARENAUT_NONE ? b : a;
    return a > b ? a : b;
}

/* From the last op to the first, so that names of names count. The graph that an op runs does so at
 * that op, which has among its inputs all that its graph names. */
static void visit_names(const finder *f, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        arn_def_use *d = found_of(f, op->inputs[i]);
        for (uint32_t o = 0; o < op->n_outputs && d; o++) {
            const arn_def_use *alias = found_of(f, op->outputs[o]);
            if (!alias || alias == d) continue;
            d->last_alias = later(d->last_alias, later(alias->last_use, alias->last_alias));
            d->alias_wanted = d->alias_wanted || alias->wanted || alias->alias_wanted;
        }
    }
}

bool arn_dies_at(const arn_def_use *d, uint32_t at) {
    const bool aliased = d->last_alias != ARENAUT_NONE && d->last_alias >= at;
    return d->last_use == at && !d->wanted && !aliased && !d->alias_wanted;
}

arn_def_use *arn_def_use_find(const arenaut_program *p, const uint32_t *of, unsigned which,
                              arn_region *region) {
    const arenaut_dialect *dialect = arenaut_dialect_find(p->dialect);
    const finder f = {p, of, which, arn_region_allocate(region, p->n_tensors, sizeof *f.found)};
    if (!f.found) return NULL;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        f.found[t] =
            (arn_def_use){ARENAUT_NONE, ARENAUT_NONE, 0, ARENAUT_NONE, .last_alias = ARENAUT_NONE};
    }
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_class cls = p->tensors[t].cls;
        arn_def_use *d = found_of(&f, t);
        const bool kept = cls == ARENAUT_CONSTANT || cls == ARENAUT_STATE || cls == ARENAUT_INPUT ||
                          p->tensors[t].qualified_name;
        if (d) d->kept = d->kept || kept;
    }
    for (uint32_t m = 0; m < p->n_methods; m++) visit_method(&f, &p->methods[m]);
    for (uint32_t i = 0; i < p->n_ops; i++) visit_op(&f, i);
    for (uint32_t i = p->n_ops; i-- > 0 && (which & ARN_ALIASES);) {
        if (may_alias(dialect, &p->ops[i])) visit_names(&f, &p->ops[i]);
    }
    return f.found;
}
