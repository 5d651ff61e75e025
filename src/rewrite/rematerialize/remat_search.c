/* Ratio repair, give back, and large neighbourhood search over the states of gaps. Repair drops the
 * gap with the best ratio of excess to cost; scores are worked out anew only where they lead (lazy
 * greedy: as excess falls, so do scores). Windows are gaps that end close to a position; they are
 * kept, and the schedule is repaired with some noise in the scores. What that adds may be a little
 * more than before, less and less with the effort (threshold accepting, Dueck and Scheuer 1990). */
#include "rewrite/rematerialize/remat_search.h"

#include <string.h>

#include "core/hash.h"
#include "core/sort.h"

bool arn_remat_search_make(arn_remat_sequence *sequence, arn_region *region, arn_budget *budget,
                           uint64_t limit, arn_remat_search *s) {
    const arn_remat_graph *g = sequence->graph;
    const size_t n = g->problem->n_ops, n_gaps = g->n_gaps;
    *s = (arn_remat_search){.sequence = sequence,
                            .graph = g,
                            .budget = budget,
                            .limit = limit,
                            .most_added = UINT64_MAX,
                            .random = 1};
    s->score = arn_region_allocate(region, n_gaps, sizeof *s->score);
    s->known = arn_region_allocate(region, n_gaps, sizeof *s->known);
    s->over = arn_region_allocate(region, n, sizeof *s->over);
    s->sum = arn_region_allocate(region, n / ARN_REMAT_BLOCK + 1, sizeof *s->sum);
    s->least = arn_region_allocate(region, n / ARN_REMAT_BLOCK + 1, sizeof *s->least);
    s->most = arn_region_allocate(region, n / ARN_REMAT_BLOCK + 1, sizeof *s->most);
    s->listed = arn_region_allocate(region, n_gaps, sizeof *s->listed);
    s->runs_of = arn_region_allocate(region, n, sizeof *s->runs_of);
    s->room = 4 * (uint32_t)n;
    s->runs = arn_region_allocate(region, s->room, sizeof *s->runs);
    s->run_at = arn_region_allocate(region, s->room, sizeof *s->run_at);
    s->run_behind = arn_region_allocate(region, s->room, sizeof *s->run_behind);
    s->first_run = arn_region_allocate(region, n, sizeof *s->first_run);
    s->saved = arn_region_allocate(region, n_gaps, sizeof *s->saved);
    s->record = arn_region_allocate(region, n_gaps, sizeof *s->record);
    s->order = arn_region_allocate(region, n_gaps, sizeof *s->order);
    s->scratch = arn_region_allocate(region, n_gaps, sizeof *s->scratch);
    s->key = arn_region_allocate(region, n_gaps, sizeof *s->key);
    s->next = arn_region_allocate(region, n_gaps, sizeof *s->next);
    if (s->known) arn_remat_forget(s);
    return s->known && s->score && s->over && s->sum && s->least && s->most && s->listed &&
           s->runs_of && s->runs && s->run_at && s->run_behind && s->first_run && s->saved &&
           s->record && s->next && s->order && s->scratch && s->key;
}

bool arn_remat_is_over(const arn_remat_search *s) {
    return arn_budget_ended(s->budget) || s->sequence->effort >= s->limit;
}

/* ---- scores ---- */

static void add_over(arn_remat_search *s, uint32_t at, int64_t above) {
    const uint32_t block = s->n_over / ARN_REMAT_BLOCK;
    if (s->n_over % ARN_REMAT_BLOCK == 0) {
        s->sum[block] = s->most[block] = 0;
        s->least[block] = INT64_MAX;
    }
    s->over[s->n_over++] = at;
    s->sum[block] += above;
    if (above > s->most[block]) s->most[block] = above;
    if (above < s->least[block]) s->least[block] = above;
}

static void find_over(arn_remat_search *s) {
    const arn_remat_sequence *q = s->sequence;
    s->n_over = 0;
    for (uint32_t at = 0; at < s->graph->problem->n_ops; at++) {
        if (q->peak[at] > q->budget) add_over(s, at, q->peak[at] - q->budget);
    }
}

