/* Calls of CMSIS-NN's kernels with random shapes, for measure.py: as tflite-micro's folder cmsis_nn
 * calls them, for each op and type that it does not leave to the reference kernels. Built and run
 * by measure_cmsis_nn.sh. */
#include <arm_nnfunctions.h>

#include "random_windows.h"

enum { CALLS = 60, CHANNELS = 200, WEIGHTS = 32768, OTHER = 1024, SCRATCH = 65536, TEXT = 512 };

static int8_t weights[WEIGHTS];
static int16_t other[OTHER]; /* the operand that is not measured */
static int32_t bias[CHANNELS], multiplier[CHANNELS], shift[CHANNELS];
static int64_t wide_bias[CHANNELS];
static unsigned char scratch[SCRATCH];
static const cmsis_nn_context context = {scratch, SCRATCH};
static char text[TEXT];

static const cmsis_nn_activation narrow = {-128, 127}, wide = {-32768, 32767};

static void check(arm_cmsis_nn_status status) {
    if (status != ARM_CMSIS_NN_SUCCESS) mk_stop("a kernel refused its arguments");
}

/* Scales that neither saturate every result nor make all of them 0. */
static void set_scales(int scale) {
    for (int i = 0; i < CHANNELS; i++) {
        bias[i] = mk_random(-500, 500);
        wide_bias[i] = bias[i];
        multiplier[i] = INT32_C(1) << 30;
        shift[i] = scale;
    }
}

static int channels(void) { return rw_once_in(4) ? 4 * mk_random(1, 8) : mk_random(1, 12); }

static cmsis_nn_dims dims(rw_dims from) { return (cmsis_nn_dims){from.n, from.h, from.w, from.c}; }

/* CONV_2D and DEPTHWISE_CONV_2D. */

typedef enum conv_type { S8, S4, S16 } conv_type;

typedef struct conv {
    conv_type type;
    bool narrow_bias; /* of S16 */
    cmsis_nn_conv_params params;
    cmsis_nn_dw_conv_params depthwise;
    cmsis_nn_per_channel_quant_params scales;
    cmsis_nn_dims in, filter, bias, out;
} conv;

static void run_conv(void *at, const void *input, void *output) {
    const conv *c = at;
    const cmsis_nn_bias_data bias16 = {c->narrow_bias ? (const void *)bias : wide_bias,
                                       c->narrow_bias};
    if (c->type == S16) {
        check(arm_convolve_wrapper_s16(&context, &c->params, &c->scales, &c->in, input, &c->filter,
                                       weights, &c->bias, &bias16, &c->out, output));
    } else if (c->type == S4) {
        check(arm_convolve_wrapper_s4(&context, &c->params, &c->scales, &c->in, input, &c->filter,
                                      weights, &c->bias, bias, &c->out, output));
    } else {
        check(arm_convolve_wrapper_s8(&context, &c->params, &c->scales, &c->in, input, &c->filter,
                                      weights, &c->bias, bias, &c->out, output));
    }
}

static void run_depthwise(void *at, const void *input, void *output) {
    const conv *c = at;
    if (c->type == S16) {
        check(arm_depthwise_conv_s16(&context, &c->depthwise, &c->scales, &c->in, input, &c->filter,
                                     weights, &c->bias, wide_bias, &c->out, output));
    } else if (c->type == S4) {
        check(arm_depthwise_conv_wrapper_s4(&context, &c->depthwise, &c->scales, &c->in, input,
                                            &c->filter, weights, &c->bias, bias, &c->out, output));
    } else {
        check(arm_depthwise_conv_wrapper_s8(&context, &c->depthwise, &c->scales, &c->in, input,
                                            &c->filter, weights, &c->bias, bias, &c->out, output));
    }
}

