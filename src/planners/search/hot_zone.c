/* Decomposition by time: exact search for the part of a large problem that decides its arena.
 *
 * A problem that is too large for exact search is mostly easy; the hard part are the few moments at
 * which almost the whole arena is alive. The buffers alive then are placed by exact search, as a
 * problem of their own, and the others around them, with room to spare. Zones of several sizes are
 * tried, each with its own effort. */
#include "planners/search/search.h"

#include "core/fail.h"
#include "planners/bounds/bounds.h"
#include "planners/exact/exact.h"
#include "planners/placing/trial.h"

typedef struct zone {
    arenaut_planning *planning;
    arn_meter *meter;
    arn_workspace space;
    uint32_t *hot_before; /* per section: how many hot ones come before it */
    uint32_t *part;       /* per buffer of the whole: its buffer in the part, or NONE */
    uint64_t *offset;     /* per buffer of the part */
    uint64_t already;     /* effort spent before the exact search */
} zone;

static void find_hot_sections(zone *z, uint64_t threshold) {
    const arn_timeline *t = &z->space.timeline;
    z->hot_before[0] = 0;
    for (uint32_t k = 0; k < t->n_sections; k++) {
        z->hot_before[k + 1] = z->hot_before[k] + (t->load[k] >= threshold);
    }
}

static bool is_hot(const zone *z, uint32_t group) {
    const arn_timeline *t = &z->space.timeline;
    return z->hot_before[t->end[group]] > z->hot_before[t->first[group]];
}

static arenaut_status copy_buffer(zone *z, arenaut_problem *part, uint32_t b) {
    const arenaut_problem *p = z->planning->problem;
    arenaut_buffer copy = {0};
    copy.size = p->size[b];
    copy.align = arenaut_problem_align(p, b);
    copy.lifetimes = arenaut_problem_lifetimes(p, b);
    copy.n_lifetimes = arenaut_problem_lifetime_count(p, b);
    copy.fixed_offset = arenaut_at(arenaut_problem_fixed_offset(p, b));
    z->part[b] = part->n_buffers;
    return arenaut_problem_add_buffer(part, &copy, NULL, z->planning->err);
}

/* The hot buffers as a problem. Without relations a group is one buffer. */
static arenaut_status fill_part(zone *z, arenaut_problem *part) {
    const arenaut_problem *p = z->planning->problem;
    arenaut_error *err = z->planning->err;
    arenaut_status st = arenaut_problem_add_pool(part, &p->pool[0], NULL, err);
    for (uint32_t b = 0; b < p->n_buffers && st == ARENAUT_OK; b++) {
        const uint32_t group = z->space.groups.owner[b];
        z->part[b] = ARENAUT_NONE;
        if (group != ARENAUT_NONE && is_hot(z, group)) st = copy_buffer(z, part, b);
    }
    for (uint32_t i = 0; i < p->n_conflicts && st == ARENAUT_OK; i++) {
        const uint32_t a = z->part[p->conflict[i].a], b = z->part[p->conflict[i].b];
        if (a == ARENAUT_NONE || b == ARENAUT_NONE) continue;
        st = arenaut_problem_add_conflict(part, a, b, err);
    }
    for (uint32_t i = 0; i < p->n_reserved && st == ARENAUT_OK; i++) {
        st = arenaut_problem_add_reserved(part, &p->reserved[i], err);
    }
    return st == ARENAUT_OK ? arenaut_problem_finish(part, err) : st;
}

static arenaut_verdict take_progress(void *context, uint64_t best, uint64_t bound,
                                     uint64_t effort) {
    zone *z = context;
    (void)best;
    (void)bound;
    arn_meter_spend(z->meter, z->already + effort - z->meter->spent);
    return arn_meter_goes_on(z->meter) ? ARENAUT_GO_ON : ARENAUT_INTERRUPTED;
}

/* Places the part in less than the best arena. *solved: whether that worked; it does not if the
 * part is too large. */
static arenaut_status solve_part(zone *z, const arenaut_problem *part, uint64_t effort,
                                 bool *solved) {
    const arn_exact_input in = {
        .problem = part,
        .arena = z->meter->best.total,
        .effort = effort,
        .seed = z->planning->options->seed,
        .progress = take_progress,
        .progress_context = z,
        .allocator = z->planning->allocator,
    };
    arn_exact_output out = {.offset = z->offset};
    arenaut_error why;
    z->already = z->meter->spent;
    const arenaut_status st = arn_exact_run(&in, arn_meter_poll(z->meter), &out, &why);
    *solved = st == ARENAUT_OK && out.improved;
    if (st == ARENAUT_OK && z->already + out.effort > z->meter->spent) {
        arn_meter_spend(z->meter, z->already + out.effort - z->meter->spent);
    }
    if (st == ARENAUT_OK || st == ARENAUT_REFUSED) return ARENAUT_OK;
    return arn_fail(z->planning->err, st, why.at, "%s", why.msg);
}

