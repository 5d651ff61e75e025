/* remat_flows: the flows that prove the bounds of a rematerialized schedule. A flow is added up
 * node by node, and its capacities are worked out anew from the ops that precede and that follow an
 * op; cases of storages that are alive or gone at that op are told apart, and must leave none out.
 */
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/remat_check.h"
#include "core/checked.h"
#include "core/fail.h"

typedef enum moment { ANY, EARLIER, LATER } moment;
typedef enum assumption { NOTHING, ALIVE, GONE } assumption; /* at the op that a proof looks at */

static arenaut_status reject_proof(arn_remat_check *c, const char *why) {
    c->finding->rule = ARENAUT_RULE_PROOF;
    return arn_check_reject(c->finding, c->err, "the bound is not shown: %s", why);
}

static void spread(arn_remat_check *c, const arn_remat_rows *links, uint32_t op, moment when,
                   uint32_t *stack) {
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
static void find_begun(arn_remat_check *c, uint32_t *begun) {
    const arenaut_remat_problem *p = c->p;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        const uint32_t maker = p->maker[s];
        begun[s] = maker != ARENAUT_NONE ? c->when[maker] == EARLIER
                                         : arn_remat_is_held(c, s, ARENAUT_LIVE_IN);
    }
    for (uint32_t i = 0; i < p->n_reads; i++) {
        if (c->when[p->reads[i].op] == EARLIER) begun[p->reads[i].buffer] = true;
    }
}

/* Bytes that are alive in any schedule. */
static uint64_t find_there(arn_remat_check *c, uint32_t op, const uint32_t *begun) {
    const arenaut_remat_problem *p = c->p;
    uint64_t bytes = p->scratch ? p->scratch[op] : 0, right = p->shared ? p->shared[op] : 0;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        c->there[s] = arn_remat_is_held(c, s, ARENAUT_LIVE_OUT) && begun[s];
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
static uint64_t other_bytes(arn_remat_check *c, uint32_t op) {
    uint64_t bytes = c->p->scratch ? c->p->scratch[op] : 0;
    const arn_remat_rows *const both[] = {&c->reads, &c->makes};
    for (int undo = 0; undo < 2; undo++) { /* so that each counts once */
        for (int k = 0; k < 2; k++) {
            for (uint32_t i = both[k]->at[op]; i < both[k]->at[op + 1]; i++) {
                const uint32_t s = both[k]->to[i];
                if (arn_remat_is_held(c, s, ARENAUT_LIVE_OUT)) continue;
                if (!undo && !c->there[s]) bytes += c->p->size[s];
                c->there[s] = !undo;
            }
        }
    }
    return bytes;
}

/* Each storage takes in no more than it costs to be alive, and hands that to its maker. */
static arenaut_status add_flow(arn_remat_check *c, const arenaut_remat_proof *proof,
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
static bool add_live_out(const arn_remat_check *c, const arenaut_remat_proof *proof, uint32_t op,
                         uint64_t *begins) {
    bool ok = c->when[op] == ANY;
    for (uint32_t i = c->makes.at[op]; i < c->makes.at[op + 1] && ok; i++) {
        const uint32_t s = c->makes.to[i];
        uint64_t most;
        if (!arn_remat_is_held(c, s, ARENAUT_LIVE_OUT) || c->there[s] || c->assumed[s] == GONE)
            continue;
        ok = arn_multiply(c->p->size[s], proof->byte_price, &most) &&
             arn_add(*begins, most - c->into[s], begins);
    }
    return ok;
}

/* An op may hand on no more than comes in and, where it runs before, keeps what it costs at most.
 */
static arenaut_status check_op(arn_remat_check *c, const arenaut_remat_proof *proof, uint32_t op,
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
    const uint32_t ends = arn_remat_right_ends(c, op);
    const bool never =
        ends != ARENAUT_NONE && (ends == op || ends == proof->op || c->when[ends] == EARLIER);
    if (c->when[op] == EARLIER && never) return ARENAUT_OK;
    if (!arn_multiply(c->p->cost[op], proof->time_price, &most)) return reject_proof(c, "overflow");
    if (c->when[op] != EARLIER) most = 0;
    if (in - c->out[op] > most) return reject_proof(c, "more than a repetition of the op costs");
    return ARENAUT_OK;
}

/* Gives the flow, and the bytes that are alive in any case. */
static arenaut_status check_flow(arn_remat_check *c, const arenaut_remat_proof *proof,
                                 uint64_t *flow, uint64_t *own) {
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
static arenaut_status check_case(arn_remat_check *c, const arenaut_remat_proof *proof) {
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
static arenaut_status put_flows(arn_remat_check *c, const arenaut_remat_flow *flows, uint32_t n) {
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
static arenaut_status check_cases(arn_remat_check *c) {
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

static arenaut_status check_bound(arn_remat_check *c) {
    if (c->r->bound == 0) return ARENAUT_OK;
    memset(c->assumed, NOTHING, c->p->n_storages * sizeof *c->assumed);
    if (c->r->proof.n_cases > 0) return check_cases(c);
    return check_case(c, &c->r->proof);
}

/* Some op is the last to run first: one that no op has to follow. Then all that is live out is
 * alive, and all that this op uses, whichever it is. */
static arenaut_status check_end(arn_remat_check *c) {
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
        c->there[s] = arn_remat_is_held(c, s, ARENAUT_LIVE_OUT) && begun[s];
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
static arenaut_status check_floor(arn_remat_check *c) {
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

arenaut_status arn_remat_check_bounds(arn_remat_check *c) {
    const arenaut_status st = check_bound(c);
    return st == ARENAUT_OK ? check_floor(c) : st;
}
