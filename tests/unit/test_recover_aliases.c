/* recover-aliases: conclusions from order and places together, on programs that hold a plan. */
#include "support/test.h"

#include <arenaut/check.h>
#include <arenaut/pass.h>

#include "check/method_state.h"
#include "ir/program.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/programs.h"

/* A method with arenas of 4096 bytes each. */
static void begin(arenaut_program *p, const char *name, uint32_t n_pools) {
    const arenaut_given_pool pools[4] = {
        {4096, {0, 0}}, {4096, {0, 0}}, {4096, {0, 0}}, {4096, {0, 0}}};
    const uint32_t m = begin_method(p, name);
    arenaut_error err = {0};
    assert_ok(arn_program_set_given_pools(p, m, pools, n_pools, &err), err);
}

static uint32_t placed(arenaut_program *p, const char *name, uint64_t bytes, uint32_t pool,
                       uint64_t offset) {
    const uint32_t t = add_tensor(p, name, bytes, ARENAUT_INTERMEDIATE);
    p->tensors[t].given_pool = pool;
    p->tensors[t].given_offset = offset;
    return t;
}

static uint32_t at(arenaut_program *p, const char *name, uint64_t offset) {
    return placed(p, name, 64, 0, offset);
}

static void recover(arenaut_program *p) {
    const arenaut_pass_options options = {.target = arenaut_target_find("executorch")};
    arenaut_error err = {0};
    assert_ok(arenaut_passes_run(p, NULL, &options, NULL, NULL, &err), err);
}

static void expect_view(const arenaut_program *p, uint32_t view, uint32_t of, uint64_t offset) {
    assert_int_equal(p->tensors[view].view_of, of);
    assert_int_equal(p->tensors[view].view_offset, offset);
}

static void compute(arenaut_program *p, uint32_t from, uint32_t to) {
    ADD_OP(p, .name = "aten::neg.out", IN(from), OUT(to));
}

TEST(a_view_that_was_left_out_is_found) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), v = at(p, "v", 64), y = at(p, "y", 128);
    compute(p, x, a);
    compute(p, v, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    expect_view(p, v, a, 0);
    assert_int_equal(p->tensors[x].view_of, ARENAUT_NONE);
    assert_int_equal(p->tensors[y].view_of, ARENAUT_NONE);
    arenaut_lowering *l = lower_program(p, "executorch");
    expect_life(l, "a", "[1,3)");
    assert_int_equal(l->buffer[v], l->buffer[a]);
    free_lowering(l, p);
}

TEST(a_view_of_an_input_is_found) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), v = at(p, "v", 0), y = at(p, "y", 64);
    compute(p, v, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    expect_view(p, v, x, 0);
    arn_program_free(p);
}

TEST(the_last_to_touch_the_bytes_counts) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), b = at(p, "b", 64), v = at(p, "v", 64);
    const uint32_t y = at(p, "y", 128);
    compute(p, x, a);
    compute(p, x, b);
    compute(p, v, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    expect_view(p, v, b, 0);
    assert_int_equal(p->tensors[a].view_of, ARENAUT_NONE);
    arn_program_free(p);
}

TEST(a_part_keeps_its_distance) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), y = at(p, "y", 128);
    const uint32_t v = placed(p, "v", 16, 0, 96);
    compute(p, x, a);
    compute(p, v, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    expect_view(p, v, a, 32);
    arn_program_free(p);
}

/* Written in pieces that lie side by side, read as one, with nothing that spans it all. */
TEST(pieces_of_no_tensor_get_one) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), b = at(p, "b", 128), y = at(p, "y", 256);
    const uint32_t v = placed(p, "v", 64, 0, 96);
    compute(p, x, a);
    compute(p, x, b);
    compute(p, v, y);
    FINISH(p, LIST(x), LIST(y));
    const uint32_t n = p->n_tensors;
    recover(p);
    assert_int_equal(p->n_tensors, n + 1);
    assert_int_equal(p->tensors[n].bytes, 128);
    assert_int_equal(p->tensors[n].file_index, ARENAUT_NONE);
    expect_view(p, a, n, 0);
    expect_view(p, b, n, 64);
    expect_view(p, v, n, 32);
    arn_program_free(p);
}

