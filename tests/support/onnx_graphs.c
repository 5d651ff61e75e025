#include "support/onnx_graphs.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "support/test.h"

uint32_t onnx_image(arenaut_program *p, arenaut_class cls, int64_t channels, int64_t height,
                    int64_t width) {
    const int64_t dims[] = {1, channels, height, width};
    return add_shaped(p, cls, ARENAUT_DTYPE_FLOAT32, dims, 4);
}

uint32_t onnx_numbers(arenaut_program *p, arenaut_dtype dtype, const int64_t *numbers, uint32_t n) {
    const int64_t dims[] = {n};
    const uint32_t id = add_shaped(p, ARENAUT_CONSTANT, dtype, dims, 1);
    int64_t *copy = arenaut_program_alloc(p, n * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, numbers, n * sizeof *copy);
    p->tensors[id].values = copy;
    p->tensors[id].n_values = n;
    return id;
}

arenaut_program *onnx_begin(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    assert_int_equal(arn_program_set_dialect(p, "onnx", NULL), ARENAUT_OK);
    p->dialect_version = 17;
    return p;
}

uint32_t onnx_made(arenaut_program *p, uint32_t x, int64_t channels, int64_t times, int64_t plus,
                   int64_t over) {
    int64_t dims[MOST_RANK] = {1, channels};
    const uint32_t rank = p->tensors[x].rank;
    for (uint32_t i = H; i < rank; i++) dims[i] = (p->tensors[x].dims[i] * times + plus) / over;
    return add_shaped(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, dims, rank);
}

uint32_t onnx_weights(arenaut_program *p, uint32_t x, int64_t to, int64_t from, int64_t size) {
    const int64_t dims[MOST_RANK] = {to, from, size, size, size};
    return add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, dims, p->tensors[x].rank);
}

uint32_t onnx_conv(arenaut_program *p, uint32_t x, int64_t channels, int64_t size, int64_t stride,
                   int64_t pad) {
    const uint32_t weights = onnx_weights(p, x, channels, p->tensors[x].dims[C], size);
    const uint32_t y = onnx_made(p, x, channels, 1, 2 * pad - size + stride, stride);
    ADD_OP(p, .name = "Conv", IN(x, weights), OUT(y),
           ATTRIBUTES(SIDES("strides", stride), MARGINS(pad)));
    return y;
}

uint32_t onnx_transposed(arenaut_program *p, uint32_t x, int64_t channels, int64_t size,
                         int64_t stride, int64_t pad) {
    const uint32_t weights = onnx_weights(p, x, p->tensors[x].dims[C], channels, size);
    const uint32_t y = onnx_made(p, x, channels, stride, size - 2 * pad - stride, 1);
    ADD_OP(p, .name = "ConvTranspose", IN(x, weights), OUT(y),
           ATTRIBUTES(SIDES("strides", stride), MARGINS(pad)));
    return y;
}

uint32_t onnx_pool(arenaut_program *p, uint32_t x, int64_t size) {
    const uint32_t y = onnx_made(p, x, p->tensors[x].dims[C], 1, 0, size);
    ADD_OP(p, .name = "MaxPool", IN(x), OUT(y),
           ATTRIBUTES(SIDES("kernel_shape", size), SIDES("strides", size)));
    return y;
}

uint32_t onnx_relu(arenaut_program *p, uint32_t x) {
    const uint32_t y = onnx_made(p, x, p->tensors[x].dims[C], 1, 0, 1);
    ADD_OP(p, .name = "Relu", IN(x), OUT(y));
    return y;
}

uint32_t onnx_resize(arenaut_program *p, uint32_t x, const char *mode, const char *place) {
    const uint32_t y = onnx_made(p, x, p->tensors[x].dims[C], 2, 0, 1);
    const uint32_t list =
        onnx_numbers(p, ARENAUT_DTYPE_INT64, p->tensors[y].dims, p->tensors[y].rank);
    ADD_OP(p, .name = "Resize", IN(x, ARENAUT_NONE, ARENAUT_NONE, list), OUT(y),
           ATTRIBUTES(WORD("mode", mode), WORD("coordinate_transformation_mode", place),
                      WORD("nearest_mode", "floor")));
    return y;
}

void onnx_finish(arenaut_program *p, uint32_t x, uint32_t y) {
    p->tensors[y].cls = ARENAUT_OUTPUT;
    FINISH(p, LIST(x), LIST(y));
}
