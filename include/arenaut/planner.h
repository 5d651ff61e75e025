/* Planners: anything that turns a problem into a plan.
 *
 *     arenaut_plan *plan = NULL;
 *     arenaut_status st = arenaut_plan_make(problem, NULL, NULL, &plan, &err);
 *
 * The table of planners is fixed when the library is built (src/planners/planners.def);
 * a planner of your own is passed as a pointer in the options.
 *
 * Threads: any number of arenaut_plan_make may run at once, also on the same problem, which
 * they only read; an allocator that is given to several of them must allow that. */
#ifndef ARENAUT_PLANNER_H
#define ARENAUT_PLANNER_H

#include <stddef.h>
#include <stdint.h>

#include <arenaut/plan.h>
#include <arenaut/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Constraints a problem may use; a planner lists those that it handles, and a problem with another
 * one is refused with an error that names it. A same-base relation is a right and a hint a request:
 * a planner may list them and leave them unused, as do the replicas of runtimes that know no such
 * thing (same-base: tflm-greedy, tvm-tokens, torch-caching). That costs memory, but says nothing
 * wrong: bounds count every right, and only a plan that reaches one is optimal. */
#define ARENAUT_FEATURE_MAP(XX)                    \
    XX(0, ALIGNMENT, "alignment")                  \
    XX(1, GAPS, "several lifetimes of one buffer") \
    XX(2, POOLS, "several pools")                  \
    XX(3, CAPACITY, "pool capacity")               \
    XX(4, FIXED_OFFSETS, "fixed offsets")          \
    XX(5, SAME_BASE, "same-base relations")        \
    XX(6, INSIDE, "inside relations")              \
    XX(7, CONFLICTS, "extra conflict edges")       \
    XX(8, RESERVED, "reserved ranges")             \
    XX(9, HINTS, "hints")                          \
    XX(10, TOKENS, "memory in whole tokens")       \
    XX(11, SEPARATIONS, "separations")

enum {
#define XX(bit, name, text) ARENAUT_FEATURE_##name = 1u << (bit),
    ARENAUT_FEATURE_MAP(XX)
#undef XX
    /* All but tokens, which a planner that places at any offset does not handle, and
     * separations, which many do not. */
    ARENAUT_FEATURE_ALL = 0x3ff
};

typedef enum arenaut_verdict {
    ARENAUT_GO_ON,
    ARENAUT_OUT_OF_TIME, /* stop; the plan will say ARENAUT_STOP_TIME */
    ARENAUT_INTERRUPTED, /* stop; the plan will say ARENAUT_STOP_INTERRUPT */
} arenaut_verdict;

typedef struct arenaut_progress {
    const char *planner;  /* the one at work now */
    uint64_t best;        /* total of the best plan so far; ARENAUT_UNPLACED: none yet */
    uint64_t bound;       /* total lower bound so far */
    uint64_t effort;      /* search steps spent */
    uint64_t spill;       /* of the best plan; ARENAUT_UNPLACED: none yet. Where it shrinks, `best`
                           * may grow */
    uint64_t spill_bound; /* likewise */
    uint32_t share; /* of the whole time, in thousandths: after that the present search has spent
                     * its part, a search for a rewrite as well; 0: it may take all of it */
} arenaut_progress;

/* Called every few thousand search steps, at every improvement, and at least every few milliseconds
 * in all that may take longer, from the thread that called arenaut_plan_make. Its verdict is obeyed
 * at once: `auto` then returns the best plan so far, or one without reuse if there is time for no
 * other; other planners that have none yet return STOPPED. */
typedef arenaut_verdict (*arenaut_progress_fn)(void *context, const arenaut_progress *progress);

/* An option of one planner, e.g. {"order", "size"}; each planner documents its own. */
typedef struct arenaut_setting {
    const char *name, *value;
} arenaut_setting;

/* As an effort: none. */
#define ARENAUT_NO_EFFORT_LIMIT UINT64_MAX

