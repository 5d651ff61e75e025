/* The portfolio of heuristics, as trials: the rows of the table that are one pass, variants of them
 * in other orders, and the planners of runtimes. Most problems end at the first few. A trial is a
 * pass over groups that all trials of a style share, O(n log n) by the skyline and O(pairs alive
 * together) otherwise. The searches after these are in auto.c. */
#include "planners/search/search.h"

#include "planners/bounds/bounds.h"
#include "planners/placing/trial.h"
#include "planners/run/planner_rows.h"

/* The order and fit of a row of the table, or its fit in another order. */
typedef struct trial {
    const arenaut_planner *row;
    const char *letters; /* NULL: the row's own order; never left out */
} trial;

/* The most promising first. F matters only if there are pools to choose from. */
static const trial variants[] = {
    {&arn_planner_skyline, "TAW"},   {&arn_planner_skyline, "WAT"},
    {&arn_planner_skyline, "Z"},     {&arn_planner_skyline, "Z-"},
    {&arn_planner_skyline, "AZW"},   {&arn_planner_skyline, "WZ"},
    {&arn_planner_skyline, "TZW"},   {&arn_planner_skyline, "L"},
    {&arn_planner_skyline, "U"},     {&arn_planner_skyline, "C"},
    {&arn_planner_first_fit, "TAW"}, {&arn_planner_first_fit, "TWA"},
    {&arn_planner_first_fit, "FZW"}, {&arn_planner_first_fit, "U"},
    {&arn_planner_best_fit, "U"},    {&arn_planner_first_fit, "A"},
    {&arn_planner_first_fit, "FCZ"}, {&arn_planner_best_fit, "FZW"},
    {&arn_planner_best_fit, "WZ"},
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* Ways of dealing with relations, hints and spare pools; which of them differ depends on the
 * problem's features. The first is that of the rows of the table. */
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

/* Trials that look at each pair of buffers alive together come behind the others if there are many
 * pairs, and at the very end if they would take more than a second each. */
#define MANY_PAIRS UINT64_C(2000000)
#define MOST_PAIRS UINT64_C(500000000)

static uint64_t count_pairs(const arn_workspace *space) {
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < space->groups.n; i++) {
        pairs += arn_orders_count_conflicts(&space->orders, i);
    }
    return pairs;
}

/* ---- trials of one style ---- */

/* The trials of a style that are made one after the other, and a workspace for each lane. */
typedef struct series {
    const style *style;
    arn_workspace whole; /* of lane 0, made when first needed */
    arn_workspace fork[ARN_MOST_LANES];
    bool is_open, has_fork[ARN_MOST_LANES];
    trial trial[ARN_PLANNERS + N_VARIANTS];
    uint32_t n;
} series;

/* Lane 0 works on the workspace itself. NULL, with the lane's error set, if there is no memory. */
static arn_workspace *workspace_of(series *s, arn_lane *lane) {
    if (lane->index == 0) return &s->whole;
    arn_workspace *fork = &s->fork[lane->index];
    if (!s->has_fork[lane->index]) {
        const arenaut_status st =
            arn_workspace_fork(fork, &s->whole, lane->planning.allocator, lane->planning.err);
        if (st != ARENAUT_OK) return NULL;
        s->has_fork[lane->index] = true;
    }
    return fork;
}

typedef struct batch {
    series *series;
    uint32_t first;
} batch;

static arenaut_status make_trial_in_lane(void *context, uint32_t task, arn_lane *lane) {
    const batch *b = context;
    const trial t = b->series->trial[b->first + task];
    const style *s = b->series->style;
    const arn_rules rules = {
        .share = s->share, .keep_hints = s->keep_hints, .least_growth = s->least_growth};
    arn_workspace *space = workspace_of(b->series, lane);
    if (!space) return ARENAUT_NO_MEMORY;
    return arn_pass_vary(t.row, t.letters, rules, space, &lane->meter);
}

/* The first two trials by themselves: most problems end there, and their plans let the others be
 * pruned early. */
enum { BATCH = 4, BY_THEMSELVES = 2 };

static arenaut_status make_series(series *s, arn_lanes *lanes) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < s->n && st == ARENAUT_OK && arn_meter_wants_plan(lanes->meter);) {
        const uint32_t left = s->n - i;
        const uint32_t n = i < BY_THEMSELVES ? 1 : left < BATCH ? left : BATCH;
        batch b = {s, i};
        st = arn_lanes_try(lanes, n, make_trial_in_lane, &b);
        i += n;
    }
    return st;
}

static arenaut_status open_series(series *s, const style *how, arn_lanes *lanes) {
    const series empty = {.style = how};
    *s = empty;
    arenaut_planning planning = *lanes->meter->planning;
    planning.allocator = lanes->allocator;
    const arenaut_status st = arn_workspace_open(&s->whole, &planning, how->how);
    s->is_open = st == ARENAUT_OK;
    return st;
}

static void close_series(series *s) {
    for (uint32_t i = 0; i < ARN_MOST_LANES; i++) {
        if (s->has_fork[i]) arn_workspace_close(&s->fork[i]);
    }
    if (s->is_open) arn_workspace_close(&s->whole);
}

