/* naive: every buffer has memory of its own, one behind the other; only buffers that take over
 * their base's memory share it. The memory of a program without planning, in O(n log n); `auto`
 * falls back to it when it is stopped before it has any plan. */
#include "core/checked.h"
#include "planners/placing/buffer_groups.h"
#include "planners/run/meter.h"
#include "planners/run/planner_rows.h"

typedef struct piles {
    const arn_groups *groups;
    uint64_t end[ARENAUT_MAX_POOLS];
    uint32_t range[ARENAUT_MAX_POOLS]; /* the first reserved one that ends above that */
    arn_poll *poll;
} piles;

static void start_piles(piles *s) {
    const arenaut_problem *p = s->groups->problem;
    uint32_t r = 0; /* reserved ranges are in the order of pools and addresses */
    for (uint32_t k = 0; k < p->n_pools; k++) {
        s->end[k] = 0;
        s->range[k] = r;
        while (r < p->n_reserved && p->reserved[r].pool == k) r++;
    }
}

/* The lowest place above the pile that is clear of reserved ranges. */
static uint64_t next_place(piles *s, uint32_t pool, const arn_group *group) {
    const arenaut_problem *p = s->groups->problem;
    const uint64_t end = s->end[pool];
    uint64_t at = arn_aligned(end, group->align);
    uint32_t *low = &s->range[pool];
    while (*low < p->n_reserved && p->reserved[*low].pool == pool && p->reserved[*low].end <= end) {
        ++*low;
    }
    for (uint32_t i = *low; i < p->n_reserved && p->reserved[i].pool == pool; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->first >= at + group->extent || !arn_poll_after(s->poll, 1)) break;
        if (at < r->end) at = arn_aligned(r->end, group->align);
    }
    return at;
}

/* Writes the plan only if there is one. False if the group fits in no pool. */
static bool put_in_first_pool(piles *s, const arn_group *group, arenaut_plan *plan,
                              arenaut_cost *cost) {
    const arn_groups *groups = s->groups;
    const arenaut_problem *p = groups->problem;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!(group->pools >> k & 1)) continue;
        const bool fixed = group->fixed != ARENAUT_UNPLACED;
        const uint64_t at = fixed ? group->fixed : next_place(s, k, group);
        if (arn_poll_ended(s->poll)) return false;
        if (at + group->extent > p->pool[k].capacity) continue;
        s->end[k] = arn_max_u64(s->end[k], at + group->extent);
        cost->spill += arn_group_spill(groups, group, k);
        for (uint32_t m = 0; m < group->n_members && plan; m++) {
            const uint32_t b = groups->member[group->member + m];
            plan->pool[b] = k;
            plan->offset[b] = at + arn_groups_delta(groups, b);
        }
        return true;
    }
    return false;
}

/* ARN_NO_PLAN if something does not fit. */
static arenaut_cost pile_up(const arn_groups *groups, arenaut_plan *plan, arn_poll *poll) {
    piles s = {.groups = groups, .poll = poll};
    arenaut_cost cost = arn_plan_cost(0, 0);
    start_piles(&s);
    for (int fixed = 1; fixed >= 0; fixed--) {
        for (uint32_t i = 0; i < groups->n; i++) {
            const arn_group *group = &groups->group[i];
            if ((group->fixed != ARENAUT_UNPLACED) != fixed) continue;
            if (!put_in_first_pool(&s, group, plan, &cost)) return ARN_NO_PLAN;
        }
    }
    for (uint32_t k = 0; k < groups->problem->n_pools; k++) {
        cost.total += arn_aligned(s.end[k], groups->problem->pool[k].align);
    }
    return cost;
}

static arenaut_status make(const arenaut_planner *self, arenaut_planning *planning,
                           arn_meter *meter) {
    (void)self;
    arn_groups groups;
    const arenaut_status st = arn_groups_make(planning->problem, ARN_COLLAPSE, planning->allocator,
                                              &groups, planning->err);
    if (st != ARENAUT_OK) return st;
    arn_poll *poll = arn_meter_poll(meter);
    poll->verdict = ARENAUT_GO_ON; /* an earlier stop is polled again if this takes long */
    const arenaut_cost cost = pile_up(&groups, NULL, poll);
    arn_meter_spend(meter, groups.n);
    if (arn_meter_improves(meter, cost)) {
        pile_up(&groups, planning->plan, NULL);
        arn_meter_improved(meter, cost);
    }
    arn_groups_free(&groups);
    return ARENAUT_OK;
}

const arenaut_planner arn_planner_naive = {
    .name = "naive",
    .summary = "no reuse: each buffer has memory of its own",
    .handles = ARENAUT_FEATURE_ALL | ARENAUT_FEATURE_TOKENS,
    .run = arn_row_run,
    .attempt = &(const arn_attempt){.when = ARN_TRY_TOKENS, .turn = 6, .make = make},
};
