/* Counterparts of ExecuTorch's own tests of memory planning: programs go through lowering, its
 * planners and ours, the checker and a replay. The table in docs/executorch.md says which test
 * answers to which. */
#include "support/test.h"

#include <arenaut/check.h>
#include <arenaut/lowering.h>
#include <arenaut/planner.h>

#include "ir/program.h"
#include "support/lowerings.h"
#include "support/oracle.h"
#include "support/plans.h"
#include "support/problems.h"
#include "support/programs.h"

static const char *const planners[] = {"executorch-naive", "executorch-greedy", "auto"};
enum { NAIVE, GREEDY, AUTO };

static bool alive_together(const arenaut_problem *p, uint32_t a, uint32_t b) {
    for (uint32_t i = p->lifetime_start[a]; i < p->lifetime_start[a + 1]; i++) {
        for (uint32_t k = p->lifetime_start[b]; k < p->lifetime_start[b + 1]; k++) {
            if (p->lifetime[i].first < p->lifetime[k].end &&
                p->lifetime[k].first < p->lifetime[i].end) {
                return true;
            }
        }
    }
    return false;
}

static bool share_bytes(const arenaut_problem *p, const arenaut_plan *plan, uint32_t a,
                        uint32_t b) {
    return plan->pool[a] == plan->pool[b] && plan->pool[a] != ARENAUT_NONE &&
           plan->offset[a] < plan->offset[b] + p->size[b] &&
           plan->offset[b] < plan->offset[a] + p->size[a];
}

static uint32_t count_reuse(const arenaut_problem *p, const arenaut_plan *plan) {
    uint32_t pairs = 0;
    for (uint32_t a = 0; a < p->n_buffers; a++) {
        for (uint32_t b = 0; b < a; b++) pairs += share_bytes(p, plan, a, b);
    }
    return pairs;
}

/* Inputs are alive together from the start; naive shares nothing, greedy something. Frees
 * the program. */
static void assert_reuse(arenaut_program *program) {
    arenaut_lowering *l = lower_program(program, "executorch");
    const arenaut_method *m = &program->methods[0];
    for (uint32_t i = 1; i < m->n_inputs; i++) {
        assert_true(alive_together(l->problem, l->buffer[m->inputs[0]], l->buffer[m->inputs[i]]));
    }
    for (int i = NAIVE; i <= AUTO; i++) {
        arenaut_plan *plan = plan_by(l->problem, planners[i]);
        assert_plan_stands(program, l, plan);
        if (i == NAIVE) assert_int_equal(count_reuse(l->problem, plan), 0);
        if (i == GREEDY) assert_true(count_reuse(l->problem, plan) > 0);
        arenaut_plan_free(plan);
    }
    free_lowering(l, program);
}

/* ---- one method ---- */

/* o = a; ten times: o = o * a; o = o + b */
TEST(a_chain_of_products_and_sums) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t a = add_tensor(p, "a", 40, ARENAUT_INPUT);
    const uint32_t b = add_tensor(p, "b", 40, ARENAUT_INPUT);
    uint32_t o = a;
    for (int i = 0; i < 20; i++) {
        const uint32_t next = add_tensor(p, NULL, 40, ARENAUT_INTERMEDIATE);
        ADD_OP(p, .name = i % 2 ? "aten::add.out" : "aten::mul.out", IN(o, i % 2 ? b : a),
               OUT(next));
        o = next;
    }
    FINISH(p, LIST(a, b), LIST(o));
    assert_reuse(p);
}

/* One chain of layers that double the size, then another, and the sum of both. */
static arenaut_program *growing_layers(void) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t x = add_tensor(p, "x", 8, ARENAUT_INPUT);
    uint32_t ends[2];
    for (int chain = 0; chain < 2; chain++) {
        uint32_t last = x;
        for (uint64_t bytes = 16; bytes <= 1024; bytes *= 2) {
            const uint32_t next = add_tensor(p, NULL, bytes, ARENAUT_INTERMEDIATE);
            ADD_OP(p, .name = "aten::linear.out", IN(last), OUT(next));
            last = next;
        }
        ends[chain] = last;
    }
    const uint32_t y = add_tensor(p, "y", 1024, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "aten::add.out", IN(ends[0], ends[1]), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    return p;
}

