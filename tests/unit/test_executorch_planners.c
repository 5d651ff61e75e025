/* The planners of ExecuTorch: their rules on small problems, and every offset that they were
 * seen to choose in real exports. Tests that answer to one of ExecuTorch's own name it in the
 * table of docs/executorch.md. */
#include "support/test.h"

#include <dirent.h>
#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/planner.h>

#include "support/corpus.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/oracle.h"
#include "support/problems.h"

static arenaut_plan *plan_with(const arenaut_problem *problem, const char *planner,
                               const char *reserve) {
    const arenaut_setting setting = {"reserve", reserve};
    const arenaut_plan_options options = {
        .planner = planner, .settings = &setting, .n_settings = reserve ? 1 : 0};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_answered(arenaut_plan_make(problem, &options, NULL, &plan, &err), plan, &err);
    assert_plan_accepted(problem, plan);
    return plan;
}

static void assert_lies_at(const arenaut_plan *plan, uint32_t buffer, uint64_t offset) {
    if (plan->offset[buffer] == offset) return;
    fail_msg("buffer %u lies at %llu, not at %llu", buffer,
             (unsigned long long)plan->offset[buffer], (unsigned long long)offset);
}

/* Frees the problem. */
static void assert_offsets(arenaut_problem *problem, const char *planner, const uint64_t *offsets) {
    arenaut_plan *plan = plan_with(problem, planner, NULL);
    for (uint32_t b = 0; b < problem->n_buffers; b++) assert_lies_at(plan, b, offsets[b]);
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
}
#define OFFSETS(...) \
    (const uint64_t[]) { __VA_ARGS__ }

/* ---- the rules ---- */

/* Three objects of equal size, made from the last buffer to the first:
 *
 *   32 | 0 0
 *   16 | 1 1
 *    0 | 2 2   */
TEST(equal_sizes_go_from_the_last_to_the_first) {
    const box boxes[] = {{16, 0, 2}, {16, 0, 2}, {16, 0, 2}};
    assert_offsets(problem_of(boxes, 3), "executorch-greedy", OFFSETS(32, 16, 0));
}

/*   48 | . 1    the second object
 *    0 | 0 2    buffer 0 has 48 bytes, and 2 has 16: its first bytes are free by then */
TEST(a_buffer_takes_the_start_of_the_first_object_that_is_free) {
    const box boxes[] = {{48, 0, 1}, {48, 0, 2}, {16, 1, 2}};
    assert_offsets(problem_of(boxes, 3), "executorch-greedy", OFFSETS(48, 0, 48));
}

/* Buffer 2 could go behind buffer 1, which leaves 32 bytes of the first object free, but
 * the second object is free altogether. */
TEST(a_free_object_wins_over_room_in_an_earlier_one) {
    const box boxes[] = {
        {64, 0, 1}, /* makes the first object */
        {48, 0, 1}, /* makes the second */
        {32, 1, 2}, /* at the start of the first */
        {16, 1, 2}, /* not behind it at 32: the second is free */
    };
    assert_offsets(problem_of(boxes, 4), "executorch-greedy", OFFSETS(0, 64, 0, 64));
}

/* The object of buffer 0 has a hole below buffer 2 once buffer 1 is gone. It stays empty:
 *
 *   64 | . . 3
 *   32 | 2 2 2    behind 1, with which it is alive
 *    0 | 1 . -    after 0                           */
TEST(a_hole_below_a_neighbour_stays_empty) {
    const box boxes[] = {
        {64, 0, 1}, /* makes the object */
        {32, 1, 2},
        {24, 1, 4}, /* at 32: behind buffer 1 */
        {16, 2, 4}, /* would fit at 0; behind buffer 2 there are 8 bytes: an object of its own */
    };
    assert_offsets(problem_of(boxes, 4), "executorch-greedy", OFFSETS(0, 0, 32, 64));
}

