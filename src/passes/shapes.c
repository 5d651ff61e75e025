/* shapes: shape inference, from the inputs' sizes and the file's own.
 *
 * Sizes that vary must have been given a value or a range: then all is inferred for every value,
 * and each tensor gets the largest size that it has for any. A size need not grow with the inputs'
 * (128 - n, n % 8), so that the ends of a range say nothing about the values between. Of too many
 * values some are looked at, spread evenly, and the program's store says so. Tensors that stay
 * without a size are marked, and are not planned. */
#include <arenaut/expr.h>
#include <arenaut/pass.h>

#include "core/checked.h"
#include "core/fail.h"
#include "ir/extent.h"
#include "ir/store.h"
#include "shapes/shapes.h"

enum {
    MOST_POINTS = 1024,    /* an inference each: 0.1 ms for a BERT of twelve layers */
    MOST_SHAPES = 4194304, /* of all points together */
};

/* The largest shape of a tensor over all points. */
typedef struct largest {
    arn_shape shape; /* its values are of no point */
    uint64_t bytes;
    bool known;       /* at all points */
    bool varies;      /* from point to point */
    bool unexplained; /* its expressions do not say how */
} largest;

typedef struct pass {
    arn_shapes shapes;
    arn_region region, point; /* of the pass; of the point at work */
    int64_t *symbol;          /* per symbol, at the point at work; ARN_SHAPE_ANY: open */
    int64_t *value;           /* per expression, likewise; ARN_SHAPE_ANY: unknown */
    largest *of;              /* per tensor */
} pass;

/* ---- values of expressions ---- */

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
static void evaluate(pass *p) {
    const arenaut_program *program = p->shapes.program;
    for (uint32_t i = 0; i < program->n_exprs; i++) {
        const arenaut_expr *e = &program->exprs[i];
        p->value[i] = e->kind == ARENAUT_EXPR_VALUE ? e->value
                      : e->kind == ARENAUT_EXPR_SYMBOL
                          ? p->symbol[e->a]
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

/* Compares the shape at this point with those before. */
static void compare(const pass *p, uint32_t t, largest *before) {
    const arenaut_tensor *tensor = &p->shapes.program->tensors[t];
    const arn_shape *a = &p->shapes.of[t], *b = &before->shape;
    if (!a->ranked || !b->ranked || a->rank != b->rank) {
        before->varies = before->unexplained = true;
        return;
    }
    before->unexplained = before->unexplained || a->rank != tensor->rank;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dims[i] == b->dims[i]) continue;
        before->varies = true;
        if (i < tensor->rank && tensor->dim_exprs && tensor->dim_exprs[i] == ARENAUT_NONE) {
            before->unexplained = true;
        }
    }
}

/* Keeps the shape at this point, which is freed with it. */
static bool keep(pass *p, largest *kept, const arn_shape *shape) {
    kept->shape = *shape;
    kept->shape.values = NULL;
    kept->shape.dims = arn_region_allocate(&p->region, shape->rank, sizeof *shape->dims);
    if (!kept->shape.dims) return false;
    for (uint32_t i = 0; shape->ranked && i < shape->rank; i++) {
        kept->shape.dims[i] = shape->dims[i];
    }
    return true;
}

static arenaut_status take_larger(pass *p, uint32_t t, bool first) {
    const arn_shapes *s = &p->shapes;
    largest *of = &p->of[t];
    bool known;
    uint64_t bytes;
    const arenaut_status st = measure(s, t, &s->of[t], &known, &bytes);
    if (st != ARENAUT_OK) return st;
    if (!first) compare(p, t, of);
    of->known = known && (first || of->known);
    if (!first && bytes <= of->bytes) return ARENAUT_OK;
    of->bytes = bytes;
    return keep(p, of, &s->of[t]) ? ARENAUT_OK : arn_no_memory(s->err);
}

/* Sizes that do not vary need no expressions. */
static arenaut_status store(const pass *p, uint32_t t) {
    const arn_shapes *s = &p->shapes;
    const largest *of = &p->of[t];
    arenaut_tensor *tensor = &s->program->tensors[t];
    if (tensor->cls == ARENAUT_CONSTANT && !tensor->unsized) return ARENAUT_OK;
    if (of->shape.dtype != ARENAUT_DTYPE_OTHER) tensor->dtype = of->shape.dtype;
    /* A program may state the bytes of a tensor that has no size by its type. */
    if (!of->known && !of->bytes && !tensor->unsized) return ARENAUT_OK;
    tensor->dynamic = tensor->dynamic || of->varies;
    tensor->unsized = !of->known;
    if (of->unexplained || (!tensor->unsized && !tensor->dynamic)) tensor->dim_exprs = NULL;
    tensor->bytes = tensor->unsized ? 0 : of->bytes;
    return store_dims(s, tensor, &of->shape);
}

/* ---- points: a value for each symbol ---- */

/* The number of values of a symbol, and of those that are looked at. */
static uint64_t values_of(const arenaut_symbol *symbol) {
    const bool varies = symbol->min < symbol->max && symbol->max != ARENAUT_UNBOUNDED;
    return varies ? (uint64_t)symbol->max - (uint64_t)symbol->min + 1 : 1;
}

static uint64_t steps_of(const arenaut_symbol *symbol, uint64_t most) {
    return arn_min_u64(values_of(symbol), most);
}

