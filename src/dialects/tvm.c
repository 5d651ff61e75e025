/* tvm: the functions of a TVM graph. */
#include <arenaut/dialect.h>

extern const arenaut_dialect arn_dialect_tvm;
const arenaut_dialect arn_dialect_tvm = {
    .name = "tvm",
    .summary = "the functions of a TVM graph",
    .pipeline = "",
};
