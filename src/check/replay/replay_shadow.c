/* replay_shadow: a segment tree over cells, with assignments that are pushed down when needed (lazy
 * propagation). A write or a look-up takes O(log cells); saving, restoring and joining whole
 * states take O(cells). */
#include "check/replay/replay_shadow.h"

#include <string.h>

#include <arenaut/problem.h>

#define MIXED (UINT32_MAX - 2) /* inner nodes: the cells below have several contents */

static size_t node_count(const arn_replay_shadow *s) { return (size_t)s->leaves * 2; }

bool arn_replay_shadow_make(arn_replay_shadow *s, const arenaut_allocator *allocator,
                            uint32_t n_cells) {
    const arn_replay_shadow_node blank = {ARN_SHADOW_UNWRITTEN, 0, false};
    s->allocator = arn_allocator_or_default(allocator);
    s->n_cells = n_cells;
    s->work = 0;
    for (s->leaves = 1; s->leaves < n_cells;) s->leaves *= 2;
    s->nodes = arn_allocate(&s->allocator, node_count(s), sizeof *s->nodes);
    for (int i = 0; i < 2; i++) {
        s->met[i] = arn_allocate(&s->allocator, n_cells, sizeof **s->met);
        for (uint32_t c = 0; s->met[i] && c < n_cells; c++) s->met[i][c] = ARN_SHADOW_UNWRITTEN;
    }
    for (size_t i = 0; s->nodes && i < node_count(s); i++) s->nodes[i] = blank;
    return s->nodes && s->met[0] && s->met[1];
}

void arn_replay_shadow_free(arn_replay_shadow *s) {
    arn_release(&s->allocator, s->nodes);
    arn_release(&s->allocator, s->met[0]);
    arn_release(&s->allocator, s->met[1]);
}

static void push(arn_replay_shadow_node *nodes, uint32_t at) {
    if (!nodes[at].assigned) return;
    nodes[2 * at] = nodes[2 * at + 1] = nodes[at];
    nodes[at].assigned = false;
}

static void pull(arn_replay_shadow_node *nodes, uint32_t at) {
    const arn_replay_shadow_node *left = &nodes[2 * at], *right = &nodes[2 * at + 1];
    nodes[at].content = left->content == right->content ? left->content : MIXED;
    nodes[at].version = left->version > right->version ? left->version : right->version;
}

typedef struct span {
    uint32_t first, end;
} span;

/* `at` covers the cells [low, high). Depth is the logarithm of the number of cells. */
static void write_below(arn_replay_shadow *s, uint32_t at, uint32_t low, uint32_t high, span range,
                        arn_replay_shadow_node value) {
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

void arn_replay_shadow_write(arn_replay_shadow *s, uint32_t first, uint32_t end, uint32_t content,
                             uint32_t version) {
    const arn_replay_shadow_node value = {content, version, true};
    write_below(s, 1, 0, s->leaves, (span){first, end}, value);
}

static uint32_t find_below(arn_replay_shadow *s, uint32_t at, uint32_t low, uint32_t high,
                           span range, const arn_replay_shadow_node *wanted) {
    const arn_replay_shadow_node *node = &s->nodes[at];
    s->work++;
    if (range.end <= low || high <= range.first || range.first == range.end) return ARENAUT_NONE;
    if (node->content == wanted->content || node->version < wanted->version) return ARENAUT_NONE;
    if (node->assigned || at >= s->leaves) return low > range.first ? low : range.first;
    const uint32_t middle = low + (high - low) / 2;
    const uint32_t found = find_below(s, 2 * at, low, middle, range, wanted);
    return found != ARENAUT_NONE ? found : find_below(s, 2 * at + 1, middle, high, range, wanted);
}

uint32_t arn_replay_shadow_find(arn_replay_shadow *s, uint32_t first, uint32_t end,
                                uint32_t content, uint32_t version) {
    const arn_replay_shadow_node wanted = {content, version, false};
    return find_below(s, 1, 0, s->leaves, (span){first, end}, &wanted);
}

/* Brings the leaves up to date, so that they can be gone through one by one. */
static void settle(arn_replay_shadow *s, arn_replay_shadow_node *nodes) {
    s->work += node_count(s);
    for (uint32_t at = 1; at < s->leaves; at++) push(nodes, at);
}

static void rebuild(arn_replay_shadow *s, arn_replay_shadow_node *nodes) {
    for (uint32_t at = s->leaves; at-- > 1;) pull(nodes, at);
}

uint32_t arn_replay_shadow_content(arn_replay_shadow *s, uint32_t cell) {
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
    return s->nodes[at].content;
}

void arn_replay_shadow_retire(arn_replay_shadow *s, const bool *keep) {
    settle(s, s->nodes);
    for (uint32_t c = 0; c < s->n_cells; c++) {
        uint32_t *content = &s->nodes[s->leaves + c].content;
        if (*content == ARN_SHADOW_VARIES) *content = ARN_SHADOW_UNWRITTEN;
        if (*content < ARN_SHADOW_LIMIT && !keep[*content]) *content |= ARN_SHADOW_STALE;
    }
    rebuild(s, s->nodes);
}

arn_replay_shadow_node *arn_replay_shadow_save(arn_replay_shadow *s) {
    arn_replay_shadow_node *copy = arn_allocate(&s->allocator, node_count(s), sizeof *copy);
    if (copy) arn_replay_shadow_copy(s, copy, s->nodes);
    return copy;
}

void arn_replay_shadow_copy(arn_replay_shadow *s, arn_replay_shadow_node *to,
                            const arn_replay_shadow_node *from) {
    s->work += node_count(s);
    memcpy(to, from, node_count(s) * sizeof *to);
}

bool arn_replay_shadow_meet(arn_replay_shadow *s, arn_replay_shadow_node *into,
                            arn_replay_shadow_node *from) {
    bool changed = false;
    settle(s, into);
    settle(s, from);
    for (uint32_t c = 0; c < s->n_cells; c++) {
        arn_replay_shadow_node *a = &into[s->leaves + c];
        const arn_replay_shadow_node *b = &from[s->leaves + c];
        if (a->content == b->content || a->content == ARN_SHADOW_VARIES) continue;
        if (b->content != ARN_SHADOW_VARIES) {
            s->met[0][c] = a->content;
            s->met[1][c] = b->content;
        }
        a->content = ARN_SHADOW_VARIES;
        changed = true;
    }
    rebuild(s, into);
    return changed;
}
