/* kernel_steps_element: kernels that make one element after the other, and kernels of products,
 * reductions and sequences. */
#include "check/replay/kernel_steps.h"

/* How many elements a library makes at once, of which all operands are read before they are
 * written; 0, with the walk given up, if the order is none of elements. */
static uint64_t block_of(arn_walk *walk) {
    if (walk->rule->order == ARENAUT_KERNEL_RASTER) return 1;
    if (walk->rule->order == ARENAUT_KERNEL_BLOCK) return walk->rule->block;
    (void)arn_walk_give_up(walk, "its elements are in no such order");
    return 0;
}

static bool one_operand(arn_walk *walk) {
    arn_operand in, out;
    if (!arn_walk_input_operand(walk, 0, &in) || !arn_walk_output_operand(walk, 0, &out))
        return false;
    if (in.count != out.count) return arn_walk_give_up(walk, "its shapes do not fit together");
    const uint64_t block = block_of(walk);
    if (block == 0) return false;
    const arn_walk_run blocks = {
        .read = block * in.element, .made = block * out.element, .n = out.count / block};
    const uint64_t whole = blocks.n * block;
    return arn_walk_run_steps(walk, &blocks) &&
           arn_walk_read(walk, 0, whole * in.element, out.count * in.element) &&
           arn_walk_write(walk, 0, whole * out.element, out.count * out.element);
}

/* Strides of an operand in each dimension of the output, in elements: 0 where it is repeated. False
 * if the two do not fit. */
static bool spread(const arn_operand *in, const arn_operand *out, int64_t *strides) {
    int64_t stride = 1;
    if (in->rank > out->rank) return false;
    const uint32_t outer = out->rank - in->rank;
    for (uint32_t i = out->rank; i-- > 0;) {
        const int64_t dim = i < outer ? 1 : in->dims[i - outer];
        if (dim != 1 && dim != out->dims[i]) return false;
        strides[i] = dim == 1 ? 0 : stride;
        stride *= dim;
    }
    return true;
}

static bool two_operands(arn_walk *walk) {
    arn_operand a, b, out;
    int64_t from_a[ARN_OPERAND_RANK], from_b[ARN_OPERAND_RANK];
    arn_loops loops = {.depth = 0};
    if (!arn_walk_input_operand(walk, 0, &a) || !arn_walk_input_operand(walk, 1, &b) ||
        !arn_walk_output_operand(walk, 0, &out))
        return false;
    if (!spread(&a, &out, from_a) || !spread(&b, &out, from_b))
        return arn_walk_give_up(walk, "its shapes do not fit together");
    for (uint32_t i = 0; i < out.rank; i++)
        arn_loops_add(&loops, out.dims[i], from_a[i], from_b[i]);
    const uint64_t block = block_of(walk);
    if (out.count == 0 || block == 0) return block > 0;
    uint64_t k = 0, written = 0;
    do {
        const uint64_t x = (uint64_t)loops.at[0] * a.element, y = (uint64_t)loops.at[1] * b.element;
        if (!arn_walk_read(walk, 0, x, x + a.element) || !arn_walk_read(walk, 1, y, y + b.element))
            return false;
        k++;
        if (k - written < block && k < out.count) continue;
        if (!arn_walk_write(walk, 0, written * out.element, k * out.element)) return false;
        written = k;
    } while (arn_loops_next(&loops));
    return true;
}

/* The bytes as they are, by memcpy. */
static bool rename_bytes(arn_walk *walk) {
    arn_operand in, out;
    if (!arn_walk_input_operand(walk, 0, &in) || !arn_walk_output_operand(walk, 0, &out))
        return false;
    return arn_walk_copy(walk, 0, 0, 0, 0, in.count * in.element);
}

#define ONE(name) {.op = name, .loops = one_operand, .inputs = 1, .takes_blocks = true}
#define TWO(name) {.op = name, .loops = two_operands, .inputs = 3, .takes_blocks = true}

const arn_kernel_family arn_element_kernels[] = {
    ONE("ABS"),
    ONE("CAST"),
    ONE("CEIL"),
    ONE("COS"),
    ONE("DEQUANTIZE"),
    ONE("ELU"),
    ONE("EXP"),
    ONE("FLOOR"),
    ONE("HARD_SWISH"),
    ONE("L2_NORMALIZATION"),
    ONE("LEAKY_RELU"),
    ONE("LOG"),
    ONE("LOGICAL_NOT"),
    ONE("LOGISTIC"),
    ONE("LOG_SOFTMAX"),
    ONE("NEG"),
    ONE("QUANTIZE"),
    ONE("RELU"),
    ONE("RELU6"),
    ONE("RELU_N1_TO_1"),
    ONE("ROUND"),
    ONE("RSQRT"),
    ONE("SIN"),
    ONE("SOFTMAX"),
    ONE("SQRT"),
    ONE("SQUARE"),
    ONE("TANH"),
    TWO("ADD"),
    TWO("DIV"),
    TWO("EQUAL"),
    TWO("FLOOR_DIV"),
    TWO("FLOOR_MOD"),
    TWO("GREATER"),
    TWO("GREATER_EQUAL"),
    TWO("LESS"),
    TWO("LESS_EQUAL"),
    TWO("LOGICAL_AND"),
    TWO("LOGICAL_OR"),
    TWO("MAXIMUM"),
    TWO("MINIMUM"),
    TWO("MUL"),
    TWO("NOT_EQUAL"),
    TWO("PRELU"),
    TWO("SQUARED_DIFFERENCE"),
    TWO("SUB"),
    ONE("cortex_m::dequantize_per_tensor.out"),
    ONE("cortex_m::quantize_per_tensor.out"),
    {.op = "EXPAND_DIMS", .loops = rename_bytes, .inputs = 1},
    {.op = "RESHAPE", .loops = rename_bytes, .inputs = 1},
    {.op = "SQUEEZE", .loops = rename_bytes, .inputs = 1},
    {.op = NULL},
};