TEST(layers_of_different_sizes) { assert_reuse(growing_layers()); }

TEST(two_results) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t x = add_tensor(p, "x", 64, ARENAUT_INPUT);
    const uint32_t h = add_tensor(p, "h", 64, ARENAUT_INTERMEDIATE);
    const uint32_t g = add_tensor(p, "g", 64, ARENAUT_INTERMEDIATE);
    const uint32_t u = add_tensor(p, "u", 64, ARENAUT_OUTPUT);
    const uint32_t v = add_tensor(p, "v", 64, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "aten::linear.out", IN(x), OUT(h));
    ADD_OP(p, .name = "aten::relu.out", IN(h), OUT(g));
    ADD_OP(p, .name = "aten::linear.out", IN(g), OUT(u));
    ADD_OP(p, .name = "aten::neg.out", IN(u), OUT(v));
    FINISH(p, LIST(x), LIST(u, v));
    assert_reuse(p);
}

/* A view is a name, not memory: it and its storage are one buffer, alive for both. */
TEST(a_view_between_two_layers) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t x = add_tensor(p, "x", 64, ARENAUT_INPUT);
    const uint32_t h = add_tensor(p, "h", 256, ARENAUT_INTERMEDIATE);
    const uint32_t flat = add_view(p, "flat", h, 0, 256);
    const uint32_t g = add_tensor(p, "g", 128, ARENAUT_INTERMEDIATE);
    const uint32_t k = add_tensor(p, "k", 64, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 64, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "aten::linear.out", IN(x), OUT(h));
    ADD_OP(p, .name = "aten::linear.out", IN(flat), OUT(g));
    ADD_OP(p, .name = "aten::relu.out", IN(g), OUT(k));
    ADD_OP(p, .name = "aten::linear.out", IN(k), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    assert_reuse(p);
}

/* split gives a list, cat takes one: every item is a value of its own. */
TEST(lists_of_tensors) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t x = add_tensor(p, "x", 64, ARENAUT_INPUT);
    uint32_t parts[4], doubled[4];
    for (int i = 0; i < 4; i++) parts[i] = add_tensor(p, NULL, 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = "aten::split_copy.out", IN(x), .outputs = parts, .n_outputs = 4);
    for (int i = 0; i < 4; i++) {
        doubled[i] = add_tensor(p, NULL, 16, ARENAUT_INTERMEDIATE);
        ADD_OP(p, .name = "aten::add.out", IN(parts[i], parts[i]), OUT(doubled[i]));
    }
    const uint32_t y = add_tensor(p, "y", 64, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "aten::cat.out", .inputs = doubled, .n_inputs = 4, OUT(y));
    FINISH(p, LIST(x), LIST(y));
    assert_reuse(p);
}

/* All eight ways of leaving inputs, outputs and state to the caller. */
TEST(only_what_the_file_allocates_is_planned) {
    for (unsigned ways = 0; ways < 8; ways++) {
        arenaut_program *p = new_program();
        begin_method(p, "forward");
        const uint32_t x = add_tensor(p, "x", 64, ARENAUT_INPUT);
        const uint32_t s = add_tensor(p, "s", 64, ARENAUT_STATE);
        const uint32_t h = add_tensor(p, "h", 64, ARENAUT_INTERMEDIATE);
        const uint32_t y = add_tensor(p, "y", 64, ARENAUT_OUTPUT);
        ADD_OP(p, .name = "aten::add.out", IN(x, s), OUT(h));
        ADD_OP(p, .name = "aten::neg.out", IN(h), OUT(y));
        SET_IO(p, 0, LIST(x), LIST(y));
        const uint32_t kinds[] = {x, y, s};
        for (unsigned k = 0; k < 3; k++) p->tensors[kinds[k]].caller_owned = ways >> k & 1;
        finish_program(p);
        arenaut_lowering *l = lower_program(p, "executorch");
        for (unsigned k = 0; k < 3; k++) {
            assert_int_equal(l->buffer[kinds[k]] == ARENAUT_NONE, ways >> k & 1);
        }
        assert_true(l->buffer[h] != ARENAUT_NONE);
        arenaut_plan *plan = plan_by(l->problem, "executorch-greedy");
        assert_plan_stands(p, l, plan);
        arenaut_plan_free(plan);
        free_lowering(l, p);
    }
}

