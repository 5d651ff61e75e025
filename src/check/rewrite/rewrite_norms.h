/* Normalizations of rewritten programs: the meaning of their ops in each dialect, and the old ops
 * that they stand for. */
#ifndef ARN_CHECK_REWRITE_NORMS_H
#define ARN_CHECK_REWRITE_NORMS_H

#include "check/rewrite/rewrite_labels.h"

/* The computation of an op of a normalization; an op with other arguments is none of them. */
typedef enum arn_norm_act {
    ARN_ACT_NONE,
    ARN_ACT_SUB,
    ARN_ACT_MUL,
    ARN_ACT_ADD,
    ARN_ACT_RAISE, /* the sum of its operand and a number that it states */
    ARN_ACT_MEAN,  /* of all elements of each channel */
    ARN_ACT_ROWS,  /* the mean of each row */
    ARN_ACT_ROOT,
    ARN_ACT_INVERSE,
    ARN_ACT_SHAPE,
    ARN_ACT_EXPAND,
    ARN_ACT_JOIN
} arn_norm_act;

arn_norm_act arn_norm_act_of(const arn_rewrite_check *c, const arenaut_op *op);

/* The number that an op of the act RAISE states; NULL: another. */
const char *arn_norm_stated(const arenaut_op *op);

/* A normalization of the program before. */
typedef struct arn_old_norm {
    uint32_t image, scale, bias; /* constants; NONE: it has none of either */
    int64_t groups, epsilon;     /* the bits of a double */
    const char *stated;          /* epsilon as it states it; NULL: the bits say it */
} arn_old_norm;

/* That which makes tensor `made` of the program before; false: none is known to. */
bool arn_old_norm_of(const arn_rewrite_check *c, uint32_t made, arn_old_norm *norm);

#endif
