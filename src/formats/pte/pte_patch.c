/* Patcher of a flatbuffer: numbers change in place, and a table is written anew behind the end if a
 * number has no room. The vtable of such tables is made once for each kind. Costs follow the number
 * of changes. */
#include "formats/pte/pte_patch.h"

#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "formats/pte/pte_schema.h"

/* Flatbuffers count with 31 bits. */
enum { SIZE_LIMIT = INT32_MAX };

arenaut_status arn_pte_patch_open(const uint8_t *data, size_t size,
                                  const arenaut_allocator *allocator, arn_pte_patch *patch,
                                  arenaut_error *err) {
    memset(patch, 0, sizeof *patch);
    patch->allocator = allocator;
    patch->err = err;
    patch->bytes = arn_allocate(allocator, size, 1);
    if (!patch->bytes) return arn_no_memory(err);
    memcpy(patch->bytes, data, size);
    patch->capacity = size;
    patch->fb = arn_fb_open(patch->bytes, size);
    return ARENAUT_OK;
}

void arn_pte_patch_close(arn_pte_patch *patch) {
    arn_release(patch->allocator, patch->bytes);
    patch->bytes = NULL;
}

/* Appends `size` zero bytes, of which the one at `ahead` is aligned. */
static arenaut_status append(arn_pte_patch *patch, size_t size, size_t ahead, size_t align,
                             size_t *at) {
    const size_t old = patch->fb.size;
    const size_t pad = (align - (old + ahead) % align) % align;
    if (old > SIZE_LIMIT || size > SIZE_LIMIT - old || pad > SIZE_LIMIT - old - size) {
        return arn_fail(patch->err, ARENAUT_REFUSED, 0,
                        "the program of %zu bytes has no room for %zu more: it must end below "
                        "2^31",
                        old, size);
    }
    const size_t needed = old + pad + size;
    if (needed > patch->capacity) {
        const size_t wanted = needed + needed / 4;
        const arenaut_allocator a = arn_allocator_or_default(patch->allocator);
        uint8_t *grown = a.reallocate(a.context, patch->bytes, patch->capacity, wanted);
        if (!grown) return arn_no_memory(patch->err);
        patch->bytes = grown;
        patch->capacity = wanted;
    }
    memset(patch->bytes + old, 0, pad + size);
    patch->fb.data = patch->bytes;
    patch->fb.size = needed;
    *at = old + pad;
    return ARENAUT_OK;
}

/* A vtable for tables whose fields, 4 bytes each, follow one another. */
static arenaut_status append_vtable(arn_pte_patch *patch, unsigned n_fields, size_t *at) {
    if (*at != 0) return ARENAUT_OK;
    const arenaut_status st = append(patch, 4 + 2 * (size_t)n_fields, 0, 4, at);
    if (st != ARENAUT_OK) return st;
    arn_store(patch->bytes + *at, 2, 4 + 2 * n_fields);
    arn_store(patch->bytes + *at + 2, 2, 4 + 4 * n_fields);
    for (unsigned i = 0; i < n_fields; i++) arn_store(patch->bytes + *at + 4 + 2 * i, 2, 4 + 4 * i);
    return ARENAUT_OK;
}

static arenaut_status append_table(arn_pte_patch *patch, unsigned n_fields, size_t *vtable,
                                   size_t *at) {
    arenaut_status st = append_vtable(patch, n_fields, vtable);
    if (st == ARENAUT_OK) st = append(patch, 4 + 4 * (size_t)n_fields, 0, 4, at);
    if (st == ARENAUT_OK) arn_store(patch->bytes + *at, 4, *at - *vtable);
    return st;
}

/* Makes the offset in a slot of a table lead to `target`, which lies behind it. */
static arenaut_status link(arn_pte_patch *patch, arn_fb_table table, unsigned slot, size_t target) {
    const size_t field = arn_fb_field(&patch->fb, table, slot, 4);
    if (field == 0) {
        return arn_fail(patch->err, ARENAUT_REFUSED, table.at,
                        "byte %zu: this table has no room for the plan's additions", table.at);
    }
    arn_store(patch->bytes + field, 4, target - field);
    return ARENAUT_OK;
}

/* ---- places ---- */

typedef struct place_field {
    unsigned slot;
    uint32_t value;
} place_field;

enum { PLACE_FIELDS = 3, DEVICE_FIELDS = 3 };

static bool reads_as(arn_pte_patch *patch, arn_fb_table table, const place_field *fields) {
    for (unsigned i = 0; i < PLACE_FIELDS; i++) {
        if (arn_fb_u32(&patch->fb, table, fields[i].slot, 0) != fields[i].value) return false;
    }
    return true;
}

/* A zero has no field of its own in most files: then there is none to be changed. */
static bool has_room(arn_pte_patch *patch, arn_fb_table table, const place_field *fields) {
    for (unsigned i = 0; i < PLACE_FIELDS; i++) {
        const bool needed = fields[i].value != 0;
        if (needed && arn_fb_field(&patch->fb, table, fields[i].slot, 4) == 0) return false;
    }
    return true;
}

