/* Rematerialization: the checker's verdicts on rewritten programs are held against running both
 * with numbers; the results of the search are planned and checked. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/find_within.h"
#include "rewrite/order/program_order.h"
#include "rewrite/recompute/recompute_sequence.h"
#include "rewrite/rematerialize/remat_program.h"
#include "support/drawn.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/programs.h"
#include "support/random.h"
#include "support/recompute_machine.h"
#include "support/remat_brute.h"
#include "support/unbudgeted.h"

static arenaut_status check(const arenaut_program *before, const arenaut_rewrite *rewrite) {
    arenaut_finding finding;
    const arenaut_status st = arenaut_check_rewrite(before, rewrite, NULL, &finding, NULL);
    assert_int_equal(finding.rule,
                     st == ARENAUT_REJECTED ? ARENAUT_RULE_REWRITE : ARENAUT_RULE_NONE);
    return st;
}

TEST(the_checker_accepts_what_computes_the_same_and_nothing_else) {
    const uint32_t tried = drawn(4000);
    recompute_counts counts = {0};
    for (uint64_t seed = 1; seed <= tried; seed++) recompute_machine_try(seed, &counts);
    assert_true(counts.accepted > 2 * tried);
    assert_true(counts.rejected > tried);
    assert_true(counts.gained > tried / 20);
}

/* ---- forbidden repetitions ---- */

/* x ─ CONV ─ a ─ RELU ─ b ─ CONV ─ c ─ CONV ─ d ─ JOIN (d, b, a): a and b wait below a large c. */
static arenaut_program *waiting(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 100, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 1000, ARENAUT_INTERMEDIATE);
    const uint32_t b = add_tensor(p, "b", 1000, ARENAUT_INTERMEDIATE);
    const uint32_t c = add_tensor(p, "c", 3000, ARENAUT_INTERMEDIATE);
    const uint32_t d = add_tensor(p, "d", 400, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 100, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "CONV_2D", IN(x), OUT(a));
    ADD_OP(p, .name = "RELU", IN(a), OUT(b));
    ADD_OP(p, .name = "CONV_2D", IN(b), OUT(c));
    ADD_OP(p, .name = "CONV_2D", IN(c), OUT(d));
    ADD_OP(p, .name = "CONCATENATION", IN(d, b, a), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    return p;
}

enum { X, A, B, C, D, Y, COPY }; /* its tensors, and a copy of b */

static arenaut_rewrite *again(void) {
    arenaut_program *p = waiting();
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    const uint32_t ops[] = {0, 1, 2, 3, 1, 4};
    assert_ok(arn_recompute(p, ops, COUNT_OF(ops), &rewrite, &err), err);
    return rewrite;
}

TEST(an_op_that_runs_again_makes_copies_for_those_behind_it) {
    arenaut_rewrite *rewrite = again();
    const arenaut_program *p = rewrite->program;
    assert_int_equal(p->n_tensors, COPY + 1);
    assert_int_equal(rewrite->n_ops_before, 5);
    assert_string_equal(p->tensors[COPY].name, "b/2");
    assert_int_equal(rewrite->tensors[COPY].tensor, B);
    assert_false(rewrite->tensors[COPY].same);
    assert_int_equal(p->ops[1].outputs[0], B);
    assert_int_equal(p->ops[2].inputs[0], B);
    assert_int_equal(p->ops[4].outputs[0], COPY);
    assert_int_equal(p->ops[5].inputs[1], COPY);
    assert_int_equal(p->ops[5].inputs[2], A);
    arn_rewrite_free(rewrite);
}

typedef void (*spoiler)(arenaut_rewrite *rewrite);

