/* The table of targets, looked up by name; and the targets of runtimes that read no plan from a
 * file, in which a plan shows the bytes that they could need. */
#include <arenaut/target.h>

#include "core/table.h"

/* litert: the interpreter for phones and servers. It plans by itself at load time and takes no plan
 * from a file; a plan here shows the bytes that it could need. */

extern const arenaut_kernel_set arn_kernels_litert;
extern const arenaut_target arn_target_litert;
const arenaut_target arn_target_litert = {
    .name = "litert",
    .summary = "LiteRT without delegates: 64-byte offsets, inputs and outputs kept",
    .align = 64,
    .keep_inputs = true,
    .arena_per_method = true,
    .skip_untouched = true,
    .incumbent = "tflite-arena",
    .kernels = &arn_kernels_litert,
};

/* onnxruntime: ONNX Runtime on the CPU. It plans when a session starts and once more in its first
 * run, and takes no plan from a file; a plan here shows the bytes that it could need. */

extern const arenaut_target arn_target_onnxruntime;
const arenaut_target arn_target_onnxruntime = {
    .name = "onnxruntime",
    .summary = "ONNX Runtime on the CPU: offsets and sizes in steps of 64 bytes",
    .format = "onnx",
    .align = 64,
    .round_sizes = true,
    .state_in_arena = true,
    .skip_untouched = true,
    .incumbent = "onnxruntime",
};

/* iree: programs that IREE compiles for a CPU. Its compiler lays out one slab for all values that
 * live within a call; a plan here shows the size that this could have. */

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

/* torch: exported graphs, planned as ExecuTorch would plan them once they are lowered.
 *
 * PyTorch itself gives every tensor memory of its own while it runs, and frees it behind its last
 * reader: a graph with another schedule, or with rematerialized ops, is judged by that. For plans
 * the baseline is the one runtime that plans such graphs ahead: ExecuTorch's default planner after
 * its pipeline, at its alignment. Unlike in a .pte, no layout is fixed yet: all methods share one
 * arena, and tensors shared by name have one place in a pool of their own. */

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

/* generic: a runtime that obeys any plan. It needs no alignment, and its own plan counts as sharing
 * nothing (naive). */

extern const arenaut_target arn_target_generic;
const arenaut_target arn_target_generic = {
    .name = "generic",
    .summary = "any runtime: no rounding, inputs may be overwritten after their last use",
    .align = 1,
    .state_in_arena = true,
    .skip_untouched = true,
    .incumbent = "naive",
};

/* The table of targets, looked up by name; there are few, so one after the other. */

#define TARGET(id) extern const arenaut_target arn_target_##id;
#include "targets/targets.def"
#undef TARGET

static const arenaut_target *const all[] = {
#define TARGET(id) &arn_target_##id,
#include "targets/targets.def"
#undef TARGET
};

ARN_TABLE_LOOKUPS(target)

const arenaut_target *arenaut_target_for_format(const char *format) {
    for (size_t i = 0; i < arenaut_target_count(); i++) {
        if (format && all[i]->format && strcmp(all[i]->format, format) == 0) return all[i];
    }
    return arenaut_target_find("generic");
}
