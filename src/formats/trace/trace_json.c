/* Traces as JSON (arenaut.trace/1): the same events, an object each. */
#include <string.h>

#include "formats/json_reader.h"
#include "formats/trace/trace.h"

bool arn_trace_json_recognise(const uint8_t *data, size_t size) {
    return arn_json_has_schema(data, size, "arenaut.trace");
}

#define ROOT_KEYS(XX)        \
    XX(R_SCHEMA, "schema")   \
    XX(R_VERSION, "version") \
    XX(R_EVENTS, "events")
enum { ROOT_KEYS(ARN_KEY_ENUM) R_KEYS };
static const char *const root_keys[] = {ROOT_KEYS(ARN_KEY_TEXT)};

#define EVENT_KEYS(XX)       \
    XX(E_EVENT, "event")     \
    XX(E_SIZE, "size")       \
    XX(E_ADDRESS, "address") \
    XX(E_ID, "id")           \
    XX(E_TIME, "time")       \
    XX(E_DEVICE, "device")   \
    XX(E_STREAM, "stream")   \
    XX(E_TAG, "tag")         \
    XX(E_ALIGNMENT, "alignment")
enum { EVENT_KEYS(ARN_KEY_ENUM) E_KEYS };
static const char *const event_keys[] = {EVENT_KEYS(ARN_KEY_TEXT)};

typedef struct reader {
    arn_json_reader json;
    arn_trace_events *events;
    size_t counted, line; /* lines are counted up to this byte */
} reader;

static size_t line_of(reader *r, uint32_t value) {
    const size_t at = r->json.json.nodes[value].at;
    for (; r->counted < at; r->counted++) r->line += r->json.json.text[r->counted] == '\n';
    return r->line;
}

/* A number or a string, as text that lasts; NULL if absent. */
static const char *read_text(reader *r, uint32_t value) {
    arn_json_reader *json = &r->json;
    if (value == ARN_JSON_NONE || !arn_json_fine(json)) return NULL;
    const char *text = NULL;
    size_t length = 0;
    if (arn_json_type_of(&json->json, value) == ARN_JSON_NUMBER) {
        text = json->json.text + json->json.nodes[value].at;
        while (length < json->json.size - json->json.nodes[value].at &&
               strchr("+-.0123456789eE", text[length]) && text[length]) {
            length++;
        }
    } else {
        text = arn_json_string(json, value);
        length = text ? strlen(text) : 0;
    }
    if (!arn_json_fine(json) || !text) return NULL;
    const char *copy = arn_region_copy_text(&r->events->texts, text, length);
    if (!copy) json->status = arn_no_memory(json->err);
    return copy;
}

/* Addresses are long for a number in JSON: text with 0x in front is as good. */
static uint64_t read_address(reader *r, uint32_t value) {
    arn_json_reader *json = &r->json;
    uint64_t address = ARENAUT_UNPLACED;
    if (value == ARN_JSON_NONE || !arn_json_fine(json)) return address;
    if (arn_json_type_of(&json->json, value) != ARN_JSON_STRING) {
        return arn_json_size(json, value, ARENAUT_UNPLACED);
    }
    const char *text = arn_json_string(json, value);
    if (!text) return address;
    if (!arn_trace_take_number(text, text + strlen(text), &address)) {
        arn_json_unexpected(json, value,
                            "an integer from 0 to 2^63 - 1, or 0x and its hexadecimal digits");
    }
    return address;
}

static void read_event(reader *r, uint32_t object, size_t number) {
    arn_json_reader *json = &r->json;
    uint32_t v[E_KEYS] = {0};
    arn_json_members(json, object, event_keys, E_KEYS, v);
    arn_json_require(json, object, v[E_EVENT], "event");
    if (!arn_json_fine(json)) return;
    arn_json_hold(json, object);
    arn_trace_event event = {.line = line_of(r, object), .number = number};
    event.kind =
        (arn_trace_kind)arn_json_word(json, v[E_EVENT], arn_trace_word, ARN_TRACE_KINDS, 0);
    event.size = arn_json_size(json, v[E_SIZE], ARENAUT_UNPLACED);
    event.align = arn_json_size(json, v[E_ALIGNMENT], ARENAUT_UNPLACED);
    event.address = read_address(r, v[E_ADDRESS]);
    event.id = read_text(r, v[E_ID]);
    event.tag = read_text(r, v[E_TAG]);
    const char *device = read_text(r, v[E_DEVICE]), *stream = read_text(r, v[E_STREAM]);
    const int64_t time = arn_json_step(json, v[E_TIME], 0);
    if (!arn_json_fine(json)) return;
    json->status =
        arn_trace_add(r->events, event, device, stream, v[E_TIME] == ARN_JSON_NONE ? NULL : &time);
}

arenaut_status arn_trace_read_json(const uint8_t *data, size_t size, arn_trace_events *events) {
    reader r = {.events = events, .line = 1};
    uint32_t v[R_KEYS] = {0};
    size_t number = 0;
    arn_json_reader_begin(&r.json, data, size, "arenaut.trace", events->allocator, events->err);
    if (arn_json_fine(&r.json)) {
        arn_json_members(&r.json, 0, root_keys, R_KEYS, v);
        arn_json_require(&r.json, 0, v[R_EVENTS], "events");
    }
    if (arn_json_fine(&r.json)) {
        ARN_JSON_EACH(&r.json, event, v[R_EVENTS]) {
            read_event(&r, event, ++number);
        }
    }
    arn_json_reader_free(&r.json);
    return r.json.status;
}
