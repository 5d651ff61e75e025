/* The command line, parsed, and the table of flags: a flag is one row there and its use in a verb.
 * Rules for all flags, or for all of a kind, are loops over the table. */
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
    text_list names; /* the name of each in a folder of outputs: its last component or, for files
                      * found below a folder, its path from there */
    text_list owned; /* paths that were made here */
    bool folder;     /* a folder was among the files */
    size_t n_first;  /* of the files, those that the first half of the arguments stands for */
    bool help, all;

    /* output and messages */
    const char *output;
    bool force, quiet, json, jsonl, no_progress, hash;
    unsigned verbose;
    const char *color; /* always, never; NULL or auto: as the terminal is */

    /* the input, and its runtime */
    const char *from, *target, *method, *scratch, *passes, *shapes, *dump_after, *inplace, *overlap,
        *rounding, *split, *recompute, *reorder, *share, *kernels, *costs, *device,
        *fit_text; /* --fit as it was given: in bytes, see `fit`, or in percent */
    bool no_alloc_io, preserve_inputs, unmeasured, compact, one_arena, dump_live;
    text_list align, align_op, dim, inplace_op, pool, pin, set;
    const char *pools_file;

    /* how it is planned */
    const char *planner;
    uint64_t effort, time_ms, seed, threads, capacity, budget, max_memory, max_ops,
        max_macs; /* NOT_GIVEN: not given */
    uint64_t fit; /* bytes, once `fit_text` was resolved (fit.h); else NOT_GIVEN */
    bool smallest;

    /* single verbs */
    bool svg, html, ascii, what_if, compare, open, replan;
    uint64_t width;
    const char *steps;
    const char *as, *fail_on_growth;
    bool planned, markdown;
} tool_options;

/* Which flags a verb takes. */
enum flag_group {
    GROUP_COMMON = 1 << 0, /* every verb */
    GROUP_OUTPUT = 1 << 1, /* -o, -f */
    GROUP_JSON = 1 << 2,
    GROUP_INPUT = 1 << 3,   /* reading a file */
    GROUP_PROGRAM = 1 << 4, /* facts about the model */
    GROUP_MEMORY = 1 << 5,  /* where its tensors may lie */
    GROUP_SEARCH = 1 << 6,  /* planning it */
    GROUP_BUDGET = 1 << 7,
    GROUP_VIEW = 1 << 8,
    GROUP_EXPORT = 1 << 9,
    GROUP_DIFF = 1 << 10,
    GROUP_WRITE = 1 << 11,   /* putting the plan into the model */
    GROUP_SEVERAL = 1 << 12, /* several models at once */
    GROUP_HELP = 1 << 13,
    GROUP_MODEL = GROUP_PROGRAM | GROUP_MEMORY, /* turning it into a problem */
};

/* Parses argv[0 .. argc) with the flags of `groups`. On a usage error says so, with the
 * nearest flag for an unknown one, and returns EXIT_USAGE. */
exit_code parse_arguments(int argc, char **argv, const char *verb, unsigned groups,
                          tool_options *options);

void options_default(tool_options *options); /* as without any flag */
void options_free(tool_options *options);

/* Of the flags that a bare placement problem cannot have, the first that was given; NULL if there
 * is none. */
const char *flag_about_models_given(const tool_options *options);

/* "204800", "200K", "200KB", "200KiB", "0.2M": exact, a fraction of a byte is dropped. */
bool parse_size(const char *text, uint64_t *bytes);
/* "60%", "62.5%": from 0.01 % to 100 %, in hundredths of a percent, less than one of which is
 * dropped. */
bool parse_share(const char *text, uint64_t *hundredths);
bool parse_number(const char *text, uint64_t *number);

typedef enum flag_kind {
    FLAG_SWITCH, /* bool */
    FLAG_LEVEL,  /* unsigned, counts up */
    FLAG_TEXT,   /* const char * */
    FLAG_LIST,   /* text_list, repeatable */
    FLAG_NUMBER, /* uint64_t, and so the next three */
    FLAG_PERCENT,
    FLAG_SIZE,
    FLAG_TIME,
} flag_kind;

/* Traits of a flag beside its value. */
enum flag_trait {
    COMMONLY_USED = 1 << 0, /* shown first in help */
    ABOUT_MODELS = 1 << 1,  /* refused for a bare placement problem */
    GIVEN_ONCE = 1 << 2,    /* a second value is an error; of other flags the last one counts */
};

typedef struct flag_row {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    flag_kind kind;
    unsigned group;             /* one of flag_group */
    size_t field;               /* offset in tool_options */
    const char *value;          /* the name of its value in help; NULL: it takes none */
    const char *help;           /* without the default */
    const char *standard;       /* the default; giving it changes nothing */
    const char *choices;        /* "a|b"; NULL: any value */
    const char *list;           /* the verb that lists the values; NULL: none does */
    void (*names)(text_list *); /* adds the values, where a table has them; NULL: see the others */
    unsigned traits;            /* of flag_trait */
} flag_row;

/* The row at `index`, in the order of help; NULL past the end. */
const flag_row *flag_at(size_t index);

/* " (default: ...)", or nothing where there is none to tell. */
void put_default(const flag_row *flag, arenaut_text *out);

#endif
