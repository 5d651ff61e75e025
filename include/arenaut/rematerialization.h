/* Rematerialization under a budget: the fastest schedule of ops, any of which may be repeated,
 * whose peak of live bytes keeps a budget, and a proven lower bound of its time.
 *
 * A problem has ops, each with a cost, and storages. Each op runs at least once. A run makes a new
 * instance of each storage that its op makes, and reads the latest instances of those that it
 * reads. An instance is alive from the run that makes it up to the last one that reads it. While a
 * run goes on, all that it reads and makes is alive, and its scratch.
 *
 * A proof of a bound is a flow (Lagrangian relaxation of a minimum cut). Look at the first run of
 * an op q in any sequence. Ops that q needs have run, ops that need q run later. What these read
 * then is alive while q runs, which takes bytes, or is made again later, which takes time, if its
 * maker has run already; and so on with the reads of that maker. The same holds of results that are
 * live out: they are alive by then, or their makers run later. Of bytes there are no more than
 * the budget leaves beside q. With a price for each byte, and one for each nanosecond, the cheapest
 * way is a minimum cut, and any flow through that network is at most as much. So
 *
 *     time_price × added time + byte_price × (budget − bytes of q)  >=  the flow,
 *
 * for every schedule, with any number of repetitions. With a time_price of 0 the
 * right side shows which budgets nothing fits into. Flows are integers; to check one is to add up.
 *
 * As bytes of whole storages rarely add up to the budget, a proof may tell cases apart (branch and
 * bound): while q runs first, a storage is alive, or it is not. In the first case its bytes are of
 * those beside q, and nothing has to flow into it. In the second it is made again if it is needed,
 * so that any flow may pass through it to its maker. Each case is shown by a flow, or told apart
 * again, and the bound is the least of all.
 *
 * A proof may look at several moments: first runs of ops q1, q2, ... each of which precedes the
 * next in every sequence. Repetitions between two of them are others than those behind, so that the
 * flows of all moments add up. Between q1 and q2 only what is sure to run first there, and what is
 * alive while q2 runs, asks for storages. One that may be alive while q2 runs costs more there by
 * as much flow as begins at it between q1 and q2; that flow does not count. Bytes may be counted in
 * units: where storages of a size fill the budget but for a part of one, no more of them are alive
 * (Chvatal-Gomory rounding).
 *
 * Threads: calls may run at once, also about the same problem, which they only read. */
#ifndef ARENAUT_REMATERIALIZATION_H
#define ARENAUT_REMATERIALIZATION_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>
#include <arenaut/order.h>
#include <arenaut/planner.h>
#include <arenaut/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Plain data: arrays of the caller. Ops have the numbers in whose order they run at first. Uses and
 * dependences may stand in any order; a use that stands twice counts once. */
typedef struct arenaut_remat_problem {
    uint32_t n_ops, n_storages, n_reads, n_dependences, n_rights;
    const uint64_t *cost;    /* per op: of a run, in nanoseconds, or another unit */
    const uint64_t *scratch; /* per op: bytes that it needs while it runs; NULL: none */
    const uint32_t *until;   /* per op: it may be repeated until this one runs; itself: never;
                              * ARENAUT_NONE: always. NULL: all may always */
    const uint64_t *size;    /* per storage: bytes */
    const uint32_t
        *maker; /* per storage: the op that makes it; ARENAUT_NONE: none does. Then it has
                 * one instance, alive from the first to the last run that reads it */
    const uint8_t
        *held; /* per storage: arenaut_order_boundary. LIVE_IN: alive from the first run on,
                * and made by none; LIVE_OUT: its first instance is alive to the end */
    const arenaut_order_use *reads;
    const arenaut_order_dependence *dependences; /* `op` first runs after `first` first runs */
    const arenaut_order_right *rights; /* where a run reads the last of `over`, and `made` is read
                                        * later or not, so many bytes of both count once; of
                                        * several rights a run makes use of one */
    const uint64_t *shared; /* per op: bytes of its storages that plans may let count once while it
                             * runs, at most; bounds count them if they are more than a right.
                             * NULL: plans do so by rights alone */
    const bool *in_turn; /* per op: the search leaves its first run in the given order. Bounds hold
                          * without. NULL: no op needs it */
} arenaut_remat_problem;

/* Flow from an op to a storage that it reads. */
typedef struct arenaut_remat_flow {
    uint32_t op, storage;
    uint64_t flow;
} arenaut_remat_flow;

