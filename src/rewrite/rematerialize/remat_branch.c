/* Branch and bound over the storages that are alive at the first runs of a chain's ops (Land and
 * Doig 1960; Lagrangian bounds: Fisher 1981). Where a minimum cut takes too many bytes at one price
 * and too few at the next, no cut takes just as many as there are, and the bound between them is
 * that of a part of a storage. So a storage that some of the last cuts keep and others do not is
 * alive, or it is not: two cases with bounds of their own, the lower of which holds for both. The
 * case with the lowest bound is split first. */
#include "rewrite/rematerialize/remat_branch.h"

#include <string.h>

#include "core/memory.h"

enum { TRIES_OF_ONE = 7, TRIES_OF_CASE = 14, TRIES_OF_UNIT = 3 };

bool arn_remat_branch_make(arn_remat_chain *chain, arn_region *region, arn_remat_branch *b) {
    *b = (arn_remat_branch){.chain = chain, .region = region};
    const arenaut_remat_problem *p = chain->graph->problem;
    const size_t most = (size_t)p->n_storages * ARENAUT_REMAT_MOST_LATER;
    return ARN_REGION_ARRAYS(region, ARN_ARRAY(b->cases, ARN_REMAT_MOST_CASES),
                             ARN_ARRAY(b->links, most), ARN_ARRAY(b->flow, p->n_reads));
}

/* ---- a case ---- */

/* Puts the chain to a case. False: there is no room in it. */
static bool enter(arn_remat_branch *b, uint32_t at) {
    arn_remat_chain_at(b->chain, b->op, b->n_ops);
    for (; at != ARENAUT_NONE; at = b->cases[at].parent) {
        const arn_remat_node *c = &b->cases[at];
        if (c->storage == ARENAUT_NONE) break;
        arn_remat_cut_assume(&b->chain->cut[c->moment], c->storage, (arn_remat_assumed)c->assumed);
    }
    return arn_remat_chain_link(b->chain);
}

/* Prices between a case, which has some of the root's links, and its list. */
static void take_prices(const arn_remat_branch *b, arn_remat_prices *list, arn_remat_prices *prices,
                        bool is_back) {
    const arn_remat_chain *c = b->chain;
    uint32_t at = 0;
    for (uint32_t i = 0; i < b->n_links && at < c->n_links; i++) {
        const arn_remat_link *l = &c->links[at];
        if (b->links[i].moment != l->moment || b->links[i].storage != l->storage) continue;
        if (is_back) list->hand[i] = prices->hand[at++];
        else prices->hand[at++] = list->hand[i];
    }
    arn_remat_prices *to = is_back ? list : prices, *from = is_back ? prices : list;
    memcpy(to->byte, from->byte, sizeof to->byte);
    memcpy(to->unit, from->unit, sizeof to->unit);
}

/* The storage, and the moment, of which most is neither alive nor gone in the mean of the last
 * cuts, by the price of its bytes; without any, the dearest of those that are alive. */
static void choose_split(const arn_remat_branch *b, arn_remat_node *node) {
    const arn_remat_chain *c = b->chain;
    double best = 0;
    node->split = ARENAUT_NONE;
    for (uint32_t k = 0; k < c->n; k++) {
        for (uint32_t s = 0; s < c->graph->problem->n_storages; s++) {
            const double alive = (double)c->alive[k][s], part = alive < 0.5 ? alive : 1 - alive;
            const double weight = part > 0.005 ? part : alive > 0.5 ? 1e-30 : 0;
            const double price = 1 + (double)c->best.byte[k];
            const double score = weight * price * (double)c->graph->problem->size[s];
            if (score <= best || !arn_remat_cut_splits(&c->cut[k], s)) continue;
            best = score;
            node->split_moment = k;
            node->split = s;
        }
    }
}

/* The bound of a case from the prices in its list on, and the storage at which it would be split.
 * What is assumed of a storage leaves other bytes, so that another unit may be best, where units
 * are of use at all. */
