/* Tiling: results of the tiled program, the checker on it and on spoiled ones, refusals, and the
 * search. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/find_within.h"
#include "rewrite/split/tile_groups.h"
#include "support/fuse.h"
#include "support/image_program.h"
#include "support/split_checked.h"
#include "support/unbudgeted.h"

static const window_form three = {{3, 3}, {1, 1}, {1, 1}, true};
static const window_form halving = {{3, 3}, {2, 2}, {1, 1}, true};
static const window_form point = {{1, 1}, {1, 1}, {1, 1}, true};

/* x ─ CONV ─ DEPTHWISE (half as high) ─ CONV: MobileNet's block, whose middle is large. */
static arenaut_program *block(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 16, 16, 8, ARENAUT_INPUT);
    const uint32_t wide = add_conv(p, x, 32, point);
    const uint32_t half = add_depthwise(p, wide, halving);
    finish_images(p, x, add_conv(p, half, 8, point));
    return p;
}

/* x ─ CONV ─ CONV ─ ADD, a residual block. */
static arenaut_program *residual(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 24, 8, 4, ARENAUT_INPUT);
    const uint32_t first = add_conv(p, x, 4, three);
    const uint32_t second = add_conv(p, first, 4, three);
    finish_images(p, x, add_conv(p, add_sum(p, second, first), 2, halving));
    return p;
}

static bool computes_the_same(const arenaut_program *p, const arenaut_rewrite *rewrite) {
    uint64_t *expected = NULL, *found = NULL;
    size_t n = 0, n_found = 0;
    assert_true(compute_images(p, p, NULL, 7, &expected, &n));
    const bool ran = compute_images(rewrite->program, p, rewrite->tensors, 7, &found, &n_found);
    const bool same = ran && n == n_found && memcmp(expected, found, n * sizeof *found) == 0;
    free(expected);
    free(found);
    return same;
}

static arenaut_status check(const arenaut_program *p, const arenaut_rewrite *rewrite,
                            arenaut_finding *finding) {
    return arenaut_check_rewrite(p, rewrite, NULL, finding, NULL);
}

static arenaut_rewrite *split(const arenaut_program *p, arenaut_split_stage stage) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arn_split(p, &stage, 1, false, NULL, &rewrite, &err), err);
    assert_int_equal(arn_program_fingerprint(rewrite->program), rewrite->after);
    assert_int_equal(arn_program_fingerprint(p), rewrite->before);
    if (check(p, rewrite, &finding) != ARENAUT_OK) fail_msg("%s", finding.msg);
    assert_int_equal(finding.rule, ARENAUT_RULE_NONE);
    assert_true(computes_the_same(p, rewrite));
    return rewrite;
}

static uint32_t count_ops(const arenaut_rewrite *rewrite, const char *name, bool moves) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        n += (rewrite->ops[i] == ARENAUT_NONE) == moves &&
             strcmp(rewrite->program->ops[i].name, name) == 0;
    }
    return n;
}

