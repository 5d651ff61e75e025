/* Schedules with the least peak: compared with all schedules of small graphs, with the checker's
 * verdict on proofs and on spoiled proofs. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "analysis/dependences.h"
#include "ir/program.h"
#include "rewrite/order/program_order.h"
#include "rewrite/order/schedule_search.h"
#include "support/drawn.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/order_brute.h"
#include "support/programs.h"
#include "support/random.h"

enum { MAX_OPS = 12, MAX_BUFFERS = 2 * MAX_OPS, MAX_PAIRS = 200 };

typedef struct graph {
    arenaut_order_problem problem;
    uint64_t size[MAX_BUFFERS];
    uint8_t boundary[MAX_BUFFERS];
    arenaut_order_use uses[MAX_PAIRS];
    arenaut_order_dependence dependences[MAX_PAIRS];
    arenaut_order_right rights[MAX_PAIRS];
} graph;

/* Features of random graphs beyond ops with one result each. */
typedef enum mode {
    PLAIN,
    HELD,    /* live-in and live-out buffers */
    RIGHTS,  /* ops may write over their operands */
    WRITERS, /* buffers with several writers, in any sequence */
    ALL,
    N_MODES
} mode;

static void use(graph *g, uint32_t op, uint32_t buffer) {
    g->uses[g->problem.n_uses++] = (arenaut_order_use){op, buffer};
}

static void depend_on(graph *g, uint32_t op, uint32_t first) {
    g->dependences[g->problem.n_dependences++] = (arenaut_order_dependence){op, first};
}

static void permit(graph *g, uint32_t op, uint32_t made, uint32_t over) {
    const uint64_t least = g->size[made] < g->size[over] ? g->size[made] : g->size[over];
    g->rights[g->problem.n_rights++] = (arenaut_order_right){op, made, over, least};
}

static void begin(graph *g) {
    memset(g, 0, sizeof *g);
    g->problem.size = g->size;
    g->problem.boundary = g->boundary;
    g->problem.uses = g->uses;
    g->problem.dependences = g->dependences;
    g->problem.rights = g->rights;
}

/* `op` reads some of the results before it. */
static void read_some(graph *g, uint32_t op, mode m, rng *r) {
    const uint32_t n = op == 0 ? 0 : 1 + rng_below(r, 3);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t from =
            rng_once_in(r, 3) ? rng_below(r, op) : op - 1 - rng_below(r, op > 3 ? 3 : op);
        use(g, op, from);
        depend_on(g, op, from);
        const bool permits = (m == RIGHTS || m == ALL) && rng_once_in(r, 2);
        if (!permits) continue;
        permit(g, op, op, from);
        if (m == ALL)
            g->rights[g->problem.n_rights - 1].bytes = rng_below(r, (uint32_t)g->size[op] + 1);
    }
}

static void random_graph(graph *g, mode m, rng *r) {
    const uint32_t n = 1 + rng_below(r, MAX_OPS);
    begin(g);
    g->problem.n_ops = g->problem.n_buffers = n;
    for (uint32_t op = 0; op < n; op++) {
        g->size[op] = rng_once_in(r, 8) ? 0 : 1 + rng_below(r, 20);
        use(g, op, op);
        read_some(g, op, m, r);
        const bool boundary = (m == HELD || m == ALL) && rng_once_in(r, 3);
        if (boundary) g->boundary[op] = (uint8_t)(1 + rng_below(r, 3));
    }
    for (uint32_t i = 0; (m == WRITERS || m == ALL) && i < 3; i++) {
        const uint32_t b = g->problem.n_buffers++;
        g->size[b] = rng_below(r, 30);
        for (uint32_t k = 0; k < 3; k++) use(g, rng_below(r, n), b);
    }
}

/* ---- tests ---- */

static arenaut_order *find(const graph *g) {
    arenaut_order *order = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_order_find(&g->problem, NULL, NULL, &order, &err), err);
    return order;
}

static arenaut_status check(const graph *g, const arenaut_order *order, arenaut_error *err) {
    arenaut_finding finding;
    return arenaut_check_order(&g->problem, order, NULL, &finding, err);
}

/* A changed proof shows no false bound. */
static void spoil(const graph *g, arenaut_order *order, rng *r) {
    const uint64_t bound = order->bound;
    order->bound = order->peak + 1;
    assert_int_equal(check(g, order, NULL), ARENAUT_REJECTED);
    for (uint32_t i = 0; order->n_lines > 0 && i < 20; i++) {
        arenaut_order_line *line = &order->lines[rng_below(r, order->n_lines)];
        const arenaut_order_line kept = *line;
        line->rule = rng_once_in(r, 2) ? rng_below(r, ARENAUT_ORDER_RULE_COUNT) : line->rule;
        line->item = rng_below(r, g->problem.n_ops + 1);
        assert_int_equal(check(g, order, NULL), ARENAUT_REJECTED);
        *line = kept;
    }
    order->bound = bound;
}

