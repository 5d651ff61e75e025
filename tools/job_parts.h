/* What job.c and today.c share. */
#ifndef TOOL_JOB_PARTS_H
#define TOOL_JOB_PARTS_H

#include "job.h"

exit_code read_document(tool_job *job, arenaut_document *document);
exit_code choose_method(const tool_job *job, arenaut_program *program);
exit_code run_passes(tool_job *job, arenaut_program *program, const char *selection, bool show);

/* Takes the honest view of a plan whose runtime places kernel scratch itself: replaces
 * job->plan by what the runtime will make of it, and never calls it optimal where scratch
 * is unknown. */
exit_code account_for_scratch(tool_job *job);

#endif
