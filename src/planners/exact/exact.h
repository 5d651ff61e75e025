/* Branch and bound for dynamic storage allocation: minimises the arena of one pool, or of all
 * together, or proves that nothing smaller exists, or that nothing fits. docs/exact.md explains it.
 *
 * It is anytime: it starts from a plan if there is one, improves it whenever it can, and stops at
 * the bound, when its budget is spent, or when the caller's callback says so. It is deterministic:
 * effort is counted, there is no clock, and random choices come from the seed. A larger budget
 * continues the search of a smaller one, so it never ends with a larger arena or a lower bound. */
#ifndef ARN_PLANNERS_EXACT_EXACT_H
#define ARN_PLANNERS_EXACT_EXACT_H

#include <arenaut/plan.h>
#include <arenaut/planner.h>
#include <arenaut/problem.h>

#include "planners/certificate_log.h"
#include "planners/run/poll.h"

/* The constraints it handles in one pool, without and with relations; of all pools together it
 * handles ARENAUT_FEATURE_POOLS too. */
enum {
    ARN_EXACT_HANDLES = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS |
        ARENAUT_FEATURE_CAPACITY | ARENAUT_FEATURE_FIXED_OFFSETS | ARENAUT_FEATURE_CONFLICTS |
        ARENAUT_FEATURE_RESERVED | ARENAUT_FEATURE_HINTS,
    ARN_EXACT_RELATIONS = ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_INSIDE,
};

/* The unit of effort, which is public: arenaut_plan_options.effort limits it and
 * arenaut_plan.effort reports it. The search counts the entries of lists that its inner loops
 * go through, and so many of them are 1: about a third of a microsecond, whatever the size of
 * the problem. Plans for a given effort, and tests and files that have such numbers in them,
 * depend on it. */
enum { ARN_EXACT_OPERATIONS_PER_EFFORT = 192 };

/* It refuses problems for which a list would have more entries than this, first of all the edges of
 * the interference graph: about 80 MB with all of the search's memory. */
enum { ARN_EXACT_MOST_PAIRS = 2000000 };

/* Techniques that a search may do without, to see how much each one earns
 * (bench/exact_ablation.py). None of them changes which arenas are possible. */
typedef enum arn_exact_technique {
    ARN_EXACT_NO_GOODS,   /* states that have failed are remembered */
    ARN_EXACT_PARTS,      /* decomposition at borders that no unplaced item crosses */
    ARN_EXACT_ALIKE,      /* symmetry breaking: of items that are exactly alike the first */
    ARN_EXACT_MARKS,      /* bounds by alignments */
    ARN_EXACT_LOTS,       /* the overfull clique that is blamed is drawn; without, the earliest */
    ARN_EXACT_WEIGHTS,    /* branching by how often packings have failed in a clique */
    ARN_EXACT_LOOK_AHEAD, /* children that waste little first */
    ARN_EXACT_STYLES,     /* styles that have led to a packing are used again */
    ARN_EXACT_LADDER,     /* capacities between the bound and the best plan */
    ARN_EXACT_PROOFS,     /* the growing proof beside the short runs */
    ARN_EXACT_RESTARTS,   /* short runs; without, one proof after the other without a limit */
    ARN_EXACT_TECHNIQUES
} arn_exact_technique;

/* Called whenever a few thousand of effort are spent, and at every improvement of `best` or
 * `bound`. */
typedef arenaut_verdict (*arn_exact_progress)(void *context, uint64_t best, uint64_t bound,
                                              uint64_t effort);

