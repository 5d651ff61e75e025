/* Columns of numbers and of names in the data of the page, as explorer/src/decode.js reads them. */
#ifndef ARN_REPORT_PAGE_COLUMNS_H
#define ARN_REPORT_PAGE_COLUMNS_H

#include "core/writer.h"

/* Three bytes as four characters of RFC 4648, for data in an HTML page. */
typedef struct arn_base64 {
    arn_writer *out;
    unsigned char held[3];
    unsigned n_held;
} arn_base64;

typedef uint64_t (*arn_column_value)(const void *context, uint32_t i);
typedef const char *(*arn_column_text)(const void *context, uint32_t i); /* NULL: there is none */

/* "name": {...}: `n` numbers in the shortest of three ways. Each is called for twice. */
void arn_put_column(arn_writer *out, const char *name, uint32_t n, arn_column_value value,
                    const void *context);
/* "name": {...}: `n` texts, each as its difference from the one before. The bytes are the file's
 * own, of any encoding. */
void arn_put_text_column(arn_writer *out, const char *name, uint32_t n, arn_column_text text,
                         const void *context);

#endif
