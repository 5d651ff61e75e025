/* Verified plans: a plan is held against its problem, and the program is replayed over tensors in
 * the places of the plan, before anything is claimed or written. Shares no rule with lowering or
 * the planners; it only tells the checker (src/check) the places. Costs as much as the checker. */
#include "stages/stages.h"

#include "core/memory.h"

/* Each tensor lies in its buffer, at its offset there. In a file, right or wrong, one buffer may
 * have several places: one per method if methods share it by name; one per branch if two branches
 * leave it for one reader. */
static uint64_t offset_of(const arenaut_program *program, const arenaut_lowering *lowering,
                          const arenaut_plan *plan, uint32_t tensor, bool as_in_file) {
    uint64_t inside;
    const uint32_t storage = arenaut_program_storage(program, tensor, &inside);
    const arenaut_tensor *own = &program->tensors[storage];
    if (as_in_file && own->given_offset != ARENAUT_UNPLACED) {
        return own->given_offset + inside;
    }
    return plan->offset[lowering->buffer[tensor]] + lowering->offset[tensor];
}

static void place_tensors(const arenaut_program *program, const arenaut_lowering *lowering,
                          const arenaut_plan *plan, bool as_in_file, uint32_t *pool,
                          uint64_t *offset) {
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const uint32_t buffer = t < lowering->n_tensors ? lowering->buffer[t] : ARENAUT_NONE;
        const bool placed = buffer != ARENAUT_NONE && plan->pool[buffer] != ARENAUT_NONE;
        pool[t] = placed ? plan->pool[buffer] : ARENAUT_NONE;
        offset[t] = placed ? offset_of(program, lowering, plan, t, as_in_file) : 0;
    }
}

arenaut_status arn_pipeline_replay(const arenaut_pipeline *p, const arenaut_program *program,
                                   const arenaut_lowering *lowering, const arenaut_plan *plan,
                                   bool as_in_file, arenaut_finding *finding, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const uint32_t n = program->n_tensors;
    uint32_t *pool = arn_allocate(allocator, n, sizeof *pool);
    uint64_t *offset = arn_allocate(allocator, n, sizeof *offset);
    arn_pool_names names;
    arenaut_status st = pool && offset ? ARENAUT_OK : arn_no_memory(err);
    if (st == ARENAUT_OK) st = arn_pipeline_name_pools(p, program, lowering, plan, &names, err);
    if (st == ARENAUT_OK) {
        place_tensors(program, lowering, plan, as_in_file, pool, offset);
        const arenaut_placement placement = {n, plan->n_pools, pool, offset, plan->arena};
        /* How kernels walk matters only if they were asked to overlap. */
        const bool reaches = lowering->problem->n_separations > 0;
        const arenaut_replay_options options = {
            .keep_inputs = p->options.preserve_inputs || p->target->keep_inputs,
            .exclude_io = p->options.exclude_io,
            .kernels = reaches ? p->kernels : NULL,
            .unmeasured = p->unmeasured,
            .pool_names = names.names};
        st = arenaut_check_replay(program, &placement, &options, allocator, finding, err);
    }
    ARN_RELEASE(allocator, pool, offset);
    return st;
}

arenaut_status arenaut_pipeline_replay(const arenaut_pipeline *p, const arenaut_plan *plan,
                                       arenaut_finding *finding, arenaut_error *err) {
    return arn_pipeline_replay(p, p->document.program, p->lowering, plan, false, finding, err);
}

/* True if the two arguments that share bytes are, by the program, one memory: an op that writes a
 * view of its own operand, as no update and by no right in place. */
static bool share_storage(const arenaut_program *program, const arenaut_finding *finding) {
    return finding->a < program->n_tensors && finding->b < program->n_tensors &&
           arenaut_program_storage(program, finding->a, NULL) ==
               arenaut_program_storage(program, finding->b, NULL);
}

/* *wrong: no plan could pass. With memory of its own for every buffer, the replay still finds a
 * read of memory that was never written, or an op that writes over its own operand. */
