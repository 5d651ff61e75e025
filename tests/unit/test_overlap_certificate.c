/* Certificates where buffers may overlap: every proven answer has one that the checker accepts;
 * none that was tampered with, and none about another problem, proves a false statement. */
#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/planner.h>

#include "support/fuse.h"
#include "support/oracle.h"
#include "support/problems.h"
#include "support/test.h"

#include "check/certificate/proof_sides.h"
#include "ir/certificate.h"

static arenaut_status check(const arenaut_problem *p, const arenaut_certificate *certificate) {
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_check_certificate(p, certificate, NULL, &finding, &err);
    if (st == ARENAUT_REJECTED) assert_int_equal(finding.rule, ARENAUT_RULE_PROOF);
    else if (st != ARENAUT_OK) fail_msg("%s", err.msg);
    return st;
}

/* A problem, its plan, which the checker has passed, and the proof of its bound. */
typedef struct proven {
    arenaut_problem *problem;
    arenaut_plan *plan;
    arenaut_certificate *certificate;
} proven;

static proven prove(arenaut_problem *p) {
    proven x = {.problem = p};
    arenaut_error err = {0};
    assert_answered(arenaut_plan_make(p, NULL, NULL, &x.plan, &err), x.plan, &err);
    assert_plan_accepted(p, x.plan);
    assert_true(x.plan->quality != ARENAUT_FEASIBLE);
    assert_ok(arenaut_certify(p, x.plan, 0, NULL, &x.certificate, &err), err);
    if (check(p, x.certificate) != ARENAUT_OK) fail_msg("the checker rejects a certificate");
    return x;
}

static void drop(proven *x) {
    arenaut_certificate_free(x->certificate);
    arenaut_plan_free(x->plan);
    arenaut_problem_free(x->problem);
}

static uint32_t count_rule(const arenaut_certificate *c, arenaut_proof_rule rule) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_lines; i++) n += c->line[i].rule == (uint32_t)rule;
    return n;
}

/* ---- proofs of each kind ---- */

TEST(one_step_is_proof_if_what_it_does_without_is_named) {
    /* A sum may lie over both its operands, which lie apart. */
    static const box boxes[] = {{64, 0, 2}, {64, 1, 2}, {64, 1, 3}};
    arenaut_problem *p = problem_of(boxes, 3);
    separate(p, 0, 2, 0);
    separate(p, 1, 2, 0);
    finish(p);
    proven x = prove(p);
    assert_int_equal(x.certificate->bound, 128);
    assert_int_equal(x.certificate->n_lines, 2);
    assert_int_equal(x.certificate->line[0].rule, ARENAUT_PROOF_WITHOUT);
    assert_int_equal(x.certificate->line[0].item, 2);
    assert_int_equal(x.certificate->line[1].rule, ARENAUT_PROOF_LOAD);
    x.certificate->line[0].item = 1; /* those left share all that they have */
    assert_int_equal(check(p, x.certificate), ARENAUT_REJECTED);
    x.certificate->line[0] = x.certificate->line[1]; /* all three may lie over one another */
    x.certificate->n_lines = 1;
    assert_int_equal(check(p, x.certificate), ARENAUT_REJECTED);
    drop(&x);
}

/* Each the operand of the next. A buffer that has sunk to the start has to jump up. */
static arenaut_problem *new_chain(uint32_t n, int64_t distance) {
    arenaut_problem *p = new_problem();
    for (uint32_t b = 0; b < n; b++) add_box(p, 64, b, b + 2);
    for (uint32_t b = 0; b + 1 < n; b++) separate(p, b, b + 1, distance);
    finish(p);
    return p;
}

/* Nothing has to be assumed: whatever the ranges of offsets leave below 128 is nothing. */
TEST(a_chain_is_proven_by_ranges_alone) {
    proven x = prove(new_chain(4, 40));
    assert_int_equal(x.certificate->bound, 128);
    assert_int_equal(x.certificate->n_lines, 1);
    assert_int_equal(x.certificate->line[0].rule, ARENAUT_PROOF_DEAD);
    drop(&x);
}

