/* Memory in whole blocks: TVM Relay's planner, held to its published behaviour and to an
 * independent model of it on real graphs; and the planner that does better, held to a search
 * through all packings. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/planner.h>

#include "support/corpus.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/oracle.h"
#include "support/plans.h"
#include "support/problems.h"

static arenaut_status try_plan(const arenaut_problem *problem, const char *planner,
                               const char *range, const arenaut_allocator *allocator,
                               arenaut_plan **plan, arenaut_error *err) {
    const arenaut_setting setting = {"match_range", range};
    const arenaut_plan_options options = {
        .planner = planner, .settings = &setting, .n_settings = range ? 1 : 0};
    return arenaut_plan_make(problem, &options, allocator, plan, err);
}

static arenaut_plan *plan_with(const arenaut_problem *problem, const char *planner,
                               const char *range) {
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_answered(try_plan(problem, planner, range, NULL, &plan, &err), plan, &err);
    assert_plan_accepted(problem, plan);
    return plan;
}

static void assert_refused(const arenaut_problem *problem, const char *planner, const char *range,
                           arenaut_status status, const char *message) {
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_int_equal(try_plan(problem, planner, range, NULL, &plan, &err), status);
    assert_string_equal(err.msg, message);
    assert_null(plan);
}

/* Frees the problem. */
static void assert_token_offsets(arenaut_problem *problem, const char *range,
                                 const uint64_t *offsets) {
    arenaut_plan *plan = plan_with(problem, "tvm-tokens", range);
    assert_plan_lies_at(plan, offsets);
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
}

/* ---- real graphs ---- */

/* Sums of blocks as ten-thousandths of the largest load, from a model in another language;
 * sizes are rounded up to 64 bytes. A range of 1 means blocks of exactly the size. */
static const struct {
    const char *name;
    uint32_t n;
    uint64_t load;
    uint32_t tokens, same_size;
} graphs[] = {
    {"mobilenetv2", 98, 9633792, 12440, 25871},
    {"resnet50", 120, 9633792, 10208, 19384},
    {"efficientnet_b0", 237, 14450688, 11761, 27463},
    {"densenet121", 366, 8429568, 26672, 89052},
    {"unet32", 48, 8388608, 12188, 14766},
    {"yolo_csp", 199, 4915200, 14375, 32520},
    {"hrnet_w18_small", 223, 6422528, 14766, 25535},
    {"nasnetalarge", 877, 29010368, 18990, 45848},
    {"pnasnet5large", 654, 38986880, 13848, 40113},
    {"mixnet_s", 409, 9633792, 14298, 44731},
    {"res2net50", 292, 9633792, 13258, 32766},
    {"segformer_b0", 363, 33554432, 10205, 13828},
    {"whisper_enc", 130, 112608000, 10818, 13069},
    {"t5_small_enc", 264, 2883712, 13699, 20122},
    {"ppocr_det", 329, 9830400, 15645, 33297},
    {"ddddocr_det", 275, 12460032, 12681, 23123},
    {"magika_v3", 83, 3121216, 13455, 23536},
    {"light_densenet121", 667, 8429568, 11622, 122155},
    {"light_shufflenet", 169, 3110912, 13324, 27802},
    {"light_resnet50", 174, 9633792, 10213, 19388},
    {"light_inception_v2", 369, 6422528, 12204, 33333},
    {"bert_base", 460, 3604608, 14242, 19351},
    {"vit_tiny", 369, 1361664, 14538, 30170},
    {"gpt2_kv", 480, 793088, 10736, 11099},
    {"sd_unet", 1471, 68420608, 10800, 13644},
    {"ppocr_rec", 411, 2949120, 11349, 41892},
};

