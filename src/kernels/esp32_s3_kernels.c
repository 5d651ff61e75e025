/* esp32-s3: the folder esp_nn of Espressif's tflite-micro over ESP-NN with the vector instructions
 * of an ESP32-S3. No order was measured: the code is assembly for a chip that QEMU does not emulate
 * fully. Most of it is not settled by reading either, so int8 operands stay disjoint. Their
 * requests for scratch are C, and were measured. Types and ops that the folder leaves to the
 * reference kernels have these. */
#include "kernels/set_parts.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)

enum { S8 = TYPE(INT8) };

static const arenaut_kernel_rule rules[] = {
    /* Eight pixels are gathered first; the rest is made pixel by pixel, channel after channel. */
    {"CONV_2D",
     {.types = S8, .pointwise = ARENAUT_KERNEL_YES, .grouped = ARENAUT_KERNEL_NO},
     ARENAUT_KERNEL_BLOCK_REREAD,
     8,
     false},
    {"ADD", {.types = S8}, ARENAUT_KERNEL_NONE, 0, false},
    {"MUL", {.types = S8}, ARENAUT_KERNEL_NONE, 0, false},
    {"CONV_2D", {.types = S8}, ARENAUT_KERNEL_NONE, 0, false},
    {"DEPTHWISE_CONV_2D", {.types = S8}, ARENAUT_KERNEL_NONE, 0, false},
    {"AVERAGE_POOL_2D", {.types = S8}, ARENAUT_KERNEL_NONE, 0, false},
    {"MAX_POOL_2D", {.types = S8}, ARENAUT_KERNEL_NONE, 0, false},
    {"FULLY_CONNECTED", {.types = S8}, ARENAUT_KERNEL_NONE, 0, false},
    {"SOFTMAX", {.types = S8}, ARENAUT_KERNEL_NONE, 0, false},
    /* The reference kernels. */
    {"ADD", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MUL", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"CONV_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"DEPTHWISE_CONV_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"AVERAGE_POOL_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MAX_POOL_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"FULLY_CONNECTED", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SOFTMAX", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {.op = NULL},
};

static const arenaut_scratch_rule scratch[] = {
    {"CONV_2D", 0, S8},
    {"DEPTHWISE_CONV_2D", 0, S8},
    {"SOFTMAX", 0, S8},
    {NULL, 0, 0},
};

extern const arenaut_kernel_set arn_kernels_esp32_s3;
extern const arenaut_kernel_set arn_kernels_reference;
const arenaut_kernel_set arn_kernels_esp32_s3 = {
    .name = "esp32-s3",
    .summary = "ESP-NN with the vector instructions of an ESP32-S3",
    .version = "esp-nn d45b843c, esp-tflite-micro 99f49e14",
    .base = &arn_kernels_reference,
    .rules = rules,
    .scratch = scratch,
    .persistent = arn_esp_nn_persistent,
    .scratch_sizes = arn_esp32_s3_scratch,
    .macro = "ESP_NN",
    .types = arn_esp_nn_types,
};
