/* Common parts of the JSON writers. */
#ifndef ARN_FORMATS_JSON_WRITER_H
#define ARN_FORMATS_JSON_WRITER_H

#include <arenaut/problem.h>

#include "core/writer.h"

/* `"key": `, with a comma in front unless it is the first of its object. */
void arn_json_put_key(arn_writer *writer, bool *begun, const char *key);
void arn_json_put_text_or_null(arn_writer *writer, const char *text);
/* Members that are left out when they have nothing to say. */
void arn_json_put_text_member(arn_writer *writer, bool *begun, const char *key, const char *text);
void arn_json_put_size_member(arn_writer *writer, bool *begun, const char *key, uint64_t value);
void arn_json_put_device(arn_writer *writer, arenaut_device device);
/* Integers that may be negative, past 2^53 as decimal strings. */
void arn_json_put_i64(arn_writer *writer, int64_t value);

/* For each of `n` things, whether it has a name that no other has: then it can be referred
 * to by it. The caller frees the array; NULL if there is no memory. O(n log n). */
typedef const char *(*arn_name_fn)(const void *context, uint32_t index);
bool *arn_json_unique_names(arn_name_fn name_of, const void *context, uint32_t n,
                            const arenaut_allocator *allocator);

#endif
