/* Reading .tflite: the contents of real and own models, and how each part is understood. */
#include <arenaut/format.h>

#include "formats/tflite/tflite_schema.h"

#include "ir/program.h"
#include "support/bytes.h"
#include "support/corpus.h"
#include "support/fuse.h"
#include "support/test.h"
#include "support/tflite_tiny.h"

static arenaut_program *read_program(const void *data, size_t size) {
    arenaut_document document;
    arenaut_error err;
    assert_ok(arenaut_read(data, size, NULL, NULL, NULL, &document, &err), err);
    assert_string_equal(document.format->name, "tflite");
    assert_non_null(document.program);
    return document.program;
}

static arenaut_program *read_model(const char *path) {
    bytes file = read_bytes(path);
    arenaut_program *program = read_program(file.data, file.size);
    free_bytes(&file); /* the program does not refer to it */
    return program;
}

typedef struct counts {
    const char *file;
    uint32_t tensors, ops, planned;
} counts;

/* `planned`: tensors that the micro runtime finds a place for. */
static void expect_counts(const char *path, const counts *expected) {
    arenaut_program *p = read_model(path);
    uint32_t planned = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_class cls = p->tensors[t].cls;
        planned += p->tensors[t].bytes != 0 && cls != ARENAUT_CONSTANT && cls != ARENAUT_STATE;
    }
    if (p->n_tensors != expected->tensors || p->n_ops != expected->ops ||
        planned != expected->planned) {
        fail_msg("%s: %u tensors, %u ops, %u planned; expected %u, %u, %u", path, p->n_tensors,
                 p->n_ops, planned, expected->tensors, expected->ops, expected->planned);
    }
    arn_program_free(p);
}

TEST(own_models_have_the_counts_of_their_script) {
    static const counts models[] = {
        {"call_once_float", 7, 8, 4},   {"custom_op_planned", 6, 1, 4},
        {"hello_world_int8", 10, 3, 4}, {"if_while_float", 26, 13, 21},
        {"lstm_float", 21, 3, 4},       {"mobilenet_v1_025_96_int8", 89, 31, 32},
        {"types_mixed", 13, 5, 9},
    };
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s.tflite", TEST_DATA, models[i].file);
        expect_counts(path, &models[i]);
    }
}

/* As counted by an instrumented micro runtime. */
static const counts corpus[] = {
    {"audio_preprocessor_int8", 43, 22, 25},
    {"dtln_noise_suppression", 45, 4, 5},
    {"hello_world_int8", 10, 3, 4},
    {"keyword_scrambled", 54, 15, 16},
    {"keyword_scrambled_8bit", 54, 15, 16},
    {"litert_call_once_mul", 6, 7, 3},
    {"litert_dynamic_shapes", 43, 24, 27},
    {"litert_multi_subgraphs_while", 18, 5, 14},
    {"litert_nested_while", 12, 7, 12},
    {"mcunet_vww", 163, 63, 64},
    {"mcunetv2_large", 380, 163, 164},
    {"micro_speech_lstm", 27, 4, 5},
    {"micro_speech_quantized", 10, 4, 5},
    {"mlperf_ad01_int8", 31, 10, 11},
    {"mlperf_kws_float", 35, 13, 14},
    {"mlperf_kws_int8", 35, 13, 14},
    {"mlperf_resnet8_int8", 38, 16, 17},
    {"mlperf_resnet_large_int8", 38, 16, 17},
    {"mlperf_strww_int8", 31, 11, 12},
    {"mlperf_vww96_float", 89, 31, 32},
    {"mlperf_vww96_int8", 89, 31, 32},
    {"mobilenet_v2_int8_nchw", 212, 84, 85},
    {"mp_face_detection_full_sparse", 577, 388, 389},
    {"mp_face_detection_short", 250, 164, 165},
    {"mp_face_landmark", 327, 210, 211},
    {"mp_face_landmark_attention", 1096, 712, 713},
    {"mp_hand_landmark_lite", 271, 167, 168},
    {"mp_palm_detection_lite", 353, 232, 233},
    {"mp_pose_detection", 442, 291, 292},
    {"mww_alexa", 82, 57, 33},
    {"oww_embedding", 107, 64, 65},
    {"person_detect", 89, 31, 32},
    {"person_detect_vela", 6, 1, 4},
    {"tinyengine_detection", 197, 79, 80},
    {"torchaudio_conformer", 192, 138, 140},
    {"trained_lstm_int8", 27, 4, 5},
};

