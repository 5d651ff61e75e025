/* check_overlaps: search for two conflicting buffers that share bytes although no relation allows
 * it, by an interval sweep that counts; and the token rule.
 *
 * The sweep goes over time. When a buffer comes alive, the number of live buffers that share bytes
 * with it is
 *
 *     (those that start before its end) - (those that end at or before its start),
 *
 * two look-ups in binary indexed trees over addresses (Fenwick 1994). The relations alone give the
 * number allowed: its live hosts and slices, its same-base partners at its offset, and the buffers
 * that a separation lets overlap it where they lie. The plan is right exactly if the two numbers
 * agree each time, and only on a disagreement is the other buffer looked for. Unlike a walk to the
 * neighbours in an ordered set this is not fooled by an allowed overlap in front of a forbidden
 * one. O(n log n). */
#include <inttypes.h>

#include "check/finding.h"
#include "check/plan/plan_rules.h"
#include "core/checked.h"
#include "core/sort.h"

/* Binary indexed tree (Fenwick 1994): adding at a place and summing all before it, O(log n). */
typedef struct counts {
    uint32_t *node; /* wraps around below zero on the way; sums do not */
    uint32_t n;
} counts;

static void counts_add(counts *c, uint32_t at, uint32_t change) {
    for (uint32_t i = at; i < c->n; i |= i + 1) c->node[i] += change;
}

static uint32_t counts_before(const counts *c, uint32_t end) {
    uint32_t sum = 0;
    for (uint32_t i = end; i > 0; i &= i - 1) sum += c->node[i - 1];
    return sum;
}

/* All that the sweep asks about a buffer. Ranks are by address; pools come one after another. */
typedef struct swept {
    uint32_t start, end;       /* its own rank among starts, and among ends */
    uint32_t starts_below_end; /* the number of starts in lower pools or below its end */
    uint32_t ends_to_start;    /* the number of ends in lower pools or at or below its start */
    uint32_t heirs;            /* live buffers that lie on this one by their same-base relation */
    bool alive;
} swept;

typedef struct sweep {
    const arn_plan_check *check;
    const arenaut_problem *problem;
    const arenaut_plan *plan;
    const arn_check_slices *slices;
    arn_region memory; /* all arrays below */
    swept *swept;      /* per buffer */
    counts starts, ends;
    counts nested; /* by number in the forest: the live ones */
    counts hosts;  /* by number in the forest: +1 where a live one's range begins, -1 past it */
    uint32_t n_births;
    uint32_t *births;     /* lifetimes by first step, of buffers that need memory */
    uint32_t *event;      /* buffers as they come alive and die, up to the last that comes */
    uint32_t *pair_start; /* per buffer, where its separations begin in `pair`; n + 1 */
    uint32_t *pair;       /* separations, each once for either buffer; NULL without any */
} sweep;

static uint64_t end_of(const sweep *s, uint32_t b) {
    return s->plan->offset[b] + s->problem->size[b];
}

static bool share_bytes(const sweep *s, uint32_t a, uint32_t b) {
    return s->plan->pool[a] == s->plan->pool[b] && s->plan->offset[a] < end_of(s, b) &&
           s->plan->offset[b] < end_of(s, a);
}

/* Whether `heir` lies at the offset of its base. Slices are counted as slices. The problem has been
 * validated, so the two are alive together at no more than one step. */
static bool lies_on_base(const sweep *s, uint32_t heir) {
    const uint32_t base = arenaut_problem_same_base(s->problem, heir);
    return base != ARENAUT_NONE && arenaut_problem_needs_memory(s->problem, base) &&
           s->plan->pool[base] == s->plan->pool[heir] &&
           s->plan->offset[base] == s->plan->offset[heir] &&
           !arn_check_slices_nested(s->slices, base, heir);
}

static bool may_overlap_by_relation(const sweep *s, uint32_t a, uint32_t b) {
    if (arn_check_slices_nested(s->slices, a, b)) return true;
    return (arenaut_problem_same_base(s->problem, a) == b && lies_on_base(s, a)) ||
           (arenaut_problem_same_base(s->problem, b) == a && lies_on_base(s, b));
}

/* Whether the upper buffer lies at least the distance above the lower one, and shares bytes with it
 * by this right alone: other rights are counted by themselves. */
