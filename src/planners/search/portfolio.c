#include "planners/search/portfolio.h"

#include "planners/run/incumbents.h"
#include "planners/placing/trial.h"

typedef enum trial_kind { BY_SKYLINE, IN_ORDER } trial_kind;

typedef struct trial {
    const char *planner; /* the row of the table that this is, or comes from */
    const char *letters;
    trial_kind kind;
    arn_fit fit;
    bool is_row; /* exactly what that row does by default: never left out */
} trial;

/* The most promising first: most problems end at the first few. F tells items apart only
 * where there are pools to choose from. */
static const trial trials[] = {
    {"skyline", "TWA", BY_SKYLINE, ARN_FIRST_FIT, true},
    {"greedy-by-size", "Z", IN_ORDER, ARN_FIRST_FIT, true},
    {"best-fit", "Z", IN_ORDER, ARN_BEST_FIT, true},
    {"greedy-by-breadth", "TPZ", IN_ORDER, ARN_BEST_FIT, true},
    {"first-fit", "L", IN_ORDER, ARN_FIRST_FIT, true},
    {"onnxruntime", "L", IN_ORDER, ARN_BEST_FIT, true},
    {"ggml", "L", IN_ORDER, ARN_HIGH_FIT, true},
    {"skyline", "TAW", BY_SKYLINE, ARN_FIRST_FIT, false},
    {"skyline", "WAT", BY_SKYLINE, ARN_FIRST_FIT, false},
    {"skyline", "Z", BY_SKYLINE, ARN_FIRST_FIT, false},
    {"skyline", "Z-", BY_SKYLINE, ARN_FIRST_FIT, false},
    {"skyline", "AZW", BY_SKYLINE, ARN_FIRST_FIT, false},
    {"skyline", "WZ", BY_SKYLINE, ARN_FIRST_FIT, false},
    {"skyline", "TZW", BY_SKYLINE, ARN_FIRST_FIT, false},
    {"skyline", "L", BY_SKYLINE, ARN_FIRST_FIT, false},
    {"skyline", "U", BY_SKYLINE, ARN_FIRST_FIT, false},
    {"skyline", "C", BY_SKYLINE, ARN_FIRST_FIT, false},
    {"first-fit", "TAW", IN_ORDER, ARN_FIRST_FIT, false},
    {"first-fit", "TWA", IN_ORDER, ARN_FIRST_FIT, false},
    {"first-fit", "FZW", IN_ORDER, ARN_FIRST_FIT, false},
    {"first-fit", "U", IN_ORDER, ARN_FIRST_FIT, false},
    {"best-fit", "U", IN_ORDER, ARN_BEST_FIT, false},
    {"first-fit", "A", IN_ORDER, ARN_FIRST_FIT, false},
    {"first-fit", "FCZ", IN_ORDER, ARN_FIRST_FIT, false},
    {"best-fit", "FZW", IN_ORDER, ARN_BEST_FIT, false},
    {"best-fit", "WZ", IN_ORDER, ARN_BEST_FIT, false},
};
enum { N_TRIALS = sizeof trials / sizeof *trials };

/* Ways of dealing with relations, hints and spare pools; which of them differ depends on
 * what the problem has. The first is what the rows of the table do. */
typedef struct style {
    unsigned how;
    bool share, keep_hints, least_growth;
    uint32_t for_features; /* all of these must be in use; 0: always */
} style;

static const style styles[] = {
    {0, true, true, false, 0},
    {ARN_COLLAPSE, true, true, false, ARENAUT_FEATURE_SAME_BASE},
    {0, false, true, false, ARENAUT_FEATURE_SAME_BASE},
    {0, true, false, false, ARENAUT_FEATURE_HINTS},
    {0, true, true, true, ARENAUT_FEATURE_POOLS},
    {ARN_COLLAPSE, true, false, true, ARENAUT_FEATURE_POOLS | ARENAUT_FEATURE_SAME_BASE},
};
enum { N_STYLES = sizeof styles / sizeof *styles };

/* Trials that look at each pair of buffers alive together come behind those that do not where
 * there are many pairs, and at the very end where they would take more than a second each. */
#define MANY_PAIRS UINT64_C(2000000)
#define MOST_PAIRS UINT64_C(500000000)

static uint64_t count_pairs(const arn_bench *bench) {
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < bench->items.n; i++) {
        pairs += arn_orders_count_conflicts(&bench->orders, i);
    }
    return pairs;
}

/* ---- trials of one style ---- */

