/* Methods whose ops may run at the same time: lowering and replay are both held to a look at
 * every order in which the ops may run. */
#include "support/test.h"

#include <arenaut/check.h>
#include <arenaut/lowering.h>
#include <arenaut/planner.h>

#include "ir/program.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/oracle.h"
#include "support/programs.h"

enum { MOST_OPS = 6, MOST_TENSORS = 16 };

/* ---- small programs, and all their orders ---- */

typedef struct sketch_op {
    uint32_t n_inputs, inputs[3], output, stream, after; /* after: an op, or NONE */
    bool updates; /* input 0 in place: the output is another name of it; others are only read */
} sketch_op;

typedef struct sketch {
    uint32_t n_ops, n_tensors;
    uint32_t size[MOST_TENSORS];
    uint32_t owner[MOST_TENSORS]; /* itself, or the tensor that it is another name of */
    bool read[MOST_TENSORS];
    sketch_op ops[MOST_OPS];
} sketch;

/* Tensor 0 is the input. A tensor without a reader is a result, so no value is of no use. */
static sketch random_sketch(rng *r) {
    sketch s = {.n_ops = 2 + rng_below(r, MOST_OPS - 1), .n_tensors = 1};
    const uint32_t n_streams = 2 + rng_below(r, 3);
    s.size[0] = 1 + rng_below(r, 3);
    for (uint32_t i = 0; i < s.n_ops; i++) {
        sketch_op *op = &s.ops[i];
        op->n_inputs = rng_once_in(r, 3) ? 2 + rng_below(r, 2) : rng_below(r, 2);
        op->stream = rng_below(r, n_streams);
        op->after = i > 0 && rng_once_in(r, 4) ? rng_below(r, i) : ARENAUT_NONE;
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            op->inputs[k] = rng_below(r, s.n_tensors);
            s.read[op->inputs[k]] = true;
        }
        op->updates = op->n_inputs > 0 && rng_once_in(r, 4);
        op->output = s.n_tensors++;
        s.owner[op->output] = op->updates ? s.owner[op->inputs[0]] : op->output;
        s.size[op->output] = op->updates ? s.size[s.owner[op->output]] : 1 + rng_below(r, 3);
    }
    return s;
}

static arenaut_program *build(const sketch *s, const uint32_t *order, bool concurrent) {
    arenaut_program *p = new_program();
    uint32_t outputs[MOST_TENSORS], n_outputs = 0;
    begin_method(p, "main");
    for (uint32_t t = 0; t < s->n_tensors; t++) {
        if (s->owner[t] == t)
            add_tensor(p, NULL, s->size[t], t ? ARENAUT_INTERMEDIATE : ARENAUT_INPUT);
        else add_view(p, NULL, s->owner[t], 0, s->size[t]);
        if (!s->read[t] && t > 0) outputs[n_outputs++] = t;
    }
    for (uint32_t i = 0; i < s->n_ops; i++) {
        const sketch_op *op = &s->ops[order[i]];
        ADD_OP(p, .name = "OP", .kind = op->updates ? ARENAUT_OP_IN_PLACE : ARENAUT_OP_OUT,
               .inputs = op->inputs, .n_inputs = op->n_inputs, .outputs = &op->output,
               .n_outputs = 1, .stream = op->stream, .after = &op->after,
               .n_after = concurrent && op->after != ARENAUT_NONE);
    }
    SET_IO(p, 0, LIST(0), outputs, n_outputs);
    p->methods[0].concurrent = concurrent;
    finish_program(p);
    return p;
}

static bool touches(const sketch *s, const sketch_op *op, uint32_t owner, bool writes) {
    if (s->owner[op->output] == owner) return true;
    for (uint32_t k = 0; k < op->n_inputs && !writes; k++) {
        if (s->owner[op->inputs[k]] == owner) return true;
    }
    return false;
}

/* Whether op b must come after op a, which is listed before it. */
static bool must_follow(const sketch *s, uint32_t a, uint32_t b) {
    const sketch_op *x = &s->ops[a], *y = &s->ops[b];
    if (x->stream == y->stream || y->after == a) return true;
    for (uint32_t t = 0; t < s->n_tensors; t++) {
        if (s->owner[t] != t) continue;
        if (touches(s, x, t, true) && touches(s, y, t, false)) return true;
        if (touches(s, x, t, false) && touches(s, y, t, true)) return true;
    }
    return false;
}

typedef void (*on_order)(const sketch *s, const uint32_t *order, void *context);

