/* The one call: bytes to a checked plan, never worse, never unchecked, and never in a file that
 * should keep its own. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/pipeline.h>

#include "support/documents.h"
#include "support/drawn.h"
#include "support/fuse.h"

typedef struct model {
    char *data;
    size_t size;
} model;

static model load(const char *name) {
    model m;
    m.data = data_text(&m.size, "%s", name);
    return m;
}

/* Fails the test unless the file can be planned. The bytes must outlive the pipeline. */
static arenaut_pipeline *run_with(const model *m, const arenaut_pipeline_options *options) {
    arenaut_pipeline *p = NULL;
    arenaut_error err;
    assert_ok(arenaut_pipeline_run(m->data, m->size, options, NULL, &p, &err), err);
    return p;
}

static arenaut_outcome outcome_of(const arenaut_pipeline *p, bool force) {
    arenaut_outcome outcome;
    arenaut_error err;
    assert_ok(arenaut_pipeline_outcome(p, true, force, &outcome, &err), err);
    return outcome;
}

/* The model with the plan in it; the caller frees its data. */
static model write_model(const arenaut_pipeline *p) {
    arenaut_text text = {0};
    arenaut_error err;
    assert_ok(arenaut_pipeline_write(p, false, arenaut_text_sink(&text), &err), err);
    return (model){text.bytes, text.size};
}

static void expect_outcome(const char *name, const arenaut_pipeline_options *options, bool force,
                           arenaut_outcome expected) {
    model m = load(name);
    arenaut_pipeline *p = run_with(&m, options);
    arenaut_text text = {0};
    arenaut_error err;
    assert_string_equal(arenaut_outcome_text(outcome_of(p, force)), arenaut_outcome_text(expected));
    if (expected != ARENAUT_OUTCOME_WRITE) {
        assert_int_equal(arenaut_pipeline_write(p, force, arenaut_text_sink(&text), &err),
                         ARENAUT_REFUSED);
        assert_non_null(strstr(err.msg, arenaut_outcome_text(expected)));
        assert_int_equal(text.size, 0);
    }
    arenaut_pipeline_free(p);
    free(m.data);
}

TEST(a_model_is_planned_from_its_bytes_with_no_options) {
    model m = load("mobilenet_v1_025_96_int8.tflite");
    arenaut_pipeline *p = run_with(&m, NULL);
    assert_string_equal(p->target->name, "tflite-micro");
    assert_int_equal(p->figures.now, 73728);
    assert_int_equal(p->figures.planned, 55296);
    assert_int_equal(p->figures.bound, 55296);
    assert_int_equal(p->figures.needed, 55296);
    assert_int_equal(p->plan->quality, ARENAUT_OPTIMAL);
    assert_false(p->baseline.from_file);
    assert_ptr_equal(p->result.plan, p->plan);
    assert_ptr_equal(p->result.baseline, p->baseline.plan);
    arenaut_pipeline_free(p);
    free(m.data);
}

TEST(a_written_model_holds_the_plan_and_needs_no_other) {
    model m = load("mobilenet_v1_025_96_int8.tflite");
    arenaut_pipeline *p = run_with(&m, NULL);
    model written = write_model(p);
    arenaut_pipeline *again = run_with(&written, NULL);
    assert_true(again->baseline.from_file);
    assert_false(again->baseline.overlaps);
    assert_int_equal(again->figures.now, 55296);
    assert_int_equal(outcome_of(again, false), ARENAUT_OUTCOME_HELD);
    arenaut_pipeline_free(again);
    arenaut_pipeline_free(p);
    free(written.data);
    free(m.data);
}

TEST(a_better_plan_in_the_file_stays) {
    model m = load("custom_op_planned.tflite");
    arenaut_pipeline *p = run_with(&m, NULL);
    assert_true(p->baseline.from_file);
    assert_int_equal(p->figures.now, 4096);
    assert_int_equal(p->figures.planned, 9232);
    assert_int_equal(p->figures.needed, 4096);
    arenaut_pipeline_free(p);
    free(m.data);
    expect_outcome("custom_op_planned.tflite", NULL, true, ARENAUT_OUTCOME_LARGER);
}

