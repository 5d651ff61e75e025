/* Check of a schedule and its proof of a lower bound (arenaut/order.h): each line is replayed, op
 * by op, on two walks, one from each end. Minimality over all subsets of some ops is decided by a
 * maximum flow. Shares no code with the search. */
#include <inttypes.h>
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/order_walk.h"
#include "core/checked.h"

/* A state of the proof: its parent, and the ops executed since. */
typedef struct state {
    uint32_t parent;       /* NONE: the first one */
    uint32_t n_ran;        /* in total */
    uint32_t first, n_ops; /* since the parent, in the checker's list */
} state;

/* A state with open branches. */
typedef struct frame {
    uint32_t state;
    uint32_t from; /* lower ops have been branched on, or cannot run */
} frame;

typedef struct checker {
    const arenaut_order_problem *problem;
    const arenaut_order *order;
    const arenaut_allocator *allocator;
    arn_order_walk walks[2];
    uint8_t *time;
    uint32_t *spare; /* room for all ops */
    uint32_t *mark;  /* per op: its last tag */
    uint32_t tag;
    uint32_t line; /* the present one */
    uint32_t at;   /* the next one */
    frame *frames;
    state *states, *sames; /* sames: states claimed equal to a numbered one */
    uint32_t *same_as, *ops;
    uint32_t n_frames, n_states, n_sames, n_ops;
    uint32_t room_frames, room_states, room_sames, room_same_as, room_ops;
    arenaut_finding *finding;
    arenaut_error *err;
} checker;

static arenaut_status reject_line(checker *c, const char *why) {
    c->finding->rule = ARENAUT_RULE_PROOF;
    c->finding->first = c->line;
    return arn_check_reject(c->finding, c->err, "line %" PRIu32 " of the proof: %s", c->line, why);
}

/* The next line; without a rule at the end. */
static arenaut_order_line next_line(checker *c) {
    const arenaut_order_line none = {ARENAUT_ORDER_RULE_COUNT, 0};
    c->line = c->at;
    return c->at < c->order->n_lines ? c->order->lines[c->at++] : none;
}

static bool is_taken(const checker *c, const arn_order_walk *w, uint32_t op) {
    return c->walks[!w->backward].ran[op];
}

static bool may_run(const checker *c, const arn_order_walk *w, uint32_t op) {
    return arn_order_walk_may_run(w, op) && !is_taken(c, w, op);
}

static bool stays_below(const checker *c, const arn_order_walk *w, uint32_t op) {
    return arn_order_walk_load(w, op) < c->order->bound;
}

/* ---- schedules ---- */

static arenaut_status check_ops(checker *c, const uint32_t *ops, uint64_t said) {
    arn_order_walk *w = &c->walks[0];
    uint64_t peak = w->live;
    c->finding->rule = ARENAUT_RULE_ORDER;
    for (uint32_t i = 0; i < c->order->n_ops; i++) {
        const uint32_t op = ops[i];
        if (!arn_order_walk_may_run(w, op)) {
            c->finding->op = op;
            return arn_check_reject(c->finding, c->err,
                                    "op %" PRIu32 " runs twice, or before an op that it depends on",
                                    op);
        }
        const uint64_t load = arn_order_walk_load(w, op);
        peak = peak > load ? peak : load;
        arn_order_walk_run(w, op);
    }
    if (c->order->n_ops == 0 && w->live > peak) peak = w->live;
    if (peak != said) {
        return arn_check_reject(c->finding, c->err,
                                "%" PRIu64 " bytes are alive at once, not %" PRIu64, peak, said);
    }
    while (w->n_history > 0) arn_order_walk_undo(w);
    c->finding->rule = ARENAUT_RULE_NONE;
    return ARENAUT_OK;
}

static arenaut_status check_orders(checker *c) {
    const arenaut_order *o = c->order;
    if (o->n_ops != c->problem->n_ops) {
        c->finding->rule = ARENAUT_RULE_ORDER;
        return arn_check_reject(c->finding, c->err, "it is a schedule of another number of ops");
    }
    arenaut_status st = check_ops(c, o->ops, o->peak);
    for (uint32_t i = 0; i < o->n_near && st == ARENAUT_OK; i++) {
        st = check_ops(c, o->near + (size_t)i * o->n_ops, o->near_peak[i]);
    }
    return st;
}

/* ---- CUT ---- */

