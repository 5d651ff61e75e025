/* onnx: the operators of ONNX. */
#include <arenaut/dialect.h>

extern const arenaut_dialect arn_dialect_onnx;
const arenaut_dialect arn_dialect_onnx = {
    .name = "onnx",
    .summary = "the operators of ONNX",
    .pipeline = "",
};
