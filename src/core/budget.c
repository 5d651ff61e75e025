/* Polls of a budget. They go up from part to whole, each of which maps the share of the time that
 * the part may use into its own, to the callback of the public call. */
#include "core/budget.h"

#include <stddef.h>

arn_budget arn_budget_make(uint64_t effort, arenaut_progress_fn progress, void *context) {
    return (arn_budget){
        .effort = effort, .progress = progress, .context = context, .until = ARN_BUDGET_ALL};
}

static bool is_watched(const arn_budget *budget) {
    while (budget->whole) budget = budget->whole;
    return budget->progress != NULL;
}

arn_budget arn_budget_part(arn_budget *whole, uint64_t effort, uint32_t from, uint32_t until) {
    return (arn_budget){.effort = effort, .whole = whole, .from = from, .until = until};
}

/* `share` of the budget as a share of the budget's whole. */
static uint32_t share_of_whole(const arn_budget *budget, uint32_t share) {
    if (share == 0 || share > ARN_BUDGET_ALL) share = ARN_BUDGET_ALL;
    return budget->from + (budget->until - budget->from) * share / ARN_BUDGET_ALL;
}

/* A stopped budget stays stopped: a part that ended may not have been polled last. */
static arenaut_verdict ask(const arn_budget *budget, arenaut_progress *progress) {
    const arn_budget *asked = budget;
    for (;; asked = asked->whole) {
        if (asked->verdict != ARENAUT_GO_ON) return asked->verdict;
        progress->share = share_of_whole(asked, progress->share);
        if (!asked->whole) break;
    }
    return asked->progress ? asked->progress(asked->context, progress) : ARENAUT_GO_ON;
}

static bool settle(arn_budget *budget, arenaut_verdict verdict) {
    for (arn_budget *b = budget; b && verdict == ARENAUT_INTERRUPTED; b = b->whole) {
        b->verdict = verdict;
    }
    budget->verdict = verdict;
    return verdict == ARENAUT_GO_ON;
}

static arenaut_progress nothing_yet(const char *planner) {
    return (arenaut_progress){
        .planner = planner, .best = ARENAUT_UNPLACED, .spill = ARENAUT_UNPLACED};
}

bool arn_budget_goes_on(arn_budget *budget) {
    arenaut_progress progress = nothing_yet("");
    budget->counted = 0;
    return settle(budget, ask(budget, &progress));
}

/* Time that is up for a share of the part is not up for all of it. */
static arenaut_verdict pass_on(void *context, const arenaut_progress *progress) {
    arn_budget *budget = context;
    arenaut_progress told = nothing_yet(progress->planner);
    told.share = progress->share;
    const bool of_all = progress->share == 0 || progress->share >= ARN_BUDGET_ALL;
    const arenaut_verdict verdict = ask(budget, &told);
    if (of_all || verdict == ARENAUT_INTERRUPTED) settle(budget, verdict);
    return verdict;
}

void arn_budget_lend(arn_budget *budget, arenaut_plan_options *options) {
    const bool watched = is_watched(budget), is_part = budget->whole != NULL;
    options->progress = is_part && watched ? pass_on : budget->progress;
    options->progress_context = is_part && watched ? budget : budget->context;
}
