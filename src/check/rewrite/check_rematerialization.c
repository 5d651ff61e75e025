/* Check of a rematerialized schedule and of the flows that prove its bounds. Instances and their
 * live ranges are listed run by run; a flow is added up node by node, and its capacities are worked
 * out anew from the ops that precede and that follow an op. O(runs × arguments), without searching.
 */
#include <inttypes.h>
#include <string.h>

#include <arenaut/check.h>
#include <arenaut/rematerialization.h>

#include "check/finding.h"
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"

typedef enum moment { ANY, EARLIER, LATER } moment;
typedef enum assumption { NOTHING, ALIVE, GONE } assumption; /* at the op that a proof looks at */

/* Lists, one after another: those of i are to[at[i]] up to to[at[i + 1]]. */
typedef struct rows {
    uint32_t *at, *to;
} rows;

/* An instance: the runs in which it is used. */
typedef struct life {
    uint32_t storage, first, last;
} life;

typedef struct checker {
    const arenaut_remat_problem *p;
    const arenaut_rematerialization *r;
    arn_region region;
    rows reads, makes, leads,
        follows;        /* of an op: storages; ops that first run behind it, before */
    uint32_t *read_of;  /* per storage that an op reads, as in `reads`: the read of the problem */
    uint32_t *instance; /* per storage: the latest; NONE: there is none */
    life *lives;
    uint32_t n_lives;
    uint32_t *ran;        /* per op: its first run; NONE: it has not run */
    uint64_t *load;       /* per run, and behind all */
    uint8_t *when;        /* per op: moment */
    bool *there;          /* per storage: alive at the op that a proof looks at, in any case */
    uint64_t *into, *out; /* per storage, per op: flow */
    uint8_t *assumed;     /* per storage: assumption, in one case of a proof */
    uint64_t *flow;       /* per read: of one case */
    uint32_t *stack;      /* of ops */
    uint32_t *begun;      /* per storage: whether it was made before that op, or is live in */
    arenaut_finding *finding;
    arenaut_error *err;
} checker;

static bool is_held(const checker *c, uint32_t storage, uint32_t when) {
    return c->p->held && (c->p->held[storage] & when);
}

static uint32_t right_ends(const checker *c, uint32_t op) {
    return c->p->until ? c->p->until[op] : ARENAUT_NONE;
}

/* ---- rows ---- */

static bool room_for_rows(checker *c, rows *r, uint32_t n, size_t most) {
    r->at = arn_region_allocate(&c->region, (size_t)n + 2, sizeof *r->at);
    r->to = arn_region_allocate(&c->region, most, sizeof *r->to);
    if (r->at) memset(r->at, 0, ((size_t)n + 2) * sizeof *r->at);
    return r->at && r->to;
}

static void sum_rows(rows *r, uint32_t n) {
    for (uint32_t i = 2; i < n + 2; i++) r->at[i] += r->at[i - 1];
}

static void fill_rows(checker *c) {
    const arenaut_remat_problem *p = c->p;
    rows *const all[] = {&c->reads, &c->makes, &c->leads, &c->follows};
    for (int fill = 0; fill < 2; fill++) {
        for (size_t k = 0; k < 4 && fill; k++) sum_rows(all[k], p->n_ops);
        const uint32_t shift = fill ? 1 : 2;
#define PUT(rows, of, id)                        \
    do {                                         \
        uint32_t *at = &(rows).at[(of) + shift]; \
        if (fill) (rows).to[*at] = (id);         \
        ++*at;                                   \
    } while (0)
        for (uint32_t i = 0; i < p->n_reads; i++) {
            const uint32_t op = p->reads[i].op, s = p->reads[i].buffer, maker = p->maker[s];
            if (fill) c->read_of[c->reads.at[op + shift]] = i;
            PUT(c->reads, op, s);
            if (maker == ARENAUT_NONE) continue;
            PUT(c->leads, maker, op);
            PUT(c->follows, op, maker);
        }
        for (uint32_t s = 0; s < p->n_storages; s++) {
            if (p->maker[s] != ARENAUT_NONE) PUT(c->makes, p->maker[s], s);
        }
        for (uint32_t i = 0; i < p->n_dependences; i++) {
            PUT(c->leads, p->dependences[i].first, p->dependences[i].op);
            PUT(c->follows, p->dependences[i].op, p->dependences[i].first);
        }
#undef PUT
    }
}

