/* Two changes of an order. Ops that no other follows, as those that make the gradients of weights,
 * are moved behind all others where their results are larger than the operands that have to stay
 * for them: results that are live out are then not live beside the rest of the backward pass. Then
 * ops that end the lives of as many bytes as they make run as soon as they may: of branches of the
 * backward pass, those that go through small tensors first. O(reads + dependences). */
#include "rewrite/rematerialize/remat_order.h"

#include <string.h>

typedef struct mover {
    const arn_remat_graph *graph;
    bool *barred; /* per op: it is no op that may be moved, or one that is not depends on it */
    bool *moved;  /* per op */
} mover;

static void bar_makers(mover *m, uint32_t op) {
    const arn_remat_graph *g = m->graph;
    for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
        const uint32_t maker = g->problem->maker[g->reads.ids[i]];
        if (maker != ARENAUT_NONE) m->barred[maker] = true;
    }
}

static bool is_read_behind(const mover *m, uint32_t s, uint32_t op) {
    const arn_remat_lists *readers = &m->graph->readers;
    bool read = false;
    for (uint32_t i = readers->begin[s]; i < readers->begin[s + 1]; i++) {
        read = read || (readers->ids[i] > op && !m->moved[readers->ids[i]]);
    }
    return read || arn_remat_held(m->graph->problem, s, ARENAUT_LIVE_OUT);
}

/* Of operands that would be dead otherwise. */
static uint64_t bytes_kept(const mover *m, uint32_t op) {
    const arn_remat_graph *g = m->graph;
    uint64_t bytes = 0;
    for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
        const uint32_t s = g->reads.ids[i];
        if (!is_read_behind(m, s, op)) bytes += g->problem->size[s];
    }
    return bytes;
}

/* Operands that are overwritten, or views that have to be named in turn, hold an op where it is. */
static bool stays(const arenaut_remat_problem *p, uint32_t op) {
    return (p->until && p->until[op] != ARENAUT_NONE) || (p->in_turn && p->in_turn[op]);
}

/* From the last op to the first; an op is not barred if all that depend on it are moved. */
static uint32_t choose(mover *m) {
    const arenaut_remat_problem *p = m->graph->problem;
    uint32_t n = 0;
    for (uint32_t op = p->n_ops; op-- > 0;) {
        m->moved[op] = !stays(p, op) && !m->barred[op] &&
                       arn_remat_bytes_made(m->graph, op) > bytes_kept(m, op);
        if (m->moved[op]) n++;
        else bar_makers(m, op);
    }
    return n;
}

/* Ops that others have to follow, by more than reads, stay. */
static void bar_first(mover *m) {
    const arenaut_remat_problem *p = m->graph->problem;
    for (uint32_t i = 0; i < p->n_dependences; i++) m->barred[p->dependences[i].first] = true;
}

/* ---- ops that end lives ---- */

typedef struct eager {
    const arn_remat_graph *graph;
    bool *barred;             /* per op: it is not moved */
    bool *ran;                /* per op */
    uint32_t *left;           /* per storage: readers that have not run yet */
    uint32_t *queue, n_queue; /* ops that may be ready, or the last reader of a storage, by now */
    uint32_t *op_at, n;       /* the order that is made */
} eager;

static bool is_ready(const eager *e, uint32_t op) {
    const arn_remat_graph *g = e->graph;
    bool ready = !e->ran[op] && !e->barred[op];
    for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1] && ready; i++) {
        const uint32_t maker = g->problem->maker[g->reads.ids[i]];
        ready = maker == ARENAUT_NONE || e->ran[maker];
    }
    return ready;
}

/* Whether a storage is alive, and not any more once its last reader has run. */
static bool ends(const eager *e, uint32_t s) {
    const arn_remat_graph *g = e->graph;
    const bool begun = g->problem->maker[s] != ARENAUT_NONE ||
                       arn_remat_held(g->problem, s, ARENAUT_LIVE_IN) ||
                       g->readers.begin[s + 1] - g->readers.begin[s] > e->left[s];
    return begun && e->left[s] == 1 && !arn_remat_held(g->problem, s, ARENAUT_LIVE_OUT);
}

static bool frees_bytes(const eager *e, uint32_t op) {
    const arn_remat_graph *g = e->graph;
    const uint64_t taken = arn_remat_scratch(g->problem, op) + arn_remat_bytes_made(g, op);
    uint64_t freed = 0;
    for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
        const uint32_t s = g->reads.ids[i];
        if (ends(e, s)) freed += g->problem->size[s];
    }
    return freed > 0 && freed >= taken;
}

static void list_readers(eager *e, uint32_t s) {
    const arn_remat_lists *readers = &e->graph->readers;
    for (uint32_t i = readers->begin[s]; i < readers->begin[s + 1]; i++) {
        if (!e->ran[readers->ids[i]]) e->queue[e->n_queue++] = readers->ids[i];
    }
}

static void run(eager *e, uint32_t op) {
    const arn_remat_graph *g = e->graph;
    e->ran[op] = true;
    e->op_at[e->n++] = op;
    for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
        const uint32_t s = g->reads.ids[i];
        if (--e->left[s] == 1) list_readers(e, s);
    }
    for (uint32_t i = g->makes.begin[op]; i < g->makes.begin[op + 1]; i++) {
        list_readers(e, g->makes.ids[i]);
    }
}

