/* Tiled models in .tflite files: a written one is read back as the program that was planned, and
 * the original comes out again. That the stock runtime computes the same is shown in Python. */
#include <stdlib.h>

#include "support/test.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/find_within.h"
#include "support/bytes.h"
#include "support/fuse.h"
#include "support/sweep.h"
#include "support/tflite_planned_round.h"
#include "support/tflite_split_round.h"

static arenaut_pipeline *split(const void *data, size_t size, const arenaut_split_stage *stage) {
    const arenaut_pipeline_options options = {
        .splitting = {.on = true, .stages = stage, .n_stages = stage ? 1 : 0},
        .plan = {.planner = "tflite-arena"}};
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_pipeline_run(data, size, &options, NULL, &p, &err), err);
    return p;
}

static arenaut_text write(const arenaut_pipeline *p) {
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_ok(arenaut_pipeline_write(p, true, arenaut_text_sink(&text), &err), err);
    return text;
}

static void expect_stripped(const arenaut_text *planned, const bytes *original) {
    arenaut_text back = {0};
    arenaut_error err = {0};
    assert_ok(arenaut_format_find("tflite")->strip((const uint8_t *)planned->bytes, planned->size,
                                                   arenaut_text_sink(&back), NULL, &err),
              err);
    assert_int_equal(back.size, original->size);
    assert_memory_equal(back.bytes, original->data, back.size);
    arenaut_text_free(&back);
}

static void expect_read_back(const arenaut_pipeline *p, const arenaut_text *text) {
    arenaut_document back = {0};
    arenaut_error err = {0};
    assert_ok(arenaut_read((const uint8_t *)text->bytes, text->size, NULL, NULL, NULL, &back, &err),
              err);
    assert_int_equal(back.program->given, ARENAUT_GIVEN_OURS);
    assert_int_equal(back.program->n_tensors, p->rewrite->n_tensors);
    assert_int_equal(arn_program_fingerprint(back.program), p->rewrite->after);
    for (uint32_t t = 0; t < back.program->n_tensors; t++) {
        const arenaut_tensor *found = &back.program->tensors[t];
        const arenaut_tensor *expected = &p->rewrite->program->tensors[t];
        assert_string_equal(found->name, expected->name);
        assert_int_equal(found->rank, expected->rank);
        assert_int_equal(found->dtype, expected->dtype);
    }
    arenaut_document_free(&back);
}

TEST(split_models_are_written_read_and_taken_out) {
    static const char *const models[] = {"inception_int8", "resnet_int8",
                                         "mobilenet_v1_025_96_int8"};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        bytes file = data_bytes("%s.tflite", models[i]);
        arenaut_pipeline *p = split(file.data, file.size, NULL);
        assert_non_null(p->rewrite);
        assert_true(p->figures.planned < p->figures.now);
        arenaut_text text = write(p);
        assert_memory_equal(text.bytes + text.size - file.size, file.data, file.size);
        expect_read_back(p, &text);
        expect_stripped(&text, &file);
        arenaut_text_free(&text);
        arenaut_pipeline_free(p);
        free_bytes(&file);
    }
}

/* A file that was split once, and is written again. */
typedef struct rewritten {
    bytes file;
    arenaut_pipeline *first, *second;
    arenaut_text once, twice;
} rewritten;

static rewritten split_first(void) {
    const arenaut_split_stage stage = {0, 4, 3, ARENAUT_SPLIT_KEPT};
    rewritten r = {.file = data_bytes("resnet_int8.tflite")};
    r.first = split(r.file.data, r.file.size, &stage);
    r.once = write(r.first);
    return r;
}

static void expect_all_stripped(rewritten *r) {
    expect_stripped(&r->twice, &r->file);
    arenaut_text_free(&r->once);
    arenaut_text_free(&r->twice);
    arenaut_pipeline_free(r->first);
    arenaut_pipeline_free(r->second);
    free_bytes(&r->file);
}

/* A file of ours is no other model: an addition in front of it goes with its own in front. */
TEST(a_planned_file_can_be_split_and_a_split_one_planned) {
    rewritten r = split_first();
    const arenaut_split_stage conv = {20, 1, 2, ARENAUT_SPLIT_ROWS};
    r.second = split(r.once.bytes, r.once.size, &conv);
    assert_int_equal(r.second->figures.now, r.first->figures.planned);
    arenaut_error err = {0};
    assert_ok(r.second->document.format->write(&r.second->result, arenaut_text_sink(&r.twice), NULL,
                                               &err),
              err);
    expect_read_back(r.second, &r.twice);
    expect_all_stripped(&r);
}

