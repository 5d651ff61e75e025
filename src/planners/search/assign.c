/* Two-phase planning with a choice of pools: groups are assigned to pools first and placed second,
 * as the pool of a group matters more than its place in it.
 *
 * Pools are chosen such that at each step the live bytes in a pool are within its capacity: as
 * little as possible is spilled (the dynamic program of bounds/spill.h), or the groups with the
 * most uses for the shortest lives get the fast pools. Then groups are placed in several orders,
 * and one that finds no room in its pool goes to the next slower one. As packings are rarely free
 * of gaps, this is also done with less than each pool has. The first variants are tried whatever
 * the effort, like the rows of the table. */
#include "planners/search/search.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/bounds/spill.h"
#include "planners/placing/trial.h"
#include "planners/run/planner_rows.h"

typedef struct variant {
    bool by_loads;
    uint32_t sixteenths; /* of each capacity */
} variant;

static const variant variants[] = {{true, 16}, {false, 15}, {false, 16}, {true, 15},
                                   {true, 14}, {false, 14}, {false, 12}, {true, 12}};
enum { N_VARIANTS = sizeof variants / sizeof *variants, N_FREE_VARIANTS = 2 };

typedef struct order {
    const arenaut_planner *row;
    const char *letters;
} order;

static const order orders[] = {
    {&arn_planner_skyline, "TWA"},  {&arn_planner_greedy_by_size, "Z"},
    {&arn_planner_best_fit, "Z"},   {&arn_planner_first_fit, "A"},
    {&arn_planner_best_fit, "TPZ"}, {&arn_planner_first_fit, "L"},
    {&arn_planner_first_fit, "W"},  {&arn_planner_skyline, "Z"},
};
enum { N_ORDERS = sizeof orders / sizeof *orders, MOST_PAIRS = 2000000 };

typedef struct assigning {
    arn_workspace whole;
    uint64_t pairs;
    const variant *variants; /* of the batch under variant */
} assigning;

/* ---- loads over time ---- */

/* Bytes per section, as a tree: a node's highest load is that of its children, and `added`. */
typedef struct heights {
    uint64_t *highest, *added;
    uint32_t n_leaves;
} heights;

static bool make_heights(heights *h, uint32_t n_sections, arn_region *region) {
    h->n_leaves = 1;
    while (h->n_leaves < n_sections) h->n_leaves *= 2;
    const size_t n = (size_t)h->n_leaves * 2;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(h->highest, n), ARN_ARRAY(h->added, n))) return false;
    return true;
}

/* Of sections [first, end), below a node that has [low, high). */
static uint64_t highest_of(const heights *h, uint32_t node, uint32_t low, uint32_t high,
                           uint32_t first, uint32_t end) {
    if (first >= high || end <= low) return 0;
    if (first <= low && end >= high) return h->highest[node];
    const uint32_t middle = low + (high - low) / 2;
    return h->added[node] + arn_max_u64(highest_of(h, 2 * node, low, middle, first, end),
                                        highest_of(h, 2 * node + 1, middle, high, first, end));
}

static void raise_heights(heights *h, uint32_t node, uint32_t low, uint32_t high, uint32_t first,
                          uint32_t end, uint64_t bytes) {
    if (first >= high || end <= low) return;
    if (first <= low && end >= high) {
        h->highest[node] += bytes;
        h->added[node] += bytes;
        return;
    }
    const uint32_t middle = low + (high - low) / 2;
    raise_heights(h, 2 * node, low, middle, first, end, bytes);
    raise_heights(h, 2 * node + 1, middle, high, first, end, bytes);
    h->highest[node] = h->added[node] + arn_max_u64(h->highest[2 * node], h->highest[2 * node + 1]);
}

/* ---- by how busy groups are ---- */

static uint32_t last_pool(uint64_t pools) {
    uint32_t pool = 63;
    while (!(pools >> pool & 1)) pool--;
    return pool;
}

static bool chooses(const arn_group *group) { return group->pools & (group->pools - 1); }

/* Those without a choice first, then by uses per step of life. */
static void sort_by_use(arn_workspace *space) {
    const arn_groups *groups = &space->groups;
    for (uint32_t i = 0; i < groups->n; i++) {
        const arn_group *group = &groups->group[i];
        const uint64_t width = (uint64_t)group->end - (uint64_t)group->first;
        const uint64_t uses =
            arn_min_u64(arn_group_traffic(groups, group) / group->extent, UINT32_MAX);
        space->order[i] = i;
        space->orders.key[i] = chooses(group) ? ~((uses << 31) / width) : 0;
    }
    arn_sort_by_key(space->order, groups->n, space->orders.key, space->orders.scratch);
}

/* The first pool with room for the group while it is alive; the last one if there is none. */
static uint32_t pool_with_room(const arn_workspace *space, const heights *h, uint32_t i,
                               uint32_t sixteenths) {
    const arn_group *group = &space->groups.group[i];
    const arn_timeline *t = &space->timeline;
    for (uint32_t k = 0; k < space->groups.problem->n_pools; k++) {
        const uint64_t capacity = space->groups.problem->pool[k].capacity;
        if (!(group->pools >> k & 1)) continue;
        if (capacity > ARENAUT_SIZE_MAX) return k;
        const uint64_t room = capacity / 16 * sixteenths + capacity % 16 * sixteenths / 16;
        const uint64_t load = highest_of(&h[k], 1, 0, h[k].n_leaves, t->first[i], t->end[i]);
        if (group->extent <= room && load <= room - group->extent) return k;
    }
    return last_pool(group->pools);
}

