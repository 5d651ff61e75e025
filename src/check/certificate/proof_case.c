/* proof_case: assumptions about same-base pairs and pools; the rigid groups that joined buffers and
 * slices form (union-find with offsets); and their interference graph (neighbours), by live ranges
 * and conflict edges. Opening a case costs O(n log n) and one entry for each pair alive together;
 * proof_lives.c has the live ranges, proof_state.c the possible offsets. */
#include "check/certificate/proof_case.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"

/* Lists of neighbours and of members have at most so many entries. */
enum { MOST_ENTRIES = 1 << 24 };

/* Whether the two are a buffer and its base, with the assumption about them. */
static bool are_pair(const arn_proof_case *c, uint32_t a, uint32_t b,
                     arn_pair_assumption *assumed) {
    const uint32_t heir = arenaut_problem_same_base(c->problem, a) == b   ? a
                          : arenaut_problem_same_base(c->problem, b) == a ? b
                                                                          : ARENAUT_NONE;
    if (heir != ARENAUT_NONE) *assumed = (arn_pair_assumption)c->pair[heir];
    return heir != ARENAUT_NONE;
}

/* Whether two buffers may share bytes by a relation, under the assumptions. */
static bool proof_excused(const arn_proof_case *c, uint32_t a, uint32_t b) {
    arn_pair_assumption assumed;
    if (arn_check_slices_nested(c->slices, a, b)) return true;
    return are_pair(c, a, b, &assumed) && assumed != ARN_PAIR_APART;
}

const arenaut_separation *arn_proof_separation(const arenaut_problem *p, uint32_t upper,
                                               uint32_t lower) {
    uint32_t low = 0, high = p->n_separations;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const arenaut_separation *s = &p->separation[middle];
        if (s->upper < upper || (s->upper == upper && s->lower < lower)) low = middle + 1;
        else high = middle;
    }
    if (low == p->n_separations) return NULL;
    const arenaut_separation *s = &p->separation[low];
    return s->upper == upper && s->lower == lower ? s : NULL;
}

static arenaut_status too_large(const arn_proof_case *c) {
    return arn_fail(c->err, ARENAUT_TOO_LARGE, 0,
                    "the proof looks at a pool with more than %d pairs of buffers alive together",
                    MOST_ENTRIES);
}

/* ---- assumptions ---- */

arenaut_status arn_proof_case_init(arn_proof_case *c, const arn_plan_check *check,
                                   const arn_check_slices *slices, uint64_t bound) {
    const arenaut_problem *p = check->problem;
    const arn_proof_case empty = {.problem = p,
                                  .slices = slices,
                                  .allocator = check->allocator,
                                  .err = check->err,
                                  .bound = bound};
    *c = empty;
    c->pair = arn_allocate_zeroed(c->allocator, p->n_buffers, sizeof *c->pair);
    c->pools = arn_allocate(c->allocator, p->n_buffers, sizeof *c->pools);
    c->left_out = arn_allocate_zeroed(c->allocator, p->n_buffers, sizeof *c->left_out);
    if (!c->pair || !c->pools || !c->left_out) {
        arn_proof_case_free(c);
        return arn_no_memory(c->err);
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) c->pools[b] = arenaut_problem_pools(p, b);
    for (uint32_t k = 0; k < p->n_pools; k++) {
        c->least[k] = 0;
        c->most[k] = ARENAUT_UNLIMITED;
    }
    return ARENAUT_OK;
}

void arn_proof_case_free(arn_proof_case *c) {
    arn_proof_case_close(c);
    ARN_RELEASE(c->allocator, c->pair, c->pools, c->left_out);
}

/* A lower bound on the arenas of all pools outside of the set. */
static uint64_t least_elsewhere(const arn_proof_case *c, uint64_t pools) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < c->problem->n_pools; k++) {
        if (pools >> k & 1) continue;
        if (!arn_add(sum, c->least[k], &sum)) return ARENAUT_UNLIMITED;
    }
    return sum;
}