/* Read as far as the baseline, and described by the plan in the file. */
static arenaut_pipeline *describe_with(const model *m, const arenaut_pipeline_options *options,
                                       bool or_better) {
    const arenaut_pipeline_file file = {"model", m->data, m->size};
    arenaut_pipeline *p = NULL;
    arenaut_finding finding;
    arenaut_error err;
    assert_ok(arenaut_pipeline_new(options, NULL, &p, &err), err);
    assert_int_equal(arenaut_pipeline_describe(p, or_better, &err), ARENAUT_BAD_ARGUMENT);
    assert_ok(arenaut_pipeline_read(p, &file, 1, &err), err);
    assert_ok(arenaut_pipeline_prepare(p, &err), err);
    assert_ok(arenaut_pipeline_find_baseline(p, &err), err);
    assert_ok(arenaut_pipeline_describe(p, or_better, &err), err);
    assert_ok(arenaut_pipeline_replay(p, p->plan, &finding, &err), err);
    return p;
}

static void assert_is_the_files(const arenaut_pipeline *p) {
    const arenaut_plan *own = p->baseline.plan;
    assert_ptr_equal(p->problem, p->baseline.problem);
    assert_int_equal(p->plan->n_buffers, own->n_buffers);
    for (uint32_t b = 0; b < own->n_buffers; b++) {
        assert_int_equal(p->plan->offset[b], own->offset[b]);
        assert_int_equal(p->plan->pool[b], own->pool[b]);
    }
    assert_int_equal(p->figures.planned, p->figures.now);
    assert_true(p->figures.bound <= p->figures.planned);
}

TEST(a_file_is_described_by_the_plan_that_it_holds) {
    model m = load("resnet_int8.tflite");
    arenaut_pipeline *p = run_with(&m, &(arenaut_pipeline_options){.overlap = true});
    model written = write_model(p);
    arenaut_outcome outcome;
    arenaut_error err;
    for (int or_better = 0; or_better < 2; or_better++) {
        arenaut_pipeline *own = describe_with(&written, NULL, or_better);
        assert_is_the_files(own);
        assert_int_equal(own->plan->total, p->plan->total);
        assert_int_equal(own->plan->quality, p->plan->quality);
        assert_true(own->baseline.reaches && own->options.overlap);
        assert_int_equal(arenaut_pipeline_outcome(own, true, true, &outcome, &err),
                         ARENAUT_BAD_ARGUMENT); /* nothing of it is to be written */
        arenaut_pipeline_free(own);
    }
    arenaut_pipeline_free(p);
    free(written.data);
    free(m.data);
}

TEST(another_tools_plan_is_described_too) {
    model foreign = load("foreign_plan_float.tflite"), shares = load("custom_op_planned.tflite");
    arenaut_pipeline *own = describe_with(&foreign, NULL, false);
    assert_is_the_files(own);
    assert_int_equal(own->plan->total, 640);
    assert_int_equal(own->figures.bound, 256);
    assert_int_equal(own->plan->quality, ARENAUT_FEASIBLE);
    arenaut_pipeline_free(own);
    own = describe_with(&foreign, NULL, true);
    assert_int_equal(own->plan->total, 256);
    arenaut_pipeline_free(own);
    own = describe_with(&shares, NULL, true); /* below any bound of a problem that keeps apart */
    assert_is_the_files(own);
    assert_int_equal(own->figures.bound, 4096);
    arenaut_pipeline_free(own);
    free(foreign.data);
    free(shares.data);
}

TEST(options_that_change_the_problem_have_it_planned_anew) {
    model m = load("foreign_plan_float.tflite"), none = load("resnet_int8.tflite");
    const arenaut_pipeline_options asked = {.preserve_inputs = true};
    arenaut_pipeline *p = describe_with(&m, &asked, false);
    assert_string_not_equal(p->plan->planner, "file");
    arenaut_pipeline_free(p);
    p = describe_with(&none, NULL, false);
    assert_string_not_equal(p->plan->planner, "file");
    arenaut_pipeline_free(p);
    free(m.data);
    free(none.data);
}

TEST(pools_beyond_one_are_not_written_into_a_model_with_one_arena) {
    const arenaut_pool pools[] = {{.name = "fast", .capacity = 65536, .align = 1},
                                  {.name = "slow", .capacity = ARENAUT_UNLIMITED, .align = 1}};
    expect_outcome("mobilenet_v1_025_96_int8.tflite",
                   &(arenaut_pipeline_options){.pools = pools, .n_pools = 2}, true,
                   ARENAUT_OUTCOME_POOLS);
}

