/* Plans of several files, one after another or as one program, and their sums. */
#include "plan_several.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"

exit_code tally_add(planning *p, exit_code code, const tool_options *options, tally *sums,
                    arenaut_text *out) {
    tool_job *job = &p->job;
    const arenaut_pipeline *pipeline = job->pipeline;
    const bool answered = job_is_answered(job, code);
    sums->n++;
    if (answered && pipeline->plan->quality == ARENAUT_INFEASIBLE) {
        complain_infeasible(pipeline);
        if (options->json || options->jsonl) code = graver(code, planning_report(p, options, out));
    } else if (answered) {
        const arenaut_figures *figures = &pipeline->figures;
        const bool known = pipeline->baseline.plan;
        const uint64_t taken = (p->stays || p->kept) && known ? figures->now : figures->planned;
        code = graver(code, planning_report(p, options, out));
        sums->planned += taken;
        sums->now_known = sums->now_known && known;
        if (known) sums->now += figures->now;
        const reservation need = what_it_takes(p);
        code = graver(code,
                      options->one_arena
                          ? one_arena_add(&sums->one, job, base_name(job->path), stays_as_it_is(p))
                          : together_add(&sums->all, job, taken, &need));
    }
    sums->n_written += p->wrote;
    sums->n_kept += p->kept;
    sums->n_failed += code != EXIT_FINE;
    code = job_end(job, code);
    job_close(job);
    free(p->renamed);
    return code;
}

exit_code tally_judge(const char *about, const tool_options *options, const tally *sums) {
    const reservation all =
        options->one_arena ? *one_arena_need(&sums->one, true) : together_reserved(&sums->all);
    const exit_code code = check_budget(about, options, &all);
    if (code != EXIT_FINE && sums->n_written + sums->n_kept > 0) {
        note(about, "written all the same: %s", options->output);
    }
    return code;
}

exit_code plan_one(const char *path, const char *output, const tool_options *options, tally *sums,
                   arenaut_text *out) {
    planning p = {
        .output = output, .judged = sums->judged, .one = options->one_arena ? &sums->one : NULL};
    const exit_code code = planning_make(&p, path, options);
    return tally_add(&p, code, options, sums, out);
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

exit_code refuse_names(const tool_options *options) {
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
                      tally_judge(options->one_arena ? "one arena" : "together", options, sums));
    }
    if (out->size > 0) end_json_items(options, out->size, out);
    return code;
}

exit_code plan_several(const tool_options *options, const tool_options *each, tally *sums,
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

/* Each file with its part of the plan inside, or as it is. */
static exit_code write_files(planning *p) {
    const tool_options *o = p->job.options;
    exit_code code = EXIT_FINE;
    for (size_t i = 0; i < o->files.n && code == EXIT_FINE; i++) {
        char *path = path_in_folder(p->output, o->names.items[i]);
        code = p->reason ? copy_input(&p->job.inputs[i], path, o->force)
                         : write_part(&p->job, i, path);
        free(path);
    }
    return code;
}

/* The one layout: the plan, every method's tensors with their places, and both for compilers. */
static const char *const layout_names[] = {"layout.json", "layout.program.json", "layout.h"};
enum { LAYOUTS = sizeof layout_names / sizeof *layout_names };

static exit_code write_layout(planning *p) {
    exit_code code = EXIT_FINE;
    for (size_t i = 0; i < LAYOUTS && code == EXIT_FINE; i++) {
        char *path = path_in_folder(p->output, layout_names[i]);
        output_kind kind;
        code = kind_for_path(&p->job, path, &kind);
        if (code == EXIT_FINE) code = write_output(&p->job, kind, NULL, path, &p->written);
        free(path);
    }
    return code;
}

/* All of them, before any is written. */
static exit_code check_merged(const planning *p, bool into_files) {
    const tool_options *o = p->job.options;
    exit_code code = EXIT_FINE;
    for (size_t i = 0; i < LAYOUTS && code == EXIT_FINE; i++) {
        char *path = path_in_folder(p->output, layout_names[i]);
        code = output_check(path, o->force, false);
        free(path);
    }
    for (size_t i = 0; i < o->files.n && into_files && code == EXIT_FINE; i++) {
        char *path = path_in_folder(p->output, o->names.items[i]);
        code = check_replaced(&p->job.inputs[i], path, p->kind);
        if (code == EXIT_FINE) code = output_check(path, o->force, true);
        free(path);
    }
    return code;
}

/* The layout is that of the files beside it: where these stay as they are, of the plan in them.
 * They come first, as they may not be able to hold the plan. */
static exit_code write_merged(planning *p) {
    const arenaut_target *target = p->job.pipeline->target;
    const bool into_files = target->plan_in_file && target->share_apart;
    exit_code code = into_files ? planning_find_reason(p, true) : EXIT_FINE;
    p->kind = (output_kind){p->job.pipeline->document.format, NULL};
    if (code == EXIT_FINE) code = open_folder(p->output);
    if (code == EXIT_FINE) code = check_merged(p, into_files);
    if (code == EXIT_FINE && into_files) code = write_files(p);
    if (code == EXIT_FINE) {
        code = p->reason ? planning_write_baseline(p, write_layout) : write_layout(p);
    }
    p->kept = code == EXIT_FINE && p->reason;
    p->wrote = code == EXIT_FINE && !p->reason;
    p->written = 0; /* of several files */
    return code;
}

exit_code plan_merged(const tool_options *options, arenaut_text *out) {
    tally sums = {.now_known = true};
    planning p = {.output = options->output};
    exit_code code = refuse_names(options);
    if (code != EXIT_FINE) return code;
    code = job_read_merged(&p.job, options);
    if (code == EXIT_FINE) code = job_run_read(&p.job);
    if (code == EXIT_FINE && p.output) code = write_merged(&p);
    code = tally_add(&p, code, options, &sums, out);
    return graver(code, tally_judge("together", options, &sums));
}
