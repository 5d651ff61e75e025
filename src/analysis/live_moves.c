/* Live ranges through aliases (points-to analysis along the flow). `move b = a` copies nothing: b
 * is from then on an alias of a, and reading b reads a's memory. Example:
 *
 *     1  a1 = op(x)
 *     2  if c: move b = a1, go to 5
 *     3  a2 = op(x)
 *     4  move b = a2
 *     5  read b                  b may point to a1 or to a2
 *
 * So a1 is alive from 1 to 2 and on at 5, but not at 3 and 4: only on the paths that start with the
 * move from it and lead to a read of b before another move to b. spread_from() walks these paths.
 * After the branch both a1 and a2 are alive, although no run has both. Where their live ranges
 * otherwise never meet, they can be the same bytes, and become one storage (may_be_one). Cost: for
 * each move, the blocks where its destination is alive; merging looks at pairs of pointees. */
#include "analysis/live_flow.h"
#include "core/checked.h"
#include "core/fail.h"

/* ---- ranges, and the budget of the analysis ---- */

bool arn_live_flow_work(arn_flow *flow, uint64_t amount) {
    flow->work += amount;
    if (flow->status != ARENAUT_OK) return false;
    if (flow->work <= ARN_MAX_FLOW_WORK && flow->n_ranges <= ARN_MAX_LIVE_RANGES) return true;
    flow->status = arn_fail(
        flow->live->err, ARENAUT_UNSUPPORTED, 0,
        "method '%.80s': jumps and moves multiply into more than %d lives or %d "
        "steps of work",
        flow->method->name ? flow->method->name : "", ARN_MAX_LIVE_RANGES, ARN_MAX_FLOW_WORK);
    return false;
}

void arn_live_flow_add(arn_flow *flow, uint32_t storage, uint32_t first, uint32_t end, bool moved) {
    if (!arn_live_flow_work(flow, 1)) return;
    if (!arn_grow(&flow->live->allocator, (void **)&flow->ranges, &flow->range_capacity,
                  (uint64_t)flow->n_ranges + 1, sizeof *flow->ranges)) {
        flow->status = arn_no_memory(flow->live->err);
        return;
    }
    flow->ranges[flow->n_ranges++] = (arn_live_range){storage, first, end, moved};
}

bool arn_live_push(const arn_live *live, arn_life_list *lives, uint32_t storage,
                   arenaut_interval life) {
    if (!arn_grow(&live->allocator, (void **)&lives->lives, &lives->capacity,
                  (uint64_t)lives->n + 1, sizeof *lives->lives)) {
        return false;
    }
    lives->lives[lives->n++] = (arn_life){storage, life};
    return true;
}

/* ---- moves ---- */

uint32_t arn_live_first_move(const arn_flow *flow, uint32_t tensor) {
    uint32_t low = 0, high = flow->n_moves;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (arn_live_destination(flow, middle) < tensor) low = middle + 1;
        else high = middle;
    }
    return low < flow->n_moves && arn_live_destination(flow, low) == tensor ? low : flow->n_moves;
}

static uint32_t source_of(const arn_flow *flow, uint32_t move) {
    return flow->live->program->ops[flow->moves[move]].inputs[0];
}

/* Puts the destination of `move` into the queue, once. */
static void enqueue(const arn_flow *flow, bool *queued, uint32_t *queue, uint32_t *n,
                    uint32_t move) {
    if (move == flow->n_moves || queued[move]) return;
    queued[move] = true;
    queue[(*n)++] = move;
}

/* Calls `visit` for each storage that the tensor may point to. */
static void live_flow_pointees(arn_flow *flow, uint32_t tensor,
                               void (*visit)(arn_flow *flow, void *context, uint32_t storage),
                               void *context) {
    const arn_storage *storage = &flow->live->storage;
    const uint32_t first = arn_live_first_move(flow, tensor);
    if (first == flow->n_moves) {
        visit(flow, context, storage->of[tensor]);
        return;
    }
    /* The source of a move may be an alias in turn; each is visited once, by the first move to
     * it. */
    uint32_t n = 0;
    bool *queued = arn_allocate_zeroed(&flow->live->allocator, flow->n_moves, sizeof *queued);
    uint32_t *queue = arn_allocate(&flow->live->allocator, flow->n_moves, sizeof *queue);
    if (!queued || !queue) flow->status = arn_no_memory(flow->live->err);
    else enqueue(flow, queued, queue, &n, first);
    arn_live_flow_work(flow, flow->n_moves);
    for (uint32_t i = 0; i < n && flow->status == ARENAUT_OK; i++) {
        const uint32_t alias = arn_live_destination(flow, queue[i]);
        if (flow->own_memory[queue[i]]) visit(flow, context, storage->of[alias]);
        for (uint32_t m = queue[i]; m < flow->n_moves && arn_live_destination(flow, m) == alias;
             m++) {
            const uint32_t next = arn_live_first_move(flow, source_of(flow, m));
            if (next == flow->n_moves) visit(flow, context, storage->of[source_of(flow, m)]);
            else enqueue(flow, queued, queue, &n, next);
        }
    }
    ARN_RELEASE(&flow->live->allocator, queued, queue);
}

