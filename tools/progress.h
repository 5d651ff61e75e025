/* Watching a planner at work: the progress line, the time cap, and Ctrl-C. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include "args.h"
#include "os.h"

typedef struct planner_watch {
    double started;
    double cap;     /* seconds; negative: none */
    bool show_line; /* a terminal, and not --no-progress */
    bool log_improvements;
    bool line_shown;
    double last_shown;
    uint64_t last_best;
} planner_watch;

void watch_start(planner_watch *watch, const tool_options *options);
/* So many seconds of the time cap are gone already. */
void watch_spent(planner_watch *watch, double seconds);
/* The callback for arenaut_plan_options; its context is the watch. */
arenaut_verdict watch_progress(void *context, const arenaut_progress *progress);
void watch_end(planner_watch *watch); /* wipes the line */

#endif
