/* A model, on its way through reordering. */
#ifndef SUPPORT_ORDER_ROUND_H
#define SUPPORT_ORDER_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What must hold for any bytes, of whatever format: they are refused with a message, or what is
 * said of their orders is true (of few ops, by all orders), and what is written in the order that
 * was found is read back, with the plan that was made where the file holds one, and found to be
 * right. With operands that may be overwritten, and without. Aborts, with a line on standard error,
 * if it does not. True if something is known of orders. */
bool order_property(const uint8_t *data, size_t size);

#endif
