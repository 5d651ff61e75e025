/* machine_flow: random programs with branches, loops, jumps, calls and state, planned by
 * many choices and run on each plan, until its processor time is over.
 *
 *     machine_flow [SECONDS [SEED]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine_time.h"
#include "support/flow_machine.h"

int main(int argc, char **argv) {
    const double seconds = machine_seconds(argc, argv);
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    flow_counts counts = {0};
    for (; machine_has_time(seconds); seed++) {
        char *difference = flow_machine_try(seed, NULL, NULL, &counts);
        if (!difference) continue;
        fputs(difference, stderr);
        free(difference);
        return 1;
    }
    printf("%" PRIu64 " programs, %" PRIu64 " plans and %" PRIu64
           " runs as they must be; of %" PRIu64 " wrong plans %" PRIu64
           " ran differently and %" PRIu64 " were rejected\n",
           counts.programs, counts.plans, counts.runs, counts.wrong_plans, counts.wrong_runs,
           counts.rejected);
    return 0;
}
