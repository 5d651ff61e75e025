/* Internals of the types of ir/, shared among their files. */
#ifndef ARN_IR_STORE_H
#define ARN_IR_STORE_H

#include <stddef.h>

#include <arenaut/expr.h>
#include <arenaut/plan.h>
#include <arenaut/problem.h>
#include <arenaut/program.h>

#include "core/memory.h"

/* The range of an expression from those of its symbols, and its size when written out. Kept with
 * it, so that queries cost nothing and walks stay short. */
typedef struct arn_expr_facts {
    int64_t min, max; /* min > max: its divisor can only be zero */
    uint32_t parts, depth;
} arn_expr_facts;

struct arenaut_program_store {
    arn_region region;
    arenaut_allocator allocator;
    arenaut_program program;
    uint32_t tensors, ops, methods;      /* capacities */
    uint32_t symbols, exprs, expr_facts; /* likewise */
    arn_expr_facts *facts;               /* per expression */
    bool sampled;                        /* `shapes` looked at some of its symbols' values only */
};

/* The allocator of a problem that the library made; NULL (the C library) for one whose
 * arrays the caller owns. */
const arenaut_allocator *arn_problem_allocator(const arenaut_problem *problem);

/* Whether arenaut_problem_finish has seen all that was added; true if the caller owns the
 * arrays. */
bool arn_problem_is_finished(const arenaut_problem *problem);
/* Sorts and merges the relations of a problem, and gives it a pool if it has none: all of
 * arenaut_problem_finish but the validation. NO_MEMORY. */
arenaut_status arn_problem_settle(arenaut_problem *problem, arenaut_error *err);
const arenaut_allocator *arn_program_allocator(const arenaut_program *program);

/* A copy that lives as long as the plan; NULL if there is no memory. */
void *arn_plan_allocate(arenaut_plan *plan, size_t n, size_t size); /* as long as the plan */
const char *arn_plan_copy_text(arenaut_plan *plan, const char *text, size_t length);
/* A plan that is not proven best was not stopped by a proof either. */
void arn_plan_call_feasible(arenaut_plan *plan);

/* The symbol of that name; NONE if there is none. A walk over the symbols. */
uint32_t arn_program_find_symbol(const arenaut_program *program, const char *name);

/* Whether two tensors have the same sizes for certain: equal numbers, or expressions that are equal
 * part by part, dimension by dimension. An unknown size equals nothing. */
bool arn_program_same_sizes(const arenaut_program *program, const arenaut_tensor *a,
                            const arenaut_tensor *b);

/* From now on they take and release memory through `allocator`, which must be able to release
 * blocks of the one before. NULL is fine for the objects. */
void arn_problem_use_allocator(arenaut_problem *problem, const arenaut_allocator *allocator);
void arn_plan_use_allocator(arenaut_plan *plan, const arenaut_allocator *allocator);
void arn_program_use_allocator(arenaut_program *program, const arenaut_allocator *allocator);

#endif
