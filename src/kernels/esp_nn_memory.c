/* Memory beside tensors of the ops that Espressif's folder esp_nn replaces: persistent bytes, and
 * scratch. */
#include "kernels/set_parts.h"

#include "kernels/scratch_sizes.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)
#define EXTRA(name) ARENAUT_PERSISTENT_##name

const arenaut_persistent_rule arn_esp_nn_persistent[] = {
    {"ADD", 0, 0, {8, 8}, {64, 64}, EXTRA(NOTHING)},
    {"AVERAGE_POOL_2D", 0, 0, {40, 40}, {32, 32}, EXTRA(NOTHING)},
    {"CONV_2D", 0, 0, {28, 28}, {64, 80}, EXTRA(CHANNELS)},
    {"DEPTHWISE_CONV_2D", 0, 0, {28, 28}, {64, 80}, EXTRA(CHANNELS)},
    {"FULLY_CONNECTED", 0, 0, {16, 16}, {48, 80}, EXTRA(SCALES)},
    {"MAX_POOL_2D", 0, 0, {40, 40}, {32, 32}, EXTRA(NOTHING)},
    {"MUL", 0, 0, {4, 4}, {48, 48}, EXTRA(NOTHING)},
    {"SOFTMAX", 0, TYPE(INT16), {4, 4}, {64, 96}, EXTRA(LOOKUP)},
    {"SOFTMAX", 0, 0, {4, 4}, {64, 96}, EXTRA(NOTHING)},
    {.op = NULL},
};

/* Scratch of ESP-NN's kernels under Espressif's tflite-micro, from the shapes of an op's tensors:
 * the formulas of the folder esp_nn's Prepare functions and of ESP-NN's *_scratch_size, in C for
 * any chip and for the vector instructions of an ESP32-S3. Weights of four bits are unpacked first.
 * tests/pytest/test_kernel_memory.py compares all of it with the runtime. */

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)

enum { S8 = TYPE(INT8) };

/* The exponentials of a row, for which the kernel takes axis 1, for any rank. If a row is longer,
 * the kernel writes past its request: then nothing is known. */
static bool raised(const arenaut_program *p, const arenaut_op *op,
                   arenaut_scratch_requests *requests) {
    const arenaut_tensor *input = arn_op_input(p, op, 0), *output = arn_op_output(p, op, 0);
    uint64_t n;
    if (!arn_count_elements(input, &n) || !output) return false;
    if (output->dtype != ARENAUT_DTYPE_INT8) return true;
    if (input->rank < 2 || input->dims[1] < input->dims[input->rank - 1]) return false;
    arn_ask(requests, (uint64_t)input->dims[1], 4);
    return true;
}

/* ---- ESP32-S3 ---- */

/* Room to align the copy, into which the kernels also read. */
enum { MARGIN = 16, WIDE_MARGIN = 64 };

static bool is_narrow(const arn_window_axis *axis) {
    return axis->in <= UINT16_MAX && axis->out <= UINT16_MAX && axis->taps <= UINT16_MAX &&
           axis->stride <= UINT16_MAX;
}

/* The kernels count sides in 16 bits. */
static bool find_narrow_window(const arenaut_program *p, const arenaut_op *op, arn_window *w) {
    return arn_find_window(p, op, w) && is_narrow(&w->at.y) && is_narrow(&w->at.x) &&
           w->at.in_channels <= UINT16_MAX && w->at.out_channels <= UINT16_MAX;
}

static bool is_led(const arn_window *w) { return w->at.y.before > 0 || w->at.x.before > 0; }

/* How far windows reach past the image, as the kernels see it: they know nothing of dilation, and
 * count a last stride in full. */
static int64_t overhang(const arn_window_axis *axis) {
    return axis->out * axis->stride + axis->taps - 1 - axis->in;
}
static int64_t overhang_or_none(const arn_window_axis *axis) {
    return overhang(axis) > 0 ? overhang(axis) : 0;
}

/* A channel of the image with so many rows and columns more. */
static uint64_t area_with(const arn_window *w, int64_t rows, int64_t columns) {
    return (uint64_t)(w->at.y.in + rows) * (uint64_t)(w->at.x.in + columns);
}

