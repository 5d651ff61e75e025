/* Greedily, the op that adds most to the bound joins the chain. Tried are those at which the cuts
 * of the chain so far have most bytes too many alive, and those with which few evaluations come
 * highest. */
#include "rewrite/rematerialize/remat_moments.h"

#include <string.h>

enum {
    MOST_CANDIDATES = 160,
    MOST_BEST = 4,
    MOST_NODES = 100000, /* of the networks of all candidates: of more, few would be tried */
    MOST_FURTHER = 26000,
    FEW_TRIES = 12,
    MORE_TRIES = 100,
    MANY_TRIES = 400,
    TRIES_OF_UNIT = 30,
};

bool arn_remat_moments_make(arn_remat_chain *chain, arn_region *region, arn_remat_moments *m) {
    const arenaut_remat_problem *p = chain->graph->problem;
    bool ok = true;
    *m = (arn_remat_moments){.chain = chain};
    for (uint32_t k = 0; k < ARENAUT_REMAT_MOST_LATER && ok; k++) {
        ok = ARN_REGION_ARRAYS(region, ARN_ARRAY(m->hand[k], p->n_storages));
    }
    return ok && ARN_REGION_ARRAYS(region, ARN_ARRAY(m->candidates, p->n_ops));
}

/* The ops above the budget; of many, that of each stretch with most bytes. */
static void list_candidates(arn_remat_moments *m, const int64_t *load) {
    const uint32_t n = m->chain->graph->problem->n_ops;
    const int64_t budget = (int64_t)m->chain->budget;
    uint32_t n_above = 0, seen = 0, best = ARENAUT_NONE;
    for (uint32_t op = 0; op < n; op++) n_above += load[op] > budget;
    const uint32_t stretch = n_above / MOST_CANDIDATES + 1;
    m->n_candidates = 0;
    for (uint32_t op = 0; op < n; op++) {
        if (load[op] <= budget) continue;
        if (best == ARENAUT_NONE || load[op] > load[best]) best = op;
        if (++seen % stretch != 0 && seen != n_above) continue;
        m->candidates[m->n_candidates++] = best;
        best = ARENAUT_NONE;
    }
}

/* ---- the chain so far ---- */

static void keep(arn_remat_moments *m) {
    const arn_remat_chain *c = m->chain;
    m->n = c->n;
    m->value = c->value;
    memcpy(m->op, c->op, sizeof m->op);
    memcpy(m->byte, c->best.byte, sizeof m->byte);
    memcpy(m->unit, c->best.unit, sizeof m->unit);
    for (uint32_t k = 0; k < ARENAUT_REMAT_MOST_LATER; k++) {
        memset(m->hand[k], 0, c->graph->problem->n_storages * sizeof *m->hand[k]);
    }
    for (uint32_t i = 0; i < c->n_links; i++) {
        m->hand[c->links[i].moment][c->links[i].storage] = c->best.hand[i];
    }
}

static void restore(const arn_remat_moments *m) {
    arn_remat_chain *c = m->chain;
    arn_remat_chain_at(c, m->op, m->n);
    arn_remat_chain_link(c);
    c->value = m->value;
    memcpy(c->best.byte, m->byte, sizeof m->byte);
    memcpy(c->best.unit, m->unit, sizeof m->unit);
    for (uint32_t i = 0; i < c->n_links; i++) {
        c->best.hand[i] = m->hand[c->links[i].moment][c->links[i].storage];
    }
}

/* ---- one op more ---- */

/* Where an op would stand; NONE: it does not precede or follow each of the chain. */
static uint32_t find_place(const arn_remat_moments *m, uint32_t op) {
    arn_remat_cut *cut = &m->chain->cut[ARN_REMAT_MOST_MOMENTS - 1];
    uint32_t place = 0;
    arn_remat_cut_at(cut, op);
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->op[i] == op || cut->when[m->op[i]] == ARN_REMAT_ANY) return ARENAUT_NONE;
        place += cut->when[m->op[i]] == ARN_REMAT_BEFORE;
    }
    return place;
}

/* As without the op: what is handed from the one before to the one behind goes through it. */
static void set_prices(const arn_remat_moments *m, uint32_t place) {
    arn_remat_chain *c = m->chain;
    for (uint32_t k = 0; k < c->n; k++) {
        const uint32_t from = k < place ? k : k - 1;
        c->now.byte[k] = k == place ? 0 : m->byte[from];
        c->now.unit[k] = k == place ? 1 : m->unit[from];
    }
    for (uint32_t i = 0; i < c->n_links; i++) {
        const uint32_t k = c->links[i].moment;
        const bool is_end = (place == 0 && k == 0) || (place == m->n && k + 1 == place);
        c->now.hand[i] = is_end ? 0 : m->hand[k < place ? k : k - 1][c->links[i].storage];
    }
}

