/* Proofs of lower bounds by exhausted search trees: goes through cases as the search does, but in
 * the order of a proof, and for a given bound. In every case one pool is shown to need more than it
 * may have, or all pools together. A pool is shown to need more by a tree (packing_tree.c) that
 * finds nothing; it is repeated, in other styles and for longer, until it is through. */
#include "planners/exact/exact.h"

#include "core/checked.h"
#include "core/fail.h"
#include "planners/bounds/hosts.h"
#include "planners/exact/packing_search.h"
#include "planners/exact/item_model.h"

enum {
    FIRST_NODES = 1024, /* the limit of the first two trees; every other one doubles it */
    NOISE = 9,
    MOST_DEPTH = 1000, /* of cases in cases, as they recurse */
};

typedef struct proof {
    const arn_exact_input *in;
    uint64_t bound;
    arn_certificate_log *log;
    arenaut_error *err;
    arn_region region;
    uint8_t *pair;     /* per buffer, for the case at work, as in arn_exact_case */
    uint32_t *pool_of; /* likewise; ARENAUT_NONE: not chosen yet */
    uint64_t *offset;  /* scratch for a search */
    arn_hosts hosts;
    uint64_t spent; /* effort */
    uint32_t depth; /* of cases in cases */
} proof;

static arenaut_status prove_case(proof *x);

static arenaut_status out_of_effort(const proof *x) {
    return arn_fail(x->err, ARENAUT_STOPPED, 0,
                    "the effort was spent before the proof was complete");
}

static arenaut_status too_high(const proof *x) {
    return arn_fail(x->err, ARENAUT_REFUSED, 0,
                    "there is nothing to certify: the bound is not reached by exact search");
}

static bool many_pools(const proof *x) { return x->in->problem->n_pools > 1; }

static arn_exact_case case_of(const proof *x, uint32_t pool) {
    return arn_exact_case_of(x->in, x->pair, many_pools(x) ? x->pool_of : NULL, pool);
}

/* ---- one pool ---- */

/* One tree after the other, in different styles and with growing limits, until one is done. */
typedef struct attempt {
    proof *x;
    arn_exact_model model;
    arn_exact_tree tree;
    arn_exact_pairs pairs;
    arn_region region;
    int64_t *keys;
    uint32_t *ids;
    uint64_t random;
} attempt;

static uint64_t spent_by(const attempt *a) {
    return a->x->spent + a->tree.state.work / ARN_EXACT_OPERATIONS_PER_EFFORT;
}

static bool go_on(void *context) {
    const attempt *a = context;
    return arn_poll_after(a->x->in->poll, ARN_POLL_EVERY) && spent_by(a) < a->x->in->effort;
}

static void draw_style(attempt *a, uint32_t turn) {
    a->tree.style.choice = ARN_EXACT_FEWEST_BY_WEIGHT;
    a->tree.style.from_the_end = turn % 2;
    a->tree.style.look_ahead = false;
    arn_exact_make_keys(&a->model, turn / 2 % ARN_EXACT_ORDERS, a->keys);
    arn_exact_disturb(&a->random, turn < 2 * ARN_EXACT_ORDERS ? 0 : NOISE, a->keys, a->model.n);
    arn_exact_rank(a->keys, a->model.n, a->ids, a->tree.rank);
}

static arn_exact_verdict run_trees(attempt *a, int64_t capacity) {
    const uint32_t start = a->x->log->n;
    uint64_t nodes = FIRST_NODES;
    for (uint32_t turn = 0;; turn++) {
        draw_style(a, turn);
        const arn_exact_verdict verdict = arn_exact_tree_run(&a->tree, capacity, nodes);
        if (verdict != ARN_EXACT_GAVE_UP || a->x->log->failed || !go_on(a)) return verdict;
        arn_certificate_log_cut(a->x->log, start);
        if (turn % 2) nodes *= 2;
    }
}