static uint64_t assert_ratio(const arenaut_problem *problem, const char *name, const char *range,
                             uint64_t load, uint32_t expected) {
    arenaut_plan *plan = plan_with(problem, "tvm-tokens", range);
    const uint64_t total = plan->total, ratio = (total * 10000 + load / 2) / load;
    arenaut_plan_free(plan);
    if (ratio != expected) {
        fail_msg("%s with range %s needs %llu bytes, %llu ten-thousandths of the load, not %u",
                 name, range ? range : "16", (unsigned long long)total, (unsigned long long)ratio,
                 expected);
    }
    return total;
}

TEST(tokens_need_on_real_graphs_what_a_model_of_them_does) {
    char path[1024], file[256];
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        snprintf(file, sizeof file, "onnx_csv/%s.alias.csv", graphs[i].name);
        corpus_path_or_skip(path, file);
        arenaut_problem *p = rounded_problem(path, ARENAUT_PROBLEM_TOKENS);
        assert_int_equal(p->n_buffers, graphs[i].n);
        assert_ratio(p, graphs[i].name, NULL, graphs[i].load, graphs[i].tokens);
        assert_ratio(p, graphs[i].name, "1", graphs[i].load, graphs[i].same_size);
        arenaut_problem_free(p);
    }
}

TEST(shared_objects_need_less_on_real_graphs_than_tokens) {
    static const char *const names[] = {"mobilenetv2", "densenet121", "yolo_csp", "bert_base"};
    char path[1024], file[256];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(file, sizeof file, "onnx_csv/%s.alias.csv", names[i]);
        corpus_path_or_skip(path, file);
        arenaut_problem *p = rounded_problem(path, ARENAUT_PROBLEM_TOKENS);
        arenaut_plan *tokens = plan_with(p, "tvm-tokens", NULL), *objects = NULL;
        const arenaut_plan_options options = {.planner = "shared-objects", .effort = 100000};
        arenaut_error err = {0};
        assert_ok(arenaut_plan_make(p, &options, NULL, &objects, &err), err);
        assert_plan_accepted(p, objects);
        assert_true(objects->total < tokens->total);
        assert_true(objects->total_bound <= objects->total);
        arenaut_plan_free(tokens);
        arenaut_plan_free(objects);
        arenaut_problem_free(p);
    }
}

/* ---- the rule of tokens, in small pictures: block by block from the bottom ---- */

/* 2 would fit into either; the block of 12 is the smallest that is large enough. */
TEST(a_request_looks_upward_first) {
    const box boxes[] = {{8, 0, 1}, {12, 0, 1}, {10, 1, 2}};
    assert_token_offsets(problem_of(boxes, 3), NULL, OFFSETS(0, 8, 8));
}

/* Nothing is large enough, and the largest of the others grows. */
TEST(then_it_looks_downward_and_the_block_grows) {
    const box boxes[] = {{6, 0, 1}, {8, 0, 1}, {10, 1, 2}, {1, 0, 2}};
    assert_token_offsets(problem_of(boxes, 4), NULL, OFFSETS(0, 6, 6, 16));
}

TEST(sixteen_times_the_size_is_still_in_range) {
    const box in_range[] = {{160, 0, 1}, {10, 1, 2}}, past_it[] = {{161, 0, 1}, {10, 1, 2}};
    assert_token_offsets(problem_of(in_range, 2), NULL, OFFSETS(0, 0));
    assert_token_offsets(problem_of(past_it, 2), NULL, OFFSETS(0, 161));
}

/* 175 / 16 is 10, so 10 bytes will do; 176 / 16 is 11. */
TEST(a_sixteenth_is_rounded_down) {
    const box in_range[] = {{10, 0, 1}, {175, 1, 2}}, past_it[] = {{10, 0, 1}, {176, 1, 2}};
    assert_token_offsets(problem_of(in_range, 2), NULL, OFFSETS(0, 0));
    assert_token_offsets(problem_of(past_it, 2), NULL, OFFSETS(0, 10));
}

