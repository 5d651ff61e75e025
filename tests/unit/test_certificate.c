/* Certificates: every answer that was proven has one that the checker accepts, and none that was
 * tampered with. */
#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/planner.h>

#include "support/corpus.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/oracle.h"
#include "support/problems.h"
#include "support/test.h"

#include "check/certificate/proof_state.h"

static arenaut_plan *plan_by(const arenaut_problem *p, const char *planner, uint64_t effort) {
    const arenaut_plan_options options = {.planner = planner, .effort = effort};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_answered(arenaut_plan_make(p, &options, NULL, &plan, &err), plan, &err);
    assert_plan_accepted(p, plan);
    return plan;
}

static arenaut_certificate *certify(const arenaut_problem *p, const arenaut_plan *plan) {
    arenaut_certificate *certificate = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_certify(p, plan, 0, NULL, &certificate, &err), err);
    return certificate;
}

static arenaut_status check(const arenaut_problem *p, const arenaut_certificate *certificate,
                            arenaut_error *err) {
    arenaut_finding finding;
    const arenaut_status st = arenaut_check_certificate(p, certificate, NULL, &finding, err);
    if (st == ARENAUT_REJECTED) assert_int_equal(finding.rule, ARENAUT_RULE_PROOF);
    return st;
}

static void assert_proves(const arenaut_problem *p, const arenaut_certificate *certificate) {
    arenaut_error err = {0};
    assert_ok(check(p, certificate, &err), err);
}

static void assert_proves_nothing(const arenaut_problem *p,
                                  const arenaut_certificate *certificate) {
    arenaut_error err = {0};
    assert_int_equal(check(p, certificate, &err), ARENAUT_REJECTED);
}

/* ---- whatever was proven can be certified ---- */

/* How many proofs were of each kind. */
typedef struct tally {
    uint32_t lines_1, branches, joins, pools, kept, infeasible;
} tally;

static void count(const arenaut_certificate *certificate, tally *t) {
    if (certificate->n_lines == 1) t->lines_1++;
    if (certificate->n_branches) t->branches++;
    if (certificate->bound == ARENAUT_UNPLACED) t->infeasible++;
    for (uint32_t i = 0; i < certificate->n_lines; i++) {
        if (certificate->line[i].rule == ARENAUT_PROOF_JOIN) t->joins++;
        if (certificate->line[i].rule == ARENAUT_PROOF_POOL) t->pools++;
        if (certificate->line[i].rule == ARENAUT_PROOF_SAME) t->kept++;
    }
}

/* So that often nothing fits, which can be certified of a choice of pools. */
static void make_tight(rng *r, arenaut_problem *p, uint32_t max_size) {
    for (uint32_t k = 0; k < p->n_pools; k++) limit_pool(p, k, 1 + rng_below(r, 2 * max_size));
}

static void assert_refused(const arenaut_problem *p, const arenaut_plan *plan) {
    arenaut_certificate *certificate = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_certify(p, plan, 0, NULL, &certificate, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "choice of pools"));
    assert_null(certificate);
}

