#include "support/naive_kernels.h"

#include <string.h>

#include "kernels/distance.h"
#include "support/programs.h"
#include "support/test.h"

uint64_t sample_bytes(const sample_tensor *tensor) {
    uint64_t bytes = arenaut_dtype_bits(tensor->dtype) / 8;
    for (uint32_t i = 0; i < tensor->rank; i++) bytes *= (uint64_t)tensor->dims[i];
    return bytes;
}

/* ---- elements ---- */

static uint64_t size_of(const sample_tensor *t) { return arenaut_dtype_bits(t->dtype) / 8; }

static int64_t elements(const sample_tensor *t) { return (int64_t)(sample_bytes(t) / size_of(t)); }

static uint64_t mix(uint64_t sum, uint64_t value) {
    sum = (sum ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return sum ^ (sum >> 29);
}

/* Mixes element k of input i into a sum. */
static uint64_t get(const sample *s, const sample_memory *m, uint32_t i, int64_t k, uint64_t sum) {
    const uint64_t size = size_of(&s->in[i]);
    for (uint64_t b = 0; b < size; b++) sum = mix(sum, m->in[i][(uint64_t)k * size + b]);
    return sum;
}

static void put(const sample *s, const sample_memory *m, uint32_t i, int64_t k, uint64_t sum) {
    const uint64_t size = size_of(&s->out[i]);
    for (uint64_t b = 0; b < size; b++)
        m->out[i][(uint64_t)k * size + b] = (uint8_t)(mix(sum, b) >> 40);
}

/* A run to byte `at` of the first output. That is mixed in too, so that no copy equals its old
 * bytes.
 * */
static void copy(const sample_memory *m, const uint8_t *from, uint64_t at, uint64_t bytes) {
    for (uint64_t b = 0; b < bytes; b++) {
        const uint64_t k = m->copies_backwards ? bytes - 1 - b : b;
        m->out[0][at + k] = (uint8_t)(mix(from[k], at + k) >> 40);
    }
}

static int64_t roll(rng *r, int64_t low, int64_t high) {
    return low + (int64_t)rng_below(r, (uint32_t)(high - low + 1));
}

static arenaut_dtype roll_type(rng *r) {
    static const arenaut_dtype types[] = {ARENAUT_DTYPE_INT8, ARENAUT_DTYPE_INT8,
                                          ARENAUT_DTYPE_INT16, ARENAUT_DTYPE_FLOAT32};
    return types[rng_below(r, COUNT_OF(types))];
}

static sample_tensor tensor4(arenaut_dtype dtype, int64_t n, int64_t h, int64_t w, int64_t c) {
    return (sample_tensor){.dtype = dtype, .rank = 4, .dims = {n, h, w, c}};
}

static sample_tensor constant(uint32_t n) {
    return (sample_tensor){.dtype = ARENAUT_DTYPE_INT32, .rank = 1, .dims = {n}, .n_values = n};
}

static void state(sample *s, const char *name, uint32_t n, int64_t a, int64_t b) {
    s->attributes[s->n_attributes++] = (sample_attribute){name, NULL, n, {a, b}};
}

static void state_text(sample *s, const char *name, const char *text) {
    s->attributes[s->n_attributes++] = (sample_attribute){name, text, 0, {0, 0}};
}

/* ---- pixels, in the order that the sample has ---- */

typedef uint64_t pixel_channel(const sample *s, const sample_memory *m, int64_t pixel,
                               int64_t channel);

/* By `block` all is made before it is written. Of a block that is read again and again, every value
 * is made twice, the second time when all but the block's last element has been written; or all of
 * a block of maxima, which are kept there. */
static void run_pixels(const sample *s, const sample_memory *m, pixel_channel *make) {
    enum { MOST = 4096 };
    uint64_t made[MOST];
    const bool raster = s->order == ARENAUT_KERNEL_RASTER;
    const bool reread = !raster && s->order != ARENAUT_KERNEL_BLOCK;
    const bool is_maximum = strcmp(s->op, "MAX_POOL_2D") == 0;
    const int64_t channels = s->out[0].dims[s->out[0].rank - 1];
    const int64_t pixels = elements(&s->out[0]) / channels;
    int64_t block = raster ? 1 : s->block;
    if (s->order == ARENAUT_KERNEL_ROWS) block = s->out[0].rank == 4 ? s->out[0].dims[2] : 1;
    const int64_t period =
        m->blocks_by_image && s->out[0].rank == 4 ? s->out[0].dims[1] * s->out[0].dims[2] : pixels;
    for (int64_t first = 0, end; first < pixels; first = end) {
        const int64_t left = period - first % period;
        end = first + (left < block ? left : block);
        const int64_t n = (end - first) * channels;
        assert_true(n <= MOST);
        for (int64_t k = 0; k < n; k++) {
            made[k] = make(s, m, first + k / channels, k % channels);
            if (raster) put(s, m, 0, first * channels + k, made[k]);
        }
        for (int64_t k = 0; k < (reread && !is_maximum ? n - 1 : n) && !raster; k++)
            put(s, m, 0, first * channels + k, made[k]);
        for (int64_t k = 0; k < n && reread; k++)
            made[k] = mix(mix(made[k], 1), make(s, m, first + k / channels, k % channels));
        for (int64_t k = 0; k < n && reread; k++) put(s, m, 0, first * channels + k, made[k]);
    }
}

/* Input channels [from, to) of the window of a pixel. */
static uint64_t look(const sample *s, const sample_memory *m, int64_t pixel, int64_t from,
                     int64_t to, uint64_t sum) {
    const int64_t *in = s->in[0].dims, *out = s->out[0].dims;
    const int64_t x = pixel % out[2], y = pixel / out[2] % out[1], n = pixel / out[2] / out[1];
    for (int64_t j = 0; j < s->taps[0]; j++) {
        for (int64_t i = 0; i < s->taps[1]; i++) {
            const int64_t v = y * s->stride[0] + j * s->dilation[0] - s->before[0];
            const int64_t u = x * s->stride[1] + i * s->dilation[1] - s->before[1];
            if (v < 0 || v >= in[1] || u < 0 || u >= in[2]) continue;
            for (int64_t c = from; c < to; c++)
                sum = get(s, m, 0, ((n * in[1] + v) * in[2] + u) * in[3] + c, sum);
        }
    }
    return sum;
}

static uint64_t conv_channel(const sample *s, const sample_memory *m, int64_t p, int64_t c) {
    const int64_t depth = s->in[1].dims[3], groups = s->in[0].dims[3] / depth;
    const int64_t group = c / (s->out[0].dims[3] / groups);
    return look(s, m, p, group * depth, (group + 1) * depth, (uint64_t)c);
}

static uint64_t depth_channel(const sample *s, const sample_memory *m, int64_t p, int64_t c) {
    const int64_t from = c / (s->out[0].dims[3] / s->in[0].dims[3]);
    return look(s, m, p, from, from + 1, (uint64_t)c);
}

static uint64_t dense_channel(const sample *s, const sample_memory *m, int64_t row, int64_t c) {
    const int64_t depth = s->in[1].dims[1];
    uint64_t sum = (uint64_t)c;
    for (int64_t k = 0; k < depth; k++) sum = get(s, m, 0, row * depth + k, sum);
    return sum;
}

static void run_conv(const sample *s, const sample_memory *m) { run_pixels(s, m, conv_channel); }
static void run_depth(const sample *s, const sample_memory *m) { run_pixels(s, m, depth_channel); }
static void run_dense(const sample *s, const sample_memory *m) { run_pixels(s, m, dense_channel); }

/* The image, the window over it, and the sizes that follow. */
static void make_window(rng *r, sample *s, int64_t in_channels, int64_t out_channels) {
    const arenaut_dtype dtype = roll_type(r);
    const bool same = rng_once_in(r, 2);
    int64_t in[2], out[2];
    for (int i = 0; i < 2; i++) {
        in[i] = roll(r, 1, 6);
        s->taps[i] = roll(r, 1, 3);
        s->stride[i] = roll(r, 1, 3);
        s->dilation[i] = s->op[0] == 'C' || s->op[0] == 'D' ? roll(r, 1, 2) : 1;
        const int64_t reach = (s->taps[i] - 1) * s->dilation[i] + 1;
        if (!same && in[i] < reach) in[i] = reach;
        out[i] =
            same ? (in[i] + s->stride[i] - 1) / s->stride[i] : (in[i] - reach) / s->stride[i] + 1;
        const int64_t over = (out[i] - 1) * s->stride[i] + reach - in[i];
        s->before[i] = same && over > 0 ? over / 2 : 0;
    }
    const int64_t n = roll(r, 1, 2);
    s->n_in = s->n_out = 1;
    s->in[0] = tensor4(dtype, n, in[0], in[1], in_channels);
    s->out[0] = tensor4(dtype, n, out[0], out[1], out_channels);
    state(s, "strides", 2, s->stride[0], s->stride[1]);
    state_text(s, "padding", same ? "SAME" : "VALID");
}

static void add_filter(sample *s, int64_t outer, int64_t inner) {
    s->in[s->n_in++] = tensor4(ARENAUT_DTYPE_INT8, outer, s->taps[0], s->taps[1], inner);
    s->in[s->n_in - 1].n_values = ARENAUT_NONE; /* constant, of values that are never read */
    state(s, "dilations", 2, s->dilation[0], s->dilation[1]);
}

static void make_conv(rng *r, sample *s) {
    s->op = "CONV_2D";
    s->run = run_conv;
    const int64_t groups = rng_once_in(r, 3) ? roll(r, 2, 3) : 1;
    const int64_t in = groups * roll(r, 1, groups > 1 ? 2 : 4);
    const int64_t out = groups * roll(r, 1, groups > 1 ? 2 : 5);
    make_window(r, s, in, out);
    add_filter(s, out, in / groups);
}

static void make_pointwise(rng *r, sample *s) {
    make_conv(r, s);
    const int64_t n = s->in[0].dims[0], h = s->in[0].dims[1], w = s->in[0].dims[2];
    const int64_t in = roll(r, 1, 9), out = roll(r, 1, 9);
    s->taps[0] = s->taps[1] = s->stride[0] = s->stride[1] = 1;
    s->before[0] = s->before[1] = 0;
    s->n_attributes = 0;
    s->n_in = 1;
    s->in[0] = tensor4(s->in[0].dtype, n, h, w, in);
    s->out[0] = tensor4(s->in[0].dtype, n, h, w, out);
    state(s, "strides", 2, 1, 1);
    state_text(s, "padding", "SAME");
    add_filter(s, out, in);
}

static void make_depthwise(rng *r, sample *s) {
    s->op = "DEPTHWISE_CONV_2D";
    s->run = run_depth;
    const int64_t in = roll(r, 1, 4), out = in * roll(r, 1, 3);
    make_window(r, s, in, out);
    add_filter(s, 1, out);
}

static void make_pool(rng *r, sample *s) {
    s->op = rng_once_in(r, 2) ? "MAX_POOL_2D" : "AVERAGE_POOL_2D";
    s->run = run_depth;
    const int64_t channels = roll(r, 1, 5);
    make_window(r, s, channels, channels);
    state(s, "filter", 2, s->taps[0], s->taps[1]);
}

static void make_dense(rng *r, sample *s) {
    const arenaut_dtype dtype = roll_type(r);
    const int64_t rows = roll(r, 1, 6), depth = roll(r, 1, 9), units = roll(r, 1, 9);
    s->op = "FULLY_CONNECTED";
    s->run = run_dense;
    s->n_in = 2;
    s->n_out = 1;
    s->in[0] = (sample_tensor){.dtype = dtype, .rank = 2, .dims = {rows, depth}};
    s->in[1] = (sample_tensor){
        .dtype = ARENAUT_DTYPE_INT8, .rank = 2, .dims = {units, depth}, .n_values = ARENAUT_NONE};
    s->out[0] = (sample_tensor){.dtype = dtype, .rank = 2, .dims = {rows, units}};
}

/* Two neighbours in each direction, of any weights. */
static void neighbours(const sample *s, int64_t place, int i, int64_t taps[2]) {
    const int64_t in = s->in[0].dims[1 + i], out = s->out[0].dims[1 + i];
    const bool corners = s->attributes[0].numbers[0], half = s->attributes[1].numbers[0];
    const int64_t up = corners && out > 1 ? in - 1 : in, down = corners && out > 1 ? out - 1 : out;
    if (s->in[0].dtype != ARENAUT_DTYPE_FLOAT32) {
        const int64_t scale = (up * 1024 + down / 2) / down;
        const int64_t at = place * scale + (half ? scale / 2 - 512 : 0);
        taps[0] = at < 0 ? 0 : at / 1024;
        taps[1] = (at + 1023) / 1024;
    } else {
        const float scale = (float)up / (float)down;
        const float at = half ? ((float)place + 0.5f) * scale - 0.5f : (float)place * scale;
        taps[0] = at < 0 ? 0 : (int64_t)at;
        taps[1] = at <= 0 ? 0 : (int64_t)at + ((float)(int64_t)at < at);
    }
    if (taps[1] > in - 1) taps[1] = in - 1;
}

static uint64_t bilinear_channel(const sample *s, const sample_memory *m, int64_t p, int64_t c) {
    const int64_t *in = s->in[0].dims, *out = s->out[0].dims;
    int64_t y[2], x[2];
    uint64_t sum = (uint64_t)c;
    neighbours(s, p / out[2] % out[1], 0, y);
    neighbours(s, p % out[2], 1, x);
    const int64_t n = p / out[2] / out[1];
    for (int k = 0; k < 4; k++)
        sum = get(s, m, 0, ((n * in[1] + y[k / 2]) * in[2] + x[k % 2]) * in[3] + c, sum);
    return sum;
}

static void run_bilinear(const sample *s, const sample_memory *m) {
    run_pixels(s, m, bilinear_channel);
}

static void make_resized(rng *r, sample *s) {
    const arenaut_dtype dtype = rng_once_in(r, 2) ? ARENAUT_DTYPE_FLOAT32 : ARENAUT_DTYPE_INT8;
    const int64_t n = roll(r, 1, 2), c = roll(r, 1, 4);
    const int how = (int)roll(r, 0, 2);
    s->n_in = 2;
    s->n_out = 1;
    s->in[0] = tensor4(dtype, n, roll(r, 1, 5), roll(r, 1, 5), c);
    s->in[1] = constant(2);
    s->out[0] = tensor4(dtype, n, roll(r, 1, 8), roll(r, 1, 8), c);
    s->in[1].values[0] = s->out[0].dims[1];
    s->in[1].values[1] = s->out[0].dims[2];
    state(s, "align_corners", 1, how == 1, 0);
    state(s, "half_pixel_centers", 1, how == 2, 0);
}

static void make_bilinear(rng *r, sample *s) {
    make_resized(r, s);
    s->op = "RESIZE_BILINEAR";
    s->run = run_bilinear;
}

static int64_t nearest(const sample *s, int64_t place, int i) {
    const int64_t in = s->in[0].dims[1 + i], out = s->out[0].dims[1 + i];
    const bool corners = s->attributes[0].numbers[0], half = s->attributes[1].numbers[0];
    const float scale =
        corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    const float at = ((float)place + (half ? 0.5f : 0.0f)) * scale;
    const int64_t found = (int64_t)at + (corners && at - (float)(int64_t)at >= 0.5f);
    return found < in - 1 ? found : in - 1;
}

static uint64_t nearest_channel(const sample *s, const sample_memory *m, int64_t p, int64_t c) {
    const int64_t *in = s->in[0].dims, *out = s->out[0].dims;
    const int64_t y = nearest(s, p / out[2] % out[1], 0), x = nearest(s, p % out[2], 1);
    return get(s, m, 0, ((p / out[2] / out[1] * in[1] + y) * in[2] + x) * in[3] + c, 1);
}

static void run_nearest(const sample *s, const sample_memory *m) {
    if (s->order != ARENAUT_KERNEL_RASTER) {
        run_pixels(s, m, nearest_channel);
        return;
    }
    const int64_t *in = s->in[0].dims, *out = s->out[0].dims;
    const uint64_t pixel = (uint64_t)in[3] * size_of(&s->in[0]);
    for (int64_t p = 0; p < out[0] * out[1] * out[2]; p++) {
        const int64_t y = nearest(s, p / out[2] % out[1], 0), x = nearest(s, p % out[2], 1);
        const int64_t from = (p / out[2] / out[1] * in[1] + y) * in[2] + x;
        copy(m, m->in[0] + (uint64_t)from * pixel, (uint64_t)p * pixel, pixel);
    }
}

static void make_nearest(rng *r, sample *s) {
    make_resized(r, s);
    s->op = "RESIZE_NEAREST_NEIGHBOR";
    s->run = run_nearest;
}

/* ---- element by element ---- */

static void run_unary(const sample *s, const sample_memory *m) {
    enum { MOST = 64 };
    uint64_t made[MOST];
    const int64_t n = elements(&s->out[0]), block = s->block ? s->block : 1;
    for (int64_t first = 0; first < n; first += block) {
        const int64_t end = first + block < n ? first + block : n;
        for (int64_t k = first; k < end; k++) made[k - first] = get(s, m, 0, k, 1);
        for (int64_t k = first; k < end; k++) put(s, m, 0, k, made[k - first]);
    }
}

static void make_unary(rng *r, sample *s) {
    s->op = rng_once_in(r, 2) ? "QUANTIZE" : "CAST";
    s->run = run_unary;
    s->n_in = s->n_out = 1;
    s->in[0] = tensor4(roll_type(r), 1, roll(r, 1, 4), roll(r, 1, 4), roll(r, 1, 5));
    s->out[0] = s->in[0];
    s->out[0].dtype = roll_type(r);
}

/* Each row is looked at as a whole, and then element by element. */
static void run_rows(const sample *s, const sample_memory *m) {
    const int64_t size = s->in[0].dims[1], rows = s->in[0].dims[0];
    for (int64_t row = 0; row < rows; row++) {
        uint64_t sum = 0;
        for (int64_t k = 0; k < size; k++) sum = get(s, m, 0, row * size + k, sum);
        for (int64_t k = 0; k < size; k++)
            put(s, m, 0, row * size + k, get(s, m, 0, row * size + k, sum));
    }
}

static void make_softmax(rng *r, sample *s) {
    s->op = "SOFTMAX";
    s->run = run_rows;
    s->n_in = s->n_out = 1;
    s->in[0] = (sample_tensor){
        .dtype = ARENAUT_DTYPE_INT8, .rank = 2, .dims = {roll(r, 1, 5), roll(r, 1, 9)}};
    s->out[0] = s->in[0];
    if (rng_once_in(r, 2)) s->out[0].dtype = ARENAUT_DTYPE_INT16;
}

/* Where an operand has its element for element k of the output. */
static int64_t repeated(const sample_tensor *in, const sample_tensor *out, int64_t k) {
    int64_t at = 0, stride = 1;
    for (uint32_t i = 0; i < out->rank; i++) {
        const int64_t dim = out->dims[out->rank - 1 - i], place = k % dim;
        const int64_t own = i < in->rank ? in->dims[in->rank - 1 - i] : 1;
        k /= dim;
        if (own > 1) at += place * stride;
        stride *= own;
    }
    return at;
}

static void run_binary(const sample *s, const sample_memory *m) {
    enum { MOST = 64 };
    uint64_t made[MOST];
    const int64_t n = elements(&s->out[0]), block = s->block ? s->block : 1;
    for (int64_t first = 0; first < n; first += block) {
        const int64_t end = first + block < n ? first + block : n;
        for (int64_t k = first; k < end; k++) {
            const uint64_t sum = get(s, m, 0, repeated(&s->in[0], &s->out[0], k), 1);
            made[k - first] = get(s, m, 1, repeated(&s->in[1], &s->out[0], k), sum);
        }
        for (int64_t k = first; k < end; k++) put(s, m, 0, k, made[k - first]);
    }
}

static void make_binary(rng *r, sample *s) {
    const bool compares = rng_once_in(r, 4);
    s->op = compares ? "GREATER" : rng_once_in(r, 2) ? "ADD" : "MUL";
    s->run = run_binary;
    s->n_in = 2;
    s->n_out = 1;
    s->out[0] = tensor4(roll_type(r), 1, roll(r, 1, 4), roll(r, 1, 4), roll(r, 1, 5));
    s->in[0] = s->in[1] = s->out[0];
    if (compares) s->out[0].dtype = ARENAUT_DTYPE_BOOL;
    const uint32_t small = rng_below(r, 2);
    for (uint32_t i = 0; i < 4; i++) {
        if (rng_once_in(r, 3)) s->in[small].dims[i] = 1;
    }
    if (rng_once_in(r, 4)) s->in[small] = (sample_tensor){.dtype = s->in[small].dtype};
}

/* ---- elements elsewhere ---- */

/* The coordinates of element k, from the first dimension on. */
static void coordinates(const sample_tensor *t, int64_t k, int64_t *at) {
    for (uint32_t i = t->rank; i-- > 0; k /= t->dims[i]) at[i] = k % t->dims[i];
}

static int64_t place_of(const sample_tensor *t, const int64_t *at) {
    int64_t k = 0;
    for (uint32_t i = 0; i < t->rank; i++) k = k * t->dims[i] + at[i];
    return k;
}

/* From which element of the input one of the output is; -1: none. */
typedef int64_t source(const sample *s, const int64_t *at);

static void run_moves(const sample *s, const sample_memory *m, source *find) {
    int64_t at[SAMPLE_RANK];
    for (int64_t k = 0; k < elements(&s->out[0]); k++) {
        coordinates(&s->out[0], k, at);
        const int64_t from = find(s, at);
        put(s, m, 0, k, from < 0 ? 0 : get(s, m, 0, from, 1));
    }
}

static int64_t pad_source(const sample *s, const int64_t *at) {
    int64_t from[SAMPLE_RANK];
    for (uint32_t i = 0; i < s->in[0].rank; i++) {
        from[i] = at[i] - s->in[1].values[2 * i];
        if (from[i] < 0 || from[i] >= s->in[0].dims[i]) return -1;
    }
    return place_of(&s->in[0], from);
}

static int64_t mirror_source(const sample *s, const int64_t *at) {
    const bool reflect = strcmp(s->attributes[0].text, "REFLECT") == 0;
    int64_t from[SAMPLE_RANK];
    for (uint32_t i = 0; i < s->in[0].rank; i++) {
        const int64_t size = s->in[0].dims[i];
        from[i] = at[i] - s->in[1].values[2 * i];
        if (from[i] < 0) from[i] = reflect ? -from[i] : -from[i] - 1;
        if (from[i] >= size) from[i] = 2 * size - (reflect ? 2 : 1) - from[i];
    }
    return place_of(&s->in[0], from);
}

/* By rows: bytes that are contiguous in both are copied by memcpy. */
static void run_pad(const sample *s, const sample_memory *m) {
    const uint32_t last = s->in[0].rank - 1;
    const int64_t *pads = s->in[1].values, *dims = s->in[0].dims;
    const bool longer = last > 0 && pads[2 * last] == 0 && pads[2 * last + 1] == 0;
    const int64_t run = dims[last] * (longer ? dims[last - 1] : 1);
    const uint64_t size = size_of(&s->in[0]);
    int64_t at[SAMPLE_RANK];
    if (s->order == ARENAUT_KERNEL_RASTER) {
        run_moves(s, m, pad_source);
        return;
    }
    for (int64_t k = 0; k < elements(&s->out[0]);) {
        coordinates(&s->out[0], k, at);
        const int64_t from = pad_source(s, at);
        if (from < 0) put(s, m, 0, k++, 0);
        if (from < 0) continue;
        copy(m, m->in[0] + (uint64_t)from * size, (uint64_t)k * size, (uint64_t)run * size);
        k += run;
    }
}

static void run_mirror(const sample *s, const sample_memory *m) { run_moves(s, m, mirror_source); }

static void make_paddings(rng *r, sample *s, int64_t least, int64_t edge, int64_t most) {
    const uint32_t rank = (uint32_t)roll(r, 1, 4);
    s->n_in = 2;
    s->n_out = 1;
    s->in[0] = (sample_tensor){.dtype = roll_type(r), .rank = rank};
    s->in[1] = constant(2 * rank);
    s->in[1].rank = 2;
    s->in[1].dims[0] = rank;
    s->in[1].dims[1] = 2;
    s->out[0] = s->in[0];
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t size = s->in[0].dims[i] = roll(r, least, 4);
        const int64_t high = most < size - edge ? most : size - edge;
        s->in[1].values[2 * i] = roll(r, 0, high);
        s->in[1].values[2 * i + 1] = roll(r, 0, high);
        s->out[0].dims[i] = size + s->in[1].values[2 * i] + s->in[1].values[2 * i + 1];
    }
}

