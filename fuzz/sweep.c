/* sweep: damages each file that is named at every place, or at 20,000 of them, and holds the
 * library to one property: cuts, flipped bits, and several bytes at once. The unit tests do so in
 * short. Built as fuzz_property.c is.
 *
 *     sweep FILE… */
#include <stdio.h>
#include <stdlib.h>

#include "support/sweep.h"

static uint8_t *load(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
    *size = (size_t)ftell(file);
    uint8_t *data = malloc(*size + 1);
    rewind(file);
    if (data && fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

int main(int argc, char **argv) {
    enum { PLACES = 20000 };
    for (int i = 1; i < argc; i++) {
        size_t size = 0;
        uint8_t *data = load(argv[i], &size);
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
