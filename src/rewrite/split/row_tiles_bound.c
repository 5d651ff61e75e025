/* A lower bound of the live bytes of row tiles, from the rows that row_tiles.c has counted, before
 * any op is emitted. While an op of a tile runs, these are live: the operands of the group that a
 * later tile reads again; the results of the tiles before; the line buffers of ops further on, and
 * those for the next tile of ops before it; and its own result, with its operand unless the one may
 * lie over the other. Paddings, copies of calls and rounding come on top of that. */
#include "core/checked.h"
#include "rewrite/split/tile_groups.h"

/* One tile. */
typedef struct at_tile {
    const arn_row_tiles *tiles;
    uint32_t number, sweep;
    bool reach, keeps;
    uint64_t others; /* results of the tiles before it */
    uint64_t read;   /* of the group's operands: read by this tile or a later one */
    uint64_t later;  /* read by a later one */
} at_tile;

static uint64_t bytes_of(const arn_row_tiles *b, uint32_t op, int64_t rows) {
    return rows > 0 ? (uint64_t)rows * b->results[op].row_bytes : 0;
}

/* Bytes of the group's operands that this tile or a later one reads. */
static uint64_t read_from(const arn_row_tiles *b, uint32_t tile) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        const arn_tiled_result *it = &b->results[k];
        if (it->last != ARENAUT_NONE && it->last >= tile) bytes += it->ends;
    }
    return bytes;
}

/* Rows of a result that the sweep makes in tiles of it before this one. */
static int64_t results_before(const arn_row_tiles *b, uint32_t tile, uint32_t op) {
    const uint32_t first = b->first_tile[arn_row_tiles_sweep(b, tile)];
    if (arn_row_tiles_pace(b->graph, b->group)) {
        while (tile > first && arn_rows_none(arn_row_tile(b, tile - 1, op)->make)) tile--;
        return tile > first ? arn_row_tile(b, tile - 1, op)->make.end : 0;
    }
    return arn_row_tile_own(b->group, tile - first, b->results[op].height).begin;
}

static uint64_t count_others(const arn_row_tiles *b, uint32_t tile) {
    const uint32_t sweep = arn_row_tiles_sweep(b, tile);
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        if (!arn_row_tiles_makes(b, sweep, k)) continue;
        bytes += bytes_of(b, k, results_before(b, tile, k));
    }
    return bytes;
}

/* The op's line buffer for the next tile. */
static uint64_t kept_for_next(const at_tile *a, uint32_t op) {
    const arn_row_tiles *b = a->tiles;
    if (!a->keeps || a->number + 1 == b->first_tile[a->sweep + 1] ||
        arn_row_tiles_makes(b, a->sweep, op)) {
        return 0;
    }
    const arn_row_tile_op *it = arn_row_tile(b, a->number, op);
    const arn_rows next = arn_row_tile(b, a->number + 1, op)->want;
    if (arn_row_tiles_pace(b->graph, b->group))
        return it->next < it->want.end ? bytes_of(b, op, it->want.end - it->next) : 0;
    return arn_rows_none(next) ? 0 : bytes_of(b, op, it->want.end - next.begin);
}

/* The op's line buffer from the tile before. A result of the group may be there as a tile of it
 * already. */
static uint64_t kept_before(const at_tile *a, uint32_t op) {
    const arn_row_tile_op *it = arn_row_tile(a->tiles, a->number, op);
    if (!a->keeps || arn_row_tiles_makes(a->tiles, a->sweep, op)) return 0;
    if (arn_rows_none(it->make))
        return arn_row_tiles_pace(a->tiles->graph, a->tiles->group) ? kept_for_next(a, op) : 0;
    return bytes_of(a->tiles, op, it->make.begin - it->want.begin);
}

/* The largest operand that another op of the group produces, without its line buffer. */
static uint64_t operand(const at_tile *a, uint32_t op) {
    const arn_row_tiles *b = a->tiles;
    const arenaut_op *it = &b->graph->program->ops[b->group->first_op + op];
    uint64_t largest = 0;
    for (uint32_t i = 0; i < it->n_inputs; i++) {
        const uint32_t from = arn_tile_producer(b->graph, b->group, it->inputs[i]);
        if (from == ARENAUT_NONE || arn_row_tiles_makes(b, a->sweep, from)) continue;
        if (arn_tile_repeats_row(b->graph, b->group->first_op + op, it->inputs[i])) continue;
        const uint64_t bytes =
            bytes_of(b, from, arn_rows_count(arn_row_tile(b, a->number, op)->input));
        const uint64_t kept = kept_for_next(a, from);
        largest = arn_max_u64(largest, bytes > kept ? bytes - kept : 0);
    }
    return largest;
}

static uint64_t bound_of_tile(const at_tile *a) {
    const arn_row_tiles *b = a->tiles;
    uint64_t most = a->read + a->others;
    uint64_t kept =
        0; /* line buffers: for ops to come, and for the next tile of ops that have run */
    for (uint32_t k = 0; a->keeps && k < b->group->n_ops; k++) kept += kept_before(a, k);
    for (uint32_t k = 0; k < b->group->n_ops; k++) {
        const arn_row_tile_op *it = arn_row_tile(b, a->number, k);
        if (arn_rows_none(it->make)) continue;
        kept -= kept_before(a, k);
        const uint64_t own =
            bytes_of(b, k, arn_rows_count(it->run)) + (a->reach ? 0 : operand(a, k));
        most = arn_max_u64(most, a->later + a->others + kept + own);
        kept += kept_for_next(a, k);
    }
    return most;
}

uint64_t arn_row_tiles_bound(const arn_row_tiles *tiles, bool reach) {
    at_tile a = {.tiles = tiles,
                 .reach = reach,
                 .keeps = arn_row_tiles_keep(tiles->group),
                 .later = read_from(tiles, 0)};
    uint64_t most = 0;
    for (; a.number < tiles->n_tiles; a.number++) {
        a.sweep = arn_row_tiles_sweep(tiles, a.number);
        a.others = count_others(tiles, a.number);
        a.read = a.later;
        a.later = read_from(tiles, a.number + 1);
        most = arn_max_u64(most, bound_of_tile(&a));
    }
    return most;
}
