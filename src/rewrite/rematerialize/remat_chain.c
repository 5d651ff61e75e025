/* The Lagrangian dual of a chain of cuts: concave and piecewise linear in the prices of bytes and
 * of storages that are handed on. It is climbed by subgradients, with steps towards a value that
 * is not reached (Polyak 1969) along directions that turn from the last one where both would
 * cancel (Camerini, Fratta and Maffioli 1975). The flow of a cut tells how much of a price to hand
 * on is used: so much more a storage costs that is alive at the next, and no more is paid for it.
 * Bytes are counted in units where that shows more (Chvátal 1973, Gomory 1958): if storages of one
 * size fill the budget but for a part of one, that part is of no use. O(cuts) for an evaluation. */
#include "rewrite/rematerialize/remat_chain.h"

#include <string.h>

#include "core/checked.h"
#include "rewrite/rematerialize/remat_price.h"

/* Sums of flows and prices stay below 2^60. */
#define MOST_TIME (UINT64_C(1) << 50)
#define MOST_BYTES (UINT64_C(1) << 54)
enum { IN_VAIN = 8 };

static bool make_prices(arn_remat_prices *prices, arn_region *region, size_t most) {
    prices->hand = arn_region_allocate(region, most, sizeof *prices->hand);
    return prices->hand != NULL;
}

bool arn_remat_chain_make(const arn_remat_graph *graph, const arenaut_allocator *allocator,
                          arn_region *region, arn_budget *budget, arn_remat_chain *c) {
    const uint32_t n = graph->problem->n_storages;
    const size_t most = (size_t)n * ARENAUT_REMAT_MOST_LATER;
    bool ok = true;
    *c = (arn_remat_chain){.graph = graph,
                           .most_byte_price = arn_remat_most_byte_price(graph, MOST_BYTES),
                           .time_price = arn_remat_time_price(graph, MOST_TIME)};
    for (uint32_t k = 0; k < ARN_REMAT_MOST_MOMENTS; k++) {
        ok = arn_remat_cut_make(graph, allocator, region, budget, &c->cut[k]) && ok;
    }
    for (uint32_t k = 0; k < ARN_REMAT_MOST_MOMENTS && ok; k++) {
        ok = ARN_REGION_ARRAYS(region, ARN_ARRAY(c->handed[k], n), ARN_ARRAY(c->alive[k], n));
    }
    return ok && make_prices(&c->now, region, most) && make_prices(&c->best, region, most) &&
           make_prices(&c->kept, region, most) &&
           ARN_REGION_ARRAYS(region, ARN_ARRAY(c->links, most), ARN_ARRAY(c->hand_slope, most),
                             ARN_ARRAY(c->hand_direction, most), ARN_ARRAY(c->few, n));
}

void arn_remat_chain_free(arn_remat_chain *c) {
    for (uint32_t k = 0; k < ARN_REMAT_MOST_MOMENTS; k++) arn_remat_cut_free(&c->cut[k]);
}

uint64_t arn_remat_chain_spent(const arn_remat_chain *c) {
    uint64_t spent = 0;
    for (uint32_t k = 0; k < ARN_REMAT_MOST_MOMENTS; k++) spent += c->cut[k].network.spent;
    return spent;
}

void arn_remat_chain_at(arn_remat_chain *c, const uint32_t *ops, uint32_t n) {
    c->n = n;
    for (uint32_t k = 0; k < n; k++) {
        c->op[k] = ops[k];
        arn_remat_cut_at(&c->cut[k], ops[k]);
        c->cut[k].later = k + 1 < n ? &c->cut[k + 1] : NULL;
        c->cut[k].extra = k > 0 ? c->handed[k - 1] : NULL;
    }
}

int64_t arn_remat_chain_target(const arn_remat_chain *c, uint64_t nanoseconds) {
    const uint64_t most = INT64_MAX / 4;
    return (int64_t)(nanoseconds < most / c->time_price ? nanoseconds * c->time_price : most);
}

