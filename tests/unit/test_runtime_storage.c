/* Iterations: storages and values, their fate after a run, and the counts. */
#include "support/test.h"

#include <stdlib.h>

#include "support/faults.h"
#include "support/iteration_bench.h"

TEST(an_address_is_in_the_buffer_from_start_to_end) {
    bench b;
    arenaut_fault fault;
    bench_lay_out(&b, 3);
    b.value[2].kind = ARENAUT_VALUE_OUTPUT;
    bench_make(&b);
    assert_false(arenaut_iteration_in_buffer(b.it, NULL));
    bench_run(&b);
    bench_release(&b);
    assert_fine(arenaut_iteration_allocate(b.it, &fault));
    const char *start = arenaut_iteration_buffer(b.it);
    const size_t size = arenaut_iteration_count(b.it).managed_bytes;
    assert_true(arenaut_iteration_in_buffer(b.it, start));
    assert_true(arenaut_iteration_in_buffer(b.it, start + size - 1));
    assert_false(arenaut_iteration_in_buffer(b.it, start + size));
    assert_false(arenaut_iteration_in_buffer(b.it, (void *)((uintptr_t)start - 1)));
    const char *outputs = arenaut_iteration_output_buffer(b.it);
    const size_t output_size = arenaut_iteration_count(b.it).output_bytes;
    assert_false(arenaut_iteration_in_buffer(b.it, outputs));
    assert_false(arenaut_iteration_in_output_buffer(b.it, start));
    assert_false(arenaut_iteration_in_output_buffer(b.it, NULL));
    assert_true(arenaut_iteration_in_output_buffer(b.it, outputs));
    assert_true(arenaut_iteration_in_output_buffer(b.it, outputs + output_size - 1));
    assert_false(arenaut_iteration_in_output_buffer(b.it, outputs + output_size));
    assert_int_equal(arenaut_iteration_offset(b.it, 2), 0); /* in the other buffer */
    for (uint32_t v = 0; v < 2; v++)
        assert_ptr_equal(arenaut_iteration_storage(b.it, v)->data,
                         start + arenaut_iteration_offset(b.it, v));
    bench_execute(&b);
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    assert_false(arenaut_iteration_in_buffer(b.it, start));         /* it is gone */
    assert_true(arenaut_iteration_in_output_buffer(b.it, outputs)); /* till they are released */
    bench_release(&b);
    bench_finish(&b);
}

/* Whatever was planned for it before. */
TEST(an_output_without_bytes_is_held_in_every_run) {
    static const size_t size[] = {0, 64, 0, 0};
    for (int bits = 0; bits < 4; bits++) {
        bench b;
        arenaut_fault fault;
        arenaut_storage storage;
        bench_lay_out(&b, 2);
        b.value[1].kind = ARENAUT_VALUE_OUTPUT;
        b.config.options.keep_buffer = bits & 1;
        b.config.options.outputs_in_arena = bits & 2;
        bench_make(&b);
        for (size_t i = 0; i < COUNT_OF(size); i++) {
            b.size[1] = size[i];
            bench_run(&b);
            assert_fine(arenaut_iteration_output(b.it, 1, &storage, &fault));
            assert_int_equal(storage.bytes, size[i]);
            assert_fault(arenaut_iteration_allocate(b.it, &fault), BAD_ARGUMENT, OUTPUTS_HELD);
            assert_fine(arenaut_iteration_release_output(b.it, 1, &fault));
            assert_fault(arenaut_iteration_output(b.it, 1, &storage, &fault), BAD_ARGUMENT,
                         OUTPUTS_RELEASED);
        }
        bench_finish(&b);
    }
}

/* Right after the call, and by the next plan. */
TEST(reused_counts_outputs_no_longer_once_they_are_not_managed) {
    for (int grouping = ARENAUT_BY_OFFSETS; grouping <= ARENAUT_BY_GROUPS; grouping++) {
        bench b;
        arenaut_fault fault;
        bench_lay_out(&b, 3);
        b.config.options.outputs_in_arena = true;
        b.config.options.grouping = (uint8_t)grouping;
        b.value[1].first = 0;
        b.value[2].kind = ARENAUT_VALUE_OUTPUT;
        for (uint32_t v = 0; v < 3; v++) b.size[v] = 64;
        b.value[1].last = 1;
        bench_make(&b);
        for (uint32_t v = 0; v < 3; v++) assert_fine(arenaut_iteration_learn(b.it, v, 64, &fault));
        assert_fine(arenaut_iteration_plan(b.it, &fault));
        assert_int_equal(arenaut_iteration_count(b.it).reused, 1); /* the output's */
        assert_fine(arenaut_iteration_disable_managed_outputs(b.it, &fault));
        assert_int_equal(arenaut_iteration_count(b.it).reused, 0);
        assert_fine(arenaut_iteration_plan(b.it, &fault));
        assert_int_equal(arenaut_iteration_count(b.it).reused, 0);
        bench_finish(&b);
    }
}