/* A full list loses its last schedule to one that has to be in it, but only to a new one. */
TEST(a_schedule_that_has_to_be_laid_out_is_added_once) {
    enum { N_OPS = 3, N = ARN_SCHEDULE_MAX_NEAR };
    static const uint32_t schedules[N + 1][N_OPS] = {
        {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}};
    uint32_t near[N * N_OPS];
    uint64_t peaks[N];
    arenaut_order o = {.n_ops = N_OPS, .near = near, .near_peak = peaks};
    for (uint32_t i = 0; i < N; i++) arn_schedule_keep_near(&o, schedules[i], 10 + i);
    arn_schedule_add_near(&o, schedules[0], 10);
    assert_int_equal(o.n_near, N);
    assert_memory_equal(near, schedules, sizeof near);
    arn_schedule_add_near(&o, schedules[N], 99);
    assert_int_equal(o.n_near, N);
    assert_memory_equal(&near[(N - 1) * N_OPS], schedules[N], sizeof schedules[N]);
    assert_int_equal(peaks[N - 1], 99);
}

TEST(orders_of_random_graphs_are_best_and_proven) {
    rng r = {20};
    uint32_t searched = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        graph g;
        arenaut_error err = {0};
        random_graph(&g, (mode)(i % N_MODES), &r);
        arenaut_order *order = find(&g);
        assert_int_equal(order->peak, order_brute_peak(&g.problem));
        assert_int_equal(order->bound, order->peak);
        assert_ok(check(&g, order, &err), err);
        if (order->n_lines > 0) searched += order->lines[0].rule != ARENAUT_ORDER_CUT;
        spoil(&g, order, &r);
        arenaut_order_free(order);
    }
    assert_true(searched > 100); /* else the search is not tested */
}

/* ---- annealing ---- */

static void expect_schedule(const graph *g, const uint32_t *ops) {
    uint32_t at[MAX_OPS];
    memset(at, 0xFF, sizeof at);
    for (uint32_t i = 0; i < g->problem.n_ops; i++) at[ops[i]] = i;
    for (uint32_t i = 0; i < g->problem.n_ops; i++) assert_true(at[i] < g->problem.n_ops);
    for (uint32_t i = 0; i < g->problem.n_dependences; i++) {
        assert_true(at[g->dependences[i].first] < at[g->dependences[i].op]);
    }
}

/* Where ops have rights, annealing leaves them out of its sums. */
TEST(annealing_keeps_dependences_and_mostly_comes_to_the_least_peak) {
    rng r = {31};
    uint32_t best = 0, n = 0;
    for (uint32_t i = 0; i < 500; i++) {
        graph g;
        const mode m = (mode)(i % N_MODES);
        arenaut_error err = {0};
        arn_direction directions[2];
        arn_budget budget = arn_budget_make(0, NULL, NULL);
        uint32_t ops[MAX_OPS];
        random_graph(&g, m, &r);
        for (uint32_t k = 0; k < g.problem.n_ops; k++) ops[k] = k;
        assert_ok(arn_directions_make(&g.problem, &budget, NULL, directions, &err), err);
        arn_schedule_state *front = &directions[0].state;
        const uint64_t given = arn_schedule_cost_of(front, ops).peak;
        assert_true(arn_schedule_anneal(front, order_brute_peak(&g.problem), 100000, ops));
        expect_schedule(&g, ops);
        const uint64_t peak = arn_schedule_cost_of(front, ops).peak;
        if (m != RIGHTS && m != ALL) {
            assert_true(peak <= given);
            best += peak == order_brute_peak(&g.problem);
            n++;
        }
        arn_directions_free(directions);
    }
    assert_true(best > n - n / 20);
}

static arenaut_status anneal(void *context, const arenaut_allocator *allocator) {
    const graph *g = context;
    arn_direction directions[2];
    arn_budget budget = arn_budget_make(0, NULL, NULL);
    arenaut_error err = {0};
    uint32_t ops[MAX_OPS];
    for (uint32_t i = 0; i < g->problem.n_ops; i++) ops[i] = i;
    arenaut_status st = arn_directions_make(&g->problem, &budget, allocator, directions, &err);
    if (st != ARENAUT_OK) return st;
    if (!arn_schedule_anneal(&directions[0].state, 0, 2000, ops)) st = ARENAUT_NO_MEMORY;
    arn_directions_free(directions);
    return st;
}

TEST(annealing_survives_running_out_of_memory) {
    rng r = {14};
    graph g;
    random_graph(&g, ALL, &r);
    survives_every_allocation_failure(anneal, &g);
}

/* Each op reads up to three of the forty before it: nearly any may run at any time. Without
 * annealing the peak is 61 % above the bound, with it 29 %. */
