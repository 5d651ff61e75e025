/* libFuzzer's way into tflite_property: any bytes are refused with a message, or survive
 * read, plan, write, read and strip. The unit tests run the same property over every
 * truncation and many flips of the models in tests/data, which are also the seeds here:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc -Itests \
 *         fuzz/fuzz_tflite.c tests/support/tflite_round.c $(find src -name '*.c') -o fuzz_tflite
 *     ./fuzz_tflite -max_len=8192 corpus-of-findings tests/data
 */
#include "support/tflite_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tflite_property(data, size);
    return 0;
}
