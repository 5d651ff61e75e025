/* How the caching allocator keeps its free blocks, and where it takes and puts them. */
#include "planners/runtimes/caching_segments.h"

#include <string.h>

#include "core/checked.h"

#define KIB(n) (UINT64_C(1024) * (n))
#define MIB(n) (UINT64_C(1024) * KIB(n))
#define MOST_SMALL MIB(1)    /* the largest request for a small shelf */
#define SMALL_SEGMENT MIB(2) /* also how an expandable small shelf grows */
#define LARGE_SEGMENT MIB(20)
#define LEAST_OWN MIB(10) /* from here on a request gets a segment of its own size */
#define OWN_GRAIN MIB(2)

/* A request makes at most two blocks: a segment, and what is left of it. */
bool arn_caching_make(arn_caching *c, bool expandable, uint32_t n_requests, arn_region *region) {
    memset(c, 0, sizeof *c);
    c->expandable = expandable;
    for (uint32_t k = 0; k < ARN_CACHING_SHELVES; k++) c->last[k] = ARENAUT_NONE;
    c->blocks = arn_region_allocate(region, n_requests, 2 * sizeof *c->blocks);
    c->unused = arn_region_allocate(region, n_requests, 2 * sizeof *c->unused);
    c->free = arn_region_allocate(region, n_requests, 2 * sizeof *c->free);
    return c->blocks && c->unused && c->free;
}

/* ---- free blocks ---- */

static bool block_before(const arn_caching_block *a, const arn_caching_block *b) {
    if (a->shelf != b->shelf) return a->shelf < b->shelf;
    return a->size != b->size ? a->size < b->size : a->at < b->at;
}

/* The first free block that is not before `key`. */
static uint32_t first_free(const arn_caching *c, const arn_caching_block *key) {
    uint32_t low = 0, high = c->n_free;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (block_before(&c->blocks[c->free[middle]], key)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void shelve(arn_caching *c, uint32_t id) {
    const uint32_t at = first_free(c, &c->blocks[id]);
    memmove(c->free + at + 1, c->free + at, (c->n_free - at) * sizeof *c->free);
    c->free[at] = id;
    c->n_free++;
    c->blocks[id].is_free = true;
}

static void unshelve(arn_caching *c, uint32_t id) {
    const uint32_t at = first_free(c, &c->blocks[id]);
    c->n_free--;
    memmove(c->free + at, c->free + at + 1, (c->n_free - at) * sizeof *c->free);
    c->blocks[id].is_free = false;
}

static uint32_t new_block(arn_caching *c, uint32_t shelf, uint64_t at, uint64_t size) {
    const uint32_t id = c->n_unused ? c->unused[--c->n_unused] : c->n_blocks++;
    const arn_caching_block made = {
        .at = at, .size = size, .before = ARENAUT_NONE, .after = ARENAUT_NONE, .shelf = shelf};
    c->blocks[id] = made;
    return id;
}

/* Joins `second` to `first`, its neighbour. Neither is on a shelf. */
static void join(arn_caching *c, uint32_t first, uint32_t second) {
    arn_caching_block *kept = &c->blocks[first];
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

static bool reserve(arn_caching *c, uint32_t shelf, uint64_t bytes) {
    return arn_add(c->reserved[shelf], bytes, &c->reserved[shelf]) &&
           arn_add(c->at[shelf / 2], bytes, &c->at[shelf / 2]);
}

/* ARENAUT_NONE past all sizes. */
static uint32_t reserve_segment(arn_caching *c, uint32_t shelf, uint64_t size) {
    const uint64_t bytes = segment_size(size), at = c->at[shelf / 2];
    return reserve(c, shelf, bytes) ? new_block(c, shelf, at, bytes) : ARENAUT_NONE;
}

/* Lets the shelf's segment grow until its last block, if that is free, has `size` bytes. */
static uint32_t expand_segment(arn_caching *c, uint32_t shelf, uint64_t size) {
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
static uint32_t best_fit(arn_caching *c, uint32_t shelf, uint64_t size) {
    const arn_caching_block key = {.shelf = shelf, .size = size};
    uint32_t at = first_free(c, &key);
    if (at == c->n_free || c->blocks[c->free[at]].shelf != shelf) return ARENAUT_NONE;
    const bool another = at + 1 < c->n_free && c->blocks[c->free[at + 1]].shelf == shelf;
    if (c->expandable && c->free[at] == c->last[shelf] && another) at++;
    const uint32_t id = c->free[at];
    unshelve(c, id);
    return id;
}

static bool is_worth_splitting(const arn_caching *c, uint32_t shelf, uint64_t rest) {
    return c->expandable || !(shelf & 1) ? rest >= ARN_CACHING_GRAIN : rest > MOST_SMALL;
}

static void split(arn_caching *c, uint32_t id, uint64_t size) {
    const arn_caching_block whole = c->blocks[id];
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

uint32_t arn_caching_request(arn_caching *c, uint32_t pool, uint64_t asked) {
    const uint64_t size = (asked + ARN_CACHING_GRAIN - 1) / ARN_CACHING_GRAIN * ARN_CACHING_GRAIN;
    const uint32_t shelf = 2 * pool + (size > MOST_SMALL);
    uint32_t id = best_fit(c, shelf, size);
    if (id == ARENAUT_NONE) {
        id = c->expandable ? expand_segment(c, shelf, size) : reserve_segment(c, shelf, size);
    }
    if (id != ARENAUT_NONE) split(c, id, size);
    return id;
}

void arn_caching_release(arn_caching *c, uint32_t id) {
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
