/* The extent of a layout in memory. */
#ifndef ARN_IR_EXTENT_H
#define ARN_IR_EXTENT_H

#include <arenaut/program.h>

/* As arenaut_dense_bytes, of elements with so many lanes (program.h). */
arenaut_status arn_tensor_dense_bytes(arenaut_dtype dtype, uint32_t lanes, const int64_t *dims,
                                      uint32_t rank, uint64_t *bytes, arenaut_error *err);

/* Bytes from a tensor's first element to behind its last, with its strides if it has any.
 * BAD_INPUT for a negative dimension or stride, TOO_LARGE past 2^63 - 1 bits, UNSUPPORTED
 * for a type without fixed size. */
arenaut_status arn_tensor_extent_bytes(const arenaut_tensor *tensor, uint64_t *bytes,
                                       arenaut_error *err);

#endif