/* 1 becomes free before 0 does. */
TEST(of_equal_blocks_the_first_one_that_became_free_is_taken) {
    const box boxes[] = {{8, 0, 4}, {8, 0, 3}, {8, 4, 5}, {8, 4, 5}};
    assert_token_offsets(problem_of(boxes, 4), NULL, OFFSETS(0, 8, 8, 0));
}

/* A block counts with the size that it has grown to, not with the size of its last buffer. */
TEST(a_block_keeps_the_size_that_it_has_grown_to) {
    const box boxes[] = {{64, 0, 1}, {8, 1, 2}, {64, 2, 3}};
    assert_token_offsets(problem_of(boxes, 3), NULL, OFFSETS(0, 0, 0));
}

/* Results of one op are all requested before any is let go; the operand is still there. */
TEST(unread_results_are_free_for_the_next_op) {
    const box boxes[] = {{8, 0, 2}, {8, 1, 2}, {8, 1, 3}, {8, 2, 3}};
    assert_token_offsets(problem_of(boxes, 4), NULL, OFFSETS(0, 8, 16, 8));
}

TEST(a_range_of_zero_never_reuses) {
    const box boxes[] = {{8, 0, 1}, {8, 1, 2}, {8, 2, 3}};
    assert_token_offsets(problem_of(boxes, 3), "0", OFFSETS(0, 8, 16));
}

TEST(a_range_of_one_reuses_equal_sizes_only) {
    const box boxes[] = {{8, 0, 1}, {9, 1, 2}, {8, 2, 3}};
    assert_token_offsets(problem_of(boxes, 3), "1", OFFSETS(0, 8, 0));
}

