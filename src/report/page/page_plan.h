/* One planned input as the page reads it. */
#ifndef ARN_REPORT_PAGE_PLAN_H
#define ARN_REPORT_PAGE_PLAN_H

#include <arenaut/result.h>

#include "core/writer.h"

/* A JSON object, see explorer/src/model.js; `with_problem`: with the data needed to plan again. */
arenaut_status arn_page_put_plan(arn_writer *out, const arenaut_result *result, bool with_problem,
                                 const arenaut_allocator *allocator, arenaut_error *err);

/* The last component of the path: a page is shown to others. */
const char *arn_page_file_name(const arenaut_result *result);

#endif
