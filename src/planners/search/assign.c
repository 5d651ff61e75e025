/* assign: which items go to which pool matters more than where they lie in it. So pools are
 * chosen first, such that at each step what is alive in a pool is no more than it has: as little
 * as possible is spilled (spill.h), or the busiest items of the shortest lives get the fast pools.
 * Then items are placed in several orders, and whoever finds no room in his pool goes to the next
 * slower one. As packings are rarely free of gaps, that is done for a part of each pool, too. The
 * first ways are tried whatever the effort, like the rows of the table. */
#include "planners/search/assign.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/bounds/spill.h"
#include "planners/placing/pass.h"
#include "planners/run/planner_rows.h"

typedef struct way {
    bool by_loads;
    uint32_t sixteenths; /* of each capacity */
} way;

static const way ways[] = {{true, 16}, {false, 15}, {false, 16}, {true, 15},
                           {true, 14}, {false, 14}, {false, 12}, {true, 12}};
enum { N_WAYS = sizeof ways / sizeof *ways, N_FREE_WAYS = 2 };

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
    arn_bench whole;
    uint64_t pairs;
    const way *ways; /* of the group under way */
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
    h->highest = arn_region_allocate(region, n, sizeof *h->highest);
    h->added = arn_region_allocate(region, n, sizeof *h->added);
    if (!h->highest || !h->added) return false;
    for (size_t k = 0; k < n; k++) h->highest[k] = h->added[k] = 0;
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

/* ---- by how busy items are ---- */

static uint32_t last_pool(uint64_t pools) {
    uint32_t pool = 63;
    while (!(pools >> pool & 1)) pool--;
    return pool;
}

static bool chooses(const arn_item *item) { return item->pools & (item->pools - 1); }

/* Those without a choice first, then by uses per step of life. */
static void sort_by_use(arn_bench *bench) {
    const arn_items *items = &bench->items;
    for (uint32_t i = 0; i < items->n; i++) {
        const arn_item *item = &items->item[i];
        const uint64_t width = (uint64_t)item->end - (uint64_t)item->first;
        const uint64_t uses = arn_min_u64(item->traffic / item->extent, UINT32_MAX);
        bench->order[i] = i;
        bench->orders.key[i] = chooses(item) ? ~((uses << 31) / width) : 0;
    }
    arn_sort_by_key(bench->order, items->n, bench->orders.key, bench->orders.scratch);
}

/* The first pool with room for the item while it is alive; the last one if there is none. */
static uint32_t pool_with_room(const arn_bench *bench, const heights *h, uint32_t i,
                               uint32_t sixteenths) {
    const arn_item *item = &bench->items.item[i];
    const arn_timeline *t = &bench->timeline;
    for (uint32_t k = 0; k < bench->items.problem->n_pools; k++) {
        const uint64_t capacity = bench->items.problem->pool[k].capacity;
        if (!(item->pools >> k & 1)) continue;
        if (capacity > ARENAUT_SIZE_MAX) return k;
        const uint64_t room = capacity / 16 * sixteenths + capacity % 16 * sixteenths / 16;
        const uint64_t load = highest_of(&h[k], 1, 0, h[k].n_leaves, t->first[i], t->end[i]);
        if (item->extent <= room && load <= room - item->extent) return k;
    }
    return last_pool(item->pools);
}

static bool assign_by_use(arn_bench *bench, uint32_t sixteenths, uint32_t *pool) {
    const arenaut_problem *p = bench->items.problem;
    heights h[ARENAUT_MAX_POOLS];
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!make_heights(&h[k], bench->timeline.n_sections, &bench->region)) return false;
    }
    sort_by_use(bench);
    for (uint32_t k = 0; k < bench->items.n; k++) {
        const uint32_t i = bench->order[k];
        heights *taken = &h[pool[i] = pool_with_room(bench, h, i, sixteenths)];
        raise_heights(taken, 1, 0, taken->n_leaves, bench->timeline.first[i],
                      bench->timeline.end[i], bench->items.item[i].extent);
    }
    return true;
}

/* ---- by what is spilled ---- */

