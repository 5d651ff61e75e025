/* Floor of bytes over sets of last ops. Look at any set of ops that no other op follows, and at the
 * one of them that runs first last. By then the others have run, and all ops before them: results
 * of theirs that are live out are alive, and all that this op uses, whichever it is. The best set
 * leaves out those that need least: they may run behind the others, with few bytes beside such
 * results. So sets are the first of a list, and each op counts from the first one on that it
 * precedes. */
#include "rewrite/rematerialize/remat_end.h"

#include <string.h>

#include "core/checked.h"
#include "core/sort.h"

static bool is_followed(const arn_remat_cut *c, uint32_t op) {
    const arn_remat_graph *g = c->graph;
    bool followed = c->next.begin[op] < c->next.begin[op + 1];
    for (uint32_t i = g->makes.begin[op]; i < g->makes.begin[op + 1]; i++) {
        const uint32_t s = g->makes.ids[i];
        followed = followed || g->readers.begin[s] < g->readers.begin[s + 1];
    }
    return followed;
}

/* Bytes of storages that an op uses and that are not live out, less those that plans may let count
 * once. */
static int64_t other_bytes(const arn_remat_graph *g, uint32_t op) {
    const arenaut_remat_problem *p = g->problem;
    uint64_t bytes = arn_remat_scratch(p, op);
    const arn_remat_lists *const both[] = {&g->reads, &g->makes};
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = both[k]->begin[op]; i < both[k]->begin[op + 1]; i++) {
            const uint32_t s = both[k]->ids[i];
            if (!arn_remat_held(p, s, ARENAUT_LIVE_OUT)) bytes += p->size[s];
        }
    }
    return (int64_t)bytes - (int64_t)arn_min_u64(arn_remat_shared(g, op), INT64_MAX / 2);
}

static void list_last(const arn_remat_cut *c, arn_remat_end *e, uint64_t *key, uint32_t *scratch) {
    for (uint32_t op = 0; op < c->graph->problem->n_ops; op++) {
        if (is_followed(c, op)) continue;
        key[op] = (uint64_t)INT64_MAX - (uint64_t)other_bytes(c->graph, op);
        e->last[e->n_last++] = op;
    }
    arn_sort_by_key(e->last, e->n_last, key, scratch);
}

static void lower(uint32_t *rank, uint32_t to) {
    if (to < *rank) *rank = to;
}

/* An op's number is above those of the ops that precede it. */
static void rank_ops(const arn_remat_cut *c, arn_remat_end *e) {
    const arn_remat_graph *g = c->graph;
    const uint32_t n = g->problem->n_ops;
    for (uint32_t op = 0; op < n; op++) e->rank[op] = ARENAUT_NONE;
    for (uint32_t i = 0; i < e->n_last; i++) e->rank[e->last[i]] = i;
    for (uint32_t op = n; op-- > 0;) {
        for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
            const uint32_t maker = g->problem->maker[g->reads.ids[i]];
            if (maker != ARENAUT_NONE) lower(&e->rank[maker], e->rank[op]);
        }
        for (uint32_t i = c->first.begin[op]; i < c->first.begin[op + 1]; i++) {
            lower(&e->rank[c->first.ids[i]], e->rank[op]);
        }
    }
}

/* The place in the list from which on a storage has begun, and, if it is live out, is alive. */
static uint32_t rank_of(const arn_remat_end *e, uint32_t s) {
    const arn_remat_graph *g = e->graph;
    const uint32_t maker = g->problem->maker[s];
    uint32_t rank = ARENAUT_NONE;
    if (maker != ARENAUT_NONE) return e->rank[maker];
    if (arn_remat_held(g->problem, s, ARENAUT_LIVE_IN)) return 0;
    for (uint32_t i = g->readers.begin[s]; i < g->readers.begin[s + 1]; i++) {
        lower(&rank, e->rank[g->readers.ids[i]]);
    }
    return rank;
}

/* `held`: per place in the list, bytes that are live out from it on. */
static void find_best(arn_remat_end *e, uint64_t *held) {
    const arenaut_remat_problem *p = e->graph->problem;
    int64_t sum = 0, most = 0;
    memset(held, 0, e->n_last * sizeof *held);
    for (uint32_t s = 0; s < p->n_storages; s++) {
        if (!arn_remat_held(p, s, ARENAUT_LIVE_OUT)) continue;
        const uint32_t rank = rank_of(e, s);
        if (rank != ARENAUT_NONE) held[rank] += p->size[s];
    }
    for (uint32_t i = 0; i < e->n_last; i++) {
        sum += (int64_t)held[i];
        const int64_t bytes = sum + other_bytes(e->graph, e->last[i]);
        if (i > 0 && bytes <= most) continue;
        most = bytes;
        e->n = i + 1;
    }
    e->bytes = most > 0 ? (uint64_t)most : 0;
}

bool arn_remat_end_make(const arn_remat_cut *cut, arn_region *region, arn_remat_end *e) {
    const uint32_t n = cut->graph->problem->n_ops;
    uint64_t *key;
    uint32_t *scratch;
    *e = (arn_remat_end){.graph = cut->graph};
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(e->last, n), ARN_ARRAY(e->rank, n), ARN_ARRAY(key, n),
                           ARN_ARRAY(scratch, n))) {
        return false;
    }
    list_last(cut, e, key, scratch);
    rank_ops(cut, e);
    find_best(e, key);
    return true;
}

bool arn_remat_end_holds(const arn_remat_end *e, uint32_t s) {
    return arn_remat_held(e->graph->problem, s, ARENAUT_LIVE_OUT) && rank_of(e, s) < e->n;
}
