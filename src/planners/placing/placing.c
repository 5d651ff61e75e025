/* First fit, best fit and their variants: places groups one by one among the placed spans that are
 * alive together with them.
 *
 * In the usual case (one piece, no relations) gaps are chosen during one sweep over these spans, by
 * address. Otherwise each span, edge and relation forbids a range of offsets; these are sorted, and
 * gaps chosen between them. A placement costs O(spans alive together) and a little more: spans.h
 * says which are skipped. If all are alive together and leave gaps a pass is quadratic;
 * skyline_engine.c is the faster way for plain problems. */
#include "planners/placing/placing.h"

#include "core/checked.h"
#include "core/sort.h"
#include "planners/placing/spans.h"

/* To step over a chunk takes as long as to look at so many spans. */
enum { SPANS_LIKE_CHUNK = 4 };

/* Offsets that a group may not have, [from, to). */
typedef struct forbidden {
    uint64_t from, to;
} forbidden;

/* A list of spans on the way from low to high. */
typedef struct walk {
    uint32_t chunk, at; /* the span that comes next; no chunk: all are passed */
    uint64_t low;       /* its first byte, or below */
} walk;

struct arn_placing {
    const arn_groups *groups;
    const arenaut_problem *problem;
    arenaut_allocator allocator;
    arn_region region;
    arn_spans spans;
    walk *walks;                     /* room for one per band */
    uint64_t top[ARENAUT_MAX_POOLS]; /* each pool's highest used address */
    uint64_t spill;                  /* of the placed groups */
    uint32_t *pool;                  /* per group; ARENAUT_NONE: not placed */
    uint64_t *offset;                /* per group */
    /* The placed spans that interfere with the group at hand. */
    forbidden *forbidden;
    uint32_t *order; /* room for twice as many */
    uint32_t n_forbidden, forbidden_room, order_room;
    uint64_t hint_limit; /* hints above this are not worth keeping, and could overflow */
    uint64_t scanned;    /* spans looked at since the last call of arn_placing_effort */
    arn_poll *poll;
    bool out_of_memory;
};

static void add_reserved(arn_placing *placing) {
    const arenaut_problem *p = placing->problem;
    uint32_t last[ARENAUT_MAX_POOLS];
    for (uint32_t k = 0; k < p->n_pools; k++) last[k] = ARENAUT_NONE;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        const arn_span span = {INT64_MIN, INT64_MAX, r->first, r->end, ARENAUT_NONE};
        const uint32_t list = arn_spans_list(&placing->spans, r->pool, 0);
        uint64_t stepped = 0;
        last[r->pool] = arn_spans_add(&placing->spans, list, last[r->pool], &span, &stepped);
        placing->scanned += stepped * SPANS_LIKE_CHUNK;
    }
}

void arn_placing_clear(arn_placing *placing, arn_poll *poll) {
    placing->poll = poll;
    placing->out_of_memory = false;
    placing->spill = 0;
    for (uint32_t k = 0; k < placing->problem->n_pools; k++) placing->top[k] = 0;
    arn_spans_clear(&placing->spans);
    add_reserved(placing);
    for (uint32_t i = 0; i < placing->groups->n; i++) placing->pool[i] = ARENAUT_NONE;
}

/* One above the other, in any order, all groups end below this. */
static uint64_t end_of_pile(const arn_groups *groups) {
    const arenaut_problem *p = groups->problem;
    uint64_t end = 0, sum = 0;
    for (uint32_t i = 0; i < p->n_reserved; i++) end = arn_max_u64(end, p->reserved[i].end);
    for (uint32_t i = 0; i < groups->n; i++) {
        const arn_group *group = &groups->group[i];
        if (group->fixed != ARENAUT_UNPLACED) end = arn_max_u64(end, group->fixed);
        sum += arn_aligned(group->extent, group->align);
    }
    return arn_min_u64(end + sum, ARENAUT_SIZE_MAX - sum);
}

static bool make_lists(arn_placing *placing) {
    arn_region *region = &placing->region;
    if (!arn_spans_make(placing->groups, region, &placing->spans)) return false;
    placing->walks = arn_region_allocate(region, placing->spans.bands.n, sizeof *placing->walks);
    return placing->walks;
}

