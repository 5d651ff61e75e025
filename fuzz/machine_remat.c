/* machine_remat: random small problems of rematerialization, held against a search through all
 * sequences, and forged proofs, until its processor time is over; ends at the first that is wrong.
 *
 *     machine_remat [SECONDS [SEED]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine_time.h"
#include "support/remat_machine.h"

int main(int argc, char **argv) {
    const double seconds = machine_seconds(argc, argv);
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    remat_counts c = {0};
    uint64_t n_missed = 0;
    bool right = true;
    for (; machine_has_time(seconds) && right; seed++) {
        right = remat_machine_try(seed, stdout, &c) && remat_machine_try_step(seed, stdout, &c) &&
                remat_machine_try_chain(seed, stdout, &c) &&
                remat_machine_try_shared(seed, stdout, &c) &&
                remat_machine_try_budgets(seed, stdout, &n_missed);
    }
    printf("%" PRIu64 " problems: %" PRIu64 " can be kept within the budget, %" PRIu64
           " found, %" PRIu64 " the fastest, %" PRIu64 " with a bound that is the least; %" PRIu64
           " of %" PRIu64 " impossible ones proven so; %" PRIu64 " of %" PRIu64
           " forgeries refused; %" PRIu64 " lowest peaks missed\n",
           c.problems, c.feasible, c.found, c.best, c.tight, c.in_vain, c.impossible, c.refused,
           c.mutants, n_missed);
    return right ? 0 : 1;
}
