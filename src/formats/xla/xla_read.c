/* Reader of XLA's dumps of a module: its buffer assignment becomes a problem, and the places in it
 * the plan of that. Each part of the file is walked once for each list that is made of it, so the
 * whole is O(n log n) in its bytes. */
#include "core/checked.h"
#include "formats/xla/xla_reader.h"

static arenaut_status find_parts(arn_xla *r) {
    arn_pb message = arn_pb_open(r->data, (arn_pb_bytes){0, r->size});
    arn_pb_field field;
    while (arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, HLO_MODULE, ARN_PB_BYTES)) r->module = field.bytes;
        if (arn_pb_is(&field, HLO_BUFFER_ASSIGNMENT, ARN_PB_BYTES)) r->assignment = field.bytes;
    }
    const arenaut_status st = arn_pb_status(&message, "the dump", r->err);
    if (st != ARENAUT_OK) return st;
    if (r->assignment.size > 0) return ARENAUT_OK;
    return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                    "the module has no buffer assignment: XLA dumps it with the module after "
                    "optimizations, not with the one before");
}

/* The same for the plan: buffers without a place need none. */
static arenaut_status make_plan(arn_xla *r, arenaut_plan **out) {
    const arenaut_problem *problem = r->problem;
    arenaut_plan *plan = NULL;
    arenaut_status st =
        arenaut_plan_new(problem->n_buffers, problem->n_pools, r->allocator, &plan, r->err);
    if (st != ARENAUT_OK) return st;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(problem, b)) continue;
        plan->pool[b] = arn_lowest_bit(arenaut_problem_pools(problem, b));
        plan->offset[b] = r->offsets[b];
    }
    plan->planner = "xla";
    plan->stopped_by = ARENAUT_STOP_EFFORT;
    st = arenaut_plan_measure(plan, problem, r->err);
    if (st == ARENAUT_OK) *out = plan;
    else arenaut_plan_free(plan);
    return st;
}

static arenaut_status read_all(arn_xla *r, arenaut_plan **plan) {
    arenaut_status st = find_parts(r);
    if (st == ARENAUT_OK) st = arn_xla_read_module(r);
    if (st == ARENAUT_OK) st = arn_xla_read_values(r);
    if (st == ARENAUT_OK) st = arn_xla_read_allocations(r);
    if (st == ARENAUT_OK) st = arn_xla_read_traces(r);
    if (st == ARENAUT_OK) st = arn_xla_make_problem(r);
    return st == ARENAUT_OK ? make_plan(r, plan) : st;
}

static void release(arn_xla *r) {
    void *const lists[] = {r->value_ids,
                           r->values_in_order,
                           r->values,
                           r->instruction_ids,
                           r->instructions_in_order,
                           r->instructions,
                           r->allocations,
                           r->files,
                           r->places,
                           r->frames,
                           r->offsets,
                           r->lives};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) arn_release(r->allocator, lists[i]);
}

arenaut_status arn_xla_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                            const arenaut_allocator *allocator, arenaut_document *out,
                            arenaut_error *err) {
    (void)options;
    arn_xla r = {.data = data, .size = size, .allocator = allocator, .err = err};
    arenaut_plan *plan = NULL;
    const arenaut_status st = read_all(&r, &plan);
    release(&r);
    if (st != ARENAUT_OK) {
        arenaut_problem_free(r.problem);
        return st;
    }
    out->problem = r.problem;
    out->plan = plan;
    return ARENAUT_OK;
}
