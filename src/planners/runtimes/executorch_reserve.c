/* What the replicas of ExecuTorch's two planners share: the setting `reserve`, the height above
 * which each pool is free, and the one pool of a value. O(n). The planners are in
 * executorch_greedy.c and executorch_naive.c. */
#include "planners/runtimes/executorch_reserve.h"

#include <string.h>

#include "core/bits.h"
#include "core/checked.h"
#include "planners/run/planner_settings.h"

/* Plain decimal digits: settings are written by programs, not by people. */
static bool parse_bytes(const char *text, uint64_t *bytes) {
    if (*text == '\0') return false;
    for (*bytes = 0; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        if (!arn_multiply(*bytes, 10, bytes)) return false;
        if (!arn_add(*bytes, (uint64_t)(*text - '0'), bytes)) return false;
    }
    return true;
}

arenaut_status arn_executorch_reserve(const arenaut_planning *planning, const arenaut_planner *self,
                                      uint64_t *reserve) {
    const char *value = arn_setting(planning, "reserve", "0");
    const arenaut_status st = arn_settings_check(planning, self, "reserve");
    if (st != ARENAUT_OK) return st;
    if (parse_bytes(value, reserve)) return ARENAUT_OK;
    return arn_setting_bad(planning, self, "reserve", value);
}

void arn_executorch_floors(const arn_groups *groups, uint64_t reserve,
                           uint64_t floor[ARENAUT_MAX_POOLS]) {
    const arenaut_problem *p = groups->problem;
    memset(floor, 0, ARENAUT_MAX_POOLS * sizeof *floor);
    floor[0] = reserve;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        uint64_t *at = &floor[p->reserved[i].pool];
        *at = arn_max_u64(*at, p->reserved[i].end);
    }
    for (uint32_t i = 0; i < groups->n; i++) {
        const arn_group *group = &groups->group[i];
        if (group->fixed == ARENAUT_UNPLACED) continue;
        uint64_t *at = &floor[arn_executorch_pool(group)];
        *at = arn_max_u64(*at, group->fixed + group->extent);
    }
}

uint32_t arn_executorch_pool(const arn_group *group) { return arn_lowest_bit(group->pools); }

void arn_executorch_keep(const arn_groups *groups, const arn_group *group, uint64_t offset,
                         arenaut_plan *plan) {
    for (uint32_t m = 0; m < group->n_members; m++) {
        const uint32_t b = groups->member[group->member + m];
        plan->pool[b] = arn_executorch_pool(group);
        plan->offset[b] = offset + groups->delta[b];
    }
}
