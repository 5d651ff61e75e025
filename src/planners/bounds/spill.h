/* A lower bound of every plan's spill (see arenaut_pool in problem.h), whatever the offsets: pools
 * are chosen such that at each step the live bytes in a pool are within its capacity.
 *
 * Dynamic programming over time keeps all divisions of the live buffers among the pools, each with
 * its least cost so far. If there are too many, the smallest of the buffers is left out: it takes
 * no room from then on, so that the answer stays a lower bound. Then bytes are divided, too, as if
 * buffers could be cut: of the two bounds the better one counts. */
#ifndef ARN_PLANNERS_BOUNDS_SPILL_H
#define ARN_PLANNERS_BOUNDS_SPILL_H

#include <arenaut/error.h>
#include <arenaut/problem.h>

#include "core/memory.h"
#include "planners/bounds/hosts.h"
#include "planners/bounds/load.h"
#include "planners/run/poll.h"

/* Buffers that lie in one another share a pool: a group, which goes by its root. */
typedef struct arn_spill_group {
    uint64_t traffic;     /* size × uses of all members */
    uint64_t bytes;       /* their sizes */
    uint32_t first, last; /* its first and last events, as places in the order of time */
    uint32_t start;       /* the first event of its first step */
    uint64_t own_pools;   /* the pools that it fits into */
    /* In the sweep under way: */
    uint64_t pools;
    uint64_t alive; /* bytes, now */
    uint8_t slot;   /* the place of its pool in states; ARN_SPILL_NO_SLOT: see `pool` */
    uint32_t pool;  /* if there is no choice; ARENAUT_NONE: left out */
} arn_spill_group;

enum { ARN_SPILL_NO_SLOT = 0xFF };

typedef struct arn_spill {
    const arenaut_problem *problem;
    const arenaut_allocator *allocator;
    arn_region region;
    arn_load load;
    arn_hosts hosts;
    arn_spill_group *group; /* per buffer; means something for roots */
    uint32_t *roots, n_roots;
    uint64_t *peak; /* maxima over events: a tree, for narrowing */
    uint32_t n_leaves;
} arn_spill;

/* `problem` must outlive it. O(n log n). */
arenaut_status arn_spill_new(const arenaut_problem *problem, const arenaut_allocator *allocator,
                             arn_spill **out, arenaut_error *err);
void arn_spill_free(arn_spill *spill); /* NULL is fine */

static inline uint32_t arn_spill_root(const arn_spill *s, uint32_t b) {
    return s->hosts.root ? s->hosts.root[b] : b;
}

static inline const arn_load_event *arn_spill_event(const arn_spill *s, uint32_t place) {
    return &s->load.event[s->load.by_step[place]];
}

/* The bytes of each pool that are not reserved, of so many sixteenths of its capacity;
 * ARENAUT_UNLIMITED. */
void arn_spill_room(const arenaut_problem *problem, uint32_t sixteenths,
                    uint64_t room[ARENAUT_MAX_POOLS]);

/* Sets each group's `pools`: of the pools that it fits into and that `pool_of` gives (per buffer;
 * ARENAUT_NONE: open; may be NULL), all but the ones dominated by a faster pool into which it fits
 * whatever else may lie there. False if some group has no pool at all. Adds the operations that it
 * took to *work; O(pools × n). */
bool arn_spill_narrow(arn_spill *s, const uint32_t *pool_of, const uint64_t *room, uint64_t *work);

/* Adds the least spill beyond the fastest of each group's pools, as if buffers could be cut, to
 * *least, and the operations to *work. False if there is no memory. */
bool arn_spill_fraction(const arn_spill *s, const uint64_t *room, arn_region *region,
                        uint64_t *least, uint64_t *work);

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
