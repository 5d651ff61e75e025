/* The mark on our plans in .tflite files: that it says for which kernels a plan is, and the
 * treatment of files whose mark is an earlier one, or names unknown kernels. */
#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "core/cursor.h"
#include "formats/tflite/tflite.h"
#include "formats/tflite/tflite_schema.h"
#include "kernels/kernel_set.h"
#include "support/bytes.h"
#include "support/fuse.h"
#include "support/test.h"
#include "support/tflite_round.h"

/* Written by the first version that had marks, with results over operands. */
static bytes read_first_mark(void) {
    return read_bytes(TEST_DATA "/marks/elementwise_in_place.tflite");
}

static const char elementwise[] = TEST_DATA "/elementwise_float.tflite";

static bytes read_original(void) { return read_bytes(elementwise); }

static tflite_round open_round(const void *data, size_t size) {
    tflite_round round;
    arenaut_error err = {0};
    assert_ok(tflite_round_open(data, size, 0, NULL, &round, &err), err);
    return round;
}

/* With the round's plan, for the kernels of its result. */
static arenaut_text write_round(const tflite_round *round) {
    arenaut_text text;
    arenaut_error err = {0};
    assert_ok(tflite_round_write(round, NULL, &text, &err), err);
    return text;
}

static void assert_strips_to(const void *data, size_t size, const bytes *expected) {
    arenaut_text stripped = {0};
    arenaut_error err = {0};
    assert_ok(
        arenaut_format_find("tflite")->strip(data, size, arenaut_text_sink(&stripped), NULL, &err),
        err);
    assert_int_equal(stripped.size, expected->size);
    assert_memory_equal(stripped.bytes, expected->data, expected->size);
    arenaut_text_free(&stripped);
}

static void assert_strips_to_original(const void *data, size_t size) {
    bytes original = read_original();
    assert_strips_to(data, size, &original);
    free_bytes(&original);
}

static arenaut_kernel_set *read_mine(void) {
    static const char text[] =
        "{\"schema\": \"arenaut.kernels/1\", \"name\": \"1234567890123456789012345678901\"}";
    arenaut_kernel_set *set = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_kernel_set_read(text, sizeof text - 1, NULL, &set, &err), err);
    return set;
}

/* ---- writing ---- */

TEST(a_mark_says_which_kernels_the_plan_is_for) {
    bytes file = read_original();
    arenaut_kernel_set *mine = read_mine();
    tflite_round round = open_round(file.data, file.size);
    round.result.kernels = mine;
    round.result.unmeasured = true;
    arenaut_text planned = write_round(&round);
    tflite_round again = open_round(planned.bytes, planned.size);
    const arenaut_given_kernels *given = &again.document.program->given_kernels;
    assert_int_equal(again.document.program->given, ARENAUT_GIVEN_OURS);
    assert_string_equal(given->name, mine->name);
    assert_true(given->fingerprint == arn_kernel_set_fingerprint(mine));
    assert_true(given->unmeasured);
    assert_non_null(strstr(again.document.program->given_note, mine->name));
    assert_strips_to_original(planned.bytes, planned.size);
    tflite_round_close(&again);
    tflite_round_close(&round);
    arenaut_text_free(&planned);
    arenaut_kernel_set_free(mine);
    free_bytes(&file);
}

TEST(a_plan_for_no_known_kernels_names_none) {
    bytes file = read_original();
    tflite_round round = open_round(file.data, file.size);
    round.result.kernels = NULL;
    arenaut_text planned = write_round(&round);
    tflite_round again = open_round(planned.bytes, planned.size);
    assert_int_equal(again.document.program->given, ARENAUT_GIVEN_OURS);
    assert_null(again.document.program->given_kernels.name);
    tflite_round_close(&again);
    tflite_round_close(&round);
    arenaut_text_free(&planned);
    free_bytes(&file);
}

/* ---- the first version ---- */

TEST(the_first_mark_is_still_read) {
    bytes file = read_first_mark();
    tflite_round round = open_round(file.data, file.size);
    assert_int_equal(round.document.program->given, ARENAUT_GIVEN_OURS);
    assert_null(round.document.program->given_kernels.name);
    assert_strips_to_original(file.data, file.size);
    tflite_round_close(&round);
    free_bytes(&file);
}

/* ---- files that were changed since ---- */

/* A plan in a prefix of its own leaves the program as it is, and taking it out the file. */
static void assert_plan_is_put_in_front(const bytes *file) {
    assert_true(tflite_property(file->data, file->size));
    tflite_round round = open_round(file->data, file->size);
    arenaut_text planned = write_round(&round);
    assert_true(planned.size > file->size);
    assert_strips_to(planned.bytes, planned.size, file);
    arenaut_text_free(&planned);
    tflite_round_close(&round);
}

