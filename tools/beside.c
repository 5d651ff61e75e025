#include "beside.h"

#include <inttypes.h>

#include <arenaut/tokens.h>

#include "describe.h"

static bool comes_in_tokens(const tool_job *job) {
    return job->target && job->target->tokens && job->target->offsets;
}

static exit_code count_tokens(const tool_job *job, uint32_t *n) {
    arenaut_tokens tokens = {0};
    arenaut_error err = {0};
    if (arenaut_tokens_find(job->problem, job->plan, NULL, &tokens, &err)) {
        return complain_error(job->input.path, &err);
    }
    *n = tokens.n;
    arenaut_tokens_free(&tokens, NULL);
    return EXIT_FINE;
}

/* Plans once more for a runtime that takes offsets, without a word about the file. `options` are
 * what *other keeps; the caller closes it, whatever comes of it. */
static exit_code plan_offsets(const tool_job *job, tool_options *options, tool_job *other) {
    *options = *job->options;
    options->target = job->target->offsets;
    options->hash = false;
    options->dump_after = NULL;
    set_quiet(true);
    const exit_code code = job_run_again(other, job, options);
    set_quiet(job->options->quiet);
    return code;
}

exit_code put_offsets_beside(const tool_job *job, const char *indent, arenaut_text *out) {
    if (!comes_in_tokens(job)) return EXIT_FINE;
    tool_job other = {0};
    tool_options options;
    uint32_t n = 0;
    exit_code code = count_tokens(job, &n);
    if (code != EXIT_FINE) return code;
    text_printf(out, "%stokens   %" PRIu32 " for %" PRIu32 " values\n", indent, n,
                planned_buffers(job->problem));
    code = plan_offsets(job, &options, &other);
    if (code == EXIT_FINE) {
        text_printf(out, "%soffsets  in one arena would need %s bytes, ", indent,
                    with_commas(other.plan->total).text);
        describe_quality(&other, out);
        text_printf(out, "\n%s         (--target %s); storage ids cannot hold them\n", indent,
                    job->target->offsets);
    }
    job_close(&other);
    return code;
}

exit_code put_json_beside(const tool_job *job, arenaut_text *out) {
    if (!comes_in_tokens(job) || job->plan->quality == ARENAUT_INFEASIBLE) return EXIT_FINE;
    tool_job other = {0};
    tool_options options;
    uint32_t n = 0;
    exit_code code = count_tokens(job, &n);
    if (code != EXIT_FINE) return code;
    code = plan_offsets(job, &options, &other);
    if (code == EXIT_FINE) {
        text_printf(out, ",\n  \"tokens\": {\"n\": %" PRIu32 ", \"offsets\": {\"target\": ", n);
        text_put_json(out, job->target->offsets);
        text_put(out, ", \"arena\": ");
        text_put_json_u64(out, other.plan->total);
        text_put(out, ", \"lower_bound\": ");
        text_put_json_u64(out, other.plan->total_bound);
        text_put(out, "}}");
    }
    job_close(&other);
    return code;
}
