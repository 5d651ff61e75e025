/* The model of the overlap search: groups by following the inside relations up, pairs by a sweep
 * over the lifetimes and from the conflict edges, and for each pair the union of the distances that
 * its buffers forbid each other. */
#include "planners/overlap/overlap_search.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "ir/pair_relations.h"
#include "planners/bounds/hosts.h"

/* A range that two buffers forbid their groups, before those of a pair are gathered. */
typedef struct found_ban {
    uint32_t g, h;
    arn_overlap_ban ban;
} found_ban;

typedef struct maker {
    const arenaut_problem *problem;
    uint32_t pool;
    const arenaut_allocator *allocator;
    arn_overlap_model *model;
    found_ban *found;
    uint32_t n_found, room;
    uint32_t n_met;
    arn_hosts hosts;
    bool too_many;
} maker;

static bool lies_here(const maker *m, uint32_t b) {
    return arenaut_problem_needs_memory(m->problem, b) &&
           arenaut_problem_pools(m->problem, b) == UINT64_C(1) << m->pool;
}

static uint32_t count_reserved(const maker *m) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->problem->n_reserved; i++)
        n += m->problem->reserved[i].pool == m->pool;
    return n;
}

static bool allocate_groups(maker *m) {
    arn_overlap_model *x = m->model;
    const uint32_t n = m->problem->n_buffers, most = n + count_reserved(m);
    return ARN_REGION_ARRAYS(&x->memory, ARN_ARRAY(x->extent, most), ARN_ARRAY(x->align, most),
                             ARN_ARRAY(x->fixed, most), ARN_ARRAY(x->counts, most),
                             ARN_ARRAY(x->group, n), ARN_ARRAY(x->inner, n));
}

static void add_group(arn_overlap_model *x, uint64_t extent, uint64_t align, uint64_t fixed,
                      bool counts) {
    x->extent[x->n] = extent;
    x->align[x->n] = align;
    x->fixed[x->n] = fixed;
    x->counts[x->n++] = counts;
}

static uint32_t root_of(const maker *m, uint32_t b) { return m->hosts.root ? m->hosts.root[b] : b; }

static void make_groups(maker *m) {
    const arenaut_problem *p = m->problem;
    arn_overlap_model *x = m->model;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        x->group[b] = ARENAUT_NONE;
        x->inner[b] = m->hosts.delta ? m->hosts.delta[b] : 0;
        if (!lies_here(m, b) || root_of(m, b) != b) continue;
        x->group[b] = x->n;
        add_group(x, p->size[b], arenaut_problem_align(p, b), arenaut_problem_fixed_offset(p, b),
                  true);
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) { /* a host is at least as large as its slices */
        if (lies_here(m, b)) x->group[b] = x->group[root_of(m, b)];
    }
}

/* In (-size(a), size(b)), less the distances that relations allow. */
arn_overlap_forbidden arn_overlap_forbid(const arenaut_problem *p, uint32_t a, uint32_t b) {
    arn_overlap_forbidden f = {.first = 1 - (int64_t)p->size[a], .last = (int64_t)p->size[b] - 1};
    const arenaut_separation *above = arn_find_separation(p, a, b),
                             *below = arn_find_separation(p, b, a);
    if (above && above->distance - 1 < f.last) f.last = above->distance - 1;
    if (below && 1 - below->distance > f.first) f.first = 1 - below->distance;
    f.has_hole = arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a;
    return f;
}

static bool keep(maker *m, uint32_t g, uint32_t h, int64_t first, int64_t last) {
    if (first > last) return true;
    if (m->n_found == ARN_OVERLAP_MOST_PAIRS) m->too_many = true;
    if (m->too_many) return true;
    if (!arn_grow(m->allocator, (void **)&m->found, &m->room, (uint64_t)m->n_found + 1,
                  sizeof *m->found)) {
        return false;
    }
    const arn_overlap_ban ban = {first, last}, turned = {-last, -first};
    m->found[m->n_found++] = g < h ? (found_ban){g, h, ban} : (found_ban){h, g, turned};
    return true;
}

