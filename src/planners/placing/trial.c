/* One trial: all groups placed in an order, or by the skyline, and kept if that is the best plan so
 * far; and the planners that are one such pass. A trial is abandoned as soon as it cannot be
 * better.
 *
 * Orders go through placing.c. The skyline goes through skyline_engine.c if the problem is plain
 * enough, O(n log n); otherwise through a heap of groups by the lowest place that each might have,
 * which placing.c works out anew whenever one comes to the top. portfolio.c chooses the trials. */
#include "planners/placing/trial.h"

#include "core/checked.h"
#include "core/fail.h"
#include "planners/run/planner_rows.h"

/* ---- one order ---- */

arenaut_status arn_workspace_open(arn_workspace *space, const arenaut_planning *planning,
                                  unsigned how) {
    const arn_workspace empty = {.allocator = planning->allocator};
    *space = empty;
    arn_region_init(&space->region, space->allocator);
    const arenaut_status st =
        arn_groups_make(planning->problem, how, planning->allocator, &space->groups, planning->err);
    if (st != ARENAUT_OK) return st;
    arn_region *region = &space->region;
    space->order = arn_region_allocate(region, space->groups.n, sizeof *space->order);
    if (space->order && arn_timeline_make(&space->groups, region, &space->timeline) &&
        arn_orders_init(&space->orders, &space->groups, &space->timeline, region)) {
        return ARENAUT_OK;
    }
    arn_workspace_close(space);
    return arn_no_memory(planning->err);
}

arenaut_status arn_workspace_fork(arn_workspace *fork, const arn_workspace *whole,
                                  const arenaut_allocator *allocator, arenaut_error *err) {
    /* Only parts that never change: another lane may be at work on `whole`. */
    const arn_workspace copy = {.whole = whole,
                                .groups = whole->groups,
                                .timeline = whole->timeline,
                                .orders = whole->orders,
                                .allocator = allocator};
    *fork = copy;
    arn_region_init(&fork->region, allocator);
    fork->order = arn_region_allocate(&fork->region, fork->groups.n, sizeof *fork->order);
    if (fork->order && arn_orders_fork(&fork->orders, &fork->region)) return ARENAUT_OK;
    arn_workspace_close(fork);
    return arn_no_memory(err);
}

void arn_workspace_close(arn_workspace *space) {
    arn_placing_free(space->placing);
    arn_region_free(&space->region);
    if (!space->whole) arn_groups_free(&space->groups);
    space->placing = NULL;
}

static bool need_placing(arn_workspace *space) {
    if (!space->placing) space->placing = arn_placing_new(&space->groups, space->allocator);
    return space->placing != NULL;
}

bool arn_workspace_need_offsets(arn_workspace *space) {
    if (!space->offset)
        space->offset = arn_region_allocate(&space->region, space->groups.n, sizeof *space->offset);
    space->by_skyline = space->offset != NULL;
    return space->by_skyline;
}

static bool need_skyline(arn_workspace *space) {
    if (!space->skyline) {
        if (!arn_workspace_need_offsets(space)) return false;
        space->skyline = arn_skyline_new(&space->groups, &space->timeline, &space->region);
    }
    return space->skyline != NULL;
}

/* After a placement: whether this trial may go on. */
static bool is_worth_it(const arn_workspace *space, arn_meter *meter, arenaut_cost limit) {
    arn_meter_spend(meter, arn_placing_effort(space->placing));
    return arn_meter_wants_plan(meter) &&
           !arenaut_costs_less(limit, arn_placing_cost(space->placing));
}

/* Both place all groups by space->order and set *cost to the cost of that; they stop early and set
 * it to ARN_NO_PLAN when something does not fit, or the cost would pass `limit`. NO_MEMORY, or OK
 * whatever the result. */
