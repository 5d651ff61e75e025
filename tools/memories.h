/* The memories that a file states: for some formats each method has a list of arenas, with their
 * sizes. The memory that such a file makes its runtime allocate counts there. */
#ifndef TOOL_MEMORIES_H
#define TOOL_MEMORIES_H

#include "tool.h"

/* The lines of a table: one for each memory, with its size now and as planned. */
void put_memories(const arenaut_pipeline *p, const char *indent, arenaut_text *out);

#endif
