#include "planners/bounds/spill.h"

#include <string.h>

#include "core/bits.h"
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "planners/bounds/hosts.h"
#include "planners/bounds/load.h"
#include "planners/bounds/rooms.h"

enum { MOST_OPEN = 32, NO_CHOICE = 0xFF, EVENTS_PER_STEP = 16, MOST_TRAIL = 1 << 19 };

/* Buffers that lie in one another share a pool: a group, which goes by its root. */
typedef struct group {
    uint64_t traffic;     /* size × uses of all members */
    uint64_t bytes;       /* their sizes */
    uint32_t first, last; /* its first and last events, as places in the order of time */
    uint32_t start;       /* where the events of its first step begin */
    uint64_t own_pools;   /* those that it fits into */
    /* In the walk under way: */
    uint64_t pools;
    uint64_t alive; /* bytes, now */
    uint8_t slot;   /* where states say its pool; NO_CHOICE: see `pool` */
    uint32_t pool;  /* where there is no choice; ARENAUT_NONE: forgotten */
} group;

/* A decision, and the one before it. */
typedef struct mark {
    uint32_t before, root, pool;
} mark;

/* Ways to divide what is alive. */
typedef struct ways {
    uint32_t n;
    uint8_t *pool;   /* MOST_OPEN for each: the pools of the groups in the slots */
    uint64_t *load;  /* n_pools for each: bytes of these groups alive in each pool, now */
    uint64_t *spill; /* beyond what cannot be avoided */
    uint32_t *trail; /* the last decision */
} ways;

struct arn_spill {
    const arenaut_problem *problem;
    const arenaut_allocator *allocator;
    arn_region region;
    arn_load load;
    arn_hosts hosts;
    group *group; /* per buffer; means something for roots */
    uint32_t *roots, n_roots;
    uint64_t *peak; /* maxima over events: a tree, for narrowing */
    uint32_t n_leaves;
};

/* A walk. */
typedef struct walk {
    arn_spill *s;
    const arn_spill_question *q;
    uint64_t room[ARENAUT_MAX_POOLS]; /* free bytes of each pool; ARENAUT_UNLIMITED */
    uint64_t used[ARENAUT_MAX_POOLS]; /* of which groups without a choice use so many, now */
    uint64_t unavoidable;             /* spill */
    uint32_t most_ways;
    ways now, next;
    uint32_t *table; /* for finding equal ways; most_table entries, a power of two */
    uint32_t most_table;
    uint32_t open[MOST_OPEN]; /* the root in each slot; ARENAUT_NONE */
    mark *marks;
    uint32_t n_marks, marks_room;
    bool forgot; /* somebody */
    uint64_t work;
    arn_region region;
} walk;

/* ---- what does not depend on the question ---- */

static uint32_t root_of(const arn_spill *s, uint32_t b) {
    return s->hosts.root ? s->hosts.root[b] : b;
}

static const arn_load_event *event_at(const arn_spill *s, uint32_t place) {
    return &s->load.event[s->load.by_step[place]];
}

static void touch(arn_spill *s, uint32_t buffer, uint32_t place, uint32_t start) {
    group *g = &s->group[root_of(s, buffer)];
    if (g->first == ARENAUT_NONE) {
        g->first = place;
        g->start = start;
    }
    g->last = place;
}

static void find_groups(arn_spill *s, const arn_rooms *rooms) {
    const arenaut_problem *p = s->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        s->group[b] = (group){.first = ARENAUT_NONE, .pool = ARENAUT_NONE, .slot = NO_CHOICE};
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        s->group[root_of(s, b)].traffic += p->size[b] * arenaut_problem_uses(p, b);
        s->group[root_of(s, b)].bytes += p->size[b];
        if (root_of(s, b) == b) s->roots[s->n_roots++] = b;
    }
    for (uint32_t i = 0; i < s->n_roots; i++) {
        const uint32_t b = s->roots[i];
        const uint64_t allowed = arenaut_problem_pools(p, b);
        for (uint32_t k = 0; k < p->n_pools; k++) {
            if (!(allowed >> k & 1) || arn_lowest_end(rooms, b, k) == ARENAUT_UNPLACED) continue;
            s->group[b].own_pools |= UINT64_C(1) << k;
        }
    }
    for (uint32_t i = 0, start = 0; i < s->load.n; i++) {
        const arn_load_event *e = event_at(s, i);
        if (e->step != event_at(s, start)->step) start = i;
        touch(s, e->buffer, i, start);
        if (e->saving) touch(s, p->same_base[e->buffer], i, start);
    }
}

