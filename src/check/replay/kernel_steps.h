/* The loops of kernels: for each operator that is known, which bytes its kernel reads and writes,
 * step by step, in the order that a rule of a kernel set states. Written from the loops of the
 * kernels, and apart from the formulas of src/kernels, which they are to hold to account. */
#ifndef ARN_CHECK_KERNEL_STEPS_H
#define ARN_CHECK_KERNEL_STEPS_H

#include "check/replay/kernel_walk.h"

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
/* Elements of dimensions [first, end). */
uint64_t arn_operand_count(const arn_operand *operand, uint32_t first, uint32_t end);

/* What a small constant among the inputs holds, `n` numbers; NULL if that is not known. */
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
