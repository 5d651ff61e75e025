/* Order: the sequence of ops for which least memory is alive at once, and how good that is proven
 * to be.
 *
 * An order problem has ops and buffers. A buffer is alive from the first op that uses it up to the
 * last one, both included. The *load* of an op is what is alive while it runs; the *peak* of an
 * order is the largest load.
 *
 * A proof shows that no order has a peak below some bound. It is either one line
 *
 *   CUT op          whatever runs before `op`, so much is alive while it runs
 *
 * or it shows that no order stays below the bound. Then it follows what has run, from the front and
 * from the back. Let `done` be the ops that have run (from the back: that are still to run, looking
 * at time backwards, with the first uses of a buffer as its last ones):
 *
 *   AHEAD n, RUN …  if any order stays below the bound, then one that begins with these n ops does:
 *                   each of them stays below, after them no more is alive than before them, and no
 *                   part of them that may run by itself leaves less alive
 *   BACK n, RUN …   the same from the back
 *   SEARCH side     from here on all that can be done is followed, from the front (0) or the back:
 *
 * and behind SEARCH comes the proof of a state, which is one of
 *
 *   SAFE op, proof         `op` stays below, and leaves no more alive than there was: it runs at
 * once AHEAD n, RUN …, proof  as above, on that side EACH, …, END           follows whatever may
 * run now without reaching the bound, in the order of ops: for each of them RUN op, proof SAME k
 * the same ops have run as in the state of the k-th EACH or AHEAD behind SEARCH (from 0)
 *
 * What runs for good takes no right from ops that are still to run.
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

/* What outlasts the ops; bits. */
typedef enum arenaut_order_held {
    ARENAUT_HELD_BEFORE = 1, /* alive when the first op runs, until its last use */
    ARENAUT_HELD_AFTER = 2,  /* alive until the last op has run */
} arenaut_order_held;

typedef struct arenaut_order_use {
    uint32_t op, buffer;
} arenaut_order_use;

typedef struct arenaut_order_wait {
    uint32_t op, first; /* `op` runs after `first` */
} arenaut_order_wait;

/* Where `op` is the first to use `made` and the last to use `over`, it writes `made` over `over`:
 * so many bytes count once, at most all of `made`. Of several, an op makes use of one. */
typedef struct arenaut_order_right {
    uint32_t op, made, over;
    uint64_t bytes;
} arenaut_order_right;

/* Plain data: arrays of the caller. Uses and waits may stand in any order, and more than once. */
typedef struct arenaut_order_problem {
    uint32_t n_ops, n_buffers, n_uses, n_waits, n_rights;
    const uint64_t *size; /* per buffer */
    const uint8_t *held;  /* per buffer: arenaut_order_held; NULL: none is */
    const arenaut_order_use *uses;
    const arenaut_order_wait *waits;
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

const char *arenaut_order_rule_name(arenaut_order_rule rule); /* NULL out of range; static */

typedef struct arenaut_order_line {
    uint32_t rule; /* arenaut_order_rule */
    uint32_t item; /* an op, how many ops, a side, or a state; 0 where it means nothing */
} arenaut_order_line;

/* Simple ways to make an order, as others have them; the text is the word in reports. */
#define ARENAUT_ORDER_WAY_MAP(XX)                                                          \
    XX(GIVEN, "given")                                                                     \
    XX(GREEDY, "greedy")     /* the op that frees most */                                  \
    XX(LPMF, "lpmf")         /* inductor: least peak first, then what frees most */        \
    XX(BFS, "bfs")           /* inductor: the op whose operands have been there longest */ \
    XX(DFS, "dfs")           /* inductor: operands first, those that move least before */  \
    XX(DFS_OUT, "dfs_out")   /* ONNX Runtime: operands first, from the results */          \
    XX(LIFO, "lifo")         /* the op that became ready last */                           \
    XX(BACKWARD, "backward") /* as greedy, from the last op to the first */                \
    XX(TREES, "trees")       /* the best one where each result is read once */

typedef enum arenaut_order_way {
#define XX(name, text) ARENAUT_ORDER_WAY_##name,
    ARENAUT_ORDER_WAY_MAP(XX)
#undef XX
        ARENAUT_ORDER_WAY_COUNT
} arenaut_order_way;

const char *arenaut_order_way_name(arenaut_order_way way); /* NULL out of range; static */

typedef struct arenaut_order_options {
    uint64_t effort;              /* ops tried; 0: the default */
    arenaut_progress_fn progress; /* as in arenaut_plan_options: says when to stop; may be NULL */
    void *progress_context;
} arenaut_order_options;

uint64_t arenaut_order_default_effort(void);

typedef struct arenaut_order {
    uint32_t n_ops;
    uint32_t *ops;                          /* in the order in which they run */
    uint64_t peak;                          /* of that order */
    uint64_t ways[ARENAUT_ORDER_WAY_COUNT]; /* peaks of the simple ones */
    uint64_t bound; /* no order has a smaller peak, as the proof shows; 0: nothing is shown */
    uint32_t n_lines;
    arenaut_order_line *lines;
    uint64_t effort; /* spent */
    uint32_t n_near; /* other orders that were found, with peaks close to the best: one of them may
                      * be laid out in less */
    uint32_t *near;  /* n_ops each, one order behind another, the lowest peak first */
    uint64_t *near_peak;
    arenaut_allocator allocator;
} arenaut_order;

void arenaut_order_free(arenaut_order *order); /* NULL is fine */

/* Looks for the best order. The same problem and options give the same order and proof. Ops run in
 * the order of their numbers today; where no order is better, they stay in it. BAD_ARGUMENT: an
 * index out of range, or today's order breaks a wait; TOO_LARGE: sizes that cannot be added;
 * STOPPED before there was an order to compare others with, else the best by then. */
arenaut_status arenaut_order_find(const arenaut_order_problem *problem,
                                  const arenaut_order_options *options,
                                  const arenaut_allocator *allocator, arenaut_order **out,
                                  arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