static arenaut_status find_fault(const arenaut_pipeline *p, bool *wrong, arenaut_finding *finding,
                                 arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const arenaut_plan_options options = {.planner = "naive"};
    const arenaut_program *program = p->document.program;
    arenaut_lowering *lowering = NULL;
    arenaut_plan *apart = NULL;
    arenaut_status st = arenaut_lower(program, p->target, NULL, allocator, &lowering, err);
    if (st == ARENAUT_OK) {
        arn_budget own = arn_budget_make(0, NULL, NULL); /* nothing is searched for */
        st = arn_plan_within(lowering->problem, &own, &options, allocator, &apart, err);
    }
    if (st == ARENAUT_OK) {
        st = arn_pipeline_replay(p, program, lowering, apart, false, finding, err);
    }
    *wrong = st == ARENAUT_REJECTED &&
             (finding->rule == ARENAUT_RULE_UNWRITTEN ||
              (finding->rule == ARENAUT_RULE_ARGUMENTS && share_storage(program, finding)));
    arenaut_plan_free(apart);
    arenaut_lowering_free(lowering);
    return st == ARENAUT_NO_MEMORY ? st : ARENAUT_OK;
}

/* A rejection is our own bug, unless the program itself is at fault. */
arenaut_status arn_pipeline_verify(const arenaut_pipeline *p, arenaut_error *err) {
    arenaut_finding finding, fault;
    arn_pipeline_enter(p, ARENAUT_STAGE_CHECK);
    arenaut_status st =
        arenaut_check_plan(p->problem, p->plan, arn_pipeline_allocator(p), &finding, err);
    const bool replayed = st == ARENAUT_OK && p->lowering && !p->store->aside &&
                          p->plan->quality != ARENAUT_INFEASIBLE;
    if (replayed) {
        arn_pipeline_enter(p, ARENAUT_STAGE_REPLAY);
        st = arenaut_pipeline_replay(p, p->plan, &finding, err);
    }
    arn_pipeline_enter(p, ARENAUT_STAGE_OTHER);
    if (st != ARENAUT_REJECTED) return st;
    bool wrong = false;
    if (replayed && find_fault(p, &wrong, &fault, err) != ARENAUT_OK) return ARENAUT_NO_MEMORY;
    if (wrong) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "the program itself is wrong, however its buffers are placed: %s",
                        fault.msg);
    }
    return arn_fail(err, ARENAUT_INTERNAL, 0, "the plan of %s did not pass the checker: %s",
                    p->plan->planner, finding.msg);
}

/* Figures for reports; the arenas of a plan that is in a file are the file's by now. */
static void settle_figures(arenaut_pipeline *p) {
    const arenaut_baseline *baseline = &p->baseline;
    arenaut_figures *figures = &p->figures;
    figures->planned = figures->needed = p->plan->total;
    figures->bound = p->plan->total_bound;
    const bool obeyed = baseline->plan && baseline->from_file && !baseline->overlaps;
    if (obeyed && !arn_pipeline_overrides(&p->options) && figures->now < figures->planned) {
        figures->needed = figures->now;
    }
}

arenaut_status arn_pipeline_make_plan(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_PREPARED, ARN_PIPELINE_COMPARED, err);
    if (st != ARENAUT_OK) return st;
    arn_pipeline_keep_plan(p, NULL);
    p->store->compared = p->store->reached == ARN_PIPELINE_COMPARED && !p->options.plan_as_made;
    arn_budget budget = arn_pipeline_budget(p, p->options.plan.effort);
    const arenaut_status planned = arn_pipeline_run_planner(
        p, ARENAUT_STAGE_PLAN, &budget, &p->options.plan, p->problem, &p->plan, err);
    if (planned != ARENAUT_OK && planned != ARENAUT_NO_PLAN) return planned;
    p->result.plan = p->plan;
    st = arn_pipeline_verify(p, err);
    if (st == ARENAUT_OK && planned == ARENAUT_OK && !p->options.plan_as_made) {
        st = arn_pipeline_deploy_scratch(p, err);
        if (st == ARENAUT_OK) st = arn_pipeline_size_memories(p, err);
    }
    if (st == ARENAUT_OK) {
        settle_figures(p);
        return planned;
    }
    arn_pipeline_keep_plan(p, NULL); /* never unchecked */
    return st;
}
