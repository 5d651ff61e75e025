/* Iterations: storages that the model gives to values for one run. */
#include "support/test.h"

#include <stdlib.h>
#include <time.h>

#include "support/faults.h"
#include "support/iteration_bench.h"
#include "support/random.h"

/* Values 0 [0, 1], 1 [1, 3] and 2 [2, 3], of which the last has the place of the first:
 *
 *     step   0    1    2    3
 *            0----0    2----2     one place
 *                 1---------1     another one
 */
static void make_three(bench *b) {
    arenaut_fault fault;
    bench_lay_out(b, 3);
    b->value[1].last = 3;
    for (uint32_t v = 0; v < 3; v++) b->size[v] = 64;
    bench_make(b);
    bench_run(b);
    assert_fine(arenaut_iteration_allocate(b->it, &fault));
    assert_int_equal(arenaut_iteration_offset(b->it, 0), arenaut_iteration_offset(b->it, 2));
}

TEST(a_value_is_not_moved_to_where_others_will_write) {
    bench b;
    arenaut_fault fault;
    make_three(&b);
    arenaut_storage *own = arenaut_iteration_storage(b.it, 1);
    assert_fault(arenaut_iteration_swap(b.it, 1, arenaut_iteration_storage(b.it, 0), &fault),
                 BAD_ARGUMENT, STORAGE_IN_ARENA);
    assert_int_equal(fault.object, 1);
    assert_int_equal(fault.found, 2); /* that has those bytes while value 1 lives */
    assert_ptr_equal(arenaut_iteration_storage(b.it, 1), own);
    /* Nor there where the other one is yet to be written. */
    assert_fault(arenaut_iteration_swap(b.it, 0, arenaut_iteration_storage(b.it, 1), &fault),
                 BAD_ARGUMENT, STORAGE_IN_ARENA);
    assert_fine(arenaut_iteration_swap(b.it, 1, own, &fault)); /* its own is its own */
    /* Value 2 may share the memory of value 1 until both end. */
    assert_fine(arenaut_iteration_swap(b.it, 2, own, &fault));
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    bench_run(&b);
    bench_finish(&b);
}

TEST(a_header_of_the_models_does_not_point_into_the_arena) {
    bench b;
    arenaut_fault fault;
    make_three(&b);
    char *buffer = arenaut_iteration_buffer(b.it);
    const size_t bytes = arenaut_iteration_count(b.it).managed_bytes;
    arenaut_storage inside = {buffer, 16, NULL};
    assert_fault(arenaut_iteration_swap(b.it, 1, &inside, &fault), BAD_ARGUMENT, STORAGE_IN_ARENA);
    inside.data = buffer + bytes - 1;
    assert_fault(arenaut_iteration_swap(b.it, 1, &inside, &fault), BAD_ARGUMENT, STORAGE_IN_ARENA);
    inside = (arenaut_storage){(void *)((uintptr_t)buffer - 8), 9, NULL}; /* ends in it */
    assert_fault(arenaut_iteration_swap(b.it, 1, &inside, &fault), BAD_ARGUMENT, STORAGE_IN_ARENA);
    inside.bytes = 8;
    assert_fine(arenaut_iteration_swap(b.it, 1, &inside, &fault));
    inside.bytes = 9; /* pointed there since */
    assert_fault(arenaut_iteration_deallocate(b.it, &fault), BAD_ARGUMENT, STORAGE_IN_ARENA);
    assert_int_equal(fault.object, 1);
    assert_true(arenaut_iteration_is_running(b.it)); /* nothing has changed */
    assert_fine(arenaut_iteration_abort(b.it, &fault));
    bench_run(&b);
    bench_finish(&b);
}

/* The fate of the bytes: each value, at its first step, writes where it lies, in cells of 64 bytes;
 * values in one header are one content, written by any of them. */
enum { CELLS = 4096, NOBODY = UINT32_MAX };

