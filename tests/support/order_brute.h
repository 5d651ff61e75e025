/* All orders of a small problem. */
#ifndef SUPPORT_ORDER_BRUTE_H
#define SUPPORT_ORDER_BRUTE_H

#include <arenaut/order.h>

enum { ORDER_BRUTE_OPS = 12 }; /* at most */

/* The least peak of all orders, found set by set of what has run. */
uint64_t order_brute_peak(const arenaut_order_problem *problem);

#endif
