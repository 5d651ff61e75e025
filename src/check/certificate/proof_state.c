/* proof_state: placing and rejecting groups (branching with left-justified placements), the closing
 * rules, and the load at a step.
 *
 * Each group that is not placed has a lowest offset, which only rises on the path down a proof; a
 * trail of changes undoes it (backtracking). The rules are those of arenaut/certificate.h. A
 * placement looks at the neighbours of its group, a rejection at those of all groups in the set.
 * The load is the checker's own sum, apart from that of the planners: O(buffers) for each step
 * asked about. */
#include "check/certificate/proof_state.h"

#include "core/checked.h"
#include "core/fail.h"

/* ---- lowest offsets ---- */

/* The end of an obstacle that a piece at `at` runs into, or `at` itself. */
static uint64_t past(uint64_t at, uint64_t size, uint64_t first, uint64_t end) {
    return at < end && first < at + size ? end : at;
}

static uint64_t past_reserved(const arn_proof_case *c, uint64_t at, uint64_t size) {
    const arenaut_problem *p = c->problem;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        if (p->reserved[i].pool != c->pool) continue;
        at = past(at, size, p->reserved[i].first, p->reserved[i].end);
    }
    return at;
}

static uint64_t past_placed(const arn_proof_state *s, const arn_proof_piece *piece, uint64_t at) {
    const arn_proof_case *c = s->c;
    (void)arn_proof_charge(c->meter, 1 + (uint64_t)piece->n_neighbours + c->problem->n_reserved);
    for (uint32_t k = piece->neighbour; k < piece->neighbour + piece->n_neighbours; k++) {
        const arn_proof_piece *other = &c->piece[c->neighbours[k]];
        if (s->state[other->group] != ARN_GROUP_PLACED) continue;
        const uint64_t first = s->lowest[other->group] + other->delta;
        at = past(at, piece->size, first, first + other->size);
    }
    return at;
}

/* The lowest offset from `at` on that the group may take. The search stops past the limit, so that
 * it never goes further than from there to the end of one obstacle; likewise if the budget of the
 * check is spent. */
static uint64_t settle(const arn_proof_state *s, uint32_t group, uint64_t at) {
    const arn_proof_case *c = s->c;
    const arn_proof_group *b = &c->group[group];
    for (;;) {
        at += (b->residue - at) & (b->align - 1);
        if (at > s->limit || b->extent > s->limit - at) return at;
        uint64_t moved = at;
        for (uint32_t i = b->piece; i < b->piece + b->n_pieces; i++) {
            const arn_proof_piece *piece = &c->piece[i];
            const uint64_t own = moved + piece->delta;
            moved += past_placed(s, piece, past_reserved(c, own, piece->size)) - own;
        }
        if (moved == at || arn_proof_is_spent(c->meter)) return at;
        at = moved;
    }
}

/* ---- changes ---- */

static bool change(arn_proof_state *s, uint32_t group, arn_proof_group_state state,
                   uint64_t lowest) {
    const arn_proof_group_change before = {group, s->state[group], s->lowest[group]};
    if (!arn_grow(s->c->allocator, (void **)&s->trail, &s->trail_room, (uint64_t)s->n_trail + 1,
                  sizeof *s->trail)) {
        return false;
    }
    s->trail[s->n_trail++] = before;
    s->state[group] = (uint8_t)state;
    s->lowest[group] = lowest;
    const uint64_t extent = s->c->group[group].extent;
    if (lowest > s->limit || extent > s->limit - lowest) s->dead = true;
    return true;
}

void arn_proof_undo(arn_proof_state *s, uint32_t n_trail, bool dead) {
    while (s->n_trail > n_trail) {
        const arn_proof_group_change *before = &s->trail[--s->n_trail];
        s->state[before->group] = before->state;
        s->lowest[before->group] = before->lowest;
    }
    s->dead = dead;
}

