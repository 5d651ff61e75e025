/* The model of a case: its buffers as items in small units, with walls and bounds.
 *
 * It is built in this order: relations, items and groups, sections and interference
 * (sections.c), walls, bounds. That costs some operations per pair of buffers that are alive
 * together, so cases that differ in little are built anew each time. */
#include "planners/exact/item_model.h"

#include <inttypes.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"

/* The only place of a buffer, in bytes, by itself or with its group; ARENAUT_UNPLACED: anywhere. */
static uint64_t fixed_offset(const arn_exact_build *x, uint32_t b) {
    if (!x->relations.root) return arenaut_problem_fixed_offset(x->in->problem, b);
    return x->relations.fixed[b];
}

/* ---- walls ---- */

/* Reserved ranges at all steps and fixed buffers while they are alive, as sorted lists of addresses
 * per item and per clique. Costs walls times items and members, which is why there is a limit. */

static arn_exact_wall fixed_wall(const arn_exact_build *x, uint32_t b) {
    const uint64_t first = fixed_offset(x, b);
    const arn_exact_wall wall = {(int64_t)(first / x->model->unit),
                                 (int64_t)((first + x->in->problem->size[b]) / x->model->unit)};
    return wall;
}

static arn_exact_wall reserved_wall(const arn_exact_build *x, uint32_t r) {
    const arenaut_reserved *range = &x->in->problem->reserved[r];
    const arn_exact_wall wall = {(int64_t)(range->first / x->model->unit),
                                 (int64_t)(range->end / x->model->unit)};
    return wall;
}

static bool walls_meet(arn_exact_wall a, arn_exact_wall b) {
    return a.first < b.end && b.first < a.end;
}

/* Finds fixed buffers that cannot lie at their offsets. */
static void find_clashes(arn_exact_build *x) {
    const arenaut_problem *p = x->in->problem;
    for (uint32_t i = 0; i < x->model->n_fixed; i++) {
        const arn_exact_wall wall = fixed_wall(x, x->model->fixed[i]);
        const uint64_t align = arenaut_problem_align(p, x->model->fixed[i]);
        if (fixed_offset(x, x->model->fixed[i]) % align) x->model->clash = true;
        if (wall.end > x->model->highest_fixed) x->model->highest_fixed = wall.end;
        for (uint32_t k = 0; k < i; k++) {
            if (walls_meet(wall, fixed_wall(x, x->model->fixed[k])) &&
                arn_exact_interfere(x, x->model->fixed[i], x->model->fixed[k])) {
                x->model->clash = true;
            }
        }
        for (uint32_t r = 0; r < p->n_reserved; r++) {
            if (p->reserved[r].pool != x->in->pool) continue;
            if (walls_meet(wall, reserved_wall(x, r))) x->model->clash = true;
        }
    }
}

static bool wall_before(const void *context, uint32_t a, uint32_t b) {
    const arn_exact_wall *wall = context;
    return wall[a].first < wall[b].first;
}

/* All walls of the pool in order of address; the first n_fixed of `raw` are the fixed
 * buffers', the rest reserved ranges. */
typedef struct sorted_walls {
    arn_exact_wall *raw;
    uint32_t *order;
    uint32_t n;
} sorted_walls;

static bool sort_walls(arn_exact_build *x, sorted_walls *all) {
    const arenaut_problem *p = x->in->problem;
    const size_t room = (size_t)x->model->n_fixed + p->n_reserved;
    all->raw = arn_region_allocate(&x->scratch, room, sizeof *all->raw);
    all->order = arn_region_allocate(&x->scratch, room, 2 * sizeof *all->order);
    if (!all->raw || !all->order) return false;
    all->n = 0;
    for (uint32_t i = 0; i < x->model->n_fixed; i++) {
        all->raw[all->n++] = fixed_wall(x, x->model->fixed[i]);
    }
    for (uint32_t r = 0; r < p->n_reserved; r++) {
        if (p->reserved[r].pool == x->in->pool) all->raw[all->n++] = reserved_wall(x, r);
    }
    for (uint32_t i = 0; i < all->n; i++) {
        all->order[i] = i;
        if (all->raw[i].end > x->highest_wall) x->highest_wall = all->raw[i].end;
    }
    arn_sort_ids(all->order, all->n, wall_before, all->raw, all->order + all->n);
    return true;
}

/* A list of walls under construction: one list after another, each merged as it grows. */
typedef struct wall_lists {
    const arenaut_allocator *allocator;
    arn_exact_wall *wall;
    uint32_t n, capacity, start;
} wall_lists;

