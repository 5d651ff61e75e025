/* Replicas of planners that place each tensor once: their published behaviour, in small pictures,
 * and the results of an independent model of ONNX Runtime's on real graphs. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/planner.h>

#include "support/corpus.h"
#include "support/documents.h"
#include "support/oracle.h"
#include "support/plans.h"
#include "support/problems.h"

/* Like problem_of, but with an alignment, and the last box may lie where box 0 lies. */
static arenaut_problem *aligned_problem_of(const box *boxes, size_t n, uint64_t align,
                                           bool last_on_first) {
    arenaut_problem *p = new_problem();
    for (size_t i = 0; i < n; i++) {
        const arenaut_interval life = {boxes[i].first, boxes[i].end};
        arenaut_buffer b = ARENAUT_BUFFER_INIT;
        b.size = boxes[i].size;
        b.align = align;
        b.lifetimes = &life;
        b.n_lifetimes = 1;
        if (last_on_first && i + 1 == n) b.same_base = arenaut_id(0);
        add_buffer(p, &b);
    }
    finish(p);
    return p;
}

/* ---- real graphs ---- */

/* Arenas as ten-thousandths of the largest load, from a model in another language; sizes
 * are rounded up to 64 bytes. */
static const struct {
    const char *name;
    uint32_t n;
    uint64_t load;
    uint32_t onnxruntime;
} graphs[] = {
    {"mobilenetv2", 98, 9633792, 10833},
    {"resnet50", 120, 9633792, 12500},
    {"efficientnet_b0", 237, 14450688, 11667},
    {"densenet121", 366, 8429568, 10952},
    {"unet32", 48, 8388608, 12500},
    {"yolo_csp", 199, 4915200, 10000},
    {"hrnet_w18_small", 223, 6422528, 10000},
    {"nasnetalarge", 877, 29010368, 11210},
    {"pnasnet5large", 654, 38986880, 10000},
    {"mixnet_s", 409, 9633792, 10833},
    {"res2net50", 292, 9633792, 10547},
    {"segformer_b0", 363, 33554432, 10303},
    {"whisper_enc", 130, 112608000, 10818},
    {"llama_gqa", 540, 2769152, 12108},
    {"t5_small_enc", 264, 2883712, 13699},
    {"ppocr_det", 329, 9830400, 10938},
    {"ddddocr_det", 275, 12460032, 10833},
    {"magika_v3", 83, 3121216, 11683},
    {"light_densenet121", 667, 8429568, 12381},
    {"light_shufflenet", 169, 3110912, 13871},
    {"light_resnet50", 174, 9633792, 11667},
    {"light_inception_v2", 369, 6422528, 10000},
    {"bert_base", 460, 3604608, 13322},
    {"vit_tiny", 369, 1361664, 12222},
    {"gpt2_kv", 480, 793088, 10152},
    {"sd_unet", 1471, 68420608, 10077},
    {"ppocr_rec", 411, 2949120, 10000},
};

static void assert_ratio(const arenaut_problem *problem, const char *name, const char *planner,
                         uint64_t load, uint32_t expected) {
    arenaut_plan *plan = plan_by(problem, planner);
    const uint64_t ratio = (plan->total * 10000 + load / 2) / load;
    if (ratio != expected) {
        fail_msg("%s: %s needs %llu bytes, %llu ten-thousandths of the load, not %u", name, planner,
                 (unsigned long long)plan->total, (unsigned long long)ratio, expected);
    }
    assert_true(plan->total_bound >= load);
    arenaut_plan_free(plan);
}

TEST(peers_need_on_real_graphs_what_a_model_of_them_does) {
    char path[1024], file[256];
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        snprintf(file, sizeof file, "onnx_csv/%s.alias.csv", graphs[i].name);
        corpus_path_or_skip(path, file);
        arenaut_problem *p = rounded_problem(path, 0);
        assert_int_equal(p->n_buffers, graphs[i].n);
        assert_ratio(p, graphs[i].name, "onnxruntime", graphs[i].load, graphs[i].onnxruntime);
        arenaut_problem_free(p);
    }
}

/* ---- gaps, in order of size ---- */

/* When the last buffer (10 bytes, from step 3) is placed there are two gaps for it, of 20
 * bytes below 1 and of 15 bytes above 5:
 *
 *   230 | 4 4 4 4
 *       | . . . x      15 bytes: best-fit
 *   170 | 3 3 5 5
 *    90 | 1 1 1 1
 *       | . . . o      20 bytes: greedy-by-size
 *     0 | 0 0 2 2                                      */
static arenaut_problem *two_gaps(void) {
    const box boxes[] = {{90, 0, 2}, {80, 0, 4}, {70, 2, 4}, {60, 0, 2},
                         {50, 0, 4}, {45, 2, 4}, {10, 3, 4}};
    return problem_of(boxes, COUNT_OF(boxes));
}

TEST(best_fit_takes_the_smallest_gap_and_greedy_by_size_the_lowest) {
    assert_offsets(two_gaps(), "best-fit", OFFSETS(0, 90, 0, 170, 230, 170, 215));
    assert_offsets(two_gaps(), "greedy-by-size", OFFSETS(0, 90, 0, 170, 230, 170, 70));
}

