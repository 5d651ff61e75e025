/* What the order problems of a program's methods are made from: which methods run, which buffers
 * are whose, and what ops wait for. */
#include "rewrite/order/schedule_problem.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "ir/plain_call.h"
#include "rewrite/order/schedule_search.h"

/* ---- what can be reordered ---- */

static arenaut_status refuse(arenaut_error *err, const char *why) {
    return arn_fail(err, ARENAUT_REFUSED, 0, "the program cannot be reordered: %s", why);
}

/* Per method, whether it is an entry or called from one, and how many calls name it. */
static void find_running(arn_order_base *b, uint32_t *n_calls) {
    const arenaut_program *p = b->program;
    const uint32_t *callees_first = b->waits.calls.callees_first;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        b->runs[m] = p->methods[m].entry;
        n_calls[m] = 0;
    }
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

/* What is alive in one run of a method must be alive then alone, and depend on nothing but that. */
static arenaut_status check_calls(const arn_order_base *b, const uint32_t *n_calls,
                                  arenaut_error *err) {
    const arenaut_program *p = b->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (n_calls[m] > 0 && p->methods[m].entry) {
            return refuse(err, "a method is called from outside and by another one");
        }
        if (n_calls[m] > 1 && b->target->merge_calls) {
            return refuse(err, "a method that is called several times keeps its memory in between");
        }
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (!b->runs[p->ops[i].method] || !arn_is_plain_call(&p->ops[i])) continue;
        return refuse(err, "both ways of a branch are the same");
    }
    return ARENAUT_OK;
}

/* ---- buffers ---- */

/* Every offset is a multiple of the least alignment, so that sizes can be rounded up to it; but
 * a pool may end with the last byte of its last buffer. */
