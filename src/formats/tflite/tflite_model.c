/* The outermost table of a .tflite file, its vectors and its metadata, and the plan that these
 * hold. */
#include <inttypes.h>
#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "formats/tflite/tflite.h"
#include "formats/tflite/tflite_schema.h"

arenaut_status arn_tflite_open(const uint8_t *data, size_t size, arn_tflite_model *model,
                               arenaut_error *err) {
    if (!arn_fb_identified(data, size, TFLITE_IDENTIFIER)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, size >= 8 ? 4 : 0,
                        "not a .tflite file: bytes 4 to 7 must be '%s' (the file has %zu bytes)",
                        TFLITE_IDENTIFIER, size);
    }
    model->fb = arn_fb_open(data, size);
    arn_flatbuffer *fb = &model->fb;
    model->root = arn_fb_root(fb);
    model->operator_codes = arn_fb_vector_field(fb, model->root, MODEL_OPERATOR_CODES, 4);
    model->subgraphs = arn_fb_vector_field(fb, model->root, MODEL_SUBGRAPHS, 4);
    model->buffers = arn_fb_vector_field(fb, model->root, MODEL_BUFFERS, 4);
    model->metadata = arn_fb_vector_field(fb, model->root, MODEL_METADATA, 4);
    model->signatures = arn_fb_vector_field(fb, model->root, MODEL_SIGNATURES, 4);
    const uint32_t version = arn_fb_u32(fb, model->root, MODEL_VERSION, 0);
    if (fb->wrong) return arn_fb_status(fb, "model", err);
    if (version != TFLITE_VERSION) {
        return arn_fail(err, ARENAUT_UNSUPPORTED, model->root.at,
                        "model: schema version %" PRIu32 "; only version %d is supported", version,
                        TFLITE_VERSION);
    }
    if (model->subgraphs.count == 0) {
        return arn_fail(err, ARENAUT_BAD_INPUT, model->root.at,
                        "model: 0 subgraphs; at least the main one is needed");
    }
    return ARENAUT_OK;
}

arn_fb_vector arn_tflite_buffer_data(arn_tflite_model *model, uint32_t buffer) {
    const arn_fb_vector absent = {0, 0};
    if (buffer >= model->buffers.count) return absent;
    const arn_fb_table table = arn_fb_item_table(&model->fb, model->buffers, buffer);
    return arn_fb_vector_field(&model->fb, table, BUFFER_DATA, 1);
}

bool arn_tflite_metadata_is(arn_tflite_model *model, uint32_t index, const char *name) {
    const arn_fb_table entry = arn_fb_item_table(&model->fb, model->metadata, index);
    const arn_fb_vector text = arn_fb_vector_field(&model->fb, entry, METADATA_NAME, 1);
    return text.count == strlen(name) && text.count > 0 &&
           memcmp(model->fb.data + text.at, name, text.count) == 0;
}

arn_fb_vector arn_tflite_metadata(arn_tflite_model *model, const char *name, uint32_t *index) {
    for (uint32_t i = model->metadata.count; i > 0; i--) {
        if (!arn_tflite_metadata_is(model, i - 1, name)) continue;
        const arn_fb_table entry = arn_fb_item_table(&model->fb, model->metadata, i - 1);
        *index = i - 1;
        return arn_tflite_buffer_data(model, arn_fb_u32(&model->fb, entry, METADATA_BUFFER, 0));
    }
    *index = ARENAUT_NONE;
    const arn_fb_vector absent = {0, 0};
    return absent;
}

arenaut_status arn_tflite_count_tensors(arn_tflite_model *model, uint64_t *total,
                                        arenaut_error *err) {
    arn_flatbuffer *fb = &model->fb;
    *total = 0;
    for (uint32_t s = 0; s < model->subgraphs.count; s++) {
        const arn_fb_table table = arn_fb_item_table(fb, model->subgraphs, s);
        *total += arn_fb_vector_field(fb, table, SUBGRAPH_TENSORS, 4).count;
    }
    if (fb->wrong) return arn_fb_status(fb, "model", err);
    if (*total < ARENAUT_NONE) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                    "model: %" PRIu64 " tensors; fewer than %" PRIu32 " can be numbered", *total,
                    ARENAUT_NONE);
}

/* The plan that a .tflite file holds: the metadata that the micro runtime obeys, and the
 * second entry by which we know our own plans again. */

/* The mark, little-endian; texts are filled up with zeroes. Its length never changes within a
 * version, so that a plan can be replaced where it lies. Version 1 ended after 96 bytes, and knew
 * the first flag only (docs/formats.md).
 *
 *     0    version, 32 bits          48   planner, 32 bytes
 *     4    flags, 8 bits; checksum   80   version of arenaut, 16 bytes
 *     8    fingerprint, 64 bits      96   kernel set, its fingerprint, 64 bits
 *     16   hash of the plan          104  kernel set, its name, 32 bytes
 *     24   bytes put in front        136  end
 *     32   bytes of the original
 *     40   bytes of the arena */
enum { MARK_VERSION = 2, ARCHIVE_MOVED = 1, UNMEASURED = 2, CHECKSUM_SHIFT = 8 };
enum {
    PLANNER_AT = 48,
    VERSION_AT = 80,
    FIRST_MARK_SIZE = 96,
    KERNELS_AT = 96,
    KERNELS_NAME_AT = 104,
};
enum { PLANNER_SIZE = 32, VERSION_SIZE = 16, KERNELS_NAME_SIZE = 32 };

