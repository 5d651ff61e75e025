/* State that methods share by its qualified name, and the differences between two tensors of one
 * name, which must be equal in all methods. */
#ifndef ARN_IR_SHARED_STATE_H
#define ARN_IR_SHARED_STATE_H

#include <arenaut/program.h>

/* Differences, the first to be named first. */
typedef enum arn_difference {
    ARN_SAME,
    ARN_OTHER_TYPE,
    ARN_OTHER_SIZE,
    ARN_OTHER_SHAPE,
    ARN_OTHER_STRIDES,
    ARN_OTHER_DEVICE,
    ARN_OTHER_VALUE,
} arn_difference;

enum { ARN_DIFFERENCE_TEXT = 96 };

/* Shapes, strides and first values count where both tensors state them; strides of dimensions
 * with one element say nothing. O(rank). */
arn_difference arn_shared_state_compare(const arenaut_tensor *a, const arenaut_tensor *b);

/* "another size", "other strides", … */
const char *arn_shared_state_word(arn_difference difference);

/* The tensor's side of the difference: "64 bytes", "[4, 4]", … Returns `text`. */
const char *arn_shared_state_tell(arn_difference difference, const arenaut_tensor *tensor,
                                  char text[ARN_DIFFERENCE_TEXT]);

/* BAD_INPUT, with methods, tensors and the difference, if these two of one name differ. */
arenaut_status arn_shared_state_check(const arenaut_program *program, uint32_t a, uint32_t b,
                                      arenaut_error *err);

#endif
