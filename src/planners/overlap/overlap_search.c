/* Backtracking search with propagation of bounds (a worklist as in AC-3: Mackworth 1977): a
 * worklist of groups, a trail of the bounds that were moved, and a stack of decisions instead of
 * recursion. One step of effort is eight looks at a pair. */
#include "planners/overlap/overlap_search.h"

#include "core/fail.h"

enum { LOOKS_PER_STEP = 8, ASK_AFTER = 1 << 14 };

/* Deltas and places are below 2^63, so that none of the sums here overflows that is formed from
 * a place and a delta that a place may have. */
typedef struct range {
    int64_t low, high;
} range;

/* A range as it was before it was moved. */
typedef struct moved {
    uint32_t at; /* a group, or n + a pair */
    range before;
} moved;

typedef struct decision {
    uint32_t trail; /* its length before */
    uint32_t pair;
    int64_t first, last; /* the ban above or below which the delta may lie */
    bool low_first;
    bool turned; /* the other direction is being tried */
} decision;

typedef struct search {
    const arn_overlap_model *x;
    const arn_overlap_host *host;
    uint64_t looks, spent;
    range *range;    /* of the n groups' places, then of the pairs' deltas */
    uint32_t *queue; /* the worklist: groups with ranges that were moved; a ring of n + 1 */
    uint32_t head, tail;
    bool *queued;
    moved *trail;
    uint32_t n_trail, trail_room;
    decision *stack;
    uint32_t n_stack, stack_room;
    bool no_memory, stopped;
} search;

static void enqueue(search *s, uint32_t g) {
    if (s->queued[g]) return;
    s->queued[g] = true;
    s->queue[s->tail] = g;
    s->tail = s->tail == s->x->n ? 0 : s->tail + 1;
}

static void clear_queue(search *s) {
    while (s->head != s->tail) {
        s->queued[s->queue[s->head]] = false;
        s->head = s->head == s->x->n ? 0 : s->head + 1;
    }
}

/* Replaces a range; false if it is empty, or there is no memory to remember the old one. */
static bool set_range(search *s, uint32_t at, range to) {
    range *r = &s->range[at];
    if (to.low == r->low && to.high == r->high) return true;
    if (!arn_grow(s->host->allocator, (void **)&s->trail, &s->trail_room, (uint64_t)s->n_trail + 1,
                  sizeof *s->trail)) {
        s->no_memory = true;
        return false;
    }
    s->trail[s->n_trail++] = (moved){at, *r};
    *r = to;
    return to.low <= to.high;
}

static int64_t round_up(int64_t place, uint64_t align) {
    return place <= 0 ? 0 : (int64_t)(((uint64_t)place + align - 1) & ~(align - 1));
}

static int64_t round_down(int64_t place, uint64_t align) {
    return place < 0 ? -1 : (int64_t)((uint64_t)place & ~(align - 1));
}

static bool narrow_group(search *s, uint32_t g, int64_t low, int64_t high) {
    const range old = s->range[g];
    range r = old;
    if (low > r.low) r.low = round_up(low, s->x->align[g]);
    if (high < r.high) r.high = round_down(high, s->x->align[g]);
    if (r.low == old.low && r.high == old.high) return true;
    if (!set_range(s, g, r)) return false;
    enqueue(s, g);
    return true;
}

/* Moves the ends of a range of deltas out of the pair's bans. */
static void leave_bans(const arn_overlap_model *x, const arn_overlap_pair *pair, range *delta) {
    const arn_overlap_ban *ban = &x->ban[pair->ban];
    for (uint32_t i = 0; i < pair->n_bans; i++) {
        if (ban[i].first <= delta->low && delta->low <= ban[i].last) delta->low = ban[i].last + 1;
    }
    for (uint32_t i = pair->n_bans; i-- > 0;) {
        if (ban[i].first <= delta->high && delta->high <= ban[i].last) {
            delta->high = ban[i].first - 1;
        }
    }
}

