/* views: alias analysis and dead-code elimination. Views, and ops that update their operand, become
 * aliases of the tensor that has the memory (never of another view); ops without use are dropped.
 *
 * Results may depend on layouts: a reshape of a tensor that is not dense copies, which the graph's
 * own strides show. An operator that always copies is made a view only if that makes no difference
 * to any reader. */
#include <string.h>

#include "analysis/aliases.h"
#include "analysis/def_use.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/store.h"
#include "passes/program_edit.h"
#include "passes/views/views.h"

typedef struct views {
    arenaut_program *program;
    const arenaut_dialect *dialect;
    bool updates;      /* some op updates a value that is no state */
    bool *dead;        /* per op */
    arn_def_use *uses; /* per tensor */
    arenaut_error *err;
} views;

/* ---- other names for memory ---- */

static bool trains(const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        const arenaut_attribute *a = &op->attributes[i];
        if (strcmp(a->name, "train") == 0 && a->n_numbers == 1) return a->numbers[0] != 0;
    }
    return true;
}

/* Whether the op's only result has the memory of its operand. */
static bool returns_operand(const views *v, const arenaut_op *op, uint32_t traits) {
    const arenaut_program *p = v->program;
    if (op->n_outputs != 1 || op->outputs[0] == ARENAUT_NONE) return false;
    const arenaut_tensor *from = &p->tensors[op->inputs[0]], *to = &p->tensors[op->outputs[0]];
    const uint32_t base = arenaut_program_storage(p, op->inputs[0], NULL);
    if (from->dtype != to->dtype || from->unsized || to->unsized) return false;
    if (strcmp(op->name, "aten::dropout") == 0 && trains(op)) return false;
    if ((traits & ARENAUT_TRAIT_COPIES) && (v->updates || p->tensors[base].cls == ARENAUT_STATE)) {
        return false;
    }
    return arn_pass_is_reshaped_view(from, to);
}

/* An op becomes a view if all of its results are; then it names the owner of the memory. */
static arenaut_status make_view(const views *v, arenaut_op *op) {
    const uint32_t from = op->inputs[0];
    bool all = op->n_outputs > 0;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        all = all && op->outputs[i] != ARENAUT_NONE &&
              arn_pass_alias(v->program, from, op->outputs[i]);
    }
    if (!all) return ARENAUT_OK;
    const uint32_t base = arenaut_program_storage(v->program, from, NULL);
    op->kind = ARENAUT_OP_VIEW;
    op->inputs = arn_pass_edit_list(v->program, &base, 1);
    op->n_inputs = 1;
    return op->inputs ? ARENAUT_OK : arn_no_memory(v->err);
}

static arenaut_status visit_op(const views *v, arenaut_op *op) {
    if (op->kind == ARENAUT_OP_IN_PLACE) return arn_pass_name_updated(v->program, op, v->err);
    if (op->kind != ARENAUT_OP_FUNCTIONAL || op->n_inputs == 0 || op->inputs[0] == ARENAUT_NONE) {
        return ARENAUT_OK;
    }
    const uint32_t traits = arn_traits_of(v->dialect, op);
    const bool view = (traits & ARENAUT_TRAIT_VIEW) ||
                      ((traits & ARENAUT_TRAIT_MAY_VIEW) && returns_operand(v, op, traits));
    return view ? make_view(v, op) : ARENAUT_OK;
}

/* ---- dead code ---- */

static bool is_dead(const views *v, const arenaut_op *op) {
    if (op->kind != ARENAUT_OP_FUNCTIONAL && op->kind != ARENAUT_OP_VIEW) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i];
        if (t == ARENAUT_NONE) continue;
        if (v->uses[t].n_uses > 0 || v->uses[t].wanted ||
            v->program->tensors[t].cls == ARENAUT_STATE)
            return false;
    }
    return op->n_outputs > 0;
}

/* Backwards, so that makers of values for dead ops are dead as well. Called methods come behind
 * their callers, so their captured values are marked before their turn. */
static void find_dead(const views *v) {
    const arenaut_program *p = v->program;
    for (uint32_t i = p->n_ops; i-- > 0;) {
        const arenaut_op *op = &p->ops[i];
        v->dead[i] = is_dead(v, op);
        for (uint32_t k = 0; k < op->n_inputs && v->dead[i]; k++) {
            if (op->inputs[k] != ARENAUT_NONE) v->uses[op->inputs[k]].n_uses--;
        }
    }
}

static arenaut_status keep_living(void *context, arn_pass_edit *edit, uint32_t at) {
    const views *v = context;
    return v->dead[at] ? ARENAUT_OK : arn_pass_edit_put(edit, &edit->program->ops[at]);
}

/* ---- the pass ---- */

static bool updates_values(const arenaut_program *p) {
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind != ARENAUT_OP_IN_PLACE || op->n_inputs == 0) continue;
        if (op->n_in_place > 0 || op->inputs[0] == ARENAUT_NONE ||
            p->tensors[op->inputs[0]].cls != ARENAUT_STATE) {
            return true;
        }
    }
    return false;
}

static arenaut_status views_run(arenaut_program *p, const arenaut_pass_options *options,
                                arenaut_error *err) {
    arn_region region;
    arn_region_init(&region, arn_program_allocator(p));
    views v = {.program = p, .dialect = arenaut_dialect_find(p->dialect), .err = err};
    (void)options;
    v.updates = updates_values(p);
    const bool room = ARN_REGION_ARRAYS(&region, ARN_ARRAY(v.dead, p->n_ops));
    arenaut_status st = room ? ARENAUT_OK : arn_no_memory(err);
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) st = visit_op(&v, &p->ops[i]);
    if (st == ARENAUT_OK && !(v.uses = arn_def_use_find(p, NULL, 0, &region)))
        st = arn_no_memory(err);
    if (st == ARENAUT_OK) {
        find_dead(&v);
        st = arn_pass_edit_ops(p, keep_living, NULL, &v, err);
    }
    arn_region_free(&region);
    return st;
}

extern const arenaut_pass arn_pass_views;
const arenaut_pass arn_pass_views = {
    .name = "views",
    .summary = "makes views and updated operands names of the memory they share; drops unused ops",
    .run = views_run,
};
