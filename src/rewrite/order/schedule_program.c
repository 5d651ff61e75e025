/* The scheduling problems of a lowered program, one per reachable method or stretch between jumps,
 * callees before callers. The live bytes around a call do not depend on the schedule of the callee,
 * so the callee's least peak is the same for every call, and optimal schedules of all methods are
 * optimal for the program. O(arguments). */
#include "rewrite/order/schedule_problem.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "ir/program.h"
#include "rewrite/order/program_order.h"

/* ---- limits of reordering ---- */

static arenaut_status refuse(arenaut_error *err, const char *why) {
    return arn_fail(err, ARENAUT_REFUSED, 0, "the program cannot be reordered: %s", why);
}

/* The reachable methods, and the number of calls of each. */
static void find_running(arn_schedule_context *b, uint32_t *n_calls) {
    const arenaut_program *p = b->program;
    const uint32_t *callees_first = b->dependences.calls.callees_first;
    for (uint32_t m = 0; m < p->n_methods; m++) b->runs[m] = p->methods[m].entry;
    for (uint32_t k = p->n_methods; k-- > 0;) {
        const arenaut_method *method = &p->methods[callees_first[k]];
        if (!b->runs[callees_first[k]]) continue;
        for (uint32_t i = 0; i < method->n_ops; i++) {
            const arenaut_op *op = &p->ops[method->first_op + i];
            for (uint32_t c = 0; c < op->n_calls; c++) {
                b->runs[op->calls[c]] = true;
                n_calls[op->calls[c]]++;
            }
        }
    }
    for (uint32_t m = 0; m < p->n_methods; m++) b->n_running += b->runs[m];
}

/* The memory of one run of a method must be live during that run only, and independent of others.
 */
static arenaut_status check_calls(const arn_schedule_context *b, const uint32_t *n_calls,
                                  arenaut_error *err) {
    const arenaut_program *p = b->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (n_calls[m] > 0 && p->methods[m].entry) {
            return refuse(err, "a method is both an entry and called by another method");
        }
        if (n_calls[m] > 1 && b->target->merge_calls) {
            return refuse(err, "a method with several calls keeps its memory between them");
        }
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (!b->runs[p->ops[i].method] || !arn_is_plain_call(&p->ops[i])) continue;
        return refuse(err, "both paths of a branch are the same method");
    }
    return ARENAUT_OK;
}

/* ---- buffers ---- */

/* Every offset is a multiple of the least alignment, so that sizes can be rounded up to it; but a
 * pool may end with the last byte of its last buffer. */
static void round_sizes(arn_schedule_context *b) {
    const arenaut_problem *problem = b->lowering->problem;
    uint64_t grain = ARENAUT_SIZE_MAX, most = 0;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        grain = arn_min_u64(grain, arenaut_problem_align(problem, i));
    }
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        b->size[i] = arn_aligned(problem->size[i], grain);
        most = arn_max_u64(most, b->size[i] - problem->size[i]);
    }
    b->grain = grain;
    for (uint32_t i = 0; i < problem->n_pools; i++) {
        if (problem->pool[i].align < grain) b->at_ends += most;
    }
}

static uint32_t home_of(const arn_schedule_context *b, uint32_t buffer) {
    return b->program->tensors[b->lowering->tensor[buffer]].method;
}

/* State, and tensors of no method that a called method uses: they may be loop-carried. */
static void mark_always(arn_schedule_context *b, const arenaut_method *method, uint32_t m,
                        const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t t = tensors[i];
        const uint32_t buffer = t == ARENAUT_NONE ? t : b->lowering->buffer[t];
        if (buffer == ARENAUT_NONE || method->entry) continue;
        const uint32_t home = home_of(b, buffer);
        const bool captured = method->outer != ARENAUT_NONE && home != ARENAUT_NONE;
        if (home != m && !captured) b->always[buffer] = true;
    }
}

static void find_always(arn_schedule_context *b) {
    const arenaut_program *p = b->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const bool state = p->tensors[t].cls == ARENAUT_STATE || p->tensors[t].qualified_name;
        const uint32_t buffer = b->lowering->buffer[t];
        if (state && buffer != ARENAUT_NONE) b->always[buffer] = true;
    }
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        if (!b->runs[m]) continue;
        mark_always(b, method, m, method->inputs, method->n_inputs);
        mark_always(b, method, m, method->outputs, method->n_outputs);
        for (uint32_t i = 0; i < method->n_ops; i++) {
            const arenaut_op *op = &p->ops[method->first_op + i];
            mark_always(b, method, m, op->inputs, op->n_inputs);
            mark_always(b, method, m, op->outputs, op->n_outputs);
            mark_always(b, method, m, op->scratch, op->n_scratch);
        }
    }
}

