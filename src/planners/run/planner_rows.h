/* Attempts of `auto` with the rows of the table of planners. They stand in the row, in the column
 * `attempt`, so that a new planner is known to `auto` without a line elsewhere. */
#ifndef ARN_PLANNERS_RUN_PLANNER_ROWS_H
#define ARN_PLANNERS_RUN_PLANNER_ROWS_H

#include <arenaut/planner.h>

#include "planners/run/meter.h"

#define PLANNER(id) extern const arenaut_planner arn_planner_##id;
#include "planners/planners.def"
#undef PLANNER

/* `auto` for laying tokens out: it does not pack them into tokens, which would lead back here. */
extern const arenaut_planner arn_auto_of_tokens;

enum {
#define PLANNER(id) +1
    ARN_PLANNERS = 0
#include "planners/planners.def"
#undef PLANNER
};

/* When `auto` tries a row. */
enum {
    ARN_TRY_ORDER = 1,  /* first: the order and fit of the pass in its `data` (placing/trial.h) */
    ARN_TRY_WHOLE = 2,  /* after those: the planner as it is, so that auto is never worse */
    ARN_TRY_TOKENS = 4, /* if memory comes in whole tokens, and places need not be found */
    /* If separations let buffers overlap; where the effort is little, also after the search. */
    ARN_TRY_OVERLAP = 16,
    ARN_TRY_POOLS = 8, /* after the search, if buffers may choose between pools */
};

typedef struct arn_attempt {
    uint32_t when;    /* ARN_TRY_… */
    uint32_t turn;    /* rows are tried turn by turn, within a turn in the order of the table */
    uint32_t differs; /* tried as it is only if one of these features is in use; 0: always */
    bool (*suits)(const arenaut_problem *problem); /* NULL: all problems with its features do */
    /* Improves the best plan if it can, and counts its effort. If it proves that there is no plan
     * it says so in plan->quality. NULL: only ARN_TRY_ORDER. */
    arenaut_status (*make)(const arenaut_planner *self, arenaut_planning *planning,
                           arn_meter *meter);
} arn_attempt;

/* The rows that are tried then, by turn. Returns how many. */
uint32_t arn_rows_to_try(uint32_t when, const arenaut_planner *rows[ARN_PLANNERS]);

/* Whether a row can plan this problem, in a way that no other row does. */
bool arn_row_suits(const arenaut_planner *row, const arenaut_problem *problem);

/* Makes the row's attempt in its name. */
arenaut_status arn_row_try(const arenaut_planner *row, arenaut_planning *planning,
                           arn_meter *meter);

/* The `run` of a planner that makes its attempt once and has no settings. */
arenaut_status arn_row_run(const arenaut_planner *self, arenaut_planning *planning);

/* ---- settings ---- */

/* The last value given for `name`, or `otherwise`. */
const char *arn_setting(const arenaut_planning *planning, const char *name, const char *otherwise);

/* BAD_ARGUMENT if a setting is given that is not `known` (NULL: none is). */
arenaut_status arn_settings_check(const arenaut_planning *planning, const arenaut_planner *self,
                                  const char *known);

/* BAD_ARGUMENT naming the values that the setting may have. */
arenaut_status arn_setting_bad(const arenaut_planning *planning, const arenaut_planner *self,
                               const char *name, const char *value);

#endif
