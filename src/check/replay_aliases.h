/* Names: which memory a tensor stands for that other tensors are moved to.
 *
 * After a move its destination is another name of its source's memory, and the two ways
 * through a branch may leave it the name of different memory. So the state of a replay
 * holds, for each such tensor, every memory that it may be the name of, and whether that
 * memory still is as it was on the ways that made it so. The shadow alone cannot tell: of
 * bytes that another way has used, it only knows that they vary. */
#ifndef ARN_CHECK_REPLAY_ALIASES_H
#define ARN_CHECK_REPLAY_ALIASES_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of a pair of a name and a tensor that it may stand for. Else: whoever holds
 * its bytes instead, as the shadow numbers owners. */
#define ARN_NAME_ABSENT UINT32_C(0x7FFFFFF1) /* it does not stand for that one */
#define ARN_NAME_INTACT UINT32_C(0x7FFFFFF2)

typedef struct arn_names {
    uint32_t n_names, n_pairs;
    uint32_t *name;  /* per tensor: its number among those that are moved to; ARENAUT_NONE.
                      * NULL: the program moves nothing */
    uint32_t *start; /* n_names + 1: name k has the pairs [start[k], start[k + 1]) */
    uint32_t *root;  /* per pair: a tensor. The name's own comes first, the others ascend */
    uint32_t *known; /* per pair; this is what a state of the replay consists of, besides the
                      * shadow */
} arn_names;

#endif