static void make_pad(rng *r, sample *s) {
    s->op = "PAD";
    s->run = run_pad;
    make_paddings(r, s, 1, -2, 2);
}

static void make_mirror(rng *r, sample *s) {
    const bool reflect = rng_once_in(r, 2);
    s->op = "MIRROR_PAD";
    s->run = run_mirror;
    make_paddings(r, s, 1, reflect, 2);
    state_text(s, "mode", reflect ? "REFLECT" : "SYMMETRIC");
}

static int64_t slice_source(const sample *s, const int64_t *at) {
    int64_t from[SAMPLE_RANK];
    for (uint32_t i = 0; i < s->in[0].rank; i++) from[i] = at[i] + s->in[1].values[i];
    return place_of(&s->in[0], from);
}

static void run_slice(const sample *s, const sample_memory *m) { run_moves(s, m, slice_source); }

static void make_slice(rng *r, sample *s) {
    const uint32_t rank = (uint32_t)roll(r, 1, 4);
    s->op = "SLICE";
    s->run = run_slice;
    s->n_in = 3;
    s->n_out = 1;
    s->in[0] = (sample_tensor){.dtype = roll_type(r), .rank = rank};
    s->in[1] = s->in[2] = constant(rank);
    s->out[0] = s->in[0];
    for (uint32_t i = 0; i < rank; i++) {
        s->in[0].dims[i] = roll(r, 1, 5);
        s->in[1].values[i] = roll(r, 0, s->in[0].dims[i] - 1);
        s->out[0].dims[i] = roll(r, 1, s->in[0].dims[i] - s->in[1].values[i]);
        s->in[2].values[i] = s->out[0].dims[i];
    }
}

