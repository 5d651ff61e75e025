/* Rules of kernel sets about ops: which rule is about an op, and how far its output may reach into
 * an input. The distances are held against kernels that really compute, with input and output at
 * every distance from one another. */
#include "support/test.h"

#include <arenaut/kernels.h>

#include "ir/program.h"
#include "kernels/kernel_set.h"
#include "support/naive_kernels.h"
#include "support/programs.h"

/* ---- distances against real kernels ---- */

enum { MEMORY = 8192, TRIALS = 3 };

static bool is_given(const sample *s, uint32_t input) { return !s->in[input].n_values; }

/* Runs the kernel with input `input` at `delta` bytes above output `output` and all else apart. */
static void run(const sample *s, uint32_t input, uint32_t output, int64_t delta, int variant,
                uint64_t seed, uint8_t *made) {
    static uint8_t memory[4 * MEMORY];
    sample_memory m = {.copies_backwards = variant & 1, .blocks_by_image = variant & 2};
    uint64_t at = 2 * MEMORY;
    rng r = {seed};
    memset(memory, 0, sizeof memory);
    for (uint32_t i = 0; i < s->n_out; i++) {
        m.out[i] = memory + (i == output ? MEMORY : at);
        if (i != output) at += sample_bytes(&s->out[i]);
    }
    for (uint32_t i = 0; i < s->n_in; i++) {
        m.in[i] = i == input ? memory + MEMORY + delta : memory + at;
        if (!is_given(s, i)) continue;
        for (uint64_t k = 0; k < sample_bytes(&s->in[i]); k++) m.in[i][k] = (uint8_t)rng_next(&r);
        if (i != input) at += sample_bytes(&s->in[i]);
    }
    assert_true(at <= sizeof memory);
    s->run(s, &m);
    for (uint32_t i = 0; i < s->n_out; i++) {
        memcpy(made, m.out[i], (size_t)sample_bytes(&s->out[i]));
        made += sample_bytes(&s->out[i]);
    }
}

/* Whether the results are those of tensors that lie apart, in either direction of memcpy, and
 * whether blocks begin anew with each image or not. */
static bool is_right(const sample *s, uint32_t input, uint32_t output, int64_t delta) {
    uint8_t made[MEMORY] = {0}, expected[MEMORY] = {0};
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        run(s, input, output, MEMORY / 2, 0, seed, expected);
        for (int variant = 0; variant < 4; variant++) {
            run(s, input, output, delta, variant, seed, made);
            if (memcmp(made, expected, sizeof made) != 0) return false;
        }
    }
    return true;
}

/* The least distance from which on all is right, down to where the two do not touch. */
static int64_t least_right(const sample *s, uint32_t input, uint32_t output) {
    int64_t delta = (int64_t)sample_bytes(&s->out[output]);
    const int64_t apart = -(int64_t)sample_bytes(&s->in[input]);
    while (delta > apart && is_right(s, input, output, delta - 1)) delta--;
    return delta;
}

typedef struct tally {
    uint32_t exact, careful, refused;
} tally;

static void hold(const sample *s, const char *kind, uint64_t seed, const arenaut_op *op,
                 const arenaut_program *p, uint32_t input, uint32_t output, tally *n) {
    const arenaut_kernel_rule rule = {.op = s->op, .order = s->order, .block = s->block};
    const int64_t apart = (int64_t)sample_bytes(&s->out[output]);
    const int64_t least = least_right(s, input, output);
    int64_t distance = apart;
    const bool known = kernel_distance(p, op, &rule, output, input, &distance);
    if (!known && least < apart) n->refused++;
    else if (distance > least) n->careful++;
    else n->exact++;
    if (distance >= least && (!known || distance < apart)) return;
    fail_msg("%s, seed %u, '%s' by %s:%u, output %u, input %u: distance %d, right from %d on", kind,
             (unsigned)seed, s->op, arenaut_kernel_order_name(s->order), s->block, output, input,
             (int)distance, (int)least);
}

