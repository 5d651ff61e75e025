/* Reading a planner's own settings. */
#ifndef ARN_PLANNERS_RUN_PLANNER_SETTINGS_H
#define ARN_PLANNERS_RUN_PLANNER_SETTINGS_H

#include <arenaut/planner.h>

/* The last value given for `name`, or `otherwise`. */
const char *arn_setting(const arenaut_planning *planning, const char *name, const char *otherwise);

/* BAD_ARGUMENT if a setting is given that is not `known` (NULL: none is). */
arenaut_status arn_settings_check(const arenaut_planning *planning, const arenaut_planner *self,
                                  const char *known);

/* BAD_ARGUMENT saying what the setting may be. */
arenaut_status arn_setting_bad(const arenaut_planning *planning, const arenaut_planner *self,
                               const char *name, const char *value);

#endif
