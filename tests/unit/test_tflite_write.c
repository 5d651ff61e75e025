/* Plans into .tflite files and out again. That the stock runtimes accept the written files is shown
 * in Python; here it is about the bytes. */
#include <stdlib.h>

#include "core/cursor.h"
#include "formats/tflite/tflite.h"
#include "formats/tflite/tflite_schema.h"
#include "support/bytes.h"
#include "support/corpus.h"
#include "support/drawn.h"
#include "support/fuse.h"
#include "support/test.h"
#include "support/tflite_round.h"
#include "support/tflite_tiny.h"

static tflite_round open_round(const void *data, size_t size) {
    tflite_round round;
    arenaut_error err;
    assert_ok(tflite_round_open(data, size, 0, NULL, &round, &err), err);
    return round;
}

static arenaut_text write_round(const tflite_round *round) {
    arenaut_text text;
    arenaut_error err;
    assert_ok(tflite_round_write(round, NULL, &text, &err), err);
    return text;
}

static arenaut_text write_plan_into(const void *data, size_t size) {
    tflite_round round = open_round(data, size);
    arenaut_text text = write_round(&round);
    tflite_round_close(&round);
    return text;
}

static arenaut_status strip(const void *data, size_t size, arenaut_text *out, arenaut_error *err) {
    memset(out, 0, sizeof *out);
    return arenaut_format_find("tflite")->strip(data, size, arenaut_text_sink(out), NULL, err);
}

static const char *const own_models[] = {
    "call_once_float", "custom_op_planned", "elementwise_float", "foreign_plan_float",
    "if_while_float",  "lstm_float",        "resnet_int8",       "types_mixed",
};

TEST(own_models_survive_the_round_trip) {
    for (size_t i = 0; i < COUNT_OF(own_models); i++) {
        bytes file = data_bytes("%s.tflite", own_models[i]);
        assert_true(tflite_property(file.data, file.size));
        free_bytes(&file);
    }
}

TEST(corpus_models_survive_the_round_trip) {
    static const char *const models[] = {
        "dtln_noise_suppression", "litert_nested_while", "mlperf_vww96_int8",
        "mp_hand_landmark_lite",  "mww_alexa",           "person_detect_vela",
    };
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        char path[512], name[128];
        snprintf(name, sizeof name, "tflite/%s.tflite", models[i]);
        corpus_path_or_skip(path, name);
        bytes file = read_bytes(path);
        assert_true(tflite_property(file.data, file.size));
        free_bytes(&file);
    }
}

TEST(the_original_lies_untouched_behind_the_prefix) {
    bytes file = data_bytes("resnet_int8.tflite");
    arenaut_text planned = write_plan_into(file.data, file.size);
    const size_t prefix = planned.size - file.size;
    assert_int_equal(prefix % 64, 0);
    assert_true(prefix < 2048);
    assert_memory_equal(planned.bytes + prefix, file.data, file.size);
    arenaut_text_free(&planned);
    free_bytes(&file);
}

/* The raw numbers of the plan in a file. */
static int32_t plan_number(const arenaut_text *file, uint32_t index) {
    arn_tflite_model model;
    arenaut_error err;
    assert_ok(arn_tflite_open((const uint8_t *)file->bytes, file->size, &model, &err), err);
    uint32_t entry;
    const arn_fb_vector data = arn_tflite_metadata(&model, ARN_TFLITE_PLAN_NAME, &entry);
    assert_true(4 * (index + 1) <= data.count);
    assert_int_equal(data.at % 16, 0); /* the runtime reads whole numbers in place */
    const arn_fb_vector numbers = {data.at, data.count / 4};
    return arn_fb_item_i32(&model.fb, numbers, index);
}

TEST(tensors_that_the_runtime_places_are_left_to_it) {
    bytes file = data_bytes("lstm_float.tflite");
    tflite_round round = open_round(file.data, file.size);
    arenaut_text planned = write_round(&round);
    const arenaut_program *p = round.document.program;
    assert_int_equal(plan_number(&planned, 0), 0);
    assert_int_equal(plan_number(&planned, 1), 1);
    assert_int_equal(plan_number(&planned, 2), p->n_tensors);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const bool ours = p->tensors[t].cls != ARENAUT_CONSTANT &&
                          p->tensors[t].cls != ARENAUT_STATE && p->tensors[t].bytes != 0;
        assert_int_equal(plan_number(&planned, 3 + t) >= 0, ours);
    }
    arenaut_text_free(&planned);
    tflite_round_close(&round);
    free_bytes(&file);
}

