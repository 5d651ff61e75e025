/* Emission of row tiles: the ops of a group once per tile, on the rows that row_tiles.c has
 * counted.
 *
 * A window that reaches past an edge of the image needs padding there, and none at the cut edges of
 * a tile. Ops pad all four sides by one rule, so a tile is padded by an op of its own, unless the
 * rule happens to give the same. Or it is cropped: the op pads by itself, gets some more rows of
 * halo, and the rows of its result that saw a wrong edge are left out. A pool counts the elements
 * that it sees, and is always cropped. */
#include <string.h>

#include "core/memory.h"
#include "rewrite/tile_dialects/tile_dialect.h"
#include "rewrite/split/row_norms.h"
#include "rewrite/split/tile_groups.h"
#include "rewrite/split/tiled_draft.h"

enum { UNPADDED = 4 }; /* numbers of a window of two axes */

/* Some rows of a tensor, in a tensor of the draft. */
typedef struct row_slice {
    uint32_t tensor;
    arn_rows rows;
} row_slice;

typedef struct row_tiling {
    arn_draft *draft;
    const arn_row_tiles *counted;
    const arn_tile_graph *graph;
    const arenaut_split_stage *group;
    row_slice *now;         /* per op: its result in this tile, or the rows of it gathered last */
    row_slice *line_buffer; /* per op: the rows kept for the next tile */
    row_slice *segments;    /* per op, then most_segments of them: a long line buffer, in pieces */
    uint32_t *n_segments;   /* per op; 0: the line buffer is in one piece */
    uint32_t *tiles;        /* per op, then tile: tiles of a result of the sweep */
    uint32_t *start;        /* per tile, and where the last ends: the op of the draft */
    uint32_t *handed;       /* tensors of a tile that are read after it */
    uint32_t *inputs;       /* of the op at work */
    uint32_t *parts;        /* of the rows at work */
    uint32_t *sums;         /* of a normalization, two per tile */
    arn_statistics *norms;  /* per op: those of an image that it normalizes */
    uint32_t *wholes;       /* images that the group reads, made outside of it; then, per such, its
                             * alias */
    uint32_t n_wholes;
} row_tiling;

static const arenaut_op *op_of(const row_tiling *b, uint32_t k) {
    return &b->graph->program->ops[b->group->first_op + k];
}

static const arn_tile_op *facts_of(const row_tiling *b, uint32_t k) {
    return &b->graph->ops[b->group->first_op + k];
}

static bool reads_computed_constants(const arn_tile_graph *graph, uint32_t op) {
    const arenaut_op *o = &graph->program->ops[op];
    for (uint32_t i = 0; i < o->n_inputs; i++) {
        if (o->inputs[i] == ARENAUT_NONE || arn_tile_is_constant(graph, o->inputs[i])) continue;
        if (arn_tile_is_fixed(graph, o->inputs[i])) return true;
    }
    return false;
}

/* Why an op of a normalization cannot be where it is in the group; NULL: it can, or is none. */
static const char *refuse_norm(const arn_tile_graph *graph, const arenaut_split_stage *group,
                               uint32_t at) {
    const uint32_t read = graph->program->ops[at].inputs[0], image = graph->image[read];
    if (graph->ops[at].norm == ARN_NORM_NONE) return NULL;
    if (image != read && arn_tile_producer(graph, group, read) == ARENAUT_NONE) {
        return "it begins within a normalization";
    }
    if (graph->image[graph->program->ops[at].outputs[0]] != graph->program->ops[at].outputs[0] &&
        arn_tile_is_result(graph, group, at - group->first_op)) {
        return "it ends within a normalization";
    }
    if (graph->ops[at].norm == ARN_NORM_SHAPE) return NULL;
    if (arn_tile_producer(graph, group, image) != ARENAUT_NONE) {
        return "it makes an image that it normalizes, which must be whole before";
    }
    return arn_tile_height(graph, image) / graph->ops[at].block < (int64_t)group->pieces
               ? "an image that it normalizes has fewer rows than tiles"
               : NULL;
}

