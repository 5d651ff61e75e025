/* TVM graphs: reading, the need of the file's own storage ids, and writing. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/tokens.h>

#include "support/bytes.h"
#include "support/corpus.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/random.h"
#include "support/sweep.h"
#include "support/tvm_round.h"

#define GRAPH(name) TEST_DATA "/tvm/" name ".json"

static arenaut_pipeline *open_graph(const bytes *file, const char *target, const char *planner) {
    arenaut_pipeline *round = NULL;
    arenaut_error err = {0};
    assert_ok(tvm_open(file->data, file->size, target, planner, NULL, &round, &err), err);
    return round;
}

static arenaut_text write_graph(const arenaut_pipeline *round) {
    arenaut_text text;
    arenaut_error err = {0};
    assert_ok(tvm_write(round, NULL, &text, &err), err);
    return text;
}

/* ---- reading ---- */

TEST(nodes_become_ops_and_entries_tensors) {
    bytes file = read_bytes(GRAPH("views"));
    arenaut_pipeline *round = open_graph(&file, "tvm", "auto");
    const arenaut_program *p = round->document.program;
    const arenaut_tensor *t = p->tensors;
    assert_int_equal(p->n_tensors, 10);
    assert_int_equal(p->n_ops, 7);
    assert_string_equal(p->dialect, "tvm");
    assert_int_equal(t[0].cls, ARENAUT_INPUT);
    assert_true(t[0].caller_owned && t[1].caller_owned && !t[2].caller_owned);
    assert_string_equal(t[4].name, "split:0");
    assert_string_equal(t[5].name, "split:1");
    assert_string_equal(p->ops[0].name, "fused_conv2d");
    assert_string_equal(p->ops[0].source, "conv");
    assert_int_equal(p->ops[1].kind, ARENAUT_OP_VIEW);
    assert_int_equal(t[3].view_of, 2);
    assert_int_equal(t[2].bytes, 256);
    assert_int_equal(t[9].bytes, 1); /* a scalar of one bit takes a byte */
    assert_int_equal(p->methods[0].n_inputs, 2);
    assert_int_equal(p->methods[0].n_outputs, 2);
    /* The file's own blocks, end to end: 2 and its view, 3, 4 and so on. */
    assert_int_equal(tvm_bytes_now(round), 256 + 128 + 128 + 128 + 32 + 128 + 1);
    assert_int_equal(t[3].given_offset, 0);
    assert_int_equal(t[4].given_offset, 256);
    assert_true(t[0].given_offset == ARENAUT_UNPLACED);
    arenaut_pipeline_free(round);
    free_bytes(&file);
}

TEST(older_graphs_leave_arguments_without_ids) {
    bytes file = read_bytes(GRAPH("nnvm"));
    arenaut_pipeline *round = open_graph(&file, "tvm", "auto");
    const arenaut_program *p = round->document.program;
    assert_true(p->tensors[0].caller_owned && p->tensors[1].caller_owned);
    assert_int_equal(tvm_bytes_now(round), 192); /* by the file itself */
    assert_int_equal(p->ops[1].n_in_place, 1);
    assert_int_equal(p->ops[1].in_place[0].input, 0);
    arenaut_pipeline_free(round);
    free_bytes(&file);
}

/* Of int4 each element takes a byte, and of int8x4 four: the runtime packs lanes only. Values in a
 * texture are left there. */
TEST(devices_have_memories_of_their_own) {
    bytes file = read_bytes(GRAPH("devices"));
    arenaut_pipeline *round = open_graph(&file, "tvm", "auto");
    const arenaut_program *p = round->document.program;
    const arenaut_method *main = &p->methods[0];
    assert_int_equal(main->n_given_pools, 2);
    assert_int_equal(main->given_pools[0].device.type, 2);
    assert_int_equal(main->given_pools[0].bytes, 100 + 100 + 30);
    assert_int_equal(main->given_pools[1].device.type, 1);
    assert_int_equal(main->given_pools[1].bytes, 20 + 20);
    assert_int_equal(p->tensors[2].bytes, 100);
    assert_int_equal(p->tensors[3].bytes, 30);
    assert_true(p->tensors[4].caller_owned);
    assert_int_equal(round->plan->n_pools, 2);
    assert_int_equal(round->plan->total, 200 + 40); /* 30 of the 100 are used again */
    arenaut_pipeline_free(round);
    free_bytes(&file);
}

