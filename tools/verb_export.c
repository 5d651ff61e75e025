/* export: a plan, problem or program in another format. The file goes through the pipeline as far
 * as that format needs it, and the format's own writer does the rest. */
#include <string.h>

#include "describe.h"
#include "fit.h"
#include "output.h"
#include "verb.h"

/* Programs, problems and the model's own bytes are written as they are; all else needs a plan. */
static bool needs_plan(output_kind kind) {
    if (kind.report) return kind.report->needs_plan;
    return strcmp(kind.format->name, "program-json") != 0 &&
           strcmp(kind.format->name, "problem-json") != 0;
}

/* Places that the file does not have would be taken for those of its runtime. */
static exit_code refuse_wrong_plan(const tool_job *job) {
    const arenaut_baseline *baseline = &job->pipeline->baseline;
    if (!baseline->from_file || !baseline->overlaps || job->options->force) return EXIT_FINE;
    return complain(EXIT_NEGATIVE, job->path,
                    "the plan in the file is wrong (%s): 'arenaut plan' makes another, and -f "
                    "exports that one",
                    baseline->finding.msg);
}

/* The cheap checks come first, so that a wrong name is told before the planning. */
static exit_code export_job(tool_job *job, const tool_options *options) {
    output_kind kind;
    const char *path = options->output ? options->output : "-";
    exit_code code = kind_for_name(options->as, &kind);
    if (code == EXIT_FINE) code = output_check(path, options->force, false);
    if (code == EXIT_FINE) code = job_read(job, options->files.items[0], options);
    if (code == EXIT_FINE) code = check_replaced(job->inputs, path, kind);
    if (code == EXIT_FINE) code = needs_plan(kind) ? job_describe(job) : job_prepare(job);
    if (code == EXIT_FINE && needs_plan(kind)) code = refuse_wrong_plan(job);
    if (code == EXIT_NEGATIVE && job_is_answered(job, code))
        return complain_infeasible(job->pipeline);
    return code == EXIT_FINE ? write_output(job, kind, NULL, path, NULL) : code;
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    tool_job job = {0};
    (void)out; /* the exported document is the only result */
    if (!options->as)
        return complain(EXIT_USAGE, NULL,
                        "export needs --as FORMAT: see 'arenaut "
                        "help export'");
    exit_code code = refuse_idle_limits(options);
    if (code == EXIT_FINE) code = export_job(&job, options);
    code = job_end(&job, code);
    job_close(&job);
    return code;
}

extern const tool_verb verb_export;
const tool_verb verb_export = {
    .name = "export",
    .summary = "writes the plan, problem or program in another format",
    .arguments = "FILE --as FORMAT [-o OUT]",
    .examples =
        "arenaut export model.tflite --as header -o arena.h\n"
        "arenaut export model.tflite --as problem > problem.json\n"
        "arenaut export planned.tflite --as c-array -o model.c",
    .notes =
        "FORMAT is json (the plan), problem, program, csv, header, svg, html, perfetto (a trace), "
        "dot (a graph), tokens (storage ids) or c-array (the model file, with the plan that is in "
        "it).",
    .groups = GROUP_COMMON | GROUP_OUTPUT | GROUP_EXPORT | GROUP_INPUT | GROUP_MODEL | GROUP_SEARCH,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};
