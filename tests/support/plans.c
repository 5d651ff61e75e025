#include "support/plans.h"

#include <stdlib.h>

#include "support/documents.h"
#include "support/oracle.h"
#include "support/problems.h"
#include "support/replay_plan.h"
#include "support/test.h"

arenaut_plan *plan_by(const arenaut_problem *problem, const char *planner) {
    const arenaut_plan_options options = {.planner = planner};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_answered(arenaut_plan_make(problem, &options, NULL, &plan, &err), plan, &err);
    assert_plan_accepted(problem, plan);
    return plan;
}

void assert_plan_lies_at(const arenaut_plan *plan, const uint64_t *offsets) {
    for (uint32_t b = 0; b < plan->n_buffers; b++) {
        if (plan->offset[b] != offsets[b]) {
            fail_msg("%s: buffer %u lies at %llu, not at %llu", plan->planner, b,
                     (unsigned long long)plan->offset[b], (unsigned long long)offsets[b]);
        }
    }
}

void assert_offsets(arenaut_problem *problem, const char *planner, const uint64_t *offsets) {
    arenaut_plan *plan = plan_by(problem, planner);
    assert_plan_lies_at(plan, offsets);
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
}

enum { GRAIN = 64 };

arenaut_problem *rounded_problem(const char *path, uint32_t traits) {
    size_t size;
    char *text = load_file(path, &size);
    arenaut_document d = read_text("csv", text);
    free(text);
    arenaut_problem *p = new_problem();
    for (uint32_t b = 0; b < d.problem->n_buffers; b++) {
        const arenaut_interval *life = arenaut_problem_lifetimes(d.problem, b);
        add_box(p, (d.problem->size[b] + GRAIN - 1) / GRAIN * GRAIN, life->first, life->end);
    }
    p->traits = traits;
    finish(p);
    arenaut_document_free(&d);
    return p;
}

void assert_plan_stands(const arenaut_program *program, const arenaut_lowering *lowering,
                        const arenaut_plan *plan) {
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arenaut_check_plan(lowering->problem, plan, NULL, &finding, &err), err);
    assert_ok(replay_plan(program, lowering, plan, &finding, &err), err);
}