TEST(large_tangles_come_close_to_their_bounds) {
    enum { OPS = 6000, NEAR = 40 };
    arenaut_order_problem p = {.n_ops = OPS, .n_buffers = OPS};
    uint64_t *size = calloc(OPS, sizeof *size);
    uint8_t *boundary = calloc(OPS, 1);
    arenaut_order_use *uses = calloc(4 * (size_t)OPS, sizeof *uses);
    arenaut_order_dependence *dependences = calloc(3 * (size_t)OPS, sizeof *dependences);
    arenaut_error err = {0};
    arenaut_finding finding;
    arenaut_order *order = NULL;
    rng r = {9};
    assert_true(size && boundary && uses && dependences);
    for (uint32_t op = 0; op < OPS; op++) {
        size[op] = UINT64_C(1) << rng_below(&r, 14);
        uses[p.n_uses++] = (arenaut_order_use){op, op};
        for (uint32_t k = 1 + rng_below(&r, 3); k > 0 && op > 0; k--) {
            const uint32_t from = op - 1 - rng_below(&r, op < NEAR ? op : NEAR);
            uses[p.n_uses++] = (arenaut_order_use){op, from};
            dependences[p.n_dependences++] = (arenaut_order_dependence){op, from};
        }
    }
    p.size = size;
    p.boundary = boundary;
    p.uses = uses;
    p.dependences = dependences;
    assert_ok(arenaut_order_find(&p, NULL, NULL, &order, &err), err);
    assert_ok(arenaut_check_order(&p, order, NULL, &finding, &err), err);
    assert_true(order->peak <= order->bound + order->bound * 2 / 5);
    arenaut_order_free(order);
    free(size);
    free(boundary);
    free(uses);
    free(dependences);
}

/* Each result is read once at most, some never. */
static void random_trees(graph *g, rng *r) {
    uint32_t unread[MAX_OPS], n = 0;
    begin(g);
    g->problem.n_ops = g->problem.n_buffers = 1 + rng_below(r, MAX_OPS);
    for (uint32_t op = 0; op < g->problem.n_ops; op++) {
        g->size[op] = rng_once_in(r, 8) ? 0 : 1 + rng_below(r, 20);
        g->boundary[op] = rng_once_in(r, 6) ? ARENAUT_LIVE_OUT : 0;
        use(g, op, op);
        for (uint32_t reads = rng_below(r, 4); reads > 0 && n > 0; reads--) {
            const uint32_t at = rng_below(r, n), from = unread[at];
            use(g, op, from);
            depend_on(g, op, from);
            unread[at] = unread[--n];
        }
        unread[n++] = op;
    }
}

TEST(trees_are_put_in_the_best_order_at_once) {
    rng r = {8};
    uint32_t branched = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        graph g;
        random_trees(&g, &r);
        arenaut_order *order = find(&g);
        assert_int_equal(order->heuristics[ARENAUT_ORDER_HEURISTIC_TREES],
                         order_brute_peak(&g.problem));
        branched += order->heuristics[ARENAUT_ORDER_HEURISTIC_GREEDY] > order->peak;
        arenaut_order_free(order);
    }
    assert_true(branched > 20);
}

/* Underived lines, in memory of exactly their size, with numbers out of range among them. */
static arenaut_order_line *make_up(rng *r, uint32_t n, uint32_t n_ops) {
    arenaut_order_line *lines = malloc((n ? n : 1) * sizeof *lines);
    assert_non_null(lines);
    for (uint32_t i = 0; i < n; i++) {
        lines[i].rule = rng_once_in(r, 30) ? UINT32_MAX - rng_below(r, 2)
                                           : rng_below(r, ARENAUT_ORDER_RULE_COUNT + 1);
        lines[i].item = rng_once_in(r, 30) ? UINT32_MAX - rng_below(r, 2) : rng_below(r, n_ops + 2);
    }
    return lines;
}

/* Whether a claim is accepted; it must then be true. */
static bool holds(const graph *g, const arenaut_order *claim, uint64_t least) {
    const arenaut_status st = check(g, claim, NULL);
    if (st != ARENAUT_OK) {
        assert_int_equal(st, ARENAUT_REJECTED);
        return false;
    }
    assert_true(claim->bound <= least && least <= claim->peak);
    return true;
}

TEST(made_up_proofs_and_those_of_other_graphs_show_nothing_that_is_wrong) {
    rng r = {77};
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < 1500; i++) {
        graph g, other;
        random_graph(&g, (mode)(i % N_MODES), &r);
        random_graph(&other, (mode)(i % N_MODES), &r);
        arenaut_order *order = find(&g), *others = find(&other);
        const uint64_t least = order->peak; /* as the test above has it */
        for (uint32_t k = 0; k < 6; k++) {
            arenaut_order claim = *order;
            claim.n_lines = k == 0 ? others->n_lines : rng_below(&r, 9);
            claim.lines = k == 0 ? others->lines : make_up(&r, claim.n_lines, g.problem.n_ops);
            claim.bound = rng_below(&r, (uint32_t)least + 3);
            accepted += holds(&g, &claim, least);
            if (k > 0) free(claim.lines);
        }
        order->ops[rng_below(&r, order->n_ops)] = rng_below(&r, order->n_ops + 2);
        holds(&g, order, least);
        arenaut_order_free(order);
        arenaut_order_free(others);
    }
    assert_true(accepted > 50); /* else nothing is tried that could be wrong */
}