static bool ask_up_to_most(arenaut_scratch_requests *requests, uint64_t bytes) {
    if (bytes > ARN_MOST_EXTENT) return false;
    arn_ask(requests, bytes, 1);
    return true;
}

static bool unpack_weights(const arenaut_program *p, const arenaut_op *op,
                           arenaut_scratch_requests *requests) {
    return arn_op_input(p, op, 1)->dtype != ARENAUT_DTYPE_INT4 ||
           arn_scratch_of_small_weights(p, op, requests);
}

/* The filter, and where eight channels do not divide it the image, filled up to multiples of eight
 * channels; eight pixels as numbers of two bytes, where there are so many. */
static uint64_t pointwise(const arn_window *w) {
    const uint64_t channels = arn_round_up((uint64_t)w->at.in_channels, 8);
    const uint64_t area = area_with(w, 0, 0);
    const uint64_t image = w->at.in_channels % 8 ? area * channels : 0;
    const uint64_t pixels = area < 8 ? 0 : 8 * 2 * channels;
    return image + channels * (uint64_t)w->at.out_channels + pixels + WIDE_MARGIN;
}

/* One window, and the filters laid out alike with the sum of each. */
static uint64_t gathered(const arn_window *w) {
    const uint64_t window = arn_round_up(w->elements, 16), filters = (uint64_t)w->at.out_channels;
    return filters * (window + 4) + window + 2 * MARGIN + WIDE_MARGIN;
}

/* The image with its padding on either side, and once more with the rows that windows reach past
 * its end; the filter filled up by channels, and once more by rows. */
static uint64_t convolved_whole(const arn_window *w) {
    const arn_window_axis *y = &w->at.y, *x = &w->at.x;
    const uint64_t channels = (uint64_t)w->at.in_channels, filters = (uint64_t)w->at.out_channels;
    const int64_t below = overhang_or_none(y), right = overhang_or_none(x);
    const uint64_t row = arn_round_up((uint64_t)x->taps * channels, 16);
    uint64_t bytes = filters * 4 + WIDE_MARGIN;
    if (is_led(w)) bytes += area_with(w, 2 * y->before, 2 * x->before) * channels;
    if (below || right) bytes += area_with(w, below, right) * channels;
    return bytes + filters * (w->area * arn_round_up(channels, 16) + row * (uint64_t)y->taps);
}

static bool convolved(const arenaut_program *p, const arenaut_op *op,
                      arenaut_scratch_requests *requests) {
    arn_window w;
    if (!find_narrow_window(p, op, &w) || !unpack_weights(p, op, requests)) return false;
    const bool unit = w.at.y.stride == 1 && w.at.x.stride == 1;
    const bool short_rows = w.at.x.taps * w.at.in_channels < 16 && w.elements >= 16;
    return ask_up_to_most(requests, w.area == 1 && unit ? pointwise(&w)
                                    : short_rows        ? gathered(&w)
                                                        : convolved_whole(&w));
}

/* Of 3x3 with channels by sixteen: the filter, and the image with its padding, or as many rows of
 * it as a window has. */
static uint64_t square_by_sixteen(const arn_window *w) {
    enum { MOST_IMAGE = 40 << 10 };
    const bool led = is_led(w);
    const int64_t rows = led ? 2 * w->at.y.before : overhang(&w->at.y);
    const int64_t columns = led ? 2 * w->at.x.before : overhang(&w->at.x);
    const uint64_t channels = (uint64_t)w->at.in_channels;
    const uint64_t image = area_with(w, rows, columns) * channels;
    const uint64_t strip = (uint64_t)(w->at.x.in + columns) * (uint64_t)w->at.y.taps * channels;
    if (rows == 0 && columns == 0) return w->elements + MARGIN;
    return w->elements + (image <= MOST_IMAGE ? image : strip) + MARGIN;
}