TEST(blocks_stay_on_their_device) {
    arenaut_problem *p = new_problem();
    const arenaut_pool pools[] = {{.name = "gpu0", .device = {2, 0}},
                                  {.name = "gpu1", .device = {2, 1}}};
    arenaut_error err = {0};
    for (uint32_t k = 0; k < 2; k++) {
        assert_ok(arenaut_problem_add_pool(p, &pools[k], NULL, &err), err);
    }
    const struct {
        uint64_t pool, size;
        int64_t first;
    } buffers[] = {{0, 8, 0}, {1, 8, 1}, {0, 8, 1}, {1, 8, 2}};
    for (uint32_t b = 0; b < COUNT_OF(buffers); b++) {
        ADD_BUFFER(p, .size = buffers[b].size, LIFE(buffers[b].first, buffers[b].first + 1),
                   .pools = UINT64_C(1) << buffers[b].pool);
    }
    finish(p);
    arenaut_plan *plan = plan_with(p, "tvm-tokens", NULL);
    assert_int_equal(plan->total, 16);
    assert_int_equal(plan->arena[0], 8);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* Neither takes a block that is free, nor is ever free itself. */
TEST(arguments_and_state_are_never_reallocated) {
    static const arenaut_class kept[] = {ARENAUT_INPUT, ARENAUT_STATE};
    for (size_t k = 0; k < COUNT_OF(kept); k++) {
        arenaut_problem *p = new_problem();
        for (int64_t b = 0; b < 3; b++) {
            ADD_BUFFER(p, .size = 8, LIFE(b, b + 1),
                       .cls = b == 1 ? kept[k] : ARENAUT_INTERMEDIATE);
        }
        finish(p);
        assert_token_offsets(p, NULL, OFFSETS(0, 8, 0));
    }
}

/* ---- refusals ---- */

TEST(branches_and_symbolic_sizes_are_refused) {
    const box boxes[] = {{8, 0, 1}};
    arenaut_problem *p = problem_of(boxes, 1);
    p->traits = ARENAUT_PROBLEM_BRANCHES;
    assert_refused(p, "tvm-tokens", NULL, ARENAUT_REFUSED,
                   "planner 'tvm-tokens' does not plan programs with branches; 'auto' does");
    p->traits = ARENAUT_PROBLEM_SYMBOLIC;
    assert_refused(p, "tvm-tokens", NULL, ARENAUT_REFUSED,
                   "planner 'tvm-tokens' does not plan symbolic sizes; 'auto' does");
    p->traits = ARENAUT_PROBLEM_SYMBOLIC | ARENAUT_PROBLEM_BRANCHES;
    arenaut_plan_free(plan_with(p, "auto", NULL));
    arenaut_problem_free(p);
}

TEST(devices_are_given_for_all_or_for_none) {
    arenaut_problem *p = new_problem();
    const arenaut_pool pools[] = {{.name = "none"}, {.name = "gpu", .device = {2, 0}}};
    arenaut_error err = {0};
    for (uint32_t k = 0; k < 2; k++) {
        assert_ok(arenaut_problem_add_pool(p, &pools[k], NULL, &err), err);
    }
    for (uint64_t b = 0; b < 5; b++) {
        ADD_BUFFER(p, .size = 8, LIFE(0, 1), .pools = b < 2 ? 2 : 1);
    }
    finish(p);
    assert_refused(p, "tvm-tokens", NULL, ARENAUT_REFUSED,
                   "planner 'tvm-tokens': 2 of 5 values have a device and 3 have none (type 0); it "
                   "wants one for all of them or for none");
    arenaut_problem_free(p);
}

TEST(wrong_settings_are_named) {
    const box boxes[] = {{8, 0, 1}};
    arenaut_problem *p = problem_of(boxes, 1);
    static const char *const wrong[] = {"", "x", "-1", "1 ", "99999999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        char message[160];
        snprintf(message, sizeof message,
                 "planner 'tvm-tokens': setting match_range cannot be '%s'; it can be: "
                 "match_range=16 (0: never reuse)",
                 wrong[i]);
        assert_refused(p, "tvm-tokens", wrong[i], ARENAUT_BAD_ARGUMENT, message);
    }
    arenaut_plan_free(plan_with(p, "tvm-tokens", "9223372036854775807"));
    arenaut_problem_free(p);
}

/* ---- shared objects ---- */

static bool must_differ(const arenaut_problem *p, uint32_t a, uint32_t b) {
    if (arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a) return false;
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const arenaut_conflict c = p->conflict[i];
        if ((c.a == a && c.b == b) || (c.a == b && c.b == a)) return true;
    }
    const arenaut_interval *x = arenaut_problem_lifetimes(p, a);
    const arenaut_interval *y = arenaut_problem_lifetimes(p, b);
    for (uint32_t i = 0; i < arenaut_problem_lifetime_count(p, a); i++) {
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(p, b); k++) {
            if (x[i].first < y[k].end && y[k].first < x[i].end) return true;
        }
    }
    return false;
}

/* The least sum of blocks, by trying everything: buffers b and later, the first ones in blocks. */
static uint64_t least_sum(const arenaut_problem *p, uint32_t b, uint32_t *block,
                          uint32_t n_blocks) {
    if (b == p->n_buffers) {
        uint64_t sum = 0;
        for (uint32_t k = 0; k < n_blocks; k++) {
            uint64_t largest = 0;
            for (uint32_t i = 0; i < b; i++) {
                if (block[i] == k && p->size[i] > largest) largest = p->size[i];
            }
            sum += largest;
        }
        return sum;
    }
    uint64_t least = UINT64_MAX;
    block[b] = ARENAUT_NONE;
    if (!arenaut_problem_needs_memory(p, b)) return least_sum(p, b + 1, block, n_blocks);
    for (uint32_t k = 0; k <= n_blocks; k++) {
        bool free = true;
        for (uint32_t i = 0; i < b; i++) free = free && !(block[i] == k && must_differ(p, i, b));
        if (!free) continue;
        block[b] = k;
        const uint64_t sum = least_sum(p, b + 1, block, n_blocks + (k == n_blocks));
        if (sum < least) least = sum;
    }
    return least;
}