TEST(a_wrong_plan_in_the_file_is_found_and_repaired) {
    model m = load("pte/two_conditions.pte");
    arenaut_pipeline *p = run_with(&m, NULL);
    assert_true(p->baseline.from_file);
    assert_true(p->baseline.overlaps);
    assert_true(p->baseline.finding.msg[0] != '\0');
    assert_int_equal(p->figures.needed, p->figures.planned);
    assert_true(p->memories.sized);
    model written = write_model(p);
    arenaut_pipeline *again = run_with(&written, NULL);
    assert_false(again->baseline.overlaps);
    assert_int_equal(again->figures.now, p->figures.planned);
    arenaut_pipeline_free(again);
    arenaut_pipeline_free(p);
    free(written.data);
    free(m.data);
}

TEST(outcomes_without_a_file_are_refused_with_the_reason) {
    const arenaut_pipeline_options outside = {.exclude_io = true};
    const arenaut_pipeline_options generic = {.target = arenaut_target_find("generic")};
    expect_outcome("mobilenet_v1_025_96_int8.tflite", &outside, false,
                   ARENAUT_OUTCOME_IO_ELSEWHERE);
    expect_outcome("mobilenet_v1_025_96_int8.tflite", &generic, false, ARENAUT_OUTCOME_NOT_OBEYED);
    expect_outcome("foreign_plan_float.tflite", NULL, false, ARENAUT_OUTCOME_FOREIGN);
    expect_outcome("foreign_plan_float.tflite", NULL, true, ARENAUT_OUTCOME_WRITE);
    expect_outcome("resnet_int8.tflite", NULL, false, ARENAUT_OUTCOME_NO_SMALLER);
    expect_outcome("pte/two_methods.pte", NULL, false, ARENAUT_OUTCOME_NO_SMALLER);
    assert_null(arenaut_outcome_text(ARENAUT_OUTCOME_COUNT));
}

TEST(a_problem_without_a_plan_comes_with_its_witness) {
    const char text[] = "id,lower,upper,size\na,0,2,40\nb,1,3,30\n";
    const arenaut_pipeline_options options = {.plan = {.capacity = 50}};
    arenaut_pipeline *p = NULL;
    arenaut_error err;
    assert_int_equal(arenaut_pipeline_run(text, sizeof text - 1, &options, NULL, &p, &err),
                     ARENAUT_NO_PLAN);
    assert_int_equal(p->plan->quality, ARENAUT_INFEASIBLE);
    assert_int_equal(p->plan->witness.bytes_over, 20);
    arenaut_pipeline_free(p);
}

TEST(other_errors_leave_nothing_behind) {
    arenaut_pipeline *p = NULL;
    arenaut_error err;
    assert_int_equal(arenaut_pipeline_run("nonsense", 8, NULL, NULL, &p, &err), ARENAUT_BAD_INPUT);
    assert_null(p);
    arenaut_pipeline_free(NULL);
}

