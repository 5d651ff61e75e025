/* Branch and bound over cases: same-base pairs and choices of pools, around the search of one pool.
 *
 * At first nothing is assumed of same-base pairs: the two do not interfere at all. That is a
 * relaxation, so whatever has no packing then has none. Only when a packing is found that puts a
 * pair neither at one place nor apart, the case branches: the pair is joined, or it is apart. If
 * pools are to be chosen, groups get theirs one by one, the largest first, so as to spill as
 * little as the loads allow; every case has a lower bound of its spill, and its pools have bounds
 * that add up. When all are chosen the pools are independent.
 *
 *                        nothing assumed
 *                       /               \
 *          group g in pool 0        group g in pool 1
 *             /         \                  |
 *      pair p joined   p apart         pool too small: no plan in this case
 *
 * Cases are gone through in rounds, depth first, each with a limit; the unfinished ones have their
 * turn again in the next round, with twice the limit (iterative deepening of the effort), and so
 * on until none is left or the budget is spent. Nothing in this depends on how large that is. */
#include "planners/exact/exact.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "ir/problem.h"
#include "planners/bounds/hosts.h"
#include "planners/bounds/spill.h"
#include "planners/exact/case_relations.h"
#include "planners/exact/packing_search.h"
#include "ir/cost.h"

/* Whether the search has to choose pools: there are several, and none are given. */
static inline bool chooses_pools(const arn_exact_input *in) {
    return !in->pool_of && in->problem->n_pools > 1;
}

/* ---- the first case ---- */

/* A guess that is likely to be good, so that a problem with many pairs has a plan before its cases
 * have been gone through. It joins greedily, by the bytes that a join saves; each join compares all
 * buffers of the two groups, up to a limit for all of them together. */

/* No more buffers than this are compared with each other, all joins together. */
enum { MOST_LOOKS = 1 << 22, LOOK_OPERATIONS = 16 };

/* A fixed buffer settles the place of its group, so that group is left alone. */
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
            if (++*looks > MOST_LOOKS || !arn_poll_after(g->in->poll, LOOK_OPERATIONS))
                return false;
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

/* Writes arn_exact_pair per buffer, with no pair left open: every pair that saves memory is joined
 * if earlier joins allow that, the largest savings first, and else apart. If there are very many,
 * only the first ones are tried. `scratch` may be freed afterwards. False if there is no memory. */
static bool first_case(const arn_exact_input *in, arn_region *scratch, uint8_t *pair) {
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
    /* Other joins may have put a buffer at its base. */
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t heir = order[k], base = p->same_base[heir];
        const bool joined = g.root[heir] == g.root[base] && g.at[heir] == g.at[base];
        if (joined) pair[heir] = ARN_EXACT_JOINED;
    }
    return true;
}

/* ---- cases ---- */

/* A case is one assumption on top of its parent's, so that thousands of them fit into a list; the
 * one at work has its assumptions spread over arrays. A stack holds the cases of this round,
 * `later` those of the next. */

/* The effort for a case in the first round. */
enum { FIRST_LIMIT = 4096 };

/* One more assumption, on top of the parent's: about a pair, or about a group's pool. */
typedef struct assumption {
    uint32_t parent;
    uint32_t buffer; /* the heir, or the group's root; ARENAUT_NONE: nothing is assumed */
    uint32_t pool;   /* ARENAUT_NONE: it is about a pair */
    uint8_t pair;
    /* Lower bounds: none of the case's plans spills less, nor has a smaller total, with any spill.
     */
    arenaut_cost bound;
} assumption;