TEST(corpus_models_have_the_counts_of_the_runtime) {
    for (size_t i = 0; i < COUNT_OF(corpus); i++) {
        char path[512], file[128];
        snprintf(file, sizeof file, "tflite/%s.tflite", corpus[i].file);
        corpus_path_or_skip(path, file);
        expect_counts(path, &corpus[i]);
    }
}

/* b = RELU(a); CALL_ONCE init; init: d = RELU(c), c constant. */
TEST(a_small_model_reads_field_by_field) {
    tflite_tiny tiny = new_tflite_tiny();
    arenaut_program *p = read_program(tiny.file->data, tiny.file->size);
    free_flatfile(tiny.file);
    assert_int_equal(p->n_methods, 2);
    assert_int_equal(p->n_tensors, 4);
    assert_int_equal(p->n_ops, 3);
    assert_string_equal(p->methods[0].name, "main");
    assert_true(p->methods[0].entry);
    assert_false(p->methods[1].entry);
    const arenaut_tensor *a = &p->tensors[0], *b = &p->tensors[1], *c = &p->tensors[2];
    assert_string_equal(a->name, "a");
    assert_int_equal(a->dtype, ARENAUT_DTYPE_FLOAT32);
    assert_int_equal(a->rank, 2);
    assert_int_equal(a->dims[1], 8);
    assert_int_equal(a->bytes, 4 * 8 * 4);
    assert_int_equal(a->cls, ARENAUT_INPUT);
    assert_int_equal(b->cls, ARENAUT_OUTPUT);
    assert_int_equal(b->file_index, 1);
    assert_int_equal(c->cls, ARENAUT_CONSTANT);
    assert_int_equal(c->method, 1);
    assert_int_equal(c->file_index, 0);
    assert_null(c->name);
    assert_string_equal(p->ops[0].name, "RELU");
    assert_string_equal(p->ops[0].source, "b");
    assert_int_equal(p->ops[0].kind, ARENAUT_OP_OUT);
    assert_string_equal(p->ops[1].name, "CALL_ONCE");
    assert_int_equal(p->ops[1].kind, ARENAUT_OP_CALL_ONCE);
    assert_int_equal(p->ops[1].calls[0], 1);
    assert_int_equal(p->ops[2].inputs[0], 2);
    arn_program_free(p);
}

/* Parts of a plan that the runtime ignores are not taken from it; parts that it obeys are, right or
 * not. */
TEST(a_plan_in_the_file_is_read_as_the_runtime_reads_it) {
    tflite_tiny tiny = new_tflite_tiny();
    const size_t offsets = tiny.plan_data + 12;
    flat_store(tiny.file, offsets + 4, 4, (uint32_t)-2); /* b: nonsense, for the checker */
    flat_store(tiny.file, offsets + 12, 4, 33);          /* d: misaligned, likewise */
    arenaut_program *p = read_program(tiny.file->data, tiny.file->size);
    free_flatfile(tiny.file);
    assert_int_equal(p->given, ARENAUT_GIVEN_FOREIGN);
    assert_non_null(p->given_note);
    assert_int_equal(p->tensors[0].given_pool, 0);
    assert_int_equal(p->tensors[0].given_offset, 0);
    assert_true(p->tensors[1].given_offset > ARENAUT_SIZE_MAX);
    assert_true(p->tensors[1].given_offset != ARENAUT_UNPLACED);
    assert_true(p->tensors[2].given_offset == ARENAUT_UNPLACED); /* a constant */
    assert_int_equal(p->tensors[2].given_pool, ARENAUT_NONE);
    assert_int_equal(p->tensors[3].given_offset, 33);
    arn_program_free(p);
}

static arenaut_program *read_own(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s.tflite", TEST_DATA, name);
    return read_model(path);
}

static const arenaut_op *op_named(const arenaut_program *p, const char *name) {
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (strcmp(p->ops[i].name, name) == 0) return &p->ops[i];
    }
    fail_msg("no op %s", name);
    return NULL;
}

TEST(control_flow_names_its_subgraphs) {
    arenaut_program *p = read_own("if_while_float");
    assert_int_equal(p->n_methods, 5);
    for (uint32_t m = 0; m < 5; m++) assert_int_equal(p->methods[m].entry, m == 0);
    const arenaut_op *branch = op_named(p, "IF"), *loop = op_named(p, "WHILE");
    assert_int_equal(branch->kind, ARENAUT_OP_IF);
    assert_int_equal(branch->calls[0], 1);
    assert_int_equal(branch->calls[1], 2);
    assert_int_equal(loop->kind, ARENAUT_OP_WHILE);
    assert_int_equal(loop->calls[0], 3);
    assert_int_equal(loop->calls[1], 4);
    /* Arguments of a subgraph that is only called are its caller's business. */
    assert_int_equal(p->tensors[p->methods[4].inputs[0]].cls, ARENAUT_INTERMEDIATE);
    arn_program_free(p);
}

