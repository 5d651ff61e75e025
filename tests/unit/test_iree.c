/* IREE's programs: slabs of real ones (tests/models/make_iree.py) with the sizes that its compiler
 * gave them, texts written here, and refusals. */
#include "support/test.h"

#include <inttypes.h>
#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/pipeline.h>
#include <arenaut/planner.h>

#include "support/bytes.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/iree_round.h"
#include "support/pipelines.h"
#include "support/plans.h"
#include "support/problems.h"
#include "support/sweep.h"

/* ---- helpers ---- */

static arenaut_document read_real(const char *name) {
    bytes b = data_bytes("iree/%s", name);
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_status st = arenaut_read(b.data, b.size, NULL, NULL, NULL, &document, &err);
    if (st != ARENAUT_OK) fail_msg("%s: %s", name, err.msg);
    assert_string_equal(document.format->name, "iree");
    free_bytes(&b);
    return document;
}

#define CONSTANTS "  %c64 = arith.constant 64 : index\n  %c100 = arith.constant 100 : index\n"
#define FUNCTION "util.func public @main(%arg0: index) {\n" CONSTANTS

static const char small[] = FUNCTION
    "  %2:3 = stream.resource.pack on(#hal.device.affinity<@__device_0>) slices({\n"
    "    [0, 2] = %c64,\n"
    "    [1, 3] = %c100\n"
    "  }) : index\n"
    "    stream.cmd.dispatch @exe::@first {\n"
    "      ro %arg2[%c0 for %c64] : !stream.resource<external>{%c64},\n"
    "      wo %arg5[%2#1 for %c64] : !stream.resource<transient>{%2#0}\n"
    "    }\n"
    "    stream.cmd.fill %c0_i8, %arg5[%2#2 for %c100] : i8 -> !stream.resource<transient>{%2#0}\n"
    "    stream.cmd.dispatch @exe::@second[%c64] {\n"
    "      rw %arg5[%2#2 for %c100] : !stream.resource<transient>{%2#0}\n"
    "    }\n"
    "}\n";

/* ---- reading ---- */

TEST(slices_are_buffers_that_live_from_step_to_step) {
    arenaut_document document = read_text(NULL, small);
    const arenaut_problem *p = document.problem;
    assert_int_equal(p->n_buffers, 2);
    assert_string_equal(p->pool[0].name, "main");
    assert_int_equal(p->pool[0].align, 64);
    assert_string_equal(p->name[0], "%2#1");
    assert_string_equal(p->op[0], "first");
    assert_string_equal(p->op[1], "fill"); /* the first use */
    assert_int_equal(p->size[1], 100);
    assert_int_equal(arenaut_problem_align(p, 1), 64);
    assert_int_equal(arenaut_problem_lifetimes(p, 0)->first, 0);
    assert_int_equal(arenaut_problem_lifetimes(p, 0)->end, 3); /* the last step counts */
    assert_int_equal(p->traits, 0);
    assert_null(document.plan);
    arenaut_document_free(&document);
}

static void keep_note(void *context, const char *text) { snprintf(context, 400, "%s", text); }

TEST(sizes_that_are_known_only_at_run_time_are_said) {
    static const char text[] = FUNCTION
        "  %7 = arith.muli %arg0, %c64 : index\n"
        "  %2:5 = stream.resource.pack slices({\n"
        "    [0, 2] = %7,\n    [1, 3] = %c100,\n"
        "    [2, 3] = %7,\n    [2, 5] = %8\n  }) : index\n";
    char said[400] = "";
    const arenaut_read_options options = {.note = keep_note, .note_context = said};
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_status st =
        arenaut_read((const uint8_t *)text, sizeof text - 1, NULL, &options, NULL, &document, &err);
    assert_int_equal(st, ARENAUT_OK);
    assert_string_equal(said,
                        "@main: 3 of 4 slices have sizes that are known only when it runs "
                        "(%7, %8): they are left out");
    assert_int_equal(document.problem->n_buffers, 1);
    assert_int_equal(document.problem->traits, ARENAUT_PROBLEM_SYMBOLIC);
    arenaut_document_free(&document);
}

