#include "support/onnx_graphs.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/split/tile_groups.h"
#include "support/test.h"

uint32_t onnx_image(arenaut_program *p, arenaut_class cls, int64_t channels, int64_t height,
                    int64_t width) {
    const int64_t dims[] = {1, channels, height, width};
    return add_shaped(p, cls, ARENAUT_DTYPE_FLOAT32, dims, 4);
}

uint32_t onnx_numbers(arenaut_program *p, arenaut_dtype dtype, const int64_t *numbers, uint32_t n) {
    const int64_t dims[] = {n};
    const uint32_t id = add_shaped(p, ARENAUT_CONSTANT, dtype, dims, 1);
    int64_t *copy = arenaut_program_alloc(p, n * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, numbers, n * sizeof *copy);
    p->tensors[id].values = copy;
    p->tensors[id].n_values = n;
    return id;
}

arenaut_program *onnx_begin(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    assert_int_equal(arn_program_set_dialect(p, "onnx", NULL), ARENAUT_OK);
    p->dialect_version = 17;
    return p;
}

uint32_t onnx_made(arenaut_program *p, uint32_t x, int64_t channels, int64_t times, int64_t plus,
                   int64_t over) {
    int64_t dims[MOST_RANK] = {1, channels};
    const uint32_t rank = p->tensors[x].rank;
    for (uint32_t i = H; i < rank; i++) dims[i] = (p->tensors[x].dims[i] * times + plus) / over;
    return add_shaped(p, ARENAUT_INTERMEDIATE, ARENAUT_DTYPE_FLOAT32, dims, rank);
}

uint32_t onnx_weights(arenaut_program *p, uint32_t x, int64_t to, int64_t from, int64_t size) {
    const int64_t dims[MOST_RANK] = {to, from, size, size, size};
    return add_shaped(p, ARENAUT_CONSTANT, ARENAUT_DTYPE_FLOAT32, dims, p->tensors[x].rank);
}

uint32_t onnx_conv(arenaut_program *p, uint32_t x, int64_t channels, int64_t size, int64_t stride,
                   int64_t pad) {
    const uint32_t weights = onnx_weights(p, x, channels, p->tensors[x].dims[C], size);
    const uint32_t y = onnx_made(p, x, channels, 1, 2 * pad - size + stride, stride);
    ADD_OP(p, .name = "Conv", IN(x, weights), OUT(y),
           ATTRIBUTES(SIDES("strides", stride), MARGINS(pad)));
    return y;
}

uint32_t onnx_transposed(arenaut_program *p, uint32_t x, int64_t channels, int64_t size,
                         int64_t stride, int64_t pad) {
    const uint32_t weights = onnx_weights(p, x, p->tensors[x].dims[C], channels, size);
    const uint32_t y = onnx_made(p, x, channels, stride, size - 2 * pad - stride, 1);
    ADD_OP(p, .name = "ConvTranspose", IN(x, weights), OUT(y),
           ATTRIBUTES(SIDES("strides", stride), MARGINS(pad)));
    return y;
}

uint32_t onnx_pool(arenaut_program *p, uint32_t x, int64_t size) {
    const uint32_t y = onnx_made(p, x, p->tensors[x].dims[C], 1, 0, size);
    ADD_OP(p, .name = "MaxPool", IN(x), OUT(y),
           ATTRIBUTES(SIDES("kernel_shape", size), SIDES("strides", size)));
    return y;
}

uint32_t onnx_relu(arenaut_program *p, uint32_t x) {
    const uint32_t y = onnx_made(p, x, p->tensors[x].dims[C], 1, 0, 1);
    ADD_OP(p, .name = "Relu", IN(x), OUT(y));
    return y;
}

uint32_t onnx_resize(arenaut_program *p, uint32_t x, const char *mode, const char *place) {
    const uint32_t y = onnx_made(p, x, p->tensors[x].dims[C], 2, 0, 1);
    const uint32_t list =
        onnx_numbers(p, ARENAUT_DTYPE_INT64, p->tensors[y].dims, p->tensors[y].rank);
    ADD_OP(p, .name = "Resize", IN(x, ARENAUT_NONE, ARENAUT_NONE, list), OUT(y),
           ATTRIBUTES(WORD("mode", mode), WORD("coordinate_transformation_mode", place),
                      WORD("nearest_mode", "floor")));
    return y;
}

void onnx_finish(arenaut_program *p, uint32_t x, uint32_t y) {
    p->tensors[y].cls = ARENAUT_OUTPUT;
    FINISH(p, LIST(x), LIST(y));
}

static arenaut_rewrite *split_checked(const arenaut_program *p, arenaut_split_stage stage,
                                      bool rounding) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arn_split(p, &stage, 1, rounding, NULL, &rewrite, &err), err);
    if (arenaut_check_rewrite(p, rewrite, NULL, &finding, NULL) != ARENAUT_OK) {
        fail_msg("%s", finding.msg);
    }
    return rewrite;
}

arenaut_rewrite *split_tiles(const arenaut_program *p, arenaut_split_stage stage) {
    return split_checked(p, stage, false);
}

arenaut_rewrite *split_rounded(const arenaut_program *p, arenaut_split_stage stage) {
    return split_checked(p, stage, true);
}

uint32_t count_named(const arenaut_rewrite *rewrite, const char *name) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < rewrite->n_ops; i++) {
        n += strcmp(rewrite->program->ops[i].name, name) == 0;
    }
    return n;
}

void expect_unsplit(const arenaut_program *p, arenaut_split_stage stage, const char *why) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_error err = {0};
    assert_int_not_equal(arn_split(p, &stage, 1, false, NULL, &rewrite, &err), ARENAUT_OK);
    if (!strstr(err.msg, why)) fail_msg("expected \"%s\": %s", why, err.msg);
}

bool is_same_program(const arenaut_program *p, const arenaut_rewrite *rewrite) {
    arenaut_finding finding;
    return arenaut_check_rewrite(p, rewrite, NULL, &finding, NULL) == ARENAUT_OK;
}

bool same_sizes(const arenaut_tensor *a, const arenaut_tensor *b) {
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
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
uint32_t spoil_tiles(const arenaut_program *p, arenaut_split_stage stage) {
    uint32_t n = 0;
    arenaut_rewrite *rewrite = split_rounded(p, stage);
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
                if (is_same_program(p, rewrite)) fail_msg("op %u reads tensor %u", i, t);
                n++;
            }
            *input = right;
        }
    }
    arn_rewrite_free(rewrite);
    return n;
}
