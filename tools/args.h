/* The command line: one table of flags, used to parse and to print help. */
#ifndef TOOL_ARGS_H
#define TOOL_ARGS_H

#include "tool.h"

typedef struct text_list {
    const char **items;
    size_t n;
} text_list;

#define NOT_GIVEN UINT64_MAX

/* Ends the command where there is no memory. */
void list_add(text_list *list, const char *item);

typedef struct tool_options {
    text_list files;
    text_list names; /* what each is called in a folder of outputs: its last component or, for
                      * what was found below a folder, its path from there */
    text_list owned; /* paths that were made here */
    bool folder;     /* a folder was among the files */
    bool help;

    /* output and messages */
    const char *output;
    bool force, quiet, json, jsonl, no_progress, hash;
    unsigned verbose;
    const char *color; /* auto, always, never */

    /* what is read, and for which runtime */
    const char *from, *target, *method, *scratch, *passes, *shapes, *dump_after, *inplace, *reorder,
        *share;
    bool no_alloc_io, preserve_inputs;
    text_list align, align_op, dim, inplace_op, pool, pin, set;
    const char *pools_file;

    /* how it is planned */
    const char *planner;
    uint64_t effort, time_ms, seed, threads, capacity, budget,
        max_memory; /* NOT_GIVEN: not given */

    /* single verbs */
    bool svg, ascii;
    uint64_t width;
    const char *as;
} tool_options;

/* Which flags a verb takes. */
enum flag_group {
    GROUP_COMMON = 1 << 0, /* every verb */
    GROUP_OUTPUT = 1 << 1, /* -o, -f */
    GROUP_JSON = 1 << 2,
    GROUP_INPUT = 1 << 3,  /* reading a file */
    GROUP_MODEL = 1 << 4,  /* turning it into a problem */
    GROUP_SEARCH = 1 << 5, /* planning it */
    GROUP_BUDGET = 1 << 6,
    GROUP_VIEW = 1 << 7,
    GROUP_EXPORT = 1 << 8,
};

/* Parses argv[0 .. argc) with the flags of `groups`. On a usage error says so, with the
 * nearest flag for an unknown one, and returns EXIT_USAGE. */
exit_code parse_arguments(int argc, char **argv, const char *verb, unsigned groups,
                          tool_options *options);
void options_free(tool_options *options);

/* A row of the table of flags, for those who list them. */
typedef struct flag_entry {
    const char *name;    /* without the dashes */
    char letter;         /* 0: none */
    unsigned group;      /* one of flag_group */
    const char *value;   /* what help calls its value; NULL: it takes none */
    const char *choices; /* "a|b"; NULL: any value */
    const char *help;
} flag_entry;

/* The row at `index`, in the order of help; false past the end. */
bool flag_at(size_t index, flag_entry *entry);

/* The help lines of these groups' flags, and their defaults. */
void print_flags(arenaut_text *out, unsigned groups);

/* "204800", "200K", "200KB", "200KiB", "0.2M": exact, a fraction of a byte is dropped. */
bool parse_size(const char *text, uint64_t *bytes);
/* "2s", "500ms", "1.5m", "2" (seconds), in milliseconds. */
bool parse_time(const char *text, uint64_t *milliseconds);
bool parse_number(const char *text, uint64_t *number);

#endif
