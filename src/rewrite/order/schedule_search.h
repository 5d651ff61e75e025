/* The search for a schedule with the least peak. */
#ifndef ARN_REWRITE_ORDER_SCHEDULE_SEARCH_H
#define ARN_REWRITE_ORDER_SCHEDULE_SEARCH_H

#include <stdbool.h>

#include <arenaut/order.h>

#include "core/budget.h"
#include "core/id_list.h"

/* An order problem, ready to be walked in either direction. Looked at from the back, waits point
 * the other way, what is held before is held after, and what is made is written over. */

/* Lists of numbers, one after another: those of i are ids[begin[i]] up to ids[begin[i + 1]]. */
typedef struct arn_order_lists {
    uint32_t *begin, *ids;
} arn_order_lists;

typedef struct arn_order_graph {
    const arenaut_order_problem *problem;
    bool backward;
    uint32_t n_ops, n_buffers;
    const uint64_t *size;        /* per buffer */
    uint8_t *held;               /* per buffer */
    arn_order_lists uses, users; /* of an op its buffers; of a buffer its ops; each once */
    arn_order_lists first, next; /* of an op those that it waits for, and that wait for it */
    arn_order_lists rights;      /* of an op: its rights */
    arn_order_lists made_by;     /* of a buffer: ops that may write it over another one */
    arenaut_order_right *right;
    arenaut_allocator allocator;
} arn_order_graph;

/* On failure there is nothing to free. */
arenaut_status arn_order_graph_make(const arenaut_order_problem *problem, bool backward,
                                    const arenaut_allocator *allocator, arn_order_graph *graph,
                                    arenaut_error *err);
void arn_order_graph_free(arn_order_graph *graph);

/* Whether indices are in range, sizes can be added, and the order of numbers keeps the waits. */
arenaut_status arn_order_validate(const arenaut_order_problem *problem, arenaut_error *err);

/* How far an order has come: what has run, what is ready, what is alive. Each step is taken back
 * exactly, so that the same steps from the same state always give the same state, lists included.
 */

typedef struct arn_order_state {
    const arn_order_graph *graph;
    arn_budget *budget;
    uint64_t live;
    uint32_t n_ran, n_ready;
    uint32_t *ran;            /* the ops that have run, in order */
    uint32_t *ready;          /* ops that may run now */
    uint32_t *place;          /* per op, where it stands in `ready`; NONE: it does not */
    uint32_t *spot;           /* per op that ran, where it stood there */
    uint32_t n_light, *light; /* those of `ready` that leave no more alive than there was; in no
                               * order that means anything */
    uint32_t *light_place;    /* per op, where it stands there; NONE: it does not */
    uint32_t *pending;        /* per op, how many it waits for have not run */
    uint32_t *left;           /* per buffer, users that have not run */
    uint32_t *left_xor;       /* of these: their numbers, one over another */
    uint64_t *opens;          /* per op, bytes that come alive with it */
    uint64_t *closes;         /* per op, bytes whose last user it is now */
    uint64_t work;            /* steps taken and taken back */
} arn_order_state;

/* Nothing has run. On failure there is nothing to free. */
arenaut_status arn_order_state_make(const arn_order_graph *graph, arn_budget *budget,
                                    arn_order_state *state, arenaut_error *err);
void arn_order_state_free(arn_order_state *state);

/* `op` must be ready. */
void arn_order_run(arn_order_state *state, uint32_t op);
/* Takes back steps until only `n_ran` ops have run. */
void arn_order_take_back(arn_order_state *state, uint32_t n_ran);

/* What a ready op may write over instead of taking memory of its own. */
uint64_t arn_order_credit(const arn_order_state *state, uint32_t op);

/* What is alive while a ready op runs. */
static inline uint64_t arn_order_load(const arn_order_state *state, uint32_t op) {
    const uint32_t *rights = state->graph->rights.begin + op;
    const uint64_t load = state->live + state->opens[op];
    return rights[0] == rights[1] ? load : load - arn_order_credit(state, op);
}