static bool reaches_in(const sweep *s, const arenaut_separation *pair) {
    const uint32_t a = pair->upper, b = pair->lower;
    if (!arenaut_problem_needs_memory(s->problem, a)) return false;
    if (!arenaut_problem_needs_memory(s->problem, b) || !share_bytes(s, a, b)) return false;
    if (may_overlap_by_relation(s, a, b)) return false;
    /* Offsets of placed buffers stay below 2^63. */
    return (int64_t)s->plan->offset[a] - (int64_t)s->plan->offset[b] >= pair->distance;
}

/* The separation of the two; NULL if there is none. */
static const arenaut_separation *separation_of(const sweep *s, uint32_t a, uint32_t b) {
    if (!s->pair) return NULL;
    for (uint32_t i = s->pair_start[a]; i < s->pair_start[a + 1]; i++) {
        const arenaut_separation *pair = &s->problem->separation[s->pair[i]];
        if (pair->upper == b || pair->lower == b) return pair;
    }
    return NULL;
}

static bool may_overlap(const sweep *s, uint32_t a, uint32_t b) {
    const arenaut_separation *pair = separation_of(s, a, b);
    return may_overlap_by_relation(s, a, b) || (pair && reaches_in(s, pair));
}

/* Whether a starts before b ends, in the order of pools and addresses. */
static bool starts_before_end(const sweep *s, uint32_t a, uint32_t b) {
    if (s->plan->pool[a] != s->plan->pool[b]) return s->plan->pool[a] < s->plan->pool[b];
    return s->plan->offset[a] < end_of(s, b);
}

/* `by_start` and `by_end` hold the same n buffers in their two orders. */
static void rank_buffers(sweep *s, const uint32_t *by_start, const uint32_t *by_end, uint32_t n) {
    for (uint32_t i = 0, below = 0; i < n; i++) {
        const uint32_t b = by_end[i];
        while (below < n && starts_before_end(s, by_start[below], b)) below++;
        s->swept[b].end = i;
        s->swept[b].starts_below_end = below;
    }
    for (uint32_t i = 0, below = 0; i < n; i++) {
        const uint32_t b = by_start[i];
        while (below < n && !starts_before_end(s, b, by_end[below])) below++;
        s->swept[b].start = i;
        s->swept[b].ends_to_start = below;
    }
}

static uint32_t *new_ids(sweep *s, uint32_t n) {
    return arn_region_allocate(&s->memory, n, sizeof(uint32_t));
}

static bool counts_make(sweep *s, counts *c, uint32_t n) {
    c->n = n;
    c->node = new_ids(s, n);
    for (uint32_t i = 0; c->node && i < n; i++) c->node[i] = 0;
    return c->node != NULL;
}

/* Sorts buffers by pool, and in each pool by the address of key[b]. */
static void sort_by_address(const sweep *s, uint32_t *buffers, uint32_t n, uint64_t *key,
                            uint32_t *work) {
    arn_sort_by_key(buffers, n, key, work);
    if (s->problem->n_pools == 1) return;
    for (uint32_t i = 0; i < n; i++) key[buffers[i]] = s->plan->pool[buffers[i]];
    arn_sort_by_key(buffers, n, key, work);
}

static bool order_addresses(sweep *s) {
    const uint32_t n = s->problem->n_buffers;
    uint32_t *by_start = new_ids(s, n), *by_end = new_ids(s, n), *work = new_ids(s, n);
    uint64_t *key = arn_region_allocate(&s->memory, n, sizeof *key);
    if (!by_start || !by_end || !work || !key) return false;
    uint32_t placed = 0;
    for (uint32_t b = 0; b < n; b++) {
        if (arenaut_problem_needs_memory(s->problem, b)) by_start[placed++] = b;
    }
    for (uint32_t i = 0; i < placed; i++) {
        by_end[i] = by_start[i];
        key[by_start[i]] = s->plan->offset[by_start[i]];
    }
    sort_by_address(s, by_start, placed, key, work);
    for (uint32_t i = 0; i < placed; i++) key[by_end[i]] = end_of(s, by_end[i]);
    sort_by_address(s, by_end, placed, key, work);
    rank_buffers(s, by_start, by_end, placed);
    return counts_make(s, &s->starts, placed) && counts_make(s, &s->ends, placed);
}

