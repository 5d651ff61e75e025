/* The table of functions for operators of ONNX, in the order of strcmp for binary search. */
#include <string.h>

#include "shapes/shapes.h"

#define arn_shape_of_none NULL

static const struct {
    const char *op;
    arn_shape_function function;
} all[] = {
#define ONNX(op, family, purity, cost, window, traits, in_place, shape) {op, arn_shape_of_##shape},
#include "ops/ops.def"
};

arn_shape_function arn_shape_function_of(const char *op) {
    size_t low = 0, high = sizeof all / sizeof *all;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(all[middle].op, op);
        if (order == 0) return all[middle].function;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}
