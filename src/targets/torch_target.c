/* torch: exported graphs, planned as ExecuTorch would plan them once they are lowered.
 *
 * PyTorch itself gives every tensor memory of its own while it runs, and frees it behind its last
 * reader: a graph with another schedule, or with rematerialized ops, is judged by that. For plans
 * the baseline is the one runtime that plans such graphs ahead: ExecuTorch's default planner after
 * its pipeline, at its alignment. Unlike in a .pte, no layout is fixed yet: all methods share one
 * arena, and tensors shared by name have one place in a pool of their own. */
#include <arenaut/target.h>

extern const arenaut_target arn_target_torch;
const arenaut_target arn_target_torch = {
    .name = "torch",
    .summary = "torch.export graphs, as ExecuTorch lays them out; one arena for all methods",
    .format = "pt2",
    .align = 16,
    .round_sizes = true,
    .state_in_arena = true,
    .skip_untouched = true,
    .share_apart = true,
    .incumbent = "executorch-greedy",
    .plans_nothing = true,
};
