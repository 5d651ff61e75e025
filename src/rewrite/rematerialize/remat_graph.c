/* Def-use lists by counting sort, and validation of the problem. */
#include "rewrite/rematerialize/remat_graph.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"

/* ---- validation ---- */

static bool are_makers(const arenaut_remat_problem *p) {
    bool ok = true;
    for (uint32_t s = 0; s < p->n_storages && ok; s++) {
        const bool made = p->maker[s] != ARENAUT_NONE;
        ok = !made || (p->maker[s] < p->n_ops && !arn_remat_held(p, s, ARENAUT_LIVE_IN));
    }
    return ok;
}

static arenaut_status check_numbers(const arenaut_remat_problem *p, arenaut_error *err) {
    bool ok = true;
    for (uint32_t i = 0; i < p->n_reads && ok; i++) {
        ok = p->reads[i].op < p->n_ops && p->reads[i].buffer < p->n_storages;
    }
    for (uint32_t i = 0; i < p->n_dependences && ok; i++) {
        ok = p->dependences[i].op < p->n_ops && p->dependences[i].first < p->dependences[i].op;
    }
    for (uint32_t i = 0; i < p->n_rights && ok; i++) {
        const arenaut_order_right *r = &p->rights[i];
        ok = r->op < p->n_ops && r->made < p->n_storages && r->over < p->n_storages &&
             r->bytes <= arn_min_u64(p->size[r->made], p->size[r->over]);
    }
    for (uint32_t i = 0; i < p->n_ops && ok && p->until; i++) {
        ok = p->until[i] == ARENAUT_NONE || p->until[i] < p->n_ops;
    }
    if (ok && are_makers(p)) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "a number in the problem is out of range");
}

static arenaut_status check_problem(const arenaut_remat_problem *p, uint64_t *base,
                                    arenaut_error *err) {
    uint64_t bytes = 0;
    arenaut_status st = check_numbers(p, err);
    if (st != ARENAUT_OK) return st;
    *base = 0;
    for (uint32_t i = 0; i < p->n_reads; i++) {
        const uint32_t maker = p->maker[p->reads[i].buffer];
        if (maker == ARENAUT_NONE || maker < p->reads[i].op) continue;
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "op %" PRIu32 " reads storage %" PRIu32 ", which is not made before",
                        p->reads[i].op, p->reads[i].buffer);
    }
    bool sized = true, timed = true;
    for (uint32_t s = 0; s < p->n_storages && sized; s++)
        sized = arn_add(bytes, p->size[s], &bytes);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        sized = sized && arn_add(bytes, arn_remat_scratch(p, i), &bytes);
        timed = timed && arn_add(*base, p->cost[i], base);
    }
    sized = sized && bytes <= ARN_REMAT_LARGEST_SUM;
    if (sized && timed && *base <= ARN_REMAT_LARGEST_SUM) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                    "for rematerialization, %s add up to more than %" PRIu64 " %s",
                    sized ? "the times of all ops" : "all buffers", ARN_REMAT_LARGEST_SUM,
                    sized ? "nanoseconds" : "bytes");
}

/* ---- lists ---- */

typedef struct entry {
    uint32_t of, id;
} entry;

static bool allocate_lists(arn_region *region, uint32_t n, uint32_t n_ids, arn_remat_lists *lists) {
    lists->begin = arn_region_allocate(region, (size_t)n + 1, sizeof *lists->begin);
    lists->ids = arn_region_allocate(region, n_ids, sizeof *lists->ids);
    return lists->begin && lists->ids;
}

/* Keeps the order of entries that are of one. */
static bool make_lists(arn_region *region, uint32_t n, const entry *entries, uint32_t n_entries,
                       arn_remat_lists *lists) {
    if (!allocate_lists(region, n, n_entries, lists)) return false;
    memset(lists->begin, 0, ((size_t)n + 1) * sizeof *lists->begin);
    for (uint32_t i = 0; i < n_entries; i++) lists->begin[entries[i].of]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= n; i++) {
        const uint32_t count = i < n ? lists->begin[i] : 0;
        lists->begin[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n_entries; i++) {
        lists->ids[lists->begin[entries[i].of]++] = entries[i].id;
    }
    for (uint32_t i = n; i > 0; i--) lists->begin[i] = lists->begin[i - 1];
    lists->begin[0] = 0;
    return true;
}

/* Readers first, by op, so that they ascend; then the operands of each op, each once. */
static bool list_reads(arn_region *region, arn_remat_graph *g, entry *entries) {
    const arenaut_remat_problem *p = g->problem;
    uint32_t *seen = arn_region_allocate(region, p->n_storages, sizeof *seen), n = 0;
    if (!seen) return false;
    for (uint32_t i = 0; i < p->n_reads; i++) {
        entries[i] = (entry){p->reads[i].op, i};
    }
    if (!make_lists(region, p->n_ops, entries, p->n_reads, &g->uses)) return false;
    for (uint32_t s = 0; s < p->n_storages; s++) seen[s] = ARENAUT_NONE;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
            const uint32_t s = p->reads[g->uses.ids[i]].buffer;
            if (seen[s] != op) entries[n++] = (entry){op, s};
            seen[s] = op;
        }
    }
    if (!make_lists(region, p->n_ops, entries, n, &g->reads)) return false;
    for (uint32_t i = 0; i < n; i++) entries[i] = (entry){entries[i].id, entries[i].of};
    return make_lists(region, p->n_storages, entries, n, &g->readers);
}