static bool uses_foreign(const arn_schedule_context *b, const arenaut_method *method, uint32_t m,
                         const uint32_t *tensors, uint32_t n) {
    bool any = false;
    for (uint32_t i = 0; i < n && method->entry; i++) {
        const uint32_t t = tensors[i];
        const uint32_t buffer = t == ARENAUT_NONE ? t : b->lowering->buffer[t];
        any = any || (buffer != ARENAUT_NONE && !b->always[buffer] && home_of(b, buffer) != m);
    }
    return any;
}

/* Memory that several methods use must be state, else its lifetime is unknown. */
static arenaut_status check_homes(const arn_schedule_context *b, arenaut_error *err) {
    const arenaut_program *p = b->program;
    for (uint32_t m = 0; m < p->n_methods && b->n_running > 1; m++) {
        const arenaut_method *method = &p->methods[m];
        bool foreign = uses_foreign(b, method, m, method->inputs, method->n_inputs) ||
                       uses_foreign(b, method, m, method->outputs, method->n_outputs);
        for (uint32_t i = 0; i < method->n_ops; i++) {
            const arenaut_op *op = &p->ops[method->first_op + i];
            foreign = foreign || uses_foreign(b, method, m, op->inputs, op->n_inputs) ||
                      uses_foreign(b, method, m, op->outputs, op->n_outputs);
        }
        if (foreign) return refuse(err, "methods share memory that is not state");
    }
    return ARENAUT_OK;
}

/* If one method runs, all buffers are its own and keep their numbers. */
static void list_buffers(arn_schedule_context *b, uint32_t *key) {
    const arenaut_program *p = b->program;
    const uint32_t n = b->lowering->problem->n_buffers;
    uint32_t *begin = b->begin, only = 0;
    while (only < p->n_methods && !b->runs[only]) only++;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t home = home_of(b, i);
        const bool all = b->always[i] || home == ARENAUT_NONE;
        key[i] = b->n_running == 1 ? only : all ? p->n_methods : home;
        begin[key[i] + 2]++;
    }
    for (uint32_t m = 0; m <= p->n_methods; m++) begin[m + 2] += begin[m + 1];
    for (uint32_t i = 0; i < n; i++) b->listed[begin[key[i] + 1]++] = i;
}

/* Whether no two methods share a pool, except for buffers live in all: then the peaks add up. */
static bool are_separate(const arn_schedule_context *b) {
    const arenaut_problem *problem = b->lowering->problem;
    uint32_t owner[ARENAUT_MAX_POOLS];
    for (uint32_t k = 0; k < ARENAUT_MAX_POOLS; k++) owner[k] = ARENAUT_NONE;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        const uint64_t pools = arenaut_problem_pools(problem, i);
        const uint32_t home = home_of(b, i);
        for (uint32_t k = 0; k < problem->n_pools && !b->always[i]; k++) {
            if (!(pools >> k & 1)) continue;
            if (home == ARENAUT_NONE || (owner[k] != ARENAUT_NONE && owner[k] != home))
                return false;
            owner[k] = home;
        }
    }
    return true;
}

/* A planned tensor with several definitions; NONE: none. */
static uint32_t find_rewritten(const arn_schedule_context *b) {
    for (uint32_t t = 0; t < b->program->n_tensors; t++) {
        if (b->dependences.rewritten[t] && b->lowering->buffer[t] != ARENAUT_NONE) return t;
    }
    return ARENAUT_NONE;
}

/* ---- context ---- */

static bool allocate_context(arn_schedule_context *b, uint32_t **n_calls, uint32_t **key) {
    const uint32_t n_buffers = b->lowering->problem->n_buffers;
    const size_t methods = b->program->n_methods;
    arn_region *region = b->region;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(b->runs, methods), ARN_ARRAY(b->size, n_buffers),
                           ARN_ARRAY(b->always, n_buffers), ARN_ARRAY(b->begin, methods + 3),
                           ARN_ARRAY(b->listed, n_buffers), ARN_ARRAY(b->local, n_buffers),
                           ARN_ARRAY(*n_calls, methods), ARN_ARRAY(*key, n_buffers))) {
        return false;
    }
    for (uint32_t i = 0; i < n_buffers; i++) b->local[i] = ARENAUT_NONE;
    return arn_dependences_find(b->program, region, &b->dependences);
}

