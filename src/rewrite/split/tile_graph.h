/* The def-use graph of a program, with the window of each op that can be tiled: all that the
 * geometry of tiles and the search know of a program, whatever its format. */
#ifndef ARN_REWRITE_SPLIT_TILE_GRAPH_H
#define ARN_REWRITE_SPLIT_TILE_GRAPH_H

#include <arenaut/rewrite.h>

/* Dimensions of an image. */
enum { ARN_AXIS_H = 1, ARN_AXIS_W = 2, ARN_AXIS_C = 3, ARN_IMAGE_RANK = 4 };

enum {
    ARN_SPLIT_INPUTS = 3,      /* arguments of an op that can be split, but for concatenations */
    ARN_SPLIT_LONGEST = 65535, /* elements along an axis of an image that can be split */
};

typedef enum arn_split_kind {
    ARN_SPLIT_OPAQUE, /* not to be split */
    ARN_SPLIT_CONV,
    ARN_SPLIT_DEPTHWISE,
    ARN_SPLIT_POOL,
    ARN_SPLIT_PAD,
    ARN_SPLIT_ELEMENTWISE, /* each element of the result by itself */
    ARN_SPLIT_JOIN,        /* concatenation of channels */
} arn_split_kind;

static inline bool arn_split_is_fitted(arenaut_split_mode mode) {
    return mode == ARENAUT_SPLIT_FITTED || mode == ARENAUT_SPLIT_FITTED_OVER;
}

static inline bool arn_split_by_channels(arenaut_split_mode mode) {
    return mode == ARENAUT_SPLIT_CHANNELS || arn_split_is_fitted(mode);
}

/* Along one axis: output i sees `filter` inputs, `dilation` apart, from i * stride - before on;
 * those past an end are padding. */
typedef struct arn_split_window {
    int64_t filter, stride, dilation, before, after;
} arn_split_window;

typedef struct arn_split_op {
    arn_split_kind kind;
    arn_split_window window[4]; /* by axis: H and W; of a PAD also channels */
    bool same;                  /* pads by the rule SAME */
    bool of_constants;          /* reads nothing that is computed from the model's inputs */
    bool counts_zeroes; /* rows of zeroes around its image are not what its own padding is: a pool
                         * counts them, and times infinity they are no number */
} arn_split_op;

typedef struct arn_split_graph {
    const arenaut_program *program; /* of one method */
    const arenaut_allocator *allocator;
    arn_split_op *ops;
    uint32_t *producer;    /* per tensor: its op; ARENAUT_NONE: none */
    uint32_t *last_reader; /* per tensor; n_ops: it is a result of the program; NONE: nobody */
    uint32_t *n_readers;   /* per tensor: times that it is an argument, or a result */
    uint64_t *macs;        /* per op */
    bool *fixed;           /* per tensor: arn_split_is_fixed */
} arn_split_graph;

/* REFUSED for a program that cannot be split anywhere, with the reason. */
arenaut_status arn_split_graph_make(const arenaut_program *program,
                                    const arenaut_allocator *allocator, arn_split_graph *graph,
                                    arenaut_error *err);
void arn_split_graph_free(arn_split_graph *graph);

/* tile_operators.c: what an op is to tiling, and its multiplications; the tensors that it reads are
 * known to be fixed, or not. */
void arn_split_take_operator(arn_split_graph *graph, uint32_t op);

static inline bool arn_split_is_constant(const arn_split_graph *graph, uint32_t tensor) {
    return graph->program->tensors[tensor].cls == ARENAUT_CONSTANT;
}

/* Constants, and what is computed from them alone. */
static inline bool arn_split_is_fixed(const arn_split_graph *graph, uint32_t tensor) {
    return graph->fixed[tensor];
}

#endif