/* Assigns the time to ops of unknown time reachable from `op`. `stack` has room for all ops. */
static void spread(const arn_order_rows *rows, uint32_t op, arn_order_time time, uint8_t *times,
                   uint32_t *stack) {
    uint32_t n = 0;
    stack[n++] = op;
    while (n > 0) {
        const uint32_t at = stack[--n];
        for (uint32_t i = rows->at[at]; i < rows->at[at + 1]; i++) {
            if (times[rows->to[i]] != ARN_TIME_ANY) continue;
            times[rows->to[i]] = (uint8_t)time;
            stack[n++] = rows->to[i];
        }
    }
}

static void spread_around(checker *c, uint32_t op) {
    const arn_order_walk *w = &c->walks[0];
    memset(c->time, ARN_TIME_ANY, c->problem->n_ops);
    c->time[op] = ARN_TIME_NOW;
    spread(&w->depends_on, op, ARN_TIME_BEFORE, c->time, c->spare);
    spread(&w->dependents, op, ARN_TIME_AFTER, c->time, c->spare);
}

/* Puts all users of `over` but the op itself before it; false if one cannot be. */
static bool spread_users(checker *c, const arenaut_order_right *r) {
    const arn_order_walk *w = &c->walks[0];
    for (uint32_t i = w->ops_of.at[r->over]; i < w->ops_of.at[r->over + 1]; i++) {
        const uint32_t user = w->ops_of.to[i];
        if (c->time[user] == ARN_TIME_AFTER) return false;
        if (c->time[user] != ARN_TIME_ANY) continue;
        c->time[user] = ARN_TIME_BEFORE;
        spread(&w->depends_on, user, ARN_TIME_BEFORE, c->time, c->spare);
    }
    return true;
}

/* Without rights, and with each of them. */
static arenaut_status check_cut(checker *c, uint32_t op) {
    const arn_order_walk *w = &c->walks[0];
    uint64_t least = 0;
    if (op >= c->problem->n_ops) return reject_line(c, "there is no such op");
    spread_around(c, op);
    if (!arn_order_min_live(w, c->time, c->allocator, &least)) return arn_no_memory(c->err);
    if (least < c->order->bound) return reject_line(c, "the op may run with less");
    for (uint32_t i = w->rights_of.at[op]; i < w->rights_of.at[op + 1]; i++) {
        const arenaut_order_right *r = &c->problem->rights[w->rights_of.to[i]];
        if (arn_order_walk_is_live_in(w, r->made) || arn_order_walk_is_live_out(w, r->over)) {
            continue;
        }
        spread_around(c, op);
        if (!spread_users(c, r)) continue;
        if (!arn_order_min_live(w, c->time, c->allocator, &least)) return arn_no_memory(c->err);
        if (least - r->bytes < c->order->bound) return reject_line(c, "the op may run with less");
    }
    return c->at == c->order->n_lines ? ARENAUT_OK : reject_line(c, "something follows");
}

/* ---- AHEAD and BACK ---- */

/* Whether these ops, which are about to run, invalidate no right of a remaining op. */
static bool keeps_rights(checker *c, const arn_order_walk *w, const uint32_t *ops, uint32_t n) {
    c->tag++;
    for (uint32_t i = 0; i < n; i++) c->mark[ops[i]] = c->tag;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = w->buffers_of.at[ops[i]]; k < w->buffers_of.at[ops[i] + 1]; k++) {
            const uint32_t b = w->buffers_of.to[k];
            if (arn_order_walk_has_begun(w, b)) continue;
            for (uint32_t j = w->claimed_by.at[b]; j < w->claimed_by.at[b + 1]; j++) {
                if (c->mark[w->claimed_by.to[j]] != c->tag) return false;
            }
        }
    }
    return true;
}

/* Rejects if a subset of the ops that just ran leaves fewer live bytes. */
static arenaut_status find_least(checker *c, const arn_order_walk *w, const uint32_t *ops,
                                 uint32_t n) {
    uint64_t least = 0;
    for (uint32_t op = 0; op < c->problem->n_ops; op++) {
        c->time[op] = w->ran[op] ? ARN_TIME_BEFORE : ARN_TIME_AFTER;
    }
    for (uint32_t i = 0; i < n; i++) c->time[ops[i]] = ARN_TIME_ANY;
    if (!arn_order_min_live(w, c->time, c->allocator, &least)) return arn_no_memory(c->err);
    return least < w->live ? reject_line(c, "a subset of the ops leaves fewer live bytes")
                           : ARENAUT_OK;
}

