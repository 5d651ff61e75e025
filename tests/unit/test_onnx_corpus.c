/* ONNX models as exporters write them: the problem made of each is, row for row, the one that was
 * worked out for it by other means (ONNX's own inference, and runs of ONNX Runtime), and every plan
 * is proven, or nearly so. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/expr.h>
#include <arenaut/format.h>
#include <arenaut/lowering.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "ir/expr.h"
#include "support/corpus.h"
#include "support/documents.h"
#include "support/oracle.h"

/* Sizes that the files leave open, as they were bound for the tables; "*": all others. And how
 * many bytes are alive at most if elementwise ops write over an operand, by a rough count of
 * others: 0 where subgraphs take part, which that count leaves out. */
typedef struct model {
    const char *name, *dims;
    uint64_t in_place;
} model;

static const model models[] = {
    {"bert_base", "batch=1 seq=128", 2621496},
    {"cond_net", "batch=1", 0},
    {"ddddocr_det", "*=1", 8306688},
    {"densenet121", "batch=1", 7225344},
    {"efficientnet_b0", "batch=1", 9633792},
    {"gpt2_kv", "batch=1 past=127 total=128", 406016},
    {"hrnet_w18_small", "batch=1", 4014080},
    {"light_bvlc_alexnet", "*=1", 2239488},
    {"light_densenet121", "*=1", 7225344},
    {"light_inception_v1", "*=1", 4646400},
    {"light_inception_v2", "*=1", 4014080},
    {"light_resnet50", "*=1", 9633792},
    {"light_shufflenet", "*=1", 3110912},
    {"light_squeezenet", "*=1", 3928576},
    {"light_vgg19", "*=1", 25690112},
    {"light_zfnet512", "*=1", 9124608},
    {"llama_gqa", "batch=1 seq=128", 2064512},
    {"loop_capture", "N=4", 0},
    {"magika_v3", "*=1", 2631684},
    {"mixnet_s", "batch=1", 9633792},
    {"mobilenetv2", "batch=1", 6021120},
    {"nasnetalarge", "batch=1", 29010264},
    {"pnasnet5large", "batch=1", 38986800},
    {"ppocr_det", "p2o.DynamicDimension.0=1 p2o.DynamicDimension.1=320 p2o.DynamicDimension.2=320",
     6553600},
    {"ppocr_rec", "p2o.DynamicDimension.0=1 p2o.DynamicDimension.1=320 x.2=48", 1966080},
    {"res2net50", "batch=1", 8429568},
    {"resnet50", "batch=1", 7225344},
    {"scan_rnn", "N=4", 0},
    {"sd_unet", "batch=1", 35390464},
    {"segformer_b0", "batch=1", 33554432},
    {"silero_vad_16k_op15", "batch=1 sequence=576", 8256},
    {"silero_vad_op18_ifless", "batch=1 sequence=576", 0},
    {"silero_vad_v6_fw", "seq_len=4", 37152},
    {"t5_small_enc", "batch=1 seq=128", 2113584},
    {"ts_loop_if", "batch=2", 0},
    {"unet32", "batch=1", 8388608},
    {"vit_tiny", "batch=1", 1070892},
    {"whisper_enc", "batch=1", 63216000},
    {"yolo_csp", "batch=1", 3276800},
};

static void bind(arenaut_program *program, const char *dims) {
    arenaut_error err = {0};
    char text[256], *rest = text;
    snprintf(text, sizeof text, "%s", dims);
    for (char *word = strtok(rest, " "); word; word = strtok(NULL, " ")) {
        char *equals = strrchr(word, '=');
        const int64_t value = atoi(equals + 1);
        *equals = '\0';
        if (strcmp(word, "*") != 0) {
            assert_ok(arn_program_bind(program, word, value, value, &err), err);
            continue;
        }
        for (uint32_t i = 0; i < program->n_symbols; i++) {
            const arenaut_symbol *s = &program->symbols[i];
            if (s->max != ARENAUT_UNBOUNDED) continue;
            assert_ok(arn_program_bind(program, s->name, value, value, &err), err);
        }
    }
}

static arenaut_document read_model(const char *path, const char *dims) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    size_t size;
    char *bytes = load_file(path, &size);
    assert_ok(try_read(NULL, bytes, size, NULL, &document, &err), err);
    free(bytes);
    bind(document.program, dims);
    return document;
}

static arenaut_lowering *lower(arenaut_document *document, const char *passes, bool exclude_io) {
    const arenaut_target *target = arenaut_target_find("generic");
    const arenaut_pass_options options = {.target = target};
    const arenaut_lowering_options wanted = {.exclude_io = exclude_io};
    arenaut_lowering *lowering = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_passes_run(document->program, passes, &options, NULL, NULL, &err), err);
    assert_ok(arenaut_lower(document->program, target, &wanted, NULL, &lowering, &err), err);
    return lowering;
}

/* ---- the tables ---- */

/* The op of the main graph that is at work at `step`, which may be in one of its subgraphs. */
static int64_t op_at(const arenaut_lowering *lowering, const arenaut_program *program,
                     int64_t step) {
    while (step > 0 && lowering->steps[step].method != 0) step--;
    const uint32_t op = lowering->steps[step].op;
    return op == ARENAUT_NONE ? 0 : (int64_t)(op - program->methods[0].first_op);
}

typedef struct row {
    char name[200];
    long long lower, upper, size;
} row;

static uint32_t method_of(const arenaut_problem *p, uint32_t b) {
    return p->method ? p->method[b] : 0;
}