TEST(that_there_is_no_plan_is_proven) {
    arenaut_problem *p = new_problem();
    add_pool(p, "small", 40, 1);
    add_pool(p, "tight", 127, 1);
    for (uint32_t b = 0; b < 4; b++) {
        ADD_BUFFER(p, .size = 64, LIFE(b, b + 2), .pools = 2);
    }
    for (uint32_t b = 0; b < 3; b++) separate(p, b, b + 1, 40);
    finish(p);
    proven x = prove(p);
    assert_int_equal(x.plan->quality, ARENAUT_INFEASIBLE);
    assert_true(x.certificate->bound == ARENAUT_UNPLACED);
    drop(&x);
    /* Neither pool has room for the one that may choose. */
    p = new_problem();
    add_pool(p, "small", 40, 1);
    add_pool(p, "tight", 127, 1);
    ADD_BUFFER(p, .size = 200, LIFE(0, 2));
    ADD_BUFFER(p, .size = 64, LIFE(1, 3));
    separate(p, 0, 1, 10);
    finish(p);
    x = prove(p);
    assert_int_equal(count_rule(x.certificate, ARENAUT_PROOF_POOL), 1);
    drop(&x);
}

/* ---- random problems ---- */

static bool in_use_together(const arenaut_problem *p, uint32_t a, uint32_t b) {
    const arenaut_interval *la = arenaut_problem_lifetimes(p, a);
    const arenaut_interval *lb = arenaut_problem_lifetimes(p, b);
    for (uint32_t i = 0; i < arenaut_problem_lifetime_count(p, a); i++) {
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(p, b); k++) {
            if (la[i].first < lb[k].end && lb[k].first < la[i].end) return true;
        }
    }
    return false;
}

/* Each two in use together are separated once in so many times, one way round. */
static arenaut_problem *separated_problem(rng *r, const problem_shape *shape, uint32_t once_in) {
    arenaut_problem *p = random_problem(r, shape);
    for (uint32_t a = 0; a < p->n_buffers; a++) {
        for (uint32_t b = 0; b < a; b++) {
            if (!in_use_together(p, a, b) || !rng_once_in(r, once_in)) continue;
            const bool turned = rng_once_in(r, 2);
            const uint32_t upper = turned ? b : a, lower = turned ? a : b;
            const int64_t lowest = -(int64_t)p->size[upper];
            const uint32_t range = (uint32_t)(p->size[upper] + p->size[lower]) + 1;
            separate(p, upper, lower, lowest + (int64_t)rng_below(r, range));
        }
    }
    finish(p);
    return p;
}

#define EVERY (ARENAUT_FEATURE_ALL & ~ARENAUT_FEATURE_POOLS)

TEST(every_optimum_has_a_certificate) {
    const problem_shape shapes[] = {
        {9, 9, 8, 0},
        {8, 9, 7, ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_ALIGNMENT},
        {8, 7, 8, ARENAUT_FEATURE_INSIDE | ARENAUT_FEATURE_FIXED_OFFSETS},
        {8, 9, 8, ARENAUT_FEATURE_RESERVED},
        {7, 7, 8, EVERY}};
    uint32_t above = 0, level = 0, high = 0, left_out = 0, infeasible = 0;
    rng r = {4711};
    for (uint32_t k = 0; k < 8000; k++) {
        proven x = prove(separated_problem(&r, &shapes[k % COUNT_OF(shapes)], 2));
        above += count_rule(x.certificate, ARENAUT_PROOF_ABOVE) > 0;
        level += count_rule(x.certificate, ARENAUT_PROOF_LEVEL) > 0;
        high += count_rule(x.certificate, ARENAUT_PROOF_HIGH) > 0;
        left_out += count_rule(x.certificate, ARENAUT_PROOF_WITHOUT) > 0;
        infeasible += x.certificate->bound == ARENAUT_UNPLACED;
        drop(&x);
    }
    assert_true(above > 100 && level > 2 && high > 2 && left_out > 500 && infeasible > 100);
}

/* The first drawn that needs some branches. */
static proven branching(void) {
    const problem_shape shape = {9, 9, 8, 0};
    for (uint64_t seed = 0;; seed++) {
        rng r = {seed};
        proven x = prove(separated_problem(&r, &shape, 2));
        if (x.certificate->n_branches >= 3) return x;
        drop(&x);
    }
}

/* ---- certificates that were tampered with ---- */