arn_placing *arn_placing_new(const arn_groups *groups, const arenaut_allocator *allocator) {
    arn_placing *placing = arn_allocate_zeroed(allocator, 1, sizeof *placing);
    if (!placing) return NULL;
    placing->groups = groups;
    placing->problem = groups->problem;
    placing->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&placing->region, allocator);
    if (!ARN_REGION_ARRAYS(&placing->region, ARN_ARRAY(placing->pool, groups->n),
                           ARN_ARRAY(placing->offset, groups->n)) ||
        !make_lists(placing)) {
        arn_placing_free(placing);
        return NULL;
    }
    placing->hint_limit = end_of_pile(groups);
    arn_placing_clear(placing, NULL);
    return placing;
}

void arn_placing_free(arn_placing *placing) {
    if (!placing) return;
    const arenaut_allocator allocator = placing->allocator;
    ARN_RELEASE(&allocator, placing->forbidden, placing->order);
    arn_region_free(&placing->region);
    arn_release(&allocator, placing);
}

enum { SPANS_PER_EFFORT = 96 };

uint64_t arn_placing_effort(arn_placing *placing) {
    const uint64_t effort = 1 + placing->scanned / SPANS_PER_EFFORT;
    placing->scanned = 0;
    return effort;
}

bool arn_placing_out_of_memory(const arn_placing *placing) { return placing->out_of_memory; }

/* ---- choosing among gaps ---- */

/* Passes gaps from low to high and keeps the best for the fit. */
typedef struct chooser {
    arn_fit fit;
    uint64_t extent, align;
    uint64_t front; /* all interfering spans below this have been passed */
    uint64_t best, best_slack;
} chooser;

/* Gaps below `from` do not count. */
static chooser chooser_for(const arn_group *group, arn_fit fit, uint64_t from) {
    const chooser c = {fit, group->extent, group->align, from, ARENAUT_UNPLACED, UINT64_MAX};
    return c;
}

/* Something begins at `low`. True when no later gap can be better. */
static bool close_gap(chooser *c, uint64_t low) {
    if (low <= c->front || c->fit == ARN_ON_TOP) return false;
    const uint64_t start = arn_aligned(c->front, c->align);
    if (start > low || low - start < c->extent) return false;
    if (c->fit == ARN_FIRST_FIT) {
        c->best = start;
        return true;
    }
    const uint64_t slack = low - start;
    if (slack < c->best_slack || (slack == c->best_slack && c->fit == ARN_HIGH_FIT)) {
        c->best = start;
        c->best_slack = c->fit == ARN_ARENA_FIT ? low - c->front : slack;
    }
    return false;
}

static uint64_t chosen(const chooser *c) {
    return c->best != ARENAUT_UNPLACED ? c->best : arn_aligned(c->front, c->align);
}

/* ---- the usual case: one piece, which interferes with all that is alive with it ---- */

static void settle(walk *heap, uint32_t n, uint32_t at) {
    const walk moving = heap[at];
    for (uint32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && heap[child + 1].low < heap[child].low) child++;
        if (heap[child].low >= moving.low) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

/* A heap of the lists that the group may have to pass; returns how many. */
static uint32_t begin_walks(arn_placing *placing, const arn_group *group, uint32_t pool) {
    const arn_spans *spans = &placing->spans;
    const uint32_t n_met = arn_bands_meet(&spans->bands, group->first, group->end);
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_met; i++) {
        const uint32_t head = spans->head[arn_spans_list(spans, pool, spans->bands.met[i])];
        if (head == ARENAUT_NONE) continue;
        placing->walks[n++] = (walk){head, 0, spans->chunk[head].low[0]};
    }
    for (uint32_t i = n / 2; i-- > 0;) settle(placing->walks, n, i);
    return n;
}

/* Whether the group, which is alive with all of a chunk, fits into no gap within. */
static bool is_solid(const arn_chunk *c, const arn_group *group) {
    return c->gap < group->extent && c->last_first < group->end && c->least_end > group->first;
}

/* Passes the spans alive with the group that begin no higher than `until`. */
static bool pass_spans(arn_placing *placing, const arn_group *group, walk *w, uint64_t until,
                       chooser *c) {
    for (; w->chunk != ARENAUT_NONE; w->chunk = placing->spans.chunk[w->chunk].next, w->at = 0) {
        const arn_chunk *b = &placing->spans.chunk[w->chunk];
        if (w->at == 0) {
            placing->scanned += SPANS_LIKE_CHUNK;
            if (b->end <= group->first || b->first >= group->end || b->top <= c->front) continue;
            placing->scanned += b->n;
            if (b->low[0] <= until && is_solid(b, group)) {
                if (close_gap(c, b->low[0])) return true;
                c->front = arn_max_u64(c->front, b->top);
                continue;
            }
        }
        for (uint32_t i = w->at; i < b->n; i++) {
            if (b->ends[i] <= group->first || b->firsts[i] >= group->end) continue;
            if (b->low[i] > until) {
                w->at = i;
                w->low = b->low[i];
                return false;
            }
            if (close_gap(c, b->low[i])) return true;
            if (b->high[i] > c->front) c->front = b->high[i];
        }
    }
    return false;
}

