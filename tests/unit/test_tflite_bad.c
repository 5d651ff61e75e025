/* .tflite files that are wrong: each is refused with its object and place, and no value of any byte
 * of a file makes the reader crash, hang or take much memory. */
#include <stdlib.h>

#include "core/flatbuffer.h"
#include "formats/tflite/tflite.h"
#include "support/bytes.h"
#include "support/corpus.h"
#include "support/meter.h"
#include "support/spoil.h"
#include "support/sweep.h"
#include "support/test.h"
#include "support/thorough.h"
#include "support/tflite_round.h"
#include "support/tflite_split_round.h"
#include "support/tflite_tiny.h"

static void expect_refusals(const spoil *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        tflite_tiny tiny = new_tflite_tiny();
        flat_store(tiny.file, cases[i].at, cases[i].width, cases[i].value);
        expect_refusal("tflite", tiny.file->data, tiny.file->size, &cases[i], i);
        free_flatfile(tiny.file);
    }
}

#define BAD ARENAUT_BAD_INPUT
#define UNSUPPORTED ARENAUT_UNSUPPORTED

TEST(wrong_numbers_are_refused_with_the_allowed_ones) {
    tflite_tiny t = new_tflite_tiny();
    free_flatfile(t.file); /* the places are the same in each */
    const spoil cases[] = {
        {4, 4, 0, BAD, {"bytes 4 to 7 must be 'TFL3'", ""}, 4},
        {t.version, 4, 2, UNSUPPORTED, {"schema version 2", "only version 3"}, 0},
        {t.subgraphs - 4, 4, 0, BAD, {"0 subgraphs", "main one"}, 0},
        {t.subgraphs - 4, 4, UINT32_MAX, BAD, {"model: ", "4294967295"}, t.subgraphs - 4},
        {t.subgraphs, 4, 0x7FFFFFFF, BAD, {"model: ", "lead forward"}, t.subgraphs},
        {t.operators,
         4,
         UINT32_MAX,
         BAD,
         {"operator 0 of subgraph 0", "lead forward"},
         t.operators},
        {t.call_code, 4, 210, UNSUPPORTED, {"builtin operator 210", "0 to 209"}, 0},
        {t.call_code, 4, 209, UNSUPPORTED, {"STABLEHLO_CASE", "two is supported"}, 0},
        {t.type_a, 1, 23, UNSUPPORTED, {"('a'): element type 23", "0 to 22"}, t.tensor_a},
        {t.shape_a,
         4,
         UINT32_MAX,
         UNSUPPORTED,
         {"tensor 0 of subgraph 0 ('a'): dimension 0 is -1", "known only at run time"},
         t.shape_a},
        {t.shape_a + 4,
         4,
         0x80000000,
         BAD,
         {"dimension 1 is -2147483648", "0 or more"},
         t.shape_a + 4},
        {t.shape_a - 4, 4, 1u << 30, BAD, {"tensor 0 of subgraph 0", "1073741824"}, t.shape_a - 4},
        {t.buffer_c, 4, 3, BAD, {"buffer 3 does not exist", "there are 3"}, 0},
        {t.relu_opcode, 4, 2, BAD, {"operator code 2", "there are 2"}, t.relu},
        {t.relu_inputs,
         4,
         2,
         BAD,
         {"operator 0 of subgraph 0: input 0 is tensor 2", "has 2 tensors, and -1"},
         t.relu_inputs},
        {t.relu_inputs, 4, (uint32_t)-2, BAD, {"input 0 is tensor -2", "-1 leaves"}, t.relu_inputs},
        {t.relu_outputs, 4, 9, BAD, {"output 0 is tensor 9", "has 2"}, t.relu_outputs},
        {t.inputs, 4, 2, BAD, {"subgraph 0: input 0 is tensor 2", "has 2 tensors"}, t.inputs},
        {t.inputs, 4, UINT32_MAX, BAD, {"subgraph 0: input 0 is tensor -1", "has 2"}, t.inputs},
        {t.outputs, 4, 2, BAD, {"subgraph 0: output 0 is tensor 2", "has 2"}, t.outputs},
        {t.call_options_type,
         1,
         92,
         BAD,
         {"(CALL_ONCE): its options are of type 92", "type 103"},
         0},
        {t.call_subgraph, 4, 2, BAD, {"calls subgraph 2", "there are 2"}, 0},
        {t.call_subgraph, 4, UINT32_MAX, BAD, {"calls subgraph -1", "there are 2"}, 0},
        {t.call_subgraph, 4, 0, BAD, {"calls subgraph 0 with 0 inputs", "that has 1 and 1"}, 0},
        {t.plan_data + 8, 4, 5, BAD, {"holds 5 offsets", "4 tensors"}, t.plan_data + 8},
        {t.plan_data + 8, 4, UINT32_MAX, BAD, {"holds 4294967295 offsets", "4 tensors"}, 0},
        {t.plan_data - 4, 4, 8, BAD, {"OfflineMemoryAllocation': 8 bytes", "at least 12"}, 0},
        {t.plan_data - 4, 4, 24, BAD, {"24 bytes", "4 offsets need 28"}, t.plan_data},
    };
    expect_refusals(cases, COUNT_OF(cases));
}

