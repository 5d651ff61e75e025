/* The search of one case: restarts of the tree, short runs at changing capacities in randomized
 * styles, beside one growing proof.
 *
 * How long a run takes varies wildly with its style (heavy tails: Gomes, Selman, Crato, Kautz
 * 2000), and hardly ever does a run that has gone wrong early find its way back; so runs are short,
 * little more than a node per item, and there are many. A part of them aims straight at the lower
 * bound. The others climb a ladder: they aim at the bound, then half way between bound and best
 * plan, then closer and closer to the best plan, and go back up whenever one succeeds:
 *
 *     capacity   best plan  ==========================
 *                target     - - - - - - - - - - - - -   proofs: nothing fits below?
 *                rung 2                 x    x
 *                rung 1            x              x     ordinary runs, as time goes by: two
 *                rung 0, the bound x                    fail on a rung, then one below is tried
 *
 * Beside them a proof is attempted just below the best plan, with a limit that doubles each time.
 * No-goods, the digests of failed states, are kept throughout. */
#include "planners/exact/packing_search.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/hash.h"
#include "planners/exact/item_model.h"

/* ---- bounds without a search ---- */

/* A case's model is built for its bound alone. Searching (case_branching.c) and proving (prove.c)
 * go through cases in different orders, but compare their bounds in the same way. */

arenaut_status arn_exact_bound_pool(const arn_exact_case *c, uint64_t *bound, bool *possible,
                                    uint64_t *effort, arenaut_error *err) {
    const arenaut_pool *pool = &c->in.problem->pool[c->in.pool];
    arn_exact_model m;
    const arenaut_status st = arn_exact_model_make(c, &m, err);
    if (st != ARENAUT_OK) return st;
    const uint64_t bytes = (uint64_t)m.bound * m.unit;
    *bound = arn_aligned(bytes, pool->align);
    *possible = !m.clash && bytes <= pool->capacity;
    *effort += (m.member_start[m.n_cliques] + m.n) / ARN_EXACT_OPERATIONS_PER_EFFORT + 1;
    arn_exact_model_free(&m);
    return ARENAUT_OK;
}

uint64_t arn_exact_sum_bounds(const arenaut_problem *p, const uint64_t *bound) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!arn_add(sum, bound[k], &sum)) return ARENAUT_SIZE_MAX;
    }
    return sum;
}

/* ---- open pairs ---- */

/* Checks a packing of the relaxation: is every buffer that the relaxation let overlap others clear
 * of them all the same? Only such buffers need a look, as all others were kept apart. */

bool arn_exact_list_pairs(const arn_exact_case *assumed, arn_region *region,
                          arn_exact_pairs *pairs) {
    const arn_exact_input *in = &assumed->in;
    const arenaut_problem *p = in->problem;
    const arn_exact_pairs none = {.in = in};
    *pairs = none;
    if (!p->same_base) return true;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(pairs->open, p->n_buffers),
                           ARN_ARRAY(pairs->covered, 2 * (size_t)p->n_buffers),
                           ARN_ARRAY(pairs->place, p->n_buffers))) {
        return false;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arn_exact_in_pool(in, b)) continue;
        const bool is_pair = arn_exact_is_pair(in, b);
        const bool open = arn_exact_assumed(assumed, b) == ARN_EXACT_OPEN;
        if (open && is_pair) pairs->open[pairs->n_open++] = b;
        if (is_pair) {
            pairs->covered[pairs->n_covered++] = arn_exact_smaller(p, b, p->same_base[b]);
        }
        if (arenaut_problem_inside(p, b) != ARENAUT_NONE) pairs->covered[pairs->n_covered++] = b;
    }
    return true;
}

/* Writes the place of each buffer of the pool in the packing, in bytes, into place[buffer]. Returns
 * the end of the highest of them, in units. O(buffers). */
static int64_t write_places(const arn_exact_state *s, uint64_t *place) {
    const arn_exact_model *m = s->model;
    int64_t top = m->highest_fixed;
    for (uint32_t i = 0; i < m->n; i++) {
        place[m->buffer[i]] = (uint64_t)s->offset[i] * m->unit;
        if (s->offset[i] + m->size[i] > top) top = s->offset[i] + m->size[i];
    }
    for (uint32_t k = 0; k < m->n_fixed; k++) place[m->fixed[k]] = m->fixed_at[k];
    return top;
}

