/* names: makes the pairs, and keeps what is known of them while a replay goes on. */
#include "check/replay_aliases.h"

#include <inttypes.h>
#include <string.h>

#include "check/replay.h"
#include "core/fail.h"
#include "core/sort.h"

/* Pairs, and moves looked at while they are made. No honest program comes near it. */
enum { MAX_WORK = 1 << 24 };

/* The moves of a program by destination, and a search among them. */
typedef struct search {
    const arenaut_program *program;
    uint32_t *moves, n_moves; /* ops */
    uint32_t *first;          /* n_names + 1: in `moves` */
    uint32_t *seen;           /* per tensor: the last name for which it was come across */
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
static bool number_names(arn_replay *r, arn_region *region, search *s) {
    const arenaut_program *p = r->program;
    arn_names *names = &r->names;
    s->moves = arn_region_allocate(region, s->n_moves, 2 * sizeof *s->moves);
    s->first = arn_region_allocate(region, (size_t)s->n_moves + 1, sizeof *s->first);
    s->seen = arn_region_allocate(region, p->n_tensors, sizeof *s->seen);
    s->found = arn_region_allocate(region, p->n_tensors, 2 * sizeof *s->found);
    names->name = arn_region_allocate(region, p->n_tensors, sizeof *names->name);
    if (!s->moves || !s->first || !s->seen || !s->found || !names->name) return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (p->ops[i].kind == ARENAUT_OP_MOVE) s->moves[n++] = i;
    }
    arn_sort_ids(s->moves, n, by_destination, p->ops, s->moves + n);
    for (uint32_t t = 0; t < p->n_tensors; t++) names->name[t] = s->seen[t] = ARENAUT_NONE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *name = &names->name[p->ops[s->moves[i]].outputs[0]];
        if (*name != ARENAUT_NONE) continue;
        *name = names->n_names++;
        s->first[*name] = i;
    }
    s->first[names->n_names] = n;
    return true;
}

/* All tensors that `tensor` may come to stand for: found[0 .. result), itself first. Goes
 * through names that are moved on to it, which found[] holds behind the tensors' own. */
static uint32_t find_roots(const arn_names *names, search *s, uint32_t tensor) {
    const uint32_t name = names->name[tensor], n_tensors = s->program->n_tensors;
    uint32_t *queue = s->found + n_tensors;
    uint32_t n = 0, n_queued = 0;
    s->found[n++] = queue[n_queued++] = tensor;
    s->seen[tensor] = name;
    for (uint32_t i = 0; i < n_queued && s->work < MAX_WORK; i++) {
        const uint32_t from = names->name[queue[i]];
        for (uint32_t m = s->first[from]; m < s->first[from + 1]; m++) {
            const uint32_t source = source_of(s, m);
            s->work++;
            if (s->seen[source] == name) continue;
            s->seen[source] = name;
            s->found[n++] = source;
            if (names->name[source] != ARENAUT_NONE) queue[n_queued++] = source;
        }
    }
    s->work += n;
    return n;
}

static bool make_pairs(arn_replay *r, arn_region *region, search *s) {
    const arenaut_program *p = r->program;
    arn_names *names = &r->names;
    uint32_t capacity = 0;
    names->start = arn_region_allocate(region, (size_t)names->n_names + 1, sizeof *names->start);
    if (!names->start) return false;
    bool room = true;
    for (uint32_t k = 0; k < names->n_names && room && s->work < MAX_WORK; k++) {
        const uint32_t tensor = p->ops[s->moves[s->first[k]]].outputs[0];
        const uint32_t n = find_roots(names, s, tensor);
        names->start[k] = names->n_pairs;
        room = arn_grow(r->allocator, (void **)&names->root, &capacity,
                        (uint64_t)names->n_pairs + n, sizeof *names->root);
        if (!room) break;
        arn_sort_ids(s->found + 1, n - 1, by_number, NULL, s->found + p->n_tensors);
        memcpy(names->root + names->n_pairs, s->found, n * sizeof *s->found);
        names->n_pairs += n;
    }
    names->start[names->n_names] = names->n_pairs;
    names->known = arn_allocate(r->allocator, names->n_pairs, sizeof *names->known);
    return room && names->known;
}

arenaut_status arn_names_make(arn_replay *r, arn_region *region) {
    search s = {.program = r->program};
    for (uint32_t i = 0; i < r->program->n_ops; i++) {
        s.n_moves += r->program->ops[i].kind == ARENAUT_OP_MOVE;
    }
    if (s.n_moves == 0) return ARENAUT_OK;
    if (!number_names(r, region, &s) || !make_pairs(r, region, &s)) return arn_no_memory(r->err);
    if (s.work < MAX_WORK) return ARENAUT_OK;
    return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                    "%" PRIu32 " moves chain into too many names to be replayed; the limit is %d",
                    s.n_moves, MAX_WORK);
}

