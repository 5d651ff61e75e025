/* view: a picture of the plan, which a report of the library draws. The picture depends on the
 * terminal's width and characters, and on the name of the output. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "fit.h"
#include "os.h"
#include "output.h"
#include "tool.h"
#include "verb.h"
#include "what_if.h"

/* A pipe or a file has no width; 80 columns suit logs and comments. */
static uint32_t terminal_width(void) {
    const unsigned width = os_terminal_width();
    return width >= 40 ? width : 80;
}

/* Block characters need a locale that says UTF-8. */
static bool speaks_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value) continue;
        return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8");
    }
    return false;
}

/* "A..B", the last step included. */
static bool parse_steps(const char *text, arenaut_interval *steps) {
    char *end;
    if (!text) return true;
    errno = 0;
    steps->first = strtoll(text, &end, 10);
    if (end == text || strncmp(end, "..", 2) != 0) return false;
    const char *last = end + 2;
    steps->end = strtoll(last, &end, 10);
    if (end == last || *end || errno || steps->end < steps->first || steps->end == INT64_MAX)
        return false;
    steps->end++;
    return true;
}

static exit_code view_options(const tool_options *options, arenaut_report_options *report) {
    enum { LEAST = 40, MOST = 1000 };
    if (options->width != NOT_GIVEN && (options->width < LEAST || options->width > MOST)) {
        return complain(EXIT_USAGE, NULL, "--width: between %d and %d columns", LEAST, MOST);
    }
    if (!parse_steps(options->steps, &report->steps)) {
        return complain(EXIT_USAGE, NULL, "--steps: '%s' is no range, as 10..20 is",
                        options->steps);
    }
    const bool to_terminal = !options->output || is_standard_stream(options->output);
    report->width = options->width != NOT_GIVEN ? (uint32_t)options->width : terminal_width();
    report->color = to_terminal && *style_for(options->color).bold;
    report->unicode = speaks_utf8();
    report->replan = options->replan;
    return EXIT_FINE;
}

/* The report that an output's extension names; NULL if it names none. */
static const char *report_of(const char *dot) {
    static const struct {
        const char *extension, *report;
    } pictures[] = {{".svg", "svg"}, {".html", "html"}, {".txt", "ascii"}};
    for (size_t i = 0; dot && i < sizeof pictures / sizeof *pictures; i++) {
        if (strcmp(dot, pictures[i].extension) == 0) return pictures[i].report;
    }
    return NULL;
}

/* Some flags are about one kind of picture only. */
static exit_code check_flags(const tool_options *options, const char *chosen) {
    if (options->what_if && strcmp(chosen, "html") != 0) {
        return complain(EXIT_USAGE, NULL, "--what-if is for the page (--html)");
    }
    if (options->replan && strcmp(chosen, "html") != 0) {
        return complain(EXIT_USAGE, NULL, "--replan is for the page (--html)");
    }
    if (options->compare && strcmp(chosen, "svg") != 0) {
        return complain(EXIT_USAGE, NULL, "--compare is for the still picture (--svg)");
    }
    if (options->open &&
        (strcmp(chosen, "ascii") == 0 || (options->output && output_is_direct(options->output)))) {
        return complain(EXIT_USAGE, NULL, "--open is for a page or a still picture in a file");
    }
    return EXIT_FINE;
}

/* By flag or by the output's extension; without either it is for a terminal. */
static exit_code choose_picture(const tool_options *options, output_kind *kind) {
    const char *asked = options->svg     ? "svg"
                        : options->html  ? "html"
                        : options->ascii ? "ascii"
                                         : NULL;
    const char *path = options->output;
    const char *dot = path && !output_is_direct(path) ? strrchr(base_name(path), '.') : NULL;
    const char *said = report_of(dot);
    if (options->svg + options->html + options->ascii > 1) {
        return complain(EXIT_USAGE, NULL, "--svg, --html and --ascii exclude each other");
    }
    if (asked && said && strcmp(asked, said) != 0 && strcmp(said, "ascii") != 0) {
        return complain(EXIT_USAGE, path, "--%s contradicts this extension", asked);
    }
    if (dot && !said && !asked) {
        return complain(EXIT_USAGE, path,
                        "which picture is told by --svg, --html or --ascii, or by the extension: "
                        ".svg, .html or .txt");
    }
    const char *chosen = asked ? asked : said ? said : options->open ? "html" : "ascii";
    *kind = (output_kind){NULL, arenaut_report_find(chosen)};
    return check_flags(options, chosen);
}

