/* Budgets: a search asks as it works, and once it is told to stop little is done any more, whatever
 * was to be searched. Work is counted: in effort, and in calls of the allocator. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "core/budget.h"
#include "ir/program.h"
#include "rewrite/find_within.h"
#include "support/documents.h"
#include "support/drawn.h"
#include "support/problems.h"

/* ---- the object ---- */

typedef struct patience {
    uint32_t asked, most; /* so many questions are answered with yes */
    uint32_t share;       /* of the last question */
    arenaut_verdict no;
} patience;

static arenaut_verdict answer(void *context, const arenaut_progress *progress) {
    patience *p = context;
    assert_non_null(progress->planner);
    p->share = progress->share;
    return p->asked++ < p->most ? ARENAUT_GO_ON : p->no;
}

TEST(a_budget_without_a_callback_does_not_end_searches) {
    arn_budget whole = arn_budget_make(7, NULL, NULL);
    arn_budget part = arn_budget_part(&whole, 3, 0, ARN_BUDGET_ALL);
    arenaut_plan_options options = {.progress = answer};
    assert_true(arn_budget_goes_on(&whole) && arn_budget_goes_on(&part));
    assert_true(arn_budget_spend(&part, UINT64_MAX / 2));
    arn_budget_lend(&part, &options);
    assert_null(options.progress);
}

TEST(a_part_has_its_share_of_the_time) {
    patience p = {.most = UINT32_MAX};
    arn_budget whole = arn_budget_make(0, answer, &p);
    arn_budget half = arn_budget_part(&whole, 0, 500, 1000);
    arn_budget first = arn_budget_part(&half, 0, 0, 500);
    assert_true(arn_budget_goes_on(&whole));
    assert_int_equal(p.share, 1000);
    assert_true(arn_budget_goes_on(&half));
    assert_int_equal(p.share, 1000);
    assert_true(arn_budget_goes_on(&first));
    assert_int_equal(p.share, 750);
}

TEST(an_interrupt_ends_the_whole_and_time_the_part) {
    const arenaut_verdict no[] = {ARENAUT_OUT_OF_TIME, ARENAUT_INTERRUPTED};
    for (size_t i = 0; i < 2; i++) {
        patience p = {.no = no[i]};
        arn_budget whole = arn_budget_make(0, answer, &p);
        arn_budget part = arn_budget_part(&whole, 0, 0, 500);
        assert_false(arn_budget_goes_on(&part));
        assert_true(arn_budget_ended(&part));
        assert_int_equal(arn_budget_ended(&whole), no[i] == ARENAUT_INTERRUPTED);
        p.most = UINT32_MAX;
        assert_false(arn_budget_goes_on(&part)); /* it stays no, and is not asked for again */
        assert_int_equal(p.asked, 1);
    }
}

/* A planner that was lent a part may be told that a share of it is over, and go on after that. */
TEST(a_lent_part_outlives_its_shares) {
    patience p = {.no = ARENAUT_OUT_OF_TIME};
    arn_budget whole = arn_budget_make(0, answer, &p);
    arn_budget part = arn_budget_part(&whole, 0, 0, 1000);
    arenaut_plan_options options = {0};
    arenaut_progress progress = {.planner = "", .share = 500};
    arn_budget_lend(&part, &options);
    assert_int_equal(options.progress(options.progress_context, &progress), ARENAUT_OUT_OF_TIME);
    assert_int_equal(p.share, 500);
    assert_false(arn_budget_ended(&part));
    progress.share = 0;
    assert_int_equal(options.progress(options.progress_context, &progress), ARENAUT_OUT_OF_TIME);
    assert_true(arn_budget_ended(&part));
}

/* ---- searches ask as they work ---- */

TEST(the_search_for_stages_asks_as_it_works) {
    patience p = {.most = UINT32_MAX};
    arn_budget budget = arn_budget_make(0, answer, &p);
    const arenaut_split_options options = {.target = arenaut_target_find("tflite-micro"),
                                           .kernels = arenaut_kernel_set_find("reference")};
    arenaut_document document;
    arenaut_split_front *front = NULL;
    arn_region region;
    arenaut_error err;
    size_t size;
    char *data = load_file(TEST_DATA "/mobilenet_v1_025_96_int8.tflite", &size);
    assert_ok(arenaut_read((const uint8_t *)data, size, NULL, NULL, NULL, &document, &err), err);
    arn_region_init(&region, NULL);
    assert_ok(arn_split_find(document.program, &budget, &options, &region, &front, &err), err);
    assert_true(front->effort > 5000);
    assert_true(p.asked >= front->effort / 4096);
    arn_region_free(&region);
    arenaut_document_free(&document);
    free(data);
}

enum { ROWS = 24, COLUMNS = 24 };

/* Each op reads the results of those above and beside it: a grid has many schedules. */
typedef struct grid {
    uint64_t size[ROWS * COLUMNS];
    arenaut_order_use uses[3 * ROWS * COLUMNS];
    arenaut_order_dependence dependences[2 * ROWS * COLUMNS];
    arenaut_order_problem problem;
} grid;

