/* Multi-start local search for the fastest sequence within one budget, and for the lowest peak. */
#ifndef ARN_REWRITE_REMAT_MULTISTART_H
#define ARN_REWRITE_REMAT_MULTISTART_H

#include "rewrite/rematerialize/remat_bound.h"
#include "rewrite/rematerialize/remat_branch.h"
#include "rewrite/rematerialize/remat_search.h"
#include "rewrite/rematerialize/remat_segments.h"

/* A sequence of the search, with its figures. */
typedef struct arn_remat_schedule {
    arn_remat_state *states; /* per gap */
    bool fits;               /* it is within the budget */
    uint64_t added;
    int64_t peak;
} arn_remat_schedule;

typedef struct arn_remat_multistart {
    const arenaut_remat_problem *problem;
    arn_region region;
    arn_budget *budget;
    uint64_t effort; /* of all searches */
    uint64_t bytes;  /* the present budget */
    arn_remat_graph graph;
    arn_remat_sequence sequence;
    arn_remat_search search;
    arn_remat_cut cut;
    arn_remat_bounds bounds; /* the caller's: of the budget of the search */
    arn_remat_chain chain;
    arn_remat_branch branch;
    arn_remat_segments segments;
    int64_t *load;           /* per op, where each runs once */
    arn_remat_schedule base; /* each op runs once */
    arn_remat_schedule best; /* by now, within the present budget */
    arn_remat_schedule kept; /* likewise, while another start is tried */
    arn_remat_state *states; /* work space */
    arn_remat_state *known;  /* of the sequence with the lowest peak by now */
    uint64_t unit;           /* bytes, of which every load is a multiple */
    uint64_t lowest;         /* peak to which repair comes */
    uint64_t other;          /* the caller's: added in another order within the same budget; 0:
                              * unknown */
    uint32_t floor_op;       /* likewise; ARENAUT_NONE: none */
    bool out_of_memory;      /* cases could not be told apart */
} arn_remat_multistart;

arenaut_status arn_remat_multistart_make(arn_remat_multistart *x,
                                         const arenaut_remat_problem *problem, arn_budget *budget,
                                         uint64_t effort, const arenaut_allocator *allocator,
                                         arenaut_error *err);
void arn_remat_multistart_free(arn_remat_multistart *x); /* after make, or zero-initialised */

/* The fastest sequence within a budget, into `best`. */
void arn_remat_multistart_find(arn_remat_multistart *x, uint64_t bytes);

/* The lowest peak from the floor on to which repair comes, into `lowest`; then the fastest sequence
 * that is found within it, into `best`. */
void arn_remat_multistart_find_lowest(arn_remat_multistart *x, uint64_t floor);
void arn_remat_multistart_improve_lowest(arn_remat_multistart *x);

/* Whether the best sequence is close to the bound. */
bool arn_remat_multistart_is_close(const arn_remat_multistart *x);

/* Puts the chain to the bound's op alone. False: no sequence is within the budget. */
bool arn_remat_multistart_chain(arn_remat_multistart *x, uint64_t bytes);

#endif