enum { ARENAUT_REMAT_MOST_LATER = 3 };

/* A line of a tree of cases, in preorder: of a storage, followed by the case in which it is alive
 * at a moment and by that in which it is not; or of a case that flows show, a line for each moment.
 */
typedef struct arenaut_remat_case {
    uint32_t storage; /* ARENAUT_NONE: a flow shows it */
    uint32_t moment; /* 0: the first run of the proof's op; 1 and so on: of the later ones. Those of
                      * the lines of a case are in this order */
    uint32_t n_flows; /* its part of the list of flows, behind those of the lines before */
    uint64_t byte_price;
    uint64_t time_price; /* the same for all lines of a case */
    uint64_t unit; /* bytes: of storages that may be alive, and of those that are left for them,
                    * only whole multiples count; 1: all */
} arenaut_remat_case;

/* Why no sequence is faster, or smaller. */
typedef struct arenaut_remat_proof {
    uint32_t op;         /* at whose first run one looks; ARENAUT_NONE: nothing is shown. Of a floor
                          * also n_ops: the last ops, of which some one runs first last */
    uint64_t byte_price; /* of a byte, and of a nanosecond */
    uint64_t time_price;
    uint64_t *flow; /* per read of the problem: from the op to the storage */
    uint32_t n_later, later[ARENAUT_REMAT_MOST_LATER]; /* ops at whose first runs one looks, too,
                                                        * each behind the one before; with cases */
    uint32_t n_cases; /* not 0: cases show it, with prices and flows of their own; bounds on time
                       * alone have any */
    arenaut_remat_case *cases;
    uint32_t n_flows;
    arenaut_remat_flow *flows; /* those that stand twice in a line add up */
} arenaut_remat_proof;

typedef struct arenaut_remat_options {
    uint64_t budget; /* bytes alive at once; 0: as few as possible, then as fast as possible. Past
                      * 2^61 - 1, which no sizes of all storages exceed, it counts as that */
    uint64_t effort; /* runs looked at; 0: the default. Bounds take a few times as many steps of the
                      * search for flows, and some in any case */
    arenaut_progress_fn progress; /* as in arenaut_plan_options: says when to stop; may be NULL */
    void *progress_context;
    uint64_t reserved[4]; /* zero; later versions of 1.x take their fields here */
} arenaut_remat_options;

typedef struct arenaut_rematerialization {
    uint64_t budget; /* that the bound is for: the options' or, where that was 0, the peak */
    bool fits;       /* the peak is no more than that */
    uint32_t n_runs;
    uint32_t *runs;  /* ops, in the order in which they run */
    uint64_t before; /* bytes alive at once where each op runs once */
    uint64_t peak;   /* the same of these runs */
    uint64_t base;   /* costs of all ops, each once */
    uint64_t added;  /* of runs beyond that */
    uint64_t bound;  /* no sequence within the budget adds less, as `proof` shows; 0 if the floor is
                      * above it, so that there is none */
    uint64_t floor;  /* no sequence has a lower peak, as `floor_proof` shows */
    arenaut_remat_proof proof, floor_proof;
    uint32_t n_at_floor;
    uint32_t *at_floor; /* storages that make up the floor: those that its op uses, and the smallest
                         * set that later ops can be made from */
    uint64_t effort;    /* spent */
    arenaut_allocator allocator;
} arenaut_rematerialization;

void arenaut_rematerialization_free(arenaut_rematerialization *r); /* NULL is fine */

/* Looks for the fastest sequence within the budget. *out is the caller's, to be freed with
 * arenaut_rematerialization_free. If none is found, `fits` is false, and the runs are those with
 * the lowest peak that was found; if the floor is above the budget, none exists. A larger budget
 * never costs more, unless the effort ends before: all that smaller ones of a fixed ladder, with
 * the floor as its lowest, would be answered with is looked at, but for what the bound rules out.
 * First runs keep their order, or results that are live out are made last. The same problem and
 * options give the same answer; if it is stopped, that is the best by then. BAD_ARGUMENT: a number
 * out of range, an op that reads before something is made, a storage held before that an op makes;
 * TOO_LARGE: sizes or costs that cannot be added. */
arenaut_status arenaut_remat_find(const arenaut_remat_problem *problem,
                                  const arenaut_remat_options *options,
                                  const arenaut_allocator *allocator,
                                  arenaut_rematerialization **out, arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
