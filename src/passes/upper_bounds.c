/* upper-bounds: replaces sizes that vary by their upper bounds. An unbounded size is a mistake if
 * the caller chooses it, since no plan would be safe; if it depends on data the value is left out
 * of the plan, and reports name it. */
#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/expr.h"
#include "ir/extent.h"
#include "ir/store.h"
#include "passes/program_edit.h"

typedef struct bounds {
    arenaut_program *program;
    bool *chosen;  /* per symbol: sizes of inputs tell it */
    uint64_t *key; /* per dimension, for ordering them */
    uint32_t *order;
    uint32_t key_capacity, order_capacity;
    arenaut_error *err;
} bounds;

/* The first symbol without an end in an expression; NONE if there is none. Depth is limited
 * where expressions are made. */
static uint32_t endless_symbol(const arenaut_program *p, uint32_t expr) {
    const arenaut_expr *e = &p->exprs[expr];
    if (e->kind == ARENAUT_EXPR_VALUE) return ARENAUT_NONE;
    if (e->kind == ARENAUT_EXPR_SYMBOL) {
        return p->symbols[e->a].max == ARENAUT_UNBOUNDED ? e->a : ARENAUT_NONE;
    }
    const uint32_t found = endless_symbol(p, e->a);
    return found != ARENAUT_NONE ? found : endless_symbol(p, e->b);
}

static void mark_symbols(const bounds *b, uint32_t expr) {
    const arenaut_expr *e = &b->program->exprs[expr];
    if (e->kind == ARENAUT_EXPR_SYMBOL) b->chosen[e->a] = true;
    if (e->kind == ARENAUT_EXPR_SYMBOL || e->kind == ARENAUT_EXPR_VALUE) return;
    mark_symbols(b, e->a);
    mark_symbols(b, e->b);
}

static void mark_chosen(const bounds *b) {
    const arenaut_program *p = b->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        for (uint32_t i = 0; i < method->n_inputs && method->entry; i++) {
            const arenaut_tensor *t = &p->tensors[method->inputs[i]];
            for (uint32_t k = 0; k < t->rank && t->dim_exprs; k++) {
                if (t->dim_exprs[k] != ARENAUT_NONE) mark_symbols(b, t->dim_exprs[k]);
            }
        }
    }
}

static arenaut_status without_end(const bounds *b, uint32_t tensor, uint32_t dim, uint32_t symbol) {
    const arenaut_program *p = b->program;
    char store[24];
    return arn_fail(b->err, ARENAUT_BAD_INPUT, 0,
                    "value '%.60s': dimension %" PRIu32
                    " depends on size '%.60s', which has no "
                    "upper bound; give it a value, or a range with an end (--dim %.60s=N)",
                    arenaut_program_tensor_name(p, tensor, store), dim, p->symbols[symbol].name,
                    p->symbols[symbol].name);
}

/* Fills dims; *fixed: none of them can be smaller. */
static arenaut_status bound_dims(const bounds *b, uint32_t t, int64_t *dims, bool *fixed) {
    arenaut_tensor *tensor = &b->program->tensors[t];
    for (uint32_t i = 0; i < tensor->rank; i++) {
        const uint32_t expr = tensor->dim_exprs ? tensor->dim_exprs[i] : ARENAUT_NONE;
        int64_t min = tensor->dims[i], max = tensor->dims[i];
        arenaut_status st = ARENAUT_OK;
        if (expr != ARENAUT_NONE) st = arn_expr_range(b->program, expr, &min, &max, b->err);
        if (st != ARENAUT_OK) return st;
        if (expr != ARENAUT_NONE && max == ARENAUT_UNBOUNDED) {
            const uint32_t symbol = endless_symbol(b->program, expr);
            if (symbol != ARENAUT_NONE && b->chosen[symbol]) return without_end(b, t, i, symbol);
            tensor->unsized = true;
            max = -1;
        }
        dims[i] = max < 0 && !tensor->unsized ? 0 : max;
        *fixed = *fixed && min == max;
    }
    return ARENAUT_OK;
}

static bool stride_varies(const arenaut_tensor *tensor, uint32_t i) {
    return tensor->stride_exprs && tensor->stride_exprs[i] != ARENAUT_NONE;
}

/* Lists the dimensions in b->order, the fastest first, but for those along which one element is
 * repeated. Gives how many. */
static uint32_t order_dims(const bounds *b, const arenaut_tensor *tensor) {
    uint32_t n = 0;
    for (uint32_t i = tensor->rank; i-- > 0;) { /* of equal ones the last is the fastest */
        b->key[i] = (uint64_t)tensor->strides[i];
        if (tensor->strides[i] != 0 || stride_varies(tensor, i)) b->order[n++] = i;
    }
    arn_sort_by_key(b->order, n, b->key, b->order + tensor->rank);
    return n;
}

/* Dimensions in one another without gaps have the strides that their bounds give, which those of
 * the strides' expressions may be above. */
