/* litert: the interpreter for phones and servers. It plans by itself at load time and
 * takes no plan from a file; what is planned here says what it will need. */
#include <arenaut/target.h>

/* What its own planner writes over an operand. Ops that only rename memory come first. */
static const arenaut_in_place_rule in_place[] = {
    {"RESHAPE", 0, 0, true},  {"SQUEEZE", 0, 0, true},      {"EXPAND_DIMS", 0, 0, true},
    {"BITCAST", 0, 0, true},  {"ADD", 0, 0, false},         {"ADD", 1, 0, false},
    {"SUB", 0, 0, false},     {"SUB", 1, 0, false},         {"MUL", 0, 0, false},
    {"MUL", 1, 0, false},     {"DIV", 0, 0, false},         {"DIV", 1, 0, false},
    {"SOFTMAX", 0, 0, false}, {"LOG_SOFTMAX", 0, 0, false}, {"DYNAMIC_UPDATE_SLICE", 0, 0, false},
    {NULL, 0, 0, false},
};

extern const arenaut_target arn_target_litert;
const arenaut_target arn_target_litert = {
    .name = "litert",
    .summary = "LiteRT without delegates: 64-byte offsets, inputs and outputs kept",
    .align = 64,
    .keep_inputs = true,
    .arena_per_method = true,
    .skip_untouched = true,
    .incumbent = "tflite-arena",
    .in_place = in_place,
};