/* ---- gaps, in order of time ---- */

/* A small buffer that comes early is in the way of a large one that comes late:
 *
 *   40 | . 2 2                    40 | 1 1 .
 *   30 | 1 1 .                       | . 2 2
 *    0 | 0 . .                     0 | 0 2 2
 *
 *   80 bytes in order of time      50 in order of size */
TEST(onnxruntime_places_in_order_of_time) {
    const box boxes[] = {{30, 0, 1}, {10, 0, 2}, {40, 1, 3}};
    assert_offsets(problem_of(boxes, 3), "onnxruntime", OFFSETS(0, 30, 40));
    assert_offsets(problem_of(boxes, 3), "greedy-by-size", OFFSETS(0, 40, 0));
}

/* At step 1 two blocks of 20 bytes are free, below 1 and below 3.
 *
 *   50 | 3 3
 *   30 | 2 g      where ggml puts 4
 *   20 | 1 1
 *    0 | 0 o      where ONNX Runtime puts it */
TEST(of_equal_gaps_onnxruntime_takes_the_lowest_and_ggml_the_highest) {
    const box boxes[] = {{20, 0, 1}, {10, 0, 2}, {20, 0, 1}, {10, 0, 2}, {16, 1, 2}};
    assert_offsets(problem_of(boxes, 5), "onnxruntime", OFFSETS(0, 20, 30, 50, 0));
    assert_offsets(problem_of(boxes, 5), "ggml", OFFSETS(0, 20, 30, 50, 30));
}

/* ---- ggml's list of free blocks ---- */

/* The block of 16 bytes is better than that of 32, and than the one without an end.
 *
 *   72 | 5 5
 *   64 | 4 .
 *   56 | 3 3
 *   40 | 2 6      16 bytes, of which 6 takes 12
 *   32 | 1 1
 *    0 | 0 .      32 bytes                       */
TEST(ggml_takes_the_smallest_block_that_is_large_enough) {
    const box boxes[] = {{32, 0, 1}, {8, 0, 2}, {16, 0, 1}, {8, 0, 2},
                         {8, 0, 1},  {8, 0, 2}, {12, 1, 2}};
    assert_offsets(problem_of(boxes, 7), "ggml", OFFSETS(0, 32, 40, 56, 64, 72, 40));
}

/* The rest of 0 is too small for 2. The memory above 1, of which 3 has used 5 bytes, grows.
 *
 *   30 | 3 2
 *   20 | 1 1
 *    0 | 0 .      20 bytes, not enough for the 24 of 2 */
TEST(ggml_grows_the_last_block_when_no_other_will_do) {
    const box boxes[] = {{20, 0, 1}, {10, 0, 2}, {24, 1, 2}, {5, 0, 1}};
    assert_offsets(problem_of(boxes, 4), "ggml", OFFSETS(0, 20, 30, 30));
}

/* 0 and 1 are freed at different steps. Together they have room for 3, which neither has
 * alone, and their rest has room for 4.
 *
 *   32 | 2 2 2 2
 *   24 | 1 1 . 4
 *   16 | 1 1 3 3
 *    0 | 0 . 3 3  */
TEST(ggml_joins_free_blocks_and_splits_them) {
    const box boxes[] = {{16, 0, 1}, {16, 0, 2}, {8, 0, 4}, {24, 2, 4}, {8, 3, 4}};
    assert_offsets(problem_of(boxes, 5), "ggml", OFFSETS(0, 16, 32, 0, 24));
}

/* Sizes count as multiples of the alignment: the blocks of 40 and of 33 bytes are equals,
 * and the higher one is taken. */
TEST(ggml_rounds_sizes_up_to_the_alignment) {
    const box boxes[] = {{33, 0, 1}, {1, 0, 2}, {40, 0, 1}, {1, 0, 2}, {30, 1, 2}};
    assert_offsets(aligned_problem_of(boxes, 5, 16, false), "ggml", OFFSETS(0, 48, 64, 112, 64));
}

/* The result of an op takes its operand's memory, although 1 has left a block that it would
 * fit into, and the rest of that memory is free for others.
 *
 *   44 | 2 2 2
 *   32 | 1 . .
 *   12 | 0 0 3
 *    0 | 0 4 4      4 lies over 0 at step 1 */
TEST(ggml_works_in_place_where_it_may) {
    const box boxes[] = {{32, 0, 2}, {12, 0, 1}, {8, 0, 3}, {8, 2, 3}, {12, 1, 3}};
    assert_offsets(aligned_problem_of(boxes, 5, 4, true), "ggml", OFFSETS(0, 32, 44, 12, 0));
}

/* The others know a result over its operand as one buffer with the lives of both. */
TEST(the_others_place_results_and_their_operands_as_one) {
    static const char *const planners[] = {"onnxruntime", "iree"};
    const box boxes[] = {{32, 0, 2}, {8, 2, 3}, {32, 1, 3}};
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        assert_offsets(aligned_problem_of(boxes, 3, 4, true), planners[i], OFFSETS(0, 32, 0));
    }
}
