/* The exact search: minimises the arena of one pool, or of all together, or proves that nothing
 * smaller exists, or that nothing fits.
 *
 * It is anytime: it starts from a plan if there is one, improves it whenever it can, and
 * stops at the bound, when its effort is spent, or when the caller says so. It is
 * deterministic: effort is counted in steps of work, there is no clock, and random choices
 * come from the seed. One step is 128 elementary operations, about a quarter of a
 * microsecond, whatever the size of the problem. More effort only goes on where less stopped,
 * so it never ends with a larger arena or a lower bound. */
#ifndef ARN_EXACT_H
#define ARN_EXACT_H

#include <arenaut/plan.h>
#include <arenaut/planner.h>
#include <arenaut/problem.h>

#include "planners/run/ask.h"

/* The constraints it handles in one pool, without and with relations; of all pools together it
 * handles ARENAUT_FEATURE_POOLS too. */
enum {
    ARN_EXACT_HANDLES = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS |
        ARENAUT_FEATURE_CAPACITY | ARENAUT_FEATURE_FIXED_OFFSETS | ARENAUT_FEATURE_CONFLICTS |
        ARENAUT_FEATURE_RESERVED | ARENAUT_FEATURE_HINTS,
    ARN_EXACT_RELATIONS = ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_INSIDE,
};

/* Called every few thousand steps and at every improvement of `best` or `bound`. */
typedef arenaut_verdict (*arn_exact_progress)(void *context, uint64_t best, uint64_t bound,
                                              uint64_t steps);

typedef struct arn_exact_input {
    const arenaut_problem *problem;
    uint32_t pool;           /* the pool to search */
    const uint32_t *pool_of; /* per buffer, as in a plan; NULL: all buffers are in the only pool
                              * or, if there are several, in whichever is best */
    uint64_t arena;          /* of the best plan known; ARENAUT_UNPLACED: none. Only smaller
                              * arenas are looked for. None where pools are to be chosen */
    uint64_t bound;          /* no smaller arena exists; 0 if nothing is known */
    uint64_t spill_bound;    /* likewise, where pools are chosen: no plan spills less */
    uint64_t enough;         /* stop at an arena this small; 0: minimise */
    uint64_t effort;         /* steps */
    uint64_t seed;
    arn_exact_progress progress; /* may be NULL */
    void *progress_context;
    arn_ask *ask; /* asked wherever no progress is reported; NULL: nobody is */
    const arenaut_allocator *allocator;
} arn_exact_input;

typedef struct arn_exact_output {
    /* Per buffer, the caller's array; buffers of this pool get their offsets whenever the
     * arena improves, others are left alone. */
    uint64_t *offset;
    uint32_t *pool_of; /* likewise, for a search of several pools; else not used */
    bool improved;
    uint64_t arena; /* rounded up to the pool's alignment; the input's if not improved */
    uint64_t bound; /* proven for the given assignment of buffers to pools;
                     * ARENAUT_UNPLACED if nothing fits. Of several pools both are sums */
    /* Where pools are chosen, what the plan spills, and what all do at the least: `bound` is of
     * plans that spill no more than that. 0 elsewhere. */
    uint64_t spill, spill_bound;
    arenaut_stop stopped_by;
    uint64_t steps, nodes;
} arn_exact_output;

/* Only `out->offset` and `out->pool_of` are read. REFUSED, with the reason, for a problem that is
 * too large for it: it keeps the list of all conflicts and of what is alive at each moment, and
 * will not take more than about 80 MB for them. */
arenaut_status arn_exact_run(const arn_exact_input *in, arn_exact_output *out, arenaut_error *err);

#endif
