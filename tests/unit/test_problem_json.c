/* Problems and plans as JSON: that nothing is lost, and the messages about mistakes. */
#include <stdlib.h>

#include "support/documents.h"
#include "support/fuse.h"
#include "support/problems.h"
#include "support/test.h"

#define PROBLEM(rest) "{\"schema\": \"arenaut.problem/1\", " rest "}"
#define BUFFERS(list) PROBLEM("\"buffers\": [" list "]")
#define A "{\"name\": \"a\", \"size\": 4, \"first\": 0, \"end\": 2}"

static char *everything(void) {
    size_t size;
    return load_file(TEST_DATA "/json/everything.problem.json", &size);
}

TEST(every_member_is_understood) {
    char *text = everything();
    arenaut_document d = read_text(NULL, text);
    const arenaut_problem *p = d.problem;
    assert_string_equal(d.format->name, "problem-json");
    assert_int_equal(p->n_buffers, 8);
    assert_int_equal(p->n_methods, 2);
    assert_string_equal(p->method_name[1], "decode");
    assert_string_equal(p->pool[0].name, "sram");
    assert_int_equal(p->pool[0].capacity, 65536);
    assert_int_equal(p->pool[0].align, 16);
    assert_true(p->pool[1].capacity == ARENAUT_UNLIMITED);
    assert_int_equal(p->pool[1].align, 1);
    assert_int_equal(p->pool[1].device.type, 1);
    assert_int_equal(p->method[0], 0);
    assert_int_equal(p->method[5], 1);
    assert_int_equal(p->method[4], ARENAUT_NONE);
    assert_string_equal(p->source[0], "model.py:12");
    assert_string_equal(p->op[2], "Relu");
    assert_int_equal(arenaut_problem_lifetime_count(p, 1), 2);
    assert_int_equal(arenaut_problem_pools(p, 1), 1);
    assert_int_equal(arenaut_problem_pools(p, 5), 3);
    assert_int_equal(arenaut_problem_hint(p, 1), 128);
    assert_int_equal(arenaut_problem_same_base(p, 2), 1);
    assert_int_equal(arenaut_problem_release(p, 1), 0);
    assert_int_equal(arenaut_problem_release(p, 2), 3);
    assert_int_equal(arenaut_problem_inside(p, 3), 1);
    assert_int_equal(p->inside_delta[3], 2048);
    assert_true(p->size[4] == UINT64_C(9007199254740993));
    assert_int_equal(arenaut_problem_fixed_offset(p, 4), 0);
    assert_int_equal(arenaut_problem_class(p, 4), ARENAUT_STATE);
    assert_null(p->name[6]);
    assert_string_equal(p->name[7], "\xCF\x80\n\"quoted\"");
    assert_int_equal(arenaut_problem_lifetime_count(p, 7), 0);
    assert_int_equal(p->n_conflicts, 2);
    assert_int_equal(p->conflict[0].a, 0);
    assert_int_equal(p->conflict[0].b, 1);
    assert_int_equal(p->conflict[1].b, 5);
    assert_int_equal(p->n_reserved, 1);
    assert_int_equal(p->reserved[0].end, 64);
    arenaut_text written = write_text("problem-json", &d);
    arenaut_document again = read_text(NULL, written.bytes);
    assert_same_problem(p, again.problem);
    assert_non_null(strstr(written.bytes, "\"9007199254740993\""));
    arenaut_text_free(&written);
    arenaut_document_free(&again);
    arenaut_document_free(&d);
    free(text);
}

static const problem_shape any_shape = {16, 64, 20, ARENAUT_FEATURE_ALL};

TEST(random_problems_come_back_as_they_were) {
    rng r = {7};
    for (int round = 0; round < 300; round++) {
        arenaut_document d = {.problem = random_problem(&r, &any_shape)};
        arenaut_text text = write_text("problem-json", &d);
        arenaut_document again = read_text(NULL, text.bytes);
        assert_same_problem(d.problem, again.problem);
        arenaut_text_free(&text);
        arenaut_document_free(&again);
        arenaut_document_free(&d);
    }
}

