/* What the parts of replay share: check_replay.c walks methods, calls, branches and loops,
 * replay_jumps.c methods whose ops jump, replay_kernel.c replays one op, replay_access.c does the
 * single reads and writes and words findings; replay_aliases.c knows what was moved where,
 * replay_state.c saves and joins. */
#ifndef ARN_CHECK_REPLAY_H
#define ARN_CHECK_REPLAY_H

#include <arenaut/check.h>

#include "check/replay_aliases.h"
#include "check/replay_places.h"
#include "check/replay_shadow.h"

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
    const arenaut_placement *placement;
    arenaut_replay_options options;
    const arenaut_allocator *allocator;
    arenaut_finding *finding;
    arenaut_error *err;
    arn_places places;
    arn_shadow shadow;
    arn_names names;
    uint64_t work_limit;
    bool *touched; /* per owner: replay has come across it */
    /* Work space of replay_kernel.c: per input position of the op at work, the output that may be
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
/* Runs any op but a jump; UNSUPPORTED when there has been too much work. */
arenaut_status arn_run_op(arn_replay *r, uint32_t op, uint32_t depth);
/* Runs the ops of a method in which some jump. */
arenaut_status arn_run_flow(arn_replay *r, uint32_t method, uint32_t depth);
/* Whether state that the method's bindings say it has mutated is read by the name of its old
 * value while it holds that, and holds its new value in the end. */
arenaut_status arn_check_mutations(arn_replay *r, uint32_t method);
/* Whether a concurrent method is right in every order of its ops, if it is in the one listed. */
arenaut_status arn_check_races(arn_replay *r, uint32_t method);
bool arn_has_jumps(const arenaut_program *program, uint32_t method);

/* All that a replay knows at one moment. Empty: both are NULL. */
typedef struct arn_state {
    arn_shadow_node *nodes;
    uint32_t *known;
} arn_state;

/* False if there is no memory; then *state is empty. */
bool arn_state_save(arn_replay *r, arn_state *state);
void arn_state_release(arn_replay *r, arn_state *state);
arn_state arn_state_live(const arn_replay *r); /* not a copy */
void arn_state_swap(arn_replay *r, arn_state *other);
void arn_state_copy(arn_replay *r, const arn_state *to, const arn_state *from);
/* Two ways meet; whether `into` has changed. */
bool arn_state_meet(arn_replay *r, const arn_state *into, const arn_state *from);

/* Finds what can be moved where. OK, NO_MEMORY, or UNSUPPORTED for chains without end. */
arenaut_status arn_names_make(arn_replay *r, arn_region *region);
void arn_names_free(arn_replay *r);
/* A call from outside begins: every tensor stands for itself. */
void arn_names_begin(arn_replay *r);
/* The tensor's bytes have been written, in the shadow. */
void arn_names_written(arn_replay *r, uint32_t tensor);
/* All memory that this tensor, which others are moved to, may stand for has been. */
void arn_names_rewritten(arn_replay *r, uint32_t tensor);
/* Nothing is read: what was not whole is found where the name is read. */
void arn_names_move(arn_replay *r, const arenaut_op *op);
/* Whether anything is ever moved to the tensor. */
bool arn_is_moved(const arn_replay *r, uint32_t tensor);
/* The tensors that this one may stand for, 0 <= i < count: itself alone, unless something is
 * moved to it; then ARENAUT_NONE for those that it does not stand for at present. */
uint32_t arn_root_count(const arn_replay *r, uint32_t tensor);
uint32_t arn_root_at(const arn_replay *r, uint32_t tensor, uint32_t i, uint32_t *known);
uint32_t arn_sole_root(const arn_replay *r, uint32_t tensor); /* NONE if there are several */

#endif
