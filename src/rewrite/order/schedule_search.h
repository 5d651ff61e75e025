/* Minimization of the peak of a schedule: problem graph, partial schedules, min cuts, heuristics,
 * bidirectional branch and bound, and its proofs. */
#ifndef ARN_REWRITE_ORDER_SCHEDULE_SEARCH_H
#define ARN_REWRITE_ORDER_SCHEDULE_SEARCH_H

#include <stdbool.h>

#include <arenaut/order.h>

#include "core/budget.h"
#include "core/memory.h"
#include "rewrite/max_flow.h"

/* ---- the problem as a graph (schedule_state.c) ---- */

/* Adjacency lists in one array: those of i are ids[begin[i]] up to ids[begin[i + 1]]. */
typedef struct arn_adjacency {
    uint32_t *begin, *ids;
} arn_adjacency;

/* A scheduling problem that can be walked in either direction. Backward, dependences are reversed,
 * live-in is live-out, and the two buffers of a right are exchanged. */
typedef struct arn_schedule_graph {
    const arenaut_order_problem *problem;
    bool backward;
    uint32_t n_ops, n_buffers;
    const uint64_t *size;                   /* per buffer */
    uint8_t *boundary;                      /* per buffer */
    arn_adjacency uses, users;              /* op to buffers, buffer to ops; no duplicates */
    arn_adjacency predecessors, successors; /* of an op, by dependences */
    arn_adjacency rights;                   /* of an op: indices into `right` */
    arn_adjacency made_by; /* of a buffer: ops that may write it over another one */
    arenaut_order_right *right;
    arenaut_allocator allocator;
    arn_region region; /* of all lists */
} arn_schedule_graph;

/* On failure there is nothing to free. */
arenaut_status arn_schedule_graph_make(const arenaut_order_problem *problem, bool backward,
                                       const arenaut_allocator *allocator,
                                       arn_schedule_graph *graph, arenaut_error *err);
void arn_schedule_graph_free(arn_schedule_graph *graph);

/* Checks that indices are in range, sizes can be added, and the given order of ops is topological.
 */
arenaut_status arn_schedule_validate(const arenaut_order_problem *problem, arenaut_error *err);

/* ---- partial schedules (schedule_state.c) ---- */

/* A partial schedule: executed ops, ready ops, live bytes. Steps are undone exactly, so that the
 * same steps from the same state always give the same state, sequence of lists included. */
typedef struct arn_schedule_state {
    const arn_schedule_graph *graph;
    arn_budget *budget;
    uint64_t live;
    uint32_t n_ran, n_ready;
    uint32_t *ran;            /* executed ops, in sequence */
    uint32_t *ready;          /* ops without pending predecessors */
    uint32_t *place;          /* per op: its index in `ready`; NONE: not there */
    uint32_t *spot;           /* per executed op: its index there before */
    uint32_t n_light, *light; /* ready ops that do not increase the live bytes, in an arbitrary
                               * sequence */
    uint32_t *light_place;    /* per op: its index there; NONE: not there */
    uint32_t *pending;        /* per op: predecessors that have not run */
    uint32_t *left;           /* per buffer: users that have not run */
    uint32_t *left_xor;       /* their numbers, combined by exclusive or */
    uint64_t *allocates;      /* per op: bytes whose first use it would be */
    uint64_t *frees;          /* per op: bytes whose last use it would be */
    uint64_t spent;           /* effort: steps done and undone */
    arn_region region;        /* of all lists */
} arn_schedule_state;

/* The empty schedule. On failure there is nothing to free. */
arenaut_status arn_schedule_state_make(const arn_schedule_graph *graph, arn_budget *budget,
                                       arn_schedule_state *state, arenaut_error *err);
void arn_schedule_state_free(arn_schedule_state *state);

/* `op` must be ready. */
void arn_schedule_run(arn_schedule_state *state, uint32_t op);
/* Undoes steps until only `n_ran` ops have run. */
void arn_schedule_undo(arn_schedule_state *state, uint32_t n_ran);

/* The bytes that a ready op may write over an operand instead of allocating. */
uint64_t arn_schedule_reuse(const arn_schedule_state *state, uint32_t op);

/* The live bytes while a ready op runs. */
static inline uint64_t arn_schedule_load(const arn_schedule_state *state, uint32_t op) {
    const uint32_t *rights = state->graph->rights.begin + op;
    const uint64_t load = state->live + state->allocates[op];
    return rights[0] == rights[1] ? load : load - arn_schedule_reuse(state, op);
}

static inline bool arn_schedule_is_unused(const arn_schedule_state *state, uint32_t buffer) {
    const uint32_t *users = state->graph->users.begin + buffer;
    return state->left[buffer] == users[1] - users[0];
}

/* Dominance of a single op: running a ready op at once cannot exclude a schedule below the limit,
 * if it increases the live bytes by nothing and invalidates no right of another op. */
bool arn_schedule_is_safe(const arn_schedule_state *state, uint32_t op, uint64_t limit);