/* The line after the proof that begins at `at`, of one pool. */
static uint32_t end_of_proof(const arenaut_certificate *c, uint32_t at) {
    const uint32_t rule = c->line[at++].rule;
    if (rule == ARENAUT_PROOF_WITHOUT) return end_of_proof(c, at);
    if (rule == ARENAUT_PROOF_DEAD || rule == ARENAUT_PROOF_LOAD) return at;
    return end_of_proof(c, end_of_proof(c, at));
}

/* `lines` gets those of `c` but for [first, end), for which there is one that says DEAD, if asked.
 */
static arenaut_certificate without(const arenaut_certificate *c, uint32_t first, uint32_t end,
                                   bool dead, arenaut_proof_line *lines) {
    arenaut_certificate copy = *c;
    copy.line = lines;
    copy.n_lines = 0;
    for (uint32_t i = 0; i < c->n_lines; i++) {
        if (i < first || i >= end) lines[copy.n_lines++] = c->line[i];
        if (i == first && dead) {
            lines[copy.n_lines++] = (arenaut_proof_line){ARENAUT_PROOF_DEAD, 0, 0};
        }
    }
    return copy;
}

/* Nothing of a search can be left out, as it splits no range without need: no line, no side, and no
 * lines between a split and its end. Of a step alone buffers may be named for nothing. */
static void assert_all_is_needed(const proven *x) {
    const arenaut_certificate *c = x->certificate;
    arenaut_proof_line *lines = test_malloc(((size_t)c->n_lines + 1) * sizeof *lines);
    for (uint32_t i = 0; i < c->n_lines; i++) {
        const uint32_t end = end_of_proof(c, i);
        if (c->line[i].rule == ARENAUT_PROOF_WITHOUT) continue;
        arenaut_certificate less = without(c, i, i + 1, false, lines);
        assert_int_equal(check(x->problem, &less), ARENAUT_REJECTED);
        less = without(c, i, end, false, lines);
        assert_int_equal(check(x->problem, &less), ARENAUT_REJECTED);
        if (end == i + 1) continue;
        less = without(c, i, end, true, lines);
        assert_int_equal(check(x->problem, &less), ARENAUT_REJECTED);
    }
    test_free(lines);
}

/* Whatever is done to the lines. */
static void assert_no_higher_bound(proven *x, rng *r) {
    const uint32_t n = x->problem->n_buffers;
    arenaut_certificate *c = x->certificate;
    c->bound++;
    assert_int_equal(check(x->problem, c), ARENAUT_REJECTED);
    for (uint32_t i = 0; i < 40; i++) {
        arenaut_proof_line *line = &c->line[rng_below(r, c->n_lines)];
        const arenaut_proof_line before = *line;
        const uint32_t what = rng_below(r, 4);
        if (what == 0) line->rule = rng_below(r, ARENAUT_PROOF_COUNT + 1);
        else if (what == 1) line->item = rng_below(r, n + 1);
        else if (what == 2) line->value = rng_below(r, 12);
        else
            line->value =
                (uint64_t)x->problem->lifetime[rng_below(r, x->problem->n_lifetimes)].first;
        assert_int_equal(check(x->problem, c), ARENAUT_REJECTED);
        if (i % 4) *line = before;
    }
}

TEST(forged_certificates_prove_nothing_false) {
    const problem_shape shapes[] = {{8, 9, 8, 0}, {7, 7, 8, EVERY}};
    uint32_t tried = 0, branches = 0;
    rng r = {815};
    for (uint32_t k = 0; k < 3000; k++) {
        proven x = prove(separated_problem(&r, &shapes[k % 2], 2));
        if (x.plan->quality == ARENAUT_OPTIMAL && x.plan->total > 0) {
            if (x.problem->n_separations) assert_all_is_needed(&x);
            branches += x.certificate->n_branches > 0;
            assert_no_higher_bound(&x, &r);
            tried++;
        }
        drop(&x);
    }
    assert_true(tried > 2000 && branches > 40);
}

/* A problem that differs from `p` in one number, by which more may become possible. */
typedef struct edit {
    uint32_t what, which;
} edit;

enum { SMALLER, CLOSER, MISALIGNED, SHORTER, CLOSED_EARLY, EDITS };