static inline bool arn_order_untouched(const arn_order_state *state, uint32_t buffer) {
    const uint32_t *users = state->graph->users.begin + buffer;
    return state->left[buffer] == users[1] - users[0];
}

/* Whether it does not get in the way of any order if a ready op runs at once: it leaves no more
 * alive, and takes from no op the right to write over what it uses. */
bool arn_order_is_safe(const arn_order_state *state, uint32_t op, uint64_t limit);

/* The least that can be alive between two ops, by a minimum cut.
 *
 * Some ops have run, some are still to run, of others either may be; which of them should have run,
 * so that least is alive? Sets of ops that may have run are closed under what each waits for, and
 * what is alive is a cut of them. */

typedef enum arn_order_role {
    ARN_ORDER_LATER, /* still to run */
    ARN_ORDER_EARLIER,
    ARN_ORDER_OPEN, /* either */
    ARN_ORDER_NOW,  /* runs just now: all that it uses is alive */
} arn_order_role;

typedef struct arn_order_cut {
    const arn_order_graph *graph;
    arn_budget *budget;
    uint8_t *role;         /* per op; all LATER at first */
    uint32_t *op_node;     /* per open op; else NONE */
    uint32_t *buffer_node; /* per buffer that open ops use, while a network is made; else NONE */
    arn_id_list buffers;   /* those */
    uint64_t work;         /* steps of the search for paths */
    /* the network: arcs in pairs, each beside the one that goes back */
    uint32_t n_nodes, n_arcs, node_capacity, arc_capacity, room_capacity, target_capacity;
    uint32_t *head, *level, *arc_now, *path; /* per node */
    uint32_t path_capacity, level_capacity, now_capacity;
    uint32_t *next, *target; /* per arc */
    uint64_t *room;
} arn_order_cut;

arenaut_status arn_order_cut_make(const arn_order_graph *graph, arn_budget *budget,
                                  arn_order_cut *cut, arenaut_error *err);
void arn_order_cut_free(arn_order_cut *cut);

/* `open` has the ops whose role is OPEN. *least: the sizes of the buffers used by any of them that
 * are alive with the best choice. Those that should have run get the role EARLIER, the others
 * LATER; of equal choices the one with fewest ops is taken. False if there is no memory. */
bool arn_order_cut_least(arn_order_cut *cut, const uint32_t *open, uint32_t n_open,
                         uint64_t *least);

/* What no order goes below: what is alive while one op runs, whatever ran before it. */

/* The least load of `op` in any order. Leaves all roles LATER. `before`, which may be NULL, has
 * room for all ops and gets which of them have run then. False if there is no memory. */
bool arn_order_least_load(arn_order_cut *cut, uint32_t op, uint64_t *load, bool *before);

/* A tree of states: node 0 is where it begins, and each node is reached from its parent by some
 * ops. States in which the same ops have run are one node. The state of a side stands at one of the
 * nodes, or beyond it. */

typedef struct arn_order_tree {
    arn_order_state *state;
    uint32_t n, now; /* now: the node that the state stands at */
    uint32_t *parent, *n_ran, *level;
    uint32_t *first; /* of the ops that lead here: where they begin in `ops` */
    uint32_t *ahead; /* the child that stands for this node, since its ops run for good; of a node
                      * that is another one again, that; else NONE */
    uint64_t *live, *key;
    uint32_t capacity[7];
    arn_id_list ops;
    uint32_t *heap; /* nodes to be looked at, the best first */
    uint32_t n_heap, heap_capacity;
    uint32_t *slots; /* by key: nodes; NONE: free */
    uint32_t n_slots;
    arn_id_list way;
} arn_order_tree;

void arn_order_tree_free(arn_order_tree *tree);

/* Begins a new tree where the state is. False if there is no memory, as below. */
bool arn_order_tree_plant(arn_order_tree *tree, arn_order_state *state);

