/* Plain calls: a branch with one method for both cases, so that its condition decides nothing. The
 * micro runtime has no other way to run the same ops at several places. */
#ifndef ARN_IR_PLAIN_CALL_H
#define ARN_IR_PLAIN_CALL_H

#include <arenaut/program.h>

/* The arguments are copied to the method's inputs before its first op, and its results from there
 * to the op's outputs after the last. */
static inline bool arn_is_plain_call(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_IF && op->n_calls == 2 && op->calls[0] == op->calls[1];
}

#endif
