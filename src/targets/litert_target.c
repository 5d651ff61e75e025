/* litert: the interpreter for phones and servers. It plans by itself at load time and takes no plan
 * from a file; a plan here shows the bytes that it could need. */
#include <arenaut/target.h>

extern const arenaut_kernel_set arn_kernels_litert;
extern const arenaut_target arn_target_litert;
const arenaut_target arn_target_litert = {
    .name = "litert",
    .summary = "LiteRT without delegates: 64-byte offsets, inputs and outputs kept",
    .align = 64,
    .keep_inputs = true,
    .arena_per_method = true,
    .skip_untouched = true,
    .incumbent = "tflite-arena",
    .kernels = &arn_kernels_litert,
};
