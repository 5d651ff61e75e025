/* Tiles of ONNX's operators: the geometry of windows on images NCHW, signals and volumes, refusals,
 * and the checker on tiled programs of which one number or one argument is wrong. That tiles
 * compute the same is for ONNX Runtime to say (tests/pytest/test_split_onnx.py). */
#include "support/test.h"
#include "support/thorough.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/split/tile_groups.h"
#include "rewrite/split/tiled_draft.h"
#include "support/bytes.h"
#include "support/fuse.h"
#include "support/programs.h"
#include "support/sweep.h"
#include "support/unbudgeted.h"

enum { C = 1, H = 2, W = 3, MOST_RANK = 5 };

static uint32_t add(arenaut_program *p, arenaut_class cls, arenaut_dtype dtype, const int64_t *dims,
                    uint32_t rank) {
    arenaut_tensor tensor = arenaut_tensor_default();
    uint32_t id;
    char name[16];
    snprintf(name, sizeof name, "t%u", (unsigned)p->n_tensors);
    tensor.name = name;
    tensor.method = 0;
    tensor.cls = cls;
    tensor.dtype = dtype;
    tensor.rank = rank;
    tensor.dims = dims;
    assert_int_equal(arenaut_dense_bytes(dtype, dims, rank, &tensor.bytes, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_program_add_tensor(p, &tensor, &id, NULL), ARENAUT_OK);
    return id;
}

static uint32_t add_image(arenaut_program *p, arenaut_class cls, int64_t channels, int64_t height,
                          int64_t width) {
    const int64_t dims[] = {1, channels, height, width};
    return add(p, cls, ARENAUT_DTYPE_FLOAT32, dims, 4);
}

static uint32_t add_numbers(arenaut_program *p, arenaut_dtype dtype, const int64_t *numbers,
                            uint32_t n) {
    const int64_t dims[] = {n};
    const uint32_t id = add(p, ARENAUT_CONSTANT, dtype, dims, 1);
    int64_t *copy = arenaut_program_alloc(p, n * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, numbers, n * sizeof *copy);
    p->tensors[id].values = copy;
    p->tensors[id].n_values = n;
    return id;
}

static arenaut_program *begin(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    assert_int_equal(arn_program_set_dialect(p, "onnx", NULL), ARENAUT_OK);
    p->dialect_version = 17;
    return p;
}

#define ATTRIBUTES(...)                               \
    .attributes = (arenaut_attribute[]){__VA_ARGS__}, \
    .n_attributes = sizeof((arenaut_attribute[]){__VA_ARGS__}) / sizeof(arenaut_attribute)
#define INTS(name, ...) \
    {name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__}, NULL}
#define WORD(name, word) {name, 0, NULL, word}

/* For each axis of the image. */
#define SIDES(name, number) \
    {name, p->tensors[x].rank - H, (int64_t[]){number, number, number}, NULL}
#define MARGINS(number)                    \
    {"pads", 2 * (p->tensors[x].rank - H), \
     (int64_t[]){number, number, number, number, number, number}, NULL}

/* A result of as many axes as `x` has, each (side * times + plus) / over long. */
static uint32_t add_made(arenaut_program *p, uint32_t x, int64_t channels, int64_t times,
                         int64_t plus, int64_t over) {
    int64_t dims[MOST_RANK] = {1, channels};
    const uint32_t rank = p->tensors[x].rank;
    for (uint32_t i = H; i < rank; i++) dims[i] = (p->tensors[x].dims[i] * times + plus) / over;
    return add(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, dims, rank);
}

static uint32_t add_weights(arenaut_program *p, uint32_t x, int64_t to, int64_t from,
                            int64_t size) {
    const int64_t dims[MOST_RANK] = {to, from, size, size, size};
    return add(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, dims, p->tensors[x].rank);
}

/* A square convolution, `stride` apart, with `pad` around. */
static uint32_t add_conv(arenaut_program *p, uint32_t x, int64_t channels, int64_t size,
                         int64_t stride, int64_t pad) {
    const uint32_t weights = add_weights(p, x, channels, p->tensors[x].dims[C], size);
    const uint32_t y = add_made(p, x, channels, 1, 2 * pad - size + stride, stride);
    ADD_OP(p, .name = "Conv", IN(x, weights), OUT(y),
           ATTRIBUTES(SIDES("strides", stride), MARGINS(pad)));
    return y;
}

static uint32_t add_transposed(arenaut_program *p, uint32_t x, int64_t channels, int64_t size,
                               int64_t stride, int64_t pad) {
    const uint32_t weights = add_weights(p, x, p->tensors[x].dims[C], channels, size);
    const uint32_t y = add_made(p, x, channels, stride, size - 2 * pad - stride, 1);
    ADD_OP(p, .name = "ConvTranspose", IN(x, weights), OUT(y),
           ATTRIBUTES(SIDES("strides", stride), MARGINS(pad)));
    return y;
}

static uint32_t add_pool(arenaut_program *p, uint32_t x, int64_t size) {
    const uint32_t y = add_made(p, x, p->tensors[x].dims[C], 1, 0, size);
    ADD_OP(p, .name = "MaxPool", IN(x), OUT(y),
           ATTRIBUTES(SIDES("kernel_shape", size), SIDES("strides", size)));
    return y;
}

