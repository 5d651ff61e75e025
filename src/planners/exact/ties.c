#include "planners/exact/ties.h"

#include "core/checked.h"
#include "core/sort.h"
#include "planners/bounds/hosts.h"
#include "ir/lifetimes.h"

/* No more pairs in groups than this. */
enum { MOST_MATES = 1 << 22 };

typedef struct work {
    const arn_exact_input *in;
    const uint8_t *pair;
    const arenaut_problem *p;
    arn_exact_ties *ties;
    arn_hosts hosts;
    arn_region *region, scratch;
} work;

static arn_exact_pair assumed(const work *w, uint32_t heir) {
    return w->pair ? (arn_exact_pair)w->pair[heir] : ARN_EXACT_OPEN;
}

/* The buffer's base, if both are in the pool. */
static uint32_t base_of(const arn_exact_input *in, uint32_t b) {
    const uint32_t base = arenaut_problem_same_base(in->problem, b);
    if (base == ARENAUT_NONE || !arn_exact_in_pool(in, b)) return ARENAUT_NONE;
    return arn_exact_in_pool(in, base) ? base : ARENAUT_NONE;
}

static bool lives_meet(const arenaut_problem *p, uint32_t a, uint32_t b) {
    const arenaut_interval *la = arenaut_problem_lifetimes(p, a);
    const arenaut_interval *lb = arenaut_problem_lifetimes(p, b);
    const uint32_t na = arenaut_problem_lifetime_count(p, a);
    const uint32_t nb = arenaut_problem_lifetime_count(p, b);
    for (uint32_t i = 0, k = 0; i < na && k < nb;) {
        if (la[i].first < lb[k].end && lb[k].first < la[i].end) return true;
        if (la[i].end < lb[k].end) i++;
        else k++;
    }
    return false;
}

bool arn_exact_has_edge(const arenaut_problem *p, uint32_t a, uint32_t b) {
    const arenaut_conflict wanted = {a < b ? a : b, a < b ? b : a};
    uint32_t low = 0, high = p->n_conflicts;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const arenaut_conflict e = p->conflict[middle];
        if (e.a < wanted.a || (e.a == wanted.a && e.b < wanted.b)) low = middle + 1;
        else high = middle;
    }
    return low < p->n_conflicts && p->conflict[low].a == wanted.a && p->conflict[low].b == wanted.b;
}

static bool conflict(const arenaut_problem *p, uint32_t a, uint32_t b) {
    return lives_meet(p, a, b) || arn_exact_has_edge(p, a, b);
}

bool arn_exact_is_pair(const arn_exact_input *in, uint32_t heir) {
    const uint32_t base = base_of(in, heir);
    return base != ARENAUT_NONE && conflict(in->problem, heir, base);
}

static bool lies_in(const arenaut_problem *p, uint32_t slice, uint32_t host) {
    for (uint32_t at = arenaut_problem_inside(p, slice); at != ARENAUT_NONE;
         at = arenaut_problem_inside(p, at)) {
        if (at == host) return true;
    }
    return false;
}

bool arn_exact_must_be_apart(const arenaut_problem *p, uint32_t a, uint32_t b,
                             const uint64_t *place) {
    const bool related =
        arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a;
    if (related && place[a] == place[b]) return false;
    return conflict(p, a, b) && !lies_in(p, a, b) && !lies_in(p, b, a);
}

/* ---- groups ---- */

/* The root of a buffer, and in *delta its distance from there. */
static uint32_t find_root(const work *w, uint32_t b, int64_t *delta) {
    const arn_exact_ties *t = w->ties;
    uint64_t length = 0;
    *delta = 0;
    for (; t->root[b] != b; b = t->root[b], length++) *delta += t->delta[b];
    arn_ask_after(w->in->ask, length);
    return b;
}

