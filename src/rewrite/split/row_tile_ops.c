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
#include "rewrite/split/tile_dialect.h"
#include "rewrite/split/tile_groups.h"
#include "rewrite/split/tiled_draft.h"

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
    row_slice *now;         /* per op: its result in this tile */
    row_slice *line_buffer; /* per op: the rows kept for the next tile */
    uint32_t *tiles;        /* per op, then tile: tiles of a result of the group */
    uint32_t *start;        /* per tile, and where the last ends: the op of the draft */
    uint32_t *handed;       /* tensors of a tile that are read after it */
    uint32_t *inputs;       /* of the op at work */
} row_tiling;

static const arenaut_op *op_of(const row_tiling *b, uint32_t k) {
    return &b->graph->program->ops[b->group->first_op + k];
}

static const arn_tile_op *facts_of(const row_tiling *b, uint32_t k) {
    return &b->graph->ops[b->group->first_op + k];
}

static int64_t height(const row_tiling *b, uint32_t tensor) {
    return b->graph->program->tensors[tensor].dims[arn_tile_dim(b->graph, ARN_AXIS_H)];
}

static bool reads_computed_constants(const arn_tile_graph *graph, uint32_t op) {
    const arenaut_op *o = &graph->program->ops[op];
    for (uint32_t i = 0; i < o->n_inputs; i++) {
        if (o->inputs[i] == ARENAUT_NONE || arn_tile_is_constant(graph, o->inputs[i])) continue;
        if (arn_tile_is_fixed(graph, o->inputs[i])) return true;
    }
    return false;
}

