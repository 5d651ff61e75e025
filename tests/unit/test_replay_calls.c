/* Replay of methods that call each other: branches, loops, state that lasts from call to call, and
 * programs that are made to exhaust it. */
#include "support/replay_scene.h"

#include <time.h>

#include "support/fuse.h"

/* ---- branches ---- */

/*  main:  x ─IF─ r1 ─┐      then: t_in ─ t_tmp ─ t_out
 *         x ─IF─ r2 ─ADD─ y   else: e_in ─ e_out          both IFs call the same two */
typedef struct twocond {
    uint32_t x, c, r1, r2, y, t_in, t_tmp, t_out, e_in, e_out, add;
} twocond;

static twocond open_twocond(scene *s) {
    twocond t;
    open_scene(s);
    const uint32_t m = begin_method(s->p, "main");
    t.x = input(s, "x");
    t.c = input(s, "c");
    t.r1 = value(s, "r1");
    t.r2 = value(s, "r2");
    t.y = output(s, "y");
    ADD_OP(s->p, .name = "cond", .kind = ARENAUT_OP_IF, IN(t.c, t.x), OUT(t.r1), CALLS(1, 2));
    ADD_OP(s->p, .name = "cond", .kind = ARENAUT_OP_IF, IN(t.c, t.x), OUT(t.r2), CALLS(1, 2));
    t.add = ADD_OP(s->p, .name = "ADD", IN(t.r1, t.r2), OUT(t.y));
    const uint32_t yes = begin_submethod(s->p, "then");
    t.t_in = input(s, "t_in");
    t.t_tmp = value(s, "t_tmp");
    t.t_out = output(s, "t_out");
    ADD_OP(s->p, IN(t.t_in), OUT(t.t_tmp));
    ADD_OP(s->p, IN(t.t_tmp), OUT(t.t_out));
    const uint32_t no = begin_submethod(s->p, "else");
    t.e_in = input(s, "e_in");
    t.e_out = output(s, "e_out");
    ADD_OP(s->p, IN(t.e_in), OUT(t.e_out));
    SET_IO(s->p, m, LIST(t.x, t.c), LIST(t.y));
    SET_IO(s->p, yes, LIST(t.t_in), LIST(t.t_out));
    SET_IO(s->p, no, LIST(t.e_in), LIST(t.e_out));
    finish_program(s->p);
    return t;
}

TEST(branches_may_share_memory) {
    scene s;
    const twocond t = open_twocond(&s);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, t.e_in, t.t_tmp, 0);
    put(&s, t.e_out, t.t_in, 0);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, t.t_out, t.r2, 0); /* the result where the caller wants it */
    put(&s, t.e_out, t.r2, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* Submodules planned from offset 0, results in their memory: the second conditional runs
 * over the first one's result. */
TEST(a_branch_result_overwritten_by_the_next_conditional_is_rejected) {
    scene s;
    const twocond t = open_twocond(&s);
    put(&s, t.r1, t.t_tmp, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, t.add, t.r1, t.t_tmp);
    put(&s, t.r1, t.e_in, 0); /* only the other side does it */
    expect_at(&s, ARENAUT_RULE_CLOBBERED, t.add, t.r1, t.e_in);
    close_scene(&s);
}

TEST(a_tensor_that_one_branch_overwrites_is_gone) {
    scene s;
    const twocond t = open_twocond(&s);
    put(&s, t.e_out, t.x, 0); /* x is the second conditional's argument */
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 1, t.x, t.e_out);
    close_scene(&s);
}

