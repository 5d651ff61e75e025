/* What the types of ir/ keep to themselves but share among their files. */
#ifndef ARN_IR_STORE_H
#define ARN_IR_STORE_H

#include <arenaut/problem.h>
#include <arenaut/program.h>

/* The allocator of a problem that the library made; NULL (the C library) for one whose
 * arrays the caller owns. */
const arenaut_allocator *arn_problem_allocator(const arenaut_problem *problem);
const arenaut_allocator *arn_program_allocator(const arenaut_program *program);

#endif