static exit_code write_picture(const tool_job *job, output_kind kind,
                               arenaut_report_options *report, const char *path) {
    what_if found;
    arenaut_recompute_curve *curve = NULL;
    const bool all = job->options->what_if;
    exit_code code = what_if_find(job, all, &found);
    report->variants = found.variants;
    report->n_variants = all || job->options->compare ? found.n : 0;
    const bool is_page = strcmp(kind.report->name, "html") == 0;
    if (code == EXIT_FINE && is_page) code = find_curve(job, &curve);
    report->curve = curve;
    if (code == EXIT_FINE) code = write_output(job, kind, report, path, NULL);
    arenaut_recompute_curve_free(curve);
    what_if_close(&found);
    return code;
}

/* Where the picture goes: as -o says; without it to standard output, or with --open to a file of
 * its own among the temporary ones, which stays there as long as these do. */
static exit_code choose_path(const tool_options *options, output_kind kind, arenaut_text *path) {
    if (options->output || !options->open) {
        text_put(path, options->output ? options->output : "-");
        return EXIT_FINE;
    }
    char *folder = os_make_private_folder();
    if (!folder)
        return complain(EXIT_IO, NULL, "no folder for a temporary file: %s", strerror(errno));
    text_printf(path, "%s/%s%s", folder, base_name(options->files.items[0]),
                kind.report->extension);
    free(folder);
    return EXIT_FINE;
}

/* A name that begins with '-' would be taken for a flag. */
static exit_code show_picture(const char *path) {
    arenaut_text shown = {0};
    const char *program;
    text_printf(&shown, "%s%s", *path == '-' ? "./" : "", path);
    const bool done = os_show(shown.bytes, &program);
    const char *why = done ? "" : strerror(errno);
    arenaut_text_free(&shown);
    if (done) note(path, "handed to %s", program);
    if (done) return EXIT_FINE;
    return complain(EXIT_IO, path, "written, but '%s' does not start: %s", program, why);
}

static exit_code view_job(tool_job *job, const tool_options *options, arenaut_text *path) {
    arenaut_report_options report = {0};
    output_kind kind;
    exit_code code = choose_picture(options, &kind);
    if (code == EXIT_FINE) code = view_options(options, &report);
    if (code == EXIT_FINE && options->output)
        code = output_check(options->output, options->force, false);
    if (code == EXIT_FINE) code = job_read(job, options->files.items[0], options);
    if (code == EXIT_FINE && options->output)
        code = check_replaced(job->inputs, options->output, kind);
    if (code == EXIT_FINE) code = job_describe(job);
    if (code == EXIT_NEGATIVE && job_is_answered(job, code))
        return complain_infeasible(job->pipeline);
    if (code == EXIT_FINE) code = choose_path(options, kind, path);
    if (code == EXIT_FINE) code = write_picture(job, kind, &report, path->bytes);
    return code == EXIT_FINE && options->open ? show_picture(path->bytes) : code;
}

/* A picture is of one plan: levers are plan's to choose. */
static exit_code resolve_budget(const tool_options *options, tool_options *resolved) {
    if (!options->fit_text || fits_by_rematerializing(options)) {
        return resolve_fit(options, resolved);
    }
    return complain(EXIT_USAGE, options->files.items[0],
                    "a picture is of one plan: --fit wants --recompute on here");
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    tool_job job = {0};
    arenaut_text path = {0};
    tool_options resolved = *options;
    (void)out; /* the picture is the only result */
    exit_code code = refuse_idle_limits(options);
    if (code == EXIT_FINE) code = resolve_budget(options, &resolved);
    if (code == EXIT_FINE) code = view_job(&job, &resolved, &path);
    code = job_end(&job, code);
    job_close(&job);
    arenaut_text_free(&path);
    return code;
}

extern const tool_verb verb_view;
const tool_verb verb_view = {
    .name = "view",
    .summary = "a picture of the plan: steps rightwards, addresses upwards",
    .arguments = "FILE [--svg|--html|--ascii] [-o OUT]",
    .examples = "arenaut view model.tflite -o plan.html    # or .svg, .txt; without -o: characters",
    .groups = GROUP_COMMON | GROUP_OUTPUT | GROUP_VIEW | GROUP_INPUT | GROUP_MODEL | GROUP_SEARCH,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};
