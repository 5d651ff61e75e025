/* Looks up the settings that were given to a planner, and words what is wrong with them. The last
 * of several values for one name counts. O(settings). */
#include "planners/run/planner_settings.h"

#include <string.h>

#include "core/fail.h"

const char *arn_setting(const arenaut_planning *planning, const char *name, const char *otherwise) {
    const arenaut_plan_options *options = planning->options;
    for (size_t i = options->n_settings; i-- > 0;) {
        if (strcmp(options->settings[i].name, name) == 0) return options->settings[i].value;
    }
    return otherwise;
}

arenaut_status arn_settings_check(const arenaut_planning *planning, const arenaut_planner *self,
                                  const char *known) {
    const arenaut_plan_options *options = planning->options;
    for (size_t i = 0; i < options->n_settings; i++) {
        if (known && strcmp(options->settings[i].name, known) == 0) continue;
        return arn_fail(planning->err, ARENAUT_BAD_ARGUMENT, 0,
                        "planner '%s' has no setting '%s'; it has: %s", self->name,
                        options->settings[i].name, self->settings ? self->settings : "none");
    }
    return ARENAUT_OK;
}

arenaut_status arn_setting_bad(const arenaut_planning *planning, const arenaut_planner *self,
                               const char *name, const char *value) {
    return arn_fail(planning->err, ARENAUT_BAD_ARGUMENT, 0,
                    "planner '%s': setting %s cannot be '%s'; it can be: %s", self->name, name,
                    value, self->settings);
}
