/* Tiles of PyTorch's operators: the checker on tiled programs of which one number or one argument
 * is wrong, and the tile rule. That tiles compute the same is for PyTorch to say
 * (tests/pytest/test_split_pt2.py). */
#include "support/test.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/split/tile_groups.h"
#include "support/fuse.h"
#include "support/programs.h"
#include "support/split_checked.h"

enum { C = 1, H = 2, W = 3 };

static arenaut_program *begin_aten(void) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    assert_int_equal(arn_program_set_dialect(p, "aten", NULL), ARENAUT_OK);
    return p;
}

static void finish(arenaut_program *p, uint32_t x, uint32_t y) {
    p->tensors[y].cls = ARENAUT_OUTPUT;
    FINISH(p, LIST(x), LIST(y));
}

static uint32_t add(arenaut_program *p, arenaut_class cls, int64_t n, int64_t channels,
                    int64_t height, int64_t width) {
    const int64_t dims[] = {n, channels, height, width};
    return add_shaped(p, cls, ARENAUT_DTYPE_FLOAT32, dims, 4);
}

/* A signal of one, or an image without a batch, or weights. */
static uint32_t add_signal(arenaut_program *p, arenaut_class cls, int64_t n, int64_t channels,
                           int64_t length) {
    const int64_t dims[] = {n, channels, length};
    return add_shaped(p, cls, ARENAUT_DTYPE_FLOAT32, dims, 3);
}

static uint32_t add_image(arenaut_program *p, int64_t channels, int64_t height, int64_t width) {
    return add(p, ARENAUT_INTERMEDIATE, 1, channels, height, width);
}

#define FUNCTIONAL .kind = ARENAUT_OP_FUNCTIONAL

static uint32_t add_conv(arenaut_program *p, uint32_t x, int64_t channels, int64_t stride) {
    const int64_t *in = p->tensors[x].dims;
    const int64_t height = (in[H] - 1) / stride + 1, width = (in[W] - 1) / stride + 1;
    const uint32_t weights = add(p, ARENAUT_CONSTANT, channels, in[C], 3, 3);
    const uint32_t y = add_image(p, channels, height, width);
    ADD_OP(p, .name = "aten::conv2d", FUNCTIONAL, IN(x, weights), OUT(y),
           ATTRIBUTES(INTS("strides", stride, stride), INTS("pads", 1, 1, 1, 1)));
    return y;
}

/* A net with a window of each kind. */
static arenaut_program *chain(int64_t width) {
    arenaut_program *p = begin_aten();
    const uint32_t x = add(p, ARENAUT_INPUT, 1, 8, 64, width);
    const uint32_t wide = add_conv(p, x, 16, 1), relu = add_image(p, 16, 64, width);
    ADD_OP(p, .name = "aten::relu", FUNCTIONAL, IN(wide), OUT(relu));
    const uint32_t half = add_conv(p, relu, 8, 2), up = add_image(p, 8, 64, width);
    ADD_OP(p, .name = "aten::upsample_bilinear2d.vec", FUNCTIONAL, IN(half), OUT(up),
           ATTRIBUTES(INTS("align_corners", 0), INTS("scales", 2, 2)));
    const uint32_t both = add_image(p, 24, 64, width), pool = add_image(p, 24, 32, width / 2);
    ADD_OP(p, .name = "aten::cat", FUNCTIONAL, IN(up, relu), OUT(both),
           ATTRIBUTES(INTS("axis", 1)));
    ADD_OP(p, .name = "aten::max_pool2d", FUNCTIONAL, IN(both), OUT(pool),
           ATTRIBUTES(INTS("kernel_shape", 3, 3), INTS("strides", 2, 2), INTS("pads", 1, 1, 1, 1)));
    finish(p, x, pool);
    return p;
}

static uint32_t add_conv1d(arenaut_program *p, uint32_t x, int64_t channels, int64_t stride) {
    const int64_t *in = p->tensors[x].dims;
    const uint32_t weights = add_signal(p, ARENAUT_CONSTANT, channels, in[C], 3);
    const uint32_t y = add_signal(p, ARENAUT_INTERMEDIATE, 1, channels, (in[H] - 1) / stride + 1);
    ADD_OP(p, .name = "aten::conv1d", FUNCTIONAL, IN(x, weights), OUT(y),
           ATTRIBUTES(INTS("strides", stride), INTS("pads", 1, 1)));
    return y;
}

/* The same net of a signal. */
static arenaut_program *signal_chain(void) {
    const int64_t length = 12000;
    arenaut_program *p = begin_aten();
    const uint32_t x = add_signal(p, ARENAUT_INPUT, 1, 8, length);
    const uint32_t wide = add_conv1d(p, x, 16, 1);
    const uint32_t relu = add_signal(p, ARENAUT_INTERMEDIATE, 1, 16, length);
    ADD_OP(p, .name = "aten::relu", FUNCTIONAL, IN(wide), OUT(relu));
    const uint32_t half = add_conv1d(p, relu, 8, 2);
    const uint32_t up = add_signal(p, ARENAUT_INTERMEDIATE, 1, 8, length);
    ADD_OP(p, .name = "aten::upsample_linear1d.vec", FUNCTIONAL, IN(half), OUT(up),
           ATTRIBUTES(INTS("align_corners", 0), INTS("scales", 2)));
    const uint32_t both = add_signal(p, ARENAUT_INTERMEDIATE, 1, 24, length);
    const uint32_t pool = add_signal(p, ARENAUT_INTERMEDIATE, 1, 24, length / 2);
    ADD_OP(p, .name = "aten::cat", FUNCTIONAL, IN(up, relu), OUT(both),
           ATTRIBUTES(INTS("axis", 1)));
    ADD_OP(p, .name = "aten::max_pool1d", FUNCTIONAL, IN(both), OUT(pool),
           ATTRIBUTES(INTS("kernel_shape", 3), INTS("strides", 2), INTS("pads", 1, 1)));
    finish(p, x, pool);
    return p;
}