static arenaut_status place_in_order(arn_workspace *space, arn_meter *meter, arn_rules rules,
                                     arenaut_cost limit, arenaut_cost *cost) {
    *cost = ARN_NO_PLAN;
    if (!need_placing(space)) return arn_no_memory(meter->planning->err);
    arn_placing *placing = space->placing;
    space->by_skyline = false;
    arn_placing_clear(placing, arn_meter_poll(meter));
    for (uint32_t i = 0; i < space->groups.n; i++) {
        if (!arn_placing_place(placing, space->order[i], rules)) {
            return arn_placing_out_of_memory(placing) ? arn_no_memory(meter->planning->err)
                                                      : ARENAUT_OK;
        }
        if (!is_worth_it(space, meter, limit)) return ARENAUT_OK;
    }
    *cost = arn_placing_cost(placing);
    return ARENAUT_OK;
}

/* ---- skylines ---- */

/* Whether the plain skyline can place these groups at all: nothing is fixed, reserved or
 * kept apart by edges. `exactly`: and without being more careful than it has to be, by
 * filling the gaps in lifetimes or leaving relations and spare pools unused. */
static bool skyline_suits(const arn_workspace *space, bool share, bool exactly) {
    const arn_groups *groups = &space->groups;
    const arenaut_problem *p = groups->problem;
    if (p->n_conflicts || p->n_reserved) return false;
    for (uint32_t i = 0; i < groups->n; i++) {
        const arn_group *group = &groups->group[i];
        if (group->fixed != ARENAUT_UNPLACED) return false;
        const bool is_plain = group->n_pieces == 1 && !(group->related && share) &&
                              !(group->pools & (group->pools - 1));
        if (exactly && !is_plain) return false;
    }
    return true;
}

bool arn_workspace_is_plain(const arn_workspace *space) {
    return space->groups.problem->n_pools == 1 && skyline_suits(space, false, true);
}

uint64_t arn_effort_per_placement(uint64_t n_groups) {
    uint64_t bits = 0;
    while (n_groups >> bits) bits++;
    return bits < 7 ? 2 : bits * 2 / 5;
}

/* A trial that would be cut short before it is done is not begun. */
static bool can_pay(arn_meter *meter, uint64_t effort) {
    const uint64_t left = meter->limit > meter->spent ? meter->limit - meter->spent : 0;
    if (!arn_meter_has_plan(meter) || effort < left) return true;
    arn_meter_spend(meter, left);
    return false;
}

/* Each pool by itself: its groups come to the front of the order, in the same order. */
static arenaut_status place_by_plain_skyline(arn_workspace *space, arn_meter *meter,
                                             arenaut_cost limit, arenaut_cost *cost) {
    const arn_groups *groups = &space->groups;
    const arenaut_problem *p = groups->problem;
    const uint64_t effort_each = arn_effort_per_placement(groups->n);
    uint64_t sum = 0, spill = 0;
    for (uint32_t i = 0; i < groups->n && p->n_pools > 1; i++) {
        spill += arn_group_spill(groups, &groups->group[i], arn_lowest_bit(groups->group[i].pools));
    }
    if (spill > limit.spill) return ARENAUT_OK;
    const uint64_t most_in_all = spill < limit.spill ? ARENAUT_UNPLACED - 1 : limit.total;
    if (!can_pay(meter, groups->n * effort_each)) return ARENAUT_OK;
    if (!need_skyline(space)) return arn_no_memory(meter->planning->err);
    space->by_skyline = true;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        uint32_t n = 0, *picked = p->n_pools == 1 ? space->order : space->orders.scratch;
        for (uint32_t i = 0; i < groups->n; i++) {
            const uint32_t id = space->order[i];
            if (arn_lowest_bit(groups->group[id].pools) == k) picked[n++] = id;
        }
        uint64_t top;
        const uint64_t most = arn_min_u64(p->pool[k].capacity, most_in_all - sum);
        const uint32_t placed = arn_skyline_run(space->skyline, picked, n, most, space->offset,
                                                &top, arn_meter_poll(meter));
        arn_meter_spend(meter, placed * effort_each);
        sum += arn_aligned(top, p->pool[k].align);
        if (placed < n || sum > most_in_all || !arn_meter_wants_plan(meter)) return ARENAUT_OK;
    }
    *cost = arn_plan_cost(spill, sum);
    return ARENAUT_OK;
}