static uint64_t find_for_piece(arn_placing *placing, const arn_group *group, uint32_t pool,
                               arn_fit fit, uint64_t from) {
    chooser c = chooser_for(group, fit, from);
    walk *heap = placing->walks;
    for (uint32_t n = begin_walks(placing, group, pool); n > 0; settle(heap, n, 0)) {
        uint64_t until = n > 1 ? heap[1].low : UINT64_MAX;
        if (n > 2) until = arn_min_u64(until, heap[2].low);
        if (pass_spans(placing, group, &heap[0], until, &c)) return c.best;
        if (heap[0].chunk == ARENAUT_NONE) heap[0] = heap[--n];
    }
    return chosen(&c);
}

/* ---- the general case: forbidden offsets ---- */

static void forbid(arn_placing *placing, uint64_t low, uint64_t high, const arn_piece *piece) {
    if (high <= piece->low) return; /* below the piece wherever the group lies */
    const uint32_t n = placing->n_forbidden;
    uint32_t room = placing->forbidden_room;
    if (!arn_grow(&placing->allocator, (void **)&placing->forbidden, &room, (uint64_t)n + 1,
                  sizeof *placing->forbidden)) {
        placing->out_of_memory = true;
        return;
    }
    placing->forbidden_room = room;
    const forbidden f = {low >= piece->high ? low - piece->high + 1 : 0, high - piece->low};
    placing->forbidden[placing->n_forbidden++] = f;
}

/* The spans of one list, but for the ones that forbid nothing from `below` on. */
static void gather_list(arn_placing *placing, const arn_piece *piece, uint32_t list,
                        uint64_t below) {
    const arn_spans *spans = &placing->spans;
    for (uint32_t at = spans->head[list]; at != ARENAUT_NONE; at = spans->chunk[at].next) {
        const arn_chunk *b = &spans->chunk[at];
        placing->scanned += SPANS_LIKE_CHUNK;
        if (b->end <= piece->first || b->first >= piece->end || b->top <= below) continue;
        placing->scanned += b->n;
        for (uint32_t i = 0; i < b->n; i++) {
            if (b->ends[i] <= piece->first || b->firsts[i] >= piece->end) continue;
            if (b->high[i] > below) forbid(placing, b->low[i], b->high[i], piece);
        }
    }
}

static void gather_spans(arn_placing *placing, const arn_piece *piece, uint32_t pool,
                         uint64_t from) {
    const arn_spans *spans = &placing->spans;
    const uint32_t n = arn_bands_meet(&spans->bands, piece->first, piece->end);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t list = arn_spans_list(spans, pool, spans->bands.met[i]);
        gather_list(placing, piece, list, from + piece->low);
    }
}

static uint64_t place_of(const arn_placing *placing, uint32_t buffer) {
    return placing->offset[placing->groups->owner[buffer]] +
           arn_groups_delta(placing->groups, buffer);
}

/* The pool of a placed buffer, ARENAUT_NONE for others. */
static uint32_t pool_of(const arn_placing *placing, uint32_t buffer) {
    const uint32_t owner = placing->groups->owner[buffer];
    return owner == ARENAUT_NONE ? ARENAUT_NONE : placing->pool[owner];
}

static void gather_edges(arn_placing *placing, const arn_group *group, uint32_t pool) {
    const arn_groups *groups = placing->groups;
    for (uint32_t m = 0; m < group->n_members && groups->edge_start; m++) {
        const uint32_t b = groups->member[group->member + m];
        const arn_piece whole = {0, 0, arn_groups_delta(groups, b),
                                 arn_groups_delta(groups, b) + placing->problem->size[b], b};
        for (uint32_t i = groups->edge_start[b]; i < groups->edge_start[b + 1]; i++) {
            const uint32_t other = groups->edge[i];
            if (pool_of(placing, other) != pool || groups->owner[other] == groups->owner[b])
                continue;
            const uint64_t low = place_of(placing, other);
            forbid(placing, low, low + placing->problem->size[other], &whole);
        }
    }
}

