/* Live ranges in a method with ops that jump or move: for each variable, from each of its reads
 * backwards to its writes on every path (backward live variable analysis, one variable at a time).
 * A storage can so have several lives, and none if no path leads from a write to a read. O(events +
 * blocks that a variable is alive in), bounded by ARN_MAX_FLOW_WORK. */
#include "analysis/aliases.h"
#include "analysis/live_flow.h"

#include <string.h>

#include "core/fail.h"
#include "core/sort.h"
#include "ir/program.h"

static void fail_memory(arn_flow *flow) {
    if (flow->status == ARENAUT_OK) flow->status = arn_no_memory(flow->live->err);
}

static const char *method_name(const arn_flow *flow) {
    return flow->method->name ? flow->method->name : "";
}

/* ---- events ---- */

static void add_event(arn_flow *flow, uint32_t variable, uint32_t position, bool writes) {
    if (flow->status != ARENAUT_OK) return;
    if (!arn_grow(&flow->live->allocator, (void **)&flow->events, &flow->event_capacity,
                  (uint64_t)flow->n_events + 1, sizeof *flow->events)) {
        fail_memory(flow);
        return;
    }
    flow->events[flow->n_events++] = (arn_event){variable, position, writes};
}

/* Whether the lives of a storage follow from this method alone. */
static bool is_local(const arn_flow *flow, uint32_t tensor) {
    const arn_live *live = flow->live;
    return live->program->tensors[tensor].method == flow->number &&
           !(live->storage.facts[live->storage.of[tensor]] & (ARN_NO_BUFFER | ARN_ALWAYS_ALIVE));
}

static void touch_memory(arn_flow *flow, uint32_t tensor, uint32_t position, bool writes) {
    const arenaut_tensor *tensors = flow->live->program->tensors;
    const uint32_t storage = flow->live->storage.of[tensor];
    if (!is_local(flow, tensor)) return;
    /* A write of a part leaves the rest, which must have been alive. */
    add_event(flow, storage, position, writes && tensors[tensor].bytes == tensors[storage].bytes);
}

static void touch(arn_flow *flow, uint32_t tensor, uint32_t position, bool writes) {
    if (tensor == ARENAUT_NONE) return;
    const uint32_t move = arn_live_first_move(flow, tensor);
    if (move == flow->n_moves) {
        touch_memory(flow, tensor, position, writes);
        return;
    }
    /* A write through an alias is to one of the memories that it may point to: the others keep
     * their content, so it ends the life of none. */
    add_event(flow, flow->live->program->n_tensors + tensor, position, false);
    if (flow->own_memory[move]) touch_memory(flow, tensor, position, false);
}

static void touch_all(arn_flow *flow, const uint32_t *tensors, uint32_t n, uint32_t position,
                      bool writes) {
    for (uint32_t i = 0; i < n; i++) touch(flow, tensors[i], position, writes);
}

static void visit_op(arn_flow *flow, const arenaut_op *op, uint32_t position) {
    if (!arn_op_kind_touches(op->kind)) return;
    touch_all(flow, op->inputs, op->n_inputs, position, false);
    touch_all(flow, op->scratch, op->n_scratch, position, true);
    if (op->kind == ARENAUT_OP_MOVE) {
        /* The alias's own memory is not written: from here on, it points elsewhere. */
        if (op->inputs[0] == op->outputs[0]) return;
        add_event(flow, flow->live->program->n_tensors + op->outputs[0], position, true);
        return;
    }
    /* An updated tensor existed before, and so did the base of a view. */
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        touch(flow, op->outputs[i], position, arn_makes_output(flow->live->program, op, i));
    }
}

static bool by_variable(const void *context, uint32_t a, uint32_t b) {
    const arn_event *events = context;
    return events[a].variable < events[b].variable;
}