bool arn_proof_leave(arn_proof_state *s, uint32_t group) {
    return change(s, group, ARN_GROUP_LEFT, s->lowest[group]);
}

/* Raises the open groups that the piece of a placed one overlaps. */
static bool raise_neighbours(arn_proof_state *s, const arn_proof_piece *piece) {
    const arn_proof_case *c = s->c;
    const uint64_t first = s->lowest[piece->group] + piece->delta, end = first + piece->size;
    for (uint32_t k = piece->neighbour; k < piece->neighbour + piece->n_neighbours && !s->dead;
         k++) {
        const arn_proof_piece *other = &c->piece[c->neighbours[k]];
        if (s->state[other->group] != ARN_GROUP_OPEN) continue;
        const uint64_t at = s->lowest[other->group] + other->delta;
        if (at >= end || first >= at + other->size) continue;
        const uint64_t lowest = settle(s, other->group, s->lowest[other->group]);
        if (!change(s, other->group, ARN_GROUP_OPEN, lowest)) return false;
    }
    return true;
}

bool arn_proof_place(arn_proof_state *s, uint32_t group) {
    const arn_proof_group *b = &s->c->group[group];
    bool done = change(s, group, ARN_GROUP_PLACED, s->lowest[group]);
    for (uint32_t i = b->piece; i < b->piece + b->n_pieces && done; i++) {
        done = raise_neighbours(s, &s->c->piece[i]);
    }
    return done;
}

/* ---- rejecting ---- */

/* The possible supports of a group of a rejected set: the ends that it may rest on. */
typedef struct rest {
    uint64_t
        outside;   /* the lowest end of an open neighbour that is not in the set; none: UNPLACED */
    uint64_t step; /* the least rise above one of the set, if it rests there */
    bool above;    /* resting on one of the set means lying higher */
    uint64_t any;  /* the lowest end of any open neighbour */
    bool blocked;  /* a neighbour may overlap it at its lowest offset */
} rest;

/* The offset of group `b` if its piece rests on the other's end, with the other at its lowest. */
static void rest_on(const arn_proof_state *s, const arn_proof_piece *piece,
                    const arn_proof_piece *other, rest *r) {
    const uint64_t own = s->lowest[piece->group], base = s->lowest[other->group];
    const uint64_t top = base + other->delta + other->size;
    const uint64_t at = top > piece->delta ? top - piece->delta : 0;
    if (base + other->delta < own + piece->delta + piece->size) r->blocked = true;
    r->any = arn_min_u64(r->any, at);
    if (!s->chosen[other->group]) {
        r->outside = arn_min_u64(r->outside, at);
    } else if (other->delta + other->size > piece->delta) {
        r->step = arn_min_u64(r->step, other->delta + other->size - piece->delta);
    } else {
        r->above = false;
    }
}

static rest find_rest(const arn_proof_state *s, uint32_t group) {
    const arn_proof_case *c = s->c;
    const arn_proof_group *b = &c->group[group];
    rest r = {ARENAUT_UNPLACED, ARENAUT_UNPLACED, true, ARENAUT_UNPLACED, false};
    for (uint32_t i = b->piece; i < b->piece + b->n_pieces; i++) {
        for (uint32_t k = c->piece[i].neighbour;
             k < c->piece[i].neighbour + c->piece[i].n_neighbours; k++) {
            const arn_proof_piece *other = &c->piece[c->neighbours[k]];
            if (s->state[other->group] == ARN_GROUP_OPEN) rest_on(s, &c->piece[i], other, &r);
        }
        (void)arn_proof_charge(c->meter, 1 + (uint64_t)c->piece[i].n_neighbours);
    }
    return r;
}

/* An end that is not above where the group is rejected stands for any higher one, which is higher
 * by a grain at least. */
static uint64_t settle_above(const arn_proof_state *s, uint32_t group, uint64_t at) {
    return settle(s, group, arn_max_u64(at, s->lowest[group] + s->c->grain));
}