/* %9 is a constant within a region, and an argument of a block behind it. */
TEST(results_of_several_and_arguments_of_blocks_are_no_known_sizes) {
    arenaut_document document =
        read_text(NULL, FUNCTION
                  "  scf.if %arg1 {\n    %9 = arith.constant 16 : index\n  }\n"
                  "^bb1(%8: index, %9: index):\n"
                  "  %5:2 = scf.if %arg1 -> (index, index) {\n  }\n"
                  "  %2:4 = stream.resource.pack slices({\n"
                  "    [0, 2] = %9,\n    [1, 3] = %5#1,\n    [1, 3] = %c100\n"
                  "  }) : index\n");
    assert_int_equal(document.problem->n_buffers, 1);
    assert_string_equal(document.problem->name[0], "%2#3");
    arenaut_document_free(&document);
}

TEST(a_program_of_which_no_size_is_known_is_refused) {
    assert_unreadable("iree",
                      FUNCTION "  %2:3 = stream.resource.pack slices({[0, 2] = %7, [1, 2] = %8})\n",
                      ARENAUT_UNSUPPORTED, "known only when it runs (%7, %8)");
}

TEST(names_are_those_of_the_function_at_hand) {
    arenaut_document document =
        read_text(NULL,
                  "util.func private @a() {\n  %s = arith.constant 16 : index\n"
                  "  %0:2 = stream.resource.pack slices({[0, 0] = %s}) : index\n}\n"
                  "util.initializer {\n  %s = arith.constant 32 : index\n"
                  "  %0:2 = stream.resource.pack slices({[0, 0] = %s}) : index\n"
                  "  %1:2 = stream.resource.pack slices({[3, 4] = %s}) : index\n}\n"
                  "util.func private @\"quoted name\"() {\n"
                  "  %0:2 = stream.resource.pack slices({[0, 0] = %s}) : index\n}\n");
    const arenaut_problem *p = document.problem;
    assert_int_equal(p->n_buffers, 3); /* the last %s is not known where it is used */
    assert_int_equal(p->size[0], 16);
    assert_int_equal(p->size[1], 32);
    assert_string_equal(p->pool[0].name, "a");
    assert_string_equal(p->pool[1].name, "initializer.0");
    assert_string_equal(p->pool[2].name, "initializer.1");
    assert_string_equal(p->pool[3].name, "\"quoted name\"");
    /* Slabs follow one another. */
    assert_int_equal(arenaut_problem_lifetimes(p, 2)->first, 2 + 3);
    arenaut_document_free(&document);
}

TEST(the_last_dump_of_a_function_counts) {
    static const char banner[] = "// -----// IR Dump Before LayoutSlicesPass: x //----- //\n";
    char text[2000];
    snprintf(text, sizeof text, "%s%s%sutil.func public @other() {\n%s%s%s", banner, small, banner,
             CONSTANTS
             "  %9:2 = stream.resource.pack slices({\n    [0, 1] = %c64\n  }) : index\n}\n",
             banner,
             FUNCTION "  %5:2 = stream.resource.pack slices({\n    [0, 1] = %c100\n  }) : index\n");
    arenaut_document document = read_text(NULL, text);
    assert_int_equal(document.problem->n_buffers, 2);
    assert_string_equal(document.problem->pool[0].name, "other");
    assert_string_equal(document.problem->name[1], "%5#1");
    arenaut_document_free(&document);
}

TEST(alignments_that_are_stated_count) {
    arenaut_document document =
        read_text(NULL,
                  "#config = #stream.resource_config<{min_buffer_offset_alignment = 32 : index, "
                  "min_buffer_range_alignment = 128 : index}>\n" FUNCTION
                  "  %5:2 = stream.resource.pack slices({[0, 1] = %c100}) : index\n");
    assert_int_equal(arenaut_problem_align(document.problem, 0), 128);
    assert_int_equal(document.problem->pool[0].align, 128);
    arenaut_document_free(&document);
}

/* ---- sizes that are open ---- */

/* One slice of 64 bytes, and one whose size `op` makes of the two dimensions of the argument. */
static const char *open_text(const char *op) {
    static char text[1000];
    snprintf(text, sizeof text, "%s  %%7 = %s : index\n%s",
             FUNCTION
             "  %0 = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[0] : index\n"
             "  %1 = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[1] : index\n",
             op, "  %2:3 = stream.resource.pack slices({[0, 2] = %7, [1, 2] = %c64})\n");
    return text;
}

