/* sweep: damages each file that is named, and holds the library to one property: cuts, flipped
 * bits, and several bytes at once. The unit tests do so in short. Built as fuzz_property.c is.
 *
 *     sweep SECONDS FILE…
 *
 * Each file has its share of so many seconds of the processor. Every byte is a place for a cut and
 * a flip, if the share lasts for as many calls with the whole file; else every second byte, every
 * third and so on, as the output says. Bytes under which something breaks are left beside the
 * program, as sweep.input. */
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../bench/load_file.h"
#include "support/sweep.h"

enum { OTHERS = 1000 };

/* The bytes that are being tried. */
static struct {
    const uint8_t *data;
    size_t size;
    char path[4096];
} tried;

static void keep_tried(void) {
    FILE *file = tried.data ? fopen(tried.path, "wb") : NULL;
    if (!file) return;
    fwrite(tried.data, 1, tried.size, file);
    fclose(file);
    fprintf(stderr, "kept in %s\n", tried.path);
}

/* A sanitizer ends the program itself; a broken promise aborts. */
static void keep_aborted(int number) {
    (void)number;
    keep_tried();
}

static bool try(const uint8_t *data, size_t size) {
    tried.data = data;
    tried.size = size;
    const bool accepted = PROPERTY(data, size);
    tried.data = NULL;
    return accepted;
}

/* Seconds that the whole file costs. */
static double measure(const uint8_t *data, size_t size) {
    const clock_t began = clock();
    double calls = 0;
    do {
        try(data, size);
        calls++;
    } while (clock() - began < CLOCKS_PER_SEC / 100);
    return (double)(clock() - began) / CLOCKS_PER_SEC / calls;
}

static void sweep_file(const char *path, uint8_t *data, size_t size, uint64_t seed,
                       double seconds) {
    const double calls = 1 + seconds / measure(data, size);
    const size_t others = calls / 5 < OTHERS ? (size_t)(calls / 5) : OTHERS;
    const sweep s = {
        .property = try, .seed = seed, .step = 1 + (size_t)(2 * (double)size / calls), .bits = 1};
    printf("%s: one of %zu bytes, %zu others\n", path, s.step, others);
    fflush(stdout);
    const sweep_counts cuts = sweep_cuts(&s, data, size), flips = sweep_flips(&s, data, size),
                       several = sweep_scatter(&s, data, size, others);
    printf("%s: of %zu cuts %zu are read, of %zu flips %zu, of %zu others %zu\n", path, cuts.tried,
           cuts.accepted, flips.tried, flips.accepted, several.tried, several.accepted);
}

int main(int argc, char **argv) {
    char *end = "";
    const double seconds = argc > 2 ? strtod(argv[1], &end) : 0;
    if (!(seconds > 0) || *end) {
        fprintf(stderr, "usage: sweep SECONDS FILE…\n");
        return 2;
    }
    snprintf(tried.path, sizeof tried.path, "%s.input", argv[0]);
    __sanitizer_set_death_callback(keep_tried);
    signal(SIGABRT, keep_aborted);
    for (int i = 2; i < argc; i++) {
        size_t size = 0;
        uint8_t *data = load_file(argv[i], &size);
        if (!data) {
            perror(argv[i]);
            return 4;
        }
        sweep_file(argv[i], data, size, (uint64_t)i, seconds / (argc - 2));
        free(data);
    }
    return 0;
}