arenaut_status arn_spill_new(const arenaut_problem *problem, const arenaut_allocator *allocator,
                             arn_spill **out, arenaut_error *err) {
    arn_spill *s = arn_allocate_zeroed(allocator, 1, sizeof *s);
    if (!s) return arn_no_memory(err);
    s->problem = problem;
    s->allocator = allocator;
    arn_region_init(&s->region, allocator);
    const arenaut_status st = arn_load_init(&s->load, problem, allocator, err);
    if (st != ARENAUT_OK) {
        arn_region_free(&s->region);
        arn_release(allocator, s);
        return st;
    }
    s->n_leaves = 1;
    while (s->n_leaves < s->load.n) s->n_leaves *= 2;
    s->group = arn_region_allocate(&s->region, problem->n_buffers, sizeof *s->group);
    s->roots = arn_region_allocate(&s->region, problem->n_buffers, sizeof *s->roots);
    s->peak = arn_region_allocate(&s->region, (size_t)s->n_leaves * 2, sizeof *s->peak);
    if (!s->group || !s->roots || !s->peak || !arn_hosts_find(problem, &s->region, &s->hosts)) {
        arn_spill_free(s);
        return arn_no_memory(err);
    }
    arn_rooms rooms;
    if (!arn_rooms_make(&rooms, problem, allocator)) {
        arn_spill_free(s);
        return arn_no_memory(err);
    }
    find_groups(s, &rooms);
    arn_rooms_free(&rooms);
    *out = s;
    return ARENAUT_OK;
}

void arn_spill_free(arn_spill *s) {
    if (!s) return;
    arn_load_free(&s->load);
    arn_region_free(&s->region);
    arn_release(s->allocator, s);
}

/* ---- which pools a group may need ---- */

static uint64_t spill_of(const walk *w, uint32_t root, uint32_t pool) {
    return w->s->group[root].traffic * arenaut_problem_rank(w->s->problem, root, pool);
}

static void find_room(walk *w) {
    const arenaut_problem *p = w->s->problem;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        w->room[k] = ARENAUT_UNLIMITED;
        if (p->pool[k].capacity > ARENAUT_SIZE_MAX) continue;
        const uint64_t capacity = p->pool[k].capacity / 16 * w->q->sixteenths +
                                  p->pool[k].capacity % 16 * w->q->sixteenths / 16;
        w->room[k] = capacity;
        for (uint32_t i = 0; i < p->n_reserved; i++) {
            const arenaut_reserved *r = &p->reserved[i];
            if (r->pool != k || r->first >= capacity) continue;
            w->room[k] -= arn_min_u64(r->end, capacity) - r->first;
        }
    }
}

/* For each step, all bytes alive that may be in the pool; savings are left out. */
static void sum_what_may_be_in(walk *w, uint32_t pool) {
    arn_spill *s = w->s;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->n_leaves; i++) s->peak[s->n_leaves + i] = 0;
    for (uint32_t i = 0; i < s->load.n;) {
        const uint32_t start = i;
        const int64_t step = event_at(s, i)->step;
        for (; i < s->load.n && event_at(s, i)->step == step; i++) {
            const arn_load_event *e = event_at(s, i);
            if (e->saving || !(s->group[root_of(s, e->buffer)].pools >> pool & 1)) continue;
            bytes = e->falls ? bytes - e->bytes : bytes + e->bytes;
        }
        s->peak[s->n_leaves + start] = bytes;
    }
    for (uint32_t k = s->n_leaves; k-- > 1;)
        s->peak[k] = arn_max_u64(s->peak[2 * k], s->peak[2 * k + 1]);
    w->work += s->load.n;
}

