/* Large neighbourhood search in time: for each group that ends too high, all groups alive with it
 * are taken out and placed anew as a zone (zone.c); then those outside the zone that they came to
 * lie upon, each in the lowest gap. Kept if that leaves less above the goal.
 *
 * A plan by the skyline is mostly too high at a handful of moments, however many groups there are,
 * so that this takes a small part of its time. Groups lie in the order of their starts under a
 * tree of latest ends: the k alive in a stretch of time are found in O(k + log n). */
#include "planners/search/mend.h"

#include "core/checked.h"
#include "core/sort.h"
#include "planners/search/zone.h"

enum {
    ROUNDS = 30,     /* orders that are tried for a zone */
    REFUSED = 4,     /* that fit, and push out too much */
    OUTSIDE = 256,   /* so many groups outside a zone may have to move */
    LEAF = 16,       /* groups below a leaf of the tree */
    NODE_WORK = 2,   /* to pass a node of the tree */
    WALK = 4,        /* sections that are passed for as much as a unit */
    PLACE_WORK = 16, /* to place a group in a gap, and for each group around it a half */
};

/* The groups of a zone at most, pass by pass over all that is too high. */
static const uint32_t zone_groups[] = {ARN_ZONE_GROUPS / 2, ARN_ZONE_GROUPS, ARN_ZONE_GROUPS / 4,
                                       ARN_ZONE_GROUPS / 2, ARN_ZONE_GROUPS};

typedef struct mending {
    const arn_groups *groups;
    const arn_timeline *time;
    uint64_t *offset; /* ARENAUT_UNPLACED: taken out */
    uint64_t goal, work, most;
    uint32_t
        *sparse; /* per section, and one more: those before it with no more than a zone alive */
    uint32_t *started;  /* per section: groups that start before it */
    uint32_t *by_start; /* groups */
    uint32_t *end;      /* the ends of these */
    uint32_t *latest;   /* the tree: leaves from n_leaves on, node k above 2k and 2k + 1 */
    uint32_t n_leaves;
    uint32_t *alive, *scratch; /* see find_alive */
    uint32_t n_alive, most_alive;
    uint32_t member[ARN_ZONE_GROUPS];
    uint64_t kept[ARN_ZONE_GROUPS];
    uint32_t outside[OUTSIDE], n_outside;
    uint64_t kept_outside[OUTSIDE];
    arn_zone zone;
} mending;

static bool has_time(const mending *m) { return m->work + m->zone.work < m->most; }

/* ---- groups that are alive ---- */

static bool find_sparse(mending *m, arn_region *region) {
    const uint32_t sections = m->time->n_sections;
    uint32_t alive = 0, before = 0;
    m->sparse = arn_region_allocate(region, (size_t)sections + 1, sizeof *m->sparse);
    if (!m->sparse) return false;
    for (uint32_t k = 0; k <= sections; k++) m->sparse[k] = 0;
    for (uint32_t i = 0; i < m->groups->n; i++) { /* changes, below zero on the way */
        m->sparse[m->time->first[i]]++;
        m->sparse[m->time->end[i]]--;
    }
    for (uint32_t k = 0; k <= sections; k++) {
        alive += m->sparse[k];
        m->sparse[k] = before;
        before += alive <= ARN_ZONE_GROUPS;
    }
    return true;
}

static void sort_by_start(mending *m) {
    const uint32_t n = m->groups->n, sections = m->time->n_sections;
    for (uint32_t k = 0; k < sections + 2; k++) m->started[k] = 0;
    for (uint32_t i = 0; i < n; i++) m->started[m->time->first[i] + 2]++;
    for (uint32_t k = 2; k < sections + 2; k++) m->started[k] += m->started[k - 1];
    for (uint32_t i = 0; i < n; i++) m->by_start[m->started[m->time->first[i] + 1]++] = i;
    for (uint32_t k = 0; k < m->n_leaves; k++) m->latest[m->n_leaves + k] = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t *latest = &m->latest[m->n_leaves + k / LEAF];
        m->end[k] = m->time->end[m->by_start[k]];
        if (m->end[k] > *latest) *latest = m->end[k];
    }
    for (uint32_t k = m->n_leaves; k-- > 1;) {
        const uint32_t left = m->latest[2 * k], right = m->latest[2 * k + 1];
        m->latest[k] = left > right ? left : right;
    }
}

static bool make_index(mending *m, arn_region *region) {
    const size_t n = m->groups->n;
    m->n_leaves = 1;
    while ((size_t)m->n_leaves * LEAF < n) m->n_leaves *= 2;
    m->started = arn_region_allocate(region, (size_t)m->time->n_sections + 2, sizeof *m->started);
    m->by_start = arn_region_allocate(region, n, sizeof *m->by_start);
    m->end = arn_region_allocate(region, n, sizeof *m->end);
    m->latest = arn_region_allocate(region, 2 * (size_t)m->n_leaves, sizeof *m->latest);
    m->alive = arn_region_allocate(region, n, sizeof *m->alive);
    m->scratch = arn_region_allocate(region, n, sizeof *m->scratch);
    if (!m->started || !m->by_start || !m->end || !m->latest || !m->alive || !m->scratch)
        return false;
    sort_by_start(m);
    return true;
}

