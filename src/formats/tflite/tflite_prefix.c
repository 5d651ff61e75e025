/* A flatbuffer's offsets lead forward only, so an old file cannot be given a new root
 * behind it. It can be given one in front: a Model table whose fields lead to the old
 * file's parts, which stay as they are, byte for byte. Only the list of buffers and the
 * list of metadata are written anew, each with two entries more. */
#include "formats/tflite/tflite_prefix.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/cursor.h"
#include "core/fail.h"
#include "core/memory.h"
#include "formats/tflite/tflite_schema.h"

enum {
    /* What was aligned in the old file stays so, up to a cache line. */
    PREFIX_ALIGN = 64,
    DATA_ALIGN = 16,
    MODEL_SLOTS = 10,
    MODEL_VTABLE = 8,
    MODEL_TABLE = MODEL_VTABLE + 4 + 2 * MODEL_SLOTS,
    BUFFER_VTABLE = MODEL_TABLE + 4 + 4 * MODEL_SLOTS,
    METADATA_VTABLE = BUFFER_VTABLE + 8, /* 6, and 2 to stay aligned */
    BUFFERS_VECTOR = METADATA_VTABLE + 8,
    BUFFER_TABLE_SIZE = 8,
    METADATA_TABLE_SIZE = 12,
};

/* Where everything goes; what comes before `metadata` is at fixed places, see above. */
typedef struct layout {
    uint64_t metadata;                                    /* the vector */
    uint64_t buffer_table[2], entry[2], name[2], data[2]; /* of the plan and the mark */
    uint64_t size;
} layout;

static const char *const entry_names[2] = {ARN_TFLITE_PLAN_NAME, ARN_TFLITE_MARK_NAME};

