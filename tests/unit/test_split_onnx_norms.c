/* Tiles of ONNX's reductions, normalizations and sums within rows: the passes over an image that
 * they take, and the checker on tiled programs of which one step or one number is wrong. */
#include "support/test.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/split/tile_groups.h"
#include "support/fuse.h"
#include "support/onnx_graphs.h"
#include "support/programs.h"
#include "support/split_checked.h"
#include "support/unbudgeted.h"

/* ---- reductions ---- */

enum { REDUCTIONS = 6 };

/* A convolution, and a reduction of its image that a pool of version 13 or 18 of ONNX does. */
static arenaut_program *reduced(int form) {
    static const int64_t axes[] = {2, 3}, backward[] = {-1, -2};
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 3, 40, 60), y = onnx_conv(p, x, 8, 3, 1, 1);
    static const int64_t dims[] = {1, 8, 1, 1};
    const uint32_t made =
        add_shaped(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, dims, form < 4 ? 4 : 2);
    const uint32_t list = onnx_numbers(p, ARENAUT_DTYPE_INT64, axes, 2);
    switch (form) {
        case 0: ADD_OP(p, .name = "GlobalAveragePool", IN(y), OUT(made)); break;
        case 1: ADD_OP(p, .name = "GlobalMaxPool", IN(y), OUT(made)); break;
        case 2:
            ADD_OP(p, .name = "ReduceMean", IN(y), OUT(made),
                   ATTRIBUTES({"axes", 2, backward, NULL}, INTS("keepdims", 1)));
            break;
        case 3: ADD_OP(p, .name = "ReduceMax", IN(y, list), OUT(made)); break;
        case 4:
            ADD_OP(p, .name = "ReduceMean", IN(y, list), OUT(made),
                   ATTRIBUTES(INTS("keepdims", 0)));
            break;
        default:
            ADD_OP(p, .name = "ReduceMax", IN(y), OUT(made),
                   ATTRIBUTES({"axes", 2, axes, NULL}, INTS("keepdims", 0)));
    }
    onnx_finish(p, x, made);
    return p;
}

TEST(images_are_reduced_row_by_row_and_then_as_they_were) {
    for (int form = 0; form < REDUCTIONS; form++) {
        arenaut_program *p = reduced(form);
        expect_unsplit(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS}, "--rounding allow");
        for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
            const arenaut_split_stage stage = {0, 2, 4, (arenaut_split_mode)mode};
            arenaut_rewrite *rewrite = split_rounded(p, stage);
            assert_int_equal(count_named(rewrite, "MaxPool"), form % 2 ? 4 : 0);
            assert_int_equal(count_named(rewrite, "AveragePool"), form % 2 ? 0 : 4);
            assert_int_equal(count_named(rewrite, p->ops[1].name), 1);
            assert_true(rewrite->n_rounded > 0);
            arn_rewrite_free(rewrite);
        }
        arn_program_free(p);
    }
}

/* Of the concatenation of averages: the first of two operands that are exchanged, or one again. */
static void join_otherwise(arenaut_rewrite *rewrite, bool again) {
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "Concat") != 0) continue;
        uint32_t *inputs = (uint32_t *)(uintptr_t)op->inputs, first = inputs[0];
        inputs[0] = inputs[1];
        if (!again) inputs[1] = first;
    }
}

TEST(rows_that_are_missing_repeated_or_exchanged_are_found) {
    for (int form = 0; form < REDUCTIONS; form++) {
        arenaut_program *p = reduced(form);
        for (int again = 0; again <= 1; again++) {
            arenaut_rewrite *rewrite =
                split_rounded(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS});
            join_otherwise(rewrite, again);
            assert_false(is_same_program(p, rewrite));
            join_otherwise(rewrite, again);
            arn_rewrite_free(rewrite);
        }
        arn_program_free(p);
    }
}

