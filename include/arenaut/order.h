/* Schedules of ops with the least peak of live bytes, and proofs of lower bounds of the peak.
 *
 * A scheduling problem has ops, dependences between them, and buffers. A schedule (in flags and
 * JSON: an order) is a sequence of all ops that keeps the dependences. A buffer is live from the
 * first op that uses it to the last one, both included. The *load* of an op is the live bytes while
 * it runs; the *peak* of a schedule is the greatest load.
 *
 * A proof shows that no schedule has a peak below a bound. It is either one line
 *
 *   CUT op          a minimum cut: the least load of `op`, whichever ops run before it
 *
 * or the trace of an exhausted branch and bound for a schedule below the bound, bidirectional: some
 * ops are committed from the front, others from the back, where time runs backwards, dependences
 * are reversed, and first uses of buffers are last ones:
 *
 *   AHEAD n, RUN …  dominance: if a schedule is below the bound, so is one that begins with these n
 *                   ops. Their loads are below the bound, they leave no more live bytes than
 *                   before, and no part of them that is closed under dependences leaves fewer
 *   BACK n, RUN …   the same from the back
 *   SEARCH side     an exhaustive search from here on, from the front (0) or the back (1):
 *
 * followed by the proof of a state, which is one of
 *
 *   SAFE op, proof          `op` is below the bound, and leaves no more live bytes: it runs first
 *
 *   AHEAD n, RUN …, proof   as above, in that direction
 *
 *   EACH, …, END            all branches: for each op with a load below the bound, in ascending
 *                           sequence, RUN op, proof
 *
 *   SAME k                  a state with the same executed ops is proven at the k-th EACH or AHEAD
 *                           after SEARCH (from 0)
 *
 * Committed ops invalidate no right of an op that has not run.
 *
 * Threads: calls may run at once, also about the same problem, which they only read. */
#ifndef ARENAUT_ORDER_H
#define ARENAUT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>
#include <arenaut/planner.h>
#include <arenaut/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Liveness of a buffer at the ends of all schedules; bits. */
typedef enum arenaut_order_boundary {
    ARENAUT_LIVE_IN = 1,  /* live before the first op, until its last use */
    ARENAUT_LIVE_OUT = 2, /* live until the last op has run */
} arenaut_order_boundary;

typedef struct arenaut_order_use {
    uint32_t op, buffer;
} arenaut_order_use;

typedef struct arenaut_order_dependence {
    uint32_t op, first; /* a dependence: `op` runs after `first` */
} arenaut_order_dependence;

/* A right to write in place: if `op` is the first user of `made` and the last one of `over`, this
 * many bytes, at most all of `made`, count once. An op uses one of its rights at a time. */
typedef struct arenaut_order_right {
    uint32_t op, made, over;
    uint64_t bytes;
} arenaut_order_right;

/* Plain data in arrays of the caller. Uses and dependences may be in any sequence, and repeated. */
typedef struct arenaut_order_problem {
    uint32_t n_ops, n_buffers, n_uses, n_dependences, n_rights;
    const uint64_t *size;    /* per buffer */
    const uint8_t *boundary; /* per buffer: arenaut_order_boundary; NULL: all 0 */
    const arenaut_order_use *uses;
    const arenaut_order_dependence *dependences;
    const arenaut_order_right *rights;
} arenaut_order_problem;

#define ARENAUT_ORDER_RULE_MAP(XX) \
    XX(CUT, "cut")                 \
    XX(AHEAD, "ahead")             \
    XX(BACK, "back")               \
    XX(SEARCH, "search")           \
    XX(SAFE, "safe")               \
    XX(EACH, "each")               \
    XX(RUN, "run")                 \
    XX(SAME, "same")               \
    XX(END, "end")

typedef enum arenaut_order_rule {
#define XX(name, text) ARENAUT_ORDER_##name,
    ARENAUT_ORDER_RULE_MAP(XX)
#undef XX
        ARENAUT_ORDER_RULE_COUNT
} arenaut_order_rule;

typedef struct arenaut_order_line {
    uint32_t rule; /* arenaut_order_rule */
    uint32_t item; /* an op, a number of ops, a direction, or a state; 0 if unused */
} arenaut_order_line;

/* Heuristics; the text is the word in reports. */
#define ARENAUT_ORDER_HEURISTIC_MAP(XX)                                                         \
    XX(GIVEN, "given")                                                                          \
    XX(GREEDY, "greedy")     /* list scheduling: the ready op that frees most */                \
    XX(LPMF, "lpmf")         /* inductor, list scheduling: least peak first, then as greedy */  \
    XX(BFS, "bfs")           /* inductor, list scheduling: the op with the earliest operands */ \
    XX(DFS, "dfs")           /* inductor, depth first: operands of least traffic first */       \
    XX(DFS_OUT, "dfs_out")   /* ONNX Runtime, depth first from the results */                   \
    XX(LIFO, "lifo")         /* list scheduling: the op that became ready last */               \
    XX(BACKWARD, "backward") /* greedy on the reversed graph */                                 \
    XX(TREES, "trees")       /* optimal if each result is read once (Liu 1987) */

typedef enum arenaut_order_heuristic {
#define XX(name, text) ARENAUT_ORDER_HEURISTIC_##name,
    ARENAUT_ORDER_HEURISTIC_MAP(XX)
#undef XX
        ARENAUT_ORDER_HEURISTIC_COUNT
} arenaut_order_heuristic;

const char *arenaut_order_heuristic_name(
    arenaut_order_heuristic heuristic); /* NULL out of range; static */

typedef struct arenaut_order_options {
    uint64_t effort;              /* branch and bound steps; 0: the default */
    arenaut_progress_fn progress; /* as in arenaut_plan_options: may stop the search; may be NULL */
    void *progress_context;
    uint64_t reserved[4]; /* zero; later versions of 1.x take their fields here */
} arenaut_order_options;

typedef struct arenaut_order {
    uint32_t n_ops;
    uint32_t *ops;                                      /* the best schedule */
    uint64_t peak;                                      /* of that schedule */
    uint64_t heuristics[ARENAUT_ORDER_HEURISTIC_COUNT]; /* peaks of the heuristics */
    uint64_t bound; /* a lower bound of the peak of any schedule, by the proof; 0: none */
    uint32_t n_lines;
    arenaut_order_line *lines;
    uint64_t effort; /* spent */
    uint32_t n_near; /* near-optimal schedules, and beside an annealed one the best that was found
                      * without: one of them may pack into a smaller arena */
    uint32_t *near;  /* n_ops each, one after another, the least peak first */
    uint64_t *near_peak;
    arenaut_allocator allocator;
} arenaut_order;

void arenaut_order_free(arenaut_order *order); /* NULL is fine */

/* Minimizes the peak. The same problem and options give the same schedule and proof. The given
 * schedule is the order of op numbers; it is kept if no other is better. BAD_ARGUMENT: an index out
 * of range, or the given schedule violates a dependence; TOO_LARGE: sizes that cannot be added;
 * STOPPED before all heuristics have completed, else the best schedule by then. Exponential at
 * worst, limited by the effort. */
arenaut_status arenaut_order_find(const arenaut_order_problem *problem,
                                  const arenaut_order_options *options,
                                  const arenaut_allocator *allocator, arenaut_order **out,
                                  arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
