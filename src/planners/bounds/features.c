/* Says which constraints a problem uses, so that a planner without them can refuse it. What each
 * feature means stands in include/arenaut/planner.h. O(n). */
#include <arenaut/planner.h>

static uint32_t buffer_features(const arenaut_problem *p, uint32_t b) {
    uint32_t used = 0;
    if (arenaut_problem_align(p, b) > 1) used |= ARENAUT_FEATURE_ALIGNMENT;
    if (arenaut_problem_lifetime_count(p, b) > 1) used |= ARENAUT_FEATURE_GAPS;
    if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED) {
        used |= ARENAUT_FEATURE_FIXED_OFFSETS;
    }
    if (arenaut_problem_same_base(p, b) != ARENAUT_NONE) used |= ARENAUT_FEATURE_SAME_BASE;
    if (arenaut_problem_inside(p, b) != ARENAUT_NONE) used |= ARENAUT_FEATURE_INSIDE;
    if (arenaut_problem_hint(p, b) != ARENAUT_UNPLACED) used |= ARENAUT_FEATURE_HINTS;
    return used;
}

uint32_t arenaut_problem_features(const arenaut_problem *p) {
    uint32_t used = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) used |= buffer_features(p, b);
    }
    if (p->n_pools > 1) used |= ARENAUT_FEATURE_POOLS;
    for (uint32_t i = 0; i < p->n_pools; i++) {
        if (p->pool[i].capacity != ARENAUT_UNLIMITED) used |= ARENAUT_FEATURE_CAPACITY;
    }
    if (p->n_conflicts) used |= ARENAUT_FEATURE_CONFLICTS;
    if (p->n_separations) used |= ARENAUT_FEATURE_SEPARATIONS;
    if (p->n_reserved) used |= ARENAUT_FEATURE_RESERVED;
    if (p->traits & ARENAUT_PROBLEM_TOKENS) used |= ARENAUT_FEATURE_TOKENS;
    return used;
}