/* Every pair of a sample's op whose input is a value. */
static void hold_all(const sample *s, const char *kind, uint64_t seed, tally *n) {
    arenaut_program *p = sample_program(s);
    for (uint32_t i = 0; i < s->n_in; i++) {
        for (uint32_t j = 0; j < s->n_out && is_given(s, i); j++)
            hold(s, kind, seed, &p->ops[0], p, i, j, n);
    }
    arn_program_free(p);
}

static sample make_sample(const sample_kind *kind, uint64_t seed) {
    sample s = {0};
    rng r = {seed};
    kind->make(&r, &s);
    return s;
}

/* Formulas are no more careful than they must be, but for these: kernels that reckon in floats are
 * a position away from the effect of rounding, runs of memcpy of a single byte count as runs, and
 * elements that are packed one by one are taken for longer pieces. */
static bool is_tight(const char *kind) {
    static const char *const loose[] = {"nearest", "bilinear", "pack", "concatenation"};
    for (size_t i = 0; i < COUNT_OF(loose); i++) {
        if (strcmp(kind, loose[i]) == 0) return false;
    }
    return true;
}

/* Others write nothing before all is read. */
static bool has_raster(const char *kind) {
    return strcmp(kind, "svdf") != 0 && strcmp(kind, "transposed convolution") != 0;
}

TEST(distances_are_the_least_ones_at_which_results_are_right) {
    enum { SHAPES = 10 };
    for (const sample_kind *kind = sample_kinds; kind->name; kind++) {
        tally n = {0, 0, 0};
        for (uint64_t seed = 0; seed < SHAPES; seed++) {
            sample s = make_sample(kind, 1000 + seed);
            s.order = ARENAUT_KERNEL_RASTER;
            hold_all(&s, kind->name, seed, &n);
        }
        print_message("%-24s %3u exact, %3u careful, %3u refused\n", kind->name, n.exact, n.careful,
                      n.refused);
        if (!has_raster(kind->name)) assert_int_equal(n.careful, 0);
        else assert_true(n.refused <= 1);
        if (has_raster(kind->name) && is_tight(kind->name)) {
            assert_int_equal(n.careful + n.refused, 0);
        }
    }
}

/* Channels of groups are taken for those of one, so that orders by channel may be too careful. */
TEST(so_they_are_for_kernels_that_walk_in_other_orders) {
    static const arenaut_kernel_order orders[] = {ARENAUT_KERNEL_BLOCK, ARENAUT_KERNEL_BLOCK_REREAD,
                                                  ARENAUT_KERNEL_ROWS};
    for (const sample_kind *kind = sample_kinds; kind->name; kind++) {
        for (size_t k = 0; k < COUNT_OF(orders); k++) {
            tally n = {0, 0, 0};
            if (!(kind->orders >> orders[k] & 1)) continue;
            for (uint64_t seed = 0; seed < 10; seed++) {
                sample s = make_sample(kind, 2000 + seed);
                s.order = orders[k];
                s.block = s.order == ARENAUT_KERNEL_ROWS ? 0 : 1 + (uint32_t)seed / 2;
                hold_all(&s, kind->name, seed, &n);
            }
            print_message("%-24s %-14s %3u exact, %3u careful, %3u refused\n", kind->name,
                          arenaut_kernel_order_name(orders[k]), n.exact, n.careful, n.refused);
            if (orders[k] == ARENAUT_KERNEL_BLOCK && is_tight(kind->name)) {
                assert_int_equal(n.careful, 0);
            }
        }
    }
}

TEST(where_all_is_read_first_everything_is_right) {
    for (const sample_kind *kind = sample_kinds; kind->name; kind++) {
        if (has_raster(kind->name)) continue;
        for (uint64_t seed = 0; seed < 8; seed++) {
            tally n = {0, 0, 0};
            sample s = make_sample(kind, 3000 + seed);
            if (s.out[0].dtype == ARENAUT_DTYPE_FLOAT32) continue; /* summed up in the output */
            s.order = ARENAUT_KERNEL_ANY;
            hold_all(&s, kind->name, seed, &n);
            assert_int_equal(n.careful + n.refused, 0);
        }
    }
}

/* ---- one op, and questions about it ---- */

