/* A check of exported programs with several methods: state among the values of other methods. */
#ifndef ARN_CHECK_METHOD_STATE_H
#define ARN_CHECK_METHOD_STATE_H

#include <arenaut/check.h>

/* Looks for state of one method that lies in a memory which another method has as well, for values
 * of its own. It keeps its bytes from call to call only where each method has memory of its own,
 * which is the runtime's to decide, so that nothing about the places is wrong. State that several
 * methods have in common keeps its bytes in all of them, and so does all state beside it. `read` is
 * the program as its reader made it, `program` the same behind passes. Returns as
 * arenaut_check_plan, with the rule STATE_LOST. O(tensors + names ·
 * log). */
arenaut_status arn_check_method_state(const arenaut_program *read, const arenaut_program *program,
                                      const arenaut_allocator *allocator, arenaut_finding *finding,
                                      arenaut_error *err);

#endif
