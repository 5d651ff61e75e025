#include "planners/timeline.h"

#include "core/sort.h"

/* Events are numbered 2 × item for its start and 2 × item + 1 for its end. */
static int64_t step_of(const arn_items *items, uint32_t event) {
    const arn_item *item = &items->item[event / 2];
    return event & 1 ? item->end : item->first;
}

static bool event_before(const void *context, uint32_t a, uint32_t b) {
    return step_of(context, a) < step_of(context, b);
}

static void find_loads(const arn_items *items, arn_timeline *t) {
    for (uint32_t k = 0; k < t->n_sections; k++) t->load[k] = 0;
    for (uint32_t i = 0; i < items->n; i++) {
        t->load[t->first[i]] += items->item[i].extent;
        if (t->end[i] < t->n_sections) t->load[t->end[i]] -= items->item[i].extent;
    }
    for (uint32_t k = 1; k < t->n_sections; k++) t->load[k] += t->load[k - 1];
}

bool arn_timeline_make(const arn_items *items, arn_region *region, arn_timeline *t) {
    const size_t n = items->n;
    if (n > UINT32_MAX / 4) return false;
    t->first = arn_region_allocate(region, n, sizeof *t->first);
    t->end = arn_region_allocate(region, n, sizeof *t->end);
    uint32_t *events = arn_region_allocate(region, n * 4, sizeof *events);
    if (!t->first || !t->end || !events) return false;
    for (uint32_t e = 0; e < 2 * n; e++) events[e] = e;
    arn_sort_ids(events, 2 * n, event_before, items, events + 2 * n);
    uint32_t cut = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        if (i > 0 && step_of(items, events[i]) != step_of(items, events[i - 1])) cut++;
        (events[i] & 1 ? t->end : t->first)[events[i] / 2] = cut;
    }
    t->n_sections = cut; /* the last cut begins nothing */
    t->load = arn_region_allocate(region, t->n_sections, sizeof *t->load);
    if (!t->load) return false;
    find_loads(items, t);
    return true;
}
