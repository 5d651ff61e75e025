/* Scanner of MLIR text: lines, words, numbers, and names of values and symbols with their numbers.
 */
#include <string.h>

#include "formats/iree/iree_reader.h"

size_t arn_iree_find(arn_iree_line line, size_t from, const char *what) {
    const size_t length = strlen(what);
    while (from < line.length && length <= line.length - from) {
        const char *first = memchr(line.text + from, what[0], line.length - from - length + 1);
        if (!first) return line.length;
        from = (size_t)(first - line.text);
        if (memcmp(first, what, length) == 0) return from;
        from++;
    }
    return line.length;
}

static void skip_blanks(arn_iree_line line, size_t *at) {
    while (*at < line.length && strchr(" \t\r\n", line.text[*at]) && line.text[*at]) ++*at;
}

bool arn_iree_at_end(arn_iree_line line, size_t at) {
    skip_blanks(line, &at);
    return at >= line.length;
}

bool arn_iree_take(arn_iree_line line, size_t *at, const char *what) {
    const size_t length = strlen(what);
    size_t from = *at;
    skip_blanks(line, &from);
    if (length > line.length - from || memcmp(line.text + from, what, length) != 0) return false;
    *at = from + length;
    return true;
}

bool arn_iree_take_number(arn_iree_line line, size_t *at, uint64_t *number) {
    size_t from = *at;
    uint64_t value = 0;
    skip_blanks(line, &from);
    const size_t first = from;
    for (; from < line.length && line.text[from] >= '0' && line.text[from] <= '9'; from++) {
        const uint64_t digit = (uint64_t)(line.text[from] - '0');
        if (value > (ARENAUT_SIZE_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    if (from == first) return false;
    *at = from;
    *number = value;
    return true;
}

static bool belongs_to_name(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '$' || c == '.' || c == '-';
}

bool arn_iree_take_name(arn_iree_line line, size_t *at, char mark, arn_name *name) {
    size_t from = *at;
    skip_blanks(line, &from);
    if (from >= line.length || line.text[from] != mark) return false;
    size_t end = ++from;
    if (end < line.length && line.text[end] == '"') {
        do end++;
        while (end < line.length && line.text[end] != '"');
        if (end < line.length) end++;
    } else {
        while (end < line.length && belongs_to_name(line.text[end])) end++;
    }
    if (end == from) return false;
    *name = (arn_name){(const uint8_t *)line.text + from, end - from};
    *at = end;
    return true;
}

bool arn_iree_same_name(arn_name a, arn_name b) {
    return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

arn_name arn_iree_name_of(const char *text) {
    return (arn_name){(const uint8_t *)text, strlen(text)};
}

/* ---- with the reader's state ---- */

arenaut_status arn_iree_fail(const arn_iree *r, const char *what) {
    return arn_fail(r->err, ARENAUT_BAD_INPUT, r->number, "line %zu: %s", r->number, what);
}

bool arn_iree_next_line(arn_iree *r) {
    if (r->at >= r->text.length) return false;
    const char *first = r->text.text + r->at;
    const char *end = memchr(first, '\n', r->text.length - r->at);
    r->line = (arn_iree_line){first, end ? (size_t)(end - first) : r->text.length - r->at};
    r->at += r->line.length + 1;
    r->number++;
    return true;
}

arenaut_status arn_iree_set(arn_iree *r, arn_name_tree *tree, arn_name name, uint32_t number) {
    bool found = false;
    uint32_t slot = r->n_slots;
    if (!arn_grow(r->allocator, (void **)&r->slots, &r->slot_capacity, (uint64_t)slot + 1,
                  sizeof *r->slots) ||
        !arn_name_tree_add(tree, &r->region, name, &slot, &found)) {
        return arn_no_memory(r->err);
    }
    if (!found) r->n_slots++;
    r->slots[slot] = number;
    return ARENAUT_OK;
}

bool arn_iree_get(const arn_iree *r, const arn_name_tree *tree, arn_name name, uint32_t *number) {
    uint32_t slot;
    if (!arn_name_tree_find(tree, name, &slot)) return false;
    *number = r->slots[slot];
    return true;
}
