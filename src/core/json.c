/* JSON parser (see json.h). It goes through the text once, without recursion: containers that are
 * open are on a stack of ARN_JSON_MAX_DEPTH. Names of one object are compared pairwise while they
 * are few and sorted otherwise, so that a text of n bytes costs O(n log n). */
#include "core/json.h"

#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "core/utf8.h"

typedef struct parser {
    arn_json *json;
    const char *at, *end;
    arenaut_error *err;
    uint32_t open[ARN_JSON_MAX_DEPTH]; /* the objects and arrays around `at` */
    uint32_t depth;
    uint32_t *names; /* reused while looking for two members of one name */
    uint32_t names_capacity;
} parser;

/* ---- errors ---- */

void arn_json_position(const arn_json *json, size_t at, size_t *line, size_t *column) {
    *line = *column = 1;
    for (size_t i = 0; i < at && i < json->size; i++) {
        const unsigned char c = (unsigned char)json->text[i];
        if (c == '\n') {
            ++*line;
            *column = 1;
        } else if ((c & 0xC0) != 0x80) {
            ++*column;
        }
    }
}

static arenaut_status fail_at(const parser *p, const char *at, const char *what) {
    size_t line, column;
    arn_json_position(p->json, (size_t)(at - p->json->text), &line, &column);
    return arn_fail(p->err, ARENAUT_BAD_INPUT, line, "line %zu, column %zu: %s", line, column,
                    what);
}

static arenaut_status unexpected(const parser *p, const char *expected) {
    size_t line, column;
    arn_json_position(p->json, (size_t)(p->at - p->json->text), &line, &column);
    if (p->at == p->end) {
        return arn_fail(p->err, ARENAUT_BAD_INPUT, line,
                        "line %zu, column %zu: the text ends; expected %s", line, column, expected);
    }
    const unsigned char c = (unsigned char)*p->at;
    const char *form = c > 0x20 && c < 0x7F
                           ? "line %zu, column %zu: found '%c'; expected %s"
                           : "line %zu, column %zu: found byte 0x%02x; expected %s";
    return arn_fail(p->err, ARENAUT_BAD_INPUT, line, form, line, column, c, expected);
}

