/* strip: the file without the plan that we put into it. The format's own `strip` takes it out;
 * another tool's plan stays, as nothing could restore it. */
#include "output.h"
#include "verb.h"

static exit_code strip_to(const tool_job *job, const char *path, uint64_t *written) {
    const arenaut_format *format = job->pipeline->document.format;
    output_file output;
    arenaut_error err = {0};
    exit_code code = output_open(path, job->options->force, &output);
    if (code != EXIT_FINE) return code;
    if (format->strip(job->inputs->data, job->inputs->size, output_sink(&output), NULL, &err)) {
        return output_abandon(&output, job->path, &err);
    }
    *written = output.written;
    return output_commit(&output);
}

/* Another tool's plan could not be restored. */
static exit_code check_strippable(const tool_job *job) {
    const arenaut_program *program = job->pipeline->document.program;
    if (!job->pipeline->document.format->strip) {
        return complain(EXIT_INPUT, job->path, "a plan cannot be taken out of the format %s",
                        job->pipeline->document.format->name);
    }
    if (program && program->given == ARENAUT_GIVEN_FOREIGN) {
        return complain(EXIT_INPUT, job->path,
                        "the plan in it is another tool's: only plans "
                        "that arenaut wrote are taken out");
    }
    if (program && program->given == ARENAUT_GIVEN_NONE) {
        return complain(EXIT_INPUT, job->path, "holds no plan to take out");
    }
    return EXIT_FINE;
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    tool_job job;
    uint64_t written = 0;
    const char *path = options->output;
    if (!path) return complain(EXIT_USAGE, NULL, "strip needs -o OUT: see 'arenaut help strip'");
    exit_code code = job_read(&job, options->files.items[0], options);
    if (code == EXIT_FINE) code = check_strippable(&job);
    if (code == EXIT_FINE) code = output_check(path, options->force, true);
    if (code == EXIT_FINE) {
        const output_kind kind = {job.pipeline->document.format, NULL};
        code = check_replaced(job.inputs, path, kind);
    }
    if (code == EXIT_FINE) code = strip_to(&job, path, &written);
    if (code == EXIT_FINE && !options->quiet && !is_standard_stream(path)) {
        text_put_clean(out, base_name(job.path));
        text_put(out, "  written to ");
        text_put_clean(out, path);
        text_printf(out, " as it was before its plan (-%s bytes)\n",
                    with_commas(job.inputs->size > written ? job.inputs->size - written : 0).text);
    }
    job_close(&job);
    return code;
}

extern const tool_verb verb_strip;
const tool_verb verb_strip = {
    .name = "strip",
    .summary = "removes a plan that arenaut wrote",
    .arguments = "FILE -o OUT",
    .examples = "arenaut strip planned.tflite -o original.tflite",
    .groups = GROUP_COMMON | GROUP_OUTPUT | GROUP_INPUT,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};
