/* model_make: turns the buffers of a case into items in small units, and has the rest of the
 * model built step by step. It costs some operations per pair of buffers that are alive
 * together, so cases that differ in little are built anew each time. */
#include "planners/exact/model_make.h"

#include <inttypes.h>

#include "core/checked.h"
#include "core/fail.h"
#include "planners/exact/cliques.h"
#include "planners/exact/neighbours.h"
#include "planners/exact/walls.h"

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
        if (x->relations.root) unit = gcd((uint64_t)x->relations.delta[m->buffer[i]], unit);
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

/* ---- groups ---- */

static void count_groups(arn_exact_build *x, uint32_t *number) {
    arn_exact_model *m = x->model;
    uint32_t n_groups = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        const uint32_t root = x->relations.root[m->buffer[i]];
        if (number[root] == ARENAUT_NONE) number[root] = n_groups++;
        m->group[i] = number[root];
        m->delta[i] = x->relations.delta[m->buffer[i]] / (int64_t)m->unit;
        m->group_start[m->group[i] + 1]++;
    }
    for (uint32_t g = 0; g < n_groups; g++) {
        if (m->group_start[g + 1] > m->largest_group) m->largest_group = m->group_start[g + 1];
        m->group_start[g + 1] += m->group_start[g];
    }
}

/* Lists the groups, unless every item is one by itself. */
static bool list_groups(arn_exact_build *x) {
    arn_exact_model *m = x->model;
    const uint32_t n_buffers = x->in->problem->n_buffers;
    m->largest_group = 1;
    if (!x->relations.root) return true;
    uint32_t *number = arn_region_allocate(&x->scratch, n_buffers, sizeof *number);
    m->group = arn_region_allocate(&m->region, m->n, sizeof *m->group);
    m->delta = arn_region_allocate(&m->region, m->n, sizeof *m->delta);
    m->group_item = arn_region_allocate(&m->region, m->n, sizeof *m->group_item);
    m->group_start = arn_region_allocate(&m->region, (size_t)m->n + 1, sizeof *m->group_start);
    uint32_t *next = arn_region_allocate(&x->scratch, m->n, sizeof *next);
    if (!number || !m->group || !m->delta || !m->group_item || !m->group_start || !next)
        return false;
    for (uint32_t b = 0; b < n_buffers; b++) number[b] = ARENAUT_NONE;
    for (uint32_t i = 0; i <= m->n; i++) m->group_start[i] = 0;
    count_groups(x, number);
    for (uint32_t i = 0; i < m->n; i++) next[i] = m->group_start[i];
    for (uint32_t i = 0; i < m->n; i++) m->group_item[next[m->group[i]]++] = i;
    m->tied = m->largest_group > 1;
    if (m->tied) m->plain = m->cuts = false;
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
    if (m->clash) return true; /* contradictory groups have no places, and so no bounds */
    m->upper_bound = x->highest_wall;
    for (uint32_t i = 0; i < m->n; i++) {
        const int64_t end = arn_exact_snap_group(m, i, 0) + m->size[i];
        if (end > m->bound) m->bound = end;
        /* Stacked one on the other, each item wastes no more than its alignment and, in a
         * group, what lies below it there. */
        m->upper_bound = arn_exact_align_up(m->upper_bound, m->align[i]) + m->size[i];
        if (m->tied) m->upper_bound += m->delta[i] + m->align[i];
    }
    return true;
}

/* Everything about items by themselves and their groups. */
static arenaut_status build_items(arn_exact_build *x, arenaut_error *err) {
    arn_exact_model *m = x->model;
    if (!arn_ask_after(m->ask, x->in->problem->n_buffers)) return ARENAUT_STOPPED;
    if (!arn_exact_find_relations(x->assumed, &x->scratch, &x->relations) || !list_buffers(x)) {
        return arn_no_memory(err);
    }
    if (arn_ask_ended(m->ask)) return ARENAUT_STOPPED;
    if (x->relations.too_large) return arn_exact_too_large(x, err);
    m->clash = x->relations.contradictory;
    find_unit(x);
    if (!measure_items(x) || !list_groups(x)) return arn_no_memory(err);
    const uint64_t pairs = (uint64_t)m->largest_group * m->n;
    return pairs > ARN_EXACT_MOST_PAIRS ? arn_exact_too_large(x, err) : ARENAUT_OK;
}

static arenaut_status build(arn_exact_build *x, arenaut_error *err) {
    arn_exact_model *m = x->model;
    arenaut_status st = build_items(x, err);
    if (st == ARENAUT_OK) st = arn_exact_find_cliques(x, err);
    if (st == ARENAUT_OK) st = arn_exact_find_neighbours(x, err);
    if (st == ARENAUT_OK) st = arn_exact_find_walls(x, err);
    if (st != ARENAUT_OK || arn_ask_ended(m->ask)) return st;
    if (!arn_exact_find_alike(x) || !find_bounds(x)) return arn_no_memory(err);
    if (arn_ask_ended(m->ask)) return ARENAUT_STOPPED;
    /* So that any two addresses can be added. */
    if (m->upper_bound <= INT64_MAX / 4) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "the sizes add up to %" PRId64 " units of %" PRIu64
                    " bytes, too many for the exact search",
                    m->upper_bound, m->unit);
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
