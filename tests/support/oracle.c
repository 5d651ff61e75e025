#include "support/oracle.h"

#include <arenaut/check.h>

#include "support/test.h"

static bool both_alive(const arenaut_problem *p, uint32_t a, uint32_t b) {
    for (uint32_t i = p->lifetime_start[a]; i < p->lifetime_start[a + 1]; i++) {
        for (uint32_t k = p->lifetime_start[b]; k < p->lifetime_start[b + 1]; k++) {
            const arenaut_interval x = p->lifetime[i], y = p->lifetime[k];
            if (x.first < y.end && y.first < x.end) return true;
        }
    }
    return false;
}

static bool edge_between(const arenaut_problem *p, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const arenaut_conflict e = p->conflict[i];
        if ((e.a == a && e.b == b) || (e.a == b && e.b == a)) return true;
    }
    return false;
}

static bool lies_in(const arenaut_problem *p, uint32_t slice, uint32_t host) {
    for (uint32_t at = arenaut_problem_inside(p, slice); at != ARENAUT_NONE;
         at = arenaut_problem_inside(p, at)) {
        if (at == host) return true;
    }
    return false;
}

static bool pair_is_right(const arenaut_problem *p, const arenaut_plan *plan, uint32_t a,
                          uint32_t b) {
    const uint64_t oa = plan->offset[a], ob = plan->offset[b];
    if (plan->pool[a] != plan->pool[b]) return true;
    if (oa + p->size[a] <= ob || ob + p->size[b] <= oa) return true;
    if (!both_alive(p, a, b) && !edge_between(p, a, b)) return true;
    if (lies_in(p, a, b) || lies_in(p, b, a)) return true;
    const bool related =
        arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a;
    return related && oa == ob;
}

/* A slice lies at its delta from each host that has a place itself. */
static bool lies_in_its_hosts(const arenaut_problem *p, const arenaut_plan *plan, uint32_t b) {
    uint64_t delta = 0;
    for (uint32_t at = b; arenaut_problem_inside(p, at) != ARENAUT_NONE;) {
        delta += p->inside_delta[at];
        at = arenaut_problem_inside(p, at);
        if (!arenaut_problem_needs_memory(p, at)) continue;
        if (plan->pool[at] != plan->pool[b]) return false;
        if (plan->offset[at] + delta != plan->offset[b]) return false;
    }
    return true;
}

static bool buffer_is_right(const arenaut_problem *p, const arenaut_plan *plan, uint32_t b) {
    const uint32_t pool = plan->pool[b];
    const uint64_t offset = plan->offset[b], size = p->size[b];
    if (pool >= p->n_pools || !(arenaut_problem_pools(p, b) >> pool & 1)) return false;
    if (offset % arenaut_problem_align(p, b) != 0) return false;
    if (offset > ARENAUT_SIZE_MAX || size > ARENAUT_SIZE_MAX - offset) return false;
    if (offset + size > p->pool[pool].capacity) return false;
    const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
    if (fixed != ARENAUT_UNPLACED && fixed != offset) return false;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved r = p->reserved[i];
        if (r.pool == pool && offset < r.end && r.first < offset + size) return false;
    }
    return lies_in_its_hosts(p, plan, b);
}

bool oracle_accepts_buffer(const arenaut_problem *p, const arenaut_plan *plan, uint32_t b) {
    if (!arenaut_problem_needs_memory(p, b)) return true;
    if (!buffer_is_right(p, plan, b)) return false;
    for (uint32_t a = 0; a < b; a++) {
        if (arenaut_problem_needs_memory(p, a) && !pair_is_right(p, plan, a, b)) return false;
    }
    return true;
}

bool oracle_accepts_placement(const arenaut_problem *p, const arenaut_plan *plan) {
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!oracle_accepts_buffer(p, plan, b)) return false;
    }
    return true;
}

static bool alive_at(const arenaut_problem *p, uint32_t b, int64_t step) {
    for (uint32_t i = p->lifetime_start[b]; i < p->lifetime_start[b + 1]; i++) {
        if (p->lifetime[i].first <= step && step < p->lifetime[i].end) return true;
    }
    return false;
}

/* Bytes that `b` certainly adds at `step` to those counted before it. */
static uint64_t certain_load(const arenaut_problem *p, uint32_t b, int64_t step) {
    if (!alive_at(p, b, step) || arenaut_problem_inside(p, b) != ARENAUT_NONE) return 0;
    const uint32_t base = arenaut_problem_same_base(p, b);
    if (base == ARENAUT_NONE || !alive_at(p, base, step)) return p->size[b];
    return p->size[b] > p->size[base] ? p->size[b] - p->size[base] : 0;
}

uint64_t oracle_max_load(const arenaut_problem *p) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->n_lifetimes; i++) {
        /* The load only rises where a lifetime begins. */
        uint64_t load = 0;
        for (uint32_t b = 0; b < p->n_buffers; b++) {
            load += certain_load(p, b, p->lifetime[i].first);
        }
        if (load > most) most = load;
    }
    return most;
}

void assert_plan_accepted(const arenaut_problem *problem, const arenaut_plan *plan) {
    arenaut_finding finding = {0};
    arenaut_error err = {0};
    const arenaut_status status = arenaut_check_plan(problem, plan, NULL, &finding, &err);
    if (status == ARENAUT_REJECTED) {
        fail_msg("%s: %s", arenaut_rule_name(finding.rule), finding.msg);
    }
    assert_ok(status, err);
    assert_int_equal(finding.rule, ARENAUT_RULE_NONE);
}

bool is_no_answer(arenaut_status st) {
    return st == ARENAUT_REFUSED || st == ARENAUT_NOT_FOUND || st == ARENAUT_STOPPED;
}

bool is_answer(arenaut_status st, const arenaut_plan *plan) {
    if (st == ARENAUT_OK) assert_int_not_equal(plan->quality, ARENAUT_INFEASIBLE);
    if (st == ARENAUT_NO_PLAN) assert_int_equal(plan->quality, ARENAUT_INFEASIBLE);
    if (st != ARENAUT_OK && st != ARENAUT_NO_PLAN) assert_null(plan);
    return st == ARENAUT_OK || st == ARENAUT_NO_PLAN;
}

void check_answer(arenaut_status st, const arenaut_plan *plan, const arenaut_error *err) {
    if (!is_answer(st, plan)) fail_msg("%s: %s", arenaut_status_text(st), err->msg);
    if (st == ARENAUT_NO_PLAN) {
        assert_int_equal(err->code, ARENAUT_NO_PLAN);
        assert_int_equal(strncmp(err->msg, "there is no plan: ", 18), 0);
    }
}

arenaut_status certify_and_check(void *context, const arenaut_allocator *allocator) {
    const claimed_plan *x = context;
    arenaut_certificate *certificate = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    arenaut_status st = arenaut_certify(x->problem, x->plan, 0, allocator, &certificate, &err);
    if (st == ARENAUT_OK) {
        st = arenaut_check_certificate(x->problem, certificate, allocator, &finding, &err);
    }
    arenaut_certificate_free(certificate);
    return st;
}
