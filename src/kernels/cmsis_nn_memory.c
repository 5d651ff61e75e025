/* Memory beside tensors of the ops that tflite-micro's folder cmsis_nn replaces: persistent bytes,
 * and scratch. */
#include "kernels/set_parts.h"

#include "kernels/scratch_sizes.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)
#define EXTRA(name) ARENAUT_PERSISTENT_##name

enum { S8 = TYPE(INT8), S16 = TYPE(INT16) };

/* With vector instructions, some add up their weights once, when the model is loaded. */
#define ROWS(connected, filters)                                                              \
    {"ADD", 0, 0, {8, 8}, {64, 64}, EXTRA(NOTHING)},                                          \
        {"AVERAGE_POOL_2D", 0, 0, {40, 40}, {48, 48}, EXTRA(NOTHING)},                        \
        {"BATCH_MATMUL", 0, 0, {3, 3}, {48, 64}, EXTRA(TRANSPOSED)},                          \
        {"CONV_2D", 0, S8 | S16, {28, 28}, {64, 80}, EXTRA(CHANNELS)},                        \
        {"CONV_2D", 0, 0, {28, 28}, {64, 80}, EXTRA(NOTHING)},                                \
        {"DEPTHWISE_CONV_2D", 0, S8 | S16, {28, 28}, {64, 80}, EXTRA(CHANNELS)},              \
        {"DEPTHWISE_CONV_2D", 0, 0, {28, 28}, {64, 80}, EXTRA(NOTHING)},                      \
        {"FULLY_CONNECTED", 0, S8, {16, 16}, {80, 96}, EXTRA(connected)},                     \
        {"FULLY_CONNECTED", 0, 0, {16, 16}, {80, 96}, EXTRA(SCALES)},                         \
        {"MAXIMUM", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},                                    \
        {"MAX_POOL_2D", 0, 0, {40, 40}, {48, 48}, EXTRA(NOTHING)},                            \
        {"MINIMUM", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},                                    \
        {"MUL", 0, 0, {4, 4}, {48, 48}, EXTRA(NOTHING)},                                      \
        {"PAD", 0, 0, {0, 0}, {64, 64}, EXTRA(NOTHING)},                                      \
        {"PADV2", 0, 0, {0, 0}, {64, 64}, EXTRA(NOTHING)},                                    \
        {"SOFTMAX", 0, S16, {4, 4}, {64, 96}, EXTRA(LOOKUP)},                                 \
        {"SOFTMAX", 0, 0, {4, 4}, {64, 96}, EXTRA(NOTHING)},                                  \
        {"SVDF", 0, S8, {12, 12}, {48, 48}, EXTRA(filters)},                                  \
        {"SVDF", 0, 0, {12, 12}, {48, 48}, EXTRA(NOTHING)},                                   \
        {"TRANSPOSE", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},                                  \
        {"TRANSPOSE_CONV", 0, 0, {20, 20}, {80, 96}, EXTRA(CHANNELS)},                        \
        {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, S8 | S16, {16, 16}, {912, 1008}, EXTRA(GATES)}, { \
        "UNIDIRECTIONAL_SEQUENCE_LSTM", 0, 0, {16, 16}, {912, 1008}, EXTRA(NOTHING)           \
    }

const arenaut_persistent_rule arn_cmsis_nn_persistent[] = {ROWS(SCALES, NOTHING), {.op = NULL}};
const arenaut_persistent_rule arn_cmsis_nn_mve_persistent[] = {ROWS(SCALES_SUMS, ROW_SUMS),
                                                               {.op = NULL}};

/* Scratch of CMSIS-NN's kernels under tflite-micro, from the shapes of an op's tensors: the
 * formulas of the folder cmsis_nn's Prepare functions and of CMSIS-NN's *_get_buffer_size, as GCC
 * compiles them. Three machines: with vector instructions (MVE), with DSP instructions, and with
 * neither. tests/pytest/test_kernel_memory.py compares all of it with the runtime. */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static bool is_undilated(const arn_window *w) {
    return w->at.y.dilation == 1 && w->at.x.dilation == 1;
}

static bool is_pointwise(const arn_window *w) {
    return w->area == 1 && is_undilated(w) && w->at.groups == 1;
}

static bool asks_for_nothing(const arenaut_program *p, const arenaut_op *op,
                             arenaut_scratch_requests *requests) {
    (void)p;
    (void)op;
    (void)requests;
    return true;
}

/* ---- CONV_2D ---- */

