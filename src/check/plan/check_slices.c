/* check_slices: depth-first numbering of the forest of inside relations (plan_rules.h), by which
 * two comparisons decide whether a buffer lies in another. Built once for each check, in O(n). */
#include "check/plan/plan_rules.h"
#include "core/fail.h"

/* Hosts before their slices (a topological order): roots first, then breadth first. `first` and
 * `next` are the usual child lists, newest child first. */
typedef struct family {
    uint32_t *first, *next, *order;
} family;

static bool family_make(const arenaut_problem *p, arn_region *region, family *f) {
    const uint32_t n = p->n_buffers;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(f->first, n), ARN_ARRAY(f->next, n),
                           ARN_ARRAY(f->order, n))) {
        return false;
    }
    uint32_t queued = 0;
    for (uint32_t b = 0; b < n; b++) f->first[b] = ARENAUT_NONE;
    for (uint32_t b = 0; b < n; b++) {
        const uint32_t host = p->inside[b];
        if (host == ARENAUT_NONE) {
            f->order[queued++] = b;
        } else {
            f->next[b] = f->first[host];
            f->first[host] = b;
        }
    }
    for (uint32_t i = 0; i < queued; i++) {
        for (uint32_t s = f->first[f->order[i]]; s != ARENAUT_NONE; s = f->next[s]) {
            f->order[queued++] = s;
        }
    }
    return true;
}

/* Gives each buffer the range [enter, leave), which holds those of its slices. `size` and `free`
 * are work space: buffers in the subtree, and the next free number there. */
static void number_forest(const arenaut_problem *p, const uint32_t *order, arn_check_slices *slices,
                          uint32_t *size, uint32_t *free) {
    const uint32_t n = p->n_buffers;
    for (uint32_t b = 0; b < n; b++) size[b] = 1;
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t host = p->inside[order[i]];
        if (host != ARENAUT_NONE) size[host] += size[order[i]];
    }
    uint32_t next_root = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = order[i], host = p->inside[b];
        uint32_t *next = host == ARENAUT_NONE ? &next_root : &free[host];
        slices->enter[b] = *next;
        slices->leave[b] = *next += size[b];
        free[b] = slices->enter[b] + 1;
    }
}

static void find_hosts(const arenaut_problem *p, const uint32_t *order, arn_check_slices *slices) {
    for (uint32_t i = 0; i < p->n_buffers; i++) {
        const uint32_t b = order[i], host = p->inside[b];
        slices->host[b] = host;
        slices->delta[b] = host == ARENAUT_NONE ? 0 : p->inside_delta[b];
        if (host != ARENAUT_NONE && !arenaut_problem_needs_memory(p, host)) {
            /* Both deltas lie within buffers that fit each other: no overflow. */
            slices->delta[b] += slices->delta[host];
            slices->host[b] = slices->host[host];
        }
    }
}

arenaut_status arn_check_slices_make(const arn_plan_check *check, arn_check_slices *slices) {
    const arenaut_problem *p = check->problem;
    const uint32_t n = p->n_buffers;
    family f;
    *slices = (arn_check_slices){.enter = NULL};
    arn_region_init(&slices->region, check->allocator);
    if (!p->inside) return ARENAUT_OK;
    if (!ARN_REGION_ARRAYS(&slices->region, ARN_ARRAY(slices->enter, n),
                           ARN_ARRAY(slices->leave, n), ARN_ARRAY(slices->host, n),
                           ARN_ARRAY(slices->delta, n)) ||
        !family_make(p, &slices->region, &f)) {
        arn_region_free(&slices->region);
        return arn_no_memory(check->err);
    }
    /* The child lists are no longer needed: their space is used again. */
    number_forest(p, f.order, slices, f.first, f.next);
    find_hosts(p, f.order, slices);
    return ARENAUT_OK;
}
