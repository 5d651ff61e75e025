/* Lower bounds on the offsets of the groups of a case, as a proof (arenaut/certificate.h) goes
 * on. */
#ifndef ARN_CHECK_PROOF_STATE_H
#define ARN_CHECK_PROOF_STATE_H

#include "check/certificate/proof_case.h"

typedef enum arn_proof_group_state {
    ARN_GROUP_OPEN,   /* to be placed, at `lowest` or above */
    ARN_GROUP_PLACED, /* at `lowest` */
    ARN_GROUP_LEFT,   /* left out */
} arn_proof_group_state;

typedef struct arn_proof_group_change {
    uint32_t group;
    uint8_t state;
    uint64_t lowest;
} arn_proof_group_change;

typedef struct arn_proof_state {
    const arn_proof_case *c;
    uint64_t limit;
    uint64_t *lowest; /* per group */
    uint8_t *state;
    uint64_t *rest; /* per group, for arn_proof_reject */
    bool *chosen;   /* likewise; all false in between */
    uint32_t *list; /* work space: pieces */
    bool dead;      /* the case is closed: it has no solution */
    arn_proof_group_change *trail;
    uint32_t n_trail, trail_room;
    arn_region region;
} arn_proof_state;

/* The state with only the fixed groups placed, in an open case. */
arenaut_status arn_proof_state_init(arn_proof_state *s, const arn_proof_case *c, uint64_t limit);
void arn_proof_state_free(arn_proof_state *s);

/* Each is false if there is no memory, or the budget of the case is spent. Changes of a dead state
 * do not matter. Rejecting no groups says nothing and changes nothing. */
bool arn_proof_place(arn_proof_state *s, uint32_t group);
bool arn_proof_reject(arn_proof_state *s, const uint32_t *groups, uint32_t n);
bool arn_proof_leave(arn_proof_state *s, uint32_t group);
void arn_proof_undo(arn_proof_state *s, uint32_t n_trail, bool dead);

/* Whether the open groups alive at `step`, or the ends of a conflict, do not fit. */
bool arn_proof_is_over(const arn_proof_state *s, int64_t step);
bool arn_proof_is_edge_over(const arn_proof_state *s, uint32_t conflict);

/* Symmetry: whether exchanging two open groups changes nothing. */
bool arn_proof_is_alike(const arn_proof_state *s, uint32_t a, uint32_t b);

/* Dominance: whether every placement possible now was possible under `lowest` and `state`. */
bool arn_proof_is_no_freer(const arn_proof_state *s, const uint64_t *lowest, const uint8_t *state);

#endif