/* Two buffers that are in use together. */
static bool meet(maker *m, uint32_t a, uint32_t b) {
    const arenaut_problem *p = m->problem;
    arn_overlap_model *x = m->model;
    const uint32_t g = x->group[a], h = x->group[b];
    const arn_overlap_forbidden f = arn_overlap_forbid(p, a, b);
    const int64_t delta = (int64_t)x->inner[a] - (int64_t)x->inner[b];
    if (++m->n_met > ARN_OVERLAP_MOST_PAIRS) m->too_many = true;
    if (g == h) {
        const bool allowed = delta < f.first || delta > f.last || (f.has_hole && delta == 0) ||
                             arn_hosts_nested(&m->hosts, a, b);
        if (!allowed) x->impossible = true;
        return true;
    }
    /* place(g) - place(h) = offset(a) - inner(a) - offset(b) + inner(b) */
    if (!f.has_hole || f.first > 0 || f.last < 0) {
        return keep(m, g, h, f.first - delta, f.last - delta);
    }
    return keep(m, g, h, f.first - delta, -1 - delta) && keep(m, g, h, 1 - delta, f.last - delta);
}

typedef struct birth_order {
    uint32_t *births, *owner;
    uint32_t n;
} birth_order;

/* The lifetimes of all that lies here, by first step. */
static bool order_births(maker *m, birth_order *o) {
    const arenaut_problem *p = m->problem;
    arn_region *memory = &m->model->memory;
    uint64_t *key;
    uint32_t *work;
    if (!ARN_REGION_ARRAYS(memory, ARN_ARRAY(key, p->n_lifetimes), ARN_ARRAY(work, p->n_lifetimes),
                           ARN_ARRAY(o->births, p->n_lifetimes),
                           ARN_ARRAY(o->owner, p->n_lifetimes))) {
        return false;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        for (uint32_t i = p->lifetime_start[b]; i < p->lifetime_start[b + 1]; i++) {
            o->owner[i] = b;
            key[i] = arn_step_key(p->lifetime[i].first);
            if (lies_here(m, b)) o->births[o->n++] = i;
        }
    }
    arn_sort_by_key(o->births, o->n, key, work);
    return true;
}

/* Each birth meets the live buffers; buffers that meet at several times forbid the same. */
static bool meet_over_time(maker *m) {
    const arenaut_problem *p = m->problem;
    birth_order o = {0};
    uint32_t n_alive = 0;
    uint32_t *alive = arn_region_allocate(&m->model->memory, p->n_lifetimes, sizeof *alive);
    if (!alive || !order_births(m, &o)) return false;
    for (uint32_t i = 0; i < o.n && !m->too_many; i++) {
        const uint32_t life = o.births[i];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < n_alive; k++) {
            if (p->lifetime[alive[k]].end > p->lifetime[life].first) alive[kept++] = alive[k];
        }
        n_alive = kept;
        for (uint32_t k = 0; k < n_alive && !m->too_many; k++) {
            if (!meet(m, o.owner[alive[k]], o.owner[life])) return false;
        }
        alive[n_alive++] = life;
    }
    return true;
}

static bool meet_by_edges(maker *m) {
    const arenaut_problem *p = m->problem;
    for (uint32_t i = 0; i < p->n_conflicts && !m->too_many; i++) {
        const uint32_t a = p->conflict[i].a, b = p->conflict[i].b;
        if (lies_here(m, a) && lies_here(m, b) && !meet(m, a, b)) return false;
    }
    return true;
}

/* Reserved ranges keep their place, and all groups are to stay clear of them. */
static bool meet_reserved(maker *m) {
    const arenaut_problem *p = m->problem;
    arn_overlap_model *x = m->model;
    const uint32_t n_groups = x->n;
    for (uint32_t i = 0; i < p->n_reserved && !m->too_many; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool != m->pool) continue;
        const uint32_t range = x->n;
        add_group(x, r->end - r->first, 1, r->first, false);
        for (uint32_t g = 0; g < n_groups && !m->too_many; g++) {
            if (!keep(m, g, range, 1 - (int64_t)x->extent[g], (int64_t)x->extent[range] - 1)) {
                return false;
            }
        }
    }
    return true;
}