uint64_t arn_proof_room(const arn_proof_case *c, uint64_t pools) {
    if (c->bound == ARENAUT_UNPLACED) return ARENAUT_UNLIMITED;
    const uint64_t elsewhere = least_elsewhere(c, pools);
    return elsewhere < c->bound ? c->bound - 1 - elsewhere : 0;
}

uint64_t arn_proof_limit(const arn_proof_case *c, uint32_t pool) {
    const uint64_t arena = arn_min_u64(c->most[pool], arn_proof_room(c, UINT64_C(1) << pool));
    const uint64_t whole =
        arena == ARENAUT_UNLIMITED ? arena : arena & ~(c->problem->pool[pool].align - 1);
    return arn_min_u64(whole, c->problem->pool[pool].capacity);
}

/* ---- groups ---- */

/* Find in a disjoint-set forest with offsets and path compression (Tarjan 1975): the root of a
 * buffer's tree, and its distance from there. */
static uint32_t find_root(uint32_t *up, int64_t *delta, uint32_t b) {
    uint32_t root = b;
    int64_t sum = 0;
    for (; up[root] != root; root = up[root]) sum += delta[root];
    while (up[b] != root && b != root) {
        const uint32_t next = up[b];
        const int64_t own = delta[b];
        up[b] = root;
        delta[b] = sum;
        sum -= own;
        b = next;
    }
    return root;
}

bool arn_proof_groups(const arn_proof_case *c, uint32_t *root, int64_t *delta) {
    const arenaut_problem *p = c->problem;
    bool possible = true;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t host = c->slices->host ? c->slices->host[b] : ARENAUT_NONE;
        root[b] = host != ARENAUT_NONE ? host : b;
        delta[b] = host != ARENAUT_NONE ? (int64_t)c->slices->delta[b] : 0;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (c->pair[b] != ARN_PAIR_JOINED) continue;
        const uint32_t base = p->same_base[b];
        const uint32_t r = find_root(root, delta, b), s = find_root(root, delta, base);
        const int64_t from_r = r == b ? 0 : delta[b], from_s = s == base ? 0 : delta[base];
        if (r == s) {
            possible = possible && from_r == from_s;
        } else {
            root[r] = s;
            delta[r] = from_s - from_r;
        }
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) find_root(root, delta, b);
    return possible;
}

/* ---- the groups of the pool ---- */

/* Work space while a case is opened. */
typedef struct opening {
    arn_proof_case *c;
    arn_region scratch;
    uint32_t *root;
    int64_t *delta;
    uint64_t *common; /* per root: the pools that all have in common */
    uint32_t *group_of_root;
} opening;

static bool find_common_pools(opening *o) {
    const arenaut_problem *p = o->c->problem;
    if (!ARN_REGION_ARRAYS(&o->scratch, ARN_ARRAY(o->root, p->n_buffers),
                           ARN_ARRAY(o->delta, p->n_buffers), ARN_ARRAY(o->common, p->n_buffers),
                           ARN_ARRAY(o->group_of_root, p->n_buffers))) {
        return false;
    }
    if (!arn_proof_groups(o->c, o->root, o->delta)) o->c->contradiction = true;
    for (uint32_t b = 0; b < p->n_buffers; b++) o->common[b] = UINT64_MAX;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        o->common[o->root[b]] &= o->c->pools[b];
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (o->common[b] == 0) o->c->contradiction = true;
        o->group_of_root[b] = ARENAUT_NONE;
    }
    return true;
}

static bool in_pool(const opening *o, uint32_t b) {
    return arenaut_problem_needs_memory(o->c->problem, b) && !o->c->left_out[b] &&
           o->common[o->root[b]] == UINT64_C(1) << o->c->pool;
}

