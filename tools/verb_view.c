/* view: a still picture of the plan. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "describe.h"
#include "output.h"
#include "table.h"
#include "verb.h"

/* A pipe or a file has no width; 80 columns suit logs and comments. */
static uint32_t terminal_width(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
    return 80;
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

static exit_code view_options(const tool_options *options, arenaut_report_options *report) {
    enum { LEAST = 40, MOST = 1000 };
    if (options->width != NOT_GIVEN && (options->width < LEAST || options->width > MOST)) {
        return complain(EXIT_USAGE, NULL, "--width: between %d and %d columns", LEAST, MOST);
    }
    const bool to_terminal = !options->output || is_standard_stream(options->output);
    report->width = options->width != NOT_GIVEN ? (uint32_t)options->width : terminal_width();
    report->color = to_terminal && *style_for(options->color).bold;
    report->unicode = speaks_utf8();
    return EXIT_FINE;
}

static exit_code view_job(tool_job *job, const tool_options *options) {
    arenaut_report_options report = {0};
    const output_kind kind = {NULL, arenaut_report_find(options->svg ? "svg" : "ascii")};
    const char *path = options->output ? options->output : "-";
    exit_code code = view_options(options, &report);
    if (code == EXIT_FINE) code = output_check(path, options->force, false);
    if (code == EXIT_FINE) code = job_run(job, options->files.items[0], options);
    if (code == EXIT_NEGATIVE && job->plan) return complain_infeasible(job);
    return code == EXIT_FINE ? write_output(job, kind, &report, path, options->force, NULL) : code;
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    tool_job job = {0};
    (void)out; /* the picture is the only result */
    if (options->svg == options->ascii) {
        return complain(EXIT_USAGE, NULL, "view needs one of --svg and --ascii");
    }
    exit_code code = view_job(&job, options);
    if (job.stopped) code = EXIT_INTERRUPT;
    job_close(&job);
    return code;
}

extern const tool_verb verb_view;
const tool_verb verb_view = {
    .name = "view",
    .summary = "a picture of the plan: steps to the right, addresses upwards",
    .arguments = "FILE --svg|--ascii [-o OUT]",
    .examples =
        "arenaut view model.tflite --svg -o plan.svg\n"
        "arenaut view model.tflite --ascii",
    .groups = GROUP_COMMON | GROUP_OUTPUT | GROUP_VIEW | GROUP_INPUT | GROUP_MODEL | GROUP_SEARCH,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};
