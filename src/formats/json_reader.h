/* Typed reader of JSON, for our own schemas.
 *
 * Like a cursor, a reader keeps its first error: after the first error every call returns its
 * fallback, so that code reads field after field and looks at `status` once. Errors name line,
 * column, key, the value found and the values allowed.
 *
 * Members that are absent and members that are null are the same: ARN_JSON_NONE. */
#ifndef ARN_FORMATS_JSON_READER_H
#define ARN_FORMATS_JSON_READER_H

#include <arenaut/problem.h>

#include "core/fail.h"
#include "core/json.h"
#include "core/memory.h"

typedef struct arn_json_reader {
    arn_json json;
    const arenaut_allocator *allocator;
    arenaut_status status;
    arenaut_error *err;
    arn_region texts; /* decoded strings that last until the end */
    char *held;       /* decoded strings of the object at hand */
    uint32_t held_used, held_capacity;
} arn_json_reader;

/* Whether the text is an object whose "schema" is `family` and a version ("family/1"). */
bool arn_json_has_schema(const uint8_t *data, size_t size, const char *family);

/* Whether the text looks like an object with all of these members; at most 31. */
bool arn_json_has_members(const uint8_t *data, size_t size, const char *const *names, size_t n);

/* Parses; the root must be an object of schema "family/1". The caller frees the reader, with any
 * status. */
void arn_json_reader_begin(arn_json_reader *r, const uint8_t *data, size_t size, const char *family,
                           const arenaut_allocator *allocator, arenaut_error *err);
/* The same for JSON of other schemas than ours: the root may be anything. */
void arn_json_reader_open(arn_json_reader *r, const uint8_t *data, size_t size,
                          const arenaut_allocator *allocator, arenaut_error *err);
void arn_json_reader_free(arn_json_reader *r);

static inline bool arn_json_fine(const arn_json_reader *r) { return r->status == ARENAUT_OK; }

/* Records an error at a value: its line, column and key come in front of the message. */
void arn_json_fail(arn_json_reader *r, uint32_t value, arenaut_status code, const char *format, ...)
    ARN_PRINTF(4, 5);
/* "found …; expected …" */
void arn_json_unexpected(arn_json_reader *r, uint32_t value, const char *expected);
/* Passes on the status of a call on a thing that was read at `value`; its message, found
 * in `inner`, gets the position in front. */
void arn_json_pass(arn_json_reader *r, uint32_t value, arenaut_status st,
                   const arenaut_error *inner);

/* The keys of an object are listed once, as `#define ROW_KEYS(XX) XX(R_NAME, "name") …`;
 * these make the enum and the texts of that. */
#define ARN_KEY_ENUM(id, text) id,
#define ARN_KEY_TEXT(id, text) text,

/* Finds the members of an object: values[k] gets the member named keys[k]. A member of
 * another name is an error that suggests the nearest key, unless it begins with "x-". */
void arn_json_members(arn_json_reader *r, uint32_t object, const char *const *keys, size_t n_keys,
                      uint32_t *values);
/* Fails unless the member, of the given name, is there. */
void arn_json_require(arn_json_reader *r, uint32_t object, uint32_t value, const char *key);

/* The elements of an array; ARN_JSON_NONE if it is empty, absent or none. */
uint32_t arn_json_elements(arn_json_reader *r, uint32_t array);
/* for (each element `v` of that array, until something goes wrong) */
#define ARN_JSON_EACH(r, v, array)                                                         \
    for (uint32_t v = arn_json_elements(r, array); v != ARN_JSON_NONE && arn_json_fine(r); \
         v = arn_json_next(&(r)->json, array, v))
/* Fails unless the value, which must be there, is an array of `n` elements; stores them. */
void arn_json_tuple(arn_json_reader *r, uint32_t array, uint32_t n, uint32_t *values);

uint64_t arn_json_size(arn_json_reader *r, uint32_t value, uint64_t fallback); /* to 2^63 - 1 */
int64_t arn_json_step(arn_json_reader *r, uint32_t value, int64_t fallback);
uint32_t arn_json_below(arn_json_reader *r, uint32_t value, uint32_t limit, uint32_t fallback);
/* Fails if there is a value and it is not `id`. */
void arn_json_check_id(arn_json_reader *r, uint32_t value, uint32_t id);
bool arn_json_flag(arn_json_reader *r, uint32_t value, bool fallback);
/* One of `n` words; word_of gives them. */
uint32_t arn_json_word(arn_json_reader *r, uint32_t value, const char *(*word_of)(uint32_t),
                       uint32_t n, uint32_t fallback);
/* A decoded string without NUL, or NULL if absent. It lives until the next call of
 * arn_json_hold, which must have been called for an object that holds the value. */
const char *arn_json_string(arn_json_reader *r, uint32_t value);
void arn_json_hold(arn_json_reader *r, uint32_t object);

/* {"type": T, "index": I}, or T alone; the host if absent. */
arenaut_device arn_json_device(arn_json_reader *r, uint32_t value);

/* The things of one list, to be referred to by index or by a name that only one has. */
typedef struct arn_json_list {
    uint32_t array; /* ARN_JSON_NONE: an empty list */
    uint32_t n;
    const char *what;   /* "tensor" */
    const char **names; /* built when first needed; NULL entries have none */
    uint32_t *order;    /* by name */
    uint32_t n_named;
} arn_json_list;

/* Elements are objects whose "name" counts, or the names themselves. */
arn_json_list arn_json_list_of(arn_json_reader *r, uint32_t array, const char *what);
uint32_t arn_json_reference(arn_json_reader *r, arn_json_list *list, uint32_t value,
                            uint32_t fallback);

#endif