static void each_order_from(const sketch *s, uint32_t *order, uint32_t n, on_order on,
                            void *context) {
    if (n == s->n_ops) {
        on(s, order, context);
        return;
    }
    for (uint32_t i = 0; i < s->n_ops; i++) {
        bool ready = true;
        for (uint32_t k = 0; k < n; k++) ready = ready && order[k] != i;
        for (uint32_t a = 0; a < i && ready; a++) {
            bool done = false;
            for (uint32_t k = 0; k < n; k++) done = done || order[k] == a;
            ready = done || !must_follow(s, a, i);
        }
        if (!ready) continue;
        order[n] = i;
        each_order_from(s, order, n + 1, on, context);
    }
}

static void each_order(const sketch *s, on_order on, void *context) {
    uint32_t order[MOST_OPS];
    each_order_from(s, order, 0, on, context);
}

static arenaut_program *as_listed(const sketch *s) {
    static const uint32_t order[MOST_OPS] = {0, 1, 2, 3, 4, 5};
    return build(s, order, true);
}

/* ---- lowering ---- */

typedef struct meetings {
    bool meet[MOST_TENSORS][MOST_TENSORS];
    uint32_t n_orders;
} meetings;

static bool overlap(const arenaut_problem *p, uint32_t a, uint32_t b) {
    const arenaut_interval *x = arenaut_problem_lifetimes(p, a);
    const arenaut_interval *y = arenaut_problem_lifetimes(p, b);
    return x->first < y->end && y->first < x->end;
}

static bool has_edge(const arenaut_problem *p, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        if (p->conflict[i].a == a && p->conflict[i].b == b) return true;
        if (p->conflict[i].a == b && p->conflict[i].b == a) return true;
    }
    return false;
}

static arenaut_lowering *lower(const arenaut_program *program) {
    arenaut_lowering *lowering = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_lower(program, arenaut_target_find("generic"), NULL, NULL, &lowering, &err),
              err);
    return lowering;
}

static void note_meetings(const sketch *s, const uint32_t *order, void *context) {
    meetings *m = context;
    arenaut_program *p = build(s, order, false);
    arenaut_lowering *l = lower(p);
    m->n_orders++;
    for (uint32_t a = 0; a < s->n_tensors; a++) {
        for (uint32_t b = 0; b < a; b++) {
            const uint32_t x = l->buffer[a], y = l->buffer[b];
            if (x == ARENAUT_NONE || y == ARENAUT_NONE || x == y) continue;
            m->meet[a][b] = m->meet[a][b] || overlap(l->problem, x, y);
        }
    }
    free_lowering(l, p);
}

TEST(values_conflict_exactly_if_they_meet_in_some_order) {
    rng r = {11};
    uint64_t edges = 0, orders = 0;
    for (uint32_t round = 0; round < 800; round++) {
        const sketch s = random_sketch(&r);
        meetings m = {.n_orders = 0};
        each_order(&s, note_meetings, &m);
        orders += m.n_orders;
        arenaut_program *p = as_listed(&s);
        arenaut_lowering *l = lower(p);
        edges += l->problem->n_conflicts;
        for (uint32_t a = 0; a < s.n_tensors; a++) {
            for (uint32_t b = 0; b < a; b++) {
                const uint32_t x = l->buffer[a], y = l->buffer[b];
                if (x == ARENAUT_NONE || y == ARENAUT_NONE || x == y) continue;
                const bool conflict = overlap(l->problem, x, y) || has_edge(l->problem, x, y);
                if (conflict != m.meet[a][b]) {
                    fail_msg("round %u: tensors %u and %u %s", round, b, a,
                             conflict ? "never meet" : "may meet");
                }
            }
        }
        free_lowering(l, p);
    }
    assert_true(edges > 400);
    assert_true(orders > 3000);
}

/* ---- replay ---- */

typedef struct trial {
    const arenaut_placement *placement;
    bool accepted; /* in all orders so far */
} trial;

static bool replay_accepts(const arenaut_program *p, const arenaut_placement *placement,
                           arenaut_rule *rule) {
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_check_replay(p, placement, NULL, NULL, &finding, &err);
    if (st != ARENAUT_OK && st != ARENAUT_REJECTED) fail_msg("%s", err.msg);
    if (rule) *rule = finding.rule;
    return st == ARENAUT_OK;
}

static void replay_order(const sketch *s, const uint32_t *order, void *context) {
    trial *t = context;
    if (!t->accepted) return;
    arenaut_program *p = build(s, order, false);
    t->accepted = replay_accepts(p, t->placement, NULL);
    arn_program_free(p);
}

