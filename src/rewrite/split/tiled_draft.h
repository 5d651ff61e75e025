/* A program before and after tiling: its definitions and uses (analysis/def_use.h), with the window
 * of each op that can be tiled, which is all that the geometry of tiles and the search know of it,
 * whatever its format; and drafts of tiled programs. */
#ifndef ARN_REWRITE_SPLIT_TILED_DRAFT_H
#define ARN_REWRITE_SPLIT_TILED_DRAFT_H

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

/* ---- drafts ---- */

/* A draft: the ops of a tiled program, before it is made. Light enough to be thrown away, so that
 * the search can try many. Tensors below n_tensors of the program before are that program's;
 * further ones are new. Like a writer, a draft remembers that it ran out of memory. */

enum {
    ARN_DRAFT_VALUES = 2 * ARN_IMAGE_RANK, /* of a new constant: at most a list of paddings */
    ARN_DRAFT_ROUNDING = 16,               /* of its buffers */
};

typedef struct arn_draft_tensor {
    arenaut_origin origin;
    uint32_t rank;
    int64_t dims[ARN_IMAGE_RANK];
    arenaut_dtype dtype; /* of new constants, and of numbers of order edges; OTHER: of the origin */
    uint64_t bytes;      /* in the arena: 0 for constants and aliases */
    bool alias;          /* of the tensor that it originates from */
    uint32_t n_values;   /* of constants */
    int64_t values[ARN_DRAFT_VALUES]; /* the bits of doubles, if they are of floating point */
} arn_draft_tensor;

typedef struct arn_draft_op {
    uint32_t before; /* the op that it does a part of, or all; NONE: it moves data */
    arn_draft_move move;
    uint32_t first, n_inputs, n_outputs; /* in draft->arguments: inputs, then outputs */
    uint32_t n_pads;                     /* a part that is padded otherwise than the op before: in
                                          * front of the axes of its window, or of all dimensions
                                          * if it is a PAD, then behind; 0: it is not. Of a
                                          * reduction of rows: its window; of an op of a
                                          * normalization: the sizes of its result */
    int64_t pads[ARN_DRAFT_VALUES];
    int64_t axis, begin, end; /* of one that moves data */
    const char *number;       /* of a sum with a number */
} arn_draft_op;

/* Ops [first_op, first_op + n_ops) of the draft, outlined into a method. */
typedef struct arn_draft_call {
    uint32_t first_op, n_ops;
    uint32_t body;                       /* the first call of that method */
    uint32_t first, n_inputs, n_outputs; /* in draft->arguments: its operands, then its results */
} arn_draft_call;

typedef struct arn_draft {
    const arn_tile_graph *graph;
    arn_draft_tensor *tensors;
    arn_draft_op *ops;
    uint32_t *arguments;
    arn_draft_call *calls; /* in the order of their ops */
    uint32_t n_tensors, n_ops, n_arguments, n_calls;
    uint32_t tensors_capacity, ops_capacity, arguments_capacity, calls_capacity;
    uint32_t zero;               /* a number that the last row tile made; NONE: there is none */
    uint32_t n_there;            /* tensors of the draft, those of the program included, by then */
    uint32_t n_rounded, rounded; /* as of arenaut_rewrite */
    const char *refused;         /* the reason why it cannot be tiled as asked; NULL: it can */
    bool failed;                 /* no memory */
} arn_draft;

arn_draft arn_draft_begin(const arn_tile_graph *graph);
void arn_draft_free(arn_draft *draft);
/* Memory for so many elements in one of its arrays; false, and `failed`, if there is none. */
bool arn_draft_make_room(arn_draft *draft, void **array, uint32_t *capacity, uint64_t needed,
                         size_t size);
/* Begins anew, with the memory that it has. */
void arn_draft_clear(arn_draft *draft);

/* The op of the program before as it was. */
void arn_draft_copy(arn_draft *draft, uint32_t op);

/* `count` elements along dimension `axis` of a tensor of the program before, from `begin` on; for a
 * tensor that is computed `begin` says nothing. Gives the new tensor's number. */
uint32_t arn_draft_tile(arn_draft *draft, uint32_t of, uint32_t axis, int64_t begin, int64_t count);
/* An image of these sizes, as many as tensor `of` has, and with its type. */
uint32_t arn_draft_image(arn_draft *draft, uint32_t of, const int64_t *dims);

/* A part of op `before`, with the arguments given in the order of its own, and its padding, as an
 * arn_draft_op has it. */
void arn_draft_part(arn_draft *draft, uint32_t before, const uint32_t *inputs, uint32_t output,
                    const int64_t *pads, uint32_t n_pads);

/* A constant with these numbers: a list, or rows of so many if `columns` is not 0. */
uint32_t arn_draft_numbers(arn_draft *draft, const int64_t *values, uint32_t n, uint32_t columns);
/* The same of float32, a list. */
uint32_t arn_draft_reals(arn_draft *draft, const double *values, uint32_t n);