/* Backwards too; a last dimension of stride 1 is copied by memcpy. */
static void run_strides(const sample *s, const sample_memory *m) {
    const sample_tensor *in = &s->in[0];
    const uint32_t last = in->rank - 1;
    int64_t at[SAMPLE_RANK], from[SAMPLE_RANK];
    const int64_t run = s->in[3].values[last] == 1 ? s->out[0].dims[last] : 1;
    for (int64_t k = 0; k < elements(&s->out[0]); k += run) {
        coordinates(&s->out[0], k, at);
        for (uint32_t i = 0; i < in->rank; i++)
            from[i] = s->in[1].values[i] + at[i] * s->in[3].values[i];
        const int64_t first = place_of(in, from);
        if (s->in[3].values[last] != 1) {
            put(s, m, 0, k, get(s, m, 0, first, 1));
            continue;
        }
        const uint64_t size = size_of(in);
        copy(m, m->in[0] + (uint64_t)first * size, (uint64_t)k * size, (uint64_t)run * size);
    }
}

static void make_strides(rng *r, sample *s) {
    const uint32_t rank = (uint32_t)roll(r, 1, 4);
    s->op = "STRIDED_SLICE";
    s->run = run_strides;
    s->n_in = 4;
    s->n_out = 1;
    s->in[0] = (sample_tensor){.dtype = roll_type(r), .rank = rank};
    s->in[1] = s->in[2] = s->in[3] = constant(rank);
    s->out[0] = s->in[0];
    int64_t open = 0;
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t size = s->in[0].dims[i] = roll(r, 1, 5);
        const int64_t count = s->out[0].dims[i] = roll(r, 1, size);
        const int64_t stride = count > 1 ? roll(r, 1, (size - 1) / (count - 1)) : roll(r, 1, 2);
        const int64_t first = roll(r, 0, size - 1 - (count - 1) * stride);
        const bool backwards = rng_once_in(r, 3);
        const int64_t last = first + (count - 1) * stride;
        s->in[1].values[i] = backwards ? last : first;
        s->in[2].values[i] = backwards ? first - 1 : last + 1;
        s->in[3].values[i] = backwards ? -stride : stride;
        if (backwards && first == 0) open |= INT64_C(1) << i; /* -1 would be the last element */
    }
    state(s, "begin_mask", 1, 0, 0);
    state(s, "end_mask", 1, open, 0);
    state(s, "shrink_axis_mask", 1, 0, 0);
}

