/* Summary of rematerialization, as text and as JSON; nothing if it was not asked for. */
#ifndef TOOL_DESCRIBE_RECOMPUTE_H
#define TOOL_DESCRIBE_RECOMPUTE_H

#include "job.h"

/* A line behind `head`, and one for the largest tensors that are computed again. */
void describe_recompute(const arenaut_pipeline *p, const char *head, arenaut_text *out);

/* The member "recompute", with a comma in front. */
void put_recompute_json(const arenaut_pipeline *p, arenaut_text *out);

/* The member "recompute" of something smaller: the figures alone. */
void put_json_figures_of_recompute(const arenaut_recomputed *recomputed, arenaut_text *out);

#endif
