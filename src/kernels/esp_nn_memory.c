/* Persistent memory per op that Espressif's folder esp_nn replaces, for any chip: `tflm_run
 * --sizes` prints a kernel's initial data, `--trace` all its requests. Rows of one op go from the
 * special to the general. */
#include "kernels/esp_nn_memory.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)
#define EXTRA(name) ARENAUT_PERSISTENT_##name

const arenaut_persistent_rule arn_esp_nn_persistent[] = {
    {"ADD", 0, 0, {8, 8}, {64, 64}, EXTRA(NOTHING)},
    {"AVERAGE_POOL_2D", 0, 0, {40, 40}, {32, 32}, EXTRA(NOTHING)},
    {"CONV_2D", 0, 0, {28, 28}, {64, 80}, EXTRA(CHANNELS)},
    {"DEPTHWISE_CONV_2D", 0, 0, {28, 28}, {64, 80}, EXTRA(CHANNELS)},
    {"FULLY_CONNECTED", 0, 0, {16, 16}, {48, 80}, EXTRA(SCALES)},
    {"MAX_POOL_2D", 0, 0, {40, 40}, {32, 32}, EXTRA(NOTHING)},
    {"MUL", 0, 0, {4, 4}, {48, 48}, EXTRA(NOTHING)},
    {"SOFTMAX", 0, TYPE(INT16), {4, 4}, {64, 96}, EXTRA(LOOKUP)},
    {"SOFTMAX", 0, 0, {4, 4}, {64, 96}, EXTRA(NOTHING)},
    {.op = NULL},
};
