/* Cuts time where a group starts or ends, and sums up what is alive in between. O(n log n). Orders
 * and the skyline count in these sections, of which there are no more than twice the groups. */
#include "planners/placing/timeline.h"

#include "core/sort.h"

static void find_loads(const arn_groups *groups, arn_timeline *t) {
    for (uint32_t k = 0; k < t->n_sections; k++) t->load[k] = 0;
    for (uint32_t i = 0; i < groups->n; i++) {
        t->load[t->first[i]] += groups->group[i].extent;
        if (t->end[i] < t->n_sections) t->load[t->end[i]] -= groups->group[i].extent;
    }
    for (uint32_t k = 1; k < t->n_sections; k++) t->load[k] += t->load[k - 1];
}

static int64_t first_step(const arn_group *group) { return group->first; }
static int64_t end_step(const arn_group *group) { return group->end; }

/* All groups in the order of what `step_of` says. */
static uint32_t *sorted_steps(const arn_groups *groups, int64_t (*step_of)(const arn_group *),
                              arn_region *region) {
    uint64_t *key = arn_region_allocate(region, groups->n, sizeof *key);
    uint32_t *order = arn_region_allocate(region, (size_t)groups->n * 2, sizeof *order);
    if (!key || !order) return NULL;
    for (uint32_t i = 0; i < groups->n; i++) {
        key[i] = arn_step_key(step_of(&groups->group[i]));
        order[i] = i;
    }
    arn_sort_by_key(order, groups->n, key, order + groups->n);
    return order;
}

bool arn_timeline_make(const arn_groups *groups, arn_region *region, arn_timeline *t) {
    const size_t n = groups->n;
    if (n > UINT32_MAX / 4) return false;
    t->first = arn_region_allocate(region, n, sizeof *t->first);
    t->end = arn_region_allocate(region, n, sizeof *t->end);
    if (!t->first || !t->end) return false;
    uint32_t *starts = sorted_steps(groups, first_step, region);
    uint32_t *ends = sorted_steps(groups, end_step, region);
    if (!starts || !ends) return false;
    uint32_t cut = 0;
    int64_t step = n ? groups->group[starts[0]].first : 0;
    for (size_t i = 0, k = 0; k < n;) {
        const bool starts_next =
            i < n && groups->group[starts[i]].first <= groups->group[ends[k]].end;
        const uint32_t id = starts_next ? starts[i++] : ends[k++];
        const int64_t now = starts_next ? groups->group[id].first : groups->group[id].end;
        if (now != step) cut++;
        step = now;
        (starts_next ? t->first : t->end)[id] = cut;
    }
    t->n_sections = cut; /* the last cut begins nothing */
    t->load = arn_region_allocate(region, t->n_sections, sizeof *t->load);
    if (!t->load) return false;
    find_loads(groups, t);
    return true;
}
