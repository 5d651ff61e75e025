/* Entry of the reader of IREE's programs. */
#ifndef ARN_FORMATS_IREE_IREE_H
#define ARN_FORMATS_IREE_IREE_H

#include <arenaut/format.h>

/* Gives a problem, of which each slab is a pool. */
arenaut_status arn_iree_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                             const arenaut_allocator *allocator, arenaut_document *out,
                             arenaut_error *err);

#endif