TEST(shared_objects_are_as_small_as_any_search_finds) {
    rng r = {5};
    const problem_shape shape = {
        7, 9, 10, ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_CONFLICTS | ARENAUT_FEATURE_SAME_BASE};
    for (uint32_t round = 0; round < 600; round++) {
        arenaut_problem *p = random_problem(&r, &shape);
        uint32_t block[8];
        p->traits = ARENAUT_PROBLEM_TOKENS;
        const uint64_t least = least_sum(p, 0, block, 0);
        static const char *const planners[] = {"shared-objects", "auto"};
        for (size_t i = 0; i < COUNT_OF(planners); i++) {
            arenaut_plan *plan = plan_with(p, planners[i], NULL);
            assert_int_equal(plan->total, least);
            assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
            assert_int_equal(plan->total_bound, least);
            assert_string_equal(plan->planner, "shared-objects");
            arenaut_plan_free(plan);
        }
        arenaut_problem_free(p);
    }
}

/* ---- more buffers than have a matrix of conflicts ---- */

/* From large to small, into the first block in which nothing is alive then: the sum. */
static uint64_t first_fit(const arenaut_problem *p, const uint32_t *by_size) {
    uint32_t *block = calloc(p->n_buffers, sizeof *block), n_blocks = 0;
    uint64_t sum = 0;
    assert_non_null(block);
    for (uint32_t i = 0; i < p->n_buffers; i++) {
        bool *taken = calloc(n_blocks + 1, sizeof *taken);
        assert_non_null(taken);
        for (uint32_t k = 0; k < i; k++)
            if (must_differ(p, by_size[k], by_size[i])) taken[block[by_size[k]]] = true;
        uint32_t k = 0;
        while (k < n_blocks && taken[k]) k++;
        if (k == n_blocks) {
            n_blocks++;
            sum += p->size[by_size[i]];
        }
        block[by_size[i]] = k;
        free(taken);
    }
    free(block);
    return sum;
}

/* Sizes fall with the number, so that the order by size is that of the buffers; some may take over
 * the memory of the one before when it dies. */
static arenaut_problem *many_in_tokens(uint32_t n) {
    rng r = {7};
    arenaut_problem *p = new_problem();
    int64_t dies = 0;
    for (uint32_t b = 0; b < n; b++) {
        const bool heir = b > 0 && rng_below(&r, 8) == 0;
        const int64_t first = heir ? dies - 1 : (int64_t)rng_below(&r, n / 4);
        const int64_t length = 1 + (int64_t)rng_below(&r, 12);
        dies = first + length;
        ADD_BUFFER(p, .size = 4 * (uint64_t)(n - b), LIFE(first, first + length),
                   .same_base = heir ? arenaut_id(b - 1) : (arenaut_optional_id){0});
    }
    p->traits = ARENAUT_PROBLEM_TOKENS;
    finish(p);
    return p;
}

TEST(many_buffers_need_no_more_than_by_first_fit_and_obey_the_effort) {
    enum { MANY = 8192 + 808 };
    arenaut_problem *p = many_in_tokens(MANY);
    uint32_t *by_size = malloc(MANY * sizeof *by_size);
    assert_non_null(by_size);
    for (uint32_t b = 0; b < MANY; b++) by_size[b] = b;
    uint64_t most = first_fit(p, by_size);
    for (uint64_t effort = 1; effort <= 10000000; effort *= 1000) {
        const arenaut_plan_options options = {.planner = "auto", .effort = effort};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_ok(arenaut_plan_make(p, &options, NULL, &plan, &err), err);
        assert_plan_accepted(p, plan);
        assert_string_equal(plan->planner, "shared-objects");
        assert_true(plan->total <= most);
        assert_true(plan->total_bound <= plan->total);
        assert_true(plan->total_bound > plan->total / 2);
        most = plan->total;
        arenaut_plan_free(plan);
    }
    assert_true(most < first_fit(p, by_size));
    free(by_size);
    arenaut_problem_free(p);
}

/* Each step's buffers need blocks as large as theirs in order of size: 30 + 20 + 5 at the worst
 * of each rank, although no step has more than 45 bytes alive. */
