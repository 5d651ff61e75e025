/* bench: planners by files: planned bytes, gap to the bound, effort, time. A file is prepared once,
 * and each planner plans the same problem, without the runtime's use of the plan. Rows that have
 * the same bound share its proof. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bound_proof.h"
#include "job.h"
#include "tool.h"
#include "verb.h"

enum { MAX_PLANNERS = 128 };

typedef struct bench {
    const tool_options *options;
    const char *planners[MAX_PLANNERS];
    char names[1024]; /* --planner, cut at its commas */
    size_t n_planners;
    text_table table;
    arenaut_text *json;
    size_t rows;
    bound_proof proof; /* of the bound of the row at work */
    bool proven;       /* it is about this file: rows with the same bound share it */
} bench;

/* "a,b" of --planner; without it, the whole table. */
static exit_code choose_planners(bench *b) {
    const char *wanted = b->options->planner;
    if (!wanted || strcmp(wanted, "all") == 0) {
        for (size_t i = 0; i < arenaut_planner_count() && i < MAX_PLANNERS; i++) {
            b->planners[b->n_planners++] = arenaut_planner_at(i)->name;
        }
        return EXIT_FINE;
    }
    if (strlen(wanted) >= sizeof b->names) return complain(EXIT_USAGE, NULL, "--planner: too long");
    strcpy(b->names, wanted);
    for (char *at = b->names; at && b->n_planners < MAX_PLANNERS;) {
        char *comma = strchr(at, ',');
        if (comma) *comma++ = '\0';
        const exit_code code = check_planner_name(at);
        if (code != EXIT_FINE) return code;
        b->planners[b->n_planners++] = at;
        at = comma;
    }
    return EXIT_FINE;
}

/* Rows are put one by one: an interrupted benchmark still prints its measured rows. */
static void put_json_row(bench *b, const tool_job *job, const char *planner, const char *refusal) {
    const arenaut_plan *plan = job->pipeline->plan;
    text_printf(b->json, "%s\n{\"file\":", b->rows++ ? "," : "");
    text_put_json(b->json, job->path);
    text_put(b->json, ",\"planner\":");
    text_put_json(b->json, planner);
    if (refusal) {
        text_put(b->json, ",\"refused\":");
        text_put_json(b->json, refusal);
    } else {
        text_printf(b->json,
                    ",\"status\":\"%s\",\"arena\":%" PRIu64 ",\"lower_bound\":%" PRIu64
                    ",\"stopped_by\":\"%s\",\"effort\":%" PRIu64 ",\"seconds\":%.6f",
                    arenaut_quality_name(plan->quality), plan->total, plan->total_bound,
                    arenaut_stop_name(plan->stopped_by), plan->effort,
                    job->pipeline->result.seconds);
        text_put(b->json, ",\"proof\":");
        put_json_proof(&b->proof, b->json);
    }
    text_put(b->json, "}");
}

static void put_table_row(bench *b, const tool_job *job, const char *planner, const char *refusal) {
    const arenaut_plan *plan = job->pipeline->plan;
    text_table *t = &b->table;
    table_cell(t, base_name(job->path));
    table_cell(t, planner);
    if (refusal || plan->quality == ARENAUT_INFEASIBLE) {
        for (int i = 0; i < 4; i++) table_cell(t, "-");
        table_cell(t, refusal ? "-" : b->proof.text);
        table_cell(t, refusal ? refusal : "there is no plan");
        return;
    }
    table_cell(t, with_commas(plan->total).text);
    table_cell(t, tenths_percent(plan->total - plan->total_bound, plan->total_bound).text);
    table_cell(t, with_commas(plan->effort).text);
    table_cellf(t, "%.3f ms", job->pipeline->result.seconds * 1000);
    table_cell(t, b->proof.text);
    table_cell(t, plan->quality == ARENAUT_OPTIMAL       ? "minimal"
                  : plan->stopped_by == ARENAUT_STOP_END ? ""
                                                         : arenaut_stop_name(plan->stopped_by));
}