/* ---- where an alias is alive after a move to it ---- */

typedef struct stretch {
    uint32_t first, end;
} stretch;

static void add_stretch(arn_flow *flow, void *context, uint32_t storage) {
    const stretch *at = context;
    const uint8_t facts = flow->live->storage.facts[storage];
    if (facts & (ARN_NO_BUFFER | ARN_ALWAYS_ALIVE)) return;
    arn_live_flow_add(flow, storage, at->first, at->end, true);
}

/* The blocks on the paths from a move. */
typedef struct spread {
    uint32_t source;
    uint32_t end;  /* of the alias's events */
    uint32_t pass; /* marks the blocks that the walk has been in */
    uint32_t depth;
} spread;

/* From position `first` in `block`, where the next event is `event`: as far as the alias is read
 * before something else is moved to it. */
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
    if (at.end > at.first) live_flow_pointees(flow, s->source, add_stretch, &at);
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
    while (s.depth > 0 && arn_live_flow_work(flow, 1)) {
        const uint32_t block = flow->stack[--s.depth];
        const bool has_events = flow->has_events[block] == flow->turn;
        spread_within(flow, &s, block, flow->blocks.first[block],
                      has_events ? flow->first_event[block] : end);
    }
}

void arn_live_flow_alias(arn_flow *flow, uint32_t begin, uint32_t end) {
    const arenaut_program *p = flow->live->program;
    for (uint32_t i = begin; i < end && flow->status == ARENAUT_OK; i++) {
        if (!flow->events[i].writes) continue;
        const uint32_t move = flow->method->first_op + flow->events[i].position - 1;
        spread_from(flow, p->ops[move].inputs[0], i, end, i + 1);
    }
}

/* ---- storages that become one ---- */

/* The storages that an alias may point to. */
typedef struct pointee_list {
    uint32_t *at, n, capacity;
} pointee_list;

static void add_pointee(arn_flow *flow, void *context, uint32_t storage) {
    pointee_list *u = context;
    if (!arn_grow(&flow->live->allocator, (void **)&u->at, &u->capacity, (uint64_t)u->n + 1,
                  sizeof *u->at)) {
        flow->status = arn_no_memory(flow->live->err);
        return;
    }
    u->at[u->n++] = storage;
}

