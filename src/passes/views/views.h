/* Views between layouts, and names for memory that another tensor has. */
#ifndef ARN_PASSES_VIEWS_VIEWS_H
#define ARN_PASSES_VIEWS_VIEWS_H

#include <arenaut/error.h>
#include <arenaut/program.h>

/* Whether `to` may be another shape of just the elements of `from`, in their order, with the
 * strides that it has: else an operator that may return a view has copied. For sizes that vary it
 * must hold for all of them. O(ranks). */
bool arn_pass_is_reshaped_view(const arenaut_tensor *from, const arenaut_tensor *to);

/* Makes `to` a name for memory of `from`. Where in it, its file has said; sizes that vary are
 * fitted into it when they are known. False if it cannot lie there. */
bool arn_pass_alias(arenaut_program *program, uint32_t from, uint32_t to);

/* Makes the results of an update names of the updated operands: by the op's pairs, else of the
 * first; BAD_INPUT for one that does not fit there. */
arenaut_status arn_pass_name_updated(arenaut_program *program, const arenaut_op *op,
                                     arenaut_error *err);

#endif
