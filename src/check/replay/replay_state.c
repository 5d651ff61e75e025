/* replay_state: saving, restoring and joining all that a replay knows at one moment. Where two
 * ways meet, a cell that holds different bytes on each varies, and an alias may point to all that
 * it points to on either. Each call costs O(cells + pairs of an alias and a pointee). */
#include <string.h>

#include "check/replay/replay_state.h"

bool arn_replay_state_save(arn_replay *r, arn_replay_state *state) {
    const uint32_t n = r->aliases.n_pairs;
    state->nodes = arn_replay_shadow_save(&r->shadow);
    state->known = arn_allocate(r->allocator, n, sizeof *state->known);
    if (!state->nodes || !state->known) {
        arn_replay_state_release(r, state);
        return false;
    }
    if (n) memcpy(state->known, r->aliases.known, n * sizeof *state->known);
    return true;
}

void arn_replay_state_release(arn_replay *r, arn_replay_state *state) {
    arn_release(r->allocator, state->nodes);
    arn_release(r->allocator, state->known);
    *state = (arn_replay_state){NULL, NULL};
}

arn_replay_state arn_replay_state_live(const arn_replay *r) {
    return (arn_replay_state){r->shadow.nodes, r->aliases.known};
}

void arn_replay_state_swap(arn_replay *r, arn_replay_state *other) {
    const arn_replay_state live = arn_replay_state_live(r);
    r->shadow.nodes = other->nodes;
    r->aliases.known = other->known;
    *other = live;
}

void arn_replay_state_copy(arn_replay *r, const arn_replay_state *to,
                           const arn_replay_state *from) {
    arn_replay_shadow_copy(&r->shadow, to->nodes, from->nodes);
    if (r->aliases.n_pairs) {
        memcpy(to->known, from->known, r->aliases.n_pairs * sizeof *to->known);
    }
}

/* An alias points to all that it points to on either way; memory broken on one way is broken. */
static bool aliases_meet(arn_replay *r, uint32_t *into, const uint32_t *from) {
    bool changed = false;
    r->shadow.work += r->aliases.n_pairs;
    for (uint32_t i = 0; i < r->aliases.n_pairs; i++) {
        const bool more = into[i] == ARN_ALIAS_ABSENT && from[i] != ARN_ALIAS_ABSENT;
        const bool worse = into[i] == ARN_ALIAS_INTACT && from[i] != ARN_ALIAS_INTACT &&
                           from[i] != ARN_ALIAS_ABSENT;
        if (!more && !worse) continue;
        into[i] = from[i];
        changed = true;
    }
    return changed;
}

bool arn_replay_state_meet(arn_replay *r, const arn_replay_state *into,
                           const arn_replay_state *from) {
    const bool cells = arn_replay_shadow_meet(&r->shadow, into->nodes, from->nodes);
    return aliases_meet(r, into->known, from->known) || cells;
}
