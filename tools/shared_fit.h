/* Levers for each of several models whose interpreters share an arena. */
#ifndef TOOL_SHARED_FIT_H
#define TOOL_SHARED_FIT_H

#include "fit.h"

typedef struct shared_fit {
    tool_options *each; /* the options of every file, with the levers that were chosen for it */
    arenaut_text table;
    bool cut_short; /* time ended a search */
} shared_fit;

/* The gentlest levers with which the largest head and all tails need no more than --fit; where
 * there are none, and with --smallest, those that need least. The tails are added up, which is some
 * bytes more than interpreters of one allocator need: the caller judges the plans.
 * shared_fit_free is owed. */
exit_code find_shared_fit(const tool_options *options, shared_fit *found);
void shared_fit_free(shared_fit *found);

#endif