static uint64_t highest_between(const arn_spill *s, uint32_t first, uint32_t last) {
    uint64_t highest = 0;
    uint32_t low = first + s->n_leaves, high = last + 1 + s->n_leaves;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1) highest = arn_max_u64(highest, s->peak[low++]);
        if (high & 1) highest = arn_max_u64(highest, s->peak[--high]);
    }
    return highest;
}

/* A group that fits into a pool even beside all that may ever be there with it need not go to a
 * slower one: it is in nobody's way. False if some group has no pool at all. */
static bool narrow_pools(walk *w) {
    arn_spill *s = w->s;
    const arenaut_problem *p = s->problem;
    for (uint32_t i = 0; i < s->n_roots; i++) {
        group *g = &s->group[s->roots[i]];
        const uint32_t given = w->q->pool_of ? w->q->pool_of[s->roots[i]] : ARENAUT_NONE;
        g->pools = given == ARENAUT_NONE ? g->own_pools : g->own_pools & UINT64_C(1) << given;
        if (g->pools == 0) return false;
    }
    for (uint32_t k = 0; k + 1 < p->n_pools; k++) {
        if (w->room[k] != ARENAUT_UNLIMITED) sum_what_may_be_in(w, k);
        for (uint32_t i = 0; i < s->n_roots; i++) {
            group *g = &s->group[s->roots[i]];
            if (!(g->pools >> k & 1) || g->pools >> k == 1) continue;
            const bool fits = w->room[k] == ARENAUT_UNLIMITED ||
                              highest_between(s, g->start, g->last) <= w->room[k];
            if (fits) g->pools &= (UINT64_C(2) << k) - 1;
        }
    }
    return true;
}

/* Gives those without a choice their pools. Returns the number of the others. */
static uint32_t begin_groups(walk *w) {
    arn_spill *s = w->s;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_roots; i++) {
        group *g = &s->group[s->roots[i]];
        const bool chooses = g->pools & (g->pools - 1);
        g->pool = chooses ? ARENAUT_NONE : arn_lowest_bit(g->pools);
        g->slot = NO_CHOICE;
        g->alive = 0;
        w->unavoidable += spill_of(w, s->roots[i], arn_lowest_bit(g->pools));
        n += chooses;
        if (w->q->choice) w->q->choice[s->roots[i]] = g->pool;
    }
    return n;
}

/* ---- ways ---- */

static bool allocate_ways(walk *w, ways *x) {
    const size_t n = (size_t)w->most_ways + 1;
    x->pool = arn_region_allocate(&w->region, n, MOST_OPEN);
    x->load = arn_region_allocate(&w->region, n, w->s->problem->n_pools * sizeof *x->load);
    x->spill = arn_region_allocate(&w->region, n, sizeof *x->spill);
    x->trail = arn_region_allocate(&w->region, n, sizeof *x->trail);
    return x->pool && x->load && x->spill && x->trail;
}

static void copy_way(const walk *w, ways *to, uint32_t t, const ways *from, uint32_t f) {
    const size_t n_pools = w->s->problem->n_pools;
    memcpy(to->pool + (size_t)t * MOST_OPEN, from->pool + (size_t)f * MOST_OPEN, MOST_OPEN);
    memcpy(to->load + t * n_pools, from->load + f * n_pools, n_pools * sizeof *to->load);
    to->spill[t] = from->spill[f];
    to->trail[t] = from->trail[f];
}

static bool fits(const walk *w, const ways *x, uint32_t i) {
    const uint32_t n_pools = w->s->problem->n_pools;
    for (uint32_t k = 0; k < n_pools; k++) {
        if (w->room[k] == ARENAUT_UNLIMITED) continue;
        if (x->load[(size_t)i * n_pools + k] + w->used[k] > w->room[k]) return false;
    }
    return true;
}

static void swap_ways(walk *w) {
    const ways x = w->now;
    w->now = w->next;
    w->next = x;
}

