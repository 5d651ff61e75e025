/* The problem of a plan, as far as the page needs it to plan again. */
#ifndef ARN_REPORT_PAGE_PROBLEM_H
#define ARN_REPORT_PAGE_PROBLEM_H

#include <arenaut/problem.h>

#include "core/writer.h"

/* A JSON object of columns beside those of the plan, see explorer/src/replan.js. */
void arn_page_put_problem(arn_writer *out, const arenaut_problem *problem);

#endif