static void look_at(arn_remat_branch *b, uint32_t at, int64_t target) {
    arn_remat_chain *c = b->chain;
    arn_remat_node *node = &b->cases[at];
    node->part = 0;
    if (!enter(b, at)) {
        node->value = INT64_MAX;
        node->split = ARENAUT_NONE;
        return;
    }
    take_prices(b, &node->prices, &c->now, false);
    arn_remat_chain_ascend(c, target, c->n > 1 ? TRIES_OF_CASE : TRIES_OF_ONE, at > 0 ? 0.3 : 1);
    if (at > 0 && b->cases[0].prices.unit[node->moment] > 1)
        arn_remat_chain_round(c, node->moment, target, TRIES_OF_UNIT);
    take_prices(b, &node->prices, &c->best, true);
    node->value = c->value;
    choose_split(b, node);
}

static bool add_case(arn_remat_branch *b, uint32_t parent, arn_remat_assumed assumed,
                     int64_t target) {
    const arn_remat_node *from = &b->cases[parent];
    arn_remat_node *to = &b->cases[b->n];
    uint64_t *hand = arn_region_allocate(b->region, b->n_links, sizeof *hand);
    if (!hand) return false;
    *to = (arn_remat_node){.parent = parent,
                           .moment = from->split_moment,
                           .storage = from->split,
                           .assumed = (uint8_t)assumed,
                           .prices = from->prices};
    if (b->n_links > 0) memcpy(hand, from->prices.hand, b->n_links * sizeof *hand);
    to->prices.hand = hand;
    look_at(b, b->n++, target);
    return true;
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

/* The chain as it is. */
static bool add_root(arn_remat_branch *b, int64_t target) {
    arn_remat_chain *c = b->chain;
    b->n_ops = c->n;
    memcpy(b->op, c->op, sizeof b->op);
    b->n_links = c->n_links;
    if (c->n_links > 0) memcpy(b->links, c->links, c->n_links * sizeof *b->links);
    uint64_t *hand = arn_region_allocate(b->region, c->n_links, sizeof *hand);
    if (!hand) return false;
    b->cases[0] = (arn_remat_node){.parent = ARENAUT_NONE, .storage = ARENAUT_NONE};
    b->cases[0].prices.hand = hand;
    take_prices(b, &b->cases[0].prices, &c->best, true);
    b->n = 1;
    look_at(b, 0, target);
    return true;
}

bool arn_remat_branch_find(arn_remat_branch *b, uint64_t target, uint32_t most, uint64_t limit) {
    arn_remat_chain *c = b->chain;
    const int64_t scaled = arn_remat_chain_target(c, target);
    bool ok = add_root(b, scaled);
    while (ok && b->n + 2 <= most && arn_remat_chain_spent(c) < limit &&
           !arn_budget_ended(c->cut[0].budget)) {
        const uint32_t at = lowest_case(b);
        if (b->cases[at].value >= scaled || b->cases[at].split == ARENAUT_NONE) break;
        const uint32_t part = b->n;
        ok = add_case(b, at, ARN_REMAT_ALIVE, scaled) && add_case(b, at, ARN_REMAT_GONE, scaled);
        b->cases[at].part = part;
    }
    b->value = ok ? arn_remat_chain_time(c, b->cases[lowest_case(b)].value) : 0;
    return ok;
}

uint64_t arn_remat_branch_lowest(const arn_remat_branch *b, arn_remat_cut *cut) {
    const uint32_t at = lowest_case(b);
    arn_remat_cut_at(cut, b->op[0]);
    for (uint32_t i = at; i != ARENAUT_NONE; i = b->cases[i].parent) {
        const arn_remat_node *c = &b->cases[i];
        if (c->storage == ARENAUT_NONE || c->moment > 0) continue;
        arn_remat_cut_assume(cut, c->storage, (arn_remat_assumed)c->assumed);
    }
    return b->cases[at].prices.byte[0];
}

/* ---- proof ---- */

static bool keep_flow(const arenaut_allocator *allocator, arenaut_remat_flow flow,
                      arenaut_remat_case *line, uint32_t *room, arenaut_remat_proof *proof) {
    if (flow.flow == 0) return true;
    if (!arn_grow(allocator, (void **)&proof->flows, room, (uint64_t)proof->n_flows + 1,
                  sizeof *proof->flows)) {
        return false;
    }
    proof->flows[proof->n_flows++] = flow;
    line->n_flows++;
    return true;
}

/* Of one cut: along reads, and from the later op to storages that are alive at its run, as if it
 * read them. */
static bool keep_flows(arn_remat_branch *b, uint32_t k, const arenaut_allocator *allocator,
                       arenaut_remat_case *line, uint32_t *room, arenaut_remat_proof *proof) {
    const arn_remat_cut *cut = &b->chain->cut[k];
    const arenaut_remat_problem *p = b->chain->graph->problem;
    bool ok = true;
    arn_remat_cut_flow(cut, b->flow);
    for (uint32_t i = 0; i < p->n_reads && ok; i++) {
        const arenaut_remat_flow flow = {p->reads[i].op, p->reads[i].buffer, b->flow[i]};
        ok = keep_flow(allocator, flow, line, room, proof);
    }
    for (uint32_t s = 0; s < p->n_storages && ok && cut->later; s++) {
        const arenaut_remat_flow flow = {cut->later->op, s, arn_remat_cut_handed(cut, s)};
        ok = keep_flow(allocator, flow, line, room, proof);
    }
    return ok;
}

/* The lines of a leaf. If more bytes are alive at a moment than there are, no flow is needed: their
 * price shows as much as one likes. */
static bool show_leaf(arn_remat_branch *b, uint32_t at, uint64_t bound,
                      const arenaut_allocator *allocator, uint32_t *room,
                      arenaut_remat_proof *proof) {
    arn_remat_chain *c = b->chain;
    const bool has_room = enter(b, at);
    bool is_shown = has_room;
    if (has_room) {
        take_prices(b, &b->cases[at].prices, &c->now, false);
        arn_remat_chain_evaluate(c, &c->now);
    }
    for (uint32_t k = 0; k < b->n_ops; k++) {
        arenaut_remat_case *line = &proof->cases[proof->n_cases++];
        *line = (arenaut_remat_case){
            .storage = ARENAUT_NONE, .moment = k, .time_price = c->time_price, .unit = 1};
        if (has_room) {
            line->byte_price = c->now.byte[k];
            line->unit = c->now.unit[k];
            if (!keep_flows(b, k, allocator, line, room, proof)) return false;
            continue;
        }
        line->time_price = 1;
        if (is_shown || c->cut[k].own <= c->budget) continue;
        line->byte_price = bound / (c->cut[k].own - c->budget) + 1;
        is_shown = true;
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
    proof->cases = arn_allocate_zeroed(allocator, (size_t)b->n * b->n_ops, sizeof *proof->cases);
    if (!proof->cases) return false;
    proof->op = b->op[0];
    proof->n_later = b->n_ops - 1;
    for (uint32_t k = 1; k < b->n_ops; k++) proof->later[k - 1] = b->op[k];
    for (uint32_t at = 0; at != ARENAUT_NONE;) {
        const arn_remat_node *node = &b->cases[at];
        if (node->part == 0 || arn_remat_chain_time(b->chain, node->value) >= bound) {
            if (!show_leaf(b, at, bound, allocator, &room, proof)) return false;
            at = node_behind(b, at);
            continue;
        }
        proof->cases[proof->n_cases++] =
            (arenaut_remat_case){.storage = node->split, .moment = node->split_moment, .unit = 1};
        at = node->part;
    }
    return true;
}
