/* Building a problem: one growable array per column, rare columns only when needed. Rules on one
 * buffer alone are checked when it is added, the rest by validate_problem.c when the problem is
 * finished. O(1) amortised for each thing added. */
#include <arenaut/problem.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/store.h"

/* The columns share one capacity; each array has its own where growth differs. */
struct arenaut_problem_store {
    arn_region strings;
    arenaut_allocator allocator;
    arenaut_problem problem;
    uint32_t buffers, starts, lifetimes, pools, conflicts, reserved, methods; /* capacities */
    uint32_t separations;
    bool finished; /* nothing was added since arenaut_problem_finish */
};

const arenaut_allocator *arn_problem_allocator(const arenaut_problem *problem) {
    return problem->store ? &problem->store->allocator : NULL;
}

bool arn_problem_is_finished(const arenaut_problem *problem) {
    return !problem->store || problem->store->finished;
}

void arn_problem_use_allocator(arenaut_problem *problem, const arenaut_allocator *allocator) {
    if (!problem) return;
    problem->store->allocator = arn_allocator_or_default(allocator);
    problem->store->strings.allocator = problem->store->allocator;
}

arenaut_status arenaut_problem_new(const arenaut_allocator *allocator, arenaut_problem **out,
                                   arenaut_error *err) {
    struct arenaut_problem_store *store = arn_allocate_zeroed(allocator, 1, sizeof *store);
    if (!store) return arn_no_memory(err);
    arn_region_init(&store->strings, allocator);
    store->allocator = arn_allocator_or_default(allocator);
    arenaut_problem *problem = &store->problem;
    problem->store = store;
    if (!arn_grow(allocator, (void **)&problem->lifetime_start, &store->starts, 1,
                  sizeof *problem->lifetime_start)) {
        arenaut_problem_free(problem);
        return arn_no_memory(err);
    }
    problem->lifetime_start[0] = 0;
    *out = problem;
    return ARENAUT_OK;
}

/* Every per-buffer column: its member, and the value a buffer has by default. */
#define COLUMNS(XX)                    \
    XX(align, 1)                       \
    XX(pools, 0)                       \
    XX(fixed_offset, ARENAUT_UNPLACED) \
    XX(hint, ARENAUT_UNPLACED)         \
    XX(same_base, ARENAUT_NONE)        \
    XX(inside, ARENAUT_NONE)           \
    XX(inside_delta, 0)                \
    XX(cls, ARENAUT_INTERMEDIATE)      \
    XX(uses, 1)                        \
    XX(method, ARENAUT_NONE)           \
    XX(release, 0)                     \
    XX(name, NULL)                     \
    XX(op, NULL)                       \
    XX(source, NULL)

void arenaut_problem_free(arenaut_problem *problem) {
    if (!problem || !problem->store) return;
    struct arenaut_problem_store *store = problem->store;
    const arenaut_allocator allocator = store->allocator;
    void *const arrays[] = {problem->size,       problem->lifetime_start,
                            problem->lifetime,   problem->pool,
                            problem->conflict,   problem->reserved,
                            problem->separation, (void *)problem->method_name,
#define XX(member, value) (void *)problem->member,
                            COLUMNS(XX)
#undef XX
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) arn_release(&allocator, arrays[i]);
    arn_region_free(&store->strings);
    arn_release(&allocator, store);
}

static bool copy_text(arenaut_problem *problem, const char *text, const char **copy) {
    *copy = NULL;
    if (!text) return true;
    *copy = arn_region_copy_text(&problem->store->strings, text, strlen(text));
    return *copy != NULL;
}

/* Grows one column to `needed` elements. The shared capacity is not changed here, so that
 * a failure half way leaves every column at least as large as the capacity says. */
static bool grow_column(arenaut_problem *problem, void **column, uint64_t needed, size_t size) {
    uint32_t capacity = problem->store->buffers;
    return arn_grow(&problem->store->allocator, column, &capacity, needed, size);
}

