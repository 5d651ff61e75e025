/* Findings of `diff` about two files, and their forms of output. */
#ifndef TOOL_DIFF_H
#define TOOL_DIFF_H

#include "changes.h"
#include "job.h"
#include "whole_arena.h"

enum { BEFORE, AFTER, SIDES };

typedef struct side {
    tool_job job;
    arenaut_result result; /* the compared plan */
    arenaut_peak peak;
    const char *made_by;
    bool whole; /* its runtime keeps more than the tensors in its arena, and that is counted */
    reservation need; /* of it all; of the planned memories, where it is not `whole` */
} side;

typedef struct diff {
    const tool_options *options;
    side sides[SIDES];
    change_list changes;
} diff;

/* Values that both files have under one name. */
typedef struct figure {
    const char *kind, *name; /* "pool", "sram" */
    uint64_t bytes[SIDES];
    bool known[SIDES];
} figure;

typedef struct figure_list {
    figure *items;
    size_t n, capacity;
} figure_list;

static inline uint64_t arena_of(const side *s) { return s->result.plan->total; }

/* Whether both are judged by all that has to be reserved, and not by their planned memories. */
static inline bool compares_whole(const diff *d) {
    return d->sides[BEFORE].whole && d->sides[AFTER].whole;
}

/* The arenas of pools, where there are several, and the most bytes of each method's own buffers
 * that are alive at once. Free `items`. */
figure_list diff_figures(const diff *d);

/* The name of a buffer that changed. */
const char *diff_name(const diff *d, change c, char store[24]);

/* Tables: totals, counts, and the largest changes of each kind; with --markdown for a pull request.
 */
void put_diff(const diff *d, arenaut_text *out);
void put_json_diff(const diff *d, bool grew, arenaut_text *out);

#endif