/* ---- runs ---- */

static arenaut_status reject_run(checker *c, uint32_t at, const char *why) {
    c->finding->rule = ARENAUT_RULE_ORDER;
    c->finding->op = c->r->runs[at];
    return arn_check_reject(c->finding, c->err, "run %" PRIu32 ", of op %" PRIu32 ": %s", at,
                            c->r->runs[at], why);
}

static arenaut_status use(checker *c, uint32_t storage, uint32_t at) {
    uint32_t *latest = &c->instance[storage];
    if (*latest == ARENAUT_NONE) {
        if (c->p->maker[storage] != ARENAUT_NONE)
            return reject_run(c, at, "it reads a storage that is not made");
        *latest = c->n_lives;
        c->lives[c->n_lives++] = (life){storage, is_held(c, storage, ARENAUT_LIVE_IN) ? 0 : at, at};
    }
    c->lives[*latest].last = at;
    return ARENAUT_OK;
}

static arenaut_status follow_run(checker *c, uint32_t at) {
    const uint32_t op = c->r->runs[at], ends = right_ends(c, op);
    arenaut_status st = ARENAUT_OK;
    if (c->ran[op] == ARENAUT_NONE) {
        c->ran[op] = at;
        for (uint32_t i = c->follows.at[op]; i < c->follows.at[op + 1]; i++) {
            if (c->ran[c->follows.to[i]] == ARENAUT_NONE)
                return reject_run(c, at, "it precedes an op that it depends on");
        }
    } else if (ends != ARENAUT_NONE && c->ran[ends] != ARENAUT_NONE) {
        return reject_run(c, at, "it may not be repeated");
    }
    for (uint32_t i = c->reads.at[op]; i < c->reads.at[op + 1] && st == ARENAUT_OK; i++) {
        st = use(c, c->reads.to[i], at);
    }
    for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1]; i++) {
        c->instance[c->makes.to[i]] = c->n_lives;
        c->lives[c->n_lives++] = (life){c->makes.to[i], at, at};
    }
    return st;
}

/* The first instance of a storage that is live out is alive to the end. */
static void hold_lives(checker *c) {
    for (uint32_t s = 0; s < c->p->n_storages; s++) {
        if (!is_held(c, s, ARENAUT_LIVE_OUT)) continue;
        for (uint32_t i = 0; i < c->n_lives; i++) {
            if (c->lives[i].storage != s) continue;
            c->lives[i].last = c->r->n_runs;
            break;
        }
    }
}

static void add_lives(checker *c) {
    memset(c->load, 0, ((size_t)c->r->n_runs + 1) * sizeof *c->load);
    for (uint32_t i = 0; i < c->n_lives; i++) {
        c->load[c->lives[i].first] += c->p->size[c->lives[i].storage];
        if (c->lives[i].last == c->r->n_runs) continue;
        c->load[c->lives[i].last + 1] -= c->p->size[c->lives[i].storage];
    }
    for (uint32_t s = 0; s < c->p->n_storages; s++) { /* held, and never used */
        if (c->instance[s] != ARENAUT_NONE || !is_held(c, s, ARENAUT_LIVE_IN)) continue;
        if (is_held(c, s, ARENAUT_LIVE_OUT)) c->load[0] += c->p->size[s];
    }
    for (uint32_t at = 0; at < c->r->n_runs; at++) c->load[at + 1] += c->load[at];
}

