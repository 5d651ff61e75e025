/* Iterations: the protocol's promises about plans, buffers and outputs. */
#include "support/test.h"

#include <stdlib.h>

#include "support/faults.h"
#include "support/iteration_bench.h"
#include "support/random.h"

TEST(the_first_run_learns_and_the_second_has_a_plan) {
    bench b;
    bench_lay_out(&b, 4);
    bench_make(&b);
    assert_int_equal(arenaut_iteration_plan_number(b.it), 0);
    bench_run(&b);
    assert_int_equal(b.arena.calls, 0);
    assert_int_equal(b.memory.calls, 8); /* four blocks, and back again */
    assert_int_equal(arenaut_iteration_count(b.it).managed_bytes, 0);
    assert_int_equal(arenaut_iteration_size(b.it, 2), 320); /* 300, rounded up */
    for (int i = 0; i < 3; i++) {
        bench_run(&b);
        assert_int_equal(arenaut_iteration_plan_number(b.it), 1);
    }
    assert_int_equal(b.memory.calls, 8);
    assert_int_equal(b.arena.calls, 6);                                       /* one buffer a run */
    assert_int_equal(arenaut_iteration_count(b.it).managed_bytes, 320 + 448); /* the bound */
    assert_int_equal(b.planner.lower_bound, 320 + 448);
    bench_finish(&b);
}

TEST(a_plan_is_renewed_only_when_a_maximum_grows) {
    bench b;
    bench_lay_out(&b, 4);
    bench_make(&b);
    bench_run(&b);
    bench_run(&b);
    const size_t before = arenaut_iteration_count(b.it).managed_bytes;
    b.size[1] = 10; /* smaller: nothing to do */
    bench_run(&b);
    b.size[1] = 256; /* larger than ever, but not than its place */
    bench_run(&b);
    assert_int_equal(arenaut_iteration_plan_number(b.it), 1);
    assert_int_equal(b.memory.calls, 8);
    b.size[1] = 5000; /* outgrows its place: from the default source for once */
    bench_run(&b);
    assert_int_equal(b.memory.calls, 10);
    assert_int_equal(arenaut_iteration_plan_number(b.it), 1);
    bench_run(&b);
    assert_int_equal(b.memory.calls, 10);
    assert_int_equal(arenaut_iteration_plan_number(b.it), 2);
    assert_true(arenaut_iteration_count(b.it).managed_bytes > before);
    b.size[1] = 1; /* and a maximum never shrinks */
    bench_run(&b);
    assert_int_equal(arenaut_iteration_plan_number(b.it), 2);
    assert_int_equal(arenaut_iteration_size(b.it, 1), 5056);
    bench_finish(&b);
}

TEST(sizes_learned_beforehand_save_the_first_run) {
    bench b;
    arenaut_fault fault;
    bench_lay_out(&b, 3);
    bench_make(&b);
    for (uint32_t v = 0; v < 3; v++)
        assert_fine(arenaut_iteration_learn(b.it, v, b.size[v], &fault));
    assert_fine(arenaut_iteration_plan(b.it, &fault));
    assert_int_equal(arenaut_iteration_plan_number(b.it), 1);
    bench_run(&b);
    assert_int_equal(b.memory.calls, 0);
    /* During a run the plan in force stays the same. */
    assert_fine(arenaut_iteration_allocate(b.it, &fault));
    assert_fine(arenaut_iteration_learn(b.it, 0, 9000, &fault));
    bench_execute(&b);
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    assert_int_equal(arenaut_iteration_plan_number(b.it), 1);
    assert_fault(arenaut_iteration_learn(b.it, 0, SIZE_MAX, &fault), TOO_LARGE, SIZE);
    assert_fault(arenaut_iteration_learn(b.it, 3, 1, &fault), BAD_ARGUMENT, VALUE);
    bench_finish(&b);
}

