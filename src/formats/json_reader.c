/* Typed values of our own JSON. Errors are worded here, once, with line, column and key;
 * references by name sort the list on first use and then cost O(log n). */
#include "formats/json_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/sort.h"
#include "core/suggest.h"

/* ---- recognising ---- */

/* Steps over a string from its opening quote; NULL if it does not end. */
static const char *behind_string(const char *p, const char *end) {
    for (p++; p < end && *p != '"'; p++) {
        if (*p == '\\' && ++p == end) return NULL;
    }
    return p < end ? p + 1 : NULL;
}

static const char *behind_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    return p;
}

/* Whether the string that begins at `p` is `family` and a slash and something. */
static bool is_schema_of(const char *p, const char *end, const char *family) {
    const size_t length = strlen(family);
    return (size_t)(end - p) > length + 1 && p[0] == '"' && memcmp(p + 1, family, length) == 0 &&
           p[length + 1] == '/';
}

/* A walk over the members of the outermost object, without parsing. Tools that sort keys put the
 * wanted members behind large arrays, so all of the text may have to be walked; other text than
 * JSON ends the walk at once. */
typedef struct member_walk {
    const char *at, *end;
    int depth;
    const char *key; /* at its opening quote */
    size_t key_length;
} member_walk;

/* False if the text is no object. */
static bool begin_walk(member_walk *walk, const uint8_t *data, size_t size) {
    const char *p = (const char *)data, *const end = p + size;
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) p += 3;
    p = behind_blanks(p, end);
    *walk = (member_walk){p, end, 0, NULL, 0};
    return p < end && *p == '{';
}

/* Goes on to the value of the next member. */
static bool next_member(member_walk *walk) {
    const char *p = walk->at, *const end = walk->end;
    while (p && p < end) {
        if (*p == '{' || *p == '[') walk->depth++;
        if (*p == '}' || *p == ']') walk->depth--;
        if (walk->depth == 0 || *p == '\0') return false;
        if (*p != '"') {
            p++;
            continue;
        }
        walk->key = p;
        p = behind_string(p, end);
        if (!p || walk->depth != 1) continue;
        walk->key_length = (size_t)(p - walk->key);
        p = behind_blanks(p, end);
        if (p == end || *p != ':') continue;
        walk->at = behind_blanks(p + 1, end);
        return true;
    }
    return false;
}

static bool key_is(const member_walk *walk, const char *name) {
    const size_t length = strlen(name);
    return walk->key_length == length + 2 && memcmp(walk->key + 1, name, length) == 0;
}

bool arn_json_has_schema(const uint8_t *data, size_t size, const char *family) {
    member_walk walk;
    if (!begin_walk(&walk, data, size)) return false;
    while (next_member(&walk)) {
        if (key_is(&walk, "schema")) return is_schema_of(walk.at, walk.end, family);
    }
    return false;
}

bool arn_json_has_members(const uint8_t *data, size_t size, const char *const *names, size_t n) {
    member_walk walk;
    uint32_t missing = (UINT32_C(1) << n) - 1;
    if (!begin_walk(&walk, data, size)) return false;
    while (missing && next_member(&walk)) {
        for (size_t i = 0; i < n; i++) {
            if (key_is(&walk, names[i])) missing &= ~(UINT32_C(1) << i);
        }
    }
    return missing == 0;
}

/* ---- beginning and errors ---- */

static void check_schema(arn_json_reader *r, const char *family) {
    char expected[64];
    snprintf(expected, sizeof expected, "%s/1", family);
    if (arn_json_type_of(&r->json, 0) != ARN_JSON_OBJECT) {
        arn_json_unexpected(r, 0, "an object");
        return;
    }
    const uint32_t schema = arn_json_get(&r->json, 0, "schema");
    arn_json_require(r, 0, schema, "schema");
    if (!arn_json_fine(r) || arn_json_text_is(&r->json, schema, expected)) return;
    const char *text = r->json.text + r->json.nodes[schema].at;
    const bool other_version = is_schema_of(text, r->json.text + r->json.size, family);
    arn_json_fail(r, schema, other_version ? ARENAUT_UNSUPPORTED : ARENAUT_BAD_INPUT,
                  "this reads \"%s\" only", expected);
}

