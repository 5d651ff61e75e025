/* libFuzzer's way into pte_property: any bytes are refused with a message, or survive read,
 * plan, write and read. The unit tests run the same property over every truncation and
 * many flips of small programs. */
#include "support/pte_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pte_property(data, size);
    return 0;
}