/* The windows of two pixels as numbers of two bytes, and of four as they are. */
static uint64_t two_windows(uint64_t elements) { return 4 * arn_round_up(elements, 4); }
static uint64_t four_windows(uint64_t elements) { return 4 * arn_round_up(elements, 16); }

static bool convolved(const arenaut_program *p, const arenaut_op *op,
                      arenaut_scratch_requests *requests) {
    arn_window w;
    if (!arn_find_window(p, op, &w)) return false;
    if (!is_pointwise(&w)) arn_ask(requests, two_windows(w.elements), 1);
    return true;
}

/* An image of one row is read in place, but for its ends, which are laid out with their padding. */
static uint64_t ends_of_row(const arn_window *w) {
    const arn_window_axis *x = &w->at.x;
    const int64_t odd = ((x->out - 1) * x->stride + x->taps - x->in) % 2;
    const int64_t before = x->before, after = before + odd;
    const int64_t left = before ? (before + x->stride - 1) / x->stride : 0;
    const int64_t right = after ? larger(1, (after + x->stride - 1) / x->stride) : 0;
    if (left + right > x->out) return four_windows(w->elements);
    const int64_t lead = x->taps + before;
    const int64_t trail = x->taps - 1 + (odd ? right : before);
    return (uint64_t)(larger(lead, trail) * w->at.in_channels);
}

static bool convolved_mve(const arenaut_program *p, const arenaut_op *op,
                          arenaut_scratch_requests *requests) {
    arn_window w;
    if (!arn_find_window(p, op, &w)) return false;
    const bool row = w.at.y.in == 1 && w.at.y.taps == 1 && w.at.x.dilation == 1 &&
                     w.at.x.stride * w.at.in_channels % 4 == 0 && w.at.groups == 1;
    if (is_pointwise(&w)) return true;
    const uint64_t bytes = row ? ends_of_row(&w) : four_windows(w.elements);
    if (bytes) arn_ask(requests, bytes, 1);
    return true;
}

static bool convolved_wide(const arenaut_program *p, const arenaut_op *op,
                           arenaut_scratch_requests *requests) {
    arn_window w;
    if (!arn_find_window(p, op, &w)) return false;
    arn_ask(requests, w.elements, 4);
    return true;
}

static bool convolved_wide_mve(const arenaut_program *p, const arenaut_op *op,
                               arenaut_scratch_requests *requests) {
    arn_window w;
    if (!arn_find_window(p, op, &w)) return false;
    arn_ask(requests, arn_round_up(w.elements, 8), 8);
    return true;
}

/* ---- DEPTHWISE_CONV_2D ---- */

/* These kernels take one image, and make one output channel of each input channel. */
static bool is_plain_depthwise(const arn_window *w) {
    return w->at.in_channels == w->at.out_channels && w->at.batches == 1 && is_undilated(w);
}

static bool has_small_weights(const arenaut_program *p, const arenaut_op *op) {
    return arn_op_input(p, op, 1)->dtype == ARENAUT_DTYPE_INT4;
}

/* The window of a pixel as numbers of two bytes; 3x3 has a kernel of its own. */
static bool depthwise_dsp(const arenaut_program *p, const arenaut_op *op,
                          arenaut_scratch_requests *requests) {
    arn_window w;
    if (!arn_find_window(p, op, &w)) return false;
    const bool square = w.at.y.taps == 3 && w.at.x.taps == 3 && w.at.y.before <= 1 &&
                        w.at.x.before <= 1 && !has_small_weights(p, op);
    if (is_plain_depthwise(&w) && !square) arn_ask(requests, w.elements, 2);
    return true;
}

static bool depthwise(const arenaut_program *p, const arenaut_op *op,
                      arenaut_scratch_requests *requests) {
    arn_window w;
    if (!arn_find_window(p, op, &w)) return false;
    return !has_small_weights(p, op) || depthwise_dsp(p, op, requests);
}

/* One channel made into many is a convolution, its weights laid out anew. For an image of one row
 * the kernel looks at a stride that tflite-micro leaves open. */
static bool one_to_many(const arn_window *w, arenaut_scratch_requests *requests) {
    const bool row = w->at.y.in == 1 && w->at.y.taps == 1 && w->at.x.dilation == 1;
    const bool pointwise = w->area == 1 && is_undilated(w);
    uint64_t weights;
    if (row && !pointwise) return false;
    if (!arn_multiply_extents(w->area, (uint64_t)w->at.out_channels, &weights)) return false;
    arn_ask(requests, weights + (pointwise ? 0 : four_windows(w->area)), 1);
    return true;
}