static uint32_t add_relu(arenaut_program *p, uint32_t x) {
    const uint32_t y = add_made(p, x, p->tensors[x].dims[C], 1, 0, 1);
    ADD_OP(p, .name = "Relu", IN(x), OUT(y));
    return y;
}

/* Twice as large, by sizes. */
static uint32_t add_resize(arenaut_program *p, uint32_t x, const char *mode, const char *place) {
    const uint32_t y = add_made(p, x, p->tensors[x].dims[C], 2, 0, 1);
    const uint32_t list =
        add_numbers(p, ARENAUT_DTYPE_INT64, p->tensors[y].dims, p->tensors[y].rank);
    ADD_OP(p, .name = "Resize", IN(x, ARENAUT_NONE, ARENAUT_NONE, list), OUT(y),
           ATTRIBUTES(WORD("mode", mode), WORD("coordinate_transformation_mode", place),
                      WORD("nearest_mode", "floor")));
    return y;
}

static void finish(arenaut_program *p, uint32_t x, uint32_t y) {
    p->tensors[y].cls = ARENAUT_OUTPUT;
    SET_IO(p, 0, LIST(x), LIST(y));
    finish_program(p);
}

/* All kinds of windows in a chain, on a signal, an image or a volume. */
static arenaut_program *chain_of(uint32_t axes) {
    static const int64_t sides[][3] = {{0}, {12000}, {64, 400}, {90, 16, 20}};
    int64_t dims[MOST_RANK] = {1, 3};
    arenaut_program *p = begin();
    memcpy(dims + H, sides[axes], axes * sizeof *dims);
    const uint32_t x = add(p, ARENAUT_INPUT, ARENAUT_DTYPE_FLOAT32, dims, H + axes);
    uint32_t y = add_relu(p, add_conv(p, x, 8, 3, 1, 1));
    y = add_pool(p, y, 2);
    y = add_resize(p, y, "linear", "half_pixel");
    y = add_conv(p, y, 4, 3, 2, 1);
    y = add_transposed(p, y, 2, 4, 2, 1);
    finish(p, x, y);
    return p;
}

static arenaut_program *chain(void) { return chain_of(2); }

static uint32_t add_pad(arenaut_program *p, uint32_t x, const char *mode, int64_t above,
                        int64_t below) {
    const int64_t *in = p->tensors[x].dims, pads[] = {0, 0, above, 2, 0, 0, below, 1};
    const uint32_t list = add_numbers(p, ARENAUT_DTYPE_INT64, pads, 8);
    const uint32_t y = add_image(p, ARENAUT_INTERMEDIATE, in[C], in[H] + above + below, in[W] + 3);
    ADD_OP(p, .name = "Pad", IN(x, list), OUT(y), ATTRIBUTES(WORD("mode", mode)));
    return y;
}

/* All kinds of margins, one around the other. */
static arenaut_program *margins(void) {
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 3, 40, 60);
    uint32_t y = add_pad(p, add_relu(p, x), "reflect", 5, 7);
    y = add_pad(p, add_relu(p, y), "edge", 2, 3);
    y = add_pad(p, add_relu(p, y), "constant", 1, 2);
    finish(p, x, y);
    return p;
}

static arenaut_rewrite *split(const arenaut_program *p, arenaut_split_stage stage) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arn_split(p, &stage, 1, false, NULL, &rewrite, &err), err);
    if (arenaut_check_rewrite(p, rewrite, NULL, &finding, NULL) != ARENAUT_OK) {
        fail_msg("%s", finding.msg);
    }
    return rewrite;
}

static uint32_t count(const arenaut_rewrite *rewrite, const char *name) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        n += strcmp(rewrite->program->ops[i].name, name) == 0;
    }
    return n;
}

/* ---- tiles ---- */

TEST(parts_of_a_convolution_have_padding_at_the_edges_of_the_image_alone) {
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 3, 40, 400);
    finish(p, x, add_conv(p, x, 8, 3, 1, 1));
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){0, 1, 4, ARENAUT_SPLIT_ROWS});
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
    assert_int_equal(count(rewrite, "Pad"), 0);
    assert_int_equal(count(rewrite, "Concat"), 1);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* For each tile: an element of the tile before, or of the image; its place among one; a sum, and
 * one more with the order edge of the tile before. And for the image an alias, of which the shape
 * is a sum with the first of these numbers. */
TEST(each_tile_depends_on_the_one_before) {
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 3, 40, 400);
    finish(p, x, add_conv(p, x, 8, 3, 1, 1));
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){0, 1, 4, ARENAUT_SPLIT_ROWS});
    assert_int_equal(count(rewrite, "Slice"), 4);
    assert_int_equal(count(rewrite, "GatherND"), 4);
    assert_int_equal(count(rewrite, "ArgMax"), 4);
    assert_int_equal(count(rewrite, "Add"), 4 + 3 + 1);
    assert_int_equal(count(rewrite, "Squeeze"), 1);
    assert_int_equal(count(rewrite, "Reshape"), 1);
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "Slice") == 0) assert_int_not_equal(op->inputs[0], x);
    }
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(halo_is_computed_twice_or_kept_in_line_buffers) {
    arenaut_program *p = chain();
    arenaut_rewrite *rows = split(p, (arenaut_split_stage){0, 5, 3, ARENAUT_SPLIT_ROWS});
    arenaut_rewrite *kept = split(p, (arenaut_split_stage){0, 5, 3, ARENAUT_SPLIT_KEPT});
    assert_true(rows->macs > rows->macs_before);
    assert_int_equal(kept->macs, kept->macs_before);
    assert_true(count(kept, "Concat") > count(rows, "Concat"));
    arn_rewrite_free(rows);
    arn_rewrite_free(kept);
    arn_program_free(p);
}

