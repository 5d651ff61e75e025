/* Distances of ops that sum up along an axis: matrix products, means, the place of the largest
 * element, recurrent layers. O(rows of the output). */
#include <string.h>

#include "kernels/distance.h"
#include "kernels/op_facts.h"

static bool is_raster(const arn_pair *pair) { return pair->rule->order == ARENAUT_KERNEL_RASTER; }

/* ---- batch matmul ---- */

enum { BATCH_AXES = 3, MATRIX_RANK = BATCH_AXES + 2 };

/* A shape with ones in front, so that it has MATRIX_RANK axes. */
static bool widen(const arenaut_tensor *tensor, int64_t dims[MATRIX_RANK]) {
    if (tensor->rank < 2 || tensor->rank > MATRIX_RANK) return false;
    for (uint32_t i = 0; i < MATRIX_RANK; i++) {
        const uint32_t missing = MATRIX_RANK - tensor->rank;
        dims[i] = i < missing ? 1 : tensor->dims[i - missing];
    }
    return true;
}

typedef struct matmul {
    const arn_pair *pair;
    int64_t out[MATRIX_RANK], in[MATRIX_RANK]; /* shapes; `in` is the operand's */
    int64_t depth;
} matmul;

/* The operand's matrix that goes into matrix `batch` of the result: it is repeated along axes of 1.
 */
static int64_t operand_matrix(const matmul *m, int64_t batch) {
    int64_t matrix = 0, step = 1;
    for (int i = BATCH_AXES; i-- > 0;) {
        const int64_t index = batch % m->out[i];
        batch /= m->out[i];
        if (m->in[i] > 1) matrix += index * step;
        step *= m->in[i];
    }
    return matrix;
}

/* Row by row of the left matrix, and for each all columns of the right one, which lies transposed:
 * the left row is read again for each column, the right matrix for each row. */
static void walk_products(const matmul *m, bool left, arn_reach *reach) {
    const int64_t rows = m->out[3], columns = m->out[4], in = m->pair->in_element;
    const int64_t out = m->pair->out_element, vector = m->depth * in;
    const int64_t count = (int64_t)arn_element_count(m->pair->out) / columns;
    for (int64_t row = count; row-- > 0;) {
        const int64_t matrix = operand_matrix(m, row / rows) * m->in[3] * m->in[4] * in;
        const int64_t lowest = left ? matrix + row % rows * vector : matrix;
        const int64_t first = row * columns * out; /* byte of the output */
        arn_reach_step(reach, first + columns * out, lowest);
        if (columns == 1) continue;
        /* Bytes written before the second column, and before the last. */
        const int64_t pace = left ? 0 : vector;
        arn_reach_at_least(reach, first + out - (lowest + pace));
        arn_reach_at_least(reach, first + (columns - 1) * (out - pace) - lowest);
    }
}

/* An operand's shape, and whether it is stated as adjoint. */
static bool take_operand(const arn_pair *pair, uint32_t input, const char *adjoint,
                         int64_t dims[MATRIX_RANK], bool *turned) {
    const arenaut_tensor *tensor = arn_op_input(pair->program, pair->op, input);
    int64_t stated;
    if (!tensor || !arn_is_plain(tensor) || tensor->dtype != pair->out->dtype) return false;
    if (!arn_op_number(pair->op, adjoint, &stated) || !widen(tensor, dims)) return false;
    *turned = stated != 0;
    return true;
}

/* Whether both operands make this result, each batch from its own matrices or repeated ones. */
static bool multiply(const matmul *m, const int64_t x[MATRIX_RANK], bool x_turned,
                     const int64_t y[MATRIX_RANK], bool y_turned) {
    for (int i = 0; i < BATCH_AXES; i++) {
        if (x[i] != 1 && x[i] != m->out[i]) return false;
        if (y[i] != 1 && y[i] != m->out[i]) return false;
    }
    return x[x_turned ? 4 : 3] == m->out[3] && y[y_turned ? 3 : 4] == m->out[4] &&
           x[x_turned ? 3 : 4] == y[y_turned ? 4 : 3];
}

/* An operand that does not lie as the loops want it is transposed into a buffer of the kernel's
 * first: the left one where it is stated as adjoint, the right one where it is not. */
