/* What to reserve for a model in a runtime that lives in its own arena, and whether that keeps a
 * budget. */
#ifndef TOOL_WHOLE_ARENA_H
#define TOOL_WHOLE_ARENA_H

#include "job.h"

/* Whether there is such an answer: a model in one pool, in a runtime whose layout is known. */
bool has_whole_arena(const tool_job *job);

/* Of so many planned bytes, in the job's target; complains if it fails. */
exit_code find_whole_arena(const tool_job *job, uint64_t planned, arenaut_tensor_arena *arena);
/* What the user has to reserve for so many planned bytes: the whole arena, where there is one. */
uint64_t bytes_to_reserve(const tool_job *job, uint64_t planned);
uint64_t bytes_as_it_is(const tool_job *job); /* with today's plan, which is known */
uint64_t bytes_needed(const tool_job *job);   /* with the new plan, or today's where that is less */

/* A table of head, scratch, tail and sum, of the file as it is and as planned; with a budget, of
 * what may be asked for besides, and of what is missing or to spare. */
exit_code put_whole_arena(const tool_job *job, arenaut_text *out);
/* The same as members of the JSON document. */
exit_code put_json_whole_arena(const tool_job *job, arenaut_text *out);

#endif
