/* solve: one planner on one problem, in process, for the benchmarks.
 *
 *     solve [-p PLANNER] [-e STEPS] [-s SEED] [-t SECONDS] [-j THREADS] FILE
 *
 * Prints one JSON object: the result, the user CPU time and all CPU time of the solve
 * alone (reading and checking are timed beside it), its wall time, the memory in use at its
 * end, and every improvement on the way as [seconds of user CPU, arena]. The plan has passed the
 * checker, or "checked" is false and the exit status 1. Public API only. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1 /* for getrusage */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include <arenaut/arenaut.h>

#include "load_file.h"

typedef struct cpu_time {
    double user, all;
} cpu_time;

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

static cpu_time cpu_now(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double user = seconds(usage.ru_utime);
    return (cpu_time){user, user + seconds(usage.ru_stime)};
}

static double wall_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The most memory held at once. Linux counts into ru_maxrss the memory of the process before it
 * became this program, so another source is used if there is one. */
static long peak_kilobytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    long kilobytes = usage.ru_maxrss;
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    while (status && fgets(line, sizeof line, status)) {
        if (strncmp(line, "VmHWM:", 6) == 0) kilobytes = strtol(line + 6, NULL, 10);
    }
    if (status) fclose(status);
    return kilobytes;
}

enum { MOST_IMPROVEMENTS = 512 };

/* Filled while the planner works; printed when it is done. */
typedef struct watch {
    double started_user, ends; /* ends: on the wall clock; 0: no cap */
    uint64_t best;
    size_t n;
    struct {
        double user;
        uint64_t arena;
    } improvement[MOST_IMPROVEMENTS];
} watch;

static void remember(watch *w, uint64_t arena) {
    if (arena >= w->best) return;
    w->best = arena;
    if (w->n == MOST_IMPROVEMENTS) w->n--; /* the last one is the one that counts */
    w->improvement[w->n].user = cpu_now().user - w->started_user;
    w->improvement[w->n++].arena = arena;
}

static arenaut_verdict on_progress(void *context, const arenaut_progress *progress) {
    watch *w = context;
    remember(w, progress->best);
    return w->ends > 0 && wall_now() > w->ends ? ARENAUT_OUT_OF_TIME : ARENAUT_GO_ON;
}

static arenaut_status read_problem(const char *path, arenaut_document *document,
                                   arenaut_error *err) {
    size_t size = 0;
    uint8_t *bytes = load_file(path, &size);
    if (!bytes) {
        snprintf(err->msg, sizeof err->msg, "cannot be read");
        return ARENAUT_BAD_INPUT;
    }
    const arenaut_status st = arenaut_read(bytes, size, NULL, NULL, NULL, document, err);
    free(bytes);
    if (st == ARENAUT_OK && !document->problem) {
        snprintf(err->msg, sizeof err->msg, "holds no problem, but a program");
        return ARENAUT_UNSUPPORTED;
    }
    return st;
}

static void print_plan(const arenaut_plan *plan) {
    printf(",\"status\":\"%s\",\"stopped_by\":\"%s\",\"found_by\":\"%s\",\"effort\":%" PRIu64
           ",\"arena\":%" PRIu64 ",\"bound\":%" PRIu64,
           arenaut_quality_name(plan->quality), arenaut_stop_name(plan->stopped_by), plan->planner,
           plan->effort, plan->total, plan->total_bound);
}

static void print_improvements(const watch *w) {
    printf(",\"improvements\":[");
    for (size_t i = 0; i < w->n; i++) {
        printf("%s[%.6f,%" PRIu64 "]", i ? "," : "", w->improvement[i].user,
               w->improvement[i].arena);
    }
    printf("]}\n");
}

static int solve(const arenaut_problem *problem, const arenaut_plan_options *given, double cap) {
    watch *w = calloc(1, sizeof *w);
    arenaut_plan_options options = *given;
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {.msg = "out of memory"};
    if (!w) return 4;
    const cpu_time started = cpu_now();
    const double started_wall = wall_now();
    *w = (watch){.started_user = started.user, .best = ARENAUT_UNPLACED};
    if (cap > 0) w->ends = wall_now() + cap;
    options.progress = on_progress;
    options.progress_context = w;
    const arenaut_status st = arenaut_plan_make(problem, &options, NULL, &plan, &err);
    const cpu_time ended = cpu_now();
    printf("{\"n\":%" PRIu32 ",\"user_s\":%.6f,\"cpu_s\":%.6f,\"wall_s\":%.6f,\"peak_kb\":%ld",
           problem->n_buffers, ended.user - started.user, ended.all - started.all,
           wall_now() - started_wall, peak_kilobytes());
    if (st != ARENAUT_OK && st != ARENAUT_NO_PLAN) {
        printf(",\"failed\":\"%s\"}\n", err.msg);
        free(w);
        return 1;
    }
    remember(w, plan->total);
    const bool right = arenaut_check_plan(problem, plan, NULL, &finding, &err) == ARENAUT_OK;
    print_plan(plan);
    printf(",\"checked\":%s,\"check_s\":%.6f", right ? "true" : "false",
           cpu_now().user - ended.user);
    print_improvements(w);
    arenaut_plan_free(plan);
    free(w);
    return right ? 0 : 1;
}

int main(int argc, char **argv) {
    arenaut_plan_options options = {.planner = NULL};
    double cap = 0;
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (argv[i][0] != '-') path = argv[i];
        else if (strcmp(argv[i], "-p") == 0) options.planner = value, i++;
        else if (strcmp(argv[i], "-e") == 0) options.effort = strtoull(value, NULL, 10), i++;
        else if (strcmp(argv[i], "-s") == 0) options.seed = strtoull(value, NULL, 10), i++;
        else if (strcmp(argv[i], "-t") == 0) cap = strtod(value, NULL), i++;
        else if (strcmp(argv[i], "-j") == 0)
            options.threads = (uint32_t)strtoul(value, NULL, 10), i++;
        else path = NULL, i = argc;
    }
    if (!path) {
        fprintf(stderr,
                "usage: solve [-p PLANNER] [-e STEPS] [-s SEED] [-t SECONDS] "
                "[-j THREADS] FILE\n");
        return 2;
    }
    arenaut_document document;
    arenaut_error err = {.msg = ""};
    if (read_problem(path, &document, &err) != ARENAUT_OK) {
        fprintf(stderr, "%s: %s\n", path, err.msg);
        return 3;
    }
    const int code = solve(document.problem, &options, cap);
    arenaut_document_free(&document);
    return code;
}
