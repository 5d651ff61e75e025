/* The library's pipeline as far as a test goes with it. */
#ifndef SUPPORT_PIPELINES_H
#define SUPPORT_PIPELINES_H

#include <arenaut/pipeline.h>

/* Reads and prepares; with a planner named in the options it plans as well, and leaves out the
 * baseline. On failure nothing is left to be freed. */
arenaut_status pipeline_open(const void *data, size_t size, const arenaut_pipeline_options *options,
                             const arenaut_allocator *allocator, arenaut_pipeline **out,
                             arenaut_error *err);

/* Every status by which a file may be refused; such an error has a message. */
bool is_refusal(arenaut_status status, const arenaut_error *err);

/* A property of bytes that are read as a format that holds problems: an accepted problem is valid,
 * its plan can be judged, the planner finds one that the checker passes, and both can be written as
 * JSON and read back. */
bool problem_property(const char *format, const char *planner, const uint8_t *data, size_t size);

#endif
