/* Writer of protocol buffers in the wire format, field by field. A message within a message is
 * written to a text of its own first, since its length stands before it. */
#ifndef ARN_CORE_PROTOBUF_WRITE_H
#define ARN_CORE_PROTOBUF_WRITE_H

#include "core/protobuf.h"
#include "core/writer.h"

/* A field of type VARINT; negative numbers are those that wrap. */
void arn_pb_put_number(arn_writer *out, uint32_t number, uint64_t value);
/* A field of type BYTES. */
void arn_pb_put_bytes(arn_writer *out, uint32_t number, const void *bytes, size_t size);
void arn_pb_put_text(arn_writer *out, uint32_t number, const char *text);

#endif
