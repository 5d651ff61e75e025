/* Figures of the tilings of a program, for pictures and pages. */
#ifndef ARN_REPORT_WAYS_H
#define ARN_REPORT_WAYS_H

#include <arenaut/result.h>

#include "core/writer.h"

/* NULL if nothing was tiled, or no search was made. */
const arenaut_split_front *arn_report_ways(const arenaut_result *result);
/* Bytes to be reserved at least, with the runtime's own. */
uint64_t arn_report_way_needs(const arenaut_result *result, const arenaut_split_choice *way);
/* "0-7/4:kept,9-10/2:rows", or "as it is". */
void arn_report_put_stages(arn_writer *out, const arenaut_split_choice *way);

#endif