static void name_state(arenaut_rewrite *r) { r->program->tensors[COPY].qualified_name = "b"; }
static void hold_elsewhere(arenaut_rewrite *r) { r->program->tensors[COPY].caller_owned = true; }
static void be_constant(arenaut_rewrite *r) { r->program->tensors[COPY].cls = ARENAUT_CONSTANT; }
static void be_smaller(arenaut_rewrite *r) { r->program->tensors[COPY].bytes--; }
static void copy_the_input(arenaut_rewrite *r) { r->tensors[COPY].tensor = X; }
static void copy_another(arenaut_rewrite *r) { r->tensors[COPY].tensor = A; }
static void copy_nothing(arenaut_rewrite *r) { r->tensors[COPY].tensor = ARENAUT_NONE; }
static void be_two_of_one(arenaut_rewrite *r) { r->tensors[COPY].same = true; }
static void be_no_original(arenaut_rewrite *r) { r->tensors[B].same = false; }
static void be_another_op(arenaut_rewrite *r) { r->ops[4] = 0; }
static void be_no_op(arenaut_rewrite *r) { r->ops[4] = 9; }
static void be_called_else(arenaut_rewrite *r) { r->program->ops[4].name = "TANH"; }
static void write_anew(arenaut_rewrite *r) { *(uint32_t *)r->program->ops[4].outputs = B; }
static void leave_out_the_first(arenaut_rewrite *r) {
    *(uint32_t *)r->program->ops[1].outputs = COPY;
}
static void forget_a_tensor(arenaut_rewrite *r) { r->n_tensors--; }
static void forget_an_op(arenaut_rewrite *r) { r->n_ops--; }
static void depend_on_something(arenaut_rewrite *r) {
    static const uint32_t first = 0;
    r->program->ops[4].after = &first;
    r->program->ops[4].n_after = 1;
}
static void give_a_copy_back(arenaut_rewrite *r) {
    *(uint32_t *)r->program->methods[0].outputs = COPY;
}

TEST(tampered_copies_are_rejected) {
    static const spoiler spoilers[] = {
        name_state,   hold_elsewhere,      be_constant,     be_smaller,          copy_the_input,
        copy_another, copy_nothing,        be_two_of_one,   be_no_original,      be_another_op,
        be_no_op,     be_called_else,      write_anew,      leave_out_the_first, forget_a_tensor,
        forget_an_op, depend_on_something, give_a_copy_back};
    arenaut_program *before = waiting();
    for (size_t i = 0; i < COUNT_OF(spoilers); i++) {
        arenaut_rewrite *rewrite = again();
        assert_int_equal(check(before, rewrite), ARENAUT_OK);
        spoilers[i](rewrite);
        assert_int_not_equal(check(before, rewrite), ARENAUT_OK);
        arn_rewrite_free(rewrite);
    }
    arn_program_free(before);
}

/* x ─ `name` ─ a; y of both; the first op is repeated before y is made. */
static arenaut_status repeat_op(const char *name, const char *dialect, arenaut_class operand) {
    arenaut_program *both[2];
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    for (int i = 0; i < 2; i++) {
        arenaut_program *p = both[i] = new_program();
        begin_method(p, "main");
        const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
        const uint32_t s = add_tensor(p, "s", 16, operand);
        const uint32_t a = add_tensor(p, "a", 16, ARENAUT_INTERMEDIATE);
        const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
        ADD_OP(p, .name = name, IN(x, s), OUT(a));
        ADD_OP(p, .name = "ADD", IN(x, a), OUT(y));
        FINISH(p, LIST(x), LIST(y));
        if (dialect) assert_ok(arn_program_set_dialect(p, dialect, &err), err);
    }
    const uint32_t ops[] = {0, 0, 1};
    assert_ok(arn_recompute(both[1], ops, COUNT_OF(ops), &rewrite, &err), err);
    const arenaut_status st = check(both[0], rewrite);
    arn_rewrite_free(rewrite);
    arn_program_free(both[0]);
    return st;
}

TEST(ops_with_side_effects_are_not_rematerialized) {
    assert_int_equal(repeat_op("MUL", NULL, ARENAUT_CONSTANT), ARENAUT_OK);
    assert_int_equal(repeat_op("RANDOM_UNIFORM", NULL, ARENAUT_CONSTANT), ARENAUT_REJECTED);
    assert_int_equal(repeat_op("my_op", NULL, ARENAUT_CONSTANT), ARENAUT_REJECTED);
    assert_int_equal(repeat_op("SVDF", NULL, ARENAUT_STATE), ARENAUT_REJECTED);
    assert_int_equal(repeat_op("aten::mul.Tensor", "aten", ARENAUT_STATE), ARENAUT_OK);
    assert_int_equal(repeat_op("aten::native_dropout", "aten", ARENAUT_STATE), ARENAUT_REJECTED);
    assert_int_equal(repeat_op("aten::normal.Tensor_Tensor", "aten", ARENAUT_STATE),
                     ARENAUT_REJECTED);
    assert_int_equal(repeat_op("aten::empty_like", "aten", ARENAUT_STATE), ARENAUT_REJECTED);
    assert_int_equal(repeat_op("Multinomial", "onnx", ARENAUT_STATE), ARENAUT_REJECTED);
}

