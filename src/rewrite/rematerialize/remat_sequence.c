/* Evaluation of a schedule, position by position: operands that are not live are rematerialized
 * first, depth first; then the op runs. Operands of a run are live until that run, in any state of
 * their gaps. O(runs × arguments) a position. */
#include "rewrite/rematerialize/remat_sequence.h"

#include <string.h>

#include "core/checked.h"

enum {
    MOST_DEPTH = 400,     /* makers of makers, made again one for another */
    MOST_AGAIN = 1 << 14, /* runs of one position */
};

/* ---- sets of storages ---- */

static void add_to(arn_remat_storages *set, uint32_t s) {
    set->word[s / 64 % ARN_REMAT_SET_WORDS] |= UINT64_C(1) << s % 64;
}

static bool may_meet(const arn_remat_storages *a, const arn_remat_storages *b) {
    uint64_t both = 0;
    for (size_t i = 0; i < ARN_REMAT_SET_WORDS; i++) both |= a->word[i] & b->word[i];
    return both != 0;
}

/* ---- live storages ---- */

/* `gap`: that of the storage at `at`. */
static bool is_there_in(const arn_remat_sequence *q, uint32_t s, uint32_t at, uint32_t gap) {
    const arn_remat_graph *g = q->graph;
    const arenaut_remat_problem *p = g->problem;
    if (g->solid[s]) {
        const bool begun = arn_remat_held(p, s, ARENAUT_LIVE_IN) ||
                           (g->first[s] != ARENAUT_NONE && g->first[s] < at);
        if (arn_remat_held(p, s, ARENAUT_LIVE_OUT)) return begun;
        if (g->last[s] != ARENAUT_NONE && at <= g->last[s]) return begun;
    }
    if (gap == ARENAUT_NONE) return false;
    switch (q->state[gap]) {
        case ARN_REMAT_KEEP: return !q->absent[gap] || q->made_at[gap] < at;
        case ARN_REMAT_LATE: return false;
        default: break;
    }
    if (arn_remat_is_retained(q->state[gap])) return q->made_at[gap] < at;
    return !q->absent[gap] && at <= q->state[gap] - ARN_REMAT_UNTIL;
}

static bool is_there_at(const arn_remat_sequence *q, uint32_t s, uint32_t at) {
    return is_there_in(q, s, at, arn_remat_gap_at(q->graph, s, at));
}

/* At the present position, of a storage that was looked at. */
static bool is_there_now(const arn_remat_sequence *q, uint32_t s) {
    return is_there_in(q, s, q->at, q->gap_now[s]);
}

/* For the first time at the present position, where this is its gap. */
static void look_at_gap(arn_remat_sequence *q, uint32_t s, uint32_t gap) {
    q->stamp[s] = q->stamp_now;
    add_to(&q->seen, s);
    q->seen_ids[q->n_seen++] = s;
    q->pins[s] = 0;
    q->gap_now[s] = gap;
    q->here[s] = is_there_now(q, s);
}

static inline void look_at(arn_remat_sequence *q, uint32_t s) {
    if (q->stamp[s] == q->stamp_now) return;
    look_at_gap(q, s, arn_remat_gap_at(q->graph, s, q->at));
}

static void put(arn_remat_sequence *q, uint32_t s) {
    if (q->here[s]) return;
    q->here[s] = true;
    q->now += (int64_t)q->graph->problem->size[s];
}

static void drop(arn_remat_sequence *q, uint32_t s) {
    if (!q->here[s]) return;
    q->here[s] = false;
    q->now -= (int64_t)q->graph->problem->size[s];
}

/* ---- retained storages ---- */

static void link_gap(uint32_t gap, uint32_t *head, uint32_t *next, uint32_t *previous) {
    next[gap] = *head;
    previous[gap] = ARENAUT_NONE;
    if (*head != ARENAUT_NONE) previous[*head] = gap;
    *head = gap;
}

static void unlink_gap(uint32_t gap, uint32_t *head, uint32_t *next, uint32_t *previous) {
    if (previous[gap] != ARENAUT_NONE) next[previous[gap]] = next[gap];
    else *head = next[gap];
    if (next[gap] != ARENAUT_NONE) previous[next[gap]] = previous[gap];
}

static void unlink_made(arn_remat_sequence *q, uint32_t gap) {
    unlink_gap(gap, &q->head[q->made_at[gap]], q->next, q->previous);
    q->made_at[gap] = ARENAUT_NONE;
}