/* The runtime sets memory aside for it all the same, so it must not lie above the rest. */
TEST(a_tensor_without_a_lifetime_lies_at_the_start) {
    bytes file = data_bytes("elementwise_float.tflite");
    tflite_round round = open_round(file.data, file.size);
    arenaut_problem *problem = round.lowering->problem;
    const uint32_t last = problem->n_buffers - 1;
    const uint32_t tensor = round.lowering->tensor[last];
    assert_true(round.plan->offset[last] > 0);
    problem->lifetime_start[last + 1] = problem->lifetime_start[last];
    arenaut_text planned = write_round(&round);
    assert_int_equal(plan_number(&planned, 3 + tensor), 0);
    arenaut_text_free(&planned);
    tflite_round_close(&round);
    free_bytes(&file);
}

TEST(a_tensor_that_the_caller_provides_is_left_to_the_runtime) {
    bytes file = data_bytes("elementwise_float.tflite");
    tflite_round round = open_round(file.data, file.size);
    round.lowering->buffer[0] = ARENAUT_NONE;
    arenaut_text planned = write_round(&round);
    assert_int_equal(plan_number(&planned, 3), -1);
    arenaut_text_free(&planned);
    tflite_round_close(&round);
    free_bytes(&file);
}

TEST(a_plan_of_ours_is_replaced_where_it_lies) {
    bytes file = data_bytes("elementwise_float.tflite");
    arenaut_text first = write_plan_into(file.data, file.size);
    tflite_round higher;
    arenaut_error err;
    assert_ok(tflite_round_open(first.bytes, first.size, 4096, NULL, &higher, &err), err);
    assert_int_equal(higher.document.program->given, ARENAUT_GIVEN_OURS);
    assert_non_null(strstr(higher.document.program->given_note, "planner 'stacked'"));
    arenaut_text second = write_round(&higher);
    assert_int_equal(second.size, first.size);
    assert_int_equal(plan_number(&second, 3), plan_number(&first, 3) + 4096);
    arenaut_text stripped;
    assert_ok(strip(second.bytes, second.size, &stripped, &err), err);
    assert_int_equal(stripped.size, file.size);
    assert_memory_equal(stripped.bytes, file.data, file.size);
    arenaut_text_free(&stripped);
    arenaut_text_free(&second);
    tflite_round_close(&higher);
    arenaut_text_free(&first);
    free_bytes(&file);
}

TEST(a_strangers_plan_is_replaced_and_comes_back_with_strip) {
    bytes file = data_bytes("foreign_plan_float.tflite");
    arenaut_text planned = write_plan_into(file.data, file.size);
    tflite_round back = open_round(planned.bytes, planned.size);
    assert_int_equal(back.document.program->given, ARENAUT_GIVEN_OURS);
    tflite_round_close(&back);
    arn_tflite_model model;
    arenaut_error err;
    assert_ok(arn_tflite_open((uint8_t *)planned.bytes, planned.size, &model, &err), err);
    assert_int_equal(model.metadata.count, 2); /* ours and the mark; the old entry is gone */
    arenaut_text stripped;
    assert_ok(strip(planned.bytes, planned.size, &stripped, &err), err);
    assert_memory_equal(stripped.bytes, file.data, file.size);
    arenaut_text_free(&stripped);
    arenaut_text_free(&planned);
    free_bytes(&file);
}