/* ---- cost of a schedule (heuristics.c) ---- */

/* The peak, the number of ops at the peak, and the position of the first of them. */
typedef struct arn_schedule_cost {
    uint64_t peak;
    uint32_t n, at;
} arn_schedule_cost;

static inline bool arn_schedule_is_cheaper(arn_schedule_cost a, arn_schedule_cost b) {
    return a.peak < b.peak || (a.peak == b.peak && a.n < b.n);
}

/* Leaves `front` empty. */
arn_schedule_cost arn_schedule_cost_of(arn_schedule_state *front, const uint32_t *ops);
/* The same for a problem without a state. */
arenaut_status arn_schedule_measure(const arenaut_order_problem *problem, const uint32_t *ops,
                                    const arenaut_allocator *allocator, arn_schedule_cost *cost,
                                    arenaut_error *err);

/* ---- min cuts (mincut.c) ---- */

typedef enum arn_cut_role {
    ARN_CUT_LATER, /* after the cut */
    ARN_CUT_EARLIER,
    ARN_CUT_OPEN, /* on either side */
    ARN_CUT_NOW,  /* running: all of its buffers are live */
} arn_cut_role;

/* The least live bytes between two ops, as a minimum cut. Some ops have run, some have not, others
 * are open. Sets of executed ops are closed under predecessors, and the live bytes are a cut
 * function of the set, so that the best set is a minimum s-t cut (Picard 1976: closures). */
typedef struct arn_mincut {
    const arn_schedule_graph *graph;
    arn_budget *budget;
    uint8_t *role;         /* per op; all LATER at first */
    uint32_t *op_node;     /* per open op; else NONE */
    uint32_t *buffer_node; /* per buffer of open ops, while a network is built; else NONE */
    arn_id_list buffers;   /* these */
    uint64_t spent;        /* effort, of the flows and of all else */
    arn_flow_network network;
} arn_mincut;

arenaut_status arn_mincut_make(const arn_schedule_graph *graph, arn_budget *budget, arn_mincut *cut,
                               arenaut_error *err);
void arn_mincut_free(arn_mincut *cut);

/* `open` has the ops of role OPEN. *least: the live bytes among their buffers in the best cut. Ops
 * before the cut get the role EARLIER, the others LATER; among minimum cuts the one with the fewest
 * ops before it is taken. False if there is no memory. */
bool arn_mincut_solve(arn_mincut *cut, const uint32_t *open, uint32_t n_open, uint64_t *least);

/* A lower bound of any schedule: the least load of `op`, whichever ops run before it. Leaves all
 * roles LATER. `before`, which may be NULL, has room for all ops and gets the ops before it in that
 * cut. False if there is no memory. */
bool arn_mincut_load_bound(arn_mincut *cut, uint32_t op, uint64_t *load, bool *before);

/* ---- branch and bound (schedule_search.c) ---- */

/* A search tree of partial schedules. Node 0 is the root; each node is reached from its parent by
 * some ops. Nodes with the same set of executed ops are one (memoization). The state of a direction
 * is at one of the nodes, or below it. */
typedef struct arn_search_tree {
    arn_schedule_state *state;
    uint32_t n, now; /* now: the node of the state */
    uint32_t *parent, *n_ran, *level;
    uint32_t *first;    /* per node: the index in `ops` of the ops that lead to it */
    uint32_t *dominant; /* the only child that needs to be explored, since its ops are committed; of
                         * a duplicate, the original node; else NONE */
    uint64_t *live, *key;
    uint32_t capacity[7];
    arn_id_list ops;
    uint32_t *heap; /* open nodes, the best first */
    uint32_t n_heap, heap_capacity;
    uint32_t *slots; /* hash table by key: nodes; NONE: free */
    uint32_t n_slots;
    arn_id_list path;
} arn_search_tree;

static inline bool arn_search_tree_is_duplicate(const arn_search_tree *tree, uint32_t node) {
    return tree->dominant[node] != ARENAUT_NONE && tree->parent[tree->dominant[node]] != node;
}

/* Moves the state to a node. False if there is no memory. */
bool arn_search_tree_stand_at(arn_search_tree *tree, uint32_t node);
/* Undoes the ops below the node. */
void arn_search_tree_return(arn_search_tree *tree);
/* The hash of the set of executed ops. */
uint64_t arn_search_tree_key(const arn_search_tree *tree);
/* The node of the state, which has advanced from its node; NONE: a new one. */
uint32_t arn_search_tree_find(const arn_search_tree *tree, uint64_t key);

/* The search in one direction: a committed prefix (of the schedule, or backward of its reverse),
 * and a tree of partial schedules from there. */
