/* machine_forge: tries to forge certificates and proofs of orders until its processor time is over,
 * and ends at the first thing false that is proven (tests/support/forge_proofs.h). Fails, too, if
 * its search proves too few true bounds: then the absence of a forgery means nothing.
 * Stands on: problems_*.c order_brute.c
 *
 *     machine_forge [SECONDS [SEED]] */
#include <stdio.h>
#include <stdlib.h>

#include "machine_time.h"
#include "support/forge_proofs.h"

int main(int argc, char **argv) {
    const double seconds = machine_seconds(argc, argv);
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    forge_counts certificates = {0}, orders = {0};
    bool right = true;
    for (; machine_has_time(seconds) && right; seed++) {
        right =
            forge_certificates(seed, stdout, &certificates) && forge_orders(seed, stdout, &orders);
    }
    forge_report("certificates", &certificates, stdout);
    forge_report("orders", &orders, stdout);
    return right && forge_has_teeth(&certificates) && forge_has_teeth(&orders) ? 0 : 1;
}
