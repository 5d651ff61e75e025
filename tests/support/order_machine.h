/* Random small programs whose ops can run in many orders: branches, updates of state, views, ops
 * with several results and ops that may do more than compute. Needs no test framework, so that it
 * runs alone for as long as one likes (fuzz/machine_order.c). */
#ifndef SUPPORT_ORDER_MACHINE_H
#define SUPPORT_ORDER_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the program of this seed, as JSON, and holds the library to order_property
 * (order_round.h) with it, which aborts. True if something is known of its orders. */
bool order_machine_try(uint64_t seed);

#endif
