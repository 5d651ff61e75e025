/* ONNX files that are not as they seem: each is refused by name, or read as it stands, in bounded
 * time and memory. */
#include "support/test.h"

#include <stdlib.h>
#include <time.h>

#include <arenaut/format.h>

#include "formats/onnx/onnx_schema.h"
#include "support/bytes.h"
#include "support/documents.h"
#include "support/drawn.h"
#include "support/onnx_round.h"
#include "support/sweep.h"
#include "support/wire.h"

/* ---- models made here ---- */

static void add_value(wire *graph, uint32_t field, const char *name, uint64_t dim) {
    wire w = {0}, type = {0}, tensor = {0}, shape = {0}, d = {0};
    wire_text(&w, VALUE_INFO_NAME, name);
    wire_number(&d, DIM_VALUE, dim);
    wire_message(&shape, SHAPE_DIM, &d);
    wire_number(&tensor, TENSOR_TYPE_ELEMENT, 1);
    wire_message(&tensor, TENSOR_TYPE_SHAPE, &shape);
    wire_message(&type, TYPE_TENSOR, &tensor);
    wire_message(&w, VALUE_INFO_TYPE, &type);
    wire_message(graph, field, &w);
}

/* Names separated by blanks; "-" is one left out. */
static void add_names(wire *node, uint32_t field, const char *names) {
    char text[200];
    snprintf(text, sizeof text, "%s", names);
    for (char *name = strtok(text, " "); name; name = strtok(NULL, " ")) {
        wire_text(node, field, strcmp(name, "-") == 0 ? "" : name);
    }
}

static wire new_node(const char *op, const char *inputs, const char *outputs) {
    wire node = {0};
    add_names(&node, NODE_INPUT, inputs);
    add_names(&node, NODE_OUTPUT, outputs);
    wire_text(&node, NODE_OP_TYPE, op);
    return node;
}

static void add_node(wire *graph, const char *op, const char *inputs, const char *outputs) {
    wire node = new_node(op, inputs, outputs);
    wire_message(graph, GRAPH_NODE, &node);
}

static void add_subgraph(wire *node, const char *name, wire *graph) {
    wire attribute = {0};
    wire_text(&attribute, ATTRIBUTE_NAME, name);
    wire_message(&attribute, ATTRIBUTE_G, graph);
    wire_message(node, NODE_ATTRIBUTE, &attribute);
}

/* Takes the graph. */
static wire model_of(wire *graph) {
    wire model = {0};
    wire_number(&model, MODEL_IR_VERSION, 8);
    wire_message(&model, MODEL_GRAPH, graph);
    return model;
}

/* Frees the model. */
static void assert_refused(wire *model, arenaut_status status, const char *part) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_read("onnx", model->bytes, model->size, NULL, &document, &err);
    if (st != status || err.code != status || !strstr(err.msg, part)) {
        fail_msg("\"%s\": %s; expected \"%s\"", arenaut_status_text(st), err.msg, part);
    }
    assert_null(document.program);
    wire_free(model);
}

static void assert_accepted(wire *model) {
    assert_true(onnx_property(model->bytes, model->size));
    wire_free(model);
}

static wire one_input(void) {
    wire graph = {0};
    add_value(&graph, GRAPH_INPUT, "x", 4);
    return graph;
}

/* ---- graphs ---- */

TEST(names_that_nothing_has_are_refused) {
    wire graph = one_input();
    add_node(&graph, "Add", "x ghost", "y");
    wire model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "node 0 of method 0: nothing is named 'ghost'");
    graph = one_input();
    add_value(&graph, GRAPH_OUTPUT, "nowhere", 4);
    model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "nothing is named 'nowhere'");
}

TEST(names_that_two_things_have_are_refused) {
    wire graph = one_input();
    add_node(&graph, "Relu", "x", "y");
    add_node(&graph, "Neg", "x", "y");
    wire model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "'y' is defined twice");
    graph = one_input();
    add_node(&graph, "Relu", "x", "x");
    model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "'x' is defined twice");
    graph = one_input();
    add_node(&graph, "Split", "x", "y y");
    model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "'y' is defined twice");
}