static bool add_wall(wall_lists *lists, arn_exact_wall wall) {
    arn_exact_wall *last = lists->n > lists->start ? &lists->wall[lists->n - 1] : NULL;
    if (last && wall.first <= last->end) {
        if (wall.end > last->end) last->end = wall.end;
        return true;
    }
    if (!arn_grow(lists->allocator, (void **)&lists->wall, &lists->capacity, (uint64_t)lists->n + 1,
                  sizeof *lists->wall)) {
        return false;
    }
    lists->wall[lists->n++] = wall;
    return true;
}

/* Whether wall `w` interferes with item `i`. */
static bool stands_before_item(const arn_exact_build *x, uint32_t w, uint32_t i) {
    const arn_exact_model *m = x->model;
    return w >= m->n_fixed || arn_exact_interfere(x, m->buffer[i], m->fixed[w]);
}

/* Whether wall `w` stands in clique `c`: all of its members must keep clear of it. If the clique is
 * a moment, the fixed buffers alive then are such walls, as they interfere with every member; and
 * there may be more, which the clique's bound can use just as well. */
static bool stands_in_clique(const arn_exact_build *x, uint32_t w, uint32_t c) {
    const arn_exact_model *m = x->model;
    if (w >= x->model->n_fixed) return true;
    for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
        if (!arn_exact_interfere(x, m->buffer[m->member[k]], x->model->fixed[w])) return false;
    }
    return true;
}

/* Lists, for each of n items or cliques, the walls that stand there, one list after the other.
 * NULL if there is no memory. */
static arn_exact_wall *list_walls(const arn_exact_build *x, const sorted_walls *all, uint32_t n,
                                  bool (*stands)(const arn_exact_build *, uint32_t, uint32_t),
                                  uint32_t *start) {
    wall_lists lists = {.allocator = x->in->allocator};
    arn_exact_wall *kept = NULL;
    bool done = true;
    for (uint32_t i = 0; i < n && done; i++) {
        start[i] = lists.start = lists.n;
        for (uint32_t k = 0; k < all->n && done; k++) {
            const uint32_t w = all->order[k];
            if (stands(x, w, i)) done = add_wall(&lists, all->raw[w]);
        }
    }
    start[n] = lists.n;
    if (done) kept = arn_region_allocate(&x->model->region, lists.n, sizeof *kept);
    for (uint32_t i = 0; kept && i < lists.n; i++) kept[i] = lists.wall[i];
    arn_release(x->in->allocator, lists.wall);
    return kept;
}

/* Fills in the walls of items and of cliques, the end of the highest fixed buffer, and whether
 * fixed buffers clash with each other, with reserved ranges or with their alignment. Needs the
 * cliques. REFUSED: too large; NO_MEMORY. */
static arenaut_status find_walls(arn_exact_build *x, arenaut_error *err) {
    arn_exact_model *m = x->model;
    const uint64_t walls = (uint64_t)m->n_fixed + x->in->problem->n_reserved;
    const uint64_t lists = (uint64_t)m->member_start[m->n_cliques] + m->n_cliques + m->n_fixed;
    if (walls && lists > ARN_EXACT_MOST_PAIRS / walls) return arn_exact_too_large(x, err);
    find_clashes(x);
    sorted_walls all;
    m->wall_start = arn_region_allocate(&m->region, (size_t)m->n + 1, sizeof *m->wall_start);
    m->clique_wall_start =
        arn_region_allocate(&m->region, (size_t)m->n_cliques + 1, sizeof *m->clique_wall_start);
    if (!m->wall_start || !m->clique_wall_start || !sort_walls(x, &all)) return arn_no_memory(err);
    if (all.n) m->plain = false;
    m->wall = list_walls(x, &all, m->n, stands_before_item, m->wall_start);
    if (!m->wall) return arn_no_memory(err);
    m->clique_wall = list_walls(x, &all, m->n_cliques, stands_in_clique, m->clique_wall_start);
    return m->clique_wall ? ARENAUT_OK : arn_no_memory(err);
}

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
        const uint64_t fixed = fixed_offset(x, b);
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

/* Everything rests on the sum of some sizes and distances in groups, on a wall, or on a multiple
 * of an alignment above one of these, so a common divisor of them all divides every offset that
 * matters. */
static void find_unit(arn_exact_build *x) {
    const arenaut_problem *p = x->in->problem;
    arn_exact_model *m = x->model;
    uint64_t unit = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        unit = arn_gcd(p->size[m->buffer[i]], unit);
        if (x->relations.root) unit = arn_gcd((uint64_t)x->relations.delta[m->buffer[i]], unit);
    }
    for (uint32_t i = 0; i < m->n_fixed; i++) {
        unit = arn_gcd(p->size[m->fixed[i]], arn_gcd(m->fixed_at[i], unit));
    }
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        if (p->reserved[i].pool != x->in->pool) continue;
        unit = arn_gcd(p->reserved[i].first, arn_gcd(p->reserved[i].end, unit));
    }
    for (uint32_t i = 0; i < m->n; i++) {
        const uint64_t align = arenaut_problem_align(p, m->buffer[i]);
        if (unit % align != 0) unit = arn_gcd(unit, align);
    }
    m->unit = unit ? unit : 1;
}

