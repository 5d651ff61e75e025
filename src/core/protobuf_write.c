/* Writer of protocol buffers in the wire format, field by field. */
#include "core/protobuf_write.h"

#include <string.h>

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