static arenaut_status begin(attempt *a, const arn_exact_case *c) {
    arenaut_error *err = a->x->err;
    a->keys = arn_region_allocate(&a->region, a->model.n, sizeof *a->keys);
    a->ids = arn_region_allocate(&a->region, a->model.n, 2 * sizeof *a->ids);
    if (!a->keys || !a->ids || !arn_exact_list_pairs(c, &a->region, &a->pairs)) {
        return arn_no_memory(err);
    }
    arenaut_status st =
        arn_exact_tree_init(&a->tree, &a->model, arn_exact_no_goods(&a->model), &a->region, err);
    if (st == ARENAUT_OK) st = arn_exact_tree_log(&a->tree, a->x->log, &a->region, err);
    a->tree.go_on = go_on;
    a->tree.context = a;
    a->random = a->x->in->seed;
    return st;
}

/* As prove_pool, with its model made. */
static arenaut_status prove_by_tree(attempt *a, const arn_exact_case *c, uint64_t limit,
                                    uint32_t *open_pair) {
    proof *x = a->x;
    const uint32_t start = x->log->n;
    const int64_t capacity = (int64_t)arn_min_u64(limit / a->model.unit, INT64_MAX / 2);
    if (a->model.clash || a->model.highest_fixed > capacity) {
        arn_certificate_log_add(x->log, ARENAUT_PROOF_DEAD, 0, 0);
        return ARENAUT_OK;
    }
    const arenaut_status st = begin(a, c);
    if (st != ARENAUT_OK) return st;
    const arn_exact_verdict verdict = run_trees(a, capacity);
    x->spent = spent_by(a) + 1;
    if (x->log->failed) return arn_no_memory(x->err);
    if (verdict == ARN_EXACT_GAVE_UP) return out_of_effort(x);
    if (verdict == ARN_EXACT_IMPOSSIBLE) return ARENAUT_OK;
    arn_certificate_log_cut(x->log, start);
    *open_pair = arn_exact_open_pair(&a->pairs, &a->model, a->tree.state.offset);
    return *open_pair == ARENAUT_NONE ? too_high(x) : ARENAUT_OK;
}

/* Adds a proof that the pool needs more than `limit` bytes. If that depends on an open pair, the
 * log is as it was, and *open_pair is its heir; else ARENAUT_NONE. */
static arenaut_status prove_pool(proof *x, uint32_t pool, uint64_t limit, uint32_t *open_pair) {
    const arn_exact_case c = case_of(x, pool);
    attempt a = {.x = x};
    *open_pair = ARENAUT_NONE;
    arenaut_status st = arn_exact_model_make(&c, &a.model, x->err);
    if (st != ARENAUT_OK) return st;
    arn_region_init(&a.region, x->in->allocator);
    st = prove_by_tree(&a, &c, limit, open_pair);
    arn_region_free(&a.region);
    arn_exact_model_free(&a.model);
    return st;
}

/* How far up a pool may be used if the others need at least so much. */
static uint64_t limit_of(const proof *x, uint32_t pool, uint64_t others) {
    const arenaut_pool *k = &x->in->problem->pool[pool];
    if (x->bound == ARENAUT_UNPLACED) return arn_min_u64(k->capacity, ARENAUT_SIZE_MAX);
    const uint64_t arena = x->bound > others ? (x->bound - 1 - others) & ~(k->align - 1) : 0;
    return arn_min_u64(arena, k->capacity);
}

/* ---- cases ---- */

/* Proves the case twice: with the pair joined, and with it apart. */
static arenaut_status split_pair(proof *x, uint32_t heir) {
    arn_certificate_log_add(x->log, ARENAUT_PROOF_JOIN, heir, 0);
    x->pair[heir] = ARN_EXACT_JOINED;
    arenaut_status st = prove_case(x);
    x->pair[heir] = ARN_EXACT_APART;
    if (st == ARENAUT_OK) st = prove_case(x);
    x->pair[heir] = ARN_EXACT_OPEN;
    return st;
}

