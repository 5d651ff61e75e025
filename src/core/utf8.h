/* Well-formed UTF-8, and the parts of it that are never shown as they are. */
#ifndef ARN_CORE_UTF8_H
#define ARN_CORE_UTF8_H

#include <stddef.h>

/* Length of the well-formed sequence that begins at `p`, of which `available` bytes may be
 * read; 0 if there is none. Overlong forms, surrogates and code points past U+10FFFF are
 * not well formed. */
static inline size_t arn_utf8_length(const unsigned char *p, size_t available) {
    if (available == 0) return 0;
    if (p[0] < 0x80) return 1;
    const size_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || available < n) return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
    }
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F)) return 0;
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)) return 0;
    return n;
}

/* `length`, or where a text has to be cut so that `limit` bytes of it are left at most, and no
 * character is cut through. */
static inline size_t arn_utf8_cut(const unsigned char *text, size_t length, size_t limit) {
    if (length <= limit) return length;
    while (limit > 0 && (text[limit] & 0xC0) == 0x80) limit--;
    return limit;
}

/* The code point of the well-formed sequence of `n` bytes at `p` if a terminal may obey it (C0,
 * DEL, C1) or it turns the direction of writing; 0 if it can be shown. */
static inline unsigned arn_utf8_unshown(const unsigned char *p, size_t n) {
    if (n == 1) return *p < 0x20 || *p == 0x7F ? *p : 0;
    if (n == 2) return p[0] == 0xC2 && p[1] < 0xA0 ? p[1] : 0;
    if (n != 3 || p[0] != 0xE2) return 0;
    const unsigned code = 0x2000u | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ? code : 0;
}

#endif
