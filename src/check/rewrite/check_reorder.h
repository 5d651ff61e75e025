/* Check that a reordered program computes the same as before. */
#ifndef ARN_CHECK_CHECK_REORDER_H
#define ARN_CHECK_CHECK_REORDER_H

#include <arenaut/check.h>

/* Both programs are valid. As arenaut_check_rewrite. */
arenaut_status arn_check_reorder(const arenaut_program *before, const arenaut_rewrite *rewrite,
                                 const arenaut_allocator *allocator, arenaut_finding *finding,
                                 arenaut_error *err);

#endif
