/* The least that can be alive between two ops, by a minimum cut.
 *
 * Some ops have run, some are still to run, of others either may be; which of them should have run,
 * so that least is alive? Sets of ops that may have run are closed under what each waits for, and
 * what is alive is a cut of them. */
#ifndef ARN_REWRITE_ORDER_CUT_H
#define ARN_REWRITE_ORDER_CUT_H

#include "core/budget.h"
#include "core/id_list.h"
#include "rewrite/order/order_graph.h"

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

#endif