typedef struct cases {
    const arn_exact_input *in;
    arn_exact_output *out;
    arenaut_error *err;
    assumption *all;
    uint32_t n_all, room;
    arn_id_list stack, later; /* cases to do now, and in the next round */
    arn_region region;
    uint8_t *pair;     /* per buffer, for the case at work */
    uint8_t *first;    /* likewise, of the guess (first_case); NULL: done */
    uint32_t *pool_of; /* likewise, if pools are chosen; else the input's */
    uint64_t *offset;  /* likewise */
    uint32_t *choice;  /* likewise: pools that spill as little as the loads allow */
    arn_spill *spill;  /* if pools are chosen */
    arn_hosts hosts;
    uint32_t *order, n_order; /* roots of groups with several pools, the largest first */
    uint64_t limit;           /* the effort for a case, this round */
    arenaut_cost bound;       /* of all that is not done yet, when it was last looked for */
    uint64_t since_bound;     /* effort since then */
    arenaut_verdict verdict;
    bool fits; /* a plan was found, and that is enough */
} cases;

static bool add_id(const cases *x, arn_id_list *list, uint32_t id) {
    return arn_id_list_push(list, x->in->allocator, id);
}

static bool add_case(cases *x, arn_id_list *list, assumption what) {
    if (!arn_grow(x->in->allocator, (void **)&x->all, &x->room, (uint64_t)x->n_all + 1,
                  sizeof *x->all)) {
        return false;
    }
    x->all[x->n_all++] = what;
    return !list || add_id(x, list, x->n_all - 1);
}

/* ---- assumptions of a case ---- */

static uint32_t root_of(const cases *x, uint32_t b) { return x->hosts.root ? x->hosts.root[b] : b; }

static void assume_all(cases *x, uint32_t id) {
    const arenaut_problem *p = x->in->problem;
    const bool choosing = chooses_pools(x->in);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        x->pair[b] = ARN_EXACT_OPEN;
        if (choosing) x->pool_of[b] = arn_exact_only_pool(p, b);
    }
    for (; x->all[id].buffer != ARENAUT_NONE; id = x->all[id].parent) {
        const assumption *a = &x->all[id];
        if (a->pool == ARENAUT_NONE) x->pair[a->buffer] = a->pair;
        else x->pool_of[a->buffer] = a->pool;
    }
    for (uint32_t b = 0; choosing && b < p->n_buffers; b++)
        x->pool_of[b] = x->pool_of[root_of(x, b)];
}

/* Branches on a pair. Most pairs are better joined, so that the case in which it is apart comes in
 * the next round: otherwise the search would long be busy with cases that differ only in the last
 * of many pairs. */
static bool split_pair(cases *x, uint32_t id, uint32_t heir, arenaut_cost bound) {
    const assumption apart = {id, heir, ARENAUT_NONE, ARN_EXACT_APART, bound};
    const assumption joined = {id, heir, ARENAUT_NONE, ARN_EXACT_JOINED, bound};
    return add_case(x, &x->later, apart) && add_case(x, &x->stack, joined);
}

/* Follows x->choice all the way down, and leaves the other ways for later on the stack. */
static bool split_pools(cases *x, uint32_t *id, arenaut_cost bound) {
    const arenaut_problem *p = x->in->problem;
    for (uint32_t i = 0; i < x->n_order; i++) {
        const uint32_t root = x->order[i], parent = *id;
        if (x->pool_of[root] != ARENAUT_NONE) continue;
        for (uint32_t k = p->n_pools; k-- > 0;) {
            const assumption a = {parent, root, k, 0, bound};
            if (!(arenaut_problem_pools(p, root) >> k & 1) || k == x->choice[root]) continue;
            if (!add_case(x, &x->stack, a)) return false;
        }
        const assumption chosen = {parent, root, x->choice[root], 0, bound};
        if (!add_case(x, NULL, chosen)) return false;
        *id = x->n_all - 1;
    }
    return true;
}

/* ---- one search ---- */

static arenaut_cost best_of(const cases *x) { return arn_plan_cost(x->out->spill, x->out->arena); }

/* Whether something better than the best plan may be found in the case. */
static bool may_improve(const cases *x, uint32_t id) {
    return arenaut_costs_less(x->all[id].bound, best_of(x));
}