static uint64_t find_peak(checker *c) {
    const arenaut_remat_problem *p = c->p;
    uint64_t peak = 0;
    for (uint32_t s = 0; s < p->n_storages; s++) c->instance[s] = ARENAUT_NONE;
    c->n_lives = 0;
    for (uint32_t at = 0; at < c->r->n_runs; at++) { /* once more, now that lives are known */
        const uint32_t op = c->r->runs[at];
        uint64_t once = 0;
        for (uint32_t i = c->reads.at[op]; i < c->reads.at[op + 1]; i++) {
            if (c->instance[c->reads.to[i]] == ARENAUT_NONE) {
                c->instance[c->reads.to[i]] = c->n_lives++;
            }
        }
        for (uint32_t i = 0; i < p->n_rights; i++) {
            const arenaut_order_right *right = &p->rights[i];
            const bool ends = right->op == op && c->instance[right->over] != ARENAUT_NONE &&
                              c->lives[c->instance[right->over]].last == at;
            if (ends && right->bytes > once) once = right->bytes;
        }
        for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1]; i++) {
            c->instance[c->makes.to[i]] = c->n_lives++;
        }
        const uint64_t load = c->load[at] + (p->scratch ? p->scratch[op] : 0) - once;
        if (load > peak) peak = load;
    }
    return peak;
}

static arenaut_status check_runs(checker *c) {
    const arenaut_rematerialization *r = c->r;
    arenaut_status st = ARENAUT_OK;
    uint64_t added = 0, base = 0;
    for (uint32_t s = 0; s < c->p->n_storages; s++) c->instance[s] = ARENAUT_NONE;
    for (uint32_t op = 0; op < c->p->n_ops; op++) c->ran[op] = ARENAUT_NONE;
    for (uint32_t at = 0; at < r->n_runs && st == ARENAUT_OK; at++) st = follow_run(c, at);
    if (st != ARENAUT_OK) return st;
    c->finding->rule = ARENAUT_RULE_ORDER;
    for (uint32_t at = 0; at < r->n_runs; at++) added += c->p->cost[r->runs[at]];
    for (uint32_t op = 0; op < c->p->n_ops; op++) {
        base += c->p->cost[op];
        if (c->ran[op] == ARENAUT_NONE) {
            return arn_check_reject(c->finding, c->err, "op %" PRIu32 " does not run", op);
        }
    }
    if (base != r->base || added - base != r->added) {
        return arn_check_reject(c->finding, c->err, "%" PRIu64 " are added, not %" PRIu64,
                                added - base, r->added);
    }
    hold_lives(c);
    add_lives(c);
    const uint64_t peak = find_peak(c);
    if (peak != r->peak || r->fits != (peak <= r->budget)) {
        return arn_check_reject(c->finding, c->err,
                                "%" PRIu64 " bytes are alive at once, not %" PRIu64, peak, r->peak);
    }
    c->finding->rule = ARENAUT_RULE_NONE;
    return ARENAUT_OK;
}

/* ---- flows ---- */

static arenaut_status reject_proof(checker *c, const char *why) {
    c->finding->rule = ARENAUT_RULE_PROOF;
    return arn_check_reject(c->finding, c->err, "the bound is not shown: %s", why);
}

static void spread(checker *c, const rows *links, uint32_t op, moment when, uint32_t *stack) {
    uint32_t n = 0;
    stack[n++] = op;
    while (n > 0) {
        const uint32_t at = stack[--n];
        for (uint32_t i = links->at[at]; i < links->at[at + 1]; i++) {
            if (c->when[links->to[i]] != ANY) continue;
            c->when[links->to[i]] = (uint8_t)when;
            stack[n++] = links->to[i];
        }
    }
}

/* Storages that some op before the one of the proof has used. */
static void find_begun(checker *c, uint32_t *begun) {
    const arenaut_remat_problem *p = c->p;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        const uint32_t maker = p->maker[s];
        begun[s] =
            maker != ARENAUT_NONE ? c->when[maker] == EARLIER : is_held(c, s, ARENAUT_LIVE_IN);
    }
    for (uint32_t i = 0; i < p->n_reads; i++) {
        if (c->when[p->reads[i].op] == EARLIER) begun[p->reads[i].buffer] = true;
    }
}

