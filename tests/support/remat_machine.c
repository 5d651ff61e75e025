#include "support/remat_machine.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/check.h>

#include "core/budget.h"
#include "rewrite/rematerialize/remat_branch.h"
#include "support/random.h"
#include "support/remat_brute.h"
#include "support/require.h"

enum { OPS = 8, STORAGES = 10, READS = 40, RIGHTS = 8, DEPENDENCES = 16 };

typedef struct machine {
    rng r;
    arenaut_remat_problem p;
    uint64_t cost[OPS], scratch[OPS], shared[OPS], size[STORAGES];
    uint32_t until[OPS], maker[STORAGES];
    uint8_t held[STORAGES];
    bool in_turn[OPS];
    arenaut_order_use reads[READS];
    arenaut_order_dependence dependences[DEPENDENCES];
    arenaut_order_right rights[RIGHTS];
    arenaut_rematerialization *found;
    uint64_t least;   /* added time of any sequence within the budget, whatever plans share */
    uint64_t fastest; /* the same, where they share by rights alone, as sequences that are found */
    char why[200];    /* the checker's last word */
    uint64_t effort;
    FILE *log;
    remat_counts *counts;
} machine;

/* ---- problems ---- */

static bool is_read_by(const machine *m, uint32_t op, uint32_t s) {
    for (uint32_t i = 0; i < m->p.n_reads; i++) {
        if (m->reads[i].op == op && m->reads[i].buffer == s) return true;
    }
    return false;
}

/* Storage 0 is the input; each op makes one more, and now and then another. */
static void draw_storages(machine *m) {
    m->p.n_ops = 3 + rng_below(&m->r, OPS - 2);
    const uint32_t most = REMAT_BRUTE_BITS - m->p.n_ops;
    m->maker[m->p.n_storages++] = ARENAUT_NONE;
    m->held[0] = (uint8_t)rng_below(&m->r, 4);
    for (uint32_t op = 0; op < m->p.n_ops; op++) m->maker[m->p.n_storages++] = op;
    while (m->p.n_storages < most && m->p.n_storages < STORAGES && rng_once_in(&m->r, 2)) {
        m->maker[m->p.n_storages++] =
            rng_once_in(&m->r, 3) ? ARENAUT_NONE : rng_below(&m->r, m->p.n_ops);
    }
    for (uint32_t s = 0; s < m->p.n_storages; s++) {
        m->size[s] = rng_below(&m->r, 9);
        if (s > 0 && m->maker[s] != ARENAUT_NONE && rng_once_in(&m->r, 6)) {
            m->held[s] = ARENAUT_LIVE_OUT;
        }
    }
}

static void draw_reads(machine *m) {
    for (uint32_t op = 0; op < m->p.n_ops; op++) {
        for (uint32_t n = 1 + rng_below(&m->r, 3); n > 0 && m->p.n_reads < READS; n--) {
            const uint32_t s = rng_below(&m->r, m->p.n_storages);
            if (m->maker[s] != ARENAUT_NONE && m->maker[s] >= op) continue;
            m->reads[m->p.n_reads++] = (arenaut_order_use){op, s};
        }
    }
}

static void draw_rest(machine *m) {
    for (uint32_t op = 0; op < m->p.n_ops; op++) {
        m->cost[op] = rng_below(&m->r, 12);
        m->scratch[op] = rng_once_in(&m->r, 4) ? rng_below(&m->r, 6) : 0;
        m->until[op] = rng_once_in(&m->r, 6)   ? op
                       : rng_once_in(&m->r, 6) ? rng_below(&m->r, m->p.n_ops)
                                               : ARENAUT_NONE;
        if (op > 0 && rng_once_in(&m->r, 4)) {
            m->dependences[m->p.n_dependences++] =
                (arenaut_order_dependence){op, rng_below(&m->r, op)};
        }
    }
    for (uint32_t s = 0; s < m->p.n_storages && m->p.n_rights < RIGHTS; s++) {
        const uint32_t op = m->maker[s], over = rng_below(&m->r, m->p.n_storages);
        if (op == ARENAUT_NONE || !is_read_by(m, op, over) || rng_once_in(&m->r, 2)) continue;
        const uint64_t most = m->size[s] < m->size[over] ? m->size[s] : m->size[over];
        m->rights[m->p.n_rights++] = (arenaut_order_right){op, s, over, most};
    }
}

