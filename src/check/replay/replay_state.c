/* replay_state: shadow memory as a segment tree over cells, with assignments that are pushed down
 * when needed (lazy propagation); may-point-to sets as a fixed list of pairs, the transitive
 * closure of the moves by destination; and the join of whole states at control-flow merges.
 *
 * A write or a look-up takes O(log cells); saving, restoring and joining states take O(cells +
 * pairs). The list of pairs costs O(aliases * moves) at worst and is refused past MAX_WORK; a write
 * then looks at all pairs, a move at those of its destination. */
#include "check/replay/replay_state.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/problem.h>

#include "check/replay/replay.h"
#include "core/fail.h"
#include "core/sort.h"

/* ---- shadow memory ---- */

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
    ARN_RELEASE(&s->allocator, s->nodes, s->met[0], s->met[1]);
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

/* ---- aliases ---- */

/* Pairs, and moves looked at while they are listed. Real programs stay far below. */
enum { MAX_WORK = 1 << 24 };

/* The moves of a program by destination, and a search among them. */
typedef struct search {
    const arenaut_program *program;
    uint32_t *moves, n_moves; /* ops */
    uint32_t *first;          /* n_aliases + 1: in `moves` */
    uint32_t *seen;           /* per tensor: the last alias for which it was found */
    uint32_t *found;          /* tensors */
    uint64_t work;
} search;

static uint32_t source_of(const search *s, uint32_t move) {
    return s->program->ops[s->moves[move]].inputs[0];
}

static bool by_destination(const void *context, uint32_t a, uint32_t b) {
    const arenaut_op *ops = context;
    return ops[a].outputs[0] < ops[b].outputs[0];
}

static bool by_number(const void *context, uint32_t a, uint32_t b) {
    (void)context;
    return a < b;
}

/* Numbers the destinations in the order of their tensors. */
static bool number_aliases(arn_replay *r, arn_region *region, search *s) {
    const arenaut_program *p = r->program;
    arn_replay_aliases *aliases = &r->aliases;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(s->moves, 2 * (size_t)s->n_moves),
                           ARN_ARRAY(s->first, (size_t)s->n_moves + 1),
                           ARN_ARRAY(s->seen, p->n_tensors),
                           ARN_ARRAY(s->found, 2 * (size_t)p->n_tensors),
                           ARN_ARRAY(aliases->number, p->n_tensors))) {
        return false;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (p->ops[i].kind == ARENAUT_OP_MOVE) s->moves[n++] = i;
    }
    arn_sort_ids(s->moves, n, by_destination, p->ops, s->moves + n);
    for (uint32_t t = 0; t < p->n_tensors; t++) aliases->number[t] = s->seen[t] = ARENAUT_NONE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *alias = &aliases->number[p->ops[s->moves[i]].outputs[0]];
        if (*alias != ARENAUT_NONE) continue;
        *alias = aliases->n_aliases++;
        s->first[*alias] = i;
    }
    s->first[aliases->n_aliases] = n;
    return true;
}

/* All tensors that alias `tensor` may ever point to: found[0 .. result), itself first. A source may
 * be an alias in turn; such are queued in the second half of found[]. */
static uint32_t find_pointees(const arn_replay_aliases *aliases, search *s, uint32_t tensor) {
    const uint32_t alias = aliases->number[tensor], n_tensors = s->program->n_tensors;
    uint32_t *queue = s->found + n_tensors;
    uint32_t n = 0, n_queued = 0;
    s->found[n++] = queue[n_queued++] = tensor;
    s->seen[tensor] = alias;
    for (uint32_t i = 0; i < n_queued && s->work < MAX_WORK; i++) {
        const uint32_t from = aliases->number[queue[i]];
        for (uint32_t m = s->first[from]; m < s->first[from + 1]; m++) {
            const uint32_t source = source_of(s, m);
            s->work++;
            if (s->seen[source] == alias) continue;
            s->seen[source] = alias;
            s->found[n++] = source;
            if (aliases->number[source] != ARENAUT_NONE) queue[n_queued++] = source;
        }
    }
    s->work += n;
    return n;
}