static uint32_t add_pad(arenaut_program *p, uint32_t x, const char *mode, int64_t above,
                        int64_t below) {
    const int64_t *in = p->tensors[x].dims;
    const uint32_t y = add_image(p, in[C], in[H] + above + below, in[W] + 3);
    ADD_OP(p, .name = "aten::pad", FUNCTIONAL, IN(x), OUT(y),
           ATTRIBUTES(INTS("pads", 0, 0, above, 2, 0, 0, below, 1), {"mode", 0, NULL, mode}));
    return y;
}

/* All kinds of margins, and blocks that become channels. */
static arenaut_program *margins(void) {
    arenaut_program *p = begin_aten();
    const uint32_t x = add(p, ARENAUT_INPUT, 1, 3, 40, 59), first = add_image(p, 3, 40, 59);
    ADD_OP(p, .name = "aten::relu", FUNCTIONAL, IN(x), OUT(first));
    uint32_t y = add_pad(p, first, "reflect", 5, 7);
    const uint32_t relu = add_image(p, 3, 52, 62);
    ADD_OP(p, .name = "aten::relu", FUNCTIONAL, IN(y), OUT(relu));
    y = add_pad(p, add_pad(p, relu, "replicate", 2, 3), "constant", 1, 2);
    const uint32_t blocks = add_image(p, 12, 30, 34);
    ADD_OP(p, .name = "aten::pixel_unshuffle", FUNCTIONAL, IN(y), OUT(blocks),
           ATTRIBUTES(INTS("downscale_factor", 2)));
    finish(p, x, blocks);
    return p;
}

static arenaut_rewrite *split(const arenaut_program *p, uint32_t n_ops, uint32_t tiles,
                              arenaut_split_mode mode) {
    return split_tiles(p, (arenaut_split_stage){0, n_ops, tiles, mode});
}

/* ---- tiles ---- */

/* Near an edge a tile reads rows above those that the tile before needed. */
TEST(margins_that_are_reflected_are_tiled_at_any_height) {
    uint32_t n = 0;
    for (int64_t margin = 1; margin <= 4; margin++) {
        arenaut_program *p = begin_aten();
        const uint32_t x = add(p, ARENAUT_INPUT, 1, 2, 12, 8), first = add_image(p, 2, 12, 8);
        ADD_OP(p, .name = "aten::relu", FUNCTIONAL, IN(x), OUT(first));
        const uint32_t y = add_pad(p, first, "reflect", margin, margin);
        finish(p, x, y);
        for (uint32_t tiles = 2; tiles <= 12; tiles++) {
            arn_rewrite_free(split(p, 2, tiles, ARENAUT_SPLIT_ROWS));
            arn_rewrite_free(split(p, 2, tiles, ARENAUT_SPLIT_KEPT));
            n += 2;
        }
        arn_program_free(p);
    }
    assert_int_equal(n, 4 * 11 * 2);
}

/* ---- refusals ---- */

TEST(small_images_stay_whole) {
    arenaut_program *p = chain(32); /* the first convolution reads 16,384 elements */
    const arenaut_split_stage stage = {0, 1, 2, ARENAUT_SPLIT_ROWS};
    expect_unsplit(p, stage, "may make other bits in any tiles, which --rounding allow permits");
    arenaut_rewrite *rewrite = split_rounded(p, stage);
    assert_int_equal(rewrite->n_rounded, 1);
    assert_int_equal(rewrite->rounded, 0);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* The same tiles, and what is said of them, where the rule has them anyway. */
TEST(tiles_within_the_rule_are_not_said_to_be_rounded) {
    arenaut_program *p = margins();
    for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
        const arenaut_split_stage stage = {0, p->n_ops, 3, (arenaut_split_mode)mode};
        arenaut_rewrite *rewrite = split_rounded(p, stage), *strict = split_tiles(p, stage);
        assert_true(rewrite->after == strict->after);
        assert_int_equal(rewrite->n_rounded, 0);
        assert_int_equal(rewrite->rounded, ARENAUT_NONE);
        arn_rewrite_free(rewrite);
        arn_rewrite_free(strict);
    }
    arn_program_free(p);
}

/* Row by row, and then as it was; of rows that are exchanged or repeated, of other windows, and of
 * a sum that is not said to be rounded, the checker takes none. */
