#include "planners/exact/exact_model.h"

#include <inttypes.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/exact/model_build.h"

/* ---- which buffers, and in which unit ---- */

static bool list_buffers(arn_exact_build *x) {
    const arn_exact_input *in = x->in;
    const arenaut_problem *p = in->problem;
    arn_exact_model *m = x->model;
    m->buffer = arn_region_allocate(&m->region, p->n_buffers, sizeof *m->buffer);
    m->fixed = arn_region_allocate(&m->region, p->n_buffers, sizeof *m->fixed);
    m->fixed_at = arn_region_allocate(&m->region, p->n_buffers, sizeof *m->fixed_at);
    x->item = arn_region_allocate(&x->scratch, p->n_buffers, sizeof *x->item);
    if (!m->buffer || !m->fixed || !m->fixed_at || !x->item) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        x->item[b] = ARENAUT_NONE;
        if (!arn_exact_in_pool(in, b)) continue;
        const uint64_t fixed = arn_exact_fixed_offset(x, b);
        if (fixed != ARENAUT_UNPLACED) {
            m->fixed_at[m->n_fixed] = fixed;
            m->fixed[m->n_fixed++] = b;
        } else {
            x->item[b] = m->n;
            m->buffer[m->n++] = b;
        }
    }
    return true;
}

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Everything rests on the sum of some sizes and distances in groups, on a wall, or on a multiple
 * of an alignment above one of these, so a common divisor of them all divides every offset that
 * matters. */
static void find_unit(arn_exact_build *x) {
    const arenaut_problem *p = x->in->problem;
    arn_exact_model *m = x->model;
    uint64_t unit = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        unit = gcd(p->size[m->buffer[i]], unit);
        if (x->ties.root) unit = gcd((uint64_t)x->ties.delta[m->buffer[i]], unit);
    }
    for (uint32_t i = 0; i < m->n_fixed; i++) {
        unit = gcd(p->size[m->fixed[i]], gcd(m->fixed_at[i], unit));
    }
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        if (p->reserved[i].pool != x->in->pool) continue;
        unit = gcd(p->reserved[i].first, gcd(p->reserved[i].end, unit));
    }
    for (uint32_t i = 0; i < m->n; i++) {
        const uint64_t align = arenaut_problem_align(p, m->buffer[i]);
        if (unit % align != 0) unit = gcd(unit, align);
    }
    m->unit = unit ? unit : 1;
}

static bool measure_items(arn_exact_build *x) {
    const arenaut_problem *p = x->in->problem;
    arn_exact_model *m = x->model;
    m->size = arn_region_allocate(&m->region, m->n, sizeof *m->size);
    m->align = arn_region_allocate(&m->region, m->n, sizeof *m->align);
    m->width = arn_region_allocate(&m->region, m->n, sizeof *m->width);
    if (!m->size || !m->align || !m->width) return false;
    for (uint32_t i = 0; i < m->n; i++) {
        const uint32_t b = m->buffer[i];
        const uint64_t align = arenaut_problem_align(p, b);
        m->size[i] = (int64_t)(p->size[b] / m->unit);
        m->align[i] = (int64_t)(align > m->unit ? align / m->unit : 1);
        if (m->align[i] > 1) m->plain = false;
        uint64_t width = 0;
        const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(p, b); k++) {
            width += (uint64_t)life[k].end - (uint64_t)life[k].first;
        }
        m->width[i] = (int64_t)arn_min_u64(width, INT64_MAX);
    }
    return true;
}

/* ---- what moves together ---- */

static void count_groups(arn_exact_build *x, uint32_t *number) {
    arn_exact_model *m = x->model;
    uint32_t n_groups = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        const uint32_t root = x->ties.root[m->buffer[i]];
        if (number[root] == ARENAUT_NONE) number[root] = n_groups++;
        m->group[i] = number[root];
        m->delta[i] = x->ties.delta[m->buffer[i]] / (int64_t)m->unit;
        m->mate_start[m->group[i] + 1]++;
    }
    for (uint32_t g = 0; g < n_groups; g++) {
        if (m->mate_start[g + 1] > m->largest_group) m->largest_group = m->mate_start[g + 1];
        m->mate_start[g + 1] += m->mate_start[g];
    }
}

