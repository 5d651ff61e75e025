/* State of one method in a memory that others have too: the sweep finds a tensor of another method
 * over it where the search of all pairs does, and else one beside it. */
#include "support/test.h"

#include "check/method_state.h"
#include "ir/program.h"
#include "support/fuse.h"
#include "support/programs.h"
#include "support/thorough.h"

enum { TRIALS = 3000, MOST = 10, METHODS = 4 };

static const char *const names[METHODS] = {"first", "second", "third", "fourth"};

static arenaut_program *random_methods(rng *r) {
    arenaut_program *p = new_program();
    const arenaut_given_pool pools[2] = {{64, {0, 0}}, {64, {0, 0}}};
    for (uint32_t m = 0; m < METHODS; m++) {
        arenaut_error err = {0};
        begin_method(p, names[m]);
        assert_ok(arn_program_set_given_pools(p, m, pools, 2, &err), err);
        for (uint32_t n = rng_below(r, MOST / METHODS + 1); n > 0; n--) {
            const bool state = rng_once_in(r, 3);
            const uint32_t t = add_tensor(p, "t", 1 + rng_below(r, 16),
                                          state ? ARENAUT_STATE : ARENAUT_INTERMEDIATE);
            p->tensors[t].given_pool = rng_below(r, 2);
            p->tensors[t].given_offset = rng_below(r, 48);
        }
    }
    return p;
}

static bool meet(const arenaut_tensor *a, const arenaut_tensor *b, bool over) {
    if (a->cls != ARENAUT_STATE || a->method == b->method || a->given_pool != b->given_pool) {
        return false;
    }
    return !over || (a->given_offset < b->given_offset + b->bytes &&
                     b->given_offset < a->given_offset + a->bytes);
}

static bool some_pair_meets(const arenaut_program *p, bool over) {
    for (uint32_t a = 0; a < p->n_tensors; a++) {
        for (uint32_t b = 0; b < p->n_tensors; b++) {
            if (meet(&p->tensors[a], &p->tensors[b], over)) return true;
        }
    }
    return false;
}

TEST(the_sweep_finds_what_all_pairs_hold) {
    uint32_t seen[3] = {0, 0, 0};
    for (uint64_t seed = 0; seed < TRIALS * thorough(); seed++) {
        rng r = {seed};
        arenaut_program *p = random_methods(&r);
        const bool over = some_pair_meets(p, true), beside = some_pair_meets(p, false);
        arenaut_finding finding;
        const arenaut_status st = arn_check_method_state(p, p, NULL, &finding, NULL);
        assert_int_equal(st, beside ? ARENAUT_REJECTED : ARENAUT_OK);
        if (beside) {
            assert_int_equal(strstr(finding.msg, ": it is overwritten") != NULL, over);
            assert_true(meet(&p->tensors[finding.a], &p->tensors[finding.b], over));
        }
        seen[over ? 2 : beside]++;
        arn_program_free(p);
    }
    for (int i = 0; i < 3; i++) assert_true(seen[i] > TRIALS / 20);
}

static arenaut_status attempt(void *context, const arenaut_allocator *allocator) {
    arenaut_program *p = context;
    arenaut_finding finding;
    return arn_check_method_state(p, p, allocator, &finding, NULL);
}

TEST(it_survives_running_out_of_memory) {
    arenaut_program *p = new_program();
    begin_method(p, "alone");
    (void)add_tensor(p, "t", 16, ARENAUT_STATE);
    survives_every_allocation_failure(attempt, p);
    arn_program_free(p);
}
