/* How many channels each piece of a channel split gets, and what that comes to. Even pieces are as
 * large as each other. Fitted ones are not: the more results there are already, the smaller the
 * next piece is, so that all need as much memory; and where results may lie over operands the last
 * one is larger, since what the stage reads is no longer needed once it has run. */
#include "core/checked.h"
#include "rewrite/split/split_bound.h"
#include "rewrite/split/split_stages.h"

/* Bytes of one channel. */
typedef struct channel_bytes {
    uint64_t first; /* of the first op's result */
    uint64_t most;  /* of an op's result, with its operand where that must lie apart */
    uint64_t last;  /* of the stage's result */
} channel_bytes;

/* A stage, and the room into which its pieces are to fit. */
typedef struct cutting {
    const arenaut_split_stage *stage;
    channel_bytes each;
    int64_t channels;
    uint64_t image; /* bytes that nobody reads after the stage */
    bool reach;     /* results may lie over operands */
    uint64_t room;
} cutting;

static uint64_t of_channel(const arenaut_tensor *image) {
    return image->bytes / (uint64_t)image->dims[ARN_AXIS_C];
}

static cutting begin(const arn_split_graph *graph, const arenaut_split_stage *stage, bool reach) {
    const arenaut_program *p = graph->program;
    const uint32_t end = stage->first_op + stage->n_ops;
    cutting c = {.stage = stage, .reach = reach};
    for (uint32_t at = stage->first_op; at < end; at++) {
        if (graph->ops[at].of_constants) continue;
        const arenaut_tensor *made = &p->tensors[p->ops[at].outputs[0]];
        const uint64_t bytes = of_channel(made);
        if (c.channels == 0) {
            const uint32_t image = p->ops[at].inputs[0];
            c.channels = made->dims[ARN_AXIS_C];
            c.each.first = c.each.most = bytes;
            if (graph->last_reader[image] < end) c.image = p->tensors[image].bytes;
        } else {
            c.each.most = arn_max_u64(c.each.most, bytes + (reach ? 0 : c.each.last));
        }
        c.each.last = bytes;
    }
    return c;
}

/* At least, while a piece of `count` channels runs after `before` others. */
static uint64_t needs(const cutting *c, int64_t before, int64_t count) {
    const uint64_t first = c->each.first * (uint64_t)count, most = c->each.most * (uint64_t)count;
    const uint64_t others = c->each.last * (uint64_t)before;
    if (before + count < c->channels) return others + c->image + most;
    return others + arn_max_u64(c->image + (c->reach ? 0 : first), most);
}

/* At a multiple of what kernels like to have, if there is enough. */
static int64_t even_cut(int64_t channels, uint32_t pieces, uint32_t piece) {
    const int64_t unit = channels >= 8 * (int64_t)pieces   ? 8
                         : channels >= 4 * (int64_t)pieces ? 4
                                                           : 1;
    return piece == pieces ? channels : channels / unit * piece / pieces * unit;
}

/* The most channels that fit into the room, with one left for each piece to come. */
static int64_t fitted_piece(const cutting *c, uint32_t piece, int64_t before) {
    const int64_t to_come = c->stage->pieces - piece - 1, most = c->channels - before - to_come;
    const uint64_t taken = needs(c, before, 0);
    const uint64_t fit = taken < c->room ? (c->room - taken) / c->each.most : 0;
    return to_come == 0 || fit > (uint64_t)most ? most : fit > 0 ? (int64_t)fit : 1;
}

static int64_t next_piece(const cutting *c, uint32_t piece, int64_t before) {
    return c->stage->mode == ARENAUT_SPLIT_CHANNELS
               ? even_cut(c->channels, c->stage->pieces, piece + 1) - before
               : fitted_piece(c, piece, before);
}

/* The most that any piece needs. */
static uint64_t most_needed(const cutting *c) {
    int64_t before = 0;
    uint64_t most = 0;
    for (uint32_t piece = 0; piece < c->stage->pieces; piece++) {
        const int64_t count = next_piece(c, piece, before);
        most = arn_max_u64(most, needs(c, before, count));
        before += count;
    }
    return most;
}

/* The least room into which all fit. */
static void find_room(cutting *c) {
    uint64_t low = 0, high = c->image + c->each.most * (uint64_t)c->channels * 2;
    while (low < high) {
        c->room = low + (high - low) / 2;
        if (most_needed(c) <= c->room) high = c->room;
        else low = c->room + 1;
    }
    c->room = low;
}

void arn_split_cut_channels(const arn_split_graph *graph, const arenaut_split_stage *stage,
                            int64_t *counts) {
    cutting c = begin(graph, stage, stage->mode == ARENAUT_SPLIT_FITTED_OVER);
    int64_t before = 0;
    if (stage->mode != ARENAUT_SPLIT_CHANNELS) find_room(&c);
    for (uint32_t piece = 0; piece < stage->pieces; piece++) {
        counts[piece] = next_piece(&c, piece, before);
        before += counts[piece];
    }
}

/* What fitted pieces need, whatever pieces there are: none need less. */
uint64_t arn_split_channels_bound(const arn_split_graph *graph, const arenaut_split_stage *stage,
                                  bool reach) {
    const arenaut_split_stage fitted = {stage->first_op, stage->n_ops, stage->pieces,
                                        ARENAUT_SPLIT_FITTED};
    cutting c = begin(graph, &fitted, reach);
    find_room(&c);
    return c.room;
}
