/* Common parts of the files of the report "header". */
#ifndef ARN_REPORT_HEADER_REPORT_H
#define ARN_REPORT_HEADER_REPORT_H

#include <arenaut/result.h>

#include "core/writer.h"

/* The alignment of a pool's start with which all offsets in it are aligned. */
uint64_t arn_report_pool_alignment(const arenaut_result *result, uint32_t pool);

/* The place of a tensor; false if it is in no pool. */
bool arn_report_tensor_place(const arenaut_result *result, uint32_t tensor, uint32_t *pool,
                             uint64_t *offset);

/* The plan as a static program of the runtime, for code that includes its header first. */
void arn_report_put_program(arn_writer *out, const arenaut_result *result, const char *lower,
                            const char *upper);

#endif
