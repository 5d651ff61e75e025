/* A lower bound of the spill: dynamic programming over time, with the divisions of live buffers
 * among pools as states.
 *
 * At each step that something begins, each state branches into the pools that the group may need;
 * states in which a pool overflows are dropped, and of states with equal divisions the one that
 * spills least dominates. If there are too many, the smallest group is left out of the states
 * (state-space relaxation: Christofides, Mingozzi, Toth 1981), and the fractional bound of
 * spill_groups.c makes up for some of that. O(steps × states). */
#include "planners/bounds/spill.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "ir/problem.h"

enum { MOST_OPEN = 32, EVENTS_PER_EFFORT = 16, MOST_TRAIL = 1 << 19 };

/* A decision, and the one before it. */
typedef struct mark {
    uint32_t before, root, pool;
} mark;

/* States: divisions of the live groups among pools. */
typedef struct states {
    uint32_t n;
    uint8_t *pool;   /* MOST_OPEN for each: the pools of the groups in the slots */
    uint64_t *load;  /* n_pools for each: bytes of these groups alive in each pool, now */
    uint64_t *spill; /* beyond the unavoidable spill */
    uint32_t *trail; /* the last decision */
} states;

/* One sweep over time. */
typedef struct sweep {
    arn_spill *s;
    const arn_spill_question *q;
    uint64_t room[ARENAUT_MAX_POOLS]; /* free bytes of each pool; ARENAUT_UNLIMITED */
    uint64_t used[ARENAUT_MAX_POOLS]; /* of which groups without a choice use so many, now */
    uint64_t unavoidable;             /* spill */
    uint32_t most_states;
    states now, next;
    uint32_t *table; /* for finding equal states; most_table entries, a power of two */
    uint32_t most_table;
    uint32_t open[MOST_OPEN]; /* the root in each slot; ARENAUT_NONE */
    mark *marks;
    uint32_t n_marks, marks_room;
    bool relaxed; /* a group was left out */
    uint64_t work;
    arn_region region;
} sweep;

static uint64_t spill_of(const sweep *w, uint32_t root, uint32_t pool) {
    return w->s->group[root].traffic * arn_problem_rank(w->s->problem, root, pool);
}

/* Gives those without a choice their pools. Returns the number of the others. */
static uint32_t begin_groups(sweep *w) {
    arn_spill *s = w->s;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_roots; i++) {
        arn_spill_group *g = &s->group[s->roots[i]];
        const bool chooses = g->pools & (g->pools - 1);
        g->pool = chooses ? ARENAUT_NONE : arn_lowest_bit(g->pools);
        g->slot = ARN_SPILL_NO_SLOT;
        g->alive = 0;
        w->unavoidable += spill_of(w, s->roots[i], arn_lowest_bit(g->pools));
        n += chooses;
        if (w->q->choice) w->q->choice[s->roots[i]] = g->pool;
    }
    return n;
}

/* ---- states ---- */

static bool allocate_states(sweep *w, states *x) {
    const size_t n = (size_t)w->most_states + 1;
    x->pool = arn_region_allocate(&w->region, n, MOST_OPEN);
    x->load = arn_region_allocate(&w->region, n, w->s->problem->n_pools * sizeof *x->load);
    x->spill = arn_region_allocate(&w->region, n, sizeof *x->spill);
    x->trail = arn_region_allocate(&w->region, n, sizeof *x->trail);
    return x->pool && x->load && x->spill && x->trail;
}

static void copy_state(const sweep *w, states *to, uint32_t t, const states *from, uint32_t f) {
    const size_t n_pools = w->s->problem->n_pools;
    memcpy(to->pool + (size_t)t * MOST_OPEN, from->pool + (size_t)f * MOST_OPEN, MOST_OPEN);
    memcpy(to->load + t * n_pools, from->load + f * n_pools, n_pools * sizeof *to->load);
    to->spill[t] = from->spill[f];
    to->trail[t] = from->trail[f];
}

static bool fits(const sweep *w, const states *x, uint32_t i) {
    const uint32_t n_pools = w->s->problem->n_pools;
    for (uint32_t k = 0; k < n_pools; k++) {
        if (w->room[k] == ARENAUT_UNLIMITED) continue;
        if (x->load[(size_t)i * n_pools + k] + w->used[k] > w->room[k]) return false;
    }
    return true;
}

static void swap_states(sweep *w) {
    const states x = w->now;
    w->now = w->next;
    w->next = x;
}