/* The trials of a style that are made one after the other, and a bench for each lane. */
typedef struct series {
    const style *style;
    arn_bench whole; /* of lane 0, made when first needed */
    arn_bench fork[ARN_MOST_LANES];
    bool is_open, has_fork[ARN_MOST_LANES];
    const trial *trial[N_TRIALS];
    uint32_t n;
} series;

/* Lane 0 works on the bench itself. NULL, with the lane's error set, if there is no memory. */
static arn_bench *bench_of(series *s, arn_lane *lane) {
    if (lane->index == 0) return &s->whole;
    arn_bench *fork = &s->fork[lane->index];
    if (!s->has_fork[lane->index]) {
        const arenaut_status st =
            arn_bench_fork(fork, &s->whole, lane->planning.allocator, lane->planning.err);
        if (st != ARENAUT_OK) return NULL;
        s->has_fork[lane->index] = true;
    }
    return fork;
}

static arenaut_status make_trial(const trial *t, const style *s, arn_bench *bench,
                                 arn_meter *meter) {
    const arn_rules rules = {t->fit, s->share, s->keep_hints, s->least_growth};
    meter->planner = t->planner;
    arn_orders_sort(&bench->orders, t->letters, bench->order);
    return t->kind == BY_SKYLINE ? arn_try_skyline(bench, meter, rules)
                                 : arn_try_order(bench, meter, rules);
}

typedef struct group {
    series *series;
    uint32_t first;
} group;

static arenaut_status make_trial_in_lane(void *context, uint32_t task, arn_lane *lane) {
    const group *g = context;
    arn_bench *bench = bench_of(g->series, lane);
    if (!bench) return ARENAUT_NO_MEMORY;
    return make_trial(g->series->trial[g->first + task], g->series->style, bench, &lane->meter);
}

/* The first two trials by themselves: most problems end there, and what they find lets the
 * others give up early. */
enum { GROUP = 4, BY_THEMSELVES = 2 };

static arenaut_status make_series(series *s, arn_lanes *lanes) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < s->n && st == ARENAUT_OK && arn_meter_wants_plan(lanes->meter);) {
        const uint32_t left = s->n - i;
        const uint32_t n = i < BY_THEMSELVES ? 1 : left < GROUP ? left : GROUP;
        group g = {s, i};
        st = arn_lanes_try(lanes, n, make_trial_in_lane, &g);
        i += n;
    }
    return st;
}

static arenaut_status open_series(series *s, const style *how, arn_lanes *lanes) {
    const series empty = {.style = how};
    *s = empty;
    arenaut_planning planning = *lanes->meter->planning;
    planning.allocator = lanes->allocator;
    const arenaut_status st = arn_bench_open(&s->whole, &planning, how->how);
    s->is_open = st == ARENAUT_OK;
    return st;
}

static void close_series(series *s) {
    for (uint32_t i = 0; i < ARN_MOST_LANES; i++) {
        if (s->has_fork[i]) arn_bench_close(&s->fork[i]);
    }
    if (s->is_open) arn_bench_close(&s->whole);
}

/* Makes the trials of this kind that are rows of the table, or are not. */
static arenaut_status make_kind(series *s, trial_kind kind, bool rows, arn_lanes *lanes) {
    s->n = 0;
    for (size_t i = 0; i < N_TRIALS; i++) {
        if (trials[i].kind == kind && trials[i].is_row == rows) s->trial[s->n++] = &trials[i];
    }
    return make_series(s, lanes);
}

/* ---- the runtimes' own planners ---- */

typedef struct peer {
    const char *row;
    arn_incumbent attempt;
    uint32_t differs; /* makes a trial of its own only where one of these is in use; 0: always */
} peer;

/* What the four from "openvino" on do is among the trials above already, except that they know no
 * gaps and no hints, and deal with relations in their own ways. */
enum {
    UNKNOWN_TO_PEERS = ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS
};
static const peer peers[] = {
    {"tflm-greedy", arn_try_tflm_greedy, 0},
    {"tflite-arena", arn_try_tflite_arena, 0},
    {"openvino", arn_try_openvino, UNKNOWN_TO_PEERS},
    {"xnnpack", arn_try_xnnpack, UNKNOWN_TO_PEERS},
    {"storage-groups", arn_try_storage_groups, 0},
    {"onnxruntime", arn_try_onnxruntime, UNKNOWN_TO_PEERS},
    {"ggml", arn_try_ggml, UNKNOWN_TO_PEERS},
};
enum { N_PEERS = sizeof peers / sizeof *peers };

static arenaut_status try_peer_in_lane(void *context, uint32_t task, arn_lane *lane) {
    const peer *p = ((const peer *const *)context)[task];
    lane->meter.planner = p->row;
    return p->attempt(&lane->planning, &lane->meter);
}

