/* States of a program on its way to a plan, on standard error, so that they go together with any
 * result. */
#ifndef TOOL_DUMP_H
#define TOOL_DUMP_H

#include "job.h"

/* For arenaut_pipeline_options.after_pass, with the job as its context: --dump-after. */
void dump_program(void *job, const arenaut_pass *pass, const arenaut_program *program);

/* --dump-live, of a model that was lowered. */
void dump_live(const tool_job *job);

#endif
