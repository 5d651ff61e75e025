/* Replay of random programs, held against the oracle; and of one that is large. */
#include "support/replay_scene.h"

#include <stdlib.h>
#include <time.h>

#include "ir/program.h"
#include "support/drawn.h"
#include "support/replay_oracle.h"

/* ---- random programs against the oracle ---- */

/* Moves one tensor: onto another, beside one, or anywhere. */
static void move_one(rng *r, scene *s) {
    const uint32_t n = s->p->n_tensors, t = rng_below(r, n), other = rng_below(r, n);
    if (rng_once_in(r, 40)) {
        s->pool[t] = ARENAUT_NONE;
    } else if (rng_once_in(r, 2)) {
        s->pool[t] = s->pool[other];
        s->offset[t] = s->offset[other] + (rng_once_in(r, 2) ? 0 : rng_below(r, 4));
    } else {
        s->pool[t] = rng_below(r, 2);
        s->offset[t] = rng_below(r, 40) + (rng_once_in(r, 10) ? 190 : 0);
    }
    /* Mostly, arguments in the same memory move together. */
    const uint32_t storage = arenaut_program_storage(s->p, t, NULL);
    for (uint32_t i = 0; i < n && !rng_once_in(r, 30); i++) {
        uint64_t delta, own;
        const bool view = arenaut_program_storage(s->p, i, &delta) == storage;
        const bool named = s->p->tensors[t].qualified_name && s->p->tensors[i].qualified_name;
        (void)arenaut_program_storage(s->p, t, &own);
        if (i == t || (!view && !named) || s->offset[t] < own) continue;
        s->pool[i] = s->pool[t];
        s->offset[i] = s->offset[t] - own + delta;
    }
}

static void start_apart(scene *s) {
    for (uint32_t t = 0; t < s->p->n_tensors; t++) {
        uint64_t delta;
        const uint32_t storage = arenaut_program_storage(s->p, t, &delta);
        s->pool[t] = storage % 2;
        s->offset[t] = storage / 2 * 4 + delta;
    }
    for (uint32_t t = 0, first = ARENAUT_NONE; t < s->p->n_tensors; t++) {
        if (!s->p->tensors[t].qualified_name) continue;
        if (first == ARENAUT_NONE) first = t;
        for (uint32_t i = 0; i < s->p->n_tensors; i++) {
            uint64_t delta;
            if (arenaut_program_storage(s->p, i, &delta) != t) continue;
            s->pool[i] = s->pool[first];
            s->offset[i] = s->offset[first] + delta;
        }
    }
}

TEST(checker_and_oracle_agree_on_random_programs) {
    enum { MOVES = 40 };
    const uint32_t seeds = drawn(1500);
    uint32_t accepted = 0, rules[ARENAUT_RULE_COUNT] = {0};
    for (uint32_t seed = 0; seed < seeds; seed++) {
        rng r = {seed};
        scene s = {.p = random_program(&r), .arena = {ORACLE_BYTES, 200}};
        s.options.only_method = arenaut_id(rng_once_in(&r, 10) ? 0 : ARENAUT_NONE);
        s.options.keep_inputs = rng_once_in(&r, 4);
        s.options.exclude_io = rng_once_in(&r, 4);
        start_apart(&s);
        for (int move = 0; move < MOVES; move++) {
            const scene before = s;
            if (move > 0) move_one(&r, &s);
            const arenaut_placement placement = {s.p->n_tensors, 2, s.pool, s.offset, s.arena};
            const bool right = oracle_accepts_replay(s.p, &placement, &s.options);
            const arenaut_status status = replay(&s, NULL);
            if (status != (right ? ARENAUT_OK : ARENAUT_REJECTED)) {
                fail_msg("seed %u, move %d: the oracle says %s, the checker %s: %s", seed, move,
                         right ? "right" : "wrong", arenaut_status_text(status), s.err.msg);
            }
            accepted += right;
            rules[s.finding.rule]++;
            if (!right && move > 0) s = before; /* go on from the right one */
        }
        close_scene(&s);
    }
    print_message("%u of %u placements right\n", accepted, seeds * MOVES);
    for (int i = ARENAUT_RULE_OUTSIDE; i < ARENAUT_RULE_COUNT; i++) {
        print_message("  %-12s %u\n", arenaut_rule_name((arenaut_rule)i), rules[i]);
        /* Where ops run one after another, none races another; no signature states stale values,
         * nothing was rewritten, and no order was proven. */
        const bool never = i == ARENAUT_RULE_RACE || i == ARENAUT_RULE_STALE ||
                           i == ARENAUT_RULE_REWRITE || i == ARENAUT_RULE_ORDER;
        assert_true(never ? rules[i] == 0 : rules[i] > seeds / 20);
    }
    assert_true(accepted > seeds * MOVES / 4);
}

/* ---- scale ---- */

/* A chain with long skips: each op reads its predecessor and one from far back. */
TEST(two_hundred_thousand_ops_take_little_time) {
    enum { N = 200000, BACK = 50000 };
    arenaut_program *p = new_program();
    uint32_t *pool = calloc(N, sizeof *pool);
    uint64_t *offset = calloc(N, sizeof *offset);
    assert_non_null(pool);
    assert_non_null(offset);
    begin_method(p, "main");
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t t = add_tensor(p, NULL, 64, ARENAUT_INTERMEDIATE);
        offset[t] = (uint64_t)(i % (BACK + 1)) * 64;
        if (i >= BACK) {
            ADD_OP(p, IN(t - 1, t - BACK), OUT(t));
        } else if (i > 0) {
            ADD_OP(p, IN(t - 1), OUT(t));
        }
    }
    FINISH(p, LIST(0), LIST(N - 1));
    const arenaut_placement placement = {N, 1, pool, offset, NULL};
    arenaut_finding finding;
    arenaut_error err = {0};
    const clock_t begin = clock();
    assert_ok(arenaut_check_replay(p, &placement, NULL, NULL, &finding, &err), err);
    print_message("%d ops, twice: %.2f s\n", N, (double)(clock() - begin) / CLOCKS_PER_SEC);
    offset[N / 2] += 1; /* one byte into an operand of this very op */
    assert_int_equal(arenaut_check_replay(p, &placement, NULL, NULL, &finding, &err),
                     ARENAUT_REJECTED);
    assert_int_equal(finding.rule, ARENAUT_RULE_ARGUMENTS);
    free(pool);
    free(offset);
    arn_program_free(p);
}