static void store_text(uint8_t *to, size_t size, const char *text) {
    for (size_t i = 0; i < size && text[i]; i++) to[i] = (uint8_t)text[i];
}

/* `to` has room for a NUL as well. */
static void load_text(char *to, size_t size, const uint8_t *from) {
    memcpy(to, from, size);
    to[size] = '\0';
}

void arn_tflite_store_mark(const arn_tflite_mark *mark, uint8_t to[ARN_TFLITE_MARK_SIZE]) {
    const uint64_t numbers[] = {mark->fingerprint, mark->plan_hash, mark->prefix_size,
                                mark->original_size, mark->arena};
    memset(to, 0, ARN_TFLITE_MARK_SIZE);
    arn_store_u32(to, MARK_VERSION);
    arn_store_u32(to + 4, (mark->archive_moved ? ARCHIVE_MOVED : 0u) |
                              (mark->unmeasured ? UNMEASURED : 0u) |
                              mark->checksum << CHECKSUM_SHIFT);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        arn_store_u64(to + 8 + 8 * i, numbers[i]);
    }
    store_text(to + PLANNER_AT, PLANNER_SIZE, mark->planner);
    store_text(to + VERSION_AT, VERSION_SIZE, mark->version);
    arn_store_u64(to + KERNELS_AT, mark->kernels_fingerprint);
    store_text(to + KERNELS_NAME_AT, KERNELS_NAME_SIZE, mark->kernels);
}

uint32_t arn_tflite_checksum(uint64_t hash) {
    return (uint32_t)(hash ^ hash >> 24 ^ hash >> 48) & 0xFFFFFF;
}

/* Marks of another version or length are not ours to understand: false. */
static bool load_mark(const arn_flatbuffer *fb, arn_fb_vector data, arn_tflite_mark *mark) {
    arn_cursor cursor = arn_cursor_at(fb->data, fb->size, data.at);
    if (data.count != FIRST_MARK_SIZE && data.count != ARN_TFLITE_MARK_SIZE) return false;
    const bool names_kernels = data.count == ARN_TFLITE_MARK_SIZE;
    if (arn_take_u32(&cursor) != (names_kernels ? MARK_VERSION : 1)) return false;
    const uint8_t *bytes = fb->data + data.at;
    const uint32_t flags = arn_take_u32(&cursor);
    *mark = (arn_tflite_mark){.archive_moved = (flags & ARCHIVE_MOVED) != 0};
    mark->fingerprint = arn_take_u64(&cursor);
    mark->plan_hash = arn_take_u64(&cursor);
    mark->prefix_size = arn_take_u64(&cursor);
    mark->original_size = arn_take_u64(&cursor);
    mark->arena = arn_take_u64(&cursor);
    load_text(mark->planner, PLANNER_SIZE, bytes + PLANNER_AT);
    load_text(mark->version, VERSION_SIZE, bytes + VERSION_AT);
    if (!names_kernels) return true;
    cursor = arn_cursor_at(fb->data, fb->size, data.at + KERNELS_AT);
    mark->kernels_fingerprint = arn_take_u64(&cursor);
    mark->unmeasured = (flags & UNMEASURED) != 0;
    mark->checksum = flags >> CHECKSUM_SHIFT;
    load_text(mark->kernels, KERNELS_NAME_SIZE, bytes + KERNELS_NAME_AT);
    return true;
}

arenaut_status arn_tflite_find_plan(arn_tflite_model *model, uint64_t n_tensors,
                                    arn_tflite_plan *plan, arenaut_error *err) {
    memset(plan, 0, sizeof *plan);
    uint32_t entry, mark_entry;
    const arn_fb_vector data = arn_tflite_metadata(model, ARN_TFLITE_PLAN_NAME, &entry);
    const arn_fb_vector mark = arn_tflite_metadata(model, ARN_TFLITE_MARK_NAME, &mark_entry);
    if (model->fb.wrong) return arn_fb_status(&model->fb, "metadata", err);
    if (entry == ARENAUT_NONE) return ARENAUT_OK;
    if (data.count < ARN_TFLITE_PLAN_HEAD) {
        return arn_fail(err, ARENAUT_BAD_INPUT, data.at,
                        "metadata '%s': %" PRIu32 " bytes; at least %d are needed",
                        ARN_TFLITE_PLAN_NAME, data.count, ARN_TFLITE_PLAN_HEAD);
    }
    arn_cursor cursor = arn_cursor_at(model->fb.data, model->fb.size, data.at + 8);
    const uint32_t count = arn_take_u32(&cursor);
    if (count != n_tensors) {
        return arn_fail(err, ARENAUT_BAD_INPUT, data.at + 8,
                        "metadata '%s' holds %" PRIu32
                        " offsets; it must hold one for each of "
                        "the model's %" PRIu64 " tensors",
                        ARN_TFLITE_PLAN_NAME, count, n_tensors);
    }
    if ((data.count - ARN_TFLITE_PLAN_HEAD) / 4 < count) {
        return arn_fail(err, ARENAUT_BAD_INPUT, data.at,
                        "metadata '%s': %" PRIu32 " bytes; %" PRIu32 " offsets need %" PRIu64,
                        ARN_TFLITE_PLAN_NAME, data.count, count,
                        ARN_TFLITE_PLAN_HEAD + (uint64_t)count * 4);
    }
    plan->data = data;
    plan->offsets = cursor.at;
    plan->n_offsets = count;
    if (load_mark(&model->fb, mark, &plan->mark)) plan->mark_data = mark;
    return ARENAUT_OK;
}
