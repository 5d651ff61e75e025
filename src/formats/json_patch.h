/* Writing a JSON text once more, with some values changed: what is not mentioned stays as it
 * stands, to the byte. */
#ifndef ARN_FORMATS_JSON_PATCH_H
#define ARN_FORMATS_JSON_PATCH_H

#include "core/json.h"
#include "core/writer.h"

/* One value: it gets the text of another one, changes inside of that included, or a number. */
typedef struct arn_json_change {
    size_t at, end;
    uint32_t source; /* a value; ARN_JSON_NONE: it becomes `number` */
    uint32_t number;
} arn_json_change;

typedef struct arn_json_patch {
    const arn_json *json;
    const arenaut_allocator *allocator;
    arn_json_change *changes;
    uint32_t n, capacity;
    bool no_memory;
} arn_json_patch;

arn_json_patch arn_json_patch_begin(const arn_json *json, const arenaut_allocator *allocator);
void arn_json_patch_free(arn_json_patch *patch);

/* A value is changed once, and no value that is moved away holds one that another takes the place
 * of. */
void arn_json_patch_number(arn_json_patch *patch, uint32_t value, uint32_t number);
void arn_json_patch_move(arn_json_patch *patch, uint32_t value, uint32_t source);

/* Writes the text. IO if the sink refuses, NO_MEMORY if a change found no room. */
arenaut_status arn_json_patch_write(arn_json_patch *patch, arenaut_sink sink, arenaut_error *err);

#endif
