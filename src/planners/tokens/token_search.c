/* Search for packings into tokens: depth-first branch and bound in an order that finds good
 * packings early, then, for problems too large for that, local search over the order of a greedy
 * filling. token_entries.c has the lower bound. */
#include "planners/tokens/token_packing.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/hash.h"
#include "core/sort.h"

/* ---- filling ---- */

/* The moves of the searches: an entry is put into a token, or taken out again. A token remembers
 * its members as bits, so that a look at one costs n / 64. */

/* Tokens while they are being filled. */
typedef struct filling {
    const arn_packer *packer;
    arn_packing packing;
    uint64_t *size;    /* per token */
    uint64_t *pools;   /* per token: its possible pools */
    uint64_t *before;  /* per entry: the possible pools of its token without it */
    uint64_t *members; /* `words` for each token */
} filling;

/* The effort of looking at one token: it grows with the words to compare. */
static uint64_t look_effort(const filling *f) { return 1 + f->packer->words / 4; }

/* Room for as many tokens as entries. False if there is no memory. */
static bool filling_make(arn_packer *packer, filling *f) {
    *f = (filling){.packer = packer};
    const size_t n = packer->n, words = packer->conflicts ? n * packer->words : 0;
    return ARN_REGION_ARRAYS(&packer->region, ARN_ARRAY(f->packing.token, n), ARN_ARRAY(f->size, n),
                             ARN_ARRAY(f->pools, n), ARN_ARRAY(f->before, n),
                             ARN_ARRAY(f->members, words));
}

static void filling_clear(filling *f) {
    f->packing.n_tokens = 0;
    f->packing.total = 0;
}

static uint64_t *members_of(const filling *f, uint32_t token) {
    return f->members + (size_t)token * f->packer->words;
}

static bool has_room(const filling *f, uint32_t token, uint32_t entry) {
    const uint64_t *conflicts = f->packer->conflicts + (size_t)entry * f->packer->words;
    const uint64_t *members = members_of(f, token);
    if (!(f->pools[token] & f->packer->allowed[entry])) return false;
    for (uint32_t w = 0; w < f->packer->words; w++) {
        if (conflicts[w] & members[w]) return false;
    }
    return true;
}

/* Steps for which the token would lie idle around the entry: the fewer, the better it fits. */
static uint64_t idle_around(const filling *f, uint32_t token, uint32_t entry) {
    const arn_packer *packer = f->packer;
    const uint64_t *members = members_of(f, token);
    const uint64_t open = UINT64_C(1)
                          << 32; /* nothing in that direction: fits worse than any gap */
    uint64_t before = open, after = open;
    for (uint32_t w = 0; w < packer->words; w++) {
        for (uint64_t bits = members[w]; bits; bits &= bits - 1) {
            const uint32_t other = 64 * w + arn_lowest_bit(bits);
            if (packer->end[other] <= packer->first[entry]) {
                before = arn_min_u64(before,
                                     (uint64_t)packer->first[entry] - (uint64_t)packer->end[other]);
            } else if (packer->end[entry] <= packer->first[other]) {
                after = arn_min_u64(after,
                                    (uint64_t)packer->first[other] - (uint64_t)packer->end[entry]);
            }
        }
    }
    return before + after;
}

/* Puts an entry into a token, the next one to be opened perhaps. */
static void put(filling *f, uint32_t token, uint32_t entry) {
    const uint64_t size = f->packer->size[entry];
    if (token == f->packing.n_tokens) {
        memset(members_of(f, token), 0, f->packer->words * sizeof *f->members);
        f->size[token] = 0;
        f->pools[token] = f->packer->pools;
        f->packing.n_tokens++;
    }
    if (size > f->size[token]) {
        f->packing.total += size - f->size[token];
        f->size[token] = size;
    }
    members_of(f, token)[entry / 64] |= UINT64_C(1) << entry % 64;
    f->before[entry] = f->pools[token];
    f->pools[token] &= f->packer->allowed[entry];
    f->packing.token[entry] = token;
}

/* Takes out the entry that was put last. Entries come from large to small, so only the one that
 * opened a token has set its size. */
