/* Splitting, between reading and passes: those are then about the ops that will run. What a file's
 * own plan says goes with the file's program; the baseline reads it there (baseline.c). A program
 * that cannot be split, or needs no less when it is (split_choice.c), stays as it is, unless the
 * caller has said which stages to split. */
#include "pipeline/stages.h"

static arenaut_status blame_stages(arenaut_pipeline *p, arenaut_status st, arenaut_error *err) {
    const arenaut_error why = err ? *err : (arenaut_error){0};
    if (st != ARENAUT_BAD_ARGUMENT && st != ARENAUT_REFUSED) return st;
    return arn_pipeline_blame(p, err, "split", "split: %s", why.msg);
}

/* Makes the split program; *out stays NULL where there is none. */
static arenaut_status make_split(arenaut_pipeline *p, arn_budget *budget, arenaut_rewrite **out,
                                 arenaut_error *err) {
    const arenaut_splitting *o = &p->options.splitting;
    if (!o->stages) return arn_pipeline_split_best(p, budget, out, err);
    return blame_stages(p,
                        arenaut_split(p->document.program, o->stages, o->n_stages,
                                      arn_pipeline_allocator(p), out, err),
                        err);
}

arenaut_status arn_pipeline_split(arenaut_pipeline *p, arn_budget *budget, arenaut_error *err) {
    arenaut_rewrite *rewrite = NULL;
    if (!p->options.splitting.on) return ARENAUT_OK;
    const arenaut_status st = make_split(p, budget, &rewrite, err);
    return st == ARENAUT_OK && rewrite ? arn_pipeline_adopt(p, rewrite, err) : st;
}