static void expect_refused(const arenaut_program *p, arenaut_split_stage stage, const char *why) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    assert_int_not_equal(arn_split(p, &stage, 1, false, NULL, &rewrite, &err), ARENAUT_OK);
    if (!strstr(err.msg, why)) fail_msg("expected \"%s\": %s", why, err.msg);
}

static arenaut_rewrite *split_with_rounding(const arenaut_program *p, arenaut_split_stage stage) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arn_split(p, &stage, 1, true, NULL, &rewrite, &err), err);
    if (arenaut_check_rewrite(p, rewrite, NULL, &finding, NULL) != ARENAUT_OK) {
        fail_msg("%s", finding.msg);
    }
    return rewrite;
}

TEST(low_tiles_stay_low_where_rounding_is_allowed) {
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 16, 64, 64);
    finish(p, x, add_conv(p, x, 8, 3, 1, 1));
    arenaut_rewrite *low =
        split_with_rounding(p, (arenaut_split_stage){0, 1, 16, ARENAUT_SPLIT_ROWS});
    arenaut_rewrite *high =
        split_with_rounding(p, (arenaut_split_stage){0, 1, 2, ARENAUT_SPLIT_ROWS});
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
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 3, 40, 60);
    const uint32_t y = add_image(p, ARENAUT_INTERMEDIATE, 3, 40, 60);
    ADD_OP(p, .name = "Elu", IN(x), OUT(y));
    finish(p, x, y);
    const arenaut_split_stage stage = {0, 1, 2, ARENAUT_SPLIT_ROWS};
    expect_refused(p, stage, "may make other bits in any tiles, which --rounding allow permits");
    arenaut_rewrite *rewrite = split_with_rounding(p, stage);
    assert_int_equal(rewrite->n_rounded, 1);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* ---- reductions ---- */

static bool is_accepted(const arenaut_program *p, const arenaut_rewrite *rewrite) {
    arenaut_finding finding;
    return arenaut_check_rewrite(p, rewrite, NULL, &finding, NULL) == ARENAUT_OK;
}

enum { REDUCTIONS = 6 };

/* A convolution, and a reduction of its image that a pool of version 13 or 18 of ONNX does. */
static arenaut_program *reduced(int form) {
    static const int64_t axes[] = {2, 3}, backward[] = {-1, -2};
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 3, 40, 60), y = add_conv(p, x, 8, 3, 1, 1);
    static const int64_t dims[] = {1, 8, 1, 1};
    const uint32_t made =
        add(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, dims, form < 4 ? 4 : 2);
    const uint32_t list = add_numbers(p, ARENAUT_DTYPE_INT64, axes, 2);
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
    finish(p, x, made);
    return p;
}

