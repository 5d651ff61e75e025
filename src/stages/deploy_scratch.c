/* Deployment of a plan whose runtime places kernel scratch itself, around the tensors' offsets in
 * the file: the runtime's own planner is run with these fixed, and its answer is the plan that is
 * reported. And plans of which it is not known how much scratch the kernels will ask for. */
#include "stages/stages.h"

#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "ir/lifetimes.h"
#include "ir/store.h"
#include "passes/scratch.h"

/* A tensor's offset is written into the file; scratch finds its own place around them. */
static void fix_planned(void *context, uint32_t id, arenaut_buffer *buffer) {
    const arenaut_plan *plan = context;
    if (buffer->cls != ARENAUT_SCRATCH && plan->pool[id] != ARENAUT_NONE) {
        buffer->fixed_offset = arenaut_at(plan->offset[id]);
    }
}

/* True if any of the planned scratch will lie elsewhere than it is planned. */
static bool runtime_places_scratch(const arenaut_pipeline *p) {
    if (!p->target || !p->target->places_scratch || p->plan->n_pools != 1) return false;
    for (uint32_t b = 0; b < p->problem->n_buffers; b++) {
        if (arenaut_problem_class(p->problem, b) == ARENAUT_SCRATCH) return true;
    }
    return false;
}

/* The deployed plan with the bounds and the effort of the joint one. */
static void replace_plan(arenaut_pipeline *p, arenaut_plan *deployed) {
    const arenaut_plan *joint = p->plan;
    deployed->total_bound = joint->total_bound;
    memcpy(deployed->lower_bound, joint->lower_bound,
           joint->n_pools * sizeof *deployed->lower_bound);
    deployed->quality = ARENAUT_OPTIMAL;
    deployed->stopped_by = joint->stopped_by;
    if (deployed->total != joint->total_bound) arn_plan_call_feasible(deployed);
    deployed->effort = joint->effort;
    deployed->planner = joint->planner;
    arenaut_plan_free(p->plan);
    p->plan = deployed;
    p->result.plan = deployed;
}

/* The runtime's placement of everything if the plan's offsets are in the file. It knows nothing of
 * inputs that are to be kept: to it their memory is free once they are read. It searches for
 * nothing, and without it the plan's size would be a wrong word: so nothing stops it. */
static arenaut_status run_incumbent(arenaut_pipeline *p, arenaut_plan **deployed,
                                    arenaut_error *why) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    arenaut_lowering *unkept = NULL;
    arenaut_problem *fixed = NULL;
    arenaut_status st = ARENAUT_OK;
    if (p->options.preserve_inputs) st = arn_pipeline_lower(p, false, &unkept, why);
    if (st == ARENAUT_OK) {
        st = arenaut_problem_copy(unkept ? unkept->problem : p->problem, NULL, 0, fix_planned,
                                  p->plan, allocator, &fixed, why);
    }
    if (st == ARENAUT_OK) {
        arn_budget own = arn_budget_make(0, NULL, NULL);
        st = arn_pipeline_run_incumbent(p, &own, p->target->incumbent, fixed, deployed, why);
    }
    arenaut_problem_free(fixed);
    arenaut_lowering_free(unkept);
    return st;
}

/* Takes the places that the runtime chooses by itself: the rest lies as planned. */
static arenaut_status take_scratch(const arenaut_pipeline *p, arenaut_plan *deployed,
                                   arenaut_error *err) {
    for (uint32_t b = 0; b < p->problem->n_buffers; b++) {
        if (arenaut_problem_class(p->problem, b) == ARENAUT_SCRATCH) continue;
        deployed->pool[b] = p->plan->pool[b];
        deployed->offset[b] = p->plan->offset[b];
    }
    return arenaut_plan_measure(deployed, p->problem, err);
}

static arenaut_status not_right(const arenaut_pipeline *p, const arenaut_finding *finding,
                                arenaut_error *err) {
    if (p->options.preserve_inputs) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "%s places scratch by itself, where it takes inputs that are read for "
                        "free; no plan was found that keeps them: %s",
                        p->target->name, finding->msg);
    }
    return arn_fail(err, ARENAUT_INTERNAL, 0,
                    "the plan with the scratch placed by %s did not pass the checker: %s",
                    p->target->name, finding->msg);
}

/* REJECTED: the runtime's scratch overlaps memory that is live. */
static arenaut_status deploy_as_planned(arenaut_pipeline *p, arenaut_finding *finding,
                                        arenaut_error *err) {
    arenaut_plan *deployed = NULL;
    arenaut_error why = {0};
    arenaut_status st = run_incumbent(p, &deployed, &why);
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(err);
    if (st != ARENAUT_OK) {
        arenaut_plan_free(deployed);
        arn_plan_call_feasible(p->plan);
        arn_pipeline_note(p, "how %s will place scratch is not known: %s", p->target->name,
                          why.msg[0] ? why.msg : "it finds no place");
        return ARENAUT_OK;
    }
    st = take_scratch(p, deployed, err);
    replace_plan(p, deployed);
    if (st != ARENAUT_OK) return st;
    return arenaut_check_plan(p->problem, deployed, arn_pipeline_allocator(p), finding, err);
}

