/* Common functions of the reader of XLA's dumps: small messages, lists that grow, and ids that are
 * looked up. xla_read.c is the walk. */
#include "formats/xla/xla_reader.h"

#include <string.h>

#include "core/sort.h"

arenaut_status arn_xla_take(const arn_xla *r, arn_pb_bytes message, const char *what,
                            arn_xla_fields *out) {
    arn_pb walk = arn_pb_open(r->data, message);
    arn_pb_field field;
    memset(out, 0, sizeof *out);
    while (arn_pb_next(&walk, &field)) {
        if (field.number >= ARN_XLA_FIELDS) continue;
        if (field.type == ARN_PB_VARINT) out->number[field.number] = field.value;
        if (field.type == ARN_PB_BYTES) out->bytes[field.number] = field.bytes;
    }
    return arn_pb_status(&walk, what, r->err);
}

arenaut_status arn_xla_append(const arn_xla *r, void **array, uint32_t *capacity, uint32_t *n,
                              const void *element, size_t size) {
    if (!arn_grow(r->allocator, array, capacity, (uint64_t)*n + 1, size)) {
        return arn_no_memory(r->err);
    }
    memcpy((char *)*array + *n * size, element, size);
    ++*n;
    return ARENAUT_OK;
}

arenaut_status arn_xla_sort(const arn_xla *r, const uint64_t *ids, uint32_t n, uint32_t **order) {
    uint32_t *scratch = arn_allocate(r->allocator, n, sizeof *scratch);
    *order = arn_allocate(r->allocator, n, sizeof **order);
    if (*order && scratch) {
        for (uint32_t i = 0; i < n; i++) (*order)[i] = i;
        arn_sort_by_key(*order, n, ids, scratch);
    }
    const bool had_room = *order && scratch;
    arn_release(r->allocator, scratch);
    return had_room ? ARENAUT_OK : arn_no_memory(r->err);
}

uint32_t arn_xla_find(const uint64_t *ids, const uint32_t *order, uint32_t n, uint64_t id) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ids[order[middle]] < id) low = middle + 1;
        else high = middle;
    }
    return low < n && ids[order[low]] == id ? order[low] : ARENAUT_NONE;
}
