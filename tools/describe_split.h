/* Summary of tiling, as text and as JSON; nothing if nothing was tiled. */
#ifndef TOOL_DESCRIBE_SPLIT_H
#define TOOL_DESCRIBE_SPLIT_H

#include "job.h"

/* Lines with the tile groups and their cost, behind `head`. */
void describe_split(const arenaut_pipeline *p, const char *head, arenaut_text *out);

/* A table of the candidate tilings: the least memory that each needs, and its cost. Rows that need
 * hardly less than the one above are left out. */
void describe_splits(const arenaut_pipeline *p, arenaut_text *out);

/* The member "split", with a comma in front. */
void put_split_json(const arenaut_pipeline *p, arenaut_text *out);

#endif
