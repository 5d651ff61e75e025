/* torch-caching: the places that PyTorch's caching allocator gives one request after another
 * (caching_segments.h).
 *
 * What is reserved behind the last byte that is used is in no plan: arenaut_caching_reserve counts
 * it. */
#include <arenaut/trace.h>

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "planners/run/planner_rows.h"
#include "planners/run/planner_settings.h"
#include "planners/runtimes/caching_segments.h"
#include "planners/tokens/token_list.h"

#define SETTING "segments"

typedef struct replay {
    const arenaut_problem *problem;
    arn_caching caching;
    uint32_t *births, *deaths; /* buffers in the order of each */
    uint32_t n;
    uint32_t *block_of; /* per buffer */
    uint64_t *offset;   /* per buffer: that of its block when it was handed out, and its shelf */
    uint32_t *shelf;
} replay;

/* ---- one request after another ---- */

static bool dies_before(const void *problem, uint32_t a, uint32_t b) {
    return arn_token_list_death(problem, a) < arn_token_list_death(problem, b);
}

static bool take_memory(replay *r, bool expandable, arn_region *region) {
    const uint32_t n = r->problem->n_buffers;
    r->births = arn_region_allocate(region, n, sizeof *r->births);
    r->deaths = arn_region_allocate(region, n, sizeof *r->deaths);
    r->block_of = arn_region_allocate(region, n, sizeof *r->block_of);
    r->shelf = arn_region_allocate(region, n, sizeof *r->shelf);
    r->offset = arn_region_allocate(region, n, sizeof *r->offset);
    return r->births && r->deaths && r->block_of && r->shelf && r->offset &&
           arn_caching_make(&r->caching, expandable, n, region);
}

static void list_lives(replay *r) {
    const arenaut_problem *p = r->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) r->births[r->n++] = b;
    }
    for (uint32_t i = 0; i < r->n; i++) r->deaths[i] = r->births[i];
    arn_sort_ids(r->births, r->n, arn_token_list_born_before, p, r->block_of);
    arn_sort_ids(r->deaths, r->n, dies_before, p, r->block_of);
}

static bool hand_out(replay *r, uint32_t b) {
    const uint32_t pool = arn_lowest_pool(r->problem, b);
    const uint32_t id = arn_caching_request(&r->caching, pool, r->problem->size[b]);
    if (id == ARENAUT_NONE) return false;
    r->block_of[b] = id;
    r->offset[b] = r->caching.blocks[id].at;
    r->shelf[b] = r->caching.blocks[id].shelf;
    return true;
}

static bool serve_all(replay *r) {
    for (uint32_t i = 0, dead = 0; i < r->n; i++) {
        const uint32_t b = r->births[i];
        while (arn_token_list_death(r->problem, r->deaths[dead]) <=
               arn_token_list_birth(r->problem, b)) {
            arn_caching_release(&r->caching, r->block_of[r->deaths[dead++]]);
        }
        if (!hand_out(r, b)) return false;
    }
    return true;
}

static arenaut_status check_alignments(const arenaut_problem *p, arenaut_error *err) {
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        char store[24];
        if (arenaut_problem_align(p, b) <= ARN_CACHING_GRAIN) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "planner 'torch-caching': buffer '%s' asks for an alignment of %" PRIu64
                        "; the allocator gives 512",
                        arenaut_problem_buffer_name(p, b, store), arenaut_problem_align(p, b));
    }
    return ARENAUT_OK;
}

/* Serves all requests; the caller frees the region, whatever the status. */
static arenaut_status serve(replay *r, bool expandable, const arenaut_allocator *allocator,
                            arn_region *region, arenaut_error *err) {
    arn_region_init(region, allocator);
    if (!take_memory(r, expandable, region)) return arn_no_memory(err);
    const arenaut_status st = check_alignments(r->problem, err);
    if (st != ARENAUT_OK) return st;
    list_lives(r);
    if (serve_all(r)) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                    "planner 'torch-caching': the segments add up to more than 2^63 - 1 bytes");
}

/* ---- the plan ---- */