static arenaut_status try_peers(arn_lanes *lanes) {
    const uint32_t features = arenaut_problem_features(lanes->meter->planning->problem);
    const peer *fit[N_PEERS];
    uint32_t n = 0;
    for (size_t i = 0; i < N_PEERS; i++) {
        if (peers[i].differs && !(peers[i].differs & features)) continue;
        if (features & ~arenaut_planner_find(peers[i].row)->handles) continue;
        fit[n++] = &peers[i];
    }
    return n && arn_meter_wants_plan(lanes->meter) ? arn_lanes_try(lanes, n, try_peer_in_lane, fit)
                                                   : ARENAUT_OK;
}

static arenaut_status try_naive(arn_lanes *lanes) {
    const peer naive = {"naive", arn_try_naive, 0};
    const peer *only = &naive;
    if (!arn_meter_wants_plan(lanes->meter)) return ARENAUT_OK;
    return arn_lanes_try(lanes, 1, try_peer_in_lane, &only);
}

/* ---- all ---- */

/* Rows are made whatever the effort. */
static arenaut_status make_rows(series *s, trial_kind kind, arn_lanes *lanes) {
    arn_meter *meter = lanes->meter;
    const uint64_t limit = meter->limit;
    arn_meter_allow(meter, UINT64_MAX);
    arenaut_status st = make_kind(s, kind, true, lanes);
    if (st == ARENAUT_OK && kind == IN_ORDER) st = try_peers(lanes);
    meter->limit = limit;
    arn_meter_spend(meter, 0);
    return st;
}

arenaut_status arn_portfolio_rows(arn_lanes *lanes, uint64_t *pairs) {
    series s;
    arenaut_status st = open_series(&s, &styles[0], lanes);
    if (st != ARENAUT_OK) return st;
    *pairs = count_pairs(&s.whole);
    st = make_rows(&s, BY_SKYLINE, lanes);
    if (st == ARENAUT_OK && *pairs > MANY_PAIRS) st = make_kind(&s, BY_SKYLINE, false, lanes);
    if (st == ARENAUT_OK && *pairs <= MOST_PAIRS) st = make_rows(&s, IN_ORDER, lanes);
    close_series(&s);
    return st == ARENAUT_OK ? try_naive(lanes) : st;
}

/* A step pays for some hundred pairs. */
enum { PAIRS_PER_STEP = 1024 };

/* What was left out for its many pairs. If there is no hope that the effort pays for even one
 * such trial, it counts as spent: a larger effort must not find less for having tried. */
static arenaut_status make_late_rows(series *s, uint64_t pairs, arn_lanes *lanes) {
    arn_meter *meter = lanes->meter;
    if (!arn_meter_goes_on(meter)) return ARENAUT_OK;
    if (meter->limit - meter->spent < pairs / PAIRS_PER_STEP) {
        arn_meter_spend(meter, meter->limit - meter->spent);
        return ARENAUT_OK;
    }
    const arenaut_status st = make_kind(s, IN_ORDER, true, lanes);
    return st == ARENAUT_OK ? try_peers(lanes) : st;
}

static arenaut_status make_others(const style *how, bool rows, uint64_t pairs, arn_lanes *lanes) {
    series s;
    if (!arn_meter_wants_plan(lanes->meter)) return ARENAUT_OK;
    arenaut_status st = open_series(&s, how, lanes);
    if (st != ARENAUT_OK) return st;
    const bool is_first = how == styles;
    if (!is_first || pairs <= MANY_PAIRS) st = make_kind(&s, BY_SKYLINE, rows, lanes);
    if (st == ARENAUT_OK && is_first && pairs > MOST_PAIRS) st = make_late_rows(&s, pairs, lanes);
    if (st == ARENAUT_OK) st = make_kind(&s, IN_ORDER, rows, lanes);
    close_series(&s);
    return st;
}

arenaut_status arn_portfolio_rest(arn_lanes *lanes, uint64_t pairs) {
    const uint32_t features = arenaut_problem_features(lanes->meter->planning->problem);
    arenaut_status st = ARENAUT_OK;
    for (size_t i = 1; i < 2 * N_STYLES && st == ARENAUT_OK; i++) {
        /* The rows in the other styles first, then the other trials in every style. */
        const style *s = &styles[i % N_STYLES];
        const bool rows = i < N_STYLES;
        if ((s->for_features & ~features) == 0) st = make_others(s, rows, pairs, lanes);
    }
    return st;
}
