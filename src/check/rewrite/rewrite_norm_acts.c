/* Ops of normalizations, in the spelling of each dialect: ONNX's read sizes and numbers from
 * constants, PyTorch's state them. */
#include <string.h>

#include "check/rewrite/rewrite_norms.h"

enum { H = 2, LEAST_RANK = 3 };

static const struct {
    const char *name;
    arn_norm_act act;
    uint32_t operands;
} acts[] = {
    {"Sub", ARN_ACT_SUB, 2},
    {"Mul", ARN_ACT_MUL, 2},
    {"Add", ARN_ACT_ADD, 2},
    {"GlobalAveragePool", ARN_ACT_MEAN, 1},
    {"AveragePool", ARN_ACT_ROWS, 1},
    {"Sqrt", ARN_ACT_ROOT, 1},
    {"Reciprocal", ARN_ACT_INVERSE, 1},
    {"Reshape", ARN_ACT_SHAPE, 2},
    {"Expand", ARN_ACT_EXPAND, 2},
    {"Concat", ARN_ACT_JOIN, 0},
    {"aten::sub.Tensor", ARN_ACT_SUB, 2},
    {"aten::mul.Tensor", ARN_ACT_MUL, 2},
    {"aten::add.Tensor", ARN_ACT_ADD, 2},
    {"aten::add.Scalar", ARN_ACT_RAISE, 1},
    {"aten::mean.dim", ARN_ACT_MEAN, 1},
    {"aten::sqrt", ARN_ACT_ROOT, 1},
    {"aten::reciprocal", ARN_ACT_INVERSE, 1},
    {"aten::view_copy", ARN_ACT_SHAPE, 1},
    {"aten::expand_copy", ARN_ACT_EXPAND, 1},
    {"aten::cat", ARN_ACT_JOIN, 0},
};

/* Sizes that the op reads from a constant, or states; NULL: it does neither. */
static const int64_t *sizes_of(const arn_rewrite_check *c, const arenaut_op *op, uint32_t rank) {
    const arenaut_attribute *stated = arenaut_op_attribute(op, "size");
    if (op->n_inputs == 1) {
        const bool fits =
            op->n_attributes == 1 && stated && !stated->text && stated->n_numbers == rank;
        return fits ? stated->numbers : NULL;
    }
    const uint32_t list = op->inputs[1];
    const arenaut_tensor *sizes = list == ARENAUT_NONE ? NULL : arn_new_tensor(c, list);
    const bool fits = sizes && op->n_attributes == 0 && sizes->cls == ARENAUT_CONSTANT &&
                      sizes->dtype == ARENAUT_DTYPE_INT64 && sizes->values &&
                      sizes->n_values == rank;
    return fits ? sizes->values : NULL;
}

/* All sizes of the result are said. */
static bool says_shape(const arn_rewrite_check *c, const arenaut_op *op) {
    const arenaut_tensor *made = arn_new_tensor(c, op->outputs[0]);
    const int64_t *sizes = sizes_of(c, op, made->rank);
    if (!sizes || made->rank < LEAST_RANK || made->rank > ARN_LABEL_RANK) return false;
    for (uint32_t i = 0; i < made->rank; i++) {
        if (sizes[i] <= 0 || sizes[i] != made->dims[i]) return false;
    }
    return true;
}

/* An average is told by its axes, which stay as dimensions of one. */
static arn_norm_act act_of_mean(const arn_rewrite_check *c, const arenaut_op *op) {
    const arenaut_tensor *in = arn_new_tensor(c, op->inputs[0]);
    const arenaut_attribute *axes = arenaut_op_attribute(op, "axis");
    const arenaut_attribute *keeps = arenaut_op_attribute(op, "keepdim");
    if (arn_rewrite_reduces_rows(op, in)) return ARN_ACT_ROWS;
    if (in->rank < LEAST_RANK || op->n_attributes != 2 || !axes || axes->text ||
        axes->n_numbers != in->rank - H || !keeps || keeps->text || keeps->n_numbers != 1 ||
        keeps->numbers[0] != 1) {
        return ARN_ACT_NONE;
    }
    for (uint32_t i = 0; i < axes->n_numbers; i++) {
        if (axes->numbers[i] != H + (int64_t)i) return ARN_ACT_NONE;
    }
    return ARN_ACT_MEAN;
}

const char *arn_norm_stated(const arenaut_op *op) {
    const arenaut_attribute *number = arenaut_op_attribute(op, "other");
    return op->n_attributes == 1 && number && number->n_numbers == 0 ? number->text : NULL;
}

/* Whether the arguments of an op of that name are those of the act alone. */
static arn_norm_act act_of(const arn_rewrite_check *c, const arenaut_op *op, arn_norm_act act) {
    switch (act) {
        case ARN_ACT_SHAPE:
        case ARN_ACT_EXPAND: return says_shape(c, op) ? act : ARN_ACT_NONE;
        case ARN_ACT_MEAN:
            return strcmp(op->name, "aten::mean.dim") == 0 ? act_of_mean(c, op)
                   : op->n_attributes == 0                 ? act
                                                           : ARN_ACT_NONE;
        case ARN_ACT_ROWS: {
            const bool rows = arn_rewrite_reduces_rows(op, arn_new_tensor(c, op->inputs[0]));
            return rows ? act : ARN_ACT_NONE;
        }
        case ARN_ACT_RAISE: return arn_norm_stated(op) ? act : ARN_ACT_NONE;
        case ARN_ACT_JOIN: return act;
        default: return op->n_attributes == 0 ? act : ARN_ACT_NONE;
    }
}

arn_norm_act arn_norm_act_of(const arn_rewrite_check *c, const arenaut_op *op) {
    if (!op->name || op->n_inputs == 0 || op->n_outputs != 1) return ARN_ACT_NONE;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] == ARENAUT_NONE) return ARN_ACT_NONE;
    }
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        if (strcmp(op->name, acts[i].name) != 0) continue;
        const bool fits = acts[i].operands == 0 || acts[i].operands == op->n_inputs;
        return fits ? act_of(c, op, acts[i].act) : ARN_ACT_NONE;
    }
    return ARN_ACT_NONE;
}
