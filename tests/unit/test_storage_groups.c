/* Static Runtime's storage groups as a planner: its own cases, and the groups that the runtime
 * part of the library assigns to the same lives. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/runtime_iteration.h>

#include "support/memory_source.h"
#include "support/oracle.h"
#include "support/plans.h"
#include "support/problems.h"

/* Steps are closed there and half open here. b [0,3]  c [1,2]  d [2,3]  e [3,4] */
TEST(a_value_takes_the_group_that_became_free_last) {
    const box boxes[] = {{8, 0, 4}, {8, 1, 3}, {8, 2, 4}, {8, 3, 5}};
    assert_offsets(problem_of(boxes, COUNT_OF(boxes)), "storage-groups", OFFSETS(0, 8, 16, 8));
}

TEST(a_group_is_as_large_as_its_largest_member) {
    const box boxes[] = {{8, 0, 2}, {8, 1, 3}, {64, 2, 4}, {1, 3, 5}};
    assert_offsets(problem_of(boxes, COUNT_OF(boxes)), "storage-groups", OFFSETS(0, 64, 0, 64));
}

/* Results of one op without readers are alive together. */
TEST(results_that_nobody_reads_are_kept_apart) {
    const box boxes[] = {{8, 0, 2}, {8, 2, 3}, {8, 2, 3}};
    assert_offsets(problem_of(boxes, COUNT_OF(boxes)), "storage-groups", OFFSETS(0, 0, 8));
}

TEST(unmanaged_classes_have_memory_of_their_own) {
    const arenaut_class classes[] = {ARENAUT_INPUT, ARENAUT_OUTPUT, ARENAUT_STATE};
    for (size_t k = 0; k < COUNT_OF(classes); k++) {
        arenaut_problem *p = new_problem();
        const arenaut_interval first = {0, 1};
        arenaut_buffer buffer = {.size = 8, .lifetimes = &first, .n_lifetimes = 1};
        buffer.cls = classes[k];
        add_buffer(p, &buffer);
        add_box(p, 8, 1, 2);
        add_box(p, 8, 2, 3);
        finish(p);
        assert_offsets(p, "storage-groups", OFFSETS(0, 8, 8));
    }
}

TEST(each_pool_has_groups_of_its_own) {
    arenaut_problem *p = new_problem();
    add_pool(p, "host", ARENAUT_UNLIMITED, 1);
    add_pool(p, "device", ARENAUT_UNLIMITED, 1);
    for (int64_t i = 0; i < 4; i++) {
        const arenaut_interval life = {i, i + 1};
        arenaut_buffer buffer = {.size = 8, .lifetimes = &life, .n_lifetimes = 1};
        buffer.pools = UINT64_C(1) << i % 2;
        add_buffer(p, &buffer);
    }
    finish(p);
    assert_offsets(p, "storage-groups", OFFSETS(0, 0, 0, 0));
}

TEST(unsupported_features_are_refused_by_name) {
    arenaut_problem *p = new_problem();
    arenaut_error err;
    add_box(p, 8, 0, 1);
    add_box(p, 8, 1, 2);
    assert_ok(arenaut_problem_add_conflict(p, 0, 1, &err), err);
    finish(p);
    const arenaut_plan_options options = {.planner = "storage-groups"};
    arenaut_plan *plan = NULL;
    assert_int_equal(arenaut_plan_make(p, &options, NULL, &plan, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "extra conflict edges"));
    arenaut_problem_free(p);
}

/* ---- the runtime's ---- */

enum { MOST = 40 };

/* Where an iteration lays values with these lives; returns its arena. */
static size_t lay_in_iteration(const box *boxes, uint32_t n, size_t *offset) {
    arenaut_value value[MOST] = {{0}};
    memory_source memory = {.left = SIZE_MAX};
    arenaut_iteration_config config = {.value = value,
                                       .n_values = n,
                                       .options = arenaut_iteration_defaults(),
                                       .source = counting_source(&memory)};
    arenaut_iteration *it;
    arenaut_fault fault;
    config.options.grouping = ARENAUT_BY_GROUPS;
    config.options.manage_outputs = false;
    for (uint32_t v = 0; v < n; v++) {
        value[v].kind = ARENAUT_VALUE_MANAGED;
        value[v].first = (uint32_t)boxes[v].first;
        value[v].last = (uint32_t)boxes[v].end - 1;
        value[v].storage = value[v].over = ARENAUT_NO_VALUE;
    }
    const size_t bytes = arenaut_iteration_bytes(n);
    void *room = malloc(bytes);
    assert_non_null(room);
    assert_int_equal(arenaut_iteration_init(room, bytes, &config, &it, &fault), ARENAUT_OK);
    for (uint32_t v = 0; v < n; v++) {
        assert_int_equal(arenaut_iteration_learn(it, v, (size_t)boxes[v].size, &fault), ARENAUT_OK);
    }
    assert_int_equal(arenaut_iteration_plan(it, &fault), ARENAUT_OK);
    for (uint32_t v = 0; v < n; v++) offset[v] = arenaut_iteration_offset(it, v);
    const size_t arena = arenaut_iteration_count(it).managed_bytes;
    arenaut_iteration_close(it, &fault);
    free(room);
    return arena;
}

TEST(groups_are_those_of_the_runtime) {
    rng r = {41};
    for (uint32_t round = 0; round < 1000; round++) {
        box boxes[MOST];
        size_t offset[MOST];
        const uint32_t n = 1 + rng_below(&r, MOST), steps = 1 + rng_below(&r, 30);
        arenaut_problem *p = new_problem();
        for (uint32_t v = 0; v < n; v++) {
            const int64_t first = rng_below(&r, steps);
            boxes[v] =
                (box){64 * (1 + (uint64_t)rng_below(&r, 50)), first, first + 1 + rng_below(&r, 8)};
            add_box(p, boxes[v].size, boxes[v].first, boxes[v].end);
        }
        finish(p);
        const size_t arena = lay_in_iteration(boxes, n, offset);
        arenaut_plan *plan = plan_by(p, "storage-groups");
        assert_int_equal(plan->total, arena);
        for (uint32_t v = 0; v < n; v++) assert_int_equal(plan->offset[v], offset[v]);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}