static bool measure_items(arn_exact_build *x) {
    const arenaut_problem *p = x->in->problem;
    arn_exact_model *m = x->model;
    if (!ARN_REGION_ARRAYS(&m->region, ARN_ARRAY(m->size, m->n), ARN_ARRAY(m->align, m->n),
                           ARN_ARRAY(m->width, m->n))) {
        return false;
    }
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
    uint32_t *number, *next;
    if (!ARN_REGION_ARRAYS(&x->scratch, ARN_ARRAY(number, n_buffers), ARN_ARRAY(next, m->n)) ||
        !ARN_REGION_ARRAYS(&m->region, ARN_ARRAY(m->group, m->n), ARN_ARRAY(m->delta, m->n),
                           ARN_ARRAY(m->group_item, m->n),
                           ARN_ARRAY(m->group_start, (size_t)m->n + 1))) {
        return false;
    }
    for (uint32_t b = 0; b < n_buffers; b++) number[b] = ARENAUT_NONE;
    for (uint32_t i = 0; i <= m->n; i++) m->group_start[i] = 0;
    count_groups(x, number);
    for (uint32_t i = 0; i < m->n; i++) next[i] = m->group_start[i];
    for (uint32_t i = 0; i < m->n; i++) m->group_item[next[m->group[i]]++] = i;
    m->tied = m->largest_group > 1;
    if (m->tied) m->plain = m->cuts = false;
    return true;
}

/* ---- marks ---- */

static int64_t count_marks(const arn_exact_model *m, uint32_t c, uint8_t grain) {
    int64_t marks = 0;
    for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
        marks += arn_exact_marks(m, m->member[k], grain);
    }
    return marks;
}

/* The least end of all members of a clique, whichever of them is the topmost. */
static int64_t least_end(const arn_exact_model *m, uint32_t c, uint8_t grain, int64_t marks) {
    int64_t least = INT64_MAX;
    for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
        const uint32_t i = m->member[k];
        const uint64_t below = (uint64_t)(marks - arn_exact_marks(m, i, grain));
        const int64_t end = (int64_t)arn_end_above_marks(
            below, UINT64_C(1) << grain, (uint64_t)m->size[i], (uint64_t)m->align[i]);
        if (end < least) least = end;
    }
    return least;
}

/* Chooses the grain of clique `c`, unless its alignments cost nothing: up to the largest of them,
 * from the first that does not divide all sizes. */
static void choose_grain(arn_exact_model *m, uint32_t c) {
    int64_t aligns = 0, sizes = 0, highest = 0;
    m->grain[c] = 0;
    m->marks[c] = 0;
    for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
        if (arn_exact_has(m, ARN_EXACT_MARKS)) aligns |= m->align[m->member[k]];
        sizes |= m->size[m->member[k]];
    }
    for (uint8_t grain = 1; aligns >> grain > 0; grain++) {
        if (sizes % (INT64_C(1) << grain) == 0) continue;
        const int64_t marks = count_marks(m, c, grain), end = least_end(m, c, grain, marks);
        if (end <= highest) continue;
        highest = end;
        m->grain[c] = grain;
        m->marks[c] = marks;
        m->has_marks = true;
    }
    if (highest > m->bound) m->bound = highest;
}

/* ---- bounds ---- */

static bool find_bounds(arn_exact_build *x) {
    arn_exact_model *m = x->model;
    if (!ARN_REGION_ARRAYS(&m->region, ARN_ARRAY(m->load, m->n_cliques),
                           ARN_ARRAY(m->grain, m->n_cliques), ARN_ARRAY(m->marks, m->n_cliques))) {
        return false;
    }
    m->bound = x->model->highest_fixed;
    for (uint32_t c = 0; c < m->n_cliques; c++) {
        m->load[c] = 0;
        for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
            m->load[c] += m->size[m->member[k]];
        }
        const int64_t need = arn_exact_need(m, c, 0, m->load[c]);
        if (m->load[c] > 0 && need > m->bound) m->bound = need;
        choose_grain(m, c);
    }
    if (m->clash) return true; /* contradictory groups have no places, and so no bounds */
    m->upper_bound = x->highest_wall;
    for (uint32_t i = 0; i < m->n; i++) {
        const int64_t end = arn_exact_snap_group(m, i, 0) + m->size[i];
        if (end > m->bound) m->bound = end;
        /* Stacked one on the other, each item wastes no more than its alignment and, in a group,
         * the bytes below it there. */
        m->upper_bound = arn_exact_align_up(m->upper_bound, m->align[i]) + m->size[i];
        if (m->tied) m->upper_bound += m->delta[i] + m->align[i];
    }
    return true;
}

