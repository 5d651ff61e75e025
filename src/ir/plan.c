/* Plans: made, measured, freed, and as tokens. A plan is filled by a planner and all figures about
 * it are worked out here: arenas and totals follow from offsets, in O(buffers). */
#include <inttypes.h>

#include <arenaut/plan.h>
#include <arenaut/result.h>
#include <arenaut/tokens.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/problem.h"
#include "ir/result.h"
#include "ir/store.h"

struct arenaut_plan_store {
    arn_region region;
    arenaut_plan plan;
};

arenaut_status arenaut_plan_new(uint32_t n_buffers, uint32_t n_pools,
                                const arenaut_allocator *allocator, arenaut_plan **out,
                                arenaut_error *err) {
    struct arenaut_plan_store *store = arn_allocate_zeroed(allocator, 1, sizeof *store);
    if (!store) return arn_no_memory(err);
    arn_region_init(&store->region, allocator);
    arenaut_plan *plan = &store->plan;
    plan->store = store;
    plan->n_buffers = n_buffers;
    plan->n_pools = n_pools;
    plan->quality = ARENAUT_FEASIBLE;
    plan->stopped_by = ARENAUT_STOP_END;
    plan->planner = "";
    plan->witness.pool = ARENAUT_NONE;
    if (!ARN_REGION_ARRAYS(&store->region, ARN_ARRAY(plan->pool, n_buffers),
                           ARN_ARRAY(plan->offset, n_buffers), ARN_ARRAY(plan->arena, n_pools),
                           ARN_ARRAY(plan->lower_bound, n_pools))) {
        arenaut_plan_free(plan);
        return arn_no_memory(err);
    }
    for (uint32_t b = 0; b < n_buffers; b++) plan->pool[b] = ARENAUT_NONE;
    *out = plan;
    return ARENAUT_OK;
}

void arenaut_plan_free(arenaut_plan *plan) {
    if (!plan) return;
    struct arenaut_plan_store *store = plan->store;
    const arenaut_allocator allocator = store->region.allocator;
    arn_release(&allocator, plan->witness.buffers);
    arn_region_free(&store->region);
    arn_release(&allocator, store);
}

void arn_plan_call_feasible(arenaut_plan *plan) {
    plan->quality = ARENAUT_FEASIBLE;
    if (plan->stopped_by == ARENAUT_STOP_PROOF) plan->stopped_by = ARENAUT_STOP_END;
}

void arn_plan_use_allocator(arenaut_plan *plan, const arenaut_allocator *allocator) {
    if (plan) plan->store->region.allocator = arn_allocator_or_default(allocator);
}

void *arn_plan_allocate(arenaut_plan *plan, size_t n, size_t size) {
    return arn_region_allocate(&plan->store->region, n, size);
}

const char *arn_plan_copy_text(arenaut_plan *plan, const char *text, size_t length) {
    return arn_region_copy_text(&plan->store->region, text, length);
}

static arenaut_status too_large(const arenaut_problem *problem, uint32_t b, arenaut_error *err) {
    char store[24];
    return arn_fail(err, ARENAUT_TOO_LARGE, 0, "buffer '%s' ends past byte 2^63",
                    arenaut_problem_buffer_name(problem, b, store));
}

