/* Reader of kernel-set files: arenaut.kernels/1. Mistakes are refused, since a wrong rule corrupts
 * results: unknown keys and words, numbers out of range, rules that no op can reach. Comparing the
 * rules of a list with one another costs the square of their number, which is limited for that. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/suggest.h"
#include "formats/json_reader.h"
#include "formats/kernel_set_json.h"
#include "kernels/kernel_set.h"

enum {
    MOST_RULES = 4096,  /* of a list: several times the largest kernel library */
    MOST_BLOCK = 65536, /* pixels; larger than any row */
    LONGEST_NAME = 31,  /* the room in the mark of a file */
    MOST_INPUTS = 65536,
    MOST_ALIGN = 1 << 30, /* a gibibyte: no page is larger */
};

typedef struct owned_set {
    arenaut_kernel_set set; /* first: callers have a pointer to it */
    arenaut_allocator allocator;
    arn_region region;
} owned_set;

typedef struct reader {
    arn_json_reader json;
    owned_set *owner;
} reader;

static bool fine(const reader *r) { return arn_json_fine(&r->json); }

/* ---- words ---- */

/* "found "rastr"; did you mean 'raster'? (none, any, raster …)" */
static void unknown_word(reader *r, uint32_t value, const char *const *words, size_t n) {
    const arn_json *json = &r->json.json;
    if (arn_json_type_of(json, value) != ARN_JSON_STRING) {
        arn_json_unexpected(&r->json, value, "a string");
        return;
    }
    const uint32_t at = json->nodes[value].at;
    const size_t length = arn_json_raw_length(json, at);
    const char *near = arn_suggest(json->text + at + 1, length, words, n);
    char all[200] = "";
    size_t used = 0;
    for (size_t k = 0; k < n && used < sizeof all; k++) {
        const int wrote = snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", words[k]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    arn_json_fail(&r->json, value, ARENAUT_BAD_INPUT, "found \"%.*s\"; %s%s%sallowed: %s",
                  length < 40 ? (int)length : 40, json->text + at + 1, near ? "did you mean '" : "",
                  near ? near : "", near ? "'? " : "", all);
}

static bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-_.+", c) != NULL);
}

/* A copy that lasts as long as the set; NULL if absent or after an error. */
static const char *read_text(reader *r, uint32_t object, uint32_t value) {
    arn_json_hold(&r->json, object);
    const char *text = arn_json_string(&r->json, value);
    if (!text) return NULL;
    const char *copy = arn_region_copy_text(&r->owner->region, text, strlen(text));
    if (!copy) r->json.status = arn_no_memory(r->json.err);
    return copy;
}

/* The name goes into marks, messages and C headers as it is. */
static void read_name(reader *r, uint32_t value) {
    arn_json_require(&r->json, 0, value, "name");
    const char *name = r->owner->set.name = read_text(r, 0, value);
    if (!fine(r)) return;
    size_t n = 0;
    while (is_name_character(name[n])) n++;
    if (n > 0 && n <= LONGEST_NAME && name[n] == '\0') return;
    arn_json_unexpected(&r->json, value, "1 to 31 letters, digits, '-', '_', '.' and '+'");
}

static void read_base(reader *r, uint32_t value) {
    if (!fine(r) || value == ARN_JSON_NONE) return;
    enum { ROOM = 64 };
    const char *names[ROOM];
    size_t n = 0;
    for (; n < arenaut_kernel_set_count() && n < ROOM; n++) {
        names[n] = arenaut_kernel_set_at(n)->name;
        if (!arn_json_text_is(&r->json.json, value, names[n])) continue;
        r->owner->set.base = arenaut_kernel_set_at(n);
        return;
    }
    unknown_word(r, value, names, n);
}

static const char *read_op(reader *r, uint32_t object, uint32_t value) {
    arn_json_require(&r->json, object, value, "op");
    const char *op = read_text(r, object, value);
    if (op && !*op) arn_json_unexpected(&r->json, value, "the name of an operator");
    return op;
}