static conv prepare(conv_type type, const rw_window *w, rw_dims filter) {
    const cmsis_nn_tile stride = {w->stride_w, w->stride_h}, pad = {w->pad_w, w->pad_h};
    const cmsis_nn_tile dilation = {w->dilation_w, w->dilation_h};
    const cmsis_nn_activation range = type == S16 ? wide : narrow;
    return (conv){
        .type = type,
        .narrow_bias = rw_once_in(2),
        .params = {type == S16 ? 0 : 3, 0, stride, pad, dilation, range},
        .depthwise = {type == S16 ? 0 : 3, 0, 1, stride, pad, dilation, range},
        .scales = {multiplier, shift},
        .in = dims(w->in),
        .filter = dims(filter),
        .bias = {1, 1, 1, w->out.c},
        .out = dims(w->out),
    };
}

static void measure_windows(conv_type type, const rw_window *w, conv *c,
                            void (*run)(void *, const void *, void *)) {
    const size_t element = type == S16 ? 2 : 1;
    const mk_call call = {text,   run, c, rw_count(w->in) * element, rw_count(w->out) * element,
                          element};
    set_scales(-7);
    mk_measure(&call);
}

static void convolution(conv_type type, rw_window w, int groups) {
    const rw_dims filter = {w.out.c, w.filter_h, w.filter_w, w.in.c / groups};
    conv c = prepare(type, &w, filter);
    c.filter.n = 1;
    rw_conv_text(text, TEXT, "CONV_2D", type == S16 ? "int16" : "int8", &w, filter, "");
    measure_windows(type, &w, &c, run_conv);
}

/* Whether no window reaches the last elements of a row. MVE's kernel for images of one row refuses
 * such a call. */
static bool has_unread_tail(const rw_window *w) {
    return (w->out.w - 1) * w->stride_w + w->filter_w < w->in.w;
}

/* 1x1, 1x1 with a stride, one row, several groups, any, or 1x1 that is dilated. */
static void convolutions(conv_type type) {
    for (int i = 0; i < CALLS; i++) {
        const int kind = i % 6, groups = kind == 3 && type != S4 ? mk_random(2, 3) : 1;
        rw_window w =
            rw_random(channels() * groups, channels() * groups, kind < 2 || kind == 5 ? 1 : 3, 2);
        if (kind < 2) w.dilation_h = w.dilation_w = 1;
        if (kind == 5) w.dilation_h = w.dilation_w = 2;
        if (kind == 0) w.stride_h = w.stride_w = 1;
        if (kind == 2) w.in.h = w.filter_h = w.dilation_h = 1;
        if (!rw_fit(&w) || (w.in.h == 1 && has_unread_tail(&w))) continue;
        convolution(type, w, groups);
    }
}

static void depthwise(conv_type type, int in_c, int multiple, int most_filter) {
    const rw_window w = rw_random(in_c, in_c * multiple, most_filter, 2);
    const rw_dims filter = {1, w.filter_h, w.filter_w, w.out.c};
    char more[40];
    snprintf(more, sizeof more, ", \"depth_multiplier\": [%d]", multiple);
    conv c = prepare(type, &w, filter);
    c.depthwise.ch_mult = multiple;
    rw_conv_text(text, TEXT, "DEPTHWISE_CONV_2D", type == S16 ? "int16" : "int8", &w, filter, more);
    measure_windows(type, &w, &c, run_depthwise);
}

static void depthwises(conv_type type) {
    for (int i = 0; i < CALLS; i++) {
        const int multiple = i % 4 == 0 ? mk_random(2, 4) : 1;
        depthwise(type, i % 8 == 4 ? 1 : channels(), multiple, 4);
        if (i % 8 == 0) depthwise(type, mk_random(120, 140), 1, 2); /* more than a block of MVE's */
        if (i % 8 == 1) depthwise(type, 1, mk_random(5, 20), 3);
    }
}

/* Pools. */

typedef struct pool {
    bool max, is16;
    cmsis_nn_pool_params params;
    cmsis_nn_dims in, filter, out;
} pool;

