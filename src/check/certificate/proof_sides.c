/* proof_sides: bounds propagation over offsets and their differences (a disjunctive temporal
 * problem: Dechter, Meiri & Pearl 1991).
 *
 * Each group has a range of offsets, each edge between two interfering groups a range of
 * differences, and a list of *bans*, differences at which a buffer of one would share a forbidden
 * byte with one of the other. Ranges narrow each other to a fixed point (AC-3: Mackworth 1977); an
 * empty one closes the case, and a proof splits a range if none is empty. Assumptions are undone by
 * a trail. Making the lists costs O(n log n) and one entry for each interfering pair; an assumption
 * costs a look at the edges of every group that it moves. */
#include "check/certificate/proof_sides.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"

enum {
    MOST_BANS = 1 << 22,
    MOST_LOOKS = 1 << 24, /* at edges, for one assumption: further consequences are not derived */
};

/* Saturating sum of offsets and differences. */
static int64_t plus(int64_t x, int64_t y) {
    if (x > 0 && y > INT64_MAX - x) return INT64_MAX;
    if (x < 0 && y < -INT64_MAX - x) return -INT64_MAX;
    return x + y;
}

/* ---- forbidden differences ---- */

/* The least difference of starts at which `upper` is clear of `lower`. */
static int64_t least_above(const arenaut_problem *p, uint32_t upper, uint32_t lower) {
    const int64_t apart = (int64_t)p->size[lower], below = -(int64_t)p->size[upper];
    const arenaut_separation *s = arn_proof_separation(p, upper, lower);
    if (!s || s->distance > apart) return apart;
    return s->distance < below ? below : s->distance;
}

/* The difference of two groups if the difference of two of their pieces is `difference`. */
static int64_t of_groups(const arn_proof_piece *x, const arn_proof_piece *y, int64_t difference) {
    return plus((int64_t)y->delta - (int64_t)x->delta, difference);
}

/* Work space while the lists are made. */
typedef struct making {
    arn_proof_sides *s;
    arn_region scratch;
    struct found {
        uint32_t a, b;
        arn_proof_range ban;
    } *found;
    uint32_t n_found, room;
} making;

static arenaut_status forbid(making *m, uint32_t a, uint32_t b, int64_t first, int64_t last) {
    const arn_proof_case *c = m->s->c;
    if (!arn_proof_charge(c->meter, 1)) return arn_no_memory(c->err);
    if (first > last) return ARENAUT_OK;
    if (m->n_found == MOST_BANS) {
        return arn_fail(c->err, ARENAUT_TOO_LARGE, 0,
                        "the proof looks at a pool with more than %d pairs of buffers in use "
                        "together",
                        MOST_BANS);
    }
    if (!arn_grow(c->allocator, (void **)&m->found, &m->room, (uint64_t)m->n_found + 1,
                  sizeof *m->found)) {
        return arn_no_memory(c->err);
    }
    const struct found same = {a, b, {first, last}}, turned = {b, a, {-last, -first}};
    m->found[m->n_found++] = a < b ? same : turned;
    return ARENAUT_OK;
}

static bool may_start_together(const arn_proof_case *c, uint32_t a, uint32_t b) {
    const arenaut_problem *p = c->problem;
    const uint32_t heir = arenaut_problem_same_base(p, a) == b   ? a
                          : arenaut_problem_same_base(p, b) == a ? b
                                                                 : ARENAUT_NONE;
    return heir != ARENAUT_NONE && c->pair[heir] != ARN_PAIR_APART;
}

/* Two pieces that are in use together. */
static arenaut_status meet(making *m, uint32_t i, uint32_t k) {
    const arn_proof_case *c = m->s->c;
    const arn_proof_piece *x = &c->piece[i], *y = &c->piece[k];
    if (x->group == y->group || arn_check_slices_nested(c->slices, x->buffer, y->buffer)) {
        return ARENAUT_OK;
    }
    const int64_t first = 1 - least_above(c->problem, y->buffer, x->buffer);
    const int64_t last = least_above(c->problem, x->buffer, y->buffer) - 1;
    if (!may_start_together(c, x->buffer, y->buffer) || first > 0 || last < 0) {
        return forbid(m, x->group, y->group, of_groups(x, y, first), of_groups(x, y, last));
    }
    const arenaut_status st =
        forbid(m, x->group, y->group, of_groups(x, y, first), of_groups(x, y, -1));
    if (st != ARENAUT_OK) return st;
    return forbid(m, x->group, y->group, of_groups(x, y, 1), of_groups(x, y, last));
}

