/* Branch and bound over the storages that are alive at the first run of an op (Land and Doig 1960;
 * Lagrangian bounds: Fisher 1981). Where a minimum cut takes too many bytes at one price and too
 * few at the next, no cut takes just as many as there are, and the bound between them is that of
 * half a storage. So the largest storage in which both differ is alive, or it is not: two cases
 * with bounds of their own, the lower of which holds for both. The case with the lowest bound is
 * split first. */
#include "rewrite/rematerialize/remat_branch.h"

#include "core/checked.h"
#include "core/memory.h"

enum { TRIES_OF_CASE = 10 };

bool arn_remat_branch_make(arn_remat_bounds *bounds, arn_region *region, arn_remat_branch *b) {
    *b = (arn_remat_branch){.bounds = bounds, .room = ARN_REMAT_MOST_CASES};
    return ARN_REGION_ARRAYS(region, ARN_ARRAY(b->cases, b->room),
                             ARN_ARRAY(b->flow, bounds->cut->graph->problem->n_reads));
}

static void assume_path(const arn_remat_branch *b, uint32_t at) {
    for (; at != ARENAUT_NONE; at = b->cases[at].parent) {
        const arn_remat_node *c = &b->cases[at];
        if (c->storage != ARENAUT_NONE) {
            arn_remat_cut_assume(b->bounds->cut, c->storage, (arn_remat_assumed)c->assumed);
        }
    }
}

/* The largest storage that one of the two cuts keeps and the other does not. */
static uint32_t choose_split(const arn_remat_bounds *b) {
    const arenaut_remat_problem *p = b->cut->graph->problem;
    uint32_t best = ARENAUT_NONE;
    for (uint32_t s = 0; s < p->n_storages && b->is_between; s++) {
        if (b->many[s] == b->few[s] || !arn_remat_cut_splits(b->cut, s)) continue;
        if (best == ARENAUT_NONE || p->size[s] > p->size[best]) best = s;
    }
    return best;
}

/* More bytes are alive than there are: a price of a byte that shows so much. */
static void leave_out(arn_remat_branch *b, arn_remat_node *c) {
    c->value = UINT64_MAX;
    c->split = ARENAUT_NONE;
    c->byte_price = b->bounds->most_byte_price;
}

/* The bound of a case, and the storage at which it would be split. */
static void look_at(arn_remat_branch *b, uint32_t at, uint64_t price) {
    arn_remat_bounds *bounds = b->bounds;
    arn_remat_node *c = &b->cases[at];
    arn_remat_cut_at(bounds->cut, b->op);
    assume_path(b, at);
    if (bounds->cut->own > bounds->budget) {
        leave_out(b, c);
        return;
    }
    arn_remat_bound_case(bounds, price, TRIES_OF_CASE);
    c->value = bounds->value;
    c->byte_price = bounds->byte_price;
    c->split = choose_split(bounds);
    c->part = 0;
}

static void add_case(arn_remat_branch *b, uint32_t parent, uint32_t storage,
                     arn_remat_assumed assumed) {
    const uint64_t price = arn_max_u64(b->cases[parent].byte_price, 1);
    b->cases[b->n] =
        (arn_remat_node){.parent = parent, .storage = storage, .assumed = (uint8_t)assumed};
    look_at(b, b->n++, price);
}

/* The leaf with the lowest bound, the first of equals. */
static uint32_t lowest_case(const arn_remat_branch *b) {
    uint32_t best = ARENAUT_NONE;
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->cases[i].part > 0) continue;
        if (best == ARENAUT_NONE || b->cases[i].value < b->cases[best].value) best = i;
    }
    return best;
}

