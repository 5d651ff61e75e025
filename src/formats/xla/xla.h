/* Entry of the reader of XLA's dumps. */
#ifndef ARN_FORMATS_XLA_XLA_H
#define ARN_FORMATS_XLA_XLA_H

#include <arenaut/format.h>

/* Gives a problem, and the plan that XLA made for it. */
arenaut_status arn_xla_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                            const arenaut_allocator *allocator, arenaut_document *out,
                            arenaut_error *err);

#endif
