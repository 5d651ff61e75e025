/* The parts of XLA's dumps as lists: the values that its buffer assignment lists, the allocations
 * that it puts them in, the instructions that make them, and their live ranges. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/sort.h"
#include "core/utf8.h"
#include "formats/xla/xla_reader.h"

/* Common functions of the reader of XLA's dumps: small messages, lists that grow, and ids that are
 * looked up. xla_read.c is the walk. */

/* `what` names the message in errors. */
static arenaut_status xla_take(const arn_xla *r, arn_pb_bytes message, const char *what,
                               arn_xla_fields *out) {
    arn_pb walk = arn_pb_open(r->data, message);
    arn_pb_field field;
    memset(out, 0, sizeof *out);
    while (arn_pb_next(&walk, &field)) {
        if (field.number >= ARN_XLA_FIELDS) continue;
        if (field.type == ARN_PB_VARINT) out->number[field.number] = field.value;
        if (field.type == ARN_PB_BYTES) out->bytes[field.number] = field.bytes;
    }
    return arn_pb_status(&walk, what, r->err);
}

arenaut_status arn_xla_append(const arn_xla *r, void **array, uint32_t *capacity, uint32_t *n,
                              const void *element, size_t size) {
    if (!arn_grow(r->allocator, array, capacity, (uint64_t)*n + 1, size)) {
        return arn_no_memory(r->err);
    }
    memcpy((char *)*array + *n * size, element, size);
    ++*n;
    return ARENAUT_OK;
}

/* Lists the numbers in *order by ids[number]; the caller frees that, in any case. */
static arenaut_status xla_sort(const arn_xla *r, const uint64_t *ids, uint32_t n,
                               uint32_t **order) {
    uint32_t *scratch = arn_allocate(r->allocator, n, sizeof *scratch);
    *order = arn_allocate(r->allocator, n, sizeof **order);
    if (*order && scratch) {
        for (uint32_t i = 0; i < n; i++) (*order)[i] = i;
        arn_sort_by_key(*order, n, ids, scratch);
    }
    const bool had_room = *order && scratch;
    arn_release(r->allocator, scratch);
    return had_room ? ARENAUT_OK : arn_no_memory(r->err);
}

/* The number of that id; ARENAUT_NONE if there is none. O(log n). */
static uint32_t xla_find(const uint64_t *ids, const uint32_t *order, uint32_t n, uint64_t id) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ids[order[middle]] < id) low = middle + 1;
        else high = middle;
    }
    return low < n && ids[order[low]] == id ? order[low] : ARENAUT_NONE;
}

/* Instructions of the module that make values: their names, operators, and places in the user's
 * program. Texts are cut, so that many values of one instruction cannot stand for much more than
 * the file holds. */

/* ---- the lists ---- */

static arenaut_status add_instructions(arn_xla *r, arn_pb_bytes computation) {
    arn_pb message = arn_pb_open(r->data, computation);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, COMPUTATION_INSTRUCTIONS, ARN_PB_BYTES)) continue;
        arn_xla_fields fields;
        uint32_t n = r->n_instructions;
        st = xla_take(r, field.bytes, "an instruction", &fields);
        if (st == ARENAUT_OK) {
            st = arn_xla_append(r, (void **)&r->instruction_ids, &r->instruction_id_capacity, &n,
                                &fields.number[INSTRUCTION_ID], sizeof *r->instruction_ids);
        }
        if (st != ARENAUT_OK) return st;
        st = arn_xla_append(r, (void **)&r->instructions, &r->instruction_capacity,
                            &r->n_instructions, &field.bytes, sizeof field.bytes);
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "a computation", r->err) : st;
}

static arenaut_status add_frames(arn_xla *r, arn_pb_bytes index) {
    const struct {
        uint32_t number;
        arn_pb_bytes **list;
        uint32_t *capacity, *n;
    } lists[] = {{FRAMES_FILE_NAME, &r->files, &r->file_capacity, &r->n_files},
                 {FRAMES_PLACE, &r->places, &r->place_capacity, &r->n_places},
                 {FRAMES_FRAME, &r->frames, &r->frame_capacity, &r->n_frames}};
    arn_pb message = arn_pb_open(r->data, index);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
            if (!arn_pb_is(&field, lists[i].number, ARN_PB_BYTES)) continue;
            st = arn_xla_append(r, (void **)lists[i].list, lists[i].capacity, lists[i].n,
                                &field.bytes, sizeof field.bytes);
        }
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "the stack frames", r->err) : st;
}

