/* Trials: one way of placing all items, kept if it is the best so far. */
#ifndef ARN_PLANNERS_PLACING_TRIAL_H
#define ARN_PLANNERS_PLACING_TRIAL_H

#include "planners/run/meter.h"
#include "planners/placing/item_orders.h"
#include "planners/placing/placing.h"
#include "planners/placing/skyline_engine.h"

/* Items and all that is needed to order and place them. */
typedef struct arn_bench {
    const struct arn_bench *whole; /* whose items these are; NULL: its own */
    arn_region region;             /* of what is its own */
    arn_items items;
    arn_timeline timeline;
    arn_orders orders;
    uint32_t *order;      /* room for all items */
    uint64_t *offset;     /* per item: where the plain skyline put it */
    arn_placing *placing; /* made when first needed, as is the next */
    arn_skyline *skyline;
    bool by_skyline; /* the last trial left its places in `offset`, not in `placing` */
    const arenaut_allocator *allocator;
} arn_bench;

/* `how` as for arn_items_make. */
arenaut_status arn_bench_open(arn_bench *bench, const arenaut_planning *planning, unsigned how);
void arn_bench_close(arn_bench *bench);

/* Another place to work on the same items, at the same time. `whole` must outlive it. */
arenaut_status arn_bench_fork(arn_bench *fork, const arn_bench *whole,
                              const arenaut_allocator *allocator, arenaut_error *err);

/* Both place all items by bench->order and set *cost to what that costs; they give up
 * and set it to ARN_NO_PLAN when something does not fit, or the cost would pass
 * `limit`. NO_MEMORY, or OK whatever comes of it. */
arenaut_status arn_place_in_order(arn_bench *bench, arn_meter *meter, arn_rules rules,
                                  arn_cost limit, arn_cost *cost);
arenaut_status arn_place_by_skyline(arn_bench *bench, arn_meter *meter, arn_rules rules,
                                    arn_cost limit, arn_cost *cost);

/* A placement on the skyline takes as long as so many steps of other kinds: two for a few
 * items, eight for a million, most of which are not in the cache. */
uint64_t arn_steps_per_placement(uint64_t n_items);

/* Where the last trial put an item. */
uint64_t arn_bench_offset(const arn_bench *bench, uint32_t item);

/* Makes what was placed last the plan. */
void arn_keep(const arn_bench *bench, arn_meter *meter, arn_cost cost);

/* The same, kept if it makes the best plan so far. */
arenaut_status arn_try_order(arn_bench *bench, arn_meter *meter, arn_rules rules);
arenaut_status arn_try_skyline(arn_bench *bench, arn_meter *meter, arn_rules rules);

/* Whether the plain skyline can place these items at all: nothing is fixed, reserved or
 * kept apart by edges. `exactly`: and without being more careful than it has to be, by
 * filling the gaps in lifetimes or leaving relations and spare pools unused. */
bool arn_skyline_suits(const arn_bench *bench, bool share, bool exactly);

#endif
