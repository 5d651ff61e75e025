/* The memories that a file states: for some formats each method has a list of arenas, with their
 * sizes. What counts there is what the file makes its runtime allocate. */
#ifndef TOOL_MEMORIES_H
#define TOOL_MEMORIES_H

#include "tool.h"

/* The lines of a table: one for each memory, with what it is now and what it would be. */
void put_memories(const arenaut_pipeline *p, const char *indent, arenaut_text *out);

#endif