static bool forbidden_before(const void *context, uint32_t a, uint32_t b) {
    const forbidden *all = context;
    return all[a].from < all[b].from;
}

static bool sort_forbidden(arn_placing *placing) {
    const uint32_t n = placing->n_forbidden;
    if (n == 0) return !placing->out_of_memory;
    if (!placing->out_of_memory &&
        !arn_grow(&placing->allocator, (void **)&placing->order, &placing->order_room,
                  (uint64_t)n * 2, sizeof *placing->order)) {
        placing->out_of_memory = true;
    }
    if (placing->out_of_memory) return false;
    for (uint32_t i = 0; i < n; i++) placing->order[i] = i;
    arn_sort_ids(placing->order, n, forbidden_before, placing->forbidden, placing->order + n);
    return true;
}

static bool gather(arn_placing *placing, const arn_group *group, uint32_t pool, uint64_t from) {
    placing->n_forbidden = 0;
    for (uint32_t i = 0; i < group->n_pieces; i++) {
        const uint64_t before = placing->scanned;
        gather_spans(placing, &placing->groups->piece[group->piece + i], pool, from);
        if (!arn_poll_after(placing->poll, placing->scanned - before)) return false;
    }
    gather_edges(placing, group, pool);
    return sort_forbidden(placing);
}

/* Ranges of offsets are gaps for a group of one byte. */
static uint64_t find_between_forbidden(const arn_placing *placing, const arn_group *group,
                                       arn_fit fit, uint64_t from) {
    chooser c = chooser_for(group, fit, from);
    c.extent = 1;
    for (uint32_t i = 0; i < placing->n_forbidden; i++) {
        const forbidden *f = &placing->forbidden[placing->order[i]];
        if (close_gap(&c, f->from)) return c.best;
        c.front = arn_max_u64(c.front, f->to);
    }
    return chosen(&c);
}

static bool is_partner(const arenaut_problem *p, uint32_t a, uint32_t b) {
    return arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a;
}

/* Whether buffer `other`, with bytes that the group would cover at `offset`, interferes there, or
 * is a partner of the group's member `mine`. */
static bool may_cover(const arn_placing *placing, uint64_t offset, uint32_t mine, uint32_t other,
                      bool share) {
    return share && other != ARENAUT_NONE && is_partner(placing->problem, mine, other) &&
           place_of(placing, other) == offset + arn_groups_delta(placing->groups, mine);
}

/* Among the spans of one list; adds the number that were looked at. */
static bool may_lie_among(const arn_placing *placing, const arn_piece *piece, uint32_t list,
                          uint64_t offset, bool share, uint64_t *looked) {
    const uint64_t low = offset + piece->low, high = offset + piece->high;
    const arn_spans *spans = &placing->spans;
    for (uint32_t at = spans->head[list]; at != ARENAUT_NONE; at = spans->chunk[at].next) {
        const arn_chunk *b = &spans->chunk[at];
        *looked += SPANS_LIKE_CHUNK;
        if (b->low[0] >= high) break;
        if (b->end <= piece->first || b->first >= piece->end || b->top <= low) continue;
        *looked += b->n;
        for (uint32_t i = 0; i < b->n && b->low[i] < high; i++) {
            if (b->ends[i] <= piece->first || b->firsts[i] >= piece->end || b->high[i] <= low) {
                continue;
            }
            if (!may_cover(placing, offset, piece->buffer, b->buffer[i], share)) return false;
        }
    }
    return true;
}

static bool piece_may_lie(arn_placing *placing, const arn_piece *piece, uint32_t pool,
                          uint64_t offset, bool share) {
    const arn_spans *spans = &placing->spans;
    const uint32_t n = arn_bands_meet(&spans->bands, piece->first, piece->end);
    uint64_t looked = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t list = arn_spans_list(spans, pool, spans->bands.met[i]);
        if (!may_lie_among(placing, piece, list, offset, share, &looked)) return false;
    }
    return arn_poll_after(placing->poll, looked);
}

