/* Nothing false can be proven: the forging machine, in short. `make fuzz` runs it for longer. */
#include "support/test.h"

#include <stdlib.h>

#include "support/forge_proofs.h"
#include "support/thorough.h"

enum { PROBLEMS = 400 };

typedef bool (*forge_fn)(uint64_t seed, FILE *log, forge_counts *counts);

static void forge(const char *what, forge_fn try_one) {
    forge_counts counts = {0};
    for (uint64_t seed = 1; seed <= PROBLEMS * (uint64_t)thorough(); seed++) {
        if (!try_one(seed, stderr, &counts)) fail_msg("seed %u: forged", (unsigned)seed);
    }
    forge_report(what, &counts, stdout);
    assert_int_equal(counts.forgeries, 0);
    assert_true(counts.calls > 1000 * (uint64_t)thorough());
    assert_true(forge_has_teeth(&counts));
}

TEST(no_certificate_can_be_forged) { forge("certificates", forge_certificates); }

TEST(no_proof_of_an_order_can_be_forged) { forge("orders", forge_orders); }