/* ---- scalars ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip_blanks(parser *p) {
    while (p->at < p->end &&
           (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t')) {
        p->at++;
    }
}

/* The value of four hexadecimal digits; -1 if they are not all there. */
static int32_t hex4(const char *p, const char *end) {
    if (end - p < 4) return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        const char c = p[i];
        const int digit = is_digit(c)            ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool is_high_surrogate(int32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
static bool is_low_surrogate(int32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

/* With p->at on a backslash. */
static arenaut_status skip_escape(parser *p) {
    const char *const begin = p->at;
    const char c = p->end - p->at > 1 ? p->at[1] : '\0';
    if (c != 'u') {
        if (c == '\0' || !strchr("\"\\/bfnrt", c)) {
            return fail_at(p, begin,
                           "an escape is one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
        }
        p->at += 2;
        return ARENAUT_OK;
    }
    const int32_t unit = hex4(p->at + 2, p->end);
    if (unit < 0) return fail_at(p, begin, "\\u needs four hexadecimal digits");
    p->at += 6;
    if (is_low_surrogate(unit)) return fail_at(p, begin, "a low surrogate without a high one");
    if (!is_high_surrogate(unit)) return ARENAUT_OK;
    const bool paired = p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u' &&
                        is_low_surrogate(hex4(p->at + 2, p->end));
    if (!paired) return fail_at(p, begin, "a high surrogate without a low one behind it");
    p->at += 6;
    return ARENAUT_OK;
}

/* With p->at on the opening quote. */
static arenaut_status skip_string(parser *p) {
    const char *const begin = p->at++;
    while (p->at < p->end) {
        const unsigned char c = (unsigned char)*p->at;
        if (c == '"') {
            p->at++;
            return ARENAUT_OK;
        }
        if (c == '\\') {
            const arenaut_status st = skip_escape(p);
            if (st != ARENAUT_OK) return st;
        } else if (c < 0x20) {
            return fail_at(p, p->at, "a control character in a string; write it as an escape");
        } else if (c < 0x80) {
            p->at++;
        } else {
            const size_t n =
                arn_utf8_length((const unsigned char *)p->at, (size_t)(p->end - p->at));
            if (n == 0) return fail_at(p, p->at, "the string is not UTF-8 here");
            p->at += n;
        }
    }
    return fail_at(p, begin, "the string that begins here is never closed");
}

static bool skip_digits(parser *p) {
    const char *const begin = p->at;
    while (p->at < p->end && is_digit(*p->at)) p->at++;
    return p->at > begin;
}

static arenaut_status skip_number(parser *p) {
    const char *const begin = p->at;
    if (*p->at == '-') p->at++;
    const bool zero = p->at < p->end && *p->at == '0';
    if (!skip_digits(p)) return unexpected(p, "a digit");
    const char *const first = begin + (*begin == '-' ? 1 : 0);
    if (zero && p->at - first > 1) {
        return fail_at(p, begin, "a number does not begin with a superfluous 0");
    }
    if (p->at < p->end && *p->at == '.') {
        p->at++;
        if (!skip_digits(p)) return unexpected(p, "a digit");
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-')) p->at++;
        if (!skip_digits(p)) return unexpected(p, "a digit");
    }
    return ARENAUT_OK;
}

static arenaut_status skip_word(parser *p, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0) {
        return unexpected(p, "a value");
    }
    p->at += length;
    return ARENAUT_OK;
}

static arenaut_status skip_scalar(parser *p) {
    switch (*p->at) {
        case '"': return skip_string(p);
        case 't': return skip_word(p, "true");
        case 'f': return skip_word(p, "false");
        case 'n': return skip_word(p, "null");
        default: break;
    }
    if (*p->at == '-' || is_digit(*p->at)) return skip_number(p);
    return unexpected(p, "a value");
}

/* ---- member names ---- */

/* Takes one code point of a string that has been checked; -1 at its closing quote. */
static int32_t take_code_point(const char **at) {
    const unsigned char *p = (const unsigned char *)*at;
    if (*p == '"') return -1;
    if (*p != '\\') {
        const size_t n = *p < 0x80 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
        int32_t code = n == 1 ? *p : *p & (0x7F >> n);
        for (size_t i = 1; i < n; i++) code = code << 6 | (p[i] & 0x3F);
        *at += n;
        return code;
    }
    static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    if (p[1] != 'u') {
        *at += 2;
        for (const char *e = escapes;; e += 2) {
            if (*e == (char)p[1]) return e[1];
        }
    }
    const int32_t unit = hex4(*at + 2, *at + 6);
    *at += 6;
    if (!is_high_surrogate(unit)) return unit;
    const int32_t low = hex4(*at + 2, *at + 6);
    *at += 6;
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

/* Compares two checked strings, given behind their opening quotes, as decoded. */
static int compare_strings(const char *a, const char *b) {
    while (*a == *b && *a != '"' && *a != '\\') {
        a++;
        b++;
    }
    /* Without escapes, the order of bytes is the order of code points. */
    if (*a != '\\' && *b != '\\') {
        if (*a == '"' || *b == '"') return (*a != '"') - (*b != '"');
        return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
    }
    for (;;) {
        const int32_t ca = take_code_point(&a), cb = take_code_point(&b);
        if (ca != cb) return ca < cb ? -1 : 1;
        if (ca < 0) return 0;
    }
}

static const char *name_of(const arn_json *json, uint32_t value) {
    return json->text + json->nodes[value].key + 1;
}

static bool name_before(const void *context, uint32_t a, uint32_t b) {
    return compare_strings(name_of(context, a), name_of(context, b)) < 0;
}

static arenaut_status duplicate(const parser *p, uint32_t second) {
    return fail_at(p, name_of(p->json, second) - 1, "a second member of this name in one object");
}

/* Objects are mostly small, so each name is held against those before it. */
static arenaut_status check_few_names(const parser *p, uint32_t object) {
    const arn_json *json = p->json;
    for (uint32_t b = object + 1; b < json->n_nodes; b = json->nodes[b].next) {
        for (uint32_t a = object + 1; a < b; a = json->nodes[a].next) {
            if (compare_strings(name_of(json, a), name_of(json, b)) == 0) return duplicate(p, b);
        }
    }
    return ARENAUT_OK;
}

static arenaut_status check_many_names(parser *p, uint32_t object, uint32_t count) {
    const arn_json *json = p->json;
    if (!arn_grow(json->allocator, (void **)&p->names, &p->names_capacity, (uint64_t)count * 2,
                  sizeof *p->names)) {
        return arn_no_memory(p->err);
    }
    uint32_t n = 0;
    for (uint32_t v = object + 1; v < json->n_nodes; v = json->nodes[v].next) p->names[n++] = v;
    arn_sort_ids(p->names, n, name_before, json, p->names + n);
    for (uint32_t i = 1; i < n; i++) {
        if (!name_before(json, p->names[i - 1], p->names[i])) return duplicate(p, p->names[i]);
    }
    return ARENAUT_OK;
}

/* Called at the end of an object, when its members are the last nodes. */
static arenaut_status check_names(parser *p, uint32_t object) {
    enum { FEW = 24 };
    uint32_t count = 0;
    for (uint32_t v = object + 1; v < p->json->n_nodes; v = p->json->nodes[v].next) count++;
    return count <= FEW ? check_few_names(p, object) : check_many_names(p, object, count);
}

/* ---- structure ---- */

static arenaut_status add_node(parser *p, uint32_t key, uint32_t *node) {
    arn_json *json = p->json;
    if (!arn_grow(json->allocator, (void **)&json->nodes, &json->capacity,
                  (uint64_t)json->n_nodes + 1, sizeof *json->nodes)) {
        return arn_no_memory(p->err);
    }
    *node = json->n_nodes++;
    const arn_json_node added = {(uint32_t)(p->at - json->text), key, json->n_nodes};
    json->nodes[*node] = added;
    return ARENAUT_OK;
}

/* Takes `"name" :` in front of a member's value. */
static arenaut_status take_name(parser *p, uint32_t *key) {
    if (p->at == p->end || *p->at != '"') return unexpected(p, "a member's name in quotes");
    *key = (uint32_t)(p->at - p->json->text);
    const arenaut_status st = skip_string(p);
    if (st != ARENAUT_OK) return st;
    skip_blanks(p);
    if (p->at == p->end || *p->at != ':') return unexpected(p, "':'");
    p->at++;
    return ARENAUT_OK;
}

/* Takes one value up to where its first child or, if it has none, its end is. */
static arenaut_status take_value(parser *p, uint32_t key) {
    skip_blanks(p);
    if (p->at == p->end) return unexpected(p, "a value");
    uint32_t node = 0;
    arenaut_status st = add_node(p, key, &node);
    if (st != ARENAUT_OK) return st;
    if (*p->at != '{' && *p->at != '[') return skip_scalar(p);
    if (p->depth == ARN_JSON_MAX_DEPTH) {
        return fail_at(p, p->at, "objects and arrays are nested more than 128 deep");
    }
    p->open[p->depth++] = node;
    p->at++;
    return ARENAUT_OK;
}

static bool in_object(const parser *p) {
    return p->json->text[p->json->nodes[p->open[p->depth - 1]].at] == '{';
}

static arenaut_status close(parser *p) {
    const uint32_t node = p->open[p->depth - 1];
    const bool object = in_object(p);
    p->at++;
    p->depth--;
    p->json->nodes[node].next = p->json->n_nodes;
    return object ? check_names(p, node) : ARENAUT_OK;
}

/* Goes on behind a value or an opening bracket: closes containers that end here, until the next
 * value (its name is stored in *key) or the end of the outermost one. */
static arenaut_status go_on(parser *p, uint32_t *key) {
    while (p->depth > 0) {
        const bool object = in_object(p);
        const bool empty = p->open[p->depth - 1] == p->json->n_nodes - 1;
        skip_blanks(p);
        if (p->at < p->end && *p->at == (object ? '}' : ']')) {
            const arenaut_status st = close(p);
            if (st != ARENAUT_OK) return st;
            continue;
        }
        *key = 0;
        if (!empty) {
            if (p->at == p->end || *p->at != ',') {
                return unexpected(p, object ? "',' or '}'" : "',' or ']'");
            }
            p->at++;
            skip_blanks(p);
        }
        return object ? take_name(p, key) : ARENAUT_OK;
    }
    return ARENAUT_OK;
}

static arenaut_status parse_all(parser *p) {
    uint32_t key = 0;
    do {
        arenaut_status st = take_value(p, key);
        if (st == ARENAUT_OK) st = go_on(p, &key);
        if (st != ARENAUT_OK) return st;
    } while (p->depth > 0);
    skip_blanks(p);
    return p->at == p->end ? ARENAUT_OK : unexpected(p, "the end of the text");
}

arenaut_status arn_json_parse(const void *text, size_t size, const arenaut_allocator *allocator,
                              arn_json *json, arenaut_error *err) {
    if (size >= UINT32_MAX) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "%zu bytes of JSON; at most 2^32 - 2", size);
    }
    arn_json made = {text ? text : "", size, NULL, 0, 0, allocator};
    parser p = {.json = &made, .at = made.text, .end = made.text + size, .err = err};
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) p.at += 3;
    const arenaut_status st = parse_all(&p);
    arn_release(allocator, p.names);
    if (st == ARENAUT_OK) {
        *json = made;
    } else {
        arn_json_free(&made);
    }
    return st;
}

void arn_json_free(arn_json *json) {
    arn_release(json->allocator, json->nodes);
    json->nodes = NULL;
    json->n_nodes = json->capacity = 0;
}

/* ---- looking around ---- */

arn_json_type arn_json_type_of(const arn_json *json, uint32_t value) {
    switch (json->text[json->nodes[value].at]) {
        case '{': return ARN_JSON_OBJECT;
        case '[': return ARN_JSON_ARRAY;
        case '"': return ARN_JSON_STRING;
        case 't':
        case 'f': return ARN_JSON_BOOL;
        case 'n': return ARN_JSON_NULL;
        default: return ARN_JSON_NUMBER;
    }
}

const char *arn_json_type_text(arn_json_type type) {
    static const char *const texts[] = {"null",     "true or false", "a number",
                                        "a string", "an array",      "an object"};
    return texts[type];
}

uint32_t arn_json_first(const arn_json *json, uint32_t parent) {
    return json->nodes[parent].next > parent + 1 ? parent + 1 : ARN_JSON_NONE;
}

uint32_t arn_json_next(const arn_json *json, uint32_t parent, uint32_t child) {
    const uint32_t next = json->nodes[child].next;
    return next < json->nodes[parent].next ? next : ARN_JSON_NONE;
}

uint32_t arn_json_count(const arn_json *json, uint32_t parent) {
    uint32_t count = 0;
    for (uint32_t v = arn_json_first(json, parent); v != ARN_JSON_NONE;
         v = arn_json_next(json, parent, v)) {
        count++;
    }
    return count;
}

/* Whether the string that begins at `quote` is, decoded, `text`. */
static bool string_is(const char *quote, const char *text) {
    const char *p = quote + 1;
    while (*p == *text && *p != '"' && *p != '\\' && *text) {
        p++;
        text++;
    }
    if (*p != '\\') return *p == '"' && *text == '\0';
    /* `text` is UTF-8 as well, and a NUL in it could only be its end. */
    for (const unsigned char *t = (const unsigned char *)text;;) {
        const int32_t code = take_code_point(&p);
        if (code < 0) return *t == '\0';
        if (*t == '\0') return false;
        const size_t n = arn_utf8_length(t, strlen((const char *)t));
        int32_t wanted = n <= 1 ? *t : *t & (0x7F >> n);
        for (size_t i = 1; i < n; i++) wanted = wanted << 6 | (t[i] & 0x3F);
        if (n == 0 || code != wanted) return false;
        t += n;
    }
}

bool arn_json_key_is(const arn_json *json, uint32_t value, const char *name) {
    const uint32_t key = json->nodes[value].key;
    return key != 0 && string_is(json->text + key, name);
}

bool arn_json_text_is(const arn_json *json, uint32_t value, const char *text) {
    return arn_json_type_of(json, value) == ARN_JSON_STRING &&
           string_is(json->text + json->nodes[value].at, text);
}

uint32_t arn_json_get(const arn_json *json, uint32_t object, const char *name) {
    if (arn_json_type_of(json, object) != ARN_JSON_OBJECT) return ARN_JSON_NONE;
    uint32_t v = arn_json_first(json, object);
    while (v != ARN_JSON_NONE && !arn_json_key_is(json, v, name)) {
        v = arn_json_next(json, object, v);
    }
    return v;
}

/* ---- strings and numbers ---- */

size_t arn_json_raw_length(const arn_json *json, uint32_t at) {
    const char *const begin = json->text + at + 1;
    const char *p = begin;
    while (*p != '"') p += *p == '\\' ? 2 : 1;
    return (size_t)(p - begin);
}

static size_t encode(int32_t code, char *to) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    const size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6) to[i] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)((0xF00 >> n & 0xFF) | code);
    return n;
}

