/* The tape: one run recorded, planned and played back. */
#include "support/test.h"

#include <pthread.h>

#include <arenaut/planner.h>
#include <arenaut/tape.h>

#include "support/aligned.h"
#include "support/fuse.h"
#include "support/random.h"
#include "tape/addresses.h"

/* A heap that knows its blocks in use, and can run dry. */
typedef struct counted_heap {
    size_t live, requests;
    size_t left; /* so many requests succeed */
} counted_heap;

static void *counted_allocate(void *context, uint64_t size, uint64_t align) {
    counted_heap *heap = context;
    if (heap->left == 0) return NULL;
    heap->left--;
    heap->live++;
    heap->requests++;
    const size_t step = align < 64 ? 64 : (size_t)align;
    return aligned_take(step, (size_t)size);
}

static void counted_release(void *context, void *block) {
    counted_heap *heap = context;
    heap->live--;
    aligned_give(block);
}

/* A tape on such a heap, and the memory that it is bound to. */
typedef struct deck {
    counted_heap heap;
    arenaut_tape *tape;
    void *memory;
    arenaut_error err;
} deck;

static void open_deck(deck *d, bool strict, bool exact) {
    *d = (deck){.heap = {0, 0, SIZE_MAX}};
    arenaut_tape_options options = {.strict = strict, .exact = exact};
    options.heap = (arenaut_tape_heap){counted_allocate, counted_release, &d->heap};
    assert_ok(arenaut_tape_new(&options, NULL, &d->tape, &d->err), d->err);
}

static void close_deck(deck *d) {
    assert_int_equal(d->heap.live, 0);
    arenaut_tape_free(d->tape);
    aligned_give(d->memory);
}

static void plan_and_bind(deck *d) {
    uint64_t align;
    assert_ok(arenaut_tape_plan(d->tape, NULL, &d->err), d->err);
    const uint64_t size = arenaut_tape_arena(d->tape, &align);
    d->memory = aligned_take((size_t)align, (size_t)(size / align + 1) * (size_t)align);
    assert_non_null(d->memory);
    assert_ok(arenaut_tape_bind(d->tape, d->memory, size, &d->err), d->err);
}

/* The requests of a run: letters a-z ask for the block of that name, capitals release it. A block
 * is 64 bytes for 'a', 128 for 'b' and so on, times `scale`. Every block that is handed out is
 * filled with its name, and must still be full of it when it is released. */
static void run(deck *d, const char *script, size_t scale, void *at[26]) {
    for (const char *c = script; *c; c++) {
        const bool release = *c >= 'A' && *c <= 'Z';
        const int name = release ? *c - 'A' : *c - 'a';
        const size_t size = (size_t)(name + 1) * 64 * scale;
        if (!release) {
            at[name] = arenaut_tape_allocate(d->tape, size, 64);
            if (!at[name]) continue; /* strict mode, or a heap run dry */
            assert_int_equal((uintptr_t)at[name] % 64, 0);
            memset(at[name], 'a' + name, size);
        } else if (at[name]) {
            for (size_t k = 0; k < size; k++) {
                if (((char *)at[name])[k] != 'a' + name) fail_msg("block %c was overwritten", *c);
            }
            arenaut_tape_release(d->tape, at[name]);
        }
    }
}

static void record(deck *d, const char *script) {
    void *at[26] = {NULL};
    assert_ok(arenaut_tape_record(d->tape, &d->err), d->err);
    run(d, script, 1, at);
    assert_ok(arenaut_tape_end(d->tape, &d->err), d->err);
}

static arenaut_status play(deck *d, const char *script, size_t scale, void *at[26]) {
    assert_ok(arenaut_tape_play(d->tape, &d->err), d->err);
    run(d, script, scale, at);
    return arenaut_tape_end(d->tape, &d->err);
}

static arenaut_tape_counts counts_of(const deck *d) {
    arenaut_tape_counts counts;
    arenaut_tape_count(d->tape, &counts);
    return counts;
}

TEST(the_same_flow_gets_the_same_addresses_on_each_of_ten_runs) {
    deck d;
    open_deck(&d, true, true);
    record(&d, "abAcBdCeDE");
    plan_and_bind(&d);
    void *first[26] = {NULL};
    assert_ok(play(&d, "abAcBdCeDE", 1, first), d.err);
    for (int k = 1; k < 10; k++) {
        void *again[26] = {NULL};
        assert_ok(play(&d, "abAcBdCeDE", 1, again), d.err);
        assert_memory_equal(again, first, sizeof first);
    }
    const arenaut_tape_counts counts = counts_of(&d);
    assert_int_equal(counts.runs, 10);
    assert_int_equal(counts.served, 50);
    assert_int_equal(counts.heap + counts.fallbacks + counts.astray, 0);
    assert_int_equal(d.heap.requests, 5); /* all of them while recording */
    close_deck(&d);
}