static void run_pool(void *at, const void *input, void *output) {
    const pool *p = at;
    if (p->max && p->is16) {
        check(arm_max_pool_s16(&context, &p->params, &p->in, input, &p->filter, &p->out, output));
    } else if (p->max) {
        check(arm_max_pool_s8(&context, &p->params, &p->in, input, &p->filter, &p->out, output));
    } else if (p->is16) {
        check(arm_avgpool_s16(&context, &p->params, &p->in, input, &p->filter, &p->out, output));
    } else {
        check(arm_avgpool_s8(&context, &p->params, &p->in, input, &p->filter, &p->out, output));
    }
}

static void pools(bool max, bool is16) {
    for (int i = 0; i < CALLS; i++) {
        const int c = rw_once_in(3) ? mk_random(13, 40) : channels();
        const rw_window w = rw_random(c, c, 4, 1);
        const size_t element = is16 ? 2 : 1;
        pool p = {max,
                  is16,
                  {{w.stride_w, w.stride_h}, {w.pad_w, w.pad_h}, is16 ? wide : narrow},
                  dims(w.in),
                  {1, w.filter_h, w.filter_w, 1},
                  dims(w.out)};
        const mk_call call = {
            text, run_pool, &p, rw_count(w.in) * element, rw_count(w.out) * element, element};
        rw_pool_text(text, TEXT, max ? "MAX_POOL_2D" : "AVERAGE_POOL_2D", is16 ? "int16" : "int8",
                     &w);
        mk_measure(&call);
    }
}

/* FULLY_CONNECTED. Of more than two dimensions and a multiple of four deep, it is a convolution. */

typedef struct dense {
    conv_type type;
    bool per_channel, is_conv;
    int rows, depth, columns;
} dense;

static void run_dense(void *at, const void *input, void *output) {
    const dense *d = at;
    const cmsis_nn_dims in = {d->rows, 1, 1, d->depth}, filter = {d->depth, 1, 1, d->columns};
    const cmsis_nn_dims one = {1, 1, 1, d->columns}, out = {d->rows, 1, 1, d->columns};
    const cmsis_nn_fc_params params = {d->type == S16 ? 0 : 3, 0, 0,
                                       d->type == S16 ? wide : narrow};
    const cmsis_nn_per_tensor_quant_params scale = {multiplier[0], shift[0]};
    const cmsis_nn_quant_params scales = {multiplier, shift, d->per_channel};
    if (d->type == S16) {
        check(arm_fully_connected_s16(&context, &params, &scale, &in, input, &filter, weights, &one,
                                      wide_bias, &out, output));
    } else if (d->type == S4) {
        check(arm_fully_connected_s4(&context, &params, &scale, &in, input, &filter, weights, &one,
                                     bias, &out, output));
    } else if (d->is_conv) {
        const cmsis_nn_conv_params pixelwise = {3, 0, {1, 1}, {0, 0}, {1, 1}, narrow};
        const cmsis_nn_per_channel_quant_params each = {multiplier, shift};
        check(arm_convolve_1x1_s8_fast(&context, &pixelwise, &each, &in, input, &filter, weights,
                                       &one, bias, &out, output));
    } else {
        arm_vector_sum_s8(context.buf, d->depth, d->columns, weights, 3, 0, bias);
        check(arm_fully_connected_wrapper_s8(&context, &params, &scales, &in, input, &filter,
                                             weights, &one, bias, &out, output));
    }
}

static void denses(conv_type type) {
    const size_t element = type == S16 ? 2 : 1;
    for (int i = 0; i < CALLS; i++) {
        dense d = {type, i % 2 == 0, false, mk_random(1, 6), channels(), channels()};
        const bool cube = i % 4 == 0;
        d.is_conv = cube && type == S8 && d.depth % 4 == 0;
        const mk_call call = {text,
                              run_dense,
                              &d,
                              (size_t)(d.rows * d.depth) * element,
                              (size_t)(d.rows * d.columns) * element,
                              element};
        snprintf(text, TEXT,
                 "\"op\": \"FULLY_CONNECTED\", \"dtype\": \"%s\", \"inputs\": [[%s%d, %d], "
                 "[%d, %d]], \"output\": [%s%d, %d]",
                 type == S16 ? "int16" : "int8", cube ? "1, " : "", d.rows, d.depth, d.columns,
                 d.depth, cube ? "1, " : "", d.rows, d.columns);
        set_scales(-7);
        mk_measure(&call);
    }
}

