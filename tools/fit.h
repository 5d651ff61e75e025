/* Every lever that is allowed, and the gentlest of them with which a file fits. */
#ifndef TOOL_FIT_H
#define TOOL_FIT_H

#include "whole_arena.h"

/* Whether a flag of a lever is given, and not "off". */
bool lever_is_on(const char *value);

/* Whether the runtime obeys plans in its files: else no plan makes a file fit. */
exit_code fit_check_obeyed(const tool_job *job);

/* Whether --fit is the budget of rematerialization, in one plan. */
bool fits_by_rematerializing(const tool_options *options);
/* Refuses --max-ops, --max-macs and --rounding where nothing is asked for that they bound. */
exit_code refuse_idle_limits(const tool_options *options);

/* `options`, with the bytes of --fit. A percentage is of the bytes to reserve for the file as
 * it is or, with --recompute on, of the plan in which each op runs once, in the file's order. A
 * fraction of a byte is dropped. */
exit_code resolve_fit(const tool_options *options, tool_options *resolved);

/* The combination that was found, as options for planning the file. */
typedef struct fit {
    tool_options options; /* the given options with the levers that are taken; borrows from them */
    const char *keep;     /* why the file stays as it is; NULL: a plan of ours is taken */
    arenaut_text table,
        json; /* the needs of each combination, as text and as a member of a JSON document */
} fit;

/* Plans the one file of `options` with each combination of the levers that no flag decides, for
 * --fit from the gentlest on until one needs no more than that, for --smallest all of them.
 * EXIT_NEGATIVE, with the least of all and what is proven of it, where none fits. fit_free is
 * always due. */
exit_code find_fit(const tool_options *options, fit *found);
void fit_free(fit *found);

/* A combination of levers, planned: the flags that choose it, and its needs. */
typedef struct lever_choice {
    tool_options options;
    arenaut_text name;
    reservation need;
    bool as_it_is; /* the model stays so, whatever the levers */
} lever_choice;

typedef struct choice_list {
    lever_choice *items; /* the gentlest first */
    size_t n;
    bool cut_short; /* time ended a search */
} choice_list;

/* Every possible combination for one file; tiles for the least memory. choices_free is owed. */
exit_code find_choices(const tool_options *options, choice_list *found);
void choices_free(choice_list *choices);

#endif
