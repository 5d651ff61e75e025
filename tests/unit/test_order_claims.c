/* Claims about schedules, compared with programs in every equivalent schedule: with views, rights
 * to write over operands, results that partly overlap operands, inputs that stay, in-place
 * concatenations. The given order of a file must make no difference to the optimum. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/pipeline.h>

#include "rewrite/order/program_order.h"
#include "support/order_brute.h"
#include "support/printed.h"
#include "support/random.h"
#include "support/small_orders.h"
#include "support/thorough.h"

enum { OPS = 8, PROGRAMS = 60, JOINED = 60 };

typedef struct small_op {
    const char *name;
    uint32_t inputs[2], n_inputs;
    bool reaches[2]; /* the result may begin this far below that operand, and overlap it */
    int distance[2];
} small_op;

/* Tensor 0 is the input; op i defines tensor i + 1. A tensor that no op reads is a result. */
typedef struct small_program {
    uint32_t n_ops, elements[OPS + 1];
    bool result[OPS + 1];
    small_op op[OPS];
} small_program;

static void draw(small_program *p, rng *r, bool joins) {
    static const char *const unary[] = {"Relu", "Reshape", "Resize", "Relu", "Sigmoid", "Compress"};
    memset(p, 0, sizeof *p);
    p->n_ops = joins ? 5 + rng_below(r, OPS - 4) : 3 + rng_below(r, OPS - 4);
    p->elements[0] = 16 + 16 * rng_below(r, 3);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        small_op *op = &p->op[i];
        const uint32_t a = rng_below(r, i + 1), b = rng_below(r, i + 1);
        op->inputs[0] = a;
        op->inputs[1] = b;
        op->n_inputs = i > 0 && rng_once_in(r, 3) ? 2 : 1;
        for (uint32_t k = 0; k < 2; k++) {
            op->reaches[k] = rng_once_in(r, 2);
            op->distance[k] = 8 * ((int)rng_below(r, 8) - 2);
        }
        op->name = op->n_inputs == 2 ? "Add" : unary[rng_below(r, sizeof unary / sizeof *unary)];
        const bool keeps = strcmp(op->name, "Resize") != 0 && strcmp(op->name, "Compress") != 0;
        p->elements[i + 1] = keeps ? p->elements[a] : 16 + 16 * rng_below(r, 5);
        if (op->n_inputs == 2) p->elements[i + 1] = p->elements[a];
        if (op->n_inputs == 2 && p->elements[a] != p->elements[b]) op->name = "Compress";
        if (!joins || a == b || a == 0 || b == 0 || rng_once_in(r, 4)) continue;
        op->name = "Concat";
        op->n_inputs = 2;
        op->reaches[0] = op->reaches[1] = false;
        p->elements[i + 1] = p->elements[a] + p->elements[b];
    }
    for (uint32_t t = 1; t <= p->n_ops; t++) {
        p->result[t] = t == p->n_ops || rng_once_in(r, 8);
        bool read = false;
        for (uint32_t i = 0; i < p->n_ops; i++) {
            for (uint32_t k = 0; k < p->op[i].n_inputs; k++) read = read || p->op[i].inputs[k] == t;
        }
        p->result[t] = p->result[t] || !read;
    }
}

static void put_program(text *t, const small_program *p, const uint32_t *ops) {
    t->n = 0;
    put(t,
        "{\"schema\": \"arenaut.program/1\", \"dialect\": \"onnx\", \"dialect_version\": 17, "
        "\"inputs\": [0], \"tensors\": [");
    for (uint32_t i = 0; i <= p->n_ops; i++) {
        put(t, "%s{\"name\": \"t%u\", \"dtype\": \"int8\", \"dims\": [1, %u]}", i ? ", " : "", i,
            p->elements[i]);
    }
    put(t, "], \"outputs\": [");
    const char *between = "";
    for (uint32_t i = 1; i <= p->n_ops; i++) {
        if (!p->result[i]) continue;
        put(t, "%s%u", between, i);
        between = ", ";
    }
    put(t, "], \"ops\": [");
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const small_op *op = &p->op[ops[i]];
        put(t, "%s{\"name\": \"%s\", \"inputs\": [%u", i ? ", " : "", op->name, op->inputs[0]);
        if (op->n_inputs == 2) put(t, ", %u", op->inputs[1]);
        put(t, "], \"outputs\": [%u], \"overlaps\": [", ops[i] + 1);
        between = "";
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (!op->reaches[k]) continue;
            put(t, "%s{\"output\": 0, \"input\": %u, \"distance\": %d}", between, k,
                op->distance[k]);
            between = ", ";
        }
        put(t, "]}");
    }
    put(t, "]}");
}

