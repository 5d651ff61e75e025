/* The table of dialects that tiles are made in: where an image's axes lie, how the windows of its
 * operators are read, and how the ops that move data are spelled. The geometry of tiles and the
 * search know windows and moves alone; a new dialect is a row here and a file of its own. */
#ifndef ARN_REWRITE_TILE_DIALECTS_TILE_DIALECT_H
#define ARN_REWRITE_TILE_DIALECTS_TILE_DIALECT_H

#include "ops/ops.h"
#include "rewrite/split/tiled_draft.h"

/* Rows of a tile that is outside of the tile rule, whatever its height. */
enum { ARN_TILE_NEVER = ARN_TILE_LONGEST + 1 };

enum { ARN_MOVE_OPERANDS = 4 }; /* of a slice: the image, and constants as the dialect has them */

typedef struct arn_tile_dialect {
    const char *name;                  /* of programs; NULL: those without a dialect */
    uint32_t dim[ARN_IMAGE_AXES];      /* per axis of an image: the dimension of its tensor */
    uint32_t least_rank, most_rank;    /* of an image */
    const char *mover[ARN_MOVE_COUNT]; /* operators that move data; NULL: it has none */
    arenaut_op_kind kind;              /* of ops that tiles are made of, and of those movers */
    arenaut_dtype numbers;             /* of constants that say where data moves */
    uint32_t most_joined;              /* operands of a concatenation */
    bool broadcasts; /* elementwise ops repeat computed images of one row, column or channel, too */
    bool batches;    /* images may be several */
    bool inputs_apart;   /* the caller has them: no other tensor ever gets their memory */
    bool states_numbers; /* operators state sizes and numbers themselves, and read no constants */
    bool channels;       /* tiles may be channels */
    bool calls;          /* tiles may be outlined */
    bool many_tiles;     /* tiles may be many: long line buffers are several tensors, and numbers of
                          * tiles are tried by leaps */
    uint32_t own_heights; /* each op of a kept stage of so many ops or more has tiles of its own
                           * height: more turns, of which less is kept. Its tiles are of so many
                           * ops that the search is a bounded one; 0: none has */
    arenaut_optional_id most_macs; /* percent that may be added, unless the caller says how many */
    uint64_t kept;         /* bytes that the runtime keeps of each op, if no target says it; 0: as a
                            * micro runtime does */
    bool keeps_state;      /* nothing writes state in programs that are not refused */
    const char *same_bits; /* on which condition its runtime computes the same bits; NULL: always */

    /* The reason why no tiles are made in a program; NULL: they are. */
    const char *(*refuse)(const arenaut_program *program);

    /* Fills in the window and the multiplications of an op; `fixed` is known of the tensors that it
     * reads. */
    void (*take_operator)(arn_tile_graph *graph, uint32_t op);

    /* Adds the operands of a slice behind its image, operands[0], and gives the number of its
     * operands. It has elements [begin, end) along dimension `axis` of the image, and then these
     * dims. NULL: the image is all that it reads, and its attributes say the rest. */
    uint32_t (*list_slice)(arn_draft *draft, const arn_draft_op *slice, const int64_t *dims,
                           uint32_t *operands);
    /* Adds the constant that a padding op of an image of this rank reads: in front and behind, axis
     * by axis. NULL: its attributes say them. */
    uint32_t (*list_pads)(arn_draft *draft, const int64_t pads[2 * ARN_IMAGE_AXES], uint32_t rank);

    /* Of a runtime that runs ops in a sequence of its own: puts ops that make a list of one zero,
     * by way of an element of each of these tensors, and gives it. Changes `tensors`. NULL: the
     * runtime runs ops as they stand. */
    uint32_t (*put_zero)(arn_draft *draft, uint32_t *tensors, uint32_t n);
    /* Of a runtime that plans by the shapes that it knows before it runs: puts ops that compute the
     * shape of an image, which it then does not know, and gives that list. NULL: it does not. */
    uint32_t (*put_shape)(arn_draft *draft, uint32_t image);

    /* The attributes of an op that moves data; gives their number. They may lead into `op`. */
    uint32_t (*describe_move)(const arn_draft_op *op, arenaut_attribute *attributes);
    /* The same of a part that is padded otherwise than the op before: `pads` of `part` say how. */
    uint32_t (*describe_part)(const arn_draft_op *part, const arenaut_op *before,
                              arenaut_attribute *attributes);
} arn_tile_dialect;

