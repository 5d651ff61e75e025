/* Live ranges of values, from the events of XLA's heap simulator: the number of an event is a step.
 *
 * A trace states its allocation, wrongly on some back ends, which join and renumber allocations
 * after it was written. So its allocation is found by the place of its values. Traces follow one
 * another in time, since their interleaving is unknown; each traced allocation is a pool of its
 * own. */
#include <inttypes.h>

#include "formats/xla/xla_reader.h"

typedef struct event {
    size_t at;
    int64_t step;
    uint64_t kind, id;
    uint32_t value;
    uint64_t canonical;
} event;

static arenaut_status fail(const arn_xla *r, const event *e, const char *what) {
    return arn_fail(r->err, ARENAUT_BAD_INPUT, e->at,
                    "event %" PRId64 " at byte %zu: logical buffer %" PRIu64 " %s", e->step, e->at,
                    e->id, what);
}

static bool is_freed(const arn_xla_value *value) { return value->end > value->first; }

/* A value that takes over the place of another may be alive together with it or after it. */
static arenaut_status share(arn_xla *r, const event *e) {
    uint32_t canonical;
    arn_xla_value *value = &r->values[e->value];
    const arenaut_status st = arn_xla_find_value(r, e->canonical, e->at, &canonical);
    if (st != ARENAUT_OK) return st;
    const arn_xla_value *other = &r->values[canonical];
    if (other->first == ARN_XLA_UNTRACED || canonical == e->value) {
        return fail(r, e, "shares with one that has no place yet");
    }
    if (other->allocation != value->allocation || other->offset != value->offset) {
        return fail(r, e, "shares with one that lies elsewhere");
    }
    value->root = other->root;
    return ARENAUT_OK;
}

static arenaut_status begin(arn_xla *r, const event *e) {
    arn_xla_value *value = &r->values[e->value];
    if (value->first != ARN_XLA_UNTRACED) return fail(r, e, "is given memory a second time");
    if (value->allocation == ARENAUT_NONE) return fail(r, e, "lies in no allocation");
    const arenaut_status st = e->kind == EVENT_SHARE_WITH ? share(r, e) : ARENAUT_OK;
    if (st != ARENAUT_OK) return st;
    value->first = value->end = e->step;
    r->allocations[value->allocation].traced = true;
    return ARENAUT_OK;
}

static arenaut_status finish(arn_xla *r, const event *e) {
    arn_xla_value *value = &r->values[e->value];
    if (value->first == ARN_XLA_UNTRACED) return fail(r, e, "is freed, but was given no memory");
    if (is_freed(value)) return fail(r, e, "is freed a second time");
    value->end = e->step;
    return ARENAUT_OK;
}

static arenaut_status read_event(arn_xla *r, arn_pb_bytes message) {
    arn_xla_fields fields;
    arenaut_status st = arn_xla_take(r, message, "an event", &fields);
    event e = {.at = message.at,
               .step = r->n_events++,
               .kind = fields.number[EVENT_KIND],
               .id = fields.number[EVENT_VALUE],
               .canonical = fields.number[EVENT_CANONICAL]};
    if (st == ARENAUT_OK) st = arn_xla_find_value(r, e.id, e.at, &e.value);
    if (st != ARENAUT_OK) return st;
    switch (e.kind) {
        case EVENT_ALLOC:
        case EVENT_SHARE_WITH: return begin(r, &e);
        case EVENT_FREE: return finish(r, &e);
        default:
            return arn_fail(r->err, ARENAUT_UNSUPPORTED, e.at,
                            "event %" PRId64 " at byte %zu is of kind %" PRIu64
                            "; known are 0 (alloc), 1 (free) and 2 (share with)",
                            e.step, e.at, e.kind);
    }
}

static arenaut_status read_trace(arn_xla *r, arn_pb_bytes trace) {
    arn_pb message = arn_pb_open(r->data, trace);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, TRACE_EVENT, ARN_PB_BYTES)) st = read_event(r, field.bytes);
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "a trace", r->err) : st;
}

/* The simulator frees all that it gave memory, so a trace that does not is not whole. */
static arenaut_status check_freed(const arn_xla *r) {
    for (uint32_t v = 0; v < r->n_values; v++) {
        const arn_xla_value *value = &r->values[v];
        if (value->first == ARN_XLA_UNTRACED || is_freed(value)) continue;
        return arn_fail(r->err, ARENAUT_BAD_INPUT, value->at,
                        "logical buffer %" PRIu64
                        " (byte %zu) is never freed: its trace is not "
                        "whole",
                        r->value_ids[v], value->at);
    }
    return ARENAUT_OK;
}

arenaut_status arn_xla_read_traces(arn_xla *r) {
    arn_pb message = arn_pb_open(r->data, r->assignment);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, ASSIGNMENT_TRACE, ARN_PB_BYTES)) st = read_trace(r, field.bytes);
    }
    return st == ARENAUT_OK ? check_freed(r) : st;
}
