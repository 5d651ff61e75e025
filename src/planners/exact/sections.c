/* The sections and the interference graph of a model.
 *
 * Sections are the maximal cliques of an interval graph: time is cut at every step at which
 * something begins or ends, and the moments that no other contains are kept. Two items that only an
 * edge keeps apart get a clique of their own. Sorting, and then as many operations as there are
 * entries in the lists. */
#include "planners/exact/item_model.h"

#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "ir/pair_relations.h"

/* ---- interference ---- */

/* Like the questions about two buffers in case_relations.h, but about the lifetimes and edges that
 * relations have left. */

static bool same_group(const arn_exact_build *x, uint32_t a, uint32_t b) {
    return x->relations.root && x->relations.root[a] == x->relations.root[b];
}

/* Whether the remaining lifetimes of two buffers have a step in common. O(lifetimes). */
static bool lives_meet(const arn_exact_build *x, uint32_t a, uint32_t b) {
    return arn_lives_meet(arn_exact_lives(x, a), arn_exact_life_count(x, a), arn_exact_lives(x, b),
                          arn_exact_life_count(x, b));
}

/* Whether an extra edge between two buffers keeps them apart: not within a group, nor within an
 * open pair. O(1). */
static bool edge_holds(const arn_exact_build *x, uint32_t a, uint32_t b) {
    if (!x->relations.root) return true;
    if (same_group(x, a, b)) return false;
    const uint32_t heir = arn_exact_heir_of(x->in->problem, a, b);
    return heir == ARENAUT_NONE || arn_exact_assumed(x->assumed, heir) == ARN_EXACT_APART;
}

bool arn_exact_interfere(const arn_exact_build *x, uint32_t a, uint32_t b) {
    const uint64_t lives = (uint64_t)arn_exact_life_count(x, a) + arn_exact_life_count(x, b);
    if (!arn_poll_after(x->in->poll, lives) || same_group(x, a, b)) return false;
    return lives_meet(x, a, b) || (arn_have_edge(x->in->problem, a, b) && edge_holds(x, a, b));
}

arenaut_status arn_exact_too_large(const arn_exact_build *x, arenaut_error *err) {
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "%" PRIu32
                    " buffers with more than %d pairs alive together are too many for "
                    "the exact search",
                    x->model->n, ARN_EXACT_MOST_PAIRS);
}

/* ---- sections ---- */

/* The steps at which something begins or ends, in order, each of which begins a moment; and
 * kept[k]: how many of the moments before number k are cliques. */
typedef struct moments {
    int64_t *time;
    uint32_t n, *kept;
} moments;

static bool time_before(const void *context, uint32_t a, uint32_t b) {
    const int64_t *time = context;
    return time[a] < time[b];
}

static void add_times(const arn_exact_build *x, uint32_t b, int64_t *time, uint32_t *n) {
    for (uint32_t k = 0; k < arn_exact_life_count(x, b); k++) {
        time[(*n)++] = arn_exact_lives(x, b)[k].first;
        time[(*n)++] = arn_exact_lives(x, b)[k].end;
    }
}

static bool list_times(arn_exact_build *x, moments *t) {
    const arn_exact_model *m = x->model;
    size_t room = 0;
    for (uint32_t i = 0; i < m->n; i++) room += 2 * (size_t)arn_exact_life_count(x, m->buffer[i]);
    for (uint32_t i = 0; i < m->n_fixed; i++) {
        room += 2 * (size_t)arn_exact_life_count(x, m->fixed[i]);
    }
    int64_t *raw;
    uint32_t *ids;
    if (!ARN_REGION_ARRAYS(&x->scratch, ARN_ARRAY(raw, room), ARN_ARRAY(ids, 2 * room),
                           ARN_ARRAY(t->time, room))) {
        return false;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++) add_times(x, m->buffer[i], raw, &n);
    for (uint32_t i = 0; i < m->n_fixed; i++) add_times(x, m->fixed[i], raw, &n);
    for (uint32_t i = 0; i < n; i++) ids[i] = i;
    arn_sort_ids(ids, n, time_before, raw, ids + n);
    for (uint32_t i = 0; i < n; i++) {
        const int64_t at = raw[ids[i]];
        if (t->n == 0 || t->time[t->n - 1] != at) t->time[t->n++] = at;
    }
    return true;
}

