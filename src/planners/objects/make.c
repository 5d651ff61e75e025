/* The items of one pool, which of them conflict, and how large their blocks must be. */
#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/objects/objects.h"

static bool larger(const void *context, uint32_t a, uint32_t b) {
    const arenaut_problem *p = context;
    if (p->size[a] != p->size[b]) return p->size[a] > p->size[b];
    return arenaut_problem_lifetimes(p, a)->first < arenaut_problem_lifetimes(p, b)->first;
}

static bool alive_together(const arenaut_problem *p, uint32_t a, uint32_t b) {
    const arenaut_interval *x = arenaut_problem_lifetimes(p, a);
    const arenaut_interval *y = arenaut_problem_lifetimes(p, b);
    const uint32_t n = arenaut_problem_lifetime_count(p, a);
    const uint32_t m = arenaut_problem_lifetime_count(p, b);
    for (uint32_t i = 0, k = 0; i < n && k < m;) {
        if (x[i].first < y[k].end && y[k].first < x[i].end) return true;
        if (x[i].end < y[k].end)
            i++;
        else
            k++;
    }
    return false;
}

static void set_conflict(arn_objects *o, uint32_t a, uint32_t b) {
    o->conflicts[(size_t)a * o->words + b / 64] |= UINT64_C(1) << b % 64;
    o->conflicts[(size_t)b * o->words + a / 64] |= UINT64_C(1) << a % 64;
}

/* `item_of`: per buffer; ARENAUT_NONE for those of other pools. */
static void find_conflicts(arn_objects *o, const uint32_t *item_of) {
    const arenaut_problem *p = o->problem;
    memset(o->conflicts, 0, (size_t)o->n * o->words * sizeof *o->conflicts);
    for (uint32_t i = 0; i < o->n; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (alive_together(p, o->buffer[i], o->buffer[k])) set_conflict(o, i, k);
        }
    }
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const uint32_t a = item_of[p->conflict[i].a], b = item_of[p->conflict[i].b];
        if (a != ARENAUT_NONE && b != ARENAUT_NONE) set_conflict(o, a, b);
    }
}

static bool is_alive_at(const arenaut_problem *p, uint32_t b, int64_t step) {
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    for (uint32_t i = 0; i < arenaut_problem_lifetime_count(p, b); i++) {
        if (life[i].first <= step && step < life[i].end) return true;
    }
    return false;
}

/* The most are alive just after some buffer has come alive. Of those that conflict with it and
 * are alive then, in order of size, each needs a block no smaller than itself. */
static void find_floors(arn_objects *o) {
    const arenaut_problem *p = o->problem;
    memset(o->floors, 0, ((size_t)o->n + 1) * sizeof *o->floors);
    o->n_floors = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        const arenaut_interval *life = arenaut_problem_lifetimes(p, o->buffer[i]);
        for (uint32_t l = 0; l < arenaut_problem_lifetime_count(p, o->buffer[i]); l++) {
            uint32_t rank = 0;
            for (uint32_t k = 0; k < o->n; k++) {
                if (!is_alive_at(p, o->buffer[k], life[l].first)) continue;
                o->floors[rank] = arn_max_u64(o->floors[rank], o->size[k]);
                rank++;
            }
            if (rank > o->n_floors) o->n_floors = rank;
        }
    }
    for (uint32_t k = o->n; k > 0; k--) o->floors[k - 1] += o->floors[k];
    o->bound = o->floors[0];
}

static bool allocate(arn_objects *o) {
    o->words = (o->n + 63) / 64;
    o->size = arn_region_allocate(&o->region, o->n, sizeof *o->size);
    o->first = arn_region_allocate(&o->region, o->n, sizeof *o->first);
    o->end = arn_region_allocate(&o->region, o->n, sizeof *o->end);
    o->conflicts = arn_region_allocate(&o->region, (size_t)o->n * o->words, sizeof *o->conflicts);
    o->floors = arn_region_allocate(&o->region, (size_t)o->n + 1, sizeof *o->floors);
    o->best.block = arn_region_allocate(&o->region, o->n, sizeof *o->best.block);
    return o->size && o->first && o->end && o->conflicts && o->floors && o->best.block;
}

arenaut_status arn_objects_make(const arenaut_planning *planning, uint32_t pool,
                                arn_objects *o) {
    const arenaut_problem *p = planning->problem;
    memset(o, 0, sizeof *o);
    o->problem = p;
    o->best.total = ARENAUT_UNPLACED;
    arn_region_init(&o->region, planning->allocator);
    o->buffer = arn_region_allocate(&o->region, p->n_buffers, 2 * sizeof *o->buffer);
    uint32_t *item_of = arn_region_allocate(&o->region, p->n_buffers, sizeof *item_of);
    if (!o->buffer || !item_of) return arn_no_memory(planning->err);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        item_of[b] = ARENAUT_NONE;
        const bool here = arenaut_problem_needs_memory(p, b) && arn_tokens_pool(p, b) == pool;
        if (here) o->buffer[o->n++] = b;
    }
    if (o->n > ARN_OBJECTS_MOST) {
        return arn_fail(planning->err, ARENAUT_REFUSED, 0,
                        "planner 'shared-objects' takes at most %d buffers of one pool; there are "
                        "%" PRIu32 ", and 'tvm-tokens' takes any number",
                        (int)ARN_OBJECTS_MOST, o->n);
    }
    if (!allocate(o)) return arn_no_memory(planning->err);
    arn_sort_ids(o->buffer, o->n, larger, p, o->buffer + p->n_buffers);
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t b = o->buffer[i];
        const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
        item_of[b] = i;
        o->size[i] = p->size[b];
        o->first[i] = life->first;
        o->end[i] = life[arenaut_problem_lifetime_count(p, b) - 1].end;
    }
    find_conflicts(o, item_of);
    find_floors(o);
    return ARENAUT_OK;
}

void arn_objects_free(arn_objects *o) { arn_region_free(&o->region); }