typedef struct arn_exact_input {
    const arenaut_problem *problem;
    uint32_t pool;           /* the pool to search */
    const uint32_t *pool_of; /* per buffer, as in a plan; NULL: all buffers are in the only pool
                              * or, if there are several, in whichever is best */
    uint64_t arena;       /* of the best plan known; ARENAUT_UNPLACED: none. Only smaller arenas are
                             looked for. None if pools are to be chosen */
    uint64_t bound;       /* no smaller arena exists; 0 if nothing is known */
    uint64_t spill_bound; /* likewise, if pools are chosen: no plan spills less */
    uint64_t enough;      /* stop at an arena this small; 0: minimise */
    uint64_t effort;      /* no more than this is spent, but for a first plan */
    uint64_t seed;
    uint32_t threads;  /* 0 or 1: the calling thread only; never changes the answer. `progress` and
                        * `poll` are called on that one */
    uint64_t together; /* the effort before runs learn nothing from each other, see case_search.c;
                        * 0: as much as pays */
    uint32_t without;  /* a bit, 1 << technique, for each that is left out */
    arn_exact_progress progress; /* may be NULL */
    void *progress_context;
    arn_poll *poll; /* polled while no progress is reported, see poll.h; filled in by the calls that
                       take one */
    const arenaut_allocator *allocator;
} arn_exact_input;

enum { ARN_EXACT_PATHS = 2 };

typedef struct arn_exact_output {
    /* Per buffer, the caller's array; buffers of this pool get their offsets whenever the
     * arena improves, others are left alone. */
    uint64_t *offset;
    uint32_t *pool_of; /* likewise, for a search of several pools; else not used */
    bool improved;
    uint64_t arena; /* rounded up to the pool's alignment; the input's if not improved */
    uint64_t bound; /* proven for the given assignment of buffers to pools;
                     * ARENAUT_UNPLACED if nothing fits. Of several pools both are sums */
    /* If pools are chosen, the plan's spill, and a lower bound of every plan's: `bound` is of plans
     * that spill no more than that. 0 otherwise. */
    uint64_t spill, spill_bound;
    /* Of a search of one case (packing_search.h): the heir of a pair to branch on, which ended the
     * search. Else ARENAUT_NONE. */
    uint32_t open_pair;
    arenaut_stop stopped_by;
    uint64_t effort, nodes; /* spent, and of all trees */
    /* The effort on the longest path through the search if it had 2 threads, or 16, of its own: how
     * long it would take. What is made in vain beside that does not count. 0 where there are
     * several cases, which are searched one after the other. */
    uint64_t path[ARN_EXACT_PATHS];
} arn_exact_output;

/* Runs the search over in->pool, or over all pools if in->pool_of is NULL and there are several. Of
 * *out only `offset` and `pool_of` are read, the rest is written. OK, whether or not a plan was
 * found; REFUSED, with the reason, for a problem that is too large: the search keeps the
 * interference graph and the members of each clique, and will not take more than about 80 MB for
 * them; NO_MEMORY. `poll` stops it, and is polled while no progress is reported. */
arenaut_status arn_exact_run(const arn_exact_input *in, arn_poll *poll, arn_exact_output *out,
                             arenaut_error *err);

/* The input for all of a planning's problem, with its options and bounds, no plan to start from,
 * and neither progress nor `poll`. */
arn_exact_input arn_exact_input_of(const arenaut_planning *planning);

/* The last progress that was reported to a planning's caller, to be repeated while there is none.
 */
typedef struct arn_exact_notice {
    const arenaut_plan_options *options;
    arenaut_progress progress;
} arn_exact_notice;

/* The callback of an arn_poll; `context` is an arn_exact_notice. */
arenaut_verdict arn_exact_notify(void *context);

/* Adds to the log a proof that no plan has a total below `bound`, or that there is no plan at all
 * if that is ARENAUT_UNPLACED. Of `in` it reads the problem, the effort, the seed and the
 * allocator. The search is the one that finds plans, but steered at infeasible capacities, and
 * logged. STOPPED: the budget was spent, or `poll` ended; REFUSED: too large, or the bound is too
 * high; NO_MEMORY. Other than OK, the log has lines that prove nothing. */
arenaut_status arn_exact_prove(const arn_exact_input *in, arn_poll *poll, uint64_t bound,
                               arn_certificate_log *log, arenaut_error *err);

/* Rearranges a plan that is proven to be the smallest so that more buffers lie where their hints
 * say, in equally large arenas, with a part of the options' effort on top. Plans of other quality,
 * and problems without hints, stay as they are. */
arenaut_status arn_exact_keep_earlier(arenaut_planning *planning);

#endif