/* Reads and prepares; the caller frees *p. */
static arenaut_status prepare(const model *m, const arenaut_pipeline_options *options,
                              const arenaut_allocator *allocator, arenaut_pipeline **p,
                              arenaut_error *err) {
    const arenaut_pipeline_file file = {"model", m->data, m->size};
    arenaut_status st = arenaut_pipeline_new(options, allocator, p, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(*p, &file, 1, err);
    return st == ARENAUT_OK ? arenaut_pipeline_prepare(*p, err) : st;
}

static void expect_fault(const arenaut_pipeline_options *options, const char *option,
                         const char *unknown, const char *message) {
    model m = load("resnet_int8.tflite");
    arenaut_pipeline *p = NULL;
    arenaut_error err;
    assert_int_equal(prepare(&m, options, NULL, &p, &err), ARENAUT_BAD_ARGUMENT);
    assert_string_equal(err.msg, message);
    assert_string_equal(p->fault.option, option);
    assert_int_equal(p->fault.unknown != NULL, unknown != NULL);
    if (unknown) assert_string_equal(p->fault.unknown, unknown);
    arenaut_pipeline_free(p);
    free(m.data);
}

TEST(an_option_that_does_not_suit_the_file_is_named) {
    const arenaut_pin nowhere = {"nowhere", "arena", {0}};
    const arenaut_tensor_align odd = {"nowhere", 16};
    const arenaut_dim batch = {"batch", 1, 1};
    expect_fault(&(arenaut_pipeline_options){.pins = &nowhere, .n_pins = 1}, "pin", "nowhere",
                 "pin: there is no tensor 'nowhere'");
    expect_fault(&(arenaut_pipeline_options){.tensor_aligns = &odd, .n_tensor_aligns = 1}, "align",
                 "nowhere", "align: there is no tensor 'nowhere'");
    expect_fault(&(arenaut_pipeline_options){.align = 3}, "align", NULL,
                 "align: 3 is no power of two");
    expect_fault(&(arenaut_pipeline_options){.dims = &batch, .n_dims = 1}, "dim", NULL,
                 "dim batch: the file has no symbolic dimension that could be bound");
}

TEST(pins_pools_and_alignments_are_kept) {
    static const char text[] = "id,lower,upper,size\na,0,2,40\nb,1,3,30\n";
    const arenaut_pool pools[] = {{.name = "fast", .capacity = 64},
                                  {.name = "slow", .capacity = ARENAUT_UNLIMITED}};
    const arenaut_pin pins[] = {{"a", "slow", arenaut_at(128)}};
    const arenaut_tensor_align aligns[] = {{"b", 32}};
    const arenaut_pipeline_options options = {.pools = pools,
                                              .n_pools = 2,
                                              .pins = pins,
                                              .n_pins = 1,
                                              .tensor_aligns = aligns,
                                              .n_tensor_aligns = 1};
    const model m = {(char *)text, sizeof text - 1};
    arenaut_pipeline *p = run_with(&m, &options);
    assert_int_equal(p->plan->pool[0], 1);
    assert_int_equal(p->plan->offset[0], 128);
    assert_int_equal(p->plan->pool[1], 0);
    assert_int_equal(arenaut_problem_align(p->problem, 1), 32);
    assert_null(p->baseline.plan);
    arenaut_pipeline_free(p);
}

TEST(open_sizes_are_named_and_can_be_bound) {
    model m = load("onnx/open_sizes.onnx");
    const arenaut_dim all = {"*", 2, 2};
    const arenaut_pipeline_options bound = {.dims = &all, .n_dims = 1};
    arenaut_pipeline *p = NULL;
    arenaut_error err;
    assert_int_equal(prepare(&m, NULL, NULL, &p, &err), ARENAUT_BAD_INPUT);
    assert_true(p->fault.n_open > 0);
    assert_non_null(strstr(err.msg, p->fault.open[0]));
    arenaut_pipeline_free(p);
    arenaut_pipeline_free(run_with(&m, &bound));
    free(m.data);
}

typedef struct trace {
    char stages[64];
    size_t n;
} trace;

static void note_stage(void *context, arenaut_stage stage) {
    trace *t = context;
    if (t->n < sizeof t->stages - 1) t->stages[t->n++] = "rlipcy."[stage];
}

TEST(stages_come_in_their_order) {
    model m = load("mobilenet_v1_025_96_int8.tflite");
    trace t = {"", 0};
    const arenaut_pipeline_options options = {.context = &t, .stage = note_stage};
    arenaut_pipeline_free(run_with(&m, &options));
    assert_string_equal(t.stages, "r.l.i.p.cy.");
    free(m.data);
}

/* Never worse, never unchecked: nothing is written that was not compared with the baseline. */
TEST(stages_out_of_order_are_refused) {
    model m = load("mobilenet_v1_025_96_int8.tflite");
    const arenaut_pipeline_file file = {"model", m.data, m.size};
    arenaut_pipeline *p = NULL;
    arenaut_outcome outcome;
    arenaut_error err;
    assert_ok(arenaut_pipeline_new(NULL, NULL, &p, &err), err);
    assert_int_equal(arenaut_pipeline_prepare(p, &err), ARENAUT_BAD_ARGUMENT);
    assert_int_equal(arenaut_pipeline_read(p, &file, 0, &err), ARENAUT_BAD_ARGUMENT);
    assert_ok(arenaut_pipeline_read(p, &file, 1, &err), err);
    assert_int_equal(arenaut_pipeline_read(p, &file, 1, &err), ARENAUT_BAD_ARGUMENT);
    assert_int_equal(arenaut_pipeline_plan(p, &err), ARENAUT_BAD_ARGUMENT);
    assert_ok(arenaut_pipeline_prepare(p, &err), err);
    assert_int_equal(arenaut_pipeline_prepare(p, &err), ARENAUT_BAD_ARGUMENT);
    assert_ok(arenaut_pipeline_plan(p, &err), err);
    assert_int_equal(arenaut_pipeline_outcome(p, true, true, &outcome, &err), ARENAUT_BAD_ARGUMENT);
    assert_ok(arenaut_pipeline_find_baseline(p, &err), err);
    assert_int_equal(arenaut_pipeline_outcome(p, true, true, &outcome, &err), ARENAUT_BAD_ARGUMENT);
    assert_ok(arenaut_pipeline_plan(p, &err), err);
    assert_int_equal(outcome_of(p, false), ARENAUT_OUTCOME_WRITE);
    p->options.plan_as_made = true;
    assert_ok(arenaut_pipeline_plan(p, &err), err);
    assert_int_equal(arenaut_pipeline_outcome(p, true, true, &outcome, &err), ARENAUT_BAD_ARGUMENT);
    arenaut_pipeline_free(p);
    free(m.data);
}

/* ---- with little time ---- */

/* Time is up at this question, and at all behind it. */
typedef struct hourglass {
    uint64_t questions, until;
    arenaut_verdict verdict;
} hourglass;

static arenaut_verdict ask_hourglass(void *context, const arenaut_progress *progress) {
    hourglass *h = context;
    (void)progress;
    return h->questions++ < h->until ? ARENAUT_GO_ON : h->verdict;
}

static arenaut_pipeline_options all_rights(hourglass *h) {
    return (arenaut_pipeline_options){
        .target = arenaut_target_find("tflite-micro"),
        .overwrite = ARENAUT_OVERWRITE_ON,
        .overlap = true,
        .splitting.on = true,
        .reordering.on = true,
        .recomputing.on = true,
        .plan = {
            .effort = ARENAUT_NO_EFFORT_LIMIT, .progress = ask_hourglass, .progress_context = h}};
}

/* Plans with all rights, and with none, until each of many questions, or from the `first`th on
 * until some of them (one_of()). Returns the number of plans that the runtime's own stood in for.
 */
static uint32_t stop_early(const model *m, arenaut_verdict verdict, size_t first) {
    uint32_t n = 0;
    size_t k = one_of(1) - first % one_of(1);
    for (uint64_t until = 0; until < 200; until = until * 3 / 2 + 1, k++) {
        for (int rights = 0; rights < 2 && k % one_of(1) == 0; rights++) {
            hourglass h = {.until = until, .verdict = verdict};
            arenaut_pipeline_options options = all_rights(&h);
            if (!rights)
                options =
                    (arenaut_pipeline_options){.target = options.target, .plan = options.plan};
            arenaut_pipeline *p = run_with(m, &options);
            arenaut_finding finding;
            arenaut_error err;
            assert_ok(arenaut_check_plan(p->problem, p->plan, NULL, &finding, &err), err);
            assert_ok(arenaut_pipeline_replay(p, p->plan, &finding, &err), err);
            assert_true(!p->baseline.plan || p->plan->total <= p->figures.now);
            if (rights && !p->options.overlap) {
                assert_int_equal(p->plan->quality, ARENAUT_FEASIBLE);
                assert_int_equal(p->plan->stopped_by, verdict == ARENAUT_INTERRUPTED
                                                          ? ARENAUT_STOP_INTERRUPT
                                                          : ARENAUT_STOP_TIME);
                assert_int_equal(outcome_of(p, true), ARENAUT_OUTCOME_NO_SMALLER);
                n++;
            }
            arenaut_pipeline_free(p);
        }
    }
    return n;
}

/* A program whose first plan (skyline) has 992 bytes, where tflm-greedy has 816, and with
 * its overlap 688 are enough. */
static const char *const hard_for_skyline =
    "{'schema': 'arenaut.program/1', 'tensors': ["
    "{'name': 'b0', 'dtype': 'int8', 'dims': [16]}, {'name': 'b1', 'dtype': 'int8', 'dims': [16]},"
    "{'name': 'b2', 'dtype': 'int8', 'dims': [48]}, {'name': 'b3', 'dtype': 'int8', 'dims': [16]},"
    "{'name': 'b4', 'dtype': 'int8', 'dims': [32]}, {'name': 'b5', 'dtype': 'int8', 'dims': [320]},"
    "{'name': 'b6', 'dtype': 'int8', 'dims': [80]}, {'name': 'b7', 'dtype': 'int8', 'dims': [32]},"
    "{'name': 'b8', 'dtype': 'int8', 'dims': [320]},"
    "{'name': 'b9', 'dtype': 'int8', 'dims': [320]},"
    "{'name': 'b10', 'dtype': 'int8', 'dims': [320]},"
    "{'name': 'b11', 'dtype': 'int8', 'dims': [16]}],"
    "'methods': [{'name': 'main', 'inputs': [], 'outputs': [], 'ops': ["
    "{'name': 'A', 'inputs': [], 'outputs': ['b9']},"
    "{'name': 'A', 'inputs': [], 'outputs': ['b0']},"
    "{'name': 'A', 'inputs': [], 'outputs': ['b1', 'b2', 'b11']},"
    "{'name': 'A', 'inputs': ['b2', 'b11'], 'outputs': []},"
    "{'name': 'A', 'inputs': ['b9'], 'outputs': ['b8']},"
    "{'name': 'A', 'inputs': ['b1', 'b8'], 'outputs': ['b3', 'b10']},"
    "{'name': 'A', 'inputs': ['b10'], 'outputs': ['b4', 'b5', 'b6', 'b7'],"
    " 'overlaps': [{'output': 1, 'input': 0, 'distance': 0}]},"
    "{'name': 'A', 'inputs': ['b0', 'b3', 'b4', 'b5', 'b6', 'b7'], 'outputs': []}]}]}";

static model hard_program(void) {
    model m = {strdup(hard_for_skyline), strlen(hard_for_skyline)};
    assert_non_null(m.data);
    for (size_t i = 0; i < m.size; i++) {
        if (m.data[i] == '\'') m.data[i] = '"';
    }
    return m;
}

TEST(with_little_time_no_plan_is_worse_than_the_runtimes) {
    static const char *const names[] = {"mobilenet_v1_025_96_int8.tflite", "inception_int8.tflite",
                                        "resnet_int8.tflite"};
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        model m = load(names[i]);
        n += stop_early(&m, ARENAUT_OUT_OF_TIME, i) + stop_early(&m, ARENAUT_INTERRUPTED, i + 2);
        free(m.data);
    }
    model m = hard_program();
    n += stop_early(&m, ARENAUT_OUT_OF_TIME, 0) + stop_early(&m, ARENAUT_INTERRUPTED, 1);
    free(m.data);
    print_message("the runtime's own plan stood in %u times\n", n);
    assert_true(n > 0);
}