/* All options that make sense; sizes as batches of 1, 8 and 32, twice each. */
TEST(memory_is_cleaned_up_whatever_the_options) {
    static const size_t batch[] = {1, 8, 32, 32, 8, 1};
    for (uint32_t bits = 0; bits < 1u << 7; bits++) {
        bench b;
        arenaut_fault fault;
        bench_lay_out(&b, 8);
        arenaut_iteration_options *o = &b.config.options;
        *o = (arenaut_iteration_options){
            .out_variants = bits & 1,
            .manage_outputs = bits & 2,
            .optimise_memory = bits & 4,
            .keep_buffer = bits & 8,
            .outputs_in_arena = bits & 16,
            .poison = bits & 32,
            .grouping = bits & 64 ? ARENAUT_BY_GROUPS : ARENAUT_BY_OFFSETS};
        if (arenaut_iteration_options_check(o, NULL) != ARENAUT_OK) continue;
        for (uint32_t v = 6; v < 8; v++) b.value[v].kind = ARENAUT_VALUE_OUTPUT;
        bench_make(&b);
        for (size_t i = 0; i < COUNT_OF(batch); i++) {
            for (uint32_t v = 0; v < 8; v++) b.size[v] = (v + 1) * 24 * batch[i];
            assert_fine(arenaut_iteration_allocate(b.it, &fault));
            bench_execute(&b);
            assert_fine(arenaut_iteration_deallocate(b.it, &fault));
            const bool held = arenaut_iteration_outputs_are_held(b.it);
            assert_int_equal(held, o->manage_outputs);
            /* An output is managed where the plan had room for it. */
            for (uint32_t v = 6; v < 8; v++)
                assert_int_equal(arenaut_iteration_is_managed_output(b.it, v),
                                 o->manage_outputs && i > 2);
            if (held) {
                bench_assert_output(&b, 6);
                bench_assert_output(&b, 7);
            }
            bench_release(&b);
            assert_int_equal(b.memory.live, 0);
            if (!o->keep_buffer) assert_int_equal(b.arena.live, 0);
        }
        assert_int_equal(arenaut_iteration_count(b.it).managed, o->out_variants ? 6 : 0);
        bench_finish(&b);
    }
}

TEST(outputs_are_managed_from_the_second_run_on) {
    bench b;
    arenaut_fault fault;
    arenaut_storage storage;
    enum { X, ABS, OUT, TUPLE, N };
    bench_lay_out(&b, N);
    b.value[X].kind = ARENAUT_VALUE_EXTERNAL;
    b.value[OUT].kind = ARENAUT_VALUE_OUTPUT;
    b.value[TUPLE].kind = ARENAUT_VALUE_UNMANAGED;
    bench_make(&b);
    b.size[OUT] = 16; /* {2, 2} */
    bench_run(&b);
    for (uint32_t v = 0; v < N; v++) {
        assert_false(arenaut_iteration_is_managed_output(b.it, v));
        assert_int_equal(arenaut_iteration_is_held(b.it, v), v == OUT);
    }
    bench_assert_output(&b, OUT); /* in memory of the default source, and held all the same */
    assert_int_equal(b.memory.live, 1);
    bench_release(&b);
    assert_int_equal(b.memory.live, 0);
    assert_fault(arenaut_iteration_output(b.it, OUT, &storage, &fault), BAD_ARGUMENT,
                 OUTPUTS_RELEASED);
    b.size[OUT] = 64;
    bench_run(&b);
    for (uint32_t v = 0; v <= N; v++)
        assert_int_equal(arenaut_iteration_is_managed_output(b.it, v), v == OUT);
    bench_assert_output(&b, OUT);
    assert_true(arenaut_iteration_outputs_are_held(b.it));
    assert_int_equal(arenaut_iteration_count(b.it).output_bytes, 64);
    assert_int_equal(b.arena.live, 1); /* their buffer is all that is left */
    bench_release(&b);
    assert_false(arenaut_iteration_is_managed_output(b.it, OUT));
    assert_fault(arenaut_iteration_output(b.it, OUT, &storage, &fault), BAD_ARGUMENT,
                 OUTPUTS_RELEASED);
    bench_release(&b); /* again: nothing to free */
    bench_finish(&b);
}

TEST(outputs_are_released_between_batches_of_other_sizes) {
    static const size_t batch[] = {8, 8, 24, 8};
    static const bool managed[] = {false, true, false, true}; /* not when it outgrew its place */
    bench b;
    bench_lay_out(&b, 3);
    b.value[2].kind = ARENAUT_VALUE_OUTPUT;
    bench_make(&b);
    for (size_t i = 0; i < COUNT_OF(batch); i++) {
        for (uint32_t v = 0; v < 3; v++) b.size[v] = batch[i] * 64;
        const size_t before = arenaut_iteration_count(b.it).managed_bytes;
        bench_run(&b);
        assert_int_equal(arenaut_iteration_is_managed_output(b.it, 2), managed[i]);
        bench_assert_output(&b, 2);
        bench_release(&b);
        assert_true(arenaut_iteration_count(b.it).managed_bytes >= before);
        assert_int_equal(b.memory.live + b.arena.live, 0);
    }
    bench_finish(&b);
}