/* ADD, MUL, MINIMUM, MAXIMUM of two operands; `measured` is the one that lies near the output. */

typedef struct pair {
    const char *op;
    bool is16;
    int measured, count;
    cmsis_nn_dims shape[2], out;
} pair;

static void run_wide_pair(const pair *p, const int16_t *a, const int16_t *b, int16_t *output) {
    if (strcmp(p->op, "ADD") == 0) {
        check(arm_elementwise_add_s16(a, b, 0, 1 << 30, 0, 0, 1 << 30, 0, 10, output, 0, 1 << 30,
                                      -10, wide.min, wide.max, p->count));
    } else {
        check(arm_elementwise_mul_s16(a, b, 0, 0, output, 0, 1 << 30, -8, wide.min, wide.max,
                                      p->count));
    }
}

static void run_pair(void *at, const void *input, void *output) {
    const pair *p = at;
    const void *a = p->measured == 0 ? input : other, *b = p->measured == 0 ? other : input;
    if (p->is16) {
        run_wide_pair(p, a, b, output);
    } else if (strcmp(p->op, "ADD") == 0) {
        check(arm_elementwise_add_s8(a, b, 3, 1 << 30, 0, 5, 1 << 30, 0, 10, output, 0, 1 << 30, -9,
                                     narrow.min, narrow.max, p->count));
    } else if (strcmp(p->op, "MUL") == 0) {
        check(arm_elementwise_mul_s8(a, b, 3, 5, output, 0, 1 << 30, -4, narrow.min, narrow.max,
                                     p->count));
    } else if (strcmp(p->op, "MINIMUM") == 0) {
        check(arm_minimum_s8(&context, a, &p->shape[0], b, &p->shape[1], output, &p->out));
    } else {
        check(arm_maximum_s8(&context, a, &p->shape[0], b, &p->shape[1], output, &p->out));
    }
}

static int product(cmsis_nn_dims d) { return d.n * d.h * d.w * d.c; }

/* Operands of one shape; where the library broadcasts itself, of unlike shapes too. */
static void pairs(const char *op, bool is16, bool broadcasts) {
    const int element = is16 ? 2 : 1;
    for (int i = 0; i < CALLS; i++) {
        const cmsis_nn_dims out = {mk_random(1, 2), mk_random(1, 4), mk_random(1, 4),
                                   mk_random(1, 20)};
        pair p = {op, is16, i % 2, product(out), {out, out}, out};
        const int one = mk_random(0, 15); /* the axes along which one operand has one element */
        if (broadcasts && i % 4 >= 2) {
            p.shape[mk_random(0, 1)] = (cmsis_nn_dims){one & 1 ? 1 : out.n, one & 2 ? 1 : out.h,
                                                       one & 4 ? 1 : out.w, one & 8 ? 1 : out.c};
        }
        const cmsis_nn_dims a = p.shape[0], b = p.shape[1];
        const mk_call call = {text,
                              run_pair,
                              &p,
                              (size_t)(product(p.shape[p.measured]) * element),
                              (size_t)(p.count * element),
                              (size_t)element};
        snprintf(text, TEXT,
                 "\"op\": \"%s\", \"dtype\": \"%s\", \"input\": %d, \"inputs\": [[%d, %d, %d, %d], "
                 "[%d, %d, %d, %d]], \"output\": [%d, %d, %d, %d]",
                 op, is16 ? "int16" : "int8", p.measured, (int)a.n, (int)a.h, (int)a.w, (int)a.c,
                 (int)b.n, (int)b.h, (int)b.w, (int)b.c, (int)out.n, (int)out.h, (int)out.w,
                 (int)out.c);
        set_scales(0);
        mk_measure(&call);
    }
}

/* SOFTMAX: int8 to int8 or int16, int16 to int16. */

enum { STEPS = 513 }; /* of the tables that the int16 kernel looks exponentials up in */