static void drop_those_that_do_not_fit(walk *w) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->now.n; i++) {
        if (!fits(w, &w->now, i)) continue;
        if (kept != i) copy_way(w, &w->now, kept, &w->now, i);
        kept++;
    }
    w->work += w->now.n;
    w->now.n = kept;
}

static uint32_t hash_of(const uint8_t *pool) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (uint32_t i = 0; i < MOST_OPEN; i++) hash = (hash ^ pool[i]) * UINT64_C(0x100000001B3);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Of ways that divide what is alive equally, the one that spills least is enough. */
static void merge(walk *w) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->most_table; i++) w->table[i] = ARENAUT_NONE;
    for (uint32_t i = 0; i < w->now.n; i++) {
        const uint8_t *pool = w->now.pool + (size_t)i * MOST_OPEN;
        uint32_t at = hash_of(pool) & (w->most_table - 1);
        while (w->table[at] != ARENAUT_NONE &&
               memcmp(w->now.pool + (size_t)w->table[at] * MOST_OPEN, pool, MOST_OPEN) != 0) {
            at = (at + 1) & (w->most_table - 1);
        }
        if (w->table[at] == ARENAUT_NONE) {
            w->table[at] = kept;
            if (kept != i) copy_way(w, &w->now, kept, &w->now, i);
            kept++;
        } else if (w->now.spill[i] < w->now.spill[w->table[at]]) {
            copy_way(w, &w->now, w->table[at], &w->now, i);
        }
    }
    w->work += 4 * (uint64_t)w->now.n + w->most_table / 4;
    w->now.n = kept;
}

/* Its pool is no longer looked at, because the group is over or forgotten. */
static void free_slot(walk *w, group *g) {
    const uint8_t slot = g->slot;
    for (uint32_t i = 0; i < w->now.n; i++) w->now.pool[(size_t)i * MOST_OPEN + slot] = NO_CHOICE;
    w->open[slot] = ARENAUT_NONE;
    g->slot = NO_CHOICE;
}

static void forget(walk *w, uint32_t slot) {
    group *g = &w->s->group[w->open[slot]];
    const uint32_t n_pools = w->s->problem->n_pools;
    for (uint32_t i = 0; i < w->now.n; i++) {
        w->now.load[(size_t)i * n_pools + w->now.pool[(size_t)i * MOST_OPEN + slot]] -= g->alive;
    }
    free_slot(w, g);
    merge(w);
    w->forgot = true;
}

/* ---- the walk ---- */

static bool can_take(const walk *w, uint32_t *slot) {
    for (*slot = 0; *slot < MOST_OPEN && w->open[*slot] != ARENAUT_NONE;) (*slot)++;
    return *slot < MOST_OPEN;
}

static uint32_t smallest_slot(const walk *w) {
    const uint64_t *size = w->s->problem->size;
    uint32_t smallest = ARENAUT_NONE;
    for (uint32_t i = 0; i < MOST_OPEN; i++) {
        if (w->open[i] == ARENAUT_NONE) continue;
        if (smallest == ARENAUT_NONE || size[w->open[i]] < size[w->open[smallest]]) smallest = i;
    }
    return smallest;
}

/* Makes room for all that may become of the ways when the group comes. False if it is better
 * forgotten itself. */
static bool make_room(walk *w, uint32_t root, uint32_t n_choices, uint32_t *slot) {
    const uint64_t *size = w->s->problem->size;
    while ((uint64_t)w->now.n * n_choices > w->most_ways || !can_take(w, slot)) {
        const uint32_t smallest = smallest_slot(w);
        if (smallest == ARENAUT_NONE || size[root] <= size[w->open[smallest]]) {
            w->forgot = true;
            return false;
        }
        forget(w, smallest);
    }
    return true;
}

static bool add_mark(walk *w, uint32_t way, uint32_t root, uint32_t pool) {
    if (!w->q->choice) return true;
    if (!arn_grow(w->s->allocator, (void **)&w->marks, &w->marks_room, (uint64_t)w->n_marks + 1,
                  sizeof *w->marks)) {
        return false;
    }
    w->marks[w->n_marks] = (mark){w->next.trail[way], root, pool};
    w->next.trail[way] = w->n_marks++;
    return true;
}

