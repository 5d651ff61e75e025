/* local-search: late acceptance hill climbing (Burke, Bykov 2017) over the order in which the
 * skyline is filled.
 *
 * One group is moved to another place in the order; mostly one that ends at the top of the arena,
 * and mostly to the front. The new order is kept if its arena is not larger than the one before, or
 * than the one some dozens of tries ago, so that the search can leave a local optimum without a
 * temperature to be tuned. After long failure it goes back to the best order. Several such climbs
 * are made, from different orders; the seed decides all. */
#include "planners/search/search.h"

#include <string.h>

#include "core/fail.h"
#include "core/hash.h"
#include "planners/placing/trial.h"
#include "planners/run/planner_rows.h"

enum { MEMORY = 40, PATIENCE = 4000, CLIMBS = 4 };

/* Above this many groups only one climb: a single placement takes a while, and memory. */
enum { MOST_FOR_SEVERAL = 50000 };

typedef struct climb {
    arn_workspace space;
    arn_meter *meter; /* of the lane it is in */
    arn_rules rules;
    const char *start;          /* the order it begins with */
    uint64_t spent, budget;     /* effort since the beginning */
    uint64_t random;            /* see core/hash.h */
    arenaut_cost current, best; /* of `order` and of `best_order` */
    arenaut_cost memory[MEMORY];
    uint32_t *best_order, *top; /* groups that end at the top of the current plan */
    uint32_t n_top, round, idle;
    bool is_open, has_start;
} climb;

struct arn_hill_climbs {
    arn_workspace whole;
    climb climb[CLIMBS];
    uint32_t n;
    const arenaut_allocator *allocator;
    arn_lane_task extra; /* of the batch under way */
    void *context;
};

static bool goes_on(const climb *c) {
    return arn_meter_goes_on(c->meter) && c->spent < c->budget &&
           arenaut_costs_less(c->meter->goal, c->best);
}

static arenaut_status place(climb *c, arenaut_cost limit, arenaut_cost *cost) {
    const uint64_t before = c->meter->spent;
    const arenaut_status st = arn_place_by_skyline(&c->space, c->meter, c->rules, limit, cost);
    c->spent += c->meter->spent - before;
    if (st != ARENAUT_OK || !arn_is_plan(*cost)) return st;
    if (arn_meter_improves(c->meter, *cost)) arn_keep(&c->space, c->meter, *cost);
    return ARENAUT_OK;
}

static uint64_t end_of(const climb *c, uint32_t group) {
    return arn_workspace_offset(&c->space, group) + c->space.groups.group[group].extent;
}

/* Pools are not distinguished: the highest end of all is as good a place to start as any. */
static void find_top(climb *c) {
    uint64_t highest = 0;
    for (uint32_t i = 0; i < c->space.groups.n; i++) {
        const uint64_t end = end_of(c, i);
        if (end < highest) continue;
        if (end > highest) c->n_top = 0;
        highest = end;
        c->top[c->n_top++] = i;
    }
}

static void remember(climb *c, arenaut_cost cost) {
    c->current = cost;
    find_top(c);
    if (!arenaut_costs_less(cost, c->best)) return;
    c->best = cost;
    memcpy(c->best_order, c->space.order, c->space.groups.n * sizeof *c->best_order);
}

/* Moves the entry at `from` to `to`; those between make room. */
static void move_entry(uint32_t *order, uint32_t from, uint32_t to) {
    const uint32_t moving = order[from];
    if (from < to) memmove(order + from, order + from + 1, (to - from) * sizeof *order);
    if (to < from) memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    order[to] = moving;
}

static uint32_t index_of(const climb *c, uint32_t group) {
    uint32_t i = 0;
    while (c->space.order[i] != group) i++;
    return i;
}

/* Half of the moves bring something from the top forward. */
static void choose_move(climb *c, uint32_t *from, uint32_t *to) {
    const uint32_t n = c->space.groups.n;
    const bool from_top = arn_random_next(&c->random) & 1;
    *from = from_top ? index_of(c, c->top[arn_random_below(&c->random, c->n_top)])
                     : arn_random_below(&c->random, n);
    *to = from_top ? arn_random_below(&c->random, *from + 1) : arn_random_below(&c->random, n);
}