TEST(the_arena_is_as_large_as_what_is_alive_at_once) {
    deck d;
    open_deck(&d, false, false);
    record(&d, "aAbBcCdD");
    plan_and_bind(&d);
    assert_int_equal(arenaut_tape_arena(d.tape, NULL), 4 * 64);
    assert_int_equal(arenaut_tape_bound(d.tape), 4 * 64);
    close_deck(&d);
}

/* The recording takes the one way through a branch, and the run the other; then the other way
 * about. Both must be noticed, strictly by an error and otherwise by answers from the heap. */
TEST(a_flow_that_differs_is_noticed_in_both_directions) {
    static const char *const ways[] = {"abABcC", "abcCABcC"};
    for (int recorded = 0; recorded < 2; recorded++) {
        for (int strict = 0; strict < 2; strict++) {
            deck d;
            open_deck(&d, strict, false);
            record(&d, ways[recorded]);
            plan_and_bind(&d);
            for (int k = 0; k < 10; k++) {
                const bool same = k % 2 == 0;
                void *at[26] = {NULL};
                const arenaut_status st = play(&d, ways[same ? recorded : !recorded], 1, at);
                assert_int_equal(st, same || !strict ? ARENAUT_OK : ARENAUT_REJECTED);
                assert_int_equal(counts_of(&d).last_astray, !same);
            }
            assert_int_equal(counts_of(&d).astray, 5);
            assert_int_equal(counts_of(&d).fallbacks > 0, !strict);
            close_deck(&d);
        }
    }
}

TEST(a_run_that_stops_early_or_goes_on_is_another) {
    deck d;
    open_deck(&d, true, false);
    record(&d, "abAB");
    plan_and_bind(&d);
    void *at[26] = {NULL};
    assert_int_equal(play(&d, "aA", 1, at), ARENAUT_REJECTED);
    assert_int_equal(play(&d, "", 1, at), ARENAUT_REJECTED);
    assert_non_null(strstr(d.err.msg, "ended after 0 of 4"));
    assert_int_equal(play(&d, "abABc", 1, at), ARENAUT_REJECTED);
    assert_non_null(strstr(d.err.msg, "after all that was recorded"));
    assert_null(at[2]);
    assert_ok(play(&d, "abAB", 1, at), d.err);
    close_deck(&d);
}

TEST(smaller_blocks_are_served_unless_sizes_must_be_exact) {
    for (int exact = 0; exact < 2; exact++) {
        deck d;
        open_deck(&d, false, exact);
        void *at[26] = {NULL};
        assert_ok(arenaut_tape_record(d.tape, &d.err), d.err);
        run(&d, "abAB", 2, at);
        assert_ok(arenaut_tape_end(d.tape, &d.err), d.err);
        plan_and_bind(&d);
        assert_ok(play(&d, "abAB", 1, at), d.err);
        assert_int_equal(counts_of(&d).served, exact ? 0 : 2);
        assert_int_equal(counts_of(&d).fallbacks, exact ? 2 : 0);
        assert_ok(play(&d, "abAB", 3, at), d.err); /* larger ones never are */
        assert_true(counts_of(&d).last_astray);
        close_deck(&d);
    }
}

TEST(a_request_for_more_alignment_is_another_request) {
    deck d;
    open_deck(&d, false, false);
    record(&d, "aA");
    plan_and_bind(&d);
    assert_ok(arenaut_tape_play(d.tape, &d.err), d.err);
    void *block = arenaut_tape_allocate(d.tape, 64, 4096);
    assert_false(arenaut_tape_owns(d.tape, block));
    assert_int_equal((uintptr_t)block % 4096, 0);
    arenaut_tape_release(d.tape, block);
    assert_ok(arenaut_tape_end(d.tape, &d.err), d.err);
    assert_true(counts_of(&d).last_astray);
    close_deck(&d);
}