TEST(reductions_of_another_kind_and_such_as_are_not_said_are_found) {
    for (int form = 0; form < REDUCTIONS; form++) {
        arenaut_program *p = reduced(form);
        arenaut_rewrite *rewrite =
            split_rounded(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS});
        for (uint32_t i = 0; i < rewrite->n_ops; i++) {
            arenaut_op *op = &rewrite->program->ops[i];
            const char *name = op->name;
            if (rewrite->ops[i] != ARENAUT_NONE || !strstr(name, "Pool")) continue;
            op->name = form % 2 ? "AveragePool" : "MaxPool";
            assert_false(is_same_program(p, rewrite));
            op->name = name;
            for (uint32_t k = 0; k < 2; k++) {
                int64_t *side = (int64_t *)(uintptr_t)&op->attributes[0].numbers[k];
                ++*side;
                assert_false(is_same_program(p, rewrite));
                --*side;
            }
        }
        assert_true(is_same_program(p, rewrite));
        rewrite->n_rounded = 0;
        assert_false(is_same_program(p, rewrite));
        arn_rewrite_free(rewrite);
        arn_program_free(p);
    }
}

/* ---- within each row ---- */

enum { WITHIN_ROWS = 5 };

/* A convolution, and a sum of its image along channels, or along columns. */
static arenaut_program *summed(int form) {
    static const char *const names[] = {"Softmax", "LogSoftmax", "ReduceMean", "ReduceMax",
                                        "LayerNormalization"};
    static const int64_t columns[] = {60};
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 3, 40, 60), y = onnx_conv(p, x, 8, 3, 1, 1);
    const bool reduces = form == 2 || form == 3;
    const uint32_t made = onnx_image(p, ARENAUT_INTERMEDIATE, reduces ? 1 : 8, 40, 60);
    const uint32_t each = add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, columns, 1);
    const int64_t axis = form == 4 ? -1 : 1;
    if (form == 4) {
        ADD_OP(p, .name = names[form], IN(y, each, each), OUT(made),
               ATTRIBUTES(INTS("axis", axis)));
    } else {
        ADD_OP(p, .name = names[form], IN(y), OUT(made),
               ATTRIBUTES(INTS(reduces ? "axes" : "axis", axis)));
    }
    onnx_finish(p, x, made);
    return p;
}

static void set_axis(const arenaut_op *op, int64_t axis) {
    *(int64_t *)(uintptr_t)op->attributes[0].numbers = axis;
}

static void set_all_axes(const arenaut_program *p, const arenaut_rewrite *rewrite, int64_t axis) {
    set_axis(&p->ops[1], axis);
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        if (rewrite->ops[i] == 1) set_axis(&rewrite->program->ops[i], axis);
    }
}

/* If the old op sums up rows, tiles of it are something else. */
TEST(sums_within_each_row_are_tiled_and_such_of_several_rows_found) {
    for (int form = 0; form < WITHIN_ROWS; form++) {
        for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
            arenaut_program *p = summed(form);
            const int64_t axis = p->ops[1].attributes[0].numbers[0];
            arenaut_rewrite *rewrite =
                split_tiles(p, (arenaut_split_stage){0, 2, 2, (arenaut_split_mode)mode});
            assert_int_equal(rewrite->n_rounded, 0);
            assert_int_equal(count_named(rewrite, p->ops[1].name), 2);
            for (int64_t other = form == 4 ? -2 : 2; other >= -4; other -= 4) {
                set_all_axes(p, rewrite, other);
                assert_false(is_same_program(p, rewrite));
            }
            set_all_axes(p, rewrite, axis);
            assert_true(is_same_program(p, rewrite));
            p->dialect_version = rewrite->program->dialect_version = 12;
            assert_int_equal(is_same_program(p, rewrite), form > 1);
            arn_rewrite_free(rewrite);
            arn_program_free(p);
        }
    }
}

/* ---- squeeze and excitation ---- */

enum { FIRST_POOL = 2 }; /* of a block */

/* An image times factors by channel, which are computed from its averages. */
static uint32_t add_squeeze(arenaut_program *p, uint32_t x) {
    const int64_t channels = p->tensors[x].dims[C];
    const uint32_t image = onnx_relu(p, onnx_conv(p, x, channels, 3, 1, 1));
    const uint32_t pooled = onnx_image(p, ARENAUT_INTERMEDIATE, channels, 1, 1);
    ADD_OP(p, .name = "GlobalAveragePool", IN(image), OUT(pooled));
    const uint32_t narrow = onnx_relu(p, onnx_conv(p, pooled, 4, 1, 1, 0));
    const uint32_t wide = onnx_conv(p, narrow, channels, 1, 1, 0);
    const uint32_t factors = onnx_image(p, ARENAUT_INTERMEDIATE, channels, 1, 1);
    ADD_OP(p, .name = "Sigmoid", IN(wide), OUT(factors));
    const uint32_t y = onnx_made(p, image, channels, 1, 0, 1);
    ADD_OP(p, .name = "Mul", IN(image, factors), OUT(y));
    return y;
}