/* ---- interfering pairs ---- */

typedef struct life {
    arenaut_interval at;
    uint32_t piece;
} life;

static bool begins_before(const void *context, uint32_t a, uint32_t b) {
    const life *lives = context;
    return lives[a].at.first < lives[b].at.first;
}

/* All live ranges of all pieces, whole: here nothing covers anything. */
static life *list_lives(making *m, uint32_t *n) {
    const arn_proof_case *c = m->s->c;
    life *lives = arn_region_allocate(&m->scratch, c->problem->n_lifetimes, sizeof *lives);
    *n = 0;
    for (uint32_t i = 0; lives && i < c->n_pieces; i++) {
        const uint32_t b = c->piece[i].buffer;
        const arenaut_interval *of = arenaut_problem_lifetimes(c->problem, b);
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(c->problem, b); k++) {
            lives[*n].at = of[k];
            lives[(*n)++].piece = i;
        }
    }
    return lives;
}

/* Interval sweep: of two that meet, one begins while the other goes on. */
static arenaut_status meet_over_time(making *m) {
    uint32_t n, n_alive = 0;
    life *lives = list_lives(m, &n);
    uint32_t *order = arn_region_allocate(&m->scratch, n, 2 * sizeof *order);
    uint32_t *alive = arn_region_allocate(&m->scratch, n, sizeof *alive);
    if (!lives || !order || !alive) return arn_no_memory(m->s->c->err);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    arn_sort_ids(order, n, begins_before, lives, order + n);
    for (uint32_t i = 0; i < n; i++) {
        const life *born = &lives[order[i]];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < n_alive; k++) {
            const life *other = &lives[alive[k]];
            if (other->at.end <= born->at.first) continue;
            alive[kept++] = alive[k];
            const arenaut_status st = meet(m, other->piece, born->piece);
            if (st != ARENAUT_OK) return st;
        }
        n_alive = kept;
        if (born->at.first < born->at.end) alive[n_alive++] = order[i];
    }
    return ARENAUT_OK;
}

static arenaut_status meet_by_conflicts(making *m) {
    const arn_proof_case *c = m->s->c;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t e = 0; e < c->problem->n_conflicts && st == ARENAUT_OK; e++) {
        const uint32_t i = c->piece_of[c->problem->conflict[e].a];
        const uint32_t k = c->piece_of[c->problem->conflict[e].b];
        if (i != ARENAUT_NONE && k != ARENAUT_NONE) st = meet(m, i, k);
    }
    return st;
}

/* Reserved ranges are nodes that cannot move. */
static arenaut_status meet_reserved(making *m) {
    const arn_proof_case *c = m->s->c;
    const arenaut_problem *p = c->problem;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t r = 0, node = c->n_groups; r < p->n_reserved; r++) {
        if (p->reserved[r].pool != c->pool) continue;
        const int64_t taken = (int64_t)(p->reserved[r].end - p->reserved[r].first);
        for (uint32_t i = 0; i < c->n_pieces && st == ARENAUT_OK; i++) {
            const arn_proof_piece *x = &c->piece[i];
            const int64_t delta = (int64_t)x->delta, size = (int64_t)x->size;
            st = forbid(m, x->group, node, 1 - size - delta, taken - 1 - delta);
        }
        node++;
    }
    return st;
}

/* ---- lists ---- */

static bool found_before(const void *context, uint32_t a, uint32_t b) {
    const struct found *x = (const struct found *)context + a;
    const struct found *y = (const struct found *)context + b;
    if (x->a != y->a) return x->a < y->a;
    if (x->b != y->b) return x->b < y->b;
    return x->ban.low < y->ban.low;
}

