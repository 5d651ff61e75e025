#include "support/onnx_round.h"

#include <arenaut/expr.h>

#include "ir/expr.h"
#include "ir/program.h"
#include "support/pipelines.h"
#include "support/require.h"

/* Open sizes lie between 1 and 3; those that cannot stay open. */
static void bind_all(arenaut_program *program) {
    arenaut_error err;
    for (uint32_t i = 0; i < program->n_symbols; i++) {
        (void)arn_program_bind(program, program->symbols[i].name, 1, 3, &err);
    }
}

static void plan_and_replay(const arenaut_pipeline *p) {
    const arenaut_plan_options options = {.planner = "naive"};
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    arenaut_status st = arenaut_plan_make(p->problem, &options, NULL, &plan, &err);
    if (st != ARENAUT_OK) {
        REQUIRE(is_refusal(st, &err));
        return;
    }
    st = arenaut_pipeline_replay(p, plan, &finding, &err);
    if (st == ARENAUT_REJECTED) fprintf(stderr, "%s\n", finding.msg);
    REQUIRE(st == ARENAUT_OK || st == ARENAUT_UNSUPPORTED);
    arenaut_plan_free(plan);
}

bool onnx_property(const uint8_t *data, size_t size) {
    const arenaut_pipeline_options options = {.format = arenaut_format_find("onnx"),
                                              .overwrite = ARENAUT_OVERWRITE_ON};
    const arenaut_pipeline_file file = {NULL, data, size};
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    REQUIRE(arenaut_pipeline_new(&options, NULL, &p, &err) == ARENAUT_OK);
    arenaut_status st = arenaut_pipeline_read(p, &file, 1, &err);
    const bool accepted = st == ARENAUT_OK;
    if (accepted) {
        REQUIRE(arn_program_validate(p->document.program, &err) == ARENAUT_OK);
        bind_all(p->document.program);
        st = arenaut_pipeline_prepare(p, &err);
    }
    if (st == ARENAUT_OK) plan_and_replay(p);
    else REQUIRE(is_refusal(st, &err));
    arenaut_pipeline_free(p);
    return accepted;
}
