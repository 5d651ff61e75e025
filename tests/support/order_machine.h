/* Random small programs with many schedules: branches, updates of state, views, ops with several
 * results and ops with side effects. Needs no test framework, so that it runs alone for any length
 * of time (fuzz/machine_order.c). */
#ifndef SUPPORT_ORDER_MACHINE_H
#define SUPPORT_ORDER_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the program of this seed, as JSON, and applies order_property (order_round.h), which
 * aborts. True if it has a schedule and bound. */
bool order_machine_try(uint64_t seed);

#endif