/* Lists the groups, unless every item is one by itself. */
static bool list_groups(arn_exact_build *x) {
    arn_exact_model *m = x->model;
    const uint32_t n_buffers = x->in->problem->n_buffers;
    m->largest_group = 1;
    if (!x->ties.root) return true;
    uint32_t *number = arn_region_allocate(&x->scratch, n_buffers, sizeof *number);
    m->group = arn_region_allocate(&m->region, m->n, sizeof *m->group);
    m->delta = arn_region_allocate(&m->region, m->n, sizeof *m->delta);
    m->mate = arn_region_allocate(&m->region, m->n, sizeof *m->mate);
    m->mate_start = arn_region_allocate(&m->region, (size_t)m->n + 1, sizeof *m->mate_start);
    uint32_t *next = arn_region_allocate(&x->scratch, m->n, sizeof *next);
    if (!number || !m->group || !m->delta || !m->mate || !m->mate_start || !next) return false;
    for (uint32_t b = 0; b < n_buffers; b++) number[b] = ARENAUT_NONE;
    for (uint32_t i = 0; i <= m->n; i++) m->mate_start[i] = 0;
    count_groups(x, number);
    for (uint32_t i = 0; i < m->n; i++) next[i] = m->mate_start[i];
    for (uint32_t i = 0; i < m->n; i++) m->mate[next[m->group[i]]++] = i;
    m->tied = m->largest_group > 1;
    if (m->tied) m->plain = m->cuts = false;
    return true;
}

int64_t arn_exact_snap_group(const arn_exact_model *m, uint32_t item, int64_t at) {
    if (!m->tied) return arn_exact_snap(m, item, at);
    const uint32_t g = m->group[item];
    int64_t start = at - m->delta[item];
    if (start < 0) start = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t k = m->mate_start[g]; k < m->mate_start[g + 1]; k++) {
            const uint32_t mate = m->mate[k];
            const int64_t own = start + m->delta[mate];
            const int64_t snapped = arn_exact_snap(m, mate, own);
            moved = moved || snapped != own;
            start += snapped - own;
            if (!arn_ask_after(m->ask, 1 + m->wall_start[mate + 1] - m->wall_start[mate])) break;
        }
        if (arn_ask_ended(m->ask)) break;
    }
    return start + m->delta[item];
}

/* ---- who conflicts ---- */

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

/* Collects into `list` whoever shares a clique with `i`: who is in the first clique of a
 * span, and who comes in a later one. */
static uint32_t collect_neighbours(const arn_exact_build *x, uint32_t i, uint32_t *mark,
                                   uint32_t *list) {
    const arn_exact_model *m = x->model;
    uint32_t n = 0;
    for (uint32_t s = m->span_start[i]; s < m->span_start[i + 1]; s++) {
        const uint32_t first = m->span[s].first;
        const uint32_t n_first = m->member_start[first + 1] - m->member_start[first];
        if (!arn_ask_after(m->ask, n_first + m->span[s].end - first)) return n;
        take_neighbours(m, i, m->member + m->member_start[first], n_first, mark, list, &n);
        for (uint32_t c = first + 1; c < m->span[s].end; c++) {
            take_neighbours(m, i, x->comer + x->comer_start[c],
                            x->comer_start[c + 1] - x->comer_start[c], mark, list, &n);
        }
    }
    return n;
}

/* Lists, per clique, the items with a span that begins there. */
static bool list_comers(arn_exact_build *x) {
    const arn_exact_model *m = x->model;
    const uint32_t n_spans = m->span_start[m->n];
    x->comer_start =
        arn_region_allocate(&x->scratch, (size_t)m->n_cliques + 2, sizeof *x->comer_start);
    x->comer = arn_region_allocate(&x->scratch, n_spans, sizeof *x->comer);
    if (!x->comer_start || !x->comer) return false;
    uint32_t *fill = x->comer_start + 1;
    for (uint32_t c = 0; c < m->n_cliques + 2; c++) x->comer_start[c] = 0;
    for (uint32_t s = 0; s < n_spans; s++) fill[m->span[s].first + 1]++;
    for (uint32_t c = 0; c < m->n_cliques; c++) fill[c + 1] += fill[c];
    for (uint32_t i = 0; i < m->n; i++) {
        for (uint32_t s = m->span_start[i]; s < m->span_start[i + 1]; s++) {
            x->comer[fill[m->span[s].first]++] = i;
        }
    }
    return true;
}

