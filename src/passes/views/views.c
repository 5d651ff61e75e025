/* views: alias analysis and dead-code elimination. Views, and ops that update their operand, become
 * aliases of the tensor that has the memory (never of another view); ops without use are dropped.
 *
 * Results may depend on layouts: a reshape of a tensor that is not dense copies, which the graph's
 * own strides show. An operator that always copies is made a view only if that makes no difference
 * to any reader. */
#include "passes/views/views.h"

#include <string.h>

#include <arenaut/dialect.h>
#include <arenaut/pass.h>

#include "analysis/aliases.h"
#include "analysis/def_use.h"
#include "analysis/dependences.h"
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dialects/dialect.h"
#include "ir/store.h"
#include "passes/program_edit.h"

/* ---- layouts ---- */

/* Whether one layout is another one of the same elements, so that a reshape can be a view: the
 * dimensions of both are cut into runs of equal products, and the strides within each run must
 * agree. O(ranks). */

/* The stride of dimension `i`, 0 if it does not fit. */
static uint64_t stride_of(const arenaut_tensor *t, uint32_t i) {
    if (t->strides) return (uint64_t)t->strides[i];
    uint64_t stride = 1;
    for (uint32_t k = t->rank; k-- > i + 1;) {
        if (!arn_multiply(stride, (uint64_t)t->dims[k], &stride)) return 0;
    }
    return stride;
}

static bool varies(const arenaut_tensor *t) {
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] < 0) return true;
    }
    return false;
}

static bool same_shape(const arenaut_tensor *a, const arenaut_tensor *b) {
    if (a->rank != b->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        const uint32_t ea = a->dim_exprs ? a->dim_exprs[i] : ARENAUT_NONE;
        const uint32_t eb = b->dim_exprs ? b->dim_exprs[i] : ARENAUT_NONE;
        if (a->dims[i] != b->dims[i] || ea != eb) return false;
        if (a->dims[i] < 0 && ea == ARENAUT_NONE) return false;
        if (a->strides && b->strides && a->strides[i] != b->strides[i]) return false;
    }
    return (a->strides != NULL) == (b->strides != NULL);
}

static bool is_empty(const arenaut_tensor *t) {
    bool empty = false;
    for (uint32_t i = 0; i < t->rank; i++) empty = empty || t->dims[i] == 0;
    return empty;
}

/* The dimensions of `from` that lie densely in one another, from the last on, are a run of
 * elements at one distance. The dimensions of `to` must fill run after run, none of them
 * reaching over two, and walk each at its distance. */
static bool fills_runs(const arenaut_tensor *from, const arenaut_tensor *to) {
    uint32_t next = to->rank;
    for (uint32_t i = from->rank; i > 0;) {
        const uint64_t step = stride_of(from, i - 1);
        uint64_t run = (uint64_t)from->dims[--i], filled = 1;
        while (i > 0 && (from->dims[i - 1] == 1 || stride_of(from, i - 1) == run * step)) {
            run *= (uint64_t)from->dims[--i];
        }
        while (next > 0 && (filled < run || to->dims[next - 1] == 1)) {
            const uint64_t dim = (uint64_t)to->dims[--next];
            if (dim != 1 && stride_of(to, next) != filled * step) return false;
            filled *= dim;
        }
        if (filled != run) return false;
    }
    while (next > 0 && to->dims[next - 1] == 1) next--;
    return next == 0;
}

bool arn_pass_is_reshaped_view(const arenaut_tensor *from, const arenaut_tensor *to) {
    uint64_t a, b;
    if (same_shape(from, to)) return true;
    if (varies(from) || varies(to)) return !from->strides && !to->strides;
    if (is_empty(from) && is_empty(to)) return true;
    /* Products below stay below these. */
    if (arenaut_dense_bytes(from->dtype, from->dims, from->rank, &a, NULL) != ARENAUT_OK ||
        arenaut_dense_bytes(to->dtype, to->dims, to->rank, &b, NULL) != ARENAUT_OK || a != b) {
        return false;
    }
    return fills_runs(from, to);
}

