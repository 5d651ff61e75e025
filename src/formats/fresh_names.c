/* Fresh names for added nodes and their values. A name is free if no text of the file
 * equals it, of a value, a node or anything else: so only texts that look like such names are
 * kept. */
#include "formats/fresh_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 10 };

bool arn_fresh_names_mind(const arn_fresh_names *fresh, const uint8_t *text, size_t length) {
    const char *mark = fresh->mark;
    const size_t n = strlen(mark);
    for (size_t i = 0; i + n <= length; i++) {
        if (text[i] == (uint8_t)mark[0] && memcmp(text + i, mark, n) == 0) return true;
    }
    return false;
}

bool arn_fresh_names_take(arn_fresh_names *fresh, const uint8_t *text, size_t length) {
    uint32_t number = 0;
    bool found;
    if (!arn_fresh_names_mind(fresh, text, length)) return true;
    uint8_t *kept = arn_region_allocate(fresh->region, length, 1);
    if (!kept) return false;
    memcpy(kept, text, length);
    const arn_name name = {kept, length};
    return arn_name_tree_add(&fresh->taken, fresh->region, name, &number, &found);
}

bool arn_fresh_names_make(arn_fresh_names *fresh, arn_name base, uint32_t *number, arn_name *name) {
    const size_t tail = strlen(fresh->mark) + 1 + DIGITS;
    char *text = arn_region_allocate(fresh->region, base.length + tail, 1);
    if (!text) return false;
    if (base.length > 0) memcpy(text, base.text, base.length);
    for (bool found = true; found; ++*number) {
        uint32_t unused = 0;
        snprintf(text + base.length, tail, "%s%" PRIu32, fresh->mark, *number);
        *name = (arn_name){(const uint8_t *)text, base.length + strlen(text + base.length)};
        if (!arn_name_tree_add(&fresh->taken, fresh->region, *name, &unused, &found)) return false;
    }
    --*number;
    return true;
}
