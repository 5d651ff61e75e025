/* Columns of text that line up. */
#ifndef TOOL_TEXT_TABLE_H
#define TOOL_TEXT_TABLE_H

#include "tool.h"

enum { TABLE_MAX_COLUMNS = 12 };

typedef struct text_table {
    const char *
        align; /* per column: 'l' or 'r'; 'R': as 'r', left out if all below its heading is empty */
    size_t n_columns, n_cells;
    arenaut_text *cells;
    size_t capacity;
} text_table;

/* `align` is like "lrR"; it is borrowed. */
void table_begin(text_table *table, const char *align);
/* Adds the next cell, row after row. */
void table_cell(text_table *table, const char *text);
void table_cellf(text_table *table, const char *format, ...) TOOL_PRINTF(2, 3);
/* Prints all rows, two spaces between columns, and frees the table. `heading` is put
 * around the first row (terminal codes), and may be "". */
void table_end(text_table *table, arenaut_text *out, const char *heading, const char *plain);

void table_drop(text_table *table); /* frees it unprinted */

/* Terminal codes, or "" where colour is not wanted. */
typedef struct text_style {
    const char *bold, *dim, *good, *bad, *plain;
} text_style;
text_style style_for(const char *color_option);

#endif