static void raise_total(cases *x, uint32_t id, uint64_t total) {
    x->all[id].bound.total = arn_max_u64(x->all[id].bound.total, total);
}

/* Reports the progress of all cases together; the verdict may stop the search. */
static arenaut_verdict pass_progress(void *context, uint64_t best, uint64_t bound,
                                     uint64_t effort) {
    cases *x = context;
    (void)bound;
    if (!chooses_pools(x->in)) x->out->arena = arn_min_u64(x->out->arena, best);
    if (x->in->progress && x->verdict == ARENAUT_GO_ON) {
        x->verdict =
            x->in->progress(x->in->progress_context, x->out->arena,
                            arn_min_u64(x->bound.total, x->out->arena), x->out->effort + effort);
    }
    return x->verdict;
}

static arn_exact_case case_of(const cases *x, uint32_t pool) {
    const uint32_t *pool_of = chooses_pools(x->in) ? x->pool_of : x->in->pool_of;
    return arn_exact_case_of(x->in, x->pair, pool_of, pool);
}

/* Takes over a stop of the input's `poll`. The case at work is then not done: it goes back to the
 * open ones. */
static void take_stop(cases *x) {
    if (arn_poll_ended(x->in->poll)) x->verdict = x->in->poll->verdict;
}

static uint64_t effort_left(const cases *x) {
    return x->in->effort > x->out->effort ? x->in->effort - x->out->effort : 0;
}

/* Searches one pool for an arena smaller than `arena`. */
static arenaut_status search_pool(cases *x, uint32_t pool, uint64_t arena, uint64_t bound,
                                  arn_exact_output *found) {
    arn_exact_case c = case_of(x, pool);
    c.in.progress = pass_progress;
    c.in.progress_context = x;
    c.in.arena = arena;
    c.in.bound = bound;
    c.in.effort = arn_min_u64(x->limit, effort_left(x));
    if (chooses_pools(x->in)) c.in.enough = 0;
    const arenaut_status st = arn_exact_search(&c, found, x->err);
    take_stop(x);
    x->out->effort += found->effort;
    x->out->nodes += found->nodes;
    return st;
}

/* ---- a case of one pool ---- */

static void take_arena(cases *x, const arn_exact_output *found) {
    if (!found->improved) return;
    x->out->improved = true;
    x->out->arena = found->arena;
    x->fits = x->in->enough && found->arena <= x->in->enough;
}

static arenaut_status do_one_pool(cases *x, uint32_t id) {
    arn_exact_output found = {.offset = x->out->offset};
    const arenaut_status st =
        search_pool(x, x->in->pool, x->out->arena, x->all[id].bound.total, &found);
    if (st != ARENAUT_OK) return st;
    take_arena(x, &found);
    if (found.open_pair != ARENAUT_NONE) {
        const arenaut_cost bound = arn_plan_cost(0, found.bound);
        return split_pair(x, id, found.open_pair, bound) ? st : arn_no_memory(x->err);
    }
    if (found.stopped_by == ARENAUT_STOP_PROOF) {
        if (x->in->enough && found.bound < x->out->arena) x->fits = true;
        return st;
    }
    x->all[id].bound.total = found.bound;
    return add_id(x, &x->later, id) ? st : arn_no_memory(x->err);
}

/* ---- a case of all pools ---- */

/* Lower bounds of each pool, and so of their sum; *possible is false if some pool is infeasible. */
static arenaut_status bound_pools(cases *x, uint32_t id, uint64_t *bound, bool *possible) {
    *possible = true;
    for (uint32_t k = 0; k < x->in->problem->n_pools && *possible; k++) {
        const arn_exact_case c = case_of(x, k);
        const arenaut_status st =
            arn_exact_bound_pool(&c, &bound[k], possible, &x->out->effort, x->err);
        take_stop(x);
        if (st != ARENAUT_OK) return st;
    }
    if (*possible) raise_total(x, id, arn_exact_sum_bounds(x->in->problem, bound));
    return ARENAUT_OK;
}