static void make_averages_in_two_steps(bool means) {
    arenaut_program *p = begin_aten();
    const uint32_t x = add(p, ARENAUT_INPUT, 1, 3, 40, 59), relu = add_image(p, 3, 40, 59);
    const uint32_t y = add_image(p, 3, 1, 1);
    ADD_OP(p, .name = "aten::relu", FUNCTIONAL, IN(x), OUT(relu));
    if (means) {
        ADD_OP(p, .name = "aten::mean.dim", FUNCTIONAL, IN(relu), OUT(y),
               ATTRIBUTES(INTS("axis", -1, 2), INTS("keepdim", 1)));
    } else {
        ADD_OP(p, .name = "aten::adaptive_avg_pool2d", FUNCTIONAL, IN(relu), OUT(y),
               ATTRIBUTES(INTS("output_size", 1, 1)));
    }
    finish(p, x, y);
    const arenaut_split_stage stage = {0, 2, 3, ARENAUT_SPLIT_KEPT};
    expect_unsplit(p, stage, "--rounding allow");
    arenaut_rewrite *rewrite = split_rounded(p, stage);
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        uint32_t *inputs = (uint32_t *)(uintptr_t)op->inputs, first = inputs[0];
        if (strcmp(op->name, "aten::cat") == 0) {
            inputs[0] = inputs[1];
            assert_false(is_same_program(p, rewrite));
            inputs[1] = first;
            assert_false(is_same_program(p, rewrite));
            inputs[1] = inputs[0];
            inputs[0] = first;
        } else if (rewrite->ops[i] == ARENAUT_NONE && strcmp(op->name, "aten::mean.dim") == 0) {
            arenaut_attribute *given = (arenaut_attribute *)(uintptr_t)op->attributes;
            const arenaut_attribute before[] = {given[0], given[1]};
            const int64_t other[] = {2, 0};
            for (uint32_t k = 0; k < 2; k++, n++) {
                given[k].numbers = &other[k];
                assert_false(is_same_program(p, rewrite));
                given[k] = before[k];
            }
        }
    }
    assert_int_equal(n, 6);
    assert_true(is_same_program(p, rewrite));
    rewrite->n_rounded = 0;
    assert_false(is_same_program(p, rewrite));
    rewrite->n_rounded = 1;
    /* Of another reduction, by whatever both programs say. */
    arenaut_op *last = &rewrite->program->ops[rewrite->n_ops - 1];
    int64_t *numbers[] = {(int64_t *)(uintptr_t)p->ops[1].attributes[0].numbers,
                          (int64_t *)(uintptr_t)last->attributes[0].numbers};
    numbers[0][1] = numbers[1][1] = means ? 1 : 2;
    assert_false(is_same_program(p, rewrite));
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(averages_of_images_are_made_in_two_steps) {
    make_averages_in_two_steps(false);
    make_averages_in_two_steps(true);
}

/* ---- normalizations ---- */

enum { NORM_GROUPED, NORM_NATIVE, NORM_INSTANCE, NORM_KINDS };
enum { NORM_SAYS = 5 }; /* attributes of a native one: groups, epsilon, N, C and HxW */

static void add_norm(arenaut_program *p, int kind, bool affine, int64_t groups, uint32_t from,
                     uint32_t to, arenaut_attribute epsilon) {
    const int64_t channels = 8;
    const uint32_t scale = add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, &channels, 1);
    const uint32_t bias = add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, &channels, 1);
    const uint32_t mean = add_shaped(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, &channels, 1);
    const uint32_t root = add_shaped(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, &channels, 1);
    static const char *const names[] = {"aten::group_norm", "aten::native_group_norm",
                                        "aten::instance_norm"};
    const int64_t number = kind == NORM_INSTANCE ? 1 : groups;
    const int64_t *dims = p->tensors[from].dims;
    int64_t places = 1;
    for (uint32_t i = 2; i < p->tensors[from].rank; i++) places *= dims[i];
    const arenaut_attribute given[] = {{kind == NORM_GROUPED  ? "num_groups"
                                        : kind == NORM_NATIVE ? "group"
                                                              : "use_input_stats",
                                        1, &number, NULL},
                                       epsilon,
                                       {"N", 1, &dims[0], NULL},
                                       {"C", 1, &dims[1], NULL},
                                       {"HxW", 1, &places, NULL}};
    const uint32_t inputs[] = {from, scale, bias}, outputs[] = {to, mean, root};
    ADD_OP(p, .name = names[kind], FUNCTIONAL, .inputs = inputs, .n_inputs = affine ? 3 : 1,
           .outputs = outputs, .n_outputs = kind == NORM_NATIVE ? 3 : 1, .attributes = given,
           .n_attributes = kind == NORM_NATIVE ? NORM_SAYS : 2);
}

/* An image of 8 channels, a volume or a signal, which is normalized, and then read by two ops. */
static arenaut_program *normalized(int kind, bool affine, int64_t groups, uint32_t rank) {
    arenaut_program *p = begin_aten();
    static const arenaut_attribute epsilon = {"eps", 0, NULL, "0.001"};
    const int64_t dims[] = {2, 8, rank > 3 ? 40 : 48, 7, 5};
    uint32_t image[4];
    for (int i = 0; i < 4; i++) {
        image[i] = add_shaped(p, i == 0 ? ARENAUT_INPUT : ARENAUT_INTERMEDIATE,
                              ARENAUT_DTYPE_FLOAT32, dims, rank);
    }
    ADD_OP(p, .name = "aten::relu", FUNCTIONAL, IN(image[0]), OUT(image[1]));
    add_norm(p, kind, affine, groups, image[1], image[2], epsilon);
    ADD_OP(p, .name = "aten::silu", FUNCTIONAL, IN(image[2]), OUT(image[3]));
    finish(p, image[0], image[3]);
    return p;
}

