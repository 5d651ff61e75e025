/* Variants of a plan: what the runtime does today, and a plan for each flag that was not given. */
#include "what_if.h"

bool today_of(const tool_job *job, arenaut_result *today) {
    const arenaut_baseline *baseline = &job->pipeline->baseline;
    if (!baseline->plan || baseline->overlaps) return false;
    *today = job->pipeline->result;
    today->problem = baseline->problem;
    today->lowering = baseline->lowering;
    today->program = baseline->lowering ? baseline->program : NULL;
    today->plan = baseline->plan;
    today->baseline = NULL;
    today->rewrite = NULL;
    today->behind = 0;
    return true;
}

exit_code what_if_find(const tool_job *job, bool all, what_if *found) {
    *found = (what_if){.remedies.keeps = true};
    exit_code code = EXIT_FINE;
    if (today_of(job, &found->today)) {
        found->variants[found->n++] =
            (arenaut_variant){"now", NULL, found->today.plan->total, &found->today};
    }
    if (all) code = find_remedies(job, &found->remedies);
    for (size_t i = 0; i < found->remedies.n; i++) {
        const remedy *r = &found->remedies.items[i];
        found->variants[found->n++] = (arenaut_variant){r->what, r->flags, r->arena,
                                                        r->job ? &r->job->pipeline->result : NULL};
    }
    return code;
}

void what_if_close(what_if *found) { remedies_free(&found->remedies); }