static void note_made(arn_remat_sequence *q, uint32_t gap) {
    if (q->dry || q->made_at[gap] <= q->at) return;
    if (q->made_at[gap] != ARENAUT_NONE) unlink_made(q, gap);
    q->made_at[gap] = q->at;
    link_gap(gap, &q->head[q->at], q->next, q->previous);
}

/* At the present position. */
static bool stays_once_made(const arn_remat_sequence *q, uint32_t gap) {
    const arn_remat_state state = q->state[gap];
    if (state >= ARN_REMAT_UNTIL) return !q->absent[gap] && q->at < state - ARN_REMAT_UNTIL;
    return state == ARN_REMAT_KEEP ||
           (state >= ARN_REMAT_RETAIN && q->at >= state - ARN_REMAT_RETAIN);
}

/* Whether a storage stays between two runs of one position. */
static bool stays(const arn_remat_sequence *q, uint32_t s) {
    const arn_remat_graph *g = q->graph;
    if (q->pins[s] > 0) return true;
    if (g->solid[s] && is_there_now(q, s)) return true;
    const uint32_t gap = q->gap_now[s];
    return gap != ARENAUT_NONE && stays_once_made(q, gap);
}

static void release(arn_remat_sequence *q, uint32_t s) {
    if (!q->here[s]) return;
    if (!stays(q, s)) {
        drop(q, s);
        return;
    }
    const uint32_t gap = q->gap_now[s];
    if (gap == ARENAUT_NONE) return;
    const bool made_here = !arn_remat_stays_at_first(q->state[gap]) || q->absent[gap];
    if (made_here && stays_once_made(q, gap)) note_made(q, gap);
}

/* ---- runs ---- */

static bool is_over_after(const arn_remat_sequence *q, uint32_t s, uint32_t op) {
    const arn_remat_graph *g = q->graph;
    if (q->pins[s] != 1) return false;
    if (op != q->at) { /* it is repeated: as above, but for its own pin */
        if (g->solid[s]) return !is_there_now(q, s);
        const uint32_t gap = q->gap_now[s];
        return gap == ARENAUT_NONE || !stays_once_made(q, gap);
    }
    return !is_there_at(q, s, q->at + 1);
}

static int64_t credit(const arn_remat_sequence *q, uint32_t op) {
    const arn_remat_graph *g = q->graph;
    uint64_t most = 0;
    for (uint32_t i = g->rights.begin[op]; i < g->rights.begin[op + 1]; i++) {
        const arenaut_order_right *r = &g->problem->rights[g->rights.ids[i]];
        if (q->stamp[r->over] != q->stamp_now || !is_over_after(q, r->over, op)) continue;
        most = arn_max_u64(most, r->bytes);
    }
    return (int64_t)most;
}

/* Its results are live; one that was live already is no second instance, unless it is live out. */
static void run(arn_remat_sequence *q, uint32_t op) {
    const arn_remat_graph *g = q->graph;
    const arenaut_remat_problem *p = g->problem;
    int64_t twice = 0, right = 0;
    bool fresh = true;
    for (uint32_t i = g->makes.begin[op]; i < g->makes.begin[op + 1]; i++) {
        const uint32_t s = g->makes.ids[i];
        look_at(q, s);
        if (q->here[s]) {
            fresh = false;
            if (arn_remat_held(p, s, ARENAUT_LIVE_OUT)) twice += (int64_t)p->size[s];
        }
        put(q, s);
    }
    if (fresh) right = credit(q, op);
    const int64_t load = q->now + twice + (int64_t)arn_remat_scratch(p, op) - right;
    if (load > q->most) q->most = load;
    if (q->runs && q->n_runs < q->room) q->runs[q->n_runs] = op;
    if (q->run_at && q->n_runs < q->room) q->run_at[q->n_runs] = q->at;
    if (q->count_of) q->count_of[op]++;
    q->n_runs++;
    q->effort++;
}

static bool make_again(arn_remat_sequence *q, uint32_t s, uint32_t depth);

/* Whether no operand of its maker has to be made first. */
static bool is_made_at_once(arn_remat_sequence *q, uint32_t s) {
    const arn_remat_lists *reads = &q->graph->reads;
    const uint32_t op = q->graph->problem->maker[s];
    bool at_once = true;
    if (op == ARENAUT_NONE) return true;
    for (uint32_t i = reads->begin[op]; i < reads->begin[op + 1] && at_once; i++) {
        look_at(q, reads->ids[i]);
        at_once = q->here[reads->ids[i]];
    }
    return at_once;
}

