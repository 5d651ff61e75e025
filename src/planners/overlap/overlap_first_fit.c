/* First fit with partial overlap, in several orders, followed by a local search over the order.
 *
 * Each piece that is placed is listed in its band of time (spans.h), so that a hundred thousand
 * buffers are placed without a list of interfering pairs. The pieces alive together with a group
 * forbid it ranges of offsets, less the overlap that separations allow; same-base pairs lie apart.
 * O(n log n), and one look for each two pieces that are alive at about the same time.
 *
 * A result lies below the operand that it is written over. So the last group comes first: it goes
 * to the bottom, and its operand on top of it, as far over it as may be. Local search then changes
 * the best order a little at a time: a group that ends at the top comes forward, and the order is
 * kept unless the arena grows. */
#include "planners/overlap/overlap.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/hash.h"
#include "core/sort.h"
#include "ir/pair_relations.h"
#include "planners/placing/spans.h"
#include "planners/placing/buffer_groups.h"
#include "planners/placing/orders.h"
#include "ir/cost.h"

/* ---- placing one group ---- */

/* Bands of so few pieces are not divided. */
enum { FEW_PIECES = 8 };

/* Offsets that a group may not have, [from, to). */
typedef struct forbidden {
    uint64_t from, to;
} forbidden;

typedef struct placing {
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
} placing;

