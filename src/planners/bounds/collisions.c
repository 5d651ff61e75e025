/* Finds buffers at given places that overlap although they may not, in a walk through time.
 *
 * What comes alive is compared with all that is alive already, not one by one but in numbers: of
 * those whose bytes it shares, so many are nested with it and so many are partners of a same-base
 * pair in the same place. If there are more than these, one of them collides with it, or reaches
 * into it by a separation, and only then are they looked at one by one. Counting is by binary
 * indexed trees, O(n log n) in all, and n more for each that others reach into. find_witness.c
 * asks; the checker has its own way (check/overlaps.c). */
#include "planners/bounds/collisions.h"

#include "core/checked.h"
#include "core/sort.h"
#include "ir/pair_relations.h"

/* Sums over [0, end) of numbers that change: a binary indexed tree. Values may wrap around below
 * zero on the way. */
typedef struct sums {
    uint32_t *node;
    uint32_t n;
} sums;

static bool sums_make(sums *s, uint32_t n, arn_region *region) {
    s->n = n;
    s->node = arn_region_allocate(region, n, sizeof *s->node);
    for (uint32_t i = 0; s->node && i < n; i++) s->node[i] = 0;
    return s->node != NULL;
}

static void sums_add(sums *s, uint32_t at, uint32_t what) {
    for (uint32_t i = at; i < s->n; i |= i + 1) s->node[i] += what;
}

static uint32_t sum_before(const sums *s, uint32_t end) {
    uint32_t sum = 0;
    for (uint32_t i = end; i > 0; i &= i - 1) sum += s->node[i - 1];
    return sum;
}

/* One lifetime of a place. */
typedef struct life {
    uint32_t place;
    int64_t first, end;
} life;

typedef struct walk {
    const arenaut_problem *problem;
    const arn_hosts *hosts;
    const arn_given_place *place;
    uint32_t n;
    uint32_t *at; /* per buffer: its place; ARENAUT_NONE */
    /* Per place: where it stands among all by space and first byte, or by space and end; and how
     * many there begin before its end, and end at or before its first byte. */
    uint32_t *by_first, *first_rank, *end_rank, *begin_below, *end_below;
    sums firsts, ends; /* of those alive */
    sums nested;       /* likewise, by number in the families */
    sums hosting;      /* likewise: sums count the families that a number is in */
    uint32_t *heirs;   /* per buffer: those alive that share its place as its heirs */
    bool *alive;       /* per place */
    life *lives;
    uint32_t n_lives, *births, *deaths; /* by first step, and by end */
} walk;

/* ---- what may share ---- */

static bool are_nested(const walk *w, uint32_t a, uint32_t b) {
    return arn_hosts_nested(w->hosts, a, b);
}

/* Whether `heir` and its base are listed, in one place, and nested in no other way. */
static bool shares_place(const walk *w, uint32_t heir) {
    const uint32_t base = arenaut_problem_same_base(w->problem, heir);
    if (base == ARENAUT_NONE || w->at[base] == ARENAUT_NONE || are_nested(w, heir, base))
        return false;
    const arn_given_place *x = &w->place[w->at[heir]], *y = &w->place[w->at[base]];
    return x->space == y->space && x->first == y->first;
}

/* Whether a separation lets `upper` lie where it does, as far above `lower`. */
static bool is_separated(const walk *w, const arn_given_place *upper,
                         const arn_given_place *lower) {
    const arenaut_separation *s = arn_find_separation(w->problem, upper->buffer, lower->buffer);
    return s && (int64_t)upper->first - (int64_t)lower->first >= s->distance;
}

static bool may_share(const walk *w, const arn_given_place *x, const arn_given_place *y) {
    const bool related = arenaut_problem_same_base(w->problem, x->buffer) == y->buffer ||
                         arenaut_problem_same_base(w->problem, y->buffer) == x->buffer;
    return (related && x->first == y->first) || are_nested(w, x->buffer, y->buffer) ||
           is_separated(w, x, y) || is_separated(w, y, x);
}

static uint64_t shared_bytes(const arn_given_place *x, const arn_given_place *y) {
    const uint64_t first = arn_max_u64(x->first, y->first), end = arn_min_u64(x->end, y->end);
    return x->space == y->space && first < end ? end - first : 0;
}

/* ---- getting ready ---- */

typedef struct position {
    uint32_t space;
    uint64_t byte;
} position;

static bool is_before(position a, position b) {
    return a.space != b.space ? a.space < b.space : a.byte < b.byte;
}