/* The least arena of each pool, with all groups assigned. Stops at a pair to branch on. */
static arenaut_status fill_pools(cases *x, uint32_t id, uint64_t *bound, uint64_t *arena,
                                 uint32_t *open_pair, bool *possible) {
    const uint32_t n_pools = x->in->problem->n_pools;
    *open_pair = ARENAUT_NONE;
    for (uint32_t k = 0; k < n_pools; k++) {
        const uint64_t others = arn_exact_sum_bounds(x->in->problem, bound) - bound[k];
        /* If less is spilled than in the best plan, any plan is a better one. */
        const uint64_t most =
            x->all[id].bound.spill < x->out->spill ? ARENAUT_UNPLACED : x->out->arena;
        const uint64_t room = most == ARENAUT_UNPLACED ? most : most > others ? most - others : 0;
        arn_exact_output found = {.offset = x->offset};
        /* Arenas are multiples of the alignment, so that those below `room` are those below: */
        const uint64_t below =
            room == ARENAUT_UNPLACED ? room : arn_aligned(room, x->in->problem->pool[k].align);
        const arenaut_status st = search_pool(x, k, below, bound[k], &found);
        if (st != ARENAUT_OK) return st;
        if (x->verdict != ARENAUT_GO_ON) return ARENAUT_STOPPED;
        *open_pair = found.open_pair;
        arena[k] = found.improved ? found.arena : ARENAUT_UNPLACED;
        if (found.bound == ARENAUT_UNPLACED || found.bound >= room) {
            *possible = false;
            return st;
        }
        bound[k] = arn_max_u64(bound[k], found.bound);
        if (*open_pair != ARENAUT_NONE) break;
    }
    raise_total(x, id, arn_exact_sum_bounds(x->in->problem, bound));
    return ARENAUT_OK;
}

static void take_pools(cases *x, uint64_t spill, const uint64_t *arena) {
    const arenaut_problem *p = x->in->problem;
    uint64_t total = 0;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (arena[k] == ARENAUT_UNPLACED || !arn_add(total, arena[k], &total)) return;
    }
    if (!arenaut_costs_less(arn_plan_cost(spill, total), best_of(x))) return;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        x->out->pool_of[b] = x->pool_of[b];
        x->out->offset[b] = x->offset[b];
    }
    x->out->improved = true;
    x->out->spill = spill;
    x->out->arena = total;
    x->fits = x->in->enough > 0;
    pass_progress(x, total, 0, 0);
}

/* The case with all groups assigned to pools. */
static arenaut_status do_filled_pools(cases *x, uint32_t id) {
    uint64_t bound[ARENAUT_MAX_POOLS], arena[ARENAUT_MAX_POOLS];
    uint32_t open_pair;
    bool possible;
    arenaut_status st = bound_pools(x, id, bound, &possible);
    if (st != ARENAUT_OK || !possible) return st;
    if (!may_improve(x, id)) return st;
    st = fill_pools(x, id, bound, arena, &open_pair, &possible);
    if (st != ARENAUT_OK || !possible) return st;
    const arenaut_cost least = x->all[id].bound;
    if (open_pair != ARENAUT_NONE) {
        return split_pair(x, id, open_pair, least) ? st : arn_no_memory(x->err);
    }
    take_pools(x, least.spill, arena);
    if (!may_improve(x, id)) return st;
    return add_id(x, &x->later, id) ? st : arn_no_memory(x->err);
}

/* A lower bound of the spill of the case's plans, and a choice of pools for it; *possible is false
 * if the case is pruned, as none of its plans can be better than the best. */
