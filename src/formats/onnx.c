/* ONNX models. The format can hold no plan: ONNX Runtime plans when it loads a model. Plans are
 * written as JSON, CSV or a C header; the schedule of the nodes goes into the model, and tiles. The
 * parts lie in onnx/. */
#include "core/protobuf.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/onnx_schema.h"

/* Nothing marks these files, so the outermost fields must be those of a model: none unknown,
 * the version of the format among them, and a graph, which may be cut off. */
static bool recognise(const uint8_t *data, size_t size) {
    enum { NUMBER = 1 + ARN_PB_VARINT, BYTES = 1 + ARN_PB_BYTES };
    /* By number of the field; 0: there is no such field. */
    static const uint8_t types[] = {[1] = NUMBER, [2] = BYTES,  [3] = BYTES,  [4] = BYTES,
                                    [5] = NUMBER, [6] = BYTES,  [7] = BYTES,  [8] = BYTES,
                                    [14] = BYTES, [20] = BYTES, [25] = BYTES, [26] = BYTES};
    enum { FEW = 4096 }; /* fields to look at: most are functions */
    arn_pb message = arn_pb_open(data, (arn_pb_bytes){0, size});
    arn_pb_field field = {.number = 0};
    bool version = false, graph = false;
    for (unsigned i = 0; i < FEW && arn_pb_next(&message, &field); i++) {
        const bool known = field.number < sizeof types;
        if (!known || types[field.number] != 1 + (unsigned)field.type) return false;
        version = version || field.number == MODEL_IR_VERSION;
        graph = graph || field.number == MODEL_GRAPH;
    }
    /* A graph that goes past the end shows only in its tag. */
    return version && (graph || (message.wrong && field.number == MODEL_GRAPH));
}

static arenaut_status read_document(const uint8_t *data, size_t size,
                                    const arenaut_read_options *options,
                                    const arenaut_allocator *allocator, arenaut_document *out,
                                    arenaut_error *err) {
    return arn_onnx_read(data, size, options, allocator, &out->program, err);
}

extern const arenaut_format arn_format_onnx;
const arenaut_format arn_format_onnx = {
    .name = "onnx",
    .summary = "ONNX model; an order of its nodes goes inside, rematerialized ones, and tiles",
    .extensions = ".onnx",
    .recognise = recognise,
    .read = read_document,
    .write = arn_onnx_write,
    .needs_original = true,
    .holds_order = true,
    .holds_orders = true,
    .holds_repeats = true,
    .holds_tiles = true,
    .list_external = arn_onnx_list_external,
};
