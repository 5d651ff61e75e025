/* tvm-json: the graphs that TVM's compilers hand to the graph executor, with the storage id
 * of each value. The parts lie in tvm/. */
#include "formats/tvm/tvm_graph.h"

/* Keys that all such graphs have, and symbol files of the same family as well: these get an error
 * that names the missing key. */
static bool recognise(const uint8_t *data, size_t size) {
    static const char *const keys[] = {"nodes", "arg_nodes", "heads"};
    return arn_json_has_members(data, size, keys, sizeof keys / sizeof *keys);
}

extern const arenaut_format arn_format_tvm_json;
const arenaut_format arn_format_tvm_json = {
    .name = "tvm-json",
    .summary = "TVM graph executor's graph; better storage ids go inside",
    .extensions = ".graph.json .json",
    .recognise = recognise,
    .read = arn_tvm_read,
    .write = arn_tvm_write,
    .needs_original = true,
    .holds_order = true,
};
