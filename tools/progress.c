/* Watching a planner: the line that shows its progress on a terminal, the cap on time, and whether
 * an interrupt asked for an end. The planner calls often, so all but a look at the clock is rare.
 */
#include "progress.h"

#include <stdio.h>
#include <string.h>

void watch_start(planner_watch *watch, const tool_options *options) {
    const double now = seconds_now(), began = watch->began > 0 ? watch->began : now;
    const bool cut_short = watch->cut_short;
    memset(watch, 0, sizeof *watch);
    watch->began = began;
    watch->cut_short = cut_short;
    watch->started = watch->last_shown = now;
    watch->cap = options->time_ms == NOT_GIVEN ? -1 : (double)options->time_ms / 1000;
    watch->show_line =
        !options->no_progress && !options->quiet && os_is_terminal(OS_STANDARD_ERROR);
    watch->log_improvements = !watch->show_line && !options->quiet && options->verbose >= 2;
    watch->last_best = ARENAUT_UNPLACED;
}

enum { DESCRIPTION = 256 };

static void describe(const arenaut_progress *progress, double elapsed, char text[DESCRIPTION]) {
    if (progress->best == ARENAUT_UNPLACED && progress->bound == 0) {
        snprintf(text, DESCRIPTION, "no plan yet  %.1f s", elapsed);
        return;
    }
    if (progress->best == ARENAUT_UNPLACED) {
        snprintf(text, DESCRIPTION, "no plan yet  bound %s  %.1f s",
                 with_commas(progress->bound).text, elapsed);
        return;
    }
    snprintf(text, DESCRIPTION, "best %s  bound %s  gap %s  %.1f s  %s",
             with_commas(progress->best).text, with_commas(progress->bound).text,
             tenths_percent(progress->best - progress->bound, progress->bound).text, elapsed,
             progress->planner ? progress->planner : "");
}

/* Called very often: looking at the clock is all it usually does. */
arenaut_verdict watch_progress(void *context, const arenaut_progress *progress) {
    planner_watch *watch = context;
    char text[DESCRIPTION];
    const double now = seconds_now(), elapsed = now - watch->started;
    const double first = 0.5, between = 0.1; /* seconds: no flicker for quick work */
    if (watch->show_line && elapsed >= first && now - watch->last_shown >= between) {
        describe(progress, elapsed, text);
        fprintf(stderr, "\r\033[K%s", text);
        fflush(stderr);
        watch->line_shown = true;
        watch->last_shown = now;
    }
    if (watch->log_improvements && progress->best < watch->last_best) {
        describe(progress, elapsed, text);
        fprintf(stderr, "arenaut: %s\n", text);
    }
    watch->last_best = progress->best;
    if (interrupted()) return ARENAUT_INTERRUPTED;
    const double share = progress->share > 0 ? (double)progress->share / 1000 : 1;
    const bool late = watch->cap >= 0 && now - watch->began >= watch->cap * share;
    watch->cut_short = watch->cut_short || late;
    return late ? ARENAUT_OUT_OF_TIME : ARENAUT_GO_ON;
}

void watch_end(planner_watch *watch) {
    if (!watch->line_shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    watch->line_shown = false;
}