/* The points if no symbol takes more than `most` values; of more than `limit`, one more. */
static uint64_t count_points(const arenaut_program *program, uint64_t most, uint64_t limit) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < program->n_symbols && n <= limit; i++) {
        const uint64_t steps = steps_of(&program->symbols[i], most);
        n = steps > limit ? limit + 1 : n * steps;
    }
    return arn_min_u64(n, limit + 1);
}

/* All largest at index 0. */
static void set_symbols(pass *p, uint64_t most, uint64_t index, bool smallest) {
    const arenaut_program *program = p->shapes.program;
    for (uint32_t i = 0; i < program->n_symbols; i++) {
        const arenaut_symbol *symbol = &program->symbols[i];
        const uint64_t steps = steps_of(symbol, most), step = smallest ? steps - 1 : index % steps;
        const uint64_t range = values_of(symbol) - 1, last = arn_max_u64(steps - 1, 1);
        const uint64_t below = range / last * step + range % last * step / last;
        p->symbol[i] =
            symbol->max == ARENAUT_UNBOUNDED ? ARN_SHAPE_ANY : symbol->max - (int64_t)below;
        index /= steps;
    }
}

/* ---- the pass ---- */

static arenaut_status infer(pass *p) {
    arn_shapes *s = &p->shapes;
    const arenaut_program *program = s->program;
    const uint32_t n = program->n_tensors;
    evaluate(p);
    s->status = ARENAUT_OK;
    if (!ARN_REGION_ARRAYS(s->region, ARN_ARRAY(s->of, n), ARN_ARRAY(s->stated, n)))
        return arn_no_memory(s->err);
    for (uint32_t t = 0; t < n; t++) {
        if (!take_stated(p, t)) return arn_no_memory(s->err);
        s->of[t] = s->stated[t];
    }
    s->work = 1000 + 50 * (uint64_t)program->n_ops;
    for (uint32_t m = 0; m < program->n_methods && s->status == ARENAUT_OK; m++) {
        if (program->methods[m].entry) arn_shape_visit(s, m);
    }
    return s->status;
}

/* Whether the file's expressions give a tensor fewer than no elements, and nothing else is known.
 */
static bool falls_below_none(const pass *p, uint32_t t) {
    const arenaut_tensor *tensor = &p->shapes.program->tensors[t];
    const arn_shape *shape = &p->shapes.of[t];
    for (uint32_t i = 0; tensor->dim_exprs && i < tensor->rank && i < shape->rank; i++) {
        const uint32_t expr = tensor->dim_exprs[i];
        const int64_t size = expr == ARENAUT_NONE ? 0 : p->value[expr];
        if (size < 0 && size != ARN_SHAPE_ANY && shape->dims[i] == ARN_SHAPE_ANY) return true;
    }
    return false;
}

static bool is_contradictory(const pass *p) {
    bool found = false;
    for (uint32_t t = 0; t < p->shapes.program->n_tensors; t++) {
        found = found || (p->shapes.of[t].ranked && falls_below_none(p, t));
    }
    return found;
}

/* Sizes that contradict one another cannot be given together; at the ends of all ranges that is a
 * mistake. */
static arenaut_status infer_point(pass *p, bool first, bool end, arenaut_error *err) {
    arenaut_error ignored;
    p->shapes.err = end ? err : &ignored;
    arn_region_init(&p->point, arn_program_allocator(p->shapes.program));
    arenaut_status st = infer(p);
    const bool skipped =
        !end && (st == ARENAUT_BAD_INPUT || (st == ARENAUT_OK && is_contradictory(p)));
    p->shapes.err = err;
    if (skipped) st = ARENAUT_OK;
    for (uint32_t t = 0; t < p->shapes.program->n_tensors && st == ARENAUT_OK && !skipped; t++) {
        st = take_larger(p, t, first);
    }
    arn_region_free(&p->point);
    return st == ARENAUT_NO_MEMORY ? arn_no_memory(err) : st;
}

static arenaut_status infer_points(pass *p, arenaut_error *err) {
    const arenaut_program *program = p->shapes.program;
    const uint64_t limit =
        arn_max_u64(arn_min_u64(MOST_POINTS, MOST_SHAPES / ((uint64_t)program->n_tensors + 1)), 2);
    uint64_t most = limit;
    while (most > 2 && count_points(program, most, limit) > limit) most--;
    const uint64_t n = arn_min_u64(count_points(program, most, limit), limit);
    arenaut_status st = ARENAUT_OK;
    for (uint64_t i = 0; i < n && st == ARENAUT_OK; i++) {
        const bool smallest = i > 0 && i == n - 1;
        set_symbols(p, most, i, smallest);
        st = infer_point(p, i == 0, i == 0 || smallest, err);
    }
    program->store->sampled = count_points(program, UINT64_MAX, limit) > n;
    return st;
}

static arenaut_status shapes_run(arenaut_program *program, const arenaut_pass_options *options,
                                 arenaut_error *err) {
    (void)options;
    pass p = {.shapes = {.program = program, .err = err}};
    arn_region_init(&p.region, arn_program_allocator(program));
    p.shapes.region = &p.point;
    const bool room = ARN_REGION_ARRAYS(&p.region, ARN_ARRAY(p.value, program->n_exprs),
                                        ARN_ARRAY(p.symbol, program->n_symbols),
                                        ARN_ARRAY(p.of, program->n_tensors));
    arenaut_status st = room ? infer_points(&p, err) : arn_no_memory(err);
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