/* ---- all schedules ---- */

static bool may_run(const void *context, uint32_t ran, uint32_t op) {
    const small_program *p = context;
    for (uint32_t k = 0; k < p->op[op].n_inputs; k++) {
        const uint32_t t = p->op[op].inputs[k];
        if (t > 0 && !((ran >> (t - 1)) & 1)) return false;
    }
    return true;
}

/* ---- claims ---- */

typedef struct said {
    bool known;
    uint64_t given, best, bound, at_ends;
    uint64_t planned, reordered; /* the arena, in the given order and in the chosen schedule */
} said;

static arenaut_pipeline *run(const text *t, arenaut_pipeline_options options, bool reorder) {
    arenaut_pipeline *p = NULL;
    arenaut_error err;
    options.reordering.on = reorder;
    assert_ok(arenaut_pipeline_run(t->bytes, (size_t)t->n, &options, NULL, &p, &err), err);
    return p;
}

static said ask(const small_program *program, const uint32_t *ops,
                arenaut_pipeline_options options) {
    text t;
    put_program(&t, program, ops);
    arenaut_pipeline *p = run(&t, options, false), *q = run(&t, options, true);
    assert_int_equal(p->plan->quality, ARENAUT_OPTIMAL);
    const said s = {q->ordering.known,   q->ordering.given,  q->ordering.best,  q->ordering.bound,
                    q->ordering.at_ends, p->figures.planned, q->figures.planned};
    arenaut_pipeline_free(p);
    arenaut_pipeline_free(q);
    assert_true(!s.known || (s.bound <= s.best && s.best <= s.given));
    assert_true(s.reordered <= s.planned);
    return s;
}

static void compare(const small_program *p, const small_orders *o,
                    arenaut_pipeline_options options) {
    uint64_t least = UINT64_MAX, least_planned = UINT64_MAX;
    said first = {0};
    for (uint32_t i = 0; i < o->n; i++) {
        const said s = ask(p, o->ops[i], options);
        if (i == 0) first = s;
        assert_true(s.known && s.bound == s.best);
        assert_int_equal(s.best, first.best);
        if (s.given < least) least = s.given;
        if (s.planned < least_planned) least_planned = s.planned;
        assert_true(s.planned + s.at_ends >= s.bound);
    }
    if (!o->all) return;
    assert_int_equal(least, first.best);
    if (first.reordered + first.at_ends <= first.bound)
        assert_true(least_planned >= first.reordered);
}

static void compare_programs(arenaut_pipeline_options options, uint64_t seed) {
    rng r = {seed};
    uint32_t several = 0;
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        small_program p;
        draw(&p, &r, options.passes != NULL);
        small_orders o = small_orders_of(p.n_ops, may_run, &p);
        compare(&p, &o, options);
        several += o.n > 1;
    }
    assert_true(several > PROGRAMS / 3);
}

TEST(the_best_order_is_the_same_whatever_the_order_of_the_file) {
    compare_programs((arenaut_pipeline_options){.overwrite = ARENAUT_OVERWRITE_OFF}, 1);
}

TEST(rights_to_write_over_operands_count_in_every_order) {
    compare_programs((arenaut_pipeline_options){.overwrite = ARENAUT_OVERWRITE_ON}, 2);
}

