/* plan: the smallest arena, and the plan where it is used. One file, several files one after
 * another, or several as one program: each is a job that ends with an outcome. The library decides
 * whether a plan may replace the old one; the reasons are worded here. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "fit.h"
#include "one_arena.h"
#include "planning.h"
#include "progress.h"
#include "shared_fit.h"
#include "verb.h"

/* Outcomes of several files. */
typedef struct tally {
    uint64_t now, planned;
    together all;  /* of them need this, and all that their runtimes keep there */
    one_arena one; /* the same where their interpreters share an arena: --one-arena */
    size_t n, n_written, n_kept, n_failed;
    bool now_known; /* of all of them */
    bool judged;    /* a try: see planning.h */
} tally;

/* A plan that a model cannot express is a wrong request, no reason to keep the old one. */
static exit_code refuse_in_model(const planning *p, arenaut_outcome outcome) {
    if (outcome == ARENAUT_OUTCOME_IO_ELSEWHERE) {
        return complain(EXIT_USAGE, p->output,
                        "--no-alloc-io cannot be put into a model: its "
                        "runtime keeps inputs and outputs in the arena");
    }
    if (outcome == ARENAUT_OUTCOME_NOT_OBEYED) {
        const arenaut_format *format = p->job.pipeline->document.format;
        return complain(EXIT_USAGE, p->output,
                        "%s obeys no plan inside a model: write a .json or "
                        "a .h%s%s%s",
                        p->job.pipeline->target->name,
                        format->holds_order ? ", or the order of its ops with --reorder on" : "",
                        format->holds_repeats ? ", or rematerialized ops with --recompute on" : "",
                        format->holds_tiles ? ", or tiles of its ops with --split on" : "");
    }
    if (outcome == ARENAUT_OUTCOME_POOLS) {
        return complain(EXIT_USAGE, p->output,
                        "%s plans in one arena, and a plan in %" PRIu32
                        " pools would not run as stated: write a .json or a .h",
                        p->job.pipeline->target->name, p->job.pipeline->problem->n_pools);
    }
    return EXIT_FINE;
}

/* Why the new plan is not written; NULL: it is. */
static const char *reason_of(const arenaut_pipeline *p, arenaut_outcome outcome) {
    switch (outcome) {
        case ARENAUT_OUTCOME_OUTSIDE:
            return "results of TFLM_DECODE may lie outside of the arena, as the application "
                   "decides; offsets in the file would say otherwise";
        case ARENAUT_OUTCOME_FOREIGN:
            return p->baseline.overlaps
                       ? "the file holds another tool's plan; it is wrong, and -f replaces it"
                       : "the file holds another tool's plan, which -f replaces";
        case ARENAUT_OUTCOME_MEMORY_GROWS: return "a memory of the file would grow";
        case ARENAUT_OUTCOME_LARGER:
            return p->baseline.from_file ? "the plan in the file needs less"
                   : p->rewrite && !p->target->plan_in_file
                       ? "the runtime needs less for the file as it is, and -f writes the new order"
                       : "the runtime needs less for the file as it is";
        case ARENAUT_OUTCOME_HELD: return "the file holds this plan already";
        case ARENAUT_OUTCOME_NO_SMALLER:
            return !p->target->plan_in_file ? "its ops stay in their order"
                   : p->memories.rows       ? "the plan in the file needs no more"
                   : p->result.scratch == ARENAUT_SCRATCH_UNKNOWN
                       ? "the tensors alone need no less than in the file as it is, and scratch is "
                         "unknown"
                       : "the runtime needs no more for the file as it is";
        case ARENAUT_OUTCOME_SCRATCH_UNKNOWN:
            return "with the kernels' scratch, which is unknown, it could need more than the file "
                   "as it is; "
                   "give --scratch, or -f";
        default: return NULL;
    }
}

