/* The bytes that go in front of a model to give it a plan. */
#ifndef ARN_FORMATS_TFLITE_TFLITE_PREFIX_H
#define ARN_FORMATS_TFLITE_TFLITE_PREFIX_H

#include "formats/tflite/tflite.h"

/* Makes the prefix: a new root table that shares all but two vectors with the old one, the
 * two vectors with one more plan and mark (entries of those names are left out), and the
 * plan itself, `plan_size` bytes. mark->prefix_size and original_size are filled in.
 * REFUSED for a model that cannot have anything in front of it. */
arenaut_status arn_tflite_make_prefix(arn_tflite_model *model, const uint8_t *plan,
                                      size_t plan_size, arn_tflite_mark *mark,
                                      const arenaut_allocator *allocator, uint8_t **prefix,
                                      arenaut_error *err);

#endif