TEST(allocations_that_outlive_the_run_come_from_the_heap) {
    deck d;
    open_deck(&d, true, true);
    void *kept[26] = {NULL};
    assert_ok(arenaut_tape_record(d.tape, &d.err), d.err);
    run(&d, "abA", 1, kept);
    assert_ok(arenaut_tape_end(d.tape, &d.err), d.err);
    plan_and_bind(&d);
    assert_int_equal(arenaut_tape_arena(d.tape, NULL), 64);
    void *at[26] = {NULL};
    assert_ok(play(&d, "abA", 1, at), d.err);
    assert_false(arenaut_tape_owns(d.tape, at[1]));
    assert_int_equal(counts_of(&d).heap, 1);
    run(&d, "B", 1, at);
    run(&d, "B", 1, kept);
    close_deck(&d);
}

TEST(a_kept_block_has_its_place_until_the_run_ends) {
    deck d;
    open_deck(&d, true, true);
    void *at[26] = {NULL}, *next[26] = {NULL};
    assert_ok(arenaut_tape_record(d.tape, &d.err), d.err);
    run(&d, "abAcC", 1, at);
    assert_ok(arenaut_tape_end(d.tape, &d.err), d.err);
    assert_ok(arenaut_tape_keep(d.tape, arenaut_tape_find(d.tape, at[1]), &d.err), d.err);
    assert_int_equal(arenaut_tape_find(d.tape, at[2]), ARENAUT_NONE);
    assert_int_equal(arenaut_tape_keep(d.tape, 0, &d.err), ARENAUT_BAD_ARGUMENT);
    assert_int_equal(arenaut_tape_keep(d.tape, 3, &d.err), ARENAUT_BAD_ARGUMENT);
    run(&d, "B", 1, at);
    plan_and_bind(&d);
    assert_int_equal(arenaut_tape_arena(d.tape, NULL), 5 * 64); /* b beside c */
    assert_ok(play(&d, "abAcC", 1, at), d.err);
    assert_true(arenaut_tape_owns(d.tape, at[1]));
    assert_int_equal(arenaut_tape_outstanding(d.tape), 1);
    assert_int_equal(arenaut_tape_size_at(d.tape, at[1]), 128);
    assert_int_equal(arenaut_tape_size_at(d.tape, (char *)at[1] + 64), 0);
    assert_int_equal(arenaut_tape_size_at(d.tape, &d), 0);
    /* Still held while the next run makes a new one in the same place. */
    assert_ok(play(&d, "abAcC", 1, next), d.err);
    assert_ptr_equal(next[1], at[1]);
    assert_int_equal(arenaut_tape_outstanding(d.tape), 2);
    assert_int_equal(arenaut_tape_bind(d.tape, NULL, 0, &d.err), ARENAUT_REFUSED);
    assert_int_equal(arenaut_tape_record(d.tape, &d.err), ARENAUT_REFUSED);
    run(&d, "BB", 1, next);
    assert_int_equal(arenaut_tape_outstanding(d.tape), 0);
    close_deck(&d);
}

/* b dies before c is made, and c is kept where b was. An old c that is released while b is
 * next in line must not be taken for b. */
TEST(an_old_kept_block_is_never_taken_for_a_new_one) {
    deck d;
    open_deck(&d, false, true);
    void *at[26] = {NULL}, *next[26] = {NULL};
    assert_ok(arenaut_tape_record(d.tape, &d.err), d.err);
    run(&d, "bBb", 1, at);
    assert_ok(arenaut_tape_end(d.tape, &d.err), d.err);
    assert_ok(arenaut_tape_keep(d.tape, 1, &d.err), d.err);
    run(&d, "B", 1, at);
    plan_and_bind(&d);
    assert_int_equal(arenaut_tape_arena(d.tape, NULL), 128);
    assert_ok(play(&d, "bBb", 1, at), d.err);
    assert_ok(arenaut_tape_play(d.tape, &d.err), d.err);
    run(&d, "b", 1, next);
    assert_ptr_equal(next[1], at[1]);
    arenaut_tape_release(d.tape, at[1]); /* the old one, or the new one: it cannot be told */
    run(&d, "Bb", 1, next);
    assert_ok(arenaut_tape_end(d.tape, &d.err), d.err);
    assert_true(counts_of(&d).last_astray);
    assert_false(arenaut_tape_owns(d.tape, next[1]));
    run(&d, "B", 1, next);
    assert_int_equal(arenaut_tape_outstanding(d.tape), 0);
    close_deck(&d);
}

