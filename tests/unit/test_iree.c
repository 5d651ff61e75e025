/* IREE's programs: slabs of real ones (tests/models/make_iree.py) with the sizes that its compiler
 * gave them, texts written here, and what is refused. */
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

static bytes real_text(const char *name) {
    char path[300];
    snprintf(path, sizeof path, "%s/iree/%s", TEST_DATA, name);
    return read_bytes(path);
}

static arenaut_document read_real(const char *name) {
    bytes b = real_text(name);
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

/* ---- what is read ---- */

TEST(slices_are_buffers_that_live_from_step_to_step) {
    arenaut_document document = read_text(NULL, small);
    const arenaut_problem *p = document.problem;
    assert_int_equal(p->n_buffers, 2);
    assert_string_equal(p->pool[0].name, "main");
    assert_int_equal(p->pool[0].align, 64);
    assert_string_equal(p->name[0], "%2#1");
    assert_string_equal(p->op[0], "first");
    assert_string_equal(p->op[1], "fill"); /* what comes first */
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

TEST(what_is_printed_last_of_a_function_counts) {
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

/* ---- what the compiler makes of it ---- */

/* Holds the planner row, and the pipeline's word of what is done today, against the size that
 * iree-compile gave the slab. */
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

TEST(what_the_compiler_does_today_is_the_baseline) {
    bytes b = real_text("branches.mlir");
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

/* ---- what is refused ---- */

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

TEST(damaged_texts_are_refused_or_hold_to_the_property) {
    bytes real = real_text("two_functions.mlir");
    bytes own = copy_bytes(small, sizeof small - 1);
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

TEST(reading_a_program_survives_every_allocation_failure) {
    bytes b = real_text("branches.mlir");
    survives_every_allocation_failure(read_branches, &b);
    free_bytes(&b);
}
