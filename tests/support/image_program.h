/* Small programs over images, and their results, in whole numbers that wrap: so that no result
 * hides a difference by rounding or saturation. Names and attributes are those of .tflite. */
#ifndef SUPPORT_IMAGE_PROGRAM_H
#define SUPPORT_IMAGE_PROGRAM_H

#include <arenaut/rewrite.h>

#include "support/programs.h"

/* Images are [1, height, width, channels] of int8. */
uint32_t add_image(arenaut_program *p, const char *name, int64_t height, int64_t width,
                   int64_t channels, arenaut_class cls);
uint32_t add_weights(arenaut_program *p, const int64_t dims[4]);
uint32_t add_numbers(arenaut_program *p, const int64_t *numbers, uint32_t n);

/* Ops with a result of their own, which is given. */
typedef struct window_form {
    int64_t filter[2], stride[2], dilation[2];
    bool same;
} window_form;
uint32_t add_conv(arenaut_program *p, uint32_t image, int64_t channels, window_form form);
uint32_t add_depthwise(arenaut_program *p, uint32_t image, window_form form);
uint32_t add_pooling(arenaut_program *p, const char *name, uint32_t image, window_form form);
uint32_t add_mirror(arenaut_program *p, uint32_t image, const int64_t pads[4], bool repeats_edge);
uint32_t add_pad(arenaut_program *p, uint32_t image, const int64_t pads[4]);
uint32_t add_sum(arenaut_program *p, uint32_t a, uint32_t b);
uint32_t add_relu(arenaut_program *p, uint32_t image);
uint32_t add_join(arenaut_program *p, uint32_t a, uint32_t b);

/* Ends the program: the last image is its result. */
void finish_images(arenaut_program *p, uint32_t input, uint32_t result);

/* A random one of up to `most` ops: convolutions of odd and even filters, strides, dilations,
 * pools, paddings, sums, joins; and `mirrors`, whose kernel asks for scratch. */
arenaut_program *random_images(rng *r, uint32_t most, bool mirrors);

/* The program's result, if its input holds numbers made of `seed`. The constants of a rewritten
 * program are parts of those before. `origins` may be NULL. False if an op reads past its operand,
 * or has inconsistent sizes. The caller frees *values. */
bool compute_images(const arenaut_program *p, const arenaut_program *before,
                    const arenaut_origin *origins, uint64_t seed, uint64_t **values, size_t *n);

#endif
