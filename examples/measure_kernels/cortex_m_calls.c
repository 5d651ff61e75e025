/* Calls of CMSIS-NN's kernels with random shapes, for measure.py: as ExecuTorch's operators for
 * Cortex-M call them (its backends/cortex_m/ops), which pad by as much on either side. Built and
 * run by measure_cmsis_nn.sh. */
#include <arm_nnfunctions.h>

#include "random_windows.h"

enum { CALLS = 90, CHANNELS = 200, WEIGHTS = 32768, SCRATCH = 65536, TEXT = 512 };

static int8_t weights[WEIGHTS];
static int32_t bias[CHANNELS], multiplier[CHANNELS], shift[CHANNELS];
static unsigned char scratch[SCRATCH];
static const cmsis_nn_context context = {scratch, SCRATCH};
static char text[TEXT];

static const cmsis_nn_activation range = {-128, 127};

static void check(arm_cmsis_nn_status status) {
    if (status != ARM_CMSIS_NN_SUCCESS) mk_stop("a kernel refused its arguments");
}

/* Scales that neither saturate every result nor make all of them 0. */
static void set_scales(void) {
    for (int i = 0; i < CHANNELS; i++) {
        bias[i] = mk_random(-500, 500);
        multiplier[i] = INT32_C(1) << 30;
        shift[i] = -7;
    }
}

static int channels(void) { return rw_once_in(4) ? 4 * mk_random(1, 8) : mk_random(1, 12); }

static cmsis_nn_dims dims(rw_dims from) { return (cmsis_nn_dims){from.n, from.h, from.w, from.c}; }

/* ---- windows ---- */

/* Places of a window, as PyTorch has them; 0 where it does not fit, or some lies outside. */
static int places(int size, int filter, int stride, int dilation, int padding, bool up) {
    const int reach = (filter - 1) * dilation + 1, free = size + 2 * padding - reach;
    const int n = free < 0 ? 0 : (free + (up ? stride - 1 : 0)) / stride + 1;
    return (n - 1) * stride - padding < size ? n : 0;
}

/* `most_pad`: of the window's reach, in percent. */
static bool pad(rw_window *w, int percent, bool up) {
    w->pad_h = mk_random(0, (w->filter_h - 1) * w->dilation_h * percent / 100);
    w->pad_w = mk_random(0, (w->filter_w - 1) * w->dilation_w * percent / 100);
    w->out.n = w->in.n;
    w->out.h = places(w->in.h, w->filter_h, w->stride_h, w->dilation_h, w->pad_h, up);
    w->out.w = places(w->in.w, w->filter_w, w->stride_w, w->dilation_w, w->pad_w, up);
    return w->out.h > 0 && w->out.w > 0;
}

static int begin_text(const char *op, const rw_window *w) {
    const rw_dims in = w->in, out = w->out;
    return snprintf(text, TEXT,
                    "\"op\": \"cortex_m::%s.out\", \"dtype\": \"int8\", \"channels_last\": true, "
                    "\"output\": [%d, %d, %d, %d], \"inputs\": [[%d, %d, %d, %d]",
                    op, out.n, out.h, out.w, out.c, in.n, in.h, in.w, in.c);
}

static void end_text(int at, const rw_window *w) {
    snprintf(text + at, TEXT - (size_t)at, ", \"strides\": [%d, %d], \"pads\": [%d, %d, %d, %d]}",
             w->stride_h, w->stride_w, w->pad_h, w->pad_w, w->pad_h, w->pad_w);
}

static void measure(const rw_window *w, void (*run)(void *, const void *, void *), void *call) {
    const mk_call one = {text, run, call, rw_count(w->in), rw_count(w->out), 1};
    mk_measure(&one);
}

typedef struct conv {
    cmsis_nn_conv_params params;
    cmsis_nn_dw_conv_params depthwise;
    cmsis_nn_dims in, filter, bias, out;
} conv;

static const cmsis_nn_per_channel_quant_params scales = {multiplier, shift};

static arm_cmsis_nn_status convolve(const conv *c, const int8_t *input, int8_t *output) {
    return arm_convolve_wrapper_s8(&context, &c->params, &scales, &c->in, input, &c->filter,
                                   weights, &c->bias, bias, &c->out, output);
}

static void run_conv(void *at, const void *input, void *output) {
    check(convolve(at, input, output));
}

static void run_depthwise(void *at, const void *input, void *output) {
    const conv *c = at;
    check(arm_depthwise_conv_wrapper_s8(&context, &c->depthwise, &scales, &c->in, input, &c->filter,
                                        weights, &c->bias, bias, &c->out, output));
}

static conv prepare(const char *op, const rw_window *w, rw_dims filter) {
    const cmsis_nn_tile stride = {w->stride_w, w->stride_h}, by = {w->pad_w, w->pad_h};
    const cmsis_nn_tile dilation = {w->dilation_w, w->dilation_h};
    int at = begin_text(op, w);
    at += snprintf(text + at, TEXT - (size_t)at,
                   ", [%d, %d, %d, %d]], \"attributes\": {\"dilations\": [%d, %d]", filter.n,
                   filter.h, filter.w, filter.c, w->dilation_h, w->dilation_w);
    end_text(at, w);
    set_scales();
    return (conv){
        .params = {3, 0, stride, by, dilation, range},
        .depthwise = {3, 0, w->out.c / w->in.c, stride, by, dilation, range},
        .in = dims(w->in),
        .filter = dims(filter),
        .bias = {1, 1, 1, w->out.c},
        .out = dims(w->out),
    };
}