static bool make_pairs(arn_replay *r, arn_region *region, search *s) {
    const arenaut_program *p = r->program;
    arn_replay_aliases *aliases = &r->aliases;
    uint32_t capacity = 0;
    aliases->start =
        arn_region_allocate(region, (size_t)aliases->n_aliases + 1, sizeof *aliases->start);
    if (!aliases->start) return false;
    bool room = true;
    for (uint32_t k = 0; k < aliases->n_aliases && room && s->work < MAX_WORK; k++) {
        const uint32_t tensor = p->ops[s->moves[s->first[k]]].outputs[0];
        const uint32_t n = find_pointees(aliases, s, tensor);
        aliases->start[k] = aliases->n_pairs;
        room = arn_grow(r->allocator, (void **)&aliases->pointee, &capacity,
                        (uint64_t)aliases->n_pairs + n, sizeof *aliases->pointee);
        if (!room) break;
        arn_sort_ids(s->found + 1, n - 1, by_number, NULL, s->found + p->n_tensors);
        memcpy(aliases->pointee + aliases->n_pairs, s->found, n * sizeof *s->found);
        aliases->n_pairs += n;
    }
    aliases->start[aliases->n_aliases] = aliases->n_pairs;
    aliases->known = arn_allocate(r->allocator, aliases->n_pairs, sizeof *aliases->known);
    return room && aliases->known;
}

arenaut_status arn_replay_aliases_make(arn_replay *r, arn_region *region) {
    search s = {.program = r->program};
    for (uint32_t i = 0; i < r->program->n_ops; i++) {
        s.n_moves += r->program->ops[i].kind == ARENAUT_OP_MOVE;
    }
    if (s.n_moves == 0) return ARENAUT_OK;
    if (!number_aliases(r, region, &s) || !make_pairs(r, region, &s)) return arn_no_memory(r->err);
    if (s.work < MAX_WORK) return ARENAUT_OK;
    return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                    "%" PRIu32 " moves chain into too many names to be replayed; the limit is %d",
                    s.n_moves, MAX_WORK);
}

void arn_replay_aliases_free(arn_replay *r) {
    ARN_RELEASE(r->allocator, r->aliases.pointee, r->aliases.known);
}

bool arn_replay_is_alias(const arn_replay *r, uint32_t tensor) {
    return r->aliases.number && r->aliases.number[tensor] != ARENAUT_NONE;
}

uint32_t arn_replay_pointee_count(const arn_replay *r, uint32_t tensor) {
    if (!arn_replay_is_alias(r, tensor)) return 1;
    const uint32_t *start = r->aliases.start + r->aliases.number[tensor];
    return start[1] - start[0];
}

uint32_t arn_replay_pointee_at(const arn_replay *r, uint32_t tensor, uint32_t i, uint32_t *known) {
    *known = ARN_ALIAS_INTACT;
    if (!arn_replay_is_alias(r, tensor)) return tensor;
    const uint32_t pair = r->aliases.start[r->aliases.number[tensor]] + i;
    *known = r->aliases.known[pair];
    return *known == ARN_ALIAS_ABSENT ? ARENAUT_NONE : r->aliases.pointee[pair];
}

uint32_t arn_replay_sole_pointee(const arn_replay *r, uint32_t tensor) {
    uint32_t sole = ARENAUT_NONE, known;
    for (uint32_t i = 0; i < arn_replay_pointee_count(r, tensor); i++) {
        const uint32_t pointee = arn_replay_pointee_at(r, tensor, i, &known);
        if (pointee == ARENAUT_NONE) continue;
        if (sole != ARENAUT_NONE) return ARENAUT_NONE;
        sole = pointee;
    }
    return sole;
}