/* The mark holds a fingerprint of the graph and a hash of the plan. */
TEST(a_mark_that_no_longer_fits_does_not_count) {
    bytes file = data_bytes("elementwise_float.tflite");
    arenaut_text planned = write_plan_into(file.data, file.size);
    arn_tflite_model model;
    arenaut_error err;
    assert_ok(arn_tflite_open((uint8_t *)planned.bytes, planned.size, &model, &err), err);
    uint32_t entry;
    const size_t plan = arn_tflite_metadata(&model, ARN_TFLITE_PLAN_NAME, &entry).at;
    const size_t mark = arn_tflite_metadata(&model, ARN_TFLITE_MARK_NAME, &entry).at;
    const struct {
        size_t at;
        const char *told;
    } cases[] = {{plan + 13, "edited since"}, {mark + 8, "another graph"}, {mark, "without"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        planned.bytes[cases[i].at] ^= 0x10;
        tflite_round round = open_round(planned.bytes, planned.size);
        assert_int_equal(round.document.program->given, ARENAUT_GIVEN_FOREIGN);
        assert_non_null(strstr(round.document.program->given_note, cases[i].told));
        tflite_round_close(&round);
        planned.bytes[cases[i].at] ^= 0x10;
    }
    arenaut_text_free(&planned);
    free_bytes(&file);
}

/* Archives. A zip of one stored file behind the small model:
 *     "PK\3\4"… at the model's end, one directory entry, the end record. */
static size_t add_zip(uint8_t *to, size_t model_size) {
    size_t at = model_size;
    memcpy(to + at, "PK\3\4", 4);
    memset(to + at + 4, 0, 36);
    const size_t directory = at += 40;
    memset(to + at, 0, 48 + 22);
    memcpy(to + at, "PK\1\2", 4);
    to[at + 28] = 2; /* a name of two bytes */
    for (unsigned i = 0; i < 4; i++) to[at + 42 + i] = (uint8_t)(model_size >> (8 * i));
    at += 48;
    memcpy(to + at, "PK\5\6", 4);
    to[at + 8] = to[at + 10] = 1;
    to[at + 12] = 48;
    for (unsigned i = 0; i < 4; i++) to[at + 16 + i] = (uint8_t)(directory >> (8 * i));
    return at + 22;
}

static uint32_t number_at(const char *bytes_, size_t at) {
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++) value |= (uint32_t)(uint8_t)bytes_[at + i] << (8 * i);
    return value;
}

TEST(an_archive_behind_the_model_moves_along) {
    tflite_tiny tiny = new_tflite_tiny();
    const size_t model_size = tiny.file->size;
    uint8_t *data = malloc(model_size + 200);
    memcpy(data, tiny.file->data, model_size);
    const size_t size = add_zip(data, model_size);
    arenaut_text planned = write_plan_into(data, size);
    const size_t prefix = planned.size - size;
    assert_int_equal(number_at(planned.bytes, prefix + model_size + 40 + 42), prefix + model_size);
    assert_int_equal(number_at(planned.bytes, planned.size - 6), prefix + model_size + 40);
    assert_true(tflite_property(data, size)); /* stripping moves it back */

    /* Places that do not count from the file's start are left as they are. */
    data[size - 6] ^= 1;
    arenaut_text other = write_plan_into(data, size);
    assert_memory_equal(other.bytes + prefix, data, size);
    assert_true(tflite_property(data, size));
    arenaut_text_free(&other);
    arenaut_text_free(&planned);
    free(data);
    free_flatfile(tiny.file);
}

/* The constant of the small model lies in the directory: its two bytes are the first of an entry's
 * offset, and its length is in the field before, which has no use here. */
static void move_constant_into_directory(uint8_t *data, size_t size, size_t directory) {
    arn_tflite_model model;
    arenaut_error err;
    assert_ok(arn_tflite_open(data, size, &model, &err), err);
    const arn_fb_table buffer = arn_fb_item_table(&model.fb, model.buffers, 1);
    const size_t field = arn_fb_field(&model.fb, buffer, BUFFER_DATA, 4);
    assert_true(field != 0);
    for (unsigned i = 0; i < 4; i++) {
        data[directory + 38 + i] = i == 0 ? 2 : 0;
        data[field + i] = (uint8_t)((directory + 38 - field) >> (8 * i));
    }
}

TEST(an_archive_that_shares_its_bytes_with_a_constant_is_not_moved) {
    tflite_tiny tiny = new_tflite_tiny();
    const size_t model_size = tiny.file->size, size = add_zip(tiny.file->data, model_size);
    move_constant_into_directory(tiny.file->data, size, model_size + 40);
    tflite_round round = open_round(tiny.file->data, size);
    arenaut_text text;
    arenaut_error err;
    assert_int_equal(tflite_round_write(&round, NULL, &text, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "buffer 1 reaches over the directory of the zip archive"));
    tflite_round_close(&round);
    free_flatfile(tiny.file);
}