static arenaut_status read_bound(const char *text, const arenaut_dim *dims, size_t n_dims,
                                 arenaut_document *document, arenaut_error *err) {
    const arenaut_read_options options = {.dims = dims, .n_dims = n_dims};
    return arenaut_read((const uint8_t *)text, strlen(text), NULL, &options, NULL, document, err);
}

static uint64_t compute(const char *word, uint64_t a, uint64_t b) {
    const struct {
        const char *word;
        uint64_t result;
    } all[] = {{"addi", a + b},
               {"subi", a - b},
               {"muli", a * b},
               {"divui", a / b},
               {"divsi", a / b},
               {"floordivsi", a / b},
               {"ceildivui", (a + b - 1) / b},
               {"ceildivsi", (a + b - 1) / b},
               {"remui", a % b},
               {"remsi", a % b},
               {"minui", a < b ? a : b},
               {"minsi", a < b ? a : b},
               {"maxui", a > b ? a : b},
               {"maxsi", a > b ? a : b}};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        if (strcmp(all[i].word, word) == 0) return all[i].result;
    }
    fail_msg("no such word: %s", word);
    return 0;
}

/* The largest result over all values of both, computed one by one. */
static uint64_t largest(const char *word, const arenaut_dim *a, const arenaut_dim *b) {
    uint64_t most = 0;
    for (int64_t x = a->min; x <= a->max; x++) {
        for (int64_t y = b->min; y <= b->max; y++) {
            const uint64_t one = compute(word, (uint64_t)x, (uint64_t)y);
            if (one > most) most = one;
        }
    }
    return most;
}

TEST(sizes_are_what_their_dimensions_come_to_at_most) {
    static const char *const words[] = {"addi",       "subi",      "muli",      "divui", "divsi",
                                        "floordivsi", "ceildivui", "ceildivsi", "remui", "remsi",
                                        "minui",      "minsi",     "maxui",     "maxsi"};
    rng r = {3};
    for (int round = 0; round < 40; round++) {
        for (size_t i = 0; i < COUNT_OF(words); i++) {
            const int64_t y = 1 + rng_below(&r, 20), x = 45 + rng_below(&r, 20);
            const arenaut_dim dims[] = {
                {"main.arg0.0", x, x + rng_below(&r, 2) * rng_below(&r, 9)},
                {"main.arg0.1", y, y + rng_below(&r, 2) * rng_below(&r, 9)}};
            char op[60];
            arenaut_document document = {0};
            arenaut_error err = {0};
            snprintf(op, sizeof op, "arith.%s %%0, %%1", words[i]);
            assert_ok(read_bound(open_text(op), dims, 2, &document, &err), err);
            const uint64_t size = document.problem->size[0],
                           exact = largest(words[i], dims, dims + 1);
            const bool ranges = dims[0].min < dims[0].max || dims[1].min < dims[1].max;
            if (strncmp(words[i], "rem", 3) == 0 && ranges) assert_true(size >= exact);
            else assert_int_equal(size, exact);
            arenaut_document_free(&document);
        }
    }
}

TEST(a_range_is_said_to_vary) {
    const arenaut_dim value = {"*", 8, 8}, range = {"*", 1, 8};
    arenaut_document document = {0};
    arenaut_error err = {0};
    assert_ok(read_bound(open_text("arith.muli %0, %c64"), &value, 1, &document, &err), err);
    assert_int_equal(document.problem->size[0], 512);
    assert_int_equal(document.problem->traits, 0);
    arenaut_document_free(&document);
    assert_ok(read_bound(open_text("arith.muli %0, %c64"), &range, 1, &document, &err), err);
    assert_int_equal(document.problem->size[0], 512);
    assert_int_equal(document.problem->traits, ARENAUT_PROBLEM_SYMBOLIC);
    arenaut_document_free(&document);
}

