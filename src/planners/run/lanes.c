/* A deterministic parallel portfolio: runs tasks in lanes, each with a plan and a meter of its own,
 * and takes their results over in the order of the tasks.
 *
 * Tasks that come after one that reached the goal, or after the effort was spent, are cut short or
 * thrown away, so that the outcome is that of running them one after the other. Only the calling
 * thread calls the caller's callback: other threads note their results and wake it
 * (core/parallel.h). */
#include "planners/run/lanes.h"

#include <string.h>

#include "core/checked.h"

/* Fewer buffers than this are placed before another thread has begun. */
enum { FEW_BUFFERS = 500 };

/* ---- while tasks run ---- */

static bool is_wanted(const arn_lanes *lanes, const arn_lane *lane) {
    return lanes->verdict == ARENAUT_GO_ON && lane->task <= lanes->last;
}

/* Polls the caller's callback; only ever on its own thread. The reported figures only get better.
 */
static void poll(arn_lanes *lanes, const char *planner) {
    const arenaut_plan_options *options = lanes->meter->planning->options;
    if (!options->progress) return;
    arn_threads_lock(&lanes->threads);
    arenaut_progress progress = lanes->seen;
    arn_threads_unlock(&lanes->threads);
    progress.planner = planner;
    const arenaut_verdict verdict = options->progress(options->progress_context, &progress);
    arn_threads_lock(&lanes->threads);
    if (lanes->verdict == ARENAUT_GO_ON) lanes->verdict = verdict;
    arn_threads_unlock(&lanes->threads);
}

static void note(arenaut_progress *seen, const arenaut_progress *progress) {
    const arenaut_cost best = arn_plan_cost(seen->spill, seen->best);
    const arenaut_cost found = arn_plan_cost(progress->spill, progress->best);
    if (arenaut_costs_less(found, best)) {
        seen->spill = found.spill;
        seen->best = found.total;
    }
    seen->bound = arn_max_u64(seen->bound, progress->bound);
    seen->spill_bound = arn_max_u64(seen->spill_bound, progress->spill_bound);
    seen->effort = arn_max_u64(seen->effort, progress->effort);
}

/* The progress callback of a lane's meter. */
static arenaut_verdict on_progress(void *context, const arenaut_progress *progress) {
    arn_lane *lane = context;
    arn_lanes *lanes = lane->lanes;
    const bool is_caller = arn_threads_is_caller(&lanes->threads);
    arn_threads_lock(&lanes->threads);
    note(&lanes->seen, progress);
    if (!is_caller) arn_threads_wake(&lanes->threads);
    arn_threads_unlock(&lanes->threads);
    if (is_caller) poll(lanes, progress->planner);
    arn_threads_lock(&lanes->threads);
    const bool wanted = is_wanted(lanes, lane);
    arn_threads_unlock(&lanes->threads);
    return wanted ? ARENAUT_GO_ON : ARENAUT_INTERRUPTED;
}

static void watch(void *context) {
    arn_lanes *lanes = context;
    poll(lanes, lanes->meter->planner);
}

static void run_in_lane(void *context, uint32_t index) {
    arn_lanes *lanes = context;
    arn_lane *lane = &lanes->lane[index];
    arn_threads_lock(&lanes->threads);
    const bool wanted = is_wanted(lanes, lane);
    arn_threads_unlock(&lanes->threads);
    if (!wanted) return;
    lane->status = lanes->run(lanes->context, lane->task, lane);
    if (!arn_meter_at_goal(&lane->meter)) return;
    /* There is nothing left to gain for those behind it. */
    arn_threads_lock(&lanes->threads);
    if (lane->task < lanes->last) lanes->last = lane->task;
    arn_threads_unlock(&lanes->threads);
}

/* ---- before and after ---- */