/* Any numbers will do: whether the plan is right is for the checker to say. */
static arenaut_plan *random_plan(rng *r, const arenaut_problem *problem) {
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(problem->n_buffers, problem->n_pools, NULL, &plan, &err), err);
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(problem, b)) continue;
        plan->pool[b] = rng_below(r, problem->n_pools);
        plan->offset[b] = rng_below(r, 100);
    }
    assert_ok(arenaut_plan_measure(plan, problem, &err), err);
    for (uint32_t p = 0; p < problem->n_pools; p++) {
        plan->lower_bound[p] = rng_below(r, (uint32_t)plan->arena[p] + 1);
        plan->total_bound += plan->lower_bound[p];
    }
    plan->quality = rng_once_in(r, 2) ? ARENAUT_OPTIMAL : ARENAUT_FEASIBLE;
    plan->stopped_by = (arenaut_stop)rng_below(r, 5);
    plan->effort = rng_next(r) / 2;
    plan->planner = "some planner";
    return plan;
}

static void assert_same_plan(const arenaut_plan *a, const arenaut_plan *b) {
    assert_int_equal(a->n_buffers, b->n_buffers);
    assert_int_equal(a->n_pools, b->n_pools);
    for (uint32_t i = 0; i < a->n_buffers; i++) {
        assert_int_equal(a->pool[i], b->pool[i]);
        assert_true(a->offset[i] == b->offset[i]);
    }
    for (uint32_t p = 0; p < a->n_pools; p++) {
        assert_true(a->arena[p] == b->arena[p]);
        assert_true(a->lower_bound[p] == b->lower_bound[p]);
    }
    assert_true(a->total == b->total);
    assert_true(a->total_bound == b->total_bound);
    assert_int_equal(a->quality, b->quality);
    assert_int_equal(a->stopped_by, b->stopped_by);
    assert_true(a->effort == b->effort);
    assert_string_equal(a->planner, b->planner);
}

TEST(random_plans_come_back_with_their_problem) {
    rng r = {8};
    for (int round = 0; round < 300; round++) {
        arenaut_document d = {.problem = random_problem(&r, &any_shape)};
        d.plan = random_plan(&r, d.problem);
        arenaut_text text = write_text("plan-json", &d);
        arenaut_document again = read_text(NULL, text.bytes);
        assert_string_equal(again.format->name, "plan-json");
        assert_same_problem(d.problem, again.problem);
        assert_same_plan(d.plan, again.plan);
        arenaut_text_free(&text);
        arenaut_document_free(&again);
        arenaut_document_free(&d);
    }
}

/* A plan made of the file is made with the same rights; but the plan's figures hold for any
 * kernels, as no result lies over an operand. */
TEST(a_plan_that_stands_on_no_kernels_says_which_it_was_made_for) {
    static const box boxes[] = {{60, 0, 2}, {60, 1, 3}};
    const arenaut_kernel_set set = {.name = "mine"};
    rng r = {8};
    arenaut_document d = {.problem = problem_of(boxes, COUNT_OF(boxes))};
    d.plan = random_plan(&r, d.problem);
    const arenaut_result result = {
        .problem = d.problem, .plan = d.plan, .kernels = &set, .unmeasured = true, .seconds = -1};
    arenaut_text once = {0};
    arenaut_error err = {0};
    assert_ok(
        arenaut_format_find("plan-json")->write(&result, arenaut_text_sink(&once), NULL, &err),
        err);
    arenaut_document again = read_text(NULL, once.bytes);
    arenaut_result bare = {.problem = again.problem, .given_kernels = again.kernels};
    assert_string_equal(again.kernels.name, "mine");
    assert_true(again.kernels.unmeasured);
    assert_null(arenaut_result_kernels_name(&result));
    assert_null(arenaut_result_kernels_name(&bare));
    again.kernels = (arenaut_given_kernels){.name = "theirs"};
    arenaut_text twice = write_text("plan-json", &again);
    assert_non_null(strstr(twice.bytes, "\"kernels\": \"theirs\""));
    assert_null(strstr(twice.bytes, "unmeasured"));
    arenaut_text_free(&once);
    arenaut_text_free(&twice);
    arenaut_document_free(&again);
    arenaut_document_free(&d);
}

