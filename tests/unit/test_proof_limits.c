/* The cost of following a certificate: a hostile one is stopped, and true ones are far from it. */
#include <arenaut/check.h>
#include <arenaut/planner.h>

#include "ir/certificate.h"
#include "support/meter.h"
#include "support/problems.h"
#include "support/test.h"

enum { MI = 1 << 20, MOST_LINES = 64 };

/* Three equal buffers that are alive together, each assumed to lie above the next: ranges of
 * offsets creep up to the end of all numbers, byte by byte. More lines begin that anew. */
typedef struct circle {
    arenaut_problem *p;
    arenaut_proof_line lines[MOST_LINES];
    arenaut_certificate c;
} circle;

static void make_circle(circle *x, uint32_t n_lines) {
    x->p = problem_of((const box[]){{4, 0, 1}, {4, 0, 1}, {4, 0, 1}}, 3);
    for (uint32_t i = 0; i < 3; i++) {
        x->lines[i] = (arenaut_proof_line){ARENAUT_PROOF_ABOVE, i, (i + 1) % 3};
    }
    for (uint32_t i = 3; i < n_lines; i++) {
        x->lines[i] = (arenaut_proof_line){ARENAUT_PROOF_HIGH, 0, (uint64_t)(i - 2) << 56};
    }
    x->c = (arenaut_certificate){.bound = ARENAUT_UNPLACED,
                                 .problem = arn_problem_digest(x->p),
                                 .n_lines = n_lines,
                                 .line = x->lines};
}

static arenaut_status check_within(const arenaut_problem *p, const arenaut_certificate *c,
                                   uint64_t effort, uint64_t memory, meter *m) {
    const arenaut_check_limits limits = {effort, memory};
    const arenaut_allocator allocator = meter_allocator(m);
    arenaut_finding finding;
    arenaut_error err = {0};
    const arenaut_status st =
        arenaut_check_certificate_within(p, c, &limits, &allocator, &finding, &err);
    assert_int_equal(m->now, 0);
    if (st == ARENAUT_STOPPED) assert_non_null(strstr(err.msg, "than is allowed"));
    return st;
}

/* 96 bytes took 2.9 GiB. */
TEST(a_short_proof_cannot_take_all_memory) {
    static const uint32_t n_lines[] = {3, 4, 6, 64};
    for (size_t i = 0; i < COUNT_OF(n_lines); i++) {
        circle x;
        meter m = {0};
        make_circle(&x, n_lines[i]);
        assert_int_equal(check_within(x.p, &x.c, 0, 0, &m), ARENAUT_STOPPED);
        assert_true(m.most < 2 * MI);
        arenaut_problem_free(x.p);
    }
}

/* The effort is one for all lines: so many lines more do not get so much more. */
TEST(the_cost_of_all_lines_is_summed) {
    circle x;
    meter m = {0};
    make_circle(&x, MOST_LINES);
    assert_int_equal(check_within(x.p, &x.c, 100000, UINT64_MAX, &m), ARENAUT_STOPPED);
    assert_true(m.most < 16 * MI);
    arenaut_problem_free(x.p);
}

TEST(limits_of_the_caller_count) {
    circle x;
    meter few = {0}, many = {0}, none = {0};
    make_circle(&x, 3);
    assert_int_equal(check_within(x.p, &x.c, 1000, UINT64_MAX, &few), ARENAUT_STOPPED);
    assert_int_equal(check_within(x.p, &x.c, 1000000, UINT64_MAX, &many), ARENAUT_STOPPED);
    assert_true(few.most * 10 < many.most);
    assert_int_equal(check_within(x.p, &x.c, UINT64_MAX, MI / 4, &none), ARENAUT_STOPPED);
    assert_true(none.most <= MI / 4 + MI / 4);
    arenaut_problem_free(x.p);
}

/* Of a true proof: too little is told, enough is enough, and the default is far from needed. */
static bool try_true_proof(rng *r, const problem_shape *shape) {
    arenaut_problem *p = random_problem(r, shape);
    arenaut_plan *plan = NULL;
    arenaut_certificate *c = NULL;
    arenaut_error err = {0};
    (void)arenaut_plan_make(p, NULL, NULL, &plan, &err);
    const bool proven = plan && arenaut_certify(p, plan, 0, NULL, &c, &err) == ARENAUT_OK;
    if (proven && c->bound > 0) {
        uint64_t enough = 1;
        meter m = {0};
        while (check_within(p, c, enough, UINT64_MAX, &m) == ARENAUT_STOPPED) enough *= 2;
        assert_int_equal(check_within(p, c, enough, UINT64_MAX, &m), ARENAUT_OK);
        assert_int_equal(check_within(p, c, 0, 0, &m), ARENAUT_OK);
        assert_int_equal(check_within(p, c, UINT64_MAX, 1, &m), ARENAUT_STOPPED);
        assert_true(enough <= 65536 + 64 * (uint64_t)c->n_lines);
    }
    const bool branches = proven && c->n_branches > 0;
    arenaut_certificate_free(c);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
    return branches;
}

TEST(true_proofs_are_far_from_the_default) {
    const problem_shape shape = {9, 7, 8, ARENAUT_FEATURE_ALL};
    rng r = {1618};
    uint32_t branches = 0;
    for (uint32_t k = 0; k < 500; k++) branches += try_true_proof(&r, &shape);
    assert_true(branches > 10);
}