static int64_t transpose_source(const sample *s, const int64_t *at) {
    int64_t from[SAMPLE_RANK];
    for (uint32_t i = 0; i < s->in[0].rank; i++) from[s->in[1].values[i]] = at[i];
    return place_of(&s->in[0], from);
}

static void run_transpose(const sample *s, const sample_memory *m) {
    run_moves(s, m, transpose_source);
}

static void make_transpose(rng *r, sample *s) {
    const uint32_t rank = (uint32_t)roll(r, 1, 5);
    s->op = "TRANSPOSE";
    s->run = run_transpose;
    s->n_in = 2;
    s->n_out = 1;
    s->in[0] = (sample_tensor){.dtype = roll_type(r), .rank = rank};
    s->in[1] = constant(rank);
    s->out[0] = s->in[0];
    for (uint32_t i = 0; i < rank; i++) {
        s->in[0].dims[i] = roll(r, 1, 4);
        const uint32_t other = rng_below(r, i + 1); /* a shuffle, as it grows */
        s->in[1].values[i] = s->in[1].values[other];
        s->in[1].values[other] = i;
    }
    for (uint32_t i = 0; i < rank; i++) s->out[0].dims[i] = s->in[0].dims[s->in[1].values[i]];
}

static int64_t depth_source(const sample *s, const int64_t *at) {
    const int64_t size = s->attributes[0].numbers[0], c = s->out[0].dims[3];
    const int64_t part = at[1] % size * size + at[2] % size;
    const int64_t from[] = {at[0], at[1] / size, at[2] / size, part * c + at[3]};
    return place_of(&s->in[0], from);
}

