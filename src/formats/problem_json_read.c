/* Reader of the parts of a problem's or a plan's text, to a problem and the places of its buffers.
 * One pass over the text; buffers that refer to others by name cost O(log n) for each reference. */
#include <inttypes.h>

#include "core/checked.h"
#include "core/memory.h"
#include "formats/problem_json.h"
#include "ir/problem.h"

typedef struct reader {
    arn_json_reader *json;
    arenaut_problem *problem;
    arenaut_plan *plan; /* NULL: a problem alone */
    bool measured;      /* no arena of the plan is stated */
    arn_json_list methods, pools, buffers;
    arenaut_interval *lives; /* reused from buffer to buffer */
    uint32_t life_capacity;
} reader;

static bool fine(const reader *r) { return arn_json_fine(r->json); }

static const char *class_word(uint32_t k) { return arenaut_class_name((arenaut_class)k); }

/* Without given pools there is still one, which has no name. */
static uint32_t read_pool_ref(reader *r, uint32_t value, uint32_t fallback) {
    if (r->pools.n == 0) return arn_json_below(r->json, value, 1, fallback);
    return arn_json_reference(r->json, &r->pools, value, fallback);
}

/* ---- methods and pools ---- */

static void read_methods(reader *r) {
    ARN_JSON_EACH(r->json, v, r->methods.array) {
        const bool unnamed = arn_json_type_of(&r->json->json, v) == ARN_JSON_NULL;
        arn_json_hold(r->json, v);
        const char *name = unnamed ? NULL : arn_json_string(r->json, v);
        if (!fine(r)) return;
        r->json->status = arenaut_problem_add_method(r->problem, name, NULL, r->json->err);
    }
}

/* The last three are a plan's alone. */
#define POOL_KEYS(XX)                \
    XX(P_ID, "id")                   \
    XX(P_NAME, "name")               \
    XX(P_DEVICE, "device")           \
    XX(P_CAPACITY, "capacity")       \
    XX(P_ALIGN, "align")             \
    XX(P_ARENA, "arena")             \
    XX(P_LOWER_BOUND, "lower_bound") \
    XX(P_STATUS, "status")
enum { POOL_KEYS(ARN_KEY_ENUM) P_KEYS, P_PROBLEM_KEYS = P_ARENA };
static const char *const pool_keys[] = {POOL_KEYS(ARN_KEY_TEXT)};

static const char *quality_word(uint32_t k) { return arenaut_quality_name((arenaut_quality)k); }

static void read_pool(reader *r, uint32_t object, uint32_t id) {
    uint32_t v[P_KEYS] = {0};
    arn_json_members(r->json, object, pool_keys, r->plan ? P_KEYS : P_PROBLEM_KEYS, v);
    arn_json_hold(r->json, object);
    arn_json_check_id(r->json, v[P_ID], id);
    arenaut_pool pool = {0};
    pool.name = arn_json_string(r->json, v[P_NAME]);
    pool.device = arn_json_device(r->json, v[P_DEVICE]);
    pool.capacity = arn_json_size(r->json, v[P_CAPACITY], ARENAUT_UNLIMITED);
    pool.closed = pool.capacity == 0;
    pool.align = arn_json_size(r->json, v[P_ALIGN], 1);
    if (!fine(r)) return;
    arenaut_error inner = {ARENAUT_OK, 0, ""};
    arn_json_pass(r->json, object, arenaut_problem_add_pool(r->problem, &pool, NULL, &inner),
                  &inner);
    if (!r->plan || !fine(r)) return;
    r->plan->arena[id] = arn_json_size(r->json, v[P_ARENA], ARENAUT_UNPLACED);
    r->plan->lower_bound[id] = arn_json_size(r->json, v[P_LOWER_BOUND], 0);
    arn_json_word(r->json, v[P_STATUS], quality_word, 3, ARENAUT_FEASIBLE);
}

static void read_pools(reader *r) {
    uint32_t id = 0;
    ARN_JSON_EACH(r->json, v, r->pools.array) {
        read_pool(r, v, id++);
    }
}

/* ---- buffers ---- */

