/* The order problems of a program, and what is known of their orders. */
#ifndef ARN_REWRITE_ORDER_SCHEDULE_PROBLEM_H
#define ARN_REWRITE_ORDER_SCHEDULE_PROBLEM_H

#include <arenaut/lowering.h>
#include <arenaut/order.h>
#include <arenaut/program.h>
#include <arenaut/rewrite.h>
#include <arenaut/target.h>

#include "core/memory.h"
#include "rewrite/order/dependences.h"
#include "rewrite/order/schedule_search.h"

/* Of a lowered program, what the order problems of its methods are made from. */

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

/* The order problem of one method, or of ops between its jumps. What it calls needs memory while
 * the op that calls runs: of each such op the problem has a buffer more, whose size is known once
 * the order of what is called is.
 */

typedef struct arn_order_part {
    uint32_t method;
    uint32_t first, n_ops; /* ops of the program */
    uint32_t step;         /* the first op's, in a method that jumps */
    arenaut_order_problem problem;
    uint64_t *size;   /* the problem's */
    uint32_t *op;     /* per op of the problem: that of the file; NONE: passes put it behind all */
    uint32_t n_plain; /* buffers of the program; behind them, */
    uint32_t *caller; /* per buffer more: the op of the program that calls */
    uint64_t start;   /* bytes alive before the first op of the method */
    uint64_t around;  /* bytes alive all the time that are not in the problem */
} arn_order_part;

/* `part` has the method, and which ops: all of the method, or, where that jumps, some that may all
 * move. REFUSED, with the reason, where they cannot be reordered. */
arenaut_status arn_order_part_make(arn_order_base *base, arn_order_part *part, arenaut_error *err);

/* The order problems of a program, and what is known of their orders. */

enum { ARN_ORDER_CANDIDATES = 1 + ARN_ORDER_MOST_NEAR };

/* What a method needs, with all that it calls unless methods are separate. */
typedef struct arn_order_need {
    uint64_t given, best, bound; /* as in arenaut_order_peaks */
    uint64_t ways[ARENAUT_ORDER_WAY_COUNT];
    uint64_t candidate[ARN_ORDER_CANDIDATES]; /* at least, in its orders */
} arn_order_need;

/* The orders of one problem, the best first. */
typedef struct arn_order_found {
    uint32_t n;
    uint32_t *ops; /* one order behind another */
} arn_order_found;

struct arenaut_program_order {
    arn_order_base base;
    uint32_t n_parts, n_taken; /* problems, and those whose orders are known */
    arn_order_part *parts;
    arn_order_found *found; /* per part */
    arn_order_need *need;   /* per method */
    uint32_t *part_at;      /* per op: the problem that begins with it; NONE: none does */
    arn_region region;
    arenaut_allocator allocator;
};

/* Which ops of a method have a number: passes keep that of the file's op that an op stands for. */

typedef struct arn_order_numbers {
    uint32_t *ops;    /* that have a number, by it, then by their place */
    uint64_t *number; /* per op of the method, */
    uint32_t first;   /* which begins with this one */
    uint32_t n;
} arn_order_numbers;

/* False: no memory. The lists live in `region`. O(n): numbers may be as large as they like. */
bool arn_order_numbers_find(const arenaut_program *program, uint32_t method, arn_region *region,
                            arn_order_numbers *out);

/* How many ops have it; *ops: these, in their order. */
uint32_t arn_order_numbers_ops(const arn_order_numbers *numbers, uint32_t number,
                               const uint32_t **ops);

#endif