static void run_deep_to_wide(const sample *s, const sample_memory *m) {
    run_moves(s, m, depth_source);
}

/* The only one that goes over its input. */
static void run_wide_to_deep(const sample *s, const sample_memory *m) {
    const int64_t size = s->attributes[0].numbers[0], c = s->in[0].dims[3];
    int64_t at[SAMPLE_RANK];
    for (int64_t k = 0; k < elements(&s->in[0]); k++) {
        coordinates(&s->in[0], k, at);
        const int64_t part = at[1] % size * size + at[2] % size;
        const int64_t to[] = {at[0], at[1] / size, at[2] / size, part * c + at[3]};
        put(s, m, 0, place_of(&s->out[0], to), get(s, m, 0, k, 1));
    }
}

static void make_blocks(rng *r, sample *s) {
    const int64_t size = roll(r, 1, 3), n = roll(r, 1, 2), h = roll(r, 1, 3), w = roll(r, 1, 3);
    const int64_t c = roll(r, 1, 3);
    const bool widens = rng_once_in(r, 2);
    s->op = widens ? "DEPTH_TO_SPACE" : "SPACE_TO_DEPTH";
    s->run = widens ? run_deep_to_wide : run_wide_to_deep;
    s->n_in = s->n_out = 1;
    s->in[0] = tensor4(roll_type(r), n, h, w, c * size * size);
    s->out[0] = tensor4(s->in[0].dtype, n, h * size, w * size, c);
    if (!widens) {
        const sample_tensor wide = s->out[0];
        s->out[0] = s->in[0];
        s->in[0] = wide;
    }
    state(s, "block_size", 1, size, 0);
}

