/* Columns of the page's data. Numbers are divided by their greatest common divisor, since sizes and
 * offsets are multiples of an alignment, and written as bytes of seven bits (LEB128): each by
 * itself, or as the difference to the one before. All of them equal is one number. Bytes become
 * base64, which no name of a file can turn into markup. */
#include "report/page/page_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- base64 ---- */

static void put_held(arn_base64 *b) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned bits =
        (unsigned)b->held[0] << 16 | (unsigned)b->held[1] << 8 | (unsigned)b->held[2];
    char text[4];
    for (unsigned i = 0; i < 4; i++) text[i] = digits[bits >> (18 - 6 * i) & 63];
    for (unsigned i = b->n_held + 1; i < 4; i++) text[i] = '=';
    arn_put(b->out, text, sizeof text);
    memset(b->held, 0, sizeof b->held);
    b->n_held = 0;
}

static void base64_put(arn_base64 *b, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++) {
        b->held[b->n_held++] = p[i];
        if (b->n_held == sizeof b->held) put_held(b);
    }
}

static void base64_finish(arn_base64 *b) {
    if (b->n_held) put_held(b);
}

/* ---- numbers ---- */

static size_t put_varint(uint64_t n, unsigned char bytes[10]) {
    size_t length = 0;
    for (; n >= 0x80; n >>= 7) bytes[length++] = (unsigned char)(n | 0x80);
    bytes[length++] = (unsigned char)n;
    return length;
}

static void put_number(arn_base64 *b, uint64_t n) {
    unsigned char bytes[10];
    base64_put(b, bytes, put_varint(n, bytes));
}

static size_t varint_length(uint64_t n) {
    unsigned char bytes[10];
    return put_varint(n, bytes);
}

/* A difference as a number that is small where it is: 0, -1, 1, -2, ... It may wrap, and wraps back
 * when it is added. */
static uint64_t zigzag(uint64_t now, uint64_t before) {
    const uint64_t step = now - before;
    return step << 1 ^ (step >> 63 ? UINT64_MAX : 0);
}

static uint64_t divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

typedef struct shape {
    uint64_t unit;
    uint64_t by_itself, by_difference; /* bytes */
    bool all_equal;
} shape;

static shape shape_of(uint32_t n, arn_column_value value, const void *context) {
    shape s = {.all_equal = true};
    uint64_t before = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t v = value(context, i);
        s.all_equal &= i == 0 || v == before;
        s.unit = divisor(v, s.unit);
        before = v;
    }
    if (s.unit == 0) s.unit = 1;
    before = 0;
    for (uint32_t i = 0; i < n && !s.all_equal; i++) {
        const uint64_t v = value(context, i) / s.unit;
        s.by_itself += varint_length(v);
        s.by_difference += varint_length(zigzag(v, before));
        before = v;
    }
    return s;
}

void arn_put_column(arn_writer *out, const char *name, uint32_t n, arn_column_value value,
                    const void *context) {
    const shape s = shape_of(n, value, context);
    arn_putf(out, "\"%s\":{\"n\":%" PRIu32 ",", name, n);
    if (s.all_equal) {
        arn_putf(out, "\"all\":\"%" PRIu64 "\"}", n ? value(context, 0) : 0);
        return;
    }
    const bool by_difference = s.by_difference < s.by_itself;
    arn_base64 b = {.out = out};
    uint64_t before = 0;
    arn_putf(out, "\"unit\":\"%" PRIu64 "\",\"%s\":\"", s.unit, by_difference ? "steps" : "values");
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t v = value(context, i) / s.unit;
        put_number(&b, by_difference ? zigzag(v, before) : v);
        before = v;
    }
    base64_finish(&b);
    arn_puts(out, "\"}");
}

/* ---- names ---- */

/* Whether the texts are "0", "1", "2", ..., as names in tables of numbers often are. */
static bool counts_up(uint32_t n, arn_column_text text, const void *context) {
    for (uint32_t i = 0; i < n; i++) {
        char number[16];
        const char *now = text(context, i);
        snprintf(number, sizeof number, "%" PRIu32, i);
        if (!now || strcmp(now, number) != 0) return false;
    }
    return n > 0;
}

void arn_put_text_column(arn_writer *out, const char *name, uint32_t n, arn_column_text text,
                         const void *context) {
    arn_base64 b = {.out = out};
    const char *before = "";
    arn_putf(out, "\"%s\":{\"n\":%" PRIu32, name, n);
    if (counts_up(n, text, context)) {
        arn_puts(out, ",\"count\":true}");
        return;
    }
    arn_puts(out, ",\"texts\":\"");
    for (uint32_t i = 0; i < n; i++) {
        const char *now = text(context, i);
        size_t same = 0;
        if (!now) { /* length + 1 is 0 */
            put_number(&b, 0);
            continue;
        }
        while (now[same] && now[same] == before[same]) same++;
        const size_t rest = strlen(now + same);
        put_number(&b, rest + 1);
        put_number(&b, same);
        base64_put(&b, now + same, rest);
        before = now;
    }
    base64_finish(&b);
    arn_puts(out, "\"}");
}