/* Its graph stays where it is, in front of the original. */
TEST(a_split_file_gets_a_new_plan_in_place) {
    rewritten r = split_first();
    const arenaut_pipeline_options overlap = {.overlap = true};
    arenaut_error err = {0};
    assert_ok(arenaut_pipeline_run(r.once.bytes, r.once.size, &overlap, NULL, &r.second, &err),
              err);
    assert_true(r.second->figures.planned < r.first->figures.planned);
    r.twice = write(r.second);
    assert_int_equal(r.twice.size, r.once.size);
    expect_all_stripped(&r);
}

TEST(groups_that_the_model_does_not_have_are_an_error_of_the_option) {
    bytes file = data_bytes("resnet_int8.tflite");
    const arenaut_split_stage stage = {10, 90, 2, ARENAUT_SPLIT_ROWS};
    const arenaut_pipeline_options options = {
        .splitting = {.on = true, .stages = &stage, .n_stages = 1}};
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_pipeline_run(file.data, file.size, &options, NULL, &p, &err),
                     ARENAUT_BAD_ARGUMENT);
    assert_memory_equal(err.msg, "split: ops 10 to 99", 19);
    free_bytes(&file);
}

TEST(models_that_cannot_be_split_are_planned_as_they_are) {
    static const char *const models[] = {"if_while_float", "lstm_float", "hello_world_int8"};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        bytes file = data_bytes("%s.tflite", models[i]);
        arenaut_pipeline *p = split(file.data, file.size, NULL);
        assert_null(p->rewrite);
        assert_null(p->result.rewrite);
        arenaut_pipeline_free(p);
        free_bytes(&file);
    }
}

/* If results may lie over operands, tiles made for tensors that lie apart may need more. */
TEST(with_overlap_the_one_that_needs_less_is_taken) {
    static const char *const models[] = {"inception_int8", "resnet_int8"};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        bytes file = data_bytes("%s.tflite", models[i]);
        uint64_t needed[2];
        for (int on = 0; on < 2; on++) {
            const arenaut_pipeline_options options = {.overlap = true,
                                                      .splitting = {.on = on == 1}};
            arenaut_pipeline *p = NULL;
            arenaut_error err = {0};
            assert_ok(arenaut_pipeline_run(file.data, file.size, &options, NULL, &p, &err), err);
            needed[on] = p->figures.planned;
            arenaut_pipeline_free(p);
        }
        assert_true(needed[1] < needed[0]);
        free_bytes(&file);
    }
}

/* The calls of the planners for one plan. */
static struct {
    uint64_t effort;       /* that they were allowed, in all */
    uint64_t problems[64]; /* one behind another */
    uint32_t n;
} asked;

static arenaut_status run_and_note(const arenaut_planner *self, arenaut_planning *planning) {
    (void)self;
    const arenaut_planner *usual = arenaut_planner_find("auto");
    const uint64_t problem = arenaut_problem_fingerprint(planning->problem);
    const bool again = asked.n > 0 && asked.problems[asked.n - 1] == problem;
    assert_true(asked.n < COUNT_OF(asked.problems));
    asked.effort += planning->options->effort;
    if (!again) asked.problems[asked.n++] = problem;
    return usual->run(usual, planning);
}

/* Splits with everything else that there is, or with overlap alone. */
static arenaut_pipeline *plan_noted(const bytes *file, bool all, uint64_t effort) {
    arenaut_planner noting = *arenaut_planner_find("auto");
    noting.run = run_and_note;
    const arenaut_pipeline_options options = {
        .overlap = true,
        .overwrite = all ? ARENAUT_OVERWRITE_ON : ARENAUT_OVERWRITE_BY_RULES,
        .splitting = {.on = true},
        .reordering = {.on = all},
        .plan = {.effort = effort, .custom = &noting}};
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    memset(&asked, 0, sizeof asked);
    assert_ok(arenaut_pipeline_run(file->data, file->size, &options, NULL, &p, &err), err);
    return p;
}

TEST(little_effort_is_little_for_all_searches_and_plans) {
    bytes file = data_bytes("mobilenet_v1_025_96_int8.tflite");
    const uint64_t few = 80000, part = arenaut_default_effort() / few;
    for (int all = 0; all < 2; all++) {
        arenaut_pipeline *p = plan_noted(&file, all == 1, few);
        assert_true(asked.effort > few && asked.effort < 4 * few);
        assert_true(p->ways.front->effort < 2 * arn_split_default_effort() / part);
        arenaut_pipeline_free(p);
    }
    free_bytes(&file);
}

