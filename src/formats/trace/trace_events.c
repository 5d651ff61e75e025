/* The events of a trace as they are read, one after the other, and their order by their keys. */
#include "formats/trace/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/sort.h"
#include "ir/program.h"

const char *arn_trace_word(uint32_t kind) {
    static const char *const words[] = {
#define XX(name, text) text,
        ARN_TRACE_EVENT_MAP(XX)
#undef XX
    };
    return kind < ARN_TRACE_KINDS ? words[kind] : NULL;
}

void arn_trace_begin(arn_trace_events *events, const arenaut_allocator *allocator,
                     arenaut_error *err) {
    memset(events, 0, sizeof *events);
    events->allocator = allocator;
    events->err = err;
    arn_region_init(&events->texts, allocator);
}

void arn_trace_end(arn_trace_events *events) {
    arn_release(events->allocator, events->event);
    arn_region_free(&events->texts);
}

arenaut_status arn_trace_fail(const arn_trace_events *events, const arn_trace_event *event,
                              const char *format, ...) {
    char text[400], number[40] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (event->number) snprintf(number, sizeof number, ", event %zu", event->number);
    return arn_fail(events->err, ARENAUT_BAD_INPUT, event->line, "line %zu%s: %s", event->line,
                    number, text);
}

arn_trace_where arn_trace_where_is(const arn_trace_event *event) {
    arn_trace_where where;
    if (event->number) snprintf(where.text, sizeof where.text, "event %zu", event->number);
    else snprintf(where.text, sizeof where.text, "line %zu", event->line);
    return where;
}

static arenaut_status find_lane(arn_trace_events *events, arn_trace_event *event,
                                const char *device, const char *stream) {
    uint32_t number = events->n_devices;
    for (uint32_t k = 0; k < events->n_lanes; k++) {
        const arn_trace_lane *lane = &events->lane[k];
        if (!arn_same_text(lane->device, device)) continue;
        number = lane->number;
        if (!arn_same_text(lane->stream, stream)) continue;
        event->lane = k;
        event->device = number;
        return ARENAUT_OK;
    }
    if (events->n_lanes == ARENAUT_MAX_POOLS) {
        return arn_trace_fail(events, event, "a stream more than the %u that are allowed",
                              ARENAUT_MAX_POOLS);
    }
    if (number == events->n_devices) events->n_devices++;
    const arn_trace_lane lane = {device, stream, number};
    event->lane = events->n_lanes;
    event->device = number;
    events->lane[events->n_lanes++] = lane;
    return ARENAUT_OK;
}

static arenaut_status check_event(const arn_trace_events *events, const arn_trace_event *event) {
    const bool of_block = event->kind == ARN_TRACE_ALLOC || event->kind == ARN_TRACE_FREE;
    uint64_t end;
    if (event->kind != ARN_TRACE_FREE && event->size == ARENAUT_UNPLACED) {
        return arn_trace_fail(events, event, "'%s' without a size", arn_trace_word(event->kind));
    }
    if (of_block && !event->id && event->address == ARENAUT_UNPLACED) {
        return arn_trace_fail(events, event, "'%s' says neither an id nor an address",
                              arn_trace_word(event->kind));
    }
    if (event->address == ARENAUT_UNPLACED || event->size == ARENAUT_UNPLACED ||
        arn_add(event->address, event->size, &end)) {
        return ARENAUT_OK;
    }
    return arn_trace_fail(events, event,
                          "%" PRIu64 " bytes at address 0x%" PRIx64 " end past 2^63 - 1",
                          event->size, event->address);
}

static arenaut_status check_time(arn_trace_events *events, const arn_trace_event *event,
                                 int64_t time) {
    if (events->timed && time < events->now) {
        return arn_trace_fail(events, event,
                              "the time goes back from %" PRId64 " to %" PRId64
                              "; events stand in their order",
                              events->now, time);
    }
    events->timed = true;
    events->now = time;
    return ARENAUT_OK;
}

arenaut_status arn_trace_add(arn_trace_events *events, arn_trace_event event, const char *device,
                             const char *stream, const int64_t *time) {
    arenaut_status st = check_event(events, &event);
    if (st == ARENAUT_OK && time) st = check_time(events, &event, *time);
    if (st == ARENAUT_OK) st = find_lane(events, &event, device, stream);
    if (st != ARENAUT_OK) return st;
    if (!arn_grow(events->allocator, (void **)&events->event, &events->capacity,
                  (uint64_t)events->n + 1, sizeof *events->event)) {
        return arn_no_memory(events->err);
    }
    events->event[events->n++] = event;
    return ARENAUT_OK;
}

bool arn_trace_address_before(const void *context, uint32_t a, uint32_t b) {
    const arn_trace_event *x = &((const arn_trace_events *)context)->event[a];
    const arn_trace_event *y = &((const arn_trace_events *)context)->event[b];
    return x->device != y->device ? x->device < y->device : x->address < y->address;
}

uint32_t *arn_trace_rank(const arn_trace_events *events,
                         bool (*counts)(const arn_trace_event *event),
                         bool (*before)(const void *events, uint32_t a, uint32_t b), uint32_t *n) {
    uint32_t *rank = arn_allocate(events->allocator, events->n, sizeof *rank);
    uint32_t *order = arn_allocate(events->allocator, events->n, 2 * sizeof *order);
    uint32_t n_counted = 0;
    *n = 0;
    for (uint32_t e = 0; rank && order && e < events->n; e++) {
        rank[e] = ARENAUT_NONE;
        if (counts(&events->event[e])) order[n_counted++] = e;
    }
    if (rank && order) {
        arn_sort_ids(order, n_counted, before, events, order + n_counted);
        for (uint32_t i = 0; i < n_counted; i++) {
            if (i > 0 && before(events, order[i - 1], order[i])) ++*n;
            rank[order[i]] = *n;
        }
        *n += n_counted > 0;
        arn_release(events->allocator, order);
        return rank;
    }
    ARN_RELEASE(events->allocator, rank, order);
    return NULL;
}