/* The state is read late and never written before; its bytes are reserved meanwhile. */
TEST(nothing_ever_lies_over_state) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t x = add_tensor(p, "x", 4, ARENAUT_INPUT);
    const uint32_t s = add_tensor(p, "state", 4, ARENAUT_STATE);
    const uint32_t y = add_tensor(p, "y", 4, ARENAUT_INTERMEDIATE);
    const uint32_t z = add_tensor(p, "z", 4, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "aten::index_put_", .kind = ARENAUT_OP_IN_PLACE, IN(s, x), OUT(s));
    ADD_OP(p, .name = "aten::add.out", IN(x, s), OUT(y));
    ADD_OP(p, .name = "aten::mul.out", IN(x, y), OUT(z));
    FINISH(p, LIST(x), LIST(z));
    arenaut_lowering *l = lower_program(p, "executorch");
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_by(l->problem, planners[i]);
        for (uint32_t b = 0; b < l->problem->n_buffers; b++) {
            assert_true(b == l->buffer[s] || !share_bytes(l->problem, plan, b, l->buffer[s]));
        }
        assert_plan_stands(p, l, plan);
        arenaut_plan_free(plan);
    }
    free_lowering(l, p);
}

/* copy_ returns its operand: one value, one buffer, alone in its place. */
TEST(an_update_of_state_allocates_nothing) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t x = add_tensor(p, "x", 100, ARENAUT_INPUT);
    const uint32_t s = add_tensor(p, "constant", 100, ARENAUT_STATE);
    const uint32_t sum = add_tensor(p, "sum", 100, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 100, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "aten::add.out", IN(s), OUT(sum));
    ADD_OP(p, .name = "aten::sub.out", IN(x, sum), OUT(y));
    ADD_OP(p, .name = "aten::copy_", .kind = ARENAUT_OP_IN_PLACE, IN(s, sum), OUT(s));
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "executorch");
    assert_int_equal(l->problem->n_buffers, 4);
    arenaut_plan *plan = plan_by(l->problem, "auto");
    assert_int_equal(plan->total, 4 * 112);
    assert_plan_stands(p, l, plan);
    arenaut_plan_free(plan);
    free_lowering(l, p);
}

/* The first input is read at once and never again, the second late: the caller fills both
 * before the first op, so they may not share. */
TEST(inputs_never_share) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t a = add_tensor(p, "a", 48, ARENAUT_INPUT);
    const uint32_t b = add_tensor(p, "b", 48, ARENAUT_INPUT);
    const uint32_t h = add_tensor(p, "h", 48, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 48, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "aten::permute_copy.out", IN(a), OUT(h));
    ADD_OP(p, .name = "aten::add.out", IN(h, b), OUT(y));
    FINISH(p, LIST(a, b), LIST(y));
    arenaut_lowering *l = lower_program(p, "executorch");
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_by(l->problem, planners[i]);
        assert_false(share_bytes(l->problem, plan, l->buffer[a], l->buffer[b]));
        arenaut_plan_free(plan);
    }
    free_lowering(l, p);
}

