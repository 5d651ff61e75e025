/* diff: the changes between two files, as they are, or as they would be planned: totals, pools,
 * methods, and each buffer that came, went, grew or moved. In text, as JSON, as Markdown for a pull
 * request, or as a page. */
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "diff.h"
#include "one_arena.h"
#include "output.h"
#include "tool.h"
#include "verb.h"
#include "what_if.h"

/* ---- the two sides ---- */

/* The plan in the file or of its runtime; else, or if asked for, a new plan. */
static exit_code choose_result(side *s, const tool_options *options) {
    const tool_job *job = &s->job;
    if (!options->planned && incumbent_of(job, &s->result)) {
        s->made_by = job->pipeline->baseline.from_file || job->pipeline->document.plan
                         ? "plan in the file"
                         : s->result.plan->planner;
        return EXIT_FINE;
    }
    if (!options->planned && job->pipeline->baseline.overlaps) {
        return complain(EXIT_NEGATIVE, job->path,
                        "the plan in it is wrong (see 'arenaut check'); --planned compares "
                        "new plans");
    }
    const exit_code code = job_make_plan(&s->job);
    if (code == EXIT_NEGATIVE && job_is_answered(job, code))
        return complain_infeasible(job->pipeline);
    s->result = job->pipeline->result;
    s->made_by = s->result.plan ? s->result.plan->planner : "";
    return code;
}

/* Bytes to reserve for the compared plan. */
static reservation find_need(const side *s) {
    const tool_job *job = &s->job;
    if (s->result.plan == job->pipeline->baseline.plan) return reserved_as_it_is(job);
    return reserved_for(job, arena_of(s));
}

static exit_code read_side(side *s, const char *path, const tool_options *options) {
    arenaut_error err = {0};
    exit_code code = job_read(&s->job, path, options);
    if (code != EXIT_FINE) return code;
    s->job.pipeline->options.judge_given =
        true; /* even if its runtime ignores the plan in the file */
    code = job_prepare(&s->job);
    if (code == EXIT_FINE) code = job_find_baseline(&s->job);
    if (code == EXIT_FINE) code = choose_result(s, options);
    if (code == EXIT_FINE) s->need = find_need(s);
    s->whole = code == EXIT_FINE && has_whole_arena(&s->job);
    if (code == EXIT_FINE && arenaut_peak_find(s->result.problem, NULL, &s->peak, &err)) {
        return complain_error(path, &err);
    }
    return code;
}

/* ---- the verb ---- */

/* "2%", "2", "0.25%": hundredths of a percent; digits past them are dropped. */
static bool parse_percent(const char *text, uint64_t *hundredths) {
    uint64_t found = 0;
    int decimals = -1;
    if (*text < '0' || *text > '9') return false;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && decimals < 0); text++) {
        if (*text == '.') decimals = 0;
        else if (decimals < 2) {
            if (found > UINT32_MAX) return false;
            found = found * 10 + (uint64_t)(*text - '0');
            if (decimals >= 0) decimals++;
        }
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 2; i++) found *= 10;
    *hundredths = found;
    return *text == '\0' || strcmp(text, "%") == 0;
}

static bool grew_by_more(uint64_t before, uint64_t after, uint64_t hundredths) {
    enum { WHOLE = 10000 };
    if (after <= before) return false;
    if (hundredths && before / WHOLE > UINT64_MAX / 2 / hundredths) return false;
    return after - before > before / WHOLE * hundredths + before % WHOLE * hundredths / WHOLE;
}

static exit_code write_page(const diff *d) {
    const side *a = &d->sides[BEFORE];
    const arenaut_variant before = {.name = "before", .arena = arena_of(a), .result = &a->result};
    const arenaut_report_options report = {.variants = &before, .n_variants = 1};
    const output_kind kind = {NULL, arenaut_report_find("html")};
    const exit_code code = check_replaced(d->sides[AFTER].job.inputs, d->options->output, kind);
    if (code != EXIT_FINE) return code;
    return write_result(&d->sides[AFTER].job, kind, &d->sides[AFTER].result, &report,
                        d->options->output);
}

