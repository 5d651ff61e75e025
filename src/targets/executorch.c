/* executorch: the runtime that loads .pte programs, with its portable kernels. It allocates
 * the arenas that a file states for each method and obeys the places in it. */
#include <arenaut/target.h>

/* Kernels that read each element of this operand before they write the result's there, with
 * operands and result of one shape and type. Operands may be of a type that is computed in
 * another one, element by element, which changes nothing. Only what the tests run in place
 * in the stock runtime is listed; the pass takes further rules from its caller. */
static const arenaut_in_place_rule in_place[] = {
    {"aten::relu.out", 0, 0, false},
    {"aten::sigmoid.out", 0, 0, false},
    {"aten::tanh.out", 0, 0, false},
    {"aten::exp.out", 0, 0, false},
    {"aten::neg.out", 0, 0, false},
    {"aten::add.out", 0, 0, false},
    {"aten::add.out", 1, 0, false},
    {"aten::sub.out", 0, 0, false},
    {"aten::sub.out", 1, 0, false},
    {"aten::mul.out", 0, 0, false},
    {"aten::mul.out", 1, 0, false},
    {NULL, 0, 0, false},
};

extern const arenaut_target arn_target_executorch;
const arenaut_target arn_target_executorch = {
    .name = "executorch",
    .summary = "ExecuTorch with portable kernels: 16-byte blocks, the arenas that the file states",
    .format = "pte",
    .align = 16,
    .round_sizes = true,
    .state_in_arena = true,
    .arena_per_method = true,
    .keep_memories = true,
    .incumbent = "executorch-greedy",
    .plan_in_file = true,
    .in_place = in_place,
};