/* Whether some value finds another content than its own while it lives, where value v lies in the
 * place of value uses[v], and all of those begin before it. */
static bool is_any_clobbered(const bench *b, const uint32_t *uses, uint32_t steps) {
    static uint32_t cell[CELLS];
    for (uint32_t i = 0; i < CELLS; i++) cell[i] = NOBODY;
    for (uint32_t k = 0; k <= steps; k++) {
        for (uint32_t v = 0; v < b->config.n_values; v++) {
            if (b->value[v].first != k) continue;
            const uint32_t host = uses[v];
            const size_t from = arenaut_iteration_offset(b->it, host) / 64;
            for (size_t i = 0; i < arenaut_iteration_size(b->it, host) / 64; i++)
                cell[from + i] = host;
        }
        for (uint32_t v = 0; v < b->config.n_values; v++) {
            if (k < b->value[v].first || k > b->value[v].last) continue;
            const uint32_t host = uses[v];
            const size_t from = arenaut_iteration_offset(b->it, host) / 64;
            for (size_t i = 0; i < arenaut_iteration_size(b->it, host) / 64; i++) {
                if (cell[from + i] != host) return true;
            }
        }
    }
    return false;
}

static bool have_common_bytes(const bench *b, uint32_t v, uint32_t w) {
    const size_t at_v = arenaut_iteration_offset(b->it, v),
                 at_w = arenaut_iteration_offset(b->it, w);
    return at_v < at_w + arenaut_iteration_size(b->it, w) &&
           at_w < at_v + arenaut_iteration_size(b->it, v);
}

/* All pairs of random values: a swap is granted only where no byte is lost, and refused only where
 * one would be, or the header's own value is yet to come, or where the value's own place lies. */
TEST(a_swap_is_granted_where_no_byte_is_lost) {
    uint32_t granted = 0, refused = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        rng random = {seed};
        bench b;
        arenaut_fault fault;
        const uint32_t n = 3 + rng_below(&random, 12);
        bench_lay_out(&b, n);
        for (uint32_t v = 0; v < n; v++) {
            b.value[v].first = rng_below(&random, 8);
            b.value[v].last = b.value[v].first + rng_below(&random, 5);
            b.size[v] = 64 * (1 + rng_below(&random, 6));
        }
        bench_make(&b);
        bench_run(&b);
        for (uint32_t v = 0; v < n; v++) {
            for (uint32_t host = 0; host < n; host++) {
                uint32_t uses[BENCH_VALUES];
                for (uint32_t i = 0; i < n; i++) uses[i] = i == v ? host : i;
                assert_fine(arenaut_iteration_allocate(b.it, &fault));
                arenaut_storage *storage = arenaut_iteration_storage(b.it, host);
                const bool yet_to_come = b.value[host].first > b.value[v].first &&
                                         b.value[host].first <= b.value[v].last;
                const bool lost = is_any_clobbered(&b, uses, 12);
                if (arenaut_iteration_swap(b.it, v, storage, &fault) == ARENAUT_OK) {
                    assert_false(lost);
                    assert_false(yet_to_come);
                    granted++;
                } else {
                    assert_int_equal(fault.reason, ARENAUT_FAULT_STORAGE_IN_ARENA);
                    assert_true(lost || yet_to_come || have_common_bytes(&b, v, host));
                    refused++;
                }
                assert_fine(arenaut_iteration_abort(b.it, &fault));
            }
        }
        bench_finish(&b);
    }
    assert_true(granted > 500 && refused > 500);
}

/* Headers that own nothing, or in memory of the default source, hold no place of others. */
TEST(a_storage_outside_the_arena_may_be_shared) {
    bench b;
    arenaut_fault fault;
    void *data;
    make_three(&b);
    assert_fine(arenaut_iteration_resize(b.it, 0, 5000, &data, &fault)); /* outgrows its place */
    assert_fine(arenaut_iteration_swap(b.it, 1, arenaut_iteration_storage(b.it, 0), &fault));
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    assert_int_equal(arenaut_iteration_size(b.it, 1), 5056);
    bench_finish(&b);
}

