/* JSON parser: RFC 8259 to the letter, into a flat array of nodes that refer to the text.
 *
 * Beyond the grammar it refuses texts that programs disagree about: text that is not UTF-8,
 * surrogates that are not in pairs, two members of one name, and nesting deeper than
 * ARN_JSON_MAX_DEPTH. A byte order mark in front is ignored. Numbers stay text until they are asked
 * for, so that no digit is lost.
 *
 * A value has twelve bytes of node and nothing else. A text of the shortest values, "[1,1,1",
 * thus takes at most twelve times its size, and half of that again for a moment whenever the
 * nodes move to a larger block. The text must outlive the nodes. */
#ifndef ARN_CORE_JSON_H
#define ARN_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>

enum { ARN_JSON_MAX_DEPTH = 128 };
#define ARN_JSON_NONE UINT32_MAX /* no such value */

typedef enum arn_json_type {
    ARN_JSON_NULL,
    ARN_JSON_BOOL,
    ARN_JSON_NUMBER,
    ARN_JSON_STRING,
    ARN_JSON_ARRAY,
    ARN_JSON_OBJECT,
} arn_json_type;

/* Values are named by the index of their node: 0 is the whole text, children follow their
 * parent. */
typedef struct arn_json_node {
    uint32_t at;   /* byte in the text where the value begins, which also tells its type */
    uint32_t key;  /* byte where its name begins, at the quote; 0: it has none */
    uint32_t next; /* the node behind the value and all that it holds */
} arn_json_node;

typedef struct arn_json {
    const char *text;
    size_t size;
    arn_json_node *nodes;
    uint32_t n_nodes, capacity;
    const arenaut_allocator *allocator;
} arn_json;

/* Parses all of `text`; on OK the caller frees *json. BAD_INPUT with line and column in
 * the message and the line in err->at; TOO_LARGE from 4 GiB on. O(size), except that
 * objects with many members take O(n log n) for looking at their names. */
arenaut_status arn_json_parse(const void *text, size_t size, const arenaut_allocator *allocator,
                              arn_json *json, arenaut_error *err);
void arn_json_free(arn_json *json);

arn_json_type arn_json_type_of(const arn_json *json, uint32_t value);
/* "an object", "a number", …: for messages. */
const char *arn_json_type_text(arn_json_type type);

/* The members of an object or the elements of an array, in the order of the text. */
uint32_t arn_json_first(const arn_json *json, uint32_t parent);
uint32_t arn_json_next(const arn_json *json, uint32_t parent, uint32_t child);
uint32_t arn_json_count(const arn_json *json, uint32_t parent); /* O(count) */
/* The member of that name; ARN_JSON_NONE if there is none, or `object` is not one. */
uint32_t arn_json_get(const arn_json *json, uint32_t object, const char *name);

bool arn_json_key_is(const arn_json *json, uint32_t value, const char *name);
bool arn_json_text_is(const arn_json *json, uint32_t value, const char *text);

/* A string begins at byte `at`, a node's `at` or `key`. The first gives the bytes between
 * its quotes as they stand; the second decodes it to `to`, which has room for that many,
 * and returns how many it wrote. Neither ends in a NUL. */
size_t arn_json_raw_length(const arn_json *json, uint32_t at);
size_t arn_json_decode(const arn_json *json, uint32_t at, char *to);

/* The integer that a value is, written as a number (42, 4.2e1) or as a string of decimal
 * digits ("42"), which is how integers past 2^53 travel. False for anything else. */
bool arn_json_to_u64(const arn_json *json, uint32_t value, uint64_t *number);
bool arn_json_to_i64(const arn_json *json, uint32_t value, int64_t *number);

/* The line and column of a byte, both counted from 1, columns in characters. O(at). */
void arn_json_position(const arn_json *json, size_t at, size_t *line, size_t *column);

#endif
