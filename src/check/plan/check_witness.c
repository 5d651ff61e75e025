/* check_witness: verification of the witness of an infeasible plan, a list of buffers that can have
 * no places. Three arguments are understood:
 *
 *     overload   the listed buffers are all alive at the step, and together need more bytes
 *                than their pools have
 *     no gap     likewise, but only one of them can move: it fits no gap between the others
 *                and the reserved ranges (also: one buffer larger than every pool)
 *     pinned     fixed buffers that conflict and overlap, or one at an offset that is forbidden
 *
 * A plan without witness is believed if its planner finished its search: a proof by exhaustion is
 * not repeated here. */
#include <inttypes.h>

#include "check/finding.h"
#include "check/plan/plan_rules.h"
#include "core/checked.h"
#include "core/sort.h"

typedef struct argument {
    const arn_plan_check *check;
    const arenaut_problem *problem;
    const arenaut_witness *witness;
    const arn_check_slices *slices;
    bool *listed;   /* per buffer */
    uint64_t pools; /* bit k: some listed buffer may use pool k */
} argument;

static arenaut_status proves_nothing(const arn_plan_check *check, const char *why) {
    const arenaut_witness *w = &check->plan->witness;
    check->finding->rule = ARENAUT_RULE_WITNESS;
    check->finding->step = w->step;
    check->finding->pool = w->pool;
    check->finding->a = w->n_buffers > 0 && w->buffers ? w->buffers[0] : ARENAUT_NONE;
    return arn_check_reject(check->finding, check->err,
                            "the plan is called infeasible, but its witness (%" PRIu32
                            " buffers, %" PRIu64 " bytes over at step %" PRId64
                            ") proves nothing: %s",
                            w->n_buffers, w->bytes_over, w->step, why);
}

static bool alive_at(const arenaut_problem *p, uint32_t b, int64_t step) {
    uint32_t low = p->lifetime_start[b], high = p->lifetime_start[b + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->lifetime[middle].end <= step) low = middle + 1;
        else high = middle;
    }
    return low < p->lifetime_start[b + 1] && p->lifetime[low].first <= step;
}

static bool all_alive(const argument *a) {
    for (uint32_t i = 0; i < a->witness->n_buffers; i++) {
        if (!alive_at(a->problem, a->witness->buffers[i], a->witness->step)) return false;
    }
    return true;
}

static bool is_fixed(const argument *a, uint32_t b) {
    return arenaut_problem_fixed_offset(a->problem, b) != ARENAUT_UNPLACED;
}

/* ---- pinned ---- */

/* The forced offset of a buffer: its own, or that of a slice of a fixed host. */
static bool forced_place(const argument *a, uint32_t b, uint32_t *root, uint64_t *offset) {
    uint64_t delta = 0;
    for (; arenaut_problem_inside(a->problem, b) != ARENAUT_NONE;
         b = arenaut_problem_inside(a->problem, b)) {
        delta += a->problem->inside_delta[b];
    }
    *root = b;
    *offset = is_fixed(a, b) ? a->problem->fixed_offset[b] + delta : ARENAUT_UNPLACED;
    return is_fixed(a, b);
}

static bool edge_between(const arenaut_problem *p, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const arenaut_conflict e = p->conflict[i];
        if ((e.a == a && e.b == b) || (e.a == b && e.b == a)) return true;
    }
    return false;
}

static uint64_t shared_bytes(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end) {
    const uint64_t first = arn_max_u64(a, b), end = arn_min_u64(a_end, b_end);
    return first < end ? end - first : 0;
}

/* The first separation of two listed buffers; NULL if there is none. */
static const arenaut_separation *listed_separation(const argument *a) {
    for (uint32_t i = 0; i < a->problem->n_separations; i++) {
        const arenaut_separation *pair = &a->problem->separation[i];
        if (a->listed[pair->upper] && a->listed[pair->lower]) return pair;
    }
    return NULL;
}

/* Whether a separation of the two, which are the whole list, allows their places. */
static bool are_separated(const argument *a, uint32_t x, uint64_t x_at, uint64_t y_at) {
    const arenaut_separation *pair = listed_separation(a);
    if (!pair) return false;
    const uint64_t upper = pair->upper == x ? x_at : y_at, lower = pair->upper == x ? y_at : x_at;
    return (int64_t)upper - (int64_t)lower >= pair->distance;
}