/* The next possible offset of each of the set, into s->rest. False if that costs too much. */
static bool find_rests(arn_proof_state *s, const uint32_t *groups, uint32_t n) {
    uint64_t lowest = ARENAUT_UNPLACED;
    bool above = true;
    for (uint32_t i = 0; i < n; i++) {
        if (arn_proof_is_spent(s->c->meter)) return false;
        const rest r = find_rest(s, groups[i]);
        if (!r.blocked) s->dead = true;
        above = above && r.above;
        s->rest[groups[i]] =
            r.outside == ARENAUT_UNPLACED ? r.outside : settle_above(s, groups[i], r.outside);
        lowest = arn_min_u64(lowest, s->rest[groups[i]]);
    }
    if (above && lowest == ARENAUT_UNPLACED) s->dead = true;
    for (uint32_t i = 0; i < n && !s->dead; i++) {
        if (arn_proof_is_spent(s->c->meter)) return false;
        const rest r = find_rest(s, groups[i]);
        uint64_t *at = &s->rest[groups[i]];
        if (!above) {
            *at = settle_above(s, groups[i], r.any);
        } else if (r.step != ARENAUT_UNPLACED && lowest <= s->limit && lowest + r.step < *at) {
            *at = arn_min_u64(*at, settle_above(s, groups[i], lowest + r.step));
        }
    }
    return !arn_proof_is_spent(s->c->meter);
}

/* Of no groups nothing is rejected: an empty set has no lowest one, which must rest on another. */
bool arn_proof_reject(arn_proof_state *s, const uint32_t *groups, uint32_t n) {
    if (s->dead || n == 0) return true;
    for (uint32_t i = 0; i < n; i++) s->chosen[groups[i]] = true;
    const bool found = find_rests(s, groups, n);
    for (uint32_t i = 0; i < n; i++) s->chosen[groups[i]] = false;
    if (!found) return false;
    for (uint32_t i = 0; i < n && !s->dead; i++) {
        if (!change(s, groups[i], ARN_GROUP_OPEN, s->rest[groups[i]])) return false;
    }
    return true;
}

/* ---- closing rules ---- */

static bool are_neighbours(const arn_proof_case *c, uint32_t i, uint32_t j) {
    const arn_proof_piece *piece = &c->piece[i];
    uint32_t low = piece->neighbour, high = piece->neighbour + piece->n_neighbours;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (c->neighbours[middle] < j) low = middle + 1;
        else high = middle;
    }
    return low < piece->neighbour + piece->n_neighbours && c->neighbours[low] == j;
}

/* ---- bytes lost to alignments ---- */

/* How many multiples of `grain` there are below `end`, from 0 on. */
static uint64_t multiples_below(uint64_t end, uint64_t grain) {
    return end / grain + (end % grain != 0);
}

/* The least number of multiples of `grain` in `size` bytes from an aligned offset on: as many as in
 * the bytes behind the offset, below which the next multiple is as far off as it can be. */
static uint64_t multiples_within(uint64_t size, uint64_t align, uint64_t grain) {
    const uint64_t skipped = align < grain ? grain - align : 0;
    return size > skipped ? multiples_below(size - skipped, grain) : 0;
}

/* An obstacle for all pieces of a list: a reserved range, or a fixed piece that is a neighbour of
 * each. The next one that ends above `at` and begins lowest; false: none. */
