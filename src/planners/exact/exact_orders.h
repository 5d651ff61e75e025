/* Orders in which the search tries items, for restarts that differ from each other. */
#ifndef ARN_EXACT_ORDERS_H
#define ARN_EXACT_ORDERS_H

#include "planners/exact/exact_model.h"

enum { ARN_EXACT_ORDERS = 9 };

/* A key per item for order number `order`, 0 <= order < ARN_EXACT_ORDERS: items with larger
 * keys come first. Keys are logarithms, 64 to a factor of two. */
void arn_exact_make_keys(const arn_exact_model *model, uint32_t order, int64_t *keys);

/* Adds to each of n keys a random number of up to `noise` either way; 0 draws none. */
void arn_exact_disturb(uint64_t *random, uint32_t noise, int64_t *keys, uint32_t n);

/* Writes into rank[i] how many items come before item i: those with larger keys and, of equals,
 * with lower numbers. `scratch` holds 2 × n ids. O(n log n). */
void arn_exact_rank(const int64_t *keys, uint32_t n, uint32_t *scratch, uint32_t *rank);

#endif