static void begin_problem(machine *m) {
    m->p = (arenaut_remat_problem){.cost = m->cost,
                                   .scratch = m->scratch,
                                   .until = m->until,
                                   .size = m->size,
                                   .maker = m->maker,
                                   .held = m->held,
                                   .reads = m->reads,
                                   .dependences = m->dependences,
                                   .rights = m->rights};
}

static void draw_problem(machine *m) {
    begin_problem(m);
    draw_storages(m);
    draw_reads(m);
    draw_rest(m);
}

/* A training step: forward ops in a row or branching off, and as many back, each of which reads a
 * result of those. Sizes and costs have up to so many bits. */
static void draw_step(machine *m, uint32_t size_bits, uint32_t cost_bits) {
    enum { LAYERS = OPS / 2 };
    begin_problem(m);
    m->p.n_ops = 2 * LAYERS;
    m->maker[m->p.n_storages++] = ARENAUT_NONE;
    m->held[0] = ARENAUT_LIVE_IN | ARENAUT_LIVE_OUT;
    m->size[0] = 1;
    for (uint32_t op = 0; op < m->p.n_ops; op++) {
        const uint64_t size = rng_next(&m->r) >> (64 - size_bits);
        m->cost[op] = rng_next(&m->r) >> (64 - cost_bits);
        m->until[op] = ARENAUT_NONE;
        m->maker[m->p.n_storages] = op;
        m->size[m->p.n_storages++] = 1 + (op < LAYERS ? size : size / 64);
        const uint32_t before = op < LAYERS && rng_once_in(&m->r, 2) ? 0 : op;
        m->reads[m->p.n_reads++] = (arenaut_order_use){op, before};
        if (op > LAYERS) m->reads[m->p.n_reads++] = (arenaut_order_use){op, m->p.n_ops - op};
        if (op >= LAYERS && rng_once_in(&m->r, 2))
            m->reads[m->p.n_reads++] = (arenaut_order_use){op, 1 + rng_below(&m->r, LAYERS)};
    }
}

/* What plans may share is drawn behind all else, so that problems of the same seed without it stay
 * as they are: up to a part of what an op uses, or more than that. */
static void draw_shared(machine *m) {
    for (uint32_t op = 0; op < m->p.n_ops; op++) {
        uint64_t own = 0;
        for (uint32_t s = 0; s < m->p.n_storages; s++) {
            own += m->maker[s] == op || is_read_by(m, op, s) ? m->size[s] : 0;
        }
        m->shared[op] = rng_once_in(&m->r, 3)    ? 0
                        : rng_once_in(&m->r, 12) ? rng_next(&m->r) >> rng_below(&m->r, 64)
                        : rng_once_in(&m->r, 6)  ? own
                                                 : rng_below(&m->r, (uint32_t)own / 2 + 1);
        m->in_turn[op] = rng_once_in(&m->r, 4);
    }
    m->p.shared = m->shared;
    m->p.in_turn = m->in_turn;
}

/* ---- results ---- */

static bool complain(machine *m, const char *what) {
    const arenaut_rematerialization *r = m->found;
    fprintf(m->log,
            "%s: budget %" PRIu64 ", peak %" PRIu64 ", added %" PRIu64 ", bound %" PRIu64
            ", floor %" PRIu64 ", least %" PRIu64 " (%s)\n",
            what, r->budget, r->peak, r->added, r->bound, r->floor, m->least, m->why);
    return false;
}

static arenaut_status check(machine *m) {
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st =
        arenaut_check_rematerialization(&m->p, m->found, NULL, &finding, &err);
    REQUIRE(st == ARENAUT_OK || st == ARENAUT_REJECTED);
    memcpy(m->why, err.msg, sizeof m->why);
    return st;
}

static void find_least(machine *m, uint64_t budget) {
    arenaut_remat_problem by_rights = m->p;
    by_rights.shared = NULL;
    m->least = remat_brute_added(&m->p, budget);
    m->fastest = m->p.shared ? remat_brute_added(&by_rights, budget) : m->least;
}

/* Of the numbers that are told beside one another. */
static bool is_consistent(machine *m, uint64_t asked) {
    const arenaut_rematerialization *r = m->found;
    if (asked == 0 && r->budget != r->peak) return complain(m, "a bound for another peak");
    if (r->floor > r->budget && r->bound > 0) return complain(m, "a time of nothing");
    return true;
}