/* The baseline, which places the same buffers. */
static exit_code write_baseline(planning *p) {
    arenaut_pipeline *pipeline = p->job.pipeline;
    const arenaut_result made = pipeline->result;
    pipeline->result.plan = pipeline->baseline.plan;
    pipeline->result.memories = NULL; /* as they would be with the new plan */
    pipeline->result.n_memories = 0;
    pipeline->result.behind = 0;
    const exit_code code = write_output(&p->job, p->kind, NULL, p->output, &p->written);
    pipeline->result = made;
    return code;
}

/* After exit 0 the output exists, even if the new plan is not written: a model is copied as it is,
 * and otherwise the baseline is written, if it places the same buffers. */
static exit_code keep_what_is(planning *p) {
    const arenaut_pipeline *pipeline = p->job.pipeline;
    exit_code code;
    if (kind_is_model(p->kind)) {
        code = copy_input(p->job.inputs, p->output, p->job.options->force);
    } else if (pipeline->baseline.problem == pipeline->problem) {
        code = write_baseline(p);
    } else {
        return complain(
            EXIT_NEGATIVE, p->job.path,
            "nothing is written to %s: with these flags %s bytes are needed, and %s without",
            p->output, with_commas(pipeline->figures.planned).text,
            with_commas(pipeline->figures.now).text);
    }
    p->kept = code == EXIT_FINE;
    return code;
}

/* The contract, which is the library's: never larger than the baseline, never in place of another
 * tool's plan unless asked, and a model is not rewritten without gain. */
static exit_code write_plan(planning *p) {
    const bool into_model = kind_is_model(p->kind);
    const arenaut_pipeline *pipeline = p->job.pipeline;
    arenaut_outcome outcome;
    arenaut_error err = {0};
    if (arenaut_pipeline_outcome(pipeline, into_model, p->job.options->force, &outcome, &err)) {
        return complain_error(p->job.path, &err);
    }
    exit_code code = refuse_in_model(p, outcome);
    if (code != EXIT_FINE) return code;
    p->reason = reason_of(pipeline, outcome);
    if (p->reason) return keep_what_is(p);
    code = write_output(&p->job, p->kind, NULL, p->output, &p->written);
    p->wrote = code == EXIT_FINE;
    if (p->wrote && into_model && pipeline->rewrite &&
        arenaut_pipeline_count_dead(pipeline, &p->dead, &err) != ARENAUT_OK) {
        return complain_error(p->job.path, &err);
    }
    return code;
}

/* Names of files in a folder need not imply a format: they keep their format and, if that cannot
 * hold a plan, get one beside them. */
static exit_code choose_kind(planning *p) {
    const arenaut_format *own = p->job.pipeline->document.format;
    if (!p->job.options->folder) return kind_for_path(&p->job, p->output, &p->kind);
    p->kind = (output_kind){own, NULL};
    if (goes_into_model(&p->job) || (own->write && !p->job.pipeline->document.program)) {
        return EXIT_FINE;
    }
    p->renamed = must_allocate(strlen(p->output) + sizeof ".plan.json", 1);
    strcat(strcpy(p->renamed, p->output), ".plan.json");
    p->output = p->renamed;
    p->kind.format = arenaut_format_find("plan-json");
    return EXIT_FINE;
}

/* Says no before the work, where that can be known. */
static exit_code check_output(planning *p) {
    if (!p->output) return EXIT_FINE;
    const exit_code code = choose_kind(p);
    if (code != EXIT_FINE) return code;
    const exit_code refused = check_replaced(p->job.inputs, p->output, p->kind);
    if (refused != EXIT_FINE) return refused;
    return output_check(p->output, p->job.options->force, kind_is_model(p->kind));
}