TEST(every_op_stands_in_a_sequence) {
    const uint32_t missing[] = {0, 1, 2, 3, 1}, beyond[] = {0, 1, 2, 3, 4, 5};
    arenaut_program *p = waiting();
    arenaut_rewrite *rewrite = NULL;
    assert_int_equal(arn_recompute(p, missing, COUNT_OF(missing), &rewrite, NULL),
                     ARENAUT_BAD_ARGUMENT);
    assert_int_equal(arn_recompute(p, beyond, COUNT_OF(beyond), &rewrite, NULL),
                     ARENAUT_BAD_ARGUMENT);
    assert_null(rewrite);
    arn_program_free(p);
}

/* ---- results of the search ---- */

static arn_recomputation *find(const arenaut_program *p, const arenaut_recompute_options *options) {
    const arenaut_target *target = arenaut_target_find("generic");
    arenaut_lowering *lowering = NULL;
    arn_program_order *order = NULL;
    arn_recomputation *found = NULL;
    arenaut_error err = {0};
    uint32_t base[200];
    for (uint32_t i = 0; i < p->n_ops; i++) base[i] = i;
    assert_ok(arenaut_lower(p, target, NULL, NULL, &lowering, &err), err);
    const arenaut_status st = arn_program_order_new(p, lowering, target, NULL, NULL, &order, &err);
    if (st == ARENAUT_OK && arn_program_order_count(order) == 1 && p->n_methods == 1) {
        assert_ok(recompute_find(&(arn_recompute_task){p, lowering, order, p, base, false}, options,
                                 NULL, &found, &err),
                  err);
    } else if (st == ARENAUT_OK) {
        assert_int_equal(recompute_find(&(arn_recompute_task){p, lowering, order, p, base, false},
                                        options, NULL, &found, &err),
                         ARENAUT_REFUSED);
    } else {
        assert_int_equal(st, ARENAUT_REFUSED);
    }
    arn_program_order_free(order);
    arenaut_lowering_free(lowering);
    return found;
}

TEST(a_tensor_below_the_peak_is_made_again_by_a_cheap_op) {
    const arenaut_recompute_options none = {.max_ops = arenaut_id(0), .effort = 1};
    const uint32_t expected[] = {0, 1, 2, 3, 1, 4};
    arenaut_program *p = waiting();
    arn_recomputation *found = find(p, NULL);
    assert_int_equal(found->before, 5400);
    assert_int_equal(found->after, 5000);
    assert_int_equal(found->n_ops, COUNT_OF(expected));
    assert_memory_equal(found->ops, expected, sizeof expected);
    arn_recomputation_free(found);
    found = find(p, &none);
    assert_int_equal(found->n_ops, p->n_ops);
    assert_int_equal(found->after, 5400);
    arn_recomputation_free(found);
    arn_program_free(p);
}

/* Their files may number ops as they like: far apart, up to the last number there is. */
TEST(ops_are_found_by_any_numbers_that_they_have) {
    const uint32_t expected[] = {0, 1, 2, 3, 1, 4};
    arenaut_program *p = waiting();
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    for (uint32_t i = 0; i < p->n_ops; i++) {
        p->ops[i].file_index = arenaut_id(ARENAUT_NONE - 2 - 700000000 * (p->n_ops - 1 - i));
    }
    arn_recomputation *found = find(p, NULL);
    assert_int_equal(found->n_ops, COUNT_OF(expected));
    assert_memory_equal(found->ops, expected, sizeof expected);
    arn_recomputation_free(found);
    assert_ok(arn_recompute(p, expected, COUNT_OF(expected), &rewrite, &err), err);
    assert_int_equal(rewrite->program->ops[4].file_index.id, ARENAUT_NONE - 1);
    arn_rewrite_free(rewrite);
}

