/* What lives through names. A move makes its destination another name of its source's
 * memory, which so stays alive where the name is, on the ways from that move only. Two
 * sides of a branch that move to one name are both alive after it, although no run has
 * both: where nothing else keeps them apart, they become one storage. */
#include "core/checked.h"
#include "core/fail.h"
#include "passes/lower/flow.h"

uint32_t arn_first_move(const arn_flow *flow, uint32_t tensor) {
    uint32_t low = 0, high = flow->n_moves;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (arn_destination(flow, middle) < tensor) low = middle + 1;
        else high = middle;
    }
    return low < flow->n_moves && arn_destination(flow, low) == tensor ? low : flow->n_moves;
}

static uint32_t source_of(const arn_flow *flow, uint32_t move) {
    return flow->lower->program->ops[flow->moves[move]].inputs[0];
}

/* Marks the destination of `move` as one to go through, unless it is. */
static void enqueue(const arn_flow *flow, bool *queued, uint32_t *queue, uint32_t *n,
                    uint32_t move) {
    if (move == flow->n_moves || queued[move]) return;
    queued[move] = true;
    queue[(*n)++] = move;
}

void arn_flow_roots(arn_flow *flow, uint32_t tensor,
                    void (*visit)(arn_flow *flow, void *context, uint32_t storage), void *context) {
    const arn_storage *storage = &flow->lower->storage;
    const uint32_t first = arn_first_move(flow, tensor);
    if (first == flow->n_moves) {
        visit(flow, context, storage->of[tensor]);
        return;
    }
    /* Through names that were moved on, each once: by the first move to it. */
    uint32_t n = 0;
    bool *queued = arn_allocate_zeroed(&flow->lower->allocator, flow->n_moves, sizeof *queued);
    uint32_t *queue = arn_allocate(&flow->lower->allocator, flow->n_moves, sizeof *queue);
    if (!queued || !queue) flow->status = arn_no_memory(flow->lower->err);
    else enqueue(flow, queued, queue, &n, first);
    arn_flow_work(flow, flow->n_moves);
    for (uint32_t i = 0; i < n && flow->status == ARENAUT_OK; i++) {
        const uint32_t name = arn_destination(flow, queue[i]);
        if (flow->own_memory[queue[i]]) visit(flow, context, storage->of[name]);
        for (uint32_t m = queue[i]; m < flow->n_moves && arn_destination(flow, m) == name; m++) {
            const uint32_t next = arn_first_move(flow, source_of(flow, m));
            if (next == flow->n_moves) visit(flow, context, storage->of[source_of(flow, m)]);
            else enqueue(flow, queued, queue, &n, next);
        }
    }
    arn_release(&flow->lower->allocator, queued);
    arn_release(&flow->lower->allocator, queue);
}

/* ---- where a name is alive after a move to it ---- */

typedef struct stretch {
    uint32_t first, end;
} stretch;

static void add_stretch(arn_flow *flow, void *context, uint32_t storage) {
    const stretch *at = context;
    const uint8_t facts = flow->lower->storage.facts[storage];
    if (facts & (ARN_NO_BUFFER | ARN_ALWAYS_ALIVE)) return;
    arn_flow_add(flow, storage, at->first, at->end, true);
}

/* What the ways from a move go through. */
typedef struct spread {
    uint32_t source;
    uint32_t end;  /* of the name's events */
    uint32_t pass; /* marks the blocks that were come through */
    uint32_t depth;
} spread;

/* From position `first` in `block`, whose events from there on begin with `event`: as far
 * as the name is read before something else is moved to it. */
