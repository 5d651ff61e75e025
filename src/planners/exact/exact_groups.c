/* groups: a group is a ring of buffers with a root that all of them name, so that two groups are
 * told apart at once, gone through in order, and joined at the cost of the smaller one. Both
 * what is assumed in a case (relations.c) and the first guess (first_case.c) are made of these. */
#include "planners/exact/exact_groups.h"

#include "core/checked.h"

bool arn_exact_groups_make(const arn_exact_input *in, arn_region *region, arn_exact_groups *g) {
    const uint32_t n = in->problem->n_buffers;
    g->in = in;
    g->root = arn_region_allocate(region, n, sizeof *g->root);
    g->next = arn_region_allocate(region, n, sizeof *g->next);
    g->size = arn_region_allocate(region, n, sizeof *g->size);
    g->at = arn_region_allocate(region, n, sizeof *g->at);
    if (!g->root || !g->next || !g->size || !g->at) return false;
    if (!arn_hosts_find(in->problem, region, &g->hosts)) return false;
    for (uint32_t b = 0; b < n; b++) {
        g->next[b] = g->root[b] = b;
        g->size[b] = 1;
        g->at[b] = 0;
    }
    for (uint32_t b = 0; b < n && g->hosts.root; b++) {
        const uint32_t root = g->hosts.root[b];
        if (root == b || !arn_exact_in_pool(in, b)) continue;
        g->root[b] = root;
        g->at[b] = g->hosts.delta[b];
        g->next[b] = g->next[root];
        g->next[root] = b;
        g->size[root]++;
    }
    return true;
}

/* Moves the group of `b` up by so many bytes, modulo 2^64, and gives it another root. */
static void move(arn_exact_groups *g, uint32_t b, uint64_t by, uint32_t root) {
    uint32_t i = b;
    do {
        g->at[i] += by;
        g->root[i] = root;
        i = g->next[i];
    } while (i != b);
}

bool arn_exact_join(arn_exact_groups *g, uint32_t heir) {
    const uint32_t base = g->in->problem->same_base[heir];
    const uint32_t a = g->root[heir], b = g->root[base];
    if (a == b) return g->at[heir] == g->at[base];
    const uint64_t up = g->at[base] - g->at[heir];
    const bool heir_moves = g->size[a] <= g->size[b];
    arn_ask_after(g->in->ask, heir_moves ? g->size[a] : g->size[b]);
    if (heir_moves) move(g, heir, up, b);
    else move(g, base, 0 - up, a);
    g->size[heir_moves ? b : a] = g->size[a] + g->size[b];
    const uint32_t after = g->next[heir];
    g->next[heir] = g->next[base];
    g->next[base] = after;
    return true;
}

bool arn_exact_may_keep(const arn_exact_groups *g, uint32_t a, uint32_t b, int64_t distance) {
    const arenaut_problem *p = g->in->problem;
    /* Powers of two: each divides the distance to a buffer with a larger one. */
    const uint64_t align = arn_min_u64(arenaut_problem_align(p, a), arenaut_problem_align(p, b));
    if ((uint64_t)distance & (align - 1)) return false;
    if (!arn_exact_share_bytes(p, a, b, distance) || arn_hosts_nested(&g->hosts, a, b)) return true;
    if (distance == 0 && arn_exact_heir_of(p, a, b) != ARENAUT_NONE) return true;
    return !arn_exact_conflict(p, a, b);
}
