/* Tile groups (stages in our flags): the geometry of their row tiles, refusal of groups that cannot
 * be tiled, their ops in a draft, and lower bounds; the cost of a draft, and the choices of groups
 * that are best by it. */
#ifndef ARN_REWRITE_SPLIT_TILE_GROUPS_H
#define ARN_REWRITE_SPLIT_TILE_GROUPS_H

#include <arenaut/kernels.h>
#include <arenaut/rewrite.h>

#include "rewrite/split/row_windows.h"
#include "rewrite/split/tile_kernels.h"
#include "rewrite/split/tiled_draft.h"
#include "rewrite/tile_dialects/tile_dialect.h"

/* ---- geometry of row tiles ---- */

/* The rows with halo of every tensor of a group, tile by tile, counted before any op is emitted,
 * and a lower bound of the live bytes. */

/* An op that reads the result of a reduction of the group (or of an op that is squeezed, which runs
 * between) needs all rows of the image that is reduced before it. So tiles go over all rows several
 * times, in sweeps. Each makes the reductions whose images can be made by then, and drops the rows;
 * the last makes the other results of the group. Ops run in each sweep in which their rows are
 * needed: anew, with line buffers anew. */
enum { ARN_MOST_SWEEPS = 4 };

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
    uint64_t ends;   /* bytes of whole operands of the group that this op is the last to read */
    uint32_t last;   /* the last tile in which it computes rows; ARENAUT_NONE: none */
    uint32_t ready;  /* sweeps behind which it can run, or that make the result of a reduction; of
                      * an op on constants, behind which it must have run */
    bool is_result;  /* live-out: an op behind the group reads its result */
    bool is_rounded; /* a tile of it is outside of the tile rule */
} arn_tiled_result;