static bool is_right(machine *m) {
    const arenaut_rematerialization *r = m->found;
    if (check(m) != ARENAUT_OK) return complain(m, "the checker refuses the result");
    m->counts->problems++;
    if (m->least != UINT64_MAX) {
        m->counts->feasible++;
        m->counts->found += r->fits;
        m->counts->best += r->fits && r->added == m->fastest;
        m->counts->tight += r->bound == m->least;
        if (r->bound > m->least) return complain(m, "a bound above the least");
        if (r->floor > r->budget) return complain(m, "a floor above the need of some sequence");
    } else {
        m->counts->impossible++;
        m->counts->in_vain += r->floor > r->budget;
    }
    if (!r->fits) return true;
    if (m->fastest == UINT64_MAX) return complain(m, "a sequence where there is none");
    return r->added >= m->fastest || complain(m, "faster than the fastest");
}

/* ---- forgery ---- */

static void change_flow(machine *m, arenaut_remat_proof *proof) {
    const uint32_t at = rng_below(&m->r, m->p.n_reads);
    switch (rng_below(&m->r, 6)) {
        case 0: proof->flow[at] += 1 + rng_below(&m->r, 1 << rng_below(&m->r, 24)); break;
        case 1: proof->flow[at] = proof->flow[rng_below(&m->r, m->p.n_reads)]; break;
        case 2: proof->flow[at] = rng_next(&m->r) >> rng_below(&m->r, 64); break;
        case 3: proof->op = rng_below(&m->r, m->p.n_ops + 1); break;
        case 4: proof->byte_price = rng_next(&m->r) >> rng_below(&m->r, 64); break;
        default: proof->time_price = rng_next(&m->r) >> rng_below(&m->r, 64); break;
    }
}

static void change_case(machine *m, arenaut_remat_proof *proof) {
    arenaut_remat_case *line = &proof->cases[rng_below(&m->r, proof->n_cases)];
    arenaut_remat_flow *flow =
        proof->n_flows > 0 ? &proof->flows[rng_below(&m->r, proof->n_flows)] : NULL;
    const uint32_t n_later =
        proof->n_later < ARENAUT_REMAT_MOST_LATER ? proof->n_later : ARENAUT_REMAT_MOST_LATER;
    switch (rng_below(&m->r, 11)) {
        case 0: line->storage = rng_below(&m->r, m->p.n_storages + 1); break;
        case 1: line->storage = ARENAUT_NONE; break;
        case 2: line->byte_price = rng_next(&m->r) >> rng_below(&m->r, 64); break;
        case 3: line->time_price = rng_next(&m->r) >> rng_below(&m->r, 64); break;
        case 4: line->n_flows = rng_below(&m->r, proof->n_flows + 1); break;
        case 5: proof->n_cases -= proof->n_cases > 1; break;
        case 6: line->moment = rng_below(&m->r, 1 + ARENAUT_REMAT_MOST_LATER); break;
        case 7: line->unit = rng_next(&m->r) >> rng_below(&m->r, 64); break;
        case 8:
            if (n_later > 0) proof->later[rng_below(&m->r, n_later)] = rng_below(&m->r, m->p.n_ops);
            break;
        case 9: proof->n_later = rng_below(&m->r, 2 + ARENAUT_REMAT_MOST_LATER); break;
        default:
            if (flow) flow->flow += rng_next(&m->r) >> rng_below(&m->r, 64);
            break;
    }
}

