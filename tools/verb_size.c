/* size: how big must the arena be? One row a file, in a table that is printed at the end, and
 * behind it, for a single file, its other memory. Nothing is written. */
#include <inttypes.h>
#include <string.h>

#include "what_if.h"
#include "describe.h"
#include "one_arena.h"
#include "progress.h"
#include "tool.h"
#include "verb.h"
#include "whole_arena.h"

static void put_heading(text_table *table) {
    static const char *const names[] = {"file",    "now",          "planned", "",        "bound",
                                        "largest", "tensor_arena", "planned", "peak at", "proven"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) table_cell(table, names[i]);
}

static void put_reservation(const reservation *need, text_table *table) {
    table_cellf(table, "%s%s", need->unknown ? ">= " : "", with_commas(need->bytes).text);
}

/* Bytes to reserve, as it is and as planned, if they are more than the tensors. */
static void put_arenas(const tool_job *job, text_table *table) {
    const bool whole = has_whole_arena(job) && job->pipeline->plan->quality != ARENAUT_INFEASIBLE;
    const reservation now = whole ? reserved_as_it_is(job) : (reservation){0};
    const reservation planned = whole ? reserved_for(job, job->pipeline->figures.planned) : now;
    if (whole && job->pipeline->baseline.plan) put_reservation(&now, table);
    else table_cell(table, "");
    if (whole) put_reservation(&planned, table);
    else table_cell(table, "");
}

/* One line per file; "!" marks a plan in the file that is wrong, so that its size means little. */
static exit_code put_row(const tool_job *job, const char *name, text_table *table) {
    arenaut_peak peak;
    arenaut_error err = {0};
    if (arenaut_peak_find(job->pipeline->problem, NULL, &peak, &err)) {
        return complain_error(job->path, &err);
    }
    arenaut_text where = {0};
    const arenaut_plan *baseline = job->pipeline->baseline.plan, *plan = job->pipeline->plan;
    const bool feasible = plan->quality != ARENAUT_INFEASIBLE;
    describe_step(job->pipeline, peak.step, &where);
    table_cell(table, name);
    table_cellf(table, "%s%s", baseline ? with_commas(job->pipeline->figures.now).text : "-",
                job->pipeline->baseline.overlaps ? "!" : "");
    table_cell(table, feasible ? with_commas(job->pipeline->figures.planned).text : "no plan");
    table_cell(table,
               baseline && feasible && job->pipeline->figures.planned != job->pipeline->figures.now
                   ? change_percent(job->pipeline->figures.now, job->pipeline->figures.planned).text
                   : "");
    table_cell(table, with_commas(job->pipeline->figures.bound).text);
    table_cell(table, with_commas(largest_buffer(job->pipeline->problem)).text);
    put_arenas(job, table);
    table_cell(table, peak.n_live ? where.bytes : "-");
    table_cell(table, plan->quality == ARENAUT_OPTIMAL                           ? "minimal"
                      : plan->quality == ARENAUT_INFEASIBLE                      ? "impossible"
                      : job->pipeline->op_outside != ARENAUT_NONE                ? "decode unknown"
                      : job->pipeline->result.scratch == ARENAUT_SCRATCH_UNKNOWN ? "scratch unknown"
                                                                                 : "");
    arenaut_text_free(&where);
    arenaut_peak_free(&peak, NULL);
    return EXIT_FINE;
}

/* The needs of all files that could be answered. */
typedef struct totals {
    uint64_t now, planned;
    size_t n;
    bool now_known;       /* of all of them */
    arenaut_text kernels; /* names of the sets that the whole arenas depend on: "a, b" */
    arenaut_text heading; /* the line about them, of a file that is alone */
} totals;

