/* Trials: one way of placing all items, kept if it is the best so far. */
#ifndef ARN_PLANNERS_TRIAL_H
#define ARN_PLANNERS_TRIAL_H

#include "planners/meter.h"
#include "planners/orders.h"
#include "planners/placing.h"
#include "planners/skyline_engine.h"

/* Items and all that is needed to order and place them. */
typedef struct arn_bench {
    arn_items items;
    arn_timeline timeline;
    arn_orders orders;
    uint32_t *order;        /* room for all items */
    uint64_t *offset;       /* per item: scratch for the skyline */
    arn_placing *placing;   /* made when first needed, as is the next */
    arn_skyline *skyline;
    const arenaut_allocator *allocator;
} arn_bench;

/* `how` as for arn_items_make. */
arenaut_status arn_bench_open(arn_bench *bench, const arenaut_planning *planning, unsigned how);
void arn_bench_close(arn_bench *bench);

/* Both place all items by bench->order and keep the plan if it is the best so far. They give
 * up when something does not fit, or the arenas are no better than the best. NO_MEMORY, or
 * OK whatever comes of it. */
arenaut_status arn_try_order(arn_bench *bench, arn_meter *meter, arn_rules rules);
arenaut_status arn_try_skyline(arn_bench *bench, arn_meter *meter, arn_rules rules);

/* Whether the plain skyline can place these items at all: nothing is fixed, reserved or
 * kept apart by edges. `exactly`: and without being more careful than it has to be, by
 * filling the gaps in lifetimes or leaving relations and spare pools unused. */
bool arn_skyline_suits(const arn_bench *bench, bool share, bool exactly);

/* The whole of a planner that makes one pass in one order. REFUSED if things do not fit. */
arenaut_status arn_plan_in_order(arenaut_planning *planning, const char *planner, unsigned how,
                                 const char *letters, arn_rules rules);

#endif
