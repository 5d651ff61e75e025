/* Tiles of ONNX's operators: the geometry of windows on images NCHW, signals and volumes, refusals,
 * and the checker on tiled programs of which one number or one argument is wrong. That tiles
 * compute the same is for ONNX Runtime to say (tests/pytest/test_split_onnx.py). */
#include "support/test.h"
#include "support/thorough.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/split/tile_groups.h"
#include "support/bytes.h"
#include "support/fuse.h"
#include "support/onnx_graphs.h"
#include "support/programs.h"
#include "support/split_checked.h"
#include "support/sweep.h"

/* All kinds of windows in a chain, on a signal, an image or a volume. */
static arenaut_program *chain_of(uint32_t axes) {
    static const int64_t sides[][3] = {{0}, {12000}, {64, 400}, {90, 16, 20}};
    int64_t dims[MOST_RANK] = {1, 3};
    arenaut_program *p = onnx_begin();
    memcpy(dims + H, sides[axes], axes * sizeof *dims);
    const uint32_t x = add_shaped(p, ARENAUT_INPUT, ARENAUT_DTYPE_FLOAT32, dims, H + axes);
    uint32_t y = onnx_relu(p, onnx_conv(p, x, 8, 3, 1, 1));
    y = onnx_pool(p, y, 2);
    y = onnx_resize(p, y, "linear", "half_pixel");
    y = onnx_conv(p, y, 4, 3, 2, 1);
    y = onnx_transposed(p, y, 2, 4, 2, 1);
    onnx_finish(p, x, y);
    return p;
}

static arenaut_program *chain(void) { return chain_of(2); }

static uint32_t add_pad(arenaut_program *p, uint32_t x, const char *mode, int64_t above,
                        int64_t below) {
    const int64_t *in = p->tensors[x].dims, pads[] = {0, 0, above, 2, 0, 0, below, 1};
    const uint32_t list = onnx_numbers(p, ARENAUT_DTYPE_INT64, pads, 8);
    const uint32_t y = onnx_image(p, ARENAUT_INTERMEDIATE, in[C], in[H] + above + below, in[W] + 3);
    ADD_OP(p, .name = "Pad", IN(x, list), OUT(y), ATTRIBUTES(WORD("mode", mode)));
    return y;
}

/* All kinds of margins, one around the other. */
static arenaut_program *margins(void) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 3, 40, 60);
    uint32_t y = add_pad(p, onnx_relu(p, x), "reflect", 5, 7);
    y = add_pad(p, onnx_relu(p, y), "edge", 2, 3);
    y = add_pad(p, onnx_relu(p, y), "constant", 1, 2);
    onnx_finish(p, x, y);
    return p;
}

/* ---- tiles ---- */

TEST(parts_of_a_convolution_have_padding_at_the_edges_of_the_image_alone) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 3, 40, 400);
    onnx_finish(p, x, onnx_conv(p, x, 8, 3, 1, 1));
    arenaut_rewrite *rewrite = split_tiles(p, (arenaut_split_stage){0, 1, 4, ARENAUT_SPLIT_ROWS});
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        if (rewrite->ops[i] == ARENAUT_NONE) continue;
        const int64_t pads[] = {n == 0, 1, n == 3, 1};
        assert_int_equal(op->n_attributes, 2);
        assert_string_equal(op->attributes[1].name, "pads");
        assert_memory_equal(op->attributes[1].numbers, pads, sizeof pads);
        assert_int_equal(rewrite->program->tensors[op->inputs[0]].dims[H], n % 3 == 0 ? 11 : 12);
        n++;
    }
    assert_int_equal(n, 4);
    assert_int_equal(count_named(rewrite, "Pad"), 0);
    assert_int_equal(count_named(rewrite, "Concat"), 1);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* For each tile: an element of the tile before, or of the image; its place among one; a sum, and
 * one more with the order edge of the tile before. And for the image an alias, of which the shape
 * is a sum with the first of these numbers. */
