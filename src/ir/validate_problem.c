/* Finishing and validation of a problem as a whole: rules that no single add call can check, such
 * as the order of lifetimes, the inside and same-base relations (no circle, the right sizes and
 * steps) and edges. Every message names the buffers. O(n log n). */
#include <inttypes.h>

#include <arenaut/problem.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/pair_relations.h"
#include "ir/problem.h"
#include "ir/store.h"

typedef arenaut_status (*buffer_rule)(const arenaut_problem *p, uint32_t b, const char *name,
                                      arenaut_error *err);

static arenaut_status bad(arenaut_error *err, const char *name, const char *what) {
    return arn_fail(err, ARENAUT_BAD_INPUT, 0, "buffer '%s': %s", name, what);
}

static arenaut_status check_columns(const arenaut_problem *p, uint32_t b, const char *name,
                                    arenaut_error *err) {
    if (p->size[b] > ARENAUT_SIZE_MAX) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "buffer '%s': size %" PRIu64 " is past the largest, 2^63 - 1", name,
                        p->size[b]);
    }
    if (!arn_is_power_of_two(arenaut_problem_align(p, b))) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffer '%s': alignment %" PRIu64 " is not a power of two", name,
                        arenaut_problem_align(p, b));
    }
    if (p->cls && p->cls[b] >= ARENAUT_CLASS_COUNT) return bad(err, name, "unknown class");
    if (arenaut_problem_class(p, b) == ARENAUT_CONSTANT) {
        return bad(err, name, "constants are not planned");
    }
    if (p->method && p->method[b] != ARENAUT_NONE && p->method[b] >= p->n_methods) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffer '%s': method %" PRIu32 " does not exist; there are %" PRIu32, name,
                        p->method[b], p->n_methods);
    }
    return ARENAUT_OK;
}

static arenaut_status check_lifetimes(const arenaut_problem *p, uint32_t b, const char *name,
                                      arenaut_error *err) {
    const uint32_t start = p->lifetime_start[b], end = p->lifetime_start[b + 1];
    if (end < start || end > p->n_lifetimes) {
        return bad(err, name, "its range of lifetimes lies outside the array");
    }
    for (uint32_t i = start; i < end; i++) {
        if (p->lifetime[i].end <= p->lifetime[i].first) {
            return bad(err, name, "a stored lifetime is empty or ends before it begins");
        }
        if (i > start && p->lifetime[i].first <= p->lifetime[i - 1].end) {
            return bad(err, name, "stored lifetimes are not in order, apart from each other");
        }
    }
    return ARENAUT_OK;
}

static arenaut_status check_pools(const arenaut_problem *p, uint32_t b, const char *name,
                                  arenaut_error *err) {
    const uint64_t every = p->n_pools >= 64 ? UINT64_MAX : (UINT64_C(1) << p->n_pools) - 1;
    const uint64_t allowed = arenaut_problem_pools(p, b);
    if (allowed & ~every) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffer '%s': an allowed pool does not exist; there are %" PRIu32, name,
                        p->n_pools);
    }
    /* An offset means nothing without knowing where it counts from. */
    if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED) {
        uint64_t end;
        if (allowed & (allowed - 1)) return bad(err, name, "a fixed offset needs one fixed pool");
        if (!arn_add(arenaut_problem_fixed_offset(p, b), p->size[b], &end)) {
            return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                            "buffer '%s': its fixed offset plus its size pass 2^63", name);
        }
    }
    return ARENAUT_OK;
}

/* A token is handed out whole, wherever that is: nothing can be said of places inside it. */
static arenaut_status check_token(const arenaut_problem *p, uint32_t b, const char *name,
                                  arenaut_error *err) {
    if (!(p->traits & ARENAUT_PROBLEM_TOKENS)) return ARENAUT_OK;
    if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED) {
        return bad(err, name, "has a fixed offset, which memory in whole tokens cannot give");
    }
    if (arenaut_problem_inside(p, b) != ARENAUT_NONE) {
        return bad(err, name, "lies inside another, which memory in whole tokens cannot give");
    }
    return ARENAUT_OK;
}

