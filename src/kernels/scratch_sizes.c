/* Terms of the formulas of scratch: see scratch_sizes.h. */
#include "kernels/scratch_sizes.h"

#include <string.h>

#include "core/checked.h"

bool arn_multiply_extents(uint64_t a, uint64_t b, uint64_t *product) {
    return arn_multiply(a, b, product) && *product <= ARN_MOST_EXTENT;
}

bool arn_count_taps(int64_t height, int64_t width, int64_t channels, uint64_t *n) {
    return arn_multiply_extents((uint64_t)height, (uint64_t)width, n) &&
           arn_multiply_extents(*n, (uint64_t)channels, n);
}

bool arn_find_window(const arenaut_program *p, const arenaut_op *op, arn_window *w) {
    return arn_op_windows(p, op, &w->at) && w->at.y.taps > 0 &&
           arn_count_taps(w->at.y.taps, w->at.x.taps, 1, &w->area) &&
           arn_multiply_extents(w->area, (uint64_t)w->at.in_channels, &w->elements);
}

bool arn_count_elements(const arenaut_tensor *tensor, uint64_t *n) {
    uint64_t bytes;
    if (!tensor || tensor->dynamic || tensor->unsized || tensor->dim_exprs) return false;
    if (!arn_has_sizes(tensor) || arenaut_dtype_bits(tensor->dtype) == 0) return false;
    *n = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (!arn_multiply(*n, (uint64_t)tensor->dims[i], n) || *n > ARN_MOST_EXTENT) return false;
    }
    return arenaut_dense_bytes(tensor->dtype, tensor->dims, tensor->rank, &bytes, NULL) ==
               ARENAUT_OK &&
           bytes == tensor->bytes;
}

void arn_ask(arenaut_scratch_requests *requests, uint64_t n, uint64_t each) {
    requests->bytes[requests->n++] = n * each;
}

bool arn_ask_for_each(arenaut_scratch_requests *requests, const arenaut_tensor *tensor,
                      uint64_t each) {
    uint64_t n;
    if (!arn_count_elements(tensor, &n)) return false;
    arn_ask(requests, n, each);
    return true;
}

bool arn_scratch_of_svdf(const arenaut_program *p, const arenaut_op *op,
                         arenaut_scratch_requests *requests) {
    const arenaut_tensor *input = arn_op_input(p, op, 0), *features = arn_op_input(p, op, 1);
    uint64_t n;
    if (!arn_count_elements(input, &n) || !arn_count_elements(features, &n)) return false;
    if (input->rank != 2 || features->rank != 2) return false;
    const uint64_t states = (uint64_t)input->dims[0] * (uint64_t)features->dims[0];
    if (states > ARN_MOST_EXTENT) return false;
    arn_ask(requests, states, 4);
    return input->dtype == ARENAUT_DTYPE_FLOAT32 ||
           arn_ask_for_each(requests, arn_op_output(p, op, 0), 4);
}

bool arn_scratch_of_small_weights(const arenaut_program *p, const arenaut_op *op,
                                  arenaut_scratch_requests *requests) {
    const arenaut_tensor *weights = arn_op_input(p, op, 1);
    return weights && weights->dtype == ARENAUT_DTYPE_INT4 &&
           arn_ask_for_each(requests, weights, 1);
}

bool arn_scratch_by_rows(const arn_scratch_row *rows, const arenaut_program *program,
                         const arenaut_op *op, arenaut_scratch_requests *requests) {
    for (; rows->op; rows++) {
        if (strcmp(rows->op, op->name) != 0) continue;
        const arenaut_tensor *tensor = arn_op_input(program, op, rows->input);
        if (tensor && rows->types >> tensor->dtype & 1) {
            return rows->formula(program, op, requests);
        }
    }
    return false;
}