static void join(work *w, uint32_t heir, uint32_t base) {
    arn_exact_ties *t = w->ties;
    int64_t from_heir, from_base;
    const uint32_t a = find_root(w, heir, &from_heir), b = find_root(w, base, &from_base);
    if (a == b) {
        t->torn = t->torn || from_heir != from_base;
        return;
    }
    t->root[a] = b;
    t->delta[a] = from_base - from_heir;
}

/* Points every buffer straight at its root. Roots of joined hosts may be several steps away. */
static void flatten(work *w) {
    arn_exact_ties *t = w->ties;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        int64_t delta;
        const uint32_t root = find_root(w, b, &delta);
        /* Shorten the path for those who come later; the sums stay the same. */
        for (uint32_t at = b; t->root[at] != root && at != root;) {
            const uint32_t up = t->root[at];
            const int64_t own = t->delta[at];
            t->root[at] = root;
            t->delta[at] = delta;
            delta -= own;
            at = up;
        }
    }
}

/* Counts distances from the lowest buffer of the group in place of the root. */
static bool count_from_lowest(work *w) {
    arn_exact_ties *t = w->ties;
    int64_t *lowest = arn_region_allocate(&w->scratch, w->p->n_buffers, sizeof *lowest);
    if (!lowest) return false;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) lowest[b] = INT64_MAX;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        if (!arn_exact_in_pool(w->in, b)) continue;
        if (t->delta[b] < lowest[t->root[b]]) lowest[t->root[b]] = t->delta[b];
    }
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        if (arn_exact_in_pool(w->in, b)) t->delta[b] -= lowest[t->root[b]];
    }
    return true;
}

static bool find_groups(work *w) {
    arn_exact_ties *t = w->ties;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        const bool slice = w->hosts.host && arn_exact_in_pool(w->in, b);
        t->root[b] = slice ? w->hosts.root[b] : b;
        t->delta[b] = slice ? (int64_t)w->hosts.delta[b] : 0;
    }
    for (uint32_t b = 0; b < w->p->n_buffers && !arn_ask_ended(w->in->ask); b++) {
        if (assumed(w, b) == ARN_EXACT_JOINED && base_of(w->in, b) != ARENAUT_NONE) {
            join(w, b, w->p->same_base[b]);
        }
    }
    flatten(w);
    return count_from_lowest(w);
}

/* ---- what is fixed, and what cannot be ---- */

/* Spreads a fixed offset to the whole group. */
static bool find_fixed(work *w) {
    arn_exact_ties *t = w->ties;
    uint64_t *origin = arn_region_allocate(&w->scratch, w->p->n_buffers, sizeof *origin);
    if (!origin) return false;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) origin[b] = ARENAUT_UNPLACED;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        const uint64_t fixed = arenaut_problem_fixed_offset(w->p, b);
        if (fixed == ARENAUT_UNPLACED || !arn_exact_in_pool(w->in, b)) continue;
        uint64_t *at = &origin[t->root[b]];
        const bool elsewhere = *at != ARENAUT_UNPLACED && *at != fixed - (uint64_t)t->delta[b];
        if (fixed < (uint64_t)t->delta[b] || elsewhere) t->torn = true;
        *at = fixed - (uint64_t)t->delta[b];
    }
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        const uint64_t at = arn_exact_in_pool(w->in, b) ? origin[t->root[b]] : ARENAUT_UNPLACED;
        t->fixed[b] = at == ARENAUT_UNPLACED ? at : at + (uint64_t)t->delta[b];
    }
    return true;
}

static bool are_pair(const work *w, uint32_t a, uint32_t b, uint32_t *heir) {
    *heir = arenaut_problem_same_base(w->p, a) == b   ? a
            : arenaut_problem_same_base(w->p, b) == a ? b
                                                      : ARENAUT_NONE;
    return *heir != ARENAUT_NONE;
}

