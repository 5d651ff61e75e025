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

enum phase { READ, LOWER, PLAN, CHECK, REPLAY, N_PHASES };
static const char *const phase_names[N_PHASES] = {"read", "lower", "plan", "check", "replay"};

typedef struct run {
    double us[N_PHASES];
    arenaut_document document;
    arenaut_lowering *lowering;
    arenaut_plan *plan;
    arenaut_error err;
} run;

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static unsigned char *load(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
    *size = (size_t)ftell(file);
    unsigned char *data = malloc(*size + 1);
    rewind(file);
    if (data && fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

/* Where the plan puts each tensor, which is what replay wants to know. */
static arenaut_status replay(const run *r, arenaut_finding *finding, arenaut_error *err) {
    const uint32_t n = r->document.program->n_tensors;
    uint32_t *pool = calloc(n + 1, sizeof *pool);
    uint64_t *offset = calloc(n + 1, sizeof *offset);
    arenaut_status st = ARENAUT_NO_MEMORY;
    if (pool && offset) {
        for (uint32_t t = 0; t < n; t++) {
            const uint32_t buffer = r->lowering->buffer[t];
            pool[t] = buffer == ARENAUT_NONE ? ARENAUT_NONE : r->plan->pool[buffer];
            if (pool[t] != ARENAUT_NONE) {
                offset[t] = r->plan->offset[buffer] + r->lowering->offset[t];
            }
        }
        const arenaut_placement placement = {n, r->plan->n_pools, pool, offset, r->plan->arena};
        st = arenaut_check_replay(r->document.program, &placement, NULL, NULL, finding, err);
    }
    free(pool);
    free(offset);
    return st;
}

static arenaut_status lower(run *r) {
    const arenaut_target *target = arenaut_target_for_format(r->document.format->name);
    const arenaut_pass_options options = {.target = target};
    arenaut_status st =
        arenaut_passes_run(r->document.program, NULL, &options, NULL, NULL, &r->err);
    if (st == ARENAUT_OK) {
        st = arenaut_lower(r->document.program, target, NULL, NULL, &r->lowering, &r->err);
    }
    return st;
}

static arenaut_status one_phase(run *r, enum phase phase, const unsigned char *data, size_t size) {
    arenaut_finding finding;
    switch (phase) {
        case READ: return arenaut_read(data, size, NULL, NULL, NULL, &r->document, &r->err);
        case LOWER: return lower(r);
        case PLAN: return arenaut_plan_make(r->lowering->problem, NULL, NULL, &r->plan, &r->err);
        case CHECK:
            return arenaut_check_plan(r->lowering->problem, r->plan, NULL, &finding, &r->err);
        case REPLAY: return replay(r, &finding, &r->err);
        default: return ARENAUT_INTERNAL;
    }
}

static arenaut_status run_all(run *r, const unsigned char *data, size_t size) {
    arenaut_status st = ARENAUT_OK;
    for (int phase = 0; phase < N_PHASES && st == ARENAUT_OK; phase++) {
        const double started = microseconds();
        st = one_phase(r, (enum phase)phase, data, size);
        r->us[phase] = microseconds() - started;
        if (st == ARENAUT_OK && phase == READ && !r->document.program) st = ARENAUT_UNSUPPORTED;
    }
    return st;
}

static void run_free(run *r) {
    arenaut_plan_free(r->plan);
    arenaut_lowering_free(r->lowering);
    arenaut_document_free(&r->document);
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
    unsigned char *data = argc > 1 ? load(argv[1], &size) : NULL;
    if (!data) {
        fprintf(stderr, "usage: phases FILE [RUNS], with a file that can be read\n");
        return 2;
    }
    if (runs < 1 || runs > MOST_RUNS) runs = MOST_RUNS;
    uint64_t arena = 0, bound = 0;
    for (int i = -1; i < runs; i++) {
        run r = {.plan = NULL};
        const arenaut_status st = run_all(&r, data, size);
        if (st != ARENAUT_OK) {
            fprintf(stderr, "%s: %s: %s\n", argv[1], arenaut_status_text(st), r.err.msg);
            run_free(&r);
            free(data);
            return 3;
        }
        for (int phase = 0; i >= 0 && phase < N_PHASES; phase++) us[phase][i] = r.us[phase];
        arena = r.plan->total;
        bound = r.plan->total_bound;
        run_free(&r);
    }
    free(data);
    printf("{\"runs\": %d", runs);
    for (int phase = 0; phase < N_PHASES; phase++) {
        qsort(us[phase], (size_t)runs, sizeof us[phase][0], ascending);
        printf(", \"%s_us\": %.1f", phase_names[phase], us[phase][runs / 2]);
    }
    printf(", \"arena\": %" PRIu64 ", \"bound\": %" PRIu64 "}\n", arena, bound);
    return 0;
}