TEST(allocations_that_a_stray_run_left_are_not_overwritten) {
    deck d;
    open_deck(&d, false, true);
    record(&d, "abAB");
    plan_and_bind(&d);
    void *left[26] = {NULL}, *at[26] = {NULL};
    assert_ok(play(&d, "ab", 1, left), d.err); /* both stay out */
    assert_ok(play(&d, "abAB", 1, at), d.err);
    assert_int_equal(counts_of(&d).fallbacks, 2);
    run(&d, "AB", 1, left); /* untouched */
    assert_ok(play(&d, "abAB", 1, at), d.err);
    assert_false(counts_of(&d).last_astray);
    close_deck(&d);
}

/* Something else is planned beside the blocks, by a caller that asks for their lives. */
TEST(ticks_and_lives_are_enough_to_plan_other_things_beside_the_blocks) {
    deck d;
    open_deck(&d, true, true);
    void *at[26] = {NULL};
    assert_ok(arenaut_tape_record(d.tape, &d.err), d.err);
    run(&d, "b", 1, at);
    const int64_t op = arenaut_tape_tick(d.tape); /* an op reads b and writes something */
    assert_int_equal(arenaut_tape_find(d.tape, at[1]), 0);
    run(&d, "B", 1, at);
    const int64_t later = arenaut_tape_tick(d.tape);
    assert_int_equal(later, op + 1); /* releases take no time, nor was anything asked for */
    run(&d, "aAc", 1, at);
    const int64_t end = arenaut_tape_tick(d.tape);
    assert_ok(arenaut_tape_end(d.tape, &d.err), d.err);
    arenaut_tape_block block;
    assert_true(arenaut_tape_block_at(d.tape, 0, &block));
    assert_int_equal(block.size, 128);
    assert_int_equal(block.first, op - 1);
    assert_int_equal(block.end, op + 1); /* alive at the op, and no longer */
    assert_true(arenaut_tape_block_at(d.tape, 2, &block));
    assert_false(block.released);
    assert_true(block.end > end);
    assert_false(arenaut_tape_block_at(d.tape, 3, &block));
    assert_int_equal(arenaut_tape_tick(d.tape), arenaut_tape_tick(d.tape)); /* not recording */
    run(&d, "C", 1, at);
    close_deck(&d);
}

TEST(places_of_somebody_else_are_checked) {
    deck d;
    open_deck(&d, true, true);
    const uint64_t good[] = {64, 128, 64}, meeting[] = {64, 64, 64}, crooked[] = {64, 96, 64};
    assert_int_equal(arenaut_tape_place(d.tape, good, 512, &d.err), ARENAUT_REFUSED);
    record(&d, "abABcC");
    assert_int_equal(arenaut_tape_place(d.tape, meeting, 512, &d.err), ARENAUT_REJECTED);
    assert_int_equal(arenaut_tape_place(d.tape, crooked, 512, &d.err), ARENAUT_REJECTED);
    assert_int_equal(arenaut_tape_place(d.tape, good, 192, &d.err), ARENAUT_REJECTED);
    assert_int_equal(arenaut_tape_arena(d.tape, NULL), 0);
    assert_ok(arenaut_tape_place(d.tape, good, 512, &d.err), d.err);
    assert_int_equal(arenaut_tape_arena(d.tape, NULL), 512);
    d.memory = aligned_take(64, 512);
    assert_ok(arenaut_tape_bind(d.tape, d.memory, 512, &d.err), d.err);
    void *at[26] = {NULL};
    assert_ok(play(&d, "abABcC", 1, at), d.err);
    for (int k = 0; k < 3; k++) assert_ptr_equal(at[k], (char *)d.memory + good[k]);
    close_deck(&d);
}

TEST(recordings_that_differ_in_sizes_only_share_a_plan) {
    deck d, other;
    open_deck(&d, false, false);
    open_deck(&other, false, false);
    void *at[26] = {NULL};
    record(&d, "abAB");
    assert_ok(arenaut_tape_record(other.tape, &d.err), d.err);
    run(&other, "abAB", 3, at);
    assert_ok(arenaut_tape_end(other.tape, &d.err), d.err);
    assert_ok(arenaut_tape_absorb(d.tape, other.tape, &d.err), d.err);
    record(&other, "abBA");
    assert_int_equal(arenaut_tape_absorb(d.tape, other.tape, &d.err), ARENAUT_REFUSED);
    plan_and_bind(&d);
    assert_int_equal(arenaut_tape_arena(d.tape, NULL), 9 * 64);
    for (size_t scale = 1; scale <= 3; scale++) {
        assert_ok(play(&d, "abAB", scale, at), d.err);
        assert_false(counts_of(&d).last_astray);
    }
    assert_int_equal(arenaut_tape_absorb(d.tape, other.tape, &d.err), ARENAUT_REFUSED);
    close_deck(&other);
    close_deck(&d);
}

