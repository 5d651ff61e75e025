/* shapes: finds the sizes of tensors from those of the inputs, and from what the file states.
 *
 * Sizes that vary must have been given a value or a range: then all is inferred for the
 * largest values and, where that differs, for the smallest, and each tensor gets the larger
 * of both. Tensors that stay without a size are marked, and are not planned. */
#include <arenaut/expr.h>
#include <arenaut/pass.h>

#include "core/fail.h"
#include "ir/store.h"
#include "passes/shapes/shapes.h"

enum { LARGEST, SMALLEST, ENDS };

typedef struct pass {
    arn_shapes shapes;
    arn_region region;
    int64_t *min, *max;          /* per symbol, as it is bound */
    const arn_shape *found[ENDS]; /* per tensor; NULL: nothing varies */
} pass;

/* ---- values of symbols ---- */

static bool is_range(const pass *p, uint32_t symbol) {
    return p->min[symbol] < p->max[symbol] && p->max[symbol] != ARENAUT_UNBOUNDED;
}

static arenaut_status bind_symbols(pass *p, int end) {
    arenaut_program *program = p->shapes.program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < program->n_symbols && st == ARENAUT_OK; i++) {
        if (!is_range(p, i)) continue;
        const int64_t value = end == LARGEST ? p->max[i] : p->min[i];
        st = arenaut_program_bind(program, program->symbols[i].name, value, value, p->shapes.err);
    }
    return st;
}

static arenaut_status restore_symbols(pass *p) {
    arenaut_program *program = p->shapes.program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < program->n_symbols && st == ARENAUT_OK; i++) {
        if (!is_range(p, i)) continue;
        st = arenaut_program_bind(program, program->symbols[i].name, p->min[i], p->max[i],
                                  p->shapes.err);
    }
    return st;
}

static bool note_symbols(pass *p, bool *vary) {
    const arenaut_program *program = p->shapes.program;
    p->min = arn_region_allocate(&p->region, program->n_symbols, sizeof *p->min);
    p->max = arn_region_allocate(&p->region, program->n_symbols, sizeof *p->max);
    if (!p->min || !p->max) return false;
    for (uint32_t i = 0; i < program->n_symbols; i++) {
        p->min[i] = program->symbols[i].min;
        p->max[i] = program->symbols[i].max;
        *vary = *vary || is_range(p, i);
    }
    return true;
}

/* ---- before and after ---- */

/* A stated size: a number, or an expression that has one value now. */
static int64_t stated_dim(const arenaut_program *program, const arenaut_tensor *tensor,
                          uint32_t axis) {
    int64_t min, max;
    const uint32_t expr = tensor->dim_exprs ? tensor->dim_exprs[axis] : ARENAUT_NONE;
    if (expr == ARENAUT_NONE) return tensor->dims[axis] >= 0 ? tensor->dims[axis] : ARN_ANY;
    if (arenaut_expr_range(program, expr, &min, &max, NULL) != ARENAUT_OK) return ARN_ANY;
    return min == max && min >= 0 ? min : ARN_ANY;
}

/* What the file says. ARN_ANY is no value that a shape could have. */
static bool take_stated(arn_shapes *s, uint32_t t) {
    const arenaut_tensor *tensor = &s->program->tensors[t];
    arn_shape *shape = &s->stated[t];
    *shape = (arn_shape){.dtype = tensor->dtype};
    if (tensor->rank == 0 && tensor->unsized) return true;
    if (tensor->rank > ARN_MAX_RANK) return true;
    shape->ranked = true;
    shape->rank = tensor->rank;
    shape->dims = arn_region_allocate(s->region, tensor->rank, sizeof *shape->dims);
    shape->values = tensor->values
                        ? arn_region_allocate(s->region, tensor->n_values, sizeof *shape->values)
                        : NULL;
    if (!shape->dims || (tensor->values && !shape->values)) return false;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        shape->dims[i] = stated_dim(s->program, tensor, i);
    }
    shape->n_values = tensor->n_values;
    for (uint32_t i = 0; tensor->values && i < tensor->n_values; i++) {
        const int64_t value = tensor->values[i];
        shape->values[i] = value == ARN_ANY && !arn_is_float(tensor->dtype) ? value + 1 : value;
    }
    /* Of no elements all values are known. */
    if (tensor->cls == ARENAUT_CONSTANT && arn_product(shape->dims, 0, shape->rank) == 0) {
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
    *known = shape->ranked && arn_product(shape->dims, 0, shape->rank) != ARN_ANY &&
             arenaut_dtype_bits(shape->dtype) > 0;
    if (!*known) return ARENAUT_OK;
    const arenaut_status st =
        arenaut_dense_bytes(shape->dtype, shape->dims, shape->rank, bytes, &why);
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
        dims[i] = shape->dims[i] == ARN_ANY ? -1 : shape->dims[i];
    }
    if (tensor->rank != shape->rank) tensor->dim_exprs = NULL;
    tensor->rank = shape->rank;
    tensor->dims = dims;
    return ARENAUT_OK;
}

/* The larger of what was found at either end. */
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
        tensor->dynamic = tensor->dynamic || small != bytes;
        if (small > bytes) shape = &p->found[SMALLEST][t];
    }
    if (st != ARENAUT_OK) return st;
    tensor->unsized = !known || !known_small;
    tensor->bytes = tensor->unsized ? 0 : bytes > small ? bytes : small;
    return store_dims(s, tensor, shape);
}

/* ---- the pass ---- */

static arenaut_status infer(pass *p, int end) {
    arn_shapes *s = &p->shapes;
    const arenaut_program *program = s->program;
    const uint32_t n = program->n_tensors;
    arenaut_status st = bind_symbols(p, end);
    if (st != ARENAUT_OK) return st;
    s->of = arn_region_allocate(&p->region, n, sizeof *s->of);
    s->stated = arn_region_allocate(&p->region, n, sizeof *s->stated);
    if (!s->of || !s->stated) return arn_no_memory(s->err);
    for (uint32_t t = 0; t < n; t++) {
        if (!take_stated(s, t)) return arn_no_memory(s->err);
        s->of[t] = s->stated[t];
    }
    s->work = 1000 + 50 * (uint64_t)program->n_ops;
    for (uint32_t m = 0; m < program->n_methods && s->status == ARENAUT_OK; m++) {
        if (program->methods[m].entry) arn_shapes_visit(s, m);
    }
    p->found[end] = s->of;
    return s->status;
}

static arenaut_status shapes_run(arenaut_program *program, const arenaut_pass_options *options,
                                 arenaut_error *err) {
    (void)options;
    pass p = {.shapes = {.program = program, .err = err}};
    bool vary = false;
    arn_region_init(&p.region, arn_program_allocator(program));
    p.shapes.region = &p.region;
    arenaut_status st = note_symbols(&p, &vary) ? ARENAUT_OK : arn_no_memory(err);
    if (st == ARENAUT_OK) st = infer(&p, LARGEST);
    if (st == ARENAUT_OK && vary) st = infer(&p, SMALLEST);
    if (st == ARENAUT_OK && vary) st = restore_symbols(&p);
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
