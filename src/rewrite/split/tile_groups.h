/* Tile groups (stages in our flags): the geometry of their row tiles, refusal of groups that cannot
 * be tiled, their ops in a draft, and lower bounds. */
#ifndef ARN_REWRITE_SPLIT_TILE_GROUPS_H
#define ARN_REWRITE_SPLIT_TILE_GROUPS_H

#include <arenaut/rewrite.h>

#include "rewrite/split/tile_dialect.h"
#include "rewrite/split/tiled_draft.h"

/* ---- geometry of row tiles ---- */

/* The rows with halo of every tensor of a group, tile by tile, counted before any op is emitted,
 * and a lower bound of the live bytes. */

typedef struct arn_rows {
    int64_t begin, end; /* none: begin >= end */
} arn_rows;

static inline bool arn_rows_none(arn_rows r) { return r.begin >= r.end; }
static inline int64_t arn_rows_count(arn_rows r) { return arn_rows_none(r) ? 0 : r.end - r.begin; }

/* One op of the group in one tile. */
typedef struct arn_row_tile_op {
    arn_rows want;  /* rows of its result, with halo, that the tile needs */
    arn_rows make;  /* those of them that are in no line buffer */
    arn_rows run;   /* rows that the op computes for that, some of them wrong if it is cropped */
    arn_rows input; /* rows of its operands with halo; none if it computes nothing */
    int64_t next;   /* the first row of its result that a later tile needs; INT64_MAX: none */
} arn_row_tile_op;  /* none of all if the tile does without it */

/* One op of the group, the same in all tiles. */
typedef struct arn_tiled_result {
    int64_t height, done; /* rows of its result in all, and computed by earlier tiles */
    int64_t step;         /* rows that a tile computes if it sets its own pace */
    uint64_t row_bytes;   /* of its result */
    uint64_t ends;  /* bytes of whole operands of the group that this op is the last to read */
    uint32_t last;  /* the last tile in which it computes rows; ARENAUT_NONE: none */
    bool is_result; /* live-out: an op behind the group reads its result */
} arn_tiled_result;

typedef struct arn_row_tiles {
    const arn_tile_graph *graph;
    const arenaut_split_stage *group;
    uint32_t first_op, n_ops;       /* the range that `results` was last filled for */
    uint32_t n_tiles;               /* the group's, or passes over its ops (see below) */
    uint32_t latest;                /* the op that the last pass ends with so far */
    arn_row_tile_op *ops;           /* by tile, then op */
    arn_tiled_result *results;      /* per op */
    struct arn_row_demand *demands; /* room for one per op */
    uint32_t ops_capacity, results_capacity, demands_capacity;
    uint64_t places;     /* places tried for cropped windows, in all counts */
    const char *refused; /* the reason why the last group cannot be tiled so */
    bool failed;         /* no memory */
} arn_row_tiles;

/* Counts a group that is not refused, with the memory that there is from the last one. False, with
 * the reason, if it cannot be tiled so, or there is no memory. O(ops × tiles + places). */
bool arn_row_tiles_count(arn_row_tiles *tiles, const arn_tile_graph *graph,
                         const arenaut_split_stage *group);
void arn_row_tiles_free(arn_row_tiles *tiles);

static inline const arn_row_tile_op *arn_row_tile(const arn_row_tiles *tiles, uint32_t tile,
                                                  uint32_t op) {
    return &tiles->ops[(size_t)tile * tiles->group->n_ops + op];
}

/* Number of tiles after the first one in which an op of the group computes rows. */
uint32_t arn_row_tiles_repeats(const arn_row_tiles *tiles, uint32_t op);

/* Ops of the group are cropped rather than padded; the halo of the next tile is kept in line
 * buffers; tiles that are alike become calls. */
bool arn_row_tiles_crop(const arn_row_tiles *tiles, uint32_t op);
bool arn_row_tiles_keep(const arenaut_split_stage *group);
bool arn_row_tiles_call(const arenaut_split_stage *group);

/* Each op has tiles of its own height, computed when a reader needs them: where the dialect has no
 * reason to spare ops, and line buffers keep halos. What is called a tile then is a pass over the
 * ops of the group, of which some compute rows. */
bool arn_row_tiles_pace(const arn_tile_graph *graph, const arenaut_split_stage *group);

/* The rows of a result of the group that are the tile's own, without halo. */
arn_rows arn_row_tile_own(const arenaut_split_stage *group, uint32_t tile, int64_t all);
/* The same in passes, too. */
arn_rows arn_row_tile_result(const arn_row_tiles *tiles, uint32_t tile, uint32_t op);