/* ---- joins and parts ---- */

static int64_t count_between(const sample_tensor *t, int64_t first, int64_t end) {
    int64_t n = 1;
    for (int64_t i = first; i < end; i++) n *= t->dims[i];
    return n;
}

static void run_concat(const sample *s, const sample_memory *m) {
    const int64_t outer = count_between(&s->out[0], 0, s->axis);
    uint64_t to = 0;
    for (int64_t k = 0; k < outer; k++) {
        for (uint32_t i = 0; i < s->n_in; i++) {
            const uint64_t run = sample_bytes(&s->in[i]) / (uint64_t)outer;
            copy(m, m->in[i] + (uint64_t)k * run, to, run);
            to += run;
        }
    }
}

/* Parts of `whole` along an axis. */
static void make_parts(rng *r, sample *s, sample_tensor *whole, sample_tensor *parts, uint32_t *n) {
    const uint32_t rank = (uint32_t)roll(r, 1, 4);
    *whole = (sample_tensor){.dtype = roll_type(r), .rank = rank};
    s->axis = roll(r, 0, rank - 1);
    for (uint32_t i = 0; i < rank; i++) whole->dims[i] = i == s->axis ? 0 : roll(r, 1, 4);
    *n = (uint32_t)roll(r, 1, 3);
    for (uint32_t i = 0; i < *n; i++) {
        parts[i] = *whole;
        parts[i].dims[s->axis] = roll(r, 1, 4);
    }
    for (uint32_t i = 0; i < *n; i++) whole->dims[s->axis] += parts[i].dims[s->axis];
}

static void make_concat(rng *r, sample *s) {
    s->op = "CONCATENATION";
    s->run = run_concat;
    s->n_out = 1;
    make_parts(r, s, &s->out[0], s->in, &s->n_in);
    state(s, "axis", 1, rng_once_in(r, 2) ? s->axis : s->axis - s->out[0].rank, 0);
}

static void run_cut(const sample *s, const sample_memory *m) {
    const uint32_t input = s->op[5] == '\0' ? 1 : 0; /* of SPLIT, not of SPLIT_V */
    const int64_t outer = count_between(&s->in[input], 0, s->axis);
    int64_t from = 0;
    for (int64_t k = 0; k < outer; k++) {
        for (uint32_t i = 0; i < s->n_out; i++) {
            const int64_t run = elements(&s->out[i]) / outer;
            for (int64_t j = 0; j < run; j++)
                put(s, m, i, k * run + j, get(s, m, input, from++, 1));
        }
    }
}

static void make_split(rng *r, sample *s) {
    const bool sizes = rng_once_in(r, 2);
    const uint32_t input = sizes ? 0 : 1, axis = sizes ? 2 : 0;
    s->op = sizes ? "SPLIT_V" : "SPLIT";
    s->run = run_cut;
    make_parts(r, s, &s->in[input], s->out, &s->n_out);
    for (uint32_t i = 1; i < s->n_out && !sizes; i++) s->out[i] = s->out[0];
    if (!sizes) s->in[1].dims[s->axis] = s->n_out * s->out[0].dims[s->axis];
    s->n_in = sizes ? 3 : 2;
    s->in[axis] = constant(1);
    s->in[axis].values[0] = s->axis;
    if (sizes) s->in[1] = constant(s->n_out);
}

static void run_pack(const sample *s, const sample_memory *m) {
    const int64_t outer = count_between(&s->out[0], 0, s->axis);
    const int64_t run = elements(&s->in[0]) / outer;
    for (uint32_t i = 0; i < s->n_in; i++) {
        for (int64_t k = 0; k < elements(&s->in[i]); k++)
            put(s, m, 0, (k / run * s->n_in + i) * run + k % run, get(s, m, i, k, 1));
    }
}

static void make_pack(rng *r, sample *s) {
    const uint32_t rank = (uint32_t)roll(r, 1, 3);
    s->op = "PACK";
    s->run = run_pack;
    s->n_in = (uint32_t)roll(r, 1, 3);
    s->n_out = 1;
    s->in[0] = (sample_tensor){.dtype = roll_type(r), .rank = rank};
    s->axis = roll(r, 0, rank);
    s->out[0] = (sample_tensor){.dtype = s->in[0].dtype, .rank = rank + 1};
    for (uint32_t i = 0; i < rank; i++) s->in[0].dims[i] = roll(r, 1, 4);
    for (uint32_t i = 1; i < s->n_in; i++) s->in[i] = s->in[0];
    for (uint32_t i = 0; i <= rank; i++)
        s->out[0].dims[i] = i == s->axis ? s->n_in : s->in[0].dims[i < s->axis ? i : i - 1];
    state(s, "axis", 1, s->axis, 0);
    state(s, "values_count", 1, s->n_in, 0);
}

/* ---- products, reductions, sequences ---- */

