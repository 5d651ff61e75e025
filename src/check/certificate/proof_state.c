/* proof_state: placing and rejecting groups (branching with left-justified placements), and the
 * closing rules.
 *
 * Each group that is not placed has a lowest offset, which only rises on the path down a proof; a
 * trail of changes undoes it (backtracking). The rules are those of arenaut/certificate.h. A
 * placement looks at the neighbours of its group, a rejection at those of all groups in the set. */
#include "check/certificate/proof_state.h"

#include "check/certificate/proof_load.h"
#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"

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
    const uint32_t *list = c->neighbours + piece->neighbour, n = piece->n_neighbours;
    const uint32_t at = arn_lower_bound(list, n, j);
    return at < n && list[at] == j;
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
        all += arn_proof_multiples_within(piece->size, align_of_piece(c, piece), grain);
    }
    for (uint32_t i = 0; i < n; i++) {
        const arn_proof_piece *piece = &c->piece[list[i]];
        const uint64_t align = align_of_piece(c, piece);
        const uint64_t others = all - arn_proof_multiples_within(piece->size, align, grain);
        if (piece->size > s->limit) continue;
        const uint64_t start = (s->limit - piece->size) & ~(align - 1);
        if (start < floor) continue;
        if (others <=
            arn_proof_multiples_below(start, grain) - arn_proof_multiples_below(floor, grain))
            return false;
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
    const uint32_t at = arn_step_lower_bound(c->moment, c->n_moments, step);
    uint32_t n = 0;
    if (at == c->n_moments || c->moment[at] != step) return false;
    for (uint32_t k = c->member_start[at]; k < c->member_start[at + 1]; k++) {
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
