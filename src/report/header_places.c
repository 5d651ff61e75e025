/* Places of tensors, and alignments of pools: for both parts of the report "header". An alignment
 * costs a look at every buffer. */
#include "report/header_report.h"

uint64_t arn_report_pool_alignment(const arenaut_result *result, uint32_t pool) {
    const arenaut_problem *p = result->problem;
    uint64_t align = p->pool[pool].align ? p->pool[pool].align : 1;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (result->plan->pool[b] != pool) continue;
        if (arenaut_problem_align(p, b) > align) align = arenaut_problem_align(p, b);
    }
    return align;
}

bool arn_report_tensor_place(const arenaut_result *result, uint32_t tensor, uint32_t *pool,
                             uint64_t *offset) {
    const arenaut_lowering *lowering = result->lowering;
    if (tensor >= lowering->n_tensors) return false;
    const uint32_t buffer = lowering->buffer[tensor];
    if (buffer == ARENAUT_NONE || result->plan->pool[buffer] == ARENAUT_NONE) return false;
    *pool = result->plan->pool[buffer];
    *offset = result->plan->offset[buffer] + lowering->offset[tensor];
    return true;
}