/* The buffer of that name in the main graph; n_buffers if there is none. Commas in names are
 * semicolons in the tables. */
static uint32_t find_buffer(const arenaut_problem *p, const char *name) {
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const char *own = p->name ? p->name[b] : NULL;
        size_t i = 0;
        if (method_of(p, b) != 0 || !own) continue;
        while (name[i] && (own[i] == name[i] || (own[i] == ',' && name[i] == ';'))) i++;
        if (!name[i] && !own[i]) return b;
    }
    return p->n_buffers;
}

static unsigned compare_row(const char *table, const arenaut_lowering *lowering,
                            const arenaut_program *program, const row *r) {
    const arenaut_problem *p = lowering->problem;
    const uint32_t b = find_buffer(p, r->name);
    if (b == p->n_buffers) {
        print_message("%s: no buffer '%s'\n", table, r->name);
        return 1;
    }
    const arenaut_interval *lives = arenaut_problem_lifetimes(p, b);
    const uint32_t n = arenaut_problem_lifetime_count(p, b);
    const long long end = program->methods[0].n_ops;
    const long long first = op_at(lowering, program, lives[0].first);
    long long upper = op_at(lowering, program, lives[n - 1].end - 1) + 1;
    /* The tables keep results for one step behind the last op, at which nothing runs. */
    if (upper == end && r->upper == end + 1) upper++;
    if (first == r->lower && upper == r->upper && (long long)p->size[b] == r->size) return 0;
    print_message("%s: '%s' is [%lld, %lld) of %llu bytes, not [%lld, %lld) of %lld\n", table,
                  r->name, first, upper, (unsigned long long)p->size[b], r->lower, r->upper,
                  r->size);
    return 1;
}

/* How many rows differ, those that only one side has included. */
static unsigned compare_table(const char *name, const char *suffix,
                              const arenaut_lowering *lowering, const arenaut_program *program) {
    char path[300], line[400];
    snprintf(path, sizeof path, "%s/onnx_csv/%s%s.csv", corpus_folder(), name, suffix);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("no table %s", path);
    unsigned wrong = 0, rows = 0, ours = 0;
    while (fgets(line, sizeof line, file)) {
        row r;
        if (sscanf(line, "%199[^,],%lld,%lld,%lld", r.name, &r.lower, &r.upper, &r.size) != 4)
            continue;
        rows++;
        wrong += compare_row(path + strlen(corpus_folder()) + 1, lowering, program, &r);
    }
    fclose(file);
    for (uint32_t b = 0; b < lowering->problem->n_buffers; b++) {
        ours += method_of(lowering->problem, b) == 0;
    }
    if (ours != rows) print_message("%s%s: %u buffers, %u rows\n", name, suffix, ours, rows);
    return wrong + (ours > rows ? ours - rows : 0);
}

static unsigned compare_variant(const model *m, const char *path, const char *suffix,
                                const char *passes, bool exclude_io) {
    arenaut_document document = read_model(path, m->dims);
    arenaut_lowering *lowering = lower(&document, passes, exclude_io);
    unsigned wrong = compare_table(m->name, suffix, lowering, document.program);
    for (uint32_t t = 0; t < document.program->n_tensors; t++) {
        if (!document.program->tensors[t].unsized) continue;
        print_message("%s: '%s' has no size\n", m->name, document.program->tensors[t].name);
        wrong++;
    }
    arenaut_lowering_free(lowering);
    arenaut_document_free(&document);
    return wrong;
}

TEST(every_model_gives_the_problem_of_its_tables) {
    char path[300];
    unsigned wrong = 0;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        char file[100];
        snprintf(file, sizeof file, "onnx/%s.onnx", models[i].name);
        corpus_path_or_skip(path, file);
        wrong += compare_variant(&models[i], path, "", "-alias-views", true);
        wrong += compare_variant(&models[i], path, ".alias", "", true);
        wrong += compare_variant(&models[i], path, ".io", "-alias-views", false);
    }
    assert_int_equal(wrong, 0);
}

/* ---- plans ---- */

/* Returns the arena. The default effort counts as the time limit: it is a second or two on hard
 * instances, and nothing here is one. */
static uint64_t assert_proven(const model *m, const char *path, const char *passes,
                              bool exclude_io) {
    arenaut_document document = read_model(path, m->dims);
    arenaut_lowering *lowering = lower(&document, passes, exclude_io);
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_make(lowering->problem, NULL, NULL, &plan, &err), err);
    assert_plan_accepted(lowering->problem, plan);
    if (plan->quality != ARENAUT_OPTIMAL) {
        fail_msg("%s%s: %llu bytes, bound %llu", m->name, passes, (unsigned long long)plan->total,
                 (unsigned long long)plan->total_bound);
    }
    const uint64_t total = plan->total;
    arenaut_plan_free(plan);
    arenaut_lowering_free(lowering);
    arenaut_document_free(&document);
    return total;
}

TEST(every_plan_is_proven_minimal) {
    char path[300];
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        char file[100];
        snprintf(file, sizeof file, "onnx/%s.onnx", models[i].name);
        corpus_path_or_skip(path, file);
        const uint64_t apart = assert_proven(&models[i], path, "", true);
        const uint64_t in_place = assert_proven(&models[i], path, "inplace", true);
        assert_true(in_place <= apart);
        if (models[i].in_place) assert_true(in_place <= models[i].in_place);
        assert_proven(&models[i], path, "", false);
    }
}
