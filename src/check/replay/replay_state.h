/* All that a replay knows at one moment: what each byte holds, and what aliases point to. */
#ifndef ARN_CHECK_REPLAY_STATE_H
#define ARN_CHECK_REPLAY_STATE_H

#include "check/replay/replay.h"

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
/* Two ways meet; whether `into` has changed. */
bool arn_replay_state_meet(arn_replay *r, const arn_replay_state *into,
                           const arn_replay_state *from);

#endif
