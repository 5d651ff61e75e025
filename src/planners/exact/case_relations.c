/* Cases: questions about two buffers, the groups of buffers that move together, and the lifetimes
 * that the relations of a case leave. */
#include "planners/exact/case_relations.h"

#include "core/checked.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "ir/pair_relations.h"

/* ---- two buffers ---- */

/* Questions that the model, the search and the proofs have in common, answered from the problem
 * itself, without a model: a few per packing. The data of the inner loop is in the model
 * (item_model.h). */

arn_exact_case arn_exact_case_of(const arn_exact_input *in, const uint8_t *pair,
                                 const uint32_t *pool_of, uint32_t pool) {
    arn_exact_case c = {*in, pair};
    c.in.pool = pool;
    c.in.pool_of = pool_of;
    c.in.progress = NULL;
    return c;
}

/* The base of `b` if both are in the pool, else ARENAUT_NONE. */
static uint32_t base_of(const arn_exact_input *in, uint32_t b) {
    const uint32_t base = arenaut_problem_same_base(in->problem, b);
    if (base == ARENAUT_NONE || !arn_exact_in_pool(in, b)) return ARENAUT_NONE;
    return arn_exact_in_pool(in, base) ? base : ARENAUT_NONE;
}

uint32_t arn_exact_heir_of(const arenaut_problem *p, uint32_t a, uint32_t b) {
    if (arenaut_problem_same_base(p, a) == b) return a;
    return arenaut_problem_same_base(p, b) == a ? b : ARENAUT_NONE;
}

bool arn_exact_is_pair(const arn_exact_input *in, uint32_t heir) {
    const uint32_t base = base_of(in, heir);
    return base != ARENAUT_NONE && arn_exact_conflict(in->problem, heir, base);
}

bool arn_exact_conflict(const arenaut_problem *p, uint32_t a, uint32_t b) {
    return arn_alive_together(p, a, b) || arn_have_edge(p, a, b);
}

static bool lies_inside(const arenaut_problem *p, uint32_t slice, uint32_t host) {
    uint32_t at = arenaut_problem_inside(p, slice);
    while (at != ARENAUT_NONE && at != host) at = arenaut_problem_inside(p, at);
    return at != ARENAUT_NONE;
}

bool arn_exact_must_be_apart(const arenaut_problem *p, uint32_t a, uint32_t b,
                             const uint64_t *place) {
    if (place[a] == place[b] && arn_exact_heir_of(p, a, b) != ARENAUT_NONE) return false;
    return arn_exact_conflict(p, a, b) && !lies_inside(p, a, b) && !lies_inside(p, b, a);
}

uint32_t arn_exact_only_pool(const arenaut_problem *p, uint32_t b) {
    const uint64_t pools = arenaut_problem_pools(p, b);
    return pools & (pools - 1) ? ARENAUT_NONE : arn_lowest_bit(pools);
}

/* ---- joining ---- */

/* A group is a ring of buffers with a root that all of them name (union by size), so that two
 * groups are told apart at once, gone through in order, and joined at the cost of the smaller one.
 * Both the relations of a case and the first case (case_branching.c) are made of these. */

bool arn_exact_groups_make(const arn_exact_input *in, arn_region *region, arn_exact_groups *g) {
    const uint32_t n = in->problem->n_buffers;
    g->in = in;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(g->root, n), ARN_ARRAY(g->next, n),
                           ARN_ARRAY(g->size, n), ARN_ARRAY(g->at, n))) {
        return false;
    }
    if (!arn_hosts_find(in->problem, region, &g->hosts)) return false;
    for (uint32_t b = 0; b < n; b++) {
        g->next[b] = g->root[b] = b;
        g->size[b] = 1;
        g->at[b] = 0;
    }
    for (uint32_t b = 0; b < n && g->hosts.root; b++) {
        const uint32_t root = g->hosts.root[b];
        if (root == b || !arn_exact_in_pool(in, b)) continue;
        g->root[b] = root;
        g->at[b] = g->hosts.delta[b];
        g->next[b] = g->next[root];
        g->next[root] = b;
        g->size[root]++;
    }
    return true;
}

/* Moves the group of `b` up by so many bytes, modulo 2^64, and gives it another root. */
static void move(arn_exact_groups *g, uint32_t b, uint64_t by, uint32_t root) {
    uint32_t i = b;
    do {
        g->at[i] += by;
        g->root[i] = root;
        i = g->next[i];
    } while (i != b);
}

bool arn_exact_join(arn_exact_groups *g, uint32_t heir) {
    const uint32_t base = g->in->problem->same_base[heir];
    const uint32_t a = g->root[heir], b = g->root[base];
    if (a == b) return g->at[heir] == g->at[base];
    const uint64_t up = g->at[base] - g->at[heir];
    const bool heir_moves = g->size[a] <= g->size[b];
    arn_poll_after(g->in->poll, heir_moves ? g->size[a] : g->size[b]);
    if (heir_moves) move(g, heir, up, b);
    else move(g, base, 0 - up, a);
    g->size[heir_moves ? b : a] = g->size[a] + g->size[b];
    const uint32_t after = g->next[heir];
    g->next[heir] = g->next[base];
    g->next[base] = after;
    return true;
}

