/* The items of some pools, which of them conflict, and how large their blocks must be. */
#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/bounds/bounds.h"
#include "ir/lifetimes.h"
#include "planners/tokens/token_packing.h"
#include "planners/bounds/rooms.h"

static bool larger(const void *context, uint32_t a, uint32_t b) {
    const arenaut_problem *p = context;
    if (p->size[a] != p->size[b]) return p->size[a] > p->size[b];
    return arenaut_problem_lifetimes(p, a)->first < arenaut_problem_lifetimes(p, b)->first;
}

static void set_conflict(arn_objects *o, uint32_t a, uint32_t b) {
    o->conflicts[(size_t)a * o->words + b / 64] |= UINT64_C(1) << b % 64;
    o->conflicts[(size_t)b * o->words + a / 64] |= UINT64_C(1) << a % 64;
}

/* One of the two may take over the other's memory, although both are alive: in a block they
 * begin together, and that is all that it takes. */
static bool may_share(const arenaut_problem *p, uint32_t a, uint32_t b) {
    return arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a;
}

/* `item_of`: per buffer; ARENAUT_NONE for those of other pools. */
static void find_conflicts(arn_objects *o, const uint32_t *item_of) {
    const arenaut_problem *p = o->problem;
    memset(o->conflicts, 0, (size_t)o->n * o->words * sizeof *o->conflicts);
    for (uint32_t i = 0; i < o->n; i++) {
        const uint64_t lives = arenaut_problem_lifetime_count(p, o->buffer[i]);
        if (!arn_ask_after(o->ask, (uint64_t)i * lives)) return;
        for (uint32_t k = 0; k < i; k++) {
            const uint32_t a = o->buffer[i], b = o->buffer[k];
            if (arn_alive_together(p, a, b) && !may_share(p, a, b)) set_conflict(o, i, k);
        }
    }
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const uint32_t a = item_of[p->conflict[i].a], b = item_of[p->conflict[i].b];
        if (a == ARENAUT_NONE || b == ARENAUT_NONE) continue;
        if (!may_share(p, p->conflict[i].a, p->conflict[i].b)) set_conflict(o, a, b);
    }
}

/* Buffers of one step, counted from large to small. A block holds at most two of them, a base
 * and one heir of it, so that there are at least as many blocks as buffers less bases that have
 * an heir among them. */
typedef struct crowd {
    uint32_t *base;     /* per item: its base's item, or ARENAUT_NONE */
    uint32_t *seen;     /* per item: the last step at which it was counted, counted from 1 */
    uint32_t *has_heir; /* likewise, an heir of it */
    uint32_t step, buffers, pairs, blocks;
} crowd;

static void crowd_add(crowd *c, uint32_t item) {
    const uint32_t base = c->base[item];
    c->buffers++;
    c->seen[item] = c->step;
    c->pairs += c->has_heir[item] == c->step;
    if (base != ARENAUT_NONE && c->has_heir[base] != c->step) {
        c->has_heir[base] = c->step;
        c->pairs += c->seen[base] == c->step;
    }
    if (c->buffers - c->pairs > c->blocks) c->blocks = c->buffers - c->pairs;
}

static bool crowd_make(arn_objects *o, const uint32_t *item_of, crowd *c) {
    *c = (crowd){.base = arn_region_allocate(&o->region, o->n, sizeof *c->base)};
    c->seen = arn_region_allocate(&o->region, o->n, sizeof *c->seen);
    c->has_heir = arn_region_allocate(&o->region, o->n, sizeof *c->has_heir);
    if (!c->base || !c->seen || !c->has_heir) return false;
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t base = arenaut_problem_same_base(o->problem, o->buffer[i]);
        c->base[i] = base == ARENAUT_NONE ? ARENAUT_NONE : item_of[base];
        c->seen[i] = c->has_heir[i] = 0;
    }
    return true;
}

/* The most are alive just after some buffer has come alive. Those that are alive then, in order
 * of size, need blocks no smaller than themselves. */
static bool find_floors(arn_objects *o, const uint32_t *item_of) {
    const arenaut_problem *p = o->problem;
    crowd c;
    if (!crowd_make(o, item_of, &c)) return false;
    memset(o->floors, 0, ((size_t)o->n + 1) * sizeof *o->floors);
    o->n_floors = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        const arenaut_interval *life = arenaut_problem_lifetimes(p, o->buffer[i]);
        for (uint32_t l = 0; l < arenaut_problem_lifetime_count(p, o->buffer[i]); l++) {
            if (!arn_ask_after(o->ask, o->n)) return true;
            c.step++;
            c.buffers = c.pairs = c.blocks = 0;
            for (uint32_t k = 0; k < o->n; k++) {
                if (!arn_alive_at(p, o->buffer[k], life[l].first)) continue;
                const uint32_t rank = c.blocks;
                crowd_add(&c, k);
                if (c.blocks > rank) o->floors[rank] = arn_max_u64(o->floors[rank], o->size[k]);
            }
            if (c.blocks > o->n_floors) o->n_floors = c.blocks;
        }
    }
    for (uint32_t k = o->n; k > 0; k--) o->floors[k - 1] += o->floors[k];
    o->bound = arn_objects_bound(o, o->floors[0]);
    return true;
}

static uint32_t count_bits(uint64_t bits) {
    uint32_t n = 0;
    for (; bits; bits &= bits - 1) n++;
    return n;
}

/* Offsets are multiples of the least alignment, so that every block but the topmost of each
 * pool takes up a multiple of it; unless a reserved range leaves parts of such free. */
