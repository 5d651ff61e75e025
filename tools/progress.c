#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files.h"

static volatile sig_atomic_t interrupt_seen;

/* Ends as the signal does by default, but for the temporary file. */
static void end_at_once(int signal_number) {
    output_drop_pending();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* The first signal asks the planner to stop, and the best plan so far is written; whoever
 * sends a second one wants out at once. */
static void remember_interrupt(int signal_number) {
    if (interrupt_seen) end_at_once(signal_number);
    interrupt_seen = 1;
}

static void handle(int signal_number, void (*handler)(int)) {
    struct sigaction action, before;
    /* What our parent ignores stays ignored: nohup, or a job in the background. */
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler == SIG_IGN) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    /* No SA_RESTART: waiting for a pipe must end as well. */
    sigaction(signal_number, &action, NULL);
}

void catch_interrupts(void) {
    handle(SIGINT, remember_interrupt);
    handle(SIGTERM, remember_interrupt);
    handle(SIGHUP, remember_interrupt);
    handle(SIGQUIT, end_at_once); /* whoever sends it wants out, and a core dump */
    handle(SIGPIPE, end_at_once); /* nobody reads the results */
    handle(SIGXCPU, end_at_once);
    /* A limit on the size of files is an error of write(), to be told like a full disk. */
    signal(SIGXFSZ, SIG_IGN);
}

bool interrupted(void) { return interrupt_seen != 0; }

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void watch_start(planner_watch *watch, const tool_options *options) {
    memset(watch, 0, sizeof *watch);
    watch->started = watch->last_shown = seconds_now();
    watch->cap = options->time_ms == NOT_GIVEN ? -1 : (double)options->time_ms / 1000;
    watch->show_line = !options->no_progress && !options->quiet && isatty(STDERR_FILENO);
    watch->log_improvements = !watch->show_line && !options->quiet && options->verbose >= 2;
    watch->last_best = ARENAUT_UNPLACED;
}

void watch_spent(planner_watch *watch, double seconds) {
    if (watch->cap >= 0) watch->cap = watch->cap > seconds ? watch->cap - seconds : 0;
}

enum { DESCRIPTION = 256 };

static void describe(const arenaut_progress *progress, double elapsed, char text[DESCRIPTION]) {
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
    return watch->cap >= 0 && elapsed >= watch->cap ? ARENAUT_OUT_OF_TIME : ARENAUT_GO_ON;
}

void watch_end(planner_watch *watch) {
    if (!watch->line_shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    watch->line_shown = false;
}
