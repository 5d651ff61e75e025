/* Random schedules, within the dependences, of random programs with branches, loops, jumps, calls
 * and state: the program is run in them and must compute the same, and its live bytes are those of
 * lowering. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/rewrite.h>

#include "ir/program.h"
#include "rewrite/order/program_order.h"
#include "support/flow_program.h"
#include "support/flow_run.h"
#include "support/random.h"

enum { PROGRAMS = 1500, PATHS = 4, MOST_OPS = 400 };

typedef struct trial {
    const arenaut_target *target;
    arenaut_program *before, *after;
    arenaut_lowering *lowering, *again;
    arn_program_order *order;
    rng r;
} trial;

typedef struct counts {
    uint32_t moved, with_jumps, with_calls, runs, accepted, rejected;
} counts;

/* ---- any schedule ---- */

static bool is_alive(const arenaut_order_problem *p, const uint32_t *place, uint32_t b,
                     uint32_t at) {
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t i = 0; i < p->n_uses; i++) {
        if (p->uses[i].buffer != b) continue;
        const uint32_t k = place[p->uses[i].op];
        if (k < first) first = k;
        if (k > last) last = k;
    }
    const bool before = p->boundary[b] & ARENAUT_LIVE_IN, after = p->boundary[b] & ARENAUT_LIVE_OUT;
    if (first == UINT32_MAX) return before && after;
    return (before || first <= at) && (after || at <= last);
}

/* Without rights. */
static uint64_t peak_of(const arenaut_order_problem *p, const uint32_t *ops) {
    uint32_t place[MOST_OPS];
    uint64_t peak = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) place[ops[i]] = i;
    for (uint32_t at = 0; at < p->n_ops; at++) {
        uint64_t sum = 0;
        for (uint32_t b = 0; b < p->n_buffers; b++) {
            if (is_alive(p, place, b, at)) sum += p->size[b];
        }
        if (sum > peak) peak = sum;
    }
    return peak;
}

static void shuffle(const arenaut_order_problem *p, rng *r, uint32_t *ops) {
    bool ran[MOST_OPS] = {false};
    for (uint32_t n = 0; n < p->n_ops;) {
        const uint32_t op = rng_below(r, p->n_ops);
        bool may = !ran[op];
        for (uint32_t i = 0; i < p->n_dependences; i++) {
            may = may && (p->dependences[i].op != op || ran[p->dependences[i].first]);
        }
        if (may) ops[n++] = op;
        ran[op] = ran[op] || may;
    }
}

static void take_any(trial *t) {
    for (uint32_t i = 0; i < arn_program_order_count(t->order); i++) {
        const arenaut_order_problem *p = arn_program_order_problem(t->order, i);
        uint32_t ops[MOST_OPS];
        arenaut_error err;
        assert_true(p->n_ops <= MOST_OPS);
        shuffle(p, &t->r, ops);
        const uint64_t peak = peak_of(p, ops);
        const arenaut_order any = {.n_ops = p->n_ops, .ops = ops, .peak = peak, .bound = peak};
        assert_ok(arn_program_order_take(t->order, &any, &err), err);
    }
}

/* ---- live bytes ---- */

/* Of the buffers of one method, or of all; those live in all methods do not count by method. */
static uint64_t most_alive(const arenaut_program *p, const arenaut_lowering *l, uint32_t method,
                           bool always) {
    const arenaut_problem *problem = l->problem;
    uint64_t most = 0;
    for (int64_t step = 0; step < (int64_t)l->n_steps; step++) {
        uint64_t sum = 0;
        for (uint32_t b = 0; b < problem->n_buffers; b++) {
            const arenaut_tensor *tensor = &p->tensors[l->tensor[b]];
            const bool state = tensor->cls == ARENAUT_STATE || tensor->qualified_name;
            if (method != ARENAUT_NONE && (state || tensor->method != method)) continue;
            if (always && !state) continue;
            for (uint32_t k = 0; k < arenaut_problem_lifetime_count(problem, b); k++) {
                const arenaut_interval life = arenaut_problem_lifetimes(problem, b)[k];
                if (life.first <= step && step < life.end) sum += problem->size[b];
            }
        }
        if (sum > most) most = sum;
    }
    return most;
}

/* In one arena, or with one per method. */
static void require_alive(const trial *t) {
    const arenaut_program *p = t->after;
    const uint64_t said = arn_program_order_peaks(t->order).best;
    const uint64_t all = most_alive(p, t->again, ARENAUT_NONE, false);
    uint64_t apart = most_alive(p, t->again, ARENAUT_NONE, true);
    for (uint32_t m = 0; m < p->n_methods; m++) apart += most_alive(p, t->again, m, false);
    assert_true(said == all || said == apart);
}

/* ---- results ---- */