/* Those that die at a step do so before others come. */
static void list_events(sweep *s, const uint32_t *deaths, const uint32_t *buffer_of) {
    const arenaut_interval *life = s->problem->lifetime;
    uint32_t *event = s->event;
    for (uint32_t i = 0, died = 0; i < s->n_births; i++) {
        while (life[deaths[died]].end <= life[s->births[i]].first)
            *event++ = buffer_of[deaths[died++]];
        *event++ = buffer_of[s->births[i]];
    }
}

static bool order_lifetimes(sweep *s) {
    const arenaut_problem *p = s->problem;
    uint32_t *work = new_ids(s, p->n_lifetimes), *buffer_of = new_ids(s, p->n_lifetimes);
    uint32_t *deaths = new_ids(s, p->n_lifetimes), n = 0;
    uint64_t *key = arn_region_allocate(&s->memory, p->n_lifetimes, sizeof *key);
    s->births = new_ids(s, p->n_lifetimes);
    s->event = arn_region_allocate(&s->memory, p->n_lifetimes, 2 * sizeof *s->event);
    if (!work || !key || !buffer_of || !deaths || !s->births || !s->event) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        for (uint32_t i = p->lifetime_start[b]; i < p->lifetime_start[b + 1]; i++) {
            buffer_of[i] = b;
            s->births[n] = deaths[n] = i;
            key[i] = arn_step_key(p->lifetime[i].first);
            n++;
        }
    }
    s->n_births = n;
    arn_sort_by_key(s->births, n, key, work);
    for (uint32_t i = 0; i < n; i++) key[deaths[i]] = arn_step_key(p->lifetime[deaths[i]].end);
    arn_sort_by_key(deaths, n, key, work);
    list_events(s, deaths, buffer_of);
    return true;
}

/* Lists the separations of each buffer. */
static bool list_separations(sweep *s) {
    const arenaut_problem *p = s->problem;
    if (p->n_separations == 0) return true;
    uint32_t *start = s->pair_start = new_ids(s, p->n_buffers + 2);
    s->pair = arn_region_allocate(&s->memory, (size_t)p->n_separations * 2, sizeof *s->pair);
    if (!start || !s->pair) return false;
    for (uint32_t b = 0; b < p->n_buffers + 2; b++) start[b] = 0;
    for (uint32_t i = 0; i < p->n_separations; i++) {
        start[p->separation[i].upper + 2]++;
        start[p->separation[i].lower + 2]++;
    }
    for (uint32_t b = 2; b < p->n_buffers + 2; b++) start[b] += start[b - 1];
    for (uint32_t i = 0; i < p->n_separations; i++) { /* which moves start[b + 1] to b's end */
        s->pair[start[p->separation[i].upper + 1]++] = i;
        s->pair[start[p->separation[i].lower + 1]++] = i;
    }
    return true;
}

static bool sweep_make(sweep *s) {
    const uint32_t n = s->problem->n_buffers;
    s->swept = arn_region_allocate(&s->memory, n, sizeof *s->swept);
    if (!s->swept) return false;
    for (uint32_t b = 0; b < n; b++) s->swept[b] = (swept){.alive = false};
    if (s->slices->enter && (!counts_make(s, &s->nested, n) || !counts_make(s, &s->hosts, n))) {
        return false;
    }
    return list_separations(s) && order_addresses(s) && order_lifetimes(s);
}

/* Adds `b` to the live buffers, or removes it if `change` is -1 (as an unsigned number). */
static void count_in(sweep *s, uint32_t b, uint32_t change) {
    s->swept[b].alive = change == 1;
    counts_add(&s->starts, s->swept[b].start, change);
    counts_add(&s->ends, s->swept[b].end, change);
    if (lies_on_base(s, b)) s->swept[arenaut_problem_same_base(s->problem, b)].heirs += change;
    if (s->slices->enter) {
        counts_add(&s->nested, s->slices->enter[b], change);
        counts_add(&s->hosts, s->slices->enter[b], change);
        counts_add(&s->hosts, s->slices->leave[b], 0u - change);
    }
}