typedef struct softmax {
    int in_bytes, out_bytes; /* of an element */
    int rows, columns;
    int16_t table[STEPS];
} softmax;

static void run_softmax(void *at, const void *input, void *output) {
    const softmax *s = at;
    const int scale = 1 << 30, up = 23, least = -124;
    if (s->in_bytes == 2) {
        const cmsis_nn_softmax_lut_s16 tables = {s->table, s->table};
        check(arm_softmax_s16(input, s->rows, s->columns, scale, 1, &tables, output));
    } else if (s->out_bytes == 2) {
        arm_softmax_s8_s16(input, s->rows, s->columns, scale, up, least, output);
    } else {
        arm_softmax_s8(input, s->rows, s->columns, scale, up, least, output);
    }
}

static void softmaxes(int in_bytes, int out_bytes) {
    for (int i = 0; i < CALLS; i++) {
        softmax s = {in_bytes, out_bytes, mk_random(1, 5), mk_random(2, 20), {0}};
        const int count = s.rows * s.columns;
        const mk_call call = {text,
                              run_softmax,
                              &s,
                              (size_t)(in_bytes * count),
                              (size_t)(out_bytes * count),
                              (size_t)out_bytes};
        for (int k = 0; k < STEPS; k++) s.table[k] = (int16_t)(64 * k - 1 + (k == 0));
        snprintf(text, TEXT,
                 "\"op\": \"SOFTMAX\", \"dtype\": \"int%d\", \"inputs\": [[%d, %d]], "
                 "\"output\": [%d, %d], \"output_dtype\": \"int%d\"",
                 8 * in_bytes, s.rows, s.columns, s.rows, s.columns, 8 * out_bytes);
        mk_measure(&call);
    }
}

/* SVDF with an int8 state. */

typedef struct svdf {
    int batches, depth, features, memory, rank;
} svdf;

static int8_t state[4096];
static int32_t sums[2][1024];

static void run_svdf(void *at, const void *input, void *output) {
    const svdf *s = at;
    const cmsis_nn_context first = {sums[0], sizeof sums[0]}, second = {sums[1], sizeof sums[1]};
    const cmsis_nn_svdf_params params = {s->rank, 3, 0, narrow, narrow};
    const cmsis_nn_per_tensor_quant_params scale = {multiplier[0], shift[0]};
    const cmsis_nn_dims in = {s->batches, s->depth, 1, 1};
    const cmsis_nn_dims history = {s->batches, s->memory * s->features, 1, 1};
    const cmsis_nn_dims feature = {s->features, s->depth, 1, 1};
    const cmsis_nn_dims time = {s->features, s->memory, 1, 1};
    const cmsis_nn_dims one = {s->features / s->rank, 1, 1, 1};
    const cmsis_nn_dims out = {s->batches, s->features / s->rank, 1, 1};
    arm_vector_sum_s8(context.buf, s->depth, s->features, weights, 3, 0, NULL);
    check(arm_svdf_s8(&context, &first, &second, &params, &scale, &scale, &in, input, &history,
                      state, &feature, weights, &time, weights, &one, bias, &out, output));
}

static void svdfs(void) {
    for (int i = 0; i < CALLS; i++) {
        svdf s = {mk_random(1, 3), channels(), 0, mk_random(1, 9), mk_random(1, 2)};
        s.features = s.rank * mk_random(1, 12);
        const int units = s.features / s.rank;
        const mk_call call = {
            text, run_svdf, &s, (size_t)(s.batches * s.depth), (size_t)(s.batches * units), 1};
        snprintf(text, TEXT,
                 "\"op\": \"SVDF\", \"dtype\": \"int8\", \"inputs\": [[%d, %d], [%d, %d], "
                 "[%d, %d]], \"output\": [%d, %d]",
                 s.batches, s.depth, s.features, s.depth, s.features, s.memory, s.batches, units);
        set_scales(-5);
        memset(state, 0, sizeof state);
        mk_measure(&call);
    }
}

/* PAD and TRANSPOSE, which copy. */

typedef struct copy {
    cmsis_nn_dims in, out, before, after;
    uint32_t order[4];
} copy;