arenaut_status arn_xla_read_module(arn_xla *r) {
    arn_pb message = arn_pb_open(r->data, r->module);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, MODULE_COMPUTATIONS, ARN_PB_BYTES)) {
            st = add_instructions(r, field.bytes);
        }
        if (arn_pb_is(&field, MODULE_STACK_FRAMES, ARN_PB_BYTES)) st = add_frames(r, field.bytes);
    }
    if (st == ARENAUT_OK) st = arn_pb_status(&message, "the module", r->err);
    if (st != ARENAUT_OK) return st;
    return xla_sort(r, r->instruction_ids, r->n_instructions, &r->instructions_in_order);
}

/* ---- labels ---- */

/* A copy of at most so much of a text, as a C string. */
static void copy_text(const arn_xla *r, arn_pb_bytes bytes, size_t limit, char *out) {
    const size_t length = arn_utf8_cut(r->data + bytes.at, bytes.size, limit);
    for (size_t i = 0; i < length; i++) {
        const char c = (char)r->data[bytes.at + i];
        out[i] = c ? c : '?';
    }
    out[length] = '\0';
}

/* The part of an instruction's result: "{1,0}"; nothing for the whole. */
static arenaut_status append_shape_index(arn_xla *r, arn_pb_bytes packed) {
    enum { DEPTH = 8 }; /* tuples within tuples, of which real ones have two or three */
    const size_t room = sizeof r->name;
    arn_pb numbers = arn_pb_open(r->data, packed);
    uint64_t number;
    size_t used = strlen(r->name);
    uint32_t n = 0;
    for (; n < DEPTH && arn_pb_next_varint(&numbers, &number); n++) {
        used += (size_t)snprintf(r->name + used, room - used, "%c%" PRIu32, n ? ',' : '{',
                                 (uint32_t)(number < 99999 ? number : 99999));
    }
    if (n > 0) snprintf(r->name + used, room - used, "}");
    return arn_pb_status(&numbers, "a shape index", r->err);
}

/* The file and the line that a frame is in; false if it is not known. */
static arenaut_status find_place(const arn_xla *r, const arn_xla_fields *metadata,
                                 arn_pb_bytes *file, uint64_t *line) {
    const uint64_t number = metadata->number[METADATA_FRAME];
    *file = metadata->bytes[METADATA_SOURCE_FILE];
    *line = metadata->number[METADATA_SOURCE_LINE];
    if (number == 0 || number > r->n_frames) return ARENAUT_OK;
    arn_xla_fields frame, place;
    arenaut_status st = xla_take(r, r->frames[number - 1], "a stack frame", &frame);
    const uint64_t at = frame.number[FRAME_PLACE];
    if (st != ARENAUT_OK || at == 0 || at > r->n_places) return st;
    st = xla_take(r, r->places[at - 1], "a place in a file", &place);
    const uint64_t name = place.number[PLACE_FILE_NAME];
    if (st != ARENAUT_OK || name == 0 || name > r->n_files) return st;
    *file = r->files[name - 1];
    *line = place.number[PLACE_LINE];
    return ARENAUT_OK;
}

/* "jit(step)/conv (train.py:12)", or as much of it as there is. */
static arenaut_status write_source(arn_xla *r, arn_pb_bytes metadata) {
    arn_xla_fields fields;
    arn_pb_bytes file;
    uint64_t line;
    arenaut_status st = xla_take(r, metadata, "metadata", &fields);
    if (st == ARENAUT_OK) st = find_place(r, &fields, &file, &line);
    if (st != ARENAUT_OK) return st;
    copy_text(r, fields.bytes[METADATA_OP_NAME], ARN_XLA_SOURCE_LIMIT, r->source);
    if (file.size == 0) return ARENAUT_OK;
    char path[ARN_XLA_NAME_LIMIT + 1];
    copy_text(r, file, ARN_XLA_NAME_LIMIT, path);
    const size_t used = strlen(r->source);
    snprintf(r->source + used, sizeof r->source - used, used ? " (%s:%" PRIu64 ")" : "%s:%" PRIu64,
             path, line);
    return ARENAUT_OK;
}