static position first_of(const walk *w, uint32_t i) {
    return (position){w->place[i].space, w->place[i].first};
}

static position end_of(const walk *w, uint32_t i) {
    return (position){w->place[i].space, w->place[i].end};
}

static bool first_before(const void *context, uint32_t a, uint32_t b) {
    return is_before(first_of(context, a), first_of(context, b));
}

static bool end_before(const void *context, uint32_t a, uint32_t b) {
    return is_before(end_of(context, a), end_of(context, b));
}

static bool rank_places(walk *w, arn_region *region) {
    const uint32_t n = w->n;
    uint32_t *by_end = arn_region_allocate(region, n, sizeof *by_end);
    uint32_t *scratch = arn_region_allocate(region, n, sizeof *scratch);
    w->by_first = arn_region_allocate(region, n, sizeof *w->by_first);
    w->first_rank = arn_region_allocate(region, n, sizeof *w->first_rank);
    w->end_rank = arn_region_allocate(region, n, sizeof *w->end_rank);
    w->begin_below = arn_region_allocate(region, n, sizeof *w->begin_below);
    w->end_below = arn_region_allocate(region, n, sizeof *w->end_below);
    if (!by_end || !scratch || !w->by_first || !w->first_rank || !w->end_rank || !w->begin_below ||
        !w->end_below) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) w->by_first[i] = by_end[i] = i;
    arn_sort_ids(w->by_first, n, first_before, w, scratch);
    arn_sort_ids(by_end, n, end_before, w, scratch);
    for (uint32_t i = 0, below = 0; i < n; i++) {
        const uint32_t at = by_end[i];
        while (below < n && is_before(first_of(w, w->by_first[below]), end_of(w, at))) below++;
        w->begin_below[at] = below;
        w->end_rank[at] = i;
    }
    for (uint32_t i = 0, below = 0; i < n; i++) {
        const uint32_t at = w->by_first[i];
        while (below < n && !is_before(first_of(w, at), end_of(w, by_end[below]))) below++;
        w->end_below[at] = below;
        w->first_rank[at] = i;
    }
    return true;
}

static bool list_lives(walk *w, arn_region *region) {
    const arenaut_problem *p = w->problem;
    size_t room = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        room += arenaut_problem_lifetime_count(p, w->place[i].buffer);
    }
    uint64_t *key = arn_region_allocate(region, room, sizeof *key);
    uint32_t *scratch = arn_region_allocate(region, room, sizeof *scratch);
    w->lives = arn_region_allocate(region, room, sizeof *w->lives);
    w->births = arn_region_allocate(region, room, sizeof *w->births);
    w->deaths = arn_region_allocate(region, room, sizeof *w->deaths);
    if (!key || !scratch || !w->lives || !w->births || !w->deaths) return false;
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t b = w->place[i].buffer;
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(p, b); k++) {
            const arenaut_interval at = arenaut_problem_lifetimes(p, b)[k];
            w->births[w->n_lives] = w->deaths[w->n_lives] = w->n_lives;
            w->lives[w->n_lives++] = (life){i, at.first, at.end};
        }
    }
    for (uint32_t k = 0; k < w->n_lives; k++) key[k] = arn_step_key(w->lives[k].first);
    arn_sort_by_key(w->births, w->n_lives, key, scratch);
    for (uint32_t k = 0; k < w->n_lives; k++) key[k] = arn_step_key(w->lives[k].end);
    arn_sort_by_key(w->deaths, w->n_lives, key, scratch);
    return true;
}

static bool prepare(walk *w, arn_region *region) {
    const uint32_t n_buffers = w->problem->n_buffers;
    w->at = arn_region_allocate(region, n_buffers, sizeof *w->at);
    w->heirs = arn_region_allocate(region, n_buffers, sizeof *w->heirs);
    w->alive = arn_region_allocate(region, w->n, sizeof *w->alive);
    if (!w->at || !w->heirs || !w->alive) return false;
    for (uint32_t b = 0; b < n_buffers; b++) {
        w->at[b] = ARENAUT_NONE;
        w->heirs[b] = 0;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        w->at[w->place[i].buffer] = i;
        w->alive[i] = false;
    }
    const uint32_t numbers = w->hosts->host ? n_buffers : 0;
    return rank_places(w, region) && list_lives(w, region) && sums_make(&w->firsts, w->n, region) &&
           sums_make(&w->ends, w->n, region) && sums_make(&w->nested, numbers, region) &&
           sums_make(&w->hosting, numbers, region);
}