static void round_sizes(arn_order_base *b) {
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

static uint32_t home_of(const arn_order_base *b, uint32_t buffer) {
    return b->program->tensors[b->lowering->tensor[buffer]].method;
}

/* State, and what a called method names of no method: it may be carried round a loop. */
static void mark_always(arn_order_base *b, const arenaut_method *method, uint32_t m,
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

static void find_always(arn_order_base *b) {
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

static bool is_foreign(const arn_order_base *b, const arenaut_method *method, uint32_t m,
                       const uint32_t *tensors, uint32_t n) {
    bool any = false;
    for (uint32_t i = 0; i < n && method->entry; i++) {
        const uint32_t t = tensors[i];
        const uint32_t buffer = t == ARENAUT_NONE ? t : b->lowering->buffer[t];
        any = any || (buffer != ARENAUT_NONE && !b->always[buffer] && home_of(b, buffer) != m);
    }
    return any;
}

/* What several methods use is state, or alive for longer than any of them tells. */
static arenaut_status check_homes(const arn_order_base *b, arenaut_error *err) {
    const arenaut_program *p = b->program;
    for (uint32_t m = 0; m < p->n_methods && b->n_running > 1; m++) {
        const arenaut_method *method = &p->methods[m];
        bool foreign = is_foreign(b, method, m, method->inputs, method->n_inputs) ||
                       is_foreign(b, method, m, method->outputs, method->n_outputs);
        for (uint32_t i = 0; i < method->n_ops; i++) {
            const arenaut_op *op = &p->ops[method->first_op + i];
            foreign = foreign || is_foreign(b, method, m, op->inputs, op->n_inputs) ||
                      is_foreign(b, method, m, op->outputs, op->n_outputs);
        }
        if (foreign) return refuse(err, "methods share memory that is no state");
    }
    return ARENAUT_OK;
}

/* Where one method runs, all buffers are its own, and keep their numbers. */
static void list_buffers(arn_order_base *b, uint32_t *key) {
    const arenaut_program *p = b->program;
    const uint32_t n = b->lowering->problem->n_buffers;
    uint32_t *begin = b->begin, only = 0;
    while (only < p->n_methods && !b->runs[only]) only++;
    memset(begin, 0, ((size_t)p->n_methods + 3) * sizeof *begin);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t home = home_of(b, i);
        const bool all = b->always[i] || home == ARENAUT_NONE;
        key[i] = b->n_running == 1 ? only : all ? p->n_methods : home;
        begin[key[i] + 2]++;
    }
    for (uint32_t m = 0; m <= p->n_methods; m++) begin[m + 2] += begin[m + 1];
    for (uint32_t i = 0; i < n; i++) b->listed[begin[key[i] + 1]++] = i;
}

/* Whether no two methods share a pool, but for what is alive in all: then each of them needs what
 * it needs beside the others. */
static bool are_separate(const arn_order_base *b) {
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

/* A tensor whose memory is written anew while it is planned; NONE: there is none. */
static uint32_t find_rewritten(const arn_order_base *b) {
    for (uint32_t t = 0; t < b->program->n_tensors; t++) {
        if (b->waits.anew[t] && b->lowering->buffer[t] != ARENAUT_NONE) return t;
    }
    return ARENAUT_NONE;
}

/* ---- all of it ---- */

static bool allocate_base(arn_order_base *b, uint32_t **n_calls, uint32_t **key) {
    const uint32_t n_buffers = b->lowering->problem->n_buffers;
    const size_t methods = b->program->n_methods;
    arn_region *region = b->region;
    b->runs = arn_region_allocate(region, methods, sizeof *b->runs);
    b->size = arn_region_allocate(region, n_buffers, sizeof *b->size);
    b->always = arn_region_allocate(region, n_buffers, sizeof *b->always);
    b->begin = arn_region_allocate(region, methods + 3, sizeof *b->begin);
    b->listed = arn_region_allocate(region, n_buffers, sizeof *b->listed);
    b->local = arn_region_allocate(region, n_buffers, sizeof *b->local);
    *n_calls = arn_region_allocate(region, methods, sizeof **n_calls);
    *key = arn_region_allocate(region, n_buffers, sizeof **key);
    if (!b->runs || !b->size || !b->always || !b->begin || !b->listed || !b->local || !*n_calls ||
        !*key) {
        return false;
    }
    for (uint32_t i = 0; i < n_buffers; i++) {
        b->local[i] = ARENAUT_NONE;
        b->always[i] = false;
    }
    return arn_order_waits_find(b->program, region, &b->waits);
}

static bool any_flows(const arn_order_base *b) {
    bool any = false;
    for (uint32_t m = 0; m < b->program->n_methods; m++)
        any = any || (b->runs[m] && b->waits.flow.flows[m]);
    return any;
}

/* Bytes that are alive at each step, from where they come and go. */
static arenaut_status count_alive(arn_order_base *b, arenaut_error *err) {
    const arenaut_problem *problem = b->lowering->problem;
    const int64_t n = b->lowering->n_steps;
    uint64_t all = 0;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        if (arn_add(all, b->size[i], &all)) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0, "the buffers are too large to be added");
    }
    b->alive = arn_region_allocate(b->region, (size_t)n + 1, sizeof *b->alive);
    if (!b->alive) return arn_no_memory(err);
    memset(b->alive, 0, ((size_t)n + 1) * sizeof *b->alive);
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(problem, i); k++) {
            const arenaut_interval life = arenaut_problem_lifetimes(problem, i)[k];
            const int64_t first = life.first < 0 ? 0 : life.first;
            const int64_t end = life.end > n ? n : life.end;
            if (first >= end) continue;
            b->alive[first] += b->size[i];
            b->alive[end] -= b->size[i];
        }
    }
    for (int64_t k = 1; k <= n; k++) b->alive[k] += b->alive[k - 1];
    return ARENAUT_OK;
}

static arenaut_status check_slices(const arn_order_base *b, arenaut_error *err) {
    for (uint32_t i = 0; i < b->lowering->problem->n_buffers; i++) {
        if (arenaut_problem_inside(b->lowering->problem, i) == ARENAUT_NONE) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0, "slices of a tensor lie in it from the start");
    }
    return ARENAUT_OK;
}

static arenaut_status check_rewritten(const arn_order_base *b, arenaut_error *err) {
    char store[24];
    if (b->waits.cells.too_many) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "too many parts of tensors are written apart");
    }
    const uint32_t rewritten = find_rewritten(b);
    if (rewritten == ARENAUT_NONE) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, 0, "tensor '%.80s' is written more than once",
                    arenaut_program_tensor_name(b->program, rewritten, store));
}

arenaut_status arn_order_base_make(arn_order_base *b, arenaut_error *err) {
    uint32_t *n_calls, *key;
    arenaut_status st = ARENAUT_OK;
    if (!allocate_base(b, &n_calls, &key)) return arn_no_memory(err);
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
    if (any_flows(b)) {
        st = check_slices(b, err);
        if (st == ARENAUT_OK) st = count_alive(b, err);
    }
    return st == ARENAUT_OK ? check_homes(b, err) : st;
}

/* ======== */
/* The order problems of a lowered program, one for each method that runs, callees before callers.
 * What is alive around a call stays as it is while the method runs: so the least that it can need
 * is the same wherever it is called, and what an op needs that calls it grows with nothing else. */