TEST(channels_are_computed_once_and_joined) {
    arenaut_program *p = block();
    const arenaut_split_stage stage = {0, 2, 4, ARENAUT_SPLIT_CHANNELS};
    arenaut_rewrite *rewrite = split(p, stage);
    assert_int_equal(rewrite->n_ops_before, 3);
    assert_int_equal(rewrite->n_ops, 4 * 2 + 1 + 1);
    assert_int_equal(count_ops(rewrite, "CONCATENATION", true), 1);
    assert_int_equal(rewrite->macs, rewrite->macs_before);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(numbers_of_tensors_that_are_gone_are_used_again) {
    arenaut_program *p = block();
    const arenaut_split_stage stage = {0, 2, 4, ARENAUT_SPLIT_CHANNELS};
    arenaut_rewrite *rewrite = split(p, stage);
    uint32_t same = 0;
    for (uint32_t t = 0; t < rewrite->n_tensors; t++) {
        const arenaut_origin *origin = &rewrite->tensors[t];
        same += origin->same;
        if (origin->same) assert_int_equal(origin->tensor, t);
        else if (t < p->n_tensors) assert_true(origin->tensor != ARENAUT_NONE);
    }
    /* The rest of 8: the wide image, and weights and bias before it, are gone. */
    assert_int_equal(p->n_tensors - same, 4);
    assert_int_equal(rewrite->program->methods[0].inputs[0], p->methods[0].inputs[0]);
    assert_int_equal(rewrite->program->methods[0].outputs[0], p->methods[0].outputs[0]);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(rows_are_computed_again_or_kept) {
    arenaut_program *p = residual();
    for (uint32_t pieces = 2; pieces <= 12; pieces++) {
        const arenaut_split_stage again = {0, 4, pieces, ARENAUT_SPLIT_ROWS};
        const arenaut_split_stage kept = {0, 4, pieces, ARENAUT_SPLIT_KEPT};
        arenaut_rewrite *rows = split(p, again), *keeping = split(p, kept);
        assert_true(rows->macs > rows->macs_before);
        assert_int_equal(keeping->macs, keeping->macs_before);
        assert_true(keeping->n_ops > rows->n_ops);
        arn_rewrite_free(rows);
        arn_rewrite_free(keeping);
    }
    arn_program_free(p);
}

/* The first and the last row tile see an edge, so two of five are other than the rest. */
TEST(tiles_that_are_alike_call_one_method) {
    arenaut_program *p = residual();
    const arenaut_split_stage modes[] = {{0, 4, 6, ARENAUT_SPLIT_ROWS_CALLED},
                                         {0, 4, 6, ARENAUT_SPLIT_KEPT_CALLED}};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        const arenaut_split_stage copied = {0, 4, 6,
                                            i == 0 ? ARENAUT_SPLIT_ROWS : ARENAUT_SPLIT_KEPT};
        arenaut_rewrite *calls = split(p, modes[i]), *copies = split(p, copied);
        const arenaut_program *made = calls->program;
        assert_int_equal(made->n_methods, 2);
        assert_int_equal(copies->program->n_methods, 1);
        assert_true(calls->n_ops < copies->n_ops);
        assert_int_equal(calls->macs, copies->macs);
        uint32_t n = 0;
        for (uint32_t k = 0; k < made->n_ops; k++) {
            const arenaut_op *op = &made->ops[k];
            if (op->kind != ARENAUT_OP_IF) continue;
            n++;
            assert_int_equal(op->calls[0], 1);
            assert_int_equal(op->calls[1], 1);
            assert_int_equal(made->tensors[op->inputs[0]].cls, ARENAUT_CONSTANT);
        }
        assert_in_range(n, 3, 4);
        arn_rewrite_free(calls);
        arn_rewrite_free(copies);
    }
    arn_program_free(p);
}

/* The runtime keeps something of each tensor. */
TEST(sizes_that_are_the_same_are_one_tensor) {
    arenaut_program *p = residual();
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){0, 4, 6, ARENAUT_SPLIT_KEPT_CALLED});
    const arenaut_tensor *tensors = rewrite->program->tensors;
    uint32_t n = 0;
    for (uint32_t a = 0; a < rewrite->n_tensors; a++) {
        if (rewrite->tensors[a].tensor != ARENAUT_NONE) continue;
        n++;
        for (uint32_t b = 0; b < a; b++) {
            if (rewrite->tensors[b].tensor != ARENAUT_NONE) continue;
            if (tensors[a].method != tensors[b].method || tensors[a].rank != tensors[b].rank ||
                tensors[a].n_values != tensors[b].n_values) {
                continue;
            }
            assert_memory_not_equal(tensors[a].values, tensors[b].values,
                                    tensors[a].n_values * sizeof(int64_t));
        }
    }
    assert_true(n > 6);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(many_tiles_are_joined_in_steps) {
    arenaut_program *p = residual();
    const arenaut_split_stage stage = {0, 1, 24, ARENAUT_SPLIT_ROWS};
    arenaut_rewrite *rewrite = split(p, stage);
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        assert_true(rewrite->program->ops[i].n_inputs <= 10);
    }
    assert_int_equal(count_ops(rewrite, "CONCATENATION", true), 4);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(no_groups_leave_the_program_as_it_is) {
    arenaut_program *p = block();
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    assert_ok(arn_split(p, NULL, 0, false, NULL, &rewrite, &err), err);
    assert_int_equal(rewrite->before, rewrite->after);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* ---- tiles of unequal size ---- */

/* Bytes for each channel of block()'s image, of the convolution's result, and of half. */
enum { IMAGE = 16 * 16 * 8, WIDE = 16 * 16, HALF = 8 * 8 };

/* The peak of live bytes while the tiles run: the image for all of them, results of those before,
 * and the results of the two ops of one, beside each other or over each other and the image. */
static uint64_t most_alive(const int64_t *counts, uint32_t n, bool over) {
    uint64_t most = 0, others = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t wide = (uint64_t)counts[i] * WIDE, half = (uint64_t)counts[i] * HALF;
        const uint64_t image = i + 1 < n ? IMAGE : 0;
        const uint64_t first = i + 1 < n || !over ? IMAGE + wide : wide > IMAGE ? wide : IMAGE;
        const uint64_t second = image + (over ? wide : wide + half);
        const uint64_t now = others + (first > second ? first : second);
        if (now > most) most = now;
        others += half;
    }
    return most;
}

/* The best of all numbers of channels for the tiles from `tile` on. */
static uint64_t least_of_all(int64_t *counts, uint32_t n, uint32_t tile, int64_t left, bool over) {
    uint64_t least = UINT64_MAX;
    if (tile + 1 == n) {
        counts[tile] = left;
        return most_alive(counts, n, over);
    }
    for (int64_t count = 1; count <= left - (int64_t)(n - tile - 1); count++) {
        counts[tile] = count;
        const uint64_t found = least_of_all(counts, n, tile + 1, left - count, over);
        if (found < least) least = found;
    }
    return least;
}