/* The number of listed times before `at`. */
static uint32_t time_index(const moments *t, int64_t at) {
    uint32_t low = 0, high = t->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (t->time[middle] < at) low = middle + 1;
        else high = middle;
    }
    return low;
}

enum { BEGINS = 1, ENDS = 2 };

/* Marks the moments at whose start a life begins, and those at whose end one ends. */
static void mark_events(const arn_exact_build *x, const moments *t, uint32_t b, uint8_t *event) {
    for (uint32_t k = 0; k < arn_exact_life_count(x, b); k++) {
        event[time_index(t, arn_exact_lives(x, b)[k].first)] |= BEGINS;
        event[time_index(t, arn_exact_lives(x, b)[k].end) - 1] |= ENDS;
    }
}

/* A moment is a clique of its own only if something begins with it and something ends with
 * it: without a beginning, the moment before has all its members, and without an end, the
 * one after. (Between two moments there is an event, so not both of them are dropped.)
 *
 *     a [=======]              moments   0   1   2   3
 *     b     [=======]          begins    a   b       c
 *     c             [===]      ends          a   b   c     cliques: 1 {a, b} and 3 {c} */
static bool keep_maximal_moments(arn_exact_build *x, moments *t) {
    uint8_t *event = arn_region_allocate(&x->scratch, t->n, sizeof *event);
    t->kept = arn_region_allocate(&x->scratch, (size_t)t->n + 1, sizeof *t->kept);
    if (!event || !t->kept) return false;
    for (uint32_t k = 0; k < t->n; k++) event[k] = 0;
    for (uint32_t i = 0; i < x->model->n; i++) mark_events(x, t, x->model->buffer[i], event);
    for (uint32_t i = 0; i < x->model->n_fixed; i++) mark_events(x, t, x->model->fixed[i], event);
    t->kept[0] = 0;
    for (uint32_t k = 0; k < t->n; k++) {
        t->kept[k + 1] = t->kept[k] + (event[k] == (BEGINS | ENDS));
    }
    x->model->n_cliques = x->model->n_moments = t->kept[t->n];
    return true;
}

/* ---- extra edges ---- */

/* Whether an edge adds an interference between two items. */
static bool edge_counts(const arn_exact_build *x, arenaut_conflict e) {
    return x->item[e.a] != ARENAUT_NONE && x->item[e.b] != ARENAUT_NONE &&
           edge_holds(x, e.a, e.b) && !lives_meet(x, e.a, e.b);
}

static uint64_t lives_of_edge(const arn_exact_build *x, arenaut_conflict e) {
    return (uint64_t)arn_exact_life_count(x, e.a) + arn_exact_life_count(x, e.b);
}

/* ---- spans and members ---- */

static bool count_spans(arn_exact_build *x, uint64_t *n_spans) {
    const arenaut_problem *p = x->in->problem;
    arn_exact_model *m = x->model;
    m->span_start = arn_region_allocate(&m->region, (size_t)m->n + 1, sizeof *m->span_start);
    if (!m->span_start) return false;
    for (uint32_t i = 0; i <= m->n; i++) m->span_start[i] = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        m->span_start[i + 1] = arn_exact_life_count(x, m->buffer[i]);
    }
    uint32_t n_edges = 0;
    for (uint32_t e = 0; e < p->n_conflicts; e++) {
        if (!arn_poll_after(m->poll, lives_of_edge(x, p->conflict[e]))) return true;
        if (!edge_counts(x, p->conflict[e])) continue;
        m->span_start[x->item[p->conflict[e].a] + 1]++;
        m->span_start[x->item[p->conflict[e].b] + 1]++;
        m->cuts = m->plain = false;
        n_edges++;
    }
    for (uint32_t i = 0; i < m->n; i++) m->span_start[i + 1] += m->span_start[i];
    *n_spans = m->span_start[m->n];
    if (*n_spans != m->n) m->plain = false;
    m->origin = arn_region_allocate(&m->region, (size_t)m->n_moments + n_edges, sizeof *m->origin);
    return m->origin != NULL;
}

