/* Requests for scratch, from the shapes of an op's tensors: what the formulas of several kernel
 * sets are made of. */
#ifndef ARN_KERNELS_SCRATCH_SIZES_H
#define ARN_KERNELS_SCRATCH_SIZES_H

#include <arenaut/kernels.h>

/* How many elements; false if that is not known for good, or more than the kernels' ints count. */
bool arn_count_elements(const arenaut_tensor *tensor, uint64_t *n);

/* `n` times `each` bytes; they are counted in the kernels' ints, so that no product overflows. */
void arn_ask(arenaut_scratch_requests *requests, uint64_t n, uint64_t each);

/* So many bytes for each element; false if these are not known. */
bool arn_ask_for_each(arenaut_scratch_requests *requests, const arenaut_tensor *tensor,
                      uint64_t each);

typedef bool arn_scratch_formula(const arenaut_program *program, const arenaut_op *op,
                                 arenaut_scratch_requests *requests);

/* What kernels of several sets ask for. SVDF: the state of every filter, and quantized sums of the
 * output. */
arn_scratch_formula arn_scratch_of_svdf;

/* A formula for an op, and the types of an input for which it was tried. */
typedef struct arn_scratch_row {
    const char *op;
    uint32_t input, types;
    arn_scratch_formula *formula;
} arn_scratch_row;

/* By the row that is about the op, of a list that ends with op == NULL; false: none knows. */
bool arn_scratch_by_rows(const arn_scratch_row *rows, const arenaut_program *program,
                         const arenaut_op *op, arenaut_scratch_requests *requests);

#endif