static arenaut_status bound_spill(cases *x, uint32_t id, bool *possible) {
    const arn_spill_question question = {.pool_of = x->pool_of,
                                         .most = x->out->spill,
                                         .sixteenths = 16,
                                         .states = ARN_SPILL_FEW_STATES,
                                         .choice = x->choice,
                                         .poll = x->in->poll};
    arn_spill_answer answer;
    const arenaut_status st = arn_spill_least(x->spill, &question, &answer, x->err);
    if (st != ARENAUT_OK) return st;
    arenaut_cost *bound = &x->all[id].bound;
    x->out->effort += answer.effort;
    take_stop(x);
    if (answer.ended) return ARENAUT_STOPPED;
    *possible = answer.least != ARENAUT_UNPLACED;
    if (!*possible) return st;
    bound->spill = arn_max_u64(bound->spill, answer.least);
    *possible = may_improve(x, id);
    return st;
}

static void fill_choice(cases *x) {
    const arenaut_problem *p = x->in->problem;
    for (uint32_t i = 0; i < x->n_order; i++) {
        const uint32_t root = x->order[i];
        uint32_t *pool = &x->choice[root];
        if (x->pool_of[root] != ARENAUT_NONE) *pool = x->pool_of[root];
        if (*pool == ARENAUT_NONE) *pool = arn_lowest_pool(p, root);
    }
}

/* With all groups assigned, the spill is known. */
static void settle_spill(cases *x, uint32_t id) {
    const arenaut_problem *p = x->in->problem;
    uint64_t spill = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        spill += arn_problem_spill(p, b, x->pool_of[b]);
    }
    x->all[id].bound.spill = spill;
}

static arenaut_status do_pools(cases *x, uint32_t id) {
    uint64_t bound[ARENAUT_MAX_POOLS];
    bool possible;
    arenaut_status st = bound_spill(x, id, &possible);
    if (st == ARENAUT_OK && possible) st = bound_pools(x, id, bound, &possible);
    if (st != ARENAUT_OK || !possible) return st;
    if (!may_improve(x, id)) return st;
    fill_choice(x);
    if (!split_pools(x, &id, x->all[id].bound)) return arn_no_memory(x->err);
    assume_all(x, id);
    settle_spill(x, id);
    return may_improve(x, id) ? do_filled_pools(x, id) : st;
}

/* ---- all cases ---- */

static arenaut_cost lesser(arenaut_cost a, arenaut_cost b) {
    return arenaut_costs_less(a, b) ? a : b;
}

/* Polls the stop callback during work that is not charged as effort. */
static void count(cases *x, uint64_t operations) {
    if (!arn_poll_after(x->in->poll, operations)) take_stop(x);
}

static void find_bound(cases *x) {
    arenaut_cost bound = best_of(x);
    x->since_bound = 0;
    count(x, (uint64_t)x->stack.n + x->later.n);
    for (uint32_t k = 0; k < x->stack.n; k++) bound = lesser(bound, x->all[x->stack.ids[k]].bound);
    for (uint32_t k = 0; k < x->later.n; k++) bound = lesser(bound, x->all[x->later.ids[k]].bound);
    if (arenaut_costs_less(x->bound, bound)) x->bound = bound;
    x->out->spill_bound = x->bound.spill;
}

static bool goes_on(const cases *x) {
    return x->verdict == ARENAUT_GO_ON && !x->fits && effort_left(x) > 0;
}

static arenaut_status do_round(cases *x) {
    while (x->stack.n > 0 && goes_on(x)) {
        const uint32_t id = x->stack.ids[x->stack.n - 1];
        x->stack.n--;
        if (!may_improve(x, id)) continue;
        assume_all(x, id);
        const uint64_t before = x->out->effort;
        const arenaut_status st = chooses_pools(x->in) ? do_pools(x, id) : do_one_pool(x, id);
        if (st == ARENAUT_STOPPED)
            return add_id(x, &x->later, id) ? ARENAUT_OK : arn_no_memory(x->err);
        if (st != ARENAUT_OK) return st;
        if (x->out->effort == before) x->out->effort++; /* so that every loop ends */
        count(x, x->in->problem->n_buffers);
        x->since_bound += x->out->effort - before;
        /* A bound found earlier holds as well: looking through all cases after each is quadratic.
         */
        if (x->since_bound >= (uint64_t)x->stack.n + x->later.n) find_bound(x);
    }
    return ARENAUT_OK;
}