uint64_t arn_remat_chain_time(const arn_remat_chain *c, int64_t value) {
    if (value == INT64_MAX) return UINT64_MAX;
    return value <= 0 ? 0 : ((uint64_t)value - 1) / c->time_price + 1;
}

/* The mean size of a byte's storage, among those that may be dropped. */
static double find_scale(const arn_remat_cut *cut) {
    const arenaut_remat_problem *p = cut->graph->problem;
    double squares = 0, sum = 0;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        if (!arn_remat_cut_splits(cut, s)) continue;
        const double size = (double)p->size[s], square = size * size;
        squares += square;
        sum += size;
    }
    return sum > 0 ? squares / sum : 1;
}

bool arn_remat_chain_link(arn_remat_chain *c) {
    bool has_room = true;
    c->n_links = 0;
    for (uint32_t k = 0; k < c->n; k++) {
        has_room = has_room && c->cut[k].own <= c->budget;
        c->scale[k] = find_scale(&c->cut[k]);
        for (uint32_t s = 0; s < c->graph->problem->n_storages; s++) {
            if (!arn_remat_cut_hands(&c->cut[k], s)) continue;
            c->links[c->n_links++] = (arn_remat_link){k, s};
        }
    }
    return has_room;
}

void arn_remat_prices_copy(const arn_remat_chain *c, arn_remat_prices *to,
                           const arn_remat_prices *from) {
    memcpy(to->byte, from->byte, sizeof to->byte);
    memcpy(to->unit, from->unit, sizeof to->unit);
    if (c->n_links > 0) memcpy(to->hand, from->hand, c->n_links * sizeof *to->hand);
}

/* ---- one evaluation ---- */

/* Flow that is handed on belongs to the next cut; what is left of it began here. */
static uint64_t hand_on(arn_remat_chain *c, uint32_t k) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->n_links; i++) {
        if (c->links[i].moment != k) continue;
        const uint32_t s = c->links[i].storage;
        sum += c->handed[k][s] = arn_remat_cut_handed(&c->cut[k], s);
    }
    return sum;
}

static void set_hands(arn_remat_chain *c, const arn_remat_prices *prices) {
    const size_t n = c->graph->problem->n_storages;
    for (uint32_t k = 0; k + 1 < c->n; k++) {
        memset(c->cut[k].hand, 0, n * sizeof *c->cut[k].hand);
        memset(c->handed[k], 0, n * sizeof *c->handed[k]);
    }
    for (uint32_t i = 0; i < c->n_links; i++) {
        c->cut[c->links[i].moment].hand[c->links[i].storage] = prices->hand[i];
    }
}

int64_t arn_remat_chain_evaluate(arn_remat_chain *c, const arn_remat_prices *prices) {
    int64_t value = 0;
    set_hands(c, prices);
    for (uint32_t k = 0; k < c->n; k++) {
        arn_remat_cut *cut = &c->cut[k];
        cut->unit = prices->unit[k];
        arn_remat_cut_find(cut, prices->byte[k], c->time_price);
        const int64_t left = arn_remat_cut_left(cut, c->budget);
        value += (int64_t)(cut->flow - hand_on(c, k)) - (int64_t)prices->byte[k] * left;
        c->slope[k] = (double)((int64_t)cut->cut_bytes - left) / c->scale[k];
    }
    for (uint32_t i = 0; i < c->n_links; i++) {
        const arn_remat_link *l = &c->links[i];
        c->hand_slope[i] = (int8_t)(arn_remat_cut_keeps(&c->cut[l->moment + 1], l->storage) -
                                    arn_remat_cut_provides(&c->cut[l->moment], l->storage));
    }
    return value;
}

/* ---- ascent ---- */