void arn_names_free(arn_replay *r) {
    arn_release(r->allocator, r->names.root);
    arn_release(r->allocator, r->names.known);
}

static bool is_name(const arn_replay *r, uint32_t tensor) {
    return r->names.name && r->names.name[tensor] != ARENAUT_NONE;
}

bool arn_is_moved(const arn_replay *r, uint32_t tensor) { return is_name(r, tensor); }

uint32_t arn_root_count(const arn_replay *r, uint32_t tensor) {
    if (!is_name(r, tensor)) return 1;
    const uint32_t *start = r->names.start + r->names.name[tensor];
    return start[1] - start[0];
}

uint32_t arn_root_at(const arn_replay *r, uint32_t tensor, uint32_t i, uint32_t *known) {
    *known = ARN_NAME_INTACT;
    if (!is_name(r, tensor)) return tensor;
    const uint32_t pair = r->names.start[r->names.name[tensor]] + i;
    *known = r->names.known[pair];
    return *known == ARN_NAME_ABSENT ? ARENAUT_NONE : r->names.root[pair];
}

uint32_t arn_sole_root(const arn_replay *r, uint32_t tensor) {
    uint32_t sole = ARENAUT_NONE, known;
    for (uint32_t i = 0; i < arn_root_count(r, tensor); i++) {
        const uint32_t root = arn_root_at(r, tensor, i, &known);
        if (root == ARENAUT_NONE) continue;
        if (sole != ARENAUT_NONE) return ARENAUT_NONE;
        sole = root;
    }
    return sole;
}

/* Whether the tensor's memory holds its own bytes at present. */
static uint32_t look_at(arn_replay *r, uint32_t tensor) {
    const arn_place *place = &r->places.place[tensor];
    /* What lies wrong is found when it is read. */
    if (place->left_alone || place->broken != ARENAUT_RULE_NONE) return ARN_NAME_INTACT;
    const uint32_t cell =
        arn_shadow_find(&r->shadow, place->first, place->end, r->places.owner[tensor], 0);
    return cell == ARENAUT_NONE ? ARN_NAME_INTACT : arn_shadow_owner(&r->shadow, cell);
}

void arn_names_begin(arn_replay *r) {
    const arn_names *names = &r->names;
    for (uint32_t k = 0; k < names->n_names; k++) {
        const uint32_t own = names->start[k];
        for (uint32_t i = own + 1; i < names->start[k + 1]; i++) names->known[i] = ARN_NAME_ABSENT;
        names->known[own] = look_at(r, names->root[own]);
    }
}

void arn_names_written(arn_replay *r, uint32_t tensor) {
    const arn_place *wrote = &r->places.place[tensor];
    const uint32_t owner = r->places.owner[tensor];
    r->shadow.work += r->names.n_pairs;
    for (uint32_t i = 0; i < r->names.n_pairs; i++) {
        const uint32_t root = r->names.root[i];
        const arn_place *place = &r->places.place[root];
        uint32_t *known = &r->names.known[i];
        if (*known == ARN_NAME_ABSENT || place->left_alone) continue;
        if (place->end <= wrote->first || wrote->end <= place->first) continue;
        if (r->places.owner[root] == owner) *known = look_at(r, root);
        else if (*known == ARN_NAME_INTACT) *known = owner;
    }
}

/* The pair of this name with that tensor, which is one of its roots. */
static uint32_t pair_of(const arn_names *names, uint32_t name, uint32_t root) {
    uint32_t low = names->start[name] + 1, high = names->start[name + 1];
    if (names->root[low - 1] == root) return low - 1;
    while (low + 1 < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (names->root[middle] <= root) low = middle;
        else high = middle;
    }
    return low;
}

void arn_names_move(arn_replay *r, const arenaut_op *op) {
    const arn_names *names = &r->names;
    const uint32_t from = op->inputs[0], to = op->outputs[0], name = names->name[to];
    uint32_t known;
    if (from == to) return;
    r->shadow.work += (uint64_t)arn_root_count(r, from) + arn_root_count(r, to);
    for (uint32_t i = names->start[name]; i < names->start[name + 1]; i++) {
        names->known[i] = ARN_NAME_ABSENT;
    }
    for (uint32_t i = 0; i < arn_root_count(r, from); i++) {
        const uint32_t root = arn_root_at(r, from, i, &known);
        if (root == ARENAUT_NONE) continue;
        names->known[pair_of(names, name, root)] = is_name(r, from) ? known : look_at(r, root);
    }
}

void arn_names_rewritten(arn_replay *r, uint32_t tensor) {
    const arn_names *names = &r->names;
    const uint32_t name = names->name[tensor];
    for (uint32_t i = names->start[name]; i < names->start[name + 1]; i++) {
        if (names->known[i] != ARN_NAME_ABSENT) names->known[i] = ARN_NAME_INTACT;
    }
}