static arenaut_rewrite *split_norm(const arenaut_program *p, arenaut_split_mode mode) {
    const arenaut_split_stage stage = {1, 2, 3, mode};
    expect_unsplit(p, stage, "--rounding allow");
    return split_rounded(p, stage);
}

/* The op that makes a tensor, if it is a slice. */
static const arenaut_op *slice_of(const arenaut_program *p, uint32_t t) {
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (strcmp(op->name, "aten::slice_copy.Tensor") == 0 && op->outputs[0] == t) return op;
    }
    return NULL;
}

/* Of the first pass and of the second. */
static bool are_same_slice(const arenaut_program *p, uint32_t a, uint32_t b) {
    const arenaut_op *one = slice_of(p, a), *other = slice_of(p, b);
    return one && other && one->inputs[0] == other->inputs[0] &&
           one->attributes[1].numbers[0] == other->attributes[1].numbers[0];
}

/* Operands that are replaced by any other tensor of the same sizes. */
static uint32_t read_otherwise(const arenaut_program *p, arenaut_rewrite *rewrite,
                               const arenaut_op *op) {
    const arenaut_tensor *tensors = rewrite->program->tensors;
    uint32_t n = 0;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        uint32_t *input = (uint32_t *)(uintptr_t)&op->inputs[k], before = *input;
        for (uint32_t t = 0; t < rewrite->program->n_tensors; t++) {
            const bool same = tensors[t].rank == tensors[before].rank &&
                              memcmp(tensors[t].dims, tensors[before].dims,
                                     tensors[t].rank * sizeof *tensors[t].dims) == 0;
            if (t == before || !same || are_same_slice(rewrite->program, t, before)) continue;
            *input = t;
            if (is_same_program(p, rewrite)) {
                fail_msg("%s may read t%u instead of t%u", op->name, (unsigned)t, (unsigned)before);
            }
            n++;
        }
        *input = before;
    }
    return n;
}

/* Another number, or another text, in one of its attributes. */
static uint32_t say_otherwise(const arenaut_program *p, arenaut_rewrite *rewrite,
                              const arenaut_op *op) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < op->n_attributes; k++) {
        arenaut_attribute *given = (arenaut_attribute *)(uintptr_t)&op->attributes[k];
        const arenaut_attribute before = *given;
        if (before.text) {
            given->text = "0.0010";
            assert_false(is_same_program(p, rewrite));
            *given = before;
        }
        for (uint32_t i = 0; i < before.n_numbers; i++, n++) {
            int64_t others[5];
            memcpy(others, before.numbers, before.n_numbers * sizeof *others);
            given->numbers = others;
            others[i]++;
            assert_false(is_same_program(p, rewrite));
            others[i] -= 2;
            assert_false(is_same_program(p, rewrite));
            *given = before;
        }
    }
    return n;
}

static void call_otherwise(const arenaut_program *p, arenaut_rewrite *rewrite, arenaut_op *op) {
    static const char *const names[] = {
        "aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor",  "aten::div.Tensor",
        "aten::sqrt",       "aten::reciprocal", "aten::mean.dim",    "aten::amax",
        "aten::view_copy",  "aten::add.Scalar", "aten::expand_copy", "aten::sub.Scalar"};
    const char *before = op->name;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (strcmp(before, names[k]) == 0) continue;
        op->name = names[k];
        if (is_same_program(p, rewrite)) fail_msg("%s may be %s", before, names[k]);
    }
    op->name = before;
}

TEST(images_of_any_axes_are_normalized_in_two_passes) {
    uint32_t n_read = 0, n_said = 0;
    for (int i = 0; i < NORM_KINDS * 2 * 4; i++) {
        const int kind = i % NORM_KINDS;
        const bool affine = i / NORM_KINDS % 2 == 0;
        const int64_t groups = kind == NORM_INSTANCE ? 8 : 1 << i / NORM_KINDS / 2;
        arenaut_program *p = normalized(kind, affine, groups, 3 + (uint32_t)(i % 3));
        arenaut_rewrite *rewrite =
            split_norm(p, i % 5 == 0 ? ARENAUT_SPLIT_ROWS : ARENAUT_SPLIT_KEPT);
        for (uint32_t k = 0; k < rewrite->n_ops; k++) {
            arenaut_op *op = &rewrite->program->ops[k];
            if (rewrite->ops[k] != ARENAUT_NONE) continue;
            n_read += read_otherwise(p, rewrite, op);
            if (strcmp(op->name, "aten::slice_copy.Tensor") == 0) continue;
            n_said += say_otherwise(p, rewrite, op);
            call_otherwise(p, rewrite, op);
        }
        assert_true(is_same_program(p, rewrite));
        rewrite->n_rounded = 0;
        assert_false(is_same_program(p, rewrite));
        rewrite->n_rounded = 1;
        arenaut_attribute *said = (arenaut_attribute *)(uintptr_t)p->ops[1].attributes;
        if (kind == NORM_INSTANCE) ++*(int64_t *)(uintptr_t)said[0].numbers;
        else *(int64_t *)(uintptr_t)said[0].numbers = groups == 4 ? 2 : 4;
        assert_false(is_same_program(p, rewrite));
        *(int64_t *)(uintptr_t)said[0].numbers = kind == NORM_INSTANCE ? 1 : groups;
        said[1].text = "1e-05";
        assert_false(is_same_program(p, rewrite));
        arn_rewrite_free(rewrite);
        arn_program_free(p);
    }
    assert_true(n_read > 2000 && n_said > 500);
}

