/* Parts of the exact search for tests: its tree of a problem, and a check of the offsets found. */
#ifndef SUPPORT_EXACT_SEARCH_H
#define SUPPORT_EXACT_SEARCH_H

#include "planners/exact/exact.h"
#include "planners/exact/item_model.h"
#include "planners/exact/packing_search.h"

/* A tree that goes on at every question, with its model; freed with exact_tree_free. */
typedef struct exact_tree {
    arn_exact_model model;
    arn_exact_tree tree;
    arn_region region;
} exact_tree;

/* `poll`: asked between nodes; NULL: nothing is. */
void exact_tree_make(const arenaut_problem *problem, arn_poll *poll, exact_tree *made);
void exact_tree_free(exact_tree *made);

/* Checks offsets in the only pool as a plan, and that its arena is the one that was found. */
void assert_offsets_accepted(const arenaut_problem *problem, const arn_exact_output *found);

#endif