/* Bytes that two fixed buffers share although they conflict. */
static uint64_t pinned_pair_over(const argument *a) {
    const arenaut_problem *p = a->problem;
    const uint32_t x = a->witness->buffers[0], y = a->witness->buffers[1];
    uint32_t x_root, y_root;
    uint64_t x_at, y_at;
    if (!forced_place(a, x, &x_root, &x_at) || !forced_place(a, y, &y_root, &y_at)) return 0;
    if (arenaut_problem_pools(p, x) != arenaut_problem_pools(p, y)) return 0;
    if (!all_alive(a) && !edge_between(p, x, y)) return 0;
    if (arn_check_slices_nested(a->slices, x, y)) return 0;
    const bool related =
        arenaut_problem_same_base(p, x) == y || arenaut_problem_same_base(p, y) == x;
    if ((related && x_at == y_at) || are_separated(a, x, x_at, y_at)) return 0;
    return shared_bytes(x_at, x_at + p->size[x], y_at, y_at + p->size[y]);
}

/* Bytes of one fixed buffer that lie past its pool's capacity or in a reserved range; or by
 * how much it is misaligned. */
static uint64_t pinned_alone_over(const argument *a) {
    const arenaut_problem *p = a->problem;
    const uint32_t b = a->witness->buffers[0];
    uint32_t root;
    uint64_t at, over = 0;
    if (!forced_place(a, b, &root, &at)) return 0;
    const uint64_t end = at + p->size[b];
    for (uint32_t i = 0; i < p->n_pools; i++) {
        if (!(arenaut_problem_pools(p, b) >> i & 1)) continue;
        const uint64_t capacity = p->pool[i].capacity;
        if (end > capacity) over = arn_max_u64(over, end - capacity);
        for (uint32_t k = 0; k < p->n_reserved; k++) {
            const arenaut_reserved *r = &p->reserved[k];
            if (r->pool == i) over = arn_max_u64(over, shared_bytes(at, end, r->first, r->end));
        }
    }
    return arn_max_u64(over, at & (arenaut_problem_align(p, b) - 1));
}

/* ---- no gap ---- */

/* A range of one pool that the movable buffer cannot use. */
typedef struct obstacle {
    uint64_t first, end;
} obstacle;

static bool before_by_first(const void *context, uint32_t a, uint32_t b) {
    const obstacle *all = context;
    return all[a].first < all[b].first;
}

static uint32_t collect_obstacles(const argument *a, uint32_t mover, uint32_t pool, obstacle *out) {
    const arenaut_problem *p = a->problem;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        if (p->reserved[i].pool != pool) continue;
        const obstacle o = {p->reserved[i].first, p->reserved[i].end};
        out[n++] = o;
    }
    for (uint32_t i = 0; i < a->witness->n_buffers; i++) {
        const uint32_t b = a->witness->buffers[i];
        /* A related buffer may be no obstacle; leaving it out is on the safe side. */
        if (b == mover || arenaut_problem_same_base(p, mover) == b ||
            arenaut_problem_same_base(p, b) == mover ||
            arn_check_slices_nested(a->slices, b, mover) ||
            arenaut_problem_pools(p, b) != UINT64_C(1) << pool) {
            continue;
        }
        const obstacle o = {p->fixed_offset[b], p->fixed_offset[b] + p->size[b]};
        out[n++] = o;
    }
    return n;
}

/* The largest aligned gap below `capacity`. `ids` has room for twice `n`. */
static uint64_t largest_gap(const obstacle *all, uint32_t n, uint64_t capacity, uint64_t align,
                            uint32_t *ids) {
    uint64_t low = 0, best = 0;
    for (uint32_t i = 0; i < n; i++) ids[i] = i;
    arn_sort_ids(ids, n, before_by_first, all, ids + n);
    for (uint32_t i = 0; i <= n; i++) {
        const uint64_t high = i < n ? arn_min_u64(all[ids[i]].first, capacity) : capacity;
        const uint64_t start = arn_aligned(low, align);
        if (start < high) best = arn_max_u64(best, high - start);
        if (i < n) low = arn_max_u64(low, all[ids[i]].end);
    }
    return best;
}

