/* tvm-offsets: TVM's graphs, run from one arena, with a place for each value. No graph executor
 * takes places; compiled ahead of time they do. */
#include <arenaut/target.h>

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
