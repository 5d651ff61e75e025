/* The steps of kernels, as the checker follows them: an overlap is accepted exactly where a kernel
 * that really computes, in the same order, is right with it. */
#include "support/test.h"

#include <arenaut/check.h>
#include <arenaut/format.h>
#include <dirent.h>

#include "check/replay/kernel_steps.h"
#include "ir/program.h"
#include "kernels/kernel_set.h"
#include "support/bytes.h"
#include "support/corpus.h"
#include "support/drawn.h"
#include "support/fuse.h"
#include "support/naive_kernels.h"
#include "support/programs.h"

enum {
    MEMORY = 8192,
    TRIALS = 3,
    LARGEST = 1 << 16, /* bytes of a tensor of a model that is followed twice */
};

/* ---- a sample, and where its arguments lie ---- */

typedef struct bench {
    sample s;
    arenaut_program *p;
    arenaut_kernel_rule rules[2];
    arenaut_kernel_set kernels;
    uint64_t in[SAMPLE_ARGUMENTS], out[SAMPLE_ARGUMENTS];
    arenaut_finding finding;
    arenaut_error err;
} bench;

static void set_order(bench *b, arenaut_kernel_order order, uint32_t block) {
    b->s.order = order;
    b->s.block = block;
    b->rules[0] =
        (arenaut_kernel_rule){.op = b->s.op, .order = order, .block = block, .measured = true};
}

static void open_bench(bench *b, const sample_kind *kind, uint64_t seed) {
    rng r = {seed};
    memset(b, 0, sizeof *b);
    kind->make(&r, &b->s);
    b->p = sample_program(&b->s);
    b->kernels =
        (arenaut_kernel_set){.name = "naive", .summary = "of this test", .rules = b->rules};
    set_order(b, ARENAUT_KERNEL_RASTER, 0);
}

static void close_bench(bench *b) { arn_program_free(b->p); }

static bool is_given(const bench *b, uint32_t input) { return !b->s.in[input].n_values; }

static void place_apart(bench *b) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < b->s.n_in; i++) {
        b->in[i] = at;
        if (is_given(b, i)) at += sample_bytes(&b->s.in[i]);
    }
    for (uint32_t i = 0; i < b->s.n_out; i++) {
        b->out[i] = at;
        at += sample_bytes(&b->s.out[i]);
    }
    assert_true(at <= MEMORY);
}

static arenaut_status check(bench *b, const arenaut_allocator *allocator, bool with_kernels) {
    uint32_t pool[2 * SAMPLE_ARGUMENTS];
    uint64_t offset[2 * SAMPLE_ARGUMENTS];
    for (uint32_t i = 0; i < b->s.n_in; i++) {
        pool[i] = is_given(b, i) ? 0 : ARENAUT_NONE;
        offset[i] = b->in[i];
    }
    for (uint32_t i = 0; i < b->s.n_out; i++) {
        pool[b->s.n_in + i] = 0;
        offset[b->s.n_in + i] = b->out[i];
    }
    const arenaut_placement placement = {b->p->n_tensors, 1, pool, offset, NULL};
    const arenaut_replay_options options = {.kernels = with_kernels ? &b->kernels : NULL};
    return arenaut_check_replay(b->p, &placement, &options, allocator, &b->finding, &b->err);
}

static bool accepts(bench *b) { return check(b, NULL, true) == ARENAUT_OK; }

/* Runs the kernel with its arguments where they lie, on given inputs, and takes its result. */
static void run(const bench *b, const uint8_t *given, int variant, uint8_t *made) {
    uint8_t memory[MEMORY];
    sample_memory m = {.copies_backwards = variant & 1, .blocks_by_image = variant & 2};
    memset(memory, 0, sizeof memory);
    for (uint32_t i = 0; i < b->s.n_in; i++) {
        m.in[i] = memory + b->in[i];
        if (!is_given(b, i)) continue;
        memcpy(m.in[i], given, (size_t)sample_bytes(&b->s.in[i]));
        given += sample_bytes(&b->s.in[i]);
    }
    for (uint32_t i = 0; i < b->s.n_out; i++) m.out[i] = memory + b->out[i];
    b->s.run(&b->s, &m);
    for (uint32_t i = 0; i < b->s.n_out; i++) {
        memcpy(made, m.out[i], (size_t)sample_bytes(&b->s.out[i]));
        made += sample_bytes(&b->s.out[i]);
    }
}

/* Whether the results are those of arguments that lie apart, in each direction that a kernel may
 * copy.
 */
static bool is_right(const bench *b, uint64_t seed) {
    uint8_t given[MEMORY], made[MEMORY], expected[MEMORY];
    rng r = {seed};
    for (int trial = 0; trial < TRIALS; trial++) {
        bench apart = *b;
        place_apart(&apart);
        for (size_t i = 0; i < MEMORY; i++) given[i] = (uint8_t)rng_next(&r);
        memset(made, 0, sizeof made);
        memset(expected, 0, sizeof expected);
        run(&apart, given, 0, expected);
        for (int variant = 0; variant < 4; variant++) {
            run(b, given, variant, made);
            if (memcmp(made, expected, sizeof made) != 0) return false;
        }
    }
    return true;
}

typedef struct count {
    uint32_t accepted, refused;
} count;

/* The checker's verdict on this placement comes true. */
static void compare(bench *b, const char *kind, uint64_t seed, count *n) {
    const bool right = is_right(b, seed), accepted = accepts(b);
    n->accepted += accepted;
    n->refused += !accepted;
    if (right == accepted) return;
    fail_msg("%s, seed %u, '%s' by %s:%u, input at %u, output at %u: it is %s, the checker says %s",
             kind, (unsigned)seed, b->s.op, arenaut_kernel_order_name(b->s.order), b->s.block,
             (unsigned)b->in[0], (unsigned)b->out[0], right ? "right" : "wrong",
             accepted ? "so" : b->finding.msg);
}

/* Every place of an output against an input, from just below to just above it. */
static void scan(bench *b, const char *kind, uint64_t seed, uint32_t input, uint32_t output,
                 count *n) {
    const uint64_t in = sample_bytes(&b->s.in[input]), out = sample_bytes(&b->s.out[output]);
    place_apart(b);
    for (uint32_t i = 0; i < b->s.n_in; i++) b->in[i] += 2 * out + in;
    for (uint32_t i = 0; i < b->s.n_out; i++) b->out[i] += 2 * out + in;
    b->in[input] = out;
    for (b->out[output] = 0; b->out[output] <= out + in; b->out[output]++)
        compare(b, kind, seed, n);
}