TEST(running_again_before_outputs_are_released_is_refused) {
    bench b;
    arenaut_fault fault;
    bench_lay_out(&b, 2);
    b.value[1].kind = ARENAUT_VALUE_OUTPUT;
    bench_make(&b);
    bench_run(&b);
    assert_fault(arenaut_iteration_allocate(b.it, &fault), BAD_ARGUMENT, OUTPUTS_HELD);
    bench_release(&b);
    bench_run(&b);
    assert_true(arenaut_iteration_outputs_are_held(b.it)); /* the leak check */
    assert_fault(arenaut_iteration_allocate(b.it, &fault), BAD_ARGUMENT, OUTPUTS_HELD);
    assert_fault(arenaut_iteration_close(b.it, &fault), BAD_ARGUMENT, OUTPUTS_HELD);
    assert_fault(arenaut_iteration_plan(b.it, &fault), BAD_ARGUMENT, OUTPUTS_HELD);
    assert_fault(arenaut_iteration_disable_managed_outputs(b.it, &fault), BAD_ARGUMENT,
                 OUTPUTS_HELD);
    bench_assert_output(&b, 1);
    bench_release(&b);
    assert_false(arenaut_iteration_outputs_are_held(b.it));
    bench_run(&b);
    bench_release(&b);
    bench_finish(&b);
}

TEST(outputs_can_be_managed_no_longer) {
    for (int in_arena = 0; in_arena < 2; in_arena++) {
        bench b;
        arenaut_fault fault;
        bench_lay_out(&b, 3);
        b.value[2].kind = ARENAUT_VALUE_OUTPUT;
        b.config.options.outputs_in_arena = in_arena;
        b.config.options.keep_buffer = true;
        bench_make(&b);
        for (int i = 0; i < 3; i++) {
            bench_run(&b);
            bench_release(&b);
        }
        assert_int_equal(arenaut_iteration_count(b.it).managed_outputs, 1);
        assert_fine(arenaut_iteration_disable_managed_outputs(b.it, &fault));
        for (int i = 0; i < 2; i++) {
            bench_run(&b);
            assert_false(arenaut_iteration_is_managed_output(b.it, 2));
            assert_false(arenaut_iteration_outputs_are_held(b.it));
        }
        const arenaut_iteration_figures f = arenaut_iteration_count(b.it);
        assert_int_equal(f.managed_outputs, 0);
        assert_int_equal(f.output_bytes, 0);
        assert_int_equal(f.unmanaged, 0); /* the returned one is the caller's */
        assert_int_equal(f.managed, 2);
        bench_finish(&b);
    }
}

TEST(outputs_may_lie_in_the_arena_until_they_are_released) {
    bench b, apart;
    arenaut_fault fault;
    bench_lay_out(&b, 6);
    bench_lay_out(&apart, 6);
    b.value[5].kind = apart.value[5].kind = ARENAUT_VALUE_OUTPUT;
    b.config.options.outputs_in_arena = b.config.options.poison = true;
    bench_make(&b);
    bench_make(&apart);
    for (int i = 0; i < 3; i++) {
        bench_run(&b);
        bench_run(&apart);
        bench_assert_output(&b, 5);
        if (i > 0) {
            assert_true(arenaut_iteration_is_managed_output(b.it, 5));
            assert_int_equal(b.arena.live, 1); /* held for the output */
            const size_t offset = arenaut_iteration_offset(b.it, 5);
            arenaut_storage storage;
            assert_fine(arenaut_iteration_output(b.it, 5, &storage, &fault));
            assert_ptr_equal(storage.data, (char *)arenaut_iteration_buffer(b.it) + offset);
        }
        bench_release(&b);
        bench_release(&apart);
    }
    const arenaut_iteration_figures in = arenaut_iteration_count(b.it),
                                    out = arenaut_iteration_count(apart.it);
    assert_int_equal(in.output_bytes, 0);
    assert_int_equal(in.managed_outputs, 1);
    assert_true(in.managed_bytes < out.managed_bytes + out.output_bytes);
    assert_null(arenaut_iteration_buffer(b.it));
    bench_finish(&b);
    bench_finish(&apart);
}

