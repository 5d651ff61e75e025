/* Single reads and writes of a replay. Each returns OK, or REJECTED with the finding filled in. */
#ifndef ARN_CHECK_REPLAY_ACCESS_H
#define ARN_CHECK_REPLAY_ACCESS_H

#include "check/replay/replay.h"

/* Sets *skip if the tensor is to be left alone; REJECTED if it lies wrong. */
arenaut_status arn_replay_touch(arn_replay *r, uint32_t tensor, bool *skip);
/* Every byte must be the tensor's own. */
arenaut_status arn_replay_read(arn_replay *r, uint32_t tensor);
/* With the present version. */
arenaut_status arn_replay_write(arn_replay *r, uint32_t tensor);
/* The same, but none of the bytes may have the present version already: what is written by
 * one op, or filled in before one call, must be apart. */
arenaut_status arn_replay_write_apart(arn_replay *r, uint32_t tensor);
/* A runtime's copy between a call's arguments and a method's: one after another. */
arenaut_status arn_replay_copy(arn_replay *r, uint32_t from, uint32_t to);
/* Says that `tensor` shares the cell with what the op at work has written over it. */
arenaut_status arn_replay_reject_arguments(arn_replay *r, uint32_t tensor, uint32_t cell);
/* Says what a walk through the op's kernel has found wrong (kernel_walk.h). */
arenaut_status arn_replay_reject_walk(arn_replay *r, const arn_walk *walk);

#endif
