/* The plain planners: each places all groups once, in one order, into one kind of gap. They differ
 * by data only, which placing/trial.c interprets and search/portfolio.c varies; O(n) placements of
 * O(spans alive) each. Replicas of runtimes
 * that work alike are in runtimes/one_pass.c. */
#include "planners/placing/trial.h"
#include "planners/run/planner_rows.h"

/* From large to small, equal ones in program order. Hard to beat among simple planners. */
const arenaut_planner arn_planner_greedy_by_size = {
    .name = "greedy-by-size",
    .summary = "from large to small, each in the lowest gap that is large enough",
    .handles = ARENAUT_FEATURE_ALL,
    .run = arn_pass_run,
    .data =
        &(const arn_pass){"Z", 0, false, {.fit = ARN_FIRST_FIT, .share = true, .keep_hints = true}},
    .attempt = &(const arn_attempt){.when = ARN_TRY_ORDER, .turn = 2},
};

/* Better than the lowest gap if sizes vary much. */
const arenaut_planner arn_planner_best_fit = {
    .name = "best-fit",
    .summary = "from large to small, each in the smallest gap that is large enough",
    .settings = ARN_ORDER_SETTING,
    .handles = ARENAUT_FEATURE_ALL,
    .run = arn_pass_run,
    .data =
        &(const arn_pass){"Z", 0, false, {.fit = ARN_BEST_FIT, .share = true, .keep_hints = true}},
    .attempt = &(const arn_attempt){.when = ARN_TRY_ORDER, .turn = 2},
};

/* In the order in which buffers come alive, unless another is asked for. */
const arenaut_planner arn_planner_first_fit = {
    .name = "first-fit",
    .summary = "in a given order, each in the lowest gap that is large enough",
    .settings = ARN_ORDER_SETTING,
    .handles = ARENAUT_FEATURE_ALL,
    .run = arn_pass_run,
    .data =
        &(const arn_pass){"L", 0, false, {.fit = ARN_FIRST_FIT, .share = true, .keep_hints = true}},
    .attempt = &(const arn_attempt){.when = ARN_TRY_ORDER, .turn = 4},
};

/* Steps with the largest load first, and of each the live buffers that have no place yet. Good if
 * the peak decides. */
const arenaut_planner arn_planner_greedy_by_breadth = {
    .name = "greedy-by-breadth",
    .summary = "steps with the most bytes alive first, then by size, in the smallest gap",
    .handles = ARENAUT_FEATURE_ALL,
    .run = arn_pass_run,
    .data = &(
        const arn_pass){"TPZ", 0, false, {.fit = ARN_BEST_FIT, .share = true, .keep_hints = true}},
    .attempt = &(const arn_attempt){.when = ARN_TRY_ORDER, .turn = 3},
};

/* Always fills the lowest place, with the first group in the order that can go there. The best
 * single pass on most problems, and so the first that `auto` makes. */
const arenaut_planner arn_planner_skyline = {
    .name = "skyline",
    .summary = "always fills the lowest place, by the order given",
    .settings = ARN_ORDER_SETTING,
    .handles = ARENAUT_FEATURE_ALL,
    .run = arn_pass_run,
    .data = &(const arn_pass){"TWA", 0, true, {.fit = ARN_FIRST_FIT, .share = true}},
    .attempt = &(const arn_attempt){.when = ARN_TRY_ORDER, .turn = 1},
};
