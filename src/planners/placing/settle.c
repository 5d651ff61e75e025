/* Settling by a tree of heights over sections.
 *
 * A group lands on the highest group below it, and all its sections then have the height of its
 * end. Since heights only grow, a node that is covered whole need only remember the height: nothing
 * is pushed down, and both steps go up the tree from two leaves. */
#include "planners/placing/settle.h"

#include <string.h>

#include "core/checked.h"

typedef struct heights {
    uint64_t *highest; /* per node: below it */
    uint64_t *floor;   /* per node: all below it is at least so high */
    uint32_t n_leaves; /* from there on; node k is above 2k and 2k + 1 */
} heights;

static bool heights_make(heights *h, uint32_t n_sections, arn_region *region) {
    h->n_leaves = 1;
    while (h->n_leaves < n_sections) h->n_leaves *= 2;
    const size_t n = 2 * (size_t)h->n_leaves;
    h->highest = arn_region_allocate(region, n, sizeof *h->highest);
    h->floor = arn_region_allocate(region, n, sizeof *h->floor);
    if (!h->highest || !h->floor) return false;
    memset(h->highest, 0, n * sizeof *h->highest);
    memset(h->floor, 0, n * sizeof *h->floor);
    return true;
}

static uint64_t highest_floor_above(const heights *h, uint32_t leaf) {
    uint64_t height = 0;
    for (uint32_t node = leaf; node; node /= 2) height = arn_max_u64(height, h->floor[node]);
    return height;
}

static uint64_t highest(const heights *h, uint32_t first, uint32_t end) {
    uint32_t low = first + h->n_leaves, high = end + h->n_leaves;
    uint64_t height = arn_max_u64(highest_floor_above(h, low), highest_floor_above(h, high - 1));
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1) height = arn_max_u64(height, h->highest[low++]);
        if (high & 1) height = arn_max_u64(height, h->highest[--high]);
    }
    return height;
}

static void cover(heights *h, uint32_t node, uint64_t height) {
    h->floor[node] = height;
    h->highest[node] = height;
}

static void pull_up(heights *h, uint32_t leaf, uint64_t height) {
    for (uint32_t node = leaf / 2; node; node /= 2)
        h->highest[node] = arn_max_u64(h->highest[node], height);
}

static void raise(heights *h, uint32_t first, uint32_t end, uint64_t height) {
    uint32_t low = first + h->n_leaves, high = end + h->n_leaves;
    pull_up(h, low, height);
    pull_up(h, high - 1, height);
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1) cover(h, low++, height);
        if (high & 1) cover(h, --high, height);
    }
}

bool arn_settle(arn_workspace *space, uint64_t limit, uint64_t *top) {
    const arn_groups *groups = &space->groups;
    const arn_timeline *timeline = &space->timeline;
    heights h;
    if (!heights_make(&h, timeline->n_sections, &space->region)) return false;
    *top = 0;
    for (uint32_t k = 0; k < groups->n && *top <= limit; k++) {
        const uint32_t i = space->order[k];
        const uint32_t first = timeline->first[i], end = timeline->end[i];
        space->offset[i] = arn_aligned(highest(&h, first, end), groups->group[i].align);
        const uint64_t rise = space->offset[i] + groups->group[i].extent;
        raise(&h, first, end, rise);
        *top = arn_max_u64(*top, rise);
    }
    return true;
}