/* The trials of this kind: the rows of the table, or the variants of rows. */
static void choose_trials(series *s, bool by_skyline, bool rows) {
    const arenaut_planner *row[ARN_PLANNERS];
    const uint32_t n_rows = rows ? arn_rows_to_try(ARN_TRY_ORDER, row) : 0;
    s->n = 0;
    for (uint32_t i = 0; i < (rows ? n_rows : N_VARIANTS); i++) {
        const trial t = rows ? (trial){row[i], NULL} : variants[i];
        if (((const arn_pass *)t.row->data)->by_skyline == by_skyline) s->trial[s->n++] = t;
    }
}

static arenaut_status make_kind(series *s, bool by_skyline, bool rows, arn_lanes *lanes) {
    choose_trials(s, by_skyline, rows);
    return make_series(s, lanes);
}

/* ---- planners as they are ---- */

static arenaut_status try_row_in_lane(void *context, uint32_t task, arn_lane *lane) {
    const arenaut_planner *const *rows = context;
    return arn_row_try(rows[task], &lane->planning, &lane->meter);
}

static arenaut_status try_whole_rows(arn_lanes *lanes) {
    const arenaut_planner *row[ARN_PLANNERS], *fit[ARN_PLANNERS];
    const uint32_t n_rows = arn_rows_to_try(ARN_TRY_WHOLE, row);
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_rows; i++) {
        if (arn_row_suits(row[i], lanes->meter->planning->problem)) fit[n++] = row[i];
    }
    return n && arn_meter_wants_plan(lanes->meter) ? arn_lanes_try(lanes, n, try_row_in_lane, fit)
                                                   : ARENAUT_OK;
}

static arenaut_status try_naive(arn_lanes *lanes) {
    const arenaut_planner *only = &arn_planner_naive;
    if (!arn_meter_wants_plan(lanes->meter)) return ARENAUT_OK;
    return arn_lanes_try(lanes, 1, try_row_in_lane, &only);
}

/* ---- all ---- */

/* Rows are made whatever the effort. */
static arenaut_status make_rows(series *s, bool by_skyline, arn_lanes *lanes) {
    arn_meter *meter = lanes->meter;
    const uint64_t limit = meter->limit;
    arn_meter_allow(meter, UINT64_MAX);
    arenaut_status st = make_kind(s, by_skyline, true, lanes);
    if (st == ARENAUT_OK && !by_skyline) st = try_whole_rows(lanes);
    meter->limit = limit;
    arn_meter_spend(meter, 0);
    return st;
}

arenaut_status arn_portfolio_rows(arn_lanes *lanes, uint64_t *pairs) {
    series s;
    arenaut_status st = open_series(&s, &styles[0], lanes);
    if (st != ARENAUT_OK) return st;
    *pairs = count_pairs(&s.whole);
    st = make_rows(&s, true, lanes);
    if (st == ARENAUT_OK && *pairs > MANY_PAIRS) st = make_kind(&s, true, false, lanes);
    if (st == ARENAUT_OK && *pairs <= MOST_PAIRS) st = make_rows(&s, false, lanes);
    close_series(&s);
    return st == ARENAUT_OK ? try_naive(lanes) : st;
}

/* One unit of effort pays for some hundred pairs. */
enum { PAIRS_PER_EFFORT = 1024 };

/* The trials that were left out for their many pairs. If there is no hope that the effort pays for
 * even one such trial, it counts as spent: a larger effort must not find less for having tried. */
static arenaut_status make_late_rows(series *s, uint64_t pairs, arn_lanes *lanes) {
    arn_meter *meter = lanes->meter;
    if (!arn_meter_goes_on(meter)) return ARENAUT_OK;
    if (meter->limit - meter->spent < pairs / PAIRS_PER_EFFORT) {
        arn_meter_spend(meter, meter->limit - meter->spent);
        return ARENAUT_OK;
    }
    const arenaut_status st = make_kind(s, false, true, lanes);
    return st == ARENAUT_OK ? try_whole_rows(lanes) : st;
}

static arenaut_status make_others(const style *how, bool rows, uint64_t pairs, arn_lanes *lanes) {
    series s;
    if (!arn_meter_wants_plan(lanes->meter)) return ARENAUT_OK;
    arenaut_status st = open_series(&s, how, lanes);
    if (st != ARENAUT_OK) return st;
    const bool is_first = how == styles;
    if (!is_first || pairs <= MANY_PAIRS) st = make_kind(&s, true, rows, lanes);
    if (st == ARENAUT_OK && is_first && pairs > MOST_PAIRS) st = make_late_rows(&s, pairs, lanes);
    if (st == ARENAUT_OK) st = make_kind(&s, false, rows, lanes);
    close_series(&s);
    return st;
}

arenaut_status arn_portfolio_rest(arn_lanes *lanes, uint64_t pairs) {
    const uint32_t features = arn_problem_features(lanes->meter->planning->problem);
    arenaut_status st = ARENAUT_OK;
    for (size_t i = 1; i < 2 * N_STYLES && st == ARENAUT_OK; i++) {
        /* The rows in the other styles first, then the other trials in every style. */
        const style *s = &styles[i % N_STYLES];
        const bool rows = i < N_STYLES;
        if ((s->for_features & ~features) == 0) st = make_others(s, rows, pairs, lanes);
    }
    return st;
}
