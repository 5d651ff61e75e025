/* Schedules of a program together with the forms of its ops, of which each is a choice: joins that
 * are written in place, and views that are materialized. */
#ifndef ARN_REWRITE_ORDER_FORMS_H
#define ARN_REWRITE_ORDER_FORMS_H

#include "rewrite/order/program_order.h"
#include "rewrite/transform.h"

/* The scheduling problems of a lowered trial; the caller's, to be released. */
arenaut_status arn_schedule_problem_of(const arenaut_pipeline *lowered, arn_program_order **problem,
                                       arenaut_error *err);
/* Finds and takes such a schedule for each of them; adds the lines of the proofs. */
arenaut_status arn_find_schedules(const arenaut_pipeline *p, arn_program_order *problem,
                                  arn_budget *budget, uint32_t *n_lines, arenaut_error *err);

/* Views that may be materialized. */
typedef struct arn_copies {
    uint32_t *ops;  /* of the file, ascending */
    uint32_t *base; /* per op: the number of the viewed storage, from 0 on */
    uint32_t n, n_bases;
    bool *late;      /* per op: in the given schedule its view is read after the last read of
                      * another name of the base */
    arn_part *parts; /* their results */
    uint32_t *base_of_part, n_parts;
} arn_copies;

typedef struct arn_form_choices {
    arenaut_joining joins; /* by their results */
    arn_copies copies;
} arn_form_choices;

/* Finds them; the lists are the region's. */
arenaut_status arn_find_forms(const arenaut_pipeline *p, arn_budget *budget, arn_region *region,
                              arn_form_choices *choices, arenaut_error *err);
/* A lower bound of live bytes for any schedule and any choice; 0 if none is known. */
arenaut_status arn_bound_forms(const arenaut_pipeline *p, arn_budget *budget,
                               const arn_form_choices *choices, arenaut_ordering *bound,
                               arenaut_error *err);

#endif