static bool allocate_parts(arenaut_program_order *o) {
    const size_t methods = o->base.program->n_methods, ops = o->base.program->n_ops;
    const size_t parts = methods + ops / 2;
    o->parts = arn_region_allocate(&o->region, parts, sizeof *o->parts);
    o->found = arn_region_allocate(&o->region, parts, sizeof *o->found);
    o->part_at = arn_region_allocate(&o->region, ops, sizeof *o->part_at);
    o->need = arn_region_allocate(&o->region, methods, sizeof *o->need);
    if (!o->parts || !o->found || !o->need || !o->part_at) return false;
    memset(o->need, 0, methods * sizeof *o->need);
    memset(o->found, 0, parts * sizeof *o->found);
    for (size_t i = 0; i < ops; i++) o->part_at[i] = ARENAUT_NONE;
    return true;
}

/* Before its first op a method needs as much in any order. */
static void need_at_least(arn_order_need *need, uint64_t bytes) {
    need->given = arn_max_u64(need->given, bytes);
    need->best = arn_max_u64(need->best, bytes);
    need->bound = arn_max_u64(need->bound, bytes);
    for (int i = 0; i < ARENAUT_ORDER_WAY_COUNT; i++) {
        need->ways[i] = arn_max_u64(need->ways[i], bytes);
    }
    for (int i = 0; i < ARN_ORDER_CANDIDATES; i++) {
        need->candidate[i] = arn_max_u64(need->candidate[i], bytes);
    }
}

static void keep_part(arenaut_program_order *o) {
    o->part_at[o->parts[o->n_parts].first] = o->n_parts;
    o->n_parts++;
}

static arenaut_status make_part(arenaut_program_order *o, uint32_t m, arenaut_error *err) {
    const arenaut_method *method = &o->base.program->methods[m];
    arn_order_part *part = &o->parts[o->n_parts];
    *part = (arn_order_part){.method = m, .first = method->first_op, .n_ops = method->n_ops};
    const arenaut_status st = arn_order_part_make(&o->base, part, err);
    if (st != ARENAUT_OK) return st;
    need_at_least(&o->need[m], part->start);
    if (method->n_ops > 0) keep_part(o);
    return ARENAUT_OK;
}

/* The step in which such a method begins: it runs once. */
static uint32_t first_step(const arenaut_program_order *o, uint32_t m) {
    const arenaut_lowering *lowering = o->base.lowering;
    uint32_t k = 0;
    while (lowering->steps[k].method != m || lowering->steps[k].op != ARENAUT_NONE) k++;
    return k;
}

/* Between the ops that stay where they are; those that cannot be ordered between two of them stay,
 * too. What is alive at these is what it is. */
static arenaut_status make_parts_between_jumps(arenaut_program_order *o, uint32_t m,
                                               arenaut_error *err) {
    const arenaut_method *method = &o->base.program->methods[m];
    const bool *fixed = o->base.waits.flow.fixed;
    const uint32_t last = method->first_op + method->n_ops, step = first_step(o, m) + 1;
    need_at_least(&o->need[m], o->base.alive[step - 1]);
    for (uint32_t i = method->first_op, end; i < last; i = end) {
        const uint32_t at = step + (i - method->first_op);
        for (end = i; end < last && !fixed[end]; end++) {
        }
        arn_order_part *part = &o->parts[o->n_parts];
        *part = (arn_order_part){.method = m, .first = i, .n_ops = end - i, .step = at};
        arenaut_status st = ARENAUT_REFUSED;
        if (end - i > 1) st = arn_order_part_make(&o->base, part, err);
        if (st == ARENAUT_OK) keep_part(o);
        else if (st != ARENAUT_REFUSED) return st;
        if (end == i) end++;
        for (uint32_t k = i; k < end && st != ARENAUT_OK; k++) {
            need_at_least(&o->need[m], o->base.alive[at + (k - i)]);
        }
    }
    return ARENAUT_OK;
}

static arenaut_status make_parts(arenaut_program_order *o, arenaut_error *err) {
    const arenaut_program *p = o->base.program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t k = 0; k < p->n_methods && st == ARENAUT_OK; k++) {
        const uint32_t m = o->base.waits.calls.callees_first[k];
        if (!o->base.runs[m]) continue;
        st = o->base.waits.flow.flows[m] ? make_parts_between_jumps(o, m, err)
                                         : make_part(o, m, err);
    }
    return st;
}

