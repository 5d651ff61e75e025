/* Slow and obvious: whether a plan is right, byte by byte and step by step. The checker is
 * compared with this, so it must not be clever. */
#ifndef SUPPORT_ORACLE_H
#define SUPPORT_ORACLE_H

#include <arenaut/plan.h>
#include <arenaut/problem.h>

/* Whether every placement rule holds. Looks at pool and offset only, not at the plan's claims about
 * its arena and bounds. O(n² × lifetimes). */
bool oracle_accepts_placement(const arenaut_problem *problem, const arenaut_plan *plan);

/* The same for buffer `b` alone and with each buffer before it: the test of a random planner's next
 * try. */
bool oracle_accepts_buffer(const arenaut_problem *problem, const arenaut_plan *plan, uint32_t b);

/* The most bytes alive at one step over all pools together, each same-base pair counted as
 * its larger half would have to be, and slices not at all: no valid plan is smaller. */
uint64_t oracle_max_load(const arenaut_problem *problem);

/* Passes `plan` through arenaut_check_plan and fails the test with the finding. */
void assert_plan_accepted(const arenaut_problem *problem, const arenaut_plan *plan);

/* The certificate of what a plan claims, and its check, for allocators that fail. */
typedef struct claimed_plan {
    const arenaut_problem *problem;
    const arenaut_plan *plan;
} claimed_plan;
arenaut_status certify_and_check(void *context, const arenaut_allocator *allocator);

/* Whether arenaut_plan_make gave no answer, though there may be a plan: the planner lacks a
 * feature, found no plan, or was stopped. */
bool is_no_answer(arenaut_status st);

/* Whether it answered: OK with a plan that can be used, or NO_PLAN with an infeasible one. Fails
 * the test where status and plan contradict each other. */
bool is_answer(arenaut_status st, const arenaut_plan *plan);

/* The same of a call's status, as an assertion; a NO_PLAN must have said why. The call comes
 * before its plan is looked at. */
#define assert_answered(call, plan, err)           \
    do {                                           \
        const arenaut_status answered_st = (call); \
        check_answer(answered_st, (plan), (err));  \
    } while (0)
void check_answer(arenaut_status st, const arenaut_plan *plan, const arenaut_error *err);

#endif