/* Whether two of one group cannot be as far apart as they are. */
static bool tear(const work *w, uint32_t a, uint32_t b) {
    const uint64_t da = (uint64_t)w->ties->delta[a], db = (uint64_t)w->ties->delta[b];
    uint32_t heir;
    if (da >= db + w->p->size[b] || db >= da + w->p->size[a]) return false;
    if (arn_hosts_kin(&w->hosts, a, b)) return false;
    if (are_pair(w, a, b, &heir) && da == db) return assumed(w, heir) == ARN_EXACT_APART;
    return conflict(w->p, a, b);
}

/* Alignments of one group must agree: each divides the distance to the largest one's. */
static bool misaligned(const work *w, uint32_t a, uint32_t b) {
    const uint64_t align_a = arenaut_problem_align(w->p, a),
                   align_b = arenaut_problem_align(w->p, b);
    const uint64_t apart = (uint64_t)w->ties->delta[a] - (uint64_t)w->ties->delta[b];
    return apart & (arn_min_u64(align_a, align_b) - 1);
}

static bool root_before(const void *context, uint32_t a, uint32_t b) {
    const uint32_t *root = context;
    return root[a] < root[b];
}

static bool find_tears(work *w) {
    arn_exact_ties *t = w->ties;
    uint32_t n = 0, *order = arn_region_allocate(&w->scratch, w->p->n_buffers, 2 * sizeof *order);
    if (!order) return false;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        if (arn_exact_in_pool(w->in, b)) order[n++] = b;
    }
    arn_sort_ids(order, n, root_before, t->root, order + w->p->n_buffers);
    uint64_t pairs = 0;
    for (uint32_t i = 0, first = 0; i < n && !t->large; i++) {
        if (t->root[order[i]] != t->root[order[first]]) first = i;
        pairs += i - first;
        t->large = pairs > MOST_MATES;
        const uint64_t lives = arenaut_problem_lifetime_count(w->p, order[i]);
        if (!arn_ask_after(w->in->ask, (i - first) * lives)) break;
        for (uint32_t k = first; k < i && !t->torn; k++) {
            t->torn = tear(w, order[i], order[k]) || misaligned(w, order[i], order[k]);
        }
    }
    return true;
}

/* ---- lives ---- */

typedef struct life_list {
    const arenaut_allocator *allocator;
    arenaut_interval *at;
    uint32_t n, capacity;
} life_list;

static bool add_life(life_list *list, int64_t first, int64_t end) {
    if (!arn_grow(list->allocator, (void **)&list->at, &list->capacity, (uint64_t)list->n + 1,
                  sizeof *list->at)) {
        return false;
    }
    const arenaut_interval life = {first, end};
    list->at[list->n++] = life;
    return true;
}

/* Copies the lives from `start` on, without what overlaps one of the covers, behind themselves
 * and then over themselves. Both lists are in order. */
static bool cut_lives(life_list *list, uint32_t start, const arenaut_interval *cover, uint32_t n) {
    const uint32_t end = list->n;
    for (uint32_t i = start, k = 0; i < end; i++) {
        int64_t first = list->at[i].first;
        const int64_t last = list->at[i].end;
        k += arn_lives_before(cover + k, n - k, first);
        for (uint32_t c = k; c < n && cover[c].first < last; c++) {
            if (first < cover[c].first && !add_life(list, first, cover[c].first)) return false;
            first = cover[c].end;
        }
        if (first < last && !add_life(list, first, last)) return false;
    }
    const uint32_t kept = list->n - end;
    for (uint32_t i = 0; i < kept; i++) list->at[start + i] = list->at[end + i];
    list->n = start + kept;
    return true;
}

static bool cut_by(const work *w, life_list *list, uint32_t start, uint32_t by) {
    if (!arn_ask_after(w->in->ask, list->n - start + 1)) return true;
    return cut_lives(list, start, arenaut_problem_lifetimes(w->p, by),
                     arenaut_problem_lifetime_count(w->p, by));
}

