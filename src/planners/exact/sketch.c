#include "planners/exact/sketch.h"

#include "core/checked.h"
#include "core/sort.h"

/* No more pairs than this are tried one by one. */
enum { MOST_PAIRS = 4096 };

static uint64_t saving(const arenaut_problem *p, uint32_t heir) {
    return arn_min_u64(p->size[heir], p->size[p->same_base[heir]]);
}

static bool larger_saving(const void *context, uint32_t a, uint32_t b) {
    return saving(context, a) > saving(context, b);
}

static bool is_torn(const arn_exact_case *c, bool *torn) {
    arn_region region;
    arn_exact_ties ties;
    arn_region_init(&region, c->in.allocator);
    const bool done = arn_exact_find_ties(c, &region, &ties);
    *torn = done && ties.torn;
    arn_region_free(&region);
    return done;
}

bool arn_exact_sketch(const arn_exact_input *in, uint8_t *pair) {
    const arenaut_problem *p = in->problem;
    const arn_exact_case c = {*in, pair};
    uint32_t n = 0, *order = arn_allocate(in->allocator, p->n_buffers, 2 * sizeof *order);
    if (!order) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        pair[b] = ARN_EXACT_APART;
        if (arn_exact_is_pair(in, b)) order[n++] = b;
    }
    arn_sort_ids(order, n, larger_saving, p, order + p->n_buffers);
    bool done = true, torn;
    for (uint32_t k = 0; k < n && k < MOST_PAIRS && done; k++) {
        pair[order[k]] = ARN_EXACT_JOINED;
        done = is_torn(&c, &torn);
        if (done && torn) pair[order[k]] = ARN_EXACT_APART;
    }
    arn_release(in->allocator, order);
    return done;
}