/* Claims of more than is true, each with the proof that there is, changed a little. */
static bool try_mutants(machine *m, bool of_floor) {
    arenaut_rematerialization *r = m->found;
    arenaut_remat_proof *proof = of_floor ? &r->floor_proof : &r->proof;
    uint64_t *claim = of_floor ? &r->floor : &r->bound, said = *claim;
    uint64_t flow[READS];
    const arenaut_remat_proof kept = *proof;
    const uint64_t most = of_floor ? r->budget : m->least;
    enum { MOST_LINES = 6 * STORAGES, MOST_FLOWS = 12 * READS };
    arenaut_remat_case cases[MOST_LINES];
    arenaut_remat_flow flows[MOST_FLOWS];
    const bool has_cases =
        !of_floor && kept.n_cases > 0 && kept.n_cases <= MOST_LINES && kept.n_flows <= MOST_FLOWS;
    if (has_cases) memcpy(cases, kept.cases, kept.n_cases * sizeof *cases);
    if (has_cases && kept.n_flows > 0) memcpy(flows, kept.flows, kept.n_flows * sizeof *flows);
    if (m->least == UINT64_MAX || m->p.n_reads == 0) return true;
    memcpy(flow, proof->flow, m->p.n_reads * sizeof *flow);
    for (uint32_t i = 0; i < 40; i++) {
        *claim = most + 1 + rng_below(&m->r, 3);
        for (uint32_t k = rng_below(&m->r, 5); k > 0; k--) {
            if (has_cases && rng_once_in(&m->r, 2)) change_case(m, proof);
            else change_flow(m, proof);
        }
        m->counts->mutants++;
        if (check(m) == ARENAUT_OK) return complain(m, "a forgery");
        m->counts->refused++;
        *proof = kept;
        memcpy(proof->flow, flow, m->p.n_reads * sizeof *flow);
        if (has_cases) memcpy(kept.cases, cases, kept.n_cases * sizeof *cases);
        if (has_cases && kept.n_flows > 0) memcpy(kept.flows, flows, kept.n_flows * sizeof *flows);
    }
    m->counts->cases += has_cases;
    *claim = said;
    return true;
}

/* The peak where each op runs once, and the bytes below which nothing fits, by a proof. */
static uint64_t find_peak(machine *m, uint64_t *floor) {
    arenaut_rematerialization *r = NULL;
    const arenaut_remat_options options = {.budget = ARENAUT_SIZE_MAX / 4, .effort = m->effort};
    REQUIRE(arenaut_remat_find(&m->p, &options, NULL, &r, NULL) == ARENAUT_OK);
    const uint64_t peak = r->peak;
    *floor = r->floor;
    arenaut_rematerialization_free(r);
    return peak;
}

static uint64_t draw_budget(machine *m) {
    uint64_t floor;
    const uint64_t peak = find_peak(m, &floor);
    return 1 + peak - peak * rng_below(&m->r, 60) / 100;
}

static bool try_within(machine *m, uint64_t budget) {
    const arenaut_remat_options options = {.budget = budget, .effort = m->effort};
    arenaut_error err = {0};
    REQUIRE(arenaut_remat_find(&m->p, &options, NULL, &m->found, &err) == ARENAUT_OK);
    find_least(m, m->found->budget);
    const bool right =
        is_consistent(m, budget) && is_right(m) && try_mutants(m, false) && try_mutants(m, true);
    arenaut_rematerialization_free(m->found);
    return right;
}

bool remat_machine_try(uint64_t seed, FILE *log, remat_counts *counts) {
    machine m = {.r = {seed}, .log = log, .counts = counts};
    draw_problem(&m);
    const bool right = try_within(&m, draw_budget(&m));
    if (!right) fprintf(log, "rematerialization, seed %" PRIu64 "\n", seed);
    return right;
}

bool remat_machine_try_step(uint64_t seed, FILE *log, remat_counts *counts) {
    machine m = {.r = {seed}, .log = log, .counts = counts};
    draw_step(&m, 4 + (uint32_t)(seed % 34), 1 + (uint32_t)(seed / 34 % 40));
    uint64_t sum = 2; /* of some of the sizes, or just not */
    for (uint32_t s = 0; s < m.p.n_storages; s++) sum += rng_once_in(&m.r, 2) ? m.size[s] : 0;
    const bool right = try_within(&m, sum - rng_below(&m.r, 3) + 1);
    if (!right) fprintf(log, "rematerialization of a step, seed %" PRIu64 "\n", seed);
    return right;
}

static arenaut_rematerialization *find_within(machine *m, uint64_t budget) {
    const arenaut_remat_options options = {.budget = budget};
    arenaut_rematerialization *r = NULL;
    REQUIRE(arenaut_remat_find(&m->p, &options, NULL, &r, NULL) == ARENAUT_OK);
    m->found = r;
    return check(m) == ARENAUT_OK ? r : NULL;
}

