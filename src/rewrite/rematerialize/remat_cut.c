/* Network of the Lagrangian minimum cut at the first run of an op. The ops that must run later are
 * the source; each storage and each other op has a node. A storage leads to its maker, and a maker
 * that ran before to the sink, so that a cut pays for bytes that are alive and for repetitions.
 * O(reads) to build. */
#include "rewrite/rematerialize/remat_cut.h"

#include <string.h>

#include "core/checked.h"

static bool allocate(arn_remat_cut *c, arn_region *region) {
    const arenaut_remat_problem *p = c->graph->problem;
    const uint64_t n_nodes = (uint64_t)p->n_ops + p->n_storages + ARN_FLOW_FIRST_NODE;
    const uint64_t n_arcs =
        (uint64_t)c->graph->reads.begin[p->n_ops] + 3 * (uint64_t)p->n_storages + p->n_ops;
    return ARN_REGION_ARRAYS(
               region, ARN_ARRAY(c->when, p->n_ops), ARN_ARRAY(c->stack, p->n_ops),
               ARN_ARRAY(c->free_now, p->n_storages), ARN_ARRAY(c->assumed, p->n_storages),
               ARN_ARRAY(c->again_arc, p->n_ops), ARN_ARRAY(c->alive_arc, p->n_storages),
               ARN_ARRAY(c->hand, p->n_storages), ARN_ARRAY(c->hand_arc, p->n_storages),
               ARN_ARRAY(c->read_of, n_arcs)) &&
           arn_flow_network_reserve(&c->network, n_nodes, n_arcs);
}

/* ---- ops that precede, and that follow ---- */

static bool list_dependences(arn_remat_cut *c, arn_region *region) {
    const arenaut_remat_problem *p = c->graph->problem;
    arn_remat_lists *const both[] = {&c->first, &c->next};
    for (int i = 0; i < 2; i++) {
        arn_remat_lists *l = both[i];
        if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(l->begin, (size_t)p->n_ops + 2),
                               ARN_ARRAY(l->ids, p->n_dependences))) {
            return false;
        }
        for (uint32_t k = 0; k < p->n_dependences; k++) {
            l->begin[(i ? p->dependences[k].first : p->dependences[k].op) + 2]++;
        }
        for (uint32_t op = 2; op < p->n_ops + 2; op++) l->begin[op] += l->begin[op - 1];
        for (uint32_t k = 0; k < p->n_dependences; k++) {
            const uint32_t of = i ? p->dependences[k].first : p->dependences[k].op;
            l->ids[l->begin[of + 1]++] = i ? p->dependences[k].op : p->dependences[k].first;
        }
    }
    return true;
}

bool arn_remat_cut_make(const arn_remat_graph *graph, const arenaut_allocator *allocator,
                        arn_region *region, arn_budget *budget, arn_remat_cut *c) {
    *c = (arn_remat_cut){.graph = graph, .budget = budget, .unit = 1};
    arn_flow_network_init(&c->network, allocator);
    return allocate(c, region) && list_dependences(c, region);
}

void arn_remat_cut_free(arn_remat_cut *c) { arn_flow_network_free(&c->network); }

static void mark(arn_remat_cut *c, uint32_t op, arn_remat_when when, uint32_t *n) {
    if (c->when[op] != ARN_REMAT_ANY) return;
    c->when[op] = (uint8_t)when;
    c->stack[(*n)++] = op;
}

static void mark_before(arn_remat_cut *c, uint32_t op) {
    const arn_remat_graph *g = c->graph;
    uint32_t n = 0;
    c->stack[n++] = op;
    while (n > 0) {
        const uint32_t at = c->stack[--n];
        for (uint32_t i = g->reads.begin[at]; i < g->reads.begin[at + 1]; i++) {
            const uint32_t maker = g->problem->maker[g->reads.ids[i]];
            if (maker != ARENAUT_NONE) mark(c, maker, ARN_REMAT_BEFORE, &n);
        }
        for (uint32_t i = c->first.begin[at]; i < c->first.begin[at + 1]; i++) {
            mark(c, c->first.ids[i], ARN_REMAT_BEFORE, &n);
        }
    }
}

