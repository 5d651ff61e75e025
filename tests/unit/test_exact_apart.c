/* Runs of the exact search that are apart, with the growing proof in pieces, and searches without
 * one of its techniques: whatever is left out, what is proven is true. */
#include "support/exact_search.h"
#include "support/obvious.h"
#include "support/problems.h"
#include "support/test.h"
#include "support/thorough.h"

enum { MOST_BUFFERS = 16, EFFORT = 1 << 18 };

static arenaut_verdict never_stop(void *context) {
    (void)context;
    return ARENAUT_GO_ON;
}

static void search(const arenaut_problem *p, uint64_t together, uint32_t without, uint64_t seed,
                   arn_exact_output *out) {
    const arn_exact_input in = {.problem = p,
                                .arena = ARENAUT_UNPLACED,
                                .effort = EFFORT,
                                .seed = seed,
                                .together = together,
                                .without = without};
    arn_poll poll = {.callback = never_stop};
    arenaut_error err = {0};
    assert_ok(arn_exact_run(&in, &poll, out, &err), err);
    if (out->improved) assert_offsets_accepted(p, out);
}

/* Runs are apart from the first one on. Returns whether the search came to an end: what it says is
 * true in any case. */
static bool search_rightly(const arenaut_problem *p, uint32_t without, uint64_t seed) {
    uint64_t offset[MOST_BUFFERS] = {0};
    arn_exact_output out = {.offset = offset};
    const uint64_t arena = obvious_arena(p);
    search(p, 1, without, seed, &out);
    if (arena != ARENAUT_UNPLACED) assert_true(out.bound <= arena);
    if (out.stopped_by != ARENAUT_STOP_PROOF) return false;
    assert_int_equal(out.arena, arena);
    return true;
}

static const problem_shape shapes[] = {
    {7, 6, 9, 0},
    {6, 7, 9, ARN_EXACT_HANDLES},
    {6, 6, 7, ARN_EXACT_HANDLES | ARN_EXACT_RELATIONS},
};

TEST(runs_apart_and_a_proof_in_pieces_find_the_optimum) {
    rng r = {1602};
    for (uint32_t k = 0; k < drawn(2000) * COUNT_OF(shapes); k++) {
        arenaut_problem *p = random_problem(&r, &shapes[k % COUNT_OF(shapes)]);
        assert_true(search_rightly(p, 0, k));
        arenaut_problem_free(p);
    }
}

TEST(no_technique_decides_what_is_proven) {
    rng r = {1604};
    uint32_t searches = 0, ended = 0;
    for (uint32_t k = 0; k < drawn(200) * COUNT_OF(shapes); k++) {
        arenaut_problem *p = random_problem(&r, &shapes[k % COUNT_OF(shapes)]);
        for (uint32_t t = 0; t < ARN_EXACT_TECHNIQUES; t++) {
            searches++;
            ended += search_rightly(p, 1u << t, k);
        }
        arenaut_problem_free(p);
    }
    assert_true(ended >= searches - searches / 100);
}

/* Of problems that are too large for a search of all addresses, the proof in pieces and one with
 * all runs together say the same; and there are some that end with neither but by the growing
 * proof. */
TEST(a_proof_in_pieces_says_what_one_in_a_run_says) {
    const problem_shape shape = {MOST_BUFFERS, 12, 40, ARENAUT_FEATURE_ALIGNMENT};
    rng r = {1605};
    uint32_t by_the_growing_proof = 0;
    for (uint32_t k = 0; k < 100; k++) {
        arenaut_problem *p = random_problem(&r, &shape);
        uint64_t together[MOST_BUFFERS] = {0}, apart[MOST_BUFFERS] = {0};
        arn_exact_output one = {.offset = together}, other = {.offset = apart};
        search(p, UINT64_MAX, 0, k, &one);
        search(p, 1, 0, k, &other);
        assert_int_equal(one.stopped_by, ARENAUT_STOP_PROOF);
        assert_int_equal(other.stopped_by, ARENAUT_STOP_PROOF);
        assert_int_equal(one.arena, other.arena);
        search(p, 1, 1u << ARN_EXACT_PROOFS, k, &other);
        by_the_growing_proof += other.stopped_by != ARENAUT_STOP_PROOF;
        arenaut_problem_free(p);
    }
    assert_true(by_the_growing_proof > 0);
}

/* ---- broken off ---- */

static arenaut_verdict stop(void *context) {
    (void)context;
    return ARENAUT_INTERRUPTED;
}

/* A run that is broken off after so many operations between nodes; then one that is not, from what
 * the first one has left. */
static void break_off(arn_exact_tree *t, arn_poll *poll, uint64_t operations, int64_t capacity) {
    poll->callback = stop;
    poll->counted = ARN_POLL_EVERY - operations;
    arn_exact_tree_run(t, capacity, 500);
    poll->callback = never_stop;
    poll->counted = 0;
    poll->verdict = ARENAUT_GO_ON;
    t->visited = 0;
    assert_int_equal(t->state.n_trail, 0);
    for (uint32_t c = 0; c < t->state.model->n_cliques; c++) {
        assert_int_equal(t->state.load[c], t->state.model->load[c]);
    }
}

/* Groups are placed item by item, so that a move may be broken off when some of them are. */
TEST(a_run_may_be_broken_off_within_a_move) {
    const problem_shape shape = {60, 9, 30, ARENAUT_FEATURE_INSIDE | ARENAUT_FEATURE_GAPS};
    rng r = {1606};
    uint32_t tied = 0;
    for (uint32_t k = 0; k < 40; k++) {
        arenaut_problem *p = random_problem(&r, &shape);
        arn_poll poll = {.callback = never_stop};
        exact_tree made;
        exact_tree_make(p, &poll, &made);
        tied += made.model.tied;
        for (uint64_t operations = 1; operations < 4000; operations += 1 + operations / 20) {
            made.tree.style.look_ahead = operations % 2;
            break_off(&made.tree, &poll, operations, made.model.bound);
        }
        exact_tree_free(&made);
        arenaut_problem_free(p);
    }
    assert_true(tied > 20);
}