TEST(cycles_and_nodes_out_of_order_are_refused) {
    wire graph = one_input();
    add_node(&graph, "Add", "x b", "a");
    add_node(&graph, "Neg", "a", "b");
    wire model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "node 0 of method 0 uses 'b' before it is made");
    graph = one_input();
    add_node(&graph, "Add", "x a", "a");
    model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "uses 'a' before it is made");
}

TEST(a_node_without_an_operator_is_refused) {
    wire graph = one_input();
    add_node(&graph, "", "x", "y");
    wire model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "names no operator");
}

TEST(a_model_without_a_graph_is_refused) {
    wire model = {0};
    wire_number(&model, MODEL_IR_VERSION, 8);
    assert_refused(&model, ARENAUT_BAD_INPUT, "the model has no graph");
}

TEST(an_empty_graph_is_a_program_of_nothing) {
    wire graph = {0};
    wire_text(&graph, GRAPH_NAME, "empty");
    wire model = model_of(&graph);
    assert_accepted(&model);
}

/* ---- types and constants ---- */

TEST(unknown_types_and_senseless_shapes_are_refused) {
    wire graph = {0}, tensor = {0};
    wire_number(&tensor, TENSOR_DIMS, UINT64_MAX);
    wire_number(&tensor, TENSOR_DATA_TYPE, 1);
    wire_text(&tensor, TENSOR_NAME, "w");
    wire_message(&graph, GRAPH_INITIALIZER, &tensor);
    wire model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "constant 'w': dimension 0 is -1");
    wire_number(&tensor, TENSOR_DATA_TYPE, 99);
    wire_message(&graph, GRAPH_INITIALIZER, &tensor);
    model = model_of(&graph);
    assert_refused(&model, ARENAUT_UNSUPPORTED, "element type 99 is not known");
    for (int i = 0; i < 3; i++) wire_number(&tensor, TENSOR_DIMS, INT64_C(1) << 40);
    wire_number(&tensor, TENSOR_DATA_TYPE, 1);
    wire_message(&graph, GRAPH_INITIALIZER, &tensor);
    model = model_of(&graph);
    assert_refused(&model, ARENAUT_TOO_LARGE, "the product of the dimensions");
    add_value(&graph, GRAPH_INPUT, "x", INT64_MAX);
    model = model_of(&graph);
    assert_refused(&model, ARENAUT_TOO_LARGE, "'x'");
}

/* A rank in the millions costs the bytes that it has in the file, no more, and no op takes it. */
TEST(a_shape_of_a_hundred_thousand_sizes_is_no_danger) {
    wire graph = {0}, value = {0}, type = {0}, tensor = {0}, shape = {0};
    for (int i = 0; i < 100000; i++) {
        wire dim = {0};
        wire_number(&dim, DIM_VALUE, 1);
        wire_message(&shape, SHAPE_DIM, &dim);
    }
    wire_number(&tensor, TENSOR_TYPE_ELEMENT, 1);
    wire_message(&tensor, TENSOR_TYPE_SHAPE, &shape);
    wire_message(&type, TYPE_TENSOR, &tensor);
    wire_text(&value, VALUE_INFO_NAME, "x");
    wire_message(&value, VALUE_INFO_TYPE, &type);
    wire_message(&graph, GRAPH_INPUT, &value);
    add_node(&graph, "Relu", "x", "y");
    wire model = model_of(&graph);
    assert_accepted(&model);
}

/* ---- depth ---- */

