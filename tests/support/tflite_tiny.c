#include "support/tflite_tiny.h"

#include "formats/tflite/tflite_schema.h"
#include "support/test.h"

enum { FLOAT32 = 0, INT8 = 9, CALL_ONCE_OPTIONS = 103 };

static size_t add_tensor(flatfile *f, size_t tensors, unsigned index, const char *name,
                         const int32_t *shape, uint32_t rank) {
    const size_t tensor = flat_item(f, tensors, index, TENSOR_EXTERNAL_BUFFER + 1);
    if (name) flat_text(f, tensor, TENSOR_NAME, name);
    flat_numbers(f, tensor, TENSOR_SHAPE, shape, rank);
    return tensor;
}

static void add_main(tflite_tiny *t) {
    static const int32_t shape[] = {4, 8};
    static const int32_t first = 0, second = 1;
    flatfile *f = t->file;
    const size_t graph = flat_item(f, t->subgraphs, 0, 5);
    flat_text(f, graph, SUBGRAPH_NAME, "main");
    const size_t tensors = flat_vector(f, graph, SUBGRAPH_TENSORS, 4, 2);
    t->tensor_a = add_tensor(f, tensors, 0, "a", shape, 2);
    t->type_a = flat_number(f, t->tensor_a, TENSOR_TYPE, 1, FLOAT32);
    t->shape_a = flat_numbers(f, t->tensor_a, TENSOR_SHAPE, shape, 2);
    add_tensor(f, tensors, 1, "b", shape, 2);
    t->inputs = flat_numbers(f, graph, SUBGRAPH_INPUTS, &first, 1);
    t->outputs = flat_numbers(f, graph, SUBGRAPH_OUTPUTS, &second, 1);
    t->operators = flat_vector(f, graph, SUBGRAPH_OPERATORS, 4, 2);
    t->relu = flat_item(f, t->operators, 0, 13);
    t->relu_opcode = flat_number(f, t->relu, OPERATOR_CODE, 4, 0);
    t->relu_inputs = flat_numbers(f, t->relu, OPERATOR_INPUTS, &first, 1);
    t->relu_outputs = flat_numbers(f, t->relu, OPERATOR_OUTPUTS, &second, 1);
    const size_t call = flat_item(f, t->operators, 1, 13);
    flat_number(f, call, OPERATOR_CODE, 4, 1);
    t->call_options_type = flat_number(f, call, OPERATOR_OPTIONS_TYPE, 1, CALL_ONCE_OPTIONS);
    const size_t options = flat_table(f, call, OPERATOR_OPTIONS_TYPE + 1, 1);
    t->call_subgraph = flat_number(f, options, 0, 4, 1);
}

static void add_init(tflite_tiny *t) {
    static const int32_t shape = 2, first = 0, second = 1;
    flatfile *f = t->file;
    const size_t graph = flat_item(f, t->subgraphs, 1, 5);
    flat_text(f, graph, SUBGRAPH_NAME, "init");
    const size_t tensors = flat_vector(f, graph, SUBGRAPH_TENSORS, 4, 2);
    for (unsigned i = 0; i < 2; i++) {
        const size_t tensor = add_tensor(f, tensors, i, NULL, &shape, 1);
        flat_number(f, tensor, TENSOR_TYPE, 1, INT8);
        if (i == 0) t->buffer_c = flat_number(f, tensor, TENSOR_BUFFER, 4, 1);
        t->tensor_d = tensor; /* the last one */
    }
    const size_t operators = flat_vector(f, graph, SUBGRAPH_OPERATORS, 4, 1);
    const size_t relu = flat_item(f, operators, 0, 13);
    flat_numbers(f, relu, OPERATOR_INPUTS, &first, 1);
    flat_numbers(f, relu, OPERATOR_OUTPUTS, &second, 1);
}

/* Buffer 0 is empty, 1 holds the constant, 2 the plan. */
static void add_data(tflite_tiny *t) {
    static const int32_t plan[] = {0, 2, 4, 0, 128, 0, -1};
    flatfile *f = t->file;
    t->buffers = flat_vector(f, t->model, MODEL_BUFFERS, 4, 3);
    flat_item(f, t->buffers, 0, 3);
    t->constant = flat_item(f, t->buffers, 1, 3);
    flat_vector(f, t->constant, BUFFER_DATA, 1, 2);
    const size_t data = flat_item(f, t->buffers, 2, 3);
    t->plan_data = flat_vector(f, data, BUFFER_DATA, 1, sizeof plan);
    for (unsigned i = 0; i < COUNT_OF(plan); i++) {
        flat_store(f, t->plan_data + 4 * (size_t)i, 4, (uint32_t)plan[i]);
    }
    const size_t metadata = flat_vector(f, t->model, MODEL_METADATA, 4, 1);
    t->plan = flat_item(f, metadata, 0, 2);
    flat_text(f, t->plan, METADATA_NAME, "OfflineMemoryAllocation");
    flat_number(f, t->plan, METADATA_BUFFER, 4, 2);
}

tflite_tiny new_tflite_tiny(void) {
    tflite_tiny t = {.file = new_flatfile(TFLITE_IDENTIFIER)};
    flatfile *f = t.file;
    t.model = flat_root(f, 11);
    t.version = flat_number(f, t.model, MODEL_VERSION, 4, TFLITE_VERSION);
    const size_t codes = flat_vector(f, t.model, MODEL_OPERATOR_CODES, 4, 2);
    const size_t relu = flat_item(f, codes, 0, 4), call = flat_item(f, codes, 1, 4);
    t.code = relu;
    t.relu_code = flat_number(f, relu, CODE_DEPRECATED_BUILTIN, 1, 19);
    t.call_code = flat_number(f, call, CODE_BUILTIN, 4, BUILTIN_CALL_ONCE);
    t.subgraphs = flat_vector(f, t.model, MODEL_SUBGRAPHS, 4, 2);
    add_main(&t);
    add_init(&t);
    add_data(&t);
    return t;
}
