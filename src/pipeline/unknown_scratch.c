/* Planning without knowing how much scratch the kernels will ask for. A plan is no worse than any
 * that keeps buffers apart, such as the runtime's own, whatever that is, if at each op that asks
 * what is alive lies from address 0 up without a hole: the scratch then ends no higher than
 * everything alive and the scratch itself. Looks at every buffer at every such op. */
#include "pipeline/stages.h"

#include <stdlib.h>

#include "core/memory.h"
#include "ir/lifetimes.h"

/* Buffers looked at, over all steps: far more than any model for such a runtime has. */
enum { MAX_LOOKS = 1 << 28 };

typedef struct range {
    uint64_t first, end;
} range;

static int by_first(const void *a, const void *b) {
    const range *ra = a, *rb = b;
    return (ra->first > rb->first) - (ra->first < rb->first);
}

/* Whether what is alive at `step` covers the addresses from 0 to its top. */
static bool is_compact(const arenaut_problem *problem, const arenaut_plan *plan, int64_t step,
                       range *live) {
    size_t n = 0;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (!arn_alive_at(problem, b, step)) continue;
        const uint64_t first = plan->offset[b];
        live[n++] = (range){first, first + problem->size[b]};
    }
    if (n) qsort(live, n, sizeof *live, by_first);
    uint64_t top = 0;
    for (size_t i = 0; i < n; i++) {
        if (live[i].first > top) return false;
        if (live[i].end > top) top = live[i].end;
    }
    return true;
}

arenaut_status arn_pipeline_scratch_is_harmless(const arenaut_pipeline *p, bool *harmless,
                                                arenaut_error *err) {
    const arenaut_program *program = p->document.program;
    const uint64_t n = p->problem->n_buffers;
    uint64_t looks = 0;
    bool compact = p->plan->n_pools == 1;
    range *live = arn_allocate(arn_pipeline_allocator(p), n, sizeof *live);
    if (!live) return arn_no_memory(err);
    for (uint32_t k = 0; k < p->lowering->n_steps && compact; k++) {
        const uint32_t op = p->lowering->steps[k].op;
        if (op == ARENAUT_NONE) continue;
        if (!arenaut_op_asks_for_scratch(program, &program->ops[op], p->kernels)) continue;
        looks += n;
        compact = looks <= MAX_LOOKS && is_compact(p->problem, p->plan, k, live);
    }
    arn_release(arn_pipeline_allocator(p), live);
    *harmless = compact;
    return ARENAUT_OK;
}
