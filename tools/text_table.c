/* Tables of text. Cells are collected first, since a column is as wide as its widest cell; lines
 * are put out with two spaces between columns and none at the end. Terminal codes are here too. */
#include "text_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

void table_begin(text_table *table, const char *align) {
    *table = (text_table){.align = align, .n_columns = strlen(align)};
}

/* Cells come one by one, so the table needs no row count in advance. */
static arenaut_text *next_cell(text_table *table) {
    if (table->n_cells == table->capacity) {
        table->capacity = table->capacity * 2 + 32;
        arenaut_text *grown = must_allocate(table->capacity, sizeof *grown);
        if (table->n_cells) memcpy(grown, table->cells, table->n_cells * sizeof *grown);
        free(table->cells);
        table->cells = grown;
    }
    return &table->cells[table->n_cells++];
}

void table_cell(text_table *table, const char *text) { text_put_clean(next_cell(table), text); }

void table_cellf(text_table *table, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    table_cell(table, text);
}

static const char *cell_text(const text_table *table, size_t index) {
    return table->cells[index].bytes ? table->cells[index].bytes : "";
}

static void print_row(const text_table *table, size_t row, const size_t *widths,
                      arenaut_text *out) {
    size_t owed = 0; /* spaces, put only before more text, so that no line ends in them */
    for (size_t c = 0; c < table->n_columns; c++) {
        if (table->align[c] == 'R' && widths[c] == 0) continue;
        const char *text = cell_text(table, row * table->n_columns + c);
        const size_t room = columns_left(widths[c], columns_of(text));
        if (table->align[c] != 'l') owed += room;
        if (*text) {
            text_pad(out, owed);
            text_put(out, text);
            owed = 0;
        }
        if (!*text && table->align[c] == 'l') owed += room;
        else if (table->align[c] == 'l') owed = room;
        owed += 2;
    }
}

void table_end(text_table *table, arenaut_text *out, const char *heading, const char *plain) {
    size_t widths[TABLE_MAX_COLUMNS] = {0};
    for (size_t i = table->n_cells; i-- > 0;) { /* from below, so that headings come last */
        const size_t c = i % table->n_columns;
        if (i < table->n_columns && table->align[c] == 'R' && widths[c] == 0) continue;
        const size_t width = columns_of(cell_text(table, i));
        if (width > widths[c]) widths[c] = width;
    }
    for (size_t row = 0; row < table->n_cells / table->n_columns; row++) {
        if (row == 0) text_put(out, heading);
        print_row(table, row, widths, out);
        if (row == 0) text_put(out, plain);
        text_put(out, "\n");
    }
    table_drop(table);
}

void table_drop(text_table *table) {
    for (size_t i = 0; i < table->n_cells; i++) arenaut_text_free(&table->cells[i]);
    free(table->cells);
}

/* Colour is decoration: nothing that is printed depends on it. NO_COLOR (no-color.org) and a
 * dumb terminal turn it off, --color overrules both. */
text_style style_for(const char *color_option) {
    static const text_style none = {"", "", "", "", ""};
    static const text_style ansi = {"\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[0m"};
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (color_option && strcmp(color_option, "always") == 0) return ansi;
    if (color_option && strcmp(color_option, "never") == 0) return none;
    if ((no_color && *no_color) || (term && strcmp(term, "dumb") == 0)) return none;
    return os_is_terminal(OS_STANDARD_OUTPUT) ? ansi : none;
}