TEST(a_kept_buffer_needs_no_source) {
    bench b;
    bench_lay_out(&b, 5);
    b.value[4].kind = ARENAUT_VALUE_OUTPUT;
    b.config.options.keep_buffer = true;
    bench_make(&b);
    for (int i = 0; i < 2; i++) {
        bench_run(&b);
        bench_release(&b);
    }
    const size_t calls = b.arena.calls + b.memory.calls;
    for (int i = 0; i < 10; i++) {
        bench_run(&b);
        bench_release(&b);
    }
    assert_int_equal(b.arena.calls + b.memory.calls, calls);
    b.size[2] = 9999; /* it must grow: the old one goes first */
    bench_run(&b);
    bench_release(&b);
    bench_run(&b);
    bench_release(&b);
    assert_int_equal(b.arena.live, 2);
    bench_finish(&b);
}

TEST(poison_fills_what_is_given_up) {
    bench b;
    bench_lay_out(&b, 2);
    b.config.options.poison = b.config.options.keep_buffer = true;
    bench_make(&b);
    bench_run(&b);
    bench_run(&b);
    const unsigned char *buffer = arenaut_iteration_buffer(b.it);
    for (size_t i = 0; i < arenaut_iteration_count(b.it).managed_bytes; i++)
        assert_int_equal(buffer[i], 0x7f);
    bench_finish(&b);
}

TEST(a_chain_in_place_needs_one_place) {
    bench b;
    bench_lay_out(&b, 5);
    for (uint32_t v = 0; v < 5; v++) {
        b.size[v] = 1000;
        if (v > 0) b.value[v].over = v - 1;
    }
    bench_make(&b);
    bench_run(&b);
    bench_run(&b);
    assert_int_equal(arenaut_iteration_count(b.it).managed_bytes, 1024);
    assert_int_equal(arenaut_iteration_count(b.it).reused, 4);
    bench_finish(&b);
    bench_lay_out(&b, 2); /* value 0 lives on under another name: no leave to write over it */
    b.value[1].over = 0;
    b.value[2] = (arenaut_value){.kind = ARENAUT_VALUE_MANAGED,
                                 .first = 1,
                                 .last = 2,
                                 .storage = 0,
                                 .over = ARENAUT_NO_VALUE};
    b.config.n_values = 3;
    b.size[2] = 100;
    bench_make(&b);
    for (int i = 0; i < 2; i++) {
        arenaut_fault fault;
        void *data;
        assert_fine(arenaut_iteration_allocate(b.it, &fault));
        for (uint32_t v = 0; v < 3; v++)
            assert_fine(arenaut_iteration_resize(b.it, v, b.size[v], &data, &fault));
        assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    }
    assert_int_equal(arenaut_iteration_count(b.it).managed_bytes, 128 + 256);
    bench_finish(&b);
}

/* Programs at random: lives, sizes that change, permissions, outputs. */
TEST(random_programs_keep_every_byte) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        rng random = {seed};
        bench b;
        const uint32_t n = 2 + (uint32_t)(rng_next(&random) % (BENCH_VALUES - 2));
        bench_lay_out(&b, n);
        b.config.options.grouping = seed % 3 == 0 ? ARENAUT_BY_GROUPS : ARENAUT_BY_OFFSETS;
        b.config.options.outputs_in_arena = seed % 2;
        b.config.options.keep_buffer = seed % 5 < 2;
        b.config.options.poison = true;
        for (uint32_t v = 0; v < n; v++) {
            const uint64_t r = rng_next(&random);
            if (r % 7 == 0) b.value[v].kind = ARENAUT_VALUE_OUTPUT;
            b.value[v].last = v + (uint32_t)(r >> 8) % 6;
            if (v > 0 && r % 2 && b.value[v - 1].last == v &&
                b.value[v - 1].kind == ARENAUT_VALUE_MANAGED &&
                b.value[v].kind == ARENAUT_VALUE_MANAGED)
                b.value[v].over = v - 1;
        }
        bench_make(&b);
        for (int i = 0; i < 5; i++) {
            for (uint32_t v = 0; v < n; v++) b.size[v] = rng_next(&random) % 700;
            bench_run(&b);
            for (uint32_t v = 0; v < n; v++) {
                if (arenaut_iteration_is_held(b.it, v)) bench_assert_output(&b, v);
            }
            bench_release(&b);
        }
        bench_finish(&b);
    }
}

/* Values whose lives are long and at random, which an offline search stays at for seconds: the
 * arena of a plan by these options, or by groups if there are none to plan with. */
