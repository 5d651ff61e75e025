/* The pipeline from the bytes of a file to a checked plan, in its order: read, transform, passes
 * and lowering, plan, verify; write_model.c writes it. The stages are files of src/stages, and the
 * transforms rows of src/rewrite/transforms.def. */
#include <arenaut/pipeline.h>

arenaut_status arenaut_pipeline_run(const void *data, size_t size,
                                    const arenaut_pipeline_options *options,
                                    const arenaut_allocator *allocator, arenaut_pipeline **out,
                                    arenaut_error *err) {
    arenaut_pipeline *p = NULL;
    arenaut_status st = arenaut_pipeline_new(options, allocator, &p, err);
    const arenaut_pipeline_file file = {NULL, data, size};
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(p, &file, 1, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(p, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_find_baseline(p, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_plan(p, err);
    if (st == ARENAUT_OK || st == ARENAUT_NO_PLAN) *out = p;
    else arenaut_pipeline_free(p);
    return st;
}