TEST(a_whole_is_made_of_what_is_written_inside) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), b = at(p, "b", 128), y = at(p, "y", 256);
    const uint32_t all = placed(p, "all", 128, 0, 64);
    compute(p, x, a);
    compute(p, x, b);
    compute(p, all, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    expect_view(p, a, all, 0);
    expect_view(p, b, all, 64);
    arn_program_free(p);
}

TEST(view_ops_stand_where_their_operand_is) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), v = at(p, "v", 512), y = at(p, "y", 128);
    compute(p, x, a);
    ADD_OP(p, .name = "executorch_prim::et_view.default", .kind = ARENAUT_OP_VIEW, IN(a), OUT(v));
    compute(p, v, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    expect_view(p, v, a, 0);
    arn_program_free(p);
}

TEST(view_ops_without_a_place_stand_there_too_and_views_of_them) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), y = at(p, "y", 128);
    const uint32_t v = add_tensor(p, "v", 64, ARENAUT_INTERMEDIATE),
                   w = add_tensor(p, "w", 64, ARENAUT_INTERMEDIATE);
    p->tensors[v].caller_owned = p->tensors[w].caller_owned = true;
    compute(p, x, a);
    ADD_OP(p, .name = "executorch_prim::et_view.default", .kind = ARENAUT_OP_VIEW, IN(a), OUT(v));
    ADD_OP(p, .name = "executorch_prim::et_view.default", .kind = ARENAUT_OP_VIEW, IN(v), OUT(w));
    compute(p, w, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    expect_view(p, v, a, 0);
    expect_view(p, w, a, 0);
    arenaut_lowering *l = lower_program(p, "executorch");
    expect_life(l, "a", "[1,5)");
    free_lowering(l, p);
}

TEST(tensors_without_a_definition_are_state) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), s = at(p, "s", 64), y = at(p, "y", 128);
    ADD_OP(p, .name = "aten::add.out", IN(x, s), OUT(y));
    ADD_OP(p, .name = "aten::copy_", .kind = ARENAUT_OP_IN_PLACE, IN(s, y), OUT(s));
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    assert_int_equal(p->tensors[s].cls, ARENAUT_STATE);
    assert_int_equal(p->tensors[x].cls, ARENAUT_INTERMEDIATE);
    arenaut_lowering *l = lower_program(p, "executorch");
    expect_life(l, "s", "[0,3)");
    free_lowering(l, p);
}

TEST(a_result_that_nobody_wrote_is_state) {
    arenaut_program *p = new_program();
    begin(p, "get", 1);
    const uint32_t s = at(p, "s", 0), x = at(p, "x", 64), y = at(p, "y", 128);
    compute(p, x, y);
    FINISH(p, LIST(x), LIST(y, s));
    recover(p);
    assert_int_equal(p->tensors[s].cls, ARENAUT_STATE);
    arn_program_free(p);
}

TEST(an_update_of_what_was_never_read_is_of_state) {
    arenaut_program *p = new_program();
    begin(p, "reset", 1);
    const uint32_t x = at(p, "x", 0), s = at(p, "s", 64);
    ADD_OP(p, .name = "aten::copy_", .kind = ARENAUT_OP_IN_PLACE, IN(s, x), OUT(s));
    FINISH(p, LIST(x), NO_LIST);
    recover(p);
    assert_int_equal(p->tensors[s].cls, ARENAUT_STATE);
    arn_program_free(p);
}

TEST(programs_without_arenas_are_left_alone) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t x = at(p, "x", 0), s = at(p, "s", 64), y = at(p, "y", 64);
    compute(p, s, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    assert_int_equal(p->tensors[s].cls, ARENAUT_INTERMEDIATE);
    assert_int_equal(p->tensors[y].view_of, ARENAUT_NONE);
    arn_program_free(p);
}

/* ---- state by the file itself ---- */

