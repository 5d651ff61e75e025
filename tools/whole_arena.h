/* Bytes to reserve for a model in a runtime that lives in its own arena, and whether they keep a
 * budget. */
#ifndef TOOL_WHOLE_ARENA_H
#define TOOL_WHOLE_ARENA_H

#include "job.h"

/* Whether there is such an answer: a model in a runtime whose layout is known. Pools count
 * together.
 */
bool has_whole_arena(const tool_job *job);

/* Of so many planned bytes, in the job's target; complains if it fails. */
exit_code find_whole_arena(const tool_job *job, uint64_t planned, arenaut_tensor_arena *arena);
exit_code find_arena_as_it_is(const tool_job *job, arenaut_tensor_arena *arena);

/* Bytes to reserve: the whole arena, if there is one, else the planned memories. */
typedef struct reservation {
    uint64_t bytes;
    const char *unknown; /* why they are only a lower bound; NULL: they are all that is needed */
    bool whole;          /* they are the runtime's tensor_arena, not that of its tensors alone */
    bool apart;          /* they are of two memories, each with its size: head, then tail */
    uint64_t need[2], size[2]; /* head and tail of a whole arena, if it is not apart, too */
} reservation;

reservation reserved_for(const tool_job *job, uint64_t planned); /* for so many planned bytes */
reservation reserved_as_it_is(const tool_job *job);              /* with the baseline */
reservation reserved_needed(
    const tool_job *job); /* with the new plan, or the baseline if it is less */

typedef enum verdict_on_budget { BUDGET_KEPT, BUDGET_EXCEEDED, BUDGET_UNKNOWN } verdict_on_budget;

/* Of an arena of the job, whose bytes are known up to `unknown`. */
reservation reservation_of(const tool_job *job, const arenaut_tensor_arena *arena,
                           const char *unknown);

/* A lower bound can exceed a budget, but never keep one. Two memories are judged each by its own,
 * and their sum by a budget if there is one (else NOT_GIVEN); where no size is limited, none is
 * exceeded. */
verdict_on_budget judge_budget(const reservation *need, uint64_t budget);
const char *budget_verdict_json(const reservation *need, uint64_t budget); /* true, false, null */

/* "head in DTCM", if --pool head=DTCM:SIZE names its memory, else "head"; so with the tail. */
void put_memory(const tool_options *options, const char *which, arenaut_text *out);

/* Whether there is a size that the bytes are held against. */
bool is_judged(const tool_job *job);

/* A table of head, scratch, tail and sum, of the file as it is and as planned; with a budget, with
 * further rights, and with the bytes missing or to spare. */
exit_code put_whole_arena(const tool_job *job, arenaut_text *out);
/* The same as members of the JSON document. */
exit_code put_json_whole_arena(const tool_job *job, arenaut_text *out);

#endif
