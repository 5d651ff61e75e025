/* A check of exported programs with several methods: state among the values of other methods. */
#ifndef ARN_CHECK_METHOD_STATE_H
#define ARN_CHECK_METHOD_STATE_H

#include <arenaut/check.h>

/* Looks for state of one method in a memory that another method has as well, best where a tensor of
 * that one lies over it. Such state lasts from call to call where each method has memory of its
 * own, and by chance where all have one; the runtime decides which it is, so that nothing about the
 * places is wrong. A memory with state that several methods have in common is one for all of them
 * and does not count. `read` is the program as its reader made it, `program` the same behind
 * passes. Returns as arenaut_check_plan, with the rule STATE_LOST. O(tensors · log). */
arenaut_status arn_check_method_state(const arenaut_program *read, const arenaut_program *program,
                                      const arenaut_allocator *allocator, arenaut_finding *finding,
                                      arenaut_error *err);

#endif