/* Each way goes on with the group in each of its pools, where it begins with `bytes`. `early`:
 * whatever else happens at this step, loads do not get lower. */
static bool branch(walk *w, uint32_t root, uint32_t slot, uint64_t bytes, bool early) {
    group *g = &w->s->group[root];
    const uint32_t n_pools = w->s->problem->n_pools;
    const uint64_t least = spill_of(w, root, arn_lowest_bit(g->pools));
    w->next.n = 0;
    for (uint32_t i = 0; i < w->now.n; i++) {
        for (uint32_t k = 0; k < n_pools; k++) {
            if (!(g->pools >> k & 1)) continue;
            const uint32_t at = w->next.n;
            const uint64_t more = spill_of(w, root, k) - least;
            if (w->unavoidable + w->now.spill[i] + more > w->q->most) continue;
            copy_way(w, &w->next, at, &w->now, i);
            w->next.pool[(size_t)at * MOST_OPEN + slot] = (uint8_t)k;
            w->next.load[(size_t)at * n_pools + k] += bytes;
            w->next.spill[at] += more;
            if (early && !fits(w, &w->next, at)) continue;
            if (!add_mark(w, at, root, k)) return false;
            w->next.n++;
        }
    }
    w->work += (uint64_t)w->now.n * n_pools;
    swap_ways(w);
    g->slot = (uint8_t)slot;
    g->alive = bytes;
    w->open[slot] = root;
    return true;
}

/* The pool of the group in a way; ARENAUT_NONE if it is forgotten. */
static uint32_t pool_in(const walk *w, uint32_t way, const group *g) {
    return g->slot == NO_CHOICE ? g->pool : w->now.pool[(size_t)way * MOST_OPEN + g->slot];
}

static void apply_change(walk *w, const arn_load_event *e) {
    const arn_spill *s = w->s;
    const uint32_t n_pools = s->problem->n_pools;
    group *g = &s->group[root_of(s, e->buffer)];
    const uint64_t change = e->falls ? 0 - e->bytes : e->bytes;
    if (g->slot == NO_CHOICE && g->pool == ARENAUT_NONE) return; /* forgotten */
    g->alive += change;
    if (g->slot == NO_CHOICE) {
        w->used[g->pool] += change;
        return;
    }
    for (uint32_t i = 0; i < w->now.n; i++) {
        w->now.load[(size_t)i * n_pools + pool_in(w, i, g)] += change;
    }
    w->work += w->now.n;
}

/* Where the two are not both in the ways, what they share counts as the ways' own. */
static void apply_saving(walk *w, const arn_load_event *e) {
    const arn_spill *s = w->s;
    const uint32_t n_pools = s->problem->n_pools;
    const group *a = &s->group[root_of(s, e->buffer)];
    const group *b = &s->group[root_of(s, s->problem->same_base[e->buffer])];
    const uint64_t change = e->falls ? 0 - e->bytes : e->bytes;
    for (uint32_t i = 0; i < w->now.n; i++) {
        const uint32_t pool = pool_in(w, i, a);
        if (pool == ARENAUT_NONE || pool != pool_in(w, i, b)) continue;
        w->now.load[(size_t)i * n_pools + pool] += change;
    }
    w->work += w->now.n;
}

/* What ends at the step, savings of the step before among it. */
static void end_what_ends(walk *w, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        const arn_load_event *e = event_at(w->s, i);
        if (e->saving && !e->falls) apply_saving(w, e);
        if (!e->saving && e->falls) apply_change(w, e);
    }
}

static bool has_savings(const walk *w, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        if (event_at(w->s, i)->saving && event_at(w->s, i)->falls) return true;
    }
    return false;
}

/* New groups with a choice, and their first bytes. All else that begins comes after. */
static bool choose_for_new(walk *w, uint32_t first, uint32_t end) {
    const bool early = !has_savings(w, first, end);
    for (uint32_t i = first; i < end && w->now.n > 0; i++) {
        const uint32_t root = root_of(w->s, event_at(w->s, i)->buffer);
        group *g = &w->s->group[root];
        uint32_t slot, n_choices = 0;
        if (g->first != i || g->pool != ARENAUT_NONE) continue;
        for (uint64_t pools = g->pools; pools; pools &= pools - 1) n_choices++;
        if (!make_room(w, root, n_choices, &slot)) continue;
        if (!branch(w, root, slot, event_at(w->s, i)->bytes, early)) return false;
    }
    return true;
}

