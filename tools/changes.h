/* Differences between the buffers of two planned inputs. */
#ifndef TOOL_CHANGES_H
#define TOOL_CHANGES_H

#include "tool.h"

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

#endif