TEST(constants_and_results_left_out_are_not_planned) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t x = add_tensor(p, "x", 48, ARENAUT_INPUT);
    const uint32_t w = add_tensor(p, "w", 4096, ARENAUT_CONSTANT);
    const uint32_t y = add_tensor(p, "y", 48, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "aten::convolution_backward.out", IN(x, w), OUT(ARENAUT_NONE, y));
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "executorch");
    assert_int_equal(l->buffer[w], ARENAUT_NONE);
    arenaut_plan *plan = plan_by(l->problem, "executorch-naive");
    assert_int_equal(plan->total, 96);
    arenaut_plan_free(plan);
    free_lowering(l, p);
}

/* ---- control flow ---- */

/* Appends "for each item: t = item + x; u = t * x; result[i] = u" as the exporter does it:
 * a jump back while a number that is no tensor says so. */
static void add_map(arenaut_program *p, uint32_t items, uint32_t x, uint32_t more, uint32_t result,
                    uint32_t first_op) {
    const uint32_t item = add_tensor(p, NULL, 16, ARENAUT_INTERMEDIATE);
    const uint32_t t = add_tensor(p, NULL, 16, ARENAUT_INTERMEDIATE);
    const uint32_t u = add_tensor(p, NULL, 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = "aten::select_copy.out", IN(items), OUT(item));
    ADD_OP(p, .name = "aten::add.out", IN(item, x), OUT(t));
    ADD_OP(p, .name = "aten::mul.out", IN(t, x), OUT(u));
    ADD_OP(p, .name = "executorch_prim::et_copy_index", .kind = ARENAUT_OP_IN_PLACE, IN(result, u),
           OUT(result));
    ADD_OP(p, .name = "jump_false", .kind = ARENAUT_OP_JUMP_FALSE, IN(more), .target = first_op);
}

/* Two loops, one after the other. ExecuTorch needs 48 bytes for the bodies below 272 for the
 * rest; the bodies' values here find room where nothing else is alive. */
TEST(values_of_a_loop_lie_apart_from_what_is_alive_around_it) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t xs = add_tensor(p, "xs", 64, ARENAUT_INPUT);
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t more = add_tensor(p, "more", 0, ARENAUT_CONSTANT);
    const uint32_t first = add_tensor(p, "first", 64, ARENAUT_INTERMEDIATE);
    const uint32_t second = add_tensor(p, "second", 64, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 64, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "aten::full.out", OUT(first));
    add_map(p, xs, x, more, first, 1);
    ADD_OP(p, .name = "aten::full.out", OUT(second));
    add_map(p, first, x, more, second, 7);
    ADD_OP(p, .name = "aten::add.out", IN(first, second), OUT(y));
    FINISH(p, LIST(xs, x), LIST(y));
    arenaut_lowering *l = lower_program(p, "executorch");
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_by(l->problem, planners[i]);
        assert_plan_stands(p, l, plan);
        if (i == AUTO) assert_true(plan->total <= 320);
        arenaut_plan_free(plan);
    }
    free_lowering(l, p);
}

/* Appends "if condition: r = sin(x), else r = cos(x)", and returns r. */
static uint32_t add_conditional(arenaut_program *p, uint32_t condition, uint32_t x,
                                uint32_t first_op) {
    const uint32_t yes = add_tensor(p, NULL, 512, ARENAUT_INTERMEDIATE);
    const uint32_t no = add_tensor(p, NULL, 512, ARENAUT_INTERMEDIATE);
    const uint32_t r = add_tensor(p, NULL, 512, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = "jump_false", .kind = ARENAUT_OP_JUMP_FALSE, IN(condition),
           .target = first_op + 4);
    ADD_OP(p, .name = "aten::sin.out", IN(x), OUT(yes));
    ADD_OP(p, .name = "move", .kind = ARENAUT_OP_MOVE, IN(yes), OUT(r));
    ADD_OP(p, .name = "jump", .kind = ARENAUT_OP_JUMP, .target = first_op + 6);
    ADD_OP(p, .name = "aten::cos.out", IN(x), OUT(no));
    ADD_OP(p, .name = "move", .kind = ARENAUT_OP_MOVE, IN(no), OUT(r));
    return r;
}

/* A case that no test of ExecuTorch has, and in which it goes wrong: the results of two
 * conditionals are needed together, so the second may not write over the first. */
