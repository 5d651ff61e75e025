/* Scales that keep sums of prices below a limit, and Kelley's cutting planes in one dimension. */
#include "rewrite/rematerialize/remat_price.h"

#include "core/checked.h"

enum { MOST_SCALE = 1 << 20 };

uint64_t arn_remat_most_byte_price(const arn_remat_graph *graph, uint64_t most_of_bytes) {
    const arenaut_remat_problem *p = graph->problem;
    uint64_t bytes = 1;
    for (uint32_t s = 0; s < p->n_storages; s++) bytes += p->size[s];
    for (uint32_t i = 0; i < p->n_ops; i++) bytes += arn_remat_scratch(p, i);
    return most_of_bytes / bytes;
}

uint64_t arn_remat_time_price(const arn_remat_graph *graph, uint64_t most_of_time) {
    uint64_t price = 1;
    while (price < MOST_SCALE && 2 * price <= most_of_time / (graph->base + 1)) price *= 2;
    return price;
}

arn_remat_bracket arn_remat_bracket_make(uint64_t most_byte_price) {
    return (arn_remat_bracket){.few = {.price = most_byte_price}};
}

/* Where both lines meet, between their prices and apart from both, if there is room. */
static uint64_t meeting(const arn_remat_bracket *b, uint64_t time_price) {
    const double slope = (double)(b->many.bytes - b->few.bytes);
    const double rise = (double)(b->few.cost - b->many.cost) * (double)time_price;
    const double at = rise / slope, high = (double)b->few.price;
    const uint64_t price = at >= high ? b->few.price : (uint64_t)at;
    return arn_max_u64(arn_min_u64(price, b->few.price - 1), b->many.price + 1);
}

bool arn_remat_bracket_next(arn_remat_bracket *b, const arn_remat_cut *cut, bool too_many,
                            uint64_t time_price, uint64_t *price) {
    *(too_many ? &b->many : &b->few) =
        (arn_remat_line){*price, cut->cut_bytes, cut->cut_cost, true};
    if (!b->many.found) {
        *price /= 4;
    } else if (!b->few.found) {
        *price = *price < b->few.price / 4 ? 4 * *price + (*price == 0) : b->few.price - 1;
    } else if (b->many.bytes <= b->few.bytes || b->few.cost < b->many.cost) {
        return false; /* both are the best */
    } else {
        *price = meeting(b, time_price);
    }
    return *price > b->many.price && *price < b->few.price;
}