static arenaut_status run_for_good(checker *c, arn_order_walk *w, uint32_t n) {
    uint32_t *ops = c->spare;
    const uint64_t live = w->live;
    const uint32_t line = c->line;
    if (n == 0 || n > c->problem->n_ops) return reject_line(c, "the number of ops is out of range");
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_order_line l = next_line(c);
        if (l.rule != ARENAUT_ORDER_RUN || !may_run(c, w, l.item) || !stays_below(c, w, l.item)) {
            return reject_line(c, "the op cannot run here");
        }
        ops[i] = l.item;
        arn_order_walk_run(w, l.item);
    }
    c->line = line;
    if (w->live > live) return reject_line(c, "the ops increase the live bytes");
    if (n > 1) {
        const arenaut_status st = find_least(c, w, ops, n);
        if (st != ARENAUT_OK) return st;
    }
    for (uint32_t i = 0; i < n; i++) arn_order_walk_undo(w);
    if (!keeps_rights(c, w, ops, n)) return reject_line(c, "a right of another op is invalidated");
    for (uint32_t i = 0; i < n; i++) arn_order_walk_run(w, ops[i]);
    return ARENAUT_OK;
}

/* ---- SEARCH ---- */

static bool grow(checker *c, void **array, uint32_t *room, uint32_t n, size_t size) {
    return arn_grow(c->allocator, array, room, (uint64_t)n + 1, size);
}

/* Ops executed since a state. */
typedef struct chain {
    uint32_t parent; /* that state; NONE: none */
    uint32_t first;  /* of the ops, in the checker's list */
} chain;

static state state_now(const checker *c, const arn_order_walk *w, chain since) {
    return (state){since.parent, w->n_history, since.first, c->n_ops - since.first};
}

/* Records an executed op. */
static arenaut_status keep_op(checker *c, uint32_t op) {
    if (!grow(c, (void **)&c->ops, &c->room_ops, c->n_ops, sizeof *c->ops)) {
        return arn_no_memory(c->err);
    }
    c->ops[c->n_ops++] = op;
    return ARENAUT_OK;
}

static arenaut_status run_safe(checker *c, arn_order_walk *w, uint32_t op) {
    const uint64_t live = w->live;
    if (!may_run(c, w, op) || !stays_below(c, w, op) || !keeps_rights(c, w, &op, 1)) {
        return reject_line(c, "the op may not run here");
    }
    arn_order_walk_run(w, op);
    if (w->live > live) return reject_line(c, "the op increases the live bytes");
    return keep_op(c, op);
}

/* Assigns the next number to the present state. */
static arenaut_status number_state(checker *c, const arn_order_walk *w, chain since) {
    if (!grow(c, (void **)&c->states, &c->room_states, c->n_states, sizeof *c->states)) {
        return arn_no_memory(c->err);
    }
    c->states[c->n_states++] = state_now(c, w, since);
    return ARENAUT_OK;
}

static arenaut_status begin_each(checker *c, const arn_order_walk *w, chain since) {
    if (!grow(c, (void **)&c->frames, &c->room_frames, c->n_frames, sizeof *c->frames)) {
        return arn_no_memory(c->err);
    }
    if (w->n_history + c->walks[!w->backward].n_history == c->problem->n_ops) {
        return reject_line(c, "all ops have run below the bound");
    }
    c->frames[c->n_frames++] = (frame){c->n_states, 0};
    return number_state(c, w, since);
}

static arenaut_status claim_same(checker *c, const arn_order_walk *w, chain since,
                                 uint32_t number) {
    if (!grow(c, (void **)&c->sames, &c->room_sames, c->n_sames, sizeof *c->sames) ||
        !grow(c, (void **)&c->same_as, &c->room_same_as, c->n_sames, sizeof *c->same_as)) {
        return arn_no_memory(c->err);
    }
    if (since.parent == ARENAUT_NONE) return reject_line(c, "there is no other state");
    c->sames[c->n_sames] = state_now(c, w, since);
    c->same_as[c->n_sames++] = number;
    return ARENAUT_OK;
}

/* Commits ops within a search. */
static arenaut_status run_ahead(checker *c, arn_order_walk *w, uint32_t n, chain *since) {
    arenaut_status st = number_state(c, w, *since);
    *since = (chain){c->n_states - 1, c->n_ops};
    if (st == ARENAUT_OK) st = run_for_good(c, w, n);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) st = keep_op(c, c->spare[i]);
    return st;
}

