/* TensorFlow Lite models, as the micro runtime and LiteRT run them. A plan is put inside
 * as the metadata that the micro runtime obeys. The parts lie in tflite/. */
#include "core/flatbuffer.h"
#include "formats/tflite/tflite_schema.h"
#include "formats/tflite/tflite.h"

static bool recognise(const uint8_t *data, size_t size) {
    return arn_fb_identified(data, size, TFLITE_IDENTIFIER);
}

static arenaut_status read_document(const uint8_t *data, size_t size,
                                    const arenaut_read_options *options,
                                    const arenaut_allocator *allocator, arenaut_document *out,
                                    arenaut_error *err) {
    return arn_tflite_read(data, size, options, allocator, &out->program, err);
}

extern const arenaut_format arn_format_tflite;
const arenaut_format arn_format_tflite = {
    .name = "tflite",
    .summary = "TensorFlow Lite model; the plan goes inside, for the micro runtime",
    .extensions = ".tflite .lite",
    .recognise = recognise,
    .read = read_document,
    .write = arn_tflite_write,
    .needs_original = true,
    .holds_order = true,
    .holds_orders = true,
    .holds_repeats = true,
    .holds_tiles = true,
    .strip = arn_tflite_strip,
    .compact = arn_tflite_compact,
};