/* An owning header that a held output and values that end use together, twice each. */
TEST(storage_that_a_held_output_owns_is_not_released) {
    bench b;
    arenaut_fault fault;
    arenaut_storage found;
    bench_lay_out(&b, 5);
    for (uint32_t v = 3; v < 5; v++) b.value[v].kind = ARENAUT_VALUE_OUTPUT;
    bench_make(&b);
    for (int i = 0; i < 3; i++) {
        const arenaut_source *source = &b.config.source;
        assert_fine(arenaut_iteration_allocate(b.it, &fault));
        arenaut_storage shared = {source->allocate(source->context, 256, 64, &fault), 256, source};
        arenaut_storage own = {source->allocate(source->context, 256, 64, &fault), 256, source};
        memset(shared.data, 0x44, 256);
        for (uint32_t v = 0; v < 5; v++)
            assert_fine(arenaut_iteration_swap(b.it, v, v == 1 ? &own : &shared, &fault));
        assert_fine(arenaut_iteration_deallocate(b.it, &fault));
        assert_null(own.data);
        assert_ptr_equal(shared.source, source);
        for (uint32_t v = 3; v < 5; v++) {
            assert_fine(arenaut_iteration_output(b.it, v, &found, &fault));
            assert_ptr_equal(found.data, shared.data);
            assert_int_equal(((unsigned char *)found.data)[255], 0x44);
            assert_fine(arenaut_iteration_release_output(b.it, v, &fault));
        }
        assert_null(shared.data);
        assert_int_equal(b.memory.live, 0);
    }
    bench_finish(&b);
}

/* The ticks of one deallocate of n outputs, with every second one in the storage of its neighbour,
 * or with each in its own. */
static clock_t cost_of_deallocate(arenaut_iteration *it, uint32_t n, bool swaps) {
    arenaut_fault fault;
    assert_fine(arenaut_iteration_allocate(it, &fault));
    for (uint32_t v = 1; v < n && swaps; v += 2)
        assert_fine(arenaut_iteration_swap(it, v, arenaut_iteration_storage(it, v - 1), &fault));
    const clock_t begin = clock();
    assert_fine(arenaut_iteration_deallocate(it, &fault));
    const clock_t cost = clock() - begin;
    assert_fine(arenaut_iteration_release_outputs(it, &fault));
    return cost;
}

TEST(a_swap_among_many_outputs_costs_next_to_nothing) {
    enum { N = 20000, TURNS = 11, TIMES = 50 };
    arenaut_fault fault;
    arenaut_iteration *it;
    memory_source memory = {.left = SIZE_MAX};
    arenaut_value *value = calloc(N, sizeof *value);
    void *room = malloc(arenaut_iteration_bytes(N));
    for (uint32_t v = 0; v < N; v++)
        value[v] = (arenaut_value){
            .kind = ARENAUT_VALUE_OUTPUT, .storage = ARENAUT_NO_VALUE, .over = ARENAUT_NO_VALUE};
    arenaut_iteration_config config = {.value = value,
                                       .n_values = N,
                                       .options = arenaut_iteration_defaults(),
                                       .source = counting_source(&memory)};
    config.options.optimise_memory = false;
    assert_fine(arenaut_iteration_init(room, arenaut_iteration_bytes(N), &config, &it, &fault));
    for (uint32_t v = 0; v < N; v++) assert_fine(arenaut_iteration_learn(it, v, 64, &fault));
    uint32_t agree = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        const clock_t without = cost_of_deallocate(it, N, false);
        agree += cost_of_deallocate(it, N, true) <= TIMES * (without + 1);
    }
    assert_true(2 * agree > TURNS);
    assert_fine(arenaut_iteration_close(it, &fault));
    assert_int_equal(memory.live, 0);
    free(room);
    free(value);
}
