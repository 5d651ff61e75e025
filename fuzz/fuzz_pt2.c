/* libFuzzer's way into pt2_property. What begins as an archive is one; anything else is the
 * model.json of one, since an archive's sums keep nearly every change of that out. */
#include <stdlib.h>

#include "core/zip.h"
#include "support/pt2_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (arn_zip_begins(data, size)) {
        pt2_property(data, size);
    } else {
        bytes archive = pt2_of(data, size);
        pt2_property(archive.data, archive.size);
        free(archive.data);
    }
    return 0;
}
