/* Writing protocol buffers in tests: messages are built inside out, into growing bytes. */
#ifndef SUPPORT_WIRE_H
#define SUPPORT_WIRE_H

#include <stddef.h>
#include <stdint.h>

typedef struct wire {
    uint8_t *bytes;
    size_t size, capacity;
} wire;

void wire_varint(wire *w, uint64_t value);
void wire_number(wire *w, uint32_t field, uint64_t value);
void wire_text(wire *w, uint32_t field, const char *text);
void wire_bytes(wire *w, uint32_t field, const void *bytes, size_t size);
/* Adds `part` as field `field` and empties it. */
void wire_message(wire *w, uint32_t field, wire *part);
void wire_free(wire *w);

#endif
