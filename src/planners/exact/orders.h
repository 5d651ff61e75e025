/* Orders in which the search tries items, for restarts that differ from each other. */
#ifndef ARN_EXACT_ORDERS_H
#define ARN_EXACT_ORDERS_H

#include "planners/exact/model.h"

enum { ARN_EXACT_ORDERS = 9 };

/* Ranks the items by order number `order`, 0 <= order < ARN_EXACT_ORDERS, with each key
 * disturbed by a random factor of up to 2^(noise / 64) either way. `scratch` holds 3 ×
 * n ids, `keys` n keys. */
void arn_exact_rank(const arn_exact_model *model, uint32_t order, uint32_t noise,
                    uint64_t *random, int64_t *keys, uint32_t *scratch, uint32_t *rank);

/* The next of a series of random numbers (splitmix64). */
uint64_t arn_exact_random(uint64_t *state);

#endif