static void take(filling *f, uint32_t entry) {
    const uint32_t token = f->packing.token[entry];
    uint64_t *members = members_of(f, token), left = 0;
    members[entry / 64] &= ~(UINT64_C(1) << entry % 64);
    f->pools[token] = f->before[entry];
    if (token + 1 != f->packing.n_tokens) return;
    for (uint32_t w = 0; w < f->packer->words; w++) left |= members[w];
    if (left) return;
    f->packing.total -= f->size[token];
    f->packing.n_tokens--;
}

/* Each entry, in the order given, into the token that grows least and fits best. Returns
 * the effort that took. */
static uint64_t fill_in_order(filling *f, const uint32_t *order) {
    const arn_packer *packer = f->packer;
    uint64_t looked_at = 0;
    filling_clear(f);
    for (uint32_t i = 0; i < packer->n; i++) {
        const uint32_t entry = order[i];
        uint32_t best = f->packing.n_tokens;
        uint64_t growth = packer->size[entry], idle = UINT64_MAX;
        if (!arn_poll_after(packer->poll, (uint64_t)(f->packing.n_tokens + 1) * packer->words))
            break;
        for (uint32_t k = 0; k < f->packing.n_tokens; k++) {
            looked_at += look_effort(f);
            const uint64_t more =
                packer->size[entry] > f->size[k] ? packer->size[entry] - f->size[k] : 0;
            if (more > growth || !has_room(f, k, entry)) continue;
            const uint64_t here = idle_around(f, k, entry);
            if (more == growth && here >= idle) continue;
            best = k;
            growth = more;
            idle = here;
        }
        put(f, best, entry);
    }
    return looked_at + packer->n;
}

static uint64_t fill(filling *f, arn_packer *packer, const uint32_t *order) {
    return packer->conflicts ? fill_in_order(f, order)
                             : arn_fill_by_rounds(packer, order, &f->packing);
}

/* Makes the filling the best if it is. Adds the effort it took to *spent. If some way of laying it
 * might be better than the one that was found, lowers *unsure to a bound of that. */
static void keep_if_best(arn_packer *packer, const filling *f, bool at_once, uint64_t *spent,
                         uint64_t *unsure) {
    const uint64_t bound = arn_packer_bound(packer, f->packing.total);
    if (arn_poll_ended(packer->poll)) return; /* it may not be whole */
    if (bound >= packer->layout.total) return;
    *spent += arn_packer_lay(packer, &f->packing, at_once);
    if (!packer->next.least) *unsure = arn_min_u64(*unsure, bound);
    if (packer->next.total >= packer->layout.total) return;
    const arn_layout before = packer->layout;
    packer->layout = packer->next;
    packer->next = before;
    packer->best.n_tokens = f->packing.n_tokens;
    packer->best.total = f->packing.total;
    if (packer->n)
        memcpy(packer->best.token, f->packing.token, packer->n * sizeof *packer->best.token);
}

/* ---- search ---- */

/* Entries that are next to each other in time first: then tokens are filled from one end. */
static bool earlier(const void *context, uint32_t a, uint32_t b) {
    const arn_packer *packer = context;
    if (packer->first[a] != packer->first[b]) return packer->first[a] < packer->first[b];
    return packer->size[a] > packer->size[b];
}

arenaut_status arn_packer_start(arn_meter *meter, arn_packer *packer) {
    filling f;
    uint64_t spent = 0, unsure = ARENAUT_UNPLACED;
    uint32_t *order = arn_region_allocate(&packer->region, packer->n, 2 * sizeof *order);
    if (!order || !filling_make(packer, &f)) return arn_no_memory(meter->planning->err);
    for (uint32_t i = 0; i < packer->n; i++) order[i] = i; /* from large to small */
    if (packer->conflicts) {
        fill_in_order(&f, order);
        keep_if_best(packer, &f, true, &spent, &unsure);
    }
    spent += arn_fill_by_rounds(packer, order, &f.packing);
    keep_if_best(packer, &f, true, &spent, &unsure);
    if (packer->conflicts) {
        arn_sort_ids(order, packer->n, earlier, packer, order + packer->n);
        fill_in_order(&f, order);
        keep_if_best(packer, &f, true, &spent, &unsure);
    }
    arn_meter_spend(meter, spent);
    return packer->out_of_memory ? arn_no_memory(meter->planning->err) : ARENAUT_OK;
}