TEST(inputs_that_stay_and_larger_alignments_count_in_every_order) {
    compare_programs(
        (arenaut_pipeline_options){
            .overwrite = ARENAUT_OVERWRITE_ON, .preserve_inputs = true, .align = 64},
        3);
}

TEST(results_that_lie_over_operands_in_part_count_in_every_order) {
    compare_programs((arenaut_pipeline_options){.overwrite = ARENAUT_OVERWRITE_ON, .overlap = true},
                     4);
}

/* ---- joins ---- */

/* The results of the joins in this choice. */
static uint32_t list_joins(const small_program *p, uint32_t choice, uint32_t *results) {
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (strcmp(p->op[i].name, "Concat") != 0) continue;
        if (choice >> at++ & 1) results[n++] = i + 1;
    }
    return n;
}

static uint64_t plan_joined(const small_program *program, const uint32_t *ops, uint32_t choice,
                            arenaut_pipeline_options options) {
    uint32_t results[OPS];
    text t;
    put_program(&t, program, ops);
    options.joining = (arenaut_joining){true, results, list_joins(program, choice, results)};
    arenaut_pipeline *p = run(&t, options, false);
    assert_int_equal(p->plan->quality, ARENAUT_OPTIMAL);
    const uint64_t planned = p->figures.planned;
    arenaut_pipeline_free(p);
    return planned;
}

/* The least live bytes in any schedule, by the relaxation of all choices. */
static uint64_t relaxed_peak(const small_program *program, const uint32_t *ops,
                             arenaut_pipeline_options options) {
    uint32_t results[OPS];
    const uint32_t n = list_joins(program, UINT32_MAX, results);
    const arenaut_lowering_options lowered = {.overlap = options.overlap,
                                              .preserve_inputs = options.preserve_inputs};
    arn_program_order *order = NULL;
    arenaut_error err = {0};
    text t;
    put_program(&t, program, ops);
    options.joining.chosen = true; /* none */
    arenaut_pipeline *p = run(&t, options, false);
    assert_ok(arn_program_order_new(p->document.program, p->lowering, p->target, &lowered, NULL,
                                    &order, &err),
              err);
    const arn_relaxation joins = {.joins = results, .n_joins = n};
    assert_ok(arn_program_order_relax(order, p->document.program, p->lowering, &joins, &err), err);
    const uint64_t peak = order_brute_peak(arn_program_order_problem(order, 0));
    arn_program_order_free(order);
    arenaut_pipeline_free(p);
    return peak;
}

/* Numbers of programs: with some joins in place and others not; with the bound reached; with the
 * bound reached by the relaxation alone. */
typedef struct join_counts {
    uint32_t programs, some, proven, relaxed;
} join_counts;

/* All choices of in-place joins, in all schedules: none is below the bound. */
static void compare_choices(const small_program *p, const small_orders *o,
                            arenaut_pipeline_options options, join_counts *c) {
    const uint32_t given[OPS] = {0, 1, 2, 3, 4, 5, 6, 7};
    uint32_t results[OPS];
    uint64_t least = UINT64_MAX;
    text t;
    put_program(&t, p, given);
    arenaut_pipeline *q = run(&t, options, true);
    const arenaut_ordering known = q->ordering;
    const uint32_t n = list_joins(p, UINT32_MAX, results);
    for (uint32_t i = 0; i < o->n; i++) {
        for (uint32_t choice = 0; choice < 1U << n; choice++) {
            const uint64_t planned = plan_joined(p, o->ops[i], choice, options);
            if (planned < least) least = planned;
        }
    }
    assert_true(known.known && known.n_joins <= n && known.n_in_place <= known.n_joins);
    assert_true(known.bound <= known.best && known.best <= known.given);
    const uint64_t relaxed = relaxed_peak(p, given, options);
    assert_true(least + known.at_ends >= known.bound && least + known.at_ends >= relaxed);
    assert_true(!o->all || q->figures.planned >= least);
    if (o->all && q->figures.planned + known.at_ends <= known.bound) {
        assert_int_equal(q->figures.planned, least);
    }
    assert_true(known.n_joins > 3 || known.bound == known.best);
    c->programs++;
    c->some += known.n_in_place > 0 && known.n_in_place < known.n_joins;
    c->proven += known.bound == known.best;
    c->relaxed += known.n_joins > 0 && relaxed == known.best;
    arenaut_pipeline_free(q);
}