/* Too large for all schedules: the checker accepts the proof, and no heuristic is better. */
TEST(orders_of_larger_graphs_are_proven) {
    rng r = {3};
    for (uint32_t i = 0; i < drawn(40); i++) {
        enum { N = 60 };
        static uint64_t size[N];
        static arenaut_order_use uses[4 * N];
        static arenaut_order_dependence dependences[4 * N];
        static arenaut_order_right rights[N];
        arenaut_order_problem p = {.n_ops = N,
                                   .n_buffers = N,
                                   .size = size,
                                   .uses = uses,
                                   .dependences = dependences,
                                   .rights = rights};
        for (uint32_t op = 0; op < N; op++) {
            const uint32_t n = op < 3 ? 0 : 1 + rng_below(&r, 2);
            size[op] = 1 + rng_below(&r, 100);
            uses[p.n_uses++] = (arenaut_order_use){op, op};
            for (uint32_t k = 0; k < n; k++) {
                const uint32_t from = op - 1 - rng_below(&r, op < 12 ? op : 12);
                uses[p.n_uses++] = (arenaut_order_use){op, from};
                dependences[p.n_dependences++] = (arenaut_order_dependence){op, from};
                const bool permits = i % 2 == 1 && k == 0 && rng_once_in(&r, 3);
                if (!permits) continue;
                rights[p.n_rights++] = (arenaut_order_right){op, op, from, size[op] / 2};
            }
        }
        arenaut_order *order = NULL;
        arenaut_finding finding;
        arenaut_error err = {0};
        assert_ok(arenaut_order_find(&p, NULL, NULL, &order, &err), err);
        assert_ok(arenaut_check_order(&p, order, NULL, &finding, &err), err);
        assert_int_equal(order->bound, order->peak);
        for (int heuristic = 0; heuristic < ARENAUT_ORDER_HEURISTIC_COUNT; heuristic++) {
            assert_true(order->peak <= order->heuristics[heuristic]);
        }
        order->bound++;
        assert_int_equal(arenaut_check_order(&p, order, NULL, &finding, &err), ARENAUT_REJECTED);
        arenaut_order_free(order);
    }
}

/* Four branches, a ─ b ─ c each, of which two or more at once are too large. */
static void four_branches(graph *g) {
    begin(g);
    g->problem.n_ops = g->problem.n_buffers = 14;
    for (uint32_t b = 0; b < 14; b++) {
        g->size[b] = (uint64_t[]){30, 9, 1}[b % 3];
        use(g, b, b);
    }
    for (uint32_t branch = 0; branch < 4; branch++) {
        const uint32_t at = 1 + 3 * branch;
        for (uint32_t k = 0; k < 3; k++) {
            use(g, at + k, k == 0 ? 0 : at + k - 1);
            depend_on(g, at + k, k == 0 ? 0 : at + k - 1);
        }
        use(g, 13, at + 2);
        depend_on(g, 13, at + 2);
    }
}

static arenaut_status find_and_check(void *context, const arenaut_allocator *allocator) {
    const graph *g = context;
    arenaut_order *order = NULL;
    arenaut_finding finding;
    arenaut_status st = arenaut_order_find(&g->problem, NULL, allocator, &order, NULL);
    if (st == ARENAUT_OK) st = arenaut_check_order(&g->problem, order, allocator, &finding, NULL);
    arenaut_order_free(order);
    return st;
}

TEST(a_search_survives_running_out_of_memory) {
    graph g;
    four_branches(&g);
    survives_every_allocation_failure(find_and_check, &g);
}

TEST(problems_that_make_no_sense_are_refused) {
    arenaut_order *order = NULL;
    arenaut_error err = {0};
    graph g;
    four_branches(&g);
    depend_on(&g, 2, 3);
    assert_int_equal(arenaut_order_find(&g.problem, NULL, NULL, &order, &err),
                     ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "op 2 depends on op 3, which is later in the given order"));
    four_branches(&g);
    use(&g, 14, 0);
    assert_int_equal(arenaut_order_find(&g.problem, NULL, NULL, &order, &err),
                     ARENAUT_BAD_ARGUMENT);
    four_branches(&g);
    permit(&g, 5, 9, 4);
    assert_int_equal(arenaut_order_find(&g.problem, NULL, NULL, &order, &err),
                     ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "does not use"));
    four_branches(&g);
    g.size[0] = ARENAUT_SIZE_MAX;
    assert_int_equal(arenaut_order_find(&g.problem, NULL, NULL, &order, &err), ARENAUT_TOO_LARGE);
    assert_null(order);
}

/* ---- programs ---- */

/* x is read under two aliases, then its memory gets new values: s ─ READ, v (a view of s) ─ READ,
 * WRITE s, READ s. */
static arenaut_program *make_aliases(bool stated) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t s = add_tensor(p, "s", 16, ARENAUT_INTERMEDIATE);
    const uint32_t v =
        stated ? add_view(p, "v", s, 0, 16) : add_tensor(p, "v", 16, ARENAUT_INTERMEDIATE);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_INTERMEDIATE);
    const uint32_t b = add_tensor(p, "b", 16, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "MAKE", IN(x), OUT(s));
    ADD_OP(p, .name = "RESHAPE", .kind = ARENAUT_OP_VIEW, IN(s), OUT(v));
    ADD_OP(p, .name = "READ", IN(v), OUT(a));
    ADD_OP(p, .name = "UPDATE", .kind = ARENAUT_OP_IN_PLACE, IN(s), OUT(s));
    ADD_OP(p, .name = "READ", IN(s), OUT(b));
    ADD_OP(p, .name = "JOIN", IN(a, b), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    return p;
}

