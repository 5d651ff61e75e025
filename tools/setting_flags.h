/* --set NAME=VALUE: what one planner has to choose, beyond the flags that all of them share. */
#ifndef TOOL_SETTING_FLAGS_H
#define TOOL_SETTING_FLAGS_H

#include "args.h"

typedef struct planner_settings {
    arenaut_setting *items;
    size_t n;
} planner_settings;

/* Complains about what is no NAME=VALUE; whether the planner knows the name is for it to say. */
exit_code parse_settings(const tool_options *options, planner_settings *settings);
void planner_settings_free(planner_settings *settings);

#endif
