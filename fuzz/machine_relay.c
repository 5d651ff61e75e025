/* machine_relay: random Relay-like programs, their storage ids held against a second reading of
 * the rules, until its processor time is over.
 *
 *     machine_relay [SECONDS [SEED]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine_time.h"
#include "support/relay_machine.h"

int main(int argc, char **argv) {
    const double seconds = machine_seconds(argc, argv);
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, n = 0;
    for (; machine_has_time(seconds); seed++, n++) {
        char *difference = relay_machine_try(seed);
        if (!difference) continue;
        fputs(difference, stderr);
        free(difference);
        return 1;
    }
    printf("%" PRIu64 " programs: ids, devices and bytes as the second reading has them\n", n);
    return 0;
}
