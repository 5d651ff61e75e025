/* litert: LiteRT has kernels for many machines; the rules here are the assumptions of its own
 * planner for all of them. */
#include <arenaut/kernels.h>

/* Results that its own planner writes over an operand. Ops that only rename memory come first. */
static const arenaut_in_place_rule in_place[] = {
    {"RESHAPE", 0, 0, true},  {"SQUEEZE", 0, 0, true},      {"EXPAND_DIMS", 0, 0, true},
    {"BITCAST", 0, 0, true},  {"ADD", 0, 0, false},         {"ADD", 1, 0, false},
    {"SUB", 0, 0, false},     {"SUB", 1, 0, false},         {"MUL", 0, 0, false},
    {"MUL", 1, 0, false},     {"DIV", 0, 0, false},         {"DIV", 1, 0, false},
    {"SOFTMAX", 0, 0, false}, {"LOG_SOFTMAX", 0, 0, false}, {"DYNAMIC_UPDATE_SLICE", 0, 0, false},
    {NULL, 0, 0, false},
};

/* No kernel for any type: the op resolver of the wheel has no version of these operators. Of the
 * others it has some, and which types those take is not known. */
#define NONE_OF(name) \
    {.op = name, .refused = (UINT32_C(1) << ARENAUT_DTYPE_COUNT) - 1, .measured = true}
static const arenaut_type_rule types[] = {
    NONE_OF("CALL"),
    NONE_OF("CONCAT_EMBEDDINGS"),
    NONE_OF("STABLEHLO_ABS"),
    NONE_OF("STABLEHLO_BROADCAST_IN_DIM"),
    NONE_OF("STABLEHLO_CBRT"),
    NONE_OF("STABLEHLO_CLAMP"),
    NONE_OF("STABLEHLO_COMPARE"),
    NONE_OF("STABLEHLO_CONCATENATE"),
    NONE_OF("STABLEHLO_CONVERT"),
    NONE_OF("STABLEHLO_CONVOLUTION"),
    NONE_OF("STABLEHLO_COSINE"),
    NONE_OF("STABLEHLO_CUSTOM_CALL"),
    NONE_OF("STABLEHLO_DIVIDE"),
    NONE_OF("STABLEHLO_DOT_GENERAL"),
    NONE_OF("STABLEHLO_DYNAMIC_SLICE"),
    NONE_OF("STABLEHLO_DYNAMIC_UPDATE_SLICE"),
    NONE_OF("STABLEHLO_EXPONENTIAL"),
    NONE_OF("STABLEHLO_FLOOR"),
    NONE_OF("STABLEHLO_IOTA"),
    NONE_OF("STABLEHLO_LOG"),
    NONE_OF("STABLEHLO_LOGISTIC"),
    NONE_OF("STABLEHLO_NEGATE"),
    NONE_OF("STABLEHLO_OR"),
    NONE_OF("STABLEHLO_POWER"),
    NONE_OF("STABLEHLO_REDUCE"),
    NONE_OF("STABLEHLO_REMAINDER"),
    NONE_OF("STABLEHLO_RESHAPE"),
    NONE_OF("STABLEHLO_RSQRT"),
    NONE_OF("STABLEHLO_SELECT"),
    NONE_OF("STABLEHLO_SLICE"),
    NONE_OF("STABLEHLO_SORT"),
    NONE_OF("STABLEHLO_SUBTRACT"),
    NONE_OF("STABLEHLO_TANH"),
    NONE_OF("STABLEHLO_TRANSPOSE"),
    NONE_OF("STABLEHLO_WHILE"),
    {.op = NULL},
};

extern const arenaut_kernel_set arn_kernels_litert;
const arenaut_kernel_set arn_kernels_litert = {
    .name = "litert",
    .summary = "results that LiteRT without delegates writes over an operand itself",
    .version = "ai-edge-litert 2.3.0",
    .in_place = in_place,
    .types = types,
};