/* Mean of the last cuts: which storages are alive in a mixture of them. */
static void follow_alive(arn_remat_chain *c, uint32_t turn) {
    enum { LAST = 8 };
    const float share = 1.0F / (float)(turn < LAST ? turn + 1 : LAST);
    for (uint32_t k = 0; k < c->n; k++) {
        for (uint32_t s = 0; s < c->graph->problem->n_storages; s++) {
            const float now = arn_remat_cut_keeps(&c->cut[k], s) ? 1 : 0,
                        step = now - c->alive[k][s];
            const float change = share * step;
            c->alive[k][s] += change;
        }
    }
}

static void forget_direction(arn_remat_chain *c) {
    memset(c->direction, 0, sizeof c->direction);
    for (uint32_t i = 0; i < c->n_links; i++) c->hand_direction[i] = 0;
}

static double turn(double direction, double slope, double back, bool is_at_zero) {
    const double kept = back * direction, next = slope + kept;
    return is_at_zero && next < 0 ? 0 : next;
}

/* Turns the direction, and returns the square of its length. */
static double find_direction(arn_remat_chain *c) {
    double along = 0, square = 0, length = 0;
    for (uint32_t k = 0; k < c->n; k++) {
        const double product = c->slope[k] * c->direction[k],
                     own = c->direction[k] * c->direction[k];
        along += product;
        square += own;
    }
    for (uint32_t i = 0; i < c->n_links; i++) {
        const double product = c->hand_slope[i] * c->hand_direction[i];
        const double own = c->hand_direction[i] * c->hand_direction[i];
        along += product;
        square += own;
    }
    const double back = along < 0 && square > 0 ? -1.5 * along / square : 0;
    for (uint32_t k = 0; k < c->n; k++) {
        c->direction[k] = turn(c->direction[k], c->slope[k], back, c->now.byte[k] == 0);
        const double own = c->direction[k] * c->direction[k];
        length += own;
    }
    for (uint32_t i = 0; i < c->n_links; i++) {
        c->hand_direction[i] =
            turn(c->hand_direction[i], c->hand_slope[i], back, c->now.hand[i] == 0);
        const double own = c->hand_direction[i] * c->hand_direction[i];
        length += own;
    }
    return length;
}

static uint64_t moved(uint64_t price, double by, uint64_t most) {
    const double limit = (double)(most + 1);
    const int64_t step = (int64_t)(by > limit ? limit : by < -limit ? -limit : by);
    const int64_t to = (int64_t)price + step;
    return to < 0 ? 0 : arn_min_u64((uint64_t)to, most);
}

static void move(arn_remat_chain *c, double step) {
    for (uint32_t k = 0; k < c->n; k++) {
        const double by = step * c->direction[k] / c->scale[k];
        c->now.byte[k] = moved(c->now.byte[k], by, c->most_byte_price);
    }
    for (uint32_t i = 0; i < c->n_links; i++) {
        c->now.hand[i] = moved(c->now.hand[i], step * c->hand_direction[i], MOST_TIME);
    }
}

/* The unused part of a price to hand on shows nothing. */
static void keep_used(arn_remat_chain *c) {
    for (uint32_t i = 0; i < c->n_links; i++) {
        c->best.hand[i] = c->handed[c->links[i].moment][c->links[i].storage];
    }
}

/* Evaluates the present prices, and keeps them if they are the best. */
static int64_t try_now(arn_remat_chain *c) {
    const int64_t value = arn_remat_chain_evaluate(c, &c->now);
    if (value > c->value) {
        c->value = value;
        arn_remat_prices_copy(c, &c->best, &c->now);
        keep_used(c);
    }
    return value;
}

/* ---- one price ---- */

/* Shares of the last cut that took too many bytes and of the last that did not, half each. */
static void mix(arn_remat_chain *c) {
    for (uint32_t s = 0; s < c->graph->problem->n_storages; s++) {
        c->alive[0][s] = (c->alive[0][s] + (c->few[s] ? 1.0F : 0.0F)) / 2;
    }
}

static void keep_side(arn_remat_chain *c, bool too_many) {
    for (uint32_t s = 0; s < c->graph->problem->n_storages; s++) {
        const bool kept = arn_remat_cut_keeps(&c->cut[0], s);
        if (too_many) c->alive[0][s] = kept;
        else c->few[s] = kept;
    }
}

