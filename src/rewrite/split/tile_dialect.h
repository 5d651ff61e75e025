/* The table of dialects that tiles are made in: where an image's axes lie, how the windows of its
 * operators are read, and how the ops that move data are spelled. The geometry of tiles and the
 * search know windows and moves alone; a new dialect is a row here and a file of its own. */
#ifndef ARN_REWRITE_SPLIT_TILE_DIALECT_H
#define ARN_REWRITE_SPLIT_TILE_DIALECT_H

#include "rewrite/split/tiled_draft.h"

enum { ARN_MOVE_OPERANDS = 4 }; /* of a slice: the image, and constants as the dialect has them */

typedef struct arn_tile_dialect {
    const char *name;                  /* of programs; NULL: those without a dialect */
    uint32_t dim[ARN_IMAGE_AXES];      /* per axis of an image: the dimension of its tensor */
    const char *mover[ARN_MOVE_COUNT]; /* operators that move data; NULL: it has none */
    arenaut_op_kind kind;              /* of ops that tiles are made of, and of those movers */
    arenaut_dtype numbers;             /* of constants that say where data moves */
    uint32_t most_joined;              /* operands of a concatenation */
    bool broadcasts; /* elementwise ops repeat computed images of one row, column or channel, too */
    bool batches;    /* images may be several */
    bool inputs_apart; /* the caller has them: no other tensor ever gets their memory */
    bool channels;     /* tiles may be channels */
    bool calls;        /* tiles may be outlined */
    bool many_tiles;   /* tiles may be many: long line buffers are several tensors, and numbers of
                        * tiles are tried by leaps */
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
    /* Adds the constant that a padding op reads: top, bottom, left, right, and channels. */
    uint32_t (*list_pads)(arn_draft *draft, const int64_t pads[6]);

    /* Of a runtime that runs ops in a sequence of its own: puts ops that make a list of one zero,
     * by way of an element of each of these tensors, and gives it. Changes `tensors`. NULL: the
     * runtime runs ops as they stand. */
    uint32_t (*put_zero)(arn_draft *draft, uint32_t *tensors, uint32_t n);

    /* The attributes of an op that moves data; gives their number. They may lead into `op`. */
    uint32_t (*describe_move)(const arn_draft_op *op, arenaut_attribute *attributes);
    /* The same of a part that is padded otherwise than the op before: `pads` of `part` say how. */
    uint32_t (*describe_part)(const arn_draft_op *part, const arenaut_op *before,
                              arenaut_attribute *attributes);
} arn_tile_dialect;

enum { ARN_MOST_ADDED = 3 }; /* attributes that a move has, or that a part has more than its op */

/* NULL: no tiles are made in it. */
const arn_tile_dialect *arn_tile_dialect_find(const char *name);

/* The reason why the dialect has no tiles of this mode; NULL: it has. */
const char *arn_tile_dialect_refuse(const arn_tile_dialect *dialect, arenaut_split_mode mode);

#endif