TEST(a_storage_that_begins_before_its_value_is_written_over_nothing) {
    bench b;
    arenaut_fault fault;
    bench_lay_out(&b, 3);
    b.value[0].last = 3;
    b.value[1].first = 5;
    b.value[1].last = 7;
    b.value[1].over = 0;
    b.value[2].first = 3; /* in the storage of value 1, where value 0 ends */
    b.value[2].last = 6;
    b.value[2].storage = 1;
    bench_make(&b);
    for (uint32_t v = 0; v < 2; v++) assert_fine(arenaut_iteration_learn(b.it, v, 64, &fault));
    assert_fine(arenaut_iteration_plan(b.it, &fault));
    assert_int_equal(arenaut_iteration_count(b.it).managed_bytes, 128);
    bench_finish(&b);
}

TEST(a_value_without_bytes_has_no_place) {
    bench b;
    bench_lay_out(&b, 4);
    b.value[3].kind = ARENAUT_VALUE_OUTPUT;
    b.size[1] = b.size[3] = 0;
    bench_make(&b);
    for (int i = 0; i < 3; i++) {
        bench_run(&b);
        assert_false(arenaut_iteration_is_managed_output(b.it, 3)); /* no storage */
        assert_true(arenaut_iteration_is_held(b.it, 3)); /* but it is an output, of no bytes */
        assert_int_equal(arenaut_iteration_offset(b.it, 1), ARENAUT_NO_OFFSET);
        bench_release(&b);
    }
    assert_int_equal(arenaut_iteration_plan_number(b.it), 1);
    assert_int_equal(arenaut_iteration_count(b.it).reused, 1); /* value 2 of value 0's place */
    bench_finish(&b);
    bench_lay_out(&b, 0); /* nothing at all */
    bench_make(&b);
    bench_run(&b);
    bench_run(&b);
    assert_int_equal(b.memory.calls + b.arena.calls, 0);
    bench_finish(&b);
}

TEST(a_swapped_storage_is_put_back_and_learned) {
    bench b;
    arenaut_fault fault;
    bench_lay_out(&b, 4);
    b.value[1].first = 0; /* so that value 0 may lie in its storage */
    bench_make(&b);
    bench_run(&b);
    arenaut_storage *own = arenaut_iteration_storage(b.it, 1);
    assert_true(arenaut_iteration_is_storage_managed(b.it, own));
    assert_false(arenaut_iteration_is_storage_managed(b.it, NULL));
    assert_false(arenaut_iteration_is_storage_managed(b.it, own + 3)); /* behind the last */
    assert_true(arenaut_iteration_is_storage_managed(b.it, own + 2));
    char bytes[16];
    arenaut_storage borrowed = {bytes, sizeof bytes, NULL};
    arenaut_storage owning = {NULL, 7000, &b.config.source};
    assert_false(arenaut_iteration_is_storage_managed(b.it, &owning));
    for (int i = 0; i < 2; i++) { /* at every deallocate, not only at the first */
        assert_fine(arenaut_iteration_allocate(b.it, &fault));
        owning.data = b.config.source.allocate(b.config.source.context, 7000, 64, &fault);
        owning.bytes = 7000;
        owning.source = &b.config.source;
        assert_fine(arenaut_iteration_swap(b.it, 1, &owning, &fault));
        assert_fine(arenaut_iteration_swap(b.it, 2, &owning, &fault)); /* two values share it */
        assert_fine(arenaut_iteration_swap(b.it, 3, &borrowed, &fault));
        assert_ptr_equal(arenaut_iteration_storage(b.it, 1), &owning);
        assert_fine(arenaut_iteration_deallocate(b.it, &fault));
        assert_int_equal(b.memory.live, 0);
        assert_null(owning.data);
        assert_ptr_equal(borrowed.data, bytes); /* was never ours */
        assert_ptr_equal(arenaut_iteration_storage(b.it, 1), own);
    }
    assert_int_equal(arenaut_iteration_size(b.it, 1), 7040);
    assert_int_equal(arenaut_iteration_plan_number(b.it), 2);
    /* Another value's managed storage is learned from, and not released twice. */
    assert_fine(arenaut_iteration_allocate(b.it, &fault));
    assert_fine(arenaut_iteration_swap(b.it, 0, arenaut_iteration_storage(b.it, 1), &fault));
    assert_fault(arenaut_iteration_swap(b.it, 0, NULL, &fault), BAD_ARGUMENT, ARGUMENT);
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    assert_int_equal(arenaut_iteration_size(b.it, 0), 7040);
    assert_fault(arenaut_iteration_swap(b.it, 0, own, &fault), BAD_ARGUMENT, NOT_RUNNING);
    bench_finish(&b);
    /* Nor is it released before its own value has learned from it. */
    bench_lay_out(&b, 2);
    bench_make(&b);
    void *data;
    assert_fine(arenaut_iteration_allocate(b.it, &fault));
    assert_fine(arenaut_iteration_resize(b.it, 1, 500, &data, &fault));
    assert_fine(arenaut_iteration_swap(b.it, 0, arenaut_iteration_storage(b.it, 1), &fault));
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    for (uint32_t v = 0; v < 2; v++) assert_int_equal(arenaut_iteration_size(b.it, v), 512);
    bench_finish(&b);
}

