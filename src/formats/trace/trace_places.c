/* Measures of a trace, and the recorded places of its blocks as a plan. */
#include <inttypes.h>

#include "core/checked.h"
#include "core/sort.h"
#include "formats/trace/trace.h"

/* Measures of a trace: the bytes requested at once, and the bytes that the allocator had taken from
 * the system meanwhile. */

void arn_trace_free(arenaut_trace *trace) {
    if (!trace) return;
    const arenaut_allocator allocator = trace->allocator;
    ARN_RELEASE(&allocator, trace->asked, trace->reserved, trace);
}

static void raise(arenaut_trace_peak *peak, uint64_t bytes, int64_t step) {
    if (bytes <= peak->bytes) return;
    peak->bytes = bytes;
    peak->step = step;
}

/* A block that ends at a step is no longer out in it: asked[step] is first the decrease, and then
 * the sum. */
static arenaut_status sum_asked(const arn_trace_events *events, const arn_trace_block *blocks,
                                arenaut_trace *trace) {
    uint64_t out = 0;
    for (uint32_t b = 0; b < trace->n_requests; b++) {
        const uint64_t size = events->event[blocks[b].event].size;
        trace->n_held += blocks[b].held;
        if (blocks[b].end < (int64_t)trace->n_requests) {
            uint64_t *gone = &trace->asked[blocks[b].end];
            if (!arn_add(*gone, size, gone)) return ARENAUT_TOO_LARGE;
        }
    }
    for (uint32_t b = 0; b < trace->n_requests; b++) {
        out -= trace->asked[b];
        if (!arn_add(out, events->event[blocks[b].event].size, &out)) return ARENAUT_TOO_LARGE;
        trace->asked[b] = out;
        raise(&trace->most_asked, out, b);
    }
    return ARENAUT_OK;
}

static arenaut_status take_reserve(const arn_trace_events *events, const arn_trace_event *event,
                                   uint64_t *reserved) {
    if (event->kind == ARN_TRACE_RESERVE) {
        return arn_add(*reserved, event->size, reserved) ? ARENAUT_OK : ARENAUT_TOO_LARGE;
    }
    if (event->size > *reserved) {
        return arn_trace_fail(events, event,
                              "'release' of %" PRIu64 " bytes; %" PRIu64 " are reserved",
                              event->size, *reserved);
    }
    *reserved -= event->size;
    return ARENAUT_OK;
}

static arenaut_status sum_reserved(const arn_trace_events *events, arenaut_trace *trace) {
    uint64_t reserved = 0;
    uint32_t n = 0;
    for (uint32_t e = 0; e < events->n; e++) {
        const arn_trace_event *event = &events->event[e];
        if (event->kind == ARN_TRACE_FREE) continue;
        if (event->kind == ARN_TRACE_ALLOC) {
            trace->reserved[n++] = reserved;
            continue;
        }
        const arenaut_status st = take_reserve(events, event, &reserved);
        if (st != ARENAUT_OK) return st;
        if (n > 0) trace->reserved[n - 1] = arn_max_u64(trace->reserved[n - 1], reserved);
        raise(&trace->most_reserved, reserved, n > 0 ? n - 1 : 0);
    }
    return ARENAUT_OK;
}

static bool says_what_is_reserved(const arn_trace_events *events) {
    for (uint32_t e = 0; e < events->n; e++) {
        if (events->event[e].kind == ARN_TRACE_RESERVE) return true;
        if (events->event[e].kind == ARN_TRACE_RELEASE) return true;
    }
    return false;
}

static bool all_have_addresses(const arn_trace_events *events) {
    for (uint32_t e = 0; e < events->n; e++) {
        const arn_trace_event *event = &events->event[e];
        if (event->kind == ARN_TRACE_ALLOC && event->address == ARENAUT_UNPLACED) return false;
    }
    return true;
}

arenaut_status arn_trace_measure(const arn_trace_events *events, const arn_trace_block *blocks,
                                 uint32_t n_blocks, arenaut_trace **out) {
    const bool reserves = says_what_is_reserved(events);
    arenaut_trace *trace = arn_allocate_zeroed(events->allocator, 1, sizeof *trace);
    if (!trace) return arn_no_memory(events->err);
    trace->allocator = arn_allocator_or_default(events->allocator);
    trace->n_events = events->n;
    trace->n_requests = n_blocks;
    trace->has_addresses = all_have_addresses(events);
    trace->asked = arn_allocate_zeroed(events->allocator, n_blocks, sizeof *trace->asked);
    if (reserves) {
        trace->reserved = arn_allocate_zeroed(events->allocator, n_blocks, sizeof *trace->reserved);
    }
    arenaut_status st = ARENAUT_OK;
    if (!trace->asked || (reserves && !trace->reserved)) st = arn_no_memory(events->err);
    if (st == ARENAUT_OK) st = sum_asked(events, blocks, trace);
    if (st == ARENAUT_OK && reserves) st = sum_reserved(events, trace);
    if (st == ARENAUT_TOO_LARGE) {
        st = arn_fail(events->err, st, 0, "the blocks of this trace add up to more than 2^63 - 1");
    }
    if (st == ARENAUT_OK) *out = trace;
    else arn_trace_free(trace);
    return st;
}

/* The recorded places of a trace's blocks, as a plan. Addresses of a process are far apart; only
 * the stretches that a stream ever used or reserved count. They keep their order and lie one behind
 * the other, each at an address that is as aligned as it was. */