/* A buffer that `b` must not overlap but does; ARENAUT_NONE. */
static uint32_t run_into(const arn_exact_pairs *pairs, uint32_t b) {
    const arenaut_problem *p = pairs->in->problem;
    for (uint32_t other = 0; other < p->n_buffers; other++) {
        if (!arn_poll_after(pairs->in->poll, 1)) break;
        if (other == b || !arn_exact_in_pool(pairs->in, other)) continue;
        if (arn_exact_collide(p, b, other, pairs->place)) return other;
    }
    return ARENAUT_NONE;
}

/* An open pair to do with either of two buffers, or else any. */
static uint32_t open_pair_of(const arn_exact_pairs *pairs, uint32_t a, uint32_t b) {
    for (uint32_t k = 0; k < pairs->n_open; k++) {
        const uint32_t heir = pairs->open[k], base = pairs->in->problem->same_base[heir];
        if (heir == a || heir == b || base == a || base == b) return heir;
    }
    return pairs->open[0];
}

uint32_t arn_exact_open_pair(arn_exact_pairs *pairs, const arn_exact_state *state) {
    if (pairs->n_open == 0) return ARENAUT_NONE;
    write_places(state, pairs->place);
    for (uint32_t k = 0; k < pairs->n_covered; k++) {
        const uint32_t b = pairs->covered[k], other = run_into(pairs, b);
        if (other != ARENAUT_NONE) return open_pair_of(pairs, b, other);
        /* Not everything was checked: then the packing does not count as right. */
        if (arn_poll_ended(pairs->in->poll)) return pairs->open[0];
    }
    return ARENAUT_NONE;
}

/* ---- search ---- */

enum {
    EARLY_RUNS = 64,  /* of which every second aims at the bound, later every fourth */
    FIRST_TRIES = 12, /* on a rung of the ladder, before the next one down */
    PROOF_SHARE = 6,  /* one part in so many of all nodes goes into the proof */
    FIRST_PROOF = 16, /* its first limit, in ordinary runs */
    NOISES = 4,
    RECENT = 4, /* successes that are remembered */
};

/* How a packing was found. */
typedef struct success {
    arn_exact_style style;
    int64_t *keys;
} success;

typedef struct search {
    const arn_exact_input *in;
    const arn_exact_case *assumed;
    arn_exact_output *out;
    arn_exact_model model;
    arn_exact_tree tree;
    arn_region region;
    int64_t *keys;
    uint32_t *ids;
    success successes[RECENT];
    uint32_t n_successes;
    uint64_t random;
    uint64_t best_end; /* the end of the best plan, before its arena is rounded up */
    int64_t low;       /* nothing fits below a lower capacity than this */
    int64_t target;    /* the highest capacity worth looking at; proven when low > target */
    arenaut_verdict verdict;
    bool out_of_effort;
    bool in_first_run;  /* which makes a plan, whatever its effort */
    uint64_t idle_work; /* work done between runs */
    arn_exact_pairs pairs;

    uint64_t run_nodes; /* the limit of an ordinary run */
    uint32_t rung, tries, max_tries, runs;
    uint64_t proof_limit, proof_nodes;
} search;

static uint64_t pool_align(const search *x) { return x->in->problem->pool[x->in->pool].align; }

static uint64_t arena_of(const search *x, int64_t top) {
    return arn_aligned((uint64_t)top * x->model.unit, pool_align(x));
}

static uint64_t spent_by(const search *x) {
    return (x->tree.state.work + x->idle_work) / ARN_EXACT_OPERATIONS_PER_EFFORT;
}

/* The highest capacity that would make for a smaller arena than the best one, and fits. */
static int64_t next_target(const search *x) {
    uint64_t bytes = x->in->problem->pool[x->in->pool].capacity;
    if (x->out->arena != ARENAUT_UNPLACED) {
        if (x->out->arena < pool_align(x)) return -1;
        bytes = arn_min_u64(bytes, x->out->arena - pool_align(x));
    }
    return (int64_t)arn_min_u64(bytes / x->model.unit, (uint64_t)x->model.upper_bound);
}

static bool finished(const search *x) {
    if (x->low > x->target) return true;
    return x->in->enough && x->best_end <= x->in->enough;
}

static bool stopped(const search *x) {
    return arn_poll_ended(x->in->poll) || x->out_of_effort || x->verdict != ARENAUT_GO_ON ||
           x->out->open_pair != ARENAUT_NONE;
}

static bool report(search *x) {
    if (arn_poll_ended(x->in->poll)) x->verdict = x->in->poll->verdict;
    if (x->in->progress && x->verdict == ARENAUT_GO_ON) {
        x->verdict = x->in->progress(x->in->progress_context, x->out->arena, arena_of(x, x->low),
                                     spent_by(x));
    }
    return x->verdict == ARENAUT_GO_ON;
}