TEST(values_of_one_storage_count_once) {
    bench b;
    bench_lay_out(&b, 3);
    b.value[1].storage = 0; /* a view of value 0, alive after it */
    b.value[1].last = 5;
    b.size[1] = 40;
    bench_make(&b);
    arenaut_fault fault;
    for (int i = 0; i < 2; i++) {
        void *data[3];
        assert_fine(arenaut_iteration_allocate(b.it, &fault));
        for (uint32_t v = 0; v < 3; v++)
            assert_fine(arenaut_iteration_resize(b.it, v, b.size[v], &data[v], &fault));
        assert_ptr_equal(data[0], data[1]);
        assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    }
    const arenaut_iteration_figures f = arenaut_iteration_count(b.it);
    assert_int_equal(f.managed, 3);
    assert_int_equal(f.reused, 0); /* value 2 lies beside the storage that lives on */
    assert_int_equal(f.managed_bytes, 128 + 320);
    bench_finish(&b);
}

/* Four values in turn, of which the last two share a storage, and an output. */
TEST(groups_can_be_asked_for) {
    for (int by_groups = 0; by_groups < 2; by_groups++) {
        bench b;
        arenaut_fault fault;
        uint32_t member[2] = {77, 77};
        bench_lay_out(&b, 5);
        b.config.options.grouping = by_groups ? ARENAUT_BY_GROUPS : ARENAUT_BY_OFFSETS;
        b.value[3].storage = 2;
        b.value[4].kind = ARENAUT_VALUE_OUTPUT;
        bench_make(&b);
        assert_int_equal(arenaut_iteration_group_count(b.it), by_groups ? 2 : 0);
        assert_int_equal(arenaut_iteration_group_size(b.it, 0), 0);
        for (uint32_t v = 0; v < 5; v++)
            assert_fine(arenaut_iteration_learn(b.it, v, b.size[v], &fault));
        assert_fine(arenaut_iteration_plan(b.it, &fault));
        static const uint32_t expected[] = {0, 1, 0, 0, ARENAUT_NO_GROUP, ARENAUT_NO_GROUP};
        for (uint32_t v = 0; v < 6; v++)
            assert_int_equal(arenaut_iteration_group(b.it, v),
                             by_groups ? expected[v] : ARENAUT_NO_GROUP);
        assert_int_equal(arenaut_iteration_group_members(b.it, 0, NULL, 0), by_groups ? 3 : 0);
        assert_int_equal(arenaut_iteration_group_members(b.it, 0, member, 2), by_groups ? 3 : 0);
        if (by_groups) assert_true(member[0] == 0 && member[1] == 2);
        assert_int_equal(arenaut_iteration_group_size(b.it, 0), by_groups ? 448 : 0);
        assert_int_equal(arenaut_iteration_group_size(b.it, 1), by_groups ? 256 : 0);
        assert_int_equal(arenaut_iteration_group_members(b.it, 2, member, 2), 0);
        assert_int_equal(arenaut_iteration_group_size(b.it, 2), 0);
        bench_finish(&b);
    }
}