/* So many of them one behind the other, and a convolution. */
static arenaut_program *squeezed(uint32_t n) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 8, 40, 60);
    uint32_t y = x;
    for (uint32_t i = 0; i < n; i++) y = add_squeeze(p, y);
    onnx_finish(p, x, onnx_conv(p, y, 6, 3, 1, 1));
    return p;
}

/* What the tiles of a group of so many blocks run, in four tiles each time: the ops up to the last
 * pool in each sweep, those behind it once, and those between on all that they read. */
static uint32_t convolutions(uint32_t n) {
    uint32_t large = 1; /* that behind the last block */
    for (uint32_t i = 0; i < n; i++) large += n - i + 1;
    return 4 * large + 2 * n;
}

TEST(tiles_go_over_all_rows_before_ops_that_read_a_reduction) {
    for (uint32_t n = 1; n <= 3; n++) {
        arenaut_program *p = squeezed(n);
        for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
            const arenaut_split_stage stage = {0, p->n_ops, 4, (arenaut_split_mode)mode};
            expect_unsplit(p, stage, "--rounding allow");
            arenaut_rewrite *rewrite = split_rounded(p, stage);
            assert_int_equal(count_named(rewrite, "GlobalAveragePool"), n);
            assert_int_equal(count_named(rewrite, "Sigmoid"), n);
            assert_true(rewrite->macs > rewrite->macs_before);
            if (mode == ARENAUT_SPLIT_ROWS || p->n_ops < 17) /* else each at its own height */
                assert_int_equal(count_named(rewrite, "Conv"), convolutions(n));
            arn_rewrite_free(rewrite);
        }
        arn_program_free(p);
    }
}

/* Ranges that need less, whole, than any choice: they are not tried. */
TEST(the_search_tries_no_range_below_what_each_choice_needs) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 8, 40, 60);
    uint32_t y = add_squeeze(p, x);
    for (int i = 0; i < 10; i++) y = onnx_relu(p, onnx_conv(p, y, i % 2 ? 2 : 6, 3, 1, 1));
    onnx_finish(p, x, y);
    const arenaut_split_options options = {.rounding = true};
    arenaut_split_front *front = NULL;
    arn_region region;
    arn_region_init(&region, NULL);
    assert_int_equal(split_find(p, &options, &region, &front, NULL), ARENAUT_OK);
    assert_true(front->effort < 3000); /* with them 3189 */
    arn_region_free(&region);
    arn_program_free(p);
}

/* Its axes come from an op on constants in front of it, which runs before the reduction is
 * complete; so do the axes of a second one, behind the first. */
TEST(operands_of_a_reduction_are_made_before_it) {
    static const int64_t axes[] = {H, W};
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 8, 40, 60);
    uint32_t y = onnx_conv(p, x, 8, 3, 1, 1);
    for (int i = 0; i < 2; i++) {
        const uint32_t list = onnx_numbers(p, ARENAUT_DTYPE_INT64, axes, 2);
        const uint32_t mean = onnx_image(p, ARENAUT_INTERMEDIATE, 8, 1, 1);
        const uint32_t scaled = onnx_made(p, y, 8, 1, 0, 1);
        ADD_OP(p, .name = "Constant", OUT(list));
        ADD_OP(p, .name = "ReduceMean", IN(y, list), OUT(mean));
        ADD_OP(p, .name = "Mul", IN(y, mean), OUT(scaled));
        y = scaled;
    }
    onnx_finish(p, x, y);
    for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
        arenaut_rewrite *rewrite =
            split_rounded(p, (arenaut_split_stage){0, p->n_ops, 4, (arenaut_split_mode)mode});
        bool made = false;
        for (uint32_t i = 0; i < rewrite->n_ops; i++) {
            const arenaut_op *op = &rewrite->program->ops[i];
            if (strcmp(op->name, "Constant") == 0) made = true;
            if (strcmp(op->name, "ReduceMean") == 0) assert_true(made);
        }
        arn_rewrite_free(rewrite);
    }
    arn_program_free(p);
}

