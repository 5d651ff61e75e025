/* Bounds-checked little-endian reads from untrusted bytes.
 *
 * A cursor keeps its failure instead of failing each call: read all values, then look at `bad`
 * once. After that every read gives 0. */
#ifndef ARN_CORE_CURSOR_H
#define ARN_CORE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct arn_cursor {
    const uint8_t *data;
    size_t size;
    size_t at; /* the next byte to be read */
    bool bad;  /* a read went past the end */
} arn_cursor;

static inline arn_cursor arn_cursor_at(const uint8_t *data, size_t size, size_t at) {
    const arn_cursor cursor = {data, size, at, at > size};
    return cursor;
}

static inline bool arn_cursor_has(arn_cursor *cursor, size_t bytes) {
    if (cursor->bad || cursor->size - cursor->at < bytes) cursor->bad = true;
    return !cursor->bad;
}

/* `bytes` of them, little endian, from wherever the caller has checked. */
static inline uint64_t arn_load(const uint8_t *from, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)from[i] << (8 * i);
    return value;
}
static inline void arn_store(uint8_t *to, unsigned bytes, uint64_t value) {
    for (unsigned i = 0; i < bytes; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t arn_take(arn_cursor *cursor, unsigned bytes) {
    if (!arn_cursor_has(cursor, bytes)) return 0;
    cursor->at += bytes;
    return arn_load(cursor->data + cursor->at - bytes, bytes);
}

static inline uint8_t arn_take_u8(arn_cursor *cursor) { return (uint8_t)arn_take(cursor, 1); }
static inline uint16_t arn_take_u16(arn_cursor *cursor) { return (uint16_t)arn_take(cursor, 2); }
static inline uint32_t arn_take_u32(arn_cursor *cursor) { return (uint32_t)arn_take(cursor, 4); }
static inline uint64_t arn_take_u64(arn_cursor *cursor) { return arn_take(cursor, 8); }

static inline void arn_store_u32(uint8_t *to, uint32_t value) { arn_store(to, 4, value); }
static inline void arn_store_u64(uint8_t *to, uint64_t value) { arn_store(to, 8, value); }

#endif