/* Here the problem need not be a valid one, and the plan may use pools it must not. */
static arenaut_status measure_spill(arenaut_plan *plan, const arenaut_problem *problem,
                                    arenaut_error *err) {
    plan->spill = 0;
    for (uint32_t b = 0; b < plan->n_buffers; b++) {
        const uint32_t p = plan->pool[b];
        if (p >= plan->n_pools || !arenaut_problem_needs_memory(problem, b)) continue;
        uint64_t spill;
        if (!arn_multiply(problem->size[b], arenaut_problem_uses(problem, b), &spill) ||
            !arn_multiply(spill, arn_problem_rank(problem, b, p), &spill) ||
            !arn_add(plan->spill, spill, &plan->spill)) {
            return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                            "the buffers spill more than 2^63 - 1 byte-uses into slower pools");
        }
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_plan_measure(arenaut_plan *plan, const arenaut_problem *problem,
                                    arenaut_error *err) {
    for (uint32_t p = 0; p < plan->n_pools; p++) plan->arena[p] = 0;
    for (uint32_t b = 0; b < plan->n_buffers; b++) {
        const uint32_t p = plan->pool[b];
        if (p >= plan->n_pools || !arenaut_problem_needs_memory(problem, b)) continue;
        uint64_t end;
        if (!arn_add(plan->offset[b], problem->size[b], &end)) return too_large(problem, b, err);
        plan->arena[p] = arn_max_u64(plan->arena[p], end);
    }
    plan->total = 0;
    for (uint32_t p = 0; p < plan->n_pools; p++) {
        if (!arn_align_up(plan->arena[p], problem->pool[p].align, &plan->arena[p]) ||
            !arn_add(plan->total, plan->arena[p], &plan->total)) {
            return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the arenas together pass 2^63 bytes");
        }
    }
    return measure_spill(plan, problem, err);
}

uint32_t arenaut_result_rounded(const arenaut_result *result) {
    return result->rewrite ? result->rewrite->n_rounded : result->n_rounded;
}

static bool is_of_file(const uint32_t *ops, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (ops[i] != i) return false;
    }
    return true;
}

arenaut_given_ops arenaut_result_ops(const arenaut_result *result) {
    const arenaut_rewrite *r = result->rewrite;
    if (!r) return result->given_ops;
    const bool tiled = arenaut_rewrite_is_tiled(r);
    arenaut_given_ops ops = {.schedule = tiled ? r->tiles : r->ops,
                             .n_schedule = r->n_ops,
                             .joined = result->given_ops.joined,
                             .n_joined = result->given_ops.n_joined};
    if (tiled) {
        ops.tiles = r->stages;
        ops.n_tiles = r->n_stages;
    }
    if (r->n_copied > 0) {
        ops.copied = r->copied;
        ops.n_copied = r->n_copied;
    }
    if (!ops.schedule || is_of_file(ops.schedule, r->n_ops)) {
        ops.schedule = NULL;
        ops.n_schedule = 0;
    }
    return ops;
}

static bool stands_on_kernels(const arenaut_problem *p) {
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_same_base(p, b) != ARENAUT_NONE) return true;
    }
    return p->n_separations > 0;
}

const arenaut_kernel_set *arenaut_result_kernels(const arenaut_result *result) {
    return stands_on_kernels(result->problem) ? result->kernels : NULL;
}

arenaut_given_kernels arn_result_made_for(const arenaut_result *result) {
    if (!result->kernels) return result->given_kernels;
    return (arenaut_given_kernels){.name = result->kernels->name, .unmeasured = result->unmeasured};
}

const char *arenaut_result_kernels_name(const arenaut_result *result) {
    return stands_on_kernels(result->problem) ? arn_result_made_for(result).name : NULL;
}

/* A plan as tokens: whole blocks of memory, each for one buffer at a time. Buffers at one offset
 * are one token, as long as the longest; partial overlap is refused. O(n log n). Planning tokens is
 * the planners' work (src/planners/tokens). */

typedef struct view {
    const arenaut_problem *problem;
    const arenaut_plan *plan;
} view;

static bool lies_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_plan *plan = ((const view *)context)->plan;
    if (plan->pool[a] != plan->pool[b]) return plan->pool[a] < plan->pool[b];
    return plan->offset[a] < plan->offset[b];
}

static bool born_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_problem *p = ((const view *)context)->problem;
    return arenaut_problem_lifetimes(p, a)->first < arenaut_problem_lifetimes(p, b)->first;
}

static arenaut_status refuse(const view *v, uint32_t a, uint32_t b, arenaut_error *err) {
    const arenaut_problem *p = v->problem;
    char store_a[24], store_b[24];
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "'%.60s' at [%" PRIu64 ", %" PRIu64 ") and '%.60s' at [%" PRIu64 ", %" PRIu64
                    ") would be parts of one token, and tokens have no parts; 'shared-objects' "
                    "plans without",
                    arenaut_problem_buffer_name(p, a, store_a), v->plan->offset[a],
                    v->plan->offset[a] + p->size[a], arenaut_problem_buffer_name(p, b, store_b),
                    v->plan->offset[b], v->plan->offset[b] + p->size[b]);
}

