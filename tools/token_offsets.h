/* Facts beside a plan in tokens: their number, and the arena that offsets would need. */
#ifndef TOOL_TOKEN_OFFSETS_H
#define TOOL_TOKEN_OFFSETS_H

#include "job.h"

/* Nothing for targets whose memory does not come in tokens. `indent` begins each line. */
exit_code put_token_offsets(const tool_job *job, const char *indent, arenaut_text *out);

/* The same as the member "tokens" of the JSON document, with a comma in front. */
exit_code put_json_token_offsets(const tool_job *job, arenaut_text *out);

#endif