/* Moves an op behind all others. */
static void move_to_end(arenaut_rewrite *rewrite, uint32_t op) {
    arenaut_op *ops = (arenaut_op *)rewrite->program->ops;
    const arenaut_op moved = ops[op];
    const uint32_t origin = rewrite->ops[op];
    for (uint32_t i = op; i + 1 < rewrite->n_ops; i++) {
        ops[i] = ops[i + 1];
        rewrite->ops[i] = rewrite->ops[i + 1];
    }
    ops[rewrite->n_ops - 1] = moved;
    rewrite->ops[rewrite->n_ops - 1] = origin;
}

TEST(constants_that_are_made_behind_their_readers_are_refused) {
    static const int64_t axes[] = {H, W};
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 8, 40, 60);
    const uint32_t y = onnx_conv(p, x, 8, 3, 1, 1);
    const uint32_t list = onnx_numbers(p, ARENAUT_DTYPE_INT64, axes, 2);
    const uint32_t mean = onnx_image(p, ARENAUT_INTERMEDIATE, 8, 1, 1);
    ADD_OP(p, .name = "Constant", OUT(list));
    ADD_OP(p, .name = "ReduceMean", IN(y, list), OUT(mean));
    onnx_finish(p, x, mean);
    arenaut_rewrite *rewrite =
        split_rounded(p, (arenaut_split_stage){0, p->n_ops, 4, ARENAUT_SPLIT_ROWS});
    arenaut_finding finding;
    arenaut_error err;
    uint32_t constant = 0;
    while (strcmp(rewrite->program->ops[constant].name, "Constant") != 0) constant++;
    assert_ok(arenaut_check_rewrite(p, rewrite, NULL, &finding, &err), err);
    move_to_end(rewrite, constant);
    assert_int_equal(arenaut_check_rewrite(p, rewrite, NULL, &finding, &err), ARENAUT_REJECTED);
    assert_non_null(strstr(finding.msg, "reads a tensor that no op has made"));
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(more_than_four_times_over_all_rows_are_refused) {
    arenaut_program *p = squeezed(4);
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    const arenaut_split_stage all = {0, p->n_ops, 4, ARENAUT_SPLIT_ROWS};
    assert_int_equal(arn_split(p, &all, 1, true, NULL, &rewrite, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "more than four times"));
    arn_rewrite_free(
        split_rounded(p, (arenaut_split_stage){1, p->n_ops - 3, 4, ARENAUT_SPLIT_ROWS}));
    arn_program_free(p);
}

/* The image is there: it is not made again, and no op runs twice. */
TEST(a_group_that_begins_with_a_pool_and_goes_on_with_its_readers) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 8, 40, 60);
    const uint32_t pooled = onnx_image(p, ARENAUT_INTERMEDIATE, 8, 1, 1);
    const uint32_t y = onnx_image(p, ARENAUT_INTERMEDIATE, 8, 40, 60);
    ADD_OP(p, .name = "GlobalAveragePool", IN(x), OUT(pooled));
    ADD_OP(p, .name = "Mul", IN(x, pooled), OUT(y));
    onnx_finish(p, x, y);
    arenaut_rewrite *rewrite = split_rounded(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS});
    assert_int_equal(count_named(rewrite, "Mul"), 4);
    assert_int_equal(count_named(rewrite, "AveragePool"), 4);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* A pool of the first block behind that of the second: what reads it runs behind it. */
TEST(ops_between_a_pool_and_its_readers_keep_their_sequence) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 8, 40, 60);
    const uint32_t first = add_squeeze(p, x), y = add_squeeze(p, first);
    const uint32_t pooled = p->ops[FIRST_POOL].outputs[0];
    const uint32_t late = onnx_conv(p, pooled, 8, 1, 1, 0);
    const uint32_t made = onnx_made(p, y, 8, 1, 0, 1);
    ADD_OP(p, .name = "Mul", IN(y, late), OUT(made));
    onnx_finish(p, x, made);
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    const arenaut_split_stage all = {0, p->n_ops, 4, ARENAUT_SPLIT_ROWS};
    assert_int_equal(arn_split(p, &all, 1, true, NULL, &rewrite, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "would change places"));
    arn_program_free(p);
}

