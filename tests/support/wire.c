#include "support/wire.h"

#include <stdlib.h>

#include "support/test.h"

static void put(wire *w, const void *bytes, size_t size) {
    if (w->size + size > w->capacity) {
        w->capacity = 2 * w->capacity + size;
        w->bytes = realloc(w->bytes, w->capacity);
        assert_non_null(w->bytes);
    }
    if (size) memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

void wire_varint(wire *w, uint64_t value) {
    do {
        const uint8_t byte = (uint8_t)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
        put(w, &byte, 1);
        value >>= 7;
    } while (value);
}

void wire_number(wire *w, uint32_t field, uint64_t value) {
    wire_varint(w, (uint64_t)field << 3);
    wire_varint(w, value);
}

void wire_bytes(wire *w, uint32_t field, const void *bytes, size_t size) {
    wire_varint(w, (uint64_t)field << 3 | 2);
    wire_varint(w, size);
    put(w, bytes, size);
}

void wire_text(wire *w, uint32_t field, const char *text) {
    wire_bytes(w, field, text, strlen(text));
}

void wire_message(wire *w, uint32_t field, wire *part) {
    wire_bytes(w, field, part->bytes, part->size);
    wire_free(part);
}

void wire_free(wire *w) {
    free(w->bytes);
    *w = (wire){0};
}
