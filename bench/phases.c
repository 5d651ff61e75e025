/* phases: how long reading, lowering, planning and checking one file take, in process.
 *
 *     phases FILE [RUNS]
 *
 * Prints one JSON object: the median microseconds of each phase over RUNS runs (default 21)
 * after one that is not counted, the arena and its bound. Every run starts from the file's
 * bytes and ends with a checked plan, as the command does. Public API only. */
#define _POSIX_C_SOURCE 199309L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <arenaut/arenaut.h>

#include "load_file.h"

static const struct {
    const char *name;
    arenaut_stage stage;
} phases[] = {{"read", ARENAUT_STAGE_READ},
              {"lower", ARENAUT_STAGE_LOWER},
              {"plan", ARENAUT_STAGE_PLAN},
              {"check", ARENAUT_STAGE_CHECK},
              {"replay", ARENAUT_STAGE_REPLAY}};
enum { N_PHASES = sizeof phases / sizeof *phases };

/* When the stage at work began, and how long each took. */
typedef struct watch {
    double us[ARENAUT_STAGE_OTHER + 1], began;
    arenaut_stage stage;
} watch;

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void on_stage(void *context, arenaut_stage stage) {
    watch *w = context;
    const double now = microseconds();
    w->us[w->stage] += now - w->began;
    w->stage = stage;
    w->began = now;
}

/* All but the baseline, which is not measured. */
static arenaut_status run(const unsigned char *data, size_t size, watch *w, arenaut_pipeline **p,
                          arenaut_error *err) {
    const arenaut_pipeline_options options = {.context = w, .stage = on_stage};
    const arenaut_pipeline_file file = {"model", data, size};
    *w = (watch){.stage = ARENAUT_STAGE_OTHER};
    arenaut_status st = arenaut_pipeline_new(&options, NULL, p, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(*p, &file, 1, err);
    if (st == ARENAUT_OK && !(*p)->document.program) return ARENAUT_UNSUPPORTED;
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(*p, err);
    return st == ARENAUT_OK ? arenaut_pipeline_plan(*p, err) : st;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    enum { MOST_RUNS = 1001 };
    static double us[N_PHASES][MOST_RUNS];
    int runs = argc > 2 ? atoi(argv[2]) : 21;
    size_t size = 0;
    unsigned char *data = argc > 1 ? load_file(argv[1], &size) : NULL;
    if (!data) {
        fprintf(stderr, "usage: phases FILE [RUNS], with a file that can be read\n");
        return 2;
    }
    if (runs < 1 || runs > MOST_RUNS) runs = MOST_RUNS;
    uint64_t arena = 0, bound = 0;
    for (int i = -1; i < runs; i++) {
        arenaut_pipeline *p = NULL;
        arenaut_error err = {ARENAUT_OK, 0, ""};
        watch w;
        const arenaut_status st = run(data, size, &w, &p, &err);
        if (st != ARENAUT_OK) {
            fprintf(stderr, "%s: %s: %s\n", argv[1], arenaut_status_text(st), err.msg);
            arenaut_pipeline_free(p);
            free(data);
            return 3;
        }
        for (int k = 0; i >= 0 && k < N_PHASES; k++) us[k][i] = w.us[phases[k].stage];
        arena = p->plan->total;
        bound = p->plan->total_bound;
        arenaut_pipeline_free(p);
    }
    free(data);
    printf("{\"runs\": %d", runs);
    for (int k = 0; k < N_PHASES; k++) {
        qsort(us[k], (size_t)runs, sizeof us[k][0], ascending);
        printf(", \"%s_us\": %.1f", phases[k].name, us[k][runs / 2]);
    }
    printf(", \"arena\": %" PRIu64 ", \"bound\": %" PRIu64 "}\n", arena, bound);
    return 0;
}
