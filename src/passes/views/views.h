/* Which layouts are views of which. */
#ifndef ARN_PASSES_VIEWS_VIEWS_H
#define ARN_PASSES_VIEWS_VIEWS_H

#include <arenaut/program.h>

/* Whether `to` may be another shape of just the elements of `from`, in their order, with the
 * strides that it has: else an operator that may return a view has copied. Of sizes that vary
 * only what holds for all of them counts. O(ranks). */
bool arn_pass_is_reshaped_view(const arenaut_tensor *from, const arenaut_tensor *to);

#endif