/* The plan that the program holds, replayed as a runtime would run it. */
static arenaut_rule replay_given(const arenaut_program *p) {
    uint32_t pools[16];
    uint64_t offsets[16];
    assert_in_range(p->n_tensors, 1, COUNT_OF(pools));
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        pools[t] = p->tensors[t].given_pool;
        offsets[t] = p->tensors[t].given_offset;
    }
    const arenaut_placement placement = {p->n_tensors, 4, pools, offsets, NULL};
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_check_replay(p, &placement, NULL, NULL, &finding, &err);
    assert_int_equal(st, finding.rule == ARENAUT_RULE_NONE ? ARENAUT_OK : ARENAUT_REJECTED);
    return finding.rule;
}

/* A file calls a tensor state by giving it a name, or by giving it first values. */
static void declare(arenaut_program *p, uint32_t tensor, bool by_name) {
    if (by_name) p->tensors[tensor].qualified_name = "core.state";
    else p->tensors[tensor].cls = ARENAUT_STATE;
}

/* The activation `a` is written where `s` lies, before anybody has read `s`. */
TEST(an_activation_over_declared_state_destroys_it) {
    for (int by_name = 0; by_name < 2; by_name++) {
        for (uint64_t where = 0; where < 128; where += 32) {
            arenaut_program *p = new_program();
            begin(p, "forward", 1);
            const uint32_t x = at(p, "x", 256), s = at(p, "s", 64), a = at(p, "a", where);
            const uint32_t w = at(p, "w", 512), y = at(p, "y", 256);
            declare(p, s, by_name);
            compute(p, x, a);
            compute(p, s, w);
            compute(p, a, y);
            FINISH(p, LIST(x), LIST(y, w));
            recover(p);
            assert_int_equal(p->tensors[s].view_of, ARENAUT_NONE);
            assert_int_equal(p->tensors[a].view_of, ARENAUT_NONE);
            assert_int_equal(replay_given(p),
                             where == 0 ? ARENAUT_RULE_NONE : ARENAUT_RULE_CLOBBERED);
            arenaut_lowering *l = lower_program(p, "executorch");
            assert_int_not_equal(l->buffer[a], l->buffer[s]);
            expect_life(l, "s", "[0,4)");
            free_lowering(l, p);
        }
    }
}

TEST(a_view_of_declared_state_is_found) {
    for (int touched = 0; touched < 2; touched++) {
        arenaut_program *p = new_program();
        begin(p, "forward", 1);
        const uint32_t s = at(p, "s", 64), v = placed(p, "v", 32, 0, 96), y = at(p, "y", 128);
        declare(p, s, true);
        if (touched) compute(p, s, y);
        compute(p, v, y);
        FINISH(p, NO_LIST, LIST(y));
        recover(p);
        expect_view(p, v, s, 32);
        assert_int_equal(replay_given(p), ARENAUT_RULE_NONE);
        arn_program_free(p);
    }
}

/* Half of the operand of `v` is `a`, the other half is state: it is a view of the state. */
TEST(a_view_of_declared_state_does_not_join_it_with_others) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 256), s = at(p, "s", 64), a = at(p, "a", 32);
    const uint32_t v = at(p, "v", 64), y = at(p, "y", 512), z = at(p, "z", 640);
    declare(p, s, false);
    compute(p, x, a);
    compute(p, v, y);
    compute(p, a, z);
    FINISH(p, LIST(x), LIST(y, z));
    recover(p);
    expect_view(p, v, s, 0);
    assert_int_equal(p->tensors[a].view_of, ARENAUT_NONE);
    assert_int_equal(replay_given(p), ARENAUT_RULE_CLOBBERED);
    arn_program_free(p);
}

