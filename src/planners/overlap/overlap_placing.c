/* overlap_placing: each piece that is placed is listed in its band of time (bands.h), so that a
 * hundred thousand buffers are placed without a list of the pairs that meet. What stands in the way
 * of a group forbids it a range of offsets, less what separations allow; same-base pairs lie apart.
 * O(n log n) and one look for each two that are alive at about the same time. */
#include "planners/overlap/overlap_placing.h"

#include "core/checked.h"
#include "core/sort.h"
#include "ir/pair_relations.h"
#include "planners/placing/bands.h"

/* Bands of so few pieces are not divided. */
enum { FEW_PIECES = 8 };

/* Offsets that a group may not have, [from, to). */
typedef struct forbidden {
    uint64_t from, to;
} forbidden;

struct arn_overlap_placing {
    const arn_groups *groups;
    const arenaut_problem *problem;
    arenaut_allocator allocator;
    arn_region region;
    uint32_t *group_of; /* per piece */
    arn_bands bands;
    uint32_t *head, *next; /* per band: the piece that was placed last; per piece: the one before */
    uint32_t *pool;        /* per group; ARENAUT_NONE: not placed */
    uint64_t *offset;
    uint64_t top[ARENAUT_MAX_POOLS], spill;
    forbidden *forbidden;
    uint32_t *order; /* of these: room for twice as many */
    uint32_t n_forbidden, forbidden_room, order_room;
    bool out_of_memory;
};

static bool allocate(arn_overlap_placing *x) {
    const uint32_t n = x->groups->n_pieces, n_groups = x->groups->n;
    x->group_of = arn_region_allocate(&x->region, n, sizeof *x->group_of);
    x->next = arn_region_allocate(&x->region, n, sizeof *x->next);
    x->pool = arn_region_allocate(&x->region, n_groups, sizeof *x->pool);
    x->offset = arn_region_allocate(&x->region, n_groups, sizeof *x->offset);
    if (!x->group_of || !x->next || !x->pool || !x->offset ||
        !arn_bands_make(x->groups, FEW_PIECES, &x->region, &x->bands)) {
        return false;
    }
    x->head = arn_region_allocate(&x->region, x->bands.n, sizeof *x->head);
    for (uint32_t k = 0; k < n_groups; k++) {
        const arn_group *group = &x->groups->group[k];
        for (uint32_t i = 0; i < group->n_pieces; i++) x->group_of[group->piece + i] = k;
    }
    return x->head;
}

arn_overlap_placing *arn_overlap_placing_new(const arn_groups *groups,
                                             const arenaut_allocator *allocator) {
    arn_overlap_placing *x = arn_allocate_zeroed(allocator, 1, sizeof *x);
    if (!x) return NULL;
    x->groups = groups;
    x->problem = groups->problem;
    x->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&x->region, allocator);
    if (allocate(x)) {
        arn_overlap_placing_clear(x);
        return x;
    }
    arn_overlap_placing_free(x);
    return NULL;
}

void arn_overlap_placing_free(arn_overlap_placing *x) {
    if (!x) return;
    const arenaut_allocator allocator = x->allocator;
    arn_release(&allocator, x->forbidden);
    arn_release(&allocator, x->order);
    arn_region_free(&x->region);
    arn_release(&allocator, x);
}

void arn_overlap_placing_clear(arn_overlap_placing *x) {
    x->spill = 0;
    x->out_of_memory = false;
    for (uint32_t i = 0; i < x->bands.n; i++) x->head[i] = ARENAUT_NONE;
    for (uint32_t k = 0; k < x->groups->n; k++) x->pool[k] = ARENAUT_NONE;
    for (uint32_t k = 0; k < x->problem->n_pools; k++) x->top[k] = 0;
}

bool arn_overlap_placing_out_of_memory(const arn_overlap_placing *x) { return x->out_of_memory; }

/* ---- what is forbidden ---- */

/* Where the group at hand lies if its start is `start`; what ends below 0 forbids nothing. */
static void forbid(arn_overlap_placing *x, int64_t from, int64_t to) {
    if (to <= 0 || from >= to) return;
    if (!arn_grow(&x->allocator, (void **)&x->forbidden, &x->forbidden_room,
                  (uint64_t)x->n_forbidden + 1, sizeof *x->forbidden)) {
        x->out_of_memory = true;
        return;
    }
    const forbidden f = {from > 0 ? (uint64_t)from : 0, (uint64_t)to};
    x->forbidden[x->n_forbidden++] = f;
}

static uint64_t place_of(const arn_overlap_placing *x, uint32_t buffer) {
    return x->offset[x->groups->owner[buffer]] + x->groups->delta[buffer];
}

/* How far above the start of `lower` the other one starts at least, so as not to be in its way. */
static int64_t least_above(const arenaut_problem *p, uint32_t upper, uint32_t lower) {
    const int64_t apart = (int64_t)p->size[lower], below = -(int64_t)p->size[upper];
    const arenaut_separation *s = arn_find_separation(p, upper, lower);
    if (!s || s->distance > apart) return apart;
    return s->distance < below ? below : s->distance;
}

static void keep_off(arn_overlap_placing *x, uint32_t mine, uint32_t other) {
    const int64_t at = (int64_t)place_of(x, other), delta = (int64_t)x->groups->delta[mine];
    forbid(x, at - least_above(x->problem, other, mine) + 1 - delta,
           at + least_above(x->problem, mine, other) - delta);
}