/* A graph in a graph in a graph. */
static wire nested(unsigned depth) {
    wire graph = {0};
    add_node(&graph, "Relu", "x", "y");
    add_value(&graph, GRAPH_OUTPUT, "y", 4);
    for (unsigned i = 0; i < depth; i++) {
        wire outer = {0}, other = {0}, node = new_node("If", "flag", "y");
        add_node(&other, "Neg", "x", "y");
        add_value(&other, GRAPH_OUTPUT, "y", 4);
        add_subgraph(&node, "then_branch", &graph);
        add_subgraph(&node, "else_branch", &other);
        wire_message(&outer, GRAPH_NODE, &node);
        add_value(&outer, GRAPH_OUTPUT, "y", 4);
        graph = outer;
    }
    add_value(&graph, GRAPH_INPUT, "x", 4);
    add_value(&graph, GRAPH_INPUT, "flag", 1);
    return graph;
}

TEST(graphs_within_graphs_have_an_end) {
    wire graph = nested(50), model = model_of(&graph);
    assert_accepted(&model);
    graph = nested(70);
    model = model_of(&graph);
    assert_refused(&model, ARENAUT_UNSUPPORTED, "more than 60 deep");
}

static void add_function(wire *model, const char *name, const char *op, unsigned times) {
    wire function = {0};
    wire_text(&function, FUNCTION_NAME, name);
    wire_text(&function, FUNCTION_DOMAIN, "f");
    wire_text(&function, FUNCTION_INPUT, "a");
    wire_text(&function, FUNCTION_OUTPUT, "b");
    for (unsigned i = 0; i < times; i++) {
        char from[16], to[16];
        snprintf(from, sizeof from, i ? "v%u" : "a", i);
        snprintf(to, sizeof to, i + 1 < times ? "v%u" : "b", i + 1);
        wire node = new_node(op, from, to);
        if (strcmp(op, "Relu") != 0) wire_text(&node, NODE_DOMAIN, "f");
        wire_message(&function, FUNCTION_NODE, &node);
    }
    wire_message(model, MODEL_FUNCTIONS, &function);
}

static wire calling_model(void) {
    wire graph = one_input(), node = new_node("f0", "x", "y");
    wire_text(&node, NODE_DOMAIN, "f");
    wire_message(&graph, GRAPH_NODE, &node);
    return model_of(&graph);
}

TEST(functions_that_call_themselves_are_refused) {
    wire model = calling_model();
    add_function(&model, "f0", "f0", 1);
    assert_refused(&model, ARENAUT_UNSUPPORTED, "or themselves");
    model = calling_model();
    add_function(&model, "f0", "f1", 1);
    add_function(&model, "f1", "f0", 1);
    assert_refused(&model, ARENAUT_UNSUPPORTED, "or themselves");
}

/* Each of thirty functions calls the next ten times: 10^30 nodes from two kilobytes. */
TEST(functions_that_multiply_are_refused_at_once) {
    wire model = calling_model();
    for (unsigned i = 0; i < 30; i++) {
        char name[16], next[16];
        snprintf(name, sizeof name, "f%u", i);
        snprintf(next, sizeof next, "f%u", i + 1);
        add_function(&model, name, i < 29 ? next : "Relu", 10);
    }
    const clock_t before = clock();
    assert_refused(&model, ARENAUT_BAD_INPUT, "stands for a program more than");
    assert_true((clock() - before) / CLOCKS_PER_SEC < 5);
}

TEST(functions_defined_twice_or_called_wrongly_are_refused) {
    wire model = calling_model();
    add_function(&model, "f0", "Relu", 1);
    add_function(&model, "f0", "Relu", 2);
    assert_refused(&model, ARENAUT_BAD_INPUT, "function 'f0' is defined twice");
    wire graph = one_input(), node = new_node("f0", "x x", "y");
    wire_text(&node, NODE_DOMAIN, "f");
    wire_message(&graph, GRAPH_NODE, &node);
    model = model_of(&graph);
    add_function(&model, "f0", "Relu", 1);
    assert_refused(&model, ARENAUT_BAD_INPUT, "gives a function 2 inputs; it has 1");
}

/* ---- control flow ---- */

