/* Cost of the protocol of an iteration by itself: allocate and deallocate of values whose
 * sizes stay as they are.
 *
 *     runtime [VALUES [ROUNDS]]
 *
 * The time is the best of seven runs of ROUNDS rounds; with ROUNDS alone to count (valgrind),
 * "once" as third argument makes it one run of the first kind. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arenaut/runtime_allocators.h>
#include <arenaut/runtime_iteration.h>

static size_t heap_calls;

static void *take(void *context, size_t size, size_t align, arenaut_fault *fault) {
    (void)context;
    (void)fault;
    heap_calls++;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void give(void *context, void *block, size_t size) {
    (void)context;
    (void)size;
    heap_calls++;
    free(block);
}

/* Any plan will do, since none is made while the clock runs. */
static arenaut_status place(void *context, const arenaut_placing *placing) {
    (void)context;
    *placing->arena = 0;
    for (uint32_t i = 0; i < placing->n; i++) {
        placing->offset[i] = *placing->arena;
        *placing->arena += placing->bytes[i];
    }
    return ARENAUT_OK;
}

static void require(arenaut_status status) {
    if (status != ARENAUT_OK) exit(1);
}

static arenaut_iteration *make(void *room, const arenaut_value *value, uint32_t n, bool keep) {
    arenaut_iteration *it;
    arenaut_iteration_config config = {.value = value,
                                       .n_values = n,
                                       .options = arenaut_iteration_defaults(),
                                       .source = {take, give, NULL, {0, 0}},
                                       .place = place};
    config.options.keep_buffer = keep;
    require(arenaut_iteration_init(room, arenaut_iteration_bytes(n), &config, &it, NULL));
    for (uint32_t v = 0; v < n; v++)
        require(arenaut_iteration_learn(it, v, 64 + v % 7 * 100, NULL));
    require(arenaut_iteration_allocate(it, NULL));
    require(arenaut_iteration_deallocate(it, NULL));
    return it;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(arenaut_iteration *it, long rounds) {
    const double start = now();
    for (long i = 0; i < rounds; i++) {
        require(arenaut_iteration_allocate(it, NULL));
        require(arenaut_iteration_deallocate(it, NULL));
    }
    return now() - start;
}

int main(int argc, char **argv) {
    const uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;
    const long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 20000;
    arenaut_value *value = calloc(n, sizeof *value);
    void *room = malloc(arenaut_iteration_bytes(n));
    if (!value || !room) return 1;
    for (uint32_t v = 0; v < n; v++)
        value[v] =
            (arenaut_value){ARENAUT_VALUE_MANAGED, 0, v, v + 3, ARENAUT_NO_VALUE, ARENAUT_NO_VALUE};
    for (int keep = 1; keep >= 0; keep--) {
        arenaut_iteration *it = make(room, value, n, keep);
        if (argc > 3) {
            seconds(it, rounds);
            require(arenaut_iteration_close(it, NULL));
            break;
        }
        double best = 1e9;
        heap_calls = 0;
        for (int run = 0; run < 7; run++) {
            const double s = seconds(it, rounds);
            if (s < best) best = s;
        }
        printf("%u values, buffer %s: %.2f us for allocate and deallocate, %.0f heap calls\n",
               (unsigned)n, keep ? "kept" : "made anew", best / (double)rounds * 1e6,
               (double)heap_calls / (7.0 * (double)rounds));
        require(arenaut_iteration_close(it, NULL));
    }
    free(room);
    free(value);
    return 0;
}
