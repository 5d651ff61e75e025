/* Laying blocks into pools. Mostly they only have to be put end to end; where alignments,
 * capacities, reserved ranges or a choice of pools make more of it, they are buffers that are
 * all alive at once, and placing those is what the other planners do. */
#include "core/checked.h"
#include "planners/bounds/bounds.h"
#include "planners/tokens/token_packing.h"

/* Steps that placing may take, besides a few for each block. It does not depend on the effort,
 * so that more effort goes on from where less ended. */
enum { PLACING = 1 << 12, STEPS_PER_BLOCK = 16 };

static void measure_blocks(arn_objects *o, const arn_packing *packing) {
    const arenaut_problem *p = o->problem;
    arn_layout *l = &o->next;
    for (uint32_t k = 0; k < packing->n_blocks; k++) {
        l->size[k] = 0;
        l->align[k] = 1;
        l->pools[k] = o->pools;
    }
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t k = packing->block[i], b = o->buffer[i];
        l->size[k] = arn_max_u64(l->size[k], p->size[b]);
        l->align[k] = arn_max_u64(l->align[k], arenaut_problem_align(p, b));
        l->pools[k] &= o->allowed[i];
    }
}

/* The block whose rounding adds most: on top of the others that costs nothing. */
static uint32_t most_wasteful(const arn_objects *o, uint32_t n_blocks, uint64_t *waste) {
    uint32_t found = 0;
    *waste = 0;
    for (uint32_t k = 0; k < n_blocks; k++) {
        const uint64_t here = arn_aligned(o->next.size[k], o->grain) - o->next.size[k];
        if (here <= *waste) continue;
        *waste = here;
        found = k;
    }
    return found;
}

static uint64_t clear_of_ranges(const arenaut_problem *p, uint32_t pool, uint64_t at, uint64_t size,
                                uint64_t align) {
    at = arn_aligned(at, align);
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == pool && r->first < at + size && at < r->end) at = arn_aligned(r->end, align);
    }
    return at;
}

/* In the fastest pool that has room. */
static bool put_on_top(arn_objects *o, uint32_t block, uint64_t *ends) {
    const arenaut_problem *p = o->problem;
    arn_layout *l = &o->next;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!(l->pools[block] >> k & 1)) continue;
        const uint64_t at = clear_of_ranges(p, k, ends[k], l->size[block], l->align[block]);
        if (at + l->size[block] > p->pool[k].capacity) continue;
        l->pool[block] = k;
        l->start[block] = at;
        ends[k] = at + l->size[block];
        return true;
    }
    return false;
}

/* One after the other, `last` last. */
static void stack(arn_objects *o, uint32_t n_blocks, uint32_t last) {
    uint64_t ends[ARENAUT_MAX_POOLS] = {0};
    arn_layout *l = &o->next;
    l->total = ARENAUT_UNPLACED;
    for (uint32_t k = 0; k < n_blocks; k++) {
        if (k != last && !put_on_top(o, k, ends)) return;
    }
    if (n_blocks && !put_on_top(o, last, ends)) return;
    l->total = 0;
    for (uint32_t k = 0; k < o->problem->n_pools; k++) {
        l->total += arn_aligned(ends[k], o->problem->pool[k].align);
    }
}

static bool has_choice(const arn_layout *l, uint32_t n_blocks) {
    bool choice = false;
    for (uint32_t k = 0; k < n_blocks; k++) choice |= (l->pools[k] & (l->pools[k] - 1)) != 0;
    return choice;
}

/* Where blocks have a choice of pools, the best plan need not be the one with the least sum of
 * arenas, and is not taken for that. */
static void take_places(arn_objects *o, uint32_t n_blocks, const arenaut_plan *plan) {
    arn_layout *l = &o->next;
    if (plan->quality == ARENAUT_INFEASIBLE) {
        l->least = true;
        return;
    }
    const bool proven = plan->quality == ARENAUT_OPTIMAL || plan->total_bound >= l->total;
    l->least = proven && !has_choice(l, n_blocks);
    if (plan->total >= l->total) return;
    l->total = plan->total;
    for (uint32_t k = 0; k < n_blocks; k++) {
        l->pool[k] = plan->pool[k];
        l->start[k] = plan->offset[k];
    }
}

/* The blocks as a problem of their own. Returns the steps spent. */
static uint64_t place(arn_objects *o, uint32_t n_blocks) {
    const arenaut_problem *p = o->problem;
    const arenaut_plan_options options = {.effort = PLACING};
    arn_region scratch;
    arn_region_init(&scratch, o->allocator);
    uint32_t *starts = arn_region_allocate(&scratch, (size_t)n_blocks + 1, sizeof *starts);
    arenaut_interval *lives = arn_region_allocate(&scratch, n_blocks, sizeof *lives);
    uint64_t steps = (uint64_t)n_blocks * STEPS_PER_BLOCK;
    if (starts && lives) {
        for (uint32_t k = 0; k <= n_blocks; k++) starts[k] = k;
        for (uint32_t k = 0; k < n_blocks; k++) lives[k] = (arenaut_interval){0, 1};
        const arenaut_problem blocks = {.n_buffers = n_blocks,
                                        .n_pools = p->n_pools,
                                        .n_lifetimes = n_blocks,
                                        .n_reserved = p->n_reserved,
                                        .size = o->next.size,
                                        .align = o->next.align,
                                        .lifetime_start = starts,
                                        .lifetime = lives,
                                        .pools = o->next.pools,
                                        .pool = p->pool,
                                        .reserved = p->reserved};
        arenaut_plan *plan = NULL;
        const arenaut_status st = arenaut_plan_make(&blocks, &options, o->allocator, &plan, NULL);
        if (st == ARENAUT_OK || st == ARENAUT_NO_PLAN) {
            take_places(o, n_blocks, plan);
            steps += plan->effort;
            arenaut_plan_free(plan);
        } else if (st == ARENAUT_NO_MEMORY) {
            o->out_of_memory = true;
        } else {
            steps += PLACING; /* nothing was found that fits */
        }
    } else {
        o->out_of_memory = true;
    }
    arn_region_free(&scratch);
    return steps;
}

uint64_t arn_objects_lay(arn_objects *o, const arn_packing *packing, bool at_once) {
    uint64_t waste;
    measure_blocks(o, packing);
    const uint32_t last = most_wasteful(o, packing->n_blocks, &waste);
    stack(o, packing->n_blocks, last);
    /* With one pool only the topmost block need not be rounded. */
    const bool one_pool = (o->pools & (o->pools - 1)) == 0;
    const uint64_t rounded = arn_objects_bound(o, packing->total - waste + o->waste);
    const uint64_t least = one_pool ? rounded : arn_objects_bound(o, packing->total);
    o->next.least = o->next.total <= least;
    const bool done = o->next.least || (at_once && o->next.total != ARENAUT_UNPLACED);
    return done ? 0 : place(o, packing->n_blocks);
}