/* ---- all packings ---- */

/* The last choice tried for an entry: tokens in the order of (idle, number), then a new one. */
typedef struct tried {
    uint64_t idle;
    uint32_t token;
    bool any, opened;
} tried;

typedef struct search {
    arn_packer *packer;
    filling filling;
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
    const filling *f = &s->filling;
    uint32_t best = f->packing.n_tokens;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < f->packing.n_tokens; k++) {
        if (!has_room(f, k, entry)) continue;
        const uint64_t idle = idle_around(f, k, entry);
        if (t->any && (idle < t->idle || (idle == t->idle && k <= t->token))) continue;
        if (idle >= least) continue;
        best = k;
        least = idle;
    }
    s->spent += (f->packing.n_tokens + 1) * look_effort(f);
    arn_poll_after(s->packer->poll, (uint64_t)(f->packing.n_tokens + 1) * s->packer->words);
    if (best < f->packing.n_tokens) *t = (tried){least, best, true, false};
    return best;
}

/* Pruning: whether the partial packing can still become better than the best. The open tokens count
 * with their sizes, and the missing ones with their floors. */
static bool is_hopeful(const search *s, uint32_t n_tokens, uint64_t total) {
    const arn_packer *packer = s->packer;
    const uint64_t missing = n_tokens < packer->n_floors ? packer->floors[n_tokens] : 0;
    return arn_packer_bound(packer, total + missing) < packer->layout.total;
}

/* Puts the entry into the next token that was not tried yet. */
static bool advance(search *s, uint32_t entry) {
    tried *t = &s->tried[entry];
    filling *f = &s->filling;
    if (t->opened) return false;
    const uint32_t token = next_token(s, entry, t);
    if (token == f->packing.n_tokens) {
        t->opened = true;
        if (!is_hopeful(s, token + 1, f->packing.total + s->packer->size[entry])) return false;
    }
    put(f, token, entry);
    return true;
}

/* Depth first. True if all packings have been tried, or pruned. */
static bool look_at_all(search *s) {
    const uint32_t n = s->packer->n;
    uint32_t entry = 0;
    filling_clear(&s->filling);
    if (n == 0) return true;
    s->tried[0] = (tried){0, 0, false, false};
    while (goes_on(s)) {
        const bool hopeful = is_hopeful(s, s->filling.packing.n_tokens, s->filling.packing.total);
        if (hopeful && entry < n && advance(s, entry)) {
            entry++;
            if (entry < n) s->tried[entry] = (tried){0, 0, false, false};
            if (entry == n) keep_if_best(s->packer, &s->filling, false, &s->spent, &s->unsure);
            continue;
        }
        if (entry == 0) return true;
        take(&s->filling, --entry);
    }
    return s->packer->layout.total <= s->packer->bound;
}

/* The result of the complete search. */
static void conclude(search *s) {
    arn_packer *packer = s->packer;
    const uint64_t least = arn_min_u64(packer->layout.total, s->unsure);
    if (least == ARENAUT_UNPLACED) packer->impossible = true;
    else packer->bound = arn_max_u64(packer->bound, least);
}

/* ---- by classes of size ---- */

/* A class of size: the highest bit and the `bits` behind it. */
static uint64_t class_of(uint64_t size, uint32_t bits) {
    uint32_t length = 0;
    while (length < 64 && size >> length) length++;
    const uint32_t shift = length > bits + 1 ? length - bits - 1 : 0;
    return ((uint64_t)length << 32) + (size >> shift);
}

/* Entries of about one size in the order of time, which leaves the fewest gaps between them; from
 * the large classes to the small ones. `key` has room for all entries. */
