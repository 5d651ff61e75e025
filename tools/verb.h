/* A verb of the command: one file, one row in verbs.def. */
#ifndef TOOL_VERB_H
#define TOOL_VERB_H

#include "args.h"

typedef struct tool_verb {
    const char *name, *summary;
    const char *arguments;       /* "FILE... [-o OUT]" */
    const char *words;           /* "a|b": its possible arguments, if no files; "": verbs; NULL */
    const char *examples;        /* lines, shown first in its help */
    const char *notes;           /* lines, shown last; NULL: none */
    unsigned groups;             /* flags, see args.h */
    size_t min_files, max_files; /* SIZE_MAX: any number */
    /* Appends results to `out`, which the caller prints; complains about the rest. */
    exit_code (*run)(const tool_options *options, arenaut_text *out);
} tool_verb;

size_t verb_count(void);
const tool_verb *verb_at(size_t index);
const tool_verb *verb_find(const char *name); /* NULL if unknown */

/* The meaning of each exit code, in order; NULL past the end. */
const char *exit_code_at(size_t index, exit_code *code);

void print_verb_help(const tool_verb *verb, arenaut_text *out);
void print_general_help(arenaut_text *out);
exit_code unknown_verb(const char *name);

#endif
