/* tflite-micro: the interpreter for microcontrollers. The memory behaviour of its kernels is in
 * kernels/reference_kernels.c. */
#include <arenaut/target.h>

/* Decompresses a constant. The application may give the interpreter other memory for the results
 * (SetDecompressionMemory); their places then depend on the sizes of that memory. */
static const char *const outside[] = {"TFLM_DECODE", NULL};

/* The plain interpreter on a Cortex-M, as `tflm_run --sizes` prints its structs on 32-bit ARM. */
static const arenaut_arena_layout layout = {
    .pointer = 4,
    .base = 36 + 44 + 36, /* SingleArenaBufferAllocator, GreedyMemoryPlanner, MicroAllocator */
    /* PersistentArenaBufferAllocator, NonPersistentArenaBufferAllocator in place of the first */
    .base_apart = 16 + 32 + 44 + 36,
    .builtin = 8,
    .method = 8,
    .tensor = 12,
    .op = 32,
    .argument = 40,
    .quantization = 12,
    .scratch = 4,
    .variables = 12,
    .variable = 20,
    .request = 12,
    .n_requests = 12,
    .tensor_note = 24,
    .buffer_note = 40,
};

extern const arenaut_kernel_set arn_kernels_reference;
extern const arenaut_target arn_target_tflite_micro;
const arenaut_target arn_target_tflite_micro = {
    .name = "tflite-micro",
    .summary = "TensorFlow Lite for Microcontrollers, reference kernels: 16-byte blocks",
    .format = "tflite",
    .align = 16,
    .round_sizes = true,
    .merge_calls = true,
    .incumbent = "tflm-greedy",
    .plan_in_file = true,
    .places_scratch = true,
    .kernels = &arn_kernels_reference,
    .outside = outside,
    .layout = &layout,
    .wide = "tflite-micro-64",
};

/* tflite-micro where pointers have 8 bytes, as on a desktop. Plans are the same; its own part of
 * the arena is larger. */

/* The interpreter of the Python wheel: it records allocations, and has tables for compressed
 * constants. A plain one needs a few hundred bytes less. */
static const arenaut_arena_layout wide_layout = {
    .pointer = 8,
    .base = 104 + 72 + 272,          /* as above, the first and the last of the recording kind */
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
    .outside = outside,
    .layout = &wide_layout,
};