TEST(dimensions_of_zero_need_no_bytes) {
    const char *const text =
        "{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []},\n"
        "  {\"op\": \"tvm_op\", \"name\": \"a\", \"attrs\": {\"num_outputs\": \"1\"},"
        " \"inputs\": [[0, 0, 0]]}],\n"
        " \"arg_nodes\": [0], \"heads\": [[1, 0, 0]], \"node_row_ptr\": [0, 1, 2],\n"
        " \"attrs\": {\"dltype\": [\"list_str\", [\"float32\", \"float32\"]],\n"
        "  \"storage_id\": [\"list_int\", [0, 1]],\n"
        "  \"shape\": [\"list_shape\", [[1], [3, 0, 2]]]}}";
    bytes file = copy_bytes(text, strlen(text));
    arenaut_pipeline *round = open_graph(&file, "tvm", "auto");
    assert_int_equal(round->document.program->tensors[1].bytes, 0);
    assert_int_equal(round->plan->total, 0);
    arenaut_text written = write_graph(round);
    assert_string_equal(written.bytes, text);
    arenaut_text_free(&written);
    arenaut_pipeline_free(round);
    free_bytes(&file);
}

TEST(a_graph_is_told_from_other_json) {
    static const struct {
        const char *text, *format;
    } cases[] = {
        {"{\"nodes\": [], \"arg_nodes\": [], \"heads\": []}", "tvm-json"},
        {" {\"heads\": [{\"x\": [1]}], \"nodes\": 0, \"arg_nodes\": null}", "tvm-json"},
        {"{\"nodes\": [], \"heads\": []}", NULL},
        {"{\"a\": {\"nodes\": [], \"arg_nodes\": [], \"heads\": []}}", NULL},
        {"[\"nodes\", \"arg_nodes\", \"heads\"]", NULL},
        {"{\"schema\": \"arenaut.program/1\", \"nodes\": 1, \"arg_nodes\": 1, \"heads\": 1}",
         "program-json"},
        {"{\"nodes\": [], \"arg_nodes\": [], \"heads", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const arenaut_format *format =
            arenaut_format_recognise((const uint8_t *)cases[i].text, strlen(cases[i].text));
        if (!cases[i].format) {
            assert_null(format);
        } else {
            assert_non_null(format);
            assert_string_equal(format->name, cases[i].format);
        }
    }
}

/* ---- refusals ---- */

static char *with_change(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    assert_non_null(at);
    char *changed = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(changed);
    const size_t before = (size_t)(at - text);
    memcpy(changed, text, before);
    strcpy(changed + before, to);
    strcat(changed, at + strlen(from));
    return changed;
}

TEST(wrong_members_of_a_graph_are_refused_with_the_expected) {
    static const struct {
        const char *graph, *from, *to, *message;
    } cases[] = {
        {"views", "\"heads\"", "\"tails\"", "'heads' is missing"},
        {"views", "\"tvm_op\"", "\"Conv\"",
         "found \"Conv\"; expected \"null\" or \"tvm_op\"; a graph that was not compiled for the "
         "graph executor has no storage ids"},
        {"views", "[[3, 0, 0]]", "[[9, 0, 0]]",
         "node 9 is not defined here; the nodes before are 0 to 3 (of 9)"},
        {"views", "[[3, 0, 0]]", "[[4, 0, 0]]", "node 4 is not defined here"},
        {"views", "[[3, 0, 0]]", "[[3, 1, 0]]", "output 1 of node 3, which has 1"},
        {"views", "[[3, 0, 0]]", "[[3]]", "found 1 numbers; expected [node, output, version]"},
        {"views", "[[3, 0, 0]]", "[3]", "found 3; expected an array"},
        {"views", "\"arg_nodes\": [0, 1]", "\"arg_nodes\": [0, 2]", "node 2 is no argument"},
        {"views", "[7, 0, 0], [8, 0, 0]", "[7, 0, 0], [8, 4, 0]",
         "output 4 of node 8, which has 1"},
        {"views", "\"num_outputs\": \"2\"", "\"num_outputs\": \"3\"",
         "found 6; the nodes before have 7 outputs"},
        {"views", "\"num_outputs\": \"2\"", "\"num_outputs\": \"-2\"", "found \"-2\"; expected"},
        {"views", "[0, 1, 2, 3, 4, 6,", "[0, 1, 2, 3, 4,",
         "found 9 numbers; there are 9 nodes, so it must be one more than that"},
        {"views", "[0, 1, 2, 2, 3, 4, 5, 6, 7, 8]", "[0, 1, 2, 2, 3, 4, 5, 6, 7]",
         "'storage_id': found 9 elements; the nodes have 10 outputs"},
        {"views", "[0, 1, 2, 2, 3, 4, 5, 6, 7, 8]", "[0, 1, 2, 2, 3, 4, 5, 6, 7, 160]",
         "storage id 160 of only 10 outputs; below 160 is allowed"},
        {"views", "[0, 1, 2, 2, 3, 4, 5, 6, 7, 8]", "[0, 1, 2, 3, 3, 4, 5, 6, 7, 8]",
         "node 3 ('reshape_nop') does nothing when it runs, but its result has the storage id 3 "
         "and "
         "its operand 2"},
        {"views", "\"list_shape\"", "\"list_int\"", "found \"list_int\"; expected \"list_shape\""},
        {"views", "[1, 64]", "[1, -64]",
         "found the dimension -64; expected 0 or more, since the graph executor allocates before "
         "it "
         "knows sizes"},
        {"views", "[1, 64]", "[1, 4611686018427387904]", "more than 2^63 - 1 bytes"},
        {"views", "[1, 64]", "[1, \"n\"]", "found \"n\"; expected an integer"},
        {"views", "[1, 64]", "[1, 65]", "does not lie inside 'conv' of 256 bytes"},
        {"views", "\"float32\"", "\"float\"", "found \"float\"; expected a type such as float32"},
        {"views", "\"float32\"", "\"32\"", "expected a type such as float32"},
        {"views", "\"float32\"", "\"float0\"", "expected a type such as float32"},
        {"views", "\"float32\"", "\"float32x0\"", "expected a type such as float32"},
        {"views", "\"float32\"", "\"int99999\"", "expected a type such as float32"},
        {"devices", "[1, 2, 2, 2, 2, 1, 1]", "[1, 2, 0, 2, 2, 0, 1]",
         "5 of 7 values have a device and 2 have none (type 0); give one to all of them or to "
         "none"},
        {"devices", "[0, 1, 2, 3, 4, 5, 6]", "[0, 1, 2, 3, 4, 1, 6]",
         "storage id 1 is of values on devices 1 and 2; one memory has one device"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t size;
        char *text = data_text(&size, "tvm/%s.json", cases[i].graph);
        char *changed = with_change(text, cases[i].from, cases[i].to);
        arenaut_document d = {0};
        arenaut_error err = {0};
        const arenaut_status st = try_read("tvm-json", changed, strlen(changed), NULL, &d, &err);
        if (st == ARENAUT_OK || !strstr(err.msg, cases[i].message)) {
            fail_msg("case %zu: %s: %s", i, arenaut_status_text(st), err.msg);
        }
        free(changed);
        free(text);
    }
}

TEST(a_symbol_file_is_told_what_it_lacks) {
    size_t size;
    char *text = load_file(GRAPH("symbol"), &size);
    assert_unreadable(NULL, text, ARENAUT_BAD_INPUT,
                      "found \"Flatten\"; expected \"null\" or \"tvm_op\"; a graph that was not "
                      "compiled for the graph executor has no storage ids");
    free(text);
}

/* Nothing is made for counts that are only claimed. */
TEST(claims_cost_no_memory) {
    const char *const text =
        "{\"nodes\": [{\"op\": \"tvm_op\", \"attrs\": {\"num_outputs\": \"4294967294\"}}],\n"
        " \"arg_nodes\": [], \"heads\": [], \"node_row_ptr\": [0, 4294967294],\n"
        " \"attrs\": {\"dltype\": [\"list_str\", []], \"storage_id\": [\"list_int\", []],\n"
        "  \"shape\": [\"list_shape\", []]}}";
    arenaut_document d = {0};
    arenaut_error err = {0};
    const arenaut_read_options options = {.max_memory = 1 << 16};
    assert_int_equal(
        arenaut_read((const uint8_t *)text, strlen(text), NULL, &options, NULL, &d, &err),
        ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "found 0 elements; the nodes have 4294967294 outputs"));
}

/* ---- the corpus ---- */

/* An independent model's figures for them: the sum of blocks now, and the smallest that any of four
 * ways of placing at offsets comes to, with sizes rounded up to 64. The second column is the least
 * that whole blocks need, as found and proven here. */
static const struct {
    const char *name;
    uint64_t now, tokens, offsets;
} corpus[] = {
    {"neo_2in1out", 8, 8, 64},
    {"neo_4in2out", 20, 20, 128},
    {"neo_resnet18", 4925248, 4816896, 4014080},
    {"renesas_face_deeppose_cpu", 12845840, 9437184, 9437184},
    {"renesas_hrnet_onnx", 104448, 104448, 104448},
    {"renesas_tinyyolov2_onnx", 373760, 373760, 373760},
    {"renesas_tinyyolov3_onnx", 1297582, 1297582, 1297600},
    {"renesas_ultraface_onnx", 153320, 135160, 116224},
    {"renesas_yolov3_onnx", 1809990, 1809990, 1810048},
};

TEST(real_graphs_need_what_a_model_of_them_does) {
    char path[1024], name[128];
    for (size_t i = 0; i < COUNT_OF(corpus); i++) {
        snprintf(name, sizeof name, "tvm_graph/%s.json", corpus[i].name);
        corpus_path_or_skip(path, name);
        bytes file = read_bytes(path);
        arenaut_pipeline *tokens = open_graph(&file, "tvm", "auto");
        assert_int_equal(tvm_bytes_now(tokens), corpus[i].now);
        assert_int_equal(tokens->plan->total, corpus[i].tokens);
        assert_int_equal(tokens->plan->quality, ARENAUT_OPTIMAL);
        arenaut_pipeline *offsets = open_graph(&file, "tvm-offsets", "auto");
        assert_int_equal(offsets->plan->total, corpus[i].offsets);
        assert_int_equal(offsets->plan->quality, ARENAUT_OPTIMAL);
        arenaut_pipeline_free(offsets);
        arenaut_pipeline_free(tokens);
        free_bytes(&file);
    }
}

/* ---- writing ---- */

/* The list of storage ids in a graph's text: its first byte, and the one behind it. */
static void find_ids(const char *text, size_t *first, size_t *end) {
    const char *at = strstr(text, "\"storage_id\"");
    assert_non_null(at);
    at = strchr(strchr(at, '[') + 1, '[');
    *first = (size_t)(at - text);
    *end = (size_t)(strchr(at, ']') - text);
}

static void assert_only_ids_differ(const char *before, const arenaut_text *after) {
    size_t first[2], end[2];
    find_ids(before, &first[0], &end[0]);
    find_ids(after->bytes, &first[1], &end[1]);
    assert_int_equal(first[0], first[1]);
    assert_memory_equal(before, after->bytes, first[0]);
    assert_int_equal(strlen(before) - end[0], after->size - end[1]);
    assert_string_equal(before + end[0], after->bytes + end[1]);
}

static void assert_rewritten(const char *path) {
    size_t size;
    char *text = load_file(path, &size);
    bytes file = copy_bytes(text, size);
    arenaut_pipeline *round = open_graph(&file, "tvm", "shared-objects");
    arenaut_text written = write_graph(round), again;
    assert_only_ids_differ(text, &written);
    bytes second_file = copy_bytes(written.bytes, written.size);
    arenaut_pipeline *second = open_graph(&second_file, "tvm", "shared-objects");
    assert_int_equal(tvm_bytes_now(second), round->plan->total);
    assert_true(tvm_bytes_now(second) <= tvm_bytes_now(round));
    for (uint32_t t = 0; t < second->document.program->n_tensors; t++) {
        assert_int_equal(second->document.program->tensors[t].view_of,
                         round->document.program->tensors[t].view_of);
    }
    again = write_graph(second);
    assert_string_equal(again.bytes, written.bytes);
    arenaut_text_free(&again);
    arenaut_text_free(&written);
    arenaut_pipeline_free(second);
    arenaut_pipeline_free(round);
    free_bytes(&second_file);
    free_bytes(&file);
    free(text);
}

TEST(writing_changes_storage_ids_only) {
    assert_rewritten(GRAPH("views"));
    assert_rewritten(GRAPH("nnvm"));
    assert_rewritten(GRAPH("devices"));
}

TEST(real_graphs_are_rewritten) {
    char path[1024], name[128];
    for (size_t i = 0; i < COUNT_OF(corpus); i++) {
        snprintf(name, sizeof name, "tvm_graph/%s.json", corpus[i].name);
        corpus_path_or_skip(path, name);
        assert_rewritten(path);
    }
}

/* Arguments keep 0 and 1; the largest block serves three values and a view. */
TEST(ids_of_arguments_stay_and_tokens_get_the_lowest_free_ones) {
    bytes file = read_bytes(GRAPH("views"));
    arenaut_pipeline *round = open_graph(&file, "tvm", "auto");
    arenaut_text written = write_graph(round);
    assert_non_null(strstr(written.bytes, "[\"list_int\", [0, 1, 2, 2, 3, 4, 2, 3, 2, 3]]"));
    arenaut_text_free(&written);
    arenaut_pipeline_free(round);
    free_bytes(&file);
}

TEST(plans_that_ids_cannot_hold_are_refused) {
    char path[1024];
    corpus_path_or_skip(path, "tvm_graph/renesas_ultraface_onnx.json");
    bytes file = read_bytes(path);
    arenaut_pipeline *round = open_graph(&file, "generic", "auto");
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_int_equal(tvm_write(round, NULL, &text, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg,
                           "would be parts of one token, and tokens have no parts; "
                           "'shared-objects' plans without"));
    assert_null(text.bytes);
    arenaut_pipeline_free(round);
    free_bytes(&file);
}

/* ---- damage ---- */

TEST(damaged_graphs_are_refused_or_sound) {
    static const char *const names[] = {GRAPH("views"), GRAPH("nnvm"), GRAPH("devices")};
    const sweep cuts = {.property = tvm_property, .step = 2}, flips = {.property = tvm_property};
    size_t accepted = 0;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes file = read_bytes(names[i]);
        assert_true(tvm_property(file.data, file.size));
        (void)sweep_cuts(&cuts, file.data, file.size);
        accepted += sweep_flips(&flips, file.data, file.size).accepted;
        free_bytes(&file);
    }
    assert_true(accepted > 100);
}

static arenaut_status open_and_write(void *context, const arenaut_allocator *allocator) {
    const bytes *file = context;
    arenaut_pipeline *round = NULL;
    arenaut_text text;
    arenaut_status st =
        tvm_open(file->data, file->size, "tvm", "shared-objects", allocator, &round, NULL);
    if (st != ARENAUT_OK) return st;
    st = tvm_write(round, allocator, &text, NULL);
    /* A text that cannot grow is a sink that refuses. */
    if (st == ARENAUT_IO) st = ARENAUT_NO_MEMORY;
    if (st == ARENAUT_OK) arenaut_text_free(&text);
    arenaut_pipeline_free(round);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    bytes file = read_bytes(GRAPH("views"));
    survives_every_allocation_failure(open_and_write, &file);
    free_bytes(&file);
    file = read_bytes(GRAPH("nnvm"));
    survives_every_allocation_failure(open_and_write, &file);
    free_bytes(&file);
}
