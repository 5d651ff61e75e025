/* Strip packing of a few groups by the skyline, over an order that is changed where it fails.
 *
 * The orders by load, by length of life and by start come first. From the best of them on, the
 * first group that ended too high moves forward after each placement (squeaky wheel optimisation:
 * Joslin, Clements 1999), and now and then another one. Groups are so few that plateaus are an
 * array, and the lowest is looked for: O(groups) a group, in the cache, is less than trees and
 * heaps take.
 */
#include "planners/search/zone.h"

#include <string.h>

#include "core/checked.h"
#include "core/hash.h"
#include "core/sort.h"

enum { NO_GROUP = ARN_ZONE_GROUPS, CUTS = 2 * ARN_ZONE_GROUPS };

/* ---- the first order ---- */

/* Counts only the sections that begin or end with a group of the zone. */
static void renumber_sections(arn_zone *z) {
    uint64_t key[CUTS];
    uint32_t ids[CUTS], scratch[CUTS], cut = 0;
    for (uint32_t i = 0; i < z->n; i++) {
        key[2 * i] = z->first[i];
        key[2 * i + 1] = z->end[i];
        ids[2 * i] = 2 * i;
        ids[2 * i + 1] = 2 * i + 1;
    }
    arn_sort_by_key(ids, 2 * (size_t)z->n, key, scratch);
    for (uint32_t k = 0; k < 2 * z->n; k++) {
        if (k && key[ids[k]] != key[ids[k - 1]]) cut++;
        (ids[k] & 1 ? z->end : z->first)[ids[k] / 2] = cut;
    }
    z->n_sections = cut;
}

static void find_loads(arn_zone *z) {
    memset(z->load, 0, sizeof z->load);
    for (uint32_t i = 0; i < z->n; i++) {
        for (uint32_t s = z->first[i]; s < z->end[i]; s++) z->load[s] += z->size[i];
    }
    for (uint32_t i = 0; i < z->n; i++) {
        uint64_t highest = 0;
        for (uint32_t s = z->first[i]; s < z->end[i]; s++)
            highest = arn_max_u64(highest, z->load[s]);
        z->highest_load[i] = highest;
        z->work += 2 * (uint64_t)(z->end[i] - z->first[i]);
    }
}

static bool meets_more(const void *context, uint32_t a, uint32_t b) {
    const arn_zone *z = context;
    if (z->highest_load[a] != z->highest_load[b]) return z->highest_load[a] > z->highest_load[b];
    if (z->width[a] != z->width[b]) return z->width[a] > z->width[b];
    return z->size[a] > z->size[b];
}

static bool is_longer(const void *context, uint32_t a, uint32_t b) {
    const arn_zone *z = context;
    if (z->width[a] != z->width[b]) return z->width[a] > z->width[b];
    return z->size[a] > z->size[b];
}

static bool starts_earlier(const void *context, uint32_t a, uint32_t b) {
    const arn_zone *z = context;
    return z->first[a] < z->first[b];
}

/* The first orders, which fail in different zones. */
static const arn_before_fn first_order[] = {meets_more, is_longer, starts_earlier};
enum { FIRST_ORDERS = sizeof first_order / sizeof *first_order };

static void next_first_order(arn_zone *z) {
    uint32_t scratch[ARN_ZONE_GROUPS];
    for (uint32_t i = 0; i < z->n; i++) z->order[i] = i;
    arn_sort_ids(z->order, z->n, first_order[z->n_orders++], z, scratch);
    z->work += 16 * (uint64_t)z->n;
}

void arn_zone_start(arn_zone *z) {
    for (uint32_t i = 0; i < z->n; i++) z->width[i] = z->end[i] - z->first[i];
    z->best = UINT64_MAX;
    z->n_orders = 0;
    z->work += 16 * (uint64_t)z->n;
    renumber_sections(z);
    find_loads(z);
    next_first_order(z);
}

/* ---- one placement ---- */

static uint32_t lowest_plateau(arn_zone *z) {
    uint32_t lowest = 0;
    for (uint32_t p = 1; p < z->n_plateaus; p++) {
        if (z->height[p] < z->height[lowest]) lowest = p;
    }
    z->work += 8 + z->n_plateaus / 3;
    return lowest;
}