/* INTACT if the tensor's memory holds its own bytes at present, else its content. */
static uint32_t look_at(arn_replay *r, uint32_t tensor) {
    const arn_replay_place *place = &r->places.place[tensor];
    /* A wrong place is found when the tensor is read. */
    if (place->left_alone || place->broken != ARENAUT_RULE_NONE) return ARN_ALIAS_INTACT;
    const uint32_t cell =
        arn_replay_shadow_find(&r->shadow, place->first, place->end, r->places.storage[tensor], 0);
    return cell == ARENAUT_NONE ? ARN_ALIAS_INTACT : arn_replay_shadow_content(&r->shadow, cell);
}

void arn_replay_aliases_begin(arn_replay *r) {
    const arn_replay_aliases *aliases = &r->aliases;
    for (uint32_t k = 0; k < aliases->n_aliases; k++) {
        const uint32_t own = aliases->start[k];
        for (uint32_t i = own + 1; i < aliases->start[k + 1]; i++)
            aliases->known[i] = ARN_ALIAS_ABSENT;
        aliases->known[own] = look_at(r, aliases->pointee[own]);
    }
}

void arn_replay_aliases_written(arn_replay *r, uint32_t tensor) {
    const arn_replay_place *wrote = &r->places.place[tensor];
    const uint32_t storage = r->places.storage[tensor];
    r->shadow.work += r->aliases.n_pairs;
    for (uint32_t i = 0; i < r->aliases.n_pairs; i++) {
        const uint32_t pointee = r->aliases.pointee[i];
        const arn_replay_place *place = &r->places.place[pointee];
        uint32_t *known = &r->aliases.known[i];
        if (*known == ARN_ALIAS_ABSENT || place->left_alone) continue;
        if (place->end <= wrote->first || wrote->end <= place->first) continue;
        if (r->places.storage[pointee] == storage) *known = look_at(r, pointee);
        else if (*known == ARN_ALIAS_INTACT) *known = storage;
    }
}

/* The pair of this alias with that tensor, which is one of its pointees. */
static uint32_t pair_of(const arn_replay_aliases *aliases, uint32_t alias, uint32_t pointee) {
    uint32_t low = aliases->start[alias] + 1, high = aliases->start[alias + 1];
    if (aliases->pointee[low - 1] == pointee) return low - 1;
    while (low + 1 < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (aliases->pointee[middle] <= pointee) low = middle;
        else high = middle;
    }
    return low;
}

void arn_replay_aliases_move(arn_replay *r, const arenaut_op *op) {
    const arn_replay_aliases *aliases = &r->aliases;
    const uint32_t from = op->inputs[0], to = op->outputs[0], alias = aliases->number[to];
    uint32_t known;
    if (from == to) return;
    r->shadow.work += (uint64_t)arn_replay_pointee_count(r, from) + arn_replay_pointee_count(r, to);
    for (uint32_t i = aliases->start[alias]; i < aliases->start[alias + 1]; i++) {
        aliases->known[i] = ARN_ALIAS_ABSENT;
    }
    for (uint32_t i = 0; i < arn_replay_pointee_count(r, from); i++) {
        const uint32_t pointee = arn_replay_pointee_at(r, from, i, &known);
        if (pointee == ARENAUT_NONE) continue;
        aliases->known[pair_of(aliases, alias, pointee)] =
            arn_replay_is_alias(r, from) ? known : look_at(r, pointee);
    }
}

void arn_replay_aliases_rewritten(arn_replay *r, uint32_t tensor) {
    const arn_replay_aliases *aliases = &r->aliases;
    const uint32_t alias = aliases->number[tensor];
    for (uint32_t i = aliases->start[alias]; i < aliases->start[alias + 1]; i++) {
        if (aliases->known[i] != ARN_ALIAS_ABSENT) aliases->known[i] = ARN_ALIAS_INTACT;
    }
}

/* ---- states ---- */

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
    ARN_RELEASE(r->allocator, state->nodes, state->known);
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

/* Union of the pointees on either path; memory overwritten on one path is overwritten. */
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