/* Fixes the part at the places of the exact search, and places the rest around it in this order. */
static arenaut_status place_around(zone *z, const char *letters) {
    const arn_groups *groups = &z->space.groups;
    const arn_rules rules = {.fit = ARN_FIRST_FIT};
    arn_placing *placing = z->space.placing;
    arn_orders_sort(&z->space.orders, letters, z->space.order);
    arn_placing_clear(placing, arn_meter_poll(z->meter));
    for (uint32_t i = 0; i < groups->n; i++) {
        const uint32_t part = z->part[groups->member[groups->group[i].member]];
        if (part != ARENAUT_NONE) arn_placing_put(placing, i, 0, z->offset[part]);
    }
    for (uint32_t i = 0; i < groups->n; i++) {
        const uint32_t id = z->space.order[i];
        if (z->part[groups->member[groups->group[id].member]] != ARENAUT_NONE) continue;
        if (!arn_placing_place(placing, id, rules)) {
            return arn_placing_out_of_memory(placing) ? arn_no_memory(z->planning->err)
                                                      : ARENAUT_OK;
        }
        if (!arn_meter_spend(z->meter, arn_placing_effort(placing))) return ARENAUT_OK;
        if (!arn_meter_improves(z->meter, arn_placing_cost(placing))) return ARENAUT_OK;
    }
    z->space.by_skyline = false;
    arn_keep(&z->space, z->meter, arn_placing_cost(placing));
    return ARENAUT_OK;
}

static arenaut_status try_zone(zone *z, uint64_t threshold, uint64_t effort) {
    static const char *const orders[] = {"Z", "L", "U", "TWA"};
    arenaut_problem *part = NULL;
    bool solved = false;
    find_hot_sections(z, threshold);
    arenaut_status st = arenaut_problem_new(z->planning->allocator, &part, z->planning->err);
    if (st != ARENAUT_OK) return st;
    st = fill_part(z, part);
    if (st == ARENAUT_OK) st = solve_part(z, part, effort, &solved);
    for (size_t i = 0; i < sizeof orders / sizeof *orders && st == ARENAUT_OK && solved; i++) {
        if (arn_meter_goes_on(z->meter)) st = place_around(z, orders[i]);
    }
    arenaut_problem_free(part);
    return st;
}

static bool make_room(zone *z) {
    const arenaut_problem *p = z->planning->problem;
    z->space.placing = arn_placing_new(&z->space.groups, z->planning->allocator);
    return z->space.placing &&
           ARN_REGION_ARRAYS(&z->space.region,
                             ARN_ARRAY(z->hot_before, (size_t)z->space.timeline.n_sections + 1),
                             ARN_ARRAY(z->part, p->n_buffers), ARN_ARRAY(z->offset, p->n_buffers));
}

/* ---- all zones ---- */

typedef struct zones {
    arn_workspace whole;
    uint64_t effort;
} zones;

static uint32_t highest_section(const arn_timeline *t) {
    uint32_t highest = 0;
    for (uint32_t k = 1; k < t->n_sections; k++) {
        if (t->load[k] > t->load[highest]) highest = k;
    }
    return highest;
}

/* Whether exact search would refuse the groups alive at that section, even by themselves. */
static bool is_crowded(const arn_timeline *t, uint32_t n_groups, uint32_t section) {
    uint64_t alive = 0;
    for (uint32_t i = 0; i < n_groups; i++) alive += t->first[i] <= section && section < t->end[i];
    return alive * (alive - 1) > ARN_EXACT_MOST_PAIRS;
}

/* The zone of 1/32 below the peak is task 0, then come 1/16, 1/8 and so on. */
enum { ZONES = 5 };

static arenaut_status try_zone_in_lane(void *context, uint32_t task, arn_lane *lane) {
    const zones *all = context;
    const arn_timeline *t = &all->whole.timeline;
    const uint64_t highest = t->load[highest_section(t)];
    zone z = {.planning = &lane->planning, .meter = &lane->meter};
    lane->meter.planner = "exact";
    arenaut_status st =
        arn_workspace_fork(&z.space, &all->whole, lane->planning.allocator, lane->planning.err);
    if (st != ARENAUT_OK) return st;
    st = make_room(&z) ? try_zone(&z, highest - (highest >> (ZONES - task)), all->effort)
                       : arn_no_memory(lane->planning.err);
    arn_workspace_close(&z.space);
    return st;
}

arenaut_status arn_hot_zones(arn_lanes *lanes, uint64_t effort) {
    const arn_meter *meter = lanes->meter;
    const arenaut_problem *p = meter->planning->problem;
    const uint32_t features = arn_problem_features(p);
    if (!arn_meter_has_plan(meter) || !arn_meter_goes_on(meter) || p->n_pools > 1 ||
        features & ~(uint32_t)ARN_EXACT_HANDLES) {
        return ARENAUT_OK;
    }
    zones all = {.effort = effort};
    arenaut_planning planning = *meter->planning;
    planning.allocator = lanes->allocator;
    arenaut_status st = arn_workspace_open(&all.whole, &planning, 0);
    if (st != ARENAUT_OK) return st;
    const arn_timeline *t = &all.whole.timeline;
    if (!is_crowded(t, all.whole.groups.n, highest_section(t))) {
        st = arn_lanes_try(lanes, ZONES, try_zone_in_lane, &all);
    }
    arn_workspace_close(&all.whole);
    return st;
}