/* By a repeated run. */
static void note_read(arn_remat_sequence *q, uint32_t s) {
    const uint32_t gap = q->gap_now[s];
    if (!q->dry && gap != ARENAUT_NONE) q->read_at[gap] = q->at;
}

/* Operands that take more than one run come first, so that others are not live beside them (Sethi
 * and Ullman 1970). */
static bool fetch_operands(arn_remat_sequence *q, uint32_t op, uint32_t depth) {
    const arn_remat_lists *reads = &q->graph->reads;
    bool ok = true;
    for (uint32_t i = reads->begin[op]; i < reads->begin[op + 1]; i++) {
        look_at(q, reads->ids[i]);
        q->pins[reads->ids[i]]++;
        if (depth > 0) note_read(q, reads->ids[i]);
    }
    for (uint32_t i = reads->begin[op]; i < reads->begin[op + 1] && ok; i++) {
        const uint32_t s = reads->ids[i];
        if (!q->here[s] && !is_made_at_once(q, s)) ok = make_again(q, s, depth);
    }
    for (uint32_t i = reads->begin[op]; i < reads->begin[op + 1] && ok; i++) {
        if (!q->here[reads->ids[i]]) ok = make_again(q, reads->ids[i], depth);
    }
    return ok;
}

static bool make_again(arn_remat_sequence *q, uint32_t s, uint32_t depth) {
    const arn_remat_graph *g = q->graph;
    const uint32_t op = g->problem->maker[s];
    if (op == ARENAUT_NONE || !arn_remat_may_repeat(g->problem, op, q->at) || depth == MOST_DEPTH ||
        q->n_again == MOST_AGAIN || q->cost_now > q->most_cost) {
        const uint32_t gap = q->gap_now[s];
        q->blocked = gap != ARENAUT_NONE && g->gaps[gap].tail ? gap : ARENAUT_NONE;
        return false;
    }
    q->n_again++;
    if (!fetch_operands(q, op, depth + 1)) return false;
    q->cost_now += g->problem->cost[op];
    run(q, op);
    for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
        q->pins[g->reads.ids[i]]--;
        release(q, g->reads.ids[i]);
    }
    for (uint32_t i = g->makes.begin[op]; i < g->makes.begin[op + 1]; i++) {
        release(q, g->makes.ids[i]);
    }
    return true;
}

/* ---- positions ---- */

static void mark(arn_remat_sequence *q, uint32_t at) {
    q->marked[at] = q->change;
    if (at < q->from) q->from = at;
    if (at > q->to) q->to = at;
}

static void mark_end(arn_remat_sequence *q, uint32_t gap) {
    add_to(&q->changed, q->graph->gaps[gap].storage);
    q->changed_at[q->graph->gaps[gap].storage] = q->change;
    if (q->state[gap] >= ARN_REMAT_UNTIL) mark(q, q->state[gap] - ARN_REMAT_UNTIL);
    mark(q, q->graph->gaps[gap].to);
}

static void end_position(arn_remat_sequence *q) {
    const arn_remat_graph *g = q->graph;
    const uint32_t at = q->at;
    for (uint32_t i = g->reads.begin[at]; i < g->reads.begin[at + 1]; i++) {
        const uint32_t s = g->reads.ids[i];
        if (!q->skips) q->pins[s]--;
        if (is_there_in(q, s, at + 1, g->gap_behind[i])) put(q, s);
        else drop(q, s);
    }
    for (uint32_t i = g->makes.begin[at]; i < g->makes.begin[at + 1]; i++) {
        if (!q->skips && !is_there_at(q, g->makes.ids[i], at + 1)) drop(q, g->makes.ids[i]);
    }
    for (uint32_t i = g->tails.begin[at]; i < g->tails.begin[at + 1]; i++) {
        const uint32_t s = g->gaps[g->tails.ids[i]].storage;
        look_at(q, s);
        drop(q, s);
    }
    for (uint32_t gap = q->end_head[at]; gap != ARENAUT_NONE; gap = q->end_next[gap]) {
        look_at(q, g->gaps[gap].storage);
        drop(q, g->gaps[gap].storage);
    }
}

/* Whether an op does not run at its position: all of its results go at once, and are made when they
 * are read. */
