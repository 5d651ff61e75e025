/* The outermost table of a .tflite file, and its vectors. Metadata of one name is searched from the
 * end, as the micro runtime obeys the last. */
#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "formats/tflite/tflite_schema.h"
#include "formats/tflite/tflite.h"

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
