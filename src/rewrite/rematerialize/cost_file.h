/* The cost file: measured times of ops. */
#ifndef ARN_REWRITE_REMATERIALIZE_COST_FILE_H
#define ARN_REWRITE_REMATERIALIZE_COST_FILE_H

#include <arenaut/program.h>

/* Reads a cost file: CSV with the header method,op,nanoseconds, a row for each op that it knows:
 * its method by name or number (empty: the first) and its number there. Lines that begin with '#'
 * are comments. *costs, per op of the program, is the caller's, to be released with `allocator`.
 * BAD_INPUT with the line in err->at for unknown methods and ops, and text that is no time. */
arenaut_status arn_costs_read(const char *text, size_t size, const arenaut_program *program,
                              const arenaut_allocator *allocator, uint64_t **costs,
                              arenaut_error *err);

#endif
