/* The objective: the cost of a plan and of the program that it is of. Planners, the choice among
 * rewrites and the one among levers all compare costs, and nothing else, by this order. */
#ifndef ARENAUT_COST_H
#define ARENAUT_COST_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In the order of their weight. Plans of one program differ in the first two alone. */
typedef struct arenaut_cost {
    uint64_t spill; /* into slower pools (see arenaut_pool in problem.h) */
    uint64_t total; /* bytes: the sum of the arenas or, where a runtime keeps data beside them, all
                     * that has to be reserved. ARENAUT_UNPLACED: there is no plan */
    int64_t time;   /* that rewrites add, as modelled, in the unit of all that are compared */
    int64_t ops;    /* that they add. Both may be those of the whole program, of which only the
                     * differences count */
} arenaut_cost;

static inline bool arenaut_costs_less(arenaut_cost a, arenaut_cost b) {
    if (a.spill != b.spill) return a.spill < b.spill;
    if (a.total != b.total) return a.total < b.total;
    return a.time != b.time ? a.time < b.time : a.ops < b.ops;
}

#ifdef __cplusplus
}
#endif

#endif
