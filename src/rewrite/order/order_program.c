/* The order problems of a lowered program, one for each method that runs, callees before callers.
 * What is alive around a call stays as it is while the method runs: so the least that it can need
 * is the same wherever it is called, and what an op needs that calls it grows with nothing else. */
#include "rewrite/order/order_program.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "rewrite/order/order_ways.h"

static bool allocate(arenaut_program_order *o) {
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
    if (st == ARENAUT_OK && !allocate(o)) st = arn_no_memory(err);
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
