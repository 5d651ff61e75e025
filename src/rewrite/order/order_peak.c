/* What is alive where most is, in the best order that was found. */
#include <string.h>

#include "core/fail.h"
#include "rewrite/order/order_program.h"
#include "rewrite/order/order_ways.h"

/* Before and behind that op, or at it. */
static void mark_alive(const arenaut_order_problem *p, const uint32_t *ops, uint32_t at,
                       uint32_t *place, uint8_t *sides) {
    enum { BEFORE = 1, BEHIND = 2 };
    for (uint32_t i = 0; i < p->n_ops; i++) place[ops[i]] = i;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        sides[b] = p->held && (p->held[b] & ARENAUT_HELD_BEFORE) ? BEFORE : 0;
        if (p->held && (p->held[b] & ARENAUT_HELD_AFTER)) sides[b] |= BEHIND;
    }
    for (uint32_t i = 0; i < p->n_uses; i++) {
        const uint32_t where = place[p->uses[i].op];
        if (where <= at) sides[p->uses[i].buffer] |= BEFORE;
        if (where >= at) sides[p->uses[i].buffer] |= BEHIND;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) sides[b] = sides[b] == (BEFORE | BEHIND);
}

arenaut_status arenaut_program_order_at_peak(const arenaut_program_order *o, uint8_t *alive,
                                             arenaut_error *err) {
    arn_order_height height;
    if (o->n_parts != 1 || o->n_taken != 1 || o->base.alive) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "the peaks of several problems have no one place");
    }
    const arenaut_order_problem *problem = &o->parts[0].problem;
    const arenaut_status st =
        arn_order_measure(problem, o->found[0].ops, &o->allocator, &height, err);
    if (st != ARENAUT_OK) return st;
    uint32_t *place = arn_allocate(&o->allocator, problem->n_ops, sizeof *place);
    if (!place) return arn_no_memory(err);
    mark_alive(problem, o->found[0].ops, height.at, place, alive);
    arn_release(&o->allocator, place);
    return ARENAUT_OK;
}
