/* Of a lowered program, what the order problems of its methods are made from. */
#ifndef ARN_REWRITE_ORDER_BASE_H
#define ARN_REWRITE_ORDER_BASE_H

#include <arenaut/lowering.h>
#include <arenaut/order.h>
#include <arenaut/target.h>

#include "core/memory.h"
#include "rewrite/order/order_waits.h"

/* What the problems of all methods are made from. */
typedef struct arn_order_base {
    const arenaut_program *program;
    const arenaut_lowering *lowering;
    const arenaut_target *target;
    bool preserve_inputs;
    bool overlap;             /* results may lie over operands in part */
    uint64_t grain;           /* sizes are multiples of it, and so are places */
    uint64_t *size;           /* per buffer, like all of `lowering` */
    bool *always;             /* per buffer: it is alive in all methods */
    uint32_t *begin, *listed; /* buffers by the method whose they are: those of method m are
                               * listed[begin[m]] up to listed[begin[m + 1]]; those behind the last
                               * method are in the problems of all entries */
    uint32_t *local;          /* per buffer: its number in the problem at work; NONE: none */
    arn_order_waits waits;
    uint64_t *alive; /* per step: bytes; NULL: no method jumps */
    arn_region *region;
    bool *runs; /* per method: it is an entry, or called from one */
    uint32_t n_running;
    bool separate;    /* no two methods share a pool, but for what is alive in all */
    uint64_t state;   /* bytes that are */
    uint64_t at_ends; /* arenas may be smaller than what is alive by this */
} arn_order_base;

/* Fills in the rest, once what comes from outside, up to `overlap`, and the region are there.
 * REFUSED, with the reason, where ops cannot be reordered. */
arenaut_status arn_order_base_make(arn_order_base *base, arenaut_error *err);

#endif