/* It has no checksum, so whether the file is as it was written is not known. */
TEST(a_plan_with_the_first_mark_is_kept_behind) {
    bytes file = read_first_mark();
    assert_plan_is_put_in_front(&file);
    free_bytes(&file);
}

TEST(an_original_that_is_another_model_is_not_used) {
    bytes file = read_first_mark(), original = read_original();
    const size_t root = file.size - original.size;
    arn_store_u32(file.data + root, (uint32_t)arn_load(file.data + root, 4) + 4);
    assert_plan_is_put_in_front(&file);
    free_bytes(&original);
    free_bytes(&file);
}

/* The list of operator codes, as a file of ours might have it after a change: in the plan. */
static void move_operator_codes_into_plan(uint8_t *data, size_t size) {
    arn_tflite_model model;
    arenaut_error err = {0};
    uint32_t index;
    assert_ok(arn_tflite_open(data, size, &model, &err), err);
    const arn_fb_vector plan = arn_tflite_metadata(&model, ARN_TFLITE_PLAN_NAME, &index);
    const size_t list = plan.at + ARN_TFLITE_PLAN_HEAD;
    const uint32_t n = model.operator_codes.count;
    assert_true(list + 4 * ((size_t)n + 1) <= plan.at + plan.count);
    const size_t field = arn_fb_field(&model.fb, model.root, 1, 4);
    arn_store_u32(data + field, (uint32_t)(list - field));
    arn_store_u32(data + list, n);
    for (uint32_t i = 0; i < n; i++) {
        const size_t at = list + 4 * ((size_t)i + 1);
        const arn_fb_table code = arn_fb_item_table(&model.fb, model.operator_codes, i);
        arn_store_u32(data + at, (uint32_t)(code.at - at));
    }
}

TEST(a_plan_that_shares_its_bytes_is_not_replaced) {
    bytes original = read_original();
    tflite_round round = open_round(original.data, original.size);
    arenaut_text planned = write_round(&round);
    move_operator_codes_into_plan((uint8_t *)planned.bytes, planned.size);
    const bytes file = {(uint8_t *)planned.bytes, planned.size};
    assert_plan_is_put_in_front(&file);
    tflite_round_close(&round);
    arenaut_text_free(&planned);
    free_bytes(&original);
}

/* A constant that is the plan: with the same tensors and operators, its values would be others. */
TEST(a_plan_that_is_a_constant_too_is_not_replaced) {
    bytes original = read_original();
    tflite_round round = open_round(original.data, original.size);
    arenaut_text planned = write_round(&round);
    arn_tflite_model model;
    arenaut_error err = {0};
    assert_ok(arn_tflite_open((const uint8_t *)planned.bytes, planned.size, &model, &err), err);
    uint8_t *data = (uint8_t *)planned.bytes;
    const uint32_t n = model.buffers.count; /* the last two are those of plan and mark */
    const size_t from = model.buffers.at + 4 * (size_t)(n - 3);
    const arn_fb_table plan = arn_fb_item_table(&model.fb, model.buffers, n - 2);
    arn_store_u32(data + from, (uint32_t)(plan.at - from));
    const bytes file = {data, planned.size};
    assert_plan_is_put_in_front(&file);
    tflite_round_close(&round);
    arenaut_text_free(&planned);
    free_bytes(&original);
}

typedef struct planned_file {
    arenaut_text text;
    arn_tflite_model model;
    arn_fb_vector plan;
} planned_file;

static planned_file write_planned(const char *path) {
    bytes original = read_bytes(path);
    tflite_round round = open_round(original.data, original.size);
    planned_file file = {.text = write_round(&round)};
    arenaut_error err = {0};
    uint32_t index;
    assert_ok(arn_tflite_open((const uint8_t *)file.text.bytes, file.text.size, &file.model, &err),
              err);
    file.plan = arn_tflite_metadata(&file.model, ARN_TFLITE_PLAN_NAME, &index);
    tflite_round_close(&round);
    free_bytes(&original);
    return file;
}

/* Operator 0's options with the number of offsets for the size of their vtable, which is 10, and
 * the first offset for the place of the first field: with another one, another activation. */
TEST(a_plan_under_options_of_an_operator_is_not_replaced) {
    planned_file file = write_planned(TEST_DATA "/if_while_float.tflite");
    uint8_t *data = (uint8_t *)file.text.bytes;
    arn_flatbuffer *fb = &file.model.fb;
    const arn_fb_table graph = arn_fb_item_table(fb, file.model.subgraphs, 0);
    const arn_fb_vector operators = arn_fb_vector_field(fb, graph, SUBGRAPH_OPERATORS, 4);
    const arn_fb_table op = arn_fb_item_table(fb, operators, 5);
    const arn_fb_table options = arn_fb_table_field(fb, op, OPERATOR_OPTIONS_TYPE + 1);
    assert_true(options.at != 0);
    arn_store_u32(data + options.at, (uint32_t)(options.at - (file.plan.at + 8)));
    assert_plan_is_put_in_front(&(bytes){data, file.text.size});
    arenaut_text_free(&file.text);
}