typedef struct arn_row_tiles {
    const arn_tile_graph *graph;
    const arenaut_split_stage *group;
    uint32_t first_op, n_ops; /* the range that `results` was last filled for */
    uint32_t n_tiles;         /* of all sweeps: the group's, or passes over its ops (see
                               * below) */
    uint32_t n_sweeps;        /* over the rows of all images */
    uint32_t first_tile[ARN_MOST_SWEEPS + 1]; /* of each sweep, and behind the last */
    uint32_t latest;                          /* the op that the last pass ends with so far */
    arn_row_tile_op *ops;                     /* by tile, then op */
    arn_tiled_result *results;                /* per op */
    struct arn_row_demand *demands;           /* room for one per op */
    uint32_t ops_capacity, results_capacity, demands_capacity;
    bool reflects;       /* an op of the group shows rows of its operand in reverse */
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

/* The rows of a result of the group that are the own ones of a tile of a sweep, without halo. */
arn_rows arn_row_tile_own(const arenaut_split_stage *group, uint32_t tile, int64_t all);
/* The same of a result that its sweep makes, in passes, too; none of another. */
arn_rows arn_row_tile_result(const arn_row_tiles *tiles, uint32_t tile, uint32_t op);

/* The sweep of a tile. */
uint32_t arn_row_tiles_sweep(const arn_row_tiles *tiles, uint32_t tile);
/* The sweep makes the op's result whole. */
bool arn_row_tiles_makes(const arn_row_tiles *tiles, uint32_t sweep, uint32_t op);

/* Rows of an image, or of that of which a tensor has the elements. */
static inline int64_t arn_tile_height(const arn_tile_graph *graph, uint32_t tensor) {
    const arenaut_tensor *image = &graph->program->tensors[graph->image[tensor]];
    return image->dims[arn_tile_dim(graph, ARN_AXIS_H)];
}

/* Op `at` reads this operand, an image of one row, once for each row of its result: windows over
 * one row may make several as well, but elementwise ops alone repeat it. */
static inline bool arn_tile_repeats_row(const arn_tile_graph *graph, uint32_t at, uint32_t tensor) {
    return graph->dialect->broadcasts && graph->ops[at].kind == ARN_TILE_ELEMENTWISE &&
           arn_tile_height(graph, tensor) == 1 &&
           arn_tile_height(graph, graph->program->ops[at].outputs[0]) > 1;
}

/* Rows that are shared out among the tiles of an op: of its result, or of its image if it is a
 * reduction. */
static inline int64_t arn_tile_rows(const arn_tile_graph *graph, uint32_t at) {
    const arenaut_op *op = &graph->program->ops[at];
    const uint32_t image = graph->ops[at].reduces ? op->inputs[0] : op->outputs[0];
    return arn_tile_height(graph, image);
}

/* The op of the group that makes a tensor; ARENAUT_NONE: it is there before. */
static inline uint32_t arn_tile_maker(const arn_tile_graph *graph, const arenaut_split_stage *group,
                                      uint32_t tensor) {
    if (tensor == ARENAUT_NONE || arn_tile_is_fixed(graph, tensor)) return ARENAUT_NONE;
    const uint32_t producer = arn_tile_def(graph, tensor);
    const bool inside = producer >= group->first_op && producer - group->first_op < group->n_ops;
    return inside && producer != ARENAUT_NONE ? producer - group->first_op : ARENAUT_NONE;
}
/* The same, tile by tile; ARENAUT_NONE: it is whole. */
static inline uint32_t arn_tile_producer(const arn_tile_graph *graph,
                                         const arenaut_split_stage *group, uint32_t tensor) {
    const uint32_t maker = arn_tile_maker(graph, group, tensor);
    return maker != ARENAUT_NONE && arn_tile_is_squeezed(graph, tensor) ? ARENAUT_NONE : maker;
}
/* The result of op `op` of the group, of which it has tiles, is live-out. */
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
 * group and the reason, if ops cannot be tiled as asked; `rounding`: results may be rounded
 * otherwise than those of the whole; `program` stays as it is, and may be freed before the rewrite.
 * O(ops of the new program × tiles). */
arenaut_status arn_split(const arenaut_program *program, const arenaut_split_stage *groups,
                         uint32_t n_groups, bool rounding, const arenaut_allocator *allocator,
                         arenaut_rewrite **out, arenaut_error *err);

/* ---- the cost of a draft ---- */

/* Memory while ops run, bytes that the runtime keeps of them, multiplications. A group can be
 * costed by itself: tensors live through it are so whatever becomes of other groups. */

/* Ops [first, end) of the program before. */
typedef struct arn_op_range {
    uint32_t first, end;
} arn_op_range;

typedef struct arn_draft_cost {
    uint64_t macs;
    int64_t kept;  /* by the runtime, of ops, and of tensors that the program had not */
    int64_t notes; /* that the runtime makes while it plans, of those tensors */
    uint32_t n_ops;
    int64_t shared; /* of `kept`, at most: for tensors that other groups may have, too */
} arn_draft_cost;

typedef struct arn_costing {
    const arn_tile_graph *graph;
    const arenaut_split_options *options;
    arn_draft_kernels kernels;
    uint32_t *first_use;    /* per tensor of the program: the first op with it as an argument */
    uint32_t *first, *last; /* per tensor of the draft: its ops; first NONE: not seen */
    uint32_t *seen;         /* tensors of the draft */
    uint32_t *mark;         /* per tensor of the draft: for which method it was counted */
    int64_t *change;        /* per op of the draft */
    uint32_t first_capacity, last_capacity, seen_capacity, mark_capacity, change_capacity;
    bool failed; /* no memory */
} arn_costing;

arn_costing arn_costing_begin(const arn_tile_graph *graph, const arenaut_split_options *options);
void arn_costing_free(arn_costing *costing);

/* Bytes of a tensor of the program in the arena, rounded. */
uint64_t arn_tile_bytes(const arn_tile_graph *graph, uint32_t tensor);

/* Bytes that the kernel of an op asks for while it runs, as far as that is known. */
uint64_t arn_tile_scratch(const arn_costing *costing, uint32_t op);

/* Bytes of tensors that are live before a range, and behind it, too. O(tensors). */
uint64_t arn_tile_live_through(const arn_tile_graph *graph, arn_op_range range);

/* The peak of live bytes of a draft of a range, with `live_through` bytes through it, as the
 * runtime rounds them, if results reach into operands as far as kernels allow. False if there is no
 * memory. Most drafts need too much, so that this is asked first, and of few the rest. */
bool arn_draft_peak_of(arn_costing *costing, const arn_draft *draft, arn_op_range range,
                       uint64_t live_through, uint64_t *peak);
/* The rest, once the draft's constants are shared. */
bool arn_draft_cost_of(arn_costing *costing, const arn_draft *draft, arn_op_range range,
                       arn_draft_cost *cost);

/* Multiplications of a draft. */
uint64_t arn_draft_macs(const arn_draft *draft);

/* ---- Pareto front ---- */

/* The Pareto front of the candidates of a search: tile groups to take together, for each bound on
 * live bytes. Groups that are apart do not touch each other's cost. */

/* The cost that tiling adds. */
typedef struct arn_tile_price {
    int64_t kept, notes; /* as in arn_draft_cost */
    int64_t macs, ops;
    int64_t shared;
    int64_t rounded; /* ops with a tile outside of the tile rule; no cost, but said */
} arn_tile_price;

typedef struct arn_tile_candidate {
    arenaut_split_stage group;
    uint64_t peak; /* of live bytes while it runs */
    arn_tile_price price;
} arn_tile_candidate;

/* Some of the candidates, apart and in the order of their ops. */
typedef struct arn_tile_choice {
    uint64_t peak; /* of the whole program with them */
    uint64_t sum;  /* bytes to reserve, but for a part that tiling does not change */
    arn_tile_price price;
    uint32_t first, n; /* in the front's list */
} arn_tile_choice;

/* Choices, each the cheapest for its peak: the first tiles nothing; the peaks of the next fall, and
 * the bytes that the runtime keeps rise. */
typedef struct arn_tile_front {
    arn_tile_choice *choices;
    arenaut_split_stage *groups;
    uint32_t n, n_groups, capacity, groups_capacity;
    uint64_t visits; /* of ops and candidates, until it was found */
} arn_tile_front;

typedef struct arn_search_space {
    const arn_tile_graph *graph;
    const arenaut_split_options *options;
    uint64_t *live; /* per op, nothing tiled */
    int64_t notes; /* bytes that the runtime needs while it plans the program as it is, beyond those
                    * that it keeps only then */
    int64_t max_macs; /* that may be added */
    arn_tile_candidate *candidates;
    uint32_t n, capacity;
} arn_search_space;

/* Candidates of a front. */
typedef struct arn_tile_filter {
    bool no_macs; /* none that repeats multiplications */
    bool even;    /* none of unequal tiles */
} arn_tile_filter;

/* Fills the front, which may hold older choices. False if there is no memory. */
bool arn_tile_front_find(const arn_search_space *space, arn_tile_filter filter,
                         arn_tile_front *front);
void arn_tile_front_free(arn_tile_front *front, const arenaut_allocator *allocator);

/* The least sum of a choice that keeps no more than `kept`. O(n). */
uint64_t arn_tile_least_sum(const arn_tile_front *front, int64_t kept);

/* Lists the choices of two fronts, of all candidates and of those that repeat no multiplications,
 * without dominated ones: as `to`'s choices, or as those of `even` tiles. False if there is no
 * memory in the region. */
bool arn_tile_choices_list(arn_region *region, arenaut_split_front *to, const arn_tile_front *all,
                           const arn_tile_front *no_macs, bool even);

#endif