bool arn_exact_may_keep(const arn_exact_groups *g, uint32_t a, uint32_t b, int64_t distance) {
    const arenaut_problem *p = g->in->problem;
    /* Powers of two: each divides the distance to a buffer with a larger one. */
    const uint64_t align = arn_min_u64(arenaut_problem_align(p, a), arenaut_problem_align(p, b));
    if ((uint64_t)distance & (align - 1)) return false;
    if (!arn_exact_share_bytes(p, a, b, distance) || arn_hosts_nested(&g->hosts, a, b)) return true;
    if (distance == 0 && arn_exact_heir_of(p, a, b) != ARENAUT_NONE) return true;
    return !arn_exact_conflict(p, a, b);
}

/* ---- relations ---- */

/* The groups of a case are made, fixed offsets spread over them, every group searched for two
 * buffers that cannot be as far apart as they are, and lifetimes cut. Comparing the buffers of a
 * group is quadratic in its size, which is why there is a limit. */

/* No more pairs of buffers in groups than this. */
enum { MOST_COMPARED = 1 << 22 };

typedef struct work {
    const arn_exact_input *in;
    const arn_exact_case *assumed;
    const arenaut_problem *p;
    arn_exact_relations *found;
    arn_exact_groups groups;
    arn_region *region, scratch;
} work;

/* ---- groups ---- */

/* Joins the pairs that are assumed to be joined. */
static bool find_groups(work *w) {
    if (!arn_exact_groups_make(w->in, &w->scratch, &w->groups)) return false;
    for (uint32_t b = 0; b < w->p->n_buffers && !arn_poll_ended(w->in->poll); b++) {
        if (arn_exact_assumed(w->assumed, b) != ARN_EXACT_JOINED) continue;
        if (base_of(w->in, b) == ARENAUT_NONE) continue;
        if (!arn_exact_join(&w->groups, b)) w->found->contradictory = true;
    }
    return true;
}

/* Counts distances from the lowest buffer of the group, in place of its root. */
static bool count_from_lowest(work *w) {
    const arn_exact_groups *g = &w->groups;
    const uint32_t n = w->p->n_buffers;
    int64_t *lowest = arn_region_allocate(&w->scratch, n, sizeof *lowest);
    if (!lowest) return false;
    for (uint32_t b = 0; b < n; b++) lowest[b] = INT64_MAX;
    for (uint32_t b = 0; b < n; b++) {
        w->found->root[b] = g->root[b];
        w->found->delta[b] = (int64_t)(g->at[b] - g->at[g->root[b]]);
        if (!arn_exact_in_pool(w->in, b)) continue;
        if (w->found->delta[b] < lowest[g->root[b]]) lowest[g->root[b]] = w->found->delta[b];
    }
    for (uint32_t b = 0; b < n; b++) {
        if (arn_exact_in_pool(w->in, b)) w->found->delta[b] -= lowest[g->root[b]];
    }
    return true;
}

/* Spreads a fixed offset to the whole group. */
static bool find_fixed(work *w) {
    arn_exact_relations *r = w->found;
    uint64_t *origin = arn_region_allocate(&w->scratch, w->p->n_buffers, sizeof *origin);
    if (!origin) return false;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) origin[b] = ARENAUT_UNPLACED;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        const uint64_t fixed = arenaut_problem_fixed_offset(w->p, b);
        if (fixed == ARENAUT_UNPLACED || !arn_exact_in_pool(w->in, b)) continue;
        uint64_t *at = &origin[r->root[b]];
        const bool elsewhere = *at != ARENAUT_UNPLACED && *at != fixed - (uint64_t)r->delta[b];
        if (fixed < (uint64_t)r->delta[b] || elsewhere) r->contradictory = true;
        *at = fixed - (uint64_t)r->delta[b];
    }
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        const uint64_t at = arn_exact_in_pool(w->in, b) ? origin[r->root[b]] : ARENAUT_UNPLACED;
        r->fixed[b] = at == ARENAUT_UNPLACED ? at : at + (uint64_t)r->delta[b];
    }
    return true;
}

/* ---- contradictions ---- */

/* Whether two buffers of one group cannot be as far apart as they are. A pair that is assumed to be
 * apart must not lie at one place, which relations would allow. */
static bool contradict(const work *w, uint32_t a, uint32_t b) {
    const int64_t distance = w->found->delta[a] - w->found->delta[b];
    if (!arn_exact_may_keep(&w->groups, a, b, distance)) return true;
    const uint32_t heir = arn_exact_heir_of(w->p, a, b);
    return distance == 0 && heir != ARENAUT_NONE && !arn_hosts_nested(&w->groups.hosts, a, b) &&
           arn_exact_assumed(w->assumed, heir) == ARN_EXACT_APART;
}

static bool root_before(const void *context, uint32_t a, uint32_t b) {
    const uint32_t *root = context;
    return root[a] < root[b];
}

