/* A plan: pool and offset for each buffer of a problem, the arena of each pool, and how
 * good that is proven to be. Plain data; the arrays are indexed like the problem's.
 *
 * Threads: calls about different plans may run at once, and a plan that is made may be read
 * by any number of threads. */
#ifndef ARENAUT_PLAN_H
#define ARENAUT_PLAN_H

#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>
#include <arenaut/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum arenaut_quality {
    ARENAUT_OPTIMAL,    /* no better plan exists: proven, of its spill and of its arenas */
    ARENAUT_FEASIBLE,   /* valid; the gap to the lower bound is open */
    ARENAUT_INFEASIBLE, /* no plan exists: see the witness. Offsets mean nothing. The
                         * status of making such a plan is ARENAUT_NO_PLAN */
} arenaut_quality;

typedef enum arenaut_stop {
    ARENAUT_STOP_PROOF, /* optimal, or infeasible; from a planner also: ARENAUT_STOP_END */
    ARENAUT_STOP_EFFORT,
    ARENAUT_STOP_TIME,      /* the progress callback said so */
    ARENAUT_STOP_INTERRUPT, /* likewise */
    ARENAUT_STOP_END,       /* nothing: the planner has no more to try, or keeps the capacity */
} arenaut_stop;

/* The JSON words: "optimal", "feasible", "infeasible"; "proof", "effort", … "end". Static. */
const char *arenaut_quality_name(arenaut_quality quality);
const char *arenaut_stop_name(arenaut_stop stop);

/* The witness of an infeasible problem: at `step` the listed buffers need `bytes_over` more than
 * there is. Two fixed buffers that overlap are listed with the number of bytes they share. With 0
 * bytes over the list is no proof by itself: these buffers are alive at the steps at which the last
 * division of buffers among their pools has failed. */
typedef struct arenaut_witness {
    int64_t step;
    uint32_t pool; /* ARENAUT_NONE: all pools together */
    uint32_t n_buffers;
    uint32_t *buffers; /* NULL when there is no witness */
    uint64_t bytes_over;
} arenaut_witness;

typedef struct arenaut_plan {
    uint32_t n_buffers, n_pools;
    uint32_t *pool;        /* per buffer; ARENAUT_NONE where no memory is needed */
    uint64_t *offset;      /* per buffer; bytes from the pool's start */
    uint64_t *arena;       /* per pool; highest used address, rounded up to the pool's alignment */
    uint64_t *lower_bound; /* per pool; no plan that uses these pools thus needs less */
    uint64_t total;        /* sum of arena */
    uint64_t total_bound;  /* no plan has a smaller total, of those that spill no more than this
                            * one: if no buffer has a choice of pools, no plan at all */
    uint64_t spill;        /* byte-uses in slower pools: see arenaut_pool in problem.h */
    uint64_t spill_bound;  /* no plan at all spills less */
    arenaut_quality quality;
    arenaut_stop stopped_by;
    uint64_t effort;     /* search steps spent */
    const char *planner; /* the row that found it: static, or the custom planner's name */
    arenaut_witness witness;
    struct arenaut_plan_store *store;
} arenaut_plan;

/* Makes a plan with nothing placed yet: pool ARENAUT_NONE, offset 0, FEASIBLE, stopped at the END.
 * For planners and readers; users call arenaut_plan_make (planner.h). */
arenaut_status arenaut_plan_new(uint32_t n_buffers, uint32_t n_pools,
                                const arenaut_allocator *allocator, arenaut_plan **out,
                                arenaut_error *err);
void arenaut_plan_free(arenaut_plan *plan); /* NULL is fine */

/* Recomputes arena, total and spill from pool and offset. TOO_LARGE if a sum overflows. O(n). */
arenaut_status arenaut_plan_measure(arenaut_plan *plan, const arenaut_problem *problem,
                                    arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
