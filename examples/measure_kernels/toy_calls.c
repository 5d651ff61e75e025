/* A kernel library of two kernels, and calls of them with random shapes for measure.py.
 *
 *     gcc -g -O2 toy_calls.c -o toy */
#include "random_windows.h"

enum { CALLS = 30, MOST = 24, TEXT = 512 };

static int8_t weights[MOST * MOST];
static char text[TEXT];

/* ---- the library: a 1x1 convolution that picks one of two orders ---- */

static int8_t dot(const int8_t *pixel, const int8_t *filter, int channels) {
    int sum = 0;
    for (int i = 0; i < channels; i++) sum += pixel[i] * filter[i];
    return (int8_t)(sum >> 7);
}

/* Pixel by pixel, and each channel reads the pixel again. */
static void convolve_pixels(const int8_t *in, int8_t *out, int pixels, int in_c, int out_c) {
    for (int p = 0; p < pixels; p++) {
        for (int c = 0; c < out_c; c++) {
            out[p * out_c + c] = dot(in + p * in_c, weights + c * in_c, in_c);
        }
    }
}

/* Two pixels are gathered first, as a kernel would that widens them for its vectors. */
static void convolve_pairs(const int8_t *in, int8_t *out, int pixels, int in_c, int out_c) {
    int8_t gathered[2 * MOST];
    for (int p = 0; p < pixels; p += 2) {
        const int n = p + 1 < pixels ? 2 : 1;
        memcpy(gathered, in + p * in_c, (size_t)(n * in_c));
        convolve_pixels(gathered, out + p * out_c, n, in_c, out_c);
    }
}

static void convolve_1x1(const int8_t *in, int8_t *out, int pixels, int in_c, int out_c) {
    (out_c > 8 ? convolve_pairs : convolve_pixels)(in, out, pixels, in_c, out_c);
}

/* ---- the calls ---- */

static void run(void *context, const void *input, void *output) {
    const rw_window *w = context;
    convolve_1x1(input, output, w->out.n * w->out.h * w->out.w, w->in.c, w->out.c);
}

int main(int argc, char **argv) {
    mk_start(argc, argv);
    mk_fill(weights, sizeof weights);
    for (int i = 0; i < CALLS; i++) {
        const int in_c = mk_random(1, MOST), out_c = mk_random(1, MOST);
        rw_window w = rw_random(in_c, out_c, 1, 1);
        w.stride_h = w.stride_w = 1;
        w.out.h = w.in.h;
        w.out.w = w.in.w;
        const mk_call call = {text, run, &w, rw_count(w.in), rw_count(w.out), 1};
        rw_conv_text(text, TEXT, "CONV_2D", "int8", &w, (rw_dims){w.out.c, 1, 1, w.in.c}, "");
        mk_measure(&call);
    }
    return 0;
}
