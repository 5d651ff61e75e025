/* Channel tiles: a convolution whose output channels are computed some at a time, and the
 * channelwise ops behind it, until an op mixes channels (operator splitting along output channels).
 * No halo, and no multiplication twice: each channel is computed once, from the same weights, of
 * which each tile has its part.
 *
 * Even tiles have one size. Fitted ones do not: the more results there are already, the smaller the
 * next tile is, so that all need the same memory (binary search over the memory); and if results
 * may lie over operands the last one is larger, since the operand of the group is dead after it. */
#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "rewrite/tile_dialects/tile_dialect.h"
#include "rewrite/split/tile_groups.h"

/* ---- how many channels a tile has ---- */

/* Bytes of one channel. */
typedef struct channel_bytes {
    uint64_t first; /* of the first op's result */
    uint64_t most;  /* of an op's result, with its operand if that must lie apart */
    uint64_t last;  /* of the group's result */
} channel_bytes;

/* A group, and the memory into which its tiles are to fit. */
typedef struct sizing {
    const arenaut_split_stage *group;
    channel_bytes each;
    int64_t channels;
    uint64_t image; /* bytes of the group's operand, if it is dead after the group */
    bool reach;     /* results may lie over operands */
    uint64_t room;
} sizing;

static int64_t channels_of(const arn_tile_graph *graph, const arenaut_tensor *image) {
    return image->dims[arn_tile_dim(graph, ARN_AXIS_C)];
}

static sizing begin(const arn_tile_graph *graph, const arenaut_split_stage *group, bool reach) {
    const arenaut_program *p = graph->program;
    const uint32_t end = group->first_op + group->n_ops;
    sizing c = {.group = group, .reach = reach};
    for (uint32_t at = group->first_op; at < end; at++) {
        if (graph->ops[at].of_constants) continue;
        const arenaut_tensor *made = &p->tensors[p->ops[at].outputs[0]];
        const uint64_t bytes = made->bytes / (uint64_t)channels_of(graph, made);
        if (c.channels == 0) {
            const uint32_t image = p->ops[at].inputs[0];
            c.channels = channels_of(graph, made);
            c.each.first = c.each.most = bytes;
            if (arn_tile_last_use(graph, image) < end) c.image = p->tensors[image].bytes;
        } else {
            c.each.most = arn_max_u64(c.each.most, bytes + (reach ? 0 : c.each.last));
        }
        c.each.last = bytes;
    }
    return c;
}

/* Lower bound of the live bytes while a tile of `count` channels runs after `before` others. */
static uint64_t needs(const sizing *c, int64_t before, int64_t count) {
    const uint64_t first = c->each.first * (uint64_t)count, most = c->each.most * (uint64_t)count;
    const uint64_t others = c->each.last * (uint64_t)before;
    if (before + count < c->channels) return others + c->image + most;
    return others + arn_max_u64(c->image + (c->reach ? 0 : first), most);
}

/* At a multiple of the channels that kernels prefer, if there are enough. */
static int64_t even_cut(int64_t channels, uint32_t n_tiles, uint32_t tile) {
    const int64_t unit = channels >= 8 * (int64_t)n_tiles   ? 8
                         : channels >= 4 * (int64_t)n_tiles ? 4
                                                            : 1;
    return tile == n_tiles ? channels : channels / unit * tile / n_tiles * unit;
}

/* The most channels that fit into the memory, with one left for each tile to come. */
static int64_t fitted_tile(const sizing *c, uint32_t tile, int64_t before) {
    const int64_t to_come = c->group->pieces - tile - 1, most = c->channels - before - to_come;
    const uint64_t taken = needs(c, before, 0);
    const uint64_t fit = taken < c->room ? (c->room - taken) / c->each.most : 0;
    return to_come == 0 || fit > (uint64_t)most ? most : fit > 0 ? (int64_t)fit : 1;
}

static int64_t next_tile(const sizing *c, uint32_t tile, int64_t before) {
    return c->group->mode == ARENAUT_SPLIT_CHANNELS
               ? even_cut(c->channels, c->group->pieces, tile + 1) - before
               : fitted_tile(c, tile, before);
}

/* The most that any tile needs. */
static uint64_t most_needed(const sizing *c) {
    int64_t before = 0;
    uint64_t most = 0;
    for (uint32_t tile = 0; tile < c->group->pieces; tile++) {
        const int64_t count = next_tile(c, tile, before);
        most = arn_max_u64(most, needs(c, before, count));
        before += count;
    }
    return most;
}

/* The least memory into which all fit, by binary search. */
static void find_room(sizing *c) {
    uint64_t low = 0, high = c->image + c->each.most * (uint64_t)c->channels * 2;
    while (low < high) {
        c->room = low + (high - low) / 2;
        if (most_needed(c) <= c->room) high = c->room;
        else low = c->room + 1;
    }
    c->room = low;
}

void arn_channel_tiles_count(const arn_tile_graph *graph, const arenaut_split_stage *group,
                             int64_t *counts) {
    sizing c = begin(graph, group, group->mode == ARENAUT_SPLIT_FITTED_OVER);
    int64_t before = 0;
    if (group->mode != ARENAUT_SPLIT_CHANNELS) find_room(&c);
    for (uint32_t tile = 0; tile < group->pieces; tile++) {
        counts[tile] = next_tile(&c, tile, before);
        before += counts[tile];
    }
}