static bool covers(const work *w, uint32_t heir, uint32_t by, uint32_t b) {
    return assumed(w, heir) != ARN_EXACT_APART && arn_exact_smaller(w->p, b, by) == b &&
           !arn_hosts_kin(&w->hosts, b, by);
}

/* first[b], next[heir]: the heirs of b that are in the pool with it. */
typedef struct heirs {
    uint32_t *first, *next;
} heirs;

static bool list_heirs(work *w, heirs *h) {
    h->first = arn_region_allocate(&w->scratch, w->p->n_buffers, sizeof *h->first);
    h->next = arn_region_allocate(&w->scratch, w->p->n_buffers, sizeof *h->next);
    if (!h->first || !h->next) return false;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) h->first[b] = ARENAUT_NONE;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        const uint32_t base = base_of(w->in, b);
        if (base == ARENAUT_NONE) continue;
        h->next[b] = h->first[base];
        h->first[base] = b;
    }
    return true;
}

static bool add_lives(const work *w, life_list *list, const heirs *h, uint32_t b) {
    const uint32_t start = list->n, base = base_of(w->in, b);
    const arenaut_interval *life = arenaut_problem_lifetimes(w->p, b);
    bool done = true;
    for (uint32_t k = 0; k < arenaut_problem_lifetime_count(w->p, b) && done; k++) {
        done = add_life(list, life[k].first, life[k].end);
    }
    uint32_t host = w->hosts.host ? w->hosts.host[b] : ARENAUT_NONE;
    for (; host != ARENAUT_NONE && done; host = w->hosts.host[host]) {
        done = cut_by(w, list, start, host);
        if (arn_ask_ended(w->in->ask)) break;
    }
    if (done && base != ARENAUT_NONE && covers(w, b, base, b)) done = cut_by(w, list, start, base);
    for (uint32_t k = h->first[b]; k != ARENAUT_NONE && done; k = h->next[k]) {
        if (covers(w, k, k, b)) done = cut_by(w, list, start, k);
    }
    return done;
}

static bool find_lives(work *w) {
    arn_exact_ties *t = w->ties;
    life_list list = {w->in->allocator, NULL, 0, 0};
    heirs h;
    bool done = list_heirs(w, &h);
    for (uint32_t b = 0; b < w->p->n_buffers && done; b++) {
        t->life_start[b] = list.n;
        if (arn_exact_in_pool(w->in, b)) done = add_lives(w, &list, &h, b);
    }
    t->life_start[w->p->n_buffers] = list.n;
    t->life = arn_region_allocate(w->region, list.n, sizeof *t->life);
    for (uint32_t i = 0; done && t->life && i < list.n; i++) t->life[i] = list.at[i];
    arn_release(w->in->allocator, list.at);
    return done && t->life;
}

static bool find_all(work *w) {
    arn_exact_ties *t = w->ties;
    const uint32_t n = w->p->n_buffers;
    t->root = arn_region_allocate(w->region, n, sizeof *t->root);
    t->delta = arn_region_allocate(w->region, n, sizeof *t->delta);
    t->fixed = arn_region_allocate(w->region, n, sizeof *t->fixed);
    t->life_start = arn_region_allocate(w->region, (size_t)n + 1, sizeof *t->life_start);
    return t->root && t->delta && t->fixed && t->life_start &&
           arn_hosts_find(w->p, &w->scratch, &w->hosts) && find_groups(w) && find_fixed(w) &&
           find_tears(w) && find_lives(w);
}

bool arn_exact_find_ties(const arn_exact_case *assumed, arn_region *region, arn_exact_ties *ties) {
    const arn_exact_ties none = {.torn = false};
    *ties = none;
    const arn_exact_input *in = &assumed->in;
    if (!in->problem->same_base && !in->problem->inside) return true;
    work w = {.in = in, .pair = assumed->pair, .p = in->problem, .ties = ties, .region = region};
    arn_region_init(&w.scratch, in->allocator);
    const bool done = find_all(&w);
    arn_region_free(&w.scratch);
    return done;
}
