/* sweep_pte: flips a bit of every byte in front of the weights of each file that is named, and
 * holds the library to what it promises about any bytes. The unit tests do so for a sample.
 *
 *     sweep_pte FILE.pte… */
#include <stdio.h>
#include <stdlib.h>

#include "support/pte_sweep.h"

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
    for (int i = 1; i < argc; i++) {
        size_t size = 0;
        uint8_t *data = load(argv[i], &size);
        if (!data) {
            perror(argv[i]);
            return 4;
        }
        const pte_sweep sweep = pte_sweep_run(data, size, 1, (uint64_t)i);
        printf("%s: %zu flips, %zu read, %zu planned, %zu right\n", argv[i], sweep.tried,
               sweep.accepted, sweep.planned, sweep.right);
        free(data);
    }
    return 0;
}
