/* What ExecuTorch's two planners have in common: a reserve at the bottom of an arena.
 *
 * ExecuTorch plans the bodies of conditionals and loops first, each from offset 0, and then
 * keeps as many bytes free below the values of the method that they belong to. The reserve
 * is either a range of the problem that begins at 0, or the setting "reserve", which is for
 * pool 0: the pool of a method's intermediates. */
#ifndef ARN_PLANNERS_RUNTIMES_EXECUTORCH_RESERVE_H
#define ARN_PLANNERS_RUNTIMES_EXECUTORCH_RESERVE_H

#include <arenaut/planner.h>

#include "planners/placing/buffer_groups.h"

#define ARN_EXECUTORCH_SETTING "reserve=BYTES"

/* BAD_ARGUMENT for another setting, or a value that is no number of bytes. */
arenaut_status arn_executorch_reserve(const arenaut_planning *planning, const arenaut_planner *self,
                                      uint64_t *reserve);

/* Where the first group without a fixed offset may lie in each pool: above the reserve, the
 * ranges that the problem reserves and the groups that are fixed. */
void arn_executorch_floors(const arn_groups *groups, uint64_t reserve,
                           uint64_t floor[ARENAUT_MAX_POOLS]);

/* ExecuTorch gives a value one pool before it plans; of several allowed, the fastest. */
uint32_t arn_executorch_pool(const arn_group *group);

/* Writes the place of a group as places of its buffers. */
void arn_executorch_keep(const arn_groups *groups, const arn_group *group, uint64_t offset,
                         arenaut_plan *plan);

#endif
