/* Calls of ESP-NN's kernels in C with random shapes, for measure.py: as the folder esp_nn of
 * esp-tflite-micro calls them, image by image and row by row. ANSI chooses the plain kernels, else
 * those for chips without vector instructions are called. Built and run by measure_esp_nn.sh. */
#ifndef ANSI
#define CONFIG_NN_OPTIMIZED
#endif
#include <esp_nn.h>

#include "random_windows.h"

enum { CALLS = 60, CHANNELS = 200, WEIGHTS = 32768, OTHER = 1024, TEXT = 512 };

static int8_t weights[WEIGHTS], other[OTHER]; /* `other`: the operand that is not measured */
static int32_t bias[CHANNELS], multiplier[CHANNELS], shift[CHANNELS], scratch[CHANNELS];
static char text[TEXT];
static const act_params_t narrow = {-128, 127};

static void set_up(void) {
    mk_fill(weights, sizeof weights);
    mk_fill(other, sizeof other);
    for (int i = 0; i < CHANNELS; i++) {
        bias[i] = mk_random(-500, 500);
        multiplier[i] = INT32_C(1) << 30;
        shift[i] = -7;
    }
    esp_nn_set_softmax_scratch_buf(scratch);
}

static int channels(void) { return rw_once_in(3) ? 4 * mk_random(1, 8) : mk_random(1, 12); }

static data_dims_t dims(rw_dims from) { return (data_dims_t){from.w, from.h, from.c, 1}; }

static int image_bytes(rw_dims d) { return d.h * d.w * d.c; }

/* CONV_2D and DEPTHWISE_CONV_2D, without dilation: that is left to the reference kernels. */

typedef struct conv {
    rw_window window;
    int multiple; /* of depthwise convolutions; else 0 */
} conv;

static void run_conv(void *at, const void *input, void *output) {
    const conv *c = at;
    const rw_window *w = &c->window;
    const data_dims_t in = dims(w->in), out = dims(w->out);
    const data_dims_t filter = {w->filter_w, w->filter_h, c->multiple ? 0 : w->in.c, 0};
    const data_2d_t stride = {w->stride_w, w->stride_h}, pad = {w->pad_w, w->pad_h}, none = {0, 0};
    const quant_data_t scales = {shift, multiplier};
    const conv_params_t params = {3, 0, stride, pad, none, narrow};
    const dw_conv_params_t depthwise = {3, 0, c->multiple, stride, pad, none, narrow};
    for (int n = 0; n < w->in.n; n++) {
        const int8_t *from = (const int8_t *)input + n * image_bytes(w->in);
        int8_t *to = (int8_t *)output + n * image_bytes(w->out);
        if (c->multiple) {
            esp_nn_depthwise_conv_s8(&in, from, &filter, weights, bias, &out, to, &depthwise,
                                     &scales);
        } else {
            esp_nn_conv_s8(&in, from, &filter, weights, bias, &out, to, &params, &scales);
        }
    }
}

static void measure_conv(conv *c, const char *op, rw_dims filter, const char *more) {
    const rw_window *w = &c->window;
    const mk_call call = {text, run_conv, c, rw_count(w->in), rw_count(w->out), 1};
    rw_conv_text(text, TEXT, op, "int8", w, filter, more);
    mk_measure(&call);
}

static void convolutions(void) {
    char more[40];
    for (int i = 0; i < CALLS; i++) {
        conv c = {rw_random(channels(), channels(), i % 3 == 0 ? 1 : 4, 1), 0};
        const rw_window *w = &c.window;
        measure_conv(&c, "CONV_2D", (rw_dims){w->out.c, w->filter_h, w->filter_w, w->in.c}, "");
        const int in_c = channels(), multiple = i % 3 == 0 ? mk_random(2, 4) : 1;
        c = (conv){rw_random(in_c, in_c * multiple, 4, 1), multiple};
        snprintf(more, sizeof more, ", \"depth_multiplier\": [%d]", multiple);
        measure_conv(&c, "DEPTHWISE_CONV_2D", (rw_dims){1, w->filter_h, w->filter_w, w->out.c},
                     more);
    }
}

/* Pools. */

typedef struct pool {
    rw_window window;
    bool max;
} pool;

static void run_pool(void *at, const void *input, void *output) {
    const pool *p = at;
    const rw_window *w = &p->window;
    for (int n = 0; n < w->in.n; n++) {
        const int8_t *from = (const int8_t *)input + n * image_bytes(w->in);
        int8_t *to = (int8_t *)output + n * image_bytes(w->out);
        (p->max ? esp_nn_max_pool_s8 : esp_nn_avg_pool_s8)(
            from, (uint16_t)w->in.w, (uint16_t)w->in.h, to, (uint16_t)w->out.w, (uint16_t)w->out.h,
            (uint16_t)w->stride_w, (uint16_t)w->stride_h, (uint16_t)w->filter_w,
            (uint16_t)w->filter_h, (uint16_t)w->pad_w, (uint16_t)w->pad_h, narrow.min, narrow.max,
            (uint16_t)w->in.c);
    }
}