static void mark_after(arn_remat_cut *c, uint32_t op) {
    const arn_remat_graph *g = c->graph;
    uint32_t n = 0;
    c->stack[n++] = op;
    while (n > 0) {
        const uint32_t at = c->stack[--n];
        for (uint32_t i = g->makes.begin[at]; i < g->makes.begin[at + 1]; i++) {
            const uint32_t s = g->makes.ids[i];
            for (uint32_t k = g->readers.begin[s]; k < g->readers.begin[s + 1]; k++) {
                mark(c, g->readers.ids[k], ARN_REMAT_AFTER, &n);
            }
        }
        for (uint32_t i = c->next.begin[at]; i < c->next.begin[at + 1]; i++) {
            mark(c, c->next.ids[i], ARN_REMAT_AFTER, &n);
        }
    }
}

static bool is_read_before(const arn_remat_cut *c, uint32_t s) {
    const arn_remat_lists *readers = &c->graph->readers;
    for (uint32_t i = readers->begin[s]; i < readers->begin[s + 1]; i++) {
        if (c->when[readers->ids[i]] == ARN_REMAT_BEFORE) return true;
    }
    return false;
}

/* Whether a storage was made by then, or begun, in every sequence. */
static bool has_begun(const arn_remat_cut *c, uint32_t s) {
    const arenaut_remat_problem *p = c->graph->problem;
    const uint32_t maker = p->maker[s];
    if (maker != ARENAUT_NONE) return c->when[maker] == ARN_REMAT_BEFORE;
    return arn_remat_held(p, s, ARENAUT_LIVE_IN) || is_read_before(c, s);
}

static void add_own(arn_remat_cut *c, uint32_t s) {
    if (!c->free_now[s]) c->whole += c->graph->problem->size[s];
    c->free_now[s] = true;
}

static void leave_shared(arn_remat_cut *c) { c->own = c->whole - arn_min_u64(c->shared, c->whole); }

void arn_remat_cut_at(arn_remat_cut *c, uint32_t op) {
    const arn_remat_graph *g = c->graph;
    const arenaut_remat_problem *p = g->problem;
    c->shared = arn_remat_shared(g, op);
    c->op = op;
    c->version++;
    memset(c->when, ARN_REMAT_ANY, p->n_ops * sizeof *c->when);
    mark_before(c, op);
    mark_after(c, op);
    memset(c->free_now, 0, p->n_storages * sizeof *c->free_now);
    memset(c->assumed, ARN_REMAT_OPEN, p->n_storages * sizeof *c->assumed);
    c->whole = arn_remat_scratch(p, op);
    for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
        add_own(c, g->reads.ids[i]);
    }
    for (uint32_t i = g->makes.begin[op]; i < g->makes.begin[op + 1]; i++) {
        add_own(c, g->makes.ids[i]);
    }
    for (uint32_t s = 0; s < p->n_storages && p->held; s++) {
        if (arn_remat_held(p, s, ARENAUT_LIVE_OUT) && has_begun(c, s)) add_own(c, s);
    }
    leave_shared(c);
}

/* ---- the network ---- */

static uint32_t add_arc(arn_remat_cut *c, uint32_t from, uint32_t to, uint64_t capacity,
                        uint32_t read) {
    const uint32_t arc = arn_flow_network_add_arc(&c->network, from, to, capacity);
    c->read_of[arc / 2] = read;
    return arc;
}

static uint32_t storage_node(const arn_remat_cut *c, uint32_t s) {
    return ARN_FLOW_FIRST_NODE + c->graph->problem->n_ops + s;
}

/* Storages that make no difference have no arcs: those that are live in any case, or may be made
 * later. */
static bool counts(const arn_remat_cut *c, uint32_t s) {
    const uint32_t maker = c->graph->problem->maker[s];
    if (c->free_now[s]) return false;
    if (maker == ARENAUT_NONE) return has_begun(c, s);
    return c->when[maker] != ARN_REMAT_AFTER;
}

static bool may_run_again_later(const arn_remat_cut *c, uint32_t op) {
    const arenaut_remat_problem *p = c->graph->problem;
    const uint32_t until = p->until ? p->until[op] : ARENAUT_NONE;
    return until == ARENAUT_NONE ||
           (until != op && until != c->op && c->when[until] != ARN_REMAT_BEFORE);
}

