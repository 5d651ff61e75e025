/* Reader of XLA's dumps of a module: its buffer assignment becomes a problem, and the places in it
 * the plan of that. Each part of the file is walked once for each list that is made of it, so the
 * whole is O(n log n) in its bytes. */
#include <stdio.h>

#include "core/checked.h"
#include "core/sort.h"
#include "formats/xla/xla_reader.h"

/* Problem from values and allocations, and XLA's place of each buffer.
 *
 * A traced allocation is a pool. Values that share a place are one buffer, alive whenever one of
 * them is; smaller ones among them lie inside it, so that the bytes above them are free while only
 * they are alive. Untraced values are blocks that are alive all the time: XLA lays such as tuples
 * behind the rest.
 *
 * Every other allocation is memory that XLA asks for in one piece and shares by its own rules
 * (parameters, results, constants): one buffer that is alive all the time, in a pool of its kind.
 * O(n log n). */

/* ---- pools ---- */

static arenaut_status add_pool(arn_xla *r, const char *name, uint32_t *pool) {
    if (r->problem->n_pools == ARENAUT_MAX_POOLS) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                        "more than %u pools: each allocation that a trace is of is one",
                        ARENAUT_MAX_POOLS);
    }
    return arenaut_problem_add_pool(r->problem, &(arenaut_pool){.name = name}, pool, r->err);
}

/* One is simply "temp", as XLA calls it; more have their allocations' numbers. */
static arenaut_status add_traced_pools(arn_xla *r) {
    arenaut_status st = ARENAUT_OK;
    uint32_t n = 0;
    for (uint32_t a = 0; a < r->n_allocations; a++) n += r->allocations[a].traced;
    for (uint32_t a = 0; a < r->n_allocations && st == ARENAUT_OK; a++) {
        arn_xla_allocation *whole = &r->allocations[a];
        char name[32] = "temp";
        if (!whole->traced) continue;
        if (n > 1) snprintf(name, sizeof name, "temp.%llu", (unsigned long long)whole->index);
        st = add_pool(r, name, &whole->pool);
    }
    return st;
}

/* The file does not state XLA's alignment. All its offsets are multiples of that, so their greatest
 * common power of two is taken for it, up to that of its GPU back ends, the largest. */
static uint64_t alignment(const arn_xla_allocation *whole) {
    enum { MOST = 256 };
    uint64_t align = 1;
    while (align < MOST && !(whole->offsets & align)) align *= 2;
    return align;
}

/* ---- buffers ---- */

static arenaut_status add_buffer(arn_xla *r, const arn_xla_value *label, arenaut_buffer *buffer,
                                 uint64_t offset, uint32_t *id) {
    uint32_t n = r->problem->n_buffers;
    if (label) {
        const arenaut_status st = arn_xla_label(r, label);
        if (st != ARENAUT_OK) return st;
        buffer->name = *r->name ? r->name : NULL;
        buffer->op = *r->op ? r->op : NULL;
        buffer->source = *r->source ? r->source : NULL;
    }
    const arenaut_status st =
        arn_xla_append(r, (void **)&r->offsets, &r->offset_capacity, &n, &offset, sizeof offset);
    return st == ARENAUT_OK ? arenaut_problem_add_buffer(r->problem, buffer, id, r->err) : st;
}

static arenaut_interval whole_time(const arn_xla *r) {
    return (arenaut_interval){0, r->n_events > 0 ? r->n_events : 1};
}

/* ---- values of traces ---- */

/* Values that share a place together, the largest first, then as they come alive. */
static bool traced_before(const void *context, uint32_t a, uint32_t b) {
    const arn_xla_value *va = (const arn_xla_value *)context + a,
                        *vb = (const arn_xla_value *)context + b;
    if (va->root != vb->root) return va->root < vb->root;
    if (va->size != vb->size) return va->size > vb->size;
    return va->first < vb->first;
}

/* Makes a buffer of values[0 .. n), which are of one size and one place. `host`: the one before
 * of that place, which is larger; ARENAUT_NONE: there is none. */
static arenaut_status add_shared(arn_xla *r, const uint32_t *values, uint32_t n, uint32_t *host) {
    const arn_xla_value *one = &r->values[values[0]];
    const arn_xla_allocation *whole = &r->allocations[one->allocation];
    uint32_t n_lives = 0;
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_interval life = {r->values[values[i]].first, r->values[values[i]].end};
        const arenaut_status st =
            arn_xla_append(r, (void **)&r->lives, &r->life_capacity, &n_lives, &life, sizeof life);
        if (st != ARENAUT_OK) return st;
    }
    arenaut_buffer buffer = {.size = one->size,
                             .align = alignment(whole),
                             .lifetimes = r->lives,
                             .n_lifetimes = n_lives,
                             .inside = arenaut_id(*host),
                             .pools = UINT64_C(1) << whole->pool};
    return add_buffer(r, one, &buffer, one->offset, host);
}

static arenaut_status add_traced(arn_xla *r, const uint32_t *values, uint32_t n) {
    arenaut_status st = ARENAUT_OK;
    uint32_t host = ARENAUT_NONE;
    for (uint32_t i = 0, run; i < n && st == ARENAUT_OK; i += run) {
        const arn_xla_value *one = &r->values[values[i]];
        if (i > 0 && one->root != r->values[values[i - 1]].root) host = ARENAUT_NONE;
        for (run = 1; i + run < n; run++) {
            const arn_xla_value *next = &r->values[values[i + run]];
            if (next->root != one->root || next->size != one->size) break;
        }
        st = add_shared(r, values + i, run, &host);
    }
    return st;
}

/* ---- untraced values ---- */

