/* A replay: its fields, the places of tensors in cells, and the interfaces of its parts.
 * check_replay.c sets it up and calls the entries of the program; replay_control.c runs methods and
 * control flow, replay_kernel.c single ops, over reads and writes of single tensors in
 * replay_access.c; replay_mutations.c and replay_races.c check methods as a whole. replay_state.h
 * has the abstract state. */
#ifndef ARN_CHECK_REPLAY_H
#define ARN_CHECK_REPLAY_H

#include <arenaut/check.h>

#include "check/replay/kernel_steps.h"
#include "check/replay/replay_state.h"

/* ---- places (replay_places.c) ---- */

typedef struct arn_replay_place {
    uint32_t first, end; /* cells; meaningful if neither of the next two is set */
    bool left_alone;     /* a constant, empty, or in memory that no arena holds */
    uint8_t broken;      /* arenaut_rule that touching it breaks; NONE: it may be touched */
} arn_replay_place;

typedef struct arn_replay_places {
    uint32_t *storage;       /* per tensor */
    bool *state;             /* per storage: keeps its bytes from call to call */
    bool *filled;            /* per storage: filled by an op, a call, the caller, or as state */
    arn_replay_place *place; /* per tensor */
    uint32_t n_cells;
    uint32_t *cell_pool;    /* n_cells + 1: where cell k starts, k - 1 ends */
    uint64_t *cell_address; /* likewise */
    uint32_t *base_pool;    /* per storage: where its memory begins; NONE: nowhere */
    uint64_t *base_offset;  /* per storage */
} arn_replay_places;

/* Takes memory from `region`. OK or NO_MEMORY. */
arenaut_status arn_replay_places_make(const arenaut_program *program,
                                      const arenaut_placement *placement, bool exclude_io,
                                      arn_region *region, arn_replay_places *places,
                                      arenaut_error *err);

/* ---- the replay ---- */

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
    /* The rule of the kernels for the op at work (NULL: none), and the outputs that overlap an
     * input and may, since the op's own steps have been followed. */
    const arenaut_kernel_rule *rule;
    arn_walk_pair *pairs;
    uint32_t n_pairs, pair_capacity;
    bool *followed;    /* per op: its steps have been found right, and are the same each time */
    uint64_t steps;    /* followed so far, as kernel_steps.h counts them */
    uint32_t *updated; /* per storage: the latest version of an in-place op that had it as input */
    uint32_t version;  /* of the latest write; each op has one of its own */
    uint32_t method, op; /* at work, for findings; op NONE: before the first or after the last */
    bool first_call;
};

/* ---- access (replay_access.c) ---- */

/* Sets *skip if the tensor is to be left alone; REJECTED if it lies wrong. */
arenaut_status arn_replay_touch(arn_replay *r, uint32_t tensor, bool *skip);
/* Every byte must be the tensor's own. */
arenaut_status arn_replay_read(arn_replay *r, uint32_t tensor);
/* With the present version. */
arenaut_status arn_replay_write(arn_replay *r, uint32_t tensor);
/* The same, but none of the bytes may have the present version already: the results of one op, or
 * the inputs of one call, must be apart. */
arenaut_status arn_replay_write_apart(arn_replay *r, uint32_t tensor);
/* A runtime's copy between a call's arguments and a method's: one after another. */
arenaut_status arn_replay_copy(arn_replay *r, uint32_t from, uint32_t to);
/* Rejects: `tensor` shares the cell with a result that the op at work has written over it. */
arenaut_status arn_replay_reject_arguments(arn_replay *r, uint32_t tensor, uint32_t cell);
/* Rejects by the end of a walk through the op's kernel (kernel_steps.h). */
arenaut_status arn_replay_reject_walk(arn_replay *r, const arn_walk *walk);

/* Limits of work, past which a program is refused: so much, some seconds, and so much more for each
 * op and argument, which is more than they need. Programs can only pass them by calls that multiply
 * and by loops within loops. Counted in nodes of the shadow looked at. */
#define ARN_REPLAY_WORK (UINT64_C(1) << 30)
#define ARN_REPLAY_WORK_EACH 4096u

/* UNSUPPORTED if there has been too much work already. */
arenaut_status arn_replay_charge(arn_replay *r);
/* UNSUPPORTED with the reason: `excess`, of the method at work, is past the limit. */
arenaut_status arn_replay_too_much(const arn_replay *r, const char *excess, uint64_t limit);

/* ---- control (replay_control.c, replay_kernel.c) ---- */

/* Runs the ops of a method; UNSUPPORTED when there has been too much work, or calls are nested
 * more than ARN_REPLAY_DEPTH deep. */
arenaut_status arn_replay_method(arn_replay *r, uint32_t method, uint32_t depth);
enum { ARN_REPLAY_DEPTH = 64 };
/* Runs an op that is no control flow. */
arenaut_status arn_replay_kernel(arn_replay *r, const arenaut_op *op);

/* Whether state that is mutated by bindings of the method is read by the name of its old value
 * while it holds that, and holds its new value in the end. */
arenaut_status arn_replay_check_mutations(arn_replay *r, uint32_t method);
/* Whether a concurrent method is right in every order of its ops, if it is in the one listed. */
arenaut_status arn_replay_check_races(arn_replay *r, uint32_t method);

#endif