/* The cases of the next round become those of this one, the first on top. */
static void begin_round(cases *x) {
    const arn_id_list again = x->later;
    x->later = x->stack;
    x->later.n = 0;
    x->stack = again;
    for (uint32_t i = 0, k = x->stack.n; i + 1 < k; i++) {
        const uint32_t id = x->stack.ids[i];
        x->stack.ids[i] = x->stack.ids[--k];
        x->stack.ids[k] = id;
    }
    if (x->limit <= UINT64_MAX / 2) x->limit *= 2;
}

/* A case in which no pair is open: it adds nothing to the proof, but finds plans. */
static arenaut_status do_closed_case(cases *x, uint64_t limit, arenaut_stop *why) {
    arn_exact_output found = {.offset = x->out->offset};
    const uint64_t usual = x->limit;
    x->limit = limit;
    const arenaut_status st = search_pool(x, x->in->pool, x->out->arena, x->in->bound, &found);
    x->limit = usual;
    if (st != ARENAUT_OK) return st;
    *why = found.stopped_by;
    take_arena(x, &found);
    return st;
}

static arenaut_status do_first_case(cases *x) {
    arenaut_stop why;
    if (!x->first || !goes_on(x)) return ARENAUT_OK;
    for (uint32_t b = 0; b < x->in->problem->n_buffers; b++) x->pair[b] = x->first[b];
    const arenaut_status st = do_closed_case(x, x->limit, &why);
    if (st == ARENAUT_OK && why == ARENAUT_STOP_PROOF) x->first = NULL;
    return st;
}

/* With nothing to start from, a plan in which every pair is apart. It costs one packing. */
static arenaut_status make_first_plan(cases *x) {
    arenaut_stop why;
    if (x->out->arena != ARENAUT_UNPLACED || chooses_pools(x->in)) return ARENAUT_OK;
    for (uint32_t b = 0; b < x->in->problem->n_buffers; b++) x->pair[b] = ARN_EXACT_APART;
    return do_closed_case(x, 0, &why);
}

static arenaut_status do_rounds(cases *x) {
    arenaut_status st = make_first_plan(x);
    if (st == ARENAUT_OK) st = do_first_case(x);
    if (st == ARENAUT_OK) st = do_round(x);
    while (st == ARENAUT_OK && x->stack.n == 0 && x->later.n > 0 && goes_on(x)) {
        begin_round(x);
        st = do_first_case(x);
        if (st == ARENAUT_OK) st = do_round(x);
    }
    return st;
}

static bool larger_buffer(const void *context, uint32_t a, uint32_t b) {
    const arenaut_problem *p = context;
    return p->size[a] > p->size[b];
}

static bool list_roots(cases *x) {
    const arenaut_problem *p = x->in->problem;
    x->order = arn_region_allocate(&x->region, p->n_buffers, 2 * sizeof *x->order);
    x->choice = arn_region_allocate(&x->region, p->n_buffers, sizeof *x->choice);
    if (!x->order || !x->choice || !arn_hosts_find(p, &x->region, &x->hosts)) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b) || root_of(x, b) != b) continue;
        if (arn_exact_only_pool(p, b) == ARENAUT_NONE) x->order[x->n_order++] = b;
    }
    arn_sort_ids(x->order, x->n_order, larger_buffer, p, x->order + p->n_buffers);
    return true;
}

static bool begin(cases *x) {
    const uint32_t n = x->in->problem->n_buffers;
    const arenaut_cost bound = arn_plan_cost(x->in->spill_bound, x->in->bound);
    const assumption nothing = {ARENAUT_NONE, ARENAUT_NONE, ARENAUT_NONE, 0, bound};
    x->limit = FIRST_LIMIT;
    x->bound = bound;
    if (!ARN_REGION_ARRAYS(&x->region, ARN_ARRAY(x->pair, n), ARN_ARRAY(x->pool_of, n),
                           ARN_ARRAY(x->offset, n)) ||
        !add_case(x, &x->stack, nothing)) {
        return false;
    }
    if (chooses_pools(x->in)) return list_roots(x);
    x->first = arn_region_allocate(&x->region, n, sizeof *x->first);
    return x->first && first_case(x->in, &x->region, x->first);
}

