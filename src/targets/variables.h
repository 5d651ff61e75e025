/* Variables that ops read and give values by a handle, not tensors that are state. */
#ifndef ARN_TARGETS_VARIABLES_H
#define ARN_TARGETS_VARIABLES_H

#include <arenaut/program.h>

typedef struct arn_variables {
    uint32_t n;     /* by their names */
    uint64_t bytes; /* of all that get a value in the method that names them, each rounded up */
} arn_variables;

/* TOO_LARGE past 2^63 - 1 bytes. O(tensors + ops), and the names. */
arenaut_status arn_count_variables(const arenaut_program *program, uint64_t align,
                                   const arenaut_allocator *allocator, arn_variables *variables,
                                   arenaut_error *err);

#endif
