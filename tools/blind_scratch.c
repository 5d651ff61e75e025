#include "blind_scratch.h"

#include <stdlib.h>

/* Buffers looked at, over all steps: far more than any model for such a runtime has. */
enum { MAX_LOOKS = 1 << 28 };

typedef struct range {
    uint64_t first, end;
} range;

static int by_first(const void *a, const void *b) {
    const range *ra = a, *rb = b;
    return (ra->first > rb->first) - (ra->first < rb->first);
}

static bool alive_at(const arenaut_problem *problem, uint32_t buffer, int64_t step) {
    const arenaut_interval *life = arenaut_problem_lifetimes(problem, buffer);
    const uint32_t n = arenaut_problem_lifetime_count(problem, buffer);
    for (uint32_t i = 0; i < n; i++) {
        if (life[i].first <= step && step < life[i].end) return true;
    }
    return false;
}

/* Whether what is alive at `step` covers the addresses from 0 to its top. */
static bool is_compact(const tool_job *job, int64_t step, range *live) {
    size_t n = 0;
    for (uint32_t b = 0; b < job->problem->n_buffers; b++) {
        if (!alive_at(job->problem, b, step)) continue;
        const uint64_t first = job->plan->offset[b];
        live[n++] = (range){first, first + job->problem->size[b]};
    }
    qsort(live, n, sizeof *live, by_first);
    uint64_t top = 0;
    for (size_t i = 0; i < n; i++) {
        if (live[i].first > top) return false;
        if (live[i].end > top) top = live[i].end;
    }
    return true;
}

bool scratch_cannot_hurt(const tool_job *job) {
    const arenaut_program *program = job->document.program;
    const arenaut_lowering *lowering = job->lowering;
    const uint64_t n = job->problem->n_buffers;
    uint64_t looks = 0;
    bool compact = job->plan->n_pools == 1;
    range *live = must_allocate(n + 1, sizeof *live);
    for (uint32_t k = 0; k < lowering->n_steps && compact; k++) {
        const uint32_t op = lowering->steps[k].op;
        if (op == ARENAUT_NONE) continue;
        if (!arenaut_op_asks_for_scratch(program, &program->ops[op], job->target)) continue;
        looks += n;
        compact = looks <= MAX_LOOKS && is_compact(job, k, live);
    }
    free(live);
    return compact;
}
