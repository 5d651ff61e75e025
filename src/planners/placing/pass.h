/* Passes: planners that place everything once, in one order. */
#ifndef ARN_PLANNERS_PLACING_PASS_H
#define ARN_PLANNERS_PLACING_PASS_H

#include "planners/placing/trial.h"

/* The `data` of such a row of the table. */
typedef struct arn_pass {
    const char *letters; /* of the order, "" for that of the numbers; the setting "order", where the
                          * row has it, replaces it */
    unsigned how;        /* as for arn_groups_make */
    bool by_skyline;     /* fills the lowest place first (arn_try_skyline) */
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
