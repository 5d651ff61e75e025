/* A list of tokens that grow as buffers join them, and that are laid end to end when it is done.
 * The replicas of TVM and of Static Runtime fill such lists; shared_objects.c packs tokens as well
 * as can be (token_packing.h). O(1) for each buffer. */
#include "planners/tokens/token_list.h"

#include "core/checked.h"
#include "ir/lifetimes.h"

bool arn_token_list_make(const arenaut_planning *planning, arn_token_list *tokens) {
    const uint32_t n = planning->problem->n_buffers;
    arn_region_init(&tokens->region, planning->allocator);
    tokens->n = 0;
    if (!ARN_REGION_ARRAYS(&tokens->region, ARN_ARRAY(tokens->of, n), ARN_ARRAY(tokens->pool, n),
                           ARN_ARRAY(tokens->size, n), ARN_ARRAY(tokens->align, n),
                           ARN_ARRAY(tokens->start, n))) {
        return false;
    }
    for (uint32_t b = 0; b < n; b++) tokens->of[b] = ARENAUT_NONE;
    return true;
}

int64_t arn_token_list_birth(const arenaut_problem *p, uint32_t buffer) {
    return arenaut_problem_lifetimes(p, buffer)->first;
}

int64_t arn_token_list_death(const arenaut_problem *p, uint32_t buffer) {
    const uint32_t last = arenaut_problem_lifetime_count(p, buffer) - 1;
    return arenaut_problem_lifetimes(p, buffer)[last].end;
}

bool arn_token_list_born_before(const void *problem, uint32_t a, uint32_t b) {
    return arn_token_list_birth(problem, a) < arn_token_list_birth(problem, b);
}

uint32_t arn_token_list_add(const arenaut_problem *p, arn_token_list *tokens, uint32_t buffer) {
    const uint32_t token = tokens->n++;
    tokens->pool[token] = arn_lowest_pool(p, buffer);
    tokens->size[token] = 0;
    tokens->align[token] = 1;
    arn_token_list_join(p, tokens, token, buffer);
    return token;
}

void arn_token_list_join(const arenaut_problem *p, arn_token_list *tokens, uint32_t token,
                         uint32_t buffer) {
    tokens->of[buffer] = token;
    tokens->size[token] = arn_max_u64(tokens->size[token], p->size[buffer]);
    tokens->align[token] = arn_max_u64(tokens->align[token], arenaut_problem_align(p, buffer));
}

/* Lays them end to end. Returns the sum of the arenas; ARENAUT_UNPLACED if a pool is too
 * small. The sizes of a valid problem add up without overflow. */
static uint64_t stack(const arenaut_problem *p, arn_token_list *tokens) {
    uint64_t end[ARENAUT_MAX_POOLS] = {0}, total = 0;
    for (uint32_t k = 0; k < tokens->n; k++) {
        tokens->start[k] = arn_aligned(end[tokens->pool[k]], tokens->align[k]);
        end[tokens->pool[k]] = tokens->start[k] + tokens->size[k];
    }
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (end[k] > p->pool[k].capacity) return ARENAUT_UNPLACED;
        total += arn_aligned(end[k], p->pool[k].align);
    }
    return total;
}

void arn_token_list_keep(arn_meter *meter, arn_token_list *tokens) {
    const arenaut_problem *p = meter->planning->problem;
    arenaut_plan *plan = meter->planning->plan;
    const uint64_t total = stack(p, tokens);
    const arenaut_cost cost = arn_plan_cost(0, total); /* each is in the fastest of its pools */
    if (total == ARENAUT_UNPLACED || !arn_meter_improves(meter, cost)) return;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (tokens->of[b] == ARENAUT_NONE) continue;
        plan->pool[b] = tokens->pool[tokens->of[b]];
        plan->offset[b] = tokens->start[tokens->of[b]];
    }
    arn_meter_improved(meter, cost);
}
