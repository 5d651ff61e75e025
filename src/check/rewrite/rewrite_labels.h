/* Labels: the origin of each element of a tensor of a rewritten program, which is an element of one
 * tensor of the program before, padding, or unknown. The element at (i, j, …) is the old one at
 * (place[0][i], place[1][j], …); it is padding, zero, if any of these is, and unknown if any is. */
#ifndef ARN_CHECK_REWRITE_LABELS_H
#define ARN_CHECK_REWRITE_LABELS_H

#include <arenaut/check.h>
#include <arenaut/rewrite.h>

#include "core/memory.h"

enum {
    ARN_PLACE_PADDING = -1, /* put there by an op of its own */
    ARN_PLACE_OUTSIDE = -2, /* where a window reaches past the tensor: nothing is read */
    ARN_PLACE_UNKNOWN = -3,
    ARN_LABEL_RANK = 5, /* of tensors with labels by axis, at most */
};

/* Of numbers that come from no tensor of the program before: an element of any value; a number; the
 * numbers of a constant; or one number for each row and channel of an image, the average of its
 * elements or the greatest, with the places of these rows. */
typedef enum arn_known {
    ARN_KNOWN_NOTHING,
    ARN_KNOWN_LENGTH,
    ARN_KNOWN_NUMBER,
    ARN_KNOWN_LIST,
    ARN_KNOWN_AVERAGES,
    ARN_KNOWN_GREATEST,
    /* Of normalizations, from the image to it (rewrite_norms.c): rows less their averages, and the
     * squares of these; the averages of squares of each row; both by groups of channels; the mean
     * of a group, differences from it, their squares, these with the squares within rows, and their
     * mean, the variance; that with epsilon, its root, and the inverse; a constant by group; the
     * inverse times it; and the image less the mean, and times the factor. */
    ARN_KNOWN_CENTRED,
    ARN_KNOWN_SQUARES,
    ARN_KNOWN_SPREADS,
    ARN_KNOWN_GROUP_AVERAGES,
    ARN_KNOWN_GROUP_SPREADS,
    ARN_KNOWN_MEAN,
    ARN_KNOWN_APART,
    ARN_KNOWN_BETWEEN,
    ARN_KNOWN_MOMENTS,
    ARN_KNOWN_VARIANCE,
    ARN_KNOWN_PADDED,
    ARN_KNOWN_ROOT,
    ARN_KNOWN_INVERSE,
    ARN_KNOWN_CONSTANT,
    ARN_KNOWN_FACTOR,
    ARN_KNOWN_LESS_MEAN,
    ARN_KNOWN_SCALED,
    /* Likewise, of a signal: blocks of its places, channel by channel, as rows of their own; their
     * averages; these apart, their squares, and the averages of those. */
    ARN_KNOWN_BLOCKS,
    ARN_KNOWN_BLOCK_AVERAGES,
    ARN_KNOWN_BLOCKS_CENTRED,
    ARN_KNOWN_BLOCK_SQUARES,
    ARN_KNOWN_BLOCK_SPREADS
} arn_known;

/* Of a number by group, for each of its channels or not yet. */
typedef enum arn_known_form { ARN_BY_GROUP, ARN_EXPANDED, ARN_BY_CHANNEL } arn_known_form;

typedef struct arn_label {
    uint32_t tensor;                /* of the program before; NONE: no label */
    int64_t *place[ARN_LABEL_RANK]; /* per axis, as long as the tensor; NULL: it is whole */
    arn_known known;
    int64_t number; /* if that is known; of a list, the constant's number among tensors; of rows,
                     * the image's among those of the program before, as of all below it */
    arn_known_form form;
    int64_t groups, epsilon; /* of channels; the bits of a double */
    int64_t block, first;    /* of a signal: places of a block; which block comes first. 0: rows */
    const char *stated;      /* epsilon as an op states it; NULL: it is a constant */
    uint32_t scale;          /* a constant of the program before: the factor's, or itself; NONE:
                              * the factor has none */
} arn_label;

struct arn_rewrite_rules;

typedef struct arn_rewrite_check {
    const arenaut_program *before, *after;
    const arenaut_rewrite *rewrite;
    const struct arn_rewrite_rules *rules;
    bool keeps_state; /* nothing writes state in either program */
    const arenaut_allocator *allocator;
    arn_region region;
    arn_label *labels; /* per tensor of `after` */
    bool *to_make;     /* likewise: a constant that an op of it has still to make */
    uint32_t op;       /* of `after`, at work */
    uint32_t next;     /* the first op of `before` that may come next, of those with side effects */
    arenaut_finding *finding;
    arenaut_error *err;
} arn_rewrite_check;

/* Rejects the op at work. */
arenaut_status arn_rewrite_reject(arn_rewrite_check *c, const char *why);

/* An array for an axis; NULL if there is no memory. */
int64_t *arn_label_axis(arn_rewrite_check *c, int64_t length);

static inline const arenaut_tensor *arn_new_tensor(const arn_rewrite_check *c, uint32_t t) {
    return &c->after->tensors[t];
}

/* Whether a tensor is, element by element, the tensor `before` of the program before. */
bool arn_label_is_whole(const arn_rewrite_check *c, uint32_t t, uint32_t before);
bool arn_axis_is_whole(const arn_rewrite_check *c, uint32_t t, uint32_t axis);
/* The origin of element `i` along an axis. */
int64_t arn_label_place(const arn_rewrite_check *c, uint32_t t, uint32_t axis, int64_t i);
/* Whether two tensors come from the same places along these axes. */
bool arn_labels_agree(const arn_rewrite_check *c, uint32_t a, uint32_t axis_a, uint32_t b,
                      uint32_t axis_b);
