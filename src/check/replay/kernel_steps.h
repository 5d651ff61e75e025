/* The loops of kernels: for each operator that is known, which bytes its kernel reads and writes,
 * step by step, in the order that a rule of a kernel set states. Written from the loops of the
 * kernels, and apart from the formulas of src/kernels, which they are to hold to account. */
#ifndef ARN_CHECK_KERNEL_STEPS_H
#define ARN_CHECK_KERNEL_STEPS_H

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

/* Steps one after the other: each reads `read` bytes of an input and writes `made` bytes of an
 * output, both right behind those of the step before. `early` of a step's bytes may be written
 * before it has read. */
typedef struct arn_walk_run {
    uint32_t input, output;
    uint64_t from, read;
    uint64_t to, made, early;
    uint64_t n; /* steps */
} arn_walk_run;
/* Whether every step of the run reads bytes that are whole, since no step has written that far by
 * then. A shortcut for loops, which then write all at once; nothing is read. */
bool arn_walk_stays_ahead(arn_walk *walk, const arn_walk_run *run);
/* The run by that shortcut or, where it is none, step by step; `early` is 0. */
bool arn_walk_run_steps(arn_walk *walk, const arn_walk_run *run);
/* Begins anew, with nothing written: a kernel may walk in several ways, which must all be right. */
void arn_walk_again(arn_walk *walk);
/* Ends the walk, and returns false: how the kernel walks is not known. */
bool arn_walk_give_up(arn_walk *walk, const char *why);

/* Walks the op's kernel to its end, or to the first read that finds a byte written over:
 * walk->end says which. */
void arn_kernel_steps(arn_walk *walk);

/* ---- for the files that have the loops ---- */

/* The steps of one kernel. False as arn_walk_read. */
typedef bool arn_kernel_loops(arn_walk *walk);

typedef struct arn_kernel_family {
    const char *op; /* as readers spell it */
    arn_kernel_loops *loops;
    uint32_t inputs; /* bit k: the loops read input k. The others are read after all */
    bool all_inputs; /* they read all */
    bool
        all_outputs; /* they write all outputs; else the first, and others are written before all */
    bool takes_blocks; /* the loops are right for every order, else as `raster` alone has it */
} arn_kernel_family;

/* Each ends with op == NULL. */
extern const arn_kernel_family arn_window_kernels[];
extern const arn_kernel_family arn_plane_kernels[];
extern const arn_kernel_family arn_element_kernels[];
extern const arn_kernel_family arn_moving_kernels[];
extern const arn_kernel_family arn_matrix_kernels[];

/* A dense argument of whole bytes. */
enum { ARN_OPERAND_RANK = 8 };
typedef struct arn_operand {
    arenaut_dtype dtype;
    uint32_t rank;
    int64_t dims[ARN_OPERAND_RANK];
    uint64_t count;   /* elements */
    uint64_t element; /* bytes of one */
} arn_operand;

/* False, with the walk given up, for an argument that is left out, not dense, of varying size, too
 * many dimensions or past 2^30 in one. */
bool arn_walk_input_operand(arn_walk *walk, uint32_t input, arn_operand *operand);
bool arn_walk_output_operand(arn_walk *walk, uint32_t output, arn_operand *operand);
/* The same of an image whose shape has channels second and whose memory has them innermost, as if
 * the shape had them last, too. */
bool arn_walk_input_image(arn_walk *walk, uint32_t input, arn_operand *operand);
bool arn_walk_output_image(arn_walk *walk, uint32_t output, arn_operand *operand);
/* Elements of dimensions [first, end). */
uint64_t arn_operand_count(const arn_operand *operand, uint32_t first, uint32_t end);

/* The `n` numbers of a small constant among the inputs; NULL if they are not known. */
const int64_t *arn_walk_values(const arn_walk *walk, uint32_t input, uint32_t n);
/* The numbers of an attribute; false if there are not `n`, or some is past 2^30 on either side. */
bool arn_walk_attribute(const arn_walk *walk, const char *name, uint32_t n, int64_t *numbers);
/* The same for one number; `usual` if the op does not say. */
int64_t arn_walk_number(const arn_walk *walk, const char *name, int64_t usual);
bool arn_walk_says(const arn_walk *walk, const char *name, const char *text);
/* Counts a negative axis from the end; false if it is none of the operand's. */
bool arn_walk_axis(int64_t axis, uint32_t rank, uint32_t *found);

/* The largest whole number that is no greater, of numbers below 2^62 on either side. */
int64_t arn_floor(float value);

/* Loops inside one another, the last the innermost, with the places of two arrays. */
typedef struct arn_loops {
    uint32_t depth;
    int64_t count[ARN_OPERAND_RANK];
    int64_t stride[2][ARN_OPERAND_RANK]; /* of each array, in each loop */
    int64_t index[ARN_OPERAND_RANK];
    int64_t at[2];
} arn_loops;

/* Adds a loop inside those there are. */
void arn_loops_add(arn_loops *loops, int64_t count, int64_t stride, int64_t other_stride);
/* The next turn; false after the last. */
bool arn_loops_next(arn_loops *loops);
bool arn_loops_are_empty(const arn_loops *loops);

#endif