const char *arn_row_tiles_refuse(const arn_tile_graph *graph, const arenaut_split_stage *group) {
    const char *why = arn_tile_dialect_refuse(graph->dialect, group->mode);
    bool some = false;
    if (why) return why;
    for (uint32_t k = 0; k < group->n_ops; k++) {
        const uint32_t at = group->first_op + k;
        if (arn_tile_runs_whole(&graph->ops[at])) continue;
        if (graph->ops[at].is_rounded) {
            return "an op in it may make other bits in any tiles, which --rounding allow permits";
        }
        if (graph->ops[at].kind == ARN_TILE_OPAQUE) return "an op in it cannot be tiled";
        if (arn_row_tiles_call(group) && reads_computed_constants(graph, at)) {
            return "it reads weights that ops compute, and each call would copy them";
        }
        why = refuse_norm(graph, group, at);
        if (why) return why;
        if (!graph->ops[at].reduces && !arn_tile_is_result(graph, group, k)) continue;
        some = true;
        const int64_t all = arn_tile_rows(graph, at);
        if (all < (int64_t)group->pieces) return "a result of it has fewer rows than tiles";
        if (arn_rows_none(arn_row_tile_own(group, group->pieces - 1, all))) {
            return "fewer tiles of equal height cover all rows of a result of it";
        }
    }
    return some ? NULL : "no op behind it reads its results";
}

static uint32_t take(row_tiling *b, const row_slice *from, arn_rows wanted) {
    return arn_draft_slice(b->draft, from->tensor, wanted.begin - from->rows.begin,
                           wanted.end - wanted.begin);
}

static bool lie_in(arn_rows some, arn_rows all) {
    return some.begin >= all.begin && some.end <= all.end;
}

/* Of one op: each tile adds one, which is cut into some of two steps of the tiles; no row is in
 * more than two of these. Tiles that are as high as their kernel needs may be fewer than the group
 * has. */
static size_t most_segments(const arn_row_tiles *counted) {
    return (size_t)counted->n_tiles + counted->group->pieces + 2;
}

static row_slice *segments_of(const row_tiling *b, uint32_t k) {
    return &b->segments[k * most_segments(b->counted)];
}

/* Rows of op `k`'s result that its segments have. The one in front may have some of the next, too.
 */
static void gather_segments(row_tiling *b, uint32_t k, arn_rows wanted) {
    const row_slice *segments = segments_of(b, k);
    const uint32_t of = b->graph->image[op_of(b, k)->outputs[0]];
    uint32_t n = 0;
    arn_rows rest = wanted;
    for (uint32_t i = 0; i < b->n_segments[k]; i++) {
        const int64_t end = segments[i].rows.end < rest.end ? segments[i].rows.end : rest.end;
        if (end <= rest.begin || segments[i].rows.begin > rest.begin) continue;
        b->parts[n++] = take(b, &segments[i], (arn_rows){rest.begin, end});
        rest.begin = end;
    }
    b->now[k] = (row_slice){
        arn_draft_join(b->draft, arn_tile_dim(b->graph, ARN_AXIS_H), b->parts, n, ARENAUT_NONE, of),
        wanted};
}

/* Rows of op `k`'s result that this tile needs. */
static uint32_t take_rows(row_tiling *b, uint32_t k, arn_rows wanted) {
    if (b->n_segments[k] > 0 && !lie_in(wanted, b->now[k].rows)) gather_segments(b, k, wanted);
    return take(b, &b->now[k], wanted);
}

/* An image that is made outside of the group, or its alias. */
static uint32_t whole_of(const row_tiling *b, uint32_t id) {
    uint32_t i = 0;
    while (i < b->n_wholes && b->wholes[i] != id) i++;
    return i < b->n_wholes ? b->wholes[b->n_wholes + i] : id;
}

/* The operands of op `k` in a tile: rows of images, and constants as they are. */
static void gather(row_tiling *b, uint32_t k, arn_rows wanted, uint32_t *inputs) {
    const arenaut_op *op = op_of(b, k);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t id = op->inputs[i], from = arn_tile_producer(b->graph, b->group, id);
        inputs[i] = id;
        if (id == ARENAUT_NONE || arn_tile_is_fixed(b->graph, id)) continue;
        if (i > 0 && id == op->inputs[i - 1]) {
            inputs[i] = inputs[i - 1]; /* x * x */
            continue;
        }
        const row_slice whole = {whole_of(b, id), {0, arn_tile_height(b->graph, id)}};
        const bool repeats = arn_tile_repeats_row(b->graph, b->group->first_op + k, id);
        const arn_rows rows = repeats ? (arn_rows){0, 1} : wanted;
        inputs[i] = from == ARENAUT_NONE ? take(b, &whole, rows) : take_rows(b, from, rows);
    }
}