/* Gathers the bans of each two; some may be there several times. */
static bool list_edges(making *m) {
    arn_proof_sides *s = m->s;
    const uint32_t n = m->n_found;
    uint32_t *order = arn_region_allocate(&m->scratch, n, 2 * sizeof *order);
    s->edge = arn_region_allocate(&s->region, n, sizeof *s->edge);
    s->ban = arn_region_allocate(&s->region, n, sizeof *s->ban);
    if (!order || !s->edge || !s->ban) return false;
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    arn_sort_ids(order, n, found_before, m->found, order + n);
    for (uint32_t i = 0; i < n; i++) {
        const struct found *f = &m->found[order[i]];
        arn_proof_edge *last = s->n_edges ? &s->edge[s->n_edges - 1] : NULL;
        if (!last || last->a != f->a || last->b != f->b) {
            const arn_proof_edge edge = {f->a, f->b, i, 0};
            last = &s->edge[s->n_edges++];
            *last = edge;
        }
        s->ban[i] = f->ban;
        last->n_bans++;
    }
    return true;
}

static bool list_edges_of_nodes(arn_proof_sides *s) {
    uint32_t *start = s->edge_start =
        arn_region_allocate(&s->region, (size_t)s->n_nodes + 2, sizeof *start);
    s->edges_of = arn_region_allocate(&s->region, s->n_edges, 2 * sizeof *s->edges_of);
    if (!start || !s->edges_of) return false;
    for (uint32_t i = 0; i < s->n_nodes + 2; i++) start[i] = 0;
    for (uint32_t w = 0; w < s->n_edges; w++) {
        start[s->edge[w].a + 2]++;
        start[s->edge[w].b + 2]++;
    }
    for (uint32_t i = 2; i < s->n_nodes + 2; i++) start[i] += start[i - 1];
    for (uint32_t w = 0; w < s->n_edges; w++) { /* which moves start[i + 1] to i's end */
        s->edges_of[start[s->edge[w].a + 1]++] = w;
        s->edges_of[start[s->edge[w].b + 1]++] = w;
    }
    return true;
}

/* ---- ranges ---- */

static void enqueue(arn_proof_sides *s, uint32_t node) {
    if (s->queued[node]) return;
    s->queued[node] = true;
    s->queue[s->end] = node;
    s->end = s->end == s->n_nodes ? 0 : s->end + 1;
}

static uint32_t dequeue(arn_proof_sides *s) {
    const uint32_t node = s->queue[s->first];
    s->first = s->first == s->n_nodes ? 0 : s->first + 1;
    s->queued[node] = false;
    return node;
}

static bool change(arn_proof_sides *s, uint32_t at, arn_proof_range to) {
    const arn_proof_range_change was = {at, s->range[at]};
    if (to.low == was.before.low && to.high == was.before.high) return false;
    if (!arn_grow(s->c->allocator, (void **)&s->trail, &s->trail_room, (uint64_t)s->n_trail + 1,
                  sizeof *s->trail)) {
        s->failed = s->dead = true;
        return false;
    }
    s->trail[s->n_trail++] = was;
    s->range[at] = to;
    if (to.low > to.high) s->dead = true;
    return true;
}

/* The next offset from `at` on that the group's alignment lets it take; reserved ranges have none.
 */
static int64_t aligned_up(const arn_proof_sides *s, uint32_t node, int64_t at) {
    if (node >= s->c->n_groups || at > (int64_t)s->limit) return at;
    const arn_proof_group *group = &s->c->group[node];
    const uint64_t up = (uint64_t)at + ((group->residue - (uint64_t)at) & (group->align - 1));
    return up > INT64_MAX ? INT64_MAX : (int64_t)up;
}

/* Likewise, downwards; -1: there is none. */
static int64_t aligned_down(const arn_proof_sides *s, uint32_t node, int64_t at) {
    if (node >= s->c->n_groups || at < 0) return at;
    const arn_proof_group *group = &s->c->group[node];
    const uint64_t down = ((uint64_t)at - group->residue) & (group->align - 1);
    return down > (uint64_t)at ? -1 : at - (int64_t)down;
}

static void narrow_node(arn_proof_sides *s, uint32_t node, int64_t low, int64_t high) {
    arn_proof_range r = s->range[node];
    if (low > r.low) r.low = aligned_up(s, node, low);
    if (high < r.high) r.high = aligned_down(s, node, high);
    if (change(s, node, r)) enqueue(s, node);
}