static void pools(void) {
    for (int i = 0; i < 2 * CALLS; i++) {
        const int c = channels();
        pool p = {rw_random(c, c, 4, 1), i % 2 == 0};
        const mk_call call = {text, run_pool, &p, rw_count(p.window.in), rw_count(p.window.out), 1};
        rw_pool_text(text, TEXT, p.max ? "MAX_POOL_2D" : "AVERAGE_POOL_2D", "int8", &p.window);
        mk_measure(&call);
    }
}

/* Ops on rows: FULLY_CONNECTED and SOFTMAX; and on pairs of elements. */

typedef struct rows {
    int rows, depth, columns;
    bool per_channel; /* or, of pairs, whether to multiply */
    int measured;
} rows;

static void run_dense(void *at, const void *input, void *output) {
    const rows *r = at;
    for (int n = 0; n < r->rows; n++) {
        const int8_t *from = (const int8_t *)input + n * r->depth;
        int8_t *to = (int8_t *)output + n * r->columns;
        if (r->per_channel) {
            esp_nn_fully_connected_per_ch_s8(from, 3, (uint16_t)r->depth, weights, 0, bias, to,
                                             (uint16_t)r->columns, 0, shift, multiplier, narrow.min,
                                             narrow.max);
        } else {
            esp_nn_fully_connected_s8(from, 3, (uint16_t)r->depth, weights, 0, bias, to,
                                      (uint16_t)r->columns, 0, shift[0], multiplier[0], narrow.min,
                                      narrow.max);
        }
    }
}

static void denses(void) {
    for (int i = 0; i < CALLS; i++) {
        rows r = {mk_random(1, 6), channels(), channels(), i % 2 == 0, 0};
        const mk_call call = {
            text, run_dense, &r, (size_t)(r.rows * r.depth), (size_t)(r.rows * r.columns), 1};
        snprintf(text, TEXT,
                 "\"op\": \"FULLY_CONNECTED\", \"dtype\": \"int8\", \"inputs\": [[%d, %d], "
                 "[%d, %d]], \"output\": [%d, %d]",
                 r.rows, r.depth, r.columns, r.depth, r.rows, r.columns);
        mk_measure(&call);
    }
}

static void run_softmax(void *at, const void *input, void *output) {
    const rows *r = at;
    esp_nn_softmax_s8(input, r->rows, r->depth, 1 << 30, 23, -124, output);
}

static void softmaxes(void) {
    for (int i = 0; i < CALLS; i++) {
        rows r = {.rows = mk_random(1, 5), .depth = mk_random(2, 20)};
        const size_t bytes = (size_t)(r.rows * r.depth);
        const mk_call call = {text, run_softmax, &r, bytes, bytes, 1};
        snprintf(text, TEXT,
                 "\"op\": \"SOFTMAX\", \"dtype\": \"int8\", \"inputs\": [[%d, %d]], "
                 "\"output\": [%d, %d]",
                 r.rows, r.depth, r.rows, r.depth);
        mk_measure(&call);
    }
}

static void run_pair(void *at, const void *input, void *output) {
    const rows *r = at;
    const int8_t *a = r->measured == 0 ? input : other, *b = r->measured == 0 ? other : input;
    if (r->per_channel) {
        esp_nn_mul_elementwise_s8(a, b, 3, 5, output, 0, 1 << 30, -4, narrow.min, narrow.max,
                                  r->depth);
    } else {
        esp_nn_add_elementwise_s8(a, b, 3, 5, 1 << 30, 1 << 30, 0, 0, 10, output, 0, 1 << 30, -9,
                                  narrow.min, narrow.max, r->depth);
    }
}

static void pairs(void) {
    for (int i = 0; i < 2 * CALLS; i++) {
        rows r = {.depth = mk_random(1, 60), .per_channel = i % 4 >= 2, .measured = i % 2};
        const mk_call call = {text, run_pair, &r, (size_t)r.depth, (size_t)r.depth, 1};
        snprintf(text, TEXT,
                 "\"op\": \"%s\", \"dtype\": \"int8\", \"input\": %d, \"inputs\": [[%d], [%d]], "
                 "\"output\": [%d]",
                 r.per_channel ? "MUL" : "ADD", r.measured, r.depth, r.depth, r.depth);
        mk_measure(&call);
    }
}

int main(int argc, char **argv) {
    mk_start(argc, argv);
    set_up();
    convolutions();
    pools();
    denses();
    softmaxes();
    pairs();
    return 0;
}
