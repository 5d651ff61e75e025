/* Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983) of a schedule: an op moves to another
 * position between its predecessors and successors. What counts is the square of the live bytes
 * above the lower bound, at every position: so that many peaks get lower at once, where a search
 * around one of them would have to be repeated for each. Rights to write over operands are left
 * out. Per op the bytes that begin and end with it are known: a move changes these for the op's
 * buffers, and the loads of the positions that it passes. O(positions passed + users of the op's
 * buffers) a move. */
#include <string.h>

#include "core/checked.h"
#include "core/hash.h"
#include "core/memory.h"
#include "rewrite/order/schedule_search.h"

enum {
    FARTHEST = 64,    /* positions of a move */
    LEVELS = 1 << 12, /* of bytes between the bound and the peak */
    MOST_LEVELS = 1 << 20,
    HOT = 8,    /* times the mean square of a buffer: a change for the worse by so much is
                 * taken in one of two cases at first */
    COLD = 200, /* that part of it at the end */
    MOVES_OF_A_HEAT = 1024,
    PASSED_FOR_ONE = 8, /* positions that cost no more than one step */
};

typedef struct buffer_ends {
    uint32_t buffer, first, last; /* ops */
} buffer_ends;

typedef struct annealing {
    const arn_schedule_graph *graph;
    arn_budget *budget;
    uint64_t bound, random, spent;
    uint32_t shift; /* bytes of a level, as a power of two */
    uint32_t *op_at, *position;
    int64_t *load;        /* per position */
    int64_t *begin, *end; /* per op: bytes of buffers of which it is the first, or the last user */
    uint32_t *first, *last; /* per buffer: these users */
    int64_t before;         /* bytes that are live before all ops */
    buffer_ends *were;      /* of the op that moves: what has changed */
    uint32_t n_were;
    uint32_t *moved_op; /* of the positions of a move: what would be there */
    int64_t *moved_load;
} annealing;

/* ---- loads ---- */

static bool is_held(const annealing *a, uint32_t buffer, uint8_t when) {
    return (a->graph->boundary[buffer] & when) != 0;
}

/* Counts the begin and the end of a buffer at its first and last user, or takes them away. */
static void count_ends(annealing *a, uint32_t buffer, int64_t sign) {
    const int64_t size = sign * (int64_t)a->graph->size[buffer];
    if (!is_held(a, buffer, ARENAUT_LIVE_IN)) a->begin[a->first[buffer]] += size;
    if (!is_held(a, buffer, ARENAUT_LIVE_OUT)) a->end[a->last[buffer]] += size;
}

static void set_ends(annealing *a, buffer_ends to) {
    count_ends(a, to.buffer, -1);
    a->first[to.buffer] = to.first;
    a->last[to.buffer] = to.last;
    count_ends(a, to.buffer, 1);
}

static void find_ends(annealing *a) {
    const arn_schedule_graph *g = a->graph;
    for (uint32_t b = 0; b < g->n_buffers; b++) {
        const uint32_t begin = g->users.begin[b], end = g->users.begin[b + 1];
        if (is_held(a, b, ARENAUT_LIVE_IN)) a->before += (int64_t)g->size[b];
        if (begin == end) continue;
        uint32_t first = g->users.ids[begin], last = first;
        for (uint32_t i = begin; i < end; i++) {
            const uint32_t op = g->users.ids[i];
            if (a->position[op] < a->position[first]) first = op;
            if (a->position[op] > a->position[last]) last = op;
        }
        a->first[b] = first;
        a->last[b] = last;
        count_ends(a, b, 1);
    }
}

static int64_t live_before(const annealing *a, uint32_t at) {
    return at == 0 ? a->before : a->load[at - 1] - a->end[a->op_at[at - 1]];
}

/* Returns the peak. */
static uint64_t find_loads(annealing *a) {
    int64_t most = 0;
    for (uint32_t at = 0; at < a->graph->n_ops; at++) {
        a->load[at] = live_before(a, at) + a->begin[a->op_at[at]];
        if (a->load[at] > most) most = a->load[at];
    }
    return (uint64_t)most;
}

/* In levels, squared. */
static int64_t penalty(const annealing *a, int64_t load) {
    if (load <= (int64_t)a->bound) return 0;
    const int64_t levels = (load - (int64_t)a->bound) >> a->shift;
    return levels < MOST_LEVELS ? levels * levels : (int64_t)MOST_LEVELS * MOST_LEVELS;
}

/* ---- moves ---- */

/* Its positions, from the one behind its last predecessor to the one before its first successor. */
static void find_range(const annealing *a, uint32_t op, uint32_t *from, uint32_t *to) {
    const arn_schedule_graph *g = a->graph;
    const uint32_t at = a->position[op];
    *from = at > FARTHEST ? at - FARTHEST : 0;
    *to = at + FARTHEST < g->n_ops ? at + FARTHEST : g->n_ops - 1;
    for (uint32_t i = g->predecessors.begin[op]; i < g->predecessors.begin[op + 1]; i++) {
        const uint32_t behind = a->position[g->predecessors.ids[i]] + 1;
        if (behind > *from) *from = behind;
    }
    for (uint32_t i = g->successors.begin[op]; i < g->successors.begin[op + 1]; i++) {
        const uint32_t before = a->position[g->successors.ids[i]] - 1;
        if (before < *to) *to = before;
    }
}

/* The first and last users of the op's buffers, once it is at `to`: behind the op there now, or
 * before it. */
