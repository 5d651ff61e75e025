/* Settling onto plateaus of equal height over sections. A group lands on the highest that it lies
 * over; they become one of the height of its end, but for what is left of the last. Each group
 * makes at most two plateaus, so that they are passed in O(1) on average. */
#include "planners/placing/settle.h"

#include "core/checked.h"
#include "core/number_set.h"

typedef struct ground {
    uint32_t n_sections;
    arn_number_set begins; /* the sections at which plateaus begin */
    uint64_t *height;      /* of these */
} ground;

/* What is read of a group, for some that come one after another: their cache misses overlap. */
typedef struct falling {
    uint64_t extent, align;
    uint32_t first, end;
} falling;

enum { FALLING = 64 };

static void begin_plateau(ground *g, uint32_t section, uint64_t height) {
    arn_number_set_put(&g->begins, section);
    g->height[section] = height;
}

static bool ground_make(ground *g, uint32_t n_sections, arn_region *region) {
    uint32_t *words = arn_region_allocate(region, arn_number_set_words(n_sections), sizeof *words);
    g->n_sections = n_sections;
    g->height = arn_region_allocate(region, n_sections, sizeof *g->height);
    if (!words || !g->height) return false;
    arn_number_set_clear(&g->begins, n_sections, words);
    if (n_sections) begin_plateau(g, 0, 0);
    return true;
}

/* Returns the offset at which the group lands. */
static uint64_t land(ground *g, const falling *f) {
    const bool is_begin = arn_number_set_has(&g->begins, f->first);
    uint32_t k = is_begin ? f->first : arn_number_set_below(&g->begins, f->first);
    uint64_t height = 0, last = 0;
    for (uint32_t next; k < f->end; k = next) {
        next = arn_number_set_above(&g->begins, k);
        last = g->height[k];
        height = arn_max_u64(height, last);
        if (k > f->first) arn_number_set_take(&g->begins, k);
    }
    if (k > f->end && f->end < g->n_sections) begin_plateau(g, f->end, last);
    height = arn_aligned(height, f->align);
    begin_plateau(g, f->first, height + f->extent);
    return height;
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
    ground g;
    if (!ground_make(&g, space->timeline.n_sections, &space->region)) return false;
    *top = 0;
    for (uint32_t k = 0; k < n && *top <= limit; k++) {
        if (k % FALLING == 0) look_up(space, k, n - k < FALLING ? n : k + FALLING, next);
        const falling *f = &next[k % FALLING];
        const uint64_t at = land(&g, f);
        space->offset[space->order[k]] = at;
        *top = arn_max_u64(*top, at + f->extent);
    }
    return true;
}