static arenaut_program *aliases(void) { return make_aliases(true); }
static arenaut_program *unstated_aliases(void) { return make_aliases(false); }

/* Whether `op` depends on `first` in a program. */
static bool depends_on(arenaut_program *(*make)(void), uint32_t op, uint32_t first) {
    arenaut_program *p = make();
    arn_dependences dependences;
    arn_region region;
    bool found = false;
    arn_region_init(&region, NULL);
    assert_true(arn_dependences_find(p, &region, &dependences));
    for (uint32_t i = 0; i < dependences.n; i++) {
        found = found || (dependences.list[i].op == op && dependences.list[i].first == first);
    }
    arn_region_free(&region);
    arn_program_free(p);
    return found;
}

static arenaut_status check_orders(arenaut_program *(*make)(void), const uint32_t *ops) {
    arenaut_program *before = make(), *after = make();
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arn_reorder(after, ops, &rewrite, &err), err);
    const arenaut_status st = arenaut_check_rewrite(before, rewrite, NULL, &finding, NULL);
    assert_int_equal(finding.rule, st == ARENAUT_OK ? ARENAUT_RULE_NONE : ARENAUT_RULE_REWRITE);
    arn_rewrite_free(rewrite);
    arn_program_free(before);
    return st;
}

TEST(ops_keep_their_place_around_writes_to_what_they_read) {
    assert_int_equal(check_orders(aliases, (uint32_t[]){0, 1, 2, 3, 4, 5}), ARENAUT_OK);
    /* the view is read after its memory has new values */
    assert_int_equal(check_orders(aliases, (uint32_t[]){0, 1, 3, 2, 4, 5}), ARENAUT_REJECTED);
    /* the new values are read before they are written */
    assert_int_equal(check_orders(aliases, (uint32_t[]){0, 1, 2, 4, 3, 5}), ARENAUT_REJECTED);
    /* an alias is read before it is defined */
    assert_int_equal(check_orders(aliases, (uint32_t[]){0, 2, 1, 3, 4, 5}), ARENAUT_REJECTED);
}

TEST(a_view_shares_memory_even_if_its_tensor_does_not_say_so) {
    assert_int_equal(check_orders(unstated_aliases, (uint32_t[]){0, 1, 2, 3, 4, 5}), ARENAUT_OK);
    assert_int_equal(check_orders(unstated_aliases, (uint32_t[]){0, 1, 3, 2, 4, 5}),
                     ARENAUT_REJECTED);
    assert_true(depends_on(unstated_aliases, 3, 2));
}

/* a is read, by a READ and by an op that updates s: of its pairs the second operand or, without
 * pairs, the first; without results it may be either. */
static arenaut_program *make_added(bool paired, bool results) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_INTERMEDIATE);
    const uint32_t s = add_tensor(p, "s", 16, ARENAUT_INTERMEDIATE);
    const uint32_t b = add_tensor(p, "b", 16, ARENAUT_OUTPUT);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "MAKE", IN(x), OUT(a));
    ADD_OP(p, .name = "MAKE", IN(x), OUT(s));
    ADD_OP(p, .name = "READ", IN(a), OUT(b));
    if (paired) {
        ADD_OP(p, .name = "ADD", .kind = ARENAUT_OP_IN_PLACE, IN(a, s), OUT(s), IN_PLACE(0, 1));
    } else if (results) {
        ADD_OP(p, .name = "ADD", .kind = ARENAUT_OP_IN_PLACE, IN(s, a), OUT(s));
    } else {
        ADD_OP(p, .name = "ADD", .kind = ARENAUT_OP_IN_PLACE, .pure = true, IN(s, a));
    }
    ADD_OP(p, .name = "READ", IN(s), OUT(y));
    FINISH(p, LIST(x), LIST(b, y));
    return p;
}

static arenaut_program *added_to_first(void) { return make_added(false, true); }
static arenaut_program *added_to_pair(void) { return make_added(true, true); }
static arenaut_program *added_to_any(void) { return make_added(false, false); }

TEST(an_update_writes_no_operand_that_it_only_reads) {
    static const uint32_t late[] = {0, 1, 3, 4, 2}, early[] = {0, 1, 2, 4, 3};
    assert_false(depends_on(added_to_first, 3, 2));
    assert_false(depends_on(added_to_pair, 3, 2));
    assert_true(depends_on(added_to_any, 3, 2));
    assert_int_equal(check_orders(added_to_first, late), ARENAUT_OK);
    assert_int_equal(check_orders(added_to_pair, late), ARENAUT_OK);
    assert_int_equal(check_orders(added_to_any, late), ARENAUT_REJECTED);
    assert_true(depends_on(added_to_first, 4, 3) && depends_on(added_to_pair, 4, 3));
    assert_int_equal(check_orders(added_to_first, early), ARENAUT_REJECTED);
    assert_int_equal(check_orders(added_to_pair, early), ARENAUT_REJECTED);
}

/* Bytes 0 to 8 of w are p, 8 to 16 are q, and 4 to 12 r: each of p and q is written independently.
 */