/* Its statistics are constants: element by element, in any group, with or without leave. */
TEST(a_batch_norm_that_does_not_train_is_no_normalization_by_its_image) {
    arenaut_program *p = begin_aten();
    const int64_t channels = 8;
    uint32_t image[4], inputs[5];
    for (int i = 0; i < 4; i++) {
        image[i] = add(p, i == 0 ? ARENAUT_INPUT : ARENAUT_INTERMEDIATE, 1, 8, 40, 64);
        inputs[i + 1] = add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, &channels, 1);
    }
    inputs[0] = image[1];
    ADD_OP(p, .name = "aten::relu", FUNCTIONAL, IN(image[0]), OUT(image[1]));
    ADD_OP(p, .name = "aten::batch_norm", FUNCTIONAL, .inputs = inputs, .n_inputs = 5,
           OUT(image[2]), ATTRIBUTES(INTS("training", 0)));
    ADD_OP(p, .name = "aten::relu", FUNCTIONAL, IN(image[2]), OUT(image[3]));
    finish(p, image[0], image[3]);
    const arenaut_split_stage stage = {0, 3, 4, ARENAUT_SPLIT_KEPT};
    for (int rounding = 0; rounding < 2; rounding++) {
        arenaut_rewrite *rewrite = rounding ? split_rounded(p, stage) : split_tiles(p, stage);
        assert_int_equal(rewrite->n_rounded, 0);
        arn_rewrite_free(rewrite);
    }
    arn_program_free(p);
}

static arenaut_status split_norm_with(void *context, const arenaut_allocator *allocator) {
    const arenaut_split_stage stage = {1, 2, 3, ARENAUT_SPLIT_KEPT};
    return split_checked(context, &stage, 1, true, allocator);
}

TEST(normalizations_and_their_check_survive_every_allocation_failure) {
    for (uint32_t rank = 3; rank <= 5; rank++) {
        arenaut_program *p = normalized(NORM_GROUPED, true, 2, rank);
        survives_every_allocation_failure(split_norm_with, p);
        arn_program_free(p);
    }
}

/* Statistics of a normalization that something reads, an epsilon that no file states as digits, or
 * a signal of which no more blocks are as long. */
TEST(normalizations_of_other_forms_stay_whole) {
    for (int i = 0; i < 4; i++) {
        arenaut_program *p =
            normalized(i < 2 ? NORM_NATIVE : NORM_INSTANCE, true, 4, i < 3 ? 4 : 3);
        arenaut_op *norm = &p->ops[1];
        arenaut_attribute *said = (arenaut_attribute *)(uintptr_t)norm->attributes;
        if (i == 0) p->ops[2].inputs = &norm->outputs[1];
        if (i == 1) said[1].text = "Infinity";
        if (i == 2) *(int64_t *)(uintptr_t)said[0].numbers = 0;
        const arenaut_split_stage stage = {1, 1, i < 3 ? 2 : 7, ARENAUT_SPLIT_ROWS};
        expect_whole(
            p, stage,
            i < 3 ? "an op in it cannot be tiled" : "that it normalizes has fewer rows than tiles");
        arn_program_free(p);
    }
}

/* ---- statistics of blocks ---- */

/* A rewrite of a signal that is normalized, put together by hand: tensors and ops of the program
 * before, and those that are added to it. */
enum { FORGED_GROUPS = 8, FORGED_LENGTH = 48, FORGED_MOST = 64 };

typedef struct forged {
    arenaut_program *program;
    arenaut_origin tensors[FORGED_MOST];
    uint32_t ops[FORGED_MOST], n_ops;
} forged;

static uint32_t forge_op(forged *f, const char *name, uint32_t a, uint32_t b, const int64_t *dims,
                         const arenaut_attribute *said, uint32_t n_said) {
    const uint32_t inputs[] = {a, b};
    const uint32_t made =
        add_shaped(f->program, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, dims, 3);
    f->tensors[made] = (arenaut_origin){ARENAUT_NONE, false, ARENAUT_NONE, 0};
    ADD_OP(f->program, .name = name, FUNCTIONAL, .inputs = inputs,
           .n_inputs = b == ARENAUT_NONE ? 1 : 2, OUT(made), .attributes = said,
           .n_attributes = n_said);
    f->ops[f->n_ops++] = ARENAUT_NONE;
    return made;
}

static uint32_t forge_step(forged *f, const char *name, uint32_t a, uint32_t b) {
    const int64_t *of = f->program->tensors[a].dims, dims[] = {of[0], of[1], of[2]};
    return forge_op(f, name, a, b, dims, NULL, 0);
}