/* ---- products, reductions and sequences ---- */

/* O(elements), but for products of matrices O(elements of the result). */

static bool misfit(arn_walk *walk) {
    return arn_walk_give_up(walk, "its shapes, attributes and constants do not fit together");
}

static bool read_all(arn_walk *walk, uint32_t input) {
    return arn_walk_read(walk, input, 0, walk->inputs[input].bytes);
}

static bool write_all(arn_walk *walk) {
    arn_operand out;
    return arn_walk_output_operand(walk, 0, &out) &&
           arn_walk_write(walk, 0, 0, out.count * out.element);
}

/* ---- batches of products ---- */

typedef struct product {
    arn_walk *walk;
    uint64_t rows, depth, columns; /* of one matrix; the second operand is columns × depth */
    uint64_t element;
    bool copies[2]; /* an operand is turned round first, into memory of the kernel's own */
} product;

/* One matrix of the result, from its first element `to` on, of matrices that begin at `a` and `b`.
 * For each element a row of both is read; of those of one row the last does. */
static bool multiply_one(const product *p, uint64_t a, uint64_t b, uint64_t to) {
    const uint64_t row = p->depth * p->element;
    for (uint64_t i = 0; i < p->rows; i++) {
        for (uint64_t j = 0; j < p->columns; j++) {
            const uint64_t x = a * p->element + i * row, y = b * p->element + j * row;
            const uint64_t z = (to + i * p->columns + j) * p->element;
            const bool last = j + 1 == p->columns;
            if (last && !p->copies[0] && !arn_walk_read(p->walk, 0, x, x + row)) return false;
            if (!p->copies[1] && !arn_walk_read(p->walk, 1, y, y + row)) return false;
            if (!arn_walk_write(p->walk, 0, z, z + p->element)) return false;
        }
    }
    return true;
}

/* Loops over the matrices of a batch: an operand has one for all in a dimension of 1. */
static bool loop_over_batch(const arn_operand *a, const arn_operand *b, const arn_operand *out,
                            arn_loops *loops) {
    const arn_operand *of[] = {a, b};
    int64_t strides[2][ARN_OPERAND_RANK];
    for (int k = 0; k < 2; k++) {
        if (of[k]->rank < 2 || of[k]->rank > out->rank) return false;
        const uint32_t outer = out->rank - of[k]->rank;
        int64_t stride = of[k]->dims[of[k]->rank - 2] * of[k]->dims[of[k]->rank - 1];
        for (uint32_t i = out->rank - 2; i-- > 0;) {
            const int64_t dim = i < outer ? 1 : of[k]->dims[i - outer];
            if (dim != 1 && dim != out->dims[i]) return false;
            strides[k][i] = dim == 1 ? 0 : stride;
            stride *= dim;
        }
    }
    for (uint32_t i = 0; i + 2 < out->rank; i++)
        arn_loops_add(loops, out->dims[i], strides[0][i], strides[1][i]);
    return true;
}

static bool multiply(arn_walk *walk) {
    arn_operand a, b, out;
    arn_loops loops = {.depth = 0};
    uint64_t to = 0;
    if (!arn_walk_input_operand(walk, 0, &a) || !arn_walk_input_operand(walk, 1, &b) ||
        !arn_walk_output_operand(walk, 0, &out))
        return false;
    if (!loop_over_batch(&a, &b, &out, &loops) || a.element != out.element ||
        b.element != out.element)
        return misfit(walk);
    if (out.count == 0) return true;
    const bool turn_a = arn_walk_number(walk, "adj_x", 0) != 0;
    const bool turn_b = arn_walk_number(walk, "adj_y", 0) == 0;
    const product p = {.walk = walk,
                       .rows = (uint64_t)out.dims[out.rank - 2],
                       .columns = (uint64_t)out.dims[out.rank - 1],
                       .depth = (uint64_t)a.dims[turn_a ? a.rank - 2 : a.rank - 1],
                       .element = out.element,
                       .copies = {turn_a, turn_b}};
    if ((turn_b && !read_all(walk, 1)) || (turn_a && !read_all(walk, 0))) return false;
    do {
        if (!multiply_one(&p, (uint64_t)loops.at[0], (uint64_t)loops.at[1], to)) return false;
        to += p.rows * p.columns;
    } while (arn_loops_next(&loops));
    return true;
}