TEST(small_requests_are_left_to_the_heap) {
    deck d;
    open_deck(&d, true, true);
    arenaut_tape_free(d.tape);
    arenaut_tape_options options = {.min_size = 128};
    options.heap = (arenaut_tape_heap){counted_allocate, counted_release, &d.heap};
    assert_ok(arenaut_tape_new(&options, NULL, &d.tape, &d.err), d.err);
    record(&d, "abAB");
    assert_int_equal(arenaut_tape_block_count(d.tape), 1);
    plan_and_bind(&d);
    void *at[26] = {NULL};
    assert_ok(play(&d, "aAabAB", 1, at), d.err); /* one small request more does not matter */
    assert_false(counts_of(&d).last_astray);
    close_deck(&d);
}

TEST(calls_out_of_turn_are_refused) {
    deck d;
    open_deck(&d, true, true);
    arenaut_tape *t = d.tape;
    assert_int_equal(arenaut_tape_play(t, &d.err), ARENAUT_REFUSED);
    assert_int_equal(arenaut_tape_plan(t, NULL, &d.err), ARENAUT_REFUSED);
    assert_int_equal(arenaut_tape_end(t, &d.err), ARENAUT_REFUSED);
    assert_int_equal(arenaut_tape_bind(t, NULL, 0, &d.err), ARENAUT_REFUSED);
    assert_ok(arenaut_tape_record(t, &d.err), d.err);
    assert_int_equal(arenaut_tape_record(t, &d.err), ARENAUT_REFUSED);
    assert_int_equal(arenaut_tape_plan(t, NULL, &d.err), ARENAUT_REFUSED);
    void *at[26] = {NULL};
    run(&d, "aA", 1, at);
    assert_ok(arenaut_tape_end(t, &d.err), d.err);
    assert_ok(arenaut_tape_plan(t, NULL, &d.err), d.err);
    assert_int_equal(arenaut_tape_plan(t, NULL, &d.err), ARENAUT_REFUSED);
    assert_int_equal(arenaut_tape_play(t, &d.err), ARENAUT_REFUSED);
    _Alignas(64) static unsigned char memory[128];
    assert_int_equal(arenaut_tape_bind(t, memory, 63, &d.err), ARENAUT_BAD_ARGUMENT);
    assert_int_equal(arenaut_tape_bind(t, memory + 8, 64, &d.err), ARENAUT_BAD_ARGUMENT);
    assert_ok(arenaut_tape_bind(t, memory, 64, &d.err), d.err);
    assert_ok(arenaut_tape_play(t, &d.err), d.err);
    assert_int_equal(arenaut_tape_bind(t, NULL, 0, &d.err), ARENAUT_REFUSED);
    assert_int_equal(arenaut_tape_end(t, &d.err), ARENAUT_REJECTED);
    arenaut_tape_options options = {.align = 48};
    arenaut_tape *none = NULL;
    assert_int_equal(arenaut_tape_new(&options, NULL, &none, &d.err), ARENAUT_BAD_ARGUMENT);
    options = (arenaut_tape_options){.heap = {.release = counted_release}};
    assert_int_equal(arenaut_tape_new(&options, NULL, &none, &d.err), ARENAUT_BAD_ARGUMENT);
    assert_null(none);
    close_deck(&d);
}

TEST(a_heap_that_runs_dry_is_passed_on_and_not_recorded) {
    deck d;
    open_deck(&d, true, true);
    d.heap.left = 1;
    record(&d, "abAB");
    assert_int_equal(arenaut_tape_block_count(d.tape), 1);
    close_deck(&d);
}