size_t arn_json_decode(const arn_json *json, uint32_t at, char *to) {
    const char *p = json->text + at + 1;
    size_t used = 0;
    while (*p != '"') {
        if (*p == '\\') {
            used += encode(take_code_point(&p), to + used);
        } else {
            to[used++] = *p++;
        }
    }
    return used;
}

static bool times_ten_plus(uint64_t *value, unsigned digit) {
    if (*value > (UINT64_MAX - digit) / 10) return false;
    *value = *value * 10 + digit;
    return true;
}

/* The exponent behind 'e', clamped, so that adding digit counts cannot overflow. */
static int64_t take_exponent(const char *p, const char *end) {
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    int64_t exponent = 0;
    for (; p < end && is_digit(*p); p++) {
        if (exponent < INT64_C(1000000000000)) exponent = exponent * 10 + (*p - '0');
    }
    return negative ? -exponent : exponent;
}

/* The magnitude of a checked number without its sign, if it is an integer below 2^64:
 * zeros are held back until a digit follows, since an exponent may take them away. */
static bool take_magnitude(const char *p, const char *end, uint64_t *magnitude) {
    uint64_t value = 0;
    int64_t zeros = 0, exponent = 0;
    bool fraction = false;
    for (; p < end && (is_digit(*p) || *p == '.'); p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        if (fraction) exponent--;
        if (*p == '0') {
            if (value != 0) zeros++;
            continue;
        }
        for (; zeros > 0; zeros--) {
            if (!times_ten_plus(&value, 0)) return false;
        }
        if (!times_ten_plus(&value, (unsigned)(*p - '0'))) return false;
    }
    *magnitude = value;
    if (value == 0) return true;
    if (p < end && (*p == 'e' || *p == 'E')) exponent += take_exponent(p + 1, end);
    exponent += zeros;
    for (; exponent > 0; exponent--) {
        if (!times_ten_plus(magnitude, 0)) return false;
    }
    return exponent == 0;
}