/* A plan that misses its --fit is not written. */
static exit_code check_fit(const planning *p) {
    const arenaut_pipeline *pipeline = p->job.pipeline;
    const uint64_t size = p->job.options->fit;
    if (size == NOT_GIVEN) return EXIT_FINE;
    const reservation need = what_it_takes(p);
    if (judge_budget(&need, size) == BUDGET_KEPT) return EXIT_FINE;
    const arenaut_recomputed *r = &pipeline->recomputed;
    if (r->known && r->floor > size) {
        return complain(EXIT_NEGATIVE, p->job.path,
                        "nothing fits %s bytes: any rematerialization needs at least %s (proven)",
                        with_commas(size).text, with_commas(r->floor).text);
    }
    return complain(EXIT_NEGATIVE, p->job.path,
                    "no plan of %s bytes was found%s: this one needs %s%s", with_commas(size).text,
                    need.apart ? " that keeps both memories" : "", need.unknown ? "at least " : "",
                    with_commas(need.bytes).text);
}

/* Whether a model stays as it is where it would be written. */
static exit_code find_whether_kept(planning *p) {
    arenaut_outcome outcome;
    arenaut_error err = {0};
    if (arenaut_pipeline_outcome(p->job.pipeline, true, p->job.options->force, &outcome, &err)) {
        return complain_error(p->job.path, &err);
    }
    p->kept = reason_of(p->job.pipeline, outcome);
    return EXIT_FINE;
}

static exit_code make_and_write(planning *p, const char *path, const tool_options *options) {
    exit_code code = job_read(&p->job, path, options);
    if (code == EXIT_FINE) code = check_output(p);
    if (code == EXIT_FINE) code = job_run_read(&p->job);
    if (code == EXIT_FINE && p->one) code = one_arena_check(p->one, &p->job);
    if (code == EXIT_FINE) code = check_fit(p);
    if (code == EXIT_FINE && p->output) code = write_plan(p);
    if (code == EXIT_FINE && p->judged) code = find_whether_kept(p);
    return code;
}

/* With the plan on standard output, the summary is a message. */
static exit_code report(const planning *p, const tool_options *options, arenaut_text *out) {
    if (p->judged) return EXIT_FINE;
    if (p->output && is_standard_stream(p->output)) {
        if (p->kept) note(p->job.path, "written is %s: %s", kept_text(p), p->reason);
        return EXIT_FINE;
    }
    if (options->json || options->jsonl) {
        if (p->kept) note(p->job.path, "written is %s: %s", kept_text(p), p->reason);
        if (!is_merged(options)) begin_json_item(options, out->size, out);
        const reservation need = what_it_takes(p);
        return put_json_with(&p->job, &need, p->more, out);
    }
    return options->quiet ? EXIT_FINE : put_summary(p, options, out);
}

/* The end of a job: its report, and its part of the tally. Closes the job. */
static exit_code conclude(planning *p, exit_code code, const tool_options *options, tally *sums,
                          arenaut_text *out) {
    tool_job *job = &p->job;
    const arenaut_pipeline *pipeline = job->pipeline;
    const bool answered = job_is_answered(job, code);
    sums->n++;
    if (answered && pipeline->plan->quality == ARENAUT_INFEASIBLE) {
        complain_infeasible(pipeline);
        if (options->json || options->jsonl) code = graver(code, report(p, options, out));
    } else if (answered) {
        const arenaut_figures *figures = &pipeline->figures;
        const bool known = pipeline->baseline.plan;
        code = graver(code, report(p, options, out));
        sums->planned += p->kept && known ? figures->now : figures->planned;
        sums->now_known = sums->now_known && known;
        if (known) sums->now += figures->now;
        const reservation need = what_it_takes(p);
        code = graver(code,
                      options->one_arena
                          ? one_arena_add(&sums->one, job, base_name(job->path), stays_as_it_is(p))
                          : together_add(&sums->all, job, figures->planned, &need));
    }
    sums->n_written += p->wrote;
    sums->n_kept += p->kept;
    sums->n_failed += code != EXIT_FINE;
    code = job_end(job, code);
    job_close(job);
    free(p->renamed);
    return code;
}

