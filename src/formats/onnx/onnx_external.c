/* Files beside an ONNX model that hold numbers of its constants: the locations of external data of
 * all tensors, of the graph, of graphs within nodes and of functions. A location is relative to the
 * folder of the model. One walk over the messages that lead to tensors, as a table lists them. */
#include <string.h>

#include "core/protobuf.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_schema.h"

typedef enum message { MODEL, GRAPH, FUNCTION, NODE, ATTRIBUTE, SPARSE, TENSOR, ENTRY } message;

/* Field `number` of a message holds another one. */
static const struct {
    message in;
    uint32_t number;
    message part;
} parts[] = {
    {MODEL, MODEL_GRAPH, GRAPH},
    {MODEL, MODEL_FUNCTIONS, FUNCTION},
    {GRAPH, GRAPH_NODE, NODE},
    {GRAPH, GRAPH_INITIALIZER, TENSOR},
    {GRAPH, GRAPH_SPARSE_INITIALIZER, SPARSE},
    {FUNCTION, FUNCTION_NODE, NODE},
    {FUNCTION, FUNCTION_ATTRIBUTE_DEFAULT, ATTRIBUTE},
    {NODE, NODE_ATTRIBUTE, ATTRIBUTE},
    {ATTRIBUTE, ATTRIBUTE_T, TENSOR},
    {ATTRIBUTE, ATTRIBUTE_TENSORS, TENSOR},
    {ATTRIBUTE, ATTRIBUTE_G, GRAPH},
    {ATTRIBUTE, ATTRIBUTE_GRAPHS, GRAPH},
    {ATTRIBUTE, ATTRIBUTE_SPARSE_TENSOR, SPARSE},
    {ATTRIBUTE, ATTRIBUTE_SPARSE_TENSORS, SPARSE},
    {SPARSE, SPARSE_VALUES, TENSOR},
    {SPARSE, SPARSE_INDICES, TENSOR},
    {TENSOR, TENSOR_EXTERNAL_DATA, ENTRY},
};

/* Messages within messages of a file that can be read: three for each graph in another one. */
enum { DEEPEST = 3 * ARN_ONNX_DEPTH + 8 };

typedef struct listing {
    const uint8_t *data;
    arenaut_external_fn *each;
    void *context;
} listing;

static bool is_text(const listing *l, arn_pb_bytes bytes, const char *text) {
    return bytes.size == strlen(text) && memcmp(l->data + bytes.at, text, bytes.size) == 0;
}

/* A pair of a key and a value. */
static void tell(const listing *l, arn_pb_bytes entry) {
    arn_pb pair = arn_pb_open(l->data, entry);
    arn_pb_bytes key = {0}, value = {0};
    arn_pb_field field;
    while (arn_pb_next(&pair, &field)) {
        if (arn_pb_is(&field, ENTRY_KEY, ARN_PB_BYTES)) key = field.bytes;
        if (arn_pb_is(&field, ENTRY_VALUE, ARN_PB_BYTES)) value = field.bytes;
    }
    if (is_text(l, key, "location") && value.size > 0) {
        l->each(l->context, (const char *)l->data + value.at, value.size);
    }
}

/* What a tensor says of external data counts only if its numbers are there. */
static bool has_numbers_here(const listing *l, message in, arn_pb_bytes bytes) {
    arn_pb tensor = arn_pb_open(l->data, bytes);
    arn_pb_field field;
    bool external = false;
    while (in == TENSOR && arn_pb_next(&tensor, &field)) {
        if (arn_pb_is(&field, TENSOR_DATA_LOCATION, ARN_PB_VARINT)) external = field.value == 1;
    }
    return in == TENSOR && !external;
}

/* NOLINTNEXTLINE(misc-no-recursion): at most DEEPEST deep. */
static void walk(const listing *l, message in, arn_pb_bytes bytes, uint32_t depth) {
    arn_pb at = arn_pb_open(l->data, bytes);
    arn_pb_field field;
    if (in == ENTRY) tell(l, bytes);
    if (in == ENTRY || depth == DEEPEST || has_numbers_here(l, in, bytes)) return;
    while (arn_pb_next(&at, &field)) {
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            if (parts[i].in != in || !arn_pb_is(&field, parts[i].number, ARN_PB_BYTES)) continue;
            walk(l, parts[i].part, field.bytes, depth + 1);
        }
    }
}

void arn_onnx_list_external(const uint8_t *data, size_t size, arenaut_external_fn *each,
                            void *context) {
    const listing l = {data, each, context};
    walk(&l, MODEL, (arn_pb_bytes){0, size}, 0);
}