/* Puts buffers that begin together into one group, by address, and gives each its group. */
static arenaut_status group(const view *v, const uint32_t *order, uint32_t n, uint32_t *group_of,
                            arenaut_error *err) {
    const arenaut_plan *plan = v->plan;
    uint32_t longest = n ? order[0] : 0, count = 0; /* the one that reaches furthest so far */
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = order[i];
        const uint64_t reach = plan->offset[longest] + v->problem->size[longest];
        const bool apart = plan->pool[b] != plan->pool[longest] || reach <= plan->offset[b];
        if (i > 0 && !apart && plan->offset[b] != plan->offset[longest]) {
            return refuse(v, longest, b, err);
        }
        if (i > 0 && apart) count++;
        group_of[b] = count;
        if (apart || plan->offset[b] + v->problem->size[b] > reach) longest = b;
    }
    return ARENAUT_OK;
}

/* Renumbers groups by the first of their buffers to come alive. */
static void number(const view *v, const uint32_t *order, uint32_t n, uint32_t *token_of_group,
                   arenaut_tokens *out) {
    for (uint32_t i = 0; i < n; i++) token_of_group[i] = ARENAUT_NONE;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = order[i];
        uint32_t *token = &token_of_group[out->of[b]];
        if (*token == ARENAUT_NONE) {
            *token = out->n++;
            out->bytes[*token] = 0;
            out->pool[*token] = v->plan->pool[b];
        }
        out->of[b] = *token;
        out->bytes[*token] = arn_max_u64(out->bytes[*token], v->problem->size[b]);
    }
    for (uint32_t k = 0; k < out->n; k++) out->total += out->bytes[k];
}

arenaut_status arenaut_tokens_find(const arenaut_problem *problem, const arenaut_plan *plan,
                                   const arenaut_allocator *allocator, arenaut_tokens *out,
                                   arenaut_error *err) {
    const view v = {problem, plan};
    const uint32_t n_buffers = problem->n_buffers;
    arenaut_tokens tokens = {.n_buffers = n_buffers};
    tokens.bytes = arn_allocate(allocator, n_buffers, sizeof *tokens.bytes);
    tokens.pool = arn_allocate(allocator, n_buffers, sizeof *tokens.pool);
    tokens.of = arn_allocate(allocator, n_buffers, sizeof *tokens.of);
    uint32_t *order = arn_allocate(allocator, n_buffers, 2 * sizeof *order), n = 0;
    const bool made = tokens.bytes && tokens.pool && tokens.of && order;
    for (uint32_t b = 0; b < n_buffers && made; b++) {
        tokens.of[b] = ARENAUT_NONE;
        if (arenaut_problem_needs_memory(problem, b)) order[n++] = b;
    }
    arenaut_status st = made ? ARENAUT_OK : arn_no_memory(err);
    if (st == ARENAUT_OK) {
        arn_sort_ids(order, n, lies_before, &v, order + n_buffers);
        st = group(&v, order, n, tokens.of, err);
    }
    if (st == ARENAUT_OK) {
        for (uint32_t b = 0, k = 0; b < n_buffers; b++) {
            if (tokens.of[b] != ARENAUT_NONE) order[k++] = b; /* by number among equals */
        }
        arn_sort_ids(order, n, born_before, &v, order + n_buffers);
        number(&v, order, n, order + n_buffers, &tokens);
        *out = tokens;
    } else {
        arenaut_tokens_free(&tokens, allocator);
    }
    arn_release(allocator, order);
    return st;
}

void arenaut_tokens_free(arenaut_tokens *tokens, const arenaut_allocator *allocator) {
    ARN_RELEASE(allocator, tokens->bytes, tokens->pool, tokens->of);
    *tokens = (arenaut_tokens){0};
}