static bool list_rest(arn_region *region, arn_remat_graph *g, entry *entries) {
    const arenaut_remat_problem *p = g->problem;
    uint32_t n = 0;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        if (p->maker[s] != ARENAUT_NONE) entries[n++] = (entry){p->maker[s], s};
    }
    if (!make_lists(region, p->n_ops, entries, n, &g->makes)) return false;
    for (uint32_t i = 0; i < p->n_rights; i++) entries[i] = (entry){p->rights[i].op, i};
    return make_lists(region, p->n_ops, entries, p->n_rights, &g->rights);
}

/* ---- gaps ---- */

static void find_ends(arn_remat_graph *g, uint32_t s) {
    const arenaut_remat_problem *p = g->problem;
    const uint32_t begin = g->readers.begin[s], end = g->readers.begin[s + 1];
    g->solid[s] = p->maker[s] == ARENAUT_NONE || arn_remat_held(p, s, ARENAUT_LIVE_OUT);
    g->first[s] = p->maker[s] != ARENAUT_NONE ? p->maker[s]
                  : begin < end               ? g->readers.ids[begin]
                                              : ARENAUT_NONE;
    g->last[s] = begin < end ? g->readers.ids[end - 1] : g->first[s];
}

/* Runs that read a storage may be repeated for any reader of their results. */
static uint32_t end_of_readers(const arn_remat_graph *g, uint32_t s) {
    uint32_t end = 0;
    for (uint32_t i = g->readers.begin[s]; i < g->readers.begin[s + 1]; i++) {
        const uint32_t op = g->readers.ids[i];
        for (uint32_t k = g->makes.begin[op]; k < g->makes.begin[op + 1]; k++) {
            const uint32_t last = g->last[g->makes.ids[k]];
            if (last > end) end = last;
        }
    }
    return end;
}

/* Per op: the last read of its results, or of results made of these. */
static void find_reach(const arn_remat_graph *g, uint32_t *reach) {
    for (uint32_t op = g->problem->n_ops; op-- > 0;) {
        reach[op] = op;
        for (uint32_t k = g->makes.begin[op]; k < g->makes.begin[op + 1]; k++) {
            const uint32_t s = g->makes.ids[k];
            for (uint32_t i = g->readers.begin[s]; i < g->readers.begin[s + 1]; i++) {
                const uint32_t reader = g->readers.ids[i];
                if (reach[reader] > reach[op]) reach[op] = reach[reader];
            }
        }
    }
}

/* What cannot be made again, as it was drawn by chance, may have to stay for repetitions of
 * repetitions. Others need not: their makers are repeated as well. */
static uint32_t end_of_tail(const arn_remat_graph *g, uint32_t s, const uint32_t *reach) {
    const uint32_t maker = g->problem->maker[s];
    const bool stays =
        maker != ARENAUT_NONE && g->problem->until && g->problem->until[maker] != ARENAUT_NONE;
    return stays ? reach[maker] : end_of_readers(g, s);
}

static void add_gaps(arn_remat_graph *g, uint32_t s, const uint32_t *reach, entry *tails,
                     uint32_t *n_tails) {
    const arenaut_remat_problem *p = g->problem;
    uint32_t from = p->maker[s];
    g->gap_begin[s] = g->n_gaps;
    if (g->first[s] == ARENAUT_NONE || arn_remat_held(p, s, ARENAUT_LIVE_OUT)) return;
    for (uint32_t i = g->readers.begin[s]; i < g->readers.begin[s + 1] && !g->solid[s]; i++) {
        g->gaps[g->n_gaps++] = (arn_remat_gap){s, from, g->readers.ids[i], false};
        from = g->readers.ids[i];
    }
    const uint32_t end = end_of_tail(g, s, reach);
    if (end <= g->last[s]) return;
    tails[(*n_tails)++] = (entry){end, g->n_gaps};
    g->gaps[g->n_gaps++] = (arn_remat_gap){s, g->last[s], end, true};
}

uint32_t arn_remat_gap_at(const arn_remat_graph *g, uint32_t s, uint32_t at) {
    uint32_t low = g->gap_begin[s], high = g->gap_begin[s + 1];
    if (low < high && at <= g->gaps[low].to) return g->gaps[low].from < at ? low : ARENAUT_NONE;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (g->gaps[middle].to < at) low = middle + 1;
        else high = middle;
    }
    return low < g->gap_begin[s + 1] && g->gaps[low].from < at ? low : ARENAUT_NONE;
}

static void find_gaps_of_reads(arn_remat_graph *g) {
    for (uint32_t op = 0; op < g->problem->n_ops; op++) {
        for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
            g->gap_at[i] = arn_remat_gap_at(g, g->reads.ids[i], op);
            g->gap_behind[i] = arn_remat_gap_at(g, g->reads.ids[i], op + 1);
        }
    }
}