/* Of a runtime that obeys no plan in a model the file holds tiles; with no time for any it stays as
 * it is. */
static uint32_t stop_splitting(const char *name) {
    uint32_t n = 0;
    model m = load(name);
    for (uint64_t until = 0; until < 400; until = until * 5 / 4 + 1) {
        hourglass h = {.until = until, .verdict = ARENAUT_INTERRUPTED};
        const arenaut_pipeline_options options = {.overwrite = ARENAUT_OVERWRITE_ON,
                                                  .overlap = true,
                                                  .splitting.on = true,
                                                  .plan = {.effort = ARENAUT_NO_EFFORT_LIMIT,
                                                           .progress = ask_hourglass,
                                                           .progress_context = &h}};
        arenaut_pipeline *p = run_with(&m, &options);
        const arenaut_outcome outcome = outcome_of(p, true);
        assert_int_not_equal(outcome, ARENAUT_OUTCOME_NOT_OBEYED);
        if (!p->options.splitting.on) {
            assert_int_equal(outcome, ARENAUT_OUTCOME_NO_SMALLER);
            n++;
        }
        arenaut_pipeline_free(p);
    }
    free(m.data);
    return n;
}

TEST(with_little_time_a_file_that_could_hold_tiles_stays_as_it_is) {
    const uint32_t n = stop_splitting("onnx/images.onnx") + stop_splitting("pt2/windows.pt2") +
                       stop_splitting("pt2/windows_core.pt2");
    print_message("the runtime's own plan stood in %u times\n", n);
    assert_true(n > 0);
}

