/* A problem that keeps all lanes busy, planned on several threads, which ThreadSanitizer
 * watches, and on one: the plans must be the same. */
#include <stdio.h>
#include <string.h>

#include <arenaut/planner.h>

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(random_state >> 33) % limit;
}

/* Hard ones at one time; at another, enough to be too many for exact search where `crowd`. */
static arenaut_status make_problem(uint32_t crowd, arenaut_problem **out, arenaut_error *err) {
    arenaut_status st = arenaut_problem_new(NULL, out, err);
    for (uint32_t i = 0; i < 560 + crowd && st == ARENAUT_OK; i++) {
        const int64_t first = i < 560 ? random_below(120) : 200;
        const arenaut_interval life = {first, first + 1 + random_below(i < 560 ? 25 : 2)};
        arenaut_buffer buffer = ARENAUT_BUFFER_INIT;
        buffer.size = i < 560 ? 1000 + random_below(9000) : 1 + random_below(9);
        buffer.lifetimes = &life;
        buffer.n_lifetimes = 1;
        st = arenaut_problem_add_buffer(*out, &buffer, NULL, err);
    }
    return st == ARENAUT_OK ? arenaut_problem_finish(*out, err) : st;
}

static arenaut_verdict go_on(void *context, const arenaut_progress *progress) {
    ++*(uint64_t *)context;
    return progress->best == 0 ? ARENAUT_INTERRUPTED : ARENAUT_GO_ON;
}

static int plan(const arenaut_problem *problem, uint32_t threads, arenaut_plan **out,
                arenaut_error *err) {
    uint64_t calls = 0;
    const arenaut_plan_options options = {
        .effort = 120000, .threads = threads, .progress = go_on, .progress_context = &calls};
    return arenaut_plan_make(problem, &options, NULL, out, err) == ARENAUT_OK && calls > 0;
}

int main(void) {
    for (uint32_t crowd = 0; crowd <= 1500; crowd += 1500) {
        arenaut_problem *problem = NULL;
        arenaut_plan *alone = NULL, *together = NULL;
        arenaut_error err = {.msg = ""};
        const int planned = make_problem(crowd, &problem, &err) == ARENAUT_OK &&
                            plan(problem, 1, &alone, &err) && plan(problem, 4, &together, &err);
        const int same =
            planned && alone->effort == together->effort &&
            memcmp(alone->offset, together->offset, alone->n_buffers * sizeof *alone->offset) == 0;
        if (!same) fprintf(stderr, "with %u more: the plans differ %s\n", crowd, err.msg);
        arenaut_plan_free(alone);
        arenaut_plan_free(together);
        arenaut_problem_free(problem);
        if (!same) return 1;
    }
    return 0;
}
