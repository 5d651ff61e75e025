/* tvm: the functions of a TVM graph, and of the Relay programs that such graphs come from. Their
 * names say nothing about memory: compilers make them up from the fused operators. */
#include <arenaut/dialect.h>

extern const arenaut_dialect arn_dialect_tvm;
const arenaut_dialect arn_dialect_tvm = {
    .name = "tvm",
    .summary = "the functions of a TVM graph",
    .pipeline = "definitions,opaque-calls",
    .lanes = 1, /* an int4 takes a byte */
};