static bool is_deferred(const arn_remat_sequence *q, uint32_t op) {
    const arn_remat_graph *g = q->graph;
    bool defer = g->deferrable[op];
    for (uint32_t i = g->makes.begin[op]; i < g->makes.begin[op + 1] && defer; i++) {
        const uint32_t s = g->makes.ids[i], gap = g->gap_begin[s];
        if (gap < g->gap_begin[s + 1]) defer = !arn_remat_stays_at_first(q->state[gap]);
    }
    return defer;
}

/* Operands of a deferred op are there behind it only if they were before. */
static void find_absent(arn_remat_sequence *q, uint32_t at) {
    const arn_remat_graph *g = q->graph;
    if (q->dry) return;
    for (uint32_t i = g->reads.begin[at]; i < g->reads.begin[at + 1]; i++) {
        const uint32_t s = g->reads.ids[i], gap = g->gap_behind[i];
        if (gap == ARENAUT_NONE) continue;
        const bool absent = q->skips && !is_there_now(q, s);
        if (q->absent[gap] == absent) continue;
        q->absent[gap] = absent;
        mark_end(q, gap);
    }
}

/* A storage that no op makes is live from its first use on. */
static bool run_position(arn_remat_sequence *q, uint32_t at, int64_t enter) {
    const arn_remat_graph *g = q->graph;
    q->at = at;
    q->stamp_now++;
    q->seen = (arn_remat_storages){{0}};
    q->n_seen = 0;
    q->now = enter;
    q->most = enter;
    q->cost_now = q->n_again = 0;
    for (uint32_t i = g->reads.begin[at]; i < g->reads.begin[at + 1]; i++) {
        const uint32_t s = g->reads.ids[i];
        look_at_gap(q, s, g->gap_at[i]);
        if (g->first[s] == at) put(q, s);
    }
    q->skips = is_deferred(q, at);
    find_absent(q, at);
    if (!q->skips) {
        if (!fetch_operands(q, at, 0)) return false;
        run(q, at);
    }
    end_position(q);
    return true;
}

bool arn_remat_try_position(arn_remat_sequence *q, uint32_t at, int64_t more, uint64_t *cost,
                            int64_t *peak) {
    q->dry = true;
    const bool ok = run_position(q, at, q->enter[at] + more);
    q->dry = false;
    arn_budget_spend(q->budget_of_search, q->n_again + 1);
    *cost = q->cost_now;
    *peak = q->most;
    return ok;
}

/* Marks the ends of gaps that are made there now, or were. */
static void compare_made(arn_remat_sequence *q, uint32_t at) {
    for (uint32_t i = 0; i < q->n_old; i++) {
        if (q->made_at[q->old[i]] != at) mark_end(q, q->old[i]);
        else q->old_stamp[q->old[i]] = q->stamp_now;
    }
    for (uint32_t gap = q->head[at]; gap != ARENAUT_NONE; gap = q->next[gap]) {
        if (q->old_stamp[gap] != q->stamp_now) mark_end(q, gap);
    }
}

static void set_peak(arn_remat_sequence *q, uint32_t at, int64_t peak) {
    q->excess += arn_remat_above(q, peak) - arn_remat_above(q, q->peak[at]);
    q->peak[at] = peak;
}

static void evaluate(arn_remat_sequence *q, uint32_t at) {
    q->n_old = 0;
    while (q->head[at] != ARENAUT_NONE) {
        q->old[q->n_old++] = q->head[at];
        unlink_made(q, q->head[at]);
    }
    const bool bad = !run_position(q, at, q->enter[at]);
    const uint64_t own = q->graph->problem->cost[at];
    if (bad || q->bad[at]) q->to = q->graph->problem->n_ops - 1;
    q->n_bad = q->n_bad + bad - q->bad[at];
    q->bad[at] = bad;
    q->added += q->cost_now - q->cost[at];
    q->cost[at] = q->cost_now;
    if (q->deferred[at] != q->skips) q->added += q->skips ? 0 - own : own;
    q->deferred[at] = q->skips;
    q->repeats[at] = q->n_again > 0;
    q->looked[at] = q->seen;
    set_peak(q, at, q->most);
    q->enter[at + 1] = q->now;
    compare_made(q, at);
    arn_budget_spend(q->budget_of_search, q->n_again + 1);
}

/* Where no changed gap ends, and nothing is repeated that depends on one, all is as before but for
 * bytes that are live throughout. */
static bool is_as_before(const arn_remat_sequence *q, uint32_t at) {
    if (q->marked[at] == q->change || q->bad[at]) return false;
    return !q->repeats[at] || !may_meet(&q->looked[at], &q->changed);
}

