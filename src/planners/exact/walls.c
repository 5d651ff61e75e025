/* walls: what is taken from the start, reserved ranges at all steps and fixed buffers while they
 * are alive, as sorted lists of addresses per item and per clique. Costs walls times items and
 * members, which is why there is a limit. */
#include "planners/exact/walls.h"

#include "core/fail.h"
#include "core/sort.h"

static arn_exact_wall fixed_wall(const arn_exact_build *x, uint32_t b) {
    const uint64_t first = arn_exact_fixed_offset(x, b);
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

/* Finds fixed buffers that cannot lie where they must. */
static void find_clashes(arn_exact_build *x) {
    const arenaut_problem *p = x->in->problem;
    for (uint32_t i = 0; i < x->model->n_fixed; i++) {
        const arn_exact_wall wall = fixed_wall(x, x->model->fixed[i]);
        const uint64_t align = arenaut_problem_align(p, x->model->fixed[i]);
        if (arn_exact_fixed_offset(x, x->model->fixed[i]) % align) x->model->clash = true;
        if (wall.end > x->model->highest_fixed) x->model->highest_fixed = wall.end;
        for (uint32_t k = 0; k < i; k++) {
            if (walls_meet(wall, fixed_wall(x, x->model->fixed[k])) &&
                arn_exact_in_the_way(x, x->model->fixed[i], x->model->fixed[k])) {
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

/* Whether wall `w` stands in the way of item `i`. */
static bool stands_before_item(const arn_exact_build *x, uint32_t w, uint32_t i) {
    const arn_exact_model *m = x->model;
    return w >= m->n_fixed || arn_exact_in_the_way(x, m->buffer[i], m->fixed[w]);
}

/* Whether wall `w` stands in clique `c`: all of its members must keep clear of it. Where the
 * clique is a moment, the fixed buffers alive then are such walls, as they are in the way of
 * every member; and there may be more, which the clique's bound can use just as well. */
static bool stands_in_clique(const arn_exact_build *x, uint32_t w, uint32_t c) {
    const arn_exact_model *m = x->model;
    if (w >= x->model->n_fixed) return true;
    for (uint32_t k = m->member_start[c]; k < m->member_start[c + 1]; k++) {
        if (!arn_exact_in_the_way(x, m->buffer[m->member[k]], x->model->fixed[w])) return false;
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

arenaut_status arn_exact_find_walls(arn_exact_build *x, arenaut_error *err) {
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
