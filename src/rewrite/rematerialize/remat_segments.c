/* Checkpointing by segments (Chen, Xu, Zhang, Guestrin 2016; after Griewank and Walther's revolve
 * 2000), for graphs: a checkpoint behind an op is all results by then that later ops before the
 * peak read, and from it these can be repeated. A dynamic program over candidates has the least sum
 * of checkpoints such that each segment fits beside those before it. Ops behind the peak read
 * segments from the last to the first. O(candidates^2 + candidates × storages). */
#include "rewrite/rematerialize/remat_segments.h"

#include <string.h>

#include "core/checked.h"
#include "core/sort.h"
#include "rewrite/rematerialize/remat_sequence.h"

enum { MOST_CANDIDATES = 200 };

static void find_reads(arn_remat_segments *s) {
    const arn_remat_graph *g = s->graph;
    for (uint32_t i = 0; i < g->problem->n_storages; i++) {
        const uint32_t maker = g->problem->maker[i];
        s->last_read[i] = maker;
        s->crosses[i] = false;
        if (maker == ARENAUT_NONE || maker >= s->peak) continue;
        for (uint32_t k = g->readers.begin[i]; k < g->readers.begin[i + 1]; k++) {
            if (g->readers.ids[k] < s->peak) s->last_read[i] = g->readers.ids[k];
            else s->crosses[i] = true;
        }
    }
}

static bool is_before_peak(const arn_remat_segments *s, uint32_t storage) {
    const uint32_t maker = s->graph->problem->maker[storage];
    return maker != ARENAUT_NONE && maker < s->peak;
}

/* Bytes of the checkpoint behind each op. */
static void weigh(const arn_remat_segments *s, uint64_t *weight) {
    const arenaut_remat_problem *p = s->graph->problem;
    uint64_t now = 0;
    memset(weight, 0, ((size_t)s->peak + 1) * sizeof *weight);
    for (uint32_t i = 0; i < p->n_storages; i++) {
        if (!is_before_peak(s, i)) continue;
        weight[p->maker[i]] += p->size[i];
        weight[s->last_read[i]] -= p->size[i];
    }
    for (uint32_t op = 0; op < s->peak; op++) weight[op] = now += weight[op];
}

/* The lightest op of each stretch, so that candidates lie where few bytes pass. */
static void list_candidates(arn_remat_segments *s, const uint64_t *weight) {
    const uint32_t step = s->peak / MOST_CANDIDATES + 1;
    s->n = 0;
    for (uint32_t from = 0; from < s->peak; from += step) {
        uint32_t best = from;
        for (uint32_t op = from; op < s->peak && op < from + step; op++) {
            if (weight[op] <= weight[best]) best = op;
        }
        s->position[s->n++] = best;
    }
}

/* The number of candidates at ops before this one. */
static uint32_t candidates_before(const arn_remat_segments *s, uint32_t op) {
    return arn_lower_bound(s->position, s->n, op);
}

/* Bytes made between two candidates and read behind the later one, and bytes that cross. */
static void measure(arn_remat_segments *s) {
    const arenaut_remat_problem *p = s->graph->problem;
    const size_t n = s->n;
    memset(s->fresh, 0, (n + 1) * (n + 1) * sizeof *s->fresh);
    memset(s->inside, 0, (n + 1) * sizeof *s->inside);
    for (uint32_t i = 0; i < p->n_storages; i++) {
        if (!is_before_peak(s, i)) continue;
        const uint32_t made = candidates_before(s, p->maker[i]);
        const uint32_t end = candidates_before(s, s->last_read[i]);
        for (uint32_t k = made; k < end; k++) s->fresh[k * (n + 1) + made] += p->size[i];
        if (s->crosses[i]) s->inside[made] += p->size[i];
    }
    for (uint32_t k = 0; k < n;
         k++) { /* row k, column j: of storages made behind candidate j − 1 */
        for (uint32_t j = k; j-- > 0;) {
            s->fresh[k * (n + 1) + j] += s->fresh[k * (n + 1) + j + 1];
        }
    }
    for (uint32_t k = 1; k <= n; k++) s->inside[k] += s->inside[k - 1];
}

