/* auto: a portfolio of all planners. First the heuristics of the table, which settle most problems
 * at once; then exact search; and if a problem is too large for that, exact search of the hot zone,
 * more orders, and local search, until the bound or the effort is reached. */
#include "core/checked.h"
#include "planners/bounds/bounds.h"
#include "planners/exact/exact.h"
#include "planners/exact_lane.h"
#include "planners/run/planner_rows.h"
#include "planners/search/search.h"

static bool is_done(const arn_meter *meter) {
    const bool impossible = meter->planning->plan->quality == ARENAUT_INFEASIBLE;
    return impossible || arn_meter_at_goal(meter) || arn_meter_was_stopped(meter);
}

/* Of many buffers, a little of both searches comes before much of the exact one: a problem that is
 * easy for one of them may keep the other busy. */
enum { MANY_BUFFERS = 600, FIRST_EXACT = 1 << 16, FIRST_CLIMBS = 1 << 20 };

typedef struct plan_search {
    arn_lanes *lanes;
    arn_hill_climbs *climbs;
    uint64_t pairs; /* see search/search.h */
    uint64_t share; /* of the effort, for local search */
} plan_search;

static arenaut_status climb_for(plan_search *s, uint64_t effort) {
    if (!arn_hill_climbs_can_move(s->lanes->meter->planning->problem, effort)) return ARENAUT_OK;
    return arn_hill_climbs_run(s->climbs, s->lanes, effort, NULL, NULL);
}

static bool can_search_exactly(const plan_search *s) {
    const arenaut_problem *p = s->lanes->meter->planning->problem;
    const uint32_t features = arn_problem_features(p);
    const uint32_t handles = ARN_EXACT_HANDLES | ARN_EXACT_RELATIONS | ARENAUT_FEATURE_POOLS;
    if (features & ~handles) return false;
    /* These make for fewer pairs than were counted: let the search decide. */
    const uint32_t fewer = ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_POOLS | ARN_EXACT_RELATIONS;
    return features & fewer || s->pairs <= (uint64_t)ARN_EXACT_MOST_PAIRS + p->n_buffers;
}

/* Each pool by itself, as the best plan uses it. */
static arenaut_status search_pools(plan_search *s) {
    const arn_meter *meter = s->lanes->meter;
    const uint32_t n_pools = meter->planning->problem->n_pools;
    arn_exact_task task = {.effort = meter->planning->options->effort / n_pools + 1};
    arenaut_status st = ARENAUT_OK;
    for (; task.pool < n_pools && st == ARENAUT_OK && !is_done(meter); task.pool++) {
        if (!arn_meter_has_plan(meter) || task.refused) break;
        st = arn_lanes_search(s->lanes, 1, arn_exact_in_lane, &task);
    }
    return st;
}

static arenaut_status search_a_little(plan_search *s) {
    arn_meter *meter = s->lanes->meter;
    const uint64_t effort = meter->planning->options->effort;
    arn_exact_task task = {.pool = ARENAUT_NONE, .effort = arn_min_u64(FIRST_EXACT, effort)};
    const arenaut_status st = arn_lanes_search(s->lanes, 1, arn_exact_in_lane, &task);
    if (st != ARENAUT_OK || is_done(meter)) return st;
    return climb_for(s, arn_min_u64(FIRST_CLIMBS, s->share));
}

/* Exact search has the effort for itself: the table's rows have spent little. Local search runs
 * beside it. *refused: the problem is too large. */
static arenaut_status search_exactly(plan_search *s, bool *refused) {
    const arn_meter *meter = s->lanes->meter;
    const arenaut_problem *p = meter->planning->problem;
    arn_exact_task task = {.pool = ARENAUT_NONE, .effort = meter->planning->options->effort};
    arenaut_status st = ARENAUT_OK;
    *refused = !can_search_exactly(s);
    if (*refused) return ARENAUT_OK;
    if (p->n_pools > 1) {
        st = search_pools(s);
    } else if (p->n_buffers >= MANY_BUFFERS) {
        st = search_a_little(s);
    }
    if (st != ARENAUT_OK || is_done(meter)) return st;
    st = arn_hill_climbs_run(s->climbs, s->lanes, s->share, arn_exact_in_lane, &task);
    *refused = task.refused;
    return st;
}

