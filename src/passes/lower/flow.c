/* Lives in a method whose ops jump or move: for each variable, from each of its readers
 * back against the flow, to where it is written on every way. A storage can so have several
 * lives, and none where no way leads from a writer to a reader. */
#include "passes/lower/flow.h"

#include <inttypes.h>

#include "core/fail.h"
#include "core/sort.h"

static void fail_memory(arn_flow *flow) {
    if (flow->status == ARENAUT_OK) flow->status = arn_no_memory(flow->lower->err);
}

static const char *method_name(const arn_flow *flow) {
    return flow->method->name ? flow->method->name : "";
}

bool arn_flow_work(arn_flow *flow, uint64_t amount) {
    flow->work += amount;
    if (flow->status != ARENAUT_OK) return false;
    if (flow->work <= ARN_MAX_FLOW_WORK && flow->n_pieces <= ARN_MAX_PIECES) return true;
    flow->status =
        arn_fail(flow->lower->err, ARENAUT_UNSUPPORTED, 0,
                 "method '%.80s': jumps and moves multiply into more than %d lives or %d "
                 "steps of work",
                 method_name(flow), ARN_MAX_PIECES, ARN_MAX_FLOW_WORK);
    return false;
}

void arn_flow_add(arn_flow *flow, uint32_t storage, uint32_t first, uint32_t end, bool moved) {
    if (!arn_flow_work(flow, 1)) return;
    if (!arn_grow(&flow->lower->allocator, (void **)&flow->pieces, &flow->piece_capacity,
                  (uint64_t)flow->n_pieces + 1, sizeof *flow->pieces)) {
        fail_memory(flow);
        return;
    }
    flow->pieces[flow->n_pieces++] = (arn_piece){storage, first, end, moved};
}

/* ---- events ---- */

static void add_event(arn_flow *flow, uint32_t variable, uint32_t position, bool writes) {
    if (flow->status != ARENAUT_OK) return;
    if (!arn_grow(&flow->lower->allocator, (void **)&flow->events, &flow->event_capacity,
                  (uint64_t)flow->n_events + 1, sizeof *flow->events)) {
        fail_memory(flow);
        return;
    }
    flow->events[flow->n_events++] = (arn_event){variable, position, writes};
}

/* Whether the lives of a storage are this method's to say. */
static bool is_local(const arn_flow *flow, uint32_t tensor) {
    const arn_lower *lower = flow->lower;
    return lower->program->tensors[tensor].method == flow->number &&
           !(lower->storage.facts[lower->storage.of[tensor]] & (ARN_NO_BUFFER | ARN_ALWAYS_ALIVE));
}

static void touch_memory(arn_flow *flow, uint32_t tensor, uint32_t position, bool writes) {
    const arenaut_tensor *tensors = flow->lower->program->tensors;
    const uint32_t storage = flow->lower->storage.of[tensor];
    if (!is_local(flow, tensor)) return;
    /* What writes a part leaves the rest, which must have been alive. */
    add_event(flow, storage, position, writes && tensors[tensor].bytes == tensors[storage].bytes);
}

static void touch(arn_flow *flow, uint32_t tensor, uint32_t position, bool writes) {
    if (tensor == ARENAUT_NONE) return;
    const uint32_t move = arn_first_move(flow, tensor);
    if (move == flow->n_moves) {
        touch_memory(flow, tensor, position, writes);
        return;
    }
    /* A write through a name is to one of the memories that it may stand for. */
    add_event(flow, flow->lower->program->n_tensors + tensor, position, false);
    if (flow->own_memory[move]) touch_memory(flow, tensor, position, false);
}

static void touch_all(arn_flow *flow, const uint32_t *tensors, uint32_t n, uint32_t position,
                      bool writes) {
    for (uint32_t i = 0; i < n; i++) touch(flow, tensors[i], position, writes);
}