static bool grow_buffers(arenaut_problem *problem) {
    struct arenaut_problem_store *store = problem->store;
    const uint64_t needed = (uint64_t)problem->n_buffers + 1;
    if (needed >= ARENAUT_NONE) return false;
    if (!arn_grow(&store->allocator, (void **)&problem->lifetime_start, &store->starts, needed + 1,
                  sizeof *problem->lifetime_start)) {
        return false;
    }
    if (needed <= store->buffers) return true;
    if (!grow_column(problem, (void **)&problem->size, needed, sizeof *problem->size)) return false;
#define XX(member, value)                                                                  \
    if (problem->member &&                                                                 \
        !grow_column(problem, (void **)&problem->member, needed, sizeof *problem->member)) \
        return false;
    COLUMNS(XX)
#undef XX
    uint64_t capacity = store->buffers < 8 ? 8 : (uint64_t)store->buffers * 2;
    store->buffers = (uint32_t)(capacity < UINT32_MAX ? capacity : UINT32_MAX);
    return true;
}

/* Makes a rare column, with the default for every buffer so far. */
#define MAKE_COLUMN(problem, member, value)                                                       \
    do {                                                                                          \
        (problem)->member = arn_allocate(&(problem)->store->allocator, (problem)->store->buffers, \
                                         sizeof *(problem)->member);                              \
        if (!(problem)->member) return false;                                                     \
        for (uint32_t i = 0; i < (problem)->n_buffers; i++) (problem)->member[i] = value;         \
    } while (0)

static uint32_t id_or_none(arenaut_optional_id x) { return x.given ? x.id : ARENAUT_NONE; }

static uint64_t offset_or_none(arenaut_optional_offset x) {
    return x.given ? x.bytes : ARENAUT_UNPLACED;
}

/* Writes buffer `b`'s row into the columns; makes a column when its value is not the
 * default. */
static bool store_row(arenaut_problem *problem, uint32_t b, const arenaut_buffer *buffer) {
    const uint64_t align = buffer->align ? buffer->align : 1, pools = buffer->pools;
    const uint64_t fixed_offset = offset_or_none(buffer->fixed_offset);
    const uint64_t hint = offset_or_none(buffer->hint);
    const uint32_t same_base = id_or_none(buffer->same_base), inside = id_or_none(buffer->inside);
    const uint64_t inside_delta = inside == ARENAUT_NONE ? 0 : buffer->inside_delta;
    const uint8_t cls = (uint8_t)buffer->cls;
    const uint32_t method = id_or_none(buffer->method), release = buffer->release;
    const uint32_t uses = buffer->uses ? buffer->uses : 1;
    const char *name, *op, *source;
    if (!copy_text(problem, buffer->name, &name) || !copy_text(problem, buffer->op, &op) ||
        !copy_text(problem, buffer->source, &source)) {
        return false;
    }
    /* The two inside columns come together. */
    if (inside != ARENAUT_NONE && !problem->inside_delta) MAKE_COLUMN(problem, inside_delta, 0);
#define XX(member, value)                                                           \
    if (!problem->member && member != (value)) MAKE_COLUMN(problem, member, value); \
    if (problem->member) problem->member[b] = member;
    COLUMNS(XX)
#undef XX
    problem->size[b] = buffer->size;
    return true;
}

/* Puts `n` elements of `size` bytes at `array` in the order of `before`. */
static bool sort_array(const arenaut_allocator *allocator, void *array, uint32_t n, size_t size,
                       arn_before_fn before) {
    uint32_t *ids = arn_allocate(allocator, (size_t)n * 2, sizeof *ids);
    char *sorted = arn_allocate(allocator, n, size);
    if (ids && sorted) {
        for (uint32_t i = 0; i < n; i++) ids[i] = i;
        arn_sort_ids(ids, n, before, array, ids + n);
        for (uint32_t i = 0; i < n; i++) {
            memcpy(sorted + i * size, (const char *)array + ids[i] * size, size);
        }
        if (n) memcpy(array, sorted, n * size);
    }
    const bool done = ids && sorted;
    ARN_RELEASE(allocator, ids, sorted);
    return done;
}

static bool lifetime_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_interval *life = context;
    return life[a].first < life[b].first;
}