static void begin_what_begins(walk *w, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        const arn_load_event *e = event_at(w->s, i);
        if (e->saving && e->falls) apply_saving(w, e);
        const group *g = &w->s->group[root_of(w->s, e->buffer)];
        const bool counted = g->first == i && g->slot != NO_CHOICE;
        if (!e->saving && !e->falls && !counted) apply_change(w, e);
    }
}

static void close_groups(walk *w, uint32_t first, uint32_t end) {
    bool closed = false;
    for (uint32_t i = first; i < end; i++) {
        const arn_load_event *e = event_at(w->s, i);
        const uint32_t both[2] = {e->buffer,
                                  e->saving ? w->s->problem->same_base[e->buffer] : e->buffer};
        for (int k = 0; k < 2; k++) {
            group *g = &w->s->group[root_of(w->s, both[k])];
            if (g->last != i || g->slot == NO_CHOICE) continue;
            free_slot(w, g);
            closed = true;
        }
    }
    if (closed) merge(w);
}

static bool walk_through(walk *w, arn_spill_answer *answer) {
    const arn_spill *s = w->s;
    for (uint32_t i = 0; i < s->load.n && w->now.n > 0;) {
        const uint32_t first = i;
        const uint64_t before = w->work;
        answer->dead_end = event_at(s, i)->step;
        while (i < s->load.n && event_at(s, i)->step == answer->dead_end) i++;
        end_what_ends(w, first, i);
        if (!choose_for_new(w, first, i)) return false;
        begin_what_begins(w, first, i);
        drop_those_that_do_not_fit(w);
        close_groups(w, first, i);
        w->work += i - first;
        answer->ended = !arn_ask_after(w->q->ask, w->work - before);
        if (answer->ended) return true;
    }
    return true;
}

static void take_choice(const walk *w, uint32_t way) {
    const arn_spill *s = w->s;
    uint32_t *choice = w->q->choice;
    if (!choice) return;
    for (uint32_t at = w->now.trail[way]; at != ARENAUT_NONE; at = w->marks[at].before) {
        choice[w->marks[at].root] = w->marks[at].pool;
    }
    for (uint32_t b = 0; b < s->problem->n_buffers; b++) {
        choice[b] =
            arenaut_problem_needs_memory(s->problem, b) ? choice[root_of(s, b)] : ARENAUT_NONE;
    }
}

static bool begin_ways(walk *w, uint32_t n_choosing) {
    const uint32_t most = MOST_TRAIL / (n_choosing + 1) + 8;
    w->most_ways = (uint32_t)arn_min_u64(w->q->states, most);
    if (n_choosing == 0) w->most_ways = 1;
    for (w->most_table = 4; w->most_table < 2 * w->most_ways;) w->most_table *= 2;
    w->table = arn_region_allocate(&w->region, w->most_table, sizeof *w->table);
    if (!w->table || !allocate_ways(w, &w->now) || !allocate_ways(w, &w->next)) return false;
    for (uint32_t i = 0; i < MOST_OPEN; i++) w->open[i] = ARENAUT_NONE;
    memset(w->now.pool, NO_CHOICE, MOST_OPEN);
    memset(w->now.load, 0, w->s->problem->n_pools * sizeof *w->now.load);
    w->now.spill[0] = 0;
    w->now.trail[0] = ARENAUT_NONE;
    w->now.n = 1;
    return true;
}

/* ---- many at a time ---- */

/* Where more is alive than can be gone through: what must leave the fastest pools at a step does
 * so for the least that bytes cost there. Steps that have no group in common add up. Groups that
 * may leave are ranked by what a byte of them costs. */