TEST(pointers_that_were_bent_are_found) {
    bench b;
    arenaut_fault fault;
    char elsewhere[64];
    bench_lay_out(&b, 3);
    bench_make(&b);
    bench_run(&b);
    assert_fine(arenaut_iteration_allocate(b.it, &fault));
    arenaut_storage *storage = arenaut_iteration_storage(b.it, 1);
    const arenaut_storage good = *storage;
    storage->data = elsewhere;
    assert_fault(arenaut_iteration_deallocate(b.it, &fault), BAD_ARGUMENT, POINTER_OUTSIDE);
    assert_int_equal(fault.object, 1);
    storage->data = (char *)good.data + 64; /* in the buffer, but another's place */
    assert_fault(arenaut_iteration_deallocate(b.it, &fault), BAD_ARGUMENT, POINTER_OUTSIDE);
    *storage = good;
    storage->bytes++;
    assert_fault(arenaut_iteration_deallocate(b.it, &fault), BAD_ARGUMENT, OVERRUN);
    assert_int_equal(fault.allowed, good.bytes);
    assert_true(arenaut_iteration_is_running(b.it)); /* nothing has changed */
    *storage = good;
    bench_execute(&b);
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    assert_fault(arenaut_iteration_deallocate(b.it, &fault), BAD_ARGUMENT, NOT_RUNNING);
    bench_finish(&b);
}

TEST(an_output_of_the_first_run_can_be_taken) {
    bench b;
    arenaut_fault fault;
    arenaut_storage taken;
    bench_lay_out(&b, 2);
    b.value[1].kind = ARENAUT_VALUE_OUTPUT;
    bench_make(&b);
    assert_fine(arenaut_iteration_allocate(b.it, &fault));
    assert_fault(arenaut_iteration_take(b.it, 1, &taken, &fault), BAD_ARGUMENT, NOTHING_OWNED);
    bench_execute(&b);
    assert_fine(arenaut_iteration_take(b.it, 1, &taken, &fault));
    assert_int_equal(taken.bytes, 200);
    assert_fault(arenaut_iteration_take(b.it, 1, &taken, &fault), BAD_ARGUMENT, NOTHING_OWNED);
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    assert_int_equal(b.memory.live, 1);
    for (size_t i = 0; i < taken.bytes; i++) assert_int_equal(((char *)taken.data)[i], 2);
    taken.source->release(taken.source->context, taken.data, taken.bytes);
    assert_int_equal(arenaut_iteration_size(b.it, 1), 256); /* learned all the same */
    assert_fine(arenaut_iteration_allocate(b.it, &fault));
    assert_fault(arenaut_iteration_take(b.it, 1, &taken, &fault), BAD_ARGUMENT, NOTHING_OWNED);
    bench_execute(&b);
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    bench_release(&b);
    assert_fault(arenaut_iteration_take(b.it, 1, &taken, &fault), BAD_ARGUMENT, NOT_RUNNING);
    bench_finish(&b);
}

typedef struct diary {
    char text[64];
} diary;

static void write_down(diary *d, char what, uint32_t value) {
    const size_t n = strlen(d->text);
    snprintf(d->text + n, sizeof d->text - n, "%c%u ", what, value);
}
static void on_release(void *context, uint32_t value) { write_down(context, 'r', value); }
static void on_forget(void *context, uint32_t value) { write_down(context, 'f', value); }
static void on_retain(void *context, uint32_t value) { write_down(context, 'o', value); }

enum { INPUT, MANAGED, TUPLE, LENT, LENT_OUT, NUMBER, OWN_OUT, RESULT, NUMBER_OUT, KINDS };

static void set_out_kinds(bench *b) {
    static const uint8_t kind[KINDS] = {
        ARENAUT_VALUE_EXTERNAL,  ARENAUT_VALUE_MANAGED,  ARENAUT_VALUE_UNMANAGED,
        ARENAUT_VALUE_BORROWED,  ARENAUT_VALUE_BORROWED, ARENAUT_VALUE_SCALAR,
        ARENAUT_VALUE_UNMANAGED, ARENAUT_VALUE_OUTPUT,   ARENAUT_VALUE_SCALAR};
    bench_lay_out(b, KINDS);
    for (uint32_t v = 0; v < KINDS; v++) b->value[v].kind = kind[v];
    b->value[LENT_OUT].returned = b->value[OWN_OUT].returned = true;
    b->value[NUMBER_OUT].returned = true;
}