/* An op updates `s` and returns it as `t`; `a`, where there is one, is in its place before. */
TEST(ops_that_update_declared_state_return_it) {
    for (int clobbered = 0; clobbered < 2; clobbered++) {
        arenaut_program *p = new_program();
        begin(p, "forward", 1);
        const uint32_t x = at(p, "x", 256), s = at(p, "s", 64), t = at(p, "t", 64);
        const uint32_t a = at(p, "a", 64), y = at(p, "y", 512);
        declare(p, s, true);
        compute(p, x, clobbered ? a : y);
        ADD_OP(p, .name = "aten::index_put_", .kind = ARENAUT_OP_IN_PLACE, IN(s, x, t), OUT(s, t));
        compute(p, t, y);
        FINISH(p, LIST(x), LIST(y));
        recover(p);
        expect_view(p, t, s, 0);
        assert_int_equal(replay_given(p), clobbered ? ARENAUT_RULE_CLOBBERED : ARENAUT_RULE_NONE);
        arn_program_free(p);
    }
}

TEST(a_method_without_ops_has_no_list_of_ops) {
    arenaut_program *p = new_program();
    begin(p, "get", 1);
    const uint32_t s = at(p, "s", 0);
    FINISH(p, NO_LIST, LIST(s));
    assert_null(p->ops);
    recover(p);
    assert_int_equal(p->tensors[s].cls, ARENAUT_STATE);
    assert_int_equal(replay_given(p), ARENAUT_RULE_NONE);
    arn_program_free(p);
}

/* ---- flow ---- */

TEST(both_sides_of_a_branch_are_looked_at) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t c = at(p, "c", 0), a = at(p, "a", 64), b = at(p, "b", 64), v = at(p, "v", 64);
    const uint32_t y = at(p, "y", 128);
    ADD_OP(p, .name = "jump_false", .kind = ARENAUT_OP_JUMP_FALSE, IN(c), .target = 3);
    compute(p, c, a);
    ADD_OP(p, .name = "jump", .kind = ARENAUT_OP_JUMP, .target = 4);
    compute(p, c, b);
    compute(p, v, y);
    FINISH(p, LIST(c), LIST(y));
    recover(p);
    expect_view(p, b, a, 0);
    expect_view(p, v, a, 0);
    arn_program_free(p);
}

TEST(ops_that_are_jumped_over_wrote_nothing) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), v = at(p, "v", 64), y = at(p, "y", 128);
    ADD_OP(p, .name = "jump", .kind = ARENAUT_OP_JUMP, .target = 2);
    compute(p, x, a);
    compute(p, v, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    assert_int_equal(p->tensors[v].cls, ARENAUT_STATE);
    assert_int_equal(p->tensors[v].view_of, ARENAUT_NONE);
    arn_program_free(p);
}

TEST(the_place_of_what_others_are_moved_to_says_nothing) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), r = at(p, "r", 0), y = at(p, "y", 128);
    compute(p, x, a);
    ADD_OP(p, .name = "move", .kind = ARENAUT_OP_MOVE, IN(a), OUT(r));
    compute(p, r, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    assert_int_equal(p->tensors[r].view_of, ARENAUT_NONE);
    assert_int_equal(p->tensors[r].cls, ARENAUT_INTERMEDIATE);
    arn_program_free(p);
}

/* ---- delegates ---- */

TEST(first_touched_by_a_delegate_is_its_result) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), t = at(p, "t", 128);
    const uint32_t inside = placed(p, "inside", 32, 0, 128); /* where `t` is no more */
    const uint32_t y = at(p, "y", 192);
    compute(p, x, t);
    compute(p, t, a);
    ADD_OP(p, .name = "XnnpackBackend", .kind = ARENAUT_OP_DELEGATE, IN(a, inside));
    compute(p, inside, y);
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    assert_int_equal(p->ops[2].n_inputs, 1);
    assert_int_equal(p->ops[2].inputs[0], a);
    assert_int_equal(p->ops[2].n_outputs, 1);
    assert_int_equal(p->ops[2].outputs[0], inside);
    assert_int_equal(p->tensors[inside].view_of, ARENAUT_NONE);
    arn_program_free(p);
}

TEST(a_view_given_to_a_delegate_has_size_type_and_place) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), v = at(p, "v", 64), y = at(p, "y", 128);
    compute(p, x, a);
    ADD_OP(p, .name = "XnnpackBackend", .kind = ARENAUT_OP_DELEGATE, IN(v, y));
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    expect_view(p, v, a, 0);
    assert_int_equal(p->ops[1].n_outputs, 1);
    assert_int_equal(p->ops[1].outputs[0], y);
    arn_program_free(p);
}