static void end(cases *x) {
    const bool done = (x->stack.n == 0 && x->later.n == 0) || x->fits;
    find_bound(x);
    x->out->bound = x->bound.total;
    if (x->out->arena == ARENAUT_UNPLACED && done) x->out->bound = ARENAUT_UNPLACED;
    const bool reached = !arenaut_costs_less(x->bound, best_of(x));
    if (x->out->bound > x->out->arena) x->out->bound = x->out->arena;
    x->out->stopped_by = done || reached                     ? ARENAUT_STOP_PROOF
                         : x->verdict == ARENAUT_OUT_OF_TIME ? ARENAUT_STOP_TIME
                         : x->verdict == ARENAUT_INTERRUPTED ? ARENAUT_STOP_INTERRUPT
                                                             : ARENAUT_STOP_EFFORT;
}

/* As arn_exact_run, by cases, for an *out in which nothing is found yet. */
static arenaut_status run_cases(const arn_exact_input *in, arn_exact_output *out,
                                arenaut_error *err) {
    cases x = {.in = in, .out = out, .err = err};
    arn_region_init(&x.region, in->allocator);
    arenaut_status st = ARENAUT_OK;
    out->spill_bound = in->spill_bound;
    if (chooses_pools(in)) {
        out->spill = ARENAUT_UNPLACED;
        st = arn_spill_new(in->problem, in->allocator, &x.spill, err);
    }
    if (st == ARENAUT_OK) st = begin(&x) ? do_rounds(&x) : arn_no_memory(err);
    if (st == ARENAUT_OK) end(&x);
    arn_spill_free(x.spill);
    ARN_RELEASE(in->allocator, x.all, x.stack.ids, x.later.ids);
    arn_region_free(&x.region);
    return st;
}

/* ---- the call ---- */

static bool has_pairs(const arn_exact_input *in) {
    for (uint32_t b = 0; b < in->problem->n_buffers; b++) {
        if (arn_exact_is_pair(in, b)) return true;
    }
    return false;
}

static arenaut_status run(const arn_exact_input *in, arn_exact_output *out, arenaut_error *err) {
    const arn_exact_case only = {*in, NULL};
    out->spill = out->spill_bound = 0;
    for (uint32_t k = 0; k < ARN_EXACT_PATHS; k++) out->path[k] = 0;
    if (!chooses_pools(in) && !has_pairs(in)) return arn_exact_search(&only, out, err);
    out->improved = false;
    out->arena = in->arena;
    out->bound = in->bound;
    out->open_pair = ARENAUT_NONE;
    out->effort = out->nodes = 0;
    return run_cases(in, out, err);
}

arenaut_status arn_exact_run(const arn_exact_input *in, arn_poll *poll, arn_exact_output *out,
                             arenaut_error *err) {
    arn_exact_input own = *in;
    own.poll = poll;
    return run(&own, out, err);
}

arn_exact_input arn_exact_input_of(const arenaut_planning *planning) {
    const arenaut_plan_options *options = planning->options;
    return (arn_exact_input){
        .problem = planning->problem,
        .arena = ARENAUT_UNPLACED,
        .bound = planning->plan->total_bound,
        .spill_bound = planning->plan->spill_bound,
        .enough = options->capacity,
        .effort = options->effort,
        .seed = options->seed,
        .threads = options->threads,
        .allocator = planning->allocator,
    };
}

arenaut_verdict arn_exact_notify(void *context) {
    arn_exact_notice *last = context;
    if (!last->options->progress) return ARENAUT_GO_ON;
    return last->options->progress(last->options->progress_context, &last->progress);
}