/* Positions from `at` on that are as before; returns the first that is not. */
static uint32_t skip(const arn_remat_sequence *q, uint32_t at) {
    while (at <= q->to && is_as_before(q, at)) at++;
    return at;
}

/* Likewise, with so many bytes more. */
static uint32_t shift(arn_remat_sequence *q, uint32_t at, int64_t more) {
    for (; at <= q->to && is_as_before(q, at); at++) {
        set_peak(q, at, q->peak[at] + more);
        q->enter[at + 1] += more;
    }
    return at;
}

void arn_remat_follow(arn_remat_sequence *q) {
    enum { POSITIONS_OF_A_RUN = 16 }; /* that cost no more than one */
    const uint32_t from = q->from;
    int64_t more = 0;
    for (uint32_t at = from; at <= q->to; at++) {
        at = more == 0 ? skip(q, at) : shift(q, at, more);
        if (at > q->to) break;
        const int64_t next = q->enter[at + 1];
        evaluate(q, at);
        more = q->enter[at + 1] - next;
    }
    if (from <= q->to) q->effort += (q->to - from) / POSITIONS_OF_A_RUN;
    q->change++;
    q->changed = (arn_remat_storages){{0}};
    q->from = ARENAUT_NONE;
    q->to = 0;
}

void arn_remat_change(arn_remat_sequence *q, uint32_t gap, arn_remat_state state) {
    const arn_remat_gap *g = &q->graph->gaps[gap];
    const arn_remat_state was = q->state[gap];
    mark_end(q, gap);
    if (was >= ARN_REMAT_UNTIL) {
        uint32_t *head = &q->end_head[was - ARN_REMAT_UNTIL];
        unlink_gap(gap, head, q->end_next, q->end_previous);
    }
    if (state >= ARN_REMAT_UNTIL) {
        uint32_t *head = &q->end_head[state - ARN_REMAT_UNTIL];
        link_gap(gap, head, q->end_next, q->end_previous);
    }
    q->state[gap] = state;
    mark(q, g->from);
    mark_end(q, gap);
}

void arn_remat_forget_reads(arn_remat_sequence *q) {
    for (uint32_t gap = 0; gap < q->graph->n_gaps; gap++) q->read_at[gap] = ARENAUT_NONE;
}

void arn_remat_set(arn_remat_sequence *q, uint32_t gap, arn_remat_state state) {
    arn_remat_change(q, gap, state);
    arn_remat_follow(q);
}

/* ---- all of it ---- */

void arn_remat_set_budget(arn_remat_sequence *q, uint64_t budget) {
    q->budget = (int64_t)budget;
    q->excess = 0;
    for (uint32_t at = 0; at < q->graph->problem->n_ops; at++)
        q->excess += arn_remat_above(q, q->peak[at]);
}

int64_t arn_remat_peak(const arn_remat_sequence *q, uint32_t *at) {
    int64_t most = 0;
    if (at) *at = 0;
    for (uint32_t i = 0; i < q->graph->problem->n_ops; i++) {
        if (q->peak[i] <= most) continue;
        most = q->peak[i];
        if (at) *at = i;
    }
    return most;
}

bool arn_remat_list_runs(arn_remat_sequence *q, uint32_t *runs, uint32_t room, uint32_t *n) {
    const uint64_t most_cost = q->most_cost;
    q->runs = runs;
    q->room = room;
    q->n_runs = 0;
    q->most_cost = UINT64_MAX;
    for (uint32_t at = 0; at < q->graph->problem->n_ops; at++) {
        q->dry = true;
        run_position(q, at, q->enter[at]);
        q->dry = false;
    }
    q->most_cost = most_cost;
    q->runs = NULL;
    *n = q->n_runs;
    return q->n_runs <= room;
}

static bool allocate_for_gaps(arn_remat_sequence *q, arn_region *region) {
    const size_t n = q->graph->n_gaps;
    q->state = arn_region_allocate(region, n, sizeof *q->state);
    q->made_at = arn_region_allocate(region, n, sizeof *q->made_at);
    q->absent = arn_region_allocate(region, n, sizeof *q->absent);
    q->next = arn_region_allocate(region, n, sizeof *q->next);
    q->previous = arn_region_allocate(region, n, sizeof *q->previous);
    q->end_next = arn_region_allocate(region, n, sizeof *q->end_next);
    q->end_previous = arn_region_allocate(region, n, sizeof *q->end_previous);
    q->read_at = arn_region_allocate(region, n, sizeof *q->read_at);
    q->old = arn_region_allocate(region, n, sizeof *q->old);
    q->old_stamp = arn_region_allocate(region, n, sizeof *q->old_stamp);
    return q->state && q->made_at && q->absent && q->next && q->previous && q->end_next &&
           q->end_previous && q->read_at && q->old && q->old_stamp;
}