/* Four windows of as many channels as are worked on at a time. */
static bool depthwise_mve(const arenaut_program *p, const arenaut_op *op,
                          arenaut_scratch_requests *requests) {
    enum { CHANNELS = 124 };
    arn_window w;
    if (!arn_find_window(p, op, &w)) return false;
    const bool many = w.at.in_channels == 1 && w.at.out_channels > 1;
    if (many && !has_small_weights(p, op)) return one_to_many(&w, requests);
    if (is_plain_depthwise(&w)) arn_ask(requests, w.area, 4 * CHANNELS);
    return true;
}

/* ---- other ops ---- */

/* A sum for each channel. */
static bool averaged_dsp(const arenaut_program *p, const arenaut_op *op,
                         arenaut_scratch_requests *requests) {
    const arenaut_tensor *input = arn_op_input(p, op, 0);
    uint64_t n;
    if (!arn_count_elements(input, &n) || input->rank != 4) return false;
    arn_ask(requests, (uint64_t)input->dims[3], 4);
    return true;
}

/* Results of more than two dimensions are made by the 1x1 convolution, which wants a scale for
 * each output channel. `sums`: other kernels add up the weights of each output channel, unless
 * that was done when the model was loaded. */
static bool connect(const arenaut_program *p, const arenaut_op *op, bool sums,
                    arenaut_scratch_requests *requests) {
    const arenaut_tensor *weights = arn_op_input(p, op, 1), *output = arn_op_output(p, op, 0);
    const arenaut_tensor *bias = arn_op_input(p, op, 2);
    uint64_t n;
    if (!arn_count_elements(weights, &n) || !arn_count_elements(output, &n)) return false;
    if (weights->rank == 0 || output->rank == 0) return false;
    if (weights->dtype == ARENAUT_DTYPE_INT4) return true;
    const uint64_t units = (uint64_t)output->dims[output->rank - 1];
    const bool known = weights->cls == ARENAUT_CONSTANT && (!bias || bias->cls == ARENAUT_CONSTANT);
    if (output->rank > 2 && weights->dims[weights->rank - 1] % 4 == 0) {
        if (weights->n_scales < 2) arn_ask(requests, units, 8);
    } else if (sums && !known) {
        arn_ask(requests, units, 4);
    }
    return true;
}

static bool connected(const arenaut_program *p, const arenaut_op *op,
                      arenaut_scratch_requests *requests) {
    return connect(p, op, false, requests);
}

static bool connected_mve(const arenaut_program *p, const arenaut_op *op,
                          arenaut_scratch_requests *requests) {
    return connect(p, op, true, requests);
}

/* A sum for each column. */
static bool multiplied_mve(const arenaut_program *p, const arenaut_op *op,
                           arenaut_scratch_requests *requests) {
    const arenaut_tensor *output = arn_op_output(p, op, 0);
    uint64_t n;
    if (!arn_count_elements(output, &n) || output->rank < 2) return false;
    arn_ask(requests, (uint64_t)output->dims[output->rank - 1], 4);
    return true;
}

/* Of many input channels, it is a convolution of the image spread out, with the weights in reverse;
 * else a band of sums as wide as the result. The second request is made in any case. */
static bool transpose(const arenaut_program *p, const arenaut_op *op, uint64_t (*windows)(uint64_t),
                      arenaut_scratch_requests *requests) {
    enum { MANY = 16 };
    const arenaut_tensor *weights = arn_op_input(p, op, 1), *image = arn_op_input(p, op, 2);
    const int64_t *strides = arn_op_numbers(op, "strides", 2);
    uint64_t n, elements, width, sums;
    if (!strides || strides[0] < 1 || strides[1] < 1) return false;
    if (!arn_count_elements(weights, &n) || !arn_count_elements(image, &elements)) return false;
    if (weights->rank != 4 || image->rank != 4) return false;
    const int64_t *filter = weights->dims;
    if (strides[0] <= 2 && strides[1] <= 2 && image->dims[3] > MANY) {
        if (!arn_count_taps(filter[1], filter[2], image->dims[3], &elements)) return false;
        arn_ask(requests, windows(elements), 1);
        arn_ask(requests, n, 1);
        return true;
    }
    const int64_t last = larger(filter[2], strides[0]);
    if (!arn_multiply_extents((uint64_t)(image->dims[2] - 1), (uint64_t)strides[1], &width))
        return false;
    if (!arn_multiply_extents(width + (uint64_t)last, (uint64_t)filter[0], &sums)) return false;
    if (!arn_multiply_extents(sums, (uint64_t)larger(filter[1], strides[0]), &sums)) return false;
    arn_ask(requests, sums, 4);
    arn_ask(requests, 0, 1);
    return true;
}

