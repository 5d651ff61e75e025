/* Other plans of the same input, for reports that compare. */
#ifndef TOOL_WHAT_IF_H
#define TOOL_WHAT_IF_H

#include "job.h"
#include "remedies.h"

typedef struct what_if {
    arenaut_variant variants[MAX_REMEDIES + 1];
    uint32_t n;
    arenaut_result incumbent;
    remedy_list remedies;
} what_if;

/* Whether the runtime's own plan is known, and right; *incumbent is then that plan. Borrows from
 * the job. */
bool incumbent_of(const tool_job *job, arenaut_result *incumbent);

/* The baseline and, if `all`, a variant for each remedy (remedies.h). Close it before the job, for
 * any return value. */
exit_code what_if_find(const tool_job *job, bool all, what_if *found);
void what_if_close(what_if *found);

/* Facts beside a plan in tokens: their number, and the arena that offsets would need. */

/* Nothing for targets whose memory does not come in tokens. `indent` begins each line. */
exit_code put_token_offsets(const tool_job *job, const char *indent, arenaut_text *out);

/* The same as the member "tokens" of the JSON document, with a comma in front. */
exit_code put_json_token_offsets(const tool_job *job, arenaut_text *out);

#endif
