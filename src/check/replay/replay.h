/* What one replay works on. check_replay.c sets it up and calls the entries of the program;
 * replay_control.h runs methods and ops, replay_access.h reads and writes single tensors,
 * replay_steps.h follows the kernel of an op whose output overlaps its input,
 * replay_places.h says where tensors lie, replay_shadow.h what each byte holds, replay_aliases.h
 * what moved tensors point to, replay_state.h saves and joins all of that. */
#ifndef ARN_CHECK_REPLAY_H
#define ARN_CHECK_REPLAY_H

#include <arenaut/check.h>

#include "check/replay/kernel_walk.h"
#include "check/replay/replay_aliases.h"
#include "check/replay/replay_places.h"
#include "check/replay/replay_shadow.h"

struct arn_replay {
    const arenaut_program *program;
    const arenaut_placement *placement;
    arenaut_replay_options options;
    const arenaut_allocator *allocator;
    arenaut_finding *finding;
    arenaut_error *err;
    arn_replay_places places;
    arn_replay_shadow shadow;
    arn_replay_aliases aliases;
    uint64_t work_limit; /* of shadow.work, past which the program is refused */
    bool *touched;       /* per storage: replay has come across it */
    /* Work space of replay_kernel.c: per input position of the op at work, the output that may be
     * written over it. */
    uint32_t *over;
    /* Of replay_steps.c: the rule of the kernels for the op at work (NULL: none), and the outputs
     * that overlap an input and may, since the op's own steps have been followed. */
    const arenaut_kernel_rule *rule;
    arn_walk_pair *pairs;
    uint32_t n_pairs, pair_capacity;
    bool *followed;    /* per op: its steps have been found right, and would be again */
    uint64_t steps;    /* followed so far, as kernel_walk.h counts them */
    uint32_t *updated; /* per storage: the latest version of an in-place op that had it as input */
    uint32_t version;  /* of the latest write; each op has one of its own */
    uint32_t method, op; /* at work, for findings; op NONE: before the first or after the last */
    bool first_call;
};

#endif
