/* Writer of text into the caller's sink. Nothing is buffered but one formatted piece; strings of
 * JSON are escaped so that a terminal cannot be told to obey them. */
#include "core/writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"

void arn_put(arn_writer *writer, const void *bytes, size_t size) {
    if (writer->failed || size == 0) return;
    if (!writer->sink.put(writer->sink.context, bytes, size)) writer->failed = true;
}

void arn_puts(arn_writer *writer, const char *text) { arn_put(writer, text, strlen(text)); }

void arn_putf(arn_writer *writer, const char *format, ...) {
    char buffer[1024];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    if (length < 0) {
        writer->failed = true;
        return;
    }
    arn_put(writer, buffer, (size_t)length < sizeof buffer ? (size_t)length : sizeof buffer - 1);
}

void arn_put_json_string(arn_writer *writer, const char *text) {
    arn_puts(writer, "\"");
    const unsigned char *const end = (const unsigned char *)text + strlen(text);
    for (const unsigned char *p = (const unsigned char *)text; p < end;) {
        const size_t n = arn_utf8_length(p, (size_t)(end - p));
        if (n == 0) {
            arn_puts(writer, "\\ufffd");
            p++;
        } else if (*p == '"' || *p == '\\') {
            arn_putf(writer, "\\%c", *p++);
        } else if (arn_utf8_unshown(p, n)) {
            arn_putf(writer, "\\u%04x", arn_utf8_unshown(p, n));
            p += n;
        } else {
            arn_put(writer, p, n);
            p += n;
        }
    }
    arn_puts(writer, "\"");
}

void arn_put_json_u64(arn_writer *writer, uint64_t value) {
    const uint64_t exact = (UINT64_C(1) << 53) - 1;
    arn_putf(writer, value <= exact ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
}

arenaut_status arn_writer_finish(const arn_writer *writer, arenaut_error *err) {
    if (!writer->failed) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_IO, 0, "the output could not be written");
}

static bool text_put(void *context, const void *bytes, size_t size) {
    arenaut_text *text = context;
    if (size >= SIZE_MAX - text->size) return false;
    const size_t needed = text->size + size + 1;
    if (needed > SIZE_MAX / 2) return false;
    if (needed > text->capacity) {
        const arenaut_allocator a = arn_allocator_or_default(text->allocator);
        const size_t wanted = text->capacity > needed / 2 ? text->capacity * 2 : needed * 2;
        char *grown = a.reallocate(a.context, text->bytes, text->capacity, wanted);
        if (!grown) return false;
        text->bytes = grown;
        text->capacity = wanted;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
    return true;
}

arenaut_sink arenaut_text_sink(arenaut_text *text) {
    const arenaut_sink sink = {text_put, text};
    return sink;
}

void arenaut_text_free(arenaut_text *text) {
    arn_release(text->allocator, text->bytes);
    text->bytes = NULL;
    text->size = text->capacity = 0;
}