/* ---- what calls need ---- */

/* What is called when `op` runs needs most of this; `field`: in arn_order_need. */
static uint64_t need_of_calls(const arenaut_program_order *o, uint32_t op, size_t field) {
    const arenaut_op *caller = &o->base.program->ops[op];
    uint64_t most = 0, need;
    for (uint32_t i = 0; i < caller->n_calls; i++) {
        memcpy(&need, (const char *)&o->need[caller->calls[i]] + field, sizeof need);
        most = arn_max_u64(most, need);
    }
    return most;
}

/* Where methods are separate, what they call needs nothing of theirs. */
static arenaut_status put_needs(const arenaut_program_order *o, const arn_order_part *part,
                                size_t field, arenaut_error *err) {
    const uint32_t n = part->problem.n_buffers;
    uint64_t sum = 0;
    for (uint32_t i = part->n_plain; i < n && !o->base.separate; i++) {
        part->size[i] = need_of_calls(o, part->caller[i - part->n_plain], field);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (arn_add(sum, part->size[i], &sum)) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0, "what methods need is too large to be added");
    }
    return ARENAUT_OK;
}

/* The problem that comes next, with what its calls need at least. */
static arenaut_status prepare_next(arenaut_program_order *o, arenaut_error *err) {
    if (o->n_taken == o->n_parts) return ARENAUT_OK;
    return put_needs(o, &o->parts[o->n_taken], offsetof(arn_order_need, bound), err);
}

/* The peak of an order, with what calls need there; *peak stays as it is where nothing is called.
 */
static arenaut_status find_peak(const arenaut_program_order *o, const arn_order_part *part,
                                const uint32_t *ops, size_t field, uint64_t *peak,
                                arenaut_error *err) {
    arn_order_height height;
    if (part->n_plain == part->problem.n_buffers || o->base.separate) return ARENAUT_OK;
    arenaut_status st = put_needs(o, part, field, err);
    if (st == ARENAUT_OK) {
        st = arn_order_measure(&part->problem, ops, &o->allocator, &height, err);
    }
    if (st == ARENAUT_OK) *peak = height.peak;
    return st;
}

/* ---- taking orders ---- */

static bool copy_orders(arenaut_program_order *o, const arenaut_order *order) {
    arn_order_found *found = &o->found[o->n_taken];
    const size_t n = order->n_ops;
    found->n = 1 + order->n_near;
    found->ops = arn_region_allocate(&o->region, found->n * n, sizeof *found->ops);
    if (!found->ops) return false;
    memcpy(found->ops, order->ops, n * sizeof *found->ops);
    if (order->n_near > 0) {
        memcpy(found->ops + n, order->near, order->n_near * n * sizeof *found->ops);
    }
    return true;
}

static arenaut_status find_need(const arenaut_program_order *o, const arenaut_order *order,
                                arn_order_need *need, arenaut_error *err) {
    const arn_order_part *part = &o->parts[o->n_taken];
    uint32_t *given = arn_allocate(&o->allocator, order->n_ops, sizeof *given);
    if (!given) return arn_no_memory(err);
    for (uint32_t i = 0; i < order->n_ops; i++) given[i] = i;
    *need = (arn_order_need){
        .given = order->ways[ARENAUT_ORDER_WAY_GIVEN], .best = order->peak, .bound = order->bound};
    memcpy(need->ways, order->ways, sizeof need->ways);
    for (uint32_t i = 0; i < ARN_ORDER_CANDIDATES; i++) {
        const bool near = i > 0 && i <= order->n_near;
        need->candidate[i] = near ? order->near_peak[i - 1] : order->peak;
    }
    arenaut_status st =
        find_peak(o, part, order->ops, offsetof(arn_order_need, best), &need->best, err);
    if (st == ARENAUT_OK) {
        st = find_peak(o, part, given, offsetof(arn_order_need, given), &need->given, err);
    }
    arn_release(&o->allocator, given);
    if (st == ARENAUT_OK) st = put_needs(o, part, offsetof(arn_order_need, bound), err);
    need->ways[ARENAUT_ORDER_WAY_GIVEN] = need->given;
    return st;
}

/* Of what the ops of a method need, the most counts. */
static void add_need(arn_order_need *sum, const arn_order_need *need, uint64_t around) {
    sum->given = arn_max_u64(sum->given, around + need->given);
    sum->best = arn_max_u64(sum->best, around + need->best);
    sum->bound = arn_max_u64(sum->bound, around + need->bound);
    for (int i = 0; i < ARENAUT_ORDER_WAY_COUNT; i++) {
        sum->ways[i] = arn_max_u64(sum->ways[i], around + need->ways[i]);
    }
    for (int i = 0; i < ARN_ORDER_CANDIDATES; i++) {
        sum->candidate[i] = arn_max_u64(sum->candidate[i], around + need->candidate[i]);
    }
}

