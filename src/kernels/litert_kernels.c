/* litert: LiteRT has kernels for many machines; what is said here is what its own planner relies on
 * with all of them. */
#include <arenaut/kernels.h>

/* What its own planner writes over an operand. Ops that only rename memory come first. */
static const arenaut_in_place_rule in_place[] = {
    {"RESHAPE", 0, 0, true},  {"SQUEEZE", 0, 0, true},      {"EXPAND_DIMS", 0, 0, true},
    {"BITCAST", 0, 0, true},  {"ADD", 0, 0, false},         {"ADD", 1, 0, false},
    {"SUB", 0, 0, false},     {"SUB", 1, 0, false},         {"MUL", 0, 0, false},
    {"MUL", 1, 0, false},     {"DIV", 0, 0, false},         {"DIV", 1, 0, false},
    {"SOFTMAX", 0, 0, false}, {"LOG_SOFTMAX", 0, 0, false}, {"DYNAMIC_UPDATE_SLICE", 0, 0, false},
    {NULL, 0, 0, false},
};

extern const arenaut_kernel_set arn_kernels_litert;
const arenaut_kernel_set arn_kernels_litert = {
    .name = "litert",
    .summary = "what LiteRT without delegates writes over an operand itself",
    .in_place = in_place,
};