TEST(images_are_reduced_row_by_row_and_then_as_they_were) {
    for (int form = 0; form < REDUCTIONS; form++) {
        arenaut_program *p = reduced(form);
        expect_refused(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS}, "--rounding allow");
        for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
            const arenaut_split_stage stage = {0, 2, 4, (arenaut_split_mode)mode};
            arenaut_rewrite *rewrite = split_with_rounding(p, stage);
            assert_int_equal(count(rewrite, "MaxPool"), form % 2 ? 4 : 0);
            assert_int_equal(count(rewrite, "AveragePool"), form % 2 ? 0 : 4);
            assert_int_equal(count(rewrite, p->ops[1].name), 1);
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
                split_with_rounding(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS});
            join_otherwise(rewrite, again);
            assert_false(is_accepted(p, rewrite));
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
            split_with_rounding(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS});
        for (uint32_t i = 0; i < rewrite->n_ops; i++) {
            arenaut_op *op = &rewrite->program->ops[i];
            const char *name = op->name;
            if (rewrite->ops[i] != ARENAUT_NONE || !strstr(name, "Pool")) continue;
            op->name = form % 2 ? "AveragePool" : "MaxPool";
            assert_false(is_accepted(p, rewrite));
            op->name = name;
            for (uint32_t k = 0; k < 2; k++) {
                int64_t *side = (int64_t *)(uintptr_t)&op->attributes[0].numbers[k];
                ++*side;
                assert_false(is_accepted(p, rewrite));
                --*side;
            }
        }
        assert_true(is_accepted(p, rewrite));
        rewrite->n_rounded = 0;
        assert_false(is_accepted(p, rewrite));
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
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 3, 40, 60), y = add_conv(p, x, 8, 3, 1, 1);
    const bool reduces = form == 2 || form == 3;
    const uint32_t made = add_image(p, ARENAUT_INTERMEDIATE, reduces ? 1 : 8, 40, 60);
    const uint32_t each = add(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, columns, 1);
    const int64_t axis = form == 4 ? -1 : 1;
    if (form == 4) {
        ADD_OP(p, .name = names[form], IN(y, each, each), OUT(made),
               ATTRIBUTES(INTS("axis", axis)));
    } else {
        ADD_OP(p, .name = names[form], IN(y), OUT(made),
               ATTRIBUTES(INTS(reduces ? "axes" : "axis", axis)));
    }
    finish(p, x, made);
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
                split(p, (arenaut_split_stage){0, 2, 2, (arenaut_split_mode)mode});
            assert_int_equal(rewrite->n_rounded, 0);
            assert_int_equal(count(rewrite, p->ops[1].name), 2);
            for (int64_t other = form == 4 ? -2 : 2; other >= -4; other -= 4) {
                set_all_axes(p, rewrite, other);
                assert_false(is_accepted(p, rewrite));
            }
            set_all_axes(p, rewrite, axis);
            assert_true(is_accepted(p, rewrite));
            p->dialect_version = rewrite->program->dialect_version = 12;
            assert_int_equal(is_accepted(p, rewrite), form > 1);
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
    const uint32_t image = add_relu(p, add_conv(p, x, channels, 3, 1, 1));
    const uint32_t pooled = add_image(p, ARENAUT_INTERMEDIATE, channels, 1, 1);
    ADD_OP(p, .name = "GlobalAveragePool", IN(image), OUT(pooled));
    const uint32_t narrow = add_relu(p, add_conv(p, pooled, 4, 1, 1, 0));
    const uint32_t wide = add_conv(p, narrow, channels, 1, 1, 0);
    const uint32_t factors = add_image(p, ARENAUT_INTERMEDIATE, channels, 1, 1);
    ADD_OP(p, .name = "Sigmoid", IN(wide), OUT(factors));
    const uint32_t y = add_made(p, image, channels, 1, 0, 1);
    ADD_OP(p, .name = "Mul", IN(image, factors), OUT(y));
    return y;
}

/* So many of them one behind the other, and a convolution. */
static arenaut_program *squeezed(uint32_t n) {
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 8, 40, 60);
    uint32_t y = x;
    for (uint32_t i = 0; i < n; i++) y = add_squeeze(p, y);
    finish(p, x, add_conv(p, y, 6, 3, 1, 1));
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
            expect_refused(p, stage, "--rounding allow");
            arenaut_rewrite *rewrite = split_with_rounding(p, stage);
            assert_int_equal(count(rewrite, "GlobalAveragePool"), n);
            assert_int_equal(count(rewrite, "Sigmoid"), n);
            assert_true(rewrite->macs > rewrite->macs_before);
            if (mode == ARENAUT_SPLIT_ROWS || p->n_ops < 17) /* else each at its own height */
                assert_int_equal(count(rewrite, "Conv"), convolutions(n));
            arn_rewrite_free(rewrite);
        }
        arn_program_free(p);
    }
}

/* Ranges that need less, whole, than any choice: they are not tried. */
TEST(the_search_tries_no_range_below_what_each_choice_needs) {
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 8, 40, 60);
    uint32_t y = add_squeeze(p, x);
    for (int i = 0; i < 10; i++) y = add_relu(p, add_conv(p, y, i % 2 ? 2 : 6, 3, 1, 1));
    finish(p, x, y);
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
TEST(what_a_reduction_reads_is_made_before_it) {
    static const int64_t axes[] = {H, W};
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 8, 40, 60);
    uint32_t y = add_conv(p, x, 8, 3, 1, 1);
    for (int i = 0; i < 2; i++) {
        const uint32_t list = add_numbers(p, ARENAUT_DTYPE_INT64, axes, 2);
        const uint32_t mean = add_image(p, ARENAUT_INTERMEDIATE, 8, 1, 1);
        const uint32_t scaled = add_made(p, y, 8, 1, 0, 1);
        ADD_OP(p, .name = "Constant", OUT(list));
        ADD_OP(p, .name = "ReduceMean", IN(y, list), OUT(mean));
        ADD_OP(p, .name = "Mul", IN(y, mean), OUT(scaled));
        y = scaled;
    }
    finish(p, x, y);
    for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
        arenaut_rewrite *rewrite =
            split_with_rounding(p, (arenaut_split_stage){0, p->n_ops, 4, (arenaut_split_mode)mode});
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
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 8, 40, 60);
    const uint32_t y = add_conv(p, x, 8, 3, 1, 1);
    const uint32_t list = add_numbers(p, ARENAUT_DTYPE_INT64, axes, 2);
    const uint32_t mean = add_image(p, ARENAUT_INTERMEDIATE, 8, 1, 1);
    ADD_OP(p, .name = "Constant", OUT(list));
    ADD_OP(p, .name = "ReduceMean", IN(y, list), OUT(mean));
    finish(p, x, mean);
    arenaut_rewrite *rewrite =
        split_with_rounding(p, (arenaut_split_stage){0, p->n_ops, 4, ARENAUT_SPLIT_ROWS});
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
        split_with_rounding(p, (arenaut_split_stage){1, p->n_ops - 3, 4, ARENAUT_SPLIT_ROWS}));
    arn_program_free(p);
}