typedef struct shares {
    walk *w;
    uint32_t threshold;          /* pools below it are the fast ones, */
    uint64_t room;               /* and have so many bytes */
    uint32_t n;                  /* groups that may leave */
    uint32_t *rank;              /* per buffer, of their roots; ARENAUT_NONE for those that stay */
    uint64_t *price;             /* per rank, of a byte; ascending */
    uint64_t *bytes, *cost;      /* per rank, of what is alive: sums, as Fenwick trees */
    uint64_t alive, stay, saved; /* bytes: may leave; may not; may be shared by pairs */
    uint64_t *best;              /* per event, of all steps before its own together */
    uint32_t *order, *scratch;   /* roots of those that may leave, by their first events */
    uint64_t *key;               /* per buffer */
} shares;

static bool is_fast(const shares *x, uint32_t root) {
    return x->w->s->group[root].pools >> x->threshold == 0;
}

static bool may_leave(const shares *x, uint32_t root) {
    const uint64_t pools = x->w->s->group[root].pools;
    return !is_fast(x, root) && pools & ((UINT64_C(1) << x->threshold) - 1);
}

static uint64_t price_of(const shares *x, uint32_t root) {
    const group *g = &x->w->s->group[root];
    const uint64_t allowed = arenaut_problem_pools(x->w->s->problem, root);
    return allowed >> (x->threshold - 1) & 1 ? g->traffic / g->bytes : 0;
}

static void rank_groups(shares *x) {
    const arn_spill *s = x->w->s;
    x->n = 0;
    for (uint32_t i = 0; i < s->n_roots; i++) {
        const uint32_t root = s->roots[i];
        x->rank[root] = ARENAUT_NONE;
        if (!may_leave(x, root)) continue;
        x->order[x->n++] = root;
        x->key[root] = price_of(x, root);
    }
    arn_sort_by_key(x->order, x->n, x->key, x->scratch);
    for (uint32_t i = 0; i < x->n; i++) {
        x->rank[x->order[i]] = i;
        x->price[i] = x->key[x->order[i]];
        x->key[x->order[i]] = s->group[x->order[i]].first;
    }
    arn_sort_by_key(x->order, x->n, x->key, x->scratch);
    for (uint32_t i = 0; i <= x->n; i++) x->bytes[i] = x->cost[i] = 0;
    x->alive = x->stay = x->saved = 0;
}

static void change_shares(shares *x, const arn_load_event *e) {
    const uint32_t root = root_of(x->w->s, e->buffer);
    const uint64_t change = e->falls ? 0 - e->bytes : e->bytes;
    if (e->saving) {
        x->saved -= change;
        return;
    }
    if (x->rank[root] == ARENAUT_NONE) {
        if (is_fast(x, root)) x->stay += change;
        return;
    }
    x->alive += change;
    for (uint32_t i = x->rank[root] + 1; i <= x->n; i += i & (0 - i)) {
        x->bytes[i] += change;
        x->cost[i] += change * x->price[x->rank[root]];
    }
}

/* The least that `bytes` of what is alive cost: the cheapest ranks, and a part of one more. */
static uint64_t least_cost(const shares *x, uint64_t bytes) {
    uint64_t cost = 0;
    uint32_t at = 0, step = 1;
    while (step <= x->n / 2) step *= 2;
    for (; step; step /= 2) {
        if (at + step > x->n || x->bytes[at + step] > bytes) continue;
        at += step;
        bytes -= x->bytes[at];
        cost += x->cost[at];
    }
    return at < x->n ? cost + bytes * x->price[at] : cost;
}

/* A step goes together with all that are over before the oldest group of its own begins. */
static uint64_t add_up_steps(shares *x) {
    const arn_spill *s = x->w->s;
    uint32_t oldest = 0, i = 0;
    x->best[0] = 0;
    while (i < s->load.n) {
        const uint32_t start = i;
        const int64_t step = event_at(s, i)->step;
        for (; i < s->load.n && event_at(s, i)->step == step; i++) {
            change_shares(x, event_at(s, i));
            x->best[i + 1] = x->best[start];
        }
        while (oldest < x->n && s->group[x->order[oldest]].last < i) oldest++;
        const uint64_t load = x->alive + x->stay, most = x->room + x->saved;
        if (load <= most || oldest == x->n) continue;
        const uint64_t over = arn_min_u64(load - most, x->alive);
        const uint64_t before = x->best[s->group[x->order[oldest]].start];
        x->best[i] = arn_max_u64(x->best[i], before + least_cost(x, over));
    }
    return x->best[s->load.n];
}