/* A budget decides the exit code, and nothing else: the output is written all the same. */
static exit_code judge_all(const char *about, const tool_options *options, const tally *sums) {
    const reservation all =
        options->one_arena ? *one_arena_need(&sums->one, true) : together_reserved(&sums->all);
    const exit_code code = check_budget(about, options, &all);
    if (code != EXIT_FINE && sums->n_written + sums->n_kept > 0) {
        note(about, "written all the same: %s", options->output);
    }
    return code;
}

static exit_code plan_one(const char *path, const char *output, const tool_options *options,
                          tally *sums, arenaut_text *out) {
    planning p = {
        .output = output, .judged = sums->judged, .one = options->one_arena ? &sums->one : NULL};
    const exit_code code = make_and_write(&p, path, options);
    return conclude(&p, code, options, sums, out);
}

static char *path_in_folder(const char *folder, const char *name) {
    char *path = must_allocate(strlen(folder) + strlen(name) + 2, 1);
    strcpy(path, folder);
    strcat(path, "/");
    return strcat(path, name);
}

static exit_code open_folder(const char *path) {
    os_entry entry;
    if (os_make_folder(path)) return EXIT_FINE;
    if (errno == EEXIST && os_look(path, &entry) && entry.kind == OS_FOLDER) return EXIT_FINE;
    return complain(EXIT_IO, path, "must be a folder for several inputs: %s", strerror(errno));
}

/* A name like a file's would become a folder of that name. */
static exit_code refuse_file_name(const tool_options *options) {
    if (!options->output) return EXIT_FINE;
    if (is_standard_stream(options->output)) {
        return complain(EXIT_USAGE, NULL,
                        "'-o -' writes one file, and for several inputs -o is a folder");
    }
    if (!names_a_file(options->output)) return EXIT_FINE;
    return complain(EXIT_USAGE, options->output,
                    "is the name of one file, and for several inputs -o is a folder");
}

static exit_code refuse_names(const tool_options *options) {
    const text_list *names = &options->names;
    const exit_code refused = refuse_file_name(options);
    if (refused != EXIT_FINE || !options->output) return refused;
    for (size_t i = 0; i < names->n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(names->items[i], names->items[k]) != 0) continue;
            return complain(EXIT_USAGE, NULL,
                            "'%s' and '%s' would be written to the same name in "
                            "'%s'",
                            options->files.items[k], options->files.items[i], options->output);
        }
    }
    return EXIT_FINE;
}

/* The folders in which `path` lies below `top`: as the inputs have them. */
static exit_code open_folders_between(const char *top, char *path) {
    exit_code code = EXIT_FINE;
    for (char *at = path + strlen(top) + 1; code == EXIT_FINE && (at = strchr(at, '/')); at++) {
        *at = '\0';
        code = open_folder(path);
        *at = '/';
    }
    return code;
}

static void put_totals(const tally *sums, const tool_options *options, arenaut_text *out) {
    const uint64_t all = together_planned(&sums->all);
    if (options->one_arena) {
        put_one_arena(&sums->one, out);
        return;
    }
    text_printf(out, "together    %s bytes (%s): the files never run at the same time",
                with_commas(all).text, in_units(all).text);
    if (sums->all.kept > 0) {
        text_printf(out, "; %s of them are state that they keep", with_commas(sums->all.kept).text);
    }
    text_put(out, "\n");
    text_printf(out, "total       %zu files, ", sums->n);
    if (sums->now_known) {
        text_printf(out, "now %s, planned %s, %s", with_commas(sums->now).text,
                    with_commas(sums->planned).text, change_percent(sums->now, sums->planned).text);
    } else {
        text_printf(out, "planned %s", with_commas(sums->planned).text);
    }
    if (options->output) {
        text_printf(out, "; %zu written with a plan, %zu as they are", sums->n_written,
                    sums->n_kept);
    }
    if (sums->n_failed) text_printf(out, "; %zu failed", sums->n_failed);
    text_put(out, options->output ? "\n" : "; nothing is written without -o FOLDER\n");
}