static bool next_wall(const arn_proof_state *s, const uint32_t *list, uint32_t n, uint64_t at,
                      arenaut_reserved *wall) {
    const arn_proof_case *c = s->c;
    const arenaut_problem *p = c->problem;
    bool found = false;
    (void)arn_proof_charge(c->meter, (uint64_t)p->n_reserved + c->n_pieces + n);
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool != c->pool || r->end <= at || (found && r->first >= wall->first)) continue;
        *wall = *r;
        found = true;
    }
    for (uint32_t k = 0; k < c->n_groups; k++) {
        const arn_proof_group *b = &c->group[k];
        for (uint32_t i = b->piece; b->fixed != ARENAUT_UNPLACED && i < b->piece + b->n_pieces;
             i++) {
            const uint64_t first = b->fixed + c->piece[i].delta, end = first + c->piece[i].size;
            bool stands = end > at && !(found && first >= wall->first);
            for (uint32_t m = 0; m < n && stands; m++) stands = are_neighbours(c, i, list[m]);
            if (!stands) continue;
            wall->first = first;
            wall->end = end;
            found = true;
        }
    }
    return found;
}

/* Whether their sizes add up to more than there is between `floor` and the limit, outside of the
 * obstacles for all of them. */
static bool sizes_do_not_fit(const arn_proof_state *s, const uint32_t *list, uint32_t n,
                             uint64_t floor) {
    const arn_proof_case *c = s->c;
    uint64_t load = 0;
    /* a valid problem's sizes add up */
    for (uint32_t i = 0; i < n; i++) load += c->piece[list[i]].size;
    if (floor > s->limit || load > s->limit - floor) return true;
    arenaut_reserved wall = {0, 0, 0};
    uint64_t at = floor; /* all below is accounted for; `load` lies above */
    while (next_wall(s, list, n, at, &wall) && wall.first < at + load) {
        if (arn_proof_is_spent(c->meter)) return false;
        if (wall.first > at) load -= wall.first - at;
        at = wall.end;
        if (at > s->limit || load > s->limit - at) return true;
    }
    return false;
}

/* A power of two of which the piece's offset is a multiple in the plan with the least sum. */
static uint64_t align_of_piece(const arn_proof_case *c, const arn_proof_piece *piece) {
    return arn_max_u64(arenaut_problem_align(c->problem, piece->buffer),
                       c->grain & (~c->grain + 1));
}

/* No two of the listed pieces have a multiple of the grain in common, and all but the topmost lie
 * between `floor` and that one's start. Whether there are too few multiples for that, whichever of
 * them is the topmost. */
static bool lacks_multiples(const arn_proof_state *s, const uint32_t *list, uint32_t n,
                            uint64_t floor, uint64_t grain) {
    const arn_proof_case *c = s->c;
    uint64_t all = 0;
    for (uint32_t i = 0; i < n; i++) {
        const arn_proof_piece *piece = &c->piece[list[i]];
        all += multiples_within(piece->size, align_of_piece(c, piece), grain);
    }
    for (uint32_t i = 0; i < n; i++) {
        const arn_proof_piece *piece = &c->piece[list[i]];
        const uint64_t align = align_of_piece(c, piece);
        const uint64_t others = all - multiples_within(piece->size, align, grain);
        if (piece->size > s->limit) continue;
        const uint64_t start = (s->limit - piece->size) & ~(align - 1);
        if (start < floor) continue;
        if (others <= multiples_below(start, grain) - multiples_below(floor, grain)) return false;
    }
    return true;
}

/* Whether the listed pieces, no two of which may share a byte, fit above the lowest of them. */
static bool does_not_fit(const arn_proof_state *s, const uint32_t *list, uint32_t n) {
    uint64_t floor = ARENAUT_UNPLACED, aligns = 0;
    if (n == 0) return false;
    for (uint32_t i = 0; i < n; i++) {
        const arn_proof_piece *piece = &s->c->piece[list[i]];
        floor = arn_min_u64(floor, s->lowest[piece->group] + piece->delta);
        aligns |= align_of_piece(s->c, piece);
    }
    if (sizes_do_not_fit(s, list, n, floor)) return true;
    for (uint64_t grain = 2; grain && grain <= aligns; grain *= 2) {
        if (!arn_proof_charge(s->c->meter, n)) return false;
        if (lacks_multiples(s, list, n, floor, grain)) return true;
    }
    return false;
}

