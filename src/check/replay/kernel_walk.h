/* The walk of one op's kernel over its arguments: its reads and writes in the kernel's order, on a
 * bitmap of overwritten bytes; and whether a read ever finds a byte that the op itself has written
 * over.
 *
 * kernel_steps.h has the loops that call _read, _write and _copy. Each of these returns false when
 * the walk is over: a read has found a byte written over, there have been too many steps, or the
 * op's attributes do not fit its sizes. Then `end` has the reason, and the loops return.
 *
 * A byte that is written over stays so. Hence of several reads of the same bytes the last finds all
 * defects that the others would, and the loops leave those out. */
#ifndef ARN_CHECK_KERNEL_WALK_H
#define ARN_CHECK_KERNEL_WALK_H

#include <arenaut/kernels.h>

#include "core/memory.h"

/* An output that shares bytes with an input: byte b of the output is byte b + shift of the input,
 * where there is one. */
typedef struct arn_walk_pair {
    uint32_t input, output; /* positions in the op's lists */
    int64_t shift;
} arn_walk_pair;

typedef struct arn_walk_input {
    uint64_t *over; /* per byte a bit: it is written over; NULL: it shares bytes with no output */
    uint64_t bytes;
} arn_walk_input;

typedef enum arn_walk_end {
    ARN_WALK_RIGHT,    /* every read has found its own bytes */
    ARN_WALK_CORRUPTS, /* a read has found byte `byte` of `input` written over */
    ARN_WALK_SMEARS,   /* a run is copied from byte `byte` of `input` to bytes that are partly it */
    ARN_WALK_UNKNOWN,  /* the kernel's steps are not known: `why` */
    ARN_WALK_TOO_LONG, /* more work than `most`, or inputs of more than ARN_WALK_BYTES */
} arn_walk_end;

typedef struct arn_walk {
    const arenaut_program *program;
    const arenaut_op *op;
    const arenaut_kernel_rule *rule;
    const arn_walk_pair *pairs;
    uint32_t n_pairs;
    arn_walk_input *inputs; /* of all of the op's */
    uint64_t work, most;    /* words of bits looked at, and steps */
    uint64_t written;       /* bytes of outputs so far */
    arn_walk_end end;
    const char *why;
    uint32_t input;
    uint64_t byte;
} arn_walk;

/* Sets up the marks of the inputs that pairs name, all unset, taking memory from `region`. False if
 * there is none; of more than ARN_WALK_BYTES the walk is over before it has begun. The caller has
 * filled in the fields above `inputs`, and `most`. */
#define ARN_WALK_BYTES (UINT64_C(1) << 31)
bool arn_walk_begin(arn_walk *walk, arn_region *region);

/* Bytes [first, end) of an argument, counted from its first. */
bool arn_walk_read(arn_walk *walk, uint32_t input, uint64_t first, uint64_t end);
bool arn_walk_write(arn_walk *walk, uint32_t output, uint64_t first, uint64_t end);
/* A run of bytes by memcpy, whose source and destination must be apart or the same. */
bool arn_walk_copy(arn_walk *walk, uint32_t input, uint64_t from, uint32_t output, uint64_t to,
                   uint64_t bytes);
/* Whether these bytes of the input are whole, and would be if those of the output were written:
 * then the order of the two does not matter. A shortcut for loops; nothing is read. */
bool arn_walk_is_apart(arn_walk *walk, uint32_t input, uint64_t first, uint64_t end,
                       uint32_t output, uint64_t output_first, uint64_t output_end);
/* Begins anew, with nothing written: a kernel may walk in several ways, which must all be right. */
void arn_walk_again(arn_walk *walk);
/* Ends the walk, and returns false: how the kernel walks is not known. */
bool arn_walk_give_up(arn_walk *walk, const char *why);

#endif
