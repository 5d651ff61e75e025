/* Iterations: refusals and failures. */
#include "support/test.h"

#include <stdlib.h>

#include "support/faults.h"
#include "support/iteration_bench.h"
#include "support/random.h"

TEST(options_that_make_no_sense_are_refused_by_name) {
    arenaut_fault fault;
    char text[160];
    arenaut_iteration_options o = {.manage_outputs = true};
    assert_fault(arenaut_iteration_options_check(&o, &fault), REFUSED, OUTPUTS_WITHOUT_VARIANTS);
    assert_string_equal(arenaut_fault_text(&fault, text, sizeof text),
                        "managing outputs needs out variants: turn them on");
    o = (arenaut_iteration_options){.optimise_memory = true};
    assert_fault(arenaut_iteration_options_check(&o, &fault), REFUSED, OPTIMISE_WITHOUT_VARIANTS);
    o = (arenaut_iteration_options){.out_variants = true, .outputs_in_arena = true};
    assert_fault(arenaut_iteration_options_check(&o, &fault), REFUSED, ARENA_WITHOUT_OUTPUTS);
    o = (arenaut_iteration_options){.grouping = 9};
    assert_fault(arenaut_iteration_options_check(&o, &fault), BAD_ARGUMENT, GROUPING);
    assert_string_equal(arenaut_fault_text(&fault, text, sizeof text),
                        "grouping 9 is unknown: numbers go up to 1");
    o = (arenaut_iteration_options){.align = 48};
    assert_fault(arenaut_iteration_options_check(&o, &fault), BAD_ARGUMENT, ALIGNMENT);
}

TEST(wrong_configurations_are_refused) {
    bench b;
    arenaut_fault fault;
    bench_lay_out(&b, 3);
    const size_t bytes = arenaut_iteration_bytes(3);
    void *room = malloc(bytes);
#define INIT(size) arenaut_iteration_init(room, size, &b.config, &b.it, &fault)
    assert_fault(INIT(bytes - 1), BAD_ARGUMENT, WORKSPACE);
    assert_int_equal(fault.allowed, bytes);
    assert_fault(arenaut_iteration_init(NULL, bytes, &b.config, &b.it, &fault), BAD_ARGUMENT,
                 WORKSPACE);
    assert_fault(arenaut_iteration_init((char *)room + 1, bytes, &b.config, &b.it, &fault),
                 BAD_ARGUMENT, WORKSPACE_MISALIGNED);
    b.config.value = NULL;
    assert_fault(INIT(bytes), BAD_ARGUMENT, ARGUMENT);
    b.config.value = b.value;
    b.config.place = NULL;
    assert_fault(INIT(bytes), REFUSED, OFFSETS_WITHOUT_PLANNER);
    b.config.options.grouping = ARENAUT_BY_GROUPS;
    assert_fine(INIT(bytes));
    b.config.options.manage_outputs = b.config.options.out_variants = false;
    assert_fault(INIT(bytes), REFUSED, OPTIMISE_WITHOUT_VARIANTS);
    b.config.options = arenaut_iteration_defaults();
    b.config.place = arenaut_iteration_place;
    b.config.source.allocate = NULL;
    assert_fault(INIT(bytes), BAD_ARGUMENT, ARGUMENT);
    b.config.source = counting_source(&b.memory);
    b.config.arena.release = NULL;
    assert_fault(INIT(bytes), BAD_ARGUMENT, ARGUMENT);
    b.config.arena.allocate = NULL; /* then buffers come from the default source too */
    assert_fine(INIT(bytes));
    b.value[1].last = 0;
    assert_fault(INIT(bytes), BAD_INPUT, VALUE_LIFE);
    b.value[1].last = 2;
    b.value[1].storage = 3;
    assert_fault(INIT(bytes), BAD_ARGUMENT, VALUE);
    b.value[1].storage = 0;
    assert_fine(INIT(bytes));
    b.value[0].storage = 2; /* not a storage of its own */
    assert_fault(INIT(bytes), BAD_INPUT, VALUE_STORAGE);
    b.value[0].storage = ARENAUT_NO_VALUE;
    b.value[0].kind = ARENAUT_VALUE_OUTPUT; /* lives elsewhere than value 1 */
    assert_fault(INIT(bytes), BAD_INPUT, VALUE_STORAGE_KIND);
    b.value[0].kind = ARENAUT_VALUE_UNMANAGED; /* has no storage here */
    assert_fault(INIT(bytes), BAD_INPUT, VALUE_STORAGE);
    b.value[0].kind = 17;
    assert_fault(INIT(bytes), BAD_ARGUMENT, VALUE_KIND);
    b.value[0].kind = ARENAUT_VALUE_MANAGED;
    b.value[2].over = 3;
    assert_fault(INIT(bytes), BAD_ARGUMENT, VALUE);
#undef INIT
    free(room);
}

