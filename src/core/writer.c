#include "core/writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"

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

/* Length of the well-formed UTF-8 sequence at `p`, 0 if there is none. Overlong forms,
 * surrogates and code points past U+10FFFF are not well formed. */
static size_t utf8_length(const unsigned char *p) {
    if (p[0] < 0x80) return 1;
    const size_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4) return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
    }
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F)) return 0;
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)) return 0;
    return n;
}

void arn_put_json_string(arn_writer *writer, const char *text) {
    arn_puts(writer, "\"");
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        const size_t n = utf8_length(p);
        if (n == 0) {
            arn_puts(writer, "\\ufffd");
            p++;
        } else if (*p == '"' || *p == '\\') {
            arn_putf(writer, "\\%c", *p++);
        } else if (*p < 0x20 || *p == 0x7F) {
            arn_putf(writer, "\\u%04x", *p++);
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