/* Numbers the groups by their first buffer and counts their buffers. */
static bool list_groups(opening *o) {
    arn_proof_case *c = o->c;
    const arenaut_problem *p = c->problem;
    if (!ARN_REGION_ARRAYS(&c->region, ARN_ARRAY(c->group, p->n_buffers),
                           ARN_ARRAY(c->piece, p->n_buffers),
                           ARN_ARRAY(c->piece_of, p->n_buffers))) {
        return false;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        c->piece_of[b] = ARENAUT_NONE;
        if (!in_pool(o, b)) continue;
        uint32_t *number = &o->group_of_root[o->root[b]];
        if (*number == ARENAUT_NONE) {
            const arn_proof_group empty = {0, 0, 1, 0, 0, ARENAUT_UNPLACED};
            *number = c->n_groups;
            c->group[c->n_groups++] = empty;
        }
        c->group[*number].n_pieces++;
    }
    for (uint32_t k = 0; k < c->n_groups; k++) {
        c->group[k].piece = c->n_pieces;
        c->n_pieces += c->group[k].n_pieces;
        c->group[k].n_pieces = 0;
    }
    return true;
}

static void fill_groups(opening *o) {
    arn_proof_case *c = o->c;
    const arenaut_problem *p = c->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!in_pool(o, b)) continue;
        arn_proof_group *group = &c->group[o->group_of_root[o->root[b]]];
        c->piece_of[b] = group->piece + group->n_pieces++;
        arn_proof_piece *piece = &c->piece[c->piece_of[b]];
        const arn_proof_piece empty = {
            .buffer = b, .group = (uint32_t)(group - c->group), .size = p->size[b]};
        *piece = empty;
    }
}

/* Distances from the lowest piece; alignment and fixed offset of the group. */
static void settle_group(opening *o, arn_proof_group *group) {
    arn_proof_case *c = o->c;
    const arenaut_problem *p = c->problem;
    int64_t lowest = INT64_MAX;
    for (uint32_t i = 0; i < group->n_pieces; i++) {
        const int64_t delta = o->delta[c->piece[group->piece + i].buffer];
        if (delta < lowest) lowest = delta;
    }
    for (uint32_t i = 0; i < group->n_pieces; i++) {
        arn_proof_piece *piece = &c->piece[group->piece + i];
        const uint64_t align = arenaut_problem_align(p, piece->buffer);
        const uint64_t fixed = arenaut_problem_fixed_offset(p, piece->buffer);
        piece->delta = (uint64_t)(o->delta[piece->buffer] - lowest);
        group->extent = arn_max_u64(group->extent, piece->delta + piece->size);
        if (align > group->align) {
            group->align = align;
            group->residue = (0 - piece->delta) & (align - 1);
        }
        if (fixed == ARENAUT_UNPLACED) continue;
        const bool apart = group->fixed != ARENAUT_UNPLACED && group->fixed != fixed - piece->delta;
        if (fixed < piece->delta || apart) c->contradiction = true;
        group->fixed = fixed - piece->delta;
    }
    for (uint32_t i = 0; i < group->n_pieces; i++) {
        const arn_proof_piece *piece = &c->piece[group->piece + i];
        const uint64_t mask = arenaut_problem_align(p, piece->buffer) - 1;
        if ((group->residue + piece->delta) & mask) c->contradiction = true;
    }
    if (group->fixed != ARENAUT_UNPLACED && (group->fixed - group->residue) & (group->align - 1)) {
        c->contradiction = true;
    }
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Sizes, distances, fixed offsets and reserved ranges are multiples of the grain, and each
 * alignment is one or divides it. So with every offset rounded down to a multiple of it, pieces
 * stay apart and aligned: in the packing of a case whose sum of offsets is the least, all offsets
 * are such multiples. */
static uint64_t find_grain(const arn_proof_case *c) {
    const arenaut_problem *p = c->problem;
    uint64_t grain = 0;
    for (uint32_t i = 0; i < c->n_pieces; i++) {
        grain = common_divisor(c->piece[i].size, common_divisor(c->piece[i].delta, grain));
    }
    for (uint32_t k = 0; k < c->n_groups; k++) {
        const uint64_t fixed = c->group[k].fixed;
        if (fixed != ARENAUT_UNPLACED) grain = common_divisor(fixed, grain);
    }
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        if (p->reserved[i].pool != c->pool) continue;
        grain = common_divisor(p->reserved[i].first, common_divisor(p->reserved[i].end, grain));
    }
    for (uint32_t k = 0; k < c->n_groups; k++) {
        const uint64_t align = c->group[k].align;
        if (grain % align != 0) grain = common_divisor(grain, align);
    }
    return grain ? grain : 1;
}

