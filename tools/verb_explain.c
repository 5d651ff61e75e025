/* explain: causes of the peak, and the savings of each remedy. The report looks at one plan;
 * remedies that need another plan are tried in remedies.c. */
#include <stdlib.h>

#include "what_if.h"
#include "describe.h"
#include "output.h"
#include "remedies.h"
#include "tool.h"
#include "verb.h"
#include "whole_arena.h"

static exit_code find_and_put_curve(const tool_job *job, bool json, arenaut_text *out) {
    arenaut_recompute_curve *curve;
    const exit_code code = find_curve(job, &curve);
    if (json) put_json_curve(curve, out);
    else put_curve(job, curve, out);
    arenaut_recompute_curve_free(curve);
    return code;
}

static exit_code put_report(const tool_job *job, const tool_options *options, arenaut_text *out) {
    const arenaut_report *report = arenaut_report_find("explain");
    const arenaut_report_options report_options = {.color = *style_for(options->color).bold != '\0',
                                                   .width = 100,
                                                   .top = options->verbose ? UINT32_MAX : 0};
    arenaut_error err = {0};
    text_put_clean(out, base_name(job->path));
    if (job->pipeline->target) text_printf(out, "  on %s", job->pipeline->target->name);
    describe_kernel_set(job->pipeline, out);
    text_put(out, "\n");
    if (arenaut_report_emit(report, &job->pipeline->result, &report_options, arenaut_text_sink(out),
                            NULL, &err)) {
        return complain_error(job->path, &err);
    }
    remedy_list remedies = {.keeps = false};
    exit_code code = find_remedies(job, &remedies);
    if (code == EXIT_FINE) put_remedies(job, &remedies, out);
    describe_splits(job->pipeline, out);
    if (code == EXIT_FINE) code = describe_tail(job, options->verbose > 0, out);
    if (code == EXIT_FINE) code = find_and_put_curve(job, false, out);
    if (code == EXIT_FINE) code = put_token_offsets(job, "  ", out);
    if (job->pipeline->op_outside != ARENAUT_NONE) text_put(out, "\n");
    describe_outside(job->pipeline, "outside: ", out);
    describe_kernels(job->pipeline, "\nkernels: ", out);
    describe_rounded(job->pipeline, "\nrounded: ", out);
    describe_refused(job->pipeline, "\nruns: ", out);
    if (job->pipeline->result.scratch == ARENAUT_SCRATCH_UNKNOWN) {
        text_put(out,
                 "\nscratch: unknown. Some kernels of this model ask for working memory that "
                 "is not in the\nfile; it may move the peak. --scratch FILE gives it.\n");
    }
    describe_compressed(job->pipeline, "\npacked: ", out);
    return code;
}

static exit_code put_json_report(const tool_job *job, arenaut_text *out) {
    remedy_list remedies = {.keeps = false};
    arenaut_text more = {0};
    exit_code code = find_remedies(job, &remedies);
    if (code == EXIT_FINE) code = put_json_remedies(job, &remedies, &more);
    if (code == EXIT_FINE) code = find_and_put_curve(job, true, &more);
    if (code == EXIT_FINE) code = put_json_token_offsets(job, &more);
    if (code == EXIT_FINE) code = put_json_tail(job, &more);
    const reservation needed = reserved_needed(job);
    if (code == EXIT_FINE) code = put_json_with(job, &needed, more.bytes, out);
    arenaut_text_free(&more);
    return code;
}

static exit_code run(const tool_options *options, arenaut_text *out) {
    tool_job job = {0};
    exit_code code = job_run(&job, options->files.items[0], options);
    const bool answered = job_is_answered(&job, code);
    if (answered && job.pipeline->plan->quality == ARENAUT_INFEASIBLE)
        complain_infeasible(job.pipeline);
    if (answered) {
        code = graver(code, options->json || options->jsonl ? put_json_report(&job, out)
                                                            : put_report(&job, options, out));
    }
    if (code == EXIT_FINE) {
        const reservation needed = reserved_needed(&job);
        code = check_budget(job.path, options, &needed);
    }
    code = job_end(&job, code);
    job_close(&job);
    return code;
}

extern const tool_verb verb_explain;
const tool_verb verb_explain = {
    .name = "explain",
    .summary = "causes of the arena's size, and remedies",
    .arguments = "FILE",
    .examples =
        "arenaut explain model.tflite\n"
        "arenaut explain model.tflite -v      # all buffers at the peak\n"
        "arenaut explain joint.pt2 --recompute on   # peak against time of a training step",
    .groups = GROUP_COMMON | GROUP_JSON | GROUP_INPUT | GROUP_MODEL | GROUP_SEARCH | GROUP_BUDGET,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};