enum { ARN_MOST_ADDED = 3 }; /* attributes that a move has, or that a part has more than its op */

/* The dimension of an image's tensor that is this axis. */
static inline uint32_t arn_tile_dim(const arn_tile_graph *graph, int axis) {
    return graph->dialect->dim[axis];
}

/* NULL: no tiles are made in it. */
const arn_tile_dialect *arn_tile_dialect_find(const char *name);

/* The reason why the dialect has no tiles of this mode; NULL: it has. */
const char *arn_tile_dialect_refuse(const arn_tile_dialect *dialect, arenaut_split_mode mode);

/* ---- reading operators ---- */

/* The n numbers of an attribute; false if it has others. If it is missing, they stay. */
bool arn_tile_numbers(const arenaut_op *op, const char *name, uint32_t n, int64_t *numbers);

enum { ARN_TILE_UNKNOWN = -1 };
/* The number of an attribute, or `otherwise` if it is missing; UNKNOWN: it has others. */
int64_t arn_tile_number(const arenaut_op *op, const char *name, int64_t otherwise);

/* NULL: there is none. */
const arenaut_tensor *arn_tile_input(const arn_tile_graph *graph, const arenaut_op *op, uint32_t i);

static inline int64_t arn_tile_along(const arn_tile_graph *graph, const arenaut_tensor *image,
                                     int axis) {
    return image->dims[arn_tile_dim(graph, axis)];
}

/* A dense tensor of known sizes, as many as images of the dialect have, that an op makes, or the
 * caller gives. */
bool arn_tile_is_image(const arn_tile_graph *graph, uint32_t tensor);

/* Whether an op of any kind makes one image, and has all that its tiles need. */
bool arn_tile_makes_image(const arn_tile_graph *graph, const arenaut_op *op);

/* The kind of tile that an operator of this row of ops.def has; OPAQUE for NULL. */
arn_tile_kind arn_tile_kind_of(const arn_op_row *row);

/* A constant that every row of the image sees whole; along the other axes it is as long as the
 * image, or repeated. */
bool arn_tile_repeats_by_row(const arn_tile_graph *graph, const arenaut_tensor *constant,
                             const arenaut_tensor *image);

/* Each of the `out` windows along an axis of length `in` has some element of the image: one that
 * lies in padding alone tells nothing of its place. O(out). */
bool arn_tile_all_see_image(const arn_tile_window *window, int64_t in, int64_t out);

/* Each element of the result from one of each operand: images of the result's sizes, and constants.
 */
bool arn_tile_take_elementwise(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out);
/* Concatenation along dimension `axis`, from the end if it is negative, which must be that of
 * channels: rows of the result are made of the same rows. */
bool arn_tile_take_join(const arn_tile_graph *graph, const arenaut_op *op, int64_t axis,
                        arn_tile_op *out);

/* The average, or the greatest, of all elements of each channel of an image of two axes or more:
 * from those of its rows, as the move makes them, so that the sum is rounded otherwise. */
bool arn_tile_take_reduction(const arn_tile_graph *graph, const arenaut_op *op, arn_draft_move move,
                             arn_tile_op *out);

/* Fills in a normalization of an image of these sizes in so many groups of channels, by statistics
 * of all its rows. False if it has none that are added up. */
bool arn_tile_take_norm(const arenaut_tensor *image, int64_t groups, arn_tile_op *out);

/* One number for each channel of the result; a convolution may have none. */
bool arn_tile_is_bias(const arn_tile_graph *graph, const arenaut_op *op, int64_t channels);