bool arn_proof_is_over(const arn_proof_state *s, int64_t step) {
    const arn_proof_case *c = s->c;
    uint32_t low = 0, high = c->n_moments, n = 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (c->moment[middle] < step) low = middle + 1;
        else high = middle;
    }
    if (low == c->n_moments || c->moment[low] != step) return false;
    for (uint32_t k = c->member_start[low]; k < c->member_start[low + 1]; k++) {
        if (s->state[c->piece[c->member[k]].group] == ARN_GROUP_OPEN) s->list[n++] = c->member[k];
    }
    return does_not_fit(s, s->list, n);
}

bool arn_proof_is_edge_over(const arn_proof_state *s, uint32_t conflict) {
    const arn_proof_case *c = s->c;
    if (conflict >= c->problem->n_conflicts) return false;
    const uint32_t ends[2] = {c->piece_of[c->problem->conflict[conflict].a],
                              c->piece_of[c->problem->conflict[conflict].b]};
    for (int i = 0; i < 2; i++) {
        if (ends[i] == ARENAUT_NONE) return false;
        if (s->state[c->piece[ends[i]].group] != ARN_GROUP_OPEN) return false;
    }
    return are_neighbours(c, ends[0], ends[1]) && does_not_fit(s, ends, 2);
}

bool arn_proof_is_alike(const arn_proof_state *s, uint32_t a, uint32_t b) {
    const arn_proof_case *c = s->c;
    const arn_proof_group *x = &c->group[a], *y = &c->group[b];
    if (a == b || x->n_pieces != 1 || y->n_pieces != 1 || x->align != y->align ||
        x->extent != y->extent || s->lowest[a] != s->lowest[b]) {
        return false;
    }
    const arn_proof_piece *p = &c->piece[x->piece], *q = &c->piece[y->piece];
    uint32_t i = p->neighbour, k = q->neighbour;
    const uint32_t i_end = i + p->n_neighbours, k_end = k + q->n_neighbours;
    for (;;) {
        if (i < i_end && c->neighbours[i] == y->piece) i++;
        if (k < k_end && c->neighbours[k] == x->piece) k++;
        if (i == i_end || k == k_end) return i == i_end && k == k_end;
        if (c->neighbours[i++] != c->neighbours[k++]) return false;
    }
}

/* Whether an open group that was at `lowest` or above could have come below one that was placed
 * then, and is not placed there now: then a placement is possible now that was not. */
static bool was_hemmed_in(const arn_proof_state *s, const uint64_t *lowest, const uint8_t *state,
                          uint32_t group) {
    const arn_proof_case *c = s->c;
    const arn_proof_group *b = &c->group[group];
    for (uint32_t i = b->piece; i < b->piece + b->n_pieces; i++) {
        const arn_proof_piece *piece = &c->piece[i];
        for (uint32_t k = piece->neighbour; k < piece->neighbour + piece->n_neighbours; k++) {
            const arn_proof_piece *other = &c->piece[c->neighbours[k]];
            if (state[other->group] != ARN_GROUP_PLACED) continue;
            (void)arn_proof_charge(c->meter, 1);
            const uint64_t end = lowest[other->group] + other->delta + other->size;
            if (lowest[group] + piece->delta >= end) continue;
            if (s->state[other->group] != ARN_GROUP_PLACED ||
                s->lowest[other->group] != lowest[other->group]) {
                return true;
            }
        }
    }
    return false;
}

bool arn_proof_is_no_freer(const arn_proof_state *s, const uint64_t *lowest, const uint8_t *state) {
    (void)arn_proof_charge(s->c->meter, s->c->n_groups);
    for (uint32_t k = 0; k < s->c->n_groups; k++) {
        if (state[k] != ARN_GROUP_OPEN) continue;
        if (s->state[k] != ARN_GROUP_OPEN || s->lowest[k] < lowest[k]) return false;
        if (was_hemmed_in(s, lowest, state, k)) return false;
    }
    return true;
}

/* ---- the first state ---- */

