/* The wire format of protocol buffers: tags, varints, lengths. Each field that is read is checked
 * against the end of its message when it is reached; a walk is linear in the bytes it steps over.
 */
#include "core/protobuf.h"

#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"

/* Ends the walk. */
static bool go_wrong(arn_pb *message, const char *what) {
    if (!message->wrong) message->wrong = what;
    return false;
}

bool arn_pb_next_varint(arn_pb *message, uint64_t *value) {
    uint64_t number = 0;
    if (message->wrong || message->at >= message->end) return false;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (message->at >= message->end) return go_wrong(message, "a number is cut off");
        const uint8_t byte = message->data[message->at++];
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *value = number;
            return true;
        }
    }
    return go_wrong(message, "a number has more than ten bytes");
}

static bool take_fixed(arn_pb *message, unsigned bytes, uint64_t *value) {
    if (message->end - message->at < bytes) return go_wrong(message, "a number is cut off");
    *value = arn_load(message->data + message->at, bytes);
    message->at += bytes;
    return true;
}

bool arn_pb_next_fixed32(arn_pb *packed, uint32_t *value) {
    uint64_t wide;
    if (packed->wrong || packed->at >= packed->end || !take_fixed(packed, 4, &wide)) return false;
    *value = (uint32_t)wide;
    return true;
}

static bool take_bytes(arn_pb *message, arn_pb_bytes *bytes) {
    uint64_t length;
    if (!arn_pb_next_varint(message, &length)) return go_wrong(message, "a length is missing");
    if (length > message->end - message->at) {
        return go_wrong(message, "a length goes past the end of its message");
    }
    *bytes = (arn_pb_bytes){message->at, (size_t)length};
    message->at += (size_t)length;
    return true;
}

bool arn_pb_next(arn_pb *message, arn_pb_field *field) {
    uint64_t tag;
    if (!arn_pb_next_varint(message, &tag)) return false;
    if (tag >> 3 == 0 || tag >> 32 != 0) return go_wrong(message, "a field has no valid number");
    *field = (arn_pb_field){.number = (uint32_t)(tag >> 3)};
    switch (tag & 7) {
        case ARN_PB_VARINT:
            field->type = ARN_PB_VARINT;
            return arn_pb_next_varint(message, &field->value) ||
                   go_wrong(message, "a number is cut off");
        case ARN_PB_FIXED64:
            field->type = ARN_PB_FIXED64;
            return take_fixed(message, 8, &field->value);
        case ARN_PB_BYTES: field->type = ARN_PB_BYTES; return take_bytes(message, &field->bytes);
        case ARN_PB_FIXED32:
            field->type = ARN_PB_FIXED32;
            return take_fixed(message, 4, &field->value);
        default: /* groups, which are deprecated and which no file that we read has */
            return go_wrong(message, "a field is of an unknown kind");
    }
}

arenaut_status arn_pb_status(const arn_pb *message, const char *what, arenaut_error *err) {
    if (!message->wrong) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_BAD_INPUT, message->at, "%s is not well formed at byte %zu: %s",
                    what, message->at, message->wrong);
}

/* Writer of protocol buffers in the wire format, field by field. */

static void put_varint(arn_writer *out, uint64_t value) {
    uint8_t bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (uint8_t)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
        value >>= 7;
    } while (value > 0);
    arn_put(out, bytes, n);
}

void arn_pb_put_number(arn_writer *out, uint32_t number, uint64_t value) {
    put_varint(out, (uint64_t)number << 3 | ARN_PB_VARINT);
    put_varint(out, value);
}

void arn_pb_put_bytes(arn_writer *out, uint32_t number, const void *bytes, size_t size) {
    put_varint(out, (uint64_t)number << 3 | ARN_PB_BYTES);
    put_varint(out, size);
    arn_put(out, bytes, size);
}

void arn_pb_put_text(arn_writer *out, uint32_t number, const char *text) {
    arn_pb_put_bytes(out, number, text, strlen(text));
}