arenaut_status arn_xla_label(arn_xla *r, const arn_xla_value *value) {
    arn_xla_fields location, fields;
    r->name[0] = r->op[0] = r->source[0] = '\0';
    arenaut_status st = xla_take(r, value->defined_at, "a location", &location);
    if (st != ARENAUT_OK) return st;
    copy_text(r, location.bytes[LOCATION_INSTRUCTION_NAME], ARN_XLA_NAME_LIMIT, r->name);
    const uint32_t instruction = xla_find(r->instruction_ids, r->instructions_in_order,
                                          r->n_instructions, location.number[LOCATION_INSTRUCTION]);
    /* Files of before ids have 0 there, for all. */
    if (instruction != ARENAUT_NONE && location.number[LOCATION_INSTRUCTION] != 0) {
        st = xla_take(r, r->instructions[instruction], "an instruction", &fields);
        if (st != ARENAUT_OK) return st;
        copy_text(r, fields.bytes[INSTRUCTION_NAME], ARN_XLA_NAME_LIMIT, r->name);
        copy_text(r, fields.bytes[INSTRUCTION_OPCODE], ARN_XLA_NAME_LIMIT, r->op);
        st = write_source(r, fields.bytes[INSTRUCTION_METADATA]);
    }
    if (st != ARENAUT_OK || !*r->name) return st;
    return append_shape_index(r, location.bytes[LOCATION_SHAPE_INDEX]);
}

/* The values that XLA's buffer assignment lists, and the allocations that it puts them in: the
 * place of each value, and the purpose of each allocation. */

/* ---- values ---- */

static arenaut_status add_value(arn_xla *r, arn_pb_bytes message) {
    arn_xla_fields fields;
    arenaut_status st = xla_take(r, message, "a logical buffer", &fields);
    const arn_xla_value value = {.size = fields.number[VALUE_SIZE],
                                 .at = message.at,
                                 .defined_at = fields.bytes[VALUE_DEFINED_AT],
                                 .allocation = ARENAUT_NONE,
                                 .root = r->n_values,
                                 .first = ARN_XLA_UNTRACED};
    uint32_t n = r->n_values;
    if (st == ARENAUT_OK) {
        st = arn_xla_append(r, (void **)&r->value_ids, &r->value_id_capacity, &n,
                            &fields.number[VALUE_ID], sizeof *r->value_ids);
    }
    if (st != ARENAUT_OK) return st;
    return arn_xla_append(r, (void **)&r->values, &r->value_capacity, &r->n_values, &value,
                          sizeof value);
}

arenaut_status arn_xla_read_values(arn_xla *r) {
    arn_pb message = arn_pb_open(r->data, r->assignment);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, ASSIGNMENT_VALUE, ARN_PB_BYTES)) st = add_value(r, field.bytes);
    }
    if (st == ARENAUT_OK) st = arn_pb_status(&message, "the buffer assignment", r->err);
    if (st == ARENAUT_OK) st = xla_sort(r, r->value_ids, r->n_values, &r->values_in_order);
    for (uint32_t i = 1; i < r->n_values && st == ARENAUT_OK; i++) {
        const uint32_t value = r->values_in_order[i];
        if (r->value_ids[value] != r->value_ids[r->values_in_order[i - 1]]) continue;
        st = arn_fail(r->err, ARENAUT_BAD_INPUT, r->values[value].at,
                      "byte %zu: logical buffer %" PRIu64 " is there twice", r->values[value].at,
                      r->value_ids[value]);
    }
    return st;
}

/* The value of that id; BAD_INPUT, naming the place in the file, if there is none. */
static arenaut_status xla_find_value(const arn_xla *r, uint64_t id, size_t at, uint32_t *value) {
    *value = xla_find(r->value_ids, r->values_in_order, r->n_values, id);
    if (*value != ARENAUT_NONE) return ARENAUT_OK;
    return arn_fail(r->err, ARENAUT_BAD_INPUT, at, "byte %zu: there is no logical buffer %" PRIu64,
                    at, id);
}

/* ---- allocations ---- */

/* A parameter that becomes a result, as one that is donated does, is a parameter. */
static arn_xla_kind kind_of(const arn_xla_fields *fields) {
    if (fields->number[ALLOCATION_THREAD_LOCAL]) return ARN_XLA_THREAD_LOCAL;
    if (fields->number[ALLOCATION_PARAMETER]) return ARN_XLA_PARAMETERS;
    if (fields->number[ALLOCATION_LIVE_OUT]) return ARN_XLA_OUTPUTS;
    return fields->number[ALLOCATION_CONSTANT] ? ARN_XLA_CONSTANTS : ARN_XLA_OTHERS;
}

