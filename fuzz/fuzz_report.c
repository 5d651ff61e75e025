/* libFuzzer's way into report_property: whatever a reader accepts and a planner can place, every
 * report of the table shows in bounded, well-formed text. The unit tests run the same property
 * over hostile names. */
#include "support/report_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    report_property(data, size);
    return 0;
}
