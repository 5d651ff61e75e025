/* Views between layouts, and names for memory that another tensor has. */
#ifndef ARN_PASSES_VIEWS_VIEWS_H
#define ARN_PASSES_VIEWS_VIEWS_H

#include <arenaut/error.h>
#include <arenaut/program.h>

/* Whether `to` may be another shape of just the elements of `from`, in their order, with the
 * strides that it has: else an operator that may return a view has copied. For sizes that vary it
 * must hold for all of them. O(ranks). */
bool arn_pass_is_reshaped_view(const arenaut_tensor *from, const arenaut_tensor *to);

#endif
