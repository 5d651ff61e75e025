/* The step from buffers to tensors that the pipeline makes, written a second time: tests of the
 * replay must not use the code that they test. */
#include "support/replay_plan.h"

#include "support/require.h"

arenaut_status replay_plan(const arenaut_program *program, const arenaut_lowering *lowering,
                           const arenaut_plan *plan, arenaut_finding *finding, arenaut_error *err) {
    const uint32_t n = program->n_tensors;
    uint32_t *pool = malloc(((size_t)n + 1) * sizeof *pool);
    uint64_t *offset = malloc(((size_t)n + 1) * sizeof *offset);
    REQUIRE(pool && offset);
    for (uint32_t t = 0; t < n; t++) {
        const uint32_t b = lowering->buffer[t];
        pool[t] = b == ARENAUT_NONE ? ARENAUT_NONE : plan->pool[b];
        offset[t] = pool[t] == ARENAUT_NONE ? 0 : plan->offset[b] + lowering->offset[t];
    }
    const arenaut_placement placement = {n, plan->n_pools, pool, offset, plan->arena};
    const arenaut_status st = arenaut_check_replay(program, &placement, NULL, NULL, finding, err);
    free(pool);
    free(offset);
    return st;
}