TEST(no_tiles_need_less_than_fitted_ones) {
    enum { CHANNELS = 32, MOST = 5 };
    arenaut_program *p = block();
    arn_tile_graph graph;
    assert_int_equal(arn_tile_graph_make(p, false, NULL, &graph, NULL), ARENAUT_OK);
    for (uint32_t n = 2; n <= MOST; n++) {
        for (int over = 0; over <= 1; over++) {
            int64_t counts[MOST], tried[MOST], all = 0;
            const arenaut_split_mode mode = over ? ARENAUT_SPLIT_FITTED_OVER : ARENAUT_SPLIT_FITTED;
            const arenaut_split_stage stage = {0, 2, n, mode};
            arn_channel_tiles_count(&graph, &stage, counts);
            for (uint32_t i = 0; i < n; i++) all += counts[i];
            assert_int_equal(all, CHANNELS);
            assert_int_equal(most_alive(counts, n, over),
                             least_of_all(tried, n, 0, CHANNELS, over));
            arn_rewrite_free(split(p, stage));
        }
    }
    arn_tile_graph_free(&graph);
    arn_program_free(p);
}

/* ---- refusals ---- */

TEST(groups_that_cannot_be_tiled_are_refused_with_the_reason) {
    arenaut_program *p = block();
    const struct {
        arenaut_split_stage stage;
        const char *why;
    } cases[] = {
        {{0, 0, 2, ARENAUT_SPLIT_ROWS}, "ops, numbered from 0"},
        {{2, 2, 2, ARENAUT_SPLIT_ROWS}, "ops, numbered from 0"},
        {{UINT32_MAX, 2, 2, ARENAUT_SPLIT_ROWS}, "ops, numbered from 0"},
        {{0, 2, 1, ARENAUT_SPLIT_ROWS}, "at least 2 tiles"},
        {{0, 2, 2, ARENAUT_SPLIT_MODE_COUNT}, "no such mode"},
        {{0, 2, 9, ARENAUT_SPLIT_ROWS}, "fewer rows than tiles"},
        {{0, 2, 2, ARENAUT_SPLIT_ROWS_CALLED}, "no two of its tiles are alike"},
        {{0, 2, 7, ARENAUT_SPLIT_KEPT_CALLED}, "fewer tiles of equal height"},
        {{0, 2, 33, ARENAUT_SPLIT_CHANNELS}, "fewer channels than tiles"},
        {{0, 3, 2, ARENAUT_SPLIT_CHANNELS}, "mixes channels"},
        {{1, 1, 2, ARENAUT_SPLIT_CHANNELS}, "does not begin with a convolution"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) expect_unsplit(p, cases[i].stage, cases[i].why);
    p->tensors[p->ops[1].inputs[1]].cls = ARENAUT_STATE;
    expect_unsplit(p, (arenaut_split_stage){0, 2, 2, ARENAUT_SPLIT_ROWS}, "cannot be split");
    arn_program_free(p);
}

TEST(programs_whose_result_nothing_makes_are_not_split) {
    arenaut_program *p = block();
    ((uint32_t *)p->ops[2].outputs)[0] = ARENAUT_NONE;
    expect_refused(p, "nothing has written it");
    arn_program_free(p);
}

TEST(weights_that_ops_compute_are_not_copied_for_each_call) {
    static const int64_t dims[] = {4, 3, 3, 4};
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 24, 8, 4, ARENAUT_INPUT);
    const uint32_t computed = add_relu(p, add_weights(p, dims));
    const uint32_t y = add_conv(p, x, 4, three);
    ((uint32_t *)p->ops[1].inputs)[1] = computed;
    finish_images(p, x, add_conv(p, y, 4, three));
    arn_rewrite_free(split(p, (arenaut_split_stage){0, 3, 6, ARENAUT_SPLIT_ROWS}));
    expect_unsplit(p, (arenaut_split_stage){0, 3, 6, ARENAUT_SPLIT_ROWS_CALLED}, "compute");
    arn_rewrite_free(split(p, (arenaut_split_stage){2, 1, 6, ARENAUT_SPLIT_ROWS_CALLED}));
    arn_program_free(p);
}

TEST(types_that_no_op_can_move_are_not_split) {
    static const arenaut_dtype types[] = {ARENAUT_DTYPE_UINT8, ARENAUT_DTYPE_INT4};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        arenaut_program *p = block();
        for (uint32_t t = 0; t < p->n_tensors; t++) p->tensors[t].dtype = types[i];
        expect_unsplit(p, (arenaut_split_stage){0, 2, 2, ARENAUT_SPLIT_ROWS}, "cannot be split");
        arn_program_free(p);
    }
}

/* The same in floating point; `finite`: the weights are known to be. */
static void make_float(arenaut_program *p, bool finite) {
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].dtype != ARENAUT_DTYPE_INT8) continue;
        p->tensors[t].dtype = ARENAUT_DTYPE_FLOAT32;
        p->tensors[t].bytes *= 4;
        p->tensors[t].finite = finite && p->tensors[t].cls == ARENAUT_CONSTANT;
    }
}

/* Infinity times a zero of padding is no number: such tiles are cropped, and the checker takes no
 * others. */
