/* A program to be tiled: its definitions and uses (analysis/def_use.h), with the window of each op
 * that can be tiled, which is all that the geometry of tiles and the search know of it, whatever
 * its format. */
#ifndef ARN_REWRITE_SPLIT_TILE_GRAPH_H
#define ARN_REWRITE_SPLIT_TILE_GRAPH_H

#include <arenaut/rewrite.h>

#include "analysis/def_use.h"

/* Axes of an image; its dialect says which dimension of a tensor each of them is. A signal has H
 * alone, and a volume V besides: its depth is H. Row tiles are parts of H. */
enum { ARN_AXIS_H, ARN_AXIS_W, ARN_AXIS_V, ARN_AXIS_C, ARN_IMAGE_AXES };
enum { ARN_IMAGE_RANK = 5 }; /* of an image at most */

enum {
    ARN_TILE_INPUTS = 3,        /* arguments of an op that can be tiled, but for concatenations */
    ARN_TILE_LONGEST = 1 << 18, /* elements along an axis of an image that can be tiled */
    ARN_TILE_ALSO = 64,         /* bits of arn_tile_op.also */
    ARN_TILE_SQUEEZED = 65536,  /* bytes that an op makes at most of the results of reductions, to
                                 * run on all of them */
};

typedef enum arn_tile_kind {
    ARN_TILE_OPAQUE, /* not to be tiled */
    ARN_TILE_CONV,
    ARN_TILE_DEPTHWISE,
    ARN_TILE_POOL,
    ARN_TILE_PAD,
    ARN_TILE_ELEMENTWISE, /* each element of the result by itself */
    ARN_TILE_JOIN,        /* concatenation of channels */
} arn_tile_kind;

static inline bool arn_tile_is_fitted(arenaut_split_mode mode) {
    return mode == ARENAUT_SPLIT_FITTED || mode == ARENAUT_SPLIT_FITTED_OVER;
}

static inline bool arn_tile_by_channels(arenaut_split_mode mode) {
    return mode == ARENAUT_SPLIT_CHANNELS || arn_tile_is_fitted(mode);
}

/* Along one axis: output i sees `filter` inputs, `dilation` apart, from i * stride - before on;
 * those past an end are padding. If `up` is above 1, it is the other way round: input i is seen by
 * `filter` outputs, from i * up - before on, and those past an end are not there; `after` of them
 * are made behind the last input, for nothing. */
typedef struct arn_tile_window {
    int64_t filter, stride, dilation, before, after, up;
} arn_tile_window;

/* Ops that tiles are made of beside parts of those before, most of them to move data, under the
 * names of any dialect. */
typedef enum arn_draft_move {
    ARN_MOVE_NONE,
    ARN_MOVE_SLICE, /* elements [begin, end) along dimension `axis` of its operand */
    ARN_MOVE_JOIN,  /* concatenation along dimension `axis` */
    ARN_MOVE_PAD,   /* zeroes around its operand */
    /* Of order edges: one element of its operand, one of its operands, zero, and a sum. */
    ARN_MOVE_PEEK,
    ARN_MOVE_ANY,
    ARN_MOVE_ZERO,
    ARN_MOVE_ADD,
    /* Of aliases: a number without axes, and the image in the shape that it has. */
    ARN_MOVE_SCALAR,
    ARN_MOVE_ALIAS,
    /* Of reductions: the average of each row, or its greatest element. */
    ARN_MOVE_AVERAGE,
    ARN_MOVE_GREATEST,
    /* Of normalizations: arithmetic on images, also with a number that the op states, their average
     * by channel, and other shapes. */
    ARN_MOVE_SUB,
    ARN_MOVE_MUL,
    ARN_MOVE_RAISE, /* a sum with `number` */
    ARN_MOVE_MEAN,
    ARN_MOVE_ROOT,
    ARN_MOVE_INVERSE,
    ARN_MOVE_EXPAND,
    ARN_MOVE_COUNT
} arn_draft_move;

/* The part of an op in a normalization by the statistics of its whole image, of which the ops
 * around may give the image another shape. */
typedef enum arn_norm_role { ARN_NORM_NONE, ARN_NORM_SHAPE, ARN_NORM_ITSELF } arn_norm_role;

