/* neighbours: the items that are in the way of each, which is what the search's inner loop goes
 * through. Each clique of a span adds only those whose own span begins there, its *arrivals*,
 * so that the lists cost little more than their length. Items that are alike share their first
 * clique, and are looked for there. */
#include "planners/exact/neighbours.h"

#include <string.h>

#include "core/fail.h"
#include "planners/exact/cliques.h"

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
static uint32_t collect_neighbours(const arn_exact_model *m, const arn_exact_by_clique *a,
                                   uint32_t i, uint32_t *mark, uint32_t *list) {
    uint32_t n = 0;
    for (uint32_t s = m->span_start[i]; s < m->span_start[i + 1]; s++) {
        const uint32_t first = m->span[s].first;
        const uint32_t n_first = m->member_start[first + 1] - m->member_start[first];
        if (!arn_ask_after(m->ask, n_first + m->span[s].end - first)) return n;
        take_neighbours(m, i, m->member + m->member_start[first], n_first, mark, list, &n);
        for (uint32_t c = first + 1; c < m->span[s].end; c++) {
            take_neighbours(m, i, a->item + a->start[c], a->start[c + 1] - a->start[c], mark, list,
                            &n);
        }
    }
    return n;
}

/* Lists the neighbours of all items one after the other and, if `scratch` is given, only counts
 * them, up to the limit. False if the input's `ask` has ended. */
static bool collect_all(arn_exact_model *m, const arn_exact_by_clique *a, uint32_t *mark,
                        uint32_t *scratch, uint64_t *total) {
    *total = 0;
    for (uint32_t i = 0; i < m->n; i++) mark[i] = ARENAUT_NONE;
    for (uint32_t i = 0; i < m->n && *total <= ARN_EXACT_MOST_PAIRS; i++) {
        m->neighbour_start[i] = (uint32_t)*total;
        *total += collect_neighbours(m, a, i, mark, scratch ? scratch : m->neighbour + *total);
        if (arn_ask_ended(m->ask)) return false;
    }
    m->neighbour_start[m->n] = (uint32_t)*total;
    return true;
}

arenaut_status arn_exact_find_neighbours(arn_exact_build *x, arenaut_error *err) {
    arn_exact_model *m = x->model;
    arn_exact_by_clique a;
    uint64_t total;
    uint32_t *mark = arn_region_allocate(&x->scratch, m->n, sizeof *mark);
    uint32_t *scratch = arn_region_allocate(&x->scratch, m->n, sizeof *scratch);
    m->neighbour_start =
        arn_region_allocate(&m->region, (size_t)m->n + 1, sizeof *m->neighbour_start);
    if (!mark || !scratch || !m->neighbour_start ||
        !arn_exact_list_by_clique(m, true, m->span_start[m->n], &x->scratch, &a)) {
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
        if (arn_exact_in_the_way(x, m->buffer[a], m->fixed[k]) !=
            arn_exact_in_the_way(x, m->buffer[b], m->fixed[k])) {
            return false;
        }
    }
    return true;
}

/* Whether exchanging the two changes nothing. Items with the same spans have the same
 * neighbours, as the clique of an edge is a span of its two ends only. Alignments are compared
 * in bytes, although in units they may read as 1: the checker of a proof knows of no units, and
 * would not accept the exchange where one of the two may lie at an odd address. */
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
        if (m->span_start[i] == m->span_start[i + 1] || has_company(m, i)) continue;
        /* Items that are alike share their first clique: it is enough to look there. */
        const uint32_t c = m->span[m->span_start[i]].first;
        const uint64_t n_spans = m->span_start[i + 1] - m->span_start[i];
        const uint64_t looks = m->member_start[c + 1] - m->member_start[c];
        if (!arn_ask_after(m->ask, looks + n_spans)) return true;
        for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
            const uint32_t j = m->member[k];
            if (j < i && !has_company(m, j) && may_exchange(x, i, j)) m->alike[i] = j;
        }
    }
    return true;
}