/* The old field is one signed byte; the larger of the two numbers counts. */
TEST(a_negative_old_operator_number_yields_to_the_new_one) {
    tflite_tiny t = new_tflite_tiny();
    flat_store(t.file, t.relu_code, 1, 0xFF);
    arenaut_error err;
    assert_ok(read_and_free("tflite", t.file->data, t.file->size, &err), err);
    free_flatfile(t.file);
}

TEST(shapes_whose_product_overflows_are_too_large) {
    tflite_tiny t = new_tflite_tiny();
    const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX};
    flat_numbers(t.file, t.tensor_a, 0, huge, 3);
    arenaut_error err;
    assert_int_equal(read_and_free("tflite", t.file->data, t.file->size, &err), ARENAUT_TOO_LARGE);
    assert_non_null(strstr(err.msg, "('a'): the product of the dimensions passes"));
    free_flatfile(t.file);
}

TEST(a_subgraph_that_calls_itself_is_refused) {
    tflite_tiny t = new_tflite_tiny();
    flat_store(t.file, t.inputs - 4, 4, 0); /* now subgraph 0 takes and gives nothing … */
    flat_store(t.file, t.outputs - 4, 4, 0);
    flat_store(t.file, t.call_subgraph, 4, 0); /* … and calls itself */
    arenaut_error err;
    assert_int_equal(read_and_free("tflite", t.file->data, t.file->size, &err), BAD);
    assert_non_null(strstr(err.msg, "recursion"));
    free_flatfile(t.file);
}

TEST(external_data_must_lie_inside_the_file) {
    tflite_tiny t = new_tflite_tiny();
    flat_number(t.file, t.constant, 1, 8, t.file->size - 1);
    const size_t size_at = flat_number(t.file, t.constant, 2, 8, 1);
    arenaut_error err;
    assert_ok(read_and_free("tflite", t.file->data, t.file->size, &err), err);
    flat_store(t.file, size_at, 8, 2);
    assert_int_equal(read_and_free("tflite", t.file->data, t.file->size, &err), BAD);
    assert_non_null(strstr(err.msg, "buffer 1 lies at"));
    flat_store(t.file, size_at, 8, UINT64_MAX);
    assert_int_equal(read_and_free("tflite", t.file->data, t.file->size, &err), BAD);
    free_flatfile(t.file);
}

TEST(long_names_are_cut_between_characters) {
    tflite_tiny t = new_tflite_tiny();
    char name[6001] = "";
    while (strlen(name) < 5998) strcat(name, "\xC3\xA9"); /* é: two bytes, an odd start */
    memmove(name + 1, name, strlen(name) + 1);
    name[0] = '/';
    flat_text(t.file, t.tensor_a, 3, name);
    arenaut_document document;
    arenaut_error err;
    assert_ok(arenaut_read(t.file->data, t.file->size, NULL, NULL, NULL, &document, &err), err);
    assert_int_equal(strlen(document.program->tensors[0].name), 4095);
    arenaut_document_free(&document);
    free_flatfile(t.file);
}