static bool edges_allow(const arn_placing *placing, const arn_group *group, uint32_t pool,
                        uint64_t offset, bool share) {
    const arn_groups *groups = placing->groups;
    const uint64_t *size = placing->problem->size;
    for (uint32_t m = 0; m < group->n_members && groups->edge_start; m++) {
        const uint32_t b = groups->member[group->member + m];
        const uint64_t low = offset + arn_groups_delta(groups, b);
        for (uint32_t i = groups->edge_start[b]; i < groups->edge_start[b + 1]; i++) {
            const uint32_t other = groups->edge[i];
            if (pool_of(placing, other) != pool || groups->owner[other] == groups->owner[b])
                continue;
            const uint64_t at = place_of(placing, other);
            if (at >= low + size[b] || low >= at + size[other]) continue;
            if (!may_cover(placing, offset, b, other, share)) return false;
        }
        if (!arn_poll_after(placing->poll, groups->edge_start[b + 1] - groups->edge_start[b])) {
            return false;
        }
    }
    return true;
}

/* Whether the group may lie at `offset`, possibly on same-base partners. */
static bool is_allowed(arn_placing *placing, const arn_group *group, uint32_t pool, uint64_t offset,
                       bool share) {
    for (uint32_t i = 0; i < group->n_pieces; i++) {
        const arn_piece *piece = &placing->groups->piece[group->piece + i];
        if (!piece_may_lie(placing, piece, pool, offset, share)) return false;
    }
    return edges_allow(placing, group, pool, offset, share);
}

/* Tries the place of one partner; keeps the lowest that works. */
static void try_partner(arn_placing *placing, const arn_group *group, uint32_t mine,
                        uint32_t partner, uint32_t pool, uint64_t *lowest) {
    if (pool_of(placing, partner) != pool) return;
    const uint64_t at = place_of(placing, partner), delta = arn_groups_delta(placing->groups, mine);
    if (at < delta) return;
    const uint64_t offset = at - delta;
    if (offset >= *lowest || offset & (group->align - 1)) return;
    if (is_allowed(placing, group, pool, offset, true)) *lowest = offset;
}

/* The lowest offset at which a member lies on its base, or on an heir, that is placed already. */
static uint64_t find_shared(arn_placing *placing, const arn_group *group, uint32_t pool) {
    const arn_groups *groups = placing->groups;
    uint64_t lowest = ARENAUT_UNPLACED;
    for (uint32_t m = 0; m < group->n_members && groups->heir_start; m++) {
        const uint32_t b = groups->member[group->member + m];
        const uint32_t base = arenaut_problem_same_base(placing->problem, b);
        if (base != ARENAUT_NONE) try_partner(placing, group, b, base, pool, &lowest);
        for (uint32_t i = groups->heir_start[b]; i < groups->heir_start[b + 1]; i++) {
            try_partner(placing, group, b, groups->heir[i], pool, &lowest);
        }
    }
    return lowest;
}

/* A shared place is the lowest one, or beats any gap, or at least costs nothing. */
static uint64_t find_with_partners(arn_placing *placing, const arn_group *group, uint32_t pool,
                                   arn_rules rules, uint64_t from) {
    const uint64_t gap = find_between_forbidden(placing, group, rules.fit, from);
    if (!rules.share) return gap;
    const uint64_t shared = find_shared(placing, group, pool);
    if (shared == ARENAUT_UNPLACED) return gap;
    return rules.fit == ARN_FIRST_FIT ? arn_min_u64(gap, shared) : shared;
}

/* ---- one pool, then all ---- */

static bool wants_hint(const arn_placing *placing, const arn_group *group, arn_rules rules) {
    if (!rules.keep_hints) return false;
    const uint64_t hint = arn_group_hint(placing->groups, group);
    return hint <= placing->hint_limit && !(hint & (group->align - 1));
}

/* The lowest address of gaps to be considered. Placed groups only take room away, so first fit
 * finds nothing below its earlier find: not so of shared places, of hints, and of the places in
 * other pools. */
static uint64_t first_gap(const arn_placing *placing, const arn_group *group, arn_rules rules,
                          uint64_t found) {
    const bool one_pool = (group->pools & (group->pools - 1)) == 0;
    const bool only_rises = rules.fit == ARN_FIRST_FIT && !wants_hint(placing, group, rules);
    return one_pool && only_rises ? found : 0;
}