/* Without a result there would be no call; the last one is where a value before has been. */
TEST(the_last_argument_of_a_delegate_is_a_result) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), b = at(p, "b", 128), y = at(p, "y", 64);
    compute(p, x, a);
    compute(p, a, b);
    ADD_OP(p, .name = "XnnpackBackend", .kind = ARENAUT_OP_DELEGATE, IN(b, y));
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    assert_int_equal(p->tensors[y].view_of, ARENAUT_NONE);
    assert_int_equal(p->ops[2].n_inputs, 1);
    assert_int_equal(p->ops[2].n_outputs, 1);
    assert_int_equal(p->ops[2].outputs[0], y);
    arn_program_free(p);
}

/* `r` lies where `a` was, `q` where `b` was: of two results, neither is a view. */
TEST(arguments_behind_a_result_of_a_delegate_are_results) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), b = at(p, "b", 128), c = at(p, "c", 192);
    const uint32_t q = at(p, "q", 256), r = at(p, "r", 64), y = at(p, "y", 128);
    compute(p, x, a);
    compute(p, a, b);
    compute(p, b, c);
    ADD_OP(p, .name = "XnnpackBackend", .kind = ARENAUT_OP_DELEGATE, IN(c, q, r, y));
    FINISH(p, LIST(x), LIST(q, r, y));
    recover(p);
    assert_int_equal(p->ops[3].n_inputs, 1);
    assert_int_equal(p->ops[3].n_outputs, 3);
    assert_int_equal(p->tensors[r].view_of, ARENAUT_NONE);
    arn_program_free(p);
}

/* A slice of `a` before an argument that something has written: results come last. */
TEST(arguments_of_a_delegate_before_an_input_are_no_results) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), a = at(p, "a", 64), b = at(p, "b", 128), y = at(p, "y", 192);
    const uint32_t slice = placed(p, "slice", 16, 0, 80);
    compute(p, x, a);
    compute(p, a, b);
    ADD_OP(p, .name = "XnnpackBackend", .kind = ARENAUT_OP_DELEGATE, IN(slice, b, y));
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    expect_view(p, slice, a, 16);
    assert_int_equal(p->ops[2].n_inputs, 2);
    assert_int_equal(p->ops[2].n_outputs, 1);
    arn_program_free(p);
}

TEST(state_that_a_delegate_reads_is_updated_later) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), s = at(p, "s", 64), y = at(p, "y", 128);
    ADD_OP(p, .name = "XnnpackBackend", .kind = ARENAUT_OP_DELEGATE, IN(x, s, y));
    ADD_OP(p, .name = "aten::copy_", .kind = ARENAUT_OP_IN_PLACE, IN(s, y), OUT(s));
    FINISH(p, LIST(x), LIST(y));
    recover(p);
    assert_int_equal(p->tensors[s].cls, ARENAUT_STATE);
    assert_int_equal(p->ops[0].n_inputs, 2);
    arn_program_free(p);
}

/* The update names the state, the delegate was given a view of it. */
TEST(state_that_a_delegate_reads_by_a_view_is_updated_later) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), s = at(p, "s", 64), v = at(p, "v", 64), y = at(p, "y", 128);
    const uint32_t z = at(p, "z", 192);
    compute(p, x, z);
    ADD_OP(p, .name = "XnnpackBackend", .kind = ARENAUT_OP_DELEGATE, IN(v, y));
    ADD_OP(p, .name = "aten::copy_", .kind = ARENAUT_OP_IN_PLACE, IN(s, y), OUT(s));
    FINISH(p, LIST(x), LIST(y, z));
    recover(p);
    assert_int_equal(p->ops[1].n_inputs, 1);
    assert_int_equal(p->ops[1].n_outputs, 1);
    arenaut_lowering *l = lower_program(p, "executorch");
    assert_int_equal(l->buffer[v], l->buffer[s]);
    expect_life(l, "s", "[0,4)");
    free_lowering(l, p);
}

