/* A lower bound of every plan's spill (see arenaut_pool in problem.h), whatever the offsets: pools
 * are chosen such that at each step the live bytes in a pool are within its capacity.
 *
 * Dynamic programming over time keeps all divisions of the live buffers among the pools, each with
 * its least cost so far. If there are too many, the smallest of the buffers is left out: it takes
 * no room from then on, so that the answer stays a lower bound. Then bytes are divided, too, as if
 * buffers could be cut: of the two bounds the better one counts. */
#ifndef ARN_PLANNERS_BOUNDS_SPILL_H
#define ARN_PLANNERS_BOUNDS_SPILL_H

#include "planners/bounds/spill_groups.h"
#include "planners/run/poll.h"

typedef struct arn_spill_question {
    const uint32_t *pool_of; /* per buffer; ARENAUT_NONE: open. NULL: all are open */
    uint64_t most;           /* plans that spill more do not matter; ARENAUT_UNPLACED: no limit */
    uint32_t sixteenths;     /* of the capacities that may be used: 16 for a bound */
    uint32_t states;         /* states that are kept at a time, about */
    uint32_t *choice; /* per buffer: its pool in one of the best states, ARENAUT_NONE if that was
                         left out; may be NULL */
    arn_poll *poll;   /* may be NULL */
} arn_spill_question;

typedef struct arn_spill_answer {
    uint64_t least;   /* ARENAUT_UNPLACED: there is no plan that spills `most` or less */
    int64_t dead_end; /* then, the step at which the last state was dropped */
    uint64_t effort;  /* that this took */
    bool ended;       /* `poll` said stop: nothing is known, `least` is 0 */
} arn_spill_answer;

enum { ARN_SPILL_STATES = 4096, ARN_SPILL_FEW_STATES = 256 };

/* NO_MEMORY or OK. O(steps × states). */
arenaut_status arn_spill_least(arn_spill *spill, const arn_spill_question *question,
                               arn_spill_answer *answer, arenaut_error *err);

/* The same for a whole problem, once. */
arenaut_status arn_spill_bound(const arenaut_problem *problem, arn_poll *poll,
                               const arenaut_allocator *allocator, arn_spill_answer *answer,
                               arenaut_error *err);

#endif
