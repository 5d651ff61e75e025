/* A .tflite file that holds a plan, on its way through all that is done with one. */
#ifndef SUPPORT_TFLITE_PLANNED_ROUND_H
#define SUPPORT_TFLITE_PLANNED_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What must hold for any bytes: the plan in them is accepted, found wrong, or refused with a
 * message. With results over operands and without, what is planned anew and written is the plan
 * that was made when it is read again, and the checker accepts it; and it can be taken out, unless
 * what is left would be no model. Aborts, with a line on standard error, if it does not. True if
 * something was written. */
bool tflite_planned_property(const uint8_t *data, size_t size);

#endif