static void read_from(grid *g, uint32_t op, uint32_t from) {
    g->uses[g->problem.n_uses++] = (arenaut_order_use){op, from};
    g->dependences[g->problem.n_dependences++] = (arenaut_order_dependence){op, from};
}

static void make_grid(grid *g) {
    g->problem = (arenaut_order_problem){.n_ops = ROWS * COLUMNS,
                                         .n_buffers = ROWS * COLUMNS,
                                         .size = g->size,
                                         .uses = g->uses,
                                         .dependences = g->dependences};
    for (uint32_t op = 0; op < ROWS * COLUMNS; op++) {
        g->size[op] = 16 + op * 31 % 97;
        g->uses[g->problem.n_uses++] = (arenaut_order_use){op, op};
        if (op >= COLUMNS) read_from(g, op, op - COLUMNS);
        if (op % COLUMNS) read_from(g, op, op - 1);
    }
}

static arenaut_status find_order(uint32_t questions, uint64_t effort, arenaut_order **order,
                                 patience *p) {
    grid *g = calloc(1, sizeof *g);
    arenaut_error err;
    assert_non_null(g);
    make_grid(g);
    *p = (patience){.most = questions, .no = ARENAUT_OUT_OF_TIME};
    arn_budget budget = arn_budget_make(effort, answer, p);
    const arenaut_status st = arn_order_find(&g->problem, &budget, NULL, order, &err);
    free(g);
    return st;
}

TEST(the_search_for_an_order_asks_as_it_works) {
    patience p;
    arenaut_order *order = NULL;
    assert_int_equal(find_order(UINT32_MAX, 2000000, &order, &p), ARENAUT_OK);
    assert_true(order->effort > 100000);
    assert_true(p.asked >= order->effort / ARN_BUDGET_ASKS_EVERY);
    arenaut_order_free(order);
}

/* The answer by then is a schedule, its bound is proven, and each simple heuristic is as it is. */
TEST(an_order_that_is_stopped_anywhere_is_right) {
    grid *g = calloc(1, sizeof *g);
    arenaut_order *whole = NULL;
    patience p;
    uint32_t stopped = 0;
    assert_non_null(g);
    make_grid(g);
    assert_int_equal(find_order(UINT32_MAX, 300000, &whole, &p), ARENAUT_OK);
    for (uint32_t questions = 0; questions < p.asked; questions++) {
        arenaut_order *order = NULL;
        arenaut_finding finding;
        arenaut_error err;
        patience now;
        const arenaut_status st = find_order(questions, 300000, &order, &now);
        assert_true(now.asked <= questions + 2);
        if (st == ARENAUT_STOPPED) {
            stopped++;
            continue;
        }
        assert_int_equal(st, ARENAUT_OK);
        assert_ok(arenaut_check_order(&g->problem, order, NULL, &finding, &err), err);
        assert_memory_equal(order->heuristics, whole->heuristics, sizeof whole->heuristics);
        assert_true(order->peak >= whole->peak);
        arenaut_order_free(order);
    }
    assert_true(stopped > 0 && stopped < p.asked);
    arenaut_order_free(whole);
    free(g);
}

/* ---- proofs ---- */

/* Long-lived buffers of odd sizes: no search finds soon whether a byte less would do. */
static arenaut_problem *hard_problem(void) {
    arenaut_problem *p = new_problem();
    rng r = {1};
    for (uint32_t i = 0; i < 400; i++) {
        const int64_t first = (int64_t)rng_below(&r, 256);
        add_box(p, 977 + rng_below(&r, 4096), first, first + 20 + (int64_t)rng_below(&r, 64));
    }
    finish(p);
    return p;
}

static arenaut_status prove(const arenaut_problem *problem, const arenaut_plan *plan,
                            uint32_t questions, patience *p) {
    arenaut_certificate *certificate = NULL;
    arenaut_error err;
    *p = (patience){.most = questions, .no = ARENAUT_INTERRUPTED};
    const arenaut_plan_options options = {
        .effort = 2000000, .progress = answer, .progress_context = p};
    const arenaut_status st =
        arenaut_certify_with(problem, plan, &options, NULL, &certificate, &err);
    if (st == ARENAUT_OK) arenaut_certificate_free(certificate);
    return st;
}

/* A possible mistake: that a hasty plan is the best one. */
TEST(a_proof_that_is_worked_out_can_be_stopped) {
    arenaut_problem *problem = hard_problem();
    const arenaut_plan_options hasty = {.planner = "best-fit"};
    arenaut_plan *plan = NULL;
    arenaut_error err;
    patience p;
    assert_ok(arenaut_plan_make(problem, &hasty, NULL, &plan, &err), err);
    assert_true(plan->total > plan->total_bound);
    plan->total_bound = plan->total_bound + (plan->total - plan->total_bound) / 8 + 1;
    assert_int_not_equal(prove(problem, plan, UINT32_MAX, &p), ARENAUT_OK);
    const uint32_t asked = p.asked;
    assert_true(asked > 4);
    for (uint32_t questions = 0; questions < asked; questions += 1 + asked / 8) {
        assert_int_equal(prove(problem, plan, questions, &p), ARENAUT_STOPPED);
        assert_int_equal(p.asked, questions + 1);
    }
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
}

