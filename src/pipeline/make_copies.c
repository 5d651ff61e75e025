/* Views as copies, between reading and passes. */
#include "pipeline/stages.h"

arenaut_status arn_pipeline_copy_views(arenaut_pipeline *p, arenaut_copying copying,
                                       arenaut_error *err) {
    arenaut_program *copy = NULL;
    arenaut_rewrite *rewrite = NULL;
    if (copying.n == 0) return ARENAUT_OK;
    if (p->rewrite || p->store->n_files > 1) {
        return arn_pipeline_blame(p, err, "copying", "copying: the program was %s",
                                  p->rewrite ? "rewritten before" : "made of several files");
    }
    arenaut_status st = arn_pipeline_copy_program(p, &copy, err);
    if (st == ARENAUT_OK) st = arenaut_copy_views(copy, copying.ops, copying.n, &rewrite, err);
    if (st != ARENAUT_OK) {
        arenaut_program_free(copy);
        return st;
    }
    return arn_pipeline_adopt(p, rewrite, err);
}