/* `r` is dead when another delegate's result comes to lie there, which is updated. */
TEST(an_update_of_what_was_written_since_is_none_of_a_result) {
    arenaut_program *p = new_program();
    begin(p, "forward", 1);
    const uint32_t x = at(p, "x", 0), r = at(p, "r", 64), y = at(p, "y", 128), q = at(p, "q", 64);
    ADD_OP(p, .name = "XnnpackBackend", .kind = ARENAUT_OP_DELEGATE, IN(x, r, y));
    ADD_OP(p, .name = "XnnpackBackend", .kind = ARENAUT_OP_DELEGATE, IN(y, q));
    ADD_OP(p, .name = "aten::relu_", .kind = ARENAUT_OP_IN_PLACE, IN(q), OUT(q));
    FINISH(p, LIST(x), LIST(q));
    recover(p);
    assert_int_equal(p->ops[0].n_inputs, 1);
    assert_int_equal(p->tensors[r].cls, ARENAUT_INTERMEDIATE);
    assert_int_equal(p->tensors[q].cls, ARENAUT_INTERMEDIATE);
    arn_program_free(p);
}

/* ---- several methods ---- */

/* "step" adds its input to the state, "get" returns a copy of it. The state lies in the
 * second arena. */
typedef struct pair {
    uint32_t step_state, get_state;
} pair;

static pair add_pair(arenaut_program *p, uint32_t pool, uint64_t step_at, uint64_t get_at,
                     const char *name) {
    pair v;
    begin(p, "step", 2);
    const uint32_t x = at(p, "x", 0), y = at(p, "y", 512);
    v.step_state = placed(p, "step.s", 64, pool, step_at);
    p->tensors[v.step_state].qualified_name = name;
    ADD_OP(p, .name = "aten::add.out", IN(x, v.step_state), OUT(y));
    ADD_OP(p, .name = "aten::copy_", .kind = ARENAUT_OP_IN_PLACE, IN(v.step_state, y),
           OUT(v.step_state));
    SET_IO(p, 0, LIST(x), LIST(y));
    begin(p, "get", 2);
    const uint32_t z = at(p, "z", 512);
    v.get_state = placed(p, "get.s", 64, pool, get_at);
    p->tensors[v.get_state].qualified_name = name;
    compute(p, v.get_state, z);
    SET_IO(p, 1, NO_LIST, LIST(z));
    finish_program(p);
    return v;
}

TEST(an_arena_of_state_is_one_block_for_all_methods) {
    arenaut_program *p = new_program();
    const pair v = add_pair(p, 1, 128, 128, NULL);
    recover(p);
    arenaut_lowering *l = lower_program(p, "executorch");
    assert_int_equal(l->buffer[v.step_state], l->buffer[v.get_state]);
    assert_int_equal(l->offset[v.step_state], 128); /* as it lies in the file */
    assert_int_equal(l->problem->size[l->buffer[v.get_state]], 192);
    assert_int_equal(l->problem->n_pools, 3); /* one for each method, and the one they share */
    free_lowering(l, p);
}

TEST(named_state_of_such_arenas_is_shared_by_name) {
    arenaut_program *p = new_program();
    const pair v = add_pair(p, 1, 0, 64, "core.state"); /* they disagree: a finding of check */
    recover(p);
    arenaut_lowering *l = lower_program(p, "executorch");
    assert_int_equal(l->buffer[v.step_state], l->buffer[v.get_state]);
    arenaut_lowering_free(l);
    const uint32_t pools[] = {0, 0, 1, 0, 1};
    const uint64_t offsets[] = {0, 512, 0, 512, 64};
    const arenaut_placement placement = {p->n_tensors, 2, pools, offsets, NULL};
    arenaut_finding finding;
    assert_int_equal(arenaut_check_replay(p, &placement, NULL, NULL, &finding, NULL),
                     ARENAUT_REJECTED);
    assert_int_equal(finding.rule, ARENAUT_RULE_STATE_LOST);
    arn_program_free(p);
}