/* Everything about items by themselves and their groups. */
static arenaut_status build_items(arn_exact_build *x, arenaut_error *err) {
    arn_exact_model *m = x->model;
    if (!arn_poll_after(m->poll, x->in->problem->n_buffers)) return ARENAUT_STOPPED;
    if (!arn_exact_find_relations(x->assumed, &x->scratch, &x->relations) || !list_buffers(x)) {
        return arn_no_memory(err);
    }
    if (arn_poll_ended(m->poll)) return ARENAUT_STOPPED;
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
    if (st == ARENAUT_OK) st = find_walls(x, err);
    if (st != ARENAUT_OK || arn_poll_ended(m->poll)) return st;
    if (!arn_exact_find_alike(x) || !find_bounds(x)) return arn_no_memory(err);
    if (arn_poll_ended(m->poll)) return ARENAUT_STOPPED;
    /* So that any two addresses can be added. */
    if (m->upper_bound <= INT64_MAX / 4) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "the sizes add up to %" PRId64 " units of %" PRIu64
                    " bytes, too many for the exact search",
                    m->upper_bound, m->unit);
}

arenaut_status arn_exact_model_make(const arn_exact_case *assumed, arn_exact_model *model,
                                    arenaut_error *err) {
    const arn_exact_model empty = {.problem = assumed->in.problem,
                                   .without = assumed->in.without,
                                   .poll = assumed->in.poll,
                                   .plain = true,
                                   .cuts = true};
    *model = empty;
    model->cuts = arn_exact_has(model, ARN_EXACT_PARTS);
    arn_region_init(&model->region, assumed->in.allocator);
    arn_exact_build x = {.in = &assumed->in, .assumed = assumed, .model = model};
    arn_region_init(&x.scratch, assumed->in.allocator);
    arenaut_status st = build(&x, err);
    if (arn_poll_ended(model->poll)) st = ARENAUT_STOPPED; /* half of something was built */
    arn_region_free(&x.scratch);
    if (st != ARENAUT_OK) arn_exact_model_free(model);
    return st;
}

/* ---- bounds without a search ---- */

/* A case's model is built for its bound alone. Searching (case_branching.c) and proving (prove.c)
 * go through cases in different orders, but compare their bounds in the same way. */

arenaut_status arn_exact_bound_pool(const arn_exact_case *c, uint64_t *bound, bool *possible,
                                    uint64_t *effort, arenaut_error *err) {
    const arenaut_pool *pool = &c->in.problem->pool[c->in.pool];
    arn_exact_model m;
    const arenaut_status st = arn_exact_model_make(c, &m, err);
    if (st != ARENAUT_OK) return st;
    const uint64_t bytes = (uint64_t)m.bound * m.unit;
    *bound = arn_aligned(bytes, pool->align);
    *possible = !m.clash && bytes <= pool->capacity;
    *effort += (m.member_start[m.n_cliques] + m.n) / ARN_EXACT_OPERATIONS_PER_EFFORT + 1;
    arn_exact_model_free(&m);
    return ARENAUT_OK;
}

uint64_t arn_exact_sum_bounds(const arenaut_problem *p, const uint64_t *bound) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!arn_add(sum, bound[k], &sum)) return ARENAUT_SIZE_MAX;
    }
    return sum;
}

/* ---- places in a finished model ---- */

int64_t arn_exact_snap_group(const arn_exact_model *m, uint32_t item, int64_t at) {
    if (!m->tied) return arn_exact_snap(m, item, at);
    const uint32_t g = m->group[item];
    int64_t start = at - m->delta[item];
    if (start < 0) start = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t k = m->group_start[g]; k < m->group_start[g + 1]; k++) {
            const uint32_t j = m->group_item[k];
            const int64_t own = start + m->delta[j];
            const int64_t snapped = arn_exact_snap(m, j, own);
            moved = moved || snapped != own;
            start += snapped - own;
            if (!arn_poll_after(m->poll, 1 + m->wall_start[j + 1] - m->wall_start[j])) break;
        }
        if (arn_poll_ended(m->poll)) break;
    }
    return start + m->delta[item];
}

void arn_exact_model_free(arn_exact_model *model) { arn_region_free(&model->region); }
