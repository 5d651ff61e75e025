/* The state that the parts of the reader of IREE's programs share: iree_read.c has the order of the
 * lines, iree_sizes.c evaluates index values, iree_slabs.c takes slabs and their writers,
 * iree_problem.c makes the problem, and iree_text.c is their scanner. */
#ifndef ARN_FORMATS_IREE_IREE_READER_H
#define ARN_FORMATS_IREE_IREE_READER_H

#include "core/fail.h"
#include "core/memory.h"
#include "formats/iree/iree.h"
#include "formats/iree/iree_text.h"

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

/* iree_slabs.c: a slab, whose word ends at `at` of the line at hand; and the line at hand, if it
 * names a writer. */
arenaut_status arn_iree_read_pack(arn_iree *r, size_t at);
void arn_iree_read_command(arn_iree *r);

/* Makes r->problem. */
arenaut_status arn_iree_make_problem(arn_iree *r);

#endif
