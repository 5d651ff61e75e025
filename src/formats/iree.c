/* iree: dumps of IREE's compiler before it lays out its slabs
 * (--mlir-print-ir-before=iree-stream-layout-slices). There is no way back into the compiler, so a
 * plan only shows the possible gain. The parts lie in iree/. */
#include "formats/iree/iree_reader.h"

#include <string.h>

/* A dump has a banner for each time that the pass runs, also without anything to lay out; a text
 * without one is ours if it has the lines that we read. */
static bool recognise(const uint8_t *data, size_t size) {
    const arn_iree_line text = {(const char *)data, size};
    if (size == 0 || memchr(data, '\0', size)) return false; /* a program that holds these words */
    return arn_iree_find(text, 0, "IR Dump Before LayoutSlices") < size ||
           arn_iree_find(text, 0, "stream.resource.pack") < size;
}

extern const arenaut_format arn_format_iree;
const arenaut_format arn_format_iree = {
    .name = "iree",
    .summary = "IREE's program before its slabs are laid out",
    .extensions = ".mlir",
    .recognise = recognise,
    .read = arn_iree_read,
    .binds_dims = true,
};
