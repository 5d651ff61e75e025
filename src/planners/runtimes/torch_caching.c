/* torch-caching: what PyTorch's caching allocator does with one request after another
 * (CUDACachingAllocator.cpp), as long as the device has memory.
 *
 * Sizes are rounded up to 512 bytes. Requests to 1 MiB and larger ones have shelves of their own, a
 * stream (a pool here) two. A request takes the smallest free block of its shelf that is large
 * enough, of equal ones the one at the lowest address, and gives back what it does not need of it;
 * else a new segment is reserved. A block that is released joins its free neighbours in the
 * segment. With expandable segments a shelf is one segment, which grows at its end, and its last
 * block is taken only where no other will do.
 *
 * Where segments lie is the driver's business; here each begins where the one before it ends. What
 * is reserved behind the last byte that is used is in no plan: arenaut_caching_reserve counts it.
 */
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
#include "planners/tokens/token_list.h"

#define SETTING "segments"

#define KIB(n) (UINT64_C(1024) * (n))
#define MIB(n) (UINT64_C(1024) * KIB(n))
#define GRAIN UINT64_C(512)
#define MOST_SMALL MIB(1)    /* the largest request for a small shelf */
#define SMALL_SEGMENT MIB(2) /* also how an expandable small shelf grows */
#define LARGE_SEGMENT MIB(20)
#define LEAST_OWN MIB(10) /* from here on a request gets a segment of its own size */
#define OWN_GRAIN MIB(2)

/* A stretch of a segment that is out, or free. */
typedef struct block {
    uint64_t at, size; /* `at` is counted from the start of the pool, or of an expandable shelf */
    uint32_t before, after; /* its neighbours in the segment; ARENAUT_NONE: none */
    uint32_t shelf;         /* 2 × pool, and 1 more for large requests */
    bool is_free;
} block;

enum { SHELVES = 2 * ARENAUT_MAX_POOLS };

typedef struct cache {
    const arenaut_problem *problem;
    bool expandable;
    uint32_t *births, *deaths; /* buffers in the order of each */
    uint32_t n;
    block *blocks;
    uint32_t n_blocks;
    uint32_t *unused; /* numbers of blocks that were joined to others */
    uint32_t n_unused;
    uint32_t *free; /* free blocks by shelf, size, address */
    uint32_t n_free;
    uint32_t *block_of;             /* per buffer */
    uint32_t last[SHELVES];         /* the block at the end of an expandable shelf */
    uint64_t reserved[SHELVES];     /* bytes */
    uint64_t at[ARENAUT_MAX_POOLS]; /* where the next segment of a pool begins */
    uint64_t *offset;               /* per buffer: that of its block, as in `block` */
    uint32_t *shelf;                /* per buffer */
} cache;

/* ---- free blocks ---- */

static bool block_before(const block *a, const block *b) {
    if (a->shelf != b->shelf) return a->shelf < b->shelf;
    return a->size != b->size ? a->size < b->size : a->at < b->at;
}

