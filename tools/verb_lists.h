/* Lists of this build's tables, one line for each row. */
#ifndef TOOL_VERB_LISTS_H
#define TOOL_VERB_LISTS_H

#include "verb.h"

/* One row of a list: name, summary, and a third thing that depends on the list. */
typedef struct list_row {
    const char *name, *summary;
    char more[256];
} list_row;

typedef bool (*row_fn)(size_t index, list_row *row);

/* As a table or, if asked for, as arenaut.list/1 with `kind` and `third` as keys. */
exit_code print_list(const tool_options *options, arenaut_text *out, const char *kind,
                     const char *third, row_fn row_at);

#endif