/* The steps at which both are alive, counted up to 2, and the first of them. */
static int shared_steps(const arenaut_problem *p, uint32_t a, uint32_t b) {
    const arenaut_interval *la = arenaut_problem_lifetimes(p, a);
    const arenaut_interval *lb = arenaut_problem_lifetimes(p, b);
    const uint32_t na = arenaut_problem_lifetime_count(p, a);
    const uint32_t nb = arenaut_problem_lifetime_count(p, b);
    int64_t shared = 0;
    for (uint32_t i = 0, k = 0; i < na && k < nb && shared < 2;) {
        const int64_t first = la[i].first > lb[k].first ? la[i].first : lb[k].first;
        const int64_t end = la[i].end < lb[k].end ? la[i].end : lb[k].end;
        if (first < end) shared += (uint64_t)end - (uint64_t)first > 1 ? 2 : 1;
        if (la[i].end < lb[k].end) i++;
        else k++;
    }
    return shared > 2 ? 2 : (int)shared;
}

static arenaut_status check_same_base(const arenaut_problem *p, uint32_t b, const char *name,
                                      arenaut_error *err) {
    const uint32_t base = arenaut_problem_same_base(p, b);
    if (base == ARENAUT_NONE) return ARENAUT_OK;
    if (base >= p->n_buffers) return bad(err, name, "is same-base as a buffer that does not exist");
    char store[24];
    const char *base_name = arenaut_problem_buffer_name(p, base, store);
    if (base == b) return bad(err, name, "is same-base as itself");
    if (shared_steps(p, b, base) > 1) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffer '%s' is same-base as '%s', but they are alive together at more "
                        "than the one step where one replaces the other",
                        name, base_name);
    }
    if (!(arenaut_problem_pools(p, b) & arenaut_problem_pools(p, base))) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffer '%s' is same-base as '%s', but they have no pool in common", name,
                        base_name);
    }
    return ARENAUT_OK;
}

static arenaut_status check_inside(const arenaut_problem *p, uint32_t b, const char *name,
                                   arenaut_error *err) {
    const uint32_t host = arenaut_problem_inside(p, b);
    if (host == ARENAUT_NONE) return ARENAUT_OK;
    if (host >= p->n_buffers) return bad(err, name, "lies inside a buffer that does not exist");
    if (host == b) return bad(err, name, "lies inside itself");
    char store[24];
    const char *host_name = arenaut_problem_buffer_name(p, host, store);
    uint64_t end;
    if (!arn_add(p->inside_delta[b], p->size[b], &end) || end > p->size[host]) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffer '%s' of %" PRIu64 " bytes at %" PRIu64
                        " does not fit inside '%s' of %" PRIu64 " bytes",
                        name, p->size[b], p->inside_delta[b], host_name, p->size[host]);
    }
    if (p->inside_delta[b] & (arenaut_problem_align(p, b) - 1)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffer '%s' lies inside '%s' at %" PRIu64
                        ", not a multiple of its alignment %" PRIu64,
                        name, host_name, p->inside_delta[b], arenaut_problem_align(p, b));
    }
    if (arenaut_problem_align(p, b) > arenaut_problem_align(p, host)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffer '%s' needs alignment %" PRIu64
                        " but lies inside '%s', aligned to "
                        "only %" PRIu64,
                        name, arenaut_problem_align(p, b), host_name,
                        arenaut_problem_align(p, host));
    }
    if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED ||
        arenaut_problem_hint(p, b) != ARENAUT_UNPLACED) {
        return bad(err, name, "lies inside another, so it cannot be pinned or hinted itself");
    }
    if (arenaut_problem_pools(p, b) != arenaut_problem_pools(p, host)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffer '%s' lies inside '%s', but they allow different pools", name,
                        host_name);
    }
    return ARENAUT_OK;
}

/* Follows `next` from every buffer and marks each buffer with the number of the walk; a walk that
 * meets its own mark is in a cycle. Each buffer is passed once, so O(n). */
static arenaut_status walk_relation(const arenaut_problem *p, const uint32_t *next, uint32_t *walk,
                                    const char *relation, arenaut_error *err) {
    for (uint32_t b = 0; b < p->n_buffers; b++) walk[b] = ARENAUT_NONE;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        uint32_t at = b;
        for (; at != ARENAUT_NONE && walk[at] == ARENAUT_NONE; at = next[at]) walk[at] = b;
        if (at != ARENAUT_NONE && walk[at] == b) {
            char store[24];
            return arn_fail(err, ARENAUT_BAD_INPUT, 0, "buffer '%s': its %s relations form a cycle",
                            arenaut_problem_buffer_name(p, at, store), relation);
        }
    }
    return ARENAUT_OK;
}

