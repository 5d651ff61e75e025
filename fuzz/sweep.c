/* sweep: damages each file that is named at every place, or at 20,000 of them, and holds the
 * library to one property: cuts, flipped bits, and several bytes at once. The unit tests do so in
 * short. Built as fuzz_property.c is.
 *
 *     sweep FILE… */
#include <stdio.h>
#include <stdlib.h>

#include "../bench/load_file.h"
#include "support/sweep.h"

int main(int argc, char **argv) {
    enum { PLACES = 20000 };
    for (int i = 1; i < argc; i++) {
        size_t size = 0;
        uint8_t *data = load_file(argv[i], &size);
        if (!data) {
            perror(argv[i]);
            return 4;
        }
        const sweep s = {
            .property = PROPERTY, .seed = (uint64_t)i, .step = 1 + size / PLACES, .bits = 1};
        const sweep_counts cuts = sweep_cuts(&s, data, size), flips = sweep_flips(&s, data, size),
                           others = sweep_scatter(&s, data, size, 1000);
        printf("%s: of %zu cuts %zu are read, of %zu flips %zu, of %zu others %zu\n", argv[i],
               cuts.tried, cuts.accepted, flips.tried, flips.accepted, others.tried,
               others.accepted);
        free(data);
    }
    return 0;
}
