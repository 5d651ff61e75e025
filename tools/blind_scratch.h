/* Planning without knowing how much scratch the kernels will want. */
#ifndef TOOL_BLIND_SCRATCH_H
#define TOOL_BLIND_SCRATCH_H

#include "job.h"

/* Whether the plan is no worse than any other, however much scratch each op asks for: where
 * one asks, what is alive lies from address 0 up without a hole, so that the scratch ends
 * no higher than everything alive and the scratch itself, which no layout can beat. Says
 * no where it would take too long to tell. */
bool scratch_cannot_hurt(const tool_job *job);

#endif
