/* An exact search that tries every address, for problems of a few small buffers in one pool. */
#ifndef SUPPORT_OBVIOUS_H
#define SUPPORT_OBVIOUS_H

#include <arenaut/problem.h>

/* The lowest address that everything can lie below; ARENAUT_UNPLACED if there is none. */
uint64_t obvious_top(const arenaut_problem *problem);

/* The same, rounded up to the pool's alignment: the smallest arena. */
uint64_t obvious_arena(const arenaut_problem *problem);

#endif
