/* libFuzzer's way into pt2_property. The first byte chooses: the rest is an archive, or the
 * model.json of one, since an archive's sums would keep nearly every change of it out. */
#include <stdlib.h>

#include "support/pt2_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    if (data[0] & 1) {
        pt2_property(data + 1, size - 1);
    } else {
        bytes archive = pt2_of(data + 1, size - 1);
        pt2_property(archive.data, archive.size);
        free(archive.data);
    }
    return 0;
}