bool remat_machine_try_budgets(uint64_t seed, FILE *log, uint64_t *n_missed) {
    machine m = {.r = {seed}, .log = log};
    draw_problem(&m);
    arenaut_rematerialization *whole = find_within(&m, ARENAUT_SIZE_MAX / 4);
    arenaut_rematerialization *without = find_within(&m, 0);
    REQUIRE(whole && without);
    uint64_t least = UINT64_MAX, lowest = without->peak;
    bool right = true;
    for (uint64_t budget = 1; budget <= whole->peak + 1 && right; budget++) {
        arenaut_rematerialization *r = find_within(&m, budget);
        REQUIRE(r);
        const uint64_t added = r->fits ? r->added : UINT64_MAX;
        if (added > least) right = complain(&m, "a larger budget costs more");
        if (added < least) least = added;
        if (r->peak < lowest) lowest = r->peak;
        arenaut_rematerialization_free(r);
    }
    *n_missed += lowest < without->peak;
    arenaut_rematerialization_free(whole);
    arenaut_rematerialization_free(without);
    if (!right) fprintf(log, "rematerialization, budgets of seed %" PRIu64 "\n", seed);
    return right;
}

/* ---- chains ---- */

typedef struct chained {
    arn_region region;
    arn_budget budget;
    arn_remat_graph graph;
    arn_remat_chain chain;
    arn_remat_branch branch;
} chained;

static void make_chain(machine *m, chained *x) {
    arn_region_init(&x->region, NULL);
    x->budget = arn_budget_make(0, NULL, NULL);
    REQUIRE(arn_remat_graph_make(&m->p, &x->region, &x->graph, NULL) == ARENAUT_OK);
    REQUIRE(arn_remat_chain_make(&x->graph, NULL, &x->region, &x->budget, &x->chain));
    REQUIRE(arn_remat_branch_make(&x->chain, &x->region, &x->branch));
}

/* An op that makes a result for the caller, like the gradient of a weight: of a layer's result, and
 * whenever. */
static void draw_gradient(machine *m, uint32_t layers) {
    const uint32_t op = m->p.n_ops++;
    m->reads[m->p.n_reads++] = (arenaut_order_use){op, 1 + rng_below(&m->r, layers)};
    m->held[m->p.n_storages] = ARENAUT_LIVE_OUT;
    m->maker[m->p.n_storages] = op;
    m->size[m->p.n_storages++] = 1 + rng_below(&m->r, 4);
}

/* A training step with storages of few sizes, and with all that a problem may have besides: within
 * few bytes, several moments say more than one. */
static void draw_tight(machine *m) {
    begin_problem(m);
    const uint32_t n_gradients = 2 * rng_below(&m->r, 2), layers = (OPS - n_gradients) / 2,
                   sizes = 1 + rng_below(&m->r, 4);
    m->p.n_ops = 2 * layers;
    m->maker[m->p.n_storages++] = ARENAUT_NONE;
    m->held[0] = (uint8_t)rng_below(&m->r, 4);
    m->size[0] = rng_below(&m->r, 3);
    for (uint32_t op = 0; op < m->p.n_ops; op++) {
        m->maker[m->p.n_storages] = op;
        m->size[m->p.n_storages++] = op < layers ? 2 + rng_below(&m->r, sizes) : 1;
        m->reads[m->p.n_reads++] = (arenaut_order_use){op, rng_once_in(&m->r, 6) ? 0 : op};
        if (op < layers) continue;
        m->reads[m->p.n_reads++] = (arenaut_order_use){op, m->p.n_ops - op};
        if (rng_once_in(&m->r, 3))
            m->reads[m->p.n_reads++] = (arenaut_order_use){op, 1 + rng_below(&m->r, op)};
    }
    for (uint32_t i = 0; i < n_gradients; i++) draw_gradient(m, layers);
    if (rng_once_in(&m->r, 2)) draw_rest(m);
    for (uint32_t op = 0; op < m->p.n_ops; op++) {
        m->cost[op] = 1 + rng_below(&m->r, 6);
        if (!rng_once_in(&m->r, 4)) m->until[op] = ARENAUT_NONE;
    }
    if (rng_once_in(&m->r, 3)) m->held[1 + rng_below(&m->r, m->p.n_ops)] = ARENAUT_LIVE_OUT;
}

/* The floor, or few bytes more. */
static uint64_t draw_low_budget(machine *m) {
    uint64_t floor;
    find_peak(m, &floor);
    return floor + rng_once_in(&m->r, 4) + (floor == 0);
}