TEST(results_of_two_conditionals_are_apart) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    const uint32_t condition = add_tensor(p, "p", 1, ARENAUT_INPUT);
    const uint32_t x = add_tensor(p, "x", 512, ARENAUT_INPUT);
    const uint32_t first = add_conditional(p, condition, x, 0);
    const uint32_t second = add_conditional(p, condition, x, 6);
    const uint32_t y = add_tensor(p, "y", 512, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "aten::sub.out", IN(first, second), OUT(y));
    FINISH(p, LIST(condition, x), LIST(y));
    arenaut_lowering *l = lower_program(p, "executorch");
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_by(l->problem, planners[i]);
        assert_plan_stands(p, l, plan);
        if (i == AUTO) assert_int_equal(plan->total, 3 * 512);
        arenaut_plan_free(plan);
    }
    free_lowering(l, p);
}

/* ---- several methods ---- */

static uint32_t add_shared(arenaut_program *p, const char *name, uint64_t bytes) {
    const uint32_t t = add_tensor(p, name, bytes, ARENAUT_STATE);
    p->tensors[t].qualified_name = name;
    return t;
}

/* One method updates the state, one sets it, one only reads it: one place in all three. */
TEST(state_of_three_methods_has_one_place) {
    arenaut_program *p = new_program();
    uint32_t states[3];
    for (uint32_t m = 0; m < 3; m++) {
        static const char *const names[] = {"forward", "set_state", "get_state"};
        begin_method(p, names[m]);
        const uint32_t x = add_tensor(p, NULL, 16, ARENAUT_INPUT);
        const uint32_t y = add_tensor(p, NULL, 16, ARENAUT_OUTPUT);
        states[m] = add_shared(p, "state", 16);
        if (m < 2) {
            ADD_OP(p, .name = "aten::copy_", .kind = ARENAUT_OP_IN_PLACE, IN(states[m], x),
                   OUT(states[m]));
        }
        ADD_OP(p, .name = "aten::clone.out", IN(states[m]), OUT(y));
        SET_IO(p, m, LIST(x), LIST(y));
    }
    finish_program(p);
    arenaut_lowering *l = lower_program(p, "executorch");
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_by(l->problem, planners[i]);
        for (uint32_t m = 1; m < 3; m++) {
            assert_int_equal(l->buffer[states[m]], l->buffer[states[0]]);
        }
        assert_plan_stands(p, l, plan);
        arenaut_plan_free(plan);
    }
    free_lowering(l, p);
}

/* Two caches of 256 bytes, used by one method and reset by another, need 512 bytes in a
 * memory of their own, which nothing else of the two methods is in. */
TEST(two_caches_of_two_methods_have_a_memory_of_their_own) {
    arenaut_program *p = new_program();
    uint32_t k[2], v[2];
    for (uint32_t m = 0; m < 2; m++) {
        begin_method(p, m ? "reset" : "forward");
        const uint32_t x = add_tensor(p, NULL, 32, ARENAUT_INPUT);
        const uint32_t y = add_tensor(p, NULL, 32, ARENAUT_OUTPUT);
        k[m] = add_shared(p, "kv_cache.k_cache", 256);
        v[m] = add_shared(p, "kv_cache.v_cache", 256);
        ADD_OP(p, .name = "aten::index_put_", .kind = ARENAUT_OP_IN_PLACE, IN(k[m], x), OUT(k[m]));
        ADD_OP(p, .name = "aten::index_put_", .kind = ARENAUT_OP_IN_PLACE, IN(v[m], x), OUT(v[m]));
        ADD_OP(p, .name = "aten::add.out", IN(k[m], v[m]), OUT(y));
        SET_IO(p, m, LIST(x), LIST(y));
    }
    finish_program(p);
    arenaut_lowering *l = lower_program(p, "executorch");
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_by(l->problem, planners[i]);
        const uint32_t pool = plan->pool[l->buffer[k[0]]];
        assert_int_equal(plan->pool[l->buffer[v[0]]], pool);
        assert_int_equal(plan->arena[pool], 512);
        assert_int_equal(l->buffer[k[1]], l->buffer[k[0]]);
        assert_int_equal(l->buffer[v[1]], l->buffer[v[0]]);
        for (uint32_t b = 0; b < l->problem->n_buffers; b++) {
            const bool cache = b == l->buffer[k[0]] || b == l->buffer[v[0]];
            assert_int_equal(plan->pool[b] == pool, cache);
        }
        assert_plan_stands(p, l, plan);
        arenaut_plan_free(plan);
    }
    free_lowering(l, p);
}

