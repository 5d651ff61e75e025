/* Memory of several files that never run at the same time: the maximum over them while they run,
 * and the sum of their state between runs. */
#ifndef TOOL_TOGETHER_H
#define TOOL_TOGETHER_H

#include "whole_arena.h"

typedef struct together {
    uint64_t kept,
        running; /* of the planned bytes: the sum of the state, the maximum of the rest */
    uint64_t kept_reserved; /* the same of the bytes to reserve */
    reservation running_reserved;
} together;

/* Adds a file whose plan has so many bytes, and which needs so much to be reserved for it. */
exit_code together_add(together *sums, const tool_job *job, uint64_t planned,
                       const reservation *need);

uint64_t together_planned(const together *sums);
reservation together_reserved(const together *sums);

#endif