static void find_grain(arn_objects *o) {
    uint64_t grain = 0;
    o->waste = 0;
    for (uint32_t i = 0; i < o->n; i++) grain |= arenaut_problem_align(o->problem, o->buffer[i]);
    o->grain = grain && !o->problem->n_reserved ? grain & (~grain + 1) : 1;
    for (uint32_t i = 0; i < o->n; i++) {
        const uint64_t size = o->problem->size[o->buffer[i]];
        o->size[i] = arn_aligned(size, o->grain);
        o->waste = arn_max_u64(o->waste, o->size[i] - size);
    }
    o->waste *= count_bits(o->pools);
}

uint64_t arn_objects_bound(const arn_objects *o, uint64_t total) {
    const uint64_t bytes = total > o->waste ? total - o->waste : 0;
    uint64_t align = 0;
    uint32_t pool = 0;
    for (uint32_t k = 0; k < o->problem->n_pools; k++) {
        if (!(o->pools >> k & 1)) continue;
        align |= o->problem->pool[k].align;
        pool = k;
    }
    if (o->pools & (o->pools - 1)) return arn_aligned(bytes, align & (~align + 1));
    return arn_aligned(arn_end_of_free_bytes(o->problem, pool, bytes), align);
}

static bool allocate_layout(arn_objects *o, arn_layout *l) {
    l->size = arn_region_allocate(&o->region, o->n, sizeof *l->size);
    l->align = arn_region_allocate(&o->region, o->n, sizeof *l->align);
    l->pools = arn_region_allocate(&o->region, o->n, sizeof *l->pools);
    l->pool = arn_region_allocate(&o->region, o->n, sizeof *l->pool);
    l->start = arn_region_allocate(&o->region, o->n, sizeof *l->start);
    l->total = ARENAUT_UNPLACED;
    return l->size && l->align && l->pools && l->pool && l->start;
}

static bool allocate(arn_objects *o) {
    o->words = (o->n + 63) / 64;
    o->size = arn_region_allocate(&o->region, o->n, sizeof *o->size);
    o->allowed = arn_region_allocate(&o->region, o->n, sizeof *o->allowed);
    o->first = arn_region_allocate(&o->region, o->n, sizeof *o->first);
    o->end = arn_region_allocate(&o->region, o->n, sizeof *o->end);
    o->conflicts = arn_region_allocate(&o->region, (size_t)o->n * o->words, sizeof *o->conflicts);
    o->floors = arn_region_allocate(&o->region, (size_t)o->n + 1, sizeof *o->floors);
    o->best.block = arn_region_allocate(&o->region, o->n, sizeof *o->best.block);
    return o->size && o->allowed && o->first && o->end && o->conflicts && o->floors &&
           o->best.block && allocate_layout(o, &o->layout) && allocate_layout(o, &o->next);
}

static bool is_here(const arenaut_problem *p, uint32_t b, uint64_t pools) {
    return arenaut_problem_needs_memory(p, b) && arenaut_problem_pools(p, b) & pools;
}

bool arn_objects_suit(const arenaut_problem *p) {
    uint32_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) n += arenaut_problem_needs_memory(p, b);
    return n <= ARN_OBJECTS_MOST;
}

static uint64_t pools_with_room(const arn_rooms *rooms, uint32_t b) {
    const arenaut_problem *p = rooms->problem;
    uint64_t pools = arenaut_problem_pools(p, b);
    for (uint32_t k = 0; k < p->n_pools; k++) {
        const bool fits = arn_lowest_end(rooms, b, k) != ARENAUT_UNPLACED;
        if (!fits) pools &= ~(UINT64_C(1) << k);
    }
    return pools;
}

static bool measure_items(arn_objects *o, uint32_t *item_of) {
    const arenaut_problem *p = o->problem;
    arn_rooms rooms;
    if (!arn_rooms_make(&rooms, p, o->allocator)) return false;
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t b = o->buffer[i];
        const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
        item_of[b] = i;
        o->allowed[i] = pools_with_room(&rooms, b);
        o->first[i] = life->first;
        o->end[i] = life[arenaut_problem_lifetime_count(p, b) - 1].end;
    }
    arn_rooms_free(&rooms);
    return true;
}

arenaut_status arn_objects_make(arn_meter *meter, uint64_t pools, arn_objects *o) {
    const arenaut_planning *planning = meter->planning;
    const arenaut_problem *p = planning->problem;
    *o = (arn_objects){.problem = p, .allocator = planning->allocator, .pools = pools};
    o->ask = arn_meter_ask(meter);
    arn_region_init(&o->region, planning->allocator);
    o->buffer = arn_region_allocate(&o->region, p->n_buffers, 2 * sizeof *o->buffer);
    uint32_t *item_of = arn_region_allocate(&o->region, p->n_buffers, sizeof *item_of);
    if (!o->buffer || !item_of) return arn_no_memory(planning->err);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        item_of[b] = ARENAUT_NONE;
        if (is_here(p, b, pools)) o->buffer[o->n++] = b;
    }
    if (o->n > ARN_OBJECTS_MOST) {
        return arn_fail(planning->err, ARENAUT_REFUSED, 0,
                        "planner 'shared-objects' takes at most %d buffers of one pool; there are "
                        "%" PRIu32 ", and 'tvm-tokens' takes any number",
                        (int)ARN_OBJECTS_MOST, o->n);
    }
    if (!allocate(o)) return arn_no_memory(planning->err);
    arn_sort_ids(o->buffer, o->n, larger, p, o->buffer + p->n_buffers);
    if (!measure_items(o, item_of)) return arn_no_memory(planning->err);
    find_grain(o);
    find_conflicts(o, item_of);
    return find_floors(o, item_of) ? ARENAUT_OK : arn_no_memory(planning->err);
}

void arn_objects_free(arn_objects *o) { arn_region_free(&o->region); }