/* Most buffers have one lifetime and hardly any more than a few; these are sorted in place. */
static bool sort_lifetimes(const arenaut_allocator *allocator, arenaut_interval *life, uint32_t n) {
    enum { FEW = 16 };
    if (n > FEW) return sort_array(allocator, life, n, sizeof *life, lifetime_before);
    for (uint32_t i = 1; i < n; i++) {
        const arenaut_interval moving = life[i];
        uint32_t k = i;
        for (; k > 0 && life[k - 1].first > moving.first; k--) life[k] = life[k - 1];
        life[k] = moving;
    }
    return true;
}

/* Merges sorted lifetimes that overlap or touch, and returns how many are left. */
static uint32_t merge_lifetimes(arenaut_interval *life, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kept > 0 && life[i].first <= life[kept - 1].end) {
            if (life[i].end > life[kept - 1].end) life[kept - 1].end = life[i].end;
        } else {
            life[kept++] = life[i];
        }
    }
    return kept;
}

/* Appends the buffer's lifetimes; problem->n_lifetimes is set only when all went well. */
static arenaut_status add_lifetimes(arenaut_problem *problem, const arenaut_buffer *buffer,
                                    arenaut_error *err) {
    struct arenaut_problem_store *store = problem->store;
    const uint32_t start = problem->n_lifetimes;
    if (buffer->n_lifetimes == 0) return ARENAUT_OK;
    if (!arn_grow(&store->allocator, (void **)&problem->lifetime, &store->lifetimes,
                  (uint64_t)start + buffer->n_lifetimes, sizeof *problem->lifetime)) {
        return arn_no_memory(err);
    }
    arenaut_interval *life = problem->lifetime + start;
    uint32_t n = 0;
    for (uint32_t i = 0; i < buffer->n_lifetimes; i++) {
        if (buffer->lifetimes[i].first < buffer->lifetimes[i].end) life[n++] = buffer->lifetimes[i];
    }
    if (!sort_lifetimes(&store->allocator, life, n)) return arn_no_memory(err);
    problem->n_lifetimes = start + merge_lifetimes(life, n);
    return ARENAUT_OK;
}

static arenaut_status check_buffer(const arenaut_buffer *buffer, const char *name,
                                   arenaut_error *err) {
    if (buffer->size > ARENAUT_SIZE_MAX) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "buffer '%s': size %" PRIu64 " is past the largest, 2^63 - 1", name,
                        buffer->size);
    }
    if (buffer->align != 0 && !arn_is_power_of_two(buffer->align)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "buffer '%s': alignment %" PRIu64 " is not a power of two", name,
                        buffer->align);
    }
    if (buffer->fixed_offset.given && buffer->fixed_offset.bytes > ARENAUT_SIZE_MAX) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "buffer '%s': fixed offset %" PRIu64 " is past the largest, 2^63 - 1", name,
                        buffer->fixed_offset.bytes);
    }
    for (uint32_t i = 0; i < buffer->n_lifetimes; i++) {
        const arenaut_interval life = buffer->lifetimes[i];
        if (life.end < life.first) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "buffer '%s': lifetime [%" PRId64 ", %" PRId64
                            ") ends before it begins",
                            name, life.first, life.end);
        }
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_problem_add_buffer(arenaut_problem *problem, const arenaut_buffer *buffer,
                                          uint32_t *id, arenaut_error *err) {
    /* Names are made for those who fail alone. */
    if (check_buffer(buffer, "", NULL) != ARENAUT_OK) {
        char store[24];
        const char *name = arenaut_problem_buffer_name(problem, problem->n_buffers, store);
        return check_buffer(buffer, buffer->name ? buffer->name : name, err);
    }
    if (!grow_buffers(problem)) return arn_no_memory(err);
    const uint32_t b = problem->n_buffers, lifetimes = problem->n_lifetimes;
    const arenaut_status st = add_lifetimes(problem, buffer, err);
    if (st != ARENAUT_OK) return st;
    if (!store_row(problem, b, buffer)) {
        problem->n_lifetimes = lifetimes;
        return arn_no_memory(err);
    }
    problem->lifetime_start[b + 1] = problem->n_lifetimes;
    problem->n_buffers = b + 1;
    problem->store->finished = false;
    if (id) *id = b;
    return ARENAUT_OK;
}