TEST(any_wrong_tile_and_any_wrong_factor_of_a_squeeze_is_found) {
    for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
        for (uint32_t n = 1; n <= 2; n++) {
            arenaut_program *p = squeezed(n);
            const arenaut_split_stage all = {0, p->n_ops, 3, (arenaut_split_mode)mode};
            assert_true(spoil_tiles(p, all) > 100);
            arn_program_free(p);
        }
    }
}

/* ---- normalizations ---- */

enum { NORM_OPS = 5 }; /* behind the first: Reshape, InstanceNormalization, Reshape, Mul, Conv */

/* An image that is normalized in groups of channels, as exporters write it; of as many groups as
 * channels without another shape around. */
static arenaut_program *normalized(int64_t groups, const double *epsilon) {
    static const int64_t channels[] = {8, 1, 1}, image[] = {1, 8, 40, 60};
    arenaut_program *p = onnx_begin();
    const bool apart = groups == 8;
    const int64_t grouped[] = {1, groups, 8 / groups * 40 * 60};
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 8, 40, 60), relu = onnx_relu(p, x);
    const uint32_t scale = add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, &groups, 1);
    const uint32_t bias = add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, &groups, 1);
    const uint32_t factor = add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, channels, 3);
    const int64_t *bits = (const int64_t *)epsilon;
    const arenaut_attribute each[] = {{"epsilon", 1, bits, NULL}};
    uint32_t read = relu, made = onnx_image(p, ARENAUT_INTERMEDIATE, 8, 40, 60), norm = made;
    if (!apart) {
        read = add_shaped(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, grouped, 3);
        norm = add_shaped(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, grouped, 3);
        ADD_OP(p, .name = "Reshape", IN(relu, onnx_numbers(p, ARENAUT_DTYPE_INT64, grouped, 3)),
               OUT(read));
    }
    ADD_OP(p, .name = "InstanceNormalization", IN(read, scale, bias), OUT(norm), .attributes = each,
           .n_attributes = epsilon ? 1 : 0);
    if (!apart) {
        ADD_OP(p, .name = "Reshape", IN(norm, onnx_numbers(p, ARENAUT_DTYPE_INT64, image, 4)),
               OUT(made));
    }
    const uint32_t scaled = onnx_image(p, ARENAUT_INTERMEDIATE, 8, 40, 60);
    ADD_OP(p, .name = "Mul", IN(made, factor), OUT(scaled));
    onnx_finish(p, x, onnx_conv(p, scaled, 4, 3, 1, 1));
    return p;
}

/* GroupNormalization, with a scale and a bias for each channel. */
static arenaut_program *normalized_by_channel(int64_t groups, const double *epsilon) {
    static const int64_t channels[] = {8};
    arenaut_program *p = onnx_begin();
    p->dialect_version = 21;
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 8, 40, 60), relu = onnx_relu(p, x);
    const uint32_t scale = add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, channels, 1);
    const uint32_t bias = add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, channels, 1);
    const uint32_t made = onnx_image(p, ARENAUT_INTERMEDIATE, 8, 40, 60);
    ADD_OP(p, .name = "GroupNormalization", IN(relu, scale, bias), OUT(made),
           ATTRIBUTES(INTS("num_groups", groups), {"epsilon", 1, (const int64_t *)epsilon, NULL}));
    onnx_finish(p, x, onnx_conv(p, made, 4, 3, 1, 1));
    return p;
}