/* Bytes that are alive in any schedule. */
static uint64_t find_there(checker *c, uint32_t op, const uint32_t *begun) {
    const arenaut_remat_problem *p = c->p;
    uint64_t bytes = p->scratch ? p->scratch[op] : 0, right = p->shared ? p->shared[op] : 0;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        c->there[s] = is_held(c, s, ARENAUT_LIVE_OUT) && begun[s];
    }
    for (uint32_t i = c->reads.at[op]; i < c->reads.at[op + 1]; i++)
        c->there[c->reads.to[i]] = true;
    for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1]; i++)
        c->there[c->makes.to[i]] = true;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        c->there[s] = c->there[s] || c->assumed[s] == ALIVE;
        bytes += c->there[s] ? p->size[s] : 0;
    }
    for (uint32_t i = 0; i < p->n_rights; i++) {
        if (p->rights[i].op == op && p->rights[i].bytes > right) right = p->rights[i].bytes;
    }
    return bytes > right ? bytes - right : 0;
}

/* Bytes of storages that an op uses and that are not there already, and its scratch. */
static uint64_t other_bytes(checker *c, uint32_t op) {
    uint64_t bytes = c->p->scratch ? c->p->scratch[op] : 0;
    const rows *const both[] = {&c->reads, &c->makes};
    for (int undo = 0; undo < 2; undo++) { /* so that each counts once */
        for (int k = 0; k < 2; k++) {
            for (uint32_t i = both[k]->at[op]; i < both[k]->at[op + 1]; i++) {
                const uint32_t s = both[k]->to[i];
                if (is_held(c, s, ARENAUT_LIVE_OUT)) continue;
                if (!undo && !c->there[s]) bytes += c->p->size[s];
                c->there[s] = !undo;
            }
        }
    }
    return bytes;
}

/* Each storage takes in no more than it costs to be alive, and hands that to its maker. */
static arenaut_status add_flow(checker *c, const arenaut_remat_proof *proof,
                               const uint32_t *begun) {
    const arenaut_remat_problem *p = c->p;
    bool ok = true;
    memset(c->into, 0, p->n_storages * sizeof *c->into);
    memset(c->out, 0, p->n_ops * sizeof *c->out);
    for (uint32_t i = 0; i < p->n_reads && ok; i++) {
        const uint32_t op = p->reads[i].op, s = p->reads[i].buffer, maker = p->maker[s];
        const uint64_t flow = proof->flow[i];
        if (flow == 0) continue;
        const bool late = maker != ARENAUT_NONE && c->when[maker] == LATER;
        if (op == proof->op || late || c->there[s] || (maker == ARENAUT_NONE && !begun[s])) {
            return reject_proof(c, "flow where nothing has to be alive or made again");
        }
        ok = arn_add(c->into[s], flow, &c->into[s]) && arn_add(c->out[op], flow, &c->out[op]);
    }
    for (uint32_t s = 0; s < p->n_storages && ok; s++) {
        uint64_t most;
        if (c->into[s] == 0 || c->assumed[s] == GONE) continue; /* made again for any price */
        if (!arn_multiply(p->size[s], proof->byte_price, &most)) return reject_proof(c, "overflow");
        if (c->into[s] > most) return reject_proof(c, "more than a storage costs to be alive");
    }
    return ok ? ARENAUT_OK : reject_proof(c, "overflow");
}

/* Flow that begins at results of an op that are live out: it ran before, and these are alive, or it
 * runs later, and reads its operands then. They have no more capacity than other flow leaves. */
static bool add_live_out(const checker *c, const arenaut_remat_proof *proof, uint32_t op,
                         uint64_t *begins) {
    bool ok = c->when[op] == ANY;
    for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1] && ok; i++) {
        const uint32_t s = c->makes.to[i];
        uint64_t most;
        if (!is_held(c, s, ARENAUT_LIVE_OUT) || c->there[s] || c->assumed[s] == GONE) continue;
        ok = arn_multiply(c->p->size[s], proof->byte_price, &most) &&
             arn_add(*begins, most - c->into[s], begins);
    }
    return ok;
}

