/* Settling by a tree of heights over sections.
 *
 * A group lands on the highest group below it, and all its sections then have the height of its
 * end. Since heights only grow, a node that is covered whole need only remember the height: nothing
 * is pushed down, and both steps go up the tree from two leaves. */
#include "planners/placing/settle.h"

#include <string.h>

#include "core/checked.h"

typedef struct node_heights {
    uint64_t highest; /* below the node */
    uint64_t floor;   /* all below it is at least so high */
} node_heights;

typedef struct heights {
    node_heights *node; /* node k is above 2k and 2k + 1 */
    uint32_t n_leaves;  /* from there on */
} heights;

/* What is read of a group, for some that come one after another: their cache misses overlap. */
typedef struct falling {
    uint64_t extent, align;
    uint32_t first, end;
} falling;

enum { FALLING = 64 };

static bool heights_make(heights *h, uint32_t n_sections, arn_region *region) {
    h->n_leaves = 1;
    while (h->n_leaves < n_sections) h->n_leaves *= 2;
    const size_t n = 2 * (size_t)h->n_leaves;
    h->node = arn_region_allocate(region, n, sizeof *h->node);
    if (h->node) memset(h->node, 0, n * sizeof *h->node);
    return h->node != NULL;
}

static uint64_t highest_floor_above(const heights *h, uint32_t leaf) {
    uint64_t height = 0;
    for (uint32_t node = leaf; node; node /= 2) height = arn_max_u64(height, h->node[node].floor);
    return height;
}

static uint64_t highest(const heights *h, uint32_t first, uint32_t end) {
    uint32_t low = first + h->n_leaves, high = end + h->n_leaves;
    uint64_t height = arn_max_u64(highest_floor_above(h, low), highest_floor_above(h, high - 1));
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1) height = arn_max_u64(height, h->node[low++].highest);
        if (high & 1) height = arn_max_u64(height, h->node[--high].highest);
    }
    return height;
}

static void cover(heights *h, uint32_t node, uint64_t height) {
    h->node[node].floor = height;
    h->node[node].highest = height;
}

static void pull_up(heights *h, uint32_t leaf, uint64_t height) {
    for (uint32_t node = leaf / 2; node; node /= 2)
        h->node[node].highest = arn_max_u64(h->node[node].highest, height);
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

/* Looks up groups [from, end) of the order. */
static void look_up(const arn_workspace *space, uint32_t from, uint32_t end, falling *next) {
    for (uint32_t k = from; k < end; k++) {
        const uint32_t i = space->order[k];
        const arn_group *group = &space->groups.group[i];
        *next++ = (falling){group->extent, group->align, space->timeline.first[i],
                            space->timeline.end[i]};
    }
}

bool arn_settle(arn_workspace *space, uint64_t limit, uint64_t *top) {
    const uint32_t n = space->groups.n;
    falling next[FALLING];
    heights h;
    if (!heights_make(&h, space->timeline.n_sections, &space->region)) return false;
    *top = 0;
    for (uint32_t k = 0; k < n && *top <= limit; k++) {
        if (k % FALLING == 0) look_up(space, k, n - k < FALLING ? n : k + FALLING, next);
        const falling *f = &next[k % FALLING];
        const uint64_t at = arn_aligned(highest(&h, f->first, f->end), f->align);
        space->offset[space->order[k]] = at;
        raise(&h, f->first, f->end, at + f->extent);
        *top = arn_max_u64(*top, at + f->extent);
    }
    return true;
}
