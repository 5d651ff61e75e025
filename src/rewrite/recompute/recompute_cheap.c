/* Cheap ops, by their names: "aten::hardtanh.default", "HardSwish" and "HARD_SWISH" are told alike
 * once namespaces, overloads, underscores and capitals are left out. What is not listed is dear. */
#include "rewrite/recompute/recompute_cheap.h"

#include <ctype.h>
#include <string.h>

#include "rewrite/order/dependences.h"

/* Sorted by strcmp. */
static const char *const cheap[] = {
    "abs",
    "add",
    "alias",
    "batchnormalization",
    "cast",
    "ceil",
    "clamp",
    "clip",
    "clone",
    "constantpadnd",
    "copy",
    "cos",
    "dequantize",
    "dequantizelinear",
    "detach",
    "div",
    "elu",
    "equal",
    "erf",
    "exp",
    "expand",
    "expanddims",
    "flatten",
    "floor",
    "gelu",
    "greater",
    "groupnormalization",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "identity",
    "instancenormalization",
    "layernormalization",
    "leakyrelu",
    "less",
    "log",
    "logicaland",
    "logicalnot",
    "logicalor",
    "logistic",
    "logsoftmax",
    "maskedfill",
    "maximum",
    "minimum",
    "mul",
    "nativebatchnorm",
    "nativebatchnormlegit",
    "nativebatchnormlegitfunctional",
    "nativebatchnormlegitnotraining",
    "nativegroupnorm",
    "nativelayernorm",
    "neg",
    "notequal",
    "pad",
    "padv2",
    "permute",
    "pow",
    "prelu",
    "quantize",
    "quantizelinear",
    "reciprocal",
    "relu",
    "relu6",
    "reshape",
    "roll",
    "rsqrt",
    "rsub",
    "select",
    "sigmoid",
    "silu",
    "sin",
    "slice",
    "softmax",
    "softplus",
    "sqrt",
    "square",
    "squareddifference",
    "squeeze",
    "stridedslice",
    "sub",
    "t",
    "tanh",
    "tocopy",
    "transpose",
    "unsafeview",
    "unsqueeze",
    "view",
    "where",
};

/* The bare name, as far as there is room. */
static void plain_name(const char *name, char *plain, size_t size) {
    const char *behind = strrchr(name, ':');
    size_t n = 0;
    if (behind) name = behind + 1;
    for (; *name && *name != '.' && n + 1 < size; name++) {
        if (*name != '_') plain[n++] = (char)tolower((unsigned char)*name);
    }
    plain[n] = '\0';
}

bool arn_recompute_is_cheap(const char *name) {
    char plain[48];
    size_t low = 0, high = sizeof cheap / sizeof *cheap;
    if (!name) return false;
    plain_name(name, plain, sizeof plain);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(cheap[middle], plain);
        if (order == 0) return true;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return false;
}

static bool may_be_copied(const arenaut_tensor *tensor) {
    const bool made = tensor->cls == ARENAUT_INTERMEDIATE || tensor->cls == ARENAUT_OUTPUT;
    return made && !tensor->qualified_name && !tensor->caller_owned;
}

/* Where no dialect says so, an op may write state that it reads. Scratch that a file states is of
 * one op alone. */
bool arn_recompute_may_repeat(const arenaut_program *program, const arenaut_op *op) {
    if (op->kind != ARENAUT_OP_OUT && op->kind != ARENAUT_OP_FUNCTIONAL &&
        op->kind != ARENAUT_OP_VIEW) {
        return false;
    }
    if (op->n_after > 0 || op->n_calls > 0 || op->n_scratch > 0) return false;
    if (arn_has_side_effects(program, op)) return false;
    for (uint32_t i = 0; i < op->n_inputs && !program->dialect; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && program->tensors[t].cls == ARENAUT_STATE) return false;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i];
        if (t != ARENAUT_NONE && !may_be_copied(&program->tensors[t])) return false;
    }
    return true;
}
