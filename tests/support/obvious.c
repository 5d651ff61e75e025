#include "support/obvious.h"

#include "support/oracle.h"
#include "support/test.h"

/* Whether buffers b, b + 1, … can be placed below `top`, those before them being placed. */
static bool obvious_fits(const arenaut_problem *p, arenaut_plan *plan, uint32_t b, uint64_t top) {
    if (b == p->n_buffers) return true;
    if (!arenaut_problem_needs_memory(p, b)) return obvious_fits(p, plan, b + 1, top);
    plan->pool[b] = 0;
    for (plan->offset[b] = 0; plan->offset[b] + p->size[b] <= top; plan->offset[b]++) {
        if (oracle_accepts_buffer(p, plan, b) && obvious_fits(p, plan, b + 1, top)) return true;
    }
    return false;
}

/* No buffer needs to lie higher than this, unless it is fixed there. */
static uint64_t obvious_upper_bound(const arenaut_problem *p) {
    uint64_t top = 0;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        if (p->reserved[i].end > top) top = p->reserved[i].end;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
        if (fixed != ARENAUT_UNPLACED && fixed > top) top = fixed;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        top += p->size[b] + arenaut_problem_align(p, b);
    }
    return top < p->pool[0].capacity ? top : p->pool[0].capacity;
}

uint64_t obvious_top(const arenaut_problem *p) {
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(p->n_buffers, p->n_pools, NULL, &plan, &err), err);
    const uint64_t upper_bound = obvious_upper_bound(p);
    uint64_t top = 0;
    while (top <= upper_bound && !obvious_fits(p, plan, 0, top)) top++;
    arenaut_plan_free(plan);
    return top <= upper_bound ? top : ARENAUT_UNPLACED;
}

uint64_t obvious_arena(const arenaut_problem *p) {
    const uint64_t top = obvious_top(p);
    if (top == ARENAUT_UNPLACED) return top;
    const uint64_t align = p->pool[0].align;
    return (top + align - 1) / align * align;
}