static bool allocate_state(arn_proof_state *s) {
    const arn_proof_case *c = s->c;
    return ARN_REGION_ARRAYS(&s->region, ARN_ARRAY(s->lowest, c->n_groups),
                             ARN_ARRAY(s->state, c->n_groups), ARN_ARRAY(s->rest, c->n_groups),
                             ARN_ARRAY(s->chosen, c->n_groups), ARN_ARRAY(s->list, c->n_pieces));
}

arenaut_status arn_proof_state_init(arn_proof_state *s, const arn_proof_case *c, uint64_t limit) {
    const arn_proof_state empty = {.c = c, .limit = limit, .dead = c->contradiction};
    *s = empty;
    arn_region_init(&s->region, c->allocator);
    if (!allocate_state(s)) {
        arn_region_free(&s->region);
        return arn_no_memory(c->err);
    }
    for (uint32_t k = 0; k < c->n_groups; k++) {
        const uint64_t fixed = c->group[k].fixed;
        s->state[k] = fixed == ARENAUT_UNPLACED ? ARN_GROUP_OPEN : ARN_GROUP_PLACED;
        s->lowest[k] = fixed == ARENAUT_UNPLACED ? 0 : fixed;
        s->chosen[k] = false;
    }
    for (uint32_t k = 0; k < c->n_groups && !s->dead; k++) {
        const uint64_t at = settle(s, k, s->lowest[k]);
        if (s->state[k] == ARN_GROUP_PLACED && at != s->lowest[k]) s->dead = true;
        if (at > limit || c->group[k].extent > limit - at) s->dead = true;
        if (s->state[k] == ARN_GROUP_OPEN) s->lowest[k] = at;
    }
    return ARENAUT_OK;
}

void arn_proof_state_free(arn_proof_state *s) {
    arn_release(s->c->allocator, s->trail);
    arn_region_free(&s->region);
}

/* ---- load at a step ---- */

typedef struct weighing {
    const arn_proof_case *c;
    uint64_t pools;
    int64_t step;
    arn_region scratch;
    bool *counts;    /* per buffer: alive, confined to the pools, not within a living host, and no
                      * slice of a slice */
    uint64_t *saved; /* per buffer: the most that an heir shares with it */
} weighing;

static bool alive(const weighing *w, uint32_t b) {
    const arenaut_problem *p = w->c->problem;
    return arenaut_problem_needs_memory(p, b) && !w->c->left_out[b] &&
           arn_proof_alive(arenaut_problem_lifetimes(p, b), arenaut_problem_lifetime_count(p, b),
                           w->step);
}

static bool within_living_host(const weighing *w, uint32_t b) {
    if (!w->c->slices->host) return false;
    for (uint32_t h = w->c->slices->host[b]; h != ARENAUT_NONE; h = w->c->slices->host[h]) {
        if (alive(w, h)) return true;
    }
    return false;
}

/* A slice of a slice may be an heir and the base of others, and so save more bytes than it has: the
 * load is higher without it. Separations are counted beside it (overlap_bound.c). */
static bool is_slice_of_slice(const weighing *w, uint32_t b) {
    const uint32_t *host = w->c->problem->n_separations == 0 ? w->c->slices->host : NULL;
    return host && host[b] != ARENAUT_NONE && host[host[b]] != ARENAUT_NONE;
}

/* Writes per root the common pools of its whole group. */
static bool find_common_pools(weighing *w, uint32_t **root, uint64_t **common) {
    const arenaut_problem *p = w->c->problem;
    int64_t *delta = arn_region_allocate(&w->scratch, p->n_buffers, sizeof *delta);
    *root = arn_region_allocate(&w->scratch, p->n_buffers, sizeof **root);
    *common = arn_region_allocate(&w->scratch, p->n_buffers, sizeof **common);
    if (!delta || !*root || !*common) return false;
    arn_proof_groups(w->c, *root, delta);
    for (uint32_t b = 0; b < p->n_buffers; b++) (*common)[b] = UINT64_MAX;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) (*common)[(*root)[b]] &= w->c->pools[b];
    }
    return true;
}