static uint32_t read_types(reader *r, uint32_t array) {
    const char *names[ARENAUT_DTYPE_COUNT];
    uint32_t types = 0;
    for (uint32_t k = 0; k < ARENAUT_DTYPE_COUNT; k++)
        names[k] = arenaut_dtype_name((arenaut_dtype)k);
    ARN_JSON_EACH(&r->json, v, array) {
        uint32_t k = 0;
        while (k < ARENAUT_DTYPE_COUNT && !arn_json_text_is(&r->json.json, v, names[k])) k++;
        if (k == ARENAUT_DTYPE_COUNT) unknown_word(r, v, names, ARENAUT_DTYPE_COUNT);
        else types |= UINT32_C(1) << k;
    }
    if (fine(r) && array != ARN_JSON_NONE && types == 0) {
        arn_json_fail(&r->json, array, ARENAUT_BAD_INPUT,
                      "no type is named; leave it out to mean every type");
    }
    return types;
}

/* ---- orders ---- */

/* The number behind "block:"; false if it is none or out of range. */
static bool read_block(const char *text, uint32_t *block) {
    uint32_t number = 0;
    if (*text == '\0') return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        number = number * 10 + (uint32_t)(*text - '0');
        if (number > MOST_BLOCK) return false;
    }
    *block = number;
    return number > 0;
}

static void read_order(reader *r, uint32_t object, uint32_t value, arenaut_kernel_rule *rule) {
    const char *names[ARENAUT_KERNEL_ORDER_COUNT];
    arn_json_require(&r->json, object, value, "order");
    arn_json_hold(&r->json, object);
    const char *text = arn_json_string(&r->json, value);
    if (!text) return;
    const size_t length = strcspn(text, ":");
    for (uint32_t k = 0; k < ARENAUT_KERNEL_ORDER_COUNT; k++) {
        names[k] = arenaut_kernel_order_name((arenaut_kernel_order)k);
        if (strlen(names[k]) != length || memcmp(names[k], text, length) != 0) continue;
        rule->order = (arenaut_kernel_order)k;
        if (arn_kernel_order_has_block(rule->order)) {
            if (text[length] == ':' && read_block(text + length + 1, &rule->block)) return;
            arn_json_unexpected(&r->json, value,
                                "how many pixels, as in \"block:4\"; from 1 to 65536");
        } else if (text[length] != '\0') {
            arn_json_unexpected(&r->json, value, "no number for this order");
        }
        return;
    }
    unknown_word(r, value, names, ARENAUT_KERNEL_ORDER_COUNT);
}

/* ---- rules ---- */

#define FACT_ENUM(name) W_##name,
#define KEY_TEXT(name) #name,
enum { W_TYPES, ARN_KERNEL_FACT_MAP(FACT_ENUM) ARN_KERNEL_CHANNELS_MAP(FACT_ENUM) W_KEYS };
static const char *const when_keys[] = {
    "types", ARN_KERNEL_FACT_MAP(KEY_TEXT) ARN_KERNEL_CHANNELS_MAP(KEY_TEXT)};

static arenaut_kernel_fact read_fact(reader *r, uint32_t value) {
    if (value == ARN_JSON_NONE) return ARENAUT_KERNEL_EITHER;
    return arn_json_flag(&r->json, value, false) ? ARENAUT_KERNEL_YES : ARENAUT_KERNEL_NO;
}

static uint32_t read_limit(reader *r, uint32_t value) {
    const uint32_t limit = arn_json_below(&r->json, value, UINT32_MAX, 0);
    if (fine(r) && value != ARN_JSON_NONE && limit == 0) {
        arn_json_unexpected(&r->json, value, "at least 1 channel");
    }
    return limit;
}