static bool go_on(void *context) {
    search *x = context;
    if (spent_by(x) >= x->in->effort && !x->in_first_run) x->out_of_effort = true;
    return !x->out_of_effort && report(x);
}

/* ---- one run ---- */

/* Takes the packing as the best plan. False if it violates an open pair. */
static bool keep_packing(search *x) {
    x->out->open_pair = arn_exact_open_pair(&x->pairs, &x->tree.state);
    x->idle_work += (uint64_t)x->pairs.n_covered * x->in->problem->n_buffers;
    if (x->out->open_pair != ARENAUT_NONE) return false;
    const int64_t top = write_places(&x->tree.state, x->out->offset);
    x->out->improved = true;
    x->out->arena = arena_of(x, top);
    x->best_end = (uint64_t)top * x->model.unit;
    x->target = next_target(x);
    return true;
}

static uint32_t draw(search *x, uint32_t limit) {
    return (uint32_t)((arn_random_next(&x->random) >> 32) % limit);
}

/* Each instance has its own styles that work; on average, weighted choice is best. A style that has
 * led to a packing before may do so again. So half of the styles are drawn blindly, and half are
 * recent successes, with their orders disturbed a little. */
static void draw_style(search *x) {
    static const uint32_t noises[NOISES] = {0, 4, 9, 24};
    arn_exact_tree *t = &x->tree;
    const uint32_t n = x->model.n;
    if (x->n_successes > 0 && draw(x, 2)) {
        const uint32_t recent = x->n_successes < RECENT ? x->n_successes : RECENT;
        const success *old = &x->successes[(x->n_successes - 1 - draw(x, recent)) % RECENT];
        t->style = old->style;
        for (uint32_t i = 0; i < n; i++) x->keys[i] = old->keys[i];
        arn_exact_disturb(&x->random, noises[1 + draw(x, NOISES - 1)], x->keys, n);
    } else {
        t->style.choice =
            draw(x, 2) ? ARN_EXACT_FEWEST_BY_WEIGHT : (arn_exact_choice)draw(x, ARN_EXACT_CHOICES);
        t->style.from_the_end = draw(x, 3) == 0;
        t->style.look_ahead = draw(x, 3) == 0;
        arn_exact_make_keys(&x->model, draw(x, ARN_EXACT_ORDERS), x->keys);
        arn_exact_disturb(&x->random, noises[draw(x, NOISES)], x->keys, n);
    }
    arn_exact_rank(x->keys, n, x->ids, t->rank);
    if (draw(x, 2)) {
        for (uint32_t c = 0; c < x->model.n_cliques; c++) t->weight[c] = 1;
    }
    x->idle_work += 16 * (uint64_t)n + x->model.n_cliques;
}

static void remember_style(search *x) {
    success *new = &x->successes[x->n_successes++ % RECENT];
    new->style = x->tree.style;
    for (uint32_t i = 0; i < x->model.n; i++) new->keys[i] = x->keys[i];
}

static arn_exact_verdict run_at(search *x, int64_t capacity, uint64_t limit) {
    const int64_t low = x->low;
    const arn_exact_verdict verdict = arn_exact_tree_run(&x->tree, capacity, limit);
    if (verdict == ARN_EXACT_FOUND && !keep_packing(x)) return verdict;
    if (verdict == ARN_EXACT_FOUND && !x->in_first_run) remember_style(x);
    if (verdict == ARN_EXACT_IMPOSSIBLE && capacity >= x->low) x->low = capacity + 1;
    if (verdict == ARN_EXACT_FOUND || x->low != low) report(x);
    return verdict;
}

/* ---- the schedule ---- */

static void climb_down(search *x) {
    if (++x->tries < x->max_tries) return;
    x->tries = 0;
    x->rung++;
    if (x->rung < 63 && (x->target - x->low) >> x->rung > 0) return;
    /* Down to the best plan: up again, with more patience. */
    x->rung = 0;
    x->max_tries += x->max_tries / 2;
    x->run_nodes += x->run_nodes / 2;
}

static void climb_up(search *x) {
    x->tries = 0;
    if (x->rung > 0) x->rung--;
}

static void ordinary_run(search *x) {
    const bool at_bound = x->runs % (x->runs < EARLY_RUNS ? 2 : 4) == 0;
    const uint32_t rung = at_bound ? 0 : x->rung;
    const int64_t gap = x->target - x->low;
    x->runs++;
    draw_style(x);
    const int64_t capacity = rung == 0 ? x->low : x->target - (gap >> rung);
    const arn_exact_verdict verdict = run_at(x, capacity, x->run_nodes);
    if (verdict == ARN_EXACT_FOUND) climb_up(x);
    else if (!at_bound) climb_down(x);
}