static bool choose_buffers(weighing *w) {
    const arenaut_problem *p = w->c->problem;
    uint32_t *root;
    uint64_t *common;
    w->counts = arn_region_allocate(&w->scratch, p->n_buffers, sizeof *w->counts);
    w->saved = arn_region_allocate(&w->scratch, p->n_buffers, sizeof *w->saved);
    if (!w->counts || !w->saved || !find_common_pools(w, &root, &common)) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        w->saved[b] = 0;
        w->counts[b] = alive(w, b) && !(common[root[b]] & ~w->pools) && !within_living_host(w, b) &&
                       !is_slice_of_slice(w, b);
    }
    return true;
}

/* The most that counted buffers share with their heirs, in grains: multiples of it, those begun
 * included. A buffer lies on no more than one of its heirs at a time; but in several pools each may
 * have a part of them. */
static uint64_t shared_with_heirs(const weighing *w, uint64_t grain) {
    const arenaut_problem *p = w->c->problem;
    /* Heirs of one buffer are apart, unless a separation says otherwise. */
    const bool one_heir = (w->pools & (w->pools - 1)) == 0 && p->n_separations == 0;
    uint64_t saved = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) w->saved[b] = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t base = arenaut_problem_same_base(p, b);
        if (base == ARENAUT_NONE || !w->counts[b] || !w->counts[base]) continue;
        if (w->c->pair[b] == ARN_PAIR_APART) continue;
        const uint64_t share = multiples_below(arn_min_u64(p->size[b], p->size[base]), grain);
        const uint64_t before = one_heir ? arn_min_u64(w->saved[base], share) : 0;
        saved += share - before;
        w->saved[base] = arn_max_u64(w->saved[base], share);
    }
    return saved;
}

/* The bytes that the counted buffers need together. */
static uint64_t sum_of_sizes(const weighing *w) {
    uint64_t need = 0;
    for (uint32_t b = 0; b < w->c->problem->n_buffers; b++) {
        if (w->counts[b]) need += w->c->problem->size[b];
    }
    return need - shared_with_heirs(w, 1);
}

/* An upper bound on the bytes that counted buffers share by separations, each two by themselves: a
 * byte that several cover is subtracted at least as often as it is counted too much. */
static uint64_t shared_by_separations(const weighing *w) {
    const arenaut_problem *p = w->c->problem;
    uint64_t shared = 0;
    for (uint32_t i = 0; i < p->n_separations; i++) {
        const arenaut_separation *s = &p->separation[i];
        const uint64_t lower = p->size[s->lower],
                       raised = s->distance > 0 ? (uint64_t)s->distance : 0;
        if (!w->counts[s->upper] || !w->counts[s->lower] || raised >= lower) continue;
        if (!arn_add(shared, arn_min_u64(p->size[s->upper], lower - raised), &shared)) {
            return UINT64_MAX;
        }
    }
    return shared;
}

static uint64_t reserved_below(const arenaut_problem *p, uint32_t pool, uint64_t limit) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == pool && r->first < limit) bytes += arn_min_u64(r->end, limit) - r->first;
    }
    return bytes;
}

/* Whether so many bytes are more than the arenas may have together, or than the free bytes of all
 * pools below their limits. */
static bool is_too_much(const weighing *w, uint64_t need) {
    uint64_t sum = 0;
    if (need > arn_proof_room(w->c, w->pools)) return true;
    for (uint32_t k = 0; k < w->c->problem->n_pools; k++) {
        if (!(w->pools >> k & 1)) continue;
        const uint64_t limit = arn_proof_limit(w->c, k);
        if (limit > ARENAUT_SIZE_MAX) return false;
        if (!arn_add(sum, limit - reserved_below(w->c->problem, k, limit), &sum)) return false;
    }
    return need > sum;
}