static bool ban_before(const void *context, uint32_t a, uint32_t b) {
    const found_ban *x = (const found_ban *)context + a, *y = (const found_ban *)context + b;
    if (x->g != y->g) return x->g < y->g;
    return x->h != y->h ? x->h < y->h : x->ban.first < y->ban.first;
}

/* Gathers the ranges of each pair; ranges that overlap or touch become one. */
static bool gather_pairs(maker *m) {
    arn_overlap_model *x = m->model;
    const size_t n = m->n_found;
    uint32_t *order;
    if (!ARN_REGION_ARRAYS(&x->memory, ARN_ARRAY(order, n * 2), ARN_ARRAY(x->pair, n),
                           ARN_ARRAY(x->ban, n))) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    arn_sort_ids(order, n, ban_before, m->found, order + n);
    for (uint32_t i = 0; i < n; i++) {
        const found_ban *f = &m->found[order[i]];
        arn_overlap_pair *last = x->n_pairs ? &x->pair[x->n_pairs - 1] : NULL;
        if (!last || last->g != f->g || last->h != f->h) {
            last = &x->pair[x->n_pairs++];
            *last = (arn_overlap_pair){f->g, f->h, x->n_bans, 0};
        }
        arn_overlap_ban *before = last->n_bans ? &x->ban[x->n_bans - 1] : NULL;
        if (before && f->ban.first <= before->last + 1) {
            if (f->ban.last > before->last) before->last = f->ban.last;
        } else {
            x->ban[x->n_bans++] = f->ban;
            last->n_bans++;
        }
    }
    return true;
}

static bool list_touches(arn_overlap_model *x) {
    uint32_t *start = x->touch_start =
        arn_region_allocate(&x->memory, (size_t)x->n + 2, sizeof *start);
    x->touch = arn_region_allocate(&x->memory, (size_t)x->n_pairs * 2, sizeof *x->touch);
    if (!start || !x->touch) return false;
    memset(start, 0, ((size_t)x->n + 2) * sizeof *start);
    for (uint32_t i = 0; i < x->n_pairs; i++) {
        start[x->pair[i].g + 2]++;
        start[x->pair[i].h + 2]++;
    }
    for (uint32_t g = 2; g < x->n + 2; g++) start[g] += start[g - 1];
    for (uint32_t i = 0; i < x->n_pairs; i++) { /* which moves start[g + 1] to g's end */
        x->touch[start[x->pair[i].g + 1]++] = i;
        x->touch[start[x->pair[i].h + 1]++] = i;
    }
    return true;
}

static bool make(maker *m) {
    if (!allocate_groups(m) || !arn_hosts_find(m->problem, &m->model->memory, &m->hosts))
        return false;
    make_groups(m);
    if (!meet_over_time(m) || !meet_by_edges(m) || !meet_reserved(m)) return false;
    if (m->too_many) m->model->n = m->n_found = 0;
    return gather_pairs(m) && list_touches(m->model);
}

arenaut_status arn_overlap_model_make(const arenaut_problem *problem, uint32_t pool,
                                      const arenaut_allocator *allocator, arn_overlap_model *model,
                                      bool *too_many, arenaut_error *err) {
    maker m = {.problem = problem, .pool = pool, .allocator = allocator, .model = model};
    *model = (arn_overlap_model){0};
    arn_region_init(&model->memory, allocator);
    const bool made = make(&m);
    arn_release(allocator, m.found);
    *too_many = m.too_many;
    return made ? ARENAUT_OK : arn_no_memory(err);
}

void arn_overlap_model_free(arn_overlap_model *model) { arn_region_free(&model->memory); }

uint64_t arn_overlap_ample_height(const arn_overlap_model *x) {
    uint64_t top = 0;
    for (uint32_t g = 0; g < x->n; g++) {
        if (x->fixed[g] == ARENAUT_UNPLACED) continue;
        top = arn_max_u64(top, x->fixed[g] + x->extent[g]);
    }
    for (uint32_t g = 0; g < x->n; g++) {
        if (x->fixed[g] != ARENAUT_UNPLACED) continue;
        top = arn_aligned(top, x->align[g]) + x->extent[g];
    }
    return top;
}
