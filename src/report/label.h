/* Names in reports: of buffers, ops, steps, sizes. */
#ifndef ARN_REPORT_LABEL_H
#define ARN_REPORT_LABEL_H

#include <arenaut/report.h>

#include "core/writer.h"

typedef struct arn_label {
    char text[96];
} arn_label;

arn_label arn_report_commas(uint64_t n);                     /* 1,234,567 */
arn_label arn_report_percent(uint64_t part, uint64_t whole); /* 12.3 %, rounded to nearest */
arn_label arn_report_kib(uint64_t bytes);                    /* 54.0 KiB; 672 B below 1 KiB */
/* " for the kernels 'reference'", where the plan stands on them; else "". */
arn_label arn_report_kernels_label(const arenaut_result *result);
/* "not the same bits: ...", if tiles of the program may be rounded otherwise than the whole; else
 * "". */
arn_label arn_report_bits_label(const arenaut_result *result);
/* The same of so many ops. */
arn_label arn_report_rounded_label(uint32_t n_ops);

/* The buffer's name; bytes that could drive a terminal are '?'. Cut on the left, with dots,
 * to `columns` (3 or more, for the dots): the end of a layer's path says most. */
arn_label arn_report_buffer_label(const arenaut_result *result, uint32_t buffer, uint32_t columns);

arn_label arn_report_text_label(const char *text, uint32_t columns); /* likewise of any text */

/* "int8 [1,48,48,16]" of the tensor behind a buffer; "" if there is none. */
arn_label arn_report_shape_label(const arenaut_result *result, uint32_t buffer);

/* "op 4 DEPTHWISE_CONV_2D", "start of main", or "step 12" for a bare problem. */
arn_label arn_report_step_label(const arenaut_result *result, int64_t step);
arn_label arn_report_op_label(const arenaut_program *program, uint32_t op);

/* Length of the sequence at `p` if it is plain text, to be shown as it is; 0 for bytes that
 * are not UTF-8 or could drive a terminal. */
size_t arn_report_shown_length(const char *p);

/* Text from a file for a terminal: control characters and bad UTF-8 become '?'. */
void arn_report_put_clean(arn_writer *writer, const char *text);
void arn_report_put_spaces(arn_writer *writer, size_t n);
/* Characters that arn_report_put_clean and the labels show for `text`: one for each code point, and
 * one '?' for each byte that is none or is not shown. */
size_t arn_report_columns(const char *text);
/* width - used, or 0 if more is used, as a row may be too full. */
size_t arn_report_columns_left(size_t width, size_t used);

#endif