static tally certify_random(const problem_shape *shape, uint32_t problems) {
    tally t = {0};
    rng r = {shape->features * 31 + shape->max_size};
    for (uint32_t k = 0; k < problems; k++) {
        arenaut_problem *p = random_problem(&r, shape);
        if (shape->features & ARENAUT_FEATURE_POOLS) make_tight(&r, p, shape->max_size);
        arenaut_plan *plan = plan_by(p, "exact", 0);
        assert_true(plan->quality != ARENAUT_FEASIBLE);
        if (plan->quality != ARENAUT_INFEASIBLE && arenaut_problem_chooses_pools(p)) {
            assert_refused(p, plan);
        } else {
            arenaut_certificate *certificate = certify(p, plan);
            assert_proves(p, certificate);
            count(certificate, &t);
            arenaut_certificate_free(certificate);
        }
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
    return t;
}

/* Of 16 buffers with alignments of 8, 16 and 32. */
static arenaut_problem *aligned_problem(rng *r) {
    arenaut_problem *p = new_problem();
    for (uint32_t b = 0; b < 16; b++) {
        const int64_t first = rng_below(r, 6);
        const arenaut_interval life = {first, first + 1 + rng_below(r, 3)};
        arenaut_buffer buffer = ARENAUT_BUFFER_INIT;
        buffer.size = 1 + rng_below(r, 200);
        buffer.align = UINT64_C(8) << rng_below(r, 3);
        buffer.lifetimes = &life;
        buffer.n_lifetimes = 1;
        add_buffer(p, &buffer);
    }
    finish(p);
    return p;
}

/* By the load alone most of them are not proven within a thousand times the effort. */
TEST(mixed_alignments_are_proven_at_once_and_most_by_one_step) {
    rng r = {34};
    uint32_t by_one_step = 0, proven = 0;
    for (uint32_t k = 0; k < 50; k++) {
        arenaut_problem *p = aligned_problem(&r);
        arenaut_plan *plan = plan_by(p, "exact", 4000);
        if (plan->quality == ARENAUT_OPTIMAL) {
            arenaut_certificate *certificate = certify(p, plan);
            assert_proves(p, certificate);
            certificate->bound++;
            assert_proves_nothing(p, certificate);
            by_one_step += certificate->n_lines == 1;
            proven++;
            arenaut_certificate_free(certificate);
        }
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
    assert_true(proven >= 40 && by_one_step >= 40);
}

TEST(every_optimum_of_plain_problems_has_a_certificate) {
    const problem_shape small = {9, 5, 6, 0}, larger = {16, 7, 12, 0};
    assert_true(certify_random(&small, 1000).lines_1 > 500);
    assert_true(certify_random(&larger, 500).lines_1 > 400);
}

TEST(every_optimum_has_a_certificate_whatever_the_constraint) {
    static const uint32_t features[] = {
        ARENAUT_FEATURE_ALIGNMENT,     ARENAUT_FEATURE_GAPS,      ARENAUT_FEATURE_CAPACITY,
        ARENAUT_FEATURE_FIXED_OFFSETS, ARENAUT_FEATURE_CONFLICTS, ARENAUT_FEATURE_RESERVED,
    };
    for (size_t i = 0; i < COUNT_OF(features); i++) {
        const problem_shape shape = {8, 7, 7, features[i]};
        const tally t = certify_random(&shape, 500);
        assert_true(t.lines_1 > 0);
    }
}

TEST(relations_have_certificates_that_split_pairs) {
    const problem_shape bases = {8, 6, 7, ARENAUT_FEATURE_SAME_BASE};
    const problem_shape slices = {8, 6, 7, ARENAUT_FEATURE_INSIDE | ARENAUT_FEATURE_ALIGNMENT};
    assert_true(certify_random(&bases, 1500).joins > 10);
    assert_true(certify_random(&slices, 800).branches > 0);
}

TEST(all_constraints_together_have_certificates) {
    const problem_shape one_pool = {7, 7, 8, ARENAUT_FEATURE_ALL & ~ARENAUT_FEATURE_POOLS};
    const problem_shape pools = {6, 6, 6, ARENAUT_FEATURE_POOLS | ARENAUT_FEATURE_CAPACITY};
    const problem_shape every = {6, 6, 6, ARENAUT_FEATURE_ALL};
    assert_true(certify_random(&one_pool, 2000).infeasible > 10);
    assert_true(certify_random(&pools, 600).pools > 10);
    assert_true(certify_random(&every, 1500).pools > 10);
}

/* ---- items that are alike ---- */

/* The plan of the exact search has this total, and a certificate. Frees the problem. */
static void assert_certified(arenaut_problem *p, uint64_t total) {
    arenaut_plan *plan = plan_by(p, "exact", 0);
    assert_int_equal(plan->total, total);
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    arenaut_certificate *certificate = certify(p, plan);
    assert_proves(p, certificate);
    arenaut_certificate_free(certificate);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

static arenaut_buffer buffer_of(uint64_t size, const arenaut_interval *life) {
    arenaut_buffer b = ARENAUT_BUFFER_INIT;
    b.size = size;
    b.lifetimes = life;
    b.n_lifetimes = 1;
    return b;
}

/* Equal in size and in time, and any offset that matters is even; yet one asks for that and the
 * other does not, so that the checker of a proof does not take them for alike. */
TEST(buffers_of_other_alignments_are_not_alike) {
    arenaut_problem *p = new_problem();
    const arenaut_interval life = {0, 2};
    const arenaut_reserved range = {0, 8, 12};
    arenaut_buffer b = buffer_of(6, &life);
    arenaut_error err = {0};
    b.align = 2;
    add_buffer(p, &b);
    b.align = 1;
    add_buffer(p, &b);
    add_pool(p, "pool", ARENAUT_UNLIMITED, 1);
    assert_ok(arenaut_problem_add_reserved(p, &range, &err), err);
    finish(p);
    assert_certified(p, 18);
}

/* Each of two equal buffers is kept from another fixed one by an edge; those two lie at one
 * place, at different times. */
TEST(buffers_with_edges_to_others_are_not_alike) {
    arenaut_problem *p = new_problem();
    const arenaut_interval lives[] = {{0, 1}, {0, 1}, {5, 6}, {7, 8}};
    arenaut_error err = {0};
    for (uint32_t i = 0; i < 4; i++) {
        arenaut_buffer b = buffer_of(i < 2 ? 6 : 4, &lives[i]);
        if (i >= 2) b.fixed_offset = arenaut_at(8);
        add_buffer(p, &b);
    }
    assert_ok(arenaut_problem_add_conflict(p, 0, 2, &err), err);
    assert_ok(arenaut_problem_add_conflict(p, 1, 3, &err), err);
    finish(p);
    assert_certified(p, 18);
}

/* ---- how far up is next ---- */

/* All offsets that matter are even. A host that is not at 0 is at 2 or above, not at 1, although
 * the support of its slice could end anywhere. */
TEST(who_is_rejected_lies_higher_by_a_grain) {
    arenaut_problem *p = new_problem();
    const arenaut_interval lives[] = {{1, 2}, {6, 7}, {7, 8}, {7, 8}, {6, 7}};
    const uint64_t size[] = {8, 8, 6, 2, 2};
    for (uint32_t i = 0; i < 5; i++) {
        arenaut_buffer b = buffer_of(size[i], &lives[i]);
        if (i >= 3) {
            b.inside = arenaut_id(i == 3 ? 1 : 0);
            b.inside_delta = i == 3 ? 6 : 2;
        }
        add_buffer(p, &b);
    }
    finish(p);
    assert_certified(p, 12);
}

/* Of 4 bytes nothing counts in a pool whose arenas are multiples of 8. */
TEST(a_capacity_need_not_be_aligned) {
    arenaut_problem *p = new_problem();
    const arenaut_interval life[] = {{3, 6}, {5, 7}, {3, 6}, {0, 6}};
    const uint64_t size[] = {2, 4, 3, 4}, align[] = {2, 8, 1, 8}, pools[] = {2, 2, 3, 3};
    add_pool(p, "a", 4, 8);
    add_pool(p, "b", 10, 2);
    for (uint32_t i = 0; i < 4; i++) {
        arenaut_buffer b = buffer_of(size[i], &life[i]);
        b.align = align[i];
        b.pools = pools[i];
        if (i == 0) b.fixed_offset = arenaut_at(2);
        if (i == 1) b.same_base = arenaut_id(0);
        add_buffer(p, &b);
    }
    finish(p);
    arenaut_plan *plan = plan_by(p, "exact", 0);
    assert_int_equal(plan->quality, ARENAUT_INFEASIBLE);
    arenaut_certificate *certificate = certify(p, plan);
    assert_proves(p, certificate);
    arenaut_certificate_free(certificate);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* Nothing of buffer 2 is left where 4 covers it. Parts of the proof leave it out; their conclusions
 * hold elsewhere, too. */
TEST(who_is_covered_is_left_out_everywhere) {
    arenaut_problem *p = new_problem();
    const arenaut_interval lives[] = {{4, 8}, {7, 10}, {7, 8}, {4, 8}, {6, 8}, {7, 9}};
    const uint64_t size[] = {5, 4, 1, 3, 4, 5}, align[] = {8, 1, 2, 2, 1, 2};
    const uint32_t base[] = {ARENAUT_NONE, 0, 3, ARENAUT_NONE, ARENAUT_NONE, 0};
    for (uint32_t i = 0; i < 6; i++) {
        arenaut_buffer b = buffer_of(size[i], &lives[i]);
        b.align = align[i];
        b.same_base = arenaut_id(base[i]);
        add_buffer(p, &b);
    }
    finish(p);
    assert_certified(p, 17);
}

/* Of four buffers of one size one lies in another, and is the heir of a third, as its host is: each
 * could cover the next. */
TEST(buffers_of_one_size_do_not_cover_each_other_in_a_circle) {
    arenaut_problem *p = new_problem();
    const arenaut_interval life = {7, 8};
    for (uint32_t i = 0; i < 4; i++) {
        arenaut_buffer b = buffer_of(i == 0 ? 8 : 4, &life);
        if (i == 1) b.inside = arenaut_id(3);
        if (i == 1 || i == 3) b.same_base = arenaut_id(2);
        add_buffer(p, &b);
    }
    finish(p);
    assert_certified(p, 12);
}

/* Buffer 6, of one byte, shares that with its base and with its heir: the load is higher without.
 */
TEST(a_slice_of_a_slice_saves_no_more_than_it_has) {
    arenaut_problem *p = new_problem();
    const arenaut_interval lives[] = {{6, 8}, {1, 2}, {7, 9}, {7, 8}, {1, 6}, {1, 3}, {7, 8}};
    const uint64_t size[] = {0, 3, 2, 5, 1, 2, 1};
    const uint32_t base[] = {ARENAUT_NONE, ARENAUT_NONE, 6, ARENAUT_NONE, ARENAUT_NONE, 1, 3};
    const uint32_t host[] = {6, ARENAUT_NONE, ARENAUT_NONE, ARENAUT_NONE, 1, 1, 4};
    const arenaut_reserved range = {0, 1, 9};
    arenaut_error err = {0};
    add_pool(p, "pool", ARENAUT_UNLIMITED, 2);
    for (uint32_t i = 0; i < COUNT_OF(size); i++) {
        arenaut_buffer b = buffer_of(size[i], &lives[i]);
        if (base[i] != ARENAUT_NONE) b.same_base = arenaut_id(base[i]);
        if (host[i] != ARENAUT_NONE) b.inside = arenaut_id(host[i]);
        b.inside_delta = i == 5;
        add_buffer(p, &b);
    }
    assert_ok(arenaut_problem_add_reserved(p, &range, &err), err);
    finish(p);
    assert_certified(p, 16);
}

/* ---- problems with an optimum above every load ---- */

/* At each step some buffers end and others of as many bytes begin, so that all steps have the same
 * load; free space is in pieces, and often in the wrong ones. */
static arenaut_problem *full_problem(uint64_t seed, uint32_t load, uint32_t steps, uint32_t most) {
    rng r = {seed};
    uint32_t size[64], first[64], n = 0;
    arenaut_problem *p = new_problem();
    for (uint32_t t = 0; t <= steps; t++) {
        uint32_t left = t == 0 ? load : 0, kept = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (t == steps || rng_once_in(&r, 3)) {
                left += size[i];
                add_box(p, size[i], first[i], t);
            } else {
                size[kept] = size[i];
                first[kept++] = first[i];
            }
        }
        for (n = kept; left > 0 && t < steps; left -= size[n++]) {
            size[n] = 1 + rng_below(&r, most);
            if (size[n] > left) size[n] = left;
            first[n] = t;
        }
    }
    finish(p);
    return p;
}

static uint64_t highest_load(const arenaut_problem *p) {
    uint64_t load = 0;
    arenaut_error err = {0};
    assert_ok(arenaut_lower_bound(p, NULL, &load, NULL, &err), err);
    return load;
}

TEST(fragmentation_is_proven_by_branching) {
    tally t = {0};
    for (uint64_t seed = 0; seed < 60; seed++) {
        arenaut_problem *p = full_problem(seed, 30, 12, 12);
        arenaut_plan *plan = plan_by(p, "exact", 0);
        if (plan->quality == ARENAUT_OPTIMAL && plan->total > highest_load(p)) {
            arenaut_certificate *certificate = certify(p, plan);
            assert_true(certificate->n_branches > 0);
            assert_proves(p, certificate);
            count(certificate, &t);
            arenaut_certificate_free(certificate);
        }
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
    assert_true(t.branches > 5 && t.kept > 5);
}

/* ---- certificates that were tampered with ---- */

typedef struct proven {
    arenaut_document document;
    const arenaut_problem *problem;
    arenaut_plan *plan;
    arenaut_certificate *certificate;
} proven;

/* Ten buffers with a load of 9 at each step that need 10. */
static proven fragmented(void) {
    size_t size;
    char *text = load_file(TEST_DATA "/fragmented.csv", &size);
    proven x = {.document = read_text("csv", text)};
    free(text);
    x.problem = x.document.problem;
    x.plan = plan_by(x.problem, "exact", 0);
    assert_int_equal(highest_load(x.problem), 9);
    assert_int_equal(x.plan->total, 10);
    x.certificate = certify(x.problem, x.plan);
    assert_proves(x.problem, x.certificate);
    return x;
}

static void drop(proven *x) {
    arenaut_certificate_free(x->certificate);
    arenaut_plan_free(x->plan);
    arenaut_document_free(&x->document);
}

/* The line after the proof that begins at `at`. Knows no case splits, which this has none of. */
static uint32_t end_of_proof(const arenaut_certificate *c, uint32_t at) {
    for (;;) {
        const uint32_t rule = c->line[at++].rule;
        if (rule == ARENAUT_PROOF_POOLS || rule == ARENAUT_PROOF_FROM ||
            rule == ARENAUT_PROOF_UNTIL) {
            continue;
        }
        if (rule != ARENAUT_PROOF_BRANCH && rule != ARENAUT_PROOF_KEPT) return at;
        for (bool last = false; !last;) {
            const uint32_t child = c->line[at++].rule;
            last = child == ARENAUT_PROOF_REJECT;
            if (child != ARENAUT_PROOF_ALIKE) at = end_of_proof(c, at);
        }
        return at;
    }
}

/* A copy without the lines [first, end). */
static arenaut_certificate without(const arenaut_certificate *c, uint32_t first, uint32_t end,
                                   arenaut_proof_line *lines) {
    arenaut_certificate copy = *c;
    copy.line = lines;
    copy.n_lines = 0;
    for (uint32_t i = 0; i < c->n_lines; i++) {
        if (i < first || i >= end) lines[copy.n_lines++] = c->line[i];
    }
    return copy;
}

/* Without a REJECT no proof ends. Not every PLACE is needed: where rejecting the others alone
 * leads nowhere, that is a proof too. */
TEST(a_missing_branch_is_noticed) {
    proven x = fragmented();
    const uint32_t n = x.certificate->n_lines;
    arenaut_proof_line *lines = test_malloc(n * sizeof *lines);
    uint32_t removed = 0, noticed = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t rule = x.certificate->line[i].rule;
        if (rule != ARENAUT_PROOF_PLACE && rule != ARENAUT_PROOF_REJECT) continue;
        const uint32_t end = end_of_proof(x.certificate, i + 1);
        const arenaut_certificate less = without(x.certificate, i, end, lines);
        arenaut_error err = {0};
        removed++;
        if (check(x.problem, &less, &err) == ARENAUT_REJECTED) noticed++;
        else assert_int_equal(rule, ARENAUT_PROOF_PLACE);
    }
    assert_true(removed > 20 && noticed * 2 > removed);
    test_free(lines);
    drop(&x);
}

/* Looking at all instead of less proves no less. */
static bool may_be_left_out(const arenaut_proof_line *line) {
    return line->rule == ARENAUT_PROOF_ALIKE || line->rule == ARENAUT_PROOF_FROM ||
           line->rule == ARENAUT_PROOF_UNTIL;
}

TEST(a_missing_or_doubled_line_is_noticed) {
    proven x = fragmented();
    const uint32_t n = x.certificate->n_lines;
    arenaut_proof_line *lines = test_malloc(((size_t)n + 1) * sizeof *lines);
    for (uint32_t i = 0; i < n; i++) {
        if (may_be_left_out(&x.certificate->line[i])) continue;
        arenaut_certificate other = without(x.certificate, i, i + 1, lines);
        assert_proves_nothing(x.problem, &other);
        for (uint32_t k = other.n_lines; k > i; k--) lines[k + 1] = lines[k - 1];
        lines[i] = lines[i + 1] = x.certificate->line[i];
        other.n_lines = n + 1;
        assert_proves_nothing(x.problem, &other);
    }
    for (uint32_t cut = 0; cut < n; cut++) {
        arenaut_certificate other = *x.certificate;
        other.n_lines = cut;
        assert_proves_nothing(x.problem, &other);
    }
    test_free(lines);
    drop(&x);
}

TEST(an_altered_leaf_is_noticed) {
    proven x = fragmented();
    arenaut_proof_line *line = x.certificate->line;
    uint32_t altered = 0;
    for (uint32_t i = 0; i < x.certificate->n_lines; i++) {
        const arenaut_proof_line right = line[i];
        if (right.rule == ARENAUT_PROOF_OVER) {
            line[i].value = 77; /* no life begins there */
            assert_proves_nothing(x.problem, x.certificate);
            altered++;
        } else if (right.rule == ARENAUT_PROOF_SAME) {
            line[i].value = i;
            assert_proves_nothing(x.problem, x.certificate);
            altered++;
        } else if (right.rule == ARENAUT_PROOF_DEAD) {
            line[i].rule = ARENAUT_PROOF_REJECT;
            assert_proves_nothing(x.problem, x.certificate);
            altered++;
        }
        line[i] = right;
    }
    assert_true(altered > 10);
    assert_proves(x.problem, x.certificate);
    drop(&x);
}

TEST(an_altered_bound_is_noticed) {
    proven x = fragmented();
    x.certificate->bound = 11;
    assert_proves_nothing(x.problem, x.certificate);
    x.certificate->bound = ARENAUT_UNPLACED;
    assert_proves_nothing(x.problem, x.certificate);
    x.certificate->bound = 0;
    assert_proves_nothing(x.problem, x.certificate);
    drop(&x);
}

TEST(a_certificate_of_another_problem_is_noticed) {
    proven x = fragmented();
    for (uint32_t b = 0; b < x.problem->n_buffers; b++) {
        arenaut_problem *other = new_problem();
        for (uint32_t i = 0; i < x.problem->n_buffers; i++) {
            const arenaut_interval life = *arenaut_problem_lifetimes(x.problem, i);
            add_box(other, x.problem->size[i] + (i == b), life.first, life.end);
        }
        finish(other);
        assert_proves_nothing(other, x.certificate);
        arenaut_problem_free(other);
    }
    drop(&x);
}

/* No change of the lines proves a false statement. */
TEST(nothing_false_is_proven_by_altered_lines) {
    const problem_shape shape = {7, 6, 7, ARENAUT_FEATURE_ALL};
    rng r = {2718};
    for (uint32_t k = 0; k < 400; k++) {
        arenaut_problem *p = k % 2 ? full_problem(k, 18, 6, 7) : random_problem(&r, &shape);
        arenaut_plan *plan = plan_by(p, "exact", 0);
        if (plan->quality == ARENAUT_OPTIMAL && plan->total > 0 &&
            !arenaut_problem_chooses_pools(p)) {
            arenaut_certificate *c = certify(p, plan);
            c->bound++;
            assert_proves_nothing(p, c);
            for (uint32_t i = 0; i < 60; i++) {
                arenaut_proof_line *line = &c->line[rng_below(&r, c->n_lines)];
                const uint32_t what = rng_below(&r, 3);
                if (what == 0) line->rule = rng_below(&r, ARENAUT_PROOF_COUNT + 1);
                else if (what == 1) line->item = rng_below(&r, p->n_buffers + 1);
                else line->value = rng_below(&r, 12);
                assert_proves_nothing(p, c);
            }
            arenaut_certificate_free(c);
        }
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

/* ---- the rules themselves ---- */

typedef struct prover {
    arn_proof_state *state;
    rng *r;
    uint32_t left; /* so many nodes more */
} prover;

static bool closes(const arn_proof_state *s) {
    if (s->dead) return true;
    for (uint32_t m = 0; m < s->c->n_moments; m++) {
        if (arn_proof_is_over(s, s->c->moment[m])) return true;
    }
    for (uint32_t e = 0; e < s->c->problem->n_conflicts; e++) {
        if (arn_proof_is_edge_over(s, e)) return true;
    }
    return false;
}

/* Tries to prove the state impossible by branching on groups drawn blindly. */
static bool proves_blindly(prover *x) {
    arn_proof_state *s = x->state;
    uint32_t chosen[16], n = 0;
    if (closes(s)) return true;
    if (x->left == 0) return false;
    x->left--;
    const uint32_t n_trail = s->n_trail;
    for (uint32_t k = 0; k < s->c->n_groups && n < 16; k++) {
        if (s->state[k] == ARN_GROUP_OPEN && rng_once_in(x->r, 2)) chosen[n++] = k;
    }
    bool shown = n > 0;
    for (uint32_t i = 0; i <= n && shown; i++) {
        assert_true(i < n ? arn_proof_place(s, chosen[i]) : arn_proof_reject(s, chosen, n));
        shown = proves_blindly(x);
        arn_proof_undo(s, n_trail, false);
    }
    return shown;
}

/* For every limit on an arena: a limit that some packing keeps is never proven impossible, and
 * another mostly is. */
TEST(the_rules_prove_what_is_true_and_nothing_else) {
    const problem_shape shape = {6, 6, 7, ARENAUT_FEATURE_ALL & ~ARENAUT_FEATURE_POOLS};
    rng r = {31415};
    uint32_t tried = 0, shown = 0;
    for (uint32_t k = 0; k < 4000; k++) {
        arenaut_problem *p = random_problem(&r, &shape);
        arenaut_plan *plan = plan_by(p, "exact", 0);
        arenaut_finding finding;
        arenaut_error err = {0};
        const arn_plan_check whole = {p, NULL, NULL, &finding, &err};
        arn_check_slices slices;
        arn_proof_case c;
        arn_proof_state s;
        assert_ok(arn_check_slices_make(&whole, &slices), err);
        assert_ok(arn_proof_case_init(&c, &whole, &slices, ARENAUT_UNPLACED), err);
        /* Pairs may be taken as they lie in the plan, or nothing be assumed of them. */
        const bool feasible = plan->quality != ARENAUT_INFEASIBLE;
        for (uint32_t b = 0; b < p->n_buffers && feasible; b++) {
            const uint32_t base = arenaut_problem_same_base(p, b);
            if (base == ARENAUT_NONE || plan->pool[b] != 0 || plan->pool[base] != 0) continue;
            if (rng_once_in(&r, 2)) continue;
            c.pair[b] = plan->offset[b] == plan->offset[base] ? ARN_PAIR_JOINED : ARN_PAIR_APART;
        }
        assert_ok(arn_proof_case_open(&c, 0, true), err);
        const uint64_t limit = feasible ? plan->total : p->pool[0].capacity;
        if (feasible) {
            assert_ok(arn_proof_state_init(&s, &c, limit), err);
            prover x = {&s, &r, 300};
            assert_false(proves_blindly(&x));
            arn_proof_state_free(&s);
        }
        if (!feasible || limit > 0) {
            assert_ok(arn_proof_state_init(&s, &c, feasible ? limit - p->pool[0].align : limit),
                      err);
            prover x = {&s, &r, 3000};
            shown += proves_blindly(&x);
            tried++;
            arn_proof_state_free(&s);
        }
        arn_proof_case_free(&c);
        arn_region_free(&slices.region);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
    assert_true(shown * 10 > tried * 8);
}

/* ---- memory ---- */

TEST(any_allocation_may_fail) {
    proven x = fragmented();
    survives_every_allocation_failure(certify_and_check, &(claimed_plan){x.problem, x.plan});
    drop(&x);
    const problem_shape shape = {6, 5, 6, ARENAUT_FEATURE_ALL};
    rng r = {77};
    for (uint32_t done = 0; done < 3;) {
        arenaut_problem *p = random_problem(&r, &shape);
        make_tight(&r, p, shape.max_size);
        x.problem = p;
        x.plan = plan_by(p, "exact", 0);
        if (x.plan->quality == ARENAUT_INFEASIBLE) {
            x.certificate = certify(p, x.plan);
            if (x.certificate->n_lines > 1 && p->n_pools > 1) {
                survives_every_allocation_failure(certify_and_check,
                                                  &(claimed_plan){x.problem, x.plan});
                done++;
            }
            arenaut_certificate_free(x.certificate);
        }
        arenaut_plan_free(x.plan);
        arenaut_problem_free(p);
    }
}

/* ---- problems that cannot be certified ---- */

TEST(a_bound_that_is_too_high_is_refused) {
    proven x = fragmented();
    arenaut_certificate *certificate = NULL;
    arenaut_error err = {0};
    x.plan->total_bound = 11;
    assert_int_equal(arenaut_certify(x.problem, x.plan, 0, NULL, &certificate, &err),
                     ARENAUT_REFUSED);
    x.plan->quality = ARENAUT_INFEASIBLE;
    assert_int_equal(arenaut_certify(x.problem, x.plan, 0, NULL, &certificate, &err),
                     ARENAUT_REFUSED);
    assert_null(certificate);
    drop(&x);
}

TEST(too_little_effort_is_told) {
    arenaut_problem *p = full_problem(7, 80, 40, 12);
    arenaut_plan *plan = plan_by(p, "exact", 1);
    arenaut_certificate *certificate = NULL;
    arenaut_error err = {0};
    plan->total_bound = highest_load(p) + 1;
    assert_int_equal(arenaut_certify(p, plan, 1, NULL, &certificate, &err), ARENAUT_STOPPED);
    assert_null(certificate);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(a_million_steps_need_one_line) {
    arenaut_problem *p = new_problem();
    for (uint32_t i = 0; i < 50000; i++) add_box(p, 1 + i % 9, i, i + 400);
    finish(p);
    arenaut_plan *plan = plan_by(p, "first-fit", 0);
    arenaut_certificate *certificate = certify(p, plan);
    assert_int_equal(certificate->n_lines, 1);
    assert_int_equal(certificate->bound, highest_load(p));
    assert_proves(p, certificate);
    arenaut_certificate_free(certificate);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}
