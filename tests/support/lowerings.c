#include "support/lowerings.h"

#include <inttypes.h>

#include "ir/program.h"
#include "support/test.h"

arenaut_lowering *lower_for(const arenaut_program *program, const arenaut_target *target,
                            const arenaut_lowering_options *options) {
    arenaut_lowering *lowering = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_lower(program, target, options, NULL, &lowering, &err), err);
    return lowering;
}

arenaut_lowering *lower_program(const arenaut_program *program, const char *target) {
    const arenaut_target *row = arenaut_target_find(target);
    assert_non_null(row);
    return lower_for(program, row, NULL);
}

void free_lowering(arenaut_lowering *lowering, arenaut_program *program) {
    arenaut_lowering_free(lowering);
    arn_program_free(program);
}

uint32_t buffer_named(const arenaut_lowering *lowering, const char *name) {
    const arenaut_problem *problem = lowering->problem;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (problem->name && problem->name[b] && strcmp(problem->name[b], name) == 0) return b;
    }
    return ARENAUT_NONE;
}

void expect_life(const arenaut_lowering *lowering, const char *name, const char *expected) {
    const arenaut_problem *problem = lowering->problem;
    const uint32_t b = buffer_named(lowering, name);
    char found[256] = "none";
    size_t used = 0;
    for (uint32_t i = 0; b != ARENAUT_NONE && i < arenaut_problem_lifetime_count(problem, b); i++) {
        const arenaut_interval life = arenaut_problem_lifetimes(problem, b)[i];
        used += (size_t)snprintf(found + used, sizeof found - used, "%s[%" PRId64 ",%" PRId64 ")",
                                 used ? " " : "", life.first, life.end);
        assert_true(used < sizeof found);
    }
    if (strcmp(found, expected) != 0) {
        fail_msg("'%s' is alive %s, expected %s", name, found, expected);
    }
}

void expect_base(const arenaut_lowering *lowering, const char *child, const char *base) {
    const uint32_t b = buffer_named(lowering, child);
    assert_int_not_equal(b, ARENAUT_NONE);
    const uint32_t found = arenaut_problem_same_base(lowering->problem, b);
    const uint32_t wanted = base ? buffer_named(lowering, base) : ARENAUT_NONE;
    if (base) assert_int_not_equal(wanted, ARENAUT_NONE);
    if (found != wanted) {
        char store[24];
        fail_msg("'%s' may be written over %s, expected %s", child,
                 found == ARENAUT_NONE
                     ? "nothing"
                     : arenaut_problem_buffer_name(lowering->problem, found, store),
                 base ? base : "nothing");
    }
}
