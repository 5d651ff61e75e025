/* Prices of Lagrangian bounds: how dear a byte and a nanosecond may be, and which price of a byte
 * to try next. */
#ifndef ARN_REWRITE_REMAT_PRICE_H
#define ARN_REWRITE_REMAT_PRICE_H

#include "rewrite/rematerialize/remat_cut.h"

/* The largest price of a byte at which all bytes of the graph cost no more than `most_of_bytes`. */
uint64_t arn_remat_most_byte_price(const arn_remat_graph *graph, uint64_t most_of_bytes);

/* A power of two, at which all ops cost no more than `most_of_time` in whole nanoseconds. */
uint64_t arn_remat_time_price(const arn_remat_graph *graph, uint64_t most_of_time);

/* A cut, as a line over all prices of a byte. */
typedef struct arn_remat_line {
    uint64_t price, bytes, cost;
    bool found;
} arn_remat_line;

/* The bound of one cut is concave in the price, and made of such lines (Kelley 1960): between one
 * that rises, since its cut takes more bytes than there are, and one that falls, it is largest. */
typedef struct arn_remat_bracket {
    arn_remat_line many, few;
} arn_remat_bracket;

arn_remat_bracket arn_remat_bracket_make(uint64_t most_byte_price);

/* Takes the cut that was found at *price, whether it takes too many bytes or not, and gives the
 * next price to try. False: there is none. */
bool arn_remat_bracket_next(arn_remat_bracket *bracket, const arn_remat_cut *cut, bool too_many,
                            uint64_t time_price, uint64_t *price);

#endif