bool arn_remat_segments_make(const arn_remat_graph *graph, arn_region *region, uint32_t peak,
                             arn_remat_segments *s) {
    const size_t n_storages = graph->problem->n_storages;
    const size_t most = (size_t)arn_min_u64(peak, MOST_CANDIDATES) + 1;
    *s = (arn_remat_segments){.graph = graph, .peak = peak};
    uint64_t *weight;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(weight, (size_t)peak + 1),
                           ARN_ARRAY(s->last_read, n_storages), ARN_ARRAY(s->crosses, n_storages),
                           ARN_ARRAY(s->position, most), ARN_ARRAY(s->inside, most),
                           ARN_ARRAY(s->fresh, most * most), ARN_ARRAY(s->least, most),
                           ARN_ARRAY(s->previous, most), ARN_ARRAY(s->chosen, most))) {
        return false;
    }
    find_reads(s);
    weigh(s, weight);
    list_candidates(s, weight);
    measure(s);
    return true;
}

/* ---- the dynamic program ---- */

/* Of the segment behind candidate `from` (n: from the start) up to candidate `to` (n: the peak). */
static uint64_t segment(const arn_remat_segments *s, uint32_t from, uint32_t to, uint32_t stride) {
    const uint64_t before = from == s->n ? 0 : s->inside[from];
    return (s->inside[to] - before) / stride;
}

static uint64_t added_by(const arn_remat_segments *s, uint32_t from, uint32_t to) {
    return s->fresh[(size_t)to * (s->n + 1) + (from == s->n ? 0 : from + 1)];
}

/* Whether the rest fits behind checkpoint `from`, beside all others. */
static void find_least(arn_remat_segments *s, uint64_t bytes, uint32_t stride) {
    for (uint32_t to = 0; to < s->n; to++) {
        s->least[to] = UINT64_MAX;
        s->previous[to] = s->n;
        if (segment(s, s->n, to, stride) <= bytes) s->least[to] = added_by(s, s->n, to);
        for (uint32_t from = 0; from < to; from++) {
            if (s->least[from] == UINT64_MAX) continue;
            const uint64_t sum = s->least[from] + added_by(s, from, to);
            if (s->least[from] + segment(s, from, to, stride) > bytes || sum >= s->least[to]) {
                continue;
            }
            s->least[to] = sum;
            s->previous[to] = from;
        }
    }
}

/* The checkpoint before the peak that leaves most. */
static uint32_t find_last(const arn_remat_segments *s, uint64_t bytes, uint32_t stride) {
    uint64_t best = bytes;
    uint32_t last = ARENAUT_NONE;
    for (uint32_t from = 0; from < s->n; from++) {
        if (s->least[from] == UINT64_MAX) continue;
        const uint64_t sum = s->least[from] + segment(s, from, s->n, stride);
        if (sum > best) continue;
        best = sum;
        last = from;
    }
    return last;
}

/* ---- states ---- */

/* Whether a storage is read behind a checkpoint that is at its maker or later. */
static bool is_kept(const arn_remat_segments *s, uint32_t storage) {
    const uint32_t end = candidates_before(s, s->last_read[storage]);
    for (uint32_t k = candidates_before(s, s->graph->problem->maker[storage]); k < end; k++) {
        if (s->chosen[k]) return true;
    }
    return false;
}

bool arn_remat_segments_choose(arn_remat_segments *s, uint64_t bytes, uint32_t stride,
                               arn_remat_state *state) {
    const arn_remat_graph *g = s->graph;
    find_least(s, bytes, stride);
    uint32_t at = find_last(s, bytes, stride);
    if (at == ARENAUT_NONE) return false;
    memset(s->chosen, 0, s->n * sizeof *s->chosen);
    for (; at != s->n; at = s->previous[at]) s->chosen[at] = true;
    for (uint32_t gap = 0; gap < g->n_gaps; gap++) {
        const arn_remat_gap *of = &g->gaps[gap];
        const uint32_t maker = g->problem->maker[of->storage];
        if (of->tail || of->from >= s->peak || of->to < s->peak || g->solid[of->storage]) continue;
        if (!arn_remat_may_repeat(g->problem, maker, of->to) || is_kept(s, of->storage)) continue;
        const bool stays = candidates_before(s, maker) % stride == 0;
        state[gap] = stays ? ARN_REMAT_RETAIN : ARN_REMAT_LATE;
    }
    return true;
}
