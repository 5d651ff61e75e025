/* Shared parts of all verbs: exit codes, messages, and text output. */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/arenaut.h>

#if defined(__MINGW32__) /* %zu as C has it, which Windows' own printf may not take */
#define TOOL_PRINTF(text, first) __attribute__((__format__(__gnu_printf__, text, first)))
#elif defined(__GNUC__)
#define TOOL_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define TOOL_PRINTF(text, first)
#endif

/* The contract with scripts. Of several files the gravest is reported: see graver(). */
typedef enum exit_code {
    EXIT_FINE = 0,
    EXIT_NEGATIVE = 1, /* over budget, check failed, infeasible */
    EXIT_USAGE = 2,
    EXIT_INPUT = 3, /* malformed or unsupported */
    EXIT_IO = 4,    /* input/output, and memory that could not be had */
    EXIT_BUG = 5,   /* ours */
    EXIT_INTERRUPT = 130,
} exit_code;

exit_code graver(exit_code a, exit_code b);
exit_code exit_for_status(arenaut_status status);

/* Messages go to standard error as "arenaut: ABOUT: TEXT"; `about` may be NULL. Control
 * characters that came from a file are shown as '?', so that no model can drive the
 * user's terminal. complain() returns `code`, so that a verb can `return complain(...)`. */
exit_code complain(exit_code code, const char *about, const char *format, ...) TOOL_PRINTF(3, 4);
exit_code complain_error(const char *about, const arenaut_error *err);
/* Out of memory; the message names --max-memory, where that was given. */
exit_code complain_memory(const char *about);
void set_memory_limit(uint64_t bytes);
void set_quiet(bool quiet); /* drops notes, never complaints */
/* Complaints are put into `kept` as well, objects of JSON between commas; NULL: no more. */
void keep_complaints(arenaut_text *kept);
/* Drops complaints as well, for trials whose failure is counted. */
void set_silent(bool silent);
void note(const char *about, const char *format, ...) TOOL_PRINTF(2, 3);

/* Text into a growing string. Running out of memory ends the command: it happens before
 * anything was written, and there is nothing better to do. */
void text_put(arenaut_text *text, const char *string);
void text_printf(arenaut_text *text, const char *format, ...) TOOL_PRINTF(2, 3);
/* The same for a string from a file: control characters and broken UTF-8 become '?'. */
void text_put_clean(arenaut_text *text, const char *string);
void text_put_json(arenaut_text *text, const char *string); /* NULL gives null */
void text_put_json_u64(arenaut_text *text, uint64_t n);     /* above 2^53 - 1 a decimal string */
void text_pad(arenaut_text *text, size_t columns);

typedef struct number_text {
    char text[48];
} number_text;

number_text with_commas(uint64_t n);                       /* 1,234,567 */
number_text in_units(uint64_t bytes);                      /* 54.0 KiB; 672 B below 1 KiB */
number_text tenths_percent(uint64_t part, uint64_t whole); /* 12.3 %, rounded to nearest */
number_text change_percent(uint64_t from, uint64_t to);    /* -25.0 %, +3.1 % */

/* The end of a long name, which says most of a layer's path: "...block_3/conv2d". */
typedef struct short_name {
    char text[64];
} short_name;
short_name shortened(const char *name);

/* width - used, or 0 where more is used. */
size_t columns_left(size_t width, size_t used);

/* The candidate nearest to `word` by edit distance, of which it may be a part, or NULL if none is
 * near enough. Among equals the first one. */
const char *nearest(const char *word, const char *const *candidates, size_t n);

/* The last component of a path. */
const char *base_name(const char *path);

void *must_allocate(size_t count, size_t size); /* zeroed; ends the command if it cannot */

/* Columns of text that line up. */

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