TEST(row_tiles_of_weights_that_may_be_infinite_are_not_padded) {
    const arenaut_split_stage rows = {0, 4, 3, ARENAUT_SPLIT_ROWS};
    arenaut_program *p = residual();
    arenaut_finding finding;
    make_float(p, true);
    arenaut_rewrite *padded = split(p, rows);
    assert_true(count_ops(padded, "PAD", true) > 0);
    arn_program_free(p);
    p = residual();
    make_float(p, false);
    arenaut_rewrite *cropped = split(p, rows);
    assert_int_equal(count_ops(cropped, "PAD", true), 0);
    arenaut_program *const made = padded->program;
    for (uint32_t t = 0; t < made->n_tensors; t++) made->tensors[t].finite = false;
    padded->before = arn_program_fingerprint(p);
    padded->after = arn_program_fingerprint(made);
    assert_int_equal(check(p, padded, &finding), ARENAUT_REJECTED);
    assert_int_equal(finding.rule, ARENAUT_RULE_REWRITE);
    arn_rewrite_free(padded);
    arn_rewrite_free(cropped);
    arn_program_free(p);
}

/* A relu, a mirror around it, and a filter that sees each second row. */
static arenaut_program *mirror(int64_t before, int64_t after, bool repeats_edge) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const int64_t pads[] = {before, after, 1, 2};
    const uint32_t x = add_image(p, "x", 15, 4, 2, ARENAUT_INPUT);
    const uint32_t y = add_mirror(p, add_relu(p, x), pads, repeats_edge);
    finish_images(p, x,
                  add_pooling(p, "MAX_POOL_2D", y, (window_form){{1, 1}, {2, 2}, {1, 1}, false}));
    return p;
}

/* A tile far from an edge may show rows that others left out. */
TEST(mirrored_margins_of_any_height_are_tiled) {
    const arenaut_split_mode modes[] = {ARENAUT_SPLIT_ROWS, ARENAUT_SPLIT_KEPT,
                                        ARENAUT_SPLIT_CROPPED, ARENAUT_SPLIT_KEPT_CROPPED};
    for (int64_t margin = 0; margin <= 14; margin++) {
        for (uint32_t k = 0; k < 2 * COUNT_OF(modes); k++) {
            const bool repeats_edge = k % 2;
            arenaut_program *p = mirror(margin, 14 + repeats_edge - margin, repeats_edge);
            for (uint32_t tiles = 2; tiles <= 7; tiles++) {
                arn_rewrite_free(split(p, (arenaut_split_stage){0, 3, tiles, modes[k / 2]}));
            }
            arn_program_free(p);
        }
    }
}

/* A margin that shows other rows is another one. */
TEST(a_mirror_that_repeats_the_edge_is_no_part_of_one_that_does_not) {
    arenaut_program *p = mirror(3, 4, false);
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){0, 3, 3, ARENAUT_SPLIT_ROWS});
    arenaut_finding finding;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "MIRROR_PAD") == 0)
            ((arenaut_attribute *)op->attributes)->text = "SYMMETRIC";
    }
    rewrite->after = arn_program_fingerprint(rewrite->program);
    assert_int_equal(check(p, rewrite, &finding), ARENAUT_REJECTED);
    assert_int_equal(finding.rule, ARENAUT_RULE_REWRITE);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(kernels_that_look_at_the_whole_image_are_not_split) {
    arenaut_program *p = block(); /* a float image and weights of whole numbers */
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].cls == ARENAUT_CONSTANT) continue;
        p->tensors[t].dtype = ARENAUT_DTYPE_FLOAT32;
        p->tensors[t].bytes *= 4;
    }
    expect_unsplit(p, (arenaut_split_stage){0, 2, 2, ARENAUT_SPLIT_CHANNELS}, "cannot be split");
    arn_program_free(p);
}

TEST(groups_must_not_overlap) {
    arenaut_program *p = block();
    const arenaut_split_stage stages[] = {{0, 2, 2, ARENAUT_SPLIT_ROWS},
                                          {1, 1, 2, ARENAUT_SPLIT_ROWS}};
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    assert_int_equal(arn_split(p, stages, 2, false, NULL, &rewrite, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "begins within the group before it"));
    arn_program_free(p);
}

/* ---- findings of the checker ---- */

static void expect_found(const arenaut_program *p, const arenaut_rewrite *rewrite,
                         const char *why) {
    arenaut_finding finding;
    assert_int_equal(check(p, rewrite, &finding), ARENAUT_REJECTED);
    if (!strstr(finding.msg, why)) fail_msg("expected \"%s\": %s", why, finding.msg);
}

static void halve_inputs(arenaut_tensor *weights) {
    ((int64_t *)weights->dims)[3] /= 2;
    weights->bytes /= 2;
}

/* Weights for half of the image's channels: the convolution is one of two groups, and which group
 * an output channel belongs to depends on how many there are. */