/* ---- live pieces at each moment ---- */

static bool step_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_interval *lives = context;
    return lives[a].first < lives[b].first;
}

static uint32_t count_lives(const arn_proof_case *c) {
    return c->n_pieces ? c->piece[c->n_pieces - 1].life + c->piece[c->n_pieces - 1].n_lives : 0;
}

static bool list_moments(opening *o) {
    arn_proof_case *c = o->c;
    const uint32_t n = count_lives(c);
    uint32_t *order = arn_region_allocate(&o->scratch, n, 2 * sizeof *order);
    c->moment = arn_region_allocate(&c->region, n, sizeof *c->moment);
    if (!order || !c->moment) return false;
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    arn_sort_ids(order, n, step_before, c->lives, order + n);
    for (uint32_t i = 0; i < n; i++) {
        const int64_t step = c->lives[order[i]].first;
        if (c->n_moments == 0 || c->moment[c->n_moments - 1] != step) {
            c->moment[c->n_moments++] = step;
        }
    }
    return true;
}

/* The number of moments before `step`. */
static uint32_t moments_before(const arn_proof_case *c, int64_t step) {
    return arn_step_lower_bound(c->moment, c->n_moments, step);
}

static arenaut_status list_members(arn_proof_case *c) {
    c->member_start =
        arn_region_allocate(&c->region, (size_t)c->n_moments + 2, sizeof *c->member_start);
    if (!c->member_start) return arn_no_memory(c->err);
    uint32_t *fill = c->member_start + 1; /* one place late while the lists are filled */
    uint64_t total = 0;
    for (uint32_t m = 0; m < c->n_moments + 2; m++) c->member_start[m] = 0;
    for (uint32_t i = 0; i < count_lives(c); i++) {
        const uint32_t first = moments_before(c, c->lives[i].first);
        const uint32_t end = moments_before(c, c->lives[i].end);
        total += end - first;
        if (total > MOST_ENTRIES) return too_large(c);
        if (!arn_proof_charge(c->meter, 1 + end - first)) return arn_no_memory(c->err);
        for (uint32_t m = first; m < end; m++) fill[m + 1]++;
    }
    c->member = arn_region_allocate(&c->region, (size_t)total, sizeof *c->member);
    if (!c->member) return arn_no_memory(c->err);
    for (uint32_t m = 0; m < c->n_moments; m++) fill[m + 1] += fill[m];
    for (uint32_t i = 0; i < c->n_pieces; i++) {
        for (uint32_t k = 0; k < c->piece[i].n_lives; k++) {
            const arenaut_interval life = c->lives[c->piece[i].life + k];
            const uint32_t end = moments_before(c, life.end);
            for (uint32_t m = moments_before(c, life.first); m < end; m++) c->member[fill[m]++] = i;
        }
    }
    return ARENAUT_OK;
}

/* ---- interference graph ---- */

/* Interfering pairs of pieces, some of them several times. */
typedef struct pair_list {
    uint32_t *at; /* two numbers a pair */
    uint32_t n, capacity;
} pair_list;

static bool add_pair(const arn_proof_case *c, pair_list *pairs, uint32_t a, uint32_t b) {
    if (!arn_grow(c->allocator, (void **)&pairs->at, &pairs->capacity, (uint64_t)pairs->n + 2,
                  sizeof *pairs->at)) {
        return false;
    }
    pairs->at[pairs->n++] = a;
    pairs->at[pairs->n++] = b;
    return true;
}

/* Of two live ranges that meet, one begins during the other. */
static arenaut_status add_meetings(const arn_proof_case *c, uint32_t i, pair_list *pairs) {
    const arn_proof_piece *piece = &c->piece[i];
    for (uint32_t k = 0; k < piece->n_lives; k++) {
        const uint32_t m = moments_before(c, c->lives[piece->life + k].first);
        const uint32_t n = c->member_start[m + 1] - c->member_start[m];
        if (!arn_proof_charge(c->meter, n)) return arn_no_memory(c->err);
        for (uint32_t s = c->member_start[m]; s < c->member_start[m + 1]; s++) {
            const uint32_t j = c->member[s];
            if (c->piece[j].group == piece->group) continue;
            if (pairs->n / 2 >= MOST_ENTRIES) return too_large(c);
            if (!add_pair(c, pairs, i, j)) return arn_no_memory(c->err);
        }
    }
    return ARENAUT_OK;
}