/* An op may hand on no more than comes in and, where it runs before, keeps what it costs at most.
 */
static arenaut_status check_op(checker *c, const arenaut_remat_proof *proof, uint32_t op,
                               uint64_t *flow) {
    uint64_t in = 0, most;
    if (c->when[op] == LATER) {
        return arn_add(*flow, c->out[op], flow) ? ARENAUT_OK : reject_proof(c, "overflow");
    }
    for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1]; i++) {
        if (!arn_add(in, c->into[c->makes.to[i]], &in)) return reject_proof(c, "overflow");
    }
    if (c->out[op] > in) {
        uint64_t most_begins = 0;
        if (!add_live_out(c, proof, op, &most_begins) || c->out[op] - in > most_begins) {
            return reject_proof(c, "an op hands on more than it got");
        }
        return arn_add(*flow, c->out[op] - in, flow) ? ARENAUT_OK : reject_proof(c, "overflow");
    }
    const uint32_t ends = right_ends(c, op);
    const bool never =
        ends != ARENAUT_NONE && (ends == op || ends == proof->op || c->when[ends] == EARLIER);
    if (c->when[op] == EARLIER && never) return ARENAUT_OK;
    if (!arn_multiply(c->p->cost[op], proof->time_price, &most)) return reject_proof(c, "overflow");
    if (c->when[op] != EARLIER) most = 0;
    if (in - c->out[op] > most) return reject_proof(c, "more than a repetition of the op costs");
    return ARENAUT_OK;
}

/* Gives the flow, and the bytes that are alive in any case. */
static arenaut_status check_flow(checker *c, const arenaut_remat_proof *proof, uint64_t *flow,
                                 uint64_t *own) {
    const arenaut_remat_problem *p = c->p;
    if (proof->op >= p->n_ops) return reject_proof(c, "there is no such op");
    memset(c->when, ANY, p->n_ops * sizeof *c->when);
    spread(c, &c->follows, proof->op, EARLIER, c->stack);
    spread(c, &c->leads, proof->op, LATER, c->stack);
    find_begun(c, c->begun);
    *own = find_there(c, proof->op, c->begun);
    *flow = 0;
    arenaut_status st = add_flow(c, proof, c->begun);
    for (uint32_t op = 0; op < p->n_ops && st == ARENAUT_OK; op++) {
        if (op != proof->op) st = check_op(c, proof, op, flow);
    }
    return st;
}

/* time_price × added + byte_price × (budget − own) >= flow, so that added >= bound. */
static arenaut_status check_case(checker *c, const arenaut_remat_proof *proof) {
    uint64_t flow, own, claimed, paid;
    if (proof->time_price == 0) return reject_proof(c, "time costs nothing");
    const arenaut_status st = check_flow(c, proof, &flow, &own);
    if (st != ARENAUT_OK) return st;
    const uint64_t budget = c->r->budget, apart = budget > own ? budget - own : own - budget;
    if (!arn_multiply(proof->byte_price, apart, &paid) ||
        !arn_multiply(proof->time_price, c->r->bound - 1, &claimed)) {
        return reject_proof(c, "overflow");
    }
    uint64_t *const side = budget > own ? &claimed : &flow;
    if (!arn_add(*side, paid, side)) return reject_proof(c, "overflow");
    return flow > claimed ? ARENAUT_OK : reject_proof(c, "the flow is too small");
}