TEST(handles_take_no_bytes) {
    arenaut_program *p = read_own("call_once_float");
    const arenaut_tensor *handle = &p->tensors[op_named(p, "VAR_HANDLE")->outputs[0]];
    assert_int_equal(handle->dtype, ARENAUT_DTYPE_RESOURCE);
    assert_int_equal(handle->bytes, 0);
    arn_program_free(p);
}

TEST(variables_are_state_and_left_out_arguments_are_none) {
    arenaut_program *p = read_own("lstm_float");
    const arenaut_op *lstm = op_named(p, "UNIDIRECTIONAL_SEQUENCE_LSTM");
    uint32_t states = 0, none = 0;
    for (uint32_t i = 0; i < lstm->n_inputs; i++) {
        if (lstm->inputs[i] == ARENAUT_NONE) none++;
        else states += p->tensors[lstm->inputs[i]].cls == ARENAUT_STATE;
    }
    assert_int_equal(states, 2);
    assert_int_equal(none, 9);
    arn_program_free(p);
}

TEST(an_accelerators_custom_op_may_alias_its_arguments) {
    arenaut_program *p = read_own("custom_op_planned");
    assert_string_equal(p->ops[0].name, "ethos-u");
    assert_int_equal(p->ops[0].kind, ARENAUT_OP_DELEGATE);
    assert_true(p->ops[0].arguments_may_alias);
    assert_int_equal(p->given, ARENAUT_GIVEN_FOREIGN);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const bool constant = p->tensors[t].cls == ARENAUT_CONSTANT;
        assert_true(p->tensors[t].given_offset == (constant ? ARENAUT_UNPLACED : 0));
    }
    arn_program_free(p);
}

/* A custom op runs a kernel of its author's, under any name. */
TEST(a_custom_op_is_not_the_builtin_of_its_name) {
    static const struct {
        const char *given, *read;
    } names[] = {{"RELU", "CUSTOM"}, {"relu", "relu"}, {"", "CUSTOM"}};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        tflite_tiny tiny = new_tflite_tiny();
        flat_store(tiny.file, tiny.relu_code, 1, BUILTIN_CUSTOM);
        flat_text(tiny.file, tiny.code, CODE_CUSTOM, names[i].given);
        arenaut_program *p = read_program(tiny.file->data, tiny.file->size);
        assert_string_equal(p->ops[0].name, names[i].read);
        arn_program_free(p);
        free_flatfile(tiny.file);
    }
}

/* Type numbers of the schema, and the bytes of a [3, 5] of each in the runtime's arena. */
TEST(every_element_type_has_its_size) {
    static const struct {
        arenaut_dtype dtype;
        uint64_t bytes;
    } types[] = {
        {ARENAUT_DTYPE_FLOAT32, 60},    {ARENAUT_DTYPE_FLOAT16, 30},
        {ARENAUT_DTYPE_INT32, 60},      {ARENAUT_DTYPE_UINT8, 15},
        {ARENAUT_DTYPE_INT64, 120},     {ARENAUT_DTYPE_STRING, 0},
        {ARENAUT_DTYPE_BOOL, 15},       {ARENAUT_DTYPE_INT16, 30},
        {ARENAUT_DTYPE_COMPLEX64, 120}, {ARENAUT_DTYPE_INT8, 15},
        {ARENAUT_DTYPE_FLOAT64, 120},   {ARENAUT_DTYPE_COMPLEX128, 240},
        {ARENAUT_DTYPE_UINT64, 120},    {ARENAUT_DTYPE_RESOURCE, 60},
        {ARENAUT_DTYPE_VARIANT, 0},     {ARENAUT_DTYPE_UINT32, 60},
        {ARENAUT_DTYPE_UINT16, 30},     {ARENAUT_DTYPE_INT4, 15}, /* unpacked */
        {ARENAUT_DTYPE_BFLOAT16, 30},   {ARENAUT_DTYPE_INT2, 15},
        {ARENAUT_DTYPE_UINT4, 15},      {ARENAUT_DTYPE_FLOAT8, 15},
        {ARENAUT_DTYPE_FLOAT8, 15},
    };
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        tflite_tiny tiny = new_tflite_tiny();
        flat_store(tiny.file, tiny.type_a, 1, i);
        flat_store(tiny.file, tiny.shape_a, 4, 3);
        flat_store(tiny.file, tiny.shape_a + 4, 4, 5);
        arenaut_program *p = read_program(tiny.file->data, tiny.file->size);
        assert_int_equal(p->tensors[0].dtype, types[i].dtype);
        assert_int_equal(p->tensors[0].bytes, types[i].bytes);
        arn_program_free(p);
        free_flatfile(tiny.file);
    }
}