static void scan_all(bench *b, const char *kind, uint64_t seed, count *n) {
    for (uint32_t i = 0; i < b->s.n_in; i++) {
        for (uint32_t j = 0; j < b->s.n_out && is_given(b, i); j++) scan(b, kind, seed, i, j, n);
    }
}

TEST(an_overlap_is_accepted_exactly_where_the_results_are_right) {
    for (const sample_kind *kind = sample_kinds; kind->name; kind++) {
        count n = {0, 0};
        for (uint64_t seed = 0; seed < 1 + drawn(7); seed++) {
            bench b;
            open_bench(&b, kind, seed);
            scan_all(&b, kind->name, seed, &n);
            close_bench(&b);
        }
        print_message("%-24s %6u accepted, %6u refused\n", kind->name, n.accepted, n.refused);
        assert_true(n.accepted > 0 && (n.refused > 0 || strcmp(kind->name, "svdf") == 0));
    }
}

TEST(so_it_is_for_kernels_that_take_blocks) {
    static const arenaut_kernel_order orders[] = {ARENAUT_KERNEL_BLOCK, ARENAUT_KERNEL_BLOCK_REREAD,
                                                  ARENAUT_KERNEL_ROWS};
    for (const sample_kind *kind = sample_kinds; kind->name; kind++) {
        for (size_t i = 0; i < COUNT_OF(orders); i++) {
            count n = {0, 0};
            const uint64_t all = kind->orders >> orders[i] & 1 ? drawn(4) : 0,
                           turn = (uint64_t)(kind - sample_kinds);
            for (uint64_t k = 0; k < all; k++) { /* a kind begins where the last one ended */
                const uint64_t seed = 100 + (turn * all + k) % 4;
                bench b;
                open_bench(&b, kind, seed);
                const bool rows = orders[i] == ARENAUT_KERNEL_ROWS;
                set_order(&b, orders[i], rows ? 0 : (uint32_t)(seed - 98));
                scan_all(&b, kind->name, seed, &n);
                close_bench(&b);
            }
            assert_true(n.accepted > 0 || !(kind->orders >> orders[i] & 1));
        }
    }
}

/* ---- several arguments at once ---- */

static bool share(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

/* All arguments anywhere, inputs apart from each other, and outputs from each other. */
static bool place_anywhere(bench *b, rng *r) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->s.n_in; i++) sum += is_given(b, i) ? sample_bytes(&b->s.in[i]) : 0;
    for (uint32_t i = 0; i < b->s.n_out; i++) sum += sample_bytes(&b->s.out[i]);
    for (uint32_t i = 0; i < b->s.n_in; i++) {
        b->in[i] = rng_below(r, (uint32_t)sum);
        for (uint32_t k = 0; k < i && is_given(b, i); k++) {
            if (is_given(b, k) &&
                share(b->in[i], sample_bytes(&b->s.in[i]), b->in[k], sample_bytes(&b->s.in[k])))
                return false;
        }
    }
    for (uint32_t i = 0; i < b->s.n_out; i++) {
        b->out[i] = rng_below(r, (uint32_t)sum);
        for (uint32_t k = 0; k < i; k++) {
            if (share(b->out[i], sample_bytes(&b->s.out[i]), b->out[k], sample_bytes(&b->s.out[k])))
                return false;
        }
    }
    return true;
}

TEST(so_it_is_for_several_inputs_and_outputs_at_once) {
    static const char *const kinds[] = {"two operands", "concatenation", "split", "pack",
                                        "batch matmul"};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        count n = {0, 0};
        for (uint64_t seed = 200; seed < 240; seed++) {
            rng r = {seed};
            bench b;
            open_bench(&b, sample_kind_named(kinds[k]), seed);
            for (int turn = 0; turn < 60; turn++) {
                if (place_anywhere(&b, &r)) compare(&b, kinds[k], seed, &n);
            }
            close_bench(&b);
        }
        print_message("%-24s %6u accepted, %6u refused\n", kinds[k], n.accepted, n.refused);
        assert_true(n.accepted > 0 && n.refused > 0);
    }
}

/* ---- one op, by hand ---- */

/* An op on int8 values of these sizes, x before y, and the behaviour of the runtime's kernels. */
typedef struct scene {
    arenaut_program *p;
    arenaut_kernel_rule rules[2];
    arenaut_kernel_set kernels;
    uint32_t pool[16];
    uint64_t offset[16];
    arenaut_finding finding;
    arenaut_error err;
} scene;

static void open_scene(scene *s, const char *op, arenaut_kernel_order order) {
    memset(s, 0, sizeof *s);
    s->p = new_program();
    s->rules[0] = (arenaut_kernel_rule){.op = op, .order = order, .block = 4, .measured = true};
    s->kernels = (arenaut_kernel_set){.name = "mine", .summary = "of this test", .rules = s->rules};
    for (uint32_t i = 0; i < COUNT_OF(s->offset); i++) s->offset[i] = 1000 * (uint64_t)i;
}

static uint32_t add_line(scene *s, const char *name, int64_t size, arenaut_class cls) {
    arenaut_tensor tensor = arenaut_tensor_default();
    arenaut_error err = {0};
    uint32_t id = ARENAUT_NONE;
    tensor.name = name;
    tensor.rank = 1;
    tensor.dims = &size;
    tensor.bytes = (uint64_t)size;
    tensor.cls = cls;
    tensor.method = s->p->n_methods - 1;
    assert_ok(arenaut_program_add_tensor(s->p, &tensor, &id, &err), err);
    return id;
}

static arenaut_rule replay_scene(scene *s, bool with_kernels) {
    const arenaut_placement placement = {s->p->n_tensors, 1, s->pool, s->offset, NULL};
    const arenaut_replay_options options = {.kernels = with_kernels ? &s->kernels : NULL};
    arenaut_check_replay(s->p, &placement, &options, NULL, &s->finding, &s->err);
    return s->finding.rule;
}

/* One RELU of 16 bytes from x to y, with x `delta` bytes above y. */
static arenaut_rule relu(arenaut_kernel_order order, const char *op, int64_t delta, arenaut_op more,
                         bool with_kernels, scene *s) {
    open_scene(s, "RELU", order);
    begin_method(s->p, "main");
    const uint32_t x = add_line(s, "x", 16, ARENAUT_INPUT),
                   y = add_line(s, "y", 16, ARENAUT_OUTPUT);
    more.name = op;
    more.inputs = &x;
    more.outputs = &y;
    more.n_inputs = more.n_outputs = 1;
    add_op(s->p, more);
    FINISH(s->p, LIST(x), LIST(y));
    s->offset[x] = (uint64_t)(100 + delta);
    s->offset[y] = 100;
    const arenaut_rule rule = replay_scene(s, with_kernels);
    arn_program_free(s->p);
    return rule;
}