/* The shelves of a pool lie one behind the other where they are expandable. */
static uint64_t place_of(const replay *r, uint32_t b) {
    const uint32_t shelf = r->shelf[b];
    return r->offset[b] +
           (r->caching.expandable && (shelf & 1) ? r->caching.reserved[shelf - 1] : 0);
}

/* The cost of the plan; ARN_NO_PLAN if a pool is too small. */
static arn_cost find_cost(const replay *r) {
    const arenaut_problem *p = r->problem;
    uint64_t end[ARENAUT_MAX_POOLS] = {0};
    arn_cost cost = {0, 0}; /* each is in the fastest of its pools */
    for (uint32_t i = 0; i < r->n; i++) {
        const uint32_t b = r->births[i];
        uint64_t *top = &end[r->shelf[b] / 2];
        *top = arn_max_u64(*top, place_of(r, b) + p->size[b]);
    }
    for (uint32_t k = 0; k < p->n_pools; k++) {
        uint64_t arena;
        if (end[k] > p->pool[k].capacity || !arn_align_up(end[k], p->pool[k].align, &arena) ||
            !arn_add(cost.total, arena, &cost.total)) {
            return ARN_NO_PLAN;
        }
    }
    return cost;
}

static void keep(arn_meter *meter, const replay *r) {
    arenaut_plan *plan = meter->planning->plan;
    const arn_cost cost = find_cost(r);
    if (!arn_is_plan(cost) || !arn_meter_improves(meter, cost)) return;
    for (uint32_t i = 0; i < r->n; i++) {
        const uint32_t b = r->births[i];
        plan->pool[b] = r->shelf[b] / 2;
        plan->offset[b] = place_of(r, b);
    }
    arn_meter_improved(meter, cost);
}

static arenaut_status torch_caching_run(const arenaut_planner *self, arenaut_planning *planning) {
    arn_meter meter = arn_meter_start(planning, self->name);
    arn_region region;
    arenaut_status st = arn_settings_check(planning, self, SETTING);
    if (st != ARENAUT_OK) return st;
    const char *segments = arn_setting(planning, SETTING, "fixed");
    const bool expandable = strcmp(segments, "expandable") == 0;
    if (!expandable && strcmp(segments, "fixed") != 0) {
        return arn_setting_bad(planning, self, SETTING, segments);
    }
    replay r = {.problem = planning->problem};
    st = serve(&r, expandable, planning->allocator, &region, planning->err);
    arn_meter_spend(&meter, r.n);
    if (st == ARENAUT_OK) keep(&meter, &r);
    arn_region_free(&region);
    return st == ARENAUT_OK ? arn_meter_finish(&meter) : st;
}

const arenaut_planner arn_planner_torch_caching = {
    .name = "torch-caching",
    .summary = "PyTorch's caching allocator: best fit in segments that are kept",
    .settings = SETTING "=fixed|expandable",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_POOLS |
               ARENAUT_FEATURE_CAPACITY | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS,
    .run = torch_caching_run,
};

arenaut_status arenaut_caching_reserve(const arenaut_problem *problem, bool expandable,
                                       const arenaut_allocator *allocator, uint64_t *bytes,
                                       arenaut_error *err) {
    arenaut_status st = arenaut_problem_validate(problem, err);
    if (st != ARENAUT_OK) return st;
    if (arenaut_problem_features(problem) & ~arn_planner_torch_caching.handles) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "the caching allocator knows no fixed offsets, edges, slices, "
                        "separations, reserved ranges and tokens");
    }
    replay r = {.problem = problem};
    arn_region region;
    st = serve(&r, expandable, allocator, &region, err);
    uint64_t sum = 0;
    for (uint32_t k = 0; k < ARN_CACHING_SHELVES && st == ARENAUT_OK; k++) {
        if (!arn_add(sum, r.caching.reserved[k], &sum)) {
            st = arn_fail(err, ARENAUT_TOO_LARGE, 0, "the pools add up to more than 2^63 - 1");
        }
    }
    arn_region_free(&region);
    if (st == ARENAUT_OK) *bytes = sum;
    return st;
}