static arenaut_status no_gap_over(const argument *a, uint32_t mover, uint64_t *over) {
    const arenaut_problem *p = a->problem;
    const uint32_t most = p->n_reserved + a->witness->n_buffers;
    obstacle *all = arn_allocate(a->check->allocator, most, sizeof *all);
    uint32_t *ids = arn_allocate(a->check->allocator, (size_t)most * 2, sizeof *ids);
    uint64_t room = 0;
    for (uint32_t i = 0; i < p->n_pools && all && ids; i++) {
        if (!(arenaut_problem_pools(p, mover) >> i & 1)) continue;
        const uint32_t n = collect_obstacles(a, mover, i, all);
        const uint64_t gap =
            largest_gap(all, n, p->pool[i].capacity, arenaut_problem_align(p, mover), ids);
        room = arn_max_u64(room, gap);
    }
    *over = p->size[mover] > room ? p->size[mover] - room : 0;
    const bool done = all && ids;
    ARN_RELEASE(a->check->allocator, all, ids);
    return done ? ARENAUT_OK : arn_no_memory(a->check->err);
}

/* ---- overload ---- */

/* Counting in units: if all offsets are multiples of `unit`, each buffer may be counted as rounded
 * up to it. Only the topmost one of a gap may stick out of that gap, by the bytes that its own
 * rounding added: `slack` is the most that any can. */
typedef struct grain {
    uint64_t unit, slack;
} grain;

static bool usable_bytes(const arenaut_problem *p, uint32_t pool, grain g, uint64_t *usable) {
    const uint64_t capacity = p->pool[pool].capacity;
    uint64_t low = 0;
    if (capacity > ARENAUT_SIZE_MAX) return false; /* as good as unlimited */
    *usable = 0;
    for (uint32_t i = 0; i <= p->n_reserved; i++) {
        const arenaut_reserved *r = i < p->n_reserved ? &p->reserved[i] : NULL;
        if (r && r->pool != pool) continue;
        const uint64_t high = r ? arn_min_u64(r->first, capacity) : capacity;
        const uint64_t start = arn_aligned(low, g.unit);
        if (start < high && !arn_add(*usable, high - start + g.slack, usable)) return false;
        if (r) low = arn_min_u64(r->end, capacity);
    }
    return true;
}

/* A lower bound on the bytes that the listed buffers need together. A slice of a listed buffer adds
 * nothing, and of a same-base pair only the larger one counts. */
static uint64_t needed_bytes(const argument *a, const uint32_t *by_enter, uint64_t unit) {
    const arenaut_problem *p = a->problem;
    uint64_t need = 0;
    uint32_t covered = 0; /* numbers below this lie inside a listed buffer */
    for (uint32_t i = 0; i < p->n_buffers; i++) {
        const uint32_t b = by_enter[i];
        if (!a->listed[b]) continue;
        if (a->slices->enter) {
            if (a->slices->enter[b] < covered) continue;
            covered = a->slices->leave[b];
        }
        const uint32_t base = arenaut_problem_same_base(p, b);
        const uint64_t size = arn_aligned(p->size[b], unit);
        const uint64_t shared = base != ARENAUT_NONE && a->listed[base]
                                    ? arn_min_u64(size, arn_aligned(p->size[base], unit))
                                    : 0;
        need += size - shared; /* the problem's sizes, rounded, add up without overflow */
    }
    return need;
}

static uint64_t overload_in_units(const argument *a, const uint32_t *by_enter, uint64_t unit) {
    uint64_t there_is = 0, usable;
    grain g = {unit, 0};
    for (uint32_t i = 0; i < a->witness->n_buffers; i++) {
        const uint64_t size = a->problem->size[a->witness->buffers[i]];
        g.slack = arn_max_u64(g.slack, arn_aligned(size, unit) - size);
    }
    for (uint32_t i = 0; i < a->problem->n_pools; i++) {
        if (!(a->pools >> i & 1)) continue;
        if (!usable_bytes(a->problem, i, g, &usable)) return 0;
        if (!arn_add(there_is, usable, &there_is)) return 0;
    }
    const uint64_t need = needed_bytes(a, by_enter, unit);
    return need > there_is ? need - there_is : 0;
}