/* Requests are validated before any work is done. */
static exit_code check_asked(const tool_options *options, uint64_t *allowed) {
    const char *path = options->output;
    const char *dot = path && !output_is_direct(path) ? strrchr(base_name(path), '.') : NULL;
    if (options->fail_on_growth && !parse_percent(options->fail_on_growth, allowed)) {
        return complain(EXIT_USAGE, NULL,
                        "--fail-on-growth: '%s' is no percentage, as 2%% or 0.5 is",
                        options->fail_on_growth);
    }
    if (options->markdown && (options->json || options->jsonl)) {
        return complain(EXIT_USAGE, NULL, "--markdown and --json exclude each other");
    }
    if (!path) return EXIT_FINE;
    if (!output_is_direct(path) && (!dot || strcmp(dot, ".html") != 0)) {
        return complain(EXIT_USAGE, path, "diff writes a page: the name ends in .html");
    }
    return output_check(path, options->force, false);
}

/* Where nearly nothing has a partner, two files were compared that have nothing to do with each
 * other. */
static void note_if_unrelated(const diff *d) {
    const size_t before = d->sides[BEFORE].result.problem->n_buffers,
                 after = d->sides[AFTER].result.problem->n_buffers;
    const size_t paired = before - d->changes.count[CHANGE_WENT];
    const size_t fewer = before < after ? before : after;
    if (fewer < 4 || paired * 4 > fewer) return;
    note(d->sides[AFTER].job.path, "has %zu of %zu buffers in common with %s: another model?",
         paired, after, d->sides[BEFORE].job.path);
}

static exit_code complain_grown(const char *about, const char *what, uint64_t before,
                                uint64_t after, const tool_options *options) {
    return complain(EXIT_NEGATIVE, about,
                    "the %s grew from %s to %s bytes (%s), which is more than %s allows", what,
                    with_commas(before).text, with_commas(after).text,
                    change_percent(before, after).text, options->fail_on_growth);
}

static exit_code diff_sides(diff *d, uint64_t allowed, arenaut_text *out) {
    const tool_options *options = d->options;
    exit_code code = EXIT_FINE;
    for (int i = 0; i < SIDES && code == EXIT_FINE; i++) {
        code = read_side(&d->sides[i], options->files.items[i], options);
    }
    if (code != EXIT_FINE) return code;
    const side *a = &d->sides[BEFORE], *b = &d->sides[AFTER];
    const uint64_t before = compares_whole(d) ? a->need.bytes : arena_of(a),
                   after = compares_whole(d) ? b->need.bytes : arena_of(b);
    const bool grew = options->fail_on_growth && grew_by_more(before, after, allowed);
    changes_find(&d->sides[BEFORE].result, &d->sides[AFTER].result, &d->changes);
    note_if_unrelated(d);
    if (options->json || options->jsonl) put_json_diff(d, grew, out);
    else if (!options->quiet) put_diff(d, out);
    if (options->output) code = write_page(d);
    if (code != EXIT_FINE || !grew) return code;
    return complain_grown(d->sides[AFTER].job.path, compares_whole(d) ? "tensor_arena" : "arena",
                          before, after, options);
}

/* ---- several models in one arena ---- */

static exit_code add_tenant(one_arena *all, const char *path, const tool_options *options) {
    side s = {.need = {.bytes = 0}};
    exit_code code = read_side(&s, path, options);
    const bool planned = code == EXIT_FINE && s.result.plan == s.job.pipeline->plan;
    if (code == EXIT_FINE) code = one_arena_add(all, &s.job, base_name(path), !planned);
    code = job_end(&s.job, code);
    arenaut_peak_free(&s.peak, NULL);
    job_close(&s.job);
    return code;
}

static void put_change(const char *name, uint64_t before, uint64_t after, text_table *table) {
    table_cell(table, name);
    table_cell(table, with_commas(before).text);
    table_cell(table, with_commas(after).text);
    table_cell(table, before == after ? "" : change_percent(before, after).text);
}