/* Ops each of which precedes the next, as many as a random choice finds. */
static uint32_t draw_ops(machine *m, chained *x, uint32_t *ops) {
    uint32_t n = 0;
    for (uint32_t op = 0; op < m->p.n_ops && n < ARN_REMAT_MOST_MOMENTS; op++) {
        if (rng_once_in(&m->r, 2)) continue;
        arn_remat_cut_at(&x->chain.cut[0], op);
        if (n > 0 && x->chain.cut[0].when[ops[n - 1]] != ARN_REMAT_BEFORE) continue;
        ops[n++] = op;
    }
    return n;
}

static void draw_prices(machine *m, arn_remat_chain *c) {
    for (uint32_t k = 0; k < c->n; k++) {
        c->best.byte[k] = rng_once_in(&m->r, 4) ? 0 : rng_below(&m->r, 1 << 22);
        c->best.unit[k] = 1 + rng_below(&m->r, 9);
    }
    for (uint32_t i = 0; i < c->n_links; i++) c->best.hand[i] = rng_below(&m->r, 1 << 23);
}

/* Takes the proof of a chain for the result's own. */
static void put_proof(machine *m, chained *x) {
    arenaut_rematerialization *r = m->found;
    arn_release(&r->allocator, r->proof.cases);
    arn_release(&r->allocator, r->proof.flows);
    r->proof = (arenaut_remat_proof){.flow = r->proof.flow};
    memset(r->proof.flow, 0, m->p.n_reads * sizeof *r->proof.flow);
    r->bound = x->branch.value;
    REQUIRE(arn_remat_branch_prove(&x->branch, r->bound, &r->allocator, &r->proof));
}

static bool is_chain_right(machine *m, chained *x) {
    uint32_t ops[ARN_REMAT_MOST_MOMENTS];
    const uint32_t n = draw_ops(m, x, ops);
    x->chain.budget = m->found->budget;
    if (n == 0) return true;
    arn_remat_chain_at(&x->chain, ops, n);
    if (!arn_remat_chain_link(&x->chain)) return true;
    draw_prices(m, &x->chain);
    const uint64_t target = m->least < 40 ? m->least + 1 : 40;
    REQUIRE(arn_remat_branch_find(&x->branch, target, 1 + rng_below(&m->r, 12), UINT64_MAX));
    if (x->branch.value == 0 || x->branch.value == UINT64_MAX) return true;
    put_proof(m, x);
    m->counts->chains += n > 1;
    m->counts->problems++;
    m->counts->tight += x->branch.value == m->least;
    if (check(m) != ARENAUT_OK) return complain(m, "the checker refuses the proof of a chain");
    if (m->least != UINT64_MAX && m->found->bound > m->least)
        return complain(m, "a chain's bound above the least");
    return try_mutants(m, false);
}

static bool try_chain(machine *m) {
    const uint64_t budget = draw_low_budget(m);
    const arenaut_remat_options options = {.budget = budget, .effort = m->effort};
    chained x;
    REQUIRE(arenaut_remat_find(&m->p, &options, NULL, &m->found, NULL) == ARENAUT_OK);
    find_least(m, budget);
    make_chain(m, &x);
    const bool right = is_chain_right(m, &x);
    arn_remat_chain_free(&x.chain);
    arn_region_free(&x.region);
    arenaut_rematerialization_free(m->found);
    return right;
}

bool remat_machine_try_chain(uint64_t seed, FILE *log, remat_counts *counts) {
    machine m = {.r = {seed}, .log = log, .counts = counts};
    draw_tight(&m);
    const bool right = try_chain(&m);
    if (!right) fprintf(log, "rematerialization of a chain, seed %" PRIu64 "\n", seed);
    return right;
}

bool remat_machine_try_shared(uint64_t seed, FILE *log, remat_counts *counts) {
    machine m = {.r = {seed}, .log = log, .counts = counts};
    m.effort = rng_once_in(&m.r, 32) ? 0 : 1 << 12; /* the search goes on until bounds are met */
    if (seed % 2) draw_problem(&m);
    else draw_tight(&m);
    draw_shared(&m);
    const uint64_t few = draw_low_budget(&m), some = draw_budget(&m);
    const bool right = try_within(&m, seed % 16 == 0 ? 0
                                      : seed % 4 < 2 ? few
                                                     : some) &&
                       (seed % 2 || try_chain(&m));
    if (!right) fprintf(log, "rematerialization with shared bytes, seed %" PRIu64 "\n", seed);
    return right;
}
