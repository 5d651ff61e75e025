/* Summary of the schedules of a program, as text and as JSON; nothing if it was not asked for. */
#ifndef TOOL_DESCRIBE_ORDER_H
#define TOOL_DESCRIBE_ORDER_H

#include "job.h"

/* Whether no plan in any order is smaller or uses slower pools less, as far as is proven. */
bool no_order_helps(const arenaut_pipeline *p, const arenaut_ordering *ordering);

/* If the given order is proven to be the best: among which schedules, and by which measure. */
const char *words_of_no_order(const arenaut_pipeline *p, const arenaut_ordering *ordering);

/* A line behind `head`. */
void describe_order(const arenaut_pipeline *p, const char *head, arenaut_text *out);

/* The member "order", with a comma in front. */
void put_order_json(const arenaut_pipeline *p, arenaut_text *out);

/* The member "order" of something smaller: the figures alone. */
void put_json_figures_of_order(const arenaut_ordering *ordering, arenaut_text *out);

#endif
