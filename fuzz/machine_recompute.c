/* machine_recompute: random programs with rematerialized ops, as they are and spoiled, compared
 * with running both programs with numbers, until its processor time is over.
 *
 *     machine_recompute [SECONDS [SEED]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine_time.h"
#include "support/recompute_machine.h"

int main(int argc, char **argv) {
    const double seconds = machine_seconds(argc, argv);
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, n = 0;
    recompute_counts counts = {0};
    for (; machine_has_time(seconds); seed++, n++) recompute_machine_try(seed, &counts);
    printf("%" PRIu64 " programs, of which %" PRIu64 " gain by rematerialization; %" PRIu64
           " rewritten ones compute the same, %" PRIu64 " do not\n",
           n, counts.gained, counts.accepted, counts.rejected);
    return 0;
}