static void choose_pool(proof *x, uint32_t root, uint32_t pool) {
    for (uint32_t b = 0; b < x->in->problem->n_buffers; b++) {
        if ((x->hosts.root ? x->hosts.root[b] : b) == root) x->pool_of[b] = pool;
    }
}

/* Proves the case once for each pool that the group of `root` may lie in. */
static arenaut_status split_pools(proof *x, uint32_t root) {
    arenaut_status st = ARENAUT_OK;
    arn_certificate_log_add(x->log, ARENAUT_PROOF_POOL, root, 0);
    for (uint32_t k = 0; k < x->in->problem->n_pools && st == ARENAUT_OK; k++) {
        if (!(arenaut_problem_pools(x->in->problem, root) >> k & 1)) continue;
        choose_pool(x, root, k);
        st = prove_case(x);
    }
    choose_pool(x, root, ARENAUT_NONE);
    return st;
}

/* The largest group that has no pool yet; ARENAUT_NONE. */
static uint32_t next_group(const proof *x) {
    const arenaut_problem *p = x->in->problem;
    uint32_t largest = ARENAUT_NONE;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b) || x->pool_of[b] != ARENAUT_NONE) continue;
        if (x->hosts.root && x->hosts.root[b] != b) continue;
        if (largest == ARENAUT_NONE || p->size[b] > p->size[largest]) largest = b;
    }
    return largest;
}

/* The least arena of a pool below `limit`; *full: there is none. */
static arenaut_status searched_bound(proof *x, uint32_t pool, uint64_t limit, uint64_t *bound,
                                     bool *full, uint32_t *open_pair) {
    arn_exact_case c = case_of(x, pool);
    const uint64_t align = x->in->problem->pool[pool].align;
    /* A plan that ends at the limit has an arena that is rounded up, also if the limit is a
     * capacity that is no multiple of the alignment. */
    c.in.arena =
        limit > ARENAUT_SIZE_MAX - align ? ARENAUT_UNPLACED : arn_aligned(limit, align) + align;
    c.in.bound = *bound;
    c.in.enough = 0;
    c.in.effort = x->in->effort > x->spent ? x->in->effort - x->spent : 0;
    arn_exact_output found = {.offset = x->offset};
    const arenaut_status st = arn_exact_search(&c, &found, x->err);
    if (st != ARENAUT_OK) return st;
    x->spent += found.effort + 1;
    *open_pair = found.open_pair;
    *full = !found.improved && limit >= x->in->problem->pool[pool].capacity;
    if (found.bound != ARENAUT_UNPLACED) *bound = found.bound;
    if (found.stopped_by == ARENAUT_STOP_PROOF || *open_pair != ARENAUT_NONE) return ARENAUT_OK;
    return out_of_effort(x);
}

/* One pool after the other is shown to need its bound, until nothing is left for the rest. */
static arenaut_status prove_sum(proof *x, const uint64_t *bound) {
    const uint32_t start = x->log->n;
    for (uint32_t k = 0; k < x->in->problem->n_pools; k++) {
        const uint64_t align = x->in->problem->pool[k].align;
        uint32_t open_pair;
        if (bound[k] == 0) continue;
        arn_certificate_log_add(x->log, ARENAUT_PROOF_ARENA, k, bound[k] - align);
        arn_certificate_log_add(x->log, ARENAUT_PROOF_POOLS, 0, UINT64_C(1) << k);
        const uint64_t limit = arn_min_u64(bound[k] - align, x->in->problem->pool[k].capacity);
        const arenaut_status st = prove_pool(x, k, limit, &open_pair);
        if (st != ARENAUT_OK) return st;
        if (open_pair == ARENAUT_NONE) continue;
        arn_certificate_log_cut(x->log, start);
        return split_pair(x, open_pair);
    }
    arn_certificate_log_add(x->log, ARENAUT_PROOF_DEAD, 0, 0);
    return ARENAUT_OK;
}

