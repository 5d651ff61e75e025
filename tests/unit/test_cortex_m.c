/* ExecuTorch's images on a Cortex-M: the distances of windows on them, which follow from attributes
 * and layouts of their own, against the steps that the checker follows, and those of tflite. That
 * the kernels walk so is measured (tests/pytest/test_cortex_m.py). */
#include "support/test.h"

#include "check/replay/kernel_steps.h"
#include "ir/program.h"
#include "kernels/kernel_set.h"
#include "kernels/op_facts.h"
#include "support/naive_kernels.h"
#include "support/programs.h"
#include "support/random.h"

typedef struct shape {
    int64_t n, c, y, x;
} shape;

/* A call of `operator`: of an image, and of weights where there are channels of a filter. */
typedef struct call {
    const char *operator;
    shape in, out;
    int64_t weights[4]; /* 0: none */
    int64_t taps[2], strides[2], pads[4], dilations[2];
} call;

static uint32_t add_image(arenaut_program *p, const char *name, shape s, arenaut_class cls) {
    int64_t *strides = arenaut_program_alloc(p, 4 * sizeof *strides);
    int64_t *dims = arenaut_program_alloc(p, 4 * sizeof *dims);
    const uint32_t id = add_tensor(p, name, (uint64_t)(s.n * s.c * s.y * s.x), cls);
    assert_true(strides && dims);
    memcpy(dims, &s, 4 * sizeof *dims);
    strides[0] = s.y * s.x * s.c;
    strides[1] = 1;
    strides[2] = s.x * s.c;
    strides[3] = s.c;
    p->tensors[id].dtype = ARENAUT_DTYPE_INT8;
    p->tensors[id].rank = 4;
    p->tensors[id].dims = dims;
    p->tensors[id].strides = strides;
    return id;
}

static uint32_t add_weights(arenaut_program *p, const int64_t *dims) {
    if (!dims[0]) return ARENAUT_NONE;
    int64_t *kept = arenaut_program_alloc(p, 4 * sizeof *kept);
    const uint64_t bytes = (uint64_t)(dims[0] * dims[1] * dims[2] * dims[3]);
    const uint32_t id = add_tensor(p, "w", bytes, ARENAUT_CONSTANT);
    assert_non_null(kept);
    memcpy(kept, dims, 4 * sizeof *kept);
    p->tensors[id].dtype = ARENAUT_DTYPE_INT8;
    p->tensors[id].rank = 4;
    p->tensors[id].dims = kept;
    return id;
}

static arenaut_program *program_of(call *c) {
    arenaut_program *p = new_program();
    const arenaut_attribute attributes[] = {{"kernel_shape", 2, c->taps, NULL},
                                            {"strides", 2, c->strides, NULL},
                                            {"pads", 4, c->pads, NULL},
                                            {"dilations", 2, c->dilations, NULL}};
    begin_method(p, "forward");
    const uint32_t x = add_image(p, "x", c->in, ARENAUT_INPUT);
    const uint32_t w = add_weights(p, c->weights);
    const uint32_t y = add_image(p, "y", c->out, ARENAUT_OUTPUT);
    ADD_OP(p, .kind = ARENAUT_OP_OUT, .name = c->operator, .attributes = attributes,
           .n_attributes = COUNT_OF(attributes), IN(x, w), OUT(y));
    return p;
}

static int64_t between(rng *r, int64_t low, int64_t high) {
    return low + rng_below(r, (uint32_t)(high - low + 1));
}

static int64_t places(const call *c, int axis, int64_t in) {
    const int64_t reach = (c->taps[axis] - 1) * c->dilations[axis] + 1;
    const int64_t free = in + 2 * c->pads[axis] - reach;
    const int64_t n = free < 0 ? 0 : free / c->strides[axis] + 1;
    return (n - 1) * c->strides[axis] - c->pads[axis] < in ? n : 0;
}