void arn_remat_branch_find(arn_remat_branch *b, uint64_t target, uint32_t most) {
    arn_remat_bounds *bounds = b->bounds;
    const arn_remat_bounds kept = *bounds;
    b->op = kept.op;
    b->value = kept.value;
    b->time_price = kept.time_price;
    b->n = 0;
    if (kept.op == ARENAUT_NONE || kept.value >= target) return;
    b->cases[b->n++] = (arn_remat_node){.parent = ARENAUT_NONE, .storage = ARENAUT_NONE};
    look_at(b, 0, arn_max_u64(kept.byte_price, 1));
    while (b->n + 2 <= most && !arn_budget_ended(bounds->cut->budget)) {
        const uint32_t at = lowest_case(b), split = b->cases[at].split;
        if (b->cases[at].value >= target || split == ARENAUT_NONE) break;
        b->cases[at].part = b->n;
        add_case(b, at, split, ARN_REMAT_ALIVE);
        add_case(b, at, split, ARN_REMAT_GONE);
    }
    b->value = arn_max_u64(b->value, b->cases[lowest_case(b)].value);
    *bounds = kept;
}

uint64_t arn_remat_branch_lowest(const arn_remat_branch *b) {
    const uint32_t at = lowest_case(b);
    arn_remat_cut_at(b->bounds->cut, b->op);
    assume_path(b, at);
    return b->cases[at].byte_price;
}

/* ---- proof ---- */

/* The flow of a leaf. If more bytes are alive than there are, none is needed: their price shows as
 * much as one likes. */
static void show_leaf(arn_remat_branch *b, uint32_t at, uint64_t bound, arenaut_remat_case *line) {
    arn_remat_cut *cut = b->bounds->cut;
    const uint32_t n_reads = cut->graph->problem->n_reads;
    arn_remat_cut_at(cut, b->op);
    assume_path(b, at);
    line->time_price = b->time_price;
    for (uint32_t i = 0; i < n_reads; i++) b->flow[i] = 0;
    if (cut->own > b->bounds->budget) {
        line->time_price = 1;
        line->byte_price = bound / (cut->own - b->bounds->budget) + 1;
        return;
    }
    line->byte_price = b->cases[at].byte_price;
    arn_remat_cut_find(cut, line->byte_price, line->time_price);
    arn_remat_cut_flow(cut, b->flow);
}

static bool keep_flows(arn_remat_branch *b, const arenaut_allocator *allocator,
                       arenaut_remat_case *line, uint32_t *room, arenaut_remat_proof *proof) {
    const arenaut_remat_problem *p = b->bounds->cut->graph->problem;
    for (uint32_t i = 0; i < p->n_reads; i++) {
        if (b->flow[i] == 0) continue;
        if (!arn_grow(allocator, (void **)&proof->flows, room, (uint64_t)proof->n_flows + 1,
                      sizeof *proof->flows)) {
            return false;
        }
        proof->flows[proof->n_flows++] =
            (arenaut_remat_flow){p->reads[i].op, p->reads[i].buffer, b->flow[i]};
        line->n_flows++;
    }
    return true;
}

/* The next node in preorder behind the parts of this one; NONE: there is none. */
static uint32_t node_behind(const arn_remat_branch *b, uint32_t at) {
    while (b->cases[at].parent != ARENAUT_NONE) {
        if (b->cases[at].assumed == ARN_REMAT_ALIVE) return at + 1;
        at = b->cases[at].parent;
    }
    return ARENAUT_NONE;
}

bool arn_remat_branch_prove(arn_remat_branch *b, uint64_t bound, const arenaut_allocator *allocator,
                            arenaut_remat_proof *proof) {
    uint32_t room = 0;
    if (b->n <= 1) return true;
    proof->cases = arn_allocate_zeroed(allocator, b->n, sizeof *proof->cases);
    if (!proof->cases) return false;
    for (uint32_t at = 0; at != ARENAUT_NONE;) {
        const bool splits = b->cases[at].part > 0 && b->cases[at].value < bound;
        arenaut_remat_case *line = &proof->cases[proof->n_cases++];
        line->storage = splits ? b->cases[at].split : ARENAUT_NONE;
        if (!splits) {
            show_leaf(b, at, bound, line);
            if (!keep_flows(b, allocator, line, &room, proof)) return false;
        }
        at = splits ? b->cases[at].part : node_behind(b, at);
    }
    return true;
}
