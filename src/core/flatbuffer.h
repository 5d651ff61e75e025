/* Bounds-checked reader of untrusted flatbuffers.
 *
 * A flatbuffer is a file of tables, vectors and strings that point forward to one another with
 * 32-bit offsets. Nothing here allocates or copies: a table or vector is a position that has been
 * checked, so that all reads from it lie inside the file.
 *
 * Like a cursor, a flatbuffer keeps its failure instead of failing each call. An absent or broken
 * object reads as an absent table, an empty vector or text, and the fallback of a number; look at
 * `wrong` when a stretch has been read. */
#ifndef ARN_CORE_FLATBUFFER_H
#define ARN_CORE_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/error.h>

typedef struct arn_flatbuffer {
    const uint8_t *data;
    size_t size;
    /* The first rule found broken, and where; NULL while all is well. */
    const char *wrong;
    size_t wrong_at;
    uint64_t found, allowed;
} arn_flatbuffer;

typedef struct arn_fb_table {
    size_t at;     /* 0: absent (the root offset is there, so no table can be) */
    size_t vtable; /* where its field offsets lie */
    uint32_t vtable_size;
} arn_fb_table;

typedef struct arn_fb_vector {
    size_t at; /* the first element; 0: absent */
    uint32_t count;
} arn_fb_vector;

arn_flatbuffer arn_fb_open(const void *data, size_t size);

/* Whether bytes 4 to 7 are this file identifier. */
bool arn_fb_identified(const void *data, size_t size, const char identifier[4]);

/* Stores the failure, if there was one, as BAD_INPUT "`object`: …" at its position. */
arenaut_status arn_fb_status(const arn_flatbuffer *fb, const char *object, arenaut_error *err);

arn_fb_table arn_fb_root(arn_flatbuffer *fb);

/* Fields of a table, by slot: the position of a field in its schema's table, where a union
 * takes two, its type and its value. */
size_t arn_fb_field(arn_flatbuffer *fb, arn_fb_table table, unsigned slot, unsigned width);
arn_fb_table arn_fb_table_field(arn_flatbuffer *fb, arn_fb_table table, unsigned slot);
/* The whole vector lies inside the file: count * element_size bytes from `at`. */
arn_fb_vector arn_fb_vector_field(arn_flatbuffer *fb, arn_fb_table table, unsigned slot,
                                  unsigned element_size);
/* `width` bytes, little endian, not sign-extended; `fallback` where the field is absent. */
uint64_t arn_fb_number(arn_flatbuffer *fb, arn_fb_table table, unsigned slot, unsigned width,
                       uint64_t fallback);

/* Elements of a vector. An index past the end is a mistake of the caller, not of the file. */
uint32_t arn_fb_item_u32(const arn_flatbuffer *fb, arn_fb_vector vector, uint32_t index);
arn_fb_table arn_fb_item_table(arn_flatbuffer *fb, arn_fb_vector vector, uint32_t index);

/* Copies a text, without more than `limit` bytes of it, to `to`, which has room for one more.
 * Gives the number of bytes. */
size_t arn_fb_copy_text(const arn_flatbuffer *fb, arn_fb_vector text, size_t limit, char *to);

static inline uint8_t arn_fb_u8(arn_flatbuffer *fb, arn_fb_table table, unsigned slot,
                                uint8_t fallback) {
    return (uint8_t)arn_fb_number(fb, table, slot, 1, fallback);
}
static inline uint32_t arn_fb_u32(arn_flatbuffer *fb, arn_fb_table table, unsigned slot,
                                  uint32_t fallback) {
    return (uint32_t)arn_fb_number(fb, table, slot, 4, fallback);
}
static inline uint64_t arn_fb_u64(arn_flatbuffer *fb, arn_fb_table table, unsigned slot,
                                  uint64_t fallback) {
    return arn_fb_number(fb, table, slot, 8, fallback);
}

/* Two's complement without relying on how the compiler narrows. */
static inline int64_t arn_signed(uint64_t bits, unsigned width) {
    const uint64_t sign = UINT64_C(1) << (8 * width - 1);
    return bits < sign ? (int64_t)bits : (int64_t)(bits - sign) - (int64_t)(sign - 1) - 1;
}
static inline int8_t arn_fb_i8(arn_flatbuffer *fb, arn_fb_table table, unsigned slot,
                               int8_t fallback) {
    return (int8_t)arn_signed(arn_fb_u8(fb, table, slot, (uint8_t)fallback), 1);
}
static inline int32_t arn_fb_i32(arn_flatbuffer *fb, arn_fb_table table, unsigned slot,
                                 int32_t fallback) {
    return (int32_t)arn_signed(arn_fb_u32(fb, table, slot, (uint32_t)fallback), 4);
}
static inline int32_t arn_fb_item_i32(const arn_flatbuffer *fb, arn_fb_vector vector,
                                      uint32_t index) {
    return (int32_t)arn_signed(arn_fb_item_u32(fb, vector, index), 4);
}

#endif
