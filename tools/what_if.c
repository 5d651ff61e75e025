/* Other plans of the same input: the baseline, a plan for each flag that was not given, and a plan
 * in offsets next to one in tokens. */
#include "what_if.h"

#include <inttypes.h>

#include <arenaut/tokens.h>

#include "describe.h"
#include "whole_arena.h"

bool incumbent_of(const tool_job *job, arenaut_result *incumbent) {
    const arenaut_baseline *baseline = &job->pipeline->baseline;
    if (!baseline->plan || baseline->overlaps) return false;
    *incumbent = job->pipeline->result;
    incumbent->problem = baseline->problem;
    incumbent->lowering = baseline->lowering;
    incumbent->program = baseline->lowering ? baseline->program : NULL;
    incumbent->plan = baseline->plan;
    incumbent->baseline = NULL;
    incumbent->rewrite = NULL;
    incumbent->ways = NULL;
    incumbent->behind = 0;
    return true;
}

exit_code what_if_find(const tool_job *job, bool all, what_if *found) {
    *found = (what_if){.remedies.keeps = true};
    exit_code code = EXIT_FINE;
    if (incumbent_of(job, &found->incumbent)) {
        found->variants[found->n++] = (arenaut_variant){
            .name = "now", .arena = found->incumbent.plan->total, .result = &found->incumbent};
    }
    if (all) code = find_remedies(job, &found->remedies);
    if (all && code == EXIT_FINE) code = find_alignments(job, &found->remedies);
    for (size_t i = 0; i < found->remedies.n; i++) {
        const remedy *r = &found->remedies.items[i];
        found->variants[found->n++] = (arenaut_variant){
            .name = r->what,
            .flags = r->flags,
            .arena = r->arena,
            .result = r->job ? &r->job->pipeline->result : NULL,
            .reserve = has_whole_arena(job) ? r->reserve : 0,
            .saves = r->saves,
        };
    }
    return code;
}

void what_if_close(what_if *found) { remedies_free(&found->remedies); }

/* A plan in tokens next to one in offsets: the same input is planned once more, for the target that
 * the same runtime would be if it took places. It costs one more run of the pipeline. */

static bool comes_in_tokens(const arenaut_pipeline *p) {
    return p->target && p->target->tokens && p->target->offsets;
}

static exit_code count_tokens(const tool_job *job, uint32_t *n) {
    const arenaut_pipeline *p = job->pipeline;
    arenaut_tokens tokens = {0};
    arenaut_error err = {0};
    if (arenaut_tokens_find(p->problem, p->plan, NULL, &tokens, &err)) {
        return complain_error(job->path, &err);
    }
    *n = tokens.n;
    arenaut_tokens_free(&tokens, NULL);
    return EXIT_FINE;
}

/* Plans once more for a runtime that takes offsets. The caller closes *other in any case. */
static exit_code plan_offsets(const tool_job *job, tool_job *other) {
    arenaut_pipeline_options options = job->pipeline->options;
    options.target = arenaut_target_find(job->pipeline->target->offsets);
    exit_code code = job_prepare_again(other, job, &options);
    if (code == EXIT_FINE) code = job_find_baseline(other);
    return code == EXIT_FINE ? job_make_plan(other) : code;
}

exit_code put_token_offsets(const tool_job *job, const char *indent, arenaut_text *out) {
    if (!comes_in_tokens(job->pipeline)) return EXIT_FINE;
    const arenaut_pipeline *p = job->pipeline;
    tool_job other = {0};
    uint32_t n = 0;
    exit_code code = count_tokens(job, &n);
    if (code != EXIT_FINE) return code;
    text_printf(out, "%stokens   %" PRIu32 " for %" PRIu32 " values\n", indent, n,
                planned_buffers(p->problem));
    code = plan_offsets(job, &other);
    if (code == EXIT_FINE) {
        const arenaut_pipeline *offsets = other.pipeline;
        text_printf(out, "%soffsets  in one arena, multiples of %" PRIu64 ", need %s bytes, ",
                    indent, offsets->target->align, with_commas(offsets->plan->total).text);
        describe_quality(offsets, out);
        text_printf(out, "\n%s         (--target %s); %s\n", indent, p->target->offsets,
                    offsets->plan->total < p->plan->total ? "storage ids cannot hold them"
                                                          : "storage ids need no more");
    }
    job_close(&other);
    return code;
}

exit_code put_json_token_offsets(const tool_job *job, arenaut_text *out) {
    if (!comes_in_tokens(job->pipeline) || job->pipeline->plan->quality == ARENAUT_INFEASIBLE)
        return EXIT_FINE;
    const arenaut_pipeline *p = job->pipeline;
    tool_job other = {0};
    uint32_t n = 0;
    exit_code code = count_tokens(job, &n);
    if (code != EXIT_FINE) return code;
    code = plan_offsets(job, &other);
    if (code == EXIT_FINE) {
        text_printf(out, ",\n  \"tokens\": {\"n\": %" PRIu32 ", \"offsets\": {\"target\": ", n);
        text_put_json(out, p->target->offsets);
        text_put(out, ", \"arena\": ");
        text_put_json_u64(out, other.pipeline->plan->total);
        text_put(out, ", \"lower_bound\": ");
        text_put_json_u64(out, other.pipeline->plan->total_bound);
        text_put(out, "}}");
    }
    job_close(&other);
    return code;
}