typedef struct arenaut_plan_options {
    const char *planner;                  /* a name from the table; NULL: "auto" */
    const struct arenaut_planner *custom; /* used instead of `planner` if not NULL */
    uint64_t effort;                      /* search steps; 0: arenaut_default_effort(), and
                                           * ARENAUT_NO_EFFORT_LIMIT: until there is a proof, or `progress` says
                                           * stop */
    uint64_t seed;                        /* of random choices; 0 is a seed like any other */
    uint64_t capacity;                    /* bytes; fit pool 0 into this and stop; 0: minimise */
    uint32_t threads; /* 0 or 1: the calling thread only; never changes the answer. More:
                       * the allocator is called from several threads, one at a time */
    arenaut_progress_fn progress; /* may be NULL */
    void *progress_context;
    const arenaut_setting *settings;
    size_t n_settings;
    uint64_t reserved[4]; /* zero; later versions of 1.x take their fields here */
} arenaut_plan_options;

/* The input and output of a planner. It fills plan->pool and plan->offset, and may raise
 * plan->spill_bound, total_bound (see plan.h) and lower_bound, set quality, stopped_by, effort and
 * witness. The caller of `run` measures arenas and spill, and settles quality from the bounds; if
 * the planner has proven that there is no plan, it sets quality INFEASIBLE and returns OK. */
typedef struct arenaut_planning {
    const arenaut_problem *problem;      /* valid, and uses no feature outside `handles` */
    const arenaut_plan_options *options; /* never NULL; effort is resolved */
    const arenaut_allocator *allocator;  /* for scratch memory; may be NULL */
    arenaut_plan *plan;
    arenaut_error *err;
} arenaut_planning;

typedef struct arenaut_planner {
    const char *name;     /* as in --planner */
    const char *summary;  /* one line for lists and help */
    const char *settings; /* "order=size|area|…", one line for help; NULL: none */
    uint32_t handles;     /* bit set of ARENAUT_FEATURE_… */
    arenaut_status (*run)(const struct arenaut_planner *self, arenaut_planning *planning);
    const void *data; /* the planner's own constants */
    uint32_t refuses; /* ARENAUT_PROBLEM_… traits that it will not plan for, though it could */
    /* The condition and settings with which `auto` tries a row of the table
     * (src/planners/run/planner_rows.h); NULL: never. Ignored in a caller's own planner. */
    const struct arn_attempt *attempt;
} arenaut_planner;

/* The table, in the order of planners.def. */
size_t arenaut_planner_count(void);
const arenaut_planner *arenaut_planner_at(size_t index);       /* NULL past the end */
const arenaut_planner *arenaut_planner_find(const char *name); /* NULL if unknown */

/* Search steps spent by default: about two CPU-seconds on hard instances. */
uint64_t arenaut_default_effort(void);

/* Plans. `options` may be NULL. On OK *out is a plan that can be used, OPTIMAL or FEASIBLE.
 * NO_PLAN: it is proven that none exists; *err names the step, the buffers and the bytes over,
 * and *out is a plan of quality INFEASIBLE that holds the same as a witness. The caller frees
 * *out in both cases; all other errors leave it as it was: BAD_INPUT, TOO_LARGE or BAD_ARGUMENT
 * from arenaut_problem_validate, BAD_ARGUMENT for an unknown planner or setting, REFUSED for a
 * feature the planner lacks, NOT_FOUND where it found no plan that fits without proof that there is
 * none, NO_MEMORY, STOPPED if stopped, or out of effort, before there was any plan. The same
 * problem and options give the same plan on every machine. The plan is not checked here: see
 * check.h. */
arenaut_status arenaut_plan_make(const arenaut_problem *problem,
                                 const arenaut_plan_options *options,
                                 const arenaut_allocator *allocator, arenaut_plan **out,
                                 arenaut_error *err);

/* A lower bound for every plan: the largest load of any step, with same-base pairs counted
 * once where they may share, separated ones at the least that they cover together, and slices not
 * counted beside their hosts, raised where
 * alignment, fixed offsets, reserved ranges or edges demand more. `step` gets the first step
 * that attains the load (may be NULL). O(n log n). */
arenaut_status arenaut_lower_bound(const arenaut_problem *problem,
                                   const arenaut_allocator *allocator, uint64_t *bytes,
                                   int64_t *step, arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