/* The image is there: it is not made again, and no op runs twice. */
TEST(a_group_that_begins_with_a_pool_and_goes_on_with_its_readers) {
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 8, 40, 60);
    const uint32_t pooled = add_image(p, ARENAUT_INTERMEDIATE, 8, 1, 1);
    const uint32_t y = add_image(p, ARENAUT_INTERMEDIATE, 8, 40, 60);
    ADD_OP(p, .name = "GlobalAveragePool", IN(x), OUT(pooled));
    ADD_OP(p, .name = "Mul", IN(x, pooled), OUT(y));
    finish(p, x, y);
    arenaut_rewrite *rewrite =
        split_with_rounding(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS});
    assert_int_equal(count(rewrite, "Mul"), 4);
    assert_int_equal(count(rewrite, "AveragePool"), 4);
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* A pool of the first block behind that of the second: what reads it runs behind it. */
TEST(ops_between_a_pool_and_its_readers_keep_their_sequence) {
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 8, 40, 60);
    const uint32_t first = add_squeeze(p, x), y = add_squeeze(p, first);
    const uint32_t pooled = p->ops[FIRST_POOL].outputs[0];
    const uint32_t late = add_conv(p, pooled, 8, 1, 1, 0);
    const uint32_t made = add_made(p, y, 8, 1, 0, 1);
    ADD_OP(p, .name = "Mul", IN(y, late), OUT(made));
    finish(p, x, made);
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    const arenaut_split_stage all = {0, p->n_ops, 4, ARENAUT_SPLIT_ROWS};
    assert_int_equal(arn_split(p, &all, 1, true, NULL, &rewrite, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "would change places"));
    arn_program_free(p);
}

/* ---- normalizations ---- */

enum { NORM_OPS = 5 }; /* behind the first: Reshape, InstanceNormalization, Reshape, Mul, Conv */

/* An image that is normalized in groups of channels, as exporters write it; of as many groups as
 * channels without another shape around. */
static arenaut_program *normalized(int64_t groups, const double *epsilon) {
    static const int64_t channels[] = {8, 1, 1}, image[] = {1, 8, 40, 60};
    arenaut_program *p = begin();
    const bool apart = groups == 8;
    const int64_t grouped[] = {1, groups, 8 / groups * 40 * 60};
    const uint32_t x = add_image(p, ARENAUT_INPUT, 8, 40, 60), relu = add_relu(p, x);
    const uint32_t scale = add(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, &groups, 1);
    const uint32_t bias = add(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, &groups, 1);
    const uint32_t factor = add(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, channels, 3);
    const int64_t *bits = (const int64_t *)epsilon;
    const arenaut_attribute each[] = {{"epsilon", 1, bits, NULL}};
    uint32_t read = relu, made = add_image(p, ARENAUT_INTERMEDIATE, 8, 40, 60), norm = made;
    if (!apart) {
        read = add(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, grouped, 3);
        norm = add(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, grouped, 3);
        ADD_OP(p, .name = "Reshape", IN(relu, add_numbers(p, ARENAUT_DTYPE_INT64, grouped, 3)),
               OUT(read));
    }
    ADD_OP(p, .name = "InstanceNormalization", IN(read, scale, bias), OUT(norm), .attributes = each,
           .n_attributes = epsilon ? 1 : 0);
    if (!apart) {
        ADD_OP(p, .name = "Reshape", IN(norm, add_numbers(p, ARENAUT_DTYPE_INT64, image, 4)),
               OUT(made));
    }
    const uint32_t scaled = add_image(p, ARENAUT_INTERMEDIATE, 8, 40, 60);
    ADD_OP(p, .name = "Mul", IN(made, factor), OUT(scaled));
    finish(p, x, add_conv(p, scaled, 4, 3, 1, 1));
    return p;
}

/* GroupNormalization, with a scale and a bias for each channel. */
static arenaut_program *normalized_by_channel(int64_t groups, const double *epsilon) {
    static const int64_t channels[] = {8};
    arenaut_program *p = begin();
    p->dialect_version = 21;
    const uint32_t x = add_image(p, ARENAUT_INPUT, 8, 40, 60), relu = add_relu(p, x);
    const uint32_t scale = add(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, channels, 1);
    const uint32_t bias = add(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, channels, 1);
    const uint32_t made = add_image(p, ARENAUT_INTERMEDIATE, 8, 40, 60);
    ADD_OP(p, .name = "GroupNormalization", IN(relu, scale, bias), OUT(made),
           ATTRIBUTES(INTS("num_groups", groups), {"epsilon", 1, (const int64_t *)epsilon, NULL}));
    finish(p, x, add_conv(p, made, 4, 3, 1, 1));
    return p;
}