TEST(scalars_have_one_element_and_empty_tensors_none) {
    tflite_tiny tiny = new_tflite_tiny();
    flat_store(tiny.file, tiny.shape_a - 4, 4, 0); /* no dimensions */
    arenaut_program *p = read_program(tiny.file->data, tiny.file->size);
    assert_int_equal(p->tensors[0].rank, 0);
    assert_int_equal(p->tensors[0].bytes, 4);
    arn_program_free(p);
    flat_store(tiny.file, tiny.shape_a - 4, 4, 2);
    flat_store(tiny.file, tiny.shape_a, 4, 0);
    p = read_program(tiny.file->data, tiny.file->size);
    assert_int_equal(p->tensors[0].bytes, 0);
    arn_program_free(p);
    free_flatfile(tiny.file);
}

TEST(data_behind_the_flatbuffer_makes_a_constant) {
    tflite_tiny tiny = new_tflite_tiny();
    flat_store(tiny.file, tiny.buffer_c, 4, 0); /* c is no longer constant */
    arenaut_program *p = read_program(tiny.file->data, tiny.file->size);
    assert_int_equal(p->tensors[2].cls, ARENAUT_INTERMEDIATE);
    arn_program_free(p);
    flat_number(tiny.file, tiny.tensor_a, 10, 4, 1); /* in another file */
    p = read_program(tiny.file->data, tiny.file->size);
    assert_int_equal(p->tensors[0].cls, ARENAUT_CONSTANT);
    arn_program_free(p);
    free_flatfile(tiny.file);
}

/* A convolution whose options state the stride of rows, and a padding. */
static arenaut_program *read_convolution(unsigned padding) {
    tflite_tiny tiny = new_tflite_tiny();
    flat_number(tiny.file, tiny.relu, OPERATOR_OPTIONS_TYPE, 1, 1);
    const size_t options = flat_table(tiny.file, tiny.relu, OPERATOR_OPTIONS_TYPE + 1, 6);
    flat_number(tiny.file, options, 0, 1, padding);
    flat_number(tiny.file, options, 2, 4, UINT32_MAX); /* -1 */
    arenaut_program *p = read_program(tiny.file->data, tiny.file->size);
    free_flatfile(tiny.file);
    return p;
}

TEST(options_become_attributes_and_unknown_words_none) {
    arenaut_program *p = read_convolution(1);
    const arenaut_op *op = &p->ops[0];
    assert_int_equal(op->n_attributes, 3);
    assert_string_equal(arenaut_op_attribute(op, "padding")->text, "VALID");
    const arenaut_attribute *strides = arenaut_op_attribute(op, "strides");
    assert_int_equal(strides->n_numbers, 2);
    assert_int_equal(strides->numbers[0], -1);
    assert_int_equal(strides->numbers[1], 0);
    assert_int_equal(arenaut_op_attribute(op, "dilations")->numbers[1],
                     1); /* left out: the schema's */
    const uint64_t fingerprint = arn_program_fingerprint(p);
    arn_program_free(p);
    p = read_convolution(2);
    assert_int_equal(p->ops[0].n_attributes, 2);
    assert_null(arenaut_op_attribute(&p->ops[0], "padding"));
    assert_int_equal(arn_program_fingerprint(p), fingerprint);
    arn_program_free(p);
}

/* Makes tensor a whole numbers that lie in the buffer of c, `shape` [1, n]. */
static tflite_tiny new_numbers(unsigned type, uint32_t n) {
    tflite_tiny tiny = new_tflite_tiny();
    flat_store(tiny.file, tiny.type_a, 1, type);
    flat_store(tiny.file, tiny.shape_a, 4, 1);
    flat_store(tiny.file, tiny.shape_a + 4, 4, n);
    flat_number(tiny.file, tiny.tensor_a, TENSOR_BUFFER, 4, 1);
    return tiny;
}