/* The need of fitted tiles: no other tiles need less. */
uint64_t arn_channel_tiles_bound(const arn_tile_graph *graph, const arenaut_split_stage *group,
                                 bool reach) {
    const arenaut_split_stage fitted = {group->first_op, group->n_ops, group->pieces,
                                        ARENAUT_SPLIT_FITTED};
    sizing c = begin(graph, &fitted, reach);
    find_room(&c);
    return c.room;
}

/* ---- which chains can be tiled ---- */

/* The tensor that links an op of the chain to the one before it is its first input, or either one
 * of an elementwise op. */
static bool reads(const arenaut_op *op, uint32_t tensor) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] == tensor) return true;
    }
    return false;
}

static bool same_shape(const arenaut_tensor *a, const arenaut_tensor *b) {
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

/* Weights of 2 bytes become numbers of 4 before they are used: by an op of the group, which is
 * tiled with them. Gives that op's own constant, or the tensor itself. */
static uint32_t stored(const arn_tile_graph *graph, const arenaut_split_stage *group,
                       uint32_t tensor) {
    const uint32_t producer = arn_tile_def(graph, tensor);
    if (producer == ARENAUT_NONE || producer < group->first_op) return tensor;
    const arenaut_op *op = &graph->program->ops[producer];
    const bool widens =
        graph->ops[producer].of_constants && graph->ops[producer].widens && op->n_outputs == 1 &&
        op->inputs[0] != ARENAUT_NONE && arn_tile_is_read_once(graph, tensor) &&
        same_shape(&graph->program->tensors[op->inputs[0]], &graph->program->tensors[tensor]);
    return widens ? op->inputs[0] : tensor;
}

/* One number per channel, so that tiles of it can be taken. */
static bool has_channels(const arenaut_tensor *constant, int64_t channels) {
    return constant->rank > 0 && constant->dims[constant->rank - 1] == channels;
}

static bool is_stored(const arenaut_tensor *constant) {
    return constant->cls == ARENAUT_CONSTANT && arenaut_dtype_bits(constant->dtype) >= 8;
}

static bool has_parts(const arenaut_tensor *constant, uint32_t axis) {
    return !(constant->whole_along >> axis & 1);
}

static const char *refuse_operand(const arenaut_tensor *constant, int64_t channels) {
    const bool repeated = constant->rank == 0 || constant->dims[constant->rank - 1] == 1;
    if (!is_stored(constant) || (!repeated && !has_channels(constant, channels))) {
        return "an op in it has an operand that cannot be divided by channels";
    }
    return repeated || has_parts(constant, constant->rank - 1)
               ? NULL
               : "no parts of a constant that it reads can be stored";
}

static const char *refuse_operands(const arn_tile_graph *graph, const arenaut_split_stage *group,
                                   uint32_t at, uint32_t chained) {
    const arenaut_op *op = &graph->program->ops[at];
    const int64_t channels = channels_of(graph, &graph->program->tensors[op->outputs[0]]);
    const arn_tile_kind kind = graph->ops[at].kind;
    const char *why = NULL;
    for (uint32_t i = 0; i < op->n_inputs && !why; i++) {
        if (op->inputs[i] == ARENAUT_NONE || op->inputs[i] == chained) continue;
        const arenaut_tensor *constant =
            &graph->program->tensors[stored(graph, group, op->inputs[i])];
        if (kind == ARN_TILE_PAD) continue;
        if (kind != ARN_TILE_CONV || i != 1) why = refuse_operand(constant, channels);
        else if (!is_stored(constant)) why = "the convolution's weights are computed";
        else if (!has_parts(constant, 0))
            why = "no parts of the convolution's weights can be stored";
    }
    return why;
}

static const char *refuse_op(const arn_tile_graph *graph, const arenaut_split_stage *group,
                             uint32_t at, uint32_t chained) {
    const arenaut_op *op = &graph->program->ops[at];
    const arn_tile_op *facts = &graph->ops[at];
    const arn_tile_window *across = &facts->window[ARN_AXIS_C];
    if (facts->kind == ARN_TILE_OPAQUE) return "an op in it cannot be tiled";
    if (chained == ARENAUT_NONE) {
        if (facts->kind != ARN_TILE_CONV) return "it does not begin with a convolution";
        chained = op->inputs[0];
    } else if (facts->kind == ARN_TILE_CONV || facts->kind == ARN_TILE_JOIN) {
        return "an op in it mixes channels";
    }
    if (facts->kind == ARN_TILE_PAD && across->before + across->after > 0) {
        return "an op in it adds channels";
    }
    if (!reads(op, chained)) return "its ops are no chain";
    return refuse_operands(graph, group, at, chained);
}

/* An op that only widens weights has to be for an op of the chain. */
static const char *refuse_widening(const arn_tile_graph *graph, const arenaut_split_stage *group,
                                   uint32_t at) {
    const arenaut_op *op = &graph->program->ops[at];
    const uint32_t made = op->n_outputs == 1 ? op->outputs[0] : ARENAUT_NONE;
    const bool used = made != ARENAUT_NONE && stored(graph, group, made) != made &&
                      arn_tile_last_use(graph, made) < group->first_op + group->n_ops &&
                      !graph->ops[arn_tile_last_use(graph, made)].of_constants;
    return used ? NULL : "it computes weights that are not its own";
}

const char *arn_channel_tiles_refuse(const arn_tile_graph *graph,
                                     const arenaut_split_stage *group) {
    const char *refused = arn_tile_dialect_refuse(graph->dialect, group->mode);
    uint32_t chained = ARENAUT_NONE;
    if (refused) return refused;
    for (uint32_t i = 0; i < group->n_ops; i++) {
        const uint32_t at = group->first_op + i;
        const bool widens = graph->ops[at].of_constants;
        if (!widens && chained != ARENAUT_NONE && !arn_tile_is_read_once(graph, chained)) {
            return "a tensor in it has another reader";
        }
        const char *why =
            widens ? refuse_widening(graph, group, at) : refuse_op(graph, group, at, chained);
        if (why) return why;
        if (!widens) chained = graph->program->ops[at].outputs[0];
    }
    if (chained == ARENAUT_NONE) return "it does not begin with a convolution";
    return channels_of(graph, &graph->program->tensors[chained]) < (int64_t)group->pieces
               ? "it has fewer channels than tiles"
               : NULL;
}

/* ---- ops ---- */

typedef struct range {
    int64_t begin, count;
} range;

/* The tile of an operand: weights and bias of a convolution lie by output channel first. */
static uint32_t divide(arn_draft *draft, const arenaut_split_stage *group, uint32_t at, uint32_t i,
                       range channels) {
    const arenaut_op *op = &draft->graph->program->ops[at];
    const arn_tile_kind kind = draft->graph->ops[at].kind;
    const uint32_t id = op->inputs[i];
    if (id == ARENAUT_NONE || kind == ARN_TILE_PAD) return id;
    const arenaut_tensor *operand = &draft->graph->program->tensors[id];
    const int64_t all = channels_of(draft->graph, &draft->graph->program->tensors[op->outputs[0]]);
    const bool weights = kind == ARN_TILE_CONV && i == 1;
    const bool whole = !weights && !has_channels(operand, all);
    const uint32_t axis = weights || operand->rank == 0 ? 0 : operand->rank - 1;
    const uint32_t constant = stored(draft->graph, group, id);
    const uint32_t tile =
        whole ? constant : arn_draft_tile(draft, constant, axis, channels.begin, channels.count);
    if (constant == id) return tile;
    const uint32_t made =
        arn_draft_tile(draft, id, axis, 0, whole ? operand->dims[axis] : channels.count);
    arn_draft_part(draft, arn_tile_def(draft->graph, id), &tile, made, NULL, 0);
    return made;
}

/* One tile of the whole chain; gives its end. */
static uint32_t put_tile(arn_draft *draft, const arenaut_split_stage *group, range channels) {
    const arenaut_program *before = draft->graph->program;
    uint32_t chained = ARENAUT_NONE, made = ARENAUT_NONE;
    for (uint32_t k = 0; k < group->n_ops && !draft->failed; k++) {
        const uint32_t at = group->first_op + k;
        const arenaut_op *op = &before->ops[at];
        uint32_t inputs[ARN_TILE_INPUTS];
        if (draft->graph->ops[at].of_constants) continue; /* put where its result is read */
        if (chained == ARENAUT_NONE) chained = made = op->inputs[0];
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            inputs[i] = op->inputs[i] == chained ? made : divide(draft, group, at, i, channels);
        }
        chained = op->outputs[0];
        made = arn_draft_tile(draft, chained, arn_tile_dim(draft->graph, ARN_AXIS_C),
                              channels.begin, channels.count);
        arn_draft_part(draft, at, inputs, made, NULL, 0);
    }
    return made;
}

/* The result of the chain. */
static uint32_t result_of(const arn_tile_graph *graph, const arenaut_split_stage *group) {
    uint32_t at = group->first_op + group->n_ops - 1;
    while (graph->ops[at].of_constants) at--;
    return graph->program->ops[at].outputs[0];
}

void arn_channel_tiles_put(arn_draft *draft, const arenaut_split_stage *group) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    const uint32_t last = result_of(draft->graph, group);
    int64_t *counts = arn_allocate(allocator, group->pieces, sizeof *counts);
    uint32_t *made = arn_allocate(allocator, group->pieces, sizeof *made);
    range part = {0, 0};
    if (counts && made) arn_channel_tiles_count(draft->graph, group, counts);
    else draft->failed = true;
    for (uint32_t p = 0; p < group->pieces && !draft->failed; p++) {
        part.count = counts[p];
        made[p] = put_tile(draft, group, part);
        part.begin += part.count;
    }
    arn_draft_join(draft, arn_tile_dim(draft->graph, ARN_AXIS_C), made, group->pieces, last, last);
    ARN_RELEASE(allocator, counts, made);
}
