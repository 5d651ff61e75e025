/* What is said of orders, held against programs in every order that computes the same: with views,
 * rights to write over operands, results that lie over operands in part, inputs that stay, joins
 * that are written in place. The
 * order in which a file happens to have its ops must make no difference to what is best. */
#include "support/test.h"

#include <stdarg.h>
#include <stdlib.h>

#include <arenaut/pipeline.h>

#include "support/random.h"

enum { OPS = 6, ORDERS = 24, PROGRAMS = 60 };

typedef struct small_op {
    const char *name;
    uint32_t inputs[2], n_inputs;
    bool reaches[2]; /* the result may begin so far below that operand, and lie over it there */
    int distance[2];
} small_op;

/* Tensor 0 is the input; op i makes tensor i + 1. What nobody reads is a result. */
typedef struct small_program {
    uint32_t n_ops, elements[OPS + 1];
    bool result[OPS + 1];
    small_op op[OPS];
} small_program;

static void draw(small_program *p, rng *r, bool joins) {
    static const char *const unary[] = {"Relu", "Reshape", "Resize", "Relu", "Sigmoid", "Compress"};
    memset(p, 0, sizeof *p);
    p->n_ops = 3 + rng_below(r, OPS - 2);
    p->elements[0] = 16 + 16 * rng_below(r, 3);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        small_op *op = &p->op[i];
        const uint32_t a = rng_below(r, i + 1), b = rng_below(r, i + 1);
        op->inputs[0] = a;
        op->inputs[1] = b;
        op->n_inputs = i > 0 && rng_once_in(r, joins ? 2 : 3) ? 2 : 1;
        for (uint32_t k = 0; k < 2; k++) {
            op->reaches[k] = rng_once_in(r, 2);
            op->distance[k] = 8 * ((int)rng_below(r, 8) - 2);
        }
        op->name = op->n_inputs == 2 ? "Add" : unary[rng_below(r, sizeof unary / sizeof *unary)];
        const bool keeps = strcmp(op->name, "Resize") != 0 && strcmp(op->name, "Compress") != 0;
        p->elements[i + 1] = keeps ? p->elements[a] : 16 + 16 * rng_below(r, 5);
        if (op->n_inputs == 2) p->elements[i + 1] = p->elements[a];
        if (op->n_inputs == 2 && p->elements[a] != p->elements[b]) op->name = "Compress";
        if (op->n_inputs == 1 || !joins || rng_once_in(r, 4)) continue;
        op->name = "Concat";
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

typedef struct text {
    char bytes[4096];
    int n;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    t->n += vsnprintf(t->bytes + t->n, sizeof t->bytes - (size_t)t->n, format, list);
    va_end(list);
    assert_true(t->n < (int)sizeof t->bytes);
}

static void put_program(text *t, const small_program *p, const uint32_t *ops) {
    t->n = 0;
    put(t,
        "{\"schema\": \"arenaut.program/1\", \"dialect\": \"onnx\", \"dialect_version\": 17, "
        "\"inputs\": [0], \"tensors\": [");
    for (uint32_t i = 0; i <= p->n_ops; i++) {
        put(t, "%s{\"name\": \"t%u\", \"dims\": [1, %u]}", i ? ", " : "", i, p->elements[i]);
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

/* ---- all orders ---- */

typedef struct orders {
    const small_program *program;
    uint32_t n, ops[ORDERS][OPS], now[OPS];
    bool all; /* there was room for all */
} orders;

static bool may_run(const small_program *p, uint32_t ran, uint32_t op) {
    if ((ran >> op) & 1) return false;
    for (uint32_t k = 0; k < p->op[op].n_inputs; k++) {
        const uint32_t t = p->op[op].inputs[k];
        if (t > 0 && !((ran >> (t - 1)) & 1)) return false;
    }
    return true;
}

static void list_orders(orders *o, uint32_t ran, uint32_t n) {
    if (n == o->program->n_ops) {
        if (o->n == ORDERS) o->all = false;
        else memcpy(o->ops[o->n++], o->now, sizeof o->now);
        return;
    }
    for (uint32_t op = 0; op < o->program->n_ops; op++) {
        if (!may_run(o->program, ran, op)) continue;
        o->now[n] = op;
        list_orders(o, ran | UINT32_C(1) << op, n + 1);
    }
}

/* ---- what is said ---- */

typedef struct said {
    bool known;
    uint64_t given, best, bound, at_ends;
    uint64_t planned,
        reordered; /* the arena, in the order of the file and in the one that was taken */
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

static void compare(const small_program *p, const orders *o, arenaut_pipeline_options options) {
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
        orders o = {.program = &p, .all = true};
        list_orders(&o, 0, 0);
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

TEST(joins_that_are_written_in_place_count_in_every_order) {
    compare_programs(
        (arenaut_pipeline_options){.overwrite = ARENAUT_OVERWRITE_ON, .passes = "slices"}, 5);
}

TEST(joins_in_place_with_results_over_operands_in_part) {
    compare_programs(
        (arenaut_pipeline_options){
            .overwrite = ARENAUT_OVERWRITE_ON, .overlap = true, .passes = "slices"},
        6);
}
