/* A plan as tokens: whole blocks of memory, each for one buffer at a time. Buffers at one offset
 * are one token, as long as the longest; partial overlap is refused. O(n log n). Planning tokens is
 * the planners' work (src/planners/tokens). */
#include <arenaut/tokens.h>

#include <inttypes.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"

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
    arn_release(allocator, tokens->bytes);
    arn_release(allocator, tokens->pool);
    arn_release(allocator, tokens->of);
    *tokens = (arenaut_tokens){0};
}