TEST(ops_that_run_again_need_numbers_too) {
    const uint32_t ops[] = {0, 1, 2, 3, 1, 4};
    arenaut_program *p = waiting();
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    p->ops[2].file_index = arenaut_id(ARENAUT_NONE - 1);
    assert_int_equal(arn_recompute(p, ops, COUNT_OF(ops), &rewrite, &err), ARENAUT_TOO_LARGE);
    assert_non_null(strstr(err.msg, "1 copies of ops, behind op 4294967294 of the file"));
    assert_null(rewrite);
    arn_program_free(p);
}

/* A kernel's working memory that the program states is of one op alone. */
TEST(an_op_with_scratch_of_its_own_runs_once) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 100, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 1000, ARENAUT_INTERMEDIATE);
    const uint32_t b = add_tensor(p, "b", 3000, ARENAUT_INTERMEDIATE);
    const uint32_t c = add_tensor(p, "c", 400, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 100, ARENAUT_OUTPUT);
    const uint32_t own = add_tensor(p, "own", 8, ARENAUT_SCRATCH);
    ADD_OP(p, .name = "RELU", IN(x), OUT(a), SCRATCH(own));
    ADD_OP(p, .name = "CONV_2D", IN(a), OUT(b));
    ADD_OP(p, .name = "CONV_2D", IN(b), OUT(c));
    ADD_OP(p, .name = "CONCATENATION", IN(c, a, x), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    arn_recomputation *found = find(p, NULL);
    assert_int_equal(found->n_ops, p->n_ops);
    p->ops[0].n_scratch = 0;
    arn_recomputation_free(found);
    found = find(p, NULL);
    assert_int_equal(found->n_ops, p->n_ops + 1);
    arn_recomputation_free(found);
    arn_program_free(p);
}

/* Each result computes the same; as many bytes are alive at once as was said, or fewer where views
 * were counted apart. */
static void try_found(uint64_t seed) {
    rng first = {seed}, second = {seed};
    arenaut_program *before = random_program(&first), *after = random_program(&second);
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    arn_recomputation *found = find(before, NULL);
    const bool gained = found && found->n_ops > before->n_ops;
    if (found) {
        assert_true(found->after <= found->before);
        assert_int_equal(found->after < found->before, gained);
        assert_ok(arn_recompute(after, found->ops, found->n_ops, &rewrite, &err), err);
        assert_int_equal(check(before, rewrite), ARENAUT_OK);
    }
    arn_recomputation_free(found);
    arn_program_free(before);
    arn_program_free(after);
}

/* As above, and TANH makes e of b; JOIN reads that. `after`: the second CONV states to run after
 * TANH. `view`: it reads another name of TANH's result. */
static arenaut_program *with_unread(bool after, bool view) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 100, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 1000, ARENAUT_INTERMEDIATE);
    const uint32_t b = add_tensor(p, "b", 1000, ARENAUT_INTERMEDIATE);
    const uint32_t e = add_tensor(p, "e", 1000, ARENAUT_INTERMEDIATE);
    const uint32_t c = add_tensor(p, "c", 3000, ARENAUT_INTERMEDIATE);
    const uint32_t d = add_tensor(p, "d", 400, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 100, ARENAUT_OUTPUT);
    const uint32_t v = add_tensor(p, "v", 1000, ARENAUT_INTERMEDIATE);
    const uint32_t tanh = 2;
    p->tensors[v].view_of = e;
    ADD_OP(p, .name = "CONV_2D", IN(x), OUT(a));
    ADD_OP(p, .name = "RELU", IN(a), OUT(b));
    ADD_OP(p, .name = "TANH", IN(b), OUT(e));
    ADD_OP(p, .name = "CONV_2D", IN(view ? v : b), OUT(c), .after = &tanh, .n_after = after);
    ADD_OP(p, .name = "CONV_2D", IN(c), OUT(d));
    ADD_OP(p, .name = "CONCATENATION", IN(d, e, a), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    return p;
}