void arn_lanes_open(arn_lanes *lanes, arn_meter *meter) {
    const arenaut_planning *planning = meter->planning;
    memset(lanes, 0, sizeof *lanes);
    lanes->meter = meter;
    lanes->seen.best = lanes->seen.spill = ARENAUT_UNPLACED;
    lanes->next_report = ARN_REPORT_EVERY;
    meter->next_report = UINT64_MAX; /* lanes report, not the meter of all */
    lanes->n = planning->options->threads;
    if (lanes->n > ARN_MOST_LANES) lanes->n = ARN_MOST_LANES;
    if (lanes->n < 1 || planning->problem->n_buffers < FEW_BUFFERS) lanes->n = 1;
    arn_threads_init(&lanes->threads, lanes->n);
    lanes->safe = arn_share_allocator(&lanes->shared, &lanes->threads, planning->allocator);
    lanes->allocator = &lanes->safe;
}

void arn_lanes_close(arn_lanes *lanes) {
    for (uint32_t i = 0; i < ARN_MOST_LANES; i++) arenaut_plan_free(lanes->lane[i].planning.plan);
    arn_threads_free(&lanes->threads);
}

static void copy_places(const arenaut_plan *from, arenaut_plan *to) {
    memcpy(to->pool, from->pool, from->n_buffers * sizeof *to->pool);
    memcpy(to->offset, from->offset, from->n_buffers * sizeof *to->offset);
}

static void copy_bounds(const arenaut_plan *from, arenaut_plan *to) {
    to->total_bound = from->total_bound;
    to->spill_bound = from->spill_bound;
    memcpy(to->lower_bound, from->lower_bound, from->n_pools * sizeof *to->lower_bound);
}

static arenaut_status open_lane(arn_lanes *lanes, arn_lane *lane) {
    const arenaut_planning *all = lanes->meter->planning;
    if (lane->planning.plan) return ARENAUT_OK;
    lane->lanes = lanes;
    lane->index = (uint32_t)(lane - lanes->lane);
    lane->options = *all->options;
    if (lanes->threads.parallel || lane->options.progress) {
        lane->options.progress = on_progress;
        lane->options.progress_context = lane;
    }
    lane->planning = *all;
    lane->planning.options = &lane->options;
    lane->planning.allocator = lanes->allocator;
    lane->planning.err = &lane->err;
    lane->planning.plan = NULL;
    return arenaut_plan_new(all->plan->n_buffers, all->plan->n_pools, lanes->allocator,
                            &lane->planning.plan, all->err);
}

static arenaut_status prepare(arn_lanes *lanes, arn_lane *lane, uint32_t task) {
    const arenaut_status st = open_lane(lanes, lane);
    if (st != ARENAUT_OK) return st;
    const arn_meter *meter = lanes->meter;
    arenaut_plan *plan = lane->planning.plan;
    copy_bounds(meter->planning->plan, plan);
    copy_places(meter->planning->plan, plan);
    plan->quality = ARENAUT_FEASIBLE;
    lane->task = task;
    lane->started = meter->spent;
    lane->status = ARENAUT_OK;
    lane->meter = *meter;
    lane->meter.planning = &lane->planning;
    lane->meter.best = lanes->best;
    lane->meter.goal = lanes->goal;
    lane->meter.stopped = false;
    lane->meter.next_report = meter->spent + ARN_REPORT_EVERY;
    return ARENAUT_OK;
}

/* Makes a lane's outcome the outcome of all, as if its task had begun only now. */
static arenaut_status take_over(arn_lanes *lanes, const arn_lane *lane, bool within_effort) {
    arn_meter *meter = lanes->meter;
    arenaut_plan *plan = meter->planning->plan;
    const arenaut_plan *found = lane->planning.plan;
    const uint64_t effort = lane->meter.spent - lane->started;
    if (lane->status != ARENAUT_OK) {
        if (meter->planning->err) *meter->planning->err = lane->err;
        return lane->status;
    }
    meter->planner = lane->meter.planner;
    if (within_effort && arn_meter_has_plan(meter) && effort >= meter->limit - meter->spent) {
        arn_meter_spend(meter, meter->limit - meter->spent);
        return ARENAUT_OK;
    }
    const arenaut_cost bound = arn_plan_cost(plan->spill_bound, plan->total_bound);
    const arenaut_cost raised = arn_plan_cost(found->spill_bound, found->total_bound);
    if (arenaut_costs_less(bound, raised)) {
        copy_bounds(found, plan);
        arn_meter_raise_goal(meter);
    }
    if (found->quality == ARENAUT_INFEASIBLE) plan->quality = ARENAUT_INFEASIBLE;
    if (arn_meter_improves(meter, lane->meter.best)) {
        copy_places(found, plan);
        plan->planner = found->planner;
        meter->best = lane->meter.best;
    }
    arn_meter_spend(meter, effort);
    return ARENAUT_OK;
}