TEST(an_infeasible_plan_keeps_its_witness) {
    static const box boxes[] = {{60, 0, 2}, {60, 1, 3}, {8, 5, 6}};
    arenaut_document d = {.problem = problem_of(boxes, COUNT_OF(boxes))};
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(3, 1, NULL, &d.plan, &err), err);
    d.plan->quality = ARENAUT_INFEASIBLE;
    d.plan->planner = "auto";
    d.plan->witness.buffers = malloc(2 * sizeof(uint32_t));
    d.plan->witness.buffers[0] = 0;
    d.plan->witness.buffers[1] = 1;
    d.plan->witness.n_buffers = 2;
    d.plan->witness.step = 1;
    d.plan->witness.bytes_over = 20;
    arenaut_text text = write_text("plan-json", &d);
    arenaut_document again = read_text(NULL, text.bytes);
    assert_int_equal(again.plan->quality, ARENAUT_INFEASIBLE);
    assert_int_equal(again.plan->witness.n_buffers, 2);
    assert_int_equal(again.plan->witness.buffers[1], 1);
    assert_int_equal(again.plan->witness.step, 1);
    assert_int_equal(again.plan->witness.pool, ARENAUT_NONE);
    assert_int_equal(again.plan->witness.bytes_over, 20);
    assert_int_equal(again.plan->pool[0], ARENAUT_NONE);
    arenaut_text_free(&text);
    arenaut_document_free(&again);
    arenaut_document_free(&d);
}

TEST(a_plan_says_what_the_contract_says) {
    static const box boxes[] = {{60, 0, 2}, {40, 1, 3}};
    arenaut_problem *problem = problem_of(boxes, 2);
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(2, 1, NULL, &plan, &err), err);
    plan->pool[0] = plan->pool[1] = 0;
    plan->offset[1] = 60;
    plan->planner = "hand";
    assert_ok(arenaut_plan_measure(plan, problem, &err), err);
    const arenaut_result result = {.path = "in.csv",
                                   .format = "csv",
                                   .sha256 = "00ff",
                                   .problem = problem,
                                   .plan = plan,
                                   .baseline = plan,
                                   .scratch = ARENAUT_SCRATCH_UNKNOWN,
                                   .seconds = 1.25};
    arenaut_text text = {0};
    const arenaut_format *format = arenaut_format_find("plan-json");
    assert_ok(format->write(&result, arenaut_text_sink(&text), NULL, &err), err);
    static const char *const parts[] = {
        "\"input\": {\"path\": \"in.csv\", \"format\": \"csv\", \"sha256\": \"00ff\", "
        "\"methods\": []}",
        "\"result\": {\"status\": \"feasible\", \"arena\": 100, \"lower_bound\": 0, "
        "\"planner\": \"hand\", \"stopped_by\": \"end\", \"effort\": 0, \"seconds\": 1.250000}",
        "\"baseline\": {\"planner\": \"hand\", \"arena\": 100}",
        "{\"id\": 0, \"name\": \"arena\", \"device\": {\"type\": 0, \"index\": 0}, "
        "\"capacity\": null, \"align\": 1, \"arena\": 100, \"lower_bound\": 0, "
        "\"status\": \"feasible\"}",
        "{\"id\": 1, \"name\": null, \"method\": null, \"class\": \"intermediate\", "
        "\"size\": 40, \"align\": 1, \"first\": 1, \"end\": 3, \"pool\": 0, \"offset\": 60, "
        "\"op\": null}",
        "\"scratch\": \"unknown\"",
        "\"peak\": {\"method\": null, \"step\": 1, \"op\": null, \"live_bytes\": 100, "
        "\"live\": [0, 1]}",
    };
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (!strstr(text.bytes, parts[i])) fail_msg("%s\nlacks %s", text.bytes, parts[i]);
    }
    arenaut_text_free(&text);
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
}

