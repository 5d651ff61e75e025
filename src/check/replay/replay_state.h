/* The abstract state of a replay: shadow memory and a may-point-to relation, with their join.
 *
 * Shadow memory (Nethercote & Seward 2007): for each byte of all arenas, the storage whose
 * content it holds and the write that put it there. Bytes between which no tensor begins or ends
 * are one *cell*, so there are at most two cells for each tensor, and a write or a look at any
 * range takes O(log cells).
 *
 * Aliases: the memory that a tensor may stand for, if other tensors are moved to it. A move copies
 * nothing: its destination becomes an alias of its source, and a read of the one reads the memory
 * of the other. Where two paths through a branch join, an alias may point to different memory on
 * each:
 *
 *     if (x) move b = a1;  else move b = a2;   read b      b points to a1 or to a2
 *
 * So a state holds, for each alias, all its *pointees*, the tensors that it may point to (a
 * may-point-to set), and for each pair whether that memory is intact on the paths that made the
 * pair. The shadow alone cannot tell: of bytes used on another path it only knows that they
 * vary. */
#ifndef ARN_CHECK_REPLAY_STATE_H
#define ARN_CHECK_REPLAY_STATE_H

#include <arenaut/program.h>

#include "core/memory.h"

typedef struct arn_replay arn_replay;

/* ---- shadow memory ---- */

/* Contents are storages, numbered below ARN_SHADOW_LIMIT; the others are special marks. */
#define ARN_SHADOW_LIMIT UINT32_C(0x7FFFFFF0)
#define ARN_SHADOW_STALE UINT32_C(0x80000000) /* with a storage: it is of a call that has ended */
#define ARN_SHADOW_UNWRITTEN UINT32_MAX       /* never written */
#define ARN_SHADOW_VARIES (UINT32_MAX - 1)    /* another content on each path that leads here */

typedef struct arn_replay_shadow_node {
    uint32_t content; /* of all cells below, or a mark of the tree's own if they differ */
    uint32_t version; /* the latest among the cells below */
    bool assigned;    /* the nodes below are out of date: all are as this one */
} arn_replay_shadow_node;

typedef struct arn_replay_shadow {
    arn_replay_shadow_node *nodes; /* a heap: 1 is the root, the leaves are [leaves, 2 * leaves) */
    uint32_t n_cells, leaves;
    /* Per cell, the contents that met when it came to vary last: for messages only. */
    uint32_t *met[2];
    uint64_t work; /* nodes looked at so far: a measure of time that does not need a clock */
    arenaut_allocator allocator;
} arn_replay_shadow;

/* Nothing is written yet. False if there is no memory. */
bool arn_replay_shadow_make(arn_replay_shadow *shadow, const arenaut_allocator *allocator,
                            uint32_t n_cells);
void arn_replay_shadow_free(arn_replay_shadow *shadow);

void arn_replay_shadow_write(arn_replay_shadow *shadow, uint32_t first, uint32_t end,
                             uint32_t content, uint32_t version);
uint32_t arn_replay_shadow_content(arn_replay_shadow *shadow, uint32_t cell);

/* The first cell in [first, end) that is not `content`'s and was written by `version` or
 * later; ARENAUT_NONE if there is none. */
uint32_t arn_replay_shadow_find(arn_replay_shadow *shadow, uint32_t first, uint32_t end,
                                uint32_t content, uint32_t version);

/* A call has ended: cells go stale unless keep[content]. */
void arn_replay_shadow_retire(arn_replay_shadow *shadow, const bool *keep);

/* A copy of the present state, to be released with arn_release; NULL if there is no
 * memory. And back: both are nodes of this shadow. */
arn_replay_shadow_node *arn_replay_shadow_save(arn_replay_shadow *shadow);
void arn_replay_shadow_copy(arn_replay_shadow *shadow, arn_replay_shadow_node *to,
                            const arn_replay_shadow_node *from);

/* The join of two paths: `into` keeps its common part with `from`; other cells vary. Whether `into`
 * has changed. Versions stay as they are: they tell an op's own writes from all earlier ones, and
 * paths only join between ops. */
bool arn_replay_shadow_meet(arn_replay_shadow *shadow, arn_replay_shadow_node *into,
                            arn_replay_shadow_node *from);

/* ---- aliases ---- */

/* The knowledge of a pair of an alias and a pointee. Else: the content that its bytes hold instead,
 * as the shadow numbers contents. */
#define ARN_ALIAS_ABSENT UINT32_C(0x7FFFFFF1) /* it does not point to that one */
#define ARN_ALIAS_INTACT UINT32_C(0x7FFFFFF2)

typedef struct arn_replay_aliases {
    uint32_t n_aliases, n_pairs;
    uint32_t *number; /* per tensor: its number among the destinations of moves; ARENAUT_NONE. NULL:
                         the program moves nothing */
    uint32_t *start;  /* n_aliases + 1: alias k has the pairs [start[k], start[k + 1]) */
    uint32_t *pointee; /* per pair: a tensor. The alias itself comes first, the others ascend */
    uint32_t *known;   /* per pair; a state of the replay consists of this and the shadow */
} arn_replay_aliases;

/* Derives the pairs of aliases and pointees. OK, NO_MEMORY, or UNSUPPORTED for chains without
 * end. */
arenaut_status arn_replay_aliases_make(arn_replay *r, arn_region *region);
void arn_replay_aliases_free(arn_replay *r);
/* A call from outside begins: every alias points to itself alone. */
void arn_replay_aliases_begin(arn_replay *r);
/* The tensor's bytes have been written, in the shadow. */
void arn_replay_aliases_written(arn_replay *r, uint32_t tensor);
/* All memory that this alias may point to has been written. */
void arn_replay_aliases_rewritten(arn_replay *r, uint32_t tensor);
/* Reads nothing: an overwritten source is found where the alias is read. */
void arn_replay_aliases_move(arn_replay *r, const arenaut_op *op);

/* Whether the tensor is the destination of a move. */
bool arn_replay_is_alias(const arn_replay *r, uint32_t tensor);
/* The pointees of a tensor, 0 <= i < count: itself alone, unless it is an alias; then ARENAUT_NONE
 * for each that it does not point to at present. */
uint32_t arn_replay_pointee_count(const arn_replay *r, uint32_t tensor);
uint32_t arn_replay_pointee_at(const arn_replay *r, uint32_t tensor, uint32_t i, uint32_t *known);
/* ARENAUT_NONE if there are several. */
uint32_t arn_replay_sole_pointee(const arn_replay *r, uint32_t tensor);

/* ---- states ---- */

/* Empty: both are NULL. */
typedef struct arn_replay_state {
    arn_replay_shadow_node *nodes;
    uint32_t *known;
} arn_replay_state;

/* False if there is no memory; then *state is empty. */
bool arn_replay_state_save(arn_replay *r, arn_replay_state *state);
void arn_replay_state_release(arn_replay *r, arn_replay_state *state);
arn_replay_state arn_replay_state_live(const arn_replay *r); /* not a copy */
void arn_replay_state_swap(arn_replay *r, arn_replay_state *other);
void arn_replay_state_copy(arn_replay *r, const arn_replay_state *to, const arn_replay_state *from);
/* The join of two paths; whether `into` has changed. */
bool arn_replay_state_meet(arn_replay *r, const arn_replay_state *into,
                           const arn_replay_state *from);

#endif