/* The spans of an item are its lifetimes, in order, and then its edges. */
static bool fill_spans(arn_exact_build *x, const moments *t) {
    const arenaut_problem *p = x->in->problem;
    arn_exact_model *m = x->model;
    uint32_t *next = arn_region_allocate(&x->scratch, m->n, sizeof *next);
    if (!next) return false;
    for (uint32_t k = 0; k < t->n; k++) {
        if (t->kept[k + 1] > t->kept[k]) m->origin[t->kept[k]] = t->time[k];
    }
    for (uint32_t i = 0; i < m->n; i++) {
        const uint32_t b = m->buffer[i];
        next[i] = m->span_start[i];
        for (uint32_t k = 0; k < arn_exact_life_count(x, b); k++) {
            arn_exact_span *span = &m->span[next[i]++];
            span->first = t->kept[time_index(t, arn_exact_lives(x, b)[k].first)];
            span->end = t->kept[time_index(t, arn_exact_lives(x, b)[k].end)];
        }
    }
    for (uint32_t e = 0; e < p->n_conflicts; e++) {
        /* To leave some out would leave spans unwritten: nothing reads them, see the caller. */
        if (!arn_poll_after(m->poll, lives_of_edge(x, p->conflict[e]))) return true;
        if (!edge_counts(x, p->conflict[e])) continue;
        const arn_exact_span edge = {m->n_cliques, m->n_cliques + 1};
        m->span[next[x->item[p->conflict[e].a]]++] = edge;
        m->span[next[x->item[p->conflict[e].b]]++] = edge;
        m->origin[m->n_cliques++] = e;
    }
    return true;
}

static uint64_t count_members(const arn_exact_model *m, uint64_t n_spans) {
    uint64_t n = 0;
    for (uint64_t s = 0; s < n_spans; s++) n += m->span[s].end - m->span[s].first;
    return n;
}

/* Items by clique: item[start[c] .. start[c + 1]) are those of clique c, in order. */
typedef struct by_clique {
    uint32_t *start, *item;
} by_clique;

/* Lists the members of each clique, or only its *arrivals*, the items with a span that begins
 * there: all in all n of them. Arrays are the region's. False if there is no memory. O(n). */
static bool list_by_clique(const arn_exact_model *m, bool arrivals, uint64_t n, arn_region *region,
                           by_clique *list) {
    list->start = arn_region_allocate(region, (size_t)m->n_cliques + 2, sizeof *list->start);
    list->item = arn_region_allocate(region, (size_t)n, sizeof *list->item);
    if (!list->start || !list->item) return false;
    /* A counting sort; the starts are kept one place late while the lists are filled. */
    uint32_t *fill = list->start + 1;
    for (uint32_t c = 0; c < m->n_cliques + 2; c++) list->start[c] = 0;
    for (uint32_t s = 0; s < m->span_start[m->n]; s++) {
        const uint32_t end = arrivals ? m->span[s].first + 1 : m->span[s].end;
        for (uint32_t c = m->span[s].first; c < end; c++) fill[c + 1]++;
    }
    for (uint32_t c = 0; c < m->n_cliques; c++) fill[c + 1] += fill[c];
    for (uint32_t i = 0; i < m->n; i++) {
        for (uint32_t s = m->span_start[i]; s < m->span_start[i + 1]; s++) {
            const uint32_t end = arrivals ? m->span[s].first + 1 : m->span[s].end;
            for (uint32_t c = m->span[s].first; c < end; c++) list->item[fill[c]++] = i;
        }
    }
    return true;
}