/* Whether `name` is one of the names so far. */
static bool is_named(const arenaut_text *names, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = names->size ? names->bytes : NULL; at; at = strstr(at, ", ")) {
        at += *at == ',' ? 2 : 0;
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

static void add_kernels(const tool_job *job, totals *sums) {
    const arenaut_kernel_set *kernels = job->pipeline->kernels;
    if (!has_whole_arena(job) || !kernels || is_named(&sums->kernels, kernels->name)) return;
    text_put(&sums->kernels, sums->kernels.size ? ", " : "");
    text_put_clean(&sums->kernels, kernels->name);
}

static void add_to_totals(const tool_job *job, totals *sums) {
    if (job->pipeline->plan->quality == ARENAUT_INFEASIBLE) return;
    sums->n++;
    sums->planned += job->pipeline->figures.planned;
    sums->now_known = sums->now_known && job->pipeline->baseline.plan;
    if (job->pipeline->baseline.plan) sums->now += job->pipeline->figures.now;
}

static void put_totals(const totals *sums, text_table *table) {
    table_cellf(table, "%zu file%s", sums->n, sums->n == 1 ? "" : "s");
    table_cell(table, sums->now_known ? with_commas(sums->now).text : "-");
    table_cell(table, with_commas(sums->planned).text);
    table_cell(table, sums->now_known && sums->now != sums->planned
                          ? change_percent(sums->now, sums->planned).text
                          : "");
    for (int i = 0; i < 6; i++) table_cell(table, "");
}

/* The bytes of a runtime that lives in its own arena depend on its kernels. */
static void put_kernels(const tool_job *job, const char *head, arenaut_text *out) {
    const arenaut_pipeline *p = job->pipeline;
    if (!has_whole_arena(job) || !p->kernels || stands_on_kernels(p)) {
        describe_kernels(p, head, out);
        return;
    }
    text_put(out, head);
    text_put_clean(out, p->kernels->name);
    text_put(out, p->unmeasured ? ", with rules that were only read in their source\n" : "\n");
}

/* Other memory of the same arena, and facts that qualify the figures. */
static exit_code put_details(const tool_job *job, bool alone, arenaut_text *out) {
    const arenaut_plan *plan = job->pipeline->plan;
    const arenaut_baseline *baseline = &job->pipeline->baseline;
    if (plan->quality == ARENAUT_INFEASIBLE) {
        text_put(out, "\n  ");
        describe_witness(job->pipeline, out);
        text_put(out, "\n");
        return EXIT_FINE;
    }
    text_printf(out, "\n  %s %s bytes (%s), ", has_whole_arena(job) ? "head    " : "arena   ",
                with_commas(job->pipeline->figures.planned).text,
                in_units(job->pipeline->figures.planned).text);
    describe_quality(job->pipeline, out);
    text_put(out, "\n");
    if (job->pipeline->memories.n > 1) put_memories(job->pipeline, "  ", out);
    if (!job->pipeline->memories.rows || job->options->pool.n > 0) put_pools(job->pipeline, 9, out);
    describe_split(job->pipeline, "  split    ", out);
    describe_recompute(job->pipeline, "  recompute ", out);
    describe_order(job->pipeline, "  order    ", out);
    describe_outside(job->pipeline, "  outside  ", out);
    if (!alone) put_kernels(job, "  kernels  ", out);
    describe_refused(job->pipeline, "  runs     ", out);
    if (job->pipeline->result.scratch == ARENAUT_SCRATCH_UNKNOWN) {
        text_put(out,
                 "  scratch  unknown: some kernels of this model ask for working memory that "
                 "is not in\n           the file; --scratch FILE gives it\n");
    }
    describe_compressed(job->pipeline, "  packed   ", out);
    if (baseline->overlaps) {
        text_printf(out, "  now      the plan in the file is wrong: %s\n", baseline->finding.msg);
    }
    if (baseline->in_place) {
        text_printf(out,
                    "  now      the plan in the file has results %s operands, as the kernels '",
                    baseline->reaches ? "that reach into" : "over");
        text_put_clean(out, job->pipeline->kernels->name);
        text_put(out, "' allow\n");
    } else if (baseline->from_file && baseline->shares && !baseline->overlaps) {
        text_put(out,
                 "  now      the plan in the file lets values share memory as only its maker can "
                 "know to be safe\n");
    }
    const exit_code code = describe_trace(job, out);
    return has_whole_arena(job) ? graver(code, put_whole_arena(job, out)) : code;
}

/* A budget is asked of the file as it is, where that is known. */
static reservation judged(const tool_job *job) {
    const bool known = has_whole_arena(job) && job->pipeline->baseline.plan;
    return known ? reserved_as_it_is(job) : reserved_needed(job);
}

/* A file that cannot be read is complained about, and the others are still answered. */
static exit_code size_one(const tool_options *options, size_t index, text_table *table,
                          totals *sums, one_arena *all, arenaut_text *json, arenaut_text *details) {
    tool_job job;
    const bool merged = is_merged(options), alone = merged || options->files.n == 1;
    exit_code code = merged ? job_read_merged(&job, options)
                            : job_read(&job, options->files.items[index], options);
    if (code == EXIT_FINE) code = job_describe_or_better(&job);
    const char *name = options->folder ? options->names.items[index] : base_name(job.path);
    const bool answered = job_is_answered(&job, code);
    if (answered && (options->json || options->jsonl)) {
        if (!merged) begin_json_item(options, json->size != 0, json);
        arenaut_text more = {0};
        const reservation need = judged(&job);
        code = graver(code, put_json_token_offsets(&job, &more));
        code = graver(code, put_json_whole_arena(&job, &more));
        code = graver(code, put_trace_json(&job, &more));
        code = graver(code, put_json_with(&job, &need, more.bytes, json));
        arenaut_text_free(&more);
    } else if (answered) {
        code = graver(code, put_row(&job, name, table));
        add_to_totals(&job, sums);
        if (alone) {
            put_kernels(&job, "kernels  ", &sums->heading);
        } else {
            add_kernels(&job, sums);
            text_put(details, "\n");
            text_put_clean(details, job.path);
        }
        code = graver(code, put_details(&job, alone, details));
        code = graver(code, put_token_offsets(&job, "  ", details));
    }
    if (answered && options->one_arena && job.pipeline->plan->quality != ARENAUT_INFEASIBLE) {
        code = graver(code, one_arena_add(all, &job, name, false));
    } else if (answered && code == EXIT_FINE) {
        const reservation need = judged(&job);
        code = check_budget(job.path, options, &need);
    }
    code = job_end(&job, code);
    job_close(&job);
    return code;
}

static void note_repeated(const text_list *files) {
    for (size_t i = 0; i < files->n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(files->items[i], files->items[k]) != 0) continue;
            note(files->items[i], "is given twice, and counts twice in the sums");
            break;
        }
    }
}

