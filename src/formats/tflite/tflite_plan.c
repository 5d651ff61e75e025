/* The plan that a .tflite file holds: the metadata that the micro runtime obeys, and the
 * second entry by which we know our own plans again. */
#include <inttypes.h>
#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "formats/tflite/tflite.h"

/* The mark, in 96 bytes: version, flags, five numbers of 64 bits, two texts filled up with
 * zeroes. Its length never changes, so that a plan can be replaced where it lies. */
enum { MARK_VERSION = 1, ARCHIVE_MOVED = 1 };
enum { PLANNER_AT = 48, PLANNER_SIZE = 32, VERSION_AT = 80, VERSION_SIZE = 16 };

static void store_text(uint8_t *to, size_t size, const char *text) {
    for (size_t i = 0; i < size && text[i]; i++) to[i] = (uint8_t)text[i];
}

void arn_tflite_store_mark(const arn_tflite_mark *mark, uint8_t to[ARN_TFLITE_MARK_SIZE]) {
    const uint64_t numbers[] = {mark->fingerprint, mark->plan_hash, mark->prefix_size,
                                mark->original_size, mark->arena};
    memset(to, 0, ARN_TFLITE_MARK_SIZE);
    arn_store_u32(to, MARK_VERSION);
    arn_store_u32(to + 4, mark->archive_moved ? ARCHIVE_MOVED : 0);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        arn_store_u64(to + 8 + 8 * i, numbers[i]);
    }
    store_text(to + PLANNER_AT, PLANNER_SIZE, mark->planner);
    store_text(to + VERSION_AT, VERSION_SIZE, mark->version);
}

/* Marks of another version or length are not ours to understand: false. */
static bool load_mark(const arn_flatbuffer *fb, arn_fb_vector data, arn_tflite_mark *mark) {
    arn_cursor cursor = arn_cursor_at(fb->data, fb->size, data.at);
    if (data.count != ARN_TFLITE_MARK_SIZE || arn_take_u32(&cursor) != MARK_VERSION) return false;
    mark->archive_moved = (arn_take_u32(&cursor) & ARCHIVE_MOVED) != 0;
    mark->fingerprint = arn_take_u64(&cursor);
    mark->plan_hash = arn_take_u64(&cursor);
    mark->prefix_size = arn_take_u64(&cursor);
    mark->original_size = arn_take_u64(&cursor);
    mark->arena = arn_take_u64(&cursor);
    memset(mark->planner, 0, sizeof mark->planner);
    memset(mark->version, 0, sizeof mark->version);
    memcpy(mark->planner, fb->data + data.at + PLANNER_AT, PLANNER_SIZE);
    memcpy(mark->version, fb->data + data.at + VERSION_AT, VERSION_SIZE);
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
