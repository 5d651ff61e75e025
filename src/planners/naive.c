/* naive: every buffer has memory of its own, one behind the other; only buffers that take
 * over their base's memory share it. What a program needs without planning. */
#include "core/checked.h"
#include "core/fail.h"
#include "planners/items.h"
#include "planners/meter.h"
#include "planners/settings.h"

/* The lowest place at or above `end` that is clear of reserved ranges. */
static uint64_t next_place(const arenaut_problem *p, uint32_t pool, const arn_item *item,
                           uint64_t end) {
    uint64_t at = arn_aligned(end, item->align);
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == pool && r->first < at + item->extent && at < r->end) {
            at = arn_aligned(r->end, item->align);
        }
    }
    return at;
}

static void put(const arn_items *items, const arn_item *item, arenaut_plan *plan, uint32_t pool,
                uint64_t offset, uint64_t *ends) {
    for (uint32_t m = 0; m < item->n_members; m++) {
        const uint32_t b = items->member[item->member + m];
        plan->pool[b] = pool;
        plan->offset[b] = offset + items->delta[b];
    }
    ends[pool] = arn_max_u64(ends[pool], offset + item->extent);
}

/* False if the item fits in no pool. */
static bool put_in_first_pool(const arn_items *items, const arn_item *item, arenaut_plan *plan,
                              uint64_t *ends) {
    const arenaut_problem *p = items->problem;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!(item->pools >> k & 1)) continue;
        const bool fixed = item->fixed != ARENAUT_UNPLACED;
        const uint64_t at = fixed ? item->fixed : next_place(p, k, item, ends[k]);
        if (at + item->extent > p->pool[k].capacity) continue;
        put(items, item, plan, k, at, ends);
        return true;
    }
    return false;
}

static bool place_all(const arn_items *items, arn_meter *meter) {
    uint64_t ends[ARENAUT_MAX_POOLS] = {0};
    for (int fixed = 1; fixed >= 0; fixed--) {
        for (uint32_t i = 0; i < items->n; i++) {
            const arn_item *item = &items->item[i];
            if ((item->fixed != ARENAUT_UNPLACED) != fixed) continue;
            if (!put_in_first_pool(items, item, meter->planning->plan, ends)) return false;
            arn_meter_spend(meter, 1);
        }
    }
    uint64_t total = 0;
    for (uint32_t k = 0; k < items->problem->n_pools; k++) {
        total += arn_aligned(ends[k], items->problem->pool[k].align);
    }
    arn_meter_improved(meter, total);
    return true;
}

static arenaut_status naive_run(const arenaut_planner *self, arenaut_planning *planning) {
    arenaut_status st = arn_settings_check(planning, self, NULL);
    if (st != ARENAUT_OK) return st;
    arn_items items;
    arn_meter meter = arn_meter_start(planning, self->name);
    st = arn_items_make(planning->problem, ARN_COLLAPSE, planning->allocator, &items,
                        planning->err);
    if (st != ARENAUT_OK) return st;
    place_all(&items, &meter);
    arn_items_free(&items);
    return arn_meter_finish(&meter);
}

const arenaut_planner arn_planner_naive = {
    .name = "naive",
    .summary = "no reuse: each buffer has memory of its own",
    .handles = ARENAUT_FEATURE_ALL,
    .run = naive_run,
};
