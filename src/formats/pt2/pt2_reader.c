/* Common functions of the .pt2 reader: members of objects, texts, lists. All of them stop at the
 * first error, which r->json keeps; a text is copied once. pt2_read.c is the walk. */
#include <string.h>

#include "core/fail.h"
#include "formats/pt2/pt2.h"

uint32_t arn_pt2_get(const arn_pt2 *r, uint32_t object, const char *name) {
    return object == ARN_JSON_NONE ? ARN_JSON_NONE : arn_json_get(&r->json.json, object, name);
}

uint32_t arn_pt2_need(arn_pt2 *r, uint32_t object, const char *name) {
    const uint32_t value = arn_pt2_get(r, object, name);
    if (value == ARN_JSON_NONE && arn_pt2_fine(r)) {
        arn_json_fail(&r->json, object == ARN_JSON_NONE ? 0 : object, ARENAUT_BAD_INPUT,
                      "'%s' is missing", name);
    }
    return value;
}

/* The string whose text begins at `at`; it belongs to `value`. */
static const char *copy_text(arn_pt2 *r, uint32_t at, uint32_t value) {
    char *text = arn_region_allocate(&r->names, arn_json_raw_length(&r->json.json, at) + 1, 1);
    if (!text) {
        r->json.status = arn_no_memory(r->json.err);
        return NULL;
    }
    const size_t length = arn_json_decode(&r->json.json, at, text);
    text[length] = '\0';
    if (strlen(text) == length) return text;
    arn_json_fail(&r->json, value, ARENAUT_BAD_INPUT, "a NUL character in a name");
    return NULL;
}

const char *arn_pt2_text(arn_pt2 *r, uint32_t value) {
    if (!arn_pt2_fine(r)) return NULL;
    if (value == ARN_JSON_NONE || arn_json_type_of(&r->json.json, value) != ARN_JSON_STRING) {
        arn_json_unexpected(&r->json, value == ARN_JSON_NONE ? 0 : value, "a string");
        return NULL;
    }
    return copy_text(r, r->json.json.nodes[value].at, value);
}

const char *arn_pt2_key(arn_pt2 *r, uint32_t value) {
    return copy_text(r, r->json.json.nodes[value].key, value);
}

bool arn_pt2_grow(arn_pt2 *r, void **array, uint32_t *capacity, uint64_t needed, size_t size) {
    if (arn_grow(r->json.allocator, array, capacity, needed, size)) return true;
    if (arn_pt2_fine(r)) r->json.status = arn_no_memory(r->json.err);
    return false;
}

bool arn_pt2_push(arn_pt2 *r, arn_id_list *list, uint32_t id) {
    if (arn_id_list_push(list, r->json.allocator, id)) return true;
    r->json.status = arn_no_memory(r->json.err);
    return false;
}

/* Operators without overloads end in ".default", which says nothing. */
const char *arn_pt2_operator_name(arn_pt2 *r, const char *target) {
    const char *name = strncmp(target, "torch.ops.", 10) == 0 ? target + 10 : target;
    const char *dot = name == target ? NULL : strchr(name, '.');
    const size_t length = strlen(name);
    char *text = arn_region_allocate(&r->names, length + 2, 1);
    if (!text) {
        r->json.status = arn_no_memory(r->json.err);
        return NULL;
    }
    if (!dot) {
        memcpy(text, name, length + 1);
        return text;
    }
    const size_t space = (size_t)(dot - name);
    memcpy(text, name, space);
    memcpy(text + space, "::", 2);
    memcpy(text + space + 2, dot + 1, length - space);
    const size_t end = strlen(text);
    if (end > 8 && strcmp(text + end - 8, ".default") == 0) text[end - 8] = '\0';
    return text;
}
