#include "planners/trial.h"

#include "core/fail.h"

arenaut_status arn_bench_open(arn_bench *bench, const arenaut_planning *planning, unsigned how) {
    const arn_bench empty = {.allocator = planning->allocator};
    *bench = empty;
    const arenaut_status st = arn_items_make(planning->problem, how, planning->allocator,
                                             &bench->items, planning->err);
    if (st != ARENAUT_OK) return st;
    arn_region *region = &bench->items.region;
    bench->order = arn_region_allocate(region, bench->items.n, sizeof *bench->order);
    bench->placing = arn_placing_new(&bench->items, planning->allocator);
    if (bench->order && bench->placing &&
        arn_timeline_make(&bench->items, region, &bench->timeline) &&
        arn_orders_init(&bench->orders, &bench->items, &bench->timeline, region)) {
        return ARENAUT_OK;
    }
    arn_bench_close(bench);
    return arn_no_memory(planning->err);
}

void arn_bench_close(arn_bench *bench) {
    arn_placing_free(bench->placing);
    arn_items_free(&bench->items);
    bench->placing = NULL;
}

arenaut_status arn_try_order(arn_bench *bench, arn_meter *meter, arn_rules rules) {
    arn_placing *placing = bench->placing;
    arn_placing_clear(placing);
    for (uint32_t i = 0; i < bench->items.n; i++) {
        if (!arn_placing_place(placing, bench->order[i], rules)) {
            return arn_placing_out_of_memory(placing) ? arn_no_memory(meter->planning->err)
                                                      : ARENAUT_OK;
        }
        const bool go_on = arn_meter_spend(meter, 1) || meter->best == ARENAUT_UNPLACED;
        if (!go_on || !arn_meter_improves(meter, arn_placing_total(placing))) return ARENAUT_OK;
    }
    arn_placing_export(placing, meter->planning->plan->pool, meter->planning->plan->offset);
    arn_meter_improved(meter, arn_placing_total(placing));
    return ARENAUT_OK;
}

arenaut_status arn_plan_in_order(arenaut_planning *planning, const char *planner, unsigned how,
                                 const char *letters, arn_rules rules) {
    arn_bench bench;
    arn_meter meter = arn_meter_start(planning, planner);
    arenaut_status st = arn_bench_open(&bench, planning, how);
    if (st != ARENAUT_OK) return st;
    arn_orders_sort(&bench.orders, letters, bench.order);
    st = arn_try_order(&bench, &meter, rules);
    arn_bench_close(&bench);
    return st == ARENAUT_OK ? arn_meter_finish(&meter) : st;
}