/* Moves both ends of a range out of banned differences. */
static void leave_bans(const arn_proof_sides *s, const arn_proof_edge *edge, arn_proof_range *r) {
    for (bool moved = true; moved && r->low <= r->high;) {
        moved = false;
        for (uint32_t i = edge->ban; i < edge->ban + edge->n_bans; i++) {
            const arn_proof_range ban = s->ban[i];
            const bool low = ban.low <= r->low && r->low <= ban.high;
            const bool high = ban.low <= r->high && r->high <= ban.high;
            if (low) r->low = ban.high + 1;
            if (high) r->high = ban.low - 1;
            moved = moved || low || high;
        }
    }
}

/* Bounds of a difference from two offsets, and the other edge round. */
static void propagate(arn_proof_sides *s, uint32_t w) {
    const arn_proof_edge *edge = &s->edge[w];
    const arn_proof_range a = s->range[edge->a], b = s->range[edge->b];
    arn_proof_range r = s->range[s->n_nodes + w];
    if (a.low - b.high > r.low) r.low = a.low - b.high;
    if (a.high - b.low < r.high) r.high = a.high - b.low;
    leave_bans(s, edge, &r);
    change(s, s->n_nodes + w, r);
    if (s->dead) return;
    narrow_node(s, edge->a, plus(b.low, r.low), plus(b.high, r.high));
    if (!s->dead) narrow_node(s, edge->b, plus(a.low, -r.high), plus(a.high, -r.low));
}

static void propagate_all(arn_proof_sides *s) {
    for (uint32_t looks = 0; s->first != s->end;) {
        const uint32_t node = dequeue(s);
        for (uint32_t k = s->edge_start[node]; k < s->edge_start[node + 1]; k++) {
            if (s->dead || looks == MOST_LOOKS) break;
            if (!arn_proof_charge(s->c->meter, 1 + s->edge[s->edges_of[k]].n_bans)) {
                s->failed = s->dead = true;
                break;
            }
            propagate(s, s->edges_of[k]);
            looks++;
        }
    }
}

/* ---- assumptions ---- */

static uint32_t group_of(const arn_proof_case *c, uint64_t buffer) {
    if (buffer >= c->problem->n_buffers || c->piece_of[buffer] == ARENAUT_NONE) return ARENAUT_NONE;
    return c->piece[c->piece_of[buffer]].group;
}

static uint32_t find_edge(const arn_proof_sides *s, uint32_t a, uint32_t b) {
    uint32_t low = 0, high = s->n_edges;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const arn_proof_edge *edge = &s->edge[middle];
        if (edge->a < a || (edge->a == a && edge->b < b)) low = middle + 1;
        else high = middle;
    }
    const bool found = low < s->n_edges && s->edge[low].a == a && s->edge[low].b == b;
    return found ? low : ARENAUT_NONE;
}

bool arn_proof_split_pair(const arn_proof_sides *s, uint64_t x, uint64_t y, bool level,
                          arn_proof_split *split) {
    const arn_proof_case *c = s->c;
    const uint32_t a = group_of(c, x), b = group_of(c, y);
    if (a == ARENAUT_NONE || b == ARENAUT_NONE) return false;
    const uint32_t edge = a < b ? find_edge(s, a, b) : find_edge(s, b, a);
    if (edge == ARENAUT_NONE) return false;
    const int64_t least = level ? 0 : least_above(c->problem, (uint32_t)x, (uint32_t)y);
    const int64_t apart = of_groups(&c->piece[c->piece_of[x]], &c->piece[c->piece_of[y]], least);
    split->at = s->n_nodes + edge;
    split->reversed = a > b;
    split->least = a > b ? -apart : apart;
    return true;
}

bool arn_proof_split_offset(const arn_proof_sides *s, uint64_t x, uint64_t offset,
                            arn_proof_split *split) {
    const uint32_t group = group_of(s->c, x);
    if (group == ARENAUT_NONE || offset > ARENAUT_SIZE_MAX) return false;
    split->at = group;
    split->reversed = false;
    split->least = (int64_t)offset - (int64_t)s->c->piece[s->c->piece_of[x]].delta;
    return true;
}

