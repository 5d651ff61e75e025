/* remat_flows: the flows that prove the bounds of a rematerialized schedule. A flow is added up
 * node by node, and its capacities are worked out anew from the ops that precede and that follow
 * the ops that a proof looks at; cases of storages that are alive or gone then are told apart, and
 * must leave none out. */
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/remat_check.h"
#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"

typedef enum order { ANY, EARLIER, LATER } order;
typedef enum assumption { NOTHING, ALIVE, GONE } assumption;

/* The two sides of a bound's inequality: flows, and bytes above the budget, at their price; bytes
 * that the budget leaves, and the time that is claimed, at theirs. */
typedef struct sides {
    uint64_t shown, claimed;
} sides;

static arenaut_status reject_proof(arn_remat_check *c, const char *why) {
    c->finding->rule = ARENAUT_RULE_PROOF;
    return arn_check_reject(c->finding, c->err, "the bound is not shown: %s", why);
}

/* ---- a moment ---- */

static void spread(const arn_remat_check *c, const arn_remat_rows *links, uint32_t op, order is,
                   uint8_t *when) {
    uint32_t n = 0;
    c->stack[n++] = op;
    while (n > 0) {
        const uint32_t at = c->stack[--n];
        for (uint32_t i = links->at[at]; i < links->at[at + 1]; i++) {
            if (when[links->to[i]] != ANY) continue;
            when[links->to[i]] = (uint8_t)is;
            c->stack[n++] = links->to[i];
        }
    }
}

/* Storages that some op before the one of the moment has used. */
static void find_begun(const arn_remat_check *c, arn_remat_moment *m) {
    const arenaut_remat_problem *p = c->p;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        const uint32_t maker = p->maker[s];
        m->begun[s] = maker != ARENAUT_NONE ? m->when[maker] == EARLIER
                                            : arn_remat_is_held(c, s, ARENAUT_LIVE_IN);
    }
    for (uint32_t i = 0; i < p->n_reads; i++) {
        if (m->when[p->reads[i].op] == EARLIER) m->begun[p->reads[i].buffer] = true;
    }
}

static arenaut_status make_moment(arn_remat_check *c, uint32_t op) {
    if (op >= c->p->n_ops) return reject_proof(c, "there is no such op");
    arn_remat_moment *m = &c->moments[c->n_moments++];
    m->op = op;
    memset(m->when, ANY, c->p->n_ops * sizeof *m->when);
    memset(m->assumed, NOTHING, c->p->n_storages * sizeof *m->assumed);
    spread(c, &c->follows, op, EARLIER, m->when);
    spread(c, &c->leads, op, LATER, m->when);
    find_begun(c, m);
    return ARENAUT_OK;
}

/* Each op of a proof precedes the next. */
static arenaut_status make_moments(arn_remat_check *c, const arenaut_remat_proof *proof) {
    if (proof->n_later > ARENAUT_REMAT_MOST_LATER)
        return reject_proof(c, "it has too many moments");
    c->n_moments = 0;
    arenaut_status st = make_moment(c, proof->op);
    for (uint32_t i = 0; i < proof->n_later && st == ARENAUT_OK; i++) {
        st = make_moment(c, proof->later[i]);
        if (st != ARENAUT_OK) break;
        const arn_remat_moment *m = &c->moments[i];
        if (m[1].when[m->op] != EARLIER)
            return reject_proof(c, "its ops do not follow one another");
    }
    return st;
}

/* Bytes that are alive in any schedule of the case. */
static void find_there(const arn_remat_check *c, arn_remat_moment *m) {
    const arenaut_remat_problem *p = c->p;
    const uint32_t op = m->op;
    uint64_t bytes = p->scratch ? p->scratch[op] : 0, right = p->shared ? p->shared[op] : 0;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        m->there[s] = arn_remat_is_held(c, s, ARENAUT_LIVE_OUT) && m->begun[s];
    }
    for (uint32_t i = c->reads.at[op]; i < c->reads.at[op + 1]; i++) {
        m->there[c->reads.to[i]] = true;
    }
    for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1]; i++) {
        m->there[c->makes.to[i]] = true;
    }
    for (uint32_t s = 0; s < p->n_storages; s++) {
        m->there[s] = m->there[s] || m->assumed[s] == ALIVE;
        bytes += m->there[s] ? p->size[s] : 0;
    }
    for (uint32_t i = 0; i < p->n_rights; i++) {
        if (p->rights[i].op == op && p->rights[i].bytes > right) right = p->rights[i].bytes;
    }
    m->own = bytes > right ? bytes - right : 0;
}

