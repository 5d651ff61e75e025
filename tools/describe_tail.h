/* The persistent part of a micro runtime's arena by kind and by op, and remedies. */
#ifndef TOOL_DESCRIBE_TAIL_H
#define TOOL_DESCRIBE_TAIL_H

#include "job.h"

/* A section for people; nothing where the runtime keeps nothing beside tensors. `all`: every op,
 * else those with the most. */
exit_code describe_tail(const tool_job *job, bool all, arenaut_text *out);

/* The same as a member of the JSON document. */
exit_code put_json_tail(const tool_job *job, arenaut_text *out);

/* {"runtime": 132, ..., "padding": 5} */
void put_json_tail_parts(const arenaut_tensor_arena *arena, arenaut_text *out);

#endif