/* False where no window fits. */
static bool draw(rng *r, call *c) {
    static const char *const operators[] = {
        "cortex_m::quantized_conv2d.out", "cortex_m::quantized_depthwise_conv2d.out",
        "cortex_m::quantized_max_pool2d.out", "cortex_m::quantized_avg_pool2d.out"};
    const uint32_t kind = rng_below(r, COUNT_OF(operators));
    const int64_t groups = kind == 0 ? between(r, 1, 2) : 1, multiple = between(r, 1, 3);
    *c = (call){.operator = operators[kind]};
    c->in =
        (shape){between(r, 1, 2), groups * between(r, 1, 4), between(r, 1, 7), between(r, 1, 7)};
    c->out = c->in;
    if (kind == 0) c->out.c = groups * between(r, 1, 4);
    if (kind == 1) c->out.c = c->in.c * multiple;
    for (int i = 0; i < 2; i++) {
        c->taps[i] = between(r, 1, 3);
        c->strides[i] = between(r, 1, 3);
        c->dilations[i] = kind < 2 ? between(r, 1, 2) : 1;
        c->pads[i] = c->pads[i + 2] = between(r, 0, (c->taps[i] - 1) * c->dilations[i]);
    }
    const int64_t deep[] = {c->out.c, c->taps[0], c->taps[1], c->in.c / groups};
    const int64_t each[] = {1, c->taps[0], c->taps[1], c->out.c};
    if (kind < 2) memcpy(c->weights, kind == 0 ? deep : each, sizeof deep);
    c->out.y = places(c, 0, c->in.y);
    c->out.x = places(c, 1, c->in.x);
    return c->out.y > 0 && c->out.x > 0;
}

/* The kernel's walk with the input so many bytes above the output. */
static arn_walk_end follow(const arenaut_program *p, const arenaut_kernel_rule *rule,
                           int64_t above) {
    const arn_walk_pair pair = {0, 0, -above};
    arn_region region;
    arn_region_init(&region, NULL);
    arn_walk walk = {.program = p,
                     .op = p->ops,
                     .rule = rule,
                     .pairs = &pair,
                     .n_pairs = 1,
                     .most = UINT64_C(1) << 30};
    assert_true(arn_walk_begin(&walk, &region));
    arn_kernel_steps(&walk);
    arn_region_free(&region);
    return walk.end;
}

typedef struct tally {
    uint32_t stated, closer;
} tally;

/* From the distance on, all is accepted, and in raster order nothing closer is. */
static void hold(const call *c, const arenaut_program *p, const arenaut_kernel_rule *rule,
                 tally *n) {
    const int64_t in = (int64_t)p->tensors[p->ops[0].inputs[0]].bytes;
    const int64_t out = (int64_t)p->tensors[p->ops[0].outputs[0]].bytes;
    int64_t distance;
    if (!kernel_distance(p, p->ops, rule, 0, 0, &distance)) return;
    n->stated++;
    for (int64_t above = distance; above <= out; above++) {
        if (follow(p, rule, above) != ARN_WALK_RIGHT)
            fail_msg("'%s' by %s: %d is refused, %d stated", c->operator,
                     arenaut_kernel_order_name(rule->order), (int)above, (int)distance);
    }
    if (distance - 1 <= -in || rule->order != ARENAUT_KERNEL_RASTER) return;
    n->closer++;
    if (follow(p, rule, distance - 1) == ARN_WALK_RIGHT)
        fail_msg("'%s': %d is accepted, %d stated", c->operator, (int)distance - 1, (int)distance);
}

TEST(distances_on_images_are_accepted_and_what_is_closer_is_not) {
    static const arenaut_kernel_order orders[] = {ARENAUT_KERNEL_RASTER, ARENAUT_KERNEL_BLOCK,
                                                  ARENAUT_KERNEL_BLOCK_REREAD, ARENAUT_KERNEL_ROWS};
    tally n = {0, 0};
    for (uint64_t seed = 0; seed < 600; seed++) {
        rng r = {seed};
        call c;
        if (!draw(&r, &c)) continue;
        arenaut_program *p = program_of(&c);
        for (size_t k = 0; k < COUNT_OF(orders); k++) {
            const bool blocks = k == 1 || k == 2;
            const arenaut_kernel_rule rule = {.op = c.operator,
                                              .order = orders[k],
                                              .block = blocks ? 1 + rng_below(&r, 4) : 0,
                                              .measured = true};
            hold(&c, p, &rule, &n);
        }
        arn_program_free(p);
    }
    print_message("%u stated, %u refused one byte closer\n", n.stated, n.closer);
    assert_true(n.stated > 1000 && n.closer > 200);
}