static bool any_jumps(const arn_schedule_context *b) {
    bool any = false;
    for (uint32_t m = 0; m < b->program->n_methods; m++)
        any = any || (b->runs[m] && b->dependences.flow.jumps[m]);
    return any;
}

/* The live bytes per step, by prefix sums. */
static arenaut_status count_live(arn_schedule_context *b, arenaut_error *err) {
    const arenaut_problem *problem = b->lowering->problem;
    const int64_t n = b->lowering->n_steps;
    uint64_t all = 0;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        if (arn_add(all, b->size[i], &all)) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0, "the buffers are too large to be added");
    }
    if (!ARN_REGION_ARRAYS(b->region, ARN_ARRAY(b->live, (size_t)n + 1))) return arn_no_memory(err);
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(problem, i); k++) {
            const arenaut_interval lifetime = arenaut_problem_lifetimes(problem, i)[k];
            const int64_t first = lifetime.first < 0 ? 0 : lifetime.first;
            const int64_t end = lifetime.end > n ? n : lifetime.end;
            if (first >= end) continue;
            b->live[first] += b->size[i];
            b->live[end] -= b->size[i];
        }
    }
    for (int64_t k = 1; k <= n; k++) b->live[k] += b->live[k - 1];
    return ARENAUT_OK;
}

static arenaut_status check_slices(const arn_schedule_context *b, arenaut_error *err) {
    for (uint32_t i = 0; i < b->lowering->problem->n_buffers; i++) {
        if (arenaut_problem_inside(b->lowering->problem, i) == ARENAUT_NONE) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0, "a tensor has slices that are written in place");
    }
    return ARENAUT_OK;
}

static arenaut_status check_rewritten(const arn_schedule_context *b, arenaut_error *err) {
    char store[24];
    if (b->dependences.cells.too_many) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "too many parts of tensors are written independently");
    }
    const uint32_t rewritten = find_rewritten(b);
    if (rewritten == ARENAUT_NONE) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, 0, "tensor '%.80s' is written more than once",
                    arenaut_program_tensor_name(b->program, rewritten, store));
}

static arenaut_status make_context(arn_schedule_context *b, arenaut_error *err) {
    uint32_t *n_calls, *key;
    arenaut_status st = ARENAUT_OK;
    if (!allocate_context(b, &n_calls, &key)) return arn_no_memory(err);
    find_running(b, n_calls);
    st = check_calls(b, n_calls, err);
    if (st == ARENAUT_OK) st = check_rewritten(b, err);
    if (st != ARENAUT_OK) return st;
    round_sizes(b);
    find_always(b);
    for (uint32_t i = 0; i < b->lowering->problem->n_buffers; i++) {
        if (b->always[i]) b->state += b->size[i];
    }
    list_buffers(b, key);
    b->separate = b->n_running > 1 && are_separate(b);
    if (any_jumps(b)) {
        st = check_slices(b, err);
        if (st == ARENAUT_OK) st = count_live(b, err);
    }
    return st == ARENAUT_OK ? check_homes(b, err) : st;
}

/* ---- blocks ---- */

static bool allocate_blocks(arn_program_order *o) {
    const size_t methods = o->context.program->n_methods, ops = o->context.program->n_ops;
    const size_t blocks = methods + ops / 2;
    if (!ARN_REGION_ARRAYS(&o->region, ARN_ARRAY(o->blocks, blocks), ARN_ARRAY(o->found, blocks),
                           ARN_ARRAY(o->block_at, ops), ARN_ARRAY(o->need, methods))) {
        return false;
    }
    for (size_t i = 0; i < ops; i++) o->block_at[i] = ARENAUT_NONE;
    return true;
}

/* The live bytes before the first op are the same in any schedule. */
static void need_at_least(arn_schedule_need *need, uint64_t bytes) {
    need->given = arn_max_u64(need->given, bytes);
    need->best = arn_max_u64(need->best, bytes);
    need->bound = arn_max_u64(need->bound, bytes);
    for (int i = 0; i < ARENAUT_ORDER_HEURISTIC_COUNT; i++) {
        need->heuristics[i] = arn_max_u64(need->heuristics[i], bytes);
    }
    for (int i = 0; i < ARN_SCHEDULE_CANDIDATES; i++) {
        need->candidate[i] = arn_max_u64(need->candidate[i], bytes);
    }
}

