/* Builder of a flatbuffer that goes in front of another one and shares its objects.
 *
 * Offsets lead forward only: a table is made before the targets of its fields, which are linked
 * once these stand, here or in the bytes behind. Like a writer, a prefix keeps its failure: make it
 * all, then call arn_fb_prefix_finish, which returns it. */
#ifndef ARN_CORE_FLATBUFFER_PREFIX_H
#define ARN_CORE_FLATBUFFER_PREFIX_H

#include <stddef.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>

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
/* A vector of whole numbers of 32 bits, copied. */
size_t arn_fb_add_numbers(arn_fb_prefix *prefix, const int32_t *numbers, size_t count);

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
