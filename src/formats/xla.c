/* xla: dumps of a module by XLA's compiler, with the memory that it assigned (HloProto, of
 * --xla_dump_to with --xla_dump_hlo_as_proto). A plan only shows the possible gain over XLA's;
 * there is no way back into XLA. The parts lie in xla/. */
#include "core/protobuf.h"
#include "formats/xla/xla_reader.h"

/* Steps over the tag of a field of bytes, and its length: its content may be cut off. False unless
 * `at` is at that tag. */
static bool enter(const uint8_t *data, size_t size, uint32_t number, arn_pb_bytes *inside) {
    const size_t at = inside->at;
    if (at >= size || data[at] != (number << 3 | ARN_PB_BYTES)) return false;
    arn_pb message = arn_pb_open(data, (arn_pb_bytes){at + 1, size - at - 1});
    uint64_t length;
    if (!arn_pb_next_varint(&message, &length)) return false;
    *inside =
        (arn_pb_bytes){message.at, length < size - message.at ? (size_t)length : size - message.at};
    return true;
}

static bool skip(const uint8_t *data, size_t size, uint32_t number, size_t *at) {
    arn_pb_bytes text = {*at, 0};
    if (!enter(data, size, number, &text)) return false;
    *at = text.at + text.size;
    return true;
}

/* Nothing marks these files. They begin with a module: its name, the name of its entry, and
 * computations, of which each begins with a name and instructions that begin with theirs. Fields
 * are written in the order of their numbers. Other files of protocol buffers begin alike, but
 * hold no messages that deep. */
static bool recognise(const uint8_t *data, size_t size) {
    enum { MODULE = 1, NAME = 1, ENTRY_NAME = 2, COMPUTATION = 3, INSTRUCTION = 2 };
    arn_pb_bytes part = {0, 0};
    if (!enter(data, size, MODULE, &part)) return false;
    size_t at = part.at;
    if (!skip(data, size, NAME, &at) || !skip(data, size, ENTRY_NAME, &at)) return false;
    part.at = at;
    if (!enter(data, size, COMPUTATION, &part)) return false;
    at = part.at;
    if (!skip(data, size, NAME, &at)) return false;
    part.at = at;
    return enter(data, size, INSTRUCTION, &part) && skip(data, size, NAME, &part.at);
}

extern const arenaut_format arn_format_xla;
const arenaut_format arn_format_xla = {
    .name = "xla",
    .summary = "XLA's dump of a module: the places in its memory",
    .extensions = ".hlo.pb",
    .recognise = recognise,
    .read = arn_xla_read,
};
