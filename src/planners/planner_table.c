/* The table of planners. */
#include <arenaut/planner.h>

#include "core/table.h"

#define PLANNER(id) extern const arenaut_planner arn_planner_##id;
#include "planners/planners.def"
#undef PLANNER

static const arenaut_planner *const all[] = {
#define PLANNER(id) &arn_planner_##id,
#include "planners/planners.def"
#undef PLANNER
};

ARN_TABLE_LOOKUPS(planner)