static size_t plan_many(uint32_t n, arenaut_iteration_planner *planner) {
    rng random = {n};
    arenaut_fault fault;
    arenaut_iteration *it;
    memory_source memory = {.left = SIZE_MAX};
    arenaut_value *value = calloc(n, sizeof *value);
    void *room = malloc(arenaut_iteration_bytes(n));
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t first = rng_below(&random, n / 4), last = first + rng_below(&random, n / 16);
        value[v] = (arenaut_value){ARENAUT_VALUE_MANAGED, 0, first, last, ARENAUT_NO_VALUE,
                                   ARENAUT_NO_VALUE};
    }
    arenaut_iteration_config config = {.value = value,
                                       .n_values = n,
                                       .options = arenaut_iteration_defaults(),
                                       .source = counting_source(&memory),
                                       .place = arenaut_iteration_place,
                                       .place_context = planner};
    config.options.grouping = planner ? ARENAUT_BY_OFFSETS : ARENAUT_BY_GROUPS;
    assert_fine(arenaut_iteration_init(room, arenaut_iteration_bytes(n), &config, &it, &fault));
    for (uint32_t v = 0; v < n; v++)
        assert_fine(arenaut_iteration_learn(it, v, 1000 + rng_below(&random, 1000000), &fault));
    assert_fine(arenaut_iteration_plan(it, &fault));
    const size_t arena = arenaut_iteration_count(it).managed_bytes;
    free(room);
    free(value);
    return arena;
}

/* Steps are counted, as time is not: a few for each value in each of at most eight passes.
 * Instructions are in test_replan.py. */
TEST(a_plan_for_a_live_loop_is_not_searched_for) {
    static const uint32_t count[] = {50, 500, 5000};
    for (size_t i = 0; i < COUNT_OF(count); i++) {
        const arenaut_plan_options asked = {.effort = 200000};
        arenaut_iteration_planner live = {0}, offline = {.options = &asked};
        const size_t arena = plan_many(count[i], &live);
        assert_true(live.effort <= 8 * 4 * count[i]);
        assert_true(arena >= live.lower_bound && arena <= plan_many(count[i], NULL));
        if (count[i] > 500) continue;
        assert_true(plan_many(count[i], &offline) <= arena); /* who has time may have it */
        assert_true(count[i] == 50 || offline.effort > 4 * live.effort);
    }
}

TEST(offsets_need_no_more_than_groups) {
    bench b[2];
    for (int i = 0; i < 2; i++) {
        bench_lay_out(&b[i], 12);
        b[i].config.options.grouping = i ? ARENAUT_BY_GROUPS : ARENAUT_BY_OFFSETS;
        for (uint32_t v = 0; v < 12; v++) {
            b[i].value[v].last = v + 1 + v % 3;
            b[i].size[v] = v % 4 == 0 ? 10000 : 300;
        }
        bench_make(&b[i]);
        bench_run(&b[i]);
        bench_run(&b[i]);
    }
    assert_true(arenaut_iteration_count(b[0].it).managed_bytes <
                arenaut_iteration_count(b[1].it).managed_bytes);
    for (int i = 0; i < 2; i++) bench_finish(&b[i]);
}

/* The loop at the top of runtime_iteration.h, to the letter. */
TEST(the_loop_of_the_header_finds_every_output) {
    static const size_t sizes[] = {100, 100, 300, 300, 50};
    for (int in_arena = 0; in_arena < 2; in_arena++) {
        bench b;
        bench_lay_out(&b, 2);
        b.value[1].kind = ARENAUT_VALUE_OUTPUT;
        b.config.options.outputs_in_arena = in_arena;
        bench_make(&b);
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            arenaut_storage storage;
            arenaut_fault fault;
            b.size[0] = b.size[1] = sizes[i];
            bench_run(&b);
            bench_assert_output(&b, 1);
            assert_fine(arenaut_iteration_output(b.it, 1, &storage, &fault));
            assert_int_equal(storage.bytes, sizes[i]); /* its own size, not that of its place */
            bench_release(&b);
            assert_int_equal(b.memory.live + b.arena.live, 0);
        }
        bench_finish(&b);
    }
}

