/* What runtimes do by themselves, as trials that `auto` makes too. */
#ifndef ARN_PLANNERS_RUN_INCUMBENTS_H
#define ARN_PLANNERS_RUN_INCUMBENTS_H

#include "planners/run/meter.h"

/* Each for problems with no feature outside its planner's `handles`. */
arenaut_status arn_try_tflm_greedy(arenaut_planning *planning, arn_meter *meter);
arenaut_status arn_try_tflite_arena(arenaut_planning *planning, arn_meter *meter);
arenaut_status arn_try_naive(arenaut_planning *planning, arn_meter *meter);
arenaut_status arn_try_onnxruntime(arenaut_planning *planning, arn_meter *meter);
arenaut_status arn_try_openvino(arenaut_planning *planning, arn_meter *meter);
arenaut_status arn_try_ggml(arenaut_planning *planning, arn_meter *meter);
arenaut_status arn_try_xnnpack(arenaut_planning *planning, arn_meter *meter);
arenaut_status arn_try_storage_groups(arenaut_planning *planning, arn_meter *meter);

/* For problems in whole tokens: REFUSED of more buffers than arn_objects_suit allows. If there is
 * no plan at all, says so in plan->quality. */
arenaut_status arn_try_shared_objects(arenaut_planning *planning, arn_meter *meter);
/* With the usual match range, and whatever the devices. */
arenaut_status arn_try_tvm_tokens(arenaut_planning *planning, arn_meter *meter);

typedef arenaut_status (*arn_incumbent)(arenaut_planning *planning, arn_meter *meter);

/* The whole of a planner that makes one such trial and has no settings. */
arenaut_status arn_run_incumbent(const arenaut_planner *self, arenaut_planning *planning,
                                 arn_incumbent attempt);

#endif