/* Nothing is guessed of statements of the compiler that are not understood. */
TEST(sizes_that_cannot_be_worked_out_stay_open) {
    static const char *const ops[] = {
        "arith.subi %c64, %0",       "arith.divui %0, %zero",   "arith.muli %0, %huge",
        "arith.muli %0, %3#1",       "arith.muli %3#1, %0",     "arith.xori %0, %c64",
        "arith.select %0, %0, %c64", "arith.muli %0, %nothing", "hal.buffer_view.dim<%arg0>[2]",
    };
    const arenaut_dim all = {"*", 65, 65};
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        char op[300];
        snprintf(op, sizeof op, "%s  %%7 = %s",
                 "arith.constant 1 : index\n  %zero = arith.constant 0 : index\n"
                 "  %huge = arith.constant 9223372036854775807 : index\n",
                 ops[i]);
        arenaut_document document = {0};
        arenaut_error err = {0};
        assert_ok(read_bound(open_text(op), &all, 1, &document, &err), err);
        assert_int_equal(document.problem->n_buffers, 1);
        arenaut_document_free(&document);
    }
}

TEST(sizes_that_could_be_given_are_named) {
    char said[400] = "";
    const char *text = open_text("arith.addi %1, %0");
    const arenaut_read_options options = {.note = keep_note, .note_context = said};
    arenaut_document document = {0};
    arenaut_error err = {0};
    assert_ok(
        arenaut_read((const uint8_t *)text, strlen(text), NULL, &options, NULL, &document, &err),
        err);
    assert_string_equal(said,
                        "@main: 1 of 2 slices have sizes that are known only when it runs (%7): "
                        "they are left out; sizes that can be given a value: main.arg0.1");
    arenaut_document_free(&document);
}

TEST(dimensions_that_are_not_there_are_refused) {
    static const struct {
        arenaut_dim dim;
        const char *op, *part;
    } cases[] = {
        {{"main.arg0.2", 1, 1},
         "arith.muli %0, %1",
         "dim main.arg0.2: no size is called so; those that are open: main.arg0.0, main.arg0.1"},
        {{"", 1, 1}, "arith.muli %0, %1", "dim : no size is called so"},
        {{"main.arg0.0", -1, 1}, "arith.muli %0, %1", "dim main.arg0.0: -1 to 1 is no range"},
        {{"main.arg0.0", 2, 1}, "arith.muli %0, %1", "dim main.arg0.0: 2 to 1 is no range"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_document document = {0};
        arenaut_error err = {0};
        const arenaut_status st =
            read_bound(open_text(cases[i].op), &cases[i].dim, 1, &document, &err);
        assert_int_equal(st, ARENAUT_BAD_ARGUMENT);
        assert_non_null(strstr(err.msg, cases[i].part));
    }
    const arenaut_dim all = {"*", 1, 1};
    arenaut_document document = {0};
    arenaut_error err = {0};
    assert_int_equal(read_bound(small, &all, 1, &document, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "those that are open: none"));
}

/* A network that was compiled for any batch: at 4, it is four times as large. */
TEST(a_real_program_with_an_open_batch_is_planned_for_one) {
    bytes b = data_bytes("iree/dynamic_batch.mlir");
    const arenaut_dim batch = {"dynamic.arg0.0", 1, 4};
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_read_options options = {.dims = &batch, .n_dims = 1};
    assert_ok(arenaut_read(b.data, b.size, NULL, &options, NULL, &document, &err), err);
    static const uint64_t sizes[] = {15488, 25600, 10368, 24576};
    assert_int_equal(document.problem->n_buffers, COUNT_OF(sizes));
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        assert_int_equal(document.problem->size[i], 4 * sizes[i]);
    }
    arenaut_plan *plan = plan_by(document.problem, "auto");
    assert_int_equal(plan->total, 4 * (15488 + 25600));
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    arenaut_plan_free(plan);
    arenaut_document_free(&document);
    free_bytes(&b);
}

/* ---- against the compiler ---- */

/* Holds the planner row, and the pipeline's baseline, against the size that iree-compile gave the
 * slab. */
static void assert_compiled(const char *file, const char *slab, uint64_t size) {
    arenaut_document document = read_real(file);
    arenaut_plan *plan = plan_by(document.problem, "iree");
    uint32_t pool = 0;
    while (strcmp(document.problem->pool[pool].name, slab) != 0) pool++;
    assert_int_equal(plan->arena[pool], size);
    arenaut_plan_free(plan);
    arenaut_document_free(&document);
}