void arn_json_reader_open(arn_json_reader *r, const uint8_t *data, size_t size,
                          const arenaut_allocator *allocator, arenaut_error *err) {
    memset(r, 0, sizeof *r);
    r->allocator = allocator;
    r->err = err;
    arn_region_init(&r->texts, allocator);
    r->status = arn_json_parse(data, size, allocator, &r->json, err);
}

void arn_json_reader_begin(arn_json_reader *r, const uint8_t *data, size_t size, const char *family,
                           const arenaut_allocator *allocator, arenaut_error *err) {
    arn_json_reader_open(r, data, size, allocator, err);
    if (arn_json_fine(r)) check_schema(r, family);
}

void arn_json_reader_free(arn_json_reader *r) {
    arn_json_free(&r->json);
    arn_region_free(&r->texts);
    arn_release(r->allocator, r->held);
}

/* The key of a member as it stands in the text, cut to the length that a message can bear. */
static void key_text(const arn_json_reader *r, uint32_t value, char text[48]) {
    const uint32_t key = r->json.nodes[value].key;
    text[0] = '\0';
    if (key == 0) return;
    const size_t length = arn_json_raw_length(&r->json, key);
    snprintf(text, 48, "'%.*s': ", length < 40 ? (int)length : 40, r->json.text + key + 1);
}

static void fail_there(arn_json_reader *r, uint32_t value, arenaut_status code, const char *msg) {
    if (!arn_json_fine(r)) return;
    size_t line, column;
    char key[48];
    arn_json_position(&r->json, r->json.nodes[value].at, &line, &column);
    key_text(r, value, key);
    r->status = arn_fail(r->err, code, line, "line %zu, column %zu: %s%s", line, column, key, msg);
}

void arn_json_fail(arn_json_reader *r, uint32_t value, arenaut_status code, const char *format,
                   ...) {
    char msg[256];
    va_list args;
    va_start(args, format);
    vsnprintf(msg, sizeof msg, format, args);
    va_end(args);
    fail_there(r, value, code, msg);
}

void arn_json_unexpected(arn_json_reader *r, uint32_t value, const char *expected) {
    const arn_json_type type = arn_json_type_of(&r->json, value);
    const char *text = r->json.text + r->json.nodes[value].at;
    if (type == ARN_JSON_STRING) {
        const size_t length = arn_json_raw_length(&r->json, r->json.nodes[value].at) + 2;
        arn_json_fail(r, value, ARENAUT_BAD_INPUT, "found %.*s; expected %s",
                      length < 40 ? (int)length : 40, text, expected);
    } else if (type == ARN_JSON_NUMBER) {
        const size_t rest = r->json.size - r->json.nodes[value].at;
        size_t length = 0;
        while (length < rest && length < 40 && strchr("+-.eE0123456789", text[length])) length++;
        arn_json_fail(r, value, ARENAUT_BAD_INPUT, "found %.*s; expected %s", (int)length, text,
                      expected);
    } else {
        arn_json_fail(r, value, ARENAUT_BAD_INPUT, "found %s; expected %s",
                      arn_json_type_text(type), expected);
    }
}

void arn_json_pass(arn_json_reader *r, uint32_t value, arenaut_status st,
                   const arenaut_error *inner) {
    if (st == ARENAUT_OK || !arn_json_fine(r)) return;
    if (st == ARENAUT_NO_MEMORY) {
        r->status = arn_no_memory(r->err);
    } else {
        fail_there(r, value, st, inner->msg);
    }
}

/* ---- members and elements ---- */

static void unknown_key(arn_json_reader *r, uint32_t value, const char *const *keys,
                        size_t n_keys) {
    const uint32_t key = r->json.nodes[value].key;
    const char *text = r->json.text + key + 1;
    const char *nearest = arn_suggest(text, arn_json_raw_length(&r->json, key), keys, n_keys);
    if (nearest) {
        arn_json_fail(r, value, ARENAUT_BAD_INPUT, "unknown key; did you mean '%s'?", nearest);
    } else {
        arn_json_fail(r, value, ARENAUT_BAD_INPUT,
                      "unknown key; keys of your own begin with \"x-\"");
    }
}

