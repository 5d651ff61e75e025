/* state: saving, restoring and joining all that a replay knows at one moment. */
#include <string.h>

#include "check/replay.h"

bool arn_state_save(arn_replay *r, arn_state *state) {
    const uint32_t n = r->names.n_pairs;
    state->nodes = arn_shadow_save(&r->shadow);
    state->known = arn_allocate(r->allocator, n, sizeof *state->known);
    if (!state->nodes || !state->known) {
        arn_state_release(r, state);
        return false;
    }
    if (n) memcpy(state->known, r->names.known, n * sizeof *state->known);
    return true;
}

void arn_state_release(arn_replay *r, arn_state *state) {
    arn_release(r->allocator, state->nodes);
    arn_release(r->allocator, state->known);
    *state = (arn_state){NULL, NULL};
}

arn_state arn_state_live(const arn_replay *r) {
    return (arn_state){r->shadow.nodes, r->names.known};
}

void arn_state_swap(arn_replay *r, arn_state *other) {
    const arn_state live = arn_state_live(r);
    r->shadow.nodes = other->nodes;
    r->names.known = other->known;
    *other = live;
}

void arn_state_copy(arn_replay *r, const arn_state *to, const arn_state *from) {
    arn_shadow_copy(&r->shadow, to->nodes, from->nodes);
    if (r->names.n_pairs) {
        memcpy(to->known, from->known, r->names.n_pairs * sizeof *to->known);
    }
}

/* A name stands for all that it stands for on either way, broken if it is on one. */
static bool names_meet(arn_replay *r, uint32_t *into, const uint32_t *from) {
    bool changed = false;
    r->shadow.work += r->names.n_pairs;
    for (uint32_t i = 0; i < r->names.n_pairs; i++) {
        const bool more = into[i] == ARN_NAME_ABSENT && from[i] != ARN_NAME_ABSENT;
        const bool worse =
            into[i] == ARN_NAME_INTACT && from[i] != ARN_NAME_INTACT && from[i] != ARN_NAME_ABSENT;
        if (!more && !worse) continue;
        into[i] = from[i];
        changed = true;
    }
    return changed;
}

bool arn_state_meet(arn_replay *r, const arn_state *into, const arn_state *from) {
    const bool cells = arn_shadow_meet(&r->shadow, into->nodes, from->nodes);
    return names_meet(r, into->known, from->known) || cells;
}