TEST(objects_lie_end_to_end_and_each_is_aligned) {
    arenaut_problem *p = new_problem();
    const arenaut_interval life = {0, 2};
    arenaut_buffer buffer = ARENAUT_BUFFER_INIT;
    buffer.lifetimes = &life;
    buffer.n_lifetimes = 1;
    buffer.size = 20;
    add_buffer(p, &buffer);
    buffer.size = 10;
    buffer.align = 16;
    add_buffer(p, &buffer);
    finish(p);
    assert_offsets(p, "executorch-greedy", OFFSETS(0, 32));
}

/* A gap in a buffer's life is no use to a planner that knows first and last use only. */
TEST(gaps_in_lifetimes_are_not_used) {
    arenaut_problem *p = new_problem();
    ADD_BUFFER(p, LIVES({0, 1}, {3, 4}), .size = 32);
    add_box(p, 16, 1, 3);
    finish(p);
    assert_offsets(p, "executorch-greedy", OFFSETS(0, 32));
}

TEST(naive_lays_buffers_end_to_end_in_their_order) {
    const box boxes[] = {{16, 0, 1}, {48, 1, 2}, {32, 2, 3}};
    assert_offsets(problem_of(boxes, 3), "executorch-naive", OFFSETS(0, 16, 64));
}

TEST(an_edge_keeps_two_out_of_one_object) {
    arenaut_problem *p = new_problem();
    arenaut_error err = {0};
    add_box(p, 32, 0, 1);
    add_box(p, 16, 1, 2);
    assert_ok(arenaut_problem_add_conflict(p, 0, 1, &err), err);
    finish(p);
    assert_offsets(p, "executorch-greedy", OFFSETS(0, 32));
}

/* ---- the reserve for the bodies of conditionals and loops ---- */

static const char *const both[] = {"executorch-naive", "executorch-greedy"};

TEST(the_reserve_keeps_the_bottom_free) {
    const box boxes[] = {{32, 0, 2}, {16, 0, 2}};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        arenaut_problem *p = problem_of(boxes, 2);
        arenaut_plan *plan = plan_with(p, both[i], "1040");
        assert_lies_at(plan, 0, 1040);
        assert_lies_at(plan, 1, 1072);
        assert_int_equal(plan->total, 1088);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

TEST(a_reserved_range_of_the_problem_does_the_same) {
    const arenaut_reserved range = {0, 0, 1040};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        arenaut_problem *p = new_problem();
        arenaut_error err = {0};
        add_box(p, 32, 0, 2);
        add_pool(p, "arena", ARENAUT_UNLIMITED, 1);
        assert_ok(arenaut_problem_add_reserved(p, &range, &err), err);
        finish(p);
        assert_offsets(p, both[i], OFFSETS(1040));
    }
}

TEST(a_reserve_that_is_no_number_is_named) {
    static const char *const bad[] = {"", "-1", "4K", "99999999999999999999"};
    const box boxes[] = {{32, 0, 2}};
    arenaut_problem *p = problem_of(boxes, 1);
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(bad); i++) {
        const arenaut_setting setting = {"reserve", bad[i / COUNT_OF(both)]};
        const arenaut_plan_options options = {
            .planner = both[i % COUNT_OF(both)], .settings = &setting, .n_settings = 1};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_int_equal(arenaut_plan_make(p, &options, NULL, &plan, &err), ARENAUT_BAD_ARGUMENT);
        assert_non_null(strstr(err.msg, "reserve"));
        assert_non_null(strstr(err.msg, both[i % COUNT_OF(both)]));
        assert_null(plan);
    }
    arenaut_problem_free(p);
}

/* A plan above a huge reserve has no number; that must not wrap to a small one. */
TEST(a_reserve_at_the_end_of_the_numbers_is_refused) {
    const box boxes[] = {{32, 0, 2}};
    const arenaut_setting setting = {"reserve", "9223372036854775800"};
    arenaut_problem *p = problem_of(boxes, 1);
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        const arenaut_plan_options options = {
            .planner = both[i], .settings = &setting, .n_settings = 1};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_int_equal(arenaut_plan_make(p, &options, NULL, &plan, &err), ARENAUT_NOT_FOUND);
    }
    arenaut_problem_free(p);
}