/* Sorts `n` records of `size` bytes; `before` compares two of them by their numbers. */
static void sort_records(arn_flow *flow, void **records, uint32_t n, size_t size,
                         arn_before_fn before) {
    uint32_t *ids = arn_region_allocate(&flow->region, n, 2 * sizeof *ids);
    char *sorted = arn_allocate(&flow->live->allocator, n, size);
    if (!ids || !sorted) {
        arn_release(&flow->live->allocator, sorted);
        fail_memory(flow);
        return;
    }
    for (uint32_t i = 0; i < n; i++) ids[i] = i;
    arn_sort_ids(ids, n, before, *records, ids + n);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(sorted + i * size, (const char *)*records + ids[i] * size, size);
    }
    arn_release(&flow->live->allocator, *records);
    *records = sorted;
}

static void gather_events(arn_flow *flow) {
    const arn_live *live = flow->live;
    const arenaut_method *m = flow->method;
    const uint32_t end = m->n_ops + 1;
    touch_all(flow, m->inputs, m->n_inputs, 0, true);
    for (uint32_t i = 0; i < m->n_ops; i++) {
        visit_op(flow, &live->program->ops[m->first_op + i], i + 1);
    }
    touch_all(flow, m->outputs, m->n_outputs, end, false);
    for (uint32_t i = 0; i < m->n_bindings; i++) {
        const arenaut_binding *b = &m->bindings[i];
        if (b->kind == ARENAUT_BINDING_MUTATED) touch_all(flow, &b->target, 1, end, false);
    }
    if (live->keep_inputs) touch_all(flow, m->inputs, m->n_inputs, end, false);
    if (flow->status != ARENAUT_OK) return;
    sort_records(flow, (void **)&flow->events, flow->n_events, sizeof *flow->events, by_variable);
}

/* ---- lives ---- */

/* The variable is alive at the ends of all blocks that lead to `block`. */
static void live_before(arn_flow *flow, uint32_t block, uint32_t *depth) {
    const arn_blocks *blocks = &flow->blocks;
    for (uint32_t i = blocks->back[block]; i < blocks->back[block + 1]; i++) {
        const uint32_t from = blocks->from[i];
        if (flow->live_out[from] == flow->turn) continue;
        flow->live_out[from] = flow->turn;
        flow->stack[(*depth)++] = from;
    }
    arn_live_flow_work(flow, 1 + (uint64_t)(blocks->back[block + 1] - blocks->back[block]));
}

/* Finds the blocks at the ends of which the variable of the events [begin, end) is alive. */
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
            arn_live_flow_add(flow, flow->events[begin].variable, flow->blocks.first[block],
                              flow->blocks.first[block + 1], false);
            live_before(flow, block, &depth);
        }
    }
}

/* Adds the ranges within the block of event `first`; returns the event after its last. */
static uint32_t add_ranges(arn_flow *flow, uint32_t first, uint32_t end) {
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
        if (!alive) arn_live_flow_add(flow, events[i].variable, at, until, false);
    }
    if (alive)
        arn_live_flow_add(flow, events[first].variable, flow->blocks.first[block], until, false);
    return after;
}

static void find_lives(arn_flow *flow) {
    const uint32_t n_tensors = flow->live->program->n_tensors;
    for (uint32_t begin = 0, end; begin < flow->n_events && flow->status == ARENAUT_OK;
         begin = end) {
        const uint32_t variable = flow->events[begin].variable, n_ranges = flow->n_ranges;
        for (end = begin; end < flow->n_events && flow->events[end].variable == variable;) end++;
        find_live_ends(flow, begin, end);
        if (variable < n_tensors) {
            for (uint32_t i = begin; i < end;) i = add_ranges(flow, i, end);
        } else {
            flow->n_ranges = n_ranges; /* an alias has no memory of its own */
            arn_live_flow_alias(flow, begin, end);
        }
    }
    /* Such a runtime has filled results before they are computed. */
    for (uint32_t i = 0; flow->live->keep_outputs && i < flow->method->n_outputs; i++) {
        const uint32_t output = flow->method->outputs[i];
        if (!is_local(flow, output)) continue;
        arn_live_flow_add(flow, flow->live->storage.of[output], 0, flow->method->n_ops + 1, false);
    }
}

static bool by_storage(const void *context, uint32_t a, uint32_t b) {
    const arn_live_range *ranges = context;
    if (ranges[a].storage != ranges[b].storage) return ranges[a].storage < ranges[b].storage;
    return ranges[a].first < ranges[b].first;
}