arenaut_status arn_pte_patch_place(arn_pte_patch *patch, arn_fb_table tensor, uint32_t memory_id,
                                   uint64_t offset, bool in_place) {
    const place_field fields[PLACE_FIELDS] = {
        {ALLOCATION_MEMORY_ID, memory_id},
        {ALLOCATION_OFFSET_LOW, (uint32_t)(offset & UINT32_MAX)},
        {ALLOCATION_OFFSET_HIGH, (uint32_t)(offset >> 32)},
    };
    const arn_fb_table old = arn_fb_table_field(&patch->fb, tensor, TENSOR_ALLOCATION);
    if (reads_as(patch, old, fields)) return ARENAUT_OK;
    if (in_place && has_room(patch, old, fields)) {
        for (unsigned i = 0; i < PLACE_FIELDS; i++) {
            const size_t at = arn_fb_field(&patch->fb, old, fields[i].slot, 4);
            if (at != 0) arn_store(patch->bytes + at, 4, fields[i].value);
        }
        return ARENAUT_OK;
    }
    size_t at;
    const arenaut_status st = append_table(patch, PLACE_FIELDS, &patch->place_vtable, &at);
    if (st != ARENAUT_OK) return st;
    for (unsigned i = 0; i < PLACE_FIELDS; i++)
        arn_store(patch->bytes + at + 4 + 4 * i, 4, fields[i].value);
    return link(patch, tensor, TENSOR_ALLOCATION, at);
}

/* ---- sizes ---- */

static bool has_sizes(const arn_pte_patch *patch, arn_fb_vector sizes,
                      const arn_pte_memory *memories, uint32_t n) {
    if (sizes.count != n + 1) return false;
    for (uint32_t i = 0; i < n; i++) {
        arn_cursor cursor = arn_cursor_at(patch->bytes, patch->fb.size, sizes.at + 8 * (i + 1u));
        if (arn_take_u64(&cursor) != memories[i].size) return false;
    }
    return true;
}

arenaut_status arn_pte_patch_sizes(arn_pte_patch *patch, arn_fb_table plan,
                                   const arn_pte_memory *memories, uint32_t n, bool in_place) {
    const arn_fb_vector old = arn_fb_vector_field(&patch->fb, plan, PLAN_BUFFER_SIZES, 8);
    if (n == 0 || has_sizes(patch, old, memories, n)) return ARENAUT_OK;
    size_t at = old.at;
    if (!in_place || old.count != n + 1) {
        /* The first entry is reserved, and the count before it is 4 bytes long. */
        arenaut_status st = append(patch, 4 + 8 * ((size_t)n + 1), 4, 8, &at);
        if (st == ARENAUT_OK) st = link(patch, plan, PLAN_BUFFER_SIZES, at);
        if (st != ARENAUT_OK) return st;
        arn_store(patch->bytes + at, 4, n + 1);
        at += 4;
        if (old.count > 0) memcpy(patch->bytes + at, patch->bytes + old.at, 8);
    }
    for (uint32_t i = 0; i < n; i++)
        arn_store(patch->bytes + at + 8 * ((size_t)i + 1), 8, memories[i].size);
    return ARENAUT_OK;
}

/* ---- devices ---- */

static bool is_host(arenaut_device device) { return device.type == 0 && device.index == 0; }

arenaut_status arn_pte_patch_devices(arn_pte_patch *patch, arn_fb_table plan,
                                     const arn_pte_memory *memories, uint32_t n,
                                     const arenaut_given_pool *old, uint32_t n_old) {
    const arenaut_device host = {0, 0};
    uint32_t n_entries = 0;
    bool same = true;
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_device is = i < n_old ? old[i].device : host, wanted = memories[i].device;
        if (!is_host(wanted)) n_entries++;
        if (is.type != wanted.type || is.index != wanted.index) same = false;
    }
    if (same) return ARENAUT_OK;
    size_t list, at;
    arenaut_status st = append(patch, 4 + 4 * (size_t)n_entries, 0, 4, &list);
    if (st == ARENAUT_OK) st = link(patch, plan, PLAN_BUFFER_DEVICES, list);
    if (st != ARENAUT_OK) return st;
    arn_store(patch->bytes + list, 4, n_entries);
    for (uint32_t i = 0; i < n; i++) {
        if (is_host(memories[i].device)) continue;
        st = append_table(patch, DEVICE_FIELDS, &patch->device_vtable, &at);
        if (st != ARENAUT_OK) return st;
        list += 4;
        arn_store(patch->bytes + list, 4, at - list);
        arn_store(patch->bytes + at + 4, 4, i + 1);
        arn_store(patch->bytes + at + 8, 1, memories[i].device.type);
        arn_store(patch->bytes + at + 12, 1, memories[i].device.index);
    }
    return ARENAUT_OK;
}

/* ---- orders ---- */

arenaut_status arn_pte_patch_order(arn_pte_patch *patch, const arn_flatbuffer *from,
                                   arn_fb_vector tables, const uint32_t *order, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const size_t at = tables.at + 4 * (size_t)i, old = tables.at + 4 * (size_t)order[i];
        const size_t target = old + (size_t)arn_load(from->data + old, 4);
        if (target <= at) {
            return arn_fail(patch->err, ARENAUT_REFUSED, at,
                            "byte %zu: instructions lie in front of the list that names them", at);
        }
        arn_store(patch->bytes + at, 4, target - at);
    }
    return ARENAUT_OK;
}