/* The first range of the storage; the others follow. */
static uint32_t ranges_of(const arn_flow *flow, uint32_t storage) {
    uint32_t low = 0, high = flow->n_ranges;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (flow->ranges[middle].storage < storage) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Whether storage `a` is never in use, by itself, while `b` is alive. */
static bool keeps_clear(arn_flow *flow, uint32_t a, uint32_t b) {
    uint32_t i = ranges_of(flow, a), k = ranges_of(flow, b);
    uint32_t end = 0; /* b is alive from ranges[k].first to here, or before */
    for (; i < flow->n_ranges && flow->ranges[i].storage == a; i++) {
        const arn_live_range *range = &flow->ranges[i];
        if (range->moved) continue;
        for (; k < flow->n_ranges && flow->ranges[k].storage == b; k++) {
            if (flow->ranges[k].first >= range->end) break;
            if (flow->ranges[k].end > end) end = flow->ranges[k].end;
        }
        if (end > range->first || !arn_live_flow_work(flow, 1)) return false;
    }
    return true;
}

static bool may_be_one(arn_flow *flow, uint32_t a, uint32_t b) {
    const arenaut_tensor *ta = &flow->live->program->tensors[a];
    const arenaut_tensor *tb = &flow->live->program->tensors[b];
    const uint8_t facts = flow->live->storage.facts[a] | flow->live->storage.facts[b];
    if (facts & (ARN_NO_BUFFER | ARN_ALWAYS_ALIVE)) return false;
    if (ta->method != flow->number || tb->method != flow->number) return false;
    if (ta->bytes != tb->bytes || ta->given_pool != tb->given_pool) return false;
    if (ta->device.type != tb->device.type || ta->device.index != tb->device.index) return false;
    return keeps_clear(flow, a, b) && keeps_clear(flow, b, a);
}

/* Merges all that `a` and `b` were merged with before, if each of the one goes with each of the
 * other. */
static void try_merge(arn_flow *flow, uint32_t *next_merged, uint32_t a, uint32_t b) {
    uint32_t x = a;
    do {
        uint32_t y = b;
        do {
            if (x == y || !arn_live_flow_work(flow, 1) || !may_be_one(flow, x, y)) return;
            y = next_merged[y];
        } while (y != b);
        x = next_merged[x];
    } while (x != a);
    const uint32_t next = next_merged[a];
    next_merged[a] = next_merged[b];
    next_merged[b] = next;
}

/* Of storages that are merged, the lowest stands for all. */
static void settle(arn_flow *flow, const uint32_t *next_merged) {
    arn_storage *storage = &flow->live->storage;
    uint32_t *merged_into = flow->live->merged_into;
    for (uint32_t i = 0; i < flow->n_ranges; i++) {
        const uint32_t s = flow->ranges[i].storage;
        uint32_t lowest = s;
        for (uint32_t x = next_merged[s]; x != s && arn_live_flow_work(flow, 1);
             x = next_merged[x]) {
            if (x < lowest) lowest = x;
        }
        flow->ranges[i].storage = lowest;
        if (lowest == s || merged_into[s] == lowest) continue;
        merged_into[s] = lowest;
        storage->facts[lowest] |= storage->facts[s];
        storage->align[lowest] = arn_max_u64(storage->align[lowest], storage->align[s]);
    }
}

static void mark(arn_flow *flow, void *context, uint32_t storage) {
    flow->live->storage.facts[storage] |= *(uint8_t *)context;
}

static bool init_merges(arn_live *live) {
    const uint32_t n = live->program->n_tensors;
    if (live->merged_into) return true;
    live->merged_into = arn_region_allocate(live->region, n, sizeof *live->merged_into);
    live->next_merged = arn_region_allocate(live->region, n, sizeof *live->next_merged);
    for (uint32_t t = 0; live->merged_into && live->next_merged && t < n; t++) {
        live->merged_into[t] = live->next_merged[t] = t;
    }
    return live->merged_into && live->next_merged;
}

void arn_live_flow_merge(arn_flow *flow) {
    arn_live *live = flow->live;
    pointee_list u = {NULL, 0, 0};
    if (!init_merges(live)) flow->status = arn_no_memory(live->err);
    uint8_t aliased = ARN_ALIASED, result = ARN_RESULT | ARN_ENTRY_OUTPUT;
    for (uint32_t m = 0; m < flow->n_moves; m++) {
        const arn_storage *storage = &live->storage;
        mark(flow, &aliased, storage->of[source_of(flow, m)]);
        if (flow->own_memory[m]) mark(flow, &aliased, storage->of[arn_live_destination(flow, m)]);
    }
    for (uint32_t i = 0; i < flow->method->n_outputs; i++) {
        if (arn_live_first_move(flow, flow->method->outputs[i]) == flow->n_moves) continue;
        live_flow_pointees(flow, flow->method->outputs[i], mark, &result);
    }
    for (uint32_t m = 0; m < flow->n_moves && flow->status == ARENAUT_OK;) {
        const uint32_t alias = arn_live_destination(flow, m);
        u.n = 0;
        for (; m < flow->n_moves && arn_live_destination(flow, m) == alias; m++) {
            live_flow_pointees(flow, source_of(flow, m), add_pointee, &u);
        }
        for (uint32_t i = 1; i < u.n; i++) {
            for (uint32_t k = 0; k < i && flow->status == ARENAUT_OK; k++) {
                try_merge(flow, live->next_merged, u.at[k], u.at[i]);
            }
        }
    }
    if (flow->status == ARENAUT_OK) settle(flow, live->next_merged);
    arn_release(&live->allocator, u.at);
}