TEST(each_tile_depends_on_the_one_before) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 3, 40, 400);
    onnx_finish(p, x, onnx_conv(p, x, 8, 3, 1, 1));
    arenaut_rewrite *rewrite = split_tiles(p, (arenaut_split_stage){0, 1, 4, ARENAUT_SPLIT_ROWS});
    assert_int_equal(count_named(rewrite, "Slice"), 4);
    assert_int_equal(count_named(rewrite, "GatherND"), 4);
    assert_int_equal(count_named(rewrite, "ArgMax"), 4);
    assert_int_equal(count_named(rewrite, "Add"), 4 + 3 + 1);
    assert_int_equal(count_named(rewrite, "Squeeze"), 1);
    assert_int_equal(count_named(rewrite, "Reshape"), 1);
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "Slice") == 0) assert_int_not_equal(op->inputs[0], x);
    }
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(halo_is_computed_twice_or_kept_in_line_buffers) {
    arenaut_program *p = chain();
    arenaut_rewrite *rows = split_tiles(p, (arenaut_split_stage){0, 5, 3, ARENAUT_SPLIT_ROWS});
    arenaut_rewrite *kept = split_tiles(p, (arenaut_split_stage){0, 5, 3, ARENAUT_SPLIT_KEPT});
    assert_true(rows->macs > rows->macs_before);
    assert_int_equal(kept->macs, kept->macs_before);
    assert_true(count_named(kept, "Concat") > count_named(rows, "Concat"));
    arn_rewrite_free(rows);
    arn_rewrite_free(kept);
    arn_program_free(p);
}

TEST(low_tiles_stay_low_where_rounding_is_allowed) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 16, 64, 64);
    onnx_finish(p, x, onnx_conv(p, x, 8, 3, 1, 1));
    arenaut_rewrite *low = split_rounded(p, (arenaut_split_stage){0, 1, 16, ARENAUT_SPLIT_ROWS});
    arenaut_rewrite *high = split_rounded(p, (arenaut_split_stage){0, 1, 2, ARENAUT_SPLIT_ROWS});
    assert_int_equal(low->macs, low->macs_before);
    assert_int_equal(low->n_rounded, 1);
    assert_int_equal(low->rounded, 0);
    assert_int_equal(high->n_rounded, 0);
    assert_int_equal(high->rounded, ARENAUT_NONE);
    arn_rewrite_free(low);
    arn_rewrite_free(high);
    arn_program_free(p);
}

/* Whose last elements take another path. */
TEST(curves_of_two_kernels_are_tiled_where_rounding_is_allowed) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 3, 40, 60);
    const uint32_t y = onnx_image(p, ARENAUT_INTERMEDIATE, 3, 40, 60);
    ADD_OP(p, .name = "Elu", IN(x), OUT(y));
    onnx_finish(p, x, y);
    const arenaut_split_stage stage = {0, 1, 2, ARENAUT_SPLIT_ROWS};
    expect_unsplit(p, stage, "may make other bits in any tiles, which --rounding allow permits");
    arenaut_rewrite *rewrite = split_rounded(p, stage);
    assert_int_equal(rewrite->n_rounded, 1);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(low_tiles_become_as_high_as_their_kernels_need) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 16, 64, 64);
    onnx_finish(p, x, onnx_conv(p, x, 8, 3, 1, 1));
    arenaut_rewrite *rows = split_tiles(p, (arenaut_split_stage){0, 1, 16, ARENAUT_SPLIT_ROWS});
    arenaut_rewrite *kept = split_tiles(p, (arenaut_split_stage){0, 1, 16, ARENAUT_SPLIT_KEPT});
    assert_int_equal(rows->macs, 16 * 12 * rows->macs_before / 64); /* 768 places, not 256 */
    assert_int_equal(kept->macs, kept->macs_before);
    arn_rewrite_free(rows);
    arn_rewrite_free(kept);
    arn_program_free(p);
}

/* The last op of a descent by four levels needs twelve rows, for which the first makes about two
 * hundred: in steps of its own height, each row once, so that no tensor of it is high. */
