/* Operators that multiply and add up along axes: matrices, einsum, recurrent layers, reductions.
 * The rules are those of the ONNX standard, which follow NumPy's. */
#include <string.h>

#include "shapes/shapes.h"

/* ---- matrices ---- */

/* numpy's rules: the last two axes are matrices, the axes before are broadcast, and a vector is a
 * matrix of which the axis added is dropped again. */
static void multiply(arn_shapes *s, uint32_t left, uint32_t right, arenaut_dtype dtype) {
    const arn_shape *a = arn_shape_input(s, left), *b = arn_shape_input(s, right);
    int64_t batch[ARN_SHAPE_MAX_RANK];
    uint32_t rank = 0;
    arn_shape_set_dtype(s, 0, dtype);
    if (!a->ranked || !b->ranked) return;
    if (a->rank == 0 || b->rank == 0) {
        arn_shape_fail(s, "an operand is no matrix and no vector");
        return;
    }
    const int64_t inner_a = a->dims[a->rank - 1];
    const int64_t inner_b = b->dims[b->rank == 1 ? 0 : b->rank - 2];
    if (inner_a != ARN_SHAPE_ANY && inner_b != ARN_SHAPE_ANY && inner_a != inner_b) {
        arn_shape_fail(s, "the inner sizes of its operands differ");
        return;
    }
    const arn_shape outer_a = {
        .ranked = true, .rank = a->rank > 2 ? a->rank - 2 : 0, .dims = a->dims};
    const arn_shape outer_b = {
        .ranked = true, .rank = b->rank > 2 ? b->rank - 2 : 0, .dims = b->dims};
    if (!arn_shape_broadcast(s, &outer_a, &outer_b, &rank, batch)) return;
    int64_t *dims = arn_shape_new_dims(s, rank + 2);
    if (!dims) return;
    memcpy(dims, batch, rank * sizeof *dims);
    if (a->rank > 1) dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1) dims[rank++] = b->dims[b->rank - 1];
    arn_shape_set(s, 0, dtype, rank, dims);
}

ARN_SHAPE_FUNCTION(matmul) { multiply(s, 0, 1, arn_shape_input(s, 0)->dtype); }
ARN_SHAPE_FUNCTION(matmul_integer) { multiply(s, 0, 1, ARENAUT_DTYPE_INT32); }
ARN_SHAPE_FUNCTION(qlinear_matmul) { multiply(s, 0, 3, arn_shape_input(s, 7)->dtype); }

ARN_SHAPE_FUNCTION(gemm) {
    const arn_shape *a = arn_shape_input(s, 0), *b = arn_shape_input(s, 1);
    const bool turn_a = arn_shape_number(s, "transA", 0) != 0,
               turn_b = arn_shape_number(s, "transB", 0) != 0;
    arn_shape_set_dtype(s, 0, a->dtype);
    if (!a->ranked || !b->ranked) return;
    if (a->rank != 2 || b->rank != 2) {
        arn_shape_fail(s, "an operand is no matrix");
        return;
    }
    const int64_t inner_a = a->dims[!turn_a], inner_b = b->dims[turn_b];
    if (inner_a != ARN_SHAPE_ANY && inner_b != ARN_SHAPE_ANY && inner_a != inner_b) {
        arn_shape_fail(s, "the inner sizes of its operands differ");
        return;
    }
    const int64_t dims[2] = {a->dims[turn_a], b->dims[!turn_b]};
    arn_shape_set(s, 0, a->dtype, 2, dims);
}

/* ---- einsum ---- */

enum { LETTERS = 52, DOTS = LETTERS };

static int letter_of(char c) {
    if (c >= 'a' && c <= 'z') return c - 'a';
    if (c >= 'A' && c <= 'Z') return c - 'A' + 26;
    return -1;
}

/* The equation's letters with their sizes; a group of axes without letters ("...") is only
 * followed where it is alike in all operands. */
typedef struct einsum {
    int64_t size[LETTERS];
    unsigned count[LETTERS];
    int64_t dots[ARN_SHAPE_MAX_RANK];
    uint32_t n_dots;
    bool has_dots, sure;
} einsum;

/* A size of 1 is stretched to another operand's. */
static void widen(int64_t *size, int64_t other) {
    if (*size == ARN_SHAPE_ANY || *size == 1) *size = other;
}

/* The `n` axes of an operand that "..." stands for, from *axis on. */
static void take_dots(einsum *e, const arn_shape *x, uint32_t n, uint32_t *axis) {
    if ((e->has_dots && n != e->n_dots) || n > ARN_SHAPE_MAX_RANK) e->sure = false;
    for (uint32_t i = 0; i < n && e->sure && *axis < x->rank; i++) {
        if (!e->has_dots) e->dots[i] = ARN_SHAPE_ANY;
        widen(&e->dots[i], x->dims[(*axis)++]);
    }
    e->n_dots = n;
    e->has_dots = true;
}

