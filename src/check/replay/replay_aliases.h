/* Aliases: which memory a tensor may point to that other tensors are moved to.
 *
 * After a move its destination is an alias of its source: what reads it reads the source's memory,
 * and nothing is copied. Where two ways through a branch meet, an alias may point to different
 * memory on each:
 *
 *     if (x) move b = a1;  else move b = a2;   read b      b points to a1 or to a2
 *
 * So a state of the replay holds, for each alias, all its *pointees*, the tensors that it may point
 * to (a may-point-to set), and for each pair whether that memory is as it was on the ways that
 * made it so. The shadow alone cannot tell: of bytes that another way has used, it only knows that
 * they vary. */
#ifndef ARN_CHECK_REPLAY_ALIASES_H
#define ARN_CHECK_REPLAY_ALIASES_H

#include <arenaut/program.h>

#include "core/memory.h"

/* What is known of a pair of an alias and a pointee. Else: what its bytes hold instead, as the
 * shadow numbers contents. */
#define ARN_ALIAS_ABSENT UINT32_C(0x7FFFFFF1) /* it does not point to that one */
#define ARN_ALIAS_INTACT UINT32_C(0x7FFFFFF2)

typedef struct arn_replay_aliases {
    uint32_t n_aliases, n_pairs;
    uint32_t *number;  /* per tensor: its number among those that are moved to; ARENAUT_NONE.
                        * NULL: the program moves nothing */
    uint32_t *start;   /* n_aliases + 1: alias k has the pairs [start[k], start[k + 1]) */
    uint32_t *pointee; /* per pair: a tensor. The alias itself comes first, the others ascend */
    uint32_t *known;   /* per pair; this is what a state of the replay consists of, besides the
                        * shadow */
} arn_replay_aliases;

typedef struct arn_replay arn_replay;

/* Finds what can be moved where. OK, NO_MEMORY, or UNSUPPORTED for chains without end. */
arenaut_status arn_replay_aliases_make(arn_replay *r, arn_region *region);
void arn_replay_aliases_free(arn_replay *r);
/* A call from outside begins: every alias points to itself alone. */
void arn_replay_aliases_begin(arn_replay *r);
/* The tensor's bytes have been written, in the shadow. */
void arn_replay_aliases_written(arn_replay *r, uint32_t tensor);
/* All memory that this alias may point to has been written. */
void arn_replay_aliases_rewritten(arn_replay *r, uint32_t tensor);
/* Reads nothing: that the source is not whole is found where the alias is read. */
void arn_replay_aliases_move(arn_replay *r, const arenaut_op *op);

/* Whether anything is ever moved to the tensor. */
bool arn_replay_is_alias(const arn_replay *r, uint32_t tensor);
/* The pointees of a tensor, 0 <= i < count: itself alone, unless it is an alias; then ARENAUT_NONE
 * for those that it does not point to at present. */
uint32_t arn_replay_pointee_count(const arn_replay *r, uint32_t tensor);
uint32_t arn_replay_pointee_at(const arn_replay *r, uint32_t tensor, uint32_t i, uint32_t *known);
/* ARENAUT_NONE if there are several. */
uint32_t arn_replay_sole_pointee(const arn_replay *r, uint32_t tensor);

#endif
