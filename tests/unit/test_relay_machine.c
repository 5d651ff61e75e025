/* Random Relay-like programs against a second reading of the token rules; fuzz/machine_relay.c
 * runs the same for longer. */
#include "support/test.h"

#include "support/relay_machine.h"

TEST(storage_ids_are_those_of_a_second_reading) {
    for (uint64_t seed = 0; seed < 3000; seed++) {
        char *difference = relay_machine_try(seed);
        if (difference) print_error("%s", difference);
        assert_null(difference);
    }
}