TEST(a_callee_must_spare_its_callers_tensors) {
    scene s;
    open_scene(&s);
    const uint32_t m = begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), r = value(&s, "r"), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(a));
    ADD_OP(s.p, .kind = ARENAUT_OP_CALL, IN(x), OUT(r), CALLS(1));
    const uint32_t add = ADD_OP(s.p, IN(a, r), OUT(y));
    const uint32_t f = begin_submethod(s.p, "f");
    const uint32_t f_in = input(&s, "f_in"), f_out = output(&s, "f_out");
    ADD_OP(s.p, IN(f_in), OUT(f_out));
    SET_IO(s.p, m, LIST(x), LIST(y));
    SET_IO(s.p, f, LIST(f_in), LIST(f_out));
    finish_program(s.p);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, f_in, a, 0); /* the copy of the argument */
    expect_at(&s, ARENAUT_RULE_CLOBBERED, add, a, f_in);
    put(&s, f_in, x, 0); /* x has been read, and is copied onto itself */
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, f_in, x, 4); /* but not onto half of itself */
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 1, f_in, x);
    close_scene(&s);
}

/* ---- loops ---- */

/*  main:  WHILE(i, n) -> i'       cond: (ci, cn) -> ok      body: (bi, bn) ─ tmp ─ bo
 *  The second argument does not change, so it stays where the caller has it. */
typedef struct loop {
    uint32_t i, n, r, ci, cn, ok, bi, bn, tmp, bo, op;
} loop;

static loop open_loop(scene *s) {
    loop l;
    open_scene(s);
    const uint32_t m = begin_method(s->p, "main");
    l.i = input(s, "i");
    l.n = input(s, "n");
    l.r = output(s, "r");
    l.op = ADD_OP(s->p, .name = "WHILE", .kind = ARENAUT_OP_WHILE, IN(l.i, l.n), OUT(l.r),
                  CALLS(1, 2));
    const uint32_t cond = begin_submethod(s->p, "cond");
    l.ci = input(s, "ci");
    l.cn = input(s, "cn");
    l.ok = output(s, "ok");
    ADD_OP(s->p, .name = "LESS", IN(l.ci, l.cn), OUT(l.ok));
    const uint32_t body = begin_submethod(s->p, "body");
    l.bi = input(s, "bi");
    l.bn = input(s, "bn");
    l.tmp = value(s, "tmp");
    l.bo = output(s, "bo");
    ADD_OP(s->p, IN(l.bi, l.bn), OUT(l.tmp));
    ADD_OP(s->p, IN(l.tmp), OUT(l.bo));
    SET_IO(s->p, m, LIST(l.i, l.n), LIST(l.r));
    SET_IO(s->p, cond, LIST(l.ci, l.cn), LIST(l.ok));
    SET_IO(s->p, body, LIST(l.bi, l.bn), LIST(l.bo));
    finish_program(s->p);
    return l;
}

