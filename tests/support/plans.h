/* Plans of one planner, held against offsets that are written out. */
#ifndef SUPPORT_PLANS_H
#define SUPPORT_PLANS_H

#include <arenaut/lowering.h>
#include <arenaut/planner.h>

/* The planner's plan, which the checker has passed; the caller frees it. */
arenaut_plan *plan_by(const arenaut_problem *problem, const char *planner);

/* Fails the test naming the first buffer that lies elsewhere. */
void assert_plan_lies_at(const arenaut_plan *plan, const uint64_t *offsets);
/* The same of plan_by; frees the problem. */
void assert_offsets(arenaut_problem *problem, const char *planner, const uint64_t *offsets);
/* Fails the test unless the plan passes the checker and, over the program, the replay. */
void assert_plan_stands(const arenaut_program *program, const arenaut_lowering *lowering,
                        const arenaut_plan *plan);
#define OFFSETS(...) \
    (const uint64_t[]) { __VA_ARGS__ }

/* The problem of a CSV file, sizes rounded up to 64 bytes, with these traits; the caller
 * frees it. */
arenaut_problem *rounded_problem(const char *path, uint32_t traits);

#endif