TEST(a_pool_that_is_too_small_is_refused) {
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        arenaut_problem *p = new_problem();
        add_pool(p, "arena", 100, 1);
        add_box(p, 60, 0, 1);
        add_box(p, 50, 0, 2); /* 110 bytes at step 0 are too much, and known to be */
        finish(p);
        arenaut_plan *plan = plan_with(p, both[i], NULL);
        assert_int_equal(plan->quality, ARENAUT_INFEASIBLE);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);

        p = new_problem();
        add_pool(p, "arena", 100, 1);
        add_box(p, 60, 0, 1);
        add_box(p, 50, 1, 3);
        add_box(p, 50, 2, 4); /* 100 bytes would do; objects of 60 and 50 do not */
        finish(p);
        const arenaut_plan_options options = {.planner = both[i]};
        arenaut_error err = {0};
        plan = NULL;
        assert_int_equal(arenaut_plan_make(p, &options, NULL, &plan, &err), ARENAUT_NOT_FOUND);
        arenaut_problem_free(p);
    }
}

/* ---- cases of ExecuTorch's own tests ---- */

/* a and c and e in memory 1, b and d in memory 3: the second memory is empty. */
static arenaut_problem *two_memories_of_three(void) {
    static const struct {
        box box;
        uint64_t pool;
    } values[] = {{{4, 0, 3}, 0}, {{4, 1, 4}, 2}, {{4, 2, 5}, 0}, {{4, 3, 5}, 2}, {{4, 4, 6}, 0}};
    arenaut_problem *p = new_problem();
    add_pool(p, "1", ARENAUT_UNLIMITED, 1);
    add_pool(p, "2", ARENAUT_UNLIMITED, 1);
    add_pool(p, "3", ARENAUT_UNLIMITED, 1);
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        ADD_BUFFER(p, .size = values[i].box.size, LIFE(values[i].box.first, values[i].box.end),
                   .pools = UINT64_C(1) << values[i].pool);
    }
    finish(p);
    return p;
}

