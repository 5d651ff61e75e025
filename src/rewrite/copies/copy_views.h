/* Materialized views of a part, so that the base of the view can die before their readers run. */
#ifndef ARN_REWRITE_COPIES_COPY_VIEWS_H
#define ARN_REWRITE_COPIES_COPY_VIEWS_H

#include <arenaut/rewrite.h>

/* A view that may be materialized: its dialect has an op that does the same in new memory, and its
 * result is dense. arenaut_check_rewrite decides whether that computes the same: the viewed memory
 * must not be updated afterwards. */
bool arn_view_may_be_copy(const arenaut_program *program, uint32_t op);

/* Materializes these views, ops of `program` in ascending order, as a rewrite, which takes
 * `program` over if all goes well. BAD_ARGUMENT if one of them may be no copy. */
arenaut_status arn_copy_views(arenaut_program *program, const uint32_t *ops, uint32_t n,
                              arenaut_rewrite **out, arenaut_error *err);

#endif