static bool lies_before(const void *context, uint32_t a, uint32_t b) {
    const arn_xla_value *va = (const arn_xla_value *)context + a,
                        *vb = (const arn_xla_value *)context + b;
    if (va->allocation != vb->allocation) return va->allocation < vb->allocation;
    if (va->offset != vb->offset) return va->offset < vb->offset;
    return va->size > vb->size;
}

static arenaut_status add_block(arn_xla *r, const arn_xla_value *one, uint64_t end) {
    const arn_xla_allocation *whole = &r->allocations[one->allocation];
    const arenaut_interval life = whole_time(r);
    arenaut_buffer buffer = {.size = end - one->offset,
                             .align = alignment(whole),
                             .lifetimes = &life,
                             .n_lifetimes = 1,
                             .pools = UINT64_C(1) << whole->pool};
    return add_buffer(r, one, &buffer, one->offset, NULL);
}

/* Values that have bytes in common are one block. */
static arenaut_status add_untraced(arn_xla *r, const uint32_t *values, uint32_t n) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0, run; i < n && st == ARENAUT_OK; i += run) {
        const arn_xla_value *one = &r->values[values[i]];
        uint64_t end = one->offset + one->size;
        for (run = 1; i + run < n; run++) {
            const arn_xla_value *next = &r->values[values[i + run]];
            if (next->allocation != one->allocation || next->offset >= end) break;
            end = arn_max_u64(end, next->offset + next->size);
        }
        st = add_block(r, one, end);
    }
    return st;
}

/* Lists the values of pools, traced or not, and makes buffers of them. */
static arenaut_status add_values(arn_xla *r, bool traced) {
    uint32_t *list = arn_allocate(r->allocator, r->n_values, sizeof *list), n = 0;
    uint32_t *scratch = arn_allocate(r->allocator, r->n_values, sizeof *scratch);
    arenaut_status st = list && scratch ? ARENAUT_OK : arn_no_memory(r->err);
    for (uint32_t v = 0; v < r->n_values && st == ARENAUT_OK; v++) {
        const arn_xla_value *value = &r->values[v];
        if (value->allocation == ARENAUT_NONE || !r->allocations[value->allocation].traced)
            continue;
        if ((value->first != ARN_XLA_UNTRACED) == traced) list[n++] = v;
    }
    if (st == ARENAUT_OK) {
        arn_sort_ids(list, n, traced ? traced_before : lies_before, r->values, scratch);
        st = traced ? add_traced(r, list, n) : add_untraced(r, list, n);
    }
    ARN_RELEASE(r->allocator, list, scratch);
    return st;
}

/* ---- the other allocations ---- */

static arenaut_status add_whole(arn_xla *r, const arn_xla_allocation *whole, uint32_t pool,
                                uint64_t offset) {
    const arenaut_interval life = whole_time(r);
    const bool parameter = whole->kind == ARN_XLA_PARAMETERS || whole->kind == ARN_XLA_CONSTANTS;
    arenaut_buffer buffer = {.size = whole->size,
                             .lifetimes = &life,
                             .n_lifetimes = 1,
                             .cls = parameter                        ? ARENAUT_INPUT
                                    : whole->kind == ARN_XLA_OUTPUTS ? ARENAUT_OUTPUT
                                                                     : ARENAUT_INTERMEDIATE,
                             .pools = UINT64_C(1) << pool};
    const arn_xla_value *label = whole->largest == ARENAUT_NONE ? NULL : &r->values[whole->largest];
    return add_buffer(r, label, &buffer, offset, NULL);
}

static arenaut_status add_kind(arn_xla *r, arn_xla_kind kind) {
    static const char *const names[ARN_XLA_KINDS] = {[ARN_XLA_PARAMETERS] = "parameters",
                                                     [ARN_XLA_OUTPUTS] = "outputs",
                                                     [ARN_XLA_CONSTANTS] = "constants",
                                                     [ARN_XLA_OTHERS] = "others"};
    arenaut_status st = ARENAUT_OK;
    uint32_t pool = ARENAUT_NONE;
    uint64_t end = 0;
    for (uint32_t a = 0; a < r->n_allocations && st == ARENAUT_OK; a++) {
        const arn_xla_allocation *whole = &r->allocations[a];
        const uint64_t offset = end;
        if (whole->traced || whole->kind != kind) continue;
        if (pool == ARENAUT_NONE) st = add_pool(r, names[kind], &pool);
        if (st == ARENAUT_OK && !arn_add(end, whole->size, &end)) {
            st = arn_fail(r->err, ARENAUT_TOO_LARGE, 0,
                          "the allocations add up to more than 2^63 - 1 bytes");
        }
        if (st == ARENAUT_OK) st = add_whole(r, whole, pool, offset);
    }
    return st;
}

/* Makes r->problem, with its offsets. */
static arenaut_status xla_make_problem(arn_xla *r) {
    arenaut_status st = arenaut_problem_new(r->allocator, &r->problem, r->err);
    if (st == ARENAUT_OK) st = add_traced_pools(r);
    if (st == ARENAUT_OK) st = add_values(r, true);
    if (st == ARENAUT_OK) st = add_values(r, false);
    for (uint32_t kind = ARN_XLA_PARAMETERS; kind < ARN_XLA_KINDS && st == ARENAUT_OK; kind++) {
        st = add_kind(r, (arn_xla_kind)kind);
    }
    return st == ARENAUT_OK ? arenaut_problem_finish(r->problem, r->err) : st;
}

/* ---- the walk ---- */

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
    plan->stopped_by = ARENAUT_STOP_END;
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
    if (st == ARENAUT_OK) st = xla_make_problem(r);
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