/* The folder of outputs, in which the header of a shared arena may be written. */
static exit_code open_output(const tool_options *options) {
    exit_code code = open_folder(options->output);
    if (code != EXIT_FINE || !options->one_arena) return code;
    char *path = path_in_folder(options->output, "one_arena.h");
    code = output_check(path, options->force, false);
    free(path);
    return code;
}

/* The size of the shared arena, for the compiler; where it is not `known`, that an old one there
 * is of other models. */
static exit_code write_one_arena(const one_arena *all, bool known, const tool_options *options) {
    os_entry entry;
    arenaut_text header = {0};
    exit_code code = EXIT_FINE;
    char *path = path_in_folder(options->output, "one_arena.h");
    if (known) {
        put_one_arena_header(all, &header);
        code = write_bytes(header.bytes, header.size, path, options->force);
    } else if (os_look(path, &entry)) {
        code =
            complain(EXIT_NEGATIVE, path, "is not written, and the old one is of an earlier run");
    }
    arenaut_text_free(&header);
    free(path);
    return code;
}

static void put_sums(const tally *sums, const tool_options *options, arenaut_text *out) {
    const bool said = options->one_arena || together_planned(&sums->all) > 0;
    if (!options->json && !options->jsonl) {
        if (!options->quiet && said) put_totals(sums, options, out);
        return;
    }
    if (options->one_arena) {
        begin_json_item(options, out->size, out);
        put_json_one_arena(&sums->one, true, out);
    }
    end_json_items(options, out->size, out);
}

static exit_code plan_into_folder(const tool_options *options, size_t i, tally *sums,
                                  arenaut_text *out) {
    char *output =
        options->output ? path_in_folder(options->output, options->names.items[i]) : NULL;
    exit_code code = output ? open_folders_between(options->output, output) : EXIT_FINE;
    if (code == EXIT_FINE) code = plan_one(options->files.items[i], output, options, sums, out);
    free(output);
    return code;
}

/* Sums of all files, which came to `code`, and the last of them to `last`: wrong usage would be
 * said again of every file, and has none. */
static exit_code end_several(const tally *sums, const tool_options *options, exit_code code,
                             exit_code last, arenaut_text *out) {
    const bool said = options->one_arena ? one_arena_is_whole(&sums->one, options->files.n, code)
                                         : last != EXIT_USAGE;
    if (options->one_arena && options->output) {
        code = graver(code, write_one_arena(&sums->one, said, options));
    }
    if (said) {
        put_sums(sums, options, out);
        return graver(code,
                      judge_all(options->one_arena ? "one arena" : "together", options, sums));
    }
    if (out->size > 0) end_json_items(options, out->size, out);
    return code;
}

/* Several files are one program whose methods never run at the same time: no buffer of one is
 * shared with another, and only state is alive while another one runs. */
static exit_code plan_several(const tool_options *options, const tool_options *each, tally *sums,
                              arenaut_text *out) {
    exit_code code = refuse_names(options), one = EXIT_FINE;
    if (code == EXIT_FINE && options->output) code = open_output(options);
    if (code != EXIT_FINE) return code;
    for (size_t i = 0; i < options->files.n && one != EXIT_USAGE && !interrupted(); i++) {
        one = plan_into_folder(each ? &each[i] : options, i, sums, out);
        code = graver(code, one);
    }
    return end_several(sums, options, code, one, out);
}

/* Each file with its part of the plan inside, or as it is, and why. */
static exit_code write_files(planning *p) {
    const tool_options *o = p->job.options;
    arenaut_outcome outcome;
    arenaut_error err = {0};
    exit_code code = EXIT_FINE;
    p->kind = (output_kind){p->job.pipeline->document.format, NULL};
    if (arenaut_pipeline_outcome(p->job.pipeline, true, o->force, &outcome, &err)) {
        return complain_error(p->job.path, &err);
    }
    p->reason = reason_of(p->job.pipeline, outcome);
    for (size_t i = 0; i < o->files.n && code == EXIT_FINE; i++) {
        char *path = path_in_folder(p->output, o->names.items[i]);
        const input_file *input = &p->job.inputs[i];
        code = check_replaced(input, path, p->kind);
        if (code == EXIT_FINE) code = output_check(path, o->force, true);
        if (code == EXIT_FINE) {
            code = p->reason ? copy_input(input, path, o->force) : write_part(&p->job, i, path);
        }
        free(path);
    }
    return code;
}

