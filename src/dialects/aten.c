/* aten: the operators of PyTorch. */
#include <arenaut/dialect.h>

extern const arenaut_dialect arn_dialect_aten;
const arenaut_dialect arn_dialect_aten = {
    .name = "aten",
    .summary = "the operators of PyTorch",
    .pipeline = "",
};