static const call plain = {.operator = "cortex_m::quantized_conv2d.out",
                           .in = {1, 4, 6, 6},
                           .out = {1, 4, 6, 6},
                           .weights = {4, 3, 3, 4},
                           .taps = {3, 3},
                           .strides = {1, 1},
                           .pads = {1, 1, 1, 1},
                           .dilations = {1, 1}};

static const arenaut_kernel_rule *rule_for(const char *set, call c) {
    arenaut_program *p = program_of(&c);
    const arenaut_kernel_rule *rule =
        arn_kernel_rule_for(arenaut_kernel_set_find(set), p, p->ops, false);
    arn_program_free(p);
    assert_non_null(rule);
    return rule;
}

/* Which of CMSIS-NN's functions a call gets: the conditions of arm_convolve_wrapper_s8. */
TEST(the_call_decides_which_function_of_the_library_runs) {
    call any = plain, pointwise = plain, padded = plain, strided = plain, dilated = plain;
    assert_int_equal(rule_for("cortex-m", any)->order, ARENAUT_KERNEL_BLOCK);
    assert_int_equal(rule_for("cortex-m", any)->block, 2);
    assert_int_equal(rule_for("cortex-m-mve", any)->block, 4);
    pointwise.weights[1] = pointwise.weights[2] = 1;
    memset(pointwise.pads, 0, sizeof pointwise.pads);
    assert_int_equal(rule_for("cortex-m", pointwise)->order, ARENAUT_KERNEL_NONE);
    assert_int_equal(rule_for("cortex-m-mve", pointwise)->order, ARENAUT_KERNEL_BLOCK_REREAD);
    strided = pointwise;
    strided.strides[0] = 2;
    strided.out.y = 3;
    assert_int_equal(rule_for("cortex-m", strided)->order, ARENAUT_KERNEL_ROWS);
    dilated = pointwise;
    dilated.dilations[0] = 2;
    assert_int_equal(rule_for("cortex-m", dilated)->order, ARENAUT_KERNEL_BLOCK);
    padded = plain;
    padded.weights[3] = 2; /* two groups */
    assert_int_equal(rule_for("cortex-m", padded)->order, ARENAUT_KERNEL_NONE);
}

/* Channels are counted where they are: 125 of a depthwise image, which MVE takes in two blocks. */
TEST(channels_are_those_of_the_image) {
    call c = {.operator = "cortex_m::quantized_depthwise_conv2d.out",
              .in = {1, 124, 3, 200},
              .out = {1, 124, 3, 200},
              .weights = {1, 1, 1, 124},
              .taps = {1, 1},
              .strides = {1, 1},
              .dilations = {1, 1}};
    assert_int_equal(rule_for("cortex-m-mve", c)->order, ARENAUT_KERNEL_RASTER);
    c.in.c = c.out.c = c.weights[3] = 125;
    assert_int_equal(rule_for("cortex-m-mve", c)->order, ARENAUT_KERNEL_NONE);
    assert_int_equal(rule_for("cortex-m", c)->order, ARENAUT_KERNEL_RASTER);
}

static void change_layout(arenaut_tensor *image) { image->strides = NULL; }
static void change_padding(arenaut_program *p) {
    ((int64_t *)(uintptr_t)arenaut_op_attribute(p->ops, "pads")->numbers)[0] = 9;
}

/* Channels outside, as the kernel refuses them; a window that lies outside of the image. */
TEST(nothing_is_stated_of_calls_that_the_operator_refuses) {
    const arenaut_kernel_rule rule = {
        .op = plain.operator, .order = ARENAUT_KERNEL_RASTER, .measured = true};
    for (int kind = 0; kind < 3; kind++) {
        call c = plain;
        int64_t distance;
        arenaut_program *p = program_of(&c);
        if (kind == 0) change_layout(&p->tensors[p->ops[0].inputs[0]]);
        if (kind == 1) change_layout(&p->tensors[p->ops[0].outputs[0]]);
        if (kind == 2) change_padding(p);
        assert_false(kernel_distance(p, p->ops, &rule, 0, 0, &distance));
        assert_int_equal(follow(p, &rule, 0), ARN_WALK_UNKNOWN);
        arn_program_free(p);
    }
}
