/* shapes: shape inference, from the inputs' sizes and the file's own.
 *
 * Sizes that vary must have been given a value or a range: then all is inferred for the largest
 * values and, if that differs, for the smallest, and each tensor gets the larger of both. Tensors
 * that stay without a size are marked, and are not planned. */
#include <arenaut/expr.h>
#include <arenaut/pass.h>

#include "core/fail.h"
#include "ir/extent.h"
#include "ir/store.h"
#include "shapes/shapes.h"

enum { LARGEST, SMALLEST, ENDS };

typedef struct pass {
    arn_shapes shapes;
    arn_region region;
    int64_t *value;               /* per expression, at the end at work; ARN_SHAPE_ANY: unknown */
    const arn_shape *found[ENDS]; /* per tensor; NULL: nothing varies */
} pass;

/* ---- values of expressions ---- */

static bool is_range(const arenaut_symbol *symbol) {
    return symbol->min < symbol->max && symbol->max != ARENAUT_UNBOUNDED;
}

static int64_t value_of_symbol(const arenaut_symbol *symbol, int end) {
    if (symbol->max == ARENAUT_UNBOUNDED) return ARN_SHAPE_ANY;
    return end == LARGEST ? symbol->max : symbol->min;
}

/* Towards minus infinity. */
static int64_t floor_divided(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t combined(arenaut_expr_kind kind, int64_t a, int64_t b) {
    if (a == ARN_SHAPE_ANY || b == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    const bool divides =
        kind == ARENAUT_EXPR_FLOOR_DIV || kind == ARENAUT_EXPR_CEIL_DIV || kind == ARENAUT_EXPR_MOD;
    if (divides && b == 0) return ARN_SHAPE_ANY;
    switch (kind) {
        case ARENAUT_EXPR_ADD: return arn_shape_plus(a, b);
        case ARENAUT_EXPR_SUB: return arn_shape_plus(a, -b);
        case ARENAUT_EXPR_MUL: return arn_shape_times(a, b);
        case ARENAUT_EXPR_FLOOR_DIV: return floor_divided(a, b);
        case ARENAUT_EXPR_CEIL_DIV: return -floor_divided(-a, b);
        case ARENAUT_EXPR_MOD: return a - floor_divided(a, b) * b;
        case ARENAUT_EXPR_MIN: return a < b ? a : b;
        case ARENAUT_EXPR_MAX: return a > b ? a : b;
        default: return ARN_SHAPE_ANY;
    }
}

/* Parts come before their wholes. */
static void evaluate(pass *p, int end) {
    const arenaut_program *program = p->shapes.program;
    for (uint32_t i = 0; i < program->n_exprs; i++) {
        const arenaut_expr *e = &program->exprs[i];
        p->value[i] = e->kind == ARENAUT_EXPR_VALUE ? e->value
                      : e->kind == ARENAUT_EXPR_SYMBOL
                          ? value_of_symbol(&program->symbols[e->a], end)
                          : combined(e->kind, p->value[e->a], p->value[e->b]);
    }
}

/* ---- before and after ---- */

/* A stated size: a number, or the value of an expression. */
static int64_t stated_dim(const pass *p, const arenaut_tensor *tensor, uint32_t axis) {
    const uint32_t expr = tensor->dim_exprs ? tensor->dim_exprs[axis] : ARENAUT_NONE;
    const int64_t size = expr == ARENAUT_NONE ? tensor->dims[axis] : p->value[expr];
    return size >= 0 ? size : ARN_SHAPE_ANY;
}

/* The file's own sizes. ARN_SHAPE_ANY is no value that a shape could have. */
static bool take_stated(pass *p, uint32_t t) {
    arn_shapes *s = &p->shapes;
    const arenaut_tensor *tensor = &s->program->tensors[t];
    arn_shape *shape = &s->stated[t];
    *shape = (arn_shape){.dtype = tensor->dtype};
    if (tensor->rank == 0 && tensor->unsized) return true;
    if (tensor->rank > ARN_SHAPE_MAX_RANK) return true;
    shape->ranked = true;
    shape->rank = tensor->rank;
    shape->dims = arn_region_allocate(s->region, tensor->rank, sizeof *shape->dims);
    shape->values = tensor->values
                        ? arn_region_allocate(s->region, tensor->n_values, sizeof *shape->values)
                        : NULL;
    if (!shape->dims || (tensor->values && !shape->values)) return false;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        shape->dims[i] = stated_dim(p, tensor, i);
    }
    shape->n_values = tensor->n_values;
    for (uint32_t i = 0; tensor->values && i < tensor->n_values; i++) {
        const int64_t value = tensor->values[i];
        shape->values[i] =
            value == ARN_SHAPE_ANY && !arn_shape_is_float(tensor->dtype) ? value + 1 : value;
    }
    /* Of no elements all values are known. */
    if (tensor->cls == ARENAUT_CONSTANT && arn_shape_product(shape->dims, 0, shape->rank) == 0) {
        shape->values = shape->dims;
        shape->n_values = 0;
    }
    return true;
}

/* Bytes of a shape; *known is false, and they are 0, if it is not known well enough. */
static arenaut_status measure(const arn_shapes *s, uint32_t t, const arn_shape *shape, bool *known,
                              uint64_t *bytes) {
    arenaut_error why;
    char name[24];
    *bytes = 0;
    *known = shape->ranked && arn_shape_product(shape->dims, 0, shape->rank) != ARN_SHAPE_ANY &&
             arenaut_dtype_bits(shape->dtype) > 0;
    if (!*known) return ARENAUT_OK;
    const arenaut_status st = arn_tensor_dense_bytes(shape->dtype, s->program->tensors[t].lanes,
                                                     shape->dims, shape->rank, bytes, &why);
    if (st == ARENAUT_OK) return st;
    return arn_fail(s->err, st, 0, "'%.80s': %s", arenaut_program_tensor_name(s->program, t, name),
                    why.msg);
}

static arenaut_status store_dims(const arn_shapes *s, arenaut_tensor *tensor,
                                 const arn_shape *shape) {
    if (!shape->ranked) return ARENAUT_OK;
    int64_t *dims = arenaut_program_alloc(s->program, shape->rank * sizeof *dims);
    if (!dims) return arn_no_memory(s->err);
    for (uint32_t i = 0; i < shape->rank; i++) {
        dims[i] = shape->dims[i] == ARN_SHAPE_ANY ? -1 : shape->dims[i];
    }
    if (tensor->rank != shape->rank) tensor->dim_exprs = NULL;
    tensor->rank = shape->rank;
    tensor->dims = dims;
    return ARENAUT_OK;
}

/* Whether the sizes are the same at either end. */
static bool varies(const pass *p, uint32_t t) {
    if (!p->found[SMALLEST]) return false;
    const arn_shape *a = &p->found[LARGEST][t], *b = &p->found[SMALLEST][t];
    if (!a->ranked || !b->ranked || a->rank != b->rank) return true;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i]) return true;
    }
    return false;
}