static void collect_leaf(mending *m, uint32_t from, uint32_t first, uint32_t stop) {
    const uint32_t end = stop - from < LEAF ? stop : from + LEAF;
    m->work += LEAF / 2;
    for (uint32_t k = from; k < end && m->n_alive < m->most_alive; k++) {
        if (m->end[k] > first) m->alive[m->n_alive++] = m->by_start[k];
    }
}

/* Below `node`, whose groups stand at [from, from + width) of by_start. */
static void collect(mending *m, uint32_t node, uint32_t from, uint32_t width, uint32_t first,
                    uint32_t stop) {
    m->work += NODE_WORK;
    if (from >= stop || m->latest[node] <= first || m->n_alive == m->most_alive) return;
    if (node >= m->n_leaves) {
        collect_leaf(m, from, first, stop);
        return;
    }
    collect(m, 2 * node, from, width / 2, first, stop);
    collect(m, 2 * node + 1, from + width / 2, width / 2, first, stop);
}

/* Lists the groups alive in sections [first, end), the first `most` of them. */
static void find_alive(mending *m, uint32_t first, uint32_t end, uint32_t most) {
    m->n_alive = 0;
    m->most_alive = most;
    collect(m, 1, 0, m->n_leaves * LEAF, first, m->started[end]);
}

/* ---- places ---- */

static uint64_t end_of(const mending *m, uint32_t i) {
    return m->offset[i] + m->groups->group[i].extent;
}

static uint64_t excess(const mending *m, uint32_t i) {
    return end_of(m, i) > m->goal ? end_of(m, i) - m->goal : 0;
}

/* Whether the group is too high, and there may be a zone for it. */
static bool is_mendable(const mending *m, uint32_t i) {
    return excess(m, i) > 0 && m->sparse[m->time->first[i]] < m->sparse[m->time->end[i]];
}

static bool lies_below(const void *context, uint32_t a, uint32_t b) {
    const mending *m = context;
    return m->offset[a] < m->offset[b];
}

/* The lowest gap between the groups alive with i that have a place. */
static uint64_t lowest_gap(mending *m, uint32_t i) {
    const arn_group *group = &m->groups->group[i];
    uint32_t n = 0;
    uint64_t at = 0;
    find_alive(m, m->time->first[i], m->time->end[i], m->groups->n);
    for (uint32_t k = 0; k < m->n_alive; k++) {
        if (m->offset[m->alive[k]] != ARENAUT_UNPLACED) m->alive[n++] = m->alive[k];
    }
    arn_sort_ids(m->alive, n, lies_below, m, m->scratch);
    m->work += PLACE_WORK + (uint64_t)n * PLACE_WORK / 2;
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t offset = m->offset[m->alive[k]];
        if (offset >= at && offset - at >= group->extent) break;
        at = arn_max_u64(at, arn_aligned(end_of(m, m->alive[k]), group->align));
    }
    return at;
}

/* ---- a zone ---- */

/* All groups alive in sections [first, end). */
static void open_zone(mending *m, uint32_t first, uint32_t end) {
    arn_zone *z = &m->zone;
    find_alive(m, first, end, ARN_ZONE_GROUPS);
    z->n = m->n_alive;
    for (uint32_t k = 0; k < z->n; k++) {
        const uint32_t i = m->alive[k];
        m->member[k] = i;
        m->kept[k] = m->offset[i];
        z->first[k] = m->time->first[i];
        z->end[k] = m->time->end[i];
        z->size[k] = m->groups->group[i].extent;
        z->align[k] = m->groups->group[i].align;
    }
    arn_zone_start(z);
}

static bool share_bytes(const mending *m, uint32_t a, uint32_t b) {
    return m->offset[a] < end_of(m, b) && m->offset[b] < end_of(m, a);
}

/* Takes out the groups outside of the zone that lie where member k has come to lie. False if they
 * are many. */
static bool make_room(mending *m, uint32_t k, uint32_t first, uint32_t end) {
    const uint32_t i = m->member[k];
    if (m->time->first[i] >= first && m->time->end[i] <= end) return true;
    find_alive(m, m->time->first[i], m->time->end[i], m->groups->n);
    m->work += m->n_alive * NODE_WORK;
    for (uint32_t n = 0; n < m->n_alive; n++) {
        const uint32_t other = m->alive[n];
        if (m->time->first[other] < end && m->time->end[other] > first) continue;
        if (m->offset[other] == ARENAUT_UNPLACED || !share_bytes(m, i, other)) continue;
        if (m->n_outside == OUTSIDE) return false;
        m->kept_outside[m->n_outside] = m->offset[other];
        m->outside[m->n_outside++] = other;
        m->offset[other] = ARENAUT_UNPLACED;
    }
    return true;
}

static bool is_larger(const void *context, uint32_t a, uint32_t b) {
    const mending *m = context;
    return m->groups->group[m->outside[a]].extent > m->groups->group[m->outside[b]].extent;
}