TEST(channels_of_a_convolution_in_groups_are_not_taken_for_those_of_a_part) {
    arenaut_program *p = block();
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_CHANNELS});
    const uint32_t weights = p->ops[0].inputs[1];
    for (uint32_t t = 0; t < rewrite->n_tensors; t++) {
        if (rewrite->tensors[t].tensor == weights) halve_inputs(&rewrite->program->tensors[t]);
    }
    halve_inputs(&p->tensors[weights]);
    expect_found(p, rewrite, "other channels than its weights");
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* x + state, then the state is written; the two change places. */
TEST(a_reader_of_state_stays_before_its_writer) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 8, 8, 4, ARENAUT_INPUT);
    const uint32_t state = add_image(p, "state", 8, 8, 4, ARENAUT_STATE);
    const uint32_t sum = add_sum(p, x, state);
    ADD_OP(p, .name = "NOTE", IN(x), OUT(state));
    finish_images(p, x, add_conv(p, sum, 4, three));
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    const arenaut_split_stage stage = {2, 1, 2, ARENAUT_SPLIT_ROWS};
    assert_int_equal(arn_split(p, &stage, 1, false, NULL, &rewrite, NULL), ARENAUT_OK);
    assert_int_equal(check(p, rewrite, &finding), ARENAUT_OK);
    const arenaut_op first = rewrite->program->ops[0];
    rewrite->program->ops[0] = rewrite->program->ops[1];
    rewrite->program->ops[1] = first;
    rewrite->ops[0] = 1;
    rewrite->ops[1] = 0;
    expect_found(p, rewrite, "runs before it is left out");
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(state_is_not_copied) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 8, 8, 4, ARENAUT_INPUT);
    const uint32_t relu = add_relu(p, x);
    finish_images(p, x, add_conv(p, relu, 4, three));
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){1, 1, 2, ARENAUT_SPLIT_ROWS});
    p->tensors[relu].cls = rewrite->program->tensors[relu].cls = ARENAUT_STATE;
    expect_found(p, rewrite, "copies state");
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* ---- random programs ---- */

static arenaut_split_stage random_stage(rng *r, const arenaut_program *p) {
    arenaut_split_stage stage = {
        .first_op = rng_below(r, p->n_ops),
        .pieces = 2 + rng_below(r, 5),
        .mode = (arenaut_split_mode)rng_below(r, ARENAUT_SPLIT_MODE_COUNT)};
    stage.n_ops = 1 + rng_below(r, p->n_ops - stage.first_op);
    return stage;
}

static void swap(const uint32_t *ids, uint32_t a, uint32_t b) {
    uint32_t *list = (uint32_t *)ids;
    const uint32_t first = list[a];
    list[a] = list[b];
    list[b] = first;
}

/* Two arguments or results of a method change places, or a call is of the other method. */
static void spoil_call(rng *r, arenaut_program *p) {
    if (p->n_methods == 1) return;
    const arenaut_method *m = &p->methods[1 + rng_below(r, p->n_methods - 1)];
    for (uint32_t i = 0; i < p->n_ops && rng_once_in(r, 3); i++) {
        arenaut_op *op = &p->ops[i];
        const uint32_t other = 1 + rng_below(r, p->n_methods - 1);
        for (uint32_t k = 0; k < op->n_calls; k++) ((uint32_t *)op->calls)[k] = other;
    }
    if (rng_once_in(r, 2)) swap(m->inputs, rng_below(r, m->n_inputs), rng_below(r, m->n_inputs));
    else swap(m->outputs, rng_below(r, m->n_outputs), rng_below(r, m->n_outputs));
}

/* Words that say something else in the same place. */
static const char *other_word(const char *word) {
    static const char *const pairs[][2] = {{"SAME", "VALID"}, {"REFLECT", "SYMMETRIC"}};
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        if (strcmp(word, pairs[i][0]) == 0) return pairs[i][1];
        if (strcmp(word, pairs[i][1]) == 0) return pairs[i][0];
    }
    return word;
}

/* Changes one thing of the program or of the origins of its tensors and ops, or nothing. */
static void spoil(rng *r, arenaut_rewrite *rewrite) {
    arenaut_program *p = rewrite->program;
    arenaut_op *op = &p->ops[rng_below(r, p->n_ops)];
    const uint32_t t = rng_below(r, p->n_tensors), other = rng_below(r, p->n_tensors);
    switch (rng_below(r, 7)) {
        case 0: ((uint32_t *)op->inputs)[rng_below(r, op->n_inputs)] = other; break;
        case 1: ((uint32_t *)op->outputs)[0] = other; break;
        case 2:
            if (!p->tensors[t].values) break;
            ((int64_t *)p->tensors[t].values)[rng_below(r, p->tensors[t].n_values)] +=
                rng_once_in(r, 2) ? 1 : -1;
            break;
        case 6: spoil_call(r, p); break;
        case 3: rewrite->tensors[t].begin += rng_once_in(r, 2) ? 1 : -1; break;
        case 4:
            for (uint32_t i = 0; i < op->n_attributes; i++) {
                arenaut_attribute *a = (arenaut_attribute *)&op->attributes[i];
                if (a->text) a->text = other_word(a->text);
            }
            break;
        default: {
            const uint32_t k = rng_below(r, p->n_ops);
            const arenaut_op swapped = *op;
            const uint32_t before = rewrite->ops[op - p->ops];
            *op = p->ops[k];
            rewrite->ops[op - p->ops] = rewrite->ops[k];
            p->ops[k] = swapped;
            rewrite->ops[k] = before;
        }
    }
}

/* A tiled program computes the same, and the checker sees that; of spoiled ones it accepts none
 * that computes something else. */