/* Rows of padding in front of a part that states those of each side, and behind it. */
static arn_rows padded_edges(const arn_tile_op *facts, arn_rows in, arn_rows made) {
    const arn_tile_window *h = &facts->window[ARN_AXIS_H];
    const arn_rows all = arn_rows_with_halo(h, made);
    if (h->up > 1) return arn_rows_cut(h, in, made);
    if (facts->mirrors && (all.begin < in.begin || in.end < all.end)) {
        return (arn_rows){h->before, h->before};
    }
    return (arn_rows){in.begin - all.begin, all.end - in.end};
}

/* By scales, whole numbers, whatever the op before has: from a list of sizes a runtime would know
 * those of tiles. */
static void put_scales(row_tiling *b, uint32_t k, uint32_t *inputs) {
    const uint32_t scales = facts_of(b, k)->scales;
    if (b->draft->failed) return;
    const int64_t *image = arn_draft_dims(b->draft, op_of(b, k)->inputs[0]);
    const int64_t *made = arn_draft_dims(b->draft, op_of(b, k)->outputs[0]);
    const uint32_t rank = arn_draft_rank(b->draft, op_of(b, k)->inputs[0]);
    double times[ARN_IMAGE_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t scale = made[i] / image[i];
        times[i] = (double)scale;
    }
    inputs[scales] = arn_draft_reals(b->draft, times, rank);
    inputs[scales + 1] = ARENAUT_NONE;
}

/* Puts op `at`, a PAD, which reads its padding from a constant or states it. */
static void put_margin(row_tiling *b, uint32_t at, const int64_t pads[2 * ARN_IMAGE_AXES],
                       uint32_t *inputs, uint32_t output) {
    const arn_tile_dialect *dialect = b->graph->dialect;
    const uint32_t rank = b->graph->program->tensors[b->graph->program->ops[at].outputs[0]].rank;
    int64_t sides[ARN_DRAFT_VALUES] = {0};
    for (int axis = 0; axis < ARN_IMAGE_AXES; axis++) {
        const uint32_t dim = dialect->dim[axis];
        if (dim >= rank) continue;
        sides[dim] = pads[2 * axis];
        sides[rank + dim] = pads[2 * axis + 1];
    }
    if (dialect->list_pads) inputs[1] = dialect->list_pads(b->draft, pads, rank);
    arn_draft_part(b->draft, at, inputs, output, sides, dialect->list_pads ? 0 : 2 * rank);
}

/* Puts op `at`, a part that states the padding of each side of its window. */
static void put_padded(row_tiling *b, uint32_t at, const int64_t pads[2 * ARN_IMAGE_AXES],
                       arn_rows edges, const uint32_t *inputs, uint32_t output) {
    const uint32_t rank = b->graph->program->tensors[b->graph->program->ops[at].outputs[0]].rank;
    const uint32_t axes = rank - 2;
    int64_t sides[ARN_DRAFT_VALUES] = {edges.begin};
    sides[axes] = edges.end;
    for (uint32_t axis = ARN_AXIS_W; axis < axes; axis++) {
        sides[axis] = pads[2 * axis];
        sides[axes + axis] = pads[2 * axis + 1];
    }
    arn_draft_part(b->draft, at, inputs, output, sides, 2 * axes);
}