TEST(each_memory_is_planned_by_itself) {
    static const uint64_t sizes[][3] = {{12, 0, 8}, {8, 0, 8}};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        arenaut_problem *p = two_memories_of_three();
        arenaut_plan *plan = plan_with(p, both[i], NULL);
        for (uint32_t k = 0; k < 3; k++) assert_int_equal(plan->arena[k], sizes[i][k]);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

/* How many pairs of buffers share a byte. */
static uint32_t count_reuse(const arenaut_problem *p, const arenaut_plan *plan) {
    uint32_t pairs = 0;
    for (uint32_t a = 0; a < p->n_buffers; a++) {
        for (uint32_t b = 0; b < a; b++) {
            pairs += plan->pool[a] == plan->pool[b] &&
                     plan->offset[a] < plan->offset[b] + p->size[b] &&
                     plan->offset[b] < plan->offset[a] + p->size[a];
        }
    }
    return pairs;
}

/* Twenty results in a row, each from the one before: naive shares nothing, greedy a lot. */
TEST(only_greedy_reuses_memory) {
    arenaut_problem *p = new_problem();
    for (int64_t i = 0; i < 20; i++) add_box(p, 16 << (i % 4), i, i + 2);
    finish(p);
    arenaut_plan *naive = plan_with(p, "executorch-naive", NULL);
    arenaut_plan *greedy = plan_with(p, "executorch-greedy", NULL);
    assert_int_equal(count_reuse(p, naive), 0);
    assert_true(count_reuse(p, greedy) > 20);
    assert_true(greedy->total < naive->total);
    arenaut_plan_free(naive);
    arenaut_plan_free(greedy);
    arenaut_problem_free(p);
}

/* A value that is defined as a part of another, and a part of that part. The whole lives as
 * long as any of its parts, so nothing else goes there in between. */
TEST(parts_lie_in_their_base_and_keep_it_alive) {
    const arenaut_interval early = {0, 2}, late = {4, 6};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        arenaut_problem *p = new_problem();
        arenaut_buffer buffer = ARENAUT_BUFFER_INIT;
        buffer.n_lifetimes = 1;
        buffer.lifetimes = &early;
        buffer.size = 16;
        add_buffer(p, &buffer);
        buffer.lifetimes = &late;
        buffer.size = 6;
        buffer.inside = arenaut_id(0);
        buffer.inside_delta = 8;
        add_buffer(p, &buffer);
        buffer.size = 2;
        buffer.inside = arenaut_id(1);
        buffer.inside_delta = 4;
        add_buffer(p, &buffer);
        add_box(p, 12, 4, 6);
        finish(p);
        arenaut_plan *plan = plan_with(p, both[i], NULL);
        assert_lies_at(plan, 1, plan->offset[0] + 8);
        assert_lies_at(plan, 2, plan->offset[0] + 12);
        assert_true(plan->offset[3] >= plan->offset[0] + 16 ||
                    plan->offset[3] + 12 <= plan->offset[0]);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

/* A chain of results that may each be written over the one before needs one place. */
TEST(results_in_place_share_one_object) {
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        arenaut_problem *p = new_problem();
        arenaut_buffer buffer = ARENAUT_BUFFER_INIT;
        buffer.n_lifetimes = 1;
        buffer.size = 64;
        for (int64_t k = 0; k < 4; k++) {
            const arenaut_interval life = {k, k + 2};
            buffer.lifetimes = &life;
            buffer.same_base = arenaut_id(k ? (uint32_t)k - 1 : ARENAUT_NONE);
            add_buffer(p, &buffer);
        }
        finish(p);
        assert_offsets(p, both[i], OFFSETS(0, 0, 0, 0));
    }
}

/* Without capacities to obey, several memories are one: everything goes to the fastest. */
TEST(a_buffer_goes_to_its_fastest_memory) {
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        arenaut_problem *p = new_problem();
        add_pool(p, "fast", ARENAUT_UNLIMITED, 1);
        add_pool(p, "slow", ARENAUT_UNLIMITED, 1);
        add_box(p, 32, 0, 2);
        add_box(p, 16, 0, 2);
        finish(p);
        arenaut_plan *plan = plan_with(p, both[i], NULL);
        assert_int_equal(plan->pool[0], 0);
        assert_int_equal(plan->pool[1], 0);
        assert_int_equal(plan->arena[1], 0);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

TEST(a_pinned_buffer_stays_and_the_rest_goes_above) {
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        arenaut_problem *p = new_problem();
        ADD_BUFFER(p, .size = 16, LIFE(0, 4), .fixed_offset = arenaut_at(32));
        add_box(p, 64, 0, 2);
        finish(p);
        assert_offsets(p, both[i], OFFSETS(32, 48));
    }
}

/* ---- observed behaviour ---- */

enum { MAX_COLUMNS = 32, MAX_ROWS = 2000 };

/* Cuts a line into columns at commas, in place; none of these files quotes anything. */
static size_t cut(char *line, char *columns[MAX_COLUMNS]) {
    size_t n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at && n < MAX_COLUMNS;) {
        columns[n++] = at;
        at = strchr(at, ',');
        if (at) *at++ = '\0';
    }
    return n;
}

typedef struct record {
    uint64_t size, greedy, naive;
    int64_t first, end;
} record;