TEST(the_bound_counts_the_largest_of_each_rank) {
    const box boxes[] = {{30, 0, 1}, {10, 0, 1}, {5, 0, 1}, {20, 1, 2}, {20, 1, 2}};
    arenaut_problem *p = problem_of(boxes, 5);
    arenaut_plan *plan = plan_with(p, "shared-objects", NULL);
    assert_int_equal(plan->total, 55);
    assert_int_equal(plan->total_bound, 45); /* offsets could do with that */
    assert_int_equal(plan->quality, ARENAUT_FEASIBLE);
    arenaut_plan_free(plan);
    p->traits = ARENAUT_PROBLEM_TOKENS;
    plan = plan_with(p, "shared-objects", NULL);
    assert_int_equal(plan->total_bound, 55);
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(blocks_that_do_not_fit_are_no_plan) {
    const box boxes[] = {{8, 0, 1}, {8, 0, 1}};
    static const char *const planners[] = {"tvm-tokens", "shared-objects", "auto"};
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_problem *p = new_problem();
        add_pool(p, "small", 15, 1);
        add_box(p, 8, 0, 1);
        add_box(p, 6, 0, 1);
        add_box(p, 5, 1, 2);
        add_box(p, 9, 1, 2);
        p->traits = ARENAUT_PROBLEM_TOKENS;
        finish(p);
        arenaut_plan *plan = plan_with(p, planners[i], NULL);
        assert_int_equal(plan->total, 15);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
    arenaut_problem *p = problem_of(boxes, 2);
    p->pool[0].capacity = 15;
    p->traits = ARENAUT_PROBLEM_TOKENS;
    arenaut_plan *plan = plan_with(p, "auto", NULL);
    assert_int_equal(plan->quality, ARENAUT_INFEASIBLE);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* ---- rights to the same base ---- */

/* A problem in tokens of buffers in a row, each with the right to its base's place. */
static arenaut_problem *problem_in_place(const box *boxes, const uint32_t *base, size_t n) {
    arenaut_problem *p = new_problem();
    for (size_t i = 0; i < n; i++) {
        ADD_BUFFER(p, .size = boxes[i].size, LIFE(boxes[i].first, boxes[i].end),
                   .same_base = arenaut_id(base[i]));
    }
    p->traits = ARENAUT_PROBLEM_TOKENS;
    finish(p);
    return p;
}

/* Both find `bytes`, and know that there is nothing less. Frees the problem. */
static void assert_least(arenaut_problem *p, uint64_t bytes) {
    static const char *const planners[] = {"shared-objects", "auto"};
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_with(p, planners[i], NULL);
        assert_int_equal(plan->total, bytes);
        assert_int_equal(plan->total_bound, bytes);
        assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
        arenaut_plan_free(plan);
    }
    arenaut_problem_free(p);
}

TEST(a_result_may_share_its_operands_token) {
    const box equal[] = {{3, 2, 5}, {3, 4, 5}}, larger[] = {{4, 1, 6}, {5, 5, 6}};
    const uint32_t base[] = {ARENAUT_NONE, 0};
    assert_least(problem_in_place(equal, base, 2), 3);
    assert_least(problem_in_place(larger, base, 2), 5);
}

/* x, relu in place of x, relu in place of that: never two blocks of 400. */
TEST(a_chain_of_results_is_one_token) {
    const box boxes[] = {{16, 0, 2}, {400, 1, 3}, {400, 2, 4}, {400, 3, 5}, {16, 4, 6}};
    const uint32_t base[] = {ARENAUT_NONE, ARENAUT_NONE, 1, 2, ARENAUT_NONE};
    assert_least(problem_in_place(boxes, base, 5), 416);
}

/* At one step all three are alive: a right is about two, so the ends of the chain stay apart. */
TEST(a_right_is_not_handed_on) {
    const box chain[] = {{7, 0, 2}, {7, 1, 2}, {7, 1, 3}},
              star[] = {{7, 0, 2}, {6, 1, 3}, {5, 1, 3}};
    const uint32_t in_chain[] = {ARENAUT_NONE, 0, 1}, in_star[] = {ARENAUT_NONE, 0, 0};
    assert_least(problem_in_place(chain, in_chain, 3), 14);
    assert_least(problem_in_place(star, in_star, 3), 12);
}

/* The two pools are one buffer's choice: 4 bytes in the first, which is aligned, or 3 in the
 * second, which is the slower one: the fast one is filled first, and its 4 bytes are no bound of
 * plans that do otherwise. */
TEST(the_bound_holds_for_every_choice_of_pools) {
    arenaut_problem *p = new_problem();
    add_pool(p, "aligned", ARENAUT_UNLIMITED, 4);
    add_pool(p, "plain", ARENAUT_UNLIMITED, 1);
    add_box(p, 3, 0, 3);
    p->traits = ARENAUT_PROBLEM_TOKENS;
    finish(p);
    static const char *const planners[] = {"shared-objects", "auto", "tvm-tokens", "naive"};
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_with(p, planners[i], NULL);
        const uint64_t least = plan->spill ? 3 : 4;
        assert_true(plan->total_bound <= least);
        assert_true(!plan->spill || plan->quality == ARENAUT_FEASIBLE);
        if (i == 1) assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
        arenaut_plan_free(plan);
    }
    arenaut_problem_free(p);
}