static void drop_overfull(sweep *w) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->now.n; i++) {
        if (!fits(w, &w->now, i)) continue;
        if (kept != i) copy_state(w, &w->now, kept, &w->now, i);
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

/* Dominance: of states with equal divisions, the one that spills least is enough. */
static void merge(sweep *w) {
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
            if (kept != i) copy_state(w, &w->now, kept, &w->now, i);
            kept++;
        } else if (w->now.spill[i] < w->now.spill[w->table[at]]) {
            copy_state(w, &w->now, w->table[at], &w->now, i);
        }
    }
    w->work += 4 * (uint64_t)w->now.n + w->most_table / 4;
    w->now.n = kept;
}

/* Its pool no longer matters, because the group has ended or is left out. */
static void free_slot(sweep *w, arn_spill_group *g) {
    const uint8_t slot = g->slot;
    for (uint32_t i = 0; i < w->now.n; i++)
        w->now.pool[(size_t)i * MOST_OPEN + slot] = ARN_SPILL_NO_SLOT;
    w->open[slot] = ARENAUT_NONE;
    g->slot = ARN_SPILL_NO_SLOT;
}

static void leave_out(sweep *w, uint32_t slot) {
    arn_spill_group *g = &w->s->group[w->open[slot]];
    const uint32_t n_pools = w->s->problem->n_pools;
    for (uint32_t i = 0; i < w->now.n; i++) {
        w->now.load[(size_t)i * n_pools + w->now.pool[(size_t)i * MOST_OPEN + slot]] -= g->alive;
    }
    free_slot(w, g);
    merge(w);
    w->relaxed = true;
}

/* ---- the sweep ---- */

static bool can_take(const sweep *w, uint32_t *slot) {
    for (*slot = 0; *slot < MOST_OPEN && w->open[*slot] != ARENAUT_NONE;) (*slot)++;
    return *slot < MOST_OPEN;
}

static uint32_t smallest_slot(const sweep *w) {
    const uint64_t *size = w->s->problem->size;
    uint32_t smallest = ARENAUT_NONE;
    for (uint32_t i = 0; i < MOST_OPEN; i++) {
        if (w->open[i] == ARENAUT_NONE) continue;
        if (smallest == ARENAUT_NONE || size[w->open[i]] < size[w->open[smallest]]) smallest = i;
    }
    return smallest;
}

/* Makes room for all successors of the states when the group begins. False if it is better left out
 * itself. */
static bool make_room(sweep *w, uint32_t root, uint32_t n_choices, uint32_t *slot) {
    const uint64_t *size = w->s->problem->size;
    while ((uint64_t)w->now.n * n_choices > w->most_states || !can_take(w, slot)) {
        const uint32_t smallest = smallest_slot(w);
        if (smallest == ARENAUT_NONE || size[root] <= size[w->open[smallest]]) {
            w->relaxed = true;
            return false;
        }
        leave_out(w, smallest);
    }
    return true;
}

static bool add_mark(sweep *w, uint32_t state, uint32_t root, uint32_t pool) {
    if (!w->q->choice) return true;
    if (!arn_grow(w->s->allocator, (void **)&w->marks, &w->marks_room, (uint64_t)w->n_marks + 1,
                  sizeof *w->marks)) {
        return false;
    }
    w->marks[w->n_marks] = (mark){w->next.trail[state], root, pool};
    w->next.trail[state] = w->n_marks++;
    return true;
}

/* Branches each state on the group's pools; the group begins with `bytes`. `early`: whatever else
 * happens at this step, loads do not get lower. */
static bool branch(sweep *w, uint32_t root, uint32_t slot, uint64_t bytes, bool early) {
    arn_spill_group *g = &w->s->group[root];
    const uint32_t n_pools = w->s->problem->n_pools;
    const uint64_t least = spill_of(w, root, arn_lowest_bit(g->pools));
    w->next.n = 0;
    for (uint32_t i = 0; i < w->now.n; i++) {
        for (uint32_t k = 0; k < n_pools; k++) {
            if (!(g->pools >> k & 1)) continue;
            const uint32_t at = w->next.n;
            const uint64_t more = spill_of(w, root, k) - least;
            if (w->unavoidable + w->now.spill[i] + more > w->q->most) continue;
            copy_state(w, &w->next, at, &w->now, i);
            w->next.pool[(size_t)at * MOST_OPEN + slot] = (uint8_t)k;
            w->next.load[(size_t)at * n_pools + k] += bytes;
            w->next.spill[at] += more;
            if (early && !fits(w, &w->next, at)) continue;
            if (!add_mark(w, at, root, k)) return false;
            w->next.n++;
        }
    }
    w->work += (uint64_t)w->now.n * n_pools;
    swap_states(w);
    g->slot = (uint8_t)slot;
    g->alive = bytes;
    w->open[slot] = root;
    return true;
}