TEST(unmanaged_values_are_given_up_and_borrowed_ones_forgotten) {
    bench b;
    diary d = {""};
    set_out_kinds(&b);
    b.config.hooks = (arenaut_value_hooks){on_release, on_forget, on_retain, &d};
    bench_make(&b);
    bench_run(&b);
    /* A lent value that is returned owns itself before its owner is given up. */
    assert_string_equal(d.text, "o4 r2 f3 ");
    bench_release(&b);
    bench_finish(&b);
    set_out_kinds(&b); /* without hooks nothing is called */
    bench_make(&b);
    bench_run(&b);
    bench_release(&b);
    bench_finish(&b);
}

TEST(every_kind_of_value_is_counted) {
    bench b;
    set_out_kinds(&b);
    bench_make(&b);
    bench_run(&b);
    bench_release(&b);
    bench_run(&b);
    const arenaut_iteration_figures f = arenaut_iteration_count(b.it);
    assert_int_equal(f.managed, 1);
    assert_int_equal(f.reused, 0);
    assert_int_equal(f.managed_outputs, 1);
    assert_int_equal(f.unmanaged_scalars, 1);
    assert_int_equal(f.unmanaged_non_scalars, 2); /* the tuple, and the lent value */
    assert_int_equal(f.unmanaged, 3);
    assert_int_equal(f.managed_bytes, 256);
    assert_int_equal(f.output_bytes, 832);
    bench_release(&b);
    bench_finish(&b);
    set_out_kinds(&b); /* without out variants the managed one is unmanaged, too */
    b.config.options = (arenaut_iteration_options){0};
    bench_make(&b);
    const arenaut_iteration_figures off = arenaut_iteration_count(b.it);
    assert_int_equal(off.managed, 0);
    assert_int_equal(off.managed_outputs, 0);
    assert_int_equal(off.unmanaged_non_scalars, 3);
    assert_null(arenaut_iteration_storage(b.it, MANAGED));
    bench_finish(&b);
}

TEST(storages_are_one_block_with_checked_indices) {
    arenaut_storages storages = {0};
    arenaut_storage block[2];
    arenaut_fault fault;
    memory_source memory = {.left = SIZE_MAX};
    const arenaut_source source = counting_source(&memory);
    const arenaut_storage model = {&memory, 77, &source};
    assert_false(arenaut_storages_is_allocated(&storages));
    assert_null(arenaut_storages_at(&storages, 0, &fault));
    assert_fault(arenaut_storages_append(&storages, &model, &fault), BAD_ARGUMENT, STORAGES_FULL);
    assert_fault(arenaut_storages_allocate(&storages, NULL, 2, &fault), BAD_ARGUMENT, ARGUMENT);
    assert_fine(arenaut_storages_allocate(&storages, block, 2, &fault));
    assert_true(arenaut_storages_is_allocated(&storages));
    assert_int_equal(storages.capacity, 2);
    assert_int_equal(storages.size, 0);
    assert_fault(arenaut_storages_allocate(&storages, block, 2, &fault), BAD_ARGUMENT,
                 STORAGES_MADE);
    for (uint32_t i = 0; i < 2; i++) {
        assert_fine(arenaut_storages_append(&storages, &model, &fault));
        const arenaut_storage *made = arenaut_storages_at(&storages, i, &fault);
        assert_ptr_equal(made, &block[i]);
        assert_null(made->data);
        assert_int_equal(made->bytes, 77);
        assert_ptr_equal(made->source, &source);
    }
    assert_fault(arenaut_storages_append(&storages, &model, &fault), BAD_ARGUMENT, STORAGES_FULL);
    fault = (arenaut_fault){0};
    assert_null(arenaut_storages_at(&storages, 2, &fault));
    assert_int_equal(fault.reason, ARENAUT_FAULT_STORAGE);
    assert_int_equal(fault.allowed, 2);
    arenaut_storages_deallocate(&storages);
    assert_false(arenaut_storages_is_allocated(&storages));
    assert_int_equal(storages.size + storages.capacity, 0);
}