TEST(ops_of_a_group_have_tiles_of_their_own_height) {
    arenaut_program *p = onnx_begin();
    const uint32_t x = onnx_image(p, ARENAUT_INPUT, 16, 1024, 1024);
    uint32_t y = onnx_conv(p, x, 16, 3, 1, 1);
    for (int level = 0; level < 4; level++) y = onnx_pool(p, y, 2);
    onnx_finish(p, x, onnx_conv(p, y, 16, 3, 1, 1));
    arenaut_rewrite *rewrite = split_tiles(p, (arenaut_split_stage){0, 6, 64, ARENAUT_SPLIT_KEPT});
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        const int64_t *dims = rewrite->program->tensors[op->outputs[0]].dims;
        if (rewrite->ops[i] == 0) assert_true(dims[H] <= 24);
        if (rewrite->ops[i] == 5) assert_true(dims[H] >= 12);
    }
    assert_int_equal(rewrite->macs, rewrite->macs_before);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* The tiles are as high as their kernels need, and fewer than the stage has: what is kept of the
 * first for a reader far below is cut into more segments than there are tiles. */
TEST(a_long_line_buffer_of_few_tall_tiles_is_cut_into_many_segments) {
    arenaut_program *p = onnx_begin();
    const int64_t dims[] = {1, 48, 12000}, kernel[] = {48, 48, 3};
    const uint32_t x = add_shaped(p, ARENAUT_INPUT, ARENAUT_DTYPE_FLOAT32, dims, 3);
    const uint32_t wide = onnx_conv(p, x, 48, 3, 1, 1);
    const uint32_t far = onnx_made(p, wide, 48, 1, 0, 1), sum = onnx_made(p, wide, 48, 1, 0, 1);
    const uint32_t weights = add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, kernel, 3);
    ADD_OP(p, .name = "Conv", IN(wide, weights), OUT(far),
           ATTRIBUTES(INTS("dilations", 5000), INTS("pads", 5000, 5000)));
    ADD_OP(p, .name = "Add", IN(wide, far), OUT(sum));
    onnx_finish(p, x, sum);
    for (uint32_t pieces = 100; pieces <= 1600; pieces *= 2) {
        arn_rewrite_free(split_tiles(p, (arenaut_split_stage){0, 3, pieces, ARENAUT_SPLIT_KEPT}));
    }
    arn_program_free(p);
}

TEST(modes_and_versions_that_have_no_tiles_are_refused) {
    arenaut_program *p = chain();
    expect_unsplit(p, (arenaut_split_stage){0, 2, 2, ARENAUT_SPLIT_CHANNELS}, "not channels");
    expect_unsplit(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_KEPT_CALLED}, "no calls");
    p->dialect_version = 12;
    expect_refused(p, "version 13");
    arn_program_free(p);
}