static uint32_t forge_shape(forged *f, const char *name, uint32_t a, int64_t channels,
                            int64_t places) {
    const int64_t dims[] = {f->program->tensors[a].dims[0], channels, places};
    const arenaut_attribute size = {"size", 3, dims, NULL};
    return forge_op(f, name, a, ARENAUT_NONE, dims, &size, 1);
}

static uint32_t forge_mean(forged *f, uint32_t a) {
    const int64_t *of = f->program->tensors[a].dims, dims[] = {of[0], of[1], 1};
    const arenaut_attribute said[] = {INTS("axis", 2), INTS("keepdim", 1)};
    return forge_op(f, "aten::mean.dim", a, ARENAUT_NONE, dims, said, 2);
}

/* By group: averages of blocks, or those of the squares around them. */
static uint32_t forge_blocks(forged *f, int64_t block, bool squares) {
    const int64_t n = FORGED_LENGTH / block;
    const uint32_t rows = forge_shape(f, "aten::view_copy", 1, 8 * n, block);
    uint32_t made = forge_mean(f, rows);
    if (squares) {
        made = forge_step(f, "aten::sub.Tensor", rows, made);
        made = forge_mean(f, forge_step(f, "aten::mul.Tensor", made, made));
    }
    made = forge_shape(f, "aten::view_copy", made, 8, n);
    return forge_shape(f, "aten::view_copy", made, FORGED_GROUPS, n);
}

static uint32_t forge_by_channel(forged *f, uint32_t a) {
    const uint32_t wide = forge_shape(f, "aten::expand_copy", a, FORGED_GROUPS, 1);
    return forge_shape(f, "aten::view_copy", wide, 8, 1);
}

/* The program before: op 1 normalizes tensor 1, and makes tensor 2. */
static arenaut_program *forged_before(int64_t length) {
    arenaut_program *p = begin_aten();
    const int64_t dims[] = {2, 8, length}, groups = FORGED_GROUPS;
    const arenaut_attribute said[] = {{"num_groups", 1, &groups, NULL}, {"eps", 0, NULL, "0.001"}};
    const uint32_t x = add_shaped(p, ARENAUT_INPUT, ARENAUT_DTYPE_FLOAT32, dims, 3);
    const uint32_t image = add_shaped(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, dims, 3);
    const uint32_t y = add_shaped(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, dims, 3);
    ADD_OP(p, .name = "aten::relu", FUNCTIONAL, IN(x), OUT(image));
    ADD_OP(p, .name = "aten::group_norm", FUNCTIONAL, IN(image), OUT(y), .attributes = said,
           .n_attributes = 2);
    finish(p, x, y);
    return p;
}

/* Whether a variance of averages and squares of blocks of so many places is one. */
static bool may_have_blocks(int64_t of_averages, int64_t of_squares) {
    static const arenaut_attribute epsilon = {"other", 0, NULL, "0.001"};
    arenaut_program *p = forged_before(FORGED_LENGTH);
    forged f = {.program = begin_aten()};
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        add_shaped(f.program, p->tensors[t].cls, ARENAUT_DTYPE_FLOAT32, p->tensors[t].dims, 3);
        f.tensors[t] = (arenaut_origin){t, true, ARENAUT_NONE, 0};
    }
    ADD_OP(f.program, .name = "aten::relu", FUNCTIONAL, IN(0), OUT(1));
    f.ops[f.n_ops++] = 0;
    const uint32_t averages = forge_blocks(&f, of_averages, false);
    const uint32_t squares = forge_blocks(&f, of_squares, true);
    const uint32_t mean = forge_mean(&f, averages);
    uint32_t t = forge_step(&f, "aten::sub.Tensor", averages, mean);
    t = forge_step(&f, "aten::mul.Tensor", t, t);
    t = forge_mean(&f, forge_step(&f, "aten::add.Tensor", squares, t));
    const int64_t each[] = {2, FORGED_GROUPS, 1};
    t = forge_op(&f, "aten::add.Scalar", t, ARENAUT_NONE, each, &epsilon, 1);
    t = forge_step(&f, "aten::sqrt", t, ARENAUT_NONE);
    t = forge_by_channel(&f, forge_step(&f, "aten::reciprocal", t, ARENAUT_NONE));
    const uint32_t less = forge_step(&f, "aten::sub.Tensor", 1, forge_by_channel(&f, mean));
    ADD_OP(f.program, .name = "aten::mul.Tensor", FUNCTIONAL, IN(less, t), OUT(2));
    f.ops[f.n_ops++] = ARENAUT_NONE;
    finish(f.program, 0, 2);
    arenaut_split_stage stage = {1, 1, 2, ARENAUT_SPLIT_ROWS};
    const arenaut_rewrite rewrite = {.program = f.program,
                                     .n_tensors = f.program->n_tensors,
                                     .n_ops = f.program->n_ops,
                                     .tensors = f.tensors,
                                     .ops = f.ops,
                                     .stages = &stage,
                                     .n_stages = 1,
                                     .n_ops_before = p->n_ops,
                                     .n_rounded = 1};
    const bool accepted = is_same_program(p, &rewrite);
    arn_program_free(f.program);
    arn_program_free(p);
    return accepted;
}