/* ---- the constraint itself ---- */

TEST(planners_of_offsets_refuse_whole_tokens) {
    const box boxes[] = {{8, 0, 1}};
    arenaut_problem *p = problem_of(boxes, 1);
    p->traits = ARENAUT_PROBLEM_TOKENS;
    assert_refused(p, "best-fit", NULL, ARENAUT_REFUSED,
                   "planner 'best-fit' does not handle features of this problem: memory in whole "
                   "tokens; 'auto' handles all");
    arenaut_plan_free(plan_with(p, "naive", NULL));
    arenaut_problem_free(p);
}

static arenaut_rule rule_broken(const arenaut_problem *p, uint64_t first, uint64_t second,
                                uint64_t third) {
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    const uint64_t at[] = {first, second, third};
    assert_ok(arenaut_plan_new(3, 1, NULL, &plan, &err), err);
    for (uint32_t b = 0; b < 3; b++) {
        plan->pool[b] = 0;
        plan->offset[b] = at[b];
    }
    assert_ok(arenaut_plan_measure(plan, p, &err), err);
    const arenaut_status st = arenaut_check_plan(p, plan, NULL, &finding, &err);
    assert_true(st == ARENAUT_OK || st == ARENAUT_REJECTED);
    arenaut_plan_free(plan);
    return finding.rule;
}

/* All at different times, so that nothing but tokens is in the way. */
TEST(the_checker_finds_parts_of_tokens) {
    const box boxes[] = {{4, 0, 1}, {8, 1, 2}, {4, 2, 3}};
    arenaut_problem *p = problem_of(boxes, 3);
    assert_int_equal(rule_broken(p, 0, 0, 4), ARENAUT_RULE_NONE);
    p->traits = ARENAUT_PROBLEM_TOKENS;
    assert_int_equal(rule_broken(p, 0, 0, 4), ARENAUT_RULE_TOKENS);
    assert_int_equal(rule_broken(p, 0, 0, 7), ARENAUT_RULE_TOKENS);
    assert_int_equal(rule_broken(p, 0, 0, 8), ARENAUT_RULE_NONE);
    assert_int_equal(rule_broken(p, 0, 0, 0), ARENAUT_RULE_NONE);
    assert_int_equal(rule_broken(p, 8, 4, 0), ARENAUT_RULE_TOKENS);
    assert_int_equal(rule_broken(p, 12, 4, 0), ARENAUT_RULE_NONE);
    arenaut_problem_free(p);
}