TEST(replay_accepts_exactly_what_is_right_in_every_order) {
    rng r = {12};
    uint32_t accepted = 0, races = 0;
    for (uint32_t round = 0; round < 6000; round++) {
        const sketch s = random_sketch(&r);
        uint32_t pool[MOST_TENSORS];
        uint64_t offset[MOST_TENSORS] = {0};
        const uint32_t room = 3 + rng_below(&r, 12);
        for (uint32_t t = 0; t < s.n_tensors; t++) {
            pool[t] = 0;
            offset[t] = s.owner[t] == t ? rng_below(&r, room) : offset[s.owner[t]];
        }
        const arenaut_placement placement = {s.n_tensors, 1, pool, offset, NULL};
        trial t = {&placement, true};
        each_order(&s, replay_order, &t);
        arenaut_program *p = as_listed(&s);
        arenaut_rule rule;
        const bool right = replay_accepts(p, &placement, &rule);
        if (right != t.accepted) {
            fail_msg("round %u: %s, but %s", round, right ? "accepted" : "rejected",
                     t.accepted ? "every order is right" : "some order is wrong");
        }
        accepted += right;
        races += rule == ARENAUT_RULE_RACE;
        arn_program_free(p);
    }
    assert_true(accepted > 300);
    assert_true(races > 50);
}

TEST(plans_pass_the_checker_and_every_order) {
    rng r = {13};
    for (uint32_t round = 0; round < 150; round++) {
        const sketch s = random_sketch(&r);
        arenaut_program *p = as_listed(&s);
        arenaut_lowering *l = lower(p);
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        const arenaut_plan_options options = {.effort = 2000};
        assert_ok(arenaut_plan_make(l->problem, &options, NULL, &plan, &err), err);
        assert_plan_accepted(l->problem, plan);
        uint32_t pool[MOST_TENSORS];
        uint64_t offset[MOST_TENSORS];
        for (uint32_t t = 0; t < s.n_tensors; t++) {
            const uint32_t b = l->buffer[t];
            pool[t] = b == ARENAUT_NONE ? b : plan->pool[b];
            offset[t] = b == ARENAUT_NONE ? 0 : plan->offset[b];
        }
        const arenaut_placement placement = {s.n_tensors, 1, pool, offset, plan->arena};
        trial t = {&placement, true};
        each_order(&s, replay_order, &t);
        assert_true(t.accepted);
        assert_true(replay_accepts(p, &placement, NULL));
        arenaut_plan_free(plan);
        free_lowering(l, p);
    }
}

/* ---- by hand ---- */

/* Stream 0: a = f(x), b = g(a).  Stream 1: c = f(x), d = g(c).  y = a result of both. */
static arenaut_program *two_streams(bool concurrent, uint32_t after) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 8, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 8, ARENAUT_INTERMEDIATE);
    const uint32_t b = add_tensor(p, "b", 8, ARENAUT_INTERMEDIATE);
    const uint32_t c = add_tensor(p, "c", 8, ARENAUT_INTERMEDIATE);
    const uint32_t d = add_tensor(p, "d", 8, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 8, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "f", IN(x), OUT(a));
    ADD_OP(p, .name = "g", IN(a), OUT(b));
    ADD_OP(p, .name = "f", IN(x), OUT(c), .stream = 1, .after = &after,
           .n_after = after != ARENAUT_NONE);
    ADD_OP(p, .name = "g", IN(c), OUT(d), .stream = 1);
    ADD_OP(p, .name = "join", IN(b, d), OUT(y));
    SET_IO(p, 0, LIST(x), LIST(y));
    p->methods[0].concurrent = concurrent;
    finish_program(p);
    return p;
}

static uint64_t arena_of(arenaut_program *program) {
    arenaut_lowering *l = lower(program);
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_make(l->problem, NULL, NULL, &plan, &err), err);
    assert_plan_accepted(l->problem, plan);
    const uint64_t arena = plan->total;
    arenaut_plan_free(plan);
    free_lowering(l, program);
    return arena;
}

/* One after another three values are alive; at the same time x, a or b, c or d; in the second case
 * c depends on b, and can take the memory of a. */
TEST(streams_cost_memory_and_waiting_saves_it) {
    assert_int_equal(arena_of(two_streams(false, ARENAUT_NONE)), 24);
    assert_int_equal(arena_of(two_streams(true, ARENAUT_NONE)), 40);
    assert_int_equal(arena_of(two_streams(true, 1)), 24);
}

/* One stream is one sequence, whatever the method says. */
TEST(one_stream_is_one_sequence) {
    rng r = {14};
    for (uint32_t round = 0; round < 100; round++) {
        sketch s = random_sketch(&r);
        for (uint32_t i = 0; i < s.n_ops; i++) s.ops[i].stream = 3;
        arenaut_program *p = as_listed(&s);
        arenaut_lowering *l = lower(p);
        assert_int_equal(l->problem->n_conflicts, 0);
        free_lowering(l, p);
    }
}