TEST(condition_and_body_may_share_memory) {
    scene s;
    const loop l = open_loop(&s);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, l.bi, l.ci, 0);
    put(&s, l.bn, l.ok, 0);
    put(&s, l.tmp, l.cn, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* The first turn is fine; the condition of the second finds n gone. */
TEST(a_body_that_clobbers_the_conditions_input_is_rejected) {
    scene s;
    const loop l = open_loop(&s);
    put(&s, l.tmp, l.n, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, l.op, l.n, l.tmp);
    close_scene(&s);
}

TEST(a_condition_that_clobbers_what_the_loop_carries_is_rejected) {
    scene s;
    const loop l = open_loop(&s);
    put(&s, l.ok, l.r, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, l.op, l.r, l.ok);
    close_scene(&s);
}

TEST(a_body_may_use_the_memory_of_what_it_is_about_to_replace) {
    scene s;
    const loop l = open_loop(&s);
    put(&s, l.tmp, l.r, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* ---- state, several methods, several calls ---- */

/*  main: x, s ─ASSIGN─ s' (a view of s);  (s', x) ─ADD─ y
 *  other: z ─ w, not knowing of s */
typedef struct stateful {
    uint32_t x, s, after, y, z, w;
} stateful;

static stateful open_stateful(scene *s) {
    stateful t;
    open_scene(s);
    const uint32_t m = begin_method(s->p, "main");
    t.x = input(s, "x");
    t.s = add_tensor(s->p, "s", 16, ARENAUT_STATE);
    t.after = add_view(s->p, "after", t.s, 0, 16);
    t.y = output(s, "y");
    ADD_OP(s->p, .name = "copy_", .kind = ARENAUT_OP_IN_PLACE, IN(t.s, t.x), OUT(t.after));
    ADD_OP(s->p, .name = "ADD", IN(t.after, t.x), OUT(t.y));
    const uint32_t o = begin_method(s->p, "other");
    t.z = input(s, "z");
    t.w = output(s, "w");
    ADD_OP(s->p, IN(t.z), OUT(t.w));
    SET_IO(s->p, m, LIST(t.x), LIST(t.y));
    SET_IO(s->p, o, LIST(t.z), LIST(t.w));
    finish_program(s->p);
    s->offset[t.after] = s->offset[t.s];
    return t;
}

TEST(state_lasts_from_call_to_call) {
    scene s;
    const stateful t = open_stateful(&s);
    put(&s, t.z, t.x, 0);
    put(&s, t.w, t.y, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(state_overwritten_later_in_its_own_method_is_lost) {
    scene s;
    const stateful t = open_stateful(&s);
    s.p->ops[1].inputs = (const uint32_t[]){t.x, t.x}; /* nothing reads s after the update */
    put(&s, t.y, t.s, 0);
    expect_at(&s, ARENAUT_RULE_STATE_LOST, ARENAUT_NONE, t.s, t.y);
    close_scene(&s);
}

TEST(state_overwritten_by_another_method_is_lost) {
    scene s;
    const stateful t = open_stateful(&s);
    put(&s, t.w, t.s, 4);
    expect_at(&s, ARENAUT_RULE_STATE_LOST, ARENAUT_NONE, t.s, t.w);
    assert_int_equal(s.finding.method, 1);
    s.options.only_method = arenaut_id(0); /* by itself main is fine */
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(state_that_is_clobbered_before_it_is_ever_used_is_lost) {
    scene s;
    const stateful t = open_stateful(&s);
    put(&s, t.x, t.s, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 0, t.s, t.x);
    close_scene(&s);
}

TEST(state_without_place_is_the_runtimes) {
    scene s;
    const stateful t = open_stateful(&s);
    s.pool[t.s] = s.pool[t.after] = ARENAUT_NONE;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/*     s ── view ── v        r ── A ── y
 *
 * Nothing reads s, but the runtime loads both before the first call, in an order of its own. A
 * state that no op names is not loaded: lists of tensors in files have such. */
TEST(first_values_of_two_states_over_each_other_are_lost) {
    for (int named = 0; named < 2; named++) {
        for (int later = 0; later < 2; later++) {
            scene s;
            open_scene(&s);
            begin_method(s.p, "main");
            uint32_t r = 0, other = 0;
            if (later) other = add_tensor(s.p, "s", 8, ARENAUT_STATE);
            r = add_tensor(s.p, "r", 8, ARENAUT_STATE);
            if (!later) other = add_tensor(s.p, "s", 8, ARENAUT_STATE);
            const uint32_t v = add_view(s.p, "v", other, 0, 8), y = output(&s, "y");
            if (named) ADD_OP(s.p, .name = "view", .kind = ARENAUT_OP_VIEW, IN(other), OUT(v));
            ADD_OP(s.p, .name = "A", IN(r), OUT(y));
            FINISH(s.p, NO_LIST, LIST(y));
            put(&s, v, other, 0);
            expect(&s, ARENAUT_RULE_NONE);
            put(&s, other, r, 4);
            put(&s, v, other, 0);
            if (named) expect_at(&s, ARENAUT_RULE_STATE_LOST, 1, r, other);
            else expect(&s, ARENAUT_RULE_NONE);
            close_scene(&s);
        }
    }
}

/* prefill writes the cache, decode reads it: one memory, wherever each method names it. */
TEST(shared_state_must_lie_in_one_place) {
    scene s;
    open_scene(&s);
    uint32_t cache[2], x[2], y[2];
    for (uint32_t m = 0; m < 2; m++) {
        begin_method(s.p, m ? "decode" : "prefill");
        x[m] = input(&s, "x");
        y[m] = output(&s, "y");
        arenaut_tensor shared = arenaut_tensor_default();
        shared.name = m ? "decode.cache" : "prefill.cache";
        shared.qualified_name = "cache";
        shared.bytes = 16;
        shared.method = m;
        assert_ok(arenaut_program_add_tensor(s.p, &shared, &cache[m], &s.err), s.err);
        ADD_OP(s.p, .kind = ARENAUT_OP_IN_PLACE, IN(cache[m], x[m]), OUT(cache[m]));
        ADD_OP(s.p, IN(cache[m]), OUT(y[m]));
        SET_IO(s.p, m, LIST(x[m]), LIST(y[m]));
    }
    finish_program(s.p);
    put(&s, cache[1], cache[0], 0);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, cache[1], cache[0], 16);
    expect_at(&s, ARENAUT_RULE_STATE_LOST, 2, cache[1], cache[0]);
    close_scene(&s);
}

/* decode takes the cache for a constant; prefill writes it. */
TEST(a_constant_that_another_method_writes_is_state) {
    scene s;
    open_scene(&s);
    uint32_t cache[2], x[2], y[2];
    for (uint32_t m = 0; m < 2; m++) {
        begin_method(s.p, m ? "decode" : "prefill");
        x[m] = input(&s, "x");
        y[m] = output(&s, "y");
        arenaut_tensor shared = arenaut_tensor_default();
        shared.qualified_name = "cache";
        shared.cls = m ? ARENAUT_CONSTANT : ARENAUT_STATE;
        shared.bytes = 16;
        shared.method = m;
        assert_ok(arenaut_program_add_tensor(s.p, &shared, &cache[m], &s.err), s.err);
        if (m == 0) ADD_OP(s.p, .kind = ARENAUT_OP_IN_PLACE, IN(cache[0], x[0]), OUT(cache[0]));
        ADD_OP(s.p, IN(cache[m], x[m]), OUT(y[m]));
        SET_IO(s.p, m, LIST(x[m]), LIST(y[m]));
    }
    finish_program(s.p);
    put(&s, cache[1], cache[0], 0);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, x[1], cache[1], 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 2, cache[1], x[1]);
    close_scene(&s);
}

/* main calls init once; init's temporary lies in memory that main uses later. */
TEST(a_method_called_once_disturbs_the_first_call_only) {
    scene s;
    open_scene(&s);
    const uint32_t m = begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(a));
    ADD_OP(s.p, .kind = ARENAUT_OP_CALL_ONCE, CALLS(1));
    const uint32_t last = ADD_OP(s.p, IN(a), OUT(y));
    const uint32_t init = begin_submethod(s.p, "init");
    const uint32_t t = value(&s, "t");
    ADD_OP(s.p, OUT(t));
    SET_IO(s.p, m, LIST(x), LIST(y));
    SET_IO(s.p, init, NO_LIST, NO_LIST);
    finish_program(s.p);
    put(&s, t, y, 0);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, t, a, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, last, a, t);
    close_scene(&s);
}

/* Bytes that a method called once leaves in the caller's memory are there on the first call only,
 * unless they are state. */
TEST(a_result_of_a_method_called_once_must_be_state) {
    for (int kept = 0; kept < 2; kept++) {
        scene s;
        open_scene(&s);
        const uint32_t m = begin_method(s.p, "main");
        const uint32_t x = input(&s, "x"), y = output(&s, "y"),
                       v = add_tensor(s.p, "v", 16, kept ? ARENAUT_STATE : ARENAUT_INTERMEDIATE);
        ADD_OP(s.p, .kind = ARENAUT_OP_CALL_ONCE, OUT(v), CALLS(1));
        const uint32_t add = ADD_OP(s.p, IN(x, v), OUT(y));
        const uint32_t init = begin_submethod(s.p, "init");
        const uint32_t t = output(&s, "t");
        ADD_OP(s.p, OUT(t));
        SET_IO(s.p, m, LIST(x), LIST(y));
        SET_IO(s.p, init, NO_LIST, LIST(t));
        finish_program(s.p);
        if (kept) {
            expect(&s, ARENAUT_RULE_NONE);
        } else {
            expect_at(&s, ARENAUT_RULE_UNWRITTEN, add, v, v);
        }
        close_scene(&s);
    }
}

TEST(no_intermediate_outlives_its_call) {
    scene s;
    open_scene(&s);
    arenaut_tensor shared = arenaut_tensor_default(); /* of no method, and no state */
    uint32_t g;
    shared.bytes = 16;
    assert_ok(arenaut_program_add_tensor(s.p, &shared, &g, &s.err), s.err);
    begin_method(s.p, "writer");
    ADD_OP(s.p, OUT(g));
    begin_method(s.p, "reader");
    const uint32_t y = output(&s, "y"), read = ADD_OP(s.p, IN(g), OUT(y));
    finish_program(s.p);
    expect_at(&s, ARENAUT_RULE_UNWRITTEN, read, g, g);
    s.p->tensors[g].cls = ARENAUT_STATE;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(scratch_of_a_call_outlasts_what_it_calls) {
    scene s;
    open_scene(&s);
    const uint32_t m = begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), y = output(&s, "y"), w = scratch(&s, "w");
    ADD_OP(s.p, .kind = ARENAUT_OP_CALL, IN(x), OUT(y), SCRATCH(w), CALLS(1));
    const uint32_t f = begin_submethod(s.p, "f");
    const uint32_t f_in = input(&s, "f_in"), f_out = output(&s, "f_out");
    ADD_OP(s.p, IN(f_in), OUT(f_out));
    SET_IO(s.p, m, LIST(x), LIST(y));
    SET_IO(s.p, f, LIST(f_in), LIST(f_out));
    finish_program(s.p);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, f_out, w, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 0, w, f_out);
    close_scene(&s);
}

/* ---- hostile programs ---- */

TEST(calls_too_deep_are_refused) {
    for (uint32_t depth = 64; depth <= 65; depth++) {
        scene s;
        open_scene(&s);
        for (uint32_t m = 0; m < depth; m++) {
            if (m == 0) begin_method(s.p, NULL);
            else begin_submethod(s.p, NULL);
            if (m + 1 < depth) ADD_OP(s.p, .kind = ARENAUT_OP_CALL, CALLS(m + 1));
        }
        finish_program(s.p);
        assert_int_equal(replay(&s, NULL), depth > 64 ? ARENAUT_UNSUPPORTED : ARENAUT_OK);
        if (depth > 64) assert_non_null(strstr(s.err.msg, "64"));
        close_scene(&s);
    }
}

/* 2^40 calls from 40 methods. */
TEST(calls_that_multiply_are_refused) {
    scene s;
    open_scene(&s);
    for (uint32_t m = 0; m < 40; m++) {
        if (m == 0) begin_method(s.p, NULL);
        else begin_submethod(s.p, NULL);
        for (int i = 0; i < 2 && m + 1 < 40; i++)
            ADD_OP(s.p, .kind = ARENAUT_OP_CALL, CALLS(m + 1));
    }
    finish_program(s.p);
    const clock_t begin = clock();
    assert_int_equal(replay(&s, NULL), ARENAUT_UNSUPPORTED);
    print_message("given up after %.1f s\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
    assert_int_equal(s.finding.rule, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* ---- memory ---- */

static arenaut_status replay_once(void *context, const arenaut_allocator *allocator) {
    scene *s = context;
    s->err.code = ARENAUT_OK;
    const arenaut_status status = replay(s, allocator);
    if (status == ARENAUT_OK) assert_int_equal(s->err.code, ARENAUT_OK);
    return status;
}

TEST(running_out_of_memory_is_survived) {
    scene s;
    (void)open_twocond(&s);
    survives_every_allocation_failure(replay_once, &s);
    close_scene(&s);
    (void)open_loop(&s);
    survives_every_allocation_failure(replay_once, &s);
    close_scene(&s);
}
