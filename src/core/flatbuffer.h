/* Bounds-checked reader of untrusted flatbuffers, and builder of a prefix that shares their
 * objects.
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

#include <arenaut/allocator.h>
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

/* Builder of a flatbuffer that goes in front of another one and shares its objects.
 *
 * Offsets lead forward only: a table is made before the targets of its fields, which are linked
 * once these stand, here or in the bytes behind. Like a writer, a prefix keeps its failure: make it
 * all, then call arn_fb_prefix_finish, which returns it. */

/* An offset that leads into the bytes behind: it counts from where it is stored. */
typedef struct arn_fb_link {
    uint32_t from, behind;
} arn_fb_link;

/* Tables with the same fields share a vtable. */
typedef struct arn_fb_shape {
    uint32_t present, at;
} arn_fb_shape;

typedef struct arn_fb_prefix {
    const arenaut_allocator *allocator;
    uint8_t *bytes;
    uint32_t size, capacity;
    arn_fb_link *links;
    uint32_t n_links, links_capacity;
    arn_fb_shape *shapes;
    uint32_t n_shapes, shapes_capacity;
    arenaut_status failed; /* OK: not yet */
} arn_fb_prefix;

/* A table that is being made. */
typedef struct arn_fb_new_table {
    size_t at;
    uint32_t present; /* bit k: it has a field in slot k; each takes four bytes */
} arn_fb_new_table;

/* Begins with room for the root offset, and the file identifier. */
arn_fb_prefix arn_fb_prefix_begin(const char identifier[4], const arenaut_allocator *allocator);
void arn_fb_prefix_free(arn_fb_prefix *prefix);

/* Bit `slot` of the set of present ones. */
#define ARN_FB_SLOT(slot) (UINT32_C(1) << (slot))

/* Each gives where the new object is, all zero. The elements of a vector begin 4 bytes behind, at a
 * multiple of `align`, a power of two. */
arn_fb_new_table arn_fb_add_table(arn_fb_prefix *prefix, uint32_t present);
size_t arn_fb_add_vector(arn_fb_prefix *prefix, size_t count, size_t width, size_t align);
/* So many bytes, `rest` behind a multiple of `align`. */
size_t arn_fb_add_bytes(arn_fb_prefix *prefix, size_t size, size_t align, size_t rest);
size_t arn_fb_add_text(arn_fb_prefix *prefix, const char *text);

/* The position of slot `slot`, which is present, of a table; and of element `index` of a vector of
 * numbers or offsets. */
size_t arn_fb_slot(arn_fb_new_table table, unsigned slot);
size_t arn_fb_element(size_t vector, size_t index);

/* Sets it to a number, to an offset to an object of this prefix, or to one to byte `behind` of the
 * bytes behind it. */
void arn_fb_set(arn_fb_prefix *prefix, size_t at, uint32_t number);
void arn_fb_lead(arn_fb_prefix *prefix, size_t at, size_t target);
void arn_fb_lead_behind(arn_fb_prefix *prefix, size_t at, size_t behind);
/* Copies bytes to where a vector has room for them. */
void arn_fb_fill(arn_fb_prefix *prefix, size_t at, const void *bytes, size_t size);

/* Fills up to a multiple of `align`, and resolves offsets that lead behind: the prefix is ready,
 * for `behind` bytes to follow. REFUSED if both together are more than a flatbuffer can be. */
arenaut_status arn_fb_prefix_finish(arn_fb_prefix *prefix, size_t align, size_t behind,
                                    arenaut_error *err);

#endif