/* Memory. */

static arenaut_status read_metered(const void *data, size_t size,
                                   const arenaut_read_options *options, size_t *most,
                                   arenaut_error *err) {
    meter m = {0, 0};
    const arenaut_allocator allocator = meter_allocator(&m);
    arenaut_document document;
    const arenaut_status st = arenaut_read(data, size, arenaut_format_find("tflite"), options,
                                           &allocator, &document, err);
    if (st == ARENAUT_OK) arenaut_document_free(&document);
    assert_int_equal(m.now, 0);
    *most = m.most;
    return st;
}

/* 1000 entries that are one subgraph, whose 1000 tensors are one tensor: a million tensors
 * in a file of 8 KB. */
TEST(parts_that_are_used_over_and_over_do_not_exhaust_memory) {
    flatfile *f = new_flatfile("TFL3");
    const size_t model = flat_root(f, 8);
    flat_number(f, model, 0, 4, 3);
    const size_t graphs = flat_vector(f, model, 2, 4, 1000);
    const size_t graph = flat_item(f, graphs, 0, 5);
    for (unsigned i = 1; i < 1000; i++) flat_link(f, graphs + 4 * (size_t)i, graph);
    const size_t tensors = flat_vector(f, graph, 0, 4, 1000);
    const size_t tensor = flat_item(f, tensors, 0, 8);
    for (unsigned i = 1; i < 1000; i++) flat_link(f, tensors + 4 * (size_t)i, tensor);
    arenaut_error err;
    size_t most;
    assert_int_equal(read_metered(f->data, f->size, NULL, &most, &err), BAD);
    assert_non_null(strstr(err.msg, "64 times its size"));
    assert_true(most < 64 * f->size + (1 << 18));
    free_flatfile(f);
}

TEST(a_memory_limit_is_kept) {
    bytes file = data_bytes("mobilenet_v1_025_96_int8.tflite");
    arenaut_error err;
    size_t most;
    const arenaut_read_options enough = {.max_memory = 1 << 20}, little = {.max_memory = 10000};
    assert_ok(read_metered(file.data, file.size, &enough, &most, &err), err);
    assert_int_equal(read_metered(file.data, file.size, &little, &most, &err), ARENAUT_TOO_LARGE);
    assert_true(most < 40000);
    free_bytes(&file);
}

/* Sweeps. */

/* Bytes of weights, which mean nothing to the reader, marked with 1. */
static uint8_t *find_weights(const bytes *file) {
    uint8_t *weights = calloc(file->size + 1, 1);
    arn_tflite_model model;
    arenaut_error err;
    assert_ok(arn_tflite_open(file->data, file->size, &model, &err), err);
    uint32_t plan_entry;
    const arn_fb_vector plan = arn_tflite_metadata(&model, ARN_TFLITE_PLAN_NAME, &plan_entry);
    for (uint32_t i = 0; i < model.buffers.count; i++) {
        const arn_fb_vector data = arn_tflite_buffer_data(&model, i);
        if (data.at != plan.at && data.count) memset(weights + data.at, 1, data.count);
    }
    return weights;
}

/* Promises of reading alone. */
static bool some_answer(const uint8_t *data, size_t size) {
    arenaut_error err = {0};
    const arenaut_status st = read_and_free("tflite", data, size, &err);
    assert_true(st == ARENAUT_OK || (err.code == st && err.msg[0]));
    assert_int_not_equal(st, ARENAUT_NO_MEMORY);
    return st == ARENAUT_OK;
}

static const char *const own_models[] = {
    "call_once_float",    "custom_op_planned", "elementwise_float",        "float16_weights",
    "foreign_plan_float", "hello_world_int8",  "if_while_float",           "inception_int8",
    "lstm_float",         "resnet_int8",       "mobilenet_v1_025_96_int8", "scratch_int8",
    "svdf_int8",          "types_mixed",
};