/* The files that are looked at, and their figures. */
typedef struct answers {
    text_table table;
    arenaut_text details;
    totals sums;
    one_arena all;
    size_t n;
    bool whole; /* the shared arena is known */
} answers;

static void put_json_end(const tool_options *options, const answers *a, arenaut_text *out) {
    if (a->whole) {
        begin_json_item(options, out->size, out);
        put_json_one_arena(&a->all, false, out);
    }
    if (!is_merged(options)) end_json_items(options, out->size, out);
}

static void put_table(const tool_options *options, answers *a, arenaut_text *out) {
    const text_style style = style_for(options->color);
    const bool detailed = a->n == 1 || options->verbose > 0;
    if (a->sums.kernels.size) text_printf(out, "kernels  %s\n", a->sums.kernels.bytes);
    if (a->sums.heading.size) text_put(out, a->sums.heading.bytes);
    if (a->n > 1 && !a->whole) put_totals(&a->sums, &a->table);
    table_end(&a->table, out, style.bold, style.plain);
    if (detailed && a->details.bytes && !options->quiet) text_put(out, a->details.bytes);
    if (a->whole) text_put(out, "\n");
    if (a->whole) put_one_arena(&a->all, out);
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    answers a = {.sums = {.now_known = true}, .n = is_merged(options) ? 1 : options->files.n};
    exit_code code = EXIT_FINE;
    if (!is_merged(options)) note_repeated(&options->files);
    table_begin(&a.table, "lrrrrrRRll");
    put_heading(&a.table);
    for (size_t i = 0; i < a.n && !interrupted(); i++) {
        code = graver(code, size_one(options, i, &a.table, &a.sums, &a.all, out, &a.details));
    }
    a.whole = options->one_arena && one_arena_is_whole(&a.all, a.n, code);
    if (a.whole) code = check_budget("one arena", options, one_arena_need(&a.all, false));
    const bool json = options->json || options->jsonl;
    if (json) put_json_end(options, &a, out);
    if (!json && a.table.n_cells > a.table.n_columns) put_table(options, &a, out);
    else table_drop(&a.table);
    arenaut_text_free(&a.details);
    arenaut_text_free(&a.sums.kernels);
    arenaut_text_free(&a.sums.heading);
    one_arena_free(&a.all);
    return code;
}

extern const tool_verb verb_size;
const tool_verb verb_size = {
    .name = "size",
    .summary = "how big the arena is now, and how big it must be",
    .arguments = "FILE...",
    .examples =
        "arenaut size model.tflite\n"
        "arenaut size *.tflite\n"
        "arenaut size model.tflite --budget 64K   # exit 1 if it does not fit",
    .notes =
        "A folder stands for every file below it.\n"
        "'now' is the plan in the file or of its runtime, 'bound' a proven lower bound of all "
        "plans.\n"
        "One file, or -v, also shows other memory.",
    .groups = GROUP_COMMON | GROUP_JSON | GROUP_INPUT | GROUP_MODEL | GROUP_SEARCH | GROUP_BUDGET |
              GROUP_SEVERAL,
    .min_files = 1,
    .max_files = SIZE_MAX,
    .run = run,
};