static arenaut_program *pieces(void) {
    arenaut_program *a = new_program();
    begin_method(a, "main");
    const uint32_t x = add_tensor(a, "x", 16, ARENAUT_INPUT);
    const uint32_t w = add_tensor(a, "w", 16, ARENAUT_INTERMEDIATE);
    const uint32_t p = add_view(a, "p", w, 0, 8), q = add_view(a, "q", w, 8, 8);
    const uint32_t r = add_view(a, "r", w, 4, 8);
    const uint32_t s = add_tensor(a, "s", 16, ARENAUT_INTERMEDIATE);
    const uint32_t t = add_tensor(a, "t", 16, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(a, "y", 16, ARENAUT_OUTPUT);
    ADD_OP(a, .name = "MAKE", IN(x), OUT(p));
    ADD_OP(a, .name = "MAKE", IN(x), OUT(q));
    ADD_OP(a, .name = "READ", IN(w), OUT(s));
    ADD_OP(a, .name = "UPDATE", .kind = ARENAUT_OP_IN_PLACE, IN(q), OUT(q));
    ADD_OP(a, .name = "READ", IN(r), OUT(t));
    ADD_OP(a, .name = "JOIN", IN(s, t, p), OUT(y));
    FINISH(a, LIST(x), LIST(y));
    return a;
}

enum { PIECES_OPS = 6, PIECES_BYTES = 16 };

/* The values of w that each op reads in this schedule: per byte, the number of writes of each
 * piece. */
static void read_pieces(const uint32_t *ops, uint8_t seen[PIECES_OPS][PIECES_BYTES]) {
    static const struct {
        uint32_t begin, end;
        bool reads, writes;
    } does[PIECES_OPS] = {{0, 8, false, true}, {8, 16, false, true}, {0, 16, true, false},
                          {8, 16, true, true}, {4, 12, true, false}, {0, 8, true, false}};
    uint8_t bytes[PIECES_BYTES] = {0};
    memset(seen, 0, PIECES_OPS * PIECES_BYTES);
    for (uint32_t i = 0; i < PIECES_OPS; i++) {
        for (uint32_t k = does[ops[i]].begin; k < does[ops[i]].end; k++) {
            if (does[ops[i]].reads) seen[ops[i]][k] = bytes[k];
            if (does[ops[i]].writes) bytes[k] = (uint8_t)(1 + ops[i]);
        }
    }
}

static bool keeps(const arn_dependences *dependences, const uint32_t *ops) {
    uint32_t at[PIECES_OPS] = {0};
    bool kept = true;
    for (uint32_t i = 0; i < PIECES_OPS; i++) at[ops[i]] = i;
    for (uint32_t i = 0; i < dependences->n; i++) {
        kept = kept && at[dependences->list[i].op] > at[dependences->list[i].first];
    }
    return kept;
}

/* All schedules: those that keep the dependences are accepted, and accepted ones read the same
 * values. */
TEST(pieces_of_a_tensor_depend_on_pieces_that_share_bytes) {
    arenaut_program *p = pieces();
    arn_dependences dependences;
    arn_region region;
    uint32_t ops[PIECES_OPS] = {0, 1, 2, 3, 4, 5}, n_accepted = 0;
    uint8_t right[PIECES_OPS][PIECES_BYTES], seen[PIECES_OPS][PIECES_BYTES];
    arn_region_init(&region, NULL);
    assert_true(arn_dependences_find(p, &region, &dependences));
    read_pieces(ops, right);
    for (uint32_t code = 0; code < 720; code++) {
        uint32_t left[PIECES_OPS] = {0, 1, 2, 3, 4, 5};
        for (uint32_t i = 0, c = code; i < PIECES_OPS; c /= PIECES_OPS - i, i++) {
            const uint32_t k = c % (PIECES_OPS - i);
            ops[i] = left[k];
            memmove(left + k, left + k + 1, (PIECES_OPS - 1 - i - k) * sizeof *left);
        }
        const bool accepted = check_orders(pieces, ops) == ARENAUT_OK;
        if (keeps(&dependences, ops)) assert_true(accepted);
        read_pieces(ops, seen);
        if (accepted) assert_memory_equal(seen, right, sizeof right);
        n_accepted += accepted;
    }
    assert_int_equal(n_accepted, 2); /* p and q may be made in either order */
    arn_region_free(&region);
    arn_program_free(p);
}

/* A delegate lists all memory that it accesses, its writes included: MAKE t, DELEGATE (t, u), READ
 * u, READ t. */
static arenaut_program *delegated(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t t = add_tensor(p, "t", 16, ARENAUT_INTERMEDIATE);
    const uint32_t u = add_tensor(p, "u", 16, ARENAUT_INTERMEDIATE);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_OUTPUT);
    const uint32_t b = add_tensor(p, "b", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "MAKE", IN(x), OUT(t));
    ADD_OP(p, .name = "xnn", .kind = ARENAUT_OP_DELEGATE, IN(t, u));
    ADD_OP(p, .name = "READ", IN(u), OUT(a));
    ADD_OP(p, .name = "READ", IN(t), OUT(b));
    FINISH(p, LIST(x), LIST(a, b));
    return p;
}

