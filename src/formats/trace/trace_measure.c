/* Measures of a trace: the bytes requested at once, and the bytes that the allocator had taken from
 * the system meanwhile. */
#include "formats/trace/trace.h"

#include <inttypes.h>

#include "core/checked.h"

void arn_trace_free(arenaut_trace *trace) {
    if (!trace) return;
    const arenaut_allocator allocator = trace->allocator;
    arn_release(&allocator, trace->asked);
    arn_release(&allocator, trace->reserved);
    arn_release(&allocator, trace);
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