static void spread_within(arn_flow *flow, spread *s, uint32_t block, uint32_t first,
                          uint32_t event) {
    const arn_blocks *blocks = &flow->blocks;
    stretch at = {first, first};
    bool replaced = false;
    for (uint32_t i = event; i < s->end && !replaced; i++) {
        if (blocks->of[flow->events[i].position] != block) break;
        replaced = flow->events[i].writes;
        if (!replaced) at.end = flow->events[i].position + 1;
    }
    const bool leaves = !replaced && flow->live_out[block] == flow->turn;
    if (leaves) at.end = blocks->first[block + 1];
    if (at.end > at.first) arn_flow_roots(flow, s->source, add_stretch, &at);
    for (int i = 0; i < 2 && leaves; i++) {
        const uint32_t next = blocks->next[2 * block + i];
        if (next == ARENAUT_NONE || next == blocks->n || flow->passed[next] == s->pass) continue;
        const bool has_events = flow->has_events[next] == flow->turn;
        if (has_events ? flow->events[flow->first_event[next]].writes
                       : flow->live_out[next] != flow->turn) {
            continue;
        }
        flow->passed[next] = s->pass;
        flow->stack[s->depth++] = next;
    }
}

/* The blocks that follow one another are entered at their first position. */
static void spread_from(arn_flow *flow, uint32_t source, uint32_t event, uint32_t end,
                        uint32_t pass) {
    spread s = {source, end, pass, 0};
    const uint32_t position = flow->events[event].position;
    spread_within(flow, &s, flow->blocks.of[position], position, event + 1);
    while (s.depth > 0 && arn_flow_work(flow, 1)) {
        const uint32_t block = flow->stack[--s.depth];
        const bool has_events = flow->has_events[block] == flow->turn;
        spread_within(flow, &s, block, flow->blocks.first[block],
                      has_events ? flow->first_event[block] : end);
    }
}

void arn_flow_name(arn_flow *flow, uint32_t begin, uint32_t end) {
    const arenaut_program *p = flow->lower->program;
    for (uint32_t i = begin; i < end && flow->status == ARENAUT_OK; i++) {
        if (!flow->events[i].writes) continue;
        const uint32_t move = flow->method->first_op + flow->events[i].position - 1;
        spread_from(flow, p->ops[move].inputs[0], i, end, i + 1);
    }
}

/* ---- storages that become one ---- */

/* The storages that a name may stand for. */
typedef struct unite {
    uint32_t *roots, n, capacity;
} unite;

static void add_root(arn_flow *flow, void *context, uint32_t storage) {
    unite *u = context;
    if (!arn_grow(&flow->lower->allocator, (void **)&u->roots, &u->capacity, (uint64_t)u->n + 1,
                  sizeof *u->roots)) {
        flow->status = arn_no_memory(flow->lower->err);
        return;
    }
    u->roots[u->n++] = storage;
}