static bool is_placed(const arenaut_pipeline *p, uint32_t b) {
    return p->plan->pool[b] != ARENAUT_NONE;
}

static bool is_fixed(const arenaut_pipeline *p, uint32_t b) {
    return arenaut_problem_fixed_offset(p->problem, b) != ARENAUT_UNPLACED;
}

/* Closes the place of an input, which nothing else ever uses, unless a buffer above it has to stay,
 * and puts the input above all else. */
static void lift(arenaut_pipeline *p, uint32_t input, uint64_t align) {
    uint64_t *offset = p->plan->offset, *const size = p->problem->size;
    uint64_t next = ARENAUT_UNPLACED, top = 0;
    bool stays = false;
    for (uint32_t b = 0; b < p->problem->n_buffers; b++) {
        if (!is_placed(p, b) || offset[b] <= offset[input]) continue;
        next = arn_min_u64(next, offset[b]);
        stays = stays || is_fixed(p, b);
    }
    const bool closes = next != ARENAUT_UNPLACED && !stays;
    const uint64_t down = closes ? (next - offset[input]) / align * align : 0;
    for (uint32_t b = 0; b < p->problem->n_buffers; b++) {
        if (!is_placed(p, b) || b == input) continue;
        if (offset[b] > offset[input]) offset[b] -= down;
        top = arn_max_u64(top, offset[b] + size[b]);
    }
    offset[input] = arn_aligned(top, arenaut_problem_align(p->problem, input));
}

/* The runtime takes inputs that are read for free, and puts scratch as low as it can: none ends in
 * inputs that lie above all else. An input with a place of the user's stays. */
static arenaut_status lift_inputs(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_problem *problem = p->problem;
    const arenaut_program *program = p->document.program;
    uint64_t align = 1;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        align = arn_max_u64(align, arenaut_problem_align(problem, b));
    }
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        for (uint32_t i = 0; i < method->n_inputs && method->entry; i++) {
            const uint32_t b = p->lowering->buffer[method->inputs[i]];
            if (b != ARENAUT_NONE && is_placed(p, b) && !is_fixed(p, b)) lift(p, b, align);
        }
    }
    return arenaut_plan_measure(p->plan, problem, err);
}

static arenaut_status deploy(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_finding finding;
    arenaut_status st = ARENAUT_OK;
    if (p->options.preserve_inputs) st = lift_inputs(p, err);
    if (st == ARENAUT_OK) st = deploy_as_planned(p, &finding, err);
    return st == ARENAUT_REJECTED ? not_right(p, &finding, err) : st;
}

arenaut_status arn_pipeline_deploy_scratch(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_status st = runtime_places_scratch(p) ? deploy(p, err) : ARENAUT_OK;
    const bool unknown =
        p->result.scratch == ARENAUT_SCRATCH_UNKNOWN || p->op_outside != ARENAUT_NONE;
    if (unknown && p->plan->quality == ARENAUT_OPTIMAL) arn_plan_call_feasible(p->plan);
    return st;
}

/* Buffers looked at, over all steps: far more than any model for such a runtime has. */
enum { MAX_LOOKS = 1 << 28 };

typedef struct range {
    uint64_t first, end;
} range;

static int by_first(const void *a, const void *b) {
    const range *ra = a, *rb = b;
    return (ra->first > rb->first) - (ra->first < rb->first);
}

/* True if the buffers live at `step` cover the addresses from 0 to their top. */
static bool is_compact(const arenaut_problem *problem, const arenaut_plan *plan, int64_t step,
                       range *live) {
    size_t n = 0;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (!arn_alive_at(problem, b, step)) continue;
        const uint64_t first = plan->offset[b];
        live[n++] = (range){first, first + problem->size[b]};
    }
    if (n) qsort(live, n, sizeof *live, by_first);
    uint64_t top = 0;
    for (size_t i = 0; i < n; i++) {
        if (live[i].first > top) return false;
        if (live[i].end > top) top = live[i].end;
    }
    return true;
}

arenaut_status arn_pipeline_scratch_is_harmless(const arenaut_pipeline *p, bool *harmless,
                                                arenaut_error *err) {
    const arenaut_program *program = p->document.program;
    const uint64_t n = p->problem->n_buffers;
    uint64_t looks = 0;
    bool compact = p->plan->n_pools == 1;
    range *live = arn_allocate(arn_pipeline_allocator(p), n, sizeof *live);
    if (!live) return arn_no_memory(err);
    for (uint32_t k = 0; k < p->lowering->n_steps && compact; k++) {
        const uint32_t op = p->lowering->steps[k].op;
        if (op == ARENAUT_NONE) continue;
        if (!arn_op_asks_for_scratch(program, &program->ops[op], p->kernels)) continue;
        looks += n;
        compact = looks <= MAX_LOOKS && is_compact(p->problem, p->plan, k, live);
    }
    arn_release(arn_pipeline_allocator(p), live);
    *harmless = compact;
    return ARENAUT_OK;
}