static void assert_left(bool after, bool view, const uint32_t *expected, uint32_t n) {
    uint32_t ops[] = {0, 1, 2, 3, 4, 1, 2, 5}, n_ops = COUNT_OF(ops);
    arenaut_program *p = with_unread(after, view);
    arn_region region;
    arn_region_init(&region, NULL);
    assert_true(arn_recompute_leave_out_unread(p, &region, ops, &n_ops));
    assert_int_equal(n_ops, n);
    assert_memory_equal(ops, expected, n * sizeof *ops);
    arn_region_free(&region);
    arn_program_free(p);
}

TEST(first_runs_whose_results_are_unread_are_left_out) {
    const uint32_t once[] = {0, 1, 3, 4, 1, 2, 5}, all[] = {0, 1, 2, 3, 4, 1, 2, 5};
    assert_left(false, false, once, COUNT_OF(once));
    assert_left(true, false, all, COUNT_OF(all));
    assert_left(false, true, all, COUNT_OF(all));
}

/* Then that is an order, which is looked for elsewhere. */
TEST(a_sequence_keeps_some_op_that_runs_again) {
    uint32_t ops[] = {0, 1, 2, 3, 4, 2, 5}, n_ops = COUNT_OF(ops);
    arenaut_program *p = with_unread(false, false);
    arn_region region;
    arn_region_init(&region, NULL);
    assert_true(arn_recompute_leave_out_unread(p, &region, ops, &n_ops));
    assert_int_equal(n_ops, COUNT_OF(ops));
    assert_int_equal(ops[2], 2);
    arn_region_free(&region);
    arn_program_free(p);
}

TEST(rematerialized_random_programs_compute_the_same) {
    for (uint64_t seed = 1; seed <= 2000; seed++) try_found(seed);
}

/* ---- few ops ---- */

enum { MOST_OPS = 8 };

/* What is said with at most so many more ops is true of the budget or, without one, of the peak. */
static arn_recomputation *find_few(const arenaut_program *p,
                                   const arenaut_recompute_options *options) {
    const arenaut_target *target = arenaut_target_find("generic");
    arenaut_lowering *lowering = NULL;
    arn_program_order *order = NULL;
    arn_recomputation *found = NULL;
    arn_remat_program problem;
    arn_region region;
    arenaut_error err = {0};
    uint32_t base[MOST_OPS];
    for (uint32_t i = 0; i < p->n_ops; i++) base[i] = i;
    assert_ok(arenaut_lower(p, target, NULL, NULL, &lowering, &err), err);
    assert_ok(arn_program_order_new(p, lowering, target, NULL, NULL, &order, &err), err);
    const arn_recompute_task task = {p, lowering, order, p, base, false};
    assert_ok(recompute_find(&task, options, NULL, &found, &err), err);
    arn_region_init(&region, NULL);
    assert_ok(arn_remat_program_make(&task, options, &region, &problem, &err), err);
    const uint64_t kept = options->budget ? options->budget : found->after;
    const uint64_t least = remat_brute_added(&problem.problem, kept);
    assert_true(found->n_ops <= p->n_ops + options->max_ops.id);
    assert_true(found->bound <= least);
    assert_true(found->certificate->budget == options->budget || options->budget == 0);
    assert_true(found->certificate->budget >= kept);
    assert_int_equal(found->certificate->time.value, found->bound);
    assert_int_equal(found->fits, found->after <= kept);
    assert_true(!found->fits || found->added >= least);
    arn_region_free(&region);
    arn_program_order_free(order);
    arenaut_lowering_free(lowering);
    return found;
}

