/* The memories that a file states: for some formats each method has a list of arenas, with
 * their sizes, and each tensor a place in one of them. What counts there is what the file
 * makes its runtime allocate, now and once the plan is inside. */
#ifndef TOOL_MEMORIES_H
#define TOOL_MEMORIES_H

#include "job.h"

/* Whether the file states any: then it says where everything lies, and how much is needed. */
bool states_memories(const arenaut_program *program);

/* Lists today's memories in job->memories. */
void list_memories(tool_job *job);

/* What people call each pool of the plan: "memory 1" as the file counts them, where a pool is
 * one of its memories, the name that the user gave it, or none. */
typedef struct pool_names {
    const char *names[ARENAUT_MAX_POOLS];
    char text[ARENAUT_MAX_POOLS][24];
} pool_names;
void name_pools(const tool_job *job, const arenaut_program *program,
                const arenaut_lowering *lowering, const arenaut_plan *plan, pool_names *names);

/* Replaces what `plan`, made of the places in the file, needs by what the file states: that
 * is what its runtime allocates, and what nothing may reach beyond. */
void set_given_arenas(const tool_job *job, const arenaut_lowering *lowering, arenaut_plan *plan);

/* Writes the plan into the file, in memory only, and reads there what it makes of each
 * memory. Does nothing for a file that states none, or without a plan. */
exit_code size_memories(tool_job *job);

/* Writes the file in memory once more, and holds what is in it against all its methods, as if
 * it came from somebody else: nothing is written anywhere before this has passed. */
exit_code check_written(const tool_job *job);

/* The first memory that the plan would let grow although nothing asks for that; NULL if
 * there is none. */
const arenaut_memory *memory_that_grows(const tool_job *job);
bool some_memory_shrinks(const tool_job *job);

/* "forward, memory 1". */
void describe_memory(const tool_job *job, const arenaut_memory *memory, arenaut_text *out);

/* The lines of a table: one for each memory, with what it is now and what it would be. */
void put_memories(const tool_job *job, const char *indent, arenaut_text *out);

#endif
