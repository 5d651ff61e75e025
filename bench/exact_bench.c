/* Runs the exact search alone on CSV problems and prints its result, effort and CPU time, and how
 * many times faster it would be on 2 and on 16 idle cores.
 *
 *     exact_bench [-e STEPS] [-s SEED] [-j THREADS] [-t STEPS] [-x TECHNIQUE] [-v] FILE.csv ...
 *
 * -x leaves a technique out; -x list prints their names.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arenaut/check.h>
#include <arenaut/format.h>
#include <arenaut/planner.h>

#include "load_file.h"
#include "planners/exact/exact.h"

typedef struct options {
    uint64_t effort, seed, together;
    uint32_t threads, without;
    bool verbose;
} options;

static const char *const techniques[ARN_EXACT_TECHNIQUES] = {
    [ARN_EXACT_NO_GOODS] = "no-goods",     [ARN_EXACT_PARTS] = "decomposition",
    [ARN_EXACT_ALIKE] = "dominance",       [ARN_EXACT_MARKS] = "alignment-bounds",
    [ARN_EXACT_LOTS] = "drawn-blame",      [ARN_EXACT_WEIGHTS] = "weights",
    [ARN_EXACT_LOOK_AHEAD] = "look-ahead", [ARN_EXACT_STYLES] = "learned-styles",
    [ARN_EXACT_LADDER] = "ladder",         [ARN_EXACT_PROOFS] = "growing-proof",
    [ARN_EXACT_RESTARTS] = "restarts",
};

/* False: there is no such technique, or `name` asks for the list. */
static bool leave_out(options *o, const char *name) {
    const bool all = strcmp(name, "list") == 0;
    for (uint32_t k = 0; k < ARN_EXACT_TECHNIQUES; k++) {
        if (all) puts(techniques[k]);
        if (strcmp(name, techniques[k]) == 0) o->without |= 1u << k;
    }
    return o->without != 0;
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

typedef struct watch {
    uint64_t best, bound;
    double start;
} watch;

static arenaut_verdict print_progress(void *context, uint64_t best, uint64_t bound,
                                      uint64_t steps) {
    watch *w = context;
    if (best != w->best || bound != w->bound) {
        printf("    %8.3f s  %10" PRIu64 " steps  arena %" PRIu64 "  bound %" PRIu64 "\n",
               cpu_seconds() - w->start, steps, best, bound);
        fflush(stdout);
    }
    w->best = best;
    w->bound = bound;
    return ARENAUT_GO_ON;
}

/* Every plan that is reported has passed the checker. */
static bool passes(const arenaut_problem *problem, const arn_exact_output *out) {
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    bool right =
        arenaut_plan_new(problem->n_buffers, problem->n_pools, NULL, &plan, NULL) == ARENAUT_OK;
    if (!right) return false;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        plan->pool[b] = arenaut_problem_needs_memory(problem, b) ? 0 : ARENAUT_NONE;
        plan->offset[b] = out->offset[b];
    }
    right = arenaut_plan_measure(plan, problem, NULL) == ARENAUT_OK &&
            arenaut_check_plan(problem, plan, NULL, &finding, NULL) == ARENAUT_OK &&
            plan->total == out->arena;
    arenaut_plan_free(plan);
    return right;
}

static arenaut_verdict go_on(void *context) {
    (void)context;
    return ARENAUT_GO_ON;
}

/* How much shorter the longest path is than all runs one after the other. */
static double times(const arn_exact_output *out, uint32_t path) {
    return (double)(out->effort + 1) / (double)(out->path[path] + 1);
}

static bool solve(const char *path, const arenaut_problem *problem, const options *o) {
    watch w = {.start = cpu_seconds()};
    arn_exact_output out = {.offset = calloc(problem->n_buffers, sizeof *out.offset)};
    const arn_exact_input in = {.problem = problem,
                                .arena = ARENAUT_UNPLACED,
                                .effort = o->effort,
                                .seed = o->seed,
                                .threads = o->threads,
                                .together = o->together,
                                .without = o->without,
                                .progress = o->verbose ? print_progress : NULL,
                                .progress_context = &w};
    arenaut_error err;
    arn_poll never_stops = {.callback = go_on};
    const arenaut_status st = arn_exact_run(&in, &never_stops, &out, &err);
    const double seconds = cpu_seconds() - w.start;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (st != ARENAUT_OK) {
        printf("%-18s %s\n", name, err.msg);
        free(out.offset);
        return st == ARENAUT_REFUSED;
    }
    const bool right = passes(problem, &out);
    printf("%-18s n %5" PRIu32 "  arena %12" PRIu64 "  bound %12" PRIu64
           "  %-9s %9.4f s  "
           "%9" PRIu64 " steps  %9" PRIu64 " nodes  %4.2f and %4.1f times%s\n",
           name, problem->n_buffers, out.arena, out.bound,
           out.stopped_by == ARENAUT_STOP_PROOF ? "optimal" : "feasible", seconds, out.effort,
           out.nodes, times(&out, 0), times(&out, 1), right ? "" : "  REJECTED BY THE CHECKER");
    fflush(stdout);
    free(out.offset);
    return right;
}

static bool run_file(const char *path, const options *o) {
    size_t size = 0;
    uint8_t *bytes = load_file(path, &size);
    arenaut_document document;
    arenaut_error err = {.msg = "cannot be read"};
    bool right = bytes && arenaut_read(bytes, size, arenaut_format_find("csv"), NULL, NULL,
                                       &document, &err) == ARENAUT_OK;
    free(bytes);
    if (!right) {
        fprintf(stderr, "%s: %s\n", path, err.msg);
        return false;
    }
    right = solve(path, document.problem, o);
    arenaut_document_free(&document);
    return right;
}

int main(int argc, char **argv) {
    options o = {.effort = 4000000, .seed = 0, .verbose = false};
    int wrong = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-e") == 0 && i + 1 < argc) o.effort = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc) o.seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "-t") == 0 && i + 1 < argc)
            o.together = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "-j") == 0 && i + 1 < argc) o.threads = (uint32_t)atoi(argv[++i]);
        else if (strcmp(argv[i], "-x") == 0 && i + 1 < argc) {
            const char *name = argv[++i];
            if (!leave_out(&o, name)) return strcmp(name, "list") != 0;
        } else if (strcmp(argv[i], "-v") == 0) o.verbose = true;
        else wrong += !run_file(argv[i], &o);
    }
    return wrong ? 1 : 0;
}