static void put_arenas(const one_arena all[SIDES], arenaut_text *out) {
    const arenaut_tensor_arena *a = &all[BEFORE].arena[ARENA_PLANNED],
                               *b = &all[AFTER].arena[ARENA_PLANNED];
    const reservation *before = one_arena_need(&all[BEFORE], true),
                      *after = one_arena_need(&all[AFTER], true);
    text_table table;
    table_begin(&table, "lrrR");
    table_cell(&table, "one arena");
    table_cell(&table, "before");
    table_cell(&table, "after");
    table_cell(&table, "");
    put_change("largest head", a->head, b->head, &table);
    put_change("all tails", a->tail, b->tail, &table);
    put_change(before->unknown || after->unknown ? "tensor_arena, at least" : "tensor_arena",
               before->bytes, after->bytes, &table);
    table_end(&table, out, "", "");
}

static void put_json_arenas(const one_arena all[SIDES], bool grew, arenaut_text *out) {
    text_put(out, "{\"schema\": \"arenaut.one-arena-diff/1\", \"before\":\n");
    put_json_one_arena(&all[BEFORE], true, out);
    text_put(out, ", \"after\":\n");
    put_json_one_arena(&all[AFTER], true, out);
    text_printf(out, ", \"grew\": %s}\n", grew ? "true" : "false");
}

static exit_code check_arenas(const tool_options *options) {
    const size_t before = options->n_first, after = options->files.n - before;
    if (options->output || options->markdown || options->jsonl) {
        return complain(EXIT_USAGE, NULL, "diff --one-arena takes no -o, --markdown or --jsonl");
    }
    if (before == after) return EXIT_FINE;
    return complain(EXIT_USAGE, NULL,
                    "diff --one-arena takes as many models before as after: the first half of the "
                    "arguments has %zu, the other %zu",
                    before, after);
}

/* Models of the first half of the arguments against those of the other. */
static exit_code diff_arenas(const tool_options *options, uint64_t allowed, arenaut_text *out) {
    one_arena all[SIDES] = {{.n = 0}, {.n = 0}};
    exit_code code = check_arenas(options);
    for (size_t i = 0; i < options->files.n && code == EXIT_FINE; i++) {
        code = add_tenant(&all[i < options->n_first ? BEFORE : AFTER], options->files.items[i],
                          options);
    }
    if (code == EXIT_FINE) {
        const uint64_t before = one_arena_need(&all[BEFORE], true)->bytes,
                       after = one_arena_need(&all[AFTER], true)->bytes;
        const bool grew = options->fail_on_growth && grew_by_more(before, after, allowed);
        if (options->json) put_json_arenas(all, grew, out);
        else if (!options->quiet) put_arenas(all, out);
        if (grew) code = complain_grown("one arena", "tensor_arena", before, after, options);
    }
    for (int i = 0; i < SIDES; i++) one_arena_free(&all[i]);
    return code;
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    diff d = {.options = options};
    uint64_t allowed = 0;
    exit_code code = check_asked(options, &allowed);
    if (code == EXIT_FINE && options->one_arena) return diff_arenas(options, allowed, out);
    if (code == EXIT_FINE && options->files.n != SIDES) {
        return complain(EXIT_USAGE, NULL, "diff compares two files; %zu were given",
                        options->files.n);
    }
    if (code == EXIT_FINE) code = diff_sides(&d, allowed, out);
    for (int i = 0; i < SIDES; i++) {
        code = job_end(&d.sides[i].job, code);
        arenaut_peak_free(&d.sides[i].peak, NULL);
        job_close(&d.sides[i].job);
    }
    changes_free(&d.changes);
    return code;
}

extern const tool_verb verb_diff;
const tool_verb verb_diff = {
    .name = "diff",
    .summary = "differences between two files or plans",
    .arguments = "BEFORE AFTER [-o PAGE.html]",
    .examples =
        "arenaut diff model.tflite planned.tflite\n"
        "arenaut diff main.tflite branch.tflite --planned --fail-on-growth 2%\n"
        "arenaut diff main.pte branch.pte --markdown >> \"$GITHUB_STEP_SUMMARY\"",
    .notes =
        "Each file is compared as it is: with its plan, its runtime's, or ours if it has none.\n"
        "With --one-arena the first half of the arguments is before, the other after.",
    .groups = GROUP_COMMON | GROUP_OUTPUT | GROUP_JSON | GROUP_DIFF | GROUP_INPUT | GROUP_MODEL |
              GROUP_SEARCH | GROUP_SEVERAL,
    .min_files = 2,
    .max_files = SIZE_MAX,
    .run = run,
};