/* Has the state stand at a node. */
bool arn_order_tree_stand_at(arn_order_tree *tree, uint32_t node);
/* Takes back what has run beyond the node. */
void arn_order_tree_return(arn_order_tree *tree);

/* What stands for the ops that have run. */
uint64_t arn_order_tree_key(const arn_order_tree *tree);
/* The node that the state, which has gone on from where it stands, is in; NONE: none. */
uint32_t arn_order_tree_find(const arn_order_tree *tree, uint64_t key);
/* Adds the state, behind the node that it stood at, as one to be looked at; it stays where it is.
 */
bool arn_order_tree_add(arn_order_tree *tree, uint64_t key);
/* The same, where it is `node` again. */
bool arn_order_tree_add_again(arn_order_tree *tree, uint32_t node);
static inline bool arn_order_tree_is_again(const arn_order_tree *tree, uint32_t node) {
    return tree->ahead[node] != ARENAUT_NONE && tree->parent[tree->ahead[node]] != node;
}

/* Takes the best node to be looked at; NONE: there is none. */
uint32_t arn_order_tree_take_best(arn_order_tree *tree);

/* The search from one side: what has run for good, the *base*, and behind it a tree of states. */

typedef struct arn_order_side {
    arn_order_graph graph;
    arn_order_state state;
    arn_order_cut cut; /* the roles of ops that have run for good are EARLIER */
    const struct arn_order_side *other;
    uint64_t limit;      /* no load may be above */
    uint64_t least_over; /* the least load that was */
    uint32_t n_base;     /* ops that have run for good */
    arn_id_list steps; /* ends of the steps by which the base came to be, among the ops that ran */
    arn_order_tree tree; /* from the base on */
    arn_order_tree near; /* what is close to one of its states */
    arn_id_list part, allowed;
} arn_order_side;

/* Both sides of a problem, which end with the budget; on failure there is nothing to free. */
arenaut_status arn_order_sides_make(const arenaut_order_problem *problem, arn_budget *budget,
                                    const arenaut_allocator *allocator, arn_order_side sides[2],
                                    arenaut_error *err);
void arn_order_sides_free(arn_order_side sides[2]);

/* Begins anew: nothing has run. */
void arn_order_side_restart(arn_order_side *side, uint64_t limit);
/* Makes what has run the base, runs what is safe there, and plants a new tree. False if there is no
 * memory, as below. */
bool arn_order_side_rebase(arn_order_side *side);

/* Whether an op has run for good on the other side. */
static inline bool arn_order_is_taken(const arn_order_side *side, uint32_t op) {
    return side->other->cut.role[op] == ARN_ORDER_EARLIER;
}

/* Whether all ops have run, on one side or the other. */
static inline bool arn_order_is_whole(const arn_order_side *side) {
    return side->state.n_ran + side->other->n_base == side->graph.n_ops;
}

/* Runs safe ops until there are none. */
void arn_order_run_safe(arn_order_side *side);
/* Adds the ops that may run now to `allowed`, in their order; remembers the least load that is too
 * much. */
bool arn_order_list_allowed(arn_order_side *side);

/* Where no more is alive than where `tree` begins: runs, instead of all ops since then, the part of
 * them that leaves least alive, for good. *ran is false where rights to write over forbid it; then
 * all is as it was. */
bool arn_order_run_part(arn_order_side *side, const arn_order_tree *tree, bool *ran);

/* Whether there is an order below a limit. */

typedef enum arn_order_answer {
    ARN_ORDER_FOUND,  /* the order is in `ops` */
    ARN_ORDER_NONE,   /* there is none: all that can be done from one side has been tried */
    ARN_ORDER_TIRED,  /* the effort is spent */
    ARN_ORDER_FAILED, /* there is no memory */
} arn_order_answer;

/* Looks for an order whose loads are all at most `limit`, until so much work is done. `side` gets,
 * for NONE, the side from which all was tried; it and the other one stay as they were then. */
arn_order_answer arn_order_search(arn_order_side sides[2], uint64_t limit, uint64_t effort,
                                  uint32_t *ops, uint32_t *side);