bool arn_matmul_distance(const arn_pair *pair, arn_reach *reach) {
    const bool left = pair->input == 0;
    int64_t x[MATRIX_RANK], y[MATRIX_RANK];
    bool x_turned, y_turned;
    matmul m = {.pair = pair};
    if (!is_raster(pair) || !widen(pair->out, m.out)) return false;
    if (!take_operand(pair, 0, "adj_x", x, &x_turned)) return false;
    if (!take_operand(pair, 1, "adj_y", y, &y_turned)) return false;
    if (!multiply(&m, x, x_turned, y, y_turned)) return false;
    if (left ? x_turned : !y_turned) return true;
    memcpy(m.in, left ? x : y, sizeof m.in);
    m.depth = m.in[4];
    if (!arn_take_steps(pair, arn_element_count(pair->out) / (uint64_t)m.out[4])) return false;
    walk_products(&m, left, reach);
    return true;
}

/* ---- sums along axes ---- */

/* The mean over the two sides of images, the one reduction that does not clear its output first:
 * image by image, channel by channel. */
bool arn_mean_distance(const arn_pair *pair, arn_reach *reach) {
    const int64_t *axes = arn_op_values(pair->program, pair->op, 1, 2);
    const arenaut_tensor *in = pair->in, *out = pair->out;
    if (!is_raster(pair) || !axes || in->dtype != out->dtype || in->rank != 4) return false;
    if (!arn_op_flag(pair->op, "keep_dims") || out->rank != 4) return false;
    if (!(axes[0] == 1 && axes[1] == 2) && !(axes[0] == 2 && axes[1] == 1)) return false;
    const int64_t channels = in->dims[3];
    if ((int64_t)arn_element_count(out) != in->dims[0] * channels) return false;
    const int64_t image = channels * in->dims[1] * in->dims[2];
    if (channels > 1) arn_reach_at_least(reach, 0);
    if (in->dims[0] > 1) arn_reach_at_least(reach, (channels - image) * pair->in_element);
    return true;
}

/* Line by line along the axis; the lines of one outer index begin one element after another. */
bool arn_arg_distance(const arn_pair *pair, arn_reach *reach) {
    const arenaut_tensor *in = pair->in;
    const int64_t *stated = arn_op_values(pair->program, pair->op, 1, 1);
    if (!is_raster(pair) || !stated || in->rank == 0) return false;
    const int64_t axis = *stated < 0 ? *stated + in->rank : *stated;
    if (axis < 0 || axis >= in->rank) return false;
    int64_t outer = 1, inner = 1;
    for (uint32_t i = 0; i < in->rank; i++) {
        if (i < axis) outer *= in->dims[i];
        if (i > axis) inner *= in->dims[i];
    }
    if ((int64_t)arn_element_count(pair->out) != outer * inner) return false;
    if (!arn_take_steps(pair, (uint64_t)outer)) return false;
    const int64_t made = pair->out_element, read = pair->in_element;
    for (int64_t o = outer; o-- > 0;) {
        const int64_t lowest = o * in->dims[axis] * inner * read, first = o * inner * made;
        arn_reach_step(reach, first + inner * made, lowest);
        if (inner == 1) continue;
        arn_reach_at_least(reach, first - lowest + made - read);
        arn_reach_at_least(reach, first - lowest + (inner - 1) * (made - read));
    }
    return true;
}

/* ---- recurrent layers ---- */

/* Step of time by step of time, of all sequences together or of one after another as they lie: all
 * gates, which read the step's input, then the output. */
bool arn_sequence_distance(const arn_pair *pair, arn_reach *reach) {
    const arenaut_tensor *in = pair->in, *out = pair->out;
    int64_t time_major;
    if (!is_raster(pair) || !arn_op_number(pair->op, "time_major", &time_major)) return false;
    if (in->rank != 3 || out->rank != 3) return false;
    if (in->dims[0] != out->dims[0] || in->dims[1] != out->dims[1]) return false;
    const int64_t steps = in->dims[0] * (time_major ? 1 : in->dims[1]);
    const int64_t growth = ((int64_t)out->bytes - (int64_t)in->bytes) / steps;
    if (steps == 1) return true;
    arn_reach_at_least(reach, growth);
    arn_reach_at_least(reach, (steps - 1) * growth);
    return true;
}
