/* A node for each storage and each op that does not run later in any case; these are the source. A
 * storage leads to its maker, and a maker that ran before to the sink, so that a cut pays for what
 * is alive or made again. The flow is Dinic's. O(reads) to build. */
#include "rewrite/rematerialize/remat_cut.h"

#include <string.h>

#include "core/checked.h"

enum { SOURCE, SINK, FIRST_NODE };

#define ENDLESS (UINT64_MAX / 4)

static bool allocate(arn_remat_cut *c, arn_region *region) {
    const arenaut_remat_problem *p = c->graph->problem;
    const size_t n_nodes = (size_t)p->n_ops + p->n_storages + FIRST_NODE;
    c->arc_room = 2 * (c->graph->reads.begin[p->n_ops] + 2 * p->n_storages + p->n_ops);
    c->when = arn_region_allocate(region, p->n_ops, sizeof *c->when);
    c->stack = arn_region_allocate(region, p->n_ops, sizeof *c->stack);
    c->free_now = arn_region_allocate(region, p->n_storages, sizeof *c->free_now);
    c->alive_arc = arn_region_allocate(region, p->n_storages, sizeof *c->alive_arc);
    c->head = arn_region_allocate(region, n_nodes, sizeof *c->head);
    c->level = arn_region_allocate(region, n_nodes, sizeof *c->level);
    c->arc_now = arn_region_allocate(region, n_nodes, sizeof *c->arc_now);
    c->path = arn_region_allocate(region, n_nodes, sizeof *c->path);
    c->next_arc = arn_region_allocate(region, c->arc_room, sizeof *c->next_arc);
    c->target = arn_region_allocate(region, c->arc_room, sizeof *c->target);
    c->room = arn_region_allocate(region, c->arc_room, sizeof *c->room);
    c->full = arn_region_allocate(region, c->arc_room, sizeof *c->full);
    c->read_of = arn_region_allocate(region, c->arc_room, sizeof *c->read_of);
    return c->when && c->stack && c->free_now && c->alive_arc && c->head && c->level &&
           c->arc_now && c->path && c->next_arc && c->target && c->room && c->full && c->read_of;
}

/* ---- what runs before, and what behind ---- */

static bool list_waits(arn_remat_cut *c, arn_region *region) {
    const arenaut_remat_problem *p = c->graph->problem;
    arn_remat_lists *const both[] = {&c->first, &c->next};
    for (int i = 0; i < 2; i++) {
        arn_remat_lists *l = both[i];
        l->begin = arn_region_allocate(region, (size_t)p->n_ops + 2, sizeof *l->begin);
        l->ids = arn_region_allocate(region, p->n_dependences, sizeof *l->ids);
        if (!l->begin || !l->ids) return false;
        memset(l->begin, 0, ((size_t)p->n_ops + 2) * sizeof *l->begin);
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

bool arn_remat_cut_make(const arn_remat_graph *graph, arn_region *region, arn_budget *budget,
                        arn_remat_cut *c) {
    *c = (arn_remat_cut){.graph = graph, .budget = budget};
    return allocate(c, region) && list_waits(c, region);
}

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
    if (!c->free_now[s]) c->own += c->graph->problem->size[s];
    c->free_now[s] = true;
}

void arn_remat_cut_at(arn_remat_cut *c, uint32_t op) {
    const arn_remat_graph *g = c->graph;
    const arenaut_remat_problem *p = g->problem;
    uint64_t right = 0;
    c->op = op;
    memset(c->when, ARN_REMAT_ANY, p->n_ops * sizeof *c->when);
    mark_before(c, op);
    mark_after(c, op);
    memset(c->free_now, 0, p->n_storages * sizeof *c->free_now);
    c->own = arn_remat_scratch(p, op);
    for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
        add_own(c, g->reads.ids[i]);
    }
    for (uint32_t i = g->makes.begin[op]; i < g->makes.begin[op + 1]; i++) {
        add_own(c, g->makes.ids[i]);
    }
    for (uint32_t s = 0; s < p->n_storages && p->held; s++) {
        if (arn_remat_held(p, s, ARENAUT_LIVE_OUT) && has_begun(c, s)) add_own(c, s);
    }
    for (uint32_t i = g->rights.begin[op]; i < g->rights.begin[op + 1]; i++) {
        right = arn_max_u64(right, p->rights[g->rights.ids[i]].bytes);
    }
    c->own -= right;
}