/* The number of live buffers that may share bytes with `b`, which is about to come alive. All of
 * them do: slices lie in their hosts, and heirs are counted only where they lie on `b`. */
static uint32_t allowed_overlaps(const sweep *s, uint32_t b) {
    uint32_t allowed = s->swept[b].heirs;
    if (lies_on_base(s, b)) allowed += s->swept[arenaut_problem_same_base(s->problem, b)].alive;
    if (s->slices->enter) {
        const uint32_t enter = s->slices->enter[b], leave = s->slices->leave[b];
        allowed += counts_before(&s->nested, leave) - counts_before(&s->nested, enter);
        allowed += counts_before(&s->hosts, enter + 1);
    }
    if (!s->pair) return allowed;
    for (uint32_t i = s->pair_start[b]; i < s->pair_start[b + 1]; i++) {
        const arenaut_separation *pair = &s->problem->separation[s->pair[i]];
        const uint32_t other = pair->upper == b ? pair->lower : pair->upper;
        allowed += s->swept[other].alive && reaches_in(s, pair);
    }
    return allowed;
}

static uint32_t actual_overlaps(const sweep *s, uint32_t b) {
    return counts_before(&s->starts, s->swept[b].starts_below_end) -
           counts_before(&s->ends, s->swept[b].ends_to_start);
}

static void fill_in(const sweep *s, uint32_t a, uint32_t b, int64_t step) {
    arenaut_finding *f = s->check->finding;
    f->rule = ARENAUT_RULE_OVERLAP;
    f->a = a < b ? a : b;
    f->b = a < b ? b : a;
    f->step = step;
    f->pool = s->plan->pool[a];
    f->first = arn_max_u64(s->plan->offset[a], s->plan->offset[b]);
    f->end = arn_min_u64(end_of(s, a), end_of(s, b));
}

static const char *hint_for(const sweep *s, uint32_t a, uint32_t b) {
    if (separation_of(s, a, b)) return "; their separation allows that only further apart";
    const bool related = arenaut_problem_same_base(s->problem, a) == b ||
                         arenaut_problem_same_base(s->problem, b) == a;
    return related ? "; as a same-base pair they may only start at the same offset" : "";
}

static arenaut_status reject_at_step(const sweep *s, uint32_t b, int64_t step) {
    uint32_t a = 0;
    while (a < s->problem->n_buffers &&
           (a == b || !s->swept[a].alive || !share_bytes(s, a, b) || may_overlap(s, a, b))) {
        a++;
    }
    if (a == s->problem->n_buffers) {
        return arn_fail(s->check->err, ARENAUT_INTERNAL, 0,
                        "the checker counted an overlap that it cannot find");
    }
    fill_in(s, a, b, step);
    const arenaut_finding *f = s->check->finding;
    char names[2][24];
    return arn_check_reject(s->check->finding, s->check->err,
                            "buffers '%.80s' and '%.80s' are both alive at step %" PRId64
                            " and share bytes [%" PRIu64 ", %" PRIu64 ") of pool %" PRIu32 "%s",
                            arenaut_problem_buffer_name(s->problem, f->a, names[0]),
                            arenaut_problem_buffer_name(s->problem, f->b, names[1]), step, f->first,
                            f->end, f->pool, hint_for(s, a, b));
}

static arenaut_status sweep_over_time(sweep *s) {
    uint32_t born = 0;
    for (const uint32_t *event = s->event; born < s->n_births; event++) {
        const uint32_t b = *event;
        if (s->swept[b].alive) {
            count_in(s, b, 0u - 1u);
            continue;
        }
        if (actual_overlaps(s, b) != allowed_overlaps(s, b))
            return reject_at_step(s, b, s->problem->lifetime[s->births[born]].first);
        count_in(s, b, 1);
        born++;
    }
    return ARENAUT_OK;
}