static bool allocate(placing *x) {
    const uint32_t n = x->groups->n_pieces, n_groups = x->groups->n;
    if (!ARN_REGION_ARRAYS(&x->region, ARN_ARRAY(x->group_of, n), ARN_ARRAY(x->next, n),
                           ARN_ARRAY(x->pool, n_groups), ARN_ARRAY(x->offset, n_groups)) ||
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

static void placing_free(placing *x) {
    if (!x) return;
    const arenaut_allocator allocator = x->allocator;
    ARN_RELEASE(&allocator, x->forbidden, x->order);
    arn_region_free(&x->region);
    arn_release(&allocator, x);
}

/* Takes all groups away again. */
static void placing_clear(placing *x) {
    x->spill = 0;
    x->out_of_memory = false;
    for (uint32_t i = 0; i < x->bands.n; i++) x->head[i] = ARENAUT_NONE;
    for (uint32_t k = 0; k < x->groups->n; k++) x->pool[k] = ARENAUT_NONE;
    for (uint32_t k = 0; k < x->problem->n_pools; k++) x->top[k] = 0;
}

/* NULL if there is no memory. `groups` is borrowed, and made without ARN_COLLAPSE and ARN_HULL. */
static placing *placing_new(const arn_groups *groups, const arenaut_allocator *allocator) {
    placing *x = arn_allocate_zeroed(allocator, 1, sizeof *x);
    if (!x) return NULL;
    x->groups = groups;
    x->problem = groups->problem;
    x->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&x->region, allocator);
    if (allocate(x)) {
        placing_clear(x);
        return x;
    }
    placing_free(x);
    return NULL;
}

static bool placing_out_of_memory(const placing *x) { return x->out_of_memory; }

/* ---- forbidden ranges ---- */

/* Forbids the group at hand a range of offsets; a range that ends below 0 forbids nothing. */
static void forbid(placing *x, int64_t from, int64_t to) {
    if (to <= 0 || from >= to) return;
    if (!arn_grow(&x->allocator, (void **)&x->forbidden, &x->forbidden_room,
                  (uint64_t)x->n_forbidden + 1, sizeof *x->forbidden)) {
        x->out_of_memory = true;
        return;
    }
    const forbidden f = {from > 0 ? (uint64_t)from : 0, (uint64_t)to};
    x->forbidden[x->n_forbidden++] = f;
}

static uint64_t place_of(const placing *x, uint32_t buffer) {
    return x->offset[x->groups->owner[buffer]] + arn_groups_delta(x->groups, buffer);
}

/* The least distance of the other one above the start of `lower` at which the two do not collide.
 */
static int64_t least_above(const arenaut_problem *p, uint32_t upper, uint32_t lower) {
    const int64_t apart = (int64_t)p->size[lower], below = -(int64_t)p->size[upper];
    const arenaut_separation *s = arn_find_separation(p, upper, lower);
    if (!s || s->distance > apart) return apart;
    return s->distance < below ? below : s->distance;
}

static void keep_off(placing *x, uint32_t mine, uint32_t other) {
    const int64_t at = (int64_t)place_of(x, other),
                  delta = (int64_t)arn_groups_delta(x->groups, mine);
    forbid(x, at - least_above(x->problem, other, mine) + 1 - delta,
           at + least_above(x->problem, mine, other) - delta);
}

static void look_through(placing *x, const arn_piece *mine, uint32_t band, uint32_t pool,
                         uint64_t *looked) {
    for (uint32_t i = x->head[band]; i != ARENAUT_NONE; i = x->next[i]) {
        const arn_piece *placed = &x->groups->piece[i];
        ++*looked;
        if (placed->first >= mine->end || mine->first >= placed->end) continue;
        if (x->pool[x->group_of[i]] == pool) keep_off(x, mine->buffer, placed->buffer);
    }
}

static void gather_pieces(placing *x, const arn_group *group, uint32_t pool, uint64_t *looked) {
    for (uint32_t i = group->piece; i < group->piece + group->n_pieces; i++) {
        const arn_piece *piece = &x->groups->piece[i];
        const uint32_t n = arn_bands_meet(&x->bands, piece->first, piece->end);
        for (uint32_t k = 0; k < n; k++) look_through(x, piece, x->bands.met[k], pool, looked);
    }
}

static void gather_edges(placing *x, const arn_group *group, uint32_t pool) {
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

static void gather_reserved(placing *x, const arn_group *group, uint32_t pool) {
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

static bool gather(placing *x, const arn_group *group, uint32_t pool, uint64_t *looked) {
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

/* The lowest offset between the forbidden ranges. */
static uint64_t lowest_free(const placing *x, uint64_t align) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < x->n_forbidden; i++) {
        const forbidden *f = &x->forbidden[x->order[i]];
        if (f->from > at) break;
        if (f->to > at) at = arn_aligned(f->to, align);
    }
    return at;
}

static void put(placing *x, uint32_t id, uint32_t pool, uint64_t offset) {
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

/* Puts the group at the lowest offset that is free, in the first of its pools that has one: one
 * that is fixed, at its own. False if there is none, or no memory. Looks only at pieces that are
 * alive at about the same time, or for very long; *looked counts them. */
static bool place_group(placing *x, uint32_t id, uint64_t *looked) {
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

/* ---- results ---- */

/* Of the placed groups: the end of one, the cost of all, and their places as a plan. */
static uint64_t placing_end(const placing *x, uint32_t id) {
    return x->offset[id] + x->groups->group[id].extent;
}

static arenaut_cost placing_cost(const placing *x) {
    uint64_t total = 0;
    for (uint32_t k = 0; k < x->problem->n_pools; k++) {
        total += arn_aligned(x->top[k], x->problem->pool[k].align);
    }
    return arn_plan_cost(x->spill, total);
}

static void placing_export(const placing *x, uint32_t *pool, uint64_t *offset) {
    for (uint32_t b = 0; b < x->problem->n_buffers; b++) {
        const uint32_t owner = x->groups->owner[b];
        if (owner == ARENAUT_NONE) continue;
        pool[b] = x->pool[owner];
        offset[b] = place_of(x, b);
    }
}

/* ---- orders ---- */

static const char *const letters[] = {"U", "L", "TU", "TZ", "A", "ZU"};
enum { N_ORDERS = sizeof letters / sizeof *letters, PATIENCE = 400, LOOKS_PER_STEP = 32 };

typedef struct ordering {
    arn_groups groups;
    arn_timeline timeline;
    arn_orders orders;
    placing *placing;
    arn_region region;
    arn_meter *meter;
    uint32_t *order;
    arenaut_cost best; /* of best_order; there may be plans from elsewhere that are better */
    uint32_t *best_order;
    uint32_t *top, n_top; /* positions in that order of the groups that end at the top */
    uint32_t n_fixed;     /* these come first in every order */
    uint64_t random;
} ordering;

static void find_top(ordering *x) {
    uint64_t highest = 0;
    for (uint32_t i = 0; i < x->groups.n; i++) {
        const uint32_t id = x->order[i];
        const uint64_t end = placing_end(x->placing, id);
        if (end < highest) continue;
        if (end > highest) x->n_top = 0;
        highest = end;
        x->top[x->n_top++] = i;
    }
}

static void keep(const ordering *x, arenaut_cost cost) {
    arenaut_plan *plan = x->meter->planning->plan;
    if (!arn_meter_improves(x->meter, cost)) return;
    placing_export(x->placing, plan->pool, plan->offset);
    arn_meter_improved(x->meter, cost);
}

/* Places all in the present order, and keeps it unless the best was better. */
static arenaut_status try_order(ordering *x) {
    uint64_t looked = 0;
    placing_clear(x->placing);
    for (uint32_t i = 0; i < x->groups.n; i++) {
        const bool placed = place_group(x->placing, x->order[i], &looked);
        if (placing_out_of_memory(x->placing)) {
            return arn_no_memory(x->meter->planning->err);
        }
        arn_meter_spend(x->meter, looked / LOOKS_PER_STEP + 1);
        looked %= LOOKS_PER_STEP;
        if (!placed || !arn_meter_wants_plan(x->meter)) return ARENAUT_OK;
        if (arenaut_costs_less(x->best, placing_cost(x->placing))) return ARENAUT_OK;
    }
    x->best = placing_cost(x->placing);
    memcpy(x->best_order, x->order, x->groups.n * sizeof *x->best_order);
    find_top(x);
    keep(x, x->best);
    return ARENAUT_OK;
}

static uint64_t draw(ordering *x) { return arn_random_next(&x->random); }

/* Brings one that ends at the top forward, by as far as chance has it: mostly not far. */
static void bring_forward(ordering *x) {
    uint32_t *order = x->order;
    memcpy(order, x->best_order, x->groups.n * sizeof *order);
    const uint32_t from = x->top[draw(x) % x->n_top];
    if (from < x->n_fixed) return;
    const uint32_t reach = ((from - x->n_fixed) >> (draw(x) >> 60)) + 1;
    const uint32_t moving = order[from], to = from - (uint32_t)(draw(x) % reach);
    memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    order[to] = moving;
}

static arenaut_status improve(ordering *x, uint64_t effort) {
    const uint64_t start = x->meter->spent;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t idle = 0; st == ARENAUT_OK && idle < PATIENCE; idle++) {
        if (!arn_meter_goes_on(x->meter) || x->meter->spent - start >= effort) break;
        const arenaut_cost before = x->best;
        bring_forward(x);
        st = try_order(x);
        if (arenaut_costs_less(x->best, before)) idle = 0;
    }
    return st;
}

static bool lower(const void *context, uint32_t a, uint32_t b) {
    const uint64_t *key = context;
    return key[a] < key[b];
}

/* The order of the present plan from below: no group ends higher than there, and groups that may
 * overlap sink. */
static arenaut_status try_order_of_plan(ordering *x) {
    const arenaut_plan *plan = x->meter->planning->plan;
    const uint32_t n = x->groups.n;
    if (!arn_meter_has_plan(x->meter)) return ARENAUT_OK;
    uint64_t *key = arn_region_allocate(&x->region, n, sizeof *key);
    uint32_t *work = arn_region_allocate(&x->region, n, sizeof *work);
    if (!key || !work) return arn_no_memory(x->meter->planning->err);
    for (uint32_t k = 0; k < n; k++) {
        const arn_group *group = &x->groups.group[k];
        const bool fixed = group->fixed != ARENAUT_UNPLACED;
        key[k] = fixed ? 0 : plan->offset[x->groups.member[group->member]] + 1;
        x->order[k] = k;
    }
    arn_sort_ids(x->order, n, lower, key, work);
    return try_order(x);
}

static arenaut_status try_orders(ordering *x) {
    arenaut_status st = try_order_of_plan(x);
    for (uint32_t i = 0; i < N_ORDERS && st == ARENAUT_OK; i++) {
        if (arn_meter_was_stopped(x->meter) || arn_meter_at_goal(x->meter)) return st;
        arn_orders_sort(&x->orders, letters[i], x->order);
        st = try_order(x);
    }
    return st;
}

static bool prepare(ordering *x, const arenaut_allocator *allocator) {
    const uint32_t n = x->groups.n;
    x->order = arn_region_allocate(&x->region, n, sizeof *x->order);
    x->best_order = arn_region_allocate(&x->region, n, sizeof *x->best_order);
    x->top = arn_region_allocate(&x->region, n, sizeof *x->top);
    x->placing = placing_new(&x->groups, allocator);
    for (uint32_t i = 0; i < n; i++) {
        x->n_fixed += x->groups.group[i].fixed != ARENAUT_UNPLACED;
    }
    return x->order && x->best_order && x->top && x->placing &&
           arn_timeline_make(&x->groups, &x->region, &x->timeline) &&
           arn_orders_init(&x->orders, &x->groups, &x->timeline, &x->region);
}

arenaut_status arn_overlap_orders(arenaut_planning *planning, arn_meter *meter, uint64_t effort) {
    const arenaut_allocator *allocator = planning->allocator;
    ordering x = {.meter = meter, .best = ARN_NO_PLAN, .random = planning->options->seed};
    arenaut_status st = arn_groups_make(planning->problem, 0, allocator, &x.groups, planning->err);
    if (st != ARENAUT_OK) return st;
    arn_region_init(&x.region, allocator);
    st = prepare(&x, allocator) ? try_orders(&x) : arn_no_memory(planning->err);
    if (st == ARENAUT_OK && x.n_top > 0) st = improve(&x, effort);
    placing_free(x.placing);
    arn_region_free(&x.region);
    arn_groups_free(&x.groups);
    return st;
}