TEST(few_members_are_required) {
    arenaut_document d = read_text(NULL, BUFFERS(A));
    assert_string_equal(d.problem->pool[0].name, "arena");
    assert_int_equal(arenaut_problem_align(d.problem, 0), 1);
    arenaut_document_free(&d);
    d = read_text(NULL,
                  "{\"buffers\": [{\"size\": 4, \"first\": 0, \"end\": 2, \"pool\": 0, "
                  "\"offset\": 12}], \"result\": {\"status\": \"feasible\"},"
                  "\"schema\": \"arenaut.plan/1\"}");
    assert_int_equal(d.plan->offset[0], 12);
    assert_int_equal(d.plan->arena[0], 16);
    assert_int_equal(d.plan->total, 16);
    assert_int_equal(d.plan->stopped_by, ARENAUT_STOP_END);
    arenaut_document_free(&d);
}

#define CERTIFIED                                                                                 \
    "{\"schema\": \"arenaut.plan/1\", \"buffers\": [], \"result\": {\"status\": \"feasible\"},"   \
    "\"rematerialization\": {\"budget\": 40, \"nanoseconds\": 9, \"added_nanoseconds\": 3,"       \
    "\"repeats\": \"any\", \"times\": \"given\", \"device\": {\"name\": \"h100\", "               \
    "\"operations\": 7,"                                                                          \
    "\"bytes\": 5, \"launch\": 2}, \"bound\": {\"value\": 2, \"op\": 4, \"byte_price\": 6,"       \
    "\"time_price\": 8, \"flow\": [[5, 2, \"9223372036854775807\"], [1, 0, 1]]},"                 \
    "\"floor\": {\"value\": 32, \"op\": 1, \"later\": [2], \"cases\": ["                          \
    "{\"moment\": 1, \"storage\": 3},"                                                            \
    "{\"byte_price\": 4, \"time_price\": 2, \"unit\": 16, \"flow\": [[2, 1, 7]]},"                \
    "{\"moment\": 1, \"byte_price\": 5, \"time_price\": 2, \"flow\": []}]}, \"runs\": [0, 1, 0, " \
    "2]}}"

TEST(a_certificate_of_rematerialization_is_read_and_written_back) {
    arenaut_document d = read_text(NULL, CERTIFIED);
    const arenaut_remat_certificate *c = d.rematerialization;
    assert_int_equal(c->budget, 40);
    assert_int_equal(c->base, 9);
    assert_int_equal(c->added, 3);
    assert_true(c->any_op && c->timed);
    assert_string_equal(c->device.name, "h100");
    assert_int_equal(c->device.launch, 2);
    assert_int_equal(c->time.op, 4);
    assert_int_equal(c->time.n_flows, 2);
    assert_true(c->time.flows[0].flow == INT64_MAX);
    assert_int_equal(c->time.flows[1].op, 1);
    assert_int_equal(c->floor.n_later, 1);
    assert_int_equal(c->floor.later[0], 2);
    assert_int_equal(c->floor.n_cases, 3);
    assert_int_equal(c->floor.cases[0].storage, 3);
    assert_int_equal(c->floor.cases[0].moment, 1);
    assert_int_equal(c->floor.cases[1].unit, 16);
    assert_int_equal(c->floor.cases[2].moment, 1);
    assert_int_equal(c->floor.cases[2].unit, 1);
    assert_int_equal(c->floor.n_flows, 1);
    assert_int_equal(c->n_runs, 4);
    assert_int_equal(c->runs[3], 2);
    arenaut_text once = write_text("plan-json", &d);
    arenaut_document again = read_text(NULL, once.bytes);
    arenaut_text twice = write_text("plan-json", &again);
    assert_string_equal(once.bytes, twice.bytes);
    arenaut_text_free(&once);
    arenaut_text_free(&twice);
    arenaut_document_free(&again);
    arenaut_document_free(&d);
    assert_true(survives_damage("plan-json", CERTIFIED) > 0);
}