TEST(outputs_are_released_one_by_one) {
    for (int how = 0; how < 4; how++) {
        bench b;
        arenaut_fault fault;
        bench_lay_out(&b, 4);
        for (uint32_t v = 1; v < 4; v++) b.value[v].kind = ARENAUT_VALUE_OUTPUT;
        b.config.options.outputs_in_arena = how % 2;
        b.config.options.poison = b.config.options.keep_buffer = how / 2;
        bench_make(&b);
        bench_run(&b);
        bench_release(&b);
        b.size[2] = 5000; /* outgrows its place */
        bench_run(&b);
        assert_fault(arenaut_iteration_release_output(b.it, 0, &fault), BAD_ARGUMENT,
                     OUTPUTS_RELEASED);
        assert_fine(arenaut_iteration_release_output(b.it, 2, &fault));
        assert_int_equal(b.memory.live, 0); /* at once */
        assert_fault(arenaut_iteration_release_output(b.it, 2, &fault), BAD_ARGUMENT,
                     OUTPUTS_RELEASED);
        arenaut_storage first;
        assert_fine(arenaut_iteration_output(b.it, 1, &first, &fault));
        assert_fine(arenaut_iteration_release_output(b.it, 1, &fault));
        if (b.config.options.poison) assert_int_equal(*(unsigned char *)first.data, 0x7f);
        bench_assert_output(&b, 3);
        assert_fault(arenaut_iteration_allocate(b.it, &fault), BAD_ARGUMENT, OUTPUTS_HELD);
        assert_fine(arenaut_iteration_release_output(b.it, 3, &fault));
        if (how < 2) assert_int_equal(b.arena.live, 0); /* with the last of them */
        assert_false(arenaut_iteration_outputs_are_held(b.it));
        bench_run(&b);
        assert_fault(arenaut_iteration_release_output(b.it, 9, &fault), BAD_ARGUMENT,
                     OUTPUTS_RELEASED);
        bench_release(&b);
        bench_finish(&b);
    }
}

TEST(tensors_that_outgrow_their_place_are_counted) {
    bench b;
    bench_lay_out(&b, 3);
    b.value[2].kind = ARENAUT_VALUE_OUTPUT;
    bench_make(&b);
    for (int i = 0; i < 2; i++) { /* in the first run there are no places */
        bench_run(&b);
        bench_release(&b);
        assert_int_equal(arenaut_iteration_count(b.it).overflows, 0);
    }
    b.size[0] = 128;  /* as large as its place */
    b.size[1] = 1000; /* of 256 */
    b.size[2] = 500;  /* of 320 */
    bench_run(&b);
    bench_release(&b);
    arenaut_iteration_figures f = arenaut_iteration_count(b.it);
    assert_int_equal(f.overflows, 2);
    assert_int_equal(f.overflow_bytes, 744 + 180);
    assert_int_equal(f.largest_overflow, 744);
    bench_run(&b); /* fits now */
    bench_release(&b);
    b.size[0] = 129;
    bench_run(&b);
    bench_release(&b);
    f = arenaut_iteration_count(b.it);
    assert_int_equal(f.overflows, 3);
    assert_int_equal(f.overflow_bytes, 744 + 180 + 1);
    assert_int_equal(f.largest_overflow, 744);
    bench_finish(&b);
}

/* Sizes that rise in every run: with slack there are fewer plans, and fewer overflows. */
TEST(slack_spares_plans_where_sizes_rise) {
    uint32_t plans[2], overflows[2];
    for (int slack = 0; slack < 2; slack++) {
        bench b;
        bench_lay_out(&b, 3);
        b.config.options.slack = slack ? 50 : 0;
        bench_make(&b);
        for (uint32_t run = 0; run < 20; run++) {
            for (uint32_t v = 0; v < 3; v++) b.size[v] = 1000 + 100 * run;
            bench_run(&b);
            /* Sizes that are learned before there is a plan get no slack. */
            const size_t second = slack ? 1664 : 1152;
            if (run < 2) assert_int_equal(arenaut_iteration_size(b.it, 0), run ? second : 1024);
        }
        plans[slack] = arenaut_iteration_plan_number(b.it);
        overflows[slack] = arenaut_iteration_count(b.it).overflows;
        bench_finish(&b);
    }
    assert_int_equal(plans[0], 19);
    assert_int_equal(plans[1], 4);
    assert_true(overflows[1] < overflows[0]);
    bench b; /* slack that cannot be addressed is left out */
    arenaut_fault fault;
    bench_lay_out(&b, 1);
    b.config.options.slack = UINT16_MAX;
    bench_make(&b);
    bench_run(&b);
    bench_run(&b);
    assert_fine(arenaut_iteration_learn(b.it, 0, SIZE_MAX / 4, &fault));
    assert_int_equal(arenaut_iteration_size(b.it, 0), SIZE_MAX / 4 / 64 * 64 + 64);
    bench_finish(&b);
}
