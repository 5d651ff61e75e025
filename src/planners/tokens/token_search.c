/* Looks for better packings: first through all of them, depth first and in an order that finds good
 * ones early, left out where the bound shows that they cannot be better; then, where that is too
 * much, by moving entries about in the order of a greedy filling. token_entries.c has the bound. */
#include "core/checked.h"
#include "core/fail.h"
#include "core/random.h"
#include "core/sort.h"
#include "planners/tokens/token_packing.h"

/* Entries that are next to each other in time first: then tokens are filled from one end. */
static bool earlier(const void *context, uint32_t a, uint32_t b) {
    const arn_packer *packer = context;
    if (packer->first[a] != packer->first[b]) return packer->first[a] < packer->first[b];
    return packer->size[a] > packer->size[b];
}

arenaut_status arn_packer_start(arn_meter *meter, arn_packer *packer) {
    arn_filling f;
    uint64_t spent = 0, unsure = ARENAUT_UNPLACED;
    uint32_t *order = arn_region_allocate(&packer->region, packer->n, 2 * sizeof *order);
    if (!order || !arn_filling_make(packer, &f)) return arn_no_memory(meter->planning->err);
    for (uint32_t i = 0; i < packer->n; i++) order[i] = i;
    arn_fill_in_order(&f, order); /* from large to small */
    arn_packer_keep(packer, &f, true, &spent, &unsure);
    arn_sort_ids(order, packer->n, earlier, packer, order + packer->n);
    arn_fill_in_order(&f, order);
    arn_packer_keep(packer, &f, true, &spent, &unsure);
    arn_meter_spend(meter, spent);
    return packer->out_of_memory ? arn_no_memory(meter->planning->err) : ARENAUT_OK;
}

/* ---- all packings ---- */

/* What has been tried for an entry: tokens in the order of (idle, number), then a new one. */
typedef struct tried {
    uint64_t idle;
    uint32_t token;
    bool any, opened;
} tried;

typedef struct search {
    arn_packer *packer;
    arn_filling filling;
    tried *tried; /* per entry */
    arn_meter *meter;
    uint64_t effort, spent, reported;
    uint64_t unsure; /* packings that were not laid as well as may be come to no less */
} search;

static bool goes_on(search *s) {
    enum { REPORT_EVERY = 4096 };
    if (s->packer->layout.total <= s->packer->bound || s->packer->out_of_memory) return false;
    if (s->spent - s->reported >= REPORT_EVERY) {
        arn_meter_spend(s->meter, s->spent - s->reported);
        s->reported = s->spent;
    }
    return s->spent < s->effort && !s->meter->stopped;
}

/* The token that fits next best after those tried; the number of tokens if none is left. */
static uint32_t next_token(search *s, uint32_t entry, tried *t) {
    const arn_filling *f = &s->filling;
    uint32_t best = f->packing.n_tokens;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < f->packing.n_tokens; k++) {
        if (!arn_filling_has_room(f, k, entry)) continue;
        const uint64_t idle = arn_filling_idle(f, k, entry);
        if (t->any && (idle < t->idle || (idle == t->idle && k <= t->token))) continue;
        if (idle >= least) continue;
        best = k;
        least = idle;
    }
    s->spent += (f->packing.n_tokens + 1) * arn_filling_step(f);
    arn_ask_after(s->packer->ask, (uint64_t)(f->packing.n_tokens + 1) * s->packer->words);
    if (best < f->packing.n_tokens) *t = (tried){least, best, true, false};
    return best;
}

/* Whether what has begun can still become better than the best: the tokens that are open cost
 * what they cost, and those that are missing at least their floors. */
static bool is_hopeful(const search *s, uint32_t n_tokens, uint64_t total) {
    const arn_packer *packer = s->packer;
    const uint64_t missing = n_tokens < packer->n_floors ? packer->floors[n_tokens] : 0;
    return arn_packer_bound(packer, total + missing) < packer->layout.total;
}

