/* A draft: the ops of a tiled program, before it is made. Light enough to be thrown away, so that
 * the search can try many. Tensors below n_tensors of the program before are that program's;
 * further ones are new. Like a writer, a draft remembers that it ran out of memory. */
#ifndef ARN_REWRITE_SPLIT_TILED_DRAFT_H
#define ARN_REWRITE_SPLIT_TILED_DRAFT_H

#include "rewrite/split/tile_graph.h"

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
