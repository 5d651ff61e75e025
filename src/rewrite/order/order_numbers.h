/* Which ops of a method have a number: passes keep that of the file's op that an op stands for. */
#ifndef ARN_REWRITE_ORDER_NUMBERS_H
#define ARN_REWRITE_ORDER_NUMBERS_H

#include <arenaut/program.h>

#include "core/memory.h"

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