/* In rounds of twice the effort each: exact search of the moments that decide, in the first round
 * more orders, and local search. The rounds do not depend on the effort, which only ends them, so
 * that more of it finds at least as much. */
enum { FIRST_ROUND = 1 << 20 };

static arenaut_status search_in_rounds(plan_search *s) {
    arn_meter *meter = s->lanes->meter;
    uint64_t effort = FIRST_ROUND, climbed = 0, before;
    arenaut_status st = ARENAUT_OK;
    do {
        before = meter->spent;
        st = arn_hot_zones(s->lanes, effort);
        if (st == ARENAUT_OK && effort == FIRST_ROUND) st = arn_portfolio_rest(s->lanes, s->pairs);
        if (st != ARENAUT_OK || !arn_meter_goes_on(meter)) break;
        climbed += arn_min_u64(effort / 4, meter->limit - meter->spent);
        st = climb_for(s, climbed);
        if (effort < UINT64_MAX / 2) effort *= 2;
    } while (st == ARENAUT_OK && arn_meter_goes_on(meter) && meter->spent > before);
    return st == ARENAUT_OK && !is_done(meter) && climbed < s->share ? climb_for(s, s->share) : st;
}

static arenaut_status search(arn_lanes *lanes, uint64_t pairs) {
    const uint64_t share = arn_local_search_share(lanes->meter->planning->options->effort);
    plan_search s = {lanes, NULL, pairs, share};
    bool refused = false;
    arenaut_status st = arn_hill_climbs_new(lanes, &s.climbs);
    if (st == ARENAUT_OK) st = search_exactly(&s, &refused);
    if (st == ARENAUT_OK && refused && !is_done(lanes->meter)) st = search_in_rounds(&s);
    arn_hill_climbs_free(s.climbs);
    return st;
}

/* If memory comes in whole tokens there is nothing to place: the attempts of the rows that handle
 * tokens. The first leaves nothing to gain, mostly; the others take next to no time, and have an
 * answer also if the first was stopped, or has too many buffers to look at. */
static arenaut_status plan_tokens(arenaut_planning *planning, arn_meter *meter) {
    const arenaut_planner *row[ARN_PLANNERS];
    const uint32_t n = arn_rows_to_try(ARN_TRY_TOKENS, row);
    for (uint32_t i = 0; i < n && !arn_meter_at_goal(meter); i++) {
        if (!arn_row_suits(row[i], planning->problem)) continue;
        const arenaut_status st = arn_row_try(row[i], planning, meter);
        if (st != ARENAUT_OK || planning->plan->quality == ARENAUT_INFEASIBLE) return st;
    }
    return arn_meter_finish(meter);
}

/* Whole tokens are seldom better than places of one's own, but if pools are small, and the effort
 * was too little for the search, they may be. */
static arenaut_status try_with_pools(arenaut_planning *planning, arn_meter *meter) {
    const arenaut_planner *row[ARN_PLANNERS];
    const uint32_t n = arn_rows_to_try(ARN_TRY_POOLS, row);
    if (!arenaut_problem_chooses_pools(planning->problem)) return ARENAUT_OK;
    for (uint32_t i = 0; i < n && !is_done(meter); i++) {
        if (!arn_row_suits(row[i], planning->problem)) continue;
        const arenaut_status st = arn_row_try(row[i], planning, meter);
        if (st != ARENAUT_OK) return st;
        arn_meter_stop(meter, ARENAUT_STOP_EFFORT);
    }
    return ARENAUT_OK;
}

