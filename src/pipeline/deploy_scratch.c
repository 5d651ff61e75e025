/* What becomes of a plan whose runtime places kernel scratch itself, around the tensors' offsets in
 * the file: the runtime's own planner is run with these fixed, and its answer is the plan that
 * people are told of, as it is what they will get. */
#include "pipeline/stages.h"

#include <string.h>

/* A tensor's offset is written into the file; scratch finds its own place around them. */
static void fix_planned(void *context, uint32_t id, arenaut_buffer *buffer) {
    const arenaut_plan *plan = context;
    if (buffer->cls != ARENAUT_SCRATCH && plan->pool[id] != ARENAUT_NONE) {
        buffer->fixed_offset = arenaut_at(plan->offset[id]);
    }
}

/* Whether any of the planned scratch will lie elsewhere than it is planned. */
static bool runtime_places_scratch(const arenaut_pipeline *p) {
    if (!p->target || !p->target->places_scratch || p->plan->n_pools != 1) return false;
    for (uint32_t b = 0; b < p->problem->n_buffers; b++) {
        if (arenaut_problem_class(p->problem, b) == ARENAUT_SCRATCH) return true;
    }
    return false;
}

/* The deployed plan with what was proven, and spent, for the joint one. */
static void replace_plan(arenaut_pipeline *p, arenaut_plan *deployed) {
    const arenaut_plan *joint = p->plan;
    deployed->total_bound = joint->total_bound;
    memcpy(deployed->lower_bound, joint->lower_bound,
           joint->n_pools * sizeof *deployed->lower_bound);
    const bool optimal = deployed->total == joint->total_bound;
    deployed->quality = optimal ? ARENAUT_OPTIMAL : ARENAUT_FEASIBLE;
    deployed->stopped_by = joint->stopped_by;
    deployed->effort = joint->effort;
    deployed->planner = joint->planner;
    arenaut_plan_free(p->plan);
    p->plan = deployed;
    p->result.plan = deployed;
}

static arenaut_status deploy(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    arenaut_problem *fixed = NULL;
    arenaut_plan *deployed = NULL;
    arenaut_finding finding;
    arenaut_error why = {0};
    arenaut_status st =
        arenaut_problem_copy(p->problem, NULL, 0, fix_planned, p->plan, allocator, &fixed, err);
    if (st != ARENAUT_OK) return st;
    st = arn_pipeline_run_incumbent(p, p->target->incumbent, fixed, &deployed, &why);
    arenaut_problem_free(fixed);
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(err);
    if (st != ARENAUT_OK) {
        arenaut_plan_free(deployed);
        p->plan->quality = ARENAUT_FEASIBLE;
        arn_pipeline_note(p, "how %s will place scratch is not known: %s", p->target->name,
                          why.msg[0] ? why.msg : "it finds no place");
        return ARENAUT_OK;
    }
    replace_plan(p, deployed);
    st = arenaut_check_plan(p->problem, deployed, allocator, &finding, err);
    if (st != ARENAUT_REJECTED) return st;
    return arn_fail(err, ARENAUT_INTERNAL, 0,
                    "the plan with the scratch placed by %s did not pass the checker: %s",
                    p->target->name, finding.msg);
}

arenaut_status arn_pipeline_deploy_scratch(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_status st = runtime_places_scratch(p) ? deploy(p, err) : ARENAUT_OK;
    const bool unknown =
        p->result.scratch == ARENAUT_SCRATCH_UNKNOWN || p->op_outside != ARENAUT_NONE;
    if (unknown && p->plan->quality == ARENAUT_OPTIMAL) p->plan->quality = ARENAUT_FEASIBLE;
    return st;
}
