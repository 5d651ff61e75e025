/* machine_problems: random small problems of every combination of features for so many seconds of
 * processor time; all that the library claims about them is held against a search through
 * everything (tests/support/problems_machine.h). Ends at the first claim that is wrong, and writes
 * the problem. The unit tests do so for a few seeds of each combination.
 *
 *     machine_problems SECONDS [SEED [FEATURES]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine_time.h"
#include "support/problems_machine.h"
#include "support/random.h"

static differential_shape draw_shape(rng *r, int64_t features) {
    differential_shape shape = {.tries = 3000000};
    static const uint64_t efforts[] = {300, 3000, 20000, 20000};
    do {
        shape.features = (uint32_t)rng_next(r) & ((1u << DIFFERENTIAL_FEATURES) - 1);
        /* Often only a few at a time: those together show more of each. */
        if (rng_once_in(r, 2)) shape.features &= (uint32_t)rng_next(r);
        if (features >= 0) shape.features = (uint32_t)features;
    } while (!differential_makes_sense(shape.features));
    shape.max_buffers = 2 + rng_below(r, 6);
    shape.effort = efforts[rng_below(r, 4)];
    return shape;
}

static void report(const differential_counts *c) {
    printf("%" PRIu64 " problems (%" PRIu64 " not valid), %" PRIu64 " plans, %" PRIu64
           " refusals; %" PRIu64 " bounds, %" PRIu64 " optima, %" PRIu64 " impossible, %" PRIu64
           " certificates (%" PRIu64 " not found); %" PRIu64
           " of auto's plans open; given up %" PRIu64 "\n",
           c->problems, c->refused_problems, c->plans, c->refusals, c->bounds, c->optima,
           c->impossible, c->certificates, c->uncertified, c->open, c->given_up);
}

int main(int argc, char **argv) {
    const double seconds = machine_seconds(argc, argv);
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const int64_t features = argc > 3 ? strtoll(argv[3], NULL, 0) : -1;
    differential_counts counts = {0};
    char message[256];
    while (machine_has_time(seconds)) {
        rng r = {seed};
        const differential_shape shape = draw_shape(&r, features);
        if (!differential_run(seed, &shape, stdout, &counts, message)) {
            report(&counts);
            return 1;
        }
        seed++;
    }
    report(&counts);
    return 0;
}