static uint64_t find_in_pool(arn_placing *placing, uint32_t id, uint32_t pool, arn_rules rules,
                             uint64_t found) {
    const arn_group *group = &placing->groups->group[id];
    const uint64_t from = first_gap(placing, group, rules, found);
    const uint64_t capacity = placing->problem->pool[pool].capacity;
    uint64_t offset;
    if (group->fixed != ARENAUT_UNPLACED) {
        offset = group->fixed;
    } else if (group->n_pieces == 1 && !group->related && !wants_hint(placing, group, rules)) {
        const uint64_t before = placing->scanned;
        offset = find_for_piece(placing, group, pool, rules.fit, from);
        if (!arn_poll_after(placing->poll, placing->scanned - before)) return ARENAUT_UNPLACED;
    } else {
        if (!gather(placing, group, pool, from)) return ARENAUT_UNPLACED;
        const uint64_t hint = arn_group_hint(placing->groups, group);
        const bool keep = wants_hint(placing, group, rules) && hint + group->extent <= capacity &&
                          is_allowed(placing, group, pool, hint, rules.share);
        offset = keep ? hint : find_with_partners(placing, group, pool, rules, from);
        if (arn_poll_ended(placing->poll)) return ARENAUT_UNPLACED;
    }
    if (capacity != ARENAUT_UNLIMITED &&
        (group->extent > capacity || offset > capacity - group->extent)) {
        return ARENAUT_UNPLACED;
    }
    return offset;
}

/* How much the arena of `pool` grows if something ends at `end`. */
static uint64_t growth(const arn_placing *placing, uint32_t pool, uint64_t end) {
    const uint64_t align = placing->problem->pool[pool].align;
    const uint64_t now = arn_aligned(placing->top[pool], align);
    const uint64_t then = arn_aligned(arn_max_u64(placing->top[pool], end), align);
    return then - now;
}

bool arn_placing_find(arn_placing *placing, uint32_t id, arn_rules rules, uint64_t found,
                      uint32_t *pool, uint64_t *offset) {
    const arn_group *group = &placing->groups->group[id];
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < placing->problem->n_pools; k++) {
        if (!(group->pools >> k & 1)) continue;
        const uint64_t at = find_in_pool(placing, id, k, rules, found);
        if (at == ARENAUT_UNPLACED) continue;
        const uint64_t by = rules.least_growth ? growth(placing, k, at + group->extent) : 0;
        if (by >= least) continue;
        least = by;
        *pool = k;
        *offset = at;
        if (by == 0) break;
    }
    return least != UINT64_MAX && !placing->out_of_memory;
}

void arn_placing_put(arn_placing *placing, uint32_t id, uint32_t pool, uint64_t offset) {
    const arn_group *group = &placing->groups->group[id];
    placing->pool[id] = pool;
    placing->offset[id] = offset;
    placing->top[pool] = arn_max_u64(placing->top[pool], offset + group->extent);
    placing->spill += arn_group_spill(placing->groups, group, pool);
    for (uint32_t i = group->piece; i < group->piece + group->n_pieces; i++) {
        const arn_piece *piece = &placing->groups->piece[i];
        const arn_span span = {piece->first, piece->end, offset + piece->low, offset + piece->high,
                               piece->buffer};
        const uint32_t list = arn_spans_list(&placing->spans, pool, placing->spans.bands.of[i]);
        uint64_t stepped = 0;
        arn_spans_add(&placing->spans, list, ARENAUT_NONE, &span, &stepped);
        placing->scanned += stepped * SPANS_LIKE_CHUNK;
        arn_poll_after(placing->poll, stepped * SPANS_LIKE_CHUNK);
    }
}

bool arn_placing_place(arn_placing *placing, uint32_t id, arn_rules rules) {
    uint32_t pool = 0;
    uint64_t offset = 0;
    if (!arn_placing_find(placing, id, rules, 0, &pool, &offset)) return false;
    arn_placing_put(placing, id, pool, offset);
    return true;
}

uint64_t arn_placing_offset(const arn_placing *placing, uint32_t group) {
    return placing->offset[group];
}

arenaut_cost arn_placing_cost(const arn_placing *placing) {
    uint64_t total = 0;
    for (uint32_t k = 0; k < placing->problem->n_pools; k++) {
        total += arn_aligned(placing->top[k], placing->problem->pool[k].align);
    }
    return arn_plan_cost(placing->spill, total);
}

void arn_placing_export(const arn_placing *placing, uint32_t *pool, uint64_t *offset) {
    const arn_groups *groups = placing->groups;
    for (uint32_t b = 0; b < placing->problem->n_buffers; b++) {
        if (groups->owner[b] == ARENAUT_NONE) continue;
        pool[b] = placing->pool[groups->owner[b]];
        offset[b] = place_of(placing, b);
    }
}
