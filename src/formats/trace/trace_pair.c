/* Pairs of requests and releases. Impossible sequences are refused with the two places that
 * contradict each other: a block that is given back twice or never was handed out, and one that is
 * handed out where another still lies. */
#include <inttypes.h>
#include <string.h>

#include "core/number_set.h"
#include "formats/trace/trace.h"

/* ---- the pairs ---- */

typedef struct pairing {
    const arn_trace_events *events;
    arn_trace_block *blocks;
    uint32_t n_blocks;
    bool by_id;
    uint32_t *key, n_keys;     /* per event: the block that it names */
    uint32_t *place, n_places; /* per event: its address; equal to `key` where there are no ids */
    uint32_t *block_of;        /* per key: the last block that was called so; ARENAUT_NONE: none */
    uint32_t *freed_by;        /* per key: the event; ARENAUT_NONE: it is out */
    uint32_t *lies;            /* per place: the block that lies there */
    arn_number_set taken;      /* places where blocks lie that are out */
    arn_region region;
} pairing;

static bool is_of_block(const arn_trace_event *event) {
    return event->kind == ARN_TRACE_ALLOC || event->kind == ARN_TRACE_FREE;
}

static bool has_place(const arn_trace_event *event) {
    return event->kind == ARN_TRACE_ALLOC && event->address != ARENAUT_UNPLACED && event->size > 0;
}

static bool id_before(const void *context, uint32_t a, uint32_t b) {
    const arn_trace_event *event = ((const arn_trace_events *)context)->event;
    return strcmp(event[a].id, event[b].id) < 0;
}

/* Events go by their ids if the first of a block has one; then all must. */
static arenaut_status choose_keys(pairing *p) {
    const arn_trace_events *events = p->events;
    bool chosen = false;
    for (uint32_t e = 0; e < events->n; e++) {
        const arn_trace_event *event = &events->event[e];
        if (!is_of_block(event)) continue;
        if (!chosen) p->by_id = event->id != NULL;
        chosen = true;
        if (p->by_id ? event->id != NULL : event->address != ARENAUT_UNPLACED && !event->id) {
            continue;
        }
        return arn_trace_fail(events, event,
                              "the blocks of this trace go by their %s, and this one has %s",
                              p->by_id ? "ids" : "addresses", p->by_id ? "none" : "an id");
    }
    return ARENAUT_OK;
}

static uint32_t *fill_none(pairing *p, uint32_t n) {
    uint32_t *list = arn_region_allocate(&p->region, n, sizeof *list);
    for (uint32_t i = 0; list && i < n; i++) list[i] = ARENAUT_NONE;
    return list;
}

static arenaut_status prepare(pairing *p) {
    arenaut_status st = choose_keys(p);
    if (st != ARENAUT_OK) return st;
    p->key = arn_trace_rank(p->events, is_of_block, p->by_id ? id_before : arn_trace_address_before,
                            &p->n_keys);
    p->place = arn_trace_rank(p->events, has_place, arn_trace_address_before, &p->n_places);
    p->block_of = fill_none(p, p->n_keys);
    p->freed_by = fill_none(p, p->n_keys);
    p->lies = fill_none(p, p->n_places);
    uint32_t *words =
        arn_region_allocate(&p->region, arn_number_set_words(p->n_places), sizeof *words);
    if (!p->key || !p->place || !p->block_of || !p->freed_by || !p->lies || !words)
        return arn_no_memory(p->events->err);
    arn_number_set_clear(&p->taken, p->n_places, words);
    return ARENAUT_OK;
}

static const arn_trace_event *event_of(const pairing *p, uint32_t block) {
    return &p->events->event[p->blocks[block].event];
}

static arenaut_status fail_overlap(const pairing *p, const arn_trace_event *event, uint32_t block) {
    const arn_trace_event *other = event_of(p, block);
    return arn_trace_fail(p->events, event,
                          "%" PRIu64 " bytes at 0x%" PRIx64 " overlap the %" PRIu64
                          " bytes at 0x%" PRIx64 " of %s, which are not freed",
                          event->size, event->address, other->size, other->address,
                          arn_trace_where_is(other).text);
}