/* ---- devices ---- */

/* The chain of products, with tensor i on the device that `device_of` says. */
static arenaut_lowering *chain_on(arenaut_device (*device_of)(uint32_t tensor),
                                  arenaut_program **out) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    uint32_t last = add_tensor(p, "x", 64, ARENAUT_INPUT);
    const uint32_t x = last;
    for (int i = 0; i < 6; i++) {
        const uint32_t next =
            add_tensor(p, NULL, 64, i < 5 ? ARENAUT_INTERMEDIATE : ARENAUT_OUTPUT);
        ADD_OP(p, .name = "aten::mul.out", IN(last), OUT(next));
        last = next;
    }
    SET_IO(p, 0, LIST(x), LIST(last));
    for (uint32_t t = 0; t < p->n_tensors; t++) p->tensors[t].device = device_of(t);
    finish_program(p);
    *out = p;
    return lower_program(p, "executorch");
}

/* Every buffer lies in a pool of its device, for each planner. */
static void assert_devices(arenaut_device (*device_of)(uint32_t tensor), uint32_t n_pools) {
    arenaut_program *p;
    arenaut_lowering *l = chain_on(device_of, &p);
    assert_int_equal(l->problem->n_pools, n_pools);
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_by(l->problem, planners[i]);
        for (uint32_t t = 0; t < p->n_tensors; t++) {
            const uint32_t b = l->buffer[t];
            const arenaut_device device = l->problem->pool[plan->pool[b]].device;
            assert_int_equal(device.type, device_of(t).type);
            assert_int_equal(device.index, device_of(t).index);
        }
        for (uint32_t k = 0; k < n_pools; k++) assert_true(plan->arena[k] > 0);
        arenaut_plan_free(plan);
    }
    free_lowering(l, p);
}

static const arenaut_device host = {0, 0}, cuda0 = {1, 0}, cuda1 = {1, 1}, cuda3 = {1, 3};

static arenaut_device all_host(uint32_t t) { return t ? host : host; }
static arenaut_device all_cuda(uint32_t t) { return t ? cuda0 : cuda0; }
static arenaut_device second_half_cuda(uint32_t t) { return t < 3 ? host : cuda0; }
static arenaut_device every_other_cuda(uint32_t t) { return t % 2 ? host : cuda0; }
static arenaut_device last_cuda(uint32_t t) { return t == 6 ? cuda0 : host; }
static arenaut_device two_cudas(uint32_t t) { return t == 0 ? cuda0 : t == 1 ? cuda1 : host; }
static arenaut_device first_cuda3(uint32_t t) { return t == 0 ? cuda3 : host; }

TEST(each_device_has_memory_of_its_own) {
    assert_devices(all_host, 1);
    assert_devices(all_cuda, 1); /* no empty memory of the host */
    assert_devices(second_half_cuda, 2);
    assert_devices(every_other_cuda, 2);
    assert_devices(two_cudas, 3);
    assert_devices(first_cuda3, 2);
}

TEST(offsets_count_from_the_start_of_their_own_memory) {
    arenaut_program *p;
    arenaut_lowering *l = chain_on(last_cuda, &p);
    arenaut_plan *plan = plan_by(l->problem, "executorch-greedy");
    assert_int_equal(plan->offset[l->buffer[6]], 0);
    assert_int_equal(plan->arena[plan->pool[l->buffer[6]]], 64);
    arenaut_plan_free(plan);
    free_lowering(l, p);
}