static void run_pad(void *at, const void *input, void *output) {
    const copy *c = at;
    check(arm_pad_s8(input, output, 7, &c->in, &c->before, &c->after));
}

static void run_transpose(void *at, const void *input, void *output) {
    const copy *c = at;
    const cmsis_nn_transpose_params params = {4, c->order};
    check(arm_transpose_s8(input, output, &c->in, &c->out, &params));
}

static cmsis_nn_dims random_dims(int low, int high) {
    return (cmsis_nn_dims){mk_random(low, (low + high) / 2), mk_random(low, high),
                           mk_random(low, high), mk_random(low, high)};
}

static void copy_text(const char *op, const copy *c, const char *values) {
    snprintf(text, TEXT,
             "\"op\": \"%s\", \"dtype\": \"int8\", \"inputs\": [[%d, %d, %d, %d]], "
             "\"output\": [%d, %d, %d, %d], \"values\": %s",
             op, (int)c->in.n, (int)c->in.h, (int)c->in.w, (int)c->in.c, (int)c->out.n,
             (int)c->out.h, (int)c->out.w, (int)c->out.c, values);
}

static void pads(void) {
    char values[80];
    for (int i = 0; i < CALLS; i++) {
        copy c = {random_dims(1, 5), {0}, random_dims(0, 2), random_dims(0, 2), {0}};
        const cmsis_nn_dims a = c.before, z = c.after;
        if (i % 2 == 0) c.before.c = c.after.c = 0;
        c.out = (cmsis_nn_dims){c.in.n + a.n + z.n, c.in.h + a.h + z.h, c.in.w + a.w + z.w,
                                c.in.c + c.before.c + c.after.c};
        const mk_call call = {text, run_pad, &c, (size_t)product(c.in), (size_t)product(c.out), 1};
        snprintf(values, sizeof values, "[[%d, %d], [%d, %d], [%d, %d], [%d, %d]]", (int)a.n,
                 (int)z.n, (int)a.h, (int)z.h, (int)a.w, (int)z.w, (int)c.before.c, (int)c.after.c);
        copy_text("PAD", &c, values);
        mk_measure(&call);
    }
}

static void transposes(void) {
    char values[40];
    for (int i = 0; i < CALLS; i++) {
        copy c = {.in = random_dims(1, 6), .order = {0, 1, 2, 3}};
        const int32_t size[4] = {c.in.n, c.in.h, c.in.w, c.in.c};
        for (uint32_t k = 3; k > 0; k--) {
            const uint32_t with = (uint32_t)mk_random(0, (int)k), held = c.order[k];
            c.order[k] = c.order[with];
            c.order[with] = held;
        }
        const uint32_t *o = c.order;
        c.out = (cmsis_nn_dims){size[o[0]], size[o[1]], size[o[2]], size[o[3]]};
        const mk_call call = {text, run_transpose, &c, (size_t)product(c.in), (size_t)product(c.in),
                              1};
        snprintf(values, sizeof values, "[%d, %d, %d, %d]", (int)o[0], (int)o[1], (int)o[2],
                 (int)o[3]);
        copy_text("TRANSPOSE", &c, values);
        mk_measure(&call);
    }
}

static void measure_all(void) {
    for (conv_type type = S8; type <= S16; type++) {
        convolutions(type);
        depthwises(type);
        denses(type);
    }
    pools(false, false);
    pools(false, true);
    pools(true, false);
    pools(true, true);
    pairs("ADD", false, false);
    pairs("ADD", true, false);
    pairs("MUL", false, false);
    pairs("MUL", true, false);
    pairs("MINIMUM", false, true);
    pairs("MAXIMUM", false, true);
    softmaxes(1, 1);
    softmaxes(1, 2);
    softmaxes(2, 2);
    svdfs();
    pads();
    transposes();
}

int main(int argc, char **argv) {
    mk_start(argc, argv);
    mk_fill(weights, sizeof weights);
    mk_fill(other, sizeof other);
    measure_all();
    return 0;
}
