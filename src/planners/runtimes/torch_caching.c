/* torch-caching: a replica of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp), best
 * fit in segments that are kept, request by request, as long as the device has memory.
 *
 * Sizes are rounded up to 512 bytes. Requests to 1 MiB and larger ones have shelves of their own, a
 * stream (a pool here) two. A request takes the smallest free block of its shelf that is large
 * enough, of equal ones the one at the lowest address, and gives the rest of it back; else a new
 * segment is reserved. A block that is released is coalesced with its free neighbours in the
 * segment. With expandable segments a shelf is one segment, which grows at its end, and its last
 * block is taken only if no other will do.
 *
 * Where segments lie is the driver's business; here each begins where the one before it ends. Bytes
 * reserved behind the last used one are in no plan: arenaut_caching_reserve counts them. O(log n)
 * for each request, and a move of the list of free blocks. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/problem.h>
#include <arenaut/trace.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "planners/bounds/bounds.h"
#include "planners/run/planner_rows.h"
#include "planners/tokens/token_list.h"

#define GRAIN UINT64_C(512)

/* A stretch of a segment that is out, or free. */
typedef struct caching_block {
    uint64_t at, size; /* `at` is counted from the start of the pool, or of an expandable shelf */
    uint32_t before, after; /* its neighbours in the segment; ARENAUT_NONE: none */
    uint32_t shelf;         /* 2 × pool, and 1 more for large requests */
    bool is_free;
} caching_block;

enum { SHELVES = 2 * ARENAUT_MAX_POOLS };

typedef struct caching {
    bool expandable;
    caching_block *blocks;
    uint32_t n_blocks;
    uint32_t *unused; /* numbers of blocks that were joined to others */
    uint32_t n_unused;
    uint32_t *free; /* free blocks by shelf, size, address */
    uint32_t n_free;
    uint32_t last[SHELVES];         /* the block at the end of an expandable shelf */
    uint64_t reserved[SHELVES];     /* bytes */
    uint64_t at[ARENAUT_MAX_POOLS]; /* the start of the next segment of a pool */
} caching;

#define KIB(n) (UINT64_C(1024) * (n))
#define MIB(n) (UINT64_C(1024) * KIB(n))
#define MOST_SMALL MIB(1)    /* the largest request for a small shelf */
#define SMALL_SEGMENT MIB(2) /* also how an expandable small shelf grows */
#define LARGE_SEGMENT MIB(20)
#define LEAST_OWN MIB(10) /* from here on a request gets a segment of its own size */
#define OWN_GRAIN MIB(2)

/* With room for so many requests, each of which makes at most two blocks: a segment, and the rest
 * of it. False if there is no memory. */
static bool caching_make(caching *c, bool expandable, uint32_t n_requests, arn_region *region) {
    memset(c, 0, sizeof *c);
    c->expandable = expandable;
    for (uint32_t k = 0; k < SHELVES; k++) c->last[k] = ARENAUT_NONE;
    return ARN_REGION_ARRAYS(region, ARN_ARRAY(c->blocks, 2 * (size_t)n_requests),
                             ARN_ARRAY(c->unused, 2 * (size_t)n_requests),
                             ARN_ARRAY(c->free, 2 * (size_t)n_requests));
}

/* ---- free blocks ---- */

static bool block_before(const caching_block *a, const caching_block *b) {
    if (a->shelf != b->shelf) return a->shelf < b->shelf;
    return a->size != b->size ? a->size < b->size : a->at < b->at;
}