TEST(statistics_of_blocks_are_of_one_length) {
    static const int64_t blocks[] = {8, 16, 24, 48};
    for (int i = 0; i < 4 * 4; i++) {
        assert_int_equal(may_have_blocks(blocks[i / 4], blocks[i % 4]), i / 4 == i % 4);
    }
}

/* As docs/split.md has it. */
TEST(blocks_of_signals_divide_their_length) {
    static const struct {
        int64_t length, block; /* 0: none */
    } cases[] = {{48, 8},  {99, 0},   {280, 8},        {287, 0},        {297, 9},
                 {300, 0}, {352, 11}, {32 * 600, 480}, {32 * 512, 512}, {521 * 521, 0}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_program *p = forged_before(cases[i].length);
        const arenaut_split_stage stage = {1, 1, 2, ARENAUT_SPLIT_ROWS};
        arenaut_rewrite *rewrite = NULL;
        arenaut_error err = {0};
        const arenaut_status st = arn_split(p, &stage, 1, true, NULL, &rewrite, &err);
        assert_int_equal(st, cases[i].block > 0 ? ARENAUT_OK : ARENAUT_BAD_ARGUMENT);
        bool found = false;
        for (uint32_t k = 0; st == ARENAUT_OK && k < rewrite->n_ops; k++) {
            const arenaut_op *op = &rewrite->program->ops[k];
            const int64_t *made = rewrite->program->tensors[op->outputs[0]].dims;
            if (strcmp(op->name, "aten::view_copy") == 0) found |= made[2] == cases[i].block;
        }
        assert_int_equal(found, st == ARENAUT_OK);
        if (st == ARENAUT_OK) assert_true(is_same_program(p, rewrite));
        arn_rewrite_free(rewrite);
        arn_program_free(p);
    }
}

/* It divides the elements by numbers of its own, which may be others than those of the image, or
 * not be known. */
TEST(native_normalizations_that_divide_elements_otherwise_stay_whole) {
    static const char *const names[] = {"group", "eps", "N", "C", "HxW"};
    for (int i = 0; i < 3 * 3 * 3; i++) {
        arenaut_program *p = normalized(NORM_NATIVE, true, 4, 3 + (uint32_t)(i % 3));
        arenaut_rewrite *rewrite = split_norm(p, ARENAUT_SPLIT_KEPT);
        const int said = 2 + i / 3 % 3;
        arenaut_attribute *number = (arenaut_attribute *)(uintptr_t)&p->ops[1].attributes[said];
        assert_string_equal(number->name, names[said]);
        if (i / 9 == 0) number->n_numbers = 0;
        if (i / 9 == 1) *(int64_t *)(uintptr_t)number->numbers *= 2;
        if (i / 9 == 2) number->name = "other";
        assert_false(is_same_program(p, rewrite));
        arn_rewrite_free(rewrite);
        expect_whole(p, (arenaut_split_stage){1, 1, 2, ARENAUT_SPLIT_ROWS},
                     "an op in it cannot be tiled");
        arn_program_free(p);
    }
}

/* Operands in another order than in the schema, as a file may have them, or some of which are left
 * out: which are the constants, and which the weights, is not known by their number. */
TEST(operators_with_operands_in_another_order_stay_whole) {
    static const int64_t places[] = {0, 2, 1};
    for (int i = 0; i < 2; i++) {
        arenaut_program *p = i == 0 ? normalized(NORM_GROUPED, true, 4, 4) : chain(70);
        const arenaut_split_stage stage = {(uint32_t)(1 - i), 1, 2, ARENAUT_SPLIT_ROWS};
        arenaut_op *op = &p->ops[stage.first_op];
        arenaut_rewrite *rewrite = split_rounded(p, stage);
        arenaut_attribute said[8];
        const arenaut_attribute *before = op->attributes;
        assert_true(op->n_attributes < 8);
        memcpy(said, before, op->n_attributes * sizeof *said);
        said[op->n_attributes] = (arenaut_attribute){"operands", 3, places, NULL};
        op->attributes = said;
        op->n_attributes++;
        assert_false(is_same_program(p, rewrite));
        for (uint32_t k = 0; k < rewrite->n_ops; k++) {
            arenaut_op *part = &rewrite->program->ops[k];
            if (rewrite->ops[k] == stage.first_op) part->attributes = said, part->n_attributes++;
        }
        assert_false(is_same_program(p, rewrite));
        arn_rewrite_free(rewrite);
        expect_whole(p, stage, "an op in it cannot be tiled");
        op->attributes = before;
        op->n_attributes--;
        arn_program_free(p);
    }
}