static void check_limits(reader *r, uint32_t value, uint32_t least, uint32_t most) {
    if (!fine(r) || most == 0 || least <= most) return;
    arn_json_fail(&r->json, value, ARENAUT_BAD_INPUT,
                  "no op has at least %" PRIu32 " and at most %" PRIu32 " channels", least, most);
}

static void read_when(reader *r, uint32_t object, arenaut_kernel_when *when) {
    if (!fine(r) || object == ARN_JSON_NONE) return;
    uint32_t v[W_KEYS];
    arn_json_members(&r->json, object, when_keys, W_KEYS, v);
    if (!fine(r)) return;
    when->types = read_types(r, v[W_TYPES]);
#define READ_FACT(name) when->name = read_fact(r, v[W_##name]);
#define READ_LIMIT(name) when->name = read_limit(r, v[W_##name]);
    ARN_KERNEL_FACT_MAP(READ_FACT)
    ARN_KERNEL_CHANNELS_MAP(READ_LIMIT)
    check_limits(r, object, when->min_in_channels, when->max_in_channels);
    check_limits(r, object, when->min_out_channels, when->max_out_channels);
}

static bool fact_covers(arenaut_kernel_fact wide, arenaut_kernel_fact narrow) {
    return wide == ARENAUT_KERNEL_EITHER || wide == narrow;
}

static bool types_cover(uint32_t wide, uint32_t narrow) {
    return wide == 0 || (narrow != 0 && (narrow & ~wide) == 0);
}

static bool range_covers(uint32_t wide_least, uint32_t wide_most, uint32_t least, uint32_t most) {
    return wide_least <= least && (wide_most == 0 || (most != 0 && most <= wide_most));
}

/* Whether `wide` is met by every op that meets `narrow`. */
static bool when_covers(const arenaut_kernel_when *wide, const arenaut_kernel_when *narrow) {
#define FACT_COVERS(name) &&fact_covers(wide->name, narrow->name)
    return types_cover(wide->types, narrow->types) ARN_KERNEL_FACT_MAP(FACT_COVERS) &&
           range_covers(wide->min_in_channels, wide->max_in_channels, narrow->min_in_channels,
                        narrow->max_in_channels) &&
           range_covers(wide->min_out_channels, wide->max_out_channels, narrow->min_out_channels,
                        narrow->max_out_channels);
}

/* A rule counts if no earlier one is met. An unmeasured one is passed over by default, so that it
 * hides no measured one. */
static void check_reachable(reader *r, uint32_t object, const arenaut_kernel_rule *rules,
                            size_t n) {
    const arenaut_kernel_rule *rule = &rules[n];
    for (size_t i = 0; i < n && fine(r); i++) {
        if (strcmp(rules[i].op, rule->op) != 0 || !when_covers(&rules[i].when, &rule->when))
            continue;
        if (!rules[i].measured && rule->measured) continue;
        arn_json_fail(&r->json, object, ARENAUT_BAD_INPUT,
                      "this rule never counts: rule %zu, also for %s, is met before it", i + 1,
                      rule->op);
    }
}

#define RULE_KEYS(XX)    \
    XX(R_OP, "op")       \
    XX(R_WHEN, "when")   \
    XX(R_ORDER, "order") \
    XX(R_EVIDENCE, "evidence")
enum { RULE_KEYS(ARN_KEY_ENUM) R_KEYS };
static const char *const rule_keys[] = {RULE_KEYS(ARN_KEY_TEXT)};

static void read_evidence(reader *r, uint32_t object, uint32_t value, bool *measured) {
    static const char *const words[] = {"measured", "read"};
    arn_json_require(&r->json, object, value, "evidence");
    if (!fine(r)) return;
    *measured = arn_json_text_is(&r->json.json, value, words[0]);
    if (!*measured && !arn_json_text_is(&r->json.json, value, words[1])) {
        unknown_word(r, value, words, 2);
    }
}

