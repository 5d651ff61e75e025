/* A .tflite file that holds a plan, through all its uses. */
#ifndef SUPPORT_TFLITE_PLANNED_ROUND_H
#define SUPPORT_TFLITE_PLANNED_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Property of any bytes: the plan in them is accepted, found wrong, or refused with a message. With
 * results over operands and without, a new plan that is written is read back equal, and the checker
 * accepts it; and it can be taken out, unless the rest would be no model. Aborts, with a line on
 * standard error, if it does not. True if something was written. */
bool tflite_planned_property(const uint8_t *data, size_t size);

#endif
