/* Preconditions of the rules of certificates: each is violated here, and the checker refuses the
 * line by what is wrong with it. */
#include <arenaut/check.h>

#include "support/problems.h"
#include "support/test.h"

#define PROOF(...)                             \
    (const arenaut_proof_line[]){__VA_ARGS__}, \
        sizeof((const arenaut_proof_line[]){__VA_ARGS__}) / sizeof(arenaut_proof_line)

/* What the checker says of these lines about a bound. */
static arenaut_status check_lines(const arenaut_problem *p, uint64_t bound,
                                  const arenaut_proof_line *lines, size_t n, arenaut_error *err) {
    arenaut_finding finding;
    arenaut_certificate certificate = {.bound = bound,
                                       .problem = arenaut_problem_digest(p),
                                       .n_lines = (uint32_t)n,
                                       .line = (arenaut_proof_line *)lines};
    return arenaut_check_certificate(p, &certificate, NULL, &finding, err);
}

static void assert_refused(const arenaut_problem *p, uint64_t bound, const char *why,
                           const arenaut_proof_line *lines, size_t n) {
    arenaut_error err = {0};
    assert_int_equal(check_lines(p, bound, lines, n, &err), ARENAUT_REJECTED);
    if (!strstr(err.msg, why)) fail_msg("\"%s\" does not say \"%s\"", err.msg, why);
}

/* ---- BRANCH ---- */

static const box three[] = {{4, 0, 1}, {4, 0, 1}, {4, 0, 1}};

/* None of no groups lies at its lowest: that says nothing, and excludes nothing. */
TEST(an_empty_set_cannot_be_rejected) {
    static const uint64_t bounds[] = {12, 13, 1000000, ARENAUT_UNPLACED};
    arenaut_problem *p = problem_of(three, COUNT_OF(three));
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        assert_refused(p, bounds[i], "rejects no block",
                       PROOF({ARENAUT_PROOF_BRANCH, 0, 0}, {ARENAUT_PROOF_REJECT, 0, 0},
                             {ARENAUT_PROOF_DEAD, 0, 0}));
        assert_refused(p, bounds[i], "rejects no block",
                       PROOF({ARENAUT_PROOF_KEPT, 0, 0}, {ARENAUT_PROOF_REJECT, 0, 0},
                             {ARENAUT_PROOF_DEAD, 0, 0}));
    }
    arenaut_problem_free(p);
}

/* Nor of one branch within another, whose groups are not its own. */
TEST(an_inner_branch_cannot_reject_an_empty_set) {
    arenaut_problem *p = problem_of(three, COUNT_OF(three));
    assert_refused(p, 13, "rejects no block",
                   PROOF({ARENAUT_PROOF_BRANCH, 0, 0}, {ARENAUT_PROOF_PLACE, 0, 0},
                         {ARENAUT_PROOF_BRANCH, 0, 0}, {ARENAUT_PROOF_REJECT, 0, 0},
                         {ARENAUT_PROOF_DEAD, 0, 0}));
    arenaut_problem_free(p);
}
