/* plan: the smallest arena, and the plan where it is used. One file (plan_file.c), several files
 * one after another, or several as one program (plan_several.c); --fit and --smallest choose the
 * levers first (fit.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "plan_several.h"
#include "shared_fit.h"
#include "verb.h"

/* `plan IN OUT`, as one copies files: the second is no input, so it is where to write. */
static exit_code refuse_missing_output_flag(const tool_options *options) {
    if (options->files.n != 2 || options->output || options->folder) return EXIT_FINE;
    input_file second;
    const char *path = options->files.items[1];
    if (is_standard_stream(path)) return EXIT_FINE;
    os_entry entry;
    const bool there = os_look(path, &entry), missing = !there && errno == ENOENT;
    bool readable = !missing;
    if (there && entry.kind == OS_FILE) {
        set_silent(true);
        readable = input_open(path, &second) == EXIT_FINE &&
                   (options->from || arenaut_format_recognise(second.data, second.size));
        set_silent(false);
        input_close(&second);
    }
    if (readable) return EXIT_FINE;
    return complain(EXIT_USAGE, path, "%s: to write the plan of %s there, say -o %s",
                    missing ? "does not exist" : "holds nothing that can be planned",
                    options->files.items[0], path);
}

/* Nothing is written of models whose shared arena is too large: their plans are made once more, to
 * be judged first. */
static exit_code judge_shared(const tool_options *options, const shared_fit *found) {
    tool_options dry = *options;
    tally sums = {.now_known = true, .judged = true};
    arenaut_text unread = {0};
    exit_code code = EXIT_FINE;
    set_quiet(true);
    dry.output = NULL;
    dry.budget = NOT_GIVEN;
    for (size_t i = 0; i < options->files.n; i++) found->each[i].output = NULL;
    code = plan_several(&dry, found->each, &sums, &unread);
    for (size_t i = 0; i < options->files.n; i++) found->each[i].output = options->output;
    set_quiet(options->quiet);
    if (code == EXIT_FINE) {
        const reservation *need = one_arena_need(&sums.one, true);
        if (judge_budget(need, options->fit) != BUDGET_KEPT) {
            code = complain(EXIT_NEGATIVE, "one arena",
                            "no levers are known with which it fits into %s bytes: with those of "
                            "the table it needs %s%s%s%s",
                            with_commas(options->fit).text, need->unknown ? "at least " : "",
                            with_commas(need->bytes).text, found->cut_short ? "; " : "",
                            found->cut_short ? TIME_ENDED : "");
        }
    }
    one_arena_free(&sums.one);
    arenaut_text_free(&unread);
    return code;
}

/* --fit and --smallest with --one-arena: levers for each model, judged together. */
static exit_code plan_sharing(const tool_options *options, arenaut_text *out) {
    const bool shown = !options->json && !options->jsonl && !options->quiet;
    tally sums = {.now_known = true};
    shared_fit found;
    exit_code code = refuse_names(options);
    if (code != EXIT_FINE) return code;
    code = find_shared_fit(options, &found);
    if (code == EXIT_FINE && shown) text_put(out, found.table.bytes);
    if (code == EXIT_FINE && !options->smallest) code = judge_shared(options, &found);
    if (code == EXIT_FINE) {
        if (shown) text_put(out, "\n");
        if (!shown && found.cut_short) note("one arena", TIME_ENDED);
        code = plan_several(options, found.each, &sums, out);
        one_arena_free(&sums.one);
    }
    shared_fit_free(&found);
    return code;
}

/* --fit and --smallest: the combination that is found is planned like any other file. */
static exit_code plan_fitting(const tool_options *options, arenaut_text *out) {
    const bool json = options->json || options->jsonl;
    tally sums = {.now_known = true};
    fit found;
    if (options->fit != NOT_GIVEN && options->smallest) {
        return complain(EXIT_USAGE, NULL, "--fit and --smallest exclude each other");
    }
    if (options->one_arena) return plan_sharing(options, out);
    if (options->files.n > 1 || options->folder) {
        return complain(EXIT_USAGE, NULL,
                        "--fit and --smallest are for one file at a time, or for --one-arena");
    }
    exit_code code = find_fit(options, &found);
    const bool shown =
        !json && !options->quiet && !(options->output && is_standard_stream(options->output));
    if (shown && found.table.size) text_put(out, found.table.bytes);
    if (code == EXIT_FINE) {
        if (shown) text_put(out, "\n");
        planning p = {.output = options->output, .keep = found.keep, .more = found.json.bytes};
        code = planning_make(&p, options->files.items[0], &found.options);
        code = tally_add(&p, code, &found.options, &sums, out);
        code = graver(code, tally_judge(options->files.items[0], &found.options, &sums));
    }
    fit_free(&found);
    return code;
}

static exit_code run_resolved(const tool_options *options, arenaut_text *out) {
    tally sums = {.now_known = true};
    const bool fits = options->fit != NOT_GIVEN && !fits_by_rematerializing(options);
    if (options->smallest || fits) return plan_fitting(options, out);
    if (is_merged(options)) return plan_merged(options, out);
    if (options->files.n > 1 || options->folder || options->one_arena) {
        const exit_code all = plan_several(options, NULL, &sums, out);
        one_arena_free(&sums.one);
        return all;
    }
    const char *path = options->files.items[0];
    const exit_code code = plan_one(path, options->output, options, &sums, out);
    return graver(code, tally_judge(path, options, &sums));
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    tool_options resolved;
    exit_code code = refuse_missing_output_flag(options);
    if (code == EXIT_FINE) code = refuse_idle_limits(options);
    if (code == EXIT_FINE) code = resolve_fit(options, &resolved);
    return code == EXIT_FINE ? run_resolved(&resolved, out) : code;
}

extern const tool_verb verb_plan;
const tool_verb verb_plan = {
    .name = "plan",
    .summary = "plans, checks and, with -o, writes the plan where it is used",
    .arguments = "FILE... [-o OUT]",
    .examples =
        "arenaut plan model.tflite -o planned.tflite   # the same model, less memory\n"
        "arenaut plan prefill.pte decode.pte --share auto -o planned   # one layout for all\n"
        "arenaut plan problem.csv -o solved.csv        # or .json, .h",
    .notes =
        "A plan goes into a model only if it needs less than the baseline, or repairs a wrong "
        "one; else OUT is a copy. For several files -o is a folder; with --share layout.json and "
        ".h go there, and .pte files with their part of the plan.",
    .groups = GROUP_COMMON | GROUP_OUTPUT | GROUP_JSON | GROUP_INPUT | GROUP_MODEL | GROUP_SEARCH |
              GROUP_BUDGET | GROUP_WRITE | GROUP_SEVERAL,
    .min_files = 1,
    .max_files = SIZE_MAX,
    .run = run,
};