TEST(a_plan_under_a_text_is_not_replaced) {
    planned_file file = write_planned(elementwise);
    uint8_t *data = (uint8_t *)file.text.bytes;
    const size_t field = arn_fb_field(&file.model.fb, file.model.root, MODEL_DESCRIPTION, 4);
    const size_t to = file.plan.at + ARN_TFLITE_PLAN_HEAD;
    assert_true(field != 0);
    arn_store_u32(data + field, (uint32_t)(to - field));
    arn_store_u32(data + to, 4);
    memcpy(data + to + 4, "text", 4);
    assert_plan_is_put_in_front(&(bytes){data, file.text.size});
    arenaut_text_free(&file.text);
}

/* It counts as another tool's, so strip gives it back. */
TEST(a_plan_with_offsets_that_were_edited_is_not_replaced) {
    planned_file file = write_planned(elementwise);
    uint8_t *data = (uint8_t *)file.text.bytes;
    arn_store_u32(data + file.plan.at + ARN_TFLITE_PLAN_HEAD, 1 << 20);
    assert_plan_is_put_in_front(&(bytes){data, file.text.size});
    arenaut_text_free(&file.text);
}

static arenaut_status try_to_replace(void *context, const arenaut_allocator *allocator) {
    const bytes *file = context;
    tflite_round round;
    arenaut_text text;
    arenaut_status st = tflite_round_open(file->data, file->size, 0, allocator, &round, NULL);
    if (st != ARENAUT_OK) return st;
    st = tflite_round_write(&round, allocator, &text, NULL);
    arenaut_text_free(&text);
    tflite_round_close(&round);
    return st == ARENAUT_IO ? ARENAUT_NO_MEMORY : st; /* the text could not grow */
}

TEST(replacing_survives_every_allocation_failure) {
    planned_file planned = write_planned(elementwise);
    bytes file = {(uint8_t *)planned.text.bytes, planned.text.size};
    survives_every_allocation_failure(try_to_replace, &file);
    arenaut_text_free(&planned.text);
}

/* ---- through a pipeline ---- */

/* The original with a plan that has results over operands, and a mark that says `name` instead of
 * "reference", which is as long. */
static arenaut_text write_in_place(const char *name, bool in_place) {
    bytes file = read_original();
    const arenaut_pipeline_options options = {.overwrite = in_place ? ARENAUT_OVERWRITE_ON
                                                                    : ARENAUT_OVERWRITE_OFF};
    arenaut_pipeline *p = NULL;
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_ok(arenaut_pipeline_run(file.data, file.size, &options, NULL, &p, &err), err);
    assert_ok(p->document.format->write(&p->result, arenaut_text_sink(&text), NULL, &err), err);
    arenaut_pipeline_free(p);
    free_bytes(&file);
    for (size_t i = 0; i + 9 < text.size; i++) {
        if (memcmp(text.bytes + i, "reference", 9) == 0) memcpy(text.bytes + i, name, 9);
    }
    return text;
}

typedef struct looked {
    arenaut_status status;
    bool overlaps, in_place, unknown;
    char note[256], message[sizeof(arenaut_error)];
} looked;

static void keep_note(void *context, const char *text) {
    looked *found = context;
    snprintf(found->note, sizeof found->note, "%s", text);
}

/* The plan in the file, with these kernels or those that its mark names. */
static looked look_at(const arenaut_text *file, const arenaut_kernel_set *kernels) {
    looked found = {0};
    const arenaut_pipeline_options options = {
        .kernels = kernels, .note = keep_note, .context = &found};
    const arenaut_pipeline_file input = {NULL, file->bytes, file->size};
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_pipeline_new(&options, NULL, &p, &err), err);
    assert_ok(arenaut_pipeline_read(p, &input, 1, &err), err);
    assert_ok(arenaut_pipeline_prepare(p, &err), err);
    found.status = arenaut_pipeline_find_baseline(p, &err);
    found.overlaps = p->baseline.overlaps;
    found.in_place = p->baseline.in_place;
    found.unknown = p->fault.option && strcmp(p->fault.option, "kernels") == 0;
    snprintf(found.message, sizeof found.message, "%s", err.msg);
    arenaut_pipeline_free(p);
    return found;
}

TEST(a_plan_is_looked_at_with_the_kernels_of_its_mark) {
    arenaut_text file = write_in_place("reference", true);
    const looked found = look_at(&file, NULL);
    assert_int_equal(found.status, ARENAUT_OK);
    assert_true(found.in_place);
    assert_string_equal(found.note, "");
    arenaut_text_free(&file);
}