TEST(random_programs_are_split_rightly_and_spoiled_ones_are_found) {
    uint32_t n_split = 0, n_called = 0, n_spoiled = 0, n_rejected = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        rng r = {seed};
        arenaut_program *p = random_images(&r, 6, true);
        const arenaut_split_stage stage = random_stage(&r, p);
        arenaut_rewrite *rewrite = NULL;
        arenaut_finding finding;
        if (arn_split(p, &stage, 1, false, NULL, &rewrite, NULL) == ARENAUT_OK) {
            n_split++;
            n_called += rewrite->program->n_methods > 1;
            if (check(p, rewrite, &finding) != ARENAUT_OK) {
                fail_msg("seed %u: %s", (unsigned)seed, finding.msg);
            }
            if (!computes_the_same(p, rewrite)) fail_msg("seed %u", (unsigned)seed);
            spoil(&r, rewrite);
            const bool valid = arn_program_validate(rewrite->program, NULL) == ARENAUT_OK;
            const arenaut_status st = check(p, rewrite, &finding);
            n_spoiled += valid;
            n_rejected += valid && st == ARENAUT_REJECTED;
            if (st == ARENAUT_OK && !computes_the_same(p, rewrite)) {
                fail_msg("seed %u: the checker accepts a program that computes something else",
                         (unsigned)seed);
            }
        }
        arn_rewrite_free(rewrite);
        arn_program_free(p);
    }
    assert_true(n_split > 500 && n_called > 100 && n_spoiled > 400);
    assert_true(n_rejected > n_spoiled / 4);
}

/* ---- cropped row tiles ---- */

/* An op that pads `in` by itself, as SAME does, makes row `at` of the whole's result. */
static bool sees_the_same(const arn_tile_window *w, arn_rows in, int64_t height, int64_t at) {
    const int64_t rows = in.end - in.begin, out = (rows + w->stride - 1) / w->stride;
    const int64_t total = (out - 1) * w->stride + (w->filter - 1) * w->dilation + 1 - rows;
    const int64_t front = total > 0 ? total / 2 : 0, begin = at * w->stride - w->before;
    const int64_t own = begin + front - in.begin; /* the begin of its window */
    if (own < 0 || own % w->stride != 0 || own / w->stride >= out) return false;
    for (int64_t k = 0; k < w->filter; k++) {
        const int64_t row = begin + k * w->dilation;
        const bool inside = row >= in.begin && row < in.end;
        if (!inside && row >= 0 && row < height) return false;
    }
    return true;
}

/* The fewest rows, with all of those that the windows see. */
static int64_t fewest_rows(const arn_tile_window *w, int64_t height, arn_rows made) {
    const arn_rows seen = arn_rows_with_halo(w, made);
    for (int64_t n = 1; n <= height; n++) {
        for (int64_t begin = 0; begin + n <= height; begin++) {
            if (begin > seen.begin && begin > 0) break;
            if (begin + n < seen.end && begin + n < height) continue;
            const arn_rows in = {begin, begin + n};
            bool all = true;
            for (int64_t at = made.begin; at < made.end && all; at++) {
                all = sees_the_same(w, in, height, at);
            }
            if (all) return n;
        }
    }
    return 0;
}

TEST(cropped_tiles_get_the_fewest_rows_that_make_theirs) {
    uint32_t n_tiles = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        rng r = {seed};
        const int64_t height = 4 + (int64_t)rng_below(&r, 28);
        window_form form = {{1, 3}, {1, 1}, {1, 1}, true};
        form.filter[0] += (int64_t)rng_below(&r, 6);
        form.stride[0] += (int64_t)rng_below(&r, 3);
        form.dilation[0] += (int64_t)rng_below(&r, 3);
        arenaut_program *p = new_program();
        begin_method(p, "main");
        const uint32_t x = add_image(p, "x", height, 4, 1, ARENAUT_INPUT);
        finish_images(p, x, add_conv(p, x, 2, form));
        const uint32_t pieces = 2 + (uint32_t)rng_below(&r, 3);
        const arenaut_split_stage stage = {0, 1, pieces, ARENAUT_SPLIT_CROPPED};
        arn_tile_graph graph;
        arn_row_tiles tiles = {0};
        assert_int_equal(arn_tile_graph_make(p, false, NULL, &graph, NULL), ARENAUT_OK);
        const arn_tile_window *window = &graph.ops[0].window[ARN_AXIS_H];
        const bool counted =
            !arn_row_tiles_refuse(&graph, &stage) && arn_row_tiles_count(&tiles, &graph, &stage);
        for (uint32_t i = 0; counted && i < pieces; i++, n_tiles++) {
            const arn_row_tile_op *tile = arn_row_tile(&tiles, i, 0);
            assert_int_equal(arn_rows_count(tile->input), fewest_rows(window, height, tile->make));
        }
        arn_row_tiles_free(&tiles);
        arn_tile_graph_free(&graph);
        arn_program_free(p);
    }
    assert_true(n_tiles > 500);
}

/* One place for each number of rows, instead of all. */
TEST(windows_with_long_strides_are_cropped_after_few_tries) {
    static const window_form far = {{1400, 1}, {1000, 1}, {1, 1}, true};
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 9700, 1, 1, ARENAUT_INPUT);
    finish_images(p, x, add_conv(p, x, 1, far));
    const arenaut_split_stage stage = {0, 1, 4, ARENAUT_SPLIT_CROPPED};
    arn_tile_graph graph;
    arn_row_tiles tiles = {0};
    assert_int_equal(arn_tile_graph_make(p, false, NULL, &graph, NULL), ARENAUT_OK);
    assert_true(arn_row_tiles_count(&tiles, &graph, &stage));
    assert_in_range(tiles.places, 100, stage.pieces * 2000);
    arn_row_tiles_free(&tiles);
    arn_tile_graph_free(&graph);
    arn_program_free(p);
}

