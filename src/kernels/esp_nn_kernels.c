/* esp-nn: the folder esp_nn of Espressif's tflite-micro over ESP-NN in C, as run by chips without
 * vector instructions. The kernels walk as the reference kernels do. Ops that the folder does not
 * replace have these; ops that it replaces are here with all their types. Measured by
 * examples/measure_kernels/measure_esp_nn.sh, every load and store. */
#include "kernels/set_parts.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)

static const arenaut_kernel_rule rules[] = {
    {"ADD", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MUL", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    /* The 1x1 kernel knows no groups. */
    {"CONV_2D", {.types = TYPE(INT8), .grouped = ARENAUT_KERNEL_YES}, ARENAUT_KERNEL_NONE, 0, true},
    {"CONV_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"DEPTHWISE_CONV_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"AVERAGE_POOL_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MAX_POOL_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"FULLY_CONNECTED", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SOFTMAX", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {.op = NULL},
};

static const arenaut_in_place_rule in_place[] = {
    {"ADD", 0, 0, false}, {"ADD", 1, 0, false},     {"MUL", 0, 0, false},
    {"MUL", 1, 0, false}, {"SOFTMAX", 0, 0, false}, {NULL, 0, 0, false},
};

/* The exponentials of a row. */
static const arenaut_scratch_rule scratch[] = {
    {"SOFTMAX", 0, TYPE(INT8)},
    {NULL, 0, 0},
};

/* As of the reference kernels, but that convolutions of int8 read a bias even where there is none:
 * of these nothing is said. */
enum {
    F32 = TYPE(FLOAT32),
    I4 = TYPE(INT4),
    I8 = TYPE(INT8),
    I16 = TYPE(INT16),
    WIDE = TYPE(INT32) | TYPE(INT64),
    ALL = F32 | TYPE(FLOAT16) | I8 | I16 | WIDE | TYPE(UINT8) | TYPE(BOOL),
};
#define LIKE ARENAUT_TYPES_LIKE

const arenaut_type_rule arn_esp_nn_types[] = {
    {"CONV_2D", 0, F32, 0, F32, 0, LIKE, false, true},
    {"CONV_2D", 0, I8, 0, I8 | I4, ARENAUT_TYPES_ANY, LIKE, true, true},
    {"CONV_2D", 0, I16, 0, I8, WIDE, LIKE, true, true},
    {"CONV_2D", 0, 0, ALL & ~I8, 0, 0, LIKE, false, true},
    {"CONV_2D", 0, 0, I8, ALL & ~I8, 0, LIKE, false, true},
    {"DEPTHWISE_CONV_2D", 0, F32, 0, F32, 0, LIKE, false, true},
    {"DEPTHWISE_CONV_2D", 0, I8, 0, I8 | I4, ARENAUT_TYPES_ANY, LIKE, true, true},
    {"DEPTHWISE_CONV_2D", 0, I16, 0, I8, 0, LIKE, true, true},
    {"DEPTHWISE_CONV_2D", 0, 0, ALL & ~I8, 0, 0, LIKE, false, true},
    {"DEPTHWISE_CONV_2D", 0, 0, I8, ALL & ~I8, 0, LIKE, false, true},
    {.op = NULL},
};

extern const arenaut_kernel_set arn_kernels_esp_nn;
extern const arenaut_kernel_set arn_kernels_reference;
const arenaut_kernel_set arn_kernels_esp_nn = {
    .name = "esp-nn",
    .summary = "ESP-NN in C, for chips without vector instructions",
    .version = "esp-nn d45b843c, esp-tflite-micro 99f49e14",
    .base = &arn_kernels_reference,
    .rules = rules,
    .in_place = in_place,
    .scratch = scratch,
    .persistent = arn_esp_nn_persistent,
    .scratch_sizes = arn_esp_nn_scratch,
    .macro = "ESP_NN",
    .types = arn_esp_nn_types,
};
