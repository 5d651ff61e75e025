/* Watching a planner at work: the progress line, the time cap, and Ctrl-C. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include "args.h"
#include "os.h"

/* Said where the time has ended a search, and the least is asked for. */
#define TIME_ENDED "time ended a search: more of it may find less"

typedef struct planner_watch {
    double began;   /* start of the part that --time limits; 0: not yet */
    double started; /* the stage */
    double cap;     /* seconds; negative: none */
    bool show_line; /* a terminal, and not --no-progress */
    bool log_improvements;
    bool line_shown;
    bool cut_short; /* by the cap, in any stage */
    double last_shown;
    uint64_t last_best;
} planner_watch;

/* A stage begins, and with the first one the time. */
void watch_start(planner_watch *watch, const tool_options *options);
/* The callback for arenaut_plan_options; its context is the watch. */
arenaut_verdict watch_progress(void *context, const arenaut_progress *progress);
void watch_end(planner_watch *watch); /* wipes the line */

#endif
