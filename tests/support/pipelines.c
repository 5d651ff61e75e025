#include "support/pipelines.h"

#include "support/require.h"

arenaut_status pipeline_open(const void *data, size_t size, const arenaut_pipeline_options *options,
                             const arenaut_allocator *allocator, arenaut_pipeline **out,
                             arenaut_error *err) {
    const arenaut_pipeline_file file = {NULL, data, size};
    arenaut_pipeline *p = NULL;
    arenaut_status st = arenaut_pipeline_new(options, allocator, &p, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(p, &file, 1, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(p, err);
    if (st == ARENAUT_OK && p->options.plan.planner) st = arenaut_pipeline_plan(p, err);
    if (st == ARENAUT_OK) *out = p;
    else arenaut_pipeline_free(p);
    return st;
}

bool is_refusal(arenaut_status st, const arenaut_error *err) {
    return err->code == st && err->msg[0] &&
           (st == ARENAUT_BAD_INPUT || st == ARENAUT_UNSUPPORTED || st == ARENAUT_TOO_LARGE ||
            st == ARENAUT_REFUSED);
}

static void require_read_back(const char *format, const arenaut_problem *problem,
                              const arenaut_plan *plan) {
    const arenaut_result result = {
        .path = "input", .format = format, .problem = problem, .plan = plan, .seconds = -1};
    const arenaut_format *json = arenaut_format_find("plan-json");
    arenaut_text text = {0};
    arenaut_document again = {0};
    arenaut_error err = {0};
    REQUIRE(json->write(&result, arenaut_text_sink(&text), NULL, &err) == ARENAUT_OK);
    REQUIRE(arenaut_read((const uint8_t *)text.bytes, text.size, json, NULL, NULL, &again, &err) ==
            ARENAUT_OK);
    REQUIRE(again.problem->n_buffers == problem->n_buffers);
    REQUIRE(again.plan->total == plan->total);
    arenaut_document_free(&again);
    arenaut_text_free(&text);
}

bool problem_property(const char *format, const char *planner, const uint8_t *data, size_t size) {
    const arenaut_plan_options options = {.planner = planner};
    arenaut_document document = {0};
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    arenaut_status st =
        arenaut_read(data, size, arenaut_format_find(format), NULL, NULL, &document, &err);
    if (st != ARENAUT_OK) {
        REQUIRE(is_refusal(st, &err));
        return false;
    }
    REQUIRE(arenaut_problem_validate(document.problem, &err) == ARENAUT_OK);
    if (document.plan) {
        st = arenaut_check_plan(document.problem, document.plan, NULL, &finding, &err);
        REQUIRE(st == ARENAUT_OK || st == ARENAUT_REJECTED);
    }
    st = arenaut_plan_make(document.problem, &options, NULL, &plan, &err);
    if (st == ARENAUT_OK) {
        REQUIRE(arenaut_check_plan(document.problem, plan, NULL, &finding, &err) == ARENAUT_OK);
        require_read_back(format, document.problem, plan);
        arenaut_plan_free(plan);
    } else {
        REQUIRE(is_refusal(st, &err));
    }
    arenaut_document_free(&document);
    return true;
}