/* ---- flow ---- */

/* Where one looks: from a moment to the next one, or to the end; with the prices there. */
typedef struct stretch {
    const arn_remat_moment *here, *later; /* later: NULL: the end */
    uint64_t byte_price, time_price, unit;
} stretch;

/* Whether an op that runs behind `here` has run for the first time by the end of the stretch. */
static bool runs_within(const stretch *x, uint32_t op) {
    return !x->later || op == x->later->op || x->later->when[op] == EARLIER;
}

/* Flow goes to storages that have to be alive or made again, or cost something to be. */
static bool takes_flow(const arn_remat_check *c, const stretch *x, uint32_t s) {
    const uint32_t maker = c->p->maker[s];
    if (x->here->there[s]) return false;
    return maker != ARENAUT_NONE ? x->here->when[maker] != LATER : x->here->begun[s] != 0;
}

/* The capacity of a storage: the price of its being alive, in whole units, and of the flow that is
 * handed on from before. */
static bool price_of(const arn_remat_check *c, const stretch *x, uint32_t s, uint64_t *price) {
    return arn_multiply(c->p->size[s] / x->unit * x->unit, x->byte_price, price) &&
           arn_add(*price, c->handed[s], price);
}

/* Flow that begins at storages for the next moment: storages that are alive there in any case begin
 * it, as if the op there read them. Of others as much more is asked for there, so that it counts
 * then. */
static arenaut_status begin_flow(arn_remat_check *c, const stretch *x, uint64_t *flow,
                                 uint64_t *next) {
    for (uint32_t s = 0; s < c->p->n_storages; s++) {
        const uint64_t begins = c->begins[s];
        next[s] = 0;
        if (begins == 0) continue;
        if (!takes_flow(c, x, s)) return reject_proof(c, "flow begins where none is needed");
        if (x->later->there[s]) {
            if (!arn_add(*flow, begins, flow)) return reject_proof(c, "overflow");
        } else if (x->later->assumed[s] == GONE) {
            return reject_proof(c, "flow for a storage that is gone by then");
        } else {
            next[s] = begins;
        }
        if (!arn_add(c->into[s], begins, &c->into[s])) return reject_proof(c, "overflow");
    }
    return ARENAUT_OK;
}

/* Each storage takes in no more than it costs to be alive, and hands that to its maker. */
static arenaut_status add_flow(arn_remat_check *c, const stretch *x, const uint64_t *flow) {
    const arenaut_remat_problem *p = c->p;
    for (uint32_t i = 0; i < p->n_reads; i++) {
        const uint32_t op = p->reads[i].op, s = p->reads[i].buffer;
        if (flow[i] == 0) continue;
        if (op == x->here->op || !takes_flow(c, x, s)) {
            return reject_proof(c, "flow where nothing has to be alive or made again");
        }
        if (x->here->when[op] == LATER && !runs_within(x, op)) {
            return reject_proof(c, "flow from an op that may run behind the next moment");
        }
        if (!arn_add(c->into[s], flow[i], &c->into[s]) ||
            !arn_add(c->out[op], flow[i], &c->out[op])) {
            return reject_proof(c, "overflow");
        }
    }
    for (uint32_t s = 0; s < p->n_storages; s++) {
        uint64_t most;
        if (c->into[s] == 0 || x->here->assumed[s] == GONE) continue; /* made again for any price */
        if (!price_of(c, x, s, &most)) return reject_proof(c, "overflow");
        if (c->into[s] > most) return reject_proof(c, "more than a storage costs to be alive");
    }
    return ARENAUT_OK;
}

/* Flow that begins at results of an op that are live out: it ran before, and these are alive, or it
 * runs later, and reads its operands then. They have no more capacity than other flow leaves; if
 * one of them is assumed not to be alive, the op runs later, and there is no limit. */
static bool add_live_out(const arn_remat_check *c, const stretch *x, uint32_t op,
                         uint64_t *begins) {
    bool ok = !x->later && x->here->when[op] == ANY;
    for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1] && ok; i++) {
        const uint32_t s = c->makes.to[i];
        uint64_t most;
        if (!arn_remat_is_held(c, s, ARENAUT_LIVE_OUT) || x->here->there[s]) continue;
        if (x->here->assumed[s] == GONE) {
            *begins = UINT64_MAX;
            return true;
        }
        ok = price_of(c, x, s, &most) && arn_add(*begins, most - c->into[s], begins);
    }
    return ok;
}

