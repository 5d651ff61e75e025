/* One trial of the machine: a program, its choices of passes, its plans. */
#include "support/flow_machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/check.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "ir/program.h"
#include "support/flow_program.h"
#include "support/flow_run.h"
#include "support/random.h"

enum { PATHS = 4, CALLS = 4, WRONG_PLANS = 6 };

typedef struct trial {
    uint64_t seed;
    rng r;
    const char *passes; /* NULL: none at all */
    const char *planner;
    arenaut_target target;
    arenaut_lowering_options options;
    flow_sabotage sabotage;
    void *context;
    flow_counts *counts;
    flow_trace *alone[PATHS], *planned;
    char *difference;
} trial;

static bool differ(trial *t, const char *format, ...) {
    char what[600];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    if (t->difference) return false;
    t->difference = malloc(1000);
    if (!t->difference) abort();
    snprintf(t->difference, 1000, "seed %" PRIu64 ", passes '%s', target %s%s%s, planner %s: %s\n",
             t->seed, t->passes ? t->passes : "(none run)", t->target.name,
             t->options.preserve_inputs ? " with inputs kept" : "",
             t->options.exclude_io ? " without inputs and results" : "",
             t->planner ? t->planner : "-", what);
    return false;
}

static flow_path path_of(const trial *t, uint32_t number) {
    return (flow_path){.seed = t->seed * PATHS + number,
                       .n_calls = CALLS,
                       .keep_inputs = t->options.preserve_inputs || t->target.keep_inputs,
                       .late_carry = number == 1 && strcmp(t->target.name, "tflite-micro") == 0};
}

static void run(const arenaut_program *p, const arenaut_placement *where, const flow_path *path,
                flow_trace *trace) {
    if (!flow_run(p, where, path, trace)) abort();
}

/* Every tensor has memory of its own: nothing that is read may be spoiled. */
static bool run_alone(trial *t, const arenaut_program *p) {
    for (uint32_t i = 0; i < PATHS; i++) {
        const flow_path path = path_of(t, i);
        run(p, NULL, &path, t->alone[i]);
        if (t->alone[i]->spoiled && !t->alone[i]->cut)
            return differ(t, "it reads bytes that were never written, on path %u", i);
    }
    return true;
}

/* ---- placements ---- */

typedef struct places {
    uint32_t *pool;
    uint64_t *offset;
    uint64_t arena[ARENAUT_MAX_POOLS];
    arenaut_placement placement;
} places;

static void place(const arenaut_lowering *l, const arenaut_plan *plan, places *out) {
    const uint32_t n = l->n_tensors;
    out->pool = malloc((n + 1) * sizeof *out->pool);
    out->offset = malloc((n + 1) * sizeof *out->offset);
    if (!out->pool || !out->offset) abort();
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = l->buffer[i];
        out->pool[i] = b == ARENAUT_NONE ? ARENAUT_NONE : plan->pool[b];
        out->offset[i] = out->pool[i] == ARENAUT_NONE ? 0 : plan->offset[b] + l->offset[i];
    }
    memcpy(out->arena, plan->arena, plan->n_pools * sizeof *out->arena);
    out->placement = (arenaut_placement){n, plan->n_pools, out->pool, out->offset, out->arena};
}

static void forget(places *p) {
    free(p->pool);
    free(p->offset);
}

static arenaut_status replay(const trial *t, const arenaut_program *p, const places *where,
                             arenaut_finding *finding, arenaut_error *err) {
    const arenaut_replay_options options = {
        .keep_inputs = t->options.preserve_inputs || t->target.keep_inputs,
        .exclude_io = t->options.exclude_io};
    return arenaut_check_replay(p, &where->placement, &options, NULL, finding, err);
}

/* The first path on which something else is read than with memory of its own for everything;
 * PATHS if there is none. */
static uint32_t path_that_differs(trial *t, const arenaut_program *p, const places *where,
                                  uint32_t *op) {
    for (uint32_t i = 0; i < PATHS; i++) {
        const flow_path path = path_of(t, i);
        uint32_t at;
        if (t->alone[i]->cut) continue;
        run(p, &where->placement, &path, t->planned);
        t->counts->runs++;
        if (flow_same(t->alone[i], t->planned, &at)) continue;
        *op = at < t->planned->n_events ? t->planned->event[at].op : ARENAUT_NONE;
        return i;
    }
    return PATHS;
}