/* Puts the chain to its ops and one more, and returns the place of that; NONE: there is none. */
static uint32_t put(arn_remat_moments *m, uint32_t op) {
    uint32_t with[ARN_REMAT_MOST_MOMENTS];
    const uint32_t place = find_place(m, op);
    if (place == ARENAUT_NONE) return ARENAUT_NONE;
    for (uint32_t k = 0; k <= m->n; k++) {
        with[k] = k < place ? m->op[k] : k == place ? op : m->op[k - 1];
    }
    arn_remat_chain_at(m->chain, with, m->n + 1);
    if (!arn_remat_chain_link(m->chain)) return ARENAUT_NONE;
    set_prices(m, place);
    return place;
}

static int64_t value_with(arn_remat_moments *m, uint32_t op, int64_t target) {
    const uint32_t place = put(m, op);
    if (place == ARENAUT_NONE) return INT64_MIN;
    arn_remat_chain_ascend(m->chain, target, MORE_TRIES, 1);
    arn_remat_chain_round(m->chain, place, target, FEW_TRIES);
    return m->chain->value;
}

/* ---- the best of all ---- */

typedef struct list {
    uint32_t n, op[MOST_BEST];
    double score[MOST_BEST];
} list;

static void keep_best(list *l, uint32_t op, double score) {
    uint32_t at = l->n < MOST_BEST ? l->n++ : MOST_BEST;
    if (at == MOST_BEST && l->score[--at] >= score) return;
    for (; at > 0 && l->score[at - 1] < score; at--) {
        l->op[at] = l->op[at - 1];
        l->score[at] = l->score[at - 1];
    }
    l->op[at] = op;
    l->score[at] = score;
}

/* The first evaluation is the chain without the op: it shows how much is alive there. Few more tell
 * of ops where the cuts take no bytes too many, but others would. */
static void try_few(arn_remat_moments *m, uint32_t op, int64_t target, bool further, list *over,
                    list *high) {
    arn_remat_chain *c = m->chain;
    const uint32_t place = put(m, op);
    if (place == ARENAUT_NONE) return;
    arn_remat_chain_ascend(c, target, 1, 1);
    if (c->slope[place] > 0) keep_best(over, op, c->slope[place] * c->scale[place]);
    if (!further) return;
    arn_remat_chain_ascend(c, target, FEW_TRIES, 1);
    keep_best(high, op, (double)c->value);
}

static bool is_over(const arn_remat_chain *c, uint64_t limit) {
    return arn_remat_chain_spent(c) >= limit || arn_budget_ended(c->cut[0].budget);
}

/* The op with the highest value with more evaluations. */
static uint32_t find_next(arn_remat_moments *m, int64_t target, uint64_t limit, int64_t *value) {
    list both[2] = {{.n = 0}, {.n = 0}};
    uint32_t best = ARENAUT_NONE;
    const uint64_t nodes = (uint64_t)m->n_candidates * m->chain->graph->problem->n_ops;
    const uint32_t stretch = (uint32_t)(nodes / MOST_FURTHER) + 1;
    *value = INT64_MIN;
    for (uint32_t i = 0; i < m->n_candidates && !is_over(m->chain, limit); i++) {
        const bool further = i % stretch == 0;
        try_few(m, m->candidates[i], target, further, &both[0], &both[1]);
    }
    for (uint32_t i = 0; i < 2 * MOST_BEST; i++) {
        const list *l = &both[i % 2];
        if (i / 2 >= l->n || is_over(m->chain, limit)) continue;
        const int64_t next = value_with(m, l->op[i / 2], target);
        if (next <= *value) continue;
        *value = next;
        best = l->op[i / 2];
    }
    return best;
}

/* From the best prices on; at a new moment, another unit may show more. */
static void look_closely(arn_remat_chain *c, int64_t target) {
    arn_remat_prices_copy(c, &c->now, &c->best);
    arn_remat_chain_ascend(c, target, MANY_TRIES, 1);
    for (uint32_t k = 0; k < c->n; k++) arn_remat_chain_round(c, k, target, TRIES_OF_UNIT);
}

void arn_remat_moments_find(arn_remat_moments *m, const int64_t *load, int64_t target,
                            uint64_t limit) {
    enum { PARTS = 2000 };
    arn_remat_chain *c = m->chain;
    const int64_t least = (int64_t)(c->graph->base * c->time_price / PARTS);
    list_candidates(m, load);
    look_closely(c, target);
    keep(m);
    const uint64_t nodes = (uint64_t)m->n_candidates * c->graph->problem->n_ops;
    while (c->n < ARN_REMAT_MOST_MOMENTS && m->value < target && nodes <= MOST_NODES) {
        int64_t value;
        const uint32_t op = find_next(m, target, limit, &value);
        if (op == ARENAUT_NONE || value < m->value + least) break;
        value_with(m, op, target);
        look_closely(c, target);
        keep(m);
    }
    restore(m);
}
