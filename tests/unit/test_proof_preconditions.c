/* Preconditions of the rules of certificates: each is violated here, and the checker refuses the
 * line for that. */
#include <arenaut/check.h>
#include <arenaut/order.h>

#include "ir/certificate.h"
#include "support/problems.h"
#include "support/test.h"

#define PROOF(...)                             \
    (const arenaut_proof_line[]){__VA_ARGS__}, \
        sizeof((const arenaut_proof_line[]){__VA_ARGS__}) / sizeof(arenaut_proof_line)

/* The checker's verdict on these lines about a bound. */
static arenaut_status check_lines(const arenaut_problem *p, uint64_t bound,
                                  const arenaut_proof_line *lines, size_t n, arenaut_error *err) {
    arenaut_finding finding;
    arenaut_certificate certificate = {.bound = bound,
                                       .problem = arn_problem_digest(p),
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

/* Lines that are refused, each in a problem of its own kind. */
typedef struct refusal {
    const char *why;
    uint32_t n;
    arenaut_proof_line lines[6];
} refusal;

static void assert_all_refused(arenaut_problem *p, uint64_t bound, const refusal *all, size_t n) {
    for (size_t i = 0; i < n; i++) {
        assert_refused(p, bound, all[i].why, all[i].lines, all[i].n);
    }
    arenaut_problem_free(p);
}

#define LINE(rule, item, value) {ARENAUT_PROOF_##rule, item, value}

/* Buffers 0 and 1 are alike, 2 is larger, 3 lives alone, and 4 cannot move. */
static arenaut_problem *placing(void) {
    arenaut_problem *p = new_problem();
    add_box(p, 4, 0, 2);
    add_box(p, 4, 0, 2);
    add_box(p, 6, 0, 2);
    add_box(p, 4, 5, 6);
    ADD_BUFFER(p, .size = 2, LIFE(0, 2), .fixed_offset = arenaut_at(0));
    arenaut_error err = {0};
    assert_ok(arenaut_problem_add_conflict(p, 0, 3, &err), err);
    assert_ok(arenaut_problem_add_conflict(p, 3, 4, &err), err);
    finish(p);
    return p;
}

TEST(groups_are_placed_once_and_only_where_they_can_be) {
    static const refusal all[] = {
        {"still to be placed", 2, {LINE(BRANCH, 0, 0), LINE(PLACE, 4, 0)}},
        {"still to be placed", 2, {LINE(BRANCH, 0, 0), LINE(PLACE, 5, 0)}},
        {"still to be placed", 2, {LINE(BRANCH, 0, 0), LINE(PLACE, UINT32_MAX, 0)}},
        {"still to be placed",
         4,
         {LINE(BRANCH, 0, 0), LINE(PLACE, 0, 0), LINE(BRANCH, 0, 0), LINE(PLACE, 0, 0)}},
        {"before it has not ended", 2, {LINE(BRANCH, 0, 0), LINE(DEAD, 0, 0)}},
        {"before it has not ended", 2, {LINE(KEPT, 0, 0), LINE(BRANCH, 0, 0)}},
        {"outside of a branch", 1, {LINE(PLACE, 0, 0)}},
        {"outside of a branch", 1, {LINE(ALIKE, 0, 1)}},
        {"outside of a branch", 1, {LINE(REJECT, 0, 0)}},
        {"outside of a branch", 1, {{ARENAUT_PROOF_COUNT, 0, 0}}},
        {"outside of a branch", 1, {{UINT32_MAX, 0, 0}}},
    };
    assert_all_refused(placing(), 20, all, COUNT_OF(all));
}

/* Of a limit that nothing larger than 6 bytes fits below, so that a child is proven at once. */
TEST(no_group_is_twice_in_a_set) {
    arenaut_problem *p = placing();
    assert_refused(
        p, 8, "placed or left out before",
        PROOF(LINE(BRANCH, 0, 0), LINE(PLACE, 0, 0), LINE(OVER, 0, 0), LINE(PLACE, 0, 0)));
    assert_refused(
        p, 8, "placed or left out before",
        PROOF(LINE(BRANCH, 0, 0), LINE(PLACE, 0, 0), LINE(OVER, 0, 0), LINE(ALIKE, 0, 0)));
    arenaut_problem_free(p);
}

TEST(only_groups_are_alike_of_which_one_was_placed_before) {
    static const refusal all[] = {
        {"not alike", 2, {LINE(BRANCH, 0, 0), LINE(ALIKE, 0, 1)}},
        {"not alike", 2, {LINE(BRANCH, 0, 0), LINE(ALIKE, 0, 0)}},
        {"not alike",
         4,
         {LINE(BRANCH, 0, 0), LINE(PLACE, 0, 0), LINE(OVER, 0, 0), LINE(ALIKE, 2, 0)}},
        {"still to be placed",
         4,
         {LINE(BRANCH, 0, 0), LINE(PLACE, 0, 0), LINE(OVER, 0, 0), LINE(ALIKE, 1, 4)}},
        {"still to be placed",
         4,
         {LINE(BRANCH, 0, 0), LINE(PLACE, 0, 0), LINE(OVER, 0, 0), LINE(ALIKE, 1, UINT64_MAX)}},
    };
    assert_all_refused(placing(), 8, all, COUNT_OF(all));
}

TEST(closing_lines_close_what_they_say) {
    static const refusal all[] = {
        {"does not close", 1, {LINE(DEAD, 0, 0)}},
        {"does not close", 1, {LINE(LOAD, 0, 0)}},
        {"does not close", 1, {LINE(LOAD, 0, UINT64_MAX)}},
        {"does not close", 1, {LINE(OVER, 0, 5)}},
        {"does not close", 1, {LINE(OVER, 0, 3)}},
        {"does not close", 1, {LINE(OVER, 0, UINT64_MAX)}},
        {"does not close", 1, {LINE(EDGE, 0, 0)}},
        {"does not close", 1, {LINE(EDGE, 1, 0)}}, /* of which one end cannot move */
        {"does not close", 1, {LINE(EDGE, 2, 0)}}, /* there is none */
        {"does not close", 1, {LINE(EDGE, UINT32_MAX, 0)}},
        {"does not close", 1, {LINE(SAME, 0, 0)}},
        {"does not close", 3, {LINE(KEPT, 0, 0), LINE(PLACE, 3, 0), LINE(SAME, 0, 0)}},
        {"does not close", 3, {LINE(BRANCH, 0, 0), LINE(PLACE, 3, 0), LINE(SAME, 0, 0)}},
        {"does not close", 3, {LINE(KEPT, 0, 0), LINE(PLACE, 3, 0), LINE(SAME, 0, UINT64_MAX)}},
        {"before the first line about blocks",
         3,
         {LINE(BRANCH, 0, 0), LINE(PLACE, 0, 0), LINE(LOAD, 0, 0)}},
    };
    assert_all_refused(placing(), 17, all, COUNT_OF(all));
}

TEST(a_proof_ends_where_its_lines_do) {
    arenaut_problem *p = placing();
    assert_refused(p, 16, "goes on", PROOF(LINE(LOAD, 0, 0), LINE(LOAD, 0, 0)));
    assert_refused(p, 16, "ends before", PROOF(LINE(BRANCH, 0, 0)));
    assert_refused(p, 0, "nothing to prove", PROOF(LINE(LOAD, 0, 0)));
    arenaut_problem_free(p);
}

/* Two pools; buffer 1 may start where 0 does. */
static arenaut_problem *choosing(void) {
    arenaut_problem *p = new_problem();
    add_pool(p, "a", 16, 1);
    add_pool(p, "b", 16, 1);
    ADD_BUFFER(p, .size = 4, LIFE(0, 2), .pools = 3);
    ADD_BUFFER(p, .size = 4, LIFE(1, 3), .pools = 3, .same_base = arenaut_id(0));
    ADD_BUFFER(p, .size = 0, LIFE(0, 2), .pools = 3);
    finish(p);
    return p;
}

TEST(cases_are_split_before_anything_else_and_once) {
    static const refusal all[] = {
        {"has no base", 1, {LINE(JOIN, 0, 0)}},
        {"has no base", 1, {LINE(JOIN, 3, 0)}},
        {"settled already", 2, {LINE(JOIN, 1, 0), LINE(JOIN, 1, 0)}},
        {"split before", 2, {LINE(POOLS, 0, 1), LINE(JOIN, 1, 0)}},
        {"no such buffer", 1, {LINE(POOL, 2, 0)}}, /* it needs no memory */
        {"no such buffer", 1, {LINE(POOL, 3, 0)}},
        {"split before", 2, {LINE(POOLS, 0, 1), LINE(POOL, 0, 0)}},
        {"no such pool", 1, {LINE(ARENA, 2, 0)}},
        {"no such pool, or no such arena", 1, {LINE(ARENA, 0, ARENAUT_SIZE_MAX)}},
        {"no such pool, or no such arena", 1, {LINE(ARENA, 0, UINT64_MAX)}},
        {"split before", 2, {LINE(POOLS, 0, 1), LINE(ARENA, 0, 4)}},
        {"not looked at", 1, {LINE(POOLS, 0, 0)}},
        {"not looked at", 1, {LINE(POOLS, 0, 4)}},
        {"not looked at", 2, {LINE(POOLS, 0, 1), LINE(POOLS, 0, 3)}},
        {"needs one pool", 1, {LINE(BRANCH, 0, 0)}},
        {"needs one pool", 1, {LINE(DEAD, 0, 0)}},
        {"needs one pool", 1, {LINE(HIGH, 0, 4)}},
        {"needs one pool", 1, {LINE(FROM, 0, 0)}},
        {"no such buffer", 1, {LINE(WITHOUT, 3, 0)}},
        {"left out already", 2, {LINE(WITHOUT, 0, 0), LINE(WITHOUT, 0, 0)}},
        {"before the first line about blocks",
         3,
         {LINE(POOLS, 0, 1), LINE(FROM, 0, 0), LINE(WITHOUT, 0, 0)}},
        {"before the first line about blocks",
         3,
         {LINE(POOLS, 0, 1), LINE(FROM, 0, 0), LINE(POOLS, 0, 1)}},
    };
    assert_all_refused(choosing(), 5, all, COUNT_OF(all));
}

TEST(sides_are_of_two_that_obstruct_each_other) {
    static const refusal all[] = {
        {"in each other's way", 1, {LINE(ABOVE, 0, 0)}},
        {"in each other's way", 1, {LINE(ABOVE, 1, 3)}}, /* not alive together, and no edge */
        {"in each other's way", 1, {LINE(LEVEL, 1, 3)}},
        {"in each other's way", 1, {LINE(ABOVE, 0, 5)}},
        {"in each other's way", 1, {LINE(ABOVE, 0, UINT64_MAX)}},
        {"in each other's way", 1, {LINE(HIGH, 5, 0)}},
        {"in each other's way", 1, {LINE(HIGH, 0, ARENAUT_SIZE_MAX + 1)}},
        {"after the first line about sides", 2, {LINE(ABOVE, 0, 1), LINE(BRANCH, 0, 0)}},
        {"after the first line about sides", 2, {LINE(ABOVE, 0, 1), LINE(OVER, 0, 0)}},
        {"after the first line about places",
         3,
         {LINE(BRANCH, 0, 0), LINE(PLACE, 0, 0), LINE(ABOVE, 1, 2)}},
    };
    assert_all_refused(placing(), 20, all, COUNT_OF(all));
}

/* Resting on one another means nothing where buffers may overlap. */
TEST(places_say_nothing_where_buffers_may_overlap) {
    static const refusal all[] = {
        {"places say nothing", 1, {LINE(BRANCH, 0, 0)}},
        {"places say nothing", 1, {LINE(OVER, 0, 0)}},
        {"places say nothing", 1, {LINE(EDGE, 0, 0)}},
        {"places say nothing", 1, {LINE(SAME, 0, 0)}},
        {"places say nothing", 1, {LINE(UNTIL, 0, 0)}},
        {"does not close", 1, {LINE(DEAD, 0, 0)}},
    };
    arenaut_problem *p = new_problem();
    const arenaut_separation over = {0, 1, 2};
    arenaut_error err = {0};
    add_box(p, 4, 0, 1);
    add_box(p, 4, 0, 1);
    assert_ok(arenaut_problem_add_separation(p, &over, &err), err);
    finish(p);
    assert_all_refused(p, 7, all, COUNT_OF(all));
}

/* ---- orders ---- */

/* Op 0 makes a buffer that 2 reads, op 1 another that 3 reads; in either order 8 bytes at most are
 * alive if each is read at once. */
static const uint64_t sizes[] = {4, 8};
static const arenaut_order_use uses[] = {{0, 0}, {2, 0}, {1, 1}, {3, 1}};
static const arenaut_order_dependence dependences[] = {{2, 0}, {3, 1}};

typedef struct order_refusal {
    const char *why;
    uint64_t bound;
    uint32_t n;
    arenaut_order_line lines[7];
} order_refusal;

#define STEP(rule, item) {ARENAUT_ORDER_##rule, item}

static void assert_order_refused(const order_refusal *x) {
    const arenaut_order_problem p = {.n_ops = 4,
                                     .n_buffers = 2,
                                     .n_uses = COUNT_OF(uses),
                                     .n_dependences = COUNT_OF(dependences),
                                     .size = sizes,
                                     .uses = uses,
                                     .dependences = dependences};
    uint32_t ops[] = {0, 1, 2, 3};
    const arenaut_order order = {.n_ops = 4,
                                 .ops = ops,
                                 .peak = 12,
                                 .bound = x->bound,
                                 .n_lines = x->n,
                                 .lines = (arenaut_order_line *)x->lines};
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_int_equal(arenaut_check_order(&p, &order, NULL, &finding, &err), ARENAUT_REJECTED);
    if (!strstr(err.msg, x->why)) fail_msg("\"%s\" does not say \"%s\"", err.msg, x->why);
}

TEST(lines_about_orders_have_preconditions) {
    static const order_refusal all[] = {
        {"proves nothing", 9, 0, {STEP(END, 0)}},
        {"no such op", 9, 1, {STEP(CUT, 4)}},
        {"no such op", 9, 1, {STEP(CUT, UINT32_MAX)}},
        {"may run with less", 9, 1, {STEP(CUT, 1)}},
        {"something follows", 8, 2, {STEP(CUT, 1), STEP(CUT, 1)}},
        {"something stands before",
         13,
         4,
         {STEP(AHEAD, 2), STEP(RUN, 0), STEP(RUN, 2), STEP(CUT, 1)}},
        {"the number of ops is out of range", 9, 1, {STEP(AHEAD, 0)}},
        {"the number of ops is out of range", 9, 1, {STEP(BACK, 0)}},
        {"the number of ops is out of range", 9, 1, {STEP(AHEAD, 5)}},
        {"the number of ops is out of range", 9, 1, {STEP(AHEAD, UINT32_MAX)}},
        {"increase the live bytes", 13, 2, {STEP(AHEAD, 1), STEP(RUN, 0)}},
        {"the op cannot run here", 9, 2, {STEP(AHEAD, 1), STEP(RUN, 2)}},
        {"the op cannot run here", 4, 2, {STEP(AHEAD, 1), STEP(RUN, 0)}},
        {"the op cannot run here", 13, 3, {STEP(AHEAD, 2), STEP(RUN, 0), STEP(RUN, 0)}},
        {"the op cannot run here", 13, 3, {STEP(AHEAD, 2), STEP(RUN, 0), STEP(SAFE, 2)}},
        {"two sides only", 9, 1, {STEP(SEARCH, 2)}},
        {"proves no state", 9, 2, {STEP(SEARCH, 0), STEP(RUN, 0)}},
        {"no other state", 9, 2, {STEP(SEARCH, 0), STEP(SAME, 0)}},
        {"increases the live bytes", 9, 2, {STEP(SEARCH, 0), STEP(SAFE, 0)}},
        {"may not run here", 9, 2, {STEP(SEARCH, 0), STEP(SAFE, 3)}},
        {"another op may run", 9, 3, {STEP(SEARCH, 0), STEP(EACH, 0), STEP(END, 0)}},
        {"another op may run", 9, 3, {STEP(SEARCH, 0), STEP(EACH, 0), STEP(RUN, 1)}},
        {"may not run here", 9, 3, {STEP(SEARCH, 0), STEP(EACH, 0), STEP(RUN, 4)}},
        {"no child of a state", 9, 3, {STEP(SEARCH, 0), STEP(EACH, 0), STEP(SAFE, 0)}},
    };
    for (size_t i = 0; i < COUNT_OF(all); i++) assert_order_refused(&all[i]);
}

/* All ops run below a bound that is too high: then nothing is left to follow, and nothing proven.
 */
TEST(an_order_below_the_bound_is_no_proof) {
    const order_refusal each = {"all ops have run",
                                13,
                                7,
                                {STEP(AHEAD, 4), STEP(RUN, 0), STEP(RUN, 2), STEP(RUN, 1),
                                 STEP(RUN, 3), STEP(SEARCH, 0), STEP(EACH, 0)}};
    assert_order_refused(&each);
}