/* Conservation: an op hands on no more flow than comes in and, where it runs before, keeps no more
 * than its cost. */
static arenaut_status check_op(arn_remat_check *c, const stretch *x, uint32_t op, uint64_t *flow) {
    const uint8_t *when = x->here->when;
    uint64_t in = 0, most;
    if (when[op] == LATER) {
        return arn_add(*flow, c->out[op], flow) ? ARENAUT_OK : reject_proof(c, "overflow");
    }
    for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1]; i++) {
        if (!arn_add(in, c->into[c->makes.to[i]], &in)) return reject_proof(c, "overflow");
    }
    if (c->out[op] > in) {
        uint64_t most_begins = 0;
        if (!add_live_out(c, x, op, &most_begins) || c->out[op] - in > most_begins) {
            return reject_proof(c, "an op hands on more than it got");
        }
        return arn_add(*flow, c->out[op] - in, flow) ? ARENAUT_OK : reject_proof(c, "overflow");
    }
    const uint32_t ends = arn_remat_right_ends(c, op);
    const bool never =
        ends != ARENAUT_NONE && (ends == op || ends == x->here->op || when[ends] == EARLIER);
    if (when[op] == EARLIER && never) return ARENAUT_OK;
    if (!arn_multiply(c->p->cost[op], x->time_price, &most)) return reject_proof(c, "overflow");
    if (when[op] != EARLIER) most = 0;
    if (in - c->out[op] > most) return reject_proof(c, "more than a repetition of the op costs");
    return ARENAUT_OK;
}

/* The flow of a stretch that counts there. `handed` has the flow that is handed on behind it. */
static arenaut_status check_flow(arn_remat_check *c, const stretch *x, const uint64_t *of_read,
                                 uint64_t *flow) {
    const arenaut_remat_problem *p = c->p;
    arenaut_status st = ARENAUT_OK;
    *flow = 0;
    memset(c->into, 0, p->n_storages * sizeof *c->into);
    memset(c->out, 0, p->n_ops * sizeof *c->out);
    if (x->later) st = begin_flow(c, x, flow, c->begins);
    if (st == ARENAUT_OK) st = add_flow(c, x, of_read);
    for (uint32_t op = 0; op < p->n_ops && st == ARENAUT_OK; op++) {
        if (op != x->here->op) st = check_op(c, x, op, flow);
    }
    uint64_t *const handed = c->handed;
    c->handed = c->begins;
    c->begins = handed;
    return st;
}

/* ---- a case ---- */

/* Adds a moment's part: byte_price × (budget − own) is left of the budget, or above it. */
static arenaut_status add_moment(arn_remat_check *c, const stretch *x, const uint64_t *of_read,
                                 uint64_t budget, sides *sum) {
    const uint64_t own = x->here->own;
    const uint64_t apart = budget > own ? (budget - own) / x->unit * x->unit : own - budget;
    uint64_t flow, paid;
    const arenaut_status st = check_flow(c, x, of_read, &flow);
    if (st != ARENAUT_OK) return st;
    uint64_t *const side = budget > own ? &sum->claimed : &sum->shown;
    if (!arn_multiply(x->byte_price, apart, &paid) || !arn_add(*side, paid, side) ||
        !arn_add(sum->shown, flow, &sum->shown)) {
        return reject_proof(c, "overflow");
    }
    return ARENAUT_OK;
}

/* Time that is claimed, and no less: time_price × added >= the bound that is shown. */
static arenaut_status compare(arn_remat_check *c, uint64_t time_price, sides sum) {
    uint64_t claimed;
    if (!arn_multiply(time_price, c->r->bound - 1, &claimed) ||
        !arn_add(sum.claimed, claimed, &sum.claimed)) {
        return reject_proof(c, "overflow");
    }
    return sum.shown > sum.claimed ? ARENAUT_OK : reject_proof(c, "the flow is too small");
}

static bool is_read(const arn_remat_check *c, uint32_t op, uint32_t storage, uint32_t *read) {
    for (uint32_t at = c->reads.at[op]; at < c->reads.at[op + 1]; at++) {
        if (c->reads.to[at] != storage) continue;
        *read = c->read_of[at];
        return true;
    }
    return false;
}

