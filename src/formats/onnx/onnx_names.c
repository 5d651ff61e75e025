/* The names of a graph of an ONNX model, so that fresh ones are others. */
#include "formats/onnx/onnx.h"
#include "formats/onnx/onnx_schema.h"

/* Texts of a message in which names may stand. */
static bool take_names(arn_fresh_names *fresh, const uint8_t *data, arn_pb_bytes bytes,
                       uint32_t number) {
    arn_pb message = arn_pb_open(data, bytes);
    arn_pb_field field;
    bool room = true;
    while (room && arn_pb_next(&message, &field)) {
        if (field.type != ARN_PB_BYTES || (number > 0 && field.number != number)) continue;
        room = arn_fresh_names_take(fresh, data + field.bytes.at, field.bytes.size);
    }
    return room;
}

bool arn_onnx_take_names(arn_fresh_names *fresh, const uint8_t *data, arn_pb_bytes graph) {
    arn_pb message = arn_pb_open(data, graph);
    arn_pb_field field;
    bool room = true;
    while (room && arn_pb_next(&message, &field)) {
        if (field.type != ARN_PB_BYTES) continue;
        const arn_pb_bytes of = field.bytes;
        if (field.number == GRAPH_NODE) room = take_names(fresh, data, of, 0);
        if (field.number == GRAPH_INITIALIZER) room = take_names(fresh, data, of, TENSOR_NAME);
        if (field.number == GRAPH_INPUT) room = take_names(fresh, data, of, VALUE_INFO_NAME);
    }
    return room;
}
