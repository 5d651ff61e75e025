#include "planners/portfolio.h"

#include "planners/incumbents.h"
#include "planners/trial.h"

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

/* Trials that look at each pair of buffers alive together are left out when there are more
 * pairs than this: more than a second each. */
#define MOST_PAIRS UINT64_C(500000000)

static bool has_time_for_pairs(const arn_bench *bench) {
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < bench->items.n; i++) {
        pairs += arn_orders_count_conflicts(&bench->orders, i);
    }
    return pairs <= MOST_PAIRS;
}

static bool is_worth_trying(const arn_meter *meter) {
    return meter->best == ARENAUT_UNPLACED || arn_meter_goes_on(meter);
}

static arenaut_status make_trial(const trial *t, const style *s, arn_bench *bench,
                                 arn_meter *meter) {
    const arn_rules rules = {t->fit, s->share, s->keep_hints, s->least_growth};
    meter->planner = t->planner;
    arn_orders_sort(&bench->orders, t->letters, bench->order);
    return t->kind == BY_SKYLINE ? arn_try_skyline(bench, meter, rules)
                                 : arn_try_order(bench, meter, rules);
}

static arenaut_status make_trials(const style *s, bool rows, arenaut_planning *planning,
                                  arn_meter *meter) {
    arn_bench bench;
    arenaut_status st = arn_bench_open(&bench, planning, s->how);
    if (st != ARENAUT_OK) return st;
    const bool pairs_too = has_time_for_pairs(&bench);
    for (size_t i = 0; i < N_TRIALS && st == ARENAUT_OK && is_worth_trying(meter); i++) {
        if (trials[i].is_row != rows || (trials[i].kind == IN_ORDER && !pairs_too)) continue;
        st = make_trial(&trials[i], s, &bench, meter);
    }
    arn_bench_close(&bench);
    return st;
}

static arenaut_status try_incumbent(const char *row, arn_incumbent attempt,
                                    arenaut_planning *planning, arn_meter *meter) {
    const arenaut_planner *planner = arenaut_planner_find(row);
    const uint32_t features = arenaut_problem_features(planning->problem);
    if (features & ~planner->handles || !is_worth_trying(meter)) return ARENAUT_OK;
    meter->planner = planner->name;
    return attempt(planning, meter);
}

/* What these rows do is among the trials above already, except that they know no gaps and no
 * hints, and deal with relations in their own ways. */
static arenaut_status try_one_pass_peers(arenaut_planning *planning, arn_meter *meter) {
    const uint32_t differ =
        ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS;
    if (!(arenaut_problem_features(planning->problem) & differ)) return ARENAUT_OK;
    static const struct {
        const char *row;
        arn_incumbent attempt;
    } peers[] = {{"openvino", arn_try_openvino},
                 {"xnnpack", arn_try_xnnpack},
                 {"onnxruntime", arn_try_onnxruntime},
                 {"ggml", arn_try_ggml}};
    arenaut_status st = ARENAUT_OK;
    for (size_t i = 0; i < sizeof peers / sizeof *peers && st == ARENAUT_OK; i++) {
        st = try_incumbent(peers[i].row, peers[i].attempt, planning, meter);
    }
    return st;
}

/* The runtimes' own planners, which look at each pair of buffers alive together. */
static arenaut_status try_incumbents(arenaut_planning *planning, arn_meter *meter) {
    arn_bench bench;
    arenaut_status st = arn_bench_open(&bench, planning, 0);
    if (st != ARENAUT_OK) return st;
    const bool in_time = has_time_for_pairs(&bench);
    arn_bench_close(&bench);
    if (!in_time) return ARENAUT_OK;
    st = try_incumbent("tflm-greedy", arn_try_tflm_greedy, planning, meter);
    if (st == ARENAUT_OK) st = try_incumbent("tflite-arena", arn_try_tflite_arena, planning, meter);
    return st == ARENAUT_OK ? try_one_pass_peers(planning, meter) : st;
}

arenaut_status arn_portfolio_rows(arenaut_planning *planning, arn_meter *meter) {
    const uint64_t limit = meter->limit;
    arn_meter_allow(meter, UINT64_MAX);
    arenaut_status st = make_trials(&styles[0], true, planning, meter);
    if (st == ARENAUT_OK && is_worth_trying(meter)) st = try_incumbents(planning, meter);
    if (st == ARENAUT_OK) st = try_incumbent("naive", arn_try_naive, planning, meter);
    meter->limit = limit;
    arn_meter_spend(meter, 0);
    return st;
}

arenaut_status arn_portfolio_rest(arenaut_planning *planning, arn_meter *meter) {
    const uint32_t features = arenaut_problem_features(planning->problem);
    arenaut_status st = ARENAUT_OK;
    for (size_t i = 1; i < 2 * N_STYLES && st == ARENAUT_OK && is_worth_trying(meter); i++) {
        /* The rows in the other styles first, then the other trials in every style. */
        const style *s = &styles[i % N_STYLES];
        const bool rows = i < N_STYLES;
        if ((s->for_features & ~features) == 0) {
            st = make_trials(s, rows, planning, meter);
        }
    }
    return st;
}