/* ---- several memories, the fastest first ---- */

static arenaut_problem *banks(uint64_t fast, uint64_t slow, const box *boxes, size_t n) {
    arenaut_problem *p = new_problem();
    add_pool(p, "fast", fast, 1);
    add_pool(p, "slow", slow, 1);
    for (size_t i = 0; i < n; i++) add_box(p, boxes[i].size, boxes[i].first, boxes[i].end);
    finish(p);
    return p;
}

TEST(all_goes_to_the_fastest_memory_that_holds_it) {
    const box boxes[] = {{256, 0, 5}, {256, 1, 7}};
    arenaut_problem *p = banks(4096, 65536, boxes, 2);
    arenaut_plan *plan = plan_by(p, "auto");
    assert_int_equal(plan->arena[0], 512);
    assert_int_equal(plan->arena[1], 0);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(buffers_beyond_the_fastest_memory_go_to_the_next) {
    const box boxes[] = {{1024, 0, 11}, {1024, 0, 11}, {1024, 0, 11}};
    arenaut_problem *p = banks(2048, 65536, boxes, 3);
    arenaut_plan *plan = plan_by(p, "auto");
    assert_int_equal(plan->arena[0], 2048);
    assert_int_equal(plan->arena[1], 1024);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(a_memory_is_reused_before_the_next_is_touched) {
    const box boxes[] = {{1024, 0, 5}, {1024, 5, 10}};
    arenaut_problem *p = banks(2048, 8192, boxes, 2);
    arenaut_plan *plan = plan_by(p, "auto");
    assert_int_equal(plan->offset[0], plan->offset[1]);
    assert_int_equal(plan->arena[0], 1024);
    assert_int_equal(plan->arena[1], 0);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(three_memories_fill_one_after_the_other) {
    arenaut_problem *p = new_problem();
    add_pool(p, "tcm", 2048, 1);
    add_pool(p, "sram", 2048, 1);
    add_pool(p, "dram", 65536, 1);
    for (int i = 0; i < 6; i++) add_box(p, 1024, 0, 11);
    finish(p);
    arenaut_plan *plan = plan_by(p, "auto");
    for (uint32_t k = 0; k < 3; k++) assert_int_equal(plan->arena[k], 2048);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(buffers_that_no_memory_holds_are_proven_infeasible) {
    const box boxes[] = {{16384, 0, 5}};
    arenaut_problem *p = banks(1024, 2048, boxes, 1);
    arenaut_plan *plan = plan_by(p, "auto");
    assert_int_equal(plan->quality, ARENAUT_INFEASIBLE);
    assert_int_equal(plan->witness.n_buffers, 1);
    assert_int_equal(plan->witness.buffers[0], 0);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* The pinned buffer fills its memory, so the other goes elsewhere although it would fit. */
TEST(a_pin_keeps_its_memory) {
    arenaut_problem *p = new_problem();
    const arenaut_interval life = {0, 5};
    arenaut_buffer pinned = ARENAUT_BUFFER_INIT;
    add_pool(p, "fast", 1024, 1);
    add_pool(p, "slow", 65536, 1);
    add_box(p, 512, 0, 5);
    pinned.size = 1024;
    pinned.lifetimes = &life;
    pinned.n_lifetimes = 1;
    pinned.pools = 1;
    add_buffer(p, &pinned);
    finish(p);
    arenaut_plan *plan = plan_by(p, "auto");
    assert_int_equal(plan->pool[1], 0);
    assert_int_equal(plan->pool[0], 1);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(each_memory_has_its_own_alignment) {
    arenaut_problem *p = new_problem();
    add_pool(p, "fast", ARENAUT_UNLIMITED, 64);
    add_box(p, 100, 0, 5);
    finish(p);
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_by(p, planners[i]);
        assert_int_equal(plan->arena[0], 128);
        arenaut_plan_free(plan);
    }
    arenaut_problem_free(p);
}