bool arn_proof_take_side(arn_proof_sides *s, const arn_proof_split *split, bool above) {
    arn_proof_range r = {-INT64_MAX, INT64_MAX};
    if (s->dead) return true;
    if (split->reversed) {
        if (above) r.high = split->least;
        else r.low = plus(split->least, 1);
    } else {
        if (above) r.low = split->least;
        else r.high = plus(split->least, -1);
    }
    if (split->at < s->n_nodes) {
        narrow_node(s, split->at, r.low, r.high);
    } else {
        const arn_proof_range was = s->range[split->at];
        if (was.low > r.low) r.low = was.low;
        if (was.high < r.high) r.high = was.high;
        change(s, split->at, r);
        enqueue(s, s->edge[split->at - s->n_nodes].a);
    }
    propagate_all(s);
    return !s->failed;
}

void arn_proof_sides_undo(arn_proof_sides *s, uint32_t n_trail, bool dead) {
    while (s->n_trail > n_trail) {
        const arn_proof_range_change *was = &s->trail[--s->n_trail];
        s->range[was->at] = was->before;
    }
    s->dead = dead;
}

/* ---- the root ---- */

static bool allocate_ranges(arn_proof_sides *s) {
    const size_t n = (size_t)s->n_nodes + s->n_edges;
    return ARN_REGION_ARRAYS(&s->region, ARN_ARRAY(s->range, n),
                             ARN_ARRAY(s->queue, (size_t)s->n_nodes + 1),
                             ARN_ARRAY(s->queued, s->n_nodes));
}

static void set_group_range(arn_proof_sides *s, uint32_t k) {
    const arn_proof_group *group = &s->c->group[k];
    const arn_proof_range fixed = {(int64_t)group->fixed, (int64_t)group->fixed};
    if (group->extent > s->limit) {
        s->dead = true;
        return;
    }
    const int64_t top = (int64_t)(s->limit - group->extent);
    const arn_proof_range free = {aligned_up(s, k, 0), aligned_down(s, k, top)};
    s->range[k] = group->fixed == ARENAUT_UNPLACED ? free : fixed;
    if (s->range[k].high > top || s->range[k].low > s->range[k].high) s->dead = true;
}

static void set_ranges(arn_proof_sides *s) {
    const arenaut_problem *p = s->c->problem;
    uint32_t node = 0;
    for (; node < s->c->n_groups; node++) set_group_range(s, node);
    for (uint32_t r = 0; r < p->n_reserved; r++) {
        if (p->reserved[r].pool != s->c->pool) continue;
        const int64_t at = (int64_t)p->reserved[r].first;
        const arn_proof_range fixed = {at, at};
        s->range[node++] = fixed;
    }
    const arn_proof_range any = {-INT64_MAX, INT64_MAX};
    for (uint32_t w = 0; w < s->n_edges; w++) s->range[s->n_nodes + w] = any;
    for (uint32_t k = 0; k < s->n_nodes; k++) s->queued[k] = false;
    for (uint32_t k = 0; k < s->n_nodes; k++) enqueue(s, k);
    propagate_all(s);
}

static arenaut_status make_lists(making *m) {
    arn_proof_sides *s = m->s;
    arenaut_status st = meet_over_time(m);
    if (st == ARENAUT_OK) st = meet_by_conflicts(m);
    if (st == ARENAUT_OK) st = meet_reserved(m);
    if (st != ARENAUT_OK) return st;
    const bool done = list_edges(m) && list_edges_of_nodes(s) && allocate_ranges(s);
    return done ? ARENAUT_OK : arn_no_memory(s->c->err);
}

arenaut_status arn_proof_sides_init(arn_proof_sides *s, const arn_proof_case *c, uint64_t limit) {
    const arn_proof_sides empty = {
        .c = c, .limit = limit, .n_nodes = c->n_groups, .dead = c->contradiction};
    making m = {.s = s};
    *s = empty;
    for (uint32_t r = 0; r < c->problem->n_reserved; r++) {
        s->n_nodes += c->problem->reserved[r].pool == c->pool;
    }
    arn_region_init(&s->region, c->allocator);
    arn_region_init(&m.scratch, c->allocator);
    arenaut_status st = make_lists(&m);
    if (st == ARENAUT_OK) set_ranges(s);
    if (st == ARENAUT_OK && s->failed) st = arn_no_memory(c->err);
    arn_release(c->allocator, m.found);
    arn_region_free(&m.scratch);
    if (st != ARENAUT_OK) arn_proof_sides_free(s);
    return st;
}

void arn_proof_sides_free(arn_proof_sides *s) {
    arn_release(s->c->allocator, s->trail);
    arn_region_free(&s->region);
    s->trail = NULL;
}