/* Bounds are of the rights that were asked for, not of the program that has none. */
static uint32_t stop_with_bounds(const model *m, bool rewrites) {
    uint32_t n = 0;
    hourglass h = {.until = UINT64_MAX, .verdict = ARENAUT_OUT_OF_TIME};
    arenaut_pipeline_options options = all_rights(&h);
    options.plan.effort = 0;
    options.splitting.on = options.reordering.on = options.recomputing.on = rewrites;
    arenaut_pipeline *best = run_with(m, &options);
    for (h.until = 0; h.until < 40; h.until++) {
        h.questions = 0;
        arenaut_pipeline *p = run_with(m, &options);
        const bool runtimes = !p->options.overlap;
        if (runtimes || !rewrites) { /* else it is the bound of the program that there is */
            assert_true(p->plan->total_bound <= best->plan->total);
            assert_true(p->plan->lower_bound[0] <= best->plan->arena[0]);
        }
        assert_int_equal(p->figures.bound, p->plan->total_bound);
        n += runtimes;
        arenaut_pipeline_free(p);
    }
    arenaut_pipeline_free(best);
    return n;
}

TEST(with_little_time_bounds_are_no_larger_than_the_best_plan) {
    model m = hard_program();
    assert_true(stop_with_bounds(&m, false) > 0);
    assert_true(stop_with_bounds(&m, true) > 0);
    free(m.data);
}

