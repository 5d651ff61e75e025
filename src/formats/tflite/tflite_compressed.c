/* Constants that are stored compressed: the metadata of that name holds a flatbuffer of its own,
 * with a list of them for each subgraph. A runtime built with compression unpacks each into scratch
 * before an op reads it; others would compute with the stored bytes. */
#include <inttypes.h>

#include "core/fail.h"
#include "formats/tflite/tflite_reader.h"
#include "formats/tflite/tflite_schema.h"

arenaut_status arn_tflite_find_compressed(arn_tflite_reader *r) {
    uint32_t entry;
    const arn_fb_vector data = arn_tflite_metadata(&r->model, ARN_TFLITE_COMPRESSION_NAME, &entry);
    const arenaut_status st = arn_tflite_status(r);
    if (st != ARENAUT_OK || data.count == 0) return st;
    r->compression = arn_fb_open(r->model.fb.data + data.at, data.count);
    r->compressed = arn_fb_vector_field(&r->compression, arn_fb_root(&r->compression),
                                        COMPRESSION_SUBGRAPHS, 4);
    return arn_fb_status(&r->compression, "metadata '" ARN_TFLITE_COMPRESSION_NAME "'", r->err);
}

/* The values of such a constant are unknown. */
static void mark(arenaut_tensor *tensor) {
    tensor->compressed = true;
    tensor->n_values = 0;
    tensor->values = NULL;
}

arenaut_status arn_tflite_take_compressed(arn_tflite_reader *r) {
    arn_flatbuffer *fb = &r->compression;
    if (r->subgraph >= r->compressed.count) return ARENAUT_OK;
    const arn_fb_table graph = arn_fb_item_table(fb, r->compressed, r->subgraph);
    const arn_fb_vector list = arn_fb_vector_field(fb, graph, COMPRESSION_TENSORS, 4);
    arenaut_status st = arn_tflite_charge(r, list.count, 1);
    for (uint32_t i = 0; i < list.count && st == ARENAUT_OK && !fb->wrong; i++) {
        const arn_fb_table each = arn_fb_item_table(fb, list, i);
        const uint32_t tensor = arn_fb_u32(fb, each, COMPRESSED_TENSOR, 0);
        if (tensor < r->n_tensors) {
            mark(&r->program->tensors[r->first_tensor + tensor]);
        } else if (!fb->wrong) {
            st = arn_fail(r->err, ARENAUT_BAD_INPUT, each.at,
                          "metadata '%s': tensor %" PRIu32 " of subgraph %" PRIu32
                          "; that has %" PRIu32,
                          ARN_TFLITE_COMPRESSION_NAME, tensor, r->subgraph, r->n_tensors);
        }
    }
    if (st != ARENAUT_OK) return st;
    return arn_fb_status(fb, "metadata '" ARN_TFLITE_COMPRESSION_NAME "'", r->err);
}