typedef struct arn_tile_op {
    arn_tile_kind kind;
    arn_norm_role norm;
    double epsilon;                         /* of a normalization: added to each variance */
    const char *number;                     /* likewise, as the op states it; NULL: by a constant */
    int64_t groups;                         /* likewise: of channels */
    int64_t block;                          /* likewise, of a signal: places that are a row of its
                                             * statistics; of an image 1 */
    arn_tile_window window[ARN_IMAGE_AXES]; /* of the axes that it has; C of a PAD alone */
    bool same;         /* pads by the rule SAME, which its parts can only leave out */
    bool pads_sides;   /* states the padding of each side: its parts have their own */
    bool mirrors;      /* its padding of an axis is the same on both sides, or none at all */
    bool reflects;     /* a PAD whose rows beyond an edge show those on the other side of it, */
    bool repeats_edge; /* from the row at the edge on; else from the next one on */
    int64_t least;     /* rows that a part of it computes at least, if it does not compute all: of
                        * fewer, the runtime's kernel makes other bits */
    uint64_t also;     /* bit n: it computes n rows, too, though they are fewer; of a window that
                        * goes up, the rows of n rows of its image */
    int64_t multiple;  /* likewise, of which the number of these rows is a multiple; 0: of one */
    bool in_blocks;    /* makes just `up` rows of each row that it is given */
    uint32_t scales;   /* the operand that would say how many times as large its result is along
                        * each dimension, if the next one did not list the sizes; 0: none does */
    bool of_constants; /* reads nothing that is computed from the model's inputs */
    bool is_squeezed;  /* of any kind: reads the results of reductions alone, or of such ops, and
                        * makes little of them, as between the pool and the factors of a squeeze
                        * and excitation: it runs once, on all that it reads */
    arn_draft_move reduces; /* its image to one element of each channel, behind all tiles, from
                             * the rows of each tile, reduced by this; NONE: it does not */
    bool widens;            /* its only operand, to numbers of more bytes */
    bool is_rounded;        /* opaque, but with rounding allowed: no tile of it is the same bits */
    bool counts_zeroes;     /* rows of zeroes around its image differ from its own padding: a pool
                             * counts them, and times infinity they are no number */
} arn_tile_op;

/* No tile of it is made: it runs once. */
static inline bool arn_tile_runs_whole(const arn_tile_op *op) {
    return op->of_constants || op->is_squeezed;
}

struct arn_tile_dialect;

typedef struct arn_tile_graph {
    const arenaut_program *program; /* of one method */
    const struct arn_tile_dialect *dialect;
    const arenaut_allocator *allocator;
    bool rounding; /* tiles may be such as the tile rule does not have */
    arn_tile_op *ops;
    uint64_t *macs; /* per op */
    bool *fixed;    /* per tensor: arn_tile_is_fixed */
    uint32_t
        *image; /* per tensor: the image whose elements it has; itself, but in a normalization */
    arn_def_use *uses; /* per tensor */
    arn_region region; /* of these lists */
} arn_tile_graph;

/* REFUSED for a program that cannot be tiled anywhere, with the reason. */
arenaut_status arn_tile_graph_make(const arenaut_program *program, bool rounding,
                                   const arenaut_allocator *allocator, arn_tile_graph *graph,
                                   arenaut_error *err);
void arn_tile_graph_free(arn_tile_graph *graph);

/* Bytes of a tensor in memory that tensors share. */
uint64_t arn_tile_planned_bytes(const arn_tile_graph *graph, uint32_t tensor);

static inline bool arn_tile_is_constant(const arn_tile_graph *graph, uint32_t tensor) {
    return graph->program->tensors[tensor].cls == ARENAUT_CONSTANT;
}

/* A constant, or computed from constants alone. */
static inline bool arn_tile_is_fixed(const arn_tile_graph *graph, uint32_t tensor) {
    return graph->fixed[tensor];
}

/* The op that makes a tensor; ARENAUT_NONE: it is there before the first op, or a constant, perhaps
 * one that passes fold. */
static inline uint32_t arn_tile_def(const arn_tile_graph *graph, uint32_t tensor) {
    return arn_tile_is_constant(graph, tensor) ? ARENAUT_NONE : graph->uses[tensor].last_def;
}

/* The result of a reduction, or of an op that is squeezed: no tile makes it. */
static inline bool arn_tile_is_squeezed(const arn_tile_graph *graph, uint32_t tensor) {
    const uint32_t def = arn_tile_def(graph, tensor);
    return def != ARENAUT_NONE && (graph->ops[def].reduces || graph->ops[def].is_squeezed);
}

/* The last op to read a tensor; n_ops: it is a result of the program; ARENAUT_NONE: none reads it.
 */
static inline uint32_t arn_tile_last_use(const arn_tile_graph *graph, uint32_t tensor) {
    return graph->uses[tensor].wanted ? graph->program->n_ops : graph->uses[tensor].last_use;
}

/* An op that reads it once, or the caller of the program, is the only reader. */
static inline bool arn_tile_is_read_once(const arn_tile_graph *graph, uint32_t tensor) {
    return graph->uses[tensor].n_uses + graph->uses[tensor].wanted == 1;
}

#endif