arenaut_status arenaut_problem_add_pool(arenaut_problem *problem, const arenaut_pool *pool,
                                        uint32_t *id, arenaut_error *err) {
    const uint32_t p = problem->n_pools;
    if (p == ARENAUT_MAX_POOLS) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "more than %u pools", ARENAUT_MAX_POOLS);
    }
    const uint64_t align = pool->align ? pool->align : 1;
    if (!arn_is_power_of_two(align)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "pool '%s': alignment %" PRIu64 " is not a power of two",
                        pool->name ? pool->name : "", align);
    }
    if (pool->closed && pool->capacity != 0) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "pool '%s': is closed, and yet has a capacity of %" PRIu64 " bytes",
                        pool->name ? pool->name : "", pool->capacity);
    }
    char unnamed[24];
    snprintf(unnamed, sizeof unnamed, "pool%" PRIu32, p);
    arenaut_pool copy = *pool;
    copy.align = align;
    if (copy.capacity == 0 && !copy.closed) copy.capacity = ARENAUT_UNLIMITED;
    if (copy.capacity != ARENAUT_UNLIMITED) copy.capacity -= copy.capacity % align;
    if (copy.capacity == 0) copy.closed = true;
    if (!copy_text(problem, pool->name ? pool->name : unnamed, &copy.name) ||
        !arn_grow(&problem->store->allocator, (void **)&problem->pool, &problem->store->pools,
                  (uint64_t)p + 1, sizeof *problem->pool)) {
        return arn_no_memory(err);
    }
    problem->pool[p] = copy;
    problem->n_pools = p + 1;
    problem->store->finished = false;
    if (id) *id = p;
    return ARENAUT_OK;
}

arenaut_status arenaut_problem_add_method(arenaut_problem *problem, const char *name, uint32_t *id,
                                          arenaut_error *err) {
    const char *copy;
    if (!copy_text(problem, name, &copy) ||
        !arn_grow(&problem->store->allocator, (void **)&problem->method_name,
                  &problem->store->methods, (uint64_t)problem->n_methods + 1,
                  sizeof *problem->method_name)) {
        return arn_no_memory(err);
    }
    problem->method_name[problem->n_methods] = copy;
    if (id) *id = problem->n_methods;
    problem->n_methods++;
    return ARENAUT_OK;
}

arenaut_status arenaut_problem_add_conflict(arenaut_problem *problem, uint32_t a, uint32_t b,
                                            arenaut_error *err) {
    if (a == b) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "conflict edge from buffer %" PRIu32 " to itself", a);
    }
    if (!arn_grow(&problem->store->allocator, (void **)&problem->conflict,
                  &problem->store->conflicts, (uint64_t)problem->n_conflicts + 1,
                  sizeof *problem->conflict)) {
        return arn_no_memory(err);
    }
    const arenaut_conflict edge = {a < b ? a : b, a < b ? b : a};
    problem->conflict[problem->n_conflicts++] = edge;
    problem->store->finished = false;
    return ARENAUT_OK;
}

arenaut_status arenaut_problem_add_separation(arenaut_problem *problem,
                                              const arenaut_separation *separation,
                                              arenaut_error *err) {
    if (!arn_grow(&problem->store->allocator, (void **)&problem->separation,
                  &problem->store->separations, (uint64_t)problem->n_separations + 1,
                  sizeof *problem->separation)) {
        return arn_no_memory(err);
    }
    problem->separation[problem->n_separations++] = *separation;
    problem->store->finished = false;
    return ARENAUT_OK;
}

arenaut_status arenaut_problem_add_reserved(arenaut_problem *problem, const arenaut_reserved *range,
                                            arenaut_error *err) {
    if (range->end < range->first || range->end > ARENAUT_SIZE_MAX) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "reserved range [%" PRIu64 ", %" PRIu64 ") of pool %" PRIu32
                        " is not a range below 2^63",
                        range->first, range->end, range->pool);
    }
    if (!arn_grow(&problem->store->allocator, (void **)&problem->reserved,
                  &problem->store->reserved, (uint64_t)problem->n_reserved + 1,
                  sizeof *problem->reserved)) {
        return arn_no_memory(err);
    }
    if (range->first < range->end) problem->reserved[problem->n_reserved++] = *range;
    problem->store->finished = false;
    return ARENAUT_OK;
}

static bool conflict_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_conflict *edges = context;
    return edges[a].a != edges[b].a ? edges[a].a < edges[b].a : edges[a].b < edges[b].b;
}

