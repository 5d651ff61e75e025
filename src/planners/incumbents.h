/* What runtimes do by themselves, as trials that `auto` makes too. */
#ifndef ARN_PLANNERS_INCUMBENTS_H
#define ARN_PLANNERS_INCUMBENTS_H

#include "planners/meter.h"

/* Each for problems with no feature outside its planner's `handles`. */
arenaut_status arn_try_tflm_greedy(arenaut_planning *planning, arn_meter *meter);
arenaut_status arn_try_tflite_arena(arenaut_planning *planning, arn_meter *meter);
arenaut_status arn_try_naive(arenaut_planning *planning, arn_meter *meter);

#endif