/* ---- plans that are right ---- */

static bool try_plan(trial *t, const arenaut_program *p, const arenaut_lowering *l,
                     const arenaut_plan *plan) {
    arenaut_finding finding;
    arenaut_error err = {0};
    places where;
    uint32_t op = 0;
    if (arenaut_check_plan(l->problem, plan, NULL, &finding, &err) != ARENAUT_OK) {
        return differ(t, "the plan is rejected: %s", err.msg);
    }
    place(l, plan, &where);
    const uint32_t path = path_that_differs(t, p, &where, &op);
    const arenaut_status st = replay(t, p, &where, &finding, &err);
    forget(&where);
    if (path < PATHS) {
        return differ(t, "on path %u, op %u reads something else; the replay says '%s'", path, op,
                      st == ARENAUT_OK ? "fine" : err.msg);
    }
    if (st != ARENAUT_OK && st != ARENAUT_UNSUPPORTED) {
        return differ(t, "it runs as it must, but the replay says '%s'", err.msg);
    }
    t->counts->plans++;
    return true;
}

/* ---- plans that are wrong ---- */

static bool move_a_buffer(trial *t, const arenaut_problem *problem, arenaut_plan *plan) {
    const uint32_t a = rng_below(&t->r, problem->n_buffers),
                   b = rng_below(&t->r, problem->n_buffers);
    if (a == b || plan->pool[a] == ARENAUT_NONE || plan->pool[a] != plan->pool[b]) return false;
    uint64_t at = plan->offset[b] + rng_below(&t->r, (uint32_t)problem->size[b]);
    if (rng_once_in(&t->r, 2)) at = plan->offset[b];
    if (at == plan->offset[a] || at + problem->size[a] > plan->arena[plan->pool[a]]) return false;
    plan->offset[a] = at;
    return true;
}

static bool try_wrong_plans(trial *t, const arenaut_program *p, const arenaut_lowering *l,
                            arenaut_plan *plan) {
    uint64_t *offset = malloc((plan->n_buffers + 1) * sizeof *offset);
    bool right = true;
    if (!offset) abort();
    memcpy(offset, plan->offset, plan->n_buffers * sizeof *offset);
    for (uint32_t i = 0; i < WRONG_PLANS && right; i++) {
        memcpy(plan->offset, offset, plan->n_buffers * sizeof *offset);
        if (!move_a_buffer(t, l->problem, plan)) continue;
        places where;
        arenaut_finding finding;
        arenaut_error err = {0};
        uint32_t op = 0;
        place(l, plan, &where);
        const uint32_t path = path_that_differs(t, p, &where, &op);
        const bool differs = path < PATHS;
        const arenaut_status st = replay(t, p, &where, &finding, &err);
        forget(&where);
        t->counts->wrong_plans++;
        t->counts->wrong_runs += differs;
        t->counts->rejected += st == ARENAUT_REJECTED;
        if (differs && st == ARENAUT_OK) {
            uint32_t b = 0;
            while (plan->offset[b] == offset[b]) b++;
            right = differ(t,
                           "the replay accepts the plan with '%s' moved to %" PRIu64
                           ", but op %u reads something else on path %u",
                           p->tensors[l->tensor[b]].name, plan->offset[b], op, path);
        }
    }
    memcpy(plan->offset, offset, plan->n_buffers * sizeof *offset);
    free(offset);
    return right;
}

/* ---- all planners ---- */

static bool try_planner(trial *t, const arenaut_program *p, const arenaut_lowering *l) {
    const arenaut_plan_options options = {.planner = t->planner, .effort = 2000, .seed = t->seed};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(l->problem, &options, NULL, &plan, &err);
    bool right = true;
    if (st == ARENAUT_OK) right = try_plan(t, p, l, plan) && try_wrong_plans(t, p, l, plan);
    else if (st != ARENAUT_REFUSED && st != ARENAUT_STOPPED)
        right = differ(t, "no plan: %s", err.msg);
    arenaut_plan_free(plan);
    return right;
}