/* Flows of a moment, each of which belongs to a read, or to the op of the next moment. */
static arenaut_status put_flows(arn_remat_check *c, const arn_remat_moment *later,
                                const arenaut_remat_flow *flows, uint32_t n) {
    memset(c->flow, 0, c->p->n_reads * sizeof *c->flow);
    memset(c->begins, 0, c->p->n_storages * sizeof *c->begins);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t op = flows[i].op, s = flows[i].storage;
        uint32_t read;
        uint64_t *to = NULL;
        if (op >= c->p->n_ops || s >= c->p->n_storages) return reject_proof(c, "flow of nothing");
        if (is_read(c, op, s, &read)) to = &c->flow[read];
        else if (later && op == later->op) to = &c->begins[s];
        if (!to) return reject_proof(c, "flow from an op to a storage that it does not read");
        if (!arn_add(*to, flows[i].flow, to)) return reject_proof(c, "overflow");
    }
    return ARENAUT_OK;
}

/* A case that flows show, with a line for each moment. */
static arenaut_status check_case(arn_remat_check *c, const arenaut_remat_case *lines,
                                 uint64_t *next) {
    const arenaut_remat_proof *proof = &c->r->proof;
    sides sum = {0, 0};
    if (lines->time_price == 0) return reject_proof(c, "time costs nothing");
    memset(c->handed, 0, c->p->n_storages * sizeof *c->handed);
    for (uint32_t k = 0; k < c->n_moments; k++) find_there(c, &c->moments[k]);
    for (uint32_t k = 0; k < c->n_moments; k++) {
        const arenaut_remat_case *line = &lines[k];
        const stretch x = {.here = &c->moments[k],
                           .later = k + 1 < c->n_moments ? &c->moments[k + 1] : NULL,
                           .byte_price = line->byte_price,
                           .time_price = line->time_price,
                           .unit = line->unit};
        if (line->storage != ARENAUT_NONE || line->moment != k) {
            return reject_proof(c, "a case has not a line for each moment");
        }
        if (line->time_price != lines->time_price) return reject_proof(c, "time has two prices");
        if (line->unit == 0) return reject_proof(c, "a unit has no bytes");
        if (line->n_flows > proof->n_flows - *next) return reject_proof(c, "flows are missing");
        arenaut_status st = put_flows(c, x.later, proof->flows + *next, line->n_flows);
        if (st == ARENAUT_OK) st = add_moment(c, &x, c->flow, c->r->budget, &sum);
        if (st != ARENAUT_OK) return st;
        *next += line->n_flows;
    }
    return compare(c, lines->time_price, sum);
}

/* ---- cases ---- */

/* A storage that is told apart, and where. */
typedef struct fork {
    uint32_t moment, storage;
} fork;

/* Cases in preorder: `path` has the storages that are told apart above the present line. Each is
 * alive or not, so that what holds in both cases holds. */
static arenaut_status check_cases(arn_remat_check *c) {
    const arenaut_remat_proof *proof = &c->r->proof;
    fork *path =
        arn_region_allocate(&c->region, (size_t)c->p->n_storages * c->n_moments, sizeof *path);
    uint64_t next = 0; /* flow */
    uint32_t n = 0;
    bool ended = false;
    arenaut_status st = path ? ARENAUT_OK : arn_no_memory(c->err);
    for (uint32_t i = 0; i < proof->n_cases && st == ARENAUT_OK; i++) {
        const arenaut_remat_case *line = &proof->cases[i];
        if (ended) return reject_proof(c, "cases behind the last one");
        if (line->storage != ARENAUT_NONE) {
            if (line->storage >= c->p->n_storages || line->moment >= c->n_moments ||
                c->moments[line->moment].assumed[line->storage] != NOTHING) {
                return reject_proof(c, "cases of a storage that there is not, or of one twice");
            }
            if (line->n_flows > 0) return reject_proof(c, "flow where cases are told apart");
            c->moments[line->moment].assumed[line->storage] = ALIVE;
            path[n++] = (fork){line->moment, line->storage};
            continue;
        }
        if (proof->n_cases - i < c->n_moments) return reject_proof(c, "a moment is missing");
        st = check_case(c, line, &next);
        i += c->n_moments - 1;
        while (n > 0 && c->moments[path[n - 1].moment].assumed[path[n - 1].storage] == GONE) {
            n--;
            c->moments[path[n].moment].assumed[path[n].storage] = NOTHING;
        }
        if (n > 0) c->moments[path[n - 1].moment].assumed[path[n - 1].storage] = GONE;
        else ended = true;
    }
    if (st != ARENAUT_OK) return st;
    return ended ? ARENAUT_OK : reject_proof(c, "a case is missing");
}