static arenaut_status overload_over(const argument *a, uint64_t *over) {
    const arenaut_problem *p = a->problem;
    uint32_t *by_enter = arn_allocate(a->check->allocator, p->n_buffers, sizeof *by_enter);
    if (!by_enter) return arn_no_memory(a->check->err);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        by_enter[a->slices->enter ? a->slices->enter[b] : b] = b;
    }
    uint64_t unit = UINT64_MAX;
    for (uint32_t i = 0; i < a->witness->n_buffers; i++) {
        unit = arn_min_u64(unit, arenaut_problem_align(p, a->witness->buffers[i]));
    }
    *over = arn_max_u64(overload_in_units(a, by_enter, unit), overload_in_units(a, by_enter, 1));
    arn_release(a->check->allocator, by_enter);
    return ARENAUT_OK;
}

/* ---- all together ---- */

/* Marks the listed buffers; returns the defect of the list, or NULL. */
static const char *read_list(argument *a, bool search_says_so) {
    const arenaut_problem *p = a->problem;
    const arenaut_witness *w = a->witness;
    if (w->bytes_over == 0 && !search_says_so) return "0 bytes over is not over";
    for (uint32_t i = 0; i < w->n_buffers; i++) {
        const uint32_t b = w->buffers[i];
        if (b >= p->n_buffers) return "it lists a buffer that does not exist";
        if (a->listed[b]) return "it lists a buffer twice";
        if (!arenaut_problem_needs_memory(p, b)) return "it lists a buffer that needs no memory";
        a->listed[b] = true;
        a->pools |= arenaut_problem_pools(p, b);
    }
    if (w->pool != ARENAUT_NONE && (w->pool >= 64 || a->pools != UINT64_C(1) << w->pool)) {
        return "its buffers may use other pools than the one it names";
    }
    return NULL;
}

/* The most bytes over by any of the three arguments. */
static arenaut_status strongest_argument(const argument *a, uint64_t *over) {
    const arenaut_witness *w = a->witness;
    arenaut_status status = ARENAUT_OK;
    uint64_t more = 0;
    uint32_t movers = 0, mover = 0;
    for (uint32_t i = 0; i < w->n_buffers; i++) {
        if (is_fixed(a, w->buffers[i])) continue;
        movers++;
        mover = w->buffers[i];
    }
    *over = w->n_buffers == 1 ? pinned_alone_over(a) : w->n_buffers == 2 ? pinned_pair_over(a) : 0;
    if (w->n_buffers > 1 && !all_alive(a)) return ARENAUT_OK;
    /* Sums and gaps prove nothing about buffers that may overlap. */
    if (listed_separation(a)) return ARENAUT_OK;
    if (movers == 1) status = no_gap_over(a, mover, &more);
    *over = arn_max_u64(*over, more);
    if (status == ARENAUT_OK) status = overload_over(a, &more);
    *over = arn_max_u64(*over, more);
    return status;
}

arenaut_status arn_check_witness(const arn_plan_check *check, const arn_check_slices *slices) {
    const arenaut_witness *w = &check->plan->witness;
    if (w->n_buffers == 0 || !w->buffers) {
        return check->plan->stopped_by == ARENAUT_STOP_PROOF
                   ? ARENAUT_OK
                   : proves_nothing(check, "it is empty, and the search was not finished");
    }
    /* The witness is only the point at which the search ended. */
    const bool search_says_so = w->bytes_over == 0 &&
                                check->plan->stopped_by == ARENAUT_STOP_PROOF &&
                                w->pool == ARENAUT_NONE && check->problem->n_pools > 1;
    argument a = {.check = check, .problem = check->problem, .witness = w, .slices = slices};
    a.listed = arn_allocate_zeroed(check->allocator, check->problem->n_buffers, sizeof *a.listed);
    if (!a.listed) return arn_no_memory(check->err);
    uint64_t over = 0;
    const char *why = read_list(&a, search_says_so);
    arenaut_status status = why ? ARENAUT_OK : strongest_argument(&a, &over);
    if (search_says_so && !why && !all_alive(&a)) why = "not all of its buffers are alive then";
    if (!why && over < w->bytes_over) why = "that many bytes over do not follow from the list";
    if (status == ARENAUT_OK && why) status = proves_nothing(check, why);
    arn_release(check->allocator, a.listed);
    return status;
}