TEST(images_are_normalized_in_two_passes) {
    const double epsilon = 1e-6;
    for (int64_t groups = 1; groups <= 8; groups *= 2) {
        arenaut_program *p = normalized(groups, groups % 3 ? &epsilon : NULL);
        const uint32_t n = p->n_ops - 1;
        expect_unsplit(p, (arenaut_split_stage){1, n, 4, ARENAUT_SPLIT_ROWS}, "--rounding allow");
        for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
            for (uint32_t tiles = 2; tiles <= 9; tiles++) {
                const arenaut_split_stage stage = {1, n, tiles, (arenaut_split_mode)mode};
                arenaut_rewrite *rewrite = split_rounded(p, stage);
                assert_int_equal(count_named(rewrite, "AveragePool"), 2 * tiles);
                assert_int_equal(count_named(rewrite, "InstanceNormalization"), 0);
                assert_int_equal(count_named(rewrite, "Sqrt"), 1);
                arn_rewrite_free(rewrite);
            }
        }
        arn_program_free(p);
    }
}

static void expect_refused_anyway(const arenaut_program *p, uint32_t first, uint32_t n,
                                  const char *why) {
    const arenaut_split_stage stage = {first, n, 4, ARENAUT_SPLIT_KEPT};
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    assert_int_equal(arn_split(p, &stage, 1, true, NULL, &rewrite, &err), ARENAUT_BAD_ARGUMENT);
    if (!strstr(err.msg, why)) fail_msg("expected \"%s\": %s", why, err.msg);
}

TEST(a_group_has_a_normalization_behind_its_image_and_as_a_whole) {
    arenaut_program *p = normalized(2, NULL);
    expect_refused_anyway(p, 0, 5, "which must be whole before");
    expect_refused_anyway(p, 1, 2, "it ends within a normalization");
    expect_refused_anyway(p, 2, 3, "it begins within a normalization");
    arn_program_free(p);
    p = normalized(8, NULL);
    expect_refused_anyway(p, 0, 3, "which must be whole before");
    arn_program_free(p);
}

/* Steps of a normalization, and tensors of floating point that they may read. */
static bool is_norm_step(const arenaut_rewrite *rewrite, uint32_t i) {
    static const char *const names[] = {"Sub",    "Mul",         "Add",        "GlobalAveragePool",
                                        "Sqrt",   "AveragePool", "Reciprocal", "Reshape",
                                        "Expand", "Concat"};
    const arenaut_op *op = &rewrite->program->ops[i];
    const arenaut_tensor *made = &rewrite->program->tensors[op->outputs[0]];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (strcmp(op->name, names[k]) != 0) continue;
        return rewrite->ops[i] == ARENAUT_NONE && made->dtype == ARENAUT_DTYPE_FLOAT32;
    }
    return false;
}

/* The whole image is its own alias. */
static bool is_alias(const arenaut_rewrite *rewrite, uint32_t a, uint32_t b) {
    const int64_t whole = rewrite->program->tensors[a].dims[H];
    return whole == 40 && rewrite->program->tensors[b].rank == 4 &&
           rewrite->tensors[a].tensor == rewrite->tensors[b].tensor &&
           rewrite->program->tensors[a].dims[W] == 60;
}

/* Operands that are replaced by any other tensor of the same sizes. */
static uint32_t read_otherwise(const arenaut_program *p, arenaut_rewrite *rewrite, uint32_t i) {
    const arenaut_op *op = &rewrite->program->ops[i];
    uint32_t n = 0;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        uint32_t *input = (uint32_t *)(uintptr_t)&op->inputs[k], before = *input;
        for (uint32_t t = 0; t < rewrite->program->n_tensors; t++) {
            const arenaut_tensor *other = &rewrite->program->tensors[t];
            if (t == before || !same_sizes(other, &rewrite->program->tensors[before])) continue;
            if (other->dtype != ARENAUT_DTYPE_FLOAT32 || is_alias(rewrite, before, t)) continue;
            *input = t;
            if (is_same_program(p, rewrite)) {
                fail_msg("op %u, %s, may read tensor %u instead of %u", (unsigned)i, op->name,
                         (unsigned)t, (unsigned)before);
            }
            n++;
        }
        *input = before;
    }
    return n;
}

TEST(a_step_of_a_normalization_on_other_numbers_is_found) {
    uint32_t n = 0;
    for (int64_t groups = 2; groups <= 8; groups *= 4) {
        const double epsilon = 1e-3;
        arenaut_program *p = normalized(groups, &epsilon);
        arenaut_rewrite *rewrite =
            split_rounded(p, (arenaut_split_stage){1, p->n_ops - 1, 2, ARENAUT_SPLIT_ROWS});
        for (uint32_t i = 0; i < rewrite->n_ops; i++) {
            if (is_norm_step(rewrite, i)) n += read_otherwise(p, rewrite, i);
        }
        assert_true(is_same_program(p, rewrite));
        arn_rewrite_free(rewrite);
        arn_program_free(p);
    }
    assert_true(n > 300);
}