enum { SMALL = 4096 }; /* bytes of files of which every byte is tried */

static bytes read_own(size_t model) { return data_bytes("%s.tflite", own_models[model]); }

TEST(every_truncation_of_own_models_is_survived) {
    for (size_t i = 0; i < COUNT_OF(own_models); i++) {
        bytes file = read_own(i);
        uint8_t *weights = find_weights(&file);
        const sweep s = {
            .property = some_answer, .step = file.size < SMALL ? 1 : one_of(4), .skip = weights};
        (void)sweep_cuts(&s, file.data, file.size);
        free(weights);
        free_bytes(&file);
    }
}

/* All bits of each byte of small models, one of every fourth byte of the others; a sample of them
 * must also survive planning, writing and stripping. */
TEST(flips_of_every_byte_of_own_models_are_survived) {
    for (size_t i = 0; i < COUNT_OF(own_models); i++) {
        bytes file = read_own(i);
        uint8_t *weights = find_weights(&file);
        const bool small = file.size < SMALL;
        const sweep s = {.property = some_answer,
                         .seed = 2 + i,
                         .step = small ? 1 : one_of(4),
                         .bits = small ? drawn(8) : 1,
                         .skip = weights};
        const sweep through = {.property = tflite_property,
                               .seed = 2 + i,
                               .step = one_of(small ? 16 : 256),
                               .skip = weights};
        (void)sweep_flips(&s, file.data, file.size);
        (void)sweep_flips(&through, file.data, file.size);
        free(weights);
        free_bytes(&file);
    }
}

TEST(random_bytes_in_the_small_model_are_survived) {
    const sweep s = {.property = tflite_property, .seed = 3};
    tflite_tiny t = new_tflite_tiny();
    (void)sweep_scatter(&s, t.file->data, t.file->size, drawn(10000));
    free_flatfile(t.file);
}

/* Damaged shapes, arguments and options: an op that cannot be split is refused, never rewritten
 * into one that the checker then finds wrong. */
TEST(damaged_models_are_split_rightly_or_refused) {
    static const char *const models[] = {"float16_weights", "inception_int8", "resnet_int8"};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        bytes file = data_bytes("%s.tflite", models[i]);
        uint8_t *weights = find_weights(&file);
        const sweep s = {
            .property = tflite_split_property, .seed = 5 + i, .step = one_of(40), .skip = weights};
        assert_true(sweep_flips(&s, file.data, file.size).accepted > 0);
        assert_true(sweep_scatter(&s, file.data, file.size, drawn(500)).accepted > 0);
        free(weights);
        free_bytes(&file);
    }
}

TEST(cuts_and_flips_of_corpus_models_are_survived) {
    static const char *const models[] = {
        "audio_preprocessor_int8",
        "dtln_noise_suppression",
        "litert_dynamic_shapes",
        "litert_nested_while",
        "mp_face_landmark_attention",
        "mp_hand_landmark_lite",
        "mww_alexa",
        "person_detect_vela",
        "trained_lstm_int8",
    };
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        char path[512], name[128];
        snprintf(name, sizeof name, "tflite/%s.tflite", models[i]);
        corpus_path_or_skip(path, name);
        bytes file = read_bytes(path);
        uint8_t *weights = find_weights(&file);
        size_t meant = 0; /* bytes that are no weights */
        for (size_t at = 0; at < file.size; at++) meant += !weights[at];
        const sweep cuts = {.property = some_answer, .seed = 4 + i, .step = file.size / 40 + 1};
        const sweep flips = {
            .property = some_answer, .seed = 4 + i, .step = meant / 40 + 1, .skip = weights};
        const sweep through = {
            .property = tflite_property, .seed = 4 + i, .step = meant / 5 + 1, .skip = weights};
        (void)sweep_cuts(&cuts, file.data, file.size);
        (void)sweep_flips(&flips, file.data, file.size);
        (void)sweep_flips(&through, file.data, file.size);
        free(weights);
        free_bytes(&file);
    }
}