/* Whatever each bit says, what is written is stripped to the same bytes, or refused. */
static void flip_all(uint8_t *data, size_t first, size_t size) {
    for (size_t bit = 8 * first; bit < 8 * size; bit += one_of(1)) {
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        tflite_property(data, size);
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* Behind a plan of ours the same; then each bit of the archive is another, which are the constant's
 * as well. */
TEST(an_archive_behind_a_plan_that_shares_its_bytes_with_a_constant_is_not_moved) {
    tflite_tiny tiny = new_tflite_tiny();
    const size_t model_size = tiny.file->size;
    tiny.file->size = add_zip(tiny.file->data, model_size);
    arenaut_text planned = write_plan_into(tiny.file->data, tiny.file->size), text;
    arenaut_error err;
    uint8_t *data = (uint8_t *)planned.bytes;
    const size_t archive = planned.size - tiny.file->size + model_size;
    move_constant_into_directory(data, planned.size, archive + 40);
    assert_true(tflite_property(data, planned.size));
    assert_int_equal(strip(data, planned.size, &text, &err), ARENAUT_REFUSED);
    assert_null(text.bytes);
    flip_all(data, archive, planned.size);
    arenaut_text_free(&planned);
    free_flatfile(tiny.file);
}

static size_t field_of(const flatfile *f, size_t table, unsigned slot) {
    const size_t vtable = table - (size_t)arn_load(f->data + table, 4);
    return table + (size_t)arn_load(f->data + vtable + 4 + 2 * (size_t)slot, 2);
}

static size_t add_options(flatfile *f, size_t op, unsigned type, unsigned slot) {
    static const int32_t sizes[] = {4, 8};
    flat_number(f, op, OPERATOR_OPTIONS_TYPE, 1, type);
    const size_t options = flat_table(f, op, OPERATOR_OPTIONS_TYPE + 1, 4);
    flat_numbers(f, options, slot, sizes, COUNT_OF(sizes));
    return field_of(f, options, slot);
}

/* An input of the one signature; the field that leads to its name, or to itself. */
static size_t add_signature(flatfile *f, size_t model, bool to_name) {
    const size_t signatures = flat_vector(f, model, MODEL_SIGNATURES, 4, 1);
    const size_t signature = flat_item(f, signatures, 0, 5);
    const size_t inputs = flat_vector(f, signature, SIGNATURE_INPUTS, 4, 1);
    const size_t input = flat_item(f, inputs, 0, 2);
    flat_text(f, input, SIGNATURE_NAME, "x");
    flat_number(f, input, SIGNATURE_TENSOR, 4, 0);
    return to_name ? field_of(f, input, SIGNATURE_NAME) : inputs;
}

static size_t add_numbers(flatfile *f, size_t table, unsigned slot) {
    static const int32_t numbers[] = {0, 1};
    flat_numbers(f, table, slot, numbers, COUNT_OF(numbers));
    return field_of(f, table, slot);
}

/* The order of a sparse tensor's dimensions, its blocks, the list of dimensions, and of one the
 * segments and indices. */
static size_t add_sparsity(flatfile *f, size_t tensor, unsigned part) {
    const size_t sparsity = flat_table(f, tensor, TENSOR_SPARSITY, 3);
    if (part < 2) return add_numbers(f, sparsity, part);
    const size_t dimensions = flat_vector(f, sparsity, 2, 4, 1);
    const size_t dimension = flat_item(f, dimensions, 0, 6);
    const unsigned type = part == 3 ? 2 : 4;
    if (part == 2) return field_of(f, sparsity, 2);
    flat_number(f, dimension, type, 1, 1);
    return add_numbers(f, flat_table(f, dimension, type + 1, 1), 0);
}

/* Of quantization the least and greatest values, the bytes of a rule of its own, and of one that
 * nothing is known of. */
static size_t add_quantization(flatfile *f, size_t tensor, unsigned part) {
    const size_t quantization = flat_table(f, tensor, TENSOR_QUANTIZATION, 7);
    if (part < 2) return add_numbers(f, quantization, part);
    flat_number(f, quantization, QUANTIZATION_DETAILS_TYPE, 1, part - 1);
    return add_numbers(f, flat_table(f, quantization, QUANTIZATION_DETAILS_TYPE + 1, 1), 0);
}

static size_t add_variant(flatfile *f, size_t tensor) {
    return add_numbers(f, flat_item(f, flat_vector(f, tensor, TENSOR_VARIANTS, 4, 1), 0, 3), 0);
}

enum { BUILTIN_OPTIONS_ADD = 11, PLACES = 18 };

/* The field of the i-th part that the reader has no use for. */
static size_t add_part(tflite_tiny *tiny, unsigned i, const char **told) {
    static const char *const tells[PLACES] = {"operators",  "operators",  "operators",
                                              "signatures", "signatures", "operators"};
    flatfile *f = tiny->file;
    const size_t graph = tiny->subgraphs + (size_t)arn_load(f->data + tiny->subgraphs, 4);
    *told = i < 6 ? tells[i] : i < 14 ? "tensors" : "";
    if (i >= 6 && i < 11) return add_sparsity(f, tiny->tensor_d, i - 6);
    if (i >= 11 && i < 14) return add_quantization(f, tiny->tensor_d, i - 11);
    switch (i) {
        case 14: return add_variant(f, tiny->tensor_d);
        case 15: return field_of(f, graph, SUBGRAPH_NAME);
        case 16: return add_numbers(f, tiny->model, MODEL_METADATA_BUFFER);
        case 17: return add_quantization(f, tiny->tensor_d, 3);
        case 0: return add_options(tiny->file, tiny->relu, OPTIONS_RESHAPE, 0);
        case 1: return add_options(tiny->file, tiny->relu, OPTIONS_SQUEEZE, 0);
        case 2: return add_options(tiny->file, tiny->relu, OPTIONS_BUCKETIZE, 0);
        case 3: return add_signature(tiny->file, tiny->model, true);
        case 4: return add_signature(tiny->file, tiny->model, false);
        default: return add_options(tiny->file, tiny->relu, BUILTIN_OPTIONS_ADD, 2);
    }
}

/* Sizes in options, names of signatures and of a subgraph, fields of which nothing is known, and
 * what tensors have beside their bytes. At 38 a vector or
 * table begins in the directory; at -4, in front of it, a vector of two elements. */
TEST(an_archive_that_shares_its_bytes_with_options_or_signatures_is_not_moved) {
    for (unsigned i = 0; i < PLACES; i++) {
        for (int in_front = 0; in_front < (i == 4 || i == 5 || i == 17 ? 1 : 2); in_front++) {
            const char *told;
            tflite_tiny tiny = new_tflite_tiny();
            flatfile *f = tiny.file;
            const size_t field = add_part(&tiny, i, &told);
            const size_t model_size = f->size, directory = model_size + 40;
            f->size = add_zip(f->data, model_size);
            arenaut_text apart = write_plan_into(f->data, f->size); /* as long as they are apart */
            arenaut_text_free(&apart);
            const size_t to = in_front ? directory - 4 : directory + 38;
            flat_store(f, to, 4, 2);
            flat_link(f, field, to);
            tflite_round round = open_round(f->data, f->size);
            arenaut_text text;
            arenaut_error err;
            assert_int_equal(tflite_round_write(&round, NULL, &text, &err), ARENAUT_REFUSED);
            if (!strstr(err.msg, "reaches over the directory") || !strstr(err.msg, told)) {
                fail_msg("%u: %s", i, err.msg);
            }
            tflite_round_close(&round);
            flip_all(f->data, model_size, f->size);
            free_flatfile(f);
        }
    }
}

/* A list of names that many signatures share would take long to look at. */
TEST(an_archive_behind_signatures_that_share_their_lists_is_not_moved) {
    enum { N = 1000 };
    tflite_tiny tiny = new_tflite_tiny();
    flatfile *f = tiny.file;
    const size_t signatures = flat_vector(f, tiny.model, MODEL_SIGNATURES, 4, N);
    const size_t signature = flat_item(f, signatures, 0, 5);
    const size_t inputs = flat_vector(f, signature, SIGNATURE_INPUTS, 4, N);
    const size_t input = flat_item(f, inputs, 0, 2);
    for (size_t i = 1; i < N; i++) {
        flat_link(f, signatures + 4 * i, signature);
        flat_link(f, inputs + 4 * i, input);
    }
    f->size = add_zip(f->data, f->size);
    tflite_round round = open_round(f->data, f->size);
    arenaut_text text;
    arenaut_error err;
    assert_int_equal(tflite_round_write(&round, NULL, &text, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "signatures share lists of names"));
    tflite_round_close(&round);
    free_flatfile(f);
}

TEST(a_large_archive_is_refused) {
    tflite_tiny tiny = new_tflite_tiny();
    const size_t end = tiny.file->size + 20;
    memcpy(tiny.file->data + tiny.file->size, "PK\6\7", 4);
    memcpy(tiny.file->data + end, "PK\5\6", 4);
    tiny.file->size = end + 22;
    tflite_round round = open_round(tiny.file->data, tiny.file->size);
    arenaut_text text;
    arenaut_error err;
    assert_int_equal(tflite_round_write(&round, NULL, &text, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "64-bit kind"));
    tflite_round_close(&round);
    free_flatfile(tiny.file);
}

/* Refusals. Each spoils a good result and names the fact that must be told. */

static void expect_refused(const tflite_round *round, arenaut_status status, const char *told) {
    arenaut_text text;
    arenaut_error err = {0};
    assert_int_equal(tflite_round_write(round, NULL, &text, &err), status);
    assert_null(text.bytes); /* nothing half written */
    if (!strstr(err.msg, told)) fail_msg("\"%s\" lacks \"%s\"", err.msg, told);
}

TEST(plans_that_the_runtime_would_get_wrong_are_refused) {
    bytes file = data_bytes("elementwise_float.tflite");
    tflite_round round = open_round(file.data, file.size);
    const uint32_t b = round.lowering->buffer[0];
    const uint64_t offset = round.plan->offset[b];
    round.plan->offset[b] = offset + 8;
    expect_refused(&round, ARENAUT_REFUSED, "multiples of 16");
    round.plan->offset[b] = INT32_MAX - 15;
    expect_refused(&round, ARENAUT_REFUSED, "below 2^31");
    round.plan->offset[b] = ARENAUT_SIZE_MAX;
    expect_refused(&round, ARENAUT_REFUSED, "below 2^31");
    round.plan->offset[b] = offset;
    round.plan->pool[b] = 1;
    expect_refused(&round, ARENAUT_REFUSED, "one pool");
    round.plan->pool[b] = 0;
    round.plan->quality = ARENAUT_INFEASIBLE;
    expect_refused(&round, ARENAUT_REFUSED, "infeasible");
    round.plan->quality = ARENAUT_FEASIBLE;
    round.result.target = arenaut_target_find("litert");
    expect_refused(&round, ARENAUT_REFUSED, "'litert' takes no plan");
    round.result.target = arenaut_target_find("tflite-micro");
    round.result.plan = NULL;
    expect_refused(&round, ARENAUT_BAD_ARGUMENT, "a plan");
    tflite_round_close(&round);
    free_bytes(&file);
}

TEST(a_plan_for_another_program_is_refused) {
    bytes file = data_bytes("elementwise_float.tflite");
    tflite_round round = open_round(file.data, file.size);
    arenaut_program *p = round.document.program;
    p->tensors[0].bytes += 16;
    expect_refused(&round, ARENAUT_REFUSED, "not the one in the file");
    p->tensors[0].bytes -= 16;
    const arenaut_op first = p->ops[0];
    p->ops[0] = p->ops[1]; /* reordered */
    p->ops[1] = first;
    expect_refused(&round, ARENAUT_REFUSED, "not the one in the file");
    tflite_round_close(&round);
    free_bytes(&file);
}

TEST(data_at_places_in_the_file_is_refused) {
    tflite_tiny tiny = new_tflite_tiny();
    flat_number(tiny.file, tiny.constant, 1, 8, 64);
    flat_number(tiny.file, tiny.constant, 2, 8, 16);
    tflite_round round = open_round(tiny.file->data, tiny.file->size);
    expect_refused(&round, ARENAUT_REFUSED, "buffer 1 lies outside the flatbuffer, at byte 64");
    tflite_round_close(&round);
    flat_number(tiny.file, tiny.constant, 1, 8, 0);
    flat_number(tiny.file, tiny.relu, 9, 8, 96);
    round = open_round(tiny.file->data, tiny.file->size);
    expect_refused(&round, ARENAUT_REFUSED, "operator 0 of subgraph 0 keeps its options outside");
    tflite_round_close(&round);
    free_flatfile(tiny.file);
}

/* d is tensor 1 of subgraph 1; the runtime looks at entry 1, which is b's. */
TEST(a_variable_that_the_runtime_would_confuse_is_refused) {
    tflite_tiny tiny = new_tflite_tiny();
    flat_number(tiny.file, tiny.tensor_d, 5, 1, 1);
    tflite_round round = open_round(tiny.file->data, tiny.file->size);
    assert_int_equal(round.document.program->tensors[3].cls, ARENAUT_STATE);
    expect_refused(&round, ARENAUT_REFUSED, "tensor 1 of subgraph 1");
    round.lowering->buffer[1] = ARENAUT_NONE; /* with b unplanned there is no confusion */
    arenaut_text planned = write_round(&round);
    arenaut_text_free(&planned);
    tflite_round_close(&round);
    free_flatfile(tiny.file);
}

TEST(fields_of_a_later_schema_are_refused) {
    tflite_tiny tiny = new_tflite_tiny();
    flat_number(tiny.file, tiny.model, 10, 4, 1);
    tflite_round round = open_round(tiny.file->data, tiny.file->size);
    expect_refused(&round, ARENAUT_REFUSED, "field 10 is not known");
    tflite_round_close(&round);
    free_flatfile(tiny.file);
}

TEST(only_plans_of_ours_are_stripped) {
    arenaut_text text;
    arenaut_error err;
    bytes none = data_bytes("elementwise_float.tflite"),
          foreign = data_bytes("foreign_plan_float.tflite");
    assert_int_equal(strip(none.data, none.size, &text, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "holds no plan"));
    assert_int_equal(strip(foreign.data, foreign.size, &text, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "another tool's"));
    arenaut_text planned = write_plan_into(none.data, none.size);
    bytes longer = copy_bytes(planned.bytes, planned.size + 1); /* the NUL behind is ours */
    assert_int_equal(strip(longer.data, longer.size, &text, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "rewritten since"));
    assert_null(text.bytes);
    free_bytes(&longer);
    arenaut_text_free(&planned);
    free_bytes(&foreign);
    free_bytes(&none);
}

/* Sinks and allocators that fail. */

static bool refuse_after(void *context, const void *data, size_t size) {
    size_t *left = context;
    (void)data;
    if (*left < size) return false;
    *left -= size;
    return true;
}

TEST(a_full_disk_is_an_io_error) {
    bytes file = data_bytes("hello_world_int8.tflite");
    tflite_round round = open_round(file.data, file.size);
    arenaut_text planned = write_round(&round);
    for (size_t room = 0; room < planned.size; room += 97) {
        size_t left = room;
        const arenaut_sink sink = {refuse_after, &left};
        arenaut_error err;
        assert_int_equal(round.document.format->write(&round.result, sink, NULL, &err), ARENAUT_IO);
        left = room < file.size ? room : file.size - 1;
        assert_int_equal(
            round.document.format->strip((uint8_t *)planned.bytes, planned.size, sink, NULL, &err),
            ARENAUT_IO);
    }
    arenaut_text_free(&planned);
    tflite_round_close(&round);
    free_bytes(&file);
}

static arenaut_status write_with(void *context, const arenaut_allocator *allocator) {
    size_t room = SIZE_MAX;
    const arenaut_sink sink = {refuse_after, &room};
    const tflite_round *round = context;
    return round->document.format->write(&round->result, sink, allocator, NULL);
}

static arenaut_status strip_with(void *context, const arenaut_allocator *allocator) {
    size_t room = SIZE_MAX;
    const arenaut_sink sink = {refuse_after, &room};
    const arenaut_text *text = context;
    return arenaut_format_find("tflite")->strip((uint8_t *)text->bytes, text->size, sink, allocator,
                                                NULL);
}

TEST(writing_survives_every_allocation_failure) {
    tflite_tiny tiny = new_tflite_tiny();
    tiny.file->size = add_zip(tiny.file->data, tiny.file->size);
    tflite_round round = open_round(tiny.file->data, tiny.file->size);
    survives_every_allocation_failure(write_with, &round);
    arenaut_text planned = write_round(&round);
    survives_every_allocation_failure(strip_with, &planned);
    arenaut_text_free(&planned);
    tflite_round_close(&round);
    free_flatfile(tiny.file);
}
