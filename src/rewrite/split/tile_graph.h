/* The def-use graph of a program, with the window of each op that can be tiled: all that the
 * geometry of tiles and the search know of a program, whatever its format. */
#ifndef ARN_REWRITE_SPLIT_TILE_GRAPH_H
#define ARN_REWRITE_SPLIT_TILE_GRAPH_H

#include <arenaut/rewrite.h>

/* Axes of an image; its dialect says which dimension of a tensor each of them is. */
enum { ARN_AXIS_H, ARN_AXIS_W, ARN_AXIS_C, ARN_IMAGE_AXES, ARN_IMAGE_RANK = 4 };

enum {
    ARN_TILE_INPUTS = 3,      /* arguments of an op that can be tiled, but for concatenations */
    ARN_TILE_LONGEST = 65535, /* elements along an axis of an image that can be tiled */
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

typedef struct arn_tile_op {
    arn_tile_kind kind;
    arn_tile_window window[ARN_IMAGE_AXES]; /* H and W; of a PAD also channels */
    bool same;          /* pads by the rule SAME, which its parts can only leave out */
    bool pads_sides;    /* states the padding of each side: its parts have their own */
    bool mirrors;       /* its padding of an axis is the same on both sides, or none at all */
    int64_t least;      /* rows that a part of it computes at least, if it does not compute all: of
                         * fewer, the runtime's kernel makes other bits */
    int64_t multiple;   /* likewise, of which the number of these rows is a multiple; 0: of one */
    bool in_blocks;     /* makes just `up` rows of each row that it is given */
    uint32_t sizes;     /* the operand that lists the sizes of its result; 0: none does */
    bool of_constants;  /* reads nothing that is computed from the model's inputs */
    bool widens;        /* its only operand, to numbers of more bytes */
    bool counts_zeroes; /* rows of zeroes around its image differ from its own padding: a pool
                         * counts them, and times infinity they are no number */
} arn_tile_op;

struct arn_tile_dialect;

typedef struct arn_tile_graph {
    const arenaut_program *program; /* of one method */
    const struct arn_tile_dialect *dialect;
    const arenaut_allocator *allocator;
    arn_tile_op *ops;
    uint32_t *producer;    /* per tensor: its op; ARENAUT_NONE: none */
    uint32_t *last_reader; /* per tensor; n_ops: it is a result of the program; NONE: no reader */
    uint32_t *n_readers;   /* per tensor: times that it is an argument, or a result */
    uint64_t *macs;        /* per op */
    bool *fixed;           /* per tensor: arn_tile_is_fixed */
} arn_tile_graph;

/* REFUSED for a program that cannot be tiled anywhere, with the reason. */
arenaut_status arn_tile_graph_make(const arenaut_program *program,
                                   const arenaut_allocator *allocator, arn_tile_graph *graph,
                                   arenaut_error *err);
void arn_tile_graph_free(arn_tile_graph *graph);

/* Bytes of a tensor in memory that tensors share. */
uint64_t arn_tile_planned_bytes(const arn_tile_graph *graph, uint32_t tensor);

/* The dimension of an image's tensor that is this axis. */
uint32_t arn_tile_dim(const arn_tile_graph *graph, int axis);

static inline bool arn_tile_is_constant(const arn_tile_graph *graph, uint32_t tensor) {
    return graph->program->tensors[tensor].cls == ARENAUT_CONSTANT;
}

/* A constant, or computed from constants alone. */
static inline bool arn_tile_is_fixed(const arn_tile_graph *graph, uint32_t tensor) {
    return graph->fixed[tensor];
}

#endif