TEST(slabs_are_as_large_as_the_compiler_makes_them) {
    size_t length;
    char *text = load_file(TEST_DATA "/iree/compiled.csv", &length);
    uint32_t n = 0;
    for (char *line = strtok(text, "\n"); (line = strtok(NULL, "\n")); n++) {
        char file[64], slab[64];
        uint64_t size;
        assert_int_equal(sscanf(line, "%63[^,],%63[^,],%" SCNu64, file, slab, &size), 3);
        assert_compiled(file, slab, size);
    }
    assert_int_equal(n, 4);
    free(text);
}

TEST(the_layout_of_the_compiler_is_the_baseline) {
    bytes b = data_bytes("iree/branches.mlir");
    arenaut_pipeline *p = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_pipeline_run(b.data, b.size, NULL, NULL, &p, &err), ARENAUT_OK);
    assert_string_equal(p->baseline.plan->planner, "iree");
    assert_int_equal(p->figures.now, 136896);
    assert_int_equal(p->figures.planned, 100864);
    assert_int_equal(p->plan->quality, ARENAUT_OPTIMAL);
    arenaut_pipeline_free(p);
    free_bytes(&b);
}

static uint64_t rounded(uint64_t size) { return (size + 63) / 64 * 64; }

static bool meet(const arenaut_problem *p, uint32_t a, uint32_t b) {
    const arenaut_interval *la = arenaut_problem_lifetimes(p, a),
                           *lb = arenaut_problem_lifetimes(p, b);
    return la->first < lb->end && lb->first < la->end;
}

/* The layout as the compiler computes it, read from its source a second time: slices in order, each
 * in the least gap that is large enough between those placed before, by their offsets. */
static uint64_t pack_greedily(const arenaut_problem *p, uint32_t *placed, uint64_t *offsets) {
    uint64_t highest = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        uint64_t at = 0, least = UINT64_MAX;
        bool found = false;
        for (uint32_t k = 0; k < b; k++) {
            const uint32_t other = placed[k];
            if (!meet(p, b, other)) continue;
            if (at + rounded(p->size[b]) <= offsets[other] && offsets[other] - at < least) {
                found = true;
                least = offsets[other] - at;
                offsets[b] = at;
            }
            const uint64_t end = offsets[other] + rounded(p->size[other]);
            if (end > at) at = end;
        }
        if (!found) offsets[b] = at;
        uint32_t k = b;
        for (; k > 0 && offsets[placed[k - 1]] >= offsets[b]; k--) placed[k] = placed[k - 1];
        placed[k] = b;
        if (offsets[b] + rounded(p->size[b]) > highest) highest = offsets[b] + rounded(p->size[b]);
    }
    return highest;
}

