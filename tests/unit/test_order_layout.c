/* Schedules and offsets together, in small graphs: proven claims are compared with all schedules
 * and all layouts of each, and near-optimal schedules exist because one of them may need less. */
#include "support/test.h"

#include <arenaut/arenaut.h>

#include "support/problems.h"
#include "support/problems_brute.h"
#include "support/random.h"

enum { N_MOST = 7 };

/* Op i defines buffer i from its operands; a buffer that no op reads is live-out. If an operand
 * dies there, the result may partly overlap it, if they are a pair. */
typedef struct graph {
    uint32_t n;
    uint64_t size[N_MOST];
    uint8_t boundary[N_MOST];
    bool reads[N_MOST][N_MOST];
    arenaut_order_use uses[N_MOST * N_MOST];
    arenaut_order_dependence dependences[N_MOST * N_MOST];
    arenaut_order_right rights[BRUTE_SEPARATIONS];
    arenaut_separation pairs[BRUTE_SEPARATIONS]; /* as many as rights: operand, result, distance */
    arenaut_order_problem problem;
} graph;

/* Each right saves as much as all of the op together, as those of a program do. */
static void draw_overlaps(graph *g, rng *r, uint32_t op) {
    const uint32_t first = g->problem.n_rights;
    uint64_t all = 0;
    for (uint32_t from = 0; from < op; from++) {
        if (!g->reads[op][from] || g->problem.n_rights == BRUTE_SEPARATIONS) continue;
        const uint64_t distance = rng_below(r, (uint32_t)g->size[op]);
        const uint64_t both = g->size[op] - distance;
        g->pairs[g->problem.n_rights] = (arenaut_separation){from, op, (int64_t)distance};
        g->rights[g->problem.n_rights++] = (arenaut_order_right){op, op, from, 0};
        all += both < g->size[from] ? both : g->size[from];
    }
    if (all > g->size[op]) all = g->size[op];
    for (uint32_t i = first; i < g->problem.n_rights; i++) g->rights[i].bytes = all;
}

static void draw(graph *g, rng *r, bool overlap) {
    memset(g, 0, sizeof *g);
    g->n = 4 + rng_below(r, N_MOST - 3);
    g->problem = (arenaut_order_problem){.n_ops = g->n,
                                         .n_buffers = g->n,
                                         .size = g->size,
                                         .boundary = g->boundary,
                                         .uses = g->uses,
                                         .dependences = g->dependences,
                                         .rights = g->rights};
    for (uint32_t op = 0; op < g->n; op++) {
        g->size[op] = 1 + rng_below(r, 7);
        g->boundary[op] = ARENAUT_LIVE_OUT;
        g->uses[g->problem.n_uses++] = (arenaut_order_use){op, op};
        for (uint32_t k = 0; k < 2 && op > 0; k++) {
            const uint32_t from = op - 1 - rng_below(r, op < 4 ? op : 4);
            if (g->reads[op][from]) continue;
            g->reads[op][from] = true;
            g->boundary[from] = 0;
            g->uses[g->problem.n_uses++] = (arenaut_order_use){op, from};
            g->dependences[g->problem.n_dependences++] = (arenaut_order_dependence){op, from};
        }
        if (overlap) draw_overlaps(g, r, op);
    }
}

/* The end of a buffer's lifetime in a schedule: it is live from `at[b]` on. */
static uint32_t end_of(const graph *g, const uint32_t *at, uint32_t b) {
    uint32_t end = at[b] + 1;
    for (uint32_t op = 0; op < g->n; op++) {
        if (g->reads[op][b] && at[op] + 1 > end) end = at[op] + 1;
    }
    return g->boundary[b] ? g->n : end;
}

static bool dies_there(const graph *g, const uint32_t *at, const arenaut_separation *pair) {
    return end_of(g, at, pair->upper) == at[pair->lower] + 1;
}

static void places_in_time(const graph *g, const uint32_t *ops, uint32_t *at) {
    for (uint32_t i = 0; i < g->n; i++) at[ops[i]] = i;
}

static uint64_t planned(const graph *g, const uint32_t *ops) {
    uint32_t at[N_MOST];
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    places_in_time(g, ops, at);
    arenaut_problem *problem = new_problem();
    for (uint32_t b = 0; b < g->n; b++) add_box(problem, g->size[b], at[b], end_of(g, at, b));
    for (uint32_t i = 0; i < g->problem.n_rights; i++) {
        if (!dies_there(g, at, &g->pairs[i])) continue;
        assert_ok(arenaut_problem_add_separation(problem, &g->pairs[i], &err), err);
    }
    finish(problem);
    assert_ok(arenaut_plan_make(problem, NULL, NULL, &plan, &err), err);
    assert_ok(arenaut_check_plan(problem, plan, NULL, &finding, &err), err);
    const uint64_t total = plan->total;
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
    return total;
}

/* Whether there is a layout of this schedule in less than `below`. */
static bool fits_below(const graph *g, const uint32_t *ops, uint64_t below) {
    brute_problem p = {.n_buffers = (int)g->n, .n_pools = 1};
    brute_places places;
    uint32_t at[N_MOST];
    long tries = 100000000;
    places_in_time(g, ops, at);
    p.pool[0].capacity = BRUTE_NOTHING;
    p.pool[0].align = 1;
    for (uint32_t b = 0; b < g->n; b++) {
        p.buffer[b] = (brute_buffer){.size = (int)g->size[b],
                                     .align = 1,
                                     .n_lives = 1,
                                     .first = {(int)at[b]},
                                     .end = {(int)end_of(g, at, b)},
                                     .pools = 1,
                                     .fixed = BRUTE_NOTHING,
                                     .same_base = BRUTE_NOTHING,
                                     .inside = BRUTE_NOTHING};
    }
    for (uint32_t i = 0; i < g->problem.n_rights; i++) {
        if (!dies_there(g, at, &g->pairs[i])) continue;
        const int k = p.n_separations++;
        p.separation[k].upper = (int)g->pairs[i].upper;
        p.separation[k].lower = (int)g->pairs[i].lower;
        p.separation[k].distance = (int)g->pairs[i].distance;
    }
    const brute_answer answer = brute_search(&p, (long)below, &tries, &places);
    assert_int_not_equal(answer, BRUTE_GAVE_UP);
    return answer == BRUTE_FOUND;
}

