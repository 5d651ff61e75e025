/* Results inside the library. */
#ifndef ARN_IR_RESULT_H
#define ARN_IR_RESULT_H

#include <arenaut/result.h>

/* The kernels that the plan was made for, whether or not it stands on them, so that a plan made of
 * it is made with the same rights: those in use or, for a bare problem, as the plan's file states
 * them. Without a name: not known. */
arenaut_given_kernels arn_result_made_for(const arenaut_result *result);

#endif