static void move_ends(annealing *a, uint32_t op, uint32_t to) {
    const arn_schedule_graph *g = a->graph;
    const bool later = to > a->position[op];
    const uint64_t there = 2 * (uint64_t)to + later;
    a->n_were = 0;
    for (uint32_t k = g->uses.begin[op]; k < g->uses.begin[op + 1]; k++) {
        const uint32_t b = g->uses.ids[k];
        const buffer_ends was = {b, a->first[b], a->last[b]};
        buffer_ends next = {b, op, op};
        uint64_t least = there, most = there;
        for (uint32_t i = g->users.begin[b]; i < g->users.begin[b + 1]; i++) {
            const uint32_t user = g->users.ids[i];
            const uint64_t at = 2 * (uint64_t)a->position[user] + !later;
            if (user == op) continue;
            if (at < least) {
                least = at;
                next.first = user;
            }
            if (at > most) {
                most = at;
                next.last = user;
            }
        }
        if (next.first == was.first && next.last == was.last) continue;
        a->were[a->n_were++] = was;
        set_ends(a, next);
    }
}

/* What positions [from, to] would be, with the op at one end of them; returns the change of all
 * penalties. */
static int64_t try_positions(annealing *a, uint32_t from, uint32_t to, bool later) {
    int64_t live = live_before(a, from), change = 0;
    for (uint32_t at = from; at <= to; at++) {
        const uint32_t source = later ? (at == to ? from : at + 1) : (at == from ? to : at - 1);
        const uint32_t op = a->op_at[source];
        const int64_t load = live + a->begin[op];
        change += penalty(a, load) - penalty(a, a->load[at]);
        a->moved_op[at - from] = op;
        a->moved_load[at - from] = load;
        live = load - a->end[op];
    }
    return change;
}

static void keep(annealing *a, uint32_t from, uint32_t to) {
    for (uint32_t at = from; at <= to; at++) {
        a->op_at[at] = a->moved_op[at - from];
        a->position[a->op_at[at]] = at;
        a->load[at] = a->moved_load[at - from];
    }
}

static void take_back(annealing *a) {
    while (a->n_were > 0) set_ends(a, a->were[--a->n_were]);
}

static void move(annealing *a, int64_t heat) {
    const uint32_t at = arn_random_below(&a->random, a->graph->n_ops), op = a->op_at[at];
    uint32_t from, to;
    find_range(a, op, &from, &to);
    a->spent++;
    if (from >= to) return;
    uint32_t next = from + arn_random_below(&a->random, to - from);
    if (next >= at) next++;
    const bool later = next > at;
    from = later ? at : next;
    to = later ? next : at;
    move_ends(a, op, next);
    const int64_t change = try_positions(a, from, to, later);
    a->spent += 2 + (to - from) / PASSED_FOR_ONE;
    if (change <= 0 || change <= heat * arn_random_exponent(&a->random)) keep(a, from, to);
    else take_back(a);
}

/* ---- cooling ---- */

/* The mean square of buffers, in levels. */
static int64_t mean_square(const annealing *a) {
    const arn_schedule_graph *g = a->graph;
    uint64_t sum = 0;
    for (uint32_t b = 0; b < g->n_buffers; b++) {
        const uint64_t levels = arn_min_u64(g->size[b] >> a->shift, LEVELS);
        sum += levels * levels;
    }
    return (int64_t)(sum / g->n_buffers) + 1;
}

static int64_t heat_at(int64_t hot, uint64_t spent, uint64_t effort) {
    enum { PARTS = 1 << 10 };
    const int64_t left = (int64_t)((effort - spent) / (effort / PARTS + 1));
    return hot / COLD + hot * left / PARTS * left / PARTS * left / PARTS;
}

/* Keeps the schedule with the lowest peak. */
static void cool(annealing *a, uint64_t effort, uint64_t peak, uint32_t *ops) {
    const uint32_t n = a->graph->n_ops;
    const int64_t hot = HOT * mean_square(a);
    while (a->spent < effort && peak > a->bound) {
        const uint64_t before = a->spent;
        const int64_t heat = heat_at(hot, a->spent, effort);
        for (uint32_t i = 0; i < MOVES_OF_A_HEAT + n / 8; i++) move(a, heat);
        uint64_t now = 0;
        for (uint32_t at = 0; at < n; at++) now = arn_max_u64(now, (uint64_t)a->load[at]);
        if (now < peak) {
            peak = now;
            memcpy(ops, a->op_at, n * sizeof *ops);
        }
        if (!arn_budget_spend(a->budget, a->spent - before)) return;
    }
}

bool arn_schedule_anneal(arn_schedule_state *front, uint64_t bound, uint64_t effort,
                         uint32_t *ops) {
    const arn_schedule_graph *g = front->graph;
    const uint32_t n = g->n_ops, passed = 1 + (n < FARTHEST ? n : FARTHEST);
    annealing a = {.graph = g, .budget = front->budget, .bound = bound, .random = 1};
    arn_region region;
    arn_region_init(&region, &g->allocator);
    const bool ok = ARN_REGION_ARRAYS(
        &region, ARN_ARRAY(a.op_at, n), ARN_ARRAY(a.position, n), ARN_ARRAY(a.load, n),
        ARN_ARRAY(a.begin, n), ARN_ARRAY(a.end, n), ARN_ARRAY(a.first, g->n_buffers),
        ARN_ARRAY(a.last, g->n_buffers), ARN_ARRAY(a.were, g->n_buffers),
        ARN_ARRAY(a.moved_op, passed), ARN_ARRAY(a.moved_load, passed));
    if (ok) {
        memcpy(a.op_at, ops, n * sizeof *ops);
        for (uint32_t at = 0; at < n; at++) a.position[ops[at]] = at;
        find_ends(&a);
        const uint64_t peak = find_loads(&a);
        while (peak > bound && (peak - bound) >> a.shift > LEVELS) a.shift++;
        if (peak > bound) cool(&a, effort, peak, ops);
        front->spent += a.spent;
    }
    arn_region_free(&region);
    return ok;
}