/* Puts the entry where it has not been yet. */
static bool advance(search *s, uint32_t entry) {
    tried *t = &s->tried[entry];
    arn_filling *f = &s->filling;
    if (t->opened) return false;
    const uint32_t token = next_token(s, entry, t);
    if (token == f->packing.n_tokens) {
        t->opened = true;
        if (!is_hopeful(s, token + 1, f->packing.total + s->packer->size[entry])) return false;
    }
    arn_filling_put(f, token, entry);
    return true;
}

/* Depth first. True if all packings have been looked at, or left out for good reason. */
static bool look_at_all(search *s) {
    const uint32_t n = s->packer->n;
    uint32_t entry = 0;
    arn_filling_clear(&s->filling);
    if (n == 0) return true;
    s->tried[0] = (tried){0, 0, false, false};
    while (goes_on(s)) {
        const bool hopeful = is_hopeful(s, s->filling.packing.n_tokens, s->filling.packing.total);
        if (hopeful && entry < n && advance(s, entry)) {
            entry++;
            if (entry < n) s->tried[entry] = (tried){0, 0, false, false};
            if (entry == n) arn_packer_keep(s->packer, &s->filling, false, &s->spent, &s->unsure);
            continue;
        }
        if (entry == 0) return true;
        arn_filling_take(&s->filling, --entry);
    }
    return s->packer->layout.total <= s->packer->bound;
}

/* What looking at all has shown. */
static void conclude(search *s) {
    arn_packer *packer = s->packer;
    const uint64_t least = arn_min_u64(packer->layout.total, s->unsure);
    if (least == ARENAUT_UNPLACED) packer->impossible = true;
    else packer->bound = arn_max_u64(packer->bound, least);
}

/* ---- by chance ---- */

static void move(uint32_t *order, uint32_t from, uint32_t to) {
    const uint32_t entry = order[from];
    for (; from < to; from++) order[from] = order[from + 1];
    for (; from > to; from--) order[from] = order[from - 1];
    order[to] = entry;
}

/* From the order by size, or what has become of it, one entry at a time elsewhere. What is no
 * worse is kept, so that it wanders. */
static void try_by_chance(search *s, uint32_t *order) {
    arn_packer *packer = s->packer;
    uint64_t state = s->meter->planning->options->seed;
    for (uint32_t i = 0; i < packer->n; i++) order[i] = i;
    s->spent += arn_fill_in_order(&s->filling, order);
    uint64_t total = s->filling.packing.total;
    while (packer->n > 1 && goes_on(s)) {
        const uint32_t from = (uint32_t)(arn_random_next(&state) % packer->n);
        const uint32_t to = (uint32_t)(arn_random_next(&state) % packer->n);
        move(order, from, to);
        s->spent += arn_fill_in_order(&s->filling, order);
        if (s->filling.packing.total > total) {
            move(order, to, from);
            continue;
        }
        total = s->filling.packing.total;
        arn_packer_keep(packer, &s->filling, false, &s->spent, &s->unsure);
    }
}

arenaut_status arn_packer_improve(arn_meter *meter, uint64_t effort, arn_packer *packer) {
    search s = {.packer = packer, .meter = meter, .effort = effort / 2, .unsure = ARENAUT_UNPLACED};
    s.tried = arn_region_allocate(&packer->region, packer->n, sizeof *s.tried);
    uint32_t *order = arn_region_allocate(&packer->region, packer->n, sizeof *order);
    if (!s.tried || !order || !arn_filling_make(packer, &s.filling)) {
        return arn_no_memory(meter->planning->err);
    }
    if (look_at_all(&s)) {
        conclude(&s);
    } else {
        s.effort = effort;
        try_by_chance(&s, order);
    }
    arn_meter_spend(meter, s.spent - s.reported);
    return packer->out_of_memory ? arn_no_memory(meter->planning->err) : ARENAUT_OK;
}