/* The first free block that is not before `key`. */
static uint32_t first_free(const cache *c, const block *key) {
    uint32_t low = 0, high = c->n_free;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (block_before(&c->blocks[c->free[middle]], key)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void shelve(cache *c, uint32_t id) {
    const uint32_t at = first_free(c, &c->blocks[id]);
    memmove(c->free + at + 1, c->free + at, (c->n_free - at) * sizeof *c->free);
    c->free[at] = id;
    c->n_free++;
    c->blocks[id].is_free = true;
}

static void unshelve(cache *c, uint32_t id) {
    const uint32_t at = first_free(c, &c->blocks[id]);
    c->n_free--;
    memmove(c->free + at, c->free + at + 1, (c->n_free - at) * sizeof *c->free);
    c->blocks[id].is_free = false;
}

static uint32_t new_block(cache *c, uint32_t shelf, uint64_t at, uint64_t size) {
    const uint32_t id = c->n_unused ? c->unused[--c->n_unused] : c->n_blocks++;
    const block made = {
        .at = at, .size = size, .before = ARENAUT_NONE, .after = ARENAUT_NONE, .shelf = shelf};
    c->blocks[id] = made;
    return id;
}

/* Joins `second` to `first`, its neighbour. Neither is on a shelf. */
static void join(cache *c, uint32_t first, uint32_t second) {
    block *kept = &c->blocks[first];
    kept->size += c->blocks[second].size;
    kept->after = c->blocks[second].after;
    if (kept->after != ARENAUT_NONE) c->blocks[kept->after].before = first;
    if (c->last[kept->shelf] == second) c->last[kept->shelf] = first;
    c->unused[c->n_unused++] = second;
}

/* ---- segments ---- */

static uint64_t segment_size(uint64_t size) {
    if (size <= MOST_SMALL) return SMALL_SEGMENT;
    return size < LEAST_OWN ? LARGE_SEGMENT : (size + OWN_GRAIN - 1) / OWN_GRAIN * OWN_GRAIN;
}

static bool reserve(cache *c, uint32_t shelf, uint64_t bytes) {
    return arn_add(c->reserved[shelf], bytes, &c->reserved[shelf]) &&
           arn_add(c->at[shelf / 2], bytes, &c->at[shelf / 2]);
}

/* ARENAUT_NONE past all sizes. */
static uint32_t reserve_segment(cache *c, uint32_t shelf, uint64_t size) {
    const uint64_t bytes = segment_size(size), at = c->at[shelf / 2];
    return reserve(c, shelf, bytes) ? new_block(c, shelf, at, bytes) : ARENAUT_NONE;
}

/* Lets the shelf's segment grow until its last block, if that is free, has `size` bytes. */
static uint32_t expand_segment(cache *c, uint32_t shelf, uint64_t size) {
    const uint64_t step = shelf & 1 ? LARGE_SEGMENT : SMALL_SEGMENT;
    const uint32_t last = c->last[shelf];
    const bool grows = last != ARENAUT_NONE && c->blocks[last].is_free;
    const uint64_t missing = size - (grows ? c->blocks[last].size : 0);
    const uint64_t at = c->reserved[shelf], bytes = (missing + step - 1) / step * step;
    if (!reserve(c, shelf, bytes)) return ARENAUT_NONE;
    const uint32_t added = new_block(c, shelf, at, bytes);
    c->blocks[added].before = last;
    if (last != ARENAUT_NONE) c->blocks[last].after = added;
    c->last[shelf] = added;
    if (!grows) return added;
    unshelve(c, last);
    join(c, last, added);
    return last;
}

/* ---- requests and releases ---- */

/* A free block for a request, no longer on its shelf; ARENAUT_NONE if none will do. */
static uint32_t best_fit(cache *c, uint32_t shelf, uint64_t size) {
    const block key = {.shelf = shelf, .size = size};
    uint32_t at = first_free(c, &key);
    if (at == c->n_free || c->blocks[c->free[at]].shelf != shelf) return ARENAUT_NONE;
    const bool another = at + 1 < c->n_free && c->blocks[c->free[at + 1]].shelf == shelf;
    if (c->expandable && c->free[at] == c->last[shelf] && another) at++;
    const uint32_t id = c->free[at];
    unshelve(c, id);
    return id;
}

static bool is_worth_splitting(const cache *c, uint32_t shelf, uint64_t rest) {
    return c->expandable || !(shelf & 1) ? rest >= GRAIN : rest > MOST_SMALL;
}

static void split(cache *c, uint32_t id, uint64_t size) {
    const block whole = c->blocks[id];
    if (!is_worth_splitting(c, whole.shelf, whole.size - size)) return;
    const uint32_t rest = new_block(c, whole.shelf, whole.at + size, whole.size - size);
    c->blocks[rest].before = id;
    c->blocks[rest].after = whole.after;
    if (whole.after != ARENAUT_NONE) c->blocks[whole.after].before = rest;
    if (c->last[whole.shelf] == id) c->last[whole.shelf] = rest;
    c->blocks[id].after = rest;
    c->blocks[id].size = size;
    shelve(c, rest);
}

static bool request(cache *c, uint32_t b) {
    const uint64_t size = (c->problem->size[b] + GRAIN - 1) / GRAIN * GRAIN;
    const uint32_t shelf = 2 * arn_lowest_pool(c->problem, b) + (size > MOST_SMALL);
    uint32_t id = best_fit(c, shelf, size);
    if (id == ARENAUT_NONE) {
        id = c->expandable ? expand_segment(c, shelf, size) : reserve_segment(c, shelf, size);
    }
    if (id == ARENAUT_NONE) return false;
    split(c, id, size);
    c->block_of[b] = id;
    c->offset[b] = c->blocks[id].at;
    c->shelf[b] = shelf;
    return true;
}

static void release(cache *c, uint32_t b) {
    uint32_t id = c->block_of[b];
    const uint32_t before = c->blocks[id].before, after = c->blocks[id].after;
    if (after != ARENAUT_NONE && c->blocks[after].is_free) {
        unshelve(c, after);
        join(c, id, after);
    }
    if (before != ARENAUT_NONE && c->blocks[before].is_free) {
        unshelve(c, before);
        join(c, before, id);
        id = before;
    }
    shelve(c, id);
}

static bool serve_all(cache *c) {
    for (uint32_t i = 0, dead = 0; i < c->n; i++) {
        const uint32_t b = c->births[i];
        while (arn_token_list_death(c->problem, c->deaths[dead]) <=
               arn_token_list_birth(c->problem, b)) {
            release(c, c->deaths[dead++]);
        }
        if (!request(c, b)) return false;
    }
    return true;
}

/* ---- the whole ---- */

static bool dies_before(const void *problem, uint32_t a, uint32_t b) {
    return arn_token_list_death(problem, a) < arn_token_list_death(problem, b);
}

/* A request makes at most two blocks: a segment, and what is left of it. */
static bool take_memory(cache *c, const arenaut_allocator *allocator, arn_region *region) {
    const uint32_t n = c->problem->n_buffers;
    arn_region_init(region, allocator);
    c->births = arn_region_allocate(region, n, sizeof *c->births);
    c->deaths = arn_region_allocate(region, n, sizeof *c->deaths);
    c->block_of = arn_region_allocate(region, n, sizeof *c->block_of);
    c->shelf = arn_region_allocate(region, n, sizeof *c->shelf);
    c->offset = arn_region_allocate(region, n, sizeof *c->offset);
    c->blocks = arn_region_allocate(region, n, 2 * sizeof *c->blocks);
    c->unused = arn_region_allocate(region, n, 2 * sizeof *c->unused);
    c->free = arn_region_allocate(region, n, 2 * sizeof *c->free);
    return c->births && c->deaths && c->block_of && c->shelf && c->offset && c->blocks &&
           c->unused && c->free;
}

static void list_lives(cache *c) {
    const arenaut_problem *p = c->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) c->births[c->n++] = b;
    }
    for (uint32_t i = 0; i < c->n; i++) c->deaths[i] = c->births[i];
    arn_sort_ids(c->births, c->n, arn_token_list_born_before, p, c->free);
    arn_sort_ids(c->deaths, c->n, dies_before, p, c->free);
}