/* Propagation from the places of two groups to their delta, and back. */
static bool look_at(search *s, uint32_t i) {
    const arn_overlap_model *x = s->x;
    const arn_overlap_pair *pair = &x->pair[i];
    const range g = s->range[pair->g], h = s->range[pair->h];
    range delta = s->range[x->n + i];
    s->looks++;
    if (g.low - h.high > delta.low) delta.low = g.low - h.high;
    if (g.high - h.low < delta.high) delta.high = g.high - h.low;
    leave_bans(x, pair, &delta);
    if (delta.low > delta.high || !set_range(s, x->n + i, delta)) return false;
    return narrow_group(s, pair->g, h.low + delta.low, h.high + delta.high) &&
           narrow_group(s, pair->h, g.low - delta.high, g.high - delta.low);
}

static bool may_go_on(search *s) {
    const uint64_t steps = s->looks / LOOKS_PER_STEP;
    s->looks -= steps * LOOKS_PER_STEP;
    s->spent += steps;
    if (!s->host->spend(s->host->context, steps) || s->spent >= s->host->effort) s->stopped = true;
    return !s->stopped && !s->no_memory;
}

/* False if some group has no place any more, or the search is over: see s->stopped. Places may
 * creep up byte by byte if they push each other round in a circle, so this polls as it goes. */
static bool propagate(search *s) {
    bool fine = true;
    while (fine && s->head != s->tail) {
        if (s->looks >= ASK_AFTER && !may_go_on(s)) break;
        const uint32_t g = s->queue[s->head];
        s->head = s->head == s->x->n ? 0 : s->head + 1;
        s->queued[g] = false;
        for (uint32_t k = s->x->touch_start[g]; fine && k < s->x->touch_start[g + 1]; k++) {
            fine = look_at(s, s->x->touch[k]);
        }
    }
    clear_queue(s);
    return fine && !s->stopped && !s->no_memory;
}

/* The first ban that lies between the pair's possible deltas; NULL if the pair is decided. */
static const arn_overlap_ban *open_ban(const search *s, uint32_t i) {
    const arn_overlap_pair *pair = &s->x->pair[i];
    const range delta = s->range[s->x->n + i];
    for (uint32_t k = 0; k < pair->n_bans; k++) {
        const arn_overlap_ban *ban = &s->x->ban[pair->ban + k];
        if (ban->last < delta.low) continue;
        return ban->first > delta.high ? NULL : ban;
    }
    return NULL;
}

/* The slack of a pair's delta in the narrower direction of a ban, and in the wider one. */
static bool is_tighter(uint64_t narrow, uint64_t wide, uint64_t than_narrow, uint64_t than_wide) {
    return narrow != than_narrow ? narrow < than_narrow : wide < than_wide;
}

/* Chooses the next pair to decide; false if none is open. */
static bool choose(const search *s, decision *d) {
    uint64_t best_narrow = UINT64_MAX, best_wide = UINT64_MAX;
    for (uint32_t i = 0; i < s->x->n_pairs; i++) {
        const arn_overlap_ban *ban = open_ban(s, i);
        if (!ban) continue;
        const range delta = s->range[s->x->n + i];
        const uint64_t below = (uint64_t)(ban->first - 1 - delta.low);
        const uint64_t above = (uint64_t)(delta.high - ban->last - 1);
        const bool low_first = below >= above && !s->host->split;
        const uint64_t narrow = low_first ? above : below, wide = low_first ? below : above;
        if (!is_tighter(narrow, wide, best_narrow, best_wide)) continue;
        best_narrow = narrow;
        best_wide = wide;
        *d = (decision){s->n_trail, i, ban->first, ban->last, low_first, false};
    }
    return best_narrow != UINT64_MAX;
}

static bool apply(search *s, const decision *d) {
    const uint32_t at = s->x->n + d->pair;
    range delta = s->range[at];
    if (d->low_first != d->turned) delta.high = d->first - 1;
    else delta.low = d->last + 1;
    if (delta.low > delta.high || !set_range(s, at, delta)) return false;
    enqueue(s, s->x->pair[d->pair].g);
    return propagate(s);
}