/* Of 3x3 with channels filled up to sixteen: filter, image and result. */
static uint64_t square_filled_up(const arn_window *w) {
    const arn_window_axis *y = &w->at.y, *x = &w->at.x;
    const uint64_t image =
        area_with(w, 2 * y->before + overhang_or_none(y), 2 * x->before + overhang_or_none(x));
    const uint64_t result = (uint64_t)y->out * (uint64_t)x->out;
    return (w->area + image + result) * arn_round_up((uint64_t)w->at.in_channels, 16) + WIDE_MARGIN;
}

/* Filter and image as numbers of two bytes. */
static uint64_t widened(const arn_window *w, uint64_t filter) {
    return 2 * (filter + area_with(w, 0, 0) * (uint64_t)w->at.in_channels) + 2 * MARGIN;
}

/* The same, of a large image only as many rows as a window has. */
static uint64_t widened_by_rows(const arn_window *w) {
    enum { MOST_BYTES = 48 << 10 };
    const uint64_t row = (uint64_t)w->at.x.in * (uint64_t)w->at.in_channels;
    const uint64_t whole = widened(w, w->elements);
    if (whole - 2 * MARGIN <= MOST_BYTES) return whole;
    return 2 * (w->elements + row * (uint64_t)w->at.y.taps) + 2 * MARGIN;
}

/* Filter, image, result, and bias, shift and multiplier of each channel, all filled up to multiples
 * of eight channels. */
static uint64_t filled_up(const arn_window *w) {
    const uint64_t channels = arn_round_up((uint64_t)w->at.in_channels, 8);
    const uint64_t result = (uint64_t)w->at.y.out * (uint64_t)w->at.x.out;
    uint64_t bytes = arn_round_up(2 * w->area * channels, 16);
    bytes = arn_round_up(bytes + 2 * area_with(w, 0, 0) * channels, 16);
    bytes = arn_round_up(bytes + result * channels, 16);
    return bytes + 3 * 4 * channels + MARGIN;
}

static uint64_t depthwise_bytes(const arn_window *w) {
    const int64_t channels = w->at.in_channels, multiplier = w->at.out_channels / channels;
    const bool square = w->at.y.taps == 3 && w->at.x.taps == 3;
    if (multiplier == 1 && channels % 8 == 0) {
        if (!square) return widened_by_rows(w);
        return channels % 16 == 0 ? square_by_sixteen(w)
               : channels >= 12   ? square_filled_up(w)
                                  : widened(w, w->elements);
    }
    if (multiplier == 1 && channels > 3) return filled_up(w);
    if (multiplier % 4 == 0) return widened(w, w->elements * (uint64_t)multiplier);
    return 2 * MARGIN;
}

/* The kernels believe the multiplier that the op states. */
static bool depthwise(const arenaut_program *p, const arenaut_op *op,
                      arenaut_scratch_requests *requests) {
    arn_window w;
    int64_t multiplier;
    return find_narrow_window(p, op, &w) && arn_op_number(op, "depth_multiplier", &multiplier) &&
           multiplier == w.at.out_channels / w.at.in_channels && unpack_weights(p, op, requests) &&
           ask_up_to_most(requests, depthwise_bytes(&w));
}

/* ---- machines ---- */

static const arn_scratch_row plain_rows[] = {
    {"CONV_2D", 0, S8, arn_scratch_of_small_weights},
    {"DEPTHWISE_CONV_2D", 0, S8, arn_scratch_of_small_weights},
    {"FULLY_CONNECTED", 0, S8, arn_scratch_of_small_weights},
    {"SOFTMAX", 0, S8, raised},
    {.op = NULL},
};

static const arn_scratch_row s3_rows[] = {
    {"CONV_2D", 0, S8, convolved},
    {"DEPTHWISE_CONV_2D", 0, S8, depthwise},
    {"FULLY_CONNECTED", 0, S8, arn_scratch_of_small_weights},
    {"SOFTMAX", 0, S8, raised},
    {.op = NULL},
};

bool arn_esp_nn_scratch(const arenaut_program *program, const arenaut_op *op,
                        arenaut_scratch_requests *requests) {
    return arn_scratch_by_rows(plain_rows, program, op, requests);
}

bool arn_esp32_s3_scratch(const arenaut_program *program, const arenaut_op *op,
                          arenaut_scratch_requests *requests) {
    return arn_scratch_by_rows(s3_rows, program, op, requests);
}