/* The first of them at `at` or behind. */
static uint32_t first_over(const arn_remat_search *s, uint32_t at) {
    return arn_lower_bound(s->over, s->n_over, at);
}

/* The first position at which a storage would not be there, if its gap were dropped. */
static uint32_t begin_of_stay(const arn_remat_sequence *q, uint32_t gap) {
    const uint32_t from = q->graph->gaps[gap].from;
    const bool made = arn_remat_is_retained(q->state[gap]) || q->absent[gap];
    return made ? q->made_at[gap] : from + 1;
}

/* In positions [from, to), if so many bytes are gone: block by block, where all of one have more,
 * or none has. */
static int64_t excess_that_goes(const arn_remat_search *s, uint32_t from, uint32_t to,
                                int64_t size) {
    const arn_remat_sequence *q = s->sequence;
    const uint32_t end = first_over(s, to);
    int64_t sum = 0;
    for (uint32_t i = first_over(s, from); i < end;) {
        const uint32_t block = i / ARN_REMAT_BLOCK;
        const bool whole = i % ARN_REMAT_BLOCK == 0 && i + ARN_REMAT_BLOCK <= end;
        if (whole && (s->most[block] <= size || s->least[block] >= size)) {
            sum += s->most[block] <= size ? s->sum[block] : ARN_REMAT_BLOCK * size;
            i += ARN_REMAT_BLOCK;
            continue;
        }
        const int64_t above = q->peak[s->over[i++]] - q->budget;
        sum += above < size ? above : size;
    }
    return sum;
}

static bool is_known(const arn_remat_search *s, uint32_t gap) {
    const arn_remat_known *k = &s->known[gap];
    bool same = k->when > 0 && k->most_cost == s->sequence->most_cost;
    for (uint32_t i = 0; i < k->n && same; i++) same = s->sequence->changed_at[k->on[i]] < k->when;
    return same;
}

static void remember(arn_remat_search *s, uint32_t gap, uint64_t cost, int64_t peak) {
    const arn_remat_sequence *q = s->sequence;
    const arn_remat_lists *makes = &s->graph->makes;
    const uint32_t at = s->graph->gaps[gap].to;
    arn_remat_known *k = &s->known[gap];
    k->when = 0;
    k->n = q->n_seen;
    if (k->n + makes->begin[at + 1] - makes->begin[at] > ARN_REMAT_MOST_SEEN) return;
    memcpy(k->on, q->seen_ids, k->n * sizeof *k->on);
    for (uint32_t i = makes->begin[at]; i < makes->begin[at + 1]; i++) {
        k->on[k->n++] = makes->ids[i];
    }
    k->when = q->change;
    k->cost = cost;
    k->most_cost = q->most_cost;
    k->peak = peak - q->enter[at];
}

/* Of the position at which a gap ends, without it. */
static bool try_without(arn_remat_search *s, uint32_t gap, int64_t more, uint64_t *cost,
                        int64_t *peak) {
    arn_remat_sequence *q = s->sequence;
    const uint32_t at = s->graph->gaps[gap].to;
    if (is_known(s, gap)) {
        q->effort++;
        *cost = s->known[gap].cost;
        *peak = s->known[gap].peak + q->enter[at] + more;
        return true;
    }
    if (!arn_remat_try_position(q, at, more, cost, peak)) return false;
    remember(s, gap, *cost, *peak - more);
    return true;
}

/* Bytes of excess that go, for each nanosecond more at position `at`, if that has this cost and
 * peak then; beside these, so many bytes of excess go elsewhere. */
static double ratio(const arn_remat_sequence *q, uint32_t at, uint64_t cost, int64_t peak,
                    int64_t goes) {
    const uint64_t now = q->cost[at];
    goes += arn_remat_above(q, q->peak[at]) - arn_remat_above(q, peak);
    if (goes <= 0) return 0;
    return (double)goes / (cost > now ? (double)(cost - now) : 0.5);
}