/* The first piece of the storage; the others follow. */
static uint32_t pieces_of(const arn_flow *flow, uint32_t storage) {
    uint32_t low = 0, high = flow->n_pieces;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (flow->pieces[middle].storage < storage) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Whether storage `a` is never in use, by itself, while `b` is alive. */
static bool keeps_clear(arn_flow *flow, uint32_t a, uint32_t b) {
    uint32_t i = pieces_of(flow, a), k = pieces_of(flow, b);
    uint32_t end = 0; /* b is alive from pieces[k].first to here, or before */
    for (; i < flow->n_pieces && flow->pieces[i].storage == a; i++) {
        const arn_piece *piece = &flow->pieces[i];
        if (piece->moved) continue;
        for (; k < flow->n_pieces && flow->pieces[k].storage == b; k++) {
            if (flow->pieces[k].first >= piece->end) break;
            if (flow->pieces[k].end > end) end = flow->pieces[k].end;
        }
        if (end > piece->first || !arn_flow_work(flow, 1)) return false;
    }
    return true;
}

static bool may_be_one(arn_flow *flow, uint32_t a, uint32_t b) {
    const arenaut_tensor *ta = &flow->lower->program->tensors[a];
    const arenaut_tensor *tb = &flow->lower->program->tensors[b];
    const uint8_t facts = flow->lower->storage.facts[a] | flow->lower->storage.facts[b];
    if (facts & (ARN_NO_BUFFER | ARN_ALWAYS_ALIVE)) return false;
    if (ta->method != flow->number || tb->method != flow->number) return false;
    if (ta->bytes != tb->bytes || ta->given_pool != tb->given_pool) return false;
    if (ta->device.type != tb->device.type || ta->device.index != tb->device.index) return false;
    return keeps_clear(flow, a, b) && keeps_clear(flow, b, a);
}

/* Lets the rings of `a` and `b` be one, if each of the one goes with each of the other. */
static void try_unite(arn_flow *flow, uint32_t *ring, uint32_t a, uint32_t b) {
    uint32_t x = a;
    do {
        uint32_t y = b;
        do {
            if (x == y || !arn_flow_work(flow, 1) || !may_be_one(flow, x, y)) return;
            y = ring[y];
        } while (y != b);
        x = ring[x];
    } while (x != a);
    const uint32_t next = ring[a];
    ring[a] = ring[b];
    ring[b] = next;
}

/* The lowest of each ring stands for it. */
static void settle(arn_flow *flow, const uint32_t *ring) {
    arn_storage *storage = &flow->lower->storage;
    uint32_t *into = flow->lower->into;
    for (uint32_t i = 0; i < flow->n_pieces; i++) {
        const uint32_t s = flow->pieces[i].storage;
        uint32_t lowest = s;
        for (uint32_t x = ring[s]; x != s && arn_flow_work(flow, 1); x = ring[x]) {
            if (x < lowest) lowest = x;
        }
        flow->pieces[i].storage = lowest;
        if (lowest == s || into[s] == lowest) continue;
        into[s] = lowest;
        storage->facts[lowest] |= storage->facts[s];
        storage->align[lowest] = arn_max_u64(storage->align[lowest], storage->align[s]);
    }
}

static void mark(arn_flow *flow, void *context, uint32_t storage) {
    flow->lower->storage.facts[storage] |= *(uint8_t *)context;
}

static bool make_rings(arn_lower *lower) {
    const uint32_t n = lower->program->n_tensors;
    if (lower->into) return true;
    lower->into = arn_region_allocate(&lower->scratch, n, sizeof *lower->into);
    lower->ring = arn_region_allocate(&lower->scratch, n, sizeof *lower->ring);
    for (uint32_t t = 0; lower->into && lower->ring && t < n; t++) {
        lower->into[t] = lower->ring[t] = t;
    }
    return lower->into && lower->ring;
}

void arn_flow_unite(arn_flow *flow) {
    arn_lower *lower = flow->lower;
    unite u = {NULL, 0, 0};
    if (!make_rings(lower)) flow->status = arn_no_memory(lower->err);
    uint8_t named = ARN_NAMED, result = ARN_RESULT | ARN_ENTRY_OUTPUT;
    for (uint32_t m = 0; m < flow->n_moves; m++) {
        const arn_storage *storage = &lower->storage;
        mark(flow, &named, storage->of[source_of(flow, m)]);
        if (flow->own_memory[m]) mark(flow, &named, storage->of[arn_destination(flow, m)]);
    }
    for (uint32_t i = 0; i < flow->method->n_outputs; i++) {
        if (arn_first_move(flow, flow->method->outputs[i]) == flow->n_moves) continue;
        arn_flow_roots(flow, flow->method->outputs[i], mark, &result);
    }
    for (uint32_t m = 0; m < flow->n_moves && flow->status == ARENAUT_OK;) {
        const uint32_t name = arn_destination(flow, m);
        u.n = 0;
        for (; m < flow->n_moves && arn_destination(flow, m) == name; m++) {
            arn_flow_roots(flow, source_of(flow, m), add_root, &u);
        }
        for (uint32_t i = 1; i < u.n; i++) {
            for (uint32_t k = 0; k < i && flow->status == ARENAUT_OK; k++) {
                try_unite(flow, lower->ring, u.roots[k], u.roots[i]);
            }
        }
    }
    if (flow->status == ARENAUT_OK) settle(flow, lower->ring);
    arn_release(&lower->allocator, u.roots);
}
