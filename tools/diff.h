/* Findings of `diff` about two files: buffers that differ, figures, and their forms of output. */
#ifndef TOOL_DIFF_H
#define TOOL_DIFF_H

#include "job.h"
#include "tool.h"
#include "whole_arena.h"

/* The kinds of change, in the order in which they are told; the text is the JSON word. */
#define CHANGE_MAP(XX)   \
    XX(CAME, "came")     \
    XX(WENT, "went")     \
    XX(GREW, "grew")     \
    XX(SHRANK, "shrank") \
    XX(MOVED, "moved")

typedef enum change_kind {
#define XX(name, text) CHANGE_##name,
    CHANGE_MAP(XX)
#undef XX
        CHANGE_KINDS
} change_kind;

typedef struct change {
    change_kind kind;
    uint32_t before, after; /* buffers; ARENAUT_NONE where there is none */
} change;

typedef struct change_list {
    change *items;
    size_t n;
    size_t count[CHANGE_KINDS];
    uint64_t bytes[CHANGE_KINDS]; /* that came, went, were added or taken away; of a moved buffer,
                                   * its size */
} change_list;

const char *change_name(change_kind kind);

/* Buffers are the same if they have the same name, the k-th of a name being the k-th there too; of
 * the rest, those of the same size, class and lifetime, in their order. By kind, then the most
 * bytes first. O(n log n). */
void changes_find(const arenaut_result *before, const arenaut_result *after, change_list *list);
void changes_free(change_list *list);

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

/* Tables: totals, counts, and the largest changes of each kind; with --markdown for a pull request.
 */
void put_diff(const diff *d, arenaut_text *out);
void put_json_diff(const diff *d, bool grew, arenaut_text *out);

#endif
