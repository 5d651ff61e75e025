/* The table of targets; and whole models: their lowering against figures of the runtimes
 * themselves. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "passes/scratch.h"
#include "support/corpus.h"
#include "support/lowerings.h"

/* ---- the table ---- */

TEST(targets_are_found_by_name_and_by_format) {
    for (size_t i = 0; i < arenaut_target_count(); i++) {
        const arenaut_target *target = arenaut_target_at(i);
        assert_ptr_equal(arenaut_target_find(target->name), target);
        assert_non_null(target->summary);
    }
    assert_null(arenaut_target_at(arenaut_target_count()));
    assert_null(arenaut_target_find("no such target"));
    assert_string_equal(arenaut_target_for_format("tflite")->name, "tflite-micro");
    assert_string_equal(arenaut_target_for_format("csv")->name, "generic");
    assert_string_equal(arenaut_target_for_format(NULL)->name, "generic");
}

TEST(every_row_makes_sense) {
    for (size_t i = 0; i < arenaut_target_count(); i++) {
        const arenaut_target *target = arenaut_target_at(i);
        assert_true(target->align != 0 && (target->align & (target->align - 1)) == 0);
        assert_non_null(target->incumbent);
    }
}

TEST(every_kernel_set_makes_sense) {
    for (size_t i = 0; i < arenaut_kernel_set_count(); i++) {
        const arenaut_kernel_set *kernels = arenaut_kernel_set_at(i);
        assert_ptr_equal(arenaut_kernel_set_find(kernels->name), kernels);
        for (const arenaut_scratch_rule *a = kernels->scratch; a && a->op; a++) {
            for (const arenaut_scratch_rule *b = kernels->scratch; b < a; b++) {
                assert_string_not_equal(a->op, b->op);
            }
        }
        for (const arenaut_in_place_rule *a = kernels->in_place; a && a->op; a++) {
            for (const arenaut_in_place_rule *b = kernels->in_place; b < a; b++) {
                const bool same =
                    strcmp(a->op, b->op) == 0 && a->input == b->input && a->output == b->output;
                if (same) fail_msg("%s: two in-place rules for %s alike", kernels->name, a->op);
            }
        }
    }
}

TEST(every_incumbent_is_a_planner) {
    for (size_t i = 0; i < arenaut_target_count(); i++) {
        const arenaut_target *target = arenaut_target_at(i);
        if (!arenaut_planner_find(target->incumbent)) {
            fail_msg("%s: there is no planner '%s'", target->name, target->incumbent);
        }
    }
}

/* ---- models ---- */

static uint8_t *read_whole(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

static arenaut_program *read_program(const char *path) {
    size_t size;
    uint8_t *data = read_whole(path, &size);
    arenaut_document document = {0};
    arenaut_error err = {0};
    assert_ok(arenaut_read(data, size, NULL, NULL, NULL, &document, &err), err);
    free(data);
    assert_non_null(document.program);
    return document.program;
}

/* A row of a corpus problem: s<subgraph>t<tensor>, or scratch<number>. */
typedef struct row {
    char id[32];
    long lower, upper;
    unsigned long size;
} row;

static bool is_scratch(const row *r) { return strncmp(r->id, "scratch", 7) == 0; }

static row *read_rows(const char *path, size_t *n) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    row *rows = malloc(4096 * sizeof *rows);
    assert_non_null(rows);
    *n = 0;
    assert_int_equal(fscanf(file, "id,lower,upper,size\n"), 0);
    while (*n < 4096) {
        row *r = &rows[*n];
        const int read =
            fscanf(file, "%31[^,],%ld,%ld,%lu\n", r->id, &r->lower, &r->upper, &r->size);
        if (read != 4) break;
        ++*n;
    }
    fclose(file);
    assert_in_range(*n, 1, 4095);
    return rows;
}

/* The corpus counts from the first step of any tensor, be it -1. */
static int64_t first_step(const arenaut_problem *problem) {
    int64_t first = 0;
    for (uint32_t i = 0; i < problem->n_lifetimes; i++) {
        if (problem->lifetime[i].first < first) first = problem->lifetime[i].first;
    }
    return first;
}

static void id_of(const arenaut_program *program, const arenaut_lowering *l, uint32_t buffer,
                  char id[32]) {
    const arenaut_tensor *tensor = &program->tensors[l->tensor[buffer]];
    if (tensor->cls == ARENAUT_SCRATCH) snprintf(id, 32, "%s", tensor->name);
    else snprintf(id, 32, "s%ut%u", (unsigned)tensor->method, (unsigned)tensor->file_index);
}