static void visit_op(arn_flow *flow, const arenaut_op *op, uint32_t position) {
    if (!arenaut_op_kind_touches(op->kind)) return;
    touch_all(flow, op->inputs, op->n_inputs, position, false);
    touch_all(flow, op->scratch, op->n_scratch, position, true);
    if (op->kind == ARENAUT_OP_MOVE) {
        /* The name's own memory is not written: from here on, it is another's. */
        if (op->inputs[0] == op->outputs[0]) return;
        add_event(flow, flow->lower->program->n_tensors + op->outputs[0], position, true);
        return;
    }
    /* What is updated was there before, and so was what a view is of. */
    const bool makes = op->kind != ARENAUT_OP_IN_PLACE && op->kind != ARENAUT_OP_VIEW;
    touch_all(flow, op->outputs, op->n_outputs, position, makes);
}

static bool by_variable(const void *context, uint32_t a, uint32_t b) {
    const arn_event *events = context;
    return events[a].variable < events[b].variable;
}

static void sort_events(arn_flow *flow) {
    const uint32_t n = flow->n_events;
    uint32_t *ids = arn_region_allocate(&flow->region, n, 2 * sizeof *ids);
    arn_event *sorted = arn_allocate(&flow->lower->allocator, n, sizeof *sorted);
    if (!ids || !sorted) {
        arn_release(&flow->lower->allocator, sorted);
        fail_memory(flow);
        return;
    }
    for (uint32_t i = 0; i < n; i++) ids[i] = i;
    arn_sort_ids(ids, n, by_variable, flow->events, ids + n);
    for (uint32_t i = 0; i < n; i++) sorted[i] = flow->events[ids[i]];
    arn_release(&flow->lower->allocator, flow->events);
    flow->events = sorted;
    flow->event_capacity = n;
}

static void gather_events(arn_flow *flow) {
    const arn_lower *lower = flow->lower;
    const arenaut_method *m = flow->method;
    const uint32_t end = m->n_ops + 1;
    touch_all(flow, m->inputs, m->n_inputs, 0, true);
    for (uint32_t i = 0; i < m->n_ops; i++) {
        visit_op(flow, &lower->program->ops[m->first_op + i], i + 1);
    }
    touch_all(flow, m->outputs, m->n_outputs, end, false);
    for (uint32_t i = 0; i < m->n_bindings; i++) {
        const arenaut_binding *b = &m->bindings[i];
        if (b->kind == ARENAUT_BINDING_MUTATED) touch_all(flow, &b->target, 1, end, false);
    }
    if (arn_keeps_inputs(lower)) touch_all(flow, m->inputs, m->n_inputs, end, false);
    if (flow->status == ARENAUT_OK) sort_events(flow);
}

/* ---- lives ---- */

/* All that lead to `block` have something alive at their ends. */
static void live_before(arn_flow *flow, uint32_t block, uint32_t *depth) {
    const arn_blocks *blocks = &flow->blocks;
    for (uint32_t i = blocks->back[block]; i < blocks->back[block + 1]; i++) {
        const uint32_t from = blocks->from[i];
        if (flow->live_out[from] == flow->turn) continue;
        flow->live_out[from] = flow->turn;
        flow->stack[(*depth)++] = from;
    }
    arn_flow_work(flow, 1 + (uint64_t)(blocks->back[block + 1] - blocks->back[block]));
}

/* Finds at which blocks' ends the variable is alive, whose events are [begin, end). */
static void find_live_ends(arn_flow *flow, uint32_t begin, uint32_t end) {
    uint32_t depth = 0;
    flow->turn++;
    for (uint32_t i = end; i-- > begin;) {
        const uint32_t block = flow->blocks.of[flow->events[i].position];
        flow->has_events[block] = flow->turn;
        flow->first_event[block] = i;
    }
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t block = flow->blocks.of[flow->events[i].position];
        if (flow->first_event[block] == i && !flow->events[i].writes) {
            live_before(flow, block, &depth);
        }
    }
    while (depth > 0 && flow->status == ARENAUT_OK) {
        const uint32_t block = flow->stack[--depth];
        if (flow->has_events[block] != flow->turn) {
            arn_flow_add(flow, flow->events[begin].variable, flow->blocks.first[block],
                         flow->blocks.first[block + 1], false);
            live_before(flow, block, &depth);
        }
    }
}

