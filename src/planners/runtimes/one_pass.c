/* Replicas of runtimes that place each tensor once, in one order: ONNX Runtime, ggml and IREE's
 * compiler. They are data for placing/trial.c, as are the rows of greedy.c, but without gaps in
 * lives and hints, and with fewer features: those that a runtime does not have are withheld.
 *
 * If the first three of UNKNOWN are not in use, their plans are among the first trials of `auto`
 * already. Runtimes with more to them have files of their own. */
#include "planners/placing/trial.h"
#include "planners/run/planner_rows.h"

enum {
    UNKNOWN = ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS,
    HANDLES = UNKNOWN | ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_CAPACITY,
};

/* ONNX Runtime's memory pattern, the second of its two stages.
 *
 * The first run of a session is traced: buffers come in the order in which they come alive,
 * and each goes into the smallest gap between those alive then, the lowest of equals, or
 * behind all of them. One block of that size serves the runs that follow.
 *
 * The first stage hands a tensor's memory on to a later one of the same shape. Shapes are not in a
 * problem, so this is not done here; only the results written over an op's input are known: the
 * input lives on for them, and has no gaps in its life.
 *
 * The runtime rounds sizes up to 64 bytes. A problem with that alignment has the same result, since
 * gaps then begin and end at multiples of it. */
const arenaut_planner arn_planner_onnxruntime = {
    .name = "onnxruntime",
    .summary = "ONNX Runtime's memory pattern: in order of time, smallest gap",
    .handles = HANDLES,
    .run = arn_pass_run,
    .data = &(const arn_pass){"L", ARN_COLLAPSE | ARN_HULL, false, {.fit = ARN_BEST_FIT}},
    .attempt = &(const arn_attempt){ARN_TRY_ORDER | ARN_TRY_WHOLE, 5, UNKNOWN, NULL, arn_pass_make},
};

/* ggml: the allocator that llama.cpp and others plan their graphs with.
 *
 * It walks the graph and keeps a list of free blocks, sorted by address; a freed block is coalesced
 * with the free blocks next to it, so that these are just the gaps between live tensors. A tensor
 * goes into the smallest block that is large enough, the highest of equals. The last block, which
 * has no end, is used only if there is no other. The result of an op that may work in place takes
 * its operand's memory instead, and the rest of that is freed.
 *
 * One chunk of memory without a size limit, as most of its back ends have. The original rounds
 * sizes up to the alignment; see ONNX Runtime for why this is not done. */
const arenaut_planner arn_planner_ggml = {
    .name = "ggml",
    .summary = "ggml's graph allocator: in order of time, smallest free block",
    .handles = HANDLES,
    .run = arn_pass_run,
    .data = &(const arn_pass){"L", ARN_HULL, false, {.fit = ARN_HIGH_FIT, .share = true}},
    .attempt = &(const arn_attempt){ARN_TRY_ORDER | ARN_TRY_WHOLE, 5, UNKNOWN, NULL, arn_pass_make},
};

/* The layout that IREE's compiler gives the slab of a program (packStaticSlicesGreedily).
 *
 * Slices come in the order in which the compiler lists them, which is that of the ops that make
 * them. Each goes into the smallest gap between those placed before that are alive with it, the
 * lowest of equals, or behind all of them. Sizes are rounded up as offsets are; see ONNX Runtime
 * for why this is not done. A slab's length is rounded up too, as a pool that asks for it is. Slabs
 * are independent, so each may be a pool. */
const arenaut_planner arn_planner_iree = {
    .name = "iree",
    .summary = "IREE's slabs: in order of the program, smallest gap",
    .handles = HANDLES | ARENAUT_FEATURE_POOLS,
    .run = arn_pass_run,
    .data = &(const arn_pass){"", ARN_COLLAPSE | ARN_HULL, false, {.fit = ARN_BEST_FIT}},
};