TEST(readers_of_memory_that_a_delegate_may_write_stay_behind_it) {
    assert_int_equal(check_orders(delegated, (uint32_t[]){0, 1, 3, 2}), ARENAUT_OK);
    assert_int_equal(check_orders(delegated, (uint32_t[]){0, 2, 1, 3}), ARENAUT_REJECTED);
    assert_int_equal(check_orders(delegated, (uint32_t[]){0, 3, 1, 2}), ARENAUT_REJECTED);
    assert_int_equal(check_orders(delegated, (uint32_t[]){1, 0, 2, 3}), ARENAUT_REJECTED);
}

/* Control dependences of a program: the second op runs after the first one, whose result it does
 * not read. */
static arenaut_program *stated(void) {
    static const uint32_t first = 0;
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_OUTPUT);
    const uint32_t b = add_tensor(p, "b", 16, ARENAUT_OUTPUT);
    const uint32_t c = add_tensor(p, "c", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "ADD", IN(x), OUT(a));
    ADD_OP(p, .name = "SUB", IN(x), OUT(b), .after = &first, .n_after = 1);
    ADD_OP(p, .name = "MUL", IN(x), OUT(c));
    FINISH(p, LIST(x), LIST(a, b, c));
    return p;
}

TEST(control_dependences_are_kept) {
    assert_int_equal(check_orders(stated, (uint32_t[]){2, 0, 1}), ARENAUT_OK);
    assert_int_equal(check_orders(stated, (uint32_t[]){0, 2, 1}), ARENAUT_OK);
    arenaut_program *before = stated(), *after = stated();
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arn_reorder(after, (uint32_t[]){2, 0, 1}, &rewrite, &err), err);
    assert_int_equal(rewrite->program->ops[2].after[0], 1);
    rewrite->program->ops[2].n_after = 0;
    assert_int_equal(arenaut_check_rewrite(before, rewrite, NULL, &finding, NULL),
                     ARENAUT_REJECTED);
    arn_rewrite_free(rewrite);
    arn_program_free(before);
}

/* Two branches; `name` and `other` are the ops at their ends. */
static arenaut_program *two_ends(const char *name, const char *other) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_OUTPUT);
    const uint32_t b = add_tensor(p, "b", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .name = name, IN(x), OUT(a));
    ADD_OP(p, .name = other, IN(x), OUT(b));
    FINISH(p, LIST(x), LIST(a, b));
    return p;
}

/* A method without ops beside that of the branches, as training programs have them; or with one. */
static arenaut_program *with_method(bool busy) {
    arenaut_program *p = two_ends("ADD", "SUB");
    begin_method(p, "names");
    const uint32_t i = add_tensor(p, "i", 4, ARENAUT_INPUT);
    const uint32_t o = busy ? add_tensor(p, "o", 4, ARENAUT_OUTPUT) : i;
    if (busy) ADD_OP(p, .name = "NEG", IN(i), OUT(o));
    SET_IO(p, 1, LIST(i), LIST(o));
    finish_program(p);
    return p;
}

static arenaut_program *beside_names(void) { return with_method(false); }

TEST(methods_without_ops_do_not_matter) {
    const uint32_t swapped[] = {1, 0}, across[] = {0, 2, 1};
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    assert_int_equal(check_orders(beside_names, swapped), ARENAUT_OK);
    arenaut_program *p = with_method(true);
    assert_int_equal(arn_reorder(p, across, &rewrite, &err), ARENAUT_BAD_ARGUMENT);
    arn_program_free(p);
}

static arenaut_program *two_sums(void) { return two_ends("ADD", "SUB"); }
static arenaut_program *two_draws(void) { return two_ends("RANDOM_UNIFORM", "RANDOM_UNIFORM"); }
static arenaut_program *two_customs(void) { return two_ends("my_op", "its_op"); }
static arenaut_program *draw_and_sum(void) { return two_ends("RANDOM_UNIFORM", "ADD"); }
static arenaut_program *two_normals(void) {
    return two_ends("aten::normal.out", "aten::normal.out");
}
static arenaut_program *two_kernels(void) { return two_ends("aten::neg.out", "aten::abs.out"); }

/* An operator of an unknown library gets a cache, which an op reads after it. */
static arenaut_program *cached(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t cache = add_tensor(p, "cache", 16, ARENAUT_STATE);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_OUTPUT);
    const uint32_t b = add_tensor(p, "b", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "llama::update_cache.out", IN(x, cache), OUT(a));
    ADD_OP(p, .name = "aten::neg.out", IN(cache), OUT(b));
    FINISH(p, LIST(x), LIST(a, b));
    return p;
}

TEST(ops_that_may_do_more_than_compute_stay_in_their_order) {
    const uint32_t swapped[] = {1, 0};
    assert_int_equal(check_orders(two_sums, swapped), ARENAUT_OK);
    assert_int_equal(check_orders(draw_and_sum, swapped), ARENAUT_OK);
    assert_int_equal(check_orders(two_draws, swapped), ARENAUT_REJECTED);
    assert_int_equal(check_orders(two_customs, swapped), ARENAUT_REJECTED);
    assert_int_equal(check_orders(two_kernels, swapped), ARENAUT_OK);
    assert_int_equal(check_orders(two_normals, swapped), ARENAUT_REJECTED);
    assert_int_equal(check_orders(cached, swapped), ARENAUT_REJECTED);
    assert_false(depends_on(two_kernels, 1, 0));
    assert_true(depends_on(two_normals, 1, 0));
    assert_true(depends_on(cached, 1, 0));
}