/* ---- the search ---- */

static arn_region fronts; /* of the test at work, which frees it */

static arenaut_split_front *find(const arenaut_program *p, const arenaut_split_options *options) {
    arenaut_split_front *front = NULL;
    arenaut_error err = {0};
    if (!fronts.last) arn_region_init(&fronts, NULL);
    assert_ok(split_find(p, options, &fronts, &front, &err), err);
    assert_true(front->n_choices > 0);
    assert_int_equal(front->choices[0].n_stages, 0);
    return front;
}

/* The choice that needs least. */
static const arenaut_split_choice *least(const arenaut_split_front *front) {
    return &front->choices[front->n_choices - 1];
}

static uint64_t needed(const arenaut_split_choice *choice) {
    return choice->head + (uint64_t)choice->kept;
}

TEST(choices_are_worth_their_ops_and_can_be_made) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 96, 96, 4, ARENAUT_INPUT);
    const uint32_t wide = add_conv(p, x, 64, point);
    finish_images(p, x, add_conv(p, add_depthwise(p, wide, halving), 4, point));
    arenaut_split_front *front = find(p, NULL), *again = find(p, NULL);
    assert_int_equal(least(front)->n_stages, 1);
    assert_int_equal(again->n_choices, front->n_choices);
    assert_int_equal(least(again)->n_stages, 1);
    assert_memory_equal(least(front)->stages, least(again)->stages, sizeof *again->choices->stages);
    arn_rewrite_free(split(p, least(front)->stages[0]));
    arn_region_free(&fronts);
    arn_program_free(p);
}

TEST(budgets_are_kept) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 96, 96, 4, ARENAUT_INPUT);
    const uint32_t wide = add_conv(p, x, 16, three);
    finish_images(p, x, add_conv(p, add_conv(p, wide, 16, halving), 4, halving));
    static const uint32_t limits[] = {0, 5, 12, 40};
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        const arenaut_split_options few = {.max_ops = arenaut_id(limits[i])};
        const arenaut_split_options once = {.max_ops = few.max_ops, .max_macs = arenaut_id(0)};
        arenaut_rewrite *rewrite = NULL;
        arenaut_split_front *front = find(p, &few);
        const uint32_t n = least(front)->n_stages;
        assert_int_equal(arn_split(p, least(front)->stages, n, false, NULL, &rewrite, NULL),
                         ARENAUT_OK);
        assert_true(rewrite->n_ops <= rewrite->n_ops_before + limits[i]);
        assert_true(limits[i] == 0 ? n == 0 : limits[i] < 40 || n > 0);
        arn_rewrite_free(rewrite);
        front = find(p, &once);
        assert_int_equal(
            arn_split(p, least(front)->stages, least(front)->n_stages, false, NULL, &rewrite, NULL),
            ARENAUT_OK);
        assert_int_equal(rewrite->macs, rewrite->macs_before);
        arn_rewrite_free(rewrite);
    }
    arn_program_free(p);
}

/* x ─ CONV ─ CONV ─ …, each with weights that an op computes, or not. */
static arenaut_program *chain(window_form form, bool computed) {
    enum { CONVS = 12, CHANNELS = 16 };
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 96, 96, 4, ARENAUT_INPUT);
    uint32_t made = add_conv(p, x, CHANNELS, form);
    for (uint32_t i = 1; i < CONVS; i++) {
        const int64_t dims[] = {CHANNELS, form.filter[0], form.filter[1], CHANNELS};
        const uint32_t weights = computed ? add_relu(p, add_weights(p, dims)) : ARENAUT_NONE;
        made = add_conv(p, made, CHANNELS, form);
        if (computed) ((uint32_t *)p->ops[p->n_ops - 1].inputs)[1] = weights;
    }
    form.stride[0] = form.stride[1] = 2;
    finish_images(p, x, add_conv(p, made, 8, form));
    return p;
}

static uint64_t effort_of(arenaut_program *p) {
    arenaut_split_front *front = find(p, NULL);
    const uint64_t effort = front->effort;
    assert_true(front->n_choices > 1);
    arn_region_free(&fronts);
    arn_program_free(p);
    return effort;
}

TEST(effort_bounds_the_search) {
    arenaut_program *p = chain(three, false);
    arenaut_split_front *usual = find(p, NULL);
    uint64_t last = UINT64_MAX;
    for (uint64_t part = 1; part < 5000; part *= 4) {
        const arenaut_split_options options = {.effort = usual->effort / part + 1};
        arenaut_split_front *front = find(p, &options), *again = find(p, &options);
        assert_true(front->effort <= options.effort + usual->effort / 100);
        assert_true(needed(least(front)) >= needed(least(usual)));
        assert_true(front->effort < last || part == 1);
        assert_int_equal(again->effort, front->effort);
        assert_int_equal(again->n_choices, front->n_choices);
        last = front->effort;
    }
    assert_true(usual->effort < arn_split_default_effort() / 4);
    arn_region_free(&fronts);
    arn_program_free(p);
}

