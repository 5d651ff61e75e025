#include "support/pipelines.h"

arenaut_status pipeline_open(const void *data, size_t size, const arenaut_pipeline_options *options,
                             const arenaut_allocator *allocator, arenaut_pipeline **out,
                             arenaut_error *err) {
    const arenaut_pipeline_file file = {NULL, data, size};
    arenaut_pipeline *p = NULL;
    arenaut_status st = arenaut_pipeline_new(options, allocator, &p, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(p, &file, 1, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(p, err);
    if (st == ARENAUT_OK && p->options.plan.planner) st = arenaut_pipeline_plan(p, err);
    if (st == ARENAUT_OK) *out = p;
    else arenaut_pipeline_free(p);
    return st;
}

bool is_refusal(arenaut_status st, const arenaut_error *err) {
    return err->code == st && err->msg[0] &&
           (st == ARENAUT_BAD_INPUT || st == ARENAUT_UNSUPPORTED || st == ARENAUT_TOO_LARGE ||
            st == ARENAUT_REFUSED);
}
