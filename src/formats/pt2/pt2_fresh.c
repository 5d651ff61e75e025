/* Names for what runs again. A name is free if no text of the model is that, be it a value, a
 * node or whatever else may be named: so only texts that look like such names are kept. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/pt2/pt2.h"

static const char mark[] = "__again_";
enum { DIGITS = 10 };

static bool has_mark(const char *text, size_t length) {
    const size_t n = sizeof mark - 1;
    for (size_t i = 0; i + n <= length; i++) {
        if (text[i] == mark[0] && memcmp(text + i, mark, n) == 0) return true;
    }
    return false;
}

/* The string that begins at byte `at`. */
static bool take_text(const arn_json *json, uint32_t at, const arenaut_allocator *allocator,
                      arn_pt2_fresh *fresh) {
    const size_t raw = arn_json_raw_length(json, at);
    const char *text = json->text + at + 1;
    uint32_t number = 0;
    bool found, room = true;
    if (!has_mark(text, raw) && !memchr(text, '\\', raw)) return true;
    char *decoded = arn_allocate(allocator, raw, 1);
    if (!decoded) return false;
    const size_t length = arn_json_decode(json, at, decoded);
    if (has_mark(decoded, length)) {
        const char *kept = arn_region_copy_text(fresh->region, decoded, length);
        const arn_name name = {(const uint8_t *)kept, length};
        room = kept && arn_name_tree_add(&fresh->taken, fresh->region, name, &number, &found);
    }
    arn_release(allocator, decoded);
    return room;
}

bool arn_pt2_fresh_begin(const arn_json *json, const arenaut_allocator *allocator,
                         arn_region *region, arn_pt2_fresh *fresh) {
    bool room = true;
    *fresh = (arn_pt2_fresh){.region = region};
    for (uint32_t v = 0; v < json->n_nodes && room; v++) {
        const arn_json_node *node = &json->nodes[v];
        if (node->key) room = take_text(json, node->key, allocator, fresh);
        if (room && arn_json_type_of(json, v) == ARN_JSON_STRING) {
            room = take_text(json, node->at, allocator, fresh);
        }
    }
    return room;
}

bool arn_pt2_fresh_name(arn_pt2_fresh *fresh, const char *base, uint32_t *number,
                        const char **name) {
    const size_t length = strlen(base), room = length + sizeof mark + DIGITS;
    char *text = arn_region_allocate(fresh->region, room, 1);
    if (!text) return false;
    for (bool found = true; found; ++*number) {
        uint32_t unused = 0;
        snprintf(text, room, "%s%s%" PRIu32, base, mark, *number);
        const arn_name made = {(const uint8_t *)text, strlen(text)};
        if (!arn_name_tree_add(&fresh->taken, fresh->region, made, &unused, &found)) return false;
    }
    --*number;
    *name = text;
    return true;
}