static arenaut_status list_neighbours(arn_exact_build *x, arenaut_error *err) {
    arn_exact_model *m = x->model;
    uint32_t *mark = arn_region_allocate(&x->scratch, m->n, sizeof *mark);
    uint32_t *list = arn_region_allocate(&x->scratch, m->n, sizeof *list);
    m->neighbour_start =
        arn_region_allocate(&m->region, (size_t)m->n + 1, sizeof *m->neighbour_start);
    if (!mark || !list || !m->neighbour_start || !list_comers(x)) return arn_no_memory(err);
    for (uint32_t i = 0; i < m->n; i++) mark[i] = ARENAUT_NONE;
    uint64_t total = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        total += collect_neighbours(x, i, mark, list);
        if (total > ARN_EXACT_MOST_PAIRS) return arn_exact_too_large(x, err);
        if (arn_ask_ended(m->ask)) return ARENAUT_STOPPED;
    }
    m->neighbour = arn_region_allocate(&m->region, (size_t)total, sizeof *m->neighbour);
    if (!m->neighbour) return arn_no_memory(err);
    for (uint32_t i = 0; i < m->n; i++) mark[i] = ARENAUT_NONE;
    uint32_t used = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        m->neighbour_start[i] = used;
        used += collect_neighbours(x, i, mark, m->neighbour + used);
        if (arn_ask_ended(m->ask)) return ARENAUT_STOPPED;
    }
    m->neighbour_start[m->n] = used;
    return ARENAUT_OK;
}

/* ---- who is alike ---- */

static bool same_spans(const arn_exact_model *m, uint32_t a, uint32_t b) {
    const uint32_t n = m->span_start[a + 1] - m->span_start[a];
    if (m->span_start[b + 1] - m->span_start[b] != n) return false;
    for (uint32_t k = 0; k < n; k++) {
        const arn_exact_span *sa = &m->span[m->span_start[a] + k];
        const arn_exact_span *sb = &m->span[m->span_start[b] + k];
        if (sa->first != sb->first || sa->end != sb->end) return false;
    }
    return true;
}

static bool same_walls(const arn_exact_model *m, uint32_t a, uint32_t b) {
    const uint32_t n = m->wall_start[a + 1] - m->wall_start[a];
    if (m->wall_start[b + 1] - m->wall_start[b] != n) return false;
    for (uint32_t k = 0; k < n; k++) {
        const arn_exact_wall *wa = &m->wall[m->wall_start[a] + k];
        const arn_exact_wall *wb = &m->wall[m->wall_start[b] + k];
        if (wa->first != wb->first || wa->end != wb->end) return false;
    }
    return true;
}

/* Whether edges keep the two from the same fixed buffers. The same walls are not enough: at one
 * address there may be one fixed buffer after another. By their lives they meet the same ones,
 * since no moment has members that its clique has not. */
static bool same_fixed(const arn_exact_build *x, uint32_t a, uint32_t b) {
    const arn_exact_model *m = x->model;
    if (x->in->problem->n_conflicts == 0) return true;
    for (uint32_t k = 0; k < m->n_fixed; k++) {
        if (arn_exact_conflict(x, m->buffer[a], m->fixed[k]) !=
            arn_exact_conflict(x, m->buffer[b], m->fixed[k])) {
            return false;
        }
    }
    return true;
}

/* Exchanging the two changes nothing. Items with the same spans have the same neighbours:
 * an edge's clique is a span of its ends only. Alignments are compared in bytes, although in
 * units they may read as 1: who follows a proof knows of no units, and finds exchanging them
 * no good where one of the two is free to lie at an odd address. */
static bool alike(const arn_exact_build *x, uint32_t a, uint32_t b) {
    const arn_exact_model *m = x->model;
    const arenaut_problem *p = x->in->problem;
    return m->size[a] == m->size[b] &&
           arenaut_problem_align(p, m->buffer[a]) == arenaut_problem_align(p, m->buffer[b]) &&
           same_spans(m, a, b) && same_walls(m, a, b) && same_fixed(x, a, b);
}

static bool has_mates(const arn_exact_model *m, uint32_t i) {
    return m->tied && m->mate_start[m->group[i] + 1] - m->mate_start[m->group[i]] > 1;
}