static void look_through(arn_overlap_placing *x, const arn_piece *mine, uint32_t band,
                         uint32_t pool, uint64_t *looked) {
    for (uint32_t i = x->head[band]; i != ARENAUT_NONE; i = x->next[i]) {
        const arn_piece *placed = &x->groups->piece[i];
        ++*looked;
        if (placed->first >= mine->end || mine->first >= placed->end) continue;
        if (x->pool[x->group_of[i]] == pool) keep_off(x, mine->buffer, placed->buffer);
    }
}

static void gather_pieces(arn_overlap_placing *x, const arn_group *group, uint32_t pool,
                          uint64_t *looked) {
    for (uint32_t i = group->piece; i < group->piece + group->n_pieces; i++) {
        const arn_piece *piece = &x->groups->piece[i];
        const uint32_t n = arn_bands_meet(&x->bands, piece->first, piece->end);
        for (uint32_t k = 0; k < n; k++) look_through(x, piece, x->bands.met[k], pool, looked);
    }
}

static void gather_edges(arn_overlap_placing *x, const arn_group *group, uint32_t pool) {
    const arn_groups *g = x->groups;
    for (uint32_t m = 0; m < group->n_members && g->edge_start; m++) {
        const uint32_t b = g->member[group->member + m];
        for (uint32_t i = g->edge_start[b]; i < g->edge_start[b + 1]; i++) {
            const uint32_t owner = g->owner[g->edge[i]];
            const bool placed = owner != ARENAUT_NONE && owner != g->owner[b];
            if (placed && x->pool[owner] == pool) keep_off(x, b, g->edge[i]);
        }
    }
}

static void gather_reserved(arn_overlap_placing *x, const arn_group *group, uint32_t pool) {
    for (uint32_t i = 0; i < x->problem->n_reserved; i++) {
        const arenaut_reserved *r = &x->problem->reserved[i];
        if (r->pool != pool) continue;
        forbid(x, (int64_t)r->first - (int64_t)group->extent + 1, (int64_t)r->end);
    }
}

static bool begins_before(const void *context, uint32_t a, uint32_t b) {
    const forbidden *all = context;
    return all[a].from < all[b].from;
}

static bool gather(arn_overlap_placing *x, const arn_group *group, uint32_t pool,
                   uint64_t *looked) {
    x->n_forbidden = 0;
    gather_pieces(x, group, pool, looked);
    gather_edges(x, group, pool);
    gather_reserved(x, group, pool);
    const uint32_t n = x->n_forbidden;
    if (x->out_of_memory || !arn_grow(&x->allocator, (void **)&x->order, &x->order_room,
                                      (uint64_t)n * 2 + 1, sizeof *x->order)) {
        x->out_of_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < n; i++) x->order[i] = i;
    arn_sort_ids(x->order, n, begins_before, x->forbidden, x->order + n);
    return true;
}

/* ---- placing ---- */

/* The lowest offset between what is forbidden. */
static uint64_t lowest_free(const arn_overlap_placing *x, uint64_t align) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < x->n_forbidden; i++) {
        const forbidden *f = &x->forbidden[x->order[i]];
        if (f->from > at) break;
        if (f->to > at) at = arn_aligned(f->to, align);
    }
    return at;
}

static void put(arn_overlap_placing *x, uint32_t id, uint32_t pool, uint64_t offset) {
    const arn_group *group = &x->groups->group[id];
    x->pool[id] = pool;
    x->offset[id] = offset;
    x->top[pool] = arn_max_u64(x->top[pool], offset + group->extent);
    x->spill += arn_group_spill(x->groups, group, pool);
    for (uint32_t i = group->piece; i < group->piece + group->n_pieces; i++) {
        x->next[i] = x->head[x->bands.of[i]];
        x->head[x->bands.of[i]] = i;
    }
}

bool arn_overlap_place(arn_overlap_placing *x, uint32_t id, uint64_t *looked) {
    const arn_group *group = &x->groups->group[id];
    for (uint32_t k = 0; k < x->problem->n_pools; k++) {
        const uint64_t capacity = x->problem->pool[k].capacity;
        uint64_t at = group->fixed;
        if (!(group->pools >> k & 1)) continue;
        if (at == ARENAUT_UNPLACED) {
            if (!gather(x, group, k, looked)) return false;
            at = lowest_free(x, group->align);
        }
        if (group->extent > capacity || at > capacity - group->extent) continue;
        put(x, id, k, at);
        return true;
    }
    return false;
}

/* ---- what came of it ---- */

uint64_t arn_overlap_placing_end(const arn_overlap_placing *x, uint32_t id) {
    return x->offset[id] + x->groups->group[id].extent;
}

arn_cost arn_overlap_placing_cost(const arn_overlap_placing *x) {
    uint64_t total = 0;
    for (uint32_t k = 0; k < x->problem->n_pools; k++) {
        total += arn_aligned(x->top[k], x->problem->pool[k].align);
    }
    return (arn_cost){x->spill, total};
}

void arn_overlap_placing_export(const arn_overlap_placing *x, uint32_t *pool, uint64_t *offset) {
    for (uint32_t b = 0; b < x->problem->n_buffers; b++) {
        const uint32_t owner = x->groups->owner[b];
        if (owner == ARENAUT_NONE) continue;
        pool[b] = x->pool[owner];
        offset[b] = place_of(x, b);
    }
}
