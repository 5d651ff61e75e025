/* Scheduling problems of a lowered program, one per method or stretch between jumps, and the
 * schedules found for them. */
#ifndef ARN_REWRITE_ORDER_SCHEDULE_PROBLEM_H
#define ARN_REWRITE_ORDER_SCHEDULE_PROBLEM_H

#include <arenaut/lowering.h>
#include <arenaut/order.h>
#include <arenaut/rewrite.h>
#include <arenaut/target.h>

#include "analysis/dependences.h"
#include "core/memory.h"
#include "rewrite/order/program_order.h"
#include "rewrite/order/schedule_search.h"

/* Facts about the whole program that the problems of all methods share. */
typedef struct arn_schedule_context {
    const arenaut_program *program;
    const arenaut_lowering *lowering;
    const arenaut_target *target;
    bool preserve_inputs;
    bool overlap;             /* results may partly overlap operands */
    uint64_t grain;           /* sizes are multiples of it, and so are offsets */
    uint64_t *size;           /* per buffer of the lowering, as are `always` and `local` */
    bool *always;             /* it is live in all methods */
    uint32_t *begin, *listed; /* buffers by method: those of method m are listed[begin[m]] up to
                               * listed[begin[m + 1]]; those after the last method belong to the
                               * problems of all entries */
    uint32_t *local;          /* its number in the problem under construction; NONE: none */
    arn_dependences dependences;
    uint64_t *live; /* per step: live bytes; NULL: no method jumps */
    arn_region *region;
    bool *runs; /* per method: it is an entry, or called from one */
    uint32_t n_running;
    bool separate;    /* no two methods share a pool, except for buffers live in all */
    uint64_t state;   /* bytes of these */
    uint64_t at_ends; /* arenas may be smaller than the live bytes by this */
} arn_schedule_context;

/* The problem of one block: a method, or the ops between two jumps. A call needs memory while the
 * calling op runs: each such op has one more buffer, whose size is known once the schedule of the
 * callee is. */
typedef struct arn_schedule_block {
    uint32_t method;
    uint32_t first, n_ops; /* ops of the program */
    uint32_t step;         /* the first op's, in a method that jumps */
    arenaut_order_problem problem;
    uint64_t *size;   /* the problem's */
    uint32_t *op;     /* per op of the problem: its op of the file; NONE: appended by passes */
    uint32_t n_plain; /* buffers of the program; after them, */
    uint32_t *caller; /* per additional buffer: the calling op of the program */
    uint64_t start;   /* live bytes before the first op of the method */
    uint64_t around;  /* bytes live throughout that are not in the problem */
} arn_schedule_block;

/* `block` has the method and the range of ops: the whole method, or movable ops between its jumps.
 * REFUSED, with the reason, if they cannot be reordered. */
arenaut_status arn_schedule_block_make(arn_schedule_context *context, arn_schedule_block *block,
                                       arenaut_error *err);

enum { ARN_SCHEDULE_CANDIDATES = 1 + ARN_SCHEDULE_MAX_NEAR };

/* Peaks of a method, including its callees unless methods are separate. */
typedef struct arn_schedule_need {
    uint64_t given, best, bound; /* as in arn_order_peaks */
    uint64_t heuristics[ARENAUT_ORDER_HEURISTIC_COUNT];
    uint64_t candidate[ARN_SCHEDULE_CANDIDATES]; /* at least, in its schedules */
} arn_schedule_need;

/* The schedules of one problem, the best first. */
typedef struct arn_schedule_found {
    uint32_t n;
    uint32_t *ops; /* one schedule after another */
} arn_schedule_found;

struct arn_program_order {
    arn_schedule_context context;
    uint32_t n_blocks, n_taken; /* problems, and those with known schedules */
    arn_schedule_block *blocks;
    arn_schedule_found *found; /* per block */
    arn_schedule_need *need;   /* per method */
    uint32_t *block_at;        /* per op: the block that begins with it; NONE: none */
    arn_region region;
    arenaut_allocator allocator;
};

/* Ops of a method by the index of their op in the file, which passes keep. */
typedef struct arn_file_numbers {
    uint32_t *ops;    /* numbered ops, by number and then by position */
    uint64_t *number; /* per op of the method, */
    uint32_t first;   /* which begins with this one */
    uint32_t n;
} arn_file_numbers;

/* False: no memory. The lists live in `region`. O(n), however large the numbers are. */
bool arn_file_numbers_find(const arenaut_program *program, uint32_t method, arn_region *region,
                           arn_file_numbers *out);

/* The count of ops with this number; *ops: these, in their order. O(log n). */
uint32_t arn_file_numbers_ops(const arn_file_numbers *numbers, uint32_t number,
                              const uint32_t **ops);

#endif