/* The rows of the input, with halo, that the rows of an output depend on; those outside of the
 * image are padding. */
arn_rows arn_rows_with_halo(const arn_tile_window *window, arn_rows made);
/* Of a window that goes up: rows in front of `made` and behind that see these input rows, too. */
static inline arn_rows arn_rows_cut(const arn_tile_window *window, arn_rows in, arn_rows made) {
    const int64_t end = (in.end - 1) * window->up + window->filter + window->after;
    return (arn_rows){made.begin + window->before - in.begin * window->up,
                      end - made.end - window->before};
}
/* The rule SAME pads these rows of input as the windows of `made` need it. */
bool arn_rows_same_pads(const arn_tile_window *window, arn_rows in, arn_rows made);

/* Op `at` reads this operand, an image of one row, once for each row of its result: windows over
 * one row may make several as well, but elementwise ops alone repeat it. */
static inline bool arn_tile_repeats_row(const arn_tile_graph *graph, uint32_t at, uint32_t tensor) {
    const arenaut_tensor *tensors = graph->program->tensors;
    const uint32_t rows = arn_tile_dim(graph, ARN_AXIS_H);
    return graph->dialect->broadcasts && graph->ops[at].kind == ARN_TILE_ELEMENTWISE &&
           tensors[tensor].dims[rows] == 1 &&
           tensors[graph->program->ops[at].outputs[0]].dims[rows] > 1;
}

/* The op of the group that produces a tensor tile by tile; ARENAUT_NONE: it is whole. */
static inline uint32_t arn_tile_producer(const arn_tile_graph *graph,
                                         const arenaut_split_stage *group, uint32_t tensor) {
    if (tensor == ARENAUT_NONE || arn_tile_is_fixed(graph, tensor)) return ARENAUT_NONE;
    const uint32_t producer = graph->producer[tensor];
    const bool inside = producer >= group->first_op && producer - group->first_op < group->n_ops;
    return inside && producer != ARENAUT_NONE ? producer - group->first_op : ARENAUT_NONE;
}
/* The result of op `op` of the group is live-out. */
bool arn_tile_is_result(const arn_tile_graph *graph, const arenaut_split_stage *group, uint32_t op);

/* Lower bound of the live bytes while the group's tiles run, without the tensors that are live
 * through it. `reach`: results may reach into operands. */
uint64_t arn_row_tiles_bound(const arn_row_tiles *tiles, bool reach);

/* ---- groups of either kind ---- */

/* The reason why the group cannot be tiled; NULL: it can. */
const char *arn_channel_tiles_refuse(const arn_tile_graph *graph, const arenaut_split_stage *group);
const char *arn_row_tiles_refuse(const arn_tile_graph *graph, const arenaut_split_stage *group);

/* Put the group's ops into the draft. Row tiles: false if the group cannot be tiled as asked, which
 * shows only when its rows are counted; the draft is then good for nothing. */
void arn_channel_tiles_put(arn_draft *draft, const arenaut_split_stage *group);
bool arn_row_tiles_put(arn_draft *draft, const arenaut_split_stage *group);
/* Of a group that has been counted. */
void arn_row_tiles_put_counted(arn_draft *draft, const arn_row_tiles *counted);

/* Channels per tile, of a group that is not refused. */
void arn_channel_tiles_count(const arn_tile_graph *graph, const arenaut_split_stage *group,
                             int64_t *counts);

/* The whole program with these groups tiled; false as above, with `bad` the group. */
bool arn_tile_groups_put(arn_draft *draft, const arenaut_split_stage *groups, uint32_t n_groups,
                         uint32_t *bad);

/* Lower bound of the live bytes while channel tiles run. `reach`: results may reach into operands.
 */
uint64_t arn_channel_tiles_bound(const arn_tile_graph *graph, const arenaut_split_stage *group,
                                 bool reach);

/* Tiles these groups, which must be in the order of their ops and apart. BAD_ARGUMENT, with the
 * group and the reason, if ops cannot be tiled as asked; `program` stays as it is, and may be freed
 * before the rewrite. O(ops of the new program × tiles). */
arenaut_status arn_split(const arenaut_program *program, const arenaut_split_stage *groups,
                         uint32_t n_groups, const arenaut_allocator *allocator,
                         arenaut_rewrite **out, arenaut_error *err);

#endif
