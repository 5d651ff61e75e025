/* Random programs with branches, loops, jumps, calls and state, planned in many ways and run on
 * each plan; fuzz/machine_flow.c runs the same for longer. */
#include "support/test.h"

#include <stdlib.h>

#include "support/drawn.h"
#include "support/flow_machine.h"
#include "support/random.h"

TEST(plans_run_like_memory_of_its_own_for_everything) {
    flow_counts counts = {0};
    for (uint64_t seed = 0; seed < drawn(250); seed++) {
        char *difference = flow_machine_try(seed, NULL, NULL, &counts);
        if (difference) print_error("%s", difference);
        assert_null(difference);
    }
    /* It did not idle, and the checker sees at least these errors. */
    assert_true(counts.lowered > 2 * counts.programs);
    assert_true(counts.plans > 2 * counts.lowered);
    assert_true(counts.wrong_runs > counts.wrong_plans / 4);
    assert_true(counts.rejected >= counts.wrong_runs);
}

/* ---- the machine itself ---- */

static bool shorten(arenaut_problem *p, uint32_t buffer) {
    if (arenaut_problem_lifetime_count(p, buffer) == 0) return false;
    arenaut_interval *life = &p->lifetime[p->lifetime_start[buffer + 1] - 1];
    if (life->end - life->first < 2) return false;
    life->end--;
    return true;
}

static void end_some_life_too_early(void *context, arenaut_lowering *l) {
    rng *r = context;
    if (l->problem->n_buffers > 0) shorten(l->problem, rng_below(r, l->problem->n_buffers));
}

/* Values that a loop carries, as if its repetition were unknown. */
static void end_carried_lives_too_early(void *context, arenaut_lowering *l) {
    (void)context;
    for (uint32_t b = 0; b < l->problem->n_buffers; b++) {
        const bool written_by_loop =
            l->problem->op && l->problem->op[b] && strcmp(l->problem->op[b], "while") == 0;
        if (!written_by_loop || arenaut_problem_lifetime_count(l->problem, b) == 0) continue;
        arenaut_interval *life = &l->problem->lifetime[l->problem->lifetime_start[b]];
        life->end = life->first + 1;
    }
}

/* By running: that the replay rejects a plan is not enough. */
static uint32_t count_noticed(flow_sabotage sabotage, void *context, uint64_t seeds) {
    flow_counts counts = {0};
    uint32_t noticed = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        char *difference = flow_machine_try(seed, sabotage, context, &counts);
        noticed += difference && strstr(difference, "reads something else");
        free(difference);
    }
    return noticed;
}

TEST(lives_that_end_too_early_are_noticed) {
    rng r = {11};
    const uint32_t any = count_noticed(end_some_life_too_early, &r, 100);
    const uint32_t carried = count_noticed(end_carried_lives_too_early, NULL, 150);
    print_message("noticed: %u of 100 lives, %u of 150 programs with carried lives cut\n", any,
                  carried);
    assert_true(any > 20);
    assert_true(carried > 5);
}