static void keep_block(arn_program_order *o) {
    o->block_at[o->blocks[o->n_blocks].first] = o->n_blocks;
    o->n_blocks++;
}

static arenaut_status make_block(arn_program_order *o, uint32_t m, arenaut_error *err) {
    const arenaut_method *method = &o->context.program->methods[m];
    arn_schedule_block *block = &o->blocks[o->n_blocks];
    *block = (arn_schedule_block){.method = m, .first = method->first_op, .n_ops = method->n_ops};
    const arenaut_status st = arn_schedule_block_make(&o->context, block, err);
    if (st != ARENAUT_OK) return st;
    need_at_least(&o->need[m], block->start);
    if (method->n_ops > 0) keep_block(o);
    return ARENAUT_OK;
}

/* The step at which such a method begins: it runs once. */
static uint32_t first_step(const arn_program_order *o, uint32_t m) {
    const arenaut_lowering *lowering = o->context.lowering;
    uint32_t k = 0;
    while (lowering->steps[k].method != m || lowering->steps[k].op != ARENAUT_NONE) k++;
    return k;
}

/* One block per stretch between pinned ops; ops that cannot be scheduled stay as they are, with the
 * live bytes at their steps. */
static arenaut_status make_blocks_between_jumps(arn_program_order *o, uint32_t m,
                                                arenaut_error *err) {
    const arenaut_method *method = &o->context.program->methods[m];
    const bool *fixed = o->context.dependences.flow.pinned;
    const uint32_t last = method->first_op + method->n_ops, step = first_step(o, m) + 1;
    need_at_least(&o->need[m], o->context.live[step - 1]);
    for (uint32_t i = method->first_op, end; i < last; i = end) {
        const uint32_t at = step + (i - method->first_op);
        for (end = i; end < last && !fixed[end]; end++) {
        }
        arn_schedule_block *block = &o->blocks[o->n_blocks];
        *block = (arn_schedule_block){.method = m, .first = i, .n_ops = end - i, .step = at};
        arenaut_status st = ARENAUT_REFUSED;
        if (end - i > 1) st = arn_schedule_block_make(&o->context, block, err);
        if (st == ARENAUT_OK) keep_block(o);
        else if (st != ARENAUT_REFUSED) return st;
        if (end == i) end++;
        for (uint32_t k = i; k < end && st != ARENAUT_OK; k++) {
            need_at_least(&o->need[m], o->context.live[at + (k - i)]);
        }
    }
    return ARENAUT_OK;
}

static arenaut_status make_blocks(arn_program_order *o, arenaut_error *err) {
    const arenaut_program *p = o->context.program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t k = 0; k < p->n_methods && st == ARENAUT_OK; k++) {
        const uint32_t m = o->context.dependences.calls.callees_first[k];
        if (!o->context.runs[m]) continue;
        st = o->context.dependences.flow.jumps[m] ? make_blocks_between_jumps(o, m, err)
                                                  : make_block(o, m, err);
    }
    return st;
}

/* ---- peaks of callees ---- */

/* The greatest peak of the callees of `op`; `field`: in arn_schedule_need. */
static uint64_t need_of_calls(const arn_program_order *o, uint32_t op, size_t field) {
    const arenaut_op *caller = &o->context.program->ops[op];
    uint64_t most = 0, need;
    for (uint32_t i = 0; i < caller->n_calls; i++) {
        memcpy(&need, (const char *)&o->need[caller->calls[i]] + field, sizeof need);
        most = arn_max_u64(most, need);
    }
    return most;
}

/* With separate pools, callees need no memory of the caller's. */
static arenaut_status put_needs(const arn_program_order *o, const arn_schedule_block *block,
                                size_t field, arenaut_error *err) {
    const uint32_t n = block->problem.n_buffers;
    uint64_t sum = 0;
    for (uint32_t i = block->n_plain; i < n && !o->context.separate; i++) {
        block->size[i] = need_of_calls(o, block->caller[i - block->n_plain], field);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (arn_add(sum, block->size[i], &sum)) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0, "the peaks of methods are too large to be added");
    }
    return ARENAUT_OK;
}

/* The next problem, with the lower bounds of its callees. */
static arenaut_status prepare_next(arn_program_order *o, arenaut_error *err) {
    if (o->n_taken == o->n_blocks) return ARENAUT_OK;
    return put_needs(o, &o->blocks[o->n_taken], offsetof(arn_schedule_need, bound), err);
}

