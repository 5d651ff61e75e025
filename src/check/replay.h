/* What the parts of replay share: check_replay.c walks methods, calls, branches and loops,
 * kernel.c replays one op, access.c does the single reads and writes and words findings. */
#ifndef ARN_CHECK_REPLAY_H
#define ARN_CHECK_REPLAY_H

#include <arenaut/check.h>

#include "check/places.h"
#include "check/shadow.h"

enum {
    ARN_REPLAY_DEPTH = 64 /* calls within calls */
};
/* How much work is done before a program is refused: so much, some seconds, and so much
 * more for each op and argument, which is more than they need. Programs can only pass it by
 * calls that multiply and by loops within loops. Counted in nodes of the shadow looked at. */
#define ARN_REPLAY_WORK (UINT64_C(1) << 30)
#define ARN_REPLAY_WORK_EACH 4096u

typedef struct arn_replay {
    const arenaut_program *program;
    arenaut_replay_options options;
    const arenaut_allocator *allocator;
    arenaut_finding *finding;
    arenaut_error *err;
    arn_places places;
    arn_shadow shadow;
    uint64_t work_limit;
    bool *touched; /* per owner: replay has come across it */
    /* Work space of kernel.c: per input position of the op at work, the output that may be
     * written over it. */
    uint32_t *over;
    uint32_t *updated;   /* per owner: the latest version of an in-place op that had it as input */
    uint32_t version;    /* of the latest write; each op has one of its own */
    uint32_t method, op; /* at work, for findings; op NONE: before the first or after the last */
    bool first_call;
} arn_replay;

/* Sets *skip if the tensor is to be left alone; REJECTED if it lies wrong. */
arenaut_status arn_touch(arn_replay *r, uint32_t tensor, bool *skip);
/* Every byte must be the tensor's own. */
arenaut_status arn_read(arn_replay *r, uint32_t tensor);
/* With the present version. */
arenaut_status arn_write(arn_replay *r, uint32_t tensor);
/* The same, but none of the bytes may have the present version already: what is written by
 * one op, or filled in before one call, must be apart. */
arenaut_status arn_write_apart(arn_replay *r, uint32_t tensor);
/* A runtime's copy between a call's arguments and a method's: one after another. */
arenaut_status arn_copy(arn_replay *r, uint32_t from, uint32_t to);
/* Says that `tensor` shares the cell with what the op at work has written over it. */
arenaut_status arn_reject_arguments(arn_replay *r, uint32_t tensor, uint32_t cell);

/* Runs an op that is no control flow. */
arenaut_status arn_run_kernel(arn_replay *r, const arenaut_op *op);

#endif
