/* shared-objects: blocks of memory that buffers share one after another, each from its start,
 * so that the blocks add up to as little as can be. What runtimes need whose plans name a
 * block for each value, and no place in it.
 *
 * The largest block is as large as the largest buffer, the second as the second largest that
 * is alive together with others, and so on: that is a bound, and mostly the answer. */
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "planners/incumbents.h"
#include "planners/objects/objects.h"
#include "planners/settings.h"

extern const arenaut_planner arn_planner_shared_objects;

typedef struct pools {
    arenaut_planning *planning;
    arn_objects *objects; /* per pool */
    uint32_t n;           /* made so far */
    arn_tokens tokens;
} pools;

/* Blocks are numbered from large to small. */
static void gather(pools *s, uint32_t *token_of_block) {
    const arenaut_problem *p = s->planning->problem;
    s->tokens.n = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        const arn_objects *o = &s->objects[k];
        for (uint32_t i = 0; i < o->best.n_blocks; i++) token_of_block[i] = ARENAUT_NONE;
        for (uint32_t i = 0; i < o->n; i++) {
            uint32_t *token = &token_of_block[o->best.block[i]];
            if (*token == ARENAUT_NONE)
                *token = arn_tokens_add(p, &s->tokens, o->buffer[i]);
            else
                arn_tokens_join(p, &s->tokens, *token, o->buffer[i]);
        }
    }
}

/* What is proven of a problem whose memory comes in tokens holds for no other: elsewhere
 * buffers could share parts of a block. */
static void take_bounds(const pools *s, arn_meter *meter) {
    const arenaut_problem *p = s->planning->problem;
    arenaut_plan *plan = s->planning->plan;
    uint64_t total = 0;
    if (!(p->traits & ARENAUT_PROBLEM_TOKENS)) return;
    for (uint32_t k = 0; k < s->n; k++) {
        const uint64_t bound = arn_aligned(s->objects[k].bound, p->pool[k].align);
        if (bound > plan->lower_bound[k]) plan->lower_bound[k] = bound;
        total += bound;
    }
    if (total <= plan->total_bound) return;
    plan->total_bound = total;
    if (!s->planning->options->capacity) meter->goal = total;
}

static arenaut_status solve(pools *s, arn_meter *meter, uint32_t *room) {
    arenaut_planning *planning = s->planning;
    const uint32_t n_pools = planning->problem->n_pools;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t k = 0; k < n_pools && st == ARENAUT_OK; k++) {
        st = arn_objects_make(planning, k, &s->objects[s->n++]);
        if (st == ARENAUT_OK) st = arn_objects_start(planning, &s->objects[k]);
    }
    if (st != ARENAUT_OK) return st;
    take_bounds(s, meter);
    gather(s, room);
    arn_tokens_keep(meter, &s->tokens);
    for (uint32_t k = 0; k < n_pools && st == ARENAUT_OK && arn_meter_goes_on(meter); k++) {
        st = arn_objects_improve(meter, planning->options->effort / n_pools + 1, &s->objects[k]);
        gather(s, room);
        arn_tokens_keep(meter, &s->tokens);
    }
    if (st == ARENAUT_OK) take_bounds(s, meter);
    return st;
}

static arenaut_status try_shared_objects(arenaut_planning *planning, arn_meter *meter) {
    const arenaut_problem *p = planning->problem;
    pools s = {.planning = planning};
    uint32_t *room = arn_allocate(planning->allocator, p->n_buffers, sizeof *room);
    s.objects = arn_allocate(planning->allocator, p->n_pools, sizeof *s.objects);
    const bool made = room && s.objects && arn_tokens_make(planning, &s.tokens);
    arenaut_status st = made ? solve(&s, meter, room) : arn_no_memory(planning->err);
    for (uint32_t k = 0; k < s.n; k++) arn_objects_free(&s.objects[k]);
    if (made) arn_tokens_free(planning, &s.tokens);
    arn_release(planning->allocator, s.objects);
    arn_release(planning->allocator, room);
    return st;
}

static arenaut_status shared_objects_run(const arenaut_planner *self, arenaut_planning *planning) {
    return arn_run_incumbent(self, planning, try_shared_objects);
}

arenaut_status arn_share_tokens(arenaut_planning *planning, arn_meter *meter) {
    meter->planner = arn_planner_shared_objects.name;
    if (planning->problem->n_reserved > 0) {
        return arn_fail(planning->err, ARENAUT_REFUSED, 0,
                        "memory in whole tokens cannot be kept clear of reserved ranges");
    }
    const arenaut_status st = try_shared_objects(planning, meter);
    return st == ARENAUT_OK ? arn_meter_finish(meter) : st;
}

const arenaut_planner arn_planner_shared_objects = {
    .name = "shared-objects",
    .summary = "whole blocks that buffers share, as small in sum as can be",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_POOLS |
               ARENAUT_FEATURE_CAPACITY | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_CONFLICTS |
               ARENAUT_FEATURE_HINTS | ARENAUT_FEATURE_TOKENS,
    .run = shared_objects_run,
};