/* A demand is met, whatever the time: the runtime's own plan knows of none. */
TEST(with_little_time_demands_are_met) {
    model m = load("mobilenet_v1_025_96_int8.tflite");
    hourglass h = {.until = 3, .verdict = ARENAUT_OUT_OF_TIME};
    arenaut_pipeline_options options = all_rights(&h);
    options.align = 64;
    arenaut_pipeline *p = run_with(&m, &options);
    for (uint32_t b = 0; b < p->problem->n_buffers; b++) {
        if (p->plan->pool[b] != ARENAUT_NONE) assert_int_equal(p->plan->offset[b] % 64, 0);
    }
    arenaut_pipeline_free(p);
    free(m.data);
}

typedef struct hurried {
    model file;
    uint64_t until;
} hurried;

static arenaut_status plan_in_a_hurry(void *context, const arenaut_allocator *allocator) {
    const hurried *a = context;
    hourglass h = {.until = a->until, .verdict = ARENAUT_OUT_OF_TIME};
    const arenaut_pipeline_options options = all_rights(&h);
    arenaut_pipeline *p = NULL;
    arenaut_error err;
    const arenaut_status st =
        arenaut_pipeline_run(a->file.data, a->file.size, &options, allocator, &p, &err);
    if (st == ARENAUT_OK) arenaut_pipeline_free(p);
    return st;
}

TEST(every_allocation_of_a_first_answer_may_fail) {
    hurried a = {.file = hard_program(), .until = 0};
    survives_every_allocation_failure(plan_in_a_hurry, &a);
    free(a.file.data);
}

typedef struct attempt {
    model files[2];
    size_t n;
    arenaut_pipeline_options options;
} attempt;