static void run_all(eager *e, const uint32_t *order) {
    for (uint32_t i = 0; i < e->graph->problem->n_ops; i++) {
        e->n_queue = 0;
        if (!e->ran[order[i]]) run(e, order[i]);
        for (uint32_t at = 0; at < e->n_queue; at++) {
            const uint32_t op = e->queue[at];
            if (is_ready(e, op) && frees_bytes(e, op)) run(e, op);
        }
    }
}

/* List scheduling: the order, with ops that end as many bytes as they make as early as may be. */
static bool advance(const arn_remat_graph *g, arn_region *region, uint32_t *order) {
    const arenaut_remat_problem *p = g->problem;
    eager e = {.graph = g};
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(e.barred, p->n_ops), ARN_ARRAY(e.ran, p->n_ops),
                           ARN_ARRAY(e.left, p->n_storages), ARN_ARRAY(e.op_at, p->n_ops),
                           ARN_ARRAY(e.queue, 2 * (size_t)p->n_reads))) {
        return false;
    }
    for (uint32_t op = 0; op < p->n_ops; op++) e.barred[op] = stays(p, op);
    for (uint32_t i = 0; i < p->n_dependences; i++) e.barred[p->dependences[i].op] = true;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        e.left[s] = g->readers.begin[s + 1] - g->readers.begin[s];
    }
    run_all(&e, order);
    if (p->n_ops > 0) memcpy(order, e.op_at, p->n_ops * sizeof *order);
    return true;
}

/* Lists by op, in the new order. */
static bool permute_ops(const arenaut_remat_problem *p, arn_region *region, arn_remat_order *o) {
    uint64_t *cost, *scratch, *shared;
    uint32_t *until;
    bool *in_turn;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(cost, p->n_ops), ARN_ARRAY(scratch, p->n_ops),
                           ARN_ARRAY(shared, p->n_ops), ARN_ARRAY(until, p->n_ops),
                           ARN_ARRAY(in_turn, p->n_ops))) {
        return false;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const uint32_t op = o->op_at[i], ends = p->until ? p->until[op] : ARENAUT_NONE;
        cost[i] = p->cost[op];
        scratch[i] = arn_remat_scratch(p, op);
        shared[i] = p->shared ? p->shared[op] : 0;
        until[i] = ends == ARENAUT_NONE ? ends : o->turn[ends];
        in_turn[i] = p->in_turn && p->in_turn[op];
    }
    o->problem.cost = cost;
    o->problem.scratch = scratch;
    o->problem.shared = shared;
    o->problem.until = until;
    o->problem.in_turn = in_turn;
    return true;
}

/* Lists that name ops, with their new numbers. */
static bool renumber(const arenaut_remat_problem *p, arn_region *region, arn_remat_order *o) {
    uint32_t *maker;
    arenaut_order_use *reads;
    arenaut_order_dependence *dependences;
    arenaut_order_right *rights;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(maker, p->n_storages), ARN_ARRAY(reads, p->n_reads),
                           ARN_ARRAY(rights, p->n_rights),
                           ARN_ARRAY(dependences, p->n_dependences))) {
        return false;
    }
    for (uint32_t s = 0; s < p->n_storages; s++) {
        maker[s] = p->maker[s] == ARENAUT_NONE ? ARENAUT_NONE : o->turn[p->maker[s]];
    }
    for (uint32_t i = 0; i < p->n_reads; i++) {
        reads[i] = (arenaut_order_use){o->turn[p->reads[i].op], p->reads[i].buffer};
    }
    for (uint32_t i = 0; i < p->n_dependences; i++) {
        const arenaut_order_dependence *d = &p->dependences[i];
        dependences[i] = (arenaut_order_dependence){o->turn[d->op], o->turn[d->first]};
    }
    for (uint32_t i = 0; i < p->n_rights; i++) {
        rights[i] = p->rights[i];
        rights[i].op = o->turn[rights[i].op];
    }
    o->problem.maker = maker;
    o->problem.reads = reads;
    o->problem.dependences = dependences;
    o->problem.rights = rights;
    return true;
}

bool arn_remat_order_make(const arn_remat_graph *graph, arn_region *region, arn_remat_order *o) {
    const uint32_t n = graph->problem->n_ops;
    mover m = {.graph = graph};
    *o = (arn_remat_order){.differs = false};
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(m.barred, n), ARN_ARRAY(m.moved, n),
                           ARN_ARRAY(o->op_at, n), ARN_ARRAY(o->turn, n))) {
        return false;
    }
    bar_first(&m);
    const uint32_t n_moved = choose(&m);
    uint32_t at = 0, behind = n - n_moved;
    for (uint32_t op = 0; op < n; op++) o->op_at[m.moved[op] ? behind++ : at++] = op;
    if (!advance(graph, region, o->op_at)) return false;
    for (uint32_t i = 0; i < n; i++) {
        o->turn[o->op_at[i]] = i;
        o->differs = o->differs || o->op_at[i] != i;
    }
    o->problem = *graph->problem;
    return !o->differs ||
           (permute_ops(graph->problem, region, o) && renumber(graph->problem, region, o));
}