static bool assign_by_use(arn_workspace *space, uint32_t sixteenths, uint32_t *pool) {
    const arenaut_problem *p = space->groups.problem;
    heights h[ARENAUT_MAX_POOLS];
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!make_heights(&h[k], space->timeline.n_sections, &space->region)) return false;
    }
    sort_by_use(space);
    for (uint32_t k = 0; k < space->groups.n; k++) {
        const uint32_t i = space->order[k];
        heights *taken = &h[pool[i] = pool_with_room(space, h, i, sixteenths)];
        raise_heights(taken, 1, 0, taken->n_leaves, space->timeline.first[i],
                      space->timeline.end[i], space->groups.group[i].extent);
    }
    return true;
}

/* ---- by the least spill ---- */

static arenaut_status assign_by_loads(arn_workspace *space, uint32_t sixteenths, arn_lane *lane,
                                      uint32_t *pool, bool *found) {
    const arenaut_problem *p = space->groups.problem;
    uint32_t *choice = arn_region_allocate(&space->region, p->n_buffers, sizeof *choice);
    const arn_spill_question question = {.most = ARENAUT_UNPLACED,
                                         .sixteenths = sixteenths,
                                         .states = ARN_SPILL_STATES,
                                         .choice = choice,
                                         .poll = arn_meter_poll(&lane->meter)};
    arn_spill *spill;
    arn_spill_answer answer;
    if (!choice) return arn_no_memory(lane->planning.err);
    arenaut_status st = arn_spill_new(p, lane->planning.allocator, &spill, lane->planning.err);
    if (st != ARENAUT_OK) return st;
    st = arn_spill_least(spill, &question, &answer, lane->planning.err);
    arn_spill_free(spill);
    if (st != ARENAUT_OK) return st;
    arn_meter_spend(&lane->meter, answer.effort);
    *found = answer.least != ARENAUT_UNPLACED && !answer.ended;
    for (uint32_t i = 0; i < space->groups.n && *found; i++) {
        pool[i] = choice[space->groups.member[space->groups.group[i].member]];
    }
    return ARENAUT_OK;
}

/* ---- trials ---- */

/* Its pool and slower ones. If its pool was left out all stay open. */
static void narrow(arn_workspace *space, const uint32_t *pool) {
    for (uint32_t i = 0; i < space->groups.n; i++) {
        if (pool[i] == ARENAUT_NONE) continue;
        space->groups.group[i].pools &= ~((UINT64_C(1) << pool[i]) - 1);
    }
}

static arenaut_status try_orders(arn_workspace *space, arn_meter *meter, bool many_pairs) {
    arenaut_status st = ARENAUT_OK;
    for (size_t k = 0; k < N_ORDERS && st == ARENAUT_OK && arn_meter_goes_on(meter); k++) {
        const arn_pass *pass = orders[k].row->data;
        const arn_rules rules = {.share = true};
        if (many_pairs && !pass->by_skyline) continue;
        st = arn_pass_vary(orders[k].row, orders[k].letters, rules, space, meter);
    }
    return st;
}

/* A fork shares its groups, but these get pools of their own. */
static bool copy_groups(arn_workspace *space) {
    arn_group *own = arn_region_allocate(&space->region, space->groups.n, sizeof *own);
    for (uint32_t i = 0; own && i < space->groups.n; i++) own[i] = space->groups.group[i];
    space->groups.group = own;
    return own != NULL;
}

static arenaut_status assign(const assigning *a, const variant *w, arn_workspace *space,
                             arn_lane *lane) {
    bool found = true;
    uint32_t *pool = arn_region_allocate(&space->region, space->groups.n, sizeof *pool);
    if (!pool || !copy_groups(space)) return arn_no_memory(lane->planning.err);
    if (w->by_loads) {
        const arenaut_status st = assign_by_loads(space, w->sixteenths, lane, pool, &found);
        if (st != ARENAUT_OK || !found) return st;
    } else if (!assign_by_use(space, w->sixteenths, pool)) {
        return arn_no_memory(lane->planning.err);
    }
    narrow(space, pool);
    return try_orders(space, &lane->meter, a->pairs > MOST_PAIRS);
}

static arenaut_status assign_in_lane(void *context, uint32_t task, arn_lane *lane) {
    const assigning *a = context;
    arn_workspace space;
    arenaut_status st =
        arn_workspace_fork(&space, &a->whole, lane->planning.allocator, lane->planning.err);
    if (st != ARENAUT_OK) return st;
    st = assign(a, &a->variants[task], &space, lane);
    arn_workspace_close(&space);
    return st;
}

arenaut_status arn_assign_pools(arn_lanes *lanes, uint64_t pairs) {
    assigning a = {.pairs = pairs};
    arenaut_planning planning = *lanes->meter->planning;
    planning.allocator = lanes->allocator;
    if (!arenaut_problem_chooses_pools(planning.problem)) return ARENAUT_OK;
    arenaut_status st = arn_workspace_open(&a.whole, &planning, 0);
    if (st != ARENAUT_OK) return st;
    arn_meter *meter = lanes->meter;
    const uint64_t limit = meter->limit;
    a.variants = variants;
    arn_meter_allow(meter, UINT64_MAX);
    st = arn_lanes_try(lanes, N_FREE_VARIANTS, assign_in_lane, &a);
    meter->limit = limit;
    if (st == ARENAUT_OK && arn_meter_spend(meter, 0)) {
        a.variants += N_FREE_VARIANTS;
        st = arn_lanes_try(lanes, N_VARIANTS - N_FREE_VARIANTS, assign_in_lane, &a);
    }
    arn_workspace_close(&a.whole);
    return st;
}