/* A group waiting for its turn: it cannot lie lower than this. Placed groups only take room away,
 * so the lowest place of a group never sinks. */
typedef struct waiting {
    uint64_t lowest;
    uint32_t rank;
} waiting;

static bool comes_first(const waiting *a, const waiting *b) {
    return a->lowest != b->lowest ? a->lowest < b->lowest : a->rank < b->rank;
}

static void sift_down(waiting *heap, uint32_t n, uint32_t at) {
    const waiting moving = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= n) break;
        if (child + 1 < n && comes_first(&heap[child + 1], &heap[child])) child++;
        if (!comes_first(&heap[child], &moving)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

/* The same idea for every kind of problem, by lazy evaluation (as in the accelerated greedy
 * algorithm: Minoux 1978): the place of the group at the top of the heap is computed anew, and the
 * group placed if that has not risen. */
static arenaut_status place_lowest_first(arn_workspace *space, arn_meter *meter, arn_rules rules,
                                         arenaut_cost limit, waiting *heap, arenaut_cost *cost) {
    arn_placing *placing = space->placing;
    uint32_t n = space->groups.n;
    space->by_skyline = false;
    arn_placing_clear(placing, arn_meter_poll(meter));
    for (uint32_t i = 0; i < n; i++) {
        const arn_group *group = &space->groups.group[space->order[i]];
        const waiting w = {0, i};
        heap[i] = w;
        if (group->fixed != ARENAUT_UNPLACED) arn_placing_place(placing, space->order[i], rules);
    }
    while (n > 0) {
        const uint32_t id = space->order[heap[0].rank];
        uint32_t pool = 0;
        uint64_t offset = 0;
        const bool is_fixed = space->groups.group[id].fixed != ARENAUT_UNPLACED;
        if (!is_fixed && !arn_placing_find(placing, id, rules, heap[0].lowest, &pool, &offset)) {
            return arn_placing_out_of_memory(placing) ? arn_no_memory(meter->planning->err)
                                                      : ARENAUT_OK;
        }
        if (!is_fixed && offset > heap[0].lowest) {
            heap[0].lowest = offset;
        } else {
            if (!is_fixed) arn_placing_put(placing, id, pool, offset);
            heap[0] = heap[--n];
        }
        sift_down(heap, n, 0);
        if (!is_worth_it(space, meter, limit)) return ARENAUT_OK;
    }
    *cost = arn_placing_cost(placing);
    return ARENAUT_OK;
}

/* Above this the general skyline takes too long: quadratic at the least. */
enum { MOST_WAITING = 4000 };

arenaut_status arn_place_by_skyline(arn_workspace *space, arn_meter *meter, arn_rules rules,
                                    arenaut_cost limit, arenaut_cost *cost) {
    *cost = ARN_NO_PLAN;
    const bool is_large = space->groups.n > MOST_WAITING;
    if (skyline_suits(space, rules.share, !is_large)) {
        return place_by_plain_skyline(space, meter, limit, cost);
    }
    if (is_large) return ARENAUT_OK;
    waiting *heap = arn_allocate(space->allocator, space->groups.n, sizeof *heap);
    arenaut_status st = ARENAUT_NO_MEMORY;
    if (heap && need_placing(space)) {
        st = place_lowest_first(space, meter, rules, limit, heap, cost);
    }
    arn_release(space->allocator, heap);
    return st == ARENAUT_NO_MEMORY ? arn_no_memory(meter->planning->err) : st;
}

/* ---- keeping ---- */

uint64_t arn_workspace_offset(const arn_workspace *space, uint32_t group) {
    return space->by_skyline ? space->offset[group] : arn_placing_offset(space->placing, group);
}

void arn_keep(const arn_workspace *space, arn_meter *meter, arenaut_cost cost) {
    const arn_groups *groups = &space->groups;
    arenaut_plan *plan = meter->planning->plan;
    if (!space->by_skyline) arn_placing_export(space->placing, plan->pool, plan->offset);
    for (uint32_t b = 0; b < groups->problem->n_buffers && space->by_skyline; b++) {
        const uint32_t owner = groups->owner[b];
        if (owner == ARENAUT_NONE) continue;
        plan->pool[b] = arn_lowest_bit(groups->group[owner].pools);
        plan->offset[b] = space->offset[owner] + arn_groups_delta(groups, b);
    }
    arn_meter_improved(meter, cost);
}

arenaut_status arn_try_order(arn_workspace *space, arn_meter *meter, arn_rules rules) {
    arenaut_cost cost;
    const arenaut_status st =
        place_in_order(space, meter, rules, arn_just_below(meter->best), &cost);
    if (st == ARENAUT_OK && arn_is_plan(cost)) arn_keep(space, meter, cost);
    return st;
}

static arenaut_status try_skyline(arn_workspace *space, arn_meter *meter, arn_rules rules) {
    arenaut_cost cost;
    const arenaut_status st =
        arn_place_by_skyline(space, meter, rules, arn_just_below(meter->best), &cost);
    if (st == ARENAUT_OK && arn_is_plan(cost)) arn_keep(space, meter, cost);
    return st;
}

/* ---- passes ---- */

/* The one pass of a planner that is described by data: an order, a fit, and the features of a
 * problem that it uses. Such planners are rows of greedy.c and runtimes/one_pass.c; the portfolio
 * varies them. */

arenaut_status arn_pass_vary(const arenaut_planner *row, const char *letters, arn_rules rules,
                             arn_workspace *space, arn_meter *meter) {
    const arn_pass *pass = row->data;
    rules.fit = pass->rules.fit;
    meter->planner = row->name;
    arn_orders_sort(&space->orders, letters ? letters : pass->letters, space->order);
    return pass->by_skyline ? try_skyline(space, meter, rules) : arn_try_order(space, meter, rules);
}

static arenaut_status make_pass(const arenaut_planner *self, const char *letters,
                                arenaut_planning *planning, arn_meter *meter) {
    const arn_pass *pass = self->data;
    arn_workspace space;
    arenaut_status st = arn_workspace_open(&space, planning, pass->how);
    if (st != ARENAUT_OK) return st;
    st = arn_pass_vary(self, letters, pass->rules, &space, meter);
    if (st == ARENAUT_OK && pass->by_skyline && !arn_meter_has_plan(meter)) {
        /* Too large for the careful skyline, or out of room: the nearest that is not. */
        st = arn_try_order(&space, meter, pass->rules);
    }
    arn_workspace_close(&space);
    return st;
}

arenaut_status arn_pass_make(const arenaut_planner *self, arenaut_planning *planning,
                             arn_meter *meter) {
    return make_pass(self, NULL, planning, meter);
}

arenaut_status arn_pass_run(const arenaut_planner *self, arenaut_planning *planning) {
    const arn_pass *pass = self->data;
    arenaut_status st = arn_settings_check(planning, self, self->settings ? "order" : NULL);
    if (st != ARENAUT_OK) return st;
    const char *value = arn_setting(planning, "order", NULL);
    const char *letters = value ? arn_order_letters(value) : pass->letters;
    if (!letters) return arn_setting_bad(planning, self, "order", value);
    arn_meter meter = arn_meter_start(planning, self->name);
    st = make_pass(self, letters, planning, &meter);
    return st == ARENAUT_OK ? arn_meter_finish(&meter) : st;
}
