#include "support/iteration_bench.h"

#include <stdlib.h>

#include "support/faults.h"

void bench_lay_out(bench *b, uint32_t n) {
    memset(b, 0, sizeof *b);
    b->memory.left = b->arena.left = SIZE_MAX;
    b->config = (arenaut_iteration_config){.value = b->value,
                                           .n_values = n,
                                           .options = arenaut_iteration_defaults(),
                                           .source = counting_source(&b->memory),
                                           .arena = counting_source(&b->arena),
                                           .place = arenaut_iteration_place,
                                           .place_context = &b->planner};
    for (uint32_t v = 0; v < n; v++) {
        b->value[v] = (arenaut_value){.kind = ARENAUT_VALUE_MANAGED,
                                      .first = v,
                                      .last = v + 1,
                                      .storage = ARENAUT_NO_VALUE,
                                      .over = ARENAUT_NO_VALUE};
        b->size[v] = 100 * (v + 1);
    }
}

void bench_make(bench *b) {
    arenaut_fault fault;
    const size_t bytes = arenaut_iteration_bytes(b->config.n_values);
    b->room = malloc(bytes);
    assert_fine(arenaut_iteration_init(b->room, bytes, &b->config, &b->it, &fault));
}

void bench_finish(bench *b) {
    arenaut_fault fault;
    assert_fine(arenaut_iteration_close(b->it, &fault));
    assert_int_equal(b->memory.live, 0);
    assert_int_equal(b->arena.live, 0);
    assert_int_equal(b->memory.bytes + b->arena.bytes, 0);
    free(b->room);
}

static void assert_holds(const unsigned char *data, size_t size, uint32_t v) {
    for (size_t i = 0; i < size; i++) {
        if (data[i] != v + 1) fail_msg("value %u: byte %zu was overwritten", v, i);
    }
}

static void assert_all_whole(const bench *b, unsigned char *const *data, uint32_t step) {
    for (uint32_t v = 0; v < b->config.n_values; v++) {
        if (data[v] && step <= b->value[v].last) assert_holds(data[v], b->size[v], v);
    }
}

static void write_result(bench *b, uint32_t v, unsigned char **data) {
    arenaut_fault fault;
    void *place;
    assert_fine(arenaut_iteration_resize(b->it, v, b->size[v], &place, &fault));
    data[v] = place;
    if (place) memset(place, (int)v + 1, b->size[v]);
    /* Overwritten with leave, and read no more. */
    if (b->value[v].over != ARENAUT_NO_VALUE) data[b->value[v].over] = NULL;
}

void bench_execute(bench *b) {
    unsigned char *data[BENCH_VALUES] = {0};
    uint32_t steps = 0;
    const uint32_t n = b->config.n_values;
    for (uint32_t v = 0; v < n; v++) {
        if (b->value[v].last > steps) steps = b->value[v].last;
    }
    for (uint32_t k = 0; k <= steps; k++) {
        assert_all_whole(b, data, k);
        for (uint32_t v = 0; v < n; v++) {
            if (arenaut_iteration_storage(b->it, v) && b->value[v].first == k)
                write_result(b, v, data);
        }
        assert_all_whole(b, data, k);
    }
}

void bench_run(bench *b) {
    arenaut_fault fault;
    assert_fine(arenaut_iteration_allocate(b->it, &fault));
    bench_execute(b);
    assert_fine(arenaut_iteration_deallocate(b->it, &fault));
}

void bench_release(bench *b) {
    arenaut_fault fault;
    assert_fine(arenaut_iteration_release_outputs(b->it, &fault));
}

void bench_assert_output(const bench *b, uint32_t v) {
    arenaut_storage storage;
    arenaut_fault fault;
    assert_fine(arenaut_iteration_output(b->it, v, &storage, &fault));
    assert_true(storage.bytes >= b->size[v]);
    assert_holds(storage.data, b->size[v], v);
}