static bool find_twins(arn_exact_build *x) {
    arn_exact_model *m = x->model;
    m->twin = arn_region_allocate(&m->region, m->n, sizeof *m->twin);
    if (!m->twin) return false;
    for (uint32_t i = 0; i < m->n; i++) {
        m->twin[i] = ARENAUT_NONE;
        if (m->span_start[i] == m->span_start[i + 1] || has_mates(m, i)) continue;
        /* Twins share their first clique, so it is enough to look there. */
        const uint32_t c = m->span[m->span_start[i]].first;
        const uint64_t n_spans = m->span_start[i + 1] - m->span_start[i];
        const uint64_t looks = m->member_start[c + 1] - m->member_start[c];
        if (!arn_ask_after(m->ask, looks + n_spans)) return true;
        for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
            const uint32_t j = m->member[k];
            if (j < i && !has_mates(m, j) && alike(x, i, j)) m->twin[i] = j;
        }
    }
    return true;
}

/* ---- bounds ---- */

static bool find_bounds(arn_exact_build *x) {
    arn_exact_model *m = x->model;
    m->load = arn_region_allocate(&m->region, m->n_cliques, sizeof *m->load);
    if (!m->load) return false;
    m->bound = x->model->highest_fixed;
    for (uint32_t c = 0; c < m->n_cliques; c++) {
        m->load[c] = 0;
        for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
            m->load[c] += m->size[m->member[k]];
        }
        const int64_t need = arn_exact_need(m, c, 0, m->load[c]);
        if (m->load[c] > 0 && need > m->bound) m->bound = need;
    }
    if (m->clash) return true; /* groups that cannot be have no places, and so no bounds */
    m->roof = x->highest_wall;
    for (uint32_t i = 0; i < m->n; i++) {
        const int64_t end = arn_exact_snap_group(m, i, 0) + m->size[i];
        if (end > m->bound) m->bound = end;
        /* In a group nobody is higher than its top, and all together waste no more than this. */
        m->roof = arn_exact_align_up(m->roof, m->align[i]) + m->size[i];
        if (m->tied) m->roof += m->delta[i] + m->align[i];
    }
    return true;
}

arenaut_status arn_exact_too_large(const arn_exact_build *x, arenaut_error *err) {
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "%" PRIu32
                    " buffers with more than %d pairs alive together are too many for "
                    "the exact search",
                    x->model->n, ARN_EXACT_MOST_PAIRS);
}

static arenaut_status build(arn_exact_build *x, arenaut_error *err) {
    arn_exact_model *m = x->model;
    if (!arn_ask_after(m->ask, x->in->problem->n_buffers)) return ARENAUT_STOPPED;
    if (!arn_exact_find_ties(x->assumed, &x->scratch, &x->ties) || !list_buffers(x)) {
        return arn_no_memory(err);
    }
    if (arn_ask_ended(m->ask)) return ARENAUT_STOPPED;
    if (x->ties.large) return arn_exact_too_large(x, err);
    m->clash = x->ties.torn;
    find_unit(x);
    if (!measure_items(x) || !list_groups(x)) return arn_no_memory(err);
    if ((uint64_t)m->largest_group * m->n > ARN_EXACT_MOST_PAIRS)
        return arn_exact_too_large(x, err);
    arenaut_status st = arn_exact_find_cliques(x, err);
    if (st == ARENAUT_OK) st = list_neighbours(x, err);
    if (st == ARENAUT_OK) st = arn_exact_find_walls(x, err);
    if (st != ARENAUT_OK || arn_ask_ended(m->ask)) return st;
    if (!find_twins(x) || !find_bounds(x)) return arn_no_memory(err);
    if (arn_ask_ended(m->ask)) return ARENAUT_STOPPED;
    /* So that any two addresses can be added. */
    if (m->roof <= INT64_MAX / 4) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "the sizes add up to %" PRId64 " units of %" PRIu64
                    " bytes, too many for the exact search",
                    m->roof, m->unit);
}

arenaut_status arn_exact_model_make(const arn_exact_case *assumed, arn_exact_model *model,
                                    arenaut_error *err) {
    const arn_exact_model empty = {
        .problem = assumed->in.problem, .ask = assumed->in.ask, .plain = true, .cuts = true};
    *model = empty;
    arn_region_init(&model->region, assumed->in.allocator);
    arn_exact_build x = {.in = &assumed->in, .assumed = assumed, .model = model};
    arn_region_init(&x.scratch, assumed->in.allocator);
    arenaut_status st = build(&x, err);
    if (arn_ask_ended(model->ask)) st = ARENAUT_STOPPED; /* half of something was built */
    arn_region_free(&x.scratch);
    if (st != ARENAUT_OK) arn_exact_model_free(model);
    return st;
}

void arn_exact_model_free(arn_exact_model *model) { arn_region_free(&model->region); }
