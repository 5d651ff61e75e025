#include "support/onnx_round.h"

#include <arenaut/check.h>
#include <arenaut/expr.h>
#include <arenaut/lowering.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "support/replay_plan.h"
#include "support/require.h"

static bool is_refusal(arenaut_status st, const arenaut_error *err) {
    REQUIRE(err->code == st && err->msg[0]);
    return st == ARENAUT_BAD_INPUT || st == ARENAUT_UNSUPPORTED || st == ARENAUT_TOO_LARGE ||
           st == ARENAUT_REFUSED;
}

/* Whatever is left open lies between 1 and 3; what cannot stays open. */
static void bind_all(arenaut_program *program) {
    arenaut_error err;
    for (uint32_t i = 0; i < program->n_symbols; i++) {
        (void)arenaut_program_bind(program, program->symbols[i].name, 1, 3, &err);
    }
}

static void replay(const arenaut_program *program, const arenaut_lowering *lowering,
                   const arenaut_plan *plan) {
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st = replay_plan(program, lowering, plan, &finding, &err);
    if (st == ARENAUT_REJECTED) fprintf(stderr, "%s\n", finding.msg);
    REQUIRE(st == ARENAUT_OK || st == ARENAUT_UNSUPPORTED);
}

static void plan_and_replay(const arenaut_program *program, const arenaut_lowering *lowering) {
    const arenaut_plan_options options = {.planner = "naive"};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(lowering->problem, &options, NULL, &plan, &err);
    if (st != ARENAUT_OK) {
        REQUIRE(is_refusal(st, &err));
        return;
    }
    replay(program, lowering, plan);
    arenaut_plan_free(plan);
}

bool onnx_property(const uint8_t *data, size_t size) {
    const arenaut_target *target = arenaut_target_find("onnxruntime");
    const arenaut_pass_options options = {.target = target};
    arenaut_document document = {0};
    arenaut_lowering *lowering = NULL;
    arenaut_error err = {0};
    arenaut_status st =
        arenaut_read(data, size, arenaut_format_find("onnx"), NULL, NULL, &document, &err);
    if (st != ARENAUT_OK) {
        REQUIRE(is_refusal(st, &err));
        return false;
    }
    REQUIRE(arenaut_program_validate(document.program, &err) == ARENAUT_OK);
    bind_all(document.program);
    st = arenaut_passes_run(document.program, "inplace", &options, NULL, NULL, &err);
    if (st == ARENAUT_OK) {
        st = arenaut_lower(document.program, target, NULL, NULL, &lowering, &err);
    }
    if (st == ARENAUT_OK) plan_and_replay(document.program, lowering);
    else REQUIRE(is_refusal(st, &err));
    arenaut_lowering_free(lowering);
    arenaut_document_free(&document);
    return true;
}