/* The blocks that are out lie apart, so only the nearest two can be in the way. */
static arenaut_status check_place(const pairing *p, uint32_t e) {
    const arn_trace_event *event = &p->events->event[e];
    const uint32_t place = p->place[e];
    const uint32_t before = arn_number_set_below(&p->taken, place);
    const uint32_t after =
        arn_number_set_has(&p->taken, place) ? place : arn_number_set_above(&p->taken, place);
    if (before != ARENAUT_NONE) {
        const arn_trace_event *other = event_of(p, p->lies[before]);
        if (other->device == event->device && other->address + other->size > event->address) {
            return fail_overlap(p, event, p->lies[before]);
        }
    }
    if (after == ARENAUT_NONE) return ARENAUT_OK;
    const arn_trace_event *other = event_of(p, p->lies[after]);
    const bool free =
        other->device != event->device || other->address >= event->address + event->size;
    return free ? ARENAUT_OK : fail_overlap(p, event, p->lies[after]);
}

static arenaut_status hand_out(pairing *p, uint32_t e) {
    const arn_trace_event *event = &p->events->event[e];
    const uint32_t key = p->key[e], last = p->block_of[key];
    if (last != ARENAUT_NONE && p->freed_by[key] == ARENAUT_NONE) {
        const arn_trace_where where = arn_trace_where_is(event_of(p, last));
        return p->by_id ? arn_trace_fail(p->events, event,
                                         "id '%.60s' is that of %s, which is not freed", event->id,
                                         where.text)
                        : fail_overlap(p, event, last);
    }
    if (p->place[e] != ARENAUT_NONE) {
        const arenaut_status st = check_place(p, e);
        if (st != ARENAUT_OK) return st;
        p->lies[p->place[e]] = p->n_blocks;
        arn_number_set_put(&p->taken, p->place[e]);
    }
    const arn_trace_block block = {.event = e, .held = true};
    p->block_of[key] = p->n_blocks;
    p->freed_by[key] = ARENAUT_NONE;
    p->blocks[p->n_blocks++] = block;
    return ARENAUT_OK;
}

static arenaut_status fail_free(const pairing *p, uint32_t e, const char *why, const char *where) {
    const arn_trace_event *event = &p->events->event[e];
    return p->by_id ? arn_trace_fail(p->events, event, "'free' of id '%.60s', %s%s", event->id, why,
                                     where)
                    : arn_trace_fail(p->events, event, "'free' of address 0x%" PRIx64 ", %s%s",
                                     event->address, why, where);
}

static arenaut_status give_back(pairing *p, uint32_t e) {
    const arn_trace_event *event = &p->events->event[e];
    const uint32_t key = p->key[e], block = p->block_of[key];
    if (block == ARENAUT_NONE) return fail_free(p, e, "for which nothing has asked before", "");
    if (p->freed_by[key] != ARENAUT_NONE) {
        const arn_trace_where where = arn_trace_where_is(&p->events->event[p->freed_by[key]]);
        return fail_free(p, e, "which is free since ", where.text);
    }
    const arn_trace_event *request = event_of(p, block);
    if (event->size != ARENAUT_UNPLACED && event->size != request->size) {
        return arn_trace_fail(p->events, event,
                              "'free' of %" PRIu64 " bytes; %s asked for %" PRIu64, event->size,
                              arn_trace_where_is(request).text, request->size);
    }
    p->freed_by[key] = e;
    p->blocks[block].held = false;
    p->blocks[block].end = (int64_t)p->n_blocks;
    const uint32_t place = p->place[p->blocks[block].event];
    if (place != ARENAUT_NONE) arn_number_set_take(&p->taken, place);
    return ARENAUT_OK;
}

static arenaut_status pair_all(pairing *p) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t e = 0; e < p->events->n && st == ARENAUT_OK; e++) {
        const arn_trace_kind kind = p->events->event[e].kind;
        if (kind == ARN_TRACE_ALLOC) st = hand_out(p, e);
        else if (kind == ARN_TRACE_FREE) st = give_back(p, e);
    }
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        if (p->blocks[b].held) p->blocks[b].end = (int64_t)p->n_blocks;
    }
    return st;
}

arenaut_status arn_trace_pair(const arn_trace_events *events, arn_trace_block *blocks,
                              uint32_t *n_blocks) {
    pairing p = {.events = events, .blocks = blocks};
    arn_region_init(&p.region, events->allocator);
    arenaut_status st = prepare(&p);
    if (st == ARENAUT_OK) st = pair_all(&p);
    *n_blocks = p.n_blocks;
    ARN_RELEASE(events->allocator, p.key, p.place);
    arn_region_free(&p.region);
    return st;
}