/* Puts op `k` for the rows `made`. */
static void put_window(row_tiling *b, uint32_t k, arn_rows made, arn_rows in, uint32_t *inputs,
                       uint32_t output) {
    const arn_tile_op *facts = facts_of(b, k);
    const arn_tile_window *h = &facts->window[ARN_AXIS_H], *w = &facts->window[ARN_AXIS_W];
    const arn_rows all = arn_rows_with_halo(h, made);
    int64_t pads[2 * ARN_IMAGE_AXES] = {in.begin - all.begin, all.end - in.end};
    for (int axis = ARN_AXIS_W; axis < ARN_IMAGE_AXES; axis++) {
        pads[2 * axis] = facts->window[axis].before;
        pads[2 * axis + 1] = facts->window[axis].after;
    }
    const uint32_t at = b->group->first_op + k;
    const bool some = pads[0] != 0 || pads[1] != 0 || w->before != 0 || w->after != 0;
    static const int64_t unpadded[UNPADDED] = {0};
    if (facts->scales > 0) put_scales(b, k, inputs);
    if (facts->kind == ARN_TILE_PAD) {
        put_margin(b, at, pads, inputs, output);
    } else if (facts->pads_sides) {
        put_padded(b, at, pads, padded_edges(facts, in, made), inputs, output);
    } else if (!some || facts->in_blocks) {
        arn_draft_part(b->draft, at, inputs, output, unpadded, facts->same ? UNPADDED : 0);
    } else if (arn_row_tiles_crop(b->counted, k) || arn_rows_same_pads(h, in, made)) {
        arn_draft_part(b->draft, at, inputs, output, NULL, 0);
    } else {
        inputs[0] = arn_draft_pad(b->draft, inputs[0], pads);
        arn_draft_part(b->draft, at, inputs, output, unpadded, UNPADDED);
    }
}

/* The rows that the op computes in this tile. */
static row_slice put_op(row_tiling *b, const arn_row_tile_op *tile, uint32_t k) {
    gather(b, k, tile->input, b->inputs);
    if (facts_of(b, k)->reduces) {
        const uint32_t sums = arn_draft_reduce(b->draft, facts_of(b, k)->reduces, b->inputs[0]);
        return (row_slice){sums, tile->run};
    }
    if (facts_of(b, k)->norm == ARN_NORM_SHAPE) return (row_slice){b->inputs[0], tile->run};
    if (facts_of(b, k)->norm == ARN_NORM_ITSELF) {
        const uint32_t rows = arn_norm_put(b->draft, b->group->first_op + k, b->norms[k],
                                           b->inputs[0], arn_rows_count(tile->run));
        return (row_slice){rows, tile->run};
    }
    const uint32_t made =
        arn_draft_tile(b->draft, op_of(b, k)->outputs[0], arn_tile_dim(b->graph, ARN_AXIS_H), 0,
                       arn_rows_count(tile->run));
    put_window(b, k, tile->run, tile->input, b->inputs, made);
    const row_slice all = {made, tile->run};
    return (row_slice){take(b, &all, tile->make), tile->make};
}

/* Of a segment: two steps of the tiles. */
static int64_t most_rows(const row_tiling *b, uint32_t k) {
    return 2 * (b->counted->results[k].height / b->group->pieces + 1);
}

/* Adds rows to the segments of op `k`'s result, without those that no later tile needs after this
 * one has run; `first`: that this one does. */
static void add_segment(row_tiling *b, uint32_t k, row_slice made, int64_t first) {
    row_slice *segments = segments_of(b, k);
    uint32_t n = 0;
    if (b->n_segments[k] == 0 && b->line_buffer[k].rows.end > first) {
        segments[0] = b->line_buffer[k];
        b->n_segments[k] = 1;
    }
    for (uint32_t i = 0; i < b->n_segments[k]; i++) {
        if (segments[i].rows.end > first) segments[n++] = segments[i];
    }
    if (!arn_rows_none(made.rows)) segments[n++] = made;
    b->n_segments[k] = n;
    b->now[k] = made;
}

/* A line buffer of many more rows than a tile makes would be copied in each of them: it stays in
 * segments, of which readers take the rows that they need. */
static bool is_long(const row_tiling *b, uint32_t tile, uint32_t k, arn_rows made) {
    const int64_t next = arn_row_tile(b->counted, tile, k)->next;
    const int64_t end = arn_rows_none(made) ? b->line_buffer[k].rows.end : made.end;
    if (!b->segments || !arn_row_tiles_keep(b->group)) return false;
    return b->n_segments[k] > 0 || (next < end && end - next > most_rows(b, k));
}