/* Adds the pieces within the block of event `first`; returns the event after its last. */
static uint32_t add_pieces(arn_flow *flow, uint32_t first, uint32_t end) {
    const arn_event *events = flow->events;
    const uint32_t block = flow->blocks.of[events[first].position];
    uint32_t after = first;
    while (after < end && flow->blocks.of[events[after].position] == block) after++;
    if (block == flow->blocks.n) return after;
    bool alive = flow->live_out[block] == flow->turn;
    uint32_t until = flow->blocks.first[block + 1];
    for (uint32_t i = after; i-- > first;) {
        const uint32_t at = events[i].position;
        if (!alive) until = at + 1;
        alive = !events[i].writes;
        if (!alive) arn_flow_add(flow, events[i].variable, at, until, false);
    }
    if (alive) arn_flow_add(flow, events[first].variable, flow->blocks.first[block], until, false);
    return after;
}

static void find_lives(arn_flow *flow) {
    const uint32_t n_tensors = flow->lower->program->n_tensors;
    for (uint32_t begin = 0, end; begin < flow->n_events && flow->status == ARENAUT_OK;
         begin = end) {
        const uint32_t variable = flow->events[begin].variable, n_pieces = flow->n_pieces;
        for (end = begin; end < flow->n_events && flow->events[end].variable == variable;) end++;
        find_live_ends(flow, begin, end);
        if (variable < n_tensors) {
            for (uint32_t i = begin; i < end;) i = add_pieces(flow, i, end);
        } else {
            flow->n_pieces = n_pieces; /* a name has no memory of its own */
            arn_flow_name(flow, begin, end);
        }
    }
    /* The runtime has filled them before they are computed. */
    for (uint32_t i = 0; flow->lower->target->keep_outputs && i < flow->method->n_outputs; i++) {
        const uint32_t output = flow->method->outputs[i];
        if (!is_local(flow, output)) continue;
        arn_flow_add(flow, flow->lower->storage.of[output], 0, flow->method->n_ops + 1, false);
    }
}

static bool by_storage(const void *context, uint32_t a, uint32_t b) {
    const arn_piece *pieces = context;
    if (pieces[a].storage != pieces[b].storage) return pieces[a].storage < pieces[b].storage;
    return pieces[a].first < pieces[b].first;
}

static void sort_pieces(arn_flow *flow) {
    const uint32_t n = flow->n_pieces;
    uint32_t *ids = arn_region_allocate(&flow->region, n, 2 * sizeof *ids);
    arn_piece *sorted = arn_allocate(&flow->lower->allocator, n, sizeof *sorted);
    if (!ids || !sorted) {
        arn_release(&flow->lower->allocator, sorted);
        fail_memory(flow);
        return;
    }
    for (uint32_t i = 0; i < n; i++) ids[i] = i;
    arn_sort_ids(ids, n, by_storage, flow->pieces, ids + n);
    for (uint32_t i = 0; i < n; i++) sorted[i] = flow->pieces[ids[i]];
    arn_release(&flow->lower->allocator, flow->pieces);
    flow->pieces = sorted;
    flow->piece_capacity = n;
}

/* Pieces that overlap or touch are one life. */
static void hand_over(arn_flow *flow, uint32_t start, arn_life_list *lives) {
    for (uint32_t i = 0; i < flow->n_pieces && flow->status == ARENAUT_OK;) {
        const uint32_t storage = flow->pieces[i].storage, first = flow->pieces[i].first;
        uint32_t end = flow->pieces[i].end;
        for (i++; i < flow->n_pieces && flow->pieces[i].storage == storage; i++) {
            if (flow->pieces[i].first > end) break;
            if (flow->pieces[i].end > end) end = flow->pieces[i].end;
        }
        const arenaut_interval life = {(int64_t)start + first, (int64_t)start + end};
        if (!arn_life_push(flow->lower, lives, storage, life)) fail_memory(flow);
    }
}

/* ---- the whole ---- */