/* Flows of a case, each of which belongs to a read. */
static arenaut_status put_flows(checker *c, const arenaut_remat_flow *flows, uint32_t n) {
    memset(c->flow, 0, c->p->n_reads * sizeof *c->flow);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t op = flows[i].op;
        uint32_t at = op < c->p->n_ops ? c->reads.at[op] : 0;
        const uint32_t end = op < c->p->n_ops ? c->reads.at[op + 1] : 0;
        while (at < end && c->reads.to[at] != flows[i].storage) at++;
        if (at == end) return reject_proof(c, "flow from an op to a storage that it does not read");
        if (!arn_add(c->flow[c->read_of[at]], flows[i].flow, &c->flow[c->read_of[at]])) {
            return reject_proof(c, "overflow");
        }
    }
    return ARENAUT_OK;
}

/* Cases in preorder: `path` has the storages that are told apart above the present line. Each is
 * alive or not, so that what holds in both cases holds. */
static arenaut_status check_cases(checker *c) {
    const arenaut_remat_proof *proof = &c->r->proof;
    uint32_t *path = arn_region_allocate(&c->region, c->p->n_storages, sizeof *path), n = 0;
    uint64_t next = 0; /* flow */
    bool ended = false;
    arenaut_status st = path ? ARENAUT_OK : arn_no_memory(c->err);
    for (uint32_t i = 0; i < proof->n_cases && st == ARENAUT_OK; i++) {
        const arenaut_remat_case *line = &proof->cases[i];
        if (ended) return reject_proof(c, "cases behind the last one");
        if (line->storage != ARENAUT_NONE) {
            if (line->storage >= c->p->n_storages || c->assumed[line->storage] != NOTHING) {
                return reject_proof(c, "cases of a storage that there is not, or of one twice");
            }
            c->assumed[line->storage] = ALIVE;
            path[n++] = line->storage;
            continue;
        }
        if (line->n_flows > proof->n_flows - next) return reject_proof(c, "flows are missing");
        const arenaut_remat_proof one = {.op = proof->op,
                                         .byte_price = line->byte_price,
                                         .time_price = line->time_price,
                                         .flow = c->flow};
        st = put_flows(c, proof->flows + next, line->n_flows);
        if (st == ARENAUT_OK) st = check_case(c, &one);
        next += line->n_flows;
        while (n > 0 && c->assumed[path[n - 1]] == GONE) c->assumed[path[--n]] = NOTHING;
        if (n > 0) c->assumed[path[n - 1]] = GONE;
        else ended = true;
    }
    if (st != ARENAUT_OK) return st;
    return ended ? ARENAUT_OK : reject_proof(c, "a case is missing");
}

static arenaut_status check_bound(checker *c) {
    if (c->r->bound == 0) return ARENAUT_OK;
    memset(c->assumed, NOTHING, c->p->n_storages * sizeof *c->assumed);
    if (c->r->proof.n_cases > 0) return check_cases(c);
    return check_case(c, &c->r->proof);
}

/* Some op is the last to run first: one that no op has to follow. Then all that is live out is
 * alive, and all that this op uses, whichever it is. */
static arenaut_status check_end(checker *c) {
    const arenaut_remat_problem *p = c->p;
    uint32_t *begun = arn_region_allocate(&c->region, p->n_storages, sizeof *begun);
    uint64_t *right = arn_region_allocate(&c->region, p->n_ops, sizeof *right), held = 0;
    if (!begun || !right) return arn_no_memory(c->err);
    memset(c->when, EARLIER, p->n_ops * sizeof *c->when);
    find_begun(c, begun);
    for (uint32_t op = 0; op < p->n_ops; op++) right[op] = p->shared ? p->shared[op] : 0;
    for (uint32_t i = 0; i < p->n_rights; i++) {
        uint64_t *most = &right[p->rights[i].op];
        if (p->rights[i].bytes > *most) *most = p->rights[i].bytes;
    }
    for (uint32_t s = 0; s < p->n_storages; s++) {
        c->there[s] = is_held(c, s, ARENAUT_LIVE_OUT) && begun[s];
        held += c->there[s] ? p->size[s] : 0;
    }
    for (uint32_t op = 0; op < p->n_ops; op++) {
        if (c->leads.at[op] < c->leads.at[op + 1]) continue;
        const uint64_t bytes = held + other_bytes(c, op);
        if (bytes < right[op] || bytes - right[op] < c->r->floor) {
            return reject_proof(c, "less is alive at the end");
        }
    }
    return p->n_ops > 0 ? ARENAUT_OK : reject_proof(c, "there is no op");
}

