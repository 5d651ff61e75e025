/* Variants of a plan: the baseline, and a plan for each flag that was not given. */
#include "what_if.h"

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