static arenaut_program *read_numbers(tflite_tiny tiny) {
    arenaut_program *p = read_program(tiny.file->data, tiny.file->size);
    free_flatfile(tiny.file);
    assert_int_equal(p->tensors[0].cls, ARENAUT_CONSTANT);
    return p;
}

TEST(small_whole_constants_tell_their_values) {
    static const int32_t numbers[] = {7, -2};
    tflite_tiny tiny = new_numbers(2, 2); /* INT32 */
    const size_t at = flat_vector(tiny.file, tiny.constant, BUFFER_DATA, 1, sizeof numbers);
    for (unsigned i = 0; i < 2; i++) flat_store(tiny.file, at + 4 * i, 4, (uint32_t)numbers[i]);
    arenaut_program *p = read_numbers(tiny);
    assert_int_equal(p->tensors[0].n_values, 2);
    assert_int_equal(p->tensors[0].values[0], 7);
    assert_int_equal(p->tensors[0].values[1], -2);
    assert_null(p->tensors[2].values); /* not of these types */
    arn_program_free(p);
}

TEST(values_behind_the_flatbuffer_are_read_there) {
    tflite_tiny tiny = new_numbers(4, 1); /* INT64 */
    const size_t at = tiny.file->size;
    tiny.file->size += 8;
    flat_store(tiny.file, at, 8, UINT64_C(0xFFFFFFFFFFFFFF00));
    flat_vector(tiny.file, tiny.constant, BUFFER_DATA, 1, 0);
    flat_number(tiny.file, tiny.constant, BUFFER_OFFSET, 8, at);
    flat_number(tiny.file, tiny.constant, BUFFER_SIZE, 8, 8);
    arenaut_program *p = read_numbers(tiny);
    assert_int_equal(p->tensors[0].n_values, 1);
    assert_int_equal(p->tensors[0].values[0], -256);
    arn_program_free(p);
}

TEST(many_values_and_those_of_another_size_than_the_shape_says_stay_unknown) {
    for (uint32_t n = 64; n <= 66; n++) {
        tflite_tiny tiny = new_numbers(2, n);
        flat_vector(tiny.file, tiny.constant, BUFFER_DATA, 1, n == 66 ? 8 : 4 * n);
        arenaut_program *p = read_numbers(tiny);
        assert_int_equal(p->tensors[0].n_values, n == 64 ? 64 : 0);
        arn_program_free(p);
    }
}

static void keep_note(void *context, const char *text) { snprintf(context, 200, "%s", text); }

/* Reads one of our models; `note` gets the reader's note. Gives the bytes of the first tensor. */
static uint64_t read_with_note(const char *name, char note[200]) {
    note[0] = '\0';
    bytes file = data_bytes("%s.tflite", name);
    const arenaut_read_options options = {.note = keep_note, .note_context = note};
    arenaut_document document;
    arenaut_error err;
    assert_ok(arenaut_read(file.data, file.size, NULL, &options, NULL, &document, &err), err);
    const uint64_t size = document.program->tensors[0].bytes;
    arenaut_document_free(&document);
    free_bytes(&file);
    return size;
}

TEST(changeable_shapes_are_planned_as_stated_with_a_note) {
    char note[200];
    assert_int_equal(read_with_note("float16_weights", note), 16 * 16 * 3 * 4);
    assert_non_null(strstr(note, "1 tensor has dimensions that may change"));
    /* Nearly every converter writes a batch of one that may grow. */
    assert_int_equal(read_with_note("types_mixed", note), 24);
    assert_string_equal(note, "");
}

static arenaut_status read_with(void *context, const arenaut_allocator *allocator) {
    const bytes *file = context;
    arenaut_document document;
    arenaut_error err;
    const arenaut_status st =
        arenaut_read(file->data, file->size, NULL, NULL, allocator, &document, &err);
    if (st == ARENAUT_OK) arenaut_document_free(&document);
    return st;
}

TEST(reading_survives_every_allocation_failure) {
    static const char *const names[] = {"if_while_float", "call_once_float", "svdf_int8"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes file = data_bytes("%s.tflite", names[i]);
        survives_every_allocation_failure(read_with, &file);
        free_bytes(&file);
    }
    tflite_tiny tiny = new_tflite_tiny();
    bytes file = {tiny.file->data, tiny.file->size};
    survives_every_allocation_failure(read_with, &file);
    free_flatfile(tiny.file);
}