static arenaut_status pack_strides(const bounds *b, const arenaut_tensor *tensor, uint32_t n,
                                   int64_t *strides) {
    uint64_t packed = 1;
    memset(strides, 0, tensor->rank * sizeof *strides);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = b->order[k];
        strides[i] = (int64_t)packed;
        if (arn_multiply(packed, (uint64_t)tensor->dims[i], &packed)) continue;
        return arn_fail(b->err, ARENAUT_TOO_LARGE, 0,
                        "value '%.60s' is larger than 2^63 - 1 elements",
                        tensor->name ? tensor->name : "");
    }
    return ARENAUT_OK;
}

/* The bounds of the strides, one by one. */
static arenaut_status bound_each_stride(const bounds *b, arenaut_tensor *tensor, int64_t *strides,
                                        bool *fixed) {
    for (uint32_t i = 0; i < tensor->rank; i++) {
        int64_t min = tensor->strides[i], max = min;
        arenaut_status st = ARENAUT_OK;
        if (stride_varies(tensor, i)) {
            st = arn_expr_range(b->program, tensor->stride_exprs[i], &min, &max, b->err);
        }
        if (st != ARENAUT_OK) return st;
        if (max == ARENAUT_UNBOUNDED && min < max) tensor->unsized = true;
        strides[i] = max;
        *fixed = *fixed && min == max;
    }
    return ARENAUT_OK;
}

static arenaut_status bound_strides(bounds *b, arenaut_tensor *tensor, const arenaut_tensor *varied,
                                    bool *fixed) {
    const arenaut_allocator *allocator = arn_program_allocator(b->program);
    const uint32_t rank = tensor->rank;
    int64_t *strides = arenaut_program_alloc(b->program, rank * sizeof *strides);
    if (!strides ||
        !arn_grow(allocator, (void **)&b->key, &b->key_capacity, rank, sizeof *b->key) ||
        !arn_grow(allocator, (void **)&b->order, &b->order_capacity, 2 * (uint64_t)rank,
                  sizeof *b->order)) {
        return arn_no_memory(b->err);
    }
    const uint32_t n = order_dims(b, tensor);
    const bool packed = arn_tensor_is_packed(b->program, varied, b->order, n, 0) &&
                        arn_tensor_is_packed(b->program, varied, b->order, n, 1);
    const arenaut_status st =
        packed ? pack_strides(b, tensor, n, strides) : bound_each_stride(b, tensor, strides, fixed);
    tensor->strides = strides;
    return st;
}

static arenaut_status bound_tensor(bounds *b, uint32_t t) {
    arenaut_tensor *tensor = &b->program->tensors[t];
    const arenaut_tensor varied = *tensor;
    bool fixed = true;
    if (!tensor->dim_exprs && !(tensor->strides && tensor->stride_exprs)) return ARENAUT_OK;
    int64_t *dims = arenaut_program_alloc(b->program, tensor->rank * sizeof *dims);
    if (!dims) return arn_no_memory(b->err);
    arenaut_status st = bound_dims(b, t, dims, &fixed);
    tensor->dims = dims;
    if (st == ARENAUT_OK && tensor->strides && !tensor->unsized) {
        st = bound_strides(b, tensor, &varied, &fixed);
    }
    if (st != ARENAUT_OK) return st;
    tensor->dynamic = !fixed && !tensor->unsized;
    if (fixed) tensor->dim_exprs = tensor->stride_exprs = NULL;
    if (tensor->unsized) {
        tensor->bytes = 0;
        return ARENAUT_OK;
    }
    if (arenaut_dtype_bits(tensor->dtype) == 0) return ARENAUT_OK; /* its bytes are stated */
    return arn_tensor_extent_bytes(tensor, &tensor->bytes, b->err);
}

/* Where a view begins and ends, whose sizes or storage vary, is not known: it covers its storage.
 */
static void fit_view(const arenaut_program *p, arenaut_tensor *view) {
    const arenaut_tensor *storage = &p->tensors[view->view_of];
    view->view_offset = 0;
    view->bytes = storage->bytes;
    if (storage->unsized) view->unsized = true;
}

static arenaut_status upper_bounds_run(arenaut_program *p, const arenaut_pass_options *options,
                                       arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    bounds b = {.program = p, .err = err};
    (void)options;
    b.chosen = arn_allocate_zeroed(allocator, p->n_symbols, sizeof *b.chosen);
    arenaut_status st = b.chosen ? ARENAUT_OK : arn_no_memory(err);
    if (st == ARENAUT_OK) mark_chosen(&b);
    for (uint32_t t = 0; t < p->n_tensors && st == ARENAUT_OK; t++) st = bound_tensor(&b, t);
    for (uint32_t t = 0; t < p->n_tensors && st == ARENAUT_OK; t++) {
        arenaut_tensor *tensor = &p->tensors[t];
        const bool varied = tensor->view_of != ARENAUT_NONE &&
                            (tensor->dynamic || p->tensors[tensor->view_of].dynamic);
        if (varied) fit_view(p, tensor);
    }
    ARN_RELEASE(allocator, b.chosen, b.key, b.order);
    return st;
}

extern const arenaut_pass arn_pass_upper_bounds;
const arenaut_pass arn_pass_upper_bounds = {
    .name = "upper-bounds",
    .summary = "replaces sizes that vary by the largest that they can be",
    .by_default = true,
    .run = upper_bounds_run,
};
