/* Queries on the relations of two buffers, in the sorted lists of a finished problem. Planners and
 * validation share this; src/check has its own, so that a mistake here does not hide a wrong
 * plan. */
#ifndef ARN_IR_PAIR_RELATIONS_H
#define ARN_IR_PAIR_RELATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <arenaut/problem.h>

/* Whether a conflict edge names the two. O(log n). */
static inline bool arn_have_edge(const arenaut_problem *p, uint32_t a, uint32_t b) {
    const arenaut_conflict wanted = {a < b ? a : b, a < b ? b : a};
    uint32_t low = 0, high = p->n_conflicts;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const arenaut_conflict e = p->conflict[middle];
        if (e.a < wanted.a || (e.a == wanted.a && e.b < wanted.b)) low = middle + 1;
        else high = middle;
    }
    return low < p->n_conflicts && p->conflict[low].a == wanted.a && p->conflict[low].b == wanted.b;
}

/* The separation of the two with `upper` above; NULL if there is none. O(log n). */
static inline const arenaut_separation *arn_find_separation(const arenaut_problem *p,
                                                            uint32_t upper, uint32_t lower) {
    uint32_t low = 0, high = p->n_separations;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const arenaut_separation *s = &p->separation[middle];
        if (s->upper < upper || (s->upper == upper && s->lower < lower)) low = middle + 1;
        else high = middle;
    }
    if (low == p->n_separations) return NULL;
    const arenaut_separation *s = &p->separation[low];
    return s->upper == upper && s->lower == lower ? s : NULL;
}

#endif