void arn_json_members(arn_json_reader *r, uint32_t object, const char *const *keys, size_t n_keys,
                      uint32_t *values) {
    for (size_t k = 0; k < n_keys; k++) values[k] = ARN_JSON_NONE;
    if (!arn_json_fine(r)) return;
    if (arn_json_type_of(&r->json, object) != ARN_JSON_OBJECT) {
        arn_json_unexpected(r, object, "an object");
        return;
    }
    size_t guess = 0; /* writers keep an order, so the next key is likely the next one */
    for (uint32_t v = arn_json_first(&r->json, object); v != ARN_JSON_NONE;
         v = arn_json_next(&r->json, object, v)) {
        size_t k = guess;
        for (size_t tried = 0; tried < n_keys && !arn_json_key_is(&r->json, v, keys[k]); tried++) {
            k = k + 1 < n_keys ? k + 1 : 0;
        }
        const bool known = n_keys > 0 && arn_json_key_is(&r->json, v, keys[k]);
        if (known) {
            if (arn_json_type_of(&r->json, v) != ARN_JSON_NULL) values[k] = v;
            guess = k + 1 < n_keys ? k + 1 : 0;
        } else if (memcmp(r->json.text + r->json.nodes[v].key, "\"x-", 3) != 0) {
            unknown_key(r, v, keys, n_keys);
            return;
        }
    }
}

void arn_json_require(arn_json_reader *r, uint32_t object, uint32_t value, const char *key) {
    if (value != ARN_JSON_NONE) return;
    arn_json_fail(r, object, ARENAUT_BAD_INPUT, "'%s' is missing", key);
}

uint32_t arn_json_elements(arn_json_reader *r, uint32_t array) {
    if (!arn_json_fine(r) || array == ARN_JSON_NONE) return ARN_JSON_NONE;
    if (arn_json_type_of(&r->json, array) == ARN_JSON_ARRAY) return arn_json_first(&r->json, array);
    arn_json_unexpected(r, array, "an array");
    return ARN_JSON_NONE;
}

void arn_json_tuple(arn_json_reader *r, uint32_t array, uint32_t n, uint32_t *values) {
    uint32_t found = 0;
    ARN_JSON_EACH(r, v, array) {
        if (found < n) values[found] = v;
        found++;
    }
    if (found == n) return;
    for (uint32_t i = found; i < n; i++) values[i] = array;
    arn_json_fail(r, array, ARENAUT_BAD_INPUT, "found %" PRIu32 " elements; expected %" PRIu32,
                  found, n);
}

/* ---- scalars ---- */

uint64_t arn_json_size(arn_json_reader *r, uint32_t value, uint64_t fallback) {
    if (!arn_json_fine(r) || value == ARN_JSON_NONE) return fallback;
    uint64_t number;
    if (arn_json_to_u64(&r->json, value, &number) && number <= ARENAUT_SIZE_MAX) return number;
    arn_json_unexpected(r, value, "an integer from 0 to 2^63 - 1");
    return fallback;
}

int64_t arn_json_step(arn_json_reader *r, uint32_t value, int64_t fallback) {
    if (!arn_json_fine(r) || value == ARN_JSON_NONE) return fallback;
    int64_t number;
    if (arn_json_to_i64(&r->json, value, &number)) return number;
    arn_json_unexpected(r, value, "an integer from -2^63 to 2^63 - 1");
    return fallback;
}

uint32_t arn_json_below(arn_json_reader *r, uint32_t value, uint32_t limit, uint32_t fallback) {
    if (!arn_json_fine(r) || value == ARN_JSON_NONE) return fallback;
    uint64_t number;
    if (arn_json_to_u64(&r->json, value, &number) && number < limit) return (uint32_t)number;
    char expected[48];
    snprintf(expected, sizeof expected, "an integer from 0 to %" PRIu32, limit ? limit - 1 : 0);
    arn_json_unexpected(r, value, expected);
    return fallback;
}

void arn_json_check_id(arn_json_reader *r, uint32_t value, uint32_t id) {
    if (arn_json_below(r, value, ARENAUT_NONE, id) == id) return;
    arn_json_fail(r, value, ARENAUT_BAD_INPUT, "ids count from 0; expected %" PRIu32, id);
}

