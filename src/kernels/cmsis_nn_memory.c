/* Persistent memory per op that tflite-micro's folder cmsis_nn replaces, built for speed (the
 * makefile's default): `tflm_run --sizes` prints a kernel's initial data, `--trace` all its
 * requests. Rows of one op go from the special to the general. */
#include "kernels/cmsis_nn_memory.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)
#define EXTRA(name) ARENAUT_PERSISTENT_##name

enum { S8 = TYPE(INT8), S16 = TYPE(INT16) };

/* With vector instructions, some add up their weights once, when the model is loaded. */
#define ROWS(connected, filters)                                                              \
    {"ADD", 0, 0, {8, 8}, {64, 64}, EXTRA(NOTHING)},                                          \
        {"AVERAGE_POOL_2D", 0, 0, {40, 40}, {48, 48}, EXTRA(NOTHING)},                        \
        {"BATCH_MATMUL", 0, 0, {3, 3}, {48, 64}, EXTRA(TRANSPOSED)},                          \
        {"CONV_2D", 0, S8 | S16, {28, 28}, {64, 80}, EXTRA(CHANNELS)},                        \
        {"CONV_2D", 0, 0, {28, 28}, {64, 80}, EXTRA(NOTHING)},                                \
        {"DEPTHWISE_CONV_2D", 0, S8 | S16, {28, 28}, {64, 80}, EXTRA(CHANNELS)},              \
        {"DEPTHWISE_CONV_2D", 0, 0, {28, 28}, {64, 80}, EXTRA(NOTHING)},                      \
        {"FULLY_CONNECTED", 0, S8, {16, 16}, {80, 96}, EXTRA(connected)},                     \
        {"FULLY_CONNECTED", 0, 0, {16, 16}, {80, 96}, EXTRA(SCALES)},                         \
        {"MAXIMUM", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},                                    \
        {"MAX_POOL_2D", 0, 0, {40, 40}, {48, 48}, EXTRA(NOTHING)},                            \
        {"MINIMUM", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},                                    \
        {"MUL", 0, 0, {4, 4}, {48, 48}, EXTRA(NOTHING)},                                      \
        {"PAD", 0, 0, {0, 0}, {64, 64}, EXTRA(NOTHING)},                                      \
        {"PADV2", 0, 0, {0, 0}, {64, 64}, EXTRA(NOTHING)},                                    \
        {"SOFTMAX", 0, S16, {4, 4}, {64, 96}, EXTRA(LOOKUP)},                                 \
        {"SOFTMAX", 0, 0, {4, 4}, {64, 96}, EXTRA(NOTHING)},                                  \
        {"SVDF", 0, S8, {12, 12}, {48, 48}, EXTRA(filters)},                                  \
        {"SVDF", 0, 0, {12, 12}, {48, 48}, EXTRA(NOTHING)},                                   \
        {"TRANSPOSE", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},                                  \
        {"TRANSPOSE_CONV", 0, 0, {20, 20}, {80, 96}, EXTRA(CHANNELS)},                        \
        {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, S8 | S16, {16, 16}, {912, 1008}, EXTRA(GATES)}, { \
        "UNIDIRECTIONAL_SEQUENCE_LSTM", 0, 0, {16, 16}, {912, 1008}, EXTRA(NOTHING)           \
    }

const arenaut_persistent_rule arn_cmsis_nn_persistent[] = {ROWS(SCALES, NOTHING), {.op = NULL}};
const arenaut_persistent_rule arn_cmsis_nn_mve_persistent[] = {ROWS(SCALES_SUMS, ROW_SUMS),
                                                               {.op = NULL}};