/* A dropped gap costs the repetitions for its next reader. Where an operand would have to be kept
 * behind its last use, that takes bytes as well. `begin`: the first position without it. */
static double score_from(arn_remat_search *s, uint32_t gap, uint32_t begin) {
    arn_remat_sequence *q = s->sequence;
    const arn_remat_gap *of = &s->graph->gaps[gap];
    const int64_t size = (int64_t)s->graph->problem->size[of->storage];
    const arn_remat_state state = q->state[gap];
    if (begin >= of->to) return 0;
    int64_t goes = excess_that_goes(s, begin, of->to, size), more = -size, peak;
    uint64_t cost;
    if (goes == 0) return 0;
    q->state[gap] = ARN_REMAT_LATE;
    bool ok = try_without(s, gap, more, &cost, &peak);
    if (!ok && q->blocked != ARENAUT_NONE && q->state[q->blocked] == ARN_REMAT_LATE) {
        const uint32_t tail = q->blocked;
        const arn_remat_gap *kept = &s->graph->gaps[tail];
        const int64_t bytes = (int64_t)s->graph->problem->size[kept->storage];
        q->state[tail] = ARN_REMAT_KEEP;
        ok = arn_remat_try_position(q, of->to, more + bytes, &cost, &peak);
        q->state[tail] = ARN_REMAT_LATE;
        goes -= excess_that_goes(s, kept->from + 1, kept->to, bytes);
    }
    q->state[gap] = state;
    return ok ? ratio(q, of->to, cost, peak, goes) : 0;
}

/* With another state of a gap, that changes what position `at` takes. */
static double score_at(arn_remat_search *s, uint32_t gap, arn_remat_state state, uint32_t at,
                       int64_t more, int64_t goes) {
    arn_remat_sequence *q = s->sequence;
    const arn_remat_state was = q->state[gap];
    uint64_t cost;
    int64_t peak;
    q->state[gap] = state;
    const bool ok = arn_remat_try_position(q, at, more, &cost, &peak);
    q->state[gap] = was;
    return ok ? ratio(q, at, cost, peak, goes) : 0;
}

uint32_t arn_remat_last_reading(const arn_remat_search *s, uint32_t gap) {
    const arn_remat_gap *of = &s->graph->gaps[gap];
    const uint32_t at = s->sequence->read_at[gap];
    if (!s->goes_later) return ARENAUT_NONE;
    return at != ARENAUT_NONE && at > of->from && at < of->to + of->tail ? at : ARENAUT_NONE;
}

/* Of a kept storage that goes behind the repeated runs of position `at` that read it. */
static double score_of_going(arn_remat_search *s, uint32_t gap, uint32_t at) {
    if (at < s->graph->gaps[gap].to) return score_from(s, gap, at + 1);
    if (s->sequence->peak[at] <= s->sequence->budget) return 0;
    return score_at(s, gap, ARN_REMAT_UNTIL + at, at, 0, 0);
}

/* Of one that does so already, and is dropped: repetitions are those of that position. */
static double score_of_gone(arn_remat_search *s, uint32_t gap) {
    const arn_remat_sequence *q = s->sequence;
    const arn_remat_gap *of = &s->graph->gaps[gap];
    const int64_t size = (int64_t)s->graph->problem->size[of->storage];
    const uint32_t at = q->state[gap] - ARN_REMAT_UNTIL;
    const int64_t goes = excess_that_goes(s, of->from + 1, at, size);
    if (goes == 0 || q->absent[gap]) return 0;
    return score_at(s, gap, ARN_REMAT_LATE, at, -size, goes);
}

/* Of the best way to drop a gap, which is noted. */
static double score_of(arn_remat_search *s, uint32_t gap) {
    const arn_remat_sequence *q = s->sequence;
    const arn_remat_state state = q->state[gap];
    s->next[gap] = state == ARN_REMAT_KEEP ? ARN_REMAT_RETAIN : ARN_REMAT_LATE;
    if (state >= ARN_REMAT_UNTIL) return score_of_gone(s, gap);
    const double score = score_from(s, gap, begin_of_stay(q, gap));
    const uint32_t at = arn_remat_last_reading(s, gap);
    if (at == ARENAUT_NONE || state != ARN_REMAT_KEEP || q->absent[gap]) return score;
    const double later = score_of_going(s, gap, at);
    if (later < score) return score;
    s->next[gap] = ARN_REMAT_UNTIL + at;
    return later;
}