/* The proof of the present state, except for its branches. */
static arenaut_status follow_state(checker *c, arn_order_walk *w, chain since) {
    for (;;) {
        const arenaut_order_line l = next_line(c);
        arenaut_status st;
        switch (l.rule) {
            case ARENAUT_ORDER_SAFE: st = run_safe(c, w, l.item); break;
            case ARENAUT_ORDER_AHEAD: st = run_ahead(c, w, l.item, &since); break;
            case ARENAUT_ORDER_EACH: return begin_each(c, w, since);
            case ARENAUT_ORDER_SAME: return claim_same(c, w, since, l.item);
            default: return reject_line(c, "it proves no state");
        }
        if (st != ARENAUT_OK) return st;
    }
}

/* Whether an op with a number in [from, end) has been omitted. */
static bool leaves_out(const checker *c, const arn_order_walk *w, uint32_t from, uint32_t end) {
    for (uint32_t i = 0; i < w->n_open; i++) {
        const uint32_t op = w->open[i];
        if (op >= from && op < end && !is_taken(c, w, op) && stays_below(c, w, op)) return true;
    }
    return false;
}

/* The next branch of the innermost open state, or its end. */
static arenaut_status follow_child(checker *c, arn_order_walk *w) {
    frame *top = &c->frames[c->n_frames - 1];
    const arenaut_order_line l = next_line(c);
    while (w->n_history > c->states[top->state].n_ran) arn_order_walk_undo(w);
    const bool ends = l.rule == ARENAUT_ORDER_END;
    const uint32_t end = ends ? c->problem->n_ops : l.item;
    if (!ends && l.rule != ARENAUT_ORDER_RUN) return reject_line(c, "it is no child of a state");
    if (!ends && (end < top->from || !may_run(c, w, end) || !stays_below(c, w, end))) {
        return reject_line(c, "the op may not run here");
    }
    if (leaves_out(c, w, top->from, end)) return reject_line(c, "another op may run here");
    if (ends) {
        c->n_frames--;
        return ARENAUT_OK;
    }
    top->from = end + 1;
    const chain since = {top->state, c->n_ops};
    arn_order_walk_run(w, end);
    const arenaut_status st = keep_op(c, end);
    return st == ARENAUT_OK ? follow_state(c, w, since) : st;
}

/* Whether the same ops have run in both states, compared since their common ancestor. A state has a
 * higher number than its ancestors. */
static bool same_ops(checker *c, const state *a, uint32_t number) {
    const state *b = &c->states[number];
    uint32_t from_a = a->parent, from_b = number, fresh = 0;
    if (a->n_ran != b->n_ran) return false;
    c->tag++;
    for (uint32_t i = 0; i < a->n_ops; i++) c->mark[c->ops[a->first + i]] = c->tag;
    while (from_a != from_b) {
        const bool up_a = from_b == ARENAUT_NONE || (from_a != ARENAUT_NONE && from_a > from_b);
        const state *s = &c->states[up_a ? from_a : from_b];
        for (uint32_t i = 0; up_a && i < s->n_ops; i++) c->mark[c->ops[s->first + i]] = c->tag;
        if (up_a) from_a = s->parent;
        else from_b = s->parent;
    }
    for (uint32_t at = number; at != from_b; at = c->states[at].parent) {
        const state *s = &c->states[at];
        for (uint32_t i = 0; i < s->n_ops; i++) fresh += c->mark[c->ops[s->first + i]] != c->tag;
    }
    return fresh == 0;
}

static arenaut_status check_sames(checker *c) {
    for (uint32_t i = 0; i < c->n_sames; i++) {
        if (c->same_as[i] < c->n_states && same_ops(c, &c->sames[i], c->same_as[i])) continue;
        return reject_line(c, "a state is not the one that it is claimed to be");
    }
    return ARENAUT_OK;
}

static arenaut_status follow_search(checker *c, uint32_t side) {
    if (side > 1) return reject_line(c, "there are two sides only");
    arn_order_walk *w = &c->walks[side];
    arenaut_status st = follow_state(c, w, (chain){ARENAUT_NONE, 0});
    while (st == ARENAUT_OK && c->n_frames > 0) st = follow_child(c, w);
    if (st == ARENAUT_OK && c->at != c->order->n_lines) st = reject_line(c, "something follows");
    return st == ARENAUT_OK ? check_sames(c) : st;
}