TEST(control_flow_that_does_not_fit_is_refused) {
    wire graph = one_input(), body = {0}, node = new_node("Loop", "- - x", "y");
    add_value(&body, GRAPH_INPUT, "turn", 1);
    add_value(&body, GRAPH_OUTPUT, "turn", 1);
    add_subgraph(&node, "body", &body);
    wire_message(&graph, GRAPH_NODE, &node);
    wire model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "fewer results than the loop carries");

    graph = one_input();
    add_node(&graph, "If", "x", "y");
    model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "has no graph 'then_branch'");

    graph = one_input();
    node = new_node("SequenceMap", "x", "y");
    add_value(&body, GRAPH_OUTPUT, "x", 4);
    add_subgraph(&node, "body", &body);
    wire_message(&graph, GRAPH_NODE, &node);
    model = model_of(&graph);
    assert_refused(&model, ARENAUT_UNSUPPORTED, "'SequenceMap' has a subgraph");
}

TEST(a_subgraph_may_not_use_what_is_made_after_it) {
    wire graph = one_input(), then = {0}, other = {0}, node = new_node("If", "x", "y");
    add_node(&then, "Relu", "later", "t");
    add_value(&then, GRAPH_OUTPUT, "t", 4);
    add_node(&other, "Relu", "x", "e");
    add_value(&other, GRAPH_OUTPUT, "e", 4);
    add_subgraph(&node, "then_branch", &then);
    add_subgraph(&node, "else_branch", &other);
    wire_message(&graph, GRAPH_NODE, &node);
    add_node(&graph, "Neg", "x", "later");
    wire model = model_of(&graph);
    assert_refused(&model, ARENAUT_BAD_INPUT, "its subgraph uses 'later', which is made later");
}

/* ---- the wire ---- */

TEST(broken_fields_are_refused_where_they_are) {
    static const struct {
        uint8_t bytes[14];
        size_t size;
        const char *told;
    } cases[] = {
        {{0x08, 0x08, 0x3A, 0x05, 0x00}, 5, "a length goes past the end"},
        {{0x08, 0x08, 0x3A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01},
         13,
         "a length goes past the end"},
        {{0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01},
         12,
         "more than ten bytes"},
        {{0x08, 0x08, 0x3B}, 3, "of an unknown kind"},
        {{0x08, 0x08, 0x02, 0x00}, 4, "no valid number"},
        {{0x08, 0x08, 0x3A}, 3, "a length is missing"},
        {{0x08}, 1, "cut off"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_document document = {0};
        arenaut_error err = {0};
        const arenaut_status st =
            try_read("onnx", cases[i].bytes, cases[i].size, NULL, &document, &err);
        if (st != ARENAUT_BAD_INPUT || !strstr(err.msg, cases[i].told)) {
            fail_msg("case %zu: %s: %s", i, arenaut_status_text(st), err.msg);
        }
    }
}

TEST(other_files_are_not_taken_for_models) {
    static const char *const texts[] = {"id,lower,upper,size\n1,0,2,3\n", "{\"schema\": 1}", "",
                                        "\x08"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        const arenaut_format *format =
            arenaut_format_recognise((const uint8_t *)texts[i], strlen(texts[i]));
        assert_true(!format || strcmp(format->name, "onnx") != 0);
    }
}

TEST(models_cut_short_or_with_flipped_bits_are_refused_or_read) {
    static const char *const names[] = {"control.onnx", "functions.onnx", "constants.onnx",
                                        "open_sizes.onnx"};
    const sweep s = {.property = onnx_property, .bits = drawn(8)};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes file = data_bytes("onnx/%s", names[i]);
        assert_true(onnx_property(file.data, file.size));
        (void)sweep_cuts(&s, file.data, file.size);
        /* Else nothing but the refusals was tested. */
        assert_true(sweep_flips(&s, file.data, file.size).accepted > 0);
        free_bytes(&file);
    }
}
