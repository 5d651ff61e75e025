/* Tensors and scalars among the arguments of a node: alone, in lists, in lists of lists, by name.
 * The reader, its attributes and the writer count them alike. O(length of the argument). */
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/pt2/pt2.h"

static bool list_elements(const arn_json *json, uint32_t array, const arenaut_allocator *allocator,
                          arn_id_list *list) {
    bool room = true;
    for (uint32_t v = arn_json_first(json, array); v != ARN_JSON_NONE && room;
         v = arn_json_next(json, array, v)) {
        const uint32_t tensor = arn_json_get(json, v, "as_tensor");
        if (arn_json_get(json, v, "as_none") != ARN_JSON_NONE) continue;
        room = arn_id_list_push(list, allocator, tensor == ARN_JSON_NONE ? v : tensor);
    }
    return room;
}

static const char *const lists[] = {"as_tensors", "as_optional_tensors"};
enum { N_LISTS = sizeof lists / sizeof *lists };

/* Lists of lists, and arguments by name. NOLINTNEXTLINE(misc-no-recursion): as deep as the text */
static bool list_nested(const arn_json *json, uint32_t arg, const arenaut_allocator *allocator,
                        arn_id_list *list) {
    const uint32_t lists_in = arn_json_get(json, arg, "as_nested_tensors");
    const uint32_t arguments = arn_json_get(json, arg, "as_string_to_argument");
    bool room = true;
    for (uint32_t v = lists_in == ARN_JSON_NONE ? lists_in : arn_json_first(json, lists_in);
         v != ARN_JSON_NONE && room; v = arn_json_next(json, lists_in, v)) {
        room = list_elements(json, v, allocator, list);
    }
    for (uint32_t v = arguments == ARN_JSON_NONE ? arguments : arn_json_first(json, arguments);
         v != ARN_JSON_NONE && room; v = arn_json_next(json, arguments, v)) {
        room = arn_pt2_list_tensors(json, v, allocator, list);
    }
    return room;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
bool arn_pt2_list_tensors(const arn_json *json, uint32_t arg, const arenaut_allocator *allocator,
                          arn_id_list *list) {
    uint32_t value = arn_json_get(json, arg, "as_tensor");
    bool room = value == ARN_JSON_NONE || arn_id_list_push(list, allocator, value);
    value = arn_json_get(json, arg, "as_optional_tensor");
    if (value != ARN_JSON_NONE) value = arn_json_get(json, value, "as_tensor");
    if (value != ARN_JSON_NONE) room = room && arn_id_list_push(list, allocator, value);
    for (size_t k = 0; k < N_LISTS; k++) {
        value = arn_json_get(json, arg, lists[k]);
        if (value != ARN_JSON_NONE) room = room && list_elements(json, value, allocator, list);
    }
    return room && list_nested(json, arg, allocator, list);
}

void arn_pt2_push_tensors(arn_pt2 *r, const arn_pt2_scope *scope, uint32_t arg, arn_id_list *list) {
    for (size_t k = 0; k < N_LISTS && arn_pt2_fine(r); k++) {
        (void)arn_json_elements(&r->json, arn_pt2_get(r, arg, lists[k])); /* fails if it is none */
    }
    if (!arn_pt2_fine(r)) return;
    r->named.n = 0;
    if (!arn_pt2_list_tensors(&r->json.json, arg, r->json.allocator, &r->named)) {
        r->json.status = arn_no_memory(r->json.err);
    }
    for (uint32_t i = 0; i < r->named.n && arn_pt2_fine(r); i++) {
        const uint32_t *place = arn_pt2_place(r, scope, arn_pt2_need(r, r->named.ids[i], "name"));
        if (place) arn_pt2_push(r, list, *place);
    }
}

bool arn_pt2_names_scalar(const arn_json *json, uint32_t at) {
    for (uint32_t v = at + 1; v < json->nodes[at].next; v++) {
        if (arn_json_type_of(json, v) == ARN_JSON_STRING && arn_json_key_is(json, v, "as_name")) {
            return true;
        }
    }
    return false;
}