/* Swapped for memory that it borrows, that it owns, or that another output has: the bytes that the
 * model wrote there are found. */
TEST(a_swapped_output_is_held_where_it_is) {
    for (int in_arena = 0; in_arena < 2; in_arena++) {
        bench b;
        arenaut_fault fault;
        arenaut_storage found;
        unsigned char bytes[48];
        bench_lay_out(&b, 4);
        for (uint32_t v = 1; v < 4; v++) b.value[v].kind = ARENAUT_VALUE_OUTPUT;
        b.config.options.outputs_in_arena = in_arena;
        b.config.options.poison = true;
        bench_make(&b);
        for (int i = 0; i < 3; i++) {
            arenaut_storage lent = {bytes, sizeof bytes, NULL}, owning = {NULL, 0, NULL};
            assert_fine(arenaut_iteration_allocate(b.it, &fault));
            bench_execute(&b);
            memset(bytes, 0x22, sizeof bytes);
            owning = (arenaut_storage){
                b.config.source.allocate(b.config.source.context, 512, 64, &fault), 512,
                &b.config.source};
            memset(owning.data, 0x33, 512);
            assert_fine(arenaut_iteration_swap(b.it, 0, &owning, &fault)); /* two share it */
            assert_fine(arenaut_iteration_swap(b.it, 1, &owning, &fault));
            assert_fine(arenaut_iteration_swap(b.it, 2, &lent, &fault));
            assert_fine(arenaut_iteration_deallocate(b.it, &fault));
            for (uint32_t v = 1; v < 4; v++) assert_true(arenaut_iteration_is_held(b.it, v));
            assert_fine(arenaut_iteration_output(b.it, 1, &found, &fault));
            assert_int_equal(found.bytes, 512);
            assert_int_equal(((unsigned char *)found.data)[511], 0x33);
            assert_fine(arenaut_iteration_output(b.it, 2, &found, &fault));
            assert_ptr_equal(found.data, bytes);
            assert_int_equal(found.bytes, sizeof bytes);
            bench_assert_output(&b, 3);
            assert_false(arenaut_iteration_is_managed_output(b.it, 1));
            assert_false(arenaut_iteration_is_managed_output(b.it, 2));
            if (i == 1) assert_fine(arenaut_iteration_release_output(b.it, 2, &fault));
            bench_release(&b);
            assert_ptr_equal(lent.data, bytes); /* was never ours */
            assert_null(owning.data);
            assert_int_equal(b.memory.live + b.arena.live, 0);
        }
        assert_int_equal(arenaut_iteration_size(b.it, 0), 512);
        assert_int_equal(arenaut_iteration_size(b.it, 1), 512);
        bench_finish(&b);
    }
}

TEST(outputs_of_one_storage_live_as_long_as_the_last) {
    bench b;
    arenaut_fault fault;
    arenaut_storage found, taken;
    void *data;
    bench_lay_out(&b, 3);
    for (uint32_t v = 0; v < 3; v++) b.value[v].kind = ARENAUT_VALUE_OUTPUT;
    b.value[1].storage = 0; /* lies in it */
    bench_make(&b);
    for (int i = 0; i < 4; i++) {
        assert_fine(arenaut_iteration_allocate(b.it, &fault));
        assert_fine(arenaut_iteration_resize(b.it, 0, 100, &data, &fault));
        memset(data, 7, 100);
        assert_fine(arenaut_iteration_resize(b.it, 1, 40, &data, &fault));
        assert_fine(arenaut_iteration_swap(b.it, 2, arenaut_iteration_storage(b.it, 0), &fault));
        assert_fine(arenaut_iteration_deallocate(b.it, &fault));
        for (uint32_t v = 0; v < 3; v++) {
            assert_fine(arenaut_iteration_output(b.it, v, &found, &fault));
            assert_int_equal(*(char *)found.data, 7);
        }
        assert_fine(arenaut_iteration_output(b.it, 1, &found, &fault));
        assert_int_equal(found.bytes, 40);
        if (i % 2) {
            bench_release(&b);
        } else {
            assert_fine(arenaut_iteration_release_output(b.it, 0, &fault));
            assert_fine(arenaut_iteration_release_output(b.it, 2, &fault));
            assert_fine(arenaut_iteration_output(b.it, 1, &found, &fault));
            assert_int_equal(*(char *)found.data, 7);
            if (i == 0) { /* in memory of its own: it may be taken when the run is over */
                assert_fine(arenaut_iteration_take(b.it, 1, &taken, &fault));
                assert_false(arenaut_iteration_outputs_are_held(b.it));
                assert_int_equal(taken.bytes, 100);
                taken.source->release(taken.source->context, taken.data, taken.bytes);
            } else {
                assert_fault(arenaut_iteration_take(b.it, 1, &taken, &fault), BAD_ARGUMENT,
                             NOTHING_OWNED);
                bench_release(&b);
            }
        }
        assert_int_equal(b.memory.live + b.arena.live, 0);
    }
    bench_finish(&b);
}