/* The highest start below the limit of a buffer outside of reserved ranges; false: there is none.
 */
static bool find_highest_start(const arenaut_problem *p, uint32_t pool, uint32_t b, uint64_t limit,
                               uint64_t *start) {
    const uint64_t align = arenaut_problem_align(p, b), size = p->size[b];
    uint64_t end = limit;
    for (uint32_t i = p->n_reserved; size <= end; i--) {
        *start = (end - size) & ~(align - 1);
        while (i > 0 &&
               (p->reserved[i - 1].pool != pool || p->reserved[i - 1].first >= *start + size)) {
            i--;
        }
        if (i == 0 || p->reserved[i - 1].end <= *start) return true;
        end = p->reserved[i - 1].first;
    }
    return false;
}

/* The multiples of the grain below `end` outside of reserved ranges. */
static uint64_t free_multiples(const arenaut_problem *p, uint32_t pool, uint64_t end,
                               uint64_t grain) {
    uint64_t n = multiples_below(end, grain);
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool != pool || r->first >= end) continue;
        n -= multiples_below(arn_min_u64(r->end, end), grain) - multiples_below(r->first, grain);
    }
    return n;
}

/* No two counted buffers have a multiple of the grain in common, but for an heir and its base, and
 * all lie below the start of the topmost. Whether there are too few for that in the pool. */
static bool lacks_free_multiples(const weighing *w, uint32_t pool, uint64_t limit, uint64_t grain) {
    const arenaut_problem *p = w->c->problem;
    uint64_t all = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!w->counts[b]) continue;
        all += multiples_within(p->size[b], arenaut_problem_align(p, b), grain);
    }
    const uint64_t shared = shared_with_heirs(w, grain);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        uint64_t start;
        if (!w->counts[b] || !find_highest_start(p, pool, b, limit, &start)) continue;
        const uint64_t at_top =
            shared + multiples_within(p->size[b], arenaut_problem_align(p, b), grain);
        if (all <= at_top || all - at_top <= free_multiples(p, pool, start, grain)) return false;
    }
    return true;
}

static bool judge(const weighing *w) {
    const arenaut_problem *p = w->c->problem;
    const bool one_pool = (w->pools & (w->pools - 1)) == 0;
    uint64_t n = 0, aligns = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!w->counts[b]) continue;
        aligns |= arenaut_problem_align(p, b);
        n++;
    }
    if (n == 0) return false;
    const uint64_t shared = shared_by_separations(w), all = sum_of_sizes(w);
    if (all > shared && is_too_much(w, all - shared)) return true;
    /* In several pools there are several topmost buffers, and buffers that share a part by a
     * separation have some multiples in common. */
    if (!one_pool || shared) return false;
    const uint32_t pool = arn_lowest_bit(w->pools);
    const uint64_t limit = arn_proof_limit(w->c, pool);
    for (uint64_t grain = 2; grain && grain <= aligns && limit <= ARENAUT_SIZE_MAX; grain *= 2) {
        const uint64_t work = n * (1 + (uint64_t)p->n_reserved) + p->n_buffers;
        if (!arn_proof_charge(w->c->meter, work)) return false;
        if (lacks_free_multiples(w, pool, limit, grain)) return true;
    }
    return false;
}

arenaut_status arn_proof_is_overloaded(const arn_proof_case *c, uint64_t pools, int64_t step,
                                       bool *over) {
    weighing w = {.c = c, .pools = pools, .step = step};
    const arenaut_problem *p = c->problem;
    (void)arn_proof_charge(c->meter, (uint64_t)p->n_buffers + p->n_lifetimes + p->n_separations);
    arn_region_init(&w.scratch, c->allocator);
    const bool done = choose_buffers(&w);
    *over = done && judge(&w);
    arn_region_free(&w.scratch);
    return done ? ARENAUT_OK : arn_no_memory(c->err);
}
