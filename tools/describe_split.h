/* What splitting made of a program, for people and as JSON; nothing where nothing was split. */
#ifndef TOOL_DESCRIBE_SPLIT_H
#define TOOL_DESCRIBE_SPLIT_H

#include "job.h"

/* Lines with the stages and what they cost, behind `head`. */
void describe_split(const arenaut_pipeline *p, const char *head, arenaut_text *out);

/* A table of the ways to split that were looked at: what each needs at least, and what it costs.
 * Those that need hardly less than the one above are left out. */
void describe_ways_to_split(const arenaut_pipeline *p, arenaut_text *out);

/* The member "split", with a comma in front. */
void put_split_json(const arenaut_pipeline *p, arenaut_text *out);

#endif
