/* Counts of the forging machine, and the least that its search must be able to do. */
#include "support/forge_proofs.h"

#include <inttypes.h>

enum { LEAST_PROVEN = 85 /* percent of true bounds */ };

bool forge_has_teeth(const forge_counts *c) { return c->proven * 100 >= c->truths * LEAST_PROVEN; }

void forge_report(const char *what, const forge_counts *c, FILE *log) {
    fprintf(log,
            "%s: %" PRIu64 " problems (%" PRIu64 " skipped), %" PRIu64
            " calls of the checker, "
            "%" PRIu64 " true proofs accepted; false claims: %" PRIu64 " searched for, %" PRIu64
            " mutants; %" PRIu64 " of %" PRIu64 " true bounds proven by search (%" PRIu64
            " %%); forgeries: %" PRIu64 "\n",
            what, c->problems, c->skipped, c->calls, c->certified, c->built, c->mutants, c->proven,
            c->truths, c->truths ? c->proven * 100 / c->truths : 0, c->forgeries);
}