static double with_noise(arn_remat_search *s, double score, uint32_t noise) {
    if (noise == 0) return score;
    return score * (double)(1024 - noise + arn_random_below(&s->random, 2 * noise));
}

/* ---- drops ---- */

static bool may_be_dropped(const arn_remat_search *s, uint32_t gap) {
    const arn_remat_sequence *q = s->sequence;
    const arn_remat_gap *of = &s->graph->gaps[gap];
    if (q->state[gap] == ARN_REMAT_LATE || s->graph->problem->size[of->storage] == 0) return false;
    if (s->graph->solid[of->storage]) return false;
    if (of->tail) return true;
    return arn_remat_may_repeat(s->graph->problem, s->graph->problem->maker[of->storage], of->to);
}

static void list_gaps(arn_remat_search *s, uint32_t noise) {
    s->n_listed = 0;
    for (uint32_t gap = 0; gap < s->graph->n_gaps; gap++) {
        if (!may_be_dropped(s, gap)) continue;
        s->score[gap] = with_noise(s, score_of(s, gap), noise);
        if (s->score[gap] > 0) s->listed[s->n_listed++] = gap;
    }
}

/* Drops a gap, with the tails that this takes. False, with everything as before, if the excess does
 * not fall. */
static bool try_drop(arn_remat_search *s, uint32_t gap) {
    enum { MOST_TAILS = 4 };
    arn_remat_sequence *q = s->sequence;
    const int64_t excess = q->excess;
    const arn_remat_state state = q->state[gap];
    uint32_t tails[MOST_TAILS], n = 0;
    arn_remat_set(q, gap, s->next[gap]);
    while (q->n_bad > 0 && n < MOST_TAILS && q->blocked != ARENAUT_NONE &&
           q->state[q->blocked] == ARN_REMAT_LATE) {
        tails[n++] = q->blocked;
        arn_remat_set(q, tails[n - 1], ARN_REMAT_KEEP);
    }
    if (q->n_bad == 0 && q->excess < excess) return true;
    arn_remat_change(q, gap, state);
    while (n > 0) arn_remat_change(q, tails[--n], ARN_REMAT_LATE);
    arn_remat_follow(q);
    return false;
}

/* ---- the best gap: a binary heap by score, of equals the first ---- */

static bool is_before(const arn_remat_search *s, uint32_t a, uint32_t b) {
    return s->score[a] > s->score[b] || (s->score[a] == s->score[b] && a < b);
}

/* Moves the gap at `at` down to where its score belongs. */
static void sift_down(arn_remat_search *s, uint32_t at) {
    uint32_t *heap = s->listed;
    const uint32_t gap = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->n_listed) break;
        if (child + 1 < s->n_listed && is_before(s, heap[child + 1], heap[child])) child++;
        if (!is_before(s, heap[child], gap)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = gap;
}

static void make_heap(arn_remat_search *s) {
    for (uint32_t i = s->n_listed / 2; i-- > 0;) sift_down(s, i);
}

static double second_score(const arn_remat_search *s) {
    double second = 0;
    for (uint32_t i = 1; i < s->n_listed && i < 3; i++) {
        if (s->score[s->listed[i]] > second) second = s->score[s->listed[i]];
    }
    return second;
}

static bool drop_best(arn_remat_search *s, uint32_t noise) {
    while (s->n_listed > 0 && !arn_remat_is_over(s)) {
        const uint32_t gap = s->listed[0];
        const double was = s->score[gap], second = second_score(s);
        if (was <= 0) return false;
        s->score[gap] = noise ? was : score_of(s, gap);
        const bool first = s->score[gap] >= second || s->score[gap] >= was;
        if (first) s->score[gap] = 0;
        sift_down(s, 0);
        if (first && try_drop(s, gap)) return true;
    }
    return false;
}