/* Copies the label of an axis of `from` to an axis of `to`. */
arenaut_status arn_label_copy(arn_rewrite_check *c, uint32_t from, uint32_t to, uint32_t axis);

/* Labels `t`, which has no label yet and is of the type of that tensor, as elements of `before`. */
arenaut_status arn_label_begin(arn_rewrite_check *c, uint32_t t, uint32_t before);

/* An operator that computes each element from its own window, without side effects. */
typedef struct arn_rewrite_row {
    const char *name;
    int rule; /* in its dialect's own numbers */
} arn_rewrite_row;

/* The operators of a dialect. */
typedef struct arn_rewrite_rules {
    const char *dialect; /* of programs; NULL: those without one */
    bool by_number;      /* other parts of its files name tensors by number: old ones keep theirs */
    arenaut_op_kind kind; /* of ops without side effects, and of those that move data. FUNCTIONAL:
                           * such an op never writes its operands */
    const arn_rewrite_row *rows;
    size_t n_rows;
    /* The op at work, of an operator with this rule and with one result, whose label has begun,
     * does a part of `old`; labels its result. */
    arenaut_status (*follow_part)(arn_rewrite_check *c, int rule, const arenaut_op *op,
                                  const arenaut_op *old);
    /* The op at work, of one result, only moves data; labels its result. */
    arenaut_status (*follow_move)(arn_rewrite_check *c, const arenaut_op *op);
} arn_rewrite_rules;

/* NULL: none are known. */
const arn_rewrite_rules *arn_rewrite_rules_find(const char *dialect);
/* The row of an operator; NULL: none. */
const arn_rewrite_row *arn_rewrite_row_find(const arn_rewrite_rules *rules, const char *name);

arenaut_status arn_rewrite_follow_part(arn_rewrite_check *c, const arenaut_op *op,
                                       const arenaut_op *old);
arenaut_status arn_rewrite_follow_move(arn_rewrite_check *c, const arenaut_op *op);

/* ---- operators that are the same in all dialects ---- */

/* An element of each operand, or one that is repeated. */
arenaut_status arn_rewrite_follow_elements(arn_rewrite_check *c, const arenaut_op *op,
                                           const arenaut_op *old);
/* A part of an old concatenation, along attribute "axis". */
arenaut_status arn_rewrite_follow_joiner(arn_rewrite_check *c, const arenaut_op *op,
                                         const arenaut_op *old);
/* Padding along an axis. */
typedef struct arn_margin {
    int64_t before, after;
} arn_margin;
/* The elements of a margin: one value; those at the edge again; the next ones, in reverse; or
 * these, from the one at the edge on. */
typedef enum arn_margin_kind {
    ARN_MARGIN_VALUE,
    ARN_MARGIN_EDGE,
    ARN_MARGIN_REFLECTION,
    ARN_MARGIN_SYMMETRY
} arn_margin_kind;
/* Labels an axis of an op that puts a margin around its first operand: rows of the new margin are
 * those of the old one with the same elements. */
arenaut_status arn_rewrite_follow_margin(arn_rewrite_check *c, const arenaut_op *op,
                                         const arenaut_op *old, uint32_t axis, arn_margin_kind kind,
                                         arn_margin margin, arn_margin old_margin);
/* Begins the label of data that is moved: parts of the tensor that the first operand is of. */
arenaut_status arn_rewrite_begin_move(arn_rewrite_check *c, const arenaut_op *op);
/* Parts of one tensor behind one another, along attribute "axis". */
arenaut_status arn_rewrite_follow_join(arn_rewrite_check *c, const arenaut_op *op);

/* ---- reductions (rewrite_sums.c) ---- */

/* Whether a tensor has one number for each of some rows. */
bool arn_label_is_of_rows(const arn_rewrite_check *c, uint32_t t);
/* The op at work reduces each row of an image by a window over all of it, "kernel_shape", or is a
 * mean along all of it, "axis". */
arenaut_status arn_rewrite_follow_rows(arn_rewrite_check *c, const arenaut_op *op, arn_known known);
bool arn_rewrite_reduces_rows(const arenaut_op *op, const arenaut_tensor *in);
/* Such numbers behind one another, along attribute "axis". */
arenaut_status arn_rewrite_join_rows(arn_rewrite_check *c, const arenaut_op *op);
/* The op at work reduces these numbers, each row of the image once, as the old op reduces all
 * elements of each channel: the same but for rounding. */
arenaut_status arn_rewrite_follow_reduction(arn_rewrite_check *c, const arenaut_op *op,
                                            const arenaut_op *old, arn_known known);

/* ---- normalizations (rewrite_norms.c) ---- */

/* Whether the op at work is a step of one. */
bool arn_rewrite_is_norm_step(const arn_rewrite_check *c, const arenaut_op *op);
arenaut_status arn_rewrite_follow_norm_step(arn_rewrite_check *c, const arenaut_op *op);

/* Windows of a rewritten op along one axis: which row of the old output has the same window. */

typedef struct arn_stencil {
    int64_t taps, stride, spread;
} arn_stencil;

/* Padding inside the tensor counts as the kernel's own only where that is the same: a sum of
 * products leaves zeroes out. */
typedef struct arn_window {
    const arn_rewrite_check *check;
    uint32_t input, axis;
    const arn_stencil *s;
    int64_t in, front;         /* of the new op */
    int64_t old_in, old_front; /* of the old one */
    int64_t old_out;
    bool zeroes_count; /* of pools, and of weights that may be infinite */
} arn_window;

/* Labels the `out` rows of the result along the window's axis: each is the old row with the same
 * window, or unknown. */
arenaut_status arn_label_windows(arn_rewrite_check *c, const arn_window *window, uint32_t result,
                                 int64_t out);

#endif