static arenaut_status assign(arn_xla *r, arn_pb_bytes message, uint32_t allocation) {
    arn_xla_allocation *whole = &r->allocations[allocation];
    arn_xla_fields fields;
    uint32_t number = ARENAUT_NONE;
    arenaut_status st = xla_take(r, message, "an assigned buffer", &fields);
    if (st == ARENAUT_OK) {
        st = xla_find_value(r, fields.number[ASSIGNED_VALUE], message.at, &number);
    }
    if (st != ARENAUT_OK) return st;
    arn_xla_value *value = &r->values[number];
    if (value->allocation != ARENAUT_NONE) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, message.at,
                        "byte %zu: logical buffer %" PRIu64 " lies in allocation %" PRIu64
                        " and again in %" PRIu64,
                        message.at, r->value_ids[number], r->allocations[value->allocation].index,
                        whole->index);
    }
    uint64_t end;
    value->allocation = allocation;
    value->offset = fields.number[ASSIGNED_OFFSET];
    value->size = fields.number[ASSIGNED_SIZE];
    if (!arn_add(value->offset, value->size, &end) || end > whole->size) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, message.at,
                        "byte %zu: logical buffer %" PRIu64 " has %" PRIu64 " bytes at %" PRIu64
                        " of allocation %" PRIu64 ", which has %" PRIu64 " bytes",
                        message.at, r->value_ids[number], value->size, value->offset, whole->index,
                        whole->size);
    }
    whole->offsets |= value->offset;
    if (whole->largest == ARENAUT_NONE || value->size > r->values[whole->largest].size) {
        whole->largest = number;
    }
    return ARENAUT_OK;
}

static arenaut_status add_allocation(arn_xla *r, arn_pb_bytes bytes) {
    arn_xla_fields fields;
    arenaut_status st = xla_take(r, bytes, "an allocation", &fields);
    if (st != ARENAUT_OK) return st;
    const arn_xla_allocation whole = {.index = fields.number[ALLOCATION_INDEX],
                                      .size = fields.number[ALLOCATION_SIZE],
                                      .kind = kind_of(&fields),
                                      .largest = ARENAUT_NONE,
                                      .pool = ARENAUT_NONE};
    if (whole.size > ARENAUT_SIZE_MAX) {
        return arn_fail(r->err, ARENAUT_TOO_LARGE, bytes.at,
                        "byte %zu: allocation %" PRIu64 " has more than 2^63 - 1 bytes", bytes.at,
                        whole.index);
    }
    st = arn_xla_append(r, (void **)&r->allocations, &r->allocation_capacity, &r->n_allocations,
                        &whole, sizeof whole);
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, ALLOCATION_ASSIGNED, ARN_PB_BYTES)) continue;
        st = assign(r, field.bytes, r->n_allocations - 1);
    }
    return st;
}

arenaut_status arn_xla_read_allocations(arn_xla *r) {
    arn_pb message = arn_pb_open(r->data, r->assignment);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, ASSIGNMENT_ALLOCATION, ARN_PB_BYTES)) {
            st = add_allocation(r, field.bytes);
        }
    }
    return st;
}

/* Live ranges of values, from the events of XLA's heap simulator: the number of an event is a step.
 *
 * A trace states its allocation, wrongly on some back ends, which join and renumber allocations
 * after it was written. So its allocation is found by the place of its values. Traces follow one
 * another in time, since their interleaving is unknown: each traced allocation is a pool of its
 * own, and of one trace. A computation that another one calls runs while buffers of that are alive.
 */

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
    const arenaut_status st = xla_find_value(r, e->canonical, e->at, &canonical);
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
    arn_xla_allocation *whole = &r->allocations[value->allocation];
    if (whole->traced && whole->trace != r->n_traces) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, e->at,
                        "event %" PRId64 " at byte %zu: allocation %" PRIu64
                        " is of an earlier trace, too, and nothing tells how the two interleave",
                        e->step, e->at, whole->index);
    }
    const arenaut_status st = e->kind == EVENT_SHARE_WITH ? share(r, e) : ARENAUT_OK;
    if (st != ARENAUT_OK) return st;
    value->first = value->end = e->step;
    whole->traced = true;
    whole->trace = r->n_traces;
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
    arenaut_status st = xla_take(r, message, "an event", &fields);
    event e = {.at = message.at,
               .step = r->n_events++,
               .kind = fields.number[EVENT_KIND],
               .id = fields.number[EVENT_VALUE],
               .canonical = fields.number[EVENT_CANONICAL]};
    if (st == ARENAUT_OK) st = xla_find_value(r, e.id, e.at, &e.value);
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
        if (!arn_pb_is(&field, ASSIGNMENT_TRACE, ARN_PB_BYTES)) continue;
        st = read_trace(r, field.bytes);
        r->n_traces++;
    }
    return st == ARENAUT_OK ? check_freed(r) : st;
}
