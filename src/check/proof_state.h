/* Where the blocks of a case may still lie, as a proof (arenaut/certificate.h) goes on. */
#ifndef ARN_CHECK_PROOF_STATE_H
#define ARN_CHECK_PROOF_STATE_H

#include "check/proof_case.h"

typedef enum arn_block_state {
    ARN_BLOCK_OPEN,   /* to be placed, at `lowest` or above */
    ARN_BLOCK_PLACED, /* at `lowest` */
    ARN_BLOCK_LEFT,   /* out of regard */
} arn_block_state;

typedef struct arn_block_change {
    uint32_t block;
    uint8_t state;
    uint64_t lowest;
} arn_block_change;

typedef struct arn_proof_state {
    const arn_proof_case *c;
    uint64_t limit;
    uint64_t *lowest; /* per block */
    uint8_t *state;
    uint64_t *rest; /* per block, for arn_proof_reject */
    bool *chosen;   /* likewise; all false in between */
    uint32_t *list; /* work space: pieces */
    bool dead;      /* nothing can come of it */
    arn_block_change *trail;
    uint32_t n_trail, trail_room;
    arn_region region;
} arn_proof_state;

/* The state with only the fixed blocks placed, in an open case. */
arenaut_status arn_proof_state_init(arn_proof_state *s, const arn_proof_case *c, uint64_t limit);
void arn_proof_state_free(arn_proof_state *s);

/* Each is false if there is no memory. What is done to a dead state does not matter. */
bool arn_proof_place(arn_proof_state *s, uint32_t block);
bool arn_proof_reject(arn_proof_state *s, const uint32_t *blocks, uint32_t n);
bool arn_proof_leave(arn_proof_state *s, uint32_t block);
void arn_proof_undo(arn_proof_state *s, uint32_t n_trail, bool dead);

/* Whether the open blocks alive at `step`, or the ends of a conflict, do not fit. */
bool arn_proof_is_over(const arn_proof_state *s, int64_t step);
bool arn_proof_is_edge_over(const arn_proof_state *s, uint32_t conflict);

/* Whether exchanging two open blocks changes nothing. */
bool arn_proof_is_alike(const arn_proof_state *s, uint32_t a, uint32_t b);

/* Whether all that is possible now was possible when `lowest` and `state` were as given. */
bool arn_proof_is_no_freer(const arn_proof_state *s, const uint64_t *lowest, const uint8_t *state);

/* Whether what is alive at `step` in the pools of a set, some of which may be unlimited, is
 * more than they can hold. Needs no open case. */
arenaut_status arn_proof_is_overloaded(const arn_proof_case *c, uint64_t pools, int64_t step,
                                       bool *over);

#endif
