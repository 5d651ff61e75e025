/* Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983) over the states of gaps. Excess over the
 * budget is allowed, at a price that rises while there is some and falls while there is none
 * (strategic oscillation, Glover 1977), so that the search passes through schedules that do not
 * fit. A move changes one gap, or a few that lie together; one evaluation each, O(positions between
 * its ends). */
#include "rewrite/rematerialize/remat_anneal.h"

#include <string.h>

#include "core/hash.h"

enum {
    MOST_CHANGES = 3,
    NEAR = 8, /* gaps of one move are so many numbers apart, at most */
    EFFORT_OF_MOVE = 8,
    STEPS_OF_PRICE = 200 /* the price changes after so many moves on one side of the budget */
};

typedef struct annealer {
    arn_remat_search *search;
    arn_remat_sequence *sequence;
    uint32_t *gaps, n_gaps; /* that may change */
    double price;           /* of a byte of excess at one position */
    double value;           /* of the present schedule */
    uint32_t within, above; /* moves in a row on either side of the budget */
} annealer;

static void list_gaps(annealer *a) {
    const arn_remat_graph *g = a->search->graph;
    a->gaps = a->search->order;
    a->n_gaps = 0;
    for (uint32_t gap = 0; gap < g->n_gaps; gap++) {
        const arn_remat_gap *of = &g->gaps[gap];
        if (g->solid[of->storage] || g->problem->size[of->storage] == 0) continue;
        if (of->tail || arn_remat_may_repeat(g->problem, g->problem->maker[of->storage], of->to)) {
            a->gaps[a->n_gaps++] = gap;
        }
    }
}

static double value_of(const annealer *a) {
    const double penalty = a->price * (double)a->sequence->excess;
    return (double)a->sequence->added + penalty;
}

static uint32_t draw_gap(annealer *a, uint32_t near) {
    const uint32_t at =
        near + a->n_gaps - NEAR % a->n_gaps + arn_random_below(&a->search->random, 2 * NEAR + 1);
    return a->gaps[at % a->n_gaps];
}

static uint32_t draw_changes(annealer *a) {
    const uint32_t of_20 = arn_random_below(&a->search->random, 20);
    return of_20 < 14 ? 1 : of_20 < 19 ? 2 : MOST_CHANGES;
}

/* Another state than it has. One that stays once it was made again may do so only once it was made
 * again behind that; and one that repeated runs read may go behind them. */
static arn_remat_state draw_state(annealer *a, uint32_t gap) {
    const arn_remat_sequence *q = a->sequence;
    const arn_remat_state was = q->state[gap];
    const uint32_t made = q->made_at[gap], read = arn_remat_last_reading(a->search, gap);
    const uint32_t kind = arn_remat_is_retained(was) ? ARN_REMAT_RETAIN : was;
    if (read != ARENAUT_NONE && was != ARN_REMAT_UNTIL + read &&
        arn_random_below(&a->search->random, 4) == 0) {
        return ARN_REMAT_UNTIL + read;
    }
    if (was >= ARN_REMAT_UNTIL) return arn_random_below(&a->search->random, 3);
    if (kind == ARN_REMAT_RETAIN && made < a->search->graph->gaps[gap].to &&
        arn_random_below(&a->search->random, 8) == 0) {
        return ARN_REMAT_RETAIN + made + 1;
    }
    return (kind + 1 + arn_random_below(&a->search->random, 2)) % 3;
}

/* Tries a move; `heat`: a change for the worse by so much is taken in one of two cases. */
static void move(annealer *a, double heat) {
    arn_remat_sequence *q = a->sequence;
    const uint32_t n = draw_changes(a), first = arn_random_below(&a->search->random, a->n_gaps);
    uint32_t gaps[MOST_CHANGES];
    arn_remat_state was[MOST_CHANGES];
    q->effort += EFFORT_OF_MOVE;
    for (uint32_t i = 0; i < n; i++) {
        gaps[i] = i == 0 ? a->gaps[first] : draw_gap(a, first);
        was[i] = q->state[gaps[i]];
        q->effort +=
            (a->search->graph->gaps[gaps[i]].to - a->search->graph->gaps[gaps[i]].from) / 4;
        arn_remat_change(q, gaps[i], draw_state(a, gaps[i]));
    }
    arn_remat_follow(q);
    const double value = value_of(a),
                 worst = a->value + heat * arn_random_exponent(&a->search->random);
    if (q->n_bad == 0 && value <= worst) {
        a->value = value;
        return;
    }
    for (uint32_t i = n; i-- > 0;) arn_remat_change(q, gaps[i], was[i]);
    arn_remat_follow(q);
}

static void adapt_price(annealer *a) {
    const bool above = a->sequence->excess > 0;
    uint32_t *const count = above ? &a->above : &a->within;
    *(above ? &a->within : &a->above) = 0;
    if (++*count < STEPS_OF_PRICE) return;
    *count = 0;
    a->price *= above ? 1.1 : 0.9;
    a->value = value_of(a);
}

/* A hundredth of the first heat is left at the end. */
static double heat_at(double first, uint64_t spent, uint64_t effort) {
    const double left = 1 - (double)spent / (double)effort;
    return first * (0.01 + 0.99 * left * left * left);
}

void arn_remat_anneal(arn_remat_search *s, uint64_t effort, arn_remat_state *best, uint64_t added) {
    arn_remat_sequence *q = s->sequence;
    annealer a = {.search = s, .sequence = q};
    const double base = (double)s->graph->base, first = base / 20000;
    const uint64_t begin = q->effort;
    list_gaps(&a);
    if (a.n_gaps == 0 || q->budget <= 0) return;
    a.price = base / 50 / (double)q->budget;
    a.value = value_of(&a);
    while (q->effort - begin < effort && !arn_remat_is_over(s)) {
        move(&a, heat_at(first, q->effort - begin, effort));
        if (q->excess == 0 && q->n_bad == 0 && q->added < added) {
            added = q->added;
            memcpy(best, q->state, s->graph->n_gaps * sizeof *best);
        }
        adapt_price(&a);
    }
}
