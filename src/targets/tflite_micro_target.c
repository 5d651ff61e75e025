/* tflite-micro: the interpreter for microcontrollers. How its kernels treat memory says
 * kernels/reference_kernels.c. */
#include <arenaut/target.h>

/* Decompresses a constant. The application may give the interpreter other memory for what comes
 * out (SetDecompressionMemory); what then lies where depends on the sizes of that memory. */
static const char *const outside[] = {"TFLM_DECODE", NULL};

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
    .temp_per_tensor = 32, /* measured on 64-bit machines; 24 where a pointer has 4 bytes */
    .temp_per_buffer = 40,
};
