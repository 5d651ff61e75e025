/* A scanner of C initializers: "= {", whole numbers between commas, "}", with comments and strings
 * passed over and nothing else of the language looked at. The first list of bytes that a format
 * recognises is the model. Linear in the text. */
#include "c_array.h"

#include <stdlib.h>
#include <string.h>

typedef struct scan {
    const char *at, *end;
    uint8_t *bytes; /* room for as many as the text may have: two characters for each */
    size_t n;
} scan;

/* Behind a comment or a string or character that begins here; NULL where none does. */
static const char *past_comment(const scan *s) {
    const char *at = s->at;
    const size_t left = (size_t)(s->end - at);
    if (left >= 2 && at[0] == '/' && at[1] == '*') {
        for (at += 2; s->end - at >= 2; at++) {
            if (at[0] == '*' && at[1] == '/') return at + 2;
        }
        return s->end;
    }
    if (left >= 2 && at[0] == '/' && at[1] == '/') {
        const char *line = memchr(at, '\n', left);
        return line ? line : s->end;
    }
    if (*at != '"' && *at != '\'') return NULL;
    for (const char quote = *at++; at < s->end; at++) {
        if (*at == '\\') at++;
        else if (*at == quote) return at + 1;
    }
    return s->end;
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_blanks(scan *s) {
    while (s->at < s->end) {
        const char *past = is_blank(*s->at) ? s->at + 1 : *s->at == '/' ? past_comment(s) : NULL;
        if (!past) return;
        s->at = past;
    }
}

static bool take(scan *s, char c) {
    skip_blanks(s);
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

static int digit_of(char c) {
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : 16;
}

/* A number of 8 bits, with a sign or without: "0x1c", "28", "034", "-1". */
static bool take_byte(scan *s) {
    const bool negative = take(s, '-');
    int base = 10, value = 0;
    skip_blanks(s);
    if (s->end - s->at >= 2 && s->at[0] == '0') {
        base = (s->at[1] | 0x20) == 'x' ? 16 : 8;
        s->at += base == 16 ? 2 : 0;
    }
    const char *first = s->at;
    for (; s->at < s->end && digit_of(*s->at) < base; s->at++) {
        value = value * base + digit_of(*s->at);
        if (value > (negative ? 128 : 255)) return false;
    }
    while (s->at > first && s->at < s->end && (*s->at | 0x20) == 'u') s->at++;
    if (s->at == first) return false;
    s->bytes[s->n++] = (uint8_t)(negative ? 256 - value : value);
    return true;
}

/* The list behind "= {"; false, and somewhere within it, if it holds anything but bytes. */
static bool take_list(scan *s) {
    s->n = 0;
    while (!take(s, '}')) {
        if (!take_byte(s)) return false;
        if (!take(s, ',')) return take(s, '}');
    }
    return true;
}

static bool find_model(scan *s) {
    while (s->at < s->end) {
        const char *past = past_comment(s);
        const bool assigned = !past && *s->at == '=';
        s->at = past ? past : s->at + 1;
        if (!assigned || !take(s, '{') || !take_list(s)) continue;
        const arenaut_format *format = arenaut_format_recognise(s->bytes, s->n);
        if (format && format->needs_original) return true;
    }
    return false;
}

/* Text has no zero bytes, and models do, soon. */
static bool is_text(const input_file *input) {
    enum { LOOKED_AT = 4096 };
    const size_t n = input->size < LOOKED_AT ? input->size : LOOKED_AT;
    return n > 0 && !memchr(input->data, '\0', n);
}

void input_take_c_array(input_file *input) {
    if (!is_text(input) || arenaut_format_recognise(input->data, input->size)) return;
    const char *text = (const char *)input->data;
    scan s = {.at = text, .end = text + input->size};
    s.bytes = must_allocate(input->size / 2 + 1, 1);
    const bool found = find_model(&s);
    if (!found) {
        free(s.bytes);
        return;
    }
    input_close(input);
    input->data = s.bytes;
    input->size = s.n;
    input->mapped = false;
}
