#include "beside.h"

#include <inttypes.h>

#include <arenaut/tokens.h>

#include "describe.h"

static exit_code put_count(const tool_job *job, const char *indent, arenaut_text *out) {
    arenaut_tokens tokens = {0};
    arenaut_error err = {0};
    if (arenaut_tokens_find(job->problem, job->plan, NULL, &tokens, &err)) {
        return complain_error(job->input.path, &err);
    }
    text_printf(out, "%stokens   %" PRIu32 " for %" PRIu32 " values\n", indent, tokens.n,
                planned_buffers(job->problem));
    arenaut_tokens_free(&tokens, NULL);
    return EXIT_FINE;
}

/* Plans once more for a runtime that takes offsets, without a word about the file. */
exit_code put_offsets_beside(const tool_job *job, const char *indent, arenaut_text *out) {
    if (!job->target || !job->target->tokens || !job->target->offsets) return EXIT_FINE;
    tool_job other = {0};
    tool_options changed = *job->options;
    changed.target = job->target->offsets;
    changed.hash = false;
    changed.dump_after = NULL;
    set_quiet(true);
    exit_code code = put_count(job, indent, out);
    if (code == EXIT_FINE) code = job_run_again(&other, job, &changed);
    set_quiet(job->options->quiet);
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