static arenaut_status try_overlaps(arenaut_planning *planning, arn_meter *meter) {
    const arenaut_planner *row[ARN_PLANNERS];
    const uint32_t n = arn_rows_to_try(ARN_TRY_OVERLAP, row);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK && !is_done(meter); i++) {
        if (arn_row_suits(row[i], planning->problem)) st = arn_row_try(row[i], planning, meter);
    }
    return st;
}

/* If buffers may overlap, only the rows that handle separations are of use. */
static arenaut_status plan_overlaps(arenaut_planning *planning, arn_meter *meter) {
    const arenaut_status st = try_overlaps(planning, meter);
    if (st != ARENAUT_OK || planning->plan->quality == ARENAUT_INFEASIBLE) return st;
    return arn_meter_finish(meter);
}

/* With little effort it is luck what a search finds, and that of overlaps, which decides pair by
 * pair, may have more of it. Where buffers choose between pools, it would begin with this planner.
 */
static arenaut_status try_with_little_effort(arenaut_planning *planning, arn_meter *meter) {
    const bool little = planning->options->effort < FIRST_EXACT;
    if (!little || arenaut_problem_chooses_pools(planning->problem)) return ARENAUT_OK;
    return try_overlaps(planning, meter);
}

/* If it is stopped before there is any plan, the one that is made at once will do. */
static arenaut_status finish(arenaut_planning *planning, arn_meter *meter) {
    arenaut_status st = ARENAUT_OK;
    if (!arn_meter_has_plan(meter) && arn_meter_was_stopped(meter)) {
        st = arn_row_try(&arn_planner_naive, planning, meter);
    }
    return st == ARENAUT_OK ? arn_meter_finish(meter) : st;
}

static arenaut_status auto_run(const arenaut_planner *self, arenaut_planning *planning) {
    arenaut_status st = arn_settings_check(planning, self, NULL);
    arn_meter meter = arn_meter_start(planning, self->name);
    if (st == ARENAUT_OK && planning->problem->traits & ARENAUT_PROBLEM_TOKENS) {
        return plan_tokens(planning, &meter);
    }
    if (st == ARENAUT_OK && planning->problem->n_separations) {
        return plan_overlaps(planning, &meter);
    }
    uint64_t pairs = 0;
    arn_lanes lanes;
    if (st != ARENAUT_OK) return st;
    arn_lanes_open(&lanes, &meter);
    st = arn_portfolio_rows(&lanes, &pairs);
    if (st == ARENAUT_OK && !is_done(&meter)) st = arn_assign_pools(&lanes, pairs);
    if (st == ARENAUT_OK && !is_done(&meter)) {
        st = search(&lanes, pairs);
        arn_meter_stop(&meter, ARENAUT_STOP_EFFORT);
    }
    arn_lanes_close(&lanes);
    if (st != ARENAUT_OK || planning->plan->quality == ARENAUT_INFEASIBLE) return st;
    if (self != &arn_auto_of_tokens) st = try_with_pools(planning, &meter);
    if (st == ARENAUT_OK) st = try_with_little_effort(planning, &meter);
    if (st != ARENAUT_OK || planning->plan->quality == ARENAUT_INFEASIBLE) return st;
    st = finish(planning, &meter);
    /* Places are compared pair by pair. */
    const bool few = pairs <= ARN_EXACT_MOST_PAIRS && planning->problem->n_buffers <= MANY_BUFFERS;
    return st == ARENAUT_OK && few ? arn_exact_keep_earlier(planning) : st;
}

const arenaut_planner arn_auto_of_tokens = {
    .name = "auto", .handles = ARENAUT_FEATURE_ALL, .run = auto_run};

const arenaut_planner arn_planner_auto = {
    .name = "auto",
    .summary = "the best of all planners, until the bound or the effort is reached",
    .handles = ARENAUT_FEATURE_ALL | ARENAUT_FEATURE_TOKENS | ARENAUT_FEATURE_SEPARATIONS,
    .run = auto_run,
};
