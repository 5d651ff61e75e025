/* The groups that the spill bound divides among pools, and which pools each of them may need.
 *
 * A group is a buffer with what lies inside it. It is narrowed to the pools that matter by the
 * most that may be alive beside it, looked up in a segment tree over the events of the load:
 * O(pools × n log n). The walk over the groups is in spill.c. */
#include "core/checked.h"
#include "core/fail.h"
#include "planners/bounds/rooms.h"
#include "planners/bounds/spill_groups.h"

static void touch(arn_spill *s, uint32_t buffer, uint32_t place, uint32_t start) {
    arn_spill_group *g = &s->group[arn_spill_root(s, buffer)];
    if (g->first == ARENAUT_NONE) {
        g->first = place;
        g->start = start;
    }
    g->last = place;
}

static void find_groups(arn_spill *s, const arn_rooms *rooms) {
    const arenaut_problem *p = s->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        s->group[b] = (arn_spill_group){
            .first = ARENAUT_NONE, .pool = ARENAUT_NONE, .slot = ARN_SPILL_NO_SLOT};
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        s->group[arn_spill_root(s, b)].traffic += p->size[b] * arenaut_problem_uses(p, b);
        s->group[arn_spill_root(s, b)].bytes += p->size[b];
        if (arn_spill_root(s, b) == b) s->roots[s->n_roots++] = b;
    }
    for (uint32_t i = 0; i < s->n_roots; i++) {
        const uint32_t b = s->roots[i];
        const uint64_t allowed = arenaut_problem_pools(p, b);
        for (uint32_t k = 0; k < p->n_pools; k++) {
            if (!(allowed >> k & 1) || arn_lowest_end(rooms, b, k) == ARENAUT_UNPLACED) continue;
            s->group[b].own_pools |= UINT64_C(1) << k;
        }
    }
    for (uint32_t i = 0, start = 0; i < s->load.n; i++) {
        const arn_load_event *e = arn_spill_event(s, i);
        if (e->step != arn_spill_event(s, start)->step) start = i;
        touch(s, e->buffer, i, start);
        if (e->saving) touch(s, p->same_base[e->buffer], i, start);
    }
}

arenaut_status arn_spill_new(const arenaut_problem *problem, const arenaut_allocator *allocator,
                             arn_spill **out, arenaut_error *err) {
    arn_spill *s = arn_allocate_zeroed(allocator, 1, sizeof *s);
    if (!s) return arn_no_memory(err);
    s->problem = problem;
    s->allocator = allocator;
    arn_region_init(&s->region, allocator);
    const arenaut_status st = arn_load_init(&s->load, problem, allocator, err);
    if (st != ARENAUT_OK) {
        arn_region_free(&s->region);
        arn_release(allocator, s);
        return st;
    }
    s->n_leaves = 1;
    while (s->n_leaves < s->load.n) s->n_leaves *= 2;
    s->group = arn_region_allocate(&s->region, problem->n_buffers, sizeof *s->group);
    s->roots = arn_region_allocate(&s->region, problem->n_buffers, sizeof *s->roots);
    s->peak = arn_region_allocate(&s->region, (size_t)s->n_leaves * 2, sizeof *s->peak);
    if (!s->group || !s->roots || !s->peak || !arn_hosts_find(problem, &s->region, &s->hosts)) {
        arn_spill_free(s);
        return arn_no_memory(err);
    }
    arn_rooms rooms;
    if (!arn_rooms_make(&rooms, problem, allocator)) {
        arn_spill_free(s);
        return arn_no_memory(err);
    }
    find_groups(s, &rooms);
    arn_rooms_free(&rooms);
    *out = s;
    return ARENAUT_OK;
}

void arn_spill_free(arn_spill *s) {
    if (!s) return;
    arn_load_free(&s->load);
    arn_region_free(&s->region);
    arn_release(s->allocator, s);
}

/* ---- which pools a group may need ---- */

void arn_spill_room(const arenaut_problem *p, uint32_t sixteenths,
                    uint64_t room[ARENAUT_MAX_POOLS]) {
    for (uint32_t k = 0; k < p->n_pools; k++) {
        room[k] = ARENAUT_UNLIMITED;
        if (p->pool[k].capacity > ARENAUT_SIZE_MAX) continue;
        const uint64_t capacity =
            p->pool[k].capacity / 16 * sixteenths + p->pool[k].capacity % 16 * sixteenths / 16;
        room[k] = capacity;
        for (uint32_t i = 0; i < p->n_reserved; i++) {
            const arenaut_reserved *r = &p->reserved[i];
            if (r->pool != k || r->first >= capacity) continue;
            room[k] -= arn_min_u64(r->end, capacity) - r->first;
        }
    }
}

/* For each step, all bytes alive that may be in the pool; savings are left out. */
static void sum_what_may_be_in(arn_spill *s, uint32_t pool) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->n_leaves; i++) s->peak[s->n_leaves + i] = 0;
    for (uint32_t i = 0; i < s->load.n;) {
        const uint32_t start = i;
        const int64_t step = arn_spill_event(s, i)->step;
        for (; i < s->load.n && arn_spill_event(s, i)->step == step; i++) {
            const arn_load_event *e = arn_spill_event(s, i);
            if (e->saving || !(s->group[arn_spill_root(s, e->buffer)].pools >> pool & 1)) continue;
            bytes = e->falls ? bytes - e->bytes : bytes + e->bytes;
        }
        s->peak[s->n_leaves + start] = bytes;
    }
    for (uint32_t k = s->n_leaves; k-- > 1;)
        s->peak[k] = arn_max_u64(s->peak[2 * k], s->peak[2 * k + 1]);
}

static uint64_t highest_between(const arn_spill *s, uint32_t first, uint32_t last) {
    uint64_t highest = 0;
    uint32_t low = first + s->n_leaves, high = last + 1 + s->n_leaves;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1) highest = arn_max_u64(highest, s->peak[low++]);
        if (high & 1) highest = arn_max_u64(highest, s->peak[--high]);
    }
    return highest;
}

/* A group that fits into a pool even beside all that may ever be there with it need not go to a
 * slower one: it keeps no other group out of the faster one. */
bool arn_spill_narrow(arn_spill *s, const uint32_t *pool_of, const uint64_t *room, uint64_t *work) {
    const arenaut_problem *p = s->problem;
    for (uint32_t i = 0; i < s->n_roots; i++) {
        arn_spill_group *g = &s->group[s->roots[i]];
        const uint32_t given = pool_of ? pool_of[s->roots[i]] : ARENAUT_NONE;
        g->pools = given == ARENAUT_NONE ? g->own_pools : g->own_pools & UINT64_C(1) << given;
        if (g->pools == 0) return false;
    }
    bool slower = true; /* some group may still need a pool slower than the one before */
    for (uint32_t k = 0; k + 1 < p->n_pools && slower; k++) {
        const bool limited = room[k] != ARENAUT_UNLIMITED;
        slower = false;
        if (limited) sum_what_may_be_in(s, k);
        if (limited) *work += s->load.n;
        for (uint32_t i = 0; i < s->n_roots; i++) {
            arn_spill_group *g = &s->group[s->roots[i]];
            if (g->pools >> k == 1) continue;
            const bool may = g->pools >> k & 1;
            const bool fits = may && (!limited || highest_between(s, g->start, g->last) <= room[k]);
            if (fits) g->pools &= (UINT64_C(2) << k) - 1;
            if (g->pools >> k > 1) slower = true;
        }
    }
    return true;
}