/* Where a term of the equation ends. */
static bool is_over(const char *at) { return *at == '\0' || *at == ',' || *at == '-'; }

/* Takes one operand's letters; returns where the text goes on. */
static const char *take_term(einsum *e, const char *at, const arn_shape *x) {
    uint32_t letters = 0, axis = 0;
    for (const char *c = at; !is_over(c); c++) letters += letter_of(*c) >= 0;
    if (!x->ranked || x->rank < letters) e->sure = false;
    for (; !is_over(at); at++) {
        const int letter = letter_of(*at);
        if (letter >= 0) {
            widen(&e->size[letter], e->sure && axis < x->rank ? x->dims[axis] : ARN_SHAPE_ANY);
            e->count[letter]++;
            axis++;
        } else if (strncmp(at, "...", 3) == 0 && e->sure) {
            take_dots(e, x, x->rank - letters, &axis);
            at += 2;
        }
    }
    return *at == ',' ? at + 1 : at;
}

/* Without "->" the result has the letters that occur once, in the order of the alphabet. */
static uint32_t implied(const einsum *e, int64_t *dims) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->n_dots; i++) dims[n++] = e->dots[i];
    for (int upper = 1; upper >= 0; upper--) {
        for (int i = 0; i < 26; i++) {
            if (e->count[26 * upper + i] == 1) dims[n++] = e->size[26 * upper + i];
        }
    }
    return n;
}

ARN_SHAPE_FUNCTION(einsum) {
    const arenaut_attribute *equation = arn_shape_attribute(s, "equation");
    const char *at = equation->text;
    einsum e = {.sure = at != NULL};
    int64_t dims[LETTERS + ARN_SHAPE_MAX_RANK + ARN_SHAPE_MAX_RANK];
    uint32_t n = 0;
    arn_shape_set_dtype(s, 0, arn_shape_input(s, 0)->dtype);
    for (int i = 0; i < LETTERS; i++) e.size[i] = ARN_SHAPE_ANY;
    for (uint32_t i = 0; i < s->op->n_inputs && e.sure; i++)
        at = take_term(&e, at, arn_shape_input(s, i));
    if (!e.sure) return;
    if (at[0] == '-' && at[1] == '>') {
        for (at += 2; *at && n < ARN_SHAPE_MAX_RANK; at++) {
            const int letter = letter_of(*at);
            if (letter >= 0) dims[n++] = e.size[letter];
            if (*at != '.' || at[1] != '.') continue;
            for (uint32_t i = 0; i < e.n_dots; i++) dims[n++] = e.dots[i];
            at += 2;
            if (!at[-1] || !*at) break;
        }
    } else {
        n = implied(&e, dims);
    }
    if (n <= ARN_SHAPE_MAX_RANK) arn_shape_set(s, 0, arn_shape_input(s, 0)->dtype, n, dims);
}

/* ---- recurrent layers ---- */

/* X is sequence, batch, features (or batch first); all states, the last, and for LSTM the
 * last cell come out. */
ARN_SHAPE_FUNCTION(recurrent) {
    const arn_shape *x = arn_shape_input(s, 0);
    const arenaut_attribute *direction = arn_shape_attribute(s, "direction");
    const bool both = direction->text && strcmp(direction->text, "bidirectional") == 0;
    const bool batch_first = arn_shape_number(s, "layout", 0) != 0;
    const int64_t directions = both ? 2 : 1;
    int64_t hidden = arn_shape_number(s, "hidden_size", ARN_SHAPE_ANY);
    const arn_shape *recurrence = arn_shape_input(s, 2);
    if (hidden == ARN_SHAPE_ANY && recurrence->ranked && recurrence->rank == 3) {
        hidden = recurrence->dims[2];
    }
    const bool ranked = x->ranked && x->rank == 3;
    const int64_t sequence = ranked ? x->dims[batch_first] : ARN_SHAPE_ANY;
    const int64_t batch = ranked ? x->dims[!batch_first] : ARN_SHAPE_ANY;
    const int64_t all[2][4] = {{sequence, directions, batch, hidden},
                               {batch, sequence, directions, hidden}};
    const int64_t last[2][3] = {{directions, batch, hidden}, {batch, directions, hidden}};
    arn_shape_set(s, 0, x->dtype, 4, all[batch_first]);
    arn_shape_set(s, 1, x->dtype, 3, last[batch_first]);
    arn_shape_set(s, 2, x->dtype, 3, last[batch_first]);
}

/* ---- reductions ---- */

/* The axes that go, which are an input or an attribute; without them all do, unless that is
 * said to change nothing. False if they are unknown. */