/* Constants by channel, and any that is replaced, or belongs to another number of groups. */
TEST(groups_with_constants_by_channel_are_normalized_in_two_passes) {
    const double epsilon = 1e-6;
    for (int64_t groups = 1; groups <= 8; groups *= 2) {
        arenaut_program *p = normalized_by_channel(groups, &epsilon);
        const arenaut_split_stage stage = {1, 2, 3, ARENAUT_SPLIT_ROWS};
        expect_unsplit(p, stage, "--rounding allow");
        arenaut_rewrite *rewrite = split_rounded(p, stage);
        assert_int_equal(count_named(rewrite, "AveragePool"), 6);
        assert_int_equal(count_named(rewrite, "GroupNormalization"), 0);
        uint32_t n = 0;
        for (uint32_t i = 0; i < rewrite->n_ops; i++) {
            if (is_norm_step(rewrite, i)) n += read_otherwise(p, rewrite, i);
        }
        assert_true(n > 100);
        assert_true(is_same_program(p, rewrite));
        int64_t *said = (int64_t *)(uintptr_t)p->ops[1].attributes[0].numbers;
        *said = groups == 2 ? 4 : 2;
        assert_false(is_same_program(p, rewrite));
        arn_rewrite_free(rewrite);
        arn_program_free(p);
    }
    arenaut_program *p = normalized_by_channel(2, &epsilon);
    p->dialect_version = 20; /* constants were by group then */
    expect_refused_anyway(p, 1, 2, "cannot be tiled");
    arn_program_free(p);
}

TEST(another_step_of_a_normalization_and_other_constants_are_found) {
    static const char *const names[] = {"Sub",     "Mul",           "Add",
                                        "Div",     "Sqrt",          "Reciprocal",
                                        "Max",     "GlobalMaxPool", "GlobalAveragePool",
                                        "Identity"};
    const double epsilon = 1e-3;
    arenaut_program *p = normalized(2, &epsilon);
    arenaut_rewrite *rewrite =
        split_rounded(p, (arenaut_split_stage){1, p->n_ops - 1, 3, ARENAUT_SPLIT_KEPT});
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        arenaut_op *op = &rewrite->program->ops[i];
        const char *name = op->name;
        if (!is_norm_step(rewrite, i)) continue;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (strcmp(name, names[k]) == 0) continue;
            op->name = names[k];
            if (is_same_program(p, rewrite)) fail_msg("op %u may be %s", (unsigned)i, names[k]);
        }
        op->name = name;
    }
    for (uint32_t t = 0; t < rewrite->program->n_tensors; t++) {
        const arenaut_tensor *list = &rewrite->program->tensors[t];
        if (list->cls != ARENAUT_CONSTANT || rewrite->tensors[t].tensor != ARENAUT_NONE) continue;
        if (list->dtype != ARENAUT_DTYPE_FLOAT32 && list->n_values != 4) continue;
        for (uint32_t k = 0; k < list->n_values; k++) {
            if (list->rank == 2) continue; /* of order edges: any element does */
            ++*(int64_t *)(uintptr_t)&list->values[k];
            if (is_same_program(p, rewrite)) fail_msg("number %u of t%u", (unsigned)k, (unsigned)t);
            --*(int64_t *)(uintptr_t)&list->values[k];
        }
    }
    rewrite->n_rounded = 0;
    assert_false(is_same_program(p, rewrite));
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

static arenaut_status split_norm_with(void *context, const arenaut_allocator *allocator) {
    const arenaut_split_stage stage = {1, NORM_OPS, 3, ARENAUT_SPLIT_KEPT};
    return split_checked(context, &stage, 1, true, allocator);
}

TEST(normalizations_and_their_check_survive_every_allocation_failure) {
    arenaut_program *p = normalized(2, NULL);
    survives_every_allocation_failure(split_norm_with, p);
    arn_program_free(p);
}