static void proof_run(search *x) {
    draw_style(x);
    x->tree.style.choice = ARN_EXACT_FEWEST_BY_WEIGHT;
    x->tree.style.look_ahead = false;
    const uint64_t before = x->tree.visited;
    run_at(x, x->target, x->proof_limit);
    x->proof_nodes += x->tree.visited - before;
    x->proof_limit *= 2;
}

static void search_on(search *x) {
    while (!finished(x) && !stopped(x)) {
        if (x->proof_nodes + x->proof_limit <= x->tree.visited / PROOF_SHARE) proof_run(x);
        else ordinary_run(x);
        if (!finished(x) && !stopped(x)) go_on(x);
    }
}

/* ---- begin and end ---- */

/* The lowest top, in units, of an arena of at least `bytes` once it is rounded up. */
static int64_t lowest_top(const search *x, uint64_t bytes) {
    if (bytes < pool_align(x)) return 0;
    return (int64_t)((bytes - pool_align(x)) / x->model.unit + 1);
}

static arenaut_status begin(search *x, arenaut_error *err) {
    const arn_exact_model *m = &x->model;
    const int64_t known = lowest_top(x, x->in->bound);
    x->keys = arn_region_allocate(&x->region, m->n, sizeof *x->keys);
    x->ids = arn_region_allocate(&x->region, m->n, 2 * sizeof *x->ids);
    if (!x->keys || !x->ids || !arn_exact_list_pairs(x->assumed, &x->region, &x->pairs)) {
        return arn_no_memory(err);
    }
    for (uint32_t k = 0; k < RECENT; k++) {
        x->successes[k].keys = arn_region_allocate(&x->region, m->n, sizeof(int64_t));
        if (!x->successes[k].keys) return arn_no_memory(err);
    }
    const arenaut_status st = arn_exact_tree_init(&x->tree, m, &x->region, err);
    if (st != ARENAUT_OK) return st;
    x->tree.go_on = go_on;
    x->tree.context = x;
    x->random = x->in->seed;
    x->best_end = x->in->arena;
    x->low = m->bound;
    if (known > x->low) x->low = known;
    x->target = next_target(x);
    if (m->clash) x->low = INT64_MAX;
    x->run_nodes = 3 * (uint64_t)m->n / 2 + 32;
    x->max_tries = FIRST_TRIES;
    x->proof_limit = FIRST_PROOF * x->run_nodes;
    return ARENAUT_OK;
}

/* With no plan to start from, the first run is free to waste as much as it likes. */
static void first_plan(search *x) {
    if (x->out->arena != ARENAUT_UNPLACED || finished(x) || x->target < x->model.upper_bound)
        return;
    draw_style(x);
    x->in_first_run = true;
    run_at(x, x->target, UINT64_MAX);
    x->in_first_run = false;
}

static void end(search *x) {
    arn_exact_output *out = x->out;
    if (arn_poll_ended(x->in->poll) && x->verdict == ARENAUT_GO_ON)
        x->verdict = x->in->poll->verdict;
    out->effort = spent_by(x);
    out->nodes = x->tree.visited;
    out->stopped_by = arn_stop_of(x->verdict);
    if (finished(x)) out->stopped_by = ARENAUT_STOP_PROOF;
    if (x->low <= x->target) {
        out->bound = arena_of(x, x->low);
    } else if (out->arena != ARENAUT_UNPLACED) {
        out->bound = out->arena;
    } else {
        out->bound = ARENAUT_UNPLACED;
    }
}

arenaut_status arn_exact_search(const arn_exact_case *assumed, arn_exact_output *out,
                                arenaut_error *err) {
    const arn_exact_input *in = &assumed->in;
    search x = {.in = in, .assumed = assumed, .out = out};
    out->improved = false;
    out->open_pair = ARENAUT_NONE;
    out->arena = in->arena;
    out->bound = in->bound;
    out->effort = out->nodes = 0;
    arenaut_status st = arn_exact_model_make(assumed, &x.model, err);
    if (st == ARENAUT_STOPPED) {
        out->stopped_by = arn_stop_of(in->poll->verdict);
        return ARENAUT_OK;
    }
    if (st != ARENAUT_OK) return st;
    arn_region_init(&x.region, in->allocator);
    st = begin(&x, err);
    if (st == ARENAUT_OK) {
        first_plan(&x);
        search_on(&x);
        end(&x);
    }
    arn_region_free(&x.region);
    arn_exact_model_free(&x.model);
    return st;
}