static void sort_ranges(arn_flow *flow) {
    sort_records(flow, (void **)&flow->ranges, flow->n_ranges, sizeof *flow->ranges, by_storage);
    flow->range_capacity = flow->n_ranges;
}

/* Ranges that overlap or touch are one life. */
static void hand_over(arn_flow *flow, uint32_t start, arn_life_list *lives) {
    for (uint32_t i = 0; i < flow->n_ranges && flow->status == ARENAUT_OK;) {
        const uint32_t storage = flow->ranges[i].storage, first = flow->ranges[i].first;
        uint32_t end = flow->ranges[i].end;
        for (i++; i < flow->n_ranges && flow->ranges[i].storage == storage; i++) {
            if (flow->ranges[i].first > end) break;
            if (flow->ranges[i].end > end) end = flow->ranges[i].end;
        }
        const arenaut_interval life = {(int64_t)start + first, (int64_t)start + end};
        if (!arn_live_push(flow->live, lives, storage, life)) fail_memory(flow);
    }
}

/* ---- the whole ---- */

static bool allocate(arn_flow *flow) {
    arn_region *region = &flow->region;
    if (!arn_blocks_make(flow->live->program, flow->number, region, &flow->blocks)) return false;
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

/* Something other than a move writes these. Through an alias it may write any alias's own memory;
 * no known format does so, and nothing finer is tried. */
static void note_memory(arn_flow *flow, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] == ARENAUT_NONE) continue;
        const uint32_t storage = flow->live->storage.of[tensors[i]];
        if (arn_live_first_move(flow, storage) < flow->n_moves) flow->aliases_are_written = true;
    }
}

/* Lists the moves by destination, and notes which destinations have memory of their own that
 * something else writes. */
static void find_moves(arn_flow *flow) {
    const arenaut_program *p = flow->live->program;
    const arenaut_method *m = flow->method;
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops; i++) {
        if (p->ops[i].kind == ARENAUT_OP_MOVE) flow->moves[flow->n_moves++] = i;
    }
    arn_sort_ids(flow->moves, flow->n_moves, by_destination, p->ops, flow->moves + m->n_ops);
    for (uint32_t i = 0; i < flow->n_moves; i++) {
        const uint32_t to = arn_live_destination(flow, i);
        flow->own_memory[i] = flow->live->storage.of[to] != to;
        if (p->tensors[to].method != flow->number && flow->status == ARENAUT_OK) {
            char store[24];
            flow->status = arn_fail(flow->live->err, ARENAUT_UNSUPPORTED, 0,
                                    "method '%.80s' moves to '%s', which belongs to all methods",
                                    method_name(flow), arenaut_program_tensor_name(p, to, store));
        }
    }
    note_memory(flow, m->inputs, m->n_inputs);
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind != ARENAUT_OP_MOVE) note_memory(flow, op->outputs, op->n_outputs);
    }
    for (uint32_t i = 0; i < flow->n_moves && flow->aliases_are_written; i++) {
        flow->own_memory[i] = true;
    }
}

arenaut_status arn_live_flow(arn_live *live, uint32_t method, uint32_t start,
                             arn_life_list *lives) {
    arn_flow flow = {.live = live, .method = &live->program->methods[method], .number = method};
    arn_region_init(&flow.region, &live->allocator);
    if (!allocate(&flow)) fail_memory(&flow);
    if (flow.status == ARENAUT_OK) find_moves(&flow);
    if (flow.status == ARENAUT_OK) gather_events(&flow);
    if (flow.status == ARENAUT_OK) find_lives(&flow);
    if (flow.status == ARENAUT_OK) sort_ranges(&flow);
    if (flow.status == ARENAUT_OK && flow.n_moves) {
        arn_live_flow_merge(&flow);
        if (flow.status == ARENAUT_OK) sort_ranges(&flow);
    }
    if (flow.status == ARENAUT_OK) hand_over(&flow, start, lives);
    ARN_RELEASE(&live->allocator, flow.events, flow.ranges);
    arn_region_free(&flow.region);
    return flow.status;
}