/* Puts back the groups that were taken out, from large to small, as long as less than `most` is too
 * high. */
static bool put_back(mending *m, uint64_t most) {
    uint32_t order[OUTSIDE], scratch[OUTSIDE];
    uint64_t too_high = 0;
    for (uint32_t k = 0; k < m->zone.n; k++) too_high += excess(m, m->member[k]);
    for (uint32_t k = 0; k < m->n_outside; k++) order[k] = k;
    arn_sort_ids(order, m->n_outside, is_larger, m, scratch);
    for (uint32_t k = 0; k < m->n_outside; k++) {
        const uint32_t i = m->outside[order[k]];
        if (too_high >= most || !has_time(m)) return false;
        m->offset[i] = lowest_gap(m, i);
        too_high += excess(m, i);
    }
    return too_high < most;
}

/* Moves the members to where the zone has them. False, and all is as before, if that is no
 * better. */
static bool adopt(mending *m, uint32_t first, uint32_t end) {
    bool fits = true;
    uint64_t before = 0;
    m->n_outside = 0;
    for (uint32_t k = 0; k < m->zone.n; k++) {
        before += excess(m, m->member[k]);
        m->offset[m->member[k]] = m->zone.offset[k];
    }
    for (uint32_t k = 0; k < m->zone.n && fits; k++)
        fits = has_time(m) && make_room(m, k, first, end);
    for (uint32_t k = 0; k < m->n_outside; k++) {
        const uint64_t top = m->kept_outside[k] + m->groups->group[m->outside[k]].extent;
        if (top > m->goal) before += top - m->goal;
    }
    if (fits && put_back(m, before)) return true;
    for (uint32_t k = 0; k < m->n_outside; k++) m->offset[m->outside[k]] = m->kept_outside[k];
    for (uint32_t k = 0; k < m->zone.n; k++) m->offset[m->member[k]] = m->kept[k];
    return false;
}

/* Places all that is alive in sections [first, end) anew. */
static void mend_zone(mending *m, uint32_t first, uint32_t end) {
    open_zone(m, first, end);
    for (int round = 0, refused = 0; round < ROUNDS && refused < REFUSED && has_time(m); round++) {
        if (arn_zone_place(&m->zone, m->goal) > m->goal) continue;
        if (adopt(m, first, end)) return;
        refused++;
        arn_zone_shake(&m->zone);
    }
    if (m->zone.best == UINT64_MAX || !has_time(m)) return;
    arn_zone_place_best(&m->zone);
    adopt(m, first, end);
}

static uint32_t highest_section(mending *m, uint32_t i) {
    uint32_t highest = m->time->first[i];
    m->work += (m->time->end[i] - highest) / WALK;
    for (uint32_t s = highest; s < m->time->end[i]; s++) {
        if (m->time->load[s] > m->time->load[highest]) highest = s;
    }
    return highest;
}

/* Around the highest load in the life of group i, as long as at most so many are alive. */
static void mend_around(mending *m, uint32_t i, uint32_t groups) {
    const uint32_t middle = highest_section(m, i), sections = m->time->n_sections;
    uint32_t first = middle, end = middle + 1;
    find_alive(m, first, end, groups + 1);
    if (m->n_alive > groups) return;
    for (uint32_t reach = 1; first > 0 || end < sections; reach *= 2) {
        const uint32_t wider_first = middle > reach ? middle - reach : 0;
        const uint32_t wider_end = sections - middle > reach + 1 ? middle + reach + 1 : sections;
        find_alive(m, wider_first, wider_end, groups + 1);
        if (m->n_alive > groups) break;
        first = wider_first;
        end = wider_end;
    }
    mend_zone(m, first, end);
}

static bool mend_all(mending *m, uint32_t groups, arn_poll *poll) {
    bool is_high = false;
    for (uint32_t i = 0; i < m->groups->n && has_time(m); i++) {
        if (!is_mendable(m, i)) continue;
        const uint64_t before = m->work + m->zone.work;
        is_high = true;
        mend_around(m, i, groups);
        if (!arn_poll_after(poll, m->work + m->zone.work - before)) return false;
    }
    return is_high;
}

bool arn_mend(arn_workspace *space, uint64_t goal, uint64_t most, arn_poll *poll, uint64_t *work) {
    mending *m = arn_region_allocate(&space->region, 1, sizeof *m);
    if (!m) return false;
    m->groups = &space->groups;
    m->time = &space->timeline;
    m->offset = space->offset;
    m->goal = goal;
    m->most = most;
    m->work = m->zone.work = m->zone.random = 0;
    *work = 0;
    if (!find_sparse(m, &space->region)) return false;
    uint32_t i = 0;
    while (i < m->groups->n && !is_mendable(m, i)) i++;
    if (i == m->groups->n) return true; /* which saves the index where thousands are alive */
    if (!make_index(m, &space->region)) return false;
    for (size_t k = 0; k < sizeof zone_groups / sizeof *zone_groups; k++) {
        if (!mend_all(m, zone_groups[k], poll)) break;
    }
    *work = m->work + m->zone.work;
    return true;
}