static arenaut_status whole_pipeline(void *context, const arenaut_allocator *allocator) {
    const attempt *a = context;
    arenaut_pipeline *p = NULL;
    arenaut_text text = {.allocator = allocator};
    arenaut_error err;
    const arenaut_pipeline_file files[] = {{"one.x", a->files[0].data, a->files[0].size},
                                           {"two.x", a->files[1].data, a->files[1].size}};
    arenaut_status st = arenaut_pipeline_new(&a->options, allocator, &p, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(p, files, a->n, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(p, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_find_baseline(p, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_plan(p, &err);
    for (size_t i = 0; i < a->n && st == ARENAUT_OK; i++) {
        st = arenaut_pipeline_write_file(p, i, true, arenaut_text_sink(&text), &err);
        if (st == ARENAUT_REFUSED) st = ARENAUT_OK;
        if (st == ARENAUT_IO) st = ARENAUT_NO_MEMORY; /* the sink's own */
    }
    arenaut_text_free(&text);
    arenaut_pipeline_free(p);
    return st;
}

static void survives(const char *name, const char *second, arenaut_pipeline_options options) {
    attempt a = {.n = second ? 2 : 1, .options = options};
    a.options.plan.effort = 1000;
    a.files[0] = load(name);
    if (second) a.files[1] = load(second);
    survives_every_allocation_failure(whole_pipeline, &a);
    free(a.files[0].data);
    if (second) free(a.files[1].data);
}

typedef struct described {
    model file;
    bool or_better;
} described;

static arenaut_status description(void *context, const arenaut_allocator *allocator) {
    const described *d = context;
    const model *m = &d->file;
    const arenaut_pipeline_options options = {.plan.effort = 1000};
    const arenaut_pipeline_file file = {"model", m->data, m->size};
    arenaut_pipeline *p = NULL;
    arenaut_error err;
    arenaut_status st = arenaut_pipeline_new(&options, allocator, &p, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(p, &file, 1, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(p, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_find_baseline(p, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_describe(p, d->or_better, &err);
    arenaut_pipeline_free(p);
    return st;
}

TEST(every_allocation_of_a_description_may_fail) {
    const char *const names[] = {"foreign_plan_float.tflite", "custom_op_planned.tflite"};
    for (size_t i = 0; i < 4; i++) {
        described d = {load(names[i / 2]), i % 2};
        survives_every_allocation_failure(description, &d);
        free(d.file.data);
    }
}

static void hear_nothing(void *context, const char *text) {
    (void)context;
    (void)text;
}

TEST(every_allocation_may_fail) {
    const arenaut_tensor_align align = {"nowhere", 16};
    const arenaut_pool pool = {.name = "arena", .capacity = ARENAUT_UNLIMITED};
    survives("hello_world_int8.tflite", NULL, (arenaut_pipeline_options){.passes = ""});
    survives("foreign_plan_float.tflite", NULL, (arenaut_pipeline_options){0});
    survives("pte/two_methods.pte", NULL,
             (arenaut_pipeline_options){.pools = &pool, .n_pools = 1, .tensor_aligns = &align});
    survives("pte/two_conditions.pte", NULL, (arenaut_pipeline_options){0});
    survives("pt2/cache.pt2", "pt2/decode.pt2", (arenaut_pipeline_options){.share = "auto"});
    survives("pte/two_methods.pte", NULL,
             (arenaut_pipeline_options){.share = "auto", .note = hear_nothing});
    survives("pte/gradients.pte", "pte/two_methods.pte",
             (arenaut_pipeline_options){.share = "auto", .note = hear_nothing});
}

/* ---- costs ---- */

TEST(a_cost_is_spill_then_bytes_then_added_time_then_added_ops) {
    const arenaut_cost rising[] = {{0, 1, 0, -3}, {0, 1, 0, 7}, {0, 1, 5, 0},
                                   {0, 2, -9, 0}, {1, 0, 0, 0}, {1, 0, 1, -1}};
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = 0; k < 6; k++) {
            assert_int_equal(arenaut_costs_less(rising[i], rising[k]), i < k);
        }
    }
}

TEST(tiles_cost_bytes_less_and_time_and_ops_more) {
    const arenaut_pipeline_options options = {.splitting = {.on = true}};
    const model m = load("inception_int8.tflite");
    arenaut_pipeline *whole = run_with(&m, NULL), *tiled = run_with(&m, &options);
    const arenaut_cost before = arenaut_pipeline_cost(whole);
    const arenaut_cost after = arenaut_pipeline_cost(tiled);
    assert_int_equal(before.total, whole->figures.planned);
    assert_int_equal(before.ops, whole->document.program->n_ops);
    assert_true(after.total < before.total && after.time > before.time && after.ops > before.ops);
    assert_true(arenaut_costs_less(after, before));
    arenaut_pipeline_free(whole);
    arenaut_pipeline_free(tiled);
    free(m.data);
}

/* Files that are one program are written each by itself, if the runtime obeys a plan in them. */
TEST(only_files_that_are_there_are_written) {
    const arenaut_pipeline_options options = {.share = "auto"};
    const model one = load("pte/gradients.pte"), two = load("pte/two_methods.pte");
    const arenaut_pipeline_file files[] = {{"one.pte", one.data, one.size},
                                           {"two.pte", two.data, two.size}};
    arenaut_pipeline *p = NULL;
    arenaut_text text = {0};
    arenaut_error err;
    assert_ok(arenaut_pipeline_new(&options, NULL, &p, &err), err);
    assert_ok(arenaut_pipeline_read(p, files, 2, &err), err);
    assert_ok(arenaut_pipeline_prepare(p, &err), err);
    assert_ok(arenaut_pipeline_find_baseline(p, &err), err);
    assert_ok(arenaut_pipeline_plan(p, &err), err);
    assert_ok(arenaut_pipeline_write_file(p, 1, false, arenaut_text_sink(&text), &err), err);
    assert_true(text.size >= two.size);
    assert_int_equal(arenaut_pipeline_write_file(p, 2, false, arenaut_text_sink(&text), &err),
                     ARENAUT_BAD_ARGUMENT);
    assert_int_equal(arenaut_pipeline_write(p, false, arenaut_text_sink(&text), &err),
                     ARENAUT_REFUSED);
    arenaut_text_free(&text);
    arenaut_pipeline_free(p);
    free(one.data);
    free(two.data);
}