/* Compares every buffer with those before it in its group. */
static bool find_contradictions(work *w) {
    arn_exact_relations *r = w->found;
    uint32_t n = 0, *order = arn_region_allocate(&w->scratch, w->p->n_buffers, 2 * sizeof *order);
    if (!order) return false;
    for (uint32_t b = 0; b < w->p->n_buffers; b++) {
        if (arn_exact_in_pool(w->in, b)) order[n++] = b;
    }
    arn_sort_ids(order, n, root_before, r->root, order + w->p->n_buffers);
    uint64_t compared = 0;
    for (uint32_t i = 0, first = 0; i < n && !r->too_large; i++) {
        if (r->root[order[i]] != r->root[order[first]]) first = i;
        compared += i - first;
        r->too_large = compared > MOST_COMPARED;
        const uint64_t lives = arenaut_problem_lifetime_count(w->p, order[i]);
        if (!arn_poll_after(w->in->poll, (i - first) * lives)) break;
        for (uint32_t k = first; k < i && !r->contradictory; k++) {
            r->contradictory = contradict(w, order[i], order[k]);
        }
    }
    return true;
}

/* ---- lifetimes ---- */

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

/* Cuts the covers out of the lifetimes from `start` on. The rest is written behind them, as it may
 * have more parts, and then moved over them. Both lists are sorted. */
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
    if (!arn_poll_after(w->in->poll, list->n - start + 1)) return true;
    return cut_lives(list, start, arenaut_problem_lifetimes(w->p, by),
                     arenaut_problem_lifetime_count(w->p, by));
}

/* Whether `by` covers `b`, the other one of the pair of `heir`. A slice that is the heir of its
 * host is covered by that anyway. */
static bool covers(const work *w, uint32_t heir, uint32_t by, uint32_t b) {
    return arn_exact_assumed(w->assumed, heir) != ARN_EXACT_APART &&
           arn_exact_smaller(w->p, b, by) == b && !arn_hosts_nested(&w->groups.hosts, b, by);
}

/* The heirs of each buffer that are in the pool with it: first[b], next[first[b]], … */
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

/* Appends the lifetimes of `b`, cut by every host, by its base and by its heirs. */
static bool add_lives(const work *w, life_list *list, const heirs *h, uint32_t b) {
    const uint32_t start = list->n, base = base_of(w->in, b);
    const arenaut_interval *life = arenaut_problem_lifetimes(w->p, b);
    bool done = true;
    for (uint32_t k = 0; k < arenaut_problem_lifetime_count(w->p, b) && done; k++) {
        done = add_life(list, life[k].first, life[k].end);
    }
    uint32_t host = w->groups.hosts.host ? w->groups.hosts.host[b] : ARENAUT_NONE;
    for (; host != ARENAUT_NONE && done; host = w->groups.hosts.host[host]) {
        done = cut_by(w, list, start, host);
        if (arn_poll_ended(w->in->poll)) break;
    }
    if (done && base != ARENAUT_NONE && covers(w, b, base, b)) done = cut_by(w, list, start, base);
    for (uint32_t k = h->first[b]; k != ARENAUT_NONE && done; k = h->next[k]) {
        if (covers(w, k, k, b)) done = cut_by(w, list, start, k);
    }
    return done;
}

static bool find_lives(work *w) {
    arn_exact_relations *r = w->found;
    life_list list = {w->in->allocator, NULL, 0, 0};
    heirs h;
    bool done = list_heirs(w, &h);
    for (uint32_t b = 0; b < w->p->n_buffers && done; b++) {
        r->life_start[b] = list.n;
        if (arn_exact_in_pool(w->in, b)) done = add_lives(w, &list, &h, b);
    }
    r->life_start[w->p->n_buffers] = list.n;
    r->life = arn_region_allocate(w->region, list.n, sizeof *r->life);
    for (uint32_t i = 0; done && r->life && i < list.n; i++) r->life[i] = list.at[i];
    arn_release(w->in->allocator, list.at);
    return done && r->life;
}

static bool find_all(work *w) {
    arn_exact_relations *r = w->found;
    const uint32_t n = w->p->n_buffers;
    return ARN_REGION_ARRAYS(w->region, ARN_ARRAY(r->root, n), ARN_ARRAY(r->delta, n),
                             ARN_ARRAY(r->fixed, n), ARN_ARRAY(r->life_start, (size_t)n + 1)) &&
           find_groups(w) && count_from_lowest(w) && find_fixed(w) && find_contradictions(w) &&
           find_lives(w);
}

bool arn_exact_find_relations(const arn_exact_case *assumed, arn_region *region,
                              arn_exact_relations *relations) {
    const arn_exact_input *in = &assumed->in;
    *relations = (arn_exact_relations){.root = NULL};
    if (!in->problem->same_base && !in->problem->inside) return true;
    work w = {.in = in, .assumed = assumed, .p = in->problem, .found = relations, .region = region};
    arn_region_init(&w.scratch, in->allocator);
    const bool done = find_all(&w);
    arn_region_free(&w.scratch);
    return done;
}