arenaut_status arn_exact_find_cliques(arn_exact_build *x, arenaut_error *err) {
    arn_exact_model *m = x->model;
    uint64_t n_spans = 0;
    moments t = {NULL, 0, NULL};
    if (!list_times(x, &t) || !keep_maximal_moments(x, &t) || !count_spans(x, &n_spans)) {
        return arn_no_memory(err);
    }
    if (arn_poll_ended(m->poll)) return ARENAUT_STOPPED;
    if (n_spans > ARN_EXACT_MOST_PAIRS) return arn_exact_too_large(x, err);
    m->span = arn_region_allocate(&m->region, (size_t)n_spans, sizeof *m->span);
    if (!m->span || !fill_spans(x, &t)) return arn_no_memory(err);
    if (arn_poll_ended(m->poll)) return ARENAUT_STOPPED;
    const uint64_t n_members = count_members(m, n_spans);
    if (n_members > ARN_EXACT_MOST_PAIRS) return arn_exact_too_large(x, err);
    by_clique members;
    if (!list_by_clique(m, false, n_members, &m->region, &members)) {
        return arn_no_memory(err);
    }
    m->member_start = members.start;
    m->member = members.item;
    return ARENAUT_OK;
}

/* ---- interference graph ---- */

/* The adjacency lists that the search's inner loop goes through. Each clique of a span adds only
 * its *arrivals*, the items whose own span begins there, so that the lists cost little more than
 * their length. Items that are alike share their first clique, and are looked for there. */

/* Appends those of `ids` that are not yet listed as neighbours of `i`, nor in its group. */
static void take_neighbours(const arn_exact_model *m, uint32_t i, const uint32_t *ids,
                            uint32_t n_ids, uint32_t *mark, uint32_t *list, uint32_t *n) {
    for (uint32_t k = 0; k < n_ids; k++) {
        const uint32_t j = ids[k];
        if (j == i || mark[j] == i || (m->tied && m->group[j] == m->group[i])) continue;
        mark[j] = i;
        list[(*n)++] = j;
    }
}

/* Collects into `list` the items that share a clique with `i`: the members of the first clique
 * of each span, and the arrivals of its later ones. Returns how many there are. */
static uint32_t collect_neighbours(const arn_exact_model *m, const by_clique *a, uint32_t i,
                                   uint32_t *mark, uint32_t *list) {
    uint32_t n = 0;
    for (uint32_t s = m->span_start[i]; s < m->span_start[i + 1]; s++) {
        const uint32_t first = m->span[s].first;
        const uint32_t n_first = m->member_start[first + 1] - m->member_start[first];
        if (!arn_poll_after(m->poll, n_first + m->span[s].end - first)) return n;
        take_neighbours(m, i, m->member + m->member_start[first], n_first, mark, list, &n);
        for (uint32_t c = first + 1; c < m->span[s].end; c++) {
            take_neighbours(m, i, a->item + a->start[c], a->start[c + 1] - a->start[c], mark, list,
                            &n);
        }
    }
    return n;
}

/* Lists the neighbours of all items one after the other and, if `scratch` is given, only counts
 * them, up to the limit. False if the input's `poll` has ended. */
static bool collect_all(arn_exact_model *m, const by_clique *a, uint32_t *mark, uint32_t *scratch,
                        uint64_t *total) {
    *total = 0;
    for (uint32_t i = 0; i < m->n; i++) mark[i] = ARENAUT_NONE;
    for (uint32_t i = 0; i < m->n && *total <= ARN_EXACT_MOST_PAIRS; i++) {
        m->neighbour_start[i] = (uint32_t)*total;
        *total += collect_neighbours(m, a, i, mark, scratch ? scratch : m->neighbour + *total);
        if (arn_poll_ended(m->poll)) return false;
    }
    m->neighbour_start[m->n] = (uint32_t)*total;
    return true;
}