/* x + first, x - second, as a file might number its tensors anew. */
static arenaut_program *with_constants(const char *first, const char *second, bool swapped) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t c = add_tensor(p, swapped ? second : first, 16, ARENAUT_CONSTANT);
    const uint32_t d = add_tensor(p, swapped ? first : second, 16, ARENAUT_CONSTANT);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_OUTPUT);
    const uint32_t b = add_tensor(p, "b", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "ADD", IN(x, swapped ? d : c), OUT(a));
    ADD_OP(p, .name = "SUB", IN(x, swapped ? c : d), OUT(b));
    FINISH(p, LIST(x), LIST(a, b));
    return p;
}

static arenaut_status check_renumbered(const char *first, const char *second, uint32_t c,
                                       uint32_t d) {
    arenaut_program *before = with_constants("c", "d", false);
    arenaut_program *after = with_constants(first, second, true);
    uint32_t ops[] = {0, 1};
    arenaut_origin tensors[5];
    arenaut_finding finding;
    for (uint32_t t = 0; t < 5; t++) {
        tensors[t] = (arenaut_origin){.tensor = t, .same = true, .axis = ARENAUT_NONE};
    }
    tensors[1].tensor = c;
    tensors[2].tensor = d;
    const arenaut_rewrite rewrite = {.program = after,
                                     .n_tensors = 5,
                                     .n_ops = 2,
                                     .n_ops_before = 2,
                                     .tensors = tensors,
                                     .ops = ops};
    const arenaut_status st = arenaut_check_rewrite(before, &rewrite, NULL, &finding, NULL);
    arn_program_free(before);
    arn_program_free(after);
    return st;
}

TEST(tensors_with_new_numbers_are_known_by_their_names) {
    assert_int_equal(check_renumbered("c", "d", 2, 1), ARENAUT_OK);
    assert_int_equal(check_renumbered("c", "d", 1, 2), ARENAUT_REJECTED); /* other operands */
    assert_int_equal(check_renumbered("d", "c", 2, 1), ARENAUT_REJECTED); /* the other constant */
    assert_int_equal(check_renumbered(NULL, NULL, 2, 1), ARENAUT_REJECTED);
    assert_int_equal(check_renumbered("c", "d", 2, 2), ARENAUT_REJECTED); /* one of them twice */
    assert_int_equal(check_renumbered("c", "d", 2, 9), ARENAUT_REJECTED);
    assert_int_equal(check_renumbered("c", "d", 2, ARENAUT_NONE), ARENAUT_REJECTED);
}

/* Shuffles the ops of a method, from `first` on, within their dependences. */
static void shuffle(const arenaut_order_problem *p, uint32_t first, rng *r, uint32_t *ops) {
    bool ran[200] = {false};
    for (uint32_t n = 0; n < p->n_ops;) {
        const uint32_t op = rng_below(r, p->n_ops);
        bool may = !ran[op];
        for (uint32_t i = 0; i < p->n_dependences; i++) {
            may = may && (p->dependences[i].op != op || ran[p->dependences[i].first]);
        }
        if (may) ops[first + n++] = first + op;
        ran[op] = ran[op] || may;
    }
}

/* Dependences of random programs: any schedule that keeps them computes the same. */
static uint32_t try_random_order(uint64_t seed, rng *r) {
    rng first = {seed}, second = {seed};
    arenaut_program *before = random_program(&first), *after = random_program(&second);
    const arenaut_target *target = arenaut_target_find("generic");
    arenaut_lowering *lowering = NULL;
    arn_program_order *order = NULL;
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    uint32_t ops[200];
    assert_ok(arenaut_lower(before, target, NULL, NULL, &lowering, &err), err);
    const arenaut_status st =
        arn_program_order_new(before, lowering, target, NULL, NULL, &order, &err);
    for (uint32_t i = 0; i < before->n_ops; i++) ops[i] = i;
    for (uint32_t i = 0; st == ARENAUT_OK && i < arn_program_order_count(order); i++) {
        const uint32_t m = arn_program_order_method(order, i);
        shuffle(arn_program_order_problem(order, i), before->methods[m].first_op, r, ops);
    }
    if (st == ARENAUT_OK) {
        assert_ok(arn_reorder(after, ops, &rewrite, &err), err);
        assert_ok(arenaut_check_rewrite(before, rewrite, NULL, &finding, &err), err);
    } else {
        assert_int_equal(st, ARENAUT_REFUSED);
    }
    arn_program_order_free(order);
    free_lowering(lowering, before);
    arn_program_free(after);
    return st == ARENAUT_OK;
}

TEST(orders_that_keep_the_dependences_of_a_program_compute_the_same) {
    rng r = {5};
    uint32_t tried = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) tried += try_random_order(seed, &r);
    assert_true(tried > 50);
}
