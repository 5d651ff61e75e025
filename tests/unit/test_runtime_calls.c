/* Iterations: calls from within calls, runs for which there is no buffer, runs to be forgotten. */
#include "support/test.h"

#include <stdlib.h>

#include "support/aligned.h"
#include "support/faults.h"
#include "support/iteration_bench.h"

/* Everything the iteration calls calls it: sources, hooks, and the planner. */
typedef struct intruder {
    arenaut_iteration *it; /* NULL: not yet */
    memory_source memory;
    arenaut_source source;
    uint32_t allocated, released, placed, hooked;
} intruder;

/* Every call that could change the iteration is refused; questions are answered. */
static void intrude(const intruder *i) {
    arenaut_fault fault;
    arenaut_storage storage = {NULL, 0, NULL};
    void *data;
    if (!i->it) return;
    assert_fault(arenaut_iteration_allocate(i->it, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_deallocate(i->it, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_abort(i->it, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_plan(i->it, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_learn(i->it, 0, 9999, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_resize(i->it, 0, 1, &data, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_swap(i->it, 0, &storage, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_take(i->it, 0, &storage, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_take(i->it, 2, &storage, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_release_output(i->it, 2, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_release_outputs(i->it, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_disable_managed_outputs(i->it, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_forget(i->it, &fault), BAD_ARGUMENT, BUSY);
    assert_fault(arenaut_iteration_close(i->it, &fault), BAD_ARGUMENT, BUSY);
    assert_int_equal(arenaut_iteration_count(i->it).managed_outputs, 1);
}

static void *take(void *context, size_t size, size_t align, arenaut_fault *fault) {
    intruder *i = context;
    i->allocated++;
    intrude(i);
    return i->source.allocate(i->source.context, size, align, fault);
}

static void give(void *context, void *block, size_t size) {
    intruder *i = context;
    i->released++;
    intrude(i);
    i->source.release(i->source.context, block, size);
}

static arenaut_status place(void *context, const arenaut_placing *placing) {
    intruder *i = context;
    i->placed++;
    intrude(i);
    *placing->arena = 0;
    for (uint32_t s = 0; s < placing->n; s++) {
        placing->offset[s] = *placing->arena;
        *placing->arena += placing->bytes[s];
    }
    return ARENAUT_OK;
}

static void on_hook(void *context, uint32_t value) {
    intruder *i = context;
    (void)value;
    i->hooked++;
    intrude(i);
}

TEST(callbacks_of_an_iteration_cannot_call_it) {
    for (int keep = 0; keep < 2; keep++) {
        bench b;
        arenaut_fault fault;
        void *data;
        intruder i = {.memory = {.left = SIZE_MAX}};
        i.source = counting_source(&i.memory);
        bench_lay_out(&b, 6);
        b.value[2].kind = ARENAUT_VALUE_OUTPUT;
        b.value[3].kind = ARENAUT_VALUE_UNMANAGED;
        b.value[4].kind = b.value[5].kind = ARENAUT_VALUE_BORROWED;
        b.value[5].returned = true;
        b.config.options.keep_buffer = keep;
        b.config.source = (arenaut_source){take, give, &i, {0, 0}};
        b.config.arena = b.config.source;
        b.config.place = place;
        b.config.place_context = &i;
        b.config.hooks = (arenaut_value_hooks){on_hook, on_hook, on_hook, &i};
        bench_make(&b);
        i.it = b.it;
        for (int run = 0; run < 4; run++) {
            if (run == 2) b.size[1] = 5000; /* outgrows its place */
            bench_run(&b);
            bench_assert_output(&b, 2);
            if (run % 2) assert_fine(arenaut_iteration_release_output(b.it, 2, &fault));
            else bench_release(&b);
        }
        assert_fine(arenaut_iteration_allocate(b.it, &fault));
        assert_fine(arenaut_iteration_resize(b.it, 0, 9000, &data, &fault));
        assert_fine(arenaut_iteration_abort(b.it, &fault));
        assert_int_equal(i.placed, 2); /* the second since one outgrew its place */
        assert_int_equal(i.hooked, 5 * 3);
        assert_true(i.allocated > 4);
        bench_finish(&b);
        assert_int_equal(i.allocated, i.released);
        assert_int_equal(i.memory.live, 0);
    }
}

/* Blocks up to so many bytes can be had. */
typedef struct small_source {
    memory_source memory;
    arenaut_source source;
    size_t most;
} small_source;

static void *take_small(void *context, size_t size, size_t align, arenaut_fault *fault) {
    small_source *s = context;
    return size > s->most ? NULL : s->source.allocate(s->source.context, size, align, fault);
}

static void give_small(void *context, void *block, size_t size) {
    small_source *s = context;
    s->source.release(s->source.context, block, size);
}

static void make_on_small(bench *b, small_source *s) {
    *s = (small_source){.memory = {.left = SIZE_MAX}, .most = 1024};
    s->source = counting_source(&s->memory);
    b->config.source = (arenaut_source){take_small, give_small, s, {0, 0}};
    b->config.arena.allocate = NULL;
    bench_make(b);
}

static uint32_t fallen_back(const bench *b) {
    return arenaut_iteration_count(b->it).runs_without_buffer;
}

/* No block is as large as the arena: then each value has one of its own, in every run. */
TEST(a_run_goes_without_a_buffer_that_cannot_be_had) {
    for (int bits = 0; bits < 8; bits++) {
        bench b;
        small_source s;
        arenaut_fault fault;
        bench_lay_out(&b, 4);
        b.config.options.keep_buffer = bits & 1;
        b.config.options.outputs_in_arena = bits & 2;
        b.config.options.poison = bits & 4;
        b.value[3].kind = ARENAUT_VALUE_OUTPUT;
        for (uint32_t v = 0; v < 4; v++) b.size[v] = 600;
        make_on_small(&b, &s);
        for (uint32_t run = 0; run < 4; run++) {
            bench_run(&b);
            bench_assert_output(&b, 3);
            assert_int_equal(fallen_back(&b), run);
            assert_null(arenaut_iteration_buffer(b.it));
            assert_false(arenaut_iteration_is_managed_output(b.it, 3));
            assert_int_equal(arenaut_iteration_count(b.it).overflows, 0);
            bench_release(&b);
            assert_int_equal(s.memory.live, 0);
        }
        assert_int_equal(arenaut_iteration_plan_number(b.it), 1);
        s.most = SIZE_MAX; /* there is memory again: the plan is in use at once */
        bench_run(&b);
        assert_true(arenaut_iteration_is_managed_output(b.it, 3));
        assert_int_equal(fallen_back(&b), 3);
        bench_release(&b);
        assert_fine(arenaut_iteration_close(b.it, &fault));
        assert_int_equal(s.memory.live, 0);
        free(b.room);
    }
}

TEST(without_falling_back_it_fails_and_leaves_no_run) {
    bench b;
    small_source s;
    arenaut_fault fault;
    bench_lay_out(&b, 3);
    b.config.options.fall_back = false;
    for (uint32_t v = 0; v < 3; v++) b.size[v] = 600;
    make_on_small(&b, &s);
    bench_run(&b);
    for (int i = 0; i < 3; i++) {
        assert_fault(arenaut_iteration_allocate(b.it, &fault), NO_MEMORY, BUFFER_MEMORY);
        assert_false(arenaut_iteration_is_running(b.it));
    }
    assert_int_equal(fallen_back(&b), 0);
    assert_fine(arenaut_iteration_forget(b.it, &fault)); /* the way out */
    for (uint32_t v = 0; v < 3; v++) b.size[v] = 100;
    bench_run(&b);
    bench_run(&b);
    assert_int_equal(arenaut_iteration_count(b.it).managed_bytes, 256);
    assert_fine(arenaut_iteration_close(b.it, &fault));
    free(b.room);
}

/* A failure that a source reports itself is an error of its own, and no lack of memory. */
static void *take_from_nowhere(void *context, size_t size, size_t align, arenaut_fault *fault) {
    const bool *works = context;
    if (*works) return aligned_take(align, size);
    *fault = (arenaut_fault){ARENAUT_FAULT_DEVICE_ABSENT, 3, 0, 0};
    return NULL;
}

static void give_to_nowhere(void *context, void *block, size_t size) {
    (void)context;
    (void)size;
    aligned_give(block);
}

TEST(a_source_that_is_out_of_order_is_not_fallen_back_from) {
    bench b;
    arenaut_fault fault;
    bool works = true;
    bench_lay_out(&b, 2);
    b.config.arena = (arenaut_source){take_from_nowhere, give_to_nowhere, &works, {0, 0}};
    bench_make(&b);
    bench_run(&b);
    bench_run(&b);
    works = false;
    assert_fault(arenaut_iteration_allocate(b.it, &fault), UNSUPPORTED, DEVICE_ABSENT);
    works = true;
    bench_run(&b);
    bench_finish(&b);
}

TEST(one_giant_run_can_be_forgotten) {
    for (int bits = 0; bits < 8; bits++) {
        bench b;
        arenaut_fault fault;
        bench_lay_out(&b, 4);
        b.config.options.keep_buffer = bits & 1;
        b.config.options.outputs_in_arena = bits & 2;
        b.config.options.grouping = bits & 4 ? ARENAUT_BY_GROUPS : ARENAUT_BY_OFFSETS;
        b.value[3].kind = ARENAUT_VALUE_OUTPUT;
        bench_make(&b);
        for (int i = 0; i < 2; i++) {
            bench_run(&b);
            bench_release(&b);
        }
        const arenaut_iteration_figures before = arenaut_iteration_count(b.it);
        b.size[1] = 1 << 20; /* the giant */
        for (int i = 0; i < 2; i++) {
            assert_fine(arenaut_iteration_allocate(b.it, &fault));
            assert_fault(arenaut_iteration_forget(b.it, &fault), BAD_ARGUMENT, RUNNING);
            bench_execute(&b);
            assert_fine(arenaut_iteration_deallocate(b.it, &fault));
            assert_fault(arenaut_iteration_forget(b.it, &fault), BAD_ARGUMENT, OUTPUTS_HELD);
            bench_release(&b);
        }
        b.size[1] = 200;
        bench_run(&b);
        bench_release(&b);
        assert_true(arenaut_iteration_count(b.it).managed_bytes > 1 << 20); /* never forgotten */
        assert_fine(arenaut_iteration_forget(b.it, &fault));
        assert_int_equal(b.arena.live + b.memory.live, 0); /* kept buffers, too */
        assert_int_equal(arenaut_iteration_count(b.it).managed_bytes, 0);
        assert_int_equal(arenaut_iteration_size(b.it, 1), 0);
        assert_int_equal(arenaut_iteration_offset(b.it, 0), ARENAUT_NO_OFFSET);
        const uint32_t plans = arenaut_iteration_plan_number(b.it), calls = (uint32_t)b.arena.calls;
        bench_run(&b); /* as the first one */
        bench_assert_output(&b, 3);
        bench_release(&b);
        assert_int_equal(b.arena.calls, calls);
        assert_int_equal(arenaut_iteration_plan_number(b.it), plans);
        bench_run(&b);
        bench_release(&b);
        assert_int_equal(arenaut_iteration_plan_number(b.it), plans + 1); /* goes on rising */
        const arenaut_iteration_figures after = arenaut_iteration_count(b.it);
        assert_int_equal(after.managed_bytes, before.managed_bytes);
        assert_int_equal(after.output_bytes, before.output_bytes);
        assert_int_equal(after.reused, before.reused);
        bench_finish(&b);
    }
}