#define OTHER_OPS                                                                                 \
    "{\"schema\": \"arenaut.plan/1\", \"input\": {\"methods\": [\"f\"]}, \"buffers\": [], "       \
    "\"result\": {\"status\": \"feasible\"}, \"memories\": [{\"method\": \"f\", \"id\": 1, "      \
    "\"device\": 0, \"now\": 8, \"planned\": 4}], \"tiles\": [{\"first_op\": 2, \"last_op\": 5, " \
    "\"pieces\": 3, \"mode\": \"rows\"}], \"copies\": [1, 7], \"joins\": [9], "                   \
    "\"schedule\": [1, 0]}"

TEST(ops_and_memories_beside_a_plan_are_read) {
    arenaut_document d = read_text(NULL, OTHER_OPS);
    assert_int_equal(d.ops.n_tiles, 1);
    assert_int_equal(d.ops.tiles->first_op, 2);
    assert_int_equal(d.ops.tiles->n_ops, 4);
    assert_int_equal(d.ops.tiles->pieces, 3);
    assert_string_equal(arenaut_split_mode_name(d.ops.tiles->mode), "rows");
    assert_int_equal(d.ops.n_copied, 2);
    assert_int_equal(d.ops.copied[1], 7);
    assert_int_equal(d.ops.n_joined, 1);
    assert_int_equal(d.ops.joined[0], 9);
    assert_int_equal(d.ops.n_schedule, 2);
    assert_int_equal(d.ops.schedule[0], 1);
    assert_int_equal(d.n_memories, 1);
    assert_int_equal(d.memories->method, 0);
    assert_int_equal(d.memories->planned, 4);
    arenaut_document_free(&d);
    assert_true(survives_damage("plan-json", OTHER_OPS) > 0);
}

/* Also a plan that was read says so, in every form it is written in. */
TEST(a_plan_that_is_not_of_the_same_bits_says_so) {
    arenaut_document d = read_text(NULL,
                                   "{\"schema\": \"arenaut.plan/1\", \"buffers\": [{\"size\": 4, "
                                   "\"first\": 0, \"end\": 2, \"pool\": 0, \"offset\": 12}], "
                                   "\"result\": {\"status\": \"feasible\", \"rounded_ops\": 3}}");
    const arenaut_result result = {.path = "in",
                                   .format = "plan-json",
                                   .problem = d.problem,
                                   .plan = d.plan,
                                   .seconds = -1,
                                   .n_rounded = d.n_rounded};
    arenaut_text text = {0};
    arenaut_error err = {0};
    const arenaut_format *json = arenaut_format_find("plan-json"),
                         *csv = arenaut_format_find("csv");
    assert_int_equal(d.n_rounded, 3);
    assert_int_equal(arenaut_result_rounded(&result), 3);
    assert_ok(json->write(&result, arenaut_text_sink(&text), NULL, &err), err);
    assert_non_null(strstr(text.bytes, "\"rounded_ops\": 3}"));
    arenaut_text_free(&text);
    assert_int_equal(csv->write(&result, arenaut_text_sink(&text), NULL, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "not of the same bits (tiles of 3 ops may be rounded"));
    assert_null(text.bytes);
    arenaut_document_free(&d);
}

TEST(old_keys_of_plans_are_still_read) {
    static const char *const keys[] = {"baseline_plan", "today"};
    for (size_t k = 0; k < 2; k++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"schema\": \"arenaut.plan/1\", \"buffers\": [], \"result\": {\"status\": "
                 "\"feasible\"}, \"%s\": {\"from_file\": true, \"wrong\": null}}",
                 keys[k]);
        arenaut_document d = read_text(NULL, text);
        assert_non_null(d.plan);
        arenaut_document_free(&d);
    }
}