/* The rows of one file, by the names of its columns. */
static uint32_t read_record(const char *path, record *rows) {
    static const char *const wanted[] = {"size", "greedy_offset", "naive_offset", "lower", "upper"};
    char line[4096], *columns[MAX_COLUMNS];
    size_t place[COUNT_OF(wanted)] = {0};
    uint32_t n = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    const size_t n_columns = cut(line, columns);
    for (size_t w = 0; w < COUNT_OF(wanted); w++) {
        while (place[w] < n_columns && strcmp(columns[place[w]], wanted[w]) != 0) place[w]++;
        assert_true(place[w] < n_columns);
    }
    while (n < MAX_ROWS && fgets(line, sizeof line, file)) {
        uint64_t value[COUNT_OF(wanted)];
        assert_int_equal(cut(line, columns), n_columns);
        for (size_t w = 0; w < COUNT_OF(wanted); w++) {
            value[w] = strtoull(columns[place[w]], NULL, 10);
        }
        const record row = {value[0], value[1], value[2], (int64_t)value[3], (int64_t)value[4]};
        rows[n++] = row;
    }
    fclose(file);
    return n;
}

/* The lowest value lies above the reserve. */
static void hold_to_record(const char *name, const char *planner, const record *rows, uint32_t n,
                           bool greedy) {
    arenaut_problem *p = new_problem();
    uint64_t reserve = UINT64_MAX;
    char text[24];
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t at = greedy ? rows[i].greedy : rows[i].naive;
        add_box(p, rows[i].size, rows[i].first, rows[i].end);
        if (at < reserve) reserve = at;
    }
    finish(p);
    snprintf(text, sizeof text, "%llu", (unsigned long long)reserve);
    arenaut_plan *plan = plan_with(p, planner, text);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t at = greedy ? rows[i].greedy : rows[i].naive;
        if (rows[i].size == 0 || plan->offset[i] == at) continue;
        fail_msg("%s: %s puts buffer %u at %llu, ExecuTorch at %llu", name, planner, i,
                 (unsigned long long)plan->offset[i], (unsigned long long)at);
    }
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(every_offset_is_the_one_that_executorch_chose) {
    char path[1024];
    uint32_t files = 0;
    corpus_path_or_skip(path, "pte_csv/cnn.csv");
    snprintf(path, sizeof path, "%s/pte_csv", corpus_folder());
    DIR *folder = opendir(path);
    record *rows = malloc(MAX_ROWS * sizeof *rows);
    assert_non_null(folder);
    assert_non_null(rows);
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (!strstr(entry->d_name, ".csv")) continue;
        snprintf(path, sizeof path, "%s/pte_csv/%s", corpus_folder(), entry->d_name);
        const uint32_t n = read_record(path, rows);
        hold_to_record(entry->d_name, "executorch-greedy", rows, n, true);
        hold_to_record(entry->d_name, "executorch-naive", rows, n, false);
        files++;
    }
    free(rows);
    closedir(folder);
    assert_true(files >= 38);
}

/* ---- bad days ---- */

static arenaut_verdict interrupt(void *context, const arenaut_progress *progress) {
    (void)context;
    (void)progress;
    return ARENAUT_INTERRUPTED;
}

/* Half a plan is none, but an interrupt need not be held back until all of it is made. */
TEST(an_interrupt_leaves_no_plan) {
    arenaut_problem *p = new_problem();
    for (int64_t i = 0; i < 20000; i++) add_box(p, 16, i % 50, i % 50 + 2);
    finish(p);
    const arenaut_plan_options options = {.planner = "executorch-greedy", .progress = interrupt};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_plan_make(p, &options, NULL, &plan, &err), ARENAUT_STOPPED);
    assert_null(plan);
    arenaut_problem_free(p);
}

static arenaut_status attempt(void *context, const arenaut_allocator *allocator) {
    const arenaut_plan_options options = {.planner = *(const char *const *)context};
    const box boxes[] = {{48, 0, 2}, {48, 1, 3}, {16, 2, 4}, {16, 3, 5}};
    arenaut_problem *p = problem_of(boxes, COUNT_OF(boxes));
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(p, &options, allocator, &plan, &err);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
    return st;
}

TEST(both_survive_every_allocation_failure) {
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        const char *name = both[i];
        survives_every_allocation_failure(attempt, &name);
    }
}