static arenaut_status check_acyclic(const arenaut_problem *p, arenaut_error *err) {
    if (!p->same_base && !p->inside) return ARENAUT_OK;
    const arenaut_allocator *allocator = arn_problem_allocator(p);
    uint32_t *walk = arn_allocate(allocator, p->n_buffers, sizeof *walk);
    if (!walk) return arn_no_memory(err);
    arenaut_status st = ARENAUT_OK;
    if (p->same_base) st = walk_relation(p, p->same_base, walk, "same-base", err);
    if (st == ARENAUT_OK && p->inside) st = walk_relation(p, p->inside, walk, "inside", err);
    arn_release(allocator, walk);
    return st;
}

static arenaut_status check_edges(const arenaut_problem *p, arenaut_error *err) {
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const arenaut_conflict e = p->conflict[i];
        if (e.a >= e.b || e.b >= p->n_buffers) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "conflict edge (%" PRIu32 ", %" PRIu32
                            ") does not name two buffers in order; there are %" PRIu32,
                            e.a, e.b, p->n_buffers);
        }
        if (i > 0 && (e.a < p->conflict[i - 1].a ||
                      (e.a == p->conflict[i - 1].a && e.b <= p->conflict[i - 1].b))) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0, "conflict edges are not sorted");
        }
    }
    return ARENAUT_OK;
}

static arenaut_status check_separation(const arenaut_problem *p, uint32_t i, arenaut_error *err) {
    const arenaut_separation *s = &p->separation[i];
    const uint32_t upper = s->upper, lower = s->lower;
    char stores[2][24];
    if (upper >= p->n_buffers || lower >= p->n_buffers || upper == lower) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "separation of buffers %" PRIu32 " and %" PRIu32
                        ": these must be two; there are %" PRIu32,
                        upper, lower, p->n_buffers);
    }
    const char *names[] = {arenaut_problem_buffer_name(p, upper, stores[0]),
                           arenaut_problem_buffer_name(p, lower, stores[1])};
    if (i > 0 && (s[-1].upper > upper || (s[-1].upper == upper && s[-1].lower > lower))) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "separations are not sorted");
    }
    if ((i > 0 && s[-1].upper == upper && s[-1].lower == lower) ||
        arn_find_separation(p, lower, upper)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffers '%.80s' and '%.80s' are separated twice; once is allowed",
                        names[0], names[1]);
    }
    if (s->distance == INT64_MIN) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "separation of '%.80s' and '%.80s': the distance is below -(2^63 - 1)",
                        names[0], names[1]);
    }
    if (shared_steps(p, upper, lower) == 0 && !arn_have_edge(p, upper, lower)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "separation of '%.80s' and '%.80s', which are never in use together",
                        names[0], names[1]);
    }
    return ARENAUT_OK;
}

/* Of memory in whole tokens no part can be shared. */
static arenaut_status check_separations(const arenaut_problem *p, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    if (p->n_separations && p->traits & ARENAUT_PROBLEM_TOKENS) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "%" PRIu32 " separations, which memory in whole tokens cannot give",
                        p->n_separations);
    }
    for (uint32_t i = 0; i < p->n_separations && st == ARENAUT_OK; i++) {
        st = check_separation(p, i, err);
    }
    return st;
}

static arenaut_status check_pool_table(const arenaut_problem *p, arenaut_error *err) {
    if (p->n_pools == 0 || p->n_pools > ARENAUT_MAX_POOLS) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "%" PRIu32 " pools; there must be 1 to %u",
                        p->n_pools, ARENAUT_MAX_POOLS);
    }
    for (uint32_t i = 0; i < p->n_pools; i++) {
        if (!arn_is_power_of_two(p->pool[i].align)) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "pool %" PRIu32 ": alignment %" PRIu64 " is not a power of two", i,
                            p->pool[i].align);
        }
        if ((p->pool[i].capacity == 0) != p->pool[i].closed) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "pool %" PRIu32 ": a capacity of %" PRIu64
                            " bytes in a pool that is "
                            "%sclosed; 0 bytes are written so, and no limit as ARENAUT_UNLIMITED",
                            i, p->pool[i].capacity, p->pool[i].closed ? "" : "not ");
        }
        if (p->pool[i].capacity != ARENAUT_UNLIMITED && p->pool[i].capacity % p->pool[i].align) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "pool %" PRIu32 ": a capacity of %" PRIu64
                            " bytes, which is no multiple of its alignment, %" PRIu64,
                            i, p->pool[i].capacity, p->pool[i].align);
        }
    }
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool >= p->n_pools || r->first >= r->end || r->end > ARENAUT_SIZE_MAX) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "reserved range [%" PRIu64 ", %" PRIu64 ") of pool %" PRIu32
                            " is empty, too large or of no pool",
                            r->first, r->end, r->pool);
        }
        if (i > 0 && r[-1].pool == r->pool && r->first <= r[-1].end) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0, "reserved ranges are not sorted and apart");
        }
    }
    return ARENAUT_OK;
}