/* Images and filters of so many rows, with SAME padding and steps of two pixels. */
static arenaut_program *make_conv_of_rows(int64_t rows, int64_t taps) {
    sample s = make_sample(sample_kind_named("convolution"), 1);
    const int64_t x[] = {2, rows, 5, 4}, w[] = {8, taps, 3, 4}, y[] = {2, (rows + 1) / 2, 3, 8};
    s.n_attributes = 0;
    memcpy(s.in[0].dims, x, sizeof x);
    memcpy(s.in[1].dims, w, sizeof w);
    memcpy(s.out[0].dims, y, sizeof y);
    s.in[0].dtype = s.out[0].dtype = ARENAUT_DTYPE_INT8;
    s.attributes[s.n_attributes++] = (sample_attribute){"strides", NULL, 2, {2, 2}};
    s.attributes[s.n_attributes++] = (sample_attribute){"dilations", NULL, 2, {1, 1}};
    s.attributes[s.n_attributes++] = (sample_attribute){"padding", "SAME", 0, {0, 0}};
    return sample_program(&s);
}

/* x [2, 6, 5, 4] int8, 3x3 over it with a stride of 2 and SAME padding, y [2, 3, 3, 8]. */
static arenaut_program *make_conv_program(void) { return make_conv_of_rows(6, 3); }

enum { X, W, Y };

/* Whether the two may overlap at all, by this order. */
static bool may_overlap(const arenaut_program *p, arenaut_kernel_order order, uint32_t block) {
    const arenaut_kernel_rule rule = {.op = p->ops[0].name, .order = order, .block = block};
    int64_t distance = 77;
    const bool known = kernel_distance(p, &p->ops[0], &rule, 0, 0, &distance);
    assert_true(known || distance == 77);
    return known;
}

TEST(orders_say_how_much_is_read_again) {
    arenaut_program *p = make_conv_program();
    static const struct {
        arenaut_kernel_order order;
        uint32_t block;
        int64_t distance;
    } cases[] = {
        /* The columns begin at 0, 1 and 3 (one is padded in front), the rows at 0, 2 and 4. Pixels
         * 1 and 2 write all but a byte of 16 and 24 and then read from byte 4 and 12 on once more;
         * by blocks pixel 0 has written 8 when pixel 1 reads there, and pixel 1 16. */
        {ARENAUT_KERNEL_RASTER, 0, 11},
        {ARENAUT_KERNEL_BLOCK, 1, 4},
        {ARENAUT_KERNEL_BLOCK_REREAD, 1, 11},
        {ARENAUT_KERNEL_ROWS, 0, 23}, /* the first row, but for its last byte */
        {ARENAUT_KERNEL_ANY, 0, -240},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const arenaut_kernel_rule rule = {
            .op = "CONV_2D", .order = cases[i].order, .block = cases[i].block};
        int64_t distance = 0;
        assert_true(kernel_distance(p, &p->ops[0], &rule, 0, 0, &distance));
        assert_int_equal(distance, cases[i].distance);
    }
    assert_false(may_overlap(p, ARENAUT_KERNEL_NONE, 0));
    assert_false(may_overlap(p, ARENAUT_KERNEL_BLOCK, 0)); /* of no pixels */
    arn_program_free(p);
}

/* Changes of the program after which nothing may overlap. */
typedef void spoiler(arenaut_program *p);

static void leave_out_padding(arenaut_program *p) { p->ops[0].n_attributes = 2; }
static void leave_out_the_rest(arenaut_program *p) { p->ops[0].n_attributes = 1; }
static void take_half_bytes(arenaut_program *p) { p->tensors[X].dtype = ARENAUT_DTYPE_INT4; }
static void take_texts(arenaut_program *p) { p->tensors[X].dtype = ARENAUT_DTYPE_STRING; }
static void open_size(arenaut_program *p) { ((int64_t *)p->tensors[X].dims)[0] = -1; }
static void let_vary(arenaut_program *p) { p->tensors[Y].dynamic = true; }
static void lose_size(arenaut_program *p) { p->tensors[Y].unsized = true; }
static void lose_bytes(arenaut_program *p) { p->tensors[X].bytes--; }
static void state_strides(arenaut_program *p) { p->tensors[X].strides = p->tensors[X].dims; }
static void take_vectors(arenaut_program *p) { p->tensors[Y].lanes = 2; }
static void forget_weights(arenaut_program *p) { p->ops[0].n_inputs = 1; }
static void widen_filter(arenaut_program *p) { ((int64_t *)p->tensors[W].dims)[3] = 3; }
static void name_another(arenaut_program *p) { p->ops[0].name = "CONV_3D"; }
static void shrink_output(arenaut_program *p) {
    ((int64_t *)p->tensors[Y].dims)[1] = 2;
    p->tensors[Y].bytes = 96;
}
static void stop(arenaut_program *p) { ((int64_t *)p->ops[0].attributes[0].numbers)[0] = 0; }
static void leap(arenaut_program *p) {
    ((int64_t *)p->ops[0].attributes[0].numbers)[1] = INT64_MAX;
}
static void grow_filter(arenaut_program *p) { ((int64_t *)p->tensors[W].dims)[1] = INT64_MAX; }