arenaut_status arenaut_program_order_take(arenaut_program_order *o, const arenaut_order *order,
                                          arenaut_error *err) {
    if (o->n_taken == o->n_parts || order->n_ops != o->parts[o->n_taken].problem.n_ops) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "it is no order of the next method's ops");
    }
    const arn_order_part *part = &o->parts[o->n_taken];
    arn_order_need need;
    const arenaut_status st = find_need(o, order, &need, err);
    if (st != ARENAUT_OK) return st;
    if (!copy_orders(o, order)) return arn_no_memory(err);
    add_need(&o->need[part->method], &need, part->around);
    o->n_taken++;
    return prepare_next(o, err);
}

/* ---- what is known of all ---- */

/* Entries run one after another, so that the largest counts; where methods are separate, all do. */
static uint64_t total(const arenaut_program_order *o, size_t field) {
    const arenaut_program *p = o->base.program;
    uint64_t sum = o->base.state, most = 0, need;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (!o->base.runs[m]) continue;
        memcpy(&need, (const char *)&o->need[m] + field, sizeof need);
        sum += p->methods[m].entry ? need - o->base.state : need;
        if (p->methods[m].entry) most = arn_max_u64(most, need);
    }
    return o->base.separate ? sum : most;
}

arenaut_order_peaks arenaut_program_order_peaks(const arenaut_program_order *o) {
    arenaut_order_peaks peaks = {.given = total(o, offsetof(arn_order_need, given)),
                                 .best = total(o, offsetof(arn_order_need, best)),
                                 .bound = total(o, offsetof(arn_order_need, bound)),
                                 .at_ends = o->base.at_ends};
    peaks.between_jumps = o->base.alive != NULL;
    for (size_t i = 0; i < ARENAUT_ORDER_WAY_COUNT; i++) {
        peaks.ways[i] = total(o, offsetof(arn_order_need, ways) + i * sizeof *peaks.ways);
    }
    return peaks;
}

uint32_t arenaut_program_order_candidates(const arenaut_program_order *o) {
    uint32_t most = 1;
    for (uint32_t k = 0; k < o->n_taken; k++) {
        if (o->found[k].n > most) most = o->found[k].n;
    }
    return most;
}

uint64_t arenaut_program_order_least(const arenaut_program_order *o, uint32_t candidate) {
    return total(o, offsetof(arn_order_need, candidate) + candidate * sizeof(uint64_t));
}

/* ---- all of it ---- */

arenaut_status arenaut_program_order_new(const arenaut_program *program,
                                         const arenaut_lowering *lowering,
                                         const arenaut_target *target,
                                         const arenaut_lowering_options *options,
                                         const arenaut_allocator *allocator,
                                         arenaut_program_order **out, arenaut_error *err) {
    arenaut_program_order *o = arn_allocate_zeroed(allocator, 1, sizeof *o);
    if (!o) return arn_no_memory(err);
    o->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&o->region, allocator);
    o->base = (arn_order_base){.program = program,
                               .lowering = lowering,
                               .target = target,
                               .preserve_inputs = options && options->preserve_inputs,
                               .overlap = options && options->overlap,
                               .region = &o->region};
    arenaut_status st = arn_order_base_make(&o->base, err);
    if (st == ARENAUT_OK && !allocate_parts(o)) st = arn_no_memory(err);
    if (st == ARENAUT_OK) st = make_parts(o, err);
    if (st == ARENAUT_OK) st = prepare_next(o, err);
    if (st == ARENAUT_OK) *out = o;
    else arenaut_program_order_free(o);
    return st;
}

uint32_t arenaut_program_order_count(const arenaut_program_order *o) { return o->n_parts; }

const arenaut_order_problem *arenaut_program_order_problem(const arenaut_program_order *o,
                                                           uint32_t part) {
    return &o->parts[part].problem;
}

uint32_t arenaut_program_order_method(const arenaut_program_order *o, uint32_t part) {
    return o->parts[part].method;
}

void arenaut_program_order_free(arenaut_program_order *o) {
    if (!o) return;
    const arenaut_allocator allocator = o->allocator;
    arn_region_free(&o->region);
    arn_release(&allocator, o);
}