/* The pool of the group in a state; ARENAUT_NONE if it is left out. */
static uint32_t pool_in(const sweep *w, uint32_t state, const arn_spill_group *g) {
    return g->slot == ARN_SPILL_NO_SLOT ? g->pool
                                        : w->now.pool[(size_t)state * MOST_OPEN + g->slot];
}

static void apply_change(sweep *w, const arn_load_event *e) {
    const arn_spill *s = w->s;
    const uint32_t n_pools = s->problem->n_pools;
    arn_spill_group *g = &s->group[arn_spill_root(s, e->buffer)];
    const uint64_t change = e->falls ? 0 - e->bytes : e->bytes;
    if (g->slot == ARN_SPILL_NO_SLOT && g->pool == ARENAUT_NONE) return; /* left out */
    g->alive += change;
    if (g->slot == ARN_SPILL_NO_SLOT) {
        w->used[g->pool] += change;
        return;
    }
    for (uint32_t i = 0; i < w->now.n; i++) {
        w->now.load[(size_t)i * n_pools + pool_in(w, i, g)] += change;
    }
    w->work += w->now.n;
}

/* If the two are not both in the states, their shared bytes count as the states' own. */
static void apply_saving(sweep *w, const arn_load_event *e) {
    const arn_spill *s = w->s;
    const uint32_t n_pools = s->problem->n_pools;
    const arn_spill_group *a = &s->group[arn_spill_root(s, e->buffer)];
    const arn_spill_group *b = &s->group[arn_spill_root(s, s->problem->same_base[e->buffer])];
    const uint64_t change = e->falls ? 0 - e->bytes : e->bytes;
    for (uint32_t i = 0; i < w->now.n; i++) {
        const uint32_t pool = pool_in(w, i, a);
        if (pool == ARENAUT_NONE || pool != pool_in(w, i, b)) continue;
        w->now.load[(size_t)i * n_pools + pool] += change;
    }
    w->work += w->now.n;
}

/* The events that end at the step, savings of the step before among them. */
static void end_what_ends(sweep *w, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        const arn_load_event *e = arn_spill_event(w->s, i);
        if (e->saving && !e->falls) apply_saving(w, e);
        if (!e->saving && e->falls) apply_change(w, e);
    }
}

static bool has_savings(const sweep *w, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        if (arn_spill_event(w->s, i)->saving && arn_spill_event(w->s, i)->falls) return true;
    }
    return false;
}

/* New groups with a choice, and their first bytes. All else that begins comes after. */
static bool choose_for_new(sweep *w, uint32_t first, uint32_t end) {
    const bool early = !has_savings(w, first, end);
    for (uint32_t i = first; i < end && w->now.n > 0; i++) {
        const uint32_t root = arn_spill_root(w->s, arn_spill_event(w->s, i)->buffer);
        arn_spill_group *g = &w->s->group[root];
        uint32_t slot, n_choices = 0;
        if (g->first != i || g->pool != ARENAUT_NONE) continue;
        for (uint64_t pools = g->pools; pools; pools &= pools - 1) n_choices++;
        if (!make_room(w, root, n_choices, &slot)) continue;
        if (!branch(w, root, slot, arn_spill_event(w->s, i)->bytes, early)) return false;
    }
    return true;
}

static void begin_what_begins(sweep *w, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        const arn_load_event *e = arn_spill_event(w->s, i);
        if (e->saving && e->falls) apply_saving(w, e);
        const arn_spill_group *g = &w->s->group[arn_spill_root(w->s, e->buffer)];
        const bool counted = g->first == i && g->slot != ARN_SPILL_NO_SLOT;
        if (!e->saving && !e->falls && !counted) apply_change(w, e);
    }
}

static void close_groups(sweep *w, uint32_t first, uint32_t end) {
    bool closed = false;
    for (uint32_t i = first; i < end; i++) {
        const arn_load_event *e = arn_spill_event(w->s, i);
        const uint32_t both[2] = {e->buffer,
                                  e->saving ? w->s->problem->same_base[e->buffer] : e->buffer};
        for (int k = 0; k < 2; k++) {
            arn_spill_group *g = &w->s->group[arn_spill_root(w->s, both[k])];
            if (g->last != i || g->slot == ARN_SPILL_NO_SLOT) continue;
            free_slot(w, g);
            closed = true;
        }
    }
    if (closed) merge(w);
}