/* If tiles of one size are the best, they are found twice. */
TEST(no_choice_is_planned_twice) {
    bytes file = data_bytes("resnet_int8.tflite");
    arenaut_pipeline *p = plan_noted(&file, false, 0);
    assert_true(asked.n > 2);
    for (uint32_t i = 0; i + 1 < asked.n; i++) { /* the last is that of the choice that is taken */
        for (uint32_t k = 0; k < i; k++) assert_true(asked.problems[i] != asked.problems[k]);
    }
    arenaut_pipeline_free(p);
    free_bytes(&file);
}

/* Weights that were divided stay in the file, unless it is made compact: then it can be read and
 * planned as before, but not stripped. */
TEST(a_compact_file_has_nothing_that_is_dead) {
    bytes file = data_bytes("mobilenet_v1_025_96_int8.tflite");
    arenaut_pipeline *p = split(file.data, file.size, NULL);
    arenaut_text whole = write(p), none = {0};
    arenaut_error err = {0};
    uint64_t dead = 0;
    assert_ok(arenaut_pipeline_count_dead(p, &dead, &err), err);
    p->options.compact = true;
    arenaut_text compact = write(p);
    assert_true(dead > 1000);
    assert_int_equal(whole.size - compact.size, dead);
    expect_read_back(p, &compact);
    assert_int_equal(
        arenaut_format_find("tflite")->strip((const uint8_t *)compact.bytes, compact.size,
                                             arenaut_text_sink(&none), NULL, &err),
        ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "made compact"));
    arenaut_text_free(&whole);
    arenaut_text_free(&compact);
    arenaut_pipeline_free(p);
    free_bytes(&file);
}

static arenaut_status write_with(void *context, const arenaut_allocator *allocator) {
    const arenaut_pipeline *p = context;
    arenaut_text text = {.allocator = allocator};
    const arenaut_status st =
        p->document.format->write(&p->result, arenaut_text_sink(&text), allocator, NULL);
    arenaut_text_free(&text);
    return st == ARENAUT_IO ? ARENAUT_NO_MEMORY : st;
}

TEST(writing_survives_every_allocation_failure) {
    bytes file = data_bytes("inception_int8.tflite");
    const arenaut_split_stage stage = {0, 1, 2, ARENAUT_SPLIT_CHANNELS};
    arenaut_pipeline *p = split(file.data, file.size, &stage);
    survives_every_allocation_failure(write_with, p);
    arenaut_pipeline_free(p);
    free_bytes(&file);
}

/* ---- damage ---- */

enum { PLACES = 60 };

/* A file that is tiled in groups with calls, with results over operands in its plan, or both. */
static bytes make_planned(const bytes *file, const arenaut_split_stage *stage, bool overlap) {
    const arenaut_pipeline_options options = {
        .overlap = overlap, .splitting = {.on = stage, .stages = stage, .n_stages = stage ? 1 : 0}};
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_pipeline_run(file->data, file->size, &options, NULL, &p, &err), err);
    arenaut_text text = write(p);
    arenaut_pipeline_free(p);
    const bytes planned = {(uint8_t *)malloc(text.size), text.size};
    assert_non_null(planned.data);
    memcpy(planned.data, text.bytes, text.size);
    arenaut_text_free(&text);
    return planned;
}

/* At so many places in front of the old file: tables, the plan and its mark. */
static void expect_survived(sweep_property property, size_t places, uint64_t seed,
                            const bytes *planned, size_t original) {
    const size_t added = planned->size - original;
    const sweep s = {.property = property, .seed = seed, .step = added / places + 1, .end = added};
    assert_true(sweep_flips(&s, planned->data, planned->size).accepted > 0);
    (void)sweep_scatter(&s, planned->data, planned->size, places / 2);
}

TEST(damaged_files_with_calls_and_with_overlapping_results_are_survived) {
    static const arenaut_split_stage calls = {0, 8, 4, ARENAUT_SPLIT_KEPT_CALLED};
    const struct {
        const arenaut_split_stage *stage;
        bool overlap;
    } files[] = {{&calls, false}, {NULL, true}, {&calls, true}};
    bytes file = data_bytes("resnet_int8.tflite");
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        bytes planned = make_planned(&file, files[i].stage, files[i].overlap);
        expect_survived(tflite_planned_property, PLACES, i, &planned, file.size);
        if (!files[i].stage) {
            expect_survived(tflite_split_property, PLACES, i, &planned, file.size);
        }
        free_bytes(&planned);
    }
    free_bytes(&file);
}
