/* Patcher of JSON text. Changes are kept by their begin. A text that is moved is copied from where
 * it stands, with the changes inside of it, and those that are of this copy alone. */
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
    ARN_RELEASE(patch->allocator, patch->changes.list, patch->here.list);
    patch->changes.list = patch->here.list = NULL;
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

/* Behind the last value inside come only blanks and the brackets of the values around it. */
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

static void add(arn_json_patch *p, arn_json_changes *to, arn_json_change change) {
    if (!arn_grow(p->allocator, (void **)&to->list, &to->capacity, (uint64_t)to->n + 1,
                  sizeof *to->list)) {
        p->no_memory = true;
        return;
    }
    change.here = p->here.n;
    to->list[to->n++] = change;
}

/* In the place of a value. */
static arn_json_change instead_of(const arn_json_patch *p, uint32_t value) {
    return (arn_json_change){
        .at = p->json->nodes[value].at, .end = end_of(p->json, value), .source = ARN_JSON_NONE};
}

void arn_json_patch_number(arn_json_patch *patch, uint32_t value, uint64_t number) {
    arn_json_change change = instead_of(patch, value);
    change.number = number;
    add(patch, &patch->changes, change);
}

void arn_json_patch_text(arn_json_patch *patch, uint32_t value, const char *text) {
    arn_json_change change = instead_of(patch, value);
    change.text = text;
    add(patch, &patch->changes, change);
}

void arn_json_patch_raw(arn_json_patch *patch, uint32_t value, const char *json) {
    arn_json_change change = instead_of(patch, value);
    change.text = json;
    change.raw = true;
    add(patch, &patch->changes, change);
}

void arn_json_patch_move(arn_json_patch *patch, uint32_t value, uint32_t source) {
    arn_json_change change = instead_of(patch, value);
    change.source = source;
    add(patch, &patch->changes, change);
}

void arn_json_patch_add(arn_json_patch *patch, uint32_t parent, const char *name, uint32_t source) {
    if (patch->end == 0 || patch->parent != parent) {
        patch->parent = parent;
        patch->end = end_of(patch->json, last_child(patch->json, parent));
    }
    const arn_json_change change = {
        .at = patch->end, .end = patch->end, .source = source, .text = name};
    add(patch, &patch->changes, change);
}

void arn_json_patch_text_here(arn_json_patch *patch, uint32_t value, const char *text) {
    arn_json_change change = instead_of(patch, value);
    change.text = text;
    add(patch, &patch->here, change);
    if (!patch->no_memory) patch->changes.list[patch->changes.n - 1].n_here++;
}

/* ---- writing ---- */

static bool sort(const arn_json_patch *p, arn_json_change *list, uint32_t n) {
    arn_region region;
    uint64_t *key;
    uint32_t *ids;
    arn_json_change *sorted;
    arn_region_init(&region, p->allocator);
    const bool ok = ARN_REGION_ARRAYS(&region, ARN_ARRAY(key, n), ARN_ARRAY(ids, 2 * (size_t)n),
                                      ARN_ARRAY(sorted, n));
    for (uint32_t i = 0; ok && i < n; i++) {
        key[i] = list[i].at;
        ids[i] = i;
    }
    if (ok) arn_sort_by_key(ids, n, key, ids + n);
    for (uint32_t i = 0; ok && i < n; i++) sorted[i] = list[ids[i]];
    if (ok && n > 0) memcpy(list, sorted, n * sizeof *sorted);
    arn_region_free(&region);
    return ok;
}

static bool sort_all(const arn_json_patch *p) {
    bool ok = true;
    for (uint32_t i = 0; i < p->changes.n && ok; i++) {
        const arn_json_change *c = &p->changes.list[i];
        if (c->n_here > 1) ok = sort(p, p->here.list + c->here, c->n_here);
    }
    return ok && sort(p, p->changes.list, p->changes.n);
}

/* The first change at this byte or later. */
static uint32_t first_from(const arn_json_patch *p, size_t at) {
    uint32_t low = 0, high = p->changes.n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->changes.list[middle].at < at) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool is_added(const arn_json_change *c) { return c->at == c->end; }

static bool is_move(const arn_json_change *c) { return c->source != ARN_JSON_NONE && !is_added(c); }

/* Whether a value that changes is itself replaced: then the change goes with its text. */
static bool is_replaced(const arn_json_changes *changes, uint32_t i) {
    const arn_json_change *c = changes->list;
    return !is_move(&c[i]) && i + 1 < changes->n && c[i + 1].at == c[i].at && is_move(&c[i + 1]);
}

static void put_range(const arn_json_patch *p, size_t at, size_t end, const arn_json_change *user,
                      arn_writer *out);

/* A source is smaller than the value around its change, or is that itself and not entered again.
 * NOLINTNEXTLINE(misc-no-recursion) */
static void put_change(const arn_json_patch *p, const arn_json_change *c, arn_writer *out) {
    if (is_added(c)) arn_puts(out, ", ");
    if (c->raw) arn_puts(out, c->text);
    else if (c->text) arn_put_json_string(out, c->text);
    if (is_added(c) && c->text) arn_puts(out, ": ");
    if (c->source != ARN_JSON_NONE) {
        put_range(p, p->json->nodes[c->source].at, end_of(p->json, c->source), c, out);
    } else if (!c->text) {
        arn_putf(out, "%" PRIu64, c->number);
    }
}

/* [at, end) with the changes in it; `user`: the change of which this is the source, or NULL. A
 * replacement of the source itself is no part of it. NOLINTNEXTLINE(misc-no-recursion) */
static void put_range(const arn_json_patch *p, size_t at, size_t end, const arn_json_change *user,
                      arn_writer *out) {
    const arn_json_change *const all = p->changes.list, *const own = p->here.list;
    uint32_t i = first_from(p, at), here = user ? user->here : 0;
    const uint32_t no_more = user ? here + user->n_here : 0;
    const size_t begin = at;
    for (;;) {
        for (; i < p->changes.n && all[i].at < end; i++) {
            const bool first = user && all[i].at == begin;
            const bool passed = first ? is_move(&all[i]) : is_replaced(&p->changes, i);
            if (all[i].at >= at && !passed) break;
        }
        while (here < no_more && own[here].at < at) here++;
        const bool any = i < p->changes.n && all[i].at < end;
        const arn_json_change *next = any ? &all[i] : NULL;
        if (here < no_more && (!next || own[here].at <= next->at)) next = &own[here++];
        else if (any) i++;
        if (!next) break;
        arn_put(out, p->json->text + at, next->at - at);
        put_change(p, next, out);
        at = next->end;
    }
    arn_put(out, p->json->text + at, end - at);
}

arenaut_status arn_json_patch_write(arn_json_patch *patch, arenaut_sink sink, arenaut_error *err) {
    arn_writer out = arn_writer_to(sink);
    if (patch->no_memory || !sort_all(patch)) return arn_no_memory(err);
    put_range(patch, 0, patch->json->size, NULL, &out);
    return arn_writer_finish(&out, err);
}

bool arn_json_patch_write_value(arn_json_patch *patch, uint32_t value, arn_writer *out) {
    if (patch->no_memory || !sort_all(patch)) return false;
    put_range(patch, patch->json->nodes[value].at, end_of(patch->json, value), NULL, out);
    return !out->failed;
}

void arn_json_put_value(const arn_json *json, uint32_t value, arn_writer *out) {
    const size_t at = json->nodes[value].at;
    arn_put(out, json->text + at, end_of(json, value) - at);
}
