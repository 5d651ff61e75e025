/* Requests for scratch, from the shapes of an op's tensors: terms that the formulas of several
 * kernel sets share. */
#ifndef ARN_KERNELS_SCRATCH_SIZES_H
#define ARN_KERNELS_SCRATCH_SIZES_H

#include <arenaut/kernels.h>

#include "kernels/op_facts.h"

static inline uint64_t arn_round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

/* False if the product is more than the kernels' ints count. */
bool arn_multiply_extents(uint64_t a, uint64_t b, uint64_t *product);

/* Elements of a filter of one output channel over so many input channels; false likewise. */
bool arn_count_taps(int64_t height, int64_t width, int64_t channels, uint64_t *n);

/* An op's windows, and the elements of one of them. */
typedef struct arn_window {
    arn_windows at;
    uint64_t area;     /* of one channel */
    uint64_t elements; /* of all of them, for any number of groups */
} arn_window;

/* False if it is not known, or if there is none. */
bool arn_find_window(const arenaut_program *program, const arenaut_op *op, arn_window *window);

/* Number of elements; false if it is not known in advance, or more than the kernels' ints count. */
bool arn_count_elements(const arenaut_tensor *tensor, uint64_t *n);

/* `n` times `each` bytes; they are counted in the kernels' ints, so that no product overflows. */
void arn_ask(arenaut_scratch_requests *requests, uint64_t n, uint64_t each);

/* So many bytes for each element; false if these are not known. */
bool arn_ask_for_each(arenaut_scratch_requests *requests, const arenaut_tensor *tensor,
                      uint64_t each);

typedef bool arn_scratch_formula(const arenaut_program *program, const arenaut_op *op,
                                 arenaut_scratch_requests *requests);

/* Requests of kernels of several sets. SVDF: the state of every filter, and quantized sums of the
 * output. Weights (input 1) of four bits: as bytes; false of others. */
arn_scratch_formula arn_scratch_of_svdf, arn_scratch_of_small_weights;

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
