/* Reader and writer of protocol buffers in the wire format, without a schema compiler and without
 * copying: a message is walked field by field, and unknown fields are stepped over.
 *
 * A cursor keeps its failure instead of failing each call: walk to the end, then look at `wrong`
 * once. */
#ifndef ARN_CORE_PROTOBUF_H
#define ARN_CORE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/error.h>

#include "core/writer.h"

typedef enum arn_pb_type {
    ARN_PB_VARINT = 0,
    ARN_PB_FIXED64 = 1,
    ARN_PB_BYTES = 2, /* a string, bytes, a message, or packed numbers */
    ARN_PB_FIXED32 = 5,
} arn_pb_type;

/* A stretch of the file. */
typedef struct arn_pb_bytes {
    size_t at, size;
} arn_pb_bytes;

/* A message, or packed numbers, that is being walked. */
typedef struct arn_pb {
    const uint8_t *data; /* the whole file, so that positions are the file's */
    size_t at, end;
    const char *wrong; /* NULL: all well so far; else the failure at `at` */
} arn_pb;

typedef struct arn_pb_field {
    uint32_t number;
    arn_pb_type type;
    uint64_t value;     /* of the three kinds of numbers */
    arn_pb_bytes bytes; /* of BYTES */
} arn_pb_field;

static inline arn_pb arn_pb_open(const uint8_t *data, arn_pb_bytes bytes) {
    const arn_pb message = {data, bytes.at, bytes.at + bytes.size, NULL};
    return message;
}

/* The next field; false at the end, or where the message is not well formed. */
bool arn_pb_next(arn_pb *message, arn_pb_field *field);

/* The next of packed numbers; false at the end, or where they are not well formed. */
bool arn_pb_next_varint(arn_pb *packed, uint64_t *value);
bool arn_pb_next_fixed32(arn_pb *packed, uint32_t *value);

/* OK, or the failure of a message, named `what`, that has been walked to its end. */
arenaut_status arn_pb_status(const arn_pb *message, const char *what, arenaut_error *err);

static inline bool arn_pb_is(const arn_pb_field *field, uint32_t number, arn_pb_type type) {
    return field->number == number && field->type == type;
}

/* Written field by field. A message within a message is written to a text of its own first, since
 * its length stands before it. */

/* A field of type VARINT; negative numbers are those that wrap. */
void arn_pb_put_number(arn_writer *out, uint32_t number, uint64_t value);
/* A field of type BYTES. */
void arn_pb_put_bytes(arn_writer *out, uint32_t number, const void *bytes, size_t size);
void arn_pb_put_text(arn_writer *out, uint32_t number, const char *text);

#endif