#define PLAIN ((arenaut_op){.kind = ARENAUT_OP_OUT})
#define STATED(d)  \
    ((arenaut_op){ \
        .kind = ARENAUT_OP_OUT, .overlaps = &(const arenaut_overlap){0, 0, d}, .n_overlaps = 1})

TEST(one_element_closer_than_the_distance_is_refused) {
    scene s;
    assert_int_equal(relu(ARENAUT_KERNEL_RASTER, "RELU", 0, PLAIN, true, &s), ARENAUT_RULE_NONE);
    assert_int_equal(relu(ARENAUT_KERNEL_RASTER, "RELU", 5, PLAIN, true, &s), ARENAUT_RULE_NONE);
    assert_int_equal(relu(ARENAUT_KERNEL_RASTER, "RELU", -1, PLAIN, true, &s),
                     ARENAUT_RULE_ARGUMENTS);
    assert_string_equal(s.err.msg,
                        "op 0 'RELU' of method 'main': the kernels 'mine' (raster) read byte 1 of "
                        "'x' when they have written 1 bytes, and byte 0 of 'y' over it");
    assert_int_equal(s.finding.op, 0);
    assert_int_equal(s.finding.a, 0);
    assert_int_equal(s.finding.b, 1);
    assert_int_equal(s.finding.first, 100);
    assert_int_equal(s.finding.end, 115);
}