static bool is_over(const arn_lanes *lanes, bool within_effort) {
    const arn_meter *meter = lanes->meter;
    if (meter->planning->plan->quality == ARENAUT_INFEASIBLE) return true;
    if (lanes->verdict != ARENAUT_GO_ON) return true;
    if (!arn_meter_has_plan(meter)) return false;
    if (arn_meter_at_goal(meter)) return true;
    return meter->stopped && (within_effort || meter->why != ARENAUT_STOP_EFFORT);
}

/* Tasks that are too short to report by themselves are reported together. */
static void report(arn_lanes *lanes) {
    const arn_meter *meter = lanes->meter;
    if (meter->spent < lanes->next_report) return;
    const arenaut_progress progress = arn_meter_progress(meter);
    lanes->next_report = meter->spent + ARN_REPORT_EVERY;
    note(&lanes->seen, &progress);
    poll(lanes, meter->planner);
}

/* Runs so many tasks, one in each lane. */
static arenaut_status run_wave(arn_lanes *lanes, uint32_t n, bool within_effort) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        st = prepare(lanes, &lanes->lane[i], lanes->first_task + i);
    }
    if (st != ARENAUT_OK) return st;
    arn_threads_run(&lanes->threads, lanes->n, n, run_in_lane, watch, lanes);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        /* After a stop, the results so far still count. */
        if (lanes->verdict == ARENAUT_GO_ON && is_over(lanes, within_effort)) break;
        st = take_over(lanes, &lanes->lane[i], within_effort);
    }
    if (st == ARENAUT_OK && lanes->verdict == ARENAUT_GO_ON) report(lanes);
    if (lanes->verdict == ARENAUT_OUT_OF_TIME) arn_meter_stop(lanes->meter, ARENAUT_STOP_TIME);
    if (lanes->verdict == ARENAUT_INTERRUPTED) {
        arn_meter_stop(lanes->meter, ARENAUT_STOP_INTERRUPT);
    }
    return st;
}

static arenaut_status run_batch(arn_lanes *lanes, uint32_t n_tasks, arn_lane_task task,
                                void *context, bool within_effort) {
    arenaut_status st = ARENAUT_OK;
    lanes->run = task;
    lanes->context = context;
    lanes->best = lanes->meter->best;
    lanes->goal = lanes->meter->goal;
    lanes->last = UINT32_MAX;
    lanes->first_task = 0;
    while (lanes->first_task < n_tasks && st == ARENAUT_OK && !is_over(lanes, within_effort)) {
        const uint32_t left = n_tasks - lanes->first_task;
        const uint32_t room = within_effort || lanes->n == 1 ? lanes->n : ARN_MOST_LANES;
        const uint32_t wave = left < room ? left : room;
        st = run_wave(lanes, wave, within_effort);
        lanes->first_task += wave;
    }
    return st;
}

arenaut_status arn_lanes_try(arn_lanes *lanes, uint32_t n_tasks, arn_lane_task task,
                             void *context) {
    return run_batch(lanes, n_tasks, task, context, true);
}

arenaut_status arn_lanes_search(arn_lanes *lanes, uint32_t n_tasks, arn_lane_task task,
                                void *context) {
    return run_batch(lanes, n_tasks, task, context, false);
}
