/* The least time within a budget, over all orders and reruns: Dijkstra's algorithm over sets of
 * executed ops and live storages. */
#ifndef SUPPORT_REMAT_BRUTE_H
#define SUPPORT_REMAT_BRUTE_H

#include <arenaut/rematerialization.h>

enum { REMAT_BRUTE_BITS = 18 }; /* ops and storages together, at most */

/* UINT64_MAX: no sequence is within the budget. Each run lets as many bytes count once as the
 * problem says that plans may (`shared`). A storage that is held to the end may be read from its
 * first instance though it was made again, which real sequences cannot: they need no less. */
uint64_t remat_brute_added(const arenaut_remat_problem *problem, uint64_t budget);

#endif
