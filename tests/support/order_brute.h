/* All schedules of a small problem. */
#ifndef SUPPORT_ORDER_BRUTE_H
#define SUPPORT_ORDER_BRUTE_H

#include <arenaut/order.h>

enum { ORDER_BRUTE_OPS = 12 }; /* at most */

/* The least peak of all schedules, by dynamic programming over sets of executed ops. */
uint64_t order_brute_peak(const arenaut_order_problem *problem);

#endif