static bool transposed(const arenaut_program *p, const arenaut_op *op,
                       arenaut_scratch_requests *requests) {
    return transpose(p, op, two_windows, requests);
}

static bool transposed_mve(const arenaut_program *p, const arenaut_op *op,
                           arenaut_scratch_requests *requests) {
    return transpose(p, op, four_windows, requests);
}

/* A bias of two bytes is widened first. */
static bool transposed_wide(const arenaut_program *p, const arenaut_op *op,
                            arenaut_scratch_requests *requests) {
    const arenaut_tensor *bias = arn_op_input(p, op, 3);
    if (!bias) return false;
    if (bias->dtype == ARENAUT_DTYPE_INT16 && !arn_ask_for_each(requests, bias, 8)) return false;
    return arn_ask_for_each(requests, arn_op_output(p, op, 0), 8);
}

/* Gates, each as large as the cell state; of floats, one more. */
static bool gated(const arenaut_program *p, const arenaut_op *op,
                  arenaut_scratch_requests *requests) {
    enum { CELL_STATE = 19 };
    const arenaut_tensor *input = arn_op_input(p, op, 0), *cell = arn_op_input(p, op, CELL_STATE);
    const bool quantized = input->dtype != ARENAUT_DTYPE_FLOAT32;
    if (!cell || cell->dtype != (quantized ? ARENAUT_DTYPE_INT16 : ARENAUT_DTYPE_FLOAT32)) {
        return false;
    }
    for (int gate = quantized; gate < 4; gate++) {
        if (!arn_ask_for_each(requests, cell, arn_element_bytes(cell))) return false;
    }
    return true;
}

/* ---- machines ---- */

#define EVERY_MACHINE                                                      \
    {"TRANSPOSE_CONV", 2, S16, transposed_wide},                           \
        {"SVDF", 0, TYPE(FLOAT32) | S8, arn_scratch_of_svdf}, {            \
        "UNIDIRECTIONAL_SEQUENCE_LSTM", 0, TYPE(FLOAT32) | S8 | S16, gated \
    }

static const arn_scratch_row plain_rows[] = {
    {"CONV_2D", 0, S8, convolved},
    {"CONV_2D", 0, S16, convolved_wide},
    {"DEPTHWISE_CONV_2D", 0, S8, depthwise},
    {"AVERAGE_POOL_2D", 0, S8 | S16, asks_for_nothing},
    {"FULLY_CONNECTED", 0, S8, connected},
    {"TRANSPOSE_CONV", 2, S8, transposed},
    EVERY_MACHINE,
    {.op = NULL},
};

static const arn_scratch_row dsp_rows[] = {
    {"CONV_2D", 0, S8, convolved},
    {"CONV_2D", 0, S16, convolved_wide},
    {"DEPTHWISE_CONV_2D", 0, S8, depthwise_dsp},
    {"AVERAGE_POOL_2D", 0, S8 | S16, averaged_dsp},
    {"FULLY_CONNECTED", 0, S8, connected},
    {"TRANSPOSE_CONV", 2, S8, transposed},
    EVERY_MACHINE,
    {.op = NULL},
};

static const arn_scratch_row mve_rows[] = {
    {"CONV_2D", 0, S8, convolved_mve},
    {"CONV_2D", 0, S16, convolved_wide_mve},
    {"DEPTHWISE_CONV_2D", 0, S8, depthwise_mve},
    {"FULLY_CONNECTED", 0, S8, connected_mve},
    {"BATCH_MATMUL", 0, S8, multiplied_mve},
    {"TRANSPOSE_CONV", 2, S8, transposed_mve},
    EVERY_MACHINE,
    {.op = NULL},
};

bool arn_cmsis_nn_c_scratch(const arenaut_program *program, const arenaut_op *op,
                            arenaut_scratch_requests *requests) {
    return arn_scratch_by_rows(plain_rows, program, op, requests);
}

bool arn_cmsis_nn_scratch(const arenaut_program *program, const arenaut_op *op,
                          arenaut_scratch_requests *requests) {
    return arn_scratch_by_rows(dsp_rows, program, op, requests);
}

bool arn_cmsis_nn_mve_scratch(const arenaut_program *program, const arenaut_op *op,
                              arenaut_scratch_requests *requests) {
    return arn_scratch_by_rows(mve_rows, program, op, requests);
}
