/* executorch-joint: the ExecuTorch runtime where the application gives all methods, of one program
 * or of several, the same memories (one MemoryManager's spans, or a Module that shares its arenas).
 * State of one name has memory of its own there, behind the others. */
#include <arenaut/target.h>

extern const arenaut_kernel_set arn_kernels_portable;
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
