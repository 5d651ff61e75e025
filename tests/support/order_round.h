/* The reordering of a model as a property of bytes. */
#ifndef SUPPORT_ORDER_ROUND_H
#define SUPPORT_ORDER_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Property of any bytes, of whatever format: they are refused with a message, or the claims about
 * their schedules are true (with few ops, by all schedules), and the written file is read back,
 * with its plan if it holds one, and accepted. With in-place operands, and without. Aborts, with a
 * line on standard error, if not. True if there are schedules and bounds. */
bool order_property(const uint8_t *data, size_t size);

#endif
