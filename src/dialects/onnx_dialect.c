/* onnx: the operators of ONNX, of all versions of the standard; traits that changed with a
 * version are those of all of them. */
#include "dialects/dialect.h"

#define VIEW ARENAUT_TRAIT_VIEW
#define EACH ARENAUT_TRAIT_ELEMENTWISE
#define VARIES ARENAUT_TRAIT_VARIES

static const arenaut_operator operators[] = {
#define ONNX(name, family, purity, cost, window, traits, in_place, shape) {name, traits, NULL},
#include "ops/ops.def"
    {NULL, 0, NULL},
};

/* Each element of the result needs that element of the operand alone, or, for
 * normalizations and softmax, that line of it, which is read to its end before the first is
 * written; so a kernel that goes through them in order may write it there. The standard does not
 * say how kernels go: for kernels that go otherwise, other rules are given (--inplace-op). */
static const arenaut_in_place_rule in_place[] = {
#define ONNX(name, family, purity, cost, window, traits, in_place, shape) \
    ARN_IN_PLACE_##in_place(name)
#include "ops/ops.def"
    {NULL, 0, 0, false},
};

extern const arenaut_dialect arn_dialect_onnx;
const arenaut_dialect arn_dialect_onnx = {
    .name = "onnx",
    .summary = "the operators of ONNX",
    .pipeline = "fold-constants,shapes,alias-views,-upper-bounds",
    .operators = operators,
    .n_operators = sizeof operators / sizeof *operators - 1,
    .in_place = in_place,
};