static void go_back_to_best(climb *c) {
    memcpy(c->space.order, c->best_order, c->space.groups.n * sizeof *c->best_order);
    for (uint32_t k = 0; k < MEMORY; k++) c->memory[k] = c->best;
    c->current = c->best;
    c->idle = 0;
}

/* The effort ended, or the caller said stop, before all was placed. */
static bool was_cut_short(const climb *c, arenaut_cost cost) {
    return !arn_is_plan(cost) && c->meter->stopped;
}

static arenaut_status climb_on(climb *c) {
    while (goes_on(c)) {
        const uint64_t random = c->random;
        uint32_t from, to;
        choose_move(c, &from, &to);
        arenaut_cost *late = &c->memory[c->round % MEMORY], cost;
        const arenaut_cost limit = arenaut_costs_less(c->current, *late) ? *late : c->current;
        const arenaut_cost best = c->best;
        move_entry(c->space.order, from, to);
        const arenaut_status st = place(c, limit, &cost);
        if (st != ARENAUT_OK) return st;
        if (!arn_is_plan(cost)) {
            move_entry(c->space.order, to, from);
        } else {
            remember(c, cost);
        }
        if (was_cut_short(c, cost)) {
            c->random = random; /* the next time it goes on with the same move */
            break;
        }
        *late = c->current;
        c->round++;
        c->idle = arenaut_costs_less(c->best, best) ? 0 : c->idle + 1;
        if (c->idle == PATIENCE) go_back_to_best(c);
    }
    return ARENAUT_OK;
}

static arenaut_status find_start(climb *c) {
    arenaut_cost cost;
    arn_orders_sort(&c->space.orders, c->start, c->space.order);
    const arenaut_status st = place(c, ARN_ANY_PLAN, &cost);
    c->has_start = !was_cut_short(c, cost);
    if (st != ARENAUT_OK || !arn_is_plan(cost)) return st;
    remember(c, cost);
    go_back_to_best(c);
    return ARENAUT_OK;
}

static arenaut_status open_climb(climb *c, const arn_workspace *whole,
                                 const arenaut_planning *planning) {
    const arenaut_status st =
        arn_workspace_fork(&c->space, whole, planning->allocator, planning->err);
    if (st != ARENAUT_OK) return st;
    c->is_open = true;
    const uint32_t n = c->space.groups.n;
    c->best_order = arn_region_allocate(&c->space.region, n, sizeof *c->best_order);
    c->top = arn_region_allocate(&c->space.region, n, sizeof *c->top);
    return c->best_order && c->top ? ARENAUT_OK : arn_no_memory(planning->err);
}

static arenaut_status run_in_lane(void *context, uint32_t task, arn_lane *lane) {
    arn_hill_climbs *climbs = context;
    if (climbs->extra && task == 0) return climbs->extra(climbs->context, task, lane);
    climb *c = &climbs->climb[climbs->extra ? task - 1 : task];
    arenaut_status st = ARENAUT_OK;
    c->meter = &lane->meter;
    c->meter->planner = "local-search";
    c->meter->limit = c->meter->spent + (c->budget > c->spent ? c->budget - c->spent : 0);
    if (c->spent >= c->budget && arn_meter_has_plan(c->meter)) return ARENAUT_OK;
    if (!c->is_open) st = open_climb(c, &climbs->whole, &lane->planning);
    if (st == ARENAUT_OK && !c->has_start) st = find_start(c);
    if (st == ARENAUT_OK && arn_is_plan(c->best) && c->space.groups.n > 1) st = climb_on(c);
    return st;
}

/* Buffers inside others are placed with them. */
static uint64_t count_groups(const arenaut_problem *p) {
    uint64_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        n += arenaut_problem_needs_memory(p, b) && arenaut_problem_inside(p, b) == ARENAUT_NONE;
    }
    return n;
}