/* Places that depend on the length of the image, or have rounding errors, and other modes. */
TEST(images_are_resized_in_tiles_if_places_are_exact) {
    static const struct {
        const char *mode, *place;
        bool tiled;
    } cases[] = {{"nearest", "asymmetric", true},  {"linear", "asymmetric", true},
                 {"linear", "half_pixel", true},   {"linear", "pytorch_half_pixel", true},
                 {"nearest", "half_pixel", false}, {"linear", "align_corners", false},
                 {"cubic", "half_pixel", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_program *p = onnx_begin();
        const uint32_t x = onnx_image(p, ARENAUT_INPUT, 3, 40, 400);
        onnx_finish(p, x, onnx_resize(p, x, cases[i].mode, cases[i].place));
        const arenaut_split_stage stage = {0, 1, 4, ARENAUT_SPLIT_ROWS};
        if (cases[i].tiled) arn_rewrite_free(split_tiles(p, stage));
        else expect_unsplit(p, stage, "an op in it cannot be tiled");
        arn_program_free(p);
    }
}

/* The first rows of the whole lie between its rows 0 and 1, with no part of row 1: a tile of row 0
 * alone would not have that one. */
TEST(images_are_resized_in_tiles_of_any_height) {
    for (int64_t height = 3; height <= 7; height++) {
        arenaut_program *p = onnx_begin();
        const uint32_t x = onnx_image(p, ARENAUT_INPUT, 3, height, 400);
        onnx_finish(p, x, onnx_resize(p, onnx_relu(p, x), "linear", "half_pixel"));
        for (uint32_t tiles = 2; tiles <= 2 * height; tiles++) {
            arn_rewrite_free(
                split_tiles(p, (arenaut_split_stage){1, 1, tiles, ARENAUT_SPLIT_ROWS}));
            arn_rewrite_free(
                split_tiles(p, (arenaut_split_stage){0, 2, tiles, ARENAUT_SPLIT_KEPT}));
        }
        arn_program_free(p);
    }
}

/* The runtime may move the padding into the pool, and not in the same way in tiles. */
TEST(a_number_around_the_operand_of_a_pool_is_not_tiled) {
    static const char *const modes[] = {"constant", "edge"};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        arenaut_program *p = onnx_begin();
        const uint32_t x = onnx_image(p, ARENAUT_INPUT, 3, 37, 400);
        const uint32_t y = add_pad(p, onnx_relu(p, x), modes[i], 1, 2);
        onnx_finish(p, x, onnx_pool(p, onnx_relu(p, onnx_pool(p, y, 2)), 2));
        const arenaut_split_stage pad = {0, 2, 3, ARENAUT_SPLIT_ROWS},
                                  pool = {2, 2, 3, ARENAUT_SPLIT_ROWS},
                                  behind = {3, 2, 3, ARENAUT_SPLIT_ROWS};
        arn_rewrite_free(split_tiles(p, behind));
        if (i == 0) {
            expect_unsplit(p, pad, "an op in it cannot be tiled");
            expect_unsplit(p, pool, "an op in it cannot be tiled");
        } else {
            arn_rewrite_free(split_tiles(p, pad));
            arn_rewrite_free(split_tiles(p, pool));
        }
        arn_program_free(p);
    }
}

/* ---- findings of the checker ---- */

static bool is_read_by(const arenaut_rewrite *rewrite, uint32_t tensor, const char *name) {
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] == tensor && strcmp(op->name, name) == 0) return true;
        }
    }
    return false;
}

/* Another element than the first would do as well. */
static bool matters(const arenaut_rewrite *rewrite, uint32_t tensor) {
    return rewrite->tensors[tensor].tensor == ARENAUT_NONE &&
           rewrite->program->tensors[tensor].n_values > 0 &&
           !is_read_by(rewrite, tensor, "GatherND");
}

static uint32_t spoil_number(const arenaut_program *p, const arenaut_rewrite *rewrite,
                             int64_t *number) {
    const int64_t right = *number;
    for (int64_t by = -1; by <= 1; by += 2) {
        *number = right + by;
        if (is_same_program(p, rewrite))
            fail_msg("%lld was taken for %lld", (long long)*number, (long long)right);
    }
    *number = right;
    return 2;
}

/* A row of padding more behind, which no window of a stride of two reaches. */
static bool is_unseen(const arenaut_op *op, const arenaut_attribute *attribute, uint32_t k) {
    int64_t stride = 1;
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        const arenaut_attribute *a = &op->attributes[i];
        if (strcmp(a->name, "strides") == 0) stride = a->numbers[0];
    }
    return strcmp(attribute->name, "pads") == 0 && k >= attribute->n_numbers / 2 && stride == 2;
}

/* Numbers of a tiled program that are wrong by one, of which the checker takes none. */
static uint32_t spoil_all(const arenaut_program *p) {
    uint32_t n = 0;
    for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
        arenaut_rewrite *rewrite =
            split_tiles(p, (arenaut_split_stage){0, p->n_ops, 3, (arenaut_split_mode)mode});
        arenaut_program *made = rewrite->program;
        for (uint32_t t = 0; t < rewrite->n_tensors; t++) {
            for (uint32_t i = 0; matters(rewrite, t) && i < made->tensors[t].n_values; i++) {
                n += spoil_number(p, rewrite, (int64_t *)(uintptr_t)&made->tensors[t].values[i]);
            }
        }
        for (uint32_t i = 0; i < rewrite->n_ops; i++) {
            for (uint32_t a = 0; a < made->ops[i].n_attributes; a++) {
                const arenaut_attribute *it = &made->ops[i].attributes[a];
                for (uint32_t k = 0; k < it->n_numbers; k++) {
                    if (is_unseen(&made->ops[i], it, k)) continue;
                    n += spoil_number(p, rewrite, (int64_t *)(uintptr_t)&it->numbers[k]);
                }
            }
        }
        arn_rewrite_free(rewrite);
    }
    return n;
}