/* Joins the line buffer with the new rows, and keeps the next tile's halo in it. */
static void keep(row_tiling *b, uint32_t tile, uint32_t k, row_slice made) {
    if (is_long(b, tile, k, made.rows)) {
        add_segment(b, k, made, arn_row_tile(b->counted, tile, k)->want.begin);
        return;
    }
    const uint32_t of = b->graph->image[op_of(b, k)->outputs[0]];
    const arn_rows want = arn_row_tile(b->counted, tile, k)->want;
    const uint32_t rows = arn_tile_dim(b->graph, ARN_AXIS_H);
    row_slice *now = &b->now[k], *line_buffer = &b->line_buffer[k];
    if (arn_rows_none(made.rows)) {
        *now = *line_buffer;
    } else if (want.begin < made.rows.begin) {
        const arn_rows again = {want.begin, made.rows.begin};
        uint32_t both[] = {take(b, line_buffer, again), made.tensor};
        *now = (row_slice){arn_draft_join(b->draft, rows, both, 2, ARENAUT_NONE, of),
                           {want.begin, made.rows.end}};
    } else {
        *now = made;
    }
    const arn_rows wanted = {arn_row_tile(b->counted, tile, k)->next, now->rows.end};
    if (!arn_row_tiles_keep(b->group) || arn_rows_none(wanted)) return;
    *line_buffer = (row_slice){take(b, now, wanted), wanted};
}

/* Cuts the segment that op `k` has added into such as can end one after the other. */
static void cut_segment(row_tiling *b, uint32_t tile, uint32_t k) {
    const int64_t most = most_rows(b, k);
    const uint32_t last = b->n_segments[k] - 1;
    const row_slice whole = segments_of(b, k)[last];
    const int64_t next = arn_row_tile(b->counted, tile, k)->next;
    if (next >= whole.rows.end || arn_rows_count(whole.rows) <= most) return;
    b->n_segments[k] = last;
    for (int64_t at = next > whole.rows.begin ? next : whole.rows.begin; at < whole.rows.end;
         at += most) {
        const int64_t end = at + most < whole.rows.end ? at + most : whole.rows.end;
        const arn_rows rows = {at, end};
        segments_of(b, k)[b->n_segments[k]++] = (row_slice){take(b, &whole, rows), rows};
    }
}

static void put_tile(row_tiling *b, uint32_t tile) {
    const uint32_t n = b->group->n_ops, n_tiles = b->counted->n_tiles;
    for (uint32_t k = 0; k < n; k++) {
        const arn_row_tile_op *it = arn_row_tile(b->counted, tile, k);
        row_slice made = {ARENAUT_NONE, {0, 0}};
        if (arn_rows_none(it->want)) continue;
        if (!arn_rows_none(it->make)) made = put_op(b, it, k);
        keep(b, tile, k, made);
        const arn_rows own = arn_row_tile_result(b->counted, tile, k);
        if (arn_rows_none(own)) continue;
        b->tiles[(size_t)k * n_tiles + tile] = take_rows(b, k, own);
    }
    for (uint32_t k = 0; k < n; k++) {
        if (b->n_segments[k] > 0) cut_segment(b, tile, k);
    }
}

/* Rows that a tile has added to those of op `k`'s result that are kept. */
static uint32_t kept_of(const row_tiling *b, uint32_t k) {
    const uint32_t n = b->n_segments[k];
    return n > 0 ? segments_of(b, k)[n - 1].tensor : b->line_buffer[k].tensor;
}

/* Lets the next tile run after this one in any sequence of the runtime: after its results
 * and the line buffers that it leaves. The last of them come first, so that a runtime which goes
 * from readers to operands, and there to the op that stands last in the file, takes the first
 * first. */
static void order_next(row_tiling *b, uint32_t tile, uint32_t there) {
    const uint32_t n_tiles = b->counted->n_tiles, sweep = arn_row_tiles_sweep(b->counted, tile);
    uint32_t n = 0;
    for (uint32_t k = b->group->n_ops; k-- > 0;) {
        const uint32_t made = b->tiles[(size_t)k * n_tiles + tile], kept = kept_of(b, k);
        const bool hands = arn_row_tiles_makes(b->counted, sweep, k) && made >= there;
        if (hands) b->handed[n++] = made;
        if (kept >= there && kept != ARENAUT_NONE && !(hands && kept == made))
            b->handed[n++] = kept;
    }
    if (n > 0) arn_draft_order_after(b->draft, b->handed, n);
}