TEST(the_planner_places_slices_where_the_compiler_does) {
    enum { ROUNDS = 300, MOST = 24 };
    rng r = {7};
    for (int round = 0; round < ROUNDS; round++) {
        arenaut_problem *p = new_problem();
        uint64_t offsets[MOST];
        uint32_t placed[MOST];
        add_pool(p, "slab", ARENAUT_UNLIMITED, 64);
        const uint32_t n = 2 + (uint32_t)round % (MOST - 2);
        for (uint32_t b = 0; b < n; b++) {
            const int64_t end = b + 1 + (int64_t)rng_below(&r, 9);
            ADD_BUFFER(p, .size = 1 + rng_below(&r, 1000), LIFE(b, end), .align = 64);
        }
        finish(p);
        const uint64_t highest = pack_greedily(p, placed, offsets);
        arenaut_plan *plan = plan_by(p, "iree");
        assert_plan_lies_at(plan, offsets);
        assert_int_equal(plan->total, highest);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

/* ---- refusals ---- */

TEST(texts_that_are_not_right_are_refused_with_their_line) {
    static const struct {
        const char *text, *part;
        arenaut_status status;
    } cases[] = {
        {"stream.resource.pack slices({[0, 0] = %c64})",
         "line 4: a stream.resource.pack has results", ARENAUT_BAD_INPUT},
        {"%2:x = stream.resource.pack slices({})", "line 4: expected how many results",
         ARENAUT_BAD_INPUT},
        {"%2:2 = stream.resource.pack", "line 4: a stream.resource.pack without slices",
         ARENAUT_BAD_INPUT},
        {"%2:2 = stream.resource.pack slices({\n    [0, 0] = %c64,\n", "line 4: the list of slices",
         ARENAUT_BAD_INPUT},
        {"%2:3 = stream.resource.pack slices({\n    [0, 0] = %c64\n})",
         "line 4: 3 results for 1 slices", ARENAUT_BAD_INPUT},
        {"%2:2 = stream.resource.pack slices({\n\n    [0, 0] : %c64\n})",
         "line 6: expected a slice such as [0, 2] = %c64", ARENAUT_BAD_INPUT},
        {"%2:2 = stream.resource.pack slices({\n    [3, 1] = %c64\n})",
         "line 5: a slice is alive from step 3 to step 1", ARENAUT_BAD_INPUT},
        {"%2:2 = stream.resource.pack slices({\n    [3, 9999999999] = %c64\n})",
         "line 5: a slice is alive from step 3 to step 9999999999", ARENAUT_BAD_INPUT},
        {"min_buffer_offset_alignment = 48", "line 4: an alignment is a power of two",
         ARENAUT_BAD_INPUT},
        {"return", "there is no stream.resource.pack in it", ARENAUT_UNSUPPORTED},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s  %s", FUNCTION, cases[i].text);
        assert_unreadable("iree", text, cases[i].status, cases[i].part);
    }
}

TEST(more_slabs_than_pools_are_refused) {
    char text[10000] = FUNCTION;
    for (int i = 0; i < 65; i++) {
        strcat(text, "  %2:2 = stream.resource.pack slices({[0, 0] = %c64}) : index\n");
    }
    assert_unreadable("iree", text, ARENAUT_UNSUPPORTED, "line 68: more than 64 slabs");
}

/* With all dimensions given, so that damaged values are computed with as well. */
static bool open_property(const uint8_t *data, size_t size) {
    const arenaut_dim all = {"*", 3, 5};
    const arenaut_read_options options = {.dims = &all, .n_dims = 1};
    arenaut_document document = {0};
    arenaut_error err = {0};
    if (arenaut_read(data, size, arenaut_format_find("iree"), &options, NULL, &document, &err) !=
        ARENAUT_OK) {
        return false;
    }
    arenaut_document_free(&document);
    return true;
}

TEST(damaged_texts_are_refused_or_hold_to_the_property) {
    bytes real = data_bytes("iree/two_functions.mlir");
    bytes own = copy_bytes(small, sizeof small - 1);
    const char *text = open_text("arith.ceildivui %0, %1");
    bytes sized = copy_bytes(text, strlen(text));
    const sweep with_sizes = {.property = open_property, .seed = 3};
    const sweep_counts cuts = sweep_cuts(&with_sizes, sized.data, sized.size);
    assert_true(cuts.accepted > 0);
    (void)sweep_flips(&with_sizes, sized.data, sized.size);
    (void)sweep_scatter(&with_sizes, sized.data, sized.size, 500);
    free_bytes(&sized);
    const sweep each = {.property = iree_property, .seed = 1};
    const sweep some = {.property = iree_property, .seed = 2, .step = 61, .bits = 1};
    (void)sweep_cuts(&each, own.data, own.size);
    (void)sweep_flips(&each, own.data, own.size);
    (void)sweep_scatter(&each, own.data, own.size, 500);
    (void)sweep_flips(&some, real.data, real.size);
    free_bytes(&own);
    free_bytes(&real);
}

static arenaut_status read_branches(void *context, const arenaut_allocator *allocator) {
    const bytes *b = context;
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_status st = try_read("iree", b->data, b->size, allocator, &document, &err);
    arenaut_document_free(&document);
    return st;
}

static arenaut_status read_open(void *context, const arenaut_allocator *allocator) {
    const arenaut_dim all = {"*", 3, 5};
    const arenaut_read_options options = {.dims = &all, .n_dims = 1};
    arenaut_document document = {0};
    arenaut_error err = {0};
    const arenaut_status st =
        arenaut_read(context, strlen(context), NULL, &options, allocator, &document, &err);
    arenaut_document_free(&document);
    return st;
}

TEST(reading_open_sizes_survives_every_allocation_failure) {
    char text[1000];
    snprintf(text, sizeof text, "%s", open_text("arith.muli %0, %1"));
    survives_every_allocation_failure(read_open, text);
}

TEST(reading_a_program_survives_every_allocation_failure) {
    bytes b = data_bytes("iree/branches.mlir");
    survives_every_allocation_failure(read_branches, &b);
    free_bytes(&b);
}