static bool reserved_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_reserved *ranges = context;
    return ranges[a].pool != ranges[b].pool ? ranges[a].pool < ranges[b].pool
                                            : ranges[a].first < ranges[b].first;
}

static bool separation_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_separation *pairs = context;
    return pairs[a].upper != pairs[b].upper ? pairs[a].upper < pairs[b].upper
                                            : pairs[a].lower < pairs[b].lower;
}

static void merge_conflicts(arenaut_problem *problem) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < problem->n_conflicts; i++) {
        const arenaut_conflict edge = problem->conflict[i];
        const arenaut_conflict *last = kept ? &problem->conflict[kept - 1] : NULL;
        if (!last || last->a != edge.a || last->b != edge.b) problem->conflict[kept++] = edge;
    }
    problem->n_conflicts = kept;
}

static void merge_reserved(arenaut_problem *problem) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < problem->n_reserved; i++) {
        const arenaut_reserved range = problem->reserved[i];
        arenaut_reserved *last = kept ? &problem->reserved[kept - 1] : NULL;
        if (last && last->pool == range.pool && range.first <= last->end) {
            if (range.end > last->end) last->end = range.end;
        } else {
            problem->reserved[kept++] = range;
        }
    }
    problem->n_reserved = kept;
}

/* A buffer inside another that names no pools may lie where that one may. Each walk goes up to
 * the first buffer that names some, or is done; a cycle ends where it meets itself, and is
 * validation's to complain of. Every buffer is passed at most twice, so O(n). */
static bool inherit_pools(arenaut_problem *problem) {
    uint64_t *pools = problem->pools;
    const uint32_t *inside = problem->inside, n = problem->n_buffers;
    if (!pools || !inside) return true;
    bool *done = arn_allocate_zeroed(&problem->store->allocator, n, sizeof *done);
    if (!done) return false;
    for (uint32_t b = 0; b < n; b++) {
        uint32_t host = b;
        while (host < n && !done[host] && pools[host] == 0) {
            done[host] = true;
            host = inside[host];
        }
        const uint64_t allowed = host < n ? pools[host] : 0;
        for (uint32_t at = b; at != host && at < n && pools[at] == 0 && allowed; at = inside[at]) {
            pools[at] = allowed;
        }
    }
    arn_release(&problem->store->allocator, done);
    return true;
}

bool arenaut_problem_chooses_pools(const arenaut_problem *problem) {
    for (uint32_t b = 0; b < problem->n_buffers && problem->n_pools > 1; b++) {
        const uint64_t pools = arenaut_problem_pools(problem, b);
        if (arenaut_problem_needs_memory(problem, b) && pools & (pools - 1)) return true;
    }
    return false;
}

arenaut_status arn_problem_settle(arenaut_problem *problem, arenaut_error *err) {
    if (problem->n_pools == 0) {
        const arenaut_pool arena = {.name = "arena"};
        const arenaut_status st = arenaut_problem_add_pool(problem, &arena, NULL, err);
        if (st != ARENAUT_OK) return st;
    }
    const arenaut_allocator *allocator = &problem->store->allocator;
    if (!inherit_pools(problem) ||
        !sort_array(allocator, problem->conflict, problem->n_conflicts, sizeof *problem->conflict,
                    conflict_before) ||
        !sort_array(allocator, problem->reserved, problem->n_reserved, sizeof *problem->reserved,
                    reserved_before) ||
        !sort_array(allocator, problem->separation, problem->n_separations,
                    sizeof *problem->separation, separation_before)) {
        return arn_no_memory(err);
    }
    merge_conflicts(problem);
    merge_reserved(problem);
    problem->store->finished = true;
    return ARENAUT_OK;
}

const char *arenaut_problem_buffer_name(const arenaut_problem *problem, uint32_t buffer,
                                        char store[24]) {
    if (problem->name && buffer < problem->n_buffers && problem->name[buffer]) {
        return problem->name[buffer];
    }
    /* Not by snprintf, which costs ten times as much. */
    char *at = store + 23;
    *at = '\0';
    do *--at = (char)('0' + buffer % 10);
    while (buffer /= 10);
    return memcpy(at - 6, "buffer", 6);
}