/* 1x1, 1x1 with a stride, one row, several groups, any, 1x1 that is dilated or padded. Some calls
 * with an image of one row are refused by the kernel for MVE, and fail in the runtime. */
static void convolutions(void) {
    static int8_t input[4096], output[16384];
    for (int i = 0; i < 2 * CALLS; i++) {
        const int kind = i % 6, groups = kind == 3 ? mk_random(2, 3) : 1;
        rw_window w =
            rw_random(channels() * groups, channels() * groups, kind < 2 || kind == 5 ? 1 : 3, 2);
        if (kind < 2) w.dilation_h = w.dilation_w = 1;
        if (kind == 0) w.stride_h = w.stride_w = 1;
        if (kind == 2) w.in.h = w.filter_h = w.dilation_h = 1;
        if (kind == 5) w.dilation_h = w.dilation_w = 2;
        if (!pad(&w, 100, false)) continue;
        conv c = prepare("quantized_conv2d", &w,
                         (rw_dims){w.out.c, w.filter_h, w.filter_w, w.in.c / groups});
        if (rw_count(w.in) > sizeof input || rw_count(w.out) > sizeof output ||
            convolve(&c, input, output) != ARM_CMSIS_NN_SUCCESS)
            continue;
        measure(&w, run_conv, &c);
    }
}

static void depthwise(int in_c, int multiple, int most_filter) {
    rw_window w = rw_random(in_c, in_c * multiple, most_filter, 2);
    w.in.n = 1; /* else the operator is another one */
    if (!pad(&w, 100, false)) return;
    conv c =
        prepare("quantized_depthwise_conv2d", &w, (rw_dims){1, w.filter_h, w.filter_w, w.out.c});
    measure(&w, run_depthwise, &c);
}

static void depthwises(void) {
    for (int i = 0; i < CALLS; i++) {
        depthwise(i % 8 == 4 ? 1 : channels(), i % 4 == 0 ? mk_random(2, 4) : 1, 4);
        if (i % 2 == 0) depthwise(channels(), 1, 3);
        if (i % 8 == 0) depthwise(mk_random(120, 140), 1, 2); /* more than a block of MVE's */
        if (i % 8 == 1) depthwise(1, mk_random(5, 20), 3);
    }
}

typedef struct pool {
    bool max;
    cmsis_nn_pool_params params;
    cmsis_nn_dims in, filter, out;
} pool;

static void run_pool(void *at, const void *input, void *output) {
    const pool *p = at;
    check((p->max ? arm_max_pool_s8 : arm_avgpool_s8)(&context, &p->params, &p->in, input,
                                                      &p->filter, &p->out, output));
}

static void pools(bool max) {
    for (int i = 0; i < CALLS; i++) {
        const int c = rw_once_in(3) ? mk_random(13, 40) : channels();
        rw_window w = rw_random(c, c, 4, 1);
        if (!pad(&w, 66, !max && i % 2 == 0)) continue;
        pool p = {max,
                  {{w.stride_w, w.stride_h}, {w.pad_w, w.pad_h}, range},
                  dims(w.in),
                  {1, w.filter_h, w.filter_w, 1},
                  dims(w.out)};
        int at = begin_text(max ? "quantized_max_pool2d" : "quantized_avg_pool2d", &w);
        at += snprintf(text + at, TEXT - (size_t)at,
                       "], \"attributes\": {\"kernel_shape\": [%d, %d]", w.filter_h, w.filter_w);
        end_text(at, &w);
        measure(&w, run_pool, &p);
    }
}

/* ---- rows of a matrix ---- */

typedef struct dense {
    int rows, depth, columns;
} dense;

static void run_dense(void *at, const void *input, void *output) {
    const dense *d = at;
    const cmsis_nn_dims in = {d->rows, 1, 1, d->depth}, filter = {d->depth, 1, 1, d->columns};
    const cmsis_nn_dims one = {1, 1, 1, d->columns}, out = {d->rows, 1, 1, d->columns};
    const cmsis_nn_fc_params params = {3, 0, 0, range};
    const cmsis_nn_per_tensor_quant_params scale = {multiplier[0], shift[0]};
    arm_vector_sum_s8(context.buf, d->depth, d->columns, weights, 3, 0, bias);
    check(arm_fully_connected_s8(&context, &params, &scale, &in, input, &filter, weights, &one,
                                 bias, &out, output));
}

static void denses(void) {
    for (int i = 0; i < CALLS; i++) {
        dense d = {mk_random(1, 6), channels(), channels()};
        const mk_call call = {
            text, run_dense, &d, (size_t)(d.rows * d.depth), (size_t)(d.rows * d.columns), 1};
        snprintf(text, TEXT,
                 "\"op\": \"cortex_m::quantized_linear.out\", \"dtype\": \"int8\", \"inputs\": "
                 "[[%d, %d], [%d, %d]], \"output\": [%d, %d]",
                 d.rows, d.depth, d.columns, d.depth, d.rows, d.columns);
        set_scales();
        mk_measure(&call);
    }
}

int main(int argc, char **argv) {
    mk_start(argc, argv);
    mk_fill(weights, sizeof weights);
    convolutions();
    depthwises();
    pools(false);
    pools(true);
    denses();
    return 0;
}
