/* Counts of operands of ops, as kernels were measured with them. */
#ifndef ARN_KERNELS_OPERAND_COUNTS_H
#define ARN_KERNELS_OPERAND_COUNTS_H

#include <arenaut/program.h>

/* Whether an op of a micro runtime has as many operands and results as its kernel wants, lacks none
 * that it reads, and no operand past the third is of another type; true for ops that no row is
 * about. O(rows + operands). */
bool arn_has_usual_operands(const arenaut_program *p, const arenaut_op *op);

#endif