/* The transposed operand is in a buffer of its own. */
static void run_products(const sample *s, const sample_memory *m) {
    enum { MOST = 512 };
    uint64_t a[MOST], b[MOST];
    const bool turn_a = s->attributes[0].numbers[0], turn_b = !s->attributes[1].numbers[0];
    const int64_t *x = s->in[0].dims, *y = s->in[1].dims, *z = s->out[0].dims;
    const int64_t depth = turn_a ? x[1] : x[2];
    for (int64_t k = 0; k < elements(&s->in[0]); k++) a[k] = get(s, m, 0, k, 0);
    for (int64_t k = 0; k < elements(&s->in[1]); k++) b[k] = get(s, m, 1, k, 0);
    for (int64_t k = 0; k < elements(&s->out[0]); k++) {
        const int64_t n = k / z[2] / z[1], i = k / z[2] % z[1], j = k % z[2];
        uint64_t sum = 0;
        for (int64_t d = 0; d < depth; d++) {
            const int64_t p =
                (x[0] == 1 ? 0 : n) * x[1] * x[2] + (turn_a ? d * x[2] + i : i * x[2] + d);
            const int64_t q =
                (y[0] == 1 ? 0 : n) * y[1] * y[2] + (turn_b ? d * y[2] + j : j * y[2] + d);
            sum = mix(mix(sum, turn_a ? a[p] : get(s, m, 0, p, 0)),
                      turn_b ? b[q] : get(s, m, 1, q, 0));
        }
        put(s, m, 0, k, sum);
    }
}

static void make_products(rng *r, sample *s) {
    const int64_t n = roll(r, 1, 3), rows = roll(r, 1, 4), depth = roll(r, 1, 4);
    const int64_t columns = roll(r, 1, 4);
    const bool turn_a = rng_once_in(r, 2), turn_b = rng_once_in(r, 2);
    const arenaut_dtype dtype = roll_type(r);
    s->op = "BATCH_MATMUL";
    s->run = run_products;
    s->n_in = 2;
    s->n_out = 1;
    s->in[0] = (sample_tensor){
        .dtype = dtype,
        .rank = 3,
        .dims = {rng_once_in(r, 3) ? 1 : n, turn_a ? depth : rows, turn_a ? rows : depth}};
    s->in[1] = (sample_tensor){.dtype = dtype,
                               .rank = 3,
                               .dims = {s->in[0].dims[0] == n && rng_once_in(r, 3) ? 1 : n,
                                        turn_b ? depth : columns, turn_b ? columns : depth}};
    s->out[0] = (sample_tensor){.dtype = dtype, .rank = 3, .dims = {n, rows, columns}};
    state(s, "adj_x", 1, turn_a, 0);
    state(s, "adj_y", 1, !turn_b, 0);
}

static void run_reduction(const sample *s, const sample_memory *m) {
    const int64_t inner = count_between(&s->in[0], s->axis + 1, s->in[0].rank);
    const int64_t n = elements(&s->in[0]) / elements(&s->out[0]);
    for (int64_t k = 0; k < elements(&s->out[0]); k++) {
        uint64_t sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum = get(s, m, 0, (k / inner * n + i) * inner + k % inner, sum);
        put(s, m, 0, k, sum);
    }
}

static void make_extreme(rng *r, sample *s) {
    const uint32_t rank = (uint32_t)roll(r, 1, 4);
    s->op = rng_once_in(r, 2) ? "ARG_MAX" : "ARG_MIN";
    s->run = run_reduction;
    s->n_in = 2;
    s->n_out = 1;
    s->in[0] = (sample_tensor){.dtype = roll_type(r), .rank = rank};
    s->in[1] = constant(1);
    s->axis = roll(r, 0, rank - 1);
    s->in[1].values[0] = rng_once_in(r, 2) ? s->axis : s->axis - rank;
    s->out[0] = (sample_tensor){.dtype = ARENAUT_DTYPE_INT32, .rank = rank - 1};
    for (uint32_t i = 0; i < rank; i++) s->in[0].dims[i] = roll(r, 1, 4);
    for (uint32_t i = 0; i + 1 < rank; i++)
        s->out[0].dims[i] = s->in[0].dims[i < s->axis ? i : i + 1];
}

static void make_mean(rng *r, sample *s) {
    s->op = "MEAN";
    s->run = run_reduction;
    s->n_in = 2;
    s->n_out = 1;
    s->axis = 2; /* the last of the two */
    s->in[0] =
        tensor4(ARENAUT_DTYPE_FLOAT32, roll(r, 1, 3), roll(r, 1, 3), roll(r, 1, 3), roll(r, 1, 5));
    s->out[0] = tensor4(ARENAUT_DTYPE_FLOAT32, s->in[0].dims[0], 1, 1, s->in[0].dims[3]);
    s->in[1] = constant(2);
    const bool ascends = rng_once_in(r, 2);
    s->in[1].values[0] = ascends ? 1 : 2;
    s->in[1].values[1] = ascends ? 2 : 1;
    state(s, "keep_dims", 1, 1, 0);
}

/* Clears its result, and adds to it. */
static void run_sum(const sample *s, const sample_memory *m) {
    for (int64_t k = 0; k < elements(&s->out[0]); k++) put(s, m, 0, k, 0);
    uint64_t sum = 0;
    for (int64_t k = 0; k < elements(&s->in[s->n_in - 1]); k++)
        sum = get(s, m, s->n_in - 1, k, sum);
    for (int64_t k = 0; k < elements(&s->out[0]); k++) put(s, m, 0, k, mix(sum, (uint64_t)k));
}

/* All is read into scratch before anything is written. */
static void run_late(const sample *s, const sample_memory *m) {
    uint64_t sum = 0;
    const uint32_t input = s->op[0] == 'T' ? 2 : 0;
    for (int64_t k = 0; k < elements(&s->in[input]); k++) sum = get(s, m, input, k, sum);
    for (int64_t k = 0; k < elements(&s->out[0]); k++) put(s, m, 0, k, mix(sum, (uint64_t)k));
}

static void make_transpose_conv(rng *r, sample *s) {
    s->op = "TRANSPOSE_CONV";
    s->n_in = 3;
    s->n_out = 1;
    s->in[0] = constant(4);
    s->in[1] = tensor4(ARENAUT_DTYPE_INT8, 2, 3, 3, 2);
    s->in[1].n_values = ARENAUT_NONE;
    s->in[2] = tensor4(roll_type(r), 1, roll(r, 1, 4), roll(r, 1, 4), 2);
    s->out[0] = tensor4(s->in[2].dtype, 1, 2 * s->in[2].dims[1], 2 * s->in[2].dims[2], 2);
    s->run = s->in[2].dtype == ARENAUT_DTYPE_FLOAT32 ? run_sum : run_late;
}

