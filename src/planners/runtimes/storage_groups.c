/* storage-groups: a replica of the planner of PyTorch's Static Runtime
 * (assignStorageToManagedTensors).
 *
 * In the order in which values come alive, each takes over the group that became free last, or
 * opens one; a group becomes free when its value has been used for the last time. Sizes play no
 * part: a group is as large as its largest member, and groups lie end to end. Lives have no gaps,
 * and nothing is known of results that may be written over operands.
 *
 * Inputs, constants and outputs of a graph are not managed by the planner there: each of these has
 * memory of its own here. A device is a pool, with groups of its own.
 *
 * The runtime part of this library assigns the same groups (src/runtime/groups.c), to storages with
 * sizes that are known only when they have run; it stands alone, so that a test holds the two
 * against each other. */
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "planners/run/planner_rows.h"
#include "planners/tokens/token_list.h"

typedef struct groups {
    const arenaut_problem *problem;
    arn_token_list tokens;            /* the groups */
    uint32_t *births, *deaths, *next; /* buffers in the order of each; next: per group */
    uint32_t free[ARENAUT_MAX_POOLS]; /* the group of a pool that became free last */
    uint32_t n;
} groups;

static bool dies_before(const void *problem, uint32_t a, uint32_t b) {
    return arn_token_list_death(problem, a) < arn_token_list_death(problem, b);
}

static bool is_managed(const arenaut_problem *p, uint32_t b) {
    const arenaut_class cls = arenaut_problem_class(p, b);
    return cls != ARENAUT_INPUT && cls != ARENAUT_OUTPUT && cls != ARENAUT_STATE;
}

static void release(groups *g, uint32_t b) {
    if (!is_managed(g->problem, b)) return;
    const uint32_t group = g->tokens.of[b], pool = g->tokens.pool[group];
    g->next[group] = g->free[pool];
    g->free[pool] = group;
}

static void join_or_open(groups *g, uint32_t b) {
    uint32_t *last = &g->free[arn_lowest_pool(g->problem, b)];
    if (*last == ARENAUT_NONE || !is_managed(g->problem, b)) {
        arn_token_list_add(g->problem, &g->tokens, b);
        return;
    }
    const uint32_t group = *last;
    *last = g->next[group];
    arn_token_list_join(g->problem, &g->tokens, group, b);
}

static void assign(groups *g) {
    for (uint32_t k = 0; k < g->problem->n_pools; k++) g->free[k] = ARENAUT_NONE;
    for (uint32_t i = 0, dead = 0; i < g->n; i++) {
        const uint32_t b = g->births[i];
        while (arn_token_list_death(g->problem, g->deaths[dead]) <=
               arn_token_list_birth(g->problem, b)) {
            release(g, g->deaths[dead++]);
        }
        join_or_open(g, b);
    }
}

static bool list_lives(groups *g) {
    const arenaut_problem *p = g->problem;
    g->births = arn_region_allocate(&g->tokens.region, p->n_buffers, 4 * sizeof *g->births);
    if (!g->births) return false;
    g->deaths = g->births + p->n_buffers;
    g->next = g->deaths + p->n_buffers;
    uint32_t *const scratch = g->next + p->n_buffers;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) g->births[g->n++] = b;
    }
    for (uint32_t i = 0; i < g->n; i++) g->deaths[i] = g->births[i];
    arn_sort_ids(g->births, g->n, arn_token_list_born_before, p, scratch);
    arn_sort_ids(g->deaths, g->n, dies_before, p, scratch);
    return true;
}

static arenaut_status make(const arenaut_planner *self, arenaut_planning *planning,
                           arn_meter *meter) {
    (void)self;
    groups g = {.problem = planning->problem};
    const bool listed = arn_token_list_make(planning, &g.tokens) && list_lives(&g);
    if (listed) {
        assign(&g);
        arn_meter_spend(meter, g.n);
        arn_token_list_keep(meter, &g.tokens);
    }
    arn_region_free(&g.tokens.region);
    return listed ? ARENAUT_OK : arn_no_memory(planning->err);
}

const arenaut_planner arn_planner_storage_groups = {
    .name = "storage-groups",
    .summary = "Static Runtime's: values in the group that became free last, whatever its size",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_POOLS |
               ARENAUT_FEATURE_CAPACITY | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS |
               ARENAUT_FEATURE_TOKENS,
    .run = arn_row_run,
    .attempt =
        &(const arn_attempt){.when = ARN_TRY_WHOLE | ARN_TRY_TOKENS, .turn = 3, .make = make},
};