TEST(mistakes_are_named_with_their_place) {
    static const struct {
        const char *text, *message;
        arenaut_status status;
    } cases[] = {
        {"[]", "expected an object", ARENAUT_BAD_INPUT},
        {"{}", "'schema' is missing", ARENAUT_BAD_INPUT},
        {"{\"schema\": 1}", "this reads \"arenaut.problem/1\" only", ARENAUT_BAD_INPUT},
        {"{\"schema\": \"arenaut.problem/2\"}", "this reads \"arenaut.problem/1\" only",
         ARENAUT_UNSUPPORTED},
        {"{\"schema\": \"arenaut.problem/1\"}", "'buffers' is missing", ARENAUT_BAD_INPUT},
        {PROBLEM("\"bufers\": []"), "'bufers': unknown key; did you mean 'buffers'?",
         ARENAUT_BAD_INPUT},
        {PROBLEM("\"zzzzzzzzzz\": []"), "keys of your own begin with \"x-\"", ARENAUT_BAD_INPUT},
        {PROBLEM("\"buffers\": {}"), "'buffers': found an object; expected an array",
         ARENAUT_BAD_INPUT},
        {BUFFERS("1"), "found 1; expected an object", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"first\": 0, \"end\": 1}"), "'size' is missing", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"end\": 1}"), "'first' is missing", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1.5, \"first\": 0, \"end\": 1}"),
         "'size': found 1.5; expected an integer from 0 to 2^63 - 1", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1e400, \"first\": 0, \"end\": 1}"), "'size': found 1e400",
         ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": \"9223372036854775808\", \"first\": 0, \"end\": 1}"),
         "'size': found \"9223372036854775808\"", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"first\": 3, \"end\": 1}"), "ends before it begins",
         ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"lifetimes\": [[2, 3], [0, 1]]}"),
         "this lifetime begins before the one in front", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"lifetimes\": [[2, 3, 4]]}"), "found 3 elements; expected 2",
         ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"lifetimes\": [[2, 3]], \"first\": 1}"),
         "'first' and 'end' are not where these begin", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"first\": 0, \"end\": 1, \"align\": 3}"),
         "alignment 3 is not a power of two", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"first\": 0, \"end\": 1, \"class\": \"inptu\"}"),
         "found \"inptu\"; expected one of intermediate input", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"first\": 0, \"end\": 1, \"name\": 3}"),
         "'name': found 3; expected a string", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"first\": 0, \"end\": 1, \"name\": \"a\\u0000b\"}"),
         "a NUL character", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"first\": 0, \"end\": 1, \"offset\": 3}"), "'offset': unknown key",
         ARENAUT_BAD_INPUT},
        {BUFFERS("{\"id\": 1, \"size\": 1, \"first\": 0, \"end\": 1}"),
         "ids count from 0; expected 0", ARENAUT_BAD_INPUT},
        {BUFFERS(A ", {\"size\": 1, \"first\": 0, \"end\": 1, \"same_base_as\": \"aa\"}"),
         "no buffer is named \"aa\"; did you mean \"a\"?", ARENAUT_BAD_INPUT},
        {BUFFERS(A ", {\"size\": 1, \"first\": 0, \"end\": 1, \"same_base_as\": 2}"),
         "found 2; expected a buffer: its name, or an index below 2", ARENAUT_BAD_INPUT},
        {BUFFERS(A ", " A ", {\"size\": 1, \"first\": 0, \"end\": 1, \"same_base_as\": \"a\"}"),
         "buffers 0 and 1 both have this name; use the index", ARENAUT_BAD_INPUT},
        {BUFFERS(A ", {\"size\": 1, \"first\": 0, \"end\": 1, \"inside\": {}}"),
         "'inside': 'buffer' is missing", ARENAUT_BAD_INPUT},
        {BUFFERS(A ", {\"size\": 9, \"first\": 0, \"end\": 1, \"inside\": {\"buffer\": 0}}"),
         "does not fit inside 'a'", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"first\": 0, \"end\": 1, \"allowed_pools\": []}"),
         "no pool is allowed", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": 1, \"first\": 0, \"end\": 1, \"allowed_pools\": [1]}"),
         "expected an integer from 0 to 0", ARENAUT_BAD_INPUT},
        {PROBLEM("\"buffers\": [" A "], \"edges\": [[0, 0]]"), "from buffer 0 to itself",
         ARENAUT_BAD_INPUT},
        {PROBLEM("\"buffers\": [" A "], \"reserved\": [{\"pool\": 0, \"first\": 3}]"),
         "'end' is missing", ARENAUT_BAD_INPUT},
        {PROBLEM("\"buffers\": [], \"pools\": [{\"device\": {\"kind\": 1}}]"),
         "'kind': unknown key", ARENAUT_BAD_INPUT},
        {PROBLEM("\"buffers\": [], \"pools\": [{\"device\": 65536}]"),
         "expected an integer from 0 to 65535", ARENAUT_BAD_INPUT},
        {BUFFERS("{\"size\": \"9223372036854775807\", \"first\": 0, \"end\": 1},"
                 "{\"size\": \"9223372036854775807\", \"first\": 0, \"end\": 1}"),
         "add up to more than", ARENAUT_TOO_LARGE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_unreadable("problem-json", cases[i].text, cases[i].status, cases[i].message);
    }
    assert_unreadable("problem-json", BUFFERS("\n" A ",\n  {\"size\": true}"), ARENAUT_BAD_INPUT,
                      "line 3, column 12: 'size': found true or false");
}