/* A planner that answers as it is told. */
typedef struct stub {
    arenaut_status status;
    size_t offset, arena;
} stub;

static arenaut_status answer(void *context, const arenaut_placing *placing) {
    const stub *s = context;
    for (uint32_t i = 0; i < placing->n; i++) placing->offset[i] = s->offset;
    *placing->arena = s->arena;
    return s->status;
}

TEST(a_planner_that_errs_changes_nothing) {
    bench b;
    arenaut_fault fault;
    stub s = {ARENAUT_OK, 0, 256};
    bench_lay_out(&b, 2);
    b.size[0] = b.size[1] = 256;
    b.value[1].first = 5; /* so that the two may share a place */
    b.value[1].last = 6;
    b.config.place = answer;
    b.config.place_context = &s;
    bench_make(&b);
    bench_run(&b);
    static const struct {
        stub s;
        arenaut_fault_reason reason;
    } wrong[] = {{{ARENAUT_REFUSED, 0, 256}, ARENAUT_FAULT_PLAN_FAILED},
                 {{ARENAUT_NO_MEMORY, 0, 256}, ARENAUT_FAULT_PLANNER_MEMORY},
                 {{ARENAUT_OK, 0, 255}, ARENAUT_FAULT_PLAN_BAD},
                 {{ARENAUT_OK, 64, 256}, ARENAUT_FAULT_PLAN_BAD},
                 {{ARENAUT_OK, 32, 1024}, ARENAUT_FAULT_PLAN_BAD},
                 {{ARENAUT_OK, SIZE_MAX - 63, 256}, ARENAUT_FAULT_PLAN_BAD}};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        s = wrong[i].s;
        assert_int_not_equal(arenaut_iteration_allocate(b.it, &fault), ARENAUT_OK);
        assert_int_equal(fault.reason, wrong[i].reason);
        assert_false(arenaut_iteration_is_running(b.it));
        assert_int_equal(arenaut_iteration_plan_number(b.it), 0);
        assert_int_equal(b.arena.calls, 0);
    }
    s = (stub){ARENAUT_OK, 0, 256};
    bench_run(&b);
    assert_int_equal(arenaut_iteration_count(b.it).reused, 1);
    bench_finish(&b);
}

/* A planner whose answer is at hand: offsets of four values of 256 bytes. */
static arenaut_status from_table(void *context, const arenaut_placing *placing) {
    const size_t *offset = context;
    for (uint32_t i = 0; i < placing->n; i++) placing->offset[i] = offset[i];
    *placing->arena = 1024;
    return ARENAUT_OK;
}

/* Values [0, 3] [1, 2] [2, 4] [3, 3], the third of which may lie over the second: all answers
 * that keep them apart are taken, and no others. */
