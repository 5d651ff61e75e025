/* shadow: a segment tree over cells, with assignments that trickle down when needed. */
#include "check/replay_shadow.h"

#include <string.h>

#include <arenaut/problem.h>

#define MIXED (UINT32_MAX - 2) /* inner nodes: the cells below have several owners */

static size_t node_count(const arn_shadow *s) { return (size_t)s->leaves * 2; }

bool arn_shadow_make(arn_shadow *s, const arenaut_allocator *allocator, uint32_t n_cells) {
    const arn_shadow_node blank = {ARN_NOBODY, 0, false};
    s->allocator = arn_allocator_or_default(allocator);
    s->n_cells = n_cells;
    s->work = 0;
    for (s->leaves = 1; s->leaves < n_cells;) s->leaves *= 2;
    s->nodes = arn_allocate(&s->allocator, node_count(s), sizeof *s->nodes);
    for (int i = 0; i < 2; i++) {
        s->met[i] = arn_allocate(&s->allocator, n_cells, sizeof **s->met);
        for (uint32_t c = 0; s->met[i] && c < n_cells; c++) s->met[i][c] = ARN_NOBODY;
    }
    for (size_t i = 0; s->nodes && i < node_count(s); i++) s->nodes[i] = blank;
    return s->nodes && s->met[0] && s->met[1];
}

void arn_shadow_free(arn_shadow *s) {
    arn_release(&s->allocator, s->nodes);
    arn_release(&s->allocator, s->met[0]);
    arn_release(&s->allocator, s->met[1]);
}

static void push(arn_shadow_node *nodes, uint32_t at) {
    if (!nodes[at].assigned) return;
    nodes[2 * at] = nodes[2 * at + 1] = nodes[at];
    nodes[at].assigned = false;
}

static void pull(arn_shadow_node *nodes, uint32_t at) {
    const arn_shadow_node *left = &nodes[2 * at], *right = &nodes[2 * at + 1];
    nodes[at].owner = left->owner == right->owner ? left->owner : MIXED;
    nodes[at].version = left->version > right->version ? left->version : right->version;
}

typedef struct span {
    uint32_t first, end;
} span;

/* `at` covers the cells [low, high). Depth is the logarithm of the number of cells. */
static void write_below(arn_shadow *s, uint32_t at, uint32_t low, uint32_t high, span range,
                        arn_shadow_node value) {
    s->work++;
    if (range.end <= low || high <= range.first) return;
    if (range.first <= low && high <= range.end) {
        s->nodes[at] = value;
        return;
    }
    push(s->nodes, at);
    const uint32_t middle = low + (high - low) / 2;
    write_below(s, 2 * at, low, middle, range, value);
    write_below(s, 2 * at + 1, middle, high, range, value);
    pull(s->nodes, at);
}

void arn_shadow_write(arn_shadow *s, uint32_t first, uint32_t end, uint32_t owner,
                      uint32_t version) {
    const arn_shadow_node value = {owner, version, true};
    write_below(s, 1, 0, s->leaves, (span){first, end}, value);
}

static uint32_t find_below(arn_shadow *s, uint32_t at, uint32_t low, uint32_t high, span range,
                           const arn_shadow_node *wanted) {
    const arn_shadow_node *node = &s->nodes[at];
    s->work++;
    if (range.end <= low || high <= range.first) return ARENAUT_NONE;
    if (node->owner == wanted->owner || node->version < wanted->version) return ARENAUT_NONE;
    if (node->assigned || at >= s->leaves) return low > range.first ? low : range.first;
    const uint32_t middle = low + (high - low) / 2;
    const uint32_t found = find_below(s, 2 * at, low, middle, range, wanted);
    return found != ARENAUT_NONE ? found : find_below(s, 2 * at + 1, middle, high, range, wanted);
}

uint32_t arn_shadow_find(arn_shadow *s, uint32_t first, uint32_t end, uint32_t owner,
                         uint32_t version) {
    const arn_shadow_node wanted = {owner, version, false};
    return find_below(s, 1, 0, s->leaves, (span){first, end}, &wanted);
}

/* Brings the leaves up to date, so that they can be gone through one by one. */
static void settle(arn_shadow *s, arn_shadow_node *nodes) {
    s->work += node_count(s);
    for (uint32_t at = 1; at < s->leaves; at++) push(nodes, at);
}

static void rebuild(arn_shadow *s, arn_shadow_node *nodes) {
    for (uint32_t at = s->leaves; at-- > 1;) pull(nodes, at);
}

uint32_t arn_shadow_owner(arn_shadow *s, uint32_t cell) {
    uint32_t at = 1, low = 0, high = s->leaves;
    while (at < s->leaves && !s->nodes[at].assigned) {
        const uint32_t middle = low + (high - low) / 2;
        at *= 2;
        if (cell < middle) {
            high = middle;
        } else {
            low = middle;
            at++;
        }
    }
    return s->nodes[at].owner;
}

void arn_shadow_retire(arn_shadow *s, const bool *keep) {
    settle(s, s->nodes);
    for (uint32_t c = 0; c < s->n_cells; c++) {
        uint32_t *owner = &s->nodes[s->leaves + c].owner;
        if (*owner == ARN_VARIES) *owner = ARN_NOBODY;
        if (*owner < ARN_OWNER_LIMIT && !keep[*owner]) *owner |= ARN_STALE;
    }
    rebuild(s, s->nodes);
}

arn_shadow_node *arn_shadow_save(arn_shadow *s) {
    arn_shadow_node *copy = arn_allocate(&s->allocator, node_count(s), sizeof *copy);
    if (copy) arn_shadow_copy(s, copy, s->nodes);
    return copy;
}

void arn_shadow_copy(arn_shadow *s, arn_shadow_node *to, const arn_shadow_node *from) {
    s->work += node_count(s);
    memcpy(to, from, node_count(s) * sizeof *to);
}

bool arn_shadow_meet(arn_shadow *s, arn_shadow_node *into, arn_shadow_node *from) {
    bool changed = false;
    settle(s, into);
    settle(s, from);
    for (uint32_t c = 0; c < s->n_cells; c++) {
        arn_shadow_node *a = &into[s->leaves + c];
        const arn_shadow_node *b = &from[s->leaves + c];
        if (a->owner == b->owner || a->owner == ARN_VARIES) continue;
        if (b->owner != ARN_VARIES) {
            s->met[0][c] = a->owner;
            s->met[1][c] = b->owner;
        }
        a->owner = ARN_VARIES;
        changed = true;
    }
    rebuild(s, into);
    return changed;
}