static void read_rule(reader *r, uint32_t object, arenaut_kernel_rule *rules, size_t n) {
    uint32_t v[R_KEYS];
    arn_json_members(&r->json, object, rule_keys, R_KEYS, v);
    rules[n].op = read_op(r, object, v[R_OP]);
    read_when(r, v[R_WHEN], &rules[n].when);
    read_order(r, object, v[R_ORDER], &rules[n]);
    read_evidence(r, object, v[R_EVIDENCE], &rules[n].measured);
    if (fine(r)) check_reachable(r, object, rules, n);
}

/* ---- rights and scratch ---- */

static void stated_before(reader *r, uint32_t object, size_t before) {
    arn_json_fail(&r->json, object, ARENAUT_BAD_INPUT, "number %zu of this list says so already",
                  before + 1);
}

static void read_right(reader *r, uint32_t object, arenaut_in_place_rule *rules, size_t n) {
    static const char *const keys[] = {"op", "input", "output", "any_shape"};
    arenaut_in_place_rule *rule = &rules[n];
    uint32_t v[4];
    arn_json_members(&r->json, object, keys, 4, v);
    rule->op = read_op(r, object, v[0]);
    arn_json_require(&r->json, object, v[1], keys[1]);
    rule->input = arn_json_below(&r->json, v[1], MOST_INPUTS, 0);
    rule->output = arn_json_below(&r->json, v[2], MOST_INPUTS, 0);
    rule->any_shape = arn_json_flag(&r->json, v[3], false);
    for (size_t i = 0; i < n && fine(r); i++) {
        const bool same = rules[i].input == rule->input && rules[i].output == rule->output;
        if (same && strcmp(rules[i].op, rule->op) == 0) stated_before(r, object, i);
    }
}

static void read_scratch(reader *r, uint32_t object, arenaut_scratch_rule *rules, size_t n) {
    static const char *const keys[] = {"op", "input", "types"};
    arenaut_scratch_rule *rule = &rules[n];
    uint32_t v[3];
    arn_json_members(&r->json, object, keys, 3, v);
    rule->op = read_op(r, object, v[0]);
    rule->input = arn_json_below(&r->json, v[1], MOST_INPUTS, 0);
    rule->types = fine(r) ? read_types(r, v[2]) : 0;
    if (fine(r) && rule->input != 0 && rule->types == 0) {
        arn_json_fail(&r->json, v[1], ARENAUT_BAD_INPUT,
                      "an input decides by its type; 'types' is missing");
    }
    for (size_t i = 0; i < n && fine(r); i++) {
        if (strcmp(rules[i].op, rule->op) != 0) continue;
        const bool same_input = rules[i].input == rule->input || rules[i].types == 0;
        if (same_input && types_cover(rules[i].types, rule->types)) stated_before(r, object, i);
    }
}

/* ---- types ---- */

/* Types by name; "same" is the type of the argument that decides, "present" any type. `none` if
 * absent. */
static uint32_t read_mask(reader *r, uint32_t array, bool same, uint32_t none) {
    const bool is_same =
        same && array != ARN_JSON_NONE && arn_json_type_of(&r->json.json, array) == ARN_JSON_STRING;
    if (!fine(r) || array == ARN_JSON_NONE) return none;
    if (!is_same) return read_types(r, array);
    if (arn_json_text_is(&r->json.json, array, "same")) return ARENAUT_TYPES_LIKE;
    if (arn_json_text_is(&r->json.json, array, "present")) return ARENAUT_TYPES_ANY;
    arn_json_unexpected(&r->json, array, "\"same\", \"present\", or a list of types");
    return none;
}

#define TYPE_KEYS(XX)        \
    XX(T_OP, "op")           \
    XX(T_INPUT, "input")     \
    XX(T_RUNS, "runs")       \
    XX(T_REFUSED, "refused") \
    XX(T_OPERAND, "operand") \
    XX(T_THIRD, "third")     \
    XX(T_RESULT, "result")   \
    XX(T_SCALED, "scaled")   \
    XX(T_EVIDENCE, "evidence")