typedef struct stretch {
    uint64_t first, end; /* addresses */
    uint64_t offset;
} stretch;

typedef struct placing {
    const arn_trace_events *events;
    uint32_t *order; /* events with an address, by lane and address */
    uint32_t n;
    stretch *stretches;
    uint32_t first[ARENAUT_MAX_POOLS + 1]; /* of each lane; behind them, how many there are */
} placing;

static bool lies_before(const void *context, uint32_t a, uint32_t b) {
    const arn_trace_event *event = ((const arn_trace_events *)context)->event;
    if (event[a].lane != event[b].lane) return event[a].lane < event[b].lane;
    return event[a].address < event[b].address;
}

static bool covers(const arn_trace_event *event) {
    return (event->kind == ARN_TRACE_ALLOC || event->kind == ARN_TRACE_RESERVE) &&
           event->address != ARENAUT_UNPLACED && event->size > 0;
}

static void list_order(placing *p) {
    for (uint32_t e = 0; e < p->events->n; e++) {
        if (covers(&p->events->event[e])) p->order[p->n++] = e;
    }
    arn_sort_ids(p->order, p->n, lies_before, p->events, p->order + p->n);
}

static void join_stretches(placing *p) {
    uint32_t made = 0, at = 0;
    for (uint32_t lane = 0; lane < p->events->n_lanes; lane++) {
        const uint32_t first = p->first[lane] = made;
        for (; at < p->n && p->events->event[p->order[at]].lane == lane; at++) {
            const arn_trace_event *event = &p->events->event[p->order[at]];
            const uint64_t end = event->address + event->size;
            if (made == first || event->address > p->stretches[made - 1].end) {
                const stretch added = {event->address, end, 0};
                p->stretches[made++] = added;
            } else {
                uint64_t *last = &p->stretches[made - 1].end;
                *last = arn_max_u64(*last, end);
            }
        }
    }
    p->first[p->events->n_lanes] = made;
}

/* `align`: the largest of the blocks of the lane. False past all sizes. */
static bool lay(placing *p, uint32_t lane, uint64_t align) {
    uint64_t end = 0;
    for (uint32_t k = p->first[lane]; k < p->first[lane + 1]; k++) {
        stretch *s = &p->stretches[k];
        if (!arn_align_up(end, align, &s->offset) ||
            !arn_add(s->offset, s->first & (align - 1), &s->offset) ||
            !arn_add(s->offset, s->end - s->first, &end)) {
            return false;
        }
    }
    return true;
}

static bool lay_all(placing *p, const arenaut_problem *problem, const arn_trace_block *blocks) {
    uint64_t align[ARENAUT_MAX_POOLS];
    for (uint32_t k = 0; k < p->events->n_lanes; k++) align[k] = 1;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        uint64_t *most = &align[p->events->event[blocks[b].event].lane];
        *most = arn_max_u64(*most, arenaut_problem_align(problem, b));
    }
    for (uint32_t k = 0; k < p->events->n_lanes; k++) {
        if (!lay(p, k, align[k])) return false;
    }
    return true;
}

/* The last stretch of the lane that begins at the address or below it. */
static uint64_t offset_of(const placing *p, const arn_trace_event *event) {
    uint32_t low = p->first[event->lane], high = p->first[event->lane + 1];
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->stretches[middle].first <= event->address) low = middle;
        else high = middle;
    }
    return p->stretches[low].offset + (event->address - p->stretches[low].first);
}

static arenaut_status make_plan(const placing *p, const arn_trace_block *blocks,
                                const uint32_t *pool_of, const arenaut_problem *problem,
                                arenaut_plan **out) {
    arenaut_plan *plan = NULL;
    arenaut_status st = arenaut_plan_new(problem->n_buffers, problem->n_pools, p->events->allocator,
                                         &plan, p->events->err);
    if (st != ARENAUT_OK) return st;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        const arn_trace_event *event = &p->events->event[blocks[b].event];
        if (!arenaut_problem_needs_memory(problem, b)) continue;
        plan->pool[b] = pool_of[event->lane];
        plan->offset[b] = offset_of(p, event);
    }
    plan->planner = "given";
    plan->stopped_by = ARENAUT_STOP_END;
    st = arenaut_plan_measure(plan, problem, p->events->err);
    if (st == ARENAUT_OK) *out = plan;
    else arenaut_plan_free(plan);
    return st;
}

arenaut_status arn_trace_places(const arn_trace_events *events, const arn_trace_block *blocks,
                                const uint32_t *pool_of, const arenaut_problem *problem,
                                arenaut_plan **plan) {
    placing p = {.events = events};
    p.order = arn_allocate(events->allocator, events->n, 2 * sizeof *p.order);
    p.stretches = arn_allocate(events->allocator, events->n, sizeof *p.stretches);
    arenaut_status st = ARENAUT_OK;
    if (!p.order || !p.stretches) {
        st = arn_no_memory(events->err);
    } else {
        list_order(&p);
        join_stretches(&p);
        st = lay_all(&p, problem, blocks)
                 ? make_plan(&p, blocks, pool_of, problem, plan)
                 : arn_fail(events->err, ARENAUT_TOO_LARGE, 0,
                            "the addresses of one stream span more than 2^63 - 1 bytes");
    }
    ARN_RELEASE(events->allocator, p.order, p.stretches);
    return st;
}