/* ---- repair ---- */

bool arn_remat_repair(arn_remat_search *s, uint32_t noise) {
    arn_remat_sequence *q = s->sequence;
    while (q->excess > 0) {
        bool dropped = false;
        find_over(s);
        list_gaps(s, noise);
        make_heap(s);
        while (q->excess > 0 && drop_best(s, noise)) {
            if (q->added >= s->most_added) return false;
            dropped = true;
            find_over(s);
        }
        if (q->excess > 0 && (!dropped || arn_remat_is_over(s))) return false;
    }
    return true;
}

/* ---- give back ---- */

static bool try_state(arn_remat_search *s, uint32_t gap, arn_remat_state state) {
    arn_remat_sequence *q = s->sequence;
    const uint64_t added = q->added;
    const arn_remat_state was = q->state[gap];
    if (was == state) return false;
    arn_remat_set(q, gap, state);
    if (q->n_bad == 0 && q->excess == 0 && q->added < added) return true;
    arn_remat_set(q, gap, was);
    return false;
}

static void list_runs(arn_remat_search *s) {
    arn_remat_sequence *q = s->sequence;
    const uint32_t n = s->graph->problem->n_ops;
    memset(s->runs_of, 0, n * sizeof *s->runs_of);
    q->count_of = s->runs_of;
    q->run_at = s->run_at;
    arn_remat_list_runs(q, s->runs, s->room, &s->n_runs);
    q->count_of = q->run_at = NULL;
    for (uint32_t op = 0; op < n; op++) s->first_run[op] = ARENAUT_NONE;
    for (uint32_t i = s->n_runs < s->room ? s->n_runs : s->room; i-- > 0;) {
        s->run_behind[i] = s->first_run[s->runs[i]];
        s->first_run[s->runs[i]] = i;
    }
}

/* Gaps of storages that are rematerialized, the dearest first. */
static uint32_t list_changeable(arn_remat_search *s) {
    const arn_remat_graph *g = s->graph;
    uint32_t n = 0;
    list_runs(s);
    for (uint32_t gap = 0; gap < g->n_gaps; gap++) {
        const uint32_t maker = g->problem->maker[g->gaps[gap].storage];
        if (maker == ARENAUT_NONE || s->runs_of[maker] < 2) continue;
        s->key[gap] = UINT64_MAX - g->problem->cost[maker];
        s->order[n++] = gap;
    }
    arn_sort_by_key(s->order, n, s->key, s->scratch);
    return n;
}

/* Up to the last of the repeated runs in its gap that read it. */
static bool try_until(arn_remat_search *s, uint32_t gap) {
    const uint32_t at = arn_remat_last_reading(s, gap);
    return at != ARENAUT_NONE && try_state(s, gap, ARN_REMAT_UNTIL + at);
}

void arn_remat_give_back(arn_remat_search *s) {
    const uint32_t n = list_changeable(s);
    for (uint32_t i = 0; i < n && !arn_remat_is_over(s); i++) {
        if (try_state(s, s->order[i], ARN_REMAT_KEEP)) continue;
        if (try_until(s, s->order[i])) continue;
        if (try_state(s, s->order[i], ARN_REMAT_RETAIN)) continue;
        try_state(s, s->order[i], ARN_REMAT_LATE);
    }
}

/* From the first run in its gap that makes it again, the next, and so on. */
static void retain_from_one(arn_remat_search *s, uint32_t gap) {
    const arn_remat_gap *of = &s->graph->gaps[gap];
    bool done = false;
    uint32_t run = s->first_run[s->graph->problem->maker[of->storage]];
    for (; run != ARENAUT_NONE && !done; run = s->run_behind[run]) {
        const uint32_t at = s->run_at[run];
        done = at > of->from && at < of->to && try_state(s, gap, ARN_REMAT_RETAIN + at);
    }
}

void arn_remat_retain_later(arn_remat_search *s) {
    const uint32_t n = list_changeable(s);
    for (uint32_t i = 0; i < n && !arn_remat_is_over(s); i++) retain_from_one(s, s->order[i]);
}