enum { TYPE_KEYS(ARN_KEY_ENUM) T_KEYS };
static const char *const type_keys[] = {TYPE_KEYS(ARN_KEY_TEXT)};

/* An op alone: the runtime has it, for arguments of any type. */
static void read_type_rule(reader *r, uint32_t object, arenaut_type_rule *rule) {
    uint32_t v[T_KEYS];
    arn_json_members(&r->json, object, type_keys, T_KEYS, v);
    rule->op = read_op(r, object, v[T_OP]);
    rule->input = arn_json_below(&r->json, v[T_INPUT], MOST_INPUTS, 0);
    rule->refused = read_mask(r, v[T_REFUSED], false, 0);
    rule->runs = read_mask(r, v[T_RUNS], false, rule->refused ? 0 : ARENAUT_TYPES_ANY);
    rule->operand = read_mask(r, v[T_OPERAND], true, 0);
    rule->third = read_mask(r, v[T_THIRD], true, 0);
    rule->result = read_mask(r, v[T_RESULT], true, 0);
    rule->scaled = arn_json_flag(&r->json, v[T_SCALED], false);
    rule->measured = true;
    if (v[T_EVIDENCE] != ARN_JSON_NONE) read_evidence(r, object, v[T_EVIDENCE], &rule->measured);
    if (fine(r) && (rule->runs & rule->refused)) {
        arn_json_fail(&r->json, v[T_REFUSED], ARENAUT_BAD_INPUT,
                      "a type is both among those that run and refused");
    }
}

/* ---- alignments ---- */

static void read_alignment(reader *r, uint32_t object, arenaut_align_rule *rules, size_t n) {
    static const char *const keys[] = {"op", "bytes", "rounds"};
    arenaut_align_rule *rule = &rules[n];
    uint32_t v[3];
    arn_json_members(&r->json, object, keys, 3, v);
    rule->op = read_op(r, object, v[0]);
    arn_json_require(&r->json, object, v[1], keys[1]);
    rule->align = arn_json_below(&r->json, v[1], MOST_ALIGN + 1, 0);
    rule->rounds = arn_json_flag(&r->json, v[2], false);
    if (fine(r) && !arn_is_power_of_two(rule->align))
        arn_json_unexpected(&r->json, v[1], "a power of two");
    for (size_t i = 0; i < n && fine(r); i++) {
        if (strcmp(rules[i].op, rule->op) == 0) stated_before(r, object, i);
    }
}

/* ---- the whole ---- */

#define SET_KEYS(XX)           \
    XX(S_SCHEMA, "schema")     \
    XX(S_NAME, "name")         \
    XX(S_VERSION, "version")   \
    XX(S_SUMMARY, "summary")   \
    XX(S_BASE, "base")         \
    XX(S_RULES, "rules")       \
    XX(S_IN_PLACE, "in_place") \
    XX(S_SCRATCH, "scratch")   \
    XX(S_TYPES, "types")       \
    XX(S_ALIGN, "align")       \
    XX(S_COMPLETE, "complete")
enum { SET_KEYS(ARN_KEY_ENUM) S_KEYS };
static const char *const set_keys[] = {SET_KEYS(ARN_KEY_TEXT)};

/* Room for a list and its end, zeroed; NULL for a list that is absent or empty. */
static void *list_room(reader *r, uint32_t array, size_t element) {
    if (arn_json_elements(&r->json, array) == ARN_JSON_NONE) return NULL;
    const uint32_t n = arn_json_count(&r->json.json, array);
    if (n > MOST_RULES) {
        arn_json_fail(&r->json, array, ARENAUT_BAD_INPUT, "%" PRIu32 " entries; at most %d", n,
                      MOST_RULES);
        return NULL;
    }
    void *room = arn_region_allocate(&r->owner->region, (size_t)n + 1, element);
    if (room) memset(room, 0, ((size_t)n + 1) * element);
    else r->json.status = arn_no_memory(r->json.err);
    return room;
}