TEST(kernels_that_are_not_said_or_have_no_rule_allow_nothing) {
    scene s;
    assert_int_equal(relu(ARENAUT_KERNEL_RASTER, "RELU", 5, PLAIN, false, &s),
                     ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(relu(ARENAUT_KERNEL_RASTER, "ABS", 5, PLAIN, true, &s),
                     ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(relu(ARENAUT_KERNEL_NONE, "RELU", 5, PLAIN, true, &s), ARENAUT_RULE_ARGUMENTS);
    assert_non_null(strstr(s.err.msg, "which nothing allows"));
    assert_int_equal(relu(ARENAUT_KERNEL_ANY, "RELU", -5, PLAIN, true, &s), ARENAUT_RULE_NONE);
}

TEST(a_distance_that_an_op_states_counts_only_where_the_kernels_have_no_rule) {
    scene s;
    assert_int_equal(relu(ARENAUT_KERNEL_RASTER, "RELU", -4, STATED(-4), true, &s),
                     ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(relu(ARENAUT_KERNEL_NONE, "RELU", 4, STATED(0), true, &s),
                     ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(relu(ARENAUT_KERNEL_RASTER, "ABS", -4, STATED(-4), true, &s),
                     ARENAUT_RULE_NONE);
    assert_int_equal(relu(ARENAUT_KERNEL_RASTER, "RELU", -4, STATED(-4), false, &s),
                     ARENAUT_RULE_NONE);
}

TEST(a_pair_in_place_needs_no_steps) {
    scene s;
    const arenaut_op pair = {.kind = ARENAUT_OP_OUT, IN_PLACE(0, 0)};
    assert_int_equal(relu(ARENAUT_KERNEL_NONE, "RELU", 0, pair, true, &s), ARENAUT_RULE_NONE);
    assert_int_equal(relu(ARENAUT_KERNEL_NONE, "RELU", 1, pair, true, &s), ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(relu(ARENAUT_KERNEL_RASTER, "RELU", 1, pair, true, &s), ARENAUT_RULE_NONE);
}

TEST(a_kernel_whose_steps_are_not_known_is_refused_with_the_reason) {
    bench b;
    scene s;
    open_scene(&s, "HEXAGONAL_CONV", ARENAUT_KERNEL_RASTER);
    begin_method(s.p, "main");
    const uint32_t x = add_line(&s, "x", 16, ARENAUT_INPUT),
                   y = add_line(&s, "y", 16, ARENAUT_OUTPUT);
    ADD_OP(s.p, .name = "HEXAGONAL_CONV", IN(x), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    s.offset[x] = 8;
    s.offset[y] = 0;
    assert_int_equal(replay_scene(&s, true), ARENAUT_RULE_ARGUMENTS);
    assert_non_null(strstr(s.err.msg, "'x' and 'y' share bytes [8, 16)"));
    assert_non_null(strstr(s.err.msg, "the checker has no loops of this operator"));
    arn_program_free(s.p);

    open_bench(&b, sample_kind_named("pointwise convolution"), 1);
    place_apart(&b);
    b.in[0] = 1;
    b.out[0] = 0;
    b.p->ops[0].n_attributes = 0;
    assert_false(accepts(&b));
    assert_non_null(strstr(b.err.msg, "its strides and padding are not known"));
    close_bench(&b);
}

/* The least distance from which on all are right. */
static uint64_t find_distance(bench *b) {
    place_apart(b);
    b->in[0] = sample_bytes(&b->s.out[0]);
    for (b->out[0] = 0; b->out[0] <= b->in[0] && accepts(b); b->out[0]++) continue;
    return b->in[0] - b->out[0] + 1;
}

/* A convolution of one tap: 16 pixels of 6 channels each. */
static void make_image(rng *r, sample *s) {
    (void)r;
    const sample_tensor image = {ARENAUT_DTYPE_INT8, 4, {1, 4, 4, 6}, 0, {0}};
    const sample_tensor filter = {ARENAUT_DTYPE_INT8, 4, {6, 1, 1, 6}, ARENAUT_NONE, {0}};
    *s = (sample){.op = "CONV_2D", .n_in = 2, .n_out = 1, .n_attributes = 2};
    s->in[0] = s->out[0] = image;
    s->in[1] = filter;
    s->attributes[0] = (sample_attribute){"strides", NULL, 2, {1, 1}};
    s->attributes[1] = (sample_attribute){"padding", "SAME", 0, {0, 0}};
}

TEST(a_plan_for_one_order_of_a_kernel_is_refused_for_another) {
    static const struct {
        arenaut_kernel_order order;
        uint32_t block;
        uint64_t distance;
    } cases[] = {
        {ARENAUT_KERNEL_RASTER, 0, 5},        /* its pixel, but for the last channel */
        {ARENAUT_KERNEL_BLOCK, 4, 0},         /* all four are read before they are written */
        {ARENAUT_KERNEL_BLOCK_REREAD, 4, 23}, /* four pixels, but for the last channel */
        {ARENAUT_KERNEL_ROWS, 0, 23},
        {ARENAUT_KERNEL_NONE, 0, 96}, /* channels outside of pixels */
    };
    static const sample_kind kind = {"by hand", make_image, 0};
    bench b;
    open_bench(&b, &kind, 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        set_order(&b, cases[i].order, cases[i].block);
        assert_int_equal(find_distance(&b), cases[i].distance);
        b.in[0] = 96;
        for (size_t k = 0; k < COUNT_OF(cases); k++) {
            b.out[0] = 96 - cases[k].distance;
            assert_int_equal(accepts(&b), cases[k].distance >= cases[i].distance);
        }
    }
    close_bench(&b);
}

/* A row of 33 pixels made 13. The middle one lies on pixel 16, 6.5 * (33 / 13.0f) - 0.5, if the
 * product is rounded, and just before it where a compiler rounds but once. The second output is
 * none that the kernel is known for, so it is written before all. */
static void make_row(rng *r, sample *s) {
    (void)r;
    *s = (sample){.op = "RESIZE_BILINEAR", .n_in = 1, .n_out = 2, .n_attributes = 2};
    s->in[0] = (sample_tensor){ARENAUT_DTYPE_FLOAT32, 4, {1, 1, 33, 1}, 0, {0}};
    s->out[0] = (sample_tensor){ARENAUT_DTYPE_FLOAT32, 4, {1, 1, 13, 1}, 0, {0}};
    s->out[1] = (sample_tensor){.dtype = ARENAUT_DTYPE_FLOAT32};
    s->attributes[0] = (sample_attribute){"align_corners", NULL, 1, {0, 0}};
    s->attributes[1] = (sample_attribute){"half_pixel_centers", NULL, 1, {1, 0}};
}

TEST(roundings_that_a_compiler_may_choose_are_read_as_either) {
    static const sample_kind kind = {"by hand", make_row, 0};
    static const struct {
        uint64_t pixel;
        bool is_read;
    } cases[] = {{12, false}, {13, true}, {14, true}, {15, true}, {16, true}, {17, false}};
    bench b;
    open_bench(&b, &kind, 0);
    place_apart(&b);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        b.out[1] = b.in[0] + 4 * cases[i].pixel;
        assert_int_equal(accepts(&b), !cases[i].is_read);
    }
    close_bench(&b);
}

/* ---- names that are moved, methods that are called ---- */

/* x is moved to z, on one path of two if `branches`, and z is read by an op that writes y. */
static arenaut_rule move_and_relu(bool branches, uint64_t y_offset) {
    scene s;
    open_scene(&s, "RELU", ARENAUT_KERNEL_RASTER);
    begin_method(s.p, "main");
    const uint32_t x = add_line(&s, "x", 16, ARENAUT_INPUT),
                   w = add_line(&s, "w", 16, ARENAUT_INPUT);
    const uint32_t z = add_line(&s, "z", 16, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_line(&s, "y", 16, ARENAUT_OUTPUT);
    if (branches) ADD_OP(s.p, .kind = ARENAUT_OP_JUMP_FALSE, IN(w), .target = 3);
    ADD_OP(s.p, .kind = ARENAUT_OP_MOVE, IN(x), OUT(z));
    if (branches) {
        ADD_OP(s.p, .kind = ARENAUT_OP_JUMP, .target = 4);
        ADD_OP(s.p, .kind = ARENAUT_OP_MOVE, IN(w), OUT(z));
    }
    ADD_OP(s.p, .name = "RELU", IN(z), OUT(y));
    FINISH(s.p, LIST(x, w), LIST(y));
    s.offset[y] = y_offset;
    s.offset[x] = 8;
    const arenaut_rule rule = replay_scene(&s, true);
    arn_program_free(s.p);
    return rule;
}

TEST(only_memory_that_a_name_stands_for_alone_is_overlapped) {
    assert_int_equal(move_and_relu(false, 0), ARENAUT_RULE_NONE);
    assert_int_equal(move_and_relu(false, 9), ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(move_and_relu(true, 0), ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(move_and_relu(true, 200), ARENAUT_RULE_NONE);
}

TEST(ops_of_methods_that_are_called_are_followed_too) {
    for (uint64_t y = 0; y < 10; y += 9) {
        scene s;
        open_scene(&s, "RELU", ARENAUT_KERNEL_RASTER);
        begin_method(s.p, "main");
        const uint32_t a = add_line(&s, "a", 16, ARENAUT_INPUT),
                       b = add_line(&s, "b", 16, ARENAUT_OUTPUT);
        const uint32_t c = add_line(&s, "c", 16, ARENAUT_INTERMEDIATE);
        ADD_OP(s.p, .kind = ARENAUT_OP_CALL, IN(a), OUT(c), CALLS(1));
        ADD_OP(s.p, .kind = ARENAUT_OP_CALL, IN(c), OUT(b), CALLS(1));
        begin_submethod(s.p, "twice");
        const uint32_t x = add_line(&s, "x", 16, ARENAUT_INPUT),
                       z = add_line(&s, "y", 16, ARENAUT_OUTPUT);
        ADD_OP(s.p, .name = "RELU", IN(x), OUT(z));
        SET_IO(s.p, 0, LIST(a), LIST(b));
        SET_IO(s.p, 1, LIST(x), LIST(z));
        finish_program(s.p);
        s.offset[x] = 5008;
        s.offset[z] = 5000 + y;
        assert_int_equal(replay_scene(&s, true),
                         y == 0 ? ARENAUT_RULE_NONE : ARENAUT_RULE_ARGUMENTS);
        arn_program_free(s.p);
    }
}

/* ---- whole programs ---- */

enum { CHAIN_OPS = 4, CHAIN_ELEMENTS = 6, CHAIN_ARENA = 48 };

/* Ops that each read the tensor made last, and maybe one made before: tensor 0 is the program's
 * input, tensor k + 1 is the result of op k. */
typedef struct chain {
    sample op[CHAIN_OPS];
    uint32_t other[CHAIN_OPS]; /* the second operand of op k */
    sample_tensor tensor[CHAIN_OPS + 1];
    uint64_t offset[CHAIN_OPS + 1];
} chain;

static void make_chain(chain *c, rng *r) {
    static const arenaut_dtype types[] = {ARENAUT_DTYPE_INT8, ARENAUT_DTYPE_INT16};
    memset(c, 0, sizeof *c);
    for (uint32_t k = 0; k <= CHAIN_OPS; k++)
        c->tensor[k] =
            (sample_tensor){.dtype = types[rng_below(r, 2)], .rank = 1, .dims = {CHAIN_ELEMENTS}};
    for (uint32_t k = 0; k < CHAIN_OPS; k++) {
        const bool two = rng_once_in(r, 2);
        sample *s = &c->op[k];
        sample_kind_named(two ? "two operands" : "one operand")->make(r, s);
        s->op = two ? "ADD" : "CAST";
        s->order = ARENAUT_KERNEL_RASTER;
        c->other[k] = two ? rng_below(r, k + 1) : 0;
        s->in[0] = c->tensor[k];
        s->in[1] = c->tensor[c->other[k]];
        s->out[0] = c->tensor[k + 1];
    }
}

static arenaut_program *chain_program(const chain *c) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    for (uint32_t k = 0; k <= CHAIN_OPS; k++) {
        arenaut_tensor tensor = arenaut_tensor_default();
        arenaut_error err = {0};
        tensor.dtype = c->tensor[k].dtype;
        tensor.rank = 1;
        tensor.dims = c->tensor[k].dims;
        tensor.bytes = sample_bytes(&c->tensor[k]);
        tensor.cls = k == 0           ? ARENAUT_INPUT
                     : k == CHAIN_OPS ? ARENAUT_OUTPUT
                                      : ARENAUT_INTERMEDIATE;
        tensor.method = 0;
        assert_ok(arenaut_program_add_tensor(p, &tensor, NULL, &err), err);
    }
    for (uint32_t k = 0; k < CHAIN_OPS; k++) {
        const uint32_t in[] = {k, c->other[k]}, out = k + 1;
        add_op(p, (arenaut_op){.name = c->op[k].op,
                               .inputs = in,
                               .n_inputs = c->op[k].n_in,
                               .outputs = &out,
                               .n_outputs = 1});
    }
    FINISH(p, LIST(0), LIST(CHAIN_OPS));
    return p;
}

static void run_chain(const chain *c, const uint64_t *offset, rng given, uint8_t *made) {
    uint8_t arena[MEMORY] = {0};
    for (uint64_t b = 0; b < sample_bytes(&c->tensor[0]); b++)
        arena[offset[0] + b] = (uint8_t)rng_next(&given);
    for (uint32_t k = 0; k < CHAIN_OPS; k++) {
        sample_memory m = {.in = {arena + offset[k], arena + offset[c->other[k]]},
                           .out = {arena + offset[k + 1]}};
        c->op[k].run(&c->op[k], &m);
    }
    memcpy(made, arena + offset[CHAIN_OPS], (size_t)sample_bytes(&c->tensor[CHAIN_OPS]));
}

static bool chain_is_right(const chain *c) {
    uint8_t made[64] = {0}, expected[64] = {0};
    uint64_t apart[CHAIN_OPS + 1];
    for (uint32_t k = 0; k <= CHAIN_OPS; k++) apart[k] = 100 * (uint64_t)k;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        run_chain(c, c->offset, (rng){trial}, made);
        run_chain(c, apart, (rng){trial}, expected);
        if (memcmp(made, expected, sizeof made) != 0) return false;
    }
    return true;
}

TEST(programs_are_accepted_exactly_where_their_results_are_right) {
    const arenaut_kernel_rule rules[] = {
        {.op = "ADD", .order = ARENAUT_KERNEL_RASTER, .measured = true},
        {.op = "CAST", .order = ARENAUT_KERNEL_RASTER, .measured = true},
        {.op = NULL}};
    const arenaut_kernel_set kernels = {.name = "naive", .summary = "of this test", .rules = rules};
    const arenaut_replay_options options = {.kernels = &kernels};
    const uint32_t pool[CHAIN_OPS + 1] = {0};
    count n = {0, 0};
    for (uint64_t seed = 0; seed < drawn(2000); seed++) {
        rng r = {seed};
        chain c;
        make_chain(&c, &r);
        arenaut_program *p = chain_program(&c);
        for (int turn = 0; turn < 20; turn++) {
            for (uint32_t k = 0; k <= CHAIN_OPS; k++) c.offset[k] = rng_below(&r, CHAIN_ARENA);
            const arenaut_placement placement = {CHAIN_OPS + 1, 1, pool, c.offset, NULL};
            arenaut_finding finding;
            arenaut_error err = {0};
            const arenaut_status status =
                arenaut_check_replay(p, &placement, &options, NULL, &finding, &err);
            n.accepted += status == ARENAUT_OK;
            n.refused += status != ARENAUT_OK;
            if (chain_is_right(&c) != (status == ARENAUT_OK))
                fail_msg("seed %u: the checker says %s", (unsigned)seed,
                         status == ARENAUT_OK ? "ok" : err.msg);
        }
        arn_program_free(p);
    }
    print_message("%u accepted, %u refused\n", n.accepted, n.refused);
    assert_true(n.accepted > drawn(1000) && n.refused > drawn(1000));
}

/* ---- memory and time ---- */

static arenaut_status try_check(void *context, const arenaut_allocator *allocator) {
    return check(context, allocator, true);
}

TEST(following_a_kernel_survives_running_out_of_memory) {
    bench b;
    open_bench(&b, sample_kind_named("concatenation"), 5);
    place_apart(&b);
    set_order(&b, ARENAUT_KERNEL_ANY, 0);
    b.out[0] = b.in[0] + 1;
    survives_every_allocation_failure(try_check, &b);
    close_bench(&b);
}

TEST(a_walk_of_too_many_steps_ends) {
    bench b;
    open_bench(&b, sample_kind_named("convolution"), 2);
    const arn_walk_pair pair = {0, 0, -(int64_t)sample_bytes(&b.s.out[0])};
    for (uint64_t most = 1; most < 100000; most *= 2) {
        arn_region region;
        arn_region_init(&region, NULL);
        arn_walk walk = {.program = b.p,
                         .op = b.p->ops,
                         .rule = b.rules,
                         .pairs = &pair,
                         .n_pairs = 1,
                         .most = most};
        assert_true(arn_walk_begin(&walk, &region));
        arn_kernel_steps(&walk);
        if (most < 16) assert_int_equal(walk.end, ARN_WALK_TOO_LONG);
        if (walk.work > most) assert_int_equal(walk.end, ARN_WALK_TOO_LONG);
        if (most == 65536) assert_int_equal(walk.end, ARN_WALK_RIGHT);
        arn_region_free(&region);
    }
    close_bench(&b);
}

/* A walk of an op that makes one line of bytes of another, which overlap by `shift`. */
typedef struct line_walk {
    scene s;
    arn_walk_pair pair;
    arn_region region;
    arn_walk walk;
} line_walk;

static void open_line(line_walk *l, int64_t size, int64_t shift) {
    *l = (line_walk){.pair = {0, 0, shift}};
    open_scene(&l->s, "RELU", ARENAUT_KERNEL_RASTER);
    begin_method(l->s.p, "main");
    const uint32_t x = add_line(&l->s, "x", size, ARENAUT_INPUT);
    const uint32_t y = add_line(&l->s, "y", size, ARENAUT_OUTPUT);
    ADD_OP(l->s.p, .name = "RELU", IN(x), OUT(y));
    FINISH(l->s.p, LIST(x), LIST(y));
    arn_region_init(&l->region, NULL);
    l->walk = (arn_walk){.program = l->s.p,
                         .op = l->s.p->ops,
                         .rule = l->s.kernels.rules,
                         .pairs = &l->pair,
                         .n_pairs = 1,
                         .most = UINT64_MAX};
    assert_true(arn_walk_begin(&l->walk, &l->region));
}

static void close_line(line_walk *l) {
    arn_region_free(&l->region);
    arn_program_free(l->s.p);
}

/* The run step by step: what is written early, the read, the rest. */
static bool run_plainly(arn_walk *walk, const arn_walk_run *run) {
    for (uint64_t k = 0; k < run->n; k++) {
        const uint64_t from = run->from + k * run->read, to = run->to + k * run->made;
        if (!arn_walk_write(walk, 0, to, to + run->early) ||
            !arn_walk_read(walk, 0, from, from + run->read) ||
            !arn_walk_write(walk, 0, to + run->early, to + run->made))
            return false;
    }
    return true;
}

TEST(a_run_that_stays_ahead_is_right_step_by_step) {
    rng r = {7};
    count n = {0, 0};
    for (int turn = 0; turn < 20000; turn++) {
        const int64_t size = 1 + rng_below(&r, 200);
        const int64_t shift = (int64_t)rng_below(&r, 240) - 120;
        arn_walk_run run = {.read = rng_below(&r, 5), .made = rng_below(&r, 5)};
        run.early = run.made ? rng_below(&r, (uint32_t)run.made) : 0;
        run.n = 1 + rng_below(&r, 30);
        run.from = rng_below(&r, 40);
        run.to = rng_below(&r, 40);
        if (run.from + run.n * run.read > (uint64_t)size ||
            run.to + run.n * run.made > (uint64_t)size)
            continue;
        const uint64_t done = rng_once_in(&r, 2) ? 0 : rng_below(&r, (uint32_t)run.to + 1);
        line_walk l;
        open_line(&l, size, shift);
        assert_true(arn_walk_write(&l.walk, 0, 0, done)); /* what was made before */
        const bool ahead = arn_walk_stays_ahead(&l.walk, &run);
        const bool right = run_plainly(&l.walk, &run);
        n.accepted += ahead;
        n.refused += !right;
        if (ahead) assert_true(right);
        close_line(&l);
    }
    print_message("%u stay ahead, %u are wrong\n", n.accepted, n.refused);
    assert_true(n.accepted > 1000 && n.refused > 1000);
}

/* In place, all that kernels of elements read and write is one look at each 64 bytes. */
TEST(elements_in_place_are_followed_by_words) {
    line_walk l;
    open_line(&l, 64000, 0);
    l.walk.work = 0;
    arn_kernel_steps(&l.walk);
    assert_int_equal(l.walk.end, ARN_WALK_RIGHT);
    assert_in_range(l.walk.work, 2000, 2010);
    close_line(&l);
}

static void make_large_image(sample *s) {
    const sample_tensor image = {ARENAUT_DTYPE_INT8, 4, {1, 64, 64, 4}, 0, {0}};
    const sample_tensor filter = {ARENAUT_DTYPE_INT8, 4, {1, 7, 7, 4}, ARENAUT_NONE, {0}};
    *s = (sample){.op = "DEPTHWISE_CONV_2D", .n_in = 2, .n_out = 1, .n_attributes = 3};
    s->in[0] = s->out[0] = image;
    s->in[1] = filter;
    s->attributes[0] = (sample_attribute){"strides", NULL, 2, {1, 1}};
    s->attributes[1] = (sample_attribute){"padding", "SAME", 0, {0, 0}};
    s->attributes[2] = (sample_attribute){"dilations", NULL, 2, {1, 1}};
}

/* As close as its output may lie, an image costs few looks at each tap of each row and at the few
 * pixels beside the edges, not at each tap of each pixel: 4,096 of them are 200,704. */
TEST(images_are_followed_by_rows) {
    sample s;
    make_large_image(&s);
    arenaut_program *p = sample_program(&s);
    const arenaut_kernel_rule rules[] = {
        {.op = s.op, .order = ARENAUT_KERNEL_RASTER, .measured = true}, {.op = NULL}};
    int64_t distance;
    assert_true(kernel_distance(p, p->ops, rules, 0, 0, &distance));
    for (int64_t closer = 0; closer < 2; closer++) {
        const arn_walk_pair pair = {0, 0, closer - distance};
        arn_region region;
        arn_region_init(&region, NULL);
        arn_walk walk = {.program = p,
                         .op = p->ops,
                         .rule = rules,
                         .pairs = &pair,
                         .n_pairs = 1,
                         .most = UINT64_MAX};
        assert_true(arn_walk_begin(&walk, &region));
        arn_kernel_steps(&walk);
        assert_int_equal(walk.end, closer ? ARN_WALK_CORRUPTS : ARN_WALK_RIGHT);
        assert_true(walk.work < 200704 / 4);
        arn_region_free(&region);
    }
    arn_program_free(p);
}

TEST(operands_too_large_to_mark_are_not_followed) {
    scene s;
    open_scene(&s, "RELU", ARENAUT_KERNEL_RASTER);
    begin_method(s.p, "main");
    const uint32_t x = add_line(&s, "x", INT64_C(1) << 40, ARENAUT_INPUT);
    const uint32_t y = add_line(&s, "y", INT64_C(1) << 40, ARENAUT_OUTPUT);
    ADD_OP(s.p, .name = "RELU", IN(x), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    const arenaut_placement placement = {2, 1, s.pool, (const uint64_t[]){8, 0}, NULL};
    const arenaut_replay_options options = {.kernels = &s.kernels};
    assert_int_equal(arenaut_check_replay(s.p, &placement, &options, NULL, &s.finding, &s.err),
                     ARENAUT_UNSUPPORTED);
    assert_non_null(strstr(s.err.msg, "too much to follow"));
    arn_program_free(s.p);
}

/* Puts something else in the place of a number now and then. */
static void spoil(rng *r, int64_t *number) {
    static const int64_t odd[] = {
        0, -1, 1, 2, 7, 1000, 1 << 20, 1 << 30, INT32_MAX, INT64_MAX, INT64_C(1) << 40, INT64_MIN};
    if (rng_once_in(r, 12)) *number = odd[rng_below(r, COUNT_OF(odd))];
}

/* Spoils the copy of a tensor that the program is given instead. Its bytes follow, if they can. */
static void spoil_tensor(rng *r, sample_tensor *t, arenaut_tensor *tensor) {
    uint64_t size = arenaut_dtype_bits(t->dtype) / 8;
    for (uint32_t i = 0; i < t->rank; i++) {
        spoil(r, &t->dims[i]);
        size = t->dims[i] < 0 || t->dims[i] > 4096 || size > 4096 ? UINT64_MAX
                                                                  : size * (uint64_t)t->dims[i];
    }
    for (uint32_t i = 0; i < tensor->n_values; i++) spoil(r, &t->values[i]);
    if (size < 1 << 20) tensor->bytes = size;
    tensor->dims = t->dims;
    if (tensor->n_values) tensor->values = t->values;
    if (rng_once_in(r, 20)) tensor->rank = rng_below(r, tensor->rank + 1);
    if (rng_once_in(r, 20)) tensor->dtype = (arenaut_dtype)rng_below(r, ARENAUT_DTYPE_COUNT);
}

/* A valid program whose op then says something else. */
static arenaut_program *spoilt_program(rng *r, sample *s, arenaut_attribute *attributes) {
    arenaut_program *p = sample_program(s);
    for (uint32_t i = 0; i < s->n_in; i++) spoil_tensor(r, &s->in[i], &p->tensors[i]);
    for (uint32_t i = 0; i < s->n_out; i++) spoil_tensor(r, &s->out[i], &p->tensors[s->n_in + i]);
    for (uint32_t i = 0; i < s->n_attributes; i++) {
        sample_attribute *a = &s->attributes[i];
        spoil(r, &a->numbers[0]);
        spoil(r, &a->numbers[1]);
        attributes[i] = (arenaut_attribute){a->name, a->n, a->text ? NULL : a->numbers, a->text};
    }
    p->ops[0].attributes = attributes;
    if (rng_once_in(r, 10) && s->n_attributes > 0) p->ops[0].n_attributes--;
    return p;
}

/* Ops that state nonsense: the walk ends, one way or another. */
TEST(nonsense_is_followed_to_an_end) {
    uint32_t ends[ARN_WALK_TOO_LONG + 1] = {0}, kinds = 0;
    while (sample_kinds[kinds].name) kinds++;
    for (uint64_t seed = 0; seed < drawn(20000); seed++) {
        rng r = {seed};
        sample s;
        arenaut_attribute attributes[SAMPLE_ATTRIBUTES];
        memset(&s, 0, sizeof s);
        sample_kinds[seed % kinds].make(&r, &s);
        arenaut_program *p = spoilt_program(&r, &s, attributes);
        const arenaut_kernel_rule rule = {
            .op = s.op,
            .order = (arenaut_kernel_order)rng_below(&r, ARENAUT_KERNEL_ORDER_COUNT),
            .block = rng_once_in(&r, 4) ? (uint32_t)rng_next(&r) : rng_below(&r, 9)};
        int64_t shift = (int64_t)rng_below(&r, 64) - 32;
        spoil(&r, &shift);
        shift /= 2; /* the ends of all tensors are below 2^63 */
        const arn_walk_pair pair = {rng_below(&r, s.n_in), rng_below(&r, s.n_out), shift};
        arn_region region;
        arn_region_init(&region, NULL);
        arn_walk walk = {.program = p,
                         .op = p->ops,
                         .rule = &rule,
                         .pairs = &pair,
                         .n_pairs = 1,
                         .most = rng_once_in(&r, 4) ? 64 : 1 << 16};
        assert_true(arn_walk_begin(&walk, &region));
        arn_kernel_steps(&walk);
        ends[walk.end]++;
        arn_region_free(&region);
        arn_program_free(p);
    }
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        print_message("end %u: %u times\n", (unsigned)i, ends[i]);
    assert_true(ends[ARN_WALK_RIGHT] > drawn(1000) && ends[ARN_WALK_CORRUPTS] > drawn(1000) &&
                ends[ARN_WALK_SMEARS] >= drawn(20) / 2 && ends[ARN_WALK_UNKNOWN] > drawn(1000) &&
                ends[ARN_WALK_TOO_LONG] > 0);
}

/* ---- the distances of kernel sets ---- */

/* Whether the checker accepts the input so many bytes above the output. */
static bool accepts_at(bench *b, uint32_t input, uint32_t output, int64_t delta) {
    const uint64_t in = sample_bytes(&b->s.in[input]), out = sample_bytes(&b->s.out[output]);
    place_apart(b);
    for (uint32_t i = 0; i < b->s.n_in; i++) b->in[i] += 2 * out + in;
    for (uint32_t i = 0; i < b->s.n_out; i++) b->out[i] += 2 * out + in;
    b->in[input] = out;
    b->out[output] = (uint64_t)((int64_t)out - delta);
    return accepts(b);
}

/* From the distance on, all is accepted. With one element less it is not: where one is stated that
 * is exact, or where none is, which is as if it were the whole output. */
static void hold_distance(bench *b, uint32_t input, uint32_t output, bool exact, count *n) {
    const int64_t in = (int64_t)sample_bytes(&b->s.in[input]);
    const int64_t out = (int64_t)sample_bytes(&b->s.out[output]);
    int64_t distance = INT64_MIN;
    const bool stated = kernel_distance(b->p, b->p->ops, b->rules, output, input, &distance);
    const int64_t element = arenaut_dtype_bits(b->s.in[input].dtype) / 8;
    n->accepted += stated;
    n->refused += !stated;
    if (distance < -in) distance = -in; /* apart again */
    for (int64_t delta = distance; delta <= out && stated; delta++) {
        if (!accepts_at(b, input, output, delta))
            fail_msg("'%s' by %s:%u: %d is stated: %s", b->s.op,
                     arenaut_kernel_order_name(b->s.order), b->s.block, (int)distance, b->err.msg);
    }
    const int64_t closer = (stated ? distance : out) - element;
    if (exact && closer > -in && closer < out && accepts_at(b, input, output, closer))
        fail_msg("'%s' by %s:%u: %d is accepted, %d stated", b->s.op,
                 arenaut_kernel_order_name(b->s.order), b->s.block, (int)closer, (int)distance);
}

/* Kinds of which some distances are stated a little larger than they need be, or not at all. */
static bool is_exact(const sample_kind *kind) {
    static const char *const rough[] = {
        "bilinear",      "nearest", "slice", "strided slice",
        "concatenation", "split",   "pack",  "transposed convolution",
        "svdf",          "lstm"};
    for (size_t i = 0; i < COUNT_OF(rough); i++) {
        if (strcmp(kind->name, rough[i]) == 0) return false;
    }
    return true;
}

TEST(distances_of_kernel_sets_are_accepted_and_what_is_closer_is_not) {
    for (const sample_kind *kind = sample_kinds; kind->name; kind++) {
        count n = {0, 0};
        for (uint64_t seed = 300; seed < 310; seed++) {
            bench b;
            open_bench(&b, kind, seed);
            for (int k = 0; k < ARENAUT_KERNEL_ORDER_COUNT; k++) {
                const arenaut_kernel_order order = (arenaut_kernel_order)k;
                const bool raster = order == ARENAUT_KERNEL_RASTER;
                const bool blocks =
                    order == ARENAUT_KERNEL_BLOCK || order == ARENAUT_KERNEL_BLOCK_REREAD;
                set_order(&b, order, blocks ? 2 + (uint32_t)(seed % 4) : 0);
                for (uint32_t i = 0; i < b.s.n_in; i++) {
                    for (uint32_t j = 0; j < b.s.n_out && is_given(&b, i); j++)
                        hold_distance(&b, i, j, raster && is_exact(kind), &n);
                }
            }
            close_bench(&b);
        }
        print_message("%-24s %6u stated, %6u not\n", kind->name, n.accepted, n.refused);
        assert_true(n.accepted > 0);
    }
}

/* ---- the ops of real models ---- */

typedef struct tally {
    uint32_t stated, closer_refused, closer_accepted, too_large;
} tally;

/* The kernel's walk with the input so many bytes above the output. */
static arn_walk_end follow(const arenaut_program *p, const arenaut_op *op,
                           const arenaut_kernel_rule *rule, arn_walk_pair pair) {
    arn_region region;
    arn_region_init(&region, NULL);
    arn_walk walk = {.program = p,
                     .op = op,
                     .rule = rule,
                     .pairs = &pair,
                     .n_pairs = 1,
                     .most = UINT64_C(1) << 30};
    assert_true(arn_walk_begin(&walk, &region));
    arn_kernel_steps(&walk);
    arn_region_free(&region);
    return walk.end;
}

/* Ops whose distances are not exact; see is_exact. */
static bool has_rough_distance(const char *op) {
    static const char *const rough[] = {"RESIZE_BILINEAR",
                                        "RESIZE_NEAREST_NEIGHBOR",
                                        "SLICE",
                                        "STRIDED_SLICE",
                                        "CONCATENATION",
                                        "SPLIT",
                                        "SPLIT_V",
                                        "PACK",
                                        "TRANSPOSE_CONV",
                                        "SVDF",
                                        "UNIDIRECTIONAL_SEQUENCE_LSTM"};
    for (size_t i = 0; i < COUNT_OF(rough); i++) {
        if (strcmp(op, rough[i]) == 0) return true;
    }
    return false;
}

static void hold_pair(const arenaut_program *p, const arenaut_op *op,
                      const arenaut_kernel_rule *rule, uint32_t input, uint32_t output, tally *n) {
    const arenaut_tensor *in = &p->tensors[op->inputs[input]];
    const arenaut_tensor *out = &p->tensors[op->outputs[output]];
    int64_t distance;
    if (!kernel_distance(p, op, rule, output, input, &distance)) return;
    if (in->bytes > LARGEST || out->bytes > LARGEST) {
        n->too_large++;
        return;
    }
    n->stated++;
    if (follow(p, op, rule, (arn_walk_pair){input, output, -distance}) != ARN_WALK_RIGHT)
        fail_msg("'%s': %d is stated, and refused", op->name, (int)distance);
    const int64_t closer = distance - arenaut_dtype_bits(in->dtype) / 8;
    if (closer <= -(int64_t)in->bytes || closer >= (int64_t)out->bytes) return;
    if (follow(p, op, rule, (arn_walk_pair){input, output, -closer}) != ARN_WALK_RIGHT) {
        n->closer_refused++;
        return;
    }
    n->closer_accepted++;
    if (!has_rough_distance(op->name))
        fail_msg("'%s': %d is accepted, %d stated", op->name, (int)closer, (int)distance);
}

static void hold_model(const char *path, const arenaut_kernel_set *kernels, tally *n) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    bytes file = read_bytes(path);
    assert_ok(arenaut_read(file.data, file.size, NULL, NULL, NULL, &document, &err), err);
    const arenaut_program *p = document.program;
    for (uint32_t k = 0; k < p->n_ops; k++) {
        const arenaut_op *op = &p->ops[k];
        const arenaut_kernel_rule *rule =
            op->kind == ARENAUT_OP_OUT ? arn_kernel_rule_for(kernels, p, op, false) : NULL;
        for (uint32_t i = 0; rule && i < op->n_inputs; i++) {
            const bool planned =
                op->inputs[i] != ARENAUT_NONE && p->tensors[op->inputs[i]].cls != ARENAUT_CONSTANT;
            for (uint32_t j = 0; planned && j < op->n_outputs; j++) hold_pair(p, op, rule, i, j, n);
        }
    }
    free_bytes(&file);
    arenaut_document_free(&document);
}

TEST(distances_of_the_ops_of_real_models_are_accepted_and_what_is_closer_is_not) {
    char path[1024];
    tally n = {0};
    uint32_t models = 0;
    corpus_path_or_skip(path, "tflite/MANIFEST.tsv");
    snprintf(path, sizeof path, "%s/tflite", corpus_folder());
    const arenaut_kernel_set *kernels = arenaut_kernel_set_find("reference");
    assert_non_null(kernels);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        const char *end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".tflite") != 0) continue;
        snprintf(path, sizeof path, "%s/tflite/%s", corpus_folder(), entry->d_name);
        hold_model(path, kernels, &n);
        models++;
    }
    closedir(dir);
    print_message(
        "%u models: %u distances, %u refused one element closer, %u not; %u of tensors of "
        "more than %u bytes left out\n",
        models, n.stated, n.closer_refused, n.closer_accepted, n.too_large, LARGEST);
    assert_true(n.stated > 300 && n.closer_refused > 10 * n.closer_accepted);
}
