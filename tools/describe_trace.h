/* Facts of a trace beside its problem: requested and reserved bytes, and the bytes that another
 * allocator would have reserved. Nothing for other files. */
#ifndef TOOL_DESCRIBE_TRACE_H
#define TOOL_DESCRIBE_TRACE_H

#include "job.h"

exit_code describe_trace(const tool_job *job, arenaut_text *out);
/* `,\n  "trace": {…}` */
exit_code put_trace_json(const tool_job *job, arenaut_text *out);

#endif