TEST(attributes_that_are_missing_or_do_not_fit_allow_nothing) {
    static spoiler *const spoilers[] = {
        leave_out_padding,
        leave_out_the_rest,
        take_half_bytes,
        take_texts,
        open_size,
        let_vary,
        lose_size,
        lose_bytes,
        state_strides,
        take_vectors,
        forget_weights,
        widen_filter,
        name_another,
        shrink_output,
        stop,
        leap,
        grow_filter,
    };
    for (size_t i = 0; i < COUNT_OF(spoilers); i++) {
        arenaut_program *p = make_conv_program();
        assert_true(may_overlap(p, ARENAUT_KERNEL_RASTER, 0));
        spoilers[i](p);
        if (may_overlap(p, ARENAUT_KERNEL_RASTER, 0)) fail_msg("spoiler %zu of conv", i);
        arn_program_free(p);
    }
}

/* a [1, 2, 3, 4] + b of the same shape. */
static arenaut_program *make_sum_program(void) {
    static const int64_t dims[] = {1, 2, 3, 4};
    sample s = make_sample(sample_kind_named("two operands"), 1);
    s.op = "ADD";
    s.in[0] = (sample_tensor){.dtype = ARENAUT_DTYPE_INT8, .rank = 4};
    memcpy(s.in[0].dims, dims, sizeof dims);
    s.in[1] = s.out[0] = s.in[0];
    return sample_program(&s);
}

TEST(the_other_operand_must_fit_too) {
    for (int turn = 0; turn < 4; turn++) {
        arenaut_program *p = make_sum_program();
        int64_t *other = (int64_t *)p->tensors[1].dims;
        if (turn == 1) other[3] = 1; /* repeated, which is all the same to the first */
        if (turn == 2) other[3] = 5;
        if (turn == 3) ((uint32_t *)p->ops[0].inputs)[1] = ARENAUT_NONE;
        assert_int_equal(may_overlap(p, ARENAUT_KERNEL_RASTER, 0), turn < 2);
        arn_program_free(p);
    }
}

TEST(parameters_and_arguments_that_are_not_there_overlap_nothing) {
    arenaut_program *p = make_conv_program();
    const arenaut_kernel_rule rule = {.op = "CONV_2D", .order = ARENAUT_KERNEL_ANY};
    int64_t distance;
    assert_false(kernel_distance(p, &p->ops[0], &rule, 0, 1, &distance));
    assert_false(kernel_distance(p, &p->ops[0], &rule, 0, 2, &distance));
    assert_false(kernel_distance(p, &p->ops[0], &rule, 1, 0, &distance));
    arn_program_free(p);
}

TEST(kernels_are_followed_for_so_long_only) {
    arenaut_program *p = make_conv_program();
    static const int64_t sides[] = {1, 1 << 20, 1 << 20, 1};
    for (int t = X; t <= Y; t += 2) {
        memcpy((int64_t *)p->tensors[t].dims, sides, sizeof sides);
        p->tensors[t].bytes = UINT64_C(1) << 40;
    }
    static const int64_t filter[] = {1, 1, 1, 1};
    memcpy((int64_t *)p->tensors[W].dims, filter, sizeof filter);
    ((int64_t *)p->ops[0].attributes[0].numbers)[0] = 1;
    ((int64_t *)p->ops[0].attributes[0].numbers)[1] = 1;
    assert_false(may_overlap(p, ARENAUT_KERNEL_RASTER, 0));
    assert_true(may_overlap(p, ARENAUT_KERNEL_ANY, 0)); /* without a walk */
    arn_program_free(p);
}

