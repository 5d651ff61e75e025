/* Writer of text into a sink. A writer keeps the sink's refusal, so callers look once. */
#ifndef ARN_CORE_WRITER_H
#define ARN_CORE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/sink.h>

#include "core/fail.h"

typedef struct arn_writer {
    arenaut_sink sink;
    bool failed;
} arn_writer;

static inline arn_writer arn_writer_to(arenaut_sink sink) {
    const arn_writer writer = {sink, false};
    return writer;
}

void arn_put(arn_writer *writer, const void *bytes, size_t size);
void arn_puts(arn_writer *writer, const char *text);
/* At most 1023 bytes a call; integers and strings only, since "%f" depends on the locale. */
void arn_putf(arn_writer *writer, const char *format, ...) ARN_PRINTF(2, 3);
/* A JSON string with quotes and escapes, which replace control characters of terminals as well.
 * Bytes that are not UTF-8 become U+FFFD. */
void arn_put_json_string(arn_writer *writer, const char *text);
/* A number up to 2^53 - 1, a decimal string above, as JSON needs it. */
void arn_put_json_u64(arn_writer *writer, uint64_t value);
/* OK, or ARENAUT_IO if the sink refused. */
arenaut_status arn_writer_finish(const arn_writer *writer, arenaut_error *err);

#endif