TEST(images_are_normalized_in_two_passes) {
    const double epsilon = 1e-6;
    for (int64_t groups = 1; groups <= 8; groups *= 2) {
        arenaut_program *p = normalized(groups, groups % 3 ? &epsilon : NULL);
        const uint32_t n = p->n_ops - 1;
        expect_refused(p, (arenaut_split_stage){1, n, 4, ARENAUT_SPLIT_ROWS}, "--rounding allow");
        for (int mode = ARENAUT_SPLIT_ROWS; mode <= ARENAUT_SPLIT_KEPT; mode++) {
            for (uint32_t tiles = 2; tiles <= 9; tiles++) {
                const arenaut_split_stage stage = {1, n, tiles, (arenaut_split_mode)mode};
                arenaut_rewrite *rewrite = split_with_rounding(p, stage);
                assert_int_equal(count(rewrite, "AveragePool"), 2 * tiles);
                assert_int_equal(count(rewrite, "InstanceNormalization"), 0);
                assert_int_equal(count(rewrite, "Sqrt"), 1);
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

static bool same_sizes(const arenaut_tensor *a, const arenaut_tensor *b) {
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
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
            if (is_accepted(p, rewrite)) {
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
            split_with_rounding(p, (arenaut_split_stage){1, p->n_ops - 1, 2, ARENAUT_SPLIT_ROWS});
        for (uint32_t i = 0; i < rewrite->n_ops; i++) {
            if (is_norm_step(rewrite, i)) n += read_otherwise(p, rewrite, i);
        }
        assert_true(is_accepted(p, rewrite));
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
        expect_refused(p, stage, "--rounding allow");
        arenaut_rewrite *rewrite = split_with_rounding(p, stage);
        assert_int_equal(count(rewrite, "AveragePool"), 6);
        assert_int_equal(count(rewrite, "GroupNormalization"), 0);
        uint32_t n = 0;
        for (uint32_t i = 0; i < rewrite->n_ops; i++) {
            if (is_norm_step(rewrite, i)) n += read_otherwise(p, rewrite, i);
        }
        assert_true(n > 100);
        assert_true(is_accepted(p, rewrite));
        int64_t *said = (int64_t *)(uintptr_t)p->ops[1].attributes[0].numbers;
        *said = groups == 2 ? 4 : 2;
        assert_false(is_accepted(p, rewrite));
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
        split_with_rounding(p, (arenaut_split_stage){1, p->n_ops - 1, 3, ARENAUT_SPLIT_KEPT});
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        arenaut_op *op = &rewrite->program->ops[i];
        const char *name = op->name;
        if (!is_norm_step(rewrite, i)) continue;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (strcmp(name, names[k]) == 0) continue;
            op->name = names[k];
            if (is_accepted(p, rewrite)) fail_msg("op %u may be %s", (unsigned)i, names[k]);
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
            if (is_accepted(p, rewrite)) fail_msg("number %u of t%u", (unsigned)k, (unsigned)t);
            --*(int64_t *)(uintptr_t)&list->values[k];
        }
    }
    rewrite->n_rounded = 0;
    assert_false(is_accepted(p, rewrite));
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

TEST(low_tiles_become_as_high_as_their_kernels_need) {
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 16, 64, 64);
    finish(p, x, add_conv(p, x, 8, 3, 1, 1));
    arenaut_rewrite *rows = split(p, (arenaut_split_stage){0, 1, 16, ARENAUT_SPLIT_ROWS});
    arenaut_rewrite *kept = split(p, (arenaut_split_stage){0, 1, 16, ARENAUT_SPLIT_KEPT});
    assert_int_equal(rows->macs, 16 * 12 * rows->macs_before / 64); /* 768 places, not 256 */
    assert_int_equal(kept->macs, kept->macs_before);
    arn_rewrite_free(rows);
    arn_rewrite_free(kept);
    arn_program_free(p);
}

/* The last op of a descent by four levels needs twelve rows, for which the first makes about two
 * hundred: in steps of its own height, each row once, so that no tensor of it is high. */
TEST(ops_of_a_group_have_tiles_of_their_own_height) {
    arenaut_program *p = begin();
    const uint32_t x = add_image(p, ARENAUT_INPUT, 16, 1024, 1024);
    uint32_t y = add_conv(p, x, 16, 3, 1, 1);
    for (int level = 0; level < 4; level++) y = add_pool(p, y, 2);
    finish(p, x, add_conv(p, y, 16, 3, 1, 1));
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){0, 6, 64, ARENAUT_SPLIT_KEPT});
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
    arenaut_program *p = begin();
    const int64_t dims[] = {1, 48, 12000}, kernel[] = {48, 48, 3};
    const uint32_t x = add(p, ARENAUT_INPUT, ARENAUT_DTYPE_FLOAT32, dims, 3);
    const uint32_t wide = add_conv(p, x, 48, 3, 1, 1);
    const uint32_t far = add_made(p, wide, 48, 1, 0, 1), sum = add_made(p, wide, 48, 1, 0, 1);
    const uint32_t weights = add(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, kernel, 3);
    ADD_OP(p, .name = "Conv", IN(wide, weights), OUT(far),
           ATTRIBUTES(INTS("dilations", 5000), INTS("pads", 5000, 5000)));
    ADD_OP(p, .name = "Add", IN(wide, far), OUT(sum));
    finish(p, x, sum);
    for (uint32_t pieces = 100; pieces <= 1600; pieces *= 2) {
        arn_rewrite_free(split(p, (arenaut_split_stage){0, 3, pieces, ARENAUT_SPLIT_KEPT}));
    }
    arn_program_free(p);
}

TEST(modes_and_versions_that_have_no_tiles_are_refused) {
    arenaut_program *p = chain();
    expect_refused(p, (arenaut_split_stage){0, 2, 2, ARENAUT_SPLIT_CHANNELS}, "not channels");
    expect_refused(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_KEPT_CALLED}, "no calls");
    p->dialect_version = 12;
    expect_refused(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS}, "version 13");
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
        arenaut_program *p = begin();
        const uint32_t x = add_image(p, ARENAUT_INPUT, 3, 40, 400);
        finish(p, x, add_resize(p, x, cases[i].mode, cases[i].place));
        const arenaut_split_stage stage = {0, 1, 4, ARENAUT_SPLIT_ROWS};
        if (cases[i].tiled) arn_rewrite_free(split(p, stage));
        else expect_refused(p, stage, "an op in it cannot be tiled");
        arn_program_free(p);
    }
}