bool arn_remat_cut_splits(const arn_remat_cut *c, uint32_t s) {
    const uint32_t maker = c->graph->problem->maker[s];
    if (maker == ARENAUT_NONE || c->assumed[s] != ARN_REMAT_OPEN || !counts(c, s)) return false;
    return arn_remat_held(c->graph->problem, s, ARENAUT_LIVE_OUT) || may_run_again_later(c, maker);
}

void arn_remat_cut_assume(arn_remat_cut *c, uint32_t s, arn_remat_assumed assumed) {
    c->assumed[s] = (uint8_t)assumed;
    c->version++;
    if (assumed == ARN_REMAT_ALIVE) add_own(c, s);
    leave_shared(c);
}

void arn_remat_cut_leave_open(arn_remat_cut *c, bool open) {
    c->open = open;
    c->version++;
}

static uint64_t price_alive(const arn_remat_cut *c, uint32_t s, uint64_t byte_price) {
    if (c->assumed[s] == ARN_REMAT_GONE) return ARN_FLOW_UNLIMITED;
    return byte_price * arn_remat_cut_size(c, s) + (c->extra ? c->extra[s] : 0);
}

/* Whether an op runs first in any case before the later cut's op has run. */
static bool runs_by_then(const arn_remat_cut *c, uint32_t op) {
    return !c->later || op == c->later->op || c->later->when[op] == ARN_REMAT_BEFORE;
}

/* Whether a storage has to be alive or made again in any case, whatever reads it: for the later
 * op's run, or at the end. */
static bool is_awaited(const arn_remat_cut *c, uint32_t s) {
    if (c->later) return c->later->free_now[s];
    return !c->open && arn_remat_held(c->graph->problem, s, ARENAUT_LIVE_OUT);
}

bool arn_remat_cut_hands(const arn_remat_cut *c, uint32_t s) {
    return c->later && counts(c, s) && counts(c->later, s) &&
           c->later->assumed[s] != ARN_REMAT_GONE;
}

static void add_storage(arn_remat_cut *c, uint32_t s) {
    const arn_remat_graph *g = c->graph;
    const uint32_t maker = g->problem->maker[s], node = storage_node(c, s);
    bool needed = false;
    c->alive_arc[s] = c->hand_arc[s] = ARENAUT_NONE;
    if (!counts(c, s)) return;
    const uint32_t to = maker == ARENAUT_NONE ? ARN_FLOW_SINK : ARN_FLOW_FIRST_NODE + maker;
    c->alive_arc[s] = add_arc(c, node, to, 0, ARENAUT_NONE);
    needed = is_awaited(c, s);
    if (needed || arn_remat_cut_hands(c, s))
        c->hand_arc[s] = add_arc(c, ARN_FLOW_SOURCE, node, 0, ARENAUT_NONE);
    for (uint32_t i = g->readers.begin[s]; i < g->readers.begin[s + 1]; i++) {
        const uint32_t reader = g->readers.ids[i];
        if (reader == c->op) continue;
        if (c->when[reader] != ARN_REMAT_AFTER) {
            add_arc(c, ARN_FLOW_FIRST_NODE + reader, node, ARN_FLOW_UNLIMITED, i);
        } else if (!needed && runs_by_then(c, reader)) {
            needed = true;
            add_arc(c, ARN_FLOW_SOURCE, node, ARN_FLOW_UNLIMITED, i);
        }
    }
}

static void build(arn_remat_cut *c) {
    const arenaut_remat_problem *p = c->graph->problem;
    arn_flow_network_clear(&c->network, ARN_FLOW_FIRST_NODE + p->n_ops + p->n_storages);
    for (uint32_t op = 0; op < p->n_ops; op++) {
        const bool is_before = c->when[op] == ARN_REMAT_BEFORE && op != c->op;
        c->again_arc[op] =
            is_before ? add_arc(c, ARN_FLOW_FIRST_NODE + op, ARN_FLOW_SINK, 0, ARENAUT_NONE)
                      : ARENAUT_NONE;
    }
    for (uint32_t s = 0; s < p->n_storages; s++) add_storage(c, s);
}

/* The same network serves until something else is assumed here, or of the later cut. */
static void build_once(arn_remat_cut *c) {
    const uint32_t later = c->later ? c->later->version : 0;
    if (c->built == c->version && c->built_for == later) {
        arn_flow_network_drain(&c->network);
        return;
    }
    build(c);
    c->built = c->version;
    c->built_for = later;
}