/* ---- whole pipelines ---- */

enum { FLAGS = 5, KEEPS_OPS = 2 | 4, MOST_QUESTIONS_AFTER = 96, MOST_TIMES = 6 };

/* Calls of the allocator, in all and since the first no. */
typedef struct counts {
    patience patience;
    uint64_t allocations, since;
} counts;

static arenaut_verdict answer_counted(void *context, const arenaut_progress *progress) {
    counts *c = context;
    const arenaut_verdict verdict = answer(&c->patience, progress);
    if (verdict == ARENAUT_GO_ON) c->since = 0;
    return verdict;
}

static void *count_allocation(void *context, size_t size) {
    counts *c = context;
    c->allocations++;
    c->since++;
    return malloc(size);
}

static void *count_reallocation(void *context, void *pointer, size_t old_size, size_t new_size) {
    counts *c = context;
    (void)old_size;
    c->allocations++;
    c->since++;
    return realloc(pointer, new_size);
}

static void count_release(void *context, void *pointer) {
    (void)context;
    free(pointer);
}

static arenaut_pipeline_options flags_of(uint32_t bits) {
    return (arenaut_pipeline_options){
        .splitting.on = bits & 1,
        .overlap = bits & 2,
        .overwrite = bits & 4 ? ARENAUT_OVERWRITE_ON : ARENAUT_OVERWRITE_BY_RULES,
        .reordering.on = bits & 8,
        .recomputing.on = bits & 16};
}

/* Plans with these flags until so many questions were asked. */
static counts run(const char *name, uint32_t bits, uint32_t questions, arenaut_verdict no) {
    size_t size;
    counts c = {.patience = {.most = questions, .no = no}};
    const arenaut_allocator allocator = {count_allocation, count_reallocation, count_release, &c};
    arenaut_pipeline_options options = flags_of(bits);
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    options.plan.progress = answer_counted;
    options.plan.progress_context = &c;
    options.plan.effort = ARENAUT_NO_EFFORT_LIMIT;
    char *data = data_text(&size, "%s", name);
    assert_ok(arenaut_pipeline_run(data, size, &options, &allocator, &p, &err), err);
    assert_non_null(p->plan);
    arenaut_pipeline_free(p);
    free(data);
    return c;
}

static const char *const models[] = {
    "inception_int8.tflite", "resnet_int8.tflite",    "mobilenet_v1_025_96_int8.tflite",
    "lstm_float.tflite",     "if_while_float.tflite", "pt2/gradients.pt2",
    "pt2/apart.pt2",         "onnx/waiting.onnx",     "json/overlap.program.json",
};

/* For any request, no more is done after the answer no than planning the program as it is takes, a
 * few times over: it is read, and work that was begun is ended. */
static void stops_soon(const char *name, uint32_t bits, uint32_t questions, arenaut_verdict no) {
    const counts c = run(name, bits, questions, no);
    const uint32_t after = c.patience.asked > questions ? c.patience.asked - questions : 0;
    if (after == 0) return;
    const uint64_t plain = run(name, bits & KEEPS_OPS, 0, no).allocations;
    if (after > MOST_QUESTIONS_AFTER || c.since > MOST_TIMES * plain) {
        fail_msg(
            "%s, flags %u, stopped after %u questions: %u more were asked, and the allocator "
            "was called %u times, which is %u times for the program as it is",
            name, bits, questions, after, (unsigned)c.since, (unsigned)plain);
    }
}

/* The first of all combinations in another order, by a step that has no factor in common with their
 * number: in any part of them are all models, flags and questions. */
TEST(a_pipeline_stops_whatever_was_asked_for) {
    static const uint32_t questions[] = {0, 1, 2, 3, 5, 9, 17, 40, 90};
    const uint32_t all = (uint32_t)(COUNT_OF(models) * COUNT_OF(questions)) << FLAGS, step = 1091;
    for (uint32_t k = 0; k < drawn(all); k++) {
        const uint32_t place = k * step % all, q = place % COUNT_OF(questions);
        const uint32_t bits = place / COUNT_OF(questions) % (1U << FLAGS);
        stops_soon(models[place / COUNT_OF(questions) >> FLAGS], bits, questions[q],
                   q % 2 ? ARENAUT_INTERRUPTED : ARENAUT_OUT_OF_TIME);
    }
}

/* Only time limits it, and it does not come to an end by itself: plans that are compared have the
 * usual effort all the same. */
TEST(plans_to_compare_are_watched_and_have_an_end) {
    const counts c = run("resnet_int8.tflite", 1 | 2, 2000, ARENAUT_OUT_OF_TIME);
    assert_true(c.patience.asked > 50);
    assert_true(c.patience.asked <= 2000 + MOST_QUESTIONS_AFTER);
}
