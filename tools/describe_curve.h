/* The curve of peak against time: how fast a training step can be within some budgets. */
#ifndef TOOL_DESCRIBE_CURVE_H
#define TOOL_DESCRIBE_CURVE_H

#include "job.h"

/* With --recompute on: six budgets; else, and for what has no such curve, *curve is NULL. The
 * caller frees it. */
exit_code find_curve(const tool_job *job, arenaut_recompute_curve **curve);

/* A table, and what sets the floor; nothing for NULL. */
void put_curve(const tool_job *job, const arenaut_recompute_curve *curve, arenaut_text *out);

/* The member "curve", with a comma in front; likewise. */
void put_json_curve(const arenaut_recompute_curve *curve, arenaut_text *out);

#endif
