/* tflite-micro where pointers have 8 bytes, as on a desktop. Plans are the same; its own part of
 * the arena is larger. */
#include <arenaut/target.h>

/* The interpreter of the Python wheel: it records allocations, and has tables for compressed
 * constants. A plain one needs a few hundred bytes less. */
static const arenaut_arena_layout layout = {
    .pointer = 8,
    .base = 104 + 72 + 272,          /* as below, the first and the last of the recording kind */
    .base_apart = 32 + 56 + 72 + 72, /* of a plain one: there is none that records */
    .builtin = 16,
    .method = 24,
    .tensor = 24,
    .op = 64,
    .argument = 64,
    .quantization = 24,
    .scratch = 8,
    .variables = 16,
    .variable = 40,
    .request = 16,
    .n_requests = 12,
    .tensor_note = 32,
    .buffer_note = 40,
};

extern const char *const arn_tflite_micro_outside[];
extern const arenaut_kernel_set arn_kernels_reference;
extern const arenaut_target arn_target_tflite_micro_64;
const arenaut_target arn_target_tflite_micro_64 = {
    .name = "tflite-micro-64",
    .summary = "the same on 64-bit machines, as the Python wheel runs it: a larger tail",
    .align = 16,
    .round_sizes = true,
    .merge_calls = true,
    .incumbent = "tflm-greedy",
    .plan_in_file = true,
    .places_scratch = true,
    .kernels = &arn_kernels_reference,
    .outside = arn_tflite_micro_outside,
    .layout = &layout,
};