/* One moment, and one case. */
static arenaut_status check_one(arn_remat_check *c) {
    const arenaut_remat_proof *proof = &c->r->proof;
    const stretch x = {.here = c->moments,
                       .byte_price = proof->byte_price,
                       .time_price = proof->time_price,
                       .unit = 1};
    sides sum = {0, 0};
    if (c->n_moments > 1) return reject_proof(c, "several moments without cases");
    if (proof->time_price == 0) return reject_proof(c, "time costs nothing");
    memset(c->handed, 0, c->p->n_storages * sizeof *c->handed);
    find_there(c, c->moments);
    const arenaut_status st = add_moment(c, &x, proof->flow, c->r->budget, &sum);
    return st == ARENAUT_OK ? compare(c, proof->time_price, sum) : st;
}

static arenaut_status check_bound(arn_remat_check *c) {
    if (c->r->bound == 0) return ARENAUT_OK;
    const arenaut_status st = make_moments(c, &c->r->proof);
    if (st != ARENAUT_OK) return st;
    return c->r->proof.n_cases > 0 ? check_cases(c) : check_one(c);
}

/* ---- the floor ---- */

/* Bytes of storages that an op uses and that are not there already, and its scratch. */
static uint64_t other_bytes(const arn_remat_check *c, bool *there, uint32_t op) {
    uint64_t bytes = c->p->scratch ? c->p->scratch[op] : 0;
    const arn_remat_rows *const both[] = {&c->reads, &c->makes};
    for (int undo = 0; undo < 2; undo++) { /* so that each counts once */
        for (int k = 0; k < 2; k++) {
            for (uint32_t i = both[k]->at[op]; i < both[k]->at[op + 1]; i++) {
                const uint32_t s = both[k]->to[i];
                if (arn_remat_is_held(c, s, ARENAUT_LIVE_OUT)) continue;
                if (!undo && !there[s]) bytes += c->p->size[s];
                there[s] = !undo;
            }
        }
    }
    return bytes;
}

/* Per op: bytes that it may let share memory while it runs, at most. */
static void find_shared(const arenaut_remat_problem *p, uint64_t *shared) {
    for (uint32_t op = 0; op < p->n_ops; op++) shared[op] = p->shared ? p->shared[op] : 0;
    for (uint32_t i = 0; i < p->n_rights; i++) {
        uint64_t *most = &shared[p->rights[i].op];
        if (p->rights[i].bytes > *most) *most = p->rights[i].bytes;
    }
}

/* Ops that no op has to follow and all that precede these, without those that were taken out. */
typedef struct last_ops {
    uint32_t *list, *scratch, n;
    uint64_t *least;  /* per op of the list: what has to be held so that it needs the floor */
    uint32_t *behind; /* per op: how many follow it, itself of the list included; 0: taken out */
    uint32_t *users;  /* per storage: runs that make it or read it; one more if it is live in */
    uint64_t held;    /* bytes of storages that are live out and have begun */
} last_ops;

static bool allocate_last(arn_remat_check *c, last_ops *x) {
    const size_t n = c->p->n_ops;
    return ARN_REGION_ARRAYS(&c->region, ARN_ARRAY(x->list, n), ARN_ARRAY(x->scratch, n),
                             ARN_ARRAY(x->least, n), ARN_ARRAY(x->behind, n),
                             ARN_ARRAY(x->users, c->p->n_storages));
}

static void list_last(arn_remat_check *c, const uint64_t *shared, last_ops *x) {
    bool *there = c->moments->there;
    memset(there, false, c->p->n_storages * sizeof *there);
    for (uint32_t op = 0; op < c->p->n_ops; op++) {
        x->behind[op] = c->leads.at[op + 1] - c->leads.at[op];
        if (x->behind[op] > 0) continue;
        const uint64_t other = other_bytes(c, there, op);
        uint64_t least;
        if (!arn_add(shared[op], c->r->floor, &least)) least = UINT64_MAX;
        x->behind[op] = 1;
        x->least[op] = least > other ? least - other : 0;
        x->list[x->n++] = op;
    }
}