static bool make_shares(shares *x) {
    arn_region *region = &x->w->region;
    const size_t n = (size_t)x->w->s->problem->n_buffers + 1;
    x->rank = arn_region_allocate(region, n, sizeof *x->rank);
    x->price = arn_region_allocate(region, n, sizeof *x->price);
    x->bytes = arn_region_allocate(region, n, sizeof *x->bytes);
    x->cost = arn_region_allocate(region, n, sizeof *x->cost);
    x->best = arn_region_allocate(region, (size_t)x->w->s->load.n + 1, sizeof *x->best);
    x->order = arn_region_allocate(region, n, sizeof *x->order);
    x->scratch = arn_region_allocate(region, n, sizeof *x->scratch);
    x->key = arn_region_allocate(region, n, sizeof *x->key);
    return x->rank && x->price && x->bytes && x->cost && x->best && x->order && x->scratch &&
           x->key;
}

/* In a pool further on, a buffer has left all those before it, so that what is paid for leaving
 * them adds up. False if there is no memory. */
static bool share_out(walk *w, uint64_t *least) {
    const arn_spill *s = w->s;
    shares x = {.w = w};
    if (!make_shares(&x)) return false;
    *least = w->unavoidable;
    for (x.threshold = 1; x.threshold < s->problem->n_pools; x.threshold++) {
        const uint64_t room = w->room[x.threshold - 1];
        if (room == ARENAUT_UNLIMITED) break;
        x.room += room;
        rank_groups(&x);
        *least += add_up_steps(&x);
        w->work += 8 * ((uint64_t)s->load.n + x.n);
    }
    return true;
}

arenaut_status arn_spill_least(arn_spill *s, const arn_spill_question *question,
                               arn_spill_answer *answer, arenaut_error *err) {
    walk w = {.s = s, .q = question};
    bool room = true;
    *answer = (arn_spill_answer){.least = ARENAUT_UNPLACED, .dead_end = INT64_MIN};
    arn_region_init(&w.region, s->allocator);
    find_room(&w);
    if (narrow_pools(&w)) {
        const uint32_t n_choosing = begin_groups(&w);
        room = begin_ways(&w, n_choosing);
        if (w.unavoidable > question->most) w.now.n = 0;
        if (room) room = walk_through(&w, answer);
        for (uint32_t i = 0; i < w.now.n && room && !answer->ended; i++) {
            const uint64_t spill = w.unavoidable + w.now.spill[i];
            if (spill >= answer->least) continue;
            answer->least = spill;
            take_choice(&w, i);
        }
        if (answer->ended) answer->least = 0;
        if (room && !answer->ended && w.forgot && answer->least != ARENAUT_UNPLACED) {
            uint64_t shared;
            room = share_out(&w, &shared);
            if (room)
                answer->least =
                    shared > question->most ? ARENAUT_UNPLACED : arn_max_u64(answer->least, shared);
        }
    }
    answer->steps = w.work / EVENTS_PER_STEP + 1;
    arn_release(s->allocator, w.marks);
    arn_region_free(&w.region);
    return room ? ARENAUT_OK : arn_no_memory(err);
}

arenaut_status arn_spill_bound(const arenaut_problem *problem, arn_ask *ask,
                               const arenaut_allocator *allocator, arn_spill_answer *answer,
                               arenaut_error *err) {
    const arn_spill_question question = {
        .most = ARENAUT_UNPLACED, .sixteenths = 16, .states = ARN_SPILL_STATES, .ask = ask};
    arn_spill *s;
    arenaut_status st = arn_spill_new(problem, allocator, &s, err);
    if (st != ARENAUT_OK) return st;
    st = arn_spill_least(s, &question, answer, err);
    arn_spill_free(s);
    return st;
}