/* Rows [begin, begin + count) of an image that begins with its row 0. */
uint32_t arn_draft_slice(arn_draft *draft, uint32_t image, int64_t begin, int64_t count);
/* The image with padding around: in front and behind, axis by axis. */
uint32_t arn_draft_pad(arn_draft *draft, uint32_t image, const int64_t pads[2 * ARN_IMAGE_AXES]);
/* The row sums of an image, as the move says: one element for each of its rows and channels. */
uint32_t arn_draft_reduce(arn_draft *draft, arn_draft_move move, uint32_t image);
/* An op of a normalization, which makes an image of these sizes and the type of image `of`. */
uint32_t arn_draft_compute(arn_draft *draft, arn_draft_move move, uint32_t of, const int64_t *dims,
                           const uint32_t *inputs, uint32_t n_inputs);
/* Likewise, the sum of an image and a number that the op states. */
uint32_t arn_draft_raise(arn_draft *draft, uint32_t of, uint32_t image, const char *number);
/* Order edges, in dialects whose runtime runs ops in a sequence of its own: from here on, slices of
 * tensors that exist by now begin at a place that is computed from one element of each of these, as
 * its product with zero would be, so that they run later. Changes `tensors`. n == 0: no longer. */
void arn_draft_order_after(arn_draft *draft, uint32_t *tensors, uint32_t n);
/* An alias of an image that is there, in dialects whose runtime plans by the shapes that it knows
 * (put_shape); else the image itself. Its slices wait like those of the image. */
uint32_t arn_draft_alias(arn_draft *draft, uint32_t image);
/* The op of an order edge, which makes a list of one number; a sum, of as many as its first operand
 * has; SCALAR, a number without axes. */
uint32_t arn_draft_edge(arn_draft *draft, arn_draft_move move, arenaut_dtype dtype,
                        const uint32_t *inputs, uint32_t n_inputs);

/* Concatenates tiles along dimension `axis` into tensor `whole`, or into a new one like `of` for
 * ARENAUT_NONE, in several steps if they are many. Gives the result. Changes `tiles`. */
uint32_t arn_draft_join(arn_draft *draft, uint32_t axis, uint32_t *tiles, uint32_t n,
                        uint32_t whole, uint32_t of);

const int64_t *arn_draft_dims(const arn_draft *draft, uint32_t tensor);
uint32_t arn_draft_rank(const arn_draft *draft, uint32_t tensor);
/* Bytes in the arena: 0 for constants. */
uint64_t arn_draft_planned_bytes(const arn_draft *draft, uint32_t tensor);

/* A tensor and an op as those of a program; tensors have no names, and the op has no arguments.
 * `attributes` has room for the op's. */
arenaut_tensor arn_draft_describe_tensor(const arn_draft *draft, uint32_t tensor);
void arn_draft_describe_op(const arn_draft *draft, const arn_draft_op *from,
                           arenaut_attribute *attributes, arenaut_op *op);
/* Attributes that an op of a draft of this program may have at most. */
uint32_t arn_draft_most_attributes(const arenaut_program *program);

/* Lets new constants that are the same be one. */
void arn_draft_share_constants(arn_draft *draft);

/* Makes the program. */
arenaut_status arn_draft_finish(const arn_draft *draft, const arenaut_split_stage *groups,
                                uint32_t n_groups, arenaut_rewrite **out, arenaut_error *err);

/* ---- calls (tile_calls.c) ---- */

/* Outlines the last `n` row tiles, once all readers of their results are in the draft: tile t has
 * the ops from starts[t] to starts[t + 1]. Slices of whole images go in front of its call; a tile
 * that is like no other stays as it is. Refused if they all do. */
void arn_draft_call_tiles(arn_draft *draft, const uint32_t *starts, uint32_t n);

/* The call that begins with this op; NULL: none. */
const arn_draft_call *arn_draft_call_at(const arn_draft *draft, uint32_t op);

/* The call is its method's first, whose ops the program gets. */
static inline bool arn_draft_is_body(const arn_draft *draft, const arn_draft_call *call) {
    return &draft->calls[call->body] == call;
}

/* The op is in a call that is not its method's first, so that the program will not have it. O(log
 * calls). */
bool arn_draft_is_repeated(const arn_draft *draft, uint32_t op);

/* Ops of the program that the draft becomes. */
uint32_t arn_draft_count_ops(const arn_draft *draft);

/* Adds the bytes of copies, of arguments before and of results behind each call, to the changes of
 * live bytes from op to op; `first` and `last` are the live ranges of tensors. */
void arn_draft_add_copies(const arn_draft *draft, const uint32_t *first, const uint32_t *last,
                          int64_t *change);

#endif
