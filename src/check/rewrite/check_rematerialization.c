/* Check of a rematerialized schedule and of its bounds. Instances and their live ranges are listed
 * run by run. O(runs × arguments), without searching; the bounds are remat_flows.c. */
#include <inttypes.h>
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/remat_check.h"
#include "core/checked.h"
#include "core/fail.h"

/* ---- rows ---- */

static bool room_for_rows(arn_remat_check *c, arn_remat_rows *r, uint32_t n, size_t most) {
    r->at = arn_region_allocate(&c->region, (size_t)n + 2, sizeof *r->at);
    r->to = arn_region_allocate(&c->region, most, sizeof *r->to);
    if (r->at) memset(r->at, 0, ((size_t)n + 2) * sizeof *r->at);
    return r->at && r->to;
}

static void sum_rows(arn_remat_rows *r, uint32_t n) {
    for (uint32_t i = 2; i < n + 2; i++) r->at[i] += r->at[i - 1];
}

static void fill_rows(arn_remat_check *c) {
    const arenaut_remat_problem *p = c->p;
    arn_remat_rows *const all[] = {&c->reads, &c->makes, &c->leads, &c->follows};
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

static arenaut_status reject_run(arn_remat_check *c, uint32_t at, const char *why) {
    c->finding->rule = ARENAUT_RULE_ORDER;
    c->finding->op = c->r->runs[at];
    return arn_check_reject(c->finding, c->err, "run %" PRIu32 ", of op %" PRIu32 ": %s", at,
                            c->r->runs[at], why);
}

static arenaut_status use(arn_remat_check *c, uint32_t storage, uint32_t at) {
    uint32_t *latest = &c->instance[storage];
    if (*latest == ARENAUT_NONE) {
        if (c->p->maker[storage] != ARENAUT_NONE)
            return reject_run(c, at, "it reads a storage that is not made");
        *latest = c->n_lives;
        c->lives[c->n_lives++] =
            (arn_remat_life){storage, arn_remat_is_held(c, storage, ARENAUT_LIVE_IN) ? 0 : at, at};
    }
    c->lives[*latest].last = at;
    return ARENAUT_OK;
}

static arenaut_status follow_run(arn_remat_check *c, uint32_t at) {
    const uint32_t op = c->r->runs[at], ends = arn_remat_right_ends(c, op);
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
        c->lives[c->n_lives++] = (arn_remat_life){c->makes.to[i], at, at};
    }
    return st;
}

/* The first instance of a storage that is live out is alive to the end. */
static void hold_lives(arn_remat_check *c) {
    for (uint32_t s = 0; s < c->p->n_storages; s++) {
        if (!arn_remat_is_held(c, s, ARENAUT_LIVE_OUT)) continue;
        for (uint32_t i = 0; i < c->n_lives; i++) {
            if (c->lives[i].storage != s) continue;
            c->lives[i].last = c->r->n_runs;
            break;
        }
    }
}

static void add_lives(arn_remat_check *c) {
    memset(c->load, 0, ((size_t)c->r->n_runs + 1) * sizeof *c->load);
    for (uint32_t i = 0; i < c->n_lives; i++) {
        c->load[c->lives[i].first] += c->p->size[c->lives[i].storage];
        if (c->lives[i].last == c->r->n_runs) continue;
        c->load[c->lives[i].last + 1] -= c->p->size[c->lives[i].storage];
    }
    for (uint32_t s = 0; s < c->p->n_storages; s++) { /* held, and never used */
        if (c->instance[s] != ARENAUT_NONE || !arn_remat_is_held(c, s, ARENAUT_LIVE_IN)) continue;
        if (arn_remat_is_held(c, s, ARENAUT_LIVE_OUT)) c->load[0] += c->p->size[s];
    }
    for (uint32_t at = 0; at < c->r->n_runs; at++) c->load[at + 1] += c->load[at];
}

static uint64_t find_peak(arn_remat_check *c) {
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

static arenaut_status check_runs(arn_remat_check *c) {
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

/* ---- all of it ---- */

/* Whether ops read the storages that they may write over, and make those that lie there. */
static bool are_rights(const arn_remat_check *c) {
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
static bool can_be_added(const arn_remat_check *c) {
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

static bool allocate(arn_remat_check *c) {
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
    for (uint32_t k = 0; k < 1 + ARENAUT_REMAT_MOST_LATER; k++) {
        arn_remat_moment *m = &c->moments[k];
        if (!ARN_REGION_ARRAYS(&c->region, ARN_ARRAY(m->when, n), ARN_ARRAY(m->assumed, n_storages),
                               ARN_ARRAY(m->begun, n_storages), ARN_ARRAY(m->there, n_storages))) {
            return false;
        }
    }
    return ARN_REGION_ARRAYS(&c->region, ARN_ARRAY(c->lives, n_lives),
                             ARN_ARRAY(c->instance, n_storages), ARN_ARRAY(c->ran, n),
                             ARN_ARRAY(c->load, (size_t)c->r->n_runs + 1),
                             ARN_ARRAY(c->into, n_storages), ARN_ARRAY(c->out, n),
                             ARN_ARRAY(c->flow, p->n_reads), ARN_ARRAY(c->begins, n_storages),
                             ARN_ARRAY(c->handed, n_storages), ARN_ARRAY(c->stack, (size_t)n + 1));
}

static arenaut_status prepare(arn_remat_check *c) {
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

arenaut_status arenaut_check_rematerialization(const arenaut_remat_problem *problem,
                                               const arenaut_rematerialization *r,
                                               const arenaut_allocator *allocator,
                                               arenaut_finding *finding, arenaut_error *err) {
    arn_remat_check c = {.p = problem, .r = r, .finding = finding, .err = err};
    *finding = arn_check_no_finding();
    arn_region_init(&c.region, allocator);
    arenaut_status st = prepare(&c);
    if (st == ARENAUT_OK) st = check_runs(&c);
    if (st == ARENAUT_OK) st = arn_remat_check_bounds(&c);
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
    arn_remat_check c = {.p = problem, .r = &bounds, .finding = finding, .err = err};
    *finding = arn_check_no_finding();
    arn_region_init(&c.region, allocator);
    arenaut_status st = prepare(&c);
    if (st == ARENAUT_OK) st = arn_remat_check_bounds(&c);
    arn_region_free(&c.region);
    return st;
}