/* The peak of a schedule with its callees; *peak is unchanged if there are none. */
static arenaut_status find_peak(const arn_program_order *o, const arn_schedule_block *block,
                                const uint32_t *ops, size_t field, uint64_t *peak,
                                arenaut_error *err) {
    arn_schedule_cost cost;
    if (block->n_plain == block->problem.n_buffers || o->context.separate) return ARENAUT_OK;
    arenaut_status st = put_needs(o, block, field, err);
    if (st == ARENAUT_OK) {
        st = arn_schedule_measure(&block->problem, ops, &o->allocator, &cost, err);
    }
    if (st == ARENAUT_OK) *peak = cost.peak;
    return st;
}

/* ---- schedules found ---- */

static bool copy_schedules(arn_program_order *o, const arenaut_order *schedule) {
    arn_schedule_found *found = &o->found[o->n_taken];
    const size_t n = schedule->n_ops;
    found->n = 1 + schedule->n_near;
    found->ops = arn_region_allocate(&o->region, found->n * n, sizeof *found->ops);
    if (!found->ops) return false;
    memcpy(found->ops, schedule->ops, n * sizeof *found->ops);
    if (schedule->n_near > 0) {
        memcpy(found->ops + n, schedule->near, schedule->n_near * n * sizeof *found->ops);
    }
    return true;
}

static arenaut_status find_need(const arn_program_order *o, const arenaut_order *schedule,
                                arn_schedule_need *need, arenaut_error *err) {
    const arn_schedule_block *block = &o->blocks[o->n_taken];
    uint32_t *given = arn_allocate(&o->allocator, schedule->n_ops, sizeof *given);
    if (!given) return arn_no_memory(err);
    for (uint32_t i = 0; i < schedule->n_ops; i++) given[i] = i;
    *need = (arn_schedule_need){.given = schedule->heuristics[ARENAUT_ORDER_HEURISTIC_GIVEN],
                                .best = schedule->peak,
                                .bound = schedule->bound};
    memcpy(need->heuristics, schedule->heuristics, sizeof need->heuristics);
    for (uint32_t i = 0; i < ARN_SCHEDULE_CANDIDATES; i++) {
        const bool near = i > 0 && i <= schedule->n_near;
        need->candidate[i] = near ? schedule->near_peak[i - 1] : schedule->peak;
    }
    arenaut_status st =
        find_peak(o, block, schedule->ops, offsetof(arn_schedule_need, best), &need->best, err);
    if (st == ARENAUT_OK) {
        st = find_peak(o, block, given, offsetof(arn_schedule_need, given), &need->given, err);
    }
    arn_release(&o->allocator, given);
    if (st == ARENAUT_OK) st = put_needs(o, block, offsetof(arn_schedule_need, bound), err);
    need->heuristics[ARENAUT_ORDER_HEURISTIC_GIVEN] = need->given;
    return st;
}

/* The peak of a method is the greatest of its blocks. */
static void add_need(arn_schedule_need *sum, const arn_schedule_need *need, uint64_t around) {
    sum->given = arn_max_u64(sum->given, around + need->given);
    sum->best = arn_max_u64(sum->best, around + need->best);
    sum->bound = arn_max_u64(sum->bound, around + need->bound);
    for (int i = 0; i < ARENAUT_ORDER_HEURISTIC_COUNT; i++) {
        sum->heuristics[i] = arn_max_u64(sum->heuristics[i], around + need->heuristics[i]);
    }
    for (int i = 0; i < ARN_SCHEDULE_CANDIDATES; i++) {
        sum->candidate[i] = arn_max_u64(sum->candidate[i], around + need->candidate[i]);
    }
}

arenaut_status arn_program_order_take(arn_program_order *o, const arenaut_order *schedule,
                                      arenaut_error *err) {
    if (o->n_taken == o->n_blocks || schedule->n_ops != o->blocks[o->n_taken].problem.n_ops) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "it is not a schedule of the next problem's ops");
    }
    const arn_schedule_block *block = &o->blocks[o->n_taken];
    arn_schedule_need need;
    const arenaut_status st = find_need(o, schedule, &need, err);
    if (st != ARENAUT_OK) return st;
    if (!copy_schedules(o, schedule)) return arn_no_memory(err);
    add_need(&o->need[block->method], &need, block->around);
    o->n_taken++;
    return prepare_next(o, err);
}

