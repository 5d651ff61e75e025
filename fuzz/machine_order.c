/* machine_order: random programs, reordered, written, read back and held against all their orders,
 * with proofs whose lines are spoiled, until its processor time is over.
 *
 *     machine_order [SECONDS [SEED]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine_time.h"
#include "support/order_machine.h"

int main(int argc, char **argv) {
    const double seconds = machine_seconds(argc, argv);
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, n = 0, known = 0;
    for (; machine_has_time(seconds); seed++, n++) known += order_machine_try(seed);
    printf("%" PRIu64 " programs, the orders of %" PRIu64 " of them as they must be\n", n, known);
    return 0;
}
