/* The state that the parts of the reader of IREE's programs share: iree_read.c has the order of the
 * lines, takes slabs and their writers, and makes the problem; iree_sizes.c evaluates index values,
 * and iree_text.c is their scanner. */
#ifndef ARN_FORMATS_IREE_IREE_READER_H
#define ARN_FORMATS_IREE_IREE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/format.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/name_tree.h"

/* Gives a problem, of which each slab is a pool. */
arenaut_status arn_iree_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                             const arenaut_allocator *allocator, arenaut_document *out,
                             arenaut_error *err);

/* Scanner of MLIR text, line by line, without a grammar. */

typedef struct arn_iree_line {
    const char *text;
    size_t length;
} arn_iree_line;

/* The first place of `what` in the line from `from` on; the line's length if nowhere. */
size_t arn_iree_find(arn_iree_line line, size_t from, const char *what);
static inline bool arn_iree_has(arn_iree_line line, const char *what) {
    return arn_iree_find(line, 0, what) < line.length;
}

/* Nothing but blanks comes at `at` or behind it. */
bool arn_iree_at_end(arn_iree_line line, size_t at);

/* Each takes its text at *at, after blanks, and steps over it; false, with *at unchanged, for other
 * text. */
bool arn_iree_take(arn_iree_line line, size_t *at, const char *what);
bool arn_iree_take_number(arn_iree_line line, size_t *at, uint64_t *number); /* up to 2^63 - 1 */
/* A name behind `mark`, '%' or '@', without that. Names in quotes keep them. */
bool arn_iree_take_name(arn_iree_line line, size_t *at, char mark, arn_name *name);

bool arn_iree_same_name(arn_name a, arn_name b);
arn_name arn_iree_name_of(const char *text);

enum { ARN_IREE_NAME_LIMIT = 256 }; /* longer names are cut */

/* An index value: known, within a range; one value if both ends are the same. */
typedef struct arn_iree_size {
    bool known;
    uint64_t min, max;
    uint32_t open; /* a dimension without a value that it depends on; ARENAUT_NONE: on none that
                    * could have one */
} arn_iree_size;

typedef struct arn_iree_slice {
    int64_t first, last;
    arn_iree_size size;
    arn_name value; /* of which the size is */
    arn_name op;    /* that writes it first; length 0: not seen */
} arn_iree_slice;

typedef struct arn_iree_pack {
    arn_name function, result;
    uint32_t section, first_slice, n_slices;
    uint64_t align;
} arn_iree_pack;

typedef struct arn_iree {
    arn_iree_line text, line; /* all, and the line at hand */
    size_t at, number;        /* where the next line begins; the number of this one */
    const arenaut_read_options *options;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arn_region region;
    arn_name_tree sizes_by_name, packs_by_name; /* of the function at hand: slots */
    uint32_t *slots;                            /* numbers of sizes and of packs */
    arn_name function, op;                      /* at hand; the op: a dispatch, a fill, … */
    uint32_t section;
    uint64_t align;
    arn_iree_size *sizes;
    arn_iree_slice *slices;
    arn_name_tree dims_by_name;
    const char **dims; /* the names of dimensions that the text leaves open */
    arn_iree_pack packs[ARENAUT_MAX_POOLS];
    uint32_t n_slots, n_sizes, n_slices, n_dims, n_packs;
    uint32_t slot_capacity, size_capacity, slice_capacity, dim_capacity;
    arenaut_problem *problem;
} arn_iree;

/* For "%.*s": at most so much of a name as a message can hold. */
#define ARN_IREE_TEXT(name) \
    ((name).length < 60 ? (int)(name).length : 60), (const char *)(name).text

arenaut_status arn_iree_fail(const arn_iree *r, const char *what);
bool arn_iree_next_line(arn_iree *r); /* false at the end */

/* In a tree of the function at hand. A name that is there again in another part of the function is
 * another value: the last counts. */
arenaut_status arn_iree_set(arn_iree *r, arn_name_tree *tree, arn_name name, uint32_t number);
bool arn_iree_get(const arn_iree *r, const arn_name_tree *tree, arn_name name, uint32_t *number);

/* iree_sizes.c: the line at hand, if it defines an index value. */
arenaut_status arn_iree_read_size(arn_iree *r);
arn_iree_size arn_iree_size_of(const arn_iree *r, arn_name value);
/* Whether the text has all dimensions that the caller gives a value. */
arenaut_status arn_iree_check_dims(const arn_iree *r);

#endif