/* y may be written over x only if x has no other reader still running then. */
static uint32_t same_base_pairs(uint32_t stream, bool depends) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t zero = 0;
    const uint32_t x = add_tensor(p, "x", 8, ARENAUT_INTERMEDIATE);
    const uint32_t z = add_tensor(p, "z", 8, ARENAUT_OUTPUT);
    const uint32_t y = add_tensor(p, "y", 8, ARENAUT_OUTPUT);
    const uint32_t one = 1;
    ADD_OP(p, .name = "make", OUT(x), .after = &zero);
    ADD_OP(p, .name = "read", IN(x), OUT(z), .stream = stream);
    ADD_OP(p, .name = "relu", IN(x), OUT(y), IN_PLACE(0, 0), .after = &one, .n_after = depends);
    SET_IO(p, 0, NO_LIST, LIST(z, y));
    p->methods[0].concurrent = true;
    finish_program(p);
    arenaut_lowering *l = lower(p);
    const uint32_t base = arenaut_problem_same_base(l->problem, l->buffer[y]);
    free_lowering(l, p);
    return base != ARENAUT_NONE;
}

TEST(a_result_replaces_its_operand_only_when_all_readers_are_through) {
    assert_int_equal(same_base_pairs(0, false), 1);
    assert_int_equal(same_base_pairs(1, false), 0);
    assert_int_equal(same_base_pairs(1, true), 1);
}

static void assert_not_lowered(arenaut_program *p, const char *message) {
    arenaut_lowering *l = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_lower(p, arenaut_target_find("generic"), NULL, NULL, &l, &err),
                     ARENAUT_UNSUPPORTED);
    assert_string_equal(err.msg, message);
    arn_program_free(p);
}

TEST(calls_and_jumps_in_concurrent_methods_are_refused) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    ADD_OP(p, .name = "call", .kind = ARENAUT_OP_CALL, CALLS(1));
    begin_submethod(p, "sub");
    p->methods[0].concurrent = true;
    finish_program(p);
    assert_not_lowered(p, "method 'main' is concurrent, and its ops call methods");

    p = new_program();
    begin_method(p, "main");
    ADD_OP(p, .name = "jump", .kind = ARENAUT_OP_JUMP, .target = 1);
    p->methods[0].concurrent = true;
    finish_program(p);
    assert_not_lowered(p, "method 'main' is concurrent, and its ops jump or move");

    p = new_program();
    begin_method(p, "main");
    ADD_OP(p, .name = "call", .kind = ARENAUT_OP_CALL, CALLS(1));
    begin_submethod(p, "sub");
    p->methods[1].concurrent = true;
    finish_program(p);
    assert_not_lowered(p, "method 'sub' is concurrent, and is no entry; only entries can be");
}

TEST(an_op_depends_on_earlier_ones_only) {
    assert_unreadable("program-json",
                      "{\"schema\": \"arenaut.program/1\", \"concurrent\": true, \"tensors\": [],\n"
                      " \"ops\": [{\"name\": \"a\", \"after\": [0]}]}",
                      ARENAUT_BAD_INPUT,
                      "op 'a', number 0 of its method, depends on op 0; it can depend on "
                      "earlier ops only");
}

TEST(streams_travel_as_json) {
    const char *const text =
        "{\"schema\": \"arenaut.program/1\", \"concurrent\": true,\n"
        " \"tensors\": [{\"name\": \"x\", \"bytes\": 4}, {\"name\": \"y\", \"bytes\": 4}],\n"
        " \"inputs\": [\"x\"], \"outputs\": [\"y\"],\n"
        " \"ops\": [{\"name\": \"a\", \"inputs\": [\"x\"]},\n"
        "           {\"name\": \"b\", \"outputs\": [\"y\"], \"stream\": 2, \"after\": [0]}]}";
    arenaut_document d = read_text("program-json", text);
    assert_true(d.program->methods[0].concurrent);
    assert_int_equal(d.program->ops[1].stream, 2);
    assert_int_equal(d.program->ops[1].n_after, 1);
    arenaut_text written = write_text("program-json", &d);
    arenaut_document again = read_text("program-json", written.bytes);
    assert_same_program(d.program, again.program);
    arenaut_document_free(&again);
    arenaut_text_free(&written);
    arenaut_document_free(&d);
}

static arenaut_status lower_and_replay(void *context, const arenaut_allocator *allocator) {
    const arenaut_program *p = context;
    arenaut_lowering *l = NULL;
    arenaut_finding finding;
    arenaut_status st = arenaut_lower(p, arenaut_target_find("generic"), NULL, allocator, &l, NULL);
    if (st != ARENAUT_OK) return st;
    uint32_t pool[MOST_TENSORS];
    uint64_t offset[MOST_TENSORS];
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        pool[t] = 0;
        offset[t] = 8 * t;
    }
    const arenaut_placement placement = {p->n_tensors, 1, pool, offset, NULL};
    st = arenaut_check_replay(p, &placement, NULL, allocator, &finding, NULL);
    arenaut_lowering_free(l);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    arenaut_program *p = two_streams(true, 0);
    survives_every_allocation_failure(lower_and_replay, p);
    arn_program_free(p);
}
