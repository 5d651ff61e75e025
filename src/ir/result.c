/* Queries on a result. */
#include <arenaut/result.h>

const arenaut_kernel_set *arenaut_result_kernels(const arenaut_result *result) {
    const arenaut_problem *p = result->problem;
    if (p->n_separations) return result->kernels;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_same_base(p, b) != ARENAUT_NONE) return result->kernels;
    }
    return NULL;
}
