/* trace: the requests of a program to its allocator, an event a line or an object. The problem has
 * a buffer for each request, alive from it to the release; the steps are the requests. If all
 * blocks have addresses, these are the plan that the file holds, the allocator's own. */
#include <stdio.h>

#include "formats/trace/trace.h"

static bool trace_recognise(const uint8_t *data, size_t size) {
    return arn_trace_csv_recognise(data, size) || arn_trace_json_recognise(data, size);
}

static const char *pool_name(const arn_trace_lane *lane, char store[120]) {
    if (!lane->device && !lane->stream) return NULL;
    snprintf(store, 120, "%s%.40s%s%s%.40s", lane->device ? "device " : "",
             lane->device ? lane->device : "", lane->device && lane->stream ? " " : "",
             lane->stream ? "stream " : "", lane->stream ? lane->stream : "");
    return store;
}

/* A pool for each lane that has blocks: pool_of[lane]. */
static arenaut_status add_pools(const arn_trace_events *events, const arn_trace_block *blocks,
                                uint32_t n_blocks, arenaut_problem *problem, uint32_t *pool_of) {
    for (uint32_t k = 0; k < events->n_lanes; k++) pool_of[k] = ARENAUT_NONE;
    for (uint32_t b = 0; b < n_blocks; b++) {
        const uint32_t lane = events->event[blocks[b].event].lane;
        if (pool_of[lane] != ARENAUT_NONE) continue;
        char store[120];
        const arenaut_pool pool = {.name = pool_name(&events->lane[lane], store)};
        const arenaut_status st =
            arenaut_problem_add_pool(problem, &pool, &pool_of[lane], events->err);
        if (st != ARENAUT_OK) return st;
    }
    return ARENAUT_OK;
}

static arenaut_status add_blocks(const arn_trace_events *events, const arn_trace_block *blocks,
                                 uint32_t n_blocks, const uint32_t *pool_of,
                                 arenaut_problem *problem) {
    for (uint32_t b = 0; b < n_blocks; b++) {
        const arn_trace_event *event = &events->event[blocks[b].event];
        const arenaut_interval life = {(int64_t)b, blocks[b].end};
        const arenaut_buffer buffer = {
            .size = event->size,
            .align = event->align == ARENAUT_UNPLACED ? 0 : event->align,
            .lifetimes = &life,
            .n_lifetimes = 1,
            .pools = UINT64_C(1) << pool_of[event->lane],
            .name = event->id,
            .op = event->tag,
        };
        arenaut_error inner = {ARENAUT_OK, 0, ""};
        const arenaut_status st = arenaut_problem_add_buffer(problem, &buffer, NULL, &inner);
        if (st == ARENAUT_NO_MEMORY) return arn_no_memory(events->err);
        if (st != ARENAUT_OK) return arn_trace_fail(events, event, "%s", inner.msg);
    }
    return ARENAUT_OK;
}

static arenaut_status make_document(const arn_trace_events *events, const arn_trace_block *blocks,
                                    uint32_t n_blocks, arenaut_document *out) {
    uint32_t pool_of[ARENAUT_MAX_POOLS];
    arenaut_status st = arn_trace_measure(events, blocks, n_blocks, &out->trace);
    if (st == ARENAUT_OK) st = arenaut_problem_new(events->allocator, &out->problem, events->err);
    if (st == ARENAUT_OK) st = add_pools(events, blocks, n_blocks, out->problem, pool_of);
    if (st == ARENAUT_OK) st = add_blocks(events, blocks, n_blocks, pool_of, out->problem);
    if (st == ARENAUT_OK) st = arenaut_problem_finish(out->problem, events->err);
    if (st == ARENAUT_OK && out->trace->has_addresses && n_blocks > 0) {
        st = arn_trace_places(events, blocks, pool_of, out->problem, &out->plan);
    }
    return st;
}

static arenaut_status trace_read(const uint8_t *data, size_t size,
                                 const arenaut_read_options *options,
                                 const arenaut_allocator *allocator, arenaut_document *out,
                                 arenaut_error *err) {
    arn_trace_events events;
    uint32_t n_blocks = 0;
    arn_trace_begin(&events, allocator, err);
    arenaut_status st = arn_trace_json_recognise(data, size)
                            ? arn_trace_read_json(data, size, &events)
                            : arn_trace_read_csv(data, size, options, &events);
    arn_trace_block *blocks = NULL;
    if (st == ARENAUT_OK) {
        blocks = arn_allocate(allocator, events.n, sizeof *blocks);
        st = blocks ? arn_trace_pair(&events, blocks, &n_blocks) : arn_no_memory(err);
    }
    if (st == ARENAUT_OK) st = make_document(&events, blocks, n_blocks, out);
    if (st != ARENAUT_OK) {
        const arenaut_format *format = out->format;
        arenaut_document_free(out);
        *out = (arenaut_document){.format = format};
    }
    arn_release(allocator, blocks);
    arn_trace_end(&events);
    return st;
}

extern const arenaut_format arn_format_trace;
const arenaut_format arn_format_trace = {
    .name = "trace",
    .summary = "requests and releases of an allocator, with the addresses that it gave",
    .extensions = ".trace.csv .trace.json",
    .recognise = trace_recognise,
    .read = trace_read,
};
