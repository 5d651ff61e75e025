/* Rules of the user's own about ops: what their kernels may write over, and how they want their
 * arguments aligned. */
#ifndef TOOL_RULES_H
#define TOOL_RULES_H

#include "args.h"

typedef struct op_rules {
    arenaut_in_place_rule *in_place;
    arenaut_align_rule *align;
    size_t n_in_place;
    uint32_t n_align;
    char **names; /* what the rules' names are kept in */
    size_t n_names;
} op_rules;

/* Reads --inplace-op and --align-op; complains about what is not well formed. */
exit_code parse_op_rules(const tool_options *options, op_rules *rules);
void op_rules_free(op_rules *rules);

/* Says which rules speak of ops that the program does not have. */
void note_idle_rules(const op_rules *rules, const char *path, const arenaut_program *program);

/* Whether anything is to be written over operands. */
bool wants_in_place(const tool_options *options);

#endif