/* alias-views: an op that gives its operand another shape, and nothing else, makes an
 * alias of the same memory.
 *
 * Results of a method keep memory of their own, since that belongs to the caller. */

/* Whether output 0 of the op holds just the bytes of its input 0. */
static bool is_whole_view(const arenaut_program *p, const arenaut_dialect *dialect,
                          const arenaut_op *op, const uint8_t *is_result) {
    const arenaut_operator *known = arn_dialect_operator(dialect, op->name);
    if (!known || !(known->traits & ARENAUT_TRAIT_VIEW)) return false;
    if (op->kind != ARENAUT_OP_OUT && op->kind != ARENAUT_OP_FUNCTIONAL) return false;
    if (op->n_inputs == 0 || op->n_outputs == 0 || op->inputs[0] == ARENAUT_NONE ||
        op->outputs[0] == ARENAUT_NONE) {
        return false;
    }
    const arenaut_tensor *from = &p->tensors[op->inputs[0]], *to = &p->tensors[op->outputs[0]];
    return op->n_in_place == 0 && from->method == to->method && from->bytes == to->bytes &&
           from->bytes > 0 && !from->strides && !to->strides && to->cls == ARENAUT_INTERMEDIATE &&
           from->cls != ARENAUT_CONSTANT && to->view_of == ARENAUT_NONE &&
           !is_result[op->outputs[0]];
}

/* If the op has another result, such as Dropout's mask, it still writes: the view is then a result
 * written over its operand. */
static bool writes_more(const arenaut_op *op) {
    for (uint32_t i = 1; i < op->n_outputs; i++) {
        if (op->outputs[i] != ARENAUT_NONE) return true;
    }
    return false;
}

static arenaut_status reshape_in_place(arenaut_program *p, arenaut_op *op, arenaut_error *err) {
    arenaut_tensor *to = &p->tensors[op->outputs[0]];
    uint64_t offset;
    if (!writes_more(op)) {
        op->kind = ARENAUT_OP_VIEW;
    } else {
        arenaut_in_place *pair = arenaut_program_alloc(p, sizeof *pair);
        if (!pair) return arn_no_memory(err);
        *pair = (arenaut_in_place){0, 0};
        op->in_place = pair;
        op->n_in_place = 1;
    }
    to->view_of = arenaut_program_storage(p, op->inputs[0], &offset);
    to->view_offset = offset;
    return ARENAUT_OK;
}

static arenaut_status alias_views_run(arenaut_program *program, const arenaut_pass_options *options,
                                      arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(program->dialect);
    const arenaut_allocator *allocator = arn_program_allocator(program);
    (void)options;
    uint8_t *is_result = arn_allocate_zeroed(allocator, program->n_tensors, sizeof *is_result);
    if (!is_result) return arn_no_memory(err);
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        for (uint32_t i = 0; i < method->n_outputs; i++) is_result[method->outputs[i]] = 1;
    }
    arenaut_status st = ARENAUT_OK;
    /* Ops make their results before others use them, so storages are final when looked at. */
    for (uint32_t i = 0; i < program->n_ops && st == ARENAUT_OK; i++) {
        arenaut_op *op = &program->ops[i];
        if (is_whole_view(program, dialect, op, is_result)) st = reshape_in_place(program, op, err);
    }
    arn_release(allocator, is_result);
    return st;
}

extern const arenaut_pass arn_pass_alias_views;
const arenaut_pass arn_pass_alias_views = {
    .name = "alias-views",
    .summary = "ops that only give an operand another shape share its memory",
    .by_default = false,
    .run = alias_views_run,
};

/* updates: results of ops that update an operand become names for that operand's memory. Other
 * results of such an op stay tensors of their own. In programs of dialects with views, `views` has
 * done that already, in the order of the ops, so that views of results lie there, too. */

static bool is_sized(const arenaut_tensor *t) {
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] < 0) return false;
    }
    return !t->unsized;
}

