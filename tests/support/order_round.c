#include "support/order_round.h"

#include <string.h>

#include <arenaut/arenaut.h>

#include "rewrite/order/program_order.h"
#include "support/order_brute.h"
#include "support/pipelines.h"
#include "support/random.h"
#include "support/require.h"

enum { EFFORT = 20000 };

/* A damaged mark may name unknown kernels; those have to be given then. And a bare problem has no
 * dimensions to be bound. */
static bool is_answer(arenaut_status st, const arenaut_error *err) {
    if (st == ARENAUT_BAD_ARGUMENT) {
        return strncmp(err->msg, "kernels: ", 9) == 0 || strncmp(err->msg, "dim *: ", 7) == 0;
    }
    return st == ARENAUT_OK || is_refusal(st, err);
}

static arenaut_pipeline_options options_for(arenaut_overwrite overwrite, bool reorder) {
    static const arenaut_dim all = {"*", 2, 2}; /* for open dimensions */
    return (arenaut_pipeline_options){.dims = &all,
                                      .n_dims = 1,
                                      .overwrite = overwrite,
                                      .judge_given = !reorder,
                                      .reordering = {.on = reorder, .options = {.effort = EFFORT}},
                                      .plan = {.effort = 200}};
}

/* A proof with spoiled lines shows no false bound. */
static void require_spoiled_refused(const arenaut_order_problem *problem, uint64_t least) {
    const arenaut_order_options options = {.effort = EFFORT};
    arenaut_order *order = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    rng r = {least};
    REQUIRE(arenaut_order_find(problem, &options, NULL, &order, &err) == ARENAUT_OK);
    REQUIRE(arenaut_check_order(problem, order, NULL, &finding, &err) == ARENAUT_OK);
    for (uint32_t i = 0; order->n_lines > 0 && i < 8; i++) {
        arenaut_order_line *line = &order->lines[rng_below(&r, order->n_lines)];
        const arenaut_order_line kept = *line;
        line->rule = rng_below(&r, ARENAUT_ORDER_RULE_COUNT + 1);
        line->item = rng_once_in(&r, 9) ? UINT32_MAX : rng_below(&r, problem->n_ops + 1);
        order->bound += i % 2;
        const arenaut_status st = arenaut_check_order(problem, order, NULL, &finding, &err);
        REQUIRE(st == ARENAUT_REJECTED || (st == ARENAUT_OK && order->bound <= least));
        order->bound -= i % 2;
        *line = kept;
    }
    arenaut_order_free(order);
}

/* The best schedule of a problem; with few ops, its bound is compared with all schedules. */
static arenaut_order *solve(const arenaut_order_problem *problem, bool *small) {
    const arenaut_order_options options = {.effort = EFFORT};
    arenaut_order *order = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    REQUIRE(arenaut_order_find(problem, &options, NULL, &order, &err) == ARENAUT_OK);
    REQUIRE(arenaut_check_order(problem, order, NULL, &finding, &err) == ARENAUT_OK);
    if (problem->n_ops > ORDER_BRUTE_OPS) {
        *small = false;
        return order;
    }
    const uint64_t least = order_brute_peak(problem);
    require_spoiled_refused(problem, least);
    order->bound = least;
    return order;
}

/* With few ops: all claims are compared with all schedules. */
static void require_true(const uint8_t *data, size_t size, arenaut_overwrite overwrite,
                         const arenaut_ordering *said) {
    const arenaut_pipeline_options options = options_for(overwrite, false);
    arenaut_pipeline *p = NULL;
    arn_program_order *orders = NULL;
    arenaut_error err = {0};
    bool small = true;
    REQUIRE(said->bound <= said->best && said->best <= said->given);
    REQUIRE(pipeline_open(data, size, &options, NULL, &p, &err) == ARENAUT_OK);
    REQUIRE(arn_program_order_new(p->document.program, p->lowering, p->target, NULL, NULL, &orders,
                                  &err) == ARENAUT_OK);
    for (uint32_t i = 0; i < arn_program_order_count(orders); i++) {
        arenaut_order *order = solve(arn_program_order_problem(orders, i), &small);
        REQUIRE(arn_program_order_take(orders, order, &err) == ARENAUT_OK);
        arenaut_order_free(order);
    }
    const uint64_t least = arn_program_order_peaks(orders).bound;
    /* These are schedules without copies of views. */
    if (small) REQUIRE(said->bound <= least && (least <= said->best || said->n_views > 0));
    arn_program_order_free(orders);
    arenaut_pipeline_free(p);
}

/* The written file is read back and, if it holds the plan, checked like any other. */
static void require_right(const arenaut_text *written, const arenaut_pipeline *planned) {
    const arenaut_pipeline_options options = options_for(ARENAUT_OVERWRITE_BY_RULES, false);
    arenaut_pipeline *back = NULL;
    arenaut_error err = {0};
    arenaut_status st = pipeline_open(written->bytes, written->size, &options, NULL, &back, &err);
    if (st == ARENAUT_OK && planned->target->plan_in_file) {
        st = arenaut_pipeline_find_baseline(back, &err);
        if (st == ARENAUT_OK) REQUIRE(back->baseline.from_file && !back->baseline.overlaps);
        if (st == ARENAUT_OK) REQUIRE(back->figures.now == planned->figures.planned);
    }
    if (st != ARENAUT_OK) fprintf(stderr, "%s\n", err.msg);
    REQUIRE(st == ARENAUT_OK);
    arenaut_pipeline_free(back);
}

/* Into the file, or as a file of its own. */
static arenaut_status write(const arenaut_pipeline *p, arenaut_text *out, arenaut_error *err) {
    const arenaut_format *format = p->document.format;
    if (!p->document.program || format->needs_original || !format->write) {
        return arenaut_pipeline_write(p, true, arenaut_text_sink(out), err);
    }
    return format->write(&p->result, arenaut_text_sink(out), NULL, err);
}

static bool reorder(const uint8_t *data, size_t size, arenaut_overwrite overwrite) {
    const arenaut_pipeline_options options = options_for(overwrite, true);
    arenaut_pipeline *p = NULL;
    arenaut_text written = {0};
    arenaut_error err = {0};
    arenaut_status st = arenaut_pipeline_run(data, size, &options, NULL, &p, &err);
    const bool known = p && p->ordering.known;
    if (st != ARENAUT_OK && !is_answer(st, &err)) fprintf(stderr, "%s\n", err.msg);
    REQUIRE(st == ARENAUT_NO_PLAN || is_answer(st, &err));
    if (known) require_true(data, size, overwrite, &p->ordering);
    if (st == ARENAUT_OK) {
        st = write(p, &written, &err);
        if (!is_answer(st, &err)) fprintf(stderr, "%s\n", err.msg);
        REQUIRE(is_answer(st, &err));
        if (st == ARENAUT_OK) require_right(&written, p);
    }
    arenaut_text_free(&written);
    arenaut_pipeline_free(p);
    return known;
}

bool order_property(const uint8_t *data, size_t size) {
    const bool apart = reorder(data, size, ARENAUT_OVERWRITE_OFF);
    return reorder(data, size, ARENAUT_OVERWRITE_ON) || apart;
}