static bool is_neighbour_edge(const arn_proof_case *c, arenaut_conflict e) {
    const uint32_t a = c->piece_of[e.a], b = c->piece_of[e.b];
    if (a == ARENAUT_NONE || b == ARENAUT_NONE || c->piece[a].group == c->piece[b].group) {
        return false;
    }
    if (proof_excused(c, e.a, e.b)) return false;
    return !arn_proof_lives_meet(c->lives + c->piece[a].life, c->piece[a].n_lives,
                                 c->lives + c->piece[b].life, c->piece[b].n_lives);
}

static arenaut_status collect_neighbours(const arn_proof_case *c, pair_list *pairs) {
    for (uint32_t i = 0; i < c->n_pieces; i++) {
        const arenaut_status st = add_meetings(c, i, pairs);
        if (st != ARENAUT_OK) return st;
    }
    for (uint32_t e = 0; e < c->problem->n_conflicts; e++) {
        const arenaut_conflict edge = c->problem->conflict[e];
        if (!is_neighbour_edge(c, edge)) continue;
        if (!add_pair(c, pairs, c->piece_of[edge.a], c->piece_of[edge.b])) {
            return arn_no_memory(c->err);
        }
    }
    return ARENAUT_OK;
}

static bool number_before(const void *context, uint32_t a, uint32_t b) {
    (void)context;
    return a < b;
}

static uint32_t drop_doubles(uint32_t *ids, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (kept == 0 || ids[kept - 1] != ids[k]) ids[kept++] = ids[k];
    }
    return kept;
}

/* Turns pairs into adjacency lists, in order. */
static bool list_neighbours(opening *o, const pair_list *pairs) {
    arn_proof_case *c = o->c;
    c->neighbours = arn_region_allocate(&c->region, pairs->n, sizeof *c->neighbours);
    uint32_t *work = arn_region_allocate(&o->scratch, pairs->n, sizeof *work);
    if (!c->neighbours || !work) return false;
    for (uint32_t k = 0; k < pairs->n; k++) c->piece[pairs->at[k]].n_neighbours++;
    for (uint32_t i = 0, at = 0; i < c->n_pieces; i++) {
        c->piece[i].neighbour = at;
        at += c->piece[i].n_neighbours;
        c->piece[i].n_neighbours = 0;
    }
    for (uint32_t k = 0; k < pairs->n; k++) {
        arn_proof_piece *piece = &c->piece[pairs->at[k]];
        c->neighbours[piece->neighbour + piece->n_neighbours++] = pairs->at[k ^ 1];
    }
    for (uint32_t i = 0; i < c->n_pieces; i++) {
        uint32_t *ids = c->neighbours + c->piece[i].neighbour;
        arn_sort_ids(ids, c->piece[i].n_neighbours, number_before, NULL, work);
        c->piece[i].n_neighbours = drop_doubles(ids, c->piece[i].n_neighbours);
    }
    return true;
}

static arenaut_status make_neighbours(opening *o) {
    pair_list pairs = {NULL, 0, 0};
    arenaut_status st = collect_neighbours(o->c, &pairs);
    if (st == ARENAUT_OK && !list_neighbours(o, &pairs)) st = arn_no_memory(o->c->err);
    arn_release(o->c->allocator, pairs.at);
    return st;
}

/* ---- contradictions ---- */