arenaut_status arn_exact_find_neighbours(arn_exact_build *x, arenaut_error *err) {
    arn_exact_model *m = x->model;
    by_clique a;
    uint64_t total;
    uint32_t *mark = arn_region_allocate(&x->scratch, m->n, sizeof *mark);
    uint32_t *scratch = arn_region_allocate(&x->scratch, m->n, sizeof *scratch);
    m->neighbour_start =
        arn_region_allocate(&m->region, (size_t)m->n + 1, sizeof *m->neighbour_start);
    if (!mark || !scratch || !m->neighbour_start ||
        !list_by_clique(m, true, m->span_start[m->n], &x->scratch, &a)) {
        return arn_no_memory(err);
    }
    if (!collect_all(m, &a, mark, scratch, &total)) return ARENAUT_STOPPED;
    if (total > ARN_EXACT_MOST_PAIRS) return arn_exact_too_large(x, err);
    m->neighbour = arn_region_allocate(&m->region, (size_t)total, sizeof *m->neighbour);
    if (!m->neighbour) return arn_no_memory(err);
    return collect_all(m, &a, mark, NULL, &total) ? ARENAUT_OK : ARENAUT_STOPPED;
}

/* ---- items that are alike ---- */

/* Whether items `a` and `b` have the same entries in a list: item i has those from start[i] on. */
static bool same_entries(const uint32_t *start, const void *entries, size_t size, uint32_t a,
                         uint32_t b) {
    const uint32_t n = start[a + 1] - start[a];
    const char *first = entries;
    if (start[b + 1] - start[b] != n) return false;
    return memcmp(first + start[a] * size, first + start[b] * size, n * size) == 0;
}

/* Whether edges keep the two from the same fixed buffers. The same walls are not enough: at one
 * address there may be one fixed buffer after another. By their lives they meet the same ones,
 * since no moment has members that its clique has not. */
static bool same_fixed(const arn_exact_build *x, uint32_t a, uint32_t b) {
    const arn_exact_model *m = x->model;
    if (x->in->problem->n_conflicts == 0) return true;
    for (uint32_t k = 0; k < m->n_fixed; k++) {
        if (arn_exact_interfere(x, m->buffer[a], m->fixed[k]) !=
            arn_exact_interfere(x, m->buffer[b], m->fixed[k])) {
            return false;
        }
    }
    return true;
}

/* Whether exchanging the two changes nothing. Items with the same spans have the same neighbours,
 * as the clique of an edge is a span of its two ends only. Alignments are compared in bytes,
 * although in units they may read as 1: the checker of a proof has no units, and would not accept
 * the exchange if one of the two may lie at an odd address. */
static bool may_exchange(const arn_exact_build *x, uint32_t a, uint32_t b) {
    const arn_exact_model *m = x->model;
    const arenaut_problem *p = x->in->problem;
    return m->size[a] == m->size[b] &&
           arenaut_problem_align(p, m->buffer[a]) == arenaut_problem_align(p, m->buffer[b]) &&
           same_entries(m->span_start, m->span, sizeof *m->span, a, b) &&
           same_entries(m->wall_start, m->wall, sizeof *m->wall, a, b) && same_fixed(x, a, b);
}

static bool has_company(const arn_exact_model *m, uint32_t i) {
    return m->tied && m->group_start[m->group[i] + 1] - m->group_start[m->group[i]] > 1;
}

bool arn_exact_find_alike(arn_exact_build *x) {
    arn_exact_model *m = x->model;
    m->alike = arn_region_allocate(&m->region, m->n, sizeof *m->alike);
    if (!m->alike) return false;
    for (uint32_t i = 0; i < m->n; i++) {
        m->alike[i] = ARENAUT_NONE;
        if (!arn_exact_has(m, ARN_EXACT_ALIKE)) continue;
        if (m->span_start[i] == m->span_start[i + 1] || has_company(m, i)) continue;
        /* Items that are alike share their first clique: it is enough to look there. */
        const uint32_t c = m->span[m->span_start[i]].first;
        const uint64_t n_spans = m->span_start[i + 1] - m->span_start[i];
        const uint64_t looks = m->member_start[c + 1] - m->member_start[c];
        if (!arn_poll_after(m->poll, looks + n_spans)) return true;
        for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
            const uint32_t j = m->member[k];
            if (j < i && !has_company(m, j) && may_exchange(x, i, j)) m->alike[i] = j;
        }
    }
    return true;
}
