/* libFuzzer's way into onnx_property: any bytes are refused with a message, or make a program
 * that can be sized, planned and replayed. The unit tests run the same property over every
 * truncation and every flipped bit of the models in tests/data/onnx; fuzz/run.sh builds it. */
#include "support/onnx_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    onnx_property(data, size);
    return 0;
}