/* ---- reductions ---- */

/* One element of the result after the other, each from `n` elements that lie `inner` apart. */
static bool reduce(arn_walk *walk, const arn_operand *in, const arn_operand *out, uint64_t outer,
                   uint64_t n, uint64_t inner) {
    if (outer * inner != out->count) return misfit(walk);
    for (uint64_t k = 0; k < out->count; k++) {
        const uint64_t first = k / inner * n * inner + k % inner;
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t from = (first + i * inner) * in->element;
            if (!arn_walk_read(walk, 0, from, from + in->element)) return false;
        }
        if (!arn_walk_write(walk, 0, k * out->element, (k + 1) * out->element)) return false;
    }
    return true;
}

static bool find_extreme(arn_walk *walk) {
    arn_operand in, out;
    uint32_t axis;
    if (!arn_walk_input_operand(walk, 0, &in) || !arn_walk_output_operand(walk, 0, &out))
        return false;
    const int64_t *stated = arn_walk_values(walk, 1, 1);
    if (!stated || !arn_walk_axis(*stated, in.rank, &axis))
        return arn_walk_give_up(walk, "its axis is not known");
    return reduce(walk, &in, &out, arn_operand_count(&in, 0, axis), (uint64_t)in.dims[axis],
                  arn_operand_count(&in, axis + 1, in.rank));
}

/* Only the mean of images goes element by element; others clear the result first, and add to it. */
static bool average(arn_walk *walk) {
    arn_operand in, out;
    if (!arn_walk_input_operand(walk, 0, &in) || !arn_walk_output_operand(walk, 0, &out))
        return false;
    const int64_t *axes = arn_walk_values(walk, 1, 2);
    const bool of_images = axes && in.rank == 4 && in.dtype == ARENAUT_DTYPE_FLOAT32 &&
                           ((axes[0] == 1 && axes[1] == 2) || (axes[0] == 2 && axes[1] == 1)) &&
                           arn_walk_number(walk, "keep_dims", 0) != 0;
    if (!of_images) return write_all(walk) && read_all(walk, 0);
    return reduce(walk, &in, &out, (uint64_t)in.dims[0], arn_operand_count(&in, 1, 3),
                  (uint64_t)in.dims[3]);
}

/* ---- others ---- */

/* Whole numbers are summed up in scratch, floats in the output, which is cleared first. */
static bool convolve_back(arn_walk *walk) {
    arn_operand in;
    if (!arn_walk_input_operand(walk, 2, &in)) return false;
    if (in.dtype == ARENAUT_DTYPE_FLOAT32) return write_all(walk) && read_all(walk, 2);
    return read_all(walk, 2) && write_all(walk);
}

static bool filter_by_rank(arn_walk *walk) {
    arn_operand in;
    if (!arn_walk_input_operand(walk, 0, &in)) return false;
    if (in.dtype != ARENAUT_DTYPE_INT8)
        return arn_walk_give_up(walk, "the checker has the loops of this operator for int8 alone");
    return read_all(walk, 0) && write_all(walk);
}

/* Step by step: all gates read the step's input, then the new state is copied to the output. */
static bool run_lstm(arn_walk *walk) {
    arn_operand in, out;
    if (!arn_walk_input_operand(walk, 0, &in) || !arn_walk_output_operand(walk, 0, &out))
        return false;
    if (in.rank != 3 || out.rank != 3 || in.dims[0] != out.dims[0] || in.dims[1] != out.dims[1])
        return misfit(walk);
    const bool time_major = arn_walk_number(walk, "time_major", 0) != 0;
    const uint64_t steps = arn_operand_count(&in, 0, time_major ? 1 : 2);
    if (in.count == 0 || out.count == 0) return true;
    const uint64_t from = in.count / steps * in.element, to = out.count / steps * out.element;
    for (uint64_t k = 0; k < steps; k++) {
        if (!arn_walk_read(walk, 0, k * from, (k + 1) * from) ||
            !arn_walk_write(walk, 0, k * to, (k + 1) * to))
            return false;
    }
    return true;
}

const arn_kernel_family arn_matrix_kernels[] = {
    {.op = "ARG_MAX", .loops = find_extreme, .inputs = 1},
    {.op = "ARG_MIN", .loops = find_extreme, .inputs = 1},
    {.op = "BATCH_MATMUL", .loops = multiply, .inputs = 3},
    {.op = "MEAN", .loops = average, .inputs = 1},
    {.op = "SVDF", .loops = filter_by_rank, .inputs = 1},
    {.op = "TRANSPOSE_CONV", .loops = convolve_back, .inputs = 4},
    {.op = "UNIDIRECTIONAL_SEQUENCE_LSTM", .loops = run_lstm, .inputs = 1},
    {.op = NULL},
};