/* The first rows of the whole lie between its rows 0 and 1, with no part of row 1: a tile of row 0
 * alone would not have that one. */
TEST(images_are_resized_in_tiles_of_any_height) {
    for (int64_t height = 3; height <= 7; height++) {
        arenaut_program *p = begin();
        const uint32_t x = add_image(p, ARENAUT_INPUT, 3, height, 400);
        finish(p, x, add_resize(p, add_relu(p, x), "linear", "half_pixel"));
        for (uint32_t tiles = 2; tiles <= 2 * height; tiles++) {
            arn_rewrite_free(split(p, (arenaut_split_stage){1, 1, tiles, ARENAUT_SPLIT_ROWS}));
            arn_rewrite_free(split(p, (arenaut_split_stage){0, 2, tiles, ARENAUT_SPLIT_KEPT}));
        }
        arn_program_free(p);
    }
}

/* The runtime may move the padding into the pool, and not in the same way in tiles. */
TEST(a_number_around_the_operand_of_a_pool_is_not_tiled) {
    static const char *const modes[] = {"constant", "edge"};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        arenaut_program *p = begin();
        const uint32_t x = add_image(p, ARENAUT_INPUT, 3, 37, 400);
        const uint32_t y = add_pad(p, add_relu(p, x), modes[i], 1, 2);
        finish(p, x, add_pool(p, add_relu(p, add_pool(p, y, 2)), 2));
        const arenaut_split_stage pad = {0, 2, 3, ARENAUT_SPLIT_ROWS},
                                  pool = {2, 2, 3, ARENAUT_SPLIT_ROWS},
                                  behind = {3, 2, 3, ARENAUT_SPLIT_ROWS};
        arn_rewrite_free(split(p, behind));
        if (i == 0) {
            expect_refused(p, pad, "an op in it cannot be tiled");
            expect_refused(p, pool, "an op in it cannot be tiled");
        } else {
            arn_rewrite_free(split(p, pad));
            arn_rewrite_free(split(p, pool));
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
        if (is_accepted(p, rewrite))
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
            split(p, (arenaut_split_stage){0, p->n_ops, 3, (arenaut_split_mode)mode});
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
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){0, 6, 3, ARENAUT_SPLIT_ROWS});
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "Pad") != 0) continue;
        arenaut_attribute *mode = (arenaut_attribute *)(uintptr_t)&op->attributes[0];
        const char *right = mode->text;
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
            mode->text = modes[k];
            assert_int_equal(is_accepted(p, rewrite), strcmp(modes[k], right) == 0);
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
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){0, 5, 3, ARENAUT_SPLIT_KEPT});
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

/* Elements that only say that something has run are as good as others. */
static bool is_free(const arenaut_op *op) {
    return strcmp(op->name, "GatherND") == 0 || strcmp(op->name, "Max") == 0 ||
           strcmp(op->name, "ArgMax") == 0;
}

static bool is_alias_of(const arenaut_rewrite *rewrite, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "Reshape") != 0) continue;
        if (op->inputs[0] == a && op->outputs[0] == b) return true;
        if (op->inputs[0] == b && op->outputs[0] == a) return true;
    }
    return false;
}

/* The op of the new program that makes a tensor; n_ops: none. */
static uint32_t maker_of(const arenaut_rewrite *rewrite, uint32_t tensor) {
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        if (rewrite->program->ops[i].outputs[0] == tensor) return i;
    }
    return rewrite->n_ops;
}

/* Two tensors have the same elements, made twice. */
static bool are_alike(const arenaut_rewrite *rewrite, uint32_t a, uint32_t b) {
    const uint32_t x = maker_of(rewrite, a), y = maker_of(rewrite, b);
    if (a == b) return true;
    if (x == rewrite->n_ops || y == rewrite->n_ops || rewrite->ops[x] != rewrite->ops[y] ||
        a == ARENAUT_NONE || b == ARENAUT_NONE) {
        return false;
    }
    const arenaut_op *one = &rewrite->program->ops[x], *other = &rewrite->program->ops[y];
    if (strcmp(one->name, other->name) != 0 || one->n_inputs != other->n_inputs) return false;
    for (uint32_t k = 0; k < one->n_inputs && strcmp(one->name, "ArgMax") != 0; k++) {
        if (!are_alike(rewrite, one->inputs[k], other->inputs[k])) return false;
    }
    return true;
}