/* Ops of one or two operands, some of which are made long before; results are of many sizes. */
static arenaut_program *small_program(const uint32_t *sizes, const uint32_t *others, uint32_t n) {
    arenaut_program *p = new_program();
    uint32_t made[MOST_OPS + 1];
    begin_method(p, "main");
    for (uint32_t i = 0; i <= n; i++) {
        const arenaut_class cls = i == 0   ? ARENAUT_INPUT
                                  : i == n ? ARENAUT_OUTPUT
                                           : ARENAUT_INTERMEDIATE;
        made[i] = add_tensor(p, NULL, sizes[i], cls);
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t last = made[i], other = made[others[i]];
        if (other == last) ADD_OP(p, .name = "CONV_2D", IN(last), OUT(made[i + 1]));
        else ADD_OP(p, .name = "CONCATENATION", IN(last, other), OUT(made[i + 1]));
    }
    SET_IO(p, 0, LIST(made[0]), LIST(made[n]));
    finish_program(p);
    return p;
}

/* The search for few ops comes to a budget of 52, in which all sequences add 16 or more. */
TEST(a_bound_with_few_ops_is_of_the_budget) {
    const uint32_t sizes[] = {19, 7, 12, 4, 1, 17, 8, 14, 1}, others[] = {0, 1, 2, 0, 0, 0, 2, 4};
    const uint64_t costs[] = {6, 16, 5, 8, 12, 13, 16, 13};
    const arenaut_recompute_options options = {
        .budget = 56, .max_ops = arenaut_id(1), .costs = costs, .effort = 128};
    arenaut_program *p = small_program(sizes, others, COUNT_OF(others));
    arn_recomputation *found = find_few(p, &options);
    assert_int_equal(found->bound, 13);
    assert_int_equal(found->added, 16);
    assert_int_equal(found->after, 52);
    assert_int_equal(found->n_ops, p->n_ops + 1);
    arn_recomputation_free(found);
    arn_program_free(p);
}

TEST(what_is_said_with_few_ops_is_true_of_the_budget) {
    const uint32_t tried = drawn(3000);
    uint32_t repeated = 0, missed = 0;
    for (uint64_t seed = 1; seed <= tried; seed++) {
        rng r = {seed};
        uint32_t sizes[MOST_OPS + 1], others[MOST_OPS];
        uint64_t costs[MOST_OPS];
        const uint32_t n = 4 + rng_below(&r, MOST_OPS - 3);
        for (uint32_t i = 0; i <= n; i++) sizes[i] = 1 + rng_below(&r, 20);
        for (uint32_t i = 0; i < n; i++) {
            others[i] = rng_below(&r, i + 1);
            costs[i] = 1 + rng_below(&r, 20);
        }
        const arenaut_recompute_options options = {
            .budget = rng_once_in(&r, 4) ? 0 : 20 + rng_below(&r, 50),
            .max_ops = arenaut_id(rng_below(&r, 4)),
            .costs = costs,
            .effort = UINT64_C(1) << rng_below(&r, 14)};
        arenaut_program *p = small_program(sizes, others, n);
        arn_recomputation *found = find_few(p, &options);
        repeated += found->n_ops > n;
        missed += !found->fits;
        arn_recomputation_free(found);
        arn_program_free(p);
    }
    assert_true(repeated >= tried / 60 && missed > tried / 30);
}

/* `context`: options; NULL: none. */
static arenaut_status find_and_recompute(void *context, const arenaut_allocator *allocator) {
    arenaut_program *p = waiting();
    const arenaut_target *target = arenaut_target_find("generic");
    const uint32_t base[] = {0, 1, 2, 3, 4};
    arenaut_lowering *lowering = NULL;
    arn_program_order *order = NULL;
    arn_recomputation *found = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_lower(p, target, NULL, NULL, &lowering, &err), err);
    assert_ok(arn_program_order_new(p, lowering, target, NULL, NULL, &order, &err), err);
    const arenaut_status st =
        recompute_find(&(arn_recompute_task){p, lowering, order, p, base, false}, context,
                       allocator, &found, &err);
    if (st == ARENAUT_OK) assert_int_equal(found->n_ops, context ? 5 : 6);
    arn_recomputation_free(found);
    arn_program_order_free(order);
    free_lowering(lowering, p);
    return st;
}

TEST(without_memory_nothing_is_found_and_nothing_leaks) {
    arenaut_recompute_options none = {.max_ops = arenaut_id(0), .effort = 1};
    survives_every_allocation_failure(find_and_recompute, NULL);
    survives_every_allocation_failure(find_and_recompute, &none);
}