static arenaut_status check_alignments(const arenaut_problem *p, arenaut_error *err) {
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        char store[24];
        if (arenaut_problem_align(p, b) <= GRAIN) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "planner 'torch-caching': buffer '%s' asks for an alignment of %" PRIu64
                        "; the allocator gives 512",
                        arenaut_problem_buffer_name(p, b, store), arenaut_problem_align(p, b));
    }
    return ARENAUT_OK;
}

/* Serves all requests; the caller frees the region, whatever the status. */
static arenaut_status run_cache(cache *c, const arenaut_allocator *allocator, arn_region *region,
                                arenaut_error *err) {
    if (!take_memory(c, allocator, region)) return arn_no_memory(err);
    for (uint32_t k = 0; k < SHELVES; k++) c->last[k] = ARENAUT_NONE;
    const arenaut_status st = check_alignments(c->problem, err);
    if (st != ARENAUT_OK) return st;
    list_lives(c);
    if (serve_all(c)) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                    "planner 'torch-caching': the segments add up to more than 2^63 - 1 bytes");
}

/* The shelves of a pool lie one behind the other where they are expandable. */
static uint64_t place_of(const cache *c, uint32_t b) {
    const uint32_t shelf = c->shelf[b];
    return c->offset[b] + (c->expandable && (shelf & 1) ? c->reserved[shelf - 1] : 0);
}

/* The cost of the plan; ARN_NO_PLAN if a pool is too small. */
static arn_cost find_cost(const cache *c) {
    const arenaut_problem *p = c->problem;
    uint64_t end[ARENAUT_MAX_POOLS] = {0};
    arn_cost cost = {0, 0}; /* each is in the fastest of its pools */
    for (uint32_t i = 0; i < c->n; i++) {
        const uint32_t b = c->births[i];
        uint64_t *top = &end[c->shelf[b] / 2];
        *top = arn_max_u64(*top, place_of(c, b) + p->size[b]);
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

static void keep(arn_meter *meter, const cache *c) {
    arenaut_plan *plan = meter->planning->plan;
    const arn_cost cost = find_cost(c);
    if (!arn_is_plan(cost) || !arn_meter_improves(meter, cost)) return;
    for (uint32_t i = 0; i < c->n; i++) {
        const uint32_t b = c->births[i];
        plan->pool[b] = c->shelf[b] / 2;
        plan->offset[b] = place_of(c, b);
    }
    arn_meter_improved(meter, cost);
}

static arenaut_status torch_caching_run(const arenaut_planner *self, arenaut_planning *planning) {
    arn_meter meter = arn_meter_start(planning, self->name);
    arn_region region;
    arenaut_status st = arn_settings_check(planning, self, SETTING);
    if (st != ARENAUT_OK) return st;
    const char *segments = arn_setting(planning, SETTING, "fixed");
    cache c = {.problem = planning->problem, .expandable = strcmp(segments, "expandable") == 0};
    if (!c.expandable && strcmp(segments, "fixed") != 0) {
        return arn_setting_bad(planning, self, SETTING, segments);
    }
    st = run_cache(&c, planning->allocator, &region, planning->err);
    arn_meter_spend(&meter, c.n);
    if (st == ARENAUT_OK) keep(&meter, &c);
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
    cache c = {.problem = problem, .expandable = expandable};
    arn_region region;
    st = run_cache(&c, allocator, &region, err);
    uint64_t sum = 0;
    for (uint32_t k = 0; k < SHELVES && st == ARENAUT_OK; k++) {
        if (!arn_add(sum, c.reserved[k], &sum)) {
            st = arn_fail(err, ARENAUT_TOO_LARGE, 0, "the pools add up to more than 2^63 - 1");
        }
    }
    arn_region_free(&region);
    if (st == ARENAUT_OK) *bytes = sum;
    return st;
}
