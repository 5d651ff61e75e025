/* Cost of a new plan in a live iteration: `arenaut_iteration_plan` after sizes have grown.
 *
 *     replan [ROUNDS]
 *
 * Of 50 to 50,000 values: of a chain with skips, of short lives at random, and, up to 5,000, of
 * lives that are long at random. By default (a live loop), by storage groups inside the runtime, by
 * the planners that are named, and by `auto` with its default effort, up to 500. A table of
 * milliseconds of CPU time, the median of ROUNDS plans with other sizes each, with how far the
 * arena is above its lower bound. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arenaut/runtime_allocators.h>
#include <arenaut/runtime_plan.h>

enum { MOST_ROUNDS = 64 };

static uint32_t state = 7;

static uint32_t below(uint32_t limit) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

typedef enum kind { CHAIN, SHORT, LONG, KINDS } kind;

static void fill(arenaut_value *value, uint32_t n, kind lives) {
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t first = lives == CHAIN ? v : below(n / 4 + 4);
        const uint32_t skip = below(20) == 0 ? below(60) : 0;
        const uint32_t length = lives == CHAIN   ? 1 + below(6) + skip
                                : lives == SHORT ? 1 + below(16)
                                                 : 1 + below(n / 16 + 1);
        value[v] = (arenaut_value){
            ARENAUT_VALUE_MANAGED, 0, first, first + length, ARENAUT_NO_VALUE, ARENAUT_NO_VALUE};
    }
}

static double cpu_milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void require(arenaut_status status) {
    if (status != ARENAUT_OK) {
        fprintf(stderr, "status %d\n", (int)status);
        exit(1);
    }
}

static int by_value(const void *pa, const void *pb) {
    const double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

/* All sizes grow, each by as much as it likes. */
static void grow(arenaut_iteration *it, uint32_t n, int round) {
    for (uint32_t v = 0; v < n; v++) {
        const size_t bytes = 1000 + (size_t)round * 500000 + below(1000000);
        require(arenaut_iteration_learn(it, v, bytes, NULL));
    }
}

typedef struct column {
    const char *title;
    const char *planner; /* NULL: by default */
    bool groups;         /* in the runtime, without a planner */
    uint32_t most;       /* values; 0: any number */
} column;

static const column columns[] = {{"default", NULL, false, 0},
                                 {"groups, runtime", NULL, true, 0},
                                 {"storage-groups", "storage-groups", false, 0},
                                 {"greedy-by-size", "greedy-by-size", false, 0},
                                 {"ggml", "ggml", false, 0},
                                 {"auto", "auto", false, 500}};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* One cell of the table. */
static void measure(const column *how, const arenaut_value *value, uint32_t n, int rounds) {
    const arenaut_plan_options options = {.planner = how->planner};
    arenaut_iteration_planner planner = {.options = how->planner ? &options : NULL};
    arenaut_iteration_config config = {.value = value,
                                       .n_values = n,
                                       .options = arenaut_iteration_defaults(),
                                       .source = arenaut_heap_source(),
                                       .place = arenaut_iteration_place,
                                       .place_context = &planner};
    config.options.grouping = how->groups ? ARENAUT_BY_GROUPS : ARENAUT_BY_OFFSETS;
    void *room = malloc(arenaut_iteration_bytes(n));
    arenaut_iteration *it;
    double took[MOST_ROUNDS];
    if (!room) exit(1);
    state = 7;
    require(arenaut_iteration_init(room, arenaut_iteration_bytes(n), &config, &it, NULL));
    for (int round = 0; round < rounds; round++) {
        grow(it, n, round);
        const double begin = cpu_milliseconds();
        require(arenaut_iteration_plan(it, NULL));
        took[round] = cpu_milliseconds() - begin;
    }
    qsort(took, (size_t)rounds, sizeof *took, by_value);
    printf(" %.*f", took[rounds / 2] < 10 ? 2 : 0, took[rounds / 2]);
    if (!how->groups) {
        const double bytes = (double)arenaut_iteration_count(it).managed_bytes;
        printf(" (%.1f %%)", 100 * (bytes / (double)planner.lower_bound - 1));
    }
    printf(" |");
    fflush(stdout);
    require(arenaut_iteration_close(it, NULL));
    free(room);
}

static void print_head(void) {
    printf("| values |");
    for (int c = 0; c < COLUMNS; c++) printf(" %s |", columns[c].title);
    printf("\n|---|");
    for (int c = 0; c < COLUMNS; c++) printf("--:|");
    printf("\n");
}

int main(int argc, char **argv) {
    static const uint32_t sizes[] = {50, 500, 5000, 50000};
    static const char *const names[KINDS] = {"chain", "short lives", "long lives"};
    const int asked = argc > 1 ? atoi(argv[1]) : 9;
    const int rounds = asked < 1 ? 1 : asked > MOST_ROUNDS ? MOST_ROUNDS : asked;
    arenaut_value *value = malloc(50000 * sizeof *value);
    if (!value) return 1;
    print_head();
    for (kind lives = CHAIN; lives < KINDS; lives++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes - (lives == LONG); i++) {
            fill(value, sizes[i], lives);
            printf("| %s, %u |", names[lives], (unsigned)sizes[i]);
            for (int c = 0; c < COLUMNS; c++) {
                if (columns[c].most && sizes[i] > columns[c].most) printf(" |");
                else measure(&columns[c], value, sizes[i], rounds);
            }
            printf("\n");
        }
    }
    free(value);
    return 0;
}