/* The first free block that is not before `key`. */
static uint32_t first_free(const caching *c, const caching_block *key) {
    uint32_t low = 0, high = c->n_free;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (block_before(&c->blocks[c->free[middle]], key)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void shelve(caching *c, uint32_t id) {
    const uint32_t at = first_free(c, &c->blocks[id]);
    memmove(c->free + at + 1, c->free + at, (c->n_free - at) * sizeof *c->free);
    c->free[at] = id;
    c->n_free++;
    c->blocks[id].is_free = true;
}

static void unshelve(caching *c, uint32_t id) {
    const uint32_t at = first_free(c, &c->blocks[id]);
    c->n_free--;
    memmove(c->free + at, c->free + at + 1, (c->n_free - at) * sizeof *c->free);
    c->blocks[id].is_free = false;
}

static uint32_t new_block(caching *c, uint32_t shelf, uint64_t at, uint64_t size) {
    const uint32_t id = c->n_unused ? c->unused[--c->n_unused] : c->n_blocks++;
    const caching_block made = {
        .at = at, .size = size, .before = ARENAUT_NONE, .after = ARENAUT_NONE, .shelf = shelf};
    c->blocks[id] = made;
    return id;
}

/* Joins `second` to `first`, its neighbour. Neither is on a shelf. */
static void join(caching *c, uint32_t first, uint32_t second) {
    caching_block *kept = &c->blocks[first];
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

static bool reserve(caching *c, uint32_t shelf, uint64_t bytes) {
    return arn_add(c->reserved[shelf], bytes, &c->reserved[shelf]) &&
           arn_add(c->at[shelf / 2], bytes, &c->at[shelf / 2]);
}

/* ARENAUT_NONE past all sizes. */
static uint32_t reserve_segment(caching *c, uint32_t shelf, uint64_t size) {
    const uint64_t bytes = segment_size(size), at = c->at[shelf / 2];
    return reserve(c, shelf, bytes) ? new_block(c, shelf, at, bytes) : ARENAUT_NONE;
}

/* Lets the shelf's segment grow until its last block, if that is free, has `size` bytes. */
static uint32_t expand_segment(caching *c, uint32_t shelf, uint64_t size) {
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
static uint32_t best_fit(caching *c, uint32_t shelf, uint64_t size) {
    const caching_block key = {.shelf = shelf, .size = size};
    uint32_t at = first_free(c, &key);
    if (at == c->n_free || c->blocks[c->free[at]].shelf != shelf) return ARENAUT_NONE;
    const bool another = at + 1 < c->n_free && c->blocks[c->free[at + 1]].shelf == shelf;
    if (c->expandable && c->free[at] == c->last[shelf] && another) at++;
    const uint32_t id = c->free[at];
    unshelve(c, id);
    return id;
}

static bool is_worth_splitting(const caching *c, uint32_t shelf, uint64_t rest) {
    return c->expandable || !(shelf & 1) ? rest >= GRAIN : rest > MOST_SMALL;
}

static void split(caching *c, uint32_t id, uint64_t size) {
    const caching_block whole = c->blocks[id];
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

/* The number of the block that is handed out; ARENAUT_NONE past all sizes. It is the caller's until
 * it is released. O(log n), and a move of the list of free blocks. */
static uint32_t caching_request(caching *c, uint32_t pool, uint64_t asked) {
    const uint64_t size = (asked + GRAIN - 1) / GRAIN * GRAIN;
    const uint32_t shelf = 2 * pool + (size > MOST_SMALL);
    uint32_t id = best_fit(c, shelf, size);
    if (id == ARENAUT_NONE) {
        id = c->expandable ? expand_segment(c, shelf, size) : reserve_segment(c, shelf, size);
    }
    if (id != ARENAUT_NONE) split(c, id, size);
    return id;
}

static void caching_release(caching *c, uint32_t id) {
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

#define SETTING "segments"

typedef struct replay {
    const arenaut_problem *problem;
    caching caching;
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
    return ARN_REGION_ARRAYS(region, ARN_ARRAY(r->births, n), ARN_ARRAY(r->deaths, n),
                             ARN_ARRAY(r->block_of, n), ARN_ARRAY(r->shelf, n),
                             ARN_ARRAY(r->offset, n)) &&
           caching_make(&r->caching, expandable, n, region);
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
    const uint32_t id = caching_request(&r->caching, pool, r->problem->size[b]);
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
            caching_release(&r->caching, r->block_of[r->deaths[dead++]]);
        }
        if (!hand_out(r, b)) return false;
    }
    return true;
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

/* The shelves of a pool lie one behind the other if they are expandable. */
static uint64_t place_of(const replay *r, uint32_t b) {
    const uint32_t shelf = r->shelf[b];
    return r->offset[b] +
           (r->caching.expandable && (shelf & 1) ? r->caching.reserved[shelf - 1] : 0);
}

/* The cost of the plan; ARN_NO_PLAN if a pool is too small. */
static arenaut_cost find_cost(const replay *r) {
    const arenaut_problem *p = r->problem;
    uint64_t end[ARENAUT_MAX_POOLS] = {0};
    arenaut_cost cost = arn_plan_cost(0, 0); /* each is in the fastest of its pools */
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
    const arenaut_cost cost = find_cost(r);
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
    if (arn_problem_features(problem) & ~arn_planner_torch_caching.handles) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "the caching allocator knows no fixed offsets, edges, slices, "
                        "separations, reserved ranges and tokens");
    }
    replay r = {.problem = problem};
    arn_region region;
    st = serve(&r, expandable, allocator, &region, err);
    uint64_t sum = 0;
    for (uint32_t k = 0; k < SHELVES && st == ARENAUT_OK; k++) {
        if (!arn_add(sum, r.caching.reserved[k], &sum)) {
            st = arn_fail(err, ARENAUT_TOO_LARGE, 0, "the pools add up to more than 2^63 - 1");
        }
    }
    arn_region_free(&region);
    if (st == ARENAUT_OK) *bytes = sum;
    return st;
}