static void set_prices(arn_remat_cut *c, uint64_t byte_price, uint64_t time_price) {
    const arenaut_remat_problem *p = c->graph->problem;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        if (c->again_arc[op] == ARENAUT_NONE) continue;
        const uint64_t price =
            may_run_again_later(c, op) ? time_price * p->cost[op] : ARN_FLOW_UNLIMITED;
        arn_flow_network_set(&c->network, c->again_arc[op], price);
    }
    for (uint32_t s = 0; s < p->n_storages; s++) {
        if (c->alive_arc[s] == ARENAUT_NONE) continue;
        arn_flow_network_set(&c->network, c->alive_arc[s], price_alive(c, s, byte_price));
        if (c->hand_arc[s] == ARENAUT_NONE) continue;
        arn_flow_network_set(&c->network, c->hand_arc[s],
                             is_awaited(c, s) ? ARN_FLOW_UNLIMITED : c->hand[s]);
    }
}

static void measure(arn_remat_cut *c) {
    const arenaut_remat_problem *p = c->graph->problem;
    c->cut_cost = c->cut_bytes = 0;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        if (c->when[op] == ARN_REMAT_BEFORE &&
            arn_flow_is_reached(&c->network, ARN_FLOW_FIRST_NODE + op)) {
            c->cut_cost += p->cost[op];
        }
    }
    for (uint32_t s = 0; s < p->n_storages; s++) {
        if (!c->free_now[s] && arn_remat_cut_keeps(c, s)) c->cut_bytes += arn_remat_cut_size(c, s);
    }
}

void arn_remat_cut_find(arn_remat_cut *c, uint64_t byte_price, uint64_t time_price) {
    const uint64_t before = c->network.spent;
    build_once(c);
    set_prices(c, byte_price, time_price);
    c->flow = arn_flow_network_solve(&c->network);
    arn_budget_spend(c->budget, c->network.spent - before);
    measure(c);
}

/* ---- results ---- */

/* Reads of an op are listed in another order than in the problem, and each once. */
void arn_remat_cut_flow(const arn_remat_cut *c, uint64_t *flow) {
    const arenaut_remat_problem *p = c->graph->problem;
    const arn_remat_lists *readers = &c->graph->readers, *uses = &c->graph->uses;
    memset(flow, 0, p->n_reads * sizeof *flow);
    for (uint32_t arc = 0; arc < c->network.n_arcs; arc += 2) {
        const uint64_t sent = arn_flow_along(&c->network, arc);
        if (c->read_of[arc / 2] == ARENAUT_NONE || sent == 0) continue;
        const uint32_t reader = readers->ids[c->read_of[arc / 2]];
        const uint32_t s = c->network.arc[arc].target - ARN_FLOW_FIRST_NODE - p->n_ops;
        for (uint32_t i = uses->begin[reader]; i < uses->begin[reader + 1]; i++) {
            if (p->reads[uses->ids[i]].buffer != s) continue;
            flow[uses->ids[i]] = sent;
            break;
        }
    }
}

bool arn_remat_cut_keeps(const arn_remat_cut *c, uint32_t s) {
    const uint32_t arc = c->alive_arc[s];
    return c->free_now[s] ||
           (arc != ARENAUT_NONE && arn_flow_is_reached(&c->network, storage_node(c, s)) &&
            !arn_flow_is_reached(&c->network, c->network.arc[arc].target));
}

bool arn_remat_cut_provides(const arn_remat_cut *c, uint32_t s) {
    return arn_flow_is_reached(&c->network, storage_node(c, s));
}

uint64_t arn_remat_cut_handed(const arn_remat_cut *c, uint32_t s) {
    return c->hand_arc[s] == ARENAUT_NONE ? 0 : arn_flow_along(&c->network, c->hand_arc[s]);
}

bool arn_remat_cut_drops(const arn_remat_cut *c, uint32_t s) {
    const uint32_t arc = c->alive_arc[s];
    return arc != ARENAUT_NONE && arn_flow_is_reached(&c->network, storage_node(c, s)) &&
           arn_flow_is_reached(&c->network, c->network.arc[arc].target);
}