/* Images that the group reads and does not make, each once. */
static void list_wholes(row_tiling *b) {
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        const arenaut_op *op = op_of(b, k);
        for (uint32_t i = 0; i < op->n_inputs && !arn_tile_runs_whole(facts_of(b, k)); i++) {
            const uint32_t id = op->inputs[i];
            if (id == ARENAUT_NONE || arn_tile_is_fixed(b->graph, id)) continue;
            if (arn_tile_maker(b->graph, b->group, id) != ARENAUT_NONE) continue;
            uint32_t at = 0;
            while (at < b->n_wholes && b->wholes[at] != id) at++;
            b->wholes[at] = id;
            if (at == b->n_wholes) b->n_wholes++;
        }
    }
}

/* The first tile runs after an image that the group reads, which it does anyway: but a runtime that
 * knows the sizes of one tile alone lets its tensors share memory with longer lived ones. */
static void order_first(row_tiling *b) {
    list_wholes(b);
    if (b->n_wholes == 0 || !b->graph->dialect->put_zero) {
        b->n_wholes = 0;
        return;
    }
    b->handed[0] = b->wholes[0];
    arn_draft_order_after(b->draft, b->handed, 1);
    for (uint32_t i = 0; i < b->n_wholes; i++) {
        b->wholes[b->n_wholes + i] = arn_draft_alias(b->draft, b->wholes[i]);
    }
}

/* The op itself, of the rows that all tiles have reduced. */
static void put_reduction(row_tiling *b, uint32_t k, uint32_t *tiles, uint32_t n) {
    const arenaut_op *op = op_of(b, k);
    const uint32_t rows = arn_tile_dim(b->graph, ARN_AXIS_H);
    memcpy(b->inputs, op->inputs, op->n_inputs * sizeof *b->inputs);
    b->inputs[0] = arn_draft_join(b->draft, rows, tiles, n, ARENAUT_NONE, tiles[0]);
    arn_draft_part(b->draft, b->group->first_op + k, b->inputs, op->outputs[0], NULL, 0);
}

static void join_result(row_tiling *b, uint32_t sweep, uint32_t k) {
    const arn_row_tiles *counted = b->counted;
    const uint32_t whole = op_of(b, k)->outputs[0];
    uint32_t *tiles = b->tiles + (size_t)k * counted->n_tiles, n = 0;
    for (uint32_t tile = counted->first_tile[sweep]; tile < counted->first_tile[sweep + 1];
         tile++) {
        if (!arn_rows_none(arn_row_tile_result(b->counted, tile, k))) tiles[n++] = tiles[tile];
    }
    if (facts_of(b, k)->reduces) put_reduction(b, k, tiles, n);
    else arn_draft_join(b->draft, arn_tile_dim(b->graph, ARN_AXIS_H), tiles, n, whole, whole);
}

/* The first pass over the images that ops of the group normalize. */
static void put_statistics(row_tiling *b) {
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        if (facts_of(b, k)->norm != ARN_NORM_ITSELF) continue;
        const uint32_t image = b->graph->image[op_of(b, k)->inputs[0]];
        b->norms[k] = arn_norm_put_statistics(b->draft, b->group->first_op + k, whole_of(b, image),
                                              b->group->pieces, b->sums);
    }
}

/* Ops of which a tile is outside of the tile rule. */
static void count_rounded(row_tiling *b) {
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        if (!b->counted->results[k].is_rounded) continue;
        if (b->draft->n_rounded++ == 0) b->draft->rounded = b->group->first_op + k;
    }
}

/* The ops that run whole behind so many sweeps. */
static void put_wholes(row_tiling *b, uint32_t n_sweeps) {
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        if (!arn_tile_runs_whole(facts_of(b, k)) || b->counted->results[k].ready != n_sweeps)
            continue;
        arn_draft_copy(b->draft, b->group->first_op + k);
    }
}

/* The first tile of the next sweep runs after the reductions of this one; ops behind the last one
 * need not wait. */
