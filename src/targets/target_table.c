/* The table of targets, looked up by name; there are few, so one after the other. */
#include <arenaut/target.h>

#include "core/table.h"

#define TARGET(id) extern const arenaut_target arn_target_##id;
#include "targets/targets.def"
#undef TARGET

static const arenaut_target *const all[] = {
#define TARGET(id) &arn_target_##id,
#include "targets/targets.def"
#undef TARGET
};

ARN_TABLE_LOOKUPS(target)

const arenaut_target *arenaut_target_for_format(const char *format) {
    for (size_t i = 0; i < arenaut_target_count(); i++) {
        if (format && all[i]->format && strcmp(all[i]->format, format) == 0) return all[i];
    }
    return arenaut_target_find("generic");
}