/* Likewise the last two. */
#define BUFFER_KEYS(XX)                  \
    XX(B_ID, "id")                       \
    XX(B_NAME, "name")                   \
    XX(B_METHOD, "method")               \
    XX(B_CLASS, "class")                 \
    XX(B_SIZE, "size")                   \
    XX(B_ALIGN, "align")                 \
    XX(B_FIRST, "first")                 \
    XX(B_END, "end")                     \
    XX(B_LIFETIMES, "lifetimes")         \
    XX(B_ALLOWED_POOLS, "allowed_pools") \
    XX(B_FIXED_OFFSET, "fixed_offset")   \
    XX(B_HINT, "hint")                   \
    XX(B_SAME_BASE_AS, "same_base_as")   \
    XX(B_INSIDE, "inside")               \
    XX(B_OP, "op")                       \
    XX(B_RELEASE, "release")             \
    XX(B_SOURCE, "source")               \
    XX(B_USES, "uses")                   \
    XX(B_POOL, "pool")                   \
    XX(B_OFFSET, "offset")
enum { BUFFER_KEYS(ARN_KEY_ENUM) B_KEYS, B_PROBLEM_KEYS = B_POOL };
static const char *const buffer_keys[] = {BUFFER_KEYS(ARN_KEY_TEXT)};

/* Lifetimes must come in order: checking a long list that is not sorted would cost its
 * square. */
static void read_lifetime_list(reader *r, uint32_t array, arenaut_buffer *buffer) {
    uint32_t n = 0;
    ARN_JSON_EACH(r->json, v, array) {
        uint32_t pair[2];
        arn_json_tuple(r->json, v, 2, pair);
        if (!arn_grow(r->json->allocator, (void **)&r->lives, &r->life_capacity, (uint64_t)n + 1,
                      sizeof *r->lives)) {
            r->json->status = arn_no_memory(r->json->err);
            return;
        }
        arenaut_interval life;
        life.first = arn_json_step(r->json, pair[0], 0);
        life.end = arn_json_step(r->json, pair[1], 0);
        if (fine(r) && n > 0 && life.first < r->lives[n - 1].end) {
            arn_json_fail(r->json, v, ARENAUT_BAD_INPUT,
                          "this lifetime begins before the one in front of it ends");
        }
        r->lives[n++] = life;
    }
    buffer->lifetimes = r->lives;
    buffer->n_lifetimes = n;
}

/* "first" and "end" say the lifetime, or the hull of the "lifetimes" that are listed. */
static void read_lifetimes(reader *r, uint32_t object, const uint32_t *v, arenaut_interval *single,
                           arenaut_buffer *buffer) {
    if (v[B_LIFETIMES] == ARN_JSON_NONE) {
        arn_json_require(r->json, object, v[B_FIRST], "first");
        arn_json_require(r->json, object, v[B_END], "end");
        single->first = arn_json_step(r->json, v[B_FIRST], 0);
        single->end = arn_json_step(r->json, v[B_END], 0);
        buffer->lifetimes = single;
        buffer->n_lifetimes = 1;
        return;
    }
    read_lifetime_list(r, v[B_LIFETIMES], buffer);
    if (!fine(r)) return;
    const uint32_t n = buffer->n_lifetimes;
    const int64_t first = n ? buffer->lifetimes[0].first : 0;
    const int64_t end = n ? buffer->lifetimes[n - 1].end : 0;
    if (arn_json_step(r->json, v[B_FIRST], first) != first ||
        arn_json_step(r->json, v[B_END], end) != end) {
        arn_json_fail(r->json, v[B_LIFETIMES], ARENAUT_BAD_INPUT,
                      "'first' and 'end' are not where these begin and end");
    }
}

static void read_allowed_pools(reader *r, uint32_t array, arenaut_buffer *buffer) {
    if (array == ARN_JSON_NONE) return;
    ARN_JSON_EACH(r->json, v, array) {
        const uint32_t pool = read_pool_ref(r, v, 0);
        if (fine(r) && pool < ARENAUT_MAX_POOLS) buffer->pools |= UINT64_C(1) << pool;
    }
    if (fine(r) && buffer->pools == 0) {
        arn_json_fail(r->json, array, ARENAUT_BAD_INPUT,
                      "no pool is allowed; leave it out to allow every pool");
    }
}

static arenaut_optional_id read_id(reader *r, arn_json_list *list, uint32_t value) {
    return arenaut_id(arn_json_reference(r->json, list, value, ARENAUT_NONE));
}

static void read_inside(reader *r, uint32_t object, arenaut_buffer *buffer) {
    static const char *const keys[] = {"buffer", "delta"};
    if (!fine(r) || object == ARN_JSON_NONE) return;
    uint32_t v[2];
    arn_json_members(r->json, object, keys, 2, v);
    arn_json_require(r->json, object, v[0], keys[0]);
    buffer->inside = read_id(r, &r->buffers, v[0]);
    buffer->inside_delta = arn_json_size(r->json, v[1], 0);
}