bool arn_hill_climbs_can_move(const arenaut_problem *problem, uint64_t effort) {
    const uint64_t n = count_groups(problem);
    return n <= MOST_FOR_SEVERAL || effort > n * arn_effort_per_placement(n);
}

arenaut_status arn_hill_climbs_new(arn_lanes *lanes, arn_hill_climbs **out) {
    arn_hill_climbs *climbs = arn_allocate_zeroed(lanes->allocator, 1, sizeof *climbs);
    if (!climbs) return arn_no_memory(lanes->meter->planning->err);
    climbs->allocator = lanes->allocator;
    *out = climbs;
    return ARENAUT_OK;
}

static arenaut_status open_whole(arn_hill_climbs *climbs, const arn_lanes *lanes) {
    static const char *const starts[CLIMBS] = {"TWA", "TAW", "WAT", "Z"};
    arenaut_planning planning = *lanes->meter->planning;
    planning.allocator = lanes->allocator;
    const arenaut_status st = arn_workspace_open(&climbs->whole, &planning, 0);
    if (st != ARENAUT_OK) return st;
    climbs->n = climbs->whole.groups.n > MOST_FOR_SEVERAL ? 1 : CLIMBS;
    for (uint32_t k = 0; k < climbs->n; k++) {
        climb *c = &climbs->climb[k];
        c->start = starts[k];
        c->random = planning.options->seed + k;
        c->rules.share = true;
        c->best = ARN_NO_PLAN;
    }
    return ARENAUT_OK;
}

void arn_hill_climbs_free(arn_hill_climbs *climbs) {
    if (!climbs) return;
    for (uint32_t k = 0; k < climbs->n; k++) {
        if (climbs->climb[k].is_open) arn_workspace_close(&climbs->climb[k].space);
    }
    if (climbs->n) arn_workspace_close(&climbs->whole);
    arn_release(climbs->allocator, climbs);
}

arenaut_status arn_hill_climbs_run(arn_hill_climbs *climbs, arn_lanes *lanes, uint64_t effort,
                                   arn_lane_task extra, void *context) {
    arenaut_status st = climbs->n ? ARENAUT_OK : open_whole(climbs, lanes);
    if (st != ARENAUT_OK) return st;
    climbs->extra = extra;
    climbs->context = context;
    for (uint32_t k = 0; k < climbs->n; k++) climbs->climb[k].budget = effort / climbs->n;
    if (!arn_meter_has_plan(lanes->meter) && !extra) {
        /* One makes a plan whatever its effort; the others need not. */
        st = arn_lanes_search(lanes, 1, run_in_lane, climbs);
        if (st != ARENAUT_OK) return st;
    }
    return arn_lanes_search(lanes, climbs->n + (extra != NULL), run_in_lane, climbs);
}

static arenaut_status local_search_run(const arenaut_planner *self, arenaut_planning *planning) {
    arenaut_status st = arn_settings_check(planning, self, NULL);
    if (st != ARENAUT_OK) return st;
    arn_meter meter = arn_meter_start(planning, self->name);
    arn_lanes lanes;
    arn_hill_climbs *climbs = NULL;
    arn_lanes_open(&lanes, &meter);
    st = arn_hill_climbs_new(&lanes, &climbs);
    if (st == ARENAUT_OK) {
        const uint64_t effort = arn_local_search_share(planning->options->effort);
        st = arn_hill_climbs_run(climbs, &lanes, effort, NULL, NULL);
        arn_meter_stop(&meter, ARENAUT_STOP_EFFORT);
    }
    arn_hill_climbs_free(climbs);
    arn_lanes_close(&lanes);
    return st == ARENAUT_OK ? arn_meter_finish(&meter) : st;
}

extern const arenaut_planner arn_planner_local_search;
const arenaut_planner arn_planner_local_search = {
    .name = "local-search",
    .summary = "skyline, with an order that is changed as long as that helps",
    .handles = ARENAUT_FEATURE_ALL,
    .run = local_search_run,
};
