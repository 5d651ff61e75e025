/* The effort budget of a search: counts the effort, keeps the cost of the best plan, and stops the
 * search when the budget is spent, when the goal is reached, or when the caller's callback says so.
 * All in O(1); progress is reported at most every ARN_REPORT_EVERY. */
#include "planners/run/meter.h"

#include "core/fail.h"

arn_meter arn_meter_start(arenaut_planning *planning, const char *planner) {
    const arenaut_plan_options *options = planning->options;
    arn_meter meter = {.planning = planning, .planner = planner, .limit = options->effort};
    meter.next_report = ARN_REPORT_EVERY;
    meter.best = ARN_NO_PLAN;
    arn_meter_raise_goal(&meter);
    meter.why = ARENAUT_STOP_PROOF;
    return meter;
}

/* The goal is to fit into a capacity, and the capacity is in the problem. */
void arn_meter_raise_goal(arn_meter *meter) {
    const arenaut_plan *plan = meter->planning->plan;
    meter->goal = meter->planning->options->capacity
                      ? ARN_ANY_PLAN
                      : arn_plan_cost(plan->spill_bound, plan->total_bound);
}

void arn_meter_stop(arn_meter *meter, arenaut_stop why) {
    if (meter->stopped && meter->why != ARENAUT_STOP_EFFORT) return;
    meter->stopped = true;
    meter->why = why;
}

arenaut_progress arn_meter_progress(const arn_meter *meter) {
    const arenaut_plan *plan = meter->planning->plan;
    return (arenaut_progress){.planner = meter->planner,
                              .best = meter->best.total,
                              .bound = plan->total_bound,
                              .effort = meter->spent,
                              .spill = meter->best.spill,
                              .spill_bound = plan->spill_bound};
}

static void report(arn_meter *meter) {
    const arenaut_plan_options *options = meter->planning->options;
    if (!options->progress) return;
    const arenaut_progress progress = arn_meter_progress(meter);
    const arenaut_verdict verdict = options->progress(options->progress_context, &progress);
    if (verdict == ARENAUT_OUT_OF_TIME) arn_meter_stop(meter, ARENAUT_STOP_TIME);
    if (verdict == ARENAUT_INTERRUPTED) arn_meter_stop(meter, ARENAUT_STOP_INTERRUPT);
}

bool arn_meter_spend(arn_meter *meter, uint64_t effort) {
    meter->spent += effort;
    if (meter->spent >= meter->next_report) {
        meter->next_report = meter->spent + ARN_REPORT_EVERY;
        report(meter);
    }
    if (meter->spent >= meter->limit) arn_meter_stop(meter, ARENAUT_STOP_EFFORT);
    return arn_meter_goes_on(meter);
}

static arenaut_verdict poll_caller(void *context) {
    arn_meter *meter = context;
    report(meter);
    if (!arn_meter_was_stopped(meter)) return ARENAUT_GO_ON;
    return meter->why == ARENAUT_STOP_TIME ? ARENAUT_OUT_OF_TIME : ARENAUT_INTERRUPTED;
}

arn_poll *arn_meter_poll(arn_meter *meter) {
    if (meter->poll.context != meter) {
        const arn_poll poll = {.callback = poll_caller, .context = meter};
        meter->poll = poll;
    }
    return &meter->poll;
}

bool arn_meter_was_stopped(const arn_meter *meter) {
    return meter->stopped && meter->why != ARENAUT_STOP_EFFORT;
}

bool arn_meter_wants_plan(const arn_meter *meter) {
    if (!arn_meter_has_plan(meter)) return !arn_meter_was_stopped(meter);
    return arn_meter_goes_on(meter);
}

void arn_meter_allow(arn_meter *meter, uint64_t effort) {
    const uint64_t limit = effort < UINT64_MAX - meter->spent ? meter->spent + effort : UINT64_MAX;
    if (meter->limit < limit) meter->limit = limit;
    if (meter->why == ARENAUT_STOP_EFFORT) meter->stopped = false;
}

bool arn_meter_goes_on(const arn_meter *meter) {
    return !meter->stopped && !arn_meter_at_goal(meter);
}

bool arn_meter_has_plan(const arn_meter *meter) { return arn_is_plan(meter->best); }

bool arn_meter_at_goal(const arn_meter *meter) {
    return arn_is_plan(meter->best) && !arenaut_costs_less(meter->goal, meter->best);
}

bool arn_meter_improves(const arn_meter *meter, arenaut_cost cost) {
    return arenaut_costs_less(cost, meter->best);
}

void arn_meter_improved(arn_meter *meter, arenaut_cost cost) {
    meter->best = cost;
    meter->planning->plan->planner = meter->planner;
    report(meter);
}

arenaut_status arn_meter_finish(arn_meter *meter) {
    arenaut_plan *plan = meter->planning->plan;
    plan->effort = meter->spent;
    plan->stopped_by = arn_meter_at_goal(meter) ? ARENAUT_STOP_PROOF : meter->why;
    if (arn_meter_has_plan(meter)) return ARENAUT_OK;
    if (meter->stopped) {
        return arn_fail(meter->planning->err, ARENAUT_STOPPED, 0,
                        "planner '%s' was stopped before it found a plan within the capacities of "
                        "the pools",
                        meter->planner);
    }
    return arn_fail(meter->planning->err, ARENAUT_NOT_FOUND, 0,
                    "planner '%s' found no plan within the capacities of the pools, although "
                    "there may be one",
                    meter->planner);
}
