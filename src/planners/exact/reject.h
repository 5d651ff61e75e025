/* The second of the two moves of a packing (exact_state.h): rejecting the floor of a clique.
 *
 * The *candidates* are the clique's unplaced members whose `lowest` is its floor. Rejecting says
 * that none of them lies there, in a packing from which nothing can be moved down. So each
 * rests on the end of an unplaced neighbour, and that is at least the lowest end of one:
 *
 *     4            +---+         a and c are candidates, b is an unplaced neighbour of c only. The
 *                  | b |         lower one of a and c rests on an item that is no candidate: c on
 *     1            +---+         b, at 4 or higher. So a, which can rest on c only, lies at
 *     0   [ a ][ c ]  the floor  4 + size(c) or higher.
 *
 * tree.h says why nothing is lost by that. */
#ifndef ARN_EXACT_REJECT_H
#define ARN_EXACT_REJECT_H

#include "planners/exact/exact_state.h"

/* Raises every candidate of `clique`, with its group, to the least place that it may take then.
 * False if the packing cannot be completed within the capacity any more; the caller then undoes
 * the move. Room in the trail must have been checked before. O(neighbours of the candidates). */
bool arn_exact_reject(arn_exact_state *state, uint32_t clique);

#endif