/* Makes room for `n` plateaus more behind p, or takes as many away if that is negative. */
static void shift(arn_zone *z, uint32_t p, int n) {
    const uint32_t from = p + 1 + (n < 0 ? (uint32_t)-n : 0), to = from + (uint32_t)n;
    const size_t moved = z->n_plateaus + 1 - from;
    memmove(z->begin + to, z->begin + from, moved * sizeof *z->begin);
    memmove(z->height + to, z->height + from, moved * sizeof *z->height);
    z->n_plateaus += (uint32_t)n;
}

/* Gives plateau p a new height, and joins it with neighbours of the same. */
static void set_height(arn_zone *z, uint32_t p, uint64_t height) {
    z->height[p] = height;
    if (p + 1 < z->n_plateaus && z->height[p + 1] == height) shift(z, p, -1);
    if (p > 0 && z->height[p - 1] == height) shift(z, p - 1, -1);
}

/* To the lower of its neighbours. */
static void raise(arn_zone *z, uint32_t p) {
    uint64_t height = UINT64_MAX;
    if (p > 0) height = z->height[p - 1];
    if (p + 1 < z->n_plateaus) height = arn_min_u64(height, z->height[p + 1]);
    set_height(z, p, height);
}

/* Sections [first, end) of plateau p. */
static void build_on(arn_zone *z, uint32_t p, uint32_t first, uint32_t end, uint64_t height) {
    if (end < z->begin[p + 1]) {
        shift(z, p, 1);
        z->begin[p + 1] = end;
        z->height[p + 1] = z->height[p];
    }
    if (z->begin[p] < first) {
        shift(z, p, 1);
        z->begin[++p] = first;
    }
    set_height(z, p, height);
}

/* The place in `left` of the first group that lives within plateau p; n: there is none. */
static uint32_t find_within(arn_zone *z, const uint32_t *left, uint32_t n, uint32_t p) {
    const uint32_t first = z->begin[p], end = z->begin[p + 1];
    uint32_t k = 0;
    while (k < n && (z->first[left[k]] < first || z->end[left[k]] > end)) k++;
    z->work += 8 + k / 2;
    return k;
}

/* *failed: the first group that ends above `goal`, or NO_GROUP. */
static uint64_t place_all(arn_zone *z, uint64_t goal, uint32_t *failed) {
    uint32_t left[ARN_ZONE_GROUPS], n = z->n;
    uint64_t top = 0;
    *failed = NO_GROUP;
    memcpy(left, z->order, n * sizeof *left);
    z->n_plateaus = 1;
    z->begin[0] = 0;
    z->begin[1] = z->n_sections;
    z->height[0] = 0;
    while (n > 0) {
        const uint32_t p = lowest_plateau(z);
        const uint32_t k = find_within(z, left, n, p);
        if (k == n) {
            raise(z, p);
            continue;
        }
        const uint32_t i = left[k];
        memmove(left + k, left + k + 1, (--n - k) * sizeof *left);
        z->offset[i] = arn_aligned(z->height[p], z->align[i]);
        const uint64_t end = z->offset[i] + z->size[i];
        if (end > goal && *failed == NO_GROUP) *failed = i;
        top = arn_max_u64(top, end);
        build_on(z, p, z->first[i], z->end[i], end);
    }
    return top;
}

/* ---- the search ---- */

static void move_forward(arn_zone *z, uint32_t group) {
    uint32_t k = 0;
    while (z->order[k] != group) k++;
    if (k == 0) return;
    const uint32_t to = arn_random_below(&z->random, 2) ? arn_random_below(&z->random, k) : k / 2;
    memmove(z->order + to + 1, z->order + to, (k - to) * sizeof *z->order);
    z->order[to] = group;
}

void arn_zone_shake(arn_zone *z) { move_forward(z, z->order[arn_random_below(&z->random, z->n)]); }

uint64_t arn_zone_place(arn_zone *z, uint64_t goal) {
    uint32_t failed;
    const uint64_t top = place_all(z, goal, &failed);
    if (top <= z->best) {
        z->best = top;
        memcpy(z->best_order, z->order, z->n * sizeof *z->order);
    } else if (arn_random_below(&z->random, 3)) {
        memcpy(z->order, z->best_order, z->n * sizeof *z->order);
    }
    if (failed == NO_GROUP) return top;
    if (z->n_orders < FIRST_ORDERS) {
        next_first_order(z);
        return top;
    }
    if (arn_random_below(&z->random, 8) == 0) arn_zone_shake(z);
    else move_forward(z, failed);
    return top;
}

void arn_zone_place_best(arn_zone *z) {
    uint32_t failed;
    memcpy(z->order, z->best_order, z->n * sizeof *z->order);
    place_all(z, UINT64_MAX, &failed);
}
