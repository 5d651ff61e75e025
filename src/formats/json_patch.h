/* A patch of a JSON text: some values change, all other text stays, to the byte. */
#ifndef ARN_FORMATS_JSON_PATCH_H
#define ARN_FORMATS_JSON_PATCH_H

#include "core/json.h"
#include "core/writer.h"

/* One value: it gets the text of another one, changes inside of that included, or a number, or a
 * string. Or an addition to an array or an object, behind all that it has. */
typedef struct arn_json_change {
    size_t at, end;  /* an addition has no bytes in the old text */
    uint32_t source; /* a value; ARN_JSON_NONE: it becomes `text`, or else `number` */
    uint64_t number;
    const char *text;      /* of an addition to an object: its name */
    bool raw;              /* the text is JSON, else it becomes a string */
    uint32_t n_here, here; /* strings that differ in this use of the source alone */
} arn_json_change;

/* A list of changes, in the order of the text once it is sorted. */
typedef struct arn_json_changes {
    arn_json_change *list;
    uint32_t n, capacity;
} arn_json_changes;

typedef struct arn_json_patch {
    const arn_json *json;
    const arenaut_allocator *allocator;
    arn_json_changes changes, here;
    uint32_t parent; /* to which something was added last, */
    size_t end;      /* and the end of its last value; 0: nothing yet */
    bool no_memory;
} arn_json_patch;

arn_json_patch arn_json_patch_begin(const arn_json *json, const arenaut_allocator *allocator);
void arn_json_patch_free(arn_json_patch *patch);

/* A value becomes a number or a string once, and gets the text of another one once; if both, its
 * new value stands everywhere that its own text does. No value gets the text of one that holds it.
 * Texts are not copied: they must last until the patch is written. */
void arn_json_patch_number(arn_json_patch *patch, uint32_t value, uint64_t number);
void arn_json_patch_text(arn_json_patch *patch, uint32_t value, const char *text);
void arn_json_patch_move(arn_json_patch *patch, uint32_t value, uint32_t source);

/* A value becomes this JSON text, instead of a number or a string. */
void arn_json_patch_raw(arn_json_patch *patch, uint32_t value, const char *json);

/* Adds the text of `source` to an array or an object, which has something already; `name`: in an
 * object. Additions keep their order. */
void arn_json_patch_add(arn_json_patch *patch, uint32_t parent, const char *name, uint32_t source);

/* In the last moved or added text, and only there, a value inside of the source becomes a
 * string. */
void arn_json_patch_text_here(arn_json_patch *patch, uint32_t value, const char *text);

/* Writes the text. IO if the sink refuses, NO_MEMORY if a change found no room. */
arenaut_status arn_json_patch_write(arn_json_patch *patch, arenaut_sink sink, arenaut_error *err);

/* Writes the text of one value, with the changes in it. False if a change found no room, or the
 * sink refused. */
bool arn_json_patch_write_value(arn_json_patch *patch, uint32_t value, arn_writer *out);
/* Writes the text of a value as it stands. */
void arn_json_put_value(const arn_json *json, uint32_t value, arn_writer *out);

#endif
