/* Common parts of the trace readers: events of a file, and the blocks made from them. */
#ifndef ARN_FORMATS_TRACE_TRACE_H
#define ARN_FORMATS_TRACE_TRACE_H

#include <arenaut/format.h>
#include <arenaut/trace.h>

#include "core/fail.h"
#include "core/memory.h"

#define ARN_TRACE_EVENT_MAP(XX)                                              \
    XX(ALLOC, "alloc")     /* a block is handed out */                       \
    XX(FREE, "free")       /* and given back */                              \
    XX(RESERVE, "reserve") /* the allocator takes memory from the system, */ \
    XX(RELEASE, "release") /* and gives it back */

typedef enum arn_trace_kind {
#define XX(name, text) ARN_TRACE_##name,
    ARN_TRACE_EVENT_MAP(XX)
#undef XX
        ARN_TRACE_KINDS
} arn_trace_kind;

const char *arn_trace_word(uint32_t kind);

/* Members left out are ARENAUT_UNPLACED, or NULL. Texts live in the region of the events. */
typedef struct arn_trace_event {
    size_t line, number; /* where it stands; as which event of the list, from 1, or 0 */
    uint64_t address, size, align;
    const char *id, *tag;
    uint32_t lane, device; /* `lane`: of a device and a stream */
    arn_trace_kind kind;
} arn_trace_event;

/* The memory of blocks of one stream. */
typedef struct arn_trace_lane {
    const char *device, *stream; /* NULL: not said */
    uint32_t number;             /* of the device */
} arn_trace_lane;

typedef struct arn_trace_events {
    arn_trace_event *event;
    uint32_t n, capacity;
    arn_trace_lane lane[ARENAUT_MAX_POOLS];
    uint32_t n_lanes, n_devices;
    bool timed;
    int64_t now;
    const arenaut_allocator *allocator;
    arn_region texts;
    arenaut_error *err;
} arn_trace_events;

void arn_trace_begin(arn_trace_events *events, const arenaut_allocator *allocator,
                     arenaut_error *err);
void arn_trace_end(arn_trace_events *events);

/* "line 7: ", or "line 1, event 7: ", and the message; BAD_INPUT. */
arenaut_status arn_trace_fail(const arn_trace_events *events, const arn_trace_event *event,
                              const char *format, ...) ARN_PRINTF(3, 4);
/* "line 7", or "event 7" of a list. */
typedef struct arn_trace_where {
    char text[40];
} arn_trace_where;
arn_trace_where arn_trace_where_is(const arn_trace_event *event);

/* One more, of the given device and stream (NULL: not said); `time` is NULL where it is not known.
 * Refuses an event that is wrong by itself: a request without a size, a time before the last
 * one. */
arenaut_status arn_trace_add(arn_trace_events *events, arn_trace_event event, const char *device,
                             const char *stream, const int64_t *time);

bool arn_trace_csv_recognise(const uint8_t *data, size_t size);
bool arn_trace_json_recognise(const uint8_t *data, size_t size);
arenaut_status arn_trace_read_csv(const uint8_t *data, size_t size,
                                  const arenaut_read_options *options, arn_trace_events *events);
arenaut_status arn_trace_read_json(const uint8_t *data, size_t size, arn_trace_events *events);

/* A size or an address, decimal or with 0x in front. False for anything else than that. */
bool arn_trace_take_number(const char *at, const char *end, uint64_t *value);

/* A block of the trace; its number is that of the request. */
typedef struct arn_trace_block {
    uint32_t event; /* that requests it */
    int64_t end;    /* the step behind its last one */
    bool held;      /* never given back */
} arn_trace_block;

/* Pairs requests with releases: `blocks` has room for one an event. Refuses impossible sequences,
 * naming both lines. O(n log n). */
arenaut_status arn_trace_pair(const arn_trace_events *events, arn_trace_block *blocks,
                              uint32_t *n_blocks);

/* The numbers of the distinct values that events have, in their order, for events with one by
 * `counts`; ARENAUT_NONE for the others. `before` orders two events, with the events as context. *n
 * gets how many there are; NULL if there is no memory. */
uint32_t *arn_trace_rank(const arn_trace_events *events,
                         bool (*counts)(const arn_trace_event *event),
                         bool (*before)(const void *events, uint32_t a, uint32_t b), uint32_t *n);
/* Such an order: by device, then address. */
bool arn_trace_address_before(const void *events, uint32_t a, uint32_t b);

/* The plan of the recorded addresses, if all blocks have one: gaps that no block of a stream ever
 * covered are left out. Buffer k of the problem is block k, in the pool pool_of[its lane]. */
arenaut_status arn_trace_places(const arn_trace_events *events, const arn_trace_block *blocks,
                                const uint32_t *pool_of, const arenaut_problem *problem,
                                arenaut_plan **plan);

/* The bytes asked for and reserved, step by step; the caller frees the trace. */
arenaut_status arn_trace_measure(const arn_trace_events *events, const arn_trace_block *blocks,
                                 uint32_t n_blocks, arenaut_trace **trace);

void arn_trace_free(arenaut_trace *trace); /* NULL is fine */

#endif