static void count_users(const arn_remat_check *c, last_ops *x) {
    const arenaut_remat_problem *p = c->p;
    x->held = 0;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        x->users[s] = p->maker[s] != ARENAUT_NONE || arn_remat_is_held(c, s, ARENAUT_LIVE_IN);
    }
    for (uint32_t i = 0; i < p->n_reads; i++) x->users[p->reads[i].buffer]++;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        const bool held = arn_remat_is_held(c, s, ARENAUT_LIVE_OUT) && x->users[s] > 0;
        x->held += held ? p->size[s] : 0;
    }
}

/* Of a run that makes or reads it. */
static void lose_user(const arn_remat_check *c, last_ops *x, uint32_t s) {
    if (--x->users[s] == 0 && arn_remat_is_held(c, s, ARENAUT_LIVE_OUT)) x->held -= c->p->size[s];
}

/* With it go those that precede it and none that is left. */
static void take_out(arn_remat_check *c, last_ops *x, uint32_t last) {
    uint32_t n = 0;
    x->behind[last] = 0;
    c->stack[n++] = last;
    while (n > 0) {
        const uint32_t op = c->stack[--n];
        for (uint32_t i = c->reads.at[op]; i < c->reads.at[op + 1]; i++) {
            lose_user(c, x, c->reads.to[i]);
        }
        for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1]; i++) {
            lose_user(c, x, c->makes.to[i]);
        }
        for (uint32_t i = c->follows.at[op]; i < c->follows.at[op + 1]; i++) {
            const uint32_t before = c->follows.to[i];
            if (--x->behind[before] == 0) c->stack[n++] = before;
        }
    }
}

/* Of ops that no op has to follow, some one runs first last. Then what is live out of all of them
 * and of those before is alive, and all that this op uses. If that is less than the floor for some,
 * these may run behind the others, and are looked at no more: until none is. First are those for
 * which most would have to be held. O(graph + ops log ops). */
static arenaut_status check_end(arn_remat_check *c) {
    last_ops x = {0};
    uint64_t *shared = arn_region_allocate(&c->region, c->p->n_ops, sizeof *shared);
    if (!shared || !allocate_last(c, &x)) return arn_no_memory(c->err);
    find_shared(c->p, shared);
    list_last(c, shared, &x);
    count_users(c, &x);
    arn_sort_by_key(x.list, x.n, x.least, x.scratch);
    while (x.n > 0 && x.least[x.list[x.n - 1]] > x.held) take_out(c, &x, x.list[--x.n]);
    return x.n > 0 ? ARENAUT_OK : reject_proof(c, "less is alive at the end");
}

/* With time for nothing: byte_price × (peak − own) >= flow. */
static arenaut_status check_floor(arn_remat_check *c) {
    const arenaut_remat_proof *proof = &c->r->floor_proof;
    const stretch x = {.here = c->moments, .byte_price = proof->byte_price, .unit = 1};
    uint64_t flow, claimed;
    if (c->r->floor == 0) return ARENAUT_OK;
    if (proof->time_price != 0 || proof->byte_price == 0)
        return reject_proof(c, "time has a price");
    if (proof->n_later > 0 || proof->n_cases > 0)
        return reject_proof(c, "a floor has one moment, and no cases");
    if (proof->op == c->p->n_ops) return check_end(c);
    arenaut_status st = make_moments(c, proof);
    if (st != ARENAUT_OK) return st;
    memset(c->handed, 0, c->p->n_storages * sizeof *c->handed);
    find_there(c, c->moments);
    st = check_flow(c, &x, proof->flow, &flow);
    const uint64_t own = c->moments->own;
    if (st != ARENAUT_OK || c->r->floor <= own) return st;
    if (!arn_multiply(proof->byte_price, c->r->floor - own - 1, &claimed)) {
        return reject_proof(c, "overflow");
    }
    return flow > claimed ? ARENAUT_OK : reject_proof(c, "the flow is too small");
}

arenaut_status arn_remat_check_bounds(arn_remat_check *c) {
    const arenaut_status st = check_bound(c);
    return st == ARENAUT_OK ? check_floor(c) : st;
}