/* Planners may add up all sizes, each rounded up to the largest alignment, without looking:
 * here is where that is made safe. */
static arenaut_status check_sum(const arenaut_problem *p, arenaut_error *err) {
    uint64_t align = 1, sum = 0, highest = 0;
    for (uint32_t i = 0; i < p->n_pools; i++) align = arn_max_u64(align, p->pool[i].align);
    for (uint32_t b = 0; b < p->n_buffers; b++)
        align = arn_max_u64(align, arenaut_problem_align(p, b));
    for (uint32_t i = 0; i < p->n_reserved; i++) highest = arn_max_u64(highest, p->reserved[i].end);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        uint64_t rounded;
        const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
        if (fixed != ARENAUT_UNPLACED) highest = arn_max_u64(highest, fixed);
        if (!arn_align_up(p->size[b], align, &rounded) || !arn_add(sum, rounded, &sum)) {
            char store[24];
            return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                            "the sizes up to buffer '%s', rounded to alignment %" PRIu64
                            ", add up to more than 2^63 - 1 bytes",
                            arenaut_problem_buffer_name(p, b, store), align);
        }
    }
    if (!arn_add(highest, sum, &sum) || !arn_add(align, sum, &sum)) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "the sizes, the highest fixed offset or reserved byte (%" PRIu64
                        ") and one alignment (%" PRIu64 ") add up to more than 2^63 - 1 bytes",
                        highest, align);
    }
    return ARENAUT_OK;
}

/* The same for the worst spill of a plan. */
static arenaut_status check_spill(const arenaut_problem *p, arenaut_error *err) {
    uint64_t sum = 0;
    for (uint32_t b = 0; b < p->n_buffers && p->n_pools > 1; b++) {
        uint64_t most;
        const uint32_t rank = arn_problem_rank(p, b, p->n_pools - 1);
        if (!arn_multiply(p->size[b], arenaut_problem_uses(p, b), &most) ||
            !arn_multiply(most, rank, &most) || !arn_add(sum, most, &sum)) {
            char store[24];
            return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                            "the buffers up to '%s' could spill more than 2^63 - 1 byte-uses into "
                            "slower pools",
                            arenaut_problem_buffer_name(p, b, store));
        }
    }
    return ARENAUT_OK;
}

/* Names are made for those who fail alone. */
static arenaut_status check_buffers(const arenaut_problem *p, const buffer_rule *rules, size_t n,
                                    arenaut_error *err) {
    char store[24];
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        for (size_t i = 0; i < n; i++) {
            if (rules[i](p, b, "", NULL) != ARENAUT_OK)
                return rules[i](p, b, arenaut_problem_buffer_name(p, b, store), err);
        }
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_problem_validate(const arenaut_problem *p, arenaut_error *err) {
    static const buffer_rule rules[] = {check_columns, check_lifetimes, check_pools, check_token};
    static const buffer_rule relations[] = {check_same_base, check_inside};
    if (!arn_problem_is_finished(p)) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "the problem is not finished: call arenaut_problem_finish first");
    }
    arenaut_status st = check_pool_table(p, err);
    if (st == ARENAUT_OK) st = check_buffers(p, rules, sizeof rules / sizeof *rules, err);
    /* Relations look at two buffers, so each must be sound by itself first. */
    if (st == ARENAUT_OK)
        st = check_buffers(p, relations, sizeof relations / sizeof *relations, err);
    if (st == ARENAUT_OK) st = check_acyclic(p, err);
    if (st == ARENAUT_OK) st = check_edges(p, err);
    if (st == ARENAUT_OK) st = check_separations(p, err);
    if (st == ARENAUT_OK) st = check_sum(p, err);
    if (st == ARENAUT_OK) st = check_spill(p, err);
    return st;
}

arenaut_status arenaut_problem_finish(arenaut_problem *problem, arenaut_error *err) {
    const arenaut_status st = arn_problem_settle(problem, err);
    return st == ARENAUT_OK ? arenaut_problem_validate(problem, err) : st;
}