TEST(more_pools_than_can_be_are_refused) {
    char text[512] =
        "{\"schema\": \"arenaut.plan/1\", \"result\": {\"status\": \"feasible\"}, "
        "\"buffers\": [], \"pools\": [{}";
    for (int i = 0; i < 64; i++) strcat(text, ", {}");
    strcat(text, "]}");
    assert_unreadable(NULL, text, ARENAUT_BAD_INPUT, "65 pools; at most 64");
}

TEST(damage_is_survived) {
    char *text = everything();
    assert_true(survives_damage("problem-json", text) > 0);
    arenaut_document d = read_text(NULL, text);
    rng r = {3};
    d.plan = random_plan(&r, d.problem);
    arenaut_text plan = write_text("plan-json", &d);
    assert_true(survives_damage("plan-json", plan.bytes) > 0);
    arenaut_text_free(&plan);
    arenaut_document_free(&d);
    free(text);
}

static arenaut_status read_with(void *context, const arenaut_allocator *allocator) {
    arenaut_document d = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_read(NULL, context, strlen(context), allocator, &d, &err);
    if (st == ARENAUT_OK) arenaut_document_free(&d);
    assert_true(st == ARENAUT_OK || (!d.problem && !d.plan));
    return st;
}

static arenaut_status write_with(void *context, const arenaut_allocator *allocator) {
    arenaut_text text = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_write("plan-json", context, allocator, &text, &err);
    arenaut_text_free(&text);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    char *text = everything();
    survives_every_allocation_failure(read_with, text);
    arenaut_document d = read_text(NULL, text);
    rng r = {4};
    d.plan = random_plan(&r, d.problem);
    survives_every_allocation_failure(write_with, &d);
    arenaut_text plan = write_text("plan-json", &d);
    survives_every_allocation_failure(read_with, plan.bytes);
    char certified[] = CERTIFIED;
    survives_every_allocation_failure(read_with, certified);
    arenaut_text_free(&plan);
    arenaut_document_free(&d);
    free(text);
}

static bool refuse_after(void *context, const void *bytes, size_t size) {
    (void)bytes;
    size_t *left = context;
    if (size > *left) return false;
    *left -= size;
    return true;
}

TEST(a_full_disk_is_reported) {
    char *text = everything();
    arenaut_document d = read_text(NULL, text);
    const arenaut_result result = {.path = "x", .problem = d.problem};
    size_t left = 100;
    const arenaut_sink sink = {refuse_after, &left};
    arenaut_error err = {0};
    assert_int_equal(d.format->write(&result, sink, NULL, &err), ARENAUT_IO);
    assert_int_equal(err.code, ARENAUT_IO);
    arenaut_document_free(&d);
    free(text);
}