/* ---- the network ---- */

static void add_half(arn_remat_cut *c, uint32_t from, uint32_t to, uint64_t room, uint32_t read) {
    c->target[c->n_arcs] = to;
    c->room[c->n_arcs] = c->full[c->n_arcs] = room;
    c->read_of[c->n_arcs] = read;
    c->next_arc[c->n_arcs] = c->head[from];
    c->head[from] = c->n_arcs++;
}

static uint32_t add_arc(arn_remat_cut *c, uint32_t from, uint32_t to, uint64_t room,
                        uint32_t read) {
    add_half(c, from, to, room, read);
    add_half(c, to, from, 0, ARENAUT_NONE);
    return c->n_arcs - 2;
}

static uint32_t storage_node(const arn_remat_cut *c, uint32_t s) {
    return FIRST_NODE + c->graph->problem->n_ops + s;
}

/* What makes no difference has no arcs: what is there in any case, or begins later for all that is
 * known. */
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

static void add_storage(arn_remat_cut *c, uint32_t s, uint64_t byte_price) {
    const arn_remat_graph *g = c->graph;
    const uint32_t maker = g->problem->maker[s], node = storage_node(c, s);
    bool needed = false;
    c->alive_arc[s] = ARENAUT_NONE;
    if (!counts(c, s)) return;
    const uint32_t to = maker == ARENAUT_NONE ? SINK : FIRST_NODE + maker;
    c->alive_arc[s] = add_arc(c, node, to, byte_price * g->problem->size[s], ARENAUT_NONE);
    for (uint32_t i = g->readers.begin[s]; i < g->readers.begin[s + 1]; i++) {
        const uint32_t reader = g->readers.ids[i];
        if (reader == c->op) continue;
        if (c->when[reader] != ARN_REMAT_AFTER) {
            add_arc(c, FIRST_NODE + reader, node, ENDLESS, i);
        } else if (!needed) {
            needed = true;
            add_arc(c, SOURCE, node, ENDLESS, i);
        }
    }
}

static void build(arn_remat_cut *c, uint64_t byte_price, uint64_t time_price) {
    const arenaut_remat_problem *p = c->graph->problem;
    c->n_nodes = FIRST_NODE + p->n_ops + p->n_storages;
    c->n_arcs = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++) c->head[i] = ARENAUT_NONE;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        if (c->when[op] != ARN_REMAT_BEFORE || op == c->op) continue;
        const bool may = may_run_again_later(c, op);
        const uint64_t price = may ? time_price * p->cost[op] : ENDLESS;
        if (price > 0) add_arc(c, FIRST_NODE + op, SINK, price, ARENAUT_NONE);
    }
    for (uint32_t s = 0; s < p->n_storages; s++) add_storage(c, s, byte_price);
}

/* ---- the flow ---- */

/* Levels by breadth first; `path` is the queue. Whether the sink is reached. */
static bool find_levels(arn_remat_cut *c) {
    uint32_t from = 0, to = 0, looked = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++) c->level[i] = ARENAUT_NONE;
    c->level[SOURCE] = 0;
    c->path[to++] = SOURCE;
    while (from < to) {
        const uint32_t node = c->path[from++];
        for (uint32_t arc = c->head[node]; arc != ARENAUT_NONE; arc = c->next_arc[arc]) {
            const uint32_t next = c->target[arc];
            looked++;
            if (c->room[arc] == 0 || c->level[next] != ARENAUT_NONE) continue;
            c->level[next] = c->level[node] + 1;
            c->path[to++] = next;
        }
    }
    arn_budget_spend(c->budget, looked);
    return c->level[SINK] != ARENAUT_NONE;
}

