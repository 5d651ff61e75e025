/* explain: why the peak is what it is, and what each remedy would save. The report looks
 * at one plan; what needs another plan (in place, inputs elsewhere) is tried here. */
#include <stdlib.h>

#include "beside.h"
#include "describe.h"
#include "output.h"
#include "table.h"
#include "verb.h"

/* Plans again with one thing changed, and says what that saves. */
static exit_code try_remedy(const tool_job *job, tool_options changed, const char *what,
                            arenaut_text *out) {
    tool_job other = {0};
    changed.hash = false;
    changed.dump_after = NULL;
    set_quiet(true); /* notes about the file were given already */
    const exit_code code = job_run_again(&other, job, &changed);
    set_quiet(job->options->quiet);
    if (code == EXIT_FINE) {
        const uint64_t before = job->plan->total, after = other.plan->total;
        text_printf(out, "  %s: arena %s, ", what, with_commas(after).text);
        if (after < before) {
            text_printf(out, "saves %s (%s)\n", with_commas(before - after).text,
                        change_percent(before, after).text);
        } else {
            text_put(out, "saves nothing\n");
        }
    }
    job_close(&other);
    return code;
}

static exit_code put_remedies(const tool_job *job, arenaut_text *out) {
    tool_options changed = *job->options;
    exit_code code = EXIT_FINE;
    if (!job->lowering || job->stopped) return EXIT_FINE;
    if (!job->options->inplace && !job->options->inplace_op.n && job->target->in_place) {
        changed.inplace = "on";
        code = try_remedy(job, changed, "results over operands (--inplace on)", out);
        changed.inplace = NULL;
    }
    if (code == EXIT_FINE && !job->options->no_alloc_io) {
        changed.no_alloc_io = true;
        code = try_remedy(job, changed, "inputs and outputs elsewhere (--no-alloc-io)", out);
    }
    return code;
}

static exit_code put_report(const tool_job *job, const tool_options *options, arenaut_text *out) {
    const arenaut_report *report = arenaut_report_find("explain");
    const arenaut_report_options report_options = {.color = *style_for(options->color).bold != '\0',
                                                   .width = 100,
                                                   .top = options->verbose ? UINT32_MAX : 0};
    arenaut_error err = {0};
    text_put_clean(out, base_name(job->input.path));
    if (job->target) text_printf(out, "  on %s", job->target->name);
    text_put(out, "\n");
    if (arenaut_report_emit(report, &job->result, &report_options, arenaut_text_sink(out), NULL,
                            &err)) {
        return complain_error(job->input.path, &err);
    }
    exit_code code = put_remedies(job, out);
    if (code == EXIT_FINE) code = put_offsets_beside(job, "  ", out);
    if (job->result.scratch == ARENAUT_SCRATCH_UNKNOWN) {
        text_put(out,
                 "\nscratch: unknown. Some kernels of this model ask for working memory that "
                 "is not in the\nfile; it may move the peak. --scratch FILE gives it.\n");
    }
    return code;
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    tool_job job = {0};
    exit_code code = job_run(&job, options->files.items[0], options);
    const bool answered = job.plan && (code == EXIT_FINE || code == EXIT_NEGATIVE);
    if (answered && job.plan->quality == ARENAUT_INFEASIBLE) complain_infeasible(&job);
    if (answered) {
        code = graver(code, options->json || options->jsonl ? put_json(&job, out)
                                                            : put_report(&job, options, out));
    }
    if (code == EXIT_FINE) code = check_budget(job.input.path, options, job_bytes_needed(&job));
    if (job.stopped) code = EXIT_INTERRUPT;
    job_close(&job);
    return code;
}

extern const tool_verb verb_explain;
const tool_verb verb_explain = {
    .name = "explain",
    .summary = "why the arena is as big as it is, and what would help",
    .arguments = "FILE",
    .examples =
        "arenaut explain model.tflite\n"
        "arenaut explain model.tflite -v      # all buffers at the peak",
    .groups = GROUP_COMMON | GROUP_JSON | GROUP_INPUT | GROUP_MODEL | GROUP_SEARCH | GROUP_BUDGET,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};
