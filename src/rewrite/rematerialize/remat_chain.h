/* Minimum cuts at the first runs of several ops, each of which precedes the next, in one Lagrangian
 * bound. A storage that is alive at one of these runs was alive at the one before, or was made
 * again in between: a price for each storage that is handed on links the cuts. */
#ifndef ARN_REWRITE_REMAT_CHAIN_H
#define ARN_REWRITE_REMAT_CHAIN_H

#include "rewrite/rematerialize/remat_cut.h"

enum { ARN_REMAT_MOST_MOMENTS = 1 + ARENAUT_REMAT_MOST_LATER };

/* A storage that may be alive at a moment and at the next one. */
typedef struct arn_remat_link {
    uint32_t moment, storage;
} arn_remat_link;

/* Multipliers: with these, and the units, the bound is a sum of flows. */
typedef struct arn_remat_prices {
    uint64_t byte[ARN_REMAT_MOST_MOMENTS], unit[ARN_REMAT_MOST_MOMENTS];
    uint64_t *hand; /* per link */
} arn_remat_prices;

typedef struct arn_remat_chain {
    const arn_remat_graph *graph;
    arn_remat_cut cut[ARN_REMAT_MOST_MOMENTS];
    uint32_t n, op[ARN_REMAT_MOST_MOMENTS];
    uint64_t budget, time_price, most_byte_price;
    arn_remat_link *links;
    uint32_t n_links;
    uint64_t *handed[ARN_REMAT_MOST_MOMENTS]; /* per storage: flow that is handed to the next cut */
    arn_remat_prices now, best, kept;
    int64_t value; /* of the best: in the price of time */
    /* Of the last evaluation, and of the ascent. */
    double slope[ARN_REMAT_MOST_MOMENTS], scale[ARN_REMAT_MOST_MOMENTS];
    double direction[ARN_REMAT_MOST_MOMENTS];
    int8_t *hand_slope;                   /* per link */
    double *hand_direction;               /* likewise */
    float *alive[ARN_REMAT_MOST_MOMENTS]; /* per storage: share of the last cuts that keep it */
    bool *few;                            /* per storage: room for a cut */
} arn_remat_chain;

/* Lists are the region's, but for the networks. */
bool arn_remat_chain_make(const arn_remat_graph *graph, const arenaut_allocator *allocator,
                          arn_region *region, arn_budget *budget, arn_remat_chain *chain);
void arn_remat_chain_free(arn_remat_chain *chain); /* after make, or zero-initialised */

/* Steps of the search for flows, of all cuts. */
uint64_t arn_remat_chain_spent(const arn_remat_chain *chain);

/* Looks at these ops, each of which precedes the next; nothing is assumed. */
void arn_remat_chain_at(arn_remat_chain *chain, const uint32_t *ops, uint32_t n);

/* Lists the links after assumptions were made at its cuts. False: in no sequence there is room. */
bool arn_remat_chain_link(arn_remat_chain *chain);

/* A time in its price, up to what no bound comes to; and back: nanoseconds of a bound, UINT64_MAX
 * of INT64_MAX. */
int64_t arn_remat_chain_target(const arn_remat_chain *chain, uint64_t nanoseconds);
uint64_t arn_remat_chain_time(const arn_remat_chain *chain, int64_t value);

/* Copies prices of the same links. */
void arn_remat_prices_copy(const arn_remat_chain *chain, arn_remat_prices *to,
                           const arn_remat_prices *from);

/* Looks for prices with a larger bound, from `now` on, with so many evaluations; up to `target`, in
 * the price of time. The best and their value are kept. `eager`: begins with such a part of the
 * step that would lead to the target. */
void arn_remat_chain_ascend(arn_remat_chain *chain, int64_t target, uint32_t tries, double eager);

/* Likewise with other units of a moment, from the best on. */
void arn_remat_chain_round(arn_remat_chain *chain, uint32_t moment, int64_t target, uint32_t tries);

/* Evaluates prices once: flows are those of the cuts then. Returns the bound. */
int64_t arn_remat_chain_evaluate(arn_remat_chain *chain, const arn_remat_prices *prices);

#endif