static bool leads_on(const arn_remat_cut *c, uint32_t node, uint32_t arc) {
    return c->room[arc] > 0 && c->level[c->target[arc]] == c->level[node] + 1;
}

/* Sends what fits along the arcs of `path`, and gives how many of them stay open from the front. */
static uint32_t send(arn_remat_cut *c, uint32_t n) {
    uint64_t fits = ENDLESS;
    uint32_t stays = n;
    for (uint32_t i = 0; i < n; i++) fits = arn_min_u64(fits, c->room[c->path[i]]);
    for (uint32_t i = n; i-- > 0;) {
        c->room[c->path[i]] -= fits;
        c->room[c->path[i] ^ 1] += fits;
        if (c->room[c->path[i]] == 0) stays = i;
    }
    c->flow += fits;
    return stays;
}

/* Paths along the levels until none is left. */
static void send_all(arn_remat_cut *c) {
    uint32_t node = SOURCE, n = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++) c->arc_now[i] = c->head[i];
    for (;;) {
        if (node == SINK) {
            n = send(c, n);
            node = n == 0 ? SOURCE : c->target[c->path[n - 1]];
        }
        uint32_t arc = c->arc_now[node];
        while (arc != ARENAUT_NONE && !leads_on(c, node, arc)) arc = c->next_arc[arc];
        c->arc_now[node] = arc;
        if (arc != ARENAUT_NONE) {
            c->path[n++] = arc;
            node = c->target[arc];
        } else if (node == SOURCE) {
            return;
        } else {
            c->level[node] = ARENAUT_NONE;
            node = c->target[c->path[--n] ^ 1];
        }
    }
}

static bool is_reached(const arn_remat_cut *c, uint32_t node) {
    return c->level[node] != ARENAUT_NONE;
}

static void measure(arn_remat_cut *c) {
    const arenaut_remat_problem *p = c->graph->problem;
    c->cut_cost = c->cut_bytes = 0;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        if (c->when[op] == ARN_REMAT_BEFORE && is_reached(c, FIRST_NODE + op)) {
            c->cut_cost += p->cost[op];
        }
    }
    for (uint32_t s = 0; s < p->n_storages; s++) {
        const uint32_t arc = c->alive_arc[s];
        if (arc != ARENAUT_NONE && is_reached(c, storage_node(c, s)) &&
            !is_reached(c, c->target[arc])) {
            c->cut_bytes += p->size[s];
        }
    }
}

void arn_remat_cut_find(arn_remat_cut *c, uint64_t byte_price, uint64_t time_price) {
    build(c, byte_price, time_price);
    c->flow = 0;
    while (find_levels(c)) send_all(c);
    measure(c);
}

/* ---- what it says ---- */

/* Reads of an op are listed in another order than in the problem, and each once. */
void arn_remat_cut_flow(const arn_remat_cut *c, uint64_t *flow) {
    const arenaut_remat_problem *p = c->graph->problem;
    const arn_remat_lists *readers = &c->graph->readers, *uses = &c->graph->uses;
    memset(flow, 0, p->n_reads * sizeof *flow);
    for (uint32_t arc = 0; arc < c->n_arcs; arc += 2) {
        if (c->read_of[arc] == ARENAUT_NONE || c->room[arc] == c->full[arc]) continue;
        const uint32_t reader = readers->ids[c->read_of[arc]];
        const uint32_t s = c->target[arc] - FIRST_NODE - p->n_ops;
        for (uint32_t i = uses->begin[reader]; i < uses->begin[reader + 1]; i++) {
            if (p->reads[uses->ids[i]].buffer != s) continue;
            flow[uses->ids[i]] = c->full[arc] - c->room[arc];
            break;
        }
    }
}

bool arn_remat_cut_drops(const arn_remat_cut *c, uint32_t s) {
    const uint32_t arc = c->alive_arc[s];
    return arc != ARENAUT_NONE && is_reached(c, storage_node(c, s)) &&
           is_reached(c, c->target[arc]);
}