static void require_same_results(const trial *t, uint64_t seed, counts *n) {
    static flow_trace one, other;
    for (uint32_t i = 0; i < PATHS; i++) {
        const flow_path path = {.seed = seed * PATHS + i, .n_calls = 4};
        assert_true(flow_run(t->before, NULL, &path, &one));
        assert_true(flow_run(t->after, NULL, &path, &other));
        if (one.cut || other.cut) continue;
        assert_false(other.spoiled);
        assert_true(one.results == other.results);
        n->runs++;
    }
}

static bool has(const arenaut_program *p, bool jumps) {
    bool any = false;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const bool jump =
            p->ops[i].kind == ARENAUT_OP_JUMP_FALSE || p->ops[i].kind == ARENAUT_OP_JUMP;
        any = any || (jumps ? jump : p->ops[i].n_calls > 0);
    }
    return any;
}

static void try_orders(trial *t, uint64_t seed, counts *n) {
    uint32_t ops[MOST_OPS];
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err;
    bool moved = false, as_found;
    take_any(t);
    assert_true(t->before->n_ops <= MOST_OPS);
    assert_ok(arn_program_order_ops(t->order, t->before, 0, NULL, ops, &as_found, &err), err);
    for (uint32_t i = 0; i < t->before->n_ops; i++) moved = moved || ops[i] != i;
    assert_ok(arn_reorder(t->after, ops, &rewrite, &err), err);
    assert_ok(arenaut_check_rewrite(t->before, rewrite, NULL, &finding, &err), err);
    assert_ok(arenaut_lower(t->after, t->target, NULL, NULL, &t->again, &err), err);
    require_alive(t);
    require_same_results(t, seed, n);
    n->moved += moved;
    n->with_jumps += moved && has(t->before, true);
    n->with_calls += moved && has(t->before, false);
}

/* Operators of the runtime, since others may have effects; and no rights, since live bytes do not
 * show them. */
static arenaut_program *plain_program(uint64_t seed) {
    arenaut_program *p = flow_program(seed);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        p->ops[i].name = "KERNEL";
        if (p->ops[i].kind == ARENAUT_OP_OUT) p->ops[i].n_in_place = 0;
    }
    return p;
}

/* If the checker takes a program for the same, it computes the same, whatever made it: here some
 * ops are exchanged. */
static void try_exchange(uint64_t seed, rng *r, counts *n) {
    trial t = {.before = plain_program(seed), .after = plain_program(seed)};
    uint32_t ops[MOST_OPS];
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err;
    const arenaut_method *m = &t.before->methods[rng_below(r, t.before->n_methods)];
    assert_true(t.before->n_ops <= MOST_OPS);
    for (uint32_t i = 0; i < t.before->n_ops; i++) ops[i] = i;
    const uint32_t a = m->first_op + rng_below(r, m->n_ops + 1);
    const uint32_t b = m->first_op + rng_below(r, m->n_ops + 1);
    const bool moves =
        a != b && m->n_ops > 0 && a < m->first_op + m->n_ops && b < m->first_op + m->n_ops;
    if (moves) {
        ops[a] = b;
        ops[b] = a;
        assert_ok(arn_reorder(t.after, ops, &rewrite, &err), err);
        const arenaut_status st = arenaut_check_rewrite(t.before, rewrite, NULL, &finding, NULL);
        if (st == ARENAUT_OK) {
            require_same_results(&t, seed, n);
            n->accepted++;
        }
        n->rejected += st != ARENAUT_OK;
    }
    arn_program_free(t.before);
    arn_program_free(t.after);
}

static void try_program(uint64_t seed, counts *n) {
    static const char *const targets[] = {"generic", "torch", "executorch", "tflite-micro"};
    trial t = {.r = {seed}};
    arenaut_error err;
    t.target = arenaut_target_find(targets[rng_below(&t.r, 4)]);
    t.before = plain_program(seed);
    t.after = plain_program(seed);
    arenaut_status st = arenaut_lower(t.before, t.target, NULL, NULL, &t.lowering, &err);
    if (st == ARENAUT_OK) {
        st = arn_program_order_new(t.before, t.lowering, t.target, NULL, NULL, &t.order, &err);
        assert_true(st == ARENAUT_OK || st == ARENAUT_REFUSED);
    }
    if (st == ARENAUT_OK) try_orders(&t, seed, n);
    arn_program_order_free(t.order);
    arenaut_lowering_free(t.lowering);
    arenaut_lowering_free(t.again);
    arn_program_free(t.before);
    arn_program_free(t.after);
}

TEST(programs_compute_the_same_in_any_order_that_keeps_the_dependences) {
    counts n = {0};
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) try_program(seed, &n);
    /* It did not idle. */
    assert_true(n.moved > 250 && n.with_jumps > 60 && n.with_calls > 50);
    assert_true(n.runs > 4 * n.moved);
}

TEST(exchanged_ops_that_the_checker_accepts_compute_the_same) {
    counts n = {0};
    rng r = {1};
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) try_exchange(seed, &r, &n);
    assert_true(n.accepted > PROGRAMS / 20 && n.rejected > PROGRAMS / 4);
}