/* ---- windows ---- */

void arn_remat_restore(arn_remat_search *s, const arn_remat_state *states) {
    arn_remat_sequence *q = s->sequence;
    for (uint32_t gap = 0; gap < s->graph->n_gaps; gap++) {
        if (q->state[gap] != states[gap]) arn_remat_change(q, gap, states[gap]);
    }
    arn_remat_follow(q);
}

/* Gaps that are not kept, by how far they end from a position. */
static uint32_t list_near(arn_remat_search *s, uint32_t at) {
    const arn_remat_graph *g = s->graph;
    uint32_t n = 0;
    for (uint32_t gap = 0; gap < g->n_gaps; gap++) {
        if (s->sequence->state[gap] == (g->gaps[gap].tail ? ARN_REMAT_LATE : ARN_REMAT_KEEP))
            continue;
        const uint32_t to = g->gaps[gap].to;
        s->key[gap] = to > at ? to - at : at - to;
        s->order[n++] = gap;
    }
    arn_sort_by_key(s->order, n, s->key, s->scratch);
    return n;
}

/* Where repetitions read a storage behind its last use: it stays between them, or not. */
static void change_tail(arn_remat_search *s, uint32_t gap) {
    const bool late = s->sequence->state[gap] == ARN_REMAT_LATE;
    arn_remat_set(s->sequence, gap, late ? ARN_REMAT_RETAIN : ARN_REMAT_LATE);
}

/* Keeps these gaps, and repairs, with some noise in the scores. All is as before, if that adds
 * `most` or more. */
static void try_keeping(arn_remat_search *s, const uint32_t *gaps, uint32_t n, uint64_t most) {
    enum { NOISE = 400 };
    arn_remat_sequence *q = s->sequence;
    memcpy(s->saved, q->state, s->graph->n_gaps * sizeof *s->saved);
    for (uint32_t i = 0; i < n && q->n_bad == 0; i++) {
        if (s->graph->gaps[gaps[i]].tail) change_tail(s, gaps[i]);
        else arn_remat_set(q, gaps[i], ARN_REMAT_KEEP);
    }
    s->most_added = most;
    const bool below = q->n_bad == 0 && arn_remat_repair(s, NOISE) && q->added < most;
    s->most_added = UINT64_MAX;
    if (!below) arn_remat_restore(s, s->saved);
}

/* A window, after which so much more may be added than before. */
static void try_window(arn_remat_search *s, uint64_t more) {
    enum { MOST_GAPS = 10 };
    const uint32_t n = list_near(s, arn_random_below(&s->random, s->graph->problem->n_ops));
    const uint32_t most = 1 + arn_random_below(&s->random, MOST_GAPS);
    if (n > 0) try_keeping(s, s->order, n < most ? n : most, s->sequence->added + more);
}

void arn_remat_forget(arn_remat_search *s) {
    for (size_t gap = 0; gap < s->graph->n_gaps; gap++) s->known[gap].when = 0;
}

static void keep_record(arn_remat_search *s) {
    memcpy(s->record, s->sequence->state, s->graph->n_gaps * sizeof *s->record);
}

void arn_remat_improve(arn_remat_search *s, uint32_t most_in_vain) {
    enum { PARTS_OF_BASE = 10000 };
    arn_remat_sequence *q = s->sequence;
    const uint64_t begin = q->effort, all = s->limit > begin ? s->limit - begin : 1;
    const double first = (double)s->graph->base / PARTS_OF_BASE;
    uint64_t least = q->added;
    uint32_t in_vain = 0;
    keep_record(s);
    while (in_vain < most_in_vain && !arn_remat_is_over(s) && least > 0) {
        const double left = 1 - (double)(q->effort - begin) / (double)all;
        try_window(s, (uint64_t)(first * left));
        in_vain++;
        if (q->added >= least) continue;
        least = q->added;
        in_vain = 0;
        keep_record(s);
    }
    arn_remat_restore(s, s->record);
}
