/* Translator of SymPy's srepr into the notation of expressions (ir/expr_text.c). One pass by
 * recursive descent, to a fixed depth. */
#include "formats/pt2/pt2.h"

#include <string.h>

enum { MAX_DEPTH = 60 };

typedef struct turner {
    const char *at, *end;
    char *to;
    unsigned depth;
    bool bad;
} turner;

static void put(turner *t, const char *text) {
    while (*text) *t->to++ = *text++;
}

static char peek(turner *t) {
    while (t->at < t->end && *t->at == ' ') t->at++;
    return t->at < t->end ? *t->at : '\0';
}

static void expect(turner *t, char c) {
    if (peek(t) != c) t->bad = true;
    else t->at++;
}

static size_t word_length(const turner *t) {
    const char *p = t->at;
    while (p < t->end && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                          (*p >= '0' && *p <= '9') || *p == '_')) {
        p++;
    }
    return (size_t)(p - t->at);
}

/* Up to the closing parenthesis: flags such as positive=True. */
static void skip_flags(turner *t) {
    while (t->at < t->end && *t->at != ')' && *t->at != '(') t->at++;
    expect(t, ')');
}

static void turn_symbol(turner *t) {
    expect(t, '\'');
    put(t, "`");
    while (t->at < t->end && *t->at != '\'' && *t->at != '`') *t->to++ = *t->at++;
    put(t, "`");
    expect(t, '\'');
    skip_flags(t);
}

/* Digits with a sign; several numbers with `between` between them. */
static void turn_numbers(turner *t, const char *between) {
    put(t, "(");
    for (bool more = true; more && !t->bad;) {
        if (peek(t) == '-') *t->to++ = *t->at++;
        if (word_length(t) == 0) t->bad = true;
        while (t->at < t->end && *t->at >= '0' && *t->at <= '9') *t->to++ = *t->at++;
        more = peek(t) == ',';
        if (more) {
            t->at++;
            put(t, between);
        }
    }
    expect(t, ')');
    put(t, ")");
}

/* NOLINTBEGIN(misc-no-recursion): calls within calls, at most MAX_DEPTH deep. */
static void turn(turner *t);

/* The arguments, with texts that begin, separate and end them. */
static void turn_arguments(turner *t, const char *begin, const char *between, const char *end) {
    put(t, begin);
    turn(t);
    while (!t->bad && peek(t) == ',') {
        t->at++;
        put(t, between);
        turn(t);
    }
    expect(t, ')');
    put(t, end);
}

/* Names of sympy and of torch's own functions; binary ones take two arguments. The output is never
 * longer than ARN_PT2_INFIX times the input. */
static const struct function {
    const char *name, *begin, *between;
} functions[] = {
    {"Add", "(", " + "},
    {"Mul", "(", "*"},
    {"Max", "max(", ", "},
    {"Min", "min(", ", "},
    {"FloorDiv", "floordiv(", ", "},
    {"CleanDiv", "floordiv(", ", "},
    {"CeilDiv", "ceildiv(", ", "},
    {"Mod", "mod(", ", "},
    {"PythonMod", "mod(", ", "},
    {"Pow", "(", "**"},
    {"floor", "floor(", ""},
    {"ceiling", "ceil(", ""},
    {"FloorToInt", "floor(", ""},
    {"CeilToInt", "ceil(", ""},
    {"IntTrueDiv", "(", "/"},
    {"Identity", "(", ""},
};

static bool is_word(const char *word, size_t length, const char *name) {
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

static void turn_call(turner *t, const char *word, size_t length) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!is_word(word, length, functions[i].name)) continue;
        turn_arguments(t, functions[i].begin, functions[i].between, ")");
        return;
    }
    t->bad = true;
}

static void turn(turner *t) {
    if (t->bad || t->depth == MAX_DEPTH) {
        t->bad = true;
        return;
    }
    (void)peek(t);
    const char *word = t->at;
    const size_t length = word_length(t);
    t->at += length;
    expect(t, '(');
    if (t->bad) return;
    t->depth++;
    if (is_word(word, length, "Symbol")) turn_symbol(t);
    else if (is_word(word, length, "Integer")) turn_numbers(t, "");
    else if (is_word(word, length, "Rational")) turn_numbers(t, "/");
    else turn_call(t, word, length);
    t->depth--;
}
/* NOLINTEND(misc-no-recursion) */

bool arn_pt2_infix(const char *text, size_t length, char *to) {
    turner t = {text, text + length, to, 0, false};
    turn(&t);
    if (peek(&t) != '\0') t.bad = true;
    *t.to = '\0';
    return !t.bad;
}
