/* Programs of random ops that state rights of their own, in place and over an operand as far as
 * some distance, whether or not their arguments suit their operator: whatever is asked for, they
 * are planned, and the plan stands, or they are refused by name. None is a bug of ours. */
#include "support/test.h"

#include <arenaut/pipeline.h>

#include "support/random.h"
#include "support/thorough.h"

enum { OPS = 5, ROOM = 1 << 14, TRIALS = 1500 };

static const char *const operators[] = {
    "RELU",      "ADD",     "CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D",   "CONCATENATION",
    "SPLIT",     "PAD",     "RESHAPE", "FULLY_CONNECTED",   "SOFTMAX",       "TRANSPOSE",
    "MEAN",      "SLICE",   "PACK",    "BATCH_MATMUL",      "STRIDED_SLICE", "ARG_MAX",
    "QUANTIZE",  "SPLIT_V", "UNKNOWN", "RELU_N1_TO_1",      "DEQUANTIZE",    "RESIZE_BILINEAR",
    "MIRROR_PAD"};

typedef struct text {
    char bytes[ROOM];
    size_t size;
} text;

#define PUT(t, ...) \
    (t)->size += (size_t)snprintf((t)->bytes + (t)->size, ROOM - (t)->size, __VA_ARGS__)

static void put_tensor(text *t, rng *r, uint32_t id) {
    static const uint32_t sizes[] = {1, 2, 7, 16, 33, 64};
    const bool image = rng_once_in(r, 3);
    PUT(t, "%s{\"name\": \"x%u\", \"dtype\": \"%s\", \"dims\": [", id ? ", " : "", id,
        rng_once_in(r, 5) ? "float32" : "int8");
    if (image) PUT(t, "1, %u, %u, ", 1 + rng_below(r, 6), 1 + rng_below(r, 6));
    PUT(t, "%u]%s}", sizes[rng_below(r, 6)], id ? "" : ", \"class\": \"input\"");
}

/* An op's rights: any of its pairs, with distances on both sides of those that kernels have. */
static void put_rights(text *t, rng *r, uint32_t n_inputs, uint32_t n_outputs) {
    static const int distances[] = {-1000, -64, -20, -1, 0, 1, 16, 64};
    const uint32_t input = rng_below(r, n_inputs), output = rng_below(r, n_outputs);
    if (!rng_once_in(r, 3))
        PUT(t, ", \"overlaps\": [{\"output\": %u, \"input\": %u, \"distance\": %d}]", output, input,
            distances[rng_below(r, 8)]);
    if (rng_once_in(r, 3)) PUT(t, ", \"in_place\": [[%u, %u]]", output, input);
}

static void draw_program(text *t, rng *r) {
    uint32_t n_outputs[OPS], made = 1, n = 1;
    t->size = 0;
    for (uint32_t i = 0; i < OPS; i++) n += n_outputs[i] = rng_once_in(r, 4) ? 2 : 1;
    PUT(t, "{\"schema\": \"arenaut.program/1\"%s, \"tensors\": [",
        rng_once_in(r, 3) ? ", \"dialect\": \"tflite\"" : "");
    for (uint32_t i = 0; i < n; i++) put_tensor(t, r, i);
    PUT(t,
        "], \"methods\": [{\"name\": \"main\", \"inputs\": [\"x0\"], \"outputs\": [\"x%u\"], "
        "\"ops\": [",
        n - 1);
    for (uint32_t i = 0; i < OPS; i++) {
        const uint32_t n_inputs = 1 + rng_below(r, 3);
        PUT(t, "%s{\"name\": \"%s\", \"inputs\": [", i ? ", " : "",
            operators[rng_below(r, sizeof operators / sizeof *operators)]);
        for (uint32_t k = 0; k < n_inputs; k++)
            PUT(t, "%s\"x%u\"", k ? ", " : "", rng_below(r, made));
        PUT(t, "], \"outputs\": [");
        for (uint32_t k = 0; k < n_outputs[i]; k++) PUT(t, "%s\"x%u\"", k ? ", " : "", made++);
        PUT(t, "]");
        put_rights(t, r, n_inputs, n_outputs[i]);
        PUT(t, "}");
    }
    PUT(t, "]}]}");
}

static arenaut_pipeline_options draw_options(rng *r) {
    static const char *const targets[] = {"tflite-micro", "litert", "generic", "executorch"};
    arenaut_pipeline_options o = {.target = arenaut_target_find(targets[rng_below(r, 4)]),
                                  .overwrite = (arenaut_overwrite)rng_below(r, 4),
                                  .overlap = !rng_once_in(r, 4),
                                  .unmeasured = rng_once_in(r, 2),
                                  .splitting.on = rng_once_in(r, 4),
                                  .reordering.on = rng_once_in(r, 4),
                                  .recomputing.on = rng_once_in(r, 4),
                                  .plan.effort = 2000};
    if (rng_once_in(r, 2))
        o.kernels = arenaut_kernel_set_at(rng_below(r, (uint32_t)arenaut_kernel_set_count()));
    return o;
}

TEST(stated_rights_are_planned_or_refused_by_name) {
    text t;
    uint32_t planned = 0, refused = 0, reaching = 0;
    for (uint64_t seed = 0; seed < (uint64_t)TRIALS * thorough(); seed++) {
        rng r = {seed};
        arenaut_pipeline *p = NULL;
        arenaut_error err = {0};
        draw_program(&t, &r);
        assert_true(t.size < ROOM);
        const arenaut_pipeline_options options = draw_options(&r);
        const arenaut_status st = arenaut_pipeline_run(t.bytes, t.size, &options, NULL, &p, &err);
        if (st == ARENAUT_INTERNAL) fail_msg("seed %u: %s\n%s", (unsigned)seed, err.msg, t.bytes);
        planned += st == ARENAUT_OK;
        refused += st != ARENAUT_OK;
        if (st == ARENAUT_OK) reaching += p->problem->n_separations > 0;
        if (p) arenaut_pipeline_free(p);
    }
    print_message("%u planned (%u with overlaps), %u refused\n", planned, reaching, refused);
    assert_true(planned > TRIALS / 4 && reaching > TRIALS / 10);
}