arenaut_status arn_program_order_take_given(arn_program_order *o, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    while (o->n_taken < o->n_blocks && st == ARENAUT_OK) {
        const arenaut_order_problem *problem = &o->blocks[o->n_taken].problem;
        arn_schedule_cost cost;
        arenaut_order given = {.n_ops = problem->n_ops};
        given.ops = arn_allocate(&o->allocator, problem->n_ops, sizeof *given.ops);
        if (!given.ops) return arn_no_memory(err);
        for (uint32_t i = 0; i < problem->n_ops; i++) given.ops[i] = i;
        st = arn_schedule_measure(problem, given.ops, &o->allocator, &cost, err);
        if (st == ARENAUT_OK) {
            given.peak = given.heuristics[ARENAUT_ORDER_HEURISTIC_GIVEN] = cost.peak;
            given.bound = cost.peak; /* what callers of this method have to hold */
            st = arn_program_order_take(o, &given, err);
        }
        arn_release(&o->allocator, given.ops);
    }
    return st;
}

/* ---- peaks of the program ---- */

/* Entries run one after another, so that the greatest peak counts; with separate pools, the sum. */
static uint64_t total(const arn_program_order *o, size_t field) {
    const arenaut_program *p = o->context.program;
    uint64_t sum = o->context.state, most = 0, need;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (!o->context.runs[m]) continue;
        memcpy(&need, (const char *)&o->need[m] + field, sizeof need);
        sum += p->methods[m].entry ? need - o->context.state : need;
        if (p->methods[m].entry) most = arn_max_u64(most, need);
    }
    return o->context.separate ? sum : most;
}

arn_order_peaks arn_program_order_peaks(const arn_program_order *o) {
    arn_order_peaks peaks = {.given = total(o, offsetof(arn_schedule_need, given)),
                             .best = total(o, offsetof(arn_schedule_need, best)),
                             .bound = total(o, offsetof(arn_schedule_need, bound)),
                             .at_ends = o->context.at_ends};
    peaks.between_jumps = o->context.live != NULL;
    for (size_t i = 0; i < ARENAUT_ORDER_HEURISTIC_COUNT; i++) {
        peaks.heuristics[i] =
            total(o, offsetof(arn_schedule_need, heuristics) + i * sizeof *peaks.heuristics);
    }
    return peaks;
}

uint32_t arn_program_order_candidates(const arn_program_order *o) {
    uint32_t most = 1;
    for (uint32_t k = 0; k < o->n_taken; k++) {
        if (o->found[k].n > most) most = o->found[k].n;
    }
    return most;
}

uint64_t arn_program_order_least(const arn_program_order *o, uint32_t candidate) {
    return total(o, offsetof(arn_schedule_need, candidate) + candidate * sizeof(uint64_t));
}

/* ---- making it ---- */

arenaut_status arn_program_order_new(const arenaut_program *program,
                                     const arenaut_lowering *lowering, const arenaut_target *target,
                                     const arenaut_lowering_options *options,
                                     const arenaut_allocator *allocator, arn_program_order **out,
                                     arenaut_error *err) {
    arn_program_order *o = arn_allocate_zeroed(allocator, 1, sizeof *o);
    if (!o) return arn_no_memory(err);
    o->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&o->region, allocator);
    o->context = (arn_schedule_context){.program = program,
                                        .lowering = lowering,
                                        .target = target,
                                        .preserve_inputs = options && options->preserve_inputs,
                                        .overlap = options && options->overlap,
                                        .region = &o->region};
    arenaut_status st = make_context(&o->context, err);
    if (st == ARENAUT_OK && !allocate_blocks(o)) st = arn_no_memory(err);
    if (st == ARENAUT_OK) st = make_blocks(o, err);
    if (st == ARENAUT_OK) st = prepare_next(o, err);
    if (st == ARENAUT_OK) *out = o;
    else arn_program_order_free(o);
    return st;
}

uint32_t arn_program_order_count(const arn_program_order *o) { return o->n_blocks; }

const arenaut_order_problem *arn_program_order_problem(const arn_program_order *o, uint32_t block) {
    return &o->blocks[block].problem;
}

uint32_t arn_program_order_method(const arn_program_order *o, uint32_t block) {
    return o->blocks[block].method;
}

void arn_program_order_free(arn_program_order *o) {
    if (!o) return;
    const arenaut_allocator allocator = o->allocator;
    arn_region_free(&o->region);
    arn_release(&allocator, o);
}
