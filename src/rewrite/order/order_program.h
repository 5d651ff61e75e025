/* The order problem of a program, as its parts are made. */
#ifndef ARN_REWRITE_ORDER_ORDER_PROGRAM_H
#define ARN_REWRITE_ORDER_ORDER_PROGRAM_H

#include <arenaut/rewrite.h>

#include "core/memory.h"

struct arenaut_program_order {
    arenaut_order_problem problem;
    uint32_t *op; /* per op of the problem: that of the file; NONE: passes put it behind all */
    uint64_t at_ends;
    arn_region region;
    arenaut_allocator allocator;
};

#endif