static void make_svdf(rng *r, sample *s) {
    s->op = "SVDF";
    s->run = run_late;
    s->n_in = s->n_out = 1;
    s->in[0] = (sample_tensor){
        .dtype = ARENAUT_DTYPE_INT8, .rank = 2, .dims = {roll(r, 1, 3), roll(r, 1, 9)}};
    s->out[0] = (sample_tensor){
        .dtype = ARENAUT_DTYPE_INT8, .rank = 2, .dims = {s->in[0].dims[0], roll(r, 1, 9)}};
}

static void run_lstm(const sample *s, const sample_memory *m) {
    const bool time_major = s->attributes[0].numbers[0];
    const int64_t steps = s->in[0].dims[0] * (time_major ? 1 : s->in[0].dims[1]);
    const int64_t in = elements(&s->in[0]) / steps, out = elements(&s->out[0]) / steps;
    uint64_t sum = 0;
    for (int64_t k = 0; k < steps; k++) {
        for (int64_t i = 0; i < in; i++) sum = get(s, m, 0, k * in + i, sum);
        for (int64_t i = 0; i < out; i++) put(s, m, 0, k * out + i, mix(sum, (uint64_t)i));
    }
}

static void make_lstm(rng *r, sample *s) {
    const int64_t a = roll(r, 1, 3), b = roll(r, 1, 4);
    s->op = "UNIDIRECTIONAL_SEQUENCE_LSTM";
    s->run = run_lstm;
    s->n_in = s->n_out = 1;
    s->in[0] =
        (sample_tensor){.dtype = ARENAUT_DTYPE_INT8, .rank = 3, .dims = {a, b, roll(r, 1, 6)}};
    s->out[0] =
        (sample_tensor){.dtype = ARENAUT_DTYPE_INT8, .rank = 3, .dims = {a, b, roll(r, 1, 6)}};
    state(s, "time_major", 1, rng_once_in(r, 2), 0);
}

enum {
    BLOCK = 1 << ARENAUT_KERNEL_BLOCK,
    REREAD = 1 << ARENAUT_KERNEL_BLOCK_REREAD,
    ROWS = 1 << ARENAUT_KERNEL_ROWS,
};

const sample_kind sample_kinds[] = {
    {"convolution", make_conv, BLOCK | REREAD | ROWS},
    {"pointwise convolution", make_pointwise, BLOCK | REREAD | ROWS},
    {"depthwise convolution", make_depthwise, BLOCK | REREAD | ROWS},
    {"pool", make_pool, BLOCK | REREAD | ROWS},
    {"fully connected", make_dense, BLOCK | REREAD | ROWS},
    {"bilinear", make_bilinear, BLOCK | REREAD | ROWS},
    {"nearest", make_nearest, BLOCK | REREAD | ROWS},
    {"one operand", make_unary, BLOCK},
    {"softmax", make_softmax, 0},
    {"two operands", make_binary, BLOCK},
    {"pad", make_pad, ROWS},
    {"mirror pad", make_mirror, 0},
    {"slice", make_slice, 0},
    {"strided slice", make_strides, 0},
    {"transpose", make_transpose, 0},
    {"depth and space", make_blocks, 0},
    {"concatenation", make_concat, 0},
    {"split", make_split, 0},
    {"pack", make_pack, 0},
    {"batch matmul", make_products, 0},
    {"arg max", make_extreme, 0},
    {"mean", make_mean, 0},
    {"transposed convolution", make_transpose_conv, 0},
    {"svdf", make_svdf, 0},
    {"lstm", make_lstm, 0},
    {NULL, NULL, 0},
};

/* ---- as a program ---- */

static uint32_t add_sample_tensor(arenaut_program *p, const sample_tensor *t, const char *name,
                                  arenaut_class cls) {
    arenaut_tensor tensor = arenaut_tensor_default();
    arenaut_error err = {0};
    uint32_t id = ARENAUT_NONE;
    tensor.name = name;
    tensor.dtype = t->dtype;
    tensor.rank = t->rank;
    tensor.dims = t->dims;
    tensor.bytes = sample_bytes(t);
    tensor.cls = t->n_values ? ARENAUT_CONSTANT : cls;
    if (t->n_values != ARENAUT_NONE) {
        tensor.n_values = t->n_values;
        tensor.values = t->n_values ? t->values : NULL;
    }
    tensor.method = 0;
    assert_ok(arenaut_program_add_tensor(p, &tensor, &id, &err), err);
    return id;
}

arenaut_program *sample_program(const sample *s) {
    static const char *const in_names[] = {"a", "b", "c", "d", "e"};
    static const char *const out_names[] = {"v", "w", "x", "y", "z"};
    uint32_t in[SAMPLE_ARGUMENTS], out[SAMPLE_ARGUMENTS], given[SAMPLE_ARGUMENTS];
    arenaut_attribute attributes[SAMPLE_ATTRIBUTES];
    size_t n_given = 0;
    arenaut_program *p = new_program();
    begin_method(p, "main");
    for (uint32_t i = 0; i < s->n_in; i++) {
        in[i] = add_sample_tensor(p, &s->in[i], in_names[i], ARENAUT_INPUT);
        if (!s->in[i].n_values) given[n_given++] = in[i];
    }
    for (uint32_t i = 0; i < s->n_out; i++)
        out[i] = add_sample_tensor(p, &s->out[i], out_names[i], ARENAUT_OUTPUT);
    for (uint32_t i = 0; i < s->n_attributes; i++) {
        const sample_attribute *a = &s->attributes[i];
        attributes[i] = (arenaut_attribute){a->name, a->n, a->text ? NULL : a->numbers, a->text};
    }
    ADD_OP(p, .name = s->op, .inputs = in, .n_inputs = s->n_in, .outputs = out,
           .n_outputs = s->n_out, .attributes = attributes, .n_attributes = s->n_attributes);
    set_io(p, 0, given, n_given, out, s->n_out);
    finish_program(p);
    return p;
}

bool kernel_distance(const arenaut_program *program, const arenaut_op *op,
                     const arenaut_kernel_rule *rule, uint32_t output, uint32_t input,
                     int64_t *distance) {
    uint64_t steps = ARN_MOST_STEPS;
    arenaut_overlap pair = {output, input, 0};
    bool in_place;
    const bool known = arn_kernel_distance(program, op, rule, &pair, &in_place, &steps);
    if (known) *distance = pair.distance;
    return known;
}

const sample_kind *sample_kind_named(const char *name) {
    const sample_kind *kind = sample_kinds;
    while (strcmp(kind->name, name) != 0) kind++;
    return kind;
}