TEST(tokens_have_no_places_inside) {
    arenaut_error err = {0};
    for (int which = 0; which < 2; which++) {
        arenaut_problem *p = new_problem();
        const arenaut_interval life = {0, 1};
        arenaut_buffer b = ARENAUT_BUFFER_INIT;
        b.size = 8;
        b.name = "x";
        b.lifetimes = &life;
        b.n_lifetimes = 1;
        add_buffer(p, &b);
        if (which == 0) b.fixed_offset = arenaut_at(8);
        if (which == 1) b.inside = arenaut_id(0);
        b.name = "y";
        add_buffer(p, &b);
        p->traits = ARENAUT_PROBLEM_TOKENS;
        assert_int_equal(arenaut_problem_finish(p, &err), ARENAUT_BAD_INPUT);
        assert_string_equal(
            err.msg, which == 0 ? "buffer 'y': has a fixed offset, which memory in whole tokens "
                                  "cannot give"
                                : "buffer 'y': lies inside another, which memory in whole tokens "
                                  "cannot give");
        arenaut_problem_free(p);
    }
}

TEST(traits_travel_as_json) {
    const char *const text =
        "{\"schema\": \"arenaut.problem/1\", \"traits\": [\"tokens\", \"symbolic\"],\n"
        " \"buffers\": [{\"size\": 8, \"first\": 0, \"end\": 1}]}";
    arenaut_document d = read_text("problem-json", text);
    assert_int_equal(d.problem->traits, ARENAUT_PROBLEM_TOKENS | ARENAUT_PROBLEM_SYMBOLIC);
    arenaut_text written = write_text("problem-json", &d);
    arenaut_document again = read_text("problem-json", written.bytes);
    assert_int_equal(again.problem->traits, d.problem->traits);
    arenaut_document_free(&again);
    arenaut_text_free(&written);
    arenaut_text csv = {0};
    arenaut_error err = {0};
    assert_int_equal(try_write("csv", &d, NULL, &csv, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "memory in whole tokens"));
    arenaut_text_free(&csv);
    arenaut_document_free(&d);
    assert_unreadable(
        "problem-json",
        "{\"schema\": \"arenaut.problem/1\", \"traits\": [\"token\"], \"buffers\": []}",
        ARENAUT_BAD_INPUT, "expected one of tokens branches symbolic");
}

/* ---- running out of memory ---- */

typedef struct attempt {
    const arenaut_problem *problem;
    const char *planner;
} attempt;

static arenaut_status plan_once(void *context, const arenaut_allocator *allocator) {
    const attempt *a = context;
    arenaut_plan *plan = NULL;
    const arenaut_plan_options options = {.planner = a->planner, .effort = 50};
    const arenaut_status st = arenaut_plan_make(a->problem, &options, allocator, &plan, NULL);
    assert_true((st == ARENAUT_OK) == (plan != NULL));
    arenaut_plan_free(plan);
    return st;
}

static arenaut_status check_once(void *context, const arenaut_allocator *allocator) {
    const attempt *a = context;
    arenaut_plan *plan = plan_with(a->problem, a->planner, NULL);
    arenaut_finding finding;
    const arenaut_status st = arenaut_check_plan(a->problem, plan, allocator, &finding, NULL);
    arenaut_plan_free(plan);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    const box boxes[] = {{30, 0, 2}, {10, 0, 1}, {5, 0, 3}, {20, 1, 2}, {21, 2, 3}, {7, 3, 5}};
    arenaut_problem *p = problem_of(boxes, COUNT_OF(boxes));
    p->traits = ARENAUT_PROBLEM_TOKENS;
    static const char *const planners[] = {"tvm-tokens", "shared-objects", "auto"};
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        attempt a = {p, planners[i]};
        survives_every_allocation_failure(plan_once, &a);
        survives_every_allocation_failure(check_once, &a);
    }
    arenaut_problem_free(p);
}
