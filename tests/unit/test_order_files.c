/* Files with reordered ops: damaged before and after, they are read correctly or refused, and
 * memory may run out at any point. */
#include "support/test.h"
#include "support/thorough.h"

#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "support/bytes.h"
#include "support/fuse.h"
#include "support/order_machine.h"
#include "support/order_round.h"
#include "support/sweep.h"

/* Of each model format that stores a schedule, a file with a better schedule than its own.
 * `places`: to damage. */
static const struct {
    const char *name;
    size_t places;
} files[] = {{"pte/kv_decoder.pte", 40},   {"pte/side_by_side.pte", 300},
             {"onnx/constants.onnx", 400}, {"pt2/norm_functional.pt2", 300},
             {"pt2/apart.pt2", 300},       {"pt2/parts.pt2", 60},
             {"tvm/branches.json", 400}};

static arenaut_status write_reordered(const bytes *file, const arenaut_allocator *allocator,
                                      arenaut_text *out, arenaut_error *err) {
    const arenaut_dim all = {"*", 2, 2};
    const arenaut_pipeline_options options = {
        .reordering = {.on = true}, .plan = {.effort = 1000}, .dims = &all, .n_dims = 1};
    arenaut_pipeline *p = NULL;
    arenaut_status st = arenaut_pipeline_run(file->data, file->size, &options, allocator, &p, err);
    if (st == ARENAUT_OK) {
        assert_non_null(p->rewrite);
        st = arenaut_pipeline_write(p, true, arenaut_text_sink(out), err);
    }
    arenaut_pipeline_free(p);
    return st;
}

/* The reordered file, in memory of exactly its size. */
static bytes reordered(const bytes *file) {
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_ok(write_reordered(file, NULL, &text, &err), err);
    const bytes copy = copy_bytes(text.bytes, text.size);
    arenaut_text_free(&text);
    return copy;
}

TEST(orders_of_random_programs_are_what_is_said_of_them) {
    uint32_t known = 0;
    for (uint64_t seed = 0; seed < 150; seed++) known += order_machine_try(seed);
    assert_true(known > 100);
}

TEST(reports_and_files_of_schedules_agree_with_the_program) {
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        bytes file = data_bytes("%s", files[i].name), written = reordered(&file);
        assert_true(order_property(file.data, file.size));
        assert_true(order_property(written.data, written.size));
        free_bytes(&written);
        free_bytes(&file);
    }
}

/* Bare problems have no ops, and no dimension that could be bound. */
TEST(files_that_are_no_models_are_survived) {
    static const char *const names[] = {"fragmented.csv",
                                        "two_streams.trace.csv",
                                        "json/everything.problem.json",
                                        "json/branches.program.json",
                                        "json/everything.program.json",
                                        "json/everything.trace.json",
                                        "json/overlap.program.json",
                                        "json/rules.program.json"};
    uint32_t known = 0;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes file = data_bytes("%s", names[i]);
        known += order_property(file.data, file.size);
        free_bytes(&file);
    }
    assert_true(known > 0 && known < COUNT_OF(names));
}

TEST(damaged_files_are_survived_before_and_after_they_are_reordered) {
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        bytes file = data_bytes("%s", files[i].name), written = reordered(&file);
        bytes *const both[] = {&file, &written};
        for (size_t k = 0; k < COUNT_OF(both); k++) {
            const sweep s = {.property = order_property,
                             .seed = 2 * i + k,
                             .step = one_of(2 * both[k]->size / files[i].places + 1)};
            assert_true(sweep_flips(&s, both[k]->data, both[k]->size).tried > 0);
            (void)sweep_cuts(&s, both[k]->data, both[k]->size);
            (void)sweep_scatter(&s, both[k]->data, both[k]->size, files[i].places / 4 * thorough());
        }
        free_bytes(&written);
        free_bytes(&file);
    }
}

static arenaut_status write_with(void *context, const arenaut_allocator *allocator) {
    arenaut_text text = {0}; /* its sink may not fail */
    const arenaut_status st = write_reordered(context, allocator, &text, NULL);
    arenaut_text_free(&text);
    return st;
}

TEST(reordering_a_file_survives_running_out_of_memory) {
    static const char *const names[] = {"onnx/constants.onnx", "tvm/branches.json", "pt2/apart.pt2",
                                        "pte/side_by_side.pte"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes file = data_bytes("%s", names[i]);
        survives_every_allocation_failure(write_with, &file);
        free_bytes(&file);
    }
}

/* As the file may be rewritten: a search for that would take much longer. */
static arenaut_status write_copies(void *context, const arenaut_allocator *allocator) {
    const bytes *file = context;
    static const uint32_t split = 1;
    const arenaut_pipeline_options options = {.copying = {&split, 1}, .plan = {.effort = 1000}};
    arenaut_text text = {0};
    arenaut_pipeline *p = NULL;
    arenaut_status st = arenaut_pipeline_run(file->data, file->size, &options, allocator, &p, NULL);
    if (st == ARENAUT_OK) st = arenaut_pipeline_write(p, true, arenaut_text_sink(&text), NULL);
    if (st == ARENAUT_OK) assert_int_equal(p->rewrite->n_copied, 1);
    arenaut_pipeline_free(p);
    arenaut_text_free(&text);
    return st;
}

TEST(writing_copies_of_views_survives_running_out_of_memory) {
    bytes file = data_bytes("pt2/parts.pt2");
    survives_every_allocation_failure(write_copies, &file);
    free_bytes(&file);
}

static arenaut_status choose_joins(void *context, const arenaut_allocator *allocator) {
    const char *text = context;
    const arenaut_pipeline_options options = {
        .reordering = {.on = true}, .passes = "slices", .plan = {.effort = 1000}};
    arenaut_pipeline *p = NULL;
    const arenaut_status st =
        arenaut_pipeline_run(text, strlen(text), &options, allocator, &p, NULL);
    if (st == ARENAUT_OK) assert_int_equal(p->ordering.n_joins, 2);
    arenaut_pipeline_free(p);
    return st;
}

TEST(choosing_joins_in_place_survives_running_out_of_memory) {
    static char text[] =
        "{\"schema\": \"arenaut.program/1\", \"dialect\": \"onnx\", \"dialect_version\": 17, "
        "\"inputs\": [0], \"outputs\": [6], \"tensors\": [{\"dtype\": \"int8\", \"dims\": [1, "
        "16]}, "
        "{\"dtype\": \"int8\", \"dims\": [1, 40]}, {\"dtype\": \"int8\", \"dims\": [1, 60]}, "
        "{\"dtype\": \"int8\", \"dims\": [1, 100]}, {\"dtype\": \"int8\", \"dims\": [1, 50]}, "
        "{\"dtype\": \"int8\", \"dims\": [1, 150]}, {\"dtype\": \"int8\", \"dims\": [1, 8]}], "
        "\"ops\": ["
        "{\"name\": \"Resize\", \"inputs\": [0], \"outputs\": [1]}, "
        "{\"name\": \"Resize\", \"inputs\": [0], \"outputs\": [2]}, "
        "{\"name\": \"Concat\", \"inputs\": [1, 2], \"outputs\": [3]}, "
        "{\"name\": \"Resize\", \"inputs\": [3], \"outputs\": [4]}, "
        "{\"name\": \"Concat\", \"inputs\": [3, 4], \"outputs\": [5]}, "
        "{\"name\": \"Resize\", \"inputs\": [5], \"outputs\": [6]}]}";
    survives_every_allocation_failure(choose_joins, text);
}