TEST(an_output_does_not_end_with_the_run) {
    bench b;
    arenaut_fault fault;
    arenaut_storage inside;
    bench_lay_out(&b, 2);
    b.value[1].kind = ARENAUT_VALUE_OUTPUT;
    bench_make(&b);
    bench_run(&b);
    bench_release(&b);
    assert_fine(arenaut_iteration_allocate(b.it, &fault));
    assert_fault(arenaut_iteration_swap(b.it, 1, arenaut_iteration_storage(b.it, 0), &fault),
                 BAD_ARGUMENT, OUTPUT_IN_ARENA);
    inside = (arenaut_storage){arenaut_iteration_buffer(b.it), 16, NULL};
    assert_fault(arenaut_iteration_swap(b.it, 1, &inside, &fault), BAD_ARGUMENT, OUTPUT_IN_ARENA);
    inside.data = &b;
    assert_fine(arenaut_iteration_swap(b.it, 1, &inside, &fault));
    inside.data = arenaut_iteration_buffer(b.it); /* pointed there since */
    assert_fault(arenaut_iteration_deallocate(b.it, &fault), BAD_ARGUMENT, OUTPUT_IN_ARENA);
    assert_int_equal(fault.object, 1);
    assert_true(arenaut_iteration_is_running(b.it)); /* nothing has changed */
    inside = (arenaut_storage){&b, 16, NULL};
    assert_fine(arenaut_iteration_deallocate(b.it, &fault));
    bench_release(&b);
    bench_finish(&b);
}

/* Storages bent, swapped, outgrown: abort leaves nothing behind, and the next run is as ever. */
TEST(a_run_that_went_wrong_is_aborted) {
    for (int run = 0; run < 3; run++) {
        bench b;
        diary d = {""};
        arenaut_fault fault;
        void *data;
        char elsewhere[64];
        set_out_kinds(&b);
        b.config.hooks = (arenaut_value_hooks){on_release, on_forget, on_retain, &d};
        bench_make(&b);
        assert_fault(arenaut_iteration_abort(b.it, &fault), BAD_ARGUMENT, NOT_RUNNING);
        for (int i = 0; i < run; i++) {
            bench_run(&b);
            bench_release(&b);
        }
        const size_t known = arenaut_iteration_size(b.it, MANAGED);
        arenaut_storage owning = {NULL, 0, NULL};
        d.text[0] = '\0';
        assert_fine(arenaut_iteration_allocate(b.it, &fault));
        assert_fine(arenaut_iteration_resize(b.it, RESULT, 9000, &data, &fault));
        owning =
            (arenaut_storage){b.config.source.allocate(b.config.source.context, 512, 64, &fault),
                              512, &b.config.source};
        assert_fine(arenaut_iteration_swap(b.it, RESULT, &owning, &fault));
        arenaut_storage *bent = arenaut_iteration_storage(b.it, MANAGED);
        bent->data = elsewhere;
        bent->bytes = 4000;
        assert_fault(arenaut_iteration_deallocate(b.it, &fault), BAD_ARGUMENT, POINTER_OUTSIDE);
        assert_fine(arenaut_iteration_abort(b.it, &fault));
        assert_string_equal(d.text, "r2 f3 f4 "); /* the lent and returned one, too */
        assert_int_equal(b.memory.live + b.arena.live, 0);
        assert_null(owning.data);
        assert_int_equal(arenaut_iteration_size(b.it, MANAGED), known); /* nothing was learned */
        assert_false(arenaut_iteration_outputs_are_held(b.it));
        bench_run(&b);
        bench_assert_output(&b, RESULT);
        bench_release(&b);
        bench_finish(&b);
    }
}