static bool reduced_axes(arn_shapes *s, const arn_shape *x, bool gone[ARN_SHAPE_MAX_RANK]) {
    const bool stated = arn_shape_has_input(s, 1) || arn_shape_attribute(s, "axes")->name;
    arn_shape_numbers axes = {0, NULL};
    if (stated && (!arn_shape_numbers_of(s, 1, "axes", &axes) || !arn_shape_all_known(axes)))
        return false;
    const bool all = axes.n == 0 && arn_shape_number(s, "noop_with_empty_axes", 0) == 0;
    if (!arn_shape_new_dims(s, x->rank)) return false;
    for (uint32_t i = 0; i < x->rank; i++) gone[i] = all;
    for (uint32_t i = 0; i < axes.n; i++) {
        uint32_t axis;
        if (!arn_shape_axis(s, axes.at[i], x->rank, &axis)) return false;
        gone[axis] = true;
    }
    return true;
}

static void set_reduced(arn_shapes *s, const arn_shape *x, arenaut_dtype dtype,
                        const bool gone[ARN_SHAPE_MAX_RANK]) {
    const bool keep = arn_shape_number(s, "keepdims", 1) != 0;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    uint32_t rank = 0;
    if (!dims) return;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (!gone[i]) dims[rank++] = x->dims[i];
        else if (keep) dims[rank++] = 1;
    }
    arn_shape_set(s, 0, dtype, rank, dims);
}

/* Products and sums of shapes, where all elements become one. */
static void reduce_values(arn_shapes *s, const arn_shape *x) {
    const char *name = s->op->name;
    int64_t *values =
        x->values && !arn_shape_is_float(x->dtype) ? arn_shape_new_values(s, 0) : NULL;
    if (!values || s->of[s->op->outputs[0]].n_values != 1 || x->n_values == 0) return;
    int64_t result = x->values[0];
    for (uint32_t i = 1; i < x->n_values; i++) {
        const int64_t next = x->values[i];
        const bool known = result != ARN_SHAPE_ANY && next != ARN_SHAPE_ANY;
        if (strcmp(name, "ReduceProd") == 0) result = arn_shape_times(result, next);
        else if (strcmp(name, "ReduceSum") == 0) result = arn_shape_plus(result, next);
        else if (strcmp(name, "ReduceMax") == 0)
            result = !known ? ARN_SHAPE_ANY : next > result ? next : result;
        else if (strcmp(name, "ReduceMin") == 0)
            result = !known ? ARN_SHAPE_ANY : next < result ? next : result;
        else result = ARN_SHAPE_ANY;
    }
    values[0] = result;
}

ARN_SHAPE_FUNCTION(reduce) {
    const arn_shape *x = arn_shape_input(s, 0);
    bool gone[ARN_SHAPE_MAX_RANK];
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked) return;
    if (!reduced_axes(s, x, gone)) {
        /* The reduced axes are unknown; with them kept the rank is not. */
        if (arn_shape_number(s, "keepdims", 1) != 0) arn_shape_set(s, 0, x->dtype, x->rank, NULL);
        return;
    }
    set_reduced(s, x, x->dtype, gone);
    reduce_values(s, x);
}

ARN_SHAPE_FUNCTION(arg) {
    const arn_shape *x = arn_shape_input(s, 0);
    bool gone[ARN_SHAPE_MAX_RANK] = {false};
    uint32_t axis;
    arn_shape_set_dtype(s, 0, ARENAUT_DTYPE_INT64);
    if (!x->ranked || !arn_shape_axis(s, arn_shape_number(s, "axis", 0), x->rank, &axis)) return;
    if (!arn_shape_new_dims(s, x->rank)) return;
    gone[axis] = true;
    set_reduced(s, x, ARENAUT_DTYPE_INT64, gone);
    /* Among one element, that is the greatest, and the smallest. */
    int64_t *values = x->dims[axis] == 1 ? arn_shape_new_values(s, 0) : NULL;
    for (uint32_t i = 0; values && i < s->of[s->op->outputs[0]].n_values; i++) values[i] = 0;
}

ARN_SHAPE_FUNCTION(top_k) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_numbers k;
    uint32_t axis;
    arn_shape_set_dtype(s, 0, x->dtype);
    arn_shape_set_dtype(s, 1, ARENAUT_DTYPE_INT64);
    if (!x->ranked || !arn_shape_axis(s, arn_shape_number(s, "axis", -1), x->rank, &axis)) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    memcpy(dims, x->dims, x->rank * sizeof *dims);
    dims[axis] =
        arn_shape_numbers_of(s, 1, "k", &k) && k.n == 1 && k.at[0] >= 0 ? k.at[0] : ARN_SHAPE_ANY;
    arn_shape_set(s, 0, x->dtype, x->rank, dims);
    arn_shape_set(s, 1, ARENAUT_DTYPE_INT64, x->rank, dims);
}