static void expect_rows(const arenaut_program *program, const row *rows, size_t n) {
    arenaut_lowering *l = lower_program(program, "tflite-micro");
    const arenaut_problem *problem = l->problem;
    const int64_t shift = first_step(problem);
    assert_int_equal(problem->n_buffers, n);
    for (uint32_t b = 0; b < n; b++) {
        char id[32];
        id_of(program, l, b, id);
        assert_string_equal(id, rows[b].id);
        assert_int_equal(arenaut_problem_lifetime_count(problem, b), 1);
        const arenaut_interval life = arenaut_problem_lifetimes(problem, b)[0];
        if (life.first - shift != rows[b].lower || life.end - shift != rows[b].upper ||
            problem->size[b] != rows[b].size) {
            fail_msg("%s: [%ld,%ld) of %lu bytes, the runtime has [%ld,%ld) of %lu", id,
                     (long)(life.first - shift), (long)(life.end - shift),
                     (unsigned long)problem->size[b], rows[b].lower, rows[b].upper, rows[b].size);
        }
        assert_int_equal(arenaut_problem_align(problem, b), 16);
    }
    arenaut_lowering_free(l);
}

/* Gives the program the scratch that the rows tell of: a row's first step names its op. */
static void add_scratch(arenaut_program *program, const row *rows, size_t n) {
    arenaut_scratch_entry *entries = malloc(n * sizeof *entries);
    assert_non_null(entries);
    arenaut_pass_options options = {.target = arenaut_target_find("tflite-micro")};
    arenaut_lowering *l = lower_program(program, "tflite-micro");
    for (size_t i = 0; i < n; i++) {
        if (!is_scratch(&rows[i])) continue;
        const int64_t step = rows[i].lower + first_step(l->problem);
        assert_true(step >= 0 && step < l->n_steps);
        const arenaut_step at = l->steps[step];
        const uint32_t op = at.op - program->methods[at.method].first_op;
        entries[options.n_scratch++] = (arenaut_scratch_entry){at.method, op, rows[i].size};
    }
    arenaut_lowering_free(l);
    assert_true(options.n_scratch > 0);
    /* The runtime asked for it, so the kernels' list must have known. */
    assert_int_equal(arn_scratch_known(program, options.target->kernels, NULL),
                     ARENAUT_SCRATCH_UNKNOWN);
    options.scratch = entries;
    arenaut_error err = {0};
    assert_ok(arenaut_passes_run(program, NULL, &options, NULL, NULL, &err), err);
    assert_int_equal(arn_scratch_known(program, options.target->kernels, NULL),
                     ARENAUT_SCRATCH_GIVEN);
    free(entries);
}

static void compare_with_csv(const char *model, const char *suffix, bool with_scratch) {
    char path[512], name[128];
    size_t n;
    snprintf(name, sizeof name, "tflite_csv/%s%s", model, suffix);
    corpus_path_or_skip(path, name);
    row *rows = read_rows(path, &n);
    snprintf(name, sizeof name, "tflite/%s.tflite", model);
    corpus_path_or_skip(path, name);
    arenaut_program *program = read_program(path);
    if (with_scratch) add_scratch(program, rows, n);
    expect_rows(program, rows, n);
    arn_program_free(program);
    free(rows);
}

/* Exactly the buffers, sizes and lifetimes that the micro runtime hands its own planner. */
TEST(lifetimes_equal_the_micro_runtimes) {
    static const char *const models[] = {
        "audio_preprocessor_int8",
        "dtln_noise_suppression",
        "hello_world_int8",
        "keyword_scrambled",
        "keyword_scrambled_8bit",
        "litert_call_once_mul",
        "litert_dynamic_shapes",
        "litert_multi_subgraphs_while",
        "litert_nested_while",
        "mcunet_vww",
        "mcunetv2_large",
        "micro_speech_lstm",
        "micro_speech_quantized",
        "mlperf_ad01_int8",
        "mlperf_kws_float",
        "mlperf_kws_int8",
        "mlperf_resnet8_int8",
        "mlperf_resnet_large_int8",
        "mlperf_strww_int8",
        "mlperf_vww96_float",
        "mlperf_vww96_int8",
        "mobilenet_v2_int8_nchw",
        "mp_face_detection_full_sparse",
        "mp_face_detection_short",
        "mp_face_landmark",
        "mp_face_landmark_attention",
        "mp_hand_landmark_lite",
        "mp_palm_detection_lite",
        "mp_pose_detection",
        "mww_alexa",
        "oww_embedding",
        "person_detect",
        "person_detect_vela",
        "tinyengine_detection",
        "torchaudio_conformer",
        "trained_lstm_int8",
    };
    for (size_t i = 0; i < COUNT_OF(models); i++) compare_with_csv(models[i], ".csv", false);
}

