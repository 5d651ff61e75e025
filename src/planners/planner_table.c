/* The table of planners: the rows of planners.def in their order, and the public look-ups. Which of
 * them `auto` tries is in run/planner_rows.c. */
#include "core/table.h"
#include "planners/run/planner_rows.h"

static const arenaut_planner *const all[] = {
#define PLANNER(id) &arn_planner_##id,
#include "planners/planners.def"
#undef PLANNER
};

ARN_TABLE_LOOKUPS(planner)