TEST(any_wrong_number_is_found) {
    arenaut_program *padded = margins();
    assert_true(spoil_all(padded) > 150);
    arn_program_free(padded);
    for (uint32_t axes = 1; axes <= 3; axes++) {
        arenaut_program *windows = chain_of(axes);
        assert_true(spoil_all(windows) > 200);
        arn_program_free(windows);
    }
}

/* A margin of a cut edge shows other rows than that of the image; a value is the same anywhere. */
TEST(margins_of_another_kind_are_found) {
    static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};
    arenaut_program *p = margins();
    arenaut_rewrite *rewrite = split_tiles(p, (arenaut_split_stage){0, 6, 3, ARENAUT_SPLIT_ROWS});
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "Pad") != 0) continue;
        arenaut_attribute *mode = (arenaut_attribute *)(uintptr_t)&op->attributes[0];
        const char *right = mode->text;
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
            mode->text = modes[k];
            assert_int_equal(is_same_program(p, rewrite), strcmp(modes[k], right) == 0);
            n++;
        }
        mode->text = right;
    }
    assert_int_equal(n, 4 * 3 * 3);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* A list of sizes would tell the runtime how large tiles are. */
TEST(tiles_are_resized_by_scales) {
    arenaut_program *p = chain();
    arenaut_rewrite *rewrite = split_tiles(p, (arenaut_split_stage){0, 5, 3, ARENAUT_SPLIT_KEPT});
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "Resize") != 0) continue;
        const arenaut_tensor *scales = &rewrite->program->tensors[op->inputs[2]];
        const double wanted[] = {1, 1, 2, 2};
        assert_int_equal(scales->dtype, ARENAUT_DTYPE_FLOAT32);
        assert_memory_equal(scales->values, wanted, sizeof wanted);
        assert_int_equal(op->inputs[3], ARENAUT_NONE);
        n++;
    }
    assert_int_equal(n, 3);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(any_wrong_tile_is_found) {
    for (uint32_t axes = 1; axes <= 3; axes++) {
        arenaut_program *p = chain_of(axes);
        assert_true(spoil_tiles(p, (arenaut_split_stage){0, 5, 4, ARENAUT_SPLIT_KEPT}) > 50);
        arn_program_free(p);
    }
}

/* A number that a slice begins at comes from elements of which only their count is known. */
TEST(numbers_that_depend_on_data_are_not_known) {
    arenaut_program *p = chain();
    arenaut_rewrite *rewrite = split_tiles(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS});
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "ArgMax") != 0 && strcmp(op->name, "Squeeze") != 0) continue;
        const char *name = op->name;
        op->name = "Max";
        assert_false(is_same_program(p, rewrite));
        op->name = "GatherND";
        assert_false(is_same_program(p, rewrite));
        op->name = name;
        assert_true(is_same_program(p, rewrite));
    }
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* In place of the sum: a constant, one number, the sum with a number that is not 0, or a shape of
 * as many elements. */
TEST(an_alias_has_the_computed_shape_of_its_operand) {
    arenaut_program *p = chain();
    arenaut_rewrite *rewrite = split_tiles(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS});
    uint32_t alias = 0, zero = 0;
    while (strcmp(rewrite->program->ops[alias].name, "Reshape") != 0) alias++;
    while (strcmp(rewrite->program->ops[zero].name, "ArgMax") != 0) zero++;
    const arenaut_op *sum = &rewrite->program->ops[alias - 1];
    const arenaut_tensor *list = &rewrite->program->tensors[sum->inputs[0]];
    uint32_t *shape = (uint32_t *)(uintptr_t)&rewrite->program->ops[alias].inputs[1];
    const uint32_t others[] = {sum->inputs[0], sum->inputs[1],
                               rewrite->program->ops[zero].outputs[0], ARENAUT_NONE};
    const uint32_t right = *shape;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        *shape = others[i];
        assert_false(is_same_program(p, rewrite));
    }
    *shape = right;
    int64_t *sizes = (int64_t *)(uintptr_t)list->values;
    sizes[H] /= 2;
    sizes[W] *= 2;
    assert_false(is_same_program(p, rewrite));
    sizes[H] *= 2;
    sizes[W] /= 2;
    assert_true(is_same_program(p, rewrite));
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* ---- files ---- */