/* Part of an order: the ops at [from, end). */
typedef struct arn_order_window {
    const uint32_t *ops; /* all of them */
    uint32_t from, end;
} arn_order_window;

/* The same with what is outside of the window staying as it is, whatever it needs. */
arn_order_answer arn_order_search_window(arn_order_side sides[2], uint64_t limit, uint64_t effort,
                                         arn_order_window window, uint32_t *ops);

uint64_t arn_order_work(const arn_order_side sides[2]);

/* Simple ways to make an order. */

/* Makes an order; `front` and `back` are states of the same problem in either direction, in which
 * nothing has run, and are left so. `ops` has room for all. False if there is no memory. */
bool arn_order_by_way(arenaut_order_way way, arn_order_state *front, arn_order_state *back,
                      uint32_t *ops);

/* How good an order is: its peak, how many ops need so much, and where the first of them stands. */
typedef struct arn_order_height {
    uint64_t peak;
    uint32_t n, at;
} arn_order_height;

static inline bool arn_order_is_lower(arn_order_height a, arn_order_height b) {
    return a.peak < b.peak || (a.peak == b.peak && a.n < b.n);
}

/* Leaves `front` as if nothing had run. */
arn_order_height arn_order_height_of(arn_order_state *front, const uint32_t *ops);
/* The same of a problem of which there is no state yet. */
arenaut_status arn_order_measure(const arenaut_order_problem *problem, const uint32_t *ops,
                                 const arenaut_allocator *allocator, arn_order_height *height,
                                 arenaut_error *err);

/* An order that is best where each result is read once. */

/* `wanted` gets the ops, each behind those whose results it is the first to read; false if there is
 * no memory. Other waits may be broken. */
bool arn_order_by_trees(const arn_order_graph *front, uint32_t *wanted);

/* Better orders by minimum cuts: what should have run when most is alive is run before. */

/* Makes `ops` better until its peak is `bound`, or nothing comes of it, or so much work is done.
 * `front` and `cut` are of the same graph; nothing has run in `front` afterwards. False if there is
 * no memory. */
bool arn_order_uncross(arn_order_state *front, arn_order_cut *cut, uint64_t bound, uint64_t effort,
                       uint32_t *ops);

/* Better orders part by part. */

typedef struct arn_order_purse {
    uint64_t per_op; /* work for a window, for each of its ops */
    uint64_t all;    /* for all windows */
} arn_order_purse;

/* Makes `ops` better until its peak is `bound`, or no part becomes better, or the purse is empty.
 * `spare` has room for all ops. False if there is no memory. */
bool arn_order_search_windows(arn_order_side sides[2], arn_order_purse purse, uint64_t bound,
                              uint32_t *ops, uint32_t *spare);

/* Orders that are nearly as good as the best: of those, one may be laid out in less. */

enum { ARN_ORDER_MOST_NEAR = 4 };

/* Keeps an order among the near ones of `order`, if it is one of the best of them and is none that
 * is there. `order->near` has room for all. */
void arn_order_keep_near(arenaut_order *order, const uint32_t *ops, uint64_t peak);

/* Leaves only those that are close to the best order, and neither that nor today's. */
void arn_order_trim_near(arenaut_order *order);

/* Has the ops go back towards today's order, neighbour by neighbour, where that makes the peak no
 * higher. Nothing has run in `front` afterwards. */
void arn_order_settle(arn_order_state *front, uint64_t peak, uint32_t *ops);

/* Writing down why there is no order below a limit. */

typedef struct arn_order_proof {
    arenaut_order_line *lines;
    uint32_t n, capacity;
    arenaut_allocator allocator;
} arn_order_proof;

/* What a search without result has left, tried from sides[side]. Nodes are followed again. False if
 * there is no memory. */
bool arn_order_prove(arn_order_side sides[2], uint32_t side, arn_order_proof *proof);
bool arn_order_prove_cut(arn_order_proof *proof, uint32_t op);

#endif