static bool apply(arenaut_problem *p, edit e) {
    arenaut_interval *life = &p->lifetime[e.which % (p->n_lifetimes ? p->n_lifetimes : 1)];
    switch (e.what) {
        case SMALLER:
            if (p->size[e.which % p->n_buffers] < 2) return false;
            return --p->size[e.which % p->n_buffers];
        case CLOSER:
            if (!p->n_separations) return false;
            p->separation[e.which % p->n_separations].distance--;
            return true;
        case MISALIGNED:
            if (!p->align || p->align[e.which % p->n_buffers] < 2) return false;
            return p->align[e.which % p->n_buffers] /= 2;
        case SHORTER:
            if (!p->n_lifetimes || life->first + 1 >= life->end) return false;
            life->end--;
            return true;
        default:
            if (!p->n_lifetimes || life->first + 1 >= life->end) return false;
            life->first++;
            return true;
    }
}

/* Even where it says that it is about the other problem. */
TEST(a_certificate_of_another_problem_proves_nothing_false) {
    const problem_shape shapes[] = {{8, 9, 8, 0}, {7, 9, 8, ARENAUT_FEATURE_ALIGNMENT}};
    uint32_t better[EDITS] = {0};
    for (uint64_t seed = 0; seed < 800; seed++) {
        for (uint32_t k = 0; k < 10; k++) {
            const edit e = {k % EDITS, k / EDITS + (uint32_t)seed};
            const problem_shape *shape = &shapes[seed % 2];
            rng one = {seed}, two = {seed};
            proven x = prove(separated_problem(&one, shape, 2));
            arenaut_problem *other = separated_problem(&two, shape, 2);
            arenaut_error err = {0};
            const bool valid = x.plan->quality == ARENAUT_OPTIMAL && apply(other, e) &&
                               arenaut_problem_validate(other, &err) == ARENAUT_OK;
            if (valid) {
                assert_int_equal(check(other, x.certificate), ARENAUT_REJECTED);
                proven y = prove(other);
                x.certificate->problem = y.certificate->problem;
                if (y.plan->total < x.plan->total) {
                    assert_int_equal(check(other, x.certificate), ARENAUT_REJECTED);
                    better[e.what]++;
                }
                drop(&y);
            } else {
                arenaut_problem_free(other);
            }
            drop(&x);
        }
    }
    for (uint32_t k = 0; k < EDITS; k++) assert_true(better[k] > 20);
}

/* ---- the rules themselves ---- */

static bool splits(const arn_proof_sides *s, rng *r, arn_proof_split *split) {
    const uint32_t n = s->c->problem->n_buffers;
    const uint32_t a = rng_below(r, n), b = rng_below(r, n), what = rng_below(r, 4);
    if (what == 0) return arn_proof_split_offset(s, a, rng_below(r, 20), split);
    return arn_proof_split_pair(s, a, b, what == 1, split);
}

/* Tries to prove it impossible by splits that are drawn blindly. */
static bool proves_blindly(arn_proof_sides *s, rng *r, uint32_t *left) {
    arn_proof_split split;
    if (s->dead) return true;
    if (*left == 0) return false;
    --*left;
    if (!splits(s, r, &split)) return proves_blindly(s, r, left);
    const uint32_t n_trail = s->n_trail;
    bool shown = true;
    for (uint32_t side = 0; side < 2 && shown; side++) {
        assert_true(arn_proof_take_side(s, &split, side == 0));
        shown = proves_blindly(s, r, left);
        arn_proof_sides_undo(s, n_trail, false);
    }
    return shown;
}

static bool is_shown(const arenaut_problem *p, uint64_t limit, rng *r, uint32_t nodes) {
    arenaut_finding finding;
    arenaut_error err = {0};
    const arn_plan_check whole = {p, NULL, NULL, &finding, &err};
    arn_check_slices slices;
    arn_proof_case c;
    arn_proof_sides s;
    assert_ok(arn_check_slices_make(&whole, &slices), err);
    assert_ok(arn_proof_case_init(&c, &whole, &slices, ARENAUT_UNPLACED), err);
    assert_ok(arn_proof_case_open(&c, 0, false), err);
    assert_ok(arn_proof_sides_init(&s, &c, limit), err);
    const bool shown = proves_blindly(&s, r, &nodes);
    arn_proof_sides_free(&s);
    arn_proof_case_free(&c);
    arn_region_free(&slices.region);
    return shown;
}