static void undo(search *s, uint32_t trail) {
    while (s->n_trail > trail) {
        const moved *m = &s->trail[--s->n_trail];
        s->range[m->at] = m->before;
    }
}

/* Backtracks to the last decision with an untried direction, and takes that; false if there is
 * none. */
static bool turn_back(search *s) {
    while (s->n_stack > 0) {
        decision *d = &s->stack[s->n_stack - 1];
        undo(s, d->trail);
        if (!d->turned) return d->turned = true;
        s->n_stack--;
    }
    return false;
}

static bool decide(search *s, const decision *d) {
    s->looks += s->x->n_pairs / 8;
    if (!arn_grow(s->host->allocator, (void **)&s->stack, &s->stack_room, (uint64_t)s->n_stack + 1,
                  sizeof *s->stack)) {
        s->no_memory = true;
        return false;
    }
    s->stack[s->n_stack++] = *d;
    if (s->host->split) s->host->split(s->host->context, d->pair, d->last + 1);
    return apply(s, d);
}

static arn_overlap_answer run(search *s) {
    bool fine = propagate(s);
    while (may_go_on(s)) {
        decision d;
        if (fine) {
            if (!choose(s, &d)) return ARN_OVERLAP_FOUND;
            fine = decide(s, &d);
        } else {
            if (s->host->close) s->host->close(s->host->context);
            if (!turn_back(s)) return ARN_OVERLAP_NONE;
            fine = apply(s, &s->stack[s->n_stack - 1]);
        }
    }
    return ARN_OVERLAP_STOPPED;
}

/* Every group anywhere below `height`. False if one does not fit by itself. */
static bool start(search *s, uint64_t height) {
    const arn_overlap_model *x = s->x;
    for (uint32_t g = 0; g < x->n; g++) {
        const bool fixed = x->fixed[g] != ARENAUT_UNPLACED;
        if (x->counts[g] && x->extent[g] > height) return false;
        const uint64_t top = x->counts[g] ? height - x->extent[g] : ARENAUT_SIZE_MAX / 2;
        s->range[g] = (range){0, round_down((int64_t)top, x->align[g])};
        s->queued[g] = false;
        if (fixed && x->counts[g] && x->fixed[g] > top) return false;
        if (fixed && (x->fixed[g] & (x->align[g] - 1))) return false;
        if (fixed) s->range[g] = (range){(int64_t)x->fixed[g], (int64_t)x->fixed[g]};
    }
    for (uint32_t i = 0; i < x->n_pairs; i++) {
        s->range[x->n + i] = (range){-(int64_t)ARENAUT_SIZE_MAX, (int64_t)ARENAUT_SIZE_MAX};
    }
    for (uint32_t g = 0; g < x->n; g++) enqueue(s, g);
    return true;
}

arenaut_status arn_overlap_search(const arn_overlap_model *model, uint64_t height,
                                  const arn_overlap_host *host, uint64_t *place,
                                  arn_overlap_answer *answer, arenaut_error *err) {
    const arenaut_allocator *allocator = host->allocator;
    search s = {.x = model, .host = host};
    *answer = ARN_OVERLAP_NONE;
    s.range = arn_allocate(allocator, (size_t)model->n + model->n_pairs, sizeof *s.range);
    s.queue = arn_allocate(allocator, (size_t)model->n + 1, sizeof *s.queue);
    s.queued = arn_allocate(allocator, model->n, sizeof *s.queued);
    if (!s.range || !s.queue || !s.queued) s.no_memory = true;
    else if (!model->impossible && start(&s, height)) *answer = run(&s);
    else if (host->close) host->close(host->context);
    for (uint32_t g = 0; g < model->n && !s.no_memory && *answer == ARN_OVERLAP_FOUND; g++) {
        place[g] = (uint64_t)s.range[g].low;
    }
    ARN_RELEASE(allocator, s.range, s.queue, s.queued, s.trail, s.stack);
    return s.no_memory ? arn_no_memory(err) : ARENAUT_OK;
}