static void put_result(bench *b, const tool_job *job, const char *planner, const char *refusal) {
    if (b->options->json || b->options->jsonl) put_json_row(b, job, planner, refusal);
    else put_table_row(b, job, planner, refusal);
}

/* Every row says why no plan is below its bound. Most rows of a file have the same. */
static exit_code prove_row(bench *b, const tool_job *job) {
    const arenaut_pipeline *p = job->pipeline;
    const uint64_t effort = job->options->effort == NOT_GIVEN ? 0 : job->options->effort;
    if (b->proven && b->proof.bound == bound_to_prove(p->plan)) return EXIT_FINE;
    const exit_code code = prove_bound(job->path, p->problem, p->plan, effort, &b->proof);
    b->proven = code == EXIT_FINE;
    return code;
}

/* A planner that cannot express the problem, or found no plan, is a row, not an error. */
static exit_code bench_planner(bench *b, tool_job *job, const char *planner) {
    arenaut_error err = {0};
    job->pipeline->options.plan.planner = planner;
    const arenaut_status st = arenaut_pipeline_plan(job->pipeline, &err);
    const bool refused = st == ARENAUT_REFUSED || st == ARENAUT_NOT_FOUND;
    exit_code code = refused ? EXIT_FINE : job_judge_plan(job, st, &err);
    const bool answered = job_is_answered(job, code);
    if (answered) code = prove_row(b, job);
    if (refused || (answered && code == EXIT_FINE)) {
        put_result(b, job, planner, refused ? err.msg : NULL);
    }
    return job->stopped ? EXIT_INTERRUPT : code == EXIT_NEGATIVE ? EXIT_FINE : code;
}

/* The problem is made once and handed to every planner, so the times compare. */
static exit_code bench_file(bench *b, const char *path) {
    tool_job job;
    tool_options quiet = *b->options;
    quiet.planner = NULL;
    b->proven = false;
    exit_code code = job_read(&job, path, &quiet);
    if (code == EXIT_FINE) code = job_prepare(&job);
    if (code == EXIT_FINE) job.pipeline->options.plan_as_made = true;
    for (size_t i = 0; i < b->n_planners && code == EXIT_FINE; i++) {
        code = bench_planner(b, &job, b->planners[i]);
    }
    job_close(&job);
    return code;
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    static const char *const heading[] = {"file",   "planner", "planned", "gap",
                                          "effort", "time",    "proof",   ""};
    const text_style style = style_for(options->color);
    bench b = {.options = options, .json = out};
    exit_code code = choose_planners(&b);
    if (code == EXIT_FINE && options->share) {
        code = complain(EXIT_USAGE, NULL,
                        "--share: bench plans every file alone; 'arenaut plan' "
                        "takes several as one program");
    }
    if (code != EXIT_FINE) return code;
    const bool json = options->json || options->jsonl;
    table_begin(&b.table, "llrrrrll");
    for (size_t i = 0; i < sizeof heading / sizeof *heading; i++) table_cell(&b.table, heading[i]);
    if (json) text_put(out, "{\"schema\":\"arenaut.bench/1\",\"runs\":[");
    for (size_t i = 0; i < options->files.n && !interrupted(); i++) {
        code = graver(code, bench_file(&b, options->files.items[i]));
    }
    if (json) {
        text_put(out, "\n]}\n");
        table_drop(&b.table);
    } else {
        table_end(&b.table, out, style.bold, style.plain);
    }
    return code;
}

extern const tool_verb verb_bench;
const tool_verb verb_bench = {
    .name = "bench",
    .summary = "planners by files: planned bytes, gap to the bound, effort, time",
    .arguments = "FILE...",
    .examples =
        "arenaut bench *.tflite\n"
        "arenaut bench problem.csv --planner auto,best-fit --json",
    .notes =
        "Without --planner every planner of the table runs. The time is the planner's alone.\n"
        "The proof says why no plan is below the bound: the checker has followed it.",
    .groups = GROUP_COMMON | GROUP_JSON | GROUP_INPUT | GROUP_MODEL | GROUP_SEARCH,
    .min_files = 1,
    .max_files = SIZE_MAX,
    .run = run,
};