/* Behind a string's opening quote: whether it is [-]digits and nothing else. */
static bool is_decimal_string(const char *p) {
    if (*p == '-') p++;
    if (!is_digit(*p)) return false;
    while (is_digit(*p)) p++;
    return *p == '"';
}

static bool to_integer(const arn_json *json, uint32_t value, bool *negative, uint64_t *magnitude) {
    const arn_json_type type = arn_json_type_of(json, value);
    const char *p = json->text + json->nodes[value].at;
    if (type == ARN_JSON_STRING) {
        if (!is_decimal_string(++p)) return false;
    } else if (type != ARN_JSON_NUMBER) {
        return false;
    }
    *negative = *p == '-';
    return take_magnitude(p + (*negative ? 1 : 0), json->text + json->size, magnitude);
}

bool arn_json_to_u64(const arn_json *json, uint32_t value, uint64_t *number) {
    bool negative;
    uint64_t magnitude;
    if (!to_integer(json, value, &negative, &magnitude)) return false;
    if (negative && magnitude != 0) return false;
    *number = magnitude;
    return true;
}

bool arn_json_to_i64(const arn_json *json, uint32_t value, int64_t *number) {
    bool negative;
    uint64_t magnitude;
    if (!to_integer(json, value, &negative, &magnitude)) return false;
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
    *number = !negative ? (int64_t)magnitude : magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    return true;
}