static void read_place(reader *r, const uint32_t *v, uint32_t id) {
    if (!r->plan || !fine(r)) return;
    /* With one pool, an offset is enough. */
    const bool only = r->pools.n <= 1 && v[B_OFFSET] != ARN_JSON_NONE;
    r->plan->pool[id] = read_pool_ref(r, v[B_POOL], only ? 0 : ARENAUT_NONE);
    r->plan->offset[id] = arn_json_size(r->json, v[B_OFFSET], 0);
    if (v[B_POOL] != ARN_JSON_NONE) arn_json_require(r->json, v[B_POOL], v[B_OFFSET], "offset");
}

static void read_uses(reader *r, uint32_t value, arenaut_buffer *buffer) {
    const uint64_t uses = arn_json_size(r->json, value, 1);
    if (fine(r) && (uses == 0 || uses > UINT32_MAX)) {
        arn_json_fail(r->json, value, ARENAUT_BAD_INPUT,
                      "uses are %" PRIu64 "; there must be 1 to %" PRIu32, uses, UINT32_MAX);
    }
    buffer->uses = (uint32_t)uses;
}

static void read_buffer(reader *r, uint32_t object, uint32_t id) {
    uint32_t v[B_KEYS] = {0};
    arn_json_reader *json = r->json;
    arenaut_interval single = {0, 0};
    arenaut_buffer buffer = {0};
    arn_json_members(json, object, buffer_keys, r->plan ? B_KEYS : B_PROBLEM_KEYS, v);
    arn_json_hold(json, object);
    arn_json_require(json, object, v[B_SIZE], "size");
    arn_json_check_id(r->json, v[B_ID], id);
    buffer.name = arn_json_string(json, v[B_NAME]);
    buffer.op = arn_json_string(json, v[B_OP]);
    buffer.source = arn_json_string(json, v[B_SOURCE]);
    buffer.method = read_id(r, &r->methods, v[B_METHOD]);
    buffer.cls = (arenaut_class)arn_json_word(json, v[B_CLASS], class_word, ARENAUT_CLASS_COUNT,
                                              ARENAUT_INTERMEDIATE);
    buffer.size = arn_json_size(json, v[B_SIZE], 0);
    buffer.align = arn_json_size(json, v[B_ALIGN], 1);
    read_uses(r, v[B_USES], &buffer);
    read_lifetimes(r, object, v, &single, &buffer);
    read_allowed_pools(r, v[B_ALLOWED_POOLS], &buffer);
    buffer.fixed_offset = arenaut_at(arn_json_size(json, v[B_FIXED_OFFSET], ARENAUT_UNPLACED));
    buffer.hint = arenaut_at(arn_json_size(json, v[B_HINT], ARENAUT_UNPLACED));
    buffer.same_base = read_id(r, &r->buffers, v[B_SAME_BASE_AS]);
    read_inside(r, v[B_INSIDE], &buffer);
    buffer.release = arn_json_below(json, v[B_RELEASE], ARENAUT_NONE, 0);
    read_place(r, v, id);
    if (!fine(r)) return;
    arenaut_error inner = {ARENAUT_OK, 0, ""};
    arn_json_pass(json, object, arenaut_problem_add_buffer(r->problem, &buffer, NULL, &inner),
                  &inner);
}

static void read_buffers(reader *r) {
    uint32_t id = 0;
    ARN_JSON_EACH(r->json, v, r->buffers.array) {
        read_buffer(r, v, id++);
    }
}

/* ---- edges and reserved ranges ---- */

static void read_edges(reader *r, uint32_t array) {
    ARN_JSON_EACH(r->json, v, array) {
        uint32_t pair[2];
        arn_json_tuple(r->json, v, 2, pair);
        const uint32_t a = arn_json_reference(r->json, &r->buffers, pair[0], 0);
        const uint32_t b = arn_json_reference(r->json, &r->buffers, pair[1], 0);
        if (!fine(r)) return;
        arenaut_error inner = {ARENAUT_OK, 0, ""};
        arn_json_pass(r->json, v, arenaut_problem_add_conflict(r->problem, a, b, &inner), &inner);
    }
}

static void read_separations(reader *r, uint32_t array) {
    static const char *const keys[] = {"upper", "lower", "distance"};
    for (uint32_t v = arn_json_elements(r->json, array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json->json, array, v)) {
        uint32_t m[3];
        arn_json_members(r->json, v, keys, 3, m);
        for (uint32_t k = 0; k < 3; k++) arn_json_require(r->json, v, m[k], keys[k]);
        arenaut_separation pair;
        pair.upper = arn_json_reference(r->json, &r->buffers, m[0], 0);
        pair.lower = arn_json_reference(r->json, &r->buffers, m[1], 0);
        pair.distance = arn_json_step(r->json, m[2], 0);
        if (!fine(r)) return;
        arenaut_error inner = {ARENAUT_OK, 0, ""};
        arn_json_pass(r->json, v, arenaut_problem_add_separation(r->problem, &pair, &inner),
                      &inner);
    }
}

