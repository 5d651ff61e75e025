/* What the types of ir/ keep to themselves but share among their files. */
#ifndef ARN_IR_STORE_H
#define ARN_IR_STORE_H

#include <stddef.h>

#include <arenaut/plan.h>
#include <arenaut/problem.h>
#include <arenaut/program.h>

/* The allocator of a problem that the library made; NULL (the C library) for one whose
 * arrays the caller owns. */
const arenaut_allocator *arn_problem_allocator(const arenaut_problem *problem);
const arenaut_allocator *arn_program_allocator(const arenaut_program *program);

/* A copy that lives as long as the plan; NULL if there is no memory. */
const char *arn_plan_copy_text(arenaut_plan *plan, const char *text, size_t length);

/* From now on they take and release memory through `allocator`, which must be able to
 * release what the one before gave. NULL is fine for the things. */
void arn_problem_use_allocator(arenaut_problem *problem, const arenaut_allocator *allocator);
void arn_plan_use_allocator(arenaut_plan *plan, const arenaut_allocator *allocator);
void arn_program_use_allocator(arenaut_program *program, const arenaut_allocator *allocator);

#endif
