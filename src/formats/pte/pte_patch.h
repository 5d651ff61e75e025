/* A patch of a flatbuffer without moving anything in it: numbers are overwritten in place, and
 * tables without room go behind the end. Offsets only lead forward, so all old tables can lead to
 * appended ones. */
#ifndef ARN_FORMATS_PTE_PTE_PATCH_H
#define ARN_FORMATS_PTE_PTE_PATCH_H

#include "core/flatbuffer.h"
#include "formats/pte/pte_layout.h"

typedef struct arn_pte_patch {
    arn_flatbuffer fb; /* of the bytes as they are now */
    uint8_t *bytes;    /* the bytes of fb */
    size_t capacity;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    size_t place_vtable, device_vtable; /* of appended tables; 0: none yet */
} arn_pte_patch;

/* Copies `size` bytes. */
arenaut_status arn_pte_patch_open(const uint8_t *data, size_t size,
                                  const arenaut_allocator *allocator, arn_pte_patch *patch,
                                  arenaut_error *err);
void arn_pte_patch_close(arn_pte_patch *patch);

/* Each sets one member of a table; nothing is written if it has that value already. The overwritten
 * bytes may be shared with other tables: these then read wrong, and are to be put right likewise;
 * `in_place` false always appends. */
arenaut_status arn_pte_patch_place(arn_pte_patch *patch, arn_fb_table tensor, uint32_t memory_id,
                                   uint64_t offset, bool in_place);
/* The sizes of memories 1 to n. */
arenaut_status arn_pte_patch_sizes(arn_pte_patch *patch, arn_fb_table plan,
                                   const arn_pte_memory *memories, uint32_t n, bool in_place);
/* The devices of memories that are not the host's. `old` are the file's of the first n_old, which
 * are no more than n; the others are the host's so far. */
arenaut_status arn_pte_patch_devices(arn_pte_patch *patch, arn_fb_table plan,
                                     const arn_pte_memory *memories, uint32_t n,
                                     const arenaut_given_pool *old, uint32_t n_old);
/* Element i of a vector of tables becomes element order[i] of it in the file, `from`. */
arenaut_status arn_pte_patch_order(arn_pte_patch *patch, const arn_flatbuffer *from,
                                   arn_fb_vector tables, const uint32_t *order, uint32_t n);

#endif
