/* Fresh names for added nodes: no text of the model may be one of them. */
#include <string.h>

#include "formats/pt2/pt2.h"

/* The string that begins at byte `at`. */
static bool take_text(const arn_json *json, uint32_t at, const arenaut_allocator *allocator,
                      arn_fresh_names *fresh) {
    const size_t raw = arn_json_raw_length(json, at);
    const uint8_t *text = (const uint8_t *)json->text + at + 1;
    if (!arn_fresh_names_mind(fresh, text, raw) && !memchr(text, '\\', raw)) return true;
    char *decoded = arn_allocate(allocator, raw, 1);
    if (!decoded) return false;
    const size_t length = arn_json_decode(json, at, decoded);
    const bool room = arn_fresh_names_take(fresh, (const uint8_t *)decoded, length);
    arn_release(allocator, decoded);
    return room;
}

bool arn_pt2_fresh_begin(const arn_json *json, const char *mark, const arenaut_allocator *allocator,
                         arn_region *region, arn_fresh_names *fresh) {
    bool room = true;
    *fresh = (arn_fresh_names){.region = region, .mark = mark};
    for (uint32_t v = 0; v < json->n_nodes && room; v++) {
        const arn_json_node *node = &json->nodes[v];
        if (node->key) room = take_text(json, node->key, allocator, fresh);
        if (room && arn_json_type_of(json, v) == ARN_JSON_STRING) {
            room = take_text(json, node->at, allocator, fresh);
        }
    }
    return room;
}

bool arn_pt2_fresh_name(arn_fresh_names *fresh, const char *base, uint32_t *number,
                        const char **name) {
    const arn_name of = {(const uint8_t *)base, strlen(base)};
    arn_name made;
    if (!arn_fresh_names_make(fresh, of, number, &made)) return false;
    *name = (const char *)made.text;
    return true;
}