static bool sweep_all(sweep *w, arn_spill_answer *answer) {
    const arn_spill *s = w->s;
    for (uint32_t i = 0; i < s->load.n && w->now.n > 0;) {
        const uint32_t first = i;
        const uint64_t before = w->work;
        answer->dead_end = arn_spill_event(s, i)->step;
        while (i < s->load.n && arn_spill_event(s, i)->step == answer->dead_end) i++;
        end_what_ends(w, first, i);
        if (!choose_for_new(w, first, i)) return false;
        begin_what_begins(w, first, i);
        drop_overfull(w);
        close_groups(w, first, i);
        w->work += i - first;
        answer->ended = !arn_poll_after(w->q->poll, w->work - before);
        if (answer->ended) return true;
    }
    return true;
}

static void take_choice(const sweep *w, uint32_t state) {
    const arn_spill *s = w->s;
    uint32_t *choice = w->q->choice;
    if (!choice) return;
    for (uint32_t at = w->now.trail[state]; at != ARENAUT_NONE; at = w->marks[at].before) {
        choice[w->marks[at].root] = w->marks[at].pool;
    }
    for (uint32_t b = 0; b < s->problem->n_buffers; b++) {
        choice[b] = arenaut_problem_needs_memory(s->problem, b) ? choice[arn_spill_root(s, b)]
                                                                : ARENAUT_NONE;
    }
}

static bool begin_states(sweep *w, uint32_t n_choosing) {
    const uint32_t most = MOST_TRAIL / (n_choosing + 1) + 8;
    w->most_states = (uint32_t)arn_min_u64(w->q->states, most);
    if (n_choosing == 0) w->most_states = 1;
    for (w->most_table = 4; w->most_table < 2 * w->most_states;) w->most_table *= 2;
    w->table = arn_region_allocate(&w->region, w->most_table, sizeof *w->table);
    if (!w->table || !allocate_states(w, &w->now) || !allocate_states(w, &w->next)) return false;
    for (uint32_t i = 0; i < MOST_OPEN; i++) w->open[i] = ARENAUT_NONE;
    memset(w->now.pool, ARN_SPILL_NO_SLOT, MOST_OPEN);
    memset(w->now.load, 0, w->s->problem->n_pools * sizeof *w->now.load);
    w->now.spill[0] = 0;
    w->now.trail[0] = ARENAUT_NONE;
    w->now.n = 1;
    return true;
}

arenaut_status arn_spill_least(arn_spill *s, const arn_spill_question *question,
                               arn_spill_answer *answer, arenaut_error *err) {
    sweep w = {.s = s, .q = question};
    bool room = true;
    *answer = (arn_spill_answer){.least = ARENAUT_UNPLACED, .dead_end = INT64_MIN};
    arn_region_init(&w.region, s->allocator);
    arn_spill_room(s->problem, question->sixteenths, w.room);
    const uint64_t looks = (uint64_t)s->n_roots * s->problem->n_pools; /* which are no effort */
    answer->ended = !arn_poll_after(question->poll, looks);
    if (answer->ended) answer->least = 0;
    if (!answer->ended && arn_spill_narrow(s, question->pool_of, w.room, &w.work)) {
        const uint32_t n_choosing = begin_groups(&w);
        room = begin_states(&w, n_choosing);
        if (w.unavoidable > question->most) w.now.n = 0;
        if (room) room = sweep_all(&w, answer);
        for (uint32_t i = 0; i < w.now.n && room && !answer->ended; i++) {
            const uint64_t spill = w.unavoidable + w.now.spill[i];
            if (spill >= answer->least) continue;
            answer->least = spill;
            take_choice(&w, i);
        }
        if (answer->ended) answer->least = 0;
        if (room && !answer->ended && w.relaxed && answer->least != ARENAUT_UNPLACED) {
            uint64_t shared = w.unavoidable;
            room = arn_spill_fraction(s, w.room, &w.region, &shared, &w.work);
            if (room)
                answer->least =
                    shared > question->most ? ARENAUT_UNPLACED : arn_max_u64(answer->least, shared);
        }
    }
    answer->effort = w.work / EVENTS_PER_EFFORT + 1;
    arn_release(s->allocator, w.marks);
    arn_region_free(&w.region);
    return room ? ARENAUT_OK : arn_no_memory(err);
}

arenaut_status arn_spill_bound(const arenaut_problem *problem, arn_poll *poll,
                               const arenaut_allocator *allocator, arn_spill_answer *answer,
                               arenaut_error *err) {
    const arn_spill_question question = {
        .most = ARENAUT_UNPLACED, .sixteenths = 16, .states = ARN_SPILL_STATES, .poll = poll};
    arn_spill *s;
    arenaut_status st = arn_spill_new(problem, allocator, &s, err);
    if (st != ARENAUT_OK) return st;
    st = arn_spill_least(s, &question, answer, err);
    arn_spill_free(s);
    return st;
}