/* A limit that some packing keeps is never proven impossible, and another mostly is. */
TEST(the_rules_prove_what_is_true_and_nothing_else) {
    const problem_shape shapes[] = {{5, 6, 7, EVERY}, {5, 6, 7, 0}};
    uint32_t tried = 0, shown = 0;
    rng r = {27};
    for (uint32_t k = 0; k < 1500; k++) {
        proven x = prove(separated_problem(&r, &shapes[k % 2], 3));
        if (x.plan->quality == ARENAUT_OPTIMAL) {
            assert_false(is_shown(x.problem, x.plan->total, &r, 300));
        }
        if (x.plan->quality == ARENAUT_OPTIMAL && x.plan->total > 0) {
            tried++;
            shown += is_shown(x.problem, x.plan->total - x.problem->pool[0].align, &r, 3000);
        }
        drop(&x);
    }
    assert_true(shown * 10 > tried * 8);
}

TEST(lines_of_the_two_kinds_do_not_mix) {
    proven x = prove(new_chain(4, 40));
    static const uint32_t others[] = {ARENAUT_PROOF_OVER, ARENAUT_PROOF_EDGE,  ARENAUT_PROOF_SAME,
                                      ARENAUT_PROOF_FROM, ARENAUT_PROOF_UNTIL, ARENAUT_PROOF_BRANCH,
                                      ARENAUT_PROOF_KEPT};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        arenaut_proof_line line[] = {{others[i], 0, 0}, {ARENAUT_PROOF_REJECT, 0, 0}};
        arenaut_certificate c = *x.certificate;
        c.line = line;
        c.n_lines = 2;
        assert_int_equal(check(x.problem, &c), ARENAUT_REJECTED);
    }
    drop(&x);
}

/* ---- out of the ordinary ---- */

TEST(any_allocation_may_fail) {
    static const box boxes[] = {{64, 0, 2}, {64, 1, 2}, {64, 1, 3}};
    arenaut_problem *p = problem_of(boxes, 3);
    separate(p, 0, 2, 0);
    separate(p, 1, 2, 0);
    finish(p);
    proven x = prove(p);
    survives_every_allocation_failure(certify_and_check, &(claimed_plan){x.problem, x.plan});
    drop(&x);
    x = branching();
    survives_every_allocation_failure(certify_and_check, &(claimed_plan){x.problem, x.plan});
    drop(&x);
}

TEST(plans_that_cannot_be_certified_are_refused) {
    proven x = branching();
    arenaut_certificate *none = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_certify(x.problem, x.plan, 1, NULL, &none, &err), ARENAUT_STOPPED);
    x.plan->total_bound++;
    assert_int_equal(arenaut_certify(x.problem, x.plan, 0, NULL, &none, &err), ARENAUT_REFUSED);
    x.plan->quality = ARENAUT_INFEASIBLE;
    assert_int_equal(arenaut_certify(x.problem, x.plan, 0, NULL, &none, &err), ARENAUT_REFUSED);
    assert_null(none);
    drop(&x);
}

/* Three that are each assumed to lie a byte above the next creep up byte by byte, until the
 * checker's effort is spent. */
TEST(who_creeps_up_holds_nobody_up) {
    arenaut_problem *p = new_problem();
    for (uint32_t b = 0; b < 3; b++) add_box(p, UINT64_C(1) << 58, 0, 2);
    for (uint32_t b = 0; b < 3; b++) separate(p, b, (b + 1) % 3, 1);
    finish(p);
    arenaut_proof_line lines[] = {{ARENAUT_PROOF_ABOVE, 0, 1},
                                  {ARENAUT_PROOF_ABOVE, 1, 2},
                                  {ARENAUT_PROOF_ABOVE, 2, 0},
                                  {ARENAUT_PROOF_DEAD, 0, 0}};
    const arenaut_certificate c = {.bound = ARENAUT_UNPLACED,
                                   .problem = arn_problem_digest(p),
                                   .n_lines = COUNT_OF(lines),
                                   .line = lines};
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_int_equal(arenaut_check_certificate(p, &c, NULL, &finding, &err), ARENAUT_STOPPED);
    arenaut_problem_free(p);
}
