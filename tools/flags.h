/* The table of flags: a flag is one row here and its use in a verb. Rules for all flags, or for all
 * of a kind, are loops over the table. */
#ifndef TOOL_FLAGS_H
#define TOOL_FLAGS_H

#include "args.h"

typedef enum flag_kind {
    FLAG_SWITCH, /* bool */
    FLAG_LEVEL,  /* unsigned, counts up */
    FLAG_TEXT,   /* const char * */
    FLAG_LIST,   /* text_list, repeatable */
    FLAG_NUMBER, /* uint64_t, and so the next two */
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
