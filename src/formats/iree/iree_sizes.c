/* Ranges of index values of a function (interval arithmetic), as far as slices need them:
 * constants, the dimensions of arguments, and arithmetic over them, as ranges:
 *
 *     %c64 = arith.constant 64 : index
 *     %0 = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[0] : index
 *     %7 = arith.muli %0, %c64 overflow<nsw> : index
 *
 * A dimension is called by function, argument and number, main.arg0.0 here, and has the value that
 * the caller gives it. Everything else that makes an index is not known. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "formats/iree/iree_reader.h"

static const arn_iree_size unknown = {.open = ARENAUT_NONE};

static arenaut_status define(arn_iree *r, arn_name name, arn_iree_size size) {
    if (!arn_grow(r->allocator, (void **)&r->sizes, &r->size_capacity, (uint64_t)r->n_sizes + 1,
                  sizeof *r->sizes)) {
        return arn_no_memory(r->err);
    }
    r->sizes[r->n_sizes] = size;
    return arn_iree_set(r, &r->sizes_by_name, name, r->n_sizes++);
}

arn_iree_size arn_iree_size_of(const arn_iree *r, arn_name value) {
    uint32_t number;
    return arn_iree_get(r, &r->sizes_by_name, value, &number) ? r->sizes[number] : unknown;
}

/* ---- dimensions ---- */

static const arenaut_dim *given_for(const arn_iree *r, const char *name) {
    const arenaut_dim *rest = NULL;
    for (size_t i = 0; i < r->options->n_dims; i++) {
        const arenaut_dim *dim = &r->options->dims[i];
        if (strcmp(dim->name, name) == 0) return dim;
        if (strcmp(dim->name, "*") == 0) rest = dim;
    }
    return rest;
}

/* The number of a dimension, which is new or has been seen. */
static arenaut_status find_dim(arn_iree *r, const char *text, uint32_t *number) {
    const arn_name name = {(const uint8_t *)text, strlen(text)};
    bool found = arn_name_tree_find(&r->dims_by_name, name, number);
    if (found) return ARENAUT_OK;
    const char *copy = arn_region_copy_text(&r->region, text, name.length);
    *number = r->n_dims;
    if (!copy ||
        !arn_grow(r->allocator, (void **)&r->dims, &r->dim_capacity, (uint64_t)r->n_dims + 1,
                  sizeof *r->dims) ||
        !arn_name_tree_add(&r->dims_by_name, &r->region, arn_iree_name_of(copy), number, &found)) {
        return arn_no_memory(r->err);
    }
    r->dims[r->n_dims++] = copy;
    return ARENAUT_OK;
}

/* The bytes of a name that is long or cannot be typed say nothing: such a dimension stays open. */
static bool write_dim(const arn_iree *r, arn_name argument, uint64_t k, char *text, size_t room) {
    if (r->function.length > 128 || argument.length > 64 ||
        memchr(r->function.text, '\0', r->function.length)) {
        return false;
    }
    snprintf(text, room, "%.*s.%.*s.%" PRIu64, (int)r->function.length,
             (const char *)r->function.text, (int)argument.length, (const char *)argument.text, k);
    return true;
}

/* "hal.buffer_view.dim<%arg0 : !hal.buffer_view>[0]", from `at` on. */
static arenaut_status read_dim(arn_iree *r, size_t at, arn_iree_size *out) {
    char text[ARN_IREE_NAME_LIMIT];
    arn_name argument;
    uint64_t k;
    if (!arn_iree_take(r->line, &at, "<") || !arn_iree_take_name(r->line, &at, '%', &argument) ||
        !arn_iree_take(r->line, &at, ":") || !arn_iree_take(r->line, &at, "!hal.buffer_view") ||
        !arn_iree_take(r->line, &at, ">") || !arn_iree_take(r->line, &at, "[") ||
        !arn_iree_take_number(r->line, &at, &k) || !write_dim(r, argument, k, text, sizeof text)) {
        return ARENAUT_OK;
    }
    const arenaut_dim *given = given_for(r, text);
    const arenaut_status st = find_dim(r, text, &out->open);
    if (st != ARENAUT_OK || !given) return st;
    if (given->min < 0 || given->max < given->min) {
        return arn_fail(r->err, ARENAUT_BAD_ARGUMENT, 0,
                        "dim %s: %" PRId64 " to %" PRId64 " is no range of sizes", given->name,
                        given->min, given->max);
    }
    *out = (arn_iree_size){true, (uint64_t)given->min, (uint64_t)given->max, ARENAUT_NONE};
    return ARENAUT_OK;
}

static arenaut_status no_such_dim(const arn_iree *r, const char *name) {
    enum { FEW = 8 };
    char names[1000] = "none";
    size_t used = 0;
    for (uint32_t i = 0; i < r->n_dims && i < FEW && used < sizeof names; i++) {
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", r->dims[i]);
    }
    return arn_fail(r->err, ARENAUT_BAD_ARGUMENT, 0,
                    "dim %s: no size is called so; those that are open: %s%s", name, names,
                    r->n_dims > FEW ? ", …" : "");
}

arenaut_status arn_iree_check_dims(const arn_iree *r) {
    for (size_t i = 0; i < r->options->n_dims; i++) {
        const char *name = r->options->dims[i].name;
        uint32_t number;
        const bool all = strcmp(name, "*") == 0 && r->n_dims > 0;
        if (!all && !arn_name_tree_find(&r->dims_by_name, arn_iree_name_of(name), &number)) {
            return no_such_dim(r, name);
        }
    }
    return ARENAUT_OK;
}