/* The one layout: the plan, every method's tensors with their places, and both for compilers. */
static exit_code write_merged(planning *p) {
    static const char *const names[] = {"layout.json", "layout.program.json", "layout.h"};
    exit_code code = open_folder(p->output);
    for (size_t i = 0; i < 3 && code == EXIT_FINE; i++) {
        char *path = path_in_folder(p->output, names[i]);
        output_kind kind;
        code = kind_for_path(&p->job, path, &kind);
        if (code == EXIT_FINE) code = output_check(path, p->job.options->force, false);
        if (code == EXIT_FINE) {
            code = write_output(&p->job, kind, NULL, path, &p->written);
        }
        free(path);
    }
    const arenaut_target *target = p->job.pipeline->target;
    if (code == EXIT_FINE && target->plan_in_file && target->share_apart) code = write_files(p);
    p->kept = code == EXIT_FINE && p->reason;
    p->wrote = code == EXIT_FINE && !p->reason;
    p->written = 0; /* of several files */
    return code;
}

/* Several files that share buffers: one program, one layout. */
static exit_code plan_merged(const tool_options *options, arenaut_text *out) {
    tally sums = {.now_known = true};
    planning p = {.output = options->output};
    exit_code code = refuse_names(options);
    if (code != EXIT_FINE) return code;
    code = job_read_merged(&p.job, options);
    if (code == EXIT_FINE) code = job_run_read(&p.job);
    if (code == EXIT_FINE && p.output) code = write_merged(&p);
    code = conclude(&p, code, options, &sums, out);
    return graver(code, judge_all("together", options, &sums));
}

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

/* A file that fits as it is stays as it is. */
static exit_code keep_fitting(const fit *found, arenaut_text *out) {
    const tool_options *options = &found->options;
    planning p = {.output = options->output, .reason = "it fits as it is"};
    exit_code code = job_read(&p.job, options->files.items[0], options);
    if (code == EXIT_FINE) code = check_output(&p);
    if (code == EXIT_FINE) code = copy_input(p.job.inputs, p.output, options->force);
    if (code == EXIT_FINE && !options->quiet && !is_standard_stream(p.output)) {
        text_put(out, "  written    ");
        text_put_clean(out, p.output);
        text_printf(out, "  (a copy of the input: %s)\n", p.reason);
    }
    job_close(&p.job);
    free(p.renamed);
    return code;
}

/* Whether the model itself is asked for, which can be copied as it is. */
static bool is_model_name(const char *output) {
    const arenaut_format *format = output ? arenaut_format_for_path(output) : NULL;
    return format && format->needs_original;
}

/* Nothing is written of models whose shared arena is too large: their plans are made once more, to
 * be judged first. */
static exit_code judge_shared(const tool_options *options, const shared_fit *found) {
    tool_options dry = *options;
    tally sums = {.now_known = true, .judged = options->output};
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
                            "the table it needs %s%s",
                            with_commas(options->fit).text, need->unknown ? "at least " : "",
                            with_commas(need->bytes).text);
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
    if (code == EXIT_FINE && found.as_it_is && !json && is_model_name(options->output)) {
        code = keep_fitting(&found, out);
    } else if (code == EXIT_FINE) {
        if (shown) text_put(out, "\n");
        planning p = {.output = options->output, .more = found.json.bytes};
        code = make_and_write(&p, options->files.items[0], &found.options);
        code = conclude(&p, code, &found.options, &sums, out);
        code = graver(code, judge_all(options->files.items[0], &found.options, &sums));
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
    return graver(code, judge_all(path, options, &sums));
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    tool_options resolved;
    exit_code code = refuse_missing_output_flag(options);
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
