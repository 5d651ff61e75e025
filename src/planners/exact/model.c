#include "planners/exact/model.h"

#include <inttypes.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/exact/build.h"

/* ---- which buffers, and in which unit ---- */

static bool in_pool(const arn_exact_input *in, uint32_t b) {
    if (!arenaut_problem_needs_memory(in->problem, b)) return false;
    return !in->pool_of || in->pool_of[b] == in->pool;
}

static bool is_fixed(const arenaut_problem *p, uint32_t b) {
    return arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED;
}

static arenaut_status refuse_relations(const arn_exact_input *in, arenaut_error *err) {
    const arenaut_problem *p = in->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!in_pool(in, b)) continue;
        const char *relation = NULL;
        if (arenaut_problem_same_base(p, b) != ARENAUT_NONE) relation = "same-base";
        if (arenaut_problem_inside(p, b) != ARENAUT_NONE) relation = "inside";
        if (relation) {
            char store[24];
            return arn_fail(err, ARENAUT_REFUSED, 0,
                            "buffer '%s': the exact search does not handle %s relations",
                            arenaut_problem_buffer_name(p, b, store), relation);
        }
    }
    return ARENAUT_OK;
}

static bool list_buffers(arn_exact_build *x) {
    const arn_exact_input *in = x->in;
    const arenaut_problem *p = in->problem;
    arn_exact_model *m = x->model;
    m->buffer = arn_region_allocate(&m->region, p->n_buffers, sizeof *m->buffer);
    m->fixed = arn_region_allocate(&m->region, p->n_buffers, sizeof *m->fixed);
    x->item = arn_region_allocate(&x->scratch, p->n_buffers, sizeof *x->item);
    if (!m->buffer || !m->fixed || !x->item) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        x->item[b] = ARENAUT_NONE;
        if (!in_pool(in, b)) continue;
        if (is_fixed(p, b)) {
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

/* Everything rests on the sum of some sizes, on a wall, or on a multiple of an alignment
 * above one of these, so a common divisor of them all divides every offset that matters. */
static void find_unit(arn_exact_build *x) {
    const arenaut_problem *p = x->in->problem;
    arn_exact_model *m = x->model;
    uint64_t unit = 0;
    for (uint32_t i = 0; i < m->n; i++) unit = gcd(p->size[m->buffer[i]], unit);
    for (uint32_t i = 0; i < x->model->n_fixed; i++) {
        unit = gcd(p->size[x->model->fixed[i]], unit);
        unit = gcd(arenaut_problem_fixed_offset(p, x->model->fixed[i]), unit);
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

/* ---- who conflicts ---- */

/* Appends those of `ids` that are not yet listed as neighbours of `i`. */
static void take_neighbours(uint32_t i, const uint32_t *ids, uint32_t n_ids, uint32_t *mark,
                            uint32_t *list, uint32_t *n) {
    for (uint32_t k = 0; k < n_ids; k++) {
        const uint32_t j = ids[k];
        if (j == i || mark[j] == i) continue;
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
        take_neighbours(i, m->member + m->member_start[first],
                        m->member_start[first + 1] - m->member_start[first], mark, list, &n);
        for (uint32_t c = first + 1; c < m->span[s].end; c++) {
            take_neighbours(i, x->comer + x->comer_start[c],
                            x->comer_start[c + 1] - x->comer_start[c], mark, list, &n);
        }
    }
    return n;
}

/* Lists, per clique, the items with a span that begins there. */
static bool list_comers(arn_exact_build *x) {
    const arn_exact_model *m = x->model;
    const uint32_t n_spans = m->span_start[m->n];
    x->comer_start = arn_region_allocate(&x->scratch, (size_t)m->n_cliques + 2,
                                         sizeof *x->comer_start);
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
    m->neighbour_start = arn_region_allocate(&m->region, (size_t)m->n + 1,
                                             sizeof *m->neighbour_start);
    if (!mark || !list || !m->neighbour_start || !list_comers(x)) return arn_no_memory(err);
    for (uint32_t i = 0; i < m->n; i++) mark[i] = ARENAUT_NONE;
    uint64_t total = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        total += collect_neighbours(x, i, mark, list);
        if (total > ARN_EXACT_MOST_PAIRS) return arn_exact_too_large(x, err);
    }
    m->neighbour = arn_region_allocate(&m->region, (size_t)total, sizeof *m->neighbour);
    if (!m->neighbour) return arn_no_memory(err);
    for (uint32_t i = 0; i < m->n; i++) mark[i] = ARENAUT_NONE;
    uint32_t used = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        m->neighbour_start[i] = used;
        used += collect_neighbours(x, i, mark, m->neighbour + used);
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

/* Exchanging the two changes nothing. Items with the same spans have the same neighbours:
 * an edge's clique is a span of its ends only. */
static bool alike(const arn_exact_model *m, uint32_t a, uint32_t b) {
    return m->size[a] == m->size[b] && m->align[a] == m->align[b] && same_spans(m, a, b) &&
           same_walls(m, a, b);
}

static bool find_twins(arn_exact_model *m) {
    m->twin = arn_region_allocate(&m->region, m->n, sizeof *m->twin);
    if (!m->twin) return false;
    for (uint32_t i = 0; i < m->n; i++) {
        m->twin[i] = ARENAUT_NONE;
        /* Twins share their first clique, so it is enough to look there. */
        const uint32_t c = m->span[m->span_start[i]].first;
        for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
            const uint32_t j = m->member[k];
            if (j < i && alike(m, i, j)) m->twin[i] = j;
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
    m->roof = x->highest_wall;
    for (uint32_t i = 0; i < m->n; i++) {
        const int64_t end = arn_exact_snap(m, i, 0) + m->size[i];
        if (end > m->bound) m->bound = end;
        m->roof = arn_exact_align_up(m->roof, m->align[i]) + m->size[i];
    }
    return true;
}

arenaut_status arn_exact_too_large(const arn_exact_build *x, arenaut_error *err) {
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "%" PRIu32 " buffers with more than %d pairs alive together are too many for "
                    "the exact search",
                    x->model->n, ARN_EXACT_MOST_PAIRS);
}

static arenaut_status build(arn_exact_build *x, arenaut_error *err) {
    arn_exact_model *m = x->model;
    arenaut_status st = refuse_relations(x->in, err);
    if (st != ARENAUT_OK) return st;
    if (!list_buffers(x)) return arn_no_memory(err);
    find_unit(x);
    if (!measure_items(x)) return arn_no_memory(err);
    st = arn_exact_find_cliques(x, err);
    if (st == ARENAUT_OK) st = list_neighbours(x, err);
    if (st == ARENAUT_OK) st = arn_exact_find_walls(x, err);
    if (st != ARENAUT_OK) return st;
    if (!find_twins(m) || !find_bounds(x)) return arn_no_memory(err);
    /* So that any two addresses can be added. */
    if (m->roof <= INT64_MAX / 4) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "the sizes add up to %" PRId64 " units of %" PRIu64
                    " bytes, too many for the exact search",
                    m->roof, m->unit);
}

arenaut_status arn_exact_model_make(const arn_exact_input *in, arn_exact_model *model,
                                    arenaut_error *err) {
    const arn_exact_model empty = {.problem = in->problem, .plain = true, .cuts = true};
    *model = empty;
    arn_region_init(&model->region, in->allocator);
    arn_exact_build x = {.in = in, .model = model};
    arn_region_init(&x.scratch, in->allocator);
    const arenaut_status st = build(&x, err);
    arn_region_free(&x.scratch);
    if (st != ARENAUT_OK) arn_exact_model_free(model);
    return st;
}

void arn_exact_model_free(arn_exact_model *model) { arn_region_free(&model->region); }