static bool has_edge(const arenaut_problem *p, uint32_t a, uint32_t b) {
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

/* Whether a separation allows the offset of `upper`. */
static bool reaches_in(const arenaut_problem *p, const arn_proof_piece *upper,
                       const arn_proof_piece *lower) {
    const arenaut_separation *s = arn_proof_separation(p, upper->buffer, lower->buffer);
    return s && (int64_t)upper->delta - (int64_t)lower->delta >= s->distance;
}

/* Whether two buffers of one group share bytes that they must not. Here whole lives count: a third
 * buffer that covers both is no excuse. */
static bool overlaps_itself(const arn_proof_case *c, const arn_proof_piece *x,
                            const arn_proof_piece *y) {
    uint32_t nx, ny;
    if (x->delta >= y->delta + y->size || y->delta >= x->delta + x->size) return false;
    const arenaut_interval *lx = arn_proof_lives_of(c, x->buffer, &nx),
                           *ly = arn_proof_lives_of(c, y->buffer, &ny);
    if (!arn_proof_lives_meet(lx, nx, ly, ny) && !has_edge(c->problem, x->buffer, y->buffer))
        return false;
    if (arn_check_slices_nested(c->slices, x->buffer, y->buffer)) return false;
    if (reaches_in(c->problem, x, y) || reaches_in(c->problem, y, x)) return false;
    arn_pair_assumption assumed;
    return !are_pair(c, x->buffer, y->buffer, &assumed) || x->delta != y->delta;
}

/* A pair that is assumed to be apart may be held together by others. */
static bool contradicts_apart(const arn_proof_case *c, const arn_proof_piece *x,
                              const arn_proof_piece *y) {
    arn_pair_assumption assumed;
    return x->delta == y->delta && are_pair(c, x->buffer, y->buffer, &assumed) &&
           assumed == ARN_PAIR_APART && !arn_check_slices_nested(c->slices, x->buffer, y->buffer);
}

static arenaut_status find_contradictions(arn_proof_case *c) {
    uint64_t pairs = 0;
    for (uint32_t k = 0; k < c->n_groups && !c->contradiction; k++) {
        const arn_proof_piece *piece = c->piece + c->group[k].piece;
        for (uint32_t i = 0; i < c->group[k].n_pieces; i++) {
            pairs += i;
            if (pairs > MOST_ENTRIES) return too_large(c);
            if (!arn_proof_charge(c->meter, i)) return arn_no_memory(c->err);
            for (uint32_t j = 0; j < i; j++) {
                if (overlaps_itself(c, &piece[i], &piece[j]) ||
                    contradicts_apart(c, &piece[i], &piece[j])) {
                    c->contradiction = true;
                }
            }
        }
    }
    return ARENAUT_OK;
}

/* ---- all together ---- */

static arenaut_status open_case(opening *o) {
    const arenaut_problem *p = o->c->problem;
    const uint64_t parts = (uint64_t)p->n_buffers + p->n_lifetimes + p->n_conflicts + p->n_reserved;
    if (!arn_proof_charge(o->c->meter, parts)) return arn_no_memory(o->c->err);
    if (!find_common_pools(o) || !list_groups(o)) return arn_no_memory(o->c->err);
    fill_groups(o);
    for (uint32_t k = 0; k < o->c->n_groups; k++) settle_group(o, &o->c->group[k]);
    arenaut_status st = find_contradictions(o->c);
    if (st != ARENAUT_OK || !o->c->has_neighbours) return st;
    o->c->grain = find_grain(o->c);
    if (!arn_proof_find_lives(o->c) || !list_moments(o)) return arn_no_memory(o->c->err);
    st = list_members(o->c);
    return st == ARENAUT_OK ? make_neighbours(o) : st;
}

arenaut_status arn_proof_case_open(arn_proof_case *c, uint32_t pool, bool neighbours) {
    if (c->open && c->pool == pool && c->has_neighbours == neighbours) return ARENAUT_OK;
    arn_proof_case_close(c);
    arn_region_init(&c->region, c->allocator);
    c->open = true;
    c->contradiction = false;
    c->pool = pool;
    c->has_neighbours = neighbours;
    c->n_groups = c->n_pieces = c->n_moments = 0;
    opening o = {.c = c};
    arn_region_init(&o.scratch, c->allocator);
    const arenaut_status st = open_case(&o);
    arn_region_free(&o.scratch);
    if (st != ARENAUT_OK) arn_proof_case_close(c);
    return st;
}

void arn_proof_case_close(arn_proof_case *c) {
    if (!c->open) return;
    arn_region_free(&c->region);
    c->open = false;
}