/* ---- deferrable ops ---- */

static bool reads_of(const arn_remat_graph *g, uint32_t op, uint32_t maker) {
    bool reads = false;
    for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
        reads = reads || g->problem->maker[g->reads.ids[i]] == maker;
    }
    return reads;
}

/* Those that may always be repeated, for readers, and that no other op has to follow; first runs
 * that have to stay in turn do. */
static void find_deferrable(arn_remat_graph *g) {
    const arenaut_remat_problem *p = g->problem;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        bool may = !p->until || p->until[op] == ARENAUT_NONE, read = false;
        may = may && (!p->in_turn || !p->in_turn[op]);
        for (uint32_t i = g->makes.begin[op]; i < g->makes.begin[op + 1]; i++) {
            const uint32_t s = g->makes.ids[i];
            may = may && !g->solid[s];
            read = read || g->readers.begin[s] < g->readers.begin[s + 1];
        }
        g->deferrable[op] = may && read;
    }
    for (uint32_t i = 0; i < p->n_dependences; i++) {
        const arenaut_order_dependence *d = &p->dependences[i];
        if (!reads_of(g, d->op, d->first)) g->deferrable[d->first] = false;
    }
}

/* Rights to write a result over an operand. */
static bool are_rights(const arn_remat_graph *g) {
    const arenaut_remat_problem *p = g->problem;
    bool ok = true;
    for (uint32_t i = 0; i < p->n_rights && ok; i++) {
        const arenaut_order_right *r = &p->rights[i];
        bool reads = false;
        for (uint32_t k = g->reads.begin[r->op]; k < g->reads.begin[r->op + 1]; k++) {
            reads = reads || g->reads.ids[k] == r->over;
        }
        ok = reads && p->maker[r->made] == r->op;
    }
    return ok;
}

static bool allocate(arn_region *region, arn_remat_graph *g) {
    const arenaut_remat_problem *p = g->problem;
    const size_t n = p->n_storages;
    g->first = arn_region_allocate(region, n, sizeof *g->first);
    g->last = arn_region_allocate(region, n, sizeof *g->last);
    g->gap_begin = arn_region_allocate(region, n + 1, sizeof *g->gap_begin);
    g->gaps = arn_region_allocate(region, n + p->n_reads, sizeof *g->gaps);
    g->gap_at = arn_region_allocate(region, p->n_reads, sizeof *g->gap_at);
    g->gap_behind = arn_region_allocate(region, p->n_reads, sizeof *g->gap_behind);
    g->solid = arn_region_allocate(region, n, sizeof *g->solid);
    g->deferrable = arn_region_allocate(region, p->n_ops, sizeof *g->deferrable);
    return g->first && g->last && g->gap_begin && g->gaps && g->gap_at && g->gap_behind &&
           g->solid && g->deferrable;
}

arenaut_status arn_remat_graph_make(const arenaut_remat_problem *problem, arn_region *region,
                                    arn_remat_graph *g, arenaut_error *err) {
    *g = (arn_remat_graph){.problem = problem};
    const arenaut_status st = check_problem(problem, &g->base, err);
    if (st != ARENAUT_OK) return st;
    const size_t most = (size_t)problem->n_storages + problem->n_reads + problem->n_rights;
    entry *entries = arn_region_allocate(region, most, sizeof *entries);
    uint32_t *reach = arn_region_allocate(region, problem->n_ops, sizeof *reach);
    if (!entries || !reach || !allocate(region, g) || !list_reads(region, g, entries) ||
        !list_rest(region, g, entries)) {
        return arn_no_memory(err);
    }
    if (!are_rights(g)) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "a right is not of storages that its op uses");
    }
    uint32_t n_tails = 0;
    for (uint32_t s = 0; s < problem->n_storages; s++) find_ends(g, s);
    find_reach(g, reach);
    for (uint32_t s = 0; s < problem->n_storages; s++) add_gaps(g, s, reach, entries, &n_tails);
    g->gap_begin[problem->n_storages] = g->n_gaps;
    find_gaps_of_reads(g);
    find_deferrable(g);
    if (!make_lists(region, problem->n_ops, entries, n_tails, &g->tails)) return arn_no_memory(err);
    return ARENAUT_OK;
}

uint64_t arn_remat_shared(const arn_remat_graph *g, uint32_t op) {
    const arenaut_remat_problem *p = g->problem;
    uint64_t most = p->shared ? p->shared[op] : 0;
    for (uint32_t i = g->rights.begin[op]; i < g->rights.begin[op + 1]; i++) {
        most = arn_max_u64(most, p->rights[g->rights.ids[i]].bytes);
    }
    return most;
}

uint64_t arn_remat_bytes_made(const arn_remat_graph *g, uint32_t op) {
    uint64_t bytes = 0;
    for (uint32_t i = g->makes.begin[op]; i < g->makes.begin[op + 1]; i++) {
        bytes += g->problem->size[g->makes.ids[i]];
    }
    return bytes;
}