/* With time for nothing: byte_price × (peak − own) >= flow. */
static arenaut_status check_floor(checker *c) {
    const arenaut_remat_proof *proof = &c->r->floor_proof;
    uint64_t flow, own, claimed;
    if (c->r->floor == 0) return ARENAUT_OK;
    memset(c->assumed, NOTHING, c->p->n_storages * sizeof *c->assumed);
    if (proof->time_price != 0 || proof->byte_price == 0)
        return reject_proof(c, "time has a price");
    if (proof->op == c->p->n_ops) return check_end(c);
    const arenaut_status st = check_flow(c, proof, &flow, &own);
    if (st != ARENAUT_OK || c->r->floor <= own) return st;
    if (!arn_multiply(proof->byte_price, c->r->floor - own - 1, &claimed)) {
        return reject_proof(c, "overflow");
    }
    return flow > claimed ? ARENAUT_OK : reject_proof(c, "the flow is too small");
}

/* ---- all of it ---- */

/* Whether ops read the storages that they may write over, and make those that lie there. */
static bool are_rights(const checker *c) {
    const arenaut_remat_problem *p = c->p;
    bool ok = true;
    for (uint32_t i = 0; i < p->n_rights && ok; i++) {
        const arenaut_order_right *right = &p->rights[i];
        bool reads = false;
        for (uint32_t k = c->reads.at[right->op]; k < c->reads.at[right->op + 1]; k++) {
            reads = reads || c->reads.to[k] == right->over;
        }
        ok = reads && p->maker[right->made] == right->op && right->bytes <= p->size[right->made] &&
             right->bytes <= p->size[right->over];
    }
    return ok;
}

static bool are_numbers(const arenaut_remat_problem *p, const arenaut_rematerialization *r) {
    bool ok = true;
    for (uint32_t i = 0; i < p->n_reads; i++) {
        ok = ok && p->reads[i].op < p->n_ops && p->reads[i].buffer < p->n_storages;
    }
    for (uint32_t i = 0; i < p->n_dependences; i++) {
        ok = ok && p->dependences[i].op < p->n_ops && p->dependences[i].first < p->n_ops;
    }
    for (uint32_t i = 0; i < p->n_rights; i++) {
        const arenaut_order_right *right = &p->rights[i];
        ok = ok && right->op < p->n_ops && right->made < p->n_storages &&
             right->over < p->n_storages;
    }
    for (uint32_t s = 0; s < p->n_storages; s++) {
        ok = ok && (p->maker[s] == ARENAUT_NONE || p->maker[s] < p->n_ops);
    }
    for (uint32_t op = 0; op < p->n_ops && p->until; op++) {
        ok = ok && (p->until[op] == ARENAUT_NONE || p->until[op] < p->n_ops);
    }
    for (uint32_t at = 0; at < r->n_runs; at++) ok = ok && r->runs[at] < p->n_ops;
    return ok;
}

/* So that no sum overflows that is not looked at. */
static bool can_be_added(const checker *c) {
    const arenaut_remat_problem *p = c->p;
    uint64_t bytes = c->r->budget, cost = 0;
    bool ok = bytes <= ARENAUT_SIZE_MAX;
    for (uint32_t at = 0; at < c->r->n_runs; at++) {
        const uint32_t op = c->r->runs[at];
        ok = ok && arn_add(cost, p->cost[op], &cost);
        ok = ok && arn_add(bytes, p->scratch ? p->scratch[op] : 0, &bytes);
        for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1]; i++) {
            ok = ok && arn_add(bytes, p->size[c->makes.to[i]], &bytes);
        }
    }
    for (uint32_t s = 0; s < p->n_storages; s++) ok = ok && arn_add(bytes, p->size[s], &bytes);
    return ok;
}

