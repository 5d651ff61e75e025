/* first_case: a guess that is likely to be good, so that a problem with many pairs has a plan
 * before its cases have been gone through. It joins greedily, by what a join saves; each join
 * compares all buffers of the two groups, up to a limit for all of them together. */
#include "planners/exact/first_case.h"

#include "core/checked.h"
#include "core/sort.h"
#include "planners/exact/exact_groups.h"

/* No more buffers than this are compared with each other, all joins together. */
enum { MOST_LOOKS = 1 << 22, LOOK_OPERATIONS = 16 };

/* A fixed buffer settles where its group lies, so that group is left alone. */
static bool has_fixed(const arn_exact_groups *g, uint32_t member) {
    uint32_t i = member;
    do {
        if (arenaut_problem_fixed_offset(g->in->problem, i) != ARENAUT_UNPLACED) return true;
        i = g->next[i];
    } while (i != member);
    return false;
}

/* Whether the heir's group may move to where the heir starts at its base. */
static bool may_join(const arn_exact_groups *g, uint32_t heir, uint32_t base, uint32_t *looks) {
    const uint64_t up = g->at[base] - g->at[heir];
    uint32_t i = heir;
    do {
        uint32_t k = base;
        do {
            if (++*looks > MOST_LOOKS || !arn_ask_after(g->in->ask, LOOK_OPERATIONS)) return false;
            if (!arn_exact_may_keep(g, i, k, (int64_t)(g->at[i] + up - g->at[k]))) return false;
            k = g->next[k];
        } while (k != base);
        i = g->next[i];
    } while (i != heir);
    return true;
}

static uint64_t saving(const arenaut_problem *p, uint32_t heir) {
    return arn_min_u64(p->size[heir], p->size[p->same_base[heir]]);
}

static bool larger_saving(const void *context, uint32_t a, uint32_t b) {
    return saving(context, a) > saving(context, b);
}

bool arn_exact_first_case(const arn_exact_input *in, arn_region *scratch, uint8_t *pair) {
    const arenaut_problem *p = in->problem;
    uint32_t n = 0, looks = 0;
    uint32_t *order = arn_region_allocate(scratch, p->n_buffers, 2 * sizeof *order);
    arn_exact_groups g;
    if (!order || !arn_exact_groups_make(in, scratch, &g)) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        pair[b] = ARN_EXACT_APART;
        if (arn_exact_is_pair(in, b)) order[n++] = b;
    }
    arn_sort_ids(order, n, larger_saving, p, order + p->n_buffers);
    for (uint32_t k = 0; k < n && looks <= MOST_LOOKS; k++) {
        const uint32_t heir = order[k], base = p->same_base[heir];
        if (g.root[heir] == g.root[base] || has_fixed(&g, heir) || has_fixed(&g, base)) continue;
        if (may_join(&g, heir, base, &looks)) arn_exact_join(&g, heir);
    }
    /* Joining others may have put a buffer where its base is. */
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t heir = order[k], base = p->same_base[heir];
        const bool joined = g.root[heir] == g.root[base] && g.at[heir] == g.at[base];
        if (joined) pair[heir] = ARN_EXACT_JOINED;
    }
    return true;
}
