/* The runtime built with ARENAUT_CHECKED=0: it looks at nothing that the checked one finds, and
 * still neither leaks nor frees what is not its own. Linked with a build of its own. */
#include "support/test.h"

#include "support/faults.h"
#include "support/iteration_bench.h"

TEST(pointers_that_were_bent_are_lost) {
    bench b;
    arenaut_fault fault;
    char elsewhere[64];
    bench_lay_out(&b, 3);
    bench_make(&b);
    bench_run(&b);
    assert_fine(arenaut_iteration_allocate(b.it, &fault));
    arenaut_iteration_storage(b.it, 1)->data = elsewhere;
    arenaut_iteration_storage(b.it, 0)->bytes++;
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    bench_run(&b);
    bench_finish(&b);
}

static arenaut_status overlap_all(void *context, const arenaut_placing *placing) {
    (void)context;
    for (uint32_t i = 0; i < placing->n; i++) placing->offset[i] = 0;
    *placing->arena = 1024;
    return ARENAUT_OK;
}

TEST(a_planner_is_believed) {
    bench b;
    arenaut_fault fault;
    bench_lay_out(&b, 3);
    b.config.place = overlap_all;
    bench_make(&b);
    for (uint32_t v = 0; v < 3; v++) assert_fine(arenaut_iteration_learn(b.it, v, 256, &fault));
    assert_fine(arenaut_iteration_plan(b.it, &fault));
    bench_finish(&b);
}
