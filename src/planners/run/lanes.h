/* Lanes of a deterministic parallel portfolio: attempts in parallel, with the outcome of making
 * them one after the other.
 *
 * A batch of tasks starts from the state at its begin: each looks for something better than the
 * best plan of that moment, in a lane that has a plan and a meter of its own. Then the lanes'
 * results are taken over in the order of the tasks, as if each had begun when the one before it
 * ended: results after the effort is spent, or after the goal is reached, do not count. So the
 * number of lanes changes how long it takes, and nothing else. */
#ifndef ARN_PLANNERS_RUN_LANES_H
#define ARN_PLANNERS_RUN_LANES_H

#include "core/parallel.h"
#include "planners/run/meter.h"

enum { ARN_MOST_LANES = 8 };

typedef struct arn_lane {
    arenaut_planning planning; /* with a plan of its own, that begins as a copy */
    arn_meter meter;
    uint32_t index; /* of the lane */
    /* Of the task at hand. */
    uint32_t task;
    uint64_t started; /* the meter's reading then */
    arenaut_status status;
    /* Private to lanes.c. */
    struct arn_lanes *lanes;
    arenaut_plan_options options;
    arenaut_error err;
} arn_lane;

typedef arenaut_status (*arn_lane_task)(void *context, uint32_t task, arn_lane *lane);

typedef struct arn_lanes {
    arn_meter *meter;                   /* of the plan that all lanes work for */
    const arenaut_allocator *allocator; /* for whatever lanes may use or free */
    uint32_t n;                         /* lanes that may be in use at the same time */
    /* Private to lanes.c. */
    arn_threads threads;
    arn_shared_allocator shared;
    arenaut_allocator safe;
    arn_lane lane[ARN_MOST_LANES];
    arn_lane_task run;
    void *context;
    uint32_t first_task;     /* in lane 0 */
    arenaut_cost best, goal; /* when the batch began */
    uint32_t last;           /* the last task whose outcome may still count */
    arenaut_progress seen;   /* the best figures that any lane has ever reported */
    uint64_t next_report;
    arenaut_verdict verdict;
} arn_lanes;

/* As many lanes as the options allow threads, one if the problem is small. Memory from
 * lanes->allocator must be freed before they are closed. */
void arn_lanes_open(arn_lanes *lanes, arn_meter *meter);
void arn_lanes_close(arn_lanes *lanes);

/* A batch. A task counts its effort with its lane's meter and obeys it. If the effort ends
 * before a task does, its plan does not count, unless there is none yet: so a larger effort
 * finds all that a smaller one finds. No more than lanes->n lanes are used. */
arenaut_status arn_lanes_try(arn_lanes *lanes, uint32_t n_tasks, arn_lane_task task, void *context);

/* The same for tasks that have an effort of their own to stop at: their results count whatever the
 * others spend. */
arenaut_status arn_lanes_search(arn_lanes *lanes, uint32_t n_tasks, arn_lane_task task,
                                void *context);

#endif