static bool allocate(arn_flow *flow) {
    arn_region *region = &flow->region;
    if (!arn_blocks_make(flow)) return false;
    const size_t n = (size_t)flow->blocks.n + 1;
    flow->live_out = arn_region_allocate(region, n, sizeof *flow->live_out);
    flow->has_events = arn_region_allocate(region, n, sizeof *flow->has_events);
    flow->first_event = arn_region_allocate(region, n, sizeof *flow->first_event);
    flow->passed = arn_region_allocate(region, n, sizeof *flow->passed);
    flow->stack = arn_region_allocate(region, n, sizeof *flow->stack);
    flow->moves = arn_region_allocate(region, flow->method->n_ops, 2 * sizeof *flow->moves);
    flow->own_memory = arn_region_allocate(region, flow->method->n_ops, sizeof *flow->own_memory);
    if (!flow->live_out || !flow->has_events || !flow->first_event || !flow->passed ||
        !flow->stack || !flow->moves || !flow->own_memory) {
        return false;
    }
    for (size_t b = 0; b < n; b++) flow->live_out[b] = flow->has_events[b] = flow->passed[b] = 0;
    return true;
}

static bool by_destination(const void *context, uint32_t a, uint32_t b) {
    const arenaut_op *ops = context;
    return ops[a].outputs[0] < ops[b].outputs[0];
}

/* Something other than a move writes these. Through a name it may write any name's own
 * memory; no format does so, and nothing finer is tried. */
static void note_memory(arn_flow *flow, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] == ARENAUT_NONE) continue;
        const uint32_t storage = flow->lower->storage.of[tensors[i]];
        if (arn_first_move(flow, storage) < flow->n_moves) flow->names_are_written = true;
    }
}

/* The moves, and whose destinations have memory that something else writes. */
static void find_moves(arn_flow *flow) {
    const arenaut_program *p = flow->lower->program;
    const arenaut_method *m = flow->method;
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops; i++) {
        if (p->ops[i].kind == ARENAUT_OP_MOVE) flow->moves[flow->n_moves++] = i;
    }
    arn_sort_ids(flow->moves, flow->n_moves, by_destination, p->ops, flow->moves + m->n_ops);
    for (uint32_t i = 0; i < flow->n_moves; i++) {
        const uint32_t to = arn_destination(flow, i);
        flow->own_memory[i] = flow->lower->storage.of[to] != to;
        if (p->tensors[to].method != flow->number && flow->status == ARENAUT_OK) {
            char store[24];
            flow->status = arn_fail(flow->lower->err, ARENAUT_UNSUPPORTED, 0,
                                    "method '%.80s' moves to '%s', which belongs to all methods",
                                    method_name(flow), arenaut_program_tensor_name(p, to, store));
        }
    }
    note_memory(flow, m->inputs, m->n_inputs);
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind != ARENAUT_OP_MOVE) note_memory(flow, op->outputs, op->n_outputs);
    }
    for (uint32_t i = 0; i < flow->n_moves && flow->names_are_written; i++) {
        flow->own_memory[i] = true;
    }
}

bool arn_has_flow(const arenaut_program *p, uint32_t method) {
    const arenaut_method *m = &p->methods[method];
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops; i++) {
        const arenaut_op_kind kind = p->ops[i].kind;
        if (kind == ARENAUT_OP_JUMP || kind == ARENAUT_OP_JUMP_FALSE || kind == ARENAUT_OP_MOVE) {
            return true;
        }
    }
    return false;
}

arenaut_status arn_lower_flow(arn_lower *lower, uint32_t method, uint32_t start,
                              arn_life_list *lives) {
    arn_flow flow = {.lower = lower, .method = &lower->program->methods[method], .number = method};
    arn_region_init(&flow.region, &lower->allocator);
    if (!allocate(&flow)) fail_memory(&flow);
    if (flow.status == ARENAUT_OK) find_moves(&flow);
    if (flow.status == ARENAUT_OK) gather_events(&flow);
    if (flow.status == ARENAUT_OK) find_lives(&flow);
    if (flow.status == ARENAUT_OK) sort_pieces(&flow);
    if (flow.status == ARENAUT_OK && flow.n_moves) {
        arn_flow_unite(&flow);
        if (flow.status == ARENAUT_OK) sort_pieces(&flow);
    }
    if (flow.status == ARENAUT_OK) hand_over(&flow, start, lives);
    arn_release(&lower->allocator, flow.events);
    arn_release(&lower->allocator, flow.pieces);
    arn_region_free(&flow.region);
    return flow.status;
}
