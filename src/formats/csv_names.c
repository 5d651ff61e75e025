/* csv names: escapes of names in cells, against terminals and spreadsheets that would obey them,
 * and their inverse. */
#include <string.h>

#include "core/utf8.h"
#include "formats/csv.h"

/* "-5" and "+3.25" are values, not formulas, and ids are often numbers. */
static bool is_number(const char *text) {
    text += *text == '-' || *text == '+';
    const size_t whole = strspn(text, "0123456789");
    text += whole;
    if (*text == '.') text += 1 + strspn(text + 1, "0123456789");
    return whole > 0 && *text == '\0';
}

/* An apostrophe in front of one of these was put there when the name was written; that of a name
 * which begins with one is doubled, to be told from it. */
static bool is_defused(char first) { return first && strchr("=+-@'\t", first); }

static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

static unsigned hex_digit(char c) { return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10); }

/* The value of `n` hexadecimal digits; 0 where there are fewer. */
static unsigned hex_value(const char *digits, size_t n) {
    unsigned value = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_hex(digits[i])) return 0;
        value = value << 4 | hex_digit(digits[i]);
    }
    return value;
}

/* Line ends and tabs are no harm inside quotes. */
static bool is_escaped(unsigned code) { return code && code != '\n' && code != '\t'; }

/* The length of the sequence at `p`, within the string; 0 if it is no UTF-8. */
static size_t sequence_length(const char *p) {
    size_t room = 0;
    while (room < 4 && p[room]) room++;
    return arn_utf8_length((const unsigned char *)p, room);
}

static void put_escaped(arn_writer *writer, const char *name) {
    for (const char *p = name; *p;) {
        const size_t n = sequence_length(p);
        const unsigned code = n ? arn_utf8_unshown((const unsigned char *)p, n) : 0;
        if (n == 0) {
            arn_putf(writer, "\\x%02x", (unsigned)(unsigned char)*p);
        } else if (is_escaped(code)) {
            arn_putf(writer, "\\u%04x", code);
        } else if (*p == '\\' && (p[1] == 'u' || p[1] == 'x')) {
            arn_puts(writer, "\\u005c"); /* else it would be read as an escape */
        } else {
            if (*p == '"') arn_puts(writer, "\"");
            arn_put(writer, p, n);
        }
        p += n ? n : 1;
    }
}

/* In quotes only where it must be, since MiniMalloc's own reader knows none. */
void arn_csv_put_name(arn_writer *writer, const char *name) {
    const size_t length = strlen(name);
    const bool blank_edge =
        length == 0 || strchr(" \t", name[0]) || strchr(" \t", name[length - 1]);
    const bool quoted = blank_edge || strpbrk(name, ",\"\n");
    if (quoted) arn_puts(writer, "\"");
    if (is_defused(name[0]) && !is_number(name)) arn_puts(writer, "'");
    put_escaped(writer, name);
    if (quoted) arn_puts(writer, "\"");
}

/* The bytes of an escape at `p`, and their number in *taken; 0 if there is none that is ever
 * written. */
static size_t decode(const char *p, char out[3], size_t *taken) {
    if (p[0] != '\\') return 0;
    if (p[1] == 'x') {
        const unsigned byte = hex_value(p + 2, 2);
        out[0] = (char)byte;
        *taken = 4;
        return byte >= 0x80;
    }
    const unsigned code = p[1] == 'u' ? hex_value(p + 2, 4) : 0;
    unsigned char utf8[3] = {(unsigned char)code};
    size_t n = 1;
    if (code >= 0x800) {
        utf8[0] = (unsigned char)(0xE0 | code >> 12);
        utf8[1] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
        utf8[2] = (unsigned char)(0x80 | (code & 0x3F));
        n = 3;
    } else if (code >= 0x80) {
        utf8[0] = (unsigned char)(0xC0 | code >> 6);
        utf8[1] = (unsigned char)(0x80 | (code & 0x3F));
        n = 2;
    }
    memcpy(out, utf8, n);
    *taken = 6;
    return code == '\\' || is_escaped(arn_utf8_unshown(utf8, n)) ? n : 0;
}

void arn_csv_take_name(char *name) {
    const char *from = name + (name[0] == '\'' && is_defused(name[1]));
    char *to = name;
    while (*from) {
        char bytes[3];
        size_t taken = 0;
        const size_t n = decode(from, bytes, &taken);
        if (n) {
            memcpy(to, bytes, n);
            to += n;
            from += taken;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}