/* It may well be right, so it is neither called wrong nor replaced. */
TEST(kernels_that_nobody_knows_must_be_given) {
    arenaut_text file = write_in_place("forgotten", true);
    const looked found = look_at(&file, NULL);
    assert_int_equal(found.status, ARENAUT_BAD_ARGUMENT);
    assert_true(found.unknown);
    assert_non_null(strstr(found.message, "made for the kernels 'forgotten'"));
    assert_int_equal(look_at(&file, arenaut_kernel_set_find("reference")).status, ARENAUT_OK);
    arenaut_text_free(&file);
}

TEST(plans_that_use_no_rights_name_no_kernels) {
    arenaut_text file = write_in_place("forgotten", false);
    const looked found = look_at(&file, NULL);
    assert_int_equal(found.status, ARENAUT_OK);
    assert_false(found.in_place);
    assert_string_equal(found.note, "");
    arenaut_text_free(&file);
}

TEST(a_plan_may_be_wrong_for_other_kernels) {
    arenaut_text file = write_in_place("reference", true);
    arenaut_kernel_set *mine = read_mine();
    const looked found = look_at(&file, mine);
    assert_int_equal(found.status, ARENAUT_OK);
    assert_true(found.overlaps);
    assert_non_null(strstr(found.note, "made for the kernels 'reference'"));
    arenaut_kernel_set_free(mine);
    arenaut_text_free(&file);
}

TEST(kernels_that_are_described_otherwise_by_now_are_noticed) {
    arenaut_text file = write_in_place("forgotten", true);
    arenaut_kernel_set other = *arenaut_kernel_set_find("reference");
    other.name = "forgotten";
    other.scratch = NULL;
    const looked found = look_at(&file, &other);
    assert_int_equal(found.status, ARENAUT_OK);
    assert_true(found.in_place);
    assert_non_null(strstr(found.note, "described otherwise then"));
    other.scratch = arenaut_kernel_set_find("reference")->scratch;
    assert_string_equal(look_at(&file, &other).note, "");
    arenaut_text_free(&file);
}

/* ---- results that reach into operands ---- */

static arenaut_status run_overlapped(const void *data, size_t size, bool overlap,
                                     const arenaut_allocator *allocator, arenaut_pipeline **out) {
    const arenaut_pipeline_options options = {.overlap = overlap};
    return arenaut_pipeline_run(data, size, &options, allocator, out, NULL);
}

/* The small model with a plan in it that has to overlap: it needs as much as was planned. */
static arenaut_text write_overlapped(const char *path, uint64_t *arena) {
    bytes file = read_bytes(path);
    arenaut_pipeline *p = NULL;
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_int_equal(run_overlapped(file.data, file.size, true, NULL, &p), ARENAUT_OK);
    assert_true(p->problem->n_separations > 0);
    assert_ok(arenaut_pipeline_write(p, true, arenaut_text_sink(&text), &err), err);
    *arena = p->plan->total;
    arenaut_pipeline_free(p);
    free_bytes(&file);
    return text;
}

TEST(an_overlapped_plan_is_its_files_baseline) {
    uint64_t arena;
    arenaut_text file = write_overlapped(TEST_DATA "/float16_weights.tflite", &arena);
    for (int overlap = 0; overlap < 2; overlap++) {
        arenaut_pipeline *p = NULL;
        arenaut_outcome outcome;
        arenaut_error err = {0};
        assert_int_equal(run_overlapped(file.bytes, file.size, overlap, NULL, &p), ARENAUT_OK);
        assert_true(p->baseline.from_file && p->baseline.reaches && !p->baseline.overlaps);
        assert_int_equal(p->baseline.plan->total, arena);
        assert_ok(arenaut_pipeline_outcome(p, true, false, &outcome, &err), err);
        assert_int_equal(outcome, overlap ? ARENAUT_OUTCOME_HELD : ARENAUT_OUTCOME_LARGER);
        arenaut_pipeline_free(p);
    }
    arenaut_text_free(&file);
}

static arenaut_status try_overlapped(void *context, const arenaut_allocator *allocator) {
    const arenaut_text *file = context;
    arenaut_pipeline *p = NULL;
    const arenaut_status st = run_overlapped(file->bytes, file->size, false, allocator, &p);
    arenaut_pipeline_free(p);
    return st;
}

TEST(reading_it_back_survives_every_allocation_failure) {
    uint64_t arena;
    arenaut_text file = write_overlapped(TEST_DATA "/float16_weights.tflite", &arena);
    survives_every_allocation_failure(try_overlapped, &file);
    arenaut_text_free(&file);
}