static arenaut_status assign_by_loads(arn_bench *bench, uint32_t sixteenths, arn_lane *lane,
                                      uint32_t *pool, bool *found) {
    const arenaut_problem *p = bench->items.problem;
    uint32_t *choice = arn_region_allocate(&bench->region, p->n_buffers, sizeof *choice);
    const arn_spill_question question = {.most = ARENAUT_UNPLACED,
                                         .sixteenths = sixteenths,
                                         .states = ARN_SPILL_STATES,
                                         .choice = choice,
                                         .ask = arn_meter_ask(&lane->meter)};
    arn_spill *spill;
    arn_spill_answer answer;
    if (!choice) return arn_no_memory(lane->planning.err);
    arenaut_status st = arn_spill_new(p, lane->planning.allocator, &spill, lane->planning.err);
    if (st != ARENAUT_OK) return st;
    st = arn_spill_least(spill, &question, &answer, lane->planning.err);
    arn_spill_free(spill);
    if (st != ARENAUT_OK) return st;
    arn_meter_spend(&lane->meter, answer.steps);
    *found = answer.least != ARENAUT_UNPLACED && !answer.ended;
    for (uint32_t i = 0; i < bench->items.n && *found; i++) {
        pool[i] = choice[bench->items.member[bench->items.item[i].member]];
    }
    return ARENAUT_OK;
}

/* ---- trials ---- */

/* Its pool and slower ones. Where a pool is forgotten all stay open. */
static void narrow(arn_bench *bench, const uint32_t *pool) {
    for (uint32_t i = 0; i < bench->items.n; i++) {
        if (pool[i] == ARENAUT_NONE) continue;
        bench->items.item[i].pools &= ~((UINT64_C(1) << pool[i]) - 1);
    }
}

static arenaut_status try_orders(arn_bench *bench, arn_meter *meter, bool many_pairs) {
    arenaut_status st = ARENAUT_OK;
    for (size_t k = 0; k < N_ORDERS && st == ARENAUT_OK && arn_meter_goes_on(meter); k++) {
        const arn_pass *pass = orders[k].row->data;
        const arn_rules rules = {.share = true};
        if (many_pairs && !pass->by_skyline) continue;
        st = arn_pass_vary(orders[k].row, orders[k].letters, rules, bench, meter);
    }
    return st;
}

/* A fork shares its items, but these get pools of their own. */
static bool copy_items(arn_bench *bench) {
    arn_item *own = arn_region_allocate(&bench->region, bench->items.n, sizeof *own);
    for (uint32_t i = 0; own && i < bench->items.n; i++) own[i] = bench->items.item[i];
    bench->items.item = own;
    return own != NULL;
}

static arenaut_status assign(const assigning *a, const way *w, arn_bench *bench, arn_lane *lane) {
    bool found = true;
    uint32_t *pool = arn_region_allocate(&bench->region, bench->items.n, sizeof *pool);
    if (!pool || !copy_items(bench)) return arn_no_memory(lane->planning.err);
    if (w->by_loads) {
        const arenaut_status st = assign_by_loads(bench, w->sixteenths, lane, pool, &found);
        if (st != ARENAUT_OK || !found) return st;
    } else if (!assign_by_use(bench, w->sixteenths, pool)) {
        return arn_no_memory(lane->planning.err);
    }
    narrow(bench, pool);
    return try_orders(bench, &lane->meter, a->pairs > MOST_PAIRS);
}

static arenaut_status assign_in_lane(void *context, uint32_t task, arn_lane *lane) {
    const assigning *a = context;
    arn_bench bench;
    arenaut_status st =
        arn_bench_fork(&bench, &a->whole, lane->planning.allocator, lane->planning.err);
    if (st != ARENAUT_OK) return st;
    st = assign(a, &a->ways[task], &bench, lane);
    arn_bench_close(&bench);
    return st;
}

arenaut_status arn_assign_pools(arn_lanes *lanes, uint64_t pairs) {
    assigning a = {.pairs = pairs};
    arenaut_planning planning = *lanes->meter->planning;
    planning.allocator = lanes->allocator;
    if (!arenaut_problem_chooses_pools(planning.problem)) return ARENAUT_OK;
    arenaut_status st = arn_bench_open(&a.whole, &planning, 0);
    if (st != ARENAUT_OK) return st;
    arn_meter *meter = lanes->meter;
    const uint64_t limit = meter->limit;
    a.ways = ways;
    arn_meter_allow(meter, UINT64_MAX);
    st = arn_lanes_try(lanes, N_FREE_WAYS, assign_in_lane, &a);
    meter->limit = limit;
    if (st == ARENAUT_OK && arn_meter_spend(meter, 0)) {
        a.ways += N_FREE_WAYS;
        st = arn_lanes_try(lanes, N_WAYS - N_FREE_WAYS, assign_in_lane, &a);
    }
    arn_bench_close(&a.whole);
    return st;
}