bool arn_json_flag(arn_json_reader *r, uint32_t value, bool fallback) {
    if (!arn_json_fine(r) || value == ARN_JSON_NONE) return fallback;
    if (arn_json_type_of(&r->json, value) == ARN_JSON_BOOL) {
        return r->json.text[r->json.nodes[value].at] == 't';
    }
    arn_json_unexpected(r, value, "true or false");
    return fallback;
}

uint32_t arn_json_word(arn_json_reader *r, uint32_t value, const char *(*word_of)(uint32_t),
                       uint32_t n, uint32_t fallback) {
    if (!arn_json_fine(r) || value == ARN_JSON_NONE) return fallback;
    char all[200] = "one of";
    size_t used = strlen(all);
    for (uint32_t k = 0; k < n; k++) {
        if (arn_json_text_is(&r->json, value, word_of(k))) return k;
    }
    for (uint32_t k = 0; k < n && used < sizeof all; k++) {
        const int wrote = snprintf(all + used, sizeof all - used, " %s", word_of(k));
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    arn_json_unexpected(r, value, all);
    return fallback;
}

/* Strings never grow by decoding, so the bytes of the object are room for all of its. */
void arn_json_hold(arn_json_reader *r, uint32_t object) {
    if (!arn_json_fine(r)) return;
    const uint32_t next = r->json.nodes[object].next;
    const size_t end = next < r->json.n_nodes ? r->json.nodes[next].at : r->json.size;
    r->held_used = 0;
    if (!arn_grow(r->allocator, (void **)&r->held, &r->held_capacity,
                  (uint64_t)end - r->json.nodes[object].at + 1, 1)) {
        r->status = arn_no_memory(r->err);
    }
}

/* Decodes to `to`, which has room for a NUL as well. */
static bool take_text(arn_json_reader *r, uint32_t value, char *to, size_t *length) {
    *length = arn_json_decode(&r->json, r->json.nodes[value].at, to);
    to[*length] = '\0';
    if (!memchr(to, '\0', *length)) return true;
    arn_json_fail(r, value, ARENAUT_BAD_INPUT, "a NUL character; names are C strings");
    return false;
}

const char *arn_json_string(arn_json_reader *r, uint32_t value) {
    if (!arn_json_fine(r) || value == ARN_JSON_NONE) return NULL;
    if (arn_json_type_of(&r->json, value) != ARN_JSON_STRING) {
        arn_json_unexpected(r, value, "a string");
        return NULL;
    }
    char *text = r->held + r->held_used;
    size_t length;
    if (!take_text(r, value, text, &length)) return NULL;
    r->held_used += (uint32_t)length + 1;
    return text;
}

arenaut_device arn_json_device(arn_json_reader *r, uint32_t value) {
    static const char *const keys[] = {"type", "index"};
    arenaut_device device = {0, 0};
    if (!arn_json_fine(r) || value == ARN_JSON_NONE) return device;
    uint32_t v[2] = {value, ARN_JSON_NONE};
    if (arn_json_type_of(&r->json, value) == ARN_JSON_OBJECT)
        arn_json_members(r, value, keys, 2, v);
    device.type = (uint16_t)arn_json_below(r, v[0], UINT16_MAX + 1, 0);
    device.index = (uint16_t)arn_json_below(r, v[1], UINT16_MAX + 1, 0);
    return device;
}

/* ---- references ---- */

arn_json_list arn_json_list_of(arn_json_reader *r, uint32_t array, const char *what) {
    arn_json_list list = {ARN_JSON_NONE, 0, what, NULL, NULL, 0};
    if (arn_json_elements(r, array) == ARN_JSON_NONE) return list;
    list.array = array;
    list.n = arn_json_count(&r->json, array);
    return list;
}

static bool list_before(const void *context, uint32_t a, uint32_t b) {
    const arn_json_list *list = context;
    return strcmp(list->names[a], list->names[b]) < 0;
}

/* The name of a list's element, copied to where it stays; NULL if it has none. */
static const char *name_of_element(arn_json_reader *r, uint32_t element) {
    uint32_t name = element;
    if (arn_json_type_of(&r->json, element) == ARN_JSON_OBJECT) {
        name = arn_json_get(&r->json, element, "name");
    }
    if (name == ARN_JSON_NONE || arn_json_type_of(&r->json, name) != ARN_JSON_STRING) return NULL;
    const size_t raw = arn_json_raw_length(&r->json, r->json.nodes[name].at);
    char *text = arn_region_allocate(&r->texts, raw + 1, 1);
    size_t length;
    if (!text) {
        r->status = arn_no_memory(r->err);
        return NULL;
    }
    return take_text(r, name, text, &length) ? text : NULL;
}

static void build_names(arn_json_reader *r, arn_json_list *list) {
    if (!ARN_REGION_ARRAYS(&r->texts, ARN_ARRAY(list->names, list->n),
                           ARN_ARRAY(list->order, (size_t)list->n * 2))) {
        r->status = arn_no_memory(r->err);
        return;
    }
    uint32_t i = 0;
    ARN_JSON_EACH(r, v, list->array) {
        list->names[i] = name_of_element(r, v);
        if (!arn_json_fine(r)) return;
        if (list->names[i]) list->order[list->n_named++] = i;
        i++;
    }
    arn_sort_ids(list->order, list->n_named, list_before, list, list->order + list->n);
}

static void unknown_name(arn_json_reader *r, const arn_json_list *list, uint32_t value) {
    enum { WORTH_COMPARING = 512 };
    const char *const text = r->json.text + r->json.nodes[value].at;
    const size_t length = arn_json_raw_length(&r->json, r->json.nodes[value].at);
    const char *words[WORTH_COMPARING], *nearest = NULL;
    if (list->n_named <= WORTH_COMPARING) {
        for (uint32_t i = 0; i < list->n_named; i++) words[i] = list->names[list->order[i]];
        nearest = arn_suggest(text + 1, length, words, list->n_named);
    }
    arn_json_fail(r, value, ARENAUT_BAD_INPUT, "no %s is named %.*s%s%s%s", list->what,
                  length < 60 ? (int)length + 2 : 60, text, nearest ? "; did you mean \"" : "",
                  nearest ? nearest : "", nearest ? "\"?" : "");
}

static uint32_t find_name(arn_json_reader *r, arn_json_list *list, uint32_t value) {
    uint32_t low = 0, high = list->n_named;
    const size_t raw = arn_json_raw_length(&r->json, r->json.nodes[value].at);
    char *text = arn_allocate(r->allocator, raw + 1, 1);
    size_t length;
    if (!text) {
        r->status = arn_no_memory(r->err);
        return ARN_JSON_NONE;
    }
    uint32_t found = ARN_JSON_NONE;
    if (take_text(r, value, text, &length)) {
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (strcmp(list->names[list->order[middle]], text) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        const uint32_t *order = list->order;
        if (low == list->n_named || strcmp(list->names[order[low]], text) != 0) {
            unknown_name(r, list, value);
        } else if (low + 1 < list->n_named && strcmp(list->names[order[low + 1]], text) == 0) {
            arn_json_fail(r, value, ARENAUT_BAD_INPUT,
                          "%ss %" PRIu32 " and %" PRIu32 " both have this name; use the index",
                          list->what, order[low], order[low + 1]);
        } else {
            found = order[low];
        }
    }
    arn_release(r->allocator, text);
    return found;
}

uint32_t arn_json_reference(arn_json_reader *r, arn_json_list *list, uint32_t value,
                            uint32_t fallback) {
    if (!arn_json_fine(r) || value == ARN_JSON_NONE) return fallback;
    if (arn_json_type_of(&r->json, value) == ARN_JSON_STRING) {
        if (!list->names) build_names(r, list);
        return arn_json_fine(r) ? find_name(r, list, value) : fallback;
    }
    uint64_t index;
    if (arn_json_to_u64(&r->json, value, &index) && index < list->n) return (uint32_t)index;
    char expected[96];
    snprintf(expected, sizeof expected, "a %s: its name, or an index below %" PRIu32, list->what,
             list->n);
    arn_json_unexpected(r, value, expected);
    return fallback;
}
