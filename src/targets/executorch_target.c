/* executorch: the runtime that loads .pte programs, with its portable kernels. It allocates
 * the arenas that a file states for each method and obeys the places in it. */
#include <arenaut/target.h>

extern const arenaut_kernel_set arn_kernels_portable;
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
    .kernels = &arn_kernels_portable,
    .joint = "executorch-joint",
    .naming =
        "only buffers that a method changes have names, and only where it is exported with "
        "ExecutorchBackendConfig(emit_mutable_buffer_names=True); methods that only read one "
        "are exported together with those that change it, by "
        "MemoryPlanningPass(share_mutable_buffers=True)",
};

/* executorch-joint: the ExecuTorch runtime where the application gives all methods, of one program
 * or of several, the same memories (one MemoryManager's spans, or a Module that shares its arenas).
 * State of one name has memory of its own there, behind the others. */

extern const arenaut_target arn_target_executorch_joint;
const arenaut_target arn_target_executorch_joint = {
    .name = "executorch-joint",
    .summary = "the same where all methods get the same memories: one for state that they share",
    .align = 16,
    .round_sizes = true,
    .state_in_arena = true,
    .share_apart = true,
    .keep_memories = true,
    .incumbent = "executorch-greedy",
    .plan_in_file = true,
    .kernels = &arn_kernels_portable,
};