static void order_sweep(row_tiling *b, uint32_t sweep) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->group->n_ops && sweep + 1 < b->counted->n_sweeps; k++) {
        if (arn_row_tiles_makes(b->counted, sweep, k)) b->handed[n++] = op_of(b, k)->outputs[0];
    }
    arn_draft_order_after(b->draft, b->handed, n);
}

static void put_sweep(row_tiling *b, uint32_t sweep) {
    const arn_row_tiles *counted = b->counted;
    const uint32_t n = b->group->n_ops;
    memset(b->now, 0, 2 * n * sizeof *b->now); /* line buffers with it */
    memset(b->n_segments, 0, n * sizeof *b->n_segments);
    for (uint32_t tile = counted->first_tile[sweep]; tile < counted->first_tile[sweep + 1];
         tile++) {
        const uint32_t there = b->graph->program->n_tensors + b->draft->n_tensors;
        b->start[tile] = b->draft->n_ops;
        put_tile(b, tile);
        if (tile + 1 < counted->first_tile[sweep + 1]) order_next(b, tile, there);
    }
    b->start[counted->first_tile[sweep + 1]] = b->draft->n_ops;
    for (uint32_t k = 0; k < n; k++) {
        if (arn_row_tiles_makes(counted, sweep, k)) join_result(b, sweep, k);
    }
    order_sweep(b, sweep);
}

static void put_all(row_tiling *b) {
    const arn_row_tiles *counted = b->counted;
    count_rounded(b);
    put_wholes(b, 0);
    order_first(b);
    put_statistics(b);
    for (uint32_t sweep = 0; sweep < counted->n_sweeps; sweep++) {
        put_sweep(b, sweep);
        put_wholes(b, sweep + 1);
    }
    if (arn_row_tiles_call(b->group)) arn_draft_call_tiles(b->draft, b->start, counted->n_tiles);
}

/* Of all ops of the group. */
static size_t count_inputs(const row_tiling *b) {
    size_t n = 0;
    for (uint32_t k = 0; k < b->group->n_ops; k++) n += op_of(b, k)->n_inputs;
    return n;
}

void arn_row_tiles_put_counted(arn_draft *draft, const arn_row_tiles *counted) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    const size_t n = counted->group->n_ops, n_tiles = counted->n_tiles;
    row_tiling b = {
        .draft = draft,
        .counted = counted,
        .graph = counted->graph,
        .group = counted->group,
        .now = arn_allocate_zeroed(allocator, 2 * n, sizeof(row_slice)),
        .tiles = arn_allocate_zeroed(allocator,
                                     n * n_tiles + (n_tiles + 1) + 3 * n + most_segments(counted) +
                                         (size_t)2 * counted->group->pieces,
                                     sizeof(uint32_t)),
        .norms = arn_allocate(allocator, n, sizeof(arn_statistics)),
    };
    const bool in_segments = draft->graph->dialect->many_tiles;
    const size_t n_inputs = count_inputs(&b);
    b.inputs = arn_allocate(allocator, 3 * n_inputs, sizeof *b.inputs);
    if (in_segments)
        b.segments = arn_allocate(allocator, n * most_segments(counted), sizeof *b.segments);
    if (b.now && b.tiles && b.norms && b.inputs && (b.segments || !in_segments)) {
        b.line_buffer = b.now + n;
        b.start = b.tiles + n * n_tiles;
        b.handed = b.start + n_tiles + 1;
        b.n_segments = b.handed + 2 * n;
        b.parts = b.n_segments + n;
        b.sums = b.parts + most_segments(counted);
        b.wholes = b.inputs + n_inputs;
        put_all(&b);
    } else {
        draft->failed = true;
    }
    ARN_RELEASE(allocator, b.now, b.tiles, b.norms, b.inputs, b.segments);
}

bool arn_row_tiles_put(arn_draft *draft, const arenaut_split_stage *group) {
    arn_row_tiles counted = {0};
    if (arn_row_tiles_count(&counted, draft->graph, group))
        arn_row_tiles_put_counted(draft, &counted);
    else draft->refused = counted.refused;
    if (counted.failed) draft->failed = true;
    arn_row_tiles_free(&counted);
    return !draft->refused && !draft->failed;
}