static void read_reserved(reader *r, uint32_t array) {
    static const char *const keys[] = {"pool", "first", "end"};
    ARN_JSON_EACH(r->json, v, array) {
        uint32_t m[3];
        arn_json_members(r->json, v, keys, 3, m);
        for (uint32_t k = 0; k < 3; k++) arn_json_require(r->json, v, m[k], keys[k]);
        arenaut_reserved range;
        range.pool = read_pool_ref(r, m[0], 0);
        range.first = arn_json_size(r->json, m[1], 0);
        range.end = arn_json_size(r->json, m[2], 0);
        if (!fine(r)) return;
        arenaut_error inner = {ARENAUT_OK, 0, ""};
        arn_json_pass(r->json, v, arenaut_problem_add_reserved(r->problem, &range, &inner), &inner);
    }
}

static const char *trait_word(uint32_t k) { return arn_problem_trait_name(k); }

static void read_traits(reader *r, uint32_t array) {
    ARN_JSON_EACH(r->json, v, array) {
        r->problem->traits |= UINT32_C(1)
                              << arn_json_word(r->json, v, trait_word, ARENAUT_PROBLEM_TRAITS, 0);
    }
}

/* ---- the whole ---- */

/* Arenas that the text does not state are measured; stated ones are for the checker. */
static void complete_arenas(reader *r) {
    arenaut_plan *plan = r->plan;
    uint64_t stated[ARENAUT_MAX_POOLS];
    r->measured = true;
    for (uint32_t p = 0; p < plan->n_pools; p++) {
        stated[p] = plan->arena[p];
        r->measured = r->measured && stated[p] == ARENAUT_UNPLACED;
    }
    r->json->status = arenaut_plan_measure(plan, r->problem, r->json->err);
    if (!fine(r)) return;
    plan->total = plan->total_bound = 0;
    for (uint32_t p = 0; p < plan->n_pools; p++) {
        if (stated[p] != ARENAUT_UNPLACED) plan->arena[p] = stated[p];
        if (!arn_add(plan->total, plan->arena[p], &plan->total)) {
            r->json->status = arn_fail(r->json->err, ARENAUT_TOO_LARGE, 0,
                                       "the arenas together pass 2^63 - 1 bytes");
            return;
        }
    }
}

static void read_all(reader *r, const arn_problem_parts *parts, bool with_plan) {
    arn_json_reader *json = r->json;
    r->methods = arn_json_list_of(json, parts->methods, "method");
    r->pools = arn_json_list_of(json, parts->pools, "pool");
    r->buffers = arn_json_list_of(json, parts->buffers, "buffer");
    if (fine(r) && r->pools.n > ARENAUT_MAX_POOLS) {
        arn_json_fail(json, parts->pools, ARENAUT_BAD_INPUT, "%" PRIu32 " pools; at most %u",
                      r->pools.n, ARENAUT_MAX_POOLS);
    }
    if (fine(r)) json->status = arenaut_problem_new(json->allocator, &r->problem, json->err);
    if (fine(r) && with_plan) {
        const uint32_t n_pools = r->pools.n ? r->pools.n : 1; /* finish adds one */
        json->status =
            arenaut_plan_new(r->buffers.n, n_pools, json->allocator, &r->plan, json->err);
        if (fine(r)) r->plan->arena[0] = ARENAUT_UNPLACED;
    }
    if (!fine(r)) return;
    read_traits(r, parts->traits);
    read_methods(r);
    read_pools(r);
    read_buffers(r);
    read_edges(r, parts->edges);
    read_separations(r, parts->separations);
    read_reserved(r, parts->reserved);
    if (fine(r)) json->status = arenaut_problem_finish(r->problem, json->err);
    if (fine(r) && with_plan) complete_arenas(r);
}

void arn_problem_json_read_parts(arn_json_reader *json, const arn_problem_parts *parts,
                                 arenaut_problem **problem, arenaut_plan **plan, bool *measured) {
    reader r = {.json = json};
    read_all(&r, parts, plan != NULL);
    arn_release(json->allocator, r.lives);
    if (fine(&r)) {
        *problem = r.problem;
        if (plan) *plan = r.plan;
        if (measured) *measured = r.measured;
    } else {
        arenaut_problem_free(r.problem);
        arenaut_plan_free(r.plan);
    }
}
