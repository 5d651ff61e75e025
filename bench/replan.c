/* Cost of a new plan in a live iteration: `arenaut_iteration_plan` after sizes have grown.
 *
 *     replan [ROUNDS]
 *     replan one KIND VALUES COLUMN ROUNDS
 *
 * Of 50 to 50,000 values: of a chain with skips, of short lives at random, and of lives that are
 * long at random. By default (a live loop), where all sizes have grown and where one in a hundred
 * has; by storage groups inside the runtime, by the planners that are named, and by `auto` with its
 * default effort, up to 500. A table of milliseconds of CPU time, the median of ROUNDS plans with
 * other sizes each, with how far the arena is above its lower bound: the mean of these rounds; and
 * for the default how many times the CPU time of `storage-groups` all rounds take, which plans the
 * same sizes in turn. `one` makes a single cell, for those who count instructions. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arenaut/runtime_allocators.h>
#include <arenaut/runtime_plan.h>

enum { MOST_ROUNDS = 24 };

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

/* All sizes grow by up to as much again, or one in a hundred by up to a tenth, each by as much as
 * it likes. */
static void grow(size_t *bytes, uint32_t n, int round, bool few) {
    for (uint32_t v = 0; v < n; v++) {
        if (round == 0) bytes[v] = 1000 + below(1000000);
        else if (!few) bytes[v] += bytes[v] / 1000 * below(1000);
        else if (below(100) == 0) bytes[v] += bytes[v] / 1000 * below(100);
    }
}

typedef struct column {
    const char *title;
    const char *planner; /* NULL: by default */
    bool groups;         /* in the runtime, without a planner */
    bool few;            /* of the sizes have grown */
    uint32_t most;       /* values; 0: any number */
} column;

static const column columns[] = {{.title = "default"},
                                 {.title = "default, 1 % grown", .few = true},
                                 {.title = "groups, runtime", .groups = true},
                                 {.title = "storage-groups", .planner = "storage-groups"},
                                 {.title = "greedy-by-size", .planner = "greedy-by-size"},
                                 {.title = "ggml", .planner = "ggml"},
                                 {.title = "auto", .planner = "auto", .most = 500}};
enum { STORAGE_GROUPS = 3, COLUMNS = sizeof columns / sizeof *columns };

/* An iteration with the planner of a column. */
typedef struct loop {
    const arenaut_plan_options options;
    arenaut_iteration_planner planner;
    arenaut_iteration *it;
    void *room;
    double took[MOST_ROUNDS];
} loop;

static void open_loop(loop *l, const column *how, const arenaut_value *value, uint32_t n) {
    if (how->planner) l->planner.options = &l->options;
    arenaut_iteration_config config = {.value = value,
                                       .n_values = n,
                                       .options = arenaut_iteration_defaults(),
                                       .source = arenaut_heap_source(),
                                       .place = arenaut_iteration_place,
                                       .place_context = &l->planner};
    config.options.grouping = how->groups ? ARENAUT_BY_GROUPS : ARENAUT_BY_OFFSETS;
    l->room = malloc(arenaut_iteration_bytes(n));
    if (!l->room) exit(1);
    require(arenaut_iteration_init(l->room, arenaut_iteration_bytes(n), &config, &l->it, NULL));
}

static void learn(loop *l, const size_t *bytes, uint32_t n) {
    for (uint32_t v = 0; v < n; v++) require(arenaut_iteration_learn(l->it, v, bytes[v], NULL));
}

static void plan(loop *l, const size_t *bytes, uint32_t n, int round) {
    learn(l, bytes, n);
    const double begin = cpu_milliseconds();
    require(arenaut_iteration_plan(l->it, NULL));
    l->took[round] = cpu_milliseconds() - begin;
}

static double sum(const double *took, int rounds) {
    double all = 0;
    for (int round = 0; round < rounds; round++) all += took[round];
    return all;
}

static double median(double *took, int rounds) {
    qsort(took, (size_t)rounds, sizeof *took, by_value);
    return took[rounds / 2];
}

static void close_loop(loop *l) {
    require(arenaut_iteration_close(l->it, NULL));
    free(l->room);
}

/* One cell of the table; `beside`: the planner that plans the same sizes in turn, or NULL. */
static void measure(const column *how, const column *beside, const arenaut_value *value, uint32_t n,
                    int rounds) {
    loop l = {.options = {.planner = how->planner}};
    loop other = {.options = {.planner = beside ? beside->planner : NULL}};
    size_t *bytes = malloc(n * sizeof *bytes);
    double above = 0;
    if (!bytes) exit(1);
    state = 7;
    open_loop(&l, how, value, n);
    if (beside) open_loop(&other, beside, value, n);
    if (how->few) { /* the plan that the others begin with */
        grow(bytes, n, 0, true);
        plan(&l, bytes, n, 0);
    }
    for (int round = 0; round < rounds; round++) {
        grow(bytes, n, round + how->few, how->few);
        plan(&l, bytes, n, round);
        if (beside) plan(&other, bytes, n, round);
        above +=
            (double)arenaut_iteration_count(l.it).managed_bytes / (double)l.planner.lower_bound - 1;
    }
    const double took = median(l.took, rounds);
    printf(" %.*f", took < 10 ? 2 : 0, took);
    if (!how->groups) printf(" (%.1f %%)", 100 * above / rounds);
    if (beside) printf(", %.2f times", sum(l.took, rounds) / sum(other.took, rounds));
    printf(" |");
    fflush(stdout);
    close_loop(&l);
    if (beside) close_loop(&other);
    free(bytes);
}

static void print_head(void) {
    printf("| values |");
    for (int c = 0; c < COLUMNS; c++) printf(" %s |", columns[c].title);
    printf("\n|---|");
    for (int c = 0; c < COLUMNS; c++) printf("--:|");
    printf("\n");
}

enum { MOST_VALUES = 50000 };

static int limited(const char *text, int most) {
    const int asked = atoi(text);
    return asked < 1 ? 1 : asked > most ? most : asked;
}

static int one_cell(char **argv, arenaut_value *value) {
    const uint32_t n = (uint32_t)limited(argv[3], MOST_VALUES);
    int c = 0;
    fill(value, n, (kind)(atoi(argv[2]) % KINDS));
    while (c < COLUMNS && strcmp(columns[c].title, argv[4])) c++;
    if (c == COLUMNS) return 1;
    measure(&columns[c], NULL, value, n, limited(argv[5], MOST_ROUNDS));
    printf("\n");
    return 0;
}

static void table(arenaut_value *value, int rounds) {
    static const uint32_t sizes[] = {50, 500, 5000, MOST_VALUES};
    static const char *const names[KINDS] = {"chain", "short lives", "long lives"};
    print_head();
    for (kind lives = CHAIN; lives < KINDS; lives++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            fill(value, sizes[i], lives);
            printf("| %s, %u |", names[lives], (unsigned)sizes[i]);
            for (int c = 0; c < COLUMNS; c++) {
                if (columns[c].most && sizes[i] > columns[c].most) printf(" |");
                else
                    measure(&columns[c], c < 2 ? &columns[STORAGE_GROUPS] : NULL, value, sizes[i],
                            rounds);
            }
            printf("\n");
        }
    }
}

int main(int argc, char **argv) {
    arenaut_value *value = malloc(MOST_VALUES * sizeof *value);
    int status = 0;
    if (!value) return 1;
    if (argc == 6 && strcmp(argv[1], "one") == 0) status = one_cell(argv, value);
    else table(value, limited(argc > 1 ? argv[1] : "9", MOST_ROUNDS));
    free(value);
    return status;
}
