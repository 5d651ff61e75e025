/* The library's pipeline as far as a test goes with it. */
#ifndef SUPPORT_PIPELINES_H
#define SUPPORT_PIPELINES_H

#include <arenaut/pipeline.h>

/* Reads and prepares; with a planner named in the options it plans as well, and leaves out what the
 * runtime does today. On failure nothing is left to be freed. */
arenaut_status pipeline_open(const void *data, size_t size, const arenaut_pipeline_options *options,
                             const arenaut_allocator *allocator, arenaut_pipeline **out,
                             arenaut_error *err);

/* Every way in which a file may be refused; such an error has a message. */
bool is_refusal(arenaut_status status, const arenaut_error *err);

#endif