/* Whether any schedule that begins with these n ops has a layout in less than `below`. */
static bool any_fits_below(const graph *g, uint32_t *ops, uint32_t n, uint64_t below) {
    uint32_t ran = 0;
    uint64_t live = 0, saved = 0;
    for (uint32_t i = 0; i < n; i++) ran |= UINT32_C(1) << ops[i];
    for (uint32_t b = 0; b < g->n; b++) {
        bool wanted = ((ran >> b) & 1) && g->boundary[b];
        if (n > 0) wanted = wanted || b == ops[n - 1] || g->reads[ops[n - 1]][b];
        for (uint32_t op = 0; op < g->n && ((ran >> b) & 1); op++) {
            wanted = wanted || (g->reads[op][b] && !((ran >> op) & 1));
        }
        if (wanted) live += g->size[b];
    }
    for (uint32_t i = 0; i < g->problem.n_rights && n > 0; i++) {
        if (g->rights[i].op == ops[n - 1]) saved += g->rights[i].bytes;
    }
    if (live >= below + saved) return false;
    if (n == g->n) return fits_below(g, ops, below);
    for (uint32_t op = 0; op < g->n; op++) {
        bool ready = !((ran >> op) & 1);
        for (uint32_t b = 0; b < g->n; b++) ready = ready && (!g->reads[op][b] || ((ran >> b) & 1));
        ops[n] = op;
        if (ready && any_fits_below(g, ops, n + 1, below)) return true;
    }
    return false;
}

typedef struct counts {
    uint32_t graphs, tight, least, near;
} counts;

/* `tight`: laid out in the bound; `least`: no schedule can be laid out in less; `near`: a
 * near-optimal schedule is laid out in less than the best and the given one. */
static void try_graph(rng *r, bool overlap, counts *c) {
    graph g;
    uint32_t ops[N_MOST];
    const uint32_t given[N_MOST] = {0, 1, 2, 3, 4, 5, 6};
    arenaut_order *order = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    draw(&g, r, overlap);
    assert_ok(arenaut_order_find(&g.problem, NULL, NULL, &order, &err), err);
    assert_ok(arenaut_check_order(&g.problem, order, NULL, &finding, &err), err);
    uint64_t best = planned(&g, order->ops);
    if (best > order->bound && planned(&g, given) < best) best = planned(&g, given);
    const uint64_t without = best;
    for (uint32_t k = 0; k < order->n_near && best > order->bound; k++) {
        const uint64_t near = planned(&g, order->near + (size_t)k * g.n);
        assert_true(near >= order->near_peak[k]);
        if (near < best) best = near;
    }
    assert_true(best >= order->bound);
    assert_false(any_fits_below(&g, ops, 0, order->bound));
    c->graphs++;
    c->tight += best == order->bound;
    c->least += best == order->bound || !any_fits_below(&g, ops, 0, best);
    c->near += best < without;
    arenaut_order_free(order);
}

TEST(bounds_of_schedules_hold_for_all_schedules_and_places) {
    rng r = {17};
    counts c = {0};
    while (c.graphs < 1000) try_graph(&r, false, &c);
    assert_true(c.tight >= 950);
    assert_true(c.least >= 990);
    assert_true(c.near <= 1);
}

/* With partial overlaps, the peak says less about layouts: that is the purpose of near-optimal
 * schedules. */
TEST(bounds_hold_where_results_lie_over_operands) {
    rng r = {19};
    counts c = {0};
    while (c.graphs < 1000) try_graph(&r, true, &c);
    assert_true(c.tight >= 600);
    assert_true(c.least >= 980);
    assert_true(c.near >= 40);
}

/* A near-optimal schedule with a wrong peak, or that is no schedule. */
TEST(orders_near_the_best_are_checked_too) {
    rng r = {3};
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 100; i++) {
        graph g;
        arenaut_order *order = NULL;
        arenaut_finding finding;
        arenaut_error err = {0};
        draw(&g, &r, false);
        assert_ok(arenaut_order_find(&g.problem, NULL, NULL, &order, &err), err);
        for (uint32_t k = 0; k < order->n_near; k++) {
            uint32_t *ops = order->near + (size_t)k * g.n;
            order->near_peak[k]++;
            assert_int_equal(arenaut_check_order(&g.problem, order, NULL, &finding, NULL),
                             ARENAUT_REJECTED);
            order->near_peak[k]--;
            const uint32_t kept = ops[0];
            ops[0] = ops[g.n - 1];
            assert_int_equal(arenaut_check_order(&g.problem, order, NULL, &finding, NULL),
                             ARENAUT_REJECTED);
            ops[0] = kept;
            assert_int_equal(arenaut_check_order(&g.problem, order, NULL, &finding, NULL),
                             ARENAUT_OK);
            seen++;
        }
        arenaut_order_free(order);
    }
    assert_true(seen > 50);
}