TEST(a_planner_that_overlaps_values_is_not_believed) {
    static const uint32_t first[] = {0, 1, 2, 3}, last[] = {3, 2, 4, 3};
    static const size_t place[] = {0, 192, 384, 768}; /* some over a part of another */
    uint32_t taken = 0;
    for (uint32_t answer_no = 0; answer_no < 256; answer_no++) {
        size_t offset[4];
        bench b;
        arenaut_fault fault;
        bench_lay_out(&b, 4);
        for (uint32_t v = 0; v < 4; v++) {
            b.value[v].first = first[v];
            b.value[v].last = last[v];
            offset[v] = place[answer_no >> 2 * v & 3];
        }
        b.value[2].over = 1;
        b.config.place = from_table;
        b.config.place_context = offset;
        bench_make(&b);
        for (uint32_t v = 0; v < 4; v++) assert_fine(arenaut_iteration_learn(b.it, v, 256, &fault));
        bool apart = true;
        for (uint32_t v = 0; v < 4; v++) {
            for (uint32_t w = 0; w < v; w++) {
                const bool together = first[v] <= last[w] && first[w] <= last[v];
                const bool meet = offset[v] < offset[w] + 256 && offset[w] < offset[v] + 256;
                const bool allowed = v == 2 && w == 1 && offset[v] == offset[w];
                if (together && meet && !allowed) apart = false;
            }
        }
        taken += apart;
        fault.reason = ARENAUT_FAULT_NONE;
        const arenaut_status status = arenaut_iteration_plan(b.it, &fault);
        assert_int_equal(status, apart ? ARENAUT_OK : ARENAUT_INTERNAL);
        if (!apart) assert_int_equal(fault.reason, ARENAUT_FAULT_PLAN_OVERLAP);
        assert_int_equal(arenaut_iteration_plan_number(b.it), apart);
        bench_finish(&b);
    }
    assert_in_range(taken, 1, 200);
}

static bool meet_without_leave(const bench *b, const size_t *offset, uint32_t v, uint32_t w) {
    const arenaut_value *a = &b->value[v], *c = &b->value[w];
    const bool together = a->first <= c->last && c->first <= a->last;
    const bool share = offset[v] < offset[w] + b->size[w] && offset[w] < offset[v] + b->size[v];
    const bool in_place =
        (a->over == w && c->last == a->first) || (c->over == v && a->last == c->first);
    return together && share && !(in_place && offset[v] == offset[w]);
}

static bool meets_any_before(const bench *b, const size_t *offset, uint32_t v) {
    for (uint32_t w = 0; w < v; w++) {
        if (meet_without_leave(b, offset, v, w)) return true;
    }
    return false;
}

/* Values with lives at random, half of which try to lie over the one before, in places at random of
 * which most are moved until nothing is met. */
TEST(answers_of_many_values_are_believed_where_no_two_meet) {
    rng r = {7};
    uint32_t taken = 0, in_place = 0;
    for (uint32_t round = 0; round < 2000; round++) {
        const uint32_t steps = 1 + rng_below(&r, 30), n = 2 + rng_below(&r, BENCH_VALUES - 2);
        size_t offset[BENCH_VALUES];
        bench b;
        arenaut_fault fault;
        bool apart = true;
        bench_lay_out(&b, n);
        for (uint32_t v = 0; v < n; v++) {
            b.value[v].first = rng_below(&r, steps);
            b.value[v].last = b.value[v].first + rng_below(&r, 5);
            b.size[v] = 64 * (size_t)(1 + rng_below(&r, 3));
            offset[v] = 64 * (size_t)rng_below(&r, 14);
            if (v && rng_once_in(&r, 2)) {
                b.value[v].first = b.value[v - 1].last;
                b.value[v].last = b.value[v].first + rng_below(&r, 3);
                b.value[v].over = v - 1;
                offset[v] = offset[v - 1];
            }
            for (int tries = 0; tries < 200 && meets_any_before(&b, offset, v); tries++)
                offset[v] = 64 * (size_t)rng_below(&r, 14);
            apart = apart && !meets_any_before(&b, offset, v);
            in_place += v && b.value[v].over == v - 1 && offset[v] == offset[v - 1];
        }
        b.config.place = from_table;
        b.config.place_context = offset;
        bench_make(&b);
        for (uint32_t v = 0; v < n; v++)
            assert_fine(arenaut_iteration_learn(b.it, v, b.size[v], &fault));
        const arenaut_status status = arenaut_iteration_plan(b.it, &fault);
        assert_int_equal(status, apart ? ARENAUT_OK : ARENAUT_INTERNAL);
        if (!apart) assert_int_equal(fault.reason, ARENAUT_FAULT_PLAN_OVERLAP);
        taken += apart;
        bench_finish(&b);
    }
    assert_in_range(taken, 400, 1600);
    assert_true(in_place > 1000);
}