/* One whole life on an allocator that fails somewhere. The run itself is always served. */
static arenaut_status live_once(void *context, const arenaut_allocator *allocator) {
    (void)context;
    arenaut_tape *tape = NULL;
    arenaut_error err;
    arenaut_status st = arenaut_tape_new(NULL, allocator, &tape, &err);
    if (st != ARENAUT_OK) return st;
    void *blocks[100];
    st = arenaut_tape_record(tape, &err);
    for (size_t k = 0; k < COUNT_OF(blocks); k++) {
        blocks[k] = arenaut_tape_allocate(tape, 64 + k, 64);
        assert_non_null(blocks[k]);
    }
    for (size_t k = 0; k < COUNT_OF(blocks); k++) arenaut_tape_release(tape, blocks[k]);
    if (st == ARENAUT_OK) st = arenaut_tape_end(tape, &err);
    if (st == ARENAUT_OK) st = arenaut_tape_plan(tape, NULL, &err);
    if (st != ARENAUT_OK) assert_int_equal(arenaut_tape_arena(tape, NULL), 0);
    arenaut_tape_free(tape);
    return st;
}

TEST(survives_failing_allocators) { survives_every_allocation_failure(live_once, NULL); }

static void *release_them(void *context) {
    deck *d = context;
    for (int k = 0; k < 1000; k++) arenaut_tape_release_elsewhere(d->tape, d->memory);
    return NULL;
}

/* Results of a thousand runs pile up and are let go by two other threads while runs go on. */
TEST(kept_blocks_may_be_released_by_other_threads) {
    deck d;
    open_deck(&d, true, true);
    void *at[26] = {NULL};
    assert_ok(arenaut_tape_record(d.tape, &d.err), d.err);
    run(&d, "a", 1, at);
    assert_ok(arenaut_tape_end(d.tape, &d.err), d.err);
    assert_ok(arenaut_tape_keep(d.tape, 0, &d.err), d.err);
    run(&d, "A", 1, at);
    plan_and_bind(&d);
    for (int k = 0; k < 2000; k++) assert_ok(play(&d, "a", 1, at), d.err);
    assert_int_equal(arenaut_tape_outstanding(d.tape), 2000);
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(pthread_create(&threads[k], NULL, release_them, &d), 0);
    }
    for (int k = 0; k < 1000; k++) assert_ok(play(&d, "a", 1, at), d.err);
    for (int k = 0; k < 2; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
    assert_int_equal(arenaut_tape_outstanding(d.tape), 1000);
    close_deck(&d);
}

/* Runs drawn at random, most of them played as recorded, some not: whatever is handed out
 * stays whole until it is released, which `run` checks byte by byte. */
TEST(random_flows_never_overwrite_a_live_block) {
    for (uint64_t seed = 0; seed < 300; seed++) {
        rng r = {seed};
        char script[2][80];
        for (int which = 0; which < 2; which++) {
            bool live[26] = {false};
            size_t n = 0;
            while (n < 50) {
                const uint32_t name = rng_below(&r, 26);
                script[which][n++] = (char)((live[name] ? 'A' : 'a') + (char)name);
                live[name] = !live[name];
            }
            for (int name = 0; name < 26; name++) {
                if (live[name]) script[which][n++] = (char)('A' + name);
            }
            script[which][n] = '\0';
        }
        deck d;
        open_deck(&d, false, rng_once_in(&r, 2));
        record(&d, script[0]);
        plan_and_bind(&d);
        for (int k = 0; k < 6; k++) {
            const int which = rng_once_in(&r, 3);
            void *at[26] = {NULL};
            assert_ok(play(&d, script[which], 1, at), d.err);
            if (which == 0) assert_false(counts_of(&d).last_astray);
        }
        assert_int_equal(arenaut_tape_outstanding(d.tape), 0);
        close_deck(&d);
    }
}

TEST(addresses_are_found_until_they_are_removed) {
    enum { N = 2000 };
    static char places[N * 64];
    arn_tape_addresses map = {NULL, 0, 0};
    bool in[N] = {false};
    rng r = {1};
    assert_int_equal(arn_tape_addresses_find(&map, places), ARENAUT_NONE);
    assert_int_equal(arn_tape_addresses_remove(&map, places), ARENAUT_NONE);
    for (int k = 0; k < 20000; k++) {
        const uint32_t which = rng_below(&r, N);
        const char *at = places + which * 64;
        assert_int_equal(arn_tape_addresses_find(&map, at), in[which] ? which : ARENAUT_NONE);
        if (in[which]) {
            assert_int_equal(arn_tape_addresses_remove(&map, at), which);
        } else {
            assert_true(arn_tape_addresses_add(&map, NULL, at, which));
        }
        in[which] = !in[which];
    }
    for (uint32_t k = 0; k < N; k++) {
        assert_int_equal(arn_tape_addresses_find(&map, places + k * 64), in[k] ? k : ARENAUT_NONE);
    }
    arn_tape_addresses_free(&map, NULL);
}
