/* Random shapes of ops that slide a window over an image (convolutions and pools), and the text
 * that describes such a call to measure.py. */
#ifndef RANDOM_WINDOWS_H
#define RANDOM_WINDOWS_H

#include "measure_kernels.h"

typedef struct rw_dims {
    int n, h, w, c;
} rw_dims;

typedef struct rw_window {
    rw_dims in, out;
    int filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
    bool same; /* else VALID */
} rw_window;

static inline size_t rw_count(rw_dims dims) { return (size_t)dims.n * dims.h * dims.w * dims.c; }

static inline bool rw_once_in(int n) { return mk_random(1, n) == 1; }

/* How many places a window has along one axis, and how many elements of padding come before; 0:
 * the window does not fit. */
static inline int rw_places(int size, int filter, int stride, int dilation, bool same, int *pad) {
    const int reach = (filter - 1) * dilation + 1;
    const int places = same ? (size + stride - 1) / stride : (size - reach + stride) / stride;
    const int missing = (places - 1) * stride + reach - size;
    *pad = missing > 0 ? missing / 2 : 0;
    return !same && size < reach ? 0 : places;
}

/* Fills in the output's height and width. False where the window does not fit. */
static inline bool rw_fit(rw_window *window) {
    const rw_dims in = window->in;
    window->out.n = in.n;
    window->out.h = rw_places(in.h, window->filter_h, window->stride_h, window->dilation_h,
                              window->same, &window->pad_h);
    window->out.w = rw_places(in.w, window->filter_w, window->stride_w, window->dilation_w,
                              window->same, &window->pad_w);
    return window->out.h > 0 && window->out.w > 0;
}

/* A window over an image of `in_c` channels, with `out_c` made of them. One number at a time, so
 * that every compiler rolls the same. */
static inline rw_window rw_random(int in_c, int out_c, int most_filter, int most_dilation) {
    rw_window window;
    do {
        window = (rw_window){.in.c = in_c, .out.c = out_c, .same = rw_once_in(2)};
        const int most = rw_once_in(4) ? most_dilation : 1;
        window.in.n = rw_once_in(4) ? 2 : 1;
        window.in.h = mk_random(1, 8);
        window.in.w = mk_random(1, 8);
        window.filter_h = mk_random(1, most_filter);
        window.filter_w = mk_random(1, most_filter);
        window.stride_h = mk_random(1, 2);
        window.stride_w = mk_random(1, 3);
        window.dilation_h = mk_random(1, most);
        window.dilation_w = mk_random(1, most);
    } while (!rw_fit(&window));
    return window;
}

static inline const char *rw_padding(const rw_window *window) {
    return window->same ? "SAME" : "VALID";
}

/* A convolution, `weights` the shape of its filter; further members may follow in `more`. */
static inline void rw_conv_text(char *to, size_t size, const char *op, const char *dtype,
                                const rw_window *window, rw_dims weights, const char *more) {
    const rw_dims in = window->in, out = window->out;
    snprintf(to, size,
             "\"op\": \"%s\", \"dtype\": \"%s\", \"inputs\": [[%d, %d, %d, %d], [%d, %d, %d, %d]], "
             "\"output\": [%d, %d, %d, %d], \"attributes\": {\"strides\": [%d, %d], "
             "\"dilations\": [%d, %d], \"padding\": \"%s\"%s}",
             op, dtype, in.n, in.h, in.w, in.c, weights.n, weights.h, weights.w, weights.c, out.n,
             out.h, out.w, out.c, window->stride_h, window->stride_w, window->dilation_h,
             window->dilation_w, rw_padding(window), more);
}

static inline void rw_pool_text(char *to, size_t size, const char *op, const char *dtype,
                                const rw_window *window) {
    const rw_dims in = window->in, out = window->out;
    snprintf(to, size,
             "\"op\": \"%s\", \"dtype\": \"%s\", \"inputs\": [[%d, %d, %d, %d]], "
             "\"output\": [%d, %d, %d, %d], \"attributes\": {\"strides\": [%d, %d], "
             "\"filter\": [%d, %d], \"padding\": \"%s\"}",
             op, dtype, in.n, in.h, in.w, in.c, out.n, out.h, out.w, out.c, window->stride_h,
             window->stride_w, window->filter_h, window->filter_w, rw_padding(window));
}

#endif
