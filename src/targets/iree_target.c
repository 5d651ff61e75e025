/* iree: programs that IREE compiles for a CPU. Its compiler lays out one slab for all values that
 * live within a call; a plan here shows the size that this could have. */
#include <arenaut/target.h>

extern const arenaut_target arn_target_iree;
const arenaut_target arn_target_iree = {
    .name = "iree",
    .summary = "IREE on the CPU: offsets and sizes in steps of 64 bytes",
    .format = "iree",
    .align = 64,
    .round_sizes = true,
    .state_in_arena = true,
    .skip_untouched = true,
    .incumbent = "iree",
};