static const arenaut_split_stage all_of_it = {0, 5, 4, ARENAUT_SPLIT_KEPT};

/* Reads a model, and writes it in tiles if it has the ops for them. */
static arenaut_status write_tiles(const bytes *file, const arenaut_allocator *allocator,
                                  arenaut_text *text, arenaut_error *err) {
    const arenaut_pipeline_options options = {
        .splitting = {.on = true, .stages = &all_of_it, .n_stages = 1}};
    arenaut_pipeline *p = NULL;
    arenaut_status st = arenaut_pipeline_run(file->data, file->size, &options, allocator, &p, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_write(p, true, arenaut_text_sink(text), err);
    arenaut_pipeline_free(p);
    return st;
}

TEST(a_written_file_is_read_back_with_a_node_for_each_op) {
    bytes file = data_bytes("onnx/images.onnx");
    arenaut_text text = {0}, again = {0};
    arenaut_document back = {0};
    arenaut_error err = {0};
    assert_ok(write_tiles(&file, NULL, &text, &err), err);
    assert_ok(write_tiles(&file, NULL, &again, &err), err);
    assert_int_equal(text.size, again.size);
    assert_memory_equal(text.bytes, again.bytes, text.size);
    assert_ok(arenaut_read((const uint8_t *)text.bytes, text.size, NULL, NULL, NULL, &back, &err),
              err);
    assert_true(back.program->n_ops > 4 * 5);
    assert_int_equal(back.program->methods[0].n_inputs, 1);
    arenaut_document_free(&back);
    arenaut_text_free(&text);
    arenaut_text_free(&again);
    free_bytes(&file);
}

static arenaut_status write_with(void *context, const arenaut_allocator *allocator) {
    arenaut_text text = {0}; /* whose sink may not fail */
    const arenaut_status st = write_tiles(context, allocator, &text, NULL);
    arenaut_text_free(&text);
    return st;
}

TEST(writing_tiles_survives_every_allocation_failure) {
    bytes file = data_bytes("onnx/images.onnx");
    survives_every_allocation_failure(write_with, &file);
    free_bytes(&file);
}

/* A damaged model is tiled rightly or refused; files are read back and checked when they are
 * written. */
static bool is_tiled_or_refused(const uint8_t *data, size_t size) {
    const bytes file = {(uint8_t *)(uintptr_t)data, size};
    arenaut_text text = {0};
    arenaut_error err = {0};
    const arenaut_status st = write_tiles(&file, NULL, &text, &err);
    arenaut_text_free(&text);
    assert_int_not_equal(st, ARENAUT_INTERNAL);
    return st == ARENAUT_OK;
}

TEST(damaged_models_are_tiled_or_refused) {
    bytes file = data_bytes("onnx/images.onnx");
    const sweep s = {.property = is_tiled_or_refused, .seed = 1, .step = one_of(5)};
    assert_true(sweep_flips(&s, file.data, file.size).tried > 0);
    (void)sweep_cuts(&s, file.data, file.size);
    (void)sweep_scatter(&s, file.data, file.size, 60 * thorough());
    free_bytes(&file);
}

static arenaut_status split_with(void *context, const arenaut_allocator *allocator) {
    static const arenaut_split_stage stage = {0, 6, 2, ARENAUT_SPLIT_KEPT};
    return split_checked(context, &stage, 1, false, allocator);
}

TEST(tiling_and_its_check_survive_every_allocation_failure) {
    arenaut_program *p = chain();
    survives_every_allocation_failure(split_with, p);
    arn_program_free(p);
}