/* Makes `to` a name for memory of `from`. Where in it, its file has said; one whose place is not
 * known covers all of it, and sizes that vary are fitted into it when they are known. False if it
 * cannot lie there. */
static bool make_alias(arenaut_program *p, uint32_t from, uint32_t to) {
    uint64_t offset, end;
    const uint32_t base = arenaut_program_storage(p, from, NULL);
    const arenaut_tensor *storage = &p->tensors[base];
    arenaut_tensor *tensor = &p->tensors[to];
    if (to == base || tensor->view_of != ARENAUT_NONE) return tensor->view_of == base;
    if (tensor->device.type != storage->device.type ||
        tensor->device.index != storage->device.index ||
        tensor->view_offset < storage->view_offset) {
        return false;
    }
    const bool sized = is_sized(tensor) && is_sized(storage);
    const bool moves = tensor->view_offset == ARENAUT_SIZE_MAX;
    if (sized && moves) tensor->bytes = storage->bytes;
    offset = moves ? 0 : tensor->view_offset - storage->view_offset;
    if (sized && (!arn_add(offset, tensor->bytes, &end) || end > storage->bytes)) return false;
    tensor->view_of = base;
    tensor->view_offset = sized ? offset : arn_min_u64(offset, storage->bytes);
    if (!sized) tensor->bytes = 0;
    return true;
}

/* Makes the results of an update names of the updated operands: by the op's pairs, else of the
 * first; BAD_INPUT for one that does not fit there. */
static arenaut_status name_updated(arenaut_program *p, const arenaut_op *op, arenaut_error *err) {
    uint32_t n;
    const arenaut_in_place *pairs = arn_updates_of(op, &n);
    for (uint32_t i = 0; i < n && op->n_outputs > 0; i++) {
        const uint32_t from = op->inputs[pairs[i].input], to = op->outputs[pairs[i].output];
        if (from == ARENAUT_NONE || to == ARENAUT_NONE) continue;
        /* It lies where its operand does, even if its file differs. */
        arenaut_tensor *result = &p->tensors[to];
        const arenaut_tensor *operand = &p->tensors[from];
        if (result->view_of != ARENAUT_NONE || to == arenaut_program_storage(p, from, NULL))
            continue;
        const uint32_t base = arenaut_program_storage(p, from, NULL);
        const uint64_t own = base == from ? operand->view_offset
                                          : operand->view_offset + p->tensors[base].view_offset;
        if (result->view_offset != ARENAUT_SIZE_MAX) result->view_offset = own;
        if (make_alias(p, from, to)) continue;
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "op '%s' updates '%.60s', but its result '%.60s' does not fit there",
                        op->name ? op->name : "", operand->name ? operand->name : "",
                        result->name ? result->name : "");
    }
    return ARENAUT_OK;
}

static arenaut_status updates_run(arenaut_program *p, const arenaut_pass_options *options,
                                  arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    (void)options;
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind == ARENAUT_OP_IN_PLACE) st = name_updated(p, op, err);
    }
    return st;
}

extern const arenaut_pass arn_pass_updates;
const arenaut_pass arn_pass_updates = {
    .name = "updates",
    .summary = "makes results of updates names of the updated operands",
    .by_default = true,
    .run = updates_run,
};

/* ---- views ---- */

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
        all = all && op->outputs[i] != ARENAUT_NONE && make_alias(v->program, from, op->outputs[i]);
    }
    if (!all) return ARENAUT_OK;
    const uint32_t base = arenaut_program_storage(v->program, from, NULL);
    op->kind = ARENAUT_OP_VIEW;
    op->inputs = arn_pass_edit_list(v->program, &base, 1);
    op->n_inputs = 1;
    return op->inputs ? ARENAUT_OK : arn_no_memory(v->err);
}

static arenaut_status visit_op(const views *v, arenaut_op *op) {
    if (op->kind == ARENAUT_OP_IN_PLACE) return name_updated(v->program, op, v->err);
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
    if (arn_is_foreign(v->program, op)) return false;
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