/* A chain of one cut has one price. */
static void ascend_one(arn_remat_chain *c, int64_t target, uint32_t tries) {
    arn_remat_bracket bracket = arn_remat_bracket_make(c->most_byte_price);
    c->now.byte[0] = arn_min_u64(c->now.byte[0], c->most_byte_price);
    for (uint32_t i = 0; i < tries; i++) {
        const bool ended = try_now(c) >= target || arn_budget_ended(c->cut[0].budget);
        const bool too_many = c->slope[0] > 0;
        if (ended) break;
        keep_side(c, too_many);
        if (!arn_remat_bracket_next(&bracket, &c->cut[0], too_many, c->time_price, &c->now.byte[0]))
            break;
    }
    if (bracket.many.found && bracket.few.found) mix(c);
}

/* ---- many prices ---- */

/* Whether the last evaluations came little further. */
static bool is_in_vain(int64_t value, int64_t before, int64_t target) {
    enum { PARTS = 2000 };
    return value <= before || (before != INT64_MIN && value - before <= (target - before) / PARTS);
}

static void ascend_all(arn_remat_chain *c, int64_t target, uint32_t tries, double eager) {
    const double least = eager / 64;
    uint32_t in_vain = 0;
    forget_direction(c);
    for (uint32_t i = 0; i < tries; i++) {
        const int64_t before = c->value, value = try_now(c);
        in_vain = is_in_vain(value, before, target) ? in_vain + 1 : 0;
        follow_alive(c, i);
        if (value >= target || arn_budget_ended(c->cut[0].budget)) return;
        if (in_vain >= IN_VAIN) {
            eager /= 2;
            in_vain = 0;
            if (eager < least) return;
            forget_direction(c);
        }
        const double length = find_direction(c);
        if (length <= 0) return;
        move(c, eager * (double)(target - value) / length);
    }
}

void arn_remat_chain_ascend(arn_remat_chain *c, int64_t target, uint32_t tries, double eager) {
    c->value = INT64_MIN;
    if (c->n == 1) ascend_one(c, target, tries);
    else ascend_all(c, target, tries, eager);
}

/* ---- units ---- */

/* Sizes of storages that may be dropped at a moment, the largest few, and 1. */
static uint32_t list_units(const arn_remat_cut *cut, uint64_t *units, uint32_t most) {
    const arenaut_remat_problem *p = cut->graph->problem;
    uint32_t n = 0;
    uint64_t below = UINT64_MAX;
    while (n + 1 < most) {
        uint64_t next = 0;
        for (uint32_t s = 0; s < p->n_storages; s++) {
            if (p->size[s] < below && p->size[s] > next && arn_remat_cut_splits(cut, s))
                next = p->size[s];
        }
        if (next <= 1) break;
        units[n++] = below = next;
    }
    units[n++] = 1;
    return n;
}

void arn_remat_chain_round(arn_remat_chain *c, uint32_t moment, int64_t target, uint32_t tries) {
    enum { MOST_UNITS = 8, PARTS = 50 };
    uint64_t units[MOST_UNITS];
    int64_t value = c->value;
    const uint32_t n = list_units(&c->cut[moment], units, MOST_UNITS);
    arn_remat_prices_copy(c, &c->kept, &c->best);
    for (uint32_t i = 0; i < n && value < target && !arn_budget_ended(c->cut[0].budget); i++) {
        if (units[i] == c->kept.unit[moment]) continue;
        arn_remat_prices_copy(c, &c->now, &c->kept);
        c->now.unit[moment] = units[i];
        arn_remat_chain_ascend(c, target, tries, 0.5);
        if (c->value <= value + (target - value) / PARTS) continue;
        value = c->value;
        arn_remat_prices_copy(c, &c->kept, &c->best);
    }
    arn_remat_prices_copy(c, &c->best, &c->kept);
    c->value = value;
}