static void store_u16(uint8_t *to, uint32_t value) {
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

/* A vtable for a table whose fields are all 4 bytes wide and lie in the order of slots. */
static void put_vtable(uint8_t *prefix, size_t at, unsigned slots) {
    store_u16(prefix + at, 4 + 2 * slots);
    store_u16(prefix + at + 2, 4 + 4 * slots);
    for (unsigned s = 0; s < slots; s++) store_u16(prefix + at + 4 + 2 * s, 4 + 4 * s);
}

/* Offsets count from the place where they are stored. */
static void put_offset(uint8_t *prefix, uint64_t at, uint64_t target) {
    arn_store_u32(prefix + at, (uint32_t)(target - at));
}

static bool is_replaced(arn_tflite_model *model, uint32_t index) {
    return arn_tflite_metadata_is(model, index, ARN_TFLITE_PLAN_NAME) ||
           arn_tflite_metadata_is(model, index, ARN_TFLITE_MARK_NAME);
}

/* Every count comes from a vector inside the file, so nothing here can overflow 64 bits. */
static layout lay_out(uint32_t n_buffers, uint32_t n_kept, size_t plan_size) {
    const size_t data_size[2] = {plan_size, ARN_TFLITE_MARK_SIZE};
    layout l;
    l.metadata = BUFFERS_VECTOR + 4 + 4 * ((uint64_t)n_buffers + 2);
    uint64_t at = l.metadata + 4 + 4 * ((uint64_t)n_kept + 2);
    for (int i = 0; i < 2; i++) {
        l.buffer_table[i] = at;
        l.entry[i] = at + BUFFER_TABLE_SIZE;
        l.name[i] = l.entry[i] + METADATA_TABLE_SIZE;
        at = arn_aligned(l.name[i] + 4 + strlen(entry_names[i]) + 1, 4);
    }
    for (int i = 0; i < 2; i++) {
        l.data[i] = arn_aligned(at + 4, DATA_ALIGN);
        at = l.data[i] + data_size[i];
    }
    l.size = arn_aligned(at, PREFIX_ALIGN);
    return l;
}

static void put_model(arn_tflite_model *model, const layout *l, uint8_t *prefix) {
    put_offset(prefix, 0, MODEL_TABLE);
    memcpy(prefix + 4, TFLITE_IDENTIFIER, 4);
    put_vtable(prefix, MODEL_VTABLE, MODEL_SLOTS);
    put_vtable(prefix, BUFFER_VTABLE, 1);
    put_vtable(prefix, METADATA_VTABLE, 2);
    arn_store_u32(prefix + MODEL_TABLE, MODEL_TABLE - MODEL_VTABLE);
    for (unsigned slot = 0; slot < MODEL_SLOTS; slot++) {
        const size_t at = MODEL_TABLE + 4 + 4 * slot;
        const size_t field = arn_fb_field(&model->fb, model->root, slot, 4);
        if (slot == MODEL_VERSION) {
            arn_store_u32(prefix + at, TFLITE_VERSION);
        } else if (slot == MODEL_BUFFERS) {
            put_offset(prefix, at, BUFFERS_VECTOR);
        } else if (slot == MODEL_METADATA) {
            put_offset(prefix, at, l->metadata);
        } else if (field != 0) {
            const arn_fb_vector old = arn_fb_vector_field(&model->fb, model->root, slot, 1);
            put_offset(prefix, at, l->size + old.at - 4);
        } else {
            store_u16(prefix + MODEL_VTABLE + 4 + 2 * slot, 0);
        }
    }
}

static void put_vectors(arn_tflite_model *model, const layout *l, uint32_t n_kept,
                        uint8_t *prefix) {
    uint64_t at = BUFFERS_VECTOR;
    arn_store_u32(prefix + at, model->buffers.count + 2);
    for (uint32_t i = 0; i < model->buffers.count; i++) {
        const arn_fb_table old = arn_fb_item_table(&model->fb, model->buffers, i);
        put_offset(prefix, at += 4, l->size + old.at);
    }
    for (int i = 0; i < 2; i++) put_offset(prefix, at += 4, l->buffer_table[i]);
    at = l->metadata;
    arn_store_u32(prefix + at, n_kept + 2);
    for (uint32_t i = 0; i < model->metadata.count; i++) {
        if (is_replaced(model, i)) continue;
        const arn_fb_table old = arn_fb_item_table(&model->fb, model->metadata, i);
        put_offset(prefix, at += 4, l->size + old.at);
    }
    for (int i = 0; i < 2; i++) put_offset(prefix, at += 4, l->entry[i]);
}

/* The plan's and the mark's Buffer and Metadata tables, with name and contents. */
static void put_entry(const layout *l, int which, uint32_t buffer, const uint8_t *data, size_t size,
                      uint8_t *prefix) {
    const size_t length = strlen(entry_names[which]);
    const uint64_t table = l->buffer_table[which], entry = l->entry[which];
    arn_store_u32(prefix + table, (uint32_t)(table - BUFFER_VTABLE));
    put_offset(prefix, table + 4, l->data[which] - 4);
    arn_store_u32(prefix + entry, (uint32_t)(entry - METADATA_VTABLE));
    put_offset(prefix, entry + 4, l->name[which]);
    arn_store_u32(prefix + entry + 8, buffer);
    arn_store_u32(prefix + l->name[which], (uint32_t)length);
    memcpy(prefix + l->name[which] + 4, entry_names[which], length);
    arn_store_u32(prefix + l->data[which] - 4, (uint32_t)size);
    memcpy(prefix + l->data[which], data, size);
}

/* Fields that a later schema may have added cannot be carried over: whether they hold a
 * number or an offset, which would have to change, is not known. */
static arenaut_status check_fields(arn_tflite_model *model, arenaut_error *err) {
    for (unsigned slot = MODEL_SLOTS; 4 + 2 * slot < model->root.vtable_size; slot++) {
        if (arn_fb_field(&model->fb, model->root, slot, 1) == 0) continue;
        return arn_fail(err, ARENAUT_REFUSED, model->root.at,
                        "model: field %u is not known (fields 0 to %d are), so the model cannot "
                        "be given a plan",
                        slot, MODEL_SLOTS - 1);
    }
    if (model->buffers.count > 0) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, model->root.at,
                    "model: 0 buffers; the empty buffer 0 is needed to add a plan");
}

arenaut_status arn_tflite_make_prefix(arn_tflite_model *model, const uint8_t *plan,
                                      size_t plan_size, arn_tflite_mark *mark,
                                      const arenaut_allocator *allocator, uint8_t **prefix,
                                      arenaut_error *err) {
    const arenaut_status st = check_fields(model, err);
    if (st != ARENAUT_OK) return st;
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < model->metadata.count; i++) n_kept += !is_replaced(model, i);
    const layout l = lay_out(model->buffers.count, n_kept, plan_size);
    if (l.size + model->fb.size > INT32_MAX) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "the file has %zu bytes and would get %" PRIu64
                        " more; a flatbuffer ends at %d",
                        model->fb.size, l.size, INT32_MAX);
    }
    uint8_t *bytes = arn_allocate_zeroed(allocator, (size_t)l.size, 1);
    if (!bytes) return arn_no_memory(err);
    put_model(model, &l, bytes);
    put_vectors(model, &l, n_kept, bytes);
    put_entry(&l, 0, model->buffers.count, plan, plan_size, bytes);
    mark->prefix_size = l.size;
    mark->original_size = model->fb.size;
    uint8_t marked[ARN_TFLITE_MARK_SIZE];
    arn_tflite_store_mark(mark, marked);
    put_entry(&l, 1, model->buffers.count + 1, marked, sizeof marked, bytes);
    if (model->fb.wrong) {
        arn_release(allocator, bytes);
        return arn_fb_status(&model->fb, "model", err);
    }
    *prefix = bytes;
    return ARENAUT_OK;
}