/* Operands of a tiled program that are exchanged for another tensor of their sizes, of which the
 * checker takes none. */
static uint32_t spoil_tiles(const arenaut_program *p, arenaut_split_stage stage) {
    uint32_t n = 0;
    arenaut_rewrite *rewrite = split_with_rounding(p, stage);
    arenaut_program *made = rewrite->program;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        const arenaut_op *op = &made->ops[i];
        for (uint32_t k = 0; k < op->n_inputs && !is_free(op); k++) {
            uint32_t *input = (uint32_t *)(uintptr_t)&op->inputs[k];
            const uint32_t right = *input;
            if (right == ARENAUT_NONE || made->tensors[right].rank < H) continue;
            for (uint32_t t = 0; t < rewrite->n_tensors; t++) {
                if (t == right || !same_sizes(&made->tensors[t], &made->tensors[right])) continue;
                if (is_alias_of(rewrite, t, right) || are_alike(rewrite, t, right)) continue;
                *input = t;
                if (is_accepted(p, rewrite)) fail_msg("op %u reads tensor %u", i, t);
                n++;
            }
            *input = right;
        }
    }
    arn_rewrite_free(rewrite);
    return n;
}

TEST(any_wrong_tile_is_found) {
    for (uint32_t axes = 1; axes <= 3; axes++) {
        arenaut_program *p = chain_of(axes);
        assert_true(spoil_tiles(p, (arenaut_split_stage){0, 5, 4, ARENAUT_SPLIT_KEPT}) > 50);
        arn_program_free(p);
    }
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

/* A number that a slice begins at comes from elements of which only their count is known. */
TEST(numbers_that_depend_on_data_are_not_known) {
    arenaut_program *p = chain();
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS});
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        arenaut_op *op = &rewrite->program->ops[i];
        if (strcmp(op->name, "ArgMax") != 0 && strcmp(op->name, "Squeeze") != 0) continue;
        const char *name = op->name;
        op->name = "Max";
        assert_false(is_accepted(p, rewrite));
        op->name = "GatherND";
        assert_false(is_accepted(p, rewrite));
        op->name = name;
        assert_true(is_accepted(p, rewrite));
    }
    arn_rewrite_free(rewrite);
    arn_program_free(p);
}

/* In place of the sum: a constant, one number, the sum with a number that is not 0, or a shape of
 * as many elements. */
TEST(an_alias_has_the_computed_shape_of_its_operand) {
    arenaut_program *p = chain();
    arenaut_rewrite *rewrite = split(p, (arenaut_split_stage){0, 2, 4, ARENAUT_SPLIT_ROWS});
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
        assert_false(is_accepted(p, rewrite));
    }
    *shape = right;
    int64_t *sizes = (int64_t *)(uintptr_t)list->values;
    sizes[H] /= 2;
    sizes[W] *= 2;
    assert_false(is_accepted(p, rewrite));
    sizes[H] *= 2;
    sizes[W] /= 2;
    assert_true(is_accepted(p, rewrite));
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

static bytes read_file(void) {
    char path[512];
    snprintf(path, sizeof path, "%s/onnx/images.onnx", TEST_DATA);
    return read_bytes(path);
}

TEST(a_written_file_is_read_back_with_a_node_for_each_op) {
    bytes file = read_file();
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
    bytes file = read_file();
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
    bytes file = read_file();
    const sweep s = {.property = is_tiled_or_refused, .seed = 1, .step = one_of(5)};
    assert_true(sweep_flips(&s, file.data, file.size).tried > 0);
    (void)sweep_cuts(&s, file.data, file.size);
    (void)sweep_scatter(&s, file.data, file.size, 60 * thorough());
    free_bytes(&file);
}

static arenaut_status split_with(void *context, const arenaut_allocator *allocator) {
    static const arenaut_split_stage stage = {0, 6, 2, ARENAUT_SPLIT_KEPT};
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_status st = arn_split(context, &stage, 1, false, allocator, &rewrite, NULL);
    if (st == ARENAUT_OK) st = arenaut_check_rewrite(context, rewrite, allocator, &finding, NULL);
    arn_rewrite_free(rewrite);
    return st;
}

TEST(tiling_and_its_check_survive_every_allocation_failure) {
    arenaut_program *p = chain();
    survives_every_allocation_failure(split_with, p);
    arn_program_free(p);
}

static arenaut_status split_norm_with(void *context, const arenaut_allocator *allocator) {
    const arenaut_split_stage stage = {1, NORM_OPS, 3, ARENAUT_SPLIT_KEPT};
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_status st = arn_split(context, &stage, 1, true, allocator, &rewrite, NULL);
    if (st == ARENAUT_OK) {
        st = arenaut_check_rewrite(context, rewrite, allocator, &finding, NULL);
        arn_rewrite_free(rewrite);
    }
    return st;
}

TEST(normalizations_and_their_check_survive_every_allocation_failure) {
    arenaut_program *p = normalized(2, NULL);
    survives_every_allocation_failure(split_norm_with, p);
    arn_program_free(p);
}