static bool allocate(checker *c) {
    const arenaut_remat_problem *p = c->p;
    const size_t n = p->n_ops, n_storages = p->n_storages;
    const size_t n_dependences = (size_t)p->n_reads + p->n_dependences;
    size_t n_lives = n_storages;
    if (!room_for_rows(c, &c->reads, p->n_ops, p->n_reads) ||
        !room_for_rows(c, &c->makes, p->n_ops, n_storages) ||
        !room_for_rows(c, &c->leads, p->n_ops, n_dependences) ||
        !room_for_rows(c, &c->follows, p->n_ops, n_dependences)) {
        return false;
    }
    c->read_of = arn_region_allocate(&c->region, p->n_reads, sizeof *c->read_of);
    if (!c->read_of) return false;
    fill_rows(c);
    for (uint32_t at = 0; at < c->r->n_runs; at++) {
        const uint32_t op = c->r->runs[at];
        n_lives += c->makes.at[op + 1] - c->makes.at[op];
    }
    return ARN_REGION_ARRAYS(
        &c->region, ARN_ARRAY(c->lives, n_lives), ARN_ARRAY(c->instance, n_storages),
        ARN_ARRAY(c->ran, n), ARN_ARRAY(c->load, (size_t)c->r->n_runs + 1), ARN_ARRAY(c->when, n),
        ARN_ARRAY(c->there, n_storages), ARN_ARRAY(c->into, n_storages), ARN_ARRAY(c->out, n),
        ARN_ARRAY(c->assumed, n_storages), ARN_ARRAY(c->flow, p->n_reads),
        ARN_ARRAY(c->stack, n + 1), ARN_ARRAY(c->begun, n_storages));
}

static arenaut_status prepare(checker *c) {
    if (!are_numbers(c->p, c->r)) {
        return arn_fail(c->err, ARENAUT_BAD_ARGUMENT, 0, "a number is out of range");
    }
    if (!allocate(c)) return arn_no_memory(c->err);
    if (!are_rights(c)) {
        return arn_fail(c->err, ARENAUT_BAD_ARGUMENT, 0,
                        "a right is not of storages that its op uses");
    }
    if (!can_be_added(c)) {
        return arn_fail(c->err, ARENAUT_TOO_LARGE, 0, "sizes or costs cannot be added");
    }
    return ARENAUT_OK;
}

static arenaut_status check_bounds(checker *c) {
    const arenaut_status st = check_bound(c);
    return st == ARENAUT_OK ? check_floor(c) : st;
}

arenaut_status arenaut_check_rematerialization(const arenaut_remat_problem *problem,
                                               const arenaut_rematerialization *r,
                                               const arenaut_allocator *allocator,
                                               arenaut_finding *finding, arenaut_error *err) {
    checker c = {.p = problem, .r = r, .finding = finding, .err = err};
    *finding = arn_check_no_finding();
    arn_region_init(&c.region, allocator);
    arenaut_status st = prepare(&c);
    if (st == ARENAUT_OK) st = check_runs(&c);
    if (st == ARENAUT_OK) st = check_bounds(&c);
    arn_region_free(&c.region);
    return st;
}

arenaut_status arenaut_check_remat_bounds(const arenaut_remat_problem *problem,
                                          const arenaut_rematerialization *r,
                                          const arenaut_allocator *allocator,
                                          arenaut_finding *finding, arenaut_error *err) {
    const arenaut_rematerialization bounds = {.budget = r->budget,
                                              .bound = r->bound,
                                              .floor = r->floor,
                                              .proof = r->proof,
                                              .floor_proof = r->floor_proof};
    checker c = {.p = problem, .r = &bounds, .finding = finding, .err = err};
    *finding = arn_check_no_finding();
    arn_region_init(&c.region, allocator);
    arenaut_status st = prepare(&c);
    if (st == ARENAUT_OK) st = check_bounds(&c);
    arn_region_free(&c.region);
    return st;
}