/* ---- arithmetic ---- */

typedef enum operation { ADD, SUBTRACT, MULTIPLY, DIVIDE, DIVIDE_UP, REST, LEAST, MOST } operation;

/* Sizes are not negative, so it is one whether an op takes them as signed or not. */
static const struct {
    const char *word;
    operation operation;
} operations[] = {
    {"arith.addi", ADD},
    {"arith.subi", SUBTRACT},
    {"arith.muli", MULTIPLY},
    {"arith.divui", DIVIDE},
    {"arith.divsi", DIVIDE},
    {"arith.floordivsi", DIVIDE},
    {"arith.ceildivui", DIVIDE_UP},
    {"arith.ceildivsi", DIVIDE_UP},
    {"arith.remui", REST},
    {"arith.remsi", REST},
    {"arith.minui", LEAST},
    {"arith.minsi", LEAST},
    {"arith.maxui", MOST},
    {"arith.maxsi", MOST},
};

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* The range of `a` op `b`; false past all sizes, below 0, and where it divides by 0. */
static bool combine(operation op, const arn_iree_size *a, const arn_iree_size *b, uint64_t *min,
                    uint64_t *max) {
    const bool divides = op == DIVIDE || op == DIVIDE_UP || op == REST;
    if (divides && b->min == 0) return false;
    switch (op) {
        case ADD: return arn_add(a->min, b->min, min) && arn_add(a->max, b->max, max);
        case MULTIPLY:
            return arn_multiply(a->min, b->min, min) && arn_multiply(a->max, b->max, max);
        case SUBTRACT:
            *min = a->min - b->max;
            *max = a->max - b->min;
            return a->min >= b->max;
        case DIVIDE:
            *min = a->min / b->max;
            *max = a->max / b->min;
            return true;
        case DIVIDE_UP:
            *min = divide_up(a->min, b->max);
            *max = divide_up(a->max, b->min);
            return true;
        case REST:
            *min = a->min == a->max && b->min == b->max ? a->min % b->min : 0;
            *max = a->min == a->max && b->min == b->max ? *min : arn_min_u64(a->max, b->max - 1);
            return true;
        case LEAST:
            *min = arn_min_u64(a->min, b->min);
            *max = arn_min_u64(a->max, b->max);
            return true;
        case MOST:
            *min = arn_max_u64(a->min, b->min);
            *max = arn_max_u64(a->max, b->max);
            return true;
    }
    return false;
}

static arn_iree_size evaluate(operation op, const arn_iree_size *a, const arn_iree_size *b) {
    arn_iree_size out = unknown;
    if (a->known && b->known) out.known = combine(op, a, b, &out.min, &out.max);
    else out.open = a->open != ARENAUT_NONE ? a->open : b->open;
    return out;
}

/* "%0, %c64", from `at` on. A result of several, "%2#1", is no operand that is known. */
static arn_iree_size read_operation(const arn_iree *r, operation op, size_t at) {
    arn_name first, second;
    if (!arn_iree_take_name(r->line, &at, '%', &first) || !arn_iree_take(r->line, &at, ",") ||
        !arn_iree_take_name(r->line, &at, '%', &second) || arn_iree_take(r->line, &at, "#")) {
        return unknown;
    }
    const arn_iree_size a = arn_iree_size_of(r, first), b = arn_iree_size_of(r, second);
    return evaluate(op, &a, &b);
}

/* "64 : index", from `at` on: the one type of sizes of slices. */
static bool read_constant(const arn_iree *r, size_t at, arn_iree_size *out) {
    uint64_t value;
    if (!arn_iree_take_number(r->line, &at, &value) || !arn_iree_take(r->line, &at, ":") ||
        !arn_iree_take(r->line, &at, "index")) {
        return false;
    }
    *out = (arn_iree_size){true, value, value, ARENAUT_NONE};
    return true;
}

/* "^bb1(%9: index, %10: index):", whose names an inner region may have had before. */
static arenaut_status read_arguments(arn_iree *r) {
    arenaut_status st = ARENAUT_OK;
    for (size_t at = 0; st == ARENAUT_OK; at++) {
        arn_name name;
        at = arn_iree_find(r->line, at, "%");
        if (at >= r->line.length) break;
        if (arn_iree_take_name(r->line, &at, '%', &name)) st = define(r, name, unknown);
    }
    return st;
}

arenaut_status arn_iree_read_size(arn_iree *r) {
    size_t at = 0;
    arn_name name;
    arn_iree_size size = unknown;
    if (arn_iree_take(r->line, &at, "^")) return read_arguments(r);
    if (!arn_iree_take_name(r->line, &at, '%', &name) || !arn_iree_take(r->line, &at, "=")) {
        return ARENAUT_OK;
    }
    if (arn_iree_take(r->line, &at, "arith.constant") && read_constant(r, at, &size)) {
        return define(r, name, size);
    }
    if (arn_iree_take(r->line, &at, "hal.buffer_view.dim")) {
        const arenaut_status st = read_dim(r, at, &size);
        return st == ARENAUT_OK ? define(r, name, size) : st;
    }
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (!arn_iree_take(r->line, &at, operations[i].word)) continue;
        return define(r, name, read_operation(r, operations[i].operation, at));
    }
    return arn_iree_size_of(r, name).known ? define(r, name, unknown) : ARENAUT_OK;
}