static bool allocate_for_ops(arn_remat_sequence *q, arn_region *region) {
    const size_t n = q->graph->problem->n_ops;
    q->repeats = arn_region_allocate(region, n, sizeof *q->repeats);
    q->looked = arn_region_allocate(region, n, sizeof *q->looked);
    q->marked = arn_region_allocate(region, n, sizeof *q->marked);
    q->deferred = arn_region_allocate(region, n, sizeof *q->deferred);
    q->head = arn_region_allocate(region, n, sizeof *q->head);
    q->end_head = arn_region_allocate(region, n, sizeof *q->end_head);
    q->enter = arn_region_allocate(region, n + 1, sizeof *q->enter);
    q->peak = arn_region_allocate(region, n, sizeof *q->peak);
    q->cost = arn_region_allocate(region, n, sizeof *q->cost);
    q->bad = arn_region_allocate(region, n, sizeof *q->bad);
    return q->repeats && q->looked && q->marked && q->deferred && q->head && q->end_head &&
           q->enter && q->peak && q->cost && q->bad;
}

static bool allocate_for_storages(arn_remat_sequence *q, arn_region *region) {
    const size_t n = q->graph->problem->n_storages;
    q->stamp = arn_region_allocate(region, n, sizeof *q->stamp);
    q->pins = arn_region_allocate(region, n, sizeof *q->pins);
    q->here = arn_region_allocate(region, n, sizeof *q->here);
    q->changed_at = arn_region_allocate(region, n, sizeof *q->changed_at);
    q->gap_now = arn_region_allocate(region, n, sizeof *q->gap_now);
    q->seen_ids = arn_region_allocate(region, n, sizeof *q->seen_ids);
    return q->stamp && q->pins && q->here && q->changed_at && q->gap_now && q->seen_ids;
}

bool arn_remat_sequence_make(const arn_remat_graph *graph, arn_region *region, arn_budget *budget,
                             arn_remat_sequence *q) {
    const arenaut_remat_problem *p = graph->problem;
    *q = (arn_remat_sequence){.graph = graph,
                              .budget_of_search = budget,
                              .blocked = ARENAUT_NONE,
                              .most_cost = UINT64_MAX,
                              .change = 1,
                              .from = ARENAUT_NONE};
    if (!allocate_for_gaps(q, region) || !allocate_for_ops(q, region) ||
        !allocate_for_storages(q, region))
        return false;
    for (uint32_t i = 0; i < graph->n_gaps; i++) {
        q->state[i] = graph->gaps[i].tail ? ARN_REMAT_LATE : ARN_REMAT_KEEP;
        q->made_at[i] = q->read_at[i] = ARENAUT_NONE;
        q->absent[i] = false;
        q->old_stamp[i] = 0;
    }
    memset(q->stamp, 0, p->n_storages * sizeof *q->stamp);
    memset(q->changed_at, 0, p->n_storages * sizeof *q->changed_at);
    memset(q->peak, 0, p->n_ops * sizeof *q->peak);
    memset(q->cost, 0, p->n_ops * sizeof *q->cost);
    memset(q->repeats, 0, p->n_ops * sizeof *q->repeats);
    memset(q->looked, 0, p->n_ops * sizeof *q->looked);
    memset(q->marked, 0, p->n_ops * sizeof *q->marked);
    memset(q->deferred, 0, p->n_ops * sizeof *q->deferred);
    memset(q->bad, 0, p->n_ops * sizeof *q->bad);
    for (uint32_t i = 0; i < p->n_ops; i++) q->head[i] = q->end_head[i] = ARENAUT_NONE;
    memset(q->enter, 0, ((size_t)p->n_ops + 1) * sizeof *q->enter);
    for (uint32_t s = 0; s < p->n_storages; s++) {
        if (is_there_at(q, s, 0)) q->enter[0] += (int64_t)p->size[s];
    }
    for (uint32_t i = 0; i < p->n_ops; i++) mark(q, i);
    arn_remat_follow(q);
    return true;
}