/* ---- windows on images NCHW ---- */

/* Windows of convolutions and pools, from attributes of any name; on signals NCL and volumes NCDHW,
 * too. */

/* Dimensions of an image; weights have theirs of the window at the same places. */
enum { ARN_NCHW_C = 1, ARN_NCHW_H = 2, ARN_NCHW_AXES = 3 };

/* The axes that windows go along: all but the batch and the channels. */
static inline uint32_t arn_nchw_axes(const arenaut_tensor *image) {
    return image->rank - ARN_NCHW_H;
}

/* Elements of an image that have one place along H, without batch and channels. */
static inline int64_t arn_nchw_row(const arenaut_tensor *image) {
    int64_t elements = 1;
    for (uint32_t i = ARN_NCHW_H + 1; i < image->rank; i++) elements *= image->dims[i];
    return elements;
}

/* Attributes of a window, by axis of the image. */
typedef struct arn_nchw_window {
    int64_t filter[ARN_NCHW_AXES], strides[ARN_NCHW_AXES], dilations[ARN_NCHW_AXES];
    int64_t before[ARN_NCHW_AXES], after[ARN_NCHW_AXES]; /* padding */
    int64_t groups;                                      /* of a convolution */
    bool rounds_up; /* windows that begin within the image or its padding count, even if they end
                     * behind both, where they see nothing */
} arn_nchw_window;

/* With neither gaps nor dilation, until an op says otherwise. */
static inline arn_nchw_window arn_nchw_window_begin(void) {
    return (arn_nchw_window){.strides = {1, 1, 1}, .dilations = {1, 1, 1}};
}

/* Fills in kernel_shape, strides and dilations, as far as the op has them; false if they are of
 * other forms. */
bool arn_tile_take_sides(const arenaut_op *op, const arenaut_tensor *image,
                         arn_nchw_window *window);

/* The same of a convolution, whose weights say its sides, and its groups. */
bool arn_tile_take_kernel(const arn_tile_graph *graph, const arenaut_op *op,
                          arn_nchw_window *window);

/* Fills in a convolution (image, weights by output channel, perhaps a bias) or a pool (image).
 * False if sizes do not agree, or weights are computed. */
bool arn_tile_take_nchw_convolution(const arn_tile_graph *graph, const arenaut_op *op,
                                    const arn_nchw_window *window, arn_tile_op *out);
/* Transposed: weights by input channel; `after` is the padding of the result. Of the padding of the
 * result's own, `extra` rows and columns, no more may be than of the other. */
bool arn_tile_take_nchw_transposed(const arn_tile_graph *graph, const arenaut_op *op,
                                   const arn_nchw_window *window,
                                   const int64_t extra[ARN_NCHW_AXES], arn_tile_op *out);
bool arn_tile_take_nchw_pool(const arn_tile_graph *graph, const arenaut_op *op,
                             const arn_nchw_window *window, arn_tile_op *out);

/* A PAD: in front of each dimension, then behind; none of them along the batch. `reflects`: with
 * rows of the image in reverse. */
bool arn_tile_take_nchw_margin(const arn_tile_graph *graph, const arenaut_op *op,
                               const int64_t *pads, bool reflects, arn_tile_op *out);

/* Blocks of `down` rows and columns become channels. */
bool arn_tile_take_nchw_unshuffle(const arn_tile_graph *graph, const arenaut_op *op, int64_t down,
                                  arn_tile_op *out);

/* Each row of the image becomes `up` rows; the result's sizes along the other dimensions do not
 * depend on its height. */
bool arn_tile_take_blocks(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out);

/* Reads an op: whether it can be tiled. */
typedef bool arn_tile_taker(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out);

/* Fills in the window of an op, opaque if `take` says no, and its multiplications. */
void arn_tile_take_nchw(arn_tile_graph *graph, uint32_t op, arn_op_dialect ops,
                        arn_tile_taker *take);

#endif