/* Conflict edges are listed, so each is looked at by itself. */
static arenaut_status check_edges(const sweep *s) {
    const arenaut_problem *p = s->problem;
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const uint32_t a = p->conflict[i].a, b = p->conflict[i].b;
        if (!arenaut_problem_needs_memory(p, a) || !arenaut_problem_needs_memory(p, b)) continue;
        if (!share_bytes(s, a, b) || may_overlap(s, a, b)) continue;
        fill_in(s, a, b, arenaut_problem_lifetimes(p, a)->first);
        const arenaut_finding *f = s->check->finding;
        char names[2][24];
        return arn_check_reject(
            s->check->finding, s->check->err,
            "buffers '%.80s' and '%.80s' may be in use at the same time (a conflict "
            "edge says so) and share bytes [%" PRIu64 ", %" PRIu64 ") of pool %" PRIu32 "%s",
            arenaut_problem_buffer_name(p, a, names[0]),
            arenaut_problem_buffer_name(p, b, names[1]), f->first, f->end, f->pool,
            hint_for(s, a, b));
    }
    return ARENAUT_OK;
}

arenaut_status arn_check_overlaps(const arn_plan_check *check, const arn_check_slices *slices) {
    sweep s = {.check = check, .problem = check->problem, .plan = check->plan, .slices = slices};
    arn_region_init(&s.memory, check->allocator);
    arenaut_status status = sweep_make(&s) ? ARENAUT_OK : arn_no_memory(check->err);
    if (status == ARENAUT_OK) status = sweep_over_time(&s);
    if (status == ARENAUT_OK) status = check_edges(&s);
    arn_region_free(&s.memory);
    return status;
}

/* ---- the token rule ----
 *
 * Memory that comes in whole tokens: two buffers of a pool begin at the same address or have no
 * byte in common, be their lifetimes disjoint or not. In order of address, the buffers that begin
 * together are one token; it reaches as far as the longest of them, and the next must not begin
 * before that. O(n log n). */

static bool lies_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_plan *plan = context;
    if (plan->pool[a] != plan->pool[b]) return plan->pool[a] < plan->pool[b];
    return plan->offset[a] < plan->offset[b];
}

static uint64_t token_end(const arn_plan_check *check, uint32_t b) {
    return check->plan->offset[b] + check->problem->size[b];
}

static arenaut_status reject_token(const arn_plan_check *check, uint32_t a, uint32_t b) {
    const arenaut_plan *plan = check->plan;
    arenaut_finding *f = check->finding;
    char store_a[24], store_b[24];
    f->rule = ARENAUT_RULE_TOKENS;
    f->a = a;
    f->b = b;
    f->pool = plan->pool[a];
    f->first = plan->offset[b];
    f->end = token_end(check, a) < token_end(check, b) ? token_end(check, a) : token_end(check, b);
    return arn_check_reject(
        f, check->err,
        "buffers '%.80s' at [%" PRIu64 ", %" PRIu64 ") and '%.80s' at [%" PRIu64 ", %" PRIu64
        ") share a part of a token; they must begin together, or lie "
        "apart",
        arenaut_problem_buffer_name(check->problem, a, store_a), plan->offset[a],
        token_end(check, a), arenaut_problem_buffer_name(check->problem, b, store_b),
        plan->offset[b], token_end(check, b));
}

/* `order`: all buffers that need memory, by address. */
static arenaut_status walk_tokens(const arn_plan_check *check, const uint32_t *order, uint32_t n) {
    const arenaut_plan *plan = check->plan;
    uint32_t longest = 0; /* of the token at hand, as a position in `order` */
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t a = order[longest], b = order[i];
        const bool together = plan->offset[a] == plan->offset[b];
        if (plan->pool[a] != plan->pool[b] || token_end(check, a) <= plan->offset[b]) longest = i;
        else if (!together) return reject_token(check, a, b);
        else if (token_end(check, a) < token_end(check, b)) longest = i;
    }
    return ARENAUT_OK;
}

arenaut_status arn_check_tokens(const arn_plan_check *check) {
    const arenaut_problem *p = check->problem;
    if (!(p->traits & ARENAUT_PROBLEM_TOKENS)) return ARENAUT_OK;
    uint32_t *order = arn_allocate(check->allocator, p->n_buffers, 2 * sizeof *order);
    if (!order) return arn_no_memory(check->err);
    uint32_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) order[n++] = b;
    }
    arn_sort_ids(order, n, lies_before, check->plan, order + n);
    const arenaut_status status = walk_tokens(check, order, n);
    arn_release(check->allocator, order);
    return status;
}