/* Cropped tiles are tried if an op pads, and no group begins or ends with ops on constants. */
TEST(equal_tilings_are_not_tried_twice) {
    static const window_form unpadded = {{3, 3}, {1, 1}, {1, 1}, false};
    const uint64_t padded = effort_of(chain(three, false));
    assert_in_range(effort_of(chain(unpadded, false)), padded, padded + padded / 2);
    assert_in_range(effort_of(chain(three, true)), padded / 2, padded);
}

TEST(small_programs_are_not_worth_splitting) {
    arenaut_program *p = residual();
    arenaut_split_front *front = find(p, NULL);
    assert_int_equal(front->n_choices, 1);
    arn_region_free(&fronts);
    arn_program_free(p);
}

static arenaut_split_options lying_over(const char *kernels) {
    return (arenaut_split_options){.kernels = arenaut_kernel_set_find(kernels), .overlap = true};
}

/* Results that may lie over their operands take away the peak that a group would. */
TEST(results_that_overlap_anyway_are_not_tiled) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 96, 96, 8, ARENAUT_INPUT);
    const uint32_t same = add_depthwise(p, x, three);
    finish_images(p, x, add_conv(p, add_depthwise(p, same, halving), 8, halving));
    const arenaut_split_options over = lying_over("reference");
    arenaut_split_front *apart = find(p, NULL), *lying = find(p, &over);
    assert_int_equal(least(apart)->n_stages, 1);
    assert_int_equal(least(lying)->n_stages, 0);
    arn_region_free(&fronts);
    arn_program_free(p);
}

/* The need of a tiled program with its results over operands, by the plan. */
static uint64_t planned_over(const arenaut_program *p, const arenaut_split_choice *choice) {
    const arenaut_target *target = arenaut_target_find("tflite-micro");
    const arenaut_pass_options options = {.target = target};
    const arenaut_lowering_options over = {.overlap = true};
    arenaut_rewrite *rewrite = NULL;
    arenaut_lowering *lowering = NULL;
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arn_split(p, choice->stages, choice->n_stages, false, NULL, &rewrite, &err), err);
    assert_ok(arenaut_passes_run(rewrite->program, "overlaps", &options, NULL, NULL, &err), err);
    assert_ok(arenaut_lower(rewrite->program, target, &over, NULL, &lowering, &err), err);
    assert_ok(arenaut_plan_make(lowering->problem, NULL, NULL, &plan, &err), err);
    const uint64_t bytes = plan->arena[0];
    arenaut_plan_free(plan);
    arenaut_lowering_free(lowering);
    arn_rewrite_free(rewrite);
    return bytes;
}

/* MobileNet's beginning. */
TEST(groups_for_results_over_operands_are_others_and_need_less_so) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 96, 96, 3, ARENAUT_INPUT);
    const uint32_t narrow = add_depthwise(p, add_conv(p, x, 8, halving), three);
    const uint32_t half = add_depthwise(p, add_conv(p, narrow, 16, point), halving);
    const uint32_t wide = add_depthwise(p, add_conv(p, half, 32, point), three);
    finish_images(p, x, add_conv(p, add_conv(p, wide, 32, point), 8, halving));
    const arenaut_split_options over = lying_over("reference");
    arenaut_split_front *apart = find(p, NULL), *lying = find(p, &over);
    assert_true(least(apart)->n_stages > 0 && least(lying)->n_stages > 0);
    assert_true(planned_over(p, least(lying)) < planned_over(p, least(apart)));
    arn_region_free(&fronts);
    arn_program_free(p);
}

/* Kernels of which nothing is known let nothing lie over anything. */
TEST(kernels_without_rules_change_nothing) {
    static const arenaut_kernel_set silent = {.name = "silent"};
    const arenaut_split_options options = {.kernels = &silent, .overlap = true};
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_image(p, "x", 48, 48, 4, ARENAUT_INPUT);
    finish_images(p, x,
                  add_conv(p, add_depthwise(p, add_conv(p, x, 32, three), halving), 4, three));
    arenaut_split_front *front = find(p, NULL), *silently = find(p, &options);
    assert_true(least(front)->n_stages > 0);
    assert_int_equal(needed(least(silently)), needed(least(front)));
    arn_region_free(&fronts);
    arn_program_free(p);
}

/* ---- out of memory ---- */

static arenaut_status work_with(void *context, const arenaut_allocator *allocator) {
    const arenaut_program *p = context;
    static const arenaut_split_stage stages[] = {{0, 2, 2, ARENAUT_SPLIT_CHANNELS},
                                                 {2, 1, 4, ARENAUT_SPLIT_KEPT_CALLED}};
    const arenaut_split_options over = lying_over("reference");
    arenaut_split_front *found = NULL;
    arn_region region;
    arn_region_init(&region, allocator);
    arenaut_status st = split_checked(p, stages, 2, false, allocator);
    if (st == ARENAUT_OK) st = split_find(p, &over, &region, &found, NULL);
    arn_region_free(&region);
    return st;
}

TEST(splitting_survives_every_allocation_failure) {
    arenaut_program *p = block();
    survives_every_allocation_failure(work_with, p);
    arn_program_free(p);
}