static void sort_by_class(const arn_packer *packer, uint32_t bits, uint64_t *key, uint32_t *order) {
    uint32_t *scratch = order + packer->n;
    for (uint32_t i = 0; i < packer->n; i++) {
        order[i] = i;
        key[i] = arn_step_key(packer->first[i]);
    }
    arn_sort_by_key(order, packer->n, key, scratch);
    for (uint32_t i = 0; i < packer->n; i++) key[i] = ~class_of(packer->size[i], bits);
    arn_sort_by_key(order, packer->n, key, scratch);
}

/* Tries finer and coarser classes. Leaves the order that is best, of those and of that by size. */
static void try_classes(search *s, uint64_t *key, uint32_t *order) {
    enum { FINEST = 6, COARSEST = 2 };
    arn_packer *packer = s->packer;
    uint32_t best = 64;
    uint64_t least = packer->best.total;
    for (uint32_t bits = FINEST; bits >= COARSEST && goes_on(s); bits--) {
        sort_by_class(packer, bits, key, order);
        s->spent += fill(&s->filling, packer, order);
        if (arn_poll_ended(packer->poll)) return;
        keep_if_best(packer, &s->filling, false, &s->spent, &s->unsure);
        if (s->filling.packing.total >= least) continue;
        least = s->filling.packing.total;
        best = bits;
    }
    sort_by_class(packer, best, key, order);
}

/* ---- by chance ---- */

static void move(uint32_t *order, uint32_t from, uint32_t to) {
    const uint32_t entry = order[from];
    for (; from < to; from++) order[from] = order[from + 1];
    for (; from > to; from--) order[from] = order[from - 1];
    order[to] = entry;
}

/* Local search from a good order: one entry at a time is moved elsewhere, and the new order is
 * kept if it is no worse, so that the search wanders over plateaus. */
static void try_by_chance(search *s, uint32_t *order) {
    arn_packer *packer = s->packer;
    uint64_t state = s->meter->planning->options->seed;
    s->spent += fill(&s->filling, packer, order);
    uint64_t total = s->filling.packing.total;
    while (packer->n > 1 && goes_on(s)) {
        const uint32_t from = (uint32_t)(arn_random_next(&state) % packer->n);
        const uint32_t to = (uint32_t)(arn_random_next(&state) % packer->n);
        move(order, from, to);
        s->spent += fill(&s->filling, packer, order);
        if (s->filling.packing.total > total) {
            move(order, to, from);
            continue;
        }
        total = s->filling.packing.total;
        keep_if_best(packer, &s->filling, false, &s->spent, &s->unsure);
    }
}

/* Where the search through all packings has not ended: from large to small, or, if there are too
 * many entries for that search, from the best classes. */
static arenaut_status improve_by_chance(search *s) {
    arn_packer *packer = s->packer;
    uint32_t *order = NULL;
    uint64_t *key = NULL;
    if (!ARN_REGION_ARRAYS(&packer->region, ARN_ARRAY(order, (size_t)packer->n * 2),
                           ARN_ARRAY(key, packer->n)))
        return arn_no_memory(s->meter->planning->err);
    if (packer->conflicts) {
        for (uint32_t i = 0; i < packer->n; i++) order[i] = i;
    } else {
        try_classes(s, key, order);
    }
    try_by_chance(s, order);
    return ARENAUT_OK;
}

arenaut_status arn_packer_improve(arn_meter *meter, uint64_t effort, arn_packer *packer) {
    search s = {.packer = packer, .meter = meter, .effort = effort / 2, .unsure = ARENAUT_UNPLACED};
    arenaut_status st = ARENAUT_OK;
    s.tried = arn_region_allocate(&packer->region, packer->n, sizeof *s.tried);
    if (!s.tried || !filling_make(packer, &s.filling)) return arn_no_memory(meter->planning->err);
    if (packer->conflicts && look_at_all(&s)) {
        conclude(&s);
    } else {
        s.effort = effort;
        st = improve_by_chance(&s);
    }
    arn_meter_spend(meter, s.spent - s.reported);
    return packer->out_of_memory ? arn_no_memory(meter->planning->err) : st;
}