typedef struct arn_direction {
    arn_schedule_graph graph;
    arn_schedule_state state;
    arn_mincut cut; /* committed ops have the role EARLIER */
    const struct arn_direction *other;
    uint64_t limit;          /* the greatest load allowed */
    uint64_t least_rejected; /* the least load that exceeded it */
    uint32_t n_committed;    /* ops of the committed prefix */
    arn_id_list steps;       /* ends of the steps by which it grew, in the executed ops */
    arn_search_tree tree;    /* from the committed prefix */
    arn_search_tree nearby;  /* lookahead from one of its nodes */
    arn_id_list subset, branches;
} arn_direction;

/* Both directions of a problem; on failure there is nothing to free. */
arenaut_status arn_directions_make(const arenaut_order_problem *problem, arn_budget *budget,
                                   const arenaut_allocator *allocator, arn_direction directions[2],
                                   arenaut_error *err);
void arn_directions_free(arn_direction directions[2]);

/* Runs safe ops until there are none. */
void arn_direction_run_safe(arn_direction *direction);
/* Appends the ready ops within the limit to `branches`, by number; notes the least load above it.
 * False if there is no memory. */
bool arn_direction_list_branches(arn_direction *direction);

typedef enum arn_search_result {
    ARN_SEARCH_FOUND,        /* the schedule is in `ops` */
    ARN_SEARCH_EXHAUSTED,    /* there is none: one direction has been searched completely */
    ARN_SEARCH_BUDGET_SPENT, /* undecided */
    ARN_SEARCH_NO_MEMORY,
} arn_search_result;

/* Searches for a schedule with all loads at most `limit`, within this effort. `direction` gets, if
 * EXHAUSTED, the exhausted direction; both keep their final states. */
arn_search_result arn_schedule_search(arn_direction directions[2], uint64_t limit, uint64_t effort,
                                      uint32_t *ops, uint32_t *direction);

/* Part of a schedule: the ops at positions [from, end). */
typedef struct arn_schedule_window {
    const uint32_t *ops; /* the whole schedule */
    uint32_t from, end;
} arn_schedule_window;

/* The same with the ops outside of the window fixed, whatever their loads. */
arn_search_result arn_schedule_search_window(arn_direction directions[2], uint64_t limit,
                                             uint64_t effort, arn_schedule_window window,
                                             uint32_t *ops);

/* Effort spent on both directions. */
uint64_t arn_schedule_spent(const arn_direction directions[2]);

/* ---- annealing (annealing.c) ---- */

/* Improves `ops`, as if no op had rights, with so much effort, which is counted as that of `front`.
 * False if there is no memory. */
bool arn_schedule_anneal(arn_schedule_state *front, uint64_t bound, uint64_t effort, uint32_t *ops);

/* ---- trees (tree_schedule.c) ---- */

/* A schedule that is optimal if each result is read once. `wanted` gets the ops, each after its
 * operands that no earlier op reads; other dependences may be violated. False if there is no
 * memory. */
bool arn_schedule_trees(const arn_schedule_graph *graph, uint32_t *wanted);

/* ---- heuristics (heuristics.c) ---- */

/* Makes a schedule; `front` and `back` are empty states of the same problem in either direction,
 * and are left so. `ops` has room for all. False if there is no memory. */
bool arn_schedule_by_heuristic(arenaut_order_heuristic heuristic, arn_schedule_state *front,
                               arn_schedule_state *back, uint32_t *ops);

/* Hill climbing by minimum cuts: improves `ops` until its peak is `bound`, or nothing helps, or
 * this effort is spent. `front` and `cut` are of the same graph; `front` is left empty. False if
 * there is no memory. */
bool arn_schedule_uncross(arn_schedule_state *front, arn_mincut *cut, uint64_t bound,
                          uint64_t effort, uint32_t *ops);

typedef struct arn_window_budget {
    uint64_t per_op; /* effort for a window, for each of its ops */
    uint64_t all;    /* for all windows */
} arn_window_budget;

/* Large neighborhood search by windows: improves `ops` until its peak is `bound`, or no window
 * helps, or the budget is spent. `spare` has room for all ops. False if there is no memory. */
bool arn_schedule_search_windows(arn_direction directions[2], arn_window_budget budget,
                                 uint64_t bound, uint32_t *ops, uint32_t *spare);

/* ---- near-optimal schedules (near_schedules.c) ---- */

enum { ARN_SCHEDULE_MAX_NEAR = 4 };

/* Inserts a schedule into the near-optimal ones of `order`, if it is new and among the best.
 * `order->near` has room for MAX_NEAR. */
void arn_schedule_keep_near(arenaut_order *order, const uint32_t *ops, uint64_t peak);

/* The same of one that need not be among the best: if it is new, the last makes room for it. */
void arn_schedule_add_near(arenaut_order *order, const uint32_t *ops, uint64_t peak);

/* Removes those that are not near-optimal, or are the best schedule or the given one. */
void arn_schedule_trim_near(arenaut_order *order);

/* Moves ops towards the given order by swaps of neighbors that keep the peak. Leaves `front` empty.
 */
void arn_schedule_settle(arn_schedule_state *front, uint64_t peak, uint32_t *ops);

#endif