/* ---- rules ---- */

#define RULE(...)                 \
    {.op = "CONV_2D",             \
     .when = {__VA_ARGS__},       \
     .order = ARENAUT_KERNEL_ANY, \
     .block = 0,                  \
     .measured = true}
#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)

static bool is_met(const arenaut_program *p, arenaut_kernel_rule rule) {
    const arenaut_kernel_rule rules[] = {rule, {.op = NULL}};
    const arenaut_kernel_set set = {.name = "mine", .rules = rules};
    const arenaut_kernel_rule *found = arn_kernel_rule_for(&set, p, &p->ops[0], false);
    assert_true(!found || found == &rules[0]);
    return found != NULL;
}

TEST(conditions_are_held_against_the_op) {
    arenaut_program *p = make_conv_program();
    static const struct {
        arenaut_kernel_rule rule;
        bool met;
    } cases[] = {
        {RULE(0), true},
        {RULE(.types = TYPE(INT8) | TYPE(INT16)), true},
        {RULE(.types = TYPE(FLOAT32)), false},
        {RULE(.pointwise = ARENAUT_KERNEL_YES), false},
        {RULE(.pointwise = ARENAUT_KERNEL_NO), true},
        {RULE(.unit_stride = ARENAUT_KERNEL_YES), false},
        {RULE(.unit_stride = ARENAUT_KERNEL_NO), true},
        {RULE(.grouped = ARENAUT_KERNEL_YES), false},
        {RULE(.grouped = ARENAUT_KERNEL_NO), true},
        {RULE(.padded = ARENAUT_KERNEL_YES), true},
        {RULE(.padded = ARENAUT_KERNEL_NO), false},
        {RULE(.one_row = ARENAUT_KERNEL_YES), false},
        {RULE(.one_row = ARENAUT_KERNEL_NO), true},
        {RULE(.dilated = ARENAUT_KERNEL_YES), false},
        {RULE(.dilated = ARENAUT_KERNEL_NO), true},
        {RULE(.min_in_channels = 4, .max_in_channels = 4), true},
        {RULE(.min_in_channels = 5), false},
        {RULE(.max_in_channels = 3), false},
        {RULE(.min_out_channels = 8, .max_out_channels = 8), true},
        {RULE(.min_out_channels = 9), false},
        {RULE(.max_out_channels = 7), false},
        {RULE(.pointwise = ARENAUT_KERNEL_NO, .max_out_channels = 7), false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (is_met(p, cases[i].rule) != cases[i].met) fail_msg("condition %zu", i);
    }
    arn_program_free(p);
}

TEST(one_row_is_of_image_and_filter) {
    for (int rows = 1; rows <= 2; rows++) {
        for (int taps = 1; taps <= 2; taps++) {
            arenaut_program *p = make_conv_of_rows(rows, taps);
            arenaut_kernel_rule rule = RULE(.one_row = ARENAUT_KERNEL_YES);
            assert_int_equal(is_met(p, rule), rows == 1 && taps == 1);
            rule.when.one_row = ARENAUT_KERNEL_NO;
            assert_int_equal(is_met(p, rule), rows > 1 || taps > 1);
            arn_program_free(p);
        }
    }
}

TEST(a_filter_of_one_tap_may_be_dilated) {
    static const int64_t filter[] = {8, 1, 1, 4};
    const arenaut_kernel_rule dilated =
        RULE(.pointwise = ARENAUT_KERNEL_YES, .dilated = ARENAUT_KERNEL_YES);
    arenaut_program *p = make_conv_program();
    memcpy((int64_t *)p->tensors[W].dims, filter, sizeof filter);
    assert_false(is_met(p, dilated));
    ((int64_t *)p->ops[0].attributes[1].numbers)[1] = 2;
    assert_true(is_met(p, dilated));
    arn_program_free(p);
}

TEST(conditions_on_absent_attributes_are_never_met) {
    sample s = make_sample(sample_kind_named("one operand"), 1);
    arenaut_program *p = sample_program(&s);
    for (int fact = ARENAUT_KERNEL_NO; fact <= ARENAUT_KERNEL_YES; fact++) {
        arenaut_kernel_rule rule = {.op = s.op, .order = ARENAUT_KERNEL_ANY, .measured = true};
        assert_true(is_met(p, rule));
        rule.when.grouped = (arenaut_kernel_fact)fact;
        assert_false(is_met(p, rule));
        rule.when = (arenaut_kernel_when){.padded = (arenaut_kernel_fact)fact};
        assert_false(is_met(p, rule));
    }
    arn_program_free(p);
}

/* A split has its axis in front of its operand. */
TEST(types_are_those_of_the_operand) {
    arenaut_program *p = NULL;
    uint64_t seed = 0;
    for (; !p; seed++) {
        sample s = make_sample(sample_kind_named("split"), seed);
        if (strcmp(s.op, "SPLIT") == 0 && s.in[1].dtype == ARENAUT_DTYPE_INT8)
            p = sample_program(&s);
    }
    arenaut_kernel_rule rule = {.op = "SPLIT", .order = ARENAUT_KERNEL_ANY, .measured = true};
    rule.when.types = TYPE(INT8);
    assert_true(is_met(p, rule));
    rule.when.types = TYPE(INT32);
    assert_false(is_met(p, rule));
    arn_program_free(p);
}

TEST(the_first_rule_whose_conditions_hold_counts_and_sets_go_on_to_their_base) {
    arenaut_program *p = make_conv_program();
    const arenaut_kernel_rule base_rules[] = {RULE(0), {.op = NULL}};
    const arenaut_kernel_rule other[] = {
        {.op = "ADD", .order = ARENAUT_KERNEL_ANY, .measured = true}, {.op = NULL}};
    arenaut_kernel_rule own[] = {RULE(.pointwise = ARENAUT_KERNEL_YES),
                                 RULE(.pointwise = ARENAUT_KERNEL_NO),
                                 RULE(0),
                                 {.op = NULL}};
    const arenaut_kernel_set base = {.name = "base", .rules = base_rules};
    const arenaut_kernel_set none = {.name = "none", .base = &base};
    const arenaut_kernel_set adds = {.name = "adds", .rules = other, .base = &none};
    const arenaut_kernel_set mine = {.name = "mine", .rules = own, .base = &adds};
    const arenaut_op *op = &p->ops[0];
    assert_ptr_equal(arn_kernel_rule_for(&adds, p, op, false), &base_rules[0]);
    assert_ptr_equal(arn_kernel_rule_for(&mine, p, op, false), &own[1]);
    own[1].when.grouped = ARENAUT_KERNEL_YES;
    assert_ptr_equal(arn_kernel_rule_for(&mine, p, op, false), &own[2]);
    own[2].when.grouped = ARENAUT_KERNEL_YES;
    assert_null(arn_kernel_rule_for(&mine, p, op, false)); /* its rules are for such ops too */
    p->ops[0].kind = ARENAUT_OP_DELEGATE;
    assert_null(arn_kernel_rule_for(&adds, p, op, false));
    arn_program_free(p);
}

/* Else a kernel that was only read of would be taken for the measured one behind it. */
TEST(a_rule_that_is_not_measured_hides_those_behind_it) {
    arenaut_program *p = make_conv_program();
    arenaut_kernel_rule rules[] = {RULE(.pointwise = ARENAUT_KERNEL_NO), RULE(0), {.op = NULL}};
    const arenaut_kernel_set set = {.name = "mine", .rules = rules};
    rules[0].measured = false;
    assert_null(arn_kernel_rule_for(&set, p, &p->ops[0], false));
    assert_ptr_equal(arn_kernel_rule_for(&set, p, &p->ops[0], true), &rules[0]);
    rules[0].when.pointwise = ARENAUT_KERNEL_YES;
    assert_ptr_equal(arn_kernel_rule_for(&set, p, &p->ops[0], false), &rules[1]);
    arn_program_free(p);
}