const char *arn_row_tiles_refuse(const arn_tile_graph *graph, const arenaut_split_stage *group) {
    const char *why = arn_tile_dialect_refuse(graph->dialect, group->mode);
    bool some = false;
    if (why) return why;
    for (uint32_t k = 0; k < group->n_ops; k++) {
        const uint32_t at = group->first_op + k;
        if (graph->ops[at].of_constants) continue;
        if (graph->ops[at].kind == ARN_TILE_OPAQUE) return "an op in it cannot be tiled";
        if (arn_row_tiles_call(group) && reads_computed_constants(graph, at)) {
            return "it reads weights that ops compute, and each call would copy them";
        }
        if (!arn_tile_is_result(graph, group, k)) continue;
        some = true;
        const uint32_t made = graph->program->ops[at].outputs[0];
        const int64_t all = graph->program->tensors[made].dims[arn_tile_dim(graph, ARN_AXIS_H)];
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
        const row_slice whole = {id, {0, height(b, id)}};
        const bool repeats = arn_tile_repeats_row(b->graph, b->group->first_op + k, id);
        inputs[i] = take(b, from == ARENAUT_NONE ? &whole : &b->now[from],
                         repeats ? (arn_rows){0, 1} : wanted);
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

/* Puts op `k` for the rows `made`. */
static void put_window(row_tiling *b, uint32_t k, arn_rows made, arn_rows in, uint32_t *inputs,
                       uint32_t output) {
    const arn_tile_op *facts = facts_of(b, k);
    const arn_tile_window *h = &facts->window[ARN_AXIS_H], *w = &facts->window[ARN_AXIS_W];
    const arn_rows all = arn_rows_with_halo(h, made);
    const arn_tile_window *c = &facts->window[ARN_AXIS_C]; /* none but of a PAD */
    const int64_t pads[6] = {
        in.begin - all.begin, all.end - in.end, w->before, w->after, c->before, c->after};
    const uint32_t at = b->group->first_op + k;
    const bool some = pads[0] != 0 || pads[1] != 0 || pads[2] != 0 || pads[3] != 0;
    static const int64_t unpadded[4] = {0};
    if (facts->sizes > 0 && !b->draft->failed) {
        int64_t dims[ARN_IMAGE_RANK]; /* a copy: the draft's own move as it grows */
        memcpy(dims, arn_draft_dims(b->draft, output), sizeof dims);
        inputs[facts->sizes] = arn_draft_numbers(b->draft, dims, ARN_IMAGE_RANK, 0);
    }
    if (facts->kind == ARN_TILE_PAD) {
        inputs[1] = b->graph->dialect->list_pads(b->draft, pads);
        arn_draft_part(b->draft, at, inputs, output, NULL);
    } else if (facts->pads_sides) {
        const arn_rows edges = padded_edges(facts, in, made);
        const int64_t sides[4] = {edges.begin, pads[2], edges.end, pads[3]};
        arn_draft_part(b->draft, at, inputs, output, sides);
    } else if (!some || facts->in_blocks) {
        arn_draft_part(b->draft, at, inputs, output, facts->same ? unpadded : NULL);
    } else if (arn_row_tiles_crop(b->counted, k) || arn_rows_same_pads(h, in, made)) {
        arn_draft_part(b->draft, at, inputs, output, NULL);
    } else {
        inputs[0] = arn_draft_pad(b->draft, inputs[0], pads);
        arn_draft_part(b->draft, at, inputs, output, unpadded);
    }
}

/* The rows that the op computes in this tile. */
static row_slice put_op(row_tiling *b, const arn_row_tile_op *tile, uint32_t k) {
    gather(b, k, tile->input, b->inputs);
    const uint32_t made =
        arn_draft_tile(b->draft, op_of(b, k)->outputs[0], arn_tile_dim(b->graph, ARN_AXIS_H), 0,
                       arn_rows_count(tile->run));
    put_window(b, k, tile->run, tile->input, b->inputs, made);
    const row_slice all = {made, tile->run};
    return (row_slice){take(b, &all, tile->make), tile->make};
}

/* Joins the line buffer with the new rows, and keeps the next tile's halo in it. */
static void keep(row_tiling *b, uint32_t tile, uint32_t k, row_slice made) {
    const uint32_t of = op_of(b, k)->outputs[0];
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

static void put_tile(row_tiling *b, uint32_t tile) {
    const uint32_t n = b->group->n_ops, n_tiles = b->group->pieces;
    for (uint32_t k = 0; k < n; k++) {
        const arn_row_tile_op *it = arn_row_tile(b->counted, tile, k);
        row_slice made = {ARENAUT_NONE, {0, 0}};
        if (arn_rows_none(it->want)) continue;
        if (!arn_rows_none(it->make)) made = put_op(b, it, k);
        keep(b, tile, k, made);
        if (!b->counted->results[k].is_result) continue;
        const arn_rows own = arn_row_tile_own(b->group, tile, b->counted->results[k].height);
        b->tiles[(size_t)k * n_tiles + tile] = take(b, &b->now[k], own);
    }
}

/* Lets the next tile run after this one in any sequence of the runtime: after its results
 * and the line buffers that it leaves. The last of them come first, so that a runtime which goes
 * from readers to operands, and there to the op that stands last in the file, takes the first
 * first. */
static void order_next(row_tiling *b, uint32_t tile, uint32_t there) {
    const uint32_t n_tiles = b->group->pieces;
    uint32_t n = 0;
    for (uint32_t k = b->group->n_ops; k-- > 0 && tile + 1 < n_tiles;) {
        const uint32_t made = b->tiles[(size_t)k * n_tiles + tile], kept = b->line_buffer[k].tensor;
        const bool hands = b->counted->results[k].is_result && made >= there;
        if (hands) b->handed[n++] = made;
        if (kept >= there && kept != ARENAUT_NONE && !(hands && kept == made))
            b->handed[n++] = kept;
    }
    if (n > 0 || tile + 1 == n_tiles) arn_draft_order_after(b->draft, b->handed, n);
}

/* The first tile runs after an image that the group reads, which it does anyway: but a runtime that
 * knows the sizes of one tile alone lets its tensors share memory with longer lived ones. */
static void order_first(row_tiling *b) {
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        const arenaut_op *op = op_of(b, k);
        for (uint32_t i = 0; i < op->n_inputs && !facts_of(b, k)->of_constants; i++) {
            const uint32_t id = op->inputs[i];
            if (id == ARENAUT_NONE || arn_tile_is_fixed(b->graph, id)) continue;
            if (arn_tile_producer(b->graph, b->group, id) != ARENAUT_NONE) continue;
            b->handed[0] = id;
            arn_draft_order_after(b->draft, b->handed, 1);
            return;
        }
    }
}

static void put_all(row_tiling *b) {
    const uint32_t n = b->group->n_ops, n_tiles = b->group->pieces;
    for (uint32_t k = 0; k < n; k++) {
        if (facts_of(b, k)->of_constants) arn_draft_copy(b->draft, b->group->first_op + k);
    }
    order_first(b);
    for (uint32_t tile = 0; tile < n_tiles; tile++) {
        const uint32_t there = b->graph->program->n_tensors + b->draft->n_tensors;
        b->start[tile] = b->draft->n_ops;
        put_tile(b, tile);
        order_next(b, tile, there);
    }
    b->start[n_tiles] = b->draft->n_ops;
    for (uint32_t k = 0; k < n; k++) {
        if (!b->counted->results[k].is_result) continue;
        const uint32_t whole = op_of(b, k)->outputs[0];
        arn_draft_join(b->draft, arn_tile_dim(b->graph, ARN_AXIS_H), b->tiles + (size_t)k * n_tiles,
                       n_tiles, whole, whole);
    }
    if (arn_row_tiles_call(b->group)) arn_draft_call_tiles(b->draft, b->start, n_tiles);
}

static uint32_t most_inputs(const row_tiling *b) {
    uint32_t most = 0;
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        if (op_of(b, k)->n_inputs > most) most = op_of(b, k)->n_inputs;
    }
    return most;
}

void arn_row_tiles_put_counted(arn_draft *draft, const arn_row_tiles *counted) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    const size_t n = counted->group->n_ops, n_tiles = counted->group->pieces;
    row_tiling b = {
        .draft = draft,
        .counted = counted,
        .graph = counted->graph,
        .group = counted->group,
        .now = arn_allocate_zeroed(allocator, 2 * n, sizeof(row_slice)),
        .tiles = arn_allocate_zeroed(allocator, (n + 1) * n_tiles + 1 + 2 * n, sizeof(uint32_t)),
    };
    b.inputs = arn_allocate(allocator, most_inputs(&b), sizeof *b.inputs);
    if (b.now && b.tiles && b.inputs) {
        b.line_buffer = b.now + n;
        b.start = b.tiles + n * n_tiles;
        b.handed = b.start + n_tiles + 1;
        put_all(&b);
    } else {
        draft->failed = true;
    }
    arn_release(allocator, b.now);
    arn_release(allocator, b.tiles);
    arn_release(allocator, b.inputs);
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
