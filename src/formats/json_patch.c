/* Changes are kept by where they begin. A text that is moved is copied from where it stands, with
 * the numbers that change in it. */
#include "formats/json_patch.h"

#include <inttypes.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"

arn_json_patch arn_json_patch_begin(const arn_json *json, const arenaut_allocator *allocator) {
    const arn_json_patch patch = {.json = json, .allocator = allocator};
    return patch;
}

void arn_json_patch_free(arn_json_patch *patch) {
    arn_release(patch->allocator, patch->changes);
    patch->changes = NULL;
}

/* ---- where values end ---- */

static bool ends_scalar(char c) { return strchr(",]} \t\r\n", c) != NULL; }

/* Behind a value that holds no others. */
static size_t end_of_plain(const arn_json *json, uint32_t value) {
    const arn_json_type type = arn_json_type_of(json, value);
    size_t at = json->nodes[value].at;
    if (type == ARN_JSON_STRING) return at + arn_json_raw_length(json, (uint32_t)at) + 2;
    const char close = type == ARN_JSON_ARRAY ? ']' : '}';
    if (type == ARN_JSON_ARRAY || type == ARN_JSON_OBJECT) {
        while (json->text[at] != close) at++;
        return at + 1;
    }
    while (at < json->size && !ends_scalar(json->text[at])) at++;
    return at;
}

static uint32_t last_child(const arn_json *json, uint32_t value) {
    uint32_t last = ARN_JSON_NONE;
    for (uint32_t v = arn_json_first(json, value); v != ARN_JSON_NONE;
         v = arn_json_next(json, value, v)) {
        last = v;
    }
    return last;
}

/* Behind the last value inside come only blanks and the brackets of those around it. */
static size_t end_of(const arn_json *json, uint32_t value) {
    uint32_t depth = 0, inner = value;
    for (uint32_t v = last_child(json, inner); v != ARN_JSON_NONE; v = last_child(json, inner)) {
        inner = v;
        depth++;
    }
    size_t at = end_of_plain(json, inner);
    for (; depth > 0; at++) depth -= json->text[at] == ']' || json->text[at] == '}';
    return at;
}

/* ---- changes ---- */

static void add(arn_json_patch *p, uint32_t value, uint32_t source, uint32_t number) {
    if (!arn_grow(p->allocator, (void **)&p->changes, &p->capacity, (uint64_t)p->n + 1,
                  sizeof *p->changes)) {
        p->no_memory = true;
        return;
    }
    const arn_json_change change = {p->json->nodes[value].at, end_of(p->json, value), source,
                                    number};
    p->changes[p->n++] = change;
}

void arn_json_patch_number(arn_json_patch *patch, uint32_t value, uint32_t number) {
    add(patch, value, ARN_JSON_NONE, number);
}

void arn_json_patch_move(arn_json_patch *patch, uint32_t value, uint32_t source) {
    add(patch, value, source, 0);
}

/* ---- writing ---- */

static bool sort(arn_json_patch *p) {
    uint64_t *key = arn_allocate(p->allocator, p->n, sizeof *key);
    uint32_t *ids = arn_allocate(p->allocator, p->n, 2 * sizeof *ids);
    arn_json_change *sorted = arn_allocate(p->allocator, p->n, sizeof *sorted);
    const bool ok = key && ids && sorted;
    for (uint32_t i = 0; ok && i < p->n; i++) {
        key[i] = p->changes[i].at;
        ids[i] = i;
    }
    if (ok) arn_sort_by_key(ids, p->n, key, ids + p->n);
    for (uint32_t i = 0; ok && i < p->n; i++) sorted[i] = p->changes[ids[i]];
    if (ok && p->n > 0) memcpy(p->changes, sorted, p->n * sizeof *sorted);
    arn_release(p->allocator, key);
    arn_release(p->allocator, ids);
    arn_release(p->allocator, sorted);
    return ok;
}

/* The first change at this byte or later. */
static uint32_t first_from(const arn_json_patch *p, size_t at) {
    uint32_t low = 0, high = p->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->changes[middle].at < at) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* [at, end) with the numbers in it that change. */
static void put_with_numbers(const arn_json_patch *p, size_t at, size_t end, arn_writer *out) {
    for (uint32_t i = first_from(p, at); i < p->n && p->changes[i].at < end; i++) {
        const arn_json_change *c = &p->changes[i];
        if (c->source != ARN_JSON_NONE) continue;
        arn_put(out, p->json->text + at, c->at - at);
        arn_putf(out, "%" PRIu32, c->number);
        at = c->end;
    }
    arn_put(out, p->json->text + at, end - at);
}

arenaut_status arn_json_patch_write(arn_json_patch *patch, arenaut_sink sink, arenaut_error *err) {
    const arn_json *json = patch->json;
    arn_writer out = arn_writer_to(sink);
    size_t copied = 0;
    if (patch->no_memory || !sort(patch)) return arn_no_memory(err);
    for (uint32_t i = 0; i < patch->n; i++) {
        const arn_json_change *c = &patch->changes[i];
        if (c->source == ARN_JSON_NONE) continue;
        put_with_numbers(patch, copied, c->at, &out);
        put_with_numbers(patch, json->nodes[c->source].at, end_of(json, c->source), &out);
        copied = c->end;
    }
    put_with_numbers(patch, copied, json->size, &out);
    return arn_writer_finish(&out, err);
}
