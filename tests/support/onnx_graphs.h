/* Graphs of ONNX's operators on images NCHW, signals and volumes in float32. The results of
 * builders are numbers of tensors. */
#ifndef SUPPORT_ONNX_GRAPHS_H
#define SUPPORT_ONNX_GRAPHS_H

#include "support/programs.h"

enum { C = 1, H = 2, W = 3, MOST_RANK = 5 };

/* For each axis of the image. */
#define SIDES(name, number) \
    {name, p->tensors[x].rank - H, (int64_t[]){number, number, number}, NULL}
#define MARGINS(number)                    \
    {"pads", 2 * (p->tensors[x].rank - H), \
     (int64_t[]){number, number, number, number, number, number}, NULL}

uint32_t onnx_image(arenaut_program *p, arenaut_class cls, int64_t channels, int64_t height,
                    int64_t width);
uint32_t onnx_numbers(arenaut_program *p, arenaut_dtype dtype, const int64_t *numbers, uint32_t n);
arenaut_program *onnx_begin(void);
/* A result of as many axes as `x` has, each (side * times + plus) / over long. */
uint32_t onnx_made(arenaut_program *p, uint32_t x, int64_t channels, int64_t times, int64_t plus,
                   int64_t over);
uint32_t onnx_weights(arenaut_program *p, uint32_t x, int64_t to, int64_t from, int64_t size);
/* A square convolution, `stride` apart, with `pad` around. */
uint32_t onnx_conv(arenaut_program *p, uint32_t x, int64_t channels, int64_t size, int64_t stride,
                   int64_t pad);
uint32_t onnx_transposed(arenaut_program *p, uint32_t x, int64_t channels, int64_t size,
                         int64_t stride, int64_t pad);
uint32_t onnx_pool(arenaut_program *p, uint32_t x, int64_t size);
uint32_t onnx_relu(arenaut_program *p, uint32_t x);
/* Twice as large, by sizes. */
uint32_t onnx_resize(arenaut_program *p, uint32_t x, const char *mode, const char *place);
void onnx_finish(arenaut_program *p, uint32_t x, uint32_t y);

#endif