/* ---- the walk ---- */

/* What comes alive, or ends with `sign` UINT32_MAX, which is -1. */
static void count_in(walk *w, uint32_t i, uint32_t sign) {
    const uint32_t b = w->place[i].buffer;
    w->alive[i] = !w->alive[i];
    sums_add(&w->firsts, w->first_rank[i], sign);
    sums_add(&w->ends, w->end_rank[i], sign);
    if (shares_place(w, b)) w->heirs[arenaut_problem_same_base(w->problem, b)] += sign;
    if (!w->hosts->host) return;
    const uint32_t number = w->hosts->number[b];
    sums_add(&w->nested, number, sign);
    sums_add(&w->hosting, number, sign);
    sums_add(&w->hosting, number + w->hosts->family[b], 0 - sign);
}

static uint32_t living_nested(const walk *w, uint32_t b) {
    if (!w->hosts->host) return 0;
    const uint32_t number = w->hosts->number[b], end = number + w->hosts->family[b];
    return sum_before(&w->nested, end) - sum_before(&w->nested, number) +
           sum_before(&w->hosting, number + 1);
}

static uint32_t living_partners(const walk *w, uint32_t b) {
    const uint32_t base = arenaut_problem_same_base(w->problem, b);
    if (!shares_place(w, b) || !w->alive[w->at[base]]) return w->heirs[b];
    /* Where each is the other's base, that one has been counted. */
    return w->heirs[b] + (arenaut_problem_same_base(w->problem, base) != b);
}

/* Whether place `i`, which comes alive now, shares bytes with a live one that it may not. */
static bool collides(const walk *w, uint32_t i) {
    const uint32_t b = w->place[i].buffer;
    const uint32_t meets =
        sum_before(&w->firsts, w->begin_below[i]) - sum_before(&w->ends, w->end_below[i]);
    return meets > 0 && meets > living_nested(w, b) + living_partners(w, b);
}

static void set_collision(const walk *w, uint32_t i, uint32_t k, int64_t step, arn_collision *c) {
    const bool in_order = w->first_rank[i] < w->first_rank[k];
    c->one = &w->place[in_order ? i : k];
    c->other = &w->place[in_order ? k : i];
    c->step = step;
    c->bytes = shared_bytes(c->one, c->other);
}

/* The lowest one that place `i` collides with at this step. */
static void name_collision(const walk *w, uint32_t i, int64_t step, arn_collision *c) {
    for (uint32_t k = 0; k < w->n; k++) {
        const uint32_t other = w->by_first[k];
        const arn_given_place *x = &w->place[i], *y = &w->place[other];
        if (other == i || shared_bytes(x, y) == 0 || may_share(w, x, y)) continue;
        if (!w->alive[other]) continue;
        set_collision(w, i, other, step, c);
        return;
    }
}

static void walk_on(walk *w, arn_collision *c) {
    for (uint32_t born = 0, died = 0; born < w->n_lives && !c->one; born++) {
        const life *now = &w->lives[w->births[born]];
        for (; w->lives[w->deaths[died]].end <= now->first; died++) {
            count_in(w, w->lives[w->deaths[died]].place, UINT32_MAX);
        }
        if (collides(w, now->place)) name_collision(w, now->place, now->first, c);
        count_in(w, now->place, 1);
    }
}

static void look_at_edges(const walk *w, arn_collision *c) {
    const arenaut_problem *p = w->problem;
    for (uint32_t i = 0; i < p->n_conflicts && !c->one; i++) {
        const uint32_t a = w->at[p->conflict[i].a], b = w->at[p->conflict[i].b];
        if (a == ARENAUT_NONE || b == ARENAUT_NONE) continue;
        if (shared_bytes(&w->place[a], &w->place[b]) == 0) continue;
        if (may_share(w, &w->place[a], &w->place[b])) continue;
        set_collision(w, a, b, arenaut_problem_lifetimes(p, w->place[a].buffer)->first, c);
    }
}

bool arn_find_collision(const arenaut_problem *problem, const arn_hosts *hosts,
                        const arn_given_place *places, uint32_t n, arn_region *region,
                        arn_collision *collision) {
    const arn_collision none = {NULL, NULL, 0, 0};
    walk w = {.problem = problem, .hosts = hosts, .place = places, .n = n};
    *collision = none;
    if (n < 2) return true;
    if (!prepare(&w, region)) return false;
    walk_on(&w, collision);
    if (!collision->one) look_at_edges(&w, collision);
    return true;
}