/* Its three dimensions are no batch, channels and length: rows would be its channels. */
TEST(images_without_a_batch_stay_whole) {
    arenaut_program *p = begin_aten();
    const uint32_t x = add_signal(p, ARENAUT_INPUT, 8, 64, 512);
    const uint32_t y = add_signal(p, ARENAUT_INTERMEDIATE, 8, 64, 512);
    ADD_OP(p, .name = "aten::max_pool2d", FUNCTIONAL, IN(x), OUT(y),
           ATTRIBUTES(INTS("kernel_shape", 3), INTS("strides", 1), INTS("pads", 1, 1)));
    finish(p, x, y);
    const arenaut_split_stage stage = {0, 1, 2, ARENAUT_SPLIT_ROWS};
    expect_unsplit(p, stage, "an op in it cannot be tiled");
    p->ops[0].name = "aten::max_pool1d";
    arenaut_rewrite *rewrite = split_tiles(p, stage);
    p->ops[0].name = "aten::max_pool2d";
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        if (rewrite->ops[i] == 0) rewrite->program->ops[i].name = p->ops[0].name;
    }
    arenaut_finding finding;
    assert_int_equal(arenaut_check_rewrite(p, rewrite, NULL, &finding, NULL), ARENAUT_REJECTED);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* Direct kernels take no more padding than they hold columns, none as wide as the window, and long
 * windows in steps of one: else a convolution is a matrix product, whose sums depend on its size.
 */
TEST(convolutions_of_signals_that_are_a_matrix_product_stay_whole) {
    static const struct {
        int64_t filter, stride, pad;
        arenaut_status status;
    } cases[] = {{11, 1, 3, ARENAUT_OK}, {11, 1, 4, ARENAUT_BAD_ARGUMENT},
                 {3, 1, 2, ARENAUT_OK},  {3, 1, 3, ARENAUT_BAD_ARGUMENT},
                 {7, 2, 1, ARENAUT_OK},  {9, 2, 1, ARENAUT_BAD_ARGUMENT},
                 {9, 2, 0, ARENAUT_OK},  {18, 1, 1, ARENAUT_BAD_ARGUMENT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t filter = cases[i].filter, stride = cases[i].stride, pad = cases[i].pad;
        arenaut_program *p = begin_aten();
        const uint32_t x = add_signal(p, ARENAUT_INPUT, 1, 8, 12000);
        const uint32_t weights = add_signal(p, ARENAUT_CONSTANT, 8, 8, filter);
        const int64_t length = (12000 + 2 * pad - filter) / stride + 1;
        const uint32_t y = add_signal(p, ARENAUT_INTERMEDIATE, 1, 8, length);
        ADD_OP(p, .name = "aten::conv1d", FUNCTIONAL, IN(x, weights), OUT(y),
               ATTRIBUTES(INTS("strides", stride), INTS("pads", pad, pad)));
        finish(p, x, y);
        const arenaut_split_stage stage = {0, 1, 2, ARENAUT_SPLIT_ROWS};
        arenaut_rewrite *rewrite = NULL;
        assert_int_equal(arn_split(p, &stage, 1, false, NULL, &rewrite, NULL), cases[i].status);
        arn_rewrite_free(rewrite);
        arn_program_free(p);
    }
}

TEST(programs_that_write_their_operands_stay_whole) {
    arenaut_program *p = chain(128);
    p->ops[1].kind = ARENAUT_OP_IN_PLACE;
    expect_refused(p, "in place");
    arn_program_free(p);
}

/* ---- findings of the checker ---- */

/* Whether a number that is wrong by so much makes another program: a row of padding more behind is
 * not, where no window of a stride of two reaches it. */
static bool matters(const arenaut_op *op, const arenaut_attribute *a, uint32_t k) {
    const bool window = strcmp(a->name, "pads") == 0 && a->n_numbers <= 4;
    return !window || k < a->n_numbers / 2 || op->attributes[0].numbers[0] == 1;
}

/* Numbers of a tiled program that are wrong by one, of which the checker takes none. */
static uint32_t spoil_all(const arenaut_program *p) {
    uint32_t n = 0;
    for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
        arenaut_rewrite *rewrite = split(p, 6, 3, (arenaut_split_mode)mode);
        for (uint32_t i = 0; i < rewrite->n_ops; i++) {
            const arenaut_op *op = &rewrite->program->ops[i];
            for (uint32_t a = 0; a < op->n_attributes; a++) {
                for (uint32_t k = 0; k < op->attributes[a].n_numbers; k++) {
                    int64_t *number = (int64_t *)(uintptr_t)&op->attributes[a].numbers[k];
                    if (!matters(op, &op->attributes[a], k)) continue;
                    for (int64_t by = -1; by <= 1; by += 2, n++) {
                        *number += by;
                        if (is_same_program(p, rewrite)) {
                            fail_msg("op %u, %s: %s may be %d", i, op->name, op->attributes[a].name,
                                     (int)*number);
                        }
                        *number -= by;
                    }
                }
            }
        }
        arn_rewrite_free(rewrite);
    }
    return n;
}

TEST(any_wrong_number_is_found) {
    arenaut_program *programs[] = {chain(128), margins(), signal_chain()};
    for (size_t i = 0; i < COUNT_OF(programs); i++) {
        assert_true(spoil_all(programs[i]) > 150);
        arn_program_free(programs[i]);
    }
}

TEST(any_wrong_tile_is_found) {
    arenaut_program *programs[] = {chain(128), signal_chain()};
    for (size_t i = 0; i < COUNT_OF(programs); i++) {
        assert_true(spoil_tiles(programs[i], (arenaut_split_stage){0, 6, 3, ARENAUT_SPLIT_ROWS}) >
                    10);
        arn_program_free(programs[i]);
    }
}
