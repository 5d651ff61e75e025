/* libFuzzer's way into tvm_property: any bytes are refused with a message, or survive read,
 * plan, check, write and read. The unit tests run the same property over truncations and flips
 * of the graphs in tests/data/tvm, which are also the seeds here. */
#include "support/tvm_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tvm_property(data, size);
    return 0;
}