TEST(named_state_among_other_tensors_is_each_methods_own) {
    arenaut_program *p = new_program();
    const pair v = add_pair(p, 0, 64, 128, "core.state");
    recover(p);
    arenaut_lowering *l = lower_program(p, "executorch");
    assert_int_not_equal(l->buffer[v.step_state], l->buffer[v.get_state]);
    assert_int_equal(l->problem->n_pools, 2);
    free_lowering(l, p);
}

TEST(unless_it_lies_at_one_place_in_arenas_of_one_size) {
    arenaut_program *p = new_program();
    const pair v = add_pair(p, 0, 64, 64, "core.state");
    recover(p);
    arenaut_lowering *l = lower_program(p, "executorch");
    assert_int_equal(l->buffer[v.step_state], l->buffer[v.get_state]);
    assert_int_equal(l->problem->n_pools, 1); /* so that it has one offset */
    free_lowering(l, p);
}

/* A method that has the arena in another size may have its values over the state. */
TEST(and_no_method_has_the_arena_in_another_size) {
    for (uint64_t bytes = 4096; bytes <= 8192; bytes += 4096) {
        arenaut_program *p = new_program();
        const pair v = add_pair(p, 0, 64, 64, "core.state");
        const arenaut_given_pool pool = {bytes, {0, 0}};
        arenaut_error err = {0};
        begin(p, "other", 1);
        const uint32_t x = at(p, "a", 1024), y = at(p, "b", 2048);
        compute(p, x, y);
        SET_IO(p, 2, LIST(x), LIST(y));
        assert_ok(arn_program_set_given_pools(p, 2, &pool, 1, &err), err);
        finish_program(p);
        recover(p);
        arenaut_finding finding;
        const arenaut_status st = arn_check_method_state(p, p, NULL, &finding, &err);
        assert_int_equal(p->tensors[v.step_state].qualified_name != NULL, bytes == 4096);
        assert_int_equal(st, bytes == 4096 ? ARENAUT_OK : ARENAUT_REJECTED);
        if (st != ARENAUT_OK) assert_non_null(strstr(finding.msg, "memory 1, which method '"));
        arn_program_free(p);
    }
}

/* ---- memory ---- */

static arenaut_status attempt(void *context, const arenaut_allocator *allocator) {
    (void)context;
    arenaut_program *p = NULL;
    arenaut_error err = {0};
    const arenaut_given_pool pool = {4096, {0, 0}};
    arenaut_status st = arn_program_new(allocator, &p, &err);
    if (st != ARENAUT_OK) return st;
    st = arn_program_add_method(p, "forward", true, NULL, &err);
    if (st == ARENAUT_OK) st = arn_program_set_given_pools(p, 0, &pool, 1, &err);
    for (uint32_t i = 0; i < 6 && st == ARENAUT_OK; i++) {
        arenaut_tensor t = arenaut_tensor_default();
        t.bytes = 64;
        t.method = 0;
        t.given_pool = 0;
        t.given_offset = i / 2 * 32;
        st = arenaut_program_add_tensor(p, &t, NULL, &err);
    }
    const uint32_t ids[] = {0, 1, 2, 3, 4, 5};
    const arenaut_op ops[] = {
        {.kind = ARENAUT_OP_OUT, .inputs = ids, .n_inputs = 1, .outputs = ids + 1, .n_outputs = 1},
        {.kind = ARENAUT_OP_DELEGATE, .inputs = ids + 2, .n_inputs = 2},
        {.kind = ARENAUT_OP_OUT, .inputs = ids + 4, .n_inputs = 1, .outputs = ids, .n_outputs = 1},
    };
    for (size_t i = 0; i < COUNT_OF(ops) && st == ARENAUT_OK; i++) {
        st = arn_program_add_op(p, &ops[i], NULL, &err);
    }
    const arenaut_pass_options options = {.target = arenaut_target_find("executorch")};
    if (st == ARENAUT_OK) st = arenaut_passes_run(p, NULL, &options, NULL, NULL, &err);
    arn_program_free(p);
    return st;
}

TEST(it_survives_running_out_of_memory) { survives_every_allocation_failure(attempt, NULL); }