/* ---- checks ---- */

static bool is_in_range(const arenaut_order_problem *p) {
    bool fine = true;
    uint64_t sum = 0;
    for (uint32_t b = 0; b < p->n_buffers && fine; b++) fine = arn_add(sum, p->size[b], &sum);
    for (uint32_t i = 0; i < p->n_uses && fine; i++) {
        fine = p->uses[i].op < p->n_ops && p->uses[i].buffer < p->n_buffers;
    }
    for (uint32_t i = 0; i < p->n_dependences && fine; i++) {
        fine = p->dependences[i].op < p->n_ops && p->dependences[i].first < p->n_ops;
    }
    for (uint32_t i = 0; i < p->n_rights && fine; i++) {
        const arenaut_order_right *r = &p->rights[i];
        fine = r->op < p->n_ops && r->made < p->n_buffers && r->over < p->n_buffers &&
               r->bytes <= p->size[r->made];
    }
    return fine;
}

static bool uses(const arn_order_walk *w, uint32_t op, uint32_t buffer) {
    for (uint32_t i = w->buffers_of.at[op]; i < w->buffers_of.at[op + 1]; i++) {
        if (w->buffers_of.to[i] == buffer) return true;
    }
    return false;
}

static bool rights_are_of_users(const arn_order_walk *w) {
    for (uint32_t i = 0; i < w->problem->n_rights; i++) {
        const arenaut_order_right *r = &w->problem->rights[i];
        if (r->made == r->over || !uses(w, r->op, r->made) || !uses(w, r->op, r->over)) {
            return false;
        }
    }
    return true;
}

static arenaut_status check_proof(checker *c) {
    if (c->order->bound == 0 && c->order->n_lines == 0) return ARENAUT_OK;
    for (;;) {
        const arenaut_order_line l = next_line(c);
        arenaut_status st = ARENAUT_OK;
        switch (l.rule) {
            case ARENAUT_ORDER_CUT:
                return c->at == 1 ? check_cut(c, l.item)
                                  : reject_line(c, "something stands before");
            case ARENAUT_ORDER_AHEAD: st = run_for_good(c, &c->walks[0], l.item); break;
            case ARENAUT_ORDER_BACK: st = run_for_good(c, &c->walks[1], l.item); break;
            case ARENAUT_ORDER_SEARCH: return follow_search(c, l.item);
            default: return reject_line(c, "it proves nothing");
        }
        if (st != ARENAUT_OK) return st;
    }
}

static arenaut_status check(checker *c) {
    const uint32_t n = c->problem->n_ops;
    if (!is_in_range(c->problem)) {
        return arn_fail(c->err, ARENAUT_BAD_INPUT, 0,
                        "the problem has an index out of range, or too large sizes");
    }
    c->time = arn_allocate(c->allocator, n, sizeof *c->time);
    c->spare = arn_allocate(c->allocator, n, sizeof *c->spare);
    c->mark = arn_allocate_zeroed(c->allocator, n, sizeof *c->mark);
    if (!c->time || !c->spare || !c->mark ||
        !arn_order_walk_make(&c->walks[0], c->problem, false, c->allocator) ||
        !arn_order_walk_make(&c->walks[1], c->problem, true, c->allocator)) {
        return arn_no_memory(c->err);
    }
    if (!rights_are_of_users(&c->walks[0])) {
        return arn_fail(c->err, ARENAUT_BAD_INPUT, 0,
                        "an op has a right to a buffer that it does not use");
    }
    const arenaut_status st = check_orders(c);
    return st == ARENAUT_OK ? check_proof(c) : st;
}

arenaut_status arenaut_check_order(const arenaut_order_problem *problem, const arenaut_order *order,
                                   const arenaut_allocator *allocator, arenaut_finding *finding,
                                   arenaut_error *err) {
    checker c = {
        .problem = problem, .order = order, .allocator = allocator, .finding = finding, .err = err};
    *finding = arn_check_no_finding();
    const arenaut_status st = check(&c);
    void *const blocks[] = {c.time, c.spare, c.mark, c.frames, c.states, c.sames, c.same_as, c.ops};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) arn_release(allocator, blocks[i]);
    arn_order_walk_free(&c.walks[0]);
    arn_order_walk_free(&c.walks[1]);
    return st;
}