/* One pool is shown to need more than `limit`. */
static arenaut_status prove_full(proof *x, uint32_t pool, uint64_t limit) {
    const uint32_t start = x->log->n;
    uint32_t open_pair;
    if (many_pools(x)) {
        arn_certificate_log_add(x->log, ARENAUT_PROOF_POOLS, 0, UINT64_C(1) << pool);
    }
    const arenaut_status st = prove_pool(x, pool, limit, &open_pair);
    if (st != ARENAUT_OK || open_pair == ARENAUT_NONE) return st;
    arn_certificate_log_cut(x->log, start);
    return split_pair(x, open_pair);
}

/* All groups have their pools. */
static arenaut_status prove_filled(proof *x, uint64_t *bound) {
    for (uint32_t k = 0; k < x->in->problem->n_pools; k++) {
        const uint64_t limit =
            limit_of(x, k, arn_exact_sum_bounds(x->in->problem, bound) - bound[k]);
        uint32_t open_pair;
        bool full;
        const arenaut_status st = searched_bound(x, k, limit, &bound[k], &full, &open_pair);
        if (st != ARENAUT_OK) return st;
        if (open_pair != ARENAUT_NONE) return split_pair(x, open_pair);
        if (full) return prove_full(x, k, x->in->problem->pool[k].capacity);
        if (x->bound != ARENAUT_UNPLACED &&
            arn_exact_sum_bounds(x->in->problem, bound) >= x->bound) {
            return prove_sum(x, bound);
        }
    }
    return too_high(x);
}

static arenaut_status prove_pools(proof *x) {
    uint64_t bound[ARENAUT_MAX_POOLS];
    for (uint32_t k = 0; k < x->in->problem->n_pools; k++) {
        const arn_exact_case c = case_of(x, k);
        bool possible;
        const arenaut_status st = arn_exact_bound_pool(&c, &bound[k], &possible, &x->spent, x->err);
        if (st != ARENAUT_OK) return st;
        if (!possible) return prove_full(x, k, x->in->problem->pool[k].capacity);
    }
    if (x->bound != ARENAUT_UNPLACED && arn_exact_sum_bounds(x->in->problem, bound) >= x->bound)
        return prove_sum(x, bound);
    const uint32_t root = next_group(x);
    return root == ARENAUT_NONE ? prove_filled(x, bound) : split_pools(x, root);
}

static arenaut_status prove_case(proof *x) {
    if (x->spent >= x->in->effort || x->depth == MOST_DEPTH) return out_of_effort(x);
    x->depth++;
    const arenaut_status st = many_pools(x) ? prove_pools(x) : prove_full(x, 0, limit_of(x, 0, 0));
    x->depth--;
    return st;
}

arenaut_status arn_exact_prove(const arn_exact_input *in, arn_poll *poll, uint64_t bound,
                               arn_certificate_log *log, arenaut_error *err) {
    const arenaut_problem *p = in->problem;
    arn_exact_input own = *in;
    own.poll = poll;
    proof x = {.in = &own, .bound = bound, .log = log, .err = err};
    arn_region_init(&x.region, in->allocator);
    arenaut_status st = ARENAUT_NO_MEMORY;
    if (ARN_REGION_ARRAYS(&x.region, ARN_ARRAY(x.pair, p->n_buffers),
                          ARN_ARRAY(x.pool_of, p->n_buffers), ARN_ARRAY(x.offset, p->n_buffers)) &&
        arn_hosts_find(p, &x.region, &x.hosts)) {
        for (uint32_t b = 0; b < p->n_buffers; b++) {
            x.pair[b] = ARN_EXACT_OPEN;
            x.pool_of[b] = arn_exact_only_pool(p, b);
        }
        st = prove_case(&x);
        if (st == ARENAUT_OK && arn_poll_ended(poll))
            st = out_of_effort(&x); /* half of it may be */
        if (st == ARENAUT_OK && log->failed) st = arn_no_memory(err);
    } else {
        arn_no_memory(err);
    }
    arn_region_free(&x.region);
    return st;
}