/* A share of the programs, until a relaxed one is as good as any. */
static bool wants_more(const join_counts *c) {
    return c->programs < 12 + drawn(JOINED - 12) || (c->relaxed == 0 && c->programs < JOINED);
}

static join_counts compare_joined_programs(arenaut_pipeline_options options, uint64_t seed) {
    rng r = {seed};
    join_counts c = {0};
    options.passes = "slices";
    while (wants_more(&c)) {
        small_program p;
        draw(&p, &r, true);
        small_orders o = small_orders_of(p.n_ops, may_run, &p);
        compare_choices(&p, &o, options, &c);
    }
    return c;
}

TEST(which_joins_are_in_place_is_chosen_with_the_order) {
    const join_counts c =
        compare_joined_programs((arenaut_pipeline_options){.overwrite = ARENAUT_OVERWRITE_OFF}, 5);
    assert_true(3 * c.proven > 2 * c.programs && c.relaxed > 0);
}

TEST(joins_in_place_are_chosen_with_rights_to_write_over_operands) {
    const join_counts c = compare_joined_programs(
        (arenaut_pipeline_options){.overwrite = ARENAUT_OVERWRITE_ON, .align = 64}, 6);
    assert_true(3 * c.proven > 2 * c.programs && c.relaxed > 0);
}

TEST(joins_in_place_are_chosen_with_results_over_operands_in_part) {
    const join_counts c = compare_joined_programs(
        (arenaut_pipeline_options){.overwrite = ARENAUT_OVERWRITE_ON, .overlap = true}, 7);
    assert_true(3 * c.proven > 2 * c.programs && c.relaxed > 0);
}

TEST(joins_and_copies_of_unknown_tensors_are_refused) {
    small_program p = {0};
    rng r = {9};
    draw(&p, &r, true);
    const uint32_t given[OPS] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint32_t missing[] = {p.n_ops + 1};
    const arn_part parts[] = {{p.n_ops + 1, 0, 0, 1}, {0, p.n_ops + 1, 0, 1}};
    const arn_relaxation wrong[] = {{.joins = missing, .n_joins = 1},
                                    {.parts = parts, .n_parts = 1},
                                    {.parts = parts + 1, .n_parts = 1}};
    text t;
    put_program(&t, &p, given);
    arenaut_pipeline *q = run(&t, (arenaut_pipeline_options){0}, false);
    const arenaut_program *program = q->document.program;
    assert_int_equal(program->n_tensors, p.n_ops + 1);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        arn_program_order *order = NULL;
        arenaut_error err = {0};
        assert_ok(arn_program_order_new(program, q->lowering, q->target, NULL, NULL, &order, &err),
                  err);
        assert_int_equal(arn_program_order_relax(order, program, q->lowering, &wrong[i], &err),
                         ARENAUT_BAD_ARGUMENT);
        arn_program_order_free(order);
    }
    arenaut_pipeline_free(q);
}

TEST(joins_in_place_are_chosen_with_anything_else) {
    rng r = {8};
    join_counts c = {0};
    while (wants_more(&c)) {
        const arenaut_pipeline_options options = {
            .passes = "slices",
            .overwrite = rng_once_in(&r, 2) ? ARENAUT_OVERWRITE_ON : ARENAUT_OVERWRITE_OFF,
            .overlap = rng_once_in(&r, 3),
            .align = rng_once_in(&r, 3) ? 256 : 0,
            .preserve_inputs = rng_once_in(&r, 2),
            .exclude_io = rng_once_in(&r, 2),
        };
        small_program p;
        draw(&p, &r, true);
        small_orders o = small_orders_of(p.n_ops, may_run, &p);
        compare_choices(&p, &o, options, &c);
    }
    assert_true(2 * c.proven > c.programs && c.relaxed > 0);
}