static void read_lists(reader *r, const uint32_t *v, arenaut_kernel_set *set) {
    size_t n = 0;
    arenaut_kernel_rule *rules = list_room(r, v[S_RULES], sizeof *rules);
    ARN_JSON_EACH(&r->json, each, v[S_RULES]) {
        read_rule(r, each, rules, n++);
    }
    n = 0;
    arenaut_in_place_rule *rights = list_room(r, v[S_IN_PLACE], sizeof *rights);
    ARN_JSON_EACH(&r->json, each, v[S_IN_PLACE]) {
        read_right(r, each, rights, n++);
    }
    n = 0;
    arenaut_scratch_rule *scratch = list_room(r, v[S_SCRATCH], sizeof *scratch);
    ARN_JSON_EACH(&r->json, each, v[S_SCRATCH]) {
        read_scratch(r, each, scratch, n++);
    }
    n = 0;
    arenaut_type_rule *types = list_room(r, v[S_TYPES], sizeof *types);
    ARN_JSON_EACH(&r->json, each, v[S_TYPES]) {
        read_type_rule(r, each, &types[n++]);
    }
    n = 0;
    arenaut_align_rule *align = list_room(r, v[S_ALIGN], sizeof *align);
    ARN_JSON_EACH(&r->json, each, v[S_ALIGN]) {
        read_alignment(r, each, align, n++);
    }
    set->align = align;
    set->types = types;
    set->complete = arn_json_flag(&r->json, v[S_COMPLETE], false);
    set->rules = rules;
    set->in_place = rights;
    set->scratch = scratch;
}

/* Plans name their kernels by this name, so it must not stand for two things. */
static void check_name_is_free(reader *r, uint32_t value) {
    const arenaut_kernel_set *set = &r->owner->set;
    const arenaut_kernel_set *known = fine(r) ? arenaut_kernel_set_find(set->name) : NULL;
    if (!known || arn_kernel_set_fingerprint(known) == arn_kernel_set_fingerprint(set)) return;
    arn_json_fail(&r->json, value, ARENAUT_BAD_INPUT,
                  "'%s' is a set of this build, which says something else; another name is needed",
                  set->name);
}

static void read_all(reader *r) {
    arenaut_kernel_set *set = &r->owner->set;
    uint32_t v[S_KEYS];
    arn_json_members(&r->json, 0, set_keys, S_KEYS, v);
    read_name(r, v[S_NAME]);
    set->version = read_text(r, 0, v[S_VERSION]);
    set->summary = read_text(r, 0, v[S_SUMMARY]);
    read_base(r, v[S_BASE]);
    if (fine(r)) read_lists(r, v, set);
    if (fine(r)) check_name_is_free(r, v[S_NAME]);
}

arenaut_status arenaut_kernel_set_read(const char *text, size_t size,
                                       const arenaut_allocator *allocator, arenaut_kernel_set **out,
                                       arenaut_error *err) {
    const arenaut_allocator own = arn_allocator_or_default(allocator);
    reader r = {.owner = arn_allocate_zeroed(&own, 1, sizeof *r.owner)};
    if (!r.owner) return arn_no_memory(err);
    r.owner->allocator = own;
    arn_region_init(&r.owner->region, &own);
    arn_json_reader_begin(&r.json, (const uint8_t *)text, size, ARN_KERNELS_SCHEMA, &own, err);
    if (fine(&r)) read_all(&r);
    const arenaut_status st = r.json.status;
    arn_json_reader_free(&r.json);
    if (st == ARENAUT_OK) *out = &r.owner->set;
    else arenaut_kernel_set_free(&r.owner->set);
    return st;
}

void arenaut_kernel_set_free(arenaut_kernel_set *set) {
    if (!set) return;
    owned_set *owner = (owned_set *)set;
    const arenaut_allocator allocator = owner->allocator;
    arn_region_free(&owner->region);
    arn_release(&allocator, owner);
}