TEST(scratch_is_alive_as_in_the_micro_runtime) {
    static const char *const models[] = {
        "audio_preprocessor_int8",
        "dtln_noise_suppression",
        "keyword_scrambled",
        "keyword_scrambled_8bit",
        "mcunet_vww",
        "mcunetv2_large",
        "micro_speech_lstm",
        "mobilenet_v2_int8_nchw",
        "torchaudio_conformer",
        "trained_lstm_int8",
    };
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        compare_with_csv(models[i], ".scratch.csv", true);
    }
}

static arenaut_program *read_corpus_model(const char *model) {
    char path[512], name[128];
    snprintf(name, sizeof name, "tflite/%s.tflite", model);
    corpus_path_or_skip(path, name);
    return read_program(path);
}

/* The first method's arena as LiteRT's own planner lays it out, kernel temporaries aside. */
TEST(litert_arenas_equal_a_replica_of_its_planner) {
    static const struct {
        const char *model;
        uint64_t arena;
    } cases[] = {
        {"hello_world_int8", 144},
        {"dtln_noise_suppression", 897},
        {"keyword_scrambled", 384},
        {"litert_call_once_mul", 132},
        {"litert_multi_subgraphs_while", 196},
        {"litert_nested_while", 68},
        {"mcunet_vww", 238272},
        {"mlperf_ad01_int8", 1408},
        {"mlperf_kws_int8", 16512},
        {"mlperf_resnet8_int8", 52224},
        {"mlperf_strww_int8", 7872},
        {"mlperf_vww96_int8", 82944},
        {"oww_embedding", 464384},
        {"person_detect", 64512},
        {"tinyengine_detection", 582784},
        {"mp_face_landmark_attention", 2367104},
    };
    const arenaut_plan_options options = {.planner = "tflite-arena"};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_program *program = read_corpus_model(cases[i].model);
        arenaut_lowering *l = lower_program(program, "litert");
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_ok(arenaut_plan_make(l->problem, &options, NULL, &plan, &err), err);
        if (plan->arena[0] != cases[i].arena) {
            fail_msg("%s: %lu bytes, expected %lu", cases[i].model, (unsigned long)plan->arena[0],
                     (unsigned long)cases[i].arena);
        }
        arenaut_plan_free(plan);
        free_lowering(l, program);
    }
}

/* Most bytes at one step, a buffer written over another counting once where they meet. */
static uint64_t load_in_place(const arenaut_problem *problem, size_t *n_pairs) {
    uint64_t most = 0;
    *n_pairs = 0;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        *n_pairs += arenaut_problem_same_base(problem, b) != ARENAUT_NONE;
    }
    for (uint32_t i = 0; i < problem->n_lifetimes; i++) {
        const int64_t step = problem->lifetime[i].first;
        uint64_t live = 0;
        for (uint32_t b = 0; b < problem->n_buffers; b++) {
            const arenaut_interval *life = arenaut_problem_lifetimes(problem, b);
            const bool joined = arenaut_problem_same_base(problem, b) != ARENAUT_NONE;
            if (life->first + joined <= step && step < life->end) live += problem->size[b];
        }
        if (live > most) most = live;
    }
    return most;
}

/* Ops that write over a dying operand: the savings were measured in the runtime. */
TEST(in_place_loads_equal_what_was_measured) {
    static const struct {
        const char *model;
        uint64_t apart, in_place;
    } cases[] = {
        {"torchaudio_conformer", 38069408, 22257408}, {"mp_face_detection_short", 1376256, 1310720},
        {"dtln_noise_suppression", 544, 400},         {"litert_call_once_mul", 48, 32},
        {"litert_multi_subgraphs_while", 128, 112},   {"mlperf_vww96_int8", 55296, 55296},
    };
    const arenaut_pass_options options = {.target = arenaut_target_find("tflite-micro")};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_program *program = read_corpus_model(cases[i].model);
        arenaut_error err = {0};
        size_t n_pairs;
        arenaut_lowering *l = lower_program(program, "tflite-micro");
        assert_int_equal(load_in_place(l->problem, &n_pairs), cases[i].apart);
        assert_int_equal(n_pairs, 0);
        arenaut_lowering_free(l);
        assert_ok(arenaut_passes_run(program, "inplace,-scratch", &options, NULL, NULL, &err), err);
        l = lower_program(program, "tflite-micro");
        assert_int_equal(load_in_place(l->problem, &n_pairs), cases[i].in_place);
        free_lowering(l, program);
    }
}