/* Each program is planned by `auto`, and by a few of the others, by turns. */
static bool try_planners(trial *t, const arenaut_program *p, const arenaut_lowering *l) {
    enum { OTHERS = 3 };
    const uint32_t n = (uint32_t)arenaut_planner_count(), first = rng_below(&t->r, n);
    t->planner = "auto";
    bool right = try_planner(t, p, l);
    for (uint32_t i = 0; i < OTHERS && right; i++) {
        t->planner = arenaut_planner_at((first + i) % n)->name;
        right = try_planner(t, p, l);
    }
    t->planner = NULL;
    return right;
}

/* Calls, sizes and moves that are too much, or features of a target, may be refused. */
static bool is_refusal(arenaut_status st) {
    return st == ARENAUT_REFUSED || st == ARENAUT_UNSUPPORTED;
}

static bool lower_and_plan(trial *t, const arenaut_program *p) {
    arenaut_lowering *l = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_lower(p, &t->target, &t->options, NULL, &l, &err);
    if (is_refusal(st)) return true;
    if (st != ARENAUT_OK) return differ(t, "it is not lowered: %s", err.msg);
    if (t->sabotage) t->sabotage(t->context, l);
    t->counts->lowered++;
    const bool right = try_planners(t, p, l);
    arenaut_lowering_free(l);
    return right;
}

/* ---- passes ---- */

static const arenaut_in_place_rule rules[] = {{.op = "by_element", .input = 0}};

/* The program after the passes computes the same as the one before them. */
static bool try_passes(trial *t, const uint64_t *results) {
    const arenaut_pass_options options = {.target = &t->target, .in_place = rules, .n_in_place = 1};
    arenaut_program *p = flow_program(t->seed);
    arenaut_error err = {0};
    arenaut_status st = ARENAUT_OK;
    const bool graph = p->methods[0].n_bindings > 0;
    if (t->passes) st = arenaut_passes_run(p, t->passes, &options, NULL, NULL, &err);
    bool right = true;
    if (!is_refusal(st) && st != ARENAUT_OK) right = differ(t, "the passes say: %s", err.msg);
    if (st == ARENAUT_OK && right) {
        right = run_alone(t, p);
        for (uint32_t i = 0; i < PATHS && right; i++) {
            if (t->alone[i]->cut || t->alone[i]->results == results[i]) continue;
            right = differ(t, "the passes change the results of path %u", i);
        }
        /* Lowering ignores a signature before passes have made ops of it. */
        if (right && !(graph && !t->passes)) right = lower_and_plan(t, p);
    }
    arn_program_free(p);
    return right;
}

static void choose_target(trial *t) {
    static const char *const names[] = {"generic", "tflite-micro", "executorch", "litert",
                                        "onnxruntime"};
    t->target = *arenaut_target_find(names[rng_below(&t->r, 5)]);
    t->target.state_in_arena = true; /* or states would never conflict */
    t->options = (arenaut_lowering_options){.preserve_inputs = rng_once_in(&t->r, 4),
                                            .exclude_io = rng_once_in(&t->r, 6)};
}

char *flow_machine_try(uint64_t seed, flow_sabotage sabotage, void *context, flow_counts *counts) {
    static const char *const selections[] = {NULL,
                                             "",
                                             "inplace",
                                             "reinplace",
                                             "inplace,reinplace",
                                             "inplace,alias-views",
                                             "inplace,slices"};
    trial t = {.seed = seed,
               .r = {seed},
               .sabotage = sabotage,
               .context = context,
               .counts = counts,
               .target = *arenaut_target_find("generic")};
    uint64_t results[PATHS];
    bool right = true;
    counts->programs++;
    t.planned = malloc(sizeof *t.planned);
    for (uint32_t i = 0; i < PATHS; i++) t.alone[i] = malloc(sizeof *t.alone[i]);
    arenaut_program *original = flow_program(seed);
    right = run_alone(&t, original);
    for (uint32_t i = 0; i < PATHS; i++) results[i] = t.alone[i]->results;
    arn_program_free(original);
    for (uint32_t i = 0; i < 3 && right; i++) {
        t.passes = selections[i == 0 ? rng_below(&t.r, 2) : 2 + rng_below(&t.r, 5)];
        choose_target(&t);
        right = try_passes(&t, results);
    }
    for (uint32_t i = 0; i < PATHS; i++) free(t.alone[i]);
    free(t.planned);
    return t.difference;
}
