/* Trials: one way of placing all groups, kept if it is the best so far. */
#ifndef ARN_PLANNERS_PLACING_TRIAL_H
#define ARN_PLANNERS_PLACING_TRIAL_H

#include "planners/placing/orders.h"
#include "planners/placing/placing.h"
#include "planners/placing/skyline_engine.h"
#include "planners/run/meter.h"

/* Groups and all that is needed to order and place them. */
typedef struct arn_workspace {
    const struct arn_workspace *whole; /* the one that owns the groups; NULL: itself */
    arn_region region;                 /* of its own parts */
    arn_groups groups;
    arn_timeline timeline;
    arn_orders orders;
    uint32_t *order;      /* room for all groups */
    uint64_t *offset;     /* per group: its place by the plain skyline */
    arn_placing *placing; /* made when first needed, as is the next */
    arn_skyline *skyline;
    bool by_skyline; /* the last trial left its places in `offset`, not in `placing` */
    const arenaut_allocator *allocator;
} arn_workspace;

/* `how` as for arn_groups_make. */
arenaut_status arn_workspace_open(arn_workspace *space, const arenaut_planning *planning,
                                  unsigned how);
void arn_workspace_close(arn_workspace *space);

/* Another place to work on the same groups, at the same time. `whole` must outlive it. */
arenaut_status arn_workspace_fork(arn_workspace *fork, const arn_workspace *whole,
                                  const arenaut_allocator *allocator, arenaut_error *err);

/* Whether each group is one piece, free to go anywhere in the only pool, so that offsets in
 * `offset` that keep groups alive together apart are a plan. */
bool arn_workspace_is_plain(const arn_workspace *space);

/* Makes `offset`, and the places there those of the last trial. False if there is no memory. */
bool arn_workspace_need_offsets(arn_workspace *space);

arenaut_status arn_place_by_skyline(arn_workspace *space, arn_meter *meter, arn_rules rules,
                                    arenaut_cost limit, arenaut_cost *cost);

/* A placement on the skyline costs so much effort: two for a few
 * groups, eight for a million, most of which are not in the cache. */
uint64_t arn_effort_per_placement(uint64_t n_groups);

/* The place of a group in the last trial. */
uint64_t arn_workspace_offset(const arn_workspace *space, uint32_t group);

/* Makes the last trial the plan. */
void arn_keep(const arn_workspace *space, arn_meter *meter, arenaut_cost cost);

/* The same, kept if it makes the best plan so far. */
arenaut_status arn_try_order(arn_workspace *space, arn_meter *meter, arn_rules rules);

/* ---- passes: planners that place everything once, in one order ---- */

/* The `data` of such a row of the table. */
typedef struct arn_pass {
    const char *letters; /* of the order, "" for that of the numbers; the setting "order", if the
                            row has it, replaces it */
    unsigned how;        /* as for arn_groups_make */
    bool by_skyline;     /* fills the lowest place first (arn_place_by_skyline) */
    arn_rules rules;
} arn_pass;

/* The `run` of such a row: the pass, and if the skyline has no place for something, the same order
 * without it. REFUSED if things do not fit. */
arenaut_status arn_pass_run(const arenaut_planner *self, arenaut_planning *planning);

/* Its attempt, as in run/planner_rows.h, over groups of its own. */
arenaut_status arn_pass_make(const arenaut_planner *self, arenaut_planning *planning,
                             arn_meter *meter);

/* A variant of the row's pass, kept if it makes the best plan so far: in another order (NULL: in
 * its own), over the groups of `space`, and by these rules but for the fit, which is the row's. */
arenaut_status arn_pass_vary(const arenaut_planner *row, const char *letters, arn_rules rules,
                             arn_workspace *space, arn_meter *meter);

#endif