/* Whether the expressions describe the varying sizes completely. If not, sizes that are equal at
 * their largest may differ otherwise. */
static bool expressions_say_all(const pass *p, uint32_t t) {
    const arenaut_tensor *tensor = &p->shapes.program->tensors[t];
    if (!tensor->dim_exprs || !p->found[SMALLEST]) return true;
    const arn_shape *a = &p->found[LARGEST][t], *b = &p->found[SMALLEST][t];
    if (!a->ranked || !b->ranked || a->rank != b->rank || a->rank != tensor->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i] && tensor->dim_exprs[i] == ARENAUT_NONE) return false;
    }
    return true;
}

/* The larger of the sizes found at either end. Sizes that do not vary need no expressions. */
static arenaut_status store(const pass *p, uint32_t t) {
    const arn_shapes *s = &p->shapes;
    arenaut_tensor *tensor = &s->program->tensors[t];
    const arn_shape *shape = &p->found[LARGEST][t];
    bool known, known_small = true;
    uint64_t bytes, small = 0;
    if (tensor->cls == ARENAUT_CONSTANT && !tensor->unsized) return ARENAUT_OK;
    if (shape->dtype != ARENAUT_DTYPE_OTHER) tensor->dtype = shape->dtype;
    arenaut_status st = measure(s, t, shape, &known, &bytes);
    if (st == ARENAUT_OK && p->found[SMALLEST]) {
        st = measure(s, t, &p->found[SMALLEST][t], &known_small, &small);
        if (small > bytes) shape = &p->found[SMALLEST][t];
    }
    if (st != ARENAUT_OK) return st;
    /* A program may state the bytes of a tensor that has no size by its type. */
    if (!known && !tensor->unsized) return ARENAUT_OK;
    tensor->dynamic = tensor->dynamic || varies(p, t);
    tensor->unsized = !known || !known_small;
    if (!tensor->unsized && !tensor->dynamic) tensor->dim_exprs = NULL;
    if (!expressions_say_all(p, t)) tensor->dim_exprs = NULL;
    tensor->bytes = tensor->unsized ? 0 : bytes > small ? bytes : small;
    return store_dims(s, tensor, shape);
}

/* ---- the pass ---- */

static arenaut_status infer(pass *p, int end) {
    arn_shapes *s = &p->shapes;
    const arenaut_program *program = s->program;
    const uint32_t n = program->n_tensors;
    evaluate(p, end);
    if (!ARN_REGION_ARRAYS(&p->region, ARN_ARRAY(s->of, n), ARN_ARRAY(s->stated, n)))
        return arn_no_memory(s->err);
    for (uint32_t t = 0; t < n; t++) {
        if (!take_stated(p, t)) return arn_no_memory(s->err);
        s->of[t] = s->stated[t];
    }
    s->work = 1000 + 50 * (uint64_t)program->n_ops;
    for (uint32_t m = 0; m < program->n_methods && s->status == ARENAUT_OK; m++) {
        if (program->methods[m].entry) arn_shape_visit(s, m);
    }
    p->found[end] = s->of;
    return s->status;
}

static arenaut_status shapes_run(arenaut_program *program, const arenaut_pass_options *options,
                                 arenaut_error *err) {
    (void)options;
    pass p = {.shapes = {.program = program, .err = err}};
    bool vary = false;
    for (uint32_t i = 0; i < program->n_symbols; i++) {
        vary = vary || is_range(&program->symbols[i]);
    }
    arn_region_init(&p.region, arn_program_allocator(program));
    p.shapes.region = &p.region;
    p.value = arn_region_allocate(&p.region, program->n_exprs, sizeof *p.value);
    arenaut_status st = p.value ? infer(&p, LARGEST) : arn_no_memory(err);
    if (st == ARENAUT_OK && vary) st = infer(&p, SMALLEST);
    for (uint32_t t = 0; t < program->n_tensors && st == ARENAUT_OK; t++) st = store(&p, t);
    arn_region_free(&p.region);
    return st;
}

extern const arenaut_pass arn_pass_shapes;
const arenaut_pass arn_pass_shapes = {
    .name = "shapes",
    .summary = "infers the sizes of tensors from those of the inputs",
    .by_default = false,
    .run = shapes_run,
};