TEST(sizes_past_all_memory_are_no_plan) {
    bench b;
    arenaut_fault fault;
    bench_lay_out(&b, 3);
    b.config.options.grouping = ARENAUT_BY_GROUPS;
    bench_make(&b);
    for (uint32_t v = 0; v < 3; v++)
        assert_fine(arenaut_iteration_learn(b.it, v, SIZE_MAX - 4096, &fault));
    assert_fault(arenaut_iteration_allocate(b.it, &fault), TOO_LARGE, SIZE);
    bench_finish(&b);
    bench_lay_out(&b, 3);
    bench_make(&b);
    for (uint32_t v = 0; v < 3; v++)
        assert_fine(arenaut_iteration_learn(b.it, v, SIZE_MAX - 4096, &fault));
    assert_fault(arenaut_iteration_allocate(b.it, &fault), REFUSED, PLAN_FAILED);
    assert_int_equal(fault.found, ARENAUT_TOO_LARGE);
    assert_int_equal(b.planner.error.code, ARENAUT_TOO_LARGE);
    bench_finish(&b);
}

/* The n-th allocation of a whole course fails: the call says so, and can be made again. */
static bool survive(size_t left, bool keep, bool fall_back) {
    bench b;
    arenaut_fault fault;
    bench_lay_out(&b, 4);
    b.value[3].kind = ARENAUT_VALUE_OUTPUT;
    b.config.options.keep_buffer = keep;
    b.config.options.fall_back = fall_back;
    b.config.arena = b.config.source; /* one counter for all */
    bench_make(&b);
    b.memory.left = left;
    for (int i = 0; i < 4; i++) {
        if (i == 2) b.size[1] = 4000;
        if (arenaut_iteration_allocate(b.it, &fault) != ARENAUT_OK) {
            assert_false(fall_back);
            assert_int_equal(fault.reason, ARENAUT_FAULT_BUFFER_MEMORY);
            assert_false(arenaut_iteration_is_running(b.it));
            if (!keep) assert_int_equal(b.memory.live, 0);
            assert_fine(arenaut_iteration_allocate(b.it, &fault));
        }
        for (uint32_t v = 0; v < 4; v++) {
            void *data = &b;
            if (arenaut_iteration_resize(b.it, v, b.size[v], &data, &fault) != ARENAUT_OK) {
                assert_int_equal(fault.reason, ARENAUT_FAULT_NO_MEMORY);
                assert_int_equal(fault.object, v);
                assert_ptr_equal(data, &b); /* as it was */
                assert_fine(arenaut_iteration_resize(b.it, v, b.size[v], &data, &fault));
            }
        }
        assert_fine(arenaut_iteration_deallocate(b.it, &fault));
        bench_release(&b);
    }
    const bool blown = b.memory.blown;
    bench_finish(&b);
    return blown;
}

TEST(any_allocation_may_fail) {
    for (int bits = 0; bits < 4; bits++) {
        size_t n = 0;
        while (survive(n, bits & 1, bits & 2)) n++;
        assert_true(n >= 8);
    }
}
