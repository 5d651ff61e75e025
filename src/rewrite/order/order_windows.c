/* Where an order is too long to be searched as a whole, what lies around the op that needs most is
 * searched by itself, between what runs before and what runs after it: a few ops first, then twice
 * as many, and so on. */
#include "rewrite/order/order_windows.h"

#include <string.h>

#include "core/checked.h"
#include "rewrite/order/order_search.h"
#include "rewrite/order/order_ways.h"

enum { FIRST_WIDTH = 32 };

typedef struct windows {
    arn_order_side *sides; /* two */
    uint32_t *ops, *spare;
    uint64_t per_op, width; /* of one window: work for each op, and how many */
    arn_order_height now;
} windows;

/* Searches around the op that needs most, below `limit`. *better: something came of it. */
static bool try_window(windows *w, uint64_t limit, bool *better) {
    const uint32_t n = w->sides[0].graph.n_ops, width = (uint32_t)arn_min_u64(w->width, n);
    const uint32_t from = w->now.at > width / 2 ? w->now.at - width / 2 : 0;
    const arn_order_window window = {w->ops, from, width < n - from ? from + width : n};
    const arn_order_answer answer =
        arn_order_search_window(w->sides, limit, w->per_op * width, window, w->spare);
    *better = false;
    if (answer != ARN_ORDER_FOUND) return answer != ARN_ORDER_FAILED;
    const arn_order_height found = arn_order_height_of(&w->sides[0].state, w->spare);
    *better = arn_order_is_lower(found, w->now);
    if (!*better) return true;
    w->now = found;
    memcpy(w->ops, w->spare, n * sizeof *w->ops);
    return true;
}

/* Windows of one width, as long as they make the order better. */
static bool search_width(windows *w, uint64_t bound, uint64_t end) {
    bool better = true;
    const arn_budget *budget = w->sides->state.budget;
    while (better && w->now.peak > bound && arn_order_work(w->sides) < end &&
           !arn_budget_ended(budget)) {
        const uint64_t middle = bound + (w->now.peak - bound) / 2;
        if (!try_window(w, middle, &better)) return false;
        if (!better && !try_window(w, w->now.peak - 1, &better)) return false;
    }
    return true;
}

bool arn_order_search_windows(arn_order_side sides[2], arn_order_purse purse, uint64_t bound,
                              uint32_t *ops, uint32_t *spare) {
    windows w = {.sides = sides, .ops = ops, .spare = spare, .per_op = purse.per_op};
    const uint64_t end = arn_order_work(sides) + purse.all, n = sides[0].graph.n_ops;
    bool ok = true;
    w.now = arn_order_height_of(&sides[0].state, ops);
    for (w.width = FIRST_WIDTH; ok; w.width *= 2) {
        ok = search_width(&w, bound, end);
        if (w.width >= n || w.now.peak <= bound || arn_order_work(sides) >= end ||
            arn_budget_ended(sides->state.budget)) {
            break;
        }
    }
    return ok;
}
