/* Arguments and results of the functions of operators: shapes and numbers of inputs, attributes,
 * and shapes of outputs. All they make lives in the region of the inference; mistakes of an
 * operator are noted as an error of the model. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/fail.h"
#include "shapes/shapes.h"

/* Arithmetic on sizes of which some are unknown, and on the floats among values, which are kept as
 * the bits of doubles. */

int64_t arn_shape_plus(int64_t a, int64_t b) {
    if (a == ARN_SHAPE_ANY || b == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN + 1 - b) return ARN_SHAPE_ANY;
    return a + b;
}

int64_t arn_shape_times(int64_t a, int64_t b) {
    if (a == ARN_SHAPE_ANY || b == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    if (a == 0 || b == 0) return 0;
    const uint64_t ua = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    const uint64_t ub = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    return ua > (uint64_t)INT64_MAX / ub ? ARN_SHAPE_ANY : a * b;
}

int64_t arn_shape_product(const int64_t *dims, uint32_t from, uint32_t to) {
    int64_t product = 1;
    for (uint32_t i = from; i < to; i++) product = arn_shape_times(product, dims[i]);
    return product;
}

double arn_shape_floor(double value) {
    enum { EXACT = 53 }; /* from 2^53 on every double is whole */
    const double limit = (double)(INT64_C(1) << EXACT);
    if (!(value > -limit && value < limit)) return value;
    const double towards_zero = (double)(int64_t)value;
    return towards_zero > value ? towards_zero - 1.0 : towards_zero;
}

double arn_shape_as_double(int64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int64_t arn_shape_as_bits(double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- the whole ---- */

void arn_shape_fail(arn_shapes *s, const char *what) {
    if (s->status != ARENAUT_OK) return;
    const arenaut_program *p = s->program;
    const uint32_t number = (uint32_t)(s->op - p->ops) - p->methods[s->op->method].first_op;
    s->status = arn_fail(s->err, ARENAUT_BAD_INPUT, 0,
                         "op %" PRIu32 " of method %" PRIu32 " ('%.60s'%s%.80s): %s", number,
                         s->op->method, s->op->name ? s->op->name : "", s->op->source ? ", " : "",
                         s->op->source ? s->op->source : "", what);
}

void arn_shape_fail_memory(arn_shapes *s) {
    if (s->status == ARENAUT_OK) s->status = arn_no_memory(s->err);
}

/* ---- arguments ---- */

bool arn_shape_has_input(const arn_shapes *s, uint32_t i) {
    return i < s->op->n_inputs && s->op->inputs[i] != ARENAUT_NONE;
}

const arn_shape *arn_shape_input(const arn_shapes *s, uint32_t i) {
    static const arn_shape unknown = {.dtype = ARENAUT_DTYPE_OTHER};
    return arn_shape_has_input(s, i) ? &s->of[s->op->inputs[i]] : &unknown;
}

static arn_shape *output_of(const arn_shapes *s, uint32_t i) {
    const bool there = i < s->op->n_outputs && s->op->outputs[i] != ARENAUT_NONE;
    return there ? &s->of[s->op->outputs[i]] : NULL;
}

int64_t *arn_shape_new_dims(arn_shapes *s, uint32_t rank) {
    if (rank > ARN_SHAPE_MAX_RANK) {
        arn_shape_fail(s, "a tensor of more than 64 dimensions is not supported");
        return NULL;
    }
    int64_t *dims = arn_region_allocate(s->region, rank, sizeof *dims);
    if (!dims) arn_shape_fail_memory(s);
    return dims;
}

/* Says that the file and the op disagree about an output. */
static void fail_conflict(arn_shapes *s, uint32_t output, const char *what, const char *made,
                          const char *stated) {
    char text[256], store[24];
    snprintf(text, sizeof text, "it makes '%.80s' of %s %s, but the file states %s",
             arenaut_program_tensor_name(s->program, s->op->outputs[output], store), what, made,
             stated);
    arn_shape_fail(s, text);
}

void arn_shape_set_dtype(arn_shapes *s, uint32_t output, arenaut_dtype dtype) {
    arn_shape *out = output_of(s, output);
    if (!out || dtype == ARENAUT_DTYPE_OTHER) return;
    if (out->dtype != ARENAUT_DTYPE_OTHER && out->dtype != dtype) {
        fail_conflict(s, output, "type", arenaut_dtype_name(dtype), arenaut_dtype_name(out->dtype));
    }
    out->dtype = dtype;
}

/* A computed shape counts before the stated one: files keep stale sizes when tools change the
 * inputs' alone. */
void arn_shape_set(arn_shapes *s, uint32_t output, arenaut_dtype dtype, uint32_t rank,
                   const int64_t *dims) {
    arn_shape *out = output_of(s, output);
    if (!out) return;
    arn_shape_set_dtype(s, output, dtype);
    if (out->ranked && out->rank != rank) {
        char made[16], stated[16];
        snprintf(made, sizeof made, "%" PRIu32, rank);
        snprintf(stated, sizeof stated, "%" PRIu32, out->rank);
        fail_conflict(s, output, "rank", made, stated);
        return;
    }
    int64_t *merged = arn_shape_new_dims(s, rank);
    if (!merged) return;
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t found = dims ? dims[i] : ARN_SHAPE_ANY;
        merged[i] = found == ARN_SHAPE_ANY && out->ranked ? out->dims[i] : found;
    }
    out->dims = merged;
    out->rank = rank;
    out->ranked = true;
}

void arn_shape_set_like(arn_shapes *s, uint32_t output, arenaut_dtype dtype,
                        const arn_shape *like) {
    if (like->ranked) arn_shape_set(s, output, dtype, like->rank, like->dims);
    else arn_shape_set_dtype(s, output, dtype);
}

int64_t *arn_shape_new_values(arn_shapes *s, uint32_t output) {
    arn_shape *out = output_of(s, output);
    if (!out || !out->ranked) return NULL;
    const int64_t elements = arn_shape_product(out->dims, 0, out->rank);
    if (elements == ARN_SHAPE_ANY || elements > ARN_SHAPE_MAX_VALUES) return NULL;
    out->values = arn_region_allocate(s->region, (size_t)elements, sizeof *out->values);
    if (!out->values) {
        arn_shape_fail_memory(s);
        return NULL;
    }
    out->n_values = (uint32_t)elements;
    for (uint32_t i = 0; i < out->n_values; i++) out->values[i] = ARN_SHAPE_ANY;
    return out->values;
}

void arn_shape_copy_values(arn_shapes *s, uint32_t output, const arn_shape *from) {
    if (!from->values) return;
    int64_t *values = arn_shape_new_values(s, output);
    const arn_shape *out = output_of(s, output);
    if (values && out->n_values == from->n_values && from->n_values) {
        memcpy(values, from->values, from->n_values * sizeof *values);
    }
}

/* ---- attributes ---- */

const arenaut_attribute *arn_shape_attribute(const arn_shapes *s, const char *name) {
    static const arenaut_attribute absent = {.name = NULL};
    const arenaut_attribute *found = arenaut_op_attribute(s->op, name);
    return found ? found : &absent;
}

int64_t arn_shape_number(const arn_shapes *s, const char *name, int64_t otherwise) {
    const arenaut_attribute *a = arn_shape_attribute(s, name);
    return a->n_numbers > 0 ? a->numbers[0] : otherwise;
}

bool arn_shape_numbers_of(const arn_shapes *s, uint32_t input, const char *attribute,
                          arn_shape_numbers *out) {
    if (arn_shape_has_input(s, input)) {
        const arn_shape *in = arn_shape_input(s, input);
        *out = (arn_shape_numbers){in->n_values, in->values};
        return in->values != NULL;
    }
    const arenaut_attribute *a = arn_shape_attribute(s, attribute);
    *out = (arn_shape_numbers){a->n_numbers, a->numbers};
    return a->name != NULL;
}

bool arn_shape_all_known(arn_shape_numbers numbers) {
    for (uint32_t i = 0; i < numbers.n; i++) {
        if (numbers.at[i] == ARN_SHAPE_ANY) return false;
    }
    return true;
}

bool arn_shape_axis(arn_shapes *s, int64_t axis, uint32_t rank, uint32_t *out) {
    const int64_t counted = axis < 0 ? axis + (int64_t)rank : axis;
    if (axis != ARN_SHAPE_ANY && counted >= 0 && counted < (int64_t)rank) {
        *out = (uint32_t)counted;
        return true;
    }
    char text[96];
    snprintf(text, sizeof text,
             "axis %" PRId64 " does not exist: its operand has %" PRIu32 " dimensions", axis, rank);
    arn_shape_fail(s, text);
    return false;
}

/* ---- two operands together ---- */

/* An unknown size meets one above 1: it is that one, or 1 and stretched to it. */
static bool stretch(int64_t a, int64_t b, int64_t *both) {
    if (a == b) *both = a;
    else if (a == 1) *both = b;
    else if (b == 1) *both = a;
    else if (a == ARN_SHAPE_ANY) *both = b;
    else if (b == ARN_SHAPE_ANY) *both = a;
    else return false;
    return true;
}

bool arn_shape_broadcast(arn_shapes *s, const arn_shape *a, const arn_shape *b, uint32_t *rank,
                         int64_t *dims) {
    const uint32_t most = a->rank > b->rank ? a->rank : b->rank;
    if (most > ARN_SHAPE_MAX_RANK) {
        arn_shape_fail(s, "a tensor of more than 64 dimensions is not supported");
        return false;
    }
    for (uint32_t i = 0; i < most; i++) {
        const int64_t da = i < a->rank ? a->dims[a->rank - 1 - i] : 1;
        const int64_t db = i < b->rank ? b->dims[b->rank - 1 - i] : 1;
        if (!stretch(da, db, &dims[most - 1 - i])) {
            arn_shape_fail(s, "the shapes of its operands do not fit one another");
            return false;
        }
    }
    *rank = most;
    return true;
}
