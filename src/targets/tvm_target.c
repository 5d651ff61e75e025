/* tvm: TVM's graph executor. Before the first run it allocates a block for each storage id,
 * so that addresses within one are not to be had; kernels get blocks that are aligned. */
#include <arenaut/target.h>

extern const arenaut_target arn_target_tvm;
const arenaut_target arn_target_tvm = {
    .name = "tvm",
    .summary = "TVM graph executor: a block of memory for each storage id",
    .format = "tvm-json",
    .align = 1,
    .keep_inputs = true,
    .state_in_arena = true,
    .skip_untouched = true,
    .keep_memories = true,
    .tokens = true,
    .offsets = "tvm-offsets",
    .op_order = true,
    .incumbent = "tvm-tokens",
    .plan_in_file = true,
};

/* tvm-offsets: TVM's graphs, run from one arena, with a place for each value. No graph executor
 * takes places; compiled ahead of time they do. */

extern const arenaut_target arn_target_tvm_offsets;
const arenaut_target arn_target_tvm_offsets = {
    .name = "tvm-offsets",
    .summary = "TVM graphs in one arena: 64-byte blocks at any offset",
    .align = 64,
    .round_sizes = true,
    .keep_inputs = true,
    .state_in_arena = true,
    .skip_untouched = true,
    .op_order = true,
    .incumbent = "tvm-tokens",
};
